"""Every kernel: symmetric, definite where it should be, exact for near rows, and
rebuilt by its repr.
"""

import numpy as np
import pytest
from mpmath import mp, mpf

from ordstat import (
    Gaussian,
    Laplacian,
    Linear,
    Perceptron,
    Polynomial,
    Precomputed,
    Stump,
    kernels,
)
from ordstat.exceptions import DataError, OptionError
from ordstat.formula.row_blocks import row_blocks


def cauchy(X, Z):
    return 1.0 / (1.0 + ((X[:, None] - Z) ** 2).sum(axis=2))


#: Each kernel with its definition for one pair of rows.
DEFINITIONS = {
    Perceptron(): lambda x, z: -np.sqrt(((x - z) ** 2).sum()),
    Stump(): lambda x, z: -np.abs(x - z).sum(),
    Gaussian(): lambda x, z: np.exp(-((x - z) ** 2).sum() / x.size),
    Gaussian(gamma=2.0): lambda x, z: np.exp(-2.0 * ((x - z) ** 2).sum()),
    Laplacian(gamma=0.3): lambda x, z: np.exp(-0.3 * np.abs(x - z).sum()),
    Polynomial(degree=3, gamma=0.5, coef0=2.0): lambda x, z: (0.5 * x @ z + 2.0) ** 3,
    Linear(): lambda x, z: x @ z,
    kernels.Custom(cauchy): lambda x, z: 1.0 / (1.0 + ((x - z) ** 2).sum()),
}


def _name(kernel):
    """Without the address that a function's repr shows: every process of a test run has
    its own.
    """
    return repr(kernel).partition(" at 0x")[0]


ALL = pytest.mark.parametrize("kernel", DEFINITIONS, ids=_name)


def _rows(n, d=4, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, size=(n, d))


@ALL
def test_values_are_the_definition(kernel):
    X = _rows(7)
    Z = _rows(5, seed=1)
    expected = [[DEFINITIONS[kernel](x, z) for z in Z] for x in X]
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12, atol=1e-13)


@ALL
def test_gram_is_symmetric_and_definite(kernel):
    X = _rows(60)
    X[7] = X[3]
    gram = kernel.gram(X, np.arange(60))
    np.testing.assert_array_equal(gram, gram.T)
    centre = np.eye(60) - 1.0 / 60
    smallest = np.linalg.eigvalsh(centre @ gram @ centre)[0]
    assert smallest > -1e-12 * 60
    if not kernel.conditionally_definite:
        assert np.linalg.eigvalsh(gram)[0] > -1e-11 * np.trace(gram)


@ALL
def test_diagonal_is_the_squared_length_of_the_definite_form(kernel):
    """k0(x, z) = k(x, z) - k(x, o) - k(o, z) + k(o, o), or k itself; |phi(x)|^2 <=
    radius inside the box.
    """
    X = _rows(20)
    zero = np.zeros((1, 4))
    form = kernel(X, X)
    if kernel.conditionally_definite:
        at = kernel(X, zero)[:, 0]
        form = form - at[:, None] - at + kernel(zero, zero)[0, 0]
        np.testing.assert_allclose(kernel.origin(X), at, atol=1e-12)
    else:
        np.testing.assert_array_equal(kernel.origin(X), np.zeros(20))
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(form), atol=1e-12)
    assert np.linalg.eigvalsh(form)[0] > -1e-11
    assert (kernel.diagonal(X) <= kernel.radius(4) + 1e-12).all()


@pytest.mark.parametrize("kernel", [k for k in DEFINITIONS if k.trusted], ids=_name)
@pytest.mark.parametrize("half_width", [1.0, 2.5])
def test_radius_is_met_at_a_corner_of_the_box(kernel, half_width):
    corner = np.full((1, 4), half_width)
    assert kernel.radius(4, half_width) == pytest.approx(kernel.diagonal(corner)[0])


def test_distances_of_close_rows_keep_their_digits():
    """Against 50 digits: rows far from 0 and 1e-9 apart, where |x|^2 + |z|^2 - 2x'z has
    none left.
    """
    rng = np.random.default_rng(0)
    X = 1.0 + rng.normal(size=(6, 3))
    Z = X + 1e-9 * rng.normal(size=(6, 3))
    Z[0] = X[0]
    with mp.workdps(50):
        exact = [
            [
                float(sum((mpf(a) - mpf(b)) ** 2 for a, b in zip(x, z, strict=True)))
                for z in Z
            ]
            for x in X
        ]
    np.testing.assert_allclose(kernels.squared_euclidean(X, Z), exact, rtol=1e-8)
    assert kernels.squared_euclidean(X, Z)[0, 0] == 0.0
    np.testing.assert_array_equal(np.diagonal(Perceptron()(X, X)), np.zeros(6))
    np.testing.assert_array_equal(np.diagonal(Gaussian()(X, X)), np.ones(6))


def test_blocks_of_distances_agree_with_one_block(monkeypatch):
    X = _rows(30)
    Z = _rows(20, seed=2)
    X[:10] = Z[:10]
    whole = kernels.squared_euclidean(X, Z)
    monkeypatch.setattr(
        "ordstat.kernels.row_blocks", lambda n, *_: row_blocks(n, room=7)
    )
    np.testing.assert_allclose(
        kernels.squared_euclidean(X, Z), whole, rtol=1e-13, atol=1e-15
    )


@pytest.mark.parametrize("kernel", [k for k in DEFINITIONS if k.trusted], ids=_name)
def test_repr_rebuilds(kernel):
    assert eval(repr(kernel), vars(kernels)) == kernel
    assert hash(kernel) == hash(eval(repr(kernel), vars(kernels)))


@pytest.mark.parametrize("name", kernels.KERNELS)
def test_names(name):
    assert kernels.parse_kernel(name).name == name
    value = kernels.parse_kernel(name)
    assert kernels.parse_kernel(value) is value


def test_a_function_is_a_kernel():
    assert kernels.parse_kernel(cauchy) == kernels.Custom(cauchy)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: kernels.parse_kernel("radial"),
            ["'radial'", "'gaussian'", "'perceptron'", "function"],
        ),
        (lambda: kernels.parse_kernel(3), ["got 3"]),
        (lambda: Gaussian(gamma=0.0), ["gamma", "gaussian", "positive", "0.0"]),
        (lambda: Gaussian(gamma=np.inf), ["gamma", "inf"]),
        (lambda: Polynomial(degree=0), ["degree", "1 or more"]),
        (lambda: Polynomial(degree=2.5), ["degree", "2.5"]),
        (lambda: Polynomial(coef0=-1.0), ["coef0", "0 or more"]),
        (
            lambda: kernels.Custom(lambda X, Z: np.ones(3))(_rows(2), _rows(2)),
            ["(n, m)", "(3,)"],
        ),
        (
            lambda: kernels.Custom(len)(_rows(2), _rows(2)),
            ["kernel must be a function of X (n, D)", "it failed: len() takes"],
        ),
    ],
)
def test_wrong_settings_are_named(make, words):
    with pytest.raises(OptionError) as error:
        make()
    assert all(word in str(error.value) for word in words), str(error.value)


def test_precomputed_takes_a_square_matrix_and_its_columns():
    gram = Gaussian()(_rows(6), _rows(6))
    rows = np.array([0, 2, 5])
    np.testing.assert_array_equal(
        Precomputed().gram(gram, rows), gram[np.ix_(rows, rows)]
    )
    np.testing.assert_array_equal(
        Precomputed()(gram[:2], Precomputed().anchors(gram, rows)), gram[:2, rows]
    )
    with pytest.raises(DataError, match=r"square.*\(2, 6\)"):
        Precomputed().gram(gram[:2], np.arange(2))


def test_kernel_matrices_that_no_solver_can_use():
    gram = Gaussian()(_rows(6), _rows(6))
    rough = gram + 1e-9 * np.random.default_rng(0).normal(size=gram.shape)
    np.testing.assert_allclose(kernels.require_symmetric(rough), gram, atol=1e-8)
    lopsided = gram.copy()
    lopsided[1, 4] += 0.5
    with pytest.raises(
        DataError, match=r"not symmetric.*row 1.*row 4|not symmetric.*row 4.*row 1"
    ):
        kernels.require_symmetric(lopsided)
    gram[2, 3] = np.nan
    with pytest.raises(DataError, match="got nan for training rows 2 and 3"):
        kernels.require_finite(gram)
    kernels.require_definite(np.eye(4) - 0.25)
    with pytest.raises(DataError, match="eigenvalue -1"):
        kernels.require_definite(np.diag([1.0, 2.0, -1.0]))
