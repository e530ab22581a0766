"""Accumulated local effects: the line of a linear score, and loops over the intervals."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from ordstat import OptionError, datasets, ordfit

RNG = np.random.default_rng(4)
X = RNG.normal(size=(200, 2)) @ np.array([[1.0, 0.9], [0.0, 0.3]])  # columns that go together
DATA = pd.DataFrame(X, columns=["a", "b"]).assign(
    y=np.digitize(X[:, 0] - 2.0 * X[:, 1] + RNG.logistic(size=200), [-1, 1]) + 1, g=np.tile(["u", "v"], 100)
)


@pytest.mark.parametrize(("method", "options"), [("logit", {}), ("redsvm", {"kernel": "linear"})])
def test_a_linear_score_gives_its_line(method, options):
    fit = ordfit("y ~ a + b", DATA, method, **options)
    for name in ("a", "b"):
        table = fit.plot.ale_data(name, of="score", intervals=7)
        slope = np.diff(table["estimate"]) / np.diff(table[name])
        np.testing.assert_allclose(slope, fit.coef[name], rtol=1e-9)
        assert table[name].iloc[[0, -1]].tolist() == [DATA[name].min(), DATA[name].max()] and len(table) == 8


@pytest.mark.parametrize("method", ["logit", "rps-forest", "csovo"])
def test_sums_of_mean_differences_by_hand(method):
    weights = 1.0 + np.arange(200) % 3
    fit = ordfit("y ~ a * b + g", DATA, method, weights=weights)
    table = fit.plot.ale_data("a", of="rank", intervals=5)
    ends = table["a"].to_numpy()
    sums, inside = [0.0], []
    for k, (low, high) in enumerate(pairwise(ends)):
        rows = (DATA["a"] > low) & (DATA["a"] <= high) | ((DATA["a"] == low) & (k == 0))
        at = []
        for end in (low, high):
            new = DATA[rows].assign(a=end)
            if method == "csovo":
                at.append(fit.predict(new).cat.codes.to_numpy() + 1.0)
            else:
                at.append(fit.predict(new, type="prob").to_numpy() @ [1, 2, 3])
        sums.append(sums[-1] + np.average(at[1] - at[0], weights=weights[rows]))
        inside.append(weights[rows].sum())
    assert max(inside) < 1.15 * min(inside)  # of about equal weight
    middles = 0.5 * (np.array(sums[1:]) + np.array(sums[:-1]))
    np.testing.assert_allclose(table["estimate"], np.array(sums) - np.average(middles, weights=inside), atol=1e-12)


def test_levels_sum_to_nothing_and_lines_are_the_data():
    fit = ordfit("y ~ a + b", DATA)
    table = fit.plot.ale_data("b")
    np.testing.assert_allclose(table.groupby("b")["estimate"].sum(), 0.0, atol=1e-12)
    ax = fit.plot.ale("b")
    drawn = [line.get_ydata().tolist() for line in ax.get_lines() if len(line.get_ydata()) > 2]
    assert drawn == [table.loc[table["level"] == level, "estimate"].tolist() for level in (1, 2, 3)]


def test_refusals():
    fit = ordfit("y ~ a + g", DATA, "redsvm")
    with pytest.raises(OptionError, match="'g' must be a number"):
        fit.plot.ale("g")
    with pytest.raises(OptionError, match="has no predictions of type 'prob'"):
        fit.plot.ale("a", of="prob")
    with pytest.raises(OptionError, match="no variable of the formula"):
        fit.plot.ale("b")
    assert "ale" not in ordfit("rating ~ temp", datasets.load("wine")).plot.names
