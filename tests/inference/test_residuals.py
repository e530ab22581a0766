"""Residuals against their definitions, written out with SciPy's distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from expected import refused, rows_left_out
from scipy import stats
from seams import LINKS, CostMatrix, Cumulative, LikelihoodRule, Rows, Sample

from inference.samples import LATENT, THETA, ends, fitted, frame
from ordstat import ordfit
from ordstat.exceptions import SeparationWarning
from ordstat.inference.residuals import residuals

#: Case weights of these data have a mean above 2, as sampling weights do.
pytestmark = pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)

MODELS = {
    "plain": {},
    "weights": {"weights": "w"},
    "nominal": {"formula": "y ~ x", "nominal": "~ f"},
    "scale": {"scale": "~ z"},
    "offset": {"formula": "y ~ f + offset(0.8 * x)"},
}
CASES = [
    *((link, "plain") for link in LATENT),
    *(("logit", model) for model in list(MODELS)[1:]),
]


def density(F: Any, t: np.ndarray) -> np.ndarray:
    """SciPy's Gumbel densities are NaN at infinity."""
    return np.where(np.isinf(t), 0.0, F.pdf(np.where(np.isinf(t), 0.0, t)))


@pytest.mark.parametrize(("link", "model"), CASES)
def test_residuals_follow_their_definitions(link: str, model: str) -> None:
    fit = fitted(link, **MODELS[model])
    F = LATENT[link]
    u, lo, s = ends(fit)
    p = F.cdf(u) - F.cdf(lo)
    np.testing.assert_allclose(
        fit.residuals("probability-scale"), F.cdf(lo) - F.sf(u), atol=1e-10
    )
    np.testing.assert_allclose(
        fit.residuals("generalised"),
        s * (density(F, lo) - density(F, u)) / p,
        rtol=1e-7,
        atol=1e-9,
    )
    deviance = fit.residuals("deviance")
    np.testing.assert_allclose(
        deviance, np.sign(F.cdf(lo) - F.sf(u)) * np.sqrt(-2 * np.log(p)), rtol=1e-8
    )
    assert fit.design.sample.case_weights @ deviance**2 == pytest.approx(
        fit.deviance, rel=1e-12
    )
    latent = fit.residuals("surrogate", seed=3).to_numpy() + (
        0.0 if link == "cauchit" else F.mean()
    )
    assert np.all((latent >= lo) & (latent <= u))


@pytest.mark.parametrize("link", LATENT)
def test_generalised_residuals_are_derivatives_by_the_score(link: str) -> None:
    """dlog p / dH by central differences of the latent distribution."""
    fit = fitted(link)
    F = LATENT[link]
    h = 1e-5
    u, lo, _ = ends(fit)
    log_p = [np.log(F.cdf(u - step) - F.cdf(lo - step)) for step in (h, -h)]
    np.testing.assert_allclose(
        fit.residuals("generalised"), (log_p[0] - log_p[1]) / (2 * h), atol=1e-7
    )


def test_scores_of_the_estimates_vanish() -> None:
    """The likelihood equations: generalised residuals are orthogonal to the columns."""
    fit = fitted(weights="w")
    weighted = fit.design.sample.case_weights * fit.residuals("generalised")
    np.testing.assert_allclose(
        weighted.to_numpy() @ fit.design.sample.X, 0.0, atol=1e-7
    )


@pytest.mark.parametrize("link", LATENT)
def test_residuals_under_the_true_model(link: str) -> None:
    """Surrogates are a sample of the centred latent distribution; the others have mean
    0 (true parameters).
    """
    data = frame(link, n=20_000, seed=5)
    f = data["f"].to_numpy()
    X = np.column_stack([data["x"], f == "b", f == "c"]).astype(float)
    rule = LikelihoodRule(
        family=Cumulative(LINKS[link]),
        alpha=THETA[:, None],
        beta=np.array([0.8, 0.5, -0.4]),
        zeta=np.zeros(0),
        cost=CostMatrix.classification(),
    )
    sample = Sample(
        rows=Rows(X=X), y=data["y"].cat.codes.to_numpy().astype(np.intp), n_levels=4
    )
    mean = 0.0 if link == "cauchit" else LATENT[link].mean()
    surrogate = residuals(rule, sample, "surrogate", np.random.default_rng(1))
    assert stats.kstest(LATENT[link].cdf(surrogate + mean), "uniform").pvalue > 1e-3
    for half in (X[:, 0] > 1.0, X[:, 0] < -1.0):  # independent of the covariates too
        assert (
            stats.kstest(LATENT[link].cdf(surrogate[half] + mean), "uniform").pvalue
            > 1e-3
        )
    for name in ("probability-scale", "generalised"):
        actual = residuals(rule, sample, name, np.random.default_rng(1))
        assert abs(actual.mean()) < 4 * actual.std() / np.sqrt(actual.size)


@pytest.mark.parametrize("link", LATENT)
@pytest.mark.parametrize("shift", [-30.0, 30.0])
def test_surrogates_stay_in_their_interval_in_the_tails(
    link: str, shift: float
) -> None:
    """H far from every threshold: the tail that holds the interval has to be used."""
    y = np.repeat([0, 1, 2, 3], 50)
    rule = LikelihoodRule(
        family=Cumulative(LINKS[link]),
        alpha=THETA[:, None],
        beta=np.array([1.0]),
        zeta=np.zeros(0),
        cost=CostMatrix.classification(),
    )
    reach = shift / 10 if link in ("cloglog", "loglog") else shift
    sample = Sample(rows=Rows(X=np.full((200, 1), reach)), y=y, n_levels=4)
    mean = 0.0 if link == "cauchit" else LATENT[link].mean()
    actual = residuals(rule, sample, "surrogate", np.random.default_rng(0)) + mean
    padded = np.concatenate([[-np.inf], THETA, [np.inf]]) - reach
    assert np.all(np.isfinite(actual))
    assert np.all((actual >= padded[y] - 1e-12) & (actual <= padded[y + 1] + 1e-12))
    inside = actual[y == 1]
    assert np.unique(inside).size > 40


def test_series_on_the_index_with_a_seed() -> None:
    data = frame().set_axis([f"row {i}" for i in range(300)])
    data.loc["row 7", "x"] = np.nan
    with rows_left_out():
        fit = ordfit("y ~ x + f", data)
    one, same, other = (
        fit.residuals(seed=seed) for seed in (1, np.random.default_rng(1), 2)
    )
    assert (
        one.index.equals(fit.design.index)
        and "row 7" not in one.index
        and one.name == "surrogate"
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("seed", [-1, "a", 1.5])
def test_bad_seeds(seed: object) -> None:
    with refused("seed"):
        fitted().residuals(seed=seed)


@pytest.mark.parametrize("type", ["response", None, 1])
def test_unknown_types(type: object) -> None:
    with refused("type"):
        fitted().residuals(type)


def test_residuals_of_a_separated_fit_vanish() -> None:
    """Every observed level has probability 1: nothing is left to explain, and nothing
    is 0 / 0.
    """
    data = pd.DataFrame({"y": [1, 1, 2, 2, 3, 3], "x": [0.0, 1, 2, 3, 4, 5]})
    with pytest.warns(SeparationWarning):
        fit = ordfit("y ~ x", data)
    for name in ("probability-scale", "generalised", "deviance"):
        assert fit.residuals(name).abs().max() < 1e-4
    assert np.isfinite(fit.residuals()).all()
