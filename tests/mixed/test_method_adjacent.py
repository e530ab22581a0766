"""Random effects of adjacent-category models: derivatives by differences, binary
models, integrals by brute force.
"""

from __future__ import annotations

import numpy as np
import pytest
from reference_cases import load_case
from scipy.optimize import approx_fprime, minimize
from seams import LINKS, LikelihoodResults

from ordstat import datasets, ordfit

from .test_method import GLMER

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact + (1 | judge)"


@pytest.mark.parametrize(("link", "nodes"), GLMER)
def test_two_levels_equal_glmer(link: str, nodes: int) -> None:
    """P(y = 2) = F(H - theta), F symmetric: R's values stand in `test_method.py`."""
    loglik, fixef, theta = GLMER[link, nodes]
    data = load_case("long_clmm_binary").frame()
    fit = ordfit("yb ~ x1 + x2 + (1 | id)", data, "acat", link=link, quadrature=nodes)
    assert fit.loglik == pytest.approx(loglik, abs=1e-7)
    assert (-fit.thresholds.iloc[0], *fit.coef) == pytest.approx(fixef, rel=2e-6)
    assert fit.varcorr()["sd"].iloc[0] == pytest.approx(theta, rel=2e-5)


@pytest.mark.parametrize("link", LINKS)
def test_two_levels_are_the_cumulative_model_of_the_mirrored_link(link: str) -> None:
    data = load_case("long_clmm_binary").frame()
    formula = "yb ~ x1 + x2 + (1 + x1 || id)"
    one = ordfit(formula, data, "acat", link=link)
    other = ordfit(formula, data, LINKS[link].mirror)
    assert one.loglik == pytest.approx(other.loglik, rel=1e-10)
    np.testing.assert_allclose(one.params, other.params, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(one.se, other.se, rtol=1e-4)
    np.testing.assert_allclose(one.ranef()["mode"], other.ranef()["mode"], atol=1e-5)


def level_probabilities(theta: np.ndarray, H: np.ndarray) -> np.ndarray:
    """(..., K) of the logit: p_k proportional to exp(k H - theta_1 - ... - theta_k)."""
    odds = np.exp(
        np.arange(theta.size + 1) * H[..., None]
        - np.concatenate([[0.0], np.cumsum(theta)])
    )
    return np.asarray(odds / odds.sum(axis=-1, keepdims=True))


def columns() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = np.column_stack([WINE["temp"] == "warm", WINE["contact"] == "yes"]).astype(
        float
    )
    return (
        x,
        WINE["rating"].cat.codes.to_numpy(),
        WINE["judge"].astype("category").cat.codes.to_numpy(),
    )


def integrated(parameters: np.ndarray) -> float:
    """The log-likelihood of the wine data with (thresholds, effects, sd) by 60 nodes
    for each judge.
    """
    theta = parameters[:4]
    beta = parameters[4:6]
    sd = parameters[6]
    x, y, g = columns()
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    p = level_probabilities(theta, (x @ beta)[:, None] + sd * points)[
        np.arange(y.size), :, y
    ]
    logs = np.zeros((9, 60))
    np.add.at(logs, g, np.log(p))
    return float(np.log(np.exp(logs) @ (weights / weights.sum())).sum())


@pytest.fixture(scope="module")
def fit() -> LikelihoodResults:
    return ordfit(FORMULA, WINE, "acat")


def test_estimates_by_brute_force() -> None:
    own = ordfit(FORMULA, WINE, "acat", quadrature=25)
    at = np.append(own.params[:6], own.varcorr()["sd"].iloc[0])
    assert own.loglik == pytest.approx(integrated(at), abs=1e-7)
    np.testing.assert_allclose(approx_fprime(at, integrated, 1e-6), 0.0, atol=1e-4)


def test_modes_are_the_most_probable_effects(fit: LikelihoodResults) -> None:
    x, y, g = columns()
    theta = fit.thresholds.to_numpy()
    sd = fit.varcorr()["sd"].iloc[0]

    def negative(b: np.ndarray) -> float:
        p = level_probabilities(theta, x @ fit.coef.to_numpy() + b[g])[
            np.arange(y.size), y
        ]
        return float(-np.log(p).sum() + 0.5 * (b @ b) / sd**2)

    optimum = minimize(negative, np.zeros(9), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(fit.ranef()["mode"], optimum.x, atol=1e-5)


def test_predictions(fit: LikelihoodResults) -> None:
    x, _, g = columns()
    theta = fit.thresholds.to_numpy()
    sd = fit.varcorr()["sd"].iloc[0]
    H = x @ fit.coef.to_numpy()
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    averaged = np.einsum(
        "q,nqk->nk",
        weights / weights.sum(),
        level_probabilities(theta, H[:, None] + sd * points),
    )
    np.testing.assert_allclose(
        fit.predict(WINE, type="prob", re="marginal"), averaged, atol=1e-7
    )
    at_modes = level_probabilities(theta, H + fit.ranef()["mode"].to_numpy()[g])
    np.testing.assert_allclose(
        fit.predict(WINE, type="prob", re="mode"), at_modes, atol=1e-12
    )
    np.testing.assert_allclose(
        fit.predict(WINE, type="prob", re="zero"),
        level_probabilities(theta, H),
        atol=1e-12,
    )
