"""Rectangles of the bivariate normal distribution against SciPy, and their derivatives
against differences.
"""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from ordstat.inference import bivariate_normal

A = np.array([-1.0, 0.0, 0.9])
B = np.array([-0.3, 0.4])


@pytest.mark.parametrize("rho", [-0.99, -0.4, 0.0, 0.7, 0.999])
def test_against_scipy(rho):
    """Also at h = 0, k = 0 and both, of either sign, where the formula needs limits."""
    normal = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    points = np.array([0.0, -0.0, 1.3, -0.8, 3.1])
    h, k = (grid.ravel() for grid in np.meshgrid(points, points))
    expected = [normal.cdf(point) for point in zip(h, k, strict=True)]
    assert bivariate_normal.probability_below(h, k, rho) == pytest.approx(
        expected, abs=1e-14
    )


def test_a_quadrant_has_a_closed_form():
    for rho in (-0.9, 0.0, 0.35):
        quadrant = bivariate_normal.probability_below(np.zeros(1), np.zeros(1), rho)[0]
        assert quadrant == pytest.approx(0.25 + np.arcsin(rho) / (2 * np.pi), rel=1e-15)


def test_cells_add_up_to_the_margins():
    cells = bivariate_normal.cell_probabilities(A, B, 0.6)
    edges = multivariate_normal(0, 1).cdf(A)
    assert cells.sum(axis=1) == pytest.approx(np.diff([0, *edges, 1]), abs=1e-15)
    assert (cells > 0).all()
    assert cells.sum() == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("rho", [-0.8, 0.0, 0.4])
def test_derivatives_against_differences(rho):
    place = np.concatenate([A, B, [rho]])
    split = [A.size, A.size + B.size]

    def at(function, x):
        a, b, (r,) = np.split(x, split)
        return function(a, b, r)

    gradient = at(bivariate_normal.cell_gradient, place)
    hessian = at(bivariate_normal.cell_hessian, place)
    assert np.array_equal(at(bivariate_normal.cell_slopes, place), gradient[-1])
    for i, step in enumerate(1e-5 * np.eye(place.size)):
        first, second = (
            (at(function, place + step) - at(function, place - step)) / 2e-5
            for function in (
                bivariate_normal.cell_probabilities,
                bivariate_normal.cell_gradient,
            )
        )
        assert gradient[i] == pytest.approx(first, abs=1e-8)
        assert hessian[i] == pytest.approx(second, abs=1e-8)
