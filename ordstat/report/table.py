"""Tables of several fits for papers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd

from .._typing import IntArray
from ..checks import (
    did_you_mean,
    flag,
    fraction,
    labelled,
    listed_texts,
    mapping,
    one_of,
    path_given,
    text_given,
    whole,
)
from ..exceptions import OptionError
from ..formula.names import Parameter, shown_term
from .advice import with_advice
from .cells import count, in_tex, short_p_value, wrapped
from .frames import SCREEN
from .ratios import Ratio, ratio_of
from .sections import observations


def per_of_each(fits: Mapping[str, Any], per: Any) -> dict[str, Any]:
    """`per` of each fit: without the variables that only other fits contain."""
    if not isinstance(per, Mapping):
        return dict.fromkeys(fits, per)
    own = {
        name: frozenset[str]().union(*fit.design.spec.variables().values())
        for name, fit in fits.items()
    }
    used = frozenset[str]().union(*own.values())
    return {
        name: {x: per[x] for x in per if x in own[name] or x not in used} or None
        for name in fits
    }


_FIGURES = {
    "nobs": "N",
    "loglik": "Log-likelihood",
    "aic": "AIC",
    "bic": "BIC",
    "mcfadden": "McFadden R²",
}
#: Figures that are shown if the user names none.
_USUAL = ("nobs", "loglik", "aic")
_CLINICAL = ("nobs",)
_VALUES = ["estimate", "std_error", "p_value", "conf_low", "conf_high"]
#: Kinds of parameters in the order of the rows.
_PARTS = ("location", "nominal", "scale", "lambda", "threshold", "sd", "cor")
#: Kinds that are effects; the others stay as they are beside ratios, in rows of their
#: own.
_EFFECTS = ("location", "nominal", "scale")
#: Start of the note on effects that need more decimals.
_SMALL = "Small effects are per unit of "
_PER = "per= shows larger steps, as in per={'age': 10}."
_STARS = np.array([0.001, 0.01, 0.05])
#: Decimals beyond the usual ones that small effects may add to a column.
_MOST_MORE = 2
#: Numbers from here on are written with a power of ten.
_LARGE = 1e6
#: Cells of estimates without a finite value, and of aliased columns.
_INFINITE = "not estimable"
_ALIASED = "not estimated"


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
    place : int
        Place of the parameter among those of the fit.
    """

    label: str
    part: int
    values: pd.Series | None = None
    words: tuple[str, str] = ("", "")
    place: int = 0


@dataclass(frozen=True, kw_only=True)
class _Column:
    """One fit in a table."""

    name: str
    fit: Any
    clinical: bool
    exponentiate: bool | None
    thresholds: bool | None
    below: str | None
    labels: Mapping[str, str]
    stars: bool
    digits: int | None
    level: float
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

    @cached_property
    def ratio(self) -> Ratio | None:
        """The ratio shown for effects; None if coefficients are shown."""
        wanted = self.clinical if self.exponentiate is None else self.exponentiate
        if not self.inferential or not wanted:
            return None
        ratio = ratio_of(self.fitted)
        return ratio if self.exponentiate or ratio.named else None

    @cached_property
    def coefficients(self) -> pd.DataFrame:
        """The tidy frame of the fit."""
        options: dict[str, Any] = {"level": self.level} if self.inferential else {}
        if self.per is not None:
            options["per"] = self.per
        return cast(pd.DataFrame, self.fit.tidy(**options))

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """The values of all parameters, ratios if they are shown."""
        frame = pd.DataFrame(self.coefficients).reindex(
            columns=["term", "coef_type", *_VALUES]
        )
        frame = frame.astype(dict.fromkeys(_VALUES, float))
        if self.ratio is not None:
            columns = ["estimate", "conf_low", "conf_high"]
            kinds = list(frame["coef_type"])
            frame[columns] = self.ratio.exponents(kinds, frame[columns].to_numpy())
            changed = frame["coef_type"].isin(_EFFECTS)
            frame.loc[changed, "std_error"] *= frame["estimate"]  # delta method
        return frame

    @property
    def stopped(self) -> list[str]:
        """Parameters along which the likelihood has no maximum."""
        return self.fitted.stopped if self.inferential else []

    @cached_property
    def records(self) -> list[Parameter | None]:
        """What each parameter is; None for thresholds without a likelihood."""
        known = {
            (record.kind, record.name): record for record in self.fitted.all_parameters
        }
        pairs = zip(self.numbers["coef_type"], self.numbers["term"], strict=True)
        return [known.get(pair) for pair in pairs]

    @cached_property
    def shown_labels(self) -> list[str]:
        """The label of each parameter."""
        suffixes = self.coefficients.attrs.get("per", {})
        labels = []
        for record, term in zip(self.records, self.numbers["term"], strict=True):
            if record is None:
                labels.append(self.labels.get(term, term))
            else:
                unit = suffixes.get(term, "")
                labels.append(record.shown(self.labels, self.ratio is not None, unit))
        return labels

    @cached_property
    def curves(self) -> dict[int, _Row]:
        """One row for a term of several columns of numbers, by the place of each
        column.
        """
        rows: dict[int, _Row] = {}
        terms = self.fitted.design.spec.curves if self.inferential else ()
        for kind, term, columns in terms:
            hypothesis = f"scale.{term.label}" if kind == "scale" else term.label
            values, words = _tested(self.fit.test(hypothesis))
            label = shown_term(term, self.labels)
            if kind == "scale":
                label = f"{label} (scale)"
            row = _Row(label=label, part=_PARTS.index(kind), values=values, words=words)
            for place, record in enumerate(self.records):
                if (
                    record is not None
                    and record.kind == kind
                    and record.column in columns
                ):
                    rows[place] = row
        return rows

    @cached_property
    def decimals(self) -> int:
        """Decimals of the whole column: as many as its small effects need, within
        reason.
        """
        if self.digits is not None:
            return self.digits
        needed = []
        for place, digits in enumerate(self._needed):
            if self.shown(place) and place not in self.curves:
                needed.append(int(digits))
        least = min(needed, default=self.usual)
        return min(max(needed, default=self.usual), max(self.usual + _MOST_MORE, least))

    @property
    def usual(self) -> int:
        """Usual decimals."""
        return 3 if self.ratio is None else 2

    @property
    def _needed(self) -> IntArray:
        """Decimals that show the half-width of an interval."""
        half = 2.0 * self.numbers["std_error"].to_numpy()
        small = (half > 0.0) & (half < 10.0**-self.usual)
        digits = 1.0 - np.floor(np.log10(np.where(small, half, 1.0)))
        return np.where(small, digits, self.usual).astype(np.intp)

    @property
    def small(self) -> list[str]:
        """Labels of numeric variables with effects that need more decimals than usual."""
        if self.digits is not None or self.per is not None:
            return []
        names = []
        for record, needed, label in zip(
            self.records, self._needed, self.shown_labels, strict=True
        ):
            column = (
                None if record is None or record.kind != "location" else record.column
            )
            if needed > self.usual and column is not None and column.variables:
                names.append(label)
        return names

    @property
    def heads(self) -> list[str]:
        """Heads of the columns of a clinical table."""
        name = "coefficient" if self.ratio is None else self.ratio.name
        inference = [f"{100 * self.level:g}% CI", "p"] if self.inferential else []
        return [name[:1].upper() + name[1:], *inference]

    def without_value(self, infinite: bool) -> list[str]:
        """Labels of effects with an infinite estimate and its sign, or of those not
        estimated.
        """
        coefficients = self.coefficients["estimate"].to_numpy(dtype=np.float64)
        labels = []
        for place, (label, value) in enumerate(
            zip(self.shown_labels, coefficients, strict=True)
        ):
            if not self.shown(place):
                continue
            if infinite and np.isinf(value):
                labels.append(f"{label} ({'+' if value > 0.0 else '-'}infinity)")
            elif not infinite and np.isnan(value):
                labels.append(label)
        return labels

    @property
    def without_maximum(self) -> list[str]:
        """Labels of the parameters along which the likelihood has no maximum."""
        labels = zip(self.shown_labels, self.numbers["term"], strict=True)
        return [
            label
            for place, (label, term) in enumerate(labels)
            if term in self.stopped and self.shown(place)
        ]

    @property
    def without_error(self) -> list[str]:
        """Labels of effects with a finite estimate and no standard error."""
        finite = np.isfinite(self.coefficients["estimate"].to_numpy(dtype=np.float64))
        lost = finite & self.numbers["std_error"].isna().to_numpy()
        labels = []
        for place in np.flatnonzero(lost):
            effect = self.numbers["coef_type"].iloc[place] in _EFFECTS
            if (
                effect
                and self.shown(int(place))
                and self.numbers["term"].iloc[place] not in self.stopped
            ):
                labels.append(self.shown_labels[place])
        return labels

    def shown(self, place: int) -> bool:
        """Whether a parameter has a row."""
        shown = not self.clinical if self.thresholds is None else self.thresholds
        return shown or self.numbers["coef_type"].iloc[place] != "threshold"

    def rows(self) -> Iterator[_Row]:
        """The rows, with those of reference levels in clinical tables."""
        references = self.fitted.design.spec.references if self.clinical else {}
        done = set[str]()
        for place, (record, label) in enumerate(
            zip(self.records, self.shown_labels, strict=True)
        ):
            kind = str(self.numbers["coef_type"].iloc[place])
            if not self.shown(place):
                continue
            if place in self.curves:
                row = self.curves[place]
                if row.label not in done:
                    yield row
                done.add(row.label)
                continue
            column = None if record is None else record.column
            if column in references and kind in ("location", "nominal"):
                level = references[column].shown(self.labels)
                if level not in done:
                    reference = f"{0 if self.ratio is None else 1} (reference)"
                    yield _Row(
                        label=level, part=_PARTS.index(kind), words=(reference, "")
                    )
                done.add(level)
            yield _Row(
                label=label,
                part=_PARTS.index(kind),
                values=self.numbers.iloc[place],
                place=place,
            )

    def _number(self, value: float) -> str:
        if np.isnan(value):
            return ""
        if np.isinf(value):
            return "∞" if value > 0.0 else "-∞"
        return f"{value:.3g}" if abs(value) >= _LARGE else f"{value:z.{self.decimals}f}"

    def texts(self, row: _Row) -> list[str]:
        """Cells of a row: one, or three in a clinical table."""
        estimate, interval = row.words
        error = p = ""
        if row.values is not None:
            values = row.values
            p = "" if np.isnan(values["p_value"]) else short_p_value(values["p_value"])
            if not interval:
                estimate = self._estimate(values, row.place)
                error = self._number(values["std_error"])
                low = self._number(values["conf_low"])
                interval = low and f"{low}, {self._number(values['conf_high'])}"
            if self.stars:
                estimate += "*" * int(np.sum(values["p_value"] < _STARS))
        if self.clinical:
            return [estimate, interval, p]
        below = {
            "std_error": error and f"({error})",
            "interval": interval and f"[{interval}]",
            "p_value": p and f"({p})",
        }
        if row.words[1]:
            return [
                "\n".join(
                    filter(None, [interval, p and f"(p {p})".replace("p .", "p = .")])
                )
            ]
        return ["\n".join(filter(None, [estimate, below.get(str(self.below))]))]

    def _estimate(self, values: pd.Series, place: int) -> str:
        """The estimate, or in words why there is none."""
        if np.isnan(values["estimate"]):
            return _ALIASED
        coefficient = self.coefficients["estimate"].iloc[place]
        endless = np.isinf(coefficient) or values["term"] in self.stopped
        return _INFINITE if endless else self._number(values["estimate"])

    def cells(self) -> pd.DataFrame:
        """Cells by label; the last two columns hold the group and the parts of the
        rows.
        """
        heads = self.heads if self.clinical else [""]
        made = []
        labels = []
        for row in self.rows():
            apart = self.ratio is not None and _PARTS[row.part] not in _EFFECTS
            made.append(
                [*self.texts(row)[: len(heads)], "other" if apart else "coef", row.part]
            )
            labels.append(row.label)
        return pd.DataFrame(made, labels, [*heads, "group", "part"])

    def figures(self, names: Sequence[str]) -> list[str]:
        """Figures of the fit as text; blank if the fit lacks one."""
        digits = 3 if self.digits is None else self.digits
        known = self.known_figures
        values = [(name, float(known.get(name, np.nan))) for name in names]
        return [
            "" if np.isnan(x) else count(x) if name == "nobs" else f"{x:z.{digits}f}"
            for name, x in values
        ]

    @property
    def known_figures(self) -> Mapping[str, Any]:
        """Figures of `glance`, with the number of people for weights that are no
        numbers of rows.
        """
        figures = cast(dict[str, Any], self.fit.glance().iloc[0].to_dict())
        return figures | {"nobs": observations(self.fitted)}

    @property
    def names(self) -> set[str]:
        """What the user may label."""
        spec = self.fitted.design.spec
        names = {
            self.fitted.design.response,
            *self.fitted.names_shown(),
            *self.numbers["term"],
        }
        for factor in (*spec.factors.values(), *spec.groups.values()):
            names |= {factor.label, *factor.names}
        return names | {term.group for term in spec.random}


def _tested(test: pd.DataFrame) -> tuple[pd.Series, tuple[str, str]]:
    """The p-value of the last test of a table, and the test in words."""
    last = test.iloc[-1]
    df = f"{last['df']:.0f}"
    if "F" in test:
        rest = last["df_resid"] if "df_resid" in test else last["df_denom"]
        words = f"F({df}, {rest:.4g}) = {last['F']:.2f}"
    else:
        words = f"chi2({df}) = {last['chisq']:.2f}"
    values = pd.Series(dict.fromkeys(_VALUES, np.nan) | {"p_value": last["p_value"]})
    return values, ("", words if np.isfinite(last["p_value"]) else _INFINITE)


@with_advice
def table(
    fits: Any,
    *,
    style: str = "paper",
    exponentiate: bool | None = None,
    below: str | None = "std_error",
    labels: Mapping[str, str] | None = None,
    thresholds: bool | None = None,
    gof: Sequence[str] | None = None,
    stars: bool = False,
    digits: int | None = None,
    level: float = 0.95,
    per: Any = None,
    title: str | None = None,
    notes: str = "",
) -> Any:
    """Table of fits for a paper: side by side, or with estimate, interval and p-value
    in separate columns.

    Parameters
    ----------
    fits : fit, list of fits, or mapping of names to fits
        Fits of methods with coefficients or thresholds, or pooled over imputations.
        Names are heads of columns.
    style : {"paper", "clinical"}
        "paper": a column for each fit, a row for each parameter. "clinical": odds
        ratios (or hazard ratios, or coefficients, by the link), interval and p-value
        side by side, with reference levels, without thresholds.
    exponentiate : bool, optional
        Whether to show effects of likelihood fits as ratios; by default in clinical
        tables, if the link has ratios. Thresholds and random effects stay as they are,
        in rows of their own.
    below : {"std_error", "interval", "p_value"} or None
        Figure below each estimate in the style "paper". Standard errors of ratios are
        by the delta method.
    labels : mapping of str to str, optional
        Labels of terms, variables and the response, by name; {"income": "Income"} also
        labels log(income).
    thresholds : bool, optional
        Whether to show thresholds; by default in the style "paper".
    gof : sequence of str, optional
        Names of figures in `glance`; by default nobs and, in the style "paper", loglik
        and aic of fits that have them.
    stars : bool
        One star for p < .05, two for p < .01, three for p < .001.
    digits : int from 0 to 15, optional
        Decimals of estimates, errors and limits. By default 2 for ratios and 3 for
        coefficients, and up to two more in the whole column for small effects, which a
        note names.
    level : float in (0, 1)
        Confidence level of the limits.
    per : dict of variable to number, or "sd", optional
        The change in numeric variables that effects refer to, as in `tidy`: {"age":
        10}.
    title, notes : str, optional

    Returns
    -------
    maketables.MTable
        Prints as text and shows in notebooks. `.make("tex")`, `.make("typst")` and
        `.make("html")` return text, `.save("table.docx")` writes a file (tex, typ, docx
        or html), `.df` is a data frame of the cells. LaTeX needs the packages booktabs,
        makecell, tabularx and threeparttable.

    Raises
    ------
    ImportError
        maketables is not installed.
    OptionError
        An argument of the wrong kind, or a fit without coefficients.

    Examples
    --------
    >>> from ordstat import datasets, ordfit, table
    >>> wine = datasets.load("wine")
    >>> small = ordfit("rating ~ temp", wine)
    >>> shown = table([small, small.update("~ . + contact")], thresholds=False, below="interval", digits=2)
    >>> shown.df.iloc[0].tolist()
    ['2.29\\n[1.28, 3.29]', '2.50\\n[1.47, 3.54]']
    >>> table(small, style="clinical")
                       rating
                   Odds ratio       95% CI      p
    ---------------------------------------------
    temp: cold  1 (reference)
    temp: warm           9.84  3.60, 26.90  <.001
    ---------------------------------------------
    N                      72
    Odds ratios: above 1 = higher response.
    """
    try:
        from maketables import MTable
    except ImportError as error:
        raise ImportError(
            "table() needs the package maketables. Install it: pip install maketables"
        ) from error
    one_of("below", below, ("std_error", "interval", "p_value", None))
    one_of("style", style, ("paper", "clinical"))
    fraction("level", level)
    _check_kinds(
        {"exponentiate": exponentiate, "thresholds": thresholds},
        {"title": title, "notes": notes},
    )
    flag("stars", stars)
    labels = mapping("labels", labels, "{'temp': 'Temperature'}")
    clinical = style == "clinical"
    if isinstance(fits, Mapping):
        by_name = labelled(fits, "fits")
    else:
        listed = fits if isinstance(fits, (list, tuple)) else [fits]
        by_name = {f"({number})": fit for number, fit in enumerate(listed, start=1)}
    _check_fits(by_name, per)
    options: dict[str, Any] = {
        "exponentiate": exponentiate,
        "thresholds": thresholds,
        "below": below,
    }
    options |= {"clinical": clinical, "labels": labels, "stars": stars, "level": level}
    digits = None if digits is None else whole("digits", digits, 0, 15)
    pers = per_of_each(by_name, per)
    columns = [
        _Column(name=name, fit=fit, digits=digits, per=pers[name], **options)
        for name, fit in by_name.items()
    ]
    _check_labels(labels, columns)
    cells = [column.cells() for column in columns]
    order = pd.concat(cells).sort_values(["group", "part"], kind="stable")
    order = order[~order.index.duplicated()]
    groups = dict(zip(order.index, order["group"], strict=True))
    figures = _chosen_figures(gof, columns, clinical)
    index = [(group, label) for label, group in groups.items()]
    index += [("stats", _FIGURES.get(name, name)) for name in figures]
    values: dict[tuple[str, str], list[str]] = {}
    for name, column, texts in zip(by_name, columns, cells, strict=True):
        response = column.fitted.design.response
        top = (
            name
            if clinical and len(columns) > 1
            else str(labels.get(response, response))
        )
        blank = [""] * len(figures)
        for i, head in enumerate(column.heads if clinical else [""]):
            rows = [
                *texts[head].reindex(list(groups)).fillna(""),
                *(blank if i else column.figures(figures)),
            ]
            values[top, head or name] = rows
    frame = pd.DataFrame(values, index=pd.MultiIndex.from_tuples(index))
    remarks = [*filter(None, [notes]), *_remarks(columns)]

    class _Table(MTable):
        def __repr__(self) -> str:
            shown = self.df.map(lambda cell: " ".join(str(cell).split())).droplevel(0)
            lines = shown.to_string().splitlines()
            first = len(lines) - len(shown)
            rule = "-" * max(map(len, lines))
            kinds = self.df.index.get_level_values(0)
            for place in range(len(kinds) - 1, -1, -1):
                if place == 0 or kinds[place] != kinds[place - 1]:
                    lines.insert(first + place, rule)
            hint = [_PER] if any(text.startswith(_SMALL) for text in remarks) else []
            wide = [
                line
                for text in (*remarks, *hint)
                for line in wrapped(text, max(len(rule), SCREEN))
            ]
            return "\n".join(map(str.rstrip, [*filter(None, [title]), *lines, *wide]))

        def save(self, file_name: str, type: str | None = None, **more: Any) -> None:  # type: ignore[override]
            """Write a file of the kind that its ending names."""
            ending = os.path.splitext(path_given("file_name", file_name))[
                1
            ].removeprefix(".")
            kind = type or {"typ": "typst"}.get(ending, ending)
            one_of(
                "the ending of file_name", kind, ("tex", "typ", "typst", "docx", "html")
            )
            MTable.save(
                self,
                kind,
                os.path.abspath(file_name),
                **{"show": False, "replace": True, **more},
            )

        def _output_tex(self, *args: Any, **more: Any) -> str:
            texts = self.df.map(in_tex).rename(index=in_tex, columns=in_tex)
            escaped = MTable(
                texts,
                in_tex(self.notes),
                self.caption and in_tex(self.caption),
                rgroup_display=False,
            )
            return str(escaped._output_tex(*args, **more))

    return _Table(frame, " ".join(remarks), title, rgroup_display=False)


def _check_kinds(flags: Mapping[str, Any], texts: Mapping[str, Any]) -> None:
    """OptionError for a value that is neither None nor of its kind."""
    for name, value in flags.items():
        if value is not None:
            flag(name, value)
    for name, value in texts.items():
        if value is not None:
            text_given(name, value)


def _check_fits(fits: Mapping[str, Any], per: Any) -> None:
    if not fits:
        raise OptionError("fits must hold at least one fit; got none.")
    for name, fit in fits.items():
        if not hasattr(fit, "tidy") or not hasattr(fit, "glance"):
            raise OptionError(
                f"fits must be fits with coefficients or thresholds; {name} is a"
                f" {type(fit).__name__}. Leave it out."
            )
        if per is not None and not fit.method.likelihood:
            raise OptionError(
                f"per must be left out for a {type(fit).__name__}; got {per!r}. Rescale"
                " the column."
            )


def _check_labels(labels: Mapping[str, str], columns: Sequence[_Column]) -> None:
    """OptionError for a label of something that no fit has."""
    known = set[str]().union(*(column.names for column in columns))
    for name in labels:
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            raise OptionError(
                "labels must name variables, terms or the response of the fits; got"
                f" {name!r}.{hint}"
            )


def _chosen_figures(
    gof: Sequence[str] | None, columns: Sequence[_Column], clinical: bool
) -> list[str]:
    """Names of the figures: those of the user, or the usual ones that a fit has."""
    available = dict.fromkeys(key for column in columns for key in column.known_figures)
    if gof is not None:
        names = listed_texts("gof", gof)
        for name in names:
            one_of("each gof", name, available)
        return names
    usual = _CLINICAL if clinical else _USUAL
    return [name for name in usual if name in available]


def _said_of(texts: Mapping[str, str], columns: Sequence[_Column]) -> Iterator[str]:
    """Notes of some columns: once if all columns have the same, else with their names."""
    different = set(texts.values())
    if len(different) == 1 and len(texts) == len(columns):
        yield from different
    else:
        yield from [f"{name}: {text}" for name, text in texts.items()]


def _remarks(columns: Sequence[_Column]) -> Iterator[str]:
    """Notes that explain the numbers."""
    yield from _said_of(
        {column.name: _direction(column) for column in columns}, columns
    )
    inferential = [column for column in columns if column.inferential]
    ratios = [column for column in inferential if column.ratio is not None]
    yield from _of_cells(columns[0], bool(inferential), bool(ratios))
    parts = {kind for column in inferential for kind in column.numbers["coef_type"]}
    if ratios and any(column.cells()["group"].eq("other").any() for column in ratios):
        yield "Rows below the effects are not exponentiated."
    if ratios and "scale" in parts:
        yield "(scale): factors of the spread of the response."
    if not ratios and "nominal" in parts:
        yield "Effects at a threshold, such as A|B: positive = lower response."
    if any(column.curves for column in columns):
        yield (
            "Terms of several columns, such as splines, have one Wald test of the whole"
            " term."
        )
    infinite = dict.fromkeys(
        label for column in columns for label in column.without_value(infinite=True)
    )
    if infinite:
        yield (
            f"{_INFINITE.capitalize()}, as the response is separated:"
            f" {', '.join(infinite)}."
        )
    endless = dict.fromkeys(
        label for column in columns for label in column.without_maximum
    )
    if endless:
        yield (
            f"{_INFINITE.capitalize()}, as the likelihood has no maximum:"
            f" {', '.join(endless)}."
        )
    aliased = dict.fromkeys(
        label for column in columns for label in column.without_value(infinite=False)
    )
    if aliased:
        yield (
            f"{_ALIASED.capitalize()}, as the data or other columns do not determine"
            f" them: {', '.join(aliased)}."
        )
    lone = dict.fromkeys(
        label for column in inferential for label in column.without_error
    )
    if lone:
        yield (
            "Without a standard error, for the reason that the fit gives:"
            f" {', '.join(lone)}."
        )
    if any(column.fitted.own_covariance.name != "model" for column in inferential):
        words = {
            column.name: f"Standard errors: {column.fitted.own_covariance.words}."
            for column in inferential
        }
        yield from _said_of(words, columns)
    pooled = [column for column in columns if column.pooled]
    rules = "Pooled over {} imputations by Rubin's rules."
    yield from _said_of(
        {column.name: rules.format(column.fit.n_imputations) for column in pooled},
        columns,
    )
    small = dict.fromkeys(label for column in columns for label in column.small)
    if small:
        yield f"{_SMALL}{', '.join(small)}."


def _direction(column: _Column) -> str:
    """Which values mean a higher response."""
    if column.ratio is None:
        return "Coefficients: positive = higher response."
    return column.ratio.direction


def _of_cells(column: _Column, inferential: bool, ratios: bool) -> Iterator[str]:
    """What stands in brackets below the estimates."""
    if column.clinical or not inferential:
        return
    if column.below == "interval":
        yield f"{100 * column.level:g}% limits in brackets."
    elif column.below == "std_error" and ratios:
        yield "Standard errors in brackets; those of ratios by the delta method."
    elif column.below == "std_error":
        yield "Standard errors in brackets."
    elif column.below == "p_value":
        yield "p-values in brackets."
