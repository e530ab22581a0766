"""Predictions with random effects against R's fitted values, brute-force integration and draws."""

from __future__ import annotations

import pickle
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reference_cases import case_names, load_case, load_data
from scipy.integrate import quad
from scipy.stats import norm

from ordstat import datasets, ordfit
from ordstat.exceptions import DataError, DataWarning, OptionError
from ordstat.model.likelihood.links import LINKS
from ordstat.results.likelihood.results import LikelihoodResults

WINE = datasets.load("wine")
NEW = pd.DataFrame({"temp": ["cold", "warm", "warm"], "contact": ["no", "yes", "no"], "judge": [1, 5, 9]})


@pytest.fixture(scope="module")
def fit() -> LikelihoodResults:
    return ordfit("rating ~ temp + contact + (1 | judge)", WINE)


@pytest.mark.parametrize("name", ["wine_clmm_laplace", "crossed_clmm_slope", "nested_clmm_slash", "long_clmm_weights"])
def test_fitted_values_are_those_of_r(name: str) -> None:
    """R's fitted(): the probability of the observed level at the modes, first 20 rows; at R's own optimum."""
    assert name in case_names("clmm")
    case = load_case(name)
    options: dict[str, Any] = {"weights": case.spec["weights"]} if "weights" in case.spec else {}
    fit = ordfit(case.spec["formula"], case.frame(), **options)
    y = fit.design.sample.y[:20]
    own = fit.predict(type="prob").to_numpy()[np.arange(20), y]
    np.testing.assert_allclose(own, case.raw["fitted_head"], atol=2e-4)


def averaged(fit: LikelihoodResults, row: pd.Series, mean: float, variance: float) -> list[float]:
    """Probabilities averaged over N(mean, variance) by SciPy's adaptive quadrature."""
    effects = fit.coef["temp[T.warm]"] * (row["temp"] == "warm") + fit.coef["contact[T.yes]"] * (
        row["contact"] == "yes"
    )
    theta, cdf = fit.thresholds.to_numpy(), fit.rule.link.cdf

    def below(b: float, k: int) -> float:
        return float(cdf(np.array([theta[k] - effects - b]))[0] * norm.pdf(b, mean, np.sqrt(variance)))

    ends = mean - 9.0 * np.sqrt(variance), mean + 9.0 * np.sqrt(variance)
    cumulative = [quad(partial(below, k=k), *ends, epsabs=1e-12, limit=200)[0] for k in range(theta.size)]
    return np.diff([0.0, *cumulative, 1.0]).tolist()


@pytest.mark.parametrize("link", LINKS)
def test_averages_are_the_integrals(link: str) -> None:
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE, link)
    sd = fit.varcorr()["sd"].iloc[0]
    marginal = fit.predict(NEW, type="prob", re="marginal").to_numpy()
    for i, row in NEW.iterrows():
        near = 1e-5 if link == "cauchit" else 2e-7  # its poles are near, and nodes do less
        assert marginal[i].tolist() == pytest.approx(averaged(fit, row, 0.0, sd**2), abs=near)


def test_all_kinds_agree_with_each_other(fit: LikelihoodResults) -> None:
    zero, mode = fit.predict(NEW, type="score", re="zero"), fit.predict(NEW, type="score")
    modes = fit.ranef().set_index("level").loc[NEW["judge"], "mode"]
    np.testing.assert_allclose(mode - zero, modes)
    for re in ("mode", "zero", "marginal"):
        prob = fit.predict(NEW, type="prob", re=re)
        np.testing.assert_allclose(prob.sum(axis=1), 1.0)
        np.testing.assert_allclose(fit.predict(NEW, type="cum_prob", re=re), prob.cumsum(axis=1), atol=1e-12)
        np.testing.assert_allclose(fit.predict(NEW, type="mean", re=re), prob @ np.arange(1, 6))
        assert fit.predict(NEW, re=re).tolist() == (prob.to_numpy().argmax(axis=1) + 1).tolist()


def test_a_group_that_is_new_is_averaged_over(fit: LikelihoodResults) -> None:
    stranger = NEW.assign(judge=[1, 77, 9])
    with pytest.raises(DataError, match=r"'judge' in 1 rows.*Leave re= out"):
        fit.predict(stranger, re="mode")
    without = fit.predict(NEW[["temp", "contact"]], type="prob")
    pd.testing.assert_frame_equal(without, fit.predict(NEW, type="prob", re="marginal"))


def test_known_groups_are_at_their_modes_and_others_averaged_over(fit: LikelihoodResults) -> None:
    """Row by row, with errors; no warning, as some group is known."""
    mixed = NEW.assign(judge=[1, 77, 9])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = fit.predict(mixed, type="prob", se=True)
    for i, re in enumerate(["mode", "marginal", "mode"]):
        pd.testing.assert_frame_equal(both.iloc[[i]], fit.predict(mixed.iloc[[i]], type="prob", re=re, se=True))
    y = mixed.assign(rating=[1, 2, 3])
    prob = fit.predict(mixed, type="prob").to_numpy()
    assert fit.errors(y).loc["log-loss", "new data"] == pytest.approx(-np.log(prob[range(3), range(3)]).mean())
    with pytest.raises(DataError, match="has not seen"):
        fit.simulate(newdata=mixed, re="mode")


@pytest.mark.parametrize("re", ["zero", "marginal"])
def test_a_missing_group_that_is_not_needed(fit: LikelihoodResults, re: str) -> None:
    for missing in (NEW.assign(judge=None), NEW.assign(judge=[1.0, np.nan, 9.0])):
        for type in ("prob", "mean", "class"):
            found, whole = (fit.predict(rows, type=type, re=re) for rows in (missing, NEW))
            assert found.equals(whole)
        assert fit.predict(missing, type="mean").isna().sum() == missing["judge"].isna().sum()
    slope = ordfit("rating ~ temp + contact + (1 + temp | judge)", WINE)
    without = NEW.assign(judge=None)
    pd.testing.assert_frame_equal(slope.predict(without, "prob", re=re), slope.predict(NEW, "prob", re=re))


def test_a_missing_group_that_is_an_effect_too() -> None:
    fit = ordfit("rating ~ temp + bottle + (1 | judge)", WINE.assign(bottle=WINE["bottle"].astype(int)))
    new = NEW.assign(bottle=[1.0, np.nan, 3.0], judge=None)
    assert fit.predict(new, "mean", re="zero").isna().tolist() == [False, True, False]


def test_a_new_group_within_a_known_one() -> None:
    """The mode of the outer group, and the variance of those within it."""
    data = WINE.assign(half=WINE["bottle"].astype(int) % 2)
    fit = ordfit("rating ~ temp + (1 | judge/half)", data)
    new = data.head(1).assign(half=7)
    sd, mode = fit.varcorr()["sd"].loc["judge:half"].iloc[0], fit.ranef().query("group == 'judge'")["mode"].iloc[0]
    points = np.linspace(-9.0, 9.0, 4001)
    weights = norm.pdf(points) / norm.pdf(points).sum()
    H = float(fit.predict(new, type="score", re="zero").iloc[0]) + mode + sd * points
    below = (fit.rule.link.cdf(fit.thresholds.to_numpy()[:, None] - H) * weights).sum(axis=1)
    with pytest.warns(DataWarning, match="'half' has 0, 1 in the fit and 7 in newdata"):
        found = fit.predict(new, type="cum_prob").to_numpy()[0, :-1]
    np.testing.assert_allclose(found, below, atol=1e-7)


def test_crossed_terms_and_slopes_in_groups_that_never_met() -> None:
    """x'H^-1 x from solving with H, against the whole inverse of a dense H."""
    data = load_data("crossed")
    fit = ordfit("y ~ x1 + (1 + x1 | subj) + (1 | item)", data.sample(250, random_state=1))
    found = fit.fit.marginal
    assert found is not None
    model, state = found.likelihood.model, found.likelihood.at.state
    N = [term.n_groups * term.q for term in model.terms]
    Z = np.zeros((model.y.size, sum(N)))
    for t, (term, x) in enumerate(zip(model.terms, state.x, strict=True)):
        for a in range(term.q):
            Z[np.arange(len(Z)), sum(N[:t]) + term.codes * term.q + a] = x[:, a]
    inverse = np.linalg.inv(np.eye(sum(N)) + Z.T @ (model.weights * state.modes.terms.curvature * Z.T).T)
    new = data.iloc[1:40]
    rows = fit.design.spec.rebuild(new).rows.random
    moments = found.likelihood.moments(rows, "mode")
    sd, errors = [], moments.error
    for i in range(len(new)):
        z = np.zeros(sum(N))
        for t, place in enumerate(model.order):
            term, own = rows.terms[place], model.factors(found.likelihood.at.psi[model.n_fixed :])[t]
            start = sum(N[:t]) + term.codes[i] * term.q
            z[start : start + term.q] = term.z[i] @ model.scaling[t] @ own
        sd.append(z @ inverse @ z)
    np.testing.assert_allclose(errors, sd, rtol=1e-9)


def test_errors_at_zero_are_those_of_the_coefficients(fit: LikelihoodResults) -> None:
    x = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    own = fit.vcov().loc[fit.coef.index, fit.coef.index].to_numpy()
    expected = np.sqrt(np.einsum("ni,ij,nj->n", x, own, x))
    found = fit.predict(NEW, type="score", re="zero", se=True)["std_error"]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_errors_at_the_modes_are_those_of_draws(fit: LikelihoodResults) -> None:
    """psi from its normal distribution, the modes found again, and effects about them: 2000 draws."""
    here = fit.fit.marginal.likelihood
    rng = np.random.default_rng(1)
    rows = fit.design.spec.rebuild(NEW).rows
    x = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    psis = rng.multivariate_normal(here.at.psi, here.inner_covariance(), 2000)
    drawn = []
    for psi in psis:
        found = here.moments(rows.random, "mode", psi)
        drawn.append(x @ found.estimates[-2:] + found.shift + np.sqrt(found.error) * rng.standard_normal(3))
    error = fit.predict(NEW, type="score", se=True)["std_error"]
    np.testing.assert_allclose(error, np.std(drawn, axis=0), rtol=0.06)  # the modes are not linear in psi


@pytest.mark.parametrize("re", ["zero", "marginal", "mode"])
def test_limits_hold_the_estimate(fit: LikelihoodResults, re: str) -> None:
    for type in ("prob", "cum_prob", "mean", "score", "linear_predictor"):
        out = fit.predict(NEW, type=type, re=re, se=True, interval="confidence")
        assert np.all(out["lower"].to_numpy() <= out["estimate"].to_numpy())
        assert np.all(out["estimate"].to_numpy() <= out["upper"].to_numpy())


def test_a_pickle_predicts_the_same(fit: LikelihoodResults) -> None:
    again = pickle.loads(pickle.dumps(fit))
    for re in ("mode", "marginal"):
        one, other = (own.predict(NEW, type="prob", re=re, se=True) for own in (fit, again))
        pd.testing.assert_frame_equal(one, other, rtol=1e-9)


def test_misuse(fit: LikelihoodResults) -> None:
    for re in ("median", "posterior"):
        with pytest.raises(OptionError, match="re must be one of 'mode', 'zero', 'marginal'"):
            fit.predict(NEW, re=re)
    with pytest.raises(OptionError, match="no random effects"):
        ordfit("rating ~ temp", WINE).predict(NEW, re="zero")
    with pytest.raises(OptionError, match="method and vcov"):
        fit.predict(NEW, type="prob", se=True, method="simulation")
    with pytest.raises(OptionError, match="no standard error"):
        fit.predict(NEW, se=True)


@pytest.mark.parametrize("quadrature", [7, -5, "auto"])
def test_quadrature_without_random_effects_is_refused(quadrature: Any) -> None:
    for method in ("logit", "acat"):
        with pytest.raises(
            OptionError, match=rf"quadrature={quadrature!r} must go with random effects.*\(1 \| group\)"
        ):
            ordfit("rating ~ temp", WINE, method, quadrature=quadrature)


def test_options_of_random_effects_go_with_them(fit: LikelihoodResults) -> None:
    plain = ordfit("rating ~ temp + contact", WINE)
    for options in ({"quadrature": 5}, {"random_penalty": "gamma"}):
        own = ordfit("rating ~ temp + contact + (1 | judge)", WINE, **options)
        assert own.update("rating ~ temp + contact").loglik == pytest.approx(plain.loglik)
    with pytest.raises(OptionError, match="quadrature=9 must go with random effects"):
        fit.update("rating ~ temp", quadrature=9)


def test_simulated_effects_have_their_variance() -> None:
    """4000 responses of one row each of many groups: shares of the population, and rows of a group that go together."""
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    rows = WINE[(WINE["temp"] == "warm") & (WINE["contact"] == "no")].sort_values(["judge", "bottle"])
    drawn = fit.simulate(4000, seed=1, newdata=rows).apply(lambda column: column.cat.codes).to_numpy()
    expected = fit.predict(rows.iloc[[0]], type="prob", re="marginal").to_numpy()[0]
    np.testing.assert_allclose(np.bincount(drawn.reshape(-1), minlength=5) / drawn.size, expected, atol=0.01)
    # a judge has two such rows: equal levels are as probable as the mean square of their probabilities says
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    sd, score = fit.varcorr()["sd"].iloc[0], float(fit.predict(rows.iloc[[0]], type="score", re="zero").iloc[0])
    ends = fit.thresholds.to_numpy()[:, None] - score - sd * points
    probabilities = np.diff(np.vstack([0 * points, fit.rule.link.cdf(ends), 0 * points + 1]), axis=0)
    together = float((weights * (probabilities**2).sum(axis=0)).sum() / weights.sum())
    assert np.mean(drawn[::2] == drawn[1::2]) == pytest.approx(together, abs=0.01)


def test_simulation_at_the_modes() -> None:
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    drawn = fit.simulate(3000, seed=2, newdata=NEW, re="mode").apply(lambda column: column.cat.codes).to_numpy()
    expected = fit.predict(NEW, type="prob").to_numpy()
    shares = np.stack([np.bincount(row, minlength=5) / row.size for row in drawn])
    np.testing.assert_allclose(shares, expected, atol=0.03)
    with pytest.raises(OptionError, match="no random effects"):
        ordfit("rating ~ temp", WINE).simulate(re="new")
    with pytest.raises(DataError, match="has not seen"):
        fit.simulate(newdata=NEW.assign(judge=77), re="mode")
