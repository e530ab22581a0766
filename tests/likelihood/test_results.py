"""Likelihood results on R's own numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_case
from scipy import stats
from seams import LINKS, build

from ordstat import datasets, ordfit
from ordstat.exceptions import (
    ConvergenceWarning,
    DataError,
    DataWarning,
    OptionError,
    SeparationWarning,
)
from ordstat.likelihood.determined import Determined
from ordstat.likelihood.results import LikelihoodResults

# R prints 17 digits; what is left is the rounding of a few operations.
TIGHT = 1e-9

# confint(type = "Wald") of the same fit in R.
WALD = {
    "1|2": (-2.3578847964322893, -0.33088202609714146),
    "5th": (1.4669080509392252, 3.5392959648586286),
}


def _with(results, **changes):
    return replace(results, fit=replace(results.fit, **changes))


def test_numbers_match_r(wine_logit):
    r = wine_logit
    case = load_case("wine_logit")
    assert r.params.index.tolist() == [
        "1|2",
        "2|3",
        "3|4",
        "4|5",
        "temp[T.warm]",
        "contact[T.yes]",
    ]
    np.testing.assert_allclose(r.se, case.std_errors, rtol=TIGHT)
    np.testing.assert_allclose(
        r.z_values, list(case.raw["z_values"].values()), rtol=TIGHT
    )
    np.testing.assert_allclose(
        r.p_values, list(case.raw["p_values"].values()), rtol=1e-7
    )
    assert r.aic == pytest.approx(case.raw["AIC"], rel=1e-12)
    assert r.bic == pytest.approx(case.raw["BIC"], rel=1e-12)
    assert (r.edf, r.df_residual, r.nobs) == (6, 66, 72)
    np.testing.assert_allclose(r.confint().loc["1|2"], WALD["1|2"], rtol=TIGHT)
    np.testing.assert_allclose(r.confint().iloc[4], WALD["5th"], rtol=TIGHT)
    fitted = r.predict(type="prob").to_numpy()[np.arange(72), r.design.sample.y]
    np.testing.assert_allclose(fitted[:20], case.raw["fitted_head"], rtol=TIGHT)


def test_tests_against_thresholds_only_match_rms(wine_logit):
    # lrm(y ~ x1 + x2 + f + g, data = sim500): deviances, model L.R. and Nagelkerke's R2
    # as rms prints them.
    r = _with(
        wine_logit,
        loglik=-1450.5241345299846 / 2,
        null_loglik=-1574.1028994271696 / 2,
        n_obs=500.0,
    )
    figures = r.glance().iloc[0]
    assert figures["lr_chi2"] == pytest.approx(123.57876489718501, rel=1e-12)
    assert figures["nagelkerke"] == pytest.approx(0.22880472639188787, rel=1e-9)
    assert figures["mcfadden"] == pytest.approx(
        1 - 1450.5241345299846 / 1574.1028994271696, rel=1e-12
    )
    assert figures["lr_p_value"] == pytest.approx(
        stats.chi2.sf(figures["lr_chi2"], 2), rel=1e-10
    )


def test_names_of_nominal_and_scale_effects(wine_logit):
    data = datasets.load("wine").assign(a=np.arange(72.0), b=1.0, c=2.0)
    design = build("rating ~ a", data, nominal="~ b + c", scale="~ a")
    fit = replace(
        wine_logit.fit, coefficients=np.arange(14.0), aliased=np.zeros(14, dtype=bool)
    )
    r = LikelihoodResults("", design, wine_logit.method, fit)
    assert r.params.index[:6].tolist() == ["1|2", "2|3", "3|4", "4|5", "1|2.b", "2|3.b"]
    assert r.params.index[-2:].tolist() == ["a", "scale.a"]
    assert r.params["4|5.c"] == 11.0 and r.thresholds.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert r.coef.size == 10 and r.params.index.is_unique


def test_aliased_effects_stay_as_missing(wine_logit):
    aliased = np.array([False] * 5 + [True])
    kept = wine_logit.fit.model_covariance.dense()[:5, :5]
    r = _with(
        wine_logit,
        aliased=aliased,
        coefficients=np.where(aliased, np.nan, wine_logit.fit.coefficients),
        model_covariance=type(wine_logit.fit.model_covariance)(kept),
    )
    assert np.isnan(r.se["contact[T.yes]"]) and np.isnan(r.coef["contact[T.yes]"])
    assert r.vcov().shape == (5, 5) and r.edf == 5 and r.glance()["lr_df"][0] == 1
    assert [category for category, _ in r.alerts()] == [DataWarning]
    assert "contact[T.yes]" in r.alerts()[0][1]
    row = next(
        line
        for line in str(r.summary("model")).splitlines()
        if line.startswith("contact")
    )
    assert row.split()[2:] == ["NA"] * 6


@pytest.mark.parametrize(
    ("type", "factor"), [("model", 1.0), ("HC0", 2.0), ("HC1", 2.0 * 72 / 66)]
)
def test_covariances(wine_logit, type, factor):
    np.testing.assert_allclose(
        wine_logit.vcov(type), factor * wine_logit.vcov(), rtol=1e-10
    )


def test_cluster_covariance_by_series_or_values(wine_logit, wine):
    for clusters in (wine["judge"], wine["judge"].to_numpy(), wine["judge"].iloc[::-1]):
        sandwich = wine_logit.vcov({"cluster": clusters, "type": "CR1"})
        np.testing.assert_allclose(
            sandwich, 3.0 * 9 / 8 * wine_logit.vcov(), rtol=1e-10
        )


def test_a_fit_with_clusters_uses_them(wine_logit, wine):
    codes = pd.factorize(wine["judge"])[0]
    design = replace(
        wine_logit.design, sample=replace(wine_logit.design.sample, cluster=codes)
    )
    r = replace(wine_logit, design=design).with_vcov("cluster")
    np.testing.assert_allclose(r.se, np.sqrt(3.0 * 9 / 8) * wine_logit.se, rtol=1e-10)
    np.testing.assert_allclose(r.vcov("model"), wine_logit.vcov(), rtol=1e-12)
    text = str(r.summary("fit"))
    assert "cluster-robust, 9 clusters" in text
    assert "come in clusters" in str(r.summary("bounds"))


@pytest.mark.parametrize(
    ("type", "error", "match"),
    [
        ("HC9", OptionError, "'model', 'HC0', 'HC1', 'cluster'"),
        ("cluster", OptionError, "ordfit"),
        ({"cluster": "taster"}, DataError, "no column .taster."),
        ({"cluster": [1, 2]}, DataError, "72 rows"),
        ({"cluster": np.ones(72)}, DataError, "2 clusters"),
    ],
)
def test_covariances_that_cannot_be_had(wine_logit, type, error, match):
    with pytest.raises(error, match=match):
        wine_logit.vcov(type)


def test_tidy(wine_logit):
    tidy = wine_logit.tidy()
    assert tidy.columns.tolist() == [
        "term",
        "estimate",
        "std_error",
        "statistic",
        "p_value",
        "conf_low",
        "conf_high",
        "coef_type",
    ]
    assert tidy["coef_type"].tolist() == ["threshold"] * 4 + ["location"] * 2
    ratios = wine_logit.tidy(exponentiate=True)
    np.testing.assert_allclose(
        ratios.loc[4, ["estimate", "conf_low"]].astype(float),
        np.exp(tidy.iloc[4, [1, 5]].astype(float)),
    )
    np.testing.assert_array_equal(ratios.loc[:3, "estimate"], tidy.loc[:3, "estimate"])
    assert "conf_low" not in wine_logit.tidy(conf_int=False)
    assert wine_logit.glance().shape[0] == 1 and wine_logit.glance()["converged"].item()


@pytest.mark.parametrize(
    ("link", "name", "sign"),
    [
        ("logit", "odds ratio", 1),
        ("cloglog", "hazard ratio", -1),
        ("probit", "exp(estimate)", 1),
    ],
)
def test_ratios_in_the_summary(wine_logit, link, name, sign):
    rule = wine_logit.fit.rule
    r = _with(
        wine_logit, rule=replace(rule, family=replace(rule.family, link=LINKS[link]))
    )
    tables = [t for t in r.summary(exponentiate=True).tables.values() if name in t]
    expected = np.exp(
        sign * np.array([2.503102007898927, 1.4669080509392252, 3.5392959648586286])
    )
    ratio, low, high = tables[0].iloc[0]
    assert ratio == pytest.approx(expected[0]) and (low, high) == pytest.approx(
        tuple(sorted(expected[1:]))
    )


def test_alerts(wine_logit):
    assert wine_logit.alerts() == []
    late = _with(wine_logit, certificate=replace(wine_logit.certificate, value=0.5))
    ((category, message),) = late.alerts()
    assert category is ConvergenceWarning and "0.5" in message and "1e-06" in message
    assert "NOT CONVERGED after" in str(late.summary())
    moves = np.array([[-1.0, 0, 0, 0, 2.0, 0]]).T
    determined = Determined(
        moves=moves,
        slopes=np.ones((1, 1)),
        inside=np.ones(1),
        sizes=np.abs(moves),
        divergence=np.zeros((6, 0)),
        axes=np.eye(6),
        errors=np.eye(6),
    )
    separated = _with(wine_logit, determined=determined)
    ((category, message),) = separated.alerts()
    assert (
        category is SeparationWarning
        and "temp[T.warm] to +infinity" in message
        and "contact" not in message
    )
    assert separated.se.isna().tolist() == [True, False, False, False, True, False]
    noted = replace(
        wine_logit,
        design=replace(wine_logit.design, notes=("3 rows left out: temp missing.",)),
    )
    assert noted.alerts() == [(DataWarning, "3 rows left out: temp missing.")]
    assert "* 3 rows left out: temp missing." in str(noted.summary())


def test_thresholds_alone(wine):
    r = ordfit("rating ~ 1", wine)
    assert r.loglik == pytest.approx(load_case("wine_null").loglik, rel=1e-12)
    assert (
        r.glance()["lr_df"][0] == 0
        and np.isnan(r.glance()["lr_p_value"][0])
        and r.coef.empty
    )
    assert "thresholds only" in str(r.summary(exponentiate=True))


def test_summary_of_very_many_levels_stays_short():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=300)})
    data["y"] = np.floor(10 * (data["x"] + rng.normal(size=300))).astype(int)
    r = ordfit("y ~ x", data, levels=sorted(data["y"].unique()))
    assert len(r.levels) > 40
    assert len(str(r.summary()).splitlines()) < 40
    lines = str(r.summary("all")).splitlines()
    assert len(lines) < 120 and max(map(len, lines)) <= 100
    assert any(".thresholds" in line for line in lines) and any(
        ".confusion()" in line for line in lines
    )


@pytest.mark.parametrize(
    ("nominal", "way_out"), [(None, "penalty=.jeffreys"), ("~ temp", "with a ridge")]
)
def test_separation_names_the_penalties_that_help(wine, nominal, way_out):
    """Every row with `top` is in the top level; Jeffreys' penalty takes no nominal
    effects.
    """
    tied = wine.assign(
        top=(wine["rating"].astype(int) == 5) & (wine["contact"] == "yes")
    )
    formula = "rating ~ temp + top" if nominal is None else "rating ~ top"
    with pytest.warns(SeparationWarning, match=way_out):
        ordfit(formula, tied, nominal=nominal)
