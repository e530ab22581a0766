"""Collinearity of the terms: variance inflation factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..likelihood.unavailable import check_available
from ..likelihood.user_scale import unit_rows
from ..report.cells import MOST_TERMS, first_few
from ..report.frames import NotedFrame

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


def inflation_frame(r: LikelihoodResults) -> NotedFrame:
    """Generalised variance inflation factors of the location terms; see `vif`."""
    check_available(r, "vif()")
    location = r.parameters.of("location")
    estimated = np.flatnonzero(~r.fit.aliased)
    places = np.flatnonzero(np.isin(estimated, location))
    V = r.covariance_of_estimates.quadratic(unit_rows(places, estimated.size))
    variances = np.diag(V)
    known = np.isfinite(V).any(axis=1) & np.isfinite(variances) & (variances > 0.0)
    columns = (estimated[places] - location[0])[known] if len(location) else places
    deviations = np.sqrt(np.diag(V)[known])
    R = V[np.ix_(known, known)] / np.outer(deviations, deviations)
    rows = []
    left = []
    for term, where in r.design.terms.items():
        inside = (columns >= where.start) & (columns < where.stop)
        df = int(inside.sum())
        if df < where.stop - where.start:
            left.append(term)
        gvif = _inflation(R, inside) if df else np.nan
        rows.append((gvif, df, gvif ** (1.0 / (2.0 * df)) if df else np.nan))
    table = pd.DataFrame(
        rows, columns=["gvif", "df", "scaled"], index=list(r.design.terms)
    )
    notes = [
        "scaled: gvif^(1 / (2 df)), the factor by which standard errors grow.",
        f"From the covariance of the location effects, {r.own_covariance.words}.",
    ]
    if any(len(term.keys) > 1 for term in r.design.spec.location.terms):
        notes.append(
            "NOTE: with an interaction, values change with the origin of a number."
            " Centre it first."
        )
    if left:
        shown = first_few(left, MOST_TERMS)
        notes.append(
            f"NOTE: without the columns of {shown} that are aliased or have infinite"
            " estimates."
        )
    return NotedFrame.of(
        table.astype({"df": int}), notes, "Generalised variance inflation factors"
    )


def _inflation(R: FloatArray, inside: BoolArray) -> float:
    """det R11 det R22 / det R, for correlations R of estimates [Fox & Monette 1992, eq.
    10].

    The determinant of the part of the term that its correlation with the other
    estimates leaves is det R / det R22, so that only a ratio is formed.
    """
    own = R[np.ix_(inside, inside)]
    others = R[np.ix_(~inside, ~inside)]
    across = R[np.ix_(inside, ~inside)]
    rest = own - across @ np.linalg.solve(others, across.T)
    return float(np.exp(np.linalg.slogdet(own)[1] - np.linalg.slogdet(rest)[1]))
