"""Quantities of a fit as functions of its parameters, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from .._typing import FloatArray, IntArray
from ..formula.random_rows import RandomRows
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows
from ..judging.response_numbers import Asked
from .differences import first_by_seven
from .family import Family, stages_of
from .flexible import links_about
from .predictor import ModelRows
from .rule import LikelihoodRule
from .score_nodes import ScoreNodes
from .user_scale import CovarianceOperator, unit_rows

#: Values and their derivatives by the parameters.
Derived = tuple[FloatArray, FloatArray]
#: How far the points of a derivative along a tangent move the predictors.
_ETA_STEP = 1e-3


@dataclass(frozen=True)
class Curve:
    """A function of the predictors eta (n, K-1) of rows under a family.

    Attributes
    ----------
    value : callable
        (n, K-1).
    slope : callable
        Derivatives of the values: (n, K-1) if each value depends only on its own eta,
        else (n, K-1 values, K-1 of eta).
    """

    value: Callable[[Family, FloatArray], FloatArray]
    slope: Callable[[Family, FloatArray], FloatArray]

    def by_lambda(self, family: Family, eta: FloatArray) -> FloatArray:
        """(n, K-1) derivatives with respect to the parameter of the link."""
        links, h = links_about(family.link)
        values = np.array([self.value(family.at(link), eta) for link in links])
        return np.where(np.isfinite(eta), first_by_seven(values, h), 0.0)


CUMULATIVE = Curve(
    lambda family, eta: family.below(eta), lambda family, eta: family.below_slope(eta)
)
ABOVE = Curve(
    lambda family, eta: family.above(eta), lambda family, eta: -family.below_slope(eta)
)
ETA = Curve(lambda family, eta: eta, lambda family, eta: np.ones_like(eta))
#: The predictors in the direction in which they rise with H.
RISING = Curve(
    lambda family, eta: family.rises * eta,
    lambda family, eta: np.full_like(eta, family.rises),
)
ABOVE_LOG_ODDS = Curve(
    lambda family, eta: family.log_odds_above(eta),
    lambda family, eta: family.log_odds_above_slope(eta),
)

HAZARDS = Curve(
    lambda family, eta: stages_of(family).hazards(eta),
    lambda family, eta: stages_of(family).hazard_slopes(eta),
)


@dataclass(frozen=True)
class Quantity:
    """A predicted quantity: a linear combination over k of a curve.

    Attributes
    ----------
    curve : Curve
    combine : callable ((K-1, ...), float) -> (M, ...)
        From the K-1 values of the curve and its value beyond the last threshold: 1 for
        probabilities, 0 for derivatives.
    per : {"level", "lower level", "threshold", "value", "row"}
        Meaning of the M outputs: the K levels, all levels except the highest, the K-1
        thresholds, values of the response, or the row.
    known_factors : (M, K-1) or None
        The result of `factors`, if it is known without the unit matrix of K-1.
    """

    curve: Curve
    combine: Callable[[FloatArray, float], FloatArray]
    per: str
    known_factors: FloatArray | None = None

    def values(self, rule: LikelihoodRule, rows: Rows) -> FloatArray:
        """(n, M) values of rows by a rule, computed for blocks of rows."""
        nodes = nodes_of(self, rule, rows)
        if nodes is not None:
            return nodes.weights @ self._at_scores(rule, nodes.scores)
        parts = [
            self.combine(
                self.curve.value(rule.family, rule.eta(rows.take(some))).T, 1.0
            )
            for some in row_blocks(rows.n, rule.n_levels)
        ]
        if not parts:
            return np.zeros((0, len(self.factors(rule.n_levels - 1))))
        return np.concatenate(parts, axis=1).T

    def _at_scores(self, rule: LikelihoodRule, scores: FloatArray) -> FloatArray:
        """(J, M) at scores (J,) on one scale."""
        parts = []
        for some in row_blocks(scores.size, rule.n_levels, _BUFFER):
            eta = rule.alpha[:, 0] - scores[some, None]
            values = self.curve.value(rule.family, eta)
            parts.append(self.combine(values.T, 1.0))
        return np.concatenate(parts, axis=1).T

    def factors(self, count: int) -> FloatArray:
        """(M, K-1) coefficients of the values of the curve in each output."""
        if self.known_factors is not None:
            return self.known_factors
        return self.combine(np.eye(count), 0.0)


def _unchanged(values: FloatArray, top: float) -> FloatArray:
    return values


def _with_top(values: FloatArray, top: float) -> FloatArray:
    return np.concatenate([values, np.full((1, *values.shape[1:]), top)])


def _differences(values: FloatArray, top: float) -> FloatArray:
    return np.diff(values, axis=0, prepend=0.0, append=top)


def mean_of(numbers: FloatArray) -> Quantity:
    """The mean of numbers (K,) of the levels: the last minus sum_k (step k) F_k."""
    steps = np.diff(numbers)

    def combine(values: FloatArray, top: float) -> FloatArray:
        return np.asarray((numbers[-1] * top - np.tensordot(steps, values, 1))[None])

    return Quantity(CUMULATIVE, combine, "row", -steps[None])


def exceedance(places: IntArray, count: int) -> Quantity:
    """P(y >= k) of levels k (M,) in 0..K, over K-1 = `count` thresholds: 1 for the
    lowest level, 0 beyond the last.
    """
    factors = np.zeros((places.size, count + 2))
    factors[np.arange(places.size), places] = 1.0

    def combine(values: FloatArray, top: float) -> FloatArray:
        beyond = np.zeros((1, *values.shape[1:]))
        return np.concatenate([beyond + top, values, beyond])[places]

    return Quantity(ABOVE, combine, "value", factors[:, 1:-1])


def cumulative_through(factors: FloatArray) -> Quantity:
    """P(y <= k) of all k, with the derivatives of the combinations (M, K-1) alone."""
    return Quantity(CUMULATIVE, _unchanged, "lower level", factors)


def _latent_mean(values: FloatArray, top: float) -> FloatArray:
    return np.asarray(values.mean(axis=0)[None])


#: Quantities by name.
QUANTITIES: dict[str, Quantity] = {
    "prob": Quantity(CUMULATIVE, _differences, "level"),
    "cum_prob": Quantity(CUMULATIVE, _with_top, "level"),
    "inner_cum_prob": Quantity(CUMULATIVE, _unchanged, "lower level"),
    "exc_prob": Quantity(CUMULATIVE, lambda values, top: top - values, "lower level"),
    "latent": Quantity(RISING, _latent_mean, "row"),
    "log_odds": Quantity(ABOVE_LOG_ODDS, _unchanged, "threshold"),
    "hazard": Quantity(HAZARDS, _unchanged, "threshold"),
    "linear_predictor": Quantity(ETA, _unchanged, "threshold"),
}


def quantity_of(type: str, asked: Asked | None) -> Quantity:
    """The quantity of a type of prediction; `asked` has numbers of the labels."""
    if asked is None:
        return QUANTITIES[type]
    if asked.places is not None:
        return exceedance(asked.places, len(asked.numbers) - 1)
    return mean_of(asked.numbers)


#: Doubles held at once for the derivatives of a chunk of rows.
_BUFFER = 1 << 21
#: Rows times levels from which few scores stand for the rows.
_MANY_CELLS = 10_000_000
#: Curves that are analytic near the real line.
_SMOOTH = (CUMULATIVE, ABOVE, RISING)


class QuantityOfRows:
    """A quantity of n rows, with its derivatives with respect to the parameters of a
    rule.

    They follow by the chain rule through the predictors eta = s (w'alpha - x'beta -
    offset).

    Parameters
    ----------
    quantity : Quantity
    rule : LikelihoodRule
    rows : Rows
    """

    def __init__(self, quantity: Quantity, rule: LikelihoodRule, rows: Rows) -> None:
        predictor = rule.predictor(rows)
        curve = quantity.curve
        family = rule.family
        self.quantity = quantity
        self.columns = rule.model_rows(rows)
        self.s = predictor.s[:, None, None]
        self.eta = predictor.eta()
        self.curve = curve.value(family, self.eta)
        slope = curve.slope(family, self.eta)
        factors = quantity.factors(self.eta.shape[1])
        #: (n, M, K-1) derivatives of the outputs by eta.
        self.by_eta: FloatArray
        if slope.ndim == 2:  # each value of the curve depends on its own eta alone
            self.by_eta = slope[:, None, :] * factors
        else:
            self.by_eta = np.einsum("mk,nkj->nmj", factors, slope)
        #: (n, M) derivatives by log s, to which infinite thresholds add nothing; None
        #: without scale columns.
        self.by_log_s: FloatArray | None = None
        if self.columns.z.shape[1]:
            finite = np.where(np.isfinite(self.eta), self.eta, 0.0)
            self.by_log_s = np.einsum("nmk,nk->nm", self.by_eta, finite)
        #: (n, M) derivatives by the parameter of the link; None without one.
        self.by_lambda: FloatArray | None = None
        if family.link.lam is not None:
            self.by_lambda = curve.by_lambda(family, self.eta) @ factors.T

    def sums(self, weights: FloatArray) -> Derived:
        """(K-1,) weighted sums of the curve over rows, and the (M, F) Jacobian of the
        sums of the outputs.
        """
        n, outputs, count = self.by_eta.shape
        # a spread of 0 to rounding leaves derivatives without a value
        with np.errstate(invalid="ignore"):
            by_theta = (self.by_eta * (self.s * weights[:, None, None])).reshape(n, -1)
        alpha = (
            (self.columns.w.T @ by_theta).reshape(-1, outputs, count).transpose(1, 0, 2)
        )
        parts = [
            alpha.reshape(outputs, -1),
            -(self.columns.x.T @ by_theta).reshape(-1, outputs, count).sum(axis=2).T,
        ]
        if self.by_log_s is not None:
            parts.append(-(self.by_log_s * weights[:, None]).T @ self.columns.z)
        if self.by_lambda is not None:
            parts.append((weights @ self.by_lambda)[:, None])
        return weights @ self.curve, np.hstack(parts)

    def rows(self) -> Derived:
        """(n, M) outputs and their (n, M, F) Jacobian."""
        columns = self.columns
        with np.errstate(invalid="ignore"):  # as in `sums`
            by_theta = self.by_eta * self.s
        n, outputs, count = by_theta.shape
        by_alpha = columns.w[:, None, :, None] * by_theta[:, :, None, :]
        parts = [
            by_alpha.reshape(n, outputs, columns.w.shape[1] * count),
            -by_theta.sum(axis=2)[:, :, None] * columns.x[:, None, :],
        ]
        if self.by_log_s is not None:
            parts.append(-self.by_log_s[:, :, None] * columns.z[:, None, :])
        if self.by_lambda is not None:
            parts.append(self.by_lambda[:, :, None])
        values = self.quantity.combine(self.curve.T, 1.0).T
        return values, np.concatenate(parts, axis=2)


def nodes_of_rule(rule: LikelihoodRule, rows: Rows) -> ScoreNodes | None:
    """Nodes of the score that replace very many rows and levels, if each P(y <= k) is a
    smooth function of the score; None if each row is used itself.
    """
    smooth = rule.family.local and rule.link.lam is None and not rule.effects
    many = rows.n * rule.n_levels >= _MANY_CELLS
    if not smooth or not many or not rows.one_scale:
        return None
    return ScoreNodes.of(rule.scores(rows))


def nodes_of(quantity: Quantity, rule: LikelihoodRule, rows: Rows) -> ScoreNodes | None:
    """`nodes_of_rule` for a quantity with few outputs, smooth in the score; None for
    others.
    """
    if quantity.curve not in _SMOOTH or quantity.known_factors is None:
        return None
    return nodes_of_rule(rule, rows)


def _averages_at_nodes(
    quantity: Quantity,
    rule: LikelihoodRule,
    rows: Rows,
    weights: FloatArray,
    nodes: ScoreNodes,
) -> Derived:
    """`averages` by the values of the curve at few scores."""
    columns = np.hstack([np.ones((rows.n, 1)), rows.X]) * weights[:, None]
    shares = nodes.weights.T @ columns
    count = rule.n_levels - 1
    values = np.zeros(count)
    slopes = np.zeros((shares.shape[1], count))
    for some in row_blocks(nodes.scores.size, rule.n_levels, _BUFFER):
        eta = rule.alpha[:, 0] - nodes.scores[some, None]
        values += shares[some, 0] @ quantity.curve.value(rule.family, eta)
        slopes += shares[some].T @ quantity.curve.slope(rule.family, eta)
    factors = quantity.factors(count)
    jacobian = np.hstack([factors * slopes[0], -factors @ slopes[1:].T])
    return quantity.combine(values, float(weights.sum())), jacobian


def averages(
    quantity: Quantity, rule: LikelihoodRule, rows: Rows, weights: FloatArray
) -> Derived:
    """(M,) weighted sums over rows and their (M, F) Jacobian; weights that sum to 1
    give averages.
    """
    nodes = nodes_of(quantity, rule, rows)
    if nodes is not None:
        return _averages_at_nodes(quantity, rule, rows, weights, nodes)
    values: FloatArray = np.zeros(rule.n_levels - 1)
    jacobian: FloatArray = np.zeros((1, rule.n_parameters))
    per_row = rule.n_levels**2
    if rule.family.local and quantity.known_factors is not None:
        per_row = rule.n_levels * len(quantity.known_factors)
    for part in row_blocks(rows.n, per_row, _BUFFER):
        sums, by_parameters = QuantityOfRows(quantity, rule, rows.take(part)).sums(
            weights[part]
        )
        values = values + sums
        jacobian = jacobian + by_parameters
    return quantity.combine(values, float(weights.sum())), jacobian


def standard_errors(
    each: Callable[[Rows], Derived],
    rows: Rows,
    width: int,
    covariance: CovarianceOperator,
) -> FloatArray:
    """(N, M) standard errors of numbers of each row, by the delta method.

    Parameters
    ----------
    each : callable
        From rows to their (n, M) numbers and the (n, M, F) Jacobian of these.
    rows : Rows
    width : int
        Numbers in memory per row and parameter: M, or K if this is larger.
    covariance : CovarianceOperator
        Covariance of all F parameters, zero where aliased.
    """
    parts = list(row_blocks(rows.n, width * covariance.size, _BUFFER))
    errors = []
    for part in parts or [slice(0, 0)]:
        jacobian = each(rows.take(part))[1]
        variances = covariance.variances_of(jacobian)
        errors.append(np.sqrt(np.maximum(variances, 0.0)))
    return np.concatenate(errors)


def cumulative_errors(
    rule: LikelihoodRule, rows: Rows, covariance: CovarianceOperator
) -> FloatArray:
    """(N, K-1) standard errors of P(y <= k), by the delta method.

    If P(y <= k) depends on eta_k alone, its variance needs few entries of the
    covariance: the error of eta_k is D = s w'd(alpha_k) - s x'd(beta) - eta_k
    z'd(zeta).
    """
    if not rule.family.local or rule.link.lam is not None:
        quantity = QUANTITIES["inner_cum_prob"]
        return standard_errors(
            lambda some: QuantityOfRows(quantity, rule, some).rows(),
            rows,
            rule.n_levels,
            covariance,
        )
    columns = ModelRows.of(rows)
    predictor = rule.predictor(rows)
    eta = predictor.eta()
    moving = np.where(np.isfinite(eta), eta, 0.0)
    s = predictor.s[:, None]
    layout = rule.layout
    count = rule.n_levels - 1
    n_alpha = rule.alpha.size
    m = columns.w.shape[1]
    w = s * columns.w
    x = -s * columns.x
    z = -columns.z
    beta = layout.of_location
    zeta = layout.of_scale
    if m == 1:
        diagonals = covariance.variances[:n_alpha].reshape(1, 1, count)
    else:
        full = covariance.dense()
        of_alpha = full[:n_alpha, :n_alpha].reshape(m, count, m, count)
        diagonals = np.einsum("akbk->abk", of_alpha)
    by_rest = covariance.times(
        unit_rows(np.arange(n_alpha, layout.size), layout.size).T
    )
    with_beta = by_rest[:n_alpha, : layout.location].reshape(m, count, x.shape[1])
    with_zeta = by_rest[:n_alpha, layout.location :]
    with_zeta = with_zeta.reshape(m, count, z.shape[1])
    of_beta = by_rest[beta, : layout.location]
    both = by_rest[beta, layout.location :]
    of_zeta = by_rest[zeta, layout.location :]
    variances = ((x @ of_beta) * x).sum(axis=1)[:, None]
    for a, w_a in enumerate(w.T):
        for b, w_b in enumerate(w.T):
            variances = variances + np.outer(w_a * w_b, diagonals[a, b])
        variances = variances + 2.0 * w_a[:, None] * (x @ with_beta[a].T)
        variances = variances + 2.0 * w_a[:, None] * moving * (z @ with_zeta[a].T)
    variances = variances + 2.0 * moving * ((x @ both) * z).sum(axis=1)[:, None]
    variances = variances + moving**2 * ((z @ of_zeta) * z).sum(axis=1)[:, None]
    slopes = np.abs(rule.family.below_slope(eta))
    return np.asarray(slopes * np.sqrt(np.maximum(variances, 0.0)))


def score_errors(
    rule: LikelihoodRule, rows: Rows, covariance: CovarianceOperator
) -> FloatArray:
    """(N,) standard errors of H = x'beta + offset."""
    of_scores = covariance.quadratic(unit_rows(rule.score_places, covariance.size))
    variances = ((rows.X @ of_scores) * rows.X).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(variances, 0.0)))


def score_slopes(rule: LikelihoodRule, rows: Rows) -> FloatArray:
    """(N, F) derivatives of the scores with respect to all parameters."""
    slopes = np.zeros((rows.n, rule.n_parameters))
    slopes[:, rule.score_places] = rows.X
    return slopes


def moved(rows: Rows, tangent: Rows, step: FloatArray) -> Rows:
    """Rows moved by steps (n,) along a tangent, their derivatives with respect to a
    numeric variable.
    """

    def sum_of(part: Any, slope: Any) -> Any:
        if part is None or slope is None:
            return part
        return part + (step if part.ndim == 1 else step[:, None]) * slope

    names = ("X", "offset", "nominal", "scale", "scale_offset")
    parts: dict[str, Any] = {
        name: sum_of(getattr(rows, name), getattr(tangent, name)) for name in names
    }
    if rows.random is not None and tangent.random is not None:
        pairs = zip(rows.random.terms, tangent.random.terms, strict=True)
        parts["random"] = RandomRows(
            tuple(
                replace(term, z=cast(FloatArray, sum_of(term.z, slope.z)))
                for term, slope in pairs
            )
        )
    return replace(rows, **parts)


def steps_along(
    rule: LikelihoodRule, rows: Rows, tangent: Rows, further: FloatArray | float = 0.0
) -> FloatArray:
    """(n,) steps along a tangent that move the fastest predictor of a row by
    `_ETA_STEP`; 1 if none moves.

    `further` is the speed that random effects add.
    """
    speed = further + np.zeros(rows.n)
    # rules of stereotype models have effects on each level of rows without such columns
    if rows.one_scale and rule.alpha.shape[1] == 1:
        speed += np.abs(rule.predictor(tangent).H)
    else:
        for some in row_blocks(rows.n, rule.n_levels, _BUFFER):
            speed[some] += _fastest(rule, rows.take(some), tangent.take(some))
    return np.divide(_ETA_STEP, speed, out=np.ones(rows.n), where=speed > 0.0)


def _fastest(rule: LikelihoodRule, rows: Rows, tangent: Rows) -> FloatArray:
    """(n,) speed of the fastest finite predictor of rows along a tangent."""
    predictor = rule.predictor(rows)
    along = rule.predictor(tangent)
    with np.errstate(invalid="ignore"):  # infinite thresholds
        slope = predictor.s[:, None] * (
            along.thresholds() - rule.alpha[:, 0] - along.H[:, None]
        )
        slope = np.abs(slope - along.tau[:, None] * predictor.eta())
    return np.asarray(np.where(np.isfinite(slope), slope, 0.0).max(axis=1))
