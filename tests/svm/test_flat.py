"""Columns that say nothing of the ranks: by symmetry the best potential is zero; no order may come of rounding."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import ordfit


@pytest.mark.parametrize("kernel", ["linear", "perceptron", "gaussian"])
@pytest.mark.parametrize("method", ["redsvm", "svor-imc"])
@pytest.mark.parametrize("C", [0.125, 1.0, 8.0])
def test_no_order_is_made_up(kernel: str, method: str, C: float) -> None:
    ranks = np.repeat([1, 2, 3, 4], [3, 5, 2, 4])
    frame = pd.DataFrame({"x": np.repeat([-1.0, 1.0], ranks.size), "y": np.tile(ranks, 2)})
    fit = ordfit("y ~ x", frame, method, kernel=kernel, C=C)
    assert np.ptp(fit.predict(type="score")) == 0.0
    assert fit.errors().loc["concordance", "training"] == 0.5
    assert not fit.fit.rule.potential.coef.any()
    assert fit.certificate.reached
