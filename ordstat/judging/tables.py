"""Errors, margins and bounds of a fit as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray, Progress
from ..checks import fraction, generator, one_of, reporter, whole
from ..exceptions import OptionError
from ..fitted import FittedRanker, check_weights_go_with
from ..report.frames import NotedFrame
from .errors import ErrorTable, Predictions, bootstrap_table, confusion, error_table
from .evaluation import crossvalidate
from .folds import dealt_rows
from .importance import are_own
from .intervals import averaged, holdout_limits, reliability
from .margins import DRAWN, Bound, DeltaErrors, MarginBounds, delta_errors, dependence


def new_limits(fit: FittedRanker, newdata: Any, weights: Any, delta: float) -> tuple[Bound, ...]:
    """Limits of the errors of the fit.

    Parameters
    ----------
    fit : FittedRanker
    newdata : data frame
        With the response.
    weights : str or (N,) array, optional
        Whole-number case weights of the new rows.
    delta : float in (0, 1)

    Raises
    ------
    OptionError
        Weights that are not whole numbers.
    """
    p = fit.new_predictions(newdata, weights)
    if not np.array_equal(p.weights, np.rint(p.weights)):
        raise OptionError("weights of newdata must be whole numbers of rows for a limit to hold.")
    return _limits(fit, p, delta)


def fold_limits(fit: FittedRanker, folds: int, delta: float, seed: int | np.random.Generator) -> tuple[Bound, ...]:
    """Limits of the mean error of the fits to all rows but a fold, each by its own fold at delta / folds.

    The folds are plain draws: rows dealt out by their level would not be independent of those fitted to.

    Parameters
    ----------
    fit : FittedRanker
    folds : int
        At least 2.
    delta : float in (0, 1)
    seed : int or numpy.random.Generator
        Seed of the folds.

    Raises
    ------
    OptionError
        Clusters, a survey design or case weights: the rows are not independent one by one.
    """
    fit.check_parts()
    sample = fit.divisible
    if reason := DRAWN if fit.design.survey is not None else dependence(sample):
        raise OptionError(reason.replace("No margin bounds: they need", "bounds(cv=) needs"))
    if np.any(sample.case_weights != 1.0):
        raise OptionError(
            "bounds(cv=) needs every row by itself, and these have case weights: fit to "
            "data.loc[data.index.repeat(data['weights'])] without weights=."
        )
    result = crossvalidate(fit.learner, sample, folds, generator(seed), fit.probabilities_of, stratified=False)
    return averaged([_limits(fit, p, delta / folds) for p in result.predictions], delta)


def _limits(fit: FittedRanker, p: Predictions, delta: float) -> tuple[Bound, ...]:
    """Limits from predictions of unseen rows; the cost's where its largest value is known before they are."""
    distance = np.abs(p.y - p.codes).astype(np.float64)
    known = fit.own_cost and fit.design.sample.costs is None
    dearest = float(fit.method.cost_matrix.matrix(p.n_levels).max()) if known else 0.0
    return holdout_limits(distance, p.weights, p.n_levels, delta, p.paid if known else None, dearest)


def error_measures(
    fit: FittedRanker,
    newdata: Any = None,
    *,
    weights: Any = None,
    cv: int | None = None,
    bootstrap: int | None = None,
    seed: int | np.random.Generator = 0,
    callback: Progress | None = None,
) -> pd.DataFrame:
    """Every error measure, on the rows of the fit and on rows it has not seen."""
    check_weights_go_with(newdata, weights)
    _check_folds(fit, cv)
    rng, callback = generator(seed), reporter(callback)
    sample = fit.divisible

    def table(predictions: Predictions, cluster: IntArray | None) -> ErrorTable:
        if bootstrap is None:
            return error_table(predictions)
        return bootstrap_table(predictions, bootstrap, rng, cluster, callback)

    columns = _error_columns("training", table(fit.training, sample.cluster))
    if newdata is not None:
        columns |= _error_columns("new data", table(fit.new_predictions(newdata, weights), None))
    if cv is not None:
        fit.check_parts()
        result = crossvalidate(fit.learner, sample, cv, rng, fit.probabilities_of, callback)
        columns |= _error_columns("cv", result.table)
    notes = [*_infinite(columns), *fit.error_notes(newdata is not None, cv is not None)]
    return NotedFrame.of(pd.DataFrame(columns, index=list(fit.training_errors.names)), notes, "Errors and agreement")


def _check_folds(fit: FittedRanker, cv: Any) -> None:
    """OptionError for a number of folds that is none, or more than there are rows or clusters to deal out."""
    if cv is None:
        return
    sample = fit.divisible
    whole("cv: the number of folds", cv, 2)
    rows = dealt_rows(sample, sample.cluster)[0].size
    most, what = (rows, "rows") if sample.cluster is None else (np.unique(sample.cluster).size, "clusters")
    if cv > most:
        raise OptionError(f"cv: the number of folds must not exceed the number of {what}, {most}; got {cv}.")


def _error_columns(label: str, table: ErrorTable) -> dict[str, pd.Series]:
    """The columns of an error table: values under `label`, standard errors under "<label> se" where there are any."""
    names = list(table.names)
    columns = {label: pd.Series(table.values, index=names)}
    if table.standard_errors is not None:
        columns[f"{label} se"] = pd.Series(np.where(np.isinf(table.values), np.nan, table.standard_errors), index=names)
    return columns


def _infinite(columns: dict[str, pd.Series]) -> list[str]:
    """What is said of measures without bound."""
    where: dict[str, list[str]] = {}
    for label, values in columns.items():
        for measure in values.index[np.isinf(values)]:
            where.setdefault(str(measure), []).append(label)
    return [
        f"{measure} ({', '.join(labels)}) is infinite, without a standard error: an observed level had probability 0."
        for measure, labels in where.items()
    ]


def confusion_matrix(fit: FittedRanker, newdata: Any = None, *, weights: Any = None) -> pd.DataFrame:
    """Weight of the rows of each observed level (rows) that are given each level (columns)."""
    check_weights_go_with(newdata, weights)
    p = fit.training if newdata is None else fit.new_predictions(newdata, weights)
    cells, labels = confusion(p.y, p.codes, p.weights, p.n_levels), list(fit.levels)
    rounded = np.rint(cells)
    values = rounded.astype(np.int64) if np.array_equal(rounded, cells) else cells
    frame = pd.DataFrame(values, index=pd.Index(labels, name="observed"), columns=pd.Index(labels, name="predicted"))
    return NotedFrame.of(frame, (), "Observed levels (rows) by predicted levels (columns)", square=True)


# Margins


def row_margins(fit: FittedRanker) -> pd.DataFrame:
    """Left and right margin of every row of the fit, raw and normalised."""
    return fit.margin_frame(None)


def errors_at_margin(
    fit: FittedRanker, deltas: Sequence[float] | None = None, *, normalised: bool | None = None
) -> pd.DataFrame:
    """Training errors at margin Delta: E_C, E_B and E_A of Lin & Li (2006)."""
    use = fit.geometry is not None if normalised is None else normalised
    if use and fit.geometry is None:
        raise OptionError(f"{fit.method!r} has no norm for its margins: use normalised=False.")
    frame = pd.DataFrame(vars(margin_errors(fit, deltas, use))).set_index("deltas").rename_axis("Delta")
    return NotedFrame.of(frame, (), f"Training errors at {'normalised ' * use}margin Delta")


def margin_errors(fit: FittedRanker, deltas: Sequence[float] | None, normalised: bool) -> DeltaErrors:
    """`errors_at_margin` as arrays."""
    m, sample = fit.training_margins, fit.design.sample
    rho = m.normalised if normalised else m.all
    chosen = _default_deltas(rho) if deltas is None else _settled_deltas(deltas)
    return delta_errors(rho, sample.y, sample.case_weights, chosen)


def _settled_deltas(deltas: Any) -> FloatArray:
    """Margins as an array; OptionError for anything but numbers of 0 or more."""
    try:
        found = np.atleast_1d(np.asarray(deltas, dtype=np.float64))
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if found.ndim != 1 or not (found >= 0.0).all():
        raise OptionError(f"deltas must be margins, a number or several of 0 or more; got {deltas!r}.")
    return found


def error_bounds(
    fit: FittedRanker,
    newdata: Any = None,
    *,
    delta: float = 0.05,
    weights: Any = None,
    cv: int | None = None,
    seed: int | np.random.Generator = 0,
) -> pd.DataFrame:
    """Upper bounds of expected errors; each holds with probability 1 - delta over the draw of the rows."""
    fraction("delta", delta)
    if isinstance(newdata, (int, float)):
        raise OptionError(f"newdata must be a data frame; got {newdata!r}. For a chance of failure write delta=.")
    check_weights_go_with(newdata, weights)
    _check_folds(fit, cv)
    found = fit.margin_bounds if delta == 0.05 else fit.margin_bounds_at(delta)
    limits = {} if newdata is None else {"new data": new_limits(fit, newdata, weights, delta)}
    if cv is not None:
        limits[f"{cv}-fold cv"] = fold_limits(fit, cv, delta, seed)
    told = [f"{100 * (1 - delta):g} % bounds, each by itself, over the draw of independent rows."]
    if newdata is not None and are_own(fit.design, newdata):
        told.append("The rows of newdata are among those of the fit: their bounds do not hold. Give others, or cv=5.")
    if cv is not None:
        no_proof = "that the fit to all rows is no worse is expected, not proven"
        told.append(f"{cv}-fold cv: of the fits to all rows but a fold; {no_proof}.")
    return _bound_frame(found, limits, told)


def _default_deltas(rho: FloatArray) -> FloatArray:
    """0 and a quarter, half, once and twice the median size of the margins, to one significant digit."""
    finite = np.abs(rho[np.isfinite(rho)])
    middle = float(np.median(finite)) if finite.size else 0.0
    if middle == 0.0:
        return np.zeros(1)
    return np.unique([0.0, *(float(f"{factor * middle:.0e}") for factor in (0.25, 0.5, 1.0, 2.0))])


def _bound_frame(found: MarginBounds, limits: Mapping[str, Sequence[Bound]], told: Sequence[str]) -> pd.DataFrame:
    """Margin bounds, then limits from unseen rows, under the name of those; what is told of them, if there are any."""
    rows = [(b.name, b.value, b.trivial, b.vacuous, b.training, b.margin, b.delta, b.source) for b in found.bounds]
    rows += [
        (f"{x.name} ({of})", x.value, x.trivial, x.vacuous, x.training, np.nan, x.delta, x.source)
        for of, several in limits.items()
        for x in several
    ]
    columns = ["error", "value", "trivial", "vacuous", "observed", "margin", "delta", "source"]
    frame = pd.DataFrame(rows, columns=columns).set_index("error")
    vacuous = list(frame.index[frame["vacuous"].astype(bool)])
    says_nothing = f"Vacuous, above the largest value possible, and so without information: {', '.join(vacuous)}."
    return NotedFrame.of(frame, (*found.notes, *(told if rows else ()), *([says_nothing] if vacuous else [])))


def reliability_curves(
    fit: FittedRanker,
    newdata: Any = None,
    *,
    by: str = "split",
    bins: int = 10,
    level: float = 0.95,
    weights: Any = None,
) -> pd.DataFrame:
    """Reliability curves: predicted probabilities beside what happened, in bins of about equal weight."""
    _check(fit, newdata, by, bins, level, weights)
    probabilities, y, case_weights = _judged(fit, newdata, weights)
    if by == "split":
        events = np.cumsum(probabilities, axis=1)[:, :-1], y[:, None] <= np.arange(probabilities.shape[1] - 1)
        names: list[Any] = fit.threshold_names
    else:
        events = probabilities, y[:, None] == np.arange(probabilities.shape[1])
        names = list(fit.levels)
    pieces = []
    for name, p, happened in zip(names, events[0].T, events[1].T, strict=True):
        piece = pd.DataFrame(vars(reliability(p, happened, case_weights, bins, level)))
        piece.insert(0, by, pd.Series([name] * len(piece), dtype=object))
        piece.insert(1, "bin", np.arange(1, len(piece) + 1))
        pieces.append(piece)
    frame = pd.concat(pieces, ignore_index=True)
    if newdata is None and _dependent(fit):
        frame[["lower", "upper"]] = np.nan
    frame[by] = pd.Categorical(frame[by], categories=names, ordered=True)
    return frame


def _dependent(fit: FittedRanker) -> bool:
    """Whether rows of the fit are known to be alike within units."""
    chosen = getattr(fit, "own_covariance", None)  # clusters may be those of standard errors alone
    return fit.design.survey is not None or (fit.design.sample if chosen is None else chosen).cluster is not None


def _check(fit: FittedRanker, newdata: Any, by: str, bins: int, level: float, weights: Any) -> None:
    if "prob" not in fit.prediction_types:
        raise OptionError(f"{fit.method!r} has no probabilities: fit with calibrate=True.")
    one_of("by", by, ("split", "level"))
    whole("bins", bins, 1)
    fraction("level", level)
    check_weights_go_with(newdata, weights)


def _judged(fit: FittedRanker, newdata: Any, weights: Any) -> tuple[FloatArray, IntArray, FloatArray]:
    """(N, K) probabilities, (N,) true codes and (N,) weights of the rows of positive weight."""
    sample, out_of_fold = fit.design.sample, fit.fit.calibration
    if newdata is None and out_of_fold is not None:
        return out_of_fold.cross_fitted, sample.y[out_of_fold.rows], out_of_fold.weights
    if newdata is None:
        found = fit.training.probabilities
    else:
        target, sample = fit.judged_sample(newdata, weights)
        found = fit.probabilities_of(fit.judge, sample.rows, target.scores)
    assert found is not None
    used = sample.case_weights > 0
    return found[used], sample.y[used], sample.case_weights[used]
