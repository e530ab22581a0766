"""CuSum Rank: a weight vector for every step of the ranks, scores by cumulative sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..model.online.examples import Examples
from ..model.online.weights import CumulativeVotes, Learned, LinearGaps, OnlineVoteFit, Update
from ..model.rules import ScoreRule
from ..model.scaling import Scaling
from ..solvers.online.perceptron import Batch, CuSumState
from .shared.online_forms import Cumulating


@dataclass(frozen=True, eq=False)
class _Work:
    learner: CuSumState
    batch: Batch


@dataclass(frozen=True, kw_only=True, repr=False)
class CuSumRank(Cumulating):
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
        Those of every online ranker: see `ordstat.methods.shared.online.OnlineMethod`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> CuSumRank(update="passive-aggressive", margin=0.5)
    CuSumRank(margin=0.5, update='passive-aggressive')
    """

    def start(self, examples: Examples, scaling: Scaling) -> _Work:
        learner = CuSumState.start(examples.X.shape[1], examples.n_levels, self.aggressive)
        return _Work(learner, Batch.of(examples, scaling, self.margin))

    def resume(self, learned: Learned, examples: Examples) -> _Work:
        return _Work(learned.state.copy(), Batch.of(examples, learned.scaling, self.margin, passes=False))

    def state(self, work: _Work) -> CuSumState:
        return work.learner

    def fitted(self, update: Update, shared: dict[str, Any]) -> OnlineVoteFit:
        learned, sample = update.learned, update.sample
        gaps = LinearGaps(scaling=learned.scaling, weights=learned.state.kept(self.keep).copy())
        rule = ScoreRule(CumulativeVotes(gaps=gaps, n_levels=sample.n_levels))
        return OnlineVoteFit(
            rule=rule,
            scores=rule.scores(sample.rows),
            learned=learned,
            **shared,
        )
