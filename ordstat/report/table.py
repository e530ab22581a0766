"""Tables of several fits for papers, and names of parameters for readers: `temp: warm` for `temp[T.warm]`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks import fraction, one_of, whole
from ..exceptions import OptionError

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


#: What stands below an estimate, in the words of maketables.
_BELOW = {"std_error": "\n (se:{f})", "interval": "\n [low:{f}, high:{f}]", "p_value": "\n (p:.3f)", None: ""}
_FIGURES = {"nobs": "N", "loglik": "Log-likelihood", "aic": "AIC", "bic": "BIC", "mcfadden": "McFadden R²"}
_VALUES = {"estimate": "b", "std_error": "se", "p_value": "p", "conf_low": "low", "conf_high": "high"}
_STARS = [0.001, 0.01, 0.05]
#: Kinds of parameters in the order of the rows.
_PARTS = ("location", "nominal", "scale", "lambda", "threshold", "sd", "cor")
_EMPTY = re.compile(r" \n (\(-\)|\[-, -\])$")


@dataclass(frozen=True)
class _Column:
    """A fit as maketables reads it."""

    fit: Any
    exponentiate: bool
    level: float
    thresholds: bool
    labels: Mapping[str, str]

    @property
    def __maketables_depvar__(self) -> str:
        name = self.fit.design.response
        return str(self.labels.get(name, name))

    @property
    def rows(self) -> pd.DataFrame:
        """Parameters by label: estimate, error, p-value, limits, and the number of their part."""
        likelihood = hasattr(self.fit, "loglik") or hasattr(self.fit, "fmi")
        tidy = self.fit.tidy(exponentiate=self.exponentiate, level=self.level) if likelihood else self.fit.tidy()
        tidy = pd.DataFrame(tidy).reindex(columns=["coef_type", "term", *_VALUES])
        tidy = tidy[self.thresholds | (tidy["coef_type"] != "threshold")]
        names = [row_label(part, term, self.labels) for part, term in zip(tidy["coef_type"], tidy["term"], strict=True)]
        part = [_PARTS.index(part) for part in tidy["coef_type"]]
        values = tidy[list(_VALUES)].set_axis(pd.Index(names, name="Coefficient")).rename(columns=_VALUES)
        return values.astype(float).assign(part=part)

    @property
    def __maketables_coef_table__(self) -> pd.DataFrame:
        return self.rows

    def __maketables_stat__(self, key: str) -> Any:
        figures = self.fit.glance().iloc[0]
        value = figures.get(key, np.nan)
        return None if pd.isna(value) else int(value) if key == "nobs" and value == int(value) else float(value)


def table(
    fits: Any,
    *,
    exponentiate: bool = False,
    below: str | None = "std_error",
    labels: Mapping[str, str] | None = None,
    names: Sequence[str] | None = None,
    thresholds: bool = True,
    gof: Sequence[str] = ("nobs", "loglik", "aic"),
    stars: bool = False,
    digits: int = 3,
    level: float = 0.95,
    title: str | None = None,
    notes: str = "",
) -> Any:
    """Fits side by side, as a paper shows them: a column for each fit, a row for each coefficient.

    Parameters
    ----------
    fits : fit, list of fits, or mapping of names to fits
        Of any method that has coefficients or thresholds, or pooled over imputations.
    exponentiate : bool
        Show exp() of the effects of likelihood fits: odds ratios, or hazard ratios under the links that have them.
    below : {"std_error", "interval", "p_value"} or None
        What stands below each estimate.
    labels : mapping of str to str, optional
        Labels by the names of terms, variables and the response.
    names : sequence of str, optional
        Heads of the columns, one for each fit.
    thresholds : bool
        Whether to show thresholds.
    gof : sequence of str
        Figures of the fits, by the names in `glance`.
    stars : bool
        One star for p < .05, two for p < .01, three for p < .001.
    digits : int from 0 to 15
        Decimals of estimates, errors and limits.
    level : float in (0, 1)
        Confidence level of the limits.
    title, notes : str, optional

    Returns
    -------
    maketables.ETable
        Prints as text and shows in notebooks. `.make("tex")`, `.make("typst")` and `.make("html")` return text,
        `.save(type="docx", file_name="table.docx")` writes a file, `.df` is a data frame of the cells.

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
    ['2.29 \\n [1.28, 3.29]', '2.50 \\n [1.47, 3.54]']
    """
    try:
        from maketables import ETable
    except ImportError as error:
        raise ImportError("table() needs the package maketables. Install it: pip install maketables") from error
    one_of("below", below, tuple(_BELOW))
    fraction("level", level)
    style = f".{whole('digits', digits, 0, 15)}f"
    if names is None and isinstance(fits, Mapping):
        names = [str(name) for name in fits]
    given = list(fits.values() if isinstance(fits, Mapping) else fits if isinstance(fits, (list, tuple)) else [fits])
    for number, fit in enumerate(given, start=1):
        if not hasattr(fit, "tidy") or not hasattr(fit, "glance"):
            raise OptionError(
                f"fits must be fits with coefficients or thresholds; number {number} is a {type(fit).__name__}. "
                "Leave it out."
            )
    if not given or (names is not None and len(names) != len(given)):
        raise OptionError(f"names must be one text for each fit; got {names!r} for {len(given)} fits.")

    columns = [_Column(fit, exponentiate, level, thresholds, labels or {}) for fit in given]
    rows = pd.concat([column.rows for column in columns]).sort_values("part", kind="stable").index.unique()

    class _Table(ETable):
        def __repr__(self) -> str:
            shown = self.df.map(lambda cell: " ".join(str(cell).split())).droplevel(0)
            return "\n".join(part for part in (title or "", shown.to_string(), notes) if part)

    shown = _Table(
        columns,
        coef_fmt=f"b:{style}{'*' if stars else ''} {_BELOW[below].format(f=style)}",
        signif_code=_STARS,
        model_stats=list(gof),
        model_stats_labels=_FIGURES,
        model_heads=None if names is None else list(names),
        labels={},
        cat_template="",
        order=list(rows),
        caption=title,
        notes=notes or f"{100 * level:g} % limits in brackets." * (below == "interval"),
    )
    shown.df = shown.df.map(lambda cell: _EMPTY.sub("", str(cell)))
    return shown
