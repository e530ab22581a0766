"""Likelihoods with several local maxima: the fit is never worse than one of a smaller model or from another start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.against_r.specs import KINDS
from ordstat import ordfit
from ordstat.exceptions import ConvergenceWarning, SeparationWarning
from ordstat.methods.clm import CumulativeLink
from ordstat.model.fit import LikelihoodFit
from ordstat.model.sample import Rows, Sample
from ordstat.results.likelihood.parameters import Parameters
from ordstat.results.report.warnings import likelihood_alerts


def sample_of(seed: int, n: int, width: int, K: int, noise: str) -> Sample:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width))
    latent = X.sum(axis=1) + (rng.standard_cauchy(n) if noise == "cauchy" else rng.logistic(size=n))
    y = np.searchsorted(np.quantile(latent, np.arange(1, K) / K), latent)
    return Sample(rows=Rows(X=X), y=y, n_levels=K)


def with_scale(sample: Sample, shift: float = 0.0) -> Sample:
    return replace(sample, rows=replace(sample.rows, scale=sample.X[:, :1] + shift))


def fit(sample: Sample, **options: object) -> LikelihoodFit:
    return CumulativeLink(**options).fit(sample, np.random.default_rng(0))


@pytest.mark.parametrize("seed", [5, 74, 83, 105, 112])
def test_scale_effects_never_lower_the_likelihood(seed: int) -> None:
    """From no effects at all Newton's method ends in a local maximum below the model without scale effects."""
    sample = sample_of(seed, 60, 3, 2, "logistic")
    small, large = fit(sample, link="loglog"), fit(with_scale(sample), link="loglog")
    poor = fit(with_scale(sample), link="loglog", start=(0.0,) * 5)
    assert large.certificate.reached and large.loglik >= small.loglik > poor.loglik


@pytest.mark.parametrize("threshold", ["flexible", "symmetric2", "equidistant"])
def test_a_scale_column_far_from_zero(threshold: str) -> None:
    """s (theta - H) of a column x + c is that of x with theta and H times exp(c zeta)."""
    sample = sample_of(1, 200, 2, 4, "logistic")
    near, far = (fit(with_scale(sample, shift), threshold=threshold) for shift in (0.0, 60.0))
    assert far.certificate.reached and far.loglik == pytest.approx(near.loglik, abs=1e-9)
    zeta = near.coefficients[-1]
    factor = np.exp(60.0 * zeta)
    np.testing.assert_allclose(far.coefficients, np.append(near.coefficients[:-1] * factor, zeta), rtol=1e-5)


def test_cauchit_finds_the_better_of_two_maxima() -> None:
    rng = np.random.default_rng(114)
    X = rng.normal(size=(30, 4))
    latent = X.sum(axis=1) + rng.standard_cauchy(30)
    sample = Sample(rows=Rows(X=X), y=np.searchsorted(np.quantile(latent, [0.3, 0.5, 0.8]), latent), n_levels=4)
    found = fit(sample, link="cauchit")
    shares = np.cumsum(np.bincount(sample.y))[:-1] / 30.0
    plain = fit(sample, link="cauchit", start=(*np.tan(np.pi * (shares - 0.5)), 0.0, 0.0, 0.0, 0.0))
    assert found.certificate.reached and plain.certificate.reached
    assert found.loglik > plain.loglik + 0.01


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("rows", [[5], [5, 17, 101], [10], [5, 10]])
def test_many_rows_with_a_rare_event(link: str, rows: list[int]) -> None:
    """Its effect does not show in the small sample, every tenth row; a search from no effects needs no such sample."""
    sample = sample_of(2, 6000, 2, 3, "logistic")
    event = np.zeros(6000)
    event[rows] = 1.0
    y = sample.y.copy()
    y[rows] = 1  # not an end level, which would have no finite effect
    sample = replace(sample, y=y, rows=Rows(X=np.column_stack([sample.X, event])))
    found, plain = fit(sample, link=link), fit(sample, link=link, start=(-1.0, 1.0, 0.0, 0.0, 0.0))
    assert found.certificate.reached and plain.certificate.reached
    np.testing.assert_allclose(found.coefficients, plain.coefficients, atol=1e-8)
    np.testing.assert_allclose(found.information.variances(), plain.information.variances(), rtol=1e-6)


def test_a_local_maximum_beside_a_likelihood_that_rises_for_ever() -> None:
    """Two levels and s = exp(-zeta x): as zeta grows rows of x < 0 fit for certain and the others have 1/2."""
    rng = np.random.default_rng(6006)
    x, z = rng.normal(size=60), rng.normal(size=60)
    y = (x + 0.5 * z + rng.logistic(size=60) > 0.3).astype(np.intp)
    sample = Sample(rows=Rows(X=np.column_stack([x, z]), scale=x[:, None]), y=y, n_levels=2)
    found = fit(sample)
    assert found.certificate.reached and found.beyond is not None and found.beyond > found.loglik
    np.testing.assert_allclose(found.coefficients, [0.522, 0.906, 0.574, 0.097], atol=6e-4)  # R's clm
    assert found.loglik == pytest.approx(-35.61737, abs=6e-6)
    parameters = Parameters(names=["0|1", "x", "z", "scale.x"], kinds=["threshold", "location", "location", "scale"])
    (category, message), *more = likelihood_alerts(found, parameters)
    assert fit(sample, penalty=1.0).certificate.reached
    assert category is ConvergenceWarning and "local maximum" in message and not more


def test_scale_effects_of_the_other_sign() -> None:
    """From no scale effects Newton's method ends at -227.480; R's clm ends at -222.274, a little below the maximum."""
    data = pd.read_csv(Path(__file__).parent / "local_maximum.csv")
    found = ordfit("y ~ I(x2**2)", data, "cauchit", scale="~ f2 + x2", threshold="symmetric", weights="wi")
    assert found.loglik > -222.274 and found.params["scale.x2"] == pytest.approx(0.59, abs=0.01)
    assert "2 local maxima" in found.fit.trace.message


def test_many_rows_are_followed_from_a_few() -> None:
    """The same data twenty times over have the same maximum."""
    data = pd.read_csv(Path(__file__).parent / "local_maximum.csv")
    tall = pd.concat([data] * 60, ignore_index=True)
    one, many = (ordfit("y ~ x2", each, "cauchit", scale="~ f2 + x2", weights="wi") for each in (data, tall))
    np.testing.assert_allclose(one.params, many.params, atol=1e-6)


def test_two_maxima_of_many_rows() -> None:
    """Those that some of the rows show are compared on all of them; R's clm ends at -222.274 on the rows once."""
    data = pd.read_csv(Path(__file__).parent / "local_maximum.csv")
    tall = pd.concat([data] * 60, ignore_index=True)
    model = {"formula": "y ~ I(x2**2)", "scale": "~ f2 + x2", "threshold": "symmetric", "weights": "wi"}
    one, many = (ordfit(data=each, link="cauchit", **model) for each in (data, tall))
    assert "2 local maxima" in many.fit.trace.message and many.loglik > 60.0 * -222.274
    np.testing.assert_allclose(one.params, many.params, atol=1e-6)


def test_a_scale_effect_that_runs_off_is_named() -> None:
    """Group b has the shares 1/2 whatever x: its score is best divided by nothing at all, as theta - H is not 0."""
    rng = np.random.default_rng(11)
    x, group = rng.normal(size=200), np.repeat(["a", "b"], 100)
    y = np.where(group == "a", x + rng.logistic(size=200) > 1.0, np.arange(200) % 2 == 0).astype(int)
    with pytest.warns(SeparationWarning, match=r"scale.group\[T.b\] to \+infinity"):
        found = ordfit("y ~ x", pd.DataFrame({"x": x, "group": group, "y": y}), scale="~ group")
    first = group == "a"
    alone = ordfit("y ~ x", pd.DataFrame({"x": x[first], "y": y[first]}))
    assert found.loglik == pytest.approx(alone.loglik + 100.0 * np.log(0.5), abs=1e-6)
    np.testing.assert_allclose(found.se.dropna(), alone.se, rtol=1e-4)


def test_a_scale_effect_that_runs_off_along_a_curved_valley() -> None:
    """x has no effect in group a, so the common effect vanishes while the scale of b shrinks with it: no maximum."""
    rng = np.random.default_rng(5)
    half, x = rng.normal(size=40), rng.normal(size=90)
    data = pd.DataFrame(
        {
            "group": ["a"] * 80 + ["b"] * 90,
            "x": np.concatenate([half, half, x]),
            "y": np.concatenate([np.zeros(40), np.ones(40), x + rng.logistic(size=90) > 0.5]).astype(int),
        }
    )
    with pytest.warns(SeparationWarning, match=r"scale.group\[T.b\] to -infinity"):
        found = ordfit("y ~ group + x", data, scale="~ group")
    apart = [ordfit("y ~ x", data[data["group"] == name]).loglik for name in "ab"]
    assert found.loglik == pytest.approx(sum(apart), abs=1e-7) and found.se.isna().all()


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
@pytest.mark.parametrize("coded", ["treatment", *(pytest.param(c, marks=pytest.mark.slow) for c in ("sum", "helmert"))])
def test_the_higher_of_two_limits_whatever_the_coding(coded: str) -> None:
    """Infinite nominal effects: rounding alone makes the information of either limit positive definite or not."""
    data = pd.read_csv(Path(__file__).parent / "two_limits.csv")
    options = {"scale": "~ f1*x1 + offset(kscale)", "weights": "wi", "contrasts": {"f1": "helmert", "f3": coded}}
    base = ordfit("y ~ o1 + f1*f3", data, nominal="~ x1 + f1", **options)
    alone = ordfit("y ~ o1 + f1*f3", data, nominal="~ x1 + f1 + f1:f3", **options)
    assert base.nominal_test("f1:f3").lrt["f1:f3"] == pytest.approx(2.0 * (alone.loglik - base.loglik), abs=1e-5)


@pytest.mark.filterwarnings("ignore:the fit did not reach:ordstat.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
def test_two_scale_effects_that_run_off_end_before_rounding_decides() -> None:
    """As the scales of two groups vanish, one faster, location effects come down to 1e-15: the likelihood is theirs."""
    data = pd.read_csv(Path(__file__).parent / "two_scales_run_off.csv")
    found = ordfit("y ~ I(x1^2) + f2 + f1*f3", data, scale="~ f2 + f1:f3")
    chances = found.predict(type="prob").to_numpy()
    own = chances[np.arange(len(data)), data["y"] - 1]
    assert found.loglik == pytest.approx(np.log(own).sum(), abs=1e-6)
    # The rest of the rows, by R's clm, and one logistic regression in each of the groups, by R's glm.
    assert -195.35 < found.loglik < -178.9374 - 10.31253 - 6.05767


def test_a_scale_column_beyond_measure_is_told_how_to_be_fitted() -> None:
    """At year 2000 exp(-zeta z) has no room left for thresholds that a double can hold."""
    rng = np.random.default_rng(8)
    x, year = rng.normal(size=150), 2000.0 + rng.integers(-3, 4, size=150)
    y = np.digitize(x + np.exp(0.2 * (year - 2000.0)) * rng.logistic(size=150), [-1.0, 1.0])
    data = pd.DataFrame({"x": x, "year": year, "y": y})
    with pytest.warns(ConvergenceWarning, match=r"centre it, as in scale='~ center\(year\)'"):
        far = ordfit("y ~ x", data, scale="~ year")
    centred = ordfit("y ~ x", data, scale="~ center(year)")
    assert centred.certificate.reached and centred.loglik > far.loglik


def test_an_infinite_threshold_that_the_search_for_a_start_has_reached() -> None:
    """No row of f2 = c has the highest level: its threshold is infinite, though Newton's method ends at once there."""
    spec = KINDS["any"](72, 46)
    counts = pd.crosstab(spec.frame["f2"], spec.frame["y"])
    assert counts.loc["c", 7] == 0 and (counts.drop(index="c") > 0).all(axis=None)
    with pytest.warns(SeparationWarning, match=r"6\|7.f2\[H.c\] to \+infinity"):
        fit = ordfit(spec.formula, spec.frame, nominal=spec.nominal, scale=spec.scale, contrasts={"f2": "helmert"})
    assert np.isnan(fit.se[["6|7", "6|7.f2[H.c]"]]).all() and fit.se.drop(["6|7", "6|7.f2[H.c]"]).max() < 1.0
