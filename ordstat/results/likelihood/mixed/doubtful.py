"""What is doubtful in estimates of random effects: variances at their boundary, without a bound, or hardly known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ....exceptions import DataWarning, OrdstatWarning, SeparationWarning
from ....model.fit import LikelihoodFit
from ....model.likelihood.family import Family
from ....model.likelihood.marginal import EffectsOfGroups, Marginal
from .parameters import RandomParameters

if TYPE_CHECKING:
    from ....design.design import Design
    from ....design.random_terms import RandomTerm

#: Mean size of groups below which Laplace's approximation is biased where a standard deviation is above this.
_SMALL, _LARGE = 5.0, 1.0
#: Standard deviation of the effects, in those of the link, from which one is as good as infinite.
_INFINITE = 25.0
#: Standard deviation of the latent distributions that have one; others are taken for 1.
_LATENT = {"logit": 1.81, "probit": 1.0, "cloglog": 1.28, "loglog": 1.28}

#: A warning category and its message.
_Alert = tuple[type[OrdstatWarning], str]


def run_off_alerts(design: Design, fit: LikelihoodFit, family: Family) -> Iterator[_Alert]:
    """A warning for every term whose variance has run off, or all but; one where the data say nothing of them."""
    rows, marginal = design.sample.rows, fit.marginal
    if marginal is None or rows.random is None:
        return
    if marginal.certain:
        yield (
            SeparationWarning,
            "the fixed effects alone predict every level, so that the data say nothing of the random effects: their "
            "standard deviations and correlations are where the search began, and have no standard errors.",
        )
        return
    own = _LATENT.get(family.link.name, 1.0)
    for term, columns, effects in zip(design.random, rows.random.terms, marginal.terms, strict=True):
        deviation = float(np.sqrt(columns.variances(effects.covariance).mean()))
        if not deviation <= _INFINITE * own:
            yield (
                SeparationWarning,
                f"{term.text}: the effects have a standard deviation of {deviation:.3g}, where the distribution of a "
                f"row has {own:.3g}: rows of a group are nearly all of one level, so that the data hardly bound the "
                "variance, and the likelihood may rise without end. Neither it nor thresholds and effects, which grow "
                "with it, mean much: leave the term out where its groups tell the response, or join them.",
            )


def noted_alerts(
    design: Design, marginal: Marginal | None, own: RandomParameters | None, covariance: str
) -> Iterator[_Alert]:
    """What a summary notes, as warnings that are not issued."""
    return ((DataWarning, note) for note in doubtful_effects(design, marginal, own, covariance))


def doubtful_effects(
    design: Design, marginal: Marginal | None, own: RandomParameters | None, covariance: str
) -> Iterator[str]:
    """Singular covariances, columns that are nearly multiples, a biased approximation, and wide limits.

    Parameters
    ----------
    design : Design
    marginal : Marginal or None
        None gives nothing.
    own : RandomParameters or None
    covariance : str
        Which errors they have.
    """
    if marginal is None:
        return
    for term, effects in zip(design.random, marginal.terms, strict=True):
        yield from _at_boundary(term, effects)
        if effects.entries[0].size > effects.n_phi:
            yield (
                f"{term.text}: columns that are nearly multiples of each other, as one far from 0 is of the intercept. "
                "Standard deviations and correlations are those where the other columns are 0: subtract a value within "
                "the data, such as a mean, to read them there. The fit is the same."
            )
        yield from _biased(term, effects, marginal, design.sample.n / term.cells.size)
    if own is not None and covariance == "model":
        yield from _hardly_known(own)


def _at_boundary(term: RandomTerm, effects: EffectsOfGroups) -> Iterator[str]:
    for column, derivative in effects.boundary.items():
        what = "variance at its boundary, 0" if effects.deviations[column] == 0.0 else "singular covariance"
        yield (
            f"{term.text}, {term.names[column]}: {what}; the log-likelihood falls by {-derivative:.3g} a unit of "
            "variance there. Errors of the other parameters are those with it held."
        )


def _biased(term: RandomTerm, effects: EffectsOfGroups, marginal: Marginal, size: float) -> Iterator[str]:
    if marginal.quadrature == 1 and size < _SMALL and effects.deviations.max() > _LARGE:
        crossed = not marginal.likelihood.model.structure.nested
        instead = "crossed terms have no other" if crossed else "compare quadrature=9"
        yield (
            f"{term.text}: groups have {size:.1f} rows on average, where Laplace's approximation makes a standard "
            f"deviation above 1 too small: {instead}."
        )


def _hardly_known(own: RandomParameters) -> Iterator[str]:
    """Standard deviations whose Wald limits go from next to nothing to next to infinity."""
    known = zip(own.names, own.kinds, own.estimates, own.errors, strict=True)
    names = [name for name, kind, value, error in known if kind == "sd" and error > value]
    beside = "is less than its standard error" if len(names) == 1 else "are less than their standard errors"
    if names:
        yield f"{', '.join(names)} {beside}, so that Wald limits say little: {own.where_limits(names)}."
