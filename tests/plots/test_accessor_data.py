"""The frames behind the plots, against numbers found in another way."""

import warnings

import numpy as np
import pandas as pd
import pytest
from expected import refused
from scipy import stats
from scipy.special import expit

from ordstat import datasets, ordfit

pytestmark = pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")


@pytest.mark.parametrize("name", ["wine", "margin", "housing"])
def test_latent_counts_the_rows_of_every_level(fits, name):
    fit = fits[name]
    data = fit.plot.latent(bins=7, draw=False)
    scores = fit.predict(type="score").to_numpy()
    y = fit.design.sample.y
    weights = fit.design.sample.case_weights
    last = data["right"].max()
    for row in data.itertuples():
        inside = (scores >= row.left) & (
            (scores < row.right) | ((row.right == last) & (scores == last))
        )
        mine = y == fit.levels.index(row.level)
        assert row.weight == pytest.approx(weights[inside & mine].sum())
        assert row.share == pytest.approx(
            weights[inside & mine].sum() / weights[mine].sum()
        )


def test_margins_count_the_distances_to_the_own_thresholds(fits):
    fit = fits["wine"]
    data = fit.plot.margins(bins=9, draw=False)
    theta = np.concatenate([[-np.inf], fit.thresholds, [np.inf]])
    scores = fit.predict(type="score").to_numpy()
    y = fit.design.sample.y
    unit = fit.training_margins.unit
    for side, values in (
        ("left", (scores - theta[y]) / unit),
        ("right", (theta[y + 1] - scores) / unit),
    ):
        mine = data[data["side"] == side]
        finite = values[np.isfinite(values)]
        assert np.isclose(mine["from"], 0.0).any()
        assert mine["weight"].sum() == finite.size
        expected = [
            ((finite >= low) & (finite < high)).sum()
            for low, high in zip(mine["from"], mine["to"], strict=True)
        ]
        assert mine["weight"].tolist() == expected
        assert mine.loc[mine["to"] <= 1e-12, "weight"].sum() == (finite < 0).sum()


@pytest.mark.parametrize("name", ["margin", "housing"])
def test_confusion_cells(fits, name):
    fit = fits[name]
    cells = fit.plot.confusion(draw=False)
    observed = np.array(fit.levels, dtype=object)[fit.design.sample.y]
    predicted = fit.predict().to_numpy()
    weights = fit.design.sample.case_weights
    for cell in cells.itertuples():
        inside = (observed == cell.observed) & (predicted == cell.predicted)
        assert cell.weight == weights[inside].sum()
        assert cell.distance == abs(
            fit.levels.index(cell.observed) - fit.levels.index(cell.predicted)
        )
        assert cell.share == pytest.approx(
            weights[inside].sum() / weights[observed == cell.observed].sum()
        )


def test_effects_average_over_the_other_factor():
    """Means over contact of the logistic formula; errors by differences of it."""
    wine = datasets.load("wine")
    fit = ordfit("rating ~ temp + contact", data=wine)
    values = fit.params.to_numpy()
    covariance = fit.vcov().to_numpy()

    def probabilities(v, warm):
        theta = np.concatenate([[-np.inf], v[:4], [np.inf]])
        return np.mean(
            [
                np.diff(stats.logistic.cdf(theta - v[4] * warm - v[5] * yes))
                for yes in (0, 1)
            ],
            axis=0,
        )

    data = fit.plot.effects("temp", draw=False)
    for warm, temp in enumerate(("cold", "warm")):
        mine = data[data["temp"] == temp]
        p = probabilities(values, warm)
        steps = 1e-5 * np.eye(6)
        slopes = np.array(
            [
                (probabilities(values + h, warm) - probabilities(values - h, warm))
                / 2e-5
                for h in steps
            ]
        )
        errors = np.sqrt(np.einsum("ik,ij,jk->k", slopes, covariance, slopes))
        np.testing.assert_allclose(mine["estimate"], p, atol=1e-9)
        np.testing.assert_allclose(mine["std_error"], errors, rtol=1e-6)
        half = stats.norm.ppf(0.975) * errors / (p * (1 - p))
        np.testing.assert_allclose(
            mine["lower"], stats.logistic.cdf(np.log(p / (1 - p)) - half), rtol=1e-6
        )
        np.testing.assert_allclose(
            mine["upper"], stats.logistic.cdf(np.log(p / (1 - p)) + half), rtol=1e-6
        )


def test_effects_of_a_number_reach_over_the_rows_of_the_fit():
    anes = datasets.load("anes96")
    fit = ordfit("PID ~ educ + income", data=anes, subset="income < 20")
    data = fit.plot.effects("income", at={"educ": 4}, draw=False)
    assert (data["income"].min(), data["income"].max()) == (1.0, 19.0)
    one = data[data["income"] == 19.0]
    new = pd.DataFrame({"educ": [4], "income": [19.0]})
    np.testing.assert_allclose(
        one["estimate"], fit.predict(new, type="prob").to_numpy()[0], rtol=1e-12
    )


def test_a_factor_of_numbers_is_no_number():
    fit = ordfit("rating ~ temp + judge", data=datasets.load("wine"))
    assert fit.plot.effects("judge", draw=False)["judge"].nunique() == 9


def test_stacked_adds_up(fits):
    data = fits["housing"].plot.stacked("Type", draw=False)
    np.testing.assert_allclose(
        data.loc[data["level"] == "High", "cumulative"], 1.0, rtol=1e-12
    )
    np.testing.assert_allclose(
        data["cumulative"] - data["estimate"],
        data.groupby("Type", sort=False)["cumulative"].shift(1, fill_value=0.0),
        atol=1e-12,
    )


def test_parallel_is_a_binary_regression_of_every_threshold(fits):
    """statsmodels' Logit, which knows nothing of ordered levels."""
    import statsmodels.api as sm

    fit = fits["anes"]
    anes = datasets.load("anes96")
    data = fit.plot.parallel(draw=False)
    X = sm.add_constant(anes[["educ", "income"]])
    for code, above in enumerate(fit.levels[:-1]):
        logit = sm.Logit((anes["PID"].cat.codes > code).astype(float), X).fit(
            disp=0, tol=1e-12
        )
        mine = data[data["above"] == above].set_index("term")
        np.testing.assert_allclose(
            mine["estimate"], logit.params[mine.index], rtol=1e-6
        )
        np.testing.assert_allclose(mine["std_error"], logit.bse[mine.index], rtol=1e-5)
        np.testing.assert_allclose(
            mine[["lower", "upper"]],
            logit.conf_int().loc[mine.index],
            rtol=1e-5,
            atol=1e-7,
        )
    pooled = data.groupby("term", sort=False)[
        ["pooled", "pooled_lower", "pooled_upper"]
    ].first()
    np.testing.assert_allclose(pooled["pooled"], fit.coef, rtol=1e-12)
    np.testing.assert_allclose(
        pooled[["pooled_lower", "pooled_upper"]],
        fit.confint().loc[fit.coef.index],
        rtol=1e-12,
    )


def test_parallel_of_a_separated_threshold_has_no_estimate(fits):
    """Nobody rated a cold wine 5, nor a warm one 1."""
    data = (
        fits["wine"]
        .plot.parallel(columns="temp[T.warm]", draw=False)
        .set_index("threshold")
    )
    assert data["estimate"].isna().tolist() == [True, False, False, True]
    by_term = (
        fits["wine"].plot.parallel(columns="temp", draw=False).set_index("threshold")
    )
    pd.testing.assert_frame_equal(by_term, data)
    with refused("columns", "'tempo'"):
        fits["wine"].plot.parallel(columns="tempo", draw=False)


def test_profiles_are_fits_with_the_parameter_held():
    """As an offset."""
    wine = datasets.load("wine")
    fit = ordfit("rating ~ temp + contact", data=wine)
    data = fit.plot.profiles("temp", points=5, draw=False)
    warm = (wine["temp"] == "warm").to_numpy(dtype=float)
    for row in data.itertuples():
        held = ordfit("rating ~ contact", data=wine, offset=row.value * warm)
        assert row.loglik == pytest.approx(held.loglik, abs=1e-8)
        deviance = max(2.0 * (fit.loglik - held.loglik), 0.0)
        side = np.sign(row.value - fit.coef["temp[T.warm]"])
        assert row.z == pytest.approx(side * np.sqrt(deviance), abs=1e-5)
        assert row.quadratic == pytest.approx(
            (row.value - fit.coef["temp[T.warm]"]) / fit.se["temp[T.warm]"]
        )


@pytest.mark.parametrize("exponentiate", [False, True])
def test_forest_shows_the_effects_alone(fits, exponentiate):
    fit = fits["wine"]
    data = fit.plot.forest(exponentiate=exponentiate, level=0.9, draw=False).set_index(
        "term"
    )
    half = stats.norm.ppf(0.95) * fit.se[fit.coef.index]
    change = np.exp if exponentiate else np.asarray
    assert data.index.tolist() == ["temp[T.warm]", "contact[T.yes]"]
    np.testing.assert_allclose(data["estimate"], change(fit.coef), rtol=1e-12)
    np.testing.assert_allclose(data["conf_low"], change(fit.coef - half), rtol=1e-10)
    np.testing.assert_allclose(data["conf_high"], change(fit.coef + half), rtol=1e-10)


def test_margins_of_a_rule_that_is_all_zero_are_zero():
    """Neither coefficients nor thresholds: a norm of 0 divides nothing."""
    data = pd.DataFrame({"x": np.zeros(9), "y": [1, 2, 3] * 3})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counts = ordfit("y ~ x", data, "svor-exc").plot.margins(bins=5, draw=False)
    assert counts.loc[counts["weight"] > 0, "from"].tolist() == [0.0, 0.0]
    assert counts["weight"].sum() == 12.0


@pytest.mark.parametrize("name", ["wine", "two"])
def test_latent_shows_the_density_of_the_error_around_the_mean_score(fits, name):
    fit = fits[name]
    ax = fit.plot.latent(bins=10)
    (area,) = ax.collections
    outline = area.get_paths()[0].vertices
    K = len(fit.levels)
    above = outline[outline[:, 1] > K]
    mean = np.average(fit.fit.scores, weights=fit.design.sample.weights)
    logistic = 4.0 * expit(above[:, 0] - mean) * expit(mean - above[:, 0])
    assert above[:, 1].max() == pytest.approx(K + 0.85)
    np.testing.assert_allclose(above[:, 1] - K, 0.85 * logistic, rtol=2e-3)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels[-1] == "random error"


def test_latent_of_a_machine_has_no_random_error(fits):
    ax = fits["margin"].plot.latent(bins=10)
    assert not ax.collections
