"""The multinomial logit: derivatives by differences, R's VGAM, statsmodels and
algebra.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import no_option
from reference_cases import load_case
from seams import LINKS
from statsmodels.discrete.discrete_model import MNLogit

from ordstat import DataWarning, FormulaError, OptionError, ordfit
from ordstat.exceptions import SeparationWarning, UnavailableError
from ordstat.likelihood.baseline import Multinomial


def frame(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    latent = 0.8 * X.sum(axis=1) + rng.logistic(size=n)
    return pd.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "y": pd.qcut(latent, 4, labels=False)}
    )


def test_derivatives_are_those_of_differences() -> None:
    rng = np.random.default_rng(1)
    eta = rng.normal(size=(40, 3))
    y = rng.integers(0, 4, size=40)
    family = Multinomial(LINKS["logit"])
    terms = family.at_eta(eta, y)
    assert terms is not None
    h = 1e-5
    for j, move in enumerate(h * np.eye(3)):
        up = family.at_eta(eta + move, y)
        down = family.at_eta(eta - move, y)
        assert up is not None
        assert down is not None
        slope = (up.log_p - down.log_p) / (2 * h)
        np.testing.assert_allclose(terms.slope[j], slope, atol=1e-9)
        bend = (down.slope - up.slope) / (2 * h)
        np.testing.assert_allclose(terms.curvature[j], bend, atol=1e-9)
    sums = terms.curvature.sum(axis=1)
    np.testing.assert_allclose(terms.curvature_sums, sums, atol=1e-15)


def test_estimates_errors_and_likelihood_of_r() -> None:
    case = load_case("housing_vgam_multinomial_first")
    fit = ordfit(
        case.spec["formula"], case.frame(), "multinomial", weights=case.spec["weights"]
    )
    np.testing.assert_allclose(fit.params, case.coefficients, rtol=1e-9)
    np.testing.assert_allclose(fit.se, case.std_errors, rtol=1e-6)
    assert fit.loglik == pytest.approx(case.loglik, rel=1e-13)


def test_separated_levels_have_the_likelihood_of_r() -> None:
    case = load_case("wine_vgam_multinomial")
    with pytest.warns(SeparationWarning):
        fit = ordfit(case.spec["formula"], case.frame(), "multinomial")
    assert fit.loglik == pytest.approx(case.loglik, abs=1e-8)
    assert np.isinf(fit.params["5/1"])


def test_the_same_as_statsmodels() -> None:
    data = frame()
    fit = ordfit("y ~ a + b", data, "multinomial")
    X = np.column_stack([np.ones(len(data)), data[["a", "b"]]])
    other = MNLogit(data["y"], X).fit(
        disp=False, method="newton", tol=1e-12, maxiter=50
    )
    expected = np.asarray(other.params).reshape(-1)
    np.testing.assert_allclose(fit.params, expected, rtol=1e-7, atol=1e-9)
    shares = np.asarray(other.predict(X[:5]))
    np.testing.assert_allclose(fit.predict(data[:5], type="prob"), shares, rtol=1e-7)


def test_neighbouring_levels_are_adjacent_categories() -> None:
    data = frame()
    fit = ordfit("y ~ a + b", data, "multinomial")
    free = ordfit("y ~ 1", data, "acat", nominal="~ a + b")
    by_level = fit.params.to_numpy().reshape(3, 3)
    steps = np.diff(by_level, axis=1, prepend=0.0)
    np.testing.assert_allclose(-free.params.to_numpy().reshape(3, 3), steps, rtol=1e-7)
    M = np.kron(np.eye(3), -np.tril(np.ones((3, 3))))
    summed = M @ free.vcov().to_numpy() @ M.T
    np.testing.assert_allclose(fit.vcov(), summed, rtol=1e-6, atol=1e-10)


def test_adjacent_categories_are_nested_in_it() -> None:
    data = frame()
    table = ordfit("y ~ a + b", data, "acat").anova(
        ordfit("y ~ a + b", data, "multinomial")
    )
    assert table["df"].iloc[1] == 4
    assert 0.0 < table["p_value"].iloc[1] < 1.0


def test_the_order_of_the_levels_does_not_matter() -> None:
    data = frame()
    one = ordfit("y ~ a + b", data, "multinomial")
    other = ordfit("y ~ a + b", data.assign(y=(data["y"] + 2) % 4), "multinomial")
    assert one.loglik == pytest.approx(other.loglik, rel=1e-12)
    turned = other.predict(data[:5], type="prob")[[2, 3, 0, 1]]
    np.testing.assert_allclose(one.predict(data[:5], type="prob"), turned, rtol=1e-7)


def test_levels_without_rows_have_no_probability() -> None:
    data = frame()
    fit = ordfit("y ~ a", data, "multinomial")
    with pytest.warns(DataWarning, match="-1, 2.5"):
        wide = ordfit("y ~ a", data, "multinomial", levels=[-1, 0, 1, 2, 2.5, 3])
    p = wide.predict(data[:5], type="prob").to_numpy()
    np.testing.assert_array_equal(p[:, [0, 4]], 0.0)
    expected = fit.predict(data[:5], type="prob")
    np.testing.assert_allclose(p[:, [1, 2, 3, 5]], expected, rtol=1e-9)


def test_what_it_does_not_take_or_answer() -> None:
    data = frame()
    with pytest.raises(FormulaError, match="nominal="):
        ordfit("y ~ a", data, "multinomial", nominal="~ b")
    with no_option("link"):
        ordfit("y ~ a", data, "multinomial", link="probit")
    with pytest.raises(OptionError, match="offset"):
        ordfit("y ~ a + offset(b)", data, "multinomial")
    fit = ordfit("y ~ a", data, "multinomial")
    for question in ("drop1", "step", "nominal_test", "discrimination"):
        with pytest.raises(UnavailableError):
            getattr(fit, question)()


def test_a_change_of_method_keeps_the_formula() -> None:
    data = frame()
    fit = ordfit("y ~ a + b", data, "multinomial").update(method="acat")
    pd.testing.assert_series_equal(fit.coef, ordfit("y ~ a + b", data, "acat").coef)
