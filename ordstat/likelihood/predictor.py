"""The predictors of a likelihood model, eta_k = s (theta_k - H), and their derivatives.

theta_k = w'alpha_k with w = (1, nominal columns), H = x'beta + offset, s = exp(-tau),
tau = z'zeta + scale offset. The log-probability of a row depends on theta_k for some k,
on H and on tau, and on the parameter lambda of the link if that is estimated. Their
derivatives by the parameters are w (by alpha_k), x, z and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import FloatArray, IntArray
from ..checks import require_memory
from ..formula.row_blocks import sums_by
from ..formula.sample import Rows
from .layout import Layout

#: Arrays of rows by levels that are held together while probabilities are formed.
_ARRAYS = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelRows:
    """Columns of n rows.

    Attributes
    ----------
    x : (n, p), w : (n, m), z : (n, r)
        Location, nominal (the first one is 1) and log-scale columns.
    offset, scale_offset : (n,)
    """

    x: FloatArray
    w: FloatArray
    z: FloatArray
    offset: FloatArray
    scale_offset: FloatArray

    @classmethod
    def of(cls, rows: Rows) -> ModelRows:
        """The unscaled columns."""
        ones = np.ones((rows.n, 1))
        zero = np.zeros(rows.n)
        return cls(
            x=rows.X,
            w=ones if rows.nominal is None else np.hstack([ones, rows.nominal]),
            z=np.zeros((rows.n, 0)) if rows.scale is None else rows.scale,
            offset=zero if rows.offset is None else rows.offset,
            scale_offset=zero if rows.scale_offset is None else rows.scale_offset,
        )

    @property
    def n(self) -> int:
        return int(self.x.shape[0])

    def take(self, index: IntArray | slice) -> ModelRows:
        """Some of the rows, in the order of `index`."""
        return ModelRows(
            **{
                name: getattr(self, name)[index]
                for name in ("x", "w", "z", "offset", "scale_offset")
            }
        )

    def at(self, alpha: FloatArray, beta: FloatArray, zeta: FloatArray) -> Predictor:
        """The predictors at alpha (K-1, m), beta (p,) and zeta (r,)."""
        H = self.x @ beta + self.offset
        tau = self.z @ zeta + self.scale_offset
        return Predictor(w=self.w, alpha=alpha, H=H, tau=tau)


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictor:
    """The predictors of n rows.

    Attributes
    ----------
    w : (n, m)
    alpha : (K-1, m)
    H, tau : (n,)
    """

    w: FloatArray
    alpha: FloatArray
    H: FloatArray
    tau: FloatArray

    @cached_property
    def s(self) -> FloatArray:
        """(n,) inverse scale; infinite where the scale is 0 up to rounding."""
        with np.errstate(over="ignore"):
            return np.exp(-self.tau)

    @property
    def n_thresholds(self) -> int:
        return int(self.alpha.shape[0])

    def thresholds(self) -> FloatArray:
        """(n, K-1); (1, K-1) if they are the same for all rows."""
        if self.alpha.shape[1] == 1:
            return self.alpha[:, 0][None, :]
        return self.alpha[:, 0] + self.w[:, 1:] @ self.alpha[:, 1:].T

    def eta(self) -> FloatArray:
        """(n, K-1)."""
        cells = self.H.size * self.n_thresholds
        require_memory(
            f"A number for each of {self.H.size} rows and {self.n_thresholds + 1}"
            " levels",
            _ARRAYS * self.H.itemsize * cells,
            "Ask for fewer rows at a time, or for type='score'; or join levels.",
        )
        return self.s[:, None] * (self.thresholds() - self.H[:, None])

    def widths(self) -> FloatArray:
        """(n, K-2) differences of neighbouring eta, from those of the thresholds."""
        return self.s[:, None] * np.diff(self.thresholds(), axis=1)

    def ends(self, y: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(n,) eta_y, eta_{y-1} and their difference, infinite if the level has no such
        end; for censored answers (2, n) those of the highest and the lowest level.
        """
        last = self.n_thresholds
        lowest, highest = lowest_and_highest(y)
        high = np.minimum(highest, last - 1)
        low = np.maximum(lowest - 1, 0)
        top = highest == last
        bottom = lowest == 0
        with np.errstate(invalid="ignore"):  # both infinite next to levels without rows
            upper, lower = (
                self.s * (self._of_rows(self.alpha[k]) - self.H) for k in (high, low)
            )
            width = self.s * self._of_rows(self.alpha[high] - self.alpha[low])
        return (
            np.where(top, np.inf, upper),
            np.where(bottom, -np.inf, lower),
            np.where(top | bottom, np.inf, width),
        )

    def _of_rows(self, alpha: FloatArray) -> FloatArray:
        """(n,) w'alpha by rows of coefficients (n, m); effects on an infinite threshold
        are 0.
        """
        if alpha.shape[1] == 1:
            return alpha[:, 0]
        return np.asarray(np.einsum("nm,nm->n", self.w, alpha))


def lowest_and_highest(y: IntArray) -> tuple[IntArray, IntArray]:
    """(n,) the lowest and the highest level of answers: y (n,), or both (2, n)."""
    return (y, y) if y.ndim == 1 else (y[0], y[1])


@dataclass(frozen=True, eq=False)
class Jacobian:
    """Derivatives J of the predictors of n rows by the parameters, as products with
    matrices and vectors; J itself is not formed.

    The predictors are theta at M thresholds, H, tau and lambda if it is estimated. The
    parameters are those of `layout`, or of a threshold structure.

    Attributes
    ----------
    rows : ModelRows
    places : (M, n)
        The thresholds that each row depends on.
    layout : Layout
        The blocks of F parameters, each threshold on its own, thresholds together.
    structure : (F, P) or None
        From the parameters of a threshold structure to these.
    """

    rows: ModelRows
    places: IntArray
    layout: Layout
    structure: FloatArray | None = None

    @property
    def n_thresholds(self) -> int:
        return self.layout.thresholds

    @property
    def n_lambda(self) -> int:
        return self.layout.link

    def apply(self, matrix: FloatArray) -> FloatArray:
        """(n, M + 2 + n_lambda, Q) J times a (P, Q) matrix."""
        matrix = matrix if self.structure is None else self.structure @ matrix
        rows = self.rows
        layout = self.layout
        by_column = layout.columns, layout.thresholds, matrix.shape[1]
        levels = matrix[: layout.n_alpha].reshape(by_column)
        out = np.empty((rows.n, len(self.places) + 2 + self.n_lambda, matrix.shape[1]))
        for place, k in enumerate(self.places):
            out[:, place] = sum(
                w[:, None] * effects[k]
                for w, effects in zip(rows.w.T, levels, strict=True)
            )
        place = len(self.places)
        out[:, place] = rows.x @ matrix[layout.of_location]
        out[:, place + 1] = rows.z @ matrix[layout.of_scale]
        if self.n_lambda:
            out[:, -1] = matrix[layout.of_scale.stop :]
        return out

    def transposed(self, values: FloatArray) -> FloatArray:
        """(n, P) J'v of every row, with values v (M + 2 + n_lambda, n)."""
        return self.totals(values, np.arange(self.rows.n), self.rows.n)

    def totals(self, values: FloatArray, codes: IntArray, size: int) -> FloatArray:
        """(size, P) sums of J'v, with values v (M + 2 + n_lambda, n), over the rows of
        each code (n,).
        """
        rows = self.rows
        count = self.n_thresholds
        levels = np.zeros((rows.w.shape[1], size, count))
        for value, k in zip(values, self.places, strict=False):
            cell = codes * count + k
            for column, w in enumerate(rows.w.T):
                levels[column] += np.bincount(
                    cell, value * w, minlength=size * count
                ).reshape(size, count)
        location, log_scale, *lam = values[len(self.places) :]
        columns = (rows.x, location), (rows.z, log_scale)
        parts = [
            (value @ x)[None] if size == 1 else sums_by(codes, x, size, value)
            for x, value in columns
        ]
        out = np.hstack(
            [
                *levels,
                *parts,
                *(np.bincount(codes, value, minlength=size)[:, None] for value in lam),
            ]
        )
        return out if self.structure is None else out @ self.structure

    def total(self, values: FloatArray) -> FloatArray:
        """(P,) the sum of J'v over all rows."""
        return np.asarray(
            self.totals(values, np.zeros(self.rows.n, dtype=np.intp), 1)[0]
        )

    def information(self, curvature: FloatArray) -> FloatArray:
        """(P, P) the sum of J'AJ over all rows, with curvature A (M + 2 + n_lambda, M +
        2 + n_lambda, n).
        """
        w = self.rows.w
        n, m = w.shape
        count = self.n_thresholds
        curvature = self._by_threshold(self._by_threshold(curvature).swapaxes(0, 1))
        products = (w[:, :, None] * w[:, None, :]).reshape(n, m * m)
        levels = curvature[:count, :count].reshape(-1, n) @ products
        levels = (
            levels.reshape(count, count, m, m)
            .transpose(2, 0, 3, 1)
            .reshape(m * count, m * count)
        )
        others = [self.rows.x, self.rows.z, *[np.ones((n, 1))] * self.n_lambda]
        cross = [
            np.vstack([(curvature[:count, j] * column) @ x for column in w.T])
            for j, x in enumerate(others, count)
        ]
        rest = [
            [x.T @ (curvature[i, j][:, None] * z) for j, z in enumerate(others, count)]
            for i, x in enumerate(others, count)
        ]
        out = np.block(
            [
                [levels, *cross],
                *([c.T, *row] for c, row in zip(cross, rest, strict=True)),
            ]
        )
        return (
            out if self.structure is None else self.structure.T @ out @ self.structure
        )

    def _by_threshold(self, values: FloatArray) -> FloatArray:
        """Values (M + 2 + n_lambda, ..., n) of the predictors, those at the places
        summed at every threshold.
        """
        places = self.places
        every = np.arange(self.rows.n)
        if (
            len(places) == self.n_thresholds
            and (places == np.arange(len(places))[:, None]).all()
        ):
            return values
        out = np.zeros(
            (self.n_thresholds + len(values) - len(places), *values.shape[1:])
        )
        out[self.n_thresholds :] = values[len(places) :]
        for k, value in zip(places, values, strict=False):
            out[k, ..., every] += value.T
        return out
