"""Marginal effects: what changes in the response when a variable changes and all else stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ....checks import mapping, one_of
from ....exceptions import OptionError
from ...report.noted import NotedFrame
from ..fitted import FittedLikelihood
from ..parameters import listed, texts
from ..standard_errors import normal_quantile
from .average import PAIRS, Average, Averager
from .changes import Change, Counterfactuals, changes_of, per_variable
from .counterfactual import AT, Population, population
from .emmeans import checked, shown_value
from .marginal import MarginalEffects
from .means import listing
from .places import Place, places


def marginal_effects(
    r: FittedLikelihood,
    variables: str | Sequence[str] | None = None,
    *,
    scale: str = "prob",
    contrast: str = "reference",
    change: Any = None,
    at: str | Mapping[str, Any] | None = None,
    by: str | Sequence[str] | None = None,
    newdata: Any = None,
    weights: Any = None,
    data: Any = None,
    level: float = 0.95,
    vcov: Any = None,
    re: str | None = None,
) -> MarginalEffects:
    """Marginal effects of variables of the formula: differences between levels of factors, derivatives by numbers."""
    averager, everyone = Averager.of(r, scale, vcov, re), population(r, newdata, weights, data)
    return checked(_marginal(averager, everyone, variables, contrast, change, at, by, level))


def _marginal(
    averager: Averager, everyone: Population, variables: Any, contrast: str, change: Any, at: Any, by: Any, level: float
) -> MarginalEffects:
    """The effects of variables at all places."""
    normal_quantile(level)
    one_of("contrast", contrast, PAIRS)
    names = _names(everyone, variables, at)
    given = per_variable(names, everyone.categories, change)
    wanted = {name: changes_of(everyone, name, contrast, one, averager.sign) for name, one in given.items()}
    _check_moving(wanted, at)
    found = [one for place in places(everyone, at, by) for one in _effects(averager, place, wanted, at == "rows")]
    order = {pair: k for k, pair in enumerate((name, one.label) for name, some in wanted.items() for one in some)}
    found.sort(key=lambda one: order[one[0]["term"], one[0]["contrast"]])
    cells, averages = pd.DataFrame([cell for cell, _ in found]), [average for _, average in found]
    notes = (*averager.notes, *_notes(everyone, wanted, at, by))
    return MarginalEffects(cells, ("term", "contrast"), averages, averager, level, notes)


def _names(everyone: Population, variables: Any, at: Any) -> list[str]:
    """The variables whose effects are asked for; those set to a value are left out unless they are named."""
    names = texts("variables", variables)
    if variables is None:
        names = [name for name in everyone.variables if not (isinstance(at, Mapping) and name in at)]
    if not names:
        raise OptionError("the formula has no variable that could have an effect.")
    for name in names:
        everyone.check(name)
    return list(dict.fromkeys(names))


def _check_moving(wanted: Mapping[str, Sequence[Change]], at: Any) -> None:
    """OptionError for a variable that is set to a value where its effect does not depend on it."""
    for name, changes in wanted.items():
        if isinstance(at, Mapping) and name in at and any(change.pair is not None for change in changes):
            raise OptionError(f"{name!r} is compared over its own values: leave it out of at=.")


def _effects(
    averager: Averager, place: Place, wanted: Mapping[str, Sequence[Change]], single: bool
) -> list[tuple[dict[str, Any], Average]]:
    """All effects at a place, or at each of its rows, with what they are."""
    labels, rows = place
    counterfactuals, found = Counterfactuals(averager, rows, single), []
    for name, changes in wanted.items():
        for change in changes:
            front = {"term": name, "contrast": change.label}
            effects = counterfactuals.effect(name, change)
            told = [{"row": row} for row in rows.frame.index] if single else [labels]
            found += [(front | one, effect) for one, effect in zip(told, effects, strict=True)]
    counterfactuals.tell_crossed()
    return found


def _notes(everyone: Population, wanted: Mapping[str, Sequence[Change]], at: Any, by: Any) -> tuple[str, ...]:
    """What was averaged over what."""
    notes, groups = [], f" of each group of {listing([str(name) for name in listed(by)])}" if listed(by) else ""
    rows = f"{len(everyone.frame):,} rows"
    if at == "rows":
        notes.append("Of each row by itself.")
    elif isinstance(at, str):
        notes.append(f"At the {at}s of numbers, most frequent levels of factors{groups or _typical(everyone, at)}.")
    else:
        notes.append(f"Averaged over the {rows}{groups}{' with values set as shown' if at else ''}.")
    steps = [f"{name}: {one.step:.4g}" for name, some in wanted.items() for one in some if one.label == "+SD"]
    return (*notes, *([f"SD of {listing(steps)}."] if steps else []))


def _typical(everyone: Population, how: str) -> str:
    values = places(everyone, how, None)[0][1]
    return f" ({', '.join(f'{name} = {shown_value(values.frame[name].iloc[0])}' for name in everyone.variables)})"


def average_effects(
    r: FittedLikelihood,
    variable: str | Sequence[str] | None = None,
    *,
    scale: str = "prob",
    contrast: str = "reference",
    values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    by: str | Sequence[str] | None = None,
    newdata: Any = None,
    weights: Any = None,
    data: Any = None,
    level: float = 0.95,
    vcov: Any = None,
    re: str | None = None,
) -> pd.DataFrame:
    """Average effects of variables of the formula as a plain table: that of `marginal_effects`."""
    names, change = None if variable is None else texts("variable", variable), _compared(variable, values)
    averager, everyone = Averager.of(r, scale, vcov, re), population(r, newdata, weights, data)
    found = _marginal(averager, everyone, names, contrast, change, mapping("at", at, AT), by, level)
    found = checked(found)
    return NotedFrame.of(found.frame, found.told)


def _compared(variable: Any, values: Any) -> tuple[Any, ...] | None:
    """The values to compare; OptionError where they are not those of one variable, or fewer than two."""
    if values is None:
        return None
    if len(listed(variable)) != 1:
        raise OptionError("values= goes with one variable.")
    if len(listed(values)) < 2:
        raise OptionError(f"values of {variable!r} must be two values to compare, or more; got {values!r}.")
    return tuple(values)
