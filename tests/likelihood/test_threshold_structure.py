"""Threshold structures: their maps, their fits with every other part of the model,
starting values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from expected import refused
from scipy.optimize import minimize
from scipy.special import expit
from seams import LINKS, Cumulative, LikelihoodFit, Problem, Rows, Sample

from ordstat import CumulativeLink, datasets, ordfit
from ordstat.exceptions import DataError, OptionError
from ordstat.likelihood import threshold_structure

from .samples import PARTS, make

STRUCTURES = [name for name in threshold_structure.THRESHOLDS if name != "flexible"]


def fit(sample: Sample, **options: object) -> LikelihoodFit:
    return CumulativeLink(**options).fit(sample, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("name", "n", "names", "jacobian"),
    [  # as printed by makeThresholds of R's ordinal
        (
            "symmetric",
            4,
            "central.1 central.2 spacing.1",
            [[1, 0, -1], [1, 0, 0], [0, 1, 0], [0, 1, 1]],
        ),
        ("symmetric", 3, "central spacing.1", [[1, -1], [1, 0], [1, 1]]),
        ("symmetric", 2, "central.1 central.2", [[1, 0], [0, 1]]),
        (
            "symmetric2",
            5,
            "spacing.1 spacing.2",
            [[0, -1], [-1, 0], [0, 0], [1, 0], [0, 1]],
        ),
        ("symmetric2", 4, "spacing.1 spacing.2", [[0, -1], [-1, 0], [1, 0], [0, 1]]),
        ("symmetric2", 2, "spacing.1", [[-1], [1]]),
        ("equidistant", 3, "threshold.1 spacing", [[1, 0], [1, 1], [1, 2]]),
    ],
)
def test_maps_are_those_of_r(
    name: str, n: int, names: str, jacobian: list[list[int]]
) -> None:
    actual = threshold_structure.threshold_map(name, n)
    assert actual is not None and actual.names == tuple(names.split())
    np.testing.assert_array_equal(actual.jacobian, jacobian)


def log_likelihood(sample: Sample, actual: LikelihoodFit, values: np.ndarray) -> float:
    """From the rule with its thresholds made of the parameters, by hand."""
    m = actual.rule.alpha.shape[1]
    a = values[: actual.n_alpha].reshape(m, -1).T
    rest = values[actual.n_alpha :]
    beta = rest[: actual.n_beta]
    zeta = rest[actual.n_beta : actual.n_beta + actual.n_zeta]
    rule = replace(actual.rule, alpha=actual.jacobian @ a, beta=beta, zeta=zeta)
    p = rule.probabilities(sample.rows)[np.arange(sample.n), sample.y]
    return float(sample.case_weights @ np.log(p))


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("link", ["logit", "cauchit"])
@pytest.mark.parametrize("threshold", STRUCTURES)
def test_optimum_and_covariance_on_the_users_scale(
    threshold: str, link: str, parts: tuple[str, ...]
) -> None:
    """The gradient of the log-likelihood written down by hand vanishes; its Hessian is
    the inverse covariance.
    """
    sample = make(parts, n_levels=5, seed=3)
    # the centring has something to undo
    sample = replace(sample, rows=replace(sample.rows, X=sample.X + [0.3, -2.0]))
    result = fit(sample, link=link, threshold=threshold, tol=1e-9)
    assert result.certificate.reached and result.separation is None
    size = result.coefficients.size
    h = 1e-4 * np.eye(size)

    def at(move: np.ndarray) -> float:
        return log_likelihood(sample, result, result.coefficients + move)

    assert at(np.zeros(size)) == pytest.approx(result.loglik, rel=1e-12)
    gradient = [(at(s) - at(-s)) / 2e-4 for s in h]
    # rounding of a log-likelihood near 200 over 2e-4, h^2 f'''
    np.testing.assert_allclose(gradient, 0.0, atol=2e-5)
    hessian = np.array(
        [
            [(at(s + t) - at(s - t) - at(t - s) + at(-s - t)) / 4e-8 for t in h]
            for s in h
        ]
    )
    covariance = result.model_covariance.dense()
    np.testing.assert_allclose(-hessian @ covariance, np.eye(size), atol=2e-3)
    np.testing.assert_allclose(
        result.model_covariance.variances, np.diag(covariance), rtol=1e-9
    )
    theta = result.jacobian @ result.coefficients[: result.jacobian.shape[1]]
    np.testing.assert_allclose(theta, result.rule.alpha[:, 0], rtol=1e-12)
    assert np.all(np.diff(theta) > 0)


def test_a_structure_that_restricts_nothing() -> None:
    """Two thresholds, equally spaced or about a centre, are two free thresholds: same
    likelihood, mapped estimates.
    """
    sample = make(("nominal", "scale"), n_levels=3)
    free = fit(sample)
    for threshold in ("symmetric", "equidistant"):
        result = fit(sample, threshold=threshold)
        to_flexible = result.on_flexible_scale()
        assert result.loglik == pytest.approx(free.loglik, rel=1e-13)
        assert (result.null_edf, free.null_edf) == (2, 2)
        np.testing.assert_allclose(
            to_flexible @ result.coefficients, free.coefficients, rtol=1e-7
        )
        covariance = to_flexible @ result.model_covariance.dense() @ to_flexible.T
        np.testing.assert_allclose(
            covariance, free.model_covariance.dense(), rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("threshold", STRUCTURES)
def test_levels_without_rows_are_left_out_of_the_structure(threshold: str) -> None:
    sample = make(n_levels=4)
    gaps = replace(sample, y=np.array([1, 2, 4, 5])[sample.y], n_levels=7)
    one = fit(sample, threshold=threshold)
    other = fit(gaps, threshold=threshold)
    np.testing.assert_allclose(other.coefficients, one.coefficients)
    np.testing.assert_array_equal(
        np.isinf(other.rule.alpha[:, 0]), [True, False, False, False, False, True]
    )
    expected = np.zeros((sample.n, 7))
    expected[:, [1, 2, 4, 5]] = one.rule.probabilities(sample.rows)
    np.testing.assert_allclose(other.rule.probabilities(gaps.rows), expected)
    np.testing.assert_allclose(
        (other.jacobian @ other.coefficients[: other.n_alpha])[1:5][[0, 2, 3]],
        one.jacobian @ one.coefficients[: one.n_alpha],
    )


@pytest.mark.parametrize("threshold", STRUCTURES)
def test_null_model_has_the_structure_too(threshold: str) -> None:
    sample = make(n_levels=5)
    bare = replace(sample, rows=replace(sample.rows, X=np.zeros((sample.n, 0))))
    result = fit(sample, threshold=threshold)
    null = fit(bare, threshold=threshold)
    assert result.null_loglik == pytest.approx(null.loglik, rel=1e-13)
    assert result.null_edf == null.coefficients.size == result.n_alpha


@pytest.mark.parametrize("threshold", STRUCTURES)
def test_separation_within_a_structure(threshold: str) -> None:
    sample = make(n_levels=5)
    column = (sample.y == 4) & (np.arange(sample.n) % 3 == 0)
    tied = replace(
        sample, rows=replace(sample.rows, X=np.column_stack([sample.X, column]))
    )
    result = fit(tied, threshold=threshold)
    expected = np.append(np.zeros(result.coefficients.size - 1), 1.0)
    np.testing.assert_array_equal(np.sign(result.separation), expected)


@pytest.mark.parametrize("link", ["probit", "cloglog"])
def test_many_levels(link: str) -> None:
    """A thousand levels and two parameters: the structure costs next to nothing."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 1))
    latent = x[:, 0] + rng.normal(size=3000)
    y = np.clip(np.floor((latent + 5.0) * 100.0), 0, 999).astype(np.intp)
    _, y = np.unique(y, return_inverse=True)
    sample = Sample(rows=Rows(X=x), y=y, n_levels=int(y.max()) + 1)
    result = fit(sample, link=link, threshold="equidistant")
    assert result.certificate.reached and result.coefficients.size == 3


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("threshold", threshold_structure.THRESHOLDS)
def test_starting_at_the_optimum_there_is_nothing_to_do(
    threshold: str, parts: tuple[str, ...]
) -> None:
    sample = make(parts, n_levels=5)
    result = fit(sample, threshold=threshold)
    again = fit(sample, threshold=threshold, start=tuple(result.coefficients))
    assert again.trace.iterations <= 1
    np.testing.assert_allclose(again.coefficients, result.coefficients, rtol=1e-9)
    assert again.trace.objective[0] == pytest.approx(result.loglik, rel=1e-12)


def test_starting_values_are_checked() -> None:
    with refused("start", "2"):
        fit(make(), start=(0.0, 1.0))
    with refused("start"):
        fit(make(), start=(1.0, 0.0, 2.0, 0.0, 0.0))
    for wrong in ("abc", [np.nan], [[1.0]], 3.0):
        with refused("start"):
            CumulativeLink(start=wrong)


def test_structures_need_three_levels() -> None:
    with refused("threshold"):
        CumulativeLink(threshold="equal")
    with pytest.raises(DataError, match="at least 3 levels; this one has 2"):
        fit(make(n_levels=2), threshold="equidistant")


@pytest.mark.parametrize("threshold", ["symmetric2", "equidistant"])
def test_meat_of_the_sandwich(threshold: str) -> None:
    """Against score rows by central differences of the log-probabilities."""
    sample = make(PARTS["all"], n_levels=4)
    result = fit(sample, threshold=threshold)
    h = 1e-5 * np.eye(result.coefficients.size)

    def rows(values: np.ndarray) -> np.ndarray:
        parts = [sample.take(np.array([i])) for i in range(sample.n)]
        one = [replace(part, weights=None) for part in parts]
        return np.array([log_likelihood(part, result, values) for part in one])

    scores = np.array(
        [
            (rows(result.coefficients + s) - rows(result.coefficients - s)) / 2e-5
            for s in h
        ]
    ).T
    expected = (scores * sample.weights[:, None]).T @ scores
    np.testing.assert_allclose(
        result.likelihood.score_products(None), expected, rtol=1e-5, atol=1e-4
    )


def test_the_problem_maps_users_values_there_and_back() -> None:
    sample = make(PARTS["all"], n_levels=5)
    for threshold in threshold_structure.THRESHOLDS:
        problem = Problem.of(sample, Cumulative(LINKS["logit"]), None, threshold)
        values = np.random.default_rng(0).normal(size=problem.n_parameters)
        back = problem.user.coefficients(problem.from_user(values))
        np.testing.assert_allclose(back, values, rtol=1e-12)


WINE = datasets.load("wine")
POWERS = np.arange(1.0, 5.0)[:, None] ** np.arange(4)
PARTS_OF_WINE = {
    "plain": {},
    "scale": {"scale": "~ temp"},
    "nominal": {"nominal": "~ contact"},
    "acat": {"method": "acat"},
    "cratio": {"method": "cratio"},
}


@pytest.mark.parametrize("parts", PARTS_OF_WINE)
@pytest.mark.parametrize("name", STRUCTURES)
def test_the_matrix_of_a_structure_is_this_structure(name: str, parts: str) -> None:
    options = PARTS_OF_WINE[parts]
    named = ordfit("rating ~ temp", WINE, **options, threshold=name)
    structure = threshold_structure.threshold_map(name, 4)
    assert structure is not None
    given = ordfit("rating ~ temp", WINE, **options, threshold=structure.jacobian)
    assert given.loglik == pytest.approx(named.loglik, abs=1e-10)
    np.testing.assert_allclose(given.params, named.params, atol=1e-8)
    np.testing.assert_allclose(given.se, named.se, rtol=1e-7)
    assert given.params.index[0] == "gamma.1"


def test_as_many_columns_as_thresholds_are_flexible_ones() -> None:
    free = ordfit("rating ~ temp + contact", WINE)
    given = ordfit("rating ~ temp + contact", WINE, threshold=POWERS)
    np.testing.assert_allclose(given.thresholds, free.thresholds, rtol=1e-8)
    np.testing.assert_allclose(given.se[4:], free.se[4:], rtol=1e-7)


@pytest.mark.parametrize(
    "matrix",
    [POWERS[:, :3], np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 4.0], [1.0, 9.0]])],
    ids=["parabola", "known up to origin and unit"],
)
def test_estimates_maximise_the_likelihood_written_by_hand(matrix: np.ndarray) -> None:
    y = WINE["rating"].to_numpy() - 1
    warm = (WINE["temp"] == "warm").to_numpy(dtype=float)
    t = matrix.shape[1]

    def minus(x: np.ndarray) -> float:
        ends = np.concatenate([[-np.inf], matrix @ x[:t], [np.inf]])
        p = expit(ends[y + 1] - warm * x[t]) - expit(ends[y] - warm * x[t])
        return float(-np.log(p).sum()) if p.min() > 0.0 else np.inf

    fitted = ordfit("rating ~ temp", WINE, threshold=matrix)
    best = minimize(
        minus,
        fitted.params.to_numpy() + 0.05,
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000, "maxfev": 5000},
    )
    assert fitted.loglik == pytest.approx(-best.fun, abs=1e-9)
    np.testing.assert_allclose(fitted.params, best.x, atol=1e-4)


def test_a_start_that_is_out_of_order_is_put_in_order() -> None:
    """The nearest thresholds of this matrix to those of the shares fall."""
    matrix = np.array([[1.0, 0.0], [1.01, 5.0], [1.02, 0.0], [50.0, 1.0]])
    fitted = ordfit("rating ~ temp", WINE, threshold=matrix)
    assert fitted.converged and (np.diff(fitted.thresholds) > 0.0).all()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0], [3.0], [2.0], [4.0]], "no combination of the 1 columns"),
        (np.ones((4, 1)), "thresholds that increase"),
        (np.eye(3), "row for each of the 4 thresholds.*has 3 rows"),
        (np.ones((4, 2)), "independent columns"),
        (np.eye(4)[:2], "independent columns"),
        (np.full((4, 1), np.nan), "matrix of finite numbers"),
        ([1.0, 2.0, 3.0, 4.0], "matrix of finite numbers"),
        ("parabola", "got 'parabola'"),
    ],
)
def test_matrices_that_are_refused(matrix: object, message: str) -> None:
    with pytest.raises((DataError, OptionError), match=message):
        ordfit("rating ~ temp", WINE, threshold=matrix)


def test_thresholds_of_adjacent_categories_need_not_increase() -> None:
    matrix = np.array([[1.0], [3.0], [2.0], [4.0]])
    fitted = ordfit("rating ~ temp", WINE, "acat", threshold=matrix)
    np.testing.assert_allclose(
        fitted.thresholds / fitted.params["gamma.1"], [1, 3, 2, 4]
    )


def test_a_method_with_a_matrix_is_a_value() -> None:
    method = CumulativeLink(threshold=POWERS[:, :2])
    assert method == CumulativeLink(threshold=POWERS[:, :2].tolist())
    assert eval(repr(method)) == method and hash(method) is not None
    assert "matrix of 4 x 2" in str(ordfit("rating ~ temp", WINE, method).summary())
