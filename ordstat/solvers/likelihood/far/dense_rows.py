"""Rows of a cumulative link model as dense linear forms, in any coordinates of the location parameters.

Every row has a main end t = s (M eta - o), the upper one or, in the last level, the lower one, and where both ends are
finite a width d = s D eta. With lo = t - d:  d log p / dt = c, d log p / dd = b, and the second derivatives are -W
(t, t), -r_l (t, d) and h_ll (d, d), in the notation of `interval_probability.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr, solve_triangular

from ...._typing import BoolArray, FloatArray, IntArray
from ....model.likelihood.interval_probability import Interval
from ....model.likelihood.links import Link
from ..problem import Problem
from ..rows import LARGEST_LOG_SCALE
from ..structured import Structured


@dataclass(frozen=True, eq=False)
class Ends:
    """Where the intervals of all rows lie: their scales s (N,), main ends (N,) and widths (N,), 0 for outer levels."""

    s: FloatArray
    main: FloatArray
    width: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Derivatives:
    """Derivatives of the log-likelihood at one point.

    Attributes
    ----------
    loglik : float
    score : (P + r,)
    hessian : (P + r, P + r)
        Negative.
    main, width : (N, P + r)
        Derivatives of the ends and widths.
    curvature : tuple of (N,)
        Weights times W, r_l and h_ll.
    """

    loglik: float
    score: FloatArray
    hessian: FloatArray
    main: FloatArray
    width: FloatArray
    curvature: tuple[FloatArray, FloatArray, FloatArray]

    def fall(self, main: FloatArray, width: FloatArray) -> FloatArray:
        """By how much the score falls where ends and widths change by so much."""
        W, r_l, h_ll = self.curvature
        return self.main.T @ (W * main + r_l * width) + self.width.T @ (r_l * main - h_ll * width)


@dataclass(frozen=True, eq=False, kw_only=True)
class DenseRows:
    """The rows.

    Attributes
    ----------
    main, width : (N, P)
        M and D; D is 0 in the outer levels.
    z : (N, r)
    offset, scale_offset, weights : (N,)
    top, bottom, inner : (N,) bool
        The last level, the first, and those between.
    link : Link
    """

    main: FloatArray
    width: FloatArray
    z: FloatArray
    offset: FloatArray
    scale_offset: FloatArray
    weights: FloatArray
    top: BoolArray
    bottom: BoolArray
    inner: BoolArray
    link: Link

    @classmethod
    def of(cls, problem: Problem) -> DenseRows:
        """In the parameters of a problem: alpha, then beta."""
        rows = problem.term_rows
        y, x, w, z = rows.observed.y, rows.rows.x, rows.rows.w, rows.rows.z
        last, m, p = problem.sample.n_levels - 1, w.shape[1], x.shape[1]
        free = Structured.free(rows.evaluate, last, (m, p + z.shape[1]))
        alpha, rest = (free if problem.structure is None else problem.structured(rows.evaluate)).basis()
        size = alpha.shape[0] - z.shape[1]
        # Both are one threshold in the outer levels.
        ends = np.minimum(y, last - 1), np.maximum(y - 1, 0)
        upper, lower = (np.einsum("jnm,nm->nj", alpha[:size, k, :], w) for k in ends)
        top, bottom = y == last, y == 0
        return cls(
            main=upper - x @ rest[:size, :p].T,
            width=upper - lower,
            z=z,
            offset=rows.rows.offset,
            scale_offset=rows.rows.scale_offset,
            weights=rows.weights,
            top=top,
            bottom=bottom,
            inner=~(top | bottom),
            link=problem.link,
        )

    def ends(self, eta: FloatArray, zeta: FloatArray) -> Ends | None:
        """None outside the domain."""
        log_scale = self.z @ zeta + self.scale_offset
        if not np.all(np.abs(log_scale) <= LARGEST_LOG_SCALE):
            return None
        s = np.exp(-log_scale)
        main, width = s * (self.main @ eta - self.offset), s * (self.width @ eta)
        return Ends(s, main, width) if np.all(width[self.inner] > 0.0) and np.isfinite(main).all() else None

    def loglik(self, eta: FloatArray, zeta: FloatArray) -> float:
        """Minus infinity outside the domain."""
        ends = self.ends(eta, zeta)
        with np.errstate(over="ignore"):  # beyond the largest number is outside, too
            value = -np.inf if ends is None else float(self.weights @ self._interval(ends).log_p)
        return value if np.isfinite(value) else -np.inf

    def derivatives(self, ends: Ends) -> Derivatives:
        """By (eta, zeta), at these ends."""
        q, v = self._interval(ends), self.weights
        c, W = v * q.c, v * q.W
        b, r_l, h_ll = (np.where(self.inner, v * part, 0.0) for part in (q.b, q.r_l, q.h_ll))
        main = np.hstack([ends.s[:, None] * self.main, -self.z * ends.main[:, None]])
        width = np.hstack([ends.s[:, None] * self.width, -self.z * ends.width[:, None]])
        cross = (main * r_l[:, None]).T @ width
        hessian = (main * W[:, None]).T @ main + cross + cross.T - (width * h_ll[:, None]).T @ width
        P = self.main.shape[1]
        both = (c[:, None] * main[:, :P] + b[:, None] * width[:, :P]).T @ self.z
        hessian[:P, P:] += both
        hessian[P:, :P] += both.T
        hessian[P:, P:] -= (self.z * (c * ends.main + b * ends.width)[:, None]).T @ self.z
        return Derivatives(
            loglik=float(v @ q.log_p),
            score=main.T @ c + width.T @ b,
            hessian=hessian,
            main=main,
            width=width,
            curvature=(W, r_l, h_ll),
        )

    def bend(self, ends: Ends, d_eta: FloatArray, d_zeta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Second derivatives of the ends and widths along a direction."""
        along = self.z @ d_zeta
        pairs = ((ends.main, self.main), (ends.width, self.width))
        main, width = (along * (along * end - 2.0 * ends.s * (part @ d_eta)) for end, part in pairs)
        return main, width

    def relative(self, ends: Ends) -> tuple[DenseRows, FloatArray] | None:
        """The rows in coordinates R eta, in which relative changes of ends and widths are orthonormal, and R.

        Rows of very different size keep their digits: the largest come first, and columns are exchanged.
        """
        rows = self._stacked(1.0 / (1.0 + np.abs(ends.main)) * ends.s, ends)
        if rows.shape[0] < rows.shape[1] or not np.isfinite(rows).all():
            return None
        triangle, places = qr(rows[_largest_first(rows)], mode="r", pivoting=True)
        triangle = triangle[: places.size]
        if not np.all(np.abs(np.diag(triangle)) > 0.0):
            return None
        pair = (self.main[:, places].T, self.width[:, places].T)
        main, width = (solve_triangular(triangle, part, trans="T", check_finite=False).T for part in pair)
        R = np.empty((places.size, places.size))
        R[:, places] = triangle
        return replace(self, main=main, width=width), R

    def matching(self, other: DenseRows, eta: FloatArray, ends: Ends) -> FloatArray | None:
        """The parameters here that put the ends where the rows in other coordinates have them; None on overflow."""
        size = ends.s / (1.0 + np.abs(ends.main))
        rows, others = self._stacked(size, ends), other._stacked(size, ends)
        if not (np.isfinite(rows).all() and np.isfinite(others).all()):
            return None
        order = _largest_first(rows)
        Q, triangle, places = qr(rows[order], mode="economic", pivoting=True)
        if not np.all(np.abs(np.diag(triangle)) > 0.0):
            return None
        found = np.empty(places.size)
        found[places] = solve_triangular(triangle, Q.T @ (others[order] @ eta), check_finite=False)
        return found

    def _stacked(self, size: FloatArray, ends: Ends) -> FloatArray:
        """Main ends times `size`, and widths relative to their own."""
        inner = self.inner
        widths = (ends.s[inner] / ends.width[inner])[:, None] * self.width[inner]
        return np.vstack([size[:, None] * self.main, widths])

    def _interval(self, ends: Ends) -> Interval:
        u = np.where(self.top, np.inf, ends.main)
        lo = np.where(self.bottom, -np.inf, ends.main - ends.width)
        return self.link.interval(u, lo, np.where(self.inner, ends.width, np.inf))


def _largest_first(rows: FloatArray) -> IntArray:
    return np.argsort(-np.abs(rows).max(axis=1), kind="stable")
