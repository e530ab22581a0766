"""Intervals of ranks by split conformal prediction."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import fraction, generator, require_memory
from ..exceptions import ConvergenceWarning, DataError, DataWarning, OptionError, warn
from ..fit import GapRule
from ..fitted import FittedRanker, check_weights_go_with
from ..formula.sample import Rows, Sample
from ..report.cells import count
from ..report.frames import NotedFrame
from ..report.render import Report, Reported, Table
from .evaluation import Present, fit_present, with_weights
from .tables import wilson_limits

#: What (n + 1) level may lie above a whole number by rounding.
_ROUNDING = 1e-9


def grown_by_probability(probabilities: FloatArray, start: IntArray) -> FloatArray:
    """(N, K) probability already inside when each rank enters an interval that begins as the rank `start`.

    It grows by the likelier neighbour, a tie being the lower: ordinal adaptive prediction sets (Lu, Angelopoulos &
    Pomerantz 2022, alg. 1; Romano, Sesia & Candes 2020).

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
    low, high = start.copy(), start.copy()
    inside = padded[rows, start + 1]
    entered = np.zeros((n, n_levels))
    for _ in range(n_levels - 1):
        below, above = padded[rows, low], padded[rows, high + 2]
        down = below >= above
        low, high = low - down, high + ~down
        entered[rows, np.where(down, low, high)] = inside
        inside = inside + np.where(down, below, above)
    return entered


def grown_by_distance(gaps: FloatArray) -> FloatArray:
    """(N, K) distance by which a potential has to move to give each rank, from the gaps H - theta_k (N, K-1).

    The interval at distance q holds the ranks of all potentials in [H - q, H + q].

    Examples
    --------
    >>> grown_by_distance(np.array([[3.0, 1.0, -0.5]]))
    array([[3. , 1. , 0. , 0.5]])
    """
    falling = -np.sort(-gaps, axis=1)
    ends = np.full((len(gaps), 1), np.inf)
    # Down to rank k the threshold above it has to be passed, up to it the one below.
    down, up = np.hstack([falling, -ends]), np.hstack([-ends, -falling])
    return np.asarray(np.maximum(np.maximum(down, up), 0.0))


def conformal_radius(scores: FloatArray, counts: FloatArray, level: float) -> float:
    """The ceil((n + 1) level)-th smallest of n scores (M,) that occur `counts` (M,) times; infinity if n is less.

    Examples
    --------
    >>> conformal_radius(np.array([3.0, 1.0, 2.0]), np.ones(3), 0.75)
    3.0
    >>> conformal_radius(np.array([3.0, 1.0, 2.0]), np.ones(3), 0.8)
    inf
    """
    place = math.ceil((float(counts.sum()) + 1.0) * level - _ROUNDING)
    order = np.argsort(scores, kind="stable")
    cumulated = np.cumsum(counts[order])
    position = int(np.searchsorted(cumulated, place - _ROUNDING))
    return float(scores[order[position]]) if position < scores.size else math.inf


def smallest_sample(level: float) -> int:
    """Rows that calibration needs for an interval shorter than the whole range: n with ceil((n + 1) level) <= n."""
    return math.ceil(level / (1.0 - level) - _ROUNDING)


def interval_ends(entered: FloatArray, radius: float) -> tuple[IntArray, IntArray]:
    """(N,) codes of the lowest and the highest rank that have entered (N, K) at the radius."""
    inside = entered <= radius
    lower: IntArray = np.argmax(inside, axis=1)
    upper: IntArray = entered.shape[1] - 1 - np.argmax(inside[:, ::-1], axis=1)
    return lower, upper


_BY = {
    "probability": "probability, from the predicted level to the likelier neighbour (ordinal adaptive sets)",
    "distance": "distance of the score from the thresholds",
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ConformalIntervals(Reported):
    """Intervals of levels that hold the true one with a given probability, whatever the ranker is worth.

    If the calibration rows and a new row are exchangeable (as independent rows of one population are), the interval of
    the new row holds its level with probability at least `level`, on average over both. That is not so within every
    level or every value of the inputs.

    Attributes
    ----------
    results : OrdinalResults
        Results of the ranker behind the intervals: the fit itself where it was given other rows to calibrate on, else a
        fit to a part of its rows.
    level : float
    radius : float
        How far intervals grow around the predicted level; infinite where there are too few calibration rows.
    n : int
        Calibration rows.
    grown : {"probability", "distance"}
        What intervals grow by.
    """

    results: FittedRanker
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
            Columns lower and upper, ordered categoricals of the levels: all levels from the one to the other are in
            the interval. On the index of `newdata`, missing where an input is.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> intervals = ordfit("rating ~ temp + contact", data=wine).conformal(0.8)
        >>> intervals.predict(wine.head(1)).to_numpy().tolist()
        [[1, 3]]
        """
        target = self.results.target(_some(newdata))
        ends = interval_ends(entered(self.results, target.rows, target.scores)[0], self.radius)
        levels = self.results.design.levels
        columns = {name: target.classes(codes, levels) for name, codes in zip(("lower", "upper"), ends, strict=True)}
        return pd.DataFrame(columns, index=target.index)

    def coverage(self, newdata: Any, *, weights: Any = None) -> pd.DataFrame:
        """How often the intervals of rows of known level hold it.

        Parameters
        ----------
        newdata : data frame
            With the response; rows used neither by the ranker nor for calibration.
        weights : str or (N,) array, optional
            Case weights of `newdata`.

        Returns
        -------
        pandas.DataFrame
            One row for all and one for each observed level: weight of the rows, coverage, its 95% Wilson limits lower
            and upper, and size, the mean number of levels in the interval. Only the first is guaranteed to be near
            `level`.

        Raises
        ------
        DataError
            No row has the response and all inputs.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> data = datasets.load("anes96")
        >>> intervals = ordfit("PID ~ selfLR + age", data=data[:600]).conformal(0.8)
        >>> float(intervals.coverage(data[600:]).loc["all", "coverage"].round(2))
        0.84
        """
        target, sample = self.results.judged_sample(_some(newdata), weights)
        ends = interval_ends(entered(self.results, sample.rows, target.scores)[0], self.radius)
        lower, upper, w = *ends, sample.case_weights
        held = (lower <= sample.y) & (sample.y <= upper)
        sums = {"weight": w, "coverage": w * held, "size": w * (upper - lower + 1.0)}
        by_level = pd.DataFrame(sums).groupby(sample.y).sum()
        by_level.index = pd.Index([self.results.levels[code] for code in by_level.index], dtype=object)
        frame = pd.concat([by_level.sum().to_frame("all").T, by_level]).rename_axis(self.results.design.response)
        with np.errstate(invalid="ignore", divide="ignore"):
            frame[["coverage", "size"]] = frame[["coverage", "size"]].div(frame["weight"], axis=0)
            share, weight = (frame[name].to_numpy() for name in ("coverage", "weight"))
            frame["lower"], frame["upper"] = wilson_limits(share, weight, 0.95)
        frame = frame[["weight", "coverage", "lower", "upper", "size"]]
        return NotedFrame.of(frame, (), "Coverage and size of the intervals")

    def report(self) -> Report:
        """The summary as data."""
        ends = {"from": [self.level], "to": [min(self.level + 1.0 / (self.n + 1), 1.0)]}
        frame = pd.DataFrame(ends, index=["on average"])
        note = "For independent rows of one population. Ties of the scores can only raise it."
        return Report(
            title=f"Conformal intervals: {self.results.design.formula}",
            header=(
                ("Method", repr(self.results.method)),
                ("Level", f"{self.level:g}"),
                ("Fitted to", f"{count(self.results.nobs)} rows"),
                ("Calibrated on", f"{self.n} other rows"),
                ("Grown by", _BY[self.grown]),
                ("Radius", f"{self.radius:.4g}"),
            ),
            tables=(Table(title="Guaranteed coverage", frame=frame, note=note),),
        )


def conformal_intervals(
    fit: FittedRanker,
    level: float = 0.9,
    data: Any = None,
    *,
    weights: Any = None,
    share: float = 0.3,
    seed: int | np.random.Generator = 0,
) -> ConformalIntervals:
    """Intervals of levels that hold the true one with probability at least `level`, by split conformal prediction."""
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
                f"rows {which} are not exchangeable; coverage of conformal intervals is not guaranteed for them."
            )
    if fit.fit.scores.ndim == 2 and "prob" not in fit.prediction_types:
        raise OptionError(f"conformal() needs probabilities or a score; {fit.method!r} votes. Fit with calibrate=True.")
    if data is None:
        ranker, sample, scores = _split(fit, share, generator(seed))
    else:
        target, sample = fit.judged_sample(_some(data), weights, "data")
        _whole(sample.case_weights, "weights of data")
        ranker, scores = fit, target.scores
    table, grown = entered(ranker, sample.rows, scores)
    n, needed = int(sample.case_weights.sum()), smallest_sample(level)
    if n < needed:
        warn(
            f"{n} calibration rows are too few for level {level:g}, which needs {needed}: every interval is the "
            "whole range of levels. Give more rows or a lower level.",
            DataWarning,
        )
    radius = conformal_radius(table[np.arange(sample.n), sample.y], sample.case_weights, level)
    return ConformalIntervals(results=ranker, level=level, radius=radius, n=n, grown=grown)


def entered(results: FittedRanker, rows: Rows, scores: FloatArray) -> tuple[FloatArray, str]:
    """(N, K) how far the intervals of rows grow until they hold each level, and what they grow by."""
    fit = results.fit
    probabilities = results.probabilities_of(fit, rows, scores)
    if probabilities is not None:
        return grown_by_probability(probabilities, fit.rule.codes(rows, scores)), "probability"
    return grown_by_distance(cast(GapRule, fit.rule).gaps(rows, scores)), "distance"


def _split(results: FittedRanker, share: float, rng: np.random.Generator) -> tuple[FittedRanker, Sample, FloatArray]:
    """A ranker of a part of the rows, and the other rows with its scores."""
    results.check_parts()
    sample = results.design.sample
    weights = _whole(sample.case_weights, "weights of the fit")
    require_memory(
        f"Dealing out {weights.sum():g} rows", 16.0 * weights.sum(), "Divide the weights by a common factor."
    )
    each = rng.permutation(np.repeat(np.arange(sample.n), weights.astype(np.intp)))
    held = round(share * each.size)
    if not 0 < held < each.size:
        raise DataError(f"share={share:g} of {each.size} rows leaves nothing to fit, or nothing to calibrate on.")
    counts = np.bincount(each[:held], minlength=sample.n).astype(np.float64)
    part, rest = with_weights(sample, weights - counts), with_weights(sample, counts)
    if Present.of(part).codes.size < 2:
        raise DataError(
            "the rows left for the fit are all of one level: give more rows, a smaller share, or rows to calibrate on "
            "as data=."
        )
    fit = fit_present(results.learner, part, rng)
    if not fit.certificate.reached:
        warn(
            "the fit behind the intervals did not reach the solver's tolerance; their coverage holds, but they may be "
            "longer than need be.",
            ConvergenceWarning,
        )
    design = replace(results.design, sample=part, index=results.design.index[weights > counts])
    ranker = replace(results, fit=fit, design=design)
    return ranker, rest, fit.rule.scores(rest.rows)


def _some(newdata: Any) -> Any:
    if newdata is None:
        raise OptionError(
            "newdata must be a data frame; got None. Coverage is not guaranteed for rows used in the fit."
        )
    return newdata


def _whole(weights: FloatArray, what: str) -> FloatArray:
    if not np.array_equal(weights, np.rint(weights)):
        raise OptionError(
            f"{what} must be whole numbers of rows: rows of other weights are not exchangeable, and coverage is not "
            "guaranteed for them."
        )
    return weights
