"""The parameter of a link where the likelihood has no maximum in it, or more than one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from benchmarks.against_r.specs import KINDS
from ordstat import ordfit
from ordstat.exceptions import ConvergenceWarning, OptionError
from ordstat.results.likelihood.results import LikelihoodResults

HALF = 0.5 * 3.841458820694124


def data(seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """80 rows with an offset that has nothing to do with the response."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=80), rng.normal(size=80)
    y = np.searchsorted([-1, 0.3, 1.5], x + rng.logistic(size=80))
    return {"x": x, "z": z, "y": y}, rng.normal(size=80)


def at(seed: int, link: str, lam: float, formula: str = "y ~ x + z", given: bool = True) -> LikelihoodResults:
    columns, offset = data(seed)
    return ordfit(formula, columns, link=(link, lam), offset=offset if given else None)


@pytest.mark.parametrize(("link", "seed", "way"), [("aranda-ordaz", 0, "grows"), ("log-gamma", 0, "falls")])
def test_a_likelihood_that_rises_without_end(link: str, seed: int, way: str) -> None:
    columns, offset = data(seed)
    with pytest.warns(ConvergenceWarning, match=f"as lambda {way}"):
        fit = ordfit("y ~ x + z", columns, link=link, offset=offset)
    lam = fit.params["lambda"]
    held, further = at(seed, link, lam), at(seed, link, 1.5 * lam)
    assert further.loglik > held.loglik == pytest.approx(fit.loglik, abs=1e-9)
    np.testing.assert_allclose(fit.params.drop("lambda"), held.params, rtol=1e-6)
    np.testing.assert_allclose(fit.se.drop("lambda"), held.se, rtol=1e-6)
    assert np.isnan(fit.se["lambda"]) and fit.certificate.reached


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.ConvergenceWarning")
def test_limits_where_lambda_has_none() -> None:
    columns, offset = data(0)
    fit = ordfit("y ~ x + z", columns, link="aranda-ordaz", offset=offset)
    limits = fit.confint(type="profile", parm=["x", "lambda"])
    assert np.isposinf(limits["upper"]).all()
    low = limits.loc["lambda", "lower"]
    assert fit.loglik - at(0, "aranda-ordaz", low).loglik == pytest.approx(HALF, abs=1e-6)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("link", ["aranda-ordaz", "log-gamma"])
def test_curves_where_lambda_has_no_end(link: str) -> None:
    """With the effect held by an offset, brute force over lambda comes to the curve.

    Lambda is held at -8 for the log-gamma link; for 8, from there, the estimates of -8 have no likelihood.
    """
    columns, offset = data(0)
    curve = ordfit("y ~ x + z", columns, link=link, offset=offset).profile("x", points=5)
    assert np.isfinite(curve["loglik"]).all()
    for value, loglik in curve[["value", "loglik"]].to_numpy()[[0, 1]]:

        def loss(c: float, value: float = value) -> float:
            lam = float(np.exp(c)) if link == "aranda-ordaz" else c
            return -ordfit("y ~ z", columns, link=(link, lam), offset=offset + value * columns["x"]).loglik

        bounds = (-2.0, np.log(256.0)) if link == "aranda-ordaz" else (-8.0, -2.5)
        best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-6})
        assert loglik == pytest.approx(-min(best.fun, loss(bounds[0]), loss(bounds[1])), abs=1e-4)


@pytest.mark.parametrize(("link", "seed"), [("aranda-ordaz", 0), ("log-gamma", 1), ("log-gamma", 7)])
def test_limits_of_other_parameters(link: str, seed: int) -> None:
    """At the limits the log-likelihood, maximised over lambda by brute force, has fallen by half the quantile."""
    columns, _ = data(seed)
    fit = ordfit("y ~ x + z", columns, link=link)
    for limit in fit.confint(type="profile", parm="z").to_numpy()[0]:

        def loss(c: float, limit: float = limit) -> float:
            lam = float(np.exp(c)) if link == "aranda-ordaz" else c
            return -ordfit("y ~ x", columns, link=(link, lam), offset=limit * columns["z"]).loglik

        best = minimize_scalar(loss, bounds=(-7.5, 2.5), method="bounded", options={"xatol": 1e-7})
        assert fit.loglik + best.fun == pytest.approx(HALF, abs=1e-6)


def test_the_limit_of_aranda_ordaz_is_named() -> None:
    columns, _ = data(3)
    with pytest.warns(ConvergenceWarning, match="falls to 0, where the link is 'cloglog'"):
        fit = ordfit("y ~ x + z", columns, link="aranda-ordaz")
    assert fit.loglik == pytest.approx(ordfit("y ~ x + z", columns, link="cloglog").loglik, abs=1e-3)


def test_a_start_far_from_the_data_is_refused() -> None:
    rng = np.random.default_rng(19)
    x, z = rng.normal(size=60), rng.normal(size=60)
    y = np.searchsorted([-1, 0, 1], x + rng.logistic(size=60))
    with pytest.raises(OptionError, match="start must give a finite likelihood with finite derivatives"):
        ordfit("y ~ x", {"x": x, "z": z, "y": y}, link="cloglog", scale="~ z", start=(-1, 0.3, 1, -3, 3))


def test_a_likelihood_that_is_flat_at_the_end_of_lambda() -> None:
    """Two levels and weak effects: from 5 to 8 the log-likelihood moves by 6e-11."""
    spec = KINDS["any"](32, 141)
    with pytest.warns(ConvergenceWarning, match="as lambda grows"):
        fit = ordfit(spec.formula, spec.frame, link="log-gamma", weights=spec.weights)
    assert fit.params["lambda"] == 8.0 and np.isnan(fit.se["lambda"])
    held = ordfit(spec.formula, spec.frame, link=("log-gamma", 5.0), weights=spec.weights)
    assert fit.loglik == pytest.approx(held.loglik, abs=1e-9)
    assert fit.se.drop("lambda").max() < 2.0


def test_a_maximum_between_two_lambdas_of_the_grid() -> None:
    """At 16 and at 64 the profile is lower than at 22.7; R's clm comes to -199.383485286, without an end."""
    spec = KINDS["any"](35, 452)
    fit = ordfit(spec.formula, spec.frame, link="aranda-ordaz")
    assert fit.certificate.reached and 16.0 < fit.params["lambda"] < 64.0
    assert fit.loglik >= -199.383485286
    assert fit.loglik > max(ordfit(spec.formula, spec.frame, link=("aranda-ordaz", lam)).loglik for lam in (16, 64))


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
def test_a_maximum_beyond_the_usual_lambdas() -> None:
    """R's clm comes to -440.56799 at a lambda of 11.2; at 8 and at 14 the profile is lower by .08 and .03."""
    spec = KINDS["any"](69, 381)
    fit = ordfit(spec.formula, spec.frame, link="log-gamma", weights=spec.weights)
    assert fit.loglik >= -440.567996 and fit.params["lambda"] == pytest.approx(11.2, abs=0.1)
    for lam in (8.0, 14.0):
        held = ordfit(spec.formula, spec.frame, link=("log-gamma", lam), weights=spec.weights)
        assert fit.loglik > held.loglik + 0.03
    assert fit.certificate.reached and np.isfinite(fit.se["lambda"])
    limits = fit.confint("lambda", type="profile").loc["lambda"]
    assert limits["lower"] < 8.0 < 11.2 < limits["upper"]
    held = ordfit(spec.formula, spec.frame, link=("log-gamma", limits["lower"]), weights=spec.weights)
    assert held.loglik == pytest.approx(fit.loglik - HALF, abs=1e-6)
