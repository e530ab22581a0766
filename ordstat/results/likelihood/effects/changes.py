"""What is done to a variable whose effect is asked for: its derivative, a step, or from one value to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ...._typing import IntArray
from ....exceptions import OptionError
from ....model.likelihood.over_groups import Place
from ....model.sample import Rows
from .average import PAIRS, Average, Averager
from .counterfactual import Population
from .tangents import tangent

#: Changes of a number that have a name.
NAMED = ("sd", "iqr", "minmax")


@dataclass(frozen=True)
class Change:
    """From one value to another, by a step, or (neither) a derivative.

    Attributes
    ----------
    label : str
    pair : (low, high) or None
    step : float or None
    """

    label: str
    pair: tuple[Any, Any] | None = None
    step: float | None = None


def changes_of(everyone: Population, name: str, contrast: str, change: Any, sign: str) -> list[Change]:
    """The changes of a variable; OptionError for those that it cannot make.

    Parameters
    ----------
    everyone : Population
    name : str
    contrast : str
        Of the values that are compared.
    change : None, number, str or sequence
    sign : str
        What stands between two values that are compared.
    """
    everyone.check(name)
    factor = name in everyone.categories
    if change is None and not factor:
        return [Change("dY/dX")]
    if isinstance(change, (str, Real)):
        if factor:
            levels = ", ".join(map(repr, everyone.categories[name]))
            raise OptionError(f"change={change!r} goes with a number; {name!r} is a factor, of the levels {levels}.")
        return [_step(everyone, name, change, sign)]
    return _compared(everyone, name, contrast, change, sign)


def _step(everyone: Population, name: str, change: Any, sign: str) -> Change:
    """A number, or a change that has a name."""
    if isinstance(change, str):
        if change not in NAMED:
            raise OptionError(
                f"change must be a number, a pair of values, {', '.join(map(repr, NAMED))}; got {change!r}."
            )
        if change == "sd":
            return Change("+SD", step=_moving(everyone.deviation(name), name, "standard deviation"))
        shares, words = ((0.25, 0.75), ("Q1", "Q3")) if change == "iqr" else ((0.0, 1.0), ("min", "max"))
        low, high = (everyone.quantile(name, share) for share in shares)
        _moving(high - low, name, "range")
        return Change(f"{words[1]}{sign}{words[0]}", pair=(low, high))
    if isinstance(change, bool) or not np.isfinite(float(change)) or change == 0:
        raise OptionError(f"change must be a finite number that is not 0; got {change!r}.")
    return Change(f"{change:+g}", step=float(change))


def _moving(size: float, name: str, what: str) -> float:
    if size <= 0.0:
        raise OptionError(f"the {what} of {name!r} is 0 in these rows: give change= as a number.")
    return size


def _compared(everyone: Population, name: str, contrast: str, change: Any, sign: str) -> list[Change]:
    """Levels of a factor, or values given, against each other."""
    known = change is None or isinstance(change, (Sequence, np.ndarray))
    if not known:
        raise OptionError(f"change must be a number, a pair of values, {', '.join(map(repr, NAMED))}; got {change!r}.")
    values = everyone.categories[name] if change is None else tuple(change)
    if len(values) < 2:
        raise OptionError(f"{name!r} needs two values to compare; got {values!r}.")
    for value in values:
        everyone.check_level(name, value)
    pairs = [(values[low], values[high]) for low, high in PAIRS[contrast](len(values))]
    return [Change(f"{high}{sign}{low}", pair=(low, high)) for low, high in pairs]


def per_variable(names: Sequence[str], categories: Mapping[str, Any], change: Any) -> dict[str, Any]:
    """The change of each variable: one for all numbers, or a mapping of names; factors that are not named have None."""
    if isinstance(change, Mapping):
        unknown = [name for name in change if name not in names]
        if unknown:
            raise OptionError(f"change names {unknown[0]!r}, whose effect is not asked for; got {', '.join(names)}.")
        return {name: change.get(name) for name in names}
    pair = change is not None and not isinstance(change, (str, Real))
    if pair and len(names) != 1:
        raise OptionError(f"values to compare go with one variable: give change={{{names[0]!r}: {change!r}}}.")
    single = len(names) == 1
    return {name: None if name in categories and not single else change for name in names}


class Counterfactuals:
    """Rows as they are and as they would be, each asked once.

    Parameters
    ----------
    averager : Averager
    rows : Population
    single : bool
        Whether every row is asked by itself; else their average.
    """

    def __init__(self, averager: Averager, rows: Population, single: bool) -> None:
        self.averager, self.rows, self.single = averager, rows, single
        self._known: dict[tuple[str, Any] | None, list[Average]] = {}
        self._place: Place | None = None
        self._weights = np.ones(len(rows.weights)) if single else rows.weights
        self._crossed: list[IntArray] = []

    def tell_crossed(self) -> None:
        """Says, once, how many rows were out of order with any of the changes."""
        if self._crossed:
            self.averager.tell_crossed(np.unique(np.concatenate(self._crossed)), self._weights)

    def _design(self, frame: pd.DataFrame) -> Rows:
        design = self.averager.design(frame)
        self._crossed.append(self.averager.crossed(design, self._weights))
        return design

    @property
    def _here(self) -> Place:
        """The rows as they are; no cached property, which would hide the user's line from warnings."""
        if self._place is None:
            self._place = self.averager.directions(self._design(self.rows.frame))
        return self._place

    def effect(self, name: str, change: Change) -> list[Average]:
        """What a change does: one average, or one of each row."""
        if change.pair is not None:
            low, high = (self._at(name, value) for value in change.pair)
        elif change.step is not None:
            x = self.rows.frame[name].to_numpy(dtype=np.float64)
            low, high = self._unchanged(), self._at_frame(self.rows.setting(name, x + change.step))
        else:
            return self._slope(name)
        return [after - before for before, after in zip(low, high, strict=True)]

    def _unchanged(self) -> list[Average]:
        if None not in self._known:
            self._known[None] = self._asked(self._here.rows)
        return self._known[None]

    def _at(self, name: str, value: Any) -> list[Average]:
        if (name, value) not in self._known:
            self._known[name, value] = self._at_frame(self.rows.setting(name, value))
        return self._known[name, value]

    def _at_frame(self, frame: pd.DataFrame) -> list[Average]:
        return self._asked(self._design(frame))

    def _asked(self, design: Rows) -> list[Average]:
        if self.single:
            return self.averager.each(self.averager.directions(design))
        return [self.averager.over(design, self.rows.weights)]

    def _slope(self, name: str) -> list[Average]:
        spec, known = self.averager.results.design.spec, self.rows.known_values(name)
        moved = tangent(self.averager.design, self.rows.frame, name, known, spec.linear_in(name))
        if self.single:
            return self.averager.each(self._here, moved)
        return [self.averager.slope(self._here, moved, self.rows.weights)]
