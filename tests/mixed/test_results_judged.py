"""How good a fit with random effects is: discrimination, goodness of fit, prediction
sets, errors by whole groups.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import unavailable

from ordstat import datasets, ordfit
from ordstat.likelihood.unavailable import MODIFIERS

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact + (1 | judge)"


def rated(groups: int, size: int, seed: int, curve: float = 0.0) -> pd.DataFrame:
    """Four levels of a latent score of x and a random intercept."""
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(groups), size)
    x = rng.uniform(-2.0, 2.0, g.size)
    latent = (
        x + curve * x**2 + rng.standard_normal(groups)[g] + rng.logistic(size=g.size)
    )
    return pd.DataFrame({"x": x, "y": np.digitize(latent, [-1.5, 0.0, 1.5]), "g": g})


def test_discrimination_at_the_modes_and_in_the_population() -> None:
    """c by all pairs; the population's is that of the fit without random effects, whose
    order is the same here.
    """
    fit = ordfit(FORMULA, WINE)
    plain = ordfit("rating ~ temp + contact", WINE)
    indices = fit.discrimination()
    y = WINE["rating"].cat.codes.to_numpy()
    score = np.asarray(fit.fit.scores)
    upper, lower = np.nonzero(y[:, None] > y)
    gap = np.round(score[upper] - score[lower], 9)
    assert indices.loc["c_index", "modes"] == pytest.approx(
        np.mean((gap > 0) + 0.5 * (gap == 0))
    )
    assert indices.loc["pairs", "modes"] == upper.size
    assert indices.loc["c_index", "population"] == pytest.approx(
        plain.discrimination()["c_index"]
    )
    variance = float(np.square(fit.varcorr()["sd"]).sum())
    fixed = np.var(plain.design.sample.X @ fit.coef.to_numpy())
    total = fixed + variance + np.pi**2 / 3.0
    np.testing.assert_allclose(
        indices.loc["r2_latent", ["population", "modes"]],
        [fixed / total, (fixed + variance) / total],
    )


@pytest.mark.parametrize("question", MODIFIERS["random"].instead)
def test_what_is_refused_says_why_and_what_to_do(question: str) -> None:
    fit = ordfit(FORMULA, WINE)
    name = question.removesuffix("()")
    assert name not in dir(fit)
    with unavailable("random effects, as", f"{name}()"):
        getattr(fit, name)


@pytest.mark.parametrize(
    "formula",
    [
        "rating ~ temp + contact + (1 | judge)",
        "rating ~ contact + (1 + contact | judge)",
    ],
)
def test_leaving_one_judge_out_by_hand(formula: str) -> None:
    """Nine fits to the data of eight judges, and their predictions of the ninth."""
    fit = ordfit(formula, WINE)
    wrong = []
    losses = []
    for judge in WINE["judge"].unique():
        held = WINE["judge"] == judge
        few = WINE[~held].assign(
            judge=WINE["judge"][~held].cat.remove_unused_categories()
        )
        probabilities = (
            ordfit(formula, few)
            .predict(WINE[held], type="prob", re="marginal")
            .to_numpy()
        )
        y = WINE["rating"][held].cat.codes.to_numpy()
        wrong.append(np.mean(probabilities.argmax(axis=1) != y))
        losses.append(-np.log(probabilities[np.arange(8), y]).mean())
    actual = fit.errors(cv=9, seed=3)["cv"]
    assert actual["classification error"] == pytest.approx(np.mean(wrong), abs=1e-12)
    assert actual["log-loss"] == pytest.approx(np.mean(losses), abs=1e-6)


def test_errors_in_new_data_of_known_and_new_judges() -> None:
    """Probabilities of known judges at the modes, of others averaged: by predict, one
    part after the other.
    """
    known = WINE["judge"].astype(int) <= 6
    few = WINE[known].assign(judge=WINE["judge"][known].cat.remove_unused_categories())
    fit = ordfit("rating ~ temp + contact + (1 + contact | judge)", few)
    parts = [
        fit.predict(WINE[mask], type="prob", re=re)
        for mask, re in ((known, "mode"), (~known, "marginal"))
    ]
    probabilities = pd.concat(parts).loc[WINE.index].to_numpy()
    y = WINE["rating"].cat.codes.to_numpy()
    actual = fit.errors(WINE)["new data"]
    assert actual["log-loss"] == pytest.approx(
        -np.log(probabilities[np.arange(72), y]).mean(), abs=1e-12
    )
    assert actual["classification error"] == np.mean(probabilities.argmax(axis=1) != y)
    assert np.trace(fit.confusion(WINE)) == np.sum(probabilities.argmax(axis=1) == y)
    assert "groups of the fit are predicted at the modes" in repr(fit.errors(WINE))


def test_folds_of_nested_groups_hold_schools() -> None:
    rng = np.random.default_rng(2)
    data = pd.DataFrame(
        {
            "x": rng.normal(size=300),
            "school": np.arange(300) % 10,
            "room": np.arange(300) % 30 // 10,
        }
    )
    latent = data["x"] + rng.normal(size=10)[data["school"]] + rng.logistic(size=300)
    fit = ordfit(
        "y ~ x + (1 | school/room)", data.assign(y=np.digitize(latent, [-1.0, 1.0]))
    )
    clusters = fit.fold_sample.cluster
    assert clusters is not None
    assert pd.crosstab(clusters, data["school"]).gt(0).sum(axis=1).tolist() == [1] * 10
    assert 0.0 < fit.errors(cv=5).loc["classification error", "cv"] < 0.6
