"""Effects per change other than 1: the same numbers as a fit to the rescaled column."""

import numpy as np
import pandas as pd
import pytest

from ordstat import OptionError, SurveyDesign, ordfit, table

NUMBERS = ["estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"]


@pytest.fixture(scope="module")
def frame():
    r = np.random.default_rng(4)
    n = 300
    frame = pd.DataFrame(
        {
            "age": r.integers(18, 80, n),
            "bmi": r.normal(25.0, 4.0, n),
            "g": r.choice(list("abc"), n),
        }
    )
    frame["y"] = np.digitize(
        0.03 * frame.age + 0.05 * frame.bmi + r.logistic(size=n), [1.5, 2.5, 4.0]
    )
    return frame.assign(
        decades=frame.age / 10.0, judge=r.integers(0, 8, n), w=r.uniform(0.5, 2.0, n)
    )


@pytest.mark.parametrize(
    ("formula", "more"),
    [
        ("y ~ age * g + bmi", {}),
        ("y ~ g + bmi", {"nominal": "~ age"}),
        ("y ~ age + g", {"scale": "~ age"}),
        ("y ~ bmi * age", {"link": "cloglog", "threshold": "equidistant"}),
        ("y ~ age + (age | judge)", {}),
    ],
)
@pytest.mark.parametrize("exponentiate", [False, True])
def test_refit_to_the_rescaled_column(frame, formula, more, exponentiate):
    renamed = {name: text.replace("age", "decades") for name, text in more.items()}
    fit = ordfit(formula, frame, **more)
    again = ordfit(formula.replace("age", "decades"), frame, **renamed)
    per, other = (
        each.tidy(exponentiate=exponentiate, **given)
        for each, given in ((fit, {"per": {"age": 10}}), (again, {}))
    )
    if exponentiate:  # standard errors stay those of the coefficient
        np.testing.assert_allclose(
            per["std_error"], fit.tidy(per={"age": 10})["std_error"], rtol=1e-12
        )
    np.testing.assert_allclose(
        per[NUMBERS], other[NUMBERS], rtol=2e-4 if "|" in formula else 1e-8, atol=1e-8
    )
    changed = [
        name for name in per["term"] if "age" in name and not name.startswith("cor")
    ]
    assert per.attrs["per"] == dict.fromkeys(changed, "per 10")


@pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)
def test_standard_deviations(frame):
    """As if rows stood once for each unit of a whole weight; of sampling weights the
    weighted one.
    """
    fit = ordfit("y ~ age * g + bmi", frame)
    counts = frame.judge + 1
    plain = fit.tidy(per={"age": frame.age.std(), "bmi": frame.bmi.std()})
    np.testing.assert_allclose(fit.tidy(per="sd")[NUMBERS], plain[NUMBERS], rtol=1e-12)
    assert fit.tidy(per="sd").attrs["per"]["bmi"] == f"per SD ({frame.bmi.std():.3g})"
    deviations = {
        "weights": frame.bmi.repeat(counts).std(),
        "design": np.sqrt(np.cov(frame.bmi, aweights=frame.w)),
    }
    for name, weights in {
        "weights": counts,
        "design": SurveyDesign(weights="w"),
    }.items():
        weighted = ordfit("y ~ bmi", frame, **{name: weights})
        factor = weighted.tidy(per="sd")["estimate"].iloc[-1] / weighted.coef["bmi"]
        assert factor == pytest.approx(deviations[name], rel=1e-10)


def test_summary_and_table_show_it(frame):
    fit = ordfit("y ~ age + g", frame)
    row = next(
        line
        for line in str(fit.summary(per={"age": 10})).splitlines()
        if line.startswith("age, per 10 ")
    )
    assert float(row.split()[3]) == pytest.approx(10 * fit.coef["age"], abs=6e-4)
    assert float(row.split()[-3]) == pytest.approx(
        np.exp(10 * fit.coef["age"]), abs=6e-3
    )
    pytest.importorskip("maketables")
    cells = (
        table(fit, style="clinical", per={"age": 10})
        .df.xs("age, per 10", level=1)
        .iloc[0]
    )
    assert cells.iloc[0] == f"{np.exp(10 * fit.coef['age']):.2f}"
    # an effect that two decimals do not show
    days = ordfit("y ~ age", frame.assign(age=365.0 * frame.age))
    shown = str(table(days, style="clinical", labels={"age": "Age (days)"}))
    assert (
        "per={'age': 10}" in shown
        and f"Age (days)   {np.exp(days.coef['age']):.6f}" in shown
    )


@pytest.mark.parametrize(
    ("formula", "per"),
    [
        *(
            (f"bmi + {term}", {"age": 10})
            for term in ("poly(age, 2)", "log(age)", "bs(age)", "age + I(age**2)")
        ),
        *(
            ("bmi + g", per)
            for per in ({"g": 2}, {"years": 2}, {"bmi": -1}, {"bmi": True}, "age", 3)
        ),
    ],
)
def test_refused(frame, formula, per):
    """The message names the numbers that enter as they are, and what to use instead."""
    numeric = (
        "per must name numeric variables that enter linearly .*'bmi'.*; got"
        " .*marginal_effects"
    )
    with pytest.raises(
        OptionError,
        match=f"{numeric}|per of bmi must be a positive|per must be a mapping",
    ):
        ordfit(f"y ~ {formula}", frame).tidy(per=per)


def test_exponents_of_nominal_effects_say_their_direction(frame):
    fit = ordfit("y ~ age", frame, nominal="~ g")
    ratios = fit.tidy(exponentiate=True)
    name = "1|2.g[T.b]"
    limits = np.exp(-fit.confint().loc[name, ["upper", "lower"]])
    np.testing.assert_allclose(
        ratios.set_index("term").loc[name, ["conf_low", "conf_high"]].astype(float),
        limits,
    )
    assert any("higher response" in note for note in ratios.attrs["notes"])
    # of a higher response
    shown = table(fit, style="clinical").df.xs("g: b, above 1", level=1).iloc[0].iloc[0]
    assert float(shown) == pytest.approx(np.exp(-fit.params[name]), abs=5e-3)
