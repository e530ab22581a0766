"""Boosting of weak binary hypotheses: ORBoost, RankBoost with thresholds, AdaBoost for
two levels and with seeding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..advice import with_option_hints
from ..checks import one_of, whole
from ..fit import (
    Certificate,
    Fit,
    GapRule,
    Potential,
    ThresholdRule,
    Trace,
    count_above,
)
from ..formula.distinct import DistinctRows, distinct_rows
from ..formula.sample import Rows, Sample
from ..judging.costs import (
    CostField,
    least_cost_thresholds,
    mean_excess,
    require_differences,
)
from ..judging.geometry import Geometry, hull
from ..method import FREUND, LIN, LIN_LI, Method, Supports, cost_option, option
from ..reduction.classifiers import CLASSIFIERS, parse_classifier
from ..reduction.learners import BinaryLearner, Scorer
from .learner import WeakLearner, parse_learner
from .losses import Loss, MarginLoss, PairLoss, Questions, misordered
from .results import EnsembleResults
from .rounds import EnsembleFit, Hypotheses, Rounds, Run, continued
from .sums import InRounds, SeededSum, StumpSum
from .weak import vote_divergence

# Rounding of the sums behind a training cost and its bound.
_SUM_ROUNDING = 1e-9
#: Rules for the step along a hypothesis of RankBoost.
STEPS = ("loose", "tight")


@dataclass(frozen=True, kw_only=True, repr=False)
class RoundsMethod(Method, ABC):
    """Base class of methods that add one hypothesis in each round.

    A concrete class defines the hypotheses, the loss, and the rule from scores to
    ranks.

    Parameters
    ----------
    rounds : int
        Number of rounds T, at least 1.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or a V-shaped matrix [true level,
        predicted level]: costs rise, or stay equal, away from the true level. Costs
        given for single rows replace it.
    """

    rounds: int = option(200, whole, 1)
    cost: CostField = cost_option()

    #: Costs must be V-shaped, so that the signs of their differences give the right
    #: answers.
    supports: ClassVar[Supports] = Supports(row_costs=True, v_shaped_only=True)
    results_class: ClassVar[type[Any]] = EnsembleResults

    def start(self, train: DistinctRows, rng: np.random.Generator) -> Potential | None:
        """The score that the rounds start from; None for 0."""
        return None

    @abstractmethod
    def hypotheses(self, train: DistinctRows) -> Hypotheses:
        """The hypotheses that the rounds choose from."""

    @abstractmethod
    def loss(self, train: DistinctRows, scores: FloatArray) -> Loss:
        """The loss to minimise, at training scores (N,)."""

    @abstractmethod
    def gaps(
        self,
        train: DistinctRows,
        training: FloatArray,
        theta: FloatArray | None,
        scores: FloatArray,
    ) -> FloatArray:
        """(n, K-1) scores minus thresholds: those of the loss, or those fitted to the
        training scores.
        """

    @abstractmethod
    def rule(
        self, train: DistinctRows, potential: Any, theta: FloatArray | None
    ) -> Any:
        """The rule for a sum of rounds."""

    def facts(self) -> tuple[tuple[str, Any], ...]:
        """Header lines of the summary."""
        return ()

    def certificate(
        self, rows: DistinctRows, rule: Any, loss: float, limit: float
    ) -> Certificate:
        """The mean training cost above its minimum, divided by the loss that bounds it.

        Parameters
        ----------
        rows : DistinctRows
        rule : Rule
        loss : float
            Bound of the cost.
        limit : float
            Bound of the loss by the training-error theorem.
        """
        cost = mean_excess(rows.costs, rule.codes(Rows(X=rows.X)), rows.weights)
        return _bounded(
            "training cost", cost, loss, limit, "cost above the least possible"
        )

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> EnsembleFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 are ignored.
        rng : numpy.random.Generator
            Used by weak learners that draw at random.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        train = self._rows(sample)
        require_differences(train.costs, train.weights)
        run = self._run(train, self.start(train, rng))
        run.add(self.rounds, rng, progress)
        return self._fitted(
            sample, train, run.trainer, run.record(rng), len(run.members)
        )

    def more(
        self,
        sample: Sample,
        fit: EnsembleFit,
        rounds: int,
        progress: Progress | None = None,
    ) -> EnsembleFit:
        """Add rounds; the result equals a fit with the total number of rounds."""
        whole("rounds", rounds, 1, of=self)
        run = self._run(self._rows(sample), fit.rounds.start)
        run.repeat(fit.rounds)
        rng = continued(fit.rounds.state)
        run.add(rounds, rng, progress)
        return self._fitted(
            sample, run.train, run.trainer, run.record(rng), len(run.members)
        )

    def truncated(self, sample: Sample, fit: EnsembleFit, rounds: int) -> EnsembleFit:
        """The fit after the first `rounds` rounds.

        Raises
        ------
        OptionError
            `rounds` exceeds the number of rounds.
        """
        whole("rounds", rounds, 0, len(fit.rounds.members), also=", the rounds made")
        train = self._rows(sample)
        return self._fitted(
            sample, train, self.hypotheses(train), fit.rounds, int(rounds)
        )

    def staged_codes(
        self,
        sample: Sample,
        fit: EnsembleFit,
        targets: Sequence[Rows],
        stages: Sequence[int],
    ) -> Iterator[list[IntArray]]:
        """Predicted codes of several sets of rows after each of some increasing numbers
        of rounds.
        """
        train = self._rows(sample)
        trainer = self.hypotheses(train)
        row_sets = [Rows(X=train.X), *targets]
        shape = self.loss(train, np.zeros(train.n)).scores.shape[1:]
        start = fit.rounds.start
        sums = [
            np.zeros((rows.n, *shape)) + (0.0 if start is None else start(rows))
            for rows in row_sets
        ]
        made = 0
        for stage in stages:
            if stage > made:
                added = trainer.combine(
                    fit.rounds.members[made:stage], fit.rounds.alphas[made:stage]
                )
                for rows, total in zip(row_sets, sums, strict=True):
                    total += added(rows)
            made = stage
            theta = None if fit.rounds.thetas is None else fit.rounds.thetas[stage]
            yield [
                count_above(self.gaps(train, sums[0], theta, total))
                for total in sums[1:]
            ]

    def _rows(self, sample: Sample) -> DistinctRows:
        return distinct_rows(sample, self.costs(sample))

    def _run(self, train: DistinctRows, start: Potential | None) -> Run:
        scores = np.zeros(train.n) if start is None else start(Rows(X=train.X))
        return Run(
            train=train,
            trainer=self.hypotheses(train),
            loss=self.loss(train, scores),
            start=start,
        )

    def _fitted(
        self,
        sample: Sample,
        train: DistinctRows,
        trainer: Hypotheses,
        rounds: Rounds,
        kept: int,
    ) -> EnsembleFit:
        """The fit with the first `kept` rounds."""
        potential = trainer.combine(rounds.members[:kept], rounds.alphas[:kept])
        if rounds.start is not None:
            potential = SeededSum(first=rounds.start, added=potential)
        rule = self.rule(
            train, potential, None if rounds.thetas is None else rounds.thetas[kept]
        )
        made = len(rounds.members)
        ended = f" ({rounds.message})" if rounds.message != "all rounds made" else ""
        used = f"; the first {kept} used" if kept < made else ""
        return EnsembleFit(
            rule=rule,
            certificate=self.certificate(
                train, rule, float(rounds.losses[kept]), float(rounds.limits[kept])
            ),
            trace=Trace(
                iterations=made, objective=rounds.losses, message=rounds.message
            ),
            scores=rule.scores(sample.rows),
            facts=(("Rounds", f"{made}{ended}{used}"), *self.facts()),
            rounds=rounds,
            kept=kept,
        )


def _bounded(
    name: str, figure: float, loss: float, limit: float, label: str
) -> Certificate:
    """A figure of the training rows, divided by the loss that bounds it."""
    return Certificate(
        name=f"{name} / its bound",
        value=0.0 if figure == 0.0 else figure / loss,
        tolerance=1.0 + _SUM_ROUNDING,
        details=((label, figure), ("its bound", loss), ("bound by the rounds", limit)),
        steps="rounds",
    )


def _check_learner(name: str, value: Any, of: Any) -> None:
    """Raise OptionError unless the value names a weak learner."""
    parse_learner(value, of)


@dataclass(frozen=True, kw_only=True, repr=False)
class WeakEnsemble(RoundsMethod):
    """Base class of threshold ensembles H(x) = sum_t alpha_t h_t(x) of weak binary
    hypotheses.

    Parameters
    ----------
    rounds : int
        Number of rounds T, at least 1.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or a V-shaped matrix [true level,
        predicted level]: costs rise, or stay equal, away from the true level. Costs
        given for single rows replace it.
    learner : str, weak learner or scikit-learn classifier
        "stump", "perceptron", "sigmoid", "tree" (of 5 leaves), "logistic"; a value such
        as DecisionTree(leaves=8) or RCDPerceptron(updates=100); or a classifier that
        takes sample_weight.
    """

    learner: Any = option("stump", _check_learner)

    def weak(self) -> WeakLearner:
        """The weak learner."""
        return parse_learner(self.learner, self)

    def hypotheses(self, train: DistinctRows) -> Hypotheses:
        return self.weak().on(train.X, train.weights)

    def loss(self, train: DistinctRows, scores: FloatArray) -> Loss:
        """The exponential loss of margins, with its best thresholds; for two levels
        with the threshold at 0.

        For two levels it is sum_n w_n exp(-z_n H(x_n)), with z_n = +1 for the higher
        level, else -1, and w_n = |c_n[1] - c_n[2]| times the case weight. The named
        costs are then all the same.
        """
        theta = np.zeros(1) if self.supports.two_levels_only else None
        return MarginLoss.start(
            Questions.of(train.y, train.costs, train.weights), scores, theta
        )

    def gaps(
        self,
        train: DistinctRows,
        training: FloatArray,
        theta: FloatArray | None,
        scores: FloatArray,
    ) -> FloatArray:
        return scores[:, None] - cast(FloatArray, theta)

    def rule(
        self, train: DistinctRows, potential: Any, theta: FloatArray | None
    ) -> ThresholdRule:
        return ThresholdRule(potential, cast(FloatArray, theta))

    def facts(self) -> tuple[tuple[str, Any], ...]:
        return (("Weak learner", repr(self.weak())),)

    def geometry(self, sample: Sample, fit: Fit) -> Geometry | None:
        """Sum of the round weights, and the size of the class of weak hypotheses on the
        training rows.
        """
        rule = cast(ThresholdRule, fit.rule)
        used = sample.case_weights > 0
        richness = self.weak().on(sample.X[used], sample.case_weights[used]).richness()
        lengths = richness.squared_lengths
        if lengths is not None:
            lengths = np.zeros(sample.n)
            lengths[used] = richness.squared_lengths
        geometry = hull(
            cast(InRounds, rule.potential).round_weights,
            rule.theta,
            richness.log_size,
            lengths,
        )
        if not isinstance(rule.potential, StumpSum):
            return geometry
        return replace(
            geometry, nats=vote_divergence(rule.potential, rule.theta, sample)
        )


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class ORBoost(WeakEnsemble):
    """ORBoost: boosting for ordinal regression [Lin & Li 2006, sec. 4.2-4.3; Lin 2008,
    alg. 3.4].

    Use it as a boosted ranker with margin bounds; "ordboost" predicts better and has
    probabilities.

    It minimises sum_nk W_nk exp(-rho_k(n)), with margins rho_k = H(x_n) - theta_k if
    y_n > k, else theta_k - H(x_n), and H = sum_t alpha_t h_t. Each round adds one weak
    hypothesis, and then takes the best ordered thresholds. The weights are W_nk =
    |c_n[k+1] - c_n[k]|: all margins count under the absolute cost (ORBoost-All), and
    the two nearest under the classification cost (ORBoost-LR). The loss never rises. It
    bounds the training cost above its minimum, as does the product of the factors of
    the rounds (training-error theorem).

    Parameters
    ----------
    rounds, learner, cost
        See `ordstat.boosting.boosting.WeakEnsemble`; the papers use rounds=2000.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> ORBoost(rounds=50)
    ORBoost(rounds=50)
    """

    papers: ClassVar[tuple[str, ...]] = (LIN_LI, LIN)


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class RankBoost(WeakEnsemble):
    """RankBoost with thresholds of minimal training cost [Lin 2008, alg. 3.3; Lin & Li
    2006, sec. 4.1].

    Use it if the order of pairs of rows matters most.

    It minimises the sum of exp(H(x_n) - H(x_m)) over pairs with y_m > y_n. Each round
    adds one weak hypothesis. Dynamic programming then finds the thresholds with the
    smallest training cost.

    Parameters
    ----------
    step : {"loose", "tight"}
        Rule for alpha. "loose" (2008): 1/4 log((1 + r)/(1 - r)), with r the mean of
        (h_m - h_n)/2 over pairs. "tight" (2006): 1/4 log(right / wrong), the exact
        minimum for h = +-1.
    cost : str or (K, K) array
        Any cost, which the thresholds minimise. Costs given for single rows replace it.
    rounds, learner
        See `ordstat.boosting.boosting.WeakEnsemble`.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> RankBoost(rounds=50, step="tight")
    RankBoost(rounds=50, step='tight')
    """

    step: str = option("loose", one_of, STEPS)

    supports: ClassVar[Supports] = Supports(row_costs=True)
    papers: ClassVar[tuple[str, ...]] = (LIN_LI, LIN)

    def loss(self, train: DistinctRows, scores: FloatArray) -> PairLoss:
        """The pair loss."""
        return PairLoss(
            y=train.y, weights=train.weights, scores=scores, tight=self.step == "tight"
        )

    def gaps(
        self,
        train: DistinctRows,
        training: FloatArray,
        theta: FloatArray | None,
        scores: FloatArray,
    ) -> FloatArray:
        best = least_cost_thresholds(training, train.costs, train.weights)
        return super().gaps(train, training, best, scores)

    def rule(
        self, train: DistinctRows, potential: Any, theta: FloatArray | None
    ) -> ThresholdRule:
        training = potential(Rows(X=train.X))
        best = least_cost_thresholds(training, train.costs, train.weights)
        return super().rule(train, potential, best)

    def certificate(
        self, rows: DistinctRows, rule: Any, loss: float, limit: float
    ) -> Certificate:
        """The share of pairs in the wrong order, divided by the loss that bounds it."""
        scores = rule.scores(Rows(X=rows.X))
        codes = rule.codes(Rows(X=rows.X), scores)
        wrong = misordered(rows.y, rows.weights, scores)
        above = mean_excess(rows.costs, codes, rows.weights)
        name = "pairs in the wrong order"
        certificate = _bounded(name, wrong, loss, limit, name)
        details = (*certificate.details, ("cost above the least possible", above))
        return replace(certificate, details=details)


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class AdaBoost(WeakEnsemble):
    """AdaBoost for a response of two levels [Freund & Schapire 1997; Lin 2008, alg.
    4.2].

    It minimises sum_n w_n exp(-z_n H(x_n)), with z_n = +1 for the higher level, else
    -1, and w_n = |c_n[1] - c_n[2]|. Each round adds one weak hypothesis with the weight
    1/2 log((1 - e)/e), e its weighted error. The higher level is predicted if H(x) > 0.

    Parameters
    ----------
    rounds, learner, cost
        See `ordstat.boosting.boosting.WeakEnsemble`.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> AdaBoost(learner="perceptron")
    AdaBoost(learner='perceptron')
    """

    supports: ClassVar[Supports] = Supports(
        row_costs=True, v_shaped_only=True, two_levels_only=True
    )
    papers: ClassVar[tuple[str, ...]] = (FREUND, LIN)


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class SeedBoost(WeakEnsemble):
    """SeedBoost: AdaBoost that starts from another learner, for a response of two
    levels [Lin 2008, alg. 5.3].

    The first learner has the score f. AdaBoost then runs on the weights w_n exp(-z_n
    f(x_n)). The higher level is predicted if f(x) + H(x) > 0.

    Parameters
    ----------
    first : str, method, binary learner or scikit-learn classifier
        "logistic" or "tree"; a method such as REDSVM(C=1) or AdaBoost(), whose score f
        is H minus the threshold; or a classifier that takes sample_weight. The score f
        of a classifier is its decision function.
    rounds, learner, cost
        See `ordstat.boosting.boosting.WeakEnsemble`; the thesis uses rounds=100.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> SeedBoost(first="tree")
    SeedBoost(first='tree')
    """

    first: Any = "logistic"

    supports: ClassVar[Supports] = AdaBoost.supports
    papers: ClassVar[tuple[str, ...]] = (LIN,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.first, Method):
            self._learner()

    def _learner(self) -> BinaryLearner:
        also = ", a method such as REDSVM(C=1)"
        return parse_classifier(
            "first",
            self.first,
            CLASSIFIERS,
            self,
            scaling="range",
            also=also,
            weighted=True,
        )

    def start(self, train: DistinctRows, rng: np.random.Generator) -> Potential:
        """The score of the first learner."""
        weights = train.weights * np.abs(train.costs[:, 1] - train.costs[:, 0])
        if isinstance(self.first, Method):
            sample = Sample(
                rows=Rows(X=train.X), y=train.y, n_levels=2, weights=weights
            )
            return partial(_gap, cast(GapRule, self.first.fit(sample, rng).rule))
        return partial(
            _score,
            self._learner()
            .fit(train.X, np.where(train.y > 0, 1.0, -1.0), weights, rng)
            .scorer,
        )

    def facts(self) -> tuple[tuple[str, Any], ...]:
        return *super().facts(), ("Starting classifier", repr(self.first))

    def geometry(self, sample: Sample, fit: Fit) -> None:
        """None: the score of the first learner has no norm."""
        return None


def _gap(rule: GapRule, rows: Rows) -> FloatArray:
    """(N,) score minus the threshold."""
    return rule.gaps(rows)[:, 0]


def _score(scorer: Scorer, rows: Rows) -> FloatArray:
    """(N,) score of the binary classifier."""
    return scorer(rows)[:, 0]
