"""Printed marginal means, slopes and joint tests by other routes, and refusals."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from expected import empty_cell, no_standard_errors
from reference_cases import load_data
from seams import LikelihoodResults

from ordstat import datasets, ordfit
from ordstat.exceptions import DataWarning, OptionError, SeparationWarning


@lru_cache
def housing(formula: str = "Sat ~ Infl * Type + Cont") -> LikelihoodResults:
    return ordfit(formula, datasets.load("housing"), weights="Freq")


@lru_cache
def sim() -> LikelihoodResults:
    return ordfit("y ~ f * poly(x1, 2) + g + x2", load_data("sim500"), scale="~ x2")


def test_means_say_what_they_are() -> None:
    assert str(housing().emmeans("Infl", scale="prob")).splitlines()[-4:] == [
        "",
        "Means of P(response = level); 95% confidence intervals, on the logit scale.",
        "Averaged over Type and Cont, weights: equal.",
        (
            "NOTE: results may be misleading due to involvement in interactions"
            " (Infl:Type)."
        ),
    ]
    assert "NOTE" not in str(housing().emmeans("Cont"))
    assert "NOTE" not in str(housing().emmeans("~ Infl * Type"))
    assert "Held at x1 = " in str(sim().emmeans("g"))


def test_contrasts_say_what_they_are() -> None:
    contrasts = housing().emmeans("Infl", by="Type").contrasts()
    assert contrasts.attrs["notes"] == [
        "Contrasts of the latent score (0 = average threshold), within Type.",
        "z tests; p-values and 95% confidence intervals by Tukey's method,"
        " for 3 means.",
        "Averaged over Cont, weights: equal.",
    ]
    assert (
        contrasts.attrs["title"]
        == "Contrasts, each earlier mean minus each later one (Low - Medium)"
    )
    assert max(map(len, str(contrasts).splitlines()[-6:])) <= 80
    assert "Tukey" in contrasts._repr_html_() and "0.0000" not in str(contrasts)
    holm = housing().emmeans("Type").contrasts(adjust="holm").attrs["notes"][1]
    assert (
        holm == "z tests; p-values by Holm's method, 95% confidence intervals by"
        " Bonferroni's, for 6 tests."
    )
    assert (
        housing()
        .emmeans("Cont")
        .contrasts()
        .attrs["notes"][1]
        .endswith("95% confidence intervals are not adjusted.")
    )


def test_a_part_of_a_table_is_a_plain_frame() -> None:
    contrasts = housing().emmeans("Type").contrasts()
    assert type(contrasts[["contrast", "estimate"]]) is pd.DataFrame
    assert str(pickle.loads(pickle.dumps(contrasts))) == str(contrasts)


def test_a_formula_with_contrasts_prints_both() -> None:
    means = housing().emmeans("pairwise ~ Type | Infl")
    assert means.by == ("Infl",) and str(means).endswith(str(means.contrasts()))
    assert means.contrasts().equals(
        housing().emmeans("Type", by="Infl").contrasts("pairwise")
    )


def test_own_contrasts_in_every_form() -> None:
    means = housing().emmeans("Type")
    named = means.contrasts({"outer": [1, -1, -1, 1]})
    for given in (
        [[1, -1, -1, 1]],
        [1, -1, -1, 1],
        (1, -1, -1, 1),
        np.array([[1, -1, -1, 1]]),
    ):
        differences = means.contrasts(given)
        assert differences["contrast"].tolist() == ["(1, -1, -1, 1)"]
        assert differences.drop(columns="contrast").equals(
            named.drop(columns="contrast")
        )
    assert named["estimate"].iloc[0] == pytest.approx(
        means.frame["estimate"] @ [1, -1, -1, 1], rel=1e-12
    )


def test_own_contrasts_that_read_alike_are_all_there() -> None:
    means = housing().emmeans("Infl")
    close = means.contrasts([[1.00001, -1.00001, 0], [1.00002, -1.00002, 0]])
    assert len(close) == 2 and close["contrast"].is_unique
    assert close["estimate"][1] / close["estimate"][0] == pytest.approx(
        1.00002 / 1.00001, rel=1e-9
    )
    assert len(means.contrasts({1: [1, -1, 0], "1": [1, 0, -1]})) == 2


def test_the_note_names_no_adjustment_that_was_not_made() -> None:
    """One of four cells has no rows, so that half of the contrasts have no test."""
    wine = datasets.load("wine").query("temp == 'cold' or contact == 'no'")
    with pytest.warns(DataWarning, match="no row used has|no standard error"):
        means = ordfit("rating ~ temp * contact", wine).emmeans(["temp", "contact"])
    with no_standard_errors():
        one = means.contrasts([[1, -1, 0, 0], [0, 1, 0, -1]], "bonferroni")
    unadjusted = "z tests; p-values and 95% confidence intervals are not adjusted."
    assert unadjusted in one.attrs["notes"]
    with no_standard_errors():
        three = means.contrasts("pairwise", "bonferroni")
    assert three.attrs["notes"][1].endswith("Bonferroni's method, for 3 tests.")


def test_means_of_one_name_are_told_apart() -> None:
    differences = (
        housing()
        .emmeans("Type", at={"Type": ["Tower", "Tower", "Atrium"]})
        .contrasts(adjust="none")
    )
    assert differences["contrast"].tolist() == [
        "Tower (1) - Tower (2)",
        "Tower (1) - Atrium",
        "Tower (2) - Atrium",
    ]


@pytest.mark.parametrize("scale", ["latent", "prob", "exc_prob", "mean", "log_odds"])
def test_slopes_are_the_derivatives_of_the_means(scale: str) -> None:
    h = 1e-4
    low, high = (
        sim().emmeans("f", scale=scale, at={"x1": 0.3 + step}).frame["estimate"]
        for step in (-h, h)
    )
    slopes = sim().emtrends("f", "x1", scale=scale, at={"x1": 0.3}).frame["estimate"]
    np.testing.assert_allclose(slopes, (high - low) / (2 * h), rtol=1e-6, atol=1e-8)


def test_slopes_of_a_linear_effect_are_its_coefficients() -> None:
    fit = ordfit("y ~ f * x1", load_data("sim500"))
    slopes = fit.emtrends("f", "x1")
    own = fit.coef["x1"] + np.array(
        [0.0, fit.coef["f[T.mid]:x1"], fit.coef["f[T.hi]:x1"]]
    )
    np.testing.assert_allclose(slopes.frame["estimate"], own, rtol=1e-9)
    statistics = ["estimate", "std_error", "p_value"]
    first = slopes.contrasts("reference", adjust="none").loc[0, statistics].tolist()
    np.testing.assert_allclose(
        first,
        fit.tidy().set_index("term").loc["f[T.mid]:x1", statistics].tolist(),
        rtol=1e-8,
    )


def test_joint_tests_of_factors_are_those_of_type_three() -> None:
    actual = housing().joint_tests().set_index("term")
    expected = housing().anova(type="III")
    np.testing.assert_allclose(
        actual.loc[expected.index, ["df", "chisq"]],
        expected[["df", "chisq"]],
        rtol=1e-8,
    )


def test_joint_tests_say_what_the_data_do_not_tell() -> None:
    """With one of four cells empty only the effect inside the full row is
    determined.
    """
    wine = datasets.load("wine").query("temp == 'cold' or contact == 'no'")
    with empty_cell():
        fit = ordfit("rating ~ temp * contact", wine)
    actual = fit.joint_tests()
    assert (
        (actual["df"] == 0).all()
        and actual["p_value"].isna().all()
        and "NA: the data" in str(actual)
    )
    simple = fit.joint_tests(by="contact").set_index("contact")
    assert simple["df"].to_dict() == {"no": 1, "yes": 0}
    assert simple.loc["no", "chisq"] == pytest.approx(
        fit.test("temp[T.warm] = 0")["chisq"].iloc[0]
    )


def test_joint_tests_leave_out_variables_of_the_scale_alone() -> None:
    fit = ordfit("y ~ f", load_data("sim500"), scale="~ g + x2")
    assert fit.joint_tests()["term"].tolist() == ["f"]


def test_joint_tests_of_what_no_infinite_threshold_moves() -> None:
    """Thresholds of temp are infinite; the test of contact is that of its
    coefficient.
    """
    with pytest.warns(SeparationWarning):
        fit = ordfit("rating ~ contact", datasets.load("wine"), nominal="~ temp")
    actual = fit.joint_tests().set_index("term")
    assert actual["df"].to_dict() == {"contact": 1, "temp": 0}
    assert actual.loc["contact", "chisq"] == pytest.approx(
        fit.z_values["contact[T.yes]"] ** 2, rel=1e-9
    )


def test_cells_without_rows_have_no_mean_by_their_weights() -> None:
    wine = datasets.load("wine").query("temp == 'cold' or contact == 'no'")
    fit = ordfit("rating ~ temp + contact", wine)
    with no_standard_errors():
        actual = fit.emmeans(["temp", "contact"], weights="cells").frame
    assert actual["estimate"].isna().tolist() == [False, False, False, True]
    assert fit.emmeans(["temp", "contact"]).frame["estimate"].notna().all()


def test_weights_count_case_weights() -> None:
    """As the rows that they stand for."""
    data = datasets.load("housing")
    rows = (
        data.loc[data.index.repeat(data["Freq"])]
        .drop(columns="Freq")
        .reset_index(drop=True)
    )
    one, other = (
        fit.emmeans("Infl", weights="cells").frame
        for fit in (housing(), ordfit("Sat ~ Infl * Type + Cont", rows))
    )
    np.testing.assert_allclose(one["estimate"], other["estimate"], rtol=1e-7)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda f: f.emmeans("Type").contrasts({"a": [1, -1]}),
            "the contrast 'a' must be 4 finite numbers.*; got",
        ),
        (lambda f: f.emmeans("Type").contrasts([["x", 1]]), "must be 4 finite numbers"),
        (lambda f: f.emmeans("Type").contrasts([0, 0, 0, 0]), "not all 0"),
        (lambda f: f.emmeans("Type").contrasts([]), "method gives no contrast"),
        (
            lambda f: f.emmeans("Type").contrasts(5),
            "method must be the name of a set, or coefficients",
        ),
        (
            lambda f: f.emmeans("Type").contrasts("revpairwis"),
            "Did you mean 'revpairwise'",
        ),
        (
            lambda f: f.emmeans("Type").contrasts("eff"),
            "method must be one of .*, or coefficients such as .*got 'eff'",
        ),
        (
            lambda f: f.emmeans("Type").contrasts("sequential", "tukey"),
            "adjust='tukey' needs method='pairwise'",
        ),
        (
            lambda f: f.emmeans("Type").contrasts(adjust="dunnett"),
            "adjust='dunnett' needs method='reference'",
        ),
        (
            lambda f: f.emmeans("Type").contrasts("reference", ref="Towr"),
            "ref must be one of .*Did you mean 'Tower'",
        ),
        (
            lambda f: f.emmeans("Type").contrasts(ref="Tower"),
            "ref= needs method='reference'",
        ),
        (
            lambda f: f.emmeans("Type").contrasts([1, 0, 0, -1], ref="Tower"),
            "ref= needs method='reference'",
        ),
        (lambda f: f.emmeans("Type", weights="prop"), "weights must be one of"),
        (
            lambda f: f.emmeans("Type", at={"Type": ["Tower"] * 2}, weights="cells"),
            "gives a value of 'Type' twice",
        ),
        (
            lambda f: f.emmeans("~ Sat | Type", scale="prob"),
            "'Sat' is the response: leave it out",
        ),
        (lambda f: f.emmeans("~ Type ~ Infl"), "the formula of means must be like"),
        (
            lambda f: f.emmeans("pair ~ Type"),
            "method must be .*Did you mean 'pairwise'",
        ),
        (lambda f: f.emmeans("~ Typ"), "no variable 'Typ'"),
        (lambda f: f.emmeans(5), "variables must be names of variables; got 5"),
        (
            lambda f: f.emtrends("Type", "Infl"),
            "var must be a number .*'Infl' is a factor",
        ),
        (lambda f: f.joint_tests(by="x"), "no variable 'x'"),
        (
            lambda f: f.joint_tests(by=["Infl", "Type", "Cont"]),
            "joint_tests needs a variable",
        ),
    ],
)
def test_refusals(ask: Callable[[LikelihoodResults], Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ask(housing())


def test_coefficients_that_do_not_add_up_to_0_are_told():
    means = housing().emmeans("Type")
    own = {
        "sum": [1, 1, 1, 1],
        "high rise": [1, -0.333, -0.333, -0.333],
        "two": [1, -1, 1, 0],
    }
    assert (
        "NOTE: the coefficients of sum and two do not add up to 0: no contrast."
        in str(means.contrasts(own))
    )
    assert "add up" not in str(means.contrasts())
