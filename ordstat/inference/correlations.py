"""Correlations of the normal variables behind ordered ones: of two ordered variables
(polychoric), of an ordered and a numeric one (polyserial), of two numeric ones
(Pearson's).

Two steps [Olsson 1979; Olsson, Drasgow & Dorans 1982]: thresholds, means and standard
deviations from each variable alone, then rho as the root of its score. Standard errors
come from the estimating equations of both steps together: with psi the score of rho in
a row, J the mean of -d psi / d rho, c_t the mean of d psi / d t for a parameter t of
the first step and f_t its influence function, rho has the influence function
    (psi + sum_t c_t f_t) / J.
By maximum likelihood all parameters are estimated together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from .._typing import FloatArray, IntArray
from ..exceptions import ConvergenceWarning, warn
from ..formula.sample import Rows, Sample
from ..likelihood.clm import CumulativeLink
from ..likelihood.differences import five_points
from ..newton import Blocks, Evaluation, maximise
from ..report.cells import count, p_in_words
from .bivariate_normal import (
    cell_gradient,
    cell_hessian,
    cell_probabilities,
    cell_slope_gradient,
    cell_slopes,
    density,
)

#: A correlation that would be larger is reported as 1, at the bound.
_LARGEST = 1.0 - 1e-6
#: Smaller probabilities of cells are rounding errors.
_LEAST = 1e-16
#: Most correlations are this near to those of the codes.
_NEAR = 0.2
#: A numeric variable is cut at normal quartiles for the test of normality, as in R's
#: polycor.
_QUARTILES = ndtri(np.array([0.25, 0.5, 0.75]))
#: Step of derivatives by differences of five points, whose error is of its fourth
#: power.
_STEP = 1e-3


@dataclass(frozen=True, kw_only=True, repr=False)
class Correlation:
    """A correlation of two variables.

    Attributes
    ----------
    kind : str
        "polychoric", "polyserial" or "Pearson".
    estimate : float
        1 or -1 if the likelihood increases up to this bound.
    std_error : float
        NaN at the bound.
    n : float
        Sum of the weights of rows with both values.
    statistic : float
        G2 of the table of both variables against the normal distribution; numeric
        variables are cut at normal quartiles.
    df : int
        Its degrees of freedom; 0 for a table of 2 x 2, which has no test.
    """

    kind: str
    estimate: float
    std_error: float
    n: float
    statistic: float
    df: int

    def __repr__(self) -> str:
        kind = self.kind[0].upper() + self.kind[1:]
        at_bound = "at the bound, without a standard error"
        error = at_bound if self.at_bound else f"standard error {self.std_error:.3f}"
        lines = [
            f"{kind} correlation {self.estimate:.3f}, {error}, {count(self.n)} rows"
        ]
        if np.isfinite(self.p_value):
            lines.append(
                f"Test of normality: G2 {self.statistic:.2f} on {self.df} df,"
                f" {p_in_words(self.p_value)}"
            )
        return "\n".join(lines)

    @property
    def p_value(self) -> float:
        """The p-value of the test of normality; NaN without one."""
        if self.df < 1:
            return float("nan")
        return float(chdtrc(self.df, self.statistic))

    @property
    def at_bound(self) -> bool:
        """Whether the estimate is 1 or -1."""
        return abs(self.estimate) == 1.0


def thresholds_of(counts: FloatArray) -> FloatArray:
    """(K-1,) normal quantiles of the cumulative shares of K levels."""
    return np.asarray(ndtri(np.cumsum(counts)[:-1] / counts.sum()))


def polychoric_of(counts: FloatArray, ml: bool) -> Correlation:
    """The correlation behind a table of counts (I, J) without empty rows and columns.

    Examples
    --------
    >>> table = np.array([[20.0, 10.0], [10.0, 20.0]])
    >>> found = polychoric_of(table, ml=False)
    >>> round(found.estimate, 6)  # sin(2 pi (1/3 - 1/4)), as the thresholds are 0
    0.5
    """
    n = float(counts.sum())
    a = thresholds_of(counts.sum(axis=1))
    b = thresholds_of(counts.sum(axis=0))

    seen = counts > 0.0

    def score(rho: float) -> float:
        p = cell_probabilities(a, b, rho)[seen]
        return _total(counts[seen], cell_slopes(a, b, rho)[seen], p, rho)

    rho = _root(score, _of_codes(counts))
    std_error = float("nan")
    statistic = float("nan")
    if abs(rho) < 1.0 and ml:
        a, b, rho, std_error = _joint_maximum(counts, a, b, rho)
    elif abs(rho) < 1.0:
        std_error = _two_step_error(counts, a, b, rho)
    if abs(rho) < 1.0:
        statistic = _likelihood_ratio(counts, a, b, rho)
    return Correlation(
        kind="polychoric",
        estimate=rho,
        std_error=std_error,
        n=n,
        statistic=statistic,
        df=counts.size - sum(counts.shape),
    )


def _total(w: FloatArray, slopes: FloatArray, p: FloatArray, rho: float) -> float:
    """sum w slopes / p over the cells or rows that occur; where one of them has no
    probability any more, the likelihood falls away from 0.
    """
    if p.min() < _LEAST:
        return -float(np.sign(rho) * w.sum() / _LEAST)
    return float((w * slopes / p).sum())


def _of_codes(counts: FloatArray) -> float:
    """Pearson's correlation of the codes of a table."""
    i, j = np.indices(counts.shape).reshape(2, -1).astype(np.float64)
    w = counts.ravel()
    return float(w @ (standardised(i, w) * standardised(j, w)) / w.sum())


def _root(score: Callable[[float], float], start: float) -> float:
    """The root of a score that falls, or the bound up to which the likelihood rises or
    is constant.
    """
    from scipy.optimize import brentq

    low = max(start - _NEAR, -_LARGEST)
    high = min(start + _NEAR, _LARGEST)
    if score(high) >= 0.0:
        low = high
        high = _LARGEST
        if score(high) >= 0.0:
            return 1.0
    elif score(low) <= 0.0:
        high = low
        low = -_LARGEST
        if score(low) <= 0.0:
            return -1.0
    return float(brentq(score, low, high, xtol=1e-12))


def _likelihood_ratio(
    counts: FloatArray, a: FloatArray, b: FloatArray, rho: float
) -> float:
    """G2 of the counts against the cells between thresholds."""
    seen = counts > 0.0
    expected = counts.sum() * np.maximum(cell_probabilities(a, b, rho), _LEAST)
    return float(2.0 * (counts[seen] @ np.log(counts[seen] / expected[seen])))


def _two_step_error(
    counts: FloatArray, a: FloatArray, b: FloatArray, rho: float
) -> float:
    n = counts.sum()
    p = np.maximum(cell_probabilities(a, b, rho), _LEAST)
    gradient = cell_gradient(a, b, rho) / p
    psi = gradient[-1]
    # (P,) means of the derivatives of psi by a, b and rho
    slopes = cell_slope_gradient(a, b, rho) / p - gradient * psi
    means = (slopes * counts).sum(axis=(1, 2)) / n
    influence = psi.copy()
    influence += (means[: a.size] @ _threshold_influence(a))[:, None]
    influence += means[a.size : -1] @ _threshold_influence(b)
    influence /= -means[-1]
    return float(np.sqrt((counts * influence**2).sum()) / n)


def _threshold_influence(thresholds: FloatArray) -> FloatArray:
    """(K-1, K) influence of an answer at each level on each threshold."""
    levels = np.arange(thresholds.size + 1)
    below = levels <= levels[:-1, None]
    surplus = below - ndtr(thresholds)[:, None]
    return surplus / density(thresholds)[:, None]


def _joint_maximum(
    counts: FloatArray, a: FloatArray, b: FloatArray, rho: float
) -> tuple[FloatArray, FloatArray, float, float]:
    """Thresholds, rho and its standard error by maximum likelihood."""
    n = float(counts.sum())
    split = [a.size, a.size + b.size]

    def objective(x: FloatArray, _: Blocks | None = None) -> Evaluation | None:
        a, b, (r,) = np.split(x, split)
        inside = abs(r) < 1.0 and (np.diff(a) > 0.0).all() and (np.diff(b) > 0.0).all()
        if not inside:
            return None
        p = cell_probabilities(a, b, r)
        if (p[counts > 0.0] < _LEAST).any():
            return None
        p = np.maximum(p, _LEAST)
        gradient = cell_gradient(a, b, r) / p
        score = (gradient * counts).sum(axis=(1, 2))
        curved = cell_hessian(a, b, r) / p - gradient[:, None] * gradient
        information = -(curved * counts).sum(axis=(2, 3))
        loglik = float((counts * np.log(p)).sum())
        return Evaluation(loglik, score, Blocks.of_dense(information))

    start = np.concatenate([a, b, [rho]])
    best = maximise(objective, start, tol=1e-8, max_iter=200, total_weight=n)
    a, b, (rho,) = np.split(best.x, split)
    if abs(rho) >= _LARGEST:
        return a, b, float(np.sign(rho)), float("nan")
    if not best.converged:
        warn(
            "The maximum likelihood estimate of a polychoric correlation did not"
            f" converge: {best.message}. Use method='two-step'.",
            ConvergenceWarning,
        )
    variance = np.linalg.inv(best.at.information.dense())[-1, -1]
    return a, b, float(rho), float(np.sqrt(variance))


# With a numeric variable


def standardised(x: FloatArray, w: FloatArray) -> FloatArray:
    """x (N,) less its mean, in units of its standard deviation (divisor sum(w) - 1)."""
    n = w.sum()
    centred = x - w @ x / n
    return np.asarray(centred / np.sqrt(w @ centred**2 / (n - 1.0)))


def polyserial_of(x: FloatArray, y: IntArray, w: FloatArray, ml: bool) -> Correlation:
    """The correlation of numbers x (N,) with the variable behind codes y (N,), all of
    which occur.
    """
    n = float(w.sum())
    counts = np.bincount(y, w).astype(np.float64)
    b = thresholds_of(counts)
    z = standardised(x, w)
    start = float(w @ (z * standardised(y.astype(np.float64), w))) / n
    rho = _root(lambda rho: _total(w, *_serial_slopes(z, y, b, rho), rho), start)
    std_error = float("nan")
    statistic = float("nan")
    if abs(rho) < 1.0 and ml:
        b, rho, std_error = _probit_maximum(z, y, w, b)
    elif abs(rho) < 1.0:
        std_error = _serial_error(z, y, w, b, rho)
    if abs(rho) < 1.0:
        cut = _table(_quarters(z), y, w)
        statistic = _likelihood_ratio(cut, _QUARTILES, b, rho)
    return Correlation(
        kind="polyserial",
        estimate=rho,
        std_error=std_error,
        n=n,
        statistic=statistic,
        df=(_QUARTILES.size + 1) * counts.size - counts.size - 1,
    )


def _table(i: IntArray, j: IntArray, w: FloatArray) -> FloatArray:
    """Weights by a variable cut at quartiles (rows) and codes (columns)."""
    table: FloatArray = np.zeros((_QUARTILES.size + 1, int(j.max()) + 1))
    np.add.at(table, (i, j), w)
    return table


def _quarters(z: FloatArray) -> IntArray:
    """(N,) codes 0..3 by normal quartiles."""
    return np.digitize(z, _QUARTILES, right=True)


def _serial_slopes(
    z: FloatArray, y: IntArray, b: FloatArray, rho: float
) -> tuple[FloatArray, FloatArray]:
    """(N,) derivatives by rho of P(y | z) = Phi(u_y) - Phi(u_{y-1}), u = (b - rho z) /
    sqrt(1 - rho^2), and these probabilities.
    """
    s = np.sqrt(1.0 - rho**2)
    # an infinite threshold has no slope
    edges = np.concatenate([[-np.inf], b, [np.inf]])
    finite = np.concatenate([[0.0], b, [0.0]])
    ends = []
    moved = []
    for place in (y, y + 1):
        u = (edges[place] - rho * z) / s
        ends.append(u)
        moved.append(density(u) * (rho * finite[place] - z) / s**3)
    low, high = ends
    # in the upper tail differences lose digits: there the mirrored ones serve
    upper = low > 0.0
    p = np.where(upper, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    return np.asarray(moved[1] - moved[0]), p


def _serial_scores(z: FloatArray, y: IntArray, b: FloatArray, rho: float) -> FloatArray:
    """(N,) derivatives by rho of log P(y | z)."""
    slopes, p = _serial_slopes(z, y, b, rho)
    return slopes / np.maximum(p, _LEAST)


def _serial_error(
    z: FloatArray, y: IntArray, w: FloatArray, b: FloatArray, rho: float
) -> float:
    """Two-step standard error; the parameters are the mean and log standard deviation
    of z, the thresholds and rho.
    """
    n = w.sum()
    place = np.concatenate([[0.0, 0.0], b, [rho]])

    def mean_score(at: FloatArray) -> tuple[FloatArray]:
        shifted = (z - at[0]) / np.exp(at[1])
        scores = _serial_scores(shifted, y, at[2:-1], float(at[-1]))
        return (np.asarray(w @ scores / n),)

    size = min(_STEP, (1.0 - abs(rho)) / 4.0)

    def slope(step: FloatArray) -> float:
        (moved,) = five_points(lambda k: mean_score(place + k * step))
        return float(moved) / size

    means = [slope(step) for step in size * np.eye(place.size)]
    influence = _serial_scores(z, y, b, rho)
    influence += means[0] * z + means[1] * (z**2 - 1.0) / 2.0
    influence += (np.array(means[2:-1]) @ _threshold_influence(b))[y]
    influence /= -means[-1]
    return float(np.sqrt(w @ influence**2) / n)


def _probit_maximum(
    z: FloatArray, y: IntArray, w: FloatArray, b: FloatArray
) -> tuple[FloatArray, float, float]:
    """Thresholds, rho and its standard error by maximum likelihood: x is normal with
    the moments of the sample, and y given x is an ordered probit, whose slope in units
    of z is t = rho / sqrt(1 - rho^2).
    """
    n = float(w.sum())
    sample = Sample(rows=Rows(X=z[:, None]), y=y, n_levels=int(y.max()) + 1, weights=w)
    fit = CumulativeLink(link="probit").fit(sample, np.random.default_rng(0))
    slope = float(fit.coefficients[-1])
    if fit.determined is not None:  # x separates the levels
        return b, float(np.sign(slope)), float("nan")
    shrunk = np.sqrt(1.0 + slope**2)
    # of the slope, and of the standard deviation of x
    variance = float(fit.model_covariance.variances[-1]) + slope**2 / (2.0 * n)
    b = fit.coefficients[:-1] / shrunk
    error = float(np.sqrt(variance) / shrunk**3)
    return b, float(slope / shrunk), error


def pearson_of(x: FloatArray, y: FloatArray, w: FloatArray) -> Correlation:
    """Pearson's correlation of x and y (N,), with a standard error that holds without
    normality.
    """
    n = float(w.sum())
    first = standardised(x, w)
    second = standardised(y, w)
    r = float(np.clip(w @ (first * second) / (n - 1.0), -1.0, 1.0))
    influence = first * second - 0.5 * r * (first**2 + second**2)
    statistic = float("nan")
    std_error = float("nan")
    if abs(r) < _LARGEST:
        std_error = float(np.sqrt(w @ influence**2) / n)
        cut = _table(_quarters(first), _quarters(second), w)
        padded = np.zeros((_QUARTILES.size + 1,) * 2)
        padded[:, : cut.shape[1]] = cut
        statistic = _likelihood_ratio(padded, _QUARTILES, _QUARTILES, r)
    return Correlation(
        kind="Pearson",
        estimate=r,
        std_error=std_error,
        n=n,
        statistic=statistic,
        df=(_QUARTILES.size + 1) ** 2 - 2,
    )
