"""Random effects in a likelihood fit: what they go with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ..checks import require_memory
from ..exceptions import DataError, OptionError
from ..fit import Certificate, Trace
from ..formula.sample import Sample, check_whole_groups
from ..judging.costs import CostMatrix
from ..likelihood.estimate import Estimate, correct_digits
from ..likelihood.fit import LikelihoodFit
from ..likelihood.problem import CovarianceMatrix

#: The largest number of quadrature nodes.
MOST_NODES = 100
#: The largest component of the gradient of a fit that has reached its maximum.
TOLERANCE = 1e-6
#: Crossed effects beside the largest term: an elimination of more takes many minutes, by the cube of their number.
_MOST_CROSSED = 10_000
#: Penalties of the covariances of random effects, and one in a summary.
RANDOM_PENALTIES = ("gamma", None)
GAMMA = "gamma(2, 0) on random effects"


def check_random(sample: Sample, penalty: str | None, quadrature: int, **options: Any) -> None:
    """OptionError where random effects meet what they do not go with, or their own options meet none."""
    if sample.rows.random is None:
        for name, value, default in (("quadrature", quadrature, 1), ("random_penalty", penalty, None)):
            if value != default:
                raise OptionError(
                    f"{name}={value!r} needs random effects, and the formula has none: add a term such as (1 | group), "
                    f"or leave {name}= out."
                )
        return
    for name, value in options.items():
        if value is not None:
            raise OptionError(f"{name} must be left out where the formula has random effects; got {value!r}.")
    if sample.cluster is not None:
        check_whole_groups(sample.rows.random, sample.cluster)
    if len(sample.rows.random.terms) > 1:
        _check_crossed(sample)


def _check_crossed(sample: Sample) -> None:
    """DataError if the dense matrix of the crossed effects beside the largest term is too large."""
    from .blocks import Structure

    assert sample.rows.random is not None
    terms = sorted((term.spelt_out() for term in sample.rows.random.terms), key=lambda term: (-term.n_groups, -term.q))
    effects = sum(term.size for term in terms[1:])
    if effects > 1000 and not Structure.of(terms).nested:
        instead = "Write nested groups as (1 | a/b), leave a term out, or join groups."
        if effects > _MOST_CROSSED:
            raise DataError(f"crossed random effects must be at most {_MOST_CROSSED:,}; got {effects:,}. {instead}")
        require_memory(f"The matrix of {effects:,} crossed random effects", 40.0 * effects**2, instead)


def with_random_effects(
    sample: Sample,
    plain: Estimate,
    cost: CostMatrix,
    quadrature: int,
    max_iter: int,
    penalty: str | None,
    known: dict[str, Any],
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
        That of the covariances of random effects.
    known : dict
        The fields of the fit that random effects leave as they are.
    """
    from .estimate import marginal_of, mixed_estimate

    infinite = None if known["separation"] is None else (known["separation"] != 0.0)[~known["aliased"]]
    problem = plain.problem
    here, end, boundaries = mixed_estimate(problem, plain.optimum.x, quadrature, max_iter, penalty, infinite)
    marginal = marginal_of(here, boundaries, plain.loglik())
    if marginal.certain:
        marginal = replace(marginal, covariance=np.full_like(marginal.covariance, np.nan))
    rule = problem.rule(here.fixed, plain.family, cost, tuple(term.modes for term in marginal.terms))
    size = here.model.n_fixed
    information = CovarianceMatrix(marginal.covariance[:size, :size])
    rounding = 2.0**-53 * np.abs(here.model.to_user) @ np.abs(here.at.psi[:size])
    facts = () if penalty is None else (("penalty", GAMMA),)
    certificate = Certificate(
        name="max |gradient|",
        value=float(np.abs(here.at.gradient[here.free]).max(initial=0.0)),
        tolerance=max(TOLERANCE, 1e-14 * abs(here.loglik)),  # sums over very many rows are rounded
        details=(
            ("gradient of the modes", float(np.sqrt(max(here.at.decrement, 0.0)))),
            ("smallest eigenvalue of the information", here.smallest_eigenvalue),
        ),
    )
    return LikelihoodFit(
        **{**known, "facts": (*known["facts"], *facts)},
        rule=rule,
        certificate=certificate,
        trace=Trace(iterations=len(end.logliks) - 1, objective=np.array(end.logliks), message=end.message),
        scores=rule.scores(sample.rows),
        coefficients=problem.spread(here.fixed),
        information=information,
        digits=problem.spread(
            correct_digits(here.fixed, np.abs(here.last_step()[:size]) + rounding, information.variances)
        ),
        loglik=here.loglik,
        marginal=marginal,
        likelihood=cast(Any, here),
    )


@dataclass(frozen=True, eq=False)
class ForNewGroups:
    """A method whose fits predict averages over the random effects [Learner]."""

    method: Any

    @property
    def cost(self) -> Any:
        return self.method.cost

    @property
    def needs(self) -> Any:
        return self.method.needs

    def with_cost(self, cost: Any) -> ForNewGroups:
        """The same under another cost."""
        return ForNewGroups(self.method.with_cost(cost))

    def fit(self, sample: Sample, rng: np.random.Generator) -> LikelihoodFit:
        """Fit to some rows, without clusters and groups that are not among them."""
        from .predictions import over_population

        random = sample.rows.random
        assert random is not None
        rows = replace(sample.rows, random=random.renumbered())
        return over_population(self.method.fit(replace(sample, rows=rows, cluster=None), rng))
