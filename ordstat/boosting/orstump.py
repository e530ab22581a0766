"""ORStump, the best ranker on one column; AdaBoost on rankers; and reverse reduction, which makes answers of ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray, Progress
from ..exceptions import DataError, OptionError
from ..fit import Certificate, Fit, HullGeometry, MarginFit, Rule, ThresholdRule, Trace
from ..formula.sample import DistinctRows, Rows, Sample, distinct_rows, fit_scaling
from ..judging.costs import CostField, least_cost_thresholds, mean_excess, require_differences
from ..judging.rankers import MarginResults
from ..method import LIN, Method, Needs, cost_option
from ..reduction.encoding import Extended, reverse_reduce
from ..reduction.learners import Weak
from ..reduction.members import MedianRule, MemberSum, RankStumpVotes, answers
from .method import RoundsMethod
from .rank_stump import RankStumpTrainer
from .rounds import AnswerLoss, Hypotheses


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnScore:
    """H(x) = sign * x[column].

    Attributes
    ----------
    column : int or None
        None of rows without columns, for H = 0.
    sign : float
        +1 or -1.
    """

    column: int | None
    sign: float

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        if self.column is None:
            return np.zeros(rows.n)
        return self.sign * rows.X[:, self.column]


@dataclass(frozen=True, kw_only=True, repr=False)
class ORStump(Method):
    """Decision stump for ordinal ranking, rank(x) = 1 + #{k : q x[d] > theta_k} [Lin 2008, sec. 4.3.2].

    The column d, the direction q = +1 or -1 and the K-1 ordered cuts whose training cost is the least of all, by
    dynamic programming in O(N D K) after sorting. Of cuts that cost alike (to 1e-9 of all costs) those in wider gaps
    are taken.

    Parameters
    ----------
    cost : str or (K, K) array
        "absolute", "classification", "squared", or any matrix [true rank, predicted rank]; a row's own costs in the
        sample take its place.

    Raises
    ------
    OptionError
        A cost that is none of these.

    Examples
    --------
    >>> ORStump(cost="classification")
    ORStump(cost='classification')
    """

    cost: CostField = cost_option()

    needs: ClassVar[Needs] = Needs(row_costs=True)
    results_class: ClassVar[type[Any]] = MarginResults
    papers: ClassVar[tuple[str, ...]] = (LIN,)

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> MarginFit:
        """Fit to arrays; rows of weight 0 take no part."""
        self.check(sample)
        rows = distinct_rows(sample, self.costs(sample))
        require_differences(rows.costs, rows.weights)
        gains = (rows.costs[:, :-1] - rows.costs[:, 1:]) * rows.weights[:, None]
        column, sign = RankStumpTrainer.on(rows.X, sample.n_levels).choose(gains)
        potential = ColumnScore(column=column if rows.X.shape[1] else None, sign=sign)
        rule = ThresholdRule(potential, least_cost_thresholds(potential(Rows(X=rows.X)), rows.costs, rows.weights))
        cost = mean_excess(rows.costs, rule.codes(Rows(X=rows.X)), rows.weights)
        coefficients = np.zeros(rows.X.shape[1])
        coefficients[column : column + 1] = sign
        return MarginFit(
            rule=rule,
            certificate=Certificate(
                name="training cost above that of the best column found",
                value=max(cost - self._least(rows), 0.0),
                tolerance=1e-6 * float(rows.costs.max()),
                details=(("cost above the least possible", cost),),
            ),
            trace=Trace(iterations=1, objective=np.array([cost]), message="all cuts tried"),
            scores=rule.scores(sample.rows),
            facts=(("Columns tried", f"{rows.X.shape[1]}, in both directions"),),
            coefficients=coefficients,
        )

    @staticmethod
    def _least(rows: DistinctRows) -> float:
        """Smallest mean cost above the least possible over columns and directions, each with its own thresholds."""
        found = []
        columns = range(rows.X.shape[1]) or (None,)
        for potential in (ColumnScore(column=column, sign=sign) for column in columns for sign in (1.0, -1.0)):
            scores = potential(Rows(X=rows.X))
            theta = least_cost_thresholds(scores, rows.costs, rows.weights)
            codes = np.searchsorted(theta, scores, side="left")
            found.append(mean_excess(rows.costs, codes, rows.weights))
        return min(found)

    def geometry(self, sample: Sample, fit: Fit) -> HullGeometry | None:
        """The hull of the columns, each scaled to [-1, 1], in the units of the chosen one."""
        rule = cast(ThresholdRule, fit.rule)
        potential = cast(ColumnScore, rule.potential)
        if potential.column is None:
            return None
        used = sample.case_weights > 0
        scaling = fit_scaling("range", sample.X[used], sample.case_weights[used])
        factor, centre = scaling.factor[potential.column], scaling.centre[potential.column]
        if factor == 0.0:
            return None
        sizes = 2.0 * (sample.X.shape[1] + np.array([1.0, rule.theta.size]))
        return HullGeometry(
            norm=float(1.0 / factor),
            theta=rule.theta - potential.sign * centre,
            log_size=float(np.log(sizes[0])),
            log_size_own=float(np.log(sizes[1])),
        )


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
        See `ordstat.boosting.method.RoundsMethod`.

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
    papers: ClassVar[tuple[str, ...]] = (LIN,)

    def __post_init__(self) -> None:
        super().__post_init__()
        takes_costs = isinstance(self.base, Method) and self.base.needs.row_costs
        if not takes_costs and not (isinstance(self.base, str) and self.base == "orstump"):
            raise OptionError(
                "base of AdaBoostOR must be 'orstump' or a method that takes costs of every row, such as REDSVM(C=1); "
                f"got {self.base!r}."
            )

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
        member = partial(_rule_answers, self.method.fit(sample, rng).rule)
        return Weak(member, member(Rows(X=self.rows.X)))

    def combine(self, members: Sequence[Callable[[Rows], FloatArray]], round_weights: FloatArray) -> MemberSum:
        shape = (self.n_levels - 1,)
        return MemberSum(members=tuple(members), round_weights=np.asarray(round_weights), shape=shape)


def _rule_answers(rule: Rule, rows: Rows) -> FloatArray:
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
        return _rule_answers(self.rule, Rows(X=_matrix(X)))


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
