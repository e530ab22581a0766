"""Fits with random effects that are judged by other rows: of groups they have not seen, as in a cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._typing import FloatArray
from ..exceptions import OptionError, warn
from ..formula.sample import RandomRows, Rows, Sample
from ..judging.evaluation import LikelihoodMethod
from ..likelihood.fit import LikelihoodFit, Marginal
from ..likelihood.rule import LikelihoodRule

if TYPE_CHECKING:
    from ..formula.design import Design
    from ..formula.random_terms import RandomTerm
    from .over_groups import OverGroups

R = TypeVar("R", bound=Any)

#: For tables of errors.
NEW = (
    "New data: rows of known groups are predicted at the modes of the random effects, others by averages over them "
    "(re='marginal')."
)
FOLDS = (
    "Folds are of whole groups, of crossed ones the more numerous: held-out rows are predicted by averages over the "
    "random effects (re='marginal'), training rows at the modes."
)
RELATIVES = "Relatives (cov=) are in other folds, and not used."


def over_groups(rule: LikelihoodRule, marginal: Marginal) -> OverGroups:
    """Averages over the random effects of a fit.

    Raises
    ------
    OptionError
        Groups of several variances.
    """
    from .over_groups import OverGroups

    if not all(term.unit_diagonal for term in marginal.terms):
        raise OptionError(
            "cov must have ones on its diagonal for averages over the random effects, as groups have several variances "
            "otherwise. Use re='zero', or fit with K / K.iloc[0, 0] where all are the same."
        )
    factors, entries = ([getattr(term, name) for term in marginal.terms] for name in ("factor", "entries"))
    return OverGroups(replace(rule, effects=()), tuple(factors), tuple(entries))


def over_population(fit: LikelihoodFit) -> LikelihoodFit:
    """The fit with a rule that averages over the random effects."""
    from .over_groups import PopulationRule

    assert fit.marginal is not None and isinstance(fit.rule, LikelihoodRule)
    return replace(fit, rule=PopulationRule(over_groups(fit.rule, fit.marginal), fit.rule.cost))


def unit_term(design: Design) -> int:
    """The random term whose groups do not depend on each other; of crossed terms, the one of most groups."""
    random = design.sample.rows.random
    assert random is not None
    units, sizes = random.apart(), [term.n_groups for term in random.terms]
    pairs = [np.unique(np.stack([term.codes, units]), axis=1).shape[1] for term in random.terms]
    count = np.unique(units).size
    alike = [k for k, size in enumerate(sizes) if size == count == pairs[k]]
    return alike[0] if alike else int(np.argmax(sizes))


def at_known_modes(rows: Rows, modes: tuple[FloatArray, ...]) -> Rows:
    """Rows with the modes (G, q) of known groups in their offset, so that those of others alone are random."""
    assert rows.random is not None
    shift, terms = np.zeros(rows.n), []
    for term, own in zip(rows.random.terms, modes, strict=True):
        known = (term.codes >= 0)[:, None]
        shift += np.einsum("nq,nq->n", term.z, np.where(known, own[np.maximum(term.codes, 0)], 0.0))
        terms.append(replace(term, z=np.where(known, 0.0, term.z)))
    offset = shift if rows.offset is None else rows.offset + shift
    return replace(rows, offset=offset, random=RandomRows(tuple(terms)))


def tell_unknown(terms: Sequence[RandomTerm], newdata: Any, hint: str = "") -> None:
    """DataWarning where groups are named, and none of them is known; the hint ends the sentence on predictions."""
    text = next(filter(None, (term.unknown(newdata) for term in terms)), "")
    if text:
        warn(
            f"No group of newdata is one of the fit: {text}. Its rows are predicted by averages over the random "
            f"effects{hint}. Where they are groups of the fit, write them in the same type."
        )


def kept_together(sample: Sample) -> Sample:
    """The sample with its clusters, which hold whole groups, or with these as clusters: they stay in one fold."""
    assert sample.rows.random is not None
    return replace(sample, cluster=sample.rows.random.apart()) if sample.cluster is None else sample


def without_empty_groups(sample: Sample) -> Sample:
    """The sample with groups that all have rows, and no clusters."""
    assert sample.rows.random is not None
    return replace(sample, rows=replace(sample.rows, random=sample.rows.random.renumbered()), cluster=None)


@dataclass(frozen=True, eq=False)
class ForNewGroups:
    """A method whose fits predict averages over the random effects [Learner]."""

    method: LikelihoodMethod

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
        """Fit to some rows."""
        return over_population(self.method.fit(without_empty_groups(sample), rng))
