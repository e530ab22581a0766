"""Averages of probability models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray, Progress
from ..checks import one_of, whole
from ..exceptions import DataError, OptionError
from ..model.boosted.fit import BoostedFit
from ..model.costs import CostField
from ..model.cumulative_rule import CumulativeRule, ranked_score
from ..model.ensembles.probability_fit import BlendFit, Mixture
from ..model.fit import Certificate, Fit, Trace
from ..model.kernels.fit import KernelFit
from ..model.rules import count_above
from ..model.sample import Sample
from ..results.rankers.blend import BlendResults
from ..solvers.simplex import simplex_weights
from .base import Method, Needs, NeedsOfValue, cost_option, jobs_option, option
from .shared.folds import as_rows, held_weights
from .shared.members import Exceeding, fitted_member, member, settled_member
from .shared.selection import ticking

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
        return tuple(replace(one, n_jobs=self.n_jobs, **more) for one, more in named)

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
