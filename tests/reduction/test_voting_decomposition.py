"""Costs as weights of binary problems and of labels, against hand work, algebra and
brute force.
"""

from itertools import combinations, product

import numpy as np
import pytest
from seams import CostMatrix

from ordstat.fit import most_votes
from ordstat.reduction import voting
from ordstat.reduction.learners import Binary

from .problems import any_costs

N = 40
K = 4
PAIRS = list(combinations(range(K), 2))


def test_the_example_of_the_thesis():
    """c = (0, 1, 1, 334) of a row of level 1 [Lin 2008, sec. 2.2 and 2.3]."""
    costs = np.array([[0.0, 1.0, 1.0, 334.0]])
    y = np.array([0])
    assert voting.label_weights(costs).tolist() == [[334, 333, 333, 0]]
    assert voting.support_weights(costs, y).tolist() == [[334, 1, 1, 334]]
    first = voting.against_each_other(costs, np.ones(1))[0]
    assert (first.index.tolist(), first.labels.tolist(), first.weights.tolist()) == (
        [0],
        [-1.0],
        [1.0],
    )


def test_label_weights_turn_cost_into_error():
    """Theorem 2.4 on a sample: the cost of any classifier is Lambda_1 times its
    weighted error, less Lambda_2.
    """
    costs = any_costs(N, K)
    q = voting.label_weights(costs)
    assert (q >= 0).all()
    assert (q.min(axis=1) == 0).all()
    codes = np.random.default_rng(1).integers(0, K, N)
    wrong = q.sum(axis=1) - q[np.arange(N), codes]
    delta = costs.max(axis=1) - costs.sum(axis=1) / (K - 1)
    lambda_1 = q.sum() / N
    lambda_2 = (K - 1) * delta.mean()
    np.testing.assert_allclose(
        costs[np.arange(N), codes].mean(),
        lambda_1 * (wrong.sum() / q.sum()) - lambda_2,
        rtol=1e-12,
    )


def test_support_weights_are_eq_2_5():
    costs = any_costs(N, K)
    y = np.arange(N) % K
    expected = np.empty((N, K))
    for n in range(N):
        q = costs[n].max() - costs[n]
        support = q / q.max() if q.max() > 0 else np.zeros(K)
        for k in range(K):
            expected[n, k] = q.max() * (support[k] if y[n] == k else 1.0 - support[k])
    np.testing.assert_allclose(voting.support_weights(costs, y), expected, atol=1e-12)


def test_all_pairs_weights_are_the_integrals_of_eq_2_7():
    costs = any_costs(N, K)
    potential = voting.all_pairs_potential(costs)
    for n in range(N):
        for i, j in PAIRS:
            low, high = sorted((costs[n, i], costs[n, j]))
            # Costs are multiples of 1/2, so the integrand is constant between these
            # nodes.
            nodes = np.arange(low, high, 0.5) + 0.25
            integral = sum(0.5 / np.count_nonzero(costs[n] <= t) for t in nodes)
            assert abs(potential[n, i] - potential[n, j]) == pytest.approx(
                integral, abs=1e-12
            )


@pytest.mark.parametrize(
    "potential",
    [lambda c: c, voting.all_pairs_potential],
    ids=["difference", "all-pairs"],
)
def test_classification_costs_give_the_plain_methods(potential):
    y = np.arange(N) % K
    w = np.arange(N) + 1.0
    costs = CostMatrix.classification().rows(y, K)
    for k, problem in enumerate(voting.against_the_rest(costs, y, w)):
        assert problem.index.tolist() == list(range(N))
        assert (problem.labels == np.where(y == k, 1, -1)).all()
        assert (problem.weights == w).all()
    for (i, j), problem in zip(
        PAIRS, voting.against_each_other(potential(costs), w), strict=True
    ):
        rows = np.flatnonzero((y == i) | (y == j))
        assert problem.index.tolist() == rows.tolist()
        assert (problem.labels == np.where(y[rows] == j, 1, -1)).all()
        np.testing.assert_allclose(problem.weights, w[rows], rtol=1e-12)


def test_pairs_follow_the_cheaper_level():
    costs = any_costs(N, K)
    w = np.arange(N) % 3 + 0.5
    for (i, j), problem in zip(PAIRS, voting.against_each_other(costs, w), strict=True):
        rows = [n for n in range(N) if costs[n, i] != costs[n, j]]
        assert problem.index.tolist() == rows
        assert (
            problem.labels == [1 if costs[n, j] < costs[n, i] else -1 for n in rows]
        ).all()
        np.testing.assert_allclose(
            problem.weights, [w[n] * abs(costs[n, i] - costs[n, j]) for n in rows]
        )


def test_labelled_pairs_hold_each_label_once():
    weights = any_costs(N, K)
    for (i, j), problem in zip(PAIRS, voting.labelled_pairs(weights), strict=True):
        examples = {
            (int(n), s): w
            for n, s, w in zip(
                problem.index, problem.labels, problem.weights, strict=True
            )
        }
        expected = {
            (n, s): weights[n, k]
            for n in range(N)
            for s, k in ((-1.0, i), (1.0, j))
            if weights[n, k] > 0
        }
        assert examples == expected


def test_the_loss_of_a_problem():
    problem = Binary.of(
        np.array([0, 1, 1, 2]),
        np.array([1.0, -1.0, 1.0, 1.0]),
        np.array([1.0, 2.0, 4.0, 0.0]),
    )
    assert problem.loss(np.array([0.5, -1.0, 0.0])) == 4.0
    assert problem.loss(np.array([0.0, 1.0, 0.0])) == 3.0
    assert problem.among(np.array([False, True, True])).index.tolist() == [1, 1]


@pytest.mark.parametrize(
    "potential",
    [lambda c: c, voting.all_pairs_potential],
    ids=["difference", "all-pairs"],
)
def test_theorem_2_7_over_all_tournaments(potential):
    """Every outcome of the six pairs of four levels, every row of costs: the bound
    holds, and needs its factor 2.
    """
    outcomes = np.array(list(product([-1.0, 1.0], repeat=6)))
    codes = most_votes(voting.pair_votes(outcomes, K))
    costs = any_costs(200, K, seed=3)
    weights = potential(costs)
    ratios = []
    for c, w in zip(costs, weights, strict=True):
        wrong = np.zeros(len(outcomes))
        for p, (i, j) in enumerate(PAIRS):
            wrong += np.abs(w[i] - w[j]) * (
                np.where(outcomes[:, p] > 0, c[j] > c[i], c[i] > c[j])
            )
        above = c[codes] - c.min()
        assert (above <= 2.0 * wrong + 1e-12).all()
        ratios.append(np.max(above[wrong > 0] / wrong[wrong > 0], initial=0.0))
    assert max(ratios) > (1.0 if potential is voting.all_pairs_potential else 0.99)


def test_votes_of_pairs():
    scores = np.random.default_rng(0).standard_normal((20, 6))
    scores[0] = 0.0
    votes = voting.pair_votes(scores, K)
    for n in range(20):
        winners = [j if scores[n, p] > 0 else i for p, (i, j) in enumerate(PAIRS)]
        assert votes[n].tolist() == np.bincount(winners, minlength=K).tolist()
    assert votes[0].tolist() == [3, 2, 1, 0]


# Random labels


def test_labels_are_drawn_in_proportion():
    """20000 draws of each row: shares within 5 standard errors of q / max sum q."""
    costs = np.array(
        [[0.0, 1.0, 1.0, 334.0], [3.0, 0.0, 1.0, 2.0], [2.0, 2.0, 2.0, 2.0]]
    )
    m = 20_000
    counts = voting.drawn_labels(
        np.arange(3.0)[:, None], costs, np.full(3, float(m)), np.random.default_rng(0)
    )
    q = costs.max(axis=1, keepdims=True) - costs
    share = q / q.sum(axis=1).max()
    assert (np.abs(counts / m - share) <= 5.0 * np.sqrt(share * (1 - share) / m)).all()
    assert (counts[2] == 0).all()


def test_draws_depend_on_the_rows_alone():
    X = np.random.default_rng(1).standard_normal((N, 2))
    costs = any_costs(N, K)
    weights = np.arange(N) % 4.0
    drawn = voting.drawn_labels(X, costs, weights, np.random.default_rng(5))
    assert 0 < drawn.sum() < weights.sum()
    assert (drawn[weights == 0] == 0).all()
    mixed = np.random.default_rng(2).permutation(N)
    shuffled = voting.drawn_labels(
        X[mixed], costs[mixed], weights[mixed], np.random.default_rng(5)
    )
    np.testing.assert_array_equal(shuffled, drawn[mixed])
    repeats = np.repeat(np.arange(N), weights.astype(int))
    repeated = voting.drawn_labels(
        X[repeats], costs[repeats], np.ones(repeats.size), np.random.default_rng(5)
    )
    back = np.zeros_like(drawn)
    np.add.at(back, repeats, repeated)
    np.testing.assert_array_equal(back, drawn)


def test_a_fraction_of_a_row_is_drawn_as_often():
    X = np.arange(4000.0)[:, None]
    costs = np.tile([0.0, 1.0], (4000, 1))
    drawn = voting.drawn_labels(
        X, costs, np.full(4000, 0.25), np.random.default_rng(0)
    ).sum()
    assert abs(drawn - 1000) < 5 * np.sqrt(4000 * 0.25 * 0.75)
