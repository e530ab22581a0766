"""What likelihood methods share: options, the fit, its geometry. A method adds a family."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..._typing import FloatArray, Progress
from ...checks import number, one_of, one_spelled, whole
from ...exceptions import OptionError
from ...model.costs import CostField
from ...model.fit import BallGeometry, Certificate, Geometry, Trace
from ...model.likelihood.family import Family
from ...model.likelihood.flexible import FlexibleLink, link_of
from ...model.likelihood.links import Link
from ...model.likelihood.rule import LikelihoodRule
from ...model.likelihood.thresholds import THRESHOLDS
from ...model.likelihood_fit import Information, LikelihoodFit
from ...model.row_blocks import CACHED, row_blocks
from ...model.sample import Sample
from ...results.likelihood.results import LikelihoodResults
from ...solvers.likelihood.at_estimates import LikelihoodAtEstimates
from ...solvers.likelihood.blocks import condition_number
from ...solvers.likelihood.column_rank import survey
from ...solvers.likelihood.estimate import Estimate, Estimation
from ...solvers.likelihood.identified import identified
from ...solvers.likelihood.jeffreys import Jeffreys
from ...solvers.likelihood.layout import Layout
from ...solvers.likelihood.penalty import Penalty, Ridge
from ...solvers.likelihood.problem import Problem
from ...solvers.likelihood.user_scale import in_order
from ...solvers.threads import one_blas_thread
from ..base import Method, Needs, cost_option, option
from .digits import correct_digits
from .mixed import RANDOM_PENALTIES, check_random, checked_quadrature, with_random_effects

#: Penalties by name; a number is a ridge.
PENALTIES: dict[str, Penalty] = {"jeffreys": Jeffreys()}


def _checked_start(name: str, given: Any, of: Any) -> tuple[float, ...] | None:
    if given is None:
        return None
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.ndim != 1 or not np.all(np.isfinite(values)):
        raise OptionError(f"start must be a sequence of finite numbers; got {given!r}.")
    return tuple(values.tolist())


@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalRegression(Method):
    """Maximum likelihood under a family: location, nominal and log-scale effects, a link, threshold structures.

    A concrete class names its `family`; its docstring lists the options.
    """

    link: str | tuple[str, float] = "logit"
    threshold: str = option("flexible", lambda name, value, of: one_spelled(name, value, THRESHOLDS))
    penalty: float | str | None = None
    start: tuple[float, ...] | None = option(None, _checked_start)
    cost: CostField = cost_option("classification")
    max_iter: int = option(100, whole, 1)
    tol: float = option(1e-6, number, above=0.0)
    quadrature: int | str = option(1, checked_quadrature)
    random_penalty: str | None = option(None, one_of, RANDOM_PENALTIES)

    family: ClassVar[type[Family]]
    needs: ClassVar[Needs] = Needs(nominal=True, scale=True, random=True, offset=True, cluster=True, absent_levels=True)
    results_class: ClassVar[type[Any]] = LikelihoodResults
    likelihood: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        latent = self._latent()
        link = latent.name if isinstance(latent, FlexibleLink) or latent.lam is None else (latent.name, latent.lam)
        self._settle(link=link, penalty=self._checked_penalty(latent))

    def check(self, sample: Sample) -> None:
        super().check(sample)
        free = self.link if isinstance(self._latent(), FlexibleLink) else None
        check_random(
            sample,
            self.random_penalty,
            self.quadrature,
            **{"penalty=": self.penalty, "start=": self.start, "a free parameter of link=": free},
        )

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> LikelihoodFit:
        self.check(sample)
        with one_blas_thread(float(sample.n) * sample.X.shape[1] ** 2):
            return self._fit(sample)

    @property
    def refuses_crossing(self) -> bool:
        """Whether rows with thresholds out of order are an error, rather than a warning."""
        return False

    def at_nodes(self, nodes: int) -> Self:
        """The method with random effects integrated out by so many nodes."""
        return replace(self, quadrature=nodes)

    def without_random_effects(self) -> Self:
        """The method without the options of random effects."""
        return replace(self, quadrature=1, random_penalty=None)

    def _latent(self) -> Link | FlexibleLink:
        """The link, or the family of links whose parameter is estimated."""
        if isinstance(self.link, (tuple, list)) and len(self.link) == 2:
            return link_of(*self.link)
        return link_of(self.link, None)

    @property
    def _estimation(self) -> Estimation:
        return Estimation(penalty=_penalty(self.penalty), start=self.start, tol=self.tol, max_iter=self.max_iter)

    def _problem(self, sample: Sample) -> Problem:
        latent = self._latent()
        flexible = latent if isinstance(latent, FlexibleLink) else None
        link = latent.at(latent.start) if isinstance(latent, FlexibleLink) else latent
        return identified(Problem.of(sample, self.family(link), flexible, self.threshold))

    def _fit(self, sample: Sample) -> LikelihoodFit:
        cost = self.cost_matrix
        if not isinstance(cost.value, str):
            cost.matrix(sample.n_levels)  # raises where its size is not K x K
        found = self._estimation.of(self._problem(sample))
        layout = Layout.of(found.problem)
        known = {"facts": self._facts(), **self._known(found, layout)}
        if sample.rows.random is None:
            return self._independent(sample, found, layout, known)
        asked = self.quadrature, self.max_iter, self.random_penalty
        return with_random_effects(sample, found, layout, cost, *asked, known)

    def _known(self, found: Estimate, layout: Layout) -> dict[str, Any]:
        """Fields of a fit that random effects leave as they are."""
        problem = found.problem
        return {
            "n_alpha": layout.n_alpha,
            "n_beta": layout.n_beta,
            "n_zeta": layout.n_zeta,
            "n_lambda": layout.n_lambda,
            "aliased": ~layout.estimated,
            "null_loglik": self._estimation.null_loglik(problem),
            "null_edf": problem.n_null_parameters,
            "n_obs": float(problem.counts.sum()),
            "separation": None if found.separation is None else np.nan_to_num(layout.spread(found.separation)),
            "threshold_names": () if layout.structure is None else layout.structure.names,
            "jacobian": layout.jacobian,
            "confounded": layout.confounded(problem.confounded),
        }

    def _independent(self, sample: Sample, found: Estimate, layout: Layout, known: dict[str, Any]) -> LikelihoodFit:
        """The fit of independent rows."""
        problem, optimum = found.problem, found.optimum
        alpha, rest = problem.user_scale().coefficients(optimum.alpha, optimum.rest)
        rule = layout.rule(alpha, rest, found.family, self.cost_matrix)
        information = found.information()
        digits, estimates = _digits(problem, found, information), in_order(alpha, rest)
        return LikelihoodFit(
            **known,
            rule=rule,
            certificate=Certificate(
                name="max |gradient|",
                value=found.residual,
                tolerance=optimum.tolerance,
                details=(
                    ("condition number", condition_number(optimum.information, optimum.factor)),
                    ("iterations", optimum.iterations),
                    ("correct digits", int(digits.min())),
                ),
            ),
            trace=Trace(iterations=optimum.iterations, objective=optimum.logliks, message=optimum.message),
            scores=rule.scores(sample.rows),
            coefficients=layout.spread(estimates),
            information=information,
            digits=layout.spread(digits),
            loglik=found.loglik(),
            likelihood=LikelihoodAtEstimates(
                estimation=self._estimation,
                problem=replace(problem),  # without the columns that it has made
                threshold=self.threshold,
                estimates=estimates,
                separation=found.separation,
            ),
        )

    def _checked_penalty(self, latent: Link | FlexibleLink) -> float | str | None:
        penalty = _penalty(self.penalty)
        if isinstance(penalty, Jeffreys) and isinstance(latent, FlexibleLink):
            raise OptionError(
                "penalty='jeffreys' needs a link without a parameter to estimate: give it as in "
                f"({latent.name!r}, 0.5), choose another link, or a ridge penalty."
            )
        if isinstance(penalty, Jeffreys) and not self.family.local:
            raise OptionError(
                f"penalty='jeffreys' must go with a cumulative link model; got {type(self).__name__}. "
                "Use a ridge penalty, such as penalty=1.0."
            )
        return penalty.weight if isinstance(penalty, Ridge) else None if penalty is None else penalty.text

    def _facts(self) -> tuple[tuple[str, Any], ...]:
        link = self.link if isinstance(self.link, str) else f"{self.link[0]}, lambda = {self.link[1]:g}"
        facts: tuple[tuple[str, Any], ...] = (("link", link), ("threshold", self.threshold))
        penalty = _penalty(self.penalty)
        return facts if penalty is None else (*facts, ("penalty", penalty.text))

    def geometry(self, sample: Sample, fit: LikelihoodFit) -> Geometry | None:  # type: ignore[override]
        """Linear kernel on the columns centred and divided by their deviation; None with other parts or an offset."""
        rows, rule = sample.rows, fit.rule
        parts = (rows.nominal, rows.scale, rows.offset, rows.scale_offset)
        if not self.family.ordered or any(part is not None for part in parts) or not isinstance(rule, LikelihoodRule):
            return None
        found = survey(rows.X, sample.weights)
        mean, deviation = found.mean, found.deviation
        used = (rule.beta != 0.0) & found.kept
        lengths = np.empty(sample.n)
        for some in row_blocks(sample.n, rule.beta.size, CACHED):
            scaled = (rows.X[some, used] - mean[used]) / deviation[used]
            lengths[some] = np.einsum("np,np->n", scaled, scaled)
        return BallGeometry(
            norm=float(np.linalg.norm(rule.beta[used] * deviation[used])),
            squared_lengths=lengths,
            theta=rule.alpha[:, 0] - float(mean @ rule.beta),
            # The mean squared length of standardised columns: known before the data are, as the bounds require.
            radius=math.sqrt(rows.X.shape[1] + 1.0),
        )


def _penalty(given: Any) -> Penalty | None:
    """The value that an option stands for."""
    if given is None:
        return None
    named = PENALTIES.get(given.lower()) if isinstance(given, str) else None
    if named is not None:
        return named
    names = ", ".join(map(repr, PENALTIES))
    return Ridge(number("penalty", given, above=0.0, also=f" (ridge), {names} or None"))


def _digits(problem: Problem, found: Estimate, information: Information) -> FloatArray:
    """(P',) correct significant digits of each estimate, from the Newton step left over and rounding."""
    user, optimum = problem.user_scale(), found.optimum
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a fit that has run off has none
        estimate = in_order(*user.coefficients(optimum.alpha, found.optimum.rest))
        step = in_order(*user.coefficients(optimum.step_alpha, optimum.step_rest))
        rounding = in_order(*user.rounding(optimum.alpha, found.optimum.rest))
        return correct_digits(estimate, np.abs(step) + rounding, information)
