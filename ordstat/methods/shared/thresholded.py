"""What the thresholded support vector machines share: the extended problem and its solvers.

They differ in the penalty of the thresholds and in whether an order of them is a constraint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._typing import FloatArray
from ...checks import one_of
from ...exceptions import OptionError
from ...model.costs import is_convex, require_v_shaped, sample_costs
from ...model.reduction.extended import extend
from ...model.sample import Sample
from ...solvers.gram import Gram
from ...solvers.svm.candidate import ThresholdedCandidate
from ...solvers.svm.dual import ExtendedDual, Outcome
from ...solvers.svm.hard_margin import HardMargin
from ...solvers.svm.restricted import RestrictedGram
from ...solvers.svm.routes import LOSSES, SOLVERS
from .svm import KernelMachine


@dataclass(frozen=True, kw_only=True, repr=False)
class ThresholdedSVM(KernelMachine):
    """Base of the machines that minimise

    1/2 |v|^2 + |theta|^2 / (2 gamma^2) + C sum_nk W_nk [1 - Y_nk (<v, phi(x_n)> + b - theta_k)]_+ .

    A concrete class says what gamma is (inf: theta free) and when the order of theta is a constraint.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}
        The squared hinge takes a linear kernel: Newton's method, a million rows in seconds.
    solver : {"auto", "coordinate", "interior-point", "cvxpy"}
        Solver of the hinge; the squared hinge has "auto" and "cvxpy".
    C : float, sequence of floats, "cv" or "bound"
        "bound" takes the value of 2^-17, 2^-15, ..., 2^3 with the smallest bound of the expected cost, from the rows of
        the fit alone (`ordstat.assess.pac_bayes`); the choice has no price. Small values win, because a bound asks for
        more of a ranker than cross-validation does: the error of new rows is often larger than after C="cv".
    kernel, cost, scaling, tol, folds, n_jobs, and C
        See `ordstat.methods.shared.selection.CrossValidated`.

    Raises
    ------
    OptionError
        A value outside these.
    """

    loss: str = "hinge"
    solver: str = "auto"

    bounded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("loss", self.loss, LOSSES, of=self)
        one_of("solver", self.solver, SOLVERS, of=self)
        if self.loss != "hinge":
            self._check_loss()

    def _check_loss(self) -> None:
        if not self.similarity.linear:
            raise OptionError(f"loss={self.loss!r} needs kernel='linear'; got kernel={self.kernel!r}.")
        if self.solver not in LOSSES[self.loss]:
            names = ", ".join(repr(name) for name in LOSSES[self.loss])
            raise OptionError(f"loss={self.loss!r} has the solvers {names}; got solver={self.solver!r}.")
        if np.isinf(self.C if isinstance(self.C, float) else 1.0):
            raise OptionError(f"loss={self.loss!r} needs a finite C: a hard margin has no loss.")

    @property
    def factored(self) -> bool:
        return self.loss != "hinge"

    def penalty_scale(self) -> float:
        """gamma; inf leaves the thresholds free."""
        raise TypeError(f"{type(self).__name__} defines no penalty of the thresholds")

    def constrains_order(self, costs: FloatArray) -> bool:
        """Whether theta_1 <= ... <= theta_{K-1} has to be a constraint under these costs (N, K)."""
        return not is_convex(costs)

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method does not support, or costs are not V-shaped."""
        super().check(sample)
        require_v_shaped(sample_costs(self.cost_matrix, sample), sample.y, type(self).__name__)

    def candidate(self, used: Sample, gram: Gram, costs: FloatArray) -> ThresholdedCandidate:
        return ThresholdedCandidate(
            gram=gram,
            extended=extend(used.y, costs, used.case_weights),
            costs=costs,
            case_weights=used.case_weights,
            gamma=self.penalty_scale(),
            ordered=self.constrains_order(costs),
        )

    def route(self, gram: Gram) -> Any:
        # Coefficients under restrictions are no linear function of the dual variables: cvxpy alone takes them.
        return LOSSES[self.loss]["cvxpy" if isinstance(gram, RestrictedGram) else self.solver]

    def solved(self, problem: ExtendedDual, gram: Gram, C: float, rng: np.random.Generator) -> Outcome:
        if np.isinf(C):
            return HardMargin(self.route(gram), problem, rng).solve(self.tol)
        return super().solved(problem, gram, C, rng)  # type: ignore[return-value]

    def own_facts(self, problem: ExtendedDual, outcome: Outcome) -> tuple[tuple[str, Any], ...]:
        return (
            ("Loss", self.loss.replace("_", " ")),
            ("Thresholds", "free" if problem.free else f"penalised, threshold_gamma = {problem.gamma:g}"),
            ("Threshold order", "constrained" if problem.ordered else "implied by the convex cost"),
        )
