"""Averages of probability models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, Progress
from ..checks import one_of, unknown, whole
from ..exceptions import DataError, OptionError
from ..fit import Certificate, Fit, Rule, Trace, count_above
from ..formula.sample import Rows, Sample
from ..judging.costs import CostField
from ..judging.evaluation import as_rows, fit_present, held_weights
from ..judging.rankers import PREDICTS, FittedThresholds, rule_probabilities, tidy_thresholds
from ..judging.selection import ticking
from ..method import Method, Needs, NeedsOfValue, cost_option, jobs_option, option
from ..reduction.classifiers import is_classifier
from ..reduction.encoding import in_order
from ..report.render import Report, Table
from ..report.sections import error_tables, ranker_report
from ..results import OrdinalResults
from .calibrated import Calibrated
from .forest import BlendFit, Mixture
from .kernel_features import KernelFit
from .losses import CumulativeRule, ranked_score
from .trees import BoostedFit

# Weight of the sum against the errors, and shares that are 0.
_HEAVY, _NONE = 1e4, 1e-9


def simplex_weights(gram: FloatArray, ridge: float) -> tuple[FloatArray, float]:
    """The least w'A w + ridge |w - 1/M|^2 over the simplex, and a bound of how far from it, as a share.

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
    Q, c = gram + ridge * np.eye(M), np.full(M, ridge / M)
    # The sum of 1 as a square that outweighs all others; then exactly, for the members that are in.
    heavy = _HEAVY * float(np.trace(Q))
    L = np.linalg.cholesky(Q + heavy)
    found = nnls(L.T, np.linalg.solve(L, c + heavy))[0]
    w = _on_face(Q, c, found > _NONE * found.sum())
    slopes = 2.0 * (Q @ w - c)
    value = float(w @ Q @ w - 2.0 * c @ w + ridge / M)
    return w, float((slopes @ w - slopes.min()) / max(value, np.finfo(np.float64).tiny))


def _on_face(Q: FloatArray, c: FloatArray, free: BoolArray) -> FloatArray:
    """(M,) the least w'Q w - 2 c'w of sum 1, members that are not free having 0."""
    places = np.flatnonzero(free)
    n = places.size
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = Q[np.ix_(places, places)]
    system[n, n] = 0.0
    w = np.zeros(len(Q))
    w[places] = np.linalg.solve(system, np.append(c[places], 1.0))[:n]
    return w


def member(name: str, value: Any, of: Any) -> Method:
    """The method that a name or a value stands for.

    Raises
    ------
    OptionError
        It is neither, or takes no other rows.
    """
    # Imported late: the list of methods has the blend in it.
    known = import_module("ordstat.registry")
    if isinstance(value, Method):
        found: Method = value
    elif (spelled := known.spelled(value)) is not None:
        entry = known.METHODS[spelled]
        found = entry.method(**entry.preset)
    elif is_classifier(value):
        found = known.METHODS["nominal-classifier"].method(base=value)
    else:
        also = ", a method value such as REDSVM(C=10), or a classifier with predict_proba such as LGBMClassifier()"
        raise unknown(name, value, known.METHODS, of=of, also=also)
    if found.pairwise:
        raise OptionError(f"{name} must take columns; got {found!r}. Use a named kernel.")
    if isinstance(found, type(of)) or isinstance(of, type(found)):
        raise OptionError(f"{name} must be another method than a blend; got {found!r}. List its members themselves.")
    return found


@dataclass(frozen=True, eq=False)
class Exceeding:
    """P(y > k) of a fitted member.

    Attributes
    ----------
    fit : Fit
    n_levels : int
    """

    fit: Fit
    n_levels: int

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1), not growing with k."""
        probabilities = _probabilities(self.fit, self.fit.rule, rows)
        assert probabilities is not None
        return np.clip(in_order(1.0 - np.cumsum(probabilities, axis=1)[:, :-1]), 0.0, 1.0)


def _probabilities(fit: Fit, rule: Rule, rows: Rows) -> FloatArray | None:
    """(N, K) probabilities by the calibration of a fit or by its rule; None where neither has any."""
    if fit.calibration is not None:
        return np.asarray(fit.calibration.probabilities(rule.scores(rows)))
    if not getattr(rule, "probable", False):
        return None
    found: FloatArray = cast(Any, rule).probabilities(rows)
    return found


def fitted_member(method: Method, sample: Sample, rng: np.random.Generator) -> Exceeding:
    """A method fitted to a sample, calibrated by cross-fitting where it has no probabilities of its own.

    Where cross-validation chooses a C, it does so once, on the whole sample.
    """
    return settled_member(method, sample, rng)[0]


def settled_member(method: Method, sample: Sample, rng: np.random.Generator) -> tuple[Exceeding, Method]:
    """The same, and the method with the C that was chosen."""
    own = sample if method.keeps_clusters else replace(sample, cluster=None)
    fit = fit_present(cast(Any, method), own, rng)
    if _probabilities(fit, fit.rule, sample.rows.take(slice(0, 1))) is None:
        chosen = getattr(fit, "selection", None)
        if chosen is not None and chosen.gamma is None:
            method = replace(cast(Any, method), C=chosen.best_C)
        folds = Calibrated.folds if sample.cluster is None else min(Calibrated.folds, np.unique(sample.cluster).size)
        calibrated = Calibrated.of(method, max(2, folds))
        fit = fit_present(cast(Any, calibrated), sample, rng)
    return Exceeding(fit, sample.n_levels), method


def blend_report(fit: BlendResults) -> Report:
    """The summary as data."""
    held = fit.fit.held_out is not None
    title = "Members" + (": weight, ranked probability score and absolute error of held-out rows" if held else "")
    formats = dict.fromkeys(("weight", "rps", "absolute"), ".4f") | {"seconds": ".2g"}
    table = Table(title=title, frame=fit.members, formats={k: v for k, v in formats.items() if k in fit.members})
    return ranker_report(fit, [table, *error_tables(fit)])


class BlendResults(FittedThresholds, OrdinalResults):
    """A fitted average of probability models.

    `score` is the interpolated median, with thresholds 1, ..., K-1; margins are P(y > k) - 1/2.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "blend", members=["logit", "rps-forest"])
    >>> fit.members["weight"].tolist()
    [0.5, 0.5]
    """

    fit: BlendFit

    predicts = PREDICTS
    no_bounds = "No margin bounds: an average of probabilities has no norm."

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Blend of probability models"

    _probabilities = rule_probabilities

    @property
    def members(self) -> pd.DataFrame:
        """One row a member.

        Returns
        -------
        pandas.DataFrame
            weight; with average="stacked" also rps and absolute, the ranked probability score and the absolute error
            (of the medians) of held-out rows, and a row for the blend.
        """
        f = self.fit
        frame = pd.DataFrame({"weight": f.mixture.shares}, index=pd.Index(f.names, name="member"))
        if f.held_out is not None:
            last = pd.DataFrame({"weight": [1.0]}, index=pd.Index(["all, blended"], name="member"))
            frame = pd.concat([frame, last]).assign(rps=f.held_out[:, 0], absolute=f.held_out[:, 1])
        return frame

    def tidy(self) -> pd.DataFrame:
        """One row per threshold and linear coefficient: term, estimate, coef_type.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm", kernel="linear")
        >>> fit.tidy().round(2)
                     term  estimate  coef_type
        0             1|2      -1.0  threshold
        1             2|3       1.0  threshold
        2             3|4       3.0  threshold
        3             4|5       5.0  threshold
        4    temp[T.warm]       2.0   location
        5  contact[T.yes]       2.0   location
        """

        return tidy_thresholds(self)

    summary_data = blend_report


#: How members count.
AVERAGES = {
    "equal": "all the same",
    "odds": "all the same, by log odds",
    "stacked": "by the ranked probability score of rows held out",
}
#: The usual members and their options, in the order of their worth in blends on public data.
_USUAL: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ordboost", {}),
    ("rps-forest", {}),
    ("kernel-clm", {}),
    ("redsvm", {"C": "cv"}),
)
# Rows up to which the kernel methods, which come last, are among them.
_MOST_ROWS, _WITHOUT_KERNELS = 5000, 2
# Rows above which the usual members are weighted, by a fifth of them held out once.
_MANY_ROWS, _FOLDS = 2000, 5
_ROUNDING = 1e-9


def _members(name: str, value: Any, of: Any) -> tuple[Any, ...] | None:
    """Names or methods, at least one; None for the usual ones."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or not value:
        raise OptionError(f"{name} of Blend must be a list of methods, by name or as values, or None; got {value!r}.")
    for one in value:
        member(f"each of {name}", one, of)
    return tuple(value)


@dataclass(frozen=True, kw_only=True, repr=False)
class Blend(Method):
    """The mean of the P(y > k | x) of unlike probability models, or of their log odds.

    By default of ordinal gradient boosting, a forest of extremely randomised trees on the ranked probability score
    and, with 5000 rows or fewer, the kernel cumulative model and RED-SVM with the perceptron kernel, C by
    cross-validation and calibrated scores.
    With more than 2000 rows these usual members are weighted as by "stacked", with a fifth of the rows held out once
    and the options that are chosen on all rows.
    A member without probabilities is calibrated (`calibrate=True` of `ordfit`).

    average="odds" takes the probability of the mean log odds, of probabilities drawn towards 1/2 by a hundredth: who is
    sure counts for more than who is not, and members that are sure and agree give a blend that is as sure, where a mean
    of probabilities is less so [Ranjan & Gneiting 2010]. average="stacked" fits the members without each fold in turn,
    and takes the weights w >= 0 of sum 1 that lower
    sum_n |sum_m w_m P_m(n) - [y_n > k]|^2 + 2 (K-1) |w - 1/M|^2 over the held-out rows [Wolpert 1992; Breiman 1996b];
    the second term keeps them near each other where rows are few.

    Parameters
    ----------
    members : sequence of str, methods or classifiers, or None
        Such as ["ordboost", "rps-forest", REDSVM(C="cv")]; None for those above. A classifier with predict_proba, such
        as lightgbm.LGBMClassifier(), stands for `NominalClassifier(base=...)`.
    average : {"equal", "odds", "stacked"}
        The mean of probabilities, that of log odds, or a weighted mean of probabilities.
    folds : int
        Of "stacked", at least 2.
    cost : str or (K, K) array
        What predicted ranks minimise in expectation: "absolute" gives the median, "classification" the mode. The
        members keep costs of their own.
    n_jobs : int
        Folds, or trees, at work at once in each of the usual members, as threads; -1 for one a processor. The result
        does not depend on it.

    Raises
    ------
    OptionError
        A value outside these, or a member that is none.

    Examples
    --------
    >>> Blend(members=["logit", "rps-forest"])
    Blend(members=('logit', 'rps-forest'))
    """

    members: Sequence[Any] | None = option(None, _members)
    average: str = option("equal", one_of, AVERAGES)
    folds: int = option(5, whole, 2)
    cost: CostField = cost_option()
    n_jobs: int = jobs_option()

    needs: ClassVar[Needs] = cast(Any, NeedsOfValue(Needs()))
    results_class: ClassVar[type[Any]] = BlendResults
    papers: ClassVar[tuple[str, ...]] = (
        "Wolpert, D. H. (1992). Stacked generalization. Neural Networks, 5, 241-259.",
        "Breiman, L. (1996). Stacked regressions. Machine Learning, 24, 49-64.",
        "Ranjan, R. & Gneiting, T. (2010). Combining probability forecasts. Journal of the Royal Statistical Society "
        "B, 72, 71-91.",
    )

    def own_needs(self, needs: Needs) -> Needs:
        """Missing values and categories if all members take them; clusters if there are folds."""
        chosen = self._chosen(len(_USUAL))
        missing, categories = (all(getattr(m.needs, name) for m in chosen) for name in ("missing", "categories"))
        return replace(needs, missing=missing, categories=categories, cluster=self.own_folds)

    @property
    def draws(self) -> bool:
        """Whether a member's fit is a random draw, or members are weighted by random folds."""
        chosen = self.members
        return self.average == "stacked" or chosen is None or any(member("", one, self).draws for one in chosen)

    @property
    def own_folds(self) -> bool:
        """Whether members are weighted by folds, have some themselves, or need some for their probabilities."""
        usual = len(_USUAL) if self.members is None else 0
        return self.average == "stacked" or any(
            one.own_folds or "prob" not in one.results_class.predicts for one in self._chosen(usual)
        )

    @property
    def modal(self) -> bool:
        """Whether the predicted rank is the most probable one."""
        return self.cost == "classification"

    def methods(self, sample: Sample) -> tuple[Method, ...]:
        """The members for a sample."""
        return self._chosen(len(_USUAL) if sample.case_weights.sum() <= _MOST_ROWS else _WITHOUT_KERNELS)

    def _chosen(self, most: int) -> tuple[Method, ...]:
        """The members that were asked for, or so many of the usual ones."""
        if self.members is not None:
            return tuple(member("members", one, self) for one in self.members)
        named = [(cast(Any, member("members", name, self)), more) for name, more in _USUAL[:most]]
        threads = {"n_jobs": self.n_jobs}
        return tuple(replace(one, **more, **(threads if hasattr(one, "n_jobs") else {})) for one, more in named)

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something that this method, or a member, does not support."""
        super().check(sample)
        for one in self.methods(sample):
            one.check(sample if one.keeps_clusters else replace(sample, cluster=None))

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> BlendFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Each member has a generator of its own.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        sample = as_rows(sample)
        methods = self.methods(sample)
        seeds = rng.integers(2**63, size=len(methods))
        stacked = self.average == "stacked"
        tick = ticking(progress, len(methods) * (1 + self.folds * stacked))
        shares, held_out, gap = None, None, 0.0
        if stacked:
            shares, held_out, gap = self._stacked(sample, methods, seeds, rng, tick)
        members, known = list[Exceeding](), list[Method]()
        for one, seed in zip(methods, seeds, strict=True):
            found, settled = settled_member(one, sample, np.random.default_rng(seed))
            members.append(found)
            known.append(_settled(settled, found.fit))
            tick(f"{one!r} fitted")
        many = self.members is None and int(np.count_nonzero(sample.case_weights)) > _MANY_ROWS
        if not stacked and many:
            shares, held_out, gap = self._stacked(sample, known, seeds, rng, lambda _: None, once=True)
        shares = np.full(len(members), 1.0 / len(members)) if shares is None else shares
        mixture = Mixture(members=tuple(members), shares=shares, odds=self.average == "odds" and held_out is None)
        rule = CumulativeRule(mixture, self.cost_matrix)
        above = mixture(sample.rows)
        score = ranked_score(above, sample.y, sample.case_weights)
        return BlendFit(
            rule=rule,
            certificate=_certificate([m.fit for m in members], gap),
            trace=Trace(iterations=len(members), objective=np.array([score]), message=f"{len(members)} members fitted"),
            scores=rule.scores_of(above),
            facts=(
                ("Members", str(len(members))),
                ("Weights", AVERAGES[self.average if held_out is None else "stacked"]),
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
        once: bool = False,
    ) -> tuple[FloatArray, FloatArray, float]:
        """The weights of least score of all folds held out, or of one of them; errors there, and the duality gap."""
        order = np.lexsort([sample.case_weights, *sample.X.T, sample.y])
        order = order[sample.case_weights[order] > 0]
        ordered = sample.take(order)
        alike = np.where(np.isnan(ordered.X), np.inf, ordered.X)  # missing values are
        folds = _FOLDS if once else self.folds
        held = held_weights(alike, ordered.y, ordered.case_weights, folds, rng, ordered.cluster)
        if len(held) == 0:
            raise DataError("Blend needs two rows of some level for average='stacked'. Set average='equal'.")
        above, y, w = [], [], []
        for out in held[: 1 if once else None]:
            part = _weighted(ordered, ordered.case_weights - out)
            rows = np.flatnonzero(out)
            found = []
            for one, seed in zip(methods, seeds, strict=True):
                found.append(fitted_member(one, part, np.random.default_rng(seed))(ordered.rows.take(rows)))
                tick(f"{one!r} fitted without a fold")
            above.append(np.stack(found))
            y.append(ordered.y[rows])
            w.append(out[rows])
        return _weighed(np.concatenate(above, axis=1), np.concatenate(y), np.concatenate(w))


def _settled(one: Method, fit: Fit) -> Method:
    """A method as what it was fitted by has chosen it to be."""
    if isinstance(fit, KernelFit):
        score = cast(Any, fit.rule).potential
        one = replace(cast(Any, one), kernel=score.function.kernel, penalty=fit.penalty)
    elif isinstance(fit, BoostedFit):
        one = replace(cast(Any, one), rounds=max(fit.kept, 1), depth=fit.depth)
    return one


def _weighted(sample: Sample, weights: FloatArray) -> Sample:
    """The rows of positive weight."""
    inside = np.flatnonzero(weights > 0)
    return replace(sample.take(inside), weights=None if sample.weights is None else weights[inside])


def _weighed(above: FloatArray, y: Any, w: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """From P(y > k) of M members at N rows (M, N, K-1): their weights, errors of each and of the blend, the gap."""
    misses = (above - (y[:, None] > np.arange(above.shape[2]))) * np.sqrt(w)[:, None]
    flat = misses.reshape(len(above), -1)
    shares, gap = simplex_weights(flat @ flat.T, 2.0 * above.shape[2])
    every = [*above, np.tensordot(shares, above, axes=1)]
    errors = [(ranked_score(one, y, w), float(w @ np.abs(count_above(one - 0.5) - y) / w.sum())) for one in every]
    return shares, np.array(errors), gap


def _certificate(fits: Sequence[Fit], gap: float) -> Certificate:
    """Whether every member reached its tolerance, and the weights theirs."""
    missed = sum(not fit.certificate.reached for fit in fits)
    details = tuple((f"member {i}: {f.certificate.name}", f.certificate.value) for i, f in enumerate(fits, start=1))
    if gap > _ROUNDING:
        missed += 1
    return Certificate(
        name="members that missed their tolerance",
        value=float(missed),
        tolerance=0.0,
        details=(*details, ("relative duality gap of the weights", gap)),
    )
