"""What a fit returns: arrays and values only, with a certificate of optimality."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from .calibration import Calibration
from .likelihood.bias_reduced import BiasReduced
from .likelihood.marginal import Marginal
from .rules import Rule
from .sample import Sample


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """A number that proves how far a fit is from its optimum.

    Attributes
    ----------
    name : str
        "max |gradient|", "relative duality gap", ...
    value, tolerance : float
    details : tuple of (label, value)
        Further figures for the summary.
    """

    name: str
    value: float
    tolerance: float
    details: tuple[tuple[str, Any], ...] = ()

    @property
    def reached(self) -> bool:
        """Whether value <= tolerance (false for NaN)."""
        return bool(self.value <= self.tolerance)


@dataclass(frozen=True, eq=False, kw_only=True)
class Trace:
    """How the solver went: iterations, the objective after each, and its final message."""

    iterations: int
    objective: FloatArray
    message: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Geometry(ABC):
    """What margins and their bounds need of a potential.

    Attributes
    ----------
    norm : float
        Size of the potential's coefficients.
    theta : (K-1,)
        Thresholds in the units of the potential that `norm` measures.
    radius : float
        The largest normalised margin thought possible before seeing data; the largest Delta scanned.
    """

    norm: float
    theta: FloatArray
    radius: float
    #: How complexities are found.
    name: ClassVar[str]

    @property
    @abstractmethod
    def total(self) -> float:
        """What margins are divided by: the size of coefficients and thresholds together."""

    @abstractmethod
    def complexity(self, weights: FloatArray, counted: BoolArray | None = None) -> float:
        """Empirical Rademacher complexity of all such potentials on training rows with whole weights (N,).

        Complexity of x -> H(x) - theta_k for any one k; with `counted` (N,) that of H(x) - theta_k(n) at a threshold of
        the row's own, the rows not counted having none.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class BallGeometry(Geometry):
    """An l2 ball of a feature space: margins are divided by sqrt(|v|^2 + sum theta_k^2), theta less the offset of H.

    Attributes
    ----------
    norm : float
        |v|, the norm of the potential's coefficients in the feature space of the scaled columns.
    squared_lengths : (N,)
        k(x_n, x_n) of the training rows in that space.
    theta : (K-1,)
        Thresholds in the same units as <v, phi(x)> (offset b taken in).
    radius : float
        sqrt of the largest k(x, x) + 1 thought possible before seeing data.
    price : float
        Length of the code, in nats, that tells this origin of the space from the others that were thought of.
    moved : tuple of BallGeometry
        The same ranker in the same space counted from other origins.
    """

    squared_lengths: FloatArray
    price: float = 0.0
    moved: tuple[BallGeometry, ...] = ()

    name: ClassVar[str] = "l2 ball"

    @property
    def total(self) -> float:
        return float(np.sqrt(self.norm**2 + np.sum(self.theta**2)))

    def complexity(self, weights: FloatArray, counted: BoolArray | None = None) -> float:
        squares = weights * (self.squared_lengths + 1.0)
        return float(np.sqrt((squares if counted is None else squares[counted]).sum()) / weights.sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class HullGeometry(Geometry):
    """A convex hull of weak hypotheses and thresholds: margins are divided by sum |alpha_t| + sum |theta_k|.

    Attributes
    ----------
    norm : float
        sum |alpha_t|.
    theta : (K-1,)
        Empty where the hypotheses answer every question "above threshold k?" themselves.
    log_size : float
        Logarithm of the number of label vectors that hypotheses give the training rows at one k.
    log_size_own : float
        The same where every row has a k of its own.
    squared_lengths : (N,) or None
        |phi(x_n)|^2 of real-valued hypotheses, 1-Lipschitz functions of <v, phi(x)>, |v| <= 1. The sizes then are
        those of the thresholds alone.
    nats : float
        Divergence of the vote from a prior over voters; NaN where none is known.
    """

    log_size: float
    log_size_own: float
    squared_lengths: FloatArray | None = None
    radius: float = 1.0
    nats: float = float("nan")

    name: ClassVar[str] = "convex hull"

    @property
    def total(self) -> float:
        return float(self.norm + np.abs(self.theta).sum())

    def complexity(self, weights: FloatArray, counted: BoolArray | None = None) -> float:
        """Massart's lemma on the label vectors, plus the contraction of real-valued hypotheses."""
        inside = np.ones(weights.size, dtype=np.bool_) if counted is None else counted
        log_size = self.log_size if counted is None else self.log_size_own
        finite = np.sqrt(2.0 * log_size * weights[inside].sum())
        smooth = 0.0 if self.squared_lengths is None else np.sqrt((weights * self.squared_lengths)[inside].sum())
        return float((finite + smooth) / weights.sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class Fit:
    """What a method returns: arrays and values only.

    Attributes
    ----------
    rule : Rule
    certificate : Certificate
    trace : Trace
    scores : (N,) training potential H, or (N, K) votes of a rule without thresholds
    facts : tuple of (label, value)
        Header lines of the summary that only this method has (kernel, support vectors, ...).
    calibration : Calibration or None
        From scores to probabilities, where the fit was asked for one.
    """

    rule: Rule
    certificate: Certificate
    trace: Trace
    scores: FloatArray
    facts: tuple[tuple[str, Any], ...] = field(default=())
    calibration: Calibration | None = None


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection:
    """How C, and gamma of the kernel, were chosen: by cross-validation, or by a bound of the expected cost.

    Attributes
    ----------
    C : (G,) of the points tried, growing for each gamma
    gamma : (G,) of the points tried, growing; None where it was given
    cost : (G,) mean cost of the held-out rows, or the bound
    error : (G,) its standard error over the folds; NaN of a bound
    chosen : int
        Position of the smallest cost; ties go to the smaller C, then to the smaller gamma.
    folds : int
        0 where a bound chose.
    gap : float
        Largest relative duality gap among the fits behind the costs.
    """

    C: FloatArray
    cost: FloatArray
    error: FloatArray
    chosen: int
    folds: int
    gap: float
    gamma: FloatArray | None = None

    @property
    def how(self) -> str:
        """What chose."""
        return f"{self.folds}-fold cross-validation" if self.folds else "the bound of its cost"

    @property
    def best_C(self) -> float:
        """The chosen C."""
        return float(self.C[self.chosen])

    def best_of_each_gamma(self) -> IntArray:
        """Positions of the points of least cost, one for each gamma; of the chosen gamma the chosen one."""
        order = np.lexsort((self.C, self.cost, np.arange(self.C.size) != self.chosen))
        first: IntArray = np.unique(np.asarray(self.gamma)[order], return_index=True)[1]
        return np.asarray(order[first], dtype=np.intp)

    @property
    def best_gamma(self) -> float | None:
        """The chosen gamma."""
        return None if self.gamma is None else float(self.gamma[self.chosen])


@dataclass(frozen=True, eq=False, kw_only=True)
class CostBound:
    """A bound on the training cost that holds exactly, by the costs of the binary classifiers behind a rule.

    Attributes
    ----------
    value : float
        Mean training cost above the least possible one of each row.
    limit : float
        What the theorem allows for these binary classifiers.
    source : str
    """

    value: float
    limit: float
    source: str


@dataclass(frozen=True, eq=False, kw_only=True)
class VoteFit(Fit):
    """A fit that scores every rank.

    Attributes
    ----------
    selection : Selection, None where C was given or there is none
    bound : CostBound, None where no theorem bounds the training cost
    """

    selection: Selection | None = None
    bound: CostBound | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginFit(Fit):
    """A large-margin fit.

    Attributes
    ----------
    support : (S,) training rows that hold the optimum by a positive multiplier, those of a pairwise machine with a
        nonzero coefficient; None for methods without support vectors
    coefficients : (D,) effects of the columns on the user's scale where the potential is linear, else None
    selection : Selection, None where C was given
    rounding : float
        Largest difference between the scores of some rows and those that the rule gives them as new rows.
    """

    support: IntArray | None = None
    coefficients: FloatArray | None = None
    selection: Selection | None = None
    rounding: float = 0.0
