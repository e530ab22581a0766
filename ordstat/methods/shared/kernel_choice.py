"""Kernel, landmarks and penalty of a kernel cumulative model: what is tried, and what is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..._typing import FloatArray, IntArray
from ...model.kernels.fit import Trial
from ...model.kernels.named import Gaussian, Kernel, Perceptron
from ...model.likelihood.cumulative import Cumulative
from ...solvers.likelihood.kernels.features import Features, exact_features, landmark_features, linear_features
from ...solvers.likelihood.kernels.judges import Evidence, HeldOut, Judge, Point
from ...solvers.likelihood.kernels.ridge import FeatureRows
from ...solvers.likelihood.kernels.search import Named, best, penalties, trial_at, worth_more

#: Rows up to which all of them are landmarks unasked, numbers of landmarks tried beyond, and products of their squares
#: with the rows that are not exceeded unasked.
EXACT, SIZES, MOST_PRODUCTS = 1000, (100, 200, 400, 800), 1e10
#: Rows that landmarks and penalties are chosen on at most: the best penalty does not depend on their number.
JUDGED = 3000


#: gamma times the number of columns of the Gaussian kernels that are tried unasked.
_SCALES = (0.25, 1.0, 4.0)


def usual_kernels(n_columns: int) -> tuple[Kernel, ...]:
    """Those tried where none is asked for: a rough function without a scale, and smooth ones of three.

    Examples
    --------
    >>> usual_kernels(4)
    (Perceptron(), Gaussian(gamma=(0.0625, 0.25, 1.0)))
    """
    return Perceptron(), Gaussian(gamma=tuple(scale / max(n_columns, 1) for scale in _SCALES))


def candidates(kernels: Sequence[Kernel]) -> list[tuple[Kernel, float | None]]:
    """Every kernel with each of its gammas to choose from; None where it has no choice."""
    found: list[tuple[Kernel, float | None]] = []
    for kernel in kernels:
        found += [(kernel.at(gamma), gamma) for gamma in kernel.gammas] or [(kernel, None)]
    return found


def landmark_numbers(asked: int | str | None, n: int) -> tuple[int | None, ...]:
    """Numbers of landmarks to try for n different rows; None for all rows by the exact route.

    Examples
    --------
    >>> landmark_numbers(None, 500), landmark_numbers(200, 500), landmark_numbers(None, 100_000)
    ((None,), (200,), (100, 200))
    """
    if asked == "all" or (isinstance(asked, int) and asked >= n) or (asked is None and n <= EXACT):
        return (None,)
    if asked is not None:
        return (int(asked),)
    return (SIZES[0], *(m for m in SIZES[1:] if n * m**2 <= MOST_PRODUCTS))


@dataclass(frozen=True, eq=False, kw_only=True)
class Training:
    """Different rows of a sample, on scaled columns.

    Attributes
    ----------
    X : (M, D)
        Of the whole sample, or its kernel matrix.
    rows : (N,)
        The first of X that each different row is.
    y : (N,) codes
    weights : (N,)
    offset : (N,)
    family : Cumulative
    cluster : (N,) codes or None
    """

    X: FloatArray
    rows: IntArray
    y: IntArray
    weights: FloatArray
    offset: FloatArray
    family: Cumulative
    cluster: IntArray | None = None

    def features(self, kernel: Kernel, landmarks: int | None, seed: int) -> Features:
        """Those of a kernel; one seed draws the same first landmarks, however many."""
        factor = kernel.factor(self.X)
        if factor is not None:
            return linear_features(factor, self.rows)
        if landmarks is None:
            return exact_features(kernel, self.X, self.rows)
        rng = np.random.default_rng(seed)
        return landmark_features(kernel, self.X, self.rows, self.weights, landmarks, rng)

    def on(self, features: Features) -> FeatureRows:
        """The rows by their features."""
        return FeatureRows(
            F=features.values,
            y=self.y,
            weights=self.weights,
            offset=self.offset,
            family=self.family,
            variance=features.variance(self.weights),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Choice:
    """What was taken.

    Attributes
    ----------
    kernel : Kernel
    features : Features
    penalty : float
    point : a place near the maximum, or None
    trials : tuple of Trial
        All that were made.
    """

    kernel: Kernel
    features: Features
    penalty: float
    point: Point | None = None
    trials: tuple[Trial, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Search:
    """What is tried.

    Attributes
    ----------
    training : Training
    kernels : tuple of Kernel
        At least one.
    landmarks : int, "all" or None
    penalty : float, or None to choose it
    judged : (J,) rows that choices are judged on
    held : (F, J) weights of these that each fold holds out, or None to judge by the evidence
    n_jobs : int
    seed : int
        Of the landmarks.
    tick : callable(message)
    """

    training: Training
    kernels: tuple[Kernel, ...]
    landmarks: int | str | None
    penalty: float | None
    judged: IntArray
    held: FloatArray | None
    n_jobs: int
    seed: int
    tick: Callable[[str], None]

    def best(self) -> Choice:
        """The choice of least loss; ties go to the first."""
        several = candidates(self.kernels)
        (first, _), numbers = several[0], self._numbers(several[0][0])
        if self.penalty is not None and len(several) == 1 and len(numbers) == 1:
            features = self.training.features(first, numbers[0], self.seed)
            return Choice(kernel=first, features=features, penalty=self.penalty)
        found = [self._of_kernel(kernel, (kernel.name, gamma)) for kernel, gamma in several]
        taken = min(found, key=lambda one: best(one.trials).loss)
        return replace(taken, trials=tuple(trial for one in found for trial in one.trials))

    def _numbers(self, kernel: Kernel) -> tuple[int | None, ...]:
        """Numbers of landmarks to try."""
        return (None,) if kernel.linear else landmark_numbers(self.landmarks, self.training.rows.size)

    def _of_kernel(self, kernel: Kernel, named: Named) -> Choice:
        """More landmarks as long as they are worth it."""
        taken: Choice | None = None
        trials: tuple[Trial, ...] = ()
        for number in self._numbers(kernel):
            features = self.training.features(kernel, number, self.seed)
            before = best(trials) if trials else None
            judge, part = self._judge(features)
            tried = self._tried(judge, part, named, before)
            trials += tuple(tried)
            if best(trials) is best(tried):
                point = judge.point if isinstance(judge, Evidence) else None
                taken = Choice(kernel=kernel, features=features, penalty=best(tried).penalty, point=point)
            if number is None or features.values.shape[1] < number:
                break  # these leave nothing of the kernel
            if before is not None and not worth_more(before, best(tried), part.null_loss()):
                break
        assert taken is not None
        return replace(taken, trials=trials)

    def _tried(self, judge: Judge, rows: FeatureRows, named: Named, like: Trial | None) -> list[Trial]:
        if rows.F.shape[1] == 0:
            return [trial_at(lambda penalty: 0.0, rows, named, self.penalty or 1.0)]
        if self.penalty is not None:
            return [trial_at(judge, rows, named, self.penalty)]
        return penalties(judge, rows, named, like, self.tick)

    def _judge(self, features: Features) -> tuple[Judge, FeatureRows]:
        rows = self.training.on(features)
        if self.judged.size < self.training.rows.size:
            rows = rows.take(self.judged, rows.weights[self.judged])
        return Evidence(rows) if self.held is None else HeldOut(rows, self.held, self.n_jobs), rows
