"""Compiled trees and slopes against plain loops."""

import pickle

import numpy as np
import pytest
from scipy.special import expit
from seams import Rows, Sample

from ordstat import OrdinalBoosting
from ordstat.compiled.boost import OUTSIDE, grow, logit_slopes, logit_thresholds
from ordstat.prediction import trees

from . import naive

NONE = np.empty(0)


def levels_of(rng, N, spread=2.0):
    """Codes, scores and thresholds of rows, and their slopes and curvatures."""
    y = rng.integers(0, 5, N).astype(np.uint16)
    H = spread * rng.normal(size=N)
    theta = np.array([-2.0, -0.5, 0.4, 2.5])
    return (y, H, theta), naive.logit_slopes(y.astype(int), H, theta, np.ones(N))[1:]


def compiled_tree(codes, rows, levels, w, depth, **more):
    """A compiled tree; `naive.Grower` has the meaning of the options."""
    D, (y, H, theta) = len(codes), levels
    out = trees.ValueTree.empty(max(2 * len(rows) - 1, 1), len(rows))
    counts = more.get("counts")
    if counts is None:
        counts = (
            (codes.max(axis=1, initial=0).astype(np.int32) + 1)
            if D
            else np.empty(0, dtype=np.int32)
        )
    options = {
        "gaps": (codes == counts[:, None]).any(axis=1).astype(np.uint8),
        "kinds": np.zeros(D, dtype=np.uint8),
        "signs": np.zeros(D, dtype=np.int8),
        "columns": np.arange(D, dtype=np.int32),
        "least": 1.0,
        "penalty": 1.0,
    } | more
    place = np.full(codes.shape[1], OUTSIDE, dtype=np.uint16)
    place[rows] = 0
    about = [options[name] for name in ("gaps", "kinds", "signs", "columns")]
    plain = not (options["gaps"].any() or options["kinds"].any())
    scores = H.copy()
    numbers = (plain, depth, options["least"], options["penalty"], 1e-3, 4.0, 1.0)
    places = (
        out.column,
        out.bin,
        out.child,
        out.gaps_left,
        out.sets,
        out.value,
        out.gain,
        out.weight,
    )
    made, loss = grow(
        codes, counts, *about, place, y, theta, NONE, scores, w, *numbers, *places, None
    )
    assert loss == pytest.approx(
        naive.logit_loss(y.astype(int), H, theta, np.ones(y.size)), rel=1e-9
    )
    assert sorted(np.flatnonzero(place < OUTSIDE).tolist()) == sorted(rows)
    assert (out.column[place % OUTSIDE] < 0).all()
    np.testing.assert_array_equal(H + out.value[place % OUTSIDE], scores)
    return out.upto(made), scores - H


def values_of(tree, codes, counts, kinds):
    """Values of rows by numbers: code c is the value c, the last code is NaN, and cuts
    lie half way; and by sides.
    """
    X = np.ascontiguousarray(np.where(codes == counts[:, None], np.nan, codes).T)
    cuts = tuple(
        np.empty(0) if kind else np.arange(count - 1) + 0.5
        for kind, count in zip(kinds, counts, strict=True)
    )
    effects = tuple(
        np.zeros(count if kind else 0)
        for kind, count in zip(kinds, counts, strict=True)
    )
    start = trees.LinearStart(np.zeros(len(kinds)), np.zeros(len(kinds)), effects)
    left = tree.lefts(X, cuts)
    at = np.zeros(len(X), dtype=int)
    while (inner := tree.column[at] >= 0).any():
        at = np.where(inner, tree.child[at] + ~left[np.arange(len(X)), at], at)
    return (
        trees.BoostedTrees(linear=start, cuts=cuts, trees=(tree, tree))(Rows(X=X)) / 2,
        tree.value[at],
    )


@pytest.mark.parametrize("seed", range(30))
def test_trees(seed):
    rng = np.random.default_rng(seed)
    N = int(rng.integers(2, 60))
    D = int(rng.integers(1, 5))
    depth = int(rng.integers(1, 6))
    codes = rng.integers(0, rng.integers(1, 9), (D, N)).astype(np.uint8)
    levels, (g, h) = levels_of(rng, N)
    w = rng.integers(1, 4, N).astype(float) if seed % 2 else np.ones(N)
    rows = np.flatnonzero(rng.random(N) < (0.8 if seed % 4 else 1.0)).tolist() or [0]
    signs = (
        rng.integers(-1, 2, D).astype(np.int8)
        if seed % 3 == 0
        else np.zeros(D, dtype=np.int8)
    )
    options = {
        "least": float(rng.integers(1, 4)),
        "penalty": float(rng.choice([0.0, 1.0])),
    }
    columns = np.sort(rng.permutation(D)[: rng.integers(1, D + 1)]).astype(np.int32)
    given = w if seed % 2 else NONE
    tree, added = compiled_tree(
        codes, rows, levels, given, depth, columns=columns, signs=signs, **options
    )
    plain = naive.Grower(
        codes=codes, depth=depth, signs=signs, columns=columns, **options
    ).tree(rows, g, h, w)
    counts = codes.max(axis=1) + 1
    assert naive.alike(naive.nested(tree, counts), plain)
    assert tree.column.size == 2 * len(plain.leaves()) - 1
    expected = [plain.at(codes[:, n]) for n in range(N)]
    for actual in (added, *values_of(tree, codes, counts, np.zeros(D))):
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)


def test_a_tree_without_columns_is_a_leaf():
    levels, (g, h) = levels_of(np.random.default_rng(0), 3)
    tree, _ = compiled_tree(
        np.empty((0, 3), dtype=np.uint8), [0, 1, 2], levels, NONE, 3
    )
    assert tree.column.size == 1
    assert tree.value[0] == pytest.approx(-g.sum() / (h.sum() + 1))


@pytest.mark.parametrize("seed", range(60))
def test_trees_of_categories_and_missing_values(seed):
    """Sums of children made row by row; every prefix of the sorted categories, either
    side for missing rows.
    """
    rng = np.random.default_rng(seed)
    N = int(rng.integers(4, 90))
    D = int(rng.integers(1, 5))
    depth = int(rng.integers(1, 5))
    counts = rng.integers(1, 9, D).astype(np.int32)
    kinds = rng.integers(0, 2, D).astype(np.uint8)
    codes = np.stack([rng.integers(0, count, N) for count in counts]).astype(np.uint8)
    gone = rng.random((D, N)) < rng.choice([0.0, 0.2, 0.7], D)[:, None]
    codes = np.where(gone, counts[:, None], codes).astype(np.uint8)
    levels, (g, h) = levels_of(rng, N)
    w = rng.integers(1, 4, N).astype(float) if seed % 2 else np.ones(N)
    rows = np.flatnonzero(rng.random(N) < (0.8 if seed % 4 else 1.0)).tolist() or [0]
    signs = (
        np.where(kinds, 0, rng.integers(-1, 2, D)).astype(np.int8)
        if seed % 3 == 0
        else np.zeros(D, dtype=np.int8)
    )
    options = {
        "least": float(rng.integers(1, 4)),
        "penalty": float(rng.choice([0.0, 1.0])),
        "signs": signs,
    }
    options |= {"counts": counts, "kinds": kinds}
    tree, added = compiled_tree(
        codes, rows, levels, w if seed % 2 else NONE, depth, **options
    )
    plain = naive.Grower(codes=codes, depth=depth, **options).tree(rows, g, h, w)
    assert naive.alike(naive.nested(tree, counts), plain)
    expected = [plain.at(codes[:, n]) for n in range(N)]
    for actual in (added, *values_of(tree, codes, counts, kinds)):
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)


def test_categories_are_cut_at_the_best_of_all_subsets():
    """Without a penalty the order of G / V has the best of all 2^L subsets [Fisher
    1958].
    """
    rng = np.random.default_rng(3)
    for _ in range(20):
        L = 7
        N = 200
        codes = rng.integers(0, L, (1, N)).astype(np.uint8)
        (y, H, theta), _ = levels_of(rng, N)
        levels = y, H + np.sin(3.0 * codes[0]), theta
        g, h = naive.logit_slopes(y.astype(int), levels[1], theta, np.ones(N))[1:]
        options = {"kinds": np.ones(1, dtype=np.uint8), "penalty": 0.0}
        tree, _ = compiled_tree(codes, range(N), levels, NONE, 1, **options)

        def gain(left, codes=codes, g=g, h=h):
            inside = np.isin(codes[0], left)
            return (
                sum(g[side].sum() ** 2 / h[side].sum() for side in (inside, ~inside))
                - g.sum() ** 2 / h.sum()
            )

        subsets = [
            [c for c in range(L) if number >> c & 1] for number in range(1, 2**L - 1)
        ]
        assert tree.gain[0] == pytest.approx(max(map(gain, subsets)), rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_slopes_of_the_logit(seed):
    rng = np.random.default_rng(seed)
    N = 300
    K = int(rng.integers(2, 8))
    y = rng.integers(0, K, N).astype(np.uint16)
    H = 3 * rng.normal(size=N)
    theta = np.sort(2 * rng.normal(size=K - 1))
    w = rng.uniform(0.5, 2.0, N)
    for given, weights in ((w, w), (NONE, np.ones(N))):
        g = np.empty(N)
        h = np.empty(N)
        loss = logit_slopes(y, H, theta, given, g, h)
        expected = naive.logit_slopes(y, H, theta, weights)
        for mine, other in zip((loss, g, h), expected, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-14)
        assert logit_slopes(y, H, theta, given, NONE, NONE) == loss
        parts = [np.empty(K - 1) for _ in range(3)]
        logit_thresholds(y, H, theta, given, *parts)
        G, S = naive.logit_thresholds(y, H, theta, weights)
        np.testing.assert_allclose(parts[0], G, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(parts[1], np.diag(S), rtol=1e-7)
        np.testing.assert_allclose(parts[2][1:], np.diag(S, 1), rtol=1e-7)


@pytest.mark.parametrize("H", [-800.0, -90.0, 0.0, 49.0, 51.0, 90.0, 800.0])
def test_slopes_far_out_are_those_of_the_tails(H):
    """-log P is linear there: P(y = 0) = exp(theta_0 - H), P(y = 2) = exp(H - theta_1)
    far on the wrong side.
    """
    theta = np.array([-1.0, 2.0])
    y = np.array([0, 1, 2], dtype=np.uint16)
    scores = np.full(3, H)
    g = np.empty(3)
    h = np.empty(3)
    loss = logit_slopes(y, scores, theta, NONE, g, h)
    exact = [
        np.logaddexp(0, H + 1),
        np.logaddexp(0, H - 2) + np.logaddexp(0, -1 - H) - np.log(-np.expm1(-3.0)),
    ]
    exact.append(np.logaddexp(0, 2 - H))
    assert loss == pytest.approx(sum(exact), rel=1e-12)
    expected = [expit(H + 1), expit(H - 2) - expit(-1 - H), -expit(2 - H)]
    np.testing.assert_allclose(g, expected, rtol=1e-12, atol=1e-300)
    assert (h >= 0).all() and np.isfinite(h).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_trees_wider_than_the_histograms_that_are_held_at_once(weighted):
    """Levels of more than 64 nodes are made some nodes at a time; a plain tree knows
    nothing of that.
    """
    rng = np.random.default_rng(0)
    N = 1500
    codes = rng.integers(0, 120, (2, N)).astype(np.uint8)
    levels, (g, h) = levels_of(rng, N, 0.3)
    w = rng.integers(1, 4, N).astype(float) if weighted else np.ones(N)
    tree, _ = compiled_tree(
        codes, range(N), levels, w if weighted else NONE, 11, penalty=0.5
    )
    plain = naive.Grower(codes=codes, depth=11, penalty=0.5).tree(np.arange(N), g, h, w)
    assert naive.alike(naive.nested(tree, codes.max(axis=1) + 1), plain)
    assert np.count_nonzero(tree.column < 0) > 200


def test_a_pickle_does_not_grow_by_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    sample = Sample(rows=Rows(X=X), y=(X[:, 0] > 0).astype(np.intp), n_levels=2)
    fit = OrdinalBoosting(rounds=5, depth=2).fit(sample, rng)
    copy = pickle.loads(pickle.dumps(fit.trees))
    before = len(pickle.dumps(copy))
    scores = copy(sample.rows)
    assert len(pickle.dumps(copy)) == before
    again = pickle.loads(pickle.dumps(copy))
    np.testing.assert_array_equal(again(sample.rows), scores)
    np.testing.assert_array_equal(fit.trees(sample.rows), scores)
