"""One fit in a table for papers: its rows, cells and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd

from .._typing import IntArray
from ..checks import flag, fraction, one_of, whole
from ..formula.names import Parameter, shown_term
from ..formula.parse import Expression, Term
from ..formula.smooths import is_random, is_smooth
from .cells import count, short_p_value
from .ratios import Ratio, ratio_of
from .sections import observations

_VALUES = ["estimate", "std_error", "p_value", "conf_low", "conf_high"]
#: Kinds of parameters in the order of the rows.
_PARTS = ("location", "nominal", "scale", "lambda", "phi", "threshold", "sd", "cor")
#: Kinds that are effects; the others stay as they are beside ratios, in rows of their
#: own.
_EFFECTS = ("location", "nominal", "scale")
_STARS = np.array([0.001, 0.01, 0.05])
#: Decimals beyond the usual ones that small effects may add to a column.
_MOST_MORE = 2
#: More thresholds, as of a continuous response, are shown on request alone.
_MOST_THRESHOLDS = 50
#: Numbers from here on are written with a power of ten.
_LARGE = 1e6
#: Cells of estimates without a finite value, and of aliased columns.
_INFINITE = "not estimable"
_ALIASED = "not estimated"
#: What parameters may lack, and the reasons that notes give.
LACKS = {
    "infinite": "Not estimable, as the response is separated",
    "diverging": "Not estimable, as the likelihood has no maximum",
    "aliased": "Not estimated, as the data or other columns do not determine them",
    "boundary": "At 0, the least value, so without a standard error",
    "error": "Without a standard error, for the reason that the fit gives",
}


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How a table shows its fits: the arguments of `table`."""

    style: str
    exponentiate: bool | None
    below: str | None
    labels: Mapping[str, str]
    thresholds: bool | None
    stars: bool
    digits: int | None
    level: float

    def __post_init__(self) -> None:
        one_of("below", self.below, ("std_error", "interval", "p_value", None))
        one_of("style", self.style, ("paper", "clinical"))
        fraction("level", self.level)
        for name in ("exponentiate", "thresholds"):
            if getattr(self, name) is not None:
                flag(name, getattr(self, name))
        flag("stars", self.stars)
        if self.digits is not None:
            whole("digits", self.digits, 0, 15)

    @property
    def clinical(self) -> bool:
        """Whether estimate, interval and p-value have columns of their own."""
        return self.style == "clinical"


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A row of one fit.

    Attributes
    ----------
    label : str
    part : int
        Its place among the kinds of parameters.
    values : series or None
        estimate, std_error, p_value, conf_low and conf_high.
    words : tuple of str, optional
        Texts in place of the estimate and the interval.
    tests_term : bool
        Whether the second of these is the test of a whole term.
    place : int
        Place of the parameter among those of the fit.
    """

    label: str
    part: int
    values: pd.Series | None = None
    words: tuple[str, str] = ("", "")
    tests_term: bool = False
    place: int = 0


@dataclass(frozen=True, kw_only=True)
class FitColumn:
    """One fit in a table.

    Attributes
    ----------
    name : str
    fit : results, or pooled results
    options : TableOptions
    per : dict, str or None
        The change in variables that effects refer to, as in `tidy`.
    """

    name: str
    fit: Any
    options: TableOptions
    per: Any

    @property
    def fitted(self) -> Any:
        """The fit, or the first of those that are pooled."""
        return self.fit.fits[0] if self.pooled else self.fit

    @property
    def pooled(self) -> bool:
        """Whether the estimates are pooled over imputations."""
        return hasattr(self.fit, "fmi")

    @property
    def inferential(self) -> bool:
        """Whether the estimates have standard errors."""
        return bool(self.fitted.method.likelihood)

    @property
    def model(self) -> str:
        """The kind of model, with its link."""
        kind: str = self.fitted.kind
        if not self.inferential:
            return kind
        return f"{kind}, link {self.fitted.method.link_text}"

    @property
    def penalty(self) -> str:
        """The penalty of the estimates; empty without one."""
        if not self.inferential:
            return ""
        return str(dict(self.fitted.fit.facts).get("penalty", ""))

    @cached_property
    def ratio(self) -> Ratio | None:
        """The ratio shown for effects; None if coefficients are shown."""
        if not self.inferential:
            return None
        ratio = ratio_of(self.fitted)
        wanted = self.options.exponentiate
        if wanted is None:
            wanted = self.options.clinical and ratio.named
        return ratio if wanted else None

    @cached_property
    def coefficients(self) -> pd.DataFrame:
        """The tidy frame of the fit."""
        options: dict[str, Any] = (
            {"level": self.options.level} if self.inferential else {}
        )
        if self.per is not None:
            options["per"] = self.per
        return cast(pd.DataFrame, self.fit.tidy(**options))

    @cached_property
    def kinds(self) -> list[str]:
        """The kind of each parameter."""
        return list(self.coefficients["coef_type"])

    @property
    def nominal_words(self) -> str:
        """What the sign of its nominal effects means; empty without any."""
        words: str = self.fitted.family.nominal_words
        return words if "nominal" in self.kinds else ""

    @cached_property
    def terms(self) -> list[str]:
        """The name of each parameter."""
        return list(self.coefficients["term"])

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """The values of all parameters, ratios if they are shown."""
        frame = pd.DataFrame(self.coefficients).reindex(columns=_VALUES)
        frame = frame.astype(float)
        if self.ratio is not None:
            columns = ["estimate", "conf_low", "conf_high"]
            values = frame[columns].to_numpy()
            frame[columns] = self.ratio.exponents(self.kinds, values)
            # standard errors of ratios by the delta method
            changed = self.coefficients["coef_type"].isin(_EFFECTS)
            frame.loc[changed, "std_error"] *= frame["estimate"]
        return frame

    @cached_property
    def stopped(self) -> list[str]:
        """Parameters along which the likelihood has no maximum."""
        return self.fitted.stopped if self.inferential else []

    @cached_property
    def records(self) -> list[Parameter | None]:
        """What each parameter is; None for thresholds without a likelihood."""
        known = {
            (record.kind, record.name): record for record in self.fitted.all_parameters
        }
        return [known.get(pair) for pair in zip(self.kinds, self.terms, strict=True)]

    @cached_property
    def shown_labels(self) -> list[str]:
        """The label of each parameter."""
        suffixes = self.coefficients.attrs.get("per", {})
        labels = []
        for record, term in zip(self.records, self.terms, strict=True):
            if record is None:
                labels.append(self.options.labels.get(term, term))
            else:
                unit = suffixes.get(term, "")
                labels.append(
                    record.shown(self.options.labels, self.ratio is not None, unit)
                )
        return labels

    @cached_property
    def few_thresholds(self) -> bool:
        """Whether the thresholds are so few that a table shows them unasked."""
        return list(self.kinds).count("threshold") <= _MOST_THRESHOLDS

    def has_row(self, place: int) -> bool:
        """Whether a parameter has a row."""
        thresholds = self.options.thresholds
        if thresholds is None:
            thresholds = not self.options.clinical and self.few_thresholds
        return thresholds or self.kinds[place] != "threshold"

    @cached_property
    def curves(self) -> dict[int, _Row]:
        """One row for a term of several columns of numbers, by the place of each
        column.
        """
        rows: dict[int, _Row] = {}
        terms = self.fitted.design.spec.curves if self.inferential else ()
        for kind, term, columns in terms:
            hypothesis = f"scale.{term.label}" if kind == "scale" else term.label
            if any(_is_penalised(factor) for factor in term.factors):
                values, words = _smooth_tested(self.fit, term)
            else:
                values, words = _tested(self.fit.test(hypothesis))
            label = shown_term(term, self.options.labels)
            if kind == "scale":
                label = f"{label} (scale)"
            row = _Row(
                label=label,
                part=_PARTS.index(kind),
                values=values,
                words=("", words),
                tests_term=True,
            )
            for place, record in enumerate(self.records):
                if record is None or record.kind != kind:
                    continue
                if record.column in columns:
                    rows[place] = row
        return rows

    @cached_property
    def decimals(self) -> int:
        """Decimals of the whole column: as many as its small effects need, within
        reason.
        """
        if self.options.digits is not None:
            return self.options.digits
        needed = []
        for place, digits in enumerate(self._needed_decimals):
            if self.has_row(place) and place not in self.curves:
                needed.append(int(digits))
        if not needed:
            return self.usual_decimals
        most = max(self.usual_decimals + _MOST_MORE, min(needed))
        return min(max(needed), most)

    @property
    def usual_decimals(self) -> int:
        """Usual decimals."""
        return 3 if self.ratio is None else 2

    @property
    def _needed_decimals(self) -> IntArray:
        """Decimals that show the half-width of an interval."""
        half = 2.0 * self.numbers["std_error"].to_numpy()
        small = (half > 0.0) & (half < 10.0**-self.usual_decimals)
        digits = 1.0 - np.floor(np.log10(np.where(small, half, 1.0)))
        return np.where(small, digits, self.usual_decimals).astype(np.intp)

    @property
    def small_effects(self) -> list[str]:
        """Labels of numeric variables whose effects need more decimals than usual."""
        if self.options.digits is not None or self.per is not None:
            return []
        labels = []
        for place, needed in enumerate(self._needed_decimals):
            record = self.records[place]
            if record is None or record.kind != "location" or record.column is None:
                continue
            if needed > self.usual_decimals and record.column.variables:
                labels.append(self.shown_labels[place])
        return labels

    def lacking(self, lack: str) -> list[str]:
        """Labels of the parameters shown that lack something, one of `LACKS`; those of
        infinite estimates with their sign.
        """
        labels = []
        for place, label in enumerate(self.shown_labels):
            if not self.has_row(place) or self._lack(place) != lack:
                continue
            if lack == "infinite":
                # a minus sign, as lines may end after a hyphen
                sign = "+" if self._coefficient(place) > 0.0 else "−"
                label = f"{label} ({sign}∞)"
            labels.append(label)
        return labels

    def _coefficient(self, place: int) -> float:
        return float(self.coefficients["estimate"].iloc[place])

    def _lack(self, place: int) -> str:
        """What a parameter lacks; empty if nothing."""
        value = self._coefficient(place)
        if np.isinf(value):
            return "infinite"
        if np.isnan(value):
            return "aliased"
        if self.terms[place] in self.stopped:
            return "diverging"
        if not self.inferential or np.isfinite(self.numbers["std_error"].iloc[place]):
            return ""
        if self.kinds[place] == "sd" and value == 0.0:
            return "boundary"
        if self.kinds[place] in _EFFECTS:
            return "error"
        return ""

    @property
    def heads(self) -> list[str]:
        """Heads of the columns of the fit."""
        if not self.options.clinical:
            return [""]
        # a note below the table says of which levels
        name = "coefficient" if self.ratio is None else self.ratio.noun
        if self.inferential:
            inference = [f"{100 * self.options.level:g}% CI", "p"]
        else:
            inference = []
        return [name[:1].upper() + name[1:], *inference]

    def rows(self) -> Iterator[_Row]:
        """The rows, with those of reference levels in clinical tables."""
        done = set[str]()
        for place, label in enumerate(self.shown_labels):
            if not self.has_row(place):
                continue
            if place in self.curves:
                row = self.curves[place]
                if row.label not in done:
                    yield row
                done.add(row.label)
                continue
            reference = self._reference(place)
            if reference is not None and reference.label not in done:
                yield reference
                done.add(reference.label)
            yield _Row(
                label=label,
                part=_PARTS.index(self.kinds[place]),
                values=self.numbers.iloc[place],
                place=place,
            )

    def _reference(self, place: int) -> _Row | None:
        """The row of the reference level above the first other level of a factor, in a
        clinical table.
        """
        record = self.records[place]
        references = self.fitted.design.spec.references
        if (
            not self.options.clinical
            or record is None
            or record.column not in references
        ):
            return None
        if record.kind not in ("location", "nominal"):
            return None
        return _Row(
            label=references[record.column].shown(self.options.labels),
            part=_PARTS.index(record.kind),
            words=(f"{0 if self.ratio is None else 1} (ref.)", ""),
        )

    def _number(self, value: float) -> str:
        if np.isnan(value):
            return ""
        if np.isinf(value):
            return "∞" if value > 0.0 else "-∞"
        if abs(value) >= _LARGE:
            return f"{value:.3g}"
        return f"{value:z.{self.decimals}f}"

    def texts(self, row: _Row) -> list[str]:
        """Cells of a row: one, or three in a clinical table."""
        values = row.values
        estimate, interval = row.words
        figures = {"interval": interval}
        p = ""
        if values is not None:
            if not np.isnan(values["p_value"]):
                p = short_p_value(values["p_value"])
            if not row.tests_term:
                estimate = self._estimate(row)
                figures = {
                    "std_error": self._number(values["std_error"]),
                    "interval": self._interval(values),
                    "p_value": p,
                }
            if self.options.stars:
                estimate += "*" * int(np.sum(values["p_value"] < _STARS))
        if self.options.clinical:
            return [estimate, figures["interval"], p]
        if row.tests_term:
            sign = "" if p.startswith("<") else "= "
            lines = [interval, f"(p {sign}{p})" if p else ""]
        else:
            text = figures.get(str(self.options.below), "")
            brackets = "[{}]" if self.options.below == "interval" else "({})"
            lines = [estimate, brackets.format(text) if text else ""]
        return ["\n".join(filter(None, lines))]

    def _interval(self, values: pd.Series) -> str:
        low = self._number(values["conf_low"])
        high = self._number(values["conf_high"])
        return f"{low}, {high}" if low else ""

    def _estimate(self, row: _Row) -> str:
        """The estimate, or in words why there is none."""
        lack = self._lack(row.place)
        if lack == "aliased":
            return _ALIASED
        if lack in ("infinite", "diverging"):
            return _INFINITE
        return self._number(cast(pd.Series, row.values)["estimate"])

    @property
    def has_others(self) -> bool:
        """Whether some rows are not exponentiated although ratios are shown."""
        kinds = {_PARTS[row.part] for row in self.rows()}
        return not kinds <= set(_EFFECTS)

    def cells(self) -> pd.DataFrame:
        """Cells by label; the last two columns hold the group and the parts of the
        rows.
        """
        made = []
        labels = []
        for row in self.rows():
            apart = self.ratio is not None and _PARTS[row.part] not in _EFFECTS
            group = "other" if apart else "coef"
            made.append([*self.texts(row)[: len(self.heads)], group, row.part])
            labels.append(row.label)
        return pd.DataFrame(made, labels, [*self.heads, "group", "part"])

    def figures(self, names: Sequence[str]) -> list[str]:
        """Figures of the fit as text; blank if the fit lacks one."""
        digits = 3 if self.options.digits is None else self.options.digits
        texts = []
        for name in names:
            value = float(self.known_figures.get(name, np.nan))
            if np.isnan(value):
                texts.append("")
            elif name == "nobs":
                texts.append(count(value))
            else:
                texts.append(f"{value:z.{digits}f}")
        return texts

    def has(self, name: str) -> bool:
        """Whether the fit has a value of a figure."""
        return not np.isnan(float(self.known_figures.get(name, np.nan)))

    @cached_property
    def known_figures(self) -> Mapping[str, Any]:
        """Figures of `glance`, with the number of observations if weights are not
        numbers of rows; only that number if no maximum was found.
        """
        people = {"nobs": observations(self.fitted)}
        if self.fitted.fit.lost:
            return people
        figures = cast(dict[str, Any], self.fit.glance().iloc[0].to_dict())
        return figures | people

    @property
    def nameable(self) -> set[str]:
        """What the user may label."""
        spec = self.fitted.design.spec
        names = {
            self.fitted.design.response,
            *self.fitted.names_shown(),
            *self.terms,
        }
        for factor in (*spec.factors.values(), *spec.groups.values()):
            names |= {factor.label, *factor.names}
        return names | {term.group for term in spec.random}


def _is_penalised(factor: Expression) -> bool:
    return is_smooth(factor.tree) or is_random(factor.tree)


def _smooth_tested(fit: Any, term: Term) -> tuple[pd.Series, str]:
    """The p-value of a smooth, and its degrees of freedom in words, for re(g) after the
    standard deviation; of the smooths of several groups the degrees of freedom
    together.
    """
    tests = fit.smooths()
    smooth = next(filter(_is_penalised, term.factors))
    beside = set(term.factors) - {smooth}
    own = []
    for place, name in enumerate(fit.design.smooths):
        pieces = () if name.beside is None else name.beside.pieces
        same = {piece.factor for piece in pieces} == beside
        if name.factor == smooth and same:
            own.append(place)
    table = tests.iloc[own]
    p_value = table["p_value"].iloc[0] if len(own) == 1 else np.nan
    values = pd.Series(dict.fromkeys(_VALUES, np.nan) | {"p_value": p_value})
    edf = f"edf {table['edf'].sum():.2f}"
    if is_random(smooth.tree):
        return values, f"SD {table['sd'].iloc[0]:.2f}, {edf}"
    return values, edf


def _tested(test: pd.DataFrame) -> tuple[pd.Series, str]:
    """The p-value of the last test of a table, and the test in words."""
    last = test.iloc[-1]
    df = f"{last['df']:.0f}"
    if "F" in test:
        rest = last["df_resid"] if "df_resid" in test else last["df_denom"]
        words = f"F({df}, {rest:.4g}) = {last['F']:.2f}"
    else:
        words = f"chi2({df}) = {last['chisq']:.2f}"
    if not np.isfinite(last["p_value"]):
        words = _INFINITE
    values = pd.Series(dict.fromkeys(_VALUES, np.nan) | {"p_value": last["p_value"]})
    return values, words
