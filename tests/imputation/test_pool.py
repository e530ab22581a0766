"""What a pooled fit says and refuses, and how `ordfit_mi` fits to frames and samplers."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from statsmodels.imputation.mice import MICEData

from imputation.frames import FRAMES, STACKED, fits
from ordstat import DataError, DataWarning, OptionError, ordfit, ordfit_mi, pool
from ordstat.inference.pooling import Pooled, d1


@pytest.fixture(scope="module")
def pooled():
    return pool(fits("y ~ x1 + x2 + g"))


def test_equal_data_sets_have_no_spread():
    """Only the t distribution of the complete data is left."""
    fit = ordfit("y ~ x1 + x2 + g", FRAMES[0])
    same = pool([fit] * 4)
    assert np.allclose(same.params, fit.params, rtol=1e-12) and np.allclose(same.se, fit.se, rtol=1e-12)
    assert np.allclose(same.df, 75 / 77 * 74) and np.allclose(same.riv, 0.0, atol=1e-12)
    assert np.allclose(pool([fit] * 4, dfcom=np.inf).confint(), fit.confint(), rtol=1e-9)
    wald = fit.test("x1 = 0, x2 = 0").loc["joint", "chisq"]
    for few in (same, pool([fit] * 3)):
        joint = few.test("x1 = 0, x2 = 0").loc["joint"]
        assert joint["F"] == pytest.approx(wald / 2, rel=1e-9) and joint["df_denom"] <= 75 / 77 * 74 * (1 + 1e-9)


def test_one_estimate_by_d1_is_its_t_test(pooled):
    row = pooled.test("x2 = 0").iloc[0]
    assert row["F"] == pytest.approx((pooled.params / pooled.se)["x2"] ** 2, rel=1e-12)
    assert row["p_value"] == pytest.approx(pooled.p_values["x2"], rel=1e-9)


def test_d1_does_not_depend_on_the_coordinates():
    rng = np.random.default_rng(5)
    Q, half, turn = rng.normal(size=(6, 3)), rng.normal(size=(6, 3, 5)), rng.normal(size=(3, 3))
    one = Pooled(Q, half @ half.transpose(0, 2, 1), 40.0)
    assert d1(one.combined(turn)).statistic == pytest.approx(d1(one).statistic, rel=1e-9)


def test_thresholds_of_a_structure_are_pooled():
    given = fits("y ~ x1", threshold="symmetric")
    both = pool(given)
    assert np.allclose(both.thresholds, np.mean([fit.thresholds for fit in given], axis=0))
    wider = both.update(threshold="flexible")
    with pytest.raises(OptionError, match=r"terms are coded otherwise, .* Write the hypothesis"):
        both.anova(wider)


def test_what_is_printed(pooled):
    lines = str(pooled).splitlines()
    assert lines[0] == "Pooled over 6 imputations: Cumulative link model, y ~ x1 + x2 + g"
    assert max(map(len, lines)) <= 80 and len(lines) <= 24
    assert ["x1", "0.6518", "0.2716", "32.3", ".022", "0.0988", "1.2048", "0.29"] in list(map(str.split, lines))
    assert "<table" in pooled._repr_html_() and " 5% " in str(pooled.summary(level=0.9))
    assert repr(pickle.loads(pickle.dumps(pooled))) == repr(pooled)


def test_a_high_fmi_asks_for_more_imputations():
    rng = np.random.default_rng(1)
    frames = [frame.assign(noise=(-1) ** i * frame["y"] + 3 * rng.normal(size=80)) for i, frame in enumerate(FRAMES)]
    assert "imputations (100 FMI)" in str(ordfit_mi("y ~ noise", frames))


def test_frames_and_names(pooled):
    tidy = pooled.tidy(exponentiate=True, level=0.9)
    assert tidy["estimate"].iloc[3] == pytest.approx(np.exp(pooled.params["x1"]))
    assert np.allclose(np.log(tidy.loc[3, ["conf_low", "conf_high"]].astype(float)), pooled.confint(0.9).loc["x1"])
    assert pooled.coef.index.tolist() == ["x1", "x2", "g[T.b]"] and pooled.nobs == 80
    assert not hasattr(pooled, "nothing") and not hasattr(pooled, "predict")
    with pytest.raises(OptionError, match=r"pooled fits have no \.predict; the single fits have, in \.fits"):
        pooled.predict(FRAMES[0])


def refused(fits, message, error=OptionError):
    with pytest.raises(error, match=message):
        pool(fits)


def test_fits_that_are_not_of_one_model():
    one, frame = ordfit("y ~ x1 + g", FRAMES[0]), FRAMES[1]
    assert pool([one, ordfit("y ~ x1+g", frame)]).n_imputations == 2
    refused([one], "fits must be at least 2 fits, one for each imputed frame: .*; got 1")
    refused(one, "fits must be a list of fits")
    refused([one, ordfit("y ~ x1", frame)], "fit 1 has 'y ~ x1 \\+ g', fit 2 has 'y ~ x1'")
    refused([one, ordfit("y ~ x1 + g", frame, "probit")], r"fit 2 has \"y ~ x1 \+ g, CumulativeLink\(link='probit'\)\"")
    refused([one, ordfit("y ~ x1 + g", frame, vcov="HC0")], "same covariance: fit 1 has 'model', fit 2 has 'HC0'")
    refused([one, ordfit("y ~ x1 + g", frame[frame["y"] > 1])], r"same levels of the response: .* \(2, 3, 4\)")
    other = ordfit("y ~ x1 + g", frame.replace({"g": {"b": "c"}}))
    refused([one, other], r"'g\[T.b\]' is estimated in fit 1, and not in fit 2")
    with pytest.raises(OptionError, match=r"fits must be a list of fits, .*; got a PooledResults"):
        pool(pool([one, one]))
    margin = ordfit("y ~ x1 + g", frame, "redsvm")
    refused([one, margin], "Rubin's rules pool estimates by their standard errors, .* fit 2 of 2 is <MarginResults")


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
def test_infinite_estimates():
    """P(2 | s = 0) rises with 2|3, P(3 | s = 1) with s less 2|3 and P(4 | s = 1) falls short of 1 by 3|4 less s."""
    frames = [frame.assign(s=(frame["y"] > 2).astype(int)) for frame in FRAMES]
    told = r"finite estimates with standard errors; fit 1 of 6 lacks them for '2\|3', '3\|4', 's'"
    with pytest.raises(DataError, match=told):
        ordfit_mi("y ~ s", frames)
    penalised = ordfit_mi("y ~ s", frames, penalty=1.0)
    assert np.isfinite(penalised.se).all()


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
def test_aliased_columns():
    pooled = ordfit_mi("y ~ x1 + I(2*x1) + g", FRAMES)
    assert np.isnan(pooled.params["I(2*x1)"]) and np.isfinite(pooled.params["g[T.b]"])
    plain = ordfit_mi("y ~ x1 + g", FRAMES)
    assert np.allclose(pooled.params.drop("I(2*x1)"), plain.params, rtol=1e-6)


def test_hypotheses_refused(pooled):
    with pytest.raises(OptionError, match="must not follow from each other"):
        pooled.test("x1 = 0, x2 = 0, x1 = x2")
    with pytest.raises(OptionError, match="expected a number or a parameter"):
        pooled.test("x3 = 0")


def test_models_refused(pooled):
    smaller = pooled.update("~ g")
    for other, message in (
        (pooled.fits[0], "compares pooled fits with pooled fits"),
        (pool(smaller.fits[:4]), "same imputed data sets; got 6 and 4 fits"),
        (pooled, "needs a smaller and a larger model"),
        (pooled.update(method="probit"), "are not nested"),
    ):
        with pytest.raises(OptionError, match=message):
            pooled.anova(other)
    with pytest.raises(DataError, match="models of the same rows"):
        pooled.anova(pool(smaller.fits[::-1]))


def test_a_smaller_model_over_other_imputations(pooled):
    """The same rows, and imputed values of a column that differ."""
    others = [frame.set_index(own.index) for own, frame in zip(FRAMES, FRAMES[::-1], strict=True)]
    same_y = [frame.assign(y=own["y"].to_numpy()) for own, frame in zip(FRAMES, others, strict=True)]
    with pytest.raises(OptionError, match=r"fitted to the same imputed data sets: .* are not nested"):
        pooled.anova(pool(fits("y ~ x1", same_y)))


@pytest.mark.parametrize(
    ("frames", "options", "message"),
    [
        (STACKED, {}, r"got DataFrame. Take stacked data sets apart"),
        (None, {}, "frames must be a list of imputed data frames"),
        (FRAMES[:1], {}, "at least 2 imputed data frames; got 1"),
        (FRAMES, {"n_skip": 1}, "n_skip goes with MICEData"),
        (FRAMES, {"method": "redsvm"}, "the fit by method 'redsvm' is <MarginResults"),
        (FRAMES, {"dfcom": 0}, "dfcom must be a positive, finite number, or numpy.inf; got 0"),
        ([*FRAMES[:2], FRAMES[2][:20]], {}, r"frame 1 has \d+ rows, frame 3 has 20. Choose rows with subset="),
        ([FRAMES[0], FRAMES[1].drop(columns="x1")], {}, "frame 2 of frames: The data have no column 'x1'"),
    ],
)
def test_frames_refused(frames, options, message):
    with pytest.raises((OptionError, DataError), match=message):
        ordfit_mi("y ~ x1", frames, **options)


def test_warnings_come_once():
    frames = [frame.assign(x1=frame["x1"].where(np.arange(80) != 5)) for frame in FRAMES]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ordfit_mi("y ~ x1", frames)
    assert [str(one.message) for one in caught] == [
        "1 of 80 rows left out for missing values: x1 (1). (in 6 of 6 imputed frames)"
    ]
    assert caught[0].category is DataWarning and caught[0].filename == __file__


@pytest.mark.skipif("rng" not in inspect.signature(MICEData).parameters, reason="statsmodels before 0.15 has no rng=")
def test_a_sampler_of_statsmodels():
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 120))
    y = np.digitize(x + z + rng.logistic(size=120), [-1.0, 1.0]).astype(float)
    data = pd.DataFrame({"y": y, "x": x, "z": z}).mask(rng.random((120, 3)) < 0.1)
    sampler = MICEData(data, rng=7)
    before = sampler.data.copy()
    first = ordfit_mi("y ~ x + z", sampler, n_imputations=3, n_burnin=1, n_skip=0)
    again = ordfit_mi("y ~ x + z", sampler, n_imputations=3, n_burnin=1, n_skip=0)
    assert first.params.equals(again.params) and sampler.data.equals(before)
    assert first.n_imputations == 3 and (first.riv > 0).all()
    chain = MICEData(data, rng=7)
    frames = []
    for cycles in (2, 1, 1):
        chain.update_all(cycles)
        frames.append(chain.data.copy())
    assert np.allclose(ordfit_mi("y ~ x + z", frames).params, first.params, rtol=1e-12)
    with pytest.raises(OptionError, match="n_imputations must be a whole number, 2 or more; got 1"):
        ordfit_mi("y ~ x", sampler, n_imputations=1)


def test_update_takes_as_many_frames(pooled):
    others = [frame.assign(x1=frame["x1"] + 0.1 * k) for k, frame in enumerate(FRAMES)]
    moved = pooled.update(data=others)
    assert np.allclose(moved.vcov(), pool(fits("y ~ x1 + x2 + g", others)).vcov(), rtol=1e-10)
    for data, got in ((FRAMES[0], "a DataFrame"), (FRAMES[:5], "5"), (3, "a int"), ({"y": [1]}, "a dict")):
        with pytest.raises(OptionError, match=f"data of a pooled update must be a list of 6 .* frames; got {got}"):
            pooled.update(data=data)
    with pytest.raises(OptionError, match="data must be left out of ordfit_mi"):
        ordfit_mi("y ~ x1", FRAMES, data=FRAMES[0])


def test_update_keeps_stated_degrees_of_freedom(pooled):
    assert pooled.update("~ g").df_complete == pool(fits("y ~ g")).df_complete == 76
    assert pool(pooled.fits, dfcom=np.inf).update("~ g").df_complete == np.inf


def test_frames_that_are_all_equal_are_told():
    with pytest.warns(DataWarning, match="all frames are equal, so that pooled standard errors"):
        equal = ordfit_mi("y ~ x1", [FRAMES[0], FRAMES[0].copy()])
    assert (equal.fmi < 0.05).all()


def test_fits_with_weights_and_without():
    weighted = ordfit("y ~ x1", FRAMES[1].assign(w=2.0), weights="w")
    with pytest.raises(OptionError, match="same weights: fit 1 has 'none', fit 2 has 'weights'"):
        pool([ordfit("y ~ x1", FRAMES[0]), weighted])
