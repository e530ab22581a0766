"""Properties of maximum likelihood fits for any data: invariances, special cases, brute
force.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from seams import (
    LINKS,
    CostMatrix,
    Cumulative,
    LikelihoodFit,
    LikelihoodRule,
    Rows,
    Sample,
)

from ordstat import CumulativeLink
from ordstat.exceptions import DataError, OptionError
from ordstat.likelihood.rule import crossed_rows

from .samples import PARTS, make

#: Two routes to one optimum, each with a Newton decrement below 1e-18.
SAME = 1e-8


def fit(sample: Sample, link: str = "logit", **options: object) -> LikelihoodFit:
    return CumulativeLink(link=link, **options).fit(sample, np.random.default_rng(0))


def assert_same(one: LikelihoodFit, other: LikelihoodFit) -> None:
    np.testing.assert_allclose(
        one.coefficients, other.coefficients, rtol=SAME, atol=SAME
    )
    np.testing.assert_allclose(
        one.model_covariance.dense(),
        other.model_covariance.dense(),
        rtol=SAME,
        atol=SAME,
    )
    assert one.loglik == pytest.approx(other.loglik, rel=1e-12)
    assert one.null_loglik == pytest.approx(other.null_loglik, rel=1e-12)


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("link", LINKS)
def test_optimum_and_covariance(link: str, parts: tuple[str, ...]) -> None:
    """The certificate is reached, and variances are the diagonal of the covariance."""
    result = fit(make(parts), link)
    assert result.certificate.reached and result.separation is None
    assert result.loglik > result.null_loglik
    covariance = result.model_covariance.dense()
    np.testing.assert_allclose(
        result.model_covariance.variances, np.diag(covariance), rtol=1e-10
    )
    assert np.linalg.eigvalsh(covariance)[0] > 0
    assert result.coefficients.size == result.n_alpha + result.n_beta + result.n_zeta


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_row_order_does_not_matter(parts: tuple[str, ...]) -> None:
    sample = make(parts)
    assert_same(
        fit(sample), fit(sample.take(np.random.default_rng(1).permutation(sample.n)))
    )


@pytest.mark.parametrize("parts", [("weights",), PARTS["all"]], ids=["plain", "all"])
def test_weights_are_repetitions(parts: tuple[str, ...]) -> None:
    sample = make(parts)
    repeated = sample.take(np.repeat(np.arange(sample.n), sample.weights.astype(int)))
    assert_same(fit(sample), fit(replace(repeated, weights=None)))


def test_rows_of_weight_zero_are_not_there() -> None:
    sample = make()
    weights = np.where(np.arange(sample.n) % 3 == 0, 0.0, 1.0)
    used = sample.take(weights > 0)
    one = fit(replace(sample, weights=weights))
    assert_same(one, fit(used))
    assert one.scores.shape == (sample.n,) and one.n_obs == used.n


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("link", LINKS)
def test_reversed_levels_mirror_the_fit(link: str, parts: tuple[str, ...]) -> None:
    sample = make(parts)
    offset = sample.rows.offset
    rows = replace(sample.rows, offset=None if offset is None else -offset)
    mirrored = replace(sample, rows=rows, y=sample.n_levels - 1 - sample.y)
    one = fit(sample, link)
    other = fit(mirrored, LINKS[link].mirror)
    K = sample.n_levels
    m = one.n_alpha // (sample.n_levels - 1)
    alpha = -other.coefficients[: other.n_alpha].reshape(m, K - 1)[:, ::-1].reshape(-1)
    beta = -other.coefficients[other.n_alpha : other.n_alpha + other.n_beta]
    zeta = other.coefficients[other.n_alpha + other.n_beta :]
    np.testing.assert_allclose(
        one.coefficients, np.concatenate([alpha, beta, zeta]), rtol=SAME, atol=SAME
    )
    assert one.loglik == pytest.approx(other.loglik, rel=1e-12)


@pytest.mark.parametrize(
    ("link", "binary"),
    [
        ("logit", "Logit"),
        ("probit", "Probit"),
        ("cloglog", "LogLog"),
        ("loglog", "CLogLog"),
        ("cauchit", "Cauchy"),
    ],
)
def test_two_levels_are_a_binary_regression(link: str, binary: str) -> None:
    """P(y = 1) = 1 - F(theta - x'beta): the mirrored link of a binomial GLM with
    intercept -theta.
    """
    sample = make(("offset",), n_levels=2)
    rows = sample.rows
    model = sm.GLM(
        sample.y,
        sm.add_constant(rows.X),
        offset=rows.offset,
        family=sm.families.Binomial(getattr(sm.families.links, binary)()),
    )
    glm = model.fit(method="newton", tol=1e-14, maxiter=200)
    result = fit(sample, link)
    sign = np.array([-1.0, 1.0, 1.0])
    np.testing.assert_allclose(result.coefficients, sign * glm.params, rtol=1e-6)
    assert result.loglik == pytest.approx(glm.llf, rel=1e-10)
    covariance = np.linalg.inv(-model.hessian(glm.params, observed=True))
    np.testing.assert_allclose(
        result.model_covariance.dense(), covariance * np.outer(sign, sign), rtol=1e-5
    )


@pytest.mark.parametrize("mean", [1e3, 1e6])
@pytest.mark.parametrize("parts", [(), ("nominal",)], ids=["plain", "nominal"])
def test_large_column_means_cost_no_digits(mean: float, parts: tuple[str, ...]) -> None:
    sample = make(parts, n=400)
    X = np.round(sample.X * 2.0**20) / 2.0**20  # so that adding the mean is exact
    near = replace(sample, rows=replace(sample.rows, X=X))
    far = replace(sample, rows=replace(sample.rows, X=X + mean))
    one = fit(near)
    other = fit(far)
    beta = slice(one.n_alpha, None)
    np.testing.assert_allclose(
        one.coefficients[beta], other.coefficients[beta], rtol=1e-9
    )
    np.testing.assert_allclose(
        one.model_covariance.variances[beta],
        other.model_covariance.variances[beta],
        rtol=1e-9,
    )
    assert one.loglik == pytest.approx(other.loglik, rel=1e-12)


@pytest.mark.parametrize("link", LINKS)
def test_one_level_a_row(link: str) -> None:
    """A continuous response: as many thresholds as rows, intervals of every width."""
    sample = make(n=300)
    order = np.argsort(
        sample.X @ [0.8, 0.8] + np.random.default_rng(5).logistic(size=sample.n)
    )
    y = np.empty(sample.n, dtype=np.intp)
    y[order] = np.arange(sample.n)
    result = fit(replace(sample, y=y, n_levels=sample.n), link)
    assert result.certificate.reached
    assert np.all(np.diff(result.coefficients[: result.n_alpha]) > 0)
    variances = result.model_covariance.variances
    np.testing.assert_allclose(
        variances, np.diag(result.model_covariance.dense()), rtol=1e-8
    )


def test_levels_without_rows_get_no_parameter() -> None:
    """Levels 0, 2 and 5 of 6 are empty: the others are fitted as if alone, and the
    empty ones have probability 0.
    """
    sample = make(n_levels=3)
    gaps = replace(sample, y=np.array([1, 3, 4])[sample.y], n_levels=6)
    one = fit(sample)
    other = fit(gaps)
    # thresholds 0|1 (-inf), 1|2, 2|3 (as 1|2), 3|4, 4|5 (+inf)
    np.testing.assert_array_equal(
        other.aliased, [True, False, True, False, True, False, False]
    )
    np.testing.assert_allclose(other.coefficients[~other.aliased], one.coefficients)
    assert np.all(np.isnan(other.coefficients[other.aliased]))
    assert other.loglik == one.loglik
    expected = np.zeros((sample.n, 6))
    expected[:, [1, 3, 4]] = one.rule.probabilities(sample.rows)
    np.testing.assert_allclose(other.rule.probabilities(gaps.rows), expected)
    np.testing.assert_array_equal(
        other.rule.codes(gaps.rows), np.array([1, 3, 4])[one.rule.codes(sample.rows)]
    )


@pytest.mark.parametrize(
    ("columns", "aliased"),
    [
        (
            (lambda X: X[:, 0], lambda X: X[:, 1], lambda X: X[:, 0] + 2 * X[:, 1]),
            [False, False, True],
        ),
        (
            (lambda X: 0 * X[:, 0] + 3.7, lambda X: X[:, 0], lambda X: 5 - X[:, 0]),
            [True, False, True],
        ),
        (
            (lambda X: X[:, 0], lambda X: X[:, 0] * (1 + 1e-9), lambda X: X[:, 1]),
            [False, True, False],
        ),
        (
            (
                lambda X: X[:, 0],
                lambda X: X[:, 0] + 1e-5 * X[:, 1],
                lambda X: 1e8 + X[:, 0] ** 2,
            ),
            [False, False, False],
        ),
        (
            (
                lambda X: 1e-9 * X[:, 0],
                lambda X: 1e9 * X[:, 1],
                lambda X: X[:, 0] * X[:, 1],
            ),
            [False, False, False],
        ),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_aliased_columns_are_the_later_ones(
    columns: tuple, aliased: list[bool], weighted: bool
) -> None:
    sample = make(("weights",))
    X = np.column_stack([column(sample.X) for column in columns])
    weights = sample.weights if weighted else None
    result = fit(replace(sample, rows=Rows(X=X), weights=weights))
    np.testing.assert_array_equal(result.aliased[result.n_alpha :], aliased)
    alone = fit(replace(sample, rows=Rows(X=X[:, ~np.array(aliased)]), weights=weights))
    np.testing.assert_allclose(result.coefficients[~result.aliased], alone.coefficients)
    np.testing.assert_allclose(
        result.rule.probabilities(Rows(X=X)),
        alone.rule.probabilities(Rows(X=X[:, ~np.array(aliased)])),
    )


def test_a_location_column_that_is_also_nominal_is_aliased() -> None:
    sample = make(("nominal",))
    X = np.column_stack([sample.X, sample.rows.nominal])
    result = fit(replace(sample, rows=replace(sample.rows, X=X)))
    assert_same_values = fit(sample)
    np.testing.assert_array_equal(np.flatnonzero(result.aliased), [result.n_alpha + 2])
    assert result.loglik == pytest.approx(assert_same_values.loglik, rel=1e-13)


def numeric_scores(sample: Sample, actual: LikelihoodFit, link: str) -> np.ndarray:
    """(N, P) derivatives of log p of each row by central differences of the rule's
    probabilities.
    """
    K = sample.n_levels
    m = actual.n_alpha // (sample.n_levels - 1)

    def log_p(values: np.ndarray) -> np.ndarray:
        alpha, beta, zeta = np.split(
            values, [actual.n_alpha, actual.n_alpha + actual.n_beta]
        )
        rule = LikelihoodRule(
            family=Cumulative(LINKS[link]),
            alpha=alpha.reshape(m, K - 1).T,
            beta=beta,
            zeta=zeta,
            cost=CostMatrix(),
        )
        return np.log(rule.probabilities(sample.rows)[np.arange(sample.n), sample.y])

    steps = 1e-5 * np.eye(actual.coefficients.size)
    rows = [
        (log_p(actual.coefficients + h) - log_p(actual.coefficients - h)) / 2e-5
        for h in steps
    ]
    return np.array(rows).T


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("link", ["logit", "cloglog"])
def test_meat_of_the_sandwich_against_differences(
    link: str, parts: tuple[str, ...]
) -> None:
    sample = make(parts)
    result = fit(sample, link)
    scores = numeric_scores(sample, result, link)
    v = sample.case_weights
    np.testing.assert_allclose(
        result.likelihood.score_products(None),
        (scores * v[:, None]).T @ scores,
        rtol=1e-5,
        atol=1e-5,
    )
    cluster = np.random.default_rng(2).integers(0, 20, size=sample.n)
    sums = np.zeros((20, scores.shape[1]))
    np.add.at(sums, cluster, scores * v[:, None])
    np.testing.assert_allclose(
        result.likelihood.score_products(cluster), sums.T @ sums, rtol=1e-5, atol=1e-4
    )


def test_meat_does_not_depend_on_how_rows_are_cut_into_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sample = make()
    result = fit(sample)
    cluster = np.arange(sample.n) // 40
    whole = result.likelihood.score_products(cluster)
    monkeypatch.setattr(
        "ordstat.likelihood.at_estimates._BUFFER", 7 * result.coefficients.size
    )
    np.testing.assert_allclose(
        result.likelihood.score_products(cluster), whole, rtol=1e-12
    )


@pytest.mark.parametrize(
    "parts", [("offset",), ("scale", "scale_offset"), ("offset", "weights")]
)
def test_null_model_keeps_the_offsets(parts: tuple[str, ...]) -> None:
    """The null log-likelihood is that of a fit without columns."""
    sample = make(parts)
    rows = replace(sample.rows, X=np.zeros((sample.n, 0)), scale=None)
    assert fit(sample).null_loglik == pytest.approx(
        fit(replace(sample, rows=rows)).loglik, rel=1e-13
    )


def test_geometry_of_the_scaled_columns() -> None:
    sample = make(("weights",))
    method = CumulativeLink()
    result = fit(sample)
    geometry = method.geometry(sample, result)
    assert geometry is not None
    mean = np.average(sample.X, axis=0, weights=sample.weights)
    scaled = (sample.X - mean) / np.sqrt(
        np.average((sample.X - mean) ** 2, axis=0, weights=sample.weights)
    )
    # H - theta_k is the same number on both scales, and H is linear with that norm
    v = np.linalg.lstsq(
        np.column_stack([scaled, np.ones(sample.n)]), result.scores, rcond=None
    )[0]
    assert geometry.norm == pytest.approx(np.linalg.norm(v[:-1]))
    np.testing.assert_allclose(
        (scaled @ v[:-1])[:, None] - geometry.theta,
        result.rule.gaps(sample.rows),
        atol=1e-12,
    )
    np.testing.assert_allclose(geometry.squared_lengths, (scaled**2).sum(axis=1))
    assert method.geometry(make(("nominal",)), fit(make(("nominal",)))) is None


@pytest.mark.parametrize(
    "cost",
    [
        "classification",
        "absolute",
        "squared",
        ((0, 1, 9, 9), (1, 0, 1, 1), (4, 2, 0, 1), (3, 2, 1, 0)),
    ],
)
def test_codes_minimise_expected_cost(cost: object) -> None:
    sample = make(PARTS["all"])
    result = fit(sample, cost=cost)
    p = result.rule.probabilities(sample.rows)
    distance = np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float)
    table = {
        "classification": distance > 0,
        "absolute": distance,
        "squared": distance**2,
    }.get(str(cost), np.array(cost, ndmin=2))
    by_hand = [
        min(range(4), key=lambda k: float(row @ np.asarray(table, dtype=float)[:, k]))
        for row in p
    ]
    np.testing.assert_array_equal(result.rule.codes(sample.rows), by_hand)
    # the median: the first rank with at least half of the probability
    if cost == "absolute":
        cumulative = result.rule.cum_probabilities(sample.rows)
        np.testing.assert_array_equal(by_hand, (cumulative < 0.5).sum(axis=1))


def test_ties_go_to_the_lower_rank() -> None:
    rule = LikelihoodRule(
        family=Cumulative(LINKS["logit"]),
        alpha=np.array([[-1.0], [1.0]]),
        beta=np.ones(1),
        zeta=np.zeros(0),
        cost=CostMatrix.parse([[0.0, 5.0, 1.0], [5.0, 0.0, 5.0], [1.0, 5.0, 0.0]]),
    )
    assert rule.codes(Rows(X=np.zeros((1, 1))))[0] == 0


@pytest.mark.parametrize("link", LINKS)
def test_probabilities_sum_to_one_and_cumulate(link: str) -> None:
    sample = make(("offset", "scale", "scale_offset"))
    rows = replace(sample.rows, X=sample.X * 20.0)  # far into both tails
    rule = fit(sample, link).rule
    p = rule.probabilities(rows)
    cumulative = rule.cum_probabilities(rows)
    assert np.all(p >= 0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=4e-16 * 4)
    np.testing.assert_allclose(np.cumsum(p, axis=1), cumulative, atol=4e-16 * 4)


def test_crossing_thresholds_are_counted_and_keep_the_formula() -> None:
    """Nominal effects can put a row's thresholds out of order: a probability is
    negative there, as in R.
    """
    sample = make(PARTS["all"])
    result = fit(sample)
    p, cumulative = (
        getattr(result.rule, name)(sample.rows)
        for name in ("probabilities", "cum_probabilities")
    )
    crossed = int(np.any(p < 0, axis=1).sum())
    assert crossed > 0 and crossed_rows(result.rule, sample.rows).size == crossed
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(np.cumsum(p, axis=1), cumulative, atol=1e-15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"link": "logistic"},
            (
                "link must be one of 'logit', 'probit', 'cloglog', 'loglog', 'cauchit',"
                " 'aranda-ordaz', "
            ),
        ),
        ({"cost": "hinge"}, "cost"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": 0.0}, "tol"),
    ],
)
def test_options_are_checked_when_the_method_is_made(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        CumulativeLink(**options)


def test_data_that_cannot_be_fitted() -> None:
    sample = make()
    with pytest.raises(OptionError, match="2 x 2 matrix for a response of 4 levels"):
        fit(sample, cost=((0, 1), (1, 0)))
    with pytest.raises(DataError, match="at least two levels"):
        fit(replace(sample, y=np.zeros(sample.n, dtype=np.intp)))
    for factor in (1e200, 1e-200):
        with pytest.raises(DataError, match="rescale"):
            fit(replace(sample, rows=Rows(X=sample.X * [1.0, factor])))


def test_the_iteration_limit_is_obeyed_and_told() -> None:
    result = fit(make(), max_iter=1)
    assert result.trace.iterations == 1 and not result.certificate.reached
    assert "1 iteration" in result.trace.message


@pytest.mark.parametrize("factor", [1e-14, 1e-6, 1e12])
@pytest.mark.parametrize("parts", [(), ("scale",)], ids=["plain", "scale"])
def test_the_size_of_the_weights_does_not_matter(
    factor: float, parts: tuple[str, ...]
) -> None:
    """Normalised or population weights: same estimates, covariance in proportion, same
    verdict.
    """
    sample = make(parts)
    one = fit(sample)
    other = fit(replace(sample, weights=np.full(sample.n, factor)))
    assert other.certificate.reached and other.separation is None
    np.testing.assert_allclose(one.coefficients, other.coefficients, rtol=SAME)
    np.testing.assert_allclose(
        one.model_covariance.dense(),
        other.model_covariance.dense() * factor,
        rtol=SAME,
        atol=SAME,
    )


def test_starting_values_without_a_likelihood_are_an_error() -> None:
    sample = make()
    with pytest.raises(DataError, match="Rescale them"):
        fit(replace(sample, weights=np.where(sample.y == 3, 1e-30, 1.0)))


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("rare", [False, True])
def test_starting_from_a_small_sample_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, link: str, rare: bool
) -> None:
    """With a level that the small sample misses, the ordinary start is used."""
    sample = make(("weights", "offset"), n=12_000)
    if rare:
        sample = replace(
            sample, y=np.where(np.arange(sample.n) == 1, 4, sample.y), n_levels=5
        )
    one = fit(sample, link)
    monkeypatch.setattr("ordstat.likelihood.problem._MANY", 10**9)
    other = fit(sample, link)
    assert_same(one, other)
    assert (one.trace.objective[0] > other.trace.objective[0]) == (not rare)


def _with_column(name: str, y: np.ndarray) -> np.ndarray:
    """(N,) a column that a small sample of the rows, or a shared information, may
    mistake.
    """
    row = np.arange(y.size)
    columns = {
        "seven rows": row < 7,
        "one row": row == 13,
        "one value in the small sample": row % 10 == 0,
        "separating": y >= 2,
        "large": 1e6 + np.sin(row),
        "heavy tails": np.tan(np.pi * (((row * 0.6180339887) % 1.0) - 0.5)),
    }
    return columns[name].astype(np.float64)


@pytest.mark.parametrize(
    "name",
    [
        "seven rows",
        "one row",
        "one value in the small sample",
        "separating",
        "large",
        "heavy tails",
    ],
)
def test_short_cuts_for_many_rows_change_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Plain Newton steps from no effects reach the same maximum, or find the same
    estimates infinite.
    """
    sample = make((), n=12_000)
    X = np.column_stack([sample.X, _with_column(name, sample.y)])
    sample = replace(sample, rows=Rows(X=X))
    one = fit(sample)
    monkeypatch.setattr("ordstat.likelihood.problem._MANY", 10**9)
    other = fit(sample)
    assert one.trace.message == other.trace.message
    if other.separation is None:
        assert one.separation is None
        assert_same(one, other)
    else:
        assert one.separation is not None
        np.testing.assert_array_equal(one.separation != 0, other.separation != 0)
        assert one.loglik == pytest.approx(other.loglik, rel=1e-9)
