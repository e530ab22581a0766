"""What boosting methods share: weak learner, rounds, early stopping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..checks import fraction, whole
from ..fit import Certificate, Fit, Geometry, Potential, ThresholdRule, Trace, count_above
from ..formula.sample import DistinctRows, Rows, Sample, distinct_rows
from ..judging.costs import CostField, mean_excess, require_differences
from ..method import Method, Needs, cost_option, hull, option
from ..reduction.classifiers import parse_learner
from ..reduction.learners import WeakLearner
from ..reduction.members import EnsembleFit, InRounds, Raised, Rounds, StumpSum
from .results import EnsembleResults
from .rounds import Hypotheses, Loss, MarginLoss, Questions, Run, continued, held_out, split
from .weak import middle


def vote_divergence(potential: StumpSum, theta: FloatArray, sample: Sample) -> float:
    """Divergence of the vote, in nats, from the prior: what one voter drawn from it costs.

    NaN where a cut is not the middle of two neighbouring values, as of stumps that have seen some of the rows alone.

    Parameters
    ----------
    potential : StumpSum
    theta : (K-1,)
    sample : Sample
        The rows of the fit.
    """
    columns, cuts, weights = _merged(potential)
    log_half = float(np.log(0.5))
    prior = log_half - np.log(2.0 * (sample.X.shape[1] + 1)) + _log_pairs(columns, cuts, sample)
    of_thresholds = np.full(theta.size, log_half - np.log(2.0 * theta.size))
    sizes = np.concatenate((np.abs(weights), np.abs(theta)))
    share = sizes / (sizes.sum() or 1.0)
    some = share > 0
    return float(share[some] @ (np.log(share[some]) - np.concatenate((prior, of_thresholds))[some]))


def _merged(potential: StumpSum) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Columns, cuts and weights of the different stumps; one of either sign is another."""
    constant = np.isinf(potential.cuts)
    keys = np.column_stack(
        (np.where(constant, -1, potential.columns), potential.cuts, np.sign(potential.round_weights))
    )
    different, place = np.unique(keys, axis=0, return_inverse=True)
    weights = np.bincount(place.ravel(), weights=np.abs(potential.round_weights), minlength=len(different))
    return different[:, 0], different[:, 1], np.asarray(weights, dtype=np.float64)


def _log_pairs(columns: FloatArray, cuts: FloatArray, sample: Sample) -> FloatArray:
    """Logarithm of the share of pairs of rows that a cut is the middle of; 0 of a constant."""
    weights, n = sample.case_weights, sample.case_weights.sum()
    found = np.zeros(cuts.size)
    for at in np.flatnonzero(columns >= 0):
        x = sample.X[weights > 0, int(columns[at])]
        own, below = weights[weights > 0], x <= cuts[at]
        low, high = x[below].max(), x[~below].min()
        pairs = np.log(own[x == low].sum()) + np.log(own[x == high].sum())
        found[at] = pairs - 2.0 * np.log(n) if cuts[at] == middle(float(low), float(high)) else np.nan
    return found


def _known_learner(name: str, value: Any, of: Any) -> None:
    """OptionError where it is no weak learner."""
    parse_learner(value, type(of).__name__)


def _share(name: str, value: Any, of: Any) -> float | None:
    """A share of the rows, or None."""
    return None if value is None else fraction(name, value, also=", or None", of=of)


@dataclass(frozen=True, kw_only=True, repr=False)
class RoundsMethod(Method):
    """Base of the methods that add a hypothesis a round.

    A concrete class names a weak learner (`WeakHypotheses`), or says what the hypotheses are, which loss the rounds
    lower, and how scores become ranks. Its options beside those of its own are

    rounds : int
        T, at least 1.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or a V-shaped matrix [true rank, predicted rank]: costs that do not
        fall away from the true rank. A row's own costs in the sample take its place.
    validation : float or None
        Share of the rows of every rank held out, in (0, 1): the rounds up to their smallest mean cost are used.
    patience : int
        Rounds without a smaller cost of the held-out rows after which boosting ends.
    """

    rounds: int = option(200, whole, 1)
    cost: CostField = cost_option()
    validation: float | None = option(None, _share)
    patience: int = option(50, whole, 1)

    #: Costs must be V-shaped, for the signs of their steps to say which answers are right.
    needs: ClassVar[Needs] = Needs(row_costs=True, v_shaped=True)
    results_class: ClassVar[type[Any]] = EnsembleResults

    # What a concrete class says: `weak`, or other hypotheses with a loss, gaps and a rule of their own

    def weak(self) -> WeakLearner:
        """The weak learner behind hypotheses of a sum H(x) = sum_t alpha_t h_t(x)."""
        raise TypeError(f"{type(self).__name__} defines no weak learner")

    def start(self, train: DistinctRows, rng: np.random.Generator) -> Potential | None:
        """The potential that the rounds add to; None for 0."""
        return None

    def hypotheses(self, train: DistinctRows) -> Hypotheses:
        """What the rounds choose from."""
        return self.weak().on(train.X, train.weights)

    def loss(self, train: DistinctRows, scores: FloatArray) -> Loss:
        """The exponential loss of margins, with its best thresholds; of two levels with the threshold at 0.

        Of two levels it is sum_n w_n exp(-z_n H(x_n)), z_n = +1 for the higher one, else -1, and
        w_n = |c_n[1] - c_n[2]| times the case weight, so that every named cost is the same one.
        """
        theta = np.zeros(1) if self.needs.two_levels else None
        return MarginLoss.start(Questions.of(train.y, train.costs, train.weights), scores, theta)

    def thresholds(self, train: DistinctRows, scores: FloatArray) -> FloatArray:
        """(K-1,) thresholds for training scores (N,), where the loss has none of its own."""
        raise TypeError(f"{type(self).__name__} defines no thresholds")

    def gaps(
        self, train: DistinctRows, training: FloatArray, theta: FloatArray | None, scores: FloatArray
    ) -> FloatArray:
        """(n, K-1) gaps of scores to the thresholds: those of the loss, or those that the training scores give."""
        return np.asarray(scores[:, None] - (self.thresholds(train, training) if theta is None else theta))

    def rule(self, train: DistinctRows, potential: Any, theta: FloatArray | None) -> Any:
        """The ranker of a sum of rounds."""
        found = self.thresholds(train, potential(Rows(X=train.X))) if theta is None else theta
        return ThresholdRule(potential, found)

    def facts(self) -> tuple[tuple[str, Any], ...]:
        """Header lines of the summary."""
        return (("Weak learner", repr(self.weak())),)

    def certificate(self, rows: DistinctRows, rule: Any, loss: float, limit: float) -> Certificate:
        """The mean training cost above the least possible, against the loss that bounds it.

        Parameters
        ----------
        rows : DistinctRows
        rule : Rule
        loss : float
            What bounds the cost.
        limit : float
            What bounds the loss, by the product over rounds.
        """
        cost = mean_excess(rows.costs, rule.codes(Rows(X=rows.X)), rows.weights)
        details = (("cost above the least possible", cost), ("its bound", loss), ("bound by the rounds", limit))
        # Rounding of the sums behind both.
        value = 0.0 if cost == 0.0 else cost / loss
        return Certificate(name="training cost / its bound", value=value, tolerance=1.0 + 1e-9, details=details)

    def geometry(self, sample: Sample, fit: Fit) -> Geometry | None:
        """Sum of the weights, and how rich the class of the weak learner is on the training rows."""
        rule = cast(ThresholdRule, fit.rule)
        used = sample.case_weights > 0
        richness = self.weak().on(sample.X[used], sample.case_weights[used]).richness()
        lengths = richness.squared_lengths
        if lengths is not None:
            lengths = np.zeros(sample.n)
            lengths[used] = richness.squared_lengths
        found = hull(cast(InRounds, rule.potential).round_weights, rule.theta, richness.log_size, lengths)
        if not isinstance(rule.potential, StumpSum):
            return found
        return replace(found, nats=vote_divergence(rule.potential, rule.theta, sample))

    # Fits

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> EnsembleFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Source of the held-out rows and of a weak learner that draws.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        rows = self._rows(sample)
        require_differences(rows.costs, rows.weights)
        held = None if self.validation is None else held_out(rows, self.validation, rng)
        run = self._run(rows, held, self.start(split(rows, held)[0], rng))
        run.add(self.rounds, rng, progress)
        return self._fitted(sample, run.train, run.trainer, run.record(rng), run.best)

    def more(self, sample: Sample, fit: EnsembleFit, rounds: int, progress: Progress | None = None) -> EnsembleFit:
        """The fit with further rounds; the same as a fit of as many rounds at once.

        Raises
        ------
        OptionError
        """
        whole("rounds", rounds, 1, of=self)
        run = self._run(self._rows(sample), fit.rounds.held, fit.rounds.start)
        run.repeat(fit.rounds)
        rng = continued(fit.rounds.state)
        run.add(rounds, rng, progress)
        return self._fitted(sample, run.train, run.trainer, run.record(rng), run.best)

    def truncated(self, sample: Sample, fit: EnsembleFit, rounds: int) -> EnsembleFit:
        """The fit as it was after some of its rounds.

        Raises
        ------
        OptionError
            More rounds than were made.
        """
        made = len(fit.rounds.members)
        whole("rounds", rounds, 0, made, also=", the rounds made")
        train, _ = split(self._rows(sample), fit.rounds.held)
        return self._fitted(sample, train, self.hypotheses(train), fit.rounds, int(rounds))

    def staged_codes(
        self, sample: Sample, fit: EnsembleFit, targets: Sequence[Rows], stages: Sequence[int]
    ) -> Iterator[list[IntArray]]:
        """Predicted codes of several sets of rows after some of the rounds, growing, one sum going on to the next."""
        train, _ = split(self._rows(sample), fit.rounds.held)
        trainer = self.hypotheses(train)
        every = [Rows(X=train.X), *targets]
        shape, start = self.loss(train, np.zeros(train.n)).scores.shape[1:], fit.rounds.start
        sums = [np.zeros((rows.n, *shape)) + (0.0 if start is None else start(rows)) for rows in every]
        made = 0
        for stage in stages:
            if stage > made:
                added = trainer.combine(fit.rounds.members[made:stage], fit.rounds.alphas[made:stage])
                for rows, total in zip(every, sums, strict=True):
                    total += added(rows)
            made = stage
            theta = None if fit.rounds.thetas is None else fit.rounds.thetas[stage]
            yield [count_above(self.gaps(train, sums[0], theta, total)) for total in sums[1:]]

    def _rows(self, sample: Sample) -> DistinctRows:
        return distinct_rows(sample, self.costs(sample))

    def _run(self, rows: DistinctRows, held: IntArray | None, start: Potential | None) -> Run:
        train, test = split(rows, held)
        return Run(
            train=train,
            test=test,
            held=held,
            trainer=self.hypotheses(train),
            loss=self.loss(train, np.zeros(train.n) if start is None else start(Rows(X=train.X))),
            gaps=self.gaps,
            start=start,
            patience=self.patience,
        )

    def _fitted(
        self, sample: Sample, train: DistinctRows, trainer: Hypotheses, rounds: Rounds, kept: int
    ) -> EnsembleFit:
        """The fit that uses the first of the rounds made on the training part of a sample."""
        potential = trainer.combine(rounds.members[:kept], rounds.alphas[:kept])
        if rounds.start is not None:
            potential = Raised(first=rounds.start, added=potential)
        rule = self.rule(train, potential, None if rounds.thetas is None else rounds.thetas[kept])
        made = len(rounds.members)
        used = f"; the first {kept} used" if kept < made else ""
        return EnsembleFit(
            rule=rule,
            certificate=self.certificate(train, rule, float(rounds.losses[kept]), float(rounds.limits[kept])),
            trace=Trace(iterations=made, objective=rounds.losses, message=rounds.message),
            scores=rule.scores(sample.rows),
            facts=(("Rounds", f"{made}, {rounds.message}{used}"), *self.facts()),
            rounds=rounds,
            kept=kept,
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class WeakHypotheses:
    """The option of the threshold ensembles of weak binary hypotheses.

    learner : str, weak learner or scikit-learn classifier
        "stump", "perceptron", "sigmoid", "tree" (of 5 leaves), "logistic"; a value such as DecisionTree(leaves=8) or
        RCDPerceptron(updates=100); or a classifier that takes sample_weight.
    """

    learner: Any = option("stump", _known_learner)

    def weak(self) -> WeakLearner:
        """The weak learner."""
        return parse_learner(self.learner, type(self).__name__)
