"""Surrogate residuals in pictures: quantiles by scipy and simulation, and columns at their rows."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ordstat import OptionError, datasets, ordfit

WINE, ANES = datasets.load("wine"), datasets.load("anes96")
CENTRED = {
    "logit": stats.logistic(),
    "probit": stats.norm(),
    "cloglog": stats.gumbel_l(loc=np.euler_gamma),
    "loglog": stats.gumbel_r(loc=-np.euler_gamma),
    "cauchit": stats.cauchy(),
}


@pytest.mark.parametrize("link", CENTRED)
def test_expected_quantiles(link):
    fit = ordfit("rating ~ temp + contact", WINE, link)
    table = fit.plot.residuals(seed=4, draw=False)
    law = CENTRED[link]
    np.testing.assert_allclose(table["expected"], law.ppf((np.arange(72) + 0.5) / 72), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(table["residual"], np.sort(fit.residuals(seed=4)))
    pd.testing.assert_series_equal(table["residual"].sort_index(), fit.residuals(seed=4), check_names=False)


def test_limits_hold_for_each_order_statistic():
    """95 of 100 samples of the latent distribution have their i-th smallest value inside."""
    table = ordfit("rating ~ temp + contact", WINE).plot.residuals(draw=False)
    draws = np.sort(np.random.default_rng(0).logistic(size=(4000, 72)), axis=1)
    inside = ((draws >= table["lower"].to_numpy()) & (draws <= table["upper"].to_numpy())).mean(axis=0)
    np.testing.assert_allclose(inside, 0.95, atol=0.017)


def test_adjacent_categories_have_even_residuals():
    table = ordfit("rating ~ temp + contact", WINE, "acat").plot.residuals(draw=False)
    np.testing.assert_allclose(table["expected"], (np.arange(72) + 0.5) / 72 - 0.5, atol=1e-12)


def test_weighted_rows_have_no_limits():
    weights = 1.0 + np.arange(72) % 3
    table = ordfit("rating ~ temp + contact", WINE, weights=weights).plot.residuals(draw=False)
    assert table["lower"].isna().all()
    place = weights[table.index]
    np.testing.assert_allclose(table["expected"], stats.logistic.ppf((np.cumsum(place) - place / 2) / weights.sum()))


def test_against_columns_of_the_data():
    data = ANES.assign(spare=np.where(ANES.index % 2 == 0, "even", "odd"))
    fit = ordfit("PID ~ selfLR + age", data[::-1])
    residual = fit.residuals(seed=0)
    for name in ("age", "spare", "TVnews"):  # in the formula and not
        table = fit.plot.residuals(name, draw=False)
        assert table.index.equals(residual.index) and table[name].tolist() == data.loc[residual.index, name].tolist()
        np.testing.assert_array_equal(table["residual"], residual)
    np.testing.assert_allclose(fit.plot.residuals("score", draw=False)["score"], fit.predict(type="score"))


def test_means_of_groups_are_drawn():
    fit = ordfit("PID ~ selfLR + age", ANES)
    ax, table = fit.plot.residuals("vote"), fit.plot.residuals("vote", draw=False)
    dots = [line for line in ax.get_lines() if line.get_marker() == "o"]
    np.testing.assert_allclose(
        [line.get_ydata()[0] for line in dots], table.groupby("vote", observed=True)["residual"].mean()
    )
    assert len([line for line in fit.plot.residuals("age").get_lines() if line.get_marker() == "o"]) == 10
    assert "quantile" not in fit.plot.residuals().get_ylabel()


def test_an_unknown_column():
    with pytest.raises(OptionError, match=r"against must be 'score' or a column of the data, .*; got 'agee'"):
        ordfit("PID ~ selfLR + age", ANES).plot.residuals("agee")


@pytest.mark.parametrize("against", ["age", "spare"])
def test_means_of_weighted_rows_are_weighted(against):
    """Dots at the weighted means, and no limits: weights do not tell how many rows there are."""
    data = ANES[:300].assign(spare=np.where(np.arange(300) % 2 == 0, "even", "odd"))
    weights = 1.0 + np.arange(300) % 7
    fit = ordfit("PID ~ selfLR + age", data, weights=weights)
    table = fit.plot.residuals(against, draw=False)
    if against == "spare":
        groups = [np.flatnonzero(table["spare"] == name) for name in ("even", "odd")]
    else:
        groups = np.array_split(np.argsort(table["age"].to_numpy(), kind="stable"), 10)
    by_hand = [np.average(table["residual"].iloc[members], weights=weights[members]) for members in groups]
    ax = fit.plot.residuals(against)
    dots = [line for line in ax.get_lines() if line.get_marker() == "o"]
    np.testing.assert_allclose([line.get_ydata()[0] for line in dots], by_hand, rtol=1e-12)
    assert len(ax.get_lines()) == len(groups) + 1  # the line at 0
    assert "limits" not in ax.get_xlabel() and "weighted" in ax.get_xlabel()
