"""PRank and CuSum Rank: rankers that learn one example after another, on columns or on a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray, IntArray
from ..checks import one_of
from ..exceptions import DataError
from ..fit import LinearPotential, ScoreRule, ThresholdRule
from ..judging.costs import is_convex
from ..judging.selection import scaling_of_kernel
from ..method import CRAMMER, MILIDIU, option
from ..svm.kernels import Kernel
from .examples import CumulativeVotes, KernelDirection, KernelSums, LinearGaps, OnlineMarginFit, OnlineVoteFit, Update
from .kernel import DualWork, OnKernel
from .method import OnlineMethod
from .perceptron import CuSumState, DualCuSum, DualPRank, DualState, PRankState, cusum_margin, prank_margin
from .results import OnlineMarginResults, OnlineVoteResults

#: Steps of an update of CuSum Rank.
UPDATES = ("perceptron", "passive-aggressive")


class Projecting:
    """PRank, on columns or on a kernel: one direction and ordered thresholds.

    Phi(x, y) = (y x, -1 for each of the y thresholds below).
    """

    margin: float

    results_class: ClassVar[type[Any]] = OnlineMarginResults
    fit_class: ClassVar[type[OnlineMarginFit | OnlineVoteFit]] = OnlineMarginFit

    def check_costs(self, costs: FloatArray) -> None:
        """DataError where a margin meets costs that would put thresholds out of order."""
        if self.margin and not is_convex(costs):
            raise DataError(
                f"{type(self).__name__} with margin > 0 needs convex costs, for thresholds to stay in order. Change "
                "them, or set margin=0."
            )

    def squared_radius(self, largest: float, n_levels: int) -> float:
        return (n_levels - 1) * largest + 1.0

    def best_margin(self, Z: FloatArray, y: IntArray, n_levels: int) -> float | None:
        return prank_margin(Z, y, n_levels)


@dataclass(frozen=True, kw_only=True, repr=False)
class Cumulating:
    """CuSum Rank, on columns or on a kernel: weights for every step of the ranks.

    Phi(x, y) = (x once for each of the y steps below).

    update : {"perceptron", "passive-aggressive"}
        A mistake moves the weight vectors of the steps between y and yhat by +-x, or so far that the true rank leads by
        the cost of yhat.
    """

    update: str = option("perceptron", one_of, UPDATES)

    results_class: ClassVar[type[Any]] = OnlineVoteResults
    fit_class: ClassVar[type[OnlineMarginFit | OnlineVoteFit]] = OnlineVoteFit
    constant: ClassVar[float] = 1.0

    @property
    def aggressive(self) -> bool:
        return self.update == "passive-aggressive"

    def best_margin(self, Z: FloatArray, y: IntArray, n_levels: int) -> float | None:
        return cusum_margin(Z, y, n_levels)

    def gaps(self, update: Update) -> LinearGaps | KernelSums:
        """The score of every step."""
        raise TypeError(f"{type(self).__name__} defines no score")

    def ruled(self, update: Update) -> tuple[ScoreRule, dict[str, Any]]:
        return ScoreRule(CumulativeVotes(gaps=self.gaps(update), n_levels=update.sample.n_levels)), {}


@dataclass(frozen=True, kw_only=True, repr=False)
class PRank(Projecting, OnlineMethod):
    """Ranking by projecting [Crammer & Singer 2005; Milidiú & Rocha, sec. 6].

    rank(x) = 1 + #{k : u'x > b_k}, ties to the lower rank. A mistake yhat moves u by (y - yhat) x, and the thresholds
    between y and yhat by 1 each, which keeps them in order. As a structured perceptron it answers
    argmax_k sum_{j<k} (u'x - b_j) + margin c[k]. method="siprank" stands for presentation="cost" with keep="pocket":
    Lin (2008, sec. 4.3.2) names SiPrank without a definition, and this is ordstat's.

    Parameters
    ----------
    epochs, presentation, cost, scaling
        Those of every online ranker: see `ordstat.online.method.OnlineMethod`.
    keep : {"mean", "last", "pocket"}
        The hypothesis used: the mean of those after each example (averaged perceptron), the last one, or the one in
        the pocket: whenever a run of exact hits is longer than that of the pocket, and after every pass, the hypothesis
        takes its place if its total cost is lower (pocket with ratchet).
    margin : float
        Learn until the true rank leads by margin times the cost of any other, >= 0; more than 0 needs convex costs.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> PRank(epochs=5)
    PRank(epochs=5)
    """

    keeps: ClassVar[tuple[str, ...]] = ("mean", "last", "pocket")
    papers: ClassVar[tuple[str, ...]] = (CRAMMER, MILIDIU)

    def begun(self, n_columns: int, n_levels: int) -> PRankState:
        return PRankState.start(n_columns, n_levels, self.keep == "pocket")

    def ruled(self, update: Update) -> tuple[ThresholdRule, dict[str, Any]]:
        u, b = np.split(update.learned.state.kept(self.keep), [update.sample.X.shape[1]])
        potential = LinearPotential.plain(update.learned.scaling, u.copy())
        return ThresholdRule(potential, b + potential.offset), {"coefficients": potential.slopes}


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelPRank(Projecting, OnKernel, OnlineMethod):
    """PRank [Crammer & Singer 2005] on a sum of kernels, H(x) = sum_n beta_n k(x_n, x).

    A mistake yhat at row n adds y - yhat to beta_n and moves the thresholds between y and yhat by 1: `PRank` in the
    feature space of the kernel, and the same as `PRank` with kernel="linear".

    Parameters
    ----------
    kernel : str, Kernel or callable
        As for REDSVM. "perceptron" and "stump" count from the origin of the scaled columns: |x| + |x'| - |x - x'|.
    epochs, keep, margin, presentation, cost, scaling
        Those of every online ranker: see `ordstat.online.method.OnlineMethod`; margin > 0 needs convex costs.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> KernelPRank(kernel="gaussian")
    KernelPRank(kernel='gaussian')
    """

    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    scaling: str | None = option("range", scaling_of_kernel)
    papers: ClassVar[tuple[str, ...]] = (CRAMMER,)

    def shape(self, n_levels: int) -> tuple[int, int]:
        return 1, n_levels - 1

    def learner(self, **state: Any) -> DualState:
        return DualPRank(**state)

    def ruled(self, update: Update) -> tuple[ThresholdRule, dict[str, Any]]:
        work: DualWork = update.work
        sums, b = self.kept(update)
        rule = ThresholdRule(KernelDirection(sums=sums, squared_norm=work.squared_norm(sums)), b)
        return rule, {"support": work.rows[work.moved] if work.earlier.seen == 0 else None}


@dataclass(frozen=True, kw_only=True, repr=False)
class CuSumRank(Cumulating, OnlineMethod):
    """Cumulative sum ranking [Milidiú & Rocha, fig. 1 and 2], a structured perceptron.

    rank(x) = argmax_k sum_{j<=k} w_j'x, w_1 = 0 and x with a constant -1, ties to the lower rank. A mistake yhat moves
    the w_j between y and yhat by tau x: by +-1 (update="perceptron", method="cusum"), or so far that the true rank
    leads by the cost c[yhat] (update="passive-aggressive", method="pa-cusum"): |y - yhat| under cost="absolute", the
    loss-sensitive step of theorem 2; the same lead for every mistake under cost="classification", figure 2, where the
    size of delta only sets the scale of the weights.

    Parameters
    ----------
    update : {"perceptron", "passive-aggressive"}
    epochs, keep, margin, presentation, cost, scaling
        Those of every online ranker: see `ordstat.online.method.OnlineMethod`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> CuSumRank(update="passive-aggressive", margin=0.5)
    CuSumRank(margin=0.5, update='passive-aggressive')
    """

    papers: ClassVar[tuple[str, ...]] = (MILIDIU,)

    def begun(self, n_columns: int, n_levels: int) -> CuSumState:
        return CuSumState.start(n_columns, n_levels, self.aggressive)

    def gaps(self, update: Update) -> LinearGaps:
        learned = update.learned
        return LinearGaps(scaling=learned.scaling, weights=learned.state.kept(self.keep).copy())


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelCuSumRank(Cumulating, OnKernel, OnlineMethod):
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
        Those of every online ranker: see `ordstat.online.method.OnlineMethod`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> KernelCuSumRank(kernel="gaussian")
    KernelCuSumRank(kernel='gaussian')
    """

    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    scaling: str | None = option("range", scaling_of_kernel)
    papers: ClassVar[tuple[str, ...]] = (MILIDIU,)

    def shape(self, n_levels: int) -> tuple[int, int]:
        return n_levels - 1, 0

    def learner(self, **state: Any) -> DualState:
        return DualCuSum(aggressive=self.aggressive, **state)

    def gaps(self, update: Update) -> KernelSums:
        return self.kept(update)[0]
