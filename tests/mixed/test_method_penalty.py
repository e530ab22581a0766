"""random_penalty="gamma": + log det Lambda, against brute force, and what it does not
let through.
"""

from __future__ import annotations

import numpy as np
import pytest
from expected import refused
from scipy.optimize import minimize
from seams import LikelihoodResults

from ordstat import datasets, ordfit
from ordstat.exceptions import OptionError

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact + (1 | bottle)"


def integrated(parameters: np.ndarray) -> float:
    """The log-likelihood of the wine data with (thresholds, effects, sd) by 40 nodes
    for each bottle.
    """
    theta = parameters[:4]
    beta = parameters[4:6]
    sd = parameters[6]
    x = np.column_stack([WINE["temp"] == "warm", WINE["contact"] == "yes"]) @ beta
    y = WINE["rating"].cat.codes.to_numpy()
    g = WINE["bottle"].astype("category").cat.codes.to_numpy()
    ends = np.concatenate([[-np.inf], theta, [np.inf]])
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    H = x[:, None] + sd * points
    p = 1.0 / (1.0 + np.exp(H - ends[y + 1][:, None])) - 1.0 / (
        1.0 + np.exp(H - ends[y][:, None])
    )
    logs = np.zeros((8, 40))
    np.add.at(logs, g, np.log(p))
    return float(np.log(np.exp(logs) @ (weights / weights.sum())).sum())


def profiled(sd: float, start: np.ndarray) -> float:
    """Maximum of the penalised likelihood at a standard deviation."""
    optimum = minimize(
        lambda rest: -integrated(np.append(rest, sd)),
        start,
        method="BFGS",
        options={"gtol": 1e-7},
    )
    return -optimum.fun + np.log(sd)


@pytest.fixture(scope="module")
def fit() -> LikelihoodResults:
    return ordfit(FORMULA, WINE, random_penalty="gamma", quadrature=15)


def test_estimates_by_brute_force(fit: LikelihoodResults) -> None:
    """Without a penalty the standard deviation is 0."""
    assert ordfit(FORMULA, WINE).varcorr()["sd"].iloc[0] == 0.0
    start = np.append(fit.params[:6], 0.5)
    optimum = minimize(
        lambda p: -integrated(np.append(p[:6], np.exp(p[6]))) - p[6],
        start,
        method="BFGS",
        options={"gtol": 1e-8},
    )
    parameters = np.append(fit.params[:6], np.log(fit.varcorr()["sd"].iloc[0]))
    np.testing.assert_allclose(parameters, optimum.x, atol=2e-5)
    assert fit.loglik == pytest.approx(-optimum.fun - optimum.x[6], abs=1e-6)
    assert fit.certificate.reached


def test_errors_are_those_of_the_penalised_likelihood(fit: LikelihoodResults) -> None:
    at = np.append(fit.params[:6], fit.varcorr()["sd"].iloc[0])
    h = 1e-3 * np.eye(7)

    def value(p: np.ndarray) -> float:
        return integrated(p) + float(np.log(p[6]))

    bent = [
        [
            value(at + a + b)
            - value(at + a - b)
            - value(at - a + b)
            + value(at - a - b)
            for a in h
        ]
        for b in h
    ]
    covariance = np.linalg.inv(-np.array(bent) / 4e-6)
    np.testing.assert_allclose(fit.se, np.sqrt(np.diag(covariance))[:6], rtol=1e-4)
    assert fit.varcorr()["std_error"].iloc[0] == pytest.approx(
        np.sqrt(covariance[6, 6]), rel=1e-3
    )


def test_profile_limits_of_the_standard_deviation(fit: LikelihoodResults) -> None:
    """The lower one is above 0, where the penalised likelihood falls without end."""
    lower, upper = fit.confint("sd_(Intercept)|bottle", type="profile").iloc[0]
    centre = fit.varcorr()["sd"].iloc[0]
    assert 0.0 < lower < centre < upper
    start = fit.params[:6].to_numpy()
    goal = profiled(centre, start) - 0.5 * 3.841458820694124
    for limit in (lower, upper):
        # a relative error of 1e-4 in the limit changes it by more
        assert profiled(limit, start) == pytest.approx(goal, abs=1e-4)


def test_what_it_is_said_of(fit: LikelihoodResults) -> None:
    text = str(fit.summary())
    assert (
        "Penalty gamma(2, 0) on random effects" in text
        and "standard deviations off 0" in text
    )
    assert "LR test" not in text
    with pytest.raises(
        OptionError, match=r"several fits is not available for fits with a penalty"
    ):
        fit.anova(ordfit("rating ~ temp + (1 | bottle)", WINE, quadrature=15))
    with pytest.raises(
        OptionError, match=r"random_penalty='gamma' needs random effects"
    ):
        ordfit("rating ~ temp", WINE, random_penalty="gamma")
    with refused("random_penalty of CumulativeLink", "'wishart'"):
        ordfit(FORMULA, WINE, random_penalty="wishart")
