"""How the columns of a design move with a number of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd

from ...._typing import FloatArray
from ....model.likelihood.stencil import stencil
from ....model.random_effects import RandomRows
from ....model.sample import Rows


def tangent(
    design: Callable[[pd.DataFrame], Rows], frame: pd.DataFrame, name: str, known: FloatArray, linear: bool
) -> Rows:
    """The derivatives of the columns of every row by a number.

    Parameters
    ----------
    design : callable
        The rows of a frame.
    frame : pandas.DataFrame
    name : str
    known : (N,)
        Values that the design can be evaluated between.
    linear : bool
        Whether the columns are linear in the number; else they are differences of five points.
    """
    x = frame[name].to_numpy(dtype=np.float64)
    if linear:
        ones = np.ones((x.size, 1))
        points, coefficients = np.hstack([0.0 * ones, ones]), np.hstack([-ones, ones])
    else:
        points, coefficients = stencil(x, known)
    return combined([design(frame.assign(**{name: column})) for column in points.T], coefficients)


def in_one_unit(moved: Rows) -> Rows:
    """A tangent along which the scale stays as it is: else the unit of latent variables would move with the number."""
    scale, offset = (None if part is None else np.zeros_like(part) for part in (moved.scale, moved.scale_offset))
    return replace(moved, scale=scale, scale_offset=offset)


def combined(points: Sequence[Rows], coefficients: FloatArray) -> Rows:
    """Sums of rows with coefficients (n, len(points)) that sum to 0; columns that do not change give exact zeros."""

    def total(parts: list[FloatArray | None]) -> FloatArray | None:
        first, *others = parts
        if first is None:
            return None
        factors = coefficients if first.ndim == 1 else coefficients[:, :, None]
        moved = (factors[:, j] * (other - first) for j, other in enumerate(others, start=1) if other is not None)
        return np.asarray(sum(moved, np.zeros_like(first)))

    names = [one.name for one in fields(Rows) if one.name != "random"]
    parts: dict[str, Any] = {name: total([getattr(rows, name) for rows in points]) for name in names}
    return replace(points[0], **parts, random=_combined_random([rows.random for rows in points], total))


def _combined_random(
    points: list[RandomRows | None], total: Callable[[list[FloatArray | None]], FloatArray | None]
) -> RandomRows | None:
    """The columns of random terms in the same way; their groups stay."""
    terms = [() if one is None else one.terms for one in points]
    columns = [total([own.z for own in alike]) for alike in zip(*terms, strict=True)]
    moved = [replace(term, z=z) for term, z in zip(terms[0], columns, strict=True) if z is not None]
    return RandomRows(tuple(moved)) if moved else None
