"""The second stage of the aggregation against loops and exact fractions, and real
AdaBoost's functions.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from ordstat.trees.ensembles import (
    LogRatios,
    SplitVotes,
    below,
    inverse_log_ratios,
    share_scores,
    shares,
    split_scores,
)
from ordstat.trees.tree import Forest

from . import naive


def _leaves(shares):
    """A forest of leaves with these shares of the classes."""
    nothing = np.zeros(0)
    return Forest(
        roots=nothing,
        column=nothing,
        cut=nothing,
        child=nothing,
        shares=shares,
        labels=nothing,
    )


def _exact(above):
    """Scores of the rule (2) as fractions."""
    k = len(above) + 1
    sides = [
        (range(1, r + 1) if a == 0 else range(r + 1, k + 1))
        for r, a in enumerate(above, 1)
    ]
    return [
        sum(Fraction(1, len(side)) for side in sides if j in side)
        for j in range(1, k + 1)
    ]


@pytest.mark.parametrize("K", [2, 3, 4, 7, 11])
def test_scores_of_splits(K):
    """All answers there are: the same scores, and the first of exactly equal ones."""
    answers = np.array(list(itertools.product([0, 1], repeat=K - 1)))
    scores = split_scores(answers.astype(float))
    exact = [_exact(list(row)) for row in answers]
    np.testing.assert_allclose(scores, np.array(exact, dtype=float), rtol=1e-14)
    assert np.argmax(scores, axis=1).tolist() == [row.index(max(row)) for row in exact]


def test_answers_in_agreement_give_their_rank():
    for K in (2, 3, 5, 10):
        y = np.arange(K)
        assert (
            np.argmax(split_scores(below(y, K).T.astype(float)), axis=1).tolist()
            == y.tolist()
        )


def test_scores_by_prediction_votes():
    rng = np.random.default_rng(0)
    votes = rng.random((40, 2, 5))
    above = (votes[:, 1] > votes[:, 0]).astype(int)
    pv = votes.max(axis=1) / votes.sum(axis=1)
    plain, weighted = (
        SplitVotes(n_levels=6, combination=name).tally(votes)
        for name in ("plain", "votes")
    )
    np.testing.assert_allclose(
        weighted,
        [naive.rule_2(list(a), list(v)) for a, v in zip(above, pv, strict=True)],
    )
    np.testing.assert_allclose(plain, [naive.rule_2(list(a)) for a in above])


def test_shares_are_summed_over_splits():
    above = np.random.default_rng(1).random((30, 4))
    np.testing.assert_allclose(
        share_scores(above), [naive.equation_6(list(1 - row)) for row in above]
    )


@pytest.mark.parametrize("K", [2, 3, 6])
@pytest.mark.parametrize(
    ("by_distance", "f"), [(False, naive.f_misclassification), (True, naive.f_distance)]
)
def test_functions_of_real_adaboost(K, by_distance, f):
    above = np.random.default_rng(2).random((20, K - 1))
    forest = _leaves(np.stack([1 - above.ravel(), above.ravel()], axis=1))
    leaves = np.arange(above.size).reshape(above.shape)
    kind = LogRatios(
        n_levels=K, smoothing=0.05, of_splits=True, by_distance=by_distance
    )
    answers = kind.answers(forest, leaves)
    np.testing.assert_allclose(
        answers,
        [f([s + 0.05 for s in naive.equation_6(list(1 - row))]) for row in above],
    )


def test_probabilities_and_their_functions_are_inverse():
    p = np.random.default_rng(3).dirichlet(np.ones(5), size=20)
    forest = _leaves(p)
    f = LogRatios(n_levels=5, smoothing=0.0).answers(forest, np.arange(20)[:, None])
    np.testing.assert_allclose(inverse_log_ratios(f), p, rtol=1e-12)
    two = inverse_log_ratios(np.array([[0.7, -0.7]]))
    # Friedman, Hastie & Tibshirani 2000, eq. 3
    np.testing.assert_allclose(two[0, 0], 1 / (1 + np.exp(-1.4)))


def test_shares_of_no_votes_are_all_alike():
    assert shares(np.array([[0.0, 0.0], [1.0, 3.0]])).tolist() == [
        [0.5, 0.5],
        [0.25, 0.75],
    ]
