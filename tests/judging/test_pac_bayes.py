"""The PAC-Bayes margin bound: its formula by loops and by random rankers, and that it
holds.
"""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from seams import BallGeometry, CostMatrix

from judging.ranker_on_box import ranker_on_box, weighted_and_repeated
from ordstat import Gaussian, ordfit
from ordstat.judging.margin_bounds import margin_bounds
from ordstat.judging.margins import margins
from ordstat.judging.pac_bayes import (
    MARGINS,
    comparisons,
    kl_inverse,
    pac_bayes_bound,
)
from ordstat.judging.training_bounds import training_bounds

DELTA = 0.05


def _margins(sample, v, theta, geometry):
    return margins((sample.X @ v)[:, None] - theta, sample.y, geometry)


def _bound(name, fitted, costs=None, delta=DELTA):
    sample, *_, geometry = fitted
    return pac_bayes_bound(
        comparisons(name, _margins(*fitted), sample, costs), geometry, delta
    )


@pytest.mark.parametrize("n_levels", [2, 4])
@pytest.mark.parametrize("name", ["classification error", "absolute error", "cost"])
def test_the_bound_is_the_smallest_value_of_its_formula(name, n_levels):
    """Straight from the formula: w and psi as vectors, one row and threshold at a
    time.
    """
    fitted = ranker_on_box(np.random.default_rng(n_levels), 40, n_levels)
    sample, v, theta, _ = fitted
    costs = CostMatrix("squared").rows(sample.y, n_levels)
    w = np.concatenate((v, theta))
    cuts = n_levels - 1
    m = []
    share = []
    for x, level, cost in zip(sample.X, sample.y, costs, strict=True):
        for k in range(cuts):
            psi = np.concatenate((x, -np.eye(cuts)[k]))
            m.append((1 if level > k else -1) * (w @ psi) / np.linalg.norm(psi))
            counts = {
                "absolute error": 1,
                "classification error": k in (level - 1, level),
            }
            share.append(counts.get(name, abs(cost[k + 1] - cost[k])))
    m = np.array(m)
    share = np.array(share, dtype=float)
    largest = share.reshape(40, cuts).sum(axis=1).max()
    sizes = np.geomspace(0.1, 20, 600)
    q = [
        [
            (share @ ndtr(g - size / np.linalg.norm(w) * m)) / (40 * largest)
            for g in MARGINS
        ]
        for size in sizes
    ]
    budget = (sizes**2 / 2 + math.log(2 * math.sqrt(40) * len(MARGINS) / DELTA)) / 40
    best = (largest * kl_inverse(np.array(q), budget[:, None]) / ndtr(MARGINS)).min()
    assert _bound(name, fitted, costs).value == pytest.approx(best, rel=1e-3)


def test_two_levels_give_the_classical_bound():
    """K = 2: one comparison a row, the three errors are one, B = 1."""
    fitted = ranker_on_box(np.random.default_rng(0), 300, 2)
    values = {
        _bound(name, fitted).value
        for name in ("classification error", "absolute error")
    }
    assert len(values) == 1 and values.pop() < 1.0


def test_random_rankers_have_the_margins_that_the_bound_counts():
    """q of the formula is the share of margins of g or less of rankers drawn from N(s
    w, I).
    """
    rng = np.random.default_rng(4)
    fitted = ranker_on_box(rng, 30, 3)
    sample, v, theta, geometry = fitted
    actual = _bound("absolute error", fitted)
    w = np.concatenate((v, theta)) / geometry.total
    psi = np.concatenate(
        [np.hstack((sample.X, np.tile(-np.eye(2)[k], (30, 1)))) for k in range(2)]
    )
    side = np.concatenate([np.where(sample.y > k, 1.0, -1.0) for k in range(2)])
    psi *= (side / np.linalg.norm(psi, axis=1))[:, None]
    gaps = []
    for g in MARGINS[MARGINS > 0]:  # margin = g / size tells the size for each g
        size = g / actual.margin if actual.margin > 0 else math.nan
        drawn = (rng.normal(size=(20_000, 4)) + size * w) @ psi.T
        gaps.append(abs(2 * (drawn <= g).mean() - actual.training))
    assert min(gaps) < 0.01


def test_where_the_ranker_errs_a_random_one_seldom_has_a_margin():
    """The step from random rankers to the ranker itself: m <= 0 gives P(margin <= g) >=
    Phi(g).
    """
    m = np.linspace(-1, 0, 50)
    for g in MARGINS:
        assert (ndtr(g - 3.0 * m) >= ndtr(g)).all()


def test_the_smaller_of_two_bounds_pays_for_both():
    for n in (60, 100_000):
        fitted = ranker_on_box(np.random.default_rng(5), n, 2, noise=0.02)
        sample, *_, geometry = fitted
        rows = _margins(*fitted)
        paper_bound = margin_bounds(rows, geometry, sample, None, DELTA / 2).bounds[-1]
        other = _bound("absolute error", fitted, delta=DELTA / 2)
        actual = training_bounds(rows, geometry, sample, None, DELTA).bounds[-1]
        assert (
            actual.value == min(paper_bound.value, other.value)
            and actual.delta == DELTA
        )


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(3)
    sample, v, theta, geometry = ranker_on_box(rng, 50, 3)
    weights = rng.integers(0, 5, size=50)
    weighted, repeated, longer = weighted_and_repeated(sample, geometry, weights)
    one, other = (
        _bound("absolute error", (some, v, theta, ball))
        for some, ball in ((weighted, geometry), (repeated, longer))
    )
    assert one.value == pytest.approx(other.value, rel=1e-9)


def test_nothing_is_said_of_a_ranker_without_coefficients():
    sample = ranker_on_box(np.random.default_rng(1), 30, 3)[0]
    flat = BallGeometry(
        norm=0.0, squared_lengths=np.ones(30), theta=np.zeros(2), radius=2.0
    )
    actual = _bound("absolute error", (sample, np.zeros(2), np.zeros(2), flat))
    assert actual.vacuous and np.isfinite(actual.value)


@pytest.mark.parametrize("kernel", ["perceptron", "stump"])
def test_other_origins_give_the_same_ranker(kernel):
    """Lengths and thresholds from another origin, by distances and by the score at that
    origin.
    """
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, -0.2, size=(60, 2))
    X[0], X[1] = -1.0, 1.0  # columns are then as they are scaled
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(
        y=np.searchsorted([-1.5, -1.0], X.sum(axis=1))
    )
    fit = ordfit("y ~ a + b", frame, "redsvm", kernel=kernel)
    (moved,) = fit.geometry.moved
    origin = np.array([-0.5, -0.5])
    order = 2 if kernel == "perceptron" else 1
    np.testing.assert_allclose(
        moved.squared_lengths, 2 * np.linalg.norm(X - origin, order, axis=1), rtol=1e-9
    )
    there = fit.predict(pd.DataFrame([origin], columns=["a", "b"]), type="score").iloc[
        0
    ]
    np.testing.assert_allclose(moved.theta, fit.thresholds - there, atol=1e-9)
    assert moved.norm == fit.geometry.norm
    # One of 5^2 points, and whether it is one of them.
    assert moved.price == pytest.approx(
        math.log(2 * 25)
    ) and fit.geometry.price == pytest.approx(math.log(2))


def test_a_gamma_chosen_by_the_rows_is_paid_for():
    frame = _draw(np.random.default_rng(0), 60)
    fit = ordfit(
        "y ~ a + b", frame, "redsvm", kernel=Gaussian(gamma=[0.1, 1.0, 10.0]), C=1.0
    )
    given = ordfit(
        "y ~ a + b",
        frame,
        "redsvm",
        kernel=Gaussian(gamma=fit.fit.selection.best_gamma),
        C=1.0,
    )
    assert (
        fit.geometry.price == pytest.approx(math.log(3)) and given.geometry.price == 0.0
    )
    assert (
        fit.bounds().loc["absolute error", "value"]
        > given.bounds().loc["absolute error", "value"]
    )


def _draw(rng, n):
    X = rng.uniform(-1, 1, size=(n, 2))
    y = np.searchsorted([-0.4, 0.4], X.sum(axis=1) + 0.2 * rng.normal(size=n))
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


METHODS = {
    "linear": ("redsvm", {"kernel": "linear", "C": 1.0}),
    "kernel": ("redsvm", {"C": 2.0**-5}),
    "free thresholds": ("svor-exc", {"C": 2.0**-3, "kernel": "gaussian"}),
    "likelihood": ("logit", {}),
    "online": ("prank", {}),
}


def _held(kind, draws, seed):
    """Shares of samples in which the bounds hold, and in which the bound of the
    absolute error is informative.
    """
    rng, (method, options) = np.random.default_rng(seed), METHODS[kind]
    far = _draw(np.random.default_rng(99), 20_000)
    held = []
    n_informative = 0
    for _ in range(draws):
        fit = ordfit("y ~ a + b", _draw(rng, 80), method, **options)
        codes = np.count_nonzero(
            fit.predict(far, type="score").to_numpy()[:, None]
            - fit.thresholds.to_numpy()
            > 0,
            axis=1,
        )
        distance = np.abs(codes - far["y"].to_numpy())
        table = fit.bounds()
        truth = {
            "classification error": (distance > 0).mean(),
            "absolute error": distance.mean(),
        }
        held.append(
            [
                table.loc[name, "value"] >= truth[name]
                for name in table.index
                if name in truth
            ]
        )
        n_informative += not table.loc["absolute error", "vacuous"]
    assert np.mean([all(row) for row in held]) >= 1 - DELTA
    return n_informative / draws


@pytest.mark.parametrize("kind", METHODS)
def test_bounds_hold_and_say_something(kind):
    assert _held(kind, 5, 1) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", METHODS)
def test_bounds_hold_in_a_thousand_samples(kind):
    assert _held(kind, 1000, 2) >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_levels", "noise"), [(30, 3, 0.05), (200, 2, 0.3), (200, 6, 0.1)]
)
def test_each_error_is_bounded_in_a_thousand_samples(n, n_levels, noise):
    """The PAC-Bayes bound alone, with the cost too."""
    rng = np.random.default_rng(n)
    far = ranker_on_box(rng, 20_000, n_levels, noise=noise)[0]
    held = []
    for _ in range(1000):
        fitted = ranker_on_box(rng, n, n_levels, noise=noise)
        sample, v, theta, _ = fitted
        distance = np.abs(
            np.count_nonzero((far.X @ v)[:, None] - theta > 0, axis=1) - far.y
        )
        truth = {
            "classification error": (distance > 0).mean(),
            "absolute error": distance.mean(),
            "cost": (distance**2).mean(),
        }
        costs = CostMatrix("squared").rows(sample.y, n_levels)
        held.append(
            [
                _bound(name, fitted, costs).value >= value
                for name, value in truth.items()
            ]
        )
    assert (np.mean(held, axis=0) >= 1 - DELTA).all()
