"""Which variables the predictions of a fit rest on: what it loses without each of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from .._typing import FloatArray, IntArray, Progress
from ..assess.errors import LARGER_IS_BETTER, Predictions, measures_of, one_measure
from ..assess.permuted import Exchange, exchange
from ..assess.subgroups import cells, exchange_within
from ..checks import fraction, generator, one_of, whole
from ..exceptions import DataError, OptionError, UnavailableError
from ..model.sample import Sample
from ..progress import reporter
from .evaluation import evaluate
from .fitted import FittedRanker, check_weights_go_with
from .own_rows import by_name, own_rows
from .report.cells import count
from .report.noted import NotedFrame
from .target import copied

#: Kinds of methods that tell what their trees or rounds have of each column.
GAIN_FIRST = ("gain", "permutation", "conditional")
#: measure, repeats, seed and level where nothing is asked for.
_USUAL = ("absolute error", 10, 0, 0.95)
_NOT_OF_GAIN = (
    "newdata, weights, measure, repeats, seed and level go with kind='permutation'; kind='gain', what trees or rounds "
    "tell by themselves, has no use for them. Ask for kind='permutation'."
)
_REMEDY = "pass newdata= with rows that have the response, or the data that were fitted"


def importance(
    fit: FittedRanker,
    kind: str | None = None,
    newdata: Any = None,
    *,
    measure: str = "absolute error",
    repeats: int = 10,
    seed: int | np.random.Generator = 0,
    weights: Any = None,
    level: float = 0.95,
    callback: Progress | None = None,
) -> pd.DataFrame:
    """Importance of the variables: by how much predictions are worse when a variable's values are permuted."""
    kinds = fit.importance_kinds
    one_of("kind", kind, (None, *kinds))
    plain = newdata is None and weights is None and (measure, repeats, seed, level) == _USUAL
    asked = kind or (kinds[0] if plain else "permutation")
    if asked == "gain":
        if not plain:
            raise OptionError(_NOT_OF_GAIN)
        return fit.gain_importance()
    whole("repeats", repeats, 1)
    fraction("level", level)
    check_weights_go_with(newdata, weights)
    judged = _judged(fit, newdata, weights)
    groups = _cells(judged) if asked == "conditional" else None
    rises = _rises(judged, measure, repeats, generator(seed), reporter(callback), groups)
    return _table(judged, rises, measure, level, newdata is None, groups)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Judged:
    """Rows of known level, as a frame whose variables can be permuted.

    Attributes
    ----------
    fit : FittedRanker
    frame : pandas.DataFrame
        The n complete rows of positive weight, the variables alone.
    sample : Sample
        The same rows, in this order.
    left_out : int
        Rows of new data that were not complete.
    """

    fit: FittedRanker
    frame: pd.DataFrame
    sample: Sample
    left_out: int = 0

    def predictions(self, frame: pd.DataFrame, rows: Any, weights: FloatArray) -> Predictions:
        """Those of a frame in place of the rows at `rows`."""
        rebuilt = self.fit.design.spec.rebuild(frame)
        true = replace(self.sample.take(rows), rows=rebuilt.rows, weights=weights, cluster=None)
        fit = self.fit
        found = evaluate(fit.judge, true, fit.method.cost, fit.probabilities_of)
        known = fit.design.sample.costs is None or true.costs is not None
        return found if known else replace(found, paid=None)


def _judged(fit: FittedRanker, newdata: Any, weights: Any) -> _Judged:
    design = fit.design
    if fit.method.pairwise:
        raise UnavailableError(
            "importance needs variables, and kernel='precomputed' has similarities of rows: use a named kernel or a "
            "function."
        )
    named = design.spec.columns
    if newdata is None:
        frame, sample, left_out = frame_of_fit(fit), design.sample, 0
    else:
        target, sample = fit.judged_sample(newdata, weights)
        frame = copied(newdata, target.index)[target.complete]
        left_out = int((~target.complete).sum())
    if named is not None:
        frame = by_name(frame, named)[list(named)]
    used = sample.case_weights > 0.0
    if frame.shape[1] == 0:
        raise UnavailableError(f"{design.formula!r} has no variables on the right-hand side: there is none to permute.")
    return _Judged(fit=fit, frame=frame[used].reset_index(drop=True), sample=sample.take(used), left_out=left_out)


def frame_of_fit(fit: FittedRanker) -> pd.DataFrame:
    """The rows of the fit; those of a fit to arrays are its columns."""
    design = fit.design
    if design.recipe is not None:
        return own_rows(design, remedy=_REMEDY)
    columns: Sequence[Hashable] = design.names if design.spec.columns is None else design.spec.columns
    return pd.DataFrame(design.sample.X, columns=list(columns))


def _rises(
    judged: _Judged,
    measure: str,
    repeats: int,
    rng: np.random.Generator,
    callback: Progress | None,
    groups: Sequence[IntArray] | None,
) -> FloatArray:
    """(repeats, V) rises of the measure, or falls where more is better; permuted within `groups` of each variable."""
    frame, sample = judged.frame, judged.sample
    everyone = judged.predictions(frame, np.arange(sample.n), sample.case_weights)
    one_of("measure", measure, measures_of(everyone), also=_why_fewer(judged.fit))
    _check_finite(one_measure(everyone, measure), measure)
    sign = -1.0 if measure in LARGER_IS_BETTER else 1.0
    rises = np.empty((repeats, frame.shape[1]))
    for r in range(repeats):
        laid = None if groups else _laid_out(judged, exchange(sample.case_weights, rng), measure)
        for v, name in enumerate(frame.columns):
            drawn, rows, before = laid or _laid_out(
                judged, exchange_within(sample.case_weights, cast(Any, groups)[v], rng), measure
            )
            values = frame[name].array.take(drawn.donors)
            after = _permuted(judged, rows.assign(**{name: values}), drawn, name)
            rises[r, v] = sign * (one_measure(after, measure) - before)
        if callback is not None:
            callback(r + 1, repeats, "permutations")
    return rises


def _laid_out(judged: _Judged, drawn: Exchange, measure: str) -> tuple[Exchange, pd.DataFrame, float]:
    """An exchange, its rows before it, and their measure."""
    rows = judged.frame.take(drawn.rows).reset_index(drop=True)
    return drawn, rows, one_measure(judged.predictions(rows, drawn.rows, drawn.weights), measure)


def _cells(judged: _Judged) -> list[IntArray]:
    """(N,) cells for each variable."""
    frame, weights = judged.frame, judged.sample.case_weights
    numbers = {name: _as_numbers(frame[name]) for name in frame}
    found = []
    for name in frame:
        others = [matrix for other, (matrix, _) in numbers.items() if other != name]
        own, nominal = numbers[name]
        values = own @ np.arange(own.shape[1]) if nominal else own[:, 0]
        found.append(cells(values, np.column_stack([np.zeros((len(frame), 0)), *others]), weights, nominal))
    return found


def _as_numbers(values: pd.Series) -> tuple[FloatArray, bool]:
    """A number as it is (a missing one below all others), indicators of the levels of others; whether it was others."""
    if pd.api.types.is_numeric_dtype(values):
        known = values.to_numpy(dtype=np.float64, na_value=np.nan)
        lowest = np.nanmin(known, initial=0.0)
        return np.where(np.isnan(known), lowest - 1.0, known)[:, None], False
    codes = values.astype("category").cat.codes.to_numpy()
    return np.asarray(codes[:, None] == np.unique(codes), dtype=np.float64), True


def _permuted(judged: _Judged, frame: pd.DataFrame, drawn: Exchange, name: Hashable) -> Predictions:
    """Predictions of rows in which a variable was permuted; DataError names it where the formula cannot take them."""
    try:
        return judged.predictions(frame, drawn.rows, drawn.weights)
    except DataError as error:
        raise DataError(
            f"Permuting {str(name)!r} makes rows that the formula has no numbers for ({error}): terms that join it "
            "with other variables, such as log(a - b), must be made columns of the data first."
        ) from error


def _why_fewer(fit: FittedRanker) -> str:
    """What there would be with probabilities."""
    return "" if "prob" in fit.prediction_types else " (those of probabilities need calibrate=True at the fit)"


def _check_finite(value: float, measure: str) -> None:
    if not np.isfinite(value):
        raise DataError(
            f"measure={measure!r} is {value:g} of the rows as they are, so that no rise can be told: choose another, "
            "such as 'ranked probability score' or 'absolute error'."
        )


def _table(
    judged: _Judged, rises: FloatArray, measure: str, level: float, training: bool, groups: Sequence[IntArray] | None
) -> NotedFrame:
    repeats = len(rises)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = rises.std(axis=0, ddof=1) / np.sqrt(repeats) if repeats > 1 else np.full(rises.shape[1], np.nan)
        half = stdtrit(max(repeats - 1, 1), 0.5 + level / 2.0) * error
    mean = rises.mean(axis=0)
    columns = {"importance": mean, "std_error": error, "lower": mean - half, "upper": mean + half}
    title, formats = "Permutation importance", dict.fromkeys(columns, ".4f")
    if groups is not None:
        columns["cells"], title = np.array([int(own.max()) + 1 for own in groups]), "Conditional importance"
        formats["cells"] = "int"
    index = pd.Index([str(name) for name in judged.frame.columns], name="variable")
    frame = pd.DataFrame(columns, index=index).sort_values("importance", ascending=False, kind="stable")
    return NotedFrame.of(
        frame,
        _notes(judged, measure, repeats, level, training, groups is not None),
        title,
        formats,
    )


def _notes(judged: _Judged, measure: str, repeats: int, level: float, training: bool, conditional: bool) -> list[str]:
    rows = count(float(judged.sample.case_weights.sum()))
    what = "Fall" if measure in LARGER_IS_BETTER else "Rise"
    where = (
        f"the {rows} rows of the fit, which it has seen: newdata= tells of others" if training else f"{rows} new rows"
    )
    drawn = f"{repeats} permutation{'s' * (repeats > 1)}"
    spread = f"; {100 * level:g} % limits are of these draws, not of other rows" if repeats > 1 else ""
    groups = ["Random effects averaged over: importance for rows of new groups."] if judged.fit.design.random else []
    within = "Permuted within cells of rows that are alike in the other variables."
    left = f"Rows of newdata with missing values, left out: {judged.left_out}."
    return [
        f"{what} of the {measure}, mean of {drawn}{spread}.",
        f"Judged by {where}.",
        *groups,
        *([within] if conditional else []),
        *([left] if judged.left_out else []),
    ]
