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
    codes = np.unique(cluster if problem.used is None else cluster[problem.used], return_inverse=True)[1]
    found, scores_of = np.zeros((int(codes.max()) + 1, values.size)), row_scores(problem, values)
    for index, weights in _blocks(problem, values.size):
        np.add.at(found, codes[index], scores_of(index)[1] * weights[:, None])
    return found


def expected_information(problem: Problem, values: FloatArray) -> FloatArray:
    """(P', P') sum over rows and levels of v p_k U_k U_k', with the score U_k of a row at level k."""
    total = np.zeros((values.size, values.size))
    for level in range(problem.sample.n_levels):
        scores_of = row_scores(problem, values, level)
        for index, weights in _blocks(problem, values.size):
            log_p, scores = scores_of(index)
            scores = np.where(np.isfinite(log_p)[:, None], scores, 0.0)
            total += (scores * (weights * np.exp(log_p))[:, None]).T @ scores
    return total


def _blocks(problem: Problem, width: int) -> list[tuple[IntArray, FloatArray]]:
    """Places of rows, some at a time, and their weights."""
    every, weights = np.arange(problem.sample.n), problem.sample.case_weights
    return [(every[some], weights[some]) for some in row_blocks(every.size, width)]
