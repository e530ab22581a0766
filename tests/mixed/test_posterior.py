"""Predictions averaged over what the data leave open of the random effects, against SciPy's adaptive integrals."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from ordstat import ordfit
from ordstat.results.likelihood.results import LikelihoodResults


def skewed(sd: float = 3.0) -> pd.DataFrame:
    """Forty groups of three rows, many with the highest level alone."""
    rng = np.random.default_rng(0)
    g = np.repeat(np.arange(40), 3)
    frame = pd.DataFrame({"g": g, "x": rng.normal(size=120)})
    latent = np.repeat(rng.normal(size=40) * sd, 3) + frame["x"] + rng.logistic(size=120)
    return frame.assign(y=np.digitize(latent, [-2.0, 2.0]) + 1)


@cache
def scalar(quadrature: int) -> LikelihoodResults:
    return ordfit("y ~ x + (1 | g)", skewed(), quadrature=quadrature)


def levels(theta: np.ndarray, score: float) -> np.ndarray:
    return np.diff(np.r_[0.0, expit(theta - score), 1.0])


def mean_over(of: Callable[[float], float], weight: Callable[[float], float], ends: tuple[float, float]) -> float:
    top, total = (quad(f, *ends, epsabs=0.0, epsrel=1e-10, limit=400)[0] for f in (lambda v: of(v) * weight(v), weight))
    return top / total


def expected(parameters: np.ndarray, own: pd.DataFrame, x: float, k: int) -> float:
    """P(level k) of a row with `x` in the group of rows `own`, at thresholds, slope and standard deviation."""
    theta, b, sd = parameters[:2], parameters[2], parameters[3]

    def density(v: float) -> float:
        rows = zip(own["x"], own["y"], strict=True)
        return float(np.prod([levels(theta, b * at + v)[y - 1] for at, y in rows]) * norm.pdf(v, scale=sd))

    return mean_over(lambda v: levels(theta, b * x + v)[k], density, (-15.0, 25.0))


def parameters(fit: LikelihoodResults) -> np.ndarray:
    return np.r_[fit.thresholds.to_numpy(), fit.coef.to_numpy(), fit.varcorr()["sd"].to_numpy()]


@pytest.mark.parametrize("quadrature", [1, 25])
@pytest.mark.parametrize("answers", [[3, 3, 3], [1, 1, 1], [1, 2, 3]])
def test_a_skewed_posterior_is_integrated(quadrature: int, answers: list[int]) -> None:
    fit, data = scalar(quadrature), skewed()
    alike = data.groupby("g")["y"].apply(lambda y: sorted(y) == answers)
    group = alike.index[alike][0]
    new = pd.DataFrame({"x": [-3.0, 0.5], "g": [group] * 2})
    found = fit.predict(new, type="prob", re="posterior").to_numpy()
    own = data[data["g"] == group]
    exact = [[expected(parameters(fit), own, x, k) for k in range(3)] for x in new["x"]]
    np.testing.assert_allclose(found, exact, rtol=1e-7)
    cumulative = fit.predict(new, type="cum_prob", re="posterior").to_numpy()
    np.testing.assert_allclose(cumulative, np.cumsum(exact, axis=1), rtol=1e-7)
    np.testing.assert_allclose(fit.predict(new, type="mean", re="posterior"), np.dot(exact, [1, 2, 3]), rtol=1e-7)


@pytest.mark.parametrize("quadrature", [1, 25])
def test_errors_are_those_of_differences(quadrature: int) -> None:
    """The delta method by hand: differences of SciPy's integral by every parameter."""
    fit, data = scalar(quadrature), skewed()
    group = data.groupby("g")["y"].min().idxmax()
    own, at = data[data["g"] == group], parameters(fit)
    new = pd.DataFrame({"x": [-3.0], "g": [group]})
    assert fit.fit.marginal is not None
    covariance = fit.fit.marginal.covariance
    steps = 1e-4 * np.eye(4)
    ends = [[expected(at + sign * step, own, -3.0, 2) for step in steps] for sign in (1.0, -1.0)]
    slope = np.subtract(*ends) / 2e-4
    out = fit.predict(new, type="prob", re="posterior", se=True)["std_error"].iloc[0, 2]
    assert out == pytest.approx(np.sqrt(slope @ covariance @ slope), rel=1e-5)


def test_scores_are_at_the_posterior_mean() -> None:
    fit, data = scalar(25), skewed()
    group = data.groupby("g")["y"].min().idxmax()
    own, (*theta, b, sd) = data[data["g"] == group], parameters(fit)

    def density(v: float) -> float:
        rows = zip(own["x"], own["y"], strict=True)
        return float(np.prod([levels(np.array(theta), b * x + v)[y - 1] for x, y in rows]) * norm.pdf(v, scale=sd))

    mean = mean_over(lambda v: v, density, (-15.0, 25.0))
    new = pd.DataFrame({"x": [0.0], "g": [group]})
    assert float(fit.predict(new, type="score", re="posterior").iloc[0]) == pytest.approx(mean, rel=1e-7)
    eta = fit.predict(new, type="linear_predictor", re="posterior").to_numpy()[0]
    np.testing.assert_allclose(eta, np.array(theta) - mean, rtol=1e-7)


@pytest.mark.parametrize("sd", [12.0, 40.0])
def test_large_deviations_and_rows_far_out(sd: float) -> None:
    """A slope alone, of effects many times as large as the errors; a new row ten times as steep as those of the fit."""
    rng = np.random.default_rng(1)
    g, x = np.repeat(np.arange(30), 4), rng.normal(size=120)
    latent = np.repeat(rng.normal(size=30) * sd, 4) * x + rng.logistic(size=120)
    data = pd.DataFrame({"g": g, "x": x, "y": np.digitize(latent, [-4.0, 4.0]) + 1})
    fit = ordfit("y ~ 1 + (0 + x | g)", data)
    theta, own_sd = fit.thresholds.to_numpy(), float(fit.varcorr()["sd"].iloc[0])
    own = data[data["g"] == 3]
    grid = np.linspace(-8.0 * own_sd, 8.0 * own_sd, 400_001)
    with np.errstate(divide="ignore"):
        ends = expit(theta[:, None, None] - np.outer(own["x"], grid))
        between = np.concatenate([ends[:1], np.diff(ends, axis=0), 1.0 - ends[-1:]])
        logs = np.log(between[own["y"].to_numpy() - 1, np.arange(4)]).sum(axis=0) + norm.logpdf(grid, 0.0, own_sd)
    weights = np.exp(logs - logs.max())
    new = pd.DataFrame({"x": [0.1, 1.0, 20.0], "g": 3})
    found = fit.predict(new, type="cum_prob", re="posterior").to_numpy()
    for i, at in enumerate(new["x"]):
        exact = (expit(theta[:, None] - at * grid) * weights).sum(axis=1) / weights.sum()
        np.testing.assert_allclose(found[i, :2], exact, rtol=1e-5, atol=1e-7)


def test_an_intercept_and_a_slope() -> None:
    rng = np.random.default_rng(2)
    g, x = np.repeat(np.arange(40), 5), rng.normal(size=200)
    latent = np.repeat(rng.normal(size=40) * 2, 5) + np.repeat(rng.normal(size=40), 5) * x + rng.logistic(size=200)
    data = pd.DataFrame({"g": g, "x": x, "y": np.digitize(latent, [-1.0, 1.0]) + 1})
    fit = ordfit("y ~ x + (1 + x | g)", data)
    theta, b = fit.thresholds.to_numpy(), float(fit.coef.iloc[0])
    assert fit.fit.marginal is not None
    root = fit.fit.marginal.terms[0].factor
    group = data.groupby("g")["y"].min().idxmax()
    own = data[data["g"] == group]

    points = np.linspace(-8.0, 8.0, 321)
    first, second = np.einsum("ab,bij->aij", root, np.stack(np.meshgrid(points, points, indexing="ij")))

    def surface(at: float, level: int) -> np.ndarray:
        ends = expit(theta[:, None, None] - b * at - first - second * at)
        return np.concatenate([ends[:1], np.diff(ends, axis=0), 1.0 - ends[-1:]])[level - 1]

    density = np.prod([surface(at, y) for at, y in zip(own["x"], own["y"], strict=True)], axis=0)
    density = density * np.outer(norm.pdf(points), norm.pdf(points))
    exact = float((surface(-2.0, 1) * density).sum() / density.sum())  # the trapezoid rule, on a fine grid
    new = pd.DataFrame({"x": [-2.0], "g": [group]})
    found = float(fit.predict(new, type="prob", re="posterior").iloc[0, 0])
    assert found == pytest.approx(exact, rel=1e-5)


@pytest.fixture(scope="module")
def nested() -> tuple[LikelihoodResults, pd.DataFrame]:
    rng = np.random.default_rng(3)
    a, c = np.repeat(np.arange(12), 9), np.repeat(np.arange(36), 3)
    latent = np.repeat(rng.normal(size=12) * 2, 9) + np.repeat(rng.normal(size=36) * 1.5, 3) + rng.logistic(size=108)
    data = pd.DataFrame({"a": a, "c": c % 3, "y": np.digitize(latent, [-1.0, 1.0]) + 1})
    return ordfit("y ~ 1 + (1 | a/c)", data), data


def nested_exact(fit: LikelihoodResults, data: pd.DataFrame, a: int, c: int | None) -> float:
    """P(level 1) of a row of a class of the fit, or of a new one, by integrals within an integral."""
    theta = fit.thresholds.to_numpy()
    table = fit.varcorr()["sd"]
    outer, inner = float(table["a"].iloc[0]), float(table.drop("a", level=0).iloc[0])
    points, step = np.linspace(-8.5, 8.5, 401, retstep=True)
    prior = norm.pdf(points) * step
    scores = outer * points[:, None] + inner * points
    ends = expit(theta[:, None, None] - scores)
    p = np.concatenate([ends[:1], np.diff(ends, axis=0), 1.0 - ends[-1:]])
    weight, value = prior.copy(), (p[0] @ prior if c is None else None)
    for own, rows in data[data["a"] == a].groupby("c"):
        product = np.prod([p[y - 1] for y in rows["y"]], axis=0)
        integral = product @ prior
        weight = weight * integral
        if own == c:
            value = (product * p[0]) @ prior / integral
    assert value is not None
    return float((weight * value).sum() / weight.sum())


def test_nested_groups_and_new_ones_within(nested: tuple[LikelihoodResults, pd.DataFrame]) -> None:
    fit, data = nested
    new = pd.DataFrame({"a": [0, 3, 5, 5], "c": [0, 1, 2, 77]})
    found = fit.predict(new, type="prob", re="posterior").iloc[:, 0]
    exact = [nested_exact(fit, data, *pair) for pair in ((0, 0), (3, 1), (5, 2), (5, None))]
    np.testing.assert_allclose(found, exact, rtol=1e-5)


def test_given_rows_are_data_too() -> None:
    """A new group whose answers are given: the same as the group of the fit that gave them."""
    fit, data = scalar(1), skewed()
    group = data.groupby("g")["y"].min().idxmax()
    given = data[data["g"] == group].assign(g=1000)
    new = pd.DataFrame({"x": [-3.0], "g": [group]})
    found = fit.predict(new.assign(g=1000), type="prob", re="posterior", given=given)
    pd.testing.assert_frame_equal(found, fit.predict(new, type="prob", re="posterior"), rtol=1e-6)


def test_blocks_of_rows_are_the_rows(nested: tuple[LikelihoodResults, pd.DataFrame]) -> None:
    """Known, partly known and unknown groups beside each other, each as alone."""
    fit, _ = nested
    new = pd.DataFrame({"a": [0, 99, 5, 3], "c": [0, 0, 77, 1]})
    both = fit.predict(new, type="prob", re="posterior", se=True)
    for i in range(len(new)):
        pd.testing.assert_frame_equal(both.iloc[[i]], fit.predict(new.iloc[[i]], type="prob", re="posterior", se=True))
