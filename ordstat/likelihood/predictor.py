"""The predictors of a likelihood model, eta_k = s (theta_k - H), and how they move with the parameters.

theta_k = w'alpha_k with w = (1, nominal columns), H = x'beta + offset, s = exp(-tau), tau = z'zeta + scale offset.
What a row's log-probability depends on is theta_k at some places k, H and tau; where the parameter lambda of a link is
estimated it comes last. Their derivatives by the parameters are w (by alpha_k), x, z and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import FloatArray, IntArray
from ..compiled.terms import interval_ends
from ..exceptions import DataError
from ..formula.sample import Rows, sums_by

#: Up to so many thresholds a row's own are picked from all of them.
_FEW = 12


#: So many different rows of nominal columns are few.
_PATTERNS = 64


@dataclass(frozen=True, eq=False)
class Patterns:
    """The few different rows of nominal columns that are those of factors.

    Attributes
    ----------
    w : (G, m)
    of : (n,)
        Which of them each row has.
    """

    w: FloatArray
    of: IntArray

    @classmethod
    def among(cls, w: FloatArray) -> Patterns | None:
        """The patterns of w (n, m); None where there are many."""
        if w.shape[1] == 1:
            return None
        mixed = w @ np.sqrt(np.arange(2.0, w.shape[1] + 2.0))
        values = np.unique(mixed[: 4 * _PATTERNS])
        if values.size > _PATTERNS:
            return None
        of = np.minimum(np.searchsorted(values, mixed), values.size - 1)
        if not np.array_equal(values[of], mixed):  # some are not among the first rows
            values, of = np.unique(mixed, return_inverse=True)
        patterns = np.empty((values.size, w.shape[1]))
        patterns[of] = w
        if values.size > _PATTERNS or not np.array_equal(patterns[of], w):
            return None
        return cls(patterns, of.astype(np.intp))

    def take(self, index: IntArray | slice) -> Patterns:
        """Those of some rows."""
        return Patterns(self.w, self.of[index])


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelRows:
    """Columns of n rows.

    Attributes
    ----------
    x : (n, p), w : (n, m), z : (n, r)
        Location, nominal (the first one is 1) and log-scale columns.
    offset, scale_offset : (n,)
    patterns : Patterns or None
        Of `w`, where it is known to have few different rows.
    """

    x: FloatArray
    w: FloatArray
    z: FloatArray
    offset: FloatArray
    scale_offset: FloatArray
    patterns: Patterns | None = None

    @classmethod
    def of(cls, rows: Rows) -> ModelRows:
        """The columns as they are."""
        ones, z = np.ones((rows.n, 1)), np.zeros((rows.n, 0)) if rows.scale is None else rows.scale
        return cls.on(rows, rows.X, ones if rows.nominal is None else np.hstack([ones, rows.nominal]), z)

    @classmethod
    def on(cls, rows: Rows, x: FloatArray, w: FloatArray, z: FloatArray, patterns: Patterns | None = None) -> ModelRows:
        """Other columns of the same rows, which keep their offsets."""
        zero = np.zeros(rows.n)
        return cls(
            x=x,
            w=w,
            z=z,
            offset=zero if rows.offset is None else rows.offset,
            scale_offset=zero if rows.scale_offset is None else rows.scale_offset,
            patterns=patterns,
        )

    @property
    def n(self) -> int:
        return int(self.x.shape[0])

    def take(self, index: IntArray | slice) -> ModelRows:
        """Some of the rows, in the order of `index`."""
        columns = {name: getattr(self, name)[index] for name in ("x", "w", "z", "offset", "scale_offset")}
        return ModelRows(**columns, patterns=None if self.patterns is None else self.patterns.take(index))

    def at(self, alpha: FloatArray, beta: FloatArray, zeta: FloatArray) -> Predictor:
        """The predictors at alpha (K-1, m), beta (p,) and zeta (r,)."""
        H, tau = self.x @ beta + self.offset, self.z @ zeta + self.scale_offset
        return Predictor(w=self.w, alpha=alpha, H=H, tau=tau, patterns=self.patterns)


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictor:
    """The predictors of n rows.

    Attributes
    ----------
    w : (n, m)
    alpha : (K-1, m)
    H, tau : (n,)
    patterns : Patterns or None
    """

    w: FloatArray
    alpha: FloatArray
    H: FloatArray
    tau: FloatArray
    patterns: Patterns | None = None

    @cached_property
    def s(self) -> FloatArray:
        """(n,) inverse scale."""
        return np.exp(-self.tau)

    @property
    def n_thresholds(self) -> int:
        return int(self.alpha.shape[0])

    def thresholds(self) -> FloatArray:
        """(n, K-1); (1, K-1) where they are the same for all rows."""
        if self.alpha.shape[1] == 1:
            return self.alpha[:, 0][None, :]
        return self.alpha[:, 0] + self.w[:, 1:] @ self.alpha[:, 1:].T

    def eta(self) -> FloatArray:
        """(n, K-1)."""
        return self.s[:, None] * (self.thresholds() - self.H[:, None])

    def widths(self) -> FloatArray:
        """(n, K-2) differences of neighbouring eta, from those of the thresholds."""
        return self.s[:, None] * np.diff(self.thresholds(), axis=1)

    def ends(self, y: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(n,) eta_y, eta_{y-1} and their difference, infinite where a level has no such end."""
        last = self.n_thresholds
        high, low = np.minimum(y, last - 1), np.maximum(y - 1, 0)
        upper, lower = self._at(high), self._at(low)
        out = np.empty((3, y.size))
        with np.errstate(invalid="ignore"):  # both infinite beside levels without rows
            interval_ends(upper, lower, self._between(high, low, upper - lower), self.H, self.s, y, last, out)
        return out[0], out[1], out[2]

    def _at(self, k: IntArray) -> FloatArray:
        """(n,) each row's own threshold."""
        if self.alpha.shape[1] == 1:
            return self.alpha[:, 0].take(k)
        if self.n_thresholds <= _FEW:
            return self._own(self.alpha, k)
        return np.asarray(self.alpha[k, 0] + np.einsum("nm,nm->n", self.w[:, 1:], self.alpha[k, 1:]))

    def _between(self, high: IntArray, low: IntArray, difference: FloatArray) -> FloatArray:
        """(n,) difference of two thresholds, effect by effect."""
        if self.alpha.shape[1] == 1:
            return difference
        if self.n_thresholds <= _FEW and np.isfinite(self.alpha).all():
            return self._own(np.diff(self.alpha, axis=0, prepend=0.0), high)
        return np.asarray(np.einsum("nm,nm->n", self.w, self.alpha[high] - self.alpha[low]))

    def _own(self, alpha: FloatArray, k: IntArray) -> FloatArray:
        """(n,) component k of each row's own w'alpha; effects beside an infinite threshold do not count."""
        w = self.w if self.patterns is None else self.patterns.w
        of = np.arange(len(w)) if self.patterns is None else self.patterns.of
        every = alpha[:, 0] + w[:, 1:] @ alpha[:, 1:].T
        return np.asarray(every.take(of * self.n_thresholds + k))


@dataclass(frozen=True, eq=False)
class Jacobian:
    """Derivatives of the predictors of n rows by the parameters, applied without being formed.

    The parameters are (thresholds and nominal effects, threshold by threshold of each column; beta; zeta; lambda), as
    in `LikelihoodFit.coefficients`, or those of a threshold structure.

    Attributes
    ----------
    rows : ModelRows
    places : (M, n)
        The thresholds that each row depends on.
    n_thresholds : int
    structure : (F, P) or None
        From the parameters of the structure to the above; None where they are those.
    n_lambda : int
    """

    rows: ModelRows
    places: IntArray
    n_thresholds: int
    structure: FloatArray | None = None
    n_lambda: int = 0

    @property
    def _ends(self) -> tuple[int, int, int]:
        """Where the nominal, location and log-scale effects end."""
        first = self.rows.w.shape[1] * self.n_thresholds
        second = first + self.rows.x.shape[1]
        return first, second, second + self.rows.z.shape[1]

    def apply(self, matrix: FloatArray) -> FloatArray:
        """(n, M + 2 + n_lambda, Q) J times a (P, Q) matrix."""
        matrix = matrix if self.structure is None else self.structure @ matrix
        rows, (first, second, third) = self.rows, self._ends
        levels = matrix[:first].reshape(rows.w.shape[1], self.n_thresholds, -1)
        out = np.empty((rows.n, len(self.places) + 2 + self.n_lambda, matrix.shape[1]))
        for place, k in enumerate(self.places):
            out[:, place] = sum(rows.w[:, column, None] * levels[column, k] for column in range(len(levels)))
        out[:, -2 - self.n_lambda] = rows.x @ matrix[first:second]
        out[:, -1 - self.n_lambda] = rows.z @ matrix[second:third]
        if self.n_lambda:
            out[:, -1] = matrix[third]
        return out

    def contract(self, vectors: FloatArray) -> FloatArray:
        """(n, M + 2 + n_lambda) every row's own J times its own vector (n, P)."""
        vectors = vectors if self.structure is None else vectors @ self.structure.T
        rows, (first, second, third) = self.rows, self._ends
        levels = vectors[:, :first].reshape(rows.n, rows.w.shape[1], self.n_thresholds)
        moved, every = np.einsum("nm,nmk->nk", rows.w, levels), np.arange(rows.n)
        parts = [moved[every, k] for k in self.places]
        parts.append(np.einsum("np,np->n", rows.x, vectors[:, first:second]))
        parts.append(np.einsum("nr,nr->n", rows.z, vectors[:, second:third]))
        return np.column_stack([*parts, vectors[:, third:]])

    def transposed(self, values: FloatArray) -> FloatArray:
        """(n, P) every row's J' times its values (M + 2 + n_lambda, n)."""
        rows, every = self.rows, np.arange(self.rows.n)
        levels = np.zeros((rows.n, rows.w.shape[1], self.n_thresholds))
        for value, k in zip(values, self.places, strict=False):
            levels[every, :, k] += value[:, None] * rows.w
        location, log_scale, *lam = values[len(self.places) :]
        parts = [levels.reshape(rows.n, -1), location[:, None] * rows.x, log_scale[:, None] * rows.z]
        out = np.hstack([*parts, *(value[:, None] for value in lam)])
        return out if self.structure is None else out @ self.structure

    def totals(self, values: FloatArray, codes: IntArray, size: int) -> FloatArray:
        """(size, P) `total` of the rows that have each code (n,)."""
        rows, count = self.rows, self.n_thresholds
        levels = np.zeros((rows.w.shape[1], size, count))
        for value, k in zip(values, self.places, strict=False):
            cell = codes * count + k
            for column, w in enumerate(rows.w.T):
                levels[column] += np.bincount(cell, value * w, minlength=size * count).reshape(size, count)
        location, log_scale, *lam = values[len(self.places) :]
        parts = [*levels, sums_by(codes, rows.x, size, location), sums_by(codes, rows.z, size, log_scale)]
        out = np.hstack([*parts, *(np.bincount(codes, value, minlength=size)[:, None] for value in lam)])
        return np.asarray(out if self.structure is None else out @ self.structure)

    def total(self, values: FloatArray) -> FloatArray:
        """(P,) sum over rows of J' times their values (M + 2 + n_lambda, n)."""
        rows, count = self.rows, self.n_thresholds
        levels = np.zeros((rows.w.shape[1], count))
        for value, k in zip(values, self.places, strict=False):
            for column, w in enumerate(rows.w.T):
                levels[column] += np.bincount(k, value * w, minlength=count)
        location, log_scale, *lam = values[len(self.places) :]
        parts = [levels.reshape(-1), location @ rows.x, log_scale @ rows.z]
        out = np.concatenate([*parts, [value.sum() for value in lam]])
        return np.asarray(out if self.structure is None else out @ self.structure)


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdMap:
    """The linear map theta = jacobian @ a.

    Attributes
    ----------
    names : tuple of str
        Names of the parameters a, as R's ordinal writes them.
    jacobian : (K-1, t)
    """

    names: tuple[str, ...]
    jacobian: FloatArray

    @property
    def intercept(self) -> FloatArray | None:
        """(t,) c with jacobian @ c = 1, so that all thresholds can move together; None where they cannot."""
        one = np.ones(self.jacobian.shape[0])
        c = np.round(np.linalg.lstsq(self.jacobian, one, rcond=None)[0])  # whole numbers, as the map itself
        return c if np.array_equal(self.jacobian @ c, one) else None


def _mirrored(n: int) -> FloatArray:
    """(n, n // 2): column j is +1 at the j-th threshold above the middle and -1 at the j-th below."""
    half = n // 2
    spacing = np.zeros((n, half))
    for j in range(half):
        spacing[n - half + j, j], spacing[half - 1 - j, j] = 1.0, -1.0
    return spacing


def _numbered(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"{name}.{j + 1}" for j in range(count))


def _symmetric(n: int) -> ThresholdMap:
    """The middle threshold (or both middle ones), and equal distances from it on either side."""
    spacing, names = _mirrored(n), ["central"]
    central = np.ones((n, 1))
    if n % 2 == 0:
        lower = np.arange(n) < n // 2
        spacing, names = spacing[:, 1:], ["central.1", "central.2"]
        central = np.column_stack([lower, ~lower]).astype(np.float64)
    names += _numbered("spacing", spacing.shape[1])
    return ThresholdMap(names=tuple(names), jacobian=np.hstack([central, spacing]))


def _symmetric2(n: int) -> ThresholdMap:
    """Symmetric about 0: the model has no free location."""
    return ThresholdMap(names=_numbered("spacing", n // 2), jacobian=_mirrored(n))


def _equidistant(n: int) -> ThresholdMap:
    steps = np.arange(n, dtype=np.float64)
    return ThresholdMap(names=("threshold.1", "spacing"), jacobian=np.column_stack([np.ones(n), steps]))


#: Structure -> map of K-1 thresholds; None where every threshold is a parameter of its own.
THRESHOLDS: dict[str, Callable[[int], ThresholdMap] | None] = {
    "flexible": None,
    "symmetric": _symmetric,
    "symmetric2": _symmetric2,
    "equidistant": _equidistant,
}


def threshold_map(name: str, n_thresholds: int) -> ThresholdMap | None:
    """The map of a structure; None for "flexible".

    Raises
    ------
    DataError
        A structure for fewer than two thresholds (levels with rows less one).

    Examples
    --------
    >>> threshold_map("equidistant", 4).jacobian.astype(int).tolist()
    [[1, 0], [1, 1], [1, 2], [1, 3]]
    """
    build = THRESHOLDS[name]
    if build is None:
        return None
    if n_thresholds < 2:
        raise DataError(
            f"threshold={name!r} needs a response with rows in at least 3 levels; this one has {n_thresholds + 1}."
        )
    return build(n_thresholds)
