"""Cross-validation: folds, refits and averages."""

import numpy as np
import pytest

from ordstat.exceptions import DataError, OptionError
from ordstat.formula.sample import Rows, Sample
from ordstat.judging.errors import Predictions
from ordstat.judging.folds import cross_validate, draw_folds


def _sample(n=60, n_levels=3, cluster=None, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_levels
    return Sample(rows=Rows(X=rng.normal(size=(n, 1)) + y[:, None]), y=y, n_levels=n_levels, cluster=cluster)


def _by_mean(train, test):
    """Cut the column halfway between the ranks' training means."""
    means = np.array([train.X[train.y == k].mean() for k in range(train.n_levels)])
    scores = test.X[:, 0]
    codes = np.searchsorted((means[1:] + means[:-1]) / 2, scores)
    return Predictions(y=test.y, codes=codes, scores=scores, n_levels=test.n_levels, weights=test.case_weights)


def test_out_of_fold_errors_by_hand():
    sample = _sample()
    result = cross_validate(sample, 4, np.random.default_rng(1), _by_mean)
    by_hand = []
    for fold in range(4):
        test = result.folds == fold
        means = [sample.X[~test & (sample.y == k)].mean() for k in range(3)]
        codes = np.sum(sample.X[test] > (np.array(means[1:]) + means[:-1]) / 2, axis=1)
        np.testing.assert_array_equal(codes, result.predictions[fold].codes)
        by_hand.append(np.abs(codes - sample.y[test]).mean())
    weights = np.bincount(result.folds)
    table = result.table
    assert table.value("absolute error") == pytest.approx(np.average(by_hand, weights=weights), rel=1e-12)
    error = table.standard_errors[table.names.index("absolute error")]
    assert error == pytest.approx(np.std(by_hand, ddof=1) / 2, rel=1e-12)


def test_folds_spread_the_ranks_and_keep_clusters():
    sample = _sample(n=60, cluster=np.arange(60) // 4)
    folds = draw_folds(sample, 5, np.random.default_rng(0))
    for cluster in range(15):
        assert np.unique(folds[sample.cluster == cluster]).size == 1
    counts = np.array([np.bincount(sample.y[folds == f], minlength=3) for f in range(5)])
    assert counts.sum() == 60 and counts.min() >= 3


def test_a_rank_within_one_fold_is_refused():
    y = np.array([0] * 10 + [1] * 10 + [2])
    sample = Sample(rows=Rows(X=np.zeros((21, 1))), y=y, n_levels=3)
    with pytest.raises(DataError, match="level 3 of 3"):
        draw_folds(sample, 3, np.random.default_rng(0))


@pytest.mark.parametrize("n_folds", [1, 61])
def test_impossible_numbers_of_folds(n_folds):
    with pytest.raises(OptionError, match="folds"):
        draw_folds(_sample(), n_folds, np.random.default_rng(0))


def test_an_undefined_fold_leaves_the_mean_to_the_others():
    sample = _sample(n=12)

    def sometimes_constant(train, test):
        p = _by_mean(train, test)
        codes = np.zeros_like(p.codes) if 0 in test.X[:, 0] else p.codes
        return Predictions(y=p.y, codes=codes, scores=p.scores, n_levels=3, weights=p.weights)

    sample.X[0, 0] = 0.0
    result = cross_validate(sample, 3, np.random.default_rng(0), sometimes_constant)
    values = np.array([table.value("Kendall tau-b") for table in result.tables])
    assert np.isnan(values).sum() == 1
    assert result.table.value("Kendall tau-b") == pytest.approx(np.nanmean(values))
