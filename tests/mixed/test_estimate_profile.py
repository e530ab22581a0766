"""Profile limits against the maxima that SciPy finds at values of a parameter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from scipy.optimize import brentq, minimize
from scipy.stats import chi2
from seams import LikelihoodResults

from ordstat import datasets, ordfit

WINE = datasets.load("wine")


@pytest.fixture(scope="module")
def fit() -> LikelihoodResults:
    return ordfit("rating ~ temp + contact + (1 | judge)", WINE)


def deviance_at(fit: LikelihoodResults, sigma: float) -> float:
    """2 (l - l(sigma)), the other parameters by SciPy's BFGS."""
    here = fit.fit.marginal.likelihood

    def minus(p: np.ndarray) -> tuple[float, np.ndarray]:
        at = here.objective(np.append(p, sigma), here.at.v)
        return -at.loglik, -at.gradient[:-1]

    optimum = minimize(
        minus, here.at.psi[:-1], jac=True, method="BFGS", options={"gtol": 1e-8}
    )
    return 2.0 * (fit.loglik + optimum.fun)


def test_standard_deviation(fit: LikelihoodResults) -> None:
    actual = fit.confint("sd_(Intercept)|judge", type="profile").iloc[0]
    cut = chi2.ppf(0.95, 1)
    upper = brentq(lambda sigma: deviance_at(fit, sigma) - cut, 1.2, 4.0, xtol=1e-7)
    lower = brentq(lambda sigma: deviance_at(fit, sigma) - cut, 0.1, 1.1, xtol=1e-7)
    assert actual.tolist() == pytest.approx([lower, upper], abs=1e-5)


def test_location_effect(fit: LikelihoodResults) -> None:
    """At the limit of an effect the fit with that effect as an offset has lost half the
    quantile.
    """
    lower, upper = fit.confint("temp", type="profile").iloc[0]
    warm = (WINE["temp"] == "warm").astype(float)
    for end in (lower, upper):
        held = ordfit(
            "rating ~ contact + (1 | judge)", WINE, offset=(end * warm).to_numpy()
        )
        assert 2.0 * (fit.loglik - held.loglik) == pytest.approx(
            chi2.ppf(0.95, 1), abs=1e-5
        )


def test_curves_and_what_has_none() -> None:
    data = load_data("crossed")
    fit = ordfit("y ~ x1 + (1 + x1 | subj)", data)
    curve = fit.profile("x1", points=5)
    assert curve["z"].abs().max() == pytest.approx(chi2.ppf(0.99, 1) ** 0.5, abs=1e-4)
    assert curve["loglik"].max() == pytest.approx(fit.loglik)
    table = fit.confint(["sd_(Intercept)|subj", "sd_x1|subj"], type="profile")
    assert table.notna().all(axis=1).tolist() == [True, False]
    assert (
        "take bootstrap(), or use type='wald'"
        in table.attrs["reasons"]["sd_x1|subj", "lower"]
    )


def bands(n: int, seed: int) -> pd.DataFrame:
    """Rows nearly separated by a nominal effect, in random groups."""
    data = datasets.quadratic_bands(n, seed=seed)
    return data.assign(h=np.random.default_rng(seed).integers(0, 12, n))


def test_a_variance_leaves_its_boundary_along_a_profile() -> None:
    """At the limit a search from other starts finds nothing higher: there the variance
    is not 0 any more.
    """
    fit = ordfit("rank ~ x1 + (1 | h)", bands(120, 1), nominal="~ x2")
    assert fit.varcorr()["sd"].tolist() == [0.0]
    end = fit.confint("2|3", type="profile")["upper"].iloc[0]
    here = fit.fit.marginal.likelihood
    a = here.to_user[1]
    plane = np.linalg.qr(np.column_stack([a, np.eye(a.size)]))[0][:, 1:]
    held = here.at.psi + a * (end - a @ here.at.psi) / (a @ a)

    def minus(t: np.ndarray) -> tuple[float, np.ndarray]:
        at = here.objective(held + plane @ t, here.at.v)
        return (
            (1e9, np.zeros(t.size))
            if at is None
            else (-at.loglik, -plane.T @ at.gradient)
        )

    optimum = minimize(
        minus, plane[-1] * 0.5, jac=True, method="BFGS", options={"gtol": 1e-8}
    )
    assert abs((held + plane @ optimum.x)[-1]) > 0.5
    assert 2.0 * (fit.loglik + optimum.fun) == pytest.approx(
        chi2.ppf(0.95, 1), abs=1e-4
    )


@pytest.mark.slow
def test_modes_that_jump_leave_a_limit_open() -> None:
    """Laplace's approximation of cauchit breaks off where two modes of a judge meet,
    quadrature hardly.
    """
    limits = ordfit("rating ~ temp + contact + (1 | judge)", WINE, "cauchit").confint(
        "temp", type="profile"
    )
    assert limits.isna().to_numpy().tolist() == [[False, True]]
    assert (
        "modes of random effects jump"
        in limits.attrs["reasons"]["temp[T.warm]", "upper"]
    )
    finer = ordfit(
        "rating ~ temp + contact + (1 | judge)", WINE, "cauchit", quadrature=9
    )
    warm = (WINE["temp"] == "warm").astype(float)
    for end in finer.confint("temp", type="profile").iloc[0]:
        held = ordfit(
            "rating ~ contact + (1 | judge)",
            WINE,
            "cauchit",
            quadrature=9,
            offset=(end * warm).to_numpy(),
        )
        assert 2.0 * (finer.loglik - held.loglik) == pytest.approx(
            chi2.ppf(0.95, 1), abs=1e-5
        )
