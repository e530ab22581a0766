"""Support vector ordinal ranking with thresholds: RED-SVM, SVOR-IMC (implicit constraints), SVOR-EXC (explicit)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..checks import number
from ..model.costs import CostField
from .base import cost_option, option
from .shared.svm import KernelMachine


@dataclass(frozen=True, kw_only=True, repr=False)
class REDSVM(KernelMachine):
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
        See `ordstat.methods.shared.svm.KernelMachine` and `ordstat.methods.shared.selection.CrossValidated`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> REDSVM(C=10)
    REDSVM(C=10.0)
    """

    threshold_gamma: float = option(1.0, number, above=0.0)

    def penalty_scale(self) -> float:
        return self.threshold_gamma


@dataclass(frozen=True, kw_only=True, repr=False)
class SVORIMC(KernelMachine):
    """Support vector ordinal regression whose thresholds come out ordered [Chu & Keerthi 2007; Lin 2008, sec. 4.2.1].

    Minimises 1/2 |v|^2 + C sum_nk [1 - Y_nk (<v, phi(x_n)> - theta_k)]_+ with Y_nk = +1 where y_n > k, else -1: RED-SVM
    with the absolute cost and free thresholds. Under another cost the terms weigh |c_n[k+1] - c_n[k]|, and where it is
    not convex theta_1 <= ... <= theta_{K-1} is a constraint.

    Parameters
    ----------
    C : float, sequence of floats or "cv"
        Price of a violated margin; also inf, the hard margin: every row on its side of all thresholds by a margin of 1.
    kernel, cost, scaling, loss, solver, tol, folds, n_jobs
        See `ordstat.methods.shared.svm.KernelMachine` and `ordstat.methods.shared.selection.CrossValidated`.

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


@dataclass(frozen=True, kw_only=True, repr=False)
class SVOREXC(KernelMachine):
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
        See `ordstat.methods.shared.svm.KernelMachine` and `ordstat.methods.shared.selection.CrossValidated`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> SVOREXC(C=10)
    SVOREXC(C=10.0)
    """

    cost: CostField = cost_option("classification")

    hard: ClassVar[bool] = True
    explicit: ClassVar[bool] = True
