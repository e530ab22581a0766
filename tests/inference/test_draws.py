"""Posterior draws: moments by quadrature, a posterior in closed form, priors, and fits
that have no draws.
"""

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from scipy.special import expit, logit
from scipy.stats import beta

from ordstat import ordfit
from ordstat.exceptions import ConvergenceWarning, OptionError, UnavailableError

pytest.importorskip("arviz_stats")


@pytest.fixture(scope="module")
def wine():
    return ordfit("rating ~ temp + contact", data=load_data("wine"))


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    y = 1 + (x + rng.logistic(size=60) > 0.3)
    return pd.DataFrame({"x": x, "y": y})


def quadrature(data, log_prior):
    """Posterior means and standard deviations of threshold and slope, on a grid."""
    theta, slope = np.meshgrid(np.linspace(-2, 4, 121), np.linspace(-1, 7, 161))
    margin = theta[..., None] - slope[..., None] * data["x"].to_numpy()
    sign = np.where(data["y"].to_numpy() == 1, 1.0, -1.0)
    height = np.log(expit(sign * margin)).sum(axis=-1) + log_prior(theta, slope)
    mass = np.exp(height - height.max())
    mass /= mass.sum()
    means = [(mass * values).sum() for values in (theta, slope)]
    deviations = [
        np.sqrt((mass * (values - mean) ** 2).sum())
        for values, mean in zip((theta, slope), means, strict=True)
    ]
    return np.array(means), np.array(deviations)


def check_moments(draws, means, deviations):
    """Means and deviations within four Monte Carlo standard errors."""
    table = draws.interval()
    errors = 4.0 * deviations / np.sqrt(draws.effective)
    assert (np.abs(table["mean"] - means) < errors).all()
    assert (np.abs(table["sd"] - deviations) < errors).all()


@pytest.mark.parametrize("prior", [None, {"x": (0.0, 0.5)}, {"1|2": (2.0, 0.3)}])
def test_moments_are_those_of_quadrature(small, prior):
    def log_prior(theta, slope):
        values = {"1|2": theta, "x": slope}
        return sum(
            -0.5 * ((values[name] - mean) / deviation) ** 2
            for name, (mean, deviation) in (prior or {}).items()
        )

    means, deviations = quadrature(small, log_prior)
    draws = ordfit("y ~ x", small).draws(8000, prior=prior, seed=1)
    check_moments(draws, means, deviations)
    assert draws.pareto_k < 0.5
    assert draws.effective > 1000


def test_ridge_is_a_normal_prior(small):
    """penalty=2 takes 2/2 times the squared slope per deviation of the column."""
    scale = small["x"].std(ddof=0)
    means, deviations = quadrature(small, lambda theta, b: -((b * scale) ** 2))
    draws = ordfit("y ~ x", small, penalty=2.0).draws(8000, seed=2)
    check_moments(draws, means, deviations)


def test_jeffreys_posterior_of_a_share_is_a_beta():
    """3 of 20 answers "1": P(y = 1) is Beta(3.5, 17.5), whatever the link."""
    data = pd.DataFrame({"y": [1] * 3 + [2] * 17})
    draws = ordfit("y ~ 1", data, penalty="jeffreys").draws(2000, seed=3)
    table = draws.interval(lambda d: expit(d["1|2"]))
    exact = beta(3.5, 17.5)
    assert table["mean"].item() == pytest.approx(exact.mean(), abs=0.008)
    assert table["sd"].item() == pytest.approx(exact.std(), rel=0.08)
    limits = table[["lower", "median", "upper"]].to_numpy().ravel()
    np.testing.assert_allclose(limits, exact.ppf([0.025, 0.5, 0.975]), atol=0.02)
    below = draws.probability(lambda d: d["1|2"] < logit(0.2))
    assert below == pytest.approx(exact.cdf(0.2), abs=0.04)


def test_same_seed_same_draws(wine):
    first = wine.draws(200, seed=4)
    again = wine.draws(200, seed=4)
    pd.testing.assert_frame_equal(first.frame, again.frame)
    np.testing.assert_array_equal(first.weights, again.weights)
    assert first.weights.sum() == pytest.approx(1.0)
    assert first.frame.columns.tolist() == wine.params.index.tolist()


def test_functions_return_numbers_for_each_draw(wine):
    draws = wine.draws(200)
    pair = draws.interval(lambda d: d[["temp[T.warm]", "contact[T.yes]"]].to_numpy())
    alone = draws.interval().loc[["temp[T.warm]", "contact[T.yes]"]]
    np.testing.assert_array_equal(pair.to_numpy(), alone.to_numpy())
    named = {"t": lambda d: d["temp[T.warm]"], "c": lambda d: d["contact[T.yes]"]}
    table = draws.interval(named)
    assert table.index.tolist() == ["t", "c"]
    np.testing.assert_array_equal(table.to_numpy(), alone.to_numpy())
    both = draws.interval({"two": lambda d: d[["1|2", "2|3"]]})
    assert both.index.tolist() == ["two 1|2", "two 2|3"]
    with pytest.raises(OptionError):
        draws.interval({})
    frame = draws.frame.copy()
    draws.interval(lambda d: d.pop("temp[T.warm]"))
    pd.testing.assert_frame_equal(draws.frame, frame)
    for wrong in (lambda d: 1.0, lambda d: d.iloc[:3], lambda d: d[[]], "x"):
        with pytest.raises(OptionError):
            draws.interval(wrong)
    with pytest.raises(OptionError):
        draws.probability(lambda d: d["temp[T.warm]"])


@pytest.mark.parametrize(
    "options",
    [
        {"n": 99},
        {"prior": {"tmep": (0.0, 1.0)}},
        {"prior": {"temp[T.warm]": 1.0}},
        {"prior": {"temp[T.warm]": (0.0, 0.0)}},
        {"prior": {"temp[T.warm]": (0.0, 1.0, 2.0)}},
        {"prior": [1.0]},
    ],
)
def test_bad_options(wine, options):
    with pytest.raises(OptionError):
        wine.draws(**options)


def test_few_draws_that_decide_are_warned_of():
    """The posterior of six answers is far from a t distribution."""
    x = [0.0, 0.1, 0.2, 5.0, 0.3, 0.15]
    data = pd.DataFrame({"y": [1, 2, 1, 2, 1, 2], "x": x})
    fit = ordfit("y ~ x", data, link="cauchit")
    with pytest.warns(ConvergenceWarning):
        draws = fit.draws(2000, seed=1)
    assert draws.pareto_k > 0.7


def test_what_has_no_posterior():
    wine = load_data("wine")
    mixed = ordfit("rating ~ temp + (1 | judge)", wine)
    clusters = ordfit("rating ~ temp", wine, cluster="judge")
    with pytest.warns(Warning):
        separated = ordfit("y ~ x", pd.DataFrame({"y": [1, 1, 2, 2], "x": range(4)}))
    for fit in (mixed, clusters, separated):
        with pytest.raises(UnavailableError):
            fit.draws()


def test_aliased_effects_have_no_draws():
    wine = load_data("wine").assign(again=lambda d: d["temp"])
    with pytest.warns(Warning):
        fit = ordfit("rating ~ temp + again", wine)
    assert "again[T.warm]" not in fit.draws(200).frame


@pytest.mark.parametrize("name", ["temp: warm", "temp", "temp[T.warm]"])
def test_parameters_are_found_by_each_of_their_names(wine, name):
    draws = wine.draws(200, seed=1)
    own = draws.frame["temp[T.warm]"]
    pd.testing.assert_series_equal(draws.frame[name], own)
    pd.testing.assert_series_equal(draws.frame.copy()[[name]].iloc[:, 0], own)
    assert draws.probability(lambda d: d[name] > 0.0) > 0.99
    with pytest.raises(OptionError, match=r"'temp\[T.warm\]'"):
        draws.interval(lambda d: d["temp: hot"])


def test_columns_that_a_user_adds_to_draws_have_their_names(wine):
    frame = wine.draws(200, seed=1).frame.copy()
    frame["temp"] = 0.0
    assert not frame["temp"].any()
    assert frame["temp: warm"].any()
