"""PRank and CuSum Rank: rankers that learn one example after another, on columns or on
a kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..advice import with_option_hints
from ..checks import number, one_of, whole
from ..exceptions import DataError, OptionError
from ..fit import Certificate, Fit, LinearPotential, ScoreRule, ThresholdRule, Trace
from ..formula.sample import Sample
from ..formula.scaling import (
    SCALED,
    Scaling,
    fit_scaling,
    require_finite_squares,
    scaling_with,
)
from ..formula.sparse import sparse_part
from ..judging.costs import CostField, is_convex, require_differences
from ..judging.geometry import Geometry, ball
from ..kernels import Kernel, Linear, parse_kernel
from ..method import (
    CRAMMER,
    MILIDIU,
    Method,
    Supports,
    cost_option,
    option,
    scaling_option,
)
from ..svm.options import check_scaling_of_kernel
from .perceptron import (
    LARGEST,
    ColumnLearner,
    CumulativeVotes,
    Examples,
    KernelLearner,
    KernelSums,
    Learner,
    LinearGaps,
    MistakeBound,
    OnlineMarginFit,
    OnlineState,
    OnlineVoteFit,
    Tally,
    Weights,
    definite_gram,
    separation_margin,
)
from .results import OnlineMarginResults, OnlineVoteResults

# Eigenvalues below this share of the largest are rounding.
_ZERO_EIGENVALUE = 1e-12
#: Steps of an update of CuSum Rank.
UPDATES = ("perceptron", "passive-aggressive")
#: Orders in which rows may be presented.
PRESENTATIONS = ("shuffled", "order", "cost")
#: Descriptions of the hypothesis used after learning.
_KEPT = {
    "mean": "the average over all updates",
    "last": "the last",
    "pocket": "the best so far (pocket algorithm with ratchet)",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class OnlineMethod(Method, ABC):
    """Base of the rankers that learn one example after another, from zero weights.

    Use one for streams, or as a fast baseline.

    Parameters
    ----------
    epochs : int
        Passes over the rows, at least 1.
    keep : {"mean", "last"}
        Weights used for prediction: the mean of the weights after each example
        (averaged perceptron), or the last ones.
    margin : float
        Required lead of the true rank over any other rank, as a multiple of the cost of
        that rank, >= 0.
    presentation : {"shuffled", "order", "cost"}
        Order of the rows in a pass. "shuffled": each row as often as its weight, in a
        new random order. "order": the order of the data, a row of weight w shown w
        times in turn. "cost": random rows, with a probability proportional to weight
        times max_k c_n[k]; weights need not be whole numbers. "shuffled" and "cost"
        draw from the sorted distinct rows, so the fit depends neither on the order of
        the data nor on whether a row is weighted or repeated.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or any matrix [true rank, predicted
        rank]; costs given for single rows replace it.
    scaling : {"range", "standard", None}
        Scale columns to [-1, 1] on the training rows, to mean 0 and standard deviation
        1, or not at all.
    """

    epochs: int = option(20, whole, 1)
    keep: str = option(
        "mean", lambda name, value, of: one_of(name, value, of.keeps, of=of)
    )
    margin: float = option(0.0, number, least=0.0)
    presentation: str = option("shuffled", one_of, PRESENTATIONS)
    cost: CostField = cost_option()
    scaling: str | None = scaling_option()

    supports: ClassVar[Supports] = Supports(row_costs=True)
    centres: ClassVar[bool] = False
    fit_class: ClassVar[type[OnlineMarginFit | OnlineVoteFit]]
    #: Whether the method learns one direction and thresholds, instead of weights and a
    #: constant for each step.
    projects: ClassVar[bool]
    #: Values of `keep`.
    keeps: ClassVar[tuple[str, ...]] = ("mean", "last")

    @property
    def incremental(self) -> bool:
        """Whether the method can learn further batches: not if it needs the whole
        sample to choose weights or draw rows.
        """
        return self.keep != "pocket" and self.presentation != "cost"

    @property
    def takes_sparse(self) -> bool:
        """Whether the method supports sparse columns: without scaling, which would
        change their zeros, and without a pocket, which needs the cost of all rows
        repeatedly.
        """
        by_columns = self.similarity is None
        return by_columns and self.scaling is None and self.keep != "pocket"

    @property
    def sparse_instead(self) -> str:
        if self.similarity is not None:
            return super().sparse_instead
        return ", or give scaling=None and keep='mean' or 'last'"

    def one_pass(self) -> Self:
        """This method for a stream: every row once, in order."""
        return replace(self, epochs=1, presentation="order")

    @property
    def aggressive(self) -> bool:
        """Whether the steps are passive-aggressive."""
        return False

    # Defined by concrete classes

    @property
    def similarity(self) -> Kernel | None:
        """The kernel; None if weights of the columns are learned."""
        return None

    def learner(
        self, examples: Examples, scaling: Scaling, earlier: OnlineState | None = None
    ) -> Learner:
        """A learner for the examples that starts from zero weights, or from an earlier
        state for one more pass.
        """
        width = examples.X.shape[1]
        steps = examples.n_levels - 1
        shape = (width + steps,) if self.projects else (steps, width + 1)
        state = Weights.zeros(shape, self.keep == "pocket")
        tally = Tally(batches=1)
        if earlier is not None:
            state = deepcopy(earlier.state)
            tally = replace(earlier.tally, batches=earlier.tally.batches + 1)
        return ColumnLearner(
            self, examples, scaling, tally, state, one_pass=earlier is not None
        )

    def features(self, examples: Examples, fit: Any) -> FloatArray:
        """(N, J) columns used as x in Phi(x, y), including that of the constant."""
        Z: FloatArray = fit.learned.scaling(examples.X)
        return Z if self.projects else np.hstack([Z, np.full((examples.n, 1), -1.0)])

    @abstractmethod
    def best_margin(self, Z: FloatArray, y: IntArray, n_levels: int) -> float | None:
        """The largest delta by which weights of norm 1 separate the ranks y (N,) of
        features Z (N, J), or None.
        """

    @abstractmethod
    def ruled(self, learner: Any) -> tuple[ThresholdRule | ScoreRule, dict[str, Any]]:
        """The rule of a learner after its passes, and additional fields of its fit."""

    def own_facts(self, learner: Any) -> tuple[tuple[str, Any], ...]:
        """Header lines of the summary specific to this method."""
        return ()

    # Fits

    def check(self, sample: Sample) -> None:
        """Raise an error if the method does not support the sample, or if weights are
        not counts.
        """
        super().check(sample)
        if sample.costs is None:
            self.check_costs(self.cost_matrix.matrix(sample.n_levels))
        else:
            self.check_costs(self.costs(sample))
        if (weights := sample.weights) is None:
            return
        if self.presentation != "cost" and (parts := weights != np.rint(weights)).any():
            row = int(np.argmax(parts))
            raise DataError(
                f"weights must be whole numbers for {type(self).__name__}, which"
                f" presents a row as often as its weight; got {weights[row]:g} in row"
                f" {row}. Set presentation='cost' for other weights."
            )

    def check_costs(self, costs: FloatArray) -> None:
        """Raise an error if costs (M, K) of rows or ranks are not supported."""

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> Fit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            A row of weight w is presented w times in a pass; rows of weight 0 are
            ignored.
        rng : numpy.random.Generator
            Draws the order of presentation.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        shown = Examples.as_given if self.presentation == "order" else Examples.of
        examples = shown(sample, self.cost_matrix)
        require_differences(examples.own_costs, examples.weights)
        scaling = fit_scaling(self.scaling, examples.X, examples.weights)
        learner = self.learner(examples, scaling)
        for epoch in range(1, self.epochs + 1):
            learner.learn(self.presented(examples, rng))
            if progress is not None:
                progress(epoch, self.epochs, f"pass {epoch}")
        return self.concluded(learner)

    def continued(self, sample: Sample, learned: OnlineState) -> Learner:
        """A learner after one more pass, over the rows of another sample in their
        order.

        Raises
        ------
        OptionError
            The method needs the whole sample to choose weights or draw rows.
        """
        self.check(sample)
        if not self.incremental:
            raise OptionError(
                f"{self!r} needs the whole sample and cannot learn further batches: use"
                " a ranker without a kernel, keep='mean' or 'last' and"
                " presentation='shuffled' or 'order', as method='prank' does."
            )
        used = np.flatnonzero(sample.case_weights)
        rows = sample.X[used] if used.size < sample.n else sample.X
        scaling = scaling_with(
            learned.scaling,
            learned.tally.examples,
            self.scaling,
            rows,
            sample.case_weights[used],
        )
        if sparse_part(sample.X) is None:
            require_finite_squares(scaling(sample.X))
        return self.after(sample, scaling, learned)

    def after(
        self, sample: Sample, scaling: Scaling, earlier: OnlineState | None
    ) -> Learner:
        """A learner after a pass over the rows of a sample in their order, from zero
        weights or an earlier state.
        """
        learner = self.learner(
            examples := Examples.as_given(sample, self.cost_matrix), scaling, earlier
        )
        learner.learn(examples.in_turn())
        return learner

    def presented(self, examples: Examples, rng: np.random.Generator) -> IntArray:
        """(M,) examples of one pass in order of presentation."""
        if self.presentation == "cost":
            return examples.drawn_by_cost(rng)
        order = examples.in_turn()
        return rng.permutation(order) if self.presentation == "shuffled" else order

    def concluded(self, learner: Learner) -> OnlineMarginFit | OnlineVoteFit:
        """The fit of a learner after its passes, to the rows of its sample."""
        t = learner.tally
        norm = learner.squared_norm()
        rule, more = self.ruled(learner)
        what = "answers under the margin" if self.margin > 0.0 else "answers"
        batches = "1 batch" if t.batches == 1 else f"{t.batches} batches"
        online = (
            f"{t.examples} examples in {batches}; {what} wrong {t.mistakes} times,"
            f" total absolute error {t.distance:g}"
        )
        return self.fit_class(
            rule=rule,
            certificate=Certificate(
                name="|w|^2 / its limit by the mistakes",
                value=0.0 if norm == 0.0 else norm / t.growth,
                tolerance=1.0 + 1e-6,
                details=(
                    ("mistakes", t.mistakes),
                    ("sum |y - yhat|", t.distance),
                    ("mean cost of the last pass", learner.path[-1]),
                ),
                steps="passes",
            ),
            trace=Trace(
                iterations=len(learner.path),
                objective=np.array(learner.path),
                message="passes",
            ),
            scores=rule.scores(learner.examples.sample.rows),
            facts=(
                *self.own_facts(learner),
                ("Columns scaled", SCALED[self.scaling]),
                ("Weights used", _KEPT[self.keep]),
                ("Learned", online),
            ),
            learned=learner.learned,
            **more,
        )

    def geometry(self, sample: Sample, fit: Fit) -> Geometry | None:
        """Norms in the feature space of the scaled columns; None for zero weights and
        for votes.
        """
        if not isinstance(fit, OnlineMarginFit):
            return None
        rule: Any = fit.rule
        if rule.potential.squared_norm == 0.0:
            return None
        Z = fit.learned.scaling(sample.X)
        return ball(
            self.similarity or Linear(),
            Z,
            self.scaling,
            rule.potential.squared_norm,
            rule.theta,
        )

    # Mistake bound

    def mistake_bound(self, sample: Sample, fit: Any) -> MistakeBound:
        """Mistake bound: the upper bound of sum |y - yhat| during learning, if the rows
        are separable.

        sum |y - yhat| <= (R^2 + 2 margin s) / delta^2 for perceptron steps, and (s /
        r)^2 R^2 / ((1 - margin)^2 delta^2) for passive-aggressive steps, with s and r
        the largest and smallest cost of a mistake per |y - yhat|. With the absolute
        cost both are 1, and this is corollary 3 of Milidiú & Rocha. Their corollary 4,
        R^2 / delta^4, cannot hold: it changes with the units of the rows, but mistakes
        do not.

        Parameters
        ----------
        sample : Sample
            The rows learned.
        fit : OnlineMarginFit or OnlineVoteFit
        """
        tally: Tally = fit.learned.tally
        if tally.batches > 1:
            return MistakeBound(
                value=tally.distance,
                source="not available: the rows of earlier batches are not stored",
            )
        if sparse_part(sample.X) is not None:
            return MistakeBound(
                value=tally.distance, source="not computed for sparse columns"
            )
        examples = Examples.of(sample, self.cost_matrix)
        n_levels = sample.n_levels
        width = examples.X.shape[1] if self.similarity is None else examples.n
        if examples.n * (width + n_levels) * (n_levels - 1) > LARGEST:
            return MistakeBound(
                value=tally.distance, source="not computed: too many rows"
            )
        Z = self.features(examples, fit)
        # R^2 with |Phi(x, y) - Phi(x, yhat)|^2 <= R^2 |y - yhat|.
        square = float(np.einsum("nd,nd->n", Z, Z).max())
        square = (n_levels - 1) * square + 1.0 if self.projects else square
        delta = self.best_margin(Z, examples.y, n_levels)
        if delta is None:
            why = "not available: the training rows are not rank separable"
            return MistakeBound(value=tally.distance, source=why, radius=square**0.5)
        limit = self._limit(square, examples) / delta**2
        if self.margin == 0.0:
            source = "R^2 / delta^2, Milidiú & Rocha, cor. 3"
        else:
            source = "their cor. 3, with the margin"
        return MistakeBound(
            value=tally.distance,
            source=source,
            limit=limit,
            radius=square**0.5,
            margin=delta,
        )

    def _limit(self, square: float, examples: Examples) -> float:
        """Upper limit of sum |y - yhat| times delta^2."""
        distance = np.abs(examples.y[:, None] - np.arange(examples.n_levels))
        wrong = distance > 0
        price = examples.own_costs[wrong] / distance[wrong]
        most = float(price.max())
        least = float(price.min())
        if not self.aggressive:
            return square + 2.0 * self.margin * most
        if least == 0.0 or self.margin >= 1.0:
            return float("inf")
        return square * (most / (least * (1.0 - self.margin))) ** 2


@dataclass(frozen=True, kw_only=True, repr=False)
class OnKernel(OnlineMethod):
    """Base of the online rankers on sums of kernels; must be the first base class."""

    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    scaling: str | None = scaling_option()

    keeps: ClassVar[tuple[str, ...]] = ("mean", "last")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scaling_of_kernel(self)

    @property
    def similarity(self) -> Kernel:
        """The kernel as a value."""
        return parse_kernel(self.kernel)

    @property
    def pairwise(self) -> bool:
        """Whether the columns of X are values of the kernel at the training rows."""
        return self.similarity.pairwise

    @property
    def incremental(self) -> bool:
        """False: the sums would grow with every batch."""
        return False

    def learner(
        self, examples: Examples, scaling: Scaling, earlier: OnlineState | None = None
    ) -> KernelLearner:
        return KernelLearner(self, examples, scaling)

    def features(self, examples: Examples, fit: Any) -> FloatArray:
        """(N, J) features with the kernel (and its constant) as scalar product."""
        X = fit.learned.scaling(examples.sample.X)
        gram, _, _ = definite_gram(self.similarity, X, examples.rows)
        values, vectors = np.linalg.eigh(gram + float(not self.projects))
        used = values > _ZERO_EIGENVALUE * values[-1]
        return np.asarray(vectors[:, used] * np.sqrt(values[used]))

    def own_facts(self, learner: Any) -> tuple[tuple[str, Any], ...]:
        """The kernel, and the number of rows with an update."""
        kernel = self.similarity.settled(learner.scaling.factor.size)
        return ("Kernel", repr(kernel)), (
            "Support vectors",
            str(np.count_nonzero(learner.moved)),
        )


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class PRank(OnlineMethod):
    """Ranking by projecting [Crammer & Singer 2005; Milidiú & Rocha, sec. 6].

    rank(x) = 1 + #{k : u'x > b_k}, ties to the lower rank. A mistake yhat moves u by (y
    - yhat) x, and the thresholds between y and yhat by 1 each, which keeps them in
    order. As a structured perceptron it answers argmax_k sum_{j<k} (u'x - b_j) + margin
    c[k]. method="siprank" is presentation="cost" with keep="pocket". Lin (2008, sec.
    4.3.2) names SiPrank without defining it; this definition is ordstat's.

    Parameters
    ----------
    epochs, presentation, cost, scaling
        See `ordstat.online.online.OnlineMethod`.
    keep : {"mean", "last", "pocket"}
        Weights used for prediction: the mean of the weights after each example
        (averaged perceptron), the last ones, or the best ones (pocket algorithm with
        ratchet). After a longer run of correct ranks, and at the end of a pass, the
        pocket takes the weights if their total cost is lower.
    margin : float
        Required lead of the true rank over any other rank, as a multiple of the cost of
        that rank, >= 0; more than 0 needs convex costs.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> PRank(epochs=5)
    PRank(epochs=5)
    """

    keeps: ClassVar[tuple[str, ...]] = ("mean", "last", "pocket")
    papers: ClassVar[tuple[str, ...]] = (CRAMMER, MILIDIU)
    results_class: ClassVar[type[Any]] = OnlineMarginResults
    fit_class: ClassVar[type[OnlineMarginFit | OnlineVoteFit]] = OnlineMarginFit
    # Phi(x, y) = (y x, -1 for each of the y thresholds below)
    projects: ClassVar[bool] = True

    def check_costs(self, costs: FloatArray) -> None:
        """DataError if margin > 0 and the costs could put thresholds out of order."""
        if self.margin and not is_convex(costs):
            raise DataError(
                f"{type(self).__name__} with margin > 0 needs convex costs, which keep"
                " thresholds in order. Change the costs, or set margin=0."
            )

    def best_margin(self, Z: FloatArray, y: IntArray, n_levels: int) -> float | None:
        """delta of PRank linear separability: one direction u and K-1 thresholds b,
        |(u, b)| = 1.
        """
        steps = n_levels - 1
        sign = np.where(y[:, None] > np.arange(steps), 1.0, -1.0)
        columns = np.hstack(
            [np.repeat(Z, steps, axis=0), -np.tile(np.eye(steps), (len(Z), 1))]
        )
        return separation_margin(columns * sign.reshape(-1, 1))

    def ruled(self, learner: Any) -> tuple[ThresholdRule, dict[str, Any]]:
        weights = learner.state.kept(self.keep, learner.tally.examples)
        u, b = np.split(weights, [learner.examples.X.shape[1]])
        potential = LinearPotential.plain(learner.scaling, u)
        return ThresholdRule(potential, b + potential.offset), {
            "coefficients": potential.slopes
        }


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class KernelPRank(OnKernel, PRank):
    """PRank [Crammer & Singer 2005] on a sum of kernels, H(x) = sum_n beta_n k(x_n, x).

    A mistake yhat at row n adds y - yhat to beta_n and moves the thresholds between y
    and yhat by 1: `PRank` in the feature space of the kernel, and the same as `PRank`
    with kernel="linear".

    Parameters
    ----------
    kernel : str, Kernel or callable
        As for REDSVM. "perceptron" and "stump" count from the origin of the scaled
        columns: |x| + |x'| - |x - x'|.
    epochs, keep, margin, presentation, cost, scaling
        See `ordstat.online.online.OnlineMethod`; margin > 0 needs convex costs.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> KernelPRank(kernel="gaussian")
    KernelPRank(kernel='gaussian')
    """

    papers: ClassVar[tuple[str, ...]] = (CRAMMER,)

    def ruled(self, learner: Any) -> tuple[ThresholdRule, dict[str, Any]]:
        sums, b = learner.kept()
        return ThresholdRule(learner.direction(sums), b), {
            "support": learner.examples.rows[learner.moved]
        }


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class CuSumRank(OnlineMethod):
    """Cumulative sum ranking [Milidiú & Rocha, fig. 1 and 2], a structured perceptron.

    rank(x) = argmax_k sum_{j<=k} w_j'x, w_1 = 0 and x with a constant -1, ties to the
    lower rank. A mistake yhat moves the w_j between y and yhat by tau x. With
    update="perceptron" (method="cusum") tau is +1 or -1. With
    update="passive-aggressive" (method="pa-cusum") it is just large enough that the
    true rank leads by the cost c[yhat]. The cost "absolute" makes the lead |y - yhat|,
    the loss-sensitive step of theorem 2. The cost "classification" makes it the same
    for every mistake (figure 2); its size only sets the scale of the weights.

    Parameters
    ----------
    update : {"perceptron", "passive-aggressive"}
    epochs, keep, margin, presentation, cost, scaling
        See `ordstat.online.online.OnlineMethod`.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> CuSumRank(update="passive-aggressive", margin=0.5)
    CuSumRank(margin=0.5, update='passive-aggressive')
    """

    update: str = option("perceptron", one_of, UPDATES)

    papers: ClassVar[tuple[str, ...]] = (MILIDIU,)
    results_class: ClassVar[type[Any]] = OnlineVoteResults
    fit_class: ClassVar[type[OnlineMarginFit | OnlineVoteFit]] = OnlineVoteFit
    # Phi(x, y) = (x once for each of the y steps below)
    projects: ClassVar[bool] = False

    @property
    def aggressive(self) -> bool:
        return self.update == "passive-aggressive"

    def best_margin(self, Z: FloatArray, y: IntArray, n_levels: int) -> float | None:
        """delta of rank linear separability [Milidiú & Rocha, eq. 6]: one w_k for each
        k, |(w_2, ..., w_K)| = 1.

        With delta_k the margin of "rank above k?" alone, 1 / delta^2 = sum_k 1 /
        delta_k^2.
        """
        total = 0.0
        for k in range(n_levels - 1):
            margin = separation_margin(Z * np.where(y > k, 1.0, -1.0)[:, None])
            if margin is None:
                return None
            total += margin**-2
        return float(total**-0.5)

    def gaps(self, learner: Any) -> LinearGaps | KernelSums:
        """The score of each step."""
        return LinearGaps(
            scaling=learner.scaling,
            weights=learner.state.kept(self.keep, learner.tally.examples),
        )

    def ruled(self, learner: Any) -> tuple[ScoreRule, dict[str, Any]]:
        return (
            ScoreRule(
                CumulativeVotes(
                    gaps=self.gaps(learner), n_levels=learner.examples.n_levels
                )
            ),
            {},
        )


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class KernelCuSumRank(OnKernel, CuSumRank):
    """CuSum Rank on sums of kernels: the dual structured perceptron [Milidiú & Rocha,
    fig. 5].

    rank(x) = argmax_k sum_{j<=k} sum_n beta_nj (k(x_n, x) + 1). A mistake yhat at row n
    adds tau to beta_nj for the j between y and yhat (figure 5 leaves out the index n):
    `CuSumRank` in the feature space of the kernel, and the same as `CuSumRank` with
    kernel="linear".

    Parameters
    ----------
    kernel : str, Kernel or callable
        As for REDSVM. "perceptron" and "stump" count from the origin of the scaled
        columns: |x| + |x'| - |x - x'|.
    update : {"perceptron", "passive-aggressive"}
        tau = +-1, or just enough that the true rank leads by its cost.
    epochs, keep, margin, presentation, cost, scaling
        See `ordstat.online.online.OnlineMethod`.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> KernelCuSumRank(kernel="gaussian")
    KernelCuSumRank(kernel='gaussian')
    """

    def gaps(self, learner: Any) -> KernelSums:
        sums: KernelSums = learner.kept()[0]
        return sums
