"""The arguments of `ordfit` that make a design: values, updates and text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from ..checks import plain
from ..exceptions import OptionError
from .parse import (
    parse_formula,
    parse_one_sided,
    split_formula,
    substitute_dot,
    uses_dot,
)

if TYPE_CHECKING:
    from .survey import SurveyDesign

#: Longest value of an argument that is printed in a call.
_LONGEST = 60
#: Arguments that are printed elsewhere, or follow from the method.
_BY_METHOD = ("formula", "as_categories", "by_level")
#: Most labels of levels= that are printed in a call.
_MOST_LABELS = 24


def arguments_text(given: Recipe | SurveyDesign) -> str:
    """The arguments other than the formula, as in a call; three dots stand for arrays
    and long values.

    Examples
    --------
    >>> arguments_text(Recipe("y ~ x", nominal="~ z", levels=["low", "high"]))
    "nominal='~ z', levels=['low', 'high']"
    >>> from ordstat import SurveyDesign
    >>> design = SurveyDesign(weights="w", strata="region")
    >>> arguments_text(Recipe("y ~ x", design=design))
    "design=SurveyDesign(weights='w', strata='region')"
    """
    shown = []
    for argument in fields(given):
        value = getattr(given, argument.name)
        if argument.name in _BY_METHOD or value is None:
            continue
        text = _argument_text(argument.name, value)
        if text not in ("{}", "[]", "()", repr(argument.default)):
            shown.append(f"{argument.name}={text}")
    return ", ".join(shown)


def _argument_text(name: str, value: Any) -> str:
    """A value as in a call, or three dots."""
    if is_dataclass(value):
        return f"{type(value).__name__}({arguments_text(cast(Any, value))})"
    if name == "levels" and not isinstance(value, str):
        labels = [plain(label) for label in value]
        return repr(labels) if len(labels) <= _MOST_LABELS else "..."
    if not isinstance(value, (str, bool, int, float, list, tuple, dict)):
        return "..."
    text = repr(value)
    too_long = len(text) > _LONGEST or "\n" in text
    return "..." if too_long else text


@dataclass(frozen=True, eq=False)
class Recipe:
    """The arguments of `ordfit` that make a design, apart from the data.

    Attributes
    ----------
    formula : str
        "y ~ x1 + temp * contact + offset(0.5 * x2) + ns(age, df=4) + I(x1^2)"; a dot
        stands for all columns not used elsewhere. The intercept is always implied: the
        thresholds are the intercepts.
    nominal, scale : str, optional
        One-sided formulas of the effects that differ between thresholds, and of the log
        scale.
    weights, offset, cluster : column name or N values, optional
        Case weights (rows of weight 0 are left out), a known part of the score, and
        clusters of dependent rows. A Series must have the index of the data.
    costs : (N, K) values, optional
        Cost of each predicted rank for each row.
    design : SurveyDesign, optional
        Survey design, instead of `weights` and `cluster`.
    levels : sequence or "all", optional
        Labels of the response in order, lowest first; labels without rows keep their
        places. By default levels without rows are left out. "all" makes every value of
        a numeric response a level.
    subset : mask or condition, optional
        Rows to use, such as "judge != '1'"; knots, means and levels come from the rows
        used (R takes knots from all rows).
    cov : dict of group to covariance of its levels, optional
        Labelled data frames; see `random_terms.py`.
    contrasts : mapping of factor to contrast, optional
        "treatment" (the default, for ordered factors too), "sum", "helmert", "poly",
        R's names, or a (K, m) matrix. Contrasts of columns outside the formula are kept
        for updates.
    constraints : mapping or list of str, optional
        Signs of effects; see `constrained`.
    na_action : {"omit", "raise", "keep"}
        Treatment of rows with missing values; "keep" leaves missing values of location
        terms to the method.
    as_categories : bool
        Whether a factor without contrasts of the user, alone in a term, is one column
        of codes.
    by_level : bool
        Whether every term of the formula is a nominal effect.
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
    constraints: Any = None
    na_action: str = "omit"
    as_categories: bool = False
    by_level: bool = False

    def updated(self, changes: Mapping[str, Any]) -> Recipe:
        """A copy with some arguments changed; None stands for the default, and a dot
        for the old formula.
        """
        defaults: dict[str, Any] = {
            argument.name: argument.default for argument in fields(self)
        }
        if unknown := ", ".join(changes.keys() - defaults.keys()):
            raise OptionError(
                f"update must have arguments among {', '.join(sorted(defaults))}; got"
                f" {unknown}."
            )
        given = {
            name: defaults[name] if value is None else value
            for name, value in changes.items()
        }
        if "formula" in given:
            given["formula"] = updated_formula(self.formula, given["formula"])
        for role in ("nominal", "scale"):
            old = getattr(self, role)
            if given.get(role) is not None and old is not None:
                right = substitute_dot(_right(given[role]), _right(old))
                if not uses_dot(right):
                    right = str(parse_one_sided(right, (), role))
                given[role] = f"~ {right}"
        return replace(self, **given)


def updated_formula(old: str, new: str) -> str:
    """R's update of a formula: a dot on either side of `new` stands for that side of
    `old`.

    Examples
    --------
    >>> updated_formula("rating ~ temp * contact", "~ . - temp:contact")
    'rating ~ temp + contact'
    >>> updated_formula("rating ~ temp", ". ~ . + log(x3)")
    'rating ~ temp + log(x3)'
    >>> updated_formula("rating ~ temp + (1 | judge)", "- (1|judge) + (1 | bottle)")
    'rating ~ temp + (1 | bottle)'
    """
    left, tilde, _ = split_formula(new)
    old_left, _, old_right = split_formula(old)
    left = old_left if not tilde or left.strip() in ("", ".") else left
    text = f"{left.strip()} ~ {substitute_dot(_right(new), old_right)}"
    if uses_dot(text):
        return text
    _, right = parse_formula(text, ())
    return f"{left.strip()} ~ {right}"


def _right(text: str) -> str:
    """The right-hand side; a text that begins with a sign continues the old terms."""
    left, tilde, right = split_formula(text)
    if tilde:
        return right
    return f". {text}" if left.lstrip().startswith(("+", "-")) else left
