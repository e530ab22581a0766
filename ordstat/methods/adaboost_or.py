"""AdaBoost.OR: AdaBoost on rankers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray, IntArray
from ..exceptions import OptionError
from ..learners.boosting import Hypotheses
from ..learners.losses.exponential import AnswerLoss
from ..learners.rank_stump import RankStumpTrainer
from ..learners.weak import Weak
from ..model.distinct import DistinctRows
from ..model.ensembles.rankers import MedianRule, RankerVotes, RankVotes, answers
from ..model.fit import Fit, HullGeometry
from ..model.sample import Rows, Sample
from .base import Method
from .shared.boosting import RoundsMethod
from .shared.work import Work


@dataclass(frozen=True, kw_only=True, repr=False)
class AdaBoostOR(RoundsMethod):
    """AdaBoost for ordinal ranking [Lin 2008, alg. 4.3].

    Each round asks for a ranker r_t of least cost under costs of its own, gives it the vote v_t = 1/2 log((1 - e)/e), e
    its share of the cost of always answering wrong, and makes the answers "rank above k?" that it got wrong cost
    (1 - e)/e times as much: AdaBoost on the extended examples (x_n, k), through reverse reduction. The ensemble's rank
    is the weighted median of theirs (4.10), ties to the lower. Its training cost above the least possible is at most
    the mean of c_n[1] + c_n[K] times the product of 2 sqrt(e_t (1 - e_t)) (theorem 4.12).

    Parameters
    ----------
    base : "orstump" or a method
        "orstump": the best column, direction and cuts. Or a method that takes costs of every row, such as REDSVM(C=1).
    rounds, cost, validation, patience
        See `ordstat.methods.shared.boosting.RoundsMethod`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> AdaBoostOR(rounds=50)
    AdaBoostOR(rounds=50)
    """

    base: Any = "orstump"

    def __post_init__(self) -> None:
        super().__post_init__()
        takes_costs = isinstance(self.base, Method) and self.base.needs.row_costs
        if not takes_costs and not (isinstance(self.base, str) and self.base == "orstump"):
            raise OptionError(
                "base of AdaBoostOR must be 'orstump' or a method that takes costs of every row, such as REDSVM(C=1); "
                f"got {self.base!r}."
            )

    def work(self, sample: Sample) -> Work | None:
        """The rankers, where they are a method's."""
        one = self.base.work(sample) if isinstance(self.base, Method) else None
        return None if one is None else one.times(self.rounds)

    def hypotheses(self, train: DistinctRows) -> Hypotheses:
        n_levels = train.costs.shape[1]
        if isinstance(self.base, Method):
            return _Rankers(method=self.base, rows=train, n_levels=n_levels)
        return RankStumpTrainer.on(train.X, n_levels)

    def loss(self, train: DistinctRows, scores: FloatArray) -> AnswerLoss:
        """The loss of all answers at no votes."""
        gains = (train.costs[:, :-1] - train.costs[:, 1:]) * train.weights[:, None]
        return AnswerLoss(gains=gains, total=float(train.weights.sum()))

    def gaps(
        self, train: DistinctRows, training: FloatArray, theta: FloatArray | None, scores: FloatArray
    ) -> FloatArray:
        return scores

    def rule(self, train: DistinctRows, potential: RankVotes, theta: FloatArray | None) -> MedianRule:
        return MedianRule(potential)

    def facts(self) -> tuple[tuple[str, Any], ...]:
        base = self.base if isinstance(self.base, Method) else "ORStump()"
        return ("Rankers", str(base)), ("Score", "the interpolated median of their ranks")

    def geometry(self, sample: Sample, fit: Fit) -> HullGeometry:
        """Sum of the votes; how many label vectors the stumps give the training rows, unknown for other rankers."""
        votes = cast(MedianRule, fit.rule).potential
        used = sample.case_weights > 0
        sizes = (np.nan, np.nan)
        if not isinstance(self.base, Method):
            sizes = RankStumpTrainer.on(sample.X[used], sample.n_levels).log_sizes()
        norm = float(np.abs(votes.round_weights).sum())
        return HullGeometry(norm=norm, theta=np.zeros(0), log_size=sizes[0], log_size_own=sizes[1])


@dataclass(frozen=True, eq=False)
class _Coded:
    """A fitted ranker as a function of rows."""

    fit: Fit

    def __call__(self, rows: Rows) -> IntArray:
        return self.fit.rule.codes(rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Rankers:
    """Rankers fitted by a method under the costs of each round."""

    method: Method
    rows: DistinctRows
    n_levels: int

    reversible: ClassVar[bool] = False

    def best(self, u: FloatArray, rng: np.random.Generator) -> Weak:
        """The ranker that the method fits to costs whose steps c[k] - c[k+1] are u (N, K-1)."""
        costs = np.concatenate([np.zeros((len(u), 1)), -np.cumsum(u, axis=1)], axis=1)
        costs -= costs.min(axis=1, keepdims=True)
        # All answers together cost what they did at first, so that C and the like keep their meaning.
        first = self.rows.weights @ np.abs(np.diff(self.rows.costs, axis=1)).sum(axis=1)
        costs *= first / (np.abs(u).sum() or 1.0)
        # A method that goes through its rows one by one should not meet them rank by rank.
        order = rng.permutation(len(u))
        rows = Rows(X=self.rows.X[order])
        sample = Sample(rows=rows, y=self.rows.y[order], n_levels=self.n_levels, costs=costs[order])
        member = _Coded(self.method.fit(sample, rng))
        return Weak(member, answers(member(Rows(X=self.rows.X)), self.n_levels))

    def combine(self, members: Sequence[Callable[[Rows], IntArray]], round_weights: FloatArray) -> RankerVotes:
        return RankerVotes(members=tuple(members), round_weights=np.asarray(round_weights), n_levels=self.n_levels)
