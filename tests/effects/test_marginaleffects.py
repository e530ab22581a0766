"""The adapter for the marginaleffects package, where that is installed."""

from __future__ import annotations

import numpy as np
import pytest
from reference_cases import load_data

from ordstat import ordfit
from ordstat.exceptions import OptionError

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
