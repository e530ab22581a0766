"""Effects per change other than 1: the same numbers as a fit to the rescaled column."""

import numpy as np
import pandas as pd
import pytest

from ordstat import OptionError, SurveyDesign, ordfit

NUMBERS = ["estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"]


@pytest.fixture(scope="module")
def frame():
    r, n = np.random.default_rng(4), 300
    frame = pd.DataFrame({"age": r.integers(18, 80, n), "bmi": r.normal(25.0, 4.0, n), "g": r.choice(list("abc"), n)})
    frame["y"] = np.digitize(0.03 * frame.age + 0.05 * frame.bmi + r.logistic(size=n), [1.5, 2.5, 4.0])
    return frame.assign(decades=frame.age / 10.0, judge=r.integers(0, 8, n), w=r.uniform(0.5, 2.0, n))


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
    said = {name: text.replace("age", "decades") for name, text in more.items()}
    fit, again = ordfit(formula, frame, **more), ordfit(formula.replace("age", "decades"), frame, **said)
    per, other = (
        each.tidy(exponentiate=exponentiate, **given) for each, given in ((fit, {"per": {"age": 10}}), (again, {}))
    )
    if exponentiate:  # standard errors stay those of the coefficient
        np.testing.assert_allclose(per["std_error"], fit.tidy(per={"age": 10})["std_error"], rtol=1e-12)
    np.testing.assert_allclose(per[NUMBERS], other[NUMBERS], rtol=2e-4 if "|" in formula else 1e-8, atol=1e-8)
    changed = [name for name in per["term"] if "age" in name and not name.startswith("cor")]
    assert per.attrs["per"] == dict.fromkeys(changed, "per 10")


def test_standard_deviation(frame):
    fit = ordfit("y ~ age * g + bmi", frame)
    by_sd = fit.tidy(per="sd")
    plain = fit.tidy(per={"age": frame.age.std(), "bmi": frame.bmi.std()})
    np.testing.assert_allclose(by_sd[NUMBERS], plain[NUMBERS], rtol=1e-12)
    assert by_sd.attrs["per"]["bmi"] == f"per SD ({frame.bmi.std():.3g})"


def test_weighted_standard_deviation(frame):
    counts = frame.judge + 1
    fit = ordfit("y ~ bmi", frame, weights=counts)
    repeated = frame.bmi.repeat(counts).std()
    np.testing.assert_allclose(fit.tidy(per="sd")["estimate"].iloc[-1], fit.coef["bmi"] * repeated, rtol=1e-12)
    sampled = ordfit("y ~ bmi", frame, design=SurveyDesign(weights="w"))
    mean = np.average(frame.bmi, weights=frame.w)
    spread = np.sqrt(np.average((frame.bmi - mean) ** 2, weights=frame.w))
    np.testing.assert_allclose(sampled.tidy(per="sd")["estimate"].iloc[-1] / sampled.coef["bmi"], spread, rtol=0.01)


@pytest.mark.parametrize("formula", ["poly(age, 2)", "log(age)", "bs(age)", "age + I(age**2)", "C(age > 40)"])
def test_not_linear(frame, formula):
    with pytest.raises(OptionError, match=r"per must name numeric variables that enter linearly; got 'age'; .*bmi"):
        ordfit(f"y ~ bmi + {formula}", frame).tidy(per={"age": 10})


@pytest.mark.parametrize("per", [{"g": 2}, {"years": 2}, {"bmi": -1}, {"bmi": True}, "age", 3])
def test_refused(frame, per):
    with pytest.raises(OptionError, match="per"):
        ordfit("y ~ bmi + g", frame).tidy(per=per)
