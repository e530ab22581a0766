"""Aliased columns, determined by others in the rows of a fit, and new rows that break
the relation.

An aliased column has no estimate: the other columns carry its effect. A new row in
which the columns are related differently lies outside the row space of the fit, and its
predictions are not determined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._typing import BoolArray, FloatArray
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows, Sample
from .columns import triangle_of
from .derivatives import QUANTITIES, QuantityOfRows
from .fit import LikelihoodFit
from .rule import LikelihoodRule

#: A relation between columns may fail by this share of the largest column.
_SAME = 1e-6
#: Doubles of derivatives held at once.
_BUFFER = 1 << 20


@dataclass(frozen=True, eq=False, kw_only=True)
class Relation:
    """How columns determine other columns of some parts of the rows, in the rows of the
    fit.

    Attributes
    ----------
    parts : tuple of str
        Fields of `Rows`; a constant is before their columns.
    size : (1 + p,)
        The largest value of each column.
    lost : (1 + p,) bool
        Aliased columns, which others determine.
    weights : (1 + p - U, U)
        Coefficients of the aliased columns on the others, all in units of `size`.
    """

    parts: tuple[str, ...]
    size: FloatArray
    lost: BoolArray
    weights: FloatArray

    @classmethod
    def of(cls, rows: Rows, parts: tuple[str, ...], lost: BoolArray) -> Relation:
        """The relation in the rows of the fit."""
        columns = _columns(rows, parts)
        size = np.maximum(np.abs(columns).max(axis=0), 1e-300)
        scaled = columns / size
        lost = np.append(False, lost)
        weights = np.linalg.lstsq(scaled[:, ~lost], scaled[:, lost], rcond=None)[0]
        return cls(parts=parts, size=size, lost=lost, weights=weights)

    def gaps(self, rows: Rows, weights: FloatArray | None, tangent: bool) -> FloatArray:
        """(h, U) aliased columns minus what the others imply; see `Aliasing.gaps`."""
        columns = _columns(rows, self.parts) / self.size
        if tangent:
            columns[:, 0] = 0.0
        sums = columns
        sizes = np.abs(columns)
        if weights is not None:
            sums = weights @ columns
            sizes = np.abs(weights) @ sizes
        gap = sums[:, self.lost] - sums[:, ~self.lost] @ self.weights
        return np.where(
            np.abs(gap) > _SAME * sizes.max(axis=1, keepdims=True), gap, 0.0
        )


class Confounded(NamedTuple):
    """Log-scale effects whose derivatives are combinations of those of others, at the
    estimates, in the rows of the fit.

    Attributes
    ----------
    chosen : (F,) bool
        Positions of these effects among the parameters of the rule.
    weights : (F, U)
        The combinations; 0 for parameters that do not enter.
    """

    chosen: BoolArray
    weights: FloatArray

    @classmethod
    def of(
        cls, rule: LikelihoodRule, rows: Rows, confounded: BoolArray, lost: BoolArray
    ) -> Confounded:
        """The combinations for confounded effects (r,), without lost columns (r,)."""
        width = rule.n_parameters
        chosen = np.zeros(width, dtype=bool)
        chosen[rule.layout.of_scale] = confounded
        others = ~chosen
        others[rule.layout.of_scale] &= ~lost
        slopes = (
            _slopes(rule, rows.take(some)).reshape(-1, width)
            for some in row_blocks(rows.n, rule.n_levels * width, _BUFFER)
        )
        triangle = triangle_of(slopes, width)
        weights = np.zeros((width, int(chosen.sum())))
        weights[others] = np.linalg.lstsq(
            triangle[:, others], triangle[:, chosen], rcond=1e-10
        )[0]
        return cls(chosen, weights)

    def gaps(self, rule: LikelihoodRule, rows: Rows) -> FloatArray:
        """(n, U) how far rows are from these combinations; 0 where they hold."""
        out = np.zeros((rows.n, self.weights.shape[1]))
        for some in row_blocks(rows.n, rule.n_levels * rule.n_parameters, _BUFFER):
            slopes = _slopes(rule, rows.take(some))
            gap = np.abs(slopes[:, :, self.chosen] - slopes @ self.weights).max(axis=1)
            out[some] = np.where(gap > _SAME, gap, 0.0)
        return out


@dataclass(frozen=True, eq=False, kw_only=True)
class Aliasing:
    """The relations between the columns of a fit.

    Attributes
    ----------
    relations : tuple of Relation
    confounded : Confounded or None
        Log-scale effects that cell probabilities determine only together with others.
    """

    relations: tuple[Relation, ...]
    confounded: Confounded | None = None

    @classmethod
    def of(
        cls, fit: LikelihoodFit, rule: LikelihoodRule, sample: Sample
    ) -> Aliasing | None:
        """The relations in the rows of positive weight; None if every effect is
        estimated.
        """
        confounded = np.zeros(fit.aliased.size, dtype=bool)
        confounded[list(fit.confounded)] = True
        aliased = fit.aliased & ~confounded
        thresholds = aliased[: fit.n_alpha]
        location = aliased[fit.layout.of_location]
        scale = aliased[fit.layout.of_scale]
        rows = sample.rows
        q = 0 if rows.nominal is None else rows.nominal.shape[1]
        nominal = thresholds.reshape(1 + q, -1)[1:].all(axis=1)
        wide = np.append(nominal, location)
        confounded_scale = confounded[fit.layout.of_scale]
        if not (wide.any() or scale.any() or confounded_scale.any()):
            return None
        if not np.all(sample.case_weights > 0.0):
            rows = rows.take(np.flatnonzero(sample.case_weights > 0.0))
        relations = []
        if wide.any():
            relations.append(Relation.of(rows, ("nominal", "X"), wide))
        if scale.any():
            relations.append(Relation.of(rows, ("scale",), scale))
        together = None
        if confounded_scale.any():
            together = Confounded.of(rule, rows, confounded_scale, scale)
        return cls(relations=tuple(relations), confounded=together)

    def gaps(
        self,
        rule: LikelihoodRule,
        rows: Rows,
        weights: FloatArray | None = None,
        *,
        tangent: bool = False,
    ) -> FloatArray:
        """(h, U) aliased columns minus what other columns imply, in sums of rows with
        weights (h, n), or in each row without weights.

        If they are not 0, the data do not determine the prediction, as it depends on
        the coding. The rows of a tangent have a constant of 0.
        """
        # without columns, where log-scale effects alone are lost
        none = np.zeros((rows.n if weights is None else len(weights), 0))
        gaps = [none]
        gaps += [relation.gaps(rows, weights, tangent) for relation in self.relations]
        if self.confounded is not None and not tangent:
            apart = self.confounded.gaps(rule, rows)
            gaps.append(apart if weights is None else np.abs(weights) @ apart)
        return np.hstack(gaps)

    def outside(self, rule: LikelihoodRule, rows: Rows) -> BoolArray:
        """(n,) rows outside the row space of the rows of the fit."""
        return np.asarray(self.gaps(rule, rows).any(axis=1))


def _columns(rows: Rows, parts: Sequence[str]) -> FloatArray:
    """A constant and the columns of some parts of the rows."""
    blocks = [getattr(rows, part) for part in parts]
    return np.hstack(
        [np.ones((rows.n, 1)), *(block for block in blocks if block is not None)]
    )


def _slopes(rule: LikelihoodRule, rows: Rows) -> FloatArray:
    """(n, K-1, F) derivatives of the predictors by the parameters of the rule, in units
    of each predictor's.
    """
    slopes = np.nan_to_num(
        QuantityOfRows(QUANTITIES["linear_predictor"], rule, rows).rows()[1]
    )
    return np.asarray(
        slopes / np.maximum(np.abs(slopes).max(axis=2, keepdims=True), 1e-300)
    )
