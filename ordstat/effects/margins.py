"""Marginal effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from .._typing import IntArray
from ..checks import mapping, one_of
from ..exceptions import OptionError
from ..formula.sample import Rows
from ..inference.comparison import Joint, joint_frame
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.parameters import listed, texts
from ..likelihood.standard_errors import normal_quantile
from ..mixed.over_groups import Place
from ..report.frames import NotedFrame, noted_html, noted_text
from .average import PAIRS, Average, Averager, together
from .counterfactual import AT, Population, population, tangent
from .emmeans import checked, shown_value
from .grid import Place as Place_of_grid
from .grid import places
from .means import Emmeans, groups_of, listing

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


#: Rows that are printed.
_SHOWN = 100
#: What a joint test says, by its name.
_HYPOTHESES = {
    "zero": "all effects of a term are 0",
    "equal": "the effects of a term are the same at all places",
}


@dataclass(frozen=True, eq=False, repr=False)
class MarginalEffects(Emmeans):
    """Marginal effects, and what their differences and joint tests need.

    The attributes are those of `Emmeans`; `cells` has a row for every term, contrast and place, and `by` is (term,
    contrast): effects are compared between places.
    """

    def __repr__(self) -> str:
        return noted_text(self.frame.head(_SHOWN), self._all_notes)

    def _repr_html_(self) -> str:
        return noted_html(self.frame.head(_SHOWN), self._all_notes)

    @property
    def told(self) -> list[str]:
        """What stands below all the rows."""
        r = self.averager.results
        notes = [f"Effects on {super()._quantity}; {100 * self.level:g} % limits, {self._distribution}.", *self.notes]
        return [*notes, f"Standard errors: delta method, {r.own_covariance.words}."]

    @property
    def _one(self) -> str:
        return "effect"

    @property
    def _quantity(self) -> str:
        return f"effects on {super()._quantity}"

    @property
    def _all_notes(self) -> list[str]:
        rows = len(self.frame)
        more = [f"The first {_SHOWN} of {rows:,} rows; .frame has all."] if rows > _SHOWN else []
        return [*self.told, *more]

    @property
    def frame(self) -> pd.DataFrame:
        """term, contrast, columns that tell the places, level or threshold where the scale has them, estimate,
        std_error, statistic, p_value, lower, upper; under CR2 also df, Satterthwaite's."""
        return self._labelled(self.cells, self.averager.table(together(self.averages), self.level))

    def _named(self, compared: list[str], key: Mapping[str, Any]) -> dict[str, Any]:
        return {**key, "difference": compared}

    @property
    def _places(self) -> list[str]:
        return [name for name in self.cells.columns if name not in self.by]

    def contrasts(self, method: Any = None, adjust: str | None = None, **options: Any) -> NotedFrame:
        """Differences of the effects between places ("differences of differences"), within each term and contrast.

        Parameters
        ----------
        method, adjust
            As in `Emmeans.contrasts`: "pairwise" if not given, with Tukey's adjustment for three places or more.
        **options
            `interaction`, `ref` and `reverse`, as there.

        Returns
        -------
        NotedFrame
            Columns term, contrast, difference, level or threshold, estimate, std_error, statistic, p_value, lower,
            upper.

        Raises
        ------
        OptionError
            The effects are of one place, or of single rows.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp * contact", datasets.load("wine"))
        >>> effects = fit.marginal_effects("temp", by="contact", scale="mean_class")
        >>> effects.contrasts().round(3)[["difference", "estimate", "p_value"]].values.tolist()
        [['yes - no', 0.271, 0.489]]
        """
        self._check_places("contrasts")
        return super().contrasts(method, adjust, **options)

    def _check_places(self, what: str) -> None:
        if not self._places or "row" in self._places:
            raise OptionError(f"{what} compare effects between places: ask for them with by= or at={{...}}.")

    def joint_test(self, hypothesis: str = "zero") -> NotedFrame:
        """Wald tests of all effects of each term on a level of the response (or on the expected rank) at once.

        Parameters
        ----------
        hypothesis : {"zero", "equal"}
            "zero": they are 0, in all contrasts and at all places. "equal": they are the same at
            all places of `by` and `at`.

        Returns
        -------
        NotedFrame
            Columns term, level or threshold, df, chisq, p_value; under a survey design or a CR2 covariance df,
            df_resid, F, p_value. There is no test of all levels together: where an effect is 0, those on the levels
            depend on each other, and Wald's statistic has no chi-squared distribution. `test` is for parameters.
            Effects at many values of a number have few degrees of freedom for the same reason: combinations that
            hardly vary (a tenth of the largest deviation) are left out.

        Raises
        ------
        OptionError
            Another hypothesis, or "equal" with one place.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp * contact", datasets.load("wine"))
        >>> fit.marginal_effects(scale="mean_class").joint_test().round(2)[["term", "df", "chisq"]].values.tolist()
        [['temp', 1, 32.73], ['contact', 1, 12.29]]
        """
        one_of("hypothesis", hypothesis, _HYPOTHESES)
        if hypothesis == "equal":
            self._check_places("joint_test('equal')")
        front = [{"term": term, **labels} for term in dict.fromkeys(self.cells["term"]) for labels in self._outputs]
        tests = [self._tested(one["term"], place % len(self._outputs), hypothesis) for place, one in enumerate(front)]
        tested = joint_frame([one["term"] for one in front], tests).reset_index(drop=True)
        table = pd.concat([pd.DataFrame(front), tested], axis="columns")
        return NotedFrame.of(table, [f"Wald tests: {_HYPOTHESES[hypothesis]}; {self._quantity}."])

    @property
    def _outputs(self) -> list[dict[str, Any]]:
        """The labels of each output."""
        labels = self.averager.labels
        return [dict(zip(labels, row, strict=True)) for row in zip(*labels.values(), strict=True)] or [{}]

    def _tested(self, term: str, output: int, hypothesis: str) -> Joint:
        """The test of one output of one term."""
        asked: list[Average] = []
        for key, members in groups_of(self.cells, self.by):
            if key["term"] == term:
                found = [self.averages[k].output(output) for k in members]
                asked += found if hypothesis == "zero" else [one - found[0] for one in found[1:]]
        return self.averager.joint(together(asked))


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
    averager: Averager, place: Place_of_grid, wanted: Mapping[str, Sequence[Change]], single: bool
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
    names, change = None if variable is None else texts("variable", variable), _compared_margins(variable, values)
    averager, everyone = Averager.of(r, scale, vcov, re), population(r, newdata, weights, data)
    found = _marginal(averager, everyone, names, contrast, change, mapping("at", at, AT), by, level)
    found = checked(found)
    return NotedFrame.of(found.frame, found.told)


def _compared_margins(variable: Any, values: Any) -> tuple[Any, ...] | None:
    """The values to compare; OptionError where they are not those of one variable, or fewer than two."""
    if values is None:
        return None
    if len(listed(variable)) != 1:
        raise OptionError("values= goes with one variable.")
    if len(listed(values)) < 2:
        raise OptionError(f"values of {variable!r} must be two values to compare, or more; got {values!r}.")
    return tuple(values)
