"""Counts in the summary: whole numbers in full, however many rows, and percentages of weights that are not whole."""

import numpy as np
import pandas as pd
import pytest

from ordstat import DataWarning, ordfit


def frame(third: float) -> pd.DataFrame:
    weights = [1_000_001.0, 234_566.0, third, 1_000_000.0]
    return pd.DataFrame({"y": [1, 1, 2, 2], "x": [0.0, 1.0, 0.0, 1.0], "w": weights})


def test_a_million_rows_are_a_million_rows():
    fit = ordfit("y ~ x", frame(3.0), weights="w")
    assert fit.formula == "y ~ x"
    assert np.isclose(fit.nobs, 2_234_570.0)
    text = str(fit.summary())
    assert "1 (1234567)" in text
    assert "2 (1000003)" in text


def test_weights_that_are_not_whole_are_percentages():
    with pytest.warns(DataWarning, match="not whole"):
        fit = ordfit("y ~ x", frame(2.5), weights="w")
    assert np.isclose(fit.nobs, 2_234_569.5)
    text = str(fit.summary("all"))
    assert "4 weighted rows" in text
    assert "1 (55.2%), 2 (44.8%)" in text  # 1234567 and 1000002.5 of 2234569.5
    assert "weighted percentages" in text
