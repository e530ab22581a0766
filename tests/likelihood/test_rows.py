"""Sums over rows by the compiled logit pass and by patterns of nominal columns, against
those by terms of each row.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from seams import LINKS, Cumulative, Problem, Rows, Sample

from ordstat.newton import Evaluation

N = 2500
K = 5


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


def by_terms(problem: Problem) -> Problem:
    """The same likelihood as that of a family whose P(y <= k) might depend on all
    thresholds.
    """

    class General(Cumulative):
        local = False

    return replace(problem, family=General(problem.family.link))


def by_numpy(problem: Problem) -> Problem:
    """The same likelihood under a name for which there is no compiled pass."""
    return problem.at_link(replace(problem.family.link, name="another"))


def same(one: Evaluation | None, other: Evaluation | None) -> None:
    assert one is not None and other is not None
    assert one.loglik == pytest.approx(other.loglik, rel=1e-13)
    np.testing.assert_allclose(one.score, other.score, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(
        one.information.dense(), other.information.dense(), rtol=1e-10, atol=1e-8
    )


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(
    "parts", [(), ("scale", "weights"), ("offset", "scale_offset")], ids=str
)
@pytest.mark.parametrize("nominal", ["none", "factor", "sums", "numbers"])
def test_sums(nominal: str, parts: tuple[str, ...], link: str) -> None:
    problem = Problem.of(make(nominal, parts), Cumulative(LINKS[link]))
    x = problem.start()
    rng = np.random.default_rng(4)
    effects = np.ones(x.size, dtype=bool)
    effects[: (K - 1) * problem.rows.shape[1] : problem.rows.shape[1]] = False
    x[effects] += 0.02 * rng.normal(size=np.count_nonzero(effects))
    evaluation = problem.evaluate(x)
    assert evaluation is not None
    for other in (problem, by_terms(problem), by_numpy(problem)):
        same(evaluation, other.evaluate(x))
        same(other.evaluate(x, evaluation.information), evaluation)


@pytest.mark.parametrize("nominal", ["none", "factor", "numbers"])
def test_outside_the_domain(nominal: str) -> None:
    problem = Problem.of(make(nominal, ("scale",)), Cumulative(LINKS["logit"]))
    x = problem.start()
    m = problem.rows.shape[1]
    size = (K - 1) * m
    beyond = [
        np.append(x[:size].reshape(K - 1, m)[::-1], x[size:]),
        np.append(x[:size], x[size:] + 300.0),
    ]
    if nominal != "none":
        beyond.append(x + 9.0 * (np.arange(x.size) == m + 1))
    for point in beyond:
        assert (
            problem.evaluate(point) is None
            and by_terms(problem).evaluate(point) is None
        )


@pytest.mark.parametrize(
    ("parts", "moves"), [(("scale",), [0.0, 0.0, 0.0, 0.0, -20.0]), ((), [400.0] * 3)]
)
def test_values_too_large_for_the_compiled_pass_take_numpy(
    parts: tuple[str, ...], moves: list[float]
) -> None:
    """Steep scales, and scores far out: the first are outside the domain either way."""
    problem = Problem.of(make("none", parts), Cumulative(LINKS["logit"]))
    x = problem.start()
    x[K - 1 :] += moves
    one = problem.evaluate(x)
    other = by_terms(problem).evaluate(x)
    assert (one is None) == (other is None) == bool(parts)
    if one is not None and other is not None:
        assert one.loglik == pytest.approx(other.loglik, rel=1e-13)


def test_a_log_likelihood_beyond_all_numbers_is_outside() -> None:
    """log P(y <= 0) of the loglog link is -exp(-theta), finite at theta = -690, but not
    times 1e9 rows.
    """
    rows = Rows(X=np.array([[0.0], [1.0]]))
    sample = Sample(
        rows=rows, y=np.array([0, 1]), n_levels=2, weights=np.array([1e9, 1.0])
    )
    problem = Problem.of(sample, Cumulative(LINKS["loglog"]))
    assert problem.evaluate(np.array([-690.0, 0.0])) is None
    evaluation = problem.evaluate(np.array([-9.0, 0.0]))
    assert evaluation is not None
    assert evaluation.loglik == pytest.approx(-1e9 * np.exp(9.0), rel=1e-9)
