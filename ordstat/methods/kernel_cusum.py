"""CuSum Rank in dual form, with any kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..model.online.weights import CumulativeVotes, OnlineVoteFit, Update
from ..model.rules import ScoreRule
from ..solvers.online.dual import DualCuSum, DualState
from .shared.kernel_online import KernelOnlineMethod
from .shared.online_forms import Cumulating


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelCuSumRank(Cumulating, KernelOnlineMethod):
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
        Those of every online ranker: see `ordstat.methods.shared.online.OnlineMethod`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> KernelCuSumRank(kernel="gaussian")
    KernelCuSumRank(kernel='gaussian')
    """

    def shape(self, n_levels: int) -> tuple[int, int]:
        return n_levels - 1, 0

    def learner(self, **state: Any) -> DualState:
        return DualCuSum(aggressive=self.aggressive, **state)

    def fitted(self, update: Update, shared: dict[str, Any]) -> OnlineVoteFit:
        sums, _ = self.kept(update)
        rule = ScoreRule(CumulativeVotes(gaps=sums, n_levels=update.sample.n_levels))
        return OnlineVoteFit(
            rule=rule,
            scores=rule.scores(update.sample.rows),
            learned=update.learned,
            **self.described(update.learned, shared),
        )
