"""A method whose fits have probabilities, learned from cross-fitted scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..exceptions import DataError, OptionError
from ..model.calibration import Calibration
from ..model.fit import Fit
from ..model.folds import stratified_folds
from ..model.present import Present
from ..model.sample import Sample
from ..solvers.calibration import fit_score_map, fit_vote_map, separated
from .base import Method


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """A method, and how its scores become probabilities.

    Scores of the rows that a ranker was fitted to are too good: the map is learned from scores of rows that were left
    out, fold by fold (Platt 1999, sec. 2.2). The ranker itself stays that of all rows. Rankers of folds need not have
    the same units: their scores are moved and stretched so that over the rows they were fitted to they have the mean
    and the deviation that the scores of the whole ranker have over these rows.

    Attributes
    ----------
    method : Method
    folds : int, at least 2
    """

    method: Method
    folds: int = 5

    @classmethod
    def of(cls, method: Method, calibrate: Any) -> Calibrated | None:
        """The argument `calibrate`: True (5 folds), a number of folds, or False (None).

        Raises
        ------
        OptionError
            Anything else, or a method with a likelihood or a precomputed kernel.
        """
        if calibrate is None or calibrate is False:
            return None
        if calibrate is not True and (not isinstance(calibrate, (int, np.integer)) or calibrate < 2):
            raise OptionError(f"calibrate must be True, False or a number of folds, 2 or more; got {calibrate!r}.")
        _refuse(method)
        return cls(method=method) if calibrate is True else cls(method=method, folds=int(calibrate))

    @property
    def cost(self) -> Any:
        """What the predictions of the method minimise."""
        return cast(Any, self.method).cost

    def with_cost(self, cost: Any) -> Calibrated:
        """The same with another cost."""
        return replace(self, method=self.method.with_cost(cost))

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> Fit:
        """The fit of the method, with a calibration.

        Raises
        ------
        DataError
            Some fold holds all rows of all levels but one.
        """
        fit = self.method.fit(sample, rng, progress)
        scores = self._cross_fitted(sample, fit, rng)
        present, used = Present.of(sample), sample.case_weights > 0
        chosen = present.among(sample.take(np.flatnonzero(used)))
        calibration = self._calibration(scores, scores[used], chosen, present)
        return replace(fit, calibration=calibration, facts=(*fit.facts, *calibration.facts))

    def _calibration(self, scores: FloatArray, used: FloatArray, sample: Sample, present: Present) -> Calibration:
        """From the scores of all rows, and of those in `sample`, whose levels are those that are there."""
        data = (sample.y, sample.n_levels, sample.case_weights)
        if used.ndim == 2:
            votes = fit_vote_map(used[:, present.codes], *data)
            intercept = np.full(present.n_levels, -np.inf)
            intercept[present.codes] = votes.intercept
            wide: Any = replace(votes, intercept=intercept)
            apart = False
        else:
            line = fit_score_map(used, *data)
            wide = replace(line, intercept=present.spread_thresholds(line.intercept))
            apart = separated(used, *data[:2])
        return Calibration(map=wide, folds=self.folds, scores=scores, separated=apart)

    def _cross_fitted(self, sample: Sample, fit: Fit, rng: np.random.Generator) -> FloatArray:
        """(N,) or (N, K) scores of every row by a ranker that has not seen it, in the units of `fit`."""
        fold = _ordered_folds(sample, self.folds, rng)
        scores = np.empty_like(np.asarray(fit.scores, dtype=np.float64))
        for f in range(self.folds):
            inside, held = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
            part = sample.take(inside)
            present = Present.of(part)
            if present.codes.size < 2:
                raise DataError(
                    f"calibrate={self.folds} fits without each fold in turn, and without one of them the rows are of "
                    "fewer than two levels: give more rows of each level, or another number of folds."
                )
            rule = present.fit(cast(Any, self.method), part, rng).rule
            learned, found = (rule.scores(sample.rows.take(rows)) for rows in (inside, held))
            if found.ndim == 2:
                learned, found = present.spread_votes(learned), present.spread_votes(found)
            scores[held] = _in_units(found, learned, fit.scores[inside], part.case_weights)
        return scores


def _refuse(method: Method) -> None:
    kind = type(method).__name__
    if hasattr(method.results_class, "with_vcov"):
        raise OptionError(
            f"calibrate gives probabilities to rankers; {kind} is a probability model and has predict(type='prob') "
            "without it. See .reliability() for how good they are."
        )
    kernel = getattr(method, "kernel", None)
    if getattr(kernel, "name", kernel) == "precomputed":
        raise OptionError(
            "calibrate fits to parts of the rows, and kernel='precomputed' has columns for all of them: use a named "
            "kernel."
        )


def _ordered_folds(sample: Sample, folds: int, rng: np.random.Generator) -> IntArray:
    """(N,) stratified folds that depend on what the rows hold, not on their order."""
    order = np.lexsort([*sample.X.T, sample.case_weights, sample.y])
    cluster = None if sample.cluster is None else sample.cluster[order]
    fold = np.empty(sample.n, dtype=np.intp)
    fold[order] = stratified_folds(sample.y[order], sample.n_levels, folds, rng, cluster)
    return fold


def _in_units(scores: FloatArray, own: FloatArray, whole: FloatArray, weights: FloatArray) -> FloatArray:
    """Scores of one ranker in the units of another; `own` and `whole` are what both give the same rows."""
    if scores.ndim == 2:
        scores, own, whole = (v - v.mean(axis=1, keepdims=True) for v in (scores, own, whole))
        return scores * _ratio(_spread(own, 0.0, weights), _spread(whole, 0.0, weights))
    means = [float(weights @ v / weights.sum()) for v in (own, whole)]
    spreads = [_spread(v, mean, weights) for v, mean in zip((own, whole), means, strict=True)]
    return (scores - means[0]) * _ratio(*spreads) + means[1]


def _spread(values: FloatArray, centre: float, weights: FloatArray) -> float:
    squares = np.square(values - centre)
    return float(np.sqrt(weights @ (squares if squares.ndim == 1 else squares.mean(axis=1)) / weights.sum()))


def _ratio(own: float, whole: float) -> float:
    """What to stretch by; nothing where either is constant."""
    return whole / own if own > 0.0 and whole > 0.0 else 1.0
