"""Forest, parallel, influence, reliability by facet: scales, names and panels."""

import re

import numpy as np
import pandas as pd
import pytest
from expected import refused
from matplotlib import pyplot
from problems import ranked

from ordstat import datasets, ordfit
from ordstat.exceptions import DataWarning, SeparationWarning
from ordstat.plots import style

WINE = datasets.load("wine")
ANES = datasets.load("anes96")


@pytest.fixture(scope="module")
def anes():
    return ordfit("PID ~ selfLR + age + educ", ANES)


def dots(ax):
    return next(line for line in ax.lines if line.get_marker() == "o")


@pytest.mark.parametrize("exponentiate", [False, True])
def test_all_coefficients_share_one_axis(exponentiate):
    """A coefficient of a year beside those of a factor: each dot is drawn at its own
    ratio, however small.
    """
    anes = ANES.assign(
        party=pd.cut(ANES["selfLR"], [0, 3, 4, 7], labels=["left", "middle", "right"])
    )
    fit = ordfit("PID ~ age + party", anes)
    expected = np.exp(fit.coef) if exponentiate else fit.coef
    other = ordfit("PID ~ age", anes)
    for ax in (
        fit.plot.forest(exponentiate=exponentiate),
        fit.plot.forest(others={"age alone": other}, exponentiate=exponentiate),
    ):
        np.testing.assert_allclose(dots(ax).get_xdata(), expected)
        assert ax.get_xscale() == ("log" if exponentiate else "linear")
        low, high = ax.get_xlim()
        ax.figure.draw_without_rendering()
        ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
        assert len(ticks) >= 3 and (1.0 if exponentiate else 0.0) in ticks


@pytest.mark.parametrize(
    ("link", "what", "sign"),
    [
        ("logit", "odds ratio", 1),
        ("cloglog", "hazard ratio", -1),
        ("probit", "exp(estimate)", 1),
    ],
)
def test_exponents_are_named(link, what, sign):
    """A hazard ratio is exp(-b): larger b, higher responses, smaller hazard."""
    fit = ordfit("rating ~ temp + contact", WINE, link)
    meaning = " (below 1 = higher response)" * (sign < 0)
    words = fit.plot.forest(exponentiate=True).get_xlabel().replace("\n", " ")
    assert words == f"{what}{meaning} with 95% confidence interval"
    data = fit.plot.forest(exponentiate=True, draw=False)
    np.testing.assert_allclose(data["estimate"], np.exp(sign * fit.coef))
    limits = np.sort(
        np.exp(sign * fit.confint().loc[fit.coef.index].to_numpy()), axis=1
    )
    np.testing.assert_allclose(data[["conf_low", "conf_high"]], limits)
    other = fit.plot.forest(
        others={"temp": ordfit("rating ~ temp", WINE, link)},
        exponentiate=True,
        draw=False,
    )
    np.testing.assert_allclose(other["estimate"].iloc[0], data["estimate"].iloc[0])
    mixed = fit.plot.forest(
        others={"other": ordfit("rating ~ temp", WINE, "cauchit")}, exponentiate=True
    )
    assert mixed.get_xlabel().startswith("exp(estimate)")


def test_scale_effects_have_no_odds_ratio():
    fit = ordfit("rating ~ temp", WINE, scale="~ contact")
    assert fit.plot.forest(exponentiate=True).get_xlabel().startswith("exp(estimate)")
    assert [label.get_text() for label in fit.plot.forest().get_yticklabels()] == [
        "temp: warm",
        "contact: yes (scale)",
    ]


def test_parallel_blocks_share_one_axis(anes):
    ax = anes.plot.parallel()
    data = anes.plot.parallel(draw=False)
    drawn = np.concatenate(
        [
            dots.get_offsets()[:, 0]
            for dots in ax.collections
            if len(dots.get_offsets()) == 6
        ]
    )
    np.testing.assert_allclose(drawn, data["estimate"])


def test_influence_names_the_largest():
    data = WINE.set_index("response", drop=False)
    data.index = [f"wine {k}" for k in range(72)]
    fit = ordfit("rating ~ temp + contact", data)
    ax = fit.plot.influence(top=3)
    cooks = fit.influence().cooks
    assert {text.get_text() for text in ax.texts} == set(cooks.nlargest(3).index)
    np.testing.assert_allclose(fit.plot.influence(draw=False)["cooks"], cooks)
    moved = fit.plot.influence("temp[T.warm]", top=0)
    assert not moved.texts and "temp: warm" in moved.get_ylabel().replace("\n", " ")
    with refused("of"):
        fit.plot.influence("temp")


def test_reliability_in_panels(anes):
    panels = anes.plot.reliability()
    data = anes.plot.reliability(draw=False)
    # P(y <= level) has the name of the level; the highest level has no panel
    for panel, level in zip(panels, anes.levels[:-1], strict=True):
        assert panel.get_title(loc="left").replace("\n", " ") == f"≤ {level}"
    for panel, (_, part) in zip(
        panels, data.groupby("split", observed=True), strict=True
    ):
        np.testing.assert_allclose(panel.lines[-1].get_ydata(), part["observed"])
    assert anes.plot.reliability(pyplot.subplots()[1]).get_legend() is not None
    housing = ordfit("Sat ~ Infl", datasets.load("housing"), weights="Freq")
    assert housing.plot.reliability(pyplot.subplots(1, 2)[1]).size == 2


@pytest.mark.parametrize("K", [2, 5, 10])
def test_every_level_shows_on_white_and_on_black(K):
    """Contrast of lines of at least 3 : 1 [WCAG 2.1, 1.4.11], by relative luminance."""
    for theme, ground in (("default", 1.0), ("dark_background", 0.0)):
        with pyplot.style.context(theme):
            colours = np.array(style.level_colours(K))[:, :3]
        linear = np.where(
            colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4
        )
        light = (
            np.column_stack([linear @ [0.2126, 0.7152, 0.0722], np.full(K, ground)])
            + 0.05
        )
        assert (light.max(axis=1) / light.min(axis=1) >= 3.0).all()


def words_of(ax):
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("exponentiate", [False, True])
@pytest.mark.parametrize(("level", "marker"), [(3, ">"), (1, "<")])
def test_infinite_estimates_are_arrows(level, marker, exponentiate):
    """No dot at 0 on an axis of logarithms, and no row left out."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"x": rng.normal(size=200), "g": rng.choice(list("abc"), 200)})
    data["y"] = np.digitize(data["x"] + rng.logistic(size=200), [-1.0, 1.0]) + 1
    data.loc[data["g"] == "c", "y"] = level
    with pytest.warns(SeparationWarning):
        fit = ordfit("y ~ x + g", data)
    alone = fit.plot.forest(exponentiate=exponentiate)
    two = fit.plot.forest(
        others={"x": ordfit("y ~ x", data)}, exponentiate=exponentiate
    )
    for ax in (alone, two):
        (arrow,) = [line for line in ax.lines if line.get_marker() == marker]
        assert arrow.get_xdata()[0] == pytest.approx(ax.get_xlim()[marker == ">"])
        assert words_of(ax).count("not estimable") == 1
    assert [label.get_text() for label in alone.get_yticklabels()] == [
        "x",
        "g: b",
        "g: c",
    ]
    assert len(dots(alone).get_xdata()) == 2


def test_numbers_of_a_picture_have_the_same_decimals():
    anes = ANES.assign(
        party=pd.cut(ANES["selfLR"], [0, 3, 4, 7], labels=["left", "middle", "right"])
    )
    words = words_of(ordfit("PID ~ age + party", anes).plot.forest())
    decimals = {
        len(number.partition(".")[2])
        for text in words
        for number in re.findall(r"\d+\.\d+", text)
    }
    assert len(words) == 3 and len(decimals) == 1


@pytest.mark.parametrize("exponentiate", [False, True])
@pytest.mark.parametrize("term", ["twice", "flat"])
def test_aliased_effects_are_listed(exponentiate, term):
    data = ranked(np.random.default_rng(6), 150, [-1.0, 1.0])
    data = data.assign(twice=2.0 * data["x"], flat=0.0)
    with pytest.warns(DataWarning, match="not estimated"):
        fit = ordfit(f"y ~ x + {term}", data)
    alone = fit.plot.forest(exponentiate=exponentiate)
    two = fit.plot.forest(
        others={"x": ordfit("y ~ x", data)}, exponentiate=exponentiate
    )
    for ax in (alone, two):
        assert [label.get_text() for label in ax.get_yticklabels()] == ["x", term]
        assert words_of(ax).count("not estimated") == 1
    assert len(dots(alone).get_xdata()) == 1
