"""Goodness-of-fit tests against counts by hand and R's ordinal; their size under the true model (slow)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from scipy import stats

from diagnosis.samples import fitted, frame
from ordstat import ordfit
from ordstat.exceptions import DataError, OptionError, UnavailableError
from ordstat.inference.goodness import score_groups

#: The likelihood ratios carry what R's fits leave over.
ROOM = 1e-6

#: R 4.2.2, ordinal 2022.11-16, on sim500: scores and groups by rows in order of the expected rank, 50 in each of 10
#: groups (no ties); counts, statistics and pchisq as written in `gof.R` beside this file.
FROM_R = pd.read_csv(Path(__file__).with_name("gof.csv"))


@pytest.mark.parametrize("row", list(FROM_R.itertuples(index=False)), ids=lambda row: f"{row.link}-{row.groups}")
def test_against_r(row) -> None:
    data = load_data("sim500")
    fit = ordfit("y ~ x1 + x2 + f + g", data, link=row.link)
    actual = fit.gof(int(row.groups)).table.iloc[0]
    assert actual["df"] == row.df
    assert actual["statistic"] == pytest.approx(row.statistic, rel=ROOM)
    assert actual["p_value"] == pytest.approx(row.p_value, rel=ROOM)


def test_hosmer_lemeshow_by_hand() -> None:
    """Two binary covariates: four scores, four groups; expected counts are cell sizes times probabilities."""
    wine = load_data("wine")
    fit = ordfit("rating ~ temp + contact", wine)
    cells = wine.groupby(["temp", "contact"], observed=True)
    observed = cells["rating"].value_counts().unstack().to_numpy(dtype=float)
    prob = fit.predict(pd.DataFrame(list(cells.groups), columns=["temp", "contact"]), type="prob").to_numpy()
    expected = observed.sum(axis=1, keepdims=True) * prob
    statistic = ((observed - expected) ** 2 / expected).sum()
    actual = fit.gof(groups=4)
    assert actual.table["statistic"].iloc[0] == pytest.approx(statistic, rel=1e-12)
    assert actual.table["df"].iloc[0] == (4 - 2) * (5 - 1) + (5 - 2)
    assert actual.p_value == pytest.approx(stats.chi2.sf(statistic, 11), rel=1e-10)
    order = np.argsort(prob @ np.arange(1, 6))
    np.testing.assert_array_equal(actual.observed, observed[order])
    np.testing.assert_allclose(actual.expected, expected[order], rtol=1e-12)
    assert "expected counts are below 5" in actual.notes[0] and "Observed counts" in repr(actual)


def test_weights_are_repeated_rows() -> None:
    data = frame(n=200)
    weighted = ordfit("y ~ x + f", data, weights="w").gof()
    repeated = ordfit("y ~ x + f", data.loc[data.index.repeat(data["w"])]).gof()
    pd.testing.assert_frame_equal(weighted.table, repeated.table, rtol=1e-8)
    pd.testing.assert_frame_equal(weighted.observed, repeated.observed)


def test_equal_scores_stay_together() -> None:
    scores = np.repeat([1.0, 2.0, 3.0, 4.0], [10, 30, 10, 50])
    assert score_groups(scores, np.ones(100), 3).tolist() == [0] * 40 + [1] * 10 + [2] * 50
    jitter = scores + 1e-13 * np.arange(100)  # what rounding does to equal scores
    np.testing.assert_array_equal(score_groups(jitter, np.ones(100), 3), score_groups(scores, np.ones(100), 3))
    sizes = np.bincount(score_groups(np.random.default_rng(0).random(103), np.ones(103), 10))
    assert set(sizes.tolist()) == {10, 11}


REFUSED = {
    "few scores": ({"formula": "y ~ f"}, {"groups": 10}, DataError, "3 distinct scores"),
    "nominal": ({"formula": "y ~ x", "nominal": "~ f"}, {}, UnavailableError, r"Use test\(\) of terms"),
    "scale": ({"scale": "~ z"}, {}, UnavailableError, r"Use test\(\) of terms"),
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
    x, f = rng.normal(size=800), rng.choice([False, True], size=800)
    y = pd.qcut(1.5 * x**2 + f + rng.logistic(size=800), 4, labels=[1, 2, 3, 4])
    data = pd.DataFrame({"x": x, "f": f, "y": y})
    assert ordfit("y ~ x + f", data).gof().p_value < 1e-4
    assert ordfit("y ~ x + I(x^2) + f", data).gof().p_value > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_size_under_the_true_model(link: str) -> None:
    """Share of p-values below 5 % in 1000 samples, within 4 Monte Carlo errors plus what the papers report (1 %)."""
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
    assert actual.p_value < 0.01 and "ordinal Hosmer-Lemeshow (Fagerland and Hosmer)" in str(actual)
