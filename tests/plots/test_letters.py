"""Letters that the usual font has not come from one that has them; the usual ones stay as they are."""

import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot, rcParams
from matplotlib.text import Text

from ordstat import DataWarning, compare, datasets, describe_ordinal, ordfit
from ordstat.plots import letters
from ordstat.plots.words import in_lines

#: matplotlib brings fonts along: DejaVu Sans has no script g, those of STIX do.
SCRIPT = "\u210a"
#: No font has a letter there.
NOWHERE = "\U0010fffd"


@pytest.fixture(autouse=True)
def forgotten():
    letters._fonts_with.cache_clear()
    letters._tell.cache_clear()


def fitted(name, level="low"):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    y = pd.cut(x + rng.logistic(size=120), [-99, -1, 1, 99], labels=[level, "middle", "high"])
    return ordfit(f"y ~ {name}", pd.DataFrame({"y": y, name: x}))


def drawn_without_warning(figure):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()


def families(figure):
    return {text.get_text(): text.get_fontfamily() for text in figure.findobj(Text) if text.get_text()}


@pytest.mark.parametrize("plot", ["forest", "latent", "confusion", "coefficients"])
def test_other_fonts_are_asked_for_letters(plot):
    fit = fitted("x", level=f"{SCRIPT}ood")
    others = ({"other": fit},) if plot == "coefficients" else ()
    ax = getattr(fit.plot, plot)(*others)
    drawn_without_warning(ax.figure)
    assert all(
        found[: len(rcParams["font.family"])] == rcParams["font.family"] for found in families(ax.figure).values()
    )


def test_words_of_axes_that_are_there_already():
    fit = fitted("x", level=f"{SCRIPT}ood")
    figure, ax = pyplot.subplots()
    ax.set_title(f"{SCRIPT}, by its user")
    fit.plot.confusion(ax=ax)
    drawn_without_warning(figure)
    figure, ax = pyplot.subplots()
    fit.plot.confusion(ax)
    drawn_without_warning(figure)


def test_nothing_changes_where_the_usual_font_has_all():
    ax = fitted("x", level="größer θ").plot.latent()
    assert {tuple(found) for found in families(ax.figure).values()} == {tuple(rcParams["font.family"])}


def test_other_pictures_too():
    named = datasets.load("wine").assign(rating=lambda d: d["rating"].cat.rename_categories({1: SCRIPT}))
    drawn_without_warning(describe_ordinal(named, "rating", by="temp").plot().figure)
    found = compare("rating ~ temp", named, {SCRIPT: "logit", "b": "probit"}, cv=3)
    drawn_without_warning(found.plot().figure)


def test_letters_of_no_font_are_told_once():
    fit = fitted("x", level=f"{NOWHERE}{SCRIPT}")
    _, (one, other) = pyplot.subplots(1, 2)
    with pytest.warns(DataWarning, match=f"no installed font has the letters '{NOWHERE}': .* Noto Sans CJK") as told:
        fit.plot.stacked("x", ax=one)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.filterwarnings("error", category=DataWarning)
        fit.plot.stacked("x", ax=other)


def test_wide_letters_count_as_two_and_lines_end_after_them():
    """By hand: six letters are as wide as twelve."""
    assert in_lines("不同意也不反对", 12) == "不同意也不反\n对"
    assert in_lines("不同意|中立", 8) == "不同意|\n中立"
    assert in_lines("rather 不同意", 12) == "rather 不同\n意"
    assert in_lines("我们对政府的工作非常满意没有意见", 10, most=2).count("\n") == 1
