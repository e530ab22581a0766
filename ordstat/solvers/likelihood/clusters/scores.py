"""Score sums of clusters and the expected information at any values of the parameters, for score tests of them."""

from __future__ import annotations

import numpy as np

from ...._typing import FloatArray, IntArray
from ....model.row_blocks import row_blocks
from ..problem import Problem
from ..sandwich import row_scores


def cluster_scores(problem: Problem, values: FloatArray, cluster: IntArray) -> FloatArray:
    """(G, P') scores at `values` (P',) on the user's scale, summed over the rows of each cluster.

    Parameters
    ----------
    problem : Problem
    values : (P',)
    cluster : (N,) codes, for all rows of the fit
    """
    codes, scores_of = _codes(problem, cluster), row_scores(problem, values)
    found, weights = np.zeros((int(codes.max()) + 1, values.size)), problem.sample.case_weights
    every = np.arange(codes.size)
    for some in row_blocks(codes.size, values.size):
        np.add.at(found, codes[some], scores_of(every[some])[1] * weights[some, None])
    return found


def cluster_information(problem: Problem, values: FloatArray, cluster: IntArray) -> FloatArray:
    """(G, P', P') sum over a cluster's rows and levels of v p_k U_k U_k', with the score U_k of a row at level k."""
    codes = _codes(problem, cluster)
    total = np.zeros((int(codes.max()) + 1, values.size, values.size))
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    for level in range(problem.sample.n_levels):
        scores_of = row_scores(problem, values, level)
        for g, index in enumerate(members):
            log_p, scores = scores_of(index)
            scores = np.where(np.isfinite(log_p)[:, None], scores, 0.0)
            total[g] += (scores * (problem.sample.case_weights[index] * np.exp(log_p))[:, None]).T @ scores
    return total


def _codes(problem: Problem, cluster: IntArray) -> IntArray:
    """(N',) numbers 0..G-1 of the clusters of the rows used."""
    used = cluster if problem.used is None else cluster[problem.used]
    return np.asarray(np.unique(used, return_inverse=True)[1], dtype=np.intp)
