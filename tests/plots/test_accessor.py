"""`fit.plot` lists what a fit can draw, and nothing else."""

import re

import numpy as np
import pandas as pd
import pytest
from expected import refused

from ordstat import DataError, OptionError, datasets, ordfit, pool

WINE = datasets.load("wine")
BANDS = datasets.quadratic_bands(80, seed=1)
VARIABLES = {name: ["x1"] for name in ("dependence", "effects", "emmeans", "stacked")}
BANDS["half"] = np.arange(len(BANDS)) % 2
OPTIONS = {"subgroups": {"subgroups": "half", "variable": "x1", "levels": [0, 1]}}
ALWAYS = {"confusion", "importance"}
THRESHOLDS = {"latent", "margins"}
LIKELIHOOD = {"effects", "emmeans", "forest", "influence", "parallel", "profiles"}
LIKELIHOOD |= {"reliability", "residuals", "stacked", "subgroups"}


@pytest.mark.parametrize(
    ("method", "options", "names"),
    [
        ("clm", {}, {*THRESHOLDS, *LIKELIHOOD}),
        ("acat", {}, LIKELIHOOD - {"parallel"}),
        ("cratio", {"direction": "backward"}, LIKELIHOOD - {"parallel"}),
        ("redsvm", {"C": "cv", "kernel": "linear"}, {*THRESHOLDS, "dependence"}),
        ("orboost-all", {"rounds": 5}, {*THRESHOLDS, "dependence", "rounds"}),
        (
            "ordboost",
            {"rounds": 5, "depth": 2},
            {*THRESHOLDS, "dependence", "rounds", "reliability"},
        ),
        ("kernel-clm", {}, {*THRESHOLDS, "dependence", "reliability"}),
        ("bagging", {"rounds": 5}, {"dependence", "reliability", "rounds", "tree"}),
        ("csova", {}, {"dependence"}),
    ],
)
def test_every_plot_that_is_listed_can_be_drawn(method, options, names):
    plot = ordfit("rank ~ x1 + x2", BANDS, method, **options).plot
    assert set(plot.names) == {*ALWAYS, *names}
    assert repr(plot) == f"plots: {', '.join(plot.names)}"
    for name in plot.names:
        given = VARIABLES.get(name, [])
        frame = getattr(plot, name)(*given, **OPTIONS.get(name, {}), draw=False)
        assert isinstance(frame, pd.DataFrame)
    for name in {"latent", "margins", "reliability"} - set(plot.names):
        with pytest.raises((OptionError, DataError)):
            getattr(plot, name)(draw=False)


@pytest.mark.parametrize(
    ("method", "name", "message"),
    [
        (
            "clm",
            "interaction",
            r"Use plot.effects\(variable, by=...\)\. Choose from confusion",
        ),
        ("clm", "coefficients", r"Use plot.forest\(others="),
        ("clm", "dependence", r"Use plot.effects\(variable\)"),
        ("redsvm", "effects", r"Use plot.dependence\(variable\)"),
        ("redsvm", "boundaries", "Use sklearn.inspection.DecisionBoundaryDisplay"),
        ("ordboost", "shapley", r"Use fit.shapley\(\).abs\(\)"),
        ("redsvm", "confusoin", "Did you mean 'confusion'"),
    ],
)
def test_another_name_is_answered_by_what_to_use(method, name, message):
    plot = ordfit("rating ~ temp", WINE, method).plot
    with pytest.raises(AttributeError, match=message):
        getattr(plot, name)


def test_thresholds_alone_have_no_effects():
    assert not {"effects", "parallel", "stacked"} & set(
        dir(ordfit("rating ~ 1", WINE).plot)
    )


@pytest.mark.parametrize(
    ("formula", "options", "missing"),
    [
        ("rating ~ temp", {"vcov": "HC0"}, {"profiles"}),
        ("rating ~ temp", {"cluster": "judge"}, {"profiles"}),
        ("rating ~ 1", {}, {"forest", "emmeans", "importance"}),
    ],
)
def test_pictures_that_a_fit_has_no_numbers_for_are_not_listed(
    formula, options, missing
):
    plot = ordfit(formula, WINE, **options).plot
    assert {*ordfit("rating ~ temp", WINE).plot.names} - {*plot.names} >= missing
    for name in missing & {"profiles", "forest"}:
        with pytest.raises((OptionError, DataError)):
            getattr(plot, name)()


@pytest.fixture(scope="module")
def data():
    r = np.random.default_rng(0)
    names = (
        "level",
        "row",
        "estimate",
        "lower",
        "cumulative",
        "residual",
        "score",
        "a",
    )
    numbers = {name: r.normal(size=90) for name in names}
    frame = pd.DataFrame({**numbers, "f": pd.Categorical(r.choice(["u", "v"], 90))})
    return frame.assign(
        y=pd.cut(frame["level"] + r.logistic(size=90), 3, labels=[1, 2, 3])
    )


@pytest.fixture(scope="module")
def fit(data):
    return ordfit(
        "y ~ level + row + estimate + lower + cumulative + residual + score + a + f",
        data,
    )


@pytest.mark.parametrize(
    ("name", "given", "options"),
    [
        ("effects", ("level",), {}),
        ("stacked", ("cumulative",), {}),
        ("effects", ("a",), {"by": "level"}),
        ("residuals", ("residual",), {}),
        ("residuals", ("score",), {}),
    ],
)
def test_names_that_are_taken(fit, name, given, options):
    for draw in (True, False):
        with pytest.raises(OptionError, match="rename"):
            getattr(fit.plot, name)(*given, **options, draw=draw)


def test_names_of_partial_dependence(data):
    fit = ordfit("y ~ level + row + estimate + f", data, "redsvm", kernel="linear")
    assert list(fit.plot.dependence("level", draw=False)) == ["level", "estimate"]
    assert list(fit.plot.dependence("row", draw=False)) == ["row", "estimate"]
    with pytest.raises(OptionError, match="rename"):
        fit.plot.dependence("estimate")
    with refused("values"):
        fit.plot.dependence("row", values=[])


def test_a_report_leaves_such_a_picture_out(data, tmp_path):
    text = ordfit("y ~ level + f", data).report(tmp_path / "a.html").read_text("utf-8")
    assert "No picture" in text and "rename" in text


ODD = {
    "title": (lambda plot: plot.latent(title=3), "title must be a text; got 3"),
    "title of several": (
        lambda plot: plot.stacked("temp", title=["a"]),
        "title must be a text; got ['a']",
    ),
    "labels": (
        lambda plot: plot.forest(labels=["Temperature"]),
        "labels must be a mapping such as",
    ),
    "draw": (
        lambda plot: plot.latent(draw="no"),
        "draw must be True or False; got 'no'",
    ),
    "facets": (
        lambda plot: plot.effects("temp", facets="no"),
        "facets must be True or False; got 'no'",
    ),
    "against": (
        lambda plot: plot.residuals(against=["temp"]),
        "against must be a text; got ['temp']",
    ),
    "seed": (
        lambda plot: plot.importance(seed=np.ones(2)),
        "seed must be a whole number, 0 or more",
    ),
    "values": (
        lambda plot: plot.dependence("temp", values=3),
        "values must be a list of values of 'temp'; got 3",
    ),
    "data": (
        lambda plot: plot.dependence("temp", data={}),
        "data must have the column",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_options_are_refused_by_name(name):
    call, message = ODD[name]
    method = "redsvm" if name in ("values", "data") else "logit"
    with pytest.raises((OptionError, DataError), match=re.escape(message)):
        call(ordfit("rating ~ temp + contact", WINE, method).plot)


def test_parameters_of_a_generator_have_profiles():
    plot = ordfit("rating ~ temp + contact", WINE).plot
    names = ["temp[T.warm]", "contact[T.yes]"]
    for given in (names, (name for name in names)):
        axes = plot.profiles(given, points=3)
        assert [ax.get_title(loc="left") for ax in axes] == [
            "temp: warm",
            "contact: yes",
        ]


@pytest.mark.parametrize(
    ("method", "formula", "first"),
    [
        ("clm", "rank ~ x1 + x2", "forest"),
        ("clm", "rank ~ 1", "latent"),
        ("redsvm", "rank ~ x1 + x2", "latent"),
        ("csovo", "rank ~ x1 + x2", "confusion"),
        ("cart", "rank ~ x1 + x2", "tree"),
        ("ordboost", "rank ~ x1 + x2", "importance"),
    ],
)
def test_without_a_name_the_usual_picture_is_drawn(method, formula, first):
    plot = ordfit(formula, BANDS, method).plot
    frame = plot(draw=False)
    pd.testing.assert_frame_equal(frame, getattr(plot, first)(draw=False))


def test_other_pictures_are_named_below_a_new_figure_only():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    plot = ordfit("rank ~ x1 + x2", BANDS).plot
    words = plot(exponentiate=True).figure.get_supxlabel()
    assert words.startswith("fit.plot.forest(); also confusion, effects")
    assert not plot.forest().figure.get_supxlabel()
    figure, ax = pyplot.subplots()
    plot(ax)
    assert not figure.get_supxlabel()
    pyplot.close("all")


def test_pooled_fits_draw_their_coefficients():
    noisy = BANDS.assign(x1=BANDS["x1"] + 0.1 * np.sin(np.arange(len(BANDS))))
    fits = [ordfit("rank ~ x1 + x2", frame) for frame in (BANDS, noisy)]
    pooled = pool(fits)
    pd.testing.assert_frame_equal(
        pooled.plot(draw=False), pooled.plot.forest(draw=False)
    )
