"""Folds of rows."""

import numpy as np
import pytest
from seams import Rows, Sample

from ordstat.exceptions import OptionError
from ordstat.judging.folds import held_out, split


def _sample(n=60, n_levels=3, cluster=None, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_levels
    return Sample(
        rows=Rows(X=rng.normal(size=(n, 1)) + y[:, None]),
        y=y,
        n_levels=n_levels,
        cluster=cluster,
    )


def test_folds_spread_the_ranks_and_keep_clusters():
    sample = _sample(n=60, cluster=np.arange(60) // 4)
    folds = held_out(sample, 5, np.random.default_rng(0)).argmax(axis=0)
    for cluster in range(15):
        assert np.unique(folds[sample.cluster == cluster]).size == 1
    counts = np.array(
        [np.bincount(sample.y[folds == f], minlength=3) for f in range(5)]
    )
    assert counts.sum() == 60 and counts.min() >= 3


@pytest.mark.parametrize("n_folds", [1, 61])
def test_impossible_numbers_of_folds(n_folds):
    with pytest.raises(OptionError, match="folds"):
        held_out(_sample(), n_folds, np.random.default_rng(0)).argmax(axis=0)


def test_a_fold_and_the_others_are_all_rows():
    sample = Sample(
        rows=Rows(X=np.arange(4.0)[:, None]),
        y=np.array([0, 1, 0, 1]),
        n_levels=2,
        weights=np.array([2.0, 1.0, 3.0, 1.0]),
    )
    train, test = split(sample, np.array([1.0, 0.0, 3.0, 0.0]))
    assert train.X.ravel().tolist() == [0.0, 1.0, 3.0]
    assert train.case_weights.tolist() == [1.0, 1.0, 1.0]
    assert test.X.ravel().tolist() == [0.0, 2.0]
    assert test.case_weights.tolist() == [1.0, 3.0]
