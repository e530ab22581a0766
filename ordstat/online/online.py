"""PRank and CuSum Rank: rankers that learn one example after another, on columns or on a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import one_of
from ..exceptions import DataError, OptionError
from ..fit import LinearPotential, ScoreRule, ThresholdRule
from ..formula.sample import Rows, Scaling
from ..judging.costs import is_convex
from ..judging.selection import scaling_of_kernel
from ..method import CRAMMER, MILIDIU, option
from ..svm.kernels import Kernel, checked_gram, parse_kernel, require_definite
from .method import OnlineMethod
from .perceptron import (
    CumulativeVotes,
    CuSumState,
    DualBatch,
    DualCuSum,
    DualPRank,
    DualState,
    Examples,
    KernelDirection,
    KernelSums,
    Learned,
    LinearGaps,
    OnlineMarginFit,
    OnlineVoteFit,
    PRankState,
    Support,
    Update,
    cusum_margin,
    loop_arrays,
    mean_of,
    prank_margin,
)
from .results import OnlineMarginResults, OnlineVoteResults

# Eigenvalues below this share of the largest are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class DualWork:
    """A learner at the rows of a sample.

    Attributes
    ----------
    learner : DualState
    batch : DualBatch
    anchors : (N, ...) the rows as the kernel keeps them
    origins : (N,)
    centre : float
        k(0, 0) of a kernel moved to the origin, else 0.
    rows : (N,) the examples in the sample
    earlier : Support
    """

    learner: DualState
    batch: DualBatch
    anchors: AnyArray
    origins: FloatArray
    centre: float
    rows: IntArray
    earlier: Support

    @property
    def moved(self) -> BoolArray:
        """(N,) which of these rows had an update."""
        state = self.learner
        return np.asarray((state.beta != 0.0).any(axis=0) | (state.sums != 0.0).any(axis=0))

    def squared_norm(self, sums: KernelSums) -> float:
        """Squared length of the weights behind one sum of kernels, at the support rows of this work."""
        coef = sums.coef[:, 0]
        if self.earlier.seen == 0:
            gram = self.batch.gram[np.ix_(self.moved, self.moved)]
        else:
            gram = sums.kernel(sums.anchors, sums.anchors) - sums.origins[:, None] - sums.origins + sums.centre
        return max(float(coef @ gram @ coef), 0.0)

    @property
    def state(self) -> Support:
        """Earlier rows and these, those without any update left out."""
        state, before = self.learner, self.earlier
        last, sums = np.hstack([before.last, state.beta]), np.hstack([before.sums, state.sums])
        moved = np.concatenate([np.ones(before.origins.size, dtype=np.bool_), self.moved])
        return Support(
            anchors=np.concatenate([before.anchors, self.anchors])[moved],
            origins=np.concatenate([before.origins, self.origins])[moved],
            last=last[:, moved],
            sums=sums[:, moved],
            b=state.b,
            b_sums=state.b_sums,
            norm=state.dual_norm(),
            seen=state.seen,
        )


class OnKernel:
    """What the online rankers on sums of kernels say to `OnlineMethod`.

    A kernel that is definite only on coefficients of sum zero ("perceptron", "stump") takes the form
    k(x, x') - k(x, 0) - k(0, x') + k(0, 0), which is positive definite.
    """

    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any]
    keep: str
    margin: float
    constant: ClassVar[float]

    @property
    def similarity(self) -> Kernel:
        """The kernel meant."""
        return parse_kernel(self.kernel)

    @property
    def pairwise(self) -> bool:
        """Whether the columns of X are values of the kernel at the training rows."""
        return self.similarity.pairwise

    # What a concrete class says

    def shape(self, n_levels: int) -> tuple[int, int]:
        """Sums of kernels, and thresholds."""
        raise TypeError(f"{type(self).__name__} defines no shape")

    def learner(self, **state: Any) -> DualState:
        """The learner with this state."""
        raise TypeError(f"{type(self).__name__} defines no learner")

    # Learning

    def start(self, examples: Examples, scaling: Scaling) -> DualWork:
        anchors = self.similarity.anchors(examples.sample.X, examples.rows[:0])
        n_sums, n_thresholds = self.shape(examples.n_levels)
        return self._work(Support.none(anchors, n_sums, n_thresholds), examples, scaling)

    def resume(self, learned: Learned, examples: Examples) -> DualWork:
        if self.pairwise:
            raise OptionError(f"kernel={self.kernel!r} has no values between earlier rows and further batches.")
        return self._work(learned.state, examples, learned.scaling)

    def _work(self, earlier: Support, examples: Examples, scaling: Scaling) -> DualWork:
        kernel, X = self.similarity, scaling(examples.sample.X)
        gram, origins, centre = definite_gram(kernel, X, examples.rows)
        gram += self.constant
        before = self.expansion(earlier, earlier.last, centre, scaling)(Rows(X=examples.X)).T.copy()
        learner = self.learner(
            beta=np.zeros_like(before),
            sums=np.zeros_like(before),
            b=earlier.b.copy(),
            b_sums=earlier.b_sums.copy(),
            before=before,
            scores=before.copy(),
            norm=earlier.norm,
            seen=earlier.seen,
        )
        batch = DualBatch(gram=gram, margin=self.margin, **loop_arrays(examples))
        return DualWork(
            learner=learner,
            batch=batch,
            anchors=kernel.anchors(X, examples.rows),
            origins=origins,
            centre=centre,
            rows=examples.rows,
            earlier=earlier,
        )

    def expansion(self, support: Support, coef: FloatArray, centre: float, scaling: Scaling) -> KernelSums:
        """Sums of kernels with coefficients (J, S) at the support rows."""
        return KernelSums(
            kernel=self.similarity,
            scaling=scaling,
            anchors=support.anchors,
            coef=coef.T.copy(),
            origins=support.origins,
            centre=centre,
            constant=self.constant,
        )

    def kept(self, update: Update) -> tuple[KernelSums, FloatArray]:
        """The sums and thresholds of the hypothesis to predict with."""
        support: Support = update.learned.state
        coef, b = support.last, support.b
        if self.keep == "mean":
            coef = mean_of(support.last, support.sums, support.seen)
            b = mean_of(support.b, support.b_sums, support.seen)
        return self.expansion(support, coef, update.work.centre, update.learned.scaling), b

    def width(self, examples: Examples) -> int:
        return examples.n

    def features(self, examples: Examples, fit: Any) -> FloatArray:
        """(N, J) rows with the kernel (and its constant) as their scalar products."""
        X = fit.learned.scaling(examples.sample.X)
        gram, _, _ = definite_gram(self.similarity, X, examples.rows)
        values, vectors = np.linalg.eigh(gram + self.constant)
        used = values > _ROUNDING * values[-1]
        return np.asarray(vectors[:, used] * np.sqrt(values[used]))

    def own_facts(self, learned: Learned) -> tuple[tuple[str, Any], ...]:
        """The kernel, and how many rows had an update."""
        kernel = self.similarity.settled(learned.scaling.factor.size)
        return ("Kernel", repr(kernel)), ("Support vectors", str(learned.state.origins.size))


def definite_gram(kernel: Kernel, X: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray, float]:
    """Positive definite kernel matrix (M, M) of `rows` (M,) of X (N, D), with k(x_n, 0) (M,) and k(0, 0) taken off.

    The latter two are zeros where the kernel is its own positive definite form.

    Raises
    ------
    DataError
        It is not finite, symmetric and positive definite.
    """
    gram = checked_gram(kernel, X, rows)
    origins, centre = np.zeros(rows.size), 0.0
    if kernel.conditionally_definite:
        origins = kernel.origin(X)[rows]
        # `diagonal` is k(x, x) - 2 k(x, 0) + k(0, 0).
        centre = float(kernel.diagonal(X)[rows[0]] - gram[0, 0] + 2.0 * origins[0])
        gram = gram - origins[:, None] - origins + centre
    if not kernel.trusted:
        require_definite(gram)
    return np.ascontiguousarray(gram, dtype=np.float64), origins, centre


#: Steps of an update of CuSum Rank.
UPDATES = ("perceptron", "passive-aggressive")


class Projecting:
    """PRank, on columns or on a kernel: one direction and ordered thresholds.

    Phi(x, y) = (y x, -1 for each of the y thresholds below).
    """

    margin: float

    results_class: ClassVar[type[Any]] = OnlineMarginResults
    fit_class: ClassVar[type[OnlineMarginFit | OnlineVoteFit]] = OnlineMarginFit

    def check_costs(self, costs: FloatArray) -> None:
        """DataError where a margin meets costs that would put thresholds out of order."""
        if self.margin and not is_convex(costs):
            raise DataError(
                f"{type(self).__name__} with margin > 0 needs convex costs, for thresholds to stay in order. Change "
                "them, or set margin=0."
            )

    def squared_radius(self, largest: float, n_levels: int) -> float:
        return (n_levels - 1) * largest + 1.0

    def best_margin(self, Z: FloatArray, y: IntArray, n_levels: int) -> float | None:
        return prank_margin(Z, y, n_levels)


@dataclass(frozen=True, kw_only=True, repr=False)
class Cumulating:
    """CuSum Rank, on columns or on a kernel: weights for every step of the ranks.

    Phi(x, y) = (x once for each of the y steps below).

    update : {"perceptron", "passive-aggressive"}
        A mistake moves the weight vectors of the steps between y and yhat by +-x, or so far that the true rank leads by
        the cost of yhat.
    """

    update: str = option("perceptron", one_of, UPDATES)

    results_class: ClassVar[type[Any]] = OnlineVoteResults
    fit_class: ClassVar[type[OnlineMarginFit | OnlineVoteFit]] = OnlineVoteFit
    constant: ClassVar[float] = 1.0

    @property
    def aggressive(self) -> bool:
        return self.update == "passive-aggressive"

    def best_margin(self, Z: FloatArray, y: IntArray, n_levels: int) -> float | None:
        return cusum_margin(Z, y, n_levels)

    def gaps(self, update: Update) -> LinearGaps | KernelSums:
        """The score of every step."""
        raise TypeError(f"{type(self).__name__} defines no score")

    def ruled(self, update: Update) -> tuple[ScoreRule, dict[str, Any]]:
        return ScoreRule(CumulativeVotes(gaps=self.gaps(update), n_levels=update.sample.n_levels)), {}


@dataclass(frozen=True, kw_only=True, repr=False)
class PRank(Projecting, OnlineMethod):
    """Ranking by projecting [Crammer & Singer 2005; Milidiú & Rocha, sec. 6].

    rank(x) = 1 + #{k : u'x > b_k}, ties to the lower rank. A mistake yhat moves u by (y - yhat) x, and the thresholds
    between y and yhat by 1 each, which keeps them in order. As a structured perceptron it answers
    argmax_k sum_{j<k} (u'x - b_j) + margin c[k]. method="siprank" stands for presentation="cost" with keep="pocket":
    Lin (2008, sec. 4.3.2) names SiPrank without a definition, and this is ordstat's.

    Parameters
    ----------
    epochs, presentation, cost, scaling
        Those of every online ranker: see `ordstat.online.method.OnlineMethod`.
    keep : {"mean", "last", "pocket"}
        The hypothesis used: the mean of those after each example (averaged perceptron), the last one, or the one in
        the pocket: whenever a run of exact hits is longer than that of the pocket, and after every pass, the hypothesis
        takes its place if its total cost is lower (pocket with ratchet).
    margin : float
        Learn until the true rank leads by margin times the cost of any other, >= 0; more than 0 needs convex costs.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> PRank(epochs=5)
    PRank(epochs=5)
    """

    keeps: ClassVar[tuple[str, ...]] = ("mean", "last", "pocket")
    papers: ClassVar[tuple[str, ...]] = (CRAMMER, MILIDIU)

    def begun(self, n_columns: int, n_levels: int) -> PRankState:
        return PRankState.start(n_columns, n_levels, self.keep == "pocket")

    def ruled(self, update: Update) -> tuple[ThresholdRule, dict[str, Any]]:
        u, b = np.split(update.learned.state.kept(self.keep), [update.sample.X.shape[1]])
        potential = LinearPotential.plain(update.learned.scaling, u.copy())
        return ThresholdRule(potential, b + potential.offset), {"coefficients": potential.slopes}


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelPRank(Projecting, OnKernel, OnlineMethod):
    """PRank [Crammer & Singer 2005] on a sum of kernels, H(x) = sum_n beta_n k(x_n, x).

    A mistake yhat at row n adds y - yhat to beta_n and moves the thresholds between y and yhat by 1: `PRank` in the
    feature space of the kernel, and the same as `PRank` with kernel="linear".

    Parameters
    ----------
    kernel : str, Kernel or callable
        As for REDSVM. "perceptron" and "stump" count from the origin of the scaled columns: |x| + |x'| - |x - x'|.
    epochs, keep, margin, presentation, cost, scaling
        Those of every online ranker: see `ordstat.online.method.OnlineMethod`; margin > 0 needs convex costs.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> KernelPRank(kernel="gaussian")
    KernelPRank(kernel='gaussian')
    """

    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    scaling: str | None = option("range", scaling_of_kernel)
    papers: ClassVar[tuple[str, ...]] = (CRAMMER,)

    def shape(self, n_levels: int) -> tuple[int, int]:
        return 1, n_levels - 1

    def learner(self, **state: Any) -> DualState:
        return DualPRank(**state)

    def ruled(self, update: Update) -> tuple[ThresholdRule, dict[str, Any]]:
        work: DualWork = update.work
        sums, b = self.kept(update)
        rule = ThresholdRule(KernelDirection(sums=sums, squared_norm=work.squared_norm(sums)), b)
        return rule, {"support": work.rows[work.moved] if work.earlier.seen == 0 else None}


@dataclass(frozen=True, kw_only=True, repr=False)
class CuSumRank(Cumulating, OnlineMethod):
    """Cumulative sum ranking [Milidiú & Rocha, fig. 1 and 2], a structured perceptron.

    rank(x) = argmax_k sum_{j<=k} w_j'x, w_1 = 0 and x with a constant -1, ties to the lower rank. A mistake yhat moves
    the w_j between y and yhat by tau x: by +-1 (update="perceptron", method="cusum"), or so far that the true rank
    leads by the cost c[yhat] (update="passive-aggressive", method="pa-cusum"): |y - yhat| under cost="absolute", the
    loss-sensitive step of theorem 2; the same lead for every mistake under cost="classification", figure 2, where the
    size of delta only sets the scale of the weights.

    Parameters
    ----------
    update : {"perceptron", "passive-aggressive"}
    epochs, keep, margin, presentation, cost, scaling
        Those of every online ranker: see `ordstat.online.method.OnlineMethod`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> CuSumRank(update="passive-aggressive", margin=0.5)
    CuSumRank(margin=0.5, update='passive-aggressive')
    """

    papers: ClassVar[tuple[str, ...]] = (MILIDIU,)

    def begun(self, n_columns: int, n_levels: int) -> CuSumState:
        return CuSumState.start(n_columns, n_levels, self.aggressive)

    def gaps(self, update: Update) -> LinearGaps:
        learned = update.learned
        return LinearGaps(scaling=learned.scaling, weights=learned.state.kept(self.keep).copy())


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelCuSumRank(Cumulating, OnKernel, OnlineMethod):
    """CuSum Rank on sums of kernels: the dual structured perceptron [Milidiú & Rocha, fig. 5].

    rank(x) = argmax_k sum_{j<=k} sum_n beta_nj (k(x_n, x) + 1). A mistake yhat at row n adds tau to beta_nj for the j
    between y and yhat (figure 5 leaves out the index n): `CuSumRank` in the feature space of the kernel, and the same
    as `CuSumRank` with kernel="linear".

    Parameters
    ----------
    kernel : str, Kernel or callable
        As for REDSVM. "perceptron" and "stump" count from the origin of the scaled columns: |x| + |x'| - |x - x'|.
    update : {"perceptron", "passive-aggressive"}
        tau = +-1, or so far that the true rank leads by its cost.
    epochs, keep, margin, presentation, cost, scaling
        Those of every online ranker: see `ordstat.online.method.OnlineMethod`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> KernelCuSumRank(kernel="gaussian")
    KernelCuSumRank(kernel='gaussian')
    """

    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    scaling: str | None = option("range", scaling_of_kernel)
    papers: ClassVar[tuple[str, ...]] = (MILIDIU,)

    def shape(self, n_levels: int) -> tuple[int, int]:
        return n_levels - 1, 0

    def learner(self, **state: Any) -> DualState:
        return DualCuSum(aggressive=self.aggressive, **state)

    def gaps(self, update: Update) -> KernelSums:
        return self.kept(update)[0]
