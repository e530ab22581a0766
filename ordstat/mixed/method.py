"""Random effects in a likelihood fit: checks of the options, and the fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..checks import require_memory
from ..exceptions import DataError, OptionError
from ..fit import Certificate, Trace
from ..formula.random_rows import check_whole_groups
from ..formula.sample import Sample
from ..judging.costs import CostMatrix
from ..likelihood.estimate import Estimate
from ..likelihood.fit import LikelihoodFit
from ..likelihood.user_scale import CovarianceMatrix
from ..newton import Ended

if TYPE_CHECKING:
    from .estimate import MarginalLikelihood

#: The largest number of quadrature nodes.
MOST_NODES = 100
#: The largest component of the gradient of a fit that has reached its maximum.
TOLERANCE = 1e-6
#: Most crossed effects besides the largest term; the time of elimination grows with the
#: cube of their number.
_MOST_CROSSED = 10_000
#: Penalties of the covariances of random effects, and the name in the summary.
RANDOM_PENALTIES = ("gamma", None)
GAMMA = "gamma(2, 0) on random effects"


def check_random(
    sample: Sample, penalty: str | None, quadrature: int, **options: Any
) -> None:
    """Raise OptionError for options that random effects do not support, and for options
    that need random effects.
    """
    if sample.rows.random is None:
        for name, value, default in (
            ("quadrature", quadrature, 1),
            ("random_penalty", penalty, None),
        ):
            if value != default:
                raise OptionError(
                    f"{name}={value!r} needs random effects, and the formula has none:"
                    f" add a term such as (1 | group), or leave {name}= out."
                )
        return
    for name, value in options.items():
        if value is not None:
            raise OptionError(
                f"{name} must be left out where the formula has random effects; got"
                f" {value!r}."
            )
    if sample.cluster is not None:
        check_whole_groups(sample.rows.random, sample.cluster)
    if len(sample.rows.random.terms) > 1:
        _check_crossed(sample)


def _check_crossed(sample: Sample) -> None:
    """DataError if the dense matrix of the crossed effects besides the largest term is
    too large.
    """
    from .blocks import Structure

    assert sample.rows.random is not None
    terms = sorted(
        (term.with_independent_effects() for term in sample.rows.random.terms),
        key=lambda term: (-term.n_groups, -term.q),
    )
    effects = sum(term.size for term in terms[1:])
    if effects > 1000 and not Structure.of(terms).nested:
        instead = "Write nested groups as (1 | a/b), leave a term out, or join groups."
        if effects > _MOST_CROSSED:
            raise DataError(
                f"crossed random effects must be at most {_MOST_CROSSED:,}; got"
                f" {effects:,}. {instead}"
            )
        require_memory(
            f"The matrix of {effects:,} crossed random effects",
            40.0 * effects**2,
            instead,
        )


def with_random_effects(
    sample: Sample,
    plain: Estimate,
    cost: CostMatrix,
    quadrature: int,
    max_iter: int,
    penalty: str | None,
    shared: dict[str, Any],
) -> LikelihoodFit:
    """The fit with random effects, from the estimates without.

    Parameters
    ----------
    sample : Sample
    plain : Estimate
        Without random effects.
    cost : CostMatrix
    quadrature : int
    max_iter : int
    penalty : "gamma" or None
        Penalty of the covariances of random effects.
    shared : dict
        Fields of the fit that do not depend on the random effects.

    Raises
    ------
    DataError
        A spread diverges, with or without random effects.
    """
    from .estimate import marginal_of, mixed_estimate, spreads_diverge

    problem = plain.problem
    if plain.determined is not None and plain.determined.divergence.size:
        raise _diverging_spreads("without")
    held = None if plain.determined is None else plain.determined.moves
    start = plain.optimum.x if plain.searched is None else plain.searched
    likelihood, end, boundaries = mixed_estimate(
        problem, start, quadrature, max_iter, penalty, held
    )
    if spreads_diverge(problem, likelihood):
        raise _diverging_spreads("with")
    marginal = marginal_of(likelihood, boundaries, plain.loglik())
    if marginal.certain:
        marginal = replace(
            marginal, covariance=np.full_like(marginal.covariance, np.nan)
        )
    rule = problem.rule(
        likelihood.fixed,
        plain.family,
        cost,
        tuple(term.modes for term in marginal.terms),
    )
    size = likelihood.model.n_fixed
    covariance = CovarianceMatrix(marginal.covariance[:size, :size], plain.infinite)
    facts = () if penalty is None else (("penalty", GAMMA),)
    return LikelihoodFit(
        **{**shared, "facts": (*shared["facts"], *facts)},
        rule=rule,
        certificate=_certificate(likelihood),
        trace=Trace(
            iterations=len(end.logliks) - 1,
            objective=np.array(end.logliks),
            message=end.ended.value,
            stopped=end.ended is Ended.MOST_ITERATIONS,
        ),
        scores=rule.scores(sample.rows),
        coefficients=problem.with_aliased(likelihood.fixed),
        model_covariance=covariance,
        loglik=likelihood.loglik,
        marginal=marginal,
        likelihood=cast(Any, likelihood),
    )


def _diverging_spreads(random: str) -> DataError:
    """The error where a log-scale effect has no estimate."""
    return DataError(
        "scale must have effects with finite estimates in a model with random effects;"
        f" {random} random effects the likelihood has no maximum, as the spread of some"
        " rows goes to 0 or to infinity, or changes nothing. Drop that effect or merge"
        " its levels; the fit without random effects names it."
    )


def _certificate(likelihood: MarginalLikelihood) -> Certificate:
    """How far the integrated likelihood is from its maximum."""
    gradient = likelihood.at.gradient[likelihood.free]
    modes = float(np.sqrt(max(likelihood.at.decrement, 0.0)))
    return Certificate(
        name="max |gradient|",
        value=float(np.abs(gradient).max(initial=0.0)),
        # sums over very many rows are rounded
        tolerance=max(TOLERANCE, 1e-14 * abs(likelihood.loglik)),
        details=(
            ("gradient of the modes", modes),
            ("smallest eigenvalue of the information", likelihood.smallest_eigenvalue),
        ),
    )


@dataclass(frozen=True, eq=False)
class ForNewGroups:
    """A method whose fits predict averages over the random effects."""

    method: Any

    @property
    def cost(self) -> Any:
        return self.method.cost

    @property
    def supports(self) -> Any:
        return self.method.supports

    def with_cost(self, cost: Any) -> ForNewGroups:
        """The same method with another cost."""
        return ForNewGroups(self.method.with_cost(cost))

    def fit(self, sample: Sample, rng: np.random.Generator) -> LikelihoodFit:
        """Fit to a sample, without its clusters and unused groups."""
        from .predictions import over_population

        random = sample.rows.random
        assert random is not None
        rows = replace(sample.rows, random=random.renumbered())
        return over_population(
            self.method.fit(replace(sample, rows=rows, cluster=None), rng)
        )
