"""Compiled trees and slopes against plain loops."""

import numpy as np
import pytest
from scipy.special import expit

from ordstat.compiled.boost import OUTSIDE, add_binned, add_trees, grow, logit_slopes, logit_thresholds
from ordstat.formula.sample import Rows
from ordstat.prediction.trees import BoostedTrees, ValueTree

from . import naive

NONE = np.empty(0)


def compiled_tree(codes, rows, g, h, w, depth, **more):
    """A compiled tree; `naive.Grower` has the meaning of the options."""
    D = len(codes)
    out = ValueTree.empty(max(2 * len(rows) - 1, 1), len(rows))
    counts = more.get("counts")
    if counts is None:
        counts = (codes.max(axis=1, initial=0).astype(np.int32) + 1) if D else np.empty(0, dtype=np.int32)
    options = {
        "gaps": (codes == counts[:, None]).any(axis=1).astype(np.uint8),
        "kinds": np.zeros(D, dtype=np.uint8),
        "signs": np.zeros(D, dtype=np.int8),
        "groups": np.full(D, 2**64 - 1, dtype=np.uint64),
        "columns": np.arange(D, dtype=np.int32),
        "least": 1.0,
        "penalty": 1.0,
        "logarithmic": False,
    } | more
    place = np.full(codes.shape[1], OUTSIDE, dtype=np.uint16)
    place[rows] = 0
    about = [options[name] for name in ("gaps", "kinds", "signs", "groups", "columns")]
    source = (place, np.empty(0, dtype=np.uint16), NONE, NONE, NONE, g, h, w)
    plain = not (options["gaps"].any() or options["kinds"].any())
    numbers = (plain, depth, options["least"], options["penalty"], 1e-3, options["logarithmic"], 4.0, 1.0)
    places = (out.column, out.bin, out.child, out.gaps_left, out.sets, out.value, out.gain, out.weight)
    made, _ = grow(codes, counts, *about, *source, *numbers, *places, None)
    assert sorted(np.flatnonzero(place < OUTSIDE).tolist()) == sorted(rows)
    values = np.zeros(codes.shape[1])
    walk = (out.column, out.bin, out.child, out.gaps_left, out.sets, out.value)
    add_binned(codes, counts, *walk, plain, values)
    assert (out.column[place % OUTSIDE] < 0).all()
    np.testing.assert_array_equal(out.value[place % OUTSIDE], values)
    return out.upto(made)


@pytest.mark.parametrize("seed", range(30))
def test_trees(seed):
    rng = np.random.default_rng(seed)
    N, D, depth = int(rng.integers(2, 60)), int(rng.integers(1, 5)), int(rng.integers(1, 6))
    codes = rng.integers(0, rng.integers(1, 9), (D, N)).astype(np.uint8)
    g, h = rng.normal(size=N), rng.uniform(0.01, 0.5, N)
    w = rng.integers(1, 4, N).astype(float) if seed % 2 else np.ones(N)
    rows = np.flatnonzero(rng.random(N) < (0.8 if seed % 4 else 1.0)).tolist() or [0]
    signs = rng.integers(-1, 2, D).astype(np.int8) if seed % 3 == 0 else np.zeros(D, dtype=np.int8)
    options = {"least": float(rng.integers(1, 4)), "penalty": float(rng.choice([0.0, 1.0]))}
    if seed % 5 == 4:  # slopes and curvatures of exponentials
        options["logarithmic"], g = True, 2 * h * rng.uniform(-1, 1, N)
    columns = np.sort(rng.permutation(D)[: rng.integers(1, D + 1)]).astype(np.int32)
    given = w if seed % 2 else NONE
    tree = compiled_tree(codes, rows, g, h, given, depth, columns=columns, signs=signs, **options)
    plain = naive.Grower(codes=codes, depth=depth, signs=signs, columns=columns, **options).tree(rows, g, h, w)
    column, bin, child, value, made = tree.column, tree.bin, tree.child, tree.value, tree.column.size
    assert naive.alike(naive.nested(tree, codes.max(axis=1) + 1), plain)
    assert made == 2 * len(plain.leaves()) - 1

    scores = np.zeros(N)
    none = np.empty(0, dtype=np.int32)
    add_binned(codes, none, column, bin, child, tree.gaps_left, tree.sets, value, True, scores)
    np.testing.assert_allclose(scores, [plain.at(codes[:, n]) for n in range(N)], rtol=1e-9, atol=1e-12)
    twice, X = np.ones(N), np.ascontiguousarray(codes.T.astype(float))
    both = [np.concatenate([part, part]) for part in (column, bin + 0.5, np.where(child < 0, -1, child), value)]
    both[2][made:] = np.where(child < 0, -1, child + made)
    add_trees(X, np.array([0, made], dtype=np.int32), *both, twice)
    np.testing.assert_allclose(twice, 1.0 + 2 * scores, rtol=1e-12)


def test_a_tree_without_columns_is_a_leaf():
    tree = compiled_tree(np.empty((0, 3), dtype=np.uint8), [0, 1, 2], np.ones(3), np.ones(3), NONE, 3)
    assert tree.column.size == 1
    assert tree.value[0] == pytest.approx(-3 / 4)


@pytest.mark.parametrize("seed", range(60))
def test_trees_of_categories_missing_values_and_groups(seed):
    """Sums of children made row by row; every prefix of the sorted categories, either side for missing rows."""
    rng = np.random.default_rng(seed)
    N, D, depth = int(rng.integers(4, 90)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    counts = rng.integers(1, 9, D).astype(np.int32)
    kinds = rng.integers(0, 2, D).astype(np.uint8)
    codes = np.stack([rng.integers(0, count, N) for count in counts]).astype(np.uint8)
    gone = rng.random((D, N)) < rng.choice([0.0, 0.2, 0.7], D)[:, None]
    codes = np.where(gone, counts[:, None], codes).astype(np.uint8)
    g, h = rng.normal(size=N), rng.uniform(0.01, 0.5, N)
    w = rng.integers(1, 4, N).astype(float) if seed % 2 else np.ones(N)
    rows = np.flatnonzero(rng.random(N) < (0.8 if seed % 4 else 1.0)).tolist() or [0]
    signs = np.where(kinds, 0, rng.integers(-1, 2, D)).astype(np.int8) if seed % 3 == 0 else np.zeros(D, dtype=np.int8)
    groups = rng.integers(1, 4, D).astype(np.uint64) if seed % 5 == 0 else np.full(D, 1, dtype=np.uint64)
    options = {"least": float(rng.integers(1, 4)), "penalty": float(rng.choice([0.0, 1.0])), "signs": signs}
    options |= {"counts": counts, "kinds": kinds, "groups": groups}
    tree = compiled_tree(codes, rows, g, h, w if seed % 2 else NONE, depth, **options)
    plain = naive.Grower(codes=codes, depth=depth, **options).tree(rows, g, h, w)
    assert naive.alike(naive.nested(tree, counts), plain)

    expected = [plain.at(codes[:, n]) for n in range(N)]
    scores, walk = np.zeros(N), (tree.column, tree.bin, tree.child, tree.gaps_left, tree.sets, tree.value)
    add_binned(codes, counts, *walk, False, scores)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)
    # The same by values: code c is the value c, none is NaN, and cuts lie half way.
    X = np.ascontiguousarray(np.where(codes == counts[:, None], np.nan, codes).T)
    cuts = tuple(np.empty(0) if kind else np.arange(count - 1) + 0.5 for kind, count in zip(kinds, counts, strict=True))
    effects = tuple(np.zeros(count if kind else 0) for kind, count in zip(kinds, counts, strict=True))
    trees = BoostedTrees(slopes=np.zeros(D), cuts=cuts, trees=(tree, tree), missing=np.zeros(D), effects=effects)
    np.testing.assert_allclose(trees(Rows(X=X)), 2 * scores, rtol=1e-12)
    # And by the sides of every node.
    left, at = tree.lefts(X, cuts), np.zeros(N, dtype=int)
    for _ in range(depth):
        inner = tree.column[at] >= 0
        at = np.where(inner, tree.child[at] + ~left[np.arange(N), at], at)
    np.testing.assert_allclose(tree.value[at], scores, rtol=1e-12)


def test_categories_are_cut_at_the_best_of_all_subsets():
    """Without a penalty the order of G / V has the best of all 2^L subsets [Fisher 1958]."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        L, N = 7, 200
        codes = rng.integers(0, L, (1, N)).astype(np.uint8)
        g, h = rng.normal(size=N) + np.sin(3.0 * codes[0]), rng.uniform(0.1, 0.5, N)
        options = {"kinds": np.ones(1, dtype=np.uint8), "penalty": 0.0}
        tree = compiled_tree(codes, range(N), g, h, NONE, 1, **options)

        def gain(left, codes=codes, g=g, h=h):
            inside = np.isin(codes[0], left)
            return sum(g[side].sum() ** 2 / h[side].sum() for side in (inside, ~inside)) - g.sum() ** 2 / h.sum()

        subsets = [[c for c in range(L) if number >> c & 1] for number in range(1, 2**L - 1)]
        assert tree.gain[0] == pytest.approx(max(map(gain, subsets)), rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_slopes_of_the_logit(seed):
    rng = np.random.default_rng(seed)
    N, K = 300, int(rng.integers(2, 8))
    y, H = rng.integers(0, K, N).astype(np.uint16), 3 * rng.normal(size=N)
    theta, w = np.sort(2 * rng.normal(size=K - 1)), rng.uniform(0.5, 2.0, N)
    for given, weights in ((w, w), (NONE, np.ones(N))):
        g, h = np.empty(N), np.empty(N)
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
    """-log P is linear there: P(y = 0) = exp(theta_0 - H), P(y = 2) = exp(H - theta_1) far on the wrong side."""
    theta, y = np.array([-1.0, 2.0]), np.array([0, 1, 2], dtype=np.uint16)
    scores, g, h = np.full(3, H), np.empty(3), np.empty(3)
    loss = logit_slopes(y, scores, theta, NONE, g, h)
    exact = [np.logaddexp(0, H + 1), np.logaddexp(0, H - 2) + np.logaddexp(0, -1 - H) - np.log(-np.expm1(-3.0))]
    exact.append(np.logaddexp(0, 2 - H))
    assert loss == pytest.approx(sum(exact), rel=1e-12)
    expected = [expit(H + 1), expit(H - 2) - expit(-1 - H), -expit(2 - H)]
    np.testing.assert_allclose(g, expected, rtol=1e-12, atol=1e-300)
    assert (h >= 0).all() and np.isfinite(h).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_trees_wider_than_the_histograms_that_are_held_at_once(weighted):
    """Levels of more than 64 nodes are made some nodes at a time; a plain tree knows nothing of that."""
    rng = np.random.default_rng(8)
    N = 1500
    codes = rng.integers(0, 120, (2, N)).astype(np.uint8)
    g, h = rng.normal(size=N), rng.uniform(0.01, 0.5, N)
    w = rng.integers(1, 4, N).astype(float) if weighted else np.ones(N)
    tree = compiled_tree(codes, range(N), g, h, w if weighted else NONE, 11, penalty=0.5)
    plain = naive.Grower(codes=codes, depth=11, penalty=0.5).tree(np.arange(N), g, h, w)
    assert naive.alike(naive.nested(tree, codes.max(axis=1) + 1), plain)
    assert np.count_nonzero(tree.column < 0) > 200
