"""Importance by permutations within cells of rows that are alike in the other variables."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from ordstat import OptionError, ordfit
from ordstat.judging.importance import cells, exchange_within


@pytest.mark.parametrize(
    "weights", [np.ones(60), np.arange(60) % 3 + 1.0, np.linspace(0.2, 3.0, 60)], ids=["one", "count", "any"]
)
def test_values_stay_within_cells(weights):
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 4, 60)
    found = exchange_within(weights, groups, rng)
    assert (groups[found.rows] == groups[found.donors]).all()
    for places in (found.rows, found.donors):
        assert_allclose(np.bincount(places, found.weights, 60), weights)


def test_as_many_cells_as_there_is_to_tell():
    rng = np.random.default_rng(2)
    others = rng.normal(size=(600, 3))
    w = np.ones(600)
    assert (cells(rng.normal(size=600), others, w, False) == 0).all()
    found = cells(others[:, 0] + 0.3 * rng.normal(size=600), others, w, False)
    assert found.max() + 1 >= 8 and np.bincount(found).min() >= 20
    codes = np.digitize(others[:, 1], [-0.5, 0.5]).astype(float)
    found = cells(codes, others, w, True)
    assert np.unique(found).size >= 3
    assert all(
        np.bincount(codes[found == cell].astype(int)).max() / (found == cell).sum() > 0.9 for cell in np.unique(found)
    )
    assert (cells(others[:30, 0], others[:30], w[:30], False) == 0).all()  # too few rows
    assert (cells(others[:, 0], others[:, :0], w, False) == 0).all()  # nothing to tell by


def test_mean_of_all_exchanges_within_known_cells():
    """A factor that says nearly all of a number: the cells are its levels, and all pairs within can be counted."""
    rng = np.random.default_rng(3)
    g = np.repeat([0, 1, 2], 70)
    x = 10.0 * g + rng.normal(size=210)
    y = np.digitize(x + rng.logistic(size=210), [0.0, 9.0, 11.0, 20.0])
    data = pd.DataFrame({"x": x, "g": pd.Categorical.from_codes(g, list("abc")), "y": y})
    fit = ordfit("y ~ x + g", data, penalty=1.0)
    found = fit.importance("conditional", repeats=200)
    assert found.loc["x", "cells"] == 3
    rises = []
    for level in range(3):
        own = data[g == level]
        for _, donor in own.iterrows():
            codes = fit.predict(own.assign(x=donor["x"])).cat.codes.to_numpy()
            rises.append(np.abs(np.asarray(fit.levels)[codes] - own["y"]).mean())
    expected = np.mean(rises) - fit.errors().loc["absolute error", "training"]
    row = found.loc["x"]
    assert abs(row["importance"] - expected) < 4 * row["std_error"]
    assert row["importance"] < 0.5 * fit.importance("permutation", repeats=20).loc["x", "importance"]


def test_a_stand_in_adds_little():
    """x2 follows x1, which alone moves y: a forest uses both, and only one is needed beside the other."""
    rng = np.random.default_rng(4)
    x1, x3 = rng.normal(size=(2, 500))
    x2 = x1 + 0.3 * rng.normal(size=500)
    y = np.digitize(2 * x1 + x3 + 0.5 * rng.logistic(size=500), [-1.5, 0.0, 1.5])
    data = pd.DataFrame({"x1": x1, "x2": x2, "x3": x3, "y": y})
    train, new = data[:300], data[300:]
    fit = ordfit("y ~ x1 + x2 + x3", train, "rps-forest", trees=60)
    plain, conditional = (
        fit.importance(kind, new, repeats=10)["importance"] for kind in ("permutation", "conditional")
    )
    assert conditional["x2"] < 0.4 * plain["x2"]
    assert conditional["x3"] > 0.7 * plain["x3"]
    assert conditional["x1"] > conditional["x2"]


def test_weights_are_rows():
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"]).assign(w=np.arange(80) % 2 + 1)
    data["y"] = np.digitize(data["a"] + rng.logistic(size=80), [-0.5, 0.5])
    fit = ordfit("y ~ a + b", data, weights="w")
    found = fit.importance("conditional", repeats=5)
    assert "within cells" in str(found) and found.index[0] == "a"


def test_pictures_and_refusals():
    rng = np.random.default_rng(6)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    data["y"] = np.digitize(data["a"] + rng.logistic(size=90), [-0.5, 0.5])
    fit = ordfit("y ~ a + b", data)
    assert fit.plot.importance(kind="conditional", repeats=2, draw=False)["variable"].tolist()[0] == "a"
    with pytest.raises(OptionError, match="kind must be one of"):
        fit.importance("marginal")
