"""Split conformal prediction: intervals of levels with guaranteed coverage."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import fraction, generator, require_memory
from ..exceptions import ConvergenceWarning, DataError, DataWarning, OptionError, warn
from ..fit import GapRule
from ..formula.sample import Rows, Sample
from ..report.cells import count
from ..report.frames import NotedFrame
from ..report.render import Report, Reported
from ..target import check_weights_go_with
from .absent_levels import Present, fit_levels_present
from .folds import split
from .tables import wilson_limits

if TYPE_CHECKING:
    from ..results import OrdinalResults


#: Rounding error of (n + 1) level.
_ROUNDING = 1e-9


def grown_by_probability(probabilities: FloatArray, start: IntArray) -> FloatArray:
    """(N, K) probability inside an interval, which starts at the level `start`, just
    before each level enters it.

    The interval grows by the more probable neighbour; ties go to the lower level. These
    are ordinal adaptive prediction sets (Lu, Angelopoulos & Pomerantz 2022, alg. 1;
    Romano, Sesia & Candes 2020).

    Parameters
    ----------
    probabilities : (N, K)
    start : (N,) codes

    Examples
    --------
    >>> grown_by_probability(np.array([[0.1, 0.2, 0.4, 0.3]]), np.array([2])).round(3)
    array([[0.9, 0.7, 0. , 0.4]])
    """
    n, n_levels = probabilities.shape
    padded = np.full((n, n_levels + 2), -1.0)  # nothing beyond the ends
    padded[:, 1:-1] = np.maximum(probabilities, 0.0)
    rows = np.arange(n)
    low = start.copy()
    high = start.copy()
    inside = padded[rows, start + 1]
    entered = np.zeros((n, n_levels))
    for _ in range(n_levels - 1):
        below = padded[rows, low]
        above = padded[rows, high + 2]
        down = below >= above
        low = low - down
        high = high + ~down
        entered[rows, np.where(down, low, high)] = inside
        inside = inside + np.where(down, below, above)
    return entered


def grown_by_distance(gaps: FloatArray) -> FloatArray:
    """(N, K) distance by which the score must move to give each level, from the gaps H
    - theta_k (N, K-1).

    The interval at distance q contains the levels of all scores in [H - q, H + q].

    Examples
    --------
    >>> grown_by_distance(np.array([[3.0, 1.0, -0.5]]))
    array([[3. , 1. , 0. , 0.5]])
    """
    falling = -np.sort(-gaps, axis=1)
    ends = np.full((len(gaps), 1), np.inf)
    # To fall to level k, a score must pass the threshold above k; to rise, the one
    # below.
    down = np.hstack([falling, -ends])
    up = np.hstack([-ends, -falling])
    return np.asarray(np.maximum(np.maximum(down, up), 0.0))


def conformal_radius(scores: FloatArray, counts: FloatArray, level: float) -> float:
    """The ceil((n + 1) level)-th smallest of n scores (M,), repeated `counts` (M,)
    times; infinity if n is too small.

    Examples
    --------
    >>> conformal_radius(np.array([3.0, 1.0, 2.0]), np.ones(3), 0.75)
    3.0
    >>> conformal_radius(np.array([3.0, 1.0, 2.0]), np.ones(3), 0.8)
    inf
    """
    rank = math.ceil((float(counts.sum()) + 1.0) * level - _ROUNDING)
    order = np.argsort(scores, kind="stable")
    cumulated = np.cumsum(counts[order])
    position = int(np.searchsorted(cumulated, rank - _ROUNDING))
    return float(scores[order[position]]) if position < scores.size else math.inf


def smallest_sample(level: float) -> int:
    """Smallest number n of calibration rows with ceil((n + 1) level) <= n; with fewer,
    every interval is the whole range.
    """
    return math.ceil(level / (1.0 - level) - _ROUNDING)


def interval_ends(entered: FloatArray, radius: float) -> tuple[IntArray, IntArray]:
    """(N,) codes of the lowest and highest level of the intervals at a radius, from
    `entered` (N, K).
    """
    inside = entered <= radius
    lower: IntArray = np.argmax(inside, axis=1)
    upper: IntArray = entered.shape[1] - 1 - np.argmax(inside[:, ::-1], axis=1)
    return lower, upper


_BY = {
    "probability": (
        "probability, from the predicted level to the likelier neighbour (ordinal"
        " adaptive sets)"
    ),
    "distance": "distance of the score from the thresholds",
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ConformalIntervals(Reported):
    """Conformal intervals: they contain the true level with at least a given
    probability, for any method, good or bad.

    If calibration rows and new rows are exchangeable (for example, independent rows of
    one population), the interval of a new row contains its level with probability at
    least `level`. This holds on average over new rows and calibration samples, not for
    each level or each value of the predictors.

    Attributes
    ----------
    results : OrdinalResults
        The fit behind the intervals: the original fit if it was calibrated on other
        data, else a fit to a part of its rows.
    level : float
    radius : float
        Size of the intervals around the predicted level; infinite if there are too few
        calibration rows.
    n : int
        Number of calibration rows.
    grown : {"probability", "distance"}
        Measure of the size.
    """

    results: OrdinalResults
    level: float
    radius: float
    n: int
    grown: str

    def predict(self, newdata: Any) -> pd.DataFrame:
        """Intervals of new rows.

        Parameters
        ----------
        newdata : data frame
            With the columns of the formula.

        Returns
        -------
        pandas.DataFrame
            Columns lower and upper, ordered categoricals: the lowest and highest level
            of the interval. Missing if an input is missing.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> intervals = ordfit("rating ~ temp + contact", data=wine).conformal(0.8)
        >>> intervals.predict(wine.head(1)).to_numpy().tolist()
        [[1, 3]]
        """
        target = self.results.target(_some(newdata))
        ends = interval_ends(
            entered(self.results, target.rows, target.scores)[0], self.radius
        )
        levels = self.results.design.levels
        columns = {
            name: target.classes(codes, levels)
            for name, codes in zip(("lower", "upper"), ends, strict=True)
        }
        return pd.DataFrame(columns, index=target.index)

    def coverage(self, newdata: Any, *, weights: Any = None) -> pd.DataFrame:
        """Coverage: the share of rows whose interval contains the observed level.

        Parameters
        ----------
        newdata : data frame
            Data with the response; rows used neither for the fit nor for calibration.
        weights : str or (N,) array, optional
            Case weights of `newdata`.

        Returns
        -------
        pandas.DataFrame
            One row for all rows, and one for each observed level. Columns weight (of
            the rows), coverage, its 95% Wilson limits lower and upper, and size, the
            mean number of levels in an interval. Only the coverage of all rows is
            guaranteed.

        Raises
        ------
        DataError
            No row has a response and all inputs.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> data = datasets.load("anes96").sample(frac=1, random_state=1)  # shuffled
        >>> intervals = ordfit("PID ~ selfLR + age", data=data[:600]).conformal(0.8)
        >>> float(intervals.coverage(data[600:]).loc["all", "coverage"].round(2))
        0.85
        """
        target, sample = self.results.judged_sample(_some(newdata), weights)
        ends = interval_ends(
            entered(self.results, sample.rows, target.scores)[0], self.radius
        )
        lower, upper, w = *ends, sample.case_weights
        covered = (lower <= sample.y) & (sample.y <= upper)
        sums = {"weight": w, "coverage": w * covered, "size": w * (upper - lower + 1.0)}
        by_level = pd.DataFrame(sums).groupby(sample.y).sum()
        by_level.index = pd.Index(
            [self.results.levels[code] for code in by_level.index], dtype=object
        )
        frame = pd.concat([by_level.sum().to_frame("all").T, by_level]).rename_axis(
            self.results.design.response
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            frame[["coverage", "size"]] = frame[["coverage", "size"]].div(
                frame["weight"], axis=0
            )
            share, weight = (frame[name].to_numpy() for name in ("coverage", "weight"))
            frame["lower"], frame["upper"] = wilson_limits(share, weight, 0.95)
        frame = frame[["weight", "coverage", "lower", "upper", "size"]]
        return NotedFrame.of(frame, (), "Coverage and size of the intervals")

    def report(self) -> Report:
        """The summary as data."""
        most = min(self.level + 1.0 / (self.n + 1), 1.0)
        return Report(
            title=f"Conformal intervals: {self.results.design.formula}",
            header=(
                ("Method", repr(self.results.method)),
                ("Coverage", f"{self.level:g} to {most:.3g} on average"),
                ("Fitted to", f"{count(self.results.nobs)} rows"),
                ("Calibrated on", f"{self.n} other rows"),
                ("Grown by", _BY[self.grown]),
                ("Radius", f"{self.radius:.4g}"),
            ),
            tables=(),
            notes=(
                (
                    "Coverage is for independent rows of one population; ties of the"
                    " scores can only raise it."
                ),
            ),
        )


def conformal_intervals(
    fit: OrdinalResults, level: float, data: Any, weights: Any, share: float, seed: Any
) -> ConformalIntervals:
    """Intervals that contain the true level with probability at least `level`, by split
    conformal prediction.
    """
    fraction("level", level)
    fraction("share", share)
    check_weights_go_with(data, weights, "data")
    dependent = {
        "of one random-effects group": bool(fit.design.random),
        "in clusters": fit.design.sample.cluster is not None,
        "of a survey design": fit.design.survey is not None,
    }
    for which, there in dependent.items():
        if there:
            raise OptionError(
                f"rows {which} are not exchangeable, as conformal() needs. Use"
                " errors(cv=) or predict(type='prob')."
            )
    if fit.fit.scores.ndim == 2 and "prob" not in fit.prediction_types:
        raise OptionError(
            f"conformal() needs probabilities or a score; {fit.method} votes. Fit"
            " with calibrate=True."
        )
    if data is None:
        ranker, sample, scores = _split(fit, share, generator(seed))
    else:
        target, sample = fit.judged_sample(_some(data), weights, "data")
        _whole(sample.case_weights, "weights of data")
        ranker = fit
        scores = target.scores
    table, grown = entered(ranker, sample.rows, scores)
    n = int(sample.case_weights.sum())
    needed = smallest_sample(level)
    if n < needed:
        warn(
            f"level={level:g} needs {needed} calibration rows; got {n}. Every interval"
            " is the whole range of levels. Use more rows or a lower level.",
            DataWarning,
        )
    radius = conformal_radius(
        table[np.arange(sample.n), sample.y], sample.case_weights, level
    )
    return ConformalIntervals(
        results=ranker, level=level, radius=radius, n=n, grown=grown
    )


def entered(
    results: OrdinalResults, rows: Rows, scores: FloatArray
) -> tuple[FloatArray, str]:
    """(N, K) size at which the interval of a row first contains each level, and the
    measure of size.
    """
    fit = results.fit
    probabilities = results.probabilities_of(fit, rows, scores)
    if probabilities is not None:
        return (
            grown_by_probability(probabilities, fit.rule.codes(rows, scores)),
            "probability",
        )
    return grown_by_distance(cast(GapRule, fit.rule).gaps(rows, scores)), "distance"


def _split(
    results: OrdinalResults, share: float, rng: np.random.Generator
) -> tuple[OrdinalResults, Sample, FloatArray]:
    """A fit to a part of the rows, and the other rows with their scores."""
    results.check_parts()
    sample = results.design.sample
    weights = _whole(sample.case_weights, "weights of the fit")
    require_memory(
        f"Splitting {weights.sum():,.0f} rows",
        16.0 * weights.sum(),
        "Divide the weights by a common factor.",
    )
    copies = rng.permutation(np.repeat(np.arange(sample.n), weights.astype(np.intp)))
    n_held_out = round(share * copies.size)
    if not 0 < n_held_out < copies.size:
        raise DataError(
            f"share={share:g} of {copies.size} rows leaves no rows to fit, or none to"
            " calibrate on."
        )
    counts = np.bincount(copies[:n_held_out], minlength=sample.n).astype(np.float64)
    part, calibration = split(sample, counts)
    if Present.of(part).codes.size < 2:
        raise DataError(
            "the rows left for the fit have a single level. Use more rows, a smaller"
            " share=, or data= for calibration."
        )
    fit = fit_levels_present(results.learner, part, rng)
    if not fit.certificate.reached:
        warn(
            "the fit behind the intervals did not reach the solver's tolerance."
            " Coverage holds, but intervals may be longer than necessary.",
            ConvergenceWarning,
        )
    design = replace(
        results.design, sample=part, index=results.design.index[weights > counts]
    )
    ranker = replace(results, fit=fit, design=design)
    return ranker, calibration, fit.rule.scores(calibration.rows)


def _some(newdata: Any) -> Any:
    if newdata is None:
        raise OptionError(
            "newdata must be a data frame; got None. Coverage is not guaranteed for"
            " rows used in the fit."
        )
    return newdata


def _whole(weights: FloatArray, name: str) -> FloatArray:
    if not np.array_equal(weights, np.rint(weights)):
        raise OptionError(
            f"{name} must be whole numbers of rows: rows of other weights are not"
            " exchangeable, and coverage is not guaranteed for them."
        )
    return weights
