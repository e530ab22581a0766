"""Agreement measures against brute force over pairs, scipy.stats and scikit-learn."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from ordstat.judging import errors

# Sums of at most a few hundred products of small integers: only the division rounds.
EXACT = 1e-13


def _sample(seed, n, n_levels, distinct):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_levels, size=n)
    scores = rng.integers(distinct, size=n) / 7.0 + 0.3 * y
    codes = np.clip(np.rint(scores).astype(np.intp), 0, n_levels - 1)
    return y, codes, scores, rng.integers(0, 4, size=n).astype(float)


SAMPLES = [
    _sample(1, 60, 2, 5),
    _sample(2, 61, 5, 9),
    _sample(3, 40, 7, 1000),
    _sample(4, 50, 33, 12),
    _sample(5, 30, 64, 3),
]


def _brute_force(y, scores, weights):
    """(concordant, discordant, tied) by looking at every pair."""
    i, j = np.triu_indices(y.size, 1)
    w = weights[i] * weights[j] * (y[i] != y[j])
    agreement = np.sign(scores[i] - scores[j]) * np.sign(y[i] - y[j])
    return w[agreement > 0].sum(), w[agreement < 0].sum(), w[agreement == 0].sum()


@pytest.mark.parametrize(("y", "codes", "scores", "weights"), SAMPLES)
def test_pair_counts_match_every_pair(y, codes, scores, weights):
    for values in (scores, codes, -scores):
        pairs = errors.pairs_of_rows(y, values, weights)
        assert (pairs.concordant, pairs.discordant, pairs.tied) == _brute_force(
            y, values, weights
        )
        assert pairs.weight == weights.sum()


def test_pair_counts_with_real_weights():
    y, _, scores, _ = SAMPLES[1]
    weights = np.random.default_rng(0).random(y.size)
    pairs = errors.pairs_of_rows(y, scores, weights)
    np.testing.assert_allclose(
        (pairs.concordant, pairs.discordant, pairs.tied),
        _brute_force(y, scores, weights),
        rtol=1e-12,
    )


@pytest.mark.parametrize(("y", "codes", "scores", "weights"), SAMPLES)
def test_pairwise_measures_by_their_definitions(y, codes, scores, weights):
    repeated = np.repeat(np.arange(y.size), weights.astype(int))
    m = repeated.size
    # c_pref of (7.11) over all m^2 ordered pairs.
    dy = y[repeated][:, None] - y[repeated]
    dg = codes[repeated][:, None] - codes[repeated]
    risk = np.sum((dy > 0) & (dg <= 0)) + np.sum((dy < 0) & (dg >= 0))
    cells = errors.confusion(y, codes, weights, max(y.max(), codes.max()) + 1)
    assert errors.preference_risk(cells) == pytest.approx(risk / m**2, rel=EXACT)
    assert errors.inversions(cells) == pytest.approx(risk / np.sum(dy != 0), rel=EXACT)
    by_score = errors.pairs_of_rows(y, scores, weights)
    somers = stats.somersd(y[repeated], scores[repeated]).statistic
    assert errors.somers_d(by_score) == pytest.approx(somers, rel=1e-12)
    assert errors.concordance(by_score) == pytest.approx((1 + somers) / 2, rel=1e-12)


@pytest.mark.parametrize(("y", "codes", "scores", "weights"), SAMPLES)
def test_rank_measures_match_scipy_and_sklearn_on_repeated_rows(
    y, codes, scores, weights
):
    rows = np.repeat(np.arange(y.size), weights.astype(int))
    cells = errors.confusion(y, codes, weights, max(y.max(), codes.max()) + 1)
    expected = stats.kendalltau(y[rows], codes[rows], variant="b").statistic
    assert errors.kendall_tau_b(cells) == pytest.approx(expected, rel=1e-12)
    assert errors.spearman(cells) == pytest.approx(
        stats.spearmanr(y[rows], codes[rows]).statistic, rel=1e-12
    )
    for cost, name in (("absolute", "linear"), ("squared", "quadratic")):
        kappa = cohen_kappa_score(
            y[rows], codes[rows], weights=name, labels=np.arange(len(cells))
        )
        assert errors.weighted_kappa(cells, cost) == pytest.approx(
            kappa, rel=1e-11, abs=1e-14
        )


def test_undefined_measures_are_nan():
    y = np.array([0, 1, 2, 2])
    constant = np.array([1, 1, 1, 1])
    weights = np.array([0.1, 0.2, 0.3, 0.7])
    cells = errors.confusion(y, constant, weights, 3)
    assert np.isnan(errors.kendall_tau_b(cells))
    assert np.isnan(errors.spearman(cells))
    assert np.isnan(
        errors.weighted_kappa(
            errors.confusion(constant, constant, weights, 3), "absolute"
        )
    )
    assert np.isnan(errors.concordance(errors.pairs_of_rows(constant, y, weights)))


@pytest.mark.parametrize("cost", ["absolute", "squared"])
def test_kappa_beside_a_constant_is_zero(cost):
    weights = np.array([0.1, 0.7, 0.3, 1.1, 0.2])
    varied = np.array([0, 1, 2, 4, 1])
    constant = np.full(5, 3)
    for y, codes in ((varied, constant), (constant, varied), (constant, np.full(5, 1))):
        assert (
            errors.weighted_kappa(errors.confusion(y, codes, weights, 5), cost) == 0.0
        )
