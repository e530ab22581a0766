"""Score and information against central differences, for every link and every part of the model."""

from __future__ import annotations

import numpy as np
import pytest

from ordstat.likelihood.adjacent import Adjacent
from ordstat.likelihood.family import Cumulative
from ordstat.likelihood.family import Family
from ordstat.likelihood.links import LINKS
from ordstat.likelihood.problem import Problem

from .samples import PARTS, make

#: Central differences of step 1e-5 of values near 1e3: 1e-16 * 1e3 / 1e-5 plus the cut series.
GRADIENT, HESSIAN = 1e-6, 1e-5


def unpack(values: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    size = shape[0] * shape[1]
    return values[:size].reshape(shape), values[size:]


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("family", [Cumulative, Adjacent])
def test_score_and_information_against_differences(family: type[Family], link: str, parts: tuple[str, ...]) -> None:
    problem = Problem.of(make(parts), family(LINKS[link]))
    objective = problem.objective()
    alpha, rest = problem.start()
    rng = np.random.default_rng(1)
    point = np.concatenate([alpha.reshape(-1), rest])
    point = point + 0.05 * rng.normal(size=point.size)

    def at(values: np.ndarray):
        found = objective.evaluate(*unpack(values, alpha.shape))
        assert found is not None
        return found

    def score(values: np.ndarray) -> np.ndarray:
        found = at(values)
        return np.concatenate([found.score_alpha.reshape(-1), found.score_rest])

    steps = 1e-5 * np.eye(point.size)
    gradient = np.array([(at(point + h).loglik - at(point - h).loglik) / 2e-5 for h in steps])
    hessian = np.array([(score(point + h) - score(point - h)) / 2e-5 for h in steps])
    np.testing.assert_allclose(score(point), gradient, rtol=GRADIENT, atol=GRADIENT)
    np.testing.assert_allclose(-at(point).information.dense(), hessian, rtol=HESSIAN, atol=HESSIAN)


@pytest.mark.parametrize("link", LINKS)
def test_log_likelihood_is_the_sum_of_log_probabilities(link: str) -> None:
    sample = make(PARTS["all"])
    problem = Problem.of(sample, Cumulative(LINKS[link]))
    alpha, rest = problem.start()
    found = problem.objective().evaluate(alpha, rest)
    rows = sample.rows
    s = np.exp(-rows.scale_offset)
    ends = s[:, None] * (alpha[:, 0] - rows.offset[:, None])
    infinite = np.full((sample.n, 1), np.inf)
    ends = np.hstack([-infinite, ends, infinite])
    here = np.arange(sample.n)
    u, lo = ends[here, sample.y + 1], ends[here, sample.y]
    cdf, sf = LINKS[link].cdf, LINKS[link].sf
    p = np.where(lo > 0, sf(lo) - sf(u), cdf(u) - cdf(lo))
    assert found is not None
    assert found.loglik == pytest.approx(float(sample.weights @ np.log(p)), rel=1e-12)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("parts", [(), ("offset", "weights")], ids=["bare", "weights and offset"])
def test_plain_and_general_pass_agree(link: str, parts: tuple[str, ...]) -> None:
    """The compiled pass reads raw columns; the general one centred copies."""
    sample = make(parts, n=9000, p=3)  # more rows than one chunk of either
    sample.rows.X[:, 1] += 1e4
    problem = Problem.of(sample, Cumulative(LINKS[link]))
    alpha, rest = problem.start()
    rest = rest + 0.3
    one, other = (rows.evaluate(alpha, rest) for rows in (problem.objective(), problem.term_rows))
    assert one is not None and other is not None
    assert one.loglik == pytest.approx(other.loglik, rel=1e-13)
    np.testing.assert_allclose(one.score_alpha, other.score_alpha, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(one.score_rest, other.score_rest, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(one.information.dense(), other.information.dense(), rtol=1e-10, atol=1e-8)


def test_scores_too_large_for_the_compiled_pass_take_the_general_one() -> None:
    problem = Problem.of(make(), Cumulative(LINKS["logit"]))
    alpha, rest = problem.start()
    rest = rest + 400.0
    one, other = (rows.evaluate(alpha, rest) for rows in (problem.objective(), problem.term_rows))
    assert one is not None and other is not None
    assert np.isfinite(one.loglik)
    assert one.loglik == pytest.approx(other.loglik, rel=1e-13)


@pytest.mark.parametrize("parts", [(), ("nominal",), ("nominal", "scale")], ids=["m=1", "m=2", "with scale"])
def test_block_algebra_against_dense(parts: tuple[str, ...]) -> None:
    problem = Problem.of(make(parts, n_levels=6), Cumulative(LINKS["probit"]))
    alpha, rest = problem.start()
    found = problem.objective().evaluate(alpha, rest)
    assert found is not None
    blocks, dense = found.information, found.information.dense()
    factor = blocks.factor()
    assert factor is not None
    g_alpha, g_rest = found.score_alpha, found.score_rest
    solved = np.concatenate([v.reshape(-1) for v in factor.solve(g_alpha, g_rest)])
    score = np.concatenate([g_alpha.reshape(-1), g_rest])
    np.testing.assert_allclose(solved, np.linalg.solve(dense, score), rtol=1e-11)
    size = alpha.size
    inverse = np.linalg.inv(dense[:size, :size])
    m = alpha.shape[1]
    expected = [inverse[k * m : k * m + m, k * m : k * m + m] for k in range(alpha.shape[0])]
    np.testing.assert_allclose(factor.inverse_diagonal_blocks(alpha.shape[1]), expected, rtol=1e-11)
