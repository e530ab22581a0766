"""SVOR-IMC: support vector ordinal regression with implicit constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .shared.thresholded import ThresholdedSVM


@dataclass(frozen=True, kw_only=True, repr=False)
class SVORIMC(ThresholdedSVM):
    """Support vector ordinal regression whose thresholds come out ordered [Chu & Keerthi 2007; Lin 2008, sec. 4.2.1].

    Minimises 1/2 |v|^2 + C sum_nk [1 - Y_nk (<v, phi(x_n)> - theta_k)]_+ with Y_nk = +1 where y_n > k, else -1: RED-SVM
    with the absolute cost and free thresholds. Under another cost the terms weigh |c_n[k+1] - c_n[k]|, and where it is
    not convex theta_1 <= ... <= theta_{K-1} is a constraint.

    Parameters
    ----------
    C : float, sequence of floats or "cv"
        Price of a violated margin; also inf, the hard margin: every row on its side of all thresholds by a margin of 1.
    kernel, cost, scaling, loss, solver, tol, folds, n_jobs
        See `ordstat.methods.shared.thresholded.ThresholdedSVM` and `ordstat.methods.shared.selection.CrossValidated`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> SVORIMC(C=10, kernel="gaussian")
    SVORIMC(C=10.0, kernel='gaussian')
    """

    hard: ClassVar[bool] = True

    def penalty_scale(self) -> float:
        return np.inf
