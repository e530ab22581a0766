"""Which log-scale effects, or lambda, the cell probabilities of a model cannot tell from its other parameters.

P(y <= k | x) = F(u_k), u_k = s (theta_k(w) - H): parameters are determined iff the derivatives of all u_k of all rows
(of F^-1 of the probability, where lambda moves the link) by them are linearly independent at a point in general
position, for which effects drawn at random serve. Without log-scale effects and lambda that is the independence of the
columns, which `rank.py` sees to. Rows and thresholds are taken in parts, as they can only add to the rank: a few that
show it full are enough. As with columns, what depends on the parameters before it is the one not estimated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import FloatArray, IntArray
from ...model.fit import Confounded
from ...model.likelihood.links import Link
from .column_rank import TOLERANCE
from .flexible import lambda_slope

if TYPE_CHECKING:
    from .problem import Problem

#: Rows and thresholds that usually show the rank.
_ROWS, _THRESHOLDS = 1000, 4
#: Doubles of derivatives held at once.
_BUFFER = 1 << 20
#: Components of a dependence below this share of the largest are rounding.
_PART = 1e-6


@dataclass(frozen=True, eq=False)
class _Predictors:
    """The u_k of a problem's rows at some point, and their derivatives."""

    X: FloatArray
    nominal: FloatArray
    scale: FloatArray
    offset: FloatArray
    log_scale: FloatArray
    jacobian: FloatArray
    alpha: FloatArray
    beta: FloatArray
    link: Link
    problem: Problem

    @classmethod
    def of(cls, problem: Problem) -> _Predictors:
        """At effects drawn at random."""
        X, w, z = problem.scaled()
        n, sample, rng = len(X), problem.sample.rows, np.random.default_rng(20)
        structure, location = problem.structure, problem.location.part(problem.location.kept)
        if structure is not None and structure.intercept is None:
            X = X + location.mean / location.deviation  # no threshold takes in the centring
        centred = z - z.mean(axis=0)
        zero = np.zeros(n)
        offset = zero if sample.offset is None else sample.offset
        scale_offset = zero if sample.scale_offset is None else sample.scale_offset
        link, K = problem.link, problem.counts.size
        if problem.family is not None:
            link = problem.family.at(problem.family.start + 0.3)
        jacobian = np.eye(K - 1) if structure is None else structure.jacobian
        alpha = np.zeros((K - 1, w.shape[1]))
        alpha[:, 0] = problem.link.ppf(np.cumsum(problem.counts)[:-1] / problem.counts.sum())
        alpha[:, 1:] = rng.uniform(-0.3, 0.3, size=(K - 1, w.shape[1] - 1))
        return cls(
            X=X,
            nominal=w,
            # without an offset the model with centred columns is the same
            scale=centred if sample.offset is None else z,
            offset=offset,
            log_scale=centred @ rng.uniform(-0.3, 0.3, size=z.shape[1]) + scale_offset - scale_offset.mean(),
            jacobian=jacobian,
            alpha=jacobian @ np.linalg.lstsq(jacobian, alpha, rcond=None)[0],
            beta=np.asarray(rng.uniform(-0.5, 0.5, size=X.shape[1])),
            link=link,
            problem=problem,
        )

    @property
    def n_parameters(self) -> int:
        return self.problem.n_parameters

    def derivatives(self, rows: IntArray, thresholds: IntArray) -> FloatArray:
        """(rows x thresholds, P') derivatives, each line divided by the size of its u_k."""
        X, w, z = self.X[rows], self.nominal[rows], self.scale[rows]
        s = np.exp(-self.log_scale[rows])[:, None]
        u = s * (w @ self.alpha[thresholds].T - (X @ self.beta + self.offset[rows])[:, None])
        lines, t = u.shape, self.jacobian.shape[1]
        alpha = np.einsum("nj,kt->nkjt", s * w, self.jacobian[thresholds]).reshape(*lines, w.shape[1] * t)
        parts = [alpha, np.broadcast_to(-(s * X)[:, None], (*lines, X.shape[1])), -u[:, :, None] * z[:, None]]
        if self.problem.family is not None:
            by_lambda = lambda_slope(self.problem.family, float(self.link.lam or 0.0), lambda link: link.cdf(u))
            density = self.link.pdf(u)
            parts.append(np.where(density > 0.0, by_lambda / np.maximum(density, 1e-300), 0.0)[:, :, None])
        lined = np.concatenate(parts, axis=2) / (s + np.abs(u))[:, :, None]
        return np.asarray(lined.reshape(u.size, -1))

    def triangle(self, rows: IntArray, thresholds: IntArray) -> FloatArray:
        """R of the QR decomposition of the derivatives, a part of the rows at a time."""
        step = max(1, _BUFFER // (thresholds.size * self.n_parameters))
        found = np.zeros((0, self.n_parameters))
        for start in range(0, rows.size, step):
            block = self.derivatives(rows[start : start + step], thresholds)
            found = np.asarray(np.linalg.qr(np.vstack([found, block]), mode="r"))
        return found


def confounded(problem: Problem) -> list[Confounded]:
    """The log-scale effects, and lambda, that depend on the parameters before them.

    Their places are among the parameters whose columns are independent.
    """
    n_last = int(problem.scale.kept.sum()) + int(problem.family is not None)
    if not n_last:
        return []
    predictors = _Predictors.of(problem)
    rows, thresholds = np.arange(problem.sample.n), np.arange(problem.counts.size - 1)
    few = rows[:: max(1, rows.size // _ROWS)], thresholds[:: max(1, thresholds.size // _THRESHOLDS)]
    found = _dependent(predictors.triangle(*few), n_last)
    if not found or (few[0].size == rows.size and few[1].size == thresholds.size):
        return found
    return _dependent(predictors.triangle(rows, thresholds), n_last)


def _dependent(R: FloatArray, n_last: int) -> list[Confounded]:
    """Which of the last columns of R are combinations of those before them that are kept."""
    size = np.linalg.norm(R, axis=0)
    columns = R / np.where(size > 0.0, size, 1.0)
    kept, found = list(range(R.shape[1] - n_last)), []
    for place in range(R.shape[1] - n_last, R.shape[1]):
        if size[place] == 0.0:
            found.append(Confounded(place, np.zeros(0, dtype=np.intp)))
            continue
        basis, column = columns[:, kept], columns[:, place]
        solution = np.linalg.lstsq(basis, column, rcond=1e-13)[0]
        if np.linalg.norm(column - basis @ solution) > TOLERANCE:
            kept.append(place)
            continue
        parts = np.abs(solution)
        found.append(Confounded(place, np.array(kept, dtype=np.intp)[parts > _PART * parts.max()]))
    return found
