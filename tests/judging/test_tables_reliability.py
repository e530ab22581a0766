"""Reliability curves against counting by hand, and Wilson's limits against
statsmodels.
"""

import numpy as np
import pandas as pd
import pytest
from prediction.samples import latent
from scipy.stats import binomtest

from ordstat import DataError, OptionError, ordfit
from ordstat.judging import tables

FORMULA = "y ~ x1 + x2"


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (3, 10), (10, 10), (37, 400)])
def test_wilson_limits(k, n, level):
    expected = binomtest(k, n).proportion_ci(level, method="wilson")
    actual = tables.wilson_limits(np.array(k / n), np.array(float(n)), level)
    np.testing.assert_allclose(actual, (expected.low, expected.high), atol=1e-12)


def test_bins_are_of_equal_weight_and_keep_ties_together():
    rng = np.random.default_rng(0)
    p = rng.permutation(1000) / 1000.0
    happened = rng.random(1000) < 0.3
    curve = tables.reliability(p, happened, np.ones(1000), 8, 0.95)
    np.testing.assert_array_equal(curve.weight, 125.0)
    for b in range(8):
        inside = (p >= b / 8 - 1e-9) & (p < (b + 1) / 8 - 1e-9)
        np.testing.assert_allclose(curve.predicted[b], p[inside].mean())
        np.testing.assert_allclose(curve.observed[b], happened[inside].mean())
    tied = tables.reliability(np.round(p, 1), happened, np.ones(1000), 100, 0.95)
    np.testing.assert_allclose(tied.predicted, np.arange(11) / 10)


def test_weights_are_repetitions_and_order_does_not_matter():
    frame = latent(150, 1)
    new = latent(90, 2)
    fit = ordfit(FORMULA, frame)
    repeated = new.loc[new.index.repeat(new["w"])].sample(frac=1.0, random_state=0)
    pd.testing.assert_frame_equal(
        fit.reliability(new, weights="w"), fit.reliability(repeated)
    )


@pytest.mark.parametrize("by", ["split", "level"])
def test_curves_of_a_fit(by):
    fit = ordfit(FORMULA, latent(400, 1))
    new = latent(5000, 2)
    curves = fit.reliability(new, by=by, bins=5)
    names = fit.threshold_names if by == "split" else list(fit.levels)
    assert curves[by].unique().tolist() == names
    assert (curves.groupby(by, observed=True)["weight"].sum() == 5000).all()
    p = (
        fit.predict(new, type="prob" if by == "level" else "cum_prob")
        .iloc[:, 1]
        .to_numpy()
    )
    codes = new["y"].cat.codes.to_numpy()
    happened = codes == 1 if by == "level" else codes <= 1
    lowest = np.argsort(p)[:1000]
    first = curves[curves[by] == names[1]].iloc[0]
    np.testing.assert_allclose(
        first[["predicted", "observed"]].astype(float),
        [p[lowest].mean(), happened[lowest].mean()],
    )
    # A model of the right form is reliable: nearly all limits hold the prediction.
    assert (
        (curves["lower"] <= curves["predicted"])
        & (curves["predicted"] <= curves["upper"])
    ).mean() > 0.7


def test_rows_of_a_calibrated_fit_are_judged_by_rankers_that_have_not_seen_them():
    frame = latent(300, 1)
    fit = ordfit(FORMULA, frame, "orboost-all", rounds=300, calibrate=True)
    own = fit.reliability(bins=4)
    given = fit.reliability(frame, bins=4)

    def off(curves):
        return np.average(
            np.abs(curves["predicted"] - curves["observed"]), weights=curves["weight"]
        )

    # the same rows given as new ones look far too good to the ranker
    assert off(own) < 0.05 < 0.07 < off(given)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"by": "rank"}, "by must be one of 'split', 'level'"),
        ({"bins": 0}, "bins must be a whole number"),
        ({"bins": True}, "bins must be"),
        ({"level": 1.0}, "strictly between 0 and 1"),
        ({"weights": "w"}, "weights goes with newdata"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(OptionError, match=words):
        ordfit(FORMULA, latent(60, 2)).reliability(**arguments)


def test_new_rows_without_a_response_are_refused():
    frame = latent(60, 2)
    fit = ordfit(FORMULA, frame)
    with pytest.raises(DataError):
        fit.reliability(frame.drop(columns="y"))
    with pytest.raises(DataError, match="no row with the response"):
        fit.reliability(frame.assign(x1=np.nan))
