"""What one row's log-probability depends on in a fitted cumulative link model, and its derivatives.

log p = log(F(u) - F(lo)) with u = s (theta_y - H), lo = s (theta_{y-1} - H), s = exp(-tau): a function of three linear
predictors, eta_u = theta_y - H, eta_l = theta_{y-1} - H and tau = z'zeta + scale offset. With a, b, h_uu, h_ll, h_ul of
`model/likelihood/interval_probability.py`:
  d/d eta_u = s a,  d/d eta_l = -s b,  d/d tau = -e,  e = a u - b lo
  d2: (u,u) s^2 h_uu,  (u,l) s^2 h_ul,  (l,l) s^2 h_ll,  (u,tau) -s (a + h_uu u + h_ul lo),
      (l,tau) -s (-b + h_ul u + h_ll lo),  (tau,tau) h_uu u^2 + 2 h_ul u lo + h_ll lo^2 + e
Terms of an infinite end are 0. Where the parameter lambda of the link was estimated it is a fourth predictor; its
derivatives are differences of sixth order, as those of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from ...model.likelihood.cumulative import CumulativeRule
from ...model.likelihood.flexible import FLEXIBLE
from ...model.likelihood.interval_probability import Interval
from ...model.likelihood.links import Link
from ...model.sample import Sample

#: Step of lambda (of log lambda, where the family varies with that), and weights of the differences.
_STEP = 0.02
_FIRST = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
_SECOND = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0


@dataclass(frozen=True, eq=False, kw_only=True)
class RowTerms:
    """Ends and derivatives of the intervals that the rows were observed in.

    Attributes
    ----------
    link : Link
    s : (N,) inverse scale
    upper, lower, width : (N,)
        u and lo, infinite at the outer levels, and u - lo.
    interval : Interval
        log p and its derivatives by u and lo.
    """

    link: Link
    s: FloatArray
    upper: FloatArray
    lower: FloatArray
    width: FloatArray
    interval: Interval

    @classmethod
    def of(cls, rule: CumulativeRule, sample: Sample) -> RowTerms:
        """The terms of a sample's rows under a rule."""
        s = rule.inverse_scale(sample.rows)[:, 0]
        H, thresholds = rule.scores(sample.rows), rule.thresholds(sample.rows)
        ends = np.pad(thresholds, ((0, 0), (1, 1)), constant_values=((0.0, 0.0), (-np.inf, np.inf)))
        rows = np.zeros(sample.n, dtype=np.intp) if thresholds.shape[0] == 1 else np.arange(sample.n)
        high, low = ends[rows, sample.y + 1], ends[rows, sample.y]
        upper, lower, width = s * (high - H), s * (low - H), s * (high - low)
        interval = rule.link.interval(upper, lower, width)
        return cls(link=rule.link, s=s, upper=upper, lower=lower, width=width, interval=interval)

    @property
    def log_p(self) -> FloatArray:
        """(N,) log-probability of the observed level."""
        return self.interval.log_p

    def _finite_ends(self) -> tuple[FloatArray, FloatArray]:
        """u and lo with 0 where infinite: there their derivatives are 0."""
        return np.where(np.isinf(self.upper), 0.0, self.upper), np.where(np.isinf(self.lower), 0.0, self.lower)

    def scores(self, n_lambda: int = 0) -> FloatArray:
        """(N, 3 + n_lambda) derivatives of log p by eta_u, eta_l, tau and lambda."""
        own = self._scores(self.interval)
        if not n_lambda:
            return own
        points, h = self._along_lambda()
        slope = sum(c * q.log_p for c, q in zip(_FIRST, points, strict=True)) / h
        return np.column_stack([own, slope])

    def _scores(self, q: Interval) -> FloatArray:
        u, lo = self._finite_ends()
        return np.column_stack([self.s * q.a, -self.s * q.b, -(q.a * u - q.b * lo)])

    def _along_lambda(self) -> tuple[list[Interval], float]:
        """The same intervals under seven links about this one, and the distance of their lambdas."""
        family, lam = FLEXIBLE[self.link.name], self.link.lam
        assert lam is not None
        h = _STEP * lam if family.relative else _STEP
        links = (family.at(lam + j * h) for j in range(-3, 4))
        return [link.interval(self.upper, self.lower, self.width) for link in links], h

    def curvature(self, n_lambda: int = 0) -> FloatArray:
        """(N, M, M) negative second derivatives of log p by eta_u, eta_l, tau and lambda, M = 3 + n_lambda."""
        own = self._curvature()
        if not n_lambda:
            return own
        points, h = self._along_lambda()
        out = np.pad(own, ((0, 0), (0, 1), (0, 1)))
        mixed = sum(c * self._scores(q) for c, q in zip(_FIRST, points, strict=True)) / h
        out[:, :3, 3] = out[:, 3, :3] = -mixed
        out[:, 3, 3] = -sum(c * q.log_p for c, q in zip(_SECOND, points, strict=True)) / h**2
        return out

    def _curvature(self) -> FloatArray:
        q, s, (u, lo) = self.interval, self.s, self._finite_ends()
        out = np.empty((s.size, 3, 3))
        out[:, 0, 0], out[:, 1, 1] = -s * s * q.h_uu, -s * s * q.h_ll
        out[:, 0, 1] = out[:, 1, 0] = -s * s * q.h_ul
        out[:, 0, 2] = out[:, 2, 0] = s * (q.a + q.h_uu * u + q.h_ul * lo)
        out[:, 1, 2] = out[:, 2, 1] = s * (-q.b + q.h_ul * u + q.h_ll * lo)
        out[:, 2, 2] = -(q.h_uu * u * u + 2.0 * q.h_ul * u * lo + q.h_ll * lo * lo + q.a * u - q.b * lo)
        return out

    def smooth_curvature(self, n_lambda: int = 0) -> FloatArray:
        """(N, M, M) `curvature` without the barrier h_ul s^2 between eta_u and eta_l, which grows as 1 / (u - lo)^2."""
        q, s, out = self.interval, self.s, self.curvature(n_lambda)
        out[:, 0, 0], out[:, 1, 1] = -s * s * q.r_u, -s * s * q.r_l
        out[:, 0, 1] = out[:, 1, 0] = 0.0
        return out
