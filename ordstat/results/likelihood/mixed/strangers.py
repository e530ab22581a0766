"""Groups of new data none of which the fit has: as a rule they are the same ones, written in another type."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ....design.expressions import named
from ....design.frames import as_frame, find_column, has_column, shown_labels
from ....design.random_terms import RandomTerm
from ....exceptions import DataWarning


def tell_unknown_groups(terms: Sequence[RandomTerm], newdata: Any) -> None:
    """DataWarning where the columns of the groups are there, and none of their labels is known."""
    frame = as_frame(newdata)
    for term in terms:
        for factor, levels in zip(term.part.group.factors, term.levels, strict=True):
            for name in sorted(named(factor.tree)):
                came = find_column(frame, name, "a group").dropna().unique() if has_column(frame, name) else ()
                if len(came) and set(came).isdisjoint(levels):
                    warnings.warn(_unknown(name, levels, came), DataWarning, stacklevel=2)
                    return


def _unknown(name: str, levels: Sequence[object], came: Sequence[object]) -> str:
    return (
        f"no group of newdata is one of the fit: {name!r} has {shown_labels(levels, 3)} in the fit and "
        f"{shown_labels(came, 3)} in newdata. Predictions are averages over the groups of the population; "
        "re='marginal' gives them without this warning. Where they are groups of the fit, write them in the same type."
    )
