"""The chain rule: from the predictors eta of rows to theta, H and tau.

eta_k = s (theta_k - H) with s = exp(-tau). A family gives log p, d = d log p / d eta
and A = -d2 log p / d eta2 at the predictors on which a row depends. With sums over
these:

  by theta_k: s d_k           by H: -s sum_j d_j             by tau: -sum_j d_j eta_j

and, negative second derivatives, with R_k = sum_j A_kj and M_k = sum_j A_kj eta_j:

  (theta_k, theta_l)  s^2 A_kl
  (theta_k, H)        -s^2 R_k
  (H, H)              s^2 sum_k R_k
  (theta_k, tau)      s (d_k - M_k)
  (H, tau)            -s (sum_k d_k - sum_k M_k)
  (tau, tau)          sum_kj A_kj eta_k eta_j - sum_k d_k eta_k

These sums lose digits if neighbouring terms nearly cancel, as for a narrow interval. So
each is a property of `EtaTerms` that a family can replace by an exact form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class EtaTerms(ABC):
    """The log-probability of the observed level of n rows, and its derivatives with
    respect to M predictors.

    Attributes
    ----------
    log_p : (n,)
    places : (M, n)
        Positions of the M predictors among the K-1.
    eta : (M, n)
        Values of the predictors; 0 for infinite ones, on which nothing depends.
    slope : (M, n)
        d.
    """

    log_p: FloatArray
    places: IntArray
    eta: FloatArray
    slope: FloatArray

    @property
    @abstractmethod
    def curvature(self) -> FloatArray:
        """(M, M, n) A."""

    @cached_property
    def slope_sum(self) -> FloatArray:
        """(n,) sum of d."""
        return np.asarray(self.slope.sum(axis=0))

    @cached_property
    def slope_moment(self) -> FloatArray:
        """(n,) sum of d_j eta_j."""
        return np.asarray(np.einsum("jn,jn->n", self.slope, self.eta))

    @cached_property
    def curvature_sums(self) -> FloatArray:
        """(M, n) R."""
        return np.asarray(self.curvature.sum(axis=1))

    @cached_property
    def curvature_total(self) -> FloatArray:
        """(n,) sum of A: the curvature by a common move of all predictors."""
        return np.asarray(self.curvature_sums.sum(axis=0))

    @cached_property
    def curvature_moments(self) -> FloatArray:
        """(M, n) sums of A_kj eta_j."""
        return np.asarray(np.einsum("kjn,jn->kn", self.curvature, self.eta))

    @cached_property
    def moment_total(self) -> FloatArray:
        """(n,) sum of A_kj eta_j over all k and j."""
        return np.asarray(self.curvature_moments.sum(axis=0))

    @cached_property
    def curvature_quadratic(self) -> FloatArray:
        """(n,) sum of A_kj eta_k eta_j."""
        return np.asarray(np.einsum("kn,kn->n", self.curvature_moments, self.eta))

    @cached_property
    def barrier(self) -> FloatArray | None:
        """(n,) part of A along the difference of two predictors that grows without
        bound as they meet.
        """
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class RowTerms:
    """The log-probability of the observed level of n rows, and its derivatives.

    Derivatives are with respect to theta at M thresholds, H, tau, and the link
    parameter if it is estimated: Q in all.

    Attributes
    ----------
    log_p : (n,)
    places : (M, n)
    score : (Q, n)
    curvature : (Q, Q, n) or None
        Negative second derivatives; None if not requested.
    barrier : (n,) or None
        Part of the curvature along the difference of the two thresholds that grows
        without bound as they meet; None without such a part.
    """

    log_p: FloatArray
    places: IntArray
    score: FloatArray
    curvature: FloatArray | None
    barrier: FloatArray | None = None

    @property
    def by_location(self) -> FloatArray:
        """(n,) derivative with respect to H."""
        return np.asarray(self.score[len(self.places)])

    def second(self) -> FloatArray:
        """(Q, Q, n) negative second derivatives."""
        assert self.curvature is not None
        return self.curvature

    def smooth(self) -> FloatArray:
        """(Q, Q, n) `curvature` without the barrier."""
        if self.barrier is None:
            return self.second()
        signs = np.array([[1.0, -1.0], [-1.0, 1.0]])
        out = self.second().copy()
        out[:2, :2] -= signs[:, :, None] * self.barrier
        return out


@dataclass(frozen=True, eq=False)
class LocationTerms:
    """The log-probability of n rows, its derivative and its negative second derivative
    with respect to H, all (n,).
    """

    log_p: FloatArray
    score: FloatArray
    curvature: FloatArray


def by_parameters(terms: EtaTerms, s: FloatArray, second: bool) -> RowTerms:
    """The derivatives with respect to theta at the places, H and tau, at inverse scales
    s (n,).
    """
    barrier = None
    curvature = None
    with np.errstate(over="ignore", invalid="ignore"):
        score = np.vstack([s * terms.slope, -s * terms.slope_sum, -terms.slope_moment])
        if second:
            curvature = _second(terms, s)
            barrier = None if terms.barrier is None else s * s * terms.barrier
    return RowTerms(
        log_p=terms.log_p,
        places=terms.places,
        score=score,
        curvature=curvature,
        barrier=barrier,
    )


def _second(terms: EtaTerms, s: FloatArray) -> FloatArray:
    """(M + 2, M + 2, n) negative second derivatives by theta at the places, H
    and tau.
    """
    M, n = terms.slope.shape
    H = M
    tau = M + 1
    squared = s * s
    out = np.empty((M + 2, M + 2, n))
    out[:M, :M] = squared * terms.curvature
    out[:M, H] = -squared * terms.curvature_sums
    out[:M, tau] = s * (terms.slope - terms.curvature_moments)
    out[H, H] = squared * terms.curvature_total
    out[H, tau] = -s * (terms.slope_sum - terms.moment_total)
    out[tau, tau] = terms.curvature_quadratic - terms.slope_moment
    out[H, :M] = out[:M, H]
    out[tau, :H] = out[:H, tau]
    out[tau, H] = out[H, tau]
    return out


def by_location(terms: EtaTerms, s: FloatArray) -> LocationTerms:
    """The derivatives with respect to H alone."""
    with np.errstate(over="ignore", invalid="ignore"):
        score = -s * terms.slope_sum
        curvature = s * s * terms.curvature_total
    return LocationTerms(terms.log_p, score, curvature)
