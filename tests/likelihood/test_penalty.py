"""Ridge and Jeffreys' penalty against dense implementations of their definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from expected import refused
from light_options import in_turn
from seams import LINKS, LikelihoodFit, LikelihoodRule, Rows, Sample

from ordstat import CumulativeLink
from ordstat.exceptions import DataError, OptionError

from .samples import PARTS, make


def fit(sample: Sample, **options: object) -> LikelihoodFit:
    return CumulativeLink(**options).fit(sample, np.random.default_rng(0))


def rule_at(actual: LikelihoodFit, values: np.ndarray) -> LikelihoodRule:
    """The fitted rule with other parameters."""
    m = actual.rule.alpha.shape[1]
    alpha = values[: actual.n_alpha].reshape(m, -1).T
    if actual.jacobian is not None:
        alpha = actual.jacobian @ alpha
    beta, zeta = np.split(values[actual.n_alpha :], [actual.n_beta])
    return replace(actual.rule, alpha=alpha, beta=beta, zeta=zeta)


def log_likelihood(sample: Sample, rule: LikelihoodRule) -> float:
    p = rule.probabilities(sample.rows)[np.arange(sample.n), sample.y]
    return float(sample.case_weights @ np.log(p))


def slopes(curve, point: np.ndarray, h: float) -> np.ndarray:
    """Central differences of order four."""
    steps = h * np.eye(point.size)
    return np.array(
        [
            (
                8 * (curve(point + s) - curve(point - s))
                - curve(point + 2 * s)
                + curve(point - 2 * s)
            )
            / (12 * h)
            for s in steps
        ]
    )


def expected_information(
    sample: Sample, actual: LikelihoodFit, values: np.ndarray, h: float = 1e-3
) -> np.ndarray:
    """By definition: over rows and levels, P(k) times the outer product of the
    derivatives of log P(k).
    """

    def probabilities(point: np.ndarray) -> np.ndarray:
        return rule_at(actual, point).probabilities(sample.rows)

    p = probabilities(values)
    d = slopes(probabilities, values, h)
    return np.einsum(
        "n,ink,jnk,nk->ij", sample.case_weights, d, d, 1.0 / np.maximum(p, 1e-300)
    )


def deviations(sample: Sample) -> dict[str, np.ndarray]:
    w = sample.case_weights
    collected = {}
    for name in ("X", "nominal", "scale"):
        x = getattr(sample.rows, name)
        x = np.zeros((sample.n, 0)) if x is None else x
        collected[name] = np.sqrt(
            np.average((x - np.average(x, axis=0, weights=w)) ** 2, axis=0, weights=w)
        )
    return collected


def mean_log_scale(sample: Sample, values: np.ndarray) -> float:
    """Mean over the cases of z'zeta + scale offset, zeta the last of the values."""
    rows = sample.rows
    tau = np.zeros(sample.n)
    if rows.scale is not None:
        tau = tau + rows.scale @ values[values.size - rows.scale.shape[1] :]
    if rows.scale_offset is not None:
        tau = tau + rows.scale_offset
    return float(np.average(tau, weights=sample.case_weights))


@pytest.mark.parametrize("threshold", ["flexible", "equidistant"])
@pytest.mark.parametrize("link", ["logit", "cauchit"])
@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_ridge_is_the_optimum_of_its_definition(
    parts: tuple[str, ...], link: str, threshold: str
) -> None:
    sample = make(parts, n=120)
    weight = 3.0
    result = fit(sample, link=link, threshold=threshold, penalty=weight)
    d = deviations(sample)
    t = result.n_alpha // (1 + d["nominal"].size)
    size = np.concatenate([np.zeros(t), np.repeat(d["nominal"], t), d["X"], d["scale"]])

    def penalised(values: np.ndarray) -> float:
        """Location and nominal effects count at the mean log scale."""
        effects = size * values
        effects[: result.n_alpha + result.n_beta] *= np.exp(
            -mean_log_scale(sample, values)
        )
        return log_likelihood(sample, rule_at(result, values)) - 0.5 * weight * float(
            effects @ effects
        )

    assert result.certificate.reached
    np.testing.assert_allclose(
        slopes(penalised, result.coefficients, 1e-3), 0.0, atol=1e-6
    )
    hessian = slopes(lambda v: slopes(penalised, v, 1e-2), result.coefficients, 1e-2)
    np.testing.assert_allclose(
        -hessian @ result.model_covariance.dense(), np.eye(size.size), atol=1e-3
    )
    assert result.loglik == pytest.approx(
        log_likelihood(sample, result.rule), rel=1e-12
    )
    assert result.loglik < fit(sample, link=link, threshold=threshold).loglik


@pytest.mark.parametrize(
    ("link", "parts", "threshold"),
    in_turn(LINKS, [(), ("weights", "offset"), ("scale",)], ["flexible", "symmetric2"]),
    ids=str,
)
def test_jeffreys_is_the_optimum_of_its_definition(
    link: str, parts: tuple[str, ...], threshold: str
) -> None:
    sample = make(parts, n=60, n_levels=4)
    result = fit(sample, link=link, threshold=threshold, penalty="jeffreys")

    def penalised(values: np.ndarray) -> float:
        """The information is that about thresholds and effects at the mean log
        scale.
        """
        information = expected_information(sample, result, values)
        shrunk = (result.n_alpha + result.n_beta) * mean_log_scale(sample, values)
        log_det = 0.5 * float(np.linalg.slogdet(information)[1]) + shrunk
        return log_likelihood(sample, rule_at(result, values)) + log_det

    assert result.certificate.reached and result.separation is None
    np.testing.assert_allclose(
        slopes(penalised, result.coefficients, 1e-3), 0.0, atol=2e-5
    )
    information = expected_information(sample, result, result.coefficients)
    np.testing.assert_allclose(
        information @ result.model_covariance.dense(),
        np.eye(result.aliased.size),
        atol=1e-6,
    )


def firth(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Firth's logistic regression [Heinze and Schemper 2002]: scores y - p + h (1/2 -
    p), h the leverages.
    """
    b = np.zeros(X.shape[1])
    for _ in range(200):
        p = 1.0 / (1.0 + np.exp(-X @ b))
        w = weights * p * (1.0 - p)
        covariance = np.linalg.inv((X * w[:, None]).T @ X)
        h = w * np.einsum("ni,ij,nj->n", X, covariance, X)
        step = covariance @ (X.T @ (weights * (y - p) + h * (0.5 - p)))
        b = b + step * min(1.0, 2.0 / np.abs(step).max())
        if np.abs(step).max() < 1e-12:
            break
    return b, covariance


@pytest.mark.parametrize("separated", [False, True])
def test_two_levels_are_firths_logistic_regression(separated: bool) -> None:
    sample = make(("weights",), n=60, n_levels=2)
    if separated:
        sample = replace(sample, y=(sample.X[:, 0] > 0.2).astype(np.intp))
    b, covariance = firth(
        np.column_stack([np.ones(sample.n), sample.X]), sample.y, sample.weights
    )
    result = fit(sample, penalty="jeffreys")
    assert result.certificate.reached
    np.testing.assert_allclose(
        result.coefficients, np.concatenate([-b[:1], b[1:]]), rtol=1e-7
    )
    np.testing.assert_allclose(
        result.model_covariance.variances, np.diag(covariance), rtol=1e-6
    )


def test_a_proportion_is_shrunk_by_half_a_success() -> None:
    """Jeffreys' prior of a binomial proportion is Beta(1/2, 1/2): the estimate is (y +
    1/2) / (n + 1).
    """
    sample = Sample(
        rows=Rows(X=np.zeros((10, 0))), y=np.array([1] * 3 + [0] * 7), n_levels=2
    )
    result = fit(sample, penalty="jeffreys")
    assert result.rule.probabilities(sample.rows)[0, 1] == pytest.approx(
        3.5 / 11.0, rel=1e-9
    )


@pytest.mark.parametrize("penalty", ["jeffreys", 1.0])
@pytest.mark.parametrize(
    ("link", "n_levels"), in_turn(["logit", "probit", "cloglog", "cauchit"], [2, 4])
)
def test_estimates_are_finite_under_complete_separation(
    link: str, n_levels: int, penalty: object
) -> None:
    x = np.linspace(-3.0, 3.0, 60)
    y = np.digitize(x, np.linspace(-1.5, 1.5, n_levels - 1) if n_levels > 2 else [0.1])
    sample = Sample(rows=Rows(X=x[:, None]), y=y, n_levels=n_levels)
    assert fit(sample, link=link).separation is not None
    result = fit(sample, link=link, penalty=penalty)
    assert result.certificate.reached and result.separation is None
    assert np.all(np.isfinite(result.model_covariance.variances))
    assert 0.0 < result.coefficients[-1] < 60.0


def test_a_vanishing_ridge_is_no_ridge_and_a_huge_one_no_effects() -> None:
    sample = make(PARTS["all"])
    np.testing.assert_allclose(
        fit(sample, penalty=1e-9).coefficients, fit(sample).coefficients, rtol=1e-6
    )
    effects = fit(sample, penalty=1e9).coefficients[sample.n_levels - 1 :]
    np.testing.assert_allclose(effects, 0.0, atol=1e-5)


@pytest.mark.parametrize("penalty", ["jeffreys", 2.0])
def test_units_of_the_columns_do_not_matter(penalty: object) -> None:
    sample = make(n=100)
    units = np.array([1e3, 1e-2])
    other = replace(sample, rows=replace(sample.rows, X=sample.X * units + 5.0))
    one = fit(sample, penalty=penalty)
    two = fit(other, penalty=penalty)
    np.testing.assert_allclose(
        one.coefficients[one.n_alpha :],
        two.coefficients[one.n_alpha :] * units,
        rtol=1e-6,
    )


def test_a_flexible_link_takes_a_ridge() -> None:
    """Lambda is not penalised: its profile of the penalised likelihood has its top at
    the estimate.
    """
    sample = make(n=300)
    result = fit(sample, link="log-gamma", penalty=5.0)
    assert result.certificate.reached
    best = result.trace.objective[-1]
    for lam in (result.coefficients[-1] - 0.05, result.coefficients[-1] + 0.05):
        assert (
            fit(sample, link=("log-gamma", lam), penalty=5.0).trace.objective[-1] < best
        )
    with pytest.raises(
        OptionError, match=r"jeffreys.*needs a link without a parameter"
    ):
        CumulativeLink(link="log-gamma", penalty="jeffreys")


def test_jeffreys_has_no_maximum_with_nominal_effects() -> None:
    with pytest.raises(OptionError, match="no maximum with nominal effects"):
        fit(make(("nominal",)), penalty="jeffreys")


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.inf, np.nan, "firth", True, [1.0]])
def test_penalties_are_checked(wrong: object) -> None:
    with refused("penalty"):
        CumulativeLink(penalty=wrong)


@pytest.mark.parametrize(
    ("link", "penalty"),
    in_turn(["logit", "probit", "cloglog"], ["jeffreys", 2.0, 40.0]),
)
def test_the_origin_of_the_scale_variable_does_not_matter(
    link: str, penalty: object
) -> None:
    sample = make(("scale",) if penalty == "jeffreys" else ("scale", "nominal"), n=90)
    scale = sample.rows.scale
    one = fit(sample, link=link, penalty=penalty)
    expected = one.rule.probabilities(sample.rows)
    for moved in (scale + 3.0, 2.0 * scale - 4.0):
        other = replace(sample, rows=replace(sample.rows, scale=moved))
        two = fit(other, link=link, penalty=penalty)
        assert one.certificate.reached and two.certificate.reached
        np.testing.assert_allclose(
            two.rule.probabilities(other.rows), expected, atol=1e-7
        )


@pytest.mark.parametrize("penalty", ["jeffreys", 2.0])
def test_the_unit_of_a_scale_offset_does_not_matter(penalty: object) -> None:
    """A scale offset log(h) in another unit of h multiplies thresholds and effects
    alone.
    """
    sample = make(("scale", "scale_offset"), n=90)
    rows = sample.rows
    other = replace(
        sample, rows=replace(rows, scale_offset=rows.scale_offset + np.log(60.0))
    )
    one = fit(sample, penalty=penalty)
    two = fit(other, penalty=penalty)
    np.testing.assert_allclose(
        two.rule.probabilities(other.rows), one.rule.probabilities(rows), atol=1e-7
    )


@pytest.mark.parametrize("seed", [19, 23, 37])
def test_jeffreys_with_a_large_scale_effect_ends(seed: int) -> None:
    """Thresholds are 1e-3 apart where the scale variable is 0; without steps of that
    size no search ends.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=40)
    z = rng.normal(size=40)
    y = np.digitize(x + np.exp(0.5 * z) * rng.logistic(size=40), [-1.0, 0.0, 1.0])
    sample = Sample(rows=Rows(X=x[:, None], scale=z[:, None]), y=y, n_levels=4)
    result = fit(sample, penalty="jeffreys", max_iter=30)
    assert result.trace.iterations <= 30
    # the penalised likelihood rises along thresholds and effects that grow with the
    # scale
    if seed == 19:
        assert (
            not result.certificate.reached
            and "stopped after 30" in result.trace.message
        )
        return
    assert result.certificate.reached

    def penalised(values: np.ndarray) -> float:
        information = expected_information(sample, result, values, 1e-6)
        shrunk = (result.n_alpha + result.n_beta) * mean_log_scale(sample, values)
        log_det = 0.5 * float(np.linalg.slogdet(information)[1]) + shrunk
        return log_likelihood(sample, rule_at(result, values)) + log_det

    errors = np.sqrt(result.model_covariance.variances)
    np.testing.assert_allclose(
        slopes(penalised, result.coefficients, 1e-5) * errors, 0.0, atol=1e-3
    )


@pytest.mark.parametrize(
    ("link", "also"), [("logit", False), ("probit", False), ("logit", True)]
)
def test_jeffreys_with_scale_effects_of_two_levels(link: str, also: bool) -> None:
    """With shares of the levels and no effects the information is singular: at a
    threshold of 0 scale effects have none, and elsewhere the same as an effect of
    their column.
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    z = np.repeat([0.0, 1.0], 30)
    latent = x + 0.3 * z + (1.0 + z) * rng.logistic(size=60)
    y = (latent > np.quantile(latent, 0.6 if also else 0.5)).astype(np.intp)
    X = np.column_stack([x, z]) if also else x[:, None]
    sample = Sample(rows=Rows(X=X, scale=z[:, None]), y=y, n_levels=2)
    result = fit(sample, link=link, penalty="jeffreys")
    assert result.certificate.reached

    def penalised(values: np.ndarray) -> float:
        information = expected_information(sample, result, values)
        shrunk = (result.n_alpha + result.n_beta) * mean_log_scale(sample, values)
        log_det = 0.5 * float(np.linalg.slogdet(information)[1]) + shrunk
        return log_likelihood(sample, rule_at(result, values)) + log_det

    np.testing.assert_allclose(
        slopes(penalised, result.coefficients, 1e-3), 0.0, atol=2e-5
    )


def test_jeffreys_without_information_about_a_scale_effect_says_so() -> None:
    """Two cells of equal shares: the effect of x is 0, and no spread matters."""
    x = np.repeat([0.0, 1.0, 0.0, 1.0], 6)
    z = np.repeat([0.0, 0.0, 1.0, 1.0], 6)
    rows = Rows(X=x[:, None], scale=z[:, None])
    sample = Sample(rows=rows, y=np.tile([0, 1], 12), n_levels=2)
    with pytest.raises(DataError, match="information about every parameter") as told:
        fit(sample, penalty="jeffreys")
    assert "weights" not in str(told.value)


@pytest.mark.parametrize("seed", [103, 105])
def test_jeffreys_with_thresholds_that_meet_says_nothing_in_numpys_words(
    seed: int,
) -> None:
    """Where a level between two thresholds has a probability below 1e-154, its
    curvature overflows; the penalty has no use for it.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=40)
    z = rng.exponential(2.0, 40)
    y = np.digitize(x + np.exp(z) * rng.logistic(size=40), [-1.0, 0.0, 1.0])
    sample = Sample(rows=Rows(X=x[:, None], scale=z[:, None]), y=y, n_levels=4)
    with np.errstate(over="raise"):
        result = fit(sample, penalty="jeffreys", max_iter=8)
    assert np.isfinite(result.coefficients).all()


def gradient(sample: Sample, result: LikelihoodFit, penalty: float) -> np.ndarray:
    """Of the logit's penalised log-likelihood, by thresholds and effects, on scaled
    columns.
    """
    theta = result.rule.alpha[:, 0]
    beta = result.rule.beta
    deviation = sample.X.std(axis=0)
    scaled = (sample.X - sample.X.mean(axis=0)) / deviation
    cut = np.concatenate([[-np.inf], theta, [np.inf]])
    H = sample.X @ beta
    upper, lower = (1.0 / (1.0 + np.exp(H - cut[sample.y + k])) for k in (1, 0))
    by_shift = 1.0 - upper - lower  # d log(F(u) - F(l)), both ends moved
    p = upper - lower
    by_theta = [
        np.sum(np.where(sample.y == k, upper * (1.0 - upper) / p, 0.0))
        - np.sum(np.where(sample.y == k + 1, lower * (1.0 - lower) / p, 0.0))
        for k in range(theta.size)
    ]
    return np.concatenate([by_theta, -by_shift @ scaled - penalty * beta * deviation])


@pytest.mark.parametrize("penalty", [0.01, 1.0, 100.0, 1e8])
@pytest.mark.parametrize(("n", "p"), [(30, 50), (25, 24), (12, 300)])
def test_a_ridge_determines_more_columns_than_rows(
    n: int, p: int, penalty: float
) -> None:
    """The penalised likelihood of the logit is strictly concave: a vanishing gradient
    is its maximum.
    """
    sample = make(n=n, p=p, n_levels=3)
    result = fit(sample, penalty=penalty)
    assert result.certificate.reached and not result.aliased.any()
    assert np.isfinite(result.model_covariance.variances).all()
    np.testing.assert_allclose(gradient(sample, result, penalty), 0.0, atol=1e-8)
    if penalty == 1e8:
        np.testing.assert_allclose(result.rule.beta, 0.0, atol=1e-5)


def test_a_repeated_column_shares_its_effect() -> None:
    """b1 + b2 with b1^2 + b2^2 penalised: each is half of the effect under half the
    penalty.
    """
    sample = make(n=200, p=1)
    twice = replace(sample.rows, X=np.hstack([sample.X, sample.X]))
    both = fit(replace(sample, rows=twice), penalty=6.0)
    single = fit(sample, penalty=3.0)
    np.testing.assert_allclose(
        both.rule.beta, single.rule.beta[[0, 0]] / 2.0, rtol=1e-7
    )
    np.testing.assert_allclose(both.rule.alpha, single.rule.alpha, rtol=1e-7)


@pytest.mark.parametrize("part", ["nominal", "scale"])
def test_equal_columns_of_other_parts_have_equal_effects(part: str) -> None:
    sample = make((part,), n=200)
    column = getattr(sample.rows, part)
    twice = replace(sample.rows, **{part: np.hstack([column, column])})
    both = fit(replace(sample, rows=twice), penalty=6.0)
    effects = both.rule.alpha[:, 1:] if part == "nominal" else both.rule.zeta[None]
    assert not both.aliased.any() and np.abs(effects).min() > 1e-4
    np.testing.assert_allclose(effects[:, 0], effects[:, 1], atol=1e-8)


def test_a_constant_column_stays_aliased_under_a_ridge() -> None:
    """Its deviation is 0, and so is its penalty."""
    sample = make(n=60)
    rows = replace(sample.rows, X=np.column_stack([sample.X, np.full(60, 3.0)]))
    result = fit(replace(sample, rows=rows), penalty=2.0)
    assert result.aliased.tolist() == [False] * 5 + [True]
    np.testing.assert_allclose(
        result.coefficients[:5], fit(sample, penalty=2.0).coefficients, rtol=1e-9
    )


def test_jeffreys_leaves_aliased_columns_out() -> None:
    """Its information has no determinant with them."""
    sample = make(n=60)
    rows = replace(sample.rows, X=np.column_stack([sample.X, sample.X.sum(axis=1)]))
    result = fit(replace(sample, rows=rows), penalty="jeffreys")
    assert result.aliased.tolist() == [False] * 5 + [True]
    expected = fit(sample, penalty="jeffreys").coefficients
    np.testing.assert_allclose(result.coefficients[:5], expected, rtol=1e-7)
