"""Small ranking problems of known make for the tests of RED-SVM."""

import numpy as np
from seams import CostMatrix, Rows, Sample, extend

from ordstat import Gaussian, Laplacian, Linear, Perceptron, Polynomial, Stump
from ordstat.judging.costs import is_convex
from ordstat.svm.dual import ExtendedDual
from ordstat.svm.gram import DenseGram, centred

KERNELS = {
    "perceptron": Perceptron(),
    "stump": Stump(),
    "gaussian": Gaussian(gamma=0.7),
    "laplacian": Laplacian(gamma=0.7),
    "linear": Linear(),
    "polynomial": Polynomial(degree=2),
}
#: V-shaped, neither convex nor symmetric.
V_SHAPED = (
    (0.0, 2.0, 2.5, 2.5),
    (1.0, 0.0, 3.0, 3.5),
    (2.0, 0.5, 0.0, 1.0),
    (4.0, 3.5, 3.0, 0.0),
)
COSTS = {
    "absolute": "absolute",
    "classification": "classification",
    "squared": "squared",
    "matrix": V_SHAPED,
}


def rows(n, n_levels=4, n_columns=3, seed=0):
    """X in the box [-1, 1]^D and codes y: a smooth utility with noise, cut at its
    quantiles.
    """
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, n_columns))
    utility = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, -1] + 0.4 * rng.normal(size=n)
    y = np.searchsorted(
        np.quantile(utility, np.arange(1, n_levels) / n_levels), utility
    )
    return X, y.astype(np.intp)


def sample(X, y, n_levels=4, **more):
    return Sample(
        rows=Rows(X=np.ascontiguousarray(X, dtype=float)),
        y=y,
        n_levels=n_levels,
        **more,
    )


def problem(kernel, cost, n=50, weights=None, gamma=1.0, seed=0):
    X, y = rows(n, seed=seed)
    costs = CostMatrix.parse(cost).rows(y, 4)
    extended = extend(y, costs, np.ones(n) if weights is None else weights)
    gram, _ = centred(kernel(X, X))
    return ExtendedDual(
        gram=DenseGram(gram),
        labels=extended.labels,
        weights=extended.weights,
        gamma=gamma,
        ordered=not is_convex(costs),
    )
