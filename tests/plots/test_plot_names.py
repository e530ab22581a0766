"""`fit.plot` lists what a fit can draw, and nothing else."""

import pytest

from ordstat import DataError, OptionError, datasets, ordfit

WINE, BANDS = datasets.load("wine"), datasets.quadratic_bands(80, seed=1)
OTHER = ordfit("rank ~ x1", BANDS)
VARIABLES = {
    "coefficients": [{"x1 alone": OTHER}],
    "ale": ["x1"],
    "dependence": ["x1"],
    "effects": ["x1"],
    "emmeans": ["x1"],
    "stacked": ["x1"],
    "boundaries": ["x1", "x2"],
    "interaction": ["x1", "x2"],
}
ALWAYS = {"ale", "confusion", "dependence", "importance"}
THRESHOLDS = {"latent", "margins", "bounds"}
#: Of scores whose margins have no bound.
NO_NORM = {"latent", "margins"}
LIKELIHOOD = {
    "coefficients",
    "effects",
    "emmeans",
    "forest",
    "influence",
    "interaction",
    "parallel",
    "profiles",
    "reliability",
    "residuals",
    "stacked",
}


@pytest.mark.parametrize(
    ("method", "options", "names"),
    [
        ("clm", {}, {*THRESHOLDS, *LIKELIHOOD, "density", "boundaries"}),
        ("acat", {}, {*(LIKELIHOOD - {"parallel"}), "boundaries"}),
        ("redsvm", {"C": "cv", "kernel": "linear"}, {*THRESHOLDS, "selection", "boundaries"}),
        ("redsvm", {"calibrate": True}, {*THRESHOLDS, "reliability", "boundaries"}),
        ("orboost-all", {"rounds": 5}, {*THRESHOLDS, "rounds", "boundaries"}),
        ("ordboost", {"rounds": 5, "depth": 2}, {*NO_NORM, "rounds", "boundaries", "reliability", "shapley"}),
        ("kernel-clm", {}, {*NO_NORM, "boundaries", "reliability"}),
        ("rps-forest", {"trees": 5}, {*NO_NORM, "boundaries", "reliability"}),
        ("bagging", {"rounds": 5}, {"boundaries", "reliability", "rounds", "tree"}),
        ("csova", {}, {"boundaries"}),
    ],
)
def test_every_plot_that_is_listed_can_be_drawn(method, options, names):
    plot = ordfit("rank ~ x1 + x2", BANDS, method, **options).plot
    assert set(plot.names) == {*ALWAYS, *names}
    assert repr(plot) == f"plots: {', '.join(plot.names)}"
    for name in plot.names:
        getattr(plot, f"{name}_data")(*VARIABLES.get(name, []))
    unlisted = {name for name in vars(type(plot).__mro__[-2]) if f"{name}_data" in vars(type(plot).__mro__[-2])}
    for name in unlisted - set(plot.names):
        with pytest.raises((OptionError, DataError)):
            getattr(plot, f"{name}_data")(*VARIABLES.get(name, []))


def test_factors_have_no_boundaries_and_thresholds_alone_no_effects():
    assert "boundaries" not in dir(ordfit("rating ~ temp + contact", WINE).plot)
    assert not {"effects", "effects_data", "parallel", "stacked"} & set(dir(ordfit("rating ~ 1", WINE).plot))


@pytest.mark.parametrize(
    ("formula", "options", "missing"),
    [
        ("rating ~ temp", {"vcov": "HC0"}, {"profiles"}),
        ("rating ~ temp", {"cluster": "judge"}, {"profiles", "bounds"}),
        ("rating ~ 1", {}, {"forest", "coefficients", "emmeans", "importance"}),
    ],
)
def test_pictures_that_a_fit_has_no_numbers_for_are_not_listed(formula, options, missing):
    plot = ordfit(formula, WINE, **options).plot
    assert {*ordfit("rating ~ temp", WINE).plot.names} - {*plot.names} >= missing
    for name in missing & {"profiles", "bounds", "forest"}:
        with pytest.raises((OptionError, DataError)):
            getattr(plot, name)()


def test_a_tree_alone_has_no_rounds():
    assert "rounds" not in ordfit("rating ~ temp", WINE, "cart").plot.names
    assert "rounds" in ordfit("rating ~ temp", WINE, "bagging", rounds=3).plot.names
