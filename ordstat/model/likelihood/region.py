"""Where thresholds are kept in order: a box of the nominal columns, spanned by what was observed of them.

Columns that share a variable (the dummies of a factor, the terms of a spline or of an interaction) take one of the
values observed of them together; groups of columns are combined freely. The smallest of a linear function over all
combinations is the sum of its smallest values over the groups, so that the corners are never listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray, IntArray
from ..sample import Sample


@dataclass(frozen=True, eq=False)
class Group:
    """Columns (c,) that vary together, and the (V, c) values whose convex hull they take."""

    columns: IntArray
    points: FloatArray


@dataclass(frozen=True, eq=False)
class Region:
    """All combinations of a point of each group of columns."""

    groups: tuple[Group, ...]

    @classmethod
    def of(cls, sample: Sample) -> Region:
        """The region that the rows of a sample span."""
        nominal = sample.rows.nominal
        if nominal is None:
            return cls(())
        return cls(tuple(_observed(nominal, list(columns)) for columns in _groups(sample, nominal.shape[1])))

    def scaled(self, mean: FloatArray, deviation: FloatArray) -> Region:
        """The region of columns less their mean, over their deviation."""
        return Region(tuple(Group(g.columns, (g.points - mean[g.columns]) / deviation[g.columns]) for g in self.groups))

    def placed(self, places: IntArray) -> Region:
        """The same of columns with other numbers."""
        return Region(tuple(Group(places[g.columns], g.points) for g in self.groups))

    def lowest(self, intercepts: FloatArray, effects: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The least values (L,) of L functions intercept + effects'w over the region, and where (L, q).

        Parameters
        ----------
        intercepts : (L,)
        effects : (L, q)
        """
        values, where = intercepts.astype(np.float64), np.zeros_like(effects)
        for group in self.groups:
            heights = effects[:, group.columns] @ group.points.T
            place = heights.argmin(axis=1)
            values += heights[np.arange(values.size), place]
            where[:, group.columns] = group.points[place]
        return values, where


def _observed(nominal: FloatArray, columns: list[int]) -> Group:
    """One column by its ends, several by their distinct rows."""
    values = nominal[:, columns]
    ends = np.stack([values.min(axis=0), values.max(axis=0)]) if len(columns) == 1 else np.unique(values, axis=0)
    return Group(np.array(columns, dtype=np.intp), ends)


def _groups(sample: Sample, n_columns: int) -> Iterable[Iterable[int]]:
    """Those of the sample where they are of its columns; else all columns together."""
    groups = sample.nominal_groups
    return groups if sorted(place for group in groups for place in group) == [*range(n_columns)] else [range(n_columns)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Binding:
    """A place where two thresholds meet, as they would be out of order without the constraint.

    Attributes
    ----------
    thresholds : (int, int)
        The two thresholds, by the codes of the levels below them.
    values : (q,)
        Of the nominal columns, NaN where aliased.
    multiplier : float
        How fast the log-likelihood would rise with room for the thresholds there.
    """

    thresholds: tuple[int, int]
    values: FloatArray
    multiplier: float


@dataclass(frozen=True, eq=False)
class KeptOrder:
    """Thresholds that are in order all over a region, and where that is a constraint."""

    region: Region
    binding: tuple[Binding, ...] = ()
