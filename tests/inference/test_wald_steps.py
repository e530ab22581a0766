"""Selection by Wald tests, step by step by hand; beside robust errors nothing takes the rows for independent."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data

from ordstat import SurveyDesign, datasets, ordfit, table
from ordstat.exceptions import OptionError
from ordstat.results.page.readings import readings

WINE = datasets.load("wine")
NAMES = ["x1", "x2", "x3", "x4"]


@pytest.fixture(scope="module")
def rows():
    """Columns that vary between 30 clusters; x1 and x2 have effects."""
    rng = np.random.default_rng(4)
    g = np.repeat(np.arange(30), 10)
    X = rng.normal(size=(30, 4))[g] + 0.7 * rng.normal(size=(300, 4))
    latent = X @ [1.0, 0.5, 0.12, 0.0] + rng.normal(size=30)[g] + rng.logistic(size=300)
    return pd.DataFrame(X, columns=NAMES).assign(y=np.digitize(latent, [-1.0, 1.0]), g=g, w=rng.uniform(1, 5, 300))


KINDS = {
    "cluster": {"cluster": "g"},
    "HC1": {"vcov": "HC1"},
    "CR2": {"vcov": {"cluster": "g", "type": "CR2"}},
    "survey": {"design": SurveyDesign(weights="w", clusters="g")},
}


def by_hand(terms, upper, rows, arguments, enter, stay):
    """Every model fitted by itself, its terms tested by `test`."""
    trace = []
    while True:
        fit = ordfit("y ~ " + (" + ".join(terms) or "1"), rows, **arguments)
        p = {term: fit.test(f"{term} = 0")["p_value"].iloc[0] for term in terms}
        worst = max(p, key=p.get, default=None)
        if worst is not None and p[worst] >= stay:
            terms = [term for term in terms if term != worst]
            trace.append((f"- {worst}", p[worst]))
            continue
        p = {}
        for term in upper:
            if term not in terms:
                wider = ordfit("y ~ " + " + ".join([*terms, term]), rows, **arguments)
                p[term] = wider.test(f"{term} = 0")["p_value"].iloc[0]
        best = min(p, key=p.get, default=None)
        if best is None or p[best] >= enter:
            return terms, trace
        terms = [*terms, best]
        trace.append((f"+ {best}", p[best]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", [[], NAMES, ["x4"]])
def test_steps_by_hand(kind, start, rows):
    fit = ordfit("y ~ " + (" + ".join(start) or "1"), rows, **KINDS[kind])
    for enter, stay in ((0.05, 0.10), (0.6, 0.7)):
        found = fit.step("~ x1 + x2 + x3 + x4", enter=enter, stay=stay)
        terms, trace = by_hand(start, NAMES, rows, KINDS[kind], enter, stay)
        assert found.trace["change"].tolist() == ["", *(change for change, _ in trace)]
        np.testing.assert_allclose(found.trace["p_value"].iloc[1:], [p for _, p in trace], rtol=1e-7)
        assert list(found.fit.design.terms) == terms and found.fit.covariance == fit.covariance
        told = repr(found)
        assert f"a term stays if p < {stay:g}" in " ".join(told.split()) and "AIC is not used" in told
        assert "aic" not in found.trace and "loglik" not in found.trace


def test_directions_scope_and_asked_for(rows):
    fit = ordfit("y ~ x1 + x2 + x3 + x4", rows, cluster="g")
    must = fit.step({"lower": "~ x4"}).fit
    assert "x4" in must.design.terms and "x4" not in fit.step().fit.design.terms
    forward = ordfit("y ~ x4", rows, cluster="g").step("~ . + x1", direction="forward")
    assert list(forward.fit.design.terms) == ["x4", "x1"]
    asked = fit.with_vcov("model").step(test="Wald")
    assert "observed information: a term stays" in " ".join(repr(asked).split())
    penalised = ordfit("y ~ x1 + x4", rows, penalty=1.0).step(test="Wald").fit
    assert list(penalised.design.terms) == ["x1"] and penalised.method.penalty == 1.0
    assert fit.step(max_steps=1).trace.shape[0] == 2


def test_terms_without_a_test(rows):
    """Aliased terms go first; infinite estimates have no test, stay, and are told."""
    with pytest.warns(match="aliased"):
        fit = ordfit("y ~ x1 + x2 + x5", rows.assign(x5=rows["x1"] + rows["x2"]), cluster="g")
    assert fit.step().trace["change"].iloc[1] == "- x5"
    with pytest.warns(match="separated"):
        odd = ordfit("y ~ x1 + top", rows.assign(top=(rows["y"] == 2) * (rows["x2"] > 0)), cluster="g")
    found = odd.step()
    assert "top" in found.fit.design.terms and "no test of top" in repr(found)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"k": 3.0}, "k is a penalty of AIC"),
        ({"enter": 0.2, "stay": 0.1}, "enter must not be above stay"),
        ({"enter": 0.0}, "enter"),
        ({"stay": 1.5}, "stay"),
        ({"test": "AIC"}, "independent.*test='Wald'"),
        ({"test": "F"}, "'auto', 'AIC', 'Wald'"),
    ],
)
def test_doubtful_calls(arguments, match, rows):
    with pytest.raises(OptionError, match=match):
        ordfit("y ~ x1", rows, cluster="g").step(**arguments)
    if "enter" in arguments or "stay" in arguments:
        with pytest.raises(OptionError, match="go with Wald tests"):
            ordfit("y ~ x1", rows).step(**arguments)


ROBUST = {"cluster": {"cluster": "judge"}, "HC0": {"vcov": "HC0"}, "HC1": {"vcov": "HC1"}}
ROBUST |= {"CR2": {"vcov": {"cluster": "judge", "type": "CR2"}}}
ROBUST |= {"ridge": {"penalty": 1.0}, "jeffreys": {"penalty": "jeffreys"}}


@pytest.mark.parametrize("kind", ROBUST)
def test_headers_have_no_aic(kind):
    """Nor a chi-squared of a likelihood that is no maximum, or of rows that are not independent."""
    fit = ordfit("rating ~ temp + contact", WINE, **ROBUST[kind])
    assert "AIC" not in repr(fit)
    for section in (None, "fit", "all"):
        text = " ".join(str(fit.summary(section)).split())
        assert re.search("AIC, BIC(, LR test)? none: ", text) and "LR test 3" not in text
    figures = fit.glance().iloc[0]
    assert figures[["aic", "bic"]].isna().all() and np.isfinite(figures["loglik"])
    assert np.isnan(fit.lr_chi2) and np.isnan(fit.lr_p_value) and np.isnan(fit.llr_pvalue)
    measures = fit.discrimination()
    assert np.isnan(measures.get("lr_chi2", np.nan)) and np.isnan(measures.get("lr_p_value", np.nan))
    beside = table([fit, ordfit("rating ~ temp + contact", WINE)], thresholds=False)
    cells = beside.xs(("fit", "aic", "value"))
    assert np.isnan(cells.iloc[0]) and cells.iloc[1] == pytest.approx(184.98, abs=0.01)
    assert "No AIC and BIC of (1)" in repr(beside)
    assert "AIC " not in repr(table([fit], thresholds=False))


def test_random_effects_beside_clusters_have_no_likelihood_ratio():
    fit = ordfit("rating ~ temp + (1 | judge)", WINE, cluster="judge")
    assert "no LR test: rows of a cluster are not independent" in str(fit.summary("fit"))
    assert "LR 6.5" in str(fit.with_vcov("model").summary("fit"))


@pytest.mark.parametrize("arguments", [{"design": SurveyDesign(weights="w", clusters="g")}, {"cluster": "g"}])
def test_proportional_odds_and_scale_by_wald(arguments, rows):
    """The test of the wider fit, by its own covariance; models that are only tried do not warn."""
    fit = ordfit("y ~ x1 + x2", rows, **arguments)
    wide, scaled = fit.update("~ x2", nominal="~ x1"), fit.update(scale="~ x1")
    equal, none = wide.test("0|1.x1 = 1|2.x1"), scaled.test("scale.x1 = 0")
    columns = ["p_value"] if "cluster" in arguments else ["df_resid", "F", "p_value"]
    np.testing.assert_allclose(
        fit.nominal_test("x1").loc["x1", columns], equal.iloc[0][columns].astype(float), rtol=1e-6
    )
    np.testing.assert_allclose(fit.scale_test("x1").loc["x1", columns], none.iloc[0][columns].astype(float), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_diagnosis_knows_of_the_covariance(kind, rows):
    """Proportional odds on the page, standard errors beside digits, limits of shares: none of independent rows."""
    fit = ordfit("y ~ x1 + x2", rows, **KINDS[kind])
    told = dict(readings(fit))["Proportional odds (equal effects at all thresholds)"]
    p = min(1.0, 2.0 * fit.nominal_test()["p_value"].min())
    assert "Wald tests" in told and f"{p:.3f}"[1:] in told
    np.testing.assert_allclose(fit.convergence().table["std_error"], fit.se)
    limits = fit.reliability()[["lower", "upper"]]
    assert limits.notna().all(axis=None) if kind == "HC1" else limits.isna().all(axis=None)
    assert fit.reliability(rows)[["lower", "upper"]].notna().all(axis=None)


def test_likelihood_ratios_that_are_asked_for_say_what_they_take(rows):
    fit = ordfit("y ~ x1 + x2", rows, cluster="g")
    asked = (fit.drop1(test="LR"), fit.add1("~ . + x3", test="LR"), fit.anova(fit.update("~ x1"), test="LR"))
    for table_ in (*asked, fit.drop1(test=None)):
        assert "take rows for independent" in " ".join(repr(table_).split())
    assert "independent" not in repr(fit.with_vcov("model").drop1())
    with pytest.raises(OptionError, match=r"use confint\(\)"):
        fit.profile()
    for told in (fit.emmeans("x1"), fit.emtrends("x2", "x1")):
        assert "cluster-robust, 30 clusters" in repr(told)


def test_a_survey_of_a_separated_term_tells_of_it():
    data = load_data("wine").assign(w=1.0 + np.arange(72) % 3)
    found = ordfit("rating ~ temp + contact", data, design=SurveyDesign(weights="w", clusters="judge")).nominal_test()
    assert np.isnan(found.loc["temp", "F"]) and np.isnan(found.loc["temp", "df_resid"])
    assert found.loc["contact", "df_resid"] == 6.0 and "no test of temp" in repr(found)
