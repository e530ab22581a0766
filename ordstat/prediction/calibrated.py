"""A method whose fits have probabilities, learned from cross-fitted scores."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..checks import whole
from ..exceptions import DataError, OptionError
from ..fit import Fit
from ..formula.sample import Sample
from ..judging.evaluation import Present, fit_present, stratified_folds
from ..method import Method, Needs
from .probabilities import Calibration

# Rows dealt out one by one, at the most.
_MOST_ROWS = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """A method, and how its scores become probabilities.

    Scores of the rows that a ranker was fitted to are too good: the map is learned from scores of rows that were left
    out, fold by fold (Platt 1999, sec. 2.2). The ranker itself stays that of all rows. Rankers of folds need not have
    the same units: their scores are moved and stretched so that over the rows they were fitted to they have the mean
    and the standard deviation that the scores of the whole ranker have over these rows.

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
        folds = cls.folds if calibrate is True else whole("calibrate", calibrate, 2, also=" (folds), True or False")
        _refuse(method)
        return cls(method=method, folds=folds)

    @property
    def cost(self) -> Any:
        """What the predictions of the method minimise."""
        return cast(Any, self.method).cost

    @property
    def needs(self) -> Needs:
        """What the method takes."""
        return self.method.needs

    def with_cost(self, cost: Any) -> Calibrated:
        """The same with another cost."""
        return replace(self, method=self.method.with_cost(cost))

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> Fit:
        """The fit of the method, with a calibration.

        Raises
        ------
        DataError
            Some fold holds all rows of all levels but one.
        OptionError
            Fewer rows than folds.
        """
        # A stream of its own: the ranker is that of the same seed without calibration, and the folds do not depend on
        # how much it draws.
        fold_rng = np.random.default_rng(deepcopy(rng).integers(2**63))
        fit = self.method.fit(self._of_method(sample), rng, progress)
        dealt = Dealt.of(sample, self.folds, fold_rng)
        scores = self._cross_fitted(sample, fit, dealt, fold_rng)
        calibration = self._calibration(sample, dealt, scores)
        return replace(fit, calibration=calibration, facts=(*fit.facts, *calibration.facts))

    def _of_method(self, sample: Sample) -> Sample:
        """The rows as the ranker takes them: clusters may be for the folds of the calibration alone."""
        return sample if self.method.keeps_clusters else replace(sample, cluster=None)

    def _calibration(self, sample: Sample, dealt: Dealt, scores: FloatArray) -> Calibration:
        from .probabilities import fit_score_map, fit_vote_map, separated

        present = Present.of(sample)
        y = np.searchsorted(present.codes, sample.y[dealt.rows]).astype(np.intp)
        data = (y, int(present.codes.size), dealt.weights)
        votes = scores.ndim == 2
        calibration = Calibration(
            map=fit_vote_map(scores[:, present.codes], *data) if votes else fit_score_map(scores, *data),
            folds=self.folds,
            scores=scores[:, present.codes] if votes else scores,
            rows=dealt.rows,
            weights=dealt.weights,
            separated=not votes and separated(scores, *data[:2]),
        )
        return calibration if present.all else present.widened_calibration(calibration)

    def _cross_fitted(self, sample: Sample, fit: Fit, dealt: Dealt, rng: np.random.Generator) -> FloatArray:
        """(M,) or (M, K) scores of all that was dealt by rankers that have not seen it, in the units of `fit`."""
        scores = np.empty((dealt.rows.size, *fit.scores.shape[1:]))
        for f in range(self.folds):
            part, inside = dealt.without(sample, f)
            if Present.of(part).codes.size < 2:
                raise DataError(
                    f"calibrate={self.folds} fits without each fold in turn, and without one of them the rows are of "
                    "fewer than two levels: give more rows of each level, or another number of folds."
                )
            rule = fit_present(cast(Any, self.method), self._of_method(part), rng).rule
            held = dealt.fold == f
            seen, unseen = (rule.scores(rows) for rows in (part.rows, sample.rows.take(dealt.rows[held])))
            scores[held] = _in_units(unseen, seen, fit.scores[inside], part.case_weights)
        return scores


@dataclass(frozen=True, eq=False, kw_only=True)
class Dealt:
    """Rows dealt out to folds; a row of weight 3 as three rows, which may be in different folds.

    Weights that are not whole numbers keep a row in one piece.

    Attributes
    ----------
    rows : (M,) row of the sample
    fold : (M,) where it is
    weights : (M,) how much of it is there
    """

    rows: IntArray
    fold: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, sample: Sample, folds: int, rng: np.random.Generator) -> Dealt:
        """Stratified by level; which rows go together depends on what they hold, not on their order.

        Raises
        ------
        OptionError
            There are fewer rows, or fewer clusters, than folds.
        DataError
            The weights stand for more rows than can be dealt out one by one.
        """
        weights = sample.case_weights
        order = np.lexsort([weights, *sample.X.T, sample.y])
        order = order[weights[order] > 0]
        whole = sample.cluster is None and np.array_equal(weights, np.rint(weights))
        if whole and weights.sum() > max(_MOST_ROWS, sample.n):
            raise DataError(
                f"calibrate deals out a row of weight w as w rows, and the weights add up to {weights.sum():g}, where "
                f"{_MOST_ROWS:g} is the most: divide the weights by what they have in common."
            )
        each = np.repeat(order, weights[order].astype(np.intp)) if whole else order
        if sample.cluster is None:
            fold = _dealt_by_level(sample.y[each], folds, rng)
        else:
            fold = stratified_folds(sample.y[each], sample.n_levels, folds, rng, sample.cluster[each])
        pairs, counts = np.unique(each * folds + fold, return_counts=True)
        rows = pairs // folds
        return cls(rows=rows, fold=pairs % folds, weights=counts.astype(np.float64) if whole else weights[rows])

    def without(self, sample: Sample, fold: int) -> tuple[Sample, IntArray]:
        """The sample without a fold, and which rows it has."""
        held = self.fold == fold
        left = sample.case_weights - np.bincount(self.rows[held], weights=self.weights[held], minlength=sample.n)
        inside = np.flatnonzero(left > 0)
        part = sample.take(inside)
        return (part if sample.weights is None else replace(part, weights=left[inside])), inside


def _dealt_by_level(y: IntArray, folds: int, rng: np.random.Generator) -> IntArray:
    """(N,) folds: in random order within each level, one to each fold in turn."""
    if folds > y.size:
        raise OptionError(f"calibrate: folds must not exceed the number of rows, {y.size}; got {folds}.")
    fold = np.empty(y.size, dtype=np.intp)
    fold[np.lexsort([rng.permutation(y.size), y])] = np.arange(y.size) % folds
    return fold


def _refuse(method: Method) -> None:
    kind = type(method).__name__
    if method.likelihood:
        raise OptionError(
            f"calibrate gives probabilities to rankers; {kind} is a probability model and has predict(type='prob') "
            "without it. See .reliability() for how good they are."
        )
    if method.pairwise:
        raise OptionError(
            "calibrate fits to parts of the rows, and kernel='precomputed' has columns for all of them; use a named "
            "kernel."
        )


def _in_units(scores: FloatArray, theirs: FloatArray, ours: FloatArray, weights: FloatArray) -> FloatArray:
    """Scores of one ranker in the units of another; `own` and `whole` are what both give the same rows."""
    if scores.ndim == 2:
        scores, theirs, ours = (v - v.mean(axis=1, keepdims=True) for v in (scores, theirs, ours))
        return scores * _stretch(_spread(theirs, 0.0, weights), _spread(ours, 0.0, weights))
    means = [float(weights @ v / weights.sum()) for v in (theirs, ours)]
    spreads = [_spread(v, mean, weights) for v, mean in zip((theirs, ours), means, strict=True)]
    return (scores - means[0]) * _stretch(*spreads) + means[1]


def _spread(values: FloatArray, centre: float, weights: FloatArray) -> float:
    squares = np.square(values - centre)
    return float(np.sqrt(weights @ (squares if squares.ndim == 1 else squares.mean(axis=1)) / weights.sum()))


def _stretch(theirs: float, ours: float) -> float:
    """What to stretch by; nothing where either is constant."""
    return ours / theirs if theirs > 0.0 and ours > 0.0 else 1.0
