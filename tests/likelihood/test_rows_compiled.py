"""The compiled passes against their NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
import twins_sums
from seams import LINKS

from ordstat.compiled import sums


@pytest.mark.parametrize(("n", "p"), [(1, 1), (700, 3), (400, 40)])
@pytest.mark.parametrize("weighted", [False, True])
def test_spreads(n: int, p: int, weighted: bool) -> None:
    rng = np.random.default_rng(n + p)
    X = rng.normal(size=(n, p)) + 1e3
    weights = rng.random(n) + 0.5 if weighted else None
    one = (np.zeros(p), np.zeros(p))
    other = (np.zeros(p), np.zeros(p))
    sums.spreads(X, weights, np.full(p, 1e3), *one)
    twins_sums.spreads(X, weights, np.full(p, 1e3), *other)
    for got, want in zip(one, other, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 103])
def test_gather(n: int) -> None:
    """Columns with any distance between entries, backwards too, and of booleans, into
    some columns of the table.
    """
    rng = np.random.default_rng(n)
    apart = rng.normal(size=(n, 5))
    flags = apart > 0.0
    columns = [
        apart[:, 3],
        rng.normal(size=n),
        apart[::-1, 0],
        flags[:, 1],
        flags[::-1, 2],
    ]
    places = [4, 0, 2, 6, 3]
    one = (np.ones((n, 7)), np.ones(7))
    other = (np.ones((n, 7)), np.ones(7))
    sums.gather(columns, np.array(places), *one)
    twins_sums.gather(columns, places, *other)
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_allclose(one[1], other[1], rtol=1e-13)


@pytest.mark.parametrize("second", [True, False])
@pytest.mark.parametrize(
    ("shape", "patterns"),
    [
        ((0, 0, 1), 1),
        ((3, 0, 1), 4),
        ((2, 2, 1), 4),
        ((0, 2, 3), 1),
        ((3, 1, 3), 1),
        ((9, 5, 1), 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("link", range(6))
@pytest.mark.parametrize(("weighted", "opened"), [(True, True), (False, False)])
def test_interval_sums(
    link: int,
    patterns: int,
    shape: tuple[int, int, int],
    second: bool,
    weighted: bool,
    opened: bool,
) -> None:
    (p, r, m), n, last = shape, 300, 3  # more rows than are taken at once
    rng = np.random.default_rng(10)
    y = rng.integers(0, last + 1, n)
    open_end = None
    if opened:
        # an answer without ends says nothing
        open_end = np.where(y == 0, -1, np.where(y == last, 1, rng.integers(-1, 2, n)))
    q = p + r
    base = (np.arange(last) - 1.0 + 0.2 * rng.uniform(size=(patterns, last))).reshape(
        -1
    )
    theta = np.hstack([base[:, None], 0.02 * rng.normal(size=(base.size, m - 1))])
    step = np.diff(theta.reshape(patterns, last, m), axis=1, prepend=0.0).reshape(-1, m)
    by_row = (
        *(rng.normal(size=(n, p)) + 5.0, rng.normal(size=(n, r)) if r else None),
        *(
            (
                None
                if m == 1
                else np.hstack([np.ones((n, 1)), rng.normal(size=(n, m - 1))])
            ),
        ),
        *(
            rng.integers(0, patterns, n) if patterns > 1 else None,
            y,
            open_end,
        ),
        *(
            rng.uniform(0.5, 2.0, n) if weighted else None,
            rng.normal(size=n) if weighted else None,
        ),
        0.2 * rng.normal(size=n) if r else None,
    )
    columns = np.append(np.full(p, 5.0), np.zeros(r)), rng.uniform(0.5, 1.5, q), last
    by = 0.05 * rng.normal(size=q)
    parts = np.abs(rng.normal(size=(8, n)))
    top = y == last
    bottom = y == 0
    if open_end is not None:
        top = top | (open_end > 0)
        bottom = bottom | (open_end < 0)
    parts[1, top] = parts[2, bottom] = 0.0
    parts[3] = parts[1] - parts[2]
    parts[5, top] = parts[6, bottom] = parts[7, top | bottom] = 0.0
    given = link, parts if link == 0 else None
    shapes = ((base.size, m), (2, base.size, m, m), (base.size, m, q), (q,), (q, q))
    one, other = ([np.zeros(shape) for shape in shapes] for _ in range(2))
    value = sums.interval_sums(
        *by_row, *columns, theta, step, by, 1e10, 100.0, *given, *one, second
    )
    twin = twins_sums.interval_sums(
        *by_row, *columns, theta, step, by, 1e10, 100.0, *given, *other, second
    )
    assert value == pytest.approx(twin, rel=1e-12)
    for mine, expected in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-10, atol=1e-10)
    if link == 0:
        return
    beyond = {
        "thresholds": (-step, 1e10, 100.0),
        "scale": (step, 1e10, 1e-3),
        "inverse scale": (step, 1e-3, 100.0),
    }
    for name, (steps, farthest, largest) in beyond.items():
        if name == "thresholds" or r:
            into = [np.zeros(shape) for shape in shapes]
            limits = by, farthest, largest
            assert np.isnan(
                sums.interval_sums(
                    *by_row, *columns, theta, steps, *limits, *given, *into, second
                )
            ), name


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("scaled", [False, True])
def test_interval_sums_leave_what_is_too_close_or_too_far(
    link: str, scaled: bool
) -> None:
    """One row at level 1, or at an end; log p of the others is that of the link."""

    def log_p(theta: list[float], y: int) -> float:
        table = np.array(theta)[:, None]
        shapes = (
            (2, 1),
            (2, 2, 1, 1),
            (2, 1, 0),
            (0,),
            (0, 0),
        )
        into = [np.zeros(shape) for shape in shapes]
        scale_offset = np.zeros(1) if scaled else None
        rows = (
            np.zeros((1, 0)),
            None,
            None,
            None,
            np.array([y]),
            None,
            None,
            np.zeros(1),
            scale_offset,
        )
        point = table, np.diff(table, axis=0, prepend=0.0), np.zeros(0)
        kind = {"logit": 1, "probit": 2}[link]
        return sums.interval_sums(
            *rows,
            np.zeros(0),
            np.zeros(0),
            2,
            *point,
            1e10,
            100.0,
            kind,
            None,
            *into,
            True,
        )

    for lower, upper in ((-0.4, 0.7), (-3.0, -2.5), (1.0, 5.0)):
        exact = LINKS[link].log_interval(
            np.array([upper]), np.array([lower]), np.array([upper - lower])
        )
        assert log_p([lower, upper], 1) == pytest.approx(float(exact[0]), rel=1e-12)
    assert (
        np.isnan(log_p([0.5, 0.5], 1))
        and np.isnan(log_p([0.0, 260.0], 1))
        and np.isnan(log_p([-251.0, 0.0], 0))
    )


@pytest.mark.parametrize("second", [True, False])
@pytest.mark.parametrize(("p", "r", "m"), [(0, 0, 1), (3, 0, 1), (2, 2, 3), (9, 5, 1)])
@pytest.mark.parametrize("backward", [True, False])
@pytest.mark.parametrize("link", range(1, 6))
def test_stage_sums(
    link: int, backward: bool, p: int, r: int, m: int, second: bool
) -> None:
    rng = np.random.default_rng(link)
    n, stages, q = 300, 3, p + r  # more rows than are taken at once
    nominal = np.hstack([np.ones((n, 1)), rng.normal(size=(n, m - 1))])
    by_row = (
        rng.normal(size=(n, p)) + 5.0,
        rng.normal(size=(n, r)) if r else None,
        nominal if m > 1 else None,
        rng.integers(0, stages + 1, n),
        rng.uniform(0.5, 2.0, n) if p else None,
        rng.normal(size=n) if p else None,
        0.2 * rng.normal(size=n) if r else None,
    )
    scales = np.append(np.full(p, 5.0), np.zeros(r)), rng.uniform(0.5, 1.5, q)
    point = 0.4 * rng.normal(size=(stages, m)), 0.05 * rng.normal(size=q)
    shapes = ((stages, m), (stages, m, m), (stages, m, q), (q,), (q, q))
    one, other = ([np.zeros(shape) for shape in shapes] for _ in range(2))
    given = *by_row, *scales, *point, 1e10
    value = sums.stage_sums(*given, 100.0, link, backward, *one, second)
    twin = twins_sums.stage_sums(*given, 100.0, link, backward, *other, second)
    assert value == pytest.approx(twin, rel=1e-12)
    for mine, expected in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-10, atol=1e-10)
    if r:
        assert np.isnan(sums.stage_sums(*given, 1e-3, link, backward, *one, second))


@pytest.mark.parametrize(("link", "far"), [(1, 251.0), (2, 6.1), (3, 31.0), (5, 2e6)])
def test_stage_sums_leave_what_is_too_far(link: int, far: float) -> None:
    """A threshold too far from a row is none of a row that does not reach its stage."""
    for level, beyond in ((1, True), (0, False)):
        point = np.array([[0.0], [far]]), np.zeros(0)
        row = np.zeros((1, 0)), None, None, np.array([level]), None, None, None
        into = [np.zeros(s) for s in ((2, 1), (2, 1, 1), (2, 1, 0), (0,), (0, 0))]
        limits = *(np.zeros(0), np.zeros(0), *point), 1e10, 100.0
        value = sums.stage_sums(*row, *limits, link, False, *into, True)
        assert np.isnan(value) == beyond


@pytest.mark.parametrize("second", [True, False])
@pytest.mark.parametrize(
    ("p", "m", "thresholds"), [(0, 1, 1), (3, 1, 4), (2, 3, 3), (0, 9, 5), (40, 2, 2)]
)
@pytest.mark.parametrize("summed", [True, False])
def test_level_sums(
    summed: bool, p: int, m: int, thresholds: int, second: bool
) -> None:
    rng = np.random.default_rng(p + m)
    n = 300  # more rows than are taken at once
    nominal = np.hstack([np.ones((n, 1)), rng.normal(size=(n, m - 1))])
    by_row = (
        rng.normal(size=(n, p)) + 5.0,
        nominal if m > 1 else None,
        rng.integers(0, thresholds + 1, n),
        rng.uniform(0.5, 2.0, n) if p else None,
        rng.normal(size=n) if p else None,
    )
    scales = np.full(p, 5.0), rng.uniform(0.5, 1.5, p)
    point = rng.normal(size=(thresholds, m)), 0.3 * rng.normal(size=p)
    count = thresholds * (thresholds + 1) // 2
    shapes = (
        (thresholds, m),
        (count, m * (m + 1) // 2),
        (thresholds, m, p),
        (p,),
        (p, p),
    )
    one, other = ([np.zeros(shape) for shape in shapes] for _ in range(2))
    given = *by_row, *scales, *point, summed
    value = sums.level_sums(*given, *one, second)
    twin = twins_sums.level_sums(*given, *other, second)
    assert value == pytest.approx(twin, rel=1e-12)
    for mine, expected in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("summed", [True, False])
def test_level_sums_have_digits_far_out(summed: bool) -> None:
    """log p = -2000 of the lower of two levels; the curvature is not less than 0."""
    into = [np.zeros(s) for s in ((1, 1), (1, 1), (1, 1, 0), (0,), (0, 0))]
    far = np.array([[-2000.0 if summed else 2000.0]])
    none = np.zeros(0)
    row = np.zeros((1, 0)), None, np.array([0]), None, None, none, none
    value = sums.level_sums(*row, far, none, summed, *into, True)
    assert value == pytest.approx(-2000.0, rel=1e-14)
    assert into[0].item() == pytest.approx(1.0 if summed else -1.0)
    assert 0.0 <= into[1].item() < 1e-300
