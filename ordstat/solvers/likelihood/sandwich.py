"""Sums of outer products of score rows, for sandwich covariances; a chunk of rows at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import block_diag

from ..._typing import FloatArray, IntArray
from ...model.likelihood.family import RowTerms
from ...model.likelihood.predictor import Jacobian, ModelRows
from ...model.row_blocks import row_blocks
from .problem import Problem
from .rows import ObservedRows

#: Doubles held at once for the score rows of a chunk.
_BUFFER = 1 << 20
#: And for the sums over groups, which stay in the cache.
_CHUNK = 1 << 17


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
    scores_of = row_scores(problem, estimates)
    order = np.arange(sample.n) if codes is None else np.argsort(codes, kind="stable")
    total = np.zeros((estimates.size, estimates.size))
    # The score so far and the code of the cluster that the end of a chunk has cut.
    pending, last = np.zeros(estimates.size), -1
    for some in row_blocks(sample.n, estimates.size, _BUFFER):
        index = order[some]
        scores, weights = scores_of(index)[1], sample.case_weights[index]
        if codes is None:
            total += (scores * weights[:, None]).T @ scores
            continue
        own = codes[index]
        starts = np.flatnonzero(np.diff(own, prepend=-1))
        sums = np.add.reduceat(scores * weights[:, None], starts, axis=0)
        if own[0] == last:
            sums[0] += pending
        else:
            total += np.outer(pending, pending)
        total += sums[:-1].T @ sums[:-1]
        pending, last = sums[-1], int(own[-1])
    return total + np.outer(pending, pending)


def score_totals(problem: Problem, estimates: FloatArray, codes: IntArray, n_groups: int) -> FloatArray:
    """(G, P') weighted scores summed over the rows of each code 0..G-1; 0 where a code has no row.

    Parameters
    ----------
    problem : Problem
    estimates : (P',)
        As in `score_products`.
    codes : (N,)
        For all rows of the fit, those of weight 0 among them.
    n_groups : int
        G.
    """
    sample = problem.sample
    codes = codes if problem.used is None else codes[problem.used]
    found = problem.group_scores(estimates, codes, n_groups)
    if found is not None:
        return found
    terms_of, weights = _score_terms(problem, estimates), sample.case_weights
    total = np.zeros((n_groups, estimates.size))
    for some in row_blocks(sample.n, estimates.size, max(_CHUNK, total.size)):
        jacobian, terms = terms_of(some)
        total += jacobian.totals(terms.score * weights[some], codes[some], n_groups)
    return total


def row_scores(
    problem: Problem, estimates: FloatArray, level: int | None = None
) -> Callable[[IntArray], tuple[FloatArray, FloatArray]]:
    """From places (n,) to the rows' log-probabilities and their derivatives (n, P') on the user's own columns.

    Of the levels observed, or of one `level` at all rows.
    """
    terms_of = _score_terms(problem, estimates, level)

    def scores(index: IntArray) -> tuple[FloatArray, FloatArray]:
        jacobian, terms = terms_of(index)
        return terms.log_p, jacobian.transposed(terms.score)

    return scores


def _score_terms(
    problem: Problem, estimates: FloatArray, level: int | None = None
) -> Callable[[IntArray | slice], tuple[Jacobian, RowTerms]]:
    """From some rows to the derivatives of their predictors by the parameters, and their terms."""
    sample, n_lambda = problem.sample, int(problem.flexible is not None)
    columns, n_levels = ModelRows.of(sample.rows), sample.n_levels
    y = sample.y if level is None else np.full_like(sample.y, level)
    rows = ObservedRows(rows=columns, y=y, family=problem.family, flexible=problem.flexible)
    m, structure = columns.w.shape[1], None
    jacobian = np.eye(n_levels - 1) if problem.structure is None else problem.structure.jacobian
    t = jacobian.shape[1]
    alpha, rest = jacobian @ estimates[: t * m].reshape(m, t).T, estimates[t * m :]
    if problem.structure is not None:
        structure = block_diag(np.kron(np.eye(m), jacobian), np.eye(rest.size))

    def terms_of(some: IntArray | slice) -> tuple[Jacobian, RowTerms]:
        part = rows.take(some)
        terms = part.terms(alpha, rest, second=False)
        assert terms is not None
        return Jacobian(part.rows, terms.places, len(alpha), structure, n_lambda), terms

    return terms_of
