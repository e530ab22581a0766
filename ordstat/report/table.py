"""Tables of several fits for papers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd

from ..checks import fraction, labelled, one_of, whole
from ..exceptions import OptionError
from .advice import with_advice
from .cells import count, in_tex, short_p_value

#: Name, sign of the coefficient, and table title of exponents if the family defines no ratio.
_EXPONENT = ("exp(estimate)", 1.0, "Exponents of the location effects; no odds or hazards under this link")
#: What a ratio of exp(-estimate) means.
INVERSE = "below 1 = higher response"
_SCALED = ("exp(estimate)", 1.0, "Exponents of the location effects: ratios of odds or hazards only at scale 1")


def ratio_of(r: Any) -> tuple[str, float, str]:
    """Name, sign and table title of exp(sign * location effect) under the link of a fit."""
    rows = r.design.sample.rows
    if rows.scale is not None or rows.scale_offset is not None:
        return _SCALED
    return cast(tuple[str, float, str], r.family.ratios.get(r.family.link.name, _EXPONENT))


def per_of_each(fits: Mapping[str, Any], per: Any) -> dict[str, Any]:
    """`per` of each fit: without the variables that only other fits contain."""
    if not isinstance(per, Mapping):
        return dict.fromkeys(fits, per)
    own = {name: frozenset[str]().union(*fit.design.spec.variables().values()) for name, fit in fits.items()}
    used = frozenset[str]().union(*own.values())
    return {name: {x: per[x] for x in per if x in own[name] or x not in used} or None for name in fits}


_FIGURES = {"nobs": "N", "loglik": "Log-likelihood", "aic": "AIC", "bic": "BIC", "mcfadden": "McFadden R²"}
_VALUES = ["estimate", "std_error", "p_value", "conf_low", "conf_high"]
#: Kinds of parameters in the order of the rows.
_PARTS = ("location", "nominal", "scale", "lambda", "threshold", "sd", "cor")
#: Start of the note on effects that need more decimals.
_SMALL = "Small effects are per unit of "
_STARS = np.array([0.001, 0.01, 0.05])


@dataclass(frozen=True, kw_only=True)
class _Column:
    """One fit in a table: its rows of text by parameter label."""

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
    def tidy_options(self) -> dict[str, Any]:
        """Arguments of `tidy`; empty for fits without standard errors."""
        options = {"level": self.level} if hasattr(self.fit, "loglik") or hasattr(self.fit, "fmi") else {}
        return options if self.per is None else {**options, "per": self.per}

    @property
    def ratio(self) -> tuple[str, float, str] | None:
        """The ratio shown for effects; None if coefficients are shown."""
        if not self.tidy_options or not (self.clinical if self.exponentiate is None else self.exponentiate):
            return None
        ratio = ratio_of(self.fitted)
        return ratio if self.exponentiate or ratio[0] != _EXPONENT[0] else None

    @property
    def fitted(self) -> Any:
        """The fit, or the first of those that are pooled."""
        return self.fit.fits[0] if hasattr(self.fit, "fmi") else self.fit

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """The values shown, by parameter name, with part, label and decimals."""
        frame = self.fit.tidy(**self.tidy_options)
        suffixes = frame.attrs.get("per", {})
        frame = pd.DataFrame(frame).reindex(columns=["term", "coef_type", *_VALUES]).set_index("term")
        shown = not self.clinical if self.thresholds is None else self.thresholds
        frame = frame[shown | (frame["coef_type"] != "threshold")].astype(dict.fromkeys(_VALUES, float))
        if self.ratio is not None:
            rows = frame["coef_type"].isin(["location", "nominal", "scale"])
            signs = {"location": self.ratio[1], "nominal": -self.ratio[1], "scale": 1.0}  # nominal: on thresholds
            sign = frame["coef_type"].map(signs).to_numpy()[rows, None]
            with np.errstate(over="ignore"):  # large coefficients give infinity
                values = (frame.loc[rows, ["estimate", "conf_low", "conf_high"]] * sign).apply(np.exp)
            frame.loc[rows, ["estimate", "conf_low", "conf_high"]] = values
            frame.loc[rows, ["conf_low", "conf_high"]] = np.sort(values.iloc[:, 1:], axis=1)
            frame.loc[rows, "std_error"] *= values["estimate"]
        usual = self.digits if self.digits is not None else 3 if self.ratio is None else 2
        half = 2.0 * frame["std_error"].to_numpy()
        small = (half > 0.0) & (half < 10.0**-usual) & (self.digits is None)
        more = np.clip(1.0 - np.floor(np.log10(np.where(small, half, 1.0))), usual, 15.0)
        records = {(record.kind, record.name): record for record in self.fitted.all_parameters}
        labels = []
        for term, kind in zip(frame.index, frame["coef_type"], strict=True):
            record = records.get((kind, term))
            if record is None:
                labels.append(self.labels.get(term, term))
            else:
                labels.append(record.shown(self.labels, self.ratio is not None, suffixes.get(term, "")))
        parts = list(map(_PARTS.index, frame["coef_type"]))
        return frame.assign(label=labels, part=parts, small=small, digits=np.where(small, more, usual).astype(int))

    @property
    def heads(self) -> list[str]:
        """Heads of the columns of a clinical table."""
        name = "coefficient" if self.ratio is None else self.ratio[0]
        return [name[:1].upper() + name[1:], *([f"{100 * self.level:g}% CI", "p"] if self.tidy_options else [])]

    def texts(self, row: pd.Series) -> list[str]:
        """Cells of a parameter: one, or three in a clinical table."""
        estimate, error, low, high = (
            "" if np.isnan(row[name]) else f"{row[name]:.{row['digits']}f}"
            for name in ("estimate", "std_error", "conf_low", "conf_high")
        )
        p = "" if np.isnan(row["p_value"]) else short_p_value(row["p_value"])
        estimate += "*" * (self.stars * int(np.sum(row["p_value"] < _STARS)))
        if self.clinical:
            return [estimate, low and f"{low}, {high}", p]
        below = {"std_error": error and f"({error})", "interval": low and f"[{low}, {high}]", "p_value": p and f"({p})"}
        return ["\n".join(filter(None, [estimate, below.get(str(self.below))]))]

    def cells(self) -> pd.DataFrame:
        """Cells by label; the last column holds the parts of the rows."""
        references: dict[str, str] = {}
        if self.clinical:
            for first, level in self.fitted.design.spec.references.items():
                references[first.text] = level.shown(self.labels)
        heads, rows = self.heads if self.clinical else [""], dict[str, list[Any]]()
        for term, row in self.numbers.iterrows():
            if term in references:
                reference = f"{0 if self.ratio is None else 1} (reference)"
                rows[references[str(term)]] = [reference, "", "", row["part"]]
            rows[row["label"]] = [*self.texts(row), row["part"]]
        kept = [*range(len(heads)), -1]
        return pd.DataFrame([[row[k] for k in kept] for row in rows.values()], list(rows), [*heads, "part"])

    def figures(self, names: Sequence[str]) -> list[str]:
        """Figures of the fit as text; blank if the fit lacks one."""
        glance, digits = self.fit.glance().iloc[0], 3 if self.digits is None else self.digits
        values = [(name, float(glance.get(name, np.nan))) for name in names]
        return ["" if np.isnan(x) else count(x) if name == "nobs" else f"{x:.{digits}f}" for name, x in values]


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
    """Table of fits for a paper: side by side, or with estimate, interval and p-value in separate columns.

    Parameters
    ----------
    fits : fit, list of fits, or mapping of names to fits
        Fits of methods with coefficients or thresholds, or pooled over imputations. Names are heads of columns.
    style : {"paper", "clinical"}
        "paper": a column for each fit, a row for each parameter. "clinical": odds ratios (or hazard ratios, or
        coefficients, by the link), interval and p-value side by side, with reference levels, without thresholds.
    exponentiate : bool, optional
        Whether to show effects of likelihood fits as ratios; by default in clinical tables, if the link has ratios.
    below : {"std_error", "interval", "p_value"} or None
        Figure below each estimate in the style "paper". Standard errors of ratios are by the delta method.
    labels : mapping of str to str, optional
        Labels of terms, variables and the response, by name.
    thresholds : bool, optional
        Whether to show thresholds; by default in the style "paper".
    gof : sequence of str, optional
        Names of figures in `glance`; by default nobs and, in the style "paper", loglik and aic.
    stars : bool
        One star for p < .05, two for p < .01, three for p < .001.
    digits : int from 0 to 15, optional
        Decimals of estimates, errors and limits. By default 2 for ratios and 3 for coefficients; rows of very small
        effects have more, and a note names them.
    level : float in (0, 1)
        Confidence level of the limits.
    per : dict of variable to number, or "sd", optional
        The change in numeric variables that effects refer to, as in `tidy`: {"age": 10}.
    title, notes : str, optional

    Returns
    -------
    maketables.MTable
        Prints as text and shows in notebooks. `.make("tex")`, `.make("typst")` and `.make("html")` return text,
        `.save("table.docx")` writes a file (tex, typ, docx or html), `.df` is a data frame of the cells. LaTeX needs
        the packages booktabs, makecell, tabularx and threeparttable.

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
    temp: cold  1 (reference)
    temp: warm           9.84  3.60, 26.90  <.001
    N                      72
    """
    try:
        from maketables import MTable
    except ImportError as error:
        raise ImportError("table() needs the package maketables. Install it: pip install maketables") from error
    one_of("below", below, ("std_error", "interval", "p_value", None))
    one_of("style", style, ("paper", "clinical"))
    fraction("level", level)
    clinical, labels = style == "clinical", labels or {}
    if isinstance(fits, Mapping):
        by_name = labelled(fits, "fits")
    else:
        listed = fits if isinstance(fits, (list, tuple)) else [fits]
        by_name = {f"({number})": fit for number, fit in enumerate(listed, start=1)}
    _check_fits(by_name, per)
    options: dict[str, Any] = {"exponentiate": exponentiate, "thresholds": thresholds, "below": below}
    options |= {"clinical": clinical, "labels": labels, "stars": stars, "level": level}
    digits = None if digits is None else whole("digits", digits, 0, 15)
    pers = per_of_each(by_name, per)
    columns = [_Column(fit=fit, digits=digits, per=pers[name], **options) for name, fit in by_name.items()]
    cells = [column.cells() for column in columns]
    order = pd.concat(cells).sort_values("part", kind="stable").index.unique()
    usual = ("nobs",) if clinical else ("nobs", "loglik", "aic")
    figures = list(usual if gof is None else gof)
    for name in figures:
        one_of("each gof", name, dict.fromkeys(key for column in columns for key in column.fit.glance()))
    index = [("coef", label) for label in order] + [("stats", _FIGURES.get(name, name)) for name in figures]
    values: dict[tuple[str, str], list[str]] = {}
    for name, column, texts in zip(by_name, columns, cells, strict=True):
        response = column.fit.design.response
        top = name if clinical and len(columns) > 1 else str(labels.get(response, response))
        blank = [""] * len(figures)
        for i, head in enumerate(texts.columns[:-1]):
            rows = [*texts[head].reindex(order).fillna(""), *(blank if i else column.figures(figures))]
            values[top, head or name] = rows
    frame = pd.DataFrame(values, index=pd.MultiIndex.from_tuples(index))
    brackets = f"{100 * level:g}% limits in brackets." if below == "interval" and not clinical else ""
    remarks = [*filter(None, [notes or brackets]), *_remarks(columns)]
    shown, responses = "\n".join(order), {column.fit.design.response for column in columns}
    if unused := [name for name, label in labels.items() if str(label) not in shown and name not in responses]:
        raise OptionError(f"labels must name variables, terms or the response of the fits; got {unused[0]!r}.")

    class _Table(MTable):
        def __repr__(self) -> str:
            shown = self.df.map(lambda cell: " ".join(str(cell).split())).droplevel(0)
            hint = ["per= shows larger steps, as in per={'age': 10}."] * any(
                text.startswith(_SMALL) for text in remarks
            )
            lines = [*filter(None, [title]), *shown.to_string().splitlines(), *remarks, *hint]
            return "\n".join(map(str.rstrip, lines))

        def save(self, file_name: str, type: str | None = None, **more: Any) -> None:  # type: ignore[override]
            """Write a file of the kind that its ending names."""
            ending = os.path.splitext(file_name)[1].removeprefix(".")
            kind = type or {"typ": "typst"}.get(ending, ending)
            one_of("the ending of file_name", kind, ("tex", "typ", "typst", "docx", "html"))
            MTable.save(self, kind, os.path.abspath(file_name), **{"show": False, "replace": True, **more})

        def _output_tex(self, *args: Any, **more: Any) -> str:
            texts = self.df.map(in_tex).rename(index=in_tex, columns=in_tex)
            escaped = MTable(texts, in_tex(self.notes), self.caption and in_tex(self.caption), rgroup_display=False)
            return str(escaped._output_tex(*args, **more))

    return _Table(frame, " ".join(remarks), title, rgroup_display=False)


def _check_fits(fits: Mapping[str, Any], per: Any) -> None:
    if not fits:
        raise OptionError("fits must hold at least one fit; got none.")
    for name, fit in fits.items():
        if not hasattr(fit, "tidy") or not hasattr(fit, "glance"):
            raise OptionError(
                f"fits must be fits with coefficients or thresholds; {name} is a {type(fit).__name__}. Leave it out."
            )
        if per is not None and not hasattr(fit, "loglik"):
            raise OptionError(f"per must be left out for a {type(fit).__name__}; got {per!r}. Rescale the column.")


def _remarks(columns: list[_Column]) -> Iterator[str]:
    """Notes that explain the numbers."""
    fits = [column.fit for column in columns if hasattr(column.fit, "own_covariance")]
    errors = [fit.own_covariance.words for fit in fits]
    for name in dict.fromkeys(column.ratio[0] for column in columns if column.ratio and column.ratio[1] < 0.0):
        yield f"{name.capitalize()}s are exp(-coefficient): {INVERSE}."
    if any(fit.own_covariance.name != "model" for fit in fits):
        yield f"Standard errors: {'; '.join(dict.fromkeys(errors) if len(set(errors)) == 1 else errors)}."
    small = dict[str, None]()
    for column in columns:
        terms = map(str, column.numbers.index[column.numbers["small"] & (column.per is None)])
        small |= dict.fromkeys(filter(str.isidentifier, terms))
    if small:
        yield f"{_SMALL}{', '.join(small)}."
