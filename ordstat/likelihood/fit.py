"""The fit of a likelihood model: estimates and diagnostics, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._typing import BoolArray, FloatArray
from ..fit import Fit
from .layout import Layout
from .rule import LikelihoodRule

if TYPE_CHECKING:
    from .determined import Determined
    from .elastic_path import Path
    from .marginal import Marginal
    from .smoothing import Smoothness


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
        Parameters that are not estimated: columns that depend linearly on earlier ones,
        and `confounded`.
    model_covariance : InverseInformation, CovarianceMatrix or UnknownCovariance
        The covariance of the estimated parameters by the model, from the inverse
        information, in the order of `coefficients`.
    loglik, null_loglik : float
        At the optimum; with thresholds only (plus offset).
    n_obs : float
        Sum of weights.
    determined : Determined or None
        What the data determine; None if every estimate is finite.
    null_edf : int
        Number of parameters of the null model.
    threshold_names : tuple of str
        Names of the t threshold parameters of a structure ("central.1", "spacing");
        empty for flexible thresholds.
    jacobian : (K-1, t) or None
        Thresholds theta = jacobian @ alpha of a structure (0 at thresholds that are
        infinite next to levels without rows); None for flexible thresholds.
    confounded : tuple of int
        Positions of the log-scale effects, and of lambda, that the cell probabilities
        do not determine.
    rule_slopes : (F, P) or None
        Derivatives of the parameters of the rule by `coefficients` in stereotype
        models, whose predictors are not linear in these.
    likelihood : LikelihoodAtEstimates or MarginalLikelihood
        For profiles, sandwiches and score tests.
    marginal : Marginal or None
        Random effects; the estimates are then those with them integrated out.
    higher_by : float
        If the estimates are a local maximum: how much higher the log-likelihood was at
        a point from which estimates diverge.
    diverging_elsewhere : (P,) bool or None
        Parameters that diverge from that point; None if no such point was found.
    path : Path or None
        Fits along lambda, of which this is one; `likelihood` is then the problem.
    position : int
        Position of this fit on the path.
    smooths : Smoothness or None
        Smooth terms; the estimates then maximise the restricted likelihood.
    """

    coefficients: FloatArray
    n_alpha: int
    n_beta: int
    n_zeta: int
    aliased: BoolArray
    model_covariance: Any
    loglik: float
    null_loglik: float
    n_obs: float
    likelihood: Any
    determined: Determined | None = None
    null_edf: int = 0
    n_lambda: int = 0
    threshold_names: tuple[str, ...] = ()
    jacobian: FloatArray | None = None
    rule_slopes: FloatArray | None = None
    confounded: tuple[int, ...] = ()
    marginal: Marginal | None = None
    higher_by: float = 0.0
    diverging_elsewhere: BoolArray | None = None
    path: Path | None = None
    position: int = 0
    smooths: Smoothness | None = None

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
        """The blocks of F parameters, with each threshold on its own."""
        if self.has_level_scores:
            return cast(LikelihoodRule, self.rule).layout
        return replace(self.layout, thresholds=self.rule.n_levels - 1)

    @property
    def has_level_scores(self) -> bool:
        """Whether the fit is a stereotype model, with estimated level scores."""
        return self.rule_slopes is not None

    @property
    def separation(self) -> FloatArray | None:
        """(P,) a direction of separation, along which the likelihood never decreases;
        None without separation.
        """
        direction = None if self.determined is None else self.determined.direction
        if direction is None:
            return None
        moved = np.zeros(self.coefficients.size)
        moved[~self.aliased] = direction
        return moved

    @cached_property
    def _infinities(self) -> FloatArray:
        """(P,) what `limits_of` gives for each parameter, 0 for aliased ones."""
        out = np.zeros(self.coefficients.size)
        if self.determined is not None:
            every = np.eye(int(np.count_nonzero(~self.aliased)))
            out[~self.aliased] = self.limits_of(every)
        return out

    @property
    def infinite(self) -> BoolArray:
        """(P,) parameters that separation leaves without a finite estimate."""
        return np.asarray(self._infinities != 0.0)

    @property
    def undetermined(self) -> BoolArray:
        """(P,) infinite estimates without a sign: the likelihood tends to its supremum
        for any of their values.
        """
        return np.isnan(self._infinities)

    @property
    def all_certain(self) -> bool:
        """Whether every observed level tends to probability 1 (complete separation), so
        that nothing else is determined.
        """
        return bool(self.infinite[~self.aliased].all())

    @property
    def diverging(self) -> BoolArray:
        """(P,) estimates without standard errors, because the likelihood has no
        maximum.
        """
        unknown = np.zeros(self.coefficients.size, dtype=bool)
        if np.isnan(self.certificate.value):
            unknown[~self.aliased] = np.isnan(self.model_covariance.variances)
        return unknown & ~self.infinite

    @property
    def lost(self) -> bool:
        """Whether the search found no maximum, and it is unknown what the data
        determine: every estimate diverges.
        """
        return self.determined is None and bool(self.diverging.any())

    @property
    def without_maximum(self) -> bool:
        """Whether some estimates are infinite or diverge, so that predictions are
        limits, or undefined.
        """
        return self.determined is not None or self.lost

    @property
    def regular(self) -> bool:
        """Whether every parameter is estimated, by a maximum of the likelihood."""
        lacking = self.aliased | self.infinite | self.diverging
        return self.diverging_elsewhere is None and not lacking.any()

    @property
    def limits(self) -> FloatArray:
        """(P,) `coefficients`, infinite or NaN where separation makes them so."""
        return self.coefficients + self._infinities

    def limits_of(self, combinations: FloatArray) -> FloatArray:
        """(h,) limits of combinations (h, P') of the estimates: 0 if finite, infinite,
        or NaN if undetermined.
        """
        if self.determined is None:
            return np.zeros(len(combinations))
        return self.determined.limits(combinations)

    @property
    def edf(self) -> float:
        """Number of estimated parameters, including those of the covariance of random
        effects; with smooth terms effective degrees of freedom, corrected for estimated
        smoothing parameters.
        """
        if self.smooths is not None:
            return self.smooths.corrected_edf
        random = 0 if self.marginal is None else self.marginal.n_phi
        return int(np.count_nonzero(~self.aliased)) + random

    def bread(self) -> FloatArray:
        """(P' + m, P' + m) covariance by the information, including parameters of
        random effects; NaN at a boundary.
        """
        if self.marginal is None:
            return np.asarray(self.model_covariance.dense())
        return np.array(self.marginal.covariance)

    def on_flexible_scale(self) -> FloatArray | None:
        """(F, P) derivatives of the parameters of `flexible_layout` by `coefficients`;
        None for flexible thresholds, where it is the identity.
        """
        if self.rule_slopes is not None:
            return self.rule_slopes
        if self.jacobian is None:
            return None
        return self.layout.expansion(self.jacobian)
