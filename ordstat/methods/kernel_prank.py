"""PRank in dual form, with any kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..model.fit import BallGeometry, Fit, Geometry
from ..model.online.weights import KernelDirection, OnlineMarginFit, Update
from ..model.rules import ThresholdRule
from ..model.sample import Sample
from ..solvers.online.dual import DualPRank, DualState
from .shared.kernel_online import DualWork, KernelOnlineMethod
from .shared.online_forms import Projecting


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelPRank(Projecting, KernelOnlineMethod):
    """PRank [Crammer & Singer 2005] on a sum of kernels, H(x) = sum_n beta_n k(x_n, x).

    A mistake yhat at row n adds y - yhat to beta_n and moves the thresholds between y and yhat by 1: `PRank` in the
    feature space of the kernel, and the same as `PRank` with kernel="linear".

    Parameters
    ----------
    kernel : str, Kernel or callable
        As for REDSVM. "perceptron" and "stump" count from the origin of the scaled columns: |x| + |x'| - |x - x'|.
    epochs, keep, margin, presentation, cost, scaling
        Those of every online ranker: see `ordstat.methods.shared.online.OnlineMethod`; margin > 0 needs convex costs.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> KernelPRank(kernel="gaussian")
    KernelPRank(kernel='gaussian')
    """

    def shape(self, n_levels: int) -> tuple[int, int]:
        return 1, n_levels - 1

    def learner(self, **state: Any) -> DualState:
        return DualPRank(**state)

    def fitted(self, update: Update, shared: dict[str, Any]) -> OnlineMarginFit:
        work: DualWork = update.work
        sums, b = self.kept(update)
        rule = ThresholdRule(KernelDirection(sums=sums, squared_norm=work.squared_norm(sums)), b)
        return OnlineMarginFit(
            rule=rule,
            scores=rule.scores(update.sample.rows),
            support=work.rows[work.moved] if work.earlier.seen == 0 else None,
            learned=update.learned,
            **self.described(update.learned, shared),
        )

    def geometry(self, sample: Sample, fit: Fit) -> Geometry | None:
        """Norms in the feature space of the scaled columns; None where nothing was learned."""
        rule = cast(ThresholdRule, fit.rule)
        potential = cast(KernelDirection, rule.potential)
        if potential.squared_norm == 0.0:
            return None
        kernel, Z = self.similarity, potential.sums.scaling(sample.X)
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
