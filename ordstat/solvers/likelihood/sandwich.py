"""Sums of outer products of score rows, for sandwich covariances; a chunk of rows at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from ..._typing import FloatArray, IntArray
from ...model.likelihood.predictor import Jacobian, ModelRows
from ...model.row_blocks import row_blocks
from .problem import Problem
from .rows import ObservedRows

#: Doubles held at once for the score rows of a chunk.
_BUFFER = 1 << 20


def score_products(problem: Problem, estimates: FloatArray, cluster: IntArray | None = None) -> FloatArray:
    """(P', P') sum of U U' over clusters, or over rows (v U U' for a row of weight v) where there are none.

    Parameters
    ----------
    problem : Problem
    estimates : (P',) on the user's scale, in the order of `LikelihoodFit.coefficients` without the aliased
    cluster : (N,) codes or None
        For all rows of the fit, those of weight 0 among them.
    """
    sample = problem.sample
    codes = None if cluster is None else cluster if problem.used is None else cluster[problem.used]
    terms_of = _ScoreRows.of(problem, estimates)
    order = np.arange(sample.n) if codes is None else np.argsort(codes, kind="stable")
    total = np.zeros((estimates.size, estimates.size))
    pending = _Pending(np.zeros(estimates.size), -1)
    for some in row_blocks(sample.n, estimates.size, _BUFFER):
        index = order[some]
        scores, weights = terms_of.scores(index), sample.case_weights[index]
        if codes is None:
            total += (scores * weights[:, None]).T @ scores
        else:
            pending = _add_clusters(total, scores * weights[:, None], codes[index], pending)
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


@dataclass(frozen=True, eq=False)
class _ScoreRows:
    """The rows on the user's own columns, in their own order, at estimates."""

    rows: ObservedRows
    alpha: FloatArray
    rest: FloatArray
    structure: FloatArray | None

    @classmethod
    def of(cls, problem: Problem, estimates: FloatArray) -> _ScoreRows:
        sample = problem.sample
        own = ModelRows.of(sample.rows)
        rows = ObservedRows(rows=own, y=sample.y, family=problem.family, flexible=problem.flexible)
        m, jacobian = rows.rows.w.shape[1], None if problem.structure is None else problem.structure.jacobian
        t = sample.n_levels - 1 if jacobian is None else jacobian.shape[1]
        alpha, rest = estimates[: t * m].reshape(m, t).T, estimates[t * m :]
        if jacobian is None:
            return cls(rows, alpha, rest, None)
        structure = block_diag(np.kron(np.eye(m), jacobian), np.eye(rest.size))
        return cls(rows, jacobian @ alpha, rest, structure)

    def scores(self, index: IntArray) -> FloatArray:
        """(n, P') derivatives of the rows' log-probabilities, weights not multiplied in."""
        part = self.rows.take(index)
        terms = part.terms(self.alpha, self.rest, second=False)
        assert terms is not None
        n_lambda = int(part.flexible is not None)
        return Jacobian(part.rows, terms.places, len(self.alpha), self.structure, n_lambda).transposed(terms.score)
