"""How good a fit is, on its rows and on others: errors, margins and the bounds they give, reliability curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray, Progress
from ..assess.bounds import Bound, MarginBounds
from ..assess.crossval import dealt_rows
from ..assess.errors import ErrorTable, Predictions, bootstrap_table, confusion, error_table
from ..assess.intervals import reliability
from ..assess.margins import DeltaErrors, delta_errors
from ..checks import fraction, generator, one_of, whole
from ..exceptions import OptionError
from ..progress import reporter
from .evaluation import crossvalidate
from .fitted import FittedRanker, check_weights_go_with
from .limits import fold_limits, new_limits
from .own_rows import are_own
from .report.noted import NotedFrame


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
    """Every error measure, on the rows of the fit and on rows it has not seen.

    Parameters
    ----------
    newdata : data frame, optional
        With the response: gives a column "new data".
    weights : str or (N,) array, optional
        Case weights of `newdata`; a string names its column. A Series must have its index.
    cv : int, optional
        Number of folds of a cross-validation: gives columns "cv" and "cv se". Clusters stay in one fold, and so do the
        groups of random effects (of crossed ones the more numerous), whose rows are then predicted by averages over
        the random effects. A row of whole weight w is dealt out as w rows, unless columns tell nearly all rows apart,
        so that a flexible model would know the twins of a held-out row.
    bootstrap : int, optional
        Number of bootstrap samples of rows (of clusters or groups of random effects, where the fit has them) behind
        columns "training se" and "new data se".
    seed : int or numpy.random.Generator
        Seed of folds and bootstrap.
    callback : callable(step, total, message), optional
        Called after every fold and bootstrap sample.

    Returns
    -------
    pandas.DataFrame
        One row per measure (`ordstat.assess.errors.error_table`); NaN where a measure has no meaning.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.errors(cv=4).loc[["classification error", "absolute error"]].round(3)
                          training     cv  cv se
    classification error     0.556  0.583  0.036
    absolute error           0.611  0.653  0.057
    """
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
    """Weight of the rows of each observed level (rows) that are given each level (columns).

    Parameters
    ----------
    newdata : data frame, optional
        With the response; the rows of the fit if not given.
    weights : str or (N,) array, optional
        Case weights of `newdata`.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
    >>> fit.confusion().loc[3].astype(int).to_dict()
    {1: 0, 2: 5, 3: 16, 4: 5, 5: 0}
    """
    check_weights_go_with(newdata, weights)
    p = fit.training if newdata is None else fit.new_predictions(newdata, weights)
    cells, labels = confusion(p.y, p.codes, p.weights, p.n_levels), list(fit.levels)
    rounded = np.rint(cells)
    values = rounded.astype(np.int64) if np.array_equal(rounded, cells) else cells
    frame = pd.DataFrame(values, index=pd.Index(labels, name="observed"), columns=pd.Index(labels, name="predicted"))
    return NotedFrame.of(frame, (), "Observed levels (rows) by predicted levels (columns)", square=True)


# Margins


def row_margins(fit: FittedRanker) -> pd.DataFrame:
    """Left and right margin of every row of the fit, raw and normalised.

    The left margin is H - theta_{y-1}, the right margin theta_y - H; positive on the right side of the threshold,
    infinite at the end levels. Normalised means divided by the size of the coefficients and the thresholds
    together: for a kernel machine sqrt(|v|^2 + sum (theta_k - b)^2), b the offset of H in feature space.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
    >>> fit.margins().round(2).head(2)
       left  right  normalised_left  normalised_right
    0   1.0    1.0             0.23              0.23
    1  -1.0    3.0            -0.23              0.69
    """
    return fit.margin_frame(None)


def errors_at_margin(
    fit: FittedRanker, deltas: Sequence[float] | None = None, *, normalised: bool | None = None
) -> pd.DataFrame:
    """Training errors at margin Delta: E_C, E_B and E_A of Lin & Li (2006).

    Parameters
    ----------
    deltas : sequence of float >= 0, optional
        Margins; 0 and four around the median margin if not given.
    normalised : bool, optional
        Whether Delta is in units of the normalised margin; True where the potential has a norm.

    Returns
    -------
    pandas.DataFrame
        Columns classification (share of rows with a margin <= Delta to an end of their interval), boundary (mean
        of the two ends), absolute (mean number of margins <= Delta); the index is Delta.

    Raises
    ------
    OptionError
        A negative margin, or normalised=True where the potential has no norm.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
    >>> fit.delta_errors([0.0, 0.1])["classification"].round(3).to_dict()
    {0.0: 0.556, 0.1: 0.653}
    """
    use = fit.geometry is not None if normalised is None else normalised
    if use and fit.geometry is None:
        raise OptionError(f"{fit.method!r} has no norm for its margins: use normalised=False.")
    frame = pd.DataFrame(vars(margin_errors(fit, deltas, use))).set_index("deltas").rename_axis("Delta")
    return NotedFrame.of(frame, (), f"Training errors at {'normalised ' * use}margin Delta")


def margin_errors(fit: FittedRanker, deltas: Sequence[float] | None, normalised: bool) -> DeltaErrors:
    """`errors_at_margin` as arrays.

    Parameters
    ----------
    deltas, normalised
        As there, but that units have to be given.

    Raises
    ------
    OptionError
        A negative margin.
    """
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
    """Upper bounds of expected errors; each holds with probability 1 - delta over the draw of the rows.

    From the training rows alone, of the threshold rule 1 + #{k : H > theta_k}: the smaller of the bound of the
    method's paper (`ordstat.assess.bounds`) and the PAC-Bayes margin bound (`ordstat.assess.pac_bayes`). From rows that
    a fit has not seen, of what `predict` gives, and tighter by far: `newdata`, or the folds of a cross-validation.

    Parameters
    ----------
    newdata : data frame, optional
        Independent rows not used in the fit, with the response.
    delta : float in (0, 1)
        Chance that a bound fails, each by itself.
    weights : str or (N,) array, optional
        Whole-number case weights of `newdata`.
    cv : int, optional
        Number of folds: bounds of the mean error of the fits to all rows but a fold, each of them judged by its own
        fold at delta / cv. The fit to all rows is expected to be no worse, which is not proven.
    seed : int or numpy.random.Generator
        Seed of the folds.

    Returns
    -------
    pandas.DataFrame
        Columns value, trivial (the largest value possible), vacuous (value not below trivial), observed (the error of
        the new or held-out rows; of a margin bound the training error at that margin), margin (Delta, in normalised
        units), delta, source. `attrs["notes"]` says why a bound is missing.

    Raises
    ------
    OptionError
        `delta` outside (0, 1), weights that are not whole numbers, or `cv` with rows that are not independent.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "redsvm", C="bound")
    >>> fit.bounds(cv=4)[["value", "trivial", "vacuous"]].round(2)  # doctest: +NORMALIZE_WHITESPACE
                                      value  trivial  vacuous
    error
    classification error               1.98      1.0     True
    absolute error                     3.77      4.0    False
    classification error (4-fold cv)   0.89      1.0    False
    absolute error (4-fold cv)         2.43      4.0    False
    """
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
    """Reliability curves: predicted probabilities beside what happened, in bins of about equal weight.

    Parameters
    ----------
    newdata : data frame, optional
        With the response. Without it: the rows of the fit, for a calibrated fit by their cross-fitted scores, so
        that no row is judged by a ranker that has seen it. Random effects are at their modes; new rows of groups not
        seen are predicted by averages over them.
    by : {"split", "level"}
        Curves of P(response <= low) for every threshold "low|high", or of P(response = level).
    bins : int
        At most; rows of equal predictions stay together.
    level : float in (0, 1)
        Confidence level of the limits.
    weights : str or (N,) array, optional
        Case weights of `newdata`.

    Returns
    -------
    pandas.DataFrame
        Columns split (or level), bin, predicted (mean probability), observed (share), lower and upper (its Wilson
        limits, of independent rows; NaN for the rows of a fit with clusters or a survey design) and weight, one row
        per curve and bin.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> curves = fit.reliability()
    >>> curves.loc[curves["split"] == "2|3", ["predicted", "observed"]].round(3).to_numpy().tolist()
    [[0.058, 0.056], [0.222, 0.278], [0.431, 0.444], [0.777, 0.722]]
    """
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
