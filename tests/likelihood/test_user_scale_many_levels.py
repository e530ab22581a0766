"""Questions after a fit with as many levels as rows: the same call with the covariance
formed, given as a matrix, has to give the same numbers.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import norm

from ordstat import DataError, checks, ordfit, pool
from ordstat.likelihood import derivatives
from ordstat.likelihood.score_nodes import ScoreNodes


def rows(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.standard_normal(n), "z": rng.standard_normal(n)})
    frame["g"] = np.array(list("abc"))[rng.integers(0, 3, n)]
    score = 0.5 * frame["x"] - 0.3 * frame["z"] + 0.4 * (frame["g"] == "b")
    frame["y"] = score + rng.logistic(size=n)
    return frame


def censored(n: int) -> pd.DataFrame:
    frame = rows(n)
    end = np.random.default_rng(9).permutation(frame["y"].to_numpy())
    exact = (frame["y"] <= end).astype(int)
    return frame.assign(time=np.minimum(frame["y"], end), event=exact)


FITS = {
    "ties": lambda: ordfit("y ~ x + z + g", rows(150).round({"y": 1}), levels="all"),
    "cloglog": lambda: ordfit("y ~ x * g", rows(80), link="cloglog", levels="all"),
    "censored": lambda: ordfit("Surv(time, event) ~ x + z + g", censored(100)),
}
QUESTIONS: dict[str, Callable] = {
    "anova": lambda fit: fit.anova(type="III"),
    "test": lambda fit: fit.test("x = 0, g[T.b] = g[T.c]"),
    "vif": lambda fit: fit.vif(),
    "means": lambda fit: fit.emmeans("g").frame,
    "differences": lambda fit: fit.emmeans("g").contrasts(),
    "means of labels": lambda fit: fit.emmeans("g", scale="mean").frame,
    "medians": lambda fit: fit.emmeans("g", scale={"quantile": 0.5}).frame,
    "exceedance": lambda fit: fit.emmeans("g", scale={"exceed": fit.levels[20]}).frame,
    "slopes": lambda fit: fit.emtrends("g", var="x").frame,
    "joint tests": lambda fit: fit.joint_tests(),
    "effects": lambda fit: fit.marginal_effects("x", scale="mean").frame,
    "effects of a factor": lambda fit: fit.marginal_effects("g", scale="mean").frame,
    "scores": lambda fit: fit.predict(rows(4), type="score", interval="confidence"),
}


#: Questions that differ by the kind of fit.
SOME = ("anova", "means of labels", "effects", "scores")


def agrees(fit, questions: Iterable[str]) -> None:
    dense = fit.with_vcov(fit.vcov().to_numpy())
    for question in questions:
        found = QUESTIONS[question](fit).select_dtypes("number")
        expected = QUESTIONS[question](dense).select_dtypes("number")
        assert found.notna().any(axis=None)
        np.testing.assert_allclose(
            found, expected, rtol=1e-9, atol=1e-12, err_msg=question
        )


def test_the_numbers_are_those_of_the_matrix() -> None:
    agrees(ordfit("y ~ x + z + g", rows(80), levels="all"), QUESTIONS)


@pytest.mark.parametrize("name", FITS)
def test_the_numbers_of_other_fits_are_those_of_the_matrix(name: str) -> None:
    agrees(FITS[name](), SOME)


@pytest.mark.filterwarnings("ignore::ordstat.DataWarning")
def test_the_numbers_beside_an_aliased_column_are_those_of_the_matrix() -> None:
    agrees(ordfit("y ~ x + z + g + I(2 * x)", rows(80), levels="all"), SOME)


def test_pooled_numbers_are_those_of_the_matrices() -> None:
    fits = []
    for seed in (1, 2):
        z = np.random.default_rng(seed).standard_normal(150)
        fits.append(ordfit("y ~ x + z + g", rows(150).assign(z=z), levels="all"))
    dense = [fit.with_vcov(fit.vcov().to_numpy()) for fit in fits]
    questions = [
        lambda pooled: pooled.tidy(),
        lambda pooled: pooled.anova(type="III"),
        lambda pooled: pooled.test("x = 0, z = 0"),
        lambda pooled: pooled.emmeans("g", scale="mean").frame,
    ]
    for ask in questions:
        found = ask(pool(fits)).select_dtypes("number")
        expected = ask(pool(dense)).select_dtypes("number")
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


DISTRIBUTIONS = {
    "logit": expit,
    "probit": norm.cdf,
    "cloglog": lambda eta: -np.expm1(-np.exp(eta)),
    "loglog": lambda eta: np.exp(-np.exp(-eta)),
    "cauchit": lambda eta: 0.5 + np.arctan(eta) / np.pi,
}


@pytest.mark.parametrize("link", DISTRIBUTIONS)
def test_means_of_very_many_rows_by_the_sum_over_levels(
    link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E[y] = y_1 + sum_k (y_k+1 - y_k) P(y > k), and its derivatives by differences."""
    monkeypatch.setattr(derivatives, "_MANY_CELLS", 0)
    data = rows(1500, seed=3).round({"y": 1})
    fit = ordfit("y ~ x + z", data, link=link, levels="all")
    assert ScoreNodes.of(fit.fit.scores) is not None
    numbers = np.array(fit.levels)
    theta = fit.thresholds.to_numpy()

    def means(x: np.ndarray) -> np.ndarray:
        H = fit.coef["x"] * x + fit.coef["z"] * data["z"].to_numpy()
        below = DISTRIBUTIONS[link](theta - H[:, None])
        return numbers[-1] - below @ np.diff(numbers)

    x = data["x"].to_numpy()
    np.testing.assert_allclose(fit.predict(type="mean"), means(x), atol=1e-12)
    effect = fit.marginal_effects("x", scale="mean").frame["estimate"].iloc[0]
    h = 1e-3
    slope = (means(x + h) - means(x - h)).mean() / (2.0 * h)
    assert effect == pytest.approx(slope, rel=1e-6)
    monkeypatch.setattr(derivatives, "_MANY_CELLS", np.inf)
    every = fit.marginal_effects("x", scale="mean").frame
    monkeypatch.setattr(derivatives, "_MANY_CELLS", 0)
    few = fit.marginal_effects("x", scale="mean").frame
    np.testing.assert_allclose(
        few[["estimate", "std_error"]], every[["estimate", "std_error"]], rtol=1e-10
    )


def test_ten_thousand_levels_take_little_memory() -> None:
    """The covariance is 800 MB, and a number for each row and level as much."""
    fit = ordfit("y ~ x + z + g", rows(10_000), levels="all")
    tracemalloc.start()
    try:
        fit.anova()
        slopes = fit.test("x = 0, z = 0")
        fit.emmeans("g", scale="mean").contrasts()
        effects = fit.marginal_effects("x", scale="mean").frame
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 150e6
    z = (fit.coef / fit.se[-4:])[["x", "z"]]
    np.testing.assert_allclose(slopes["chisq"].iloc[:2], z**2, rtol=1e-9)
    assert effects["std_error"].gt(0.0).all()


def test_what_has_a_number_for_each_level_is_refused_with_what_to_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checks, "available_memory", lambda: 2.0**28)
    fit = ordfit("y ~ x + z + g", rows(5000), levels="all")
    with pytest.raises(DataError, match="scale='mean'"):
        fit.emmeans("g", scale="prob")
    with pytest.raises(DataError, match="join levels"):
        fit.vcov()
    with pytest.raises(DataError, match="Use score_test"):
        fit.brant()


def test_errors_of_medians_do_not_come_from_the_distance_of_two_levels() -> None:
    """The median of n logistic numbers has the error 1 / (2 f sqrt(n)), where their
    density f is 1/4; the effect of x adds nothing at its mean.
    """
    errors = []
    for seed in range(8):
        data = rows(600, seed=seed).assign(
            y=np.random.default_rng(seed).logistic(size=600)
        )
        fit = ordfit("y ~ x", data, levels="all")
        means = fit.emmeans("x", scale={"quantile": 0.5}, at={"x": [0.0]})
        errors.append(means.frame["std_error"].iloc[0])
    assert np.array(errors) == pytest.approx(2.0 / np.sqrt(600), rel=0.5)
    assert np.mean(errors) == pytest.approx(2.0 / np.sqrt(600), rel=0.15)
