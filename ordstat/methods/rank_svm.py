"""The support vector machine on pairs of rows, with rank boundaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .._typing import FloatArray
from ..assess.bounds import MarginBounds, preference_bounds
from ..checks import one_of
from ..model.fit import BallGeometry, Fit, Geometry
from ..model.sample import Sample
from ..solvers.cross_validation import Route
from ..solvers.gram import Gram
from ..solvers.pairs.problem import PAIR_LOSSES, PairCandidate, PairOutcome, PairProblem
from ..solvers.pairs.routes import PAIR_SOLVERS
from ..solvers.svm.restricted import RestrictedGram
from .shared.svm import KernelMachine


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
        See `ordstat.methods.shared.selection.CrossValidated`. C is the price of a violated margin of one pair. A row
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

    loss: str = "hinge"
    solver: str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("loss", self.loss, PAIR_LOSSES, of=self)
        one_of("solver", self.solver, PAIR_SOLVERS, of=self)

    def candidate(self, used: Sample, gram: Gram, costs: FloatArray) -> PairCandidate:
        return PairCandidate(
            gram=gram, y=used.y, costs=costs, case_weights=used.case_weights, loss=PAIR_LOSSES[self.loss]
        )

    def matrices(self, usual: float) -> float:
        """Pairs of rows are listed beside the kernel matrix."""
        return usual + 2.5

    def route(self, gram: Gram) -> Route:
        return PAIR_SOLVERS["cvxpy" if isinstance(gram, RestrictedGram) else self.solver]

    def own_facts(self, problem: PairProblem, outcome: PairOutcome) -> tuple[tuple[str, Any], ...]:
        return (
            ("Pairs", f"{problem.n_pairs} of different rank"),
            ("Loss", self.loss.replace("_", " ")),
            ("Boundaries", outcome.solution.boundaries.how),
        )

    def extra_bounds(self, sample: Sample, fit: Fit, geometry: Geometry, delta: float) -> MarginBounds:
        """Theorem 7.2 for the risk of a pair in the wrong order."""
        return preference_bounds(fit.scores, cast(BallGeometry, geometry), sample, delta)
