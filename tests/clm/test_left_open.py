"""Estimates that separation makes infinite, and those that it leaves open: against all extreme rays of the cone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice

import numpy as np
import pandas as pd
import pytest

from ordstat import ordfit, table
from ordstat.exceptions import SeparationWarning
from ordstat.methods.clm import AdjacentCategory, CumulativeLink
from ordstat.model.fit import LikelihoodFit
from ordstat.model.sample import Rows, Sample


def slacks(sample: Sample) -> np.ndarray:
    """(R, P) how fast the ends of each row's interval move outwards, on the user's scale: thresholds, then beta."""
    K = sample.n_levels
    rows = []
    for x, y in zip(sample.X, sample.y, strict=True):
        upper = np.concatenate([np.eye(K - 1)[y], -x]) if y < K - 1 else None
        lower = np.concatenate([-np.eye(K - 1)[y - 1], x]) if y > 0 else None
        rows += [row for row in (upper, lower) if row is not None]
    return np.unique(np.array(rows), axis=0)


def extreme_rays(S: np.ndarray) -> np.ndarray:
    """(n, P) all directions in which S d >= 0 and P - 1 independent rows of S are 0: they span the cone, if pointed."""
    rays = []
    for chosen in combinations(S, S.shape[1] - 1):
        _, sizes, vectors = np.linalg.svd(np.array(chosen))
        if sizes[-1] > 1e-9:
            rays += [ray for ray in (vectors[-1], -vectors[-1]) if (S @ ray).min() > -1e-9]
    return np.array(rays).reshape(-1, S.shape[1])


def ends(rays: np.ndarray) -> list[float]:
    """Of each parameter: 0 finite, infinite with its sign, NaN where rays disagree."""
    rises, falls = (rays > 1e-9).any(axis=0), (rays < -1e-9).any(axis=0)
    return np.where(rises & falls, np.nan, np.where(rises, np.inf, np.where(falls, -np.inf, 0.0))).tolist()


def found(fit: LikelihoodFit) -> list[float]:
    return np.where(fit.infinite, fit.limits, 0.0).tolist()


def clm(sample: Sample, link: str = "logit") -> LikelihoodFit:
    return CumulativeLink(link=link).fit(sample, np.random.default_rng(0))


def small_tables(seed: int) -> Iterator[tuple[Sample, np.ndarray]]:
    """Tables of whole numbers, most of them separated, and their extreme rays; aliased columns are for another test."""
    rng = np.random.default_rng(seed)
    while True:
        n, p, K = int(rng.integers(6, 10)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
        X, y = rng.integers(-2, 3, size=(n, p)).astype(float), rng.integers(0, K, size=n)
        if np.linalg.matrix_rank(np.column_stack([np.ones(n), X])) > p and np.unique(y).size == K:
            sample = Sample(rows=Rows(X=X), y=y, n_levels=K)
            yield sample, extreme_rays(slacks(sample))


@pytest.mark.parametrize("seed", range(10))
def test_against_all_extreme_rays(seed: int) -> None:
    seen = 0
    for sample, rays in small_tables(seed):
        assert found(clm(sample)) == pytest.approx(ends(rays), nan_ok=True)
        seen += len(rays) > 0
        if seen == 4:
            break


@pytest.mark.parametrize("seed", range(6))
def test_combinations_against_all_extreme_rays(seed: int) -> None:
    """Sums and differences of infinite estimates, some of which are finite, some of which may end anywhere."""
    rng = np.random.default_rng(100 + seed)
    separated = ((sample, rays) for sample, rays in small_tables(seed) if len(rays))
    for sample, rays in islice(separated, 3):
        L = rng.integers(-2, 3, size=(12, rays.shape[1])).astype(float)
        assert clm(sample).ends(L).tolist() == pytest.approx(ends(rays @ L.T), nan_ok=True)


def slacks_of_ratios(sample: Sample) -> np.ndarray:
    """(R, P) of the adjacent-category logit: log P(y) - log P(k) moves by a sum of the log odds between y and k."""
    K, rows = sample.n_levels, []
    for x, y in zip(sample.X, sample.y, strict=True):
        odds = np.hstack([np.eye(K - 1), np.tile(-x, (K - 1, 1))])  # of the lower of two neighbours
        above = [odds[j:].sum(axis=0) for j in range(K)]
        rows += [above[y] - above[k] for k in range(K) if k != y]
    return np.unique(np.array(rows), axis=0)


@pytest.mark.parametrize("seed", range(4))
def test_adjacent_categories_against_all_extreme_rays(seed: int) -> None:
    rng, seen = np.random.default_rng(100 + seed), 0
    while seen < 3:
        n, p = int(rng.integers(6, 9)), int(rng.integers(1, 3))
        X, y = rng.integers(-2, 3, size=(n, p)).astype(float), rng.integers(0, 3, size=n)
        if np.linalg.matrix_rank(np.column_stack([np.ones(n), X])) <= p or np.unique(y).size < 3:
            continue
        sample = Sample(rows=Rows(X=X), y=y, n_levels=3)
        rays = extreme_rays(slacks_of_ratios(sample))
        fit = AdjacentCategory().fit(sample, np.random.default_rng(0))
        assert found(fit) == pytest.approx(ends(rays), nan_ok=True)
        seen += len(rays) > 0


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "cauchit"])
@pytest.mark.parametrize(("moved", "threshold"), [(0.0, math.nan), (5.0, math.inf), (-5.0, -math.inf)])
def test_a_threshold_between_two_groups_is_open_where_0_lies_between_them(link, moved, threshold) -> None:
    """x < theta / beta < x: of a gap around 0 the threshold may have any sign, of one beside it that of the gap."""
    x = np.array([-3.0, -2, -1, 1, 2, 3]) + moved
    fit = clm(Sample(rows=Rows(X=x[:, None]), y=(x > moved).astype(int), n_levels=2), link)
    assert found(fit) == pytest.approx([threshold, math.inf], nan_ok=True)


def test_the_sign_of_a_nuisance_column_is_open() -> None:
    """x tells the levels apart with room to spare; z may help or hinder it."""
    x, z = np.array([-3.0, -2, -1, 1, 2, 3]), np.array([1.0, -1, 1, -1, 1, -1])
    fit = clm(Sample(rows=Rows(X=np.column_stack([x, z])), y=(x > 0).astype(int), n_levels=2))
    assert found(fit) == pytest.approx([math.nan, math.inf, math.nan], nan_ok=True)
    assert np.isnan(fit.information.variances()).all()


def test_a_combination_that_is_finite_keeps_the_errors_of_the_others() -> None:
    """x1 + x2 tells the levels apart but at 0, where x1 - x2 has a finite effect, and rows alone tell of x3."""
    rng = np.random.default_rng(1)
    side, a, x3 = rng.choice([0, 0, 0, 1, -1], 120), rng.normal(size=120), rng.normal(size=120)
    y = np.where(side != 0, side > 0, a + x3 + rng.logistic(size=120) > 0).astype(int)
    sample = Sample(rows=Rows(X=np.column_stack([side + a, side - a, x3])), y=y, n_levels=2)
    fit, left = clm(sample), clm(Sample(rows=Rows(X=np.column_stack([a, x3])[side == 0]), y=y[side == 0], n_levels=2))
    assert found(fit) == [0.0, math.inf, math.inf, 0.0]
    np.testing.assert_allclose(fit.coefficients[[0, 3]], left.coefficients[[0, 2]], rtol=1e-6)
    np.testing.assert_allclose(fit.information.variances()[[0, 3]], left.information.variances()[[0, 2]], rtol=1e-5)


def test_columns_of_any_unit_are_told() -> None:
    """The estimate of a column in units of 1e-9 is infinite as that of one in ones is."""
    rng = np.random.default_rng(0)
    top, lowest = np.arange(90) % 9 == 0, np.arange(90) % 9 == 1
    y = np.where(top, 2, np.where(lowest, 0, rng.integers(0, 3, 90)))
    X = np.column_stack([top * 1e9, lowest.astype(float), rng.normal(size=90)])
    assert found(clm(Sample(rows=Rows(X=X), y=y, n_levels=3))) == [0.0, 0.0, math.inf, -math.inf, 0.0]


def test_a_group_in_the_lowest_level_alone_tells_nothing_of_higher_thresholds() -> None:
    """Under nominal effects: its first threshold goes to infinity, and no row asks anything of those above it."""
    rng = np.random.default_rng(2)
    group = np.arange(120) % 3 == 0
    y = np.where(group, 0, rng.integers(0, 4, 120))
    rows = Rows(X=rng.normal(size=(120, 1)), nominal=group.astype(float)[:, None])
    fit = clm(Sample(rows=rows, y=y, n_levels=4))
    assert found(fit) == pytest.approx([0, 0, 0, math.inf, math.nan, math.nan, 0], nan_ok=True)


def separated(**columns: object) -> pd.DataFrame:
    return pd.DataFrame(
        {"x": [-3.0, -2, -1, 1, 2, 3], "z": [1.0, -1, 1, -1, 1, -1], "y": [1, 1, 1, 2, 2, 2], **columns}
    )


def test_what_a_user_is_told() -> None:
    with pytest.warns(SeparationWarning, match=r"\(x to \+infinity\). The data do not determine z: any value"):
        fit = ordfit("y ~ x + z", separated())
    assert fit.se.isna().all()
    told = "infinite: x (+); not determined: 1|2, z."
    assert told in " ".join(str(fit.tidy()).split()) and told in " ".join(str(fit.confint()).split())
    paper = table([fit])
    rows = {row[0]: row[1:] for row in paper.grids()[0].rows}
    assert rows["x"][0] == "∞" and rows["z"][0] == "NA"
    text = " ".join(str(paper).split())
    assert "infinite or not determined (NA)" in text and "as other terms determine it" not in text
    limits = fit.confint(type="profile")
    assert limits.loc["z"].tolist() == [-math.inf, math.inf] and limits.loc["x", "upper"] == math.inf
    reasons = limits.attrs["reasons"]
    assert "left open" in reasons["z", "lower"] and "left open" in reasons["z", "upper"]


def test_with_cases_counted_and_rows_in_another_order() -> None:
    X, y = np.array([[-1.0, 1], [1, 1], [-1, -1], [1, -1]]), np.array([0, 1, 0, 1])
    given = (([0, 1, 2, 3], None), ([3, 1, 0, 2], np.array([2.0, 1, 7, 4])))
    fits = [clm(Sample(rows=Rows(X=X[order]), y=y[order], n_levels=2, weights=weights)) for order, weights in given]
    for fit in fits:
        assert found(fit) == pytest.approx([math.nan, math.inf, math.nan], nan_ok=True)


def test_random_effects_leave_it_as_it_is() -> None:
    data = separated(g=list("aabbcc"))
    data = pd.concat([data] * 3, ignore_index=True)
    with (
        pytest.warns(SeparationWarning, match="The data do not determine z"),
        pytest.warns(SeparationWarning, match="the data say nothing of the random effects"),
    ):
        fit = ordfit("y ~ x + z + (1 | g)", data)
    assert replace(fit.fit).undetermined.tolist() == [True, False, True]
