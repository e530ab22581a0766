"""Numbers of rows are written out in full."""

import numpy as np
import pandas as pd

from ordstat import ordfit


def test_a_million_rows_are_a_million_rows():
    data = pd.DataFrame({"y": [1, 1, 2, 2], "x": [0.0, 1.0, 0.0, 1.0], "w": [1_000_001.0, 234_566.0, 3.0, 1_000_000.0]})
    fit = ordfit("y ~ x", data, weights="w")
    assert fit.formula == "y ~ x"
    assert np.isclose(fit.nobs, 2_234_570.0)
    text = str(fit.summary())
    assert "1 (1234567)" in text
    assert "2 (1000003)" in text
