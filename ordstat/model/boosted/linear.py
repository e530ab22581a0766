"""The linear start of boosting: slopes of numbers, effects of categories, and what a missing value counts as."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from ..row_blocks import CACHED, row_blocks
from ..sample import has_gaps


@dataclass(frozen=True, eq=False)
class LinearStart:
    """H = sum_d x_d slopes_d + sum over columns of categories of the effect of the row's.

    Attributes
    ----------
    slopes : (D,)
        0 of categories.
    missing : (D,)
        In place of these for a row without a value; empty of columns that always have one.
    effects : tuple of D arrays
        Of the categories of a column; empty of numbers, and () where all columns are.
    """

    slopes: FloatArray
    missing: FloatArray
    effects: tuple[FloatArray, ...]

    def __call__(self, X: FloatArray) -> FloatArray:
        """(N,) of rows X (N, D), in which categories are codes."""
        if not (any(effects.size for effects in self.effects) or has_gaps(X)):
            return np.asarray(X @ self.slopes)
        H = np.empty(len(X))
        for some in row_blocks(len(X), X.shape[1], CACHED):
            H[some] = self.parts(X[some]).sum(axis=1)
        return H

    def parts(self, X: FloatArray) -> FloatArray:
        """(N, D) what each column adds."""
        gaps = np.isnan(X)
        filled = np.where(gaps, 0.0, X)
        found = filled * self.slopes
        for d, effects in enumerate(self.effects):
            if effects.size:
                found[:, d] = effects[filled[:, d].astype(np.intp)]
        return np.where(gaps, self.missing, found) if self.missing.size else found
