"""Evaluation of fits: predictions with true levels, folds, cross-validation, and levels
without rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import pandas as pd

from .._typing import AnyArray, FloatArray, IntArray, Progress
from ..checks import shown_labels, whole
from ..exceptions import ConvergenceWarning, DataWarning, OptionError, warn
from ..fit import CostRule, Fit, GapRule, Rule
from ..formula.sample import Rows, Sample
from .costs import CostMatrix, named_costs, sample_costs
from .errors import Predictions, deviations, error_table

T = TypeVar("T")

if TYPE_CHECKING:
    from ..prediction.probabilities import Calibration

#: Function that gives the (N, K) probabilities of a fit, or None if it has none.
Probabilities = Callable[[Fit, Rows, FloatArray], FloatArray | None]


def evaluate(
    fit: Fit,
    sample: Sample,
    cost: Any,
    probabilities: Probabilities,
    scores: FloatArray | None = None,
) -> Predictions:
    """Predictions of a sample with its true levels; `scores`, if given, are those of
    the rule.
    """
    scores = fit.rule.scores(sample.rows) if scores is None else scores
    p = probabilities(fit, sample.rows, scores)
    if isinstance(fit.rule, CostRule) and fit.calibration is None:
        codes = fit.rule.codes(sample.rows, scores, p)
    else:
        codes = fit.rule.codes(sample.rows, scores)
    if scores.ndim > 1:  # votes do not order rows; predicted levels do
        order = codes.astype(np.float64)
    elif p is None or sample.rows.one_scale:
        order = scores
    # scores with different thresholds or scales are not comparable; expected levels are
    else:
        order = p @ np.arange(sample.n_levels, dtype=np.float64)
    price = CostMatrix.parse(cost)
    if sample.costs is None:
        paid = price.matrix(sample.n_levels)[sample.y, codes]
    else:
        paid = sample_costs(price, sample)[np.arange(sample.n), codes]
    truth: dict[str, Any] = {
        "y": sample.y,
        "n_levels": sample.n_levels,
        "weights": sample.case_weights,
    }
    return Predictions(**truth, codes=codes, scores=order, paid=paid, probabilities=p)


# Folds

#: Largest number of copies of rows that are dealt out one by one.
MOST_COPIES = 1_000_000
# Below this share of rows that occur once, repeated rows are not a coincidence.
_SINGLE = 0.2


def stratified_folds(
    y: IntArray,
    n_levels: int,
    folds: int,
    rng: np.random.Generator,
    cluster: IntArray | None = None,
) -> IntArray:
    """Assign rows to folds at random, with each level spread as evenly as possible.

    Clusters (or single rows) are assigned in random order, each to the fold with the
    fewest rows of its levels so far, then to the smallest fold.

    Parameters
    ----------
    y : (N,) codes 0..K-1
    n_levels : int
    folds : int, at least 2
    rng : numpy.random.Generator
    cluster : (N,) codes, optional
        Rows of one cluster stay together.

    Returns
    -------
    (N,) fold of each row, 0..folds-1; no fold is empty

    Raises
    ------
    OptionError
        There are fewer rows or clusters than folds.

    Examples
    --------
    >>> y = np.array([0, 0, 1, 1, 2, 2])
    >>> fold = stratified_folds(y, 3, 2, np.random.default_rng(0))
    >>> [sorted(y[fold == f].tolist()) for f in range(2)]
    [[0, 1, 2], [0, 1, 2]]
    """
    labels = (
        np.arange(y.size)
        if cluster is None
        else np.unique(cluster, return_inverse=True)[1]
    )
    counts = np.zeros((int(labels.max()) + 1, n_levels))
    np.add.at(counts, (labels, y), 1.0)
    if folds > len(counts):
        what = "rows" if cluster is None else "clusters"
        raise OptionError(
            f"folds must not exceed the number of {what}, {len(counts)}; got {folds}."
        )
    held_out = np.zeros((folds, n_levels))
    chosen = np.empty(len(counts), dtype=np.intp)
    total = counts.sum(axis=0).clip(min=1.0)
    # Large clusters first, so that small ones can balance them; clusters of equal size
    # in random order.
    shuffled = rng.permutation(len(counts))
    for g in shuffled[np.argsort(-counts[shuffled].sum(axis=1), kind="stable")]:
        crowding = held_out @ (counts[g] / total)
        chosen[g] = np.lexsort((held_out.sum(axis=1), crowding))[0]
        held_out[chosen[g]] += counts[g]
    return chosen[labels]


def recognised(X: FloatArray, y: AnyArray, weights: FloatArray) -> IntArray | None:
    """(N,) codes of identical rows if these must stay in one fold; None if copies may
    be in different folds.

    Copies in a table of few profiles, each with several levels, are answers of
    different people. So are few copies among rows that mostly occur once (Good 1953).
    But if columns distinguish nearly all rows and nearly all occur several times, a
    flexible model would recognise held-out rows by their copies.
    """
    profile = (
        np.unique(X, axis=0, return_inverse=True)[1].ravel()
        if X.shape[1]
        else np.zeros(y.size, dtype=np.intp)
    )
    pairs, code = np.unique(np.column_stack([y, profile]), axis=0, return_inverse=True)
    repeated = len(pairs) < y.size or bool((weights > 1.0).any())
    if not repeated or profile.max() + 1 <= 0.5 * len(pairs):
        return None
    code = np.asarray(code.ravel(), dtype=np.intp)
    times = np.bincount(code, weights)
    return code if times[times <= 1.0].sum() < _SINGLE * times.sum() else None


def held_weights(
    X: FloatArray,
    y: AnyArray,
    weights: FloatArray,
    folds: int,
    rng: np.random.Generator,
    cluster: IntArray | None = None,
) -> FloatArray:
    """(F, N) weight of each row that each fold holds out; F = 0 if nothing can be held
    out.

    If all weights are whole, a row of weight w counts as w rows, unless identical rows
    must stay together (`recognised`). Clusters stay together. Each level keeps a row
    outside of each fold; with clusters, folds that contain all rows of a level are
    dropped.

    Parameters
    ----------
    X : (N, D)
    y : (N,) codes
    weights : (N,) > 0
    folds : int
        Largest number of folds.
    rng : numpy.random.Generator
    cluster : (N,) codes, optional
        Rows of a cluster stay together.
    """
    if cluster is not None:
        return _whole_clusters(y, weights, folds, rng, cluster)
    alike = recognised(X, y, weights)
    if alike is not None:
        first = np.unique(alike, return_index=True)[1]
        one_each = _dealt(
            y[first], np.arange(first.size), np.ones(first.size), folds, rng, first.size
        )
        return np.asarray((one_each > 0.0)[:, alike] * weights)
    is_whole = (
        bool((weights == np.rint(weights)).all()) and weights.sum() <= MOST_COPIES
    )
    copies = (
        np.repeat(np.arange(y.size), weights.astype(np.intp))
        if is_whole
        else np.arange(y.size)
    )
    copy_weights = np.ones(copies.size) if is_whole else weights
    return _dealt(y, copies, copy_weights, folds, rng, y.size)


def _whole_clusters(
    y: AnyArray,
    weights: FloatArray,
    folds: int,
    rng: np.random.Generator,
    cluster: IntArray,
) -> FloatArray:
    n_levels = int(y.max()) + 1
    folds = min(folds, np.unique(cluster).size)
    if folds < 2:
        return np.zeros((0, y.size))
    fold = stratified_folds(y.astype(np.intp), n_levels, folds, rng, cluster)
    held_out = weights * (fold == np.arange(folds)[:, None])
    inside = np.stack([np.bincount(y, weights - out, n_levels) for out in held_out])
    present = np.bincount(y, weights, n_levels) > 0.0
    return np.asarray(held_out[(inside[:, present] > 0.0).all(axis=1)])


def _dealt(
    y: AnyArray,
    copies: IntArray,
    copy_weights: FloatArray,
    folds: int,
    rng: np.random.Generator,
    size: int,
) -> FloatArray:
    """(F, size) held-out weights, from copies of rows and their weights."""
    several = np.bincount(y[copies])[y[copies]] > 1
    copies = copies[several]
    copy_weights = copy_weights[several]
    folds = min(folds, copies.size)
    if folds < 2:
        return np.zeros((0, size))
    fold = stratified_folds(y[copies].astype(np.intp), int(y.max()) + 1, folds, rng)
    return np.stack(
        [
            np.bincount(copies[fold == f], copy_weights[fold == f], size)
            for f in range(folds)
        ]
    )


def require_folds(method: Any, sample: Sample, instead: str) -> None:
    """Raise OptionError if there are clusters but the method has no folds."""
    if sample.cluster is not None and not method.own_folds:
        raise OptionError(
            f"{type(method).__name__} uses cluster= only for the folds of its own"
            f" cross-validation, and has none here. Remove cluster=, or {instead}."
        )


def part_of_rows(y: AnyArray, most: int, rng: np.random.Generator) -> IntArray:
    """Increasing indices of all rows, or of about `most` rows, stratified by level,
    with ten of each level.

    Parameters
    ----------
    y : (N,) codes 0..K-1 in increasing order; every level is present
    most : int
    rng : numpy.random.Generator
    """
    n = y.size
    if n <= most:
        return np.arange(n)
    # Equidistant rows in a random order within the levels.
    shuffled = rng.permutation(n)
    ordered = shuffled[np.argsort(y[shuffled], kind="stable")]
    kept = np.linspace(0, n - 1, most).astype(np.intp)
    ends = np.searchsorted(y[ordered], np.arange(int(y[-1]) + 1))
    several = np.concatenate([np.arange(end, min(end + 10, n)) for end in ends])
    return np.asarray(np.sort(ordered[np.union1d(kept, several)]))


def as_rows(sample: Sample) -> Sample:
    """The sample with fractional weights scaled to mean 1, so that their scale does not
    matter.
    """
    weights = sample.weights
    if weights is None or np.array_equal(weights, np.rint(weights)):
        return sample
    return replace(
        sample, weights=weights * (np.count_nonzero(weights) / weights.sum())
    )


def spread(
    task: Callable[..., T],
    arguments: Iterable[tuple[Any, ...]],
    n_jobs: int | None = None,
) -> Iterator[T]:
    """Yield task(*a) of all arguments, in order, by joblib; None for the jobs that
    `joblib.parallel_config` says.
    """
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return starmap(task, arguments)
    from joblib import Parallel, delayed

    return cast(
        Iterator[T],
        Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(task)(*a) for a in arguments
        ),
    )


def crossvalidate(
    method: Any,
    sample: Sample,
    folds: int,
    rng: np.random.Generator,
    probabilities: Probabilities,
    progress: Progress | None = None,
    stratified: bool = True,
    levels: Sequence[Any] | None = None,
) -> list[Predictions]:
    """Predictions of each fold by a fit to the other folds; warns if a fit did not
    reach its tolerance.

    It warns too of levels, by the labels `levels` if given, whose rows are all in one
    fold.

    Raises
    ------
    OptionError
        `folds` is below 2, or exceeds the number of rows or clusters.
    """
    predictions = []
    missed = 0
    crossed = 0
    held = held_out(sample, folds, rng, stratified)
    for note in in_one_fold(
        sample, held, range(1, sample.n_levels + 1) if levels is None else levels
    ):
        warn(note, DataWarning)

    def judged(
        test_weights: FloatArray, own: np.random.Generator
    ) -> tuple[Predictions, bool]:
        train, test = (
            with_weights(sample, weights)
            for weights in (sample.case_weights - test_weights, test_weights)
        )
        fit = fit_present(method, train, own)
        return evaluate(fit, test, method.cost, probabilities), fit.certificate.reached

    for fold, (predicted, reached) in enumerate(
        spread(judged, zip(held, rng.spawn(len(held)), strict=True))
    ):
        predictions.append(predicted)
        missed += not reached
        if (p := predictions[-1].probabilities) is not None:
            crossed += int((p < 0.0).any(axis=1).sum())
        if progress is not None:
            progress(fold + 1, folds, "cross-validation")
    if missed:
        warn(
            f"{missed} of the {folds} refits of the cross-validation did not reach the"
            " solver's tolerance; its errors may be inaccurate.",
            ConvergenceWarning,
        )
    if crossed:
        warn(
            f"nominal effects put the thresholds of {crossed} of {sample.n} held-out"
            " rows out of order. Some of their probabilities are negative, so errors"
            " of probabilities may be NaN and are unreliable.",
            DataWarning,
        )
    return predictions


def mean_table(folds: Sequence[Predictions]) -> pd.DataFrame:
    """Weighted means over folds, "cv", and standard errors, "cv se" (standard deviation
    / sqrt(F)).

    A measure that is undefined in a fold is averaged over the others. Folds are not
    pooled, as scores of different fits may have different scales. Folds share training
    rows, so standard errors are approximate.
    """
    tables = [error_table(p) for p in folds]
    values = np.array(tables)
    weights = np.array([p.weights.sum() for p in folds])[:, None] * ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(weights > 0, values * weights, 0.0).sum(axis=0) / weights.sum(
            axis=0
        )
        errors = deviations(values) / np.sqrt(np.isfinite(values).sum(axis=0))
    errors[np.isinf(values).any(axis=0)] = np.nan  # the mean is infinite too
    return pd.DataFrame({"cv": means, "cv se": errors}, index=tables[0].index)


def held_out(
    sample: Sample, n_folds: int, rng: np.random.Generator, stratified: bool = True
) -> FloatArray:
    """(F, N) case weight of each row that each fold holds out; a row of weight w counts
    as w rows.

    Clusters stay together.

    Parameters
    ----------
    sample : Sample
    n_folds : int
        At least 2.
    rng : numpy.random.Generator
    stratified : bool
        Whether levels are spread evenly over the folds; else folds are simple random
        samples.
    """
    whole("the number of folds", n_folds, 2)
    copies, copy_weights = dealt_rows(sample)
    y = sample.y[copies]
    K = sample.n_levels
    together = None if sample.cluster is None else sample.cluster[copies]
    folds = stratified_folds(
        y if stratified else np.zeros_like(y), K, n_folds, rng, together
    )
    return np.stack(
        [
            np.bincount(copies[folds == f], copy_weights[folds == f], sample.n)
            for f in range(n_folds)
        ]
    )


def in_one_fold(sample: Sample, held: FloatArray, levels: Sequence[Any]) -> list[str]:
    """A sentence on levels that a fold of weights `held` (F, N) holds out entirely;
    `levels` are the K labels.
    """
    left = sample.case_weights - held > 0.0
    lacking = [
        levels[code]
        for code in Present.of(sample).codes
        if not left[:, sample.y == code].any(axis=1).all()
    ]
    if not lacking:
        return []
    return [
        f"All rows of {shown_labels(lacking)} are in one fold: the fit to the other"
        " folds gives the level probability 0, so that log-loss is infinite. Join it"
        " with a neighbour, or use more rows or clusters."
    ]


def dealt_rows(sample: Sample) -> tuple[IntArray, FloatArray]:
    """(n,) rows to assign to folds, and their weights.

    A row of weight w is w rows, unless clusters or identical rows stay together.
    """
    w = sample.case_weights
    rows = np.arange(sample.n)
    counts = np.array_equal(w, np.rint(w)) and w.sum() <= MOST_COPIES
    together = sample.weights is None or sample.cluster is not None or not counts
    if together or recognised(sample.X, sample.y, w) is not None:
        return rows, w
    return np.repeat(rows, w.astype(np.intp)), np.ones(int(w.sum()))


def with_weights(sample: Sample, weights: FloatArray) -> Sample:
    """The sample with other weights (N,), without rows of weight 0."""
    part = sample.take(np.flatnonzero(weights > 0.0))
    return (
        part
        if sample.weights is None
        else replace(part, weights=weights[weights > 0.0])
    )


# Levels without rows


def fit_present(
    method: Any,
    sample: Sample,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Any:
    """Fit to rows that may lack levels. The rule has all levels, but predicts only
    levels with rows.
    """
    present = Present.of(sample)
    told = () if progress is None else (progress,)
    if present.all or method.needs.absent_levels:
        return method.fit(sample, rng, *told)
    fit = present.method(method).fit(present.among(sample), rng, *told)
    return present.widened(fit, CostMatrix.parse(method.cost), sample.rows)


@dataclass(frozen=True, eq=False)
class Present:
    """The levels, among K, that have rows of positive weight.

    Attributes
    ----------
    codes : (K',) increasing codes of these levels
    n_levels : int
        K.
    """

    codes: IntArray
    n_levels: int

    @classmethod
    def of(cls, sample: Sample) -> Present:
        """The levels of a sample that have rows."""
        return cls(np.unique(sample.y[sample.case_weights > 0]), sample.n_levels)

    @property
    def all(self) -> bool:
        """Whether all levels have rows."""
        return self.codes.size == self.n_levels

    def method(self, method: Any) -> Any:
        """The method with the costs of these levels."""
        cost: Any = CostMatrix.parse(method.cost).matrix(self.n_levels)[
            np.ix_(self.codes, self.codes)
        ]
        if isinstance(method.cost, str) and np.array_equal(
            cost, named_costs(method.cost, self.codes.size)
        ):
            cost = (
                method.cost
            )  # as of neighbouring levels, and methods may be faster for a name
        return method.with_cost(cost)

    def among(self, sample: Sample) -> Sample:
        """The rows recoded to levels 0..K'-1, with the costs of these levels."""
        inside = np.isin(sample.y, self.codes)
        some = sample if inside.all() else sample.take(np.flatnonzero(inside))
        costs = None if some.costs is None else some.costs[:, self.codes]
        y = np.searchsorted(self.codes, some.y).astype(np.intp)
        return replace(some, y=y, n_levels=int(self.codes.size), costs=costs)

    def widened(self, fit: Fit, cost: CostMatrix, rows: Rows) -> Fit:
        """Extend a fit to these levels to all K levels, with their costs; `rows` are
        those of the fit.
        """
        calibration = (
            None
            if fit.calibration is None
            else self.widened_calibration(fit.calibration)
        )
        over_levels = getattr(fit.rule, "over_levels", None)
        rule = (
            WideRule(fit.rule, self) if over_levels is None else over_levels(self, cost)
        )
        by_median = getattr(rule, "by_median", False)  # a score that counts levels
        scores = rule.scores(rows) if by_median or fit.scores.ndim == 2 else fit.scores
        return replace(fit, rule=rule, scores=scores, calibration=calibration)

    def widened_calibration(self, calibration: Calibration) -> Calibration:
        """Extend a calibration to all K levels; the other levels have probability 0."""
        from ..prediction.probabilities import VoteMap

        narrow = calibration.map
        scores = calibration.scores
        if isinstance(narrow, VoteMap):
            intercept = np.full(self.n_levels, -np.inf)
            intercept[self.codes] = narrow.intercept
            scores = self.spread_votes(scores)
        else:
            intercept = self.spread_thresholds(narrow.intercept)
        return replace(
            calibration, map=replace(narrow, intercept=intercept), scores=scores
        )

    def spread_votes(self, votes: FloatArray) -> FloatArray:
        """(N, K) votes from (N, K'); the other levels have one vote less than the
        lowest.
        """
        out = np.repeat(votes.min(axis=1, keepdims=True) - 1.0, self.n_levels, axis=1)
        out[:, self.codes] = votes
        return out

    def spread_probabilities(self, probabilities: FloatArray) -> FloatArray:
        """(N, K) probabilities from (N, K'); 0 for the other levels."""
        wide = np.zeros((len(probabilities), self.n_levels))
        wide[:, self.codes] = probabilities
        return wide

    def spread_thresholds(
        self, theta: FloatArray, lowest: float = -np.inf, highest: float = np.inf
    ) -> FloatArray:
        """(..., K-1) thresholds from (..., K'-1): a level without rows lies between
        equal or infinite thresholds.

        `lowest` and `highest` stand for the infinite ones.

        Examples
        --------
        >>> Present(np.array([1, 3]), 5).spread_thresholds(np.array([0.5]))
        array([-inf,  0.5,  0.5,  inf])
        """
        one = np.ones((*theta.shape[:-1], 1))
        ends = np.concatenate([lowest * one, theta, highest * one], axis=-1)
        # The threshold above level k is the lower end of the next level with rows.
        return ends[..., np.searchsorted(self.codes, np.arange(1, self.n_levels))]


@dataclass(frozen=True, eq=False)
class WideRule:
    """A rule for K' of K levels, extended to all.

    Attributes
    ----------
    rule : Rule
        The rule for K' levels.
    present : Present
    """

    rule: Rule
    present: Present

    @property
    def n_levels(self) -> int:
        return self.present.n_levels

    @property
    def theta(self) -> FloatArray:
        """(K-1,) thresholds, if the rule has them."""
        return self.present.spread_thresholds(np.asarray(cast(Any, self.rule).theta))

    @property
    def probable(self) -> bool:
        """Whether the rule has probabilities."""
        return bool(getattr(self.rule, "probable", True))

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) probabilities, if the rule has them; 0 for the other levels."""
        return self.present.spread_probabilities(
            cast(Any, self.rule).probabilities(rows, scores)
        )

    def scores(self, rows: Rows) -> FloatArray:
        scores = self.rule.scores(rows)
        return scores if scores.ndim == 1 else self.present.spread_votes(scores)

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) H - theta_k, if the rule has thresholds."""
        return -self.present.spread_thresholds(
            -cast(GapRule, self.rule).gaps(rows, scores)
        )

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        narrow = (
            scores
            if scores is None or scores.ndim == 1
            else scores[:, self.present.codes]
        )
        return self.present.codes[self.rule.codes(rows, narrow)]
