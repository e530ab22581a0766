"""Cross-validation: folds, refits and averages."""

import numpy as np
import pandas as pd
import pytest
from seams import Rows, Sample, held_out

from ordstat import DataWarning, ordfit
from ordstat.boosting.orstump import ColumnScore
from ordstat.fit import Certificate, Fit, ThresholdRule, Trace
from ordstat.judging import evaluation
from ordstat.judging.errors import Predictions, error_table
from ordstat.method import Supports


def _sample(n=60, n_levels=3, cluster=None, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_levels
    return Sample(
        rows=Rows(X=rng.normal(size=(n, 1)) + y[:, None]),
        y=y,
        n_levels=n_levels,
        cluster=cluster,
    )


class ByMean:
    """Cuts the column halfway between the ranks' training means."""

    cost = "absolute"
    supports = Supports()

    def fit(self, sample, rng):
        means = np.array(
            [sample.X[sample.y == k].mean() for k in range(sample.n_levels)]
        )
        rule = ThresholdRule(
            ColumnScore(column=0, sign=1.0), (means[1:] + means[:-1]) / 2
        )
        certificate = Certificate(name="none", value=0.0, tolerance=1.0)
        return Fit(
            rule=rule,
            certificate=certificate,
            trace=Trace(iterations=0, objective=[], message=""),
            scores=None,
        )


def test_out_of_fold_errors_by_hand():
    sample = _sample()
    predictions = evaluation.crossvalidate(
        ByMean(), sample, 4, np.random.default_rng(1), lambda *_: None
    )
    folds = held_out(sample, 4, np.random.default_rng(1)).argmax(axis=0)
    by_hand = []
    for fold in range(4):
        test = folds == fold
        means = [sample.X[~test & (sample.y == k)].mean() for k in range(3)]
        codes = np.sum(sample.X[test] > (np.array(means[1:]) + means[:-1]) / 2, axis=1)
        np.testing.assert_array_equal(codes, predictions[fold].codes)
        by_hand.append(np.abs(codes - sample.y[test]).mean())
    table = evaluation.mean_table(predictions)
    assert table.loc["absolute error", "cv"] == pytest.approx(
        np.average(by_hand, weights=np.bincount(folds)), rel=1e-12
    )
    error = table.loc["absolute error", "cv se"]
    assert error == pytest.approx(np.std(by_hand, ddof=1) / 2, rel=1e-12)


@pytest.mark.parametrize(
    "method", ["logit", "acat", "sratio", "redsvm", "reduction", "csovo"]
)
def test_a_level_within_one_fold(method):
    """The fit to the other folds is that of data without the level, whose place counts
    in the errors.
    """
    rng = np.random.default_rng(5)
    data = pd.DataFrame(
        {"x": rng.normal(size=45), "y": rng.permutation(np.repeat([1, 2, 4], 15))}
    )
    data.loc[45] = [0.3, 3]
    fit = ordfit("y ~ x", data, method, levels=[1, 2, 3, 4], cost="absolute")
    sample = fit.design.sample
    with pytest.warns(DataWarning, match="All rows of 3 are in one fold"):
        parts = evaluation.crossvalidate(
            fit.method,
            sample,
            3,
            np.random.default_rng(1),
            fit.probabilities_of,
            levels=fit.levels,
        )
    held = held_out(sample, 3, np.random.default_rng(1)) > 0
    for fold, predictions in zip(held, parts, strict=True):
        train = data[~fold]
        test = data[fold]
        cost = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
        present = np.sort(train["y"].unique()).astype(int)
        narrow = ordfit(
            "y ~ x", train, method, cost=cost[np.ix_(present - 1, present - 1)]
        )
        expected = narrow.predict(test).astype(int).to_numpy()
        np.testing.assert_array_equal(predictions.codes + 1, expected)
        assert predictions.paid.mean() == np.abs(expected - test["y"]).mean()
        if predictions.probabilities is not None:
            p = narrow.predict(test, type="prob")
            np.testing.assert_allclose(
                predictions.probabilities[:, present - 1], p, atol=1e-12
            )
    with pytest.warns(DataWarning, match="All rows of 3"):
        assert np.isfinite(fit.errors(cv=3).loc["absolute error", "cv"])


def test_an_undefined_fold_leaves_the_mean_to_the_others():
    y = np.array([0, 1, 2, 1])
    rows = {"y": y, "scores": y * 1.0, "n_levels": 3, "weights": np.ones(4)}
    parts = [
        Predictions(codes=np.array(codes), **rows)
        for codes in ([0, 1, 1, 1], [1, 1, 1, 1], [2, 1, 2, 0])
    ]
    values = np.array([error_table(part)["Kendall tau-b"] for part in parts])
    assert np.isnan(values).tolist() == [False, True, False]
    assert evaluation.mean_table(parts).loc["Kendall tau-b", "cv"] == pytest.approx(
        np.nanmean(values)
    )
