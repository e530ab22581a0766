"""What online rankers share."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..checks import number, one_of, whole
from ..exceptions import DataError, OptionError
from ..fit import Certificate, Fit, ScoreRule, ThresholdRule, Trace
from ..formula.sample import SCALED, Sample, Scaling, fit_scaling, require_finite_squares
from ..judging.costs import CostField, require_differences
from ..judging.geometry import Geometry, ball
from ..method import Method, Needs, cost_option, option, scaling_option
from ..svm.kernels import Kernel, Linear
from .perceptron import (
    LARGEST,
    ColumnLearner,
    Examples,
    KernelLearner,
    Learned,
    MistakeBound,
    OnlineMarginFit,
    OnlineVoteFit,
    Tally,
    Update,
    Weights,
)

#: Orders in which rows may be presented.
PRESENTATIONS = ("shuffled", "order", "cost")
#: The hypothesis used after learning, in words.
_KEPT = {
    "mean": "the mean of all on the way",
    "last": "the last one",
    "pocket": "the best on the way (pocket, with ratchet)",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class OnlineMethod(Method):
    """Base of the rankers that learn one example after another, from zero weights.

    A concrete class says what ranks rows after an update (`ruled`), and how well weights can separate ranks.
    Its options beside those of its own are

    epochs : int
        Passes over the rows, at least 1.
    keep : {"mean", "last"}
        The hypothesis used: the mean of those after each example (averaged perceptron), or the last one.
    margin : float
        Learn until the true rank leads by margin times the cost of any other, >= 0.
    presentation : {"shuffled", "order", "cost"}
        What a pass shows: every row as often as its weight says, in an order drawn anew; the rows in the order they
        came, a row of weight w being shown w times in turn; or rows drawn with a probability proportional to
        weight times max_k c_n[k], where weights need not be whole. "shuffled" and "cost" draw from the different rows
        in an order of their own, so that a fit depends neither on the order that rows came in nor on whether a row
        was weighted or repeated.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or any matrix [true rank, predicted rank]; a row's own costs in the
        sample take its place.
    scaling : {"range", "standard", None}
        Columns to [-1, 1] on the training rows, to mean 0 and standard deviation 1, or as they are.
    """

    epochs: int = option(20, whole, 1)
    keep: str = option("mean", lambda name, value, of: one_of(name, value, of.keeps, of=of))
    margin: float = option(0.0, number, least=0.0)
    presentation: str = option("shuffled", one_of, PRESENTATIONS)
    cost: CostField = cost_option()
    scaling: str | None = scaling_option()

    needs: ClassVar[Needs] = Needs(row_costs=True)
    fit_class: ClassVar[type[OnlineMarginFit | OnlineVoteFit]]
    #: Whether it learns one direction and thresholds; else weights for every step of the ranks, of a constant too.
    projects: ClassVar[bool]
    #: What `keep` may be.
    keeps: ClassVar[tuple[str, ...]] = ("mean", "last")

    @property
    def incremental(self) -> bool:
        """Whether it learns further batches: not where hypotheses or rows are chosen by the whole of a sample."""
        return self.keep != "pocket" and self.presentation != "cost"

    def one_pass(self) -> Self:
        """This method for a stream: every row once, in the order given."""
        return replace(self, epochs=1, presentation="order")

    @property
    def aggressive(self) -> bool:
        """Whether the steps are passive-aggressive."""
        return False

    # What a concrete class says

    @property
    def similarity(self) -> Kernel | None:
        """The kernel whose sums are learned; None where weights of the columns are."""
        return None

    def learner(self, examples: Examples, scaling: Scaling, state: Any = None) -> ColumnLearner | KernelLearner:
        """A learner at the examples, with zero weights; with what was learned before, for one more pass."""
        width, steps = examples.X.shape[1], examples.n_levels - 1
        shape = (width + steps,) if self.projects else (steps, width + 1)
        return ColumnLearner(
            examples,
            scaling,
            Weights.zeros(shape, self.keep == "pocket") if state is None else deepcopy(state),
            margin=self.margin,
            aggressive=self.aggressive,
            one_pass=state is not None,
        )

    def squared_radius(self, largest: float, n_levels: int) -> float:
        """R^2 with |Phi(x, y) - Phi(x, yhat)|^2 <= R^2 |y - yhat| for rows of squared length up to `largest`."""
        return largest

    def width(self, examples: Examples) -> int:
        """Columns that an example has for the learner."""
        return int(examples.X.shape[1])

    def features(self, examples: Examples, fit: Any) -> FloatArray:
        """(N, J) what takes the place of x in Phi(x, y), the constant's column among them."""
        Z: FloatArray = fit.learned.scaling(examples.X)
        return Z if self.projects else np.hstack([Z, np.full((examples.n, 1), -1.0)])

    def best_margin(self, Z: FloatArray, y: IntArray, n_levels: int) -> float | None:
        """The largest delta by which weights of norm 1 separate the ranks y (N,) of features Z (N, J), if any do."""
        raise TypeError(f"{type(self).__name__} defines no best_margin")

    def ruled(self, update: Update) -> tuple[ThresholdRule | ScoreRule, dict[str, Any]]:
        """The ranker after an update, and what else its fit tells."""
        raise TypeError(f"{type(self).__name__} defines no rule")

    def own_facts(self, learned: Learned) -> tuple[tuple[str, Any], ...]:
        """Header lines of the summary that only this method has."""
        return ()

    # Fits

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method does not support, or weights that are no counts."""
        super().check(sample)
        self.check_costs(self.cost_matrix.matrix(sample.n_levels) if sample.costs is None else self.costs(sample))
        if (weights := sample.weights) is None:
            return
        if self.presentation != "cost" and (parts := weights != np.rint(weights)).any():
            row = int(np.argmax(parts))
            raise DataError(
                f"{type(self).__name__} presents a row as often as its weight says, so weights must be whole numbers; "
                f"row {row} has {weights[row]:g}. With presentation='cost' weights may be any number."
            )

    def check_costs(self, costs: FloatArray) -> None:
        """Raise where costs (M, K), of rows or of ranks, are not for this method."""

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> Fit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            A row of weight w is presented w times in a pass; rows of weight 0 take no part.
        rng : numpy.random.Generator
            Source of a presentation that draws.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        shown = Examples.as_given if self.presentation == "order" else Examples.of
        examples = shown(sample, self.cost_matrix)
        require_differences(examples.own_costs, examples.weights)
        scaling = fit_scaling(self.scaling, examples.X, examples.weights)
        orders = (self.presented(examples, rng) for _ in range(self.epochs))
        return self.concluded(_learn(self.learner(examples, scaling), orders, Tally(batches=1), self.epochs, progress))

    def continued(self, sample: Sample, learned: Learned) -> Update:
        """One more pass after what was learned, over the rows of another sample in their order.

        Raises
        ------
        OptionError
            The method chooses among hypotheses, or draws rows, by the whole of its sample.
        """
        self.check(sample)
        if not self.incremental:
            raise OptionError(
                f"{self!r} weighs all rows of a sample against each other, so it cannot learn further batches: use "
                "keep='mean' or 'last' with presentation='shuffled' or 'order', as method='prank' does."
            )
        require_finite_squares(learned.scaling(sample.X))
        examples = Examples.as_given(sample, self.cost_matrix)
        learner = self.learner(examples, learned.scaling, learned.state)
        tally = replace(learned.tally, batches=learned.tally.batches + 1)
        return _learn(learner, [examples.in_turn()], tally, 1, None)

    def presented(self, examples: Examples, rng: np.random.Generator) -> IntArray:
        """(M,) examples of one pass in the order of their presentation."""
        if self.presentation == "cost":
            return examples.drawn_by_cost(rng)
        order = examples.in_turn()
        return rng.permutation(order) if self.presentation == "shuffled" else order

    def concluded(self, update: Update) -> OnlineMarginFit | OnlineVoteFit:
        """The fit after an update, to the rows of its sample."""
        t = update.learned.tally
        norm = update.learner.squared_norm()
        rule, more = self.ruled(update)
        what = "answers under the margin" if self.margin > 0.0 else "answers"
        online = (
            f"{t.examples} examples in {t.batches} batch{'es' if t.batches > 1 else ''}; {what} wrong {t.mistakes} "
            f"times, sum |y - yhat| = {t.distance:g}"
        )
        return self.fit_class(
            rule=rule,
            certificate=Certificate(
                name="|w|^2 / its limit by the mistakes",
                value=0.0 if norm == 0.0 else norm / t.growth,
                tolerance=1.0 + 1e-6,
                details=(("mistakes", t.mistakes), ("sum |y - yhat|", t.distance)),
            ),
            trace=Trace(iterations=len(update.path), objective=np.array(update.path), message="passes"),
            scores=rule.scores(update.sample.rows),
            facts=(
                *self.own_facts(update.learned),
                ("Columns scaled", SCALED[self.scaling]),
                ("Ranker kept", _KEPT[self.keep]),
                ("Online", online),
            ),
            learned=update.learned,
            **more,
        )

    def geometry(self, sample: Sample, fit: Fit) -> Geometry | None:
        """Norms in the feature space of the scaled columns; None where nothing was learned, and for votes."""
        if not isinstance(fit, OnlineMarginFit):
            return None
        rule: Any = fit.rule
        if rule.potential.squared_norm == 0.0:
            return None
        Z = fit.learned.scaling(sample.X)
        return ball(self.similarity or Linear(), Z, self.scaling, rule.potential.squared_norm, rule.theta)

    # Mistake bound

    def mistake_bound(self, sample: Sample, fit: Any) -> MistakeBound:
        """The limit that a separation of the rows sets to sum |y - yhat| while learning.

        sum |y - yhat| <= (R^2 + 2 margin s) / delta^2 for perceptron steps, and (s / r)^2 R^2 / ((1 - margin)^2
        delta^2) for passive-aggressive ones, s and r the largest and the smallest cost of a mistake per |y - yhat|; 1
        under the absolute cost, where this is corollary 3 of Milidiú & Rocha. Their corollary 4, R^2 / delta^4, cannot
        hold: rows in other units change it, and not the mistakes.

        Parameters
        ----------
        sample : Sample
            The rows learned.
        fit : OnlineMarginFit or OnlineVoteFit
        """
        tally: Tally = fit.learned.tally
        if tally.batches > 1:
            return MistakeBound(value=tally.distance, source="none, for the rows of earlier batches are not at hand")
        examples, n_levels = Examples.of(sample, self.cost_matrix), sample.n_levels
        if examples.n * (self.width(examples) + n_levels) * (n_levels - 1) > LARGEST:
            return MistakeBound(value=tally.distance, source="none sought, for the rows are many")
        Z = self.features(examples, fit)
        square = self.squared_radius(float(np.einsum("nd,nd->n", Z, Z).max()), n_levels)
        delta = self.best_margin(Z, examples.y, n_levels)
        if delta is None:
            why = "none, for the training rows are not rank separable"
            return MistakeBound(value=tally.distance, source=why, radius=square**0.5)
        limit = self._limit(square, examples) / delta**2
        source = "R^2 / delta^2, Milidiú & Rocha, cor. 3" if self.margin == 0.0 else "their cor. 3, with the margin"
        return MistakeBound(value=tally.distance, source=source, limit=limit, radius=square**0.5, margin=delta)

    def _limit(self, square: float, examples: Examples) -> float:
        """sum |y - yhat| times delta^2 at most."""
        distance = np.abs(examples.y[:, None] - np.arange(examples.n_levels))
        wrong = distance > 0
        price = examples.own_costs[wrong] / distance[wrong]
        most, least = float(price.max()), float(price.min())
        if not self.aggressive:
            return square + 2.0 * self.margin * most
        if least == 0.0 or self.margin >= 1.0:
            return float("inf")
        return square * (most / (least * (1.0 - self.margin))) ** 2


def _learn(
    learner: ColumnLearner | KernelLearner,
    orders: Iterable[IntArray],
    tally: Tally,
    passes: int,
    progress: Progress | None,
) -> Update:
    """Passes over the examples, each in an order, their mistakes added to the tally."""
    path: list[float] = []
    for order in orders:
        mistakes, distance, cost, growth = learner.learn(order).tolist()
        tally = replace(
            tally,
            examples=tally.examples + order.size,
            mistakes=tally.mistakes + int(mistakes),
            distance=tally.distance + distance,
            cost=tally.cost + cost,
            growth=tally.growth + growth,
        )
        path.append(cost / order.size)
        if progress is not None:
            progress(len(path), passes, f"pass {len(path)}")
    learned = Learned(state=learner.state, scaling=learner.scaling, tally=tally)
    return Update(learner=learner, learned=learned, path=tuple(path))
