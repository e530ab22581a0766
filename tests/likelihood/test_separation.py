"""Infinite estimates are found with their direction; data that overlap are never
flagged.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from expected import infinite
from scipy.optimize import linprog
from seams import LINKS, Cumulative, LikelihoodFit, Problem, Rows, Sample

from ordstat import AdjacentCategory, CumulativeLink, ordfit
from ordstat.exceptions import SeparationWarning

from .samples import make


def fit(sample: Sample, link: str = "logit") -> LikelihoodFit:
    return CumulativeLink(link=link).fit(sample, np.random.default_rng(0))


def brute_force(sample: Sample, direction: np.ndarray, n_alpha: int) -> bool:
    """Whether every row's interval only widens along the direction, and some row's
    truly does.
    """
    K = sample.n_levels
    rows = sample.rows
    w = np.ones((sample.n, 1))
    if rows.nominal is not None:
        w = np.hstack([w, rows.nominal])
    alpha = direction[:n_alpha].reshape(w.shape[1], K - 1).T
    moves = (
        w @ alpha.T - (rows.X @ direction[n_alpha : n_alpha + rows.X.shape[1]])[:, None]
    )
    up = [moves[i, y] if y < K - 1 else 0.0 for i, y in enumerate(sample.y)]
    down = [-moves[i, y - 1] if y > 0 else 0.0 for i, y in enumerate(sample.y)]
    slack = np.concatenate([up, down])
    return bool(slack.min() >= -1e-9 and slack.max() > 1e-6)


def with_column(sample: Sample, column: np.ndarray) -> Sample:
    return replace(
        sample, rows=replace(sample.rows, X=np.column_stack([sample.X, column]))
    )


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("n_levels", [2, 4])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_column_that_separates_the_top_level(
    link: str, n_levels: int, sign: float
) -> None:
    sample = make(n_levels=n_levels)
    column = (
        sign * ((sample.y == n_levels - 1) & (np.arange(sample.n) % 4 == 0)) * 50.0
        + 1000.0
    )
    tied = with_column(sample, column)
    result = fit(tied, link)
    direction = result.separation
    assert direction is not None
    np.testing.assert_array_equal(
        np.sign(direction[result.n_alpha :]), [0.0, 0.0, sign]
    )
    assert brute_force(tied, direction, result.n_alpha)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("n_levels", [2, 3])
def test_complete_separation(link: str, n_levels: int) -> None:
    x = np.linspace(-3.0, 3.0, 60)
    sample = Sample(
        rows=Rows(X=x[:, None] * 7.0 + 2.0),
        y=np.digitize(x, np.linspace(-1, 1, n_levels - 1)),
        n_levels=n_levels,
    )
    result = fit(sample, link)
    assert result.separation is not None and result.separation[-1] > 0
    assert brute_force(sample, result.separation, result.n_alpha)
    assert result.loglik == pytest.approx(0.0, abs=1e-5 if link != "cauchit" else 0.1)


def test_a_rare_level_of_a_factor_in_many_rows() -> None:
    """Three rows among 20 000, all in the top level: their deviation is 1/80, the
    estimate is infinite all the same.
    """
    sample = make(n=20_000)
    rare = np.zeros(sample.n)
    rare[np.flatnonzero(sample.y == 3)[:3]] = 1.0
    result = fit(with_column(sample, rare))
    assert result.separation is not None
    np.testing.assert_array_equal(
        np.sign(result.separation[result.n_alpha :]), [0.0, 0.0, 1.0]
    )


def test_nominal_effects_separate_by_threshold() -> None:
    """No row of the group is in the lowest level: its first threshold runs to minus
    infinity, the others stay.
    """
    sample = make()
    group = (np.arange(sample.n) % 3 == 0) & (sample.y > 0)
    tied = replace(
        sample, rows=replace(sample.rows, nominal=group.astype(float)[:, None])
    )
    result = fit(tied)
    assert result.separation is not None
    np.testing.assert_array_equal(np.sign(result.separation), [0, 0, 0, -1, 0, 0, 0, 0])
    assert brute_force(tied, result.separation, result.n_alpha)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("n_columns", [1, 2])
def test_finite_estimates_keep_their_standard_errors(link: str, n_columns: int) -> None:
    """Equal to the fit without the separated rows."""
    sample = make(n=200)
    top = sample.y == 3
    columns = [top & (np.arange(sample.n) % 4 == k) for k in range(n_columns)]
    tied = sample
    for column in columns:
        tied = with_column(tied, column.astype(float))
    result = fit(tied, link)
    left = fit(sample.take(np.flatnonzero(~np.any(columns, axis=0))), link)
    size = left.coefficients.size
    np.testing.assert_allclose(result.coefficients[:size], left.coefficients, rtol=1e-7)
    covariance = result.model_covariance.dense()
    np.testing.assert_allclose(
        covariance[:size, :size], left.model_covariance.dense(), rtol=1e-6, atol=1e-9
    )
    np.testing.assert_array_equal(
        np.isnan(result.model_covariance.variances), np.arange(size + n_columns) >= size
    )


def test_finite_estimates_beside_an_infinite_threshold_keep_their_standard_errors():
    """Against the inverse of the Hessian over the finite parameters, by differences of
    the log-likelihood.
    """
    sample = make()
    group = (np.arange(sample.n) % 3 == 0) & (sample.y > 0)
    tied = replace(
        sample, rows=replace(sample.rows, nominal=group.astype(float)[:, None])
    )
    result = fit(tied)
    finite = np.flatnonzero(result.separation == 0.0)

    def at(move: np.ndarray) -> float:
        values = result.coefficients.copy()
        values[finite] += move
        alpha = values[: result.n_alpha].reshape(2, 3).T
        beta = values[result.n_alpha :]
        rule = replace(result.rule, alpha=alpha, beta=beta)
        return float(
            np.log(rule.probabilities(tied.rows)[np.arange(tied.n), tied.y]).sum()
        )

    h = 1e-3 * np.eye(finite.size)
    hessian = np.array(
        [
            [(at(s + t) - at(s - t) - at(t - s) + at(-s - t)) / 4e-6 for t in h]
            for s in h
        ]
    )
    variances = result.model_covariance.variances
    np.testing.assert_allclose(
        variances[finite], np.diag(np.linalg.inv(-hessian)), rtol=1e-4
    )
    assert np.isnan(variances[result.separation != 0.0]).all()


def separates(X, y, n_levels):
    """Whether thresholds and effects can move so that no row comes nearer to an end, by
    a programme of SciPy.
    """
    upper = np.eye(n_levels)[y, :-1]
    lower = np.eye(n_levels)[y, 1:]
    ends = np.vstack(
        [np.hstack([upper, -X])[y < n_levels - 1], np.hstack([-lower, X])[y > 0]]
    )
    actual = linprog(
        -ends.sum(axis=0), A_ub=-ends, b_ub=np.zeros(len(ends)), bounds=(-1.0, 1.0)
    )
    assert actual.status == 0
    return bool((ends @ actual.x).max() > 1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_the_programme_is_never_needed_where_it_is_not_run(seed: int) -> None:
    """Small samples with a rare dummy, about half of them separated: the cheap trigger
    misses none, invents none.
    """
    rng = np.random.default_rng(seed)
    for _ in range(4):
        link = list(LINKS)[rng.integers(5)]
        sample = make(n=int(rng.integers(15, 80)), seed=int(rng.integers(1 << 30)))
        sample = with_column(sample, (rng.random(sample.n) < 0.1).astype(float))
        problem = Problem.of(sample, Cumulative(LINKS[link]))
        X = problem.rows.model_rows(slice(None)).x
        expected = separates(X, problem.sample.y, problem.sample.n_levels)
        result = fit(sample, link)
        assert (result.separation is not None) == expected
        if result.separation is not None and problem.present.all():
            assert brute_force(sample, result.separation, result.n_alpha)


@pytest.mark.filterwarnings(
    "ignore:Column g is a factor:ordstat.exceptions.DataWarning"
)
def test_a_warning_of_many_infinite_estimates_names_five_and_counts_the_rest():
    data = pd.DataFrame(
        {
            "g": np.repeat([f"g{i:03d}" for i in range(60)], 2),
            "y": np.repeat(np.arange(60) % 3, 2),
        }
    )
    with pytest.warns(
        SeparationWarning,
        match=r"\((g\[.*? to ([+-]infinity|any value), ){5}and \d+ more\)",
    ) as heard:
        ordfit("y ~ g", data)
    separated = [each for each in heard if each.category is SeparationWarning]
    assert len(separated) == 1 and len(str(separated[0].message)) < 700


def slacks(sample: Sample, family: str) -> np.ndarray:
    """(R, P) how fast log-odds that favour each row's level rise, on the user's scale:
    thresholds, then beta.

    Of a cumulative model those of its interval's ends; of the adjacent-category logit
    log P(y) - log P(k), a sum of the log odds between y and k.
    """
    K = sample.n_levels
    rows = []
    for x, y in zip(sample.X, sample.y, strict=True):
        # of the lower of two neighbours
        odds = np.hstack([np.eye(K - 1), np.tile(-x, (K - 1, 1))])
        if family == "cumulative":
            rows += ([odds[y]] if y < K - 1 else []) + ([-odds[y - 1]] if y > 0 else [])
        else:
            above = [odds[j:].sum(axis=0) for j in range(K)]
            rows += [above[y] - above[k] for k in range(K) if k != y]
    return np.unique(np.array(rows), axis=0)


def extreme_rays(S: np.ndarray) -> np.ndarray:
    """(n, P) all directions in which S d >= 0 and P - 1 independent rows of S are 0:
    they span the cone, if pointed.
    """
    rays = []
    for chosen in combinations(S, S.shape[1] - 1):
        _, sizes, vectors = np.linalg.svd(np.array(chosen))
        if sizes[-1] > 1e-9:
            rays += [
                ray for ray in (vectors[-1], -vectors[-1]) if (S @ ray).min() > -1e-9
            ]
    return np.array(rays).reshape(-1, S.shape[1])


@pytest.mark.parametrize(
    ("family", "method"),
    [("cumulative", CumulativeLink()), ("adjacent", AdjacentCategory())],
)
@pytest.mark.parametrize("seed", range(10))
def test_against_all_extreme_rays(
    family: str, method: CumulativeLink, seed: int
) -> None:
    """Estimates that are infinite on every way to the supremum are named with their
    sign; finite ones never are.
    """
    rng = np.random.default_rng(seed)
    seen = 0
    while seen < 4:
        n = int(rng.integers(6, 10))
        p = int(rng.integers(1, 4))
        K = int(rng.integers(2, 4))
        X = rng.integers(-2, 3, size=(n, p)).astype(float)
        y = rng.integers(0, K, size=n)
        if (
            np.linalg.matrix_rank(np.column_stack([np.ones(n), X])) <= p
            or np.unique(y).size < K
        ):
            continue
        sample = Sample(rows=Rows(X=X), y=y, n_levels=K)
        rays = extreme_rays(slacks(sample, family))
        rises = (rays > 1e-9).any(axis=0)
        falls = (rays < -1e-9).any(axis=0)
        result = method.fit(sample, np.random.default_rng(0))
        assert (result.separation is not None) == (len(rays) > 0)
        signs = (
            np.zeros(rises.size)
            if result.separation is None
            else np.sign(result.separation)
        )
        np.testing.assert_array_equal(
            signs[rises != falls], np.where(rises, 1.0, -1.0)[rises != falls]
        )
        np.testing.assert_array_equal(signs[~(rises | falls)], 0.0)
        seen += len(rays) > 0


def test_columns_of_any_unit() -> None:
    """The estimate of a column in units of 1e-9 is infinite as that of one in ones
    is.
    """
    rng = np.random.default_rng(0)
    top = np.arange(90) % 9 == 0
    lowest = np.arange(90) % 9 == 1
    y = np.where(top, 2, np.where(lowest, 0, rng.integers(0, 3, 90)))
    X = np.column_stack([top * 1e9, lowest.astype(float), rng.normal(size=90)])
    result = fit(Sample(rows=Rows(X=X), y=y, n_levels=3))
    assert result.separation is not None and np.sign(result.separation).tolist() == [
        0.0,
        0.0,
        1.0,
        -1.0,
        0.0,
    ]


def test_tables_and_profiles_name_infinite_estimates() -> None:
    data = pd.DataFrame(
        {"x": [1.0, 2, 3, 5, 6, 7, 8, 9], "y": [1, 1, 1, 2, 2, 2, 3, 3]}
    )
    with infinite("x to +infinity"):
        result = ordfit("y ~ x", data)
    assert result.se.isna().all() and result.params["x"] == np.inf
    for table in (result.tidy(), result.confint()):
        assert "The response is separated; infinite: " in str(table) and "x (+)" in str(
            table
        )
    assert result.confint(type="profile").loc["x", "upper"] == np.inf


def test_differences_of_infinite_estimates_have_no_value() -> None:
    """Sums of estimates that go the same way are infinite."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {
            "g": rng.choice(list("abc"), 150),
            "x": rng.normal(size=150),
            "y": rng.integers(1, 4, 150),
        }
    )
    data.loc[data["g"] != "a", "y"] = 3
    with infinite("g[T.b] to +infinity", "g[T.c] to +infinity"):
        result = ordfit("y ~ g + x", data)
    L = np.array(
        [[0.0, 0, 1, 1, 0], [0, 0, 1, -1, 0], [0, 0, 0, 0, 1], [0, 0, 0, -1, 1]]
    )
    np.testing.assert_array_equal(
        result.fit.limits_of(L), [np.inf, np.nan, 0.0, -np.inf]
    )
