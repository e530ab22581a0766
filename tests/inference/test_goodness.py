"""Goodness-of-fit tests against counts by hand and R's ordinal; their size under the
true model (slow).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from scipy import stats

from inference.samples import fitted, frame
from ordstat import datasets, ordfit
from ordstat.exceptions import DataError, OptionError, UnavailableError
from ordstat.inference.goodness import score_groups

#: Case weights of these data have a mean above 2, as sampling weights do.
pytestmark = pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)

#: The likelihood ratios carry what R's fits leave over.
ROOM = 1e-6

#: R 4.2.2, ordinal 2022.11-16, on sim500: scores and groups by rows in order of the
#: expected rank, 50 in each of 10 groups (no ties); counts, statistics and pchisq as
#: written in `gof.R` beside this file.
FROM_R = pd.read_csv(Path(__file__).with_name("gof.csv"))


@pytest.mark.parametrize(
    "row",
    list(FROM_R.itertuples(index=False)),
    ids=lambda row: f"{row.link}-{row.groups}",
)
def test_against_r(row) -> None:
    data = load_data("sim500")
    fit = ordfit("y ~ x1 + x2 + f + g", data, link=row.link)
    actual = fit.gof(int(row.groups)).table.iloc[0]
    assert actual["df"] == row.df
    assert actual["statistic"] == pytest.approx(row.statistic, rel=ROOM)
    assert actual["p_value"] == pytest.approx(row.p_value, rel=ROOM)


def test_hosmer_lemeshow_by_hand() -> None:
    """Two binary covariates: four scores, four groups; expected counts are cell sizes
    times probabilities.
    """
    wine = load_data("wine")
    fit = ordfit("rating ~ temp + contact", wine)
    cells = wine.groupby(["temp", "contact"], observed=True)
    observed = cells["rating"].value_counts().unstack().to_numpy(dtype=float)
    prob = fit.predict(
        pd.DataFrame(list(cells.groups), columns=["temp", "contact"]), type="prob"
    ).to_numpy()
    expected = observed.sum(axis=1, keepdims=True) * prob
    statistic = ((observed - expected) ** 2 / expected).sum()
    actual = fit.gof(groups=4)
    assert actual.table["statistic"].iloc[0] == pytest.approx(statistic, rel=1e-12)
    assert actual.table["df"].iloc[0] == (4 - 2) * (5 - 1) + (5 - 2)
    assert actual.p_value == pytest.approx(stats.chi2.sf(statistic, 11), rel=1e-10)
    order = np.argsort(prob @ np.arange(1, 6))
    np.testing.assert_array_equal(actual.observed, observed[order])
    np.testing.assert_allclose(actual.expected, expected[order], rtol=1e-12)
    assert "expected counts are below 5" in actual.notes[
        0
    ] and "Observed counts" in repr(actual)


MINERS = pd.DataFrame(
    {
        "years": np.repeat([5.8, 15.0, 21.5, 27.5, 33.5, 39.5, 46.0, 51.5], 3),
        "lung": [1, 2, 3] * 8,  # normal, mild, severe
        "n": [
            98,
            0,
            0,
            51,
            2,
            1,
            34,
            6,
            3,
            35,
            5,
            8,
            32,
            10,
            9,
            23,
            7,
            8,
            12,
            6,
            10,
            4,
            2,
            5,
        ],
    }
)


def test_a_table_of_counts_against_vgam() -> None:
    """VGAM's propodds of the coal miners on log(exposure time): residual deviance
    5.0268 on 13 df.
    """
    table = ordfit("lung ~ log(years)", MINERS, weights="n").gof().table
    assert (
        table.index[0] == "Pearson chi2"
        and table.index[2] == "deviance, saturated table"
    )
    assert table["statistic"].iloc[2] == pytest.approx(5.0268, abs=5e-5)
    assert table["df"].tolist()[1:] == [13, 13]
    assert table["p_value"].iloc[2] == pytest.approx(
        stats.chi2.sf(5.0268, 13), abs=1e-5
    )


@pytest.mark.parametrize("repeated", [False, True])
def test_the_saturated_table_by_its_likelihood(repeated: bool) -> None:
    """24 distinct rows, 72 counts: 48 free probabilities, of which the model has 8."""
    data = datasets.load("housing")
    if repeated:
        fit = ordfit(
            "Sat ~ Infl + Type + Cont", data.loc[data.index.repeat(data["Freq"])]
        )
    else:
        fit = ordfit("Sat ~ Infl + Type + Cont", data, weights="Freq")
    counts = data.pivot_table(
        "Freq", ["Infl", "Type", "Cont"], "Sat", observed=True
    ).to_numpy(dtype=float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    table = fit.gof().table
    assert table.loc["deviance, saturated table", "df"] == 24 * 2 - 8
    expected = 2.0 * (np.sum(counts * np.log(shares)) - fit.loglik)
    assert table.loc["deviance, saturated table", "statistic"] == pytest.approx(
        expected, rel=1e-9
    )
    cells = data.pivot_table(
        "Freq", ["Infl", "Type", "Cont"], observed=True
    ).index.to_frame(index=False)
    fitted_counts = fit.predict(cells, type="prob").to_numpy() * counts.sum(
        axis=1, keepdims=True
    )
    pearson = np.sum((counts - fitted_counts) ** 2 / fitted_counts)
    assert table.loc["Pearson chi2, saturated table", "statistic"] == pytest.approx(
        pearson, rel=1e-7
    )


@pytest.mark.parametrize("method", ["logit", "probit"])
@pytest.mark.parametrize("part", ["nominal", "scale"])
def test_the_saturated_table_of_nominal_and_scale_fits(part: str, method: str) -> None:
    data = datasets.load("housing")
    fit = ordfit("Sat ~ Infl + Type", data, method, weights="Freq", **{part: "~ Cont"})
    counts = data.pivot_table(
        "Freq", ["Infl", "Type", "Cont"], "Sat", observed=True
    ).to_numpy(dtype=float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    table = fit.gof().table
    assert list(table.index) == [
        "Pearson chi2, saturated table",
        "deviance, saturated table",
    ]
    assert table["df"].tolist() == [24 * 2 - len(fit.params)] * 2
    deviance = 2.0 * (np.sum(counts * np.log(shares)) - fit.loglik)
    assert table["statistic"].iloc[1] == pytest.approx(deviance, rel=1e-9)
    with pytest.raises(
        UnavailableError,
        match=f"{part} effects. Use anova.. against a model with more terms",
    ):
        fit.gof(groups=4)


def test_the_default_takes_the_groups_that_can_be_formed() -> None:
    """Wine has four distinct scores; fitted with a factor of two levels alone there are
    too few.
    """
    wine = load_data("wine")
    fit = ordfit("rating ~ temp + contact", wine)
    pd.testing.assert_frame_equal(fit.gof().table, fit.gof(groups=4).table)
    with pytest.raises(DataError, match="No test by groups is possible"):
        ordfit("rating ~ temp", wine.iloc[::3]).gof()
    two = ordfit("rating ~ temp", pd.concat([wine] * 4)).gof()
    assert two.table.index.tolist() == [
        "Pearson chi2, saturated table",
        "deviance, saturated table",
    ]
    assert (
        two.table["df"].tolist() == [2 * 4 - 5] * 2
        and two.observed.to_numpy().sum() == 288
    )


def test_weights_are_repeated_rows() -> None:
    data = frame(n=200)
    weighted = ordfit("y ~ x + f", data, weights="w").gof()
    repeated = ordfit("y ~ x + f", data.loc[data.index.repeat(data["w"])]).gof()
    pd.testing.assert_frame_equal(weighted.table, repeated.table, rtol=1e-8)
    pd.testing.assert_frame_equal(weighted.observed, repeated.observed)


def test_equal_scores_stay_together() -> None:
    scores = np.repeat([1.0, 2.0, 3.0, 4.0], [10, 30, 10, 50])
    assert (
        score_groups(scores, np.ones(100), 3).tolist() == [0] * 40 + [1] * 10 + [2] * 50
    )
    jitter = scores + 1e-13 * np.arange(100)  # what rounding does to equal scores
    np.testing.assert_array_equal(
        score_groups(jitter, np.ones(100), 3), score_groups(scores, np.ones(100), 3)
    )
    sizes = np.bincount(
        score_groups(np.random.default_rng(0).random(103), np.ones(103), 10)
    )
    assert set(sizes.tolist()) == {10, 11}


REFUSED = {
    "few scores": (
        {"formula": "y ~ f"},
        {"groups": 10},
        DataError,
        "3 distinct scores",
    ),
    "nominal": (
        {"formula": "y ~ x", "nominal": "~ f"},
        {},
        UnavailableError,
        r"against a model with more terms",
    ),
    "scale": (
        {"scale": "~ z"},
        {},
        UnavailableError,
        r"against a model with more terms",
    ),
    "groups": ({}, {"groups": 2}, OptionError, "groups must be"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_defined_says_why(case: str) -> None:
    model, call, error, words = REFUSED[case]
    fit = fitted(**model)
    with pytest.raises(error, match=words):
        fit.gof(**call)


def test_what_the_model_leaves_out_is_found() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=800)
    f = rng.choice([False, True], size=800)
    y = pd.qcut(1.5 * x**2 + f + rng.logistic(size=800), 4, labels=[1, 2, 3, 4])
    data = pd.DataFrame({"x": x, "f": f, "y": y})
    assert ordfit("y ~ x + f", data).gof().p_value < 1e-4
    assert ordfit("y ~ x + I(x^2) + f", data).gof().p_value > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_size_under_the_true_model(link: str) -> None:
    """Share of p-values below 5 % in 1000 samples, within 4 Monte Carlo errors plus
    what the papers report (1 %).
    """
    rejected = 0
    for seed in range(1000):
        fit = ordfit("y ~ x + f", frame(link, 400, seed), link=link)
        rejected += fit.gof().p_value < 0.05
    allowed = 4.0 * np.sqrt(0.05 * 0.95 / 1000) + 0.01
    assert abs(rejected / 1000 - 0.05) <= allowed


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_default_sees_that_odds_are_not_proportional(seed: int) -> None:
    """And the output names it."""
    rng = np.random.default_rng(seed)
    x, u = rng.uniform(-1.0, 1.0, (2, 1500))
    y = 0 + (u < np.tanh(0.5 + 1.5 * x)) + (u < -0.8)
    actual = ordfit("y ~ x", pd.DataFrame({"x": x, "y": y})).gof()
    assert (
        actual.p_value < 0.01
        and "ordinal Hosmer-Lemeshow (Fagerland and Hosmer)" in str(actual)
    )
