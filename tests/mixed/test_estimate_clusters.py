"""Other errors than the model's: cluster-robust errors by scores of whole groups, and
the parametric bootstrap.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from seams import LikelihoodResults

from ordstat import datasets, ordfit

WINE = datasets.load("wine")
CODES = WINE["judge"].cat.codes.to_numpy()


def integral(psi: np.ndarray, rows: pd.DataFrame) -> float:
    """Log-likelihood of one judge under (1 | judge), by SciPy's quadrature; psi = (4
    thresholds, 2 effects, sd).
    """
    H = psi[4] * (rows["temp"] == "warm") + psi[5] * (rows["contact"] == "yes")
    ends = np.concatenate([[-np.inf], psi[:4], [np.inf]])
    y = rows["rating"].cat.codes.to_numpy()

    def product(v: float) -> float:
        shift = H.to_numpy() + psi[6] * v
        upper, lower = (1.0 / (1.0 + np.exp(-(ends[y + k] - shift))) for k in (1, 0))
        return float(np.prod(upper - lower) * norm.pdf(v))

    return float(
        np.log(quad(product, -9.0, 9.0, epsabs=0.0, epsrel=1e-12, limit=400)[0])
    )


def test_scores_are_differences_of_integrals() -> None:
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE, quadrature=25)
    psi = np.append(fit.params.to_numpy(), fit.varcorr()["sd"].to_numpy())
    actual = fit.fit.likelihood.score_totals(CODES, 9)
    for judge in (0, 4, 8):
        rows = WINE[judge == CODES]
        differences = [
            (integral(psi + h, rows) - integral(psi - h, rows)) / 2e-4
            for h in 1e-4 * np.eye(7)
        ]
        assert actual[judge].tolist() == pytest.approx(differences, abs=2e-7)


def test_sandwich() -> None:
    """G / (G - 1) B S'S B with the sums above, by hand."""
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE, quadrature=25)
    scores = fit.fit.likelihood.score_totals(CODES, 9)
    bread = fit.vcov().to_numpy()
    expected = 9.0 / 8.0 * bread @ scores.T @ scores @ bread
    np.testing.assert_allclose(
        fit.vcov({"cluster": "judge"}).to_numpy(), expected, rtol=1e-9
    )


def drawn() -> pd.DataFrame:
    rng = np.random.default_rng(11)
    n = 240
    data = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "school": rng.integers(0, 8, n),
            "room": rng.integers(0, 4, n),
        }
    )
    effects = (
        0.8 * rng.normal(size=8)[data["school"]]
        + 0.6 * rng.normal(size=(8, 4))[data["school"], data["room"]]
    )
    latent = data["x"] + effects + rng.logistic(size=n)
    return data.assign(
        y=pd.Categorical(np.digitize(latent, [-1.0, 1.0]), ordered=True),
        w=rng.integers(1, 4, n),
    )


@pytest.mark.parametrize(
    "term", ["(1 + x | school)", "(1 | school/room)", "(1 + x || school)"]
)
def test_scores_of_clusters_under_laplace(term: str) -> None:
    """Differences of the log-likelihood with the weights of a cluster alone doubled,
    less that without.
    """
    data = drawn()
    fit = ordfit(f"y ~ x + {term}", data, weights="w", scale="x")
    here = fit.fit.marginal.likelihood
    codes = (data["school"] % 4).to_numpy()
    actual = here.score_totals(codes, 4)

    def loglik(psi: np.ndarray, cluster: int) -> float:
        inside = (codes == cluster)[here.model.along]
        part = replace(
            here,
            model=replace(
                here.model, weights=np.where(inside, here.model.weights, 1e-12)
            ),
        )
        return float(part.objective(psi, here.at.v).loglik)

    for cluster in range(4):
        steps = 1e-4 * np.eye(here.at.psi.size)
        slopes = [
            loglik(here.at.psi + h, cluster) - loglik(here.at.psi - h, cluster)
            for h in steps
        ]
        np.testing.assert_allclose(
            actual[cluster], np.array(slopes) / 2e-4 @ here.from_user(), atol=3e-6
        )


@pytest.fixture(scope="module")
def robust() -> LikelihoodResults:
    return ordfit("rating ~ temp + contact + (1 | judge)", WINE, cluster="judge")


def test_clusters_of_the_fit(robust: LikelihoodResults) -> None:
    plain = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    part = plain.with_vcov({"cluster": "judge"})
    assert part.se.tolist() == robust.se.tolist()
    assert (
        part.se.tolist()
        == np.sqrt(np.diag(plain.vcov({"cluster": CODES})))[:6].tolist()
    )
    assert robust.varcorr()["std_error"].iloc[0] == pytest.approx(
        np.sqrt(robust.vcov().iloc[-1, -1])
    )
    assert "cluster-robust, t with 8 df, 9 clusters" in str(robust.summary("fit"))


def panel(groups: int = 80, size: int = 10) -> pd.DataFrame:
    rng = np.random.default_rng(9)
    n = groups * size
    data = pd.DataFrame({"x": rng.normal(size=n), "g": np.arange(n) % groups})
    slopes = 1.0 + 0.8 * rng.normal(size=groups)
    latent = (
        slopes[data["g"]] * data["x"]
        + rng.normal(size=groups)[data["g"]]
        + rng.logistic(size=n)
    )
    return data.assign(
        y=pd.Categorical(np.digitize(latent, [-1.5, 0.0, 1.5]), ordered=True)
    )


def test_bootstrap_has_the_spread_of_the_estimates() -> None:
    """Against the errors by the information, in a sample large enough for both."""
    fit = ordfit("y ~ x + (1 | g)", panel(60, 15))
    draws = fit.bootstrap(80, seed=2)
    errors = fit.se.tolist() + fit.varcorr()["std_error"].tolist()
    ratio = draws.se.to_numpy() / errors
    assert np.all((ratio > 0.7) & (ratio < 1.35))
    assert draws.estimate.tolist() == pytest.approx([*fit.params, *fit.varcorr()["sd"]])
    assert (
        "Bootstrap of responses simulated with new random effects, 80 replicates"
        in repr(draws)
    )
