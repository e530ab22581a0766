"""The last step of a design: which rows are complete, what is coded, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError
from ..model.sample import Rows, Sample
from .coding import Assembled, Coding, FactorCoding, fit_coding
from .columns import Declared, Value, take
from .contrasts import Contrast
from .design import Design, Levels
from .frames import row_name, shown_labels
from .inputs import Given, check_costs, cluster_codes, numbers, weights_of
from .parse import Part
from .recipe import Context
from .response import Response, used_levels
from .spec import Evaluated, FormulaSpec, Parts, matrices
from .transforms.named import Transform

#: Sums of squares below this have lost digits.
_LEAST = 1e-290

ZERO_WEIGHT = "(weight 0)"


@dataclass(frozen=True, eq=False, kw_only=True)
class Arguments:
    """Everything a design is made of, evaluated on all rows of the subset."""

    formula: str
    parts: Parts
    response: Response
    found: Evaluated
    states: Mapping[str, Transform]
    declared: Mapping[str, Declared]
    weights: Given | None
    offset: Given | None
    cluster: Given | None
    costs: FloatArray | None
    cost_names: tuple[str, ...] | None
    contrasts: Mapping[str, Contrast]
    context: Context | None
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Kept:
    """Rows that stay (None: all of them), and how many each reason left out."""

    rows: BoolArray | None
    dropped: dict[str, int]
    notes: tuple[str, ...]


def complete(arguments: Arguments, index: pd.Index, na_action: str) -> Design:
    """The design of the complete rows of positive weight."""
    n = len(index)
    weights = None if arguments.weights is None else weights_of(arguments.weights, index)
    kept = kept_rows(_missing(arguments), weights, index, na_action)
    rows = np.ones(n, dtype=bool) if kept.rows is None else kept.rows
    values = arguments.found.values if kept.rows is None else arguments.found.take(kept.rows)
    codes = arguments.response.codes[rows]
    used = used_levels(codes, arguments.response.declared, arguments.response.name)
    levels = levels_in_use(arguments.response, used)
    codings, coding_notes = fit_codings(arguments, values)
    built = matrices(arguments.parts, values, codings, int(rows.sum()))
    for part in (built.location, built.nominal, built.scale):
        _check_sizes(part)
    costs = arguments.costs
    sample = Sample(
        rows=_add_offset(built.rows, arguments.offset, rows, index),
        y=_places(used)[codes],
        n_levels=used.size,
        weights=None if weights is None else weights[rows],
        costs=None if costs is None else check_costs(costs, len(arguments.response.declared), used, index)[rows],
        cluster=None if arguments.cluster is None else cluster_codes(take(arguments.cluster.column.value, rows)),
    )
    return Design(
        sample=sample,
        names=built.location.names,
        nominal_names=() if built.nominal is None else built.nominal.names,
        scale_names=() if built.scale is None else built.scale.names,
        terms=built.location.terms,
        categorical=categorical_terms(arguments.parts.location, codings),
        nominal_terms={} if built.nominal is None else built.nominal.terms,
        scale_terms={} if built.scale is None else built.scale.terms,
        levels=levels,
        response=arguments.response.name,
        formula=arguments.formula,
        index=index if kept.rows is None else index[kept.rows],
        n_given=n,
        dropped=kept.dropped,
        notes=(*arguments.notes, *kept.notes, *arguments.response.notes, *unused_note(levels), *coding_notes),
        spec=FormulaSpec(
            parts=arguments.parts,
            codings=codings,
            states=dict(arguments.states),
            columns=arguments.found.columns,
            declared=arguments.declared,
            response_name=arguments.response.name,
            levels=levels.values,
            context=arguments.context,
            cost_names=arguments.cost_names,
            array_offset=arguments.offset is not None,
        ),
    )


def _places(used: IntArray) -> IntArray:
    """Place of each code among the sorted codes in use."""
    places = np.zeros(int(used[-1]) + 1, dtype=np.intp)
    places[used] = np.arange(used.size)
    return places


def _check_sizes(part: Assembled | None) -> None:
    """DataError for a column whose squares overflow or vanish, by its name."""
    if part is None or not part.matrix.size:
        return
    squares = part.squares
    bad = [j for j in np.flatnonzero(~((squares > _LEAST) & (squares < np.inf))) if part.matrix[:, j].any()]
    if bad:
        raise DataError(
            f"Column {part.names[bad[0]]!r} reaches {np.abs(part.matrix[:, bad[0]]).max():g}: rescale it, so that its "
            "squares neither overflow nor vanish."
        )


def categorical_terms(part: Part, codings: Mapping[str, Coding]) -> tuple[str, ...]:
    """Labels of the terms made of categorical factors alone."""
    return tuple(
        term.label
        for term in part.terms
        if all(isinstance(codings[factor.key], FactorCoding) for factor in term.factors)
    )


def _missing(arguments: Arguments) -> dict[str, BoolArray]:
    """Missing rows by variable: the response, the formula's columns, then the other arguments."""
    absent: BoolArray = np.asarray(arguments.response.codes < 0)
    masks: dict[str, BoolArray] = {}
    if absent.any():
        masks[arguments.response.name] = absent
    masks |= arguments.found.missing
    for given in (arguments.weights, arguments.offset, arguments.cluster):
        if given is not None and given.column.missing is not None:
            masks |= {" + ".join(given.names): given.column.missing}
    if arguments.costs is not None:
        unpriced: BoolArray = np.asarray(np.isnan(arguments.costs).any(axis=1))
        masks |= {"costs": unpriced} if unpriced.any() else {}
    return masks


def kept_rows(
    missing: Mapping[str, BoolArray], weights: FloatArray | None, index: pd.Index, na_action: str = "omit"
) -> Kept:
    """Complete rows of positive weight; with "raise", DataError where a value is missing."""
    dropped = {name: int(mask.sum()) for name, mask in missing.items()}
    reasons = dict(missing)
    notes = []
    if missing:
        gone = reduce(or_, missing.values())
        counts = ", ".join(f"{name} ({count})" for name, count in dropped.items())
        if na_action == "raise":
            first = ", ".join(row_name(index, int(position)) for position in np.flatnonzero(gone)[:5])
            raise DataError(
                f"{int(gone.sum())} of {len(index)} rows have missing values: {counts}; first {first}. "
                "Fill or drop them, or use na_action='omit'."
            )
        notes.append(f"{int(gone.sum())} of {len(index)} rows left out for missing values: {counts}.")
    if weights is not None and (zero := weights == 0).any():
        reasons[ZERO_WEIGHT] = zero
        dropped[ZERO_WEIGHT] = int(zero.sum())
    rows = ~reduce(or_, reasons.values()) if reasons else None
    if not len(index) or (rows is not None and not rows.any()):
        why = ", ".join(f"{name} ({count})" for name, count in dropped.items())
        raise DataError(f"No row of the {len(index)} given can be used{'; left out for ' + why if why else ''}.")
    return Kept(rows, dropped, tuple(notes))


def levels_in_use(response: Response, used: IntArray) -> Levels:
    """The declared labels split into those with rows and those without."""
    chosen = set(used.tolist())
    return Levels(
        values=tuple(response.declared[code] for code in used),
        unused=tuple(label for code, label in enumerate(response.declared) if code not in chosen),
    )


def unused_note(levels: Levels) -> tuple[str, ...]:
    """A note on declared labels without rows."""
    if not levels.unused:
        return ()
    return (f"Levels of the response without rows were left out: {shown_labels(levels.unused)}.",)


def fit_codings(arguments: Arguments, values: Mapping[str, Value]) -> tuple[dict[str, Coding], list[str]]:
    """A coding for every factor of the formula, and notes on levels without rows."""
    factors = arguments.parts.factors()
    codings, notes = {}, []
    for key, factor in factors.items():
        codings[key], unused = fit_coding(factor, values[key], arguments.contrasts.get(key))
        if unused:
            notes.append(f"Levels of {factor.label} without rows were left out: {shown_labels(unused)}.")
    return codings, notes


def _add_offset(rows: Rows, offset: Given | None, kept: BoolArray, index: pd.Index) -> Rows:
    """The offset given as an array, added to those of the formula."""
    if offset is None:
        return rows
    extra = numbers(offset, "offset", index)[kept]
    return replace(rows, offset=extra if rows.offset is None else rows.offset + extra)
