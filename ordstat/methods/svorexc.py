"""SVOR-EXC: support vector ordinal regression with explicit constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import FloatArray
from ..model.costs import CostField
from .base_thresholded import ThresholdedSVM


@dataclass(frozen=True, kw_only=True, repr=False)
class SVOREXC(ThresholdedSVM):
    """Support vector ordinal regression with ordered thresholds [Chu & Keerthi 2007; Lin 2008, sec. 4.2.1].

    Minimises 1/2 |v|^2 + C sum_n ([1 - <v, phi(x_n)> + theta_{y-1}]_+ + [1 + <v, phi(x_n)> - theta_y]_+) subject to
    theta_1 <= ... <= theta_{K-1}: every row bears on the two ends of its own interval, which is the classification
    cost. Under another V-shaped cost every threshold counts, with the weight |c_n[k+1] - c_n[k]|.

    Parameters
    ----------
    C : float or "cv"
        Price of a violated margin, > 0 (kappa in the papers). inf is the hard margin, the kernel ranking of Rajaram
        et al. (2003): every row inside its interval by a margin of 1. "cv" chooses among 2^-17, 2^-15, ..., 2^3 by
        cross-validation of the fit's own cost, ties to the smaller.
    kernel : str, Kernel or callable
        "perceptron" -|x - x'|_2, "stump" -|x - x'|_1, "gaussian", "laplacian", "polynomial", "linear",
        "precomputed"; a value such as Gaussian(gamma=0.5); or a function of (X, Z).
    cost : str or (K, K) array
        "absolute", "classification", "squared", or a matrix [true rank, predicted rank]; a row's own costs in the
        sample take its place.
    scaling : {"range", "standard", None}
        Columns to [-1, 1] on the training rows, to mean 0 and deviation 1, or as they are.
    loss : {"hinge", "squared_hinge"}
        The squared hinge takes a linear kernel: Newton's method, a million rows in seconds.
    solver : {"auto", "coordinate", "interior-point", "cvxpy"}
        Of the hinge; the squared hinge has "auto" and "cvxpy".
    tol : float
        Relative duality gap to reach, in (0, 1).
    folds : int
        Folds of C="cv", at least 2.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> SVOREXC(C=10)
    SVOREXC(C=10.0)
    """

    cost: CostField = "classification"

    hard: ClassVar[bool] = True

    def penalty_scale(self) -> float:
        return np.inf

    def constrains_order(self, costs: FloatArray) -> bool:
        return True
