"""How a design was asked for, so that it can be asked for again: with another formula, or other data."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import ModuleType
from typing import Any

from ..exceptions import FormulaError, OptionError
from .bars import Piece, cut, without_bars
from .parse import Part, parse_formula, parse_one_sided, split_formula, substitute_dot, uses_dot
from .survey import SurveyDesign


class Context(dict[str, Any]):
    """Names that unsafe formulas may use; modules pickle by their name."""

    def __reduce__(self) -> tuple[Any, ...]:
        modules = {name: value.__name__ for name, value in self.items() if isinstance(value, ModuleType)}
        return _context, ({name: value for name, value in self.items() if name not in modules}, modules)


def _context(values: Mapping[str, Any], modules: Mapping[str, str]) -> Context:
    return Context({**values, **{name: importlib.import_module(module) for name, module in modules.items()}})


#: Arguments that a call shows.
_TOLD = (
    "nominal", "scale", "weights", "offset", "cluster", "costs", "design", "levels", "subset", "cov", "contrasts",
    "constraints", "na_action", "interactions", "safe",
)  # fmt: skip
_DEFAULTS = {"na_action": "omit", "safe": True}
_LONGEST = 60


def _short(value: Any) -> str:
    """A value as it was typed, where that is short."""
    text = repr(value) if isinstance(value, (str, bool, int, float, list, tuple, dict)) else ""
    return text if text and len(text) <= _LONGEST and "\n" not in text else "..."


@dataclass(frozen=True, eq=False)
class Recipe:
    """The arguments of `ordfit` that make a design, the data apart.

    Attributes
    ----------
    formula : str
        "y ~ x1 + temp * contact + offset(0.5 * x2) + ns(age, df=4) + I(x1^2)"; a dot stands for all columns not used
        elsewhere. The intercept is always implied: the thresholds are the intercepts.
    nominal, scale : str, optional
        One-sided formulas of the effects that differ per threshold, and of the log scale.
    weights, offset, cluster : column name or N values, optional
        Case weights (rows of weight 0 are left out), a known part of the score, groups of dependent rows. Weights and
        offset may also be an expression such as "w - 1". A Series must have the index of the data.
    costs : list of K column names, or (N, K) values, optional
        A row's own price of each predicted rank.
    design : SurveyDesign, optional
        How rows were drawn, in place of `weights` and `cluster`.
    levels : sequence, optional
        Labels of the response in order, lowest first.
    subset : mask or condition, optional
        Rows to use, such as "judge != '1'"; as if the others were not in the data, so that knots, means and levels
        come from the subset (R takes knots from all rows).
    cov : dict of group to covariance of its levels, optional
        Labelled data frames; see `random_terms.py`.
    contrasts : mapping of factor to contrast, optional
        "treatment" (the default, for ordered factors too), "sum", "helmert", "poly", "diff", "sas", R's names, or a
        (K, m) matrix. That of a column which no formula uses is kept for an update that brings it in, with a note.
    settled : tuple of str
        Names among the contrasts that need no such note, as an update may have taken them out.
    constraints : mapping, list of str, or what is kept of them, optional
        Signs and orders of coefficients; see `constraints.constrained`.
    na_action : {"omit", "raise", "keep"}
        What to do with rows where a value is missing; "keep" leaves those of location terms to the method.
    as_categories : bool
        Whether a factor whose contrasts nobody asked for is one column of codes in a term of its own.
    interactions : groups of columns of the data, optional
        Which may interact; see `constraints.grouped`.
    safe : bool
        False evaluates any Python in the formula.
    context : mapping, optional
        Names that an unsafe formula may use.
    """

    formula: str
    nominal: str | None = None
    scale: str | None = None
    weights: Any = None
    offset: Any = None
    cluster: Any = None
    costs: Any = None
    design: SurveyDesign | None = None
    levels: Any = None
    subset: Any = None
    cov: Any = None
    contrasts: Mapping[str, Any] | None = None
    settled: tuple[str, ...] = ()
    constraints: Any = None
    na_action: str = "omit"
    as_categories: bool = False
    interactions: Any = None
    safe: bool = True
    context: Mapping[str, Any] | None = None

    def arguments(self) -> str:
        """What was asked for beside the formula, as a call has it; three dots stand for arrays and long values.

        Examples
        --------
        >>> Recipe("y ~ x", nominal="~ z", levels=["low", "high"]).arguments()
        "nominal='~ z', levels=['low', 'high']"
        """
        return ", ".join(f"{name}={_short(getattr(self, name))}" for name in _TOLD if self._asked(name))

    def _asked(self, name: str) -> bool:
        value = getattr(self, name)
        empty = isinstance(value, (dict, list, tuple)) and not value
        return value is not None and not empty and (name not in _DEFAULTS or value != _DEFAULTS[name])

    def check(self) -> None:
        """OptionError where a survey design meets what it stands for."""
        if self.design is None:
            return
        if not isinstance(self.design, SurveyDesign):
            raise OptionError(f"design must be a SurveyDesign(weights=..., ...); got {self.design!r}.")
        for name, inside in (("weights", "weights"), ("cluster", "clusters")):
            if getattr(self, name) is not None:
                raise OptionError(
                    f"{name}= must be left out where design= is given: SurveyDesign({inside}=...) has it."
                )

    def updated(self, changes: Mapping[str, Any]) -> Recipe:
        """With some arguments changed; None leaves an argument as it is, and a dot stands for the old formula.

        Raises
        ------
        OptionError
            For a name that is no argument.
        """
        known = {field.name for field in fields(self)} - {"settled"}
        unknown = [name for name in changes if name not in known]
        if unknown:
            raise OptionError(f"update must have arguments among {', '.join(sorted(known))}; got {', '.join(unknown)}.")
        given = {name: value for name, value in changes.items() if value is not None}
        if "contrasts" in given:
            given["settled"] = ()
        if "formula" in given:
            given["formula"] = updated_formula(self.formula, given["formula"])
            if self.cov is not None and "cov" not in given:
                given["cov"] = _still_there(self.cov, given["formula"])
        for role in ("nominal", "scale"):
            old = getattr(self, role)
            if role in given and old is not None:
                given[role] = updated_side(old, given[role], role)
        return replace(self, **given)


def _still_there(cov: Mapping[str, Any], formula: str) -> dict[str, Any] | None:
    """Covariances of the groups that a formula has."""
    groups = {part.group.label for part in parse_formula(formula, ())[1].random} if not uses_dot(formula) else set()
    return {name: K for name, K in cov.items() if name in groups} or None


def updated_formula(old: str, new: str) -> str:
    """R's update of a formula, random terms too: a dot keeps the old ones, and a minus takes one away.

    Examples
    --------
    >>> updated_formula("rating ~ temp + (1 | judge)", "~ . - (1|judge) + (1 | bottle)")
    'rating ~ temp + (1 | bottle)'
    """
    head, new_right = _head(new)
    fixed, changes = cut(new_right)
    old_fixed, old_bars = without_bars(old)
    if not old_bars and not changes:
        return _updated_fixed(old, new)
    continued = uses_dot(fixed) or new_right.lstrip().startswith(("+", "-"))
    kept = {_squeezed(bar): bar.text for bar in (old_bars if continued else ())}
    for change in changes:
        if change.sign == "+":
            kept[_squeezed(change)] = change.text
        elif kept.pop(_squeezed(change), None) is None:
            raise FormulaError(f"update takes away the random term {change.text}, which the formula {old!r} has not.")
    begun = "+ " if changes and continued and not uses_dot(fixed) and not fixed.startswith(("+", "-")) else ""
    fixed = _updated_fixed(old_fixed, f"{head}{begun}{fixed}")
    return " + ".join([fixed, *kept.values()])


def _head(formula: str) -> tuple[str, str]:
    """What stands up to the tilde, and after it."""
    place = formula.rfind("~") + 1
    return formula[:place], formula[place:]


def _squeezed(bar: Piece) -> str:
    """The text of a random term, however it is spaced."""
    return "".join(bar.text.split())


def _updated_fixed(old: str, new: str) -> str:
    """R's update of a formula: a dot on either side of `new` stands for that side of `old`.

    Examples
    --------
    >>> updated_formula("rating ~ temp * contact", "~ . - temp:contact")
    'rating ~ temp + contact'
    >>> updated_formula("rating ~ temp", ". ~ . + log(x3)")
    'rating ~ temp + log(x3)'
    >>> updated_formula("rating ~ temp", "+ judge")
    'rating ~ temp + judge'
    """
    old_left, _, old_right = split_formula(old)
    left, tilde, right = split_formula(new)
    if not tilde:
        left, right = "", _after_sign(left)
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
    return right if tilde else _after_sign(left)


def _after_sign(text: str) -> str:
    """What begins with a sign goes on from the old terms."""
    return f". {text}" if text.lstrip().startswith(("+", "-")) else text


def _side_text(part: Part) -> str:
    """The terms and offsets of a part, written out."""
    pieces = [term.text for term in part.terms]
    pieces += [f"offset({offset.text})" for offset in part.offsets]
    return " + ".join(pieces) if pieces else "1"
