"""Averages of probability models, "blend"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray, Progress
from ..advice import with_option_hints
from ..checks import one_of, ticking, unknown
from ..exceptions import DataError, OptionError
from ..fit import Certificate, Fit, MarginFit, Rule, Trace, count_above
from ..formula.sample import Rows, Sample
from ..judging.absent_levels import Present, fit_levels_present
from ..judging.costs import CostField
from ..judging.folds import (
    held_weights,
    refuse_unused_clusters,
    split,
    with_mean_weight_1,
)
from ..method import Method, Supports, cost_option, jobs_option, option
from ..rankers import ProbabilityResults
from ..reduction.classifiers import is_classifier
from ..reduction.encoding import in_order
from ..reduction.exceedances import CumulativeRule, ranked_score, score_gain
from ..reduction.reduction import Reduction
from ..report.render import Report, Table
from ..report.sections import error_tables, ranker_report
from ..threads import in_processes
from .boosted_base import BoostedBase
from .calibrated import Calibrated
from .forest import TRIAL_TREES, ForestFit
from .kernel_clm import KernelCumulativeLink
from .kernel_features import KernelFit
from .ordboost import OrdinalBoosting
from .probabilities import LatentRule
from .trees import BoostedFit

# Weight of the sum against the errors, and shares that are 0.
_HEAVY = 1e4
_NONE = 1e-9


def simplex_weights(gram: FloatArray, ridge: float) -> tuple[FloatArray, float]:
    """Minimise w'A w + ridge |w - 1/M|^2 over the simplex; also return the relative
    duality gap.

    Parameters
    ----------
    gram : (M, M)
        A, positive semidefinite: inner products of the members' errors.
    ridge : float
        > 0.

    Returns
    -------
    w : (M,)
    gap : float
        Duality gap (Frank & Wolfe 1956) over the value.

    Examples
    --------
    >>> simplex_weights(np.diag([1.0, 3.0]), 1e-9)[0].round(6).tolist()
    [0.75, 0.25]
    """
    from scipy.optimize import nnls

    M = len(gram)
    Q = gram + ridge * np.eye(M)
    c = np.full(M, ridge / M)
    # First the constraint sum w = 1 as a heavy square, then exactly for the members
    # with positive weight.
    heavy = _HEAVY * float(np.trace(Q))
    L = np.linalg.cholesky(Q + heavy)
    relaxed = nnls(L.T, np.linalg.solve(L, c + heavy))[0]
    w = _on_face(Q, c, relaxed > _NONE * relaxed.sum())
    slopes = 2.0 * (Q @ w - c)
    value = float(w @ Q @ w - 2.0 * c @ w + ridge / M)
    return w, float((slopes @ w - slopes.min()) / max(value, np.finfo(np.float64).tiny))


def _on_face(Q: FloatArray, c: FloatArray, free: BoolArray) -> FloatArray:
    """(M,) the minimum of w'Q w - 2 c'w with sum 1 and weight 0 for members that are
    not free.
    """
    inside = np.flatnonzero(free)
    n = inside.size
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = Q[np.ix_(inside, inside)]
    system[n, n] = 0.0
    w = np.zeros(len(Q))
    w[inside] = np.linalg.solve(system, np.append(c[inside], 1.0))[:n]
    return w


@dataclass(frozen=True, eq=False, kw_only=True)
class Mixture:
    """P(y > k), as a weighted mean over the members.

    Attributes
    ----------
    members : tuple of Exceeding
    shares : (M,) of sum 1
    """

    members: tuple[Exceeding, ...]
    shares: FloatArray

    @property
    def n_levels(self) -> int:
        """K."""
        return self.members[0].n_levels

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1)."""
        total = np.zeros((rows.n, self.n_levels - 1))
        for member, share in zip(self.members, self.shares, strict=True):
            if share > 0.0:
                total += share * member(rows)
        return np.minimum(total, 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class BlendFit(MarginFit):
    """A fit of a blend.

    Attributes
    ----------
    mixture : Mixture
    names : tuple of str
        The reprs of the members.
    held_out : (M + 1, 2) or None
        Held-out ranked probability score and absolute error of each member and of the
        blend; None if the weights are equal.
    """

    mixture: Mixture
    names: tuple[str, ...]
    held_out: FloatArray | None


def member(name: str, value: Any, of: Any) -> Method:
    """The method for a name, a method value or a classifier.

    Raises
    ------
    OptionError
        Another value, a blend, or a method with kernel="precomputed".
    """
    # Imported late: the registry lists the blend.
    registry = import_module("ordstat.registry")
    if isinstance(value, Method):
        method: Method = value
    elif (spelled := registry.spelled(value)) is not None:
        entry = registry.METHODS[spelled]
        method = entry.method(**entry.preset)
    elif is_classifier(value):
        method = registry.METHODS["nominal-classifier"].method(base=value)
    else:
        also = (
            ", a method value such as REDSVM(C=10), or a classifier with predict_proba"
            " such as LGBMClassifier()"
        )
        raise unknown(name, value, registry.METHODS, of=of, also=also)
    if method.pairwise:
        raise OptionError(
            f"{name} must take columns; got {method!r}. Use a named kernel."
        )
    if isinstance(method, Blend):
        raise OptionError(
            f"{name} must be another method than a blend; got {method!r}. List its"
            " members themselves."
        )
    return method


@dataclass(frozen=True, eq=False)
class Exceeding:
    """P(y > k) by a fitted member.

    Attributes
    ----------
    fit : Fit
    n_levels : int
    """

    fit: Fit
    n_levels: int

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1) P(y > k); it does not increase with k."""
        rule = self.fit.rule
        raw = self.fit.calibration is None
        if raw and isinstance(rule, (LatentRule, CumulativeRule)):
            cumulated = rule.cum_probabilities(rows)
        else:
            probabilities = _probabilities(self.fit, rule, rows)
            assert probabilities is not None
            cumulated = np.cumsum(probabilities, axis=1)
        return np.clip(in_order(1.0 - cumulated[:, :-1]), 0.0, 1.0)


def _probabilities(fit: Fit, rule: Rule, rows: Rows) -> FloatArray | None:
    """(N, K) probabilities from the calibration of a fit or from its rule; None if
    there are none.
    """
    if fit.calibration is not None:
        return np.asarray(fit.calibration.probabilities(rule.scores(rows)))
    if not getattr(rule, "probable", False):
        return None
    probabilities: FloatArray = cast(Any, rule).probabilities(rows)
    return probabilities


def fitted_member(
    method: Method,
    sample: Sample,
    rng: np.random.Generator,
    folds: int = Calibrated.folds,
) -> tuple[Exceeding, Method]:
    """Fit a member, calibrated by some folds if it has no probabilities; return it and
    the method with its chosen C.

    C is chosen once, on the whole sample.
    """
    without_cluster = sample if method.keeps_clusters else replace(sample, cluster=None)
    fit = fit_levels_present(cast(Any, method), without_cluster, rng)
    if _probabilities(fit, fit.rule, sample.rows.take(slice(0, 1))) is None:
        chosen = getattr(fit, "selection", None)
        if chosen is not None and chosen.gamma is None:
            method = replace(cast(Any, method), C=chosen.best_C)
        if sample.cluster is not None:
            folds = min(folds, np.unique(sample.cluster).size)
        calibrated = cast(Calibrated, Calibrated.of(method, max(2, folds)))
        if Present.of(sample).all:
            fit = calibrated.around(fit, sample, rng)
        else:
            fit = fit_levels_present(cast(Any, calibrated), sample, rng)
    return Exceeding(fit, sample.n_levels), method


class BlendResults(ProbabilityResults):
    """A fitted average of probability models.

    `score` is the interpolated median, with thresholds 1, ..., K-1; margins are P(y >
    k) - 1/2.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> members = ["logit", "rps-forest"]
    >>> fit = ordfit("rating ~ temp + contact", wine, "blend", members=members)
    >>> fit.members["weight"].tolist()
    [0.5, 0.5]
    """

    fit: BlendFit

    kind = "Blend of probability models"

    @property
    def members(self) -> pd.DataFrame:
        """One row for each member.

        Returns
        -------
        pandas.DataFrame
            weight; if the weights were fitted also rps and absolute, the held-out
            ranked probability score and absolute error, and a row for the blend.
        """
        f = self.fit
        frame = pd.DataFrame(
            {"weight": f.mixture.shares}, index=pd.Index(f.names, name="member")
        )
        if f.held_out is not None:
            last = pd.DataFrame(
                {"weight": [1.0]}, index=pd.Index(["all, blended"], name="member")
            )
            frame = pd.concat([frame, last]).assign(
                rps=f.held_out[:, 0], absolute=f.held_out[:, 1]
            )
        return frame

    def summary_data(self) -> Report:
        """The summary as data."""
        title = "Members"
        if self.fit.held_out is not None:
            title += (
                " (rps: held-out ranked probability score; absolute: held-out absolute"
                " error)"
            )
        formats = dict.fromkeys(self.members.columns, ".4f")
        return ranker_report(
            self,
            [
                Table(title=title, frame=self.members, formats=formats),
                *error_tables(self),
            ],
        )


#: How members are weighted.
AVERAGES = {"equal": "equal", "stacked": "by the held-out ranked probability score"}
_ONE = "one member alone, clearly better on held-out rows"
#: The default members and their options, best first in blends of public data.
_USUAL: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ordboost", {}),
    ("rps-forest", {}),
    ("kernel-clm", {}),
    ("redsvm", {"C": "cv", "folds": 3}),
)
# Largest number of rows for the kernel methods, which come last; number of members
# beyond.
_MOST_KERNEL_ROWS = 5000
_WITHOUT_KERNELS = 2
# Number of rows above which the default members are weighted on one of five folds, and
# of landmarks of "kernel-clm" up to there: on held-out training rows of fifteen sets
# more had no smaller score of the blend.
_MANY_ROWS = 2000
_LANDMARKS = 200
_FOLDS = 5
# With this number of rows up to _MANY_ROWS they are weighted on two folds. One default
# member has all the weight if its score there is better than that of the equal blend by
# this number of standard errors, the best of eight numbers on training rows: `python -m
# benchmarks tocuco --choose`.
_FEW_ROWS = 100
_CLEARLY = 4.0
_LEAD_FOLDS = 2
# Folds that calibrate members for held-out rows, if they are fitted to more rows than
# these.
_CALIBRATION_FOLDS = 2
_CALIBRATION_ROWS = 500
# How strongly weights are kept equal, in levels less one: if average="stacked" or rows
# are many, and for two folds, where it was chosen on parts of training rows.
_RIDGE = 2.0
_USUAL_RIDGE = 0.5
# With trees of each threshold the ridge is at most this number times the smallest
# held-out score: where a member hardly errs, few rows tell which weights are best. Of
# nine numbers on training rows it has the smallest log loss, and the smallest score as
# 20 has: `python -m benchmarks tocuco --choose`.
_PER_SCORE = 12.0
_LEAST_RIDGE = 1e-4
# If boosted trees of one score have more than this weight, boosted trees of each
# threshold join the members, of this depth. Two levels that a rule separates have small
# curvatures, which a penalty of 1 would outweigh.
_MUCH = 0.5
_DEPTH = 3
_PENALTY = 0.1
_ZERO_GAP = 1e-9


def _members(name: str, value: Any, of: Any) -> tuple[Any, ...] | None:
    """Check that the members are a list of methods, or None for the default."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or not value:
        raise OptionError(
            f"{name} of Blend must be a list of methods, by name or as values, or None;"
            f" got {value!r}."
        )
    for item in value:
        member(f"each of {name}", item, of)
    return tuple(value)


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class Blend(Method):
    """Average the probabilities P(y > k | x) of several models.

    Use it for the most accurate predictions, when time allows and no single model has
    to be explained.

    The default members are "ordboost", "rps-forest" and, with at most 5000 rows,
    "kernel-clm" (with 200 landmarks up to 2000 rows) and "redsvm" (C by 3-fold
    cross-validation). A member without probabilities is calibrated (as by
    `calibrate=True` of `ordfit`). With more than 2000 rows, the default members are
    weighted by their performance on a fifth of the rows, held out once. With 100 to
    2000 rows and no clusters they are weighted by two held-out fifths. If "ordboost"
    gets more than half the weight and there are more than two levels, boosted trees of
    each threshold, as in `Reduction(base="ordboost", encoding="separate")` but with
    penalty 0.1, join the members. One member gets all the weight if it clearly predicts
    the held-out rows best. That is the case if its ranked probability score is better
    than that of the weighted mean, and better than that of the equal mean by more than
    4 standard errors.

    average="stacked" fits the members without each of five folds. The weights w >= 0,
    with sum 1, minimise sum_nk (sum_m w_m P_m(n, k) - [y_n > k])^2 + 2 (K-1) |w -
    1/M|^2 over the held-out rows [Wolpert 1992; Breiman 1996]. The second term keeps
    the weights nearly equal if there are few rows; for the default members and two
    held-out fifths it is a quarter of this. With trees of each threshold its factor is
    at most 12 times the smallest held-out ranked probability score, so that a member
    that hardly errs can get nearly all the weight.

    Parameters
    ----------
    members : sequence of str, methods or classifiers, or None
        For example ["ordboost", "rps-forest", REDSVM(C="cv")]; None for the default. A
        classifier with predict_proba, such as lightgbm.LGBMClassifier(), means
        `NominalClassifier(base=...)`.
    average : {"equal", "stacked"}
        Plain mean, or a mean with fitted weights.
    cost : str or (K, K) array
        Cost that predicted levels minimise in expectation: "absolute" gives the median,
        "classification" the mode. The members keep their own costs.
    n_jobs : int
        Number of threads in each default member; -1 for one per processor. Within
        `joblib.parallel_config(n_jobs=4)` members are fitted in parallel. The result
        depends on neither.

    Raises
    ------
    OptionError
        An option has a value outside its range, or a member is not a method.

    Examples
    --------
    >>> Blend(members=["logit", "rps-forest"])
    Blend(members=('logit', 'rps-forest'))
    """

    members: Sequence[Any] | None = option(None, _members)
    average: str = option("equal", one_of, AVERAGES)
    cost: CostField = cost_option()
    n_jobs: int = jobs_option()

    supports: ClassVar[Supports] = Supports(cluster=True, decisions=True)
    results_class: ClassVar[type[Any]] = BlendResults
    papers: ClassVar[tuple[str, ...]] = (
        "Wolpert, D. H. (1992). Stacked generalization. Neural Networks, 5, 241-259.",
        "Breiman, L. (1996). Stacked regressions. Machine Learning, 24, 49-64.",
    )

    @property
    def own_folds(self) -> bool:
        """Whether the weights, a member, or the calibration of a member needs folds."""
        return self.average == "stacked" or any(
            method.own_folds or "prob" not in method.results_class.predicts
            for method in self._chosen(len(_USUAL))
        )

    def methods(self, sample: Sample) -> tuple[Method, ...]:
        """The members for a sample."""
        n_rows = sample.case_weights.sum()
        if n_rows > _MOST_KERNEL_ROWS:
            return self._chosen(_WITHOUT_KERNELS)
        chosen = self._chosen(len(_USUAL))
        if self.members is not None or n_rows > _MANY_ROWS:
            return chosen
        return tuple(
            replace(m, landmarks=_LANDMARKS)
            if isinstance(m, KernelCumulativeLink)
            else m
            for m in chosen
        )

    def _chosen(self, most: int) -> tuple[Method, ...]:
        """The given members, or the first `most` default members."""
        if self.members is not None:
            return tuple(member("members", value, self) for value in self.members)
        usual = [
            (cast(Any, member("members", name, self)), options)
            for name, options in _USUAL[:most]
        ]
        threads = {"n_jobs": self.n_jobs}
        return tuple(
            replace(m, **options, **(threads if hasattr(m, "n_jobs") else {}))
            for m, options in usual
        )

    def check(self, sample: Sample) -> None:
        """Raise an error if the sample has a feature that a member does not support."""
        super().check(sample)
        refuse_unused_clusters(self, sample, "set average='stacked'")
        for method in self.methods(sample):
            used = sample if method.keeps_clusters else replace(sample, cluster=None)
            method.check(used)

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> BlendFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 are ignored.
        rng : numpy.random.Generator
            Seeds a separate generator for each member.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        sample = with_mean_weight_1(sample)
        methods = self.methods(sample)
        seeds = rng.integers(2**63, size=len(methods))
        stacked = self.average == "stacked"
        tick = ticking(progress, len(methods) * (1 + _FOLDS * stacked))
        shares = np.full(len(methods), 1.0 / len(methods))
        held_out = None
        gap = 0.0
        if stacked:
            shares, held_out, gap = self._stacked(sample, methods, seeds, rng, tick)
        members = list[Exceeding]()
        settled = list[Method]()
        tasks = [
            (method, sample, np.random.default_rng(seed))
            for method, seed in zip(methods, seeds, strict=True)
        ]
        for method, (member, calibrated) in zip(
            methods, in_processes(fitted_member, tasks), strict=True
        ):
            members.append(member)
            settled.append(settled_method(calibrated, member.fit))
            tick(f"{method!r} fitted")
        weights = AVERAGES[self.average]
        by_evidence = self._chosen_weights(sample, settled, seeds, rng)
        if by_evidence is not None:
            shares = by_evidence.shares
            held_out = by_evidence.errors
            gap = by_evidence.gap
            weights = _ONE if by_evidence.alone else AVERAGES["stacked"]
            for method in by_evidence.more:
                own = np.random.default_rng(seeds[0])
                members.append(fitted_member(method, sample, own)[0])
            methods = (*methods, *by_evidence.more)
        mixture = Mixture(members=tuple(members), shares=shares)
        rule = CumulativeRule(mixture, self.cost_matrix)
        above = rule.exceedances(sample.rows)
        score = ranked_score(above, sample.y, sample.case_weights)
        return BlendFit(
            rule=rule,
            certificate=_certificate([m.fit for m in members], gap),
            trace=Trace(
                iterations=len(members),
                objective=np.array([score]),
                message=f"{len(members)} members fitted",
            ),
            scores=rule.scores_of(above),
            facts=(
                ("Members", str(len(members))),
                ("Weights", weights),
            ),
            mixture=mixture,
            names=tuple(map(repr, methods)),
            held_out=held_out,
        )

    def _stacked(
        self,
        sample: Sample,
        methods: Sequence[Method],
        seeds: Any,
        rng: np.random.Generator,
        tick: Any,
    ) -> tuple[FloatArray, FloatArray, float]:
        """Weights with the smallest held-out score over all folds, held-out errors, and
        the duality gap.
        """
        found = held_out_by(sample, methods, seeds, rng, _FOLDS, tick)
        if found is None:
            raise DataError(
                "Blend needs two rows of some level for average='stacked'. Set"
                " average='equal'."
            )
        return _rps_weights(found.above, found.y, found.weights)

    def _chosen_weights(
        self,
        sample: Sample,
        settled: Sequence[Method],
        seeds: Any,
        rng: np.random.Generator,
    ) -> MemberWeights | None:
        """Weights of the default members; None for equal weights."""
        n_rows = sample.case_weights.sum()
        if self.average == "stacked" or self.members is not None or n_rows < _FEW_ROWS:
            return None
        if n_rows > _MANY_ROWS:
            found = held_out_by(sample, settled, seeds, rng, 1)
            return None if found is None else _weights_of_all(found)
        if sample.cluster is not None:  # whose rows give no standard error
            return None
        found = held_out_by(sample, settled, seeds, rng, _LEAD_FOLDS)
        if found is None:
            return None
        weights = weights_by_evidence(found, settled, seeds)
        return alone_if_clear(weights, found.lead[1])


class HeldOutForecasts(NamedTuple):
    """Predictions of the members for held-out rows.

    Attributes
    ----------
    parts : list of (Sample, Rows)
        Rows of the fits and held-out rows of each fold.
    above : (M, N, K-1)
        P(y > k) of the held-out rows by each member.
    y, weights : (N,)
    """

    parts: list[tuple[Sample, Rows]]
    above: FloatArray
    y: IntArray
    weights: FloatArray

    @property
    def lead(self) -> tuple[int, float]:
        """The member with the best ranked probability score, and by how many standard
        errors it beats the equal blend.
        """
        return _lead(self.above, self.y, self.weights)

    @property
    def several(self) -> bool:
        """Whether there is more than one threshold."""
        return bool(self.above.shape[2] > 1)

    def by(self, method: Method, seed: Any) -> FloatArray:
        """P(y > k) (N, K-1) by another method."""
        tasks = [(method, part, rows, seed) for part, rows in self.parts]
        return np.concatenate(list(in_processes(_forecast, tasks)))


def held_out_by(
    sample: Sample,
    methods: Sequence[Method],
    seeds: Any,
    rng: np.random.Generator,
    folds: int,
    tick: Callable[[str], None] = lambda message: None,
) -> HeldOutForecasts | None:
    """The first `folds` of five folds, predicted by the members fitted to the other
    rows; None if nothing can be held out.
    """
    ordered, held = _folds(sample, rng)
    held = held[:folds]
    if len(held) == 0:
        return None
    parts = [split(ordered, out) for out in held]
    tasks = [
        (method, part, other.rows, seed)
        for part, other in parts
        for method, seed in zip(methods, seeds, strict=True)
    ]
    forecasts = []
    for task, above in zip(tasks, in_processes(_forecast, tasks), strict=True):
        forecasts.append(above)
        tick(f"{task[0]!r} fitted without a fold")
    M = len(methods)
    by_fold = [np.stack(forecasts[i : i + M]) for i in range(0, len(tasks), M)]
    fold, row = np.nonzero(held)
    return HeldOutForecasts(
        parts=[(part, other.rows) for part, other in parts],
        above=np.concatenate(by_fold, axis=1),
        y=ordered.y[row],
        weights=held[fold, row],
    )


class MemberWeights(NamedTuple):
    """The weights of default members, from held-out rows.

    Attributes
    ----------
    shares : (M,)
    more : tuple of Method
        Methods that join the members, the last of the M.
    errors : (M + 1, 2) held-out errors of each member and of the blend
    gap : float
        Duality gap of the weights.
    """

    shares: FloatArray
    more: tuple[Method, ...]
    errors: FloatArray
    gap: float

    @property
    def alone(self) -> bool:
        """Whether one member has all the weight."""
        return bool(self.shares.max() == 1.0)


def _weights_of_all(found: HeldOutForecasts) -> MemberWeights:
    """Weights by the ranked probability score of held-out rows."""
    shares, errors, gap = _rps_weights(found.above, found.y, found.weights)
    return MemberWeights(shares, (), errors, gap)


def weights_by_evidence(
    found: HeldOutForecasts, methods: Sequence[Method], seeds: Any
) -> MemberWeights:
    """Weights by the ranked probability score of held-out rows, with boosted trees of
    each threshold beside those of one score that have much weight.
    """
    return weights_with(*with_threshold_trees(found, methods, seeds))


def with_threshold_trees(
    found: HeldOutForecasts, methods: Sequence[Method], seeds: Any
) -> tuple[HeldOutForecasts, tuple[Method, ...]]:
    """Held-out forecasts with those of the methods that join the members, and these
    methods.
    """
    first = methods[0]
    if not (found.several and isinstance(first, OrdinalBoosting)):
        return found, ()
    shares = weights_with(found, ()).shares
    if shares[0] <= _MUCH:
        return found, ()
    more = _by_threshold(first)
    above = np.concatenate([found.above, found.by(more, seeds[0])[None]])
    return found._replace(above=above), (more,)


def weights_with(
    found: HeldOutForecasts, more: tuple[Method, ...], per_score: float = _PER_SCORE
) -> MemberWeights:
    """Weights by the ranked probability score of held-out rows, if `more` are the last
    of the members.

    Trees of each threshold join where rules of columns separate levels. If a member
    hardly errs there, a fixed ridge would outweigh all the errors.
    """
    above, y, w = found.above, found.y, found.weights
    ridge = _USUAL_RIDGE
    if more:
        least = min(ranked_score(p, y, w) for p in above)
        most = max(per_score * least / above.shape[2], _LEAST_RIDGE)
        ridge = min(ridge, most)
    shares, errors, gap = _rps_weights(above, y, w, ridge)
    return MemberWeights(shares, more, errors, gap)


def alone_if_clear(
    weights: MemberWeights, lead: float, clearly: float = _CLEARLY
) -> MemberWeights:
    """All weight for the best member if one leads the equal blend by more than some
    standard errors, and the best is better than the weighted blend.
    """
    errors = weights.errors
    best = int(np.argmin(errors[:-1, 0]))
    if lead <= clearly or errors[best, 0] >= errors[-1, 0]:
        return weights
    return weights._replace(
        shares=np.eye(len(weights.shares))[best],
        errors=np.concatenate([errors[:-1], errors[[best]]]),
        gap=0.0,
    )


def _by_threshold(method: OrdinalBoosting) -> Method:
    """Boosted trees of each threshold."""
    base = BoostedBase(replace(method, rounds="cv", depth=_DEPTH, penalty=_PENALTY))
    return Reduction(base=base, encoding="separate", scaling=None)


def _folds(sample: Sample, rng: np.random.Generator) -> tuple[Sample, FloatArray]:
    """The rows in an order that depends on their values alone, and the weights (F, N)
    that each fold holds out.
    """
    order = np.lexsort([sample.case_weights, *sample.X.T, sample.y])
    order = order[sample.case_weights[order] > 0]
    ordered = sample.take(order)
    held = held_weights(
        ordered.X, ordered.y, ordered.case_weights, _FOLDS, rng, ordered.cluster
    )
    return ordered, held


def _lead(above: FloatArray, y: IntArray, w: FloatArray) -> tuple[int, float]:
    """From P(y > k) of M members (M, N, K-1): the member with the best ranked
    probability score, and by how many standard errors it beats the equal blend.

    Examples
    --------
    >>> above = np.array([[[0.1], [0.9], [0.5]], [[0.5], [0.5], [0.5]]])
    >>> best, lead = _lead(above, np.array([0, 1, 1]), np.ones(3))
    >>> best, round(lead, 2)
    (0, 2.45)
    """
    equal = above.mean(axis=0)
    gains = [score_gain(of_member, equal, y, w) for of_member in above]
    best = int(np.argmax([mean for mean, _ in gains]))
    return best, gains[best][1]


def _forecast(method: Method, sample: Sample, rows: Rows, seed: Any) -> FloatArray:
    """P(y > k) of other rows by a member fitted to the sample."""
    many = sample.case_weights.sum() > _CALIBRATION_ROWS
    folds = _CALIBRATION_FOLDS if many else Calibrated.folds
    return fitted_member(method, sample, np.random.default_rng(seed), folds)[0](rows)


def settled_method(method: Method, fit: Fit) -> Method:
    """A method with the options that its fit chose, for fits to parts of the rows; a
    forest has fewer trees.
    """
    options: dict[str, Any] = {}
    if isinstance(fit, KernelFit):
        options = {
            "kernel": cast(Any, fit.rule).potential.function.kernel,
            "penalty": fit.penalty,
        }
    elif isinstance(fit, BoostedFit):
        options = {"rounds": max(fit.kept, 1), "depth": fit.depth}
    elif isinstance(fit, ForestFit):
        options = asdict(fit.growth)
        options["trees"] = min(cast(Any, method).trees, TRIAL_TREES)
    return replace(method, **options)


def _rps_weights(
    above: FloatArray, y: Any, w: FloatArray, ridge: float = _RIDGE
) -> tuple[FloatArray, FloatArray, float]:
    """From P(y > k) of M members (M, N, K-1): weights, errors of the members and of the
    blend, duality gap.
    """
    misses = (above - (y[:, None] > np.arange(above.shape[2]))) * np.sqrt(w)[:, None]
    flat = misses.reshape(len(above), -1)
    shares, gap = simplex_weights(flat @ flat.T, ridge * above.shape[2])
    forecasts = [*above, np.tensordot(shares, above, axes=1)]
    return shares, _errors(forecasts, y, w), gap


def _errors(forecasts: Sequence[FloatArray], y: Any, w: FloatArray) -> FloatArray:
    """(F, 2) ranked probability score and absolute error of each forecast of P(y >
    k).
    """
    return np.array(
        [
            (
                ranked_score(p, y, w),
                float(w @ np.abs(count_above(p - 0.5) - y) / w.sum()),
            )
            for p in forecasts
        ]
    )


def _certificate(fits: Sequence[Fit], gap: float) -> Certificate:
    """The number of members, and weights, that missed their tolerance."""
    missed = sum(not fit.certificate.reached for fit in fits) + (gap > _ZERO_GAP)
    details = tuple(
        (f"member {i}: {f.certificate.name}", f.certificate.value)
        for i, f in enumerate(fits, start=1)
    )
    return Certificate(
        name="members that did not converge",
        value=float(missed),
        tolerance=0.0,
        details=(*details, ("relative duality gap of the weights", gap)),
    )
