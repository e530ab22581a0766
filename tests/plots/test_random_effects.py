"""The caterpillar plot: modes of lme4's order and R's clmm values, panels, labels."""

import numpy as np
import pandas as pd
import pytest

from ordstat import OptionError, datasets, ordfit


@pytest.fixture(scope="module")
def judges():
    return ordfit("rating ~ temp + contact + (1 | judge)", datasets.load("wine"))


@pytest.fixture(scope="module")
def crossed():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(size=500), "h": rng.integers(0, 120, 500)})
    g = rng.integers(0, 12, 500)
    latent = data["x"] * (1 + 0.6 * rng.normal(size=12)[g]) + rng.normal(size=12)[g] + rng.logistic(size=500)
    data = data.assign(g=[f"number {i:02d}" for i in g], y=np.digitize(latent, [-1.0, 1.0]))
    return ordfit("y ~ x + (1 + x | g) + (1 | h)", data)


def test_limits_of_modes(judges):
    """R: sort(ranef(clmm(rating ~ temp + contact + (1 | judge), wine))$judge[, 1]) [ordinal 2022.11-16]."""
    data = judges.plot.ranef(level=0.9, draw=False)
    assert data["level"].tolist() == [7, 2, 9, 8, 4, 5, 6, 3, 1]
    expected = [-1.91097324, -0.56578301, -0.55467569, -0.27294381, -0.05954987, 0.23051011]
    np.testing.assert_allclose(data["mode"], [*expected, 0.47703862, 0.96880824, 1.69617810], atol=2e-4)
    np.testing.assert_allclose((data["upper"] + data["lower"]) / 2.0, data["mode"])
    np.testing.assert_allclose(data["upper"] - data["lower"], 2.0 * 1.6448536269514722 * data["sd"])
    with pytest.raises(OptionError, match="level"):
        judges.plot.ranef(level=95, draw=False)


def test_a_panel_for_each_column(crossed):
    panels = crossed.plot.ranef()
    assert [panel.get_title(loc="left") for panel in panels] == ["g: (Intercept)", "g: x", "h: (Intercept)"]
    data = crossed.plot.ranef(draw=False)
    for panel, (_, part) in zip(panels, data.groupby(["term", "name"], sort=False), strict=True):
        np.testing.assert_allclose(panel.lines[-1].get_xdata(), part["mode"])
        assert panel.get_ylim() == (-0.6, len(part) - 0.4)
    order = data[data["group"] == "g"].groupby("name", sort=False)["level"].apply(list)
    assert order["(Intercept)"] == order["x"]
