"""Help on the names of a fit, and hints for arguments that other packages name
otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import getdoc, isfunction, signature
from typing import Any, TypeVar, cast

from .checks import advice, check_names, words
from .exceptions import OptionError

#: The head of `help(fit)`.
_OVERVIEW = (
    "Methods and attributes of this fit. Use help(fit.predict) for one of them,"
    " help(type(fit)) for all."
)

T = TypeVar("T")


class Overview:
    """The docstring of a class of results. That of a fit, which `help(fit)` shows, has
    a line for each of its names.
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
            doc = getdoc(getattr(owner, name)) or ""
            line = f"  {name:<17}{doc.partition(chr(10))[0]}"
            sections[section_of[name]].append(line)
        shown = [_OVERVIEW]
        for section, lines in sections.items():
            if lines:
                shown += ["", section, *lines]
        return "\n".join(shown)


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
        check_names(
            kwargs, [name for name in parameters if name != "self"], owner, "argument"
        )
        if len(args) > 1 and (hint := advice(owner, parameters[0])):
            raise OptionError(f"{error}.{hint}")
        raise error

    return cast(T, call)
