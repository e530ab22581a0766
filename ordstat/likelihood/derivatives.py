"""Quantities of a fit as functions of its parameters, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._typing import BoolArray, FloatArray
from ..formula.sample import Rows, row_blocks
from .family import Family
from .flexible import FLEXIBLE
from .predictor import ModelRows
from .rule import LikelihoodRule

#: Distance of the points for the derivative by a link's parameter.
_LINK_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives of a curve.

    Attributes
    ----------
    eta : (n, K-1) where each value depends on its own eta alone, else (n, K-1 values, K-1 of eta)
    lam : list of (n, K-1)
        By the parameter of the link, where it has one; else empty.
    """

    eta: FloatArray
    lam: list[FloatArray]

    @property
    def local(self) -> bool:
        """Whether each value depends on its own eta alone."""
        return self.eta.ndim == 2

    def combined(self, factors: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """Derivatives (n, K-1) and (n,) of the sum over values, multiplied by (K-1,) factors."""
        eta = self.eta * factors if self.local else np.einsum("nkj,k->nj", self.eta, factors)
        return np.asarray(eta), [value @ factors for value in self.lam]


@dataclass(frozen=True)
class Curve:
    """A function of the eta of a row under a family, (n, K-1), with its derivatives."""

    value: Callable[[Family, FloatArray], FloatArray]
    slope: Callable[[Family, FloatArray], FloatArray]

    def slopes(self, family: Family, eta: FloatArray) -> Slopes:
        """Derivatives by eta, and by the parameter of the link from five points."""
        link = family.link
        if link.lam is None:
            return Slopes(self.slope(family, eta), [])
        flexible = FLEXIBLE[link.name]
        h = _LINK_STEP * (link.lam if flexible.relative else max(1.0, abs(link.lam)))
        moved = [[self.value(family.at(flexible.at(link.lam + j * h)), eta) for j in (-k, k)] for k in (1, 2)]
        near, far = moved
        by_lam = (8.0 * (near[1] - near[0]) - (far[1] - far[0])) / (12.0 * h)
        return Slopes(self.slope(family, eta), [np.where(np.isfinite(eta), by_lam, 0.0)])


CUMULATIVE = Curve(
    lambda family, eta: family.below(eta),
    lambda family, eta: family.below_slope(eta),
)
ETA = Curve(lambda family, eta: eta, lambda family, eta: np.ones_like(eta))
ABOVE_LOG_ODDS = Curve(
    lambda family, eta: family.log_odds_above(eta), lambda family, eta: family.log_odds_above_slope(eta)
)


@dataclass(frozen=True)
class Quantity:
    """Something predicted: a linear combination over k of a curve.

    Attributes
    ----------
    curve : Curve
    combine : callable ((K-1, ...), float) -> (M, ...)
        Given the value of the curve at eta = +inf: 1 for probabilities, 0 for their derivatives.
    per : {"level", "lower level", "threshold", "row"}
        What the M outputs stand for: the K levels, those but the highest, the K-1 thresholds, or one number.
    """

    curve: Curve
    combine: Callable[[FloatArray, float], FloatArray]
    per: str

    def factors(self, count: int) -> FloatArray:
        """(M, K-1) of the K-1 values of the curve in each output."""
        return self.combine(np.eye(count), 0.0)


def _with_top(values: FloatArray, top: float) -> FloatArray:
    return np.concatenate([values, np.full((1, *values.shape[1:]), top)])


def _differences(values: FloatArray, top: float) -> FloatArray:
    return np.asarray(np.diff(_with_top(values, top), axis=0, prepend=0.0))


def _expected_rank(values: FloatArray, top: float) -> FloatArray:
    """1 + sum_k (1 - F_k)."""
    return np.asarray(((1.0 + len(values)) * top - values.sum(axis=0))[None])


def _latent_mean(values: FloatArray, top: float) -> FloatArray:
    return np.asarray(-values.mean(axis=0)[None])


#: Everything that has a gradient, by name.
QUANTITIES: dict[str, Quantity] = {
    "prob": Quantity(CUMULATIVE, _differences, "level"),
    "cum_prob": Quantity(CUMULATIVE, _with_top, "level"),
    "inner_cum_prob": Quantity(CUMULATIVE, lambda values, top: values, "lower level"),
    "exc_prob": Quantity(CUMULATIVE, lambda values, top: top - values, "lower level"),
    "mean": Quantity(CUMULATIVE, _expected_rank, "row"),
    "latent": Quantity(ETA, _latent_mean, "row"),
    "log_odds": Quantity(ABOVE_LOG_ODDS, lambda values, top: values, "threshold"),
    "linear_predictor": Quantity(ETA, lambda values, top: values, "threshold"),
}


#: Doubles held at once for the derivatives of a chunk of rows.
_BUFFER = 1 << 21


@dataclass(frozen=True, eq=False, kw_only=True)
class Chain:
    """The predictors of n rows and what they are made of, for the chain rule.

    Attributes
    ----------
    eta : (n, K-1)
    s : (n, 1)
    rows : ModelRows
    """

    eta: FloatArray
    s: FloatArray
    rows: ModelRows

    @classmethod
    def of(cls, rule: LikelihoodRule, rows: Rows) -> Chain:
        predictor = rule.predictor(rows)
        return cls(eta=predictor.eta(), s=predictor.s[:, None], rows=ModelRows.of(rows))

    def gradient(self, by_eta: FloatArray, by_lambda: list[FloatArray]) -> FloatArray:
        """(n, F) gradient of one number a row, from its derivatives (n, K-1) by eta and (n,) by lambda."""
        w, x, z = self.rows.w, self.rows.x, self.rows.z
        alpha = w[:, :, None] * (by_eta * self.s)[:, None, :]
        beta = -(by_eta.sum(axis=1, keepdims=True) * self.s) * x
        zeta = -product(by_eta, self.eta).sum(axis=1, keepdims=True) * z
        flat = alpha.reshape(len(by_eta), w.shape[1] * by_eta.shape[1])
        return np.hstack([flat, beta, zeta, *(value[:, None] for value in by_lambda)])

    def totals(self, slopes: Slopes, weights: FloatArray) -> FloatArray:
        """(K-1, F) sum over rows of weight times the gradient of each value of a curve."""
        out = []
        for row in np.eye(self.eta.shape[1]):
            by_eta, by_lambda = slopes.combined(row)
            weighted = by_eta * (self.s * weights[:, None])
            stretched = product(by_eta, self.eta).sum(axis=1) * weights
            alpha, lam = (self.rows.w.T @ weighted).reshape(-1), [weights @ value for value in by_lambda]
            beta = weighted.sum(axis=1) @ self.rows.x
            out.append(np.concatenate([alpha, -beta, -stretched @ self.rows.z, lam]))
        return np.array(out)

    def involves(self, chosen: BoolArray) -> BoolArray:
        """(n, K-1) whether each eta has a nonzero derivative by one of the chosen parameters (F,)."""
        w, x, z = self.rows.w, self.rows.x, self.rows.z
        count, m, D = self.eta.shape[1], w.shape[1], x.shape[1]
        alpha, beta, rest = np.split(chosen, [m * count, m * count + D])
        zeta = rest[: z.shape[1]]
        shared = (x[:, beta] != 0.0).any(axis=1) | (z[:, zeta] != 0.0).any(axis=1)
        own: BoolArray = (np.abs(w) @ alpha.reshape(m, count)) > 0.0
        return np.asarray(own | shared[:, None])


def product(c: FloatArray, eta: FloatArray) -> FloatArray:
    """c * eta, 0 where c is 0 (an infinite threshold)."""
    return np.asarray(np.where(c == 0.0, 0.0, c * np.where(c == 0.0, 0.0, eta)))


def averages(
    quantity: Quantity, rule: LikelihoodRule, rows: Rows, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(M,) weighted sums over rows and their (M, F) Jacobian; the weights should sum to what 1 stands for."""
    values: FloatArray = np.zeros(rule.n_levels - 1)
    jacobian: FloatArray = np.zeros((rule.n_levels - 1, rule.n_parameters))
    for part in chunks(rows.n, rule.n_levels):
        some = Chain.of(rule, rows.take(part))
        values = values + weights[part] @ quantity.curve.value(rule.family, some.eta)
        jacobian = jacobian + some.totals(quantity.curve.slopes(rule.family, some.eta), weights[part])
    return quantity.combine(values, float(weights.sum())), quantity.combine(jacobian, 0.0)


def chunks(n: int, per_row: int) -> Iterator[slice]:
    """Slices of at most so many rows that `per_row` doubles a row fit the buffer."""
    return row_blocks(n, per_row, _BUFFER)


def standard_errors(rule: LikelihoodRule, rows: Rows, quantity: Quantity, covariance: FloatArray) -> FloatArray:
    """(N, M) standard errors of a quantity of each row, by the delta method.

    Parameters
    ----------
    rule : LikelihoodRule
    rows : Rows
    quantity : Quantity
    covariance : (F, F) of all parameters, zero where aliased
    """
    width = rule.n_parameters + 2 * rule.n_levels * (1 if rule.family.local else rule.n_levels)
    parts = [Chain.of(rule, rows.take(part)) for part in chunks(rows.n, width)] or [Chain.of(rule, rows)]
    variances = np.concatenate([_variances(rule.family, part, quantity, covariance) for part in parts])
    return np.asarray(np.sqrt(np.maximum(variances, 0.0)))


def _variances(family: Family, some: Chain, quantity: Quantity, covariance: FloatArray) -> FloatArray:
    slopes, columns = quantity.curve.slopes(family, some.eta), []
    for factors in quantity.factors(some.eta.shape[1]):
        gradient = some.gradient(*slopes.combined(factors))
        used = gradient.any(axis=0)
        part = gradient[:, used]
        columns.append(((part @ covariance[np.ix_(used, used)]) * part).sum(axis=1))
    return np.column_stack(columns)


def _beta(rule: LikelihoodRule) -> slice:
    return slice(rule.alpha.size, rule.alpha.size + rule.beta.size)


def score_errors(rule: LikelihoodRule, rows: Rows, covariance: FloatArray) -> FloatArray:
    """(N,) standard errors of H = x'beta + offset."""
    beta = _beta(rule)
    return np.asarray(np.sqrt(np.maximum(((rows.X @ covariance[beta, beta]) * rows.X).sum(axis=1), 0.0)))


def involved(rule: LikelihoodRule, rows: Rows, quantity: Quantity, chosen: BoolArray) -> BoolArray:
    """(N, M) whether an output depends on one of the chosen parameters (F,) of alpha, beta or zeta."""
    some = Chain.of(rule, rows)
    etas = some.involves(chosen)
    if not quantity.curve.slopes(rule.family, some.eta).local:
        etas = np.broadcast_to(etas.any(axis=1, keepdims=True), etas.shape)
    return np.asarray(etas @ (quantity.factors(etas.shape[1]) != 0.0).T)


def score_involved(rule: LikelihoodRule, rows: Rows, chosen: BoolArray) -> BoolArray:
    """(N,) whether H depends on one of the chosen parameters (F,)."""
    return np.asarray((rows.X[:, chosen[_beta(rule)]] != 0.0).any(axis=1))


#: Distance of five points in eta, and the least share of eta.
_STEP, _SHARE = 1e-3, 1e-6
#: Place and weight of the four that count, for 12 times the derivative.
_POINTS = ((-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0))


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a model: their predictors and the slopes of a curve there.

    Attributes
    ----------
    rule : LikelihoodRule
    curve : Curve
    chain : Chain
    """

    rule: LikelihoodRule
    curve: Curve
    chain: Chain

    @cached_property
    def slopes(self) -> Slopes:
        return self.curve.slopes(self.rule.family, self.chain.eta)

    @cached_property
    def _own_bend(self) -> Slopes:
        """Second derivatives of a local curve."""
        return bent(self.curve, self.rule.family, self.chain.eta, np.ones_like(self.chain.eta))

    def bend(self, moved: FloatArray) -> Slopes:
        """The derivative of the slopes where eta moves by (n, K-1)."""
        if not self.slopes.local:
            return bent(self.curve, self.rule.family, self.chain.eta, _finite(moved))
        own = self._own_bend
        return Slopes(product(own.eta, moved), [product(value, moved) for value in own.lam])

    def along(self, tangent: Rows) -> tuple[FloatArray, list[tuple[Chain, Slopes]]]:
        """(n, K-1) the derivative of the curve along a tangent, and parts whose gradients add up to its gradient."""
        rule, chain = self.rule, self.chain
        H = rule.scores(tangent)
        tau: FloatArray = np.zeros(tangent.n) if tangent.scale is None else tangent.scale @ rule.zeta
        tau = (tau if tangent.scale_offset is None else tau + tangent.scale_offset)[:, None]
        theta = 0.0 if tangent.nominal is None else tangent.nominal @ rule.alpha[:, 1:].T
        moved = chain.s * (theta - H[:, None]) - product(tau, chain.eta)
        rows, none = chain.rows, np.zeros((tangent.n, 1))
        w = none if tangent.nominal is None else np.hstack([none, tangent.nominal])
        turned = replace(rows, w=w - tau * rows.w, x=tangent.X - tau * rows.x)
        parts = [replace(chain, eta=moved, rows=turned)]
        if tangent.scale is not None:
            parts.append(replace(chain, rows=replace(rows, w=0.0 * rows.w, x=0.0 * rows.x, z=tangent.scale)))
        slope = self.slopes.eta
        values = product(slope, moved) if self.slopes.local else np.einsum("nkj,nj->nk", slope, _finite(moved))
        still = Slopes(slope, [np.zeros_like(value) for value in self.slopes.lam])
        return values, [(chain, self.bend(moved)), *((part, still) for part in parts)]


def _finite(moved: FloatArray) -> FloatArray:
    """The moves, without those of infinite predictors, on which no probability depends."""
    return np.where(np.isfinite(moved), moved, 0.0)


def bent(curve: Curve, family: Family, eta: FloatArray, moved: FloatArray) -> Slopes:
    """The derivative of the slopes of a curve where eta moves by (n, K-1), from five points."""
    h = _STEP / np.maximum(np.abs(moved).max(axis=1, keepdims=True), 1e-300)
    h = np.maximum(h, _SHARE * np.where(np.isfinite(eta), np.abs(eta), 0.0).max(axis=1, keepdims=True) * h / _STEP)
    points = [curve.slopes(family, eta + (place * h) * moved) for place, _ in _POINTS]
    weights = [weight for _, weight in _POINTS]
    finite = np.isfinite(eta)

    def derivative(parts: list[FloatArray]) -> FloatArray:
        width = 12.0 * h if parts[0].ndim == 2 else 12.0 * h[:, :, None]
        total = sum((weight * part for weight, part in zip(weights, parts, strict=True)), np.zeros_like(parts[0]))
        known = finite if parts[0].ndim == 2 else finite[:, None, :]
        return np.where(known, total / width, 0.0)

    lam = [[point.lam[j] for point in points] for j in range(len(points[0].lam))]
    return Slopes(derivative([point.eta for point in points]), [derivative(values) for values in lam])


class Directions:
    """Derivatives of a quantity along tangents of some rows; what all tangents share is found once.

    Parameters
    ----------
    quantity : Quantity
    rule : LikelihoodRule
    rows : Rows
    """

    def __init__(self, quantity: Quantity, rule: LikelihoodRule, rows: Rows) -> None:
        self.quantity, self.rule, self.rows = quantity, rule, rows

    @cached_property
    def _blocks(self) -> list[tuple[slice, Block]]:
        parts = chunks(self.rows.n, self.rule.n_levels)
        return [
            (part, Block(self.rule, self.quantity.curve, Chain.of(self.rule, self.rows.take(part)))) for part in parts
        ]

    def average(self, tangent: Rows, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(M,) weighted sums over rows of the derivatives along a tangent, and their (M, F) Jacobian."""
        count = self.rule.n_levels - 1
        values, jacobian = np.zeros(count), np.zeros((count, self.rule.n_parameters))
        for part, block in self._blocks:
            (moves, parts), w = block.along(tangent.take(part)), weights[part]
            values = values + w @ moves
            jacobian = jacobian + sum(chain.totals(slopes, w) for chain, slopes in parts)
        return self.quantity.combine(values, 0.0), self.quantity.combine(jacobian, 0.0)

    def each(self, tangent: Rows) -> tuple[FloatArray, FloatArray]:
        """(n, M) derivatives along a tangent, and their (n, M, F) Jacobian."""
        moves = [block.along(tangent.take(part)) for part, block in self._blocks]
        return _stacked(self.quantity, [(values, row_gradients(self.quantity, parts)) for values, parts in moves], 0.0)

    def values(self) -> tuple[FloatArray, FloatArray]:
        """(n, M) the quantity itself, and its (n, M, F) Jacobian."""
        chains = [(block.chain, block.slopes) for _, block in self._blocks]
        curves = [self.quantity.curve.value(self.rule.family, chain.eta) for chain, _ in chains]
        gradients = [row_gradients(self.quantity, [part]) for part in chains]
        return _stacked(self.quantity, list(zip(curves, gradients, strict=True)), 1.0)


def row_gradients(quantity: Quantity, parts: list[tuple[Chain, Slopes]]) -> FloatArray:
    """(n, M, F) the sum of the gradients of each output of a quantity."""
    factors = quantity.factors(parts[0][0].eta.shape[1])
    outputs = [sum(chain.gradient(*slopes.combined(row)) for chain, slopes in parts) for row in factors]
    return np.stack(outputs, axis=1)


def _stacked(
    quantity: Quantity, found: list[tuple[FloatArray, FloatArray]], top: float
) -> tuple[FloatArray, FloatArray]:
    values = np.concatenate([one for one, _ in found])
    return quantity.combine(values.T, top).T, np.concatenate([gradient for _, gradient in found])


#: Distance of the points in units of the deviation: the error of five points is of the order of its fourth power.
_STEP_STENCIL = 1e-3
#: Values of one sign are approached no closer than by this share of the deviation.
_LEAST = 1e-3
#: Distance of the points in units of the last place of x, at least: below it differences are rounding.
_PLACES = 4096


#: Row i: weights of f(0), ..., f(4) in the derivative at i of the polynomial through them.
_WEIGHTS = (
    np.array(
        [
            [-25.0, 48.0, -36.0, 16.0, -3.0],
            [-3.0, -10.0, 18.0, -6.0, 1.0],
            [1.0, -8.0, 0.0, 8.0, -1.0],
            [-1.0, 6.0, -18.0, 10.0, 3.0],
            [3.0, -16.0, 36.0, -48.0, 25.0],
        ]
    )
    / 12.0
)


def stencil(x: FloatArray, among: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Five points about each value, none outside the range of the values, and their weights.

    Within the range every function that could be fitted can be evaluated: no point beyond the boundary knots of a
    spline, none below 0 for a logarithm. A range too narrow to tell five points apart, or of one value, is no bound.

    Parameters
    ----------
    x : (n,)
    among : (N,), optional
        The values whose range and deviation count, if they are not those of x.

    Returns
    -------
    points, weights : (n, 5)
        sum_j weights[i, j] f(points[i, j]) is f'(x[i]) for polynomials up to degree 4.

    Examples
    --------
    >>> points, weights = stencil(np.array([1.0, 2.0, 4.0]))
    >>> (weights * points**3).sum(axis=1).round(6)
    array([ 3., 12., 48.])
    """
    values = x if among is None else np.concatenate([x, among])
    low, high, deviation = float(values.min()), float(values.max()), _deviation(values)
    size = np.full(x.size, deviation)
    if low >= 0.0 or high <= 0.0:
        size = np.clip(np.abs(x), _LEAST * deviation, deviation)
    step = np.maximum(_STEP_STENCIL * size, _PLACES * np.spacing(np.abs(x)))
    if high - low < 4.0 * step.max():
        low, high = -np.inf, np.inf
    step = (x + step) - x  # a number that can be added to x exactly
    below = np.clip(np.floor((x - low) / step), 0, 2).astype(np.intp)
    above = np.clip(np.floor((high - x) / step), 0, 2).astype(np.intp)
    at = np.where(above < 2, 4 - above, below)
    points = np.clip(x[:, None] + (np.arange(5) - at[:, None]) * step[:, None], low, high)
    return points, _WEIGHTS[at] / step[:, None]


def _deviation(x: FloatArray) -> float:
    """Standard deviation, of numbers of any size; of one value its size, 1 for zero."""
    largest = float(np.abs(x).max())
    if x.min() == x.max():
        return largest or 1.0
    return float((x / largest).std()) * largest
