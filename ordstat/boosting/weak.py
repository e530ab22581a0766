"""Weak learners: stumps and perceptrons on columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray
from ..advice import with_option_hints
from ..checks import number, one_of, whole
from ..compiled.weak import best_cut, climb
from ..formula.sample import Rows, Sample
from ..formula.scaling import SCALINGS, Scaling, fit_scaling
from .learner import HypothesisClass, WeakHypothesis, WeakLearner, WeakTrainer
from .sums import DirectionSum, StumpSum, hard_sign

# Differences below this share of the weights are ties.
_STUMP_TIE = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class Presorted:
    """Columns sorted once.

    Attributes
    ----------
    order : (D, N) int32
    values : (D, N) the columns in their order
    distinct : (D, N - 1) bool
        Whether the next value is larger.
    """

    order: AnyArray
    values: FloatArray
    distinct: BoolArray

    @classmethod
    def of(cls, X: FloatArray) -> Presorted:
        """Sort the columns of X (N, D); without columns use a column of zeros, so that
        only constants remain.
        """
        columns = np.ascontiguousarray(X.T) if X.shape[1] else np.zeros((1, len(X)))
        # One column after another, so that Ctrl-C need not wait for all.
        order = np.array(
            [np.argsort(x, kind="stable") for x in columns], dtype=np.intp
        ).reshape(columns.shape)
        values = np.take_along_axis(columns, order, axis=1)
        return cls(
            order=order.astype(np.int32),
            values=values,
            distinct=values[:, 1:] > values[:, :-1],
        )

    def between(self, column: int, place: int) -> float:
        """The threshold between the rows at a place in the order and the next."""
        return float(middle(self.values[column, place], self.values[column, place + 1]))


def middle(low: AnyArray, high: AnyArray) -> FloatArray:
    """Midpoint of low and high; low where no number lies between them."""
    half_way = low / 2.0 + high / 2.0
    return np.where((low <= half_way) & (half_way < high), half_way, low)


@dataclass(frozen=True)
class StumpMember:
    """sign * [1 if x[column] > cut else -1]; a cut of -inf is the constant."""

    column: int
    cut: float
    sign: float


@with_option_hints
@dataclass(frozen=True)
class DecisionStump(WeakLearner):
    """Decision stump: the best h(x) = q sign(x[d] - t) over all columns d, thresholds t
    and signs q.

    The fast default of the boosting methods. A constant is used where no threshold is
    better.

    Examples
    --------
    >>> from ordstat import DecisionStump, datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "orboost-all", rounds=3)
    >>> len(fit.rounds)
    4
    """

    def on(self, X: FloatArray, case_weights: FloatArray) -> StumpTrainer:
        return StumpTrainer(X=X, presorted=Presorted.of(X))


@dataclass(frozen=True, eq=False, kw_only=True)
class StumpTrainer(WeakTrainer):
    """The trainer of a stump, for the rows X (N, D)."""

    presorted: Presorted

    def best(self, u: FloatArray, rng: np.random.Generator) -> WeakHypothesis:
        sorted_by = self.presorted
        slack = _STUMP_TIE * float(np.abs(u).sum())
        _, column, place, sign = best_cut(
            sorted_by.order, sorted_by.distinct.view(np.uint8), u, slack
        )
        if column < 0:
            return WeakHypothesis(StumpMember(0, -np.inf, sign), np.full(self.n, sign))
        values = np.full(self.n, sign)
        values[sorted_by.order[column, : place + 1]] = -sign
        return WeakHypothesis(
            StumpMember(column, sorted_by.between(column, place), sign), values
        )

    def combine(
        self, members: Sequence[StumpMember], round_weights: FloatArray
    ) -> StumpSum:
        return StumpSum(
            columns=np.array([m.column for m in members], dtype=np.intp),
            cuts=np.array([m.cut for m in members], dtype=np.float64),
            round_weights=np.array([m.sign for m in members], dtype=np.float64)
            * round_weights,
        )

    def richness(self) -> HypothesisClass:
        """Each distinct value of a column gives two hypotheses, one for each sign."""
        return HypothesisClass(
            log_size=float(
                np.log(2.0 * (1 + self.presorted.distinct.sum(axis=1)).sum())
            )
        )


def vote_divergence(potential: StumpSum, theta: FloatArray, sample: Sample) -> float:
    """Divergence, in nats, between the weights of the stumps and the prior, for the
    bounds of votes.

    NaN if a cut is not the middle of two neighbouring values of the rows.

    Parameters
    ----------
    potential : StumpSum
    theta : (K-1,)
    sample : Sample
        The rows of the fit.
    """
    columns, cuts, weights = _merged(potential)
    log_half = float(np.log(0.5))
    prior = (
        log_half
        - np.log(2.0 * (sample.X.shape[1] + 1))
        + _log_pairs(columns, cuts, sample)
    )
    of_thresholds = np.full(theta.size, log_half - np.log(2.0 * theta.size))
    sizes = np.concatenate((np.abs(weights), np.abs(theta)))
    share = sizes / (sizes.sum() or 1.0)
    voting = share > 0
    return float(
        share[voting]
        @ (np.log(share[voting]) - np.concatenate((prior, of_thresholds))[voting])
    )


def _merged(potential: StumpSum) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Columns, cuts and total weights of the distinct stumps (signs count)."""
    constant = np.isinf(potential.cuts)
    keys = np.column_stack(
        (
            np.where(constant, -1, potential.columns),
            potential.cuts,
            np.sign(potential.round_weights),
        )
    )
    different, place = np.unique(keys, axis=0, return_inverse=True)
    weights = np.bincount(
        place.ravel(), weights=np.abs(potential.round_weights), minlength=len(different)
    )
    return different[:, 0], different[:, 1], np.asarray(weights, dtype=np.float64)


def _log_pairs(columns: FloatArray, cuts: FloatArray, sample: Sample) -> FloatArray:
    """Logarithm of the share of pairs of rows with their middle at the cut; 0 for a
    constant.
    """
    used = sample.case_weights > 0
    weights = sample.case_weights[used]
    log_pairs = np.zeros(cuts.size)
    for place in np.flatnonzero(columns >= 0):
        x = sample.X[used, int(columns[place])]
        below = x <= cuts[place]
        low = x[below].max()
        high = x[~below].min()
        pairs = (
            np.log(weights[x == low].sum())
            + np.log(weights[x == high].sum())
            - 2.0 * np.log(weights.sum())
        )
        log_pairs[place] = pairs if cuts[place] == middle(low, high) else np.nan
    return log_pairs


@with_option_hints
@dataclass(frozen=True, kw_only=True)
class RCDPerceptron(WeakLearner):
    """Perceptron h(x) = sign(<v, (x, 1)>), fitted by random coordinate descent from v =
    0.

    Each update moves v along one direction, to the middle of the interval with the
    smallest weighted error. The first direction is the bias, followed by D random
    directions, uniform in [-1, 1]^D; then the bias again, and so on. Ties go to the
    largest step, as in the authors' program.

    Parameters
    ----------
    updates : int
        Number of updates, at least 1; the papers use 200.
    scaling : {"range", "standard", None}
        Scale columns to [-1, 1] on the training rows, to mean 0 and standard deviation
        1, or not at all.

    Raises
    ------
    OptionError
        A value outside its range.

    Examples
    --------
    >>> RCDPerceptron(updates=100)
    RCDPerceptron(updates=100, scaling='range')
    """

    updates: int = 200
    scaling: str | None = "range"

    def __post_init__(self) -> None:
        whole("updates", self.updates, 1, of=self)
        one_of("scaling", self.scaling, SCALINGS, of=self)

    def on(self, X: FloatArray, case_weights: FloatArray) -> DirectionTrainer:
        return DirectionTrainer.of(self, X, case_weights)


@with_option_hints
@dataclass(frozen=True, kw_only=True)
class NormalisedSigmoid(RCDPerceptron):
    """Sigmoid h(x) = tanh(<v, (x, 1)>), with v from `RCDPerceptron`, scaled to length
    gamma.

    Parameters
    ----------
    updates, scaling
        As for `RCDPerceptron`.
    gamma : float
        Length of (v, bias), > 0; the papers use 4.

    Examples
    --------
    >>> NormalisedSigmoid(gamma=2.0)
    NormalisedSigmoid(updates=200, scaling='range', gamma=2.0)
    """

    gamma: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        number("gamma", self.gamma, above=0.0, of=self)

    def on(self, X: FloatArray, case_weights: FloatArray) -> DirectionTrainer:
        return DirectionTrainer.of(
            self, X, case_weights, shape=np.tanh, length=float(self.gamma)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectionTrainer(WeakTrainer):
    """The trainer of a perceptron, or of a sigmoid, for the rows X (N, D).

    Attributes
    ----------
    scaled : (N, D)
    scaling : Scaling
    updates : int
    shape : callable
        Function of <v, (x, 1)>.
    length : float or None
        Length of v for a sigmoid.
    """

    scaled: FloatArray
    scaling: Scaling
    updates: int
    shape: Callable[[FloatArray], FloatArray] = hard_sign
    length: float | None = None

    @classmethod
    def of(
        cls,
        learner: RCDPerceptron,
        X: FloatArray,
        case_weights: FloatArray,
        **more: Any,
    ) -> DirectionTrainer:
        """Scale the columns once."""
        scaling = fit_scaling(learner.scaling, X, case_weights)
        return cls(
            X=X, scaled=scaling(X), scaling=scaling, updates=learner.updates, **more
        )

    def best(self, u: FloatArray, rng: np.random.Generator) -> WeakHypothesis:
        member = self._placed(self.search(u, rng))
        return WeakHypothesis(
            member, self.combine([member], np.ones(1))(Rows(X=self.X))
        )

    def search(self, u: FloatArray, rng: np.random.Generator) -> FloatArray:
        """(D + 1,) direction and bias after all updates."""
        width = self.scaled.shape[1]
        turns = np.arange(self.updates) % (width + 1) - 1
        moves = np.where(turns < 0, -1, np.cumsum(turns >= 0) - 1).astype(np.int32)
        directions = rng.uniform(-1.0, 1.0, size=(int((turns >= 0).sum()), width))
        projections = np.ascontiguousarray(directions @ self.scaled.T)
        steps = np.zeros(self.updates)
        climb(
            projections,
            moves,
            u,
            _STUMP_TIE * float(np.abs(u).sum()),
            np.zeros(self.n),
            steps,
        )
        return np.append(steps[turns >= 0] @ directions, steps[turns < 0].sum())

    def _placed(self, direction: FloatArray) -> FloatArray:
        size = float(np.linalg.norm(direction))
        if self.length is None or size == 0.0:
            return direction
        return direction * (self.length / size)

    def combine(
        self, members: Sequence[Any], round_weights: FloatArray
    ) -> DirectionSum:
        directions = np.array(members, dtype=np.float64).reshape(
            -1, self.scaled.shape[1] + 1
        )
        return DirectionSum(
            scaling=self.scaling,
            directions=directions,
            round_weights=np.asarray(round_weights),
            shape=self.shape,
        )

    def richness(self) -> HypothesisClass:
        """For perceptrons, Cover's number of ways to divide N points by hyperplanes.

        For sigmoids, the squared lengths of gamma (x, 1), as tanh is 1-Lipschitz.
        """
        n = self.n
        width = self.scaled.shape[1]
        if self.length is not None:
            squares = self.length**2 * (1.0 + np.square(self.scaled).sum(axis=1))
            return HypothesisClass(log_size=np.nan, squared_lengths=squares)
        count = 2 * sum(comb(n - 1, i) for i in range(min(width, n - 1) + 1))
        return HypothesisClass(log_size=_log_of(count))


def _log_of(count: int) -> float:
    """Natural logarithm of a whole number of any size."""
    shift = max(count.bit_length() - 1000, 0)
    return float(np.log(float(count >> shift))) + shift * float(np.log(2.0))
