"""Calibration: probabilities for rankers, learned from held-out scores."""

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
from ..judging.absent_levels import Present, fit_levels_present
from ..judging.folds import stratified_folds, with_weights
from ..method import Method, Supports
from .probabilities import Calibration, ScoreMap, VoteMap

# Largest number of rows dealt out one by one.
_MOST_DEALT = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """A method together with a map from its scores to probabilities.

    A ranker scores its own training rows too well. Therefore the map is learned from
    held-out scores: the method is fitted without each fold in turn, and scores that
    fold (Platt 1999, sec. 2.2). Predictions use the ranker of all rows. The rankers of
    the folds can have other units; their scores are shifted and scaled so that, over
    the rows of each fit, they have the mean and standard deviation of the scores of the
    whole ranker.

    Attributes
    ----------
    method : Method
    folds : int, at least 2
    """

    method: Method
    folds: int = 5

    @classmethod
    def of(cls, method: Method, calibrate: Any) -> Calibrated | None:
        """Read the argument `calibrate`: True (5 folds), a number of folds, or False
        (returns None).

        Raises
        ------
        OptionError
            Another value, a method that has probabilities already, or a precomputed
            kernel.
        """
        if calibrate is None or calibrate is False:
            return None
        if calibrate is True:
            folds = cls.folds
        else:
            folds = whole("calibrate", calibrate, 2, also=" (folds), True or False")
        _refuse(method)
        return cls(method=method, folds=folds)

    @property
    def cost(self) -> Any:
        """The cost that predictions minimise."""
        return cast(Any, self.method).cost

    @property
    def supports(self) -> Supports:
        """What the method supports."""
        return self.method.supports

    def with_cost(self, cost: Any) -> Calibrated:
        """A copy with another cost."""
        return replace(self, method=self.method.with_cost(cost))

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> Fit:
        """Fit the method and its calibration.

        Raises
        ------
        DataError
            Without one of the folds, the rows have fewer than two levels.
        OptionError
            Fewer rows than folds.
        """
        # The folds have a separate generator, so that calibration does not change the
        # ranker of a given seed.
        fold_rng = np.random.default_rng(deepcopy(rng).integers(2**63))
        fit = self.method.fit(self._of_method(sample), rng, progress)
        return self.around(fit, sample, fold_rng)

    def around(self, fit: Fit, sample: Sample, fold_rng: np.random.Generator) -> Fit:
        """A fit of the method to a sample that has all levels, with its calibration."""
        dealt = Dealt.of(sample, self.folds, fold_rng)
        scores = self._cross_fitted(sample, fit, dealt, fold_rng)
        calibration = self._calibration(sample, dealt, scores)
        return replace(
            fit, calibration=calibration, facts=(*fit.facts, *calibration.facts)
        )

    def _of_method(self, sample: Sample) -> Sample:
        """The sample without clusters if the method does not use them; the folds of the
        calibration do.
        """
        return sample if self.method.keeps_clusters else replace(sample, cluster=None)

    def _calibration(
        self, sample: Sample, dealt: Dealt, scores: FloatArray
    ) -> Calibration:
        from .probabilities import fit_score_map, fit_vote_map, separated

        present = Present.of(sample)
        y = np.searchsorted(present.codes, sample.y[dealt.rows]).astype(np.intp)
        data = (y, int(present.codes.size), dealt.weights)
        fitted: VoteMap | ScoreMap
        if scores.ndim == 2:
            scores = scores[:, present.codes]
            fitted = fit_vote_map(scores, *data)
            apart = False
        else:
            fitted = fit_score_map(scores, *data)
            apart = separated(scores, *data[:2])
        calibration = Calibration(
            map=fitted,
            folds=self.folds,
            scores=scores,
            rows=dealt.rows,
            weights=dealt.weights,
            separated=apart,
        )
        return calibration if present.all else calibration.over_levels(present)

    def _cross_fitted(
        self, sample: Sample, fit: Fit, dealt: Dealt, rng: np.random.Generator
    ) -> FloatArray:
        """(M,) or (M, K) held-out scores of all dealt rows, in the units of `fit`."""
        scores = np.empty((dealt.rows.size, *fit.scores.shape[1:]))
        for f in range(self.folds):
            part, inside = dealt.without(sample, f)
            if Present.of(part).codes.size < 2:
                raise DataError(
                    f"calibrate={self.folds} needs rows of two levels in every training"
                    " part, and without one of the folds there are fewer. Give more"
                    " rows of each level, or another number of folds."
                )
            rule = fit_levels_present(
                cast(Any, self.method), self._of_method(part), rng
            ).rule
            held = dealt.fold == f
            seen, unseen = (
                rule.scores(rows)
                for rows in (part.rows, sample.rows.take(dealt.rows[held]))
            )
            scores[held] = _in_units(
                unseen, seen, fit.scores[inside], part.case_weights
            )
        return scores


@dataclass(frozen=True, eq=False, kw_only=True)
class Dealt:
    """Rows dealt out to folds. A row of weight 3 counts as three rows, which can be in
    different folds.

    A row stays in one fold if the weights are not whole numbers.

    Attributes
    ----------
    rows : (M,) row of the sample
    fold : (M,) fold of each part of a row
    weights : (M,) weight of that part
    """

    rows: IntArray
    fold: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, sample: Sample, folds: int, rng: np.random.Generator) -> Dealt:
        """Deal out by level. The folds depend on the values of the rows, not on their
        order.

        Raises
        ------
        OptionError
            There are fewer rows, or fewer clusters, than folds.
        DataError
            The weights count more rows than can be dealt out one by one.
        """
        weights = sample.case_weights
        order = np.lexsort([weights, *sample.X.T, sample.y])
        order = order[weights[order] > 0]
        whole = sample.cluster is None and np.array_equal(weights, np.rint(weights))
        if whole and weights.sum() > max(_MOST_DEALT, sample.n):
            raise DataError(
                f"calibrate= needs weights with a sum of at most {_MOST_DEALT:g}; got"
                f" {weights.sum():g}. Divide them by a common factor."
            )
        each = np.repeat(order, weights[order].astype(np.intp)) if whole else order
        if sample.cluster is None:
            fold = _dealt_by_level(sample.y[each], folds, rng)
        else:
            fold = stratified_folds(
                sample.y[each], sample.n_levels, folds, rng, sample.cluster[each]
            )
        pairs, counts = np.unique(each * folds + fold, return_counts=True)
        rows = pairs // folds
        return cls(
            rows=rows,
            fold=pairs % folds,
            weights=counts.astype(np.float64) if whole else weights[rows],
        )

    def without(self, sample: Sample, fold: int) -> tuple[Sample, IntArray]:
        """The sample without a fold, and the places of its rows."""
        held = self.fold == fold
        left = sample.case_weights - np.bincount(
            self.rows[held], weights=self.weights[held], minlength=sample.n
        )
        return with_weights(sample, left), np.flatnonzero(left > 0)


def _dealt_by_level(y: IntArray, folds: int, rng: np.random.Generator) -> IntArray:
    """(N,) fold of each row: the rows of a level, in random order, go to the folds in
    turn.
    """
    if folds > y.size:
        raise OptionError(
            f"calibrate: folds must not exceed the number of rows, {y.size}; got"
            f" {folds}."
        )
    fold = np.empty(y.size, dtype=np.intp)
    fold[np.lexsort([rng.permutation(y.size), y])] = np.arange(y.size) % folds
    return fold


def _refuse(method: Method) -> None:
    kind = type(method).__name__
    if method.likelihood:
        raise OptionError(
            f"calibrate= must be left out for {kind}, which has probabilities: use"
            " predict(type='prob'). .reliability() shows how good they are."
        )
    if method.pairwise:
        raise OptionError(
            "calibrate= fits parts of the rows, which kernel='precomputed' does not"
            " allow. Use a named kernel."
        )


def _in_units(
    scores: FloatArray, theirs: FloatArray, ours: FloatArray, weights: FloatArray
) -> FloatArray:
    """Scores of one ranker in the units of another; `theirs` and `ours` are the scores
    of both for the same rows.
    """
    if scores.ndim == 2:
        scores, theirs, ours = (
            v - v.mean(axis=1, keepdims=True) for v in (scores, theirs, ours)
        )
        return scores * _stretch(
            _spread(theirs, 0.0, weights), _spread(ours, 0.0, weights)
        )
    means = [float(weights @ v / weights.sum()) for v in (theirs, ours)]
    spreads = [
        _spread(v, mean, weights) for v, mean in zip((theirs, ours), means, strict=True)
    ]
    return (scores - means[0]) * _stretch(*spreads) + means[1]


def _spread(values: FloatArray, centre: float, weights: FloatArray) -> float:
    squares = np.square(values - centre)
    if squares.ndim == 2:
        squares = squares.mean(axis=1)
    return float(np.sqrt(weights @ squares / weights.sum()))


def _stretch(theirs: float, ours: float) -> float:
    """The factor between two standard deviations; 1 if either is 0."""
    return ours / theirs if theirs > 0.0 and ours > 0.0 else 1.0
