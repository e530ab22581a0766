"""Derivatives of what a cumulative link model predicts, with respect to its parameters.

Everything predicted is made of the standardised thresholds of a row, eta_k = s (theta_k - H) with
theta_k = alpha_k'(1, w), H = x'beta + offset and s = exp(-(z'zeta + scale offset)):

    d eta_k / d alpha_k = s (1, w),   d eta_k / d beta = -s x,   d eta_k / d zeta = -eta_k z.

The parameters stand in the order of `LikelihoodFit.coefficients`: thresholds, then the effects of the nominal columns
on each, column by column, then beta, then zeta, then the lambda of a flexible link (given or estimated); all of them,
aliased or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..._typing import BoolArray, FloatArray
from ..sample import Rows
from .cumulative import CumulativeRule
from .flexible import FLEXIBLE
from .links import Link

#: Doubles held at once for the derivatives of a chunk of rows.
_BUFFER = 1 << 21
#: Distance of the points for the derivative by a link's parameter.
_LINK_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives of a curve of eta.

    Attributes
    ----------
    eta : (n, K-1)
    lam : list of (n, K-1)
        By the parameter of the link, where it has one; else empty.
    """

    eta: FloatArray
    lam: list[FloatArray]

    def times(self, factors: FloatArray) -> Slopes:
        """Multiplied by (K-1,) factors."""
        return Slopes(self.eta * factors, [value * factors for value in self.lam])


@dataclass(frozen=True, eq=False, kw_only=True)
class Standardised:
    """The standardised thresholds of n rows and what they are made of.

    Attributes
    ----------
    eta : (n, K-1)
    s : (n, 1)
    w : (n, m)
        A column of ones, then the nominal columns.
    x : (n, D)
    z : (n, r)
    """

    eta: FloatArray
    s: FloatArray
    w: FloatArray
    x: FloatArray
    z: FloatArray

    @classmethod
    def of(cls, rule: CumulativeRule, rows: Rows) -> Standardised:
        s, ones = rule.inverse_scale(rows), np.ones((rows.n, 1))
        return cls(
            eta=-s * rule.gaps(rows),
            s=s,
            w=ones if rows.nominal is None else np.hstack([ones, rows.nominal]),
            x=rows.X,
            z=np.zeros((rows.n, 0)) if rows.scale is None else rows.scale,
        )

    def totals(self, slopes: Slopes) -> FloatArray:
        """(n, F) gradient of the sum over k of each row, by the chain rule."""
        c = slopes.eta
        alpha = self.w[:, :, None] * (c * self.s)[:, None, :]
        beta = -(c.sum(axis=1, keepdims=True) * self.s) * self.x
        zeta = -_product(c, self.eta).sum(axis=1, keepdims=True) * self.z
        return np.hstack(
            [
                alpha.reshape(len(c), self.w.shape[1] * c.shape[1]),
                beta,
                zeta,
                *(lam.sum(axis=1, keepdims=True) for lam in slopes.lam),
            ]
        )

    def averages(self, slopes: Slopes, weights: FloatArray) -> FloatArray:
        """(K-1, F) sum over rows of weight times the gradient for each k."""
        count, m = self.eta.shape[1], self.w.shape[1]
        weighted = slopes.eta * (weights[:, None] * self.s)
        stretched = _product(slopes.eta, self.eta) * weights[:, None]
        alpha = np.zeros((count, m, count))
        alpha[np.arange(count), :, np.arange(count)] = weighted.T @ self.w
        lam = [(weights @ value)[:, None] for value in slopes.lam]
        return np.hstack([alpha.reshape(count, -1), -weighted.T @ self.x, -stretched.T @ self.z, *lam])

    def pair(self, upper: int | None, lower: int | None, slopes: Slopes) -> tuple[FloatArray, list[int]]:
        """Gradient of the upper less the lower threshold's part where it is not zero, and the places of its columns."""
        (n, count), m = self.eta.shape, self.w.shape[1]
        blocks, places = [], []
        net, stretched, lam = np.zeros((n, 1)), np.zeros((n, 1)), np.zeros((n, len(slopes.lam)))
        for sign, k in ((1.0, upper), (-1.0, lower)):
            if k is not None:
                own = sign * slopes.eta[:, k : k + 1]
                blocks.append(own * self.s * self.w)
                places += [j * count + k for j in range(m)]
                net += own
                stretched += _product(own, self.eta[:, k : k + 1])
                lam += sign * np.array([value[:, k] for value in slopes.lam]).T.reshape(n, len(slopes.lam))
        gradient = np.hstack([*blocks, -net * self.s * self.x, -stretched * self.z, lam])
        return gradient, [*places, *range(m * count, m * count + gradient.shape[1] - len(places))]

    def involves(self, chosen: BoolArray) -> BoolArray:
        """(n, K-1) whether each eta has a nonzero derivative by one of the chosen parameters (F,)."""
        count, m, D = self.eta.shape[1], self.w.shape[1], self.x.shape[1]
        alpha, beta, rest = np.split(chosen, [m * count, m * count + D])
        zeta = rest[: self.z.shape[1]]
        shared = (self.x[:, beta] != 0.0).any(axis=1) | (self.z[:, zeta] != 0.0).any(axis=1)
        own: BoolArray = (np.abs(self.w) @ alpha.reshape(m, count)) > 0.0
        return np.asarray(own | shared[:, None])


def _product(c: FloatArray, eta: FloatArray) -> FloatArray:
    """c * eta, 0 where c is 0 (an infinite threshold)."""
    return np.asarray(np.where(c == 0.0, 0.0, c * np.where(c == 0.0, 0.0, eta)))


@dataclass(frozen=True)
class Curve:
    """A function of eta under a link, with its derivative."""

    value: Callable[[Link, FloatArray], FloatArray]
    slope: Callable[[Link, FloatArray], FloatArray]

    def slopes(self, link: Link, eta: FloatArray) -> Slopes:
        """Derivatives by eta, and by the parameter of the link from five points."""
        if link.lam is None:
            return Slopes(self.slope(link, eta), [])
        family = FLEXIBLE[link.name]
        h = _LINK_STEP * (link.lam if family.relative else max(1.0, abs(link.lam)))
        near, far = ([self.value(family.at(link.lam + j * h), eta) for j in (-k, k)] for k in (1, 2))
        by_lam = (8.0 * (near[1] - near[0]) - (far[1] - far[0])) / (12.0 * h)
        return Slopes(self.slope(link, eta), [np.where(np.isfinite(eta), by_lam, 0.0)])


def _above_log_odds(link: Link, eta: FloatArray) -> FloatArray:
    """log((1 - F) / F), accurate in both tails."""
    flat = eta.reshape(-1)
    infinite = np.full(flat.size, np.inf)
    above, below = link.log_interval(infinite, flat, infinite), link.log_interval(flat, -infinite, infinite)
    return np.asarray((above - below).reshape(eta.shape))


def _above_log_odds_slope(link: Link, eta: FloatArray) -> FloatArray:
    """-f / (F (1 - F)) = -(f / F + f / (1 - F))."""
    flat = eta.reshape(-1)
    infinite = np.full(flat.size, np.inf)
    above, below = link.interval(infinite, flat, infinite), link.interval(flat, -infinite, infinite)
    return np.asarray(-(above.b + below.a).reshape(eta.shape))


CUMULATIVE = Curve(lambda link, eta: np.asarray(link.cdf(eta)), lambda link, eta: np.asarray(link.pdf(eta)))
ETA = Curve(lambda link, eta: eta, lambda link, eta: np.ones_like(eta))
ABOVE_LOG_ODDS = Curve(_above_log_odds, _above_log_odds_slope)


#: Thresholds (upper, lower) behind an output; None stands for an end of the scale.
Ends = tuple[int | None, int | None]


@dataclass(frozen=True)
class Quantity:
    """Something predicted: a linear combination over k of a curve of eta_k.

    Attributes
    ----------
    curve : Curve
    combine : callable ((K-1, ...), float) -> (M, ...)
        Given the value of the curve at eta = +inf: 1 for probabilities, 0 for their derivatives.
    per : {"level", "lower level", "threshold", "row"}
        What the M outputs stand for: the K levels, those but the highest, the K-1 thresholds, or one number.
    touches : callable (K-1) -> list of (upper, lower) or None
        The thresholds whose curves make up each output, upper minus lower; None where every one does.
    """

    curve: Curve
    combine: Callable[[FloatArray, float], FloatArray]
    per: str
    touches: Callable[[int], list[Ends]] | None = None

    def averages(self, rule: CumulativeRule, rows: Rows, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(M,) weighted sums over rows and their (M, F) Jacobian; the weights should sum to what 1 stands for."""
        values: FloatArray = np.zeros(rule.n_levels - 1)
        jacobian: FloatArray = np.zeros((rule.n_levels - 1, parameter_count(rule)))
        for part in chunks(rows.n, rule.n_levels):
            some = Standardised.of(rule, rows.take(part))
            values = values + weights[part] @ self.curve.value(rule.link, some.eta)
            jacobian = jacobian + some.averages(self.curve.slopes(rule.link, some.eta), weights[part])
        return self.combine(values, float(weights.sum())), self.combine(jacobian, 0.0)


def _with_top(values: FloatArray, top: float) -> FloatArray:
    return np.concatenate([values, np.full((1, *values.shape[1:]), top)])


def _differences(values: FloatArray, top: float) -> FloatArray:
    return np.asarray(np.diff(_with_top(values, top), axis=0, prepend=0.0))


def _expected_rank(values: FloatArray, top: float) -> FloatArray:
    """1 + sum_k (1 - F_k)."""
    return np.asarray(((1.0 + len(values)) * top - values.sum(axis=0))[None])


def _latent_mean(values: FloatArray, top: float) -> FloatArray:
    return np.asarray(-values.mean(axis=0)[None])


def _own_interval(count: int) -> list[Ends]:
    return [(k if k < count else None, k - 1 if k else None) for k in range(count + 1)]


def _own_threshold(count: int) -> list[Ends]:
    return [(k, None) for k in range(count)]


def _own_threshold_or_top(count: int) -> list[Ends]:
    return [*_own_threshold(count), (None, None)]


#: Everything that has a gradient, by name.
QUANTITIES: dict[str, Quantity] = {
    "prob": Quantity(CUMULATIVE, _differences, "level", _own_interval),
    "cum_prob": Quantity(CUMULATIVE, _with_top, "level", _own_threshold_or_top),
    "inner_cum_prob": Quantity(CUMULATIVE, lambda values, top: values, "lower level", _own_threshold),
    "mean": Quantity(CUMULATIVE, _expected_rank, "row"),
    "latent": Quantity(ETA, _latent_mean, "row"),
    "log_odds": Quantity(ABOVE_LOG_ODDS, lambda values, top: values, "threshold", _own_threshold),
    "linear_predictor": Quantity(ETA, lambda values, top: values, "threshold", _own_threshold),
}


def parameter_count(rule: CumulativeRule) -> int:
    """F, of alpha, beta, zeta and lambda together."""
    return int(rule.alpha.size + rule.beta.size + rule.zeta.size + (rule.link.lam is not None))


def chunks(n: int, per_row: int) -> Iterator[slice]:
    """Slices of at most so many rows that `per_row` doubles a row fit the buffer."""
    step = max(1, _BUFFER // max(1, per_row))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def standard_errors(rule: CumulativeRule, rows: Rows, quantity: Quantity, covariance: FloatArray) -> FloatArray:
    """(N, M) standard errors of a quantity of each row, by the delta method.

    Parameters
    ----------
    rule : CumulativeRule
    rows : Rows
    quantity : Quantity
    covariance : (F, F) of all parameters, zero where aliased
    """
    width = parameter_count(rule) + 2 * rule.n_levels
    parts = [Standardised.of(rule, rows.take(part)) for part in chunks(rows.n, width)] or [Standardised.of(rule, rows)]
    variances = np.concatenate([_variances(rule.link, part, quantity, covariance) for part in parts])
    return np.asarray(np.sqrt(np.maximum(variances, 0.0)))


def _variances(link: Link, some: Standardised, quantity: Quantity, covariance: FloatArray) -> FloatArray:
    slopes = quantity.curve.slopes(link, some.eta)
    count = some.eta.shape[1]
    if quantity.touches is None:
        gradient = some.totals(slopes.times(quantity.combine(np.eye(count), 0.0)[0]))
        return np.asarray(((gradient @ covariance) * gradient).sum(axis=1, keepdims=True))
    columns = []
    for ends in quantity.touches(count):
        gradient, places = some.pair(*ends, slopes)
        columns.append(((gradient @ covariance[np.ix_(places, places)]) * gradient).sum(axis=1))
    return np.column_stack(columns)


def _beta(rule: CumulativeRule) -> slice:
    return slice(rule.alpha.size, rule.alpha.size + rule.beta.size)


def score_errors(rule: CumulativeRule, rows: Rows, covariance: FloatArray) -> FloatArray:
    """(N,) standard errors of H = x'beta + offset."""
    beta = _beta(rule)
    return np.asarray(np.sqrt(np.maximum(((rows.X @ covariance[beta, beta]) * rows.X).sum(axis=1), 0.0)))


def complements(rule: CumulativeRule, rows: Rows) -> FloatArray:
    """(N, K) 1 - P(y = k), without cancellation near 0."""
    eta, zeros = Standardised.of(rule, rows).eta, np.zeros((rows.n, 1))
    return np.asarray(np.hstack([rule.link.sf(eta), zeros]) + np.hstack([zeros, rule.link.cdf(eta)]))


def involved(rule: CumulativeRule, rows: Rows, quantity: Quantity, chosen: BoolArray) -> BoolArray:
    """(N, M) whether an output depends on one of the chosen parameters (F,) of alpha, beta or zeta."""
    etas = Standardised.of(rule, rows).involves(chosen)
    if quantity.touches is None:
        return np.asarray(etas.any(axis=1, keepdims=True))
    padded = np.hstack([etas, np.zeros((rows.n, 1), dtype=np.bool_)])  # None reads the last column
    ends = np.array([[-1 if k is None else k for k in pair] for pair in quantity.touches(etas.shape[1])])
    return np.asarray(padded[:, ends[:, 0]] | padded[:, ends[:, 1]])


def score_involved(rule: CumulativeRule, rows: Rows, chosen: BoolArray) -> BoolArray:
    """(N,) whether H depends on one of the chosen parameters (F,)."""
    return np.asarray((rows.X[:, chosen[_beta(rule)]] != 0.0).any(axis=1))
