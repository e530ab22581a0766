"""Which rows a design keeps, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError
from ..model.sample import Rows, Sample
from ..model.survey import Survey
from .columns import take
from .design import Design, Levels
from .frames import row_name, shown_labels
from .inputs import Given, check_costs, cluster_codes, weights_of
from .response import Response, used_levels

ZERO_WEIGHT = "(weight 0)"


@dataclass(frozen=True, eq=False, kw_only=True)
class Kept:
    """The complete rows of positive weight among those of the subset, and what a design has beside its columns.

    Attributes
    ----------
    index : pandas.Index
        Of all rows of the subset, as are the response, the clusters and the costs.
    response : Response
    rows : (N,) mask or None
        The rows kept; None keeps all.
    used : codes of the levels that have rows
    weights : (N,) or None
    dropped : mapping of reason to number of rows
    notes : tuple of str
    """

    index: pd.Index
    response: Response
    rows: BoolArray | None
    used: IntArray
    weights: FloatArray | None
    dropped: dict[str, int]
    notes: tuple[str, ...]
    cluster: Given | None = None
    costs: FloatArray | None = None
    survey: Survey | None = None

    @property
    def n(self) -> int:
        """The number of rows kept."""
        return len(self.index) if self.rows is None else int(self.rows.sum())

    def take(self, value: Any) -> Any:
        """What stays of a value of all rows."""
        return value if self.rows is None or value is None else take(value, self.rows)

    def design(
        self,
        rows: Rows,
        before: tuple[str, ...] = (),
        after: tuple[str, ...] = (),
        categories: IntArray | None = None,
        **described: Any,
    ) -> Design:
        """The design of model matrices of these rows, with notes before and after those on the rows left out."""
        response, used, survey, costs = self.response, self.used, self.survey, self.costs
        if survey is not None:
            survey = survey if self.rows is None else survey.take(self.rows)
            survey.check()
        if costs is not None:
            costs = check_costs(costs, len(response.declared), used, self.index)
        if survey is not None:
            cluster = survey.cluster
        else:
            cluster = None if self.cluster is None else cluster_codes(self.take(self.cluster.column.value))
        sample = Sample(
            rows=rows,
            y=_places(used)[self.take(response.codes)],
            n_levels=used.size,
            weights=self.take(self.weights) if survey is None else _shares(self.take(self.weights)),
            costs=self.take(costs),
            cluster=cluster,
            categories=categories,
        )
        return Design(
            sample=sample,
            levels=self.levels,
            response=response.name,
            index=self.take(self.index),
            n_given=len(self.index),
            dropped=self.dropped,
            survey=survey,
            notes=(
                *before,
                *self.notes,
                *response.notes,
                *unused_note(self.levels.unused, "the response"),
                *after,
            ),
            **described,
        )

    @property
    def levels(self) -> Levels:
        """The declared labels, those with rows and those without."""
        declared = self.response.declared
        unused = sorted(set(range(len(declared))) - set(self.used.tolist()))
        return Levels(
            values=tuple(declared[code] for code in self.used), unused=tuple(declared[code] for code in unused)
        )


def kept_rows(
    index: pd.Index,
    response: Response,
    of_columns: Mapping[str, BoolArray],
    *,
    weights: Given | None = None,
    offset: Given | None = None,
    cluster: Given | None = None,
    costs: FloatArray | None = None,
    survey: Survey | None = None,
    na_action: str = "omit",
) -> Kept:
    """Complete rows of positive weight; with "raise", DataError where a value is missing."""
    case_weights = None if weights is None else weights_of(weights, index)
    masks: dict[str, BoolArray] = {response.name: np.asarray(response.codes < 0), **of_columns}
    for given in (weights, offset, cluster):
        if given is not None and given.column.missing is not None:
            masks[" + ".join(given.names)] = given.column.missing
    if costs is not None:
        masks["costs"] = np.asarray(np.isnan(costs).any(axis=1))
    missing = {name: mask for name, mask in masks.items() if mask.any()}
    notes = () if not missing else (_missing_note(missing, index, na_action),)
    if case_weights is not None and (zero := case_weights == 0).any():
        missing[ZERO_WEIGHT] = zero
    rows = ~reduce(or_, missing.values()) if missing else None
    if not len(index) or (rows is not None and not rows.any()):
        said = {"weights= of 0" if name == ZERO_WEIGHT else name: mask for name, mask in missing.items()}
        why = f"; left out for {_counts(said)}" if said else ""
        raise DataError(f"No row of the {len(index)} given can be used{why}.")
    return Kept(
        index=index,
        response=response,
        rows=rows,
        used=used_levels(response.codes if rows is None else response.codes[rows], response.declared, response.name),
        weights=case_weights,
        dropped={name: int(mask.sum()) for name, mask in missing.items()},
        notes=notes,
        cluster=cluster,
        costs=costs,
        survey=survey,
    )


def _missing_note(missing: Mapping[str, BoolArray], index: pd.Index, na_action: str) -> str:
    """What is missing; DataError if it must not be."""
    gone = reduce(or_, missing.values())
    count = f"{int(gone.sum())} of {len(index)} rows"
    if na_action == "raise":
        first = ", ".join(row_name(index, int(position)) for position in np.flatnonzero(gone)[:5])
        raise DataError(
            f"{count} have missing values: {_counts(missing)}; first {first}. "
            "Fill or drop them, or use na_action='omit'."
        )
    return f"{count} left out for missing values: {_counts(missing)}."


def _counts(masks: Mapping[str, BoolArray]) -> str:
    return ", ".join(f"{name} ({int(mask.sum())})" for name, mask in masks.items())


def _shares(weights: FloatArray) -> FloatArray:
    """Sampling weights of mean 1: their scale says nothing, and the rows are as many as they are."""
    return np.asarray(weights / weights.mean())


def _places(used: IntArray) -> IntArray:
    """Place of each code among the sorted codes in use."""
    places = np.zeros(int(used[-1]) + 1, dtype=np.intp)
    places[used] = np.arange(used.size)
    return places


def unused_note(labels: tuple[Any, ...], of: str) -> tuple[str, ...]:
    """A note on levels without rows."""
    return (f"Levels of {of} without rows were left out: {shown_labels(labels)}.",) if labels else ()
