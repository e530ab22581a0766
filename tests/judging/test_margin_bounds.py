"""Margin bounds: their formulas by loops, their complexities by simulation, and that
they hold.
"""

import math

import numpy as np
import pandas as pd
import pytest
from seams import BallGeometry, CostMatrix, Sample

from judging.ranker_on_box import ranker_on_box, weighted_and_repeated
from ordstat import ordfit
from ordstat.judging.margin_bounds import margin_bounds
from ordstat.judging.margins import margins

DELTA = 0.05


def _bounds(sample, v, theta, geometry, costs=None):
    m = margins((sample.X @ v)[:, None] - theta, sample.y, geometry)
    return margin_bounds(m, geometry, sample, costs, DELTA)


@pytest.mark.parametrize("n_levels", [2, 4])
def test_bounds_are_the_smallest_value_of_their_formulas(n_levels):
    """Straight from the formulas, one margin and one row at a time."""
    sample, v, theta, geometry = ranker_on_box(
        np.random.default_rng(n_levels), 60, n_levels
    )
    costs = CostMatrix("squared").rows(sample.y, n_levels)
    collected = {b.name: b for b in _bounds(sample, v, theta, geometry, costs).bounds}
    n = sample.n
    r = geometry.radius
    K = n_levels
    norm = math.sqrt(v @ v + theta @ theta)
    lengths = (sample.X**2).sum(axis=1) + 1

    def signed_distance(i, k):
        gap = (sample.X[i] @ v - theta[k]) / norm
        return gap if sample.y[i] > k else -gap

    rho = [[signed_distance(i, k) for k in range(K - 1)] for i in range(n)]

    def penalty(margin, complexity, delta):
        scan = math.sqrt(math.log(math.log2(2 * r / margin)) / n)
        return (
            4 / margin * complexity
            + scan
            + 3 * math.sqrt(math.log(4 / delta) / (2 * n))
        )

    def own(i):
        return [k for k in (sample.y[i] - 1, sample.y[i]) if 0 <= k < K - 1]

    whole = math.sqrt(lengths.sum()) / n
    ends = (
        math.sqrt(lengths[sample.y > 0].sum())
        + math.sqrt(lengths[sample.y < K - 1].sum())
    ) / n
    steps = [
        max(abs(costs[i][k + 1] - costs[i][k]) for i in range(n)) for k in range(K - 1)
    ]
    best = {
        "classification error": math.inf,
        "absolute error": math.inf,
        "cost": math.inf,
    }
    for margin in np.linspace(1e-3, r, 4000):
        low = [[k for k in range(K - 1) if rho[i][k] <= margin] for i in range(n)]
        e_c = sum(bool(set(low[i]) & set(own(i))) for i in range(n)) / n
        e_a = sum(map(len, low)) / n
        e_cost = (
            sum(abs(costs[i][k + 1] - costs[i][k]) for i in range(n) for k in low[i])
            / n
        )
        each = penalty(margin, whole, DELTA / (K - 1))
        for name, value in {
            "classification error": e_c + penalty(margin, ends, DELTA),
            "absolute error": e_a + (K - 1) * each,
            "cost": e_cost + sum(steps) * each,
        }.items():
            best[name] = min(best[name], value)
    for name, value in best.items():
        # The grid of margins can only miss the minimum from above, by little.
        assert collected[name].value <= value
        assert collected[name].value == pytest.approx(value, rel=2e-3)
    assert collected["absolute error"].trivial == K - 1
    assert collected["cost"].trivial == (K - 1) ** 2


def test_complexities_exceed_simulated_ones():
    """E sup over the ball of the mean of sigma f is E |sum sigma feature| / N."""
    rng = np.random.default_rng(0)
    sample, _, _, geometry = ranker_on_box(rng, 40, 3, dimension=3)
    ones = np.ones(40)
    eye = np.vstack([np.zeros(2), np.eye(2), np.zeros(2)])
    signs = rng.choice([-1.0, 1.0], size=(20000, 40))

    def simulated(thresholds):
        """Thresholds are 1-based, 0 and 3 standing for the infinite ends: a constant,
        which adds nothing.
        """
        inside = ((thresholds > 0) & (thresholds < 3))[:, None]
        features = np.hstack([sample.X, eye[thresholds]]) * inside
        return np.linalg.norm(signs @ features, axis=1).mean() / 40

    for bound, thresholds in (
        (geometry.complexity(ones), np.full(40, 1)),
        (geometry.complexity(ones, sample.y > 0), sample.y),
        (geometry.complexity(ones, sample.y < 2), sample.y + 1),
    ):
        value = simulated(thresholds)
        assert value <= bound
        # Jensen's inequality is all that is lost.
        assert value > 0.85 * bound


@pytest.mark.parametrize(
    ("n", "n_levels", "dimension", "noise"),
    [(20000, 3, 2, 0.05), (300, 4, 2, 0.3), (60, 2, 50, 1.0)],
)
def test_bounds_hold_in_simulated_samples(n, n_levels, dimension, noise):
    rng = np.random.default_rng(7)
    held = []
    informative = 0
    for _ in range(30):
        sample, v, theta, geometry = ranker_on_box(rng, n, n_levels, dimension, noise)
        costs = CostMatrix("squared").rows(sample.y, n_levels)
        actual = _bounds(sample, v, theta, geometry, costs)
        fresh = ranker_on_box(rng, 20000, n_levels, dimension, noise)[0]
        distance = np.abs(
            np.count_nonzero((fresh.X @ v)[:, None] - theta > 0, axis=1) - fresh.y
        )
        truth = [np.mean(distance > 0), distance.mean(), np.mean(distance**2)]
        held.append([b.value >= t for b, t in zip(actual.bounds, truth, strict=True)])
        informative += not actual.bounds[0].vacuous
    assert (np.mean(held, axis=0) >= 1 - DELTA).all()
    assert informative == (30 if n == 20000 else 0)


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(3)
    sample, v, theta, geometry = ranker_on_box(rng, 50, 3)
    weights = rng.integers(1, 5, size=50)
    weighted, repeated, longer = weighted_and_repeated(sample, geometry, weights)
    for a, b in zip(
        _bounds(weighted, v, theta, geometry).bounds,
        _bounds(repeated, v, theta, longer).bounds,
        strict=True,
    ):
        assert a.value == pytest.approx(b.value, rel=1e-12)


def test_missing_bounds_say_why():
    sample, v, theta, geometry = ranker_on_box(np.random.default_rng(1), 50, 4)
    fractional = Sample(
        rows=sample.rows, y=sample.y, n_levels=4, weights=np.full(50, 0.5)
    )
    clustered = Sample(
        rows=sample.rows, y=sample.y, n_levels=4, cluster=np.arange(50) // 2
    )
    for dependent, word in ((fractional, "whole numbers"), (clustered, "clusters")):
        actual = _bounds(dependent, v, theta, geometry)
        assert actual.bounds == () and word in actual.notes[0]
    disordered = BallGeometry(
        norm=geometry.norm,
        squared_lengths=geometry.squared_lengths,
        theta=theta[::-1],
        radius=geometry.radius,
    )
    costs = CostMatrix.classification().rows(sample.y, 4)
    actual = _bounds(sample, v, theta[::-1], disordered, costs)
    assert [b.name for b in actual.bounds] == ["absolute error"]
    assert any("not in order" in note for note in actual.notes) and any(
        "not convex" in note for note in actual.notes
    )


@pytest.mark.parametrize(
    ("method", "n"),
    [("logit", 4000), ("cloglog", 200), ("redsvm", 120), ("redsvm-linear", 150)],
)
def test_bounds_of_fitted_methods_hold(method, n):
    """The whole way through a fit, its scaling and its geometry, for each family of
    rankers.
    """
    rng = np.random.default_rng(11)
    name, options = (
        ("redsvm", {"kernel": "linear"}) if method == "redsvm-linear" else (method, {})
    )

    def draw(size):
        X = rng.uniform(-1, 1, size=(size, 2))
        y = np.searchsorted([-0.4, 0.4], X.sum(axis=1) + 0.1 * rng.normal(size=size))
        return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})

    held = []
    for _ in range(20):
        results = ordfit("y ~ a + b", draw(n), method=name, **options)
        test = draw(5000)
        m = results.predict(test, type="margin")[["left", "right"]].to_numpy()
        wrong = np.mean((m <= 0).any(axis=1))
        scores = results.predict(test, type="score").to_numpy()
        distance = np.abs(
            np.count_nonzero(
                scores[:, None] - results.thresholds.to_numpy() > 0, axis=1
            )
            - test["y"].to_numpy()
        )
        table = results.bounds()
        held.append(
            [
                table.loc["classification error", "value"] >= wrong,
                table.loc["absolute error", "value"] >= distance.mean(),
            ]
        )
    assert (np.mean(held, axis=0) >= 1 - DELTA).all()
