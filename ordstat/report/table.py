"""Tables of several fits for papers, and names of parameters for readers: `temp: warm` for `temp[T.warm]`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from ..checks import fraction, one_of, whole
from ..exceptions import OptionError
from .cells import count, short_p_value

if TYPE_CHECKING:
    from ..formula.design import Design

#: The level in the name of a column: of treatment contrasts or of an indicator, and not of another coding.
_LEVEL = re.compile(r"\[(?:T\.|(?![A-Z]\.))(.+)\]$", re.DOTALL)
_PRODUCT = re.compile(r":(?! )(?![^\[]*\])")
#: What stands between the two names of a correlation; a point in one of them leaves it as it is.
_PAIR = re.compile(r"\.(?![^\[]*\])")
_RANDOM = re.compile(r"(sd|cor)_(.*)\|(.*)", re.DOTALL)


def row_label(part: str, term: str, labels: Mapping[str, str]) -> str:
    """The label of a parameter: the user's, or its name with the level of a factor after a colon.

    Examples
    --------
    >>> row_label("location", "temp[T.warm]:age", {"age": "Age in years"})
    'temp: warm × Age in years'
    >>> row_label("sd", "sd_(Intercept)|judge", {"judge": "Judge"})
    'SD (Intercept), Judge'
    >>> row_label("cor", "cor_temp[T.warm].(Intercept)|judge", {})
    'Correlation temp: warm with (Intercept), judge'
    """
    if term in labels:
        return labels[term]
    if part in ("sd", "cor") and (match := _RANDOM.fullmatch(term)):
        kind, what, group = match.groups()
        pair = _PAIR.split(what) if kind == "cor" else [what]
        names = [what] if len(pair) > 2 else [effect_label(name, labels) for name in pair]
        return f"{'SD' if kind == 'sd' else 'Correlation'} {' with '.join(names)}, {labels.get(group, group)}"
    if part == "nominal":
        threshold, _, effect = term.partition(".")
        return f"{effect_label(effect, labels)}, {threshold}" if effect else term
    name = term.removeprefix("scale.") if part == "scale" else term
    return effect_label(name, labels) if part in ("location", "scale") else term


def effect_label(name: str, labels: Mapping[str, str] = MappingProxyType({})) -> str:
    """The name of a column of the design for readers; the label of a variable stands in all its columns.

    Examples
    --------
    >>> effect_label("temp[T.warm]", {"temp": "Temperature"})
    'Temperature: warm'
    """
    if name in labels:
        return labels[name]
    pieces = []
    for piece in _PRODUCT.split(name):
        variable, level = _LEVEL.sub("", piece), _LEVEL.search(piece)
        pieces.append(labels.get(variable, variable) + (f": {level[1]}" if level else ""))
    return " × ".join(pieces)


def reference_levels(design: Design) -> dict[str, str]:
    """The reference level of every factor, as the name that its column would have, by the factor's first column.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> reference_levels(ordfit("rating ~ temp", datasets.load("wine")).design)
    {'temp[T.warm]': 'temp[T.cold]'}
    """
    names, references = {*design.names, *design.nominal_names, *design.scale_names}, {}
    for coding in design.spec.codings.values():
        first = coding.label + coding.suffixes[0]
        others = set(map("[T.{}]".format, coding.levels)).difference(coding.suffixes)
        if len(others) == 1 and first in names:
            references[first] = coding.label + others.pop()
    return references


#: Name of the ratio, sign of the coefficient in it, title of its table, where the family has none.
_EXPONENT = ("exp(estimate)", 1.0, "Exponents of the location effects; no odds or hazards under this link")
_SCALED = ("exp(estimate)", 1.0, "Exponents of the location effects: ratios of odds or hazards only at scale 1")


def ratio_of(r: Any) -> tuple[str, float, str]:
    """What exp(sign * location effect) is under the link of a fit: its name, the sign, the title of its table."""
    rows = r.design.sample.rows
    if rows.scale is not None or rows.scale_offset is not None:
        return _SCALED
    return cast(tuple[str, float, str], r.family.ratios.get(r.family.link.name, _EXPONENT))


_FIGURES = {"nobs": "N", "loglik": "Log-likelihood", "aic": "AIC", "bic": "BIC", "mcfadden": "McFadden R²"}
_VALUES = ["estimate", "std_error", "p_value", "conf_low", "conf_high"]
#: Kinds of parameters in the order of the rows.
_PARTS = ("location", "nominal", "scale", "lambda", "threshold", "sd", "cor")
_STYLES = ("paper", "clinical")
_BELOW = ("std_error", "interval", "p_value", None)
#: What LaTeX reads as a command, or prints as another sign in its first encoding of fonts.
_TEX = str.maketrans({
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "×": r"$\times$", "²": r"$^2$",
})  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Column:
    """One fit in a table: its rows of text by the label of the parameter."""

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
    def likelihood(self) -> bool:
        """Whether the fit has standard errors."""
        return hasattr(self.fit, "loglik") or hasattr(self.fit, "fmi")

    @property
    def ratio(self) -> tuple[str, float, str] | None:
        """The ratio that effects are shown as; None for coefficients."""
        if not self.likelihood or self.exponentiate is False or not (self.exponentiate or self.clinical):
            return None
        ratio = ratio_of(self.fit.fits[0] if hasattr(self.fit, "fmi") else self.fit)
        return None if ratio[0] == _EXPONENT[0] and not self.exponentiate else ratio

    @cached_property
    def parameters(self) -> pd.DataFrame:
        """Numbers as they are shown, by the name of the parameter, with its part and the label of its row."""
        given = {"level": self.level} if self.likelihood else {}
        frame = self.fit.tidy(**given) if self.per is None else self.fit.tidy(per=self.per, **given)
        suffixes = frame.attrs.get("per", {})
        frame = pd.DataFrame(frame).reindex(columns=["term", "coef_type", *_VALUES])
        shown = not self.clinical if self.thresholds is None else self.thresholds
        frame = frame[shown | (frame["coef_type"] != "threshold")].set_index("term")
        frame["part"] = list(map(_PARTS.index, frame["coef_type"]))
        labels = []
        for term, part in frame["coef_type"].items():
            label = row_label(part, str(term), self.labels)
            labels.append(f"{label}, {suffixes[term]}" if term in suffixes else label)
        if self.ratio is not None:
            for part, sign in {"location": self.ratio[1], "nominal": 1.0, "scale": 1.0}.items():
                rows = frame["coef_type"] == part
                with np.errstate(over="ignore"):  # infinite, of a large coefficient
                    frame.loc[rows, _VALUES[:1]] = np.exp(sign * frame.loc[rows, _VALUES[:1]])
                    limits = np.sort(np.exp(sign * frame.loc[rows, _VALUES[3:]].to_numpy()), axis=1)
                frame.loc[rows, _VALUES[3:]] = limits
                frame.loc[rows, "std_error"] *= frame.loc[rows, "estimate"]
        return frame.assign(label=labels, digits=list(map(self._decimals, frame["estimate"], frame["std_error"])))

    def _decimals(self, estimate: float, error: float) -> int:
        """Decimals of a row: those of the column, or more if its limits would look alike."""
        if self.digits is not None:
            return self.digits
        usual = 3 if self.ratio is None else 2
        half = 2.0 * error
        return usual if not 0.0 < half < 10.0**-usual else min(1 - math.floor(math.log10(half)), 15)

    @property
    def small(self) -> list[str]:
        """Numeric variables whose effects per unit need more decimals than the others."""
        rows = self.parameters
        tiny = rows.index[(rows["digits"] > rows["digits"].min()) & (rows["coef_type"] == "location")]
        return [] if self.per is not None else [str(term) for term in tiny if str(term).isidentifier()]

    @property
    def heads(self) -> tuple[str, ...]:
        """Heads of the columns of a clinical table."""
        name = "Coefficient" if self.ratio is None else self.ratio[0][:1].upper() + self.ratio[0][1:]
        return (name, f"{100 * self.level:g}% CI", "p") if self.likelihood else (name,)

    def rows(self) -> pd.DataFrame:
        """Cells by label, the parts of the rows with them."""
        rows: list[tuple[Any, ...]] = []
        references = reference_levels(self.fit.design) if self.clinical and hasattr(self.fit, "design") else {}
        for term, row in self.parameters.iterrows():
            if term in references:
                none = "0" if self.ratio is None else "1"
                rows.append((effect_label(references[term], self.labels), row["part"], f"{none} (reference)", "", ""))
            estimate, error, low, high = [
                "" if np.isnan(row[name]) else f"{row[name]:.{row['digits']}f}"
                for name in ("estimate", "std_error", "conf_low", "conf_high")
            ]
            p = "" if np.isnan(row["p_value"]) else short_p_value(row["p_value"])
            estimate += "*" * (self.stars and p and sum(row["p_value"] < limit for limit in (0.001, 0.01, 0.05)))
            if self.clinical:
                rows.append((row["label"], row["part"], estimate, low and f"{low}, {high}", p))
                continue
            second = {"std_error": error and f"({error})", "interval": low and f"[{low}, {high}]", None: ""}
            below = second.get(self.below, p and f"({p})")
            rows.append((row["label"], row["part"], "\n".join(filter(None, (estimate, below)))))
        width = len(self.heads) if self.clinical else 1
        frame = pd.DataFrame([row[: 2 + width] for row in rows], columns=["label", "part", *range(width)])
        return frame.set_index("label")

    def figure(self, name: str) -> str:
        """A figure of the fit as text; blank where it has none."""
        value = self.fit.glance().iloc[0].get(name, np.nan)
        if isinstance(value, str) or pd.isna(value):
            return "" if not isinstance(value, str) else value
        return count(value) if name == "nobs" else f"{value:.{3 if self.digits is None else self.digits}f}"


def table(
    fits: Any,
    *,
    style: str = "paper",
    exponentiate: bool | None = None,
    below: str | None = "std_error",
    labels: Mapping[str, str] | None = None,
    names: Sequence[str] | None = None,
    thresholds: bool | None = None,
    gof: Sequence[str] | None = None,
    stars: bool = False,
    digits: int | None = None,
    level: float = 0.95,
    per: Any = None,
    title: str | None = None,
    notes: str = "",
) -> Any:
    """Fits as a paper shows them: side by side, or with estimate, interval and p-value in columns of their own.

    Parameters
    ----------
    fits : fit, list of fits, or mapping of names to fits
        Of any method that has coefficients or thresholds, or pooled over imputations.
    style : {"paper", "clinical"}
        "paper": a column for each fit, a row for each parameter. "clinical": odds ratios (or hazard ratios, or
        coefficients, by the link), interval and p-value side by side, with reference levels, without thresholds.
    exponentiate : bool, optional
        Whether effects of likelihood fits are ratios. By default they are in a clinical table, if the link has ratios.
    below : {"std_error", "interval", "p_value"} or None
        What stands below each estimate in the style "paper". The error of a ratio is that of the delta method.
    labels : mapping of str to str, optional
        Labels by the names of terms, variables and the response.
    names : sequence of str, optional
        Heads of the columns, one for each fit.
    thresholds : bool, optional
        Whether to show thresholds; by default in the style "paper".
    gof : sequence of str, optional
        Figures of the fits, by the names in `glance`; by default nobs and, in the style "paper", loglik and aic.
    stars : bool
        One star for p < .05, two for p < .01, three for p < .001.
    digits : int from 0 to 15, optional
        Decimals of estimates, errors and limits. By default 2 for ratios and 3 for coefficients; rows of very small
        effects have more, and a note names them.
    level : float in (0, 1)
        Confidence level of the limits.
    per : dict of variable to number, or "sd", optional
        The change of numeric variables that effects belong to, as in `tidy`: {"age": 10}.
    title, notes : str, optional

    Returns
    -------
    maketables.MTable
        Prints as text and shows in notebooks. `.make("tex")`, `.make("typst")` and `.make("html")` return text,
        `.save(type="docx", file_name="table.docx")` writes a file, `.df` is a data frame of the cells. LaTeX needs the
        packages booktabs, makecell, tabularx and threeparttable.

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
    one_of("below", below, _BELOW)
    one_of("style", style, _STYLES)
    fraction("level", level)
    clinical, digits = style == "clinical", None if digits is None else whole("digits", digits, 0, 15)
    if names is None and isinstance(fits, Mapping):
        names = [str(name) for name in fits]
    given = list(fits.values() if isinstance(fits, Mapping) else fits if isinstance(fits, (list, tuple)) else [fits])
    for number, fit in enumerate(given, start=1):
        if not hasattr(fit, "tidy") or not hasattr(fit, "glance"):
            raise OptionError(
                f"fits must be fits with coefficients or thresholds; number {number} is a {type(fit).__name__}. "
                "Leave it out."
            )
        if per is not None and not hasattr(fit, "loglik"):
            raise OptionError(f"per must be left out for a {type(fit).__name__}; got {per!r}. Rescale the column.")
    if not given or (names is not None and len(names) != len(given)):
        raise OptionError(f"names must be one text for each fit; got {names!r} for {len(given)} fits.")
    options = {"clinical": clinical, "exponentiate": exponentiate, "thresholds": thresholds, "below": below}
    options |= {"labels": labels or {}, "stars": stars, "digits": digits, "level": level, "per": per}
    columns = [_Column(fit=fit, **options) for fit in given]
    cells = [column.rows() for column in columns]
    order = pd.concat(cells).sort_values("part", kind="stable").index.unique()
    figures = ["nobs", *(() if clinical else ("loglik", "aic"))] if gof is None else list(gof)
    index = pd.MultiIndex.from_tuples(
        [*(("coef", label) for label in order), *(("stats", _FIGURES.get(name, name)) for name in figures)]
    )
    frame = pd.DataFrame(index=index)
    for number, (column, texts) in enumerate(zip(columns, cells, strict=True)):
        response = str((labels or {}).get(column.fit.design.response, column.fit.design.response))
        name = f"({number + 1})" if names is None else str(names[number])
        for place, head in enumerate(column.heads if clinical else [name]):
            top = (name if len(columns) > 1 else response) if clinical else response
            values = texts[place].reindex(order).fillna("")
            frame[top, head] = [*values, *(column.figure(each) if place == 0 else "" for each in figures)]
    frame.columns = pd.MultiIndex.from_tuples(frame.columns)
    remarks = [notes] if notes else [f"{100 * level:g}% limits in brackets."] * (below == "interval" and not clinical)
    if any(column.ratio and (column.parameters["coef_type"] == "nominal").any() for column in columns):
        remarks.append("Effects by threshold are ratios for a lower response.")
    if small := list(dict.fromkeys(chain.from_iterable(column.small for column in columns))):
        remarks.append(
            f"Small effects per unit: {', '.join(small)}. per={{'{small[0]}': 10}} shows those of larger steps."
        )

    class _Table(MTable):
        def __repr__(self) -> str:
            shown = self.df.map(lambda cell: " ".join(str(cell).split())).droplevel(0)
            return "\n".join(part for part in (title or "", shown.to_string(), *remarks) if part)

        def _output_tex(self, *args: Any, **more: Any) -> str:
            texts = self.df.map(_in_tex).rename(index=_in_tex, columns=_in_tex)
            escaped = MTable(texts, _in_tex(self.notes), self.caption and _in_tex(self.caption), rgroup_display=False)
            return str(escaped._output_tex(*args, **more))

    return _Table(frame, " ".join(remarks), title, rgroup_display=False)


def _in_tex(text: str) -> str:
    """A text that LaTeX prints as it is."""
    return str(text).translate(_TEX)
