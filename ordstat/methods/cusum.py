"""CuSum Rank: a weight vector for every step of the ranks, scores by cumulative sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from ..model.examples import Examples
from ..model.fit import Fit
from ..model.online import CumulativeVotes, Learned, Lesson, LinearGaps, OnlineVoteFit
from ..model.rules import ScoreRule
from ..model.scaling import Scaling
from ..results.online import OnlineVoteResults
from ..solvers.online import Batch, CuSumState
from ..solvers.rank_margin import cusum_margin
from .base_online import UPDATES, OnlineMethod
from .base_options import one_of


@dataclass(frozen=True, eq=False)
class _Work:
    learner: CuSumState
    batch: Batch


@dataclass(frozen=True, kw_only=True, repr=False)
class CuSumRank(OnlineMethod):
    """Cumulative sum ranking [Milidiú & Rocha, fig. 1 and 2], a structured perceptron.

    rank(x) = argmax_k sum_{j<=k} w_j'x, w_1 = 0 and x with a constant -1, ties to the lower rank. A mistake yhat moves
    the w_j between y and yhat by tau x: by +-1 (update="perceptron", method="cusum"), or so far that the true rank
    leads by the cost c[yhat] (update="passive-aggressive", method="pa-cusum"): |y - yhat| under cost="absolute", the
    loss-sensitive step of theorem 2; the same lead for every mistake under cost="classification", figure 2, where the
    size of delta only sets the scale of the weights.

    Parameters
    ----------
    update : {"perceptron", "passive-aggressive"}
    epochs : int
        Passes over the rows, at least 1.
    keep : {"mean", "last"}
        The hypothesis used: the mean of those after each example (averaged perceptron), or the last one.
    margin : float
        Learn until the true rank leads by margin times the cost of any other, >= 0.
    presentation : {"order", "shuffled", "cost"}
        Rows as they come, in a fresh order every pass, or drawn with a probability proportional to weight times
        max_k c_n[k].
    cost : str or (K, K) array
        "absolute", "classification", "squared", or any matrix [true rank, predicted rank]; a row's own costs in the
        sample take its place.
    scaling : {"range", "standard", None}
        Columns to [-1, 1] on the training rows, to mean 0 and deviation 1, or as they are.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> CuSumRank(update="passive-aggressive", margin=0.5)
    CuSumRank(margin=0.5, update='passive-aggressive')
    """

    update: str = "perceptron"

    results_class: ClassVar[type[Any]] = OnlineVoteResults

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self, "update", self.update, UPDATES)

    @property
    def aggressive(self) -> bool:
        return self.update == "passive-aggressive"

    def start(self, examples: Examples, scaling: Scaling) -> _Work:
        learner = CuSumState.start(examples.X.shape[1], examples.n_levels, self.aggressive)
        return _Work(learner, Batch.for_passes(examples, scaling, self.margin))

    def resume(self, learned: Learned, examples: Examples) -> _Work:
        return _Work(learned.state.copy(), Batch.for_one_pass(examples, learned.scaling, self.margin))

    def state(self, work: _Work) -> CuSumState:
        return work.learner

    def separation(self, examples: Examples, fit: Fit) -> tuple[float, float | None]:
        scaled = cast(OnlineVoteFit, fit).learned.scaling(examples.X)
        Z = np.hstack([scaled, np.full((examples.n, 1), -1.0)])
        return float(np.einsum("nd,nd->n", Z, Z).max()), cusum_margin(Z, examples.y, examples.n_levels)

    def fitted(self, lesson: Lesson, shared: dict[str, Any]) -> OnlineVoteFit:
        learned, sample = lesson.learned, lesson.sample
        gaps = LinearGaps(scaling=learned.scaling, weights=learned.state.kept(self.keep).copy())
        rule = ScoreRule(CumulativeVotes(gaps=gaps, n_levels=sample.n_levels))
        return OnlineVoteFit(
            rule=rule,
            scores=rule.scores(sample.rows),
            learned=learned,
            **shared,
        )
