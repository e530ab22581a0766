"""`fit.plot` lists what a fit can draw, and nothing else."""

import pandas as pd
import pytest

from ordstat import DataError, OptionError, datasets, ordfit

WINE, BANDS = datasets.load("wine"), datasets.quadratic_bands(80, seed=1)
OTHER = ordfit("rank ~ x1", BANDS)
VARIABLES = {
    "coefficients": [{"x1 alone": OTHER}],
    "boundaries": ["x1", "x2"],
    **{name: ["x1"] for name in ("dependence", "effects", "emmeans", "stacked")},
}
ALWAYS = {"boundaries", "confusion", "importance"}
THRESHOLDS = {"latent", "margins"}
LIKELIHOOD = {"coefficients", "effects", "emmeans", "forest", "influence", "parallel", "profiles"}
LIKELIHOOD |= {"reliability", "residuals", "stacked"}


@pytest.mark.parametrize(
    ("method", "options", "names"),
    [
        ("clm", {}, {*THRESHOLDS, *LIKELIHOOD}),
        ("acat", {}, LIKELIHOOD - {"parallel"}),
        ("redsvm", {"C": "cv", "kernel": "linear"}, {*THRESHOLDS, "dependence"}),
        ("redsvm", {"calibrate": True}, {*THRESHOLDS, "dependence", "reliability"}),
        ("orboost-all", {"rounds": 5}, {*THRESHOLDS, "dependence", "rounds"}),
        ("ordboost", {"rounds": 5, "depth": 2}, {*THRESHOLDS, "dependence", "rounds", "reliability", "shapley"}),
        ("kernel-clm", {}, {*THRESHOLDS, "dependence", "reliability"}),
        ("rps-forest", {"trees": 5}, {*THRESHOLDS, "dependence", "reliability"}),
        ("bagging", {"rounds": 5}, {"dependence", "reliability", "rounds", "tree"}),
        ("csova", {}, {"dependence"}),
    ],
)
def test_every_plot_that_is_listed_can_be_drawn(method, options, names):
    plot = ordfit("rank ~ x1 + x2", BANDS, method, **options).plot
    assert set(plot.names) == {*ALWAYS, *names}
    assert repr(plot) == f"plots: {', '.join(plot.names)}"
    for name in plot.names:
        assert isinstance(getattr(plot, name)(*VARIABLES.get(name, []), draw=False), pd.DataFrame)
    for name in {"latent", "margins", "reliability"} - set(plot.names):
        with pytest.raises((OptionError, DataError)):
            getattr(plot, name)(draw=False)


@pytest.mark.parametrize(
    ("method", "name", "message"),
    [
        ("clm", "interaction", r"Use plot.effects\(variable, by=...\)\. There are coefficients"),
        ("clm", "dependence", r"Use plot.effects\(variable\)"),
        ("redsvm", "effects", r"Use plot.dependence\(variable\)"),
        ("redsvm", "ale", r"Use plot.dependence\(variable\)"),
        ("redsvm", "bounds", r"Use plot.margins\(\)"),
        ("redsvm", "latent_data", r"Use plot.latent\(..., draw=False\)"),
        ("redsvm", "confusoin", "Did you mean 'confusion'"),
    ],
)
def test_another_name_is_answered_by_what_to_use(method, name, message):
    plot = ordfit("rating ~ temp", WINE, method).plot
    with pytest.raises(AttributeError, match=message):
        getattr(plot, name)


def test_factors_have_no_boundaries_and_thresholds_alone_no_effects():
    assert "boundaries" not in dir(ordfit("rating ~ temp + contact", WINE).plot)
    assert not {"effects", "parallel", "stacked"} & set(dir(ordfit("rating ~ 1", WINE).plot))


@pytest.mark.parametrize(
    ("formula", "options", "missing"),
    [
        ("rating ~ temp", {"vcov": "HC0"}, {"profiles"}),
        ("rating ~ temp", {"cluster": "judge"}, {"profiles"}),
        ("rating ~ 1", {}, {"forest", "coefficients", "emmeans", "importance"}),
    ],
)
def test_pictures_that_a_fit_has_no_numbers_for_are_not_listed(formula, options, missing):
    plot = ordfit(formula, WINE, **options).plot
    assert {*ordfit("rating ~ temp", WINE).plot.names} - {*plot.names} >= missing
    for name in missing & {"profiles", "forest"}:
        with pytest.raises((OptionError, DataError)):
            getattr(plot, name)()
