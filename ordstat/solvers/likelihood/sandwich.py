"""Sums of outer products of score rows, for sandwich covariances; a chunk of rows at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._typing import FloatArray, IntArray
from .flexible import lambda_slope
from .problem import Problem
from .rows import PartsRows, stretch

#: Doubles held at once for the score rows of a chunk.
_BUFFER = 1 << 20


def score_products(problem: Problem, estimates: FloatArray) -> FloatArray:
    """(P', P') sum of U U' over clusters, or over rows (v U U' for a row of weight v) where there are none.

    Parameters
    ----------
    problem : Problem
    estimates : (P',) on the user's scale, in the order of `LikelihoodFit.coefficients` without the aliased
    """
    if problem.family is not None:
        problem = replace(problem, link=problem.family.at(float(estimates[-1])))
    sample = problem.sample
    rows = _user_rows(problem)
    order = np.arange(sample.n) if sample.cluster is None else np.argsort(sample.cluster, kind="stable")
    total = np.zeros((estimates.size, estimates.size))
    pending = _Pending(np.zeros(estimates.size), -1)
    step = max(1, _BUFFER // estimates.size)
    for start in range(0, sample.n, step):
        index = order[start : start + step]
        scores, weights = _scores(rows, index, problem, estimates), rows.weights[index]
        if sample.cluster is None:
            total += (scores * weights[:, None]).T @ scores
        else:
            pending = _add_clusters(total, scores * weights[:, None], sample.cluster[index], pending)
    return total + np.outer(pending.score, pending.score)


class _Pending:
    """The cluster cut by the end of a chunk: its score so far and its code."""

    def __init__(self, score: FloatArray, code: int) -> None:
        self.score, self.code = score, code


def _add_clusters(total: FloatArray, scores: FloatArray, codes: IntArray, pending: _Pending) -> _Pending:
    """Add the clusters that end in this chunk to `total`; the last one is handed on."""
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    groups = np.add.reduceat(scores, starts, axis=0)
    if codes[0] == pending.code:
        groups[0] += pending.score
    else:
        total += np.outer(pending.score, pending.score)
    total += groups[:-1].T @ groups[:-1]
    return _Pending(groups[-1], int(codes[-1]))


def _user_rows(problem: Problem) -> PartsRows:
    """The rows on the user's own columns, in their own order."""
    sample, n = problem.sample, problem.sample.n
    rows, zero = sample.rows, np.zeros(n)
    ones = np.ones((n, 1))
    return PartsRows(
        X=rows.X,
        nominal=ones if rows.nominal is None else np.hstack([ones, rows.nominal]),
        scale=np.zeros((n, 0)) if rows.scale is None else rows.scale,
        y=sample.y,
        weights=sample.case_weights,
        offset=zero if rows.offset is None else rows.offset,
        scale_offset=zero if rows.scale_offset is None else rows.scale_offset,
        n_levels=sample.n_levels,
        link=problem.link,
    )


def _scores(rows: PartsRows, index: IntArray, problem: Problem, estimates: FloatArray) -> FloatArray:
    """(n, P') derivatives of the rows' log-probabilities, weights not multiplied in."""
    K, m, p, r = rows.n_levels, rows.nominal.shape[1], rows.X.shape[1], rows.scale.shape[1]
    jacobian = np.eye(K - 1) if problem.structure is None else problem.structure.jacobian
    t = jacobian.shape[1]
    alpha, rest = jacobian @ estimates[: t * m].reshape(m, t).T, estimates[t * m :]
    chunk = rows.take(index)
    s, u, lo, d = chunk.ends(slice(None), alpha, rest[: p + r])
    q = rows.link.interval(u, lo, d)
    out = np.zeros((index.size, estimates.size))
    # a row's thresholds move with the parameters as the rows of the Jacobian; infinite ends do not
    upper = np.vstack([jacobian, np.zeros(t)])[chunk.y] * (s * q.a)[:, None]
    lower = np.vstack([np.zeros(t), jacobian])[chunk.y] * (s * q.b)[:, None]
    for column in range(m):
        out[:, column * t : (column + 1) * t] = chunk.nominal[:, column, None] * (upper - lower)
    out[:, t * m : t * m + p] = chunk.X * -(s * q.c)[:, None]
    out[:, t * m + p : t * m + p + r] = chunk.scale * -stretch(q, u, lo, d)[:, None]
    if problem.family is not None:
        out[:, -1] = lambda_slope(problem.family, float(rest[-1]), lambda link: link.log_interval(u, lo, d))
    return out
