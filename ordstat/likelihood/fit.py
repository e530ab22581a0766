"""Bias-reduced cluster-robust covariance (CR2), and the degrees of freedom of tests by
it, for few clusters.

Scores of G clusters, adjusted so that under the model their outer products have the
expectation of outer products of the true residuals [Bell and McCaffrey 2002;
Pustejovsky and Tipton 2018, sec. 2.2].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..fit import Fit
from ..formula.sample import row_blocks
from .determined import Determined
from .layout import Layout

#: Fewer clusters than these make cluster-robust standard errors too small.
FEW_CLUSTERS = 20
#: Largest work of CR2 by default (seconds) and on request (a minute or two); see
#: `cr2_work`.
QUICK_CR2 = 1 << 25
LARGEST_CR2 = 1 << 29
#: What to use if CR2 is not available.
WITHOUT_CR2 = (
    f"With {FEW_CLUSTERS} clusters or more use {{'cluster': ..., 'type': 'CR1'}}; with"
    " fewer, a random effect, (1 | g)."
)


def cr2_work(n: int, n_levels: int, n_parameters: int) -> int:
    """Rows times (K - 1) times the square of the parameters, by which the time of CR2
    goes.
    """
    return n * (n_levels - 1) * n_parameters**2


@dataclass(frozen=True, eq=False, kw_only=True)
class BiasReduced:
    """Clusters g = 1..G, in coordinates in which the expected information of the P'
    estimates is 1.

    With Q_g the rows of the orthonormal basis of a cluster, V_g the covariance of its
    responses and e_g their residuals, B_g = V_g (1 - Q_g Q_g') V_g and A_g =
    B_g^(-1/2):

    Attributes
    ----------
    root : (P', P')
        R of the QR decomposition: expected information = R'R.
    scores : (G, P')
        Q_g' A_g V_g^(1/2) e_g, the adjusted scores.
    spread : (G, P', P')
        Q_g' A_g V_g^2 A_g Q_g, their covariance but for the estimation.
    pull : (G, P', P')
        Q_g' A_g V_g Q_g, how they move with the estimates.
    """

    root: FloatArray
    scores: FloatArray
    spread: FloatArray
    pull: FloatArray

    def covariance(self, bread: FloatArray) -> FloatArray:
        """(P', P') the sandwich, of the inverse of the observed information."""
        half = self.scores @ self.root @ bread
        return np.asarray(half.T @ half)

    def t_df(self, bread: FloatArray, L: FloatArray) -> FloatArray:
        """(n,) Satterthwaite's degrees of freedom 2 E(v)^2 / Var(v) of the variances v
        of combinations (n, P') of the estimates; infinite where v is 0.
        """
        directions, (G, _, P) = L @ bread @ self.root.T, self.spread.shape
        blocks = row_blocks(len(L), P * (G + P))
        return np.concatenate(
            [self._single_df(directions[some]) for some in blocks] or [np.empty(0)]
        )

    def _single_df(self, directions: FloatArray) -> FloatArray:
        """E^2 / sum_gh C_gh^2 of each direction (n, P'), E the sum of C_gg, where C_gh
        = Cov(z_g, z_h) of the scores z in that direction is spread_g [g = h] - pull_g
        pull_h' [Pustejovsky and Tipton 2018, sec. 3.2].
        """
        variances = np.einsum(
            "np,gpq,nq->ng", directions, self.spread, directions, optimize=True
        )
        moved = np.einsum("np,gpq->ngq", directions, self.pull, optimize=True)
        squares = np.einsum("ngq,ngq->ng", moved, moved)
        crossed = np.einsum("ngp,ngq->npq", moved, moved, optimize=True)
        total = (variances**2 - 2.0 * variances * squares).sum(axis=1) + (
            crossed**2
        ).sum(axis=(1, 2))
        mean = (variances - squares).sum(axis=1)
        return np.asarray(
            np.where(total > 0.0, mean**2 / np.where(total > 0.0, total, 1.0), np.inf)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class EffectsOfGroups:
    """The effects of one random term.

    Attributes
    ----------
    factor : (q, q)
        Lambda with Lambda Lambda' the covariance; not always triangular.
    entries : (m',) and (m',)
        Rows and columns of its entries that are not fixed at 0.
    n_phi : int
        m, its number of parameters.
    modes : (G, q)
        b^ of every group.
    conditional : (G, q, q)
        Their covariance given the parameters.
    boundary : dict of int to float
        Columns whose diagonal element is 0, and the derivative of the log-likelihood by
        its square there.
    unit_diagonal : bool
        Whether Lambda Lambda' is the covariance in every group; not so if a covariance
        of the groups without ones on its diagonal was given.
    """

    factor: FloatArray
    entries: tuple[IntArray, IntArray]
    n_phi: int
    modes: FloatArray
    conditional: FloatArray
    boundary: dict[int, float]
    unit_diagonal: bool = True

    @property
    def covariance(self) -> FloatArray:
        """(q, q) of the effects of one group."""
        return np.asarray(self.factor @ self.factor.T)

    @property
    def deviations(self) -> FloatArray:
        """(q,) standard deviations."""
        return np.asarray(np.sqrt(np.einsum("rc,rc->r", self.factor, self.factor)))

    @property
    def correlations(self) -> FloatArray:
        """(q, q) correlations; NaN for a standard deviation of 0."""
        sd = self.deviations
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.covariance / np.outer(sd, sd))

    def deviation_slopes(self) -> FloatArray:
        """(q, m') derivatives of `deviations` by the entries of Lambda; NaN where one
        is 0.
        """
        rows, columns = self.entries
        out = np.zeros((len(self.factor), rows.size))
        with np.errstate(invalid="ignore", divide="ignore"):
            out[rows, np.arange(rows.size)] = (
                self.factor[rows, columns] / self.deviations[rows]
            )
        return out

    def correlation_slopes(self, r: int, s: int) -> FloatArray:
        """(m',) derivatives of the correlation of two columns; NaN of +-1, or where a
        column has no deviation.
        """
        rows, columns = self.entries
        sd = self.deviations
        rho = self.correlations[r, s]
        by_sd = self.deviation_slopes()
        with np.errstate(invalid="ignore", divide="ignore"):
            out = -rho * (by_sd[r] / sd[r] + by_sd[s] / sd[s])
            out[rows == r] += self.factor[s, columns[rows == r]] / (sd[r] * sd[s])
            out[rows == s] += self.factor[r, columns[rows == s]] / (sd[r] * sd[s])
        if np.count_nonzero(self.factor[[r, s]].any(axis=0)) < 2:  # correlation of +-1
            out[:] = np.nan
        return np.asarray(out)


@dataclass(frozen=True, eq=False, kw_only=True)
class Marginal:
    """Random effects integrated out of a likelihood, at its estimates.

    Attributes
    ----------
    terms : tuple of EffectsOfGroups
        Terms in the order of the formula.
    covariance : (P' + m', P' + m')
        Covariance of the fixed parameters, then of the entries of Lambda, term by term;
        NaN at a boundary.
    quadrature : int
        Number of nodes: 1 is Laplace's approximation, a negative number a rule that is
        not adaptive.
    plain_loglik : float
        Of the same model without random effects.
    likelihood : MarginalLikelihood
        The integrated likelihood, for profiles and score tests (`mixed/estimate.py`).
    """

    terms: tuple[EffectsOfGroups, ...]
    covariance: FloatArray
    quadrature: int
    plain_loglik: float
    likelihood: Any

    @property
    def n_phi(self) -> int:
        """m."""
        return sum(term.n_phi for term in self.terms)

    @property
    def n_entries(self) -> int:
        """m'."""
        return sum(term.entries[0].size for term in self.terms)

    @property
    def n_fixed(self) -> int:
        """P'."""
        return len(self.covariance) - self.n_entries

    @property
    def certain(self) -> bool:
        """Whether the fixed effects alone give every observed level probability 1."""
        return self.plain_loglik > -1e-6

    @property
    def integration(self) -> str:
        """How the random effects were integrated out."""
        if self.quadrature == 1:
            return "Laplace"
        return f"adaptive Gauss-Hermite, {self.quadrature} nodes"


@dataclass(frozen=True, eq=False, kw_only=True)
class LikelihoodFit(Fit):
    """A maximum likelihood fit, on the user's scale of the columns.

    Attributes
    ----------
    coefficients : (P,)
        alpha (t threshold parameters; with q nominal columns (1 + q) t, intercepts
        first, then column by column), beta (D), zeta (r), lambda of a flexible link;
        NaN where aliased. t = K - 1 and alpha are the thresholds themselves unless
        `jacobian` says otherwise.
    n_alpha, n_beta, n_zeta, n_lambda : int
        P = n_alpha + n_beta + n_zeta + n_lambda.
    aliased : (P,) bool
        Parameters not estimated: columns that depend on earlier ones, and `confounded`.
    information : InverseInformation, CovarianceMatrix or UnknownCovariance
        Standard errors and covariance of the estimated parameters, in the order of
        `coefficients`.
    digits : (P,)
        Estimated number of correct significant digits of each coefficient; NaN where
        aliased.
    loglik, null_loglik : float
        At the optimum; with thresholds only (plus offset).
    n_obs : float
        Sum of weights.
    determined : Determined or None
        What the data determine; None where every estimate is finite.
    null_edf : int
        Parameters behind `null_loglik`.
    threshold_names : tuple of str
        Names of the t threshold parameters of a structure ("central.1", "spacing");
        empty for flexible thresholds.
    jacobian : (K-1, t) or None
        Thresholds theta = jacobian @ alpha of a structure (0 at thresholds that are
        infinite next to levels without rows); None for flexible thresholds.
    confounded : tuple of int
        Places of the log-scale effects, and of lambda, that the cell probabilities do
        not determine.
    likelihood : LikelihoodAtEstimates or MarginalLikelihood
        For profiles, sandwiches and score tests.
    marginal : Marginal or None
        Random effects; the estimates are then those with them integrated out.
    rise : float
        How much higher than at the estimates, a local maximum, the log-likelihood was
        seen on a path without a maximum.
    rising : (P,) bool or None
        Parameters that move on that path; None without one.
    """

    coefficients: FloatArray
    n_alpha: int
    n_beta: int
    n_zeta: int
    aliased: BoolArray
    information: Any
    digits: FloatArray
    loglik: float
    null_loglik: float
    n_obs: float
    likelihood: Any
    determined: Determined | None = None
    null_edf: int = 0
    n_lambda: int = 0
    threshold_names: tuple[str, ...] = ()
    jacobian: FloatArray | None = None
    confounded: tuple[int, ...] = ()
    marginal: Marginal | None = None
    rise: float = 0.0
    rising: BoolArray | None = None

    @property
    def layout(self) -> Layout:
        """The blocks of `coefficients`."""
        thresholds = len(self.threshold_names)
        if self.jacobian is None:
            thresholds = self.rule.n_levels - 1
        return Layout(
            thresholds=thresholds,
            columns=self.n_alpha // thresholds,
            location=self.n_beta,
            scale=self.n_zeta,
            link=self.n_lambda,
        )

    @property
    def flexible_layout(self) -> Layout:
        """The same with each threshold on its own, whatever their structure."""
        return replace(self.layout, thresholds=self.rule.n_levels - 1)

    @property
    def separation(self) -> FloatArray | None:
        """(P,) a direction along which the likelihood never falls, as rows become
        certain; None without one.
        """
        direction = None if self.determined is None else self.determined.direction
        if direction is None:
            return None
        moved = np.zeros(self.coefficients.size)
        moved[~self.aliased] = direction
        return moved

    @cached_property
    def _ends(self) -> FloatArray:
        """(P,) 0 for finite and aliased parameters, infinite, or NaN, as `ends`."""
        ends = np.zeros(self.coefficients.size)
        if self.determined is None:
            return ends
        ends[~self.aliased] = self.ends(np.eye(int(np.count_nonzero(~self.aliased))))
        return ends

    @property
    def infinite(self) -> BoolArray:
        """(P,) parameters that separation leaves without a finite estimate."""
        return np.asarray(self._ends != 0.0)

    @property
    def undetermined(self) -> BoolArray:
        """(P,) those of them that are not infinite either: the supremum is reached with
        any value.
        """
        return np.isnan(self._ends)

    @property
    def all_certain(self) -> bool:
        """Whether every observed level tends to probability 1, so that nothing else is
        determined.
        """
        return bool(self.infinite[~self.aliased].all())

    @property
    def unbounded(self) -> BoolArray:
        """(P,) estimates without standard errors, because the likelihood has no
        maximum.
        """
        unknown = np.zeros(self.coefficients.size, dtype=bool)
        if np.isnan(self.certificate.value):
            unknown[~self.aliased] = np.isnan(self.information.variances)
        return unknown & ~self.infinite

    @property
    def regular(self) -> bool:
        """Whether every parameter is estimated, by a maximum of the likelihood."""
        lacking = self.aliased | self.infinite | self.unbounded
        return self.rising is None and not lacking.any()

    @property
    def limits(self) -> FloatArray:
        """(P,) `coefficients`, infinite or NaN where separation makes them so."""
        return self.coefficients + self._ends

    def ends(self, combinations: FloatArray) -> FloatArray:
        """(h,) what combinations (h, P') of the estimates tend to: 0 if finite,
        infinite, or NaN if not determined.
        """
        if self.determined is None:
            return np.zeros(len(combinations))
        return self.determined.limits(combinations)

    @property
    def edf(self) -> int:
        """Number of estimated parameters, including those of the covariance of random
        effects.
        """
        random = 0 if self.marginal is None else self.marginal.n_phi
        return int(np.count_nonzero(~self.aliased)) + random

    def bread(self) -> FloatArray:
        """(P' + m, P' + m) covariance by the information, including parameters of
        random effects; NaN at a boundary.
        """
        return (
            self.information.covariance()
            if self.marginal is None
            else self.marginal.covariance.copy()
        )

    def on_flexible_scale(self) -> FloatArray | None:
        """(F, P) map from `coefficients` to (thresholds and nominal effects threshold
        by threshold of each column, beta, zeta, lambda), F = (1 + q)(K-1) + ...; None
        where that is the identity (flexible thresholds).
        """
        if self.jacobian is None:
            return None
        n, t = self.jacobian.shape
        columns = self.n_alpha // t
        rest = self.coefficients.size - self.n_alpha
        out = np.zeros((columns * n + rest, self.coefficients.size))
        out[: columns * n, : self.n_alpha] = np.kron(np.eye(columns), self.jacobian)
        out[columns * n :, self.n_alpha :] = np.eye(rest)
        return out
