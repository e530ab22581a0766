"""The parameter vector in named blocks: thresholds with nominal effects, location, log
scale, link.

There are two orders of the first block. The solver keeps the coefficients of a
threshold together, so that its information is banded; the user's parameters, and
derivatives of predictors, have the thresholds together and then each nominal column's
effects on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from .._typing import FloatArray, IntArray


class Coefficients(NamedTuple):
    """The blocks of one vector.

    Attributes
    ----------
    alpha : (t, m)
        For each threshold its value, and the nominal effects on it.
    beta : (p,)
    zeta : (r,)
        Effects on the log scale.
    lam : (l,)
        The parameter of the link; empty if it is not estimated.
    """

    alpha: FloatArray
    beta: FloatArray
    zeta: FloatArray
    lam: FloatArray


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Sizes of the blocks, and the order of the first one.

    Attributes
    ----------
    thresholds : int
        t, of thresholds or of the parameters of their structure.
    columns : int
        m, of 1 and the nominal columns.
    location, scale, link : int
    by_threshold : bool
        Whether the m coefficients of a threshold are adjacent, rather than the t
        coefficients of a column.

    Examples
    --------
    >>> layout = Layout(thresholds=2, columns=1, location=3)
    >>> layout.size, layout.split(np.arange(5.0)).beta.tolist()
    (5, [2.0, 3.0, 4.0])
    """

    thresholds: int
    columns: int
    location: int = 0
    scale: int = 0
    link: int = 0
    by_threshold: bool = False

    @property
    def n_alpha(self) -> int:
        """Size of the first block."""
        return self.thresholds * self.columns

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.n_alpha + self.location + self.scale + self.link

    @property
    def of_location(self) -> slice:
        """Positions of the location effects."""
        return slice(self.n_alpha, self.n_alpha + self.location)

    @property
    def of_scale(self) -> slice:
        """Positions of the effects on the log scale."""
        end = self.n_alpha + self.location + self.scale
        return slice(self.n_alpha + self.location, end)

    def expansion(self, jacobian: FloatArray) -> FloatArray:
        """(F, P) from these parameters to those with each threshold on its own, where
        `jacobian` (K-1, t) gives the thresholds of a structure.
        """
        others = np.eye(self.size - self.n_alpha)
        by_column = np.kron(np.eye(self.columns), jacobian)
        return block_diag(by_column, others)

    def split(self, x: FloatArray) -> Coefficients:
        """The blocks of a vector (P,)."""
        first = x[: self.n_alpha]
        if self.by_threshold:
            alpha = first.reshape(self.thresholds, self.columns)
        else:
            alpha = first.reshape(self.columns, self.thresholds).T
        lam = x[self.of_scale.stop :]
        return Coefficients(alpha, x[self.of_location], x[self.of_scale], lam)

    @property
    def by_columns(self) -> Layout:
        """The same blocks with the coefficients of a column together."""
        return replace(self, by_threshold=False)

    @property
    def order_by_columns(self) -> IntArray:
        """(P,) indices that take a vector to the order of `by_columns`."""
        order = np.arange(self.size)
        if self.by_threshold:
            shape = (self.thresholds, self.columns)
            order[: self.n_alpha] = order[: self.n_alpha].reshape(shape).T.reshape(-1)
        return order
