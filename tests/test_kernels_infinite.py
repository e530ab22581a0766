"""Kernels of infinitely many stumps and perceptrons [Lin 2008, sec. 5.1], and their
machines for two levels.
"""

from itertools import product

import numpy as np
import pytest
from seams import Rows, Sample, resolve
from sklearn.svm import SVC

from ordstat import Perceptron, Precomputed, Stump

KERNELS = [Perceptron(), Stump()]
NAMES = ["perceptron", "stump"]
#: Methods that solve one and the same soft-margin machine where there are two levels.
TWO_LEVELS = [
    "redsvm",
    "osvm",
    "svor-imc",
    "svor-exc",
    "ova",
    "csova",
    "ovo",
    "csovo",
    "wap",
    "tsew",
    "relabel",
]
HARD = 2.0**20  # beyond the largest multiplier of every hard margin below


def _points(n, D, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (n, D))


def _binary(X, above):
    return Sample(rows=Rows(X=X), y=np.asarray(above, dtype=np.intp), n_levels=2)


def _margins(sample, **options):
    """(N,) H - theta of the two-level machine, times the label."""
    fit = resolve("redsvm", {"tol": 1e-9, "scaling": None} | options).fit(
        sample, np.random.default_rng(0)
    )
    return fit.rule.gaps(sample.rows)[:, 0] * np.where(sample.y > 0, 1.0, -1.0)


# The kernels


@pytest.mark.parametrize("kernel", KERNELS, ids=NAMES)
@pytest.mark.parametrize(("n", "D"), [(5, 1), (40, 2), (30, 12)])
def test_strictly_positive_definite_on_coefficients_that_sum_to_zero(kernel, n, D):
    """Random points differ in every coordinate: of n eigenvalues on the centred
    subspace all but one are positive.
    """
    X = _points(n, D)
    centring = np.eye(n) - 1.0 / n
    eigenvalues = np.linalg.eigvalsh(centring @ kernel(X, X) @ centring)
    assert abs(eigenvalues[0]) < 1e-12 * n
    assert eigenvalues[1] > 1e-4 / n
    assert np.linalg.eigvalsh(kernel(X, X))[0] < 0  # but not on all coefficients


def test_the_stump_kernel_is_the_integral_of_stumps():
    """Definition 5.2: sum over directions and coordinates of 1/4 sign(x - a) sign(x' -
    a), integrated over [-2, 3].
    """
    x, z = _points(2, 3, seed=1)
    low = -2.0
    high = 3.0
    steps = 200_000
    alpha = low + (np.arange(steps) + 0.5) * (high - low) / steps
    signs = np.sign(x[:, None] - alpha) * np.sign(z[:, None] - alpha)
    integral = 2 * 0.25 * signs.mean() * 3 * (high - low)
    constant = 0.5 * 3 * (high - low)
    assert integral == pytest.approx(
        constant + Stump()(x[None], z[None])[0, 0], abs=1e-4
    )


def test_the_perceptron_kernel_is_the_integral_of_perceptrons():
    """Definition 5.4 in the plane, over unit vectors and biases in [-R, R]: mu^2 = 1 /
    (2 Xi), Delta = Theta R / Xi.
    """
    x, z = _points(2, 2, seed=1)
    R = 2.0
    m = 2000
    angle = (np.arange(m) + 0.5) * 2 * np.pi / m
    u = np.stack([np.cos(angle), np.sin(angle)])
    alpha = -R + (np.arange(m) + 0.5) * 2 * R / m
    signs = np.sign((x @ u)[:, None] - alpha) * np.sign((z @ u)[:, None] - alpha)
    Theta = 2 * np.pi
    Xi = 4.0
    integral = signs.mean() * (2 * np.pi) * (2 * R) / (2 * Xi)
    assert integral == pytest.approx(
        Theta * R / Xi + Perceptron()(x[None], z[None])[0, 0], abs=1e-3
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=NAMES)
def test_the_constant_of_the_kernel_may_be_dropped(kernel):
    X = _points(40, 2)
    above = np.random.default_rng(2).integers(0, 2, 40)
    gram = kernel(X, X)
    plain, lifted = (
        _margins(Sample(rows=Rows(X=G), y=above, n_levels=2), kernel=Precomputed())
        for G in (gram, gram + 7.0)
    )
    np.testing.assert_allclose(plain, lifted, atol=1e-6)


# Dichotomies


@pytest.mark.parametrize("kernel", NAMES)
def test_every_dichotomy_of_six_points(kernel):
    """Theorems 5.3 and 5.5: points that differ (in one coordinate all of them) are
    separated whatever their labels.
    """
    X = _points(6, 2, seed=4)
    for above in product([0, 1], repeat=6):
        if 0 < sum(above) < 6:
            assert (_margins(_binary(X, above), kernel=kernel, C=HARD) > 0.99).all()


@pytest.mark.parametrize("kernel", NAMES)
def test_random_labels_are_separated_from_some_C_on(kernel):
    """And beyond that C the machine stays the same; before it, it makes errors."""
    X = _points(50, 3, seed=5)
    above = np.random.default_rng(6).integers(0, 2, 50)
    sample = _binary(X, above)
    soft, hard, harder = (
        _margins(sample, kernel=kernel, C=C) for C in (0.01, HARD, 16 * HARD)
    )
    assert (soft <= 0).any()
    assert (hard > 0.999).all()
    np.testing.assert_allclose(hard, harder, atol=1e-3)


def test_one_coordinate_without_ties_is_enough_for_stumps():
    X = np.column_stack([np.arange(8.0), np.zeros(8)])
    assert (_margins(_binary(X, np.arange(8) % 2), kernel="stump", C=HARD) > 0.99).all()


def test_stumps_cannot_part_the_corners_of_a_square():
    """All coordinates tie, the condition of theorem 5.3 fails, and so does the
    dichotomy; perceptrons have theirs.
    """
    corners = np.array(list(product([-1.0, 1.0], repeat=2)))
    sample = _binary(corners, [0, 1, 1, 0])
    assert (_margins(sample, kernel="stump", C=HARD) <= 1e-6).all()
    assert (_margins(sample, kernel="perceptron", C=HARD) > 0.99).all()


def test_nothing_parts_equal_points():
    X = np.repeat(_points(3, 2), 2, axis=0)
    assert (_margins(_binary(X, [0, 1] * 3), kernel="perceptron", C=HARD) <= 1e-6).all()


# SVM-Stump and SVM-Perc


@pytest.mark.parametrize("kernel", KERNELS, ids=NAMES)
@pytest.mark.parametrize("name", TWO_LEVELS)
def test_two_levels_are_one_machine(name, kernel):
    """SVM-Stump and SVM-Perc are every method of the family for K = 2, and LIBSVM's
    machine.
    """
    X = _points(60, 3, seed=7)
    above = (
        X @ [1.0, -1.0, 0.5] + np.random.default_rng(8).normal(0, 0.5, 60) > 0
    ).astype(np.intp)
    sample = _binary(X, above)
    new = Rows(X=_points(100, 3, seed=9))
    fit = resolve(name, {"tol": 1e-9, "scaling": None, "kernel": kernel, "C": 2.0}).fit(
        sample, np.random.default_rng(0)
    )
    other = (
        SVC(kernel="precomputed", C=2.0, tol=1e-8)
        .fit(kernel(X, X), above)
        .decision_function(kernel(new.X, X))
    )
    np.testing.assert_array_equal(fit.rule.codes(new), other > 0)
    if hasattr(fit.rule, "gaps"):
        np.testing.assert_allclose(fit.rule.gaps(new)[:, 0], other, atol=1e-4)
