"""RED-SVM: ordinal ranking reduced to one weighted support vector machine."""

from __future__ import annotations

from dataclasses import dataclass

from ..checks import number
from .shared.thresholded import ThresholdedSVM


@dataclass(frozen=True, kw_only=True, repr=False)
class REDSVM(ThresholdedSVM):
    """Support vector ordinal ranking by reduction to binary classification [Lin 2008, eq. 4.8; Li & Lin 2007].

    Minimises 1/2 |v|^2 + |theta|^2 / (2 gamma^2) + C sum_nk W_nk [1 - Y_nk (<v, phi(x_n)> + b - theta_k)]_+ with
    Y_nk = +1 where y_n > k, else -1, W_nk = |c_n[k+1] - c_n[k]|, c_n the costs of row n times its case weight, and
    gamma the option `threshold_gamma`.
    Convex costs order the thresholds by themselves; under costs that are only V-shaped theta_1 <= ... <= theta_{K-1}
    is a constraint. With the absolute cost it is the oSVM of Cardoso & da Costa (2007), gamma their h.

    Parameters
    ----------
    threshold_gamma : float
        Scale of the thresholds' penalty, > 0; large values leave theta nearly free. The gamma of a kernel is another
        number, and goes with the kernel: kernel=Gaussian(gamma=0.5).
    C, kernel, cost, scaling, loss, solver, tol, folds, n_jobs
        See `ordstat.methods.shared.thresholded.ThresholdedSVM` and `ordstat.methods.shared.selection.CrossValidated`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> REDSVM(C=10)
    REDSVM(C=10.0)
    """

    threshold_gamma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._settle(threshold_gamma=number("threshold_gamma", self.threshold_gamma, above=0.0, of=self))

    def penalty_scale(self) -> float:
        return self.threshold_gamma
