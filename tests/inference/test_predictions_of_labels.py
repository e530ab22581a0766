"""Predicted means, quantiles and exceedance probabilities of every kind of fit, by
brute force from probabilities, and by closed forms.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from expected import no_type, refused
from reference_cases import load_data
from scipy.special import expit, logit
from scipy.stats import norm
from seams import CovarianceMatrix

from ordstat import (
    DataError,
    DataWarning,
    OptionError,
    SurveyDesign,
    checks,
    ordfit,
    pool,
)
from ordstat.inference import predictions
from ordstat.likelihood.derivatives import (
    QUANTITIES,
    QuantityOfRows,
    cumulative_errors,
    standard_errors,
)
from ordstat.likelihood.standard_errors import rule_covariance

LABELS = np.array([0.0, 1.0, 4.0, 9.0, 25.0])
Z95 = norm.ppf(0.975)
CALLS = {
    "logit": {},
    "cauchit": {"method": "cauchit"},
    "nominal and scale": {
        "formula": "y ~ x1 + f",
        "nominal": "~ x2",
        "scale": "~ x3",
        "method": "probit",
    },
    "acat": {"method": "acat"},
    "cratio": {"method": "cratio", "link": "cloglog"},
    "flexible": {"link": "aranda-ordaz"},
    "clusters": {"cluster": "cl"},
    "penalty": {"penalty": 1.0},
}


def data() -> pd.DataFrame:
    """500 rows whose labels are numbers with unequal steps."""
    frame = load_data("sim500")
    codes = frame["y"].astype(int).to_numpy() - 1
    return frame.assign(y=LABELS[codes], cl=np.arange(500) % 40)


def fitted(**options):
    options = {"formula": "y ~ x1 + f", **options}
    return ordfit(data=data(), **options)


NEW = data().iloc[[3, 90, 411]]


@pytest.mark.parametrize("call", CALLS)
def test_predictions_are_those_of_the_probabilities(call: str) -> None:
    fit = fitted(**CALLS[call])
    p = fit.predict(NEW, type="prob").to_numpy()
    np.testing.assert_allclose(fit.predict(NEW, type="mean"), p @ LABELS)
    np.testing.assert_allclose(fit.predict(NEW, type="mean_class"), p @ np.arange(1, 6))
    for value in (0, 1, 2.5, 9, 26):
        expected = p @ (value <= LABELS)
        found = fit.predict(NEW, type="exceed", at=value)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-15)
    shares = [0.1, 0.5, 0.93]
    quantiles = fit.predict(NEW, type="quantile", at=shares)
    for share in shares:
        reached = np.cumsum(p, axis=1) >= share - 1e-12
        assert quantiles[share].tolist() == LABELS[reached.argmax(axis=1)].tolist()


@pytest.mark.parametrize("call", CALLS)
def test_errors_of_cumulative_probabilities_by_few_entries(call: str) -> None:
    fit = fitted(**CALLS[call])
    rows = fit.design.spec.rebuild(NEW).rows
    estimated = CovarianceMatrix(fit.fixed_covariance)
    covariance = rule_covariance(fit.fit, fit.rule, estimated)
    quantity = QUANTITIES["inner_cum_prob"]
    expected = standard_errors(
        lambda some: QuantityOfRows(quantity, fit.rule, some).rows(),
        rows,
        5,
        covariance,
    )
    found = cumulative_errors(fit.rule, rows, covariance)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("call", ["logit", "cauchit", "acat", "clusters"])
def test_limits_of_quantiles_are_those_of_the_probabilities(call: str) -> None:
    """And those of exceedance are those of the complement."""
    fit = fitted(**CALLS[call])
    below = fit.predict(NEW, type="cum_prob", interval="confidence", level=0.8)
    options = {"interval": "confidence", "level": 0.8}
    for share in (0.2, 0.5, 0.8):
        found = fit.predict(NEW, type="quantile", at=share, **options)
        for name, other in (("lower", "upper"), ("upper", "lower")):
            reached = below[other].to_numpy()[:, :-1] >= share
            reached = np.column_stack([reached, np.ones(3, dtype=bool)])
            assert found[name].tolist() == LABELS[reached.argmax(axis=1)].tolist()
    above = fit.predict(NEW, type="exceed", at=4, se=True, **options)
    for name, other in (("lower", "upper"), ("upper", "lower")):
        np.testing.assert_allclose(above[name], 1.0 - below[other, 1.0], rtol=1e-9)
    low = fit.predict(NEW, type="exceed", at=[0, 26], se=True, **options)
    assert (low["std_error"] == 0.0).all(axis=None)
    assert (low["upper"] == [1.0, 0.0]).all(axis=None)


def test_two_levels_by_hand() -> None:
    """Without predictors p is a share: E = a + (b - a) p, its error (b - a) sqrt(p q /
    n).
    """
    frame = pd.DataFrame({"y": [10] * 30 + [25] * 70})
    fit = ordfit("y ~ 1", frame)
    out = fit.predict(frame.head(1), type="mean", se=True, interval="confidence")
    error = np.sqrt(0.7 * 0.3 / 100.0)
    half = Z95 * error / (0.7 * 0.3)
    expected = [
        10 + 15 * 0.7,
        15 * error,
        10 + 15 * expit(logit(0.7) - half),
        10 + 15 * expit(logit(0.7) + half),
    ]
    np.testing.assert_allclose(out.iloc[0], expected, rtol=1e-7)
    median = fit.predict(frame.head(1), type="quantile", interval="confidence")
    assert median.iloc[0].tolist() == [25, 25, 25]
    low = fit.predict(frame.head(1), type="quantile", at=0.25, interval="confidence")
    assert low.iloc[0].tolist() == [10, 10, 25]


def test_words_have_ranks_and_quantiles_of_words() -> None:
    words = ["none", "mild", "moderate", "severe", "extreme"]
    codes = load_data("sim500")["y"].astype(int) - 1
    frame = load_data("sim500").assign(
        y=pd.Categorical.from_codes(codes, words, ordered=True)
    )
    fit = ordfit("y ~ x1 + f", frame)
    numbers = fitted()
    np.testing.assert_allclose(
        fit.predict(NEW, type="mean"), numbers.predict(NEW, type="mean_class")
    )
    out = fit.predict(NEW, type="mean", se=True)
    assert (
        "expected rank (1 to 5, as the labels are not numbers" in out.attrs["notes"][0]
    )
    median = fit.predict(NEW, type="quantile", interval="confidence")
    same = numbers.predict(NEW, type="quantile", interval="confidence")
    for name in ("estimate", "lower", "upper"):
        assert median[name].cat.ordered
        assert LABELS[median[name].cat.codes].tolist() == same[name].tolist()
    at_least = fit.predict(NEW, type="exceed", at=["severe"])
    np.testing.assert_allclose(at_least["severe"], numbers.predict(NEW, "exceed", at=9))


def test_groups_are_averaged_over() -> None:
    """The mean over groups is that of the probabilities averaged over groups; limits
    come from their errors.
    """
    frame = data().head(240).assign(group=np.arange(240) % 12)
    fit = ordfit("y ~ x1 + (1 | group)", frame)
    new = frame.head(3)
    for re in ("marginal", "zero", "mode"):
        p = fit.predict(new, type="prob", re=re).to_numpy()
        found = fit.predict(new, type="mean", re=re)
        np.testing.assert_allclose(found, p @ LABELS, rtol=1e-10)
        found = fit.predict(new, type="exceed", at=4, re=re)
        np.testing.assert_allclose(found, p[:, 2:].sum(axis=1), rtol=1e-10)
        reached = np.cumsum(p, axis=1) >= 0.5
        found = fit.predict(new, type="quantile", re=re)
        assert found.tolist() == LABELS[reached.argmax(axis=1)].tolist()
    for re in ("marginal", "zero"):
        options = {"re": re, "interval": "confidence"}
        exceed = fit.predict(new, type="exceed", at=4, se=True, **options)
        below = fit.predict(new, type="cum_prob", se=True, **options)
        names = ["estimate", "std_error", "lower", "upper"]
        expected = below[[(name, 1.0) for name in names]].to_numpy(copy=True)
        expected[:, [0, 2, 3]] = 1.0 - expected[:, [0, 3, 2]]
        np.testing.assert_allclose(exceed[names], expected, rtol=1e-8)
        found = fit.predict(new, type="quantile", at=0.4, **options)
        for name, other in (("lower", "upper"), ("upper", "lower")):
            reached = below[other].to_numpy()[:, :-1] >= 0.4
            reached = np.column_stack([reached, np.ones(3, dtype=bool)])
            assert found[name].tolist() == LABELS[reached.argmax(axis=1)].tolist()
    with pytest.raises(OptionError, match="re='marginal'"):
        fit.predict(new, type="quantile", interval="confidence", re="mode")


def test_pooled_fits_have_the_quantiles_of_their_mean_probabilities() -> None:
    rng = np.random.default_rng(4)
    fits = [
        ordfit(
            "y ~ x1 + f", data().assign(x1=lambda d: d["x1"] + rng.normal(0, 0.3, 500))
        )
        for _ in range(3)
    ]
    pooled = pool(fits)
    p = pooled.predict(NEW, type="prob").to_numpy()
    mean = pooled.predict(NEW, type="mean", se=True, interval="confidence")
    np.testing.assert_allclose(mean["estimate"], p @ LABELS)
    single = [fit.predict(NEW, type="mean", se=True) for fit in fits]
    within = np.mean([one["std_error"] ** 2 for one in single], axis=0)
    between = np.var([one["estimate"] for one in single], axis=0, ddof=1)
    np.testing.assert_allclose(mean["std_error"] ** 2, within + 4.0 / 3.0 * between)
    assert ((mean["lower"] > 0.0) & (mean["upper"] < 25.0)).all()
    found = pooled.predict(NEW, type="exceed", at=4)
    np.testing.assert_allclose(found, p[:, 2:].sum(axis=1))
    reached = np.cumsum(p, axis=1) >= 0.5
    median = pooled.predict(NEW, type="quantile")
    assert median.tolist() == LABELS[reached.argmax(axis=1)].tolist()
    below = pooled.predict(NEW, type="cum_prob", interval="confidence")
    limits = pooled.predict(NEW, type="quantile", interval="confidence")
    reached = below["lower"].to_numpy() >= 0.5
    assert limits["upper"].tolist() == LABELS[reached.argmax(axis=1)].tolist()


def test_survey_designs_have_their_errors() -> None:
    frame = data().assign(w=lambda d: 1.0 + (d["x2"] > 0))
    fit = ordfit("y ~ x1", frame, design=SurveyDesign(clusters="cl", weights="w"))
    exceed = fit.predict(NEW, type="exceed", at=9, se=True)["std_error"]
    below = fit.predict(NEW, type="cum_prob", se=True)["std_error", 4.0]
    np.testing.assert_allclose(exceed, below, rtol=1e-9)


@pytest.mark.parametrize("method", ["rps-forest", "ordboost", "redsvm", "ordinal-cart"])
def test_rankers_with_probabilities_answer_too(method: str) -> None:
    options = {"calibrate": True} if method == "redsvm" else {}
    fit = ordfit("y ~ x1 + f", data().head(120), method=method, **options)
    new = NEW.assign(x1=[np.nan, *NEW["x1"].iloc[1:]])
    p = fit.predict(new, type="prob").to_numpy()
    np.testing.assert_allclose(fit.predict(new, type="mean"), p @ LABELS)
    np.testing.assert_allclose(
        fit.predict(new, type="exceed", at=4), p[:, 2:].sum(axis=1)
    )
    shares = np.cumsum(p[1:], axis=1) >= 0.5 - 1e-9
    median = fit.predict(new, type="quantile").iloc[1:]
    assert median.tolist() == LABELS[shares.argmax(axis=1)].tolist()


def test_rankers_without_probabilities_say_what_they_predict() -> None:
    fit = ordfit("y ~ x1", data().head(60), method="redsvm")
    assert "mean" not in fit.prediction_types
    with no_type("mean"):
        fit.predict(NEW, type="mean")


def test_answers_known_in_part() -> None:
    """Without predictors: the mean restricted to the last exact time is the area below
    the curve of Kaplan and Meier.
    """
    frame = pd.DataFrame({"t": [1, 2, 2, 3, 5, 7, 8], "event": [1, 1, 0, 1, 0, 1, 0]})
    fit = ordfit("Surv(t, event) ~ 1", frame)
    assert fit.levels == (1, 2, 3, 7, "> 7")
    S = np.array([6 / 7, 6 / 7 * 5 / 6, 6 / 7 * 5 / 6 * 3 / 4])
    S = np.append(S, S[-1] * 1 / 2)  # after 1, 2, 3 and 7
    area = 1.0 + S[0] * 1.0 + S[1] * 1.0 + S[2] * 4.0
    out = fit.predict(frame.head(1), type="mean", se=True)
    assert out["estimate"].iloc[0] == pytest.approx(area, rel=1e-6)
    assert "'> 7' count as the end of the scale: a restricted mean" in str(out.attrs)
    after = fit.predict(frame.head(1), type="exceed", at=[2.5, 7, "> 7"])
    np.testing.assert_allclose(after.iloc[0], [S[1], S[2], S[3]], rtol=1e-6)
    high = fit.predict(frame.head(1), type="quantile", at=[0.5, 0.9])
    assert high.iloc[0].tolist() == [7.0, np.inf]
    with refused("at"):
        fit.predict(frame.head(1), type="exceed", at=7.5)


def test_means_of_medians_where_the_highest_answers_are_censored():
    """A level of its own above all others has the same likelihood."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=300)
    y = np.clip(np.ceil(4.0 + 1.5 * x + rng.logistic(size=300)), 1.0, 9.0)
    data = pd.DataFrame({"x": x, "y": y, "t": np.minimum(y, 8.0), "seen": y < 9.0})
    levels = ordfit("y ~ x", data)
    censored = ordfit("Surv(t, seen) ~ x", data)
    for scale in ({"quantile": 0.5}, {"quantile": [0.25, 0.5]}):
        means, expected = (
            fit.emmeans("x", at={"x": [-1.0, 0.5]}, scale=scale)
            for fit in (censored, levels)
        )
        for actual, other in (
            (means.frame, expected.frame),
            (means.contrasts(), expected.contrasts()),
        ):
            numbers = ["estimate", "std_error"]
            np.testing.assert_allclose(actual[numbers], other[numbers], rtol=1e-6)
    row = pd.DataFrame({"x": [4.0]})
    asked = {"type": "quantile", "interpolate": True}
    assert censored.predict(row, **asked).tolist() == [np.inf]
    with pytest.warns(DataWarning, match="quantiles at the end of the scale"):
        highest = censored.emmeans("x", at={"x": [4.0]}, scale={"quantile": 0.5})
    assert highest.frame[["estimate", "std_error"]].isna().all(axis=None)


def test_rows_that_are_not_determined_have_no_quantile() -> None:
    frame = data().assign(flag=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = ordfit("y ~ x1 + flag", frame)
    new = NEW.assign(flag=[0.0, 1.0, 0.0])
    for type in ("mean", "quantile", "exceed"):
        with pytest.warns(UserWarning, match="1 of 3 rows"):
            out = fit.predict(new, type=type, interval="confidence")
        assert out.isna().all(axis=1).tolist() == [False, True, False]
        with pytest.warns(UserWarning, match="1 of 3 rows"):
            plain = pd.DataFrame(fit.predict(new, type=type))
        assert plain.isna().all(axis=1).tolist() == [False, True, False]


def test_quantiles_have_no_standard_error() -> None:
    with refused("se"):
        fitted().predict(NEW, type="quantile", se=True)


@pytest.mark.slow
def test_limits_cover_the_truth() -> None:
    """95% limits of a mean and of an exceedance probability over 400 samples."""
    rng = np.random.default_rng(8)
    cuts = np.array([-1.0, 0.5, 1.5])
    labels = np.array([0.0, 1.0, 4.0, 9.0])
    new = pd.DataFrame({"x": [0.7]})
    above = expit(0.8 * 0.7 - cuts)
    truth = np.array([above @ np.diff(labels), above[1]])
    covered = np.zeros(2)
    draws = 400
    for _ in range(draws):
        x = rng.normal(size=150)
        codes = np.digitize(0.8 * x + rng.logistic(size=150), cuts)
        fit = ordfit("y ~ x", pd.DataFrame({"x": x, "y": labels[codes]}), levels=labels)
        mean = fit.predict(new, type="mean", interval="confidence").iloc[0]
        exceed = fit.predict(new, "exceed", at=4, interval="confidence").iloc[0]
        for k, limits in enumerate((mean, exceed)):
            covered[k] += limits["lower"] <= truth[k] <= limits["upper"]
    # three standard deviations of a share of 0.95
    np.testing.assert_allclose(covered / draws, 0.95, atol=3 * np.sqrt(0.0475 / draws))


@pytest.mark.parametrize("options", [{}, {"scale": "~ a", "method": "probit"}])
def test_very_many_levels_have_the_limits_of_the_whole_covariance(
    options: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is not formed for them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=120)})
    frame["y"] = np.round(frame["a"] + rng.normal(size=120), 2)
    fit = ordfit("y ~ a", frame, levels="all", **options)
    new = frame.head(5)
    questions: list[dict] = [
        {"type": "mean", "se": True},
        {"type": "exceed", "at": [0.0, 0.5], "se": True},
        {"type": "quantile", "at": 0.4},
        {"type": "linear_predictor"},
    ]
    whole = [fit.predict(new, interval="confidence", **each) for each in questions]
    monkeypatch.setattr(predictions, "_MANY_LEVELS", 5)
    for each, expected in zip(questions, whole, strict=True):
        found = fit.predict(new, interval="confidence", **each)
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_errors_of_very_many_levels_ask_for_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three matrices of 2,000 levels are 96 MB; a mean has a number for each level."""
    frame = pd.DataFrame({"a": np.arange(2000) % 7, "y": np.arange(2000.0)})
    fit = ordfit("y ~ a", frame, levels="all")
    monkeypatch.setattr(checks, "available_memory", lambda: 8e7)
    with pytest.raises(DataError, match="Ask for type='mean'"):
        fit.predict(frame.head(1), type="prob", se=True)
    assert fit.predict(frame.head(1), type="mean", se=True)["std_error"].notna().all()
