"""How good a fit with random effects is: discrimination, reliability, goodness of fit, prediction sets, power."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest

from ordstat import datasets, ordfit
from ordstat.assess.agreement import PairOrder
from ordstat.assess.conformal import radius_of_groups
from ordstat.exceptions import DataError, DataWarning, OptionError, UnavailableError
from ordstat.results.likelihood.mixed.unavailable import UNAVAILABLE

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact + (1 | judge)"


def rated(groups: int, size: int, seed: int, curve: float = 0.0) -> pd.DataFrame:
    """Four levels of a latent score of x and a random intercept."""
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(groups), size)
    x = rng.uniform(-2.0, 2.0, g.size)
    latent = x + curve * x**2 + rng.standard_normal(groups)[g] + rng.logistic(size=g.size)
    return pd.DataFrame({"x": x, "y": np.digitize(latent, [-1.5, 0.0, 1.5]), "g": g})


def test_pairs_within_groups() -> None:
    """Against all pairs, with ties, weights and groups."""
    rng = np.random.default_rng(0)
    y, score, group, w = (rng.integers(0, k, 60) for k in (5, 7, 4, 3))
    counts = PairOrder.of(y, score.astype(float), group).counts(w.astype(float))
    expected = np.zeros(3)
    for i, j in product(range(60), repeat=2):
        if y[i] > y[j] and group[i] == group[j]:
            expected[int(np.sign(score[i] - score[j]))] += w[i] * w[j]
    assert (counts.tied, counts.concordant, counts.discordant) == tuple(expected)


def test_discrimination_at_the_modes_in_the_population_and_within_groups() -> None:
    """c by all pairs; the population's is that of the fit without random effects, whose order is the same here."""
    fit, plain = ordfit(FORMULA, WINE), ordfit("rating ~ temp + contact", WINE)
    found = fit.discrimination()
    y, score, judge = WINE["rating"].cat.codes.to_numpy(), np.asarray(fit.fit.scores), WINE["judge"].to_numpy()
    upper, lower = np.nonzero((y[:, None] > y) & (judge[:, None] == judge))
    gap = np.round(score[upper] - score[lower], 9)
    assert found.loc["c_index", "within judge"] == pytest.approx(np.mean((gap > 0) + 0.5 * (gap == 0)))
    assert found.loc["pairs", "within judge"] == upper.size
    assert found.loc["c_index", "population"] == pytest.approx(plain.discrimination()["c_index"])
    assert found.loc["rps", "modes"] < found.loc["rps", "population"]
    variance = float(np.square(fit.varcorr()["sd"]).sum())
    fixed = np.var(plain.design.sample.X @ fit.coef.to_numpy())
    total = fixed + variance + np.pi**2 / 3.0
    np.testing.assert_allclose(
        found.loc["r2_latent", ["population", "modes"]], [fixed / total, (fixed + variance) / total]
    )


def test_reliability_of_new_rows_averages_over_groups_not_seen() -> None:
    fit, new = ordfit(FORMULA, WINE), WINE.assign(judge="new")
    with pytest.warns(DataWarning, match="No group of newdata"):
        curves = fit.reliability(new, bins=1)
    expected = fit.predict(new, type="cum_prob", re="marginal").mean().to_numpy()[:4]
    np.testing.assert_allclose(curves["predicted"], expected, atol=1e-6)
    at_modes = fit.predict(type="cum_prob").mean().to_numpy()[:4]
    np.testing.assert_allclose(fit.reliability(bins=1)["predicted"], at_modes, atol=1e-12)


def test_radius_of_groups() -> None:
    """Shares of calibration groups up to a score, out of one group more."""
    scores, shares = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, 1.0, 0.5, 1.0])
    for level, expected in ((0.125, 1.0), (0.126, 2.0), (0.5, 3.0), (0.75, 4.0), (0.76, np.inf)):
        assert radius_of_groups(scores, shares, 3, level) == expected


def test_prediction_sets_hold_rows_of_new_groups() -> None:
    """Coverage over 60 draws of fit, calibration and new groups; the standard error is about 0.01."""
    covered = []
    for seed in range(60):
        data = rated(40, 6, seed)
        fit = ordfit("y ~ x + (1 | g)", data[data["g"] < 20], levels=[0, 1, 2, 3])
        sets = fit.conformal(0.8, data[data["g"].between(20, 34)])
        new = data[data["g"] >= 35]
        ends = sets.predict(new).astype(int)
        covered.append(new["y"].between(ends["lower"], ends["upper"]).mean())
    assert sets.groups == 15
    assert 0.79 < np.mean(covered) < 0.88


def test_prediction_sets_by_whole_groups() -> None:
    """A split of the fit's own groups; known groups calibrate nothing; few groups are told."""
    data = rated(30, 5, 1)
    fit = ordfit("y ~ x + (1 | g)", data)
    sets = fit.conformal(0.6, seed=3)
    assert sets.groups == 9 and sets.n == 45
    assert not np.isin(sets.results.design.sample.rows.random.terms[0].codes, range(21, 30)).all()
    assert "9 groups" in str(sets.summary())
    assert sets.coverage(rated(10, 5, 2).assign(g=lambda d: d["g"] + 100)).loc["all", "weight"] == 50
    with pytest.raises(DataError, match="must have groups that the fit has not seen; 150 of its 150 rows"):
        fit.conformal(0.6, data)
    with pytest.warns(DataWarning, match="9 calibration groups are too few for level 0.95"):
        fit.conformal(0.95)


def test_goodness_of_fit_by_simulation() -> None:
    """A curve that the model has not shows; the other tests have the law of independent rows."""
    fit = ordfit("y ~ x + (1 | g)", rated(40, 12, 3, curve=1.0))
    assert fit.gof(groups=6, simulations=39).p_value == pytest.approx(1 / 40)
    right = ordfit("y ~ x + I(x^2) + (1 | g)", rated(40, 12, 3, curve=1.0))
    found = right.gof(groups=6, simulations=39, seed=1)
    assert found.p_value > 0.05
    np.testing.assert_allclose(found.observed.sum(), np.bincount(right.design.sample.y))
    for test in ("lipsitz", "pulkstenis-robinson"):
        with pytest.raises(OptionError, match="law from independent rows"):
            fit.gof(test)
    with pytest.raises(OptionError, match="simulations must be left out"):
        ordfit("rating ~ temp", WINE).gof(simulations=10)


def test_goodness_of_fit_says_which_data_sets_are_left_out() -> None:
    """No warning of NumPy's where a level was drawn for no row."""
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit.gof()
    assert found.notes[-1] == "12 more gave no finite estimates, or too few groups: left out."
    assert found.p_value == pytest.approx(0.677, abs=5e-4)


def test_power() -> None:
    """The level where there is no effect; more groups find more; standard deviations can be stated."""
    fit = ordfit(FORMULA, WINE)
    none = fit.power("contact", n=15, effect={"contact[T.yes]": 0.0}, simulations=100)
    few, many = (fit.power("contact", n=n, effect={"contact[T.yes]": 0.7}, simulations=60).power for n in (5, 30))
    assert none.power < 0.13 and few + 0.2 < many
    assert "15 groups" in repr(none)
    wide = fit.power("contact", simulations=20, effect={"sd_(Intercept)|judge": 4.0})
    assert wide.n == 9
    with pytest.raises(OptionError, match="Did you mean 'sd_"):
        fit.power("contact", effect={"sd_(Intercept)|judg": 1.0})


@pytest.mark.parametrize("name", UNAVAILABLE)
def test_what_is_refused_says_why_and_what_to_do(name: str) -> None:
    fit = ordfit(FORMULA, WINE)
    assert name not in dir(fit)
    with pytest.raises(UnavailableError, match=r"as .*: use "):
        getattr(fit, name)
