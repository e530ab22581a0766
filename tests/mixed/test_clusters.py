"""Cluster-robust errors beside random effects: scores of whole groups against differences of their log-likelihoods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from ordstat import datasets, ordfit
from ordstat._typing import FloatArray
from ordstat.exceptions import OptionError
from ordstat.results.likelihood.results import LikelihoodResults

WINE = datasets.load("wine")
CODES = WINE["judge"].cat.codes.to_numpy()


def integral(psi: FloatArray, rows: pd.DataFrame) -> float:
    """Log-likelihood of one judge under (1 | judge), by SciPy's quadrature; psi = (4 thresholds, 2 effects, sd)."""
    H = psi[4] * (rows["temp"] == "warm") + psi[5] * (rows["contact"] == "yes")
    ends = np.concatenate([[-np.inf], psi[:4], [np.inf]])
    y = rows["rating"].cat.codes.to_numpy()

    def product(v: float) -> float:
        shift = H.to_numpy() + psi[6] * v
        upper, lower = (1.0 / (1.0 + np.exp(-(ends[y + k] - shift))) for k in (1, 0))
        return float(np.prod(upper - lower) * norm.pdf(v))

    return float(np.log(quad(product, -9.0, 9.0, epsabs=0.0, epsrel=1e-12, limit=400)[0]))


def test_scores_are_differences_of_integrals() -> None:
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE, quadrature=25)
    psi = np.append(fit.params.to_numpy(), fit.varcorr()["sd"].to_numpy())
    found = fit.fit.likelihood.score_totals(CODES, 9)
    for judge in range(9):
        rows = WINE[judge == CODES]
        differences = [(integral(psi + h, rows) - integral(psi - h, rows)) / 2e-4 for h in 1e-4 * np.eye(7)]
        assert found[judge].tolist() == pytest.approx(differences, abs=2e-7)


def test_sandwich() -> None:
    """G / (G - 1) B S'S B with the sums above, by hand."""
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE, quadrature=25)
    scores, bread = fit.fit.likelihood.score_totals(CODES, 9), fit.vcov().to_numpy()
    expected = 9.0 / 8.0 * bread @ scores.T @ scores @ bread
    np.testing.assert_allclose(fit.vcov({"cluster": "judge"}).to_numpy(), expected, rtol=1e-9)


def drawn() -> pd.DataFrame:
    rng = np.random.default_rng(11)
    n = 240
    data = pd.DataFrame({"x": rng.normal(size=n), "school": rng.integers(0, 8, n), "room": rng.integers(0, 4, n)})
    effects = 0.8 * rng.normal(size=8)[data["school"]] + 0.6 * rng.normal(size=(8, 4))[data["school"], data["room"]]
    latent = data["x"] + effects + rng.logistic(size=n)
    return data.assign(y=pd.Categorical(np.digitize(latent, [-1.0, 1.0]), ordered=True), w=rng.integers(1, 4, n))


@pytest.mark.parametrize("term", ["(1 + x | school)", "(1 | school/room)", "(1 + x || school)"])
def test_scores_of_clusters_under_laplace(term: str) -> None:
    """Differences of the log-likelihood with the weights of a cluster alone doubled, less that without."""
    data = drawn()
    fit = ordfit(f"y ~ x + {term}", data, weights="w", scale="x")
    here = fit.fit.marginal.likelihood
    codes = (data["school"] % 4).to_numpy()
    found = here.scores(codes, 4)

    def loglik(psi: FloatArray, cluster: int) -> float:
        inside = (codes == cluster)[here.model.along]
        own = replace(here, model=replace(here.model, weights=np.where(inside, here.model.weights, 1e-12)))
        return float(own.objective(psi, here.at.v).loglik)

    for cluster in range(4):
        for j, h in enumerate(1e-4 * np.eye(found.shape[1])):
            moved = loglik(here.at.psi + h, cluster) - loglik(here.at.psi - h, cluster)
            assert found[cluster, j] == pytest.approx(moved / 2e-4, abs=3e-6)


@pytest.fixture(scope="module")
def robust() -> LikelihoodResults:
    return ordfit("rating ~ temp + contact + (1 | judge)", WINE, cluster="judge")


def test_clusters_of_the_fit(robust: LikelihoodResults) -> None:
    plain = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    own = plain.with_vcov({"cluster": "judge"})
    assert own.se.tolist() == robust.se.tolist()
    assert own.se.tolist() == np.sqrt(np.diag(plain.vcov({"cluster": CODES})))[:6].tolist()
    assert robust.varcorr()["std_error"].iloc[0] == pytest.approx(np.sqrt(robust.vcov().iloc[-1, -1]))
    assert "cluster-robust, 9 clusters" in str(robust.summary("fit"))


def test_robust_predictions_and_effects(robust: LikelihoodResults) -> None:
    """Errors of averages by the delta method from differences, and from derivatives, with one covariance."""
    new = pd.DataFrame({"temp": ["cold", "warm"], "contact": "no"})
    predicted = robust.predict(new, type="mean", re="marginal", se=True)["std_error"]
    means = robust.emmeans("temp", scale="mean", at={"contact": ["no"]}).frame["std_error"]
    assert means.tolist() == pytest.approx(predicted.tolist(), rel=1e-6)
    assert "cluster-robust, 9 clusters" in repr(robust.marginal_effects("temp"))


def test_tests_are_wald_tests_then(robust: LikelihoodResults) -> None:
    found = robust.drop1("temp")
    assert found["chisq"].iloc[0] == pytest.approx(robust.z_values["temp[T.warm]"] ** 2)


def test_wald_tests_know_nothing_of_variances(robust: LikelihoodResults) -> None:
    wider = robust.update("~ . - (1 | judge) + (1 + temp | judge)")
    with pytest.raises(OptionError, match=r"takes models of the same random effects; .* Use test='LR'"):
        robust.anova(wider)
    found = robust.anova(robust.update("~ . + temp:contact"))
    assert found["df"].iloc[1] == 1


def test_a_variance_of_zero_has_the_errors_of_the_fit_without() -> None:
    flat = WINE.assign(g=np.arange(72) % 6)
    fit, plain = (ordfit(f"rating ~ temp{term}", flat, cluster="g") for term in (" + (1 | g)", ""))
    assert fit.varcorr()["sd"].iloc[0] == 0.0
    assert fit.se.tolist() == pytest.approx(plain.se.tolist(), rel=1e-6)


def test_clusters_that_split_groups_are_refused() -> None:
    fit = ordfit("rating ~ temp + (1 | judge)", WINE)
    with pytest.raises(OptionError, match=r"cluster must keep the rows of each group .* split 9 of the 9 groups"):
        fit.vcov({"cluster": "bottle"})
    with pytest.raises(OptionError, match=r"as rows of one group are not independent; got 'HC0'"):
        fit.vcov("HC0")
    with pytest.raises(OptionError, match=r"vcov must be 'model' or \{'cluster': ...\}, with whole groups"):
        ordfit("rating ~ temp + (1 | judge)", WINE, vcov={"cluster": "judge", "type": "CR2"})


def test_errors_do_not_know_the_origin_of_a_slope() -> None:
    """(1 + year | g) of years 2000..2011 is (1 + year | g) of centred ones: its columns are made orthogonal."""
    rng = np.random.default_rng(5)
    g, year = np.repeat(np.arange(30), 12), np.tile(np.arange(12.0), 30)
    d = pd.DataFrame({"g": g, "year": 2000.0 + year, "x": rng.normal(size=360)})
    latent = (
        d["x"] + rng.normal(size=30)[g] + (0.1 + 0.2 * rng.normal(size=30)[g]) * (year - 5.5) + rng.logistic(size=360)
    )
    d = d.assign(y=pd.Categorical(np.digitize(latent, [-1.0, 1.0]), ordered=True), since=year - 5.5)
    far, near = (ordfit(f"y ~ x + {c} + (1 + {c} | g)", d, vcov={"cluster": "g"}) for c in ("year", "since"))
    assert far.se.to_numpy()[-2:] == pytest.approx(near.se.to_numpy()[-2:], rel=1e-6)
    errors = [one.random_parameters.errors[1] for one in (far, near)]
    assert errors[0] == pytest.approx(errors[1], rel=1e-5)
    new = d.iloc[:5]
    found = [one.predict(new, type="prob", se=True)["std_error"].to_numpy() for one in (far, near)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
