"""What a likelihood fit is: estimates, their information, and the likelihood kept at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from .fit import Fit
from .likelihood.bias_reduced import BiasReduced
from .likelihood.marginal import Marginal
from .sample import Sample


class Information(Protocol):
    """Inverse of the negative Hessian at the optimum, over the estimated (not aliased) parameters."""

    def variances(self) -> FloatArray:
        """(P',) diagonal of the covariance."""

    def covariance(self) -> FloatArray:
        """(P', P') covariance."""


class LikelihoodAtEstimates(Protocol):
    """The likelihood of a fit, kept at its estimates; see `solvers/likelihood/at_estimates.py`."""

    def score_products(self, cluster: IntArray | None) -> FloatArray:
        """(P', P') middle matrix of the sandwich: sum of outer products of scores, by row or by cluster."""

    def score_totals(self, codes: IntArray, n_groups: int) -> FloatArray:
        """(G, P') weighted scores summed over the rows of each code."""

    def replicated(self, weights: FloatArray) -> FloatArray:
        """(R, P') estimates with each column of weights (N, R)."""

    def bias_reduced(self, cluster: IntArray) -> BiasReduced:
        """Adjusted score sums of the clusters, for CR2."""

    def score_statistic(self, sample: Sample, estimates: FloatArray) -> float:
        """U' J^-1 U of a wider model at estimates of this one."""

    def profile(self) -> Profile:
        """The profile likelihood of the estimated parameters."""


class Profile(Protocol):
    """The profile likelihood of single parameters, by their place among the estimated ones."""

    def end(self, place: int, direction: int, drop: float) -> tuple[float, str]:
        """Where the deviance has risen by `drop` below (-1) or above (+1) the estimate, and why it is not finite."""

    def curve(self, place: int, values: FloatArray) -> FloatArray:
        """Maximised log-likelihood at values of the parameter."""


@dataclass(frozen=True, eq=False)
class Confounded:
    """A parameter that the cell probabilities of a model cannot tell from others, so that it is not estimated.

    Attributes
    ----------
    place : int
        Among the coefficients.
    others : (n,) places of those that it cannot be told from; empty where it moves no probability at all
    """

    place: int
    others: IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class LikelihoodFit(Fit):
    """A maximum likelihood fit, on the user's scale of the columns.

    Attributes
    ----------
    coefficients : (P,)
        alpha (t threshold parameters; with q nominal columns (1 + q) t, intercepts first, then column by
        column), beta (D), zeta (r), lambda of a flexible link; NaN where aliased. t = K - 1 and alpha are the
        thresholds themselves unless `jacobian` says otherwise.
    n_alpha, n_beta, n_zeta, n_lambda : int
        P = n_alpha + n_beta + n_zeta + n_lambda.
    aliased : (P,) bool
        Parameters not estimated: those of columns that depend on earlier ones, and those of `confounded`.
    information : Information
        Standard errors and covariance of the estimated parameters, in the order of `coefficients`.
    digits : (P,)
        Estimated number of correct significant digits of each coefficient; NaN where aliased.
    loglik, null_loglik : float
        At the optimum; with thresholds only (plus offset).
    n_obs : float
        Sum of weights.
    separation : (P,) or None
        A direction along which the likelihood never falls, in the order of `coefficients`, 0 for finite estimates; None
        where every estimate is finite.
    null_edf : int
        Parameters behind `null_loglik`.
    threshold_names : tuple of str
        Names of the t threshold parameters of a structure ("central.1", "spacing"); empty for flexible thresholds.
    jacobian : (K-1, t) or None
        Thresholds theta = jacobian @ alpha of a structure (0 at thresholds that are infinite beside levels without
        rows); None for flexible thresholds.
    confounded : tuple of Confounded
        Log-scale effects, and lambda, that the cell probabilities do not determine.
    likelihood : LikelihoodAtEstimates
        For profiles, sandwiches and score tests.
    marginal : Marginal or None
        Random effects; the estimates are then those with them integrated out.
    """

    coefficients: FloatArray
    n_alpha: int
    n_beta: int
    n_zeta: int
    aliased: BoolArray
    information: Information
    digits: FloatArray
    loglik: float
    null_loglik: float
    n_obs: float
    likelihood: LikelihoodAtEstimates
    separation: FloatArray | None = None
    null_edf: int = 0
    n_lambda: int = 0
    threshold_names: tuple[str, ...] = ()
    jacobian: FloatArray | None = None
    confounded: tuple[Confounded, ...] = ()
    marginal: Marginal | None = None

    @property
    def infinite(self) -> BoolArray:
        """(P,) estimates that separation makes infinite."""
        return np.zeros(self.coefficients.size, dtype=bool) if self.separation is None else self.separation != 0.0

    @property
    def unbounded(self) -> BoolArray:
        """(P,) estimates without standard errors, as the likelihood has no maximum and the search was given up."""
        unknown = np.zeros(self.coefficients.size, dtype=bool)
        if np.isnan(self.certificate.value):
            unknown[~self.aliased] = np.isnan(self.information.variances())
        return unknown & ~self.infinite

    @property
    def limits(self) -> FloatArray:
        """(P,) `coefficients`, infinite where separation makes them so."""
        if self.separation is None:
            return self.coefficients.copy()
        return np.where(self.infinite, np.copysign(np.inf, self.separation), self.coefficients)

    def ends(self, combinations: FloatArray) -> FloatArray:
        """(h,) what combinations (h, P') of the estimates tend to: 0 if finite, infinite, or NaN.

        NaN if infinite estimates pull a combination both ways.
        """
        limits = self.limits[~self.aliased]
        signs = np.where(np.isinf(limits), np.sign(limits), 0.0)
        pulls = np.sign(combinations) * signs
        up, down = (pulls > 0.0).any(axis=1), (pulls < 0.0).any(axis=1)
        return np.where(up & down, np.nan, np.where(up, np.inf, np.where(down, -np.inf, 0.0)))

    @property
    def edf(self) -> int:
        """Number of estimated parameters, those of the covariance of random effects with them."""
        own = 0 if self.marginal is None else self.marginal.n_phi
        return int(np.count_nonzero(~self.aliased)) + own

    def bread(self) -> FloatArray:
        """(P' + m, P' + m) covariance by the information; of the parameters of random effects too where there are some,
        NaN at a boundary."""
        return self.information.covariance() if self.marginal is None else self.marginal.covariance.copy()

    def on_flexible_scale(self) -> FloatArray | None:
        """(F, P) map from `coefficients` to (thresholds and nominal effects threshold by threshold of each column,
        beta, zeta, lambda), F = (1 + q)(K-1) + ...; None where that is the identity (flexible thresholds)."""
        if self.jacobian is None:
            return None
        n, t = self.jacobian.shape
        columns = self.n_alpha // t
        rest = self.coefficients.size - self.n_alpha
        out = np.zeros((columns * n + rest, self.coefficients.size))
        out[: columns * n, : self.n_alpha] = np.kron(np.eye(columns), self.jacobian)
        out[columns * n :, self.n_alpha :] = np.eye(rest)
        return out
