"""The solver of penalised likelihoods, on quadratic functions and against its twin."""

from __future__ import annotations

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
import twins_descent

from ordstat.compiled.descent import minimise
from ordstat.likelihood import proximal
from ordstat.newton import Blocks


class Quadratic:
    """N (g'x - x'Hx / 2) of x = (theta, b), as a log-likelihood."""

    has_products = False
    gives_information = False

    def __init__(self, rng, p, t=2):
        A = rng.normal(size=(p + t + 5, p + t))
        self.H = A.T @ A / len(A)
        self.g = rng.normal(size=p + t)
        self.t = t
        self.total = 50.0

    def score(self, theta, b):
        x = np.concatenate([theta, b])
        value = self.g @ x - 0.5 * x @ self.H @ x
        second = None
        if self.gives_information:
            second = self.information(theta, b, np.arange(b.size))
        return self.total * value, self.total * (self.g - self.H @ x), second

    def information(self, theta, b, active):
        index = np.append(np.arange(self.t), self.t + active)
        return Blocks.of_dense(self.total * self.H[np.ix_(index, index)], self.t)

    def products(self, theta, b):
        return Products(self.total * self.H, self.t)

    def solution(self, penalty):
        """By cvxpy."""
        theta = cp.Variable(self.t)
        b = cp.Variable(self.g.size - self.t)
        x = cp.hstack([theta, b])
        root = np.linalg.cholesky(self.H).T
        cost = 0.5 * cp.sum_squares(root @ x) - self.g @ x
        limits = []
        for g, (start, end) in enumerate(pairwise(penalty.starts)):
            cost += penalty.l1[g] * cp.norm(b[start:end])
            cost += 0.5 * penalty.l2[g] * cp.sum_squares(b[start:end])
        if np.isfinite(penalty.upper).all():
            limits = [b >= penalty.lower, b <= penalty.upper]
        cp.Problem(cp.Minimize(cost), limits).solve(
            solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
        )
        return np.concatenate([theta.value, b.value])


class Products:
    """Products with a matrix that is at hand."""

    def __init__(self, H, t):
        self.T = H[:t, :t]
        self.C = H[:t, t:]
        self.S = H[t:, t:] - self.C.T @ np.linalg.solve(self.T, self.C)
        self.diagonal = float(np.diag(H).mean())

    def solved(self, theta):
        return np.linalg.solve(self.T, theta)

    def to_theta(self, b):
        return self.C @ b

    def from_theta(self, theta):
        return self.C.T @ theta

    def complement(self, b):
        return self.S @ b


def shrinkage(starts, l1, l2, bounds=None):
    starts = np.array(starts, dtype=np.intp)
    p = starts[-1]
    lower, upper = bounds or (np.full(p, -np.inf), np.full(p, np.inf))
    sizes = len(starts) - 1
    return proximal.Shrinkage(
        starts=starts,
        l1=np.broadcast_to(l1, sizes).astype(float),
        l2=np.broadcast_to(l2, sizes).astype(float),
        lower=np.asarray(lower, dtype=float),
        upper=np.asarray(upper, dtype=float),
        bounded=bounds is not None,
    )


BOUNDS = np.zeros(12), np.full(12, 0.3)
PENALTIES = {
    "lasso": shrinkage(range(13), 0.2, 0.0),
    "elastic net": shrinkage(range(13), 0.1, 0.4),
    "ridge": shrinkage(range(13), 0.0, 0.4),
    "not all": shrinkage(range(13), [0.0, 0.3] * 6, 0.0),
    "groups": shrinkage([0, 3, 4, 8, 12], [0.3, 0.1, 0.6, 0.2], 0.1),
    "bounds": shrinkage(range(13), 0.05, 0.0, BOUNDS),
    "bounds alone": shrinkage(range(13), 0.0, 0.0, BOUNDS),
}


@pytest.mark.parametrize("gives_information", [False, True])
@pytest.mark.parametrize("name", PENALTIES)
def test_minimum_of_a_quadratic_function(name, gives_information):
    penalty = PENALTIES[name]
    model = Quadratic(np.random.default_rng(3), 12)
    model.gives_information = gives_information
    begun = proximal.PenalisedPoint.of(model, np.zeros(2), np.zeros(12))
    found = proximal.solve(
        model, begun, penalty, 1e-10, np.zeros(penalty.l1.size, dtype=bool)
    )
    assert found.residual <= 1e-10
    x = np.concatenate([found.point.theta, found.point.b])
    # CLARABEL ends at about 1e-6 where groups are cones
    np.testing.assert_allclose(x, model.solution(penalty), atol=1e-5)


def test_the_residual_is_the_distance_from_the_conditions():
    penalty = shrinkage([0, 1, 2, 3, 5], 1.0, 0.5)
    b = np.array([0.0, 0.0, 2.0, 0.0, 0.0])
    slope = np.array([0.5, -1.5, 3.0, 3.0, 4.0])
    # of the zero group (3, 4) of length 5 what is beyond length 1 is left
    expected = [0.0, -0.5, 3.0 - 1.0 - 1.0, 3.0 * 0.8, 4.0 * 0.8]
    np.testing.assert_allclose(penalty.residual(slope, b), expected)


def test_a_bound_absorbs_what_pulls_against_it():
    bounds = np.array([0.0, 0.0, -1.0]), np.array([1.0, 1.0, 1.0])
    penalty = shrinkage(range(4), 0.1, 0.0, bounds)
    left = penalty.residual(np.array([-5.0, 5.0, 5.0]), np.array([0.0, 1.0, 0.5]))
    np.testing.assert_allclose(left, [0.0, 0.0, 4.9])


def test_curvature_by_differences():
    penalty = PENALTIES["groups"]
    rng = np.random.default_rng(0)
    b = rng.normal(size=12)
    b[:3] = 0.0
    used = np.flatnonzero(b)

    def slope(at):
        return penalty.residual(np.zeros(12), at)[used]

    step = 1e-6
    units = step * np.eye(12)[used]
    rows = [(slope(b - move) - slope(b + move)) / (2.0 * step) for move in units]
    np.testing.assert_allclose(penalty.curvature(b), rows, atol=1e-8)


@pytest.mark.parametrize("rounds", [1, 2, 200])
@pytest.mark.parametrize("name", PENALTIES)
def test_minimise_equals_its_twin(name, rounds):
    penalty = PENALTIES[name]
    rng = np.random.default_rng(1)
    A = rng.normal(size=(20, 12))
    Q = A.T @ A / 20
    starts = penalty.starts
    ends = list(pairwise(starts))
    bound = np.array([np.linalg.eigvalsh(Q[a:z, a:z])[-1] for a, z in ends])
    given = penalty.l1, penalty.l2, penalty.lower, penalty.upper
    begun = np.clip(rng.normal(size=12), penalty.lower, penalty.upper)
    results = []
    for loop in (minimise, twins_descent.minimise):
        b = begun.copy()
        r = np.linspace(-1.0, 1.0, 12)
        kept = np.empty((12, 12)), np.zeros(13, dtype=np.intp)
        loop(Q, starts, bound, *given, b, r, 1e-12, rounds, *kept)
        results.append(np.concatenate([b, r]))
    np.testing.assert_allclose(results[0], results[1], atol=1e-11)
    if rounds == 200:
        b, r = np.split(results[0], 2)
        left = np.linspace(-1.0, 1.0, 12) - Q @ (b - begun)
        np.testing.assert_allclose(r, left, atol=1e-12)
        assert np.abs(penalty.residual(r, b)).max() <= 1e-12


@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_a_kept_factor_is_that_of_its_coefficients(l2):
    """Where some join it and others leave, one after another and many at a time."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(80, 40))
    Q = A.T @ A / 80
    penalty = shrinkage(range(41), 0.3, l2)
    given = penalty.l1, penalty.l2, penalty.lower, penalty.upper
    factor, kept = np.empty((40, 40)), np.zeros(41, dtype=np.intp)
    b = np.zeros(40)
    linear = rng.normal(size=40)
    out_of_order = 0
    for size in (0.1, 0.1, 0.1, 0.1, 0.1, 2.0, 0.1, 0.1, 0.1, 0.1):
        linear += size * rng.normal(size=40)
        bound = np.diag(Q).copy()
        left = linear - Q @ b
        minimise(Q, penalty.starts, bound, *given, b, left, 1e-12, 200, factor, kept)
        assert np.abs(penalty.residual(linear - Q @ b, b)).max() <= 1e-12
        places = kept[1 : kept[0] + 1]
        np.testing.assert_array_equal(np.sort(places), np.flatnonzero(b))
        lower = np.tril(factor[: kept[0], : kept[0]])
        curvature = Q[np.ix_(places, places)] + l2 * np.eye(places.size)
        np.testing.assert_allclose(lower @ lower.T, curvature, atol=1e-12)
        out_of_order += bool((np.diff(places) < 0).any())
    assert 0 < out_of_order < 10  # some factors were updated, some computed anew


@pytest.mark.parametrize("name", ["lasso", "elastic net", "groups", "bounds alone"])
def test_a_kept_factor_changes_no_minimum(name):
    """Of other linear parts with the same Q, and where other coefficients are 0."""
    penalty = PENALTIES[name]
    A = np.random.default_rng(4).normal(size=(20, 12))
    Q = A.T @ A / 20
    ends = list(pairwise(penalty.starts))
    bound = np.array([np.linalg.eigvalsh(Q[a:z, a:z])[-1] for a, z in ends])
    kept = np.empty((12, 12)), np.zeros(13, dtype=np.intp)
    for scale in (1.0, 1.01, 1.3, -2.0):
        b = np.zeros(12)
        r = scale * np.linspace(-1.0, 1.0, 12)
        given = penalty.l1, penalty.l2, penalty.lower, penalty.upper
        minimise(Q, penalty.starts, bound, *given, b, r, 1e-12, 200, *kept)
        left = scale * np.linspace(-1.0, 1.0, 12) - Q @ b
        assert np.abs(penalty.residual(left, b)).max() <= 1e-11


def test_products_give_the_ridge_of_a_quadratic_function():
    model = Quadratic(np.random.default_rng(3), 12)
    model.has_products = True
    l2 = np.linspace(0.0, 0.6, 12)
    penalty = shrinkage(range(13), 0.0, l2)
    start = proximal.PenalisedPoint.of(model, np.zeros(2), np.zeros(12))
    nothing = np.zeros(12, dtype=bool)
    found = proximal.solve(model, start, penalty, 1e-11, nothing)
    assert isinstance(found.quadratic, proximal.SmoothQuadratic)
    assert found.residual <= 1e-11
    expected = np.linalg.solve(model.H + np.diag([0.0, 0.0, *l2]), model.g)
    point = np.concatenate([found.point.theta, found.point.b])
    np.testing.assert_allclose(point, expected, atol=1e-9)
