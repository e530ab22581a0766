"""The adapter for the marginaleffects package, where that is installed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from reference_cases import load_data

from ordstat import ordfit
from ordstat.exceptions import OptionError, UnavailableError

marginaleffects = pytest.importorskip("marginaleffects")

#: The package's own finite differences: of predictions, and of those by the parameters.
SLOPE, ERROR = 1e-4, 1e-3
STEP = 1e-4


def by_group(table) -> np.ndarray:
    """(M, 2) estimates and errors, sorted by group: the package returns groups in any order."""
    frame = table.data if hasattr(table, "data") else table
    return frame.sort("group").select("estimate", "std_error").to_numpy()


@pytest.fixture(scope="module")
def sim():
    return ordfit("y ~ x1 * f + ns(age, df=3)", data=load_data("sim500"), weights="w", scale="~ x2", nominal="~ x3")


@pytest.fixture(scope="module")
def model(sim):
    from ordstat.marginaleffects import MarginalEffectsModel

    return MarginalEffectsModel(sim)


def test_slopes_and_contrasts(sim, model) -> None:
    for name in ("x1", "age", "x3"):
        found = by_group(marginaleffects.avg_slopes(model, variables=name, wts="w", eps_vcov=STEP))
        expected = sim.effects(name)[["estimate", "std_error"]].to_numpy()
        np.testing.assert_allclose(found[:, 0], expected[:, 0], rtol=SLOPE, atol=1e-7)
        np.testing.assert_allclose(found[:, 1], expected[:, 1], rtol=ERROR)
    found = marginaleffects.avg_comparisons(model, variables="f", wts="w", eps_vcov=STEP).data
    for contrast, expected in sim.effects("f").groupby("contrast"):
        ours = expected[["estimate", "std_error"]].to_numpy()
        np.testing.assert_allclose(by_group(found.filter(found["contrast"] == contrast)), ours, rtol=ERROR, atol=1e-9)


def test_survey_fits_are_tested_by_t() -> None:
    from ordstat import SurveyDesign, datasets
    from ordstat.marginaleffects import MarginalEffectsModel

    wine = datasets.load("wine").assign(w=lambda d: 1.0 + d["judge"].astype(int) % 3)
    fit = ordfit("rating ~ temp + contact", wine, design=SurveyDesign(weights="w", clusters="judge"))
    model = MarginalEffectsModel(fit)
    assert model.df_resid == fit.design_df == 8.0
    found = marginaleffects.avg_comparisons(model, variables="temp", wts="w", eps_vcov=STEP).data.sort("group")
    expected = fit.effects("temp")
    np.testing.assert_allclose(found["p_value"], expected["p_value"], rtol=1e-2)
    np.testing.assert_allclose(found["conf_low"], expected["lower"], rtol=1e-2)


def test_predictions(sim, model) -> None:
    new = load_data("sim500").head(3)
    found = marginaleffects.predictions(model, newdata=new, eps_vcov=STEP).data.sort("rowid", "group")
    expected = sim.predict(new, type="prob", se=True)
    np.testing.assert_allclose(found["estimate"], expected["estimate"].to_numpy().reshape(-1), rtol=1e-12)
    np.testing.assert_allclose(found["std_error"], expected["std_error"].to_numpy().reshape(-1), rtol=ERROR)
    z = found["statistic"].to_numpy()
    from scipy.stats import norm

    np.testing.assert_allclose(found["p_value"], 2 * norm.sf(abs(z)), rtol=1e-6, atol=1e-15)


@pytest.mark.parametrize("type", ["mean", "score", "linear_predictor", "cum_prob"])
def test_other_types_and_covariances(sim, type: str) -> None:
    from ordstat.marginaleffects import MarginalEffectsModel

    model = MarginalEffectsModel(sim, type)
    new = load_data("sim500").head(2)
    table = marginaleffects.predictions(model, newdata=new, vcov="HC0", eps_vcov=STEP).data
    found = table.sort("rowid", "group") if "group" in table.columns else table.sort("rowid")
    expected = sim.predict(new, type=type, se=True, vcov="HC0")
    for name in ("estimate", "std_error"):
        np.testing.assert_allclose(found[name], expected[name].to_numpy().reshape(-1), rtol=ERROR, atol=1e-9)


def test_levels_that_are_numbers_and_equidistant_thresholds() -> None:
    from ordstat.marginaleffects import MarginalEffectsModel

    data = load_data("wine").assign(block=lambda d: (d["judge"].astype(int) % 3).astype("category"))
    fit = ordfit("rating ~ temp + block", data=data, threshold="equidistant")
    found = marginaleffects.avg_predictions(MarginalEffectsModel(fit), eps_vcov=STEP)
    np.testing.assert_allclose(by_group(found)[:, 0], fit.predict(type="prob").mean(), rtol=1e-10)


def test_unknown_type(sim) -> None:
    from ordstat.marginaleffects import MarginalEffectsModel

    with pytest.raises(OptionError, match="type must be one of 'prob'"):
        MarginalEffectsModel(sim, "class")


@pytest.mark.parametrize("arguments", [{}, {"vcov": "HC0"}])
def test_functions_take_the_fit_itself(sim, arguments) -> None:
    import ordstat.marginaleffects  # noqa: F401

    for name, ask in (("x1", marginaleffects.avg_slopes), ("f", marginaleffects.avg_comparisons)):
        table = ask(sim, variables=name, wts="w", eps_vcov=STEP, **arguments).data
        for contrast, expected in sim.marginal_effects(name, **arguments).frame.groupby("contrast"):
            rows = table.filter(table["contrast"] == contrast) if name == "f" else table
            ours = expected[["estimate", "std_error"]].to_numpy()
            np.testing.assert_allclose(by_group(rows), ours, rtol=ERROR, atol=1e-7)
    average = marginaleffects.avg_predictions(sim, by="f", wts="w", vcov=False).data
    assert set(average.columns) >= {"group", "f", "estimate"}
    grid = marginaleffects.datagrid(model=sim, f=["lo", "hi"])
    assert marginaleffects.predictions(sim, newdata=grid, vcov=False).data.height == 10


@pytest.mark.parametrize("size", [1, "sd", "iqr", "minmax", (0, 2)])
def test_changes_of_a_number(size) -> None:
    """The package centres steps; ours go up from the row's own number."""
    data = load_data("sim500")
    fit = ordfit("y ~ x1 + f", data)
    new = data.copy()
    deviation = data["x1"].std()
    if size in (1, "sd"):
        new["x1"] += (1 if size == 1 else deviation) / 2
    change = {"x1": float(deviation) if size == "sd" else list(size) if isinstance(size, tuple) else size}
    found = marginaleffects.avg_comparisons(fit, variables=change, newdata=new, eps_vcov=STEP)
    expected = fit.marginal_effects("x1", change=size).frame[["estimate", "std_error"]].to_numpy()
    np.testing.assert_allclose(by_group(found), expected, rtol=ERROR, atol=1e-9)


@pytest.mark.parametrize(
    "lines",
    [
        # The order of this file, in a fresh interpreter.
        pytest.param(
            "from marginaleffects import avg_predictions\nfrom ordstat import datasets, ordfit", marks=pytest.mark.slow
        ),
        "from ordstat import datasets, ordfit\nfrom marginaleffects import avg_predictions",
    ],
)
def test_imports_in_any_order(lines) -> None:
    code = f"""{lines}
fit = ordfit("rating ~ temp", datasets.load("wine"))
assert avg_predictions(fit, vcov=False).data.height == 5
try:
    avg_predictions(ordfit("rating ~ temp", datasets.load("wine"), "redsvm"), vcov=False)
except ValueError as error:
    assert "Unknown model type" in str(error)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_random_effects_are_refused() -> None:
    fit = ordfit("y ~ x1 + (1 | f)", data=load_data("sim500"))
    for ask in (marginaleffects.predictions, marginaleffects.hypotheses, marginaleffects.avg_slopes):
        with pytest.raises(UnavailableError, match="no fit with random effects"):
            ask(fit)
