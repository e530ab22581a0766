"""Compiled trees and slopes against plain loops."""

import numpy as np
import pytest
from scipy.special import expit

from ordstat.compiled.boost import add_binned, add_trees, grow
from ordstat.compiled.logitslopes import logit_slopes, logit_thresholds

from . import naive

NONE = np.empty(0)


def compiled_tree(codes, rows, g, h, w, depth, *, columns=None, signs=None, least=1.0, penalty=1.0, logarithmic=False):
    """The arrays of a compiled tree, and the number of its nodes."""
    D = len(codes)
    size = max(2 * len(rows) - 1, 1)
    out = [np.empty(size, dtype=np.int32) for _ in range(3)] + [np.empty(size) for _ in range(3)]
    counts = (codes.max(axis=1, initial=0).astype(np.int32) + 1) if D else np.empty(0, dtype=np.int32)
    columns = np.arange(D, dtype=np.int32) if columns is None else columns
    signs = np.zeros(D, dtype=np.int8) if signs is None else signs
    given = np.array(rows, dtype=np.int32)
    made = grow(codes, counts, signs, columns, given, g, h, w, depth, least, penalty, 1e-3, logarithmic, 4.0, *out)
    assert sorted(given.tolist()) == sorted(rows)
    return [part[:made] for part in out], made


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
    found, made = compiled_tree(codes, rows, g, h, given, depth, columns=columns, signs=signs, **options)
    plain = naive.Grower(codes=codes, depth=depth, signs=signs, columns=columns, **options).tree(rows, g, h, w)
    column, bin, child, value, _, weight = found
    assert naive.alike(naive.nested(column, bin, child, value, weight), plain)
    assert made == 2 * len(plain.leaves()) - 1

    scores = np.zeros(N)
    add_binned(codes, column, bin, child, value, scores)
    np.testing.assert_allclose(scores, [plain.at(codes[:, n]) for n in range(N)], rtol=1e-9, atol=1e-12)
    twice, X = np.ones(N), np.ascontiguousarray(codes.T.astype(float))
    both = [np.concatenate([part, part]) for part in (column, bin + 0.5, np.where(child < 0, -1, child), value)]
    both[2][made:] = np.where(child < 0, -1, child + made)
    add_trees(X, np.array([0, made], dtype=np.int32), *both, twice)
    np.testing.assert_allclose(twice, 1.0 + 2 * scores, rtol=1e-12)


def test_a_tree_without_columns_is_a_leaf():
    found, made = compiled_tree(np.empty((0, 3), dtype=np.uint8), [0, 1, 2], np.ones(3), np.ones(3), NONE, 3)
    assert made == 1
    assert found[3][0] == pytest.approx(-3 / 4)


@pytest.mark.parametrize("seed", range(8))
def test_slopes_of_the_logit(seed):
    rng = np.random.default_rng(seed)
    N, K = 300, int(rng.integers(2, 8))
    y, H = rng.integers(0, K, N).astype(np.int32), 3 * rng.normal(size=N)
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
    theta, y = np.array([-1.0, 2.0]), np.array([0, 1, 2], dtype=np.int32)
    scores, g, h = np.full(3, H), np.empty(3), np.empty(3)
    loss = logit_slopes(y, scores, theta, NONE, g, h)
    exact = [np.logaddexp(0, H + 1), np.logaddexp(0, H - 2) + np.logaddexp(0, -1 - H) - np.log(-np.expm1(-3.0))]
    exact.append(np.logaddexp(0, 2 - H))
    assert loss == pytest.approx(sum(exact), rel=1e-12)
    expected = [expit(H + 1), expit(H - 2) - expit(-1 - H), -expit(2 - H)]
    np.testing.assert_allclose(g, expected, rtol=1e-12, atol=1e-300)
    assert (h >= 0).all() and np.isfinite(h).all()
