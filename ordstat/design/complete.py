"""The last step of a design: which rows are complete, what is coded, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError
from ..model.sample import Rows, Sample
from ..model.survey import Survey
from .coding import Assembled, Coding, FactorCoding, column_categories, fit_coding
from .columns import Value, take
from .contrasts import Contrast
from .design import Design, Levels
from .expressions import Interpreter
from .frames import row_name, shown_labels
from .inputs import Given, check_costs, cluster_codes, cost_columns, numbers, weights_of
from .parse import Part
from .random_terms import fit_random_terms
from .recipe import Recipe
from .response import Response, used_levels
from .spec import Evaluated, FormulaSpec, Parts, matrices

#: Sums of squares below this have lost digits.
_LEAST = 1e-290

ZERO_WEIGHT = "(weight 0)"


@dataclass(frozen=True, eq=False, kw_only=True)
class Beside:
    """What a design has beside its columns, for all rows of the subset."""

    index: pd.Index
    response: Response
    weights: Given | None = None
    offset: Given | None = None
    cluster: Given | None = None
    costs: FloatArray | None = None
    survey: Survey | None = None

    def missing(self, of_columns: Mapping[str, BoolArray]) -> dict[str, BoolArray]:
        """Missing rows by variable: the response, the formula's columns, then the other arguments."""
        masks: dict[str, BoolArray] = {self.response.name: np.asarray(self.response.codes < 0), **of_columns}
        for given in (self.weights, self.offset, self.cluster):
            if given is not None and given.column.missing is not None:
                masks[" + ".join(given.names)] = given.column.missing
        if self.costs is not None:
            masks["costs"] = np.asarray(np.isnan(self.costs).any(axis=1))
        return {name: mask for name, mask in masks.items() if mask.any()}


@dataclass(frozen=True, eq=False, kw_only=True)
class Kept:
    """The complete rows of positive weight: a mask (None: all of them), and how many each reason left out."""

    beside: Beside
    weights: FloatArray | None
    rows: BoolArray | None
    dropped: dict[str, int]
    used: IntArray
    notes: tuple[str, ...]

    def take(self, value: Any) -> Any:
        """What stays of a value of all rows."""
        return value if self.rows is None or value is None else take(value, self.rows)

    def design(
        self,
        rows: Rows,
        notes: tuple[str, ...] = (),
        nominal_groups: tuple[tuple[int, ...], ...] = (),
        **described: Any,
    ) -> Design:
        """The design of model matrices of these rows; `described` is what else is to be said of them."""
        beside, response, used = self.beside, self.beside.response, self.used
        survey = self._survey()
        costs = None if beside.costs is None else check_costs(beside.costs, len(response.declared), used, beside.index)
        sample = Sample(
            rows=rows,
            y=_places(used)[self.take(response.codes)],
            n_levels=used.size,
            weights=self.take(self.weights) if survey is None else _shares(self.take(self.weights)),
            costs=self.take(costs),
            cluster=self._cluster() if survey is None else survey.cluster,
            nominal_groups=nominal_groups,
        )
        return Design(
            sample=sample,
            levels=self.levels,
            response=response.name,
            index=self.take(beside.index),
            n_given=len(beside.index),
            dropped=self.dropped,
            survey=survey,
            notes=(*self.notes, *response.notes, *_unused(self.levels.unused, "the response"), *notes),
            **described,
        )

    def _cluster(self) -> IntArray | None:
        given = self.beside.cluster
        return None if given is None else cluster_codes(self.take(given.column.value))

    def _survey(self) -> Survey | None:
        """How the rows that stay were drawn; DataError where they give no variance."""
        survey = self.beside.survey
        if survey is not None:
            survey = survey if self.rows is None else survey.take(self.rows)
            survey.check()
        return survey

    @property
    def levels(self) -> Levels:
        """The declared labels, those with rows and those without."""
        declared = self.beside.response.declared
        unused = sorted(set(range(len(declared))) - set(self.used.tolist()))
        return Levels(
            values=tuple(declared[code] for code in self.used), unused=tuple(declared[code] for code in unused)
        )


def complete(
    parts: Parts,
    found: Evaluated,
    beside: Beside,
    interpreter: Interpreter,
    contrasts: Mapping[str, Contrast],
    recipe: Recipe,
) -> Design:
    """The design of the complete rows of positive weight.

    Parameters
    ----------
    parts : Parts
    found : Evaluated
        The factors and offsets of the parts.
    beside : Beside
    interpreter : Interpreter
        That has evaluated them.
    contrasts : mapping of factor key to Contrast
    recipe : Recipe
    """
    kept = kept_rows(beside, found.missing, recipe.na_action)
    values = found.values if kept.rows is None else found.take(kept.rows)
    codings, notes = _fit_codings(parts, values, contrasts, recipe.as_categories)
    n = len(beside.index) if kept.rows is None else int(kept.rows.sum())
    built = matrices(parts, values, codings, n)
    for part in (built.location, built.nominal, built.scale):
        _check_sizes(part)
    random, random_rows, random_notes = fit_random_terms(parts.random, values, codings, n, recipe.cov)
    random_notes += _beside_fixed(parts, codings)
    group_columns = _only_groups(parts)
    spec = FormulaSpec(
        parts=parts,
        codings=codings,
        states=dict(interpreter.states),
        columns=tuple(name for name in found.columns if name not in group_columns),
        declared={name: factor for name, factor in interpreter.columns.declared().items() if name not in group_columns},
        response_name=beside.response.name,
        levels=kept.levels.values,
        context=interpreter.context,
        cost_names=cost_columns(recipe.costs),
        array_offset=beside.offset is not None,
        random=random,
        na_action=recipe.na_action,
    )
    design = kept.design(
        replace(_add_offset(built.rows, kept), random=random_rows),
        (*notes, *random_notes, *_without_values(built.location)),
        spec.sharing(built.nominal.terms),
        formula=recipe.formula,
        names=built.location.names,
        nominal_names=built.nominal.names,
        scale_names=built.scale.names,
        terms=built.location.terms,
        nominal_terms=built.nominal.terms,
        scale_terms=built.scale.terms,
        categorical=_categorical_terms(parts.location, codings),
        random=random,
        spec=spec,
    )
    categories = column_categories(parts.location, codings)
    return design if categories is None else replace(design, sample=replace(design.sample, categories=categories))


def _beside_fixed(parts: Parts, codings: Mapping[str, Coding]) -> tuple[str, ...]:
    """Notes on random intercepts of groups that have fixed effects too."""
    fixed = _categorical_terms(parts.location, codings)
    return tuple(
        f"{random.text} stands beside fixed effects of {random.group.label}, which leave its intercept no variance: "
        "take one of them out."
        for random in parts.random
        if random.columns.intercept and random.group.label in fixed
    )


def _only_groups(parts: Parts) -> set[str]:
    """Names of columns that make groups and nothing else: new data may lack them, or have other levels."""
    groups = parts.groups().values()
    if not groups:
        return set()
    others = [*parts.factors().values(), *parts.offsets().values()]
    used = set().union(*(expression.names for expression in others))
    return {name for factor in groups for name in factor.names} - used


def kept_rows(beside: Beside, of_columns: Mapping[str, BoolArray], na_action: str = "omit") -> Kept:
    """Complete rows of positive weight; with "raise", DataError where a value is missing."""
    index, response = beside.index, beside.response
    weights = None if beside.weights is None else weights_of(beside.weights, index)
    missing = beside.missing(of_columns)
    notes = () if not missing else (_missing_note(missing, index, na_action),)
    if weights is not None and (zero := weights == 0).any():
        missing[ZERO_WEIGHT] = zero
    rows = ~reduce(or_, missing.values()) if missing else None
    if not len(index) or (rows is not None and not rows.any()):
        said = {"weights= of 0" if name == ZERO_WEIGHT else name: mask for name, mask in missing.items()}
        why = f"; left out for {_counts(said)}" if said else ""
        raise DataError(f"No row of the {len(index)} given can be used{why}.")
    codes = response.codes if rows is None else response.codes[rows]
    used = used_levels(codes, response.declared, response.name)
    dropped = {name: int(mask.sum()) for name, mask in missing.items()}
    return Kept(beside=beside, weights=weights, rows=rows, dropped=dropped, used=used, notes=notes)


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


def _sound(squares: FloatArray) -> BoolArray:
    """Which sums of squares have neither overflowed nor vanished."""
    return (squares > _LEAST) & (squares < np.inf)


def _check_sizes(part: Assembled) -> None:
    """DataError for a column whose squares overflow or vanish, by its name."""
    squares, matrix = part.squares, part.matrix
    if _sound(squares).all():
        return
    if np.isnan(squares).any():  # of columns with missing values
        matrix = np.nan_to_num(matrix)
        squares = (matrix**2).sum(axis=0)
    bad = [j for j in np.flatnonzero(~_sound(squares)) if matrix[:, j].any()]
    if bad:
        raise DataError(
            f"Column {part.names[bad[0]]!r} reaches {np.abs(matrix[:, bad[0]]).max():g}: rescale it, so that its "
            "squares neither overflow nor vanish."
        )


def _without_values(part: Assembled) -> tuple[str, ...]:
    """A note on columns whose values are all missing."""
    suspects = np.flatnonzero(np.isnan(part.squares))
    names = [part.names[j] for j in suspects if np.isnan(part.matrix[:, j]).all()]
    return (f"Columns without a value in the rows used: {shown_labels(names)}.",) if names else ()


def _categorical_terms(part: Part, codings: Mapping[str, Coding]) -> tuple[str, ...]:
    """Labels of the terms made of categorical factors alone."""
    return tuple(
        term.label
        for term in part.terms
        if all(isinstance(codings[factor.key], FactorCoding) for factor in term.factors)
    )


def _unused(labels: tuple[Any, ...], of: str) -> tuple[str, ...]:
    """A note on levels without rows."""
    return (f"Levels of {of} without rows were left out: {shown_labels(labels)}.",) if labels else ()


def _fit_codings(
    parts: Parts, values: Mapping[str, Value], contrasts: Mapping[str, Contrast], whole: bool
) -> tuple[dict[str, Coding], tuple[str, ...]]:
    """A coding for every factor of the formula, and notes on levels without rows."""
    codings: dict[str, Coding] = {}
    notes: list[str] = []
    for key, factor in parts.factors().items():
        codings[key], unused = fit_coding(factor, values[key], contrasts.get(key), whole)
        notes += _unused(unused, factor.label)
    return codings, tuple(notes)


def _add_offset(rows: Rows, kept: Kept) -> Rows:
    """The offset given as an array, added to those of the formula."""
    beside = kept.beside
    if beside.offset is None:
        return rows
    extra = kept.take(numbers(beside.offset, "offset", beside.index))
    return replace(rows, offset=extra if rows.offset is None else rows.offset + extra)
