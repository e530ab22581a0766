"""Statistics of overlapping folds: against formulas by hand and scipy."""

import numpy as np
import pytest
from scipy import stats

from ordstat import compare, datasets, ordfit
from ordstat.judging.compared import group_codes, resampled

DIFFERENCES = np.array([0.02, -0.01, 0.05, 0.03, 0.00, 0.04, 0.01, 0.02, 0.06, -0.02])


def test_by_hand():
    """Mean 4, s^2 = 4, 1/3 + 1/2 = 5/6: t = 4 / sqrt(10/3)."""
    mean, std_error, *_, p_value = resampled(
        np.array([2.0, 4.0, 6.0]), np.ones(3), ratio=0.5
    )
    assert mean == 4.0 and std_error**2 == pytest.approx(10 / 3, rel=1e-14)
    # two degrees of freedom have P(|T| > t) = 1 - t / sqrt(t^2 + 2)
    t = 4.0 / np.sqrt(10 / 3)
    assert p_value == pytest.approx(1.0 - t / np.sqrt(t**2 + 2.0), rel=1e-12)


def test_without_shared_rows_it_is_the_t_test():
    *_, lower, upper, statistic, p_value = resampled(
        DIFFERENCES, np.full(10, 7.0), ratio=0.0, level=0.9
    )
    by_scipy = stats.ttest_1samp(DIFFERENCES, 0.0)
    assert statistic == pytest.approx(by_scipy.statistic, rel=1e-12)
    assert p_value == pytest.approx(by_scipy.pvalue, rel=1e-10)
    assert (lower, upper) == pytest.approx(
        tuple(by_scipy.confidence_interval(0.9)), rel=1e-10
    )


def test_weights_count_rows():
    """A fold of weight 2 moves the mean as two folds do."""
    mean, std_error, *_ = resampled(
        np.array([1.0, 4.0]), np.array([2.0, 1.0]), ratio=0.0
    )
    assert mean == 2.0 and std_error**2 == pytest.approx(
        (2 / 3 * 1.0 + 1 / 3 * 4.0) * 2 / 2
    )


def test_missing_values_do_not_count():
    with_gap = resampled(np.array([1.0, np.nan, 3.0]), np.ones(3), ratio=0.1)
    np.testing.assert_array_equal(
        with_gap, resampled(np.array([1.0, 3.0]), np.ones(2), ratio=0.1)
    )
    assert np.isnan(resampled(np.full(3, np.nan), np.ones(3), ratio=0.1)).all()
    assert np.isnan(resampled(np.ones(1), np.ones(1), ratio=0.1)[1:]).all()


@pytest.mark.parametrize("same", [0.0, 0.01, -0.5])
def test_differences_that_are_all_equal(same):
    p_value = resampled(np.full(5, same), np.ones(5), ratio=0.25)[-1]
    assert np.isnan(p_value) if same == 0.0 else p_value == 0.0


def test_a_model_written_in_another_order_differs_by_nothing():
    """Its log-losses differ in the last digits, by chance to one side."""
    wine = datasets.load("wine")
    fits = {
        text: ordfit(f"rating ~ {text}", wine)
        for text in ("temp + contact", "contact + temp")
    }
    found = compare(fits, cv=5, repeats=2)
    for measure in ("log-loss", "ranked probability score", "Brier score"):
        table = found.differences(measure)
        assert table["difference"].tolist() == [0.0]
        assert table["std_error"].tolist() == [0.0]
        assert table["p_value"].isna().all()


def test_groups_that_share_rows_are_one():
    rng = np.random.default_rng(1)
    for _ in range(20):
        groupings = [rng.integers(0, 25, 40) for _ in range(2)]
        merged = np.arange(40)
        for _ in range(40):  # the least row that can be reached, again and again
            for codes in groupings:
                merged = np.array([merged[codes == own].min() for own in codes])
        actual = group_codes(
            [np.unique(codes, return_inverse=True)[1] for codes in groupings]
        )
        together = actual[:, None] == actual[None, :]
        np.testing.assert_array_equal(together, merged[:, None] == merged[None, :])
