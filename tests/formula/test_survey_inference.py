"""Inference under a survey design: by hand, on any scale of the weights, t and F, and
refusals.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from expected import unavailable
from scipy import stats

from ordstat import OptionError, SurveyDesign, datasets, ordfit

from .survey_samples import FORMULA, replicate_weights, sample

DESIGN = SurveyDesign(weights="w", strata="s", clusters="psu")
FIT = ordfit(FORMULA, sample(), design=DESIGN)


def test_by_hand():
    """Two levels without effects: theta = logit(p), dp/dtheta = p (1 - p), so its
    variance is that of the weighted mean p over (p (1 - p))^2; that of the mean by
    totals of w (y - p) / sum w in each PSU, two strata of 2 and 3 PSUs.

    z = w (y - p): p = 9/15 = 0.6. Stratum a: PSU 1 has 1 * 0.4 - 2 * 0.6 = -0.8, PSU 2
    has 3 * 0.4 = 1.2; mean 0.2, 2/1 * (1 + 1) = 4. Stratum b: PSUs 3, 4, 5 have 2 * 0.4
    - 0.6 = 0.2, -1.8, 1.2; mean -2/15 ...
    """
    data = pd.DataFrame(
        {
            "y": [1, 2, 1, 1, 2, 2, 1],
            "s": list("aaabbbb"),
            "psu": [1, 1, 2, 3, 3, 4, 5],
            "w": [1.0, 2.0, 3.0, 2.0, 1.0, 3.0, 3.0],
        }
    )
    fit = ordfit("y ~ 1", data, design=DESIGN)
    p = 9.0 / 15.0
    totals_b = np.array([0.2, -1.8, 1.2])
    middle = 4.0 + 1.5 * np.sum((totals_b - totals_b.mean()) ** 2)
    variance = middle / 15.0**2 / (p * (1 - p)) ** 2
    assert fit.thresholds.iloc[0] == pytest.approx(np.log(p / (1 - p)))
    assert fit.se.iloc[0] == pytest.approx(np.sqrt(variance), rel=1e-10)
    assert fit.design_df == 3


@pytest.mark.parametrize("factor", [1e-6, 7.0, 12345.6])
def test_scale_of_the_weights(factor):
    moved = ordfit(FORMULA, sample().assign(w=lambda d: factor * d["w"]), design=DESIGN)
    np.testing.assert_allclose(moved.se, FIT.se, rtol=1e-9)
    np.testing.assert_allclose(moved.loglik, FIT.loglik, rtol=1e-12)


def test_equal_weights_and_clusters_are_the_cluster_covariance():
    wine = datasets.load("wine").assign(one=1.0)
    survey = ordfit(
        "rating ~ temp",
        wine,
        "probit",
        design=SurveyDesign(weights="one", clusters="judge"),
    )
    cluster = ordfit("rating ~ temp", wine, "probit", cluster="judge", vcov="cluster")
    np.testing.assert_allclose(survey.se, cluster.se, rtol=1e-10)


@pytest.mark.parametrize(
    "parts", [{"nominal": "~ educ"}, {"scale": "~ educ"}, {"threshold": "symmetric"}]
)
def test_other_models_have_the_cluster_covariance_too(parts):
    formula = "pid ~ selfLR + age" if "nominal" in parts else FORMULA
    survey = ordfit(
        formula,
        sample().assign(w=1.0),
        design=SurveyDesign(weights="w", clusters="psu"),
        **parts,
    )
    np.testing.assert_allclose(
        survey.se, ordfit(formula, sample(), cluster="psu", **parts).se, rtol=1e-9
    )


def test_t_values():
    t = FIT.z_values
    q = stats.t.ppf(0.975, 20)
    np.testing.assert_allclose(FIT.p_values, 2 * stats.t.sf(np.abs(t), 20), rtol=1e-10)
    np.testing.assert_allclose(
        FIT.confint()["upper"], FIT.params + q * FIT.se, rtol=1e-10
    )
    limits = FIT.predict(sample().head(3), type="score", se=True, interval="confidence")
    np.testing.assert_allclose(
        limits["upper"], limits["estimate"] + q * limits["std_error"], rtol=1e-10
    )
    effect = FIT.marginal_effects("age", scale="latent").frame.iloc[0]
    assert effect["p_value"] == pytest.approx(FIT.p_values["age"])


def test_f_tests():
    """W = b' V^-1 b over 2 hypotheses on 20 degrees: F = 19 / 40 W on 2 and 19 [Korn
    and Graubard 1990].
    """
    names = ["age", "educ"]
    b = FIT.coef[names].to_numpy()
    V = FIT.vcov().loc[names, names].to_numpy()
    F = 19.0 / 40.0 * b @ np.linalg.solve(V, b)
    joint = FIT.test("age = 0, educ = 0").loc["joint"]
    assert joint["F"] == pytest.approx(F)
    assert joint["df_resid"] == 19
    assert joint["p_value"] == pytest.approx(stats.f.sf(F, 2, 19))
    terms = FIT.anova(type="III")
    np.testing.assert_allclose(
        terms["F"], FIT.z_values[["selfLR", "age", "educ"]] ** 2, rtol=1e-8
    )
    np.testing.assert_allclose(
        terms["p_value"], FIT.p_values[["selfLR", "age", "educ"]], rtol=1e-6
    )
    assert FIT.glance()["wald_df_resid"].iloc[0] == 18


def test_more_hypotheses_than_degrees_of_freedom_have_no_test():
    data = sample()
    fit = ordfit(FORMULA, data[data["psu"].isin([0, 1, 100, 101])], design=DESIGN)
    assert fit.design_df == 2
    assert np.isnan(fit.glance()["wald_F"].iloc[0])
    assert "more effects than degrees of freedom" in str(fit.summary())


def test_one_set_of_names_and_words():
    """A survey of equal clusters, and CR2 of one effect: F tests have the same names
    and words.
    """
    cr2 = ordfit("pid ~ selfLR", sample(), vcov={"cluster": "psu", "type": "CR2"})
    names = ["wald_F", "wald_df", "wald_df_resid", "wald_p_value"]
    for fit in (FIT, cr2):
        figures = fit.glance().iloc[0]
        assert [name for name in figures.index if name.startswith("wald")] == names
        F, df, df_resid, _ = figures[names]
        text = " ".join(str(fit.summary("all")).split())
        assert f"Wald F test {F:.4g} on {df} and {round(df_resid, 1):g} df, p" in text


def test_summary_names_the_design():
    text = str(FIT.summary())
    assert "24 PSUs in 4 strata, 20 df" in text
    assert "Wald F test" in text
    for absent in ("AIC", "LR test", "chi"):
        assert absent not in text
    weights = replicate_weights("BRR")
    brr = ordfit(
        FORMULA,
        sample(),
        design=SurveyDesign(weights="w", replicates=weights, type="BRR"),
    )
    assert "8 replicate weights (BRR), 7 df" in str(brr.summary())


def test_no_figures_of_a_likelihood():
    assert not hasattr(FIT, "aic") and not hasattr(FIT, "bic")


@pytest.mark.parametrize(
    "ask",
    [
        lambda fit: fit.step(),
        lambda fit: fit.confint(type="profile"),
        lambda fit: fit.profile(),
        lambda fit: fit.bootstrap(10),
        lambda fit: fit.gof(),
        lambda fit: fit.score_test(),
        lambda fit: fit.brant(),
        lambda fit: fit.drop1(),
        lambda fit: fit.add1("~ . + pid"),
        lambda fit: fit.anova(fit.update("~ . - age")),
    ],
)
def test_what_rests_on_the_likelihood_is_refused(ask):
    with unavailable("survey design"):
        ask(FIT)


@pytest.mark.parametrize("vcov", ["model", "HC1", {"cluster": "psu"}])
def test_other_covariances_are_refused(vcov):
    with pytest.raises(OptionError, match="survey design"):
        FIT.vcov(vcov)


def test_update_and_pickle_keep_the_design():
    smaller = FIT.update("~ . - age")
    assert smaller.design_df == 20
    np.testing.assert_allclose(
        smaller.update("~ . + age").se.sort_index(), FIT.se.sort_index(), rtol=1e-9
    )
    assert FIT.update(design=SurveyDesign(weights="w")).design_df == 943
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(FIT)).se, FIT.se)


def test_a_dot_leaves_out_the_columns_of_the_design():
    fit = ordfit("pid ~ .", sample()[["pid", "age", "w", "s", "psu"]], design=DESIGN)
    assert list(fit.coef.index) == ["age"]
