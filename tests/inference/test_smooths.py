"""Notes of the tables of smooth terms."""

import numpy as np
import pandas as pd

from ordstat import ordfit


def test_notes_on_curves_leave_ordered_predictors_out():
    """A straight line and coefficients without meaning are of s(x) alone."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=150)
    dose = rng.integers(0, 4, 150)
    latent = np.sin(6.0 * x) + 0.5 * dose + rng.logistic(size=150)
    data = pd.DataFrame({"x": x, "y": np.digitize(latent, [0.0, 1.0, 2.0])})
    data["dose"] = pd.Categorical(dose, ordered=True)
    fit = ordfit("y ~ s(x, k=6) + smooth(dose)", data)
    tidy = " ".join(str(fit.tidy()).split())
    edf = fit.smooths()["edf"]["s(x)"]
    assert f"(s(x) edf {edf:.2f}; 1 is a straight line)" in tidy
    assert "smooth(dose)[T.1]" in tidy
    ordered = ordfit("y ~ x + smooth(dose)", data)
    assert "Not printed" not in str(ordered.tidy())
    assert "straight line" in str(fit.smooths())
    assert "straight line" not in str(ordered.smooths())
