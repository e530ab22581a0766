"""Compiled sums over row terms against their NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
import twins

from ordstat.compiled import terms


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("widths", [(3, 2, 1), (2, 0), (0, 0), (0, 2)])
@pytest.mark.parametrize("m", [1, 3])
def test_accumulate_terms(m: int, widths: tuple[int, ...], local: bool) -> None:
    rng = np.random.default_rng(5)
    n, K, q = 40, 5, sum(widths)
    y = rng.integers(0, K, n)
    ends = np.minimum(y, K - 2), np.maximum(y - 1, 0)
    places = np.stack(ends) if local else np.broadcast_to(np.arange(K - 1)[:, None], (K - 1, n)).copy()
    Q = len(places) + len(widths)
    curvature = rng.normal(size=(Q, Q, n))
    curvature += curvature.transpose(1, 0, 2)
    given = (rng.normal(size=(n, m)), rng.normal(size=(n, q)), np.cumsum([0, *widths]), places, rng.normal(size=(Q, n)))
    shapes = ((K - 1, m), (2, K - 1, m, m) if local else (K - 1, K - 1, m, m), (K - 1, m, q), (q,), (q, q))
    one, other = ([np.zeros(shape) for shape in shapes] for _ in range(2))
    for found, module in ((one, terms), (other, twins)):
        module.accumulate_terms(*given, curvature, *found, local)
    for mine, twin in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, twin, rtol=1e-12, atol=1e-12)


def test_interval_terms() -> None:
    rng = np.random.default_rng(6)
    parts = [rng.normal(size=30) for _ in range(8)]
    lower = rng.normal(size=30)
    width = rng.exponential(size=30)
    upper = lower + width
    upper[:5], lower[5:9], width[:9] = np.inf, -np.inf, np.inf
    one, other = ((np.empty((4, 30)), np.empty((4, 4, 30))) for _ in range(2))
    terms.interval_terms(*parts, upper, lower, width, *one)
    twins.interval_terms(*parts, upper, lower, width, *other)
    for mine, twin in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, twin, rtol=1e-13, atol=1e-13)
