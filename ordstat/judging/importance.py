"""Importance of variables by permutation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from .._typing import FloatArray, IntArray, Progress
from ..checks import fraction, generator, one_of, whole
from ..exceptions import DataError, OptionError, UnavailableError
from ..fitted import FittedRanker, check_weights_go_with, copied
from ..formula.sample import Rows, Sample
from ..progress import reporter
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


#: Numbers of cells that cross-validation chooses from, rows of a cell at least, and folds.
CELLS, _LEAST, _FOLDS = (1, 2, 4, 8, 16, 32, 64), 20, 5
#: A larger partition must lower the held-out error by this share of that of one cell.
_WORTH = 0.005


def cells(values: FloatArray, others: FloatArray, weights: FloatArray, nominal: bool) -> IntArray:
    """(N,) cells of a tree that predicts a variable from the others, their number by cross-validation.

    Parameters
    ----------
    values : (N,) of the variable, or codes
    others : (N, P) of the others
    weights : (N,) > 0
    nominal : bool
        Whether the values are codes without order.
    """
    n = values.size
    if n < 2 * _LEAST or others.shape[1] == 0 or (values == values[0]).all():
        return np.zeros(n, dtype=np.intp)
    folds = np.random.default_rng(0).permutation(n) % _FOLDS
    errors = np.array([_held_out(values, others, weights, nominal, folds, size) for size in CELLS])
    chosen = CELLS[int(np.argmax(errors <= errors.min() + _WORTH * errors[0]))]
    if chosen == 1:
        return np.zeros(n, dtype=np.intp)
    target = _indicators(values) if nominal else values
    tree = _tree(chosen).fit(others, target, sample_weight=weights)
    return np.unique(tree.apply(others), return_inverse=True)[1].astype(np.intp)


def _tree(size: int) -> Any:
    """On numbers, or on indicators of codes, where it is a classification tree by the Gini index."""
    kind = import_module("sklearn.tree").DecisionTreeRegressor
    return kind(max_leaf_nodes=size, min_samples_leaf=_LEAST, random_state=0)


def _held_out(
    values: FloatArray, others: FloatArray, weights: FloatArray, nominal: bool, folds: IntArray, size: int
) -> float:
    """Squared error, of numbers or of the probabilities of codes, of rows held out."""
    total, target = 0.0, _indicators(values) if nominal else values[:, None]
    for fold in range(_FOLDS):
        held, rest = folds == fold, folds != fold
        if size == 1:
            found = np.broadcast_to(weights[rest] @ target[rest] / weights[rest].sum(), target[held].shape)
        else:
            model = _tree(size).fit(others[rest], target[rest], sample_weight=weights[rest])
            found = model.predict(others[held]).reshape(-1, target.shape[1])
        total += float(weights[held] @ np.square(target[held] - found).sum(axis=1))
    return total


def _indicators(codes: FloatArray) -> FloatArray:
    """(N, C) of codes (N,)."""
    return np.asarray(codes[:, None] == np.unique(codes), dtype=np.float64)


def exchange_within(weights: FloatArray, groups: IntArray, rng: np.random.Generator) -> Exchange:
    """`exchange` of the rows of each cell among themselves."""
    places = [np.flatnonzero(groups == cell) for cell in range(int(groups.max()) + 1)]
    parts = [exchange(weights[own], rng) for own in places]
    return Exchange(
        rows=np.concatenate([own[part.rows] for own, part in zip(places, parts, strict=True)]),
        donors=np.concatenate([own[part.donors] for own, part in zip(places, parts, strict=True)]),
        weights=np.concatenate([part.weights for part in parts]),
    )


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
    parts = [(getattr(fitted, part), getattr(rebuilt.rows, part)) for part in _PARTS]
    same = (one is None or np.array_equal(one, other, equal_nan=True) for one, other in parts)
    if not rebuilt.complete.all() or not all(same):
        raise DataError("The data are not what they were at the fit: pass data= with the data that were fitted.")


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
