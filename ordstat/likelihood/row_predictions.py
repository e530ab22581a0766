"""Predictions of rows by a likelihood fit, as far as the data determine them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError, warn
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows
from ..judging.costs import CostMatrix
from ..judging.response_numbers import ROUNDING, Asked
from ..target import Target
from .alerts import outside_text, undetermined_text
from .derivatives import quantity_of
from .row_limits import UNBOUNDED
from .rule import LikelihoodRule
from .standard_errors import predicted

if TYPE_CHECKING:
    from .results import LikelihoodResults


#: Most levels that are always compared with each other, and most numbers by row and
#: level, or in a matrix of costs, for more: those that take some seconds.
_ALWAYS_COMPARED = 1_000
_MOST_COMPARED = 30_000_000


def check_few_compared(rule: LikelihoodRule, n: int) -> None:
    """DataError if predicting classes of n rows compares too many levels (the median is
    found by search instead).
    """
    count = rule.n_levels
    by_median = rule.cost == CostMatrix.absolute()
    if not rule.searchable or by_median or count <= _ALWAYS_COMPARED:
        return
    width = n if rule.cost == CostMatrix.classification() else max(n, count)
    if width * count > _MOST_COMPARED:
        raise DataError(
            f"type='class' with cost={rule.cost.label!r} compares {width * count:,}"
            f" numbers of {count:,} levels, and takes at most {_MOST_COMPARED:,}. Use"
            " type='quantile' or cost='absolute', both the median."
        )


def predicted_rows(
    r: LikelihoodResults, target: Target, type: str
) -> pd.Series | pd.DataFrame:
    """Predictions of a type that needs no further arguments."""
    rows = target.rows
    if type == "class":
        check_few_compared(r.rule, rows.n)
        codes = known_codes(r, target, r.fit.rule.codes(rows, target.scores))
        return target.classes(codes, r.design.levels, r.design.response)
    if type == "score":
        values = target.scores[:, None]
    elif type == "prob":
        values = r.rule.probabilities(rows, target.scores)
    elif type == "cum_prob":
        values = r.rule.cum_probabilities(rows, target.scores)
    else:
        values = predicted(r.rule, rows, type)
    return labelled(r, target, type, known_values(r, target, type, values))


def answered_rows(
    r: LikelihoodResults, target: Target, asked: Asked
) -> pd.Series | pd.DataFrame:
    """Predictions of means, exceedance probabilities and quantiles."""
    if asked.type != "quantile":
        values = quantity_of(asked.type, asked).values(r.rule, target.rows)
        values = known_values(r, target, asked.type, values, asked)
        return labelled(r, target, asked.type, values, asked)
    values = _quantiles(r.rule, target.rows, asked)
    values = known_values(r, target, asked.type, values, asked)
    return asked.frame(target.index, {"estimate": target.placed(values)})


def _quantiles(rule: LikelihoodRule, rows: Rows, asked: Asked) -> FloatArray:
    """(n, M) quantiles as codes, or between levels."""
    if rule.searchable and not asked.interpolate:
        shares = np.array(asked.at, dtype=np.float64)[:, None] - ROUNDING
        codes = rule.levels_at(rows, np.repeat(shares, rows.n, axis=1))
        return np.where(np.isnan(rule.scores(rows)), np.nan, codes).T
    parts = [np.zeros((0, len(asked.at)))]
    for some in row_blocks(rows.n, rule.n_levels):
        parts += asked.quantiles(rule.family.below(rule.eta(rows.take(some))))
    return np.concatenate(parts)


def labelled(
    r: LikelihoodResults,
    target: Target,
    type: str,
    values: FloatArray,
    asked: Asked | None = None,
) -> pd.Series | pd.DataFrame:
    """Predictions (n, M) of a type with the index of their data."""
    labels = column_labels(r, type, asked)
    if labels is None:
        return target.series(values[:, 0], type)
    return target.frame(values, labels)


def column_labels(
    r: LikelihoodResults, type: str, asked: Asked | None = None
) -> list[Any] | None:
    """Labels of the columns of a type of prediction; None for a single number without a
    label.
    """
    if asked is not None:
        return asked.labels
    if type == "score":
        return None
    if type == "linear_predictor":
        return list(r.threshold_names)
    if type == "hazard":  # the levels at which a row can stop
        return list(r.levels[1:] if r.family.leaves_upper else r.levels[:-1])
    return list(r.levels)


def known_values(
    r: LikelihoodResults,
    target: Target,
    type: str,
    values: FloatArray,
    asked: Asked | None = None,
) -> FloatArray:
    """Predictions (n, M) of rows at their limits; NaN, with one warning, if the data do
    not determine them.
    """
    limits = r.row_limits(target.rows)
    if limits is None:
        return values
    unknown = limits.unknown(type, None if asked is None else asked.places)
    _warn_undetermined(r, target, unknown)
    if type in UNBOUNDED:
        return limits.added(type, values)
    values = limits.settled(type, values, r.bare_rule, target.rows, asked)
    return np.where(unknown, np.nan, values)


def known_codes(r: LikelihoodResults, target: Target, codes: IntArray) -> IntArray:
    """Predicted codes (n,) of rows; -1, with one warning, if the data do not determine
    them.
    """
    limits = r.row_limits(target.rows)
    if limits is None:
        return codes
    unknown = limits.unknown("class")
    _warn_undetermined(r, target, unknown)
    return np.where(unknown[:, 0], -1, codes)


def _warn_undetermined(
    r: LikelihoodResults, target: Target, unknown: BoolArray
) -> None:
    """Warn of rows that have no prediction, as estimates are infinite or diverge."""
    rows = unknown.any(axis=1)
    if rows.any():
        labels = target.index[target.complete].to_numpy()[rows]
        warn(undetermined_text(labels, target.rows.n, r))


def inside_row_space(r: LikelihoodResults, target: Target) -> Target:
    """The target with scores only for rows in the row space of the fit; warns of other
    rows.
    """
    if r.aliasing is None:
        return target
    outside = r.aliasing.outside(r.bare_rule, target.rows)
    if not outside.any():
        return target
    labels = target.index[target.complete].to_numpy()[outside]
    names = np.array(r.parameters.names, dtype=object)[r.fit.aliased]
    warn(outside_text(labels, target.rows.n, [str(name) for name in names]))
    kept = target.complete.copy()
    kept[target.complete] = ~outside
    return target.among(kept)
