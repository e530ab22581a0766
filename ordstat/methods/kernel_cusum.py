"""CuSum Rank in dual form, with any kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..model.examples import Examples
from ..model.fit import Fit
from ..model.online import CumulativeVotes, Lesson, OnlineVoteFit
from ..model.rules import ScoreRule
from ..results.online import OnlineVoteResults
from ..solvers.online_dual import DualCuSum, DualState
from ..solvers.rank_margin import cusum_margin
from .base_kernel_online import KernelOnlineMethod
from .base_online import UPDATES
from .base_options import one_of


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelCuSumRank(KernelOnlineMethod):
    """CuSum Rank on sums of kernels: the dual structured perceptron [Milidiú & Rocha, fig. 5].

    rank(x) = argmax_k sum_{j<=k} sum_n beta_nj (k(x_n, x) + 1). A mistake yhat at row n adds tau to beta_nj for the j
    between y and yhat (figure 5 leaves out the index n): `CuSumRank` in the feature space of the kernel, and the same
    as `CuSumRank` with kernel="linear".

    Parameters
    ----------
    kernel : str, Kernel or callable
        As for REDSVM. "perceptron" and "stump" count from the origin of the scaled columns: |x| + |x'| - |x - x'|.
    update : {"perceptron", "passive-aggressive"}
        tau = +-1, or so far that the true rank leads by its cost.
    epochs, keep, margin, presentation, cost, scaling
        As for `CuSumRank`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> KernelCuSumRank(kernel="gaussian")
    KernelCuSumRank(kernel='gaussian')
    """

    update: str = "perceptron"

    results_class: ClassVar[type[Any]] = OnlineVoteResults
    constant: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self, "update", self.update, UPDATES)

    @property
    def aggressive(self) -> bool:
        return self.update == "passive-aggressive"

    def shape(self, n_levels: int) -> tuple[int, int]:
        return n_levels - 1, 0

    def learner(self, **state: Any) -> DualState:
        return DualCuSum(aggressive=self.aggressive, **state)

    def separation(self, examples: Examples, fit: Fit) -> tuple[float, float | None]:
        Z = self.features(examples, fit)
        return float(np.einsum("nd,nd->n", Z, Z).max()), cusum_margin(Z, examples.y, examples.n_levels)

    def fitted(self, lesson: Lesson, shared: dict[str, Any]) -> OnlineVoteFit:
        sums, _ = self.kept(lesson)
        rule = ScoreRule(CumulativeVotes(gaps=sums, n_levels=lesson.sample.n_levels))
        return OnlineVoteFit(
            rule=rule,
            scores=rule.scores(lesson.sample.rows),
            learned=lesson.learned,
            **self.described(lesson.learned, shared),
        )
