"""Surrogate residuals in pictures: quantiles by scipy and simulation, and columns at
their rows.
"""

import numpy as np
import pandas as pd
import pytest
from expected import refused, weights_not_whole
from scipy import stats

from ordstat import datasets, ordfit

WINE = datasets.load("wine")
ANES = datasets.load("anes96")
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
    np.testing.assert_allclose(
        table["expected"], law.ppf((np.arange(72) + 0.5) / 72), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_array_equal(table["residual"], np.sort(fit.residuals(seed=4)))
    pd.testing.assert_series_equal(
        table["residual"].sort_index(), fit.residuals(seed=4), check_names=False
    )


def test_limits_hold_for_each_order_statistic():
    """95 of 100 samples of the latent distribution have their i-th smallest value
    inside.
    """
    table = ordfit("rating ~ temp + contact", WINE).plot.residuals(draw=False)
    draws = np.sort(np.random.default_rng(0).logistic(size=(4000, 72)), axis=1)
    inside = (
        (draws >= table["lower"].to_numpy()) & (draws <= table["upper"].to_numpy())
    ).mean(axis=0)
    np.testing.assert_allclose(inside, 0.95, atol=0.017)


def test_adjacent_categories_have_even_residuals():
    table = ordfit("rating ~ temp + contact", WINE, "acat").plot.residuals(draw=False)
    np.testing.assert_allclose(
        table["expected"], (np.arange(72) + 0.5) / 72 - 0.5, atol=1e-12
    )


def test_weights_that_are_no_counts_have_no_limits():
    weights = 0.5 + np.arange(72) % 3
    with weights_not_whole():
        fit = ordfit("rating ~ temp + contact", WINE, weights=weights)
    table = fit.plot.residuals(draw=False)
    assert table["lower"].isna().all()
    place = weights[table.index]
    np.testing.assert_allclose(
        table["expected"],
        stats.logistic.ppf((np.cumsum(place) - place / 2) / weights.sum()),
    )


def counts_table(seed, n=4000):
    """Cases of a true model, and their table of counts: 24 rows, some for hundreds of
    cases.
    """
    rng = np.random.default_rng(seed)
    cases = pd.DataFrame(
        {"dose": rng.integers(0, 4, n), "sex": rng.choice(["f", "m"], n, p=[0.8, 0.2])}
    )
    latent = 0.7 * cases.dose - (cases.sex == "m") + rng.logistic(size=n)
    cases["y"] = np.digitize(latent, [-0.5, 1.5])
    return (
        cases.groupby(["dose", "sex", "y"], as_index=False)
        .size()
        .rename(columns={"size": "n"}),
        cases,
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_table_of_counts_has_a_residual_for_each_case(seed):
    """Under the true model they are draws from the latent distribution, as those of
    single rows are.
    """
    table, cases = counts_table(seed)
    fit = ordfit("y ~ dose + sex", table, weights="n")
    frame = fit.plot.residuals(draw=False)
    assert frame.index.value_counts().sort_index().tolist() == table.n.tolist()
    assert stats.kstest(frame["residual"], "logistic").pvalue > 0.01
    inside = frame["residual"].between(frame["lower"], frame["upper"])
    assert inside.mean() > 0.8  # neighbours in order leave the limits together
    single = ordfit("y ~ dose + sex", cases).plot.residuals(draw=False)
    np.testing.assert_allclose(
        frame[["expected", "lower", "upper"]], single[["expected", "lower", "upper"]]
    )
    for against in ("dose", "sex", "score"):
        drawn = fit.plot.residuals(against, draw=False)
        assert len(drawn) == 4000
        assert drawn.groupby(against)["residual"].mean().abs().max() < 0.35
        assert "confidence" in fit.plot.residuals(against).get_xlabel()


def test_residuals_of_very_many_cases_are_a_sample():
    """Each row has its share of the sample, by the binomial distribution."""
    table, _ = counts_table(4)
    table["n"] *= 1000
    frame = ordfit("y ~ dose + sex", table, weights="n").plot.residuals(draw=False)
    assert (
        len(frame) == 10_000
        and stats.kstest(frame["residual"], "logistic").pvalue > 0.001
    )
    share = table.n / table.n.sum()
    drawn = frame.index.value_counts().reindex(table.index, fill_value=0)
    assert (
        (drawn - 1e4 * share).abs() < 5.0 * np.sqrt(1e4 * share * (1.0 - share))
    ).all()


def test_a_case_weight_is_that_many_rows():
    weights = 1 + np.arange(72) % 3
    frame = ordfit("rating ~ temp + contact", WINE, weights=weights).plot.residuals(
        draw=False
    )
    repeated = WINE.loc[np.repeat(WINE.index, weights)].reset_index(drop=True)
    expected = ordfit("rating ~ temp + contact", repeated).plot.residuals(draw=False)
    np.testing.assert_allclose(frame.to_numpy(), expected.to_numpy(), atol=1e-6)


def test_against_columns_of_the_data():
    data = ANES.assign(spare=np.where(ANES.index % 2 == 0, "even", "odd"))
    fit = ordfit("PID ~ selfLR + age", data[::-1])
    residual = fit.residuals(seed=0)
    for name in ("age", "spare", "TVnews"):  # in the formula and not
        table = fit.plot.residuals(name, draw=False)
        assert (
            table.index.equals(residual.index)
            and table[name].tolist() == data.loc[residual.index, name].tolist()
        )
        np.testing.assert_array_equal(table["residual"], residual)
    np.testing.assert_allclose(
        fit.plot.residuals("score", draw=False)["score"], fit.predict(type="score")
    )


def test_means_of_groups_are_drawn():
    fit = ordfit("PID ~ selfLR + age", ANES)
    ax = fit.plot.residuals("vote")
    table = fit.plot.residuals("vote", draw=False)
    dots = [line for line in ax.get_lines() if line.get_marker() == "o"]
    np.testing.assert_allclose(
        [line.get_ydata()[0] for line in dots],
        table.groupby("vote", observed=True)["residual"].mean(),
    )
    assert (
        len(
            [
                line
                for line in fit.plot.residuals("age").get_lines()
                if line.get_marker() == "o"
            ]
        )
        == 10
    )
    assert "quantile" not in fit.plot.residuals().get_ylabel()


def test_an_unknown_column():
    with refused("against", "'agee'"):
        ordfit("PID ~ selfLR + age", ANES).plot.residuals("agee")


@pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)
@pytest.mark.parametrize("against", ["age", "spare"])
def test_means_of_weighted_rows_are_weighted(against):
    """Dots at the weighted means, and no limits: weights do not tell how many rows
    there are.
    """
    data = ANES[:300].assign(spare=np.where(np.arange(300) % 2 == 0, "even", "odd"))
    weights = 0.5 + np.arange(300) % 7
    with weights_not_whole():
        fit = ordfit("PID ~ selfLR + age", data, weights=weights)
    table = fit.plot.residuals(against, draw=False)
    if against == "spare":
        groups = [np.flatnonzero(table["spare"] == name) for name in ("even", "odd")]
    else:
        groups = np.array_split(np.argsort(table["age"].to_numpy(), kind="stable"), 10)
    by_hand = [
        np.average(table["residual"].iloc[members], weights=weights[members])
        for members in groups
    ]
    ax = fit.plot.residuals(against)
    dots = [line for line in ax.get_lines() if line.get_marker() == "o"]
    np.testing.assert_allclose(
        [line.get_ydata()[0] for line in dots], by_hand, rtol=1e-12
    )
    assert len(ax.get_lines()) == len(groups) + 1  # the line at 0
    assert "confidence" not in ax.get_xlabel() and "weighted" in ax.get_xlabel()
