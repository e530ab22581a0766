"""Predictions with random effects against R's fitted values, brute-force integration
and draws.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reference_cases import case_names, load_case
from scipy.integrate import quad
from scipy.stats import norm
from scipy.stats import t as student
from seams import LINKS, LikelihoodResults

from ordstat import CumulativeLink, datasets, ordfit
from ordstat.exceptions import DataError, DataWarning, OptionError

#: Case weights of these data have a mean above 2, as sampling weights do.
pytestmark = pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)

WINE = datasets.load("wine")
NEW = pd.DataFrame(
    {
        "temp": ["cold", "warm", "warm"],
        "contact": ["no", "yes", "no"],
        "judge": [1, 5, 9],
    }
)


@pytest.fixture(scope="module")
def fit() -> LikelihoodResults:
    return ordfit("rating ~ temp + contact + (1 | judge)", WINE)


@pytest.mark.parametrize(
    "name",
    [
        "wine_clmm_laplace",
        "crossed_clmm_slope",
        "nested_clmm_slash",
        "long_clmm_weights",
    ],
)
def test_fitted_values_are_those_of_r(name: str) -> None:
    """R's fitted(): the probability of the observed level at the modes, first 20 rows;
    at R's own optimum.
    """
    assert name in case_names("clmm")
    case = load_case(name)
    options: dict[str, Any] = (
        {"weights": case.spec["weights"]} if "weights" in case.spec else {}
    )
    fit = ordfit(case.spec["formula"], case.frame(), **options)
    y = fit.design.sample.y[:20]
    own = fit.predict(type="prob").to_numpy()[np.arange(20), y]
    np.testing.assert_allclose(own, case.raw["fitted_head"], atol=2e-4)


def averaged(
    fit: LikelihoodResults, row: pd.Series, mean: float, variance: float
) -> list[float]:
    """Probabilities averaged over N(mean, variance) by SciPy's adaptive quadrature."""
    effects = fit.coef["temp[T.warm]"] * (row["temp"] == "warm") + fit.coef[
        "contact[T.yes]"
    ] * (row["contact"] == "yes")
    theta = fit.thresholds.to_numpy()
    cdf = fit.rule.link.cdf

    def below(b: float, k: int) -> float:
        return float(
            cdf(np.array([theta[k] - effects - b]))[0]
            * norm.pdf(b, mean, np.sqrt(variance))
        )

    ends = mean - 9.0 * np.sqrt(variance), mean + 9.0 * np.sqrt(variance)
    cumulative = [
        quad(partial(below, k=k), *ends, epsabs=1e-12, limit=200)[0]
        for k in range(theta.size)
    ]
    return np.diff([0.0, *cumulative, 1.0]).tolist()


@pytest.mark.parametrize("link", LINKS)
def test_averages_are_the_integrals(link: str) -> None:
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE, link)
    sd = fit.varcorr()["sd"].iloc[0]
    marginal = fit.predict(NEW, type="prob", re="marginal").to_numpy()
    for i, row in NEW.iterrows():
        # its poles are near, and nodes do less
        near = 1e-5 if link == "cauchit" else 2e-7
        assert marginal[i].tolist() == pytest.approx(
            averaged(fit, row, 0.0, sd**2), abs=near
        )


def test_known_groups_are_at_their_modes_and_others_averaged_over(
    fit: LikelihoodResults,
) -> None:
    """Row by row; no warning, as some group is known."""
    mixed = NEW.assign(judge=[1, 77, 9])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = fit.predict(mixed, type="prob")
    for i, re in enumerate(["mode", "marginal", "mode"]):
        pd.testing.assert_frame_equal(
            both.iloc[[i]], fit.predict(mixed.iloc[[i]], type="prob", re=re)
        )
    y = mixed.assign(rating=[1, 2, 3])
    prob = fit.predict(mixed, type="prob").to_numpy()
    assert fit.errors(y).loc["log-loss", "new data"] == pytest.approx(
        -np.log(prob[range(3), range(3)]).mean()
    )
    with pytest.raises(DataError, match="newdata has new groups, 'judge' in 1 rows"):
        fit.predict(mixed, re="mode")


def test_a_new_group_within_a_known_one() -> None:
    """The mode of the outer group, and the variance of those within it."""
    data = WINE.assign(half=WINE["bottle"].astype(int) % 2)
    fit = ordfit("rating ~ temp + (1 | judge/half)", data)
    new = data.head(1).assign(half=7)
    sd = fit.varcorr()["sd"].loc["judge:half"].iloc[0]
    mode = fit.ranef().query("group == 'judge'")["mode"].iloc[0]
    points = np.linspace(-9.0, 9.0, 4001)
    weights = norm.pdf(points) / norm.pdf(points).sum()
    H = float(fit.predict(new, type="score", re="zero").iloc[0]) + mode + sd * points
    below = (fit.rule.link.cdf(fit.thresholds.to_numpy()[:, None] - H) * weights).sum(
        axis=1
    )
    with pytest.warns(DataWarning, match="'half' has 0, 1 in the fit and 7 in newdata"):
        actual = fit.predict(new, type="cum_prob").to_numpy()[0, :-1]
    np.testing.assert_allclose(actual, below, atol=1e-7)


@pytest.mark.parametrize("re", [None, "mode"])
def test_modes_have_no_standard_errors(fit: LikelihoodResults, re: str | None) -> None:
    with pytest.raises(
        OptionError,
        match="must go with re='marginal', averages over the groups, or re='zero'",
    ):
        fit.predict(type="prob", se=True, re=re)


@pytest.mark.parametrize("re", ["zero", "marginal"])
def test_limits_have_the_degrees_of_freedom_of_few_clusters(re: str) -> None:
    """Nine clusters: t with 8, for the predictor and for the logit of a probability."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        fit = ordfit("rating ~ temp + (1 | judge)", WINE, cluster="judge")
    quantile = student.ppf(0.95, 8)
    ask = partial(fit.predict, NEW, se=True, interval="confidence", level=0.9, re=re)
    eta = ask(type="linear_predictor")
    half = (eta["upper"] - eta["lower"]) / 2.0
    np.testing.assert_allclose(half, quantile * eta["std_error"], rtol=1e-12)
    prob = ask(type="prob")
    p = prob["estimate"].to_numpy()
    centre = np.log(p / (1.0 - p))
    half = quantile * prob["std_error"].to_numpy() / p / (1.0 - p)
    upper = 1.0 / (1.0 + np.exp(-centre - half))
    np.testing.assert_allclose(prob["upper"], upper, rtol=1e-10)


def test_rows_without_values_have_no_predictions(fit: LikelihoodResults) -> None:
    out = fit.predict(NEW.assign(temp=np.nan), type="prob", se=True, re="marginal")
    assert out.shape == (3, 10)
    assert out.isna().all(axis=None)


def test_simulated_effects_have_their_variance() -> None:
    """2000 responses of one row each of many groups: shares of the population, and rows
    of a group that go together.
    """
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    rows = WINE[(WINE["temp"] == "warm") & (WINE["contact"] == "no")].sort_values(
        ["judge", "bottle"]
    )
    drawn = (
        fit.simulate(2000, seed=1, newdata=rows)
        .apply(lambda column: column.cat.codes)
        .to_numpy()
    )
    expected = fit.predict(rows.iloc[[0]], type="prob", re="marginal").to_numpy()[0]
    np.testing.assert_allclose(
        np.bincount(drawn.reshape(-1), minlength=5) / drawn.size, expected, atol=0.01
    )
    # a judge has two such rows: equal levels are as probable as the mean square of
    # their probabilities says
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    sd = fit.varcorr()["sd"].iloc[0]
    score = float(fit.predict(rows.iloc[[0]], type="score", re="zero").iloc[0])
    ends = fit.thresholds.to_numpy()[:, None] - score - sd * points
    probabilities = np.diff(
        np.vstack([0 * points, fit.rule.link.cdf(ends), 0 * points + 1]), axis=0
    )
    together = float((weights * (probabilities**2).sum(axis=0)).sum() / weights.sum())
    assert np.mean(drawn[::2] == drawn[1::2]) == pytest.approx(together, abs=0.01)


def drawn(sd: float, spread: float) -> pd.DataFrame:
    """600 rows of 30 groups with random intercepts, and a scale effect of s."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame(
        {
            "x": rng.normal(size=600),
            "s": rng.normal(size=600),
            "g": rng.integers(0, 30, 600),
        }
    )
    latent = (
        data["x"]
        + sd * rng.normal(size=30)[data["g"]]
        + rng.logistic(size=600) * np.exp(spread * data["s"])
    )
    return data.assign(
        y=pd.Categorical(np.digitize(latent, [-1.5, 0.0, 1.5]), ordered=True)
    )


def integrals(fit: LikelihoodResults, x: float, steep: float) -> list[float]:
    """Probabilities of a row of a new group by SciPy's adaptive quadrature, cut where
    the predictor is zero.
    """
    sd = float(fit.varcorr()["sd"].iloc[0])
    cdf = fit.rule.link.cdf
    below = [0.0]
    for end in fit.thresholds - fit.coef["x"] * x:
        curve = partial(
            lambda v, end: cdf(np.array([steep * (end - sd * v)]))[0] * norm.pdf(v),
            end=end,
        )
        place = min(max(end / sd, -8.9), 8.9)
        near = sorted(
            {
                max(min(place + step / (steep * sd), 8.99), -8.99)
                for step in (-20.0, -4.0, 0.0, 4.0, 20.0)
            }
        )
        below.append(quad(curve, -9.0, 9.0, points=near, limit=500, epsabs=1e-13)[0])
    return np.diff([*below, 1.0]).tolist()


@pytest.mark.parametrize("link", ["logit", "cloglog", "cauchit"])
def test_averages_beside_scale_effects(link: str) -> None:
    fit = ordfit(
        "y ~ x + (1 | g)", drawn(0.9, 0.5), CumulativeLink(link=link), scale="s"
    )
    zeta = float(fit.params.filter(like="scale").iloc[0])
    new = pd.DataFrame({"x": 0.3, "s": [0.0, -2.0, -4.0, -6.0], "g": 999})
    actual = fit.predict(new, type="prob", re="marginal").to_numpy()
    for own, s in zip(actual, new["s"], strict=True):
        assert own.tolist() == pytest.approx(
            integrals(fit, 0.3, np.exp(-zeta * s)), abs=1e-9
        )


@pytest.mark.parametrize("link", ["logit", "cauchit"])
def test_averages_over_wide_effects(link: str) -> None:
    fit = ordfit("y ~ x + (1 | g)", drawn(10.0, 0.0), CumulativeLink(link=link))
    new = pd.DataFrame({"x": [0.3, -2.0], "g": 999})
    actual = fit.predict(new, type="prob", re="marginal").to_numpy()
    for own, x in zip(actual, new["x"], strict=True):
        assert own.tolist() == pytest.approx(integrals(fit, x, 1.0), abs=1e-9)


def test_generalised_residuals_balance_the_modes() -> None:
    """A mode is where the sum of its group's scores is b / sd^2: the equation that
    defines it.
    """
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    sums = fit.residuals("generalised").groupby(WINE["judge"], observed=True).sum()
    expected = fit.ranef()["mode"] / fit.varcorr()["variance"].iloc[0]
    assert sums.tolist() == pytest.approx(expected.tolist(), abs=1e-9)


def test_an_argument_of_lme4_is_told_ours():
    fit = ordfit("rating ~ temp + (1 | judge)", datasets.load("wine"))
    with pytest.raises(OptionError, match=r"no argument 're_form'\. Write re='mode'"):
        fit.predict(re_form=None)


@pytest.mark.parametrize("re", ["zero", "marginal"])
def test_predictions_with_limits_print_their_notes(re):
    """As those of fits without random effects, and what the groups are."""
    wine = datasets.load("wine")
    new = wine[["temp"]].head(2)
    fit = ordfit("rating ~ temp + (1 | judge)", wine)
    found = fit.predict(new, type="prob", interval="confidence", level=0.9, re=re)
    plain = ordfit("rating ~ temp", wine)
    expected = plain.predict(new, type="prob", interval="confidence", level=0.9)
    assert found.attrs["title"] == expected.attrs["title"]
    (groups,) = set(found.attrs["notes"]) - set(expected.attrs["notes"])
    assert f"re='{re}'" in groups and "..." not in repr(found)
    assert set(expected.attrs["notes"]) < set(found.attrs["notes"])
