"""Ridits and Mann-Whitney probabilities beside SciPy, R, brute force and simulation."""

import numpy as np
import pytest
from scipy.stats import brunnermunzel, kruskal, mannwhitneyu

from ordstat import datasets, describe_ordinal
from ordstat.inference.ridits import (
    Ridits,
    limits_of_shares,
    mann_whitney,
    mid_shares,
)

K = 5
SAMPLES = 2000
#: Four Monte Carlo errors, and what limits from asymptotic errors may miss at 40 rows.
ALLOWED = 4 * np.sqrt(0.05 * 0.95 / SAMPLES) + 0.01
SHARES = np.array(
    [[0.1, 0.2, 0.4, 0.2, 0.1], [0.05, 0.1, 0.25, 0.3, 0.3], [0.3, 0.3, 0.2, 0.1, 0.1]]
)


def two_samples(seed=1, n=(23, 31)):
    rng = np.random.default_rng(seed)
    return rng.choice(K, n[0], p=SHARES[0]), rng.choice(K, n[1], p=SHARES[1])


def counted(*samples):
    return np.array([np.bincount(codes, minlength=K) for codes in samples], dtype=float)


def brute(x, y):
    return np.mean(np.sign(x[:, None] - y) / 2 + 0.5)


def test_ridits_of_bross():
    """Bross's definition: half of the own share, and all below."""
    assert mid_shares(np.array([10.0, 30.0, 60.0])).tolist() == [0.05, 0.25, 0.7]


def test_mean_ridits_by_brute_force():
    x, y = two_samples()
    both = np.concatenate([x, y])
    assert Ridits(counted(x, y)).means == pytest.approx(
        [brute(x, both), brute(y, both)], rel=1e-12
    )


def test_mean_ridits_are_mean_ranks():
    x, y = two_samples(2)
    means = Ridits(counted(x, y)).means
    N = x.size + y.size
    ranks = means * N + 0.5
    ties = counted(x, y).sum(axis=0)
    statistic = (
        12 / (N * (N + 1)) * np.sum([x.size, y.size] * (ranks - (N + 1) / 2) ** 2)
    )
    assert statistic / (1 - np.sum(ties**3 - ties) / (N**3 - N)) == pytest.approx(
        kruskal(x, y).statistic, rel=1e-9
    )


def test_probability_and_error_of_scipy():
    x, y = two_samples(3)
    actual = mann_whitney(*counted(x, y))
    assert actual.probability == pytest.approx(
        mannwhitneyu(x, y).statistic / (x.size * y.size), rel=1e-12
    )
    assert (0.5 - actual.probability) / actual.std_error == pytest.approx(
        brunnermunzel(x, y).statistic, rel=1e-9
    )


def test_error_of_r():
    """pROC 1.18.0: roc(wine$temp == "cold", as.integer(wine$rating), levels = c(FALSE,
    TRUE), direction = "<"), its auc() and sqrt(var(., method = "delong")).
    """
    row = describe_ordinal(
        datasets.load("wine"), "rating", by="temp"
    ).mann_whitney.iloc[0]
    assert (row["probability"], row["std_error"]) == pytest.approx(
        (0.199459876543, 0.0478454617389), rel=1e-9
    )


def test_mean_ridit_of_two_groups_follows_from_their_probability():
    """r1 = n1 / 2N + P n2 / N, and so its error is that of P times n2 / N."""
    x, y = two_samples(4)
    counts = counted(x, y)
    share = y.size / (x.size + y.size)
    p = mann_whitney(*counts)
    ridits = Ridits(counts)
    assert ridits.means[0] == pytest.approx(
        (1 - share) / 2 + p.probability * share, rel=1e-12
    )
    assert ridits.independent_errors()[0] == pytest.approx(
        p.std_error * share, rel=1e-9
    )


def test_the_formula_of_fleiss_where_groups_are_alike():
    """ridittools::seridit(c(60, 90, 30, 120), c(120, 180, 60, 240)) = 0.0193756839917
    [Fleiss 1981, p. 154]; there the reference is the other group, so that its ridits
    are 600 / 900 as far apart here.
    """
    alike = Ridits(np.array([[60.0, 90, 30, 120], [120, 180, 60, 240]]))
    assert alike.means == pytest.approx([0.5, 0.5])
    assert alike.independent_errors()[0] == pytest.approx(
        600 / 900 * 0.0193756839917, rel=5e-3
    )


def test_mean_ridit_of_r():
    """ridittools::meanridit(trump, obama) = 0.241353724918, the ratings of two
    politicians.
    """
    obama = np.array([9.0, 71, 70, 161, 165, 123])
    trump = np.array([77.0, 169, 114, 78, 60, 24])
    assert mann_whitney(trump, obama).probability == pytest.approx(
        0.241353724918, rel=1e-9
    )


def paired(rng, n=300):
    latent = rng.normal(size=(n, 1)) + rng.normal(size=(n, 3)) + [0.0, 0.3, -0.4]
    codes = np.digitize(latent, [-1.5, -0.5, 0.5, 1.5])
    codes[rng.random((n, 3)) < 0.1] = -1
    return codes


def item_ridits(codes):
    return Ridits(
        np.array(
            [np.bincount(item[item >= 0], minlength=K) for item in codes.T], dtype=float
        )
    )


def test_errors_of_items_by_jackknife():
    codes = paired(np.random.default_rng(5))
    n = len(codes)
    left_out = np.array(
        [item_ridits(np.delete(codes, i, axis=0)).means for i in range(n)]
    )
    jackknife = np.sqrt((n - 1) ** 2 / n * left_out.var(axis=0, ddof=1))
    assert item_ridits(codes).paired_errors(codes, np.ones(n)) == pytest.approx(
        jackknife, rel=0.01
    )


def test_limits_of_probabilities():
    low, high = limits_of_shares(
        np.array([0.2, 0.8, 1.0, 0.5]), np.array([0.05, 0.05, 0.0, 0.0]), 0.95
    )
    assert np.isnan([low[2:], high[2:]]).all() and low[0] + high[1] == pytest.approx(
        1.0
    )
    assert low[0] > 0.2 - 1.96 * 0.05 and high[0] > 0.2 + 1.96 * 0.05


def drawn(rng, sizes=(40, 40, 40)):
    return [rng.choice(K, n, p=p) for n, p in zip(sizes, SHARES, strict=True)]


@pytest.mark.slow
def test_limits_hold_the_truth():
    """Probabilities of pairs of groups, and mean ridits of three groups against all."""
    rng = np.random.default_rng(6)
    truth = np.array(
        [brute_shares(SHARES[i], SHARES[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    )
    ridits = np.array([np.mean([brute_shares(a, b) for b in SHARES]) for a in SHARES])
    held = np.zeros(6)
    for _ in range(SAMPLES):
        counts = counted(*drawn(rng))
        limits = np.array(
            [
                mann_whitney(counts[i], counts[j]).limits(0.95)
                for i, j in ((0, 1), (0, 2), (1, 2))
            ]
        ).T
        r = Ridits(counts)
        own = np.array(limits_of_shares(r.means, r.independent_errors(), 0.95))
        both = np.hstack([limits, own])
        known = np.concatenate([truth, ridits])
        held += (both[0] <= known) & (known <= both[1])
    assert np.all(np.abs(held / SAMPLES - 0.95) <= ALLOWED), held / SAMPLES


def brute_shares(p, q):
    return p @ (np.cumsum(q) - q / 2)


@pytest.mark.slow
def test_limits_of_items_hold_the_truth():
    rng = np.random.default_rng(7)
    truth = item_ridits(paired(rng, 400_000)).means
    held = np.zeros(3)
    for _ in range(SAMPLES):
        codes = paired(rng, 60)
        r = item_ridits(codes)
        low, high = limits_of_shares(r.means, r.paired_errors(codes, np.ones(60)), 0.95)
        held += (low <= truth) & (truth <= high)
    assert np.all(np.abs(held / SAMPLES - 0.95) <= ALLOWED), held / SAMPLES
