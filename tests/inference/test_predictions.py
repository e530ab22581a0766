"""Predictions with errors: simulation, robust covariances, other costs, incomplete
rows, limits that stay in range.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from scipy.special import expit, logit
from scipy.stats import norm
from seams import LikelihoodRule

from ordstat import ordfit
from ordstat.likelihood.flexible import link_of
from ordstat.likelihood.standard_errors import predicted, rule_by_estimates

#: What the probabilities of levels 1 to 5 are multiplied by.
OF_PROBABILITIES = {
    "mean": np.arange(1.0, 6.0),
    "mean_class": np.arange(1.0, 6.0),
    "exceed": np.tri(5)[:, 1:],
}
ROOTS = [[abs(i - j) ** 0.5 for i in range(5)] for j in range(5)]
Z95 = norm.ppf(0.975)
CALLS = {
    "plain": {"formula": "y ~ x1 + f"},
    "parts": {
        "formula": "y ~ x1 * f + offset(x3 / 4)",
        "scale": "~ x2",
        "nominal": "~ x4",
        "method": "probit",
    },
    "structured": {
        "formula": "y ~ x1 + f",
        "threshold": "symmetric",
        "method": "loglog",
    },
    "flexible": {"formula": "y ~ x1 + f", "link": "aranda-ordaz"},
    "given lambda": {"formula": "y ~ x1 + f", "link": ("log-gamma", 0.5)},
}


@pytest.fixture(params=CALLS, scope="module")
def fit(request):
    return ordfit(data=load_data("sim500"), **CALLS[request.param])


def rule_at(fit, estimates: np.ndarray) -> LikelihoodRule:
    """The rule of a fit at other values of its estimated parameters."""
    rule = fit.rule
    change = rule_by_estimates(fit, rule) @ (estimates - fit.coefficients[~fit.aliased])
    alpha, beta, zeta, _ = np.split(
        change, np.cumsum([rule.alpha.size, rule.beta.size, rule.zeta.size])
    )
    family = (
        rule.family.at(link_of(rule.link.name, float(estimates[-1])))
        if fit.n_lambda
        else rule.family
    )
    alpha = rule.alpha + alpha.reshape(rule.alpha.shape[::-1]).T
    return replace(
        rule, family=family, alpha=alpha, beta=rule.beta + beta, zeta=rule.zeta + zeta
    )


def numeric_errors(fit, new: pd.DataFrame, type: str) -> np.ndarray:
    """(n M,) by finite differences of refilled rules over the estimated parameters."""
    rows = fit.design.spec.rebuild(new).rows
    at = fit.params.to_numpy()
    h = 1e-4

    def values(change: np.ndarray) -> np.ndarray:
        rule = rule_at(fit.fit, at + change)
        if type in OF_PROBABILITIES:
            return (rule.probabilities(rows) @ OF_PROBABILITIES[type]).reshape(-1)
        return predicted(rule, rows, type).reshape(-1)

    columns = [
        (8 * (values(h * e) - values(-h * e)) - values(2 * h * e) + values(-2 * h * e))
        / (12 * h)
        for e in np.eye(at.size)
    ]
    gradient = np.column_stack(columns)
    return np.sqrt(((gradient @ fit.vcov().to_numpy()) * gradient).sum(axis=1))


@pytest.mark.parametrize(
    "type", ["prob", "cum_prob", "score", "linear_predictor", *OF_PROBABILITIES]
)
def test_errors_are_those_of_finite_differences(fit, type: str) -> None:
    new = load_data("sim500").iloc[[3, 90, 411]]
    out = fit.predict(new, type=type, se=True)
    np.testing.assert_allclose(
        out["std_error"].to_numpy().reshape(-1),
        numeric_errors(fit, new, type),
        rtol=1e-6,
        atol=1e-9,
    )
    estimate = fit.predict(new, type=type)
    (
        pd.testing.assert_series_equal
        if estimate.ndim == 1
        else pd.testing.assert_frame_equal
    )(out["estimate"], estimate, check_names=False)


def test_limits_by_hand() -> None:
    fit = ordfit("y ~ x1 + f", data=load_data("sim500"))
    new = load_data("sim500").head(5)
    mean = fit.predict(new, type="mean", se=True, interval="confidence")
    assert list(mean.columns) == ["estimate", "std_error", "lower", "upper"]
    share = (mean["estimate"] - 1) / 4
    half = Z95 * mean["std_error"] / 4 / (share * (1 - share))
    np.testing.assert_allclose(
        mean["lower"], 1 + 4 * expit(logit(share) - half), rtol=1e-10
    )
    np.testing.assert_allclose(
        mean["upper"], 1 + 4 * expit(logit(share) + half), rtol=1e-10
    )
    score = fit.predict(new, type="score", interval="confidence", level=0.9)
    assert list(score.columns) == ["estimate", "lower", "upper"]
    x = np.column_stack([new["x1"], new["f"] == "mid", new["f"] == "hi"]).astype(float)
    V = fit.vcov().loc[fit.coef.index, fit.coef.index].to_numpy()
    half = norm.ppf(0.95) * np.sqrt(((x @ V) * x).sum(axis=1))
    np.testing.assert_allclose(score["upper"] - score["estimate"], half, rtol=1e-10)
    robust = fit.predict(new, type="score", se=True, vcov="HC0")["std_error"]
    V = fit.vcov("HC0").loc[fit.coef.index, fit.coef.index].to_numpy()
    np.testing.assert_allclose(robust, np.sqrt(((x @ V) * x).sum(axis=1)), rtol=1e-10)


def test_rows_far_out_keep_their_limits_in_range() -> None:
    fit = ordfit("y ~ x1 + f", data=load_data("sim500"))
    new = load_data("sim500").head(2).assign(x1=[-300.0, 300.0])
    for type in ("prob", "cum_prob"):
        out = fit.predict(new, type=type, interval="confidence")
        lower, estimate, upper = (
            out[name].to_numpy() for name in ("lower", "estimate", "upper")
        )
        assert (
            (lower >= 0) & (lower <= estimate) & (estimate <= upper) & (upper <= 1)
        ).all()


def test_incomplete_rows_keep_their_place() -> None:
    fit = ordfit("rating ~ temp", data=load_data("wine"))
    new = (
        load_data("wine")
        .iloc[:3]
        .set_index(pd.Index(list("abc")))
        .drop(columns="rating")
    )
    new.loc["b", "temp"] = None
    before = new.copy()
    for type in ("prob", "mean"):
        out = fit.predict(new, type=type, se=True, interval="confidence")
        assert out.index.tolist() == list("abc") and out.isna().all(
            axis=1
        ).tolist() == [False, True, False]
    assert fit.predict(new, cost="absolute").isna().tolist() == [False, True, False]
    pd.testing.assert_frame_equal(new, before)


@pytest.mark.parametrize(
    "cost",
    [
        "classification",
        "absolute",
        "squared",
        np.abs(np.subtract.outer(range(5), range(5))) ** 0.5,
    ],
)
def test_classes_under_another_cost(cost) -> None:
    data = load_data("sim500")
    fit = ordfit("y ~ x1 + f", data=data)
    table = {
        "classification": 1.0 - np.eye(5),
        "absolute": np.abs(np.subtract.outer(range(5), range(5))),
        "squared": np.subtract.outer(range(5), range(5)) ** 2,
    }
    matrix = table[cost] if isinstance(cost, str) else np.array(cost)
    best = np.argmin(fit.predict(type="prob").to_numpy() @ matrix, axis=1)
    assert fit.predict(cost=cost).cat.codes.tolist() == best.tolist()
    refitted = ordfit("y ~ x1 + f", data=data, cost=cost)
    assert fit.predict(data, cost=cost).equals(refitted.predict(data))


def test_many_levels() -> None:
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"x": rng.normal(size=300)})
    data["y"] = data["x"] + rng.normal(size=300)
    fit = ordfit("y ~ x", data=data, method="probit", levels=sorted(data["y"]))
    out = fit.predict(data.head(2), type="cum_prob", se=True, interval="confidence")
    middle = out["estimate"].iloc[0].sub(0.5).abs().argmin()
    one = ordfit(
        "y ~ x", data=data.assign(y=(data["y"] > fit.levels[middle])), method="probit"
    )
    coarse = one.predict(data.head(1), type="cum_prob", se=True)
    assert out["estimate"].iloc[0, middle] == pytest.approx(
        coarse["estimate"].iloc[0, 0], abs=0.06
    )
    # more levels tell more
    assert (
        0.5 < out["std_error"].iloc[0, middle] / coarse["std_error"].iloc[0, 0] <= 1.05
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", ["logit", "probit", "cloglog"])
@pytest.mark.parametrize("n", [200, 1000])
def test_limits_of_probabilities_cover(method: str, n: int) -> None:
    """95 % limits of class probabilities at three points hold the true ones; 600
    samples, four deviations allowed.
    """
    rng = np.random.default_rng(n)
    theta = np.array([-1.0, 0.2, 1.4])
    beta = np.array([0.8, -0.5])
    samples = 600
    new = pd.DataFrame({"a": [0.0, 1.0, -1.0], "b": [0.0, 0.0, 1.0]})
    F = {
        "logit": expit,
        "probit": norm.cdf,
        "cloglog": lambda t: -np.expm1(-np.exp(t)),
    }[method]

    def probabilities(x: pd.DataFrame) -> np.ndarray:
        below = F(theta - (x[["a", "b"]].to_numpy() @ beta)[:, None])
        return np.diff(below, axis=1, prepend=0.0, append=1.0)

    truth = probabilities(new)
    hits = np.zeros((3, 4))
    for _ in range(samples):
        data = pd.DataFrame(
            {"a": rng.normal(size=n), "b": rng.integers(0, 2, size=n).astype(float)}
        )
        data["y"] = (rng.random(n)[:, None] > probabilities(data).cumsum(axis=1)).sum(
            axis=1
        )
        out = ordfit("y ~ a + b", data=data, method=method).predict(
            new, type="prob", interval="confidence"
        )
        hits += (out["lower"].to_numpy() <= truth) & (truth <= out["upper"].to_numpy())
    # and the error of the normal approximation
    allowed = 4 * np.sqrt(0.95 * 0.05 / samples) + 1.5 / n
    assert np.abs(hits / samples - 0.95).max() < allowed


@pytest.mark.parametrize("labels", [[1, 2, 4, 8], ["a", "b", "c", "d"]])
@pytest.mark.parametrize("options", [{}, {"method": "acat"}, {"link": "cauchit"}])
def test_quantiles_of_rows_that_are_certain_are_their_level(labels, options):
    """Complete separation: each row has one level with probability 1."""
    codes = np.repeat([0, 1, 2, 3], 5)
    data = pd.DataFrame({"y": np.array(labels)[codes], "x": np.arange(20.0)})
    levels = None if labels[0] == 1 else labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = ordfit("y ~ x", data, levels=levels, **options)
        for share in (0.1, 0.5, 0.9):
            quantile = fit.predict(data, type="quantile", at=share)
            assert quantile.tolist() == data["y"].tolist()


@pytest.mark.parametrize("method", ["clm", "acat"])
def test_medians_between_labels_of_rows_that_are_certain(method):
    """Of P(y <= k) that are 0 up to a level and 1 from it on, the median lies between
    the knots [R: rms, Quantile.orm], and is an end of the scale at its ends.
    """
    codes = np.repeat([0, 1, 2, 3], 5)
    data = pd.DataFrame(
        {
            "y": np.array([1, 2, 4, 8])[codes],
            "g": np.array(["a", "b", "c", "d"])[codes],
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = ordfit("y ~ g", data, method)
        rows = data.iloc[[0, 5, 10, 15]]
        medians = fit.predict(rows, type="quantile", interpolate=True, at=0.5)
        means = fit.emmeans("g", scale={"quantile": 0.5}).frame
    np.testing.assert_allclose(medians, [1.0, 2.5, 5.0, 8.0])
    np.testing.assert_allclose(means["estimate"], [1.0, 2.5, 5.0, 8.0])
