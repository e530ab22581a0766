"""Base class of likelihood models for ordered levels: options, checks and the fit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from .._typing import BoolArray, Progress
from ..checks import number, numbers_given, one_of, require_memory, whole
from ..exceptions import DataError, OptionError
from ..fit import Certificate, Trace
from ..formula.random_terms import random_parameters
from ..formula.row_blocks import CACHED, row_blocks
from ..formula.sample import Sample
from ..formula.smooths import ML, REML
from ..formula.sparse import sparse_part
from ..formula.weights import total_of
from ..judging.costs import CostField
from ..method import Method, Supports, cost_option, option, shown_value
from ..mixed.method import (
    MOST_NODES,
    RANDOM_PENALTIES,
    ForNewGroups,
    check_random,
    with_random_effects,
)
from ..threads import one_blas_thread
from .at_estimates import LikelihoodAtEstimates
from .columns import ColumnScales, column_scales
from .divergence import diverging_spreads
from .elastic_net import ElasticNet, check_combined
from .estimate import Estimate, Estimation
from .family import Family
from .fit import LikelihoodFit
from .flexible import FlexibleLink, link_of
from .identification import identified
from .links import Link
from .parameters import planned
from .penalty import MOST_JEFFREYS_LEVELS, Jeffreys, Penalty, Ridge
from .problem import Problem
from .results import LikelihoodResults
from .rows import MOST_SCORED_LEVELS
from .rule import LikelihoodRule
from .threshold_structure import (
    Structure,
    checked_structure,
    threshold_map,
)

if TYPE_CHECKING:
    from ..formula.design import Design
    from ..judging.geometry import Geometry
    from .smoothing import Smoothness

#: Bytes of a row in a fit, as measured: scores and predictors; the terms of rows
#: outside the compiled pass, and the most that blocks of them take.
_ROW_BYTES = 24.0
_TERMS_BYTES = 800.0
_MOST_TERMS_BYTES = 2.0**24
#: Penalties by name; a number is a ridge.
PENALTIES: dict[str, Penalty] = {"jeffreys": Jeffreys()}

#: Answers with a lower and an upper end couple thresholds, so that the information has
#: an entry for each pair of them.
_MOST_COUPLED_LEVELS = 2_000
#: The information matrix of more columns takes minutes for each step of Newton's
#: method.
_MOST_COLUMNS = 5_000
#: Bytes of the information matrix and its factors for each pair of columns.
_PAIR_BYTES = 64.0
#: In other families than cumulative and sequential ones each row has a number for every
#: pair of levels: with more levels a step of Newton's method takes seconds for each
#: thousand rows.
_MOST_PAIRED_LEVELS = 300


def _checked_start(name: str, value: Any, of: Any) -> tuple[float, ...] | None:
    if value is None:
        return None
    values = numbers_given(value)
    if values.ndim != 1 or not np.all(np.isfinite(values)):
        raise OptionError(
            f"start must be a sequence of finite numbers; got {value!r}. Give one for"
            " each estimated parameter."
        )
    return tuple(values.tolist())


def _check_partial(sample: Sample) -> None:
    """Raise an error for censored answers that the fit does not support."""
    if sample.rows.random is not None:
        raise OptionError(
            "Random terms must go with exact answers; some are censored. Leave the"
            " term out, and give its groups as cluster=."
        )
    if sample.n_levels > _MOST_COUPLED_LEVELS and sample.between().any():
        raise DataError(
            "A response with answers between two values must have at most"
            f" {_MOST_COUPLED_LEVELS:,} levels; this one has {sample.n_levels:,}. Round"
            " the response."
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalRegression(Method):
    """Base class of models fitted by maximum likelihood: location, nominal and
    log-scale effects, a link, threshold structures.

    A concrete class in `clm.py` or `other_models.py` sets `family`; its docstring lists
    the options.
    """

    link: str | tuple[str, float] = "logit"
    threshold: Structure = option("flexible", checked_structure)
    penalty: float | str | ElasticNet | None = None
    start: tuple[float, ...] | None = option(None, _checked_start)
    cost: CostField = cost_option("classification")
    max_iter: int = option(100, whole, 1)
    tol: float = option(1e-6, number, above=0.0, most=1.0)
    quadrature: int = option(1, whole, 1, MOST_NODES)
    random_penalty: str | None = option(None, one_of, RANDOM_PENALTIES)
    smoothness: str = option(REML, one_of, (REML, ML))

    family: ClassVar[type[Family]]
    supports: ClassVar[Supports] = Supports(
        nominal=True,
        scale=True,
        random=True,
        offset=True,
        cluster=True,
        smooth=True,
        stepped=True,
        absent_levels=True,
        decisions=True,
    )
    results_class: ClassVar[type[Any]] = LikelihoodResults
    likelihood: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        latent = self._latent()
        link: str | tuple[str, float] = latent.name
        if isinstance(latent, Link) and latent.lam is not None:
            link = (latent.name, latent.lam)
        self._settle(link=link, penalty=self._checked_penalty(latent))

    @property
    def elastic_net(self) -> ElasticNet | None:
        """The penalty, if it is an elastic net with a path of lambda."""
        return self.penalty if isinstance(self.penalty, ElasticNet) else None

    @property
    def takes_sparse(self) -> bool:
        return self.elastic_net is not None and not self.supports.by_level

    @property
    def sparse_instead(self) -> str:
        if self.supports.by_level:
            return super().sparse_instead
        return ", or give a penalty, such as penalty=1.0 or penalty=ElasticNet()"

    def for_sparse(self, total: float) -> OrdinalRegression:
        penalty = _penalty(self.penalty) if self.elastic_net is None else None
        if not isinstance(penalty, Ridge):
            return self
        lam = penalty.weight / total
        net = ElasticNet(l1_ratio=0.0, lambdas=(lam,), choose=lam)
        return replace(self, penalty=net)

    @property
    def selects(self) -> bool:
        return self.elastic_net is not None and self.elastic_net.cv is not None

    def check_constraints(self, asked: Any) -> None:
        if self.elastic_net is None:
            super().check_constraints(asked)

    def marked(self, design: Design) -> Design:
        return design if self.elastic_net is None else self.elastic_net.marked(design)

    def check(self, sample: Sample) -> None:
        if self.elastic_net is None:
            super().check(sample)
        else:
            super().check(replace(sample, signs=None))
            check_combined(self, sample)
        if sample.highest is not None:
            _check_partial(sample)
        if sample.smooths is not None:
            from .smoothing import check_smooths

            check_smooths(self, sample)
        elif self.smoothness != REML:
            raise self.unsupported(
                f"smoothness={self.smoothness!r} without smooth terms"
            )
        if sample.stepped is not None and self.elastic_net is None:
            from .monotone import check_monotone

            check_monotone(self, sample)
        if self._forms_information(sample):
            self._check_columns(sample)
        free = self.link if isinstance(self._latent(), FlexibleLink) else None
        check_random(
            sample,
            self.random_penalty,
            self.quadrature,
            **{
                "penalty=": self.penalty,
                "start=": self.start,
                "a free parameter of link=": free,
            },
        )

    def _forms_information(self, sample: Sample) -> bool:
        """Whether the fit has a matrix with an entry for each pair of columns."""
        if sparse_part(sample.X) is not None:
            return False
        net = self.elastic_net
        wide = sample.X.shape[1] > sample.n
        return net is None or (net.l1_ratio == 0.0 and not wide)

    def _check_columns(self, sample: Sample) -> None:
        """DataError for more columns than the available time and memory allow."""
        n, p = sample.X.shape
        ridge = None if self.elastic_net is not None else _penalty(self.penalty)
        instead = "a lasso, penalty=ElasticNet()"
        if isinstance(ridge, Ridge) and p > n:
            lam = ridge.weight / sample.case_weights.sum()
            instead = f"the same ridge as ElasticNet(l1_ratio=0, lambdas={lam:.6g})"
        instead = f"Choose fewer columns, or give {instead}."
        if p > _MOST_COLUMNS:
            raise DataError(
                f"{type(self).__name__} takes at most {_MOST_COLUMNS:,} columns; got"
                f" {p:,}. {instead}"
            )
        require_memory(f"The information of {p:,} columns", _PAIR_BYTES * p**2, instead)

    def check_size(self, sample: Sample) -> None:
        """Raise an error for too many levels for the available time and memory."""
        n_levels = sample.n_levels
        jeffreys = self.penalty == Jeffreys().text
        if jeffreys and n_levels > MOST_JEFFREYS_LEVELS:
            raise DataError(
                f"penalty='jeffreys' takes at most {MOST_JEFFREYS_LEVELS} levels, as"
                " each step takes differences in pairs of thresholds; got"
                f" {n_levels:,}. Use a ridge (penalty=1.0), or round the response."
            )
        if not self.family.banded and n_levels > _MOST_PAIRED_LEVELS:
            raise DataError(
                f"{type(self).__name__} takes at most {_MOST_PAIRED_LEVELS} levels, as"
                f" each row takes time by pairs of them; got {n_levels:,}. Use"
                " method='clm', or round the response."
            )
        if sample.rows.random is not None:
            require_memory(
                f"The information of {n_levels} levels",
                8.0 * n_levels**2,
                "Join levels, or leave the random effects out.",
            )

    def memory(self, sample: Sample) -> float:
        """Bytes of the information matrix, if it is not banded, and of the terms of the
        rows that are summed at a time.
        """
        size = _ROW_BYTES * sample.n
        independent = sample.rows.random is None
        banded = self.family.banded
        compiled = False
        link = self._latent()
        if isinstance(link, Link):
            scored = self.family_at(link).level_scores is not None
            few = sample.n_levels <= MOST_SCORED_LEVELS
            compiled = banded or (scored and few)
        if not (compiled and independent and sample.rows.one_scale):
            size += min(_TERMS_BYTES * sample.n, _MOST_TERMS_BYTES)
        if not (banded and independent):
            size += 8.0 * sample.n_levels**2
        return size

    def parameter_names(self, design: Design) -> list[str]:
        levels = design.levels.values
        present = design.sample.counts() > 0.0
        structure = threshold_map(self.threshold, int(present.sum()) - 1)
        fixed = planned(
            design,
            self.family.threshold_names(levels),
            () if structure is None else structure.names,
            *self._others(present),
        )
        random = [
            record.name
            for term in design.random
            for record in random_parameters(term, design.spec.codings)
        ]
        return fixed.names + random

    def _others(self, present: BoolArray) -> tuple[int, bool]:
        """How many parameters come after the effects, and whether these are scores of
        levels.
        """
        return int(isinstance(self._latent(), FlexibleLink)), False

    def results_for(self, sample: Sample) -> type[Any]:
        if self.elastic_net is not None:
            from .path_results import PathResults

            return PathResults
        if sample.stepped is not None:
            from .monotone_results import MonotoneResults

            return MonotoneResults
        if sample.rows.random is None:
            return self.results_class
        from ..mixed.results import MixedResults

        return MixedResults

    def for_new_groups(self) -> ForNewGroups:
        """The method whose fits predict averages over the random effects."""
        return ForNewGroups(cast(Any, self))

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> LikelihoodFit:
        self.check(sample)
        with one_blas_thread(float(sample.n) * sample.X.shape[1] ** 2):
            if self.elastic_net is not None:
                from .elastic_path import fit_along

                return fit_along(self, sample, rng, progress)
            return self.maximum(sample, self.problem(sample))

    @property
    def refuses_crossing(self) -> bool:
        """Whether rows with crossing thresholds raise an error instead of a warning."""
        return False

    @property
    def ridge(self) -> bool:
        """Whether a penalty determines effects that the data leave undetermined."""
        if self.elastic_net is not None:
            return True
        penalty = _penalty(self.penalty)
        return penalty is not None and penalty.determines

    def without_random_effects(self) -> Self:
        """The method without the options of random effects."""
        return replace(self, quadrature=1, random_penalty=None)

    def unstarted(self) -> Self:
        """The method without starting values, which suit one fit only."""
        return replace(self, start=None)

    def _latent(self) -> Link | FlexibleLink:
        """The link, or the family of links whose parameter is estimated."""
        if isinstance(self.link, (tuple, list)) and len(self.link) == 2:
            return link_of(*self.link)
        return link_of(self.link, None)

    def family_at(self, link: Link) -> Family:
        """The family at a link."""
        return self.family(link)

    def problem(
        self, sample: Sample, columns: tuple[ColumnScales, ColumnScales] | None = None
    ) -> Problem:
        """The maximisation problem; `columns` as in `Problem.of`."""
        link = self._latent()
        flexible = None
        if isinstance(link, FlexibleLink):
            flexible = link
            link = flexible.at(flexible.start)
        return Problem.of(
            sample, self.family_at(link), flexible, self.threshold, columns, self.ridge
        )

    def maximum(self, sample: Sample, problem: Problem) -> LikelihoodFit:
        """The fit that maximises a problem of a sample."""
        cost = self.cost_matrix
        if not isinstance(cost.value, str):
            cost.matrix(sample.n_levels)  # raises where its size is not K x K
        by = Estimation(
            penalty=_penalty(self.penalty),
            start=self.start,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        smooths = None
        if sample.smooths is not None:
            from .smoothing import smooth_estimate

            estimate, smooths = smooth_estimate(by, problem, sample, self.smoothness)
        elif sample.stepped is not None:
            from .monotone import monotone_estimate

            estimate = monotone_estimate(self, by, problem, sample)
        else:
            estimate = by.of(identified(problem, self.ridge))
        problem = estimate.problem
        structure = problem.structure
        n_beta = problem.location.kept.size
        n_zeta = problem.scale.kept.size
        fields: dict[str, Any] = {  # random effects do not change these
            "facts": self.facts(),
            "n_alpha": problem.estimated.size - n_beta - n_zeta - problem.n_lambda,
            "n_beta": n_beta,
            "n_zeta": n_zeta,
            "n_lambda": problem.n_lambda,
            "aliased": ~problem.estimated,
            "null_loglik": estimate.estimation.null_loglik(problem),
            "null_edf": problem.user.c.size + int(problem.flexible is not None),
            "n_obs": total_of(problem.counts),
            "determined": estimate.determined,
            "confounded": problem.confounded,
            "smooths": smooths,
        }
        if structure is not None:
            fields["threshold_names"] = structure.names
            fields["jacobian"] = problem.over_levels(structure.jacobian, 0.0)
        if sample.rows.random is None:
            return self._independent(sample, estimate, fields)
        options = self.quadrature, self.max_iter, self.random_penalty
        return with_random_effects(sample, estimate, cost, *options, fields)

    def _independent(
        self, sample: Sample, estimate: Estimate, fields: dict[str, Any]
    ) -> LikelihoodFit:
        """The fit of independent rows."""
        problem = estimate.problem
        optimum = estimate.optimum
        coefficients = estimate.coefficients
        rule = problem.rule(coefficients, estimate.family, self.cost_matrix)
        return LikelihoodFit(
            **fields,
            rule=rule,
            certificate=_certificate(estimate, fields["smooths"]),
            trace=Trace(
                iterations=optimum.logliks.size - 1,
                objective=optimum.logliks,
                message=optimum.message,
                stopped=optimum.stopped,
            ),
            scores=rule.scores(sample.rows),
            coefficients=problem.with_aliased(coefficients),
            rule_slopes=problem.rule_slopes(coefficients),
            model_covariance=estimate.model_covariance(),
            loglik=estimate.loglik(),
            higher_by=estimate.start.higher_by,
            diverging_elsewhere=_diverging_elsewhere(estimate),
            likelihood=LikelihoodAtEstimates(
                estimation=estimate.estimation,
                problem=replace(problem),  # without cached values
                threshold=self.threshold,
                estimates=coefficients,
                determined=estimate.determined,
                searched=estimate.searched_spreads,
            ),
        )

    def _checked_penalty(
        self, latent: Link | FlexibleLink
    ) -> float | str | ElasticNet | None:
        if isinstance(self.penalty, ElasticNet):
            return self.penalty
        penalty = _penalty(self.penalty)
        if isinstance(penalty, Jeffreys) and isinstance(latent, FlexibleLink):
            raise OptionError(
                "penalty='jeffreys' needs a link without a parameter to estimate: give"
                f" it as in ({latent.name!r}, 0.5), choose another link, or a ridge"
                " penalty."
            )
        if isinstance(penalty, Jeffreys) and not self.family.local:
            raise OptionError(
                "penalty='jeffreys' must go with a cumulative link model; got"
                f" {type(self).__name__}. Use a ridge penalty, such as penalty=1.0."
            )
        if isinstance(penalty, Ridge):
            return penalty.weight
        return None if penalty is None else penalty.text

    @property
    def penalised(self) -> bool:
        """Whether the estimates maximise a penalised likelihood."""
        return self.penalty is not None or self.random_penalty is not None

    @property
    def link_text(self) -> str:
        """The link as it is printed."""
        if isinstance(self.link, str):
            return self.link
        name, lam = self.link
        return f"{name}, lambda = {lam:g}"

    def facts(self) -> tuple[tuple[str, Any], ...]:
        """Header lines of the summary that these methods share."""
        threshold = self.threshold
        if not isinstance(threshold, str):
            threshold = shown_value(threshold)
        facts: tuple[tuple[str, Any], ...] = (
            ("link", self.link_text),
            ("threshold", threshold),
        )
        if self.elastic_net is not None:
            return (*facts, ("penalty", self.elastic_net.text))
        penalty = _penalty(self.penalty)
        return facts if penalty is None else (*facts, ("penalty", penalty.text))

    def geometry(self, sample: Sample, fit: LikelihoodFit) -> Geometry | None:  # type: ignore[override]
        """Linear kernel on the columns centred and divided by their deviation; None
        with other effects or an offset.
        """
        from ..judging.geometry import BallGeometry

        rows = sample.rows
        rule = fit.rule
        plain = (
            sparse_part(rows.X) is None
            and sample.smooths is None
            and rows.one_scale
            and rows.offset is None
            and self.family.ordered
        )
        if not plain or not isinstance(rule, LikelihoodRule):
            return None
        # aliased effects are 0
        columns = column_scales(rows.X, sample.weights, ridge=True)
        mean = columns.mean
        deviation = columns.deviation
        used = rule.beta != 0.0
        lengths = np.empty(sample.n)
        for some in row_blocks(sample.n, rule.beta.size, CACHED):
            scaled = (rows.X[some, used] - mean[used]) / deviation[used]
            lengths[some] = np.einsum("np,np->n", scaled, scaled)
        return BallGeometry(
            norm=float(np.linalg.norm(rule.beta[used] * deviation[used])),
            squared_lengths=lengths,
            theta=rule.alpha[:, 0] - float(mean @ rule.beta),
            # From the mean squared length of standardised columns: bounds need a radius
            # fixed before the data.
            radius=math.sqrt(rows.X.shape[1] + 1.0),
        )


def _penalty(given: Any) -> Penalty | None:
    """The penalty that an option names."""
    if given is None:
        return None
    if isinstance(given, str) and given.lower() in PENALTIES:
        return PENALTIES[given.lower()]
    return Ridge(
        number(
            "penalty",
            given,
            above=0.0,
            also=f" (ridge), {', '.join(map(repr, PENALTIES))}, an ElasticNet or None",
        )
    )


def _certificate(estimate: Estimate, smooths: Smoothness | None) -> Certificate:
    """How far the score is from 0."""
    optimum = estimate.optimum
    details: list[tuple[str, Any]] = [("iterations", optimum.logliks.size - 1)]
    start = estimate.start
    if start.higher is not None:
        details.append(("log-likelihood elsewhere, higher by", start.higher_by))
    name = "max |gradient|"
    if smooths is not None:
        name = "step left, in standard errors"
    if estimate.problem.sample.stepped is not None:
        name = "max |score of one case| under the constraints"
    return Certificate(
        name=name,
        value=estimate.residual,
        tolerance=optimum.tolerance,
        details=tuple(details),
        information=optimum.information,
    )


def _diverging_elsewhere(estimate: Estimate) -> BoolArray | None:
    """(P,) the log-scale effects that diverge where the likelihood was higher, or else
    all parameters; None if it was nowhere higher.
    """
    higher = estimate.start.higher
    if higher is None:
        return None
    moving = diverging_spreads(estimate.problem, higher)
    if not moving.any():
        moving = np.ones_like(moving)
    moves = estimate.problem.with_aliased(moving.astype(np.float64))
    return np.asarray(moves == 1.0)
