"""Robust covariances of very many parameters, as products with vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import FloatArray, IntArray
from ..formula.row_blocks import row_blocks
from .at_estimates import LikelihoodAtEstimates
from .user_scale import InverseInformation, unit_rows

#: Doubles of the parameters whose variances are computed at once.
_BUFFER = 1 << 17


@dataclass(frozen=True, eq=False)
class SandwichCovariance:
    """f B (sum U U') B: U are the scores of rows or clusters, B is the inverse
    information; none of them is formed.

    Attributes
    ----------
    bread : InverseInformation
        B (P', P').
    likelihood : LikelihoodAtEstimates
    cluster : (N,) codes or None
    factor : float
        f, the small-sample correction.
    """

    bread: InverseInformation
    likelihood: LikelihoodAtEstimates
    cluster: IntArray | None
    factor: float

    @property
    def size(self) -> int:
        return self.bread.size

    def _influence(self, L: FloatArray) -> FloatArray:
        """(G, h) what each cluster or row adds to combinations L (h, P')."""
        moves = self.bread.times(L.T)
        scores = self.likelihood.scores_along(moves, self.cluster)
        return np.asarray(np.sqrt(self.factor) * scores)

    @cached_property
    def variances(self) -> FloatArray:
        parts = [
            self.variances_of(unit_rows(np.arange(some.start, some.stop), self.size))
            for some in row_blocks(self.size, self.size, _BUFFER)
        ]
        return np.concatenate(parts)

    def times(self, vector: FloatArray) -> FloatArray:
        columns = vector.reshape(self.size, -1)
        moves = self.bread.times(columns)
        total = self.likelihood.score_products_times(moves, self.cluster)
        product = self.factor * self.bread.times(total)
        return product.reshape(vector.shape)

    def quadratic(self, L: FloatArray) -> FloatArray:
        influence = self._influence(L)
        return influence.T @ influence

    def variances_of(self, L: FloatArray) -> FloatArray:
        rows = L.reshape(-1, self.size)
        variances = np.empty(len(rows))
        for some in row_blocks(len(rows), self.size, _BUFFER):
            influence = self._influence(rows[some])
            variances[some] = np.einsum("ij,ij->j", influence, influence)
        return variances.reshape(L.shape[:-1])

    def dense(self) -> FloatArray:
        bread = self.bread.dense()
        products = self.likelihood.score_products(self.cluster, bread)
        return self.factor * products
