"""Marginal effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import fraction, listed, one_of, variable_names
from ..exceptions import OptionError
from ..formula.sample import Rows
from .average import PAIRS, Average, Averager, pairs_of, warn_of_unknown
from .counterfactual import Population, population, tangent
from .emmeans import Emmeans, listing, shown_value
from .grid import places_of

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


_CHANGES = "a number, a pair of values, 'sd', 'iqr' or 'minmax'"


class _Quantile(NamedTuple):
    """A quantile of a number, and how tables call it."""

    share: float
    label: str


#: From which quantile to which a number changes.
_QUANTILES = {
    "iqr": (_Quantile(0.25, "Q1"), _Quantile(0.75, "Q3")),
    "minmax": (_Quantile(0.0, "min"), _Quantile(1.0, "max")),
}


@dataclass(frozen=True)
class Change:
    """A change from one value to another, or by a step; a derivative if neither is
    given.

    Attributes
    ----------
    label : str
    pair : (low, high) or None
    step : float or None
    """

    label: str
    pair: tuple[Any, Any] | None = None
    step: float | None = None


def _changes(
    everyone: Population, name: str, contrast: str, change: Any, sign: str
) -> list[Change]:
    """The changes of a variable; OptionError if they do not fit it."""
    levels = everyone.categories.get(name)
    if change is None and levels is None:
        return [Change("dY/dX")]
    if isinstance(change, (str, Real)):
        if levels is not None:
            shown = ", ".join(map(repr, levels))
            raise OptionError(
                f"change={change!r} needs a number; {name!r} is a factor with levels"
                f" {shown}."
            )
        return [_step(everyone, name, change, sign)]
    if change is not None and not isinstance(change, (Sequence, np.ndarray)):
        raise OptionError(f"change must be {_CHANGES}; got {change!r}.")
    values = levels if change is None else tuple(change)
    if values is None or len(values) < 2:
        raise OptionError(f"{name!r} needs two values to compare; got {values!r}.")
    for value in () if change is None else values:
        everyone.check_level(name, value)
    changes = []
    for low, high in pairs_of(contrast, values):
        changes.append(Change(f"{high}{sign}{low}", pair=(low, high)))
    return changes


def _step(everyone: Population, name: str, change: Any, sign: str) -> Change:
    """The change of a number by a step, or from one of its quantiles to another."""
    if not isinstance(change, str):
        if isinstance(change, bool) or not np.isfinite(float(change)) or change == 0:
            raise OptionError(
                f"change must be a finite number that is not 0; got {change!r}."
            )
        return Change(f"{change:+g}", step=float(change))
    if change not in ("sd", "iqr", "minmax"):
        raise OptionError(f"change must be {_CHANGES}; got {change!r}.")
    if change == "sd":
        size = everyone.deviation(name)
        name_of_step = "standard deviation"
        step = Change("+SD", step=size)
    else:
        below, above = _QUANTILES[change]
        low = everyone.quantile(name, below.share)
        high = everyone.quantile(name, above.share)
        size = high - low
        name_of_step = "range"
        step = Change(f"{above.label}{sign}{below.label}", pair=(low, high))
    if size <= 0.0:
        raise OptionError(
            f"the {name_of_step} of {name!r} is 0 in these rows: give change= as a"
            " number."
        )
    return step


def _per_variable(
    names: Sequence[str], categories: Mapping[str, Any], change: Any
) -> dict[str, Any]:
    """The change of each variable: from a mapping, or the same for all numbers and a
    single factor.
    """
    if isinstance(change, Mapping):
        for name in change:
            if name not in names:
                raise OptionError(
                    f"change names {name!r}, which is not among the variables; got"
                    f" {', '.join(names)}."
                )
        return {name: change.get(name) for name in names}
    if len(names) == 1:
        return {names[0]: change}
    if change is not None and not isinstance(change, (str, Real)):
        raise OptionError(
            f"values to compare need a single variable. Use change={{{names[0]!r}:"
            f" {change!r}}}."
        )
    return {name: None if name in categories else change for name in names}


@dataclass
class Counterfactuals:
    """Predictions of observed and counterfactual rows; each design is predicted once.

    Attributes
    ----------
    averager : Averager
    rows : Population
    weights : (n,) or None
        Weights of the average; None for each row separately.
    designs : list of Rows
        All predicted designs.
    """

    averager: Averager
    rows: Population
    weights: FloatArray | None
    designs: list[Rows] = field(default_factory=list)
    _at_values: dict[tuple[str, Any], Average] = field(default_factory=dict)

    def effect(self, name: str, change: Change) -> Average:
        """The effect of a change, on average or in each row."""
        if change.pair is not None:
            low, high = change.pair
            return self._at(name, high) - self._at(name, low)
        if change.step is not None:
            x = self.rows.frame[name].to_numpy(dtype=np.float64)
            changed = self.rows.setting(name, x + change.step)
            return self._predicted(changed) - self._observed
        self.designs.append(self.averager.design(self.rows.frame))
        moved = tangent(self.averager, self.rows, self.rows.frame, name)
        return self.averager.over(self.designs[-1], self.weights, moved)

    @cached_property
    def _observed(self) -> Average:
        """The prediction of the rows as they are."""
        return self._predicted(self.rows.frame)

    def _at(self, name: str, value: Any) -> Average:
        """The prediction with a variable set to a value, once."""
        if (name, value) not in self._at_values:
            changed = self.rows.setting(name, value)
            self._at_values[name, value] = self._predicted(changed)
        return self._at_values[name, value]

    def _predicted(self, frame: pd.DataFrame) -> Average:
        """The prediction of a frame, whose design is kept."""
        self.designs.append(self.averager.design(frame))
        return self.averager.over(self.designs[-1], self.weights)


@dataclass(frozen=True, eq=False, repr=False)
class MarginalEffects(Emmeans):
    """Marginal effects, with contrasts.

    The attributes are those of `Emmeans`; `cells` has a row for every term, contrast
    and combination of the values of `at` and `by`. The attribute `by` is (term,
    contrast): within each of these, `contrasts` compares effects between the
    combinations (differences in differences).

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp * contact", datasets.load("wine"))
    >>> effects = fit.marginal_effects("temp", by="contact", scale="mean_class")
    >>> columns = ["difference", "estimate", "p_value"]
    >>> effects.contrasts().round(3)[columns].values.tolist()
    [['no - yes', -0.271, 0.489]]
    """

    names_errors: ClassVar[bool] = True
    nothing_to_compare: ClassVar[str] = (
        "contrasts compare effects between places: use by= or at={...} to get several."
    )

    @property
    def table_notes(self) -> list[str]:
        """The notes below the whole table."""
        first = (
            f"Effects on {self.quantity}; {100 * self.level:g}% confidence intervals,"
            f" {self._distribution}."
        )
        return [
            first,
            *self.notes,
            f"Standard errors: delta method, {self.averager.error_words}.",
        ]

    @property
    def _words(self) -> tuple[str, str]:
        return "effect", f"effects on {self.quantity}"

    @property
    def frame(self) -> pd.DataFrame:
        """The table: columns term, contrast, the variables of `at` and `by`, level or
        threshold (if the scale has them), estimate, std_error, statistic, p_value,
        lower and upper; under CR2 also df (Satterthwaite).
        """
        return self._labelled(
            self.cells, self.averager.table(self.averages, self.level)
        )

    def _named(self, compared: list[str], key: Mapping[str, Any]) -> dict[str, Any]:
        return {**key, "difference": compared}


def marginal_effects(
    r: LikelihoodResults,
    variables: str | Sequence[str] | None = None,
    *,
    scale: str | Mapping[str, Any] = "prob",
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
    """Marginal effects of variables: differences between levels of factors, derivatives
    with respect to numbers.
    """
    averager = Averager(r, scale, vcov, re)
    everyone = population(r, newdata, weights, data)
    fraction("level", level)
    one_of("contrast", contrast, PAIRS)
    names = _names(everyone, variables, at)
    values = _per_variable(names, everyone.categories, change)
    changes: list[tuple[str, Change]] = []
    for name, value in values.items():
        for step in _changes(everyone, name, contrast, value, averager.sign):
            _require_free(name, step, at)
            changes.append((name, step))
    places: list[tuple[dict[str, Any], Population]] = [({}, everyone)]
    if at is not None or by is not None:
        places = places_of(everyone, at, by)
    predictions = []
    for _, rows in places:
        row_weights = None if at == "rows" else rows.weights
        predictions.append(Counterfactuals(averager, rows, row_weights))
    cells: list[dict[str, Any]] = []
    effects: list[Average] = []
    for name, step in changes:
        front = {"term": name, "contrast": step.label}
        for (labels, rows), counterfactuals in zip(places, predictions, strict=True):
            effects.append(counterfactuals.effect(name, step))
            if at == "rows":
                cells += [front | {"row": row} for row in rows.frame.index]
            else:
                cells.append(front | labels)
    if r.design.sample.rows.nominal is not None:
        for counterfactuals in predictions:
            averager.report_crossed(counterfactuals.designs, counterfactuals.weights)
    notes = [*averager.notes, _note(everyone, at, by), *_deviations(changes)]
    averages = Average.stacked(effects)
    if averager.lacks_errors(averages):
        warn_of_unknown()
    return MarginalEffects(
        pd.DataFrame(cells),
        ("term", "contrast"),
        averages,
        averager,
        level,
        tuple(notes),
    )


def _require_free(name: str, change: Change, at: Any) -> None:
    """OptionError if a variable whose values are compared is set by at=."""
    if change.pair is not None and isinstance(at, Mapping) and name in at:
        raise OptionError(
            f"{name!r} is compared over its levels or values: leave it out of at=."
        )


def _deviations(changes: Sequence[tuple[str, Change]]) -> list[str]:
    """A note on the standard deviations that numbers are changed by."""
    steps = [f"{name}: {c.step:.4g}" for name, c in changes if c.label == "+SD"]
    return [f"SD of {listing(steps)}."] if steps else []


def _names(everyone: Population, variables: Any, at: Any) -> list[str]:
    """The variables whose effects are computed; by default all that `at` does
    not set.
    """
    names = variable_names("variables", variables)
    if variables is None:
        names = [
            name
            for name in everyone.variables
            if not (isinstance(at, Mapping) and name in at)
        ]
    if not names:
        raise OptionError("the formula has no variable with an effect.")
    for name in names:
        everyone.check(name)
    return list(dict.fromkeys(names))


def _note(everyone: Population, at: Any, by: Any) -> str:
    """Note on averaging."""
    if by is not None and listed(by):
        groups = f" by {listing(list(map(str, listed(by))))}"
    else:
        groups = ""
    if at == "rows":
        return "Of each row separately."
    if isinstance(at, str):
        row = places_of(everyone, at, None)[0][1].frame
        shown = ", ".join(
            f"{name} = {shown_value(row[name].iloc[0])}" for name in everyone.variables
        )
        return (
            f"At the {at}s of numbers, most frequent levels of"
            f" factors{groups or f' ({shown})'}."
        )
    weighted = ", by their weights" if np.ptp(everyone.weights) > 0.0 else ""
    return (
        f"Averaged over the {len(everyone.frame):,}"
        f" rows{groups}{' with values set as shown' if at else ''}{weighted}."
    )
