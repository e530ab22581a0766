"""Kruskal-Wallis against SciPy, Jonckheere-Terpstra against all arrangements."""

from itertools import permutations
from math import sqrt

import numpy as np
import pytest
from scipy.stats import kruskal, mannwhitneyu, norm

from ordstat.inference import rank_tests

RNG = np.random.default_rng(7)
COUNTS = RNG.integers(0, 9, (4, 5)).astype(float)


def answers(counts):
    """The answers of each group, one by one."""
    levels = np.arange(counts.shape[1])
    return [np.repeat(levels, row.astype(int)) for row in counts]


@pytest.mark.parametrize("groups", [2, 4])
def test_kruskal_wallis_against_scipy(groups):
    expected = kruskal(*answers(COUNTS[:groups]))
    actual = rank_tests.kruskal_wallis(COUNTS[:groups])
    assert actual.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert actual.p_value == pytest.approx(expected.pvalue, rel=1e-12)
    assert actual.df == groups - 1


def test_groups_without_answers_and_one_level():
    padded = np.vstack([COUNTS[:2], np.zeros((1, 5)), COUNTS[2:]])
    assert rank_tests.kruskal_wallis(padded) == rank_tests.kruskal_wallis(COUNTS)
    assert (
        rank_tests.jonckheere_terpstra(padded).p_value
        == rank_tests.jonckheere_terpstra(COUNTS).p_value
    )
    same = np.array([[3.0, 0.0], [4.0, 0.0]])
    assert np.isnan(rank_tests.kruskal_wallis(same).p_value)
    assert rank_tests.jonckheere_terpstra(same).p_value == 1.0


def arrangements(counts):
    """J and all answers dealt to the groups in every order."""
    groups = np.repeat(np.arange(len(counts)), counts.sum(axis=1).astype(int))
    values = np.concatenate(answers(counts))
    later = groups[:, None] < groups
    return [
        float((later * (np.less.outer(v, v) + 0.5 * np.equal.outer(v, v))).sum())
        for v in map(np.array, permutations(values))
    ]


TINY = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 2.0]])


def test_the_exact_distribution_against_all_arrangements():
    """5,040 orders of seven answers with ties."""
    every = np.array(arrangements(TINY))
    mean = every.mean()
    observed = rank_tests._rising_pairs(TINY)
    actual = rank_tests.jonckheere_terpstra(TINY)
    assert actual.statistic == observed
    expected = np.mean(np.abs(every - mean) >= abs(observed - mean) - 1e-9)
    assert actual.p_value == pytest.approx(expected, rel=1e-12)
    # and the variance with ties, which larger samples use
    variance = rank_tests._variance(TINY.sum(axis=1), TINY.sum(axis=0))
    assert variance == pytest.approx(every.var(), rel=1e-12)


def test_the_normal_approximation_of_two_groups_is_that_of_wilcoxon():
    two = 3.0 * COUNTS[:2]
    expected = mannwhitneyu(
        *answers(two)[::-1], use_continuity=False, method="asymptotic"
    )
    actual = rank_tests.jonckheere_terpstra(two)
    assert actual.statistic == expected.statistic
    assert actual.p_value == pytest.approx(expected.pvalue, rel=1e-12)


def test_a_published_trend():
    """Hollander & Wolfe (1999), table 6.6: J = 79, mean 54, variance 150.29 without
    the correction for ties.
    """
    control = [40, 35, 38, 43, 44, 41]
    rough = [38, 40, 47, 44, 40, 42]
    accurate = [48, 40, 45, 43, 46, 44]
    groups = [control, rough, accurate]
    values = sorted({value for group in groups for value in group})
    counts = np.array([[g.count(v) for v in values] for g in groups], dtype=float)
    actual = rank_tests.jonckheere_terpstra(counts)
    assert actual.statistic == 79.0
    variance = rank_tests._variance(counts.sum(axis=1), counts.sum(axis=0))
    assert variance == pytest.approx(150.29, abs=0.01)
    assert actual.p_value == pytest.approx(2 * norm.sf(25 / sqrt(variance)), rel=1e-12)
