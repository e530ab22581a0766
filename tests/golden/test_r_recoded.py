"""Terms that others lean on for their coding: drop1, step, nominal_test, scale_test
against R's refits by update().

Values by R 4.2.2, ordinal 2022.11-16; gradTol = 1e-9 in drop1 and scale_test.
"""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from expected import no_data
from reference_cases import load_data
from seams import LikelihoodResults

from ordstat import ordfit

#: Case weights of these data have a mean above 2, as sampling weights do.
pytestmark = pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)


@pytest.fixture(scope="module")
def wine() -> pd.DataFrame:
    return load_data("wine").assign(z=np.arange(72) % 7 - 3.0)


@pytest.fixture(scope="module")
def overlapping(wine: pd.DataFrame) -> LikelihoodResults:
    """R: clm(rating ~ temp:z + contact:z, data = wine)"""
    return ordfit("rating ~ temp:z + contact:z", data=wine)


@pytest.fixture(scope="module")
def shared() -> LikelihoodResults:
    """R: clm(y ~ f:x1 + g:x1 + f:x2, data = sim500, weights = w, link = "probit")"""
    return ordfit(
        "y ~ f:x1 + g:x1 + f:x2", data=load_data("sim500"), method="probit", weights="w"
    )


def check(
    table: pd.DataFrame, terms: list[str], df: list[float], lrt: list[float]
) -> None:
    assert table.index.tolist() == ["<none>", *terms]
    assert table["df"].tolist()[1:] == df
    np.testing.assert_allclose(table["lrt"][1:], lrt, rtol=1e-6)


def test_dropped(overlapping: LikelihoodResults, shared: LikelihoodResults) -> None:
    table = overlapping.drop1()
    check(table, ["temp:z", "z:contact"], [1, 1], [4.245630859, 3.811045808])
    np.testing.assert_allclose(
        table["aic"], [213.6564214, 215.9020523, 215.4674672], rtol=1e-9
    )
    np.testing.assert_allclose(
        table["p_value"][1:], [0.03935144698, 0.05091565065], rtol=1e-6
    )
    check(
        shared.drop1(),
        ["f:x1", "x1:g", "f:x2"],
        [2, 3, 3],
        [7.494558108, 8.912958239, 108.496468210],
    )


def test_tested_for_scale(
    overlapping: LikelihoodResults, shared: LikelihoodResults
) -> None:
    check(
        overlapping.scale_test(),
        ["temp:z", "z:contact"],
        [2, 2],
        [6.837247344, 8.702718486],
    )
    check(
        shared.scale_test(),
        ["f:x1", "x1:g", "f:x2"],
        [3, 4, 3],
        [16.86565973, 11.10453757, 19.49457107],
    )


def test_tested_for_proportionality(
    overlapping: LikelihoodResults, shared: LikelihoodResults
) -> None:
    check(
        overlapping.nominal_test(),
        ["temp:z", "z:contact"],
        [6, 6],
        [3.459430146, 1.850672735],
    )
    check(
        shared.nominal_test(),
        ["f:x1", "x1:g", "f:x2"],
        [9, 12, 9],
        [41.98442960, 28.17898586, 24.27603483],
    )


@pytest.mark.parametrize(
    ("arguments", "terms", "df", "lrt"),
    [
        (
            {"formula": "y ~ x2 + offset(0.5 * x3)", "scale": "~ f:x1"},
            ["x2", "f:x1"],
            [3, 12],
            [3.332162039, 108.953035864],
        ),
        (
            {"formula": "y ~ x2 + f", "scale": "~ x1 + f:x1", "nominal": "~ x3"},
            ["x2", "f", "x1", "x1:f"],
            [3, 6, 4, 12],
            [3.337789485, 1.544713369, 86.083685202, 105.127999244],
        ),
        (
            {"formula": "y ~ x2", "scale": "~ f + f:x1"},
            ["x2", "f", "f:x1"],
            [3, 8, 12],
            [3.290835062, 2.899464742, 95.231037534],
        ),
    ],
)
def test_proportionality_of_scale_terms(
    arguments: dict[str, str], terms: list[str], df: list[float], lrt: list[float]
) -> None:
    """R: nominal_test(clm(formula, scale = ..., nominal = ..., data = sim500))"""
    fit = ordfit(arguments.pop("formula"), data=load_data("sim500"), **arguments)
    actual = fit.nominal_test()
    check(actual.loc[["<none>", *terms]], terms, df, lrt)
    assert len(actual) == len(terms) + 1


def test_columns_that_do_not_tell_the_new_ones_come_from_the_data() -> None:
    """R: clm(y ~ x1:x3 + f:x1 + x2, data = sim500). R codes f by contrasts next to
    x1:x3, without x1.
    """
    fit = ordfit("y ~ x1:x3 + f:x1 + x2", data=load_data("sim500"))
    table = fit.drop1()
    check(
        table,
        ["x2", "x1:x3", "x1:f"],
        [1, 0, 2],
        [32.52731696, -40.04343733, 39.21438803],
    )
    assert (
        "models are not nested" in table.attrs["notes"][0]
        and len(table.attrs["notes"]) == 1
    )
    check(
        fit.nominal_test(),
        ["x2", "x1:x3", "x1:f"],
        [3, 3, 10],
        [1.507135537, 10.683975978, 57.990312591],
    )
    alone = pickle.loads(pickle.dumps(fit))
    with no_data():
        alone.drop1()
    assert alone.drop1("x2").loc["x2", "lrt"] == pytest.approx(32.52731696, rel=1e-6)


def test_a_term_that_is_part_of_another() -> None:
    """R: drop1(clm(y ~ x1*f + g, data = sim500), scope = c("x1", "f")): x1:f takes over
    the slopes of x1.
    """
    table = ordfit("y ~ x1 * f + g", data=load_data("sim500")).drop1(["x1", "f"])
    assert table["df"].tolist()[1:] == [0, 2] and table.loc["x1", "lrt"] == 0.0
    assert table.loc["f", "lrt"] == pytest.approx(3.41990508, rel=1e-7)
    assert np.isnan(table.loc["x1", "p_value"])


def test_the_data_are_needed_only_where_the_coding_changes(
    wine: pd.DataFrame, overlapping: LikelihoodResults
) -> None:
    crossed = ordfit("rating ~ temp * contact", data=wine)
    alone = pickle.loads(pickle.dumps(crossed))
    assert alone.design.data is None
    pd.testing.assert_frame_equal(alone.drop1(), crossed.drop1())
    with no_data():
        pickle.loads(pickle.dumps(overlapping)).drop1()


@pytest.mark.parametrize("coding", ["sum", "helmert", "poly"])
def test_contrasts_do_not_matter(
    wine: pd.DataFrame, overlapping: LikelihoodResults, coding: str
) -> None:
    fit = ordfit(
        "rating ~ temp:z + contact:z",
        data=wine,
        contrasts={"temp": coding, "contact": coding},
    )
    for test in ("drop1", "nominal_test", "scale_test"):
        pd.testing.assert_frame_equal(
            getattr(fit, test)(), getattr(overlapping, test)(), atol=1e-7
        )


def test_step_goes_where_its_models_lead(overlapping: LikelihoodResults) -> None:
    """R: step(fit, k = 4)$anova, and step(clm(y ~ f:x1 + g:x1 + f:x2 + g:x3, data =
    sim500), k = 6)$anova
    """
    trace = overlapping.step(k=4.0).trace
    assert trace["change"].tolist() == ["", "- z:contact", "- temp:z"]
    np.testing.assert_allclose(
        trace["aic"], [227.6564214, 227.4674672, 223.4381524], rtol=1e-9
    )
    trace = (
        ordfit("y ~ f:x1 + g:x1 + f:x2 + g:x3", data=load_data("sim500"))
        .step(k=6.0)
        .trace
    )
    assert trace["change"].tolist() == ["", "- x1:g", "- g:x3"]
    np.testing.assert_allclose(
        trace["aic"], [1545.834022, 1529.760969, 1521.658279], rtol=1e-9
    )


@pytest.mark.filterwarnings("ignore:.*aliased:ordstat.exceptions.DataWarning")
@pytest.mark.filterwarnings(
    "ignore:nominal effects put the thresholds:ordstat.exceptions.DataWarning"
)
def test_step_takes_out_terms_without_effect_first() -> None:
    """R: step(clm(y ~ f + x2 + x1 + g, nominal = ~ x2*f, data = sim500))$anova"""
    fit = ordfit("y ~ f + x2 + x1 + g", nominal="~ x2 * f", data=load_data("sim500"))
    trace = fit.step().trace
    assert trace["change"].tolist() == ["", "- x2", "- f"]
    np.testing.assert_allclose(trace["aic"], 1493.570641, rtol=1e-9)
    table = fit.drop1()
    assert table.loc[["f", "x2"], "df"].map(str).tolist() == ["0.0", "0.0"]
    assert table.loc[["f", "x2"], "lrt"].map(str).tolist() == ["0.0", "0.0"]
    assert table.attrs["notes"] == [
        "no test of f, x2: other columns take over the effect, so that the model stays"
        " the same."
    ]


def test_the_dot_of_the_largest_model_stands_for_the_first_one() -> None:
    """R: step(clm(y ~ x3 + x4 + f, data = sim500), scope = ~ . + x3:f)$anova: x3:f
    stays out once f has gone.
    """
    trace = ordfit("y ~ x3 + x4 + f", data=load_data("sim500")).step("~ . + x3:f").trace
    assert trace["change"].tolist() == ["", "- x4", "- f"]
    np.testing.assert_allclose(
        trace["aic"], [1580.210279, 1578.213185, 1576.624082], rtol=1e-9
    )
