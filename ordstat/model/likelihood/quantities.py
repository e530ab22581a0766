"""What a likelihood model predicts: sums over k of a curve of its predictors eta_k."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from .family import Family
from .flexible import FLEXIBLE

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
    """A function of the eta of a row under a family, (n, K-1), with its derivatives.

    `bend` is the derivative of the slope where eta moves, for families that have a formula for it.
    """

    value: Callable[[Family, FloatArray], FloatArray]
    slope: Callable[[Family, FloatArray], FloatArray]
    bend: Callable[[Family, FloatArray, FloatArray], FloatArray | None] = lambda family, eta, moved: None

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
    lambda family, eta, moved: family.below_bend(eta, moved),
)
ETA = Curve(lambda family, eta: eta, lambda family, eta: np.ones_like(eta))
ABOVE_LOG_ODDS = Curve(
    lambda family, eta: family.log_odds_above(eta), lambda family, eta: family.log_odds_above_slope(eta)
)

#: Values of the curve (upper, lower) behind an output; None stands for an end of the scale.
Ends = tuple[int | None, int | None]


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
    touches : callable (K-1) -> list of (upper, lower) or None
        The values of the curve that make up each output, upper minus lower; None where every one does.
    """

    curve: Curve
    combine: Callable[[FloatArray, float], FloatArray]
    per: str
    touches: Callable[[int], list[Ends]] | None = None


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
    "exc_prob": Quantity(CUMULATIVE, lambda values, top: top - values, "lower level", _own_threshold),
    "mean": Quantity(CUMULATIVE, _expected_rank, "row"),
    "latent": Quantity(ETA, _latent_mean, "row"),
    "log_odds": Quantity(ABOVE_LOG_ODDS, lambda values, top: values, "threshold", _own_threshold),
    "linear_predictor": Quantity(ETA, lambda values, top: values, "threshold", _own_threshold),
}
