"""PRank in dual form, with any kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray
from ..model.examples import Examples
from ..model.fit import BallGeometry, Fit, Geometry
from ..model.kernels import parse_kernel
from ..model.online import KernelDirection, Lesson, OnlineMarginFit
from ..model.rules import ThresholdRule
from ..model.sample import Sample
from ..results.online import OnlineMarginResults
from ..solvers.online_dual import DualPRank, DualState
from ..solvers.rank_margin import prank_margin
from .base_kernel_online import DualWork, KernelOnlineMethod
from .base_online import require_convex


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelPRank(KernelOnlineMethod):
    """PRank [Crammer & Singer 2005] on a sum of kernels, H(x) = sum_n beta_n k(x_n, x).

    A mistake yhat at row n adds y - yhat to beta_n and moves the thresholds between y and yhat by 1: `PRank` in the
    feature space of the kernel, and the same as `PRank` with kernel="linear".

    Parameters
    ----------
    kernel : str, Kernel or callable
        As for REDSVM. "perceptron" and "stump" count from the origin of the scaled columns: |x| + |x'| - |x - x'|.
    epochs, margin, presentation, cost, scaling
        As for `PRank`.
    keep : {"mean", "last"}
        The hypothesis used: the mean of those after each example, or the last one.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> KernelPRank(kernel="gaussian")
    KernelPRank(kernel='gaussian')
    """

    results_class: ClassVar[type[Any]] = OnlineMarginResults

    def check_costs(self, costs: FloatArray) -> None:
        require_convex(self, costs)

    def shape(self, n_levels: int) -> tuple[int, int]:
        return 1, n_levels - 1

    def learner(self, **state: Any) -> DualState:
        return DualPRank(**state)

    def squared_radius(self, largest: float, n_levels: int) -> float:
        return (n_levels - 1) * largest + 1.0

    def separation(self, examples: Examples, fit: Fit) -> tuple[float, float | None]:
        Z = self.features(examples, fit)
        return float(np.einsum("nd,nd->n", Z, Z).max()), prank_margin(Z, examples.y, examples.n_levels)

    def fitted(self, lesson: Lesson, shared: dict[str, Any]) -> OnlineMarginFit:
        work: DualWork = lesson.work
        sums, b = self.kept(lesson)
        rule = ThresholdRule(KernelDirection(sums=sums, squared_norm=work.squared_norm(sums)), b)
        return OnlineMarginFit(
            rule=rule,
            scores=rule.scores(lesson.sample.rows),
            support=work.rows[work.moved] if work.earlier.seen == 0 else None,
            learned=lesson.learned,
            **self.described(lesson.learned, shared),
        )

    def geometry(self, sample: Sample, fit: Fit) -> Geometry | None:
        """Norms in the feature space of the scaled columns; None where nothing was learned."""
        rule = cast(ThresholdRule, fit.rule)
        potential = cast(KernelDirection, rule.potential)
        if potential.squared_norm == 0.0:
            return None
        kernel, Z = parse_kernel(self.kernel), potential.sums.scaling(sample.X)
        lengths = kernel.diagonal(Z)
        largest = kernel.radius(Z.shape[1], 1.0 if self.scaling == "range" else np.inf)
        if not np.isfinite(largest):
            largest = float(lengths.max())
        return BallGeometry(
            norm=float(np.sqrt(potential.squared_norm)),
            squared_lengths=lengths,
            theta=rule.theta,
            radius=float(np.sqrt(largest + 1.0)),
        )
