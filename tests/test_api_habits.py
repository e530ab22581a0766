"""Habits of R users: they work, or the error says what to write."""

import numpy as np
import pandas as pd
import pytest
from expected import misspelt, no_option, refused

from ordstat import DataError, FormulaError, OptionError, datasets, ordfit


@pytest.fixture(scope="module")
def wine():
    return datasets.load("wine")


@pytest.fixture(scope="module")
def fit(wine):
    return ordfit("rating ~ temp * contact", wine)


def test_a_scope_may_be_a_formula(fit):
    whole = fit.update("~ temp + contact")
    pd.testing.assert_frame_equal(whole.drop1("~ temp"), whole.drop1("temp"))
    pd.testing.assert_frame_equal(
        fit.drop1("~ contact:temp"), fit.drop1("temp:contact")
    )
    pd.testing.assert_frame_equal(
        whole.nominal_test("~ contact"), whole.nominal_test("contact")
    )
    with refused("scope", "'judge'"):
        fit.drop1("~ judge")


def test_contrasts_may_be_calls(wine):
    # MASS::polr(rating ~ temp, wine, contrasts = list(temp = contr.treatment(2, base =
    # 2))): the sign turns around.
    base = ordfit("rating ~ temp", wine, contrasts={"temp": "Treatment('warm')"})
    assert base.coef.index.tolist() == ["temp[T.cold]"]
    assert base.coef.iloc[0] == pytest.approx(
        -ordfit("rating ~ temp", wine).coef.iloc[0], rel=1e-8
    )


@pytest.mark.parametrize(
    ("contrasts", "error", "message"),
    [
        (
            "sum",
            OptionError,
            r"contrasts must be a mapping such as \{'x': 'sum'\}; got 'sum'",
        ),
        ({"temp": "contr.treatment(base=2)"}, FormulaError, "got base level 2"),
        ({"temp": "contr.treatment(base=3)"}, FormulaError, "got base level 3.$"),
    ],
)
def test_other_contrasts_say_what_they_should_be(wine, contrasts, error, message):
    with pytest.raises(error, match=message):
        ordfit("rating ~ temp", wine, contrasts=contrasts)


@pytest.mark.parametrize("method", ["logit", "redsvm"])
def test_the_response_may_have_a_name_of_python(wine, method):
    named = wine.rename(columns={"rating": "class"})
    fit, same = (
        ordfit(f"{name} ~ temp", frame, method)
        for name, frame in (("class", named), ("rating", wine))
    )
    assert fit.predict(wine).tolist() == same.predict(wine).tolist()
    assert fit.update("~ . + contact").formula == "class ~ temp + contact"
    assert fit.errors(named).equals(same.errors(wine))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda fit: fit.add1("temp"),
            OptionError,
            "scope must have a term that the model lacks; got 'temp'",
        ),
        (
            lambda fit: fit.step(k="bic"),
            OptionError,
            r"k must be a finite number, 0 or more, such as 2 \(AIC\)",
        ),
        (
            lambda fit: fit.anova([fit]),
            OptionError,
            r"separate arguments, as in fit1.anova\(fit2, fit3\)",
        ),
        (
            lambda fit: fit.predict({"temp": "warm", "contact": "no"}),
            DataError,
            "data= must have values of one length",
        ),
        (
            lambda fit: fit.update(nominal=["temp"]),
            FormulaError,
            r"nominal= must be a one-sided formula.*\['temp'\]",
        ),
        (
            lambda fit: fit.update(scale=True),
            FormulaError,
            "scale= must be a one-sided formula.*got True",
        ),
        (
            lambda fit: fit.update(weights=np.zeros(72)),
            DataError,
            r"left out for weights= of 0 \(72\)",
        ),
    ],
)
def test_what_does_not_work_says_what_does(fit, call, error, message):
    with pytest.raises(error, match=message):
        call(fit)


def test_blank_text_is_told(wine):
    frame = wine.assign(temp=wine["temp"].astype(str).where(wine.index != 3, " "))
    with pytest.warns(
        match="Column temp has the level ' ' in 1 row. If that is not an answer"
    ):
        ordfit("rating ~ temp", frame, "cart")
    answers = pd.Categorical(
        ["", "low", "high"] * 4, categories=["", "low", "high"], ordered=True
    )
    with pytest.warns(match="Response y has the level '' in "):
        ordfit("y ~ x", {"y": answers, "x": np.arange(12) % 5}, "cart")


def test_the_link_of_polr_is_suggested(wine):
    with misspelt("logit"):
        ordfit("rating ~ temp", wine, method="logistic")


def test_hypotheses_may_be_several_and_in_pythons_spelling(fit):
    plain = fit.test("temp[T.warm] = 0, contact[T.yes] = 1")
    for other in (
        ["temp[T.warm] = 0", "contact[T.yes] = 1"],
        "temp[T.warm] == 0\ncontact[T.yes] == 1",
    ):
        np.testing.assert_array_equal(fit.test(other).to_numpy(), plain.to_numpy())
    with refused("hypotheses"):
        fit.test([0, 1])


def test_other_flags_and_pictures_say_what_there_is(wine, fit):
    with refused("exponentiate", "'yes'"):
        fit.tidy(exponentiate="yes")
    with pytest.raises(
        AttributeError,
        match=r"no picture 'profile' of this fit. Did you mean 'profiles'\? Choose",
    ):
        fit.plot.profile("temp")
    with misspelt("absolute error", "mae"):
        fit.importance(measure="mae")
    assert not hasattr(ordfit("rating ~ temp", wine, "redsvm").plot, "_repr_html_")
    with no_option("cost"):
        ordfit("rating ~ temp", wine, "cart", cost="absolute")
