"""Means, contrasts and joint tests on the degrees of freedom of a survey design, or of
CR2.

R 4.2.2, survey 4.1.1, ordinal 2022.11-16, sandwich 3.0.2, emmeans 1.8.4.1, on
survey_sample.csv (see survey.R):

    d$y <- factor(d$pid, ordered=TRUE); d$f <- cut(d$age, c(0,30,45,60,200),
    labels=c("a","b","c","d")) des <- svydesign(ids=~psu, strata=~s, weights=~w, data=d)
    m <- clm(y ~ selfLR + f, data=d, weights=w, control=clm.control(gradTol=1e-12,
    relTol=1e-14)) V <- svyrecvar(estfun(m) %*% vcov(m), des$cluster, des$strata,
    des$fpc, postStrata=des$postStrata) e <- emmeans(m, ~f, vcov.=V, df=degf(des))
    summary(pairs(e, reverse=TRUE, adjust=...), infer=TRUE)

"mvt", which emmeans gives to 1e-3, by mvtnorm 1.1.3: pmvt(df=20,
algorithm=GenzBretz(abseps=1e-7, maxpts=1e7)).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from seams import LikelihoodResults

from ordstat import SurveyDesign, datasets, ordfit

from .survey_samples import sample

PAIRS = ["b - a", "c - a", "c - b", "d - a", "d - b", "d - c"]
DF = 20
#: Adjustment -> p-values of PAIRS, and the upper limit of the last.
R = {
    "none": (
        [
            0.431910653522,
            0.273809872737,
            0.074259802518,
            0.013405418935,
            0.004019502053,
            0.305459445344,
        ],
        0.16721217196,
    ),
    "tukey": (
        [
            0.85261795573,
            0.67867823981,
            0.26634237955,
            0.05957461776,
            0.01931983827,
            0.72172790722,
        ],
        0.28248528432,
    ),
    "sidak": (
        [
            0.96638757319,
            0.85334325503,
            0.37058841484,
            0.07778463342,
            0.02387596127,
            0.88775017897,
        ],
        0.30167260240,
    ),
    "bonferroni": (
        [1.0, 1.0, 0.44555881511, 0.08043251361, 0.02411701232, 1.0],
        0.30320985015,
    ),
    "holm": (
        [
            0.82142961821,
            0.82142961821,
            0.29703921007,
            0.06702709467,
            0.02411701232,
            0.82142961821,
        ],
        0.30320985015,
    ),
    "mvt": (
        [0.850169511, 0.674624230, 0.262757025, 0.058490259, 0.018945202, 0.717963012],
        0.281011159,
    ),
}
#: Points at random there, evenly spread ones here.
RANDOM = 1e-6


@pytest.fixture(scope="module")
def fit() -> LikelihoodResults:
    age = sample()["age"]
    data = sample().assign(f=pd.cut(age, [0, 30, 45, 60, 200], labels=list("abcd")))
    data["y"] = pd.Categorical(data["pid"], ordered=True)
    return ordfit(
        "y ~ selfLR + f",
        data,
        design=SurveyDesign(weights="w", strata="s", clusters="psu"),
    )


@pytest.fixture(scope="module")
def few() -> LikelihoodResults:
    """Nine judges."""
    return ordfit(
        "rating ~ temp * contact", datasets.load("wine"), vcov="CR2", cluster="judge"
    )


def flat(shown: object) -> str:
    """Printed text without line breaks."""
    return " ".join(str(shown).split())


@pytest.mark.parametrize("adjust", R)
def test_contrasts_are_those_of_r(fit: LikelihoodResults, adjust: str) -> None:
    p, upper = R[adjust]
    actual = (
        fit.emmeans("f")
        .contrasts("revpairwise", adjust)
        .set_index("contrast")
        .loc[PAIRS]
    )
    atol = RANDOM if adjust == "mvt" else 0.0
    np.testing.assert_allclose(actual["p_value"], p, rtol=1e-6, atol=atol)
    assert actual["upper"].iloc[-1] == pytest.approx(upper, rel=1e-6, abs=atol)


def test_limits_of_probabilities_are_by_t_on_the_logit_scale(
    fit: LikelihoodResults,
) -> None:
    actual = fit.emmeans(
        "f", scale="prob", at={"selfLR": fit.design.data["selfLR"].mean()}
    ).frame
    p = actual["estimate"]
    se = actual["std_error"]
    # R
    np.testing.assert_allclose(
        p[:7], [0.1326, 0.1983, 0.1573, 0.0633, 0.1403, 0.1815, 0.1269], atol=5.1e-5
    )
    half = t.isf(0.025, DF) * se / (p * (1 - p))
    np.testing.assert_allclose(
        actual["lower"], 1 / (1 + np.exp(-(np.log(p / (1 - p)) - half))), rtol=1e-9
    )


def test_joint_tests_are_those_of_type_three(fit: LikelihoodResults) -> None:
    """Hotelling's F, and by hand from R's V: chi-squared 11.96617304 on 3, F
    3.589851911 on 3 and 18.
    """
    actual = fit.joint_tests().set_index("term")
    columns = ["df", "df_resid", "F", "p_value"]
    np.testing.assert_allclose(
        actual.loc["f", columns].tolist(),
        [3, 18, 3.589851911, 0.03415315341],
        rtol=1e-6,
    )
    np.testing.assert_allclose(
        actual[columns], fit.anova(type="III").loc[actual.index, columns], rtol=1e-6
    )


def test_tables_say_which_distribution(fit: LikelihoodResults) -> None:
    means = fit.emmeans("f")
    assert "95% confidence intervals, t distribution with 20 df." in flat(means)
    assert "on the logit scale by t with 20 df." in flat(fit.emmeans("f", scale="mean"))
    text = flat(means.contrasts(adjust="mvt"))
    assert (
        "t tests with 20 df; p-values and 95% confidence intervals by the"
        " multivariate t (mvt) method, for 6 tests." in text
    )
    assert "survey covariance" in flat(fit.joint_tests())


def test_cr2_has_satterthwaite_df_for_every_contrast(few: LikelihoodResults) -> None:
    """A contrast of two cells is a coefficient, tested as `tidy` does."""
    temp = few.tidy().set_index("term").loc["temp[T.warm]"]
    means = few.emmeans("temp", by="contact")
    actual = means.contrasts("revpairwise").iloc[0]
    for name in ("estimate", "std_error", "df", "p_value"):
        assert actual[name] == pytest.approx(temp[name], rel=1e-7)
    assert (actual["lower"], actual["upper"]) == pytest.approx(
        (temp["conf_low"], temp["conf_high"]), rel=1e-7
    )
    assert "t tests with Satterthwaite's df; " in flat(means.contrasts())
    table = means.frame
    half = t.isf(0.025, table["df"]) * table["std_error"]
    np.testing.assert_allclose(table["upper"] - table["estimate"], half, rtol=1e-9)
    with_vcov = ordfit("rating ~ temp * contact", datasets.load("wine")).emmeans(
        "temp", by="contact", vcov={"cluster": "judge", "type": "CR2"}
    )
    pd.testing.assert_frame_equal(with_vcov.contrasts(), means.contrasts())


def test_cr2_adjusts_by_the_df_of_each_contrast(few: LikelihoodResults) -> None:
    """Bonferroni's by hand: six times the p-value of each."""
    means = few.emmeans(["temp", "contact"])
    plain = means.contrasts("pairwise", "none")
    differences = means.contrasts("pairwise", "bonferroni")
    assert plain["df"].nunique() > 2
    np.testing.assert_allclose(
        differences["p_value"], np.minimum(6 * plain["p_value"], 1.0), rtol=1e-9
    )
    half = t.isf(0.025 / 6, plain["df"]) * plain["std_error"]
    np.testing.assert_allclose(
        differences["lower"], plain["estimate"] - half, rtol=1e-9
    )
    for adjust in ("tukey", "mvt"):
        p = means.contrasts("pairwise", adjust)["p_value"]
        assert (p >= plain["p_value"]).all() and (p <= 1.0).all()


def test_cr2_joint_tests_are_by_hotelling(few: LikelihoodResults) -> None:
    actual = few.joint_tests().set_index("term")
    columns = ["df", "df_resid", "F", "p_value"]
    np.testing.assert_allclose(
        actual[columns], few.anova(type="III").loc[actual.index, columns], rtol=1e-6
    )
    by = few.joint_tests(by="contact").iloc[0]
    simple = few.test("temp[T.warm] = 0").iloc[0]
    assert by[columns].tolist() == pytest.approx(simple[columns].tolist(), rel=1e-7)


def test_joint_tests_name_the_covariance_they_are_by() -> None:
    plain = ordfit("rating ~ temp * contact", datasets.load("wine"))
    assert "means, cluster covariance." in flat(
        plain.joint_tests(vcov={"cluster": "judge", "type": "CR1"})
    )
    numbers = ordfit(
        "rating ~ temp * bottle",
        datasets.load("wine").assign(bottle=lambda d: d["bottle"].astype(int)),
    )
    actual = numbers.joint_tests(
        at={"bottle": range(1, 9)}, vcov={"cluster": "judge"}
    )  # 7 contrasts of a slope are one
    assert actual["df"].tolist() == [1, 1, 1] and actual["p_value"].notna().all()


def test_too_few_clusters_are_named() -> None:
    wine = datasets.load("wine")
    wine["half"] = wine["judge"].astype(int) % 2
    actual = ordfit(
        "rating ~ temp + judge", wine, vcov="cluster", cluster="half"
    ).joint_tests()
    assert actual["p_value"].isna().tolist() == [False, True]
    assert "NA: 2 clusters are too few to test so many effects at once." in flat(actual)
