"""What the online rankers share: presentation of the rows, passes, tallies of mistakes, further batches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..exceptions import DataError, OptionError
from ..model.costs import CostField, CostMatrix, convex_break, sample_costs
from ..model.fit import Certificate, Fit, Trace
from ..model.online import Learned, MistakeBound, Tally
from ..model.sample import Sample
from ..model.scaling import SCALINGS, Scaling, fit_scaling
from ..solvers.online import Learner, growth
from ..solvers.rank_margin import LARGEST
from .base import Method, Needs
from .base_svm import SCALED, count, one_of

#: Orders in which rows may be presented.
PRESENTATIONS = ("order", "shuffled", "cost")
#: Steps of an update of CuSum Rank.
UPDATES = ("perceptron", "passive-aggressive")
#: The hypothesis used after learning, in words.
_KEPT = {"mean": "mean of all", "last": "last", "pocket": "pocket, with ratchet"}


@dataclass(frozen=True, kw_only=True, repr=False)
class OnlineMethod(Method):
    """Base of the rankers that learn one example after another, from zero weights.

    A concrete class says how a learner starts on a sample (`start`), goes on (`resume`) and becomes a fit (`fitted`).
    """

    epochs: int = 20
    keep: str = "mean"
    margin: float = 0.0
    presentation: str = "order"
    cost: CostField = "absolute"
    scaling: str | None = "range"

    needs: ClassVar[Needs] = Needs(row_costs=True)
    sequential: ClassVar[bool] = True
    #: What `keep` may be.
    keeps: ClassVar[tuple[str, ...]] = ("mean", "last")

    def __post_init__(self) -> None:
        settled = {
            "epochs": count(self, "epochs", self.epochs, 1),
            "margin": _not_negative(self, "margin", self.margin),
            "cost": CostMatrix.parse(self.cost).value,
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        one_of(self, "keep", self.keep, self.keeps)
        one_of(self, "presentation", self.presentation, PRESENTATIONS)
        one_of(self, "scaling", self.scaling, SCALINGS)

    @property
    def draws(self) -> bool:
        """Whether the fit is a random draw."""
        return self.presentation != "order"

    @property
    def incremental(self) -> bool:
        """Whether it learns further batches: not where hypotheses or rows are chosen by the whole of a sample."""
        return self.keep != "pocket" and self.presentation != "cost"

    @property
    def aggressive(self) -> bool:
        """Whether the steps are passive-aggressive."""
        return False

    # What a concrete class says

    def start(self, sample: Sample, costs: FloatArray, scaling: Scaling) -> Any:
        """A learner with zero weights at the rows of a sample."""
        raise TypeError(f"{type(self).__name__} defines no start")

    def resume(self, learned: Learned, sample: Sample, costs: FloatArray) -> Any:
        """A learner with what was learned, at the rows of another sample."""
        raise TypeError(f"{type(self).__name__} defines no resume")

    def lengths(self, work: Any) -> FloatArray:
        """(N,) squared length of the rows, the constant's taken in where it is one of the columns."""
        raise TypeError(f"{type(self).__name__} defines no lengths")

    def update_size(self, lengths: FloatArray, distance: FloatArray) -> FloatArray:
        """(M,) |Phi(x, y) - Phi(x, yhat)|^2 of mistakes |y - yhat| (M,) at rows of these squared lengths (M,)."""
        return distance * lengths

    def squared_radius(self, largest: float, n_levels: int) -> float:
        """R^2 with |Phi(x, y) - Phi(x, yhat)|^2 <= R^2 |y - yhat| for rows of squared length up to `largest`."""
        return largest

    def width(self, sample: Sample) -> int:
        """Columns that a row of the sample has for the learner."""
        return int(sample.X.shape[1])

    def separation(self, sample: Sample, fit: Fit) -> tuple[float, float | None]:
        """The largest squared length of the rows, and the margin delta that separates their ranks, if one does."""
        raise TypeError(f"{type(self).__name__} defines no separation")

    def fitted(self, work: Any, learned: Learned, sample: Sample, shared: dict[str, Any]) -> Fit:
        """The fit of a learner; `shared` holds certificate, trace and facts."""
        raise TypeError(f"{type(self).__name__} defines no fit")

    # Fits

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method has no use for, or weights that are no counts."""
        super().check(sample)
        cost = CostMatrix(self.cost)
        self.check_costs(cost.matrix(sample.n_levels) if sample.costs is None else sample_costs(cost, sample))
        weights = sample.case_weights
        if self.presentation != "cost" and (weights != np.rint(weights)).any():
            row = int(np.argmax(weights != np.rint(weights)))
            raise DataError(
                f"{type(self).__name__} presents a row as often as its weight says, so weights must be whole numbers; "
                f"row {row} has {weights[row]:g}. With presentation='cost' weights may be any number."
            )
        if not (weights > 0).any():
            raise DataError("weights are zero for every row: nothing is left to learn.")

    def check_costs(self, costs: FloatArray) -> None:
        """Raise where costs (M, K), of rows or of ranks, are not for this method."""

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> Fit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            A row of weight w is presented w times in turn; rows of weight 0 take no part.
        rng : numpy.random.Generator
            Of a presentation that draws.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        used = _used(sample)
        scaling = fit_scaling(self.scaling, used.X, used.case_weights)
        costs = sample_costs(CostMatrix(self.cost), used)
        work = self.start(used, costs, scaling)
        tally, path = Tally(batches=1), []
        for epoch in range(self.epochs):
            before = tally
            tally = self._learn(work, used, costs, self.presented(used, costs, rng), tally)
            path.append((tally.cost - before.cost) / (tally.examples - before.examples))
            if progress is not None:
                progress(epoch + 1, self.epochs, f"pass {epoch + 1}")
        return self._finished(work, Learned(state=None, scaling=scaling, tally=tally), sample, path)

    def continued(self, sample: Sample, fit: Any) -> Fit:
        """The fit after one more pass, over the rows of another sample in their order.

        Raises
        ------
        OptionError
            The method chooses among hypotheses, or draws rows, by the whole of its sample.
        """
        self.check(sample)
        if not self.incremental:
            raise OptionError(
                f"{self!r} weighs all rows of a sample against each other, so it cannot learn further batches: use "
                "keep='mean' or 'last' with presentation='order', as method='prank' does."
            )
        used = _used(sample)
        costs = sample_costs(CostMatrix(self.cost), used)
        learned: Learned = fit.learned
        work = self.resume(learned, used, costs)
        before = replace(learned.tally, batches=learned.tally.batches + 1)
        order = np.repeat(np.arange(used.n), used.case_weights.astype(np.intp))
        tally = self._learn(work, used, costs, order, before)
        path = [(tally.cost - before.cost) / (tally.examples - before.examples)]
        return self._finished(work, replace(learned, tally=tally), sample, path)

    def presented(self, used: Sample, costs: FloatArray, rng: np.random.Generator) -> IntArray:
        """(M,) rows of one pass in the order of their presentation."""
        weights = used.case_weights
        if self.presentation == "cost":
            share = np.cumsum(weights * costs.max(axis=1))
            if share[-1] == 0.0:
                raise DataError("the costs are zero for every row, so none can be drawn: give costs that differ.")
            drawn = rng.random(max(int(np.rint(weights.sum())), 1)) * share[-1]
            chosen: IntArray = np.minimum(np.searchsorted(share, drawn, side="right"), used.n - 1).astype(np.intp)
            return chosen
        order: IntArray = np.repeat(np.arange(used.n, dtype=np.intp), weights.astype(np.intp))
        return rng.permutation(order) if self.presentation == "shuffled" else order

    def _learn(self, work: Any, used: Sample, costs: FloatArray, order: IntArray, tally: Tally) -> Tally:
        """One pass; the tally with its mistakes added."""
        learner: Learner = work.learner
        answers = learner.learn(work.batch, order)
        wrong = np.flatnonzero(answers != used.y[order])
        rows = order[wrong]
        distance = np.abs(answers[wrong] - used.y[rows]).astype(np.float64)
        cost = costs[rows, answers[wrong]]
        update = self.update_size(self.lengths(work)[rows], distance)
        return replace(
            tally,
            examples=tally.examples + order.size,
            mistakes=tally.mistakes + wrong.size,
            distance=tally.distance + float(distance.sum()),
            cost=tally.cost + float(costs[order, answers].sum()),
            growth=tally.growth + growth(update, cost, self.margin, self.aggressive),
        )

    def _finished(self, work: Any, learned: Learned, sample: Sample, path: list[float]) -> Fit:
        t = learned.tally
        what = "answers under the margin" if self.margin > 0.0 else "answers"
        facts = (
            ("Columns scaled", SCALED[self.scaling]),
            ("Hypothesis", _KEPT[self.keep]),
            (
                "Online",
                f"{t.examples} examples in {t.batches} batch{'es' if t.batches > 1 else ''}; {what} wrong "
                f"{t.mistakes} times, sum |y - yhat| = {t.distance:g}",
            ),
        )
        norm = work.learner.squared_norm()
        shared = {
            "certificate": Certificate(
                name="|w|^2 / its limit by the mistakes",
                value=0.0 if norm == 0.0 else norm / t.growth,
                tolerance=1.0 + 1e-6,
                details=(("mistakes", t.mistakes), ("sum |y - yhat|", t.distance)),
            ),
            "trace": Trace(iterations=len(path), objective=np.array(path), message="passes"),
            "facts": facts,
        }
        return self.fitted(work, learned, sample, shared)

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
        nan = float("nan")
        if tally.batches > 1:
            why = "none, for the rows of earlier batches are not at hand"
            return MistakeBound(value=tally.distance, limit=nan, radius=nan, margin=nan, source=why)
        used = _used(sample)
        if used.n * (self.width(used) + used.n_levels) * (used.n_levels - 1) > LARGEST:
            why = "none sought, for the rows are many"
            return MistakeBound(value=tally.distance, limit=nan, radius=nan, margin=nan, source=why)
        largest, delta = self.separation(used, fit)
        square = self.squared_radius(largest, used.n_levels)
        if delta is None:
            why = "none, for the training rows are not rank separable"
            return MistakeBound(value=tally.distance, limit=nan, radius=square**0.5, margin=nan, source=why)
        limit = self._limit(square, used) / delta**2
        source = "R^2 / delta^2, Milidiú & Rocha, cor. 3" if self.margin == 0.0 else "their cor. 3, with the margin"
        return MistakeBound(value=tally.distance, limit=limit, radius=square**0.5, margin=delta, source=source)

    def _limit(self, square: float, used: Sample) -> float:
        """sum |y - yhat| times delta^2 at most."""
        distance = np.abs(used.y[:, None] - np.arange(used.n_levels))
        wrong = distance > 0
        price = sample_costs(CostMatrix(self.cost), used)[wrong] / distance[wrong]
        most, least = float(price.max()), float(price.min())
        if not self.aggressive:
            return square + 2.0 * self.margin * most
        if least == 0.0 or self.margin >= 1.0:
            return float("inf")
        return square * (most / (least * (1.0 - self.margin))) ** 2


def _not_negative(method: Method, name: str, value: Any) -> float:
    ok = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not ok or not 0.0 <= value < np.inf:
        raise OptionError(f"{name} of {type(method).__name__} must be a finite number of 0 or more; got {value!r}.")
    return float(value)


def require_convex(method: OnlineMethod, costs: FloatArray) -> None:
    """DataError where a margin meets costs that would put thresholds out of order."""
    broken = None if method.margin == 0.0 else convex_break(costs)
    if broken is not None:
        raise DataError(
            f"{type(method).__name__} with margin > 0 needs convex costs, for thresholds to stay in order: row "
            f"{broken.row} of the costs bends down at rank code {broken.rank}. Change them, or set margin=0."
        )


def _used(sample: Sample) -> Sample:
    """The rows of positive weight."""
    used = sample.case_weights > 0
    return sample if used.all() else sample.take(used)
