"""Bounds from the training rows alone: of each error the smaller of the paper's bound and the PAC-Bayes bound.

Each of the two takes half of delta, the price of choosing between them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from .._typing import FloatArray, IntArray
from ..model.costs import split_weights
from ..model.fit import BallGeometry, Geometry, HullGeometry
from ..model.sample import Sample
from .bounds import Bound, MarginBounds, margin_bounds
from .margins import Margins
from .pac_bayes import Comparisons, pac_bayes_bound
from .sampled_votes import vote_bound

_VACUOUS = "No margin bound is below the largest possible error; see .bounds(cv=5)."


def training_bounds(
    rows: Margins, geometry: Geometry, sample: Sample, costs: FloatArray | None = None, delta: float = 0.05
) -> MarginBounds:
    """Bounds of the expected classification and absolute error and of a cost.

    Parameters
    ----------
    rows, geometry, sample, costs, delta
        As in `ordstat.assess.bounds.margin_bounds`. Votes of other learners than stumps have the paper's bound alone,
        with the whole of delta.

    Returns
    -------
    MarginBounds
    """
    if not _has_pac_bayes(geometry):
        return _noted(margin_bounds(rows, geometry, sample, costs, delta))
    found = margin_bounds(rows, geometry, sample, costs, delta / 2.0)
    pairs = [(bound, _pac_bayes(bound, rows, geometry, sample, costs)) for bound in found.bounds]
    smaller = (min(pair, key=lambda bound: bound.value) for pair in pairs)
    return _noted(replace(found, bounds=tuple(replace(bound, delta=delta) for bound in smaller)))


def _has_pac_bayes(geometry: Geometry) -> bool:
    """Balls have it, and votes with a prior; infinite thresholds have no size."""
    known = isinstance(geometry, BallGeometry) or (isinstance(geometry, HullGeometry) and np.isfinite(geometry.nats))
    return bool(known and np.isfinite(geometry.total))


def _noted(found: MarginBounds) -> MarginBounds:
    """The bounds with a word where none of them says anything."""
    if not found.bounds or not all(bound.vacuous for bound in found.bounds):
        return found
    return replace(found, notes=(*found.notes, _VACUOUS))


def _pac_bayes(bound: Bound, rows: Margins, geometry: Geometry, sample: Sample, costs: FloatArray | None) -> Bound:
    """The PAC-Bayes bound of the same error at the same delta; where there are too few rows for it, the bound given."""
    counted = replace(comparisons(bound.name, rows, sample, costs), trivial=bound.trivial)
    if isinstance(geometry, HullGeometry):
        return vote_bound(counted, geometry, bound.delta) or bound
    return pac_bayes_bound(counted, cast(BallGeometry, geometry), bound.delta)


def comparisons(name: str, rows: Margins, sample: Sample, costs: FloatArray | None = None) -> Comparisons:
    """What an error counts of the answers to the rows' K-1 comparisons.

    Parameters
    ----------
    name : {"classification error", "absolute error", "cost"}
    rows : Margins
    sample : Sample
    costs : (N, K), optional
        Of the cost.
    """
    if name == "cost" and costs is not None:
        weights = split_weights(costs)
    else:
        weights = _own_ends(sample.y, rows.all.shape[1]) if name.startswith("class") else np.ones(rows.all.shape)
    largest = float(weights.sum(axis=1).max())
    return Comparisons(
        name=name,
        rho=rows.all,
        weights=weights,
        largest=largest,
        case_weights=sample.case_weights,
        trivial=largest,
    )


def _own_ends(y: IntArray, n_cuts: int) -> FloatArray:
    """(N, K-1) 1 at the two ends of a row's own interval."""
    cuts = np.arange(n_cuts)
    own: FloatArray = ((cuts == y[:, None]) | (cuts == y[:, None] - 1)).astype(np.float64)
    return own
