"""What a pooled fit says and refuses."""

import pickle

import numpy as np
import pandas as pd
import pytest
from expected import refused
from seams import CovarianceMatrix

from inference.imputed import FRAMES, fits
from ordstat import DataError, DataWarning, OptionError, SurveyDesign, ordfit, pool
from ordstat.exceptions import UnavailableError
from ordstat.inference.rubin import Pooled, d1


@pytest.fixture(scope="module")
def pooled():
    return pool(fits("y ~ x1 + x2 + g"))


@pytest.mark.filterwarnings("ignore:all fits are equal")
def test_equal_data_sets_have_no_spread():
    """Only the t distribution of the complete data is left."""
    fit = ordfit("y ~ x1 + x2 + g", FRAMES[0])
    same = pool([fit] * 4)
    assert np.allclose(same.params, fit.params, rtol=1e-12) and np.allclose(
        same.se, fit.se, rtol=1e-12
    )
    assert np.allclose(same.df, 75 / 77 * 74) and np.allclose(same.riv, 0.0, atol=1e-12)
    assert np.allclose(
        pool([fit] * 4, dfcom=np.inf).confint(), fit.confint(), rtol=1e-9
    )
    wald = fit.test("x1 = 0, x2 = 0").loc["joint", "chisq"]
    for few in (same, pool([fit] * 3)):
        joint = few.test("x1 = 0, x2 = 0").loc["joint"]
        assert joint["F"] == pytest.approx(wald / 2, rel=1e-9) and joint[
            "df_denom"
        ] <= 75 / 77 * 74 * (1 + 1e-9)


def test_one_estimate_by_d1_is_its_t_test(pooled):
    row = pooled.test("x2 = 0").iloc[0]
    assert row["F"] == pytest.approx((pooled.params / pooled.se)["x2"] ** 2, rel=1e-12)
    assert row["p_value"] == pytest.approx(pooled.p_values["x2"], rel=1e-9)


def test_d1_does_not_depend_on_the_coordinates():
    rng = np.random.default_rng(5)
    Q = rng.normal(size=(6, 3))
    half = rng.normal(size=(6, 3, 5))
    turn = rng.normal(size=(3, 3))
    U = [CovarianceMatrix(each @ each.T) for each in half]
    one = Pooled(Q, U, 40.0)
    assert d1(one.combined(turn)).statistic == pytest.approx(
        d1(one).statistic, rel=1e-9
    )


def test_thresholds_of_a_structure_are_pooled():
    given = fits("y ~ x1", threshold="symmetric")
    both = pool(given)
    assert np.allclose(
        both.thresholds, np.mean([fit.thresholds for fit in given], axis=0)
    )


def test_what_is_printed(pooled):
    lines = str(pooled).splitlines()
    assert (
        lines[0] == "Pooled over 6 imputations: Cumulative link model, y ~ x1 + x2 + g"
    )
    assert max(map(len, lines)) <= 80 and len(lines) <= 24
    assert "x1 0.6518 0.2716 32.3 .022 0.0988 1.2048 0.29" in [
        " ".join(line.split()) for line in lines
    ]
    assert "<table" in pooled._repr_html_() and " 5% " in str(pooled.summary(level=0.9))
    assert repr(pickle.loads(pickle.dumps(pooled))) == repr(pooled)


def test_a_high_fmi_asks_for_more_imputations():
    rng = np.random.default_rng(1)
    frames = [
        frame.assign(noise=(-1) ** i * frame["y"] + 3 * rng.normal(size=80))
        for i, frame in enumerate(FRAMES)
    ]
    assert "imputations (100 FMI)" in str(pool(fits("y ~ noise", frames)))


def test_frames_and_names(pooled):
    tidy = pooled.tidy(exponentiate=True, level=0.9)
    assert tidy["estimate"].iloc[3] == pytest.approx(np.exp(pooled.params["x1"]))
    assert np.allclose(
        np.log(tidy.loc[3, ["conf_low", "conf_high"]].astype(float)),
        pooled.confint(0.9).loc["x1"],
    )
    assert pooled.coef.index.tolist() == ["x1", "x2", "g[T.b]"] and pooled.nobs == 80
    assert not hasattr(pooled, "nothing") and not hasattr(pooled, "simulate")
    with pytest.raises(
        OptionError,
        match=r"pooled fits have no \.simulate\. Use that of the single fits in \.fits",
    ):
        pooled.simulate()
    with pytest.raises(
        OptionError,
        match=r"no likelihood ratio, .* Give anova\(\) the largest model alone",
    ):
        pooled.anova(pooled)
    with pytest.raises(
        OptionError,
        match=r"pooled fits have no \.joint_tests\. .* \.anova\(type='III'\)",
    ):
        pooled.joint_tests()
    with refused("dfcom", "0"):
        pool(pooled.fits, dfcom=0)


def cannot_pool(fits, message, error=OptionError):
    with pytest.raises(error, match=message):
        pool(fits)


def test_fits_that_are_not_of_one_model():
    one = ordfit("y ~ x1 + g", FRAMES[0])
    frame = FRAMES[1]
    assert pool([one, ordfit("y ~ x1+g", frame)]).n_imputations == 2
    cannot_pool(
        [one],
        "fits must be at least 2 fits, one for each imputed frame, because .*; got 1",
    )
    cannot_pool(one, "fits must be a list of fits")
    cannot_pool(
        [one, ordfit("y ~ x1", frame)], "fit 1 has 'y ~ x1 \\+ g', fit 2 has 'y ~ x1'"
    )
    cannot_pool(
        [one, ordfit("y ~ x1 + g", frame, "probit")],
        r"fit 2 has \"y ~ x1 \+ g, CumulativeLink\(link='probit'\)\"",
    )
    cannot_pool(
        [one, ordfit("y ~ x1 + g", frame, vcov="HC0")],
        "same covariance: fit 1 has 'model', fit 2 has 'HC0'",
    )
    cannot_pool(
        [one, ordfit("y ~ x1 + g", frame[frame["y"] > 1])],
        r"same levels of the response: .* \(2, 3, 4\)",
    )
    other = ordfit("y ~ x1 + g", frame.replace({"g": {"b": "c"}}))
    cannot_pool([one, other], r"'g\[T.b\]' is estimated in fit 1 but not in fit 2")
    with refused("fits"):
        pool(pool(fits("y ~ x1")))
    margin = ordfit("y ~ x1 + g", frame, "redsvm")
    cannot_pool(
        [one, margin],
        "fits must be likelihood fits .* fit 2 of 2 is of type MarginResults",
    )


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
def test_infinite_estimates():
    """P(2 | s = 0) rises with 2|3, P(3 | s = 1) with s less 2|3 and P(4 | s = 1) falls
    short of 1 by 3|4 less s.
    """
    frames = [frame.assign(s=(frame["y"] > 2).astype(int)) for frame in FRAMES]
    message = (
        r"finite estimates with standard errors; fit 1 of 6 lacks them for '2\|3',"
        r" '3\|4', 's'"
    )
    with pytest.raises(DataError, match=message):
        pool(fits("y ~ s", frames))
    penalised = pool(fits("y ~ s", frames, penalty=1.0))
    assert np.isfinite(penalised.se).all()


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
def test_aliased_columns():
    pooled = pool(fits("y ~ x1 + I(2*x1) + g"))
    assert np.isnan(pooled.params["I(2*x1)"]) and np.isfinite(pooled.params["g[T.b]"])
    plain = pool(fits("y ~ x1 + g"))
    assert np.allclose(pooled.params.drop("I(2*x1)"), plain.params, rtol=1e-6)


def test_subgroups_are_refused_with_what_to_do(pooled):
    with pytest.raises(UnavailableError, match=r"interaction.*marginal_effects\('arm'"):
        _ = pooled.subgroups


def test_pictures_of_single_fits_are_named(pooled):
    with pytest.raises(AttributeError, match=r"pooled\.fits\[0\]\.plot\.latent"):
        _ = pooled.plot.latent


def test_hypotheses_refused(pooled):
    with pytest.raises(OptionError, match="must not follow from each other"):
        pooled.test("x1 = 0, x2 = 0, x1 = x2")
    with pytest.raises(OptionError, match="expected a number or a parameter"):
        pooled.test("x3 = 0")


def test_equal_fits_are_named():
    with pytest.warns(
        DataWarning, match="all fits are equal, so that pooled standard errors"
    ):
        equal = pool(fits("y ~ x1", [FRAMES[0], FRAMES[0].copy()]))
    assert (equal.fmi < 0.05).all()


def test_fits_with_weights_and_without():
    weighted = ordfit("y ~ x1", FRAMES[1].assign(w=2.0), weights="w")
    with pytest.raises(
        OptionError, match="same weights: fit 1 has 'none', fit 2 has 'weights'"
    ):
        pool([ordfit("y ~ x1", FRAMES[0]), weighted])


# Fits to different rows


def different(first, second, message, **options):
    pair = [ordfit("y ~ x1 + g", frame, **options) for frame in (first, second)]
    with pytest.raises(DataError, match=message):
        pool([pair[0], *pair])


def test_another_number_of_rows():
    """As .imp == 0 of mice, whose incomplete rows are left out."""
    holes = FRAMES[1].assign(x1=FRAMES[1]["x1"].where(np.arange(80) % 10 > 0))
    message = (
        "pool needs fits to the same rows; fit 1 has 80 rows, fit 3 has 72. Leave out"
        " the incomplete"
    )
    with pytest.warns(DataWarning, match="missing"):
        different(FRAMES[0], holes, message)
    different(FRAMES[0], FRAMES[1].head(30), "fit 1 has 80 rows, fit 3 has 30")


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
def test_other_labels():
    same = [frame.set_axis(range(80)) for frame in FRAMES[:2]]
    message = "fit 1 and fit 3 have 80 rows each, but with other index labels"
    different(same[0], same[1].sample(frac=1.0, random_state=1), message)
    different(same[0], same[1].set_axis(range(1, 81)), message)
    # stacked frames, each with one incomplete row, but not the same
    holes = [
        FRAMES[k].assign(x1=FRAMES[k]["x1"].where(np.arange(80) != 3 + k))
        for k in range(2)
    ]
    different(*holes, "fit 1 and fit 3 have 79 rows each, but with other index labels")


def test_responses_of_other_rows():
    shuffled = FRAMES[1].assign(y=np.random.default_rng(1).permutation(FRAMES[1]["y"]))
    count = int((shuffled["y"].to_numpy() != FRAMES[0]["y"].to_numpy()).sum())
    different(
        FRAMES[0],
        shuffled,
        f"the responses of fit 1 and fit 3 differ in {count} of 80 rows",
    )
    reversed_rows = FRAMES[1].iloc[::-1].set_axis(FRAMES[0].index)
    different(FRAMES[0], reversed_rows, "the responses of fit 1 and fit 3 differ")


def test_other_weights():
    weighted = [FRAMES[k].assign(w=1.0 + np.arange(80) % (2 + k)) for k in range(2)]
    different(*weighted, "same weights; those of fit 1 and fit 3 differ", weights="w")
    design = SurveyDesign(weights="w")
    different(*weighted, "same weights; those of fit 1 and fit 3 differ", design=design)


def test_the_same_rows_in_every_form():
    """Parts of a stacked frame, by group, by key and by subset=, and frames with one
    index.
    """
    stacked = pd.concat(dict(enumerate(FRAMES)))
    expected = pool(fits("y ~ x1 + g")).params
    forms = {
        "own index": [frame.set_axis(range(80)) for frame in FRAMES],
        "keys": [stacked.loc[[k]] for k in range(6)],
        "names": [
            frame.set_axis([f"{k} {row}" for row in range(80)])
            for k, frame in enumerate(FRAMES)
        ],
    }
    for frames in forms.values():
        assert pool(fits("y ~ x1 + g", frames)).params.equals(expected)
    whole = pd.concat(FRAMES)
    parts = [ordfit("y ~ x1 + g", whole, subset=f"imp == {k}") for k in range(1, 7)]
    assert pool(parts).params.equals(expected)


def test_an_imputed_response_is_counted():
    """mice drew 6 responses anew in every frame; the number was set where the data were
    made.
    """
    assert "The response was imputed in 6 rows." in str(pool(fits("y ~ x1")))
    observed = [frame.assign(y=FRAMES[0]["y"].to_numpy()) for frame in FRAMES]
    assert "imputed in" not in str(pool(fits("y ~ x1", observed)))


def test_rows_in_blocks(tmp_path):
    """Numbers of rows and sums of weights are compared, and predictions pooled."""
    frames = [frame.assign(g=pd.Categorical(frame["g"]), w=1.0) for frame in FRAMES]
    for k, frame in enumerate(frames):
        frame.to_parquet(tmp_path / f"{k}.parquet")
    single = [ordfit("y ~ x1 + g", tmp_path / f"{k}.parquet") for k in range(6)]
    pooled = pool(single)
    in_memory = pool(fits("y ~ x1 + g", frames))
    np.testing.assert_allclose(
        pooled.tidy()["std_error"], in_memory.tidy()["std_error"], rtol=1e-6
    )
    means = [
        each.predict(FRAMES[0].head(3), "mean", se=True) for each in (pooled, in_memory)
    ]
    np.testing.assert_allclose(*means, rtol=1e-6)
    assert "imputed in" not in str(pooled)
    frames[0].head(60).to_parquet(tmp_path / "few.parquet")
    with pytest.raises(DataError, match="fit 1 has 80 rows, fit 7 has 60"):
        pool([*single, ordfit("y ~ x1 + g", tmp_path / "few.parquet")])
    frames[0].assign(w=2.0).to_parquet(tmp_path / "twice.parquet")
    weighted = [
        ordfit("y ~ x1 + g", tmp_path / f"{name}.parquet", weights="w")
        for name in ("1", "twice")
    ]
    with pytest.raises(
        DataError, match="same weights; those of fit 1 and fit 2 differ"
    ):
        pool(weighted)
