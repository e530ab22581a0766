"""Variances of random effects that the data hardly bound from above: groups whose rows are all alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ....exceptions import OrdstatWarning, SeparationWarning
from ....model.fit import LikelihoodFit
from ....model.likelihood.family import Family

if TYPE_CHECKING:
    from ....design.design import Design

#: Standard deviation of the effects, in those of the link, from which one is as good as infinite.
_LARGE = 25.0
#: Standard deviation of the latent distributions that have one; others are taken for 1.
_LATENT = {"logit": 1.81, "probit": 1.0, "cloglog": 1.28, "loglog": 1.28}


def run_off_alerts(design: Design, fit: LikelihoodFit, family: Family) -> Iterator[tuple[type[OrdstatWarning], str]]:
    """A warning for every term whose variance has run off, or all but; one where the data say nothing of them."""
    rows, marginal = design.sample.rows, fit.marginal
    if marginal is None or rows.random is None:
        return
    if fit.separation is not None and np.isnan(marginal.covariance).all():
        yield (
            SeparationWarning,
            "the effects alone tell all levels apart, so that the data say nothing of the random effects: their "
            "standard deviations and correlations are where the search began, and have no standard errors.",
        )
        return
    own = _LATENT.get(family.link.name, 1.0)
    for term, columns, effects in zip(design.random, rows.random.terms, marginal.terms, strict=True):
        deviation = float(np.sqrt(columns.variances(effects.covariance).mean()))
        if not deviation <= _LARGE * own:
            yield (
                SeparationWarning,
                f"{term.text}: the effects have a standard deviation of {deviation:.3g}, where the distribution of a "
                f"row has {own:.3g}: rows of a group are nearly all of one level, so that the data hardly bound the "
                "variance, and the likelihood may rise without end. Neither it nor thresholds and effects, which grow "
                "with it, mean much: leave the term out where its groups tell the response, or join them.",
            )
