"""Limits from unseen rows: against scipy and by their coverage."""

import numpy as np
import pytest
from scipy import stats

from ordstat.judging import tables


@pytest.mark.parametrize(
    ("errors", "n"), [(0, 7), (1, 7), (30, 100), (99, 100), (100, 100)]
)
def test_clopper_pearson_matches_scipy(errors, n):
    exact = (
        stats.binomtest(errors, n, alternative="less")
        .proportion_ci(0.95, method="exact")
        .high
    )
    assert tables.clopper_pearson(errors, n, 0.05) == pytest.approx(exact, rel=1e-12)


def test_two_levels_have_one_error():
    limits = tables.holdout_limits(
        np.array([0.0, 1.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0, 4.0]), 2
    )
    assert [limit.value for limit in limits] == [
        tables.clopper_pearson(2, 10, 0.05)
    ] * 2


def test_the_mean_of_several_rankers():
    parts = [
        tables.holdout_limits(
            np.repeat([0.0, 1.0], [90, wrong]), np.ones(90 + wrong), 3, 0.025
        )
        for wrong in (5, 15)
    ]
    mean = tables.averaged(parts, 0.05)
    assert [limit.delta for limit in mean] == [0.05, 0.05]
    assert mean[0].value == (parts[0][0].value + parts[1][0].value) / 2
    assert mean[1].training == (5 / 95 + 15 / 105) / 2


@pytest.mark.parametrize("n", [20, 400])
def test_limits_cover_the_true_errors(n):
    rng = np.random.default_rng(n)
    p = np.array([0.7, 0.2, 0.1])
    covered = []
    for _ in range(600):
        limits = tables.holdout_limits(
            rng.choice(3, size=n, p=p).astype(float), np.ones(n), 3
        )
        covered.append(
            [
                limit.value >= truth
                for limit, truth in zip(limits, (0.3, 0.4), strict=True)
            ]
        )
    # Four standard errors of 600 draws at 0.95.
    assert (np.mean(covered, axis=0) >= 0.95 - 4 * np.sqrt(0.05 * 0.95 / 600)).all()
