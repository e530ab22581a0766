"""Beside robust errors nothing takes the rows for independent."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from ordstat import SurveyDesign, datasets, ordfit
from ordstat.exceptions import OptionError
from ordstat.report.page import readings

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


@pytest.mark.parametrize("kind", KINDS)
def test_step_needs_a_likelihood_of_independent_rows(kind, rows):
    with pytest.raises(OptionError, match=r"step (takes the rows for independent|rests on the likelihood).* use "):
        ordfit("y ~ x1 + x2", rows, **KINDS[kind]).step()


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


def test_random_effects_beside_clusters_have_no_likelihood_ratio():
    fit = ordfit("rating ~ temp + (1 | judge)", WINE, cluster="judge")
    assert "no LR test: rows of a cluster are not independent" in str(fit.summary("fit"))
    assert "LR 6.5" in str(fit.with_vcov("model").summary("fit"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("role", ["nominal", "scale"])
def test_wider_models_are_refused_beside_robust_errors(kind, role, rows):
    with pytest.raises(OptionError, match=rf"{role}_test .* use test\(\) of the fit with {role}='~ x'"):
        getattr(ordfit("y ~ x1 + x2", rows, **KINDS[kind]), f"{role}_test")()


@pytest.mark.parametrize("kind", KINDS)
def test_diagnosis_knows_of_the_covariance(kind, rows):
    """Proportional odds on the page, standard errors beside digits, limits of shares: none of independent rows."""
    fit = ordfit("y ~ x1 + x2", rows, **KINDS[kind])
    told = dict(readings(fit))["Proportional odds (equal effects at all thresholds)"]
    assert told.startswith("Not tested: score_test")
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
