"""Marginal means over one variable, in panels and lines by another: against emmeans and
against algebra.
"""

import numpy as np
import pandas as pd
import pytest
from expected import aliased, no_option, refused

from ordstat import OptionError, datasets, ordfit

WINE = datasets.load("wine")
ANES = datasets.load("anes96")


@pytest.fixture(scope="module")
def fit():
    return ordfit("rating ~ temp * contact", WINE)


def test_effects_by_another_variable(fit):
    table = fit.plot.effects("temp", by="contact", draw=False)
    for (contact, temp), part in table.groupby(["contact", "temp"], sort=False):
        expected = fit.predict(
            WINE[(WINE["contact"] == contact) & (WINE["temp"] == temp)], type="prob"
        ).iloc[0]
        np.testing.assert_allclose(part["estimate"], expected, rtol=1e-9)
    means = fit.emmeans("~ temp | contact", scale="prob").frame.set_index(
        ["contact", "temp", "level"]
    )
    actual = table.set_index(["contact", "temp", "level"])
    columns = ["estimate", "std_error", "lower", "upper"]
    np.testing.assert_allclose(
        actual[columns], means.loc[actual.index, columns], rtol=1e-10
    )
    panels = fit.plot.effects("temp", by="contact")
    assert [panel.get_title(loc="left") for panel in panels] == [
        "contact = no",
        "contact = yes",
    ]
    line = panels[1].get_lines()[2]
    np.testing.assert_allclose(
        line.get_ydata(), actual.xs(("yes", 3), level=("contact", "level"))["estimate"]
    )


def test_a_panel_for_each_level(fit):
    panels = fit.plot.effects("temp", by="contact", facets=True)
    assert [panel.get_title(loc="left") for panel in panels] == [
        "1",
        "2",
        "3",
        "4",
        "5",
    ]
    table = fit.plot.effects("temp", by="contact", draw=False)
    for panel, level in zip(panels, fit.levels, strict=True):
        mine = table[table["level"] == level]
        drawn = np.concatenate([line.get_ydata() for line in panel.lines])
        np.testing.assert_allclose(drawn, mine["estimate"])
        assert len({line.get_marker() for line in panel.lines}) == 2
    key = panels[0].figure.legends[0]
    assert [text.get_text() for text in key.get_texts()] == [
        "contact = yes",
        "contact = no",
    ]
    assert fit.plot.effects("temp", facets=True).size == 5


def test_lines_of_means_are_parallel_without_an_interaction(fit):
    plain = fit.update("~ . - temp:contact")
    for model, interacts in ((plain, False), (fit, True)):
        wide = model.plot.emmeans("temp", by="contact", draw=False).pivot(
            index="temp", columns="contact", values="estimate"
        )
        slopes = np.diff(wide.to_numpy(), axis=0).ravel()
        assert (abs(slopes[0] - slopes[1]) > 0.1) == interacts
    np.testing.assert_allclose(slopes[1] - slopes[0], fit.coef.iloc[-1])
    ax = fit.plot.emmeans("temp", by="contact")
    assert len({(line.get_marker(), line.get_linestyle()) for line in ax.lines}) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["no", "yes"]
    assert "latent score of rating" in ax.get_ylabel().replace("\n", " ")


def test_means_on_other_scales(fit):
    table = fit.plot.emmeans(
        "temp", scale="mean_class", at={"contact": "no"}, draw=False
    )
    p = fit.predict(
        WINE.drop_duplicates(["temp", "contact"]).query("contact == 'no'"), type="prob"
    ).to_numpy()
    np.testing.assert_allclose(table["estimate"], p @ np.arange(1, 6))
    with refused("scale"):
        fit.plot.emmeans("temp", scale="prob")
    with no_option("by_values", "Use at="):
        fit.plot.emmeans("temp", by_values=["no"])


def test_a_number_has_a_line_at_quartiles_of_another():
    fit = ordfit("PID ~ age + income + educ", ANES)
    table = fit.plot.emmeans("age", by="income", draw=False)
    assert (
        table["income"].unique().tolist()
        == np.quantile(ANES["income"], [0.25, 0.5, 0.75]).tolist()
    )
    steps = table.groupby("income")["estimate"].agg(
        lambda own: own.iloc[-1] - own.iloc[0]
    )
    np.testing.assert_allclose(
        steps, fit.coef["age"] * (ANES["age"].max() - ANES["age"].min())
    )
    assert len(fit.plot.emmeans("age", by="income").lines) == 3
    chosen = fit.plot.emmeans(
        "age", by="income", at={"age": [30, 60], "income": 5}, draw=False
    )
    assert chosen[["age", "income"]].to_numpy().tolist() == [[30, 5], [60, 5]]


def test_neighbouring_levels_have_no_latent_variable():
    """The log odds of two neighbours are H - theta_k: their mean over k is H - mean
    threshold.
    """
    fit = ordfit("rating ~ temp", WINE, "acat")
    ax = fit.plot.emmeans("temp")
    words = ax.get_ylabel().replace("\n", " ")
    assert (
        "log odds of the higher of two neighbouring levels" in words
        and "latent" not in words
    )
    p = fit.predict(WINE.drop_duplicates("temp"), type="prob").to_numpy()
    by_hand = np.log(p[:, 1:] / p[:, :-1]).mean(axis=1)
    np.testing.assert_allclose(
        fit.plot.emmeans("temp", draw=False)["estimate"], by_hand, rtol=1e-9
    )


def test_refusals(fit):
    with refused("by"):
        fit.plot.effects("temp", by="temp")
    with pytest.raises(
        OptionError, match="'judge' is not a variable of the formula: 'temp', 'contact'"
    ):
        fit.plot.effects("temp", by="judge")


def test_means_by_a_formula_and_of_a_nested_factor() -> None:
    wine = datasets.load("wine")
    fit = ordfit("rating ~ temp * contact", wine)
    by_formula = fit.plot.emmeans("~ temp | contact", draw=False)
    pd.testing.assert_frame_equal(
        by_formula, fit.plot.emmeans("temp", by="contact", draw=False)
    )
    for text in ("~ temp * contact", "pairwise ~ temp", "~ temp | contact | judge"):
        with pytest.raises(OptionError, match=r"as in '~ a \| b'"):
            fit.plot.emmeans(text, draw=False)
    with aliased():
        nested = ordfit(
            "rating ~ temp + bottle", wine.assign(bottle=wine["bottle"].astype(str))
        )
    frame = nested.plot.emmeans("bottle", draw=False)
    alone = ordfit("rating ~ bottle", wine.assign(bottle=wine["bottle"].astype(str)))
    expected = alone.plot.emmeans("bottle", draw=False).set_index("bottle")
    actual = frame.set_index("bottle").loc[expected.index]
    pd.testing.assert_frame_equal(actual, expected, rtol=1e-5)


def test_coefficients_of_a_term() -> None:
    wine = datasets.load("wine")
    fit = ordfit("rating ~ temp + contact + C(judge)", wine)
    every = fit.plot.forest(draw=False)
    by_term = fit.plot.forest(columns=["C(judge)", "temp"], draw=False)
    expected = [*(name for name in every["term"] if "judge" in name), "temp[T.warm]"]
    assert by_term["term"].tolist() == expected


@pytest.mark.parametrize("height", [2.5, 5.0])
def test_every_share_with_room_has_its_number(height):
    """A taller picture has room for smaller shares; no number leaves its bar."""
    import matplotlib.pyplot as plt

    fit = ordfit("rating ~ religious + educ", datasets.load("marriage"))
    figure, ax = plt.subplots(figsize=(7, height), layout="constrained")
    table = fit.plot.stacked("religious", ax=ax)
    figure.canvas.draw()
    shares = [
        patch.get_height()
        for patch in table.patches
        if patch.get_width() == pytest.approx(0.8)
    ]
    numbers = [text for text in ax.texts if text.get_text().startswith("0.")]
    tall = ax.get_window_extent().height
    high = max(text.get_window_extent().height for text in numbers) / tall
    written = {text.get_text() for text in numbers}
    assert {f"{share:.2f}" for share in shares if share > 1.5 * high} <= written
    assert min(float(text) for text in written) > 0.6 * high
