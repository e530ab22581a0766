"""Smooth terms s(x): bases of splines, and the penalties of their wiggliness."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._typing import FloatArray, IntArray
from ..checks import number, one_of, whole
from ..exceptions import FormulaError, OptionError
from .level_effects import LevelEffect, level_effect_terms, steps
from .names import ColumnName
from .parse import RANDOM, SMOOTH, Expression, dotted_name, source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .coding import Coding, ModelMatrix
    from .factors import Weighted
    from .spec import FormulaSpec

BASES = ("ps", "cr")
#: How smoothness is estimated: by restricted maximum likelihood, or by maximum
#: likelihood.
REML = "REML"
ML = "ML"
#: What to write where smooth terms are refused.
UNPENALISED_TERMS = (
    "ns(x, df=4) in place of s(x), x in place of smooth(x), or (1 | g) in place of"
    " re(g)"
)
#: Splines are cubic: four B-splines overlap.
_ORDER = 4
#: Share of the range by which the knots of a P-spline reach beyond the data [mgcv].
_MARGIN = 1e-3
_LEAST_FUNCTIONS = 4
_MOST_FUNCTIONS = 200
#: Eigenvalues of a penalty below this share of the largest are rounding of 0.
_ROUNDING = 1e-10
#: Share of a straight line that other terms must leave.
_COLLINEAR = 1e-7


@dataclass(frozen=True, kw_only=True)
class Smooth:
    """A cubic spline basis whose functions add up to 0 over the rows of the fit.

    Linear beyond the outer knots.

    Attributes
    ----------
    kind : {"ps", "cr"}
        P-spline (even knots, second differences of the coefficients are penalised), or
        cubic regression spline (knots at quantiles, the integral of the squared second
        derivative is penalised).
    knots : tuple of float
        A P-spline has three more on either side of the range.
    sums : tuple of float
        Sum of each basis function over the rows of the fit.
    scale : float
        Divisor of the penalty, so that smoothness does not depend on units.
    weight : float or None
        The smoothing parameter (sp=); None if it is estimated.
    """

    kind: str
    knots: tuple[float, ...]
    sums: tuple[float, ...] = ()
    scale: float = 1.0
    weight: float | None = None

    @cached_property
    def _constraint(self) -> FloatArray:
        """(k, k - 1) orthonormal coefficients whose spline adds up to 0."""
        sums = np.array(self.sums)[:, None]
        return np.asarray(np.linalg.qr(sums, mode="complete").Q[:, 1:])

    @property
    def ends(self) -> tuple[float, float]:
        """The outer knots; beyond them the spline is linear."""
        if self.kind == "cr":
            return self.knots[0], self.knots[-1]
        return self.knots[_ORDER - 1], self.knots[-_ORDER]

    def __call__(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.basis(x) @ self._constraint)

    def basis(self, x: FloatArray) -> FloatArray:
        """(N, k) basis functions, without the constraint."""
        spline = self._spline
        low, high = self.ends
        values = spline(np.clip(x, low, high))
        below = np.minimum(x - low, 0.0)
        above = np.maximum(x - high, 0.0)
        for distance, end in ((below, low), (above, high)):
            if distance.any():
                values = values + np.outer(distance, spline(end, 1))
        return np.asarray(values)

    @cached_property
    def _spline(self) -> Callable[..., FloatArray]:
        from scipy.interpolate import BSpline, CubicSpline

        knots = np.array(self.knots)
        spline: Callable[..., FloatArray]
        if self.kind == "cr":
            spline = CubicSpline(knots, np.eye(knots.size), bc_type="natural")
        else:
            spline = BSpline(knots, np.eye(knots.size - _ORDER), _ORDER - 1)
        return spline

    @property
    def raw_penalty(self) -> FloatArray:
        """(k, k) penalty of the basis without the constraint, not scaled."""
        if self.kind == "ps":
            differences = np.diff(np.eye(len(self.knots) - _ORDER), 2, axis=0)
            return np.asarray(differences.T @ differences)
        # second derivatives are linear between knots
        knots = np.array(self.knots)
        widths = np.diff(knots)
        mass = np.zeros((knots.size, knots.size))
        inner = np.arange(widths.size)
        mass[inner, inner] += widths / 3.0
        mass[inner + 1, inner + 1] += widths / 3.0
        mass[inner, inner + 1] += widths / 6.0
        mass[inner + 1, inner] += widths / 6.0
        second = self._spline(knots, 2)
        return np.asarray(second.T @ mass @ second)

    @cached_property
    def penalty(self) -> FloatArray:
        """(k - 1, k - 1) S of the columns: beta'S beta measures wiggliness."""
        inside = self._constraint.T @ self.raw_penalty @ self._constraint
        return np.asarray(0.5 * (inside + inside.T) / self.scale)


def fit_smooth(
    x: Weighted, k: int = 10, bs: str = "ps", sp: float | None = None
) -> Smooth:
    """s(x, k=10, bs="ps", sp=None): k basis functions, of which k - 1 are free, as the
    thresholds are the intercepts; `sp` fixes the smoothing parameter.

    Bases, knots and scales of the penalties are those of R's mgcv.
    """
    values, weights = x
    if sp is not None:
        sp = number("sp", sp, above=0.0)
    one_of("bs", bs, BASES)
    distinct = np.unique(values)
    whole("k", k, _LEAST_FUNCTIONS, _MOST_FUNCTIONS)
    if distinct.size < k:
        instead = "C(x) for an effect of each value"
        if distinct.size >= _LEAST_FUNCTIONS:
            instead = f"s(x, k={distinct.size}), or {instead}"
        raise OptionError(
            f"s() must have a variable of at least k = {k} different values; got one of"
            f" {distinct.size}. Write {instead}."
        )
    low = float(distinct[0])
    high = float(distinct[-1])
    if bs == "cr":
        knots = np.asarray(np.quantile(distinct, np.linspace(0.0, 1.0, k)))
    else:
        margin = _MARGIN * (high - low)
        step = (high - low + 2.0 * margin) / (k - _ORDER + 1)
        places = np.arange(-(_ORDER - 1), k + 1)
        knots = np.asarray(low - margin + step * places, dtype=np.float64)
    unscaled = Smooth(kind=bs, knots=tuple(knots.tolist()))
    basis = unscaled.basis(values)
    size = np.abs(basis).sum(axis=1).max() ** 2
    return Smooth(
        kind=unscaled.kind,
        knots=unscaled.knots,
        sums=tuple((weights @ basis).tolist()),
        scale=float(np.abs(unscaled.raw_penalty).sum(axis=0).max() / size),
        weight=sp,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class SmoothBlock:
    """Columns of X with one smoothing parameter.

    Attributes
    ----------
    columns : (m,)
    penalty : (m, m)
        S: lambda/2 times beta'S beta is subtracted from the log-likelihood.
    weight : float or None
        lambda, where it is given.
    """

    columns: IntArray
    penalty: FloatArray
    weight: float | None = None

    @cached_property
    def _eigen(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues (m,) and eigenvectors of S, rounding of 0 as 0."""
        values, vectors = np.linalg.eigh(self.penalty)
        return np.where(values > _ROUNDING * values[-1], values, 0.0), vectors

    @property
    def rank(self) -> int:
        return int(np.count_nonzero(self._eigen[0]))

    @property
    def log_det(self) -> float:
        """Logarithm of the product of the positive eigenvalues."""
        values = self._eigen[0]
        return float(np.log(values[values > 0.0]).sum())

    @property
    def penalised_space(self) -> FloatArray:
        """(m, rank) orthonormal coefficients that are penalised."""
        values, vectors = self._eigen
        return np.asarray(vectors[:, values > 0.0])

    @property
    def null_space(self) -> FloatArray:
        """(m, d) coefficients that are not penalised, those of straight lines."""
        values, vectors = self._eigen
        return np.asarray(vectors[:, values == 0.0])


@dataclass(frozen=True, kw_only=True)
class SmoothTerm:
    """The names of one smooth.

    Attributes
    ----------
    label : str
        Such as "s(age)", or "s(age):sex[F]" for the rows of one group.
    variable : str
        The argument of s().
    factor : Expression
        The call of s().
    beside : ColumnName or None
        The column of other factors that multiplies it.
    levels : tuple
        Levels of an ordered predictor, smooth(x), or groups of random effects, re(g);
        empty for curves.
    random : bool
        Whether the levels are groups of random effects.
    """

    label: str
    variable: str
    factor: Expression
    beside: ColumnName | None = None
    levels: tuple[Any, ...] = ()
    random: bool = False

    @property
    def ordered(self) -> bool:
        """Whether it is smooth(x), of an ordered predictor."""
        return bool(self.levels) and not self.random


def is_smooth(tree: ast.expr) -> bool:
    """Whether an expression is s(...)."""
    return isinstance(tree, ast.Call) and dotted_name(tree.func) == SMOOTH


def is_random(tree: ast.expr) -> bool:
    """Whether an expression is re(...)."""
    return isinstance(tree, ast.Call) and dotted_name(tree.func) == RANDOM


def _check_place(role: str, factor: Expression) -> None:
    """FormulaError for s() inside another expression, or outside the location
    effects.
    """
    inside = [node for node in ast.walk(factor.tree) if is_smooth(cast(Any, node))]
    if not inside:
        return
    if role != "location":
        where = role if role == "random terms" else f"{role}="
        raise FormulaError(
            f"{factor.label!r} must be an effect that all levels share, not one of"
            f" {where} or of method='multinomial'. Use ns(x, df=4) there."
        )
    if not is_smooth(factor.tree) or len(inside) > 1:
        raise FormulaError(
            f"{factor.label!r}: s() must be a term of its own, such as s(x), or"
            " s(log(x))."
        )


def _check_lines(
    X: FloatArray,
    nominal: FloatArray,
    names: Sequence[SmoothTerm],
    blocks: Sequence[SmoothBlock],
) -> None:
    """FormulaError if the straight line of a smooth, or all of smooth(x) or re(x), is a
    combination of other columns: nothing would determine it, or leave it an effect.
    """
    penalised = np.concatenate([block.columns for block in blocks])
    others = np.delete(X, penalised, axis=1)
    basis = np.linalg.qr(np.column_stack([np.ones(len(X)), nominal, others]))[0]
    for name, block in zip(names, blocks, strict=True):
        if name.levels:
            _check_levels_left(name, X[:, block.columns], basis)
            continue
        lines = X[:, block.columns] @ block.null_space
        size = np.linalg.norm(lines, axis=0)
        rest = lines - basis @ (basis.T @ lines)
        left, triangle = np.linalg.qr(rest)
        if (np.abs(np.diag(triangle)) <= _COLLINEAR * size).any():
            raise FormulaError(
                f"{name.label} contains a straight line in {name.variable}, which other"
                f" terms of the formula contain too, or {name.variable} has a single"
                f" value there. Leave out the other term in {name.variable}, or write"
                " the smooth without by=."
            )
        basis = np.column_stack([basis, left])


def _check_levels_left(
    name: SmoothTerm, columns: FloatArray, basis: FloatArray
) -> None:
    """FormulaError if an orthonormal basis of other columns holds all columns of
    smooth(x) or re(x), as those of the factor x do.
    """
    rest = columns - basis @ (basis.T @ columns)
    size = np.linalg.norm(columns, axis=0)
    if (np.linalg.norm(rest, axis=0) <= _COLLINEAR * size).all():
        raise FormulaError(
            f"{name.label} cannot be estimated together with the other terms, which"
            f" distinguish all levels of {name.variable}. Leave one of them out."
        )


def _levels_term(factor: Expression, coding: Coding, effect: LevelEffect) -> SmoothTerm:
    variable = source(cast(Any, factor.tree).args[0])
    return SmoothTerm(
        label=f"{effect.kind}({variable})",
        variable=variable,
        factor=factor,
        levels=coding.levels,
        random=effect.kind == "re",
    )


def _penalised_levels(
    columns: slice, coding: Coding, effect: LevelEffect
) -> SmoothBlock:
    """The effects of the levels, of which those of groups add up to 0, as their mean is
    part of the thresholds. Penalised are the squared effects of groups, re(g), and the
    squared steps of smooth(x).
    """
    penalised = steps(len(coding.levels) - 1)
    if effect.kind == "re":
        assert coding.matrix is not None
        penalised = coding.matrix
    return SmoothBlock(
        columns=np.arange(columns.start, columns.stop),
        penalty=penalised.T @ penalised,
        weight=effect.weight,
    )


def smooth_terms(
    spec: FormulaSpec, location: ModelMatrix, nominal: FloatArray
) -> tuple[tuple[SmoothTerm, ...], tuple[SmoothBlock, ...] | None]:
    """The smooths among the location terms: their names, and their columns; `nominal`
    (N, q) has the columns of nominal effects.

    Raises
    ------
    FormulaError
        s() is part of another expression, is multiplied by a number, or contains a
        straight line that other terms contain too.
    """
    if not spec.calls:
        return (), None
    for role, side in spec.by_role.items():
        for factor in side.factors.values():
            _check_place(role, factor)
    for random in spec.location.random:
        for factor in random.columns.factors.values():
            _check_place("random terms", factor)
    found = _curves(spec, location)
    for term, factor, coding in level_effect_terms(spec):
        assert coding.effect is not None
        if coding.effect.kind in ("smooth", "re"):
            columns = location.terms[term.label]
            block = _penalised_levels(columns, coding, coding.effect)
            found.append((_levels_term(factor, coding, coding.effect), block))
    if not found:
        return (), None
    names, blocks = zip(*found, strict=True)
    _check_lines(location.matrix, nominal, names, blocks)
    return names, blocks


def _curves(
    spec: FormulaSpec, location: ModelMatrix
) -> list[tuple[SmoothTerm, SmoothBlock]]:
    """The terms s(x), one for each group of s(x, by=g)."""
    found: list[tuple[SmoothTerm, SmoothBlock]] = []
    for term in spec.location.terms:
        chosen = [factor for factor in term.factors if is_smooth(factor.tree)]
        if not chosen:
            continue
        smooth = chosen[0]
        if len(chosen) > 1:
            raise FormulaError(
                f"{term.label!r}: a product of smooths is not available. Write them as"
                " a sum, or one smooth by a factor."
            )
        others = [factor for factor in term.factors if factor is not smooth]
        for factor in others:
            if not spec.codings[factor.key].levels:
                raise FormulaError(
                    f"{term.label!r}: a smooth must be alone or multiplied by a"
                    f" factor; {factor.label!r} is numeric. Write s(x, by=group), or"
                    f" make a factor of it, C({factor.label})."
                )
        state: Any = spec.states[smooth.key]
        of_term = location.terms[term.label]
        first = of_term.start
        columns = spec.column_names["location"][of_term]
        groups: dict[ColumnName, list[int]] = {}
        for place, column in enumerate(columns, first):
            pieces = [piece for piece in column.pieces if piece.factor is not smooth]
            groups.setdefault(ColumnName(tuple(pieces)), []).append(place)
        for beside, places in groups.items():
            variable = source(cast(Any, smooth.tree).args[0])
            label = f"{SMOOTH}({variable})"
            if others:
                label += f":{beside.text}"
            name = SmoothTerm(
                label=label,
                variable=variable,
                factor=smooth,
                beside=beside if others else None,
            )
            block = SmoothBlock(
                columns=np.array(places, dtype=np.intp),
                penalty=state.penalty,
                weight=state.weight,
            )
            found.append((name, block))
    return found
