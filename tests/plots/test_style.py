"""Pictures: artists at the numbers, labels inside the figure without overlap, no global
changes.
"""

import sys

import numpy as np
import pandas as pd
import pytest
from expected import refused
from matplotlib import pyplot
from matplotlib.colors import same_color
from matplotlib.patches import StepPatch

from ordstat import DataError, OptionError, datasets, ordfit
from ordstat.exceptions import UnavailableError
from ordstat.plots import style
from plots.test_accessor_every_picture import _words

pytestmark = pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")

VARIABLES = {
    "wine": "temp",
    "parts": "contact",
    "anes": "income",
    "housing": "Type",
    "two": "x",
    "twelve": "group",
}
LIKELIHOOD = ("forest", "effects", "stacked", "parallel", "profiles", "reliability")
EVERY = ("latent", "margins", "confusion")
CASES = [(name, plot) for name in VARIABLES for plot in EVERY + LIKELIHOOD] + [
    ("margin", plot) for plot in EVERY
]
#: The most levels and the longest names, votes of neighbours, and thresholds that
#: differ by row.
WORDS = [case for case in CASES if case[0] in ("twelve", "margin", "parts")]


def draw(fit, name, plot, ax=None):
    if plot in ("effects", "stacked"):
        return getattr(fit.plot, plot)(VARIABLES[name], ax)
    if plot == "profiles":
        return fit.plot.profiles(fit.params.index[0], ax)[0]
    return getattr(fit.plot, plot)(ax)


@pytest.mark.parametrize(("name", "plot"), WORDS)
def test_every_word_is_inside_the_figure(fits, name, plot):
    figure = np.ravel(np.asarray(draw(fits[name], name, plot), dtype=object))[
        0
    ].get_figure()
    figure.draw_without_rendering()
    whole = figure.bbox
    boxes = [
        word.get_window_extent()
        for word in _words(figure)
        if word.get_visible() and word.get_text()
    ]
    for box in boxes:
        assert box.x0 >= whole.x0 - 1 and box.x1 <= whole.x1 + 1, plot
        assert box.y0 >= whole.y0 - 1 and box.y1 <= whole.y1 + 1, plot
    assert any(ax.get_xlabel() for ax in figure.axes)


@pytest.mark.parametrize(
    ("name", "plot"), [(n, p) for n, p in CASES if n in ("wine", "margin")]
)
def test_axes_given_are_used(fits, name, plot):
    figure, ax = pyplot.subplots(layout="constrained")
    size = figure.get_size_inches().tolist()
    open_figures = pyplot.get_fignums()
    assert draw(fits[name], name, plot, ax) is ax
    assert pyplot.get_fignums() == open_figures
    assert figure.get_size_inches().tolist() == size
    assert figure.axes == [ax]


@pytest.mark.parametrize("name", ["wine", "margin", "two", "twelve"])
def test_latent_has_a_line_at_every_threshold(fits, name):
    fit = fits[name]
    ax = fit.plot.latent(bins=10)
    K = len(fit.levels)
    lines = [
        line.get_xdata()
        for line in ax.lines
        if line.get_xdata()[0] == line.get_xdata()[1]
    ]
    np.testing.assert_allclose([x[0] for x in lines], fit.thresholds, rtol=1e-9)
    histograms = [
        patch.get_data() for patch in ax.patches if isinstance(patch, StepPatch)
    ]
    data = fit.plot.latent(bins=10, draw=False)
    assert len(histograms) == K
    for place, (histogram, (_, mine)) in enumerate(
        zip(histograms, data.groupby("level", sort=False), strict=True)
    ):
        heights = histogram.values - place
        np.testing.assert_allclose(
            heights * data["share"].max(), 0.85 * mine["share"], atol=1e-12
        )
    error = ["random error"] * (name != "margin")
    labels = [t.get_text() for t in ax.get_yticklabels()]
    assert labels == [*map(str, fit.levels), *error]


def test_latent_shows_the_range_of_nominal_thresholds(fits):
    fit = fits["parts"]
    ax = fit.plot.latent()
    flat = [line.get_xdata() for line in ax.lines if line.get_marker() == "|"]
    moved = fit.thresholds.to_numpy() + fit.coef.to_numpy()[:4]
    expected = np.sort(np.column_stack([fit.thresholds.to_numpy(), moved]), axis=1)
    np.testing.assert_allclose(flat, expected, rtol=1e-9)


def test_margins_are_coloured_by_side_of_zero(fits):
    ax = fits["wine"].plot.margins(delta=0.2)
    for bar in ax.patches:
        wanted = (
            style.RIGHT if bar.get_x() + bar.get_width() / 2.0 > 0.0 else style.WRONG
        )
        assert same_color(bar.get_facecolor(), wanted)
    share = fits["wine"].margins([0.2])["classification"].iloc[0]
    assert f"{share:.0%}" in ax.get_title(loc="left")


def test_confusion_numbers_and_shades(fits):
    fit = fits["margin"]
    ax = fit.plot.confusion()
    cells = fit.confusion().to_numpy()
    texts = {tuple(reversed(t.get_position())): t.get_text() for t in ax.texts}
    assert texts == {
        (i, j): str(cells[i, j]) for i, j in zip(*np.nonzero(cells), strict=True)
    }
    image = ax.images[0].get_array()
    diagonal = image[2, 2]
    assert diagonal[2] > diagonal[0]  # blue where right
    wrong = [image[i, j] for i, j in zip(*np.nonzero(cells), strict=True) if i != j]
    assert all(colour[0] > colour[2] for colour in wrong)


@pytest.mark.parametrize(("name", "lines"), [("anes", 7), ("two", 2)])
def test_effects_of_a_number_are_lines_with_bands(fits, name, lines):
    ax = fits[name].plot.effects(VARIABLES[name])
    assert len(ax.lines) == lines
    assert len(ax.collections) == lines
    data = fits[name].plot.effects(VARIABLES[name], draw=False)
    np.testing.assert_allclose(
        ax.lines[0].get_ydata(), data["estimate"][:: len(fits[name].levels)]
    )
    assert len(ax.get_legend().get_texts()) == lines


def test_profiles_take_one_axes_each(fits):
    fit = fits["wine"]
    panels = fit.plot.profiles(["temp", "1|2"])
    assert panels.shape == (2,)
    limits = fit.confint(type="profile", parm=["temp", "1|2"])
    for panel, (name, ends) in zip(panels, limits.iterrows(), strict=True):
        assert panel.get_title(loc="left") == {"temp[T.warm]": "temp: warm"}.get(
            name, name
        )
        marks = [
            line.get_xdata()[0] for line in panel.lines if line.get_marker() == "o"
        ]
        np.testing.assert_allclose(marks, ends)
    with pytest.raises(OptionError, match="needs 6 axes; got 1"):
        fit.plot.profiles(ax=panels[0])


def test_a_separated_fit_can_be_drawn():
    frame = pd.DataFrame(
        {"y": [1, 1, 1, 2, 2, 2, 3, 3, 3, 2], "x": [0.0, 0, 0, 1, 1, 1, 2, 2, 2, 1]}
    )
    fit = ordfit("y ~ x", data=frame)
    ax = fit.plot.forest()
    assert "not estimable" in [text.get_text() for text in ax.texts]
    for plot in ("confusion", "parallel"):
        getattr(fit.plot, plot)().get_figure().canvas.draw()
    with pytest.raises(DataError, match="score of every row is infinite"):
        fit.plot.latent()
    with pytest.raises(UnavailableError):
        fit.plot.margins()


def test_without_matplotlib_the_error_says_what_to_install(fits, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for plot in EVERY + LIKELIHOOD:
        with pytest.raises(ImportError, match="pip install matplotlib"):
            draw(fits["wine"], "wine", plot)
    assert len(fits["wine"].plot.latent(draw=False)) == 5 * 40


def test_what_there_is_not_is_said(fits):
    with refused("bins"):
        fits["wine"].plot.latent(bins=0)
    with pytest.raises(OptionError, match="'temp', 'contact'"):
        fits["wine"].plot.effects("age")
    votes = ordfit(
        "rating ~ temp + contact", data=datasets.load("wine"), method="csovo"
    )
    for plot in ("latent", "margins"):
        with pytest.raises(OptionError, match="no thresholds"):
            getattr(votes.plot, plot)()
    assert votes.plot.confusion().images


@pytest.mark.parametrize("plot", ["rounds", "dependence"])
def test_rows_in_the_place_of_axes_are_answered_by_their_name(plot):
    wine = datasets.load("wine")
    fit = ordfit("rating ~ temp + contact", wine, "ordboost", rounds=3, depth=1)
    first = ["temp"] if plot == "dependence" else []
    for wrong, kind in ((wine, "DataFrame"), ([1, 2], "list")):
        with pytest.raises(
            OptionError, match=rf"ax must be matplotlib axes; got a {kind}. .* newdata="
        ):
            getattr(fit.plot, plot)(*first, wrong)
