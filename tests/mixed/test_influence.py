"""Influence of whole groups: by fits without them, by one Newton step; and the parametric bootstrap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ordstat import datasets, ordfit
from ordstat.exceptions import DataWarning, OptionError
from ordstat.results.likelihood.results import LikelihoodResults
from ordstat.solvers.likelihood.mixed.search import negative_hessian

WINE = datasets.load("wine")


def drawn(groups: int = 80, size: int = 10) -> pd.DataFrame:
    rng = np.random.default_rng(9)
    n = groups * size
    data = pd.DataFrame({"x": rng.normal(size=n), "g": np.arange(n) % groups})
    slopes = 1.0 + 0.8 * rng.normal(size=groups)
    latent = slopes[data["g"]] * data["x"] + rng.normal(size=groups)[data["g"]] + rng.logistic(size=n)
    return data.assign(y=pd.Categorical(np.digitize(latent, [-1.5, 0.0, 1.5]), ordered=True))


def estimates(fit: LikelihoodResults) -> list[float]:
    return [*fit.params, *fit.varcorr()["sd"]]


def test_fits_without_each_judge() -> None:
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    found = fit.influence()
    assert found.refit
    for judge in (1, 7):
        few = WINE[WINE["judge"] != judge].assign(judge=lambda d: d["judge"].cat.remove_unused_categories())
        without = ordfit("rating ~ temp + contact + (1 | judge)", few)
        expected = np.subtract(estimates(fit), estimates(without))
        assert found.dfbeta.loc[judge].tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    own = fit.vcov().to_numpy()
    cook = found.dfbeta.loc[7] @ np.linalg.inv(own) @ found.dfbeta.loc[7] / 7.0
    assert found.cooks[7] == pytest.approx(cook, rel=1e-9)
    assert found.dfbetas.loc[7].tolist() == pytest.approx((found.dfbeta.loc[7] / np.sqrt(np.diag(own))).tolist())


@pytest.mark.parametrize(("term", "quadrature"), [("(1 | g)", 1), ("(1 | g)", 7), ("(1 + x | g)", 1)])
def test_one_step_is_newtons(term: str, quadrature: int) -> None:
    """The step on the likelihood of the other groups, its Hessian by differences of its own gradient."""
    fit = ordfit(f"y ~ x + {term}", drawn(30), quadrature=quadrature)
    found = fit.influence(refit=False)
    here = fit.fit.marginal.likelihood
    for group in (0, 17):
        inside = (fit.design.sample.rows.random.terms[0].codes == group)[here.model.along]
        others = replace(here, model=replace(here.model, weights=np.where(inside, 1e-13, here.model.weights)))
        at = others.objective(here.at.psi, here.at.v)
        step = np.linalg.solve(negative_hessian(others.objective, at, here.free), at.gradient)
        moved = -(here.to_user() @ step)
        assert found.dfbeta.loc[group].iloc[:4].tolist() == pytest.approx(moved[:4].tolist(), rel=2e-4, abs=1e-6)
        sd = fit.random_parameters.slopes @ moved[4:]
        assert found.dfbeta.loc[group].iloc[4:].tolist() == pytest.approx(sd.tolist(), rel=2e-4, abs=1e-6)


def test_one_step_is_near_the_fits_where_groups_are_many() -> None:
    fit = ordfit("y ~ x + (1 | g)", drawn())
    steps, fits = fit.influence(), fit.influence(refit=True)
    assert fits.refit and not steps.refit
    assert np.corrcoef(steps.dfbeta["x"], fits.dfbeta["x"])[0, 1] > 0.999
    assert np.abs(steps.dfbeta - fits.dfbeta).max().max() < 0.02
    assert "one Newton step" in str(steps) and "fits without each group" in str(fits)


def test_groups_by_name() -> None:
    fit = ordfit("rating ~ temp + contact + (1 | judge) + (1 | bottle)", WINE)
    assert fit.influence().cooks.index.name == "judge"
    assert fit.influence("bottle").rows.tolist() == [9.0] * 8
    with pytest.raises(OptionError, match="refit must be left out, or True, for group='judge'"):
        fit.influence(refit=False)
    with pytest.raises(OptionError, match="group must be one of 'judge', 'bottle'"):
        fit.influence("bottel")
    with pytest.raises(OptionError, match="group and refit must be left out"):
        ordfit("rating ~ temp", WINE).influence("judge")


def test_nested_groups_leave_by_the_outer_ones() -> None:
    data = drawn(20).assign(room=lambda d: np.arange(len(d)) // 20 % 3)
    fit = ordfit("y ~ x + (1 | g/room)", data)
    assert fit.influence(refit=False).cooks.index.name == "g"
    inner = fit.influence("g:room", refit=True)
    assert len(inner.cooks) == 60 and inner.refit


def test_bootstrap_has_the_spread_of_the_estimates() -> None:
    """Against the errors by the information, in a sample large enough for both."""
    fit = ordfit("y ~ x + (1 | g)", drawn(60, 15))
    draws = fit.bootstrap(80, seed=2)
    errors = fit.se.tolist() + fit.varcorr()["std_error"].tolist()
    ratio = draws.se.to_numpy() / errors
    assert np.all((ratio > 0.7) & (ratio < 1.35))
    assert draws.estimate.tolist() == pytest.approx(estimates(fit))
    assert "Bootstrap of responses simulated with new random effects, 80 replicates" in repr(draws)


def test_bootstrap_of_a_statistic_by_seed() -> None:
    fit = ordfit("rating ~ temp + (1 | judge)", WINE)
    one, two = (fit.bootstrap(6, seed=5, statistic=lambda f: f.varcorr()["variance"].iloc[0]) for _ in range(2))
    assert one.replicates.equals(two.replicates) and one.replicates["statistic"].nunique() == 6


def test_bootstraps_that_are_refused() -> None:
    fit = ordfit("rating ~ temp + (1 | judge)", WINE)
    with pytest.raises(OptionError, match="cluster must be left out where the fit has random effects"):
        fit.bootstrap(5, cluster="judge")
    weighted = ordfit("rating ~ temp + (1 | judge)", WINE, weights=1 + np.arange(72) % 2)
    with pytest.raises(OptionError, match="simulates one response a row"):
        weighted.bootstrap(5)


def near_singular() -> pd.DataFrame:
    """15 groups of 8 rows with little variance: the correlation of (1 + x | g) is at its boundary."""
    rng = np.random.default_rng(0)
    g = np.repeat(np.arange(15), 8)
    data = pd.DataFrame({"g": g, "x": rng.normal(size=120), "z": rng.normal(size=120)})
    latent = data["x"] + 0.7 * rng.normal(size=15)[g] * (1.0 + 0.8 * data["x"]) + rng.logistic(size=120)
    return data.assign(y=pd.Categorical(np.digitize(latent, [-1.0, 1.0]), ordered=True))


@pytest.mark.parametrize("term", ["(1 + x | g)", "(1 + x + z | g)"])
def test_distances_where_the_covariance_is_singular(term: str) -> None:
    """Those of the free directions, by the pseudoinverse of the covariance of what has a variance."""
    fit = ordfit(f"y ~ x + {term}", near_singular())
    effects = fit.fit.marginal.terms[0]
    assert np.linalg.matrix_rank(effects.covariance, tol=1e-8) < len(effects.covariance)
    found = fit.influence(refit=False)
    covariance = fit.vcov().to_numpy()
    known = np.isfinite(np.diag(covariance))
    moved, own = np.nan_to_num(found.dfbeta.to_numpy()[:, known]), covariance[np.ix_(known, known)]
    inverse = np.linalg.pinv(own, rcond=1e-9, hermitian=True)
    rank = np.linalg.matrix_rank(own, tol=1e-9 * np.linalg.norm(own, 2), hermitian=True)
    expected = np.einsum("gp,pq,gq->g", moved, inverse, moved) / rank
    assert found.cooks.to_numpy() == pytest.approx(expected, rel=1e-5)
    assert found.cooks.max() < 10.0


def test_a_correlation_of_one_has_no_error() -> None:
    fit = ordfit("y ~ x + (1 + x | g)", near_singular())
    name = "cor_x.(Intercept)|g"
    assert abs(fit.random_parameters.estimates[-1]) == pytest.approx(1.0, abs=1e-12)
    assert fit.random_parameters.names[-1] == name and np.isnan(fit.random_parameters.errors[-1])
    assert np.isnan(fit.vcov().loc[name, name]) and np.isfinite(fit.random_parameters.errors[:-1]).all()


def test_groups_of_a_given_covariance_are_left_out_by_fits() -> None:
    """Every group depends on all others, so that no part of the likelihood is its own."""
    data = drawn(12, 10).assign(g=lambda d: [f"g{code:02d}" for code in d["g"]])
    names = sorted(data["g"].unique())
    K = pd.DataFrame(0.5 + 0.5 * np.eye(12), index=names, columns=names)
    fit = ordfit("y ~ x + (1 | g)", data, cov={"g": K})
    with pytest.raises(OptionError, match="refit must be left out, or True, for group='g'"):
        fit.influence(refit=False)
    found = fit.influence()
    without = ordfit("y ~ x + (1 | g)", data[data["g"] != "g03"], cov={"g": K})
    expected = np.subtract(estimates(fit), estimates(without))
    assert found.refit and found.dfbeta.loc["g03"].tolist() == pytest.approx(expected.tolist(), abs=1e-5)


def test_a_group_left_alone_has_no_variance() -> None:
    """Of two groups without one there is one, which has no standard deviation."""
    data = drawn(2, 60)
    with pytest.warns(DataWarning, match="has 2 groups"):
        fit = ordfit("y ~ x + (1 | g)", data)
    found = fit.influence()
    assert found.refit and found.dfbeta.isna().all(axis=None) and found.cooks.isna().all()
