"""Importance of variables by permutation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from .._typing import FloatArray, IntArray, Progress
from ..checks import fraction, generator, one_of, reporter, whole
from ..exceptions import DataError, OptionError, UnavailableError
from ..fitted import FittedRanker, check_weights_go_with, copied
from ..formula.sample import Rows, Sample
from ..report.cells import count
from ..report.frames import NotedFrame
from .errors import LARGER_IS_BETTER, Predictions, measures_of, one_measure
from .evaluation import evaluate

if TYPE_CHECKING:
    from ..formula.design import Design

#: Rows of whole weights are dealt out one by one while there are not more of them.
_MOST_ROWS = 10_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Exchange:
    """Which row has the values of which other.

    Attributes
    ----------
    rows, donors : (M,) places 0..N-1
        The row, and the row whose values it has.
    weights : (M,) > 0
        Those of a row sum to its weight, and so do those of a donor.
    """

    rows: IntArray
    donors: IntArray
    weights: FloatArray


def exchange(weights: FloatArray, rng: np.random.Generator) -> Exchange:
    """A random permutation of rows, in which a row of weight w is w rows.

    Rows and donors are laid out on a line, each as long as its weight, in random orders; a row has the values of the
    donors that it lies over. Equal weights make it a plain permutation. The line of the donors is turned by a random
    length, so that a row is expected to have any donor's values in proportion to the donor's weight.

    Parameters
    ----------
    weights : (N,) > 0
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> found = exchange(np.array([2.0, 0.5, 1.5]), np.random.default_rng(1))
    >>> np.bincount(found.rows, found.weights), np.bincount(found.donors, found.weights)
    (array([2. , 0.5, 1.5]), array([2. , 0.5, 1.5]))
    """
    n = np.arange(weights.size)
    whole = bool((weights == np.rint(weights)).all())
    if np.ptp(weights) == 0.0:
        return Exchange(rows=n, donors=rng.permutation(n.size), weights=weights)
    if whole and weights.sum() <= _MOST_ROWS:
        rows = np.repeat(n, weights.astype(np.intp))
        return Exchange(rows=rows, donors=rng.permutation(rows), weights=np.ones(rows.size))
    return _laid_over(weights, rng)


def _laid_over(weights: FloatArray, rng: np.random.Generator) -> Exchange:
    """`exchange` of unequal weights."""
    rows, donors = rng.permutation(weights.size), rng.permutation(weights.size)
    ends, other = np.cumsum(weights[rows]), np.cumsum(weights[donors])
    total = ends[-1]
    turn = rng.uniform(0.0, total)
    cuts = np.unique(np.concatenate(([0.0, total], ends[:-1], (other[:-1] + turn) % total, [turn])))
    lengths = np.diff(cuts)
    middles = cuts[:-1] + 0.5 * lengths
    over = np.searchsorted(ends[:-1], middles)
    under = np.searchsorted(other[:-1], (middles - turn) % total)
    order = np.argsort(rows[over], kind="stable")
    return Exchange(rows=rows[over][order], donors=donors[under][order], weights=lengths[order])


#: What rows are made of.
_PARTS = ("X", "nominal", "scale", "offset", "scale_offset")


def own_rows(
    design: Design, data: Any = None, remedy: str = "pass data= with the data that were fitted, here"
) -> pd.DataFrame:
    """The rows of the fit, in its order, checked against what was fitted.

    Parameters
    ----------
    design : Design
    data : data frame, optional
        What was fitted; the data that came with the fit if not given.
    remedy : str
        What to do where there are none.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    DataError
        The data are not at hand, are not what was fitted, or do not tell the rows of the fit.
    """
    given = design.data if data is None else data
    if given is None:
        raise DataError(
            "The data of the fit are not at hand (a fit is saved and pickled without them): "
            f"{remedy} or to load(path, data=...)."
        )
    frame, told = rows_told(design, given)
    if not told and len(frame) != design.sample.n:
        frame = frame[design.spec.rebuild(frame).complete & (design.spec.response(frame) >= 0)]
    if len(frame) != design.sample.n:
        raise DataError(
            "The rows of the fit cannot be found in the data by their index: fit data with a unique index, or pass the "
            "rows as newdata=."
        )
    _check_unchanged(design.sample.rows, design.spec.rebuild(frame))
    return frame


def rows_told(design: Design, data: Any) -> tuple[pd.DataFrame, bool]:
    """The rows of the fit among its data where the index tells which they are, else all rows; and whether it does."""
    frame = copied(data, None)
    told = bool(frame.index.is_unique and design.index.isin(frame.index).all())
    return (frame.loc[design.index] if told else frame), told


def are_own(design: Design, data: Any) -> bool:
    """Whether all rows of a frame are rows of the fit, by their labels and all that both frames have."""
    if design.data is None:
        return False
    known, given = copied(design.data, None), copied(data, None)
    both = [column for column in known.columns if column in given.columns]
    told = known.index.is_unique and len(given) > 0 and bool(given.index.isin(design.index).all())
    return bool(told and known.loc[given.index, both].equals(given[both]))


def by_name(frame: pd.DataFrame, variables: Sequence[str]) -> pd.DataFrame:
    """With the variables under the names that the formula has for them: a column 0 is `0`."""
    texts = {column: str(column) for column in frame.columns if column not in variables and str(column) in variables}
    return frame.rename(columns=texts) if texts else frame


def _check_unchanged(fitted: Rows, rebuilt: Any) -> None:
    same = rebuilt.complete.all()
    for part in _PARTS:
        before, now = getattr(fitted, part), getattr(rebuilt.rows, part)
        same = same and (before is None or np.array_equal(before, now, equal_nan=True))
    if not same:
        raise DataError("The data are not what they were at the fit: pass data= with the data that were fitted.")


#: Kinds of methods that tell what their trees or rounds have of each column.
GAIN_FIRST = ("gain", "permutation")
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
    if kind == "conditional":
        raise OptionError("kind='conditional' is not available: compare errors(cv=) of update() without the variable.")
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
    rises = _rises(judged, measure, repeats, generator(seed), reporter(callback))
    return _table(judged, rises, measure, level, newdata is None)


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
    judged: _Judged, measure: str, repeats: int, rng: np.random.Generator, callback: Progress | None
) -> FloatArray:
    """(repeats, V) rises of the measure, or falls where more is better."""
    frame, sample = judged.frame, judged.sample
    everyone = judged.predictions(frame, np.arange(sample.n), sample.case_weights)
    one_of("measure", measure, measures_of(everyone), also=_why_fewer(judged.fit))
    _check_finite(one_measure(everyone, measure), measure)
    sign = -1.0 if measure in LARGER_IS_BETTER else 1.0
    rises = np.empty((repeats, frame.shape[1]))
    for r in range(repeats):
        drawn = exchange(sample.case_weights, rng)
        rows = frame.take(drawn.rows).reset_index(drop=True)
        before = one_measure(judged.predictions(rows, drawn.rows, drawn.weights), measure)
        for v, name in enumerate(frame.columns):
            values = frame[name].array.take(drawn.donors)
            after = _permuted(judged, rows.assign(**{name: values}), drawn, name)
            rises[r, v] = sign * (one_measure(after, measure) - before)
        if callback is not None:
            callback(r + 1, repeats, "permutations")
    return rises


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


def _table(judged: _Judged, rises: FloatArray, measure: str, level: float, training: bool) -> NotedFrame:
    repeats = len(rises)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = rises.std(axis=0, ddof=1) / np.sqrt(repeats) if repeats > 1 else np.full(rises.shape[1], np.nan)
        half = stdtrit(max(repeats - 1, 1), 0.5 + level / 2.0) * error
    mean = rises.mean(axis=0)
    columns = {"importance": mean, "std_error": error, "lower": mean - half, "upper": mean + half}
    index = pd.Index([str(name) for name in judged.frame.columns], name="variable")
    frame = pd.DataFrame(columns, index=index).sort_values("importance", ascending=False, kind="stable")
    notes = _notes(judged, measure, repeats, level, training)
    return NotedFrame.of(frame, notes, "Permutation importance", dict.fromkeys(columns, ".4f"))


def _notes(judged: _Judged, measure: str, repeats: int, level: float, training: bool) -> list[str]:
    rows = count(float(judged.sample.case_weights.sum()))
    what = "Fall" if measure in LARGER_IS_BETTER else "Rise"
    where = (
        f"the {rows} rows of the fit, which it has seen: newdata= tells of others" if training else f"{rows} new rows"
    )
    drawn = f"{repeats} permutation{'s' * (repeats > 1)}"
    spread = f"; {100 * level:g} % limits are of these draws, not of other rows" if repeats > 1 else ""
    groups = ["Random effects averaged over: importance for rows of new groups."] if judged.fit.design.random else []
    left = f"Rows of newdata with missing values, left out: {judged.left_out}."
    return [
        f"{what} of the {measure}, mean of {drawn}{spread}.",
        f"Judged by {where}.",
        *groups,
        *([left] if judged.left_out else []),
    ]
