"""Robust standard errors, surveys and penalties: Wald tests by R, and what the table of
refusals refuses.

Values by R 4.2.2, ordinal 2022.11-16, sandwich 3.0-2:

    fm <- clm(rating ~ temp + contact, data = wine, control = list(gradTol = 1e-10)) w
    <- function(f, V, i) { b <- coef(f)[i]; drop(b %*% solve(V[i, i], b)) } V <-
    vcovCL(fm, wine$judge, type = "HC0"); c(w(fm, V, 5), w(fm, V, 6), w(fm, V, 5:6)) V
    <- sandwich(fm); ...
"""

import re
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from expected import unavailable
from reference_cases import load_data
from scipy import stats

from ordstat import SurveyDesign, ordfit
from ordstat.exceptions import UnavailableError

WINE = load_data("wine")
FORMULA = "rating ~ temp + contact"
CR2 = {"cluster": "judge", "type": "CR2"}
#: temp, contact, both.
BY_R = {
    "judge": (50.0255922588, 12.3696249141, 54.4177409972),
    "HC0": (26.57492876784, 9.71187635747, 33.11505005423),
}
#: clm(rating ~ temp * contact, wine) by judge: all three effects; temp:contact.
CROSSED = (66.8180469258, 0.198294362943)

CR1 = {"cluster": "judge", "type": "CR1"}
ROBUST = {
    "cluster": {"vcov": CR1},
    "HC0": {"vcov": "HC0"},
    "HC1": {"vcov": "HC1"},
    "CR2": {"vcov": CR2},
}
PENALISED = {"ridge": {"penalty": 1.0}, "jeffreys": {"penalty": "jeffreys"}}
KINDS = {**ROBUST, "survey": {"design": SurveyDesign(weights="w", clusters="judge")}}
INSTEAD = {
    "drop1": r"anova\(type='II'\)",
    "add1": r"anova\(type='II'\)",
    "step": r"anova\(type='II'\)",
    "anova": r"test\(\)",
    "scale_test": r"test\('scale\.x'\)",
    "score_test": r"nominal_test\(\)|update\(penalty=None\)",
    "brant": r"nominal_test\(\)|update\(penalty=None\)",
    "gof": r"terms added to the model|update\(penalty=None\)",
}


@cache
def fitted(kind, formula=FORMULA):
    return ordfit(
        formula, WINE.assign(w=np.arange(72) % 3 + 1.0), **(KINDS | PENALISED)[kind]
    )


def ask(fit, question):
    if question == "anova":
        return fit.anova(fit.update("~ temp"))
    arguments = {"add1": ("~ . + judge",), "gof": (3,)}
    return getattr(fit, question)(*arguments.get(question, ()))


@pytest.mark.parametrize(
    ("question", "kind"),
    [*product(INSTEAD, [*KINDS, *PENALISED]), *product(["nominal_test"], PENALISED)],
)
def test_questions_to_the_likelihood_are_refused(kind, question):
    with pytest.raises(
        UnavailableError,
        match=rf"^{question}\(.*\.? Use .*{INSTEAD.get(question, 'penalty=None')}",
    ):
        ask(fitted(kind), question)


@pytest.mark.parametrize("question", [name for name in INSTEAD if name != "add1"])
def test_the_same_fit_with_the_covariance_of_the_model_answers(question):
    answer = ask(fitted("cluster").with_vcov("model"), question)
    plain = ask(ordfit(FORMULA, WINE), question)
    if part := {"step": "trace", "gof": "table"}.get(question):
        answer = getattr(answer, part)
        plain = getattr(plain, part)
    pd.testing.assert_frame_equal(answer, plain)


@pytest.fixture(params=BY_R)
def case(request):
    vcov = CR1 if request.param == "judge" else request.param
    return ordfit(FORMULA, WINE, vcov=vcov), BY_R[request.param]


def test_header_and_glance(case):
    fit, (*_, both) = case
    figures = fit.glance().iloc[0]
    assert (
        figures["wald_chi2"] == pytest.approx(both, rel=1e-8)
        and figures["wald_df"] == 2
    )
    assert figures["wald_p_value"] == pytest.approx(stats.chi2.sf(both, 2), rel=1e-6)
    assert not [name for name in figures.index if name.startswith("lr_")]
    text = str(fit.summary("all"))
    assert f"Wald test       {both:.4g} on 2 df" in text and "LR test" not in text


def test_terms(case):
    fit, (temp, contact, both) = case
    table = fit.anova(type="II")
    np.testing.assert_allclose(table["chisq"], [temp, contact], rtol=1e-8)
    assert table.attrs["title"] == f"Wald tests of type II, {fit.own_covariance.words}"
    assert fit.test("temp = 0, contact = 0").loc["joint", "chisq"] == pytest.approx(
        both, rel=1e-8
    )


def test_interactions():
    crossed = fitted("cluster", "rating ~ temp * contact")
    assert crossed.glance()["wald_chi2"].iloc[0] == pytest.approx(CROSSED[0], rel=1e-8)
    for type in ("I", "II", "III"):
        assert crossed.anova(type=type)["chisq"].iloc[-1] == pytest.approx(
            CROSSED[1], rel=1e-7
        )


@pytest.mark.filterwarnings("ignore:aliased")
def test_aliased_columns_are_left_out():
    wine = WINE.assign(same=lambda d: (d["temp"] == "warm") + 0.0)
    fit = ordfit("rating ~ temp + same + contact", wine, vcov=CR1)
    assert fit.glance()["wald_chi2"].iloc[0] == pytest.approx(
        BY_R["judge"][2], rel=1e-8
    )
    table = fit.anova(type="I")
    assert table.loc["same", "df"] == 0 and np.isnan(table.loc["same", "p_value"])
    assert table.attrs["notes"] == [
        "no test of same: estimates are infinite, aliased or missing."
    ]


def test_too_few_clusters():
    fit = ordfit(FORMULA, WINE, vcov={"cluster": np.arange(72) % 2, "type": "CR1"})
    assert "not available: 2 clusters are too few" in " ".join(
        str(fit.summary()).split()
    )
    assert np.isnan(fit.glance()["wald_p_value"].iloc[0])
    table = fit.test("temp = 0, contact = 0")
    assert (
        np.isnan(table.loc["joint", "chisq"])
        and "2 clusters are too few" in table.attrs["notes"][0]
    )
    assert fit.anova()["p_value"].notna().all()  # one effect a term


@pytest.mark.parametrize("kind", [*ROBUST, *PENALISED])
def test_headers_have_no_aic(kind):
    """Nor a chi-squared of a likelihood that is no maximum, or of rows that are not
    independent.
    """
    fit = fitted(kind)
    assert "AIC" not in repr(fit)
    for section in (None, "fit", "all"):
        text = " ".join(str(fit.summary(section)).split())
        assert (
            re.search("AIC, BIC(, LR test)? not available: ", text)
            and "LR test 3" not in text
        )
    figures = fit.glance().iloc[0]
    assert (
        figures[["aic", "bic"]].isna().all()
        and np.isfinite(figures["loglik"])
        and 0 < figures["nagelkerke"] < 1
    )
    for measures in (figures, fit.discrimination()):
        assert np.isnan(measures.get("lr_chi2", np.nan)) and np.isnan(
            measures.get("lr_p_value", np.nan)
        )


def test_random_effects_beside_clusters_have_no_likelihood_ratio():
    fit = ordfit("rating ~ temp + (1 | judge)", WINE, cluster="judge")
    assert "effects not available: observations of a cluster are not" in " ".join(
        str(fit.summary("fit")).split()
    )
    assert "chi2(1) = 6.5" in str(fit.with_vcov("model").summary("fit"))


@pytest.mark.parametrize("kind", KINDS)
def test_diagnosis_knows_of_the_covariance(kind):
    """No test of proportional odds, standard errors with digits, limits of shares,
    names in tables.
    """
    fit = fitted(kind)
    assert "Proportional odds, score test" not in str(fit.summary())
    np.testing.assert_allclose(fit.certificate.table["std_error"], fit.se)
    limits = fit.reliability()[["lower", "upper"]]
    assert (
        limits.notna().all(axis=None)
        if kind.startswith("HC")
        else limits.isna().all(axis=None)
    )
    assert fit.reliability(WINE)[["lower", "upper"]].notna().all(axis=None)
    with unavailable("fits with", "profile()", "confint()"):
        fit.profile()
    words = {"survey": "survey covariance", "CR2": "CR2"}.get(
        kind, fit.own_covariance.words
    )
    assert words in " ".join(repr(fit.emmeans("temp")).split())
