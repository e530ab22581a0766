"""Which log-scale effects, or lambda, the cell probabilities of a model cannot tell from its other parameters.

The probabilities of a row are functions of eta_k = s (theta_k(w) - H), one to one: parameters are determined iff the
derivatives of all eta_k of all rows (of the eta that give the same probabilities, where lambda moves the link) by them
are linearly independent at a point in general position, for which effects drawn at random serve. Without log-scale
effects and lambda that is the independence of the columns, which `column_rank.py` sees to. Rows and thresholds are
taken in parts, as they can only add to the rank: a few that show it full are enough. As with columns, what depends on
the parameters before it is the one not estimated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import FloatArray, IntArray
from ...model.likelihood.family import Family
from ...model.likelihood.lambda_terms import lambda_slope
from ...model.likelihood.predictor import ModelRows
from ...model.likelihood_fit import Confounded
from ...model.row_blocks import row_blocks
from .column_rank import TOLERANCE
from .problem import Problem

#: Rows and thresholds that usually show the rank.
_ROWS, _THRESHOLDS = 250, 4
#: Doubles of derivatives held at once.
_BUFFER = 1 << 20
#: Components of a dependence below this share of the largest are rounding.
_PART = 1e-6


@dataclass(frozen=True, eq=False)
class _Predictors:
    """The eta_k of a problem's rows at some point, and their derivatives.

    Columns are moved by `x_shift` and `z_shift`, log scales by `tau_shift`.
    """

    rows: ModelRows
    x_shift: FloatArray
    z_shift: FloatArray
    tau_shift: float
    jacobian: FloatArray
    alpha: FloatArray
    beta: FloatArray
    zeta: FloatArray
    family: Family
    problem: Problem

    @classmethod
    def of(cls, problem: Problem) -> _Predictors:
        """At effects drawn at random."""
        rows, sample, rng = problem.term_rows.rows, problem.sample.rows, np.random.default_rng(20)
        structure, family, K = problem.structure, problem.family, problem.counts.size
        location, scale = (part.part(part.kept) for part in (problem.location, problem.scale))
        x_mean, z_mean = location.mean / location.deviation, scale.mean / scale.deviation
        jacobian = np.eye(K - 1) if structure is None else structure.jacobian
        alpha = np.zeros((K - 1, rows.w.shape[1]))
        alpha[:, 0] = family.start(problem.counts / problem.counts.sum())
        alpha[:, 1:] = rng.uniform(-0.3, 0.3, size=(K - 1, rows.w.shape[1] - 1))
        zeta = np.asarray(rng.uniform(-0.3, 0.3, size=z_mean.size))
        if problem.flexible is not None:
            family = family.at(problem.flexible.at(problem.flexible.start + 0.3))
        return cls(
            rows=rows,
            # no threshold takes in the centring where none is free to move
            x_shift=x_mean if structure is not None and structure.intercept is None else np.zeros(x_mean.size),
            # without an offset the model with centred columns is the same
            z_shift=-z_mean if sample.offset is None else np.zeros(z_mean.size),
            tau_shift=-float(rows.scale_offset.mean() + (0.0 if sample.offset is None else z_mean @ zeta)),
            jacobian=jacobian,
            alpha=jacobian @ np.linalg.lstsq(jacobian, alpha, rcond=None)[0],
            beta=np.asarray(rng.uniform(-0.5, 0.5, size=x_mean.size)),
            zeta=zeta,
            family=family,
            problem=problem,
        )

    @property
    def n_parameters(self) -> int:
        return self.problem.n_parameters

    def derivatives(self, rows: IntArray, thresholds: IntArray) -> FloatArray:
        """(rows x thresholds, P') derivatives, each line divided by the size of its eta_k."""
        some, flexible = self._moved(rows), self.problem.flexible
        predictor = some.at(self.alpha[thresholds], self.beta, self.zeta)
        s, eta = predictor.s[:, None], predictor.eta()
        lines, t = eta.shape, self.jacobian.shape[1]
        alpha = np.einsum("nj,kt->nkjt", s * some.w, self.jacobian[thresholds]).reshape(*lines, some.w.shape[1] * t)
        parts = [
            alpha,
            np.broadcast_to(-(s * some.x)[:, None], (*lines, some.x.shape[1])),
            -eta[:, :, None] * some.z[:, None],
        ]
        if flexible is not None:
            lam = float(self.family.link.lam or 0.0)
            by_lambda = lambda_slope(flexible, lam, lambda link: self.family.at(link).cut(eta))
            density = self.family.cut_slope(eta)
            parts.append(np.where(density > 0.0, by_lambda / np.maximum(density, 1e-300), 0.0)[:, :, None])
        lined = np.concatenate(parts, axis=2) / (s + np.abs(eta))[:, :, None]
        return np.asarray(lined.reshape(eta.size, -1))

    def _moved(self, rows: IntArray) -> ModelRows:
        """Some of the rows, their columns moved."""
        some = self.rows.take(rows)
        x, z, scale_offset = some.x + self.x_shift, some.z + self.z_shift, some.scale_offset + self.tau_shift
        return replace(some, x=x, z=z, scale_offset=scale_offset)

    def triangle(self, rows: IntArray, thresholds: IntArray) -> FloatArray:
        """R of the QR decomposition of the derivatives, a part of the rows at a time."""
        found = np.zeros((0, self.n_parameters))
        for some in row_blocks(rows.size, thresholds.size * self.n_parameters, _BUFFER):
            block = self.derivatives(rows[some], thresholds)
            found = np.asarray(np.linalg.qr(np.vstack([found, block]), mode="r"))
        return found


def identified(problem: Problem) -> Problem:
    """The problem without parameters that its cell probabilities do not determine."""
    lost = confounded(problem)
    return problem.without(lost) if lost else problem


def confounded(problem: Problem) -> list[Confounded]:
    """The log-scale effects, and lambda, that depend on the parameters before them.

    Their places are among the parameters whose columns are independent.
    """
    n_last = int(problem.scale.kept.sum()) + int(problem.flexible is not None)
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
