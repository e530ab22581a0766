"""The order of thresholds as linear inequalities, made where they are broken.

theta_k+1(w) - theta_k(w) >= GAP for all w of a box: one inequality for each corner and k. Of all corners that with the
smallest difference is found at once (`Region.lowest`), so inequalities are added only as a search runs into them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...._typing import BoolArray, FloatArray
from ....model.likelihood.region import Binding, Region
from ..explore import Point
from ..problem import Problem
from ..structured import Structured
from ..user_scale import joined

#: Least distance of neighbouring thresholds, on the latent scale: not 0, as rounding would make some negative.
GAP = 1e-9


class Corner(NamedTuple):
    """The thresholds k and k + 1 at a corner (m,), 1 and the scaled nominal columns."""

    k: int
    w: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Order:
    """All inequalities of a problem; those met so far are `corners`, with one row of `rows` (c, P') each.

    Attributes
    ----------
    region : Region
        Of the scaled columns that are not aliased.
    on_user_scale : Region
        The same of the user's columns, by their places among all.
    kept : (q,) bool
        Nominal columns that are not aliased.
    structured : Structured
        From the parameters to the thresholds.
    """

    region: Region
    on_user_scale: Region
    kept: BoolArray
    structured: Structured
    corners: tuple[Corner, ...] = ()
    rows: FloatArray

    @classmethod
    def of(cls, problem: Problem) -> Order:
        """Nothing is broken yet."""
        kept = problem.nominal.kept
        columns = problem.nominal.part(kept)
        groups = _among(problem.sample.nominal_groups, kept)
        region = Region.of(replace(problem.sample, nominal_groups=groups))
        rows, user = problem.rows(), problem.user_scale()
        if problem.structure is not None:
            structured = problem.structured(rows.evaluate)
        else:
            structured = Structured.free(rows.evaluate, user.c.size, user.A.shape)
        return cls(
            region=region.scaled(columns.mean, columns.deviation),
            on_user_scale=region.placed(np.flatnonzero(kept)),
            kept=kept,
            structured=structured,
            rows=np.zeros((0, problem.n_parameters)),
        )

    def least(self, point: Point) -> tuple[FloatArray, list[Corner]]:
        """The smallest difference of each pair of neighbouring thresholds, and where."""
        steps = np.diff(self.structured.expand(*point), axis=0)
        values, where = self.region.lowest(steps[:, 0], steps[:, 1:])
        return values, [Corner(k, np.append(1.0, w)) for k, w in enumerate(where)]

    def with_broken(self, point: Point) -> Order | None:
        """With the inequalities that a point breaks by more than rounding; None where it breaks none."""
        values, corners = self.least(point)
        broken = [corner for value, corner in zip(values, corners, strict=True) if value < 0.5 * GAP]
        new = [corner for corner in broken if not any(_same(corner, old) for old in self.corners)]
        if not new:
            return None
        rows = np.vstack([self.rows, *(self.row(corner) for corner in new)])
        return replace(self, corners=(*self.corners, *new), rows=rows)

    def row(self, corner: Corner) -> FloatArray:
        """(P',) of an inequality row'point >= GAP."""
        alpha, _ = self.structured.basis()
        return np.asarray((alpha[:, corner.k + 1] - alpha[:, corner.k]) @ corner.w)

    def slack(self, point: Point) -> FloatArray:
        """(c,) of the inequalities seen so far."""
        return self.rows @ joined(*point) - GAP

    def binding(self, problem: Problem, multipliers: FloatArray) -> tuple[Binding, ...]:
        """Those with a positive multiplier (c,), on the user's scale."""
        columns, codes = problem.nominal.part(self.kept), np.flatnonzero(problem.present)
        found = []
        for (k, w), multiplier in zip(self.corners, multipliers, strict=True):
            if multiplier > 0.0:
                values = np.full(self.kept.size, np.nan)
                values[self.kept] = w[1:] * columns.deviation + columns.mean
                pair = int(codes[k]), int(codes[k + 1])
                found.append(Binding(thresholds=pair, values=values, multiplier=float(multiplier)))
        return tuple(found)


def _same(one: Corner, other: Corner) -> bool:
    return one.k == other.k and np.array_equal(one.w, other.w)


def _among(groups: tuple[tuple[int, ...], ...], kept: BoolArray) -> tuple[tuple[int, ...], ...]:
    """The groups of the columns that are kept, by their places among these."""
    place = np.cumsum(kept) - 1
    left = (tuple(int(place[j]) for j in group if j < kept.size and kept[j]) for group in groups)
    return tuple(group for group in left if group)
