"""The compiled searches against their NumPy twins."""

import numpy as np
import pytest
import twins

from ordstat.boosting.weak import Presorted
from ordstat.compiled import weak

# The same sums in the same order.
EXACT = 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_best_cut(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 12)
    width = rng.integers(0, 4)
    p = Presorted.of(rng.integers(0, 5, (n, width)).astype(float))
    u = rng.integers(-2, 3, n).astype(float) if seed % 2 else rng.normal(size=n)
    mine = weak.best_cut(p.order, p.distinct.view(np.uint8), u, EXACT)
    other = twins.best_cut(p.order, p.distinct, u, EXACT)
    assert mine[0] == pytest.approx(other[0], abs=EXACT)
    assert mine[1:] == other[1:]


@pytest.mark.parametrize("seed", range(20))
def test_best_column(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 12)
    width = rng.integers(1, 4)
    cuts = rng.integers(1, 5)
    p = Presorted.of(rng.integers(0, 5, (n, width)).astype(float))
    bonus = 1e-3 * rng.random((width, n + 1))
    gains = rng.normal(size=(n, cuts))
    mine = weak.best_column(p.order, p.distinct.view(np.uint8), bonus, gains, EXACT)
    other = twins.best_column(p.order, p.distinct, bonus, gains, EXACT)
    assert mine[0] == pytest.approx(other[0], abs=EXACT)
    assert mine[1:] == other[1:]


@pytest.mark.parametrize(("n", "width"), [(1, 1), (7, 1), (30, 3), (300, 5)])
def test_climb(n, width):
    rng = np.random.default_rng(n)
    u = rng.normal(size=n)
    moves = np.array([-1, 0, 1, -1, 2, 3, 3, 0], dtype=np.int32)
    projections = rng.normal(size=(4, n)) * (rng.random((4, n)) < 0.9)
    collected = []
    for climb in (weak.climb, twins.climb):
        scores = np.zeros(n)
        steps = np.zeros(moves.size)
        climb(projections, moves, u, EXACT, scores, steps)
        collected.append((scores, steps))
    np.testing.assert_array_equal(collected[0][1], collected[1][1])
    np.testing.assert_allclose(collected[0][0], collected[1][0], rtol=EXACT)


def test_climb_tells_apart_what_single_precision_does_not():
    """Columns far from zero: the steps of the rows differ in the last places, and the
    best one is still found.
    """
    rng = np.random.default_rng(0)
    u = rng.normal(size=300)
    moves = np.array([-1, 0, 1, -1, 0, 1], dtype=np.int32)
    projections = 1e7 + rng.normal(size=(2, 300))
    collected = []
    for climb in (weak.climb, twins.climb):
        scores = np.zeros(300)
        steps = np.zeros(moves.size)
        climb(projections, moves, u, EXACT, scores, steps)
        collected.append(steps)
    assert len({*(-projections[0] / projections[1]).astype(np.float32)}) < 30
    np.testing.assert_array_equal(*collected)


def test_climb_leaves_alone_what_no_step_can_change():
    scores = np.ones(2)
    steps = np.ones(1)
    weak.climb(
        np.zeros((1, 2)), np.zeros(1, dtype=np.int32), np.ones(2), 0.0, scores, steps
    )
    assert steps.tolist() == [0.0]
    assert scores.tolist() == [1.0, 1.0]
