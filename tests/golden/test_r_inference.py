"""Tables of tests and intervals against R's clm: anova, drop1, add1, nominal_test,
scale_test, confint.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reference_cases import Case, load_case, number
from seams import LikelihoodResults

from ordstat import ordfit

#: Log-likelihoods of R's default stopping rule.
LOGLIK = 1e-7
#: Statistics are differences of those, Wald statistics carry the covariance's accuracy.
STATISTIC = 1e-6
#: R interpolates profiles by a spline: this share of the interval's width.
SPLINE = 3e-5
#: Own columns by R's.
COLUMNS = {
    "no.par": "no_par",
    "AIC": "aic",
    "logLik": "loglik",
    "LR.stat": "lr_stat",
    "df": "df",
    "Df": "df",
    "LRT": "lrt",
    "Chisq": "chisq",
    "Pr(>Chisq)": "p_value",
    "Pr(>Chi)": "p_value",
}


def fitted(name: str, **arguments: str) -> LikelihoodResults:
    case = load_case(name)
    given = {key: case.spec[key] for key in ("nominal", "scale") if key in case.spec}
    return ordfit(
        case.spec["formula"], data=case.frame(), method=case.link, **given, **arguments
    )


def block(case: Case, name: str) -> pd.DataFrame:
    columns = {
        COLUMNS[key]: [number(cell) for cell in cells]
        for key, cells in case.raw[name]["columns"].items()
    }
    return pd.DataFrame(columns, index=case.raw[name]["rows"], dtype=float)


def check(actual: pd.DataFrame, case: Case, name: str, same_rows: bool = True) -> None:
    expected = block(case, name)
    assert set(actual.columns) == set(expected.columns) and len(actual) == len(expected)
    if same_rows:
        assert actual.index.tolist() == expected.index.tolist()
    for column in expected:
        ours = actual[column].to_numpy(dtype=float)
        theirs = expected[column].to_numpy()
        absolute = (
            LOGLIK
            if column in ("aic", "loglik")
            else 1e-7
            if column in ("lr_stat", "lrt")
            else 0.0
        )
        np.testing.assert_allclose(
            ours, theirs, rtol=STATISTIC, atol=absolute, err_msg=column
        )


@pytest.mark.parametrize("name", ["wine_tests", "sim500_tests"])
@pytest.mark.parametrize(("type", "theirs"), [("I", 1), ("II", 2), ("baseline", 3)])
def test_wald_anova(name: str, type: str, theirs: int) -> None:
    """R's ordinal 2022.11; its type III became the balanced one in 2025."""
    check(fitted(name).anova(type=type), load_case(name), f"anova_type{theirs}")


def test_types_with_several_interactions() -> None:
    """R 4.2.2: anova(clm(y ~ x1*f + f*g + x2, data = sim500), type = 1, 2, 3) of
    ordinal 2022.11.
    """
    fit = ordfit("y ~ x1*f + f*g + x2", data=load_case("sim500_tests").frame())
    expected = {
        "I": [77.37108, 2.56125, 10.05828, 38.99577, 2.88185, 6.08953],
        "II": [80.47459, 4.72585, 10.78520, 40.62117, 2.63545, 6.08953],
        "baseline": [43.49974, 4.04692, 5.78418, 40.62117, 2.63545, 6.08953],
    }
    for type, chisq in expected.items():
        table = fit.anova(type=type)
        assert table.index.tolist() == ["x1", "f", "g", "x2", "x1:f", "f:g"]
        assert table["df"].tolist() == [1, 2, 3, 1, 2, 6]
        np.testing.assert_allclose(table["chisq"], chisq, atol=6e-6)


@pytest.mark.parametrize("type", ["III", "3", 3, "balanced"])
def test_type_three_averages_over_the_levels_of_the_other_factors(
    type: str | int,
) -> None:
    """R 4.2.2: b'V^-1 b of the terms' coefficients in clm with contr.sum, as
    car::Anova(type = 3) has it.
    """
    wine = load_case("wine_tests").frame()
    sim = load_case("sim500_tests").frame()
    for fit, chisq in (
        (
            ordfit("rating ~ temp * contact", data=wine),
            [22.4186079, 10.2859285, 0.1514754],
        ),
        (
            ordfit("y ~ x1*f + f*g + x2", data=sim),
            [72.4301707, 4.8878348, 10.6907536, 40.6211693, 2.6354514, 6.0895259],
        ),
    ):
        table = fit.anova(type=type)
        np.testing.assert_allclose(table["chisq"], chisq, rtol=1e-6)
        assert table.attrs["title"].startswith("Wald tests of type III,")


@pytest.mark.filterwarnings("ignore:aliased:ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("type", ["II", "III", "baseline"])
@pytest.mark.parametrize("coding", ["treatment", "sum"])
def test_terms_with_a_direction_in_common(type: str, coding: str) -> None:
    """R 4.2.2: anova(clm(y ~ h:x1 + f:g:x1, data = sim500), type = 3) of ordinal
    2022.11, h = (0:499) %% 3.

    Both terms are coded by all cells, so that each has a slope of x1 and the last of
    them is aliased.
    """
    data = load_case("sim500_tests").frame()
    fit = ordfit(
        "y ~ h:x1 + f:g:x1",
        data=data.assign(h=(np.arange(500) % 3).astype(str)),
        contrasts={"h": coding},
    )
    table = fit.anova(type=type)
    assert table["df"].tolist() == [3, 11]
    np.testing.assert_allclose(table["chisq"], [2.424722978, 14.281524452], rtol=1e-6)


#: Models with a term that others determine in part: options, the slope of one level in
#: place of the interaction, and R 4.2.2's anova() of types I and III with ordinal
#: 2022.11. Its type II says 49.9897675510396 and 22.5602825115061 of the interaction,
#: and for the same model written without the aliased column (with either level's slope)
#: 43.35177 and 14.14982, as for the other types: what other terms leave of the
#: interaction has one degree of freedom and one test.
ALIASED = {
    "0005": (
        "scale(age) + hours + region + married",
        "age:sex",
        {"link": "loglog", "weights": "wt"},
        [
            102.729422945038,
            11.3867784591672,
            124.819764236481,
            37.8229720185475,
            43.3517707277378,
        ],
        [
            93.6240441540984,
            10.8994295552006,
            129.819163031662,
            38.5167822654638,
            43.3517707277378,
        ],
        [0.0, 10.9024417645069, 126.774713913381, 38.8011951547742, 39.096220551628],
    ),
    "0011": (
        "product + ns(thirst, df=2)",
        "thirst:contact",
        {"scale": "~ contact", "threshold": "equidistant"},
        [56.2138882280005, 8.78137294997958, 14.1498205835838],
        [54.9597549152722, 0.929754116988551, 14.1498205835838],
        [55.7441564381024, 0.774619589070426, 14.0592847680527],
    ),
}


@pytest.mark.filterwarnings("ignore:.*aliased:ordstat.exceptions.DataWarning")
@pytest.mark.filterwarnings("ignore:.*missing:ordstat.exceptions.DataWarning")
@pytest.mark.filterwarnings("ignore:weights= are counts:ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("name", ALIASED)
def test_a_term_that_others_determine_in_part(name: str) -> None:
    others, interaction, options, first, third, dropped = ALIASED[name]
    data = pd.read_csv(Path(__file__).with_name("r") / f"aliased_{name}.csv")
    if "region" in data:
        data["region"] = pd.Categorical(
            data["region"], ["North", "East", "South", "West"]
        )
    number, factor = interaction.split(":")
    fit = ordfit(f"y ~ {others} + {factor}:{number}", data, **options)
    for kind, expected in (("I", first), ("II", third), ("III", third)):
        table = fit.anova(type=kind)
        np.testing.assert_allclose(table["chisq"], expected, rtol=1e-6)
        assert table["df"].iloc[-1] == 1
        assert f"{factor}:{number}: tested is the part" in table.attrs["notes"][0]
    for level in sorted(data[factor].dropna().unique()):
        slope = (
            data[number].where(data[factor] == level, 0.0).where(data[factor].notna())
        )
        written = ordfit(f"y ~ {others} + slope", data.assign(slope=slope), **options)
        assert written.anova(type="II")["chisq"].iloc[-1] == pytest.approx(
            third[-1], rel=1e-6
        )
    table = fit.drop1()
    np.testing.assert_allclose(table["lrt"][1:], dropped, rtol=1e-6, atol=1e-8)
    if name == "0005":
        assert (
            "no test of scale(age): other columns take over the effect"
            in table.attrs["notes"][0]
        )


def test_anova_of_several_fits() -> None:
    wine = fitted("wine_tests")
    smaller = [wine.update("~ temp + contact"), wine.update("~ temp")]
    check(wine.anova(*smaller), load_case("wine_tests"), "anova_pair", same_rows=False)
    sim = fitted("sim500_tests")
    check(
        sim.update("~ x1").anova(sim),
        load_case("sim500_tests"),
        "anova_pair",
        same_rows=False,
    )


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("anova_scale", {"scale": "~ temp"}),
        ("anova_nominal", {"formula": "~ temp", "nominal": "~ contact"}),
        ("anova_threshold", {"threshold": "equidistant"}),
    ],
)
def test_anova_of_other_parts(name: str, changes: dict[str, str]) -> None:
    fit = fitted("wine_anova_nominal_scale")
    check(
        fit.anova(fit.update(**changes)),
        load_case("wine_anova_nominal_scale"),
        name,
        same_rows=False,
    )


@pytest.mark.parametrize("name", ["wine_tests", "sim500_tests", "simbig_logit"])
def test_drop1(name: str) -> None:
    check(fitted(name).drop1(), load_case(name), "drop1_chisq")


def test_drop1_of_main_effects() -> None:
    check(
        fitted("wine_tests").update("~ temp + contact").drop1(),
        load_case("wine_tests"),
        "drop1_chisq_main",
    )


def test_add1() -> None:
    null = fitted("wine_tests").update("~ 1")
    check(null.add1("~ temp + contact"), load_case("wine_tests"), "add1_chisq")
    case = load_case("sim500_tests")
    check(fitted("sim500_tests").add1(["x3", "x4", "age"]), case, "add1_chisq")
    check(fitted("sim500_tests").add1("~ . + x3 + x4 + age"), case, "add1_chisq")


@pytest.mark.parametrize("test", ["nominal_test", "scale_test"])
def test_of_proportionality(test: str) -> None:
    main = fitted("wine_tests").update("~ temp + contact")
    check(getattr(main, test)(), load_case("wine_tests"), f"{test}_main")
    check(getattr(fitted("sim500_tests"), test)(), load_case("sim500_tests"), test)


def test_of_proportionality_with_interactions() -> None:
    """R 4.2.2: nominal_test and scale_test of clm(y ~ x1*f + f*g + x2, data = sim500).

    R frees x1:f without f, which depends on the origin of x1 (14.310397 and 2.9684587
    here): for that term the models with nominal = ~ x1*f and scale = ~ x1*f, fitted by
    clm.
    """
    fit = ordfit("y ~ x1*f + f*g + x2", data=load_case("sim500_tests").frame())
    nominal = fit.nominal_test()
    scale = fit.scale_test()
    assert nominal["df"].tolist()[1:] == [3, 6, 9, 3, 15, 33]
    assert scale["df"].tolist()[1:] == [1, 2, 3, 1, 5, 11]
    np.testing.assert_allclose(
        nominal["lrt"][1:],
        [0.975262, 2.742284, 5.571072, 1.317473, 15.614733, 34.932412],
        atol=1e-5,
    )
    np.testing.assert_allclose(
        scale["lrt"][1:],
        [1.8960433, 1.6349472, 2.3257276, 0.2691912, 4.3682884, 17.1101906],
        atol=1e-5,
    )


@pytest.mark.parametrize(
    ("name", "field", "level", "rename"),
    [
        ("wine_confint_logit", "profile95", 0.95, {}),
        ("wine_confint_logit", "profile90", 0.90, {}),
        ("sim500_confint_cloglog", "profile95", 0.95, {}),
        ("sim800_scale_g", "profile_ci", 0.95, {}),
    ],
)
def test_profile_intervals(
    name: str, field: str, level: float, rename: dict[str, str]
) -> None:
    fit = fitted(name)
    expected = load_case(name).matrix(field)
    effects = [
        n
        for n, kind in zip(fit.parameters.names, fit.parameters.kinds, strict=True)
        if kind != "threshold"
    ]
    actual = fit.confint(effects, level, type="profile").to_numpy()
    width = np.diff(expected.to_numpy(), axis=1)
    assert np.all(np.abs(actual - expected.to_numpy()) <= SPLINE * width)


def test_profile_intervals_of_cauchit() -> None:
    """R's cauchit stands in +-1e5 for the infinite thresholds: 1e-3 is all it is good
    for.
    """
    actual = (
        fitted("wine_confint_cauchit_scale").confint(type="profile").iloc[4:].to_numpy()
    )
    np.testing.assert_allclose(
        actual, load_case("wine_confint_cauchit_scale").matrix("profile95"), rtol=2e-3
    )


@pytest.mark.parametrize(
    ("name", "field", "level"),
    [
        ("wine_confint_logit", "wald95", 0.95),
        ("sim500_confint_cloglog", "wald99", 0.99),
        ("simbig_logit", "wald_ci", 0.95),
        ("sim800_scale_g", "wald_ci", 0.95),
        ("wine_nominal_contact", "wald", 0.95),
    ],
)
def test_wald_intervals(name: str, field: str, level: float) -> None:
    actual = fitted(name).confint(level).to_numpy()
    np.testing.assert_allclose(
        actual, load_case(name).matrix(field), rtol=1e-6, atol=1e-8
    )
