"""Words that the user chooses, styles, and axes of the user's figure."""

import re

import numpy as np
import pytest
from matplotlib import pyplot

from ordstat import OptionError, datasets, describe_ordinal, ordfit, table
from plots.test_accessor_every_picture import _words, problems

WINE = datasets.load("wine")
ANES = datasets.load("anes96")
VARIABLE = dict.fromkeys(
    ("effects", "stacked", "emmeans", "dependence", "residuals"), ("temp",)
)
VARIABLE["subgroups"] = ("temp", "contact")
LABELS = {"temp": "Temperature", "rating": "Bitterness", "contact": "Skins"}


@pytest.mark.parametrize("method", ["logit", "cart", "redsvm"])
def test_labels_and_title_are_shown_in_every_picture(method):
    plot = ordfit("rating ~ temp + contact", WINE, method).plot
    for name in plot.names:
        first = np.ravel(
            getattr(plot, name)(
                *VARIABLE.get(name, ()), labels=LABELS, title="My title"
            )
        )[0]
        words = [word.get_text() for word in _words(first.figure)]
        assert any(
            "My title" in word for word in [*words, first.figure.get_suptitle()]
        ), name
        assert not [
            word for word in words if re.search(r"\b(temp|rating|contact)\b", word)
        ], name


def test_numbers_of_observations():
    ax = ordfit("rating ~ temp", WINE).plot.stacked("temp")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [
        "cold\nn = 36",
        "warm\nn = 36",
    ]
    ax = describe_ordinal(WINE, "rating", by="temp").plot(
        title="Answers", labels={"cold": "Cool"}
    )
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [
        "Cool (n = 36)",
        "warm (n = 36)",
    ]
    assert ax.get_title(loc="left") == "Answers"


@pytest.mark.parametrize("picture", ["forest", "parallel"])
def test_effects_of_ten_years(picture):
    fit = ordfit("PID ~ age + educ", ANES)
    one, ten = (
        getattr(fit.plot, picture)(per=per, draw=False) for per in (None, {"age": 10})
    )
    np.testing.assert_allclose(
        ten["estimate"], one["estimate"] * np.where(one["term"] == "age", 10.0, 1.0)
    )
    words = [
        word.get_text()
        for word in _words(getattr(fit.plot, picture)(per={"age": 10}).figure)
    ]
    assert any(word.startswith("age, per 10") for word in words)


def test_effects_of_ten_years_beside_a_fit_without_age():
    fit = ordfit("PID ~ age + educ", ANES)
    small = ordfit("PID ~ educ", ANES)
    frame = fit.plot.forest(others={"small": small}, per={"age": 10}, draw=False)
    np.testing.assert_allclose(
        frame["estimate"], [10 * fit.coef["age"], fit.coef["educ"], small.coef["educ"]]
    )
    assert "age, per 10" in str(table([fit, small], per={"age": 10}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"odds": True},
            r"plot\.forest has no option 'odds'\. Use exponentiate=True\.",
        ),
        ({"exponentiated": True}, "Did you mean 'exponentiate'"),
        ({"labels": "age"}, "labels must be a mapping such as .*; got 'age'"),
    ],
)
def test_options_that_a_picture_does_not_have(options, message):
    with pytest.raises(OptionError, match=message):
        ordfit("rating ~ temp", WINE).plot.forest(**options)


@pytest.mark.parametrize("layout", [None, "constrained", "tight at the end"])
@pytest.mark.parametrize(
    "four", ["forest latent effects confusion", "stacked margins emmeans parallel"]
)
def test_four_pictures_fit_into_one_figure(layout, four):
    figure, grid = pyplot.subplots(
        2,
        2,
        figsize=(8.0, 6.0),
        layout="constrained" if layout == "constrained" else None,
    )
    fit = ordfit(
        "Sat ~ Infl + temp",
        datasets.load("housing").rename(columns={"Type": "temp"}),
        weights="Freq",
    )
    for name, ax in zip(four.split(), grid.flat, strict=True):
        getattr(fit.plot, name)(*VARIABLE.get(name, ()), ax=ax)
    if layout == "tight at the end":
        pyplot.tight_layout()
    assert list(problems(figure)) == []


@pytest.mark.parametrize("width", [3.15, 6.3])
def test_ratios_have_two_ticks_at_least(width):
    ax = ordfit("PID ~ age + selfLR", ANES).plot.forest(
        pyplot.subplots(figsize=(width, 2.4))[1], exponentiate=True
    )
    low, high = ax.get_xlim()
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
    assert len(ticks) >= 2 and 1.0 in ticks
