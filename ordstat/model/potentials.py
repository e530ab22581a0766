"""Fitted potentials H(x) of the margin methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray
from .kernels.named import Kernel
from .row_blocks import row_blocks
from .sample import Rows
from .scaling import Scaling


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelExpansion:
    """H(x) = sum_s coef_s k(x_s, x) + offset, over the support rows x_s and scaled columns.

    Attributes
    ----------
    kernel : Kernel
    scaling : Scaling
        Map of the columns, applied to new rows.
    anchors : (S, ...)
        Support rows as the kernel keeps them (already scaled).
    coef : (S,), or (S, P) of P potentials
        beta_s, summing to zero over s.
    offset : float, or (P,)
        b.
    squared_norm : float
        |v|^2 = coef' k(x_s, x_t) coef; NaN where nobody asks for it.
    """

    kernel: Kernel
    scaling: Scaling
    anchors: AnyArray
    coef: FloatArray
    offset: Any
    squared_norm: float = float("nan")

    @property
    def slopes(self) -> FloatArray | None:
        """None: H is not known to be linear in the columns."""
        return None

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores, or (N, P)."""
        blocks = row_blocks(rows.n, len(self.coef))
        parts = [self.kernel(self.scaling(rows.X[some]), self.anchors) @ self.coef for some in blocks]
        return np.asarray(np.concatenate([np.zeros((0, *self.coef.shape[1:])), *parts]) + self.offset)


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearPotential:
    """H(x) = w'z + offset, z the scaled columns of x.

    Fits take `LinearPotential.plain`, H = slopes'x, so that the coefficients and thresholds shown give the ranks.

    Attributes
    ----------
    scaling : Scaling
    coef : (D,)
        w.
    offset : float
        b.
    """

    scaling: Scaling
    coef: FloatArray
    offset: float

    @classmethod
    def plain(cls, scaling: Scaling, coef: FloatArray) -> LinearPotential:
        """H = slopes'x in the columns as they are."""
        return cls(scaling=scaling, coef=coef, offset=float((coef * scaling.factor) @ scaling.centre))

    @property
    def squared_norm(self) -> float:
        """|w|^2."""
        return float(self.coef @ self.coef)

    @property
    def slopes(self) -> FloatArray:
        """(D,) effects of the columns on their own scale."""
        return self.coef * self.scaling.factor

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        return self.scaling(rows.X) @ self.coef + self.offset


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnScore:
    """H(x) = sign * x[column].

    Attributes
    ----------
    column : int or None
        None of rows without columns, for H = 0.
    sign : float
        +1 or -1.
    """

    column: int | None
    sign: float

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        if self.column is None:
            return np.zeros(rows.n)
        return self.sign * rows.X[:, self.column]


@dataclass(frozen=True, eq=False, kw_only=True)
class NetworkPotential:
    """H(x) = sum_j v_j tanh(w_j'z + b_j), z the scaled columns of x.

    Attributes
    ----------
    scaling : Scaling
    inner : (J, D)
        w_j.
    bias : (J,)
    outer : (J,)
        v.
    """

    scaling: Scaling
    inner: FloatArray
    bias: FloatArray
    outer: FloatArray

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        return np.tanh(self.scaling(rows.X) @ self.inner.T + self.bias) @ self.outer
