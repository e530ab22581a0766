"""Chebyshev interpolation in the score, which replaces very many rows by few nodes.

On one scale a curve of the predictors theta_k - H depends on a row by H alone. F and
its density are analytic up to a distance of 1 from the real line at least (cauchit: the
poles are at theta_k +- i), so that on a panel of H of width 1 the error of
interpolation at m Chebyshev points is about 4.2^-m of the largest value there
[Trefethen 2013, Approximation Theory and Approximation Practice, theorem 8.2]. Sums
over rows then need one value of the curve for each node, not for each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from .._typing import FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Nodes of a panel: 4.2^-25 is rounding.
_NODES = 25
#: Nodes are taken in place of this many times as many rows.
_SAVED = 4


@dataclass(frozen=True, eq=False)
class ScoreNodes:
    """Scores at nodes, and the weights that interpolate between them.

    Attributes
    ----------
    scores : (J,)
    weights : (n, J) sparse
        A function with values v (J,) at the nodes has approximately the values weights
        @ v at the rows.

    Examples
    --------
    >>> rows = np.linspace(-1.0, 1.0, 1000)
    >>> nodes = ScoreNodes.of(rows)
    >>> nodes.scores.size
    75
    >>> error = nodes.weights @ np.tanh(nodes.scores) - np.tanh(rows)
    >>> bool(np.abs(error).max() < 1e-14)
    True
    """

    scores: FloatArray
    weights: csr_array

    @classmethod
    def of(cls, scores: FloatArray) -> Self | None:
        """The nodes for the scores (n,) of rows; None if they are not few."""
        from scipy.sparse import csr_array

        if not scores.size or not np.isfinite(scores).all():
            return None
        lowest = np.floor(scores.min())
        panels, codes = np.unique(np.floor(scores - lowest), return_inverse=True)
        if _SAVED * _NODES * panels.size > scores.size:
            return None
        centres = lowest + panels + 0.5
        angles = np.pi * (np.arange(_NODES) + 0.5) / _NODES
        points = np.cos(angles)
        inside = np.clip(2.0 * (scores - centres[codes]), -1.0, 1.0)
        # sum over the degrees r < m of T_r(x) T_r(point), halved at r = 0
        degrees = np.arange(_NODES)
        of_points = np.cos(degrees[:, None] * angles) * (2.0 / _NODES)
        of_points[0] /= 2.0
        weights = np.polynomial.chebyshev.chebvander(inside, _NODES - 1) @ of_points
        places = _NODES * codes[:, None] + np.arange(_NODES)
        ends = np.arange(0, weights.size + 1, _NODES)
        shape = (scores.size, _NODES * panels.size)
        return cls(
            (centres[:, None] + 0.5 * points).reshape(-1),
            csr_array((weights.reshape(-1), places.reshape(-1), ends), shape=shape),
        )
