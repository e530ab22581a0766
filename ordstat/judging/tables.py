"""Tables of errors, margins, bounds and reliability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import betaincinv, ndtri

from .._typing import BoolArray, FloatArray, IntArray, Progress
from ..checks import flag, fraction, generator, numbers_given, one_of, reporter, whole
from ..exceptions import OptionError
from ..report.frames import NotedFrame
from ..target import check_weights_go_with
from .errors import Predictions, confusion, error_table
from .evaluation import crossvalidate, mean_table
from .fitted_data import only_fitted_rows
from .folds import most_folds
from .margin_bounds import LACKING_IN_SURVEYS, Bound, lacking
from .margins import delta_errors
from .pac_bayes import kl_inverse

if TYPE_CHECKING:
    from ..results import OrdinalResults


def fold_limits(
    fit: OrdinalResults, folds: int, delta: float, seed: int | np.random.Generator
) -> list[Bound]:
    """Upper confidence limits of the error of the fits of a cross-validation, each from
    its held-out fold at delta / folds.

    Folds are simple random samples, as stratified folds are not independent of the
    training rows.

    Parameters
    ----------
    fit : OrdinalResults
    folds : int
        At least 2.
    delta : float in (0, 1)
    seed : int or numpy.random.Generator
        Seed of the folds.

    Raises
    ------
    OptionError
        There are clusters, a survey design or case weights, so rows are not
        independent.
    """
    fit.check_parts()
    sample = fit.fold_sample
    lacks = lacking(sample)
    if fit.design.survey is not None:
        lacks = LACKING_IN_SURVEYS
    if lacks:
        raise OptionError(f"bounds(cv=) needs {lacks}.")
    if np.any(sample.case_weights != 1.0):
        raise OptionError(
            "bounds(cv=) needs rows without case weights. Fit"
            " data.loc[data.index.repeat(data['weights'])] without weights=."
        )
    parts = crossvalidate(
        fit.learner,
        sample,
        folds,
        generator(seed),
        fit.probabilities_of,
        stratified=False,
        levels=fit.levels,
    )
    return averaged([_limits(fit, p, delta / folds) for p in parts], delta)


def _limits(fit: OrdinalResults, p: Predictions, delta: float) -> list[Bound]:
    """Limits from predictions of unseen rows; for the cost only if its largest value is
    known beforehand.
    """
    limits = holdout_limits(
        np.abs(p.y - p.codes).astype(np.float64), p.weights, p.n_levels, delta
    )
    if p.paid is not None and fit.own_cost and fit.design.sample.costs is None:
        dearest = float(fit.method.cost_matrix.matrix(p.n_levels).max())
        limits.append(_mean_limit("cost", p.paid, p.weights, dearest, delta))
    return limits


def holdout_limits(
    distance: FloatArray, weights: FloatArray, n_levels: int, delta: float = 0.05
) -> list[Bound]:
    """Upper confidence limits of the expected classification and absolute error, from
    unseen rows.

    Parameters
    ----------
    distance : (N,) |y - code|
    weights : (N,) whole numbers of rows
    n_levels : int
    delta : float in (0, 1)
        Probability that a limit fails, for each limit.
    """
    n = float(weights.sum())
    wrong = float(weights[distance > 0].sum())
    name = "classification error"
    source = "Clopper-Pearson"
    value = clopper_pearson(wrong, n, delta)
    exact = Bound(
        name=name,
        source=source,
        value=value,
        delta=delta,
        trivial=1.0,
        margin=np.nan,
        training=wrong / n,
    )
    if n_levels == 2:  # the two errors are the same
        return [exact, replace(exact, name="absolute error")]
    return [
        exact,
        _mean_limit("absolute error", distance, weights, n_levels - 1.0, delta),
    ]


def _mean_limit(
    name: str, losses: FloatArray, weights: FloatArray, largest: float, delta: float
) -> Bound:
    """Upper limit of the mean of losses (N,) in [0, largest]."""
    n = float(weights.sum())
    mean = float(weights @ losses / weights.sum())
    value = largest * kl_limit(mean / largest if largest > 0 else 0.0, n, delta)
    source = "Hoeffding 1963, th. 1"
    return Bound(
        name=name,
        source=source,
        value=value,
        delta=delta,
        trivial=largest,
        margin=np.nan,
        training=mean,
    )


def kl_limit(mean: float, n: float, delta: float) -> float:
    """Upper limit of the mean of n independent numbers in [0, 1] with this sample mean
    [Hoeffding 1963, th. 1].

    P(sample mean <= q) <= exp(-n kl(q || p)) for each q below the mean p, so p <=
    kl^-1(mean | log(1/delta) / n) with probability 1 - delta.
    """
    return float(kl_inverse(np.array(mean), np.array(np.log(1.0 / delta) / n)))


def clopper_pearson(errors: float, n: float, delta: float) -> float:
    """Exact one-sided upper limit of the probability of an error, from `errors` in `n`
    independent rows.

    Examples
    --------
    >>> round(clopper_pearson(0, 100, 0.05), 5)  # 1 - 0.05**(1 / 100)
    0.02951
    """
    if errors >= n:
        return 1.0
    return float(betaincinv(errors + 1.0, n - errors, 1.0 - delta))


def averaged(parts: Sequence[Sequence[Bound]], delta: float) -> list[Bound]:
    """Upper confidence limits of the mean error of several rankers: the means of their
    limits, which hold jointly at `delta`.

    Parameters
    ----------
    parts : sequence of sequences of Bound
        One for each ranker, each at delta / number of rankers.
    delta : float in (0, 1)
    """
    means = []
    for limits in zip(*parts, strict=True):
        training, value = (
            float(np.mean([getattr(limit, part) for limit in limits]))
            for part in ("training", "value")
        )
        means.append(replace(limits[0], training=training, value=value, delta=delta))
    return means


def error_measures(
    fit: OrdinalResults,
    newdata: Any,
    weights: Any,
    cv: int | None,
    seed: Any,
    callback: Progress | None,
) -> pd.DataFrame:
    """All error measures, on training rows and on unseen rows."""
    check_weights_go_with(newdata, weights)
    _check_folds(fit, cv)
    tables = {"training": fit.training_errors} if fit.in_memory else {}
    if newdata is not None:
        tables["new data"] = error_table(fit.new_predictions(newdata, weights))
    frame = pd.DataFrame(tables)
    if cv is not None:
        fit.check_parts()
        rng = generator(seed)
        callback = reporter(callback)
        parts = crossvalidate(
            fit.learner,
            fit.fold_sample,
            cv,
            rng,
            fit.probabilities_of,
            callback,
            levels=fit.levels,
        )
        frame[["cv", "cv se"]] = mean_table(parts)
    notes = []
    for measure, values in frame.iterrows():
        if infinite := list(frame.columns[np.isinf(values)]):
            where = f"{measure} ({', '.join(infinite)})"
            notes.append(
                f"{where} is infinite, as an observed level had probability 0."
            )
    notes += fit.error_notes(newdata is not None, cv is not None)
    return NotedFrame.of(frame, notes, "Errors and agreement")


def _check_folds(fit: OrdinalResults, cv: Any) -> None:
    """Raise OptionError if `cv` is not a whole number of 2 or more, or exceeds the
    number of rows or clusters.
    """
    if cv is None:
        return
    whole("cv: the number of folds", cv, 2)
    most, what = most_folds(fit.fold_sample)
    if cv > most:
        raise OptionError(
            f"cv: the number of folds must not exceed the number of {what}, {most}; got"
            f" {cv}."
        )


def confusion_matrix(
    fit: OrdinalResults, newdata: Any = None, *, weights: Any = None
) -> pd.DataFrame:
    """Confusion matrix: weights of observed levels (rows) by predicted levels
    (columns).
    """
    check_weights_go_with(newdata, weights)
    p = fit.training if newdata is None else fit.new_predictions(newdata, weights)
    cells = confusion(p.y, p.codes, p.weights, p.n_levels)
    labels = list(fit.levels)
    rounded = np.rint(cells)
    values = rounded.astype(np.int64) if np.array_equal(rounded, cells) else cells
    frame = pd.DataFrame(
        values,
        index=pd.Index(labels, name="observed"),
        columns=pd.Index(labels, name="predicted"),
    )
    return NotedFrame.of(
        frame, (), "Observed levels (rows) by predicted levels (columns)", square=True
    )


#: Why shares of clustered rows have no limits.
_NO_LIMITS = (
    "Shares have no confidence intervals: these need independent rows, not clusters or"
    " a survey design."
)


# Margins


def errors_at_margin(
    fit: OrdinalResults, deltas: Any = None, *, normalised: bool | None = None
) -> pd.DataFrame:
    """Training errors at margin Delta: E_C, E_B and E_A of Lin & Li (2006)."""
    if normalised is None:
        use = fit.geometry is not None
    else:
        use = flag("normalised", normalised)
    if use and fit.geometry is None:
        raise OptionError(
            f"normalised must be False for {fit.method}, whose score has no norm; got"
            " True."
        )
    m = fit.training_margins
    sample = fit.design.sample
    rho = m.normalised if use else m.all
    tried = _usual_deltas(rho) if deltas is None else _checked(deltas)
    frame = delta_errors(rho, sample.y, sample.case_weights, tried)
    kind = "normalised margin" if use else "margin"
    return NotedFrame.of(frame, (), f"Training errors at {kind} Delta")


def _checked(deltas: Any) -> FloatArray:
    """Margins as an array; OptionError unless they are numbers of 0 or more."""
    margins = np.atleast_1d(numbers_given(deltas))
    if margins.ndim != 1 or margins.size == 0 or not (margins >= 0.0).all():
        effects = ""
        if isinstance(deltas, str):
            effects = f" For effects write marginal_effects({deltas!r})."
        raise OptionError(
            f"delta must be a number or several, 0 or more; got {deltas!r}.{effects}"
        )
    return margins


def error_bounds(
    fit: OrdinalResults,
    newdata: Any,
    delta: float,
    weights: Any,
    cv: int | None,
    seed: Any,
) -> pd.DataFrame:
    """Upper bounds of expected errors; each holds with probability 1 - delta over
    samples.
    """
    fraction("delta", delta)
    if isinstance(newdata, (int, float)):
        raise OptionError(
            f"newdata must be a data frame; got {newdata!r}. Use delta= for the"
            " probability of failure."
        )
    check_weights_go_with(newdata, weights)
    _check_folds(fit, cv)
    margin_bounds = fit.margin_bounds if delta == 0.05 else fit.margin_bounds_at(delta)
    bounds = list(margin_bounds.bounds)
    notes = [
        f"Each bound holds with probability {100 * (1 - delta):g}% for independent"
        " rows. It bounds the mean error, not that of a single row."
    ]
    if newdata is not None:
        p = fit.new_predictions(newdata, weights)
        if not np.array_equal(p.weights, np.rint(p.weights)):
            raise OptionError(
                "weights of newdata must be whole numbers for bounds; they are not."
                " Leave weights= out."
            )
        bounds += [
            replace(bound, name=f"{bound.name} (new data)")
            for bound in _limits(fit, p, delta)
        ]
        if only_fitted_rows(fit.design, newdata):
            notes.append(
                "The rows of newdata are among those of the fit, so their bounds do not"
                " hold. Use others, or cv=5."
            )
    if cv is not None:
        limits = fold_limits(fit, cv, delta, seed)
        bounds += [
            replace(bound, name=f"{bound.name} ({cv}-fold cv)") for bound in limits
        ]
        notes.append(
            f"{cv}-fold cv: for fits without a fold. This does not prove that the fit"
            " to all rows is no worse."
        )
    if vacuous := [bound.name for bound in bounds if bound.vacuous]:
        notes.append(
            f"Vacuous (not below the largest possible value): {', '.join(vacuous)}."
        )
    frame = _bounds_frame(bounds)
    return NotedFrame.of(frame, (*margin_bounds.notes, *(notes if bounds else ())))


def _bounds_frame(bounds: Sequence[Bound]) -> pd.DataFrame:
    """A row for each bound, by its name."""
    columns = ["value", "trivial", "vacuous", "training", "margin", "delta", "source"]
    frame = pd.DataFrame(
        [[getattr(bound, column) for column in columns] for bound in bounds],
        columns=columns,
        index=pd.Index([bound.name for bound in bounds], name="error"),
    )
    return frame.rename(columns={"training": "observed"})


def _usual_deltas(rho: FloatArray) -> FloatArray:
    """0, and 1/4, 1/2, 1 and 2 times the median size of the margins, to one significant
    digit.
    """
    finite = np.abs(rho[np.isfinite(rho)])
    middle = float(np.median(finite)) if finite.size else 0.0
    return np.unique(
        [float(f"{factor * middle:.0e}") for factor in (0.0, 0.25, 0.5, 1.0, 2.0)]
    )


def reliability_curves(
    fit: OrdinalResults, newdata: Any, by: str, bins: int, level: float, weights: Any
) -> pd.DataFrame:
    """Reliability curves: predicted probabilities and observed shares in bins of about
    equal weight.
    """
    require_probabilities(fit, "reliability()")
    one_of("by", by, ("split", "level"))
    whole("bins", bins, 1)
    fraction("level", level)
    probabilities, y, case_weights = probabilities_with_truth(fit, newdata, weights)
    codes = np.arange(probabilities.shape[1])
    if by == "split":
        probabilities = np.cumsum(probabilities, axis=1)[:, :-1]
        happened = y[:, None] <= codes[:-1]
        names: list[Any] = fit.threshold_names
    else:
        happened = y[:, None] == codes
        names = list(fit.levels)
    pieces = []
    for name, p, event in zip(names, probabilities.T, happened.T, strict=True):
        piece = reliability(p, event, case_weights, bins, level)
        piece.insert(0, by, pd.Series([name] * len(piece), dtype=object))
        piece.insert(1, "bin", np.arange(1, len(piece) + 1))
        pieces.append(piece)
    frame = pd.concat(pieces, ignore_index=True)
    if newdata is None and dependent_rows(fit):
        frame[["lower", "upper"]] = np.nan
        frame.attrs["notes"] = [_NO_LIMITS]
    frame[by] = pd.Categorical(frame[by], categories=names, ordered=True)
    return frame


def require_probabilities(fit: OrdinalResults, question: str) -> None:
    """OptionError for a fit that has no probabilities."""
    if "prob" not in fit.prediction_types:
        raise OptionError(
            f"{question} needs probabilities; {fit.method} has none. Fit with"
            " calibrate=True."
        )


def dependent_rows(fit: OrdinalResults) -> bool:
    """Whether the rows of a fit have clusters or a survey design."""
    # clusters may belong to standard errors only
    clustered = getattr(fit, "own_covariance", None) or fit.design.sample
    return fit.design.survey is not None or clustered.cluster is not None


def probabilities_with_truth(
    fit: OrdinalResults, newdata: Any, weights: Any
) -> tuple[FloatArray, IntArray, FloatArray]:
    """(N, K) probabilities, (N,) true codes and (N,) weights of the rows of positive
    weight.
    """
    check_weights_go_with(newdata, weights)
    sample = fit.design.sample
    out_of_fold = fit.fit.calibration
    if newdata is None and out_of_fold is not None:
        return out_of_fold.cross_fitted, sample.y[out_of_fold.rows], out_of_fold.weights
    if newdata is None:
        probabilities = fit.training.probabilities
    else:
        target, sample = fit.judged_sample(newdata, weights)
        probabilities = fit.probabilities_of(
            fit.fit_for_new_rows, sample.rows, target.scores
        )
    assert probabilities is not None
    used = sample.case_weights > 0
    return probabilities[used], sample.y[used], sample.case_weights[used]


def reliability(
    probabilities: FloatArray,
    happened: BoolArray,
    weights: FloatArray,
    bins: int,
    level: float,
) -> pd.DataFrame:
    """Mean prediction and observed share in bins of about equal weight; equal
    predictions share a bin.

    Parameters
    ----------
    probabilities : (N,) of the event
    happened : (N,)
    weights : (N,) case weights, > 0
    bins : int
        Largest number of bins; ties give fewer.
    level : float in (0, 1)
        Confidence level of the intervals (`wilson_limits`).

    Returns
    -------
    pandas.DataFrame
        One row for each bin: predicted (mean probability), observed (share of rows with
        the event), its confidence limits lower and upper, and weight.

    Examples
    --------
    >>> p = np.array([0.2, 0.2, 0.2, 0.2, 0.7, 0.7])
    >>> above = np.array([0, 0, 0, 1, 1, 1]) > 0
    >>> reliability(p, above, np.ones(6), 10, 0.95)[["observed", "weight"]]
       observed  weight
    0      0.25     4.0
    1      1.00     2.0
    """
    _, group = np.unique(probabilities, return_inverse=True)
    sizes = np.bincount(group, weights)
    middle = (np.cumsum(sizes) - 0.5 * sizes) / sizes.sum()
    bin_ = np.unique(np.floor(bins * middle), return_inverse=True)[1][group]
    weight = np.bincount(bin_, weights).astype(np.float64)
    predicted, observed = (
        np.bincount(bin_, weights * values) / weight
        for values in (probabilities, happened)
    )
    lower, upper = wilson_limits(observed, weight, level)
    columns = {
        "predicted": predicted,
        "observed": observed,
        "lower": lower,
        "upper": upper,
        "weight": weight,
    }
    return pd.DataFrame(columns)


def wilson_limits(
    share: FloatArray, n: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Wilson's (1927) score confidence limits of a probability, from the share among n
    rows.

    Examples
    --------
    >>> ends = wilson_limits(np.array(0.5), np.array(10.0), 0.95)
    >>> [float(end.round(4)) for end in ends]
    [0.2366, 0.7634]
    """
    z2 = float(ndtri(0.5 + 0.5 * level)) ** 2
    centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n)
    half = np.sqrt(z2 * (share * (1.0 - share) / n + z2 / (4.0 * n * n))) / (
        1.0 + z2 / n
    )
    # At a share of 0 or 1 the limit is exactly 0 or 1.
    lower = np.where(share <= 0.0, 0.0, np.maximum(centre - half, 0.0))
    return lower, np.where(share >= 1.0, 1.0, np.minimum(centre + half, 1.0))
