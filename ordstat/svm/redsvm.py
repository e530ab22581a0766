"""Support vector ordinal ranking: RED-SVM, SVOR with implicit and with explicit constraints, and a machine on pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from .._typing import FloatArray
from ..checks import number
from ..fit import BallGeometry, Fit, Geometry
from ..formula.sample import Sample
from ..judging.costs import CostField
from ..judging.margins import MarginBounds, preference_bounds
from ..method import CHU_KEERTHI, LI_LIN, LIN, Needs, cost_option, option
from .gram import Gram
from .machine import KernelMachine
from .pairs import PAIR_LOSSES, PAIR_SOLVERS, PairCandidate, PairProblem, PairSolution
from .solution import Outcome, Route


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
        See `ordstat.svm.machine.KernelMachine` and `ordstat.judging.selection.CrossValidated`.

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
    papers: ClassVar[tuple[str, ...]] = (LI_LIN, LIN)

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
    C : float, sequence of floats, "cv" or "bound"
        Price of a violated margin; also inf, the hard margin: every row on its side of all thresholds by a margin of 1.
    kernel, cost, scaling, loss, solver, tol, folds, n_jobs
        See `ordstat.svm.machine.KernelMachine` and `ordstat.judging.selection.CrossValidated`.

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
    papers: ClassVar[tuple[str, ...]] = (CHU_KEERTHI, LIN)


@dataclass(frozen=True, kw_only=True, repr=False)
class SVOREXC(KernelMachine):
    """Support vector ordinal regression with ordered thresholds [Chu & Keerthi 2007; Lin 2008, sec. 4.2.1].

    Minimises 1/2 |v|^2 + C sum_n ([1 - <v, phi(x_n)> + theta_{y-1}]_+ + [1 + <v, phi(x_n)> - theta_y]_+) subject to
    theta_1 <= ... <= theta_{K-1}: every row bears on the two ends of its own interval, which is the classification
    cost. Under another V-shaped cost every threshold counts, with the weight |c_n[k+1] - c_n[k]|.

    Parameters
    ----------
    C : float, sequence of floats, "cv" or "bound"
        Price of a violated margin; also inf, the hard margin, which is the kernel ranking of Rajaram et al. (2003):
        every row inside its interval by a margin of 1.
    kernel, cost, scaling, loss, solver, tol, folds, n_jobs
        See `ordstat.svm.machine.KernelMachine` and `ordstat.judging.selection.CrossValidated`.

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
    papers: ClassVar[tuple[str, ...]] = (CHU_KEERTHI, LIN)


@dataclass(frozen=True, kw_only=True, repr=False)
class RankBoundarySVM(KernelMachine):
    """Large margin rank boundaries: a potential learned from pairs of rows [Herbrich, Graepel & Obermayer 2000].

    Minimises 1/2 |v|^2 + C sum over pairs of w_i w_j [1 - (<v, phi(x_i)> - <v, phi(x_j)>)]_+, over all pairs with
    y_i > y_j, w the case weights. The boundaries between ranks are the middles of free support pairs (eq. 7.26-7.28);
    where there are none, or they are out of order, the thresholds of least training cost. The summary says which.

    Parameters
    ----------
    cost : str or (K, K) array
        What chooses among boundaries, and C: "absolute", "classification", "squared", or a matrix [true rank,
        predicted rank]; a row's own costs in the sample take its place. The potential does not depend on it.
    loss : {"hinge", "squared_hinge"}
        The squared hinge with a linear kernel counts pairs instead of listing them, for a million rows and more.
    solver : {"auto", "cvxpy"}
        "auto" is coordinate ascent over pairs, or Newton's method where pairs can be counted.
    C, kernel, scaling, tol, folds, n_jobs
        See `ordstat.judging.selection.CrossValidated`. C is the price of a violated margin of one pair. A row
        is in as many pairs as there are rows of other ranks, so that C=1 here is of the order of C=N where rows are
        priced, and a fit without a training error is to be expected; C="cv" looks down to 2^-17, or give smaller values
        as a list.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> RankBoundarySVM(C=10, kernel="linear", loss="squared_hinge")
    RankBoundarySVM(C=10.0, kernel='linear', loss='squared_hinge')
    """

    needs: ClassVar[Needs] = Needs(row_costs=True, cluster=True, restrictions=True)
    routes: ClassVar[Mapping[str, Mapping[str, Route]]] = dict.fromkeys(PAIR_LOSSES, PAIR_SOLVERS)
    bounded: ClassVar[bool] = False
    papers: ClassVar[tuple[str, ...]] = (
        "Herbrich, R., Graepel, T., & Obermayer, K. (2000). Large margin rank boundaries for ordinal regression. "
        "Advances in Large Margin Classifiers, 115-132. MIT Press.",
    )

    @property
    def factored(self) -> bool:
        return False

    def candidate(self, used: Sample, gram: Gram, costs: FloatArray) -> PairCandidate:
        return PairCandidate(gram=gram, y=used.y, costs=costs, case_weights=used.case_weights, loss=self.loss)

    def own_facts(self, problem: PairProblem, outcome: Outcome[PairSolution]) -> tuple[tuple[str, Any], ...]:
        return (
            ("Pairs", f"{problem.n_pairs} of different rank"),
            ("Loss", self.loss.replace("_", " ")),
            ("Boundaries", outcome.solution.boundaries),
        )

    def extra_bounds(self, sample: Sample, fit: Fit, geometry: Geometry, delta: float) -> MarginBounds:
        """Theorem 7.2 for the risk of a pair in the wrong order."""
        return preference_bounds(fit.scores, cast(BallGeometry, geometry), sample, delta)
