"""Sums over rows by the compiled logit pass and by patterns of nominal columns, against those by terms of each row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ordstat.formula.sample import Rows, Sample
from ordstat.likelihood.family import Cumulative
from ordstat.likelihood.links import LINKS
from ordstat.likelihood.newton import Evaluation
from ordstat.likelihood.problem import Problem
from ordstat.likelihood.rows import TermRows
from ordstat.likelihood.start import follow

N, K = 2500, 5


def make(nominal: str, parts: tuple[str, ...]) -> Sample:
    rng = np.random.default_rng(3)
    group = rng.integers(0, 4, N)
    columns = {
        "none": None,
        "factor": np.eye(4)[group][:, 1:],
        "sums": (np.eye(4) - np.eye(4)[3])[group][:, :3],
        "numbers": rng.normal(size=(N, 2)),
    }
    rows = Rows(
        X=rng.normal(size=(N, 3)) + 5.0,
        nominal=columns[nominal],
        scale=rng.normal(size=(N, 2)) if "scale" in parts else None,
        offset=rng.normal(size=N) if "offset" in parts else None,
        scale_offset=0.3 * rng.normal(size=N) if "scale_offset" in parts else None,
    )
    weights = rng.uniform(0.5, 2.0, N) if "weights" in parts else None
    return Sample(rows=rows, y=rng.integers(0, K, N), n_levels=K, weights=weights)


def by_terms(rows: TermRows) -> TermRows:
    """The same likelihood, without patterns and under a name for which there is no compiled pass."""
    link = replace(rows.family.link, name="another")
    own = replace(rows.rows, patterns=None)
    return replace(rows, observed=replace(rows.observed, rows=own, family=Cumulative(link)))


def same(one: Evaluation | None, other: Evaluation | None) -> None:
    assert one is not None and other is not None
    assert one.loglik == pytest.approx(other.loglik, rel=1e-13)
    np.testing.assert_allclose(one.score_alpha, other.score_alpha, rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(one.score_rest, other.score_rest, rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(one.information.dense(), other.information.dense(), rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("link", ["logit", "cloglog"])
@pytest.mark.parametrize("parts", [(), ("scale", "weights"), ("offset", "scale_offset")], ids=str)
@pytest.mark.parametrize("nominal", ["none", "factor", "sums", "numbers"])
def test_sums(nominal: str, parts: tuple[str, ...], link: str) -> None:
    problem = Problem.of(make(nominal, parts), Cumulative(LINKS[link]))
    rows, rng = problem.term_rows, np.random.default_rng(4)
    assert (rows.rows.patterns is not None) == (nominal in ("factor", "sums"))
    alpha, rest = problem.start()
    alpha[:, 1:] = 0.1 * rng.uniform(size=(K - 1, alpha.shape[1] - 1))
    rest = rest + 0.2 * rng.normal(size=rest.size)
    found = rows.evaluate(alpha, rest)
    same(found, by_terms(rows).evaluate(alpha, rest))
    assert found is not None
    same(rows.slope(alpha, rest, found.information), found)
    same(by_terms(rows).slope(alpha, rest, found.information), found)


@pytest.mark.parametrize("nominal", ["none", "factor", "numbers"])
def test_outside_the_domain(nominal: str) -> None:
    problem = Problem.of(make(nominal, ("scale",)), Cumulative(LINKS["logit"]))
    alpha, rest = problem.start()
    assert problem.term_rows.inside(alpha, rest)
    for a, b in ((alpha[::-1].copy(), rest), (alpha, rest + 300.0)):
        assert problem.term_rows.evaluate(a, b) is None
        assert not problem.term_rows.inside(a, b)
    if nominal != "none":
        alpha[1, 1] += 9.0
        assert problem.term_rows.evaluate(alpha, rest) is None
        assert not problem.term_rows.inside(alpha, rest)


def test_steep_rows_take_the_terms() -> None:
    """Where the inverse scale makes predictors too large for the compiled pass, the terms decide."""
    problem = Problem.of(make("none", ("scale",)), Cumulative(LINKS["logit"]))
    alpha, rest = problem.start()
    rest[-1] = -20.0
    one, other = problem.term_rows.evaluate(alpha, rest), by_terms(problem.term_rows).evaluate(alpha, rest)
    assert (one is None) == (other is None)
    if one is not None:
        same(one, other)


def test_a_search_on_some_rows_hands_over_its_optimum() -> None:
    """From its information all rows take one step more (`start.py`)."""
    problem = Problem.of(make("none", ("scale",)), Cumulative(LINKS["logit"]))
    reached = follow(problem, problem.start(), 50)
    assert reached.optimum is not None
    assert reached.optimum.at.loglik == reached.loglik


def test_a_log_likelihood_beyond_all_numbers_is_outside() -> None:
    """log P(y <= 0) of the loglog link is -exp(-theta), a number at theta = -690, and 1e9 rows of it are none."""
    rows = Rows(X=np.zeros((2, 1)), scale=np.array([[0.0], [1.0]]))
    sample = Sample(rows=rows, y=np.array([0, 1]), n_levels=2, weights=np.array([1e9, 1.0]))
    scaled = np.array([[0.0, 0.0], [0.0, 1.0]]), 1, 1, np.ones((2, 1))
    weighted = TermRows.of(sample, scaled, Cumulative(LINKS["loglog"]), None)
    assert weighted.evaluate(np.array([[-690.0]]), np.zeros(2)) is None
    found = weighted.evaluate(np.array([[-9.0]]), np.zeros(2))
    assert found is not None
    assert found.loglik == pytest.approx(-1e9 * np.exp(9.0), rel=1e-9)
