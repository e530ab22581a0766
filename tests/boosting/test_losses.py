"""The losses against sums over rows, thresholds and pairs; thresholds against every
other choice.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from ordstat.boosting import losses
from ordstat.judging.costs import least_cost_thresholds

from .problems import COSTS, costs, sample

CLOSE = 1e-9
# Of central differences with a step of 1e-6.
DIFFERENCES = 1e-6


def _margin_loss(scores, theta, y, paid, weights):
    """Row by row and threshold by threshold."""
    total = 0.0
    for n, k in itertools.product(range(y.size), range(theta.size)):
        rho = scores[n] - theta[k] if y[n] > k else theta[k] - scores[n]
        total += weights[n] * abs(paid[n, k + 1] - paid[n, k]) * np.exp(-rho)
    return total


def _pair_loss(scores, y, weights):
    pairs = [
        (m, n) for m, n in itertools.product(range(y.size), repeat=2) if y[m] > y[n]
    ]
    return sum(
        weights[m] * weights[n] * np.exp(scores[n] - scores[m]) for m, n in pairs
    )


def _slope(f, x, n):
    step = np.zeros(x.size)
    step[n] = 1e-6
    return (f(x + step) - f(x - step)) / 2e-6


@pytest.mark.parametrize("name", COSTS)
def test_margin_loss_is_its_formula(name):
    s = sample(0, n=12, weighted=True)
    rng = np.random.default_rng(1)
    paid = costs(name, s.y, 4)
    scores = rng.normal(size=12)
    loss = losses.MarginLoss.start(losses.Questions.of(s.y, paid, s.weights), scores)

    def naive(h):
        return _margin_loss(h, loss.theta, s.y, paid, s.weights)

    assert loss.value * s.weights.sum() == pytest.approx(naive(scores), rel=CLOSE)
    slopes = [_slope(naive, scores, n) for n in range(12)]
    np.testing.assert_allclose(
        loss.direction(), -np.array(slopes), rtol=DIFFERENCES, atol=DIFFERENCES
    )


@pytest.mark.parametrize("name", COSTS)
def test_thresholds_are_the_best_in_order(name):
    """Against a general solver over theta_1 and the steps >= 0 above it."""
    s = sample(3, n=15)
    rng = np.random.default_rng(3)
    paid = costs(name, s.y, 4)
    scores = 2.0 * rng.normal(size=15)
    loss = losses.MarginLoss.start(losses.Questions.of(s.y, paid, np.ones(15)), scores)

    def naive(free):
        return _margin_loss(scores, np.cumsum(free), s.y, paid, np.ones(15))

    optimum = minimize(
        naive,
        np.array([-1.0, 1.0, 1.0]),
        bounds=[(None, None), (0, None), (0, None)],
        tol=1e-12,
    )
    assert (np.diff(loss.theta) >= 0).all()
    assert loss.value * 15 <= optimum.fun * (1 + 1e-9)
    assert loss.value * 15 == pytest.approx(optimum.fun, rel=1e-5)


def test_thresholds_that_no_row_bears_on_lie_with_their_neighbours():
    log = np.log(np.array([1.0, 2.0, 3.0, 1.0]))
    none = np.array([False, True, False, False])
    yes = np.where(none, -np.inf, log)
    no = np.where(none, -np.inf, log[::-1])
    theta = losses.ordered_thresholds(yes, no)
    assert theta[1] == theta[0]
    np.testing.assert_allclose(
        theta[[0, 2, 3]],
        losses.ordered_thresholds(log[[0, 2, 3]], log[::-1][[0, 2, 3]]),
    )
    # Without a row below the first threshold it goes down for ever.
    assert losses.ordered_thresholds(
        np.zeros(2), np.array([-np.inf, 0.0])
    ).tolist() == [
        -np.inf,
        0.0,
    ]


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("kind", ["signs", "values"])
def test_a_step_lowers_the_margin_loss_by_what_it_says(name, kind):
    s = sample(1, n=20, weighted=True)
    rng = np.random.default_rng(5)
    loss = losses.MarginLoss.start(
        losses.Questions.of(s.y, costs(name, s.y, 4), s.weights), rng.normal(size=20)
    )
    for _ in range(30):
        values = (
            rng.uniform(-1, 1, 20) if kind == "values" else rng.choice([-1.0, 1.0], 20)
        )
        before = loss.value
        scores = loss.scores.copy()
        theta = loss.theta
        step = loss.step(values)
        assert loss.value <= before * step.factor * (1 + CLOSE) <= before * (1 + CLOSE)
        if kind == "signs":
            paid = costs(name, s.y, 4)
            rest = (theta, s.y, paid, s.weights)

            def along(a, scores=scores, values=values, rest=rest):
                return _margin_loss(scores + a * values, *rest)

            best = minimize_scalar(along)
            assert step.alpha == pytest.approx(best.x, abs=1e-5)


def test_scores_far_apart_do_not_overflow():
    """As another learner may leave them: right by far, and wrong by far."""
    s = sample(1, n=12, n_levels=2)
    scores = 2000.0 * np.where(np.arange(12) == 5, -1.0, 1.0) * (2 * s.y - 1)
    loss = losses.MarginLoss.start(
        losses.Questions.of(s.y, costs("absolute", s.y, 2), np.ones(12)),
        scores,
        np.zeros(1),
    )
    assert np.isfinite(loss.value)
    assert np.argmax(np.abs(loss.direction())) == 5
    values = np.where(s.y > 0, 1.0, -1.0)
    assert loss.step(values).alpha > 0
    assert np.isfinite(loss.value)


@pytest.mark.parametrize("tight", [False, True])
def test_pair_loss_is_its_formula(tight):
    s = sample(2, n=12, weighted=True)
    rng = np.random.default_rng(2)
    order = np.argsort(s.y, kind="stable")
    y = s.y[order]
    w = s.weights[order]
    scores = rng.normal(size=12)
    loss = losses.PairLoss(y=y, weights=w, scores=scores, tight=tight)
    pairs = sum(
        w[m] * w[n] for m, n in itertools.product(range(12), repeat=2) if y[m] > y[n]
    )
    assert loss.value == pytest.approx(_pair_loss(scores, y, w) / pairs, rel=CLOSE)
    slopes = [_slope(lambda h: _pair_loss(h, y, w), scores, n) for n in range(12)]
    np.testing.assert_allclose(
        loss.direction(), -np.array(slopes), rtol=DIFFERENCES, atol=DIFFERENCES
    )


@pytest.mark.parametrize("tight", [False, True])
@pytest.mark.parametrize("kind", ["signs", "values"])
def test_a_step_lowers_the_pair_loss_by_what_it_says(tight, kind):
    s = sample(2, n=16, weighted=True)
    rng = np.random.default_rng(4)
    order = np.argsort(s.y, kind="stable")
    y = s.y[order]
    w = s.weights[order]
    loss = losses.PairLoss(y=y, weights=w, scores=rng.normal(size=16), tight=tight)
    for _ in range(20):
        values = (
            rng.uniform(-1, 1, 16) if kind == "values" else rng.choice([-1.0, 1.0], 16)
        )
        before = loss.value
        scores = loss.scores.copy()
        step = loss.step(values)
        assert loss.value <= before * step.factor * (1 + CLOSE) <= before * (1 + CLOSE)
        if tight and kind == "signs":
            best = minimize_scalar(lambda a: _pair_loss(scores + a * values, y, w))  # noqa: B023
            assert step.alpha == pytest.approx(best.x, abs=1e-5)


def test_the_shares_of_right_pairs_are_sums_over_pairs():
    s = sample(6, n=14, weighted=True)
    rng = np.random.default_rng(6)
    order = np.argsort(s.y, kind="stable")
    y = s.y[order]
    w = s.weights[order]
    scores = rng.normal(size=14)
    loss = losses.PairLoss(y=y, weights=w, scores=scores, tight=True)
    for values in (rng.choice([-1.0, 1.0], 14), np.round(rng.uniform(-1, 1, 14), 1)):
        naive = [0.0, 0.0]
        for m, n in itertools.product(range(14), repeat=2):
            if y[m] > y[n]:
                d = (values[m] - values[n]) / 2
                naive[int(d < 0)] += (
                    abs(d) * w[m] * w[n] * np.exp(scores[n] - scores[m])
                )
        np.testing.assert_allclose(loss._shares(values), naive, rtol=CLOSE)


def test_misordered_pairs_are_counted():
    s = sample(7, n=20, weighted=True)
    rng = np.random.default_rng(7)
    scores = rng.integers(0, 5, 20).astype(float)
    pairs = [
        (m, n) for m, n in itertools.product(range(20), repeat=2) if s.y[m] > s.y[n]
    ]
    wrong = sum(s.weights[m] * s.weights[n] for m, n in pairs if scores[m] <= scores[n])
    assert losses.misordered(s.y, s.weights, scores) == pytest.approx(
        wrong / sum(s.weights[m] * s.weights[n] for m, n in pairs)
    )


def test_answer_loss_is_its_formula():
    rng = np.random.default_rng(0)
    gains = rng.normal(size=(10, 3))
    loss = losses.AnswerLoss(gains=gains, total=10.0)
    g = np.zeros((10, 3))
    for _ in range(5):
        values = rng.choice([-1.0, 1.0], (10, 3))

        def naive(a, at=g, along=values):
            return (np.abs(gains) * np.exp(-np.sign(gains) * (at + a * along))).sum()

        step = loss.step(values)
        assert step.alpha == pytest.approx(minimize_scalar(naive).x, abs=1e-5)
        assert loss.value == pytest.approx(naive(step.alpha) / 10, rel=CLOSE)
        g = g + step.alpha * values


@pytest.mark.parametrize("name", [*COSTS, "any"])
@pytest.mark.parametrize("seed", range(6))
def test_least_cost_thresholds_cost_least(name, seed):
    s = sample(seed, n=8, weighted=True)
    rng = np.random.default_rng(seed)
    paid = rng.random((8, 4)) if name == "any" else costs(name, s.y, 4)
    scores = rng.integers(0, 6, 8).astype(float)

    def cost(theta):
        return s.weights @ paid[np.arange(8), (scores[:, None] > theta).sum(axis=1)]

    theta = least_cost_thresholds(scores, paid, s.weights)
    cuts = np.unique([scores - 0.5, scores + 0.5])
    best = min(
        cost(np.array(other))
        for other in itertools.combinations_with_replacement(cuts, 3)
    )
    assert cost(theta) == pytest.approx(best, rel=1e-7)
    assert (np.diff(theta) >= 0).all()
    # Gaps of different width decide between cuts that cost alike.
    scores = rng.normal(size=8)
    theta, mirrored = (
        least_cost_thresholds(q * scores, paid[:, ::q], s.weights) for q in (1, -1)
    )
    np.testing.assert_allclose(mirrored, -theta[::-1], atol=1e-12)


def test_thresholds_part_close_scores_but_not_those_that_differ_by_rounding():
    costs = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    scores = np.array([1.0, 1.0 + 1e-6, 0.0])
    theta = least_cost_thresholds(scores, costs, np.ones(3))
    assert (scores > theta).tolist() == [False, True, False]
    scores[1] = np.nextafter(1.0, 2.0)
    theta = least_cost_thresholds(scores, costs, np.array([2.0, 1.0, 1.0]))
    assert (scores > theta).tolist() == [False, False, False]
