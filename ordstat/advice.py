"""Help on the attributes of a fit, and hints for arguments that other packages name
differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from inspect import getdoc, isfunction, signature
from textwrap import fill
from typing import Any, TypeVar, cast

from .checks import advice, check_names, did_you_mean, words
from .exceptions import OptionError

#: The head of `help(fit)`.
_OVERVIEW = (
    "Methods and attributes of this fit. Use help(fit.predict) for one of them,"
    " help(type(fit)) for all."
)

#: Arguments that name variables of the formula.
_VARIABLES = ("variable", "variables", "var", "subgroups", "hypotheses")

T = TypeVar("T")


class Overview:
    """The docstring of a class of results. On a fit, `help(fit)` adds a line for each
    attribute.
    """

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __get__(self, fit: Any, owner: type) -> str | None:
        if fit is None:
            return self.text
        section_of = words("section")
        sections: dict[str, list[str]] = {s: [] for s in section_of.values()}
        names = [name for name in dir(fit) if not name.startswith("_")]
        for name in [name for name in section_of if name in names]:
            sections[section_of[name]].append(_line(name, getattr(owner, name)))
        shown = [_OVERVIEW]
        for section, lines in sections.items():
            if lines:
                shown += ["", section, *lines]
        return "\n".join(shown)


def _line(name: str, member: Any) -> str:
    """The name with the first statement of its docstring."""
    first = " ".join((getdoc(member) or "").partition("\n\n")[0].split())
    statement = re.split(r"[.;:](?:\s|$)", first, maxsplit=1)[0]
    line = f"  {name:<16} {statement}"
    return fill(line, 88, subsequent_indent=" " * 19, break_on_hyphens=False)


def with_advice(thing: T) -> T:
    """The function, or the class with its public methods, wrapped to answer unknown
    arguments with a hint.
    """
    if isinstance(thing, type):
        for name, member in list(vars(thing).items()):
            if isfunction(member) and (name == "__init__" or not name.startswith("_")):
                setattr(thing, name, with_advice(member))
        return cast(T, thing)
    function = cast(Callable[..., Any], thing)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as caught:
            # raised within the function
            if cast(Any, caught.__traceback__).tb_next is not None:
                raise
            error = caught
        path = function.__qualname__.split(".")
        parameters = list(signature(function).parameters)
        owner = path[-2] if path[-1] == "__init__" else path[-1]
        _require_variables(owner, parameters, args, kwargs)
        check_names(
            kwargs, [name for name in parameters if name != "self"], owner, "argument"
        )
        if len(args) > 1 and (hint := advice(owner, parameters[0])):
            raise OptionError(f"{error}.{hint}")
        raise error

    return cast(T, call)


def with_option_hints(value: type[T]) -> type[T]:
    """The class of a method, kernel or learner, made to answer unknown options with a
    hint; its methods stay as they are.
    """
    made: Any = value
    made.__init__ = with_advice(made.__init__)
    return value


def _require_variables(
    owner: str, parameters: list[str], args: tuple[Any, ...], given: dict[str, Any]
) -> None:
    """OptionError, with the variables of the formula, for a method of a fit or of its
    pictures that was called without the names that it needs.
    """
    missing = [
        name
        for name in parameters[len(args) :]
        if name in _VARIABLES and name not in given
    ]
    if not missing or not args:  # a function, or a value that is made
        return
    design = getattr(getattr(args[0], "results", args[0]), "design", None)
    if design is None:
        return
    columns = design.spec.columns or ()
    if not columns:
        raise OptionError(f"{owner}() needs a variable, and the formula has none.")
    example = f", as in {owner}({columns[0]!r})" if len(missing) == 1 else ""
    raise OptionError(
        f"{owner}() needs {' and '.join(missing)}{example}. The formula has"
        f" {', '.join(map(repr, columns))}."
    )


def no_attribute(thing: Any, table: str, name: str) -> AttributeError:
    """The error for a name that a value does not have; a table of `words.toml` says
    what to use.
    """
    meant = advice(table, name)
    attribute = re.match(r" \.(\w+)", meant)
    if attribute is not None and not hasattr(thing, attribute[1]):
        meant = advice(table, attribute[1])  # what this fit lacks for it
    if meant:
        hint = f" Use{meant}."
    else:
        hint = did_you_mean(name, [n for n in dir(thing) if not n.startswith("_")])
    what = f"{type(thing).__name__!r} object has no attribute {name!r}"
    return AttributeError(f"{what}.{hint}" if hint else what)
