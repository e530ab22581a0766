"""Rao-Scott tests against R's survey on the same sample (rao_scott.R wrote rao_scott.csv), and by simulation."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ordstat import SurveyDesign, ordfit
from ordstat.assess.likelihood.rao_scott import eigenvalues, rao_scott_tail
from ordstat.exceptions import DataWarning, OptionError

from .samples import HERE, sample

GOLDEN = pd.read_csv(HERE / "rao_scott.csv")
DESIGN = SurveyDesign(weights="w", strata="s", clusters="psu")
#: R's uniroot stops at 1e-8 of the saddlepoint, svyglm at 1e-14 of the deviance.
TOLERANCE = 1e-6


def fit(case):
    data = sample()
    data = data.assign(high=(data["pid"] > 3).astype(int), party=(data["psu"] % 3).astype(str))
    response = "pid" if case == "ordinal" else "high"
    return ordfit(f"{response} ~ selfLR + age + educ + party", data, design=DESIGN)


def golden(case, term):
    return GOLDEN[(GOLDEN["case"] == case) & (GOLDEN["term"] == term)].iloc[0]


def check(row, expected):
    for name, column in (("df", "df"), ("chisq", "chisq"), ("deff", "mean"), ("p_value", "p"), ("df_resid", "ddf")):
        assert row[name] == pytest.approx(expected[column], rel=TOLERANCE), name


@pytest.mark.parametrize("case", ["ordinal", "binary"])
@pytest.mark.parametrize("term", ["selfLR", "age", "educ", "party"])
def test_drop1_equals_r(case, term):
    table = fit(case).drop1(test="rao-scott")
    check(table.loc[term], golden(case, term))
    assert "Rao & Scott" in table.attrs["notes"][0]


def test_anova_of_two_fits_equals_r():
    large = fit("ordinal")
    table = large.anova(large.update("~ . - age - educ"), test="rao-scott")
    check(table.iloc[1], golden("ordinal", "age + educ"))
    assert table["no_par"].tolist() == [9, 11]
    assert np.isnan(table.iloc[0]["p_value"])


def test_the_scale_of_the_weights_says_nothing():
    data = sample()
    tables = [
        ordfit("pid ~ age + educ", data.assign(w=c * data["w"]), design=DESIGN).drop1(test="rao-scott")
        for c in (1.0, 1000.0)
    ]
    np.testing.assert_allclose(*tables, rtol=1e-9)


def test_equal_weights_and_no_units_are_near_the_likelihood_ratio():
    data = sample().assign(w=1.0)
    table = ordfit("pid ~ age + educ", data, design=SurveyDesign(weights="w")).drop1(test="rao-scott")
    plain = ordfit("pid ~ age + educ", data).drop1()
    np.testing.assert_allclose(table["chisq"], plain["lrt"].iloc[1:], rtol=1e-8)
    assert table["deff"].between(0.8, 1.25).all()


def test_it_needs_a_survey_design():
    plain = ordfit("pid ~ age + educ", sample())
    for ask in (plain.drop1, lambda test: plain.anova(plain.update("~ age"), test=test)):
        with pytest.raises(OptionError, match="takes fits with a survey design"):
            ask(test="rao-scott")
    with pytest.raises(OptionError, match="rao-scott"):
        plain.drop1(test="score")


@pytest.mark.parametrize(
    ("x", "lambdas", "df"), [(6.0, [1.5, 0.5], 20.0), (9.0, [2.0, 1.0, 0.3], 8.0), (0.7, [1, 1], 30.0)]
)
def test_the_tail_is_that_of_simulated_sums(x, lambdas, df):
    rng = np.random.default_rng(0)
    n = 2_000_000
    total = sum(value * rng.chisquare(1, n) for value in lambdas) / (rng.chisquare(df, n) / df)
    assert rao_scott_tail(x, np.array(lambdas, float), df) == pytest.approx(
        np.mean(total > x), rel=0.03
    )  # its own error is 2 %


@pytest.mark.parametrize("df", [5.0, 20.0, 400.0])
def test_equal_eigenvalues_are_nearly_an_f_test(df):
    lambdas = np.full(3, 1.7)
    assert rao_scott_tail(11.0, lambdas, df) == pytest.approx(stats.f.sf(11 / 1.7 / 3, 3, df), rel=0.02)
    assert np.isnan(rao_scott_tail(np.nan, lambdas, df))
    assert rao_scott_tail(0.0, lambdas, df) == 1.0


def test_eigenvalues_of_a_worked_case():
    own, design = np.diag([1.0, 4.0, 1.0]), np.array([[2.0, 0, 0], [0, 2.0, 0], [0, 0, 9.0]])
    np.testing.assert_allclose(eigenvalues(np.eye(3)[:2], own, design), [2.0, 0.5])


def test_terms_that_aliased_columns_take_over_have_no_test():
    """Without x, the column of twice x has its effect: nothing is dropped."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"x": rng.normal(size=240), "z": rng.normal(size=240), "w": rng.uniform(0.5, 3, 240)})
    data["y"] = np.digitize(data["x"] + rng.logistic(size=240), [-1.0, 1.0])
    data["psu"] = np.arange(240) // 8
    with pytest.warns(DataWarning, match="aliased"):
        fit = ordfit("y ~ x + z + I(2*x)", data, design=SurveyDesign(weights="w", clusters="psu"))
    table = fit.drop1(test="rao-scott")
    assert table.loc["x", "df"] == 0 and np.isnan(table.loc["x", "p_value"])
    plain = ordfit("y ~ x + z", data, design=SurveyDesign(weights="w", clusters="psu")).drop1(test="rao-scott")
    assert table.loc["z", "p_value"] == pytest.approx(plain.loc["z", "p_value"], rel=1e-6)
