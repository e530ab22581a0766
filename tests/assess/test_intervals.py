"""Limits from unseen rows: against scipy and by their coverage."""

import numpy as np
import pytest
from scipy import stats

from ordstat.assess.intervals import clopper_pearson, empirical_bernstein, holdout_limits


@pytest.mark.parametrize(("errors", "n"), [(0, 7), (1, 7), (30, 100), (99, 100), (100, 100)])
def test_clopper_pearson_matches_scipy(errors, n):
    exact = stats.binomtest(errors, n, alternative="less").proportion_ci(0.95, method="exact").high
    assert clopper_pearson(errors, n, 0.05) == pytest.approx(exact, rel=1e-12)


def test_empirical_bernstein_by_hand():
    losses = np.array([0.0, 1.0, 2.0, 1.0])
    variance, log = 2.0 / 3.0, np.log(2 / 0.05)
    expected = 1.0 + np.sqrt(2 * variance * log / 4) + 7 * 30 * log / 9
    assert empirical_bernstein(losses, np.ones(4), 30.0, 0.05) == min(expected, 30.0)
    many = np.tile(losses, 1000)
    variance = 0.5 * 4000 / 3999
    expected = 1.0 + np.sqrt(2 * variance * log / 4000) + 7 * 3 * log / (3 * 3999)
    assert empirical_bernstein(many, np.ones(4000), 3.0, 0.05) == pytest.approx(expected, rel=1e-12)
    assert empirical_bernstein(losses, np.full(4, 1000.0), 3.0, 0.05) == pytest.approx(expected, rel=1e-12)
    assert empirical_bernstein(losses[:1], np.ones(1), 3.0, 0.05) == 3.0


@pytest.mark.parametrize("n", [20, 400])
def test_limits_cover_the_true_errors(n):
    rng = np.random.default_rng(n)
    p = np.array([0.7, 0.2, 0.1])
    covered = []
    for _ in range(600):
        limits = holdout_limits(rng.choice(3, size=n, p=p).astype(float), np.ones(n), 3)
        covered.append([limit.value >= truth for limit, truth in zip(limits, (0.3, 0.4), strict=True)])
    # Four standard errors of 600 draws at 0.95.
    assert (np.mean(covered, axis=0) >= 0.95 - 4 * np.sqrt(0.05 * 0.95 / 600)).all()
