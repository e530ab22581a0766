"""Score and information against central differences, for every link and every part of
the model.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from seams import (
    LINKS,
    Adjacent,
    ContinuationRatio,
    Cumulative,
    Family,
    Problem,
    StoppingRatio,
)

from .samples import PARTS, make

#: Central differences of step 1e-5 of values near 1e3: 1e-16 * 1e3 / 1e-5 plus the cut
#: series.
GRADIENT = 1e-6
HESSIAN = 1e-5


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(
    "family",
    [
        Cumulative,
        Adjacent,
        ContinuationRatio,
        partial(StoppingRatio, backward=True),
    ],
    ids=["cumulative", "adjacent", "continuation", "stopping backward"],
)
def test_score_and_information_against_differences(
    family: Callable[..., Family], link: str, parts: tuple[str, ...]
) -> None:
    problem = Problem.of(make(parts), family(LINKS[link]))
    point = problem.start() + 0.05 * np.random.default_rng(1).normal(
        size=problem.n_parameters
    )

    def at(values: np.ndarray):
        evaluation = problem.evaluate(values)
        assert evaluation is not None
        return evaluation

    steps = 1e-5 * np.eye(point.size)
    gradient = np.array(
        [(at(point + h).loglik - at(point - h).loglik) / 2e-5 for h in steps]
    )
    hessian = np.array(
        [(at(point + h).score - at(point - h).score) / 2e-5 for h in steps]
    )
    np.testing.assert_allclose(at(point).score, gradient, rtol=GRADIENT, atol=GRADIENT)
    np.testing.assert_allclose(
        -at(point).information.dense(), hessian, rtol=HESSIAN, atol=HESSIAN
    )


@pytest.mark.parametrize("link", LINKS)
def test_log_likelihood_is_the_sum_of_log_probabilities(link: str) -> None:
    sample = make(PARTS["all"])
    problem = Problem.of(sample, Cumulative(LINKS[link]))
    x = problem.start()
    rows = sample.rows
    evaluation = problem.evaluate(x)
    s = np.exp(-rows.scale_offset)
    ends = s[:, None] * (problem.user.split(x)[0][:, 0] - rows.offset[:, None])
    infinite = np.full((sample.n, 1), np.inf)
    ends = np.hstack([-infinite, ends, infinite])
    here = np.arange(sample.n)
    u = ends[here, sample.y + 1]
    lo = ends[here, sample.y]
    cdf = LINKS[link].cdf
    sf = LINKS[link].sf
    p = np.where(lo > 0, sf(lo) - sf(u), cdf(u) - cdf(lo))
    assert evaluation is not None
    assert evaluation.loglik == pytest.approx(
        float(sample.weights @ np.log(p)), rel=1e-12
    )


@pytest.mark.parametrize(
    "parts", [(), ("nominal",), ("nominal", "scale")], ids=["m=1", "m=2", "with scale"]
)
def test_block_algebra_against_dense(parts: tuple[str, ...]) -> None:
    problem = Problem.of(make(parts, n_levels=6), Cumulative(LINKS["probit"]))
    evaluation = problem.evaluate(problem.start())
    assert evaluation is not None
    blocks = evaluation.information
    dense = evaluation.information.dense()
    factor = blocks.factor()
    assert factor is not None
    np.testing.assert_allclose(
        factor.solve(evaluation.score),
        np.linalg.solve(dense, evaluation.score),
        rtol=1e-11,
    )
    count, m = problem.rows.shape
    inverse = np.linalg.inv(dense[: count * m, : count * m])
    expected = [inverse[k * m : k * m + m, k * m : k * m + m] for k in range(count)]
    np.testing.assert_allclose(factor.inverse_diagonal_blocks(m), expected, rtol=1e-11)
    damped = blocks.damped(0.5).dense()
    np.testing.assert_allclose(
        damped - np.diag(np.diag(damped)), dense - np.diag(np.diag(dense)), rtol=1e-15
    )
    np.testing.assert_allclose(
        np.diag(damped), np.diag(dense) + 0.5 * np.abs(np.diag(dense)), rtol=1e-14
    )
