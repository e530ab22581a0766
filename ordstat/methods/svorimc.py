"""SVOR-IMC: support vector ordinal regression with implicit constraints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base_thresholded import ThresholdedSVM


@dataclass(frozen=True, kw_only=True, repr=False)
class SVORIMC(ThresholdedSVM):
    """Support vector ordinal regression whose thresholds come out ordered [Chu & Keerthi 2007; Lin 2008, sec. 4.2.1].

    Minimises 1/2 |v|^2 + C sum_nk [1 - Y_nk (<v, phi(x_n)> - theta_k)]_+ with Y_nk = +1 where y_n > k, else -1: RED-SVM
    with the absolute cost and free thresholds. Under another cost the terms weigh |c_n[k+1] - c_n[k]|, and where it is
    not convex theta_1 <= ... <= theta_{K-1} is a constraint.

    Parameters
    ----------
    C : float or "cv"
        Price of a violated margin, > 0 (kappa in the papers). "cv" chooses among 2^-17, 2^-15, ..., 2^3 by
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
    >>> SVORIMC(C=10, kernel="gaussian")
    SVORIMC(C=10.0, kernel='gaussian')
    """

    def penalty_scale(self) -> float:
        return np.inf
