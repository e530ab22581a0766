"""Permutation importance of variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from .._typing import FloatArray, IntArray, Progress
from ..checks import brief, fraction, generator, is_whole, one_of, reporter, whole
from ..exceptions import DataError, OptionError, UnavailableError
from ..formula.sample import Sample
from ..report.cells import count, counted
from ..report.frames import NotedFrame
from ..target import check_weights_go_with, copied
from .errors import LARGER_IS_BETTER, Predictions, measured, measures_of
from .evaluation import evaluate

if TYPE_CHECKING:
    from ..formula.design import Design
    from ..results import OrdinalResults

# Whole weights up to this sum are counted row by row.
_MOST_ROWS = 10_000


def exchange(
    weights: FloatArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray]:
    """A permutation of weighted rows: rows, the rows whose values they get, and the
    weight of each pair.

    A row of whole weight w counts as w rows. If weights are not whole, or sum to more
    than 10,000, values are drawn in proportion to the weights.

    Parameters
    ----------
    weights : (N,) > 0
    rng : numpy.random.Generator

    Examples
    --------
    >>> rows, donors, weights = exchange(np.array([2.0, 3.0]), np.random.default_rng(1))
    >>> np.bincount(rows, weights), np.bincount(donors, weights)
    (array([2., 3.]), array([2., 3.]))
    """
    rows = np.arange(weights.size)
    total = weights.sum()
    if np.ptp(weights) == 0.0:
        return rows, rng.permutation(rows.size), weights
    if total <= _MOST_ROWS and np.array_equal(weights, np.rint(weights)):
        rows = np.repeat(rows, weights.astype(np.intp))
        return rows, rng.permutation(rows), np.ones(rows.size)
    return rows, rng.choice(rows, rows.size, p=weights / total), weights


#: Arrays of rows that are compared with those of the fit.
_PARTS = ("X", "nominal", "scale", "offset", "scale_offset")


def data_of_fit(
    design: Design,
    data: Any = None,
    remedy: str = "pass data= with the data that were fitted, here",
) -> Any:
    """`data`, or else the data of the fit; DataError if neither exists."""
    frame = design.data if data is None else data
    if frame is None:
        raise DataError(
            "The data of the fit are not at hand, as it was saved or pickled without"
            f" them: {remedy} or to load(path, data=...)."
        )
    return frame


def own_rows(design: Design, data: Any = None) -> pd.DataFrame:
    """The rows of the fit as a data frame, checked against the arrays of the fit.

    Parameters
    ----------
    design : Design
    data : data frame, optional
        The data of the fit; by default the stored data.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    DataError
        The data are missing or changed, or their index does not identify the rows of
        the fit.
    """
    frame, identified = rows_told(design, data_of_fit(design, data))
    if not identified and len(frame) != design.sample.n:
        frame = frame[
            design.spec.rebuild(frame).complete & (design.spec.response(frame) >= 0)
        ]
    if len(frame) != design.sample.n:
        raise DataError(
            "The index of the data does not identify the rows of the fit. Fit data with"
            " a unique index, or pass newdata=."
        )
    rebuilt = design.spec.rebuild(frame)
    fitted = design.sample.rows
    for part in _PARTS:
        old = getattr(fitted, part)
        new = getattr(rebuilt.rows, part)
        if not rebuilt.complete.all() or (
            old is not None and not np.array_equal(old, new, equal_nan=True)
        ):
            raise DataError(
                "The data have changed since the fit. Pass data= with the data that"
                " were fitted."
            )
    return frame


def rows_told(design: Design, data: Any) -> tuple[pd.DataFrame, bool]:
    """The rows of the fit and True, or all rows and False if the index does not
    identify them.
    """
    frame = copied(data, None)
    identified = bool(frame.index.is_unique and design.index.isin(frame.index).all())
    return (frame.loc[design.index] if identified else frame), identified


def are_own(design: Design, data: Any) -> bool:
    """Whether all rows of a frame are rows of the fit, by their index and the common
    columns.
    """
    if design.data is None:
        return False
    fitted = copied(design.data, None)
    frame = copied(data, None)
    shared = [column for column in fitted.columns if column in frame.columns]
    labelled = (
        fitted.index.is_unique
        and len(frame) > 0
        and frame.index.isin(design.index).all()
    )
    return bool(labelled and fitted.loc[frame.index, shared].equals(frame[shared]))


def by_name(frame: pd.DataFrame, variables: Sequence[str]) -> pd.DataFrame:
    """Rename columns to the names in the formula: a column 0 becomes "0"."""
    texts = {
        column: str(column)
        for column in frame.columns
        if column not in variables and str(column) in variables
    }
    return frame.rename(columns=texts) if texts else frame


def frame_of_fit(fit: OrdinalResults) -> pd.DataFrame:
    """The rows of the fit as a data frame."""
    data_of_fit(
        fit.design,
        remedy=(
            "pass newdata= with rows that have the response, or the data that were"
            " fitted"
        ),
    )
    return own_rows(fit.design)


#: Kinds of importance of methods with trees or rounds.
GAIN_FIRST = ("gain", "permutation")
# Defaults of measure, repeats, seed and level.
_USUAL = ("absolute error", 10, 0, 0.95)


def importance(
    fit: OrdinalResults,
    kind: str | None,
    newdata: Any,
    measure: str,
    repeats: int,
    seed: Any,
    weights: Any,
    level: float,
    callback: Progress | None,
) -> pd.DataFrame:
    """Importance of variables: the rise of an error when the values of a variable are
    permuted.
    """
    one_of("kind", kind, (None, *fit.importance_kinds))
    whole("repeats", repeats, 1)
    fraction("level", level)
    if not isinstance(measure, str):
        raise OptionError(
            f"measure must be the name of a measure in errors(); got {brief(measure)}."
        )
    usual = is_whole(seed) and (measure, repeats, seed, level) == _USUAL
    plain = usual and newdata is None and weights is None
    if kind is None:
        kind = fit.importance_kinds[0] if plain else "permutation"
    if kind == "gain":
        if not plain:
            raise OptionError(
                "newdata, weights, measure, repeats, seed and level do not apply to"
                " kind='gain'. Use kind='permutation'."
            )
        return fit.gain_importance()
    check_weights_go_with(newdata, weights)
    rng = generator(seed)
    callback = reporter(callback)
    frame, sample, left_out = _variables(fit, newdata, weights)
    _check_measure(fit, measure, _predictions(fit, sample, frame))
    sign = -1.0 if measure in LARGER_IS_BETTER else 1.0
    rises = np.empty((repeats, frame.shape[1]))
    for r in range(repeats):
        rises[r] = sign * _changes(fit, frame, sample, measure, rng)
        if callback is not None:
            callback(r + 1, repeats, "permutations")
    table = pd.DataFrame(
        _limits(rises, level),
        index=pd.Index([str(name) for name in frame.columns], name="variable"),
    )
    table = table.sort_values("importance", ascending=False, kind="stable")
    change = "Rise" if sign > 0 else "Fall"
    spread = ""
    if repeats > 1:
        spread = f"; the {100 * level:g}% limits show the error of random permutations"
    notes = [
        f"{change} of the {measure}, mean of"
        f" {counted(repeats, 'permutation')}{spread}.",
        _where(sample.case_weights, newdata is None),
    ]
    if fit.design.random:
        notes.append(
            "Averaged over the random effects: importance for rows of new groups."
        )
    if left_out:
        notes.append(f"Rows of newdata left out because of missing values: {left_out}.")
    return NotedFrame.of(
        table, notes, "Permutation importance", dict.fromkeys(table, ".4f")
    )


def _check_measure(fit: OrdinalResults, measure: str, unpermuted: Predictions) -> None:
    """Refuse a measure that the fit does not have, or that is not finite."""
    fewer = (
        ""
        if "prob" in fit.prediction_types
        else " (those of probabilities need calibrate=True at the fit)"
    )
    one_of("measure", measure, measures_of(unpermuted), also=fewer)
    value = measured(unpermuted, [measure])[0]
    if not np.isfinite(value):
        raise DataError(
            f"measure must be finite before permutation; {measure!r} is {value:g}."
            " Choose another, such as 'ranked probability score' or 'absolute error'."
        )


def _changes(
    fit: OrdinalResults,
    frame: pd.DataFrame,
    sample: Sample,
    measure: str,
    rng: np.random.Generator,
) -> FloatArray:
    """(V,) changes of a measure in one draw, when each variable is permuted."""
    rows, donors, drawn = exchange(sample.case_weights, rng)
    true = replace(sample.take(rows), weights=drawn, cluster=None)
    before = frame.take(rows).reset_index(drop=True)
    unpermuted = measured(_predictions(fit, true, before), [measure])[0]
    changes = np.empty(frame.shape[1])
    for v, name in enumerate(frame.columns):
        permuted = before.assign(**{name: frame[name].array.take(donors)})
        try:
            after = _predictions(fit, true, permuted)
        except DataError as error:
            raise DataError(
                f"Permuting {str(name)!r} gives rows that the formula cannot evaluate"
                f" ({error}). Make terms of several variables, such as log(a - b),"
                " columns of the data first."
            ) from error
        changes[v] = measured(after, [measure])[0] - unpermuted
    return changes


def _where(weights: FloatArray, of_fit: bool) -> str:
    """A note on the rows that importance was computed on."""
    whole_numbers = np.array_equal(weights, np.rint(weights))
    rows = count(float(weights.sum() if whole_numbers else np.count_nonzero(weights)))
    if of_fit:
        return f"Computed on the {rows} rows of the fit; newdata= takes new rows."
    return f"Computed on {rows} new rows."


def _variables(
    fit: OrdinalResults, newdata: Any, weights: Any
) -> tuple[pd.DataFrame, Sample, int]:
    """Variables of the complete rows of positive weight, these rows as arrays, and the
    number of other rows.
    """
    if fit.method.pairwise:
        raise UnavailableError(
            "importance() needs variables, which kernel='precomputed' does not have."
            " Use a named kernel or a function."
        )
    design = fit.design
    left_out = 0
    if newdata is None:
        frame = frame_of_fit(fit)
        sample = design.sample
    else:
        target, sample = fit.judged_sample(newdata, weights)
        frame = copied(newdata, target.index)[target.complete]
        left_out = int((~target.complete).sum())
    frame = by_name(frame, design.spec.columns)[list(design.spec.columns)]
    if frame.shape[1] == 0:
        raise UnavailableError(
            f"{design.formula!r} has no variables on the right-hand side to permute."
        )
    used = sample.case_weights > 0.0
    return frame[used].reset_index(drop=True), sample.take(used), left_out


def _predictions(fit: OrdinalResults, true: Sample, frame: pd.DataFrame) -> Predictions:
    """Predictions from the variables of a frame, with the true levels."""
    moved = replace(true, rows=fit.design.spec.rebuild(frame).rows)
    predictions = evaluate(
        fit.judge, moved, fit.method.cost_matrix, fit.probabilities_of
    )
    priced = fit.design.sample.costs is None or true.costs is not None
    return predictions if priced else replace(predictions, paid=None)


def _limits(rises: FloatArray, level: float) -> dict[str, FloatArray]:
    """Mean rise of each variable over the draws (R, V), with limits by Student's t."""
    draws = pd.DataFrame(rises)
    mean = rises.mean(axis=0)
    error = draws.std().to_numpy() / np.sqrt(len(draws))
    half = stdtrit(max(len(draws) - 1, 1), 0.5 + level / 2.0) * error
    return {
        "importance": mean,
        "std_error": error,
        "lower": mean - half,
        "upper": mean + half,
    }
