"""What the online rankers in dual form share: the positive definite kernel matrix, support rows, further batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..exceptions import OptionError
from ..formula.sample import Rows, Scaling
from ..svm.kernels import Kernel, checked_gram, parse_kernel, require_definite
from .examples import Examples, KernelSums, Learned, Update
from .perceptron import DualBatch, DualState, Support, loop_arrays, mean_of

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
