"""Infinite estimates are found with their direction; data that overlap are never flagged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from ordstat import ordfit
from ordstat.exceptions import SeparationWarning
from ordstat.methods.clm import CumulativeLink
from ordstat.model.fit import LikelihoodFit
from ordstat.model.likelihood.cumulative import Cumulative
from ordstat.model.likelihood.links import LINKS
from ordstat.model.sample import Rows, Sample
from ordstat.solvers.likelihood.problem import Problem

from .samples import make


def fit(sample: Sample, link: str = "logit") -> LikelihoodFit:
    return CumulativeLink(link=link).fit(sample, np.random.default_rng(0))


def brute_force(sample: Sample, direction: np.ndarray, n_alpha: int) -> bool:
    """Whether every row's interval only widens along the direction, and some row's truly does."""
    K = sample.n_levels
    rows, w = sample.rows, np.ones((sample.n, 1))
    if rows.nominal is not None:
        w = np.hstack([w, rows.nominal])
    alpha = direction[:n_alpha].reshape(w.shape[1], K - 1).T
    moves = w @ alpha.T - (rows.X @ direction[n_alpha : n_alpha + rows.X.shape[1]])[:, None]
    up = [moves[i, y] if y < K - 1 else 0.0 for i, y in enumerate(sample.y)]
    down = [-moves[i, y - 1] if y > 0 else 0.0 for i, y in enumerate(sample.y)]
    slack = np.concatenate([up, down])
    return bool(slack.min() >= -1e-9 and slack.max() > 1e-6)


def with_column(sample: Sample, column: np.ndarray) -> Sample:
    return replace(sample, rows=replace(sample.rows, X=np.column_stack([sample.X, column])))


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("n_levels", [2, 4])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_column_that_separates_the_top_level(link: str, n_levels: int, sign: float) -> None:
    sample = make(n_levels=n_levels)
    column = sign * ((sample.y == n_levels - 1) & (np.arange(sample.n) % 4 == 0)) * 50.0 + 1000.0
    tied = with_column(sample, column)
    found = fit(tied, link)
    direction = found.separation
    assert direction is not None
    np.testing.assert_array_equal(np.sign(direction[found.n_alpha :]), [0.0, 0.0, sign])
    assert brute_force(tied, direction, found.n_alpha)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("n_levels", [2, 3])
def test_complete_separation(link: str, n_levels: int) -> None:
    x = np.linspace(-3.0, 3.0, 60)
    sample = Sample(
        rows=Rows(X=x[:, None] * 7.0 + 2.0), y=np.digitize(x, np.linspace(-1, 1, n_levels - 1)), n_levels=n_levels
    )
    found = fit(sample, link)
    assert found.separation is not None and found.separation[-1] > 0
    assert brute_force(sample, found.separation, found.n_alpha)
    assert found.loglik == pytest.approx(0.0, abs=1e-5 if link != "cauchit" else 0.1)


def test_a_rare_level_of_a_factor_in_many_rows() -> None:
    """Three rows among 20 000, all in the top level: their deviation is 1/80, the estimate is infinite all the same."""
    sample = make(n=20_000)
    rare = np.zeros(sample.n)
    rare[np.flatnonzero(sample.y == 3)[:3]] = 1.0
    found = fit(with_column(sample, rare))
    assert found.separation is not None
    np.testing.assert_array_equal(np.sign(found.separation[found.n_alpha :]), [0.0, 0.0, 1.0])


def test_nominal_effects_separate_by_threshold() -> None:
    """No row of the group is in the lowest level: its first threshold runs to minus infinity, the others stay."""
    sample = make()
    group = (np.arange(sample.n) % 3 == 0) & (sample.y > 0)
    tied = replace(sample, rows=replace(sample.rows, nominal=group.astype(float)[:, None]))
    found = fit(tied)
    assert found.separation is not None
    np.testing.assert_array_equal(np.sign(found.separation), [0, 0, 0, -1, 0, 0, 0, 0])
    assert brute_force(tied, found.separation, found.n_alpha)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("n_columns", [1, 2])
def test_finite_estimates_keep_their_standard_errors(link: str, n_columns: int) -> None:
    """Those of the fit without the separated rows, of which nothing is left to say."""
    sample = make(n=200)
    top = sample.y == 3
    columns = [top & (np.arange(sample.n) % 4 == k) for k in range(n_columns)]
    tied = sample
    for column in columns:
        tied = with_column(tied, column.astype(float))
    found, left = fit(tied, link), fit(sample.take(np.flatnonzero(~np.any(columns, axis=0))), link)
    size = left.coefficients.size
    np.testing.assert_allclose(found.coefficients[:size], left.coefficients, rtol=1e-7)
    covariance = found.information.covariance()
    np.testing.assert_allclose(covariance[:size, :size], left.information.covariance(), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(np.isnan(found.information.variances()), np.arange(size + n_columns) >= size)


def test_finite_estimates_beside_an_infinite_threshold_keep_their_standard_errors() -> None:
    """Against the inverse of the Hessian over the finite parameters, by differences of the log-likelihood."""
    sample = make()
    group = (np.arange(sample.n) % 3 == 0) & (sample.y > 0)
    tied = replace(sample, rows=replace(sample.rows, nominal=group.astype(float)[:, None]))
    found = fit(tied)
    finite = np.flatnonzero(found.separation == 0.0)

    def at(move: np.ndarray) -> float:
        values = found.coefficients.copy()
        values[finite] += move
        alpha, beta = values[: found.n_alpha].reshape(2, 3).T, values[found.n_alpha :]
        rule = replace(found.rule, alpha=alpha, beta=beta)
        return float(np.log(rule.probabilities(tied.rows)[np.arange(tied.n), tied.y]).sum())

    h = 1e-3 * np.eye(finite.size)
    hessian = np.array([[(at(s + t) - at(s - t) - at(t - s) + at(-s - t)) / 4e-6 for t in h] for s in h])
    variances = found.information.variances()
    np.testing.assert_allclose(variances[finite], np.diag(np.linalg.inv(-hessian)), rtol=1e-4)
    assert np.isnan(variances[found.separation != 0.0]).all()


def test_log_scale_that_runs_away() -> None:
    """In one group only the extreme levels occur, evenly: its scale grows for ever and the likelihood with it."""
    rng = np.random.default_rng(3)
    group = np.arange(120) < 20
    y = np.where(group, 2 * (np.arange(120) % 2), rng.integers(0, 3, size=120))
    sample = Sample(rows=Rows(X=np.zeros((120, 0)), scale=group.astype(float)[:, None]), y=y, n_levels=3)
    found = fit(sample)
    assert found.separation is not None
    np.testing.assert_array_equal(found.separation, [0.0, 0.0, 1.0])


def separates(X, y, n_levels):
    """Whether thresholds and effects can move so that no row comes nearer to an end, by a programme of SciPy."""
    upper, lower = np.eye(n_levels)[y, :-1], np.eye(n_levels)[y, 1:]
    ends = np.vstack([np.hstack([upper, -X])[y < n_levels - 1], np.hstack([-lower, X])[y > 0]])
    found = linprog(-ends.sum(axis=0), A_ub=-ends, b_ub=np.zeros(len(ends)), bounds=(-1.0, 1.0))
    assert found.status == 0
    return bool((ends @ found.x).max() > 1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_the_programme_is_never_needed_where_it_is_not_run(seed: int) -> None:
    """Small samples with a rare dummy, about half of them separated: the cheap trigger misses none, invents none."""
    rng = np.random.default_rng(seed)
    for _ in range(4):
        link = list(LINKS)[rng.integers(5)]
        sample = make(n=int(rng.integers(15, 80)), seed=int(rng.integers(1 << 30)))
        sample = with_column(sample, (rng.random(sample.n) < 0.1).astype(float))
        problem = Problem.of(sample, Cumulative(LINKS[link]))
        X, _, _ = problem.scaled()
        expected = separates(X, problem.sample.y, problem.sample.n_levels)
        found = fit(sample, link)
        assert (found.separation is not None) == expected
        if found.separation is not None and problem.present.all():
            assert brute_force(sample, found.separation, found.n_alpha)


@pytest.mark.filterwarnings("ignore:Column g is a factor:ordstat.exceptions.DataWarning")
def test_a_warning_of_many_infinite_estimates_names_five_and_counts_the_rest():
    """Level 1 of the response, that of the reference group, is the lowest: groups in it may lie anywhere below."""
    levels = [f"g{i:03d}" for i in range(200)]
    y = np.arange(200) % 3 + 1
    data = pd.DataFrame({"g": np.repeat(levels, 2), "y": np.repeat(y, 2)})
    assert (y[1:] > 1).sum() == 133 and (y[1:] == 1).sum() == 66
    infinite = r"\(g\[T.g001\] to \+infinity, (g\[.*?\+infinity, ){4}and 128 more\)"
    left = r"The data do not determine g\[T.g003\], (g\[T.g\d+\], ){4}and 61 more:"
    with pytest.warns(SeparationWarning, match=f"{infinite}. {left}") as found:
        ordfit("y ~ g", data)
    separated = [one for one in found if one.category is SeparationWarning]
    assert len(separated) == 1 and len(str(separated[0].message)) < 700
