"""Contrasts, adjustments, weights, trends and joint tests against R's emmeans:
tests/golden/r/emmeans_contrasts.R.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from seams import LikelihoodResults

from ordstat import datasets, ordfit
from ordstat.exceptions import DataWarning

R = pd.read_csv(Path(__file__).parents[1] / "golden" / "r" / "emmeans_contrasts.csv")
MODELS = {
    "h": lambda: ordfit(
        "Sat ~ Infl + Type + Cont", datasets.load("housing"), weights="Freq"
    ),
    "hi": lambda: ordfit(
        "Sat ~ Infl * Type + Cont", datasets.load("housing"), weights="Freq"
    ),
    "w": lambda: ordfit("rating ~ temp * contact", datasets.load("wine")),
    "s": lambda: ordfit("y ~ f * x1 + g + x2", load_data("sim500")),
}


def without_a_cell() -> LikelihoodResults:
    data = load_data("sim500")
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        return ordfit(
            "y ~ f * g + x1", data[~((data["f"] == "hi") & (data["g"] == "D"))]
        )


MODELS["gap"] = without_a_cell
ADJUSTMENTS = ("none", "tukey", "sidak", "bonferroni", "holm", "fdr")
OWN = {"highrise": [1, -1 / 3, -1 / 3, -1 / 3], "other": [0, 1, -1, 0]}


@lru_cache
def model(name: str) -> LikelihoodResults:
    return MODELS[name]()


def means(name: str, *variables: Any, **options: Any) -> Any:
    return model(name).emmeans(*variables, **options)


CASES: dict[str, Callable[[], pd.DataFrame]] = {
    **{
        f"pairs {how}": lambda how=how: means("h", "Type").contrasts("revpairwise", how)
        for how in ADJUSTMENTS
    },
    "default of two": lambda: means("h", "Cont").contrasts("revpairwise"),
    "by": lambda: means("hi", "~ Type | Infl").contrasts("revpairwise"),
    "reverse": lambda: means("hi", "Type", by="Infl").contrasts("pairwise"),
    "reference": (
        lambda: means("h", "Type").contrasts("trt.vs.ctrl", "sidak", ref="Apartment")
    ),
    "sequential": lambda: means("h", "Type").contrasts("consec", adjust="holm"),
    "own none": lambda: means("h", "Type").contrasts(OWN),
    "own mvt": lambda: means("h", "Type").contrasts(OWN, "mvt"),
    "prob contrasts": (
        lambda: means("w", "~ temp | contact", scale="prob").contrasts("revpairwise")
    ),
    "prob tukey": lambda: means("hi", "Infl", scale="prob").contrasts("revpairwise"),
    "mean_class": (
        lambda: means("hi", "Infl", scale="mean_class").contrasts("revpairwise")
    ),
    "prob": lambda: means("w", "temp", scale="prob").frame,
    "exc_prob": lambda: means("w", "temp", scale="exc_prob").frame,
    "cum_prob": lambda: means("hi", "Infl", scale="cum_prob").frame,
    **{
        f"weights {weights}": (
            lambda weights=weights: means("s", "f", weights=weights).frame
        )
        for weights in ("equal", "proportional", "cells")
    },
    **{
        f"weights prob {weights}": (
            lambda weights=weights: means("s", "f", scale="prob", weights=weights).frame
        )
        for weights in ("equal", "proportional", "cells")
    },
    "at": lambda: means("s", "~ f | x1", at={"x1": [-1, 0.5]}).frame,
    "at mean_class": (
        lambda: means("s", "~ f | x1", at={"x1": [-1, 0.5]}, scale="mean").contrasts(
            "revpairwise"
        )
    ),
    "trends": lambda: model("s").emtrends("f", "x1").frame,
    "trends contrasts": lambda: model("s").emtrends("f", "x1").contrasts("revpairwise"),
    "joint s": lambda: model("s").joint_tests(),
    "joint hi": lambda: model("hi").joint_tests(),
    "joint hi by": lambda: model("hi").joint_tests(by="Infl"),
    "joint w": lambda: model("w").joint_tests(),
    "joint w by": lambda: model("w").joint_tests(by="contact"),
    "joint gap": lambda: model("gap").joint_tests(),
    "joint gap by": lambda: model("gap").joint_tests(by="f"),
    "gap cells": lambda: means("gap", "f", weights="cells").frame,
}
NUMBERS = [
    "estimate",
    "std_error",
    "lower",
    "upper",
    "statistic",
    "p_value",
    "df",
    "chisq",
]


def labels(actual: pd.DataFrame) -> list[str]:
    """The columns that say what a row is, in the order of the alphabet: R has them in
    another order.
    """
    front = actual.drop(columns=NUMBERS, errors="ignore").map(
        lambda x: f"{x:g}" if isinstance(x, float) else str(x)
    )
    return ["|".join(sorted(row)) for row in front.to_numpy()]


def expected(case: str, actual: pd.DataFrame) -> pd.DataFrame:
    """R's rows in the order of ours."""
    r_rows = R[R["case"] == case]
    parts = r_rows["label"].str.split("|")
    if case in ("exc_prob", "cum_prob"):  # R names thresholds, "low|high"
        parts = parts.map(lambda texts: [f"below {texts[0]}", *texts[2:]])
        actual = actual.assign(level="below " + actual["level"].astype(str))
    keys = pd.Index(["|".join(sorted(texts)) for texts in parts])
    assert sorted(keys) == sorted(labels(actual))
    return r_rows.set_index(keys).loc[labels(actual)]


@pytest.mark.parametrize("case", CASES)
def test_equal_to_r(case: str) -> None:
    actual = CASES[case]()
    r = expected(case, actual)
    if "joint" in case:
        assert actual["df"].tolist() == r["df"].tolist()
        # R rounds F to 3 decimals
        np.testing.assert_allclose(
            actual["chisq"], r["chisq"], atol=6e-4 * r["df"].max()
        )
        np.testing.assert_allclose(actual["p_value"], r["p_value"], rtol=1e-6)
        return
    np.testing.assert_allclose(actual["estimate"], r["estimate"], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(actual["std_error"], r["std_error"], rtol=1e-6)
    if "statistic" in actual:
        loose = 1e-4 if "mvt" in case else 1e-6  # Monte Carlo in R
        np.testing.assert_allclose(
            actual["p_value"], r["p_value"], rtol=loose, atol=1e-9
        )
        np.testing.assert_allclose(
            actual[["lower", "upper"]], r[["lower", "upper"]], rtol=loose, atol=1e-7
        )


@pytest.mark.parametrize("weights", ["proportional", "cells"])
def test_weighted_mean_ranks_are_sums_of_weighted_probabilities(weights: str) -> None:
    """R's emmeans loses the weights on this scale ("no weighting information is
    available"), and on that keeps them.
    """
    mean = (
        means("s", "f", scale="mean_class", weights=weights)
        .frame.set_index("f")["estimate"]
        .astype(float)
    )
    shares = means("s", "f", scale="prob", weights=weights).frame
    ranks = shares["level"].astype("category").cat.codes + 1
    np.testing.assert_allclose(
        mean,
        (shares["estimate"] * ranks).groupby(shares["f"]).sum()[mean.index],
        rtol=1e-9,
    )


def test_every_result_of_r_is_compared() -> None:
    assert set(R["case"]) == set(CASES)


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000) + 3.0
    group = rng.choice(["a", "b"], 2000)
    latent = x * np.where(group == "b", 2.0, 1.0) + np.exp(0.4 * x) * rng.logistic(
        size=2000
    )
    return pd.DataFrame(
        {
            "x": x,
            "g": group,
            "z": rng.normal(size=2000),
            "y": np.digitize(latent, [2.0, 5.0, 9.0]),
        }
    )


def test_slopes_are_those_of_the_location_in_the_unit_of_the_grid(
    data: pd.DataFrame,
) -> None:
    fit = ordfit("y ~ x * g", data, scale="~ x")
    slopes = fit.emtrends("g", "x", at={"x": 3.0})
    b = fit.params
    location = np.array([b["x"], b["x"] + b["x:g[T.b]"]])
    np.testing.assert_allclose(
        slopes.frame["estimate"], np.exp(-3.0 * b["scale.x"]) * location, rtol=1e-9
    )
    # so that they differ where the interaction does
    test = fit.test("x:g[T.b] = 0")
    np.testing.assert_allclose(
        slopes.contrasts("revpairwise")["estimate"],
        np.exp(-3.0 * b["scale.x"]) * b["x:g[T.b]"],
        rtol=1e-9,
    )
    assert slopes.contrasts()["p_value"][0] < 1e-5 and test["p_value"].iloc[0] < 1e-5


def test_slopes_are_differences_of_means(data: pd.DataFrame) -> None:
    fit = ordfit("y ~ x * g", data, scale="~ x + g")
    at = [3.0 - 1e-3, 3.0 + 1e-3]
    means = fit.emmeans("x", by="g", at={"x": at}).contrasts("revpairwise")
    slopes = fit.emtrends("g", "x", at={"x": 3.0}).frame
    np.testing.assert_allclose(
        slopes[["estimate", "std_error"]],
        means[["estimate", "std_error"]] / 2e-3,
        rtol=1e-8,
    )


def test_a_variable_of_the_scale_alone_has_no_slope(data: pd.DataFrame) -> None:
    slopes = ordfit("y ~ x", data, scale="~ z").emtrends("x", "z", at={"x": [0.0, 3.0]})
    assert (slopes.frame[["estimate", "std_error", "lower", "upper"]] == 0.0).all(
        axis=None
    )
    assert slopes.contrasts()["p_value"].isna().all()
