"""SVOR-EXC: support vector ordinal regression with explicit constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import FloatArray
from ..model.costs import CostField
from .shared.thresholded import ThresholdedSVM


@dataclass(frozen=True, kw_only=True, repr=False)
class SVOREXC(ThresholdedSVM):
    """Support vector ordinal regression with ordered thresholds [Chu & Keerthi 2007; Lin 2008, sec. 4.2.1].

    Minimises 1/2 |v|^2 + C sum_n ([1 - <v, phi(x_n)> + theta_{y-1}]_+ + [1 + <v, phi(x_n)> - theta_y]_+) subject to
    theta_1 <= ... <= theta_{K-1}: every row bears on the two ends of its own interval, which is the classification
    cost. Under another V-shaped cost every threshold counts, with the weight |c_n[k+1] - c_n[k]|.

    Parameters
    ----------
    C : float, sequence of floats or "cv"
        Price of a violated margin; also inf, the hard margin, which is the kernel ranking of Rajaram et al. (2003):
        every row inside its interval by a margin of 1.
    kernel, cost, scaling, loss, solver, tol, folds, n_jobs
        See `ordstat.methods.shared.thresholded.ThresholdedSVM` and `ordstat.methods.shared.selection.CrossValidated`.

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
