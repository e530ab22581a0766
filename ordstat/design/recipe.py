"""How a design was asked for, so that it can be asked for again: with another formula, or other data."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from types import ModuleType
from typing import Any, Generic, TypeVar

from ..exceptions import OptionError
from .parse import Part, parse_formula, parse_one_sided, split_formula, substitute_dot, uses_dot

#: What a recipe makes: a `design.design.Design`.
D = TypeVar("D")


@dataclass(frozen=True)
class Context:
    """Names that unsafe formulas may use; modules pickle by their name."""

    names: Mapping[str, Any]

    def __getstate__(self) -> dict[str, Any]:
        modules = {k: v.__name__ for k, v in self.names.items() if isinstance(v, ModuleType)}
        return {"modules": modules, "values": {k: v for k, v in self.names.items() if k not in modules}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        modules = {name: importlib.import_module(module) for name, module in state["modules"].items()}
        object.__setattr__(self, "names", {**state["values"], **modules})


@dataclass(frozen=True, eq=False, kw_only=True)
class Recipe(Generic[D]):
    """The arguments of `design.build.build`, data apart, and `make`: that function itself.

    `settled` names the contrasts that were given before: an update may take their factors out.
    """

    make: Callable[..., D]
    formula: str
    nominal: str | None = None
    scale: str | None = None
    weights: Any = None
    offset: Any = None
    cluster: Any = None
    costs: Any = None
    levels: Any = None
    subset: Any = None
    contrasts: Mapping[str, Any] | None = None
    settled: tuple[str, ...] = ()
    na_action: str = "omit"
    safe: bool = True
    context: Context | None = None

    def build(self, data: Any) -> D:
        """The design of some data."""
        arguments = {name: getattr(self, name) for name in self._arguments()}
        names = None if self.context is None else self.context.names
        return self.make(data=data, **{**arguments, "context": names})

    def updated(self, changes: Mapping[str, Any]) -> Recipe[D]:
        """With some arguments changed; None leaves an argument as it is, and a dot stands for the old formula.

        Raises
        ------
        OptionError
            For a name that is no argument.
        """
        known = [name for name in self._arguments() if name != "settled"]
        unknown = [name for name in changes if name not in known]
        if unknown:
            raise OptionError(f"update takes {', '.join(sorted(known))}; got {', '.join(unknown)}.")
        given = {name: value for name, value in changes.items() if value is not None}
        if "contrasts" in given:
            given["settled"] = ()
        if "formula" in given:
            given["formula"] = updated_formula(self.formula, given["formula"])
        for role in ("nominal", "scale"):
            old = getattr(self, role)
            if role in given and old is not None:
                given[role] = updated_side(old, given[role], role)
        return replace(self, **given)

    def _arguments(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self) if field.name != "make")


def updated_formula(old: str, new: str) -> str:
    """R's update of a formula: a dot on either side of `new` stands for that side of `old`.

    Examples
    --------
    >>> updated_formula("rating ~ temp * contact", "~ . - temp:contact")
    'rating ~ temp + contact'
    >>> updated_formula("rating ~ temp", ". ~ . + log(x3)")
    'rating ~ temp + log(x3)'
    """
    old_left, _, old_right = split_formula(old)
    left, tilde, right = split_formula(new)
    if not tilde:
        left, right = "", left
    left = old_left if left.strip() in ("", ".") else left
    text = f"{left.strip()} ~ {substitute_dot(right, old_right)}"
    if uses_dot(text):
        return text
    part = parse_formula(text, ())[1]
    plain = f"{left.strip()} ~ {_side_text(part)}"
    return plain if parse_formula(plain, ())[1] == part else text


def updated_side(old: str, new: str, role: str) -> str:
    """`updated_formula` of a one-sided formula."""
    text = substitute_dot(_right(new), _right(old))
    return f"~ {text}" if uses_dot(text) else f"~ {_side_text(parse_one_sided(text, (), role))}"


def _right(text: str) -> str:
    left, tilde, right = split_formula(text)
    return right if tilde else left


def _side_text(part: Part) -> str:
    """The terms and offsets of a part, written out."""
    pieces = [term.text for term in part.terms]
    pieces += [f"offset({offset.text})" for offset in part.offsets]
    return " + ".join(pieces) if pieces else "1"
