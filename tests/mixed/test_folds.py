"""Cross-validation by whole groups, whose held-out rows are predicted by averages over the random effects."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import datasets, ordfit
from ordstat.assess.errors import bootstrap_table
from ordstat.exceptions import DataWarning, OptionError
from ordstat.model.random_effects import RandomColumns, RandomRows

WINE = datasets.load("wine")


@pytest.mark.parametrize(
    "formula", ["rating ~ temp + contact + (1 | judge)", "rating ~ contact + (1 + contact | judge)"]
)
def test_leaving_one_judge_out_by_hand(formula: str) -> None:
    """Nine fits to the data of eight judges, and their predictions of the ninth."""
    fit = ordfit(formula, WINE)
    wrong, losses = [], []
    for judge in WINE["judge"].unique():
        held = WINE["judge"] == judge
        few = WINE[~held].assign(judge=WINE["judge"][~held].cat.remove_unused_categories())
        probabilities = ordfit(formula, few).predict(WINE[held], type="prob", re="marginal").to_numpy()
        y = WINE["rating"][held].cat.codes.to_numpy()
        wrong.append(np.mean(probabilities.argmax(axis=1) != y))
        losses.append(-np.log(probabilities[np.arange(8), y]).mean())
    found = fit.errors(cv=9, seed=3)["cv"]
    assert found["classification error"] == pytest.approx(np.mean(wrong), abs=1e-12)
    assert found["log-loss"] == pytest.approx(np.mean(losses), abs=1e-6)


def test_what_is_said_of_folds() -> None:
    fit = ordfit("rating ~ temp + (1 | judge)", WINE)
    assert "predicted by averages over the random effects (re='marginal')" in repr(fit.errors(cv=2))
    assert "random" not in repr(fit.errors())
    with pytest.raises(OptionError, match="must not exceed the number of clusters, 9; got 10"):
        fit.errors(cv=10)


def test_errors_in_new_data_of_known_and_new_judges() -> None:
    """Probabilities of known judges at the modes, of others averaged: by predict, one part after the other."""
    known = WINE["judge"].astype(int) <= 6
    few = WINE[known].assign(judge=WINE["judge"][known].cat.remove_unused_categories())
    fit = ordfit("rating ~ temp + contact + (1 + contact | judge)", few)
    parts = [fit.predict(WINE[mask], type="prob", re=re) for mask, re in ((known, "mode"), (~known, "marginal"))]
    probabilities = pd.concat(parts).loc[WINE.index].to_numpy()
    y = WINE["rating"].cat.codes.to_numpy()
    found = fit.errors(WINE)["new data"]
    assert found["log-loss"] == pytest.approx(-np.log(probabilities[np.arange(72), y]).mean(), abs=1e-12)
    assert found["classification error"] == np.mean(probabilities.argmax(axis=1) != y)
    assert np.trace(fit.confusion(WINE)) == np.sum(probabilities.argmax(axis=1) == y)
    assert "rows of known groups are predicted at the modes" in repr(fit.errors(WINE))


def test_errors_in_new_data_without_groups() -> None:
    fit = ordfit("rating ~ temp + (1 | judge)", WINE)
    alone = fit.errors(WINE.drop(columns="judge"))["new data"]
    with pytest.warns(DataWarning, match="No group of newdata is one of the fit: 'judge'.* averages over the random"):
        strange = fit.errors(WINE.assign(judge=WINE["judge"].astype(str) + "."))["new data"]
    assert alone.tolist() == strange.tolist()


def test_bootstrap_of_errors_draws_groups() -> None:
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    found = fit.errors(bootstrap=30, seed=8)["training se"]
    judges = WINE["judge"].cat.codes.to_numpy()
    expected = bootstrap_table(fit.training, 30, np.random.default_rng(8), judges)
    assert expected.standard_errors is not None
    assert found.tolist() == expected.standard_errors.tolist()


def test_groups_that_stay_together() -> None:
    """The groups of one term; the outer ones of nested terms; the more numerous of crossed ones; unconnected parts."""
    judge = np.array([0, 0, 1, 1, 2, 2])
    z = np.ones((6, 1))

    def apart(*codes: list[int]) -> list[int]:
        terms = (RandomColumns(z=z, codes=np.array(own), n_groups=max(own) + 1) for own in codes)
        return RandomRows(tuple(terms)).apart().tolist()

    def alike(one: list[int], other: list[int]) -> bool:
        return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))

    assert alike(apart(judge.tolist()), judge.tolist())
    assert alike(apart([0, 1, 2, 3, 4, 5], judge.tolist()), judge.tolist())
    assert alike(apart([0, 1, 0, 1, 0, 1], judge.tolist()), judge.tolist())
    assert alike(apart([0, 1, 0, 1, 2, 2], judge.tolist()), [0, 0, 0, 0, 1, 1])


def test_folds_of_nested_groups_hold_schools() -> None:
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"x": rng.normal(size=300), "school": np.arange(300) % 10, "room": np.arange(300) % 30 // 10})
    latent = data["x"] + rng.normal(size=10)[data["school"]] + rng.logistic(size=300)
    fit = ordfit("y ~ x + (1 | school/room)", data.assign(y=np.digitize(latent, [-1.0, 1.0])))
    clusters = fit.divisible.cluster
    assert clusters is not None
    assert pd.crosstab(clusters, data["school"]).gt(0).sum(axis=1).tolist() == [1] * 10
    assert 0.0 < fit.errors(cv=5).loc["classification error", "cv"] < 0.6
