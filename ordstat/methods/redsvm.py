"""RED-SVM: ordinal ranking reduced to one weighted support vector machine."""

from __future__ import annotations

from dataclasses import dataclass

from .base_svm import number
from .base_thresholded import ThresholdedSVM


@dataclass(frozen=True, kw_only=True, repr=False)
class REDSVM(ThresholdedSVM):
    """Support vector ordinal ranking by reduction to binary classification [Lin 2008, eq. 4.8; Li & Lin 2007].

    Minimises 1/2 |v|^2 + |theta|^2 / (2 gamma^2) + C sum_nk W_nk [1 - Y_nk (<v, phi(x_n)> + b - theta_k)]_+ with
    Y_nk = +1 where y_n > k, else -1, and W_nk = |c_n[k+1] - c_n[k]|, c_n the costs of row n times its case weight.
    Convex costs order the thresholds by themselves; under costs that are only V-shaped theta_1 <= ... <= theta_{K-1}
    is a constraint. With the absolute cost it is the oSVM of Cardoso & da Costa (2007), gamma their h.

    Parameters
    ----------
    C : float or "cv"
        Price of a violated margin, > 0 (kappa in the papers). "cv" chooses among 2^-17, 2^-15, ..., 2^3 by
        cross-validation of the fit's own cost, ties to the smaller.
    gamma : float
        Scale of the thresholds' penalty, > 0; large values leave theta nearly free.
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
    >>> REDSVM(C=10)
    REDSVM(C=10.0)
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gamma", number(self, "gamma", self.gamma))

    def penalty_scale(self) -> float:
        return self.gamma
