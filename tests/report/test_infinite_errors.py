"""Errors without bound: the log-loss of an observed level of probability 0."""

import numpy as np
import pandas as pd
import pytest

from ordstat import ordfit


@pytest.fixture(scope="module")
def fit():
    data = pd.DataFrame({"x": np.repeat([0.0, 1.0, 2.0], 10), "y": [1] * 9 + [2] + [2] * 10 + [3] * 10})
    return ordfit("y ~ x", data, "rps-forest", trees=5, min_leaf=1, seed=0)


@pytest.mark.parametrize(
    "asked", [{"cv": 10}, {"bootstrap": 20, "newdata": pd.DataFrame({"x": [0, 2.0], "y": [3, 3]})}]
)
def test_an_infinite_mean_has_no_standard_error(fit, asked):
    table = fit.errors(**asked)
    label = "cv" if "cv" in asked else "new data"
    assert np.isinf(table.loc["log-loss", label])
    assert np.isnan(table.loc["log-loss", f"{label} se"])
    assert np.isfinite(table.loc["absolute error", f"{label} se"])
    note = f"log-loss ({label}) is infinite, without a standard error: an observed level had probability 0."
    assert note in " ".join(str(table).split())


def test_finite_errors_say_nothing(fit):
    assert "infinite" not in str(fit.errors())
