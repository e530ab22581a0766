"""Contrasts of means where a design has fewer degrees of freedom than there are contrasts."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import f

from ordstat import SurveyDesign, ordfit


def test_scheffe_counts_the_contrasts_and_not_what_two_units_leave_of_their_covariance() -> None:
    """Three means differ in two directions: p = P(F(2, 1) > t^2 / 2), though the covariance has rank 1."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"g": rng.choice(list("abc"), 90), "psu": np.arange(90) % 2, "w": 1.0})
    data["y"] = np.digitize((data["g"] == "b") + rng.logistic(size=90), [-1.0, 1.0])
    fit = ordfit("y ~ g", data, design=SurveyDesign(weights="w", clusters="psu"))
    assert fit.design_df == 1.0
    means = fit.emmeans("g")
    t = means.contrasts(adjust="none")["statistic"].to_numpy(dtype=float)
    found = means.contrasts(adjust="scheffe")["p_value"].to_numpy(dtype=float)
    np.testing.assert_allclose(found, f.sf(t**2 / 2.0, 2, 1), rtol=1e-9)
