"""ORStump, the best ranker on a single column, and AdaBoost.OR on rankers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..advice import with_option_hints
from ..compiled.weak import best_column
from ..exceptions import OptionError
from ..fit import Certificate, Fit, MarginFit, Rule, ThresholdRule, Trace
from ..formula.distinct import DistinctRows, distinct_rows
from ..formula.sample import Rows, Sample
from ..formula.scaling import fit_scaling
from ..judging.costs import (
    CostField,
    best_cuts,
    least_cost_thresholds,
    mean_excess,
    require_differences,
)
from ..judging.geometry import HullGeometry
from ..method import LIN, Method, Supports, cost_option
from ..rankers import MarginResults
from ..reduction.encoding import MedianRule, answers
from .boosting import RoundsMethod
from .learner import WeakHypothesis
from .losses import AnswerLoss
from .rounds import Hypotheses
from .sums import MemberSum, RankStumpVotes
from .weak import Presorted

# Cuts whose costs differ by less than this share of all costs are ties; the wider gap
# is chosen.
_CUT_TIE = 1e-9
# Columns whose costs differ by less than this share are ties, which go to the first.
_COLUMN_TIE = 1e-13


@dataclass(frozen=True, eq=False)
class RankStump:
    """Above k where sign (x[column] - cuts_k) > 0."""

    column: int
    sign: float
    cuts: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class RankStumpTrainer:
    """Finds the best ranking stump for the rows X (N, D) under changing costs.

    Attributes
    ----------
    presorted : Presorted
    bonus : (D, N + 1)
        Bonus of a cut at each place, as a share of all costs; it grows with the width
        of the gap.
    n_levels : int
    """

    presorted: Presorted
    bonus: FloatArray
    n_levels: int

    reversible: ClassVar[bool] = False

    @classmethod
    def on(cls, X: FloatArray, n_levels: int) -> RankStumpTrainer:
        """Sort the columns once."""
        presorted = Presorted.of(X)
        return cls(
            presorted=presorted,
            bonus=_CUT_TIE * _gap_shares(presorted),
            n_levels=n_levels,
        )

    def choose(self, gains: FloatArray) -> tuple[int, float]:
        """Column and direction of the cheapest stump, for differences of costs c[k] -
        c[k+1] (N, K-1).
        """
        p = self.presorted
        _, column, sign = best_column(
            p.order,
            p.distinct.view(np.uint8),
            self.bonus,
            _shared_out(gains),
            _COLUMN_TIE,
        )
        return column, sign

    def best(self, u: FloatArray, rng: np.random.Generator) -> WeakHypothesis:
        """The stump that maximises sum_nk u_nk (+1 if row n is ranked above k, else
        -1), u (N, K-1).
        """
        gains = _shared_out(u)
        p = self.presorted
        column, sign = self.choose(u)
        walk = slice(None) if sign > 0 else slice(None, None, -1)
        order = p.order[column][walk]
        allowed = np.concatenate([[True], p.distinct[column], [True]])
        totals = np.zeros((order.size + 1, gains.shape[1]))
        np.cumsum(gains[order], axis=0, out=totals[1:])
        totals += np.where(allowed, -self.bonus[column], np.inf)[walk][:, None]
        places = best_cuts(totals)
        position = np.empty(order.size, dtype=np.intp)
        position[order] = np.arange(order.size)
        values = np.where(position[:, None] >= places, 1.0, -1.0)
        rising = places if sign > 0 else order.size - places
        return WeakHypothesis(
            RankStump(column, sign, self._cuts(column, rising)), values
        )

    def _cuts(self, column: int, places: IntArray) -> FloatArray:
        """Thresholds at places in the order of a column."""
        n = self.presorted.order.shape[1]
        ends = {0: -np.inf, n: np.inf}
        return np.array(
            [
                ends[p] if p in ends else self.presorted.between(column, p - 1)
                for p in places.tolist()
            ]
        )

    def combine(
        self, members: Sequence[RankStump], round_weights: FloatArray
    ) -> RankStumpVotes:
        """The votes of several stumps."""
        return RankStumpVotes(
            columns=np.array([m.column for m in members], dtype=np.intp),
            signs=np.array([m.sign for m in members], dtype=np.float64),
            cuts=np.array([m.cuts for m in members], dtype=np.float64).reshape(
                -1, self.n_levels - 1
            ),
            round_weights=np.asarray(round_weights, dtype=np.float64),
        )

    def log_sizes(self) -> tuple[float, float]:
        """Logarithms of the number of label vectors for one k, and for a separate k in
        each row.

        A column with m distinct values has two directions and m + 1 cuts, or C(m + K -
        1, K - 1) sets of K-1 cuts.
        """
        from scipy.special import gammaln

        values = 1.0 + self.presorted.distinct.sum(axis=1)
        q = self.n_levels - 1
        ways = gammaln(values + q + 1.0) - gammaln(values + 1.0) - gammaln(q + 1.0)
        return float(np.log(2.0 * values.sum())), float(
            np.logaddexp.reduce(np.log(2.0) + ways)
        )


def _shared_out(gains: FloatArray) -> FloatArray:
    """Gains divided by the sum of their absolute values."""
    return gains / (np.abs(gains).sum() or 1.0)


def _gap_shares(presorted: Presorted) -> FloatArray:
    """(D, N + 1) width of the gap at each place, as a share of its column; the ends
    count as mean gaps.
    """
    inner = np.diff(presorted.values, axis=1)
    mean = inner.sum(axis=1, keepdims=True) / np.maximum(
        presorted.distinct.sum(axis=1, keepdims=True), 1
    )
    gaps = np.hstack([mean, inner, mean])
    total = gaps.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(gaps, total, out=np.zeros_like(gaps), where=total > 0))


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnScore:
    """H(x) = sign * x[column].

    Attributes
    ----------
    column : int or None
        None if there are no columns (H = 0).
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


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class ORStump(Method):
    """Decision stump for ordinal ranking, rank(x) = 1 + #{k : q x[d] > theta_k} [Lin
    2008, sec. 4.3.2].

    Use it as a baseline that anyone can apply by hand.

    It minimises the training cost exactly, over all columns d, directions q = +1 or -1
    and ordered cuts theta_k, by dynamic programming in O(N D K) after sorting. Among
    cuts with equal cost the widest gap is chosen.

    Parameters
    ----------
    cost : str or (K, K) array
        "absolute", "classification", "squared", or any matrix [true level, predicted
        level]. Costs given for single rows replace it.

    Raises
    ------
    OptionError
        The cost is not one of these.

    Examples
    --------
    >>> ORStump(cost="classification")
    ORStump(cost='classification')
    """

    cost: CostField = cost_option()

    supports: ClassVar[Supports] = Supports(row_costs=True)
    results_class: ClassVar[type[Any]] = MarginResults
    papers: ClassVar[tuple[str, ...]] = (LIN,)

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> MarginFit:
        """Fit to arrays; rows of weight 0 are ignored."""
        self.check(sample)
        rows = distinct_rows(sample, self.costs(sample))
        require_differences(rows.costs, rows.weights)
        gains = (rows.costs[:, :-1] - rows.costs[:, 1:]) * rows.weights[:, None]
        column, sign = RankStumpTrainer.on(rows.X, sample.n_levels).choose(gains)
        potential = ColumnScore(column=column if rows.X.shape[1] else None, sign=sign)
        rule, cost = _cheapest(rows, potential)
        columns = range(rows.X.shape[1]) or (None,)
        others = (
            ColumnScore(column=other, sign=q) for other in columns for q in (1.0, -1.0)
        )
        least = min(_cheapest(rows, other)[1] for other in others)
        coefficients = np.zeros(rows.X.shape[1])
        coefficients[column : column + 1] = sign
        return MarginFit(
            rule=rule,
            certificate=Certificate(
                name="training cost above that of the best column found",
                value=max(cost - least, 0.0),
                tolerance=1e-6 * float(rows.costs.max()),
                details=(("cost above the least possible", cost),),
            ),
            trace=Trace(
                iterations=1, objective=np.array([cost]), message="all cuts tried"
            ),
            scores=rule.scores(sample.rows),
            coefficients=coefficients,
        )

    def geometry(self, sample: Sample, fit: Fit) -> HullGeometry | None:
        """The convex hull of the columns scaled to [-1, 1], in units of the chosen
        column.
        """
        rule = cast(ThresholdRule, fit.rule)
        potential = cast(ColumnScore, rule.potential)
        if potential.column is None:
            return None
        used = sample.case_weights > 0
        scaling = fit_scaling("range", sample.X[used], sample.case_weights[used])
        factor = scaling.factor[potential.column]
        centre = scaling.centre[potential.column]
        if factor == 0.0:
            return None
        sizes = 2.0 * (sample.X.shape[1] + np.array([1.0, rule.theta.size]))
        return HullGeometry(
            norm=float(1.0 / factor),
            theta=rule.theta - potential.sign * centre,
            log_size=float(np.log(sizes[0])),
            log_size_own=float(np.log(sizes[1])),
        )


def _cheapest(
    rows: DistinctRows, potential: ColumnScore
) -> tuple[ThresholdRule, float]:
    """The thresholds with the smallest training cost on a column, and that cost above
    its minimum.
    """
    X = Rows(X=rows.X)
    rule = ThresholdRule(
        potential, least_cost_thresholds(potential(X), rows.costs, rows.weights)
    )
    return rule, mean_excess(rows.costs, rule.codes(X), rows.weights)


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class AdaBoostOR(RoundsMethod):
    """AdaBoost for ordinal ranking [Lin 2008, alg. 4.3].

    Use it to combine rankers, such as ORStump or REDSVM, into a better one.

    Each round fits a ranker r_t to costs that change from round to round. Its weight is
    v_t = 1/2 log((1 - e)/e), with e its cost divided by the cost of all wrong answers.
    Wrong answers to "rank above k?" then cost (1 - e)/e times as much: this is AdaBoost
    on the extended examples (x_n, k). The predicted rank is the weighted median of the
    ranks (4.10), ties to the lower rank. The training cost above its minimum is at most
    the mean of c_n[1] + c_n[K] times the product of 2 sqrt(e_t (1 - e_t)) (theorem
    4.12).

    Parameters
    ----------
    base : "orstump" or a method
        "orstump", or a method that supports costs of single rows, such as REDSVM(C=1).
    rounds, cost
        See `ordstat.boosting.boosting.RoundsMethod`.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> AdaBoostOR(rounds=50)
    AdaBoostOR(rounds=50)
    """

    base: Any = "orstump"
    papers: ClassVar[tuple[str, ...]] = (LIN,)

    def __post_init__(self) -> None:
        super().__post_init__()
        takes_costs = isinstance(self.base, Method) and self.base.supports.row_costs
        if not takes_costs and not (
            isinstance(self.base, str) and self.base == "orstump"
        ):
            raise OptionError(
                "base of AdaBoostOR must be 'orstump' or a method that supports costs"
                f" of rows, such as REDSVM(C=1); got {self.base!r}."
            )

    def hypotheses(self, train: DistinctRows) -> Hypotheses:
        n_levels = train.costs.shape[1]
        if isinstance(self.base, Method):
            return _Rankers(method=self.base, rows=train, n_levels=n_levels)
        return RankStumpTrainer.on(train.X, n_levels)

    def loss(self, train: DistinctRows, scores: FloatArray) -> AnswerLoss:
        """The loss of all answers without votes."""
        gains = (train.costs[:, :-1] - train.costs[:, 1:]) * train.weights[:, None]
        return AnswerLoss(gains=gains, total=float(train.weights.sum()))

    def gaps(
        self,
        train: DistinctRows,
        training: FloatArray,
        theta: FloatArray | None,
        scores: FloatArray,
    ) -> FloatArray:
        return scores

    def rule(
        self,
        train: DistinctRows,
        potential: RankStumpVotes | MemberSum,
        theta: FloatArray | None,
    ) -> MedianRule:
        return MedianRule(potential)

    def facts(self) -> tuple[tuple[str, Any], ...]:
        base = self.base if isinstance(self.base, Method) else "ORStump()"
        return (("Rankers", str(base)),)

    def geometry(self, sample: Sample, fit: Fit) -> HullGeometry:
        """Sum of the votes, and the number of label vectors of the stumps (NaN for
        other rankers).
        """
        votes = cast(MedianRule, fit.rule).potential
        used = sample.case_weights > 0
        sizes = (np.nan, np.nan)
        if not isinstance(self.base, Method):
            sizes = RankStumpTrainer.on(sample.X[used], sample.n_levels).log_sizes()
        norm = float(np.abs(votes.round_weights).sum())
        return HullGeometry(
            norm=norm, theta=np.zeros(0), log_size=sizes[0], log_size_own=sizes[1]
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Rankers:
    """Rankers fitted by a method under the costs of each round."""

    method: Method
    rows: DistinctRows
    n_levels: int

    reversible: ClassVar[bool] = False

    def best(self, u: FloatArray, rng: np.random.Generator) -> WeakHypothesis:
        """The ranker that the method fits to costs with differences c[k] - c[k+1] = u
        (N, K-1).
        """
        costs = np.concatenate([np.zeros((len(u), 1)), -np.cumsum(u, axis=1)], axis=1)
        costs -= costs.min(axis=1, keepdims=True)
        # The sum of the costs stays constant, so that options such as C keep their
        # meaning.
        first = self.rows.weights @ np.abs(np.diff(self.rows.costs, axis=1)).sum(axis=1)
        costs *= first / (np.abs(u).sum() or 1.0)
        # Rows are shuffled for methods that process them one by one.
        order = rng.permutation(len(u))
        rows = Rows(X=self.rows.X[order])
        sample = Sample(
            rows=rows, y=self.rows.y[order], n_levels=self.n_levels, costs=costs[order]
        )
        member = partial(_rule_answers, self.method.fit(sample, rng).rule)
        return WeakHypothesis(member, member(Rows(X=self.rows.X)))

    def combine(
        self, members: Sequence[Callable[[Rows], FloatArray]], round_weights: FloatArray
    ) -> MemberSum:
        shape = (self.n_levels - 1,)
        return MemberSum(
            members=tuple(members), round_weights=np.asarray(round_weights), shape=shape
        )


def _rule_answers(rule: Rule, rows: Rows) -> FloatArray:
    """(N, K-1) +1 if a ranker ranks a row above k, else -1."""
    return answers(rule.codes(rows), rule.n_levels)
