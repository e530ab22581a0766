"""Likelihoods with several local maxima: the fit is never worse than one of a smaller
model or from another start.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from expected import infinite
from scipy.special import logsumexp
from seams import LikelihoodFit, Rows, Sample

from benchmarks.against_r.specs import KINDS
from ordstat import CumulativeLink, ordfit
from ordstat.exceptions import ConvergenceWarning

#: Case weights of these data have a mean above 2, as sampling weights do.
pytestmark = pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)


def sample_of(seed: int, n: int, width: int, K: int, noise: str) -> Sample:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width))
    latent = X.sum(axis=1) + (
        rng.standard_cauchy(n) if noise == "cauchy" else rng.logistic(size=n)
    )
    y = np.searchsorted(np.quantile(latent, np.arange(1, K) / K), latent)
    return Sample(rows=Rows(X=X), y=y, n_levels=K)


def with_scale(sample: Sample, shift: float = 0.0) -> Sample:
    return replace(sample, rows=replace(sample.rows, scale=sample.X[:, :1] + shift))


def fit(sample: Sample, **options: object) -> LikelihoodFit:
    return CumulativeLink(**options).fit(sample, np.random.default_rng(0))


@pytest.mark.parametrize("seed", [5, 74, 83, 105, 112])
def test_scale_effects_never_lower_the_likelihood(seed: int) -> None:
    """From no effects at all Newton's method ends in a local maximum below the model
    without scale effects.
    """
    sample = sample_of(seed, 60, 3, 2, "logistic")
    small = fit(sample, link="loglog")
    large = fit(with_scale(sample), link="loglog")
    poor = fit(with_scale(sample), link="loglog", start=(0.0,) * 5)
    assert large.certificate.reached and large.loglik >= small.loglik > poor.loglik


@pytest.mark.parametrize("threshold", ["flexible", "symmetric2", "equidistant"])
def test_a_scale_column_far_from_zero(threshold: str) -> None:
    """s (theta - H) of a column x + c is that of x with theta and H times exp(c
    zeta).
    """
    sample = sample_of(1, 200, 2, 4, "logistic")
    near, far = (
        fit(with_scale(sample, shift), threshold=threshold) for shift in (0.0, 60.0)
    )
    assert far.certificate.reached and far.loglik == pytest.approx(
        near.loglik, abs=1e-9
    )
    zeta = near.coefficients[-1]
    factor = np.exp(60.0 * zeta)
    np.testing.assert_allclose(
        far.coefficients, np.append(near.coefficients[:-1] * factor, zeta), rtol=1e-5
    )


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("rows", [[5], [5, 17, 101], [10], [5, 10]])
def test_many_rows_with_a_rare_event(link: str, rows: list[int]) -> None:
    """Its effect does not show in the small sample, every tenth row; a search from no
    effects needs no such sample.
    """
    sample = sample_of(2, 6000, 2, 3, "logistic")
    event = np.zeros(6000)
    event[rows] = 1.0
    y = sample.y.copy()
    y[rows] = 1  # not an end level, which would have no finite effect
    sample = replace(sample, y=y, rows=Rows(X=np.column_stack([sample.X, event])))
    result = fit(sample, link=link)
    plain = fit(sample, link=link, start=(-1.0, 1.0, 0.0, 0.0, 0.0))
    assert result.certificate.reached and plain.certificate.reached
    np.testing.assert_allclose(result.coefficients, plain.coefficients, atol=1e-8)
    np.testing.assert_allclose(
        result.model_covariance.variances, plain.model_covariance.variances, rtol=1e-6
    )


def test_a_local_maximum_beside_a_likelihood_that_rises_for_ever() -> None:
    """Two levels and s = exp(-zeta x): as zeta grows rows of x < 0 fit for certain and
    the others have 1/2.
    """
    rng = np.random.default_rng(6006)
    x = rng.normal(size=60)
    z = rng.normal(size=60)
    y = (x + 0.5 * z + rng.logistic(size=60) > 0.3).astype(np.intp)
    result = fit(
        Sample(rows=Rows(X=np.column_stack([x, z]), scale=x[:, None]), y=y, n_levels=2)
    )
    assert result.certificate.reached
    # R's clm
    np.testing.assert_allclose(
        result.coefficients, [0.522, 0.906, 0.574, 0.097], atol=6e-4
    )
    assert result.loglik == pytest.approx(-35.61737, abs=6e-6)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_the_maximum_of_a_cauchit_with_scale_effects_is_not_below_that_of_r() -> None:
    data = pd.read_csv(Path(__file__).parent / "diverging" / "plain_maximum.csv")
    contrasts = {"o1": "poly"}
    result = ordfit(
        "y ~ f1:x1 + x1 + f2 + x1*x2",
        data,
        "cauchit",
        scale="~ o1",
        weights="wi",
        contrasts=contrasts,
    )
    assert result.certificate.reached and result.loglik >= -139.475256


@pytest.mark.filterwarnings("ignore:weights= are counts:ordstat.exceptions.DataWarning")
def test_many_rows_are_followed_from_a_few() -> None:
    """The same data twenty times over have the same maximum."""
    data = pd.read_csv(Path(__file__).parent / "local_maximum.csv")
    tall = pd.concat([data] * 60, ignore_index=True)
    one, many = (
        ordfit("y ~ x2", each, "cauchit", scale="~ f2 + x2", weights="wi")
        for each in (data, tall)
    )
    np.testing.assert_allclose(one.params, many.params, atol=1e-6)


def test_an_infinite_threshold_that_the_search_for_a_start_has_reached() -> None:
    """No row of f2 = c has the highest level: its threshold is infinite, though
    Newton's method ends at once there.
    """
    spec = KINDS["any"](72, 46)
    counts = pd.crosstab(spec.frame["f2"], spec.frame["y"])
    assert counts.loc["c", 7] == 0 and (counts.drop(index="c") > 0).all(axis=None)
    with infinite("6|7.f2[H.c] to +infinity"):
        fit = ordfit(
            spec.formula,
            spec.frame,
            nominal=spec.nominal,
            scale=spec.scale,
            contrasts={"f2": "helmert"},
        )
    assert (
        np.isnan(fit.se[["6|7", "6|7.f2[H.c]"]]).all()
        and fit.se.drop(["6|7", "6|7.f2[H.c]"]).max() < 1.0
    )


@pytest.mark.parametrize(
    ("seed", "loglik", "estimates"),  # R's clm(..., threshold = "equidistant")
    [
        (0, -3393.3356497, [-1.8675659225, 1.7077621246, 0.9811247586, 0.0625874993]),
        (1, -3403.17175718, [-1.846322241, 1.694549359, 0.970661945, 0.104919400]),
        (2, -3431.93264077, [-1.8264324200, 1.6615379347, 0.9631920582, 0.0420910594]),
    ],
)
def test_scale_effects_with_structured_thresholds_in_many_rows(
    seed: int, loglik: float, estimates: list[float]
):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.normal(size=2500)})
    data["y"] = np.digitize(data["x"] + rng.logistic(size=2500), [-2, 0, 1.5, 3])
    both = ordfit("y ~ x", data, scale="~x", threshold="equidistant")
    assert both.certificate.reached and both.loglik == pytest.approx(loglik, abs=1e-7)
    np.testing.assert_allclose(both.params, estimates, rtol=1e-7)
    assert ordfit("y ~ x", data, threshold="equidistant").scale_test().loc[
        "x", "loglik"
    ] == pytest.approx(both.loglik)


@pytest.mark.filterwarnings("ignore:nominal effects put:ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("seed", [7, 0, 1])
def test_a_cauchit_with_a_numeric_nominal_effect_in_many_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 2500
    K = 8
    data = pd.DataFrame(
        {"x": rng.normal(size=n), "z": rng.lognormal(10, 0.6, size=n) / 1000}
    )
    latent = data["x"] + rng.standard_cauchy(size=n)
    data["y"] = np.searchsorted(np.quantile(latent, np.arange(1, K) / K), latent)
    result = ordfit("y ~ x", data, link="cauchit", nominal="~z")
    located = ordfit("y ~ x + z", data, link="cauchit")
    assert result.certificate.reached and result.loglik > located.loglik
    assert located.nominal_test("z").loc["z", "lrt"] == pytest.approx(
        2 * (result.loglik - located.loglik), abs=1e-5
    )
    if seed == 7:  # R's clm, which cuts the line at 1e5
        assert result.loglik == pytest.approx(-4841.572, abs=0.05)


@pytest.mark.filterwarnings("ignore:weights= are counts:ordstat.exceptions.DataWarning")
def test_scale_effects_of_the_other_sign() -> None:
    """From no scale effects Newton's method ends at -227.480; R's clm ends at -222.274,
    a little below the maximum.
    """
    data = pd.read_csv(Path(__file__).parent / "local_maximum.csv")
    result = ordfit(
        "y ~ I(x2**2)",
        data,
        link="cauchit",
        scale="~ f2 + x2",
        threshold="symmetric",
        weights="wi",
    )
    assert result.loglik > -222.274 and result.params["scale.x2"] == pytest.approx(
        0.59, abs=0.01
    )


@pytest.mark.parametrize(("seed", "n"), [(5, 30_000), (7, 30_000), (2, 20_000)])
def test_nominal_effects_of_a_level_with_a_few_of_many_rows(seed, n):
    rng = np.random.default_rng(seed)
    rare = np.arange(n) >= n - 14
    x = rng.normal(size=n)
    y = np.digitize(0.5 * x + 0.7 * rare + rng.logistic(size=n), [-1, 0.5, 2])
    frame = pd.DataFrame({"x": x, "g": np.where(rare, "b", "a"), "y": y})
    fit = ordfit("y ~ x", frame, "acat", nominal="~ g")
    assert fit.converged

    # log P(y = k) up to a constant is minus the sum of the thresholds below k, plus k
    # x'b: a concave likelihood, whose maximum is where its gradient is zero
    thresholds, shifts, slope = np.split(fit.params.to_numpy(), [3, 6])
    steps = slope * x[:, None] - thresholds - rare[:, None] * shifts
    levels = np.hstack([np.zeros((n, 1)), np.cumsum(steps, axis=1)])
    total = logsumexp(levels, axis=1)
    loglik = (levels[np.arange(n), y] - total).sum()
    assert fit.loglik == pytest.approx(loglik, rel=1e-12)
    above = np.arange(1, 4)
    excess = np.exp(levels[:, 1:] - total[:, None]) - (y[:, None] == above)
    by_threshold = excess[:, ::-1].cumsum(axis=1)[:, ::-1]
    for gradient in (
        by_threshold.sum(axis=0),
        by_threshold[rare].sum(axis=0),
        x @ by_threshold.sum(axis=1),
    ):
        np.testing.assert_allclose(gradient, 0.0, atol=1e-6)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
@pytest.mark.parametrize(
    ("kind", "seed", "number", "scale", "of_r", "best"),
    [
        ("any", 1001, 90, "~ f1", -122.113654723, -122.0823),
        ("cauchit-scale", 5, 87, "~ f2:x1", -72.2817100007, -72.2407),
        ("cauchit-scale", 7, 14, "~ f1", -123.975160998, -122.7884),
        ("cauchit-scale", 7, 96, "~ f1*x1", -226.463197475, -225.7609),
        ("any", 2001, 212, "~ f1*x1", -232.373312544, -232.3733),
    ],
)
def test_the_highest_of_several_maxima_with_scale_effects(
    kind, seed, number, scale, of_r, best
) -> None:
    """R's clm, its ends of the line at 1e12, stops at `of_r`; `best` is the best of 60
    random starts, or higher still.

    From equal scales alone all searches ended lower, the first and the last below R.
    """
    spec = KINDS[kind](seed, number)
    options = spec.options | {"scale": scale}
    fit = ordfit(spec.formula, spec.data, **options)
    assert fit.certificate.reached
    assert fit.loglik > of_r - 1e-8 and fit.loglik == pytest.approx(best, abs=1e-3)


def test_a_way_without_end_beside_a_maximum_is_told() -> None:
    """R's clm says nothing of it, though its fit without f3 is higher than the one with
    it.
    """
    spec = KINDS["any"](1002, 75)
    with pytest.warns(
        ConvergenceWarning,
        match="the log-likelihood is higher .* along a path without a maximum",
    ):
        fit = ordfit(spec.formula, spec.data, **spec.options)
    assert fit.loglik == pytest.approx(-19.2691848997, abs=1e-8)  # R's


@pytest.mark.parametrize(
    ("contrasts", "with_offset", "without"),  # R's clm(..., contrasts = list(f1 = ...))
    [
        ("sum", -379.536696104, -371.367505782),
        ("treatment", -378.549327843, -371.367505782),
    ],
)
def test_coding_changes_a_model_with_scale_effects_only_beside_an_offset(
    contrasts, with_offset, without
) -> None:
    """An offset has the spread at which the scale effects are 0, which is that of
    another level in another coding.
    """
    spec = KINDS["any"](1001, 87)
    options = {
        "link": "cloglog",
        "scale": "~ f2:x1 + f1",
        "contrasts": {"f1": contrasts},
    }
    assert ordfit(
        "y ~ f1*f3 + offset(known)", spec.data, **options
    ).loglik == pytest.approx(with_offset, abs=1e-8)
    assert ordfit("y ~ f1*f3", spec.data, **options).loglik == pytest.approx(
        without, abs=1e-8
    )


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_a_cauchit_with_nominal_effects_is_not_below_that_of_r() -> None:
    """From the logit and from no effects Newton's method ends at -426.1545; from the
    probit, as in R's clm, at -425.2981145.
    """
    spec = KINDS["any"](84121, 273)
    fit = ordfit(
        spec.formula,
        spec.frame,
        link="cauchit",
        threshold=spec.threshold,
        nominal="~ x2",
        weights=spec.weights,
        contrasts=spec.contrasts,
    )
    assert fit.loglik == pytest.approx(-425.2981145, abs=1e-6)
