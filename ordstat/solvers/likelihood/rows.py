"""One pass over the rows: log-likelihood, score and information of a cumulative link model.

P(y <= k) = F(s (theta_k(w) - H)), H = x'beta + offset, s = exp(-(z'zeta + scale offset)), theta_k(w) = w'alpha_k with
w = (1, nominal columns). Both classes work on centred (location, nominal) and scaled columns; see
`user_scale.py` for the way back. With u = s (theta_y - H), lo = s (theta_{y-1} - H), d = u - lo and case weight v:
  score:        alpha_y += v s a w,  alpha_{y-1} -= v s b w,  beta -= v s c x,  zeta -= v e z,  e = a u - b lo
  information:  T_yy -= v s^2 h_uu w w',  T_{y-1,y-1} -= v s^2 h_ll w w',  T_{y,y-1} -= v s^2 h_ul w w'
                C_{y,beta} += v s^2 r_u w x',  C_{y-1,beta} += v s^2 r_l w x',  B_bb += v s^2 W x x'
                C_{y,zeta} += v s (r_u u - h_ul d + a) w z',  C_{y-1,zeta} += v s (r_l lo + h_ul d - b) w z'
                B_bz -= v s (r_u u + r_l lo + c) x z',  B_zz -= v (r_u u^2 + r_l lo^2 - h_ul d^2 + e) z z'
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import FloatArray, IntArray
from ...compiled.cumulative import accumulate, logit_pass, logit_slope, probit_rows, project
from ...model.likelihood.interval_probability import Interval, log1mexp
from ...model.likelihood.links import Link
from .blocks import Blocks
from .newton import Evaluation, Objective

#: Rows handled at once: the temporaries of one chunk stay in cache.
_CHUNK = 4096
#: Thresholds of a probit model further apart than this allow plain differences of the normal distribution function.
_WIDE = 0.1
#: Log scales beyond this are outside the domain: estimates that run away stop here instead of overflowing.
_LARGEST_LOG_SCALE = 100.0
#: Thresholds and effects this many times the latent spread of a row are outside it too: their difference, in units of
#: that spread, is known to no more than 1e-7, and a search would follow the rounding.
_LARGEST_RATIO = 1e9


@dataclass(frozen=True, eq=False, kw_only=True)
class PlainRows:
    """Rows of a model without nominal or scale effects, read where they lie.

    Attributes
    ----------
    X : (N, p) C-contiguous
    y : (N,) codes, every level present
    weights, offset : (N,) or None
    shift, scale : (p,)
        The columns are used as (x - shift) / scale.
    counts : (K,) weighted counts of the levels
    link : Link
    """

    X: FloatArray
    y: IntArray
    weights: FloatArray | None
    offset: FloatArray | None
    shift: FloatArray
    scale: FloatArray
    counts: FloatArray
    link: Link

    def at_link(self, link: Link) -> Objective:
        """The log-likelihood of another link."""
        return replace(self, link=link).evaluate

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        """At thresholds alpha (K-1, 1) and location coefficients (p,), both for the scaled columns."""
        theta, beta = alpha[:, 0], rest / self.scale
        if not np.all(theta[1:] > theta[:-1]):
            return None
        found = self._logit(theta, beta) if self.link.name == "logit" else None
        if found is None:
            with np.errstate(over="ignore", invalid="ignore"):
                found = self._any_link(theta, beta)
        return found if found.finite else None

    def slope(self, alpha: FloatArray, rest: FloatArray, information: Blocks) -> Evaluation | None:
        """The same, for the logit with the information given instead of its own."""
        theta, beta = alpha[:, 0], rest / self.scale
        if self.link.name != "logit" or not np.all(theta[1:] > theta[:-1]):
            return self.evaluate(alpha, rest)
        levels, score = np.zeros((self.counts.size, 2)), np.zeros(beta.size)
        logs = logit_slope(self.X, self.y, self.weights, self.offset, self.shift, beta, theta, levels, score)
        if np.isnan(logs):
            return self.evaluate(alpha, rest)
        d, inner = np.diff(theta), self.counts[1:-1]
        levels[1:-1] += (inner / np.expm1(d))[:, None]
        return Evaluation(
            loglik=float(inner @ log1mexp(d)) - logs,
            score_alpha=(levels[:-1, 0] - levels[1:, 1]).reshape(-1, 1),
            score_rest=score / self.scale,
            information=information,
        )

    def _logit(self, theta: FloatArray, beta: FloatArray) -> Evaluation | None:
        """The compiled pass: what depends on thresholds alone is added once a level, not once a row."""
        sums = _Sums.zeros(self.counts.size, 4, self.shift.size)
        logs = logit_pass(
            self.X,
            self.y,
            self.weights,
            self.offset,
            self.shift,
            beta,
            theta,
            sums.levels,
            sums.score,
            sums.cross,
            sums.gram,
        )
        if np.isnan(logs):
            return None
        d = np.diff(theta)
        inner = self.counts[1:-1]
        g = inner / np.expm1(d)
        curvature = inner * (1.0 / np.expm1(d)) / -np.expm1(-d)
        sums.levels[1:-1, :2] += g[:, None]
        sums.levels[1:-1, 2:] += curvature[:, None]
        loglik = float(inner @ log1mexp(d)) - logs
        return sums.evaluation(loglik, -curvature, self.scale)

    def _any_link(self, theta: FloatArray, beta: FloatArray) -> Evaluation:
        """Row quantities in NumPy, sums in the compiled part, chunk by chunk."""
        sums = _Sums.zeros(self.counts.size, 5, self.shift.size)
        ends = np.concatenate([[-np.inf], theta, [np.inf]])
        widths = np.concatenate([[np.inf], np.diff(theta), [np.inf]])
        compiled = self.link.name == "probit" and bool(np.all(np.diff(theta) > _WIDE))
        loglik = 0.0
        for start in range(0, self.y.size, _CHUNK):
            rows = slice(start, start + _CHUNK)
            y = self.y[rows]
            H = np.zeros(y.size) if self.offset is None else self.offset[rows].copy()
            project(self.X[rows], self.shift, beta, H)
            v = None if self.weights is None else self.weights[rows]
            parts = np.empty((8, y.size))
            logs = probit_rows(y, v, H, theta, parts) if compiled else np.nan
            if np.isnan(logs):
                q = self.link.interval(ends[y + 1] - H, ends[y] - H, widths[y])
                np.stack([q.a, q.b, -q.h_uu, -q.h_ll, q.h_ul, q.c, q.r_u, q.r_l], out=parts)
                logs = float(q.log_p.sum() if v is None else v @ q.log_p)
                if v is not None:
                    parts *= v
            loglik += logs
            accumulate(self.X[rows], y, self.shift, parts, sums.levels, sums.score, sums.cross, sums.gram)
        return sums.evaluation(loglik, -sums.levels[1:-1, 4], self.scale)


@dataclass(frozen=True, eq=False)
class _Sums:
    """What the compiled passes add into; see `compiled/cumulative.pyx`."""

    levels: FloatArray
    score: FloatArray
    cross: FloatArray
    gram: FloatArray

    @classmethod
    def zeros(cls, n_levels: int, width: int, p: int) -> _Sums:
        return cls(np.zeros((n_levels, width)), np.zeros(p), np.zeros((n_levels + 1, p)), np.zeros((p, p)))

    def evaluation(self, loglik: float, below: FloatArray, scale: FloatArray) -> Evaluation:
        """Blocks of the scaled columns; `below` is the lower diagonal of T."""
        n, p = self.levels.shape[0], scale.size
        upper, lower = self.levels[:-1], self.levels[1:]
        blocks = Blocks(
            diagonal=(upper[:, 2] + lower[:, 3]).reshape(-1, 1, 1),
            below=below.reshape(-1, 1, 1),
            cross=(self.cross[1:n] / -scale).reshape(n - 1, 1, p),
            rest=self.gram / np.outer(scale, scale),
        )
        return Evaluation(
            loglik=loglik,
            score_alpha=(upper[:, 0] - lower[:, 1]).reshape(-1, 1),
            score_rest=self.score / scale,
            information=blocks,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class PartsRows:
    """Rows of a model with nominal or scale effects, sorted by level.

    Attributes
    ----------
    X : (N, p), nominal : (N, m), scale : (N, r)
        Centred and scaled copies; the first column of `nominal` is 1.
    y : (N,) codes in increasing order
    weights, offset, scale_offset : (N,)
    n_levels : int
    link : Link
    """

    X: FloatArray
    nominal: FloatArray
    scale: FloatArray
    y: IntArray
    weights: FloatArray
    offset: FloatArray
    scale_offset: FloatArray
    n_levels: int
    link: Link

    def at_link(self, link: Link) -> Objective:
        """The log-likelihood of another link."""
        return replace(self, link=link).evaluate

    def take(self, index: IntArray) -> PartsRows:
        """Some of the rows, in the order of `index`."""
        names = ("X", "nominal", "scale", "y", "weights", "offset", "scale_offset")
        return replace(self, **{name: getattr(self, name)[index] for name in names})

    def log_scale(self, rows: slice, rest: FloatArray) -> FloatArray:
        """z'zeta + scale offset of some rows."""
        return np.asarray(self.scale[rows] @ rest[self.X.shape[1] :] + self.scale_offset[rows])

    def ends(
        self, rows: slice, alpha: FloatArray, rest: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """s, u, lo and d of some rows."""
        y, w, p = self.y[rows], self.nominal[rows], self.X.shape[1]
        top, bottom = y == self.n_levels - 1, y == 0
        s = np.exp(-self.log_scale(rows, rest))
        H = self.X[rows] @ rest[:p] + self.offset[rows]
        high, low = alpha[np.minimum(y, self.n_levels - 2)], alpha[np.maximum(y - 1, 0)]
        u = np.where(top, np.inf, s * (np.einsum("nm,nm->n", w, high) - H))
        lo = np.where(bottom, -np.inf, s * (np.einsum("nm,nm->n", w, low) - H))
        d = np.where(top | bottom, np.inf, s * np.einsum("nm,nm->n", w, high - low))
        return s, u, lo, d

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        """At alpha (K-1, m) and rest = (beta, zeta) (p + r,), for the scaled columns."""
        sums = _PartSums.zeros(alpha.shape, rest.size)
        loglik = 0.0
        for start in range(0, self.y.size, _CHUNK):
            rows = slice(start, start + _CHUNK)
            if not self._resolved(rows, alpha, rest):
                return None
            s, u, lo, d = self.ends(rows, alpha, rest)
            if not np.all(d > 0.0):
                return None
            q = self.link.interval(u, lo, d)
            loglik += float(self.weights[rows] @ q.log_p)
            with np.errstate(over="ignore", invalid="ignore"):
                self._add(sums, rows, s, u, lo, d, q)
        found = sums.evaluation(loglik)
        return found if found.finite else None

    def _resolved(self, rows: slice, alpha: FloatArray, rest: FloatArray) -> bool:
        """Whether the log scales of some rows are inside the domain."""
        p = self.X.shape[1]
        log_scale = self.log_scale(rows, rest)
        if not log_scale.any():
            return True
        if not np.all(np.abs(log_scale) <= _LARGEST_LOG_SCALE):
            return False
        size = max(np.abs(alpha).max(), np.abs(rest[:p]).max(initial=0.0))
        return bool(size <= _LARGEST_RATIO * np.exp(log_scale.min()))

    def _add(
        self, sums: _PartSums, rows: slice, s: FloatArray, u: FloatArray, lo: FloatArray, d: FloatArray, q: Interval
    ) -> None:
        """Add some rows' terms; see the head of this file. Derivatives at an infinite end are 0, so is its u or lo."""
        x, z, w, v = self.X[rows], self.scale[rows], self.nominal[rows], self.weights[rows]
        p = x.shape[1]
        e = stretch(q, u, lo, d)
        u, lo, d = (np.where(np.isinf(t), 0.0, t) for t in (u, lo, d))
        vs, vss = v * s, v * s * s
        hd = q.h_ul * d
        sums.rest[:p] -= (vs * q.c) @ x
        sums.rest[p:] -= (v * e) @ z
        sums.gram[:p, :p] += (x * (vss * q.W)[:, None]).T @ x
        sums.gram[:p, p:] -= (x * (vs * (q.r_u * u + q.r_l * lo + q.c))[:, None]).T @ z
        sums.gram[p:, p:] -= (z * (v * (q.r_u * u * u + q.r_l * lo * lo - hd * d + e))[:, None]).T @ z
        upper = np.hstack([x * (vss * q.r_u)[:, None], z * (vs * (q.r_u * u - hd + q.a))[:, None]])
        lower = np.hstack([x * (vss * q.r_l)[:, None], z * (vs * (q.r_l * lo + hd - q.b))[:, None]])
        sums.add_levels(
            self.y[rows], w, (vs * q.a, vs * q.b), (-vss * q.h_uu, -vss * q.h_ll, -vss * q.h_ul), (upper, lower)
        )


def stretch(q: Interval, u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
    """(n,) e = a u - b lo, minus the derivative of log p by the log scale; an infinite end adds nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(u), -q.b * lo, np.where(np.isinf(lo), q.a * u, q.c * u + q.b * d))


@dataclass(frozen=True, eq=False)
class _PartSums:
    """Running sums of `PartsRows`; arrays over levels have a spare first and last level for the infinite ends."""

    alpha: FloatArray
    diagonal: FloatArray
    below: FloatArray
    cross: FloatArray
    rest: FloatArray
    gram: FloatArray

    @classmethod
    def zeros(cls, shape: tuple[int, ...], q: int) -> _PartSums:
        n, m = shape[0] + 2, shape[1]
        return cls(
            np.zeros((n, m)),
            np.zeros((n, m, m)),
            np.zeros((n, m, m)),
            np.zeros((n, m, q)),
            np.zeros(q),
            np.zeros((q, q)),
        )

    def add_levels(
        self,
        y: IntArray,
        w: FloatArray,
        score: tuple[FloatArray, FloatArray],
        curvature: tuple[FloatArray, FloatArray, FloatArray],
        cross: tuple[FloatArray, FloatArray],
    ) -> None:
        """Add rows of sorted levels: upper ends into entry y + 1, lower ends into entry y."""
        starts = np.flatnonzero(np.concatenate([[True], y[1:] != y[:-1]]))
        levels = y[starts]
        ww = w[:, :, None] * w[:, None, :]
        self.alpha[levels + 1] += np.add.reduceat(w * score[0][:, None], starts)
        self.alpha[levels] -= np.add.reduceat(w * score[1][:, None], starts)
        self.diagonal[levels + 1] += np.add.reduceat(ww * curvature[0][:, None, None], starts)
        self.diagonal[levels] += np.add.reduceat(ww * curvature[1][:, None, None], starts)
        self.below[levels] += np.add.reduceat(ww * curvature[2][:, None, None], starts)
        self.cross[levels + 1] += np.add.reduceat(w[:, :, None] * cross[0][:, None, :], starts)
        self.cross[levels] += np.add.reduceat(w[:, :, None] * cross[1][:, None, :], starts)

    def evaluation(self, loglik: float) -> Evaluation:
        """Without the spare levels; the location-scale block is mirrored."""
        gram = np.triu(self.gram) + np.triu(self.gram, 1).T
        blocks = Blocks(diagonal=self.diagonal[1:-1], below=self.below[1:-2], cross=self.cross[1:-1], rest=gram)
        return Evaluation(loglik=loglik, score_alpha=self.alpha[1:-1], score_rest=self.rest, information=blocks)
