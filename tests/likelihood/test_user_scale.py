"""The covariance of the user's estimates, formed and applied."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import datasets, ordfit

MODELS = {
    "plain": ("rating ~ temp + contact", {}),
    "nominal": ("rating ~ temp", {"nominal": "~ contact"}),
    "scale": ("rating ~ temp", {"scale": "~ contact"}),
    "structure": ("rating ~ temp", {"threshold": "symmetric"}),
    "acat": ("rating ~ temp", {"method": "acat"}),
}


@pytest.mark.parametrize("model", MODELS)
def test_the_covariance_times_a_vector(model: str) -> None:
    formula, options = MODELS[model]
    fit = ordfit(formula, datasets.load("wine"), **options).fit
    dense = fit.model_covariance.dense()
    vector = np.sin(1.0 + np.arange(len(dense)))
    times = fit.model_covariance.times(vector)
    assert times == pytest.approx(dense @ vector, rel=1e-10)


def test_the_certificate_of_many_levels_forms_no_covariance() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"y": rng.permutation(20_000), "x": rng.normal(size=20_000)})
    certificate = ordfit("y ~ x", data, levels="all").certificate
    assert certificate.reached
    assert certificate.table["error"].max() < 1e-8
    assert certificate.eigenvalues.size == 0
