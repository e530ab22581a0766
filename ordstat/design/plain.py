"""The quick way to rebuild rows whose terms are all bare columns of numbers; what it cannot judge goes the long one.

Looking up one column of a frame after another costs more than a batch of a thousand rows takes to learn. Here they are
taken together, and the sums of squares that come with their matrix tell whether every number is finite.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from .._typing import AnyArray, FloatArray, IntArray
from ..model.table import stack
from .coding import Coding, NumberCoding
from .expressions import dotted_name
from .parse import Part

#: Up to so many entries a copy costs less than a look at each column.
_SMALL = 1 << 20


def plain_columns(part: Part, codings: Mapping[str, Coding]) -> tuple[str, ...] | None:
    """Columns of a part whose terms are each one column of numbers, in their order; None of any other part."""
    names = [dotted_name(term.factors[0].tree) if len(term.factors) == 1 else None for term in part.terms]
    numbers = all(isinstance(codings[factor.key], NumberCoding) for term in part.terms for factor in term.factors)
    plain = tuple(name for name in names if name is not None)
    return plain if plain and len(plain) == len(names) and numbers and not part.offsets else None


def plain_matrix(frame: pd.DataFrame, names: tuple[str, ...]) -> FloatArray | None:
    """(N, D) of columns of finite numbers; None where a column is missing, of another kind or not finite."""
    try:
        places = [frame.columns.get_loc(name) for name in names]
    except KeyError:
        return None
    if not all(isinstance(place, int) for place in places):  # several columns of one name
        return None
    positions = np.array(places, dtype=np.intp)
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in frame.dtypes.to_numpy()[positions]):
        return None
    matrix, squares = stack(_taken(frame, positions), len(frame))
    return matrix if np.isfinite(squares).all() else None  # numbers too large to square get the longer look


def _taken(frame: pd.DataFrame, positions: IntArray) -> list[AnyArray]:
    """The columns at these positions."""
    if len(frame) * positions.size <= _SMALL:
        return list(frame.take(positions, axis=1).to_numpy(dtype=float).T)
    return [frame.iloc[:, position].to_numpy() for position in positions]
