"""AdaBoost.OR, AdaBoost on rankers; and reverse reduction: any ranker as a binary classifier of extended examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray
from ..exceptions import DataError, OptionError
from ..learners.base import Weak
from ..learners.boosting import Hypotheses
from ..learners.losses.exponential import AnswerLoss
from ..learners.rank_stump import RankStumpTrainer
from ..model.distinct import DistinctRows
from ..model.ensembles.ensembles import MemberSum
from ..model.ensembles.rankers import MedianRule, RankStumpVotes, answers
from ..model.fit import Fit, HullGeometry
from ..model.reduction.extended import Extended, reverse_reduce
from ..model.rules import Rule
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

    def rule(self, train: DistinctRows, potential: RankStumpVotes | MemberSum, theta: FloatArray | None) -> MedianRule:
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
        member = partial(_answers, self.method.fit(sample, rng).rule)
        return Weak(member, member(Rows(X=self.rows.X)))

    def combine(self, members: Sequence[Callable[[Rows], FloatArray]], round_weights: FloatArray) -> MemberSum:
        shape = (self.n_levels - 1,)
        return MemberSum(members=tuple(members), round_weights=np.asarray(round_weights), shape=shape)


def _answers(rule: Rule, rows: Rows) -> FloatArray:
    """(N, K-1) +1 where a ranker puts a row above k, else -1."""
    return answers(rule.codes(rows), rule.n_levels)


@dataclass(frozen=True, eq=False)
class RankAnswers:
    """g(x, k) = +1 where a ranker puts x above k, else -1 [Lin 2008, eq. 4.6].

    Attributes
    ----------
    rule : Rule
        The fitted ranker.
    """

    rule: Rule

    def __call__(self, X: Any) -> FloatArray:
        """(N, K-1) answers of +1.0 or -1.0 for rows X (N, D); they do not grow in k."""
        return _answers(self.rule, Rows(X=_matrix(X)))


def reverse_reduction(method: Method, X: Any, labels: Any, weights: Any, *, seed: int = 0) -> RankAnswers:
    """A binary classifier of examples ((x_n, k), label, weight), by a ranker [Lin 2008, sec. 4.1, eq. 4.5-4.6].

    The answers of each row become a rank, and their weights the costs of all ranks; the ranker is fitted to them, and
    asked "above k?". The weighted training error of the answers is the training cost of the ranker (lemma 4.2).

    Parameters
    ----------
    method : Method
        A ranker that takes costs of every row, such as ORStump() or REDSVM(C=10).
    X : (N, D) numbers
    labels : (N, K-1) of +1 and -1
        Not growing in k: a row is above 1, 2, ... up to its rank.
    weights : (N, K-1) >= 0
    seed : int

    Returns
    -------
    RankAnswers
        Called with rows (n, D), it gives (n, K-1) answers.

    Raises
    ------
    OptionError
        The method takes no costs of rows.
    DataError
        Arrays of other shapes, values that are not finite, or labels that contradict each other.

    Examples
    --------
    >>> from ordstat import ORStump, reverse_reduction
    >>> X = [[0.0], [1.0], [2.0]]
    >>> classifier = reverse_reduction(ORStump(), X, [[-1, -1], [1, -1], [1, 1]], [[1, 1], [1, 1], [1, 1]])
    >>> classifier([[0.2], [5.0]]).tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """
    if not isinstance(method, Method) or not method.needs.row_costs:
        raise OptionError(
            f"method of reverse_reduction must be a ranker that takes costs of every row, such as ORStump(); got "
            f"{method!r}."
        )
    rows = _matrix(X)
    y, costs = reverse_reduce(_checked(rows, np.asarray(labels), np.asarray(weights, dtype=np.float64)))
    sample = Sample(rows=Rows(X=rows), y=y, n_levels=costs.shape[1], costs=costs)
    return RankAnswers(method.fit(sample, np.random.default_rng(seed)).rule)


def _matrix(X: Any) -> FloatArray:
    rows = np.ascontiguousarray(X, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise DataError(f"X must be an (N, D) array of finite numbers; got shape {rows.shape}.")
    return rows


def _checked(X: FloatArray, labels: Any, weights: FloatArray) -> Extended:
    if labels.ndim != 2 or labels.shape[0] != len(X) or labels.shape[1] < 1 or weights.shape != labels.shape:
        raise DataError(
            f"labels and weights must have one row per row of X and one column per question, shape ({len(X)}, K-1); "
            f"got {labels.shape} and {weights.shape}."
        )
    if not np.isin(labels, (-1, 1)).all():
        raise DataError("labels must be +1 or -1.")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise DataError("weights must be finite and not negative.")
    return Extended(labels.astype(np.float64), weights)
