"""Effects of the levels of a variable: smooth(x), mono(x) and fuse(x) of an ordered
predictor, and random effects re(g) beside smooth terms.

References
----------
Gertheiss, J. and Tutz, G. (2009). Penalized regression with ordinal predictors.
International Statistical Review, 77(3), 345-365: smooth(x).

Gertheiss, J. and Tutz, G. (2010). Sparse modeling of categorial explanatory variables.
Annals of Applied Statistics, 4(4), 2150-2180: fuse(x).

Rufibach, K. (2010). An active set algorithm to estimate parameters in generalized
linear models with ordered predictors. Computational Statistics and Data Analysis,
54(6), 1442-1456: mono(x).

Wood, S. N. (2008). Fast stable direct fitting and smoothness selection for generalized
additive models. Journal of the Royal Statistical Society B, 70(3), 495-518: re(g).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import number, one_of, shown_labels
from ..exceptions import DataError, FormulaError
from .names import LEVEL_EFFECTS
from .parse import Expression, Term, dotted_name

if TYPE_CHECKING:
    from .coding import Coding
    from .spec import FormulaSpec

#: Most levels of an ordered predictor, and most groups of random effects.
_MOST_LEVELS = 100
_MOST_GROUPS = 500
_SIGNS = {"increasing": 1, "decreasing": -1}


@dataclass(frozen=True, kw_only=True)
class LevelEffect:
    """Penalty or constraint on the effects of the levels of a variable.

    Attributes
    ----------
    kind : {"smooth", "mono", "fuse", "re"}
        "smooth" penalises squared steps between neighbouring levels, "mono" makes all
        steps of one sign, "fuse" penalises absolute steps, "re" penalises squared
        effects.
    weight : float or None
        The smoothing parameter (sp=); None if it is estimated.
    sign : {1, -1, 0}
        1 where effects must not decrease, -1 where they must not increase.
    """

    kind: str
    weight: float | None = None
    sign: int = 0


def smooth_steps(sp: float | None = None) -> LevelEffect:
    """smooth(x, sp=None): subtracts sp / 2 times the sum of squared steps between
    neighbouring levels from the log-likelihood [Gertheiss and Tutz 2009].

    Parameters
    ----------
    sp : float > 0, optional
        The smoothing parameter, 1 / variance of a step; by default estimated by REML,
        or by ML with smoothness="ML".

    Raises
    ------
    OptionError
        `sp` is not a positive number.

    Examples
    --------
    >>> smooth_steps(sp=2)
    LevelEffect(kind='smooth', weight=2.0, sign=0)
    """
    weight = None if sp is None else number("sp", sp, above=0.0)
    return LevelEffect(kind="smooth", weight=weight)


def mono_steps(direction: str = "increasing") -> LevelEffect:
    """mono(x, direction="increasing"): maximum likelihood with all steps between
    neighbouring levels >= 0, or <= 0 if "decreasing" [Rufibach 2010].

    Parameters
    ----------
    direction : {"increasing", "decreasing"}

    Raises
    ------
    OptionError
        Another direction.

    Examples
    --------
    >>> mono_steps("decreasing")
    LevelEffect(kind='mono', weight=None, sign=-1)
    """
    one_of("direction", direction, tuple(_SIGNS))
    return LevelEffect(kind="mono", sign=_SIGNS[direction])


def fuse_steps() -> LevelEffect:
    """fuse(x): the lasso of `ElasticNet` on the steps between neighbouring levels; a
    step of 0 joins two levels [Gertheiss and Tutz 2010].
    """
    return LevelEffect(kind="fuse")


def group_effects(sp: float | None = None) -> LevelEffect:
    """re(g, sp=None): independent normal effects of groups with mean 0 and variance 1 /
    sp, s(g, bs="re") of R's mgcv [Wood 2008].

    Parameters
    ----------
    sp : float > 0, optional
        The smoothing parameter, 1 / variance; by default estimated by REML, or by ML
        with smoothness="ML".

    Raises
    ------
    OptionError
        `sp` is not a positive number.

    Examples
    --------
    >>> group_effects(sp=2)
    LevelEffect(kind='re', weight=2.0, sign=0)
    """
    weight = None if sp is None else number("sp", sp, above=0.0)
    return LevelEffect(kind="re", weight=weight)


#: The functions of formulas: name to what makes the effect of the options.
EFFECTS: dict[str, Callable[..., LevelEffect]] = {
    "smooth": smooth_steps,
    "mono": mono_steps,
    "fuse": fuse_steps,
    "re": group_effects,
}


@dataclass(frozen=True, eq=False, kw_only=True)
class SteppedColumns:
    """Columns of X of one ordered predictor, coded by treatment, whose steps between
    neighbouring levels can be 0.

    Attributes
    ----------
    columns : (m,)
    sign : {1, -1, 0}
        Sign of the steps; 0 for any.
    """

    columns: IntArray
    sign: int

    def between_rows(self, X: FloatArray) -> BoolArray:
        """(m,) whether a step leads to a level with rows from a lower level with rows;
        X (N, m) are the columns.
        """
        levels = np.append(not X.any(axis=1).all(), X.any(axis=0))
        return np.asarray(levels[1:] & (np.cumsum(levels)[:-1] > 0))


def stepped_columns(
    spec: FormulaSpec, terms: Mapping[str, slice]
) -> tuple[SteppedColumns, ...] | None:
    """The columns of mono(x) and fuse(x); None without such terms.

    Parameters
    ----------
    spec : FormulaSpec
    terms : mapping of str to slice
        Columns of X of each location term.
    """
    found = []
    for term, _, coding in stepped_terms(spec):
        assert coding.effect is not None
        of_term = terms[term.label]
        columns = np.arange(of_term.start, of_term.stop)
        found.append(SteppedColumns(columns=columns, sign=coding.effect.sign))
    return tuple(found) or None


def stepped_terms(spec: FormulaSpec) -> list[tuple[Term, Expression, Coding]]:
    """The terms mono(x) and fuse(x), whose steps can be 0."""
    return [
        (term, factor, coding)
        for term, factor, coding in level_effect_terms(spec)
        if coding.effect is not None and coding.effect.kind in ("mono", "fuse")
    ]


def steps(count: int) -> FloatArray:
    """(count, count) matrix from the effects of levels 1, ..., count against level 0 to
    the steps between neighbouring levels.

    Examples
    --------
    >>> steps(2)
    array([[ 1.,  0.],
           [-1.,  1.]])
    """
    return np.asarray(np.eye(count) - np.eye(count, k=-1))


def level_effect_terms(spec: FormulaSpec) -> list[tuple[Term, Expression, Coding]]:
    """The location terms of ordered predictors and of random effects re(g), each a term
    of its own.

    Raises
    ------
    FormulaError
        smooth(x), mono(x), fuse(x) or re(g) inside another expression, in an
        interaction, or outside the location effects.
    DataError
        A variable without an order, or with too many or too few levels.
    """
    if not spec.calls:
        return []
    found = []
    elsewhere = [*spec.offsets.values(), *spec.groups.values()]
    for random in spec.location.random:
        elsewhere += random.columns.factors.values()
    for role, side in spec.by_role.items():
        for term in side.terms:
            factor = term.factors[0]
            alone = role == "location" and len(term.factors) == 1
            if alone and _is_call(factor.tree):
                coding = spec.codings[factor.key]
                _check_levels(factor, coding)
                found.append((term, factor, coding))
            else:
                elsewhere += term.factors
    for expression in elsewhere:
        call = level_effect_call(expression)
        if call is not None:
            raise FormulaError(
                f"{ast.unparse(call)} must be a term of its own, neither in an"
                " interaction nor in another expression, and not one of nominal=,"
                " scale= or random terms. Write the variable itself there."
            )
    return found


def level_effect_call(expression: Expression) -> ast.AST | None:
    """The call of smooth(), mono(), fuse() or re() in an expression, if any."""
    if "(" not in expression.key:
        return None
    return next(filter(_is_call, ast.walk(expression.tree)), None)


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted_name(node.func) in LEVEL_EFFECTS


def _check_levels(factor: Expression, coding: Coding) -> None:
    """DataError unless the levels have an order, and are not too many or too few."""
    levels = coding.levels
    if coding.effect is not None and coding.effect.kind == "re":
        if len(levels) > _MOST_GROUPS:
            raise DataError(
                f"{factor.label!r}: the variable must have at most {_MOST_GROUPS}"
                f" groups; got {len(levels):,}. Write (1 | g), and ns(x, df=4) in place"
                " of s(x)."
            )
        return
    numbers = all(isinstance(level, Real) for level in levels)
    if not coding.ordered and not (numbers and list(levels) == sorted(levels)):
        raise DataError(
            f"{factor.label!r}: the variable must be an ordered categorical or numbers;"
            f" got {shown_labels(levels)} without an order. Give its levels, lowest"
            " first, by pd.Categorical(values, levels, ordered=True)."
        )
    if len(levels) > _MOST_LEVELS:
        raise DataError(
            f"{factor.label!r}: the variable must have at most {_MOST_LEVELS} levels;"
            f" got {len(levels):,}. Join levels, or write s() of it as a number."
        )
