"""PRank and CuSum Rank: rankers that learn one example after another, on columns or on a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray, IntArray
from ..checks import one_of
from ..exceptions import DataError, OptionError
from ..fit import LinearPotential, ScoreRule, ThresholdRule
from ..formula.sample import Scaling
from ..judging.costs import is_convex
from ..judging.selection import scaling_of_kernel
from ..method import CRAMMER, MILIDIU, option
from ..svm.kernels import Kernel, parse_kernel
from .method import OnlineMethod
from .perceptron import (
    CumulativeVotes,
    Examples,
    KernelLearner,
    KernelSums,
    Learned,
    LinearGaps,
    OnlineMarginFit,
    OnlineVoteFit,
    Support,
    Update,
    definite_gram,
    separation_margin,
)
from .results import OnlineMarginResults, OnlineVoteResults

# Eigenvalues below this share of the largest are rounding.
_ROUNDING = 1e-12
#: Steps of an update of CuSum Rank.
UPDATES = ("perceptron", "passive-aggressive")


@dataclass(frozen=True, kw_only=True, repr=False)
class OnKernel(OnlineMethod):
    """Base of the online rankers on sums of kernels, in front of the ranker on columns."""

    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    scaling: str | None = option("range", scaling_of_kernel)

    keeps: ClassVar[tuple[str, ...]] = ("mean", "last")

    @property
    def similarity(self) -> Kernel:
        """The kernel meant."""
        return parse_kernel(self.kernel)

    @property
    def pairwise(self) -> bool:
        """Whether the columns of X are values of the kernel at the training rows."""
        return self.similarity.pairwise

    @property
    def constant(self) -> float:
        """What is added to the kernel for the constant among the columns."""
        return float(not self.projects)

    def learner(self, examples: Examples, scaling: Scaling, state: Any = None) -> KernelLearner:
        if state is None:
            steps = examples.n_levels - 1
            coef, b = (np.zeros((1, 0)), np.zeros(steps)) if self.projects else (np.zeros((steps, 0)), np.zeros(0))
            anchors = self.similarity.anchors(examples.sample.X, examples.rows[:0])
            state = Support(anchors=anchors, origins=np.zeros(0), last=coef, sums=coef, b=b, b_sums=b)
        elif self.pairwise:
            raise OptionError(f"kernel={self.kernel!r} has no values between earlier rows and further batches.")
        return KernelLearner(
            examples,
            scaling,
            state,
            kernel=self.similarity,
            constant=self.constant,
            margin=self.margin,
            aggressive=self.aggressive,
        )

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


@dataclass(frozen=True, kw_only=True, repr=False)
class PRank(OnlineMethod):
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
    results_class: ClassVar[type[Any]] = OnlineMarginResults
    fit_class: ClassVar[type[OnlineMarginFit | OnlineVoteFit]] = OnlineMarginFit
    projects: ClassVar[bool] = True  # Phi(x, y) = (y x, -1 for each of the y thresholds below)

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
        """delta of PRank linear separability: one direction u and K-1 thresholds b, |(u, b)| = 1."""
        steps = n_levels - 1
        sign = np.where(y[:, None] > np.arange(steps), 1.0, -1.0)
        columns = np.hstack([np.repeat(Z, steps, axis=0), -np.tile(np.eye(steps), (len(Z), 1))])
        return separation_margin(columns * sign.reshape(-1, 1))

    def ruled(self, update: Update) -> tuple[ThresholdRule, dict[str, Any]]:
        u, b = np.split(update.learned.state.kept(self.keep), [update.sample.X.shape[1]])
        potential = LinearPotential.plain(update.learned.scaling, u)
        return ThresholdRule(potential, b + potential.offset), {"coefficients": potential.slopes}


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelPRank(OnKernel, PRank):
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

    papers: ClassVar[tuple[str, ...]] = (CRAMMER,)

    def ruled(self, update: Update) -> tuple[ThresholdRule, dict[str, Any]]:
        learner: Any = update.learner
        sums, b = learner.kept(update.learned.state, self.keep)
        support = learner.examples.rows[learner.moved] if learner.earlier.seen == 0 else None
        return ThresholdRule(learner.direction(sums), b), {"support": support}


@dataclass(frozen=True, kw_only=True, repr=False)
class CuSumRank(OnlineMethod):
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

    update: str = option("perceptron", one_of, UPDATES)

    papers: ClassVar[tuple[str, ...]] = (MILIDIU,)
    results_class: ClassVar[type[Any]] = OnlineVoteResults
    fit_class: ClassVar[type[OnlineMarginFit | OnlineVoteFit]] = OnlineVoteFit
    projects: ClassVar[bool] = False  # Phi(x, y) = (x once for each of the y steps below)

    @property
    def aggressive(self) -> bool:
        return self.update == "passive-aggressive"

    def best_margin(self, Z: FloatArray, y: IntArray, n_levels: int) -> float | None:
        """delta of rank linear separability [Milidiú & Rocha, eq. 6]: one w_k for every k, |(w_2, ..., w_K)| = 1.

        With delta_k the margin of "rank above k?" alone, 1 / delta^2 = sum_k 1 / delta_k^2.
        """
        total = 0.0
        for k in range(n_levels - 1):
            margin = separation_margin(Z * np.where(y > k, 1.0, -1.0)[:, None])
            if margin is None:
                return None
            total += margin**-2
        return float(total**-0.5)

    def gaps(self, update: Update) -> LinearGaps | KernelSums:
        """The score of every step."""
        return LinearGaps(scaling=update.learned.scaling, weights=update.learned.state.kept(self.keep))

    def ruled(self, update: Update) -> tuple[ScoreRule, dict[str, Any]]:
        return ScoreRule(CumulativeVotes(gaps=self.gaps(update), n_levels=update.sample.n_levels)), {}


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelCuSumRank(OnKernel, CuSumRank):
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

    def gaps(self, update: Update) -> KernelSums:
        learner: Any = update.learner
        sums: KernelSums = learner.kept(update.learned.state, self.keep)[0]
        return sums
