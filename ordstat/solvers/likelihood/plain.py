"""One pass over the rows of a cumulative link model with neither nominal nor scale effects, in compiled code.

The formulas are those of `model/likelihood/cumulative.py` at s = 1, w = 1, for centred and scaled columns that are
never formed: x enters as (x - shift) / scale. `rows.py` is the specification, for every family.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray, IntArray
from ...compiled.cumulative import accumulate, logit_groups, logit_pass, logit_widths, probit_rows, project
from ...model.likelihood.links import Link
from ...model.row_blocks import row_blocks
from .blocks import Blocks
from .newton import Evaluation
from .rows import FARTHEST

#: Rows handled at once: the temporaries of one chunk stay in cache.
_CHUNK = 4096
#: Thresholds of a probit model further apart than this allow plain differences of the normal distribution function.
_WIDE = 0.1


@dataclass(frozen=True, eq=False, kw_only=True)
class PlainRows:
    """Rows read where they lie.

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

    @property
    def _given(self) -> tuple[FloatArray, IntArray, FloatArray | None, FloatArray | None, FloatArray]:
        return self.X, self.y, self.weights, self.offset, self.shift

    def inside(self, alpha: FloatArray, rest: FloatArray) -> bool:
        """Whether the thresholds are in order."""
        return bool(np.all(np.diff(alpha[:, 0]) > 0.0))

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        """At thresholds alpha (K-1, 1) and location coefficients (p,), both for the scaled columns."""
        theta, beta = alpha[:, 0], rest / self.scale
        if not (theta[1:] > theta[:-1]).all() or max(-theta[0], theta[-1], _size(rest)) > FARTHEST:
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
        logs = logit_pass(*self._given, beta, theta, levels, score, None, None)
        if np.isnan(logs):
            return self.evaluate(alpha, rest)
        return Evaluation(
            loglik=logit_widths(theta, self.counts, levels, np.empty(theta.size - 1)) - logs,
            score_alpha=(levels[:-1, 0] - levels[1:, 1]).reshape(-1, 1),
            score_rest=score / self.scale,
            information=information,
        )

    def group_scores(self, alpha: FloatArray, rest: FloatArray, codes: IntArray, n_groups: int) -> FloatArray | None:
        """(G, K-1 + p) sums of the rows' scores by code (n,), of the user's columns; None where `_any_link` is for it.

        With d the width of a row's level, d log p is F(-u) + 1/(e^d - 1) by the upper threshold and minus
        F(l) + 1/(e^d - 1) by the lower one; x is centred in the pass.
        """
        theta, beta = alpha[:, 0], rest / self.scale
        if self.link.name != "logit":
            return None
        sums, score = np.zeros((n_groups, self.counts.size, 3)), np.zeros((n_groups, beta.size))
        given = self.X, self.y, self.weights, self.offset, self.shift, beta, theta
        if np.isnan(logit_groups(*given, codes, sums, score)):
            return None
        width = np.pad(1.0 / np.expm1(np.diff(theta)), 1)
        above, below = (sums[:, :, side] + width * sums[:, :, 2] for side in (0, 1))
        of_theta = above[:, :-1] - below[:, 1:]
        return np.hstack([of_theta, score - of_theta.sum(axis=1)[:, None] * self.shift])

    def _logit(self, theta: FloatArray, beta: FloatArray) -> Evaluation | None:
        """The compiled pass: what depends on thresholds alone is added once a level, not once a row."""
        sums = _Sums.zeros(self.counts.size, 4, self.shift.size)
        logs = logit_pass(*self._given, beta, theta, sums.levels, sums.score, sums.cross, sums.gram)
        if np.isnan(logs):
            return None
        below = np.empty(theta.size - 1)
        loglik = logit_widths(theta, self.counts, sums.levels, below) - logs
        return sums.evaluation(loglik, below, self.scale)

    def _any_link(self, theta: FloatArray, beta: FloatArray) -> Evaluation:
        """Row quantities in NumPy, sums in the compiled part, chunk by chunk."""
        sums = _Sums.zeros(self.counts.size, 5, self.shift.size)
        ends = np.concatenate([[-np.inf], theta, [np.inf]])
        widths = np.concatenate([[np.inf], np.diff(theta), [np.inf]])
        compiled = self.link.name == "probit" and bool(np.all(np.diff(theta) > _WIDE))
        loglik = 0.0
        for rows in row_blocks(self.y.size, room=_CHUNK):
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


def _size(values: FloatArray) -> float:
    """The largest absolute value, 0 of none."""
    return float(np.abs(values).max()) if values.size else 0.0


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
            rest=self.gram / (scale[:, None] * scale),
        )
        return Evaluation(
            loglik=loglik,
            score_alpha=(upper[:, 0] - lower[:, 1]).reshape(-1, 1),
            score_rest=self.score / scale,
            information=blocks,
        )
