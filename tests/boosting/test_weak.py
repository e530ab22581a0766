"""Weak learners against every hypothesis there is."""

import itertools

import numpy as np
import pytest
from expected import refused
from seams import Rows, Sample

from ordstat import (
    DecisionStump,
    NormalisedSigmoid,
    OptionError,
    ORStump,
    RCDPerceptron,
)
from ordstat.boosting.learner import WEAK, parse_learner
from ordstat.boosting.orstump import RankStumpTrainer
from ordstat.boosting.sums import MemberSum, StumpSum
from ordstat.reduction.encoding import answers

from .problems import COSTS, costs, sample

# Sums of a few dozen numbers.
CLOSE = 1e-9


def _cuts(column):
    values = np.unique(column)
    return [values[0] - 1.0, *((values[1:] + values[:-1]) / 2), values[-1] + 1.0]


@pytest.mark.parametrize("seed", range(10))
def test_a_stump_is_the_best_over_all_cuts(seed):
    X = sample(seed, n=15).X
    rng = np.random.default_rng(seed)
    u = rng.normal(size=15)
    weak = DecisionStump().on(X, np.ones(15)).best(u, rng)
    best = max(
        abs(u @ np.where(X[:, d] > cut, 1, -1))
        for d in range(3)
        for cut in _cuts(X[:, d])
    )
    assert u @ weak.values == pytest.approx(best, abs=CLOSE)


@pytest.mark.parametrize("seed", range(6))
def test_a_ranking_stump_is_the_best_over_all_ordered_cuts(seed):
    """As the rounds of AdaBoost.OR ask for it, under steps of any sign."""
    X = sample(seed, n=9, width=2).X
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(9, 2))
    weak = RankStumpTrainer.on(X, 3).best(u, rng)
    best = -np.inf
    for d, q in itertools.product(range(2), (1, -1)):
        for theta in itertools.combinations_with_replacement(
            sorted(q * c for c in _cuts(X[:, d])), 2
        ):
            best = max(
                best, (u * answers((q * X[:, d][:, None] > theta).sum(axis=1), 3)).sum()
            )
    # ties within 1e-9 of all costs go to wide gaps
    assert (u * weak.values).sum() == pytest.approx(best, abs=1e-6)
    votes = RankStumpTrainer.on(X, 3).combine([weak.member], np.ones(1))
    np.testing.assert_array_equal(votes(Rows(X=X)), weak.values)


@pytest.mark.parametrize("name", [*COSTS, "any"])
@pytest.mark.parametrize("seed", range(4))
def test_orstump_costs_least_of_all_thresholds_on_a_column(name, seed):
    s = sample(seed, n=10, width=2, n_levels=3, weighted=True)
    paid = (
        np.random.default_rng(seed).random((10, 3))
        if name == "any"
        else costs(name, s.y, 3, seed)
    )
    with_costs = Sample(rows=s.rows, y=s.y, n_levels=3, weights=s.weights, costs=paid)
    fit = ORStump().fit(with_costs, np.random.default_rng(0))

    def cost(codes):
        return s.weights @ paid[np.arange(10), codes]

    best = min(
        cost((q * s.X[:, d][:, None] > theta).sum(axis=1))
        for d, q in itertools.product(range(2), (1, -1))
        for theta in itertools.combinations_with_replacement(
            sorted(q * c for c in _cuts(s.X[:, d])), 2
        )
    )
    assert cost(fit.rule.codes(s.rows)) == pytest.approx(best, rel=1e-7)
    assert (np.diff(fit.rule.theta) >= 0).all()


@pytest.mark.parametrize(
    "learner", [parse_learner(name, "x") for name in WEAK], ids=repr
)
def test_a_learner_says_what_its_hypotheses_answer(learner):
    """Values on the training rows are those of the potential, between -1 and 1, and
    better than chance.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    u = rng.normal(size=50)
    trainer = learner.on(X, np.ones(50))
    collected = [
        trainer.best(u * rng.random(50), np.random.default_rng(seed))
        for seed in range(3)
    ]
    heights = np.array([0.5, -1.0, 2.0])
    whole = trainer.combine([weak.member for weak in collected], heights)
    each = np.column_stack([weak.values for weak in collected])
    np.testing.assert_allclose(whole(Rows(X=X)), each @ heights, atol=CLOSE)
    assert np.abs(each).max() <= 1.0
    assert u @ trainer.best(u, rng).values > 0


def test_a_perceptron_splits_what_a_line_can_split():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (60, 2))
    z = np.where(X @ [1.0, 2.0] + 0.3 > 0, 1.0, -1.0)
    weak = RCDPerceptron().on(X, np.ones(60)).best(z, rng)
    assert np.mean(weak.values == z) > 0.95


def test_a_sigmoid_has_the_length_asked_for():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 2))
    u = rng.normal(size=30)
    weak = NormalisedSigmoid(gamma=3.0).on(X, np.ones(30)).best(u, rng)
    assert np.linalg.norm(weak.member) == pytest.approx(3.0)


@pytest.mark.parametrize("rows", [1, 5, 20000])
def test_merged_steps_are_the_sum_of_their_stumps(rows):
    rng = np.random.default_rng(0)
    T = 300
    X = rng.integers(0, 9, (rows, 3)).astype(float)
    columns = rng.integers(0, 3, T)
    cuts = rng.integers(-1, 10, T).astype(float)
    heights = rng.normal(size=T)
    cuts[::17] = -np.inf
    naive = sum(
        h * np.where(X[:, c] > cut, 1, -1)
        for c, cut, h in zip(columns, cuts, heights, strict=True)
    )
    np.testing.assert_allclose(
        StumpSum(columns=columns, cuts=cuts, round_weights=heights)(Rows(X=X)),
        naive,
        atol=1e-10,
    )


@pytest.mark.parametrize("value", ["stumps", 3, None, object(), MemberSum])
def test_what_is_no_learner_is_refused(value):
    with refused("learner of ORBoost"):
        parse_learner(value, "ORBoost")


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: RCDPerceptron(updates=0), "updates of RCDPerceptron"),
        (lambda: RCDPerceptron(scaling="big"), "scaling of RCDPerceptron"),
        (lambda: NormalisedSigmoid(gamma=-1), "gamma of NormalisedSigmoid"),
    ],
)
def test_settings_of_a_learner_are_checked(make, match):
    with pytest.raises(OptionError, match=match):
        make()
