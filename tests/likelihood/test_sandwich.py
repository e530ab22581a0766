"""Robust covariances that are not formed: against the matrix, and in little memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from ordstat import OptionError, ordfit
from ordstat.likelihood import covariance_choice


def rows(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    frame = pd.DataFrame({"x": x, "y": x + rng.logistic(size=n)})
    frame["g"] = rng.integers(0, 40, n)
    frame["w"] = rng.integers(1, 4, n)
    frame.loc[0, ["y", "w"]] = frame.loc[1, "y"], 0
    return frame


@pytest.mark.filterwarnings("ignore:weights= are counts")
@pytest.mark.parametrize("vcov", ["HC0", "HC1", {"cluster": "g", "type": "CR1"}])
@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("censored", [False, True])
def test_against_the_matrix(monkeypatch, vcov, weights, censored: bool) -> None:
    data = rows(150)
    formula = "y ~ x"
    if censored:
        data["event"] = np.arange(150) % 3 > 0
        formula = "Surv(y, event) ~ x"
    options = {} if censored else {"levels": "all"}
    with_matrix = ordfit(formula, data, weights=weights, vcov=vcov, **options)
    matrix = with_matrix.vcov().to_numpy()
    monkeypatch.setattr(covariance_choice, "MOST_IN_MATRIX", 1)
    fit = ordfit(formula, data, weights=weights, vcov=vcov, **options)
    operator = fit.covariance_of_estimates
    assert isinstance(operator, covariance_choice.SandwichCovariance)
    close = {"rtol": 1e-8, "atol": 1e-12}
    np.testing.assert_allclose(fit.se**2, np.diag(matrix), **close)
    L = np.random.default_rng(1).normal(size=(3, len(matrix)))
    np.testing.assert_allclose(operator.quadratic(L), L @ matrix @ L.T, **close)
    np.testing.assert_allclose(operator.times(L.T), matrix @ L.T, **close)
    np.testing.assert_allclose(operator.dense(), matrix, **close)
    assert fit.anova().equals(with_matrix.anova()) or np.allclose(
        fit.anova(), with_matrix.anova(), rtol=1e-8
    )


@pytest.mark.parametrize("vcov", ["HC1", {"cluster": "g", "type": "CR1"}])
def test_memory(vcov) -> None:
    """A matrix of all pairs of parameters takes 32 MB, and several are made of it."""
    data = rows(2000)
    fit = ordfit("y ~ x", data, levels="all", vcov=vcov)
    tracemalloc.start()
    try:
        errors = fit.se
        tests = fit.anova()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(errors) == len(fit.params)
    assert tests.index.tolist() == ["x"]
    assert peak < 6e7


@pytest.mark.parametrize("many", [False, True])
def test_hc1_without_degrees_of_freedom_is_refused(many: bool) -> None:
    """Its factor n / (n - p) is infinite; the advice is followed on the same rows."""
    data = pd.DataFrame({"y": [1, 2, 3, 2], "x": [1.0, 3.0, 2.0, 5.0]})
    data["z"] = [0.0, 1.0, 1.0, -1.0]
    options, n = {"formula": "y ~ x + z", "penalty": 1.0}, 4
    if many:
        data, options, n = rows(60).drop(0), {"formula": "y ~ x", "levels": "all"}, 59
    message = rf"vcov='HC1' must have more rows .* {n} rows and {n} parameters.*'HC0'"
    with pytest.raises(OptionError, match=message):
        ordfit(data=data, vcov="HC1", **options)
    fit = ordfit(data=data, **options)
    with pytest.raises(OptionError, match=message):
        fit.with_vcov("robust")
    with pytest.raises(OptionError, match=message):
        fit.vcov("HC1")
    assert np.isfinite(ordfit(data=data, vcov="HC0", **options).se).all()
