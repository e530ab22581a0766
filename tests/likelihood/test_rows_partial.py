"""Answers known in part: likelihood, standard errors and curves by brute force."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ordstat import SurveyDesign, ordfit
from ordstat.exceptions import OptionError

CDF: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "logit": stats.logistic.cdf,
    "probit": stats.norm.cdf,
    "cloglog": lambda t: -np.expm1(-np.exp(t)),
    "loglog": lambda t: np.exp(-np.exp(-t)),
    "cauchit": stats.cauchy.cdf,
}
SEEDS = {"right": 3, "left": 4, "between": 5}


def coarse(kind: str, n: int = 160) -> pd.DataFrame:
    """Answers 1 to 5, of which every third is known in part."""
    rng = np.random.default_rng(SEEDS[kind])
    x = rng.normal(size=n)
    z = rng.integers(0, 2, n)
    latent = 0.8 * x - 0.5 * z + rng.logistic(size=n)
    y = 1 + np.searchsorted([-1.5, -0.4, 0.6, 1.7], latent)
    low = y.astype(float)
    high = y.astype(float)
    some = np.arange(n) % 3 == 0
    if kind != "left":
        low[some] = np.maximum(y[some] - rng.integers(0, 3, n)[some], 1)
    if kind != "right":
        high[some] = np.minimum(y[some] + rng.integers(0, 3, n)[some], 5)
    if kind == "right":
        high[some] = np.nan
    if kind == "left":
        low[some] = np.nan
    data = pd.DataFrame({"low": low, "high": high, "x": x, "z": z})
    return data.assign(g=np.arange(n) // 8, w=1 + (np.arange(n) % 5 == 0))


def brute(data: pd.DataFrame, link: str, columns: np.ndarray) -> Callable:
    """(N,) log-probabilities as a function of four thresholds and the effects."""
    upper = np.where(data.high.isna(), 5, data.high).astype(int)
    lower = np.where(data.low.isna(), 1, data.low).astype(int)

    def log_p(parameters: np.ndarray) -> np.ndarray:
        theta = np.concatenate([[-np.inf], parameters[:4], [np.inf]])
        H = columns @ parameters[4:]
        return np.log(CDF[link](theta[upper] - H) - CDF[link](theta[lower - 1] - H))

    return log_p


def slopes(f: Callable, at: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of a function by each parameter, one column each."""
    moves = step * np.eye(at.size)
    return np.stack([(f(at + e) - f(at - e)) / (2.0 * step) for e in moves], axis=-1)


@pytest.mark.parametrize("kind", SEEDS)
@pytest.mark.parametrize("link", CDF)
def test_estimates_and_errors(kind: str, link: str) -> None:
    data = coarse(kind)
    fit = ordfit("interval(low, high) ~ x + z", data, link=link, levels=[1, 2, 3, 4, 5])
    log_p = brute(data, link, data[["x", "z"]].to_numpy(float))
    at = fit.params.to_numpy()
    assert fit.loglik == pytest.approx(log_p(at).sum(), abs=1e-9)
    score = slopes(lambda b: log_p(b).sum(), at)
    assert np.abs(score).max() < 1e-4
    information = -slopes(lambda b: slopes(lambda c: log_p(c).sum(), b, 1e-3), at, 1e-3)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    assert fit.se.to_numpy() == pytest.approx(errors, rel=1e-4)


@pytest.mark.parametrize("kind", SEEDS)
def test_clusters_and_weights(kind: str) -> None:
    data = coarse(kind)
    formula = "interval(low, high) ~ x + z"
    levels = [1, 2, 3, 4, 5]
    fit = ordfit(formula, data, levels=levels, vcov={"cluster": "g", "type": "CR1"})
    log_p = brute(data, "logit", data[["x", "z"]].to_numpy(float))
    at = fit.params.to_numpy()
    scores = pd.DataFrame(slopes(log_p, at)).groupby(data.g.to_numpy()).sum()
    bread = fit.with_vcov("model").vcov().to_numpy()
    sandwich = bread @ scores.T.to_numpy() @ scores.to_numpy() @ bread
    groups = len(scores)
    assert fit.se.to_numpy() == pytest.approx(
        np.sqrt(np.diag(sandwich) * groups / (groups - 1.0)), rel=1e-6
    )
    with pytest.raises(OptionError, match="censored"):
        fit.with_vcov({"cluster": "g", "type": "CR2"})
    weighted = ordfit(formula, data, levels=levels, weights="w")
    repeated = ordfit(formula, data.loc[data.index.repeat(data.w)], levels=levels)
    assert weighted.params.to_numpy() == pytest.approx(
        repeated.params.to_numpy(), abs=1e-8
    )


@pytest.mark.parametrize("kind", SEEDS)
def test_survey_designs(kind: str) -> None:
    """The linearised covariance, from scores and information by differences."""
    data = coarse(kind)
    fit = ordfit(
        "interval(low, high) ~ x + z",
        data,
        levels=[1, 2, 3, 4, 5],
        design=SurveyDesign(weights="w", clusters="g"),
    )
    log_p = brute(data, "logit", data[["x", "z"]].to_numpy(float))
    at = fit.params.to_numpy()
    w = data.w.to_numpy() / data.w.mean()
    information = -slopes(lambda b: slopes(lambda c: w @ log_p(c), b, 1e-3), at, 1e-3)
    scores = pd.DataFrame(w[:, None] * slopes(log_p, at)).groupby(data.g).sum()
    assert np.abs(scores.sum()).max() < 1e-4
    bread = np.linalg.inv(information)
    groups = len(scores)
    spread = scores.T.to_numpy() @ scores.to_numpy() * groups / (groups - 1.0)
    assert fit.se.to_numpy() == pytest.approx(
        np.sqrt(np.diag(bread @ spread @ bread)), rel=1e-4
    )


@pytest.mark.parametrize("kind", SEEDS)
@pytest.mark.parametrize("other", [{"nominal": "~ z"}, {"scale": "~ z"}], ids=str)
def test_nominal_and_scale_effects(kind: str, other: dict[str, str]) -> None:
    """The log-likelihood is the sum over the levels that each answer allows."""
    data = coarse(kind)
    fit = ordfit("interval(low, high) ~ x", data, levels=[1, 2, 3, 4, 5], **other)
    p = fit.predict(type="prob").to_numpy()
    level = np.arange(1, 6)
    allowed = (level >= data.low.fillna(1).to_numpy()[:, None]) & (
        level <= data.high.fillna(5).to_numpy()[:, None]
    )
    assert fit.loglik == pytest.approx(
        np.log((p * allowed).sum(axis=1)).sum(), abs=1e-9
    )
    assert fit.certificate.reached
    again = fit.update(start=fit.params.to_numpy())
    assert again.loglik == pytest.approx(fit.loglik, abs=1e-8)


def survival(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    x = rng.normal(size=n)
    event_at = np.ceil(8.0 * np.exp(0.5 * x) * rng.exponential(size=n))
    end = np.ceil(rng.exponential(20.0, size=n))
    return pd.DataFrame(
        {"time": np.minimum(event_at, end), "event": event_at <= end, "x": x}
    )


def kaplan_meier(data: pd.DataFrame) -> np.ndarray:
    """Shares that are left after each time with an event."""
    times = np.unique(data.time[data.event])
    left = [
        1.0 - (data.event & (data.time == t)).sum() / (data.time >= t).sum()
        for t in times
    ]
    return np.cumprod(left)


@pytest.mark.parametrize("link", ["logit", "cloglog", "loglog"])
def test_without_predictors_survival_is_kaplan_meier(link: str) -> None:
    data = survival()
    fit = ordfit("Surv(time, event) ~ 1", data, link=link)
    below = fit.predict(data.head(1), type="cum_prob").to_numpy()[0]
    curve = kaplan_meier(data)
    assert 1.0 - below[: curve.size] == pytest.approx(curve, abs=1e-9)


@pytest.mark.parametrize("side", ["right", "left"])
def test_the_null_likelihood_of_censored_answers_is_the_product_limit(
    side: str,
) -> None:
    """Of every case by the curve of Kaplan and Meier, with weights as repeated rows;
    answers known to be below a value are the mirror image.
    """
    data = survival(80).assign(w=np.arange(80) % 3 + 1)
    every = data.loc[np.repeat(data.index, data.w)]
    curve = pd.Series(kaplan_meier(every), np.unique(every.time[every.event]))
    after = np.array([curve[curve.index <= t].min() for t in every.time])
    before = np.array([curve[curve.index < t].min() for t in every.time])
    after = np.nan_to_num(after, nan=1.0)
    before = np.nan_to_num(before, nan=1.0)
    expected = np.log(np.where(every.event, before - after, after)).sum()
    sign = 1.0 if side == "right" else -1.0
    ends = data.assign(low=sign * data.time, high=sign * data.time)
    ends.loc[~data.event, "high" if side == "right" else "low"] = np.nan
    if side == "left":  # low < answer <= high excludes what high has
        ends.loc[~data.event, "high"] -= 0.5
    fit = ordfit("interval(low, high) ~ x", ends, weights="w")
    assert fit.null_loglik == pytest.approx(expected, rel=1e-12)


def test_without_predictors_intervals_are_turnbull() -> None:
    data = coarse("between")
    fit = ordfit("interval(low, high) ~ 1", data, levels=[1, 2, 3, 4, 5])
    level = np.arange(1, 6)
    allowed = (level >= data.low.to_numpy()[:, None]) & (
        level <= data.high.to_numpy()[:, None]
    )
    p = np.full(5, 0.2)
    for _ in range(5000):  # expectation and maximisation [Turnbull 1976]
        shares = allowed * p
        p = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
    assert fit.predict(data.head(1), type="prob").to_numpy()[0] == pytest.approx(
        p, abs=1e-8
    )


def test_residuals_have_mean_0_where_half_is_censored() -> None:
    data = survival(400)
    fit = ordfit("Surv(time, event) ~ x", data)
    assert abs(fit.residuals("generalised").sum()) < 1e-6
    # under the model the mean of n surrogates has this standard deviation
    spread = np.pi / np.sqrt(3.0 * 400.0)
    assert abs(fit.residuals(seed=1).mean()) < 4.0 * spread


def test_a_group_that_is_always_censored_is_named() -> None:
    """The group's effect is infinite; the other estimates are those without it."""
    data = survival()
    data["group"] = np.where(np.arange(len(data)) % 5 == 0, "b", "a")
    data.loc[data.group == "b", "event"] = False
    with pytest.warns(match="group"):
        fit = ordfit("Surv(time, event) ~ group + x", data)
    assert fit.coef["group[T.b]"] == np.inf
    rest = ordfit("Surv(time, event) ~ x", data[data.group == "a"])
    assert fit.coef["x"] == pytest.approx(rest.coef["x"], abs=1e-6)
    assert fit.se["x"] == pytest.approx(rest.se["x"], rel=1e-5)
