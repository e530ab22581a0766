"""Permutation importance of variables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from .._typing import FloatArray, IntArray, Progress
from ..checks import (
    brief,
    counted,
    fraction,
    generator,
    is_whole,
    one_of,
    reporter,
    whole,
)
from ..exceptions import DataError, OptionError, UnavailableError
from ..formula.sample import Sample
from ..report.cells import count
from ..report.frames import NotedFrame
from ..target import check_weights_go_with, copied
from .errors import LARGER_IS_BETTER, Predictions, measured, measures_of
from .evaluation import evaluate
from .fitted_data import checked_rows, data_of_fit, with_text_names

if TYPE_CHECKING:
    from ..results import OrdinalResults

# Whole weights up to this sum are counted row by row.
_MOST_ROWS = 10_000


def weighted_permutation(
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
    >>> rng = np.random.default_rng(1)
    >>> rows, donors, weights = weighted_permutation(np.array([2.0, 3.0]), rng)
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
    """Importance of variables: the increase of an error when the values of a variable
    are permuted.
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
    notes = [
        _what(measure, sign, repeats, level),
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
    if "prob" in fit.prediction_types:
        fewer = ""
    else:
        fewer = " (those of probabilities need calibrate=True at the fit)"
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
    rows, donors, drawn = weighted_permutation(sample.case_weights, rng)
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


def _what(measure: str, sign: float, repeats: int, level: float) -> str:
    """A note on what the table shows."""
    change = "Rise" if sign > 0 else "Fall"
    spread = ""
    if repeats > 1:
        spread = (
            f"; the {100 * level:g}% intervals show the error of random permutations"
        )
    return (
        f"{change} of the {measure}, mean of {counted(repeats, 'permutation')}{spread}."
    )


def _where(weights: FloatArray, of_fit: bool) -> str:
    """A note on the rows that importance was computed on."""
    whole_numbers = np.array_equal(weights, np.rint(weights))
    rows = count(float(weights.sum() if whole_numbers else np.count_nonzero(weights)))
    if of_fit:
        return f"Computed on the {rows} rows of the fit; newdata= takes new rows."
    return f"Computed on {rows} new rows."


def _frame_of_fit(fit: OrdinalResults) -> pd.DataFrame:
    """The rows of the fit as a data frame."""
    data_of_fit(
        fit.design,
        remedy=(
            "pass newdata= with rows that have the response, or the data that were"
            " fitted"
        ),
    )
    return checked_rows(fit.design)


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
        frame = _frame_of_fit(fit)
        sample = design.sample
    else:
        target, sample = fit.judged_sample(newdata, weights)
        frame = copied(newdata, target.index)[target.complete]
        left_out = int((~target.complete).sum())
    frame = with_text_names(frame, design.spec.columns)[list(design.spec.columns)]
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
        fit.fit_for_new_rows, moved, fit.method.cost_matrix, fit.probabilities_of
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
