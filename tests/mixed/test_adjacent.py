"""Random effects of adjacent-category models: derivatives by differences, binary models, integrals by brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from light_options import in_turn
from reference_cases import load_case
from scipy.optimize import approx_fprime, minimize

from ordstat import datasets, ordfit
from ordstat._typing import FloatArray, IntArray
from ordstat.likelihood.adjacent import Adjacent
from ordstat.likelihood.flexible import link_of
from ordstat.likelihood.links import LINKS, Link
from ordstat.likelihood.predictor import Predictor
from ordstat.likelihood.results import LikelihoodResults
from ordstat.mixed.estimate import objective_of
from ordstat.mixed.search import zero_effects

from .test_gradients import MODELS, SCALAR, differences, model_of
from .test_lme4 import GLMER

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact + (1 | judge)"
ALL_LINKS = [*LINKS.values(), link_of("aranda-ordaz", 0.7), link_of("log-gamma", 0.5)]


# ------------------------------------------------------------------------------------------- derivatives


def some_rows(n: int = 60, n_levels: int = 5) -> tuple[Predictor, IntArray]:
    rng = np.random.default_rng(0)
    w = np.column_stack([np.ones(n), 0.3 * rng.normal(size=n)])
    alpha, H, tau = rng.normal(size=(n_levels - 1, 2)), rng.normal(size=n), 0.3 * rng.normal(size=n)
    return Predictor(w=w, alpha=alpha, H=H, tau=tau), rng.integers(0, n_levels, n)


@pytest.mark.parametrize("link", ALL_LINKS, ids=lambda link: link.name)
def test_terms_by_location_are_those_of_all_predictors(link: Link) -> None:
    predictor, y = some_rows()
    own, terms = Adjacent(link).by_location(predictor, y), Adjacent(link).terms(predictor, y)
    assert own is not None and terms is not None
    np.testing.assert_array_equal(own.log_p, terms.log_p)
    np.testing.assert_allclose(own.score, terms.score[4], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(own.curvature, terms.second()[4, 4], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("link", ALL_LINKS, ids=lambda link: link.name)
def test_slopes_of_the_curvature_against_differences(link: Link) -> None:
    """By four thresholds, H and tau."""
    family, (predictor, y) = Adjacent(link), some_rows()

    def curvature(place: int, move: float) -> FloatArray:
        if place < 4:
            moved = replace(predictor, alpha=predictor.alpha + move * np.outer(np.eye(4)[place], [1.0, 0.0]))
        else:
            H, tau = (part + move * (place == at) for part, at in ((predictor.H, 4), (predictor.tau, 5)))
            moved = replace(predictor, H=H, tau=tau)
        terms = family.terms(moved, y)
        assert terms is not None
        return terms.second()[4, 4]

    h = 1e-3
    parts = [sum(c * curvature(place, k * h) for k, c in ((-2, 1), (-1, -8), (1, 8), (2, -1))) for place in range(6)]
    np.testing.assert_allclose(
        family.curvature_slopes(predictor, y), np.array(parts) / (12.0 * h), rtol=1e-7, atol=2e-8
    )


@pytest.mark.parametrize(("name", "link"), in_turn(MODELS, LINKS))
def test_laplace(name: str, link: str) -> None:
    """Differences of the cauchit with log scales, whose components go up to 150, are good to 3e-7."""
    model, psi = model_of(MODELS[name], LINKS[link], Adjacent, 4)
    evaluate = objective_of(model, 1)
    at = evaluate(psi, zero_effects(model))
    assert at is not None
    np.testing.assert_allclose(at.gradient, differences(evaluate, psi, at.v), rtol=2e-7, atol=5e-7)


@pytest.mark.parametrize("nodes", [5, -10])
@pytest.mark.parametrize("name", SCALAR)
def test_quadrature(name: str, nodes: int) -> None:
    model, psi = model_of(SCALAR[name], LINKS["cloglog"], Adjacent, 4)
    evaluate = objective_of(model, nodes)
    at = evaluate(psi, zero_effects(model))
    assert at is not None
    np.testing.assert_allclose(at.gradient, differences(evaluate, psi, at.v), rtol=2e-7, atol=2e-7)


# --------------------------------------------------------------------------------------- two levels


@pytest.mark.parametrize(("link", "nodes"), GLMER)
def test_two_levels_equal_glmer(link: str, nodes: int) -> None:
    """P(y = 2) = F(H - theta), F symmetric: R's values stand in `test_lme4.py`."""
    loglik, fixef, theta = GLMER[link, nodes]
    data = load_case("long_clmm_binary").frame()
    fit = ordfit("yb ~ x1 + x2 + (1 | id)", data, "acat", link=link, quadrature=nodes)
    assert fit.loglik == pytest.approx(loglik, abs=1e-7)
    assert (-fit.thresholds.iloc[0], *fit.coef) == pytest.approx(fixef, rel=2e-6)
    assert fit.varcorr()["sd"].iloc[0] == pytest.approx(theta, rel=2e-5)


@pytest.mark.parametrize("link", LINKS)
def test_two_levels_are_the_cumulative_model_of_the_mirrored_link(link: str) -> None:
    data, formula = load_case("long_clmm_binary").frame(), "yb ~ x1 + x2 + (1 + x1 || id)"
    one, other = ordfit(formula, data, "acat", link=link), ordfit(formula, data, LINKS[link].mirror)
    assert one.loglik == pytest.approx(other.loglik, rel=1e-10)
    np.testing.assert_allclose(one.params, other.params, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(one.se, other.se, rtol=1e-4)
    np.testing.assert_allclose(one.ranef()["mode"], other.ranef()["mode"], atol=1e-5)


# ---------------------------------------------------------------------------------------- brute force


def level_probabilities(theta: FloatArray, H: FloatArray) -> FloatArray:
    """(..., K) of the logit: p_k proportional to exp(k H - theta_1 - ... - theta_k)."""
    odds = np.exp(np.arange(theta.size + 1) * H[..., None] - np.concatenate([[0.0], np.cumsum(theta)]))
    return np.asarray(odds / odds.sum(axis=-1, keepdims=True))


def columns() -> tuple[FloatArray, IntArray, IntArray]:
    x = np.column_stack([WINE["temp"] == "warm", WINE["contact"] == "yes"]).astype(float)
    return x, WINE["rating"].cat.codes.to_numpy(), WINE["judge"].astype("category").cat.codes.to_numpy()


def integrated(parameters: FloatArray) -> float:
    """The log-likelihood of the wine data with (thresholds, effects, sd) by 60 nodes for each judge."""
    theta, beta, sd = parameters[:4], parameters[4:6], parameters[6]
    x, y, g = columns()
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    p = level_probabilities(theta, (x @ beta)[:, None] + sd * points)[np.arange(y.size), :, y]
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
    theta, sd = fit.thresholds.to_numpy(), fit.varcorr()["sd"].iloc[0]

    def negative(b: FloatArray) -> float:
        p = level_probabilities(theta, x @ fit.coef.to_numpy() + b[g])[np.arange(y.size), y]
        return float(-np.log(p).sum() + 0.5 * (b @ b) / sd**2)

    found = minimize(negative, np.zeros(9), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(fit.ranef()["mode"], found.x, atol=1e-5)


def test_predictions(fit: LikelihoodResults) -> None:
    x, _, g = columns()
    theta, sd, H = fit.thresholds.to_numpy(), fit.varcorr()["sd"].iloc[0], x @ fit.coef.to_numpy()
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    averaged = np.einsum("q,nqk->nk", weights / weights.sum(), level_probabilities(theta, H[:, None] + sd * points))
    np.testing.assert_allclose(fit.predict(WINE, type="prob", re="marginal"), averaged, atol=1e-7)
    at_modes = level_probabilities(theta, H + fit.ranef()["mode"].to_numpy()[g])
    np.testing.assert_allclose(fit.predict(WINE, type="prob", re="mode"), at_modes, atol=1e-12)
    np.testing.assert_allclose(fit.predict(WINE, type="prob", re="zero"), level_probabilities(theta, H), atol=1e-12)
