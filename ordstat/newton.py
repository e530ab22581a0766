"""Newton's method for log-likelihoods and losses, with halving and damping.

Step: J step = score, J = negative Hessian. Where J is not positive definite (cauchit,
scale effects, separated data) its diagonal is raised until it is. The step is halved
while it leaves the domain or lowers the log-likelihood. The order of thresholds needs
no reparametrisation: log p is its own barrier. Where a cheaper evaluation of the score
alone exists, short steps share the information [Shamanskii 1967], which is taken anew
where the step to come is negligible; the last evaluation then only confirms the score.
A shared step whose decrement is not a hundredth of the one before is the last such.
Stop: max |score| <= tol and decrement score' J^-1 score <= (tol / 1000)^2, which is the
squared length of the step in standard errors. Decrements below 1e-10 that no longer
shrink to a quarter mean rounding or separation: stop too. The score is a sum over the
cases; where they weigh W < 1 together, tol and the decrements count in units of W, and
beyond W = 1e-14 tol^-1 rounding allows no more than max |score| = 1e-14 W.

J = [[T, C], [C', B]]: T, of the thresholds, is block tridiagonal (one m x m block a
threshold, m - 1 nominal columns) where P(y <= k) depends on threshold k alone, else one
block; B, of the other coefficients, is small. With T = L L' banded and V = T^-1 C the
Schur complement S = B - C'V carries everything: O(K q^2 + q^3) time, O(K q) memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import (
    dpbtrf,
    dpbtrs,
    dpotrf,
    dpotrs,
    dtbtrs,
    dtrtrs,
)

from ._typing import FloatArray, IntArray
from .exceptions import DataError

#: Derivatives as long as this overflow where they are multiplied.
_LARGEST = 1e150
#: Steps without a gain after which the search ends.
_STALL = 6
#: A decrement that may be rounding where it shrinks no more.
_LITTLE = 1e-10
#: An information matrix that needed more damping than this is not that of a maximum;
#: less may be rounding, as it is on the way to an infinite estimate.
_INDEFINITE = 1e-6
#: Shares of an entry of the diagonal, and eigenvalues on units of curvature 1, that may
#: be rounding of 0.
_FLAT = 1e-13
#: Share of the total weight that is rounding in a sum of scores, and of a
#: log-likelihood of up to 1e8 rows.
_ROUNDING = 1e-14
_ROUNDED = 1e-12
#: Lengths of steps, the root mean square by which they move the scores in units of the
#: latent spread: up to _SAME in all the information counts as unchanged (standard
#: errors to 8 digits), up to _SHORT it serves for further steps.
_SAME = 1e-8
_SHORT = 0.01
#: Diagonal entries below this share of the largest count as that share when the
#: diagonal is raised.
_VANISHING = 1e-12
#: The condition number of a larger matrix takes too long.
_LARGE = 1000


@dataclass(frozen=True, eq=False)
class CholeskyFactor:
    """Cholesky factors of T (banded) and of the Schur complement S, with V = T^-1 C (A,
    q).
    """

    band: FloatArray
    V: FloatArray
    schur: FloatArray

    def solve(self, vector: FloatArray) -> FloatArray:
        """J^-1 vector (A + q,)."""
        n_alpha, q = self.V.shape
        base = dpbtrs(self.band, vector[:n_alpha], lower=1)[0]
        if not q:
            return np.asarray(base)
        # far off the optimum: a step that overflows is not taken
        with np.errstate(over="ignore", invalid="ignore"):
            step = dpotrs(
                self.schur, vector[n_alpha:] - self.V.T @ vector[:n_alpha], lower=1
            )[0]
            return np.concatenate([base - self.V @ step, step])

    def whitened(self, vectors: FloatArray) -> FloatArray:
        """(A + q, n) whose products w'w are those of vectors (A + q, n) with J^-1.

        With J = R R' it is R^-1 times the vectors, so that variances are sums of
        squares.
        """
        n_alpha, q = self.V.shape
        if not vectors.size:  # LAPACK would write beyond it
            return np.zeros(vectors.shape)
        top, failed = dtbtrs(self.band, vectors[:n_alpha], uplo="L")
        assert failed == 0
        if not q:
            return np.asarray(top)
        left = vectors[n_alpha:] - self.V.T @ vectors[:n_alpha]
        rest, failed = dtrtrs(self.schur, left, lower=1)
        assert failed == 0
        return np.concatenate([top, rest])

    @cached_property
    def schur_inverse(self) -> FloatArray:
        """(q, q) inverse of S: the covariance of the location and log-scale
        coefficients.
        """
        q = self.schur.shape[0]
        return (
            np.asarray(dpotrs(self.schur, np.eye(q), lower=1)[0])
            if q
            else np.zeros((0, 0))
        )

    def least_share(self, matrix: Blocks) -> float:
        """The smallest ratio of a pivot to its diagonal entry of the factored matrix;
        near 0 if the matrix is nearly singular.
        """
        diagonal = np.einsum("...ii->...i", matrix.diagonal).reshape(-1)
        roots = np.concatenate([self.band[0], self.schur.diagonal()])
        whole = np.concatenate([diagonal, matrix.rest.diagonal()])
        return float((roots**2 / whole).min(initial=1.0))

    def threshold_inverse(self) -> FloatArray:
        """(A, A) inverse of T."""
        return np.asarray(dpbtrs(self.band, np.eye(self.V.shape[0]), lower=1)[0])

    def _tridiagonal_variances(self) -> FloatArray:
        """(A,) diagonal of T^-1 of a tridiagonal T = L L'.

        v_j = 1 / l_jj^2 + (l_{j+1,j} / l_jj)^2 v_{j+1} is a bidiagonal system; only
        squares are added.
        """
        diagonal = self.band[0]
        coupling = np.zeros((2, diagonal.size))
        # above the diagonal, as LAPACK stores it
        coupling[0, 1:] = -((self.band[1, :-1] / diagonal[:-1]) ** 2)
        coupling[1] = 1.0
        variances, failed = dtbtrs(coupling, (1.0 / diagonal**2)[:, None], uplo="U")
        assert failed == 0
        return np.asarray(variances[:, 0])

    def inverse_diagonal_blocks(self, m: int) -> FloatArray:
        """(A / m, m, m) diagonal blocks of T^-1, from the last row up [Takahashi, Fagan
        and Chen 1973].

        `window` is the part of T^-1 that the next row couples to; only squares are
        added, so nothing cancels.
        """
        bandwidth = self.band.shape[0] - 1
        size = self.band.shape[1]
        if bandwidth + 1 >= 2 * size or bandwidth >= size - 1:  # one dense block
            split = self.threshold_inverse().reshape(size // m, m, size // m, m)
            return np.ascontiguousarray(np.einsum("kikj->kij", split))
        if bandwidth == 1:
            return self._tridiagonal_variances()[:, None, None]
        blocks = np.empty((size // m, m, m))
        window = np.zeros((bandwidth, bandwidth))
        for j in range(size - 1, -1, -1):
            ratio = self.band[1:, j] / self.band[0, j]
            column = -window @ ratio
            variance = 1.0 / self.band[0, j] ** 2 - ratio @ column
            block, place = divmod(j, m)
            inside = column[: m - 1 - place]
            blocks[block, place, place] = variance
            blocks[block, place + 1 :, place] = blocks[block, place, place + 1 :] = (
                inside
            )
            window[1:, 1:] = window[:-1, :-1].copy()
            window[0, 0], window[0, 1:], window[1:, 0] = (
                variance,
                column[:-1],
                column[:-1],
            )
        return blocks


@dataclass(frozen=True, eq=False)
class Blocks:
    """A symmetric matrix of the shape above.

    Attributes
    ----------
    diagonal : (K-1, m, m)
    below : (K-2, m, m)
        Block (k + 1, k) of T.
    cross : (K-1, m, q)
    rest : (q, q)
    """

    diagonal: FloatArray
    below: FloatArray
    cross: FloatArray
    rest: FloatArray

    @classmethod
    def of_dense(cls, matrix: FloatArray, n_alpha: int = 1) -> Blocks:
        """A dense matrix, its first `n_alpha` rows as T."""
        top = matrix[:n_alpha]
        empty = np.zeros((0, n_alpha, n_alpha))
        return cls(
            top[None, :, :n_alpha],
            empty,
            top[None, :, n_alpha:],
            matrix[n_alpha:, n_alpha:],
        )

    def among(self, rest: IntArray) -> Blocks:
        """The matrix of T and some of the other rows."""
        return Blocks(
            self.diagonal,
            self.below,
            self.cross[..., rest],
            self.rest[np.ix_(rest, rest)],
        )

    def raised(self, values: FloatArray) -> Blocks:
        """This matrix plus a diagonal one (A + q,)."""
        diagonal = self.diagonal.copy()
        n_alpha = values.size - self.rest.shape[0]
        view = np.einsum("...ii->...i", diagonal)
        view += values[:n_alpha].reshape(view.shape)
        return Blocks(
            diagonal, self.below, self.cross, self.rest + np.diag(values[n_alpha:])
        )

    def damped(self, share: float) -> Blocks:
        """This matrix plus a share of the absolute value of its diagonal; diagonal
        entries near 0 are raised a little.
        """
        parts = [
            np.einsum("...ii->...i", matrix).reshape(-1)
            for matrix in (self.diagonal, self.rest)
        ]
        size = np.abs(np.concatenate(parts))
        with np.errstate(over="ignore"):  # what overflows is refused by `factor`
            return self.raised(share * np.maximum(size, _VANISHING * size.max()))

    def factor(self) -> CholeskyFactor | None:
        """Cholesky factors, or None where the matrix is not numerically positive
        definite.
        """
        parts = self.eliminated()
        if parts is None:
            return None
        band, V, complement = parts
        if not complement.size:
            return CholeskyFactor(band, V, complement)
        if not np.isfinite(complement).all():
            return None
        schur, failed = dpotrf(complement, lower=1)
        return None if failed else CholeskyFactor(band, V, schur)

    def eliminated(self) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """The Cholesky factor of T (banded), V = T^-1 C (A, q) and the Schur complement
        S = B - C'V (q, q), which may overflow; None where T is not numerically positive
        definite.
        """
        band, failed = dpbtrf(self._banded(), lower=1, overwrite_ab=1)
        if failed:
            return None
        q = self.rest.shape[0]
        cross = self.cross.reshape(band.shape[1], q)
        if q == 0:
            return band, cross, self.rest
        V = dpbtrs(band, cross, lower=1)[0]
        # what overflows is not positive definite
        with np.errstate(over="ignore", invalid="ignore"):
            complement = cross.T @ V
            np.subtract(self.rest, complement, out=complement)
            return band, V, complement

    def _banded(self) -> FloatArray:
        """T in LAPACK's lower band storage (2m, (K-1) m); (m, m) where it is
        one block.
        """
        count, m, _ = self.diagonal.shape
        band = np.zeros((m if count == 1 else 2 * m, count * m), order="F")
        if count == 1:
            for row in range(m):
                band[row, : m - row] = np.diagonal(self.diagonal[0], -row)
            return band
        for row in range(m):
            for column in range(m):
                if row >= column:
                    band[row - column, column::m] = self.diagonal[:, row, column]
                band[m + row - column, column : (count - 1) * m : m] = self.below[
                    :, row, column
                ]
        return band

    def dense(self) -> FloatArray:
        """(A + q, A + q), thresholds first, threshold by threshold."""
        count, m, _ = self.diagonal.shape
        size = count * m
        q = self.rest.shape[0]
        full = np.zeros((size + q, size + q))
        for k in range(count):
            here = slice(k * m, (k + 1) * m)
            after = slice((k + 1) * m, (k + 2) * m)
            full[here, here] = self.diagonal[k]
            if k + 1 < count:
                full[after, here], full[here, after] = self.below[k], self.below[k].T
        full[:size, size:] = self.cross.reshape(size, q)
        full[size:, :size] = full[:size, size:].T
        full[size:, size:] = self.rest
        return full

    def flat_directions(self) -> FloatArray:
        """(A + q, f) directions whose curvature, after scaling the diagonal to 1, may
        be rounding of 0; none for a large matrix.
        """
        size = self.diagonal.shape[0] * self.diagonal.shape[1] + self.rest.shape[0]
        if size > _LARGE:
            return np.zeros((size, 0))
        dense = self.dense()
        units = np.sqrt(np.maximum(np.diag(dense), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(dense / np.outer(units, units))
        return vectors[:, values <= _FLAT] / units[:, None]

    def condition_number(self) -> float:
        """Largest over smallest eigenvalue; NaN for a large matrix."""
        if (
            self.diagonal.shape[0] * self.diagonal.shape[1] + self.rest.shape[0]
            > _LARGE
        ):
            return math.nan
        values = np.linalg.eigvalsh(self.dense())
        return float(values[-1] / values[0]) if values[0] > 0.0 else math.inf


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Log-likelihood, score (P,) and information at one point."""

    loglik: float
    score: FloatArray
    information: Blocks

    @property
    def finite(self) -> bool:
        """Whether no value has overflowed, nor would in a product."""
        for part in (self.score, self.information.diagonal, self.information.rest):
            if not np.vdot(part, part) < _LARGEST**2:
                return False
        return math.isfinite(self.loglik)

    def along(self, matrix: FloatArray, n_alpha: int = 1) -> Evaluation:
        """The evaluation by y, where x = matrix y; the first `n_alpha` elements of y
        belong to the thresholds.
        """
        dense = matrix.T @ self.information.dense() @ matrix
        return Evaluation(
            self.loglik, matrix.T @ self.score, Blocks.of_dense(dense, n_alpha)
        )


class Deferred(Evaluation):
    """An evaluation whose derivatives are costly: they are computed only for accepted
    steps.
    """

    _derivatives: Callable[[], tuple[FloatArray, Blocks]]

    def __init__(
        self, loglik: float, derivatives: Callable[[], tuple[FloatArray, Blocks]]
    ) -> None:
        object.__setattr__(self, "loglik", loglik)
        object.__setattr__(self, "_derivatives", derivatives)

    @cached_property
    def _both(self) -> tuple[FloatArray, Blocks]:
        return self._derivatives()

    @property
    def score(self) -> FloatArray:
        return self._both[0]

    @property
    def information(self) -> Blocks:
        return self._both[1]


class Objective(Protocol):
    """The function to maximise."""

    def __call__(
        self, x: FloatArray, information: Blocks | None = None, /
    ) -> Evaluation | None:
        """At x (P,); None outside the domain. With `information` that is returned and
        only the score is computed.
        """


class Ended(Enum):
    """How a search ended, with the message shown."""

    CONVERGED = "converged"
    ROUNDING = "converged to rounding"
    IN_THE_LIMIT = "converged in the limiting model"
    NO_PROGRESS = "no further progress"
    NO_STEP = "no step along the Newton direction improves the likelihood"
    MODES_JUMP = (
        "no further progress, as modes of random effects jump: use more quadrature"
        " nodes"
    )
    MOST_ITERATIONS = "iteration limit reached"


@dataclass(frozen=True, eq=False, kw_only=True)
class Optimum:
    """Where Newton's method stopped.

    Attributes
    ----------
    x : (P,)
    at : Evaluation
    information : Blocks
        Negative Hessian, its diagonal raised by the share `damping` where it was not
        positive definite.
    factor : CholeskyFactor
        Factor of `information`.
    damping : float
    step : (P,)
        The next Newton step, not taken: an estimate of the remaining error.
    logliks : (iterations + 1,)
    decrements : (iterations + 1,)
    unit : float
        min(1, total weight), the unit of the decrements.
    tolerance : float
        Bound on max |score|.
    ended : Ended
    """

    x: FloatArray
    at: Evaluation
    information: Blocks
    factor: CholeskyFactor
    damping: float
    step: FloatArray
    logliks: FloatArray
    decrements: FloatArray
    unit: float
    tolerance: float
    ended: Ended

    @property
    def converged(self) -> bool:
        """Whether the search ended because the score vanished, by the tolerance or to
        rounding.
        """
        return self.ended in (Ended.CONVERGED, Ended.ROUNDING, Ended.IN_THE_LIMIT)

    @property
    def stopped(self) -> bool:
        """Whether the search reached its limit of iterations."""
        return self.ended is Ended.MOST_ITERATIONS

    @property
    def message(self) -> str:
        """How the search ended, in words."""
        if self.stopped:
            return f"stopped after {self.decrements.size - 1} iterations"
        return self.ended.value

    @property
    def indefinite(self) -> bool:
        """Whether the information is not that of a maximum, by more than rounding."""
        return self.damping > _INDEFINITE

    @cached_property
    def definite(self) -> bool:
        """Whether the information is positive definite, by more than rounding."""
        return self.damping == 0.0 and self.factor.least_share(self.information) > _FLAT

    @property
    def slow(self) -> bool:
        """Whether decrements below 1 shrank only linearly for a while, as on the way to
        an infinite estimate.
        """
        before = self.decrements[:-1] / self.unit
        after = self.decrements[1:] / self.unit
        linear = (before < 1.0) & (after > 1e-20) & (after > 0.05 * before)
        return bool((linear[:-1] & linear[1:]).any())


def maximise(
    objective: Objective,
    x: FloatArray,
    *,
    tol: float,
    max_iter: int,
    total_weight: float,
    shared_steps: bool = False,
    at: Evaluation | None = None,
    held: FloatArray | None = None,
    rounding: float = 0.0,
) -> Optimum:
    """Maximise from a point inside the domain; formulas and stopping rule at the head
    of this file.

    Parameters
    ----------
    objective : Objective
    x : (P,)
    tol, max_iter, total_weight
    shared_steps : bool
        Whether short steps may share the information, as a pass for the score alone is
        cheaper.
    at : Evaluation, optional
        The objective at x, where it is known.
    held : (P,), optional
        held'x keeps its value.
    rounding : float
        If positive, the search ends where the decrement is this share of the
        log-likelihood, whatever the score is.

    Raises
    ------
    DataError
        The log-likelihood has no finite value at the starting point.
    """
    at = _evaluated(objective, x) if at is None else at
    unit = min(1.0, total_weight)
    tolerance = math.inf if rounding else max(tol * unit, _ROUNDING * total_weight)
    logliks = [at.loglik]
    decrements: list[float] = []
    # the information in use, and how far from its point the iteration has moved
    current = None
    age = 0.0
    while True:
        if at.information is not current:
            current = at.information
            age = 0.0
            information, factor, damping = positive_factor(_within(current, held))
        step, score = _newton_step(factor, at.score, held)
        decrements.append(float(step @ score))
        least = rounding * abs(at.loglik) if rounding else (1e-3 * tol) ** 2 * unit
        if age > 0.0 and decrements[-1] > max(least, 0.01 * decrements[-2]):
            # no short way to a maximum at infinity, or far off along a flat ridge
            shared_steps = False
        reason = _ending(score, tolerance, decrements, logliks, least, unit, max_iter)
        moved = None
        if reason is None:
            length = math.sqrt(max(decrements[-1], 0.0) / total_weight)
            shares = shared_steps and damping == 0.0 and _serves(age, length)
            shared = current if shares else None
            moved = _uphill(objective, x, at.loglik, step, shared)
        if moved is not None:
            x, at = moved
            logliks.append(at.loglik)
            age += length
        elif age > _SAME and (fresh := objective(x)) is not None:
            at = fresh
            del decrements[-1]
        else:
            break
    return Optimum(
        x=x,
        at=at,
        information=information,
        factor=factor,
        damping=damping,
        step=step,
        logliks=np.array(logliks),
        decrements=np.array(decrements),
        unit=unit,
        tolerance=tolerance,
        ended=reason or Ended.NO_STEP,
    )


def _evaluated(objective: Objective, x: FloatArray) -> Evaluation:
    """The objective at the starting point, which has to be in its domain."""
    at = objective(x)
    if at is None:
        raise DataError(
            "The log-likelihood must be finite at the starting values (cumulative"
            " shares, no effects); it is not, as weights or offsets are too large or"
            " too different in size, or a fixed lambda of the link is extreme. Rescale"
            " them, or choose another lambda."
        )
    return at


def _newton_step(
    factor: CholeskyFactor, score: FloatArray, held: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """The Newton step and the score, both within the plane where held'x is constant."""
    step = factor.solve(score)
    if held is None:
        return step, score
    turned = factor.solve(held)
    multiplier = (held @ step) / (held @ turned)
    return step - multiplier * turned, score - multiplier * held


def _within(blocks: Blocks, held: FloatArray | None) -> Blocks:
    """The matrix; where it is indefinite, with so much of held held' that its sign
    within the plane decides.
    """
    if held is None or blocks.factor() is not None:
        return blocks
    dense = blocks.dense()
    size = 10.0 * np.abs(np.diag(dense)).max() / (held @ held)
    return Blocks.of_dense(dense + size * np.outer(held, held))


def positive_factor(blocks: Blocks) -> tuple[Blocks, CholeskyFactor, float]:
    """The matrix with its diagonal raised as little as needed, its Cholesky factors,
    and the share it was raised by.

    Raises
    ------
    DataError
        The matrix holds values that are not finite.
    """
    used = blocks
    factor = blocks.factor()
    damping = 0.0
    while factor is None:
        damping = 1e-10 if damping == 0.0 else 10.0 * damping
        if damping > 1e20:
            raise DataError(
                "The information matrix must be finite; it is not at the values"
                " reached: rescale the columns, weights or offsets."
            )
        used = blocks.damped(damping)
        factor = used.factor()
    return used, factor, damping


def _ending(
    score: FloatArray,
    tolerance: float,
    decrements: list[float],
    logliks: list[float],
    least: float,
    unit: float,
    max_iter: int,
) -> Ended | None:
    """Why the iteration ends at this point, None where it goes on."""
    last = decrements[-1]
    # further off the score does not matter
    near = last <= max(least, _LITTLE * unit)
    flat = near and np.abs(score).max(initial=0.0) <= tolerance
    if flat and last <= least:
        return Ended.CONVERGED
    if len(decrements) > 1 and last <= _LITTLE * unit and last >= 0.25 * decrements[-2]:
        return Ended.ROUNDING if flat else Ended.NO_PROGRESS
    if len(decrements) > max_iter:
        return Ended.MOST_ITERATIONS
    stalled = len(logliks) > _STALL and logliks[-1] - logliks[-1 - _STALL] <= 1e-12 * (
        1.0 + abs(logliks[-1])
    )
    return Ended.NO_PROGRESS if stalled else None


def _serves(age: float, length: float) -> bool:
    """Whether the information, `age` away from this point, serves at the end of a step
    of `length` too.

    A step on it leaves about length (age + length). New information is best taken where
    what is left is negligible.
    """
    moved = age + length
    return moved <= _SAME or (moved <= _SHORT and length * moved > _SAME)


def _uphill(
    objective: Objective,
    x: FloatArray,
    loglik: float,
    step: FloatArray,
    shared: Blocks | None,
) -> tuple[FloatArray, Evaluation] | None:
    """The longest of the steps 1, 1/2, 1/4, ... that keeps the domain and does not
    lower the log-likelihood.
    """
    least = loglik - _ROUNDED * (1.0 + abs(loglik))
    for _ in range(50):
        trial = objective(x + step, shared)
        if trial is not None and trial.loglik >= least:
            return x + step, trial
        step = 0.5 * step
    return None
