"""Numbers as text of cells, and their width on a screen."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from textwrap import TextWrapper
from typing import Any
from unicodedata import combining, east_asian_width

import numpy as np
import pandas as pd

from .._typing import FloatArray

#: Start of formats that print 0 without decimals: a ratio of 0 is that of an infinite
#: estimate, not a small number.
EXACT = "exact 0 "


def cells(text: str) -> int:
    r"""Number of screen cells of a text.

    Examples
    --------
    >>> cells("abc"), cells("北京"), cells("e\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if combining(letter) else 1 + (east_asian_width(letter) in "WF")
        for letter in text
    )


def filled(text: str, size: int, fill: Callable[[str, int], str]) -> str:
    """A text padded to `size` cells by `str.ljust`, `str.rjust` or `str.center`.

    Examples
    --------
    >>> filled("北京", 6, str.rjust)
    '  北京'
    """
    return fill(text, size - cells(text) + len(text))


_NO_BREAK = "\N{NO-BREAK SPACE}"
#: Words longer than a line are broken after operators and commas, and names after these
#: signs.
_BREAKS = (r"[^~+*:,/^]+[~+*:,/^]*|[~+*:,/^]+", r"[^_.(\[]+[_.(\[]*|[_.(\[]+")


class _Lines(TextWrapper):
    """Breaks words longer than a line, such as formulas without blanks, at their
    operators.
    """

    def _split(self, text: str) -> list[str]:
        room = self.width - max(len(self.initial_indent), len(self.subsequent_indent))
        parts = super()._split(text)
        for pattern in _BREAKS:
            pieces: list[str] = []
            for part in parts:
                pieces += re.findall(pattern, part) if len(part) > room else [part]
            parts = pieces
        return parts


def wrapped(
    text: str, width: int, first: str = "", rest: str = "", hyphens: bool = True
) -> list[str]:
    """The text in lines of at most `width` letters, broken at blanks outside quotes,
    formulas also at operators.

    Parameters
    ----------
    text : str
    width : int
    first, rest : str
        Text before the first line, and before the others.
    hyphens : bool
        Whether lines may also end after hyphens.

    Examples
    --------
    >>> wrapped("Model: rating~temperature+contact", 20)
    ['Model: rating~', 'temperature+contact']
    >>> wrapped("`name of a column` + other", 20)
    ['`name of a column` +', 'other']
    """
    if len(first) + len(text) <= width and "\n" not in text:
        return [first + text] if text else []
    whole = re.sub(
        r"`[^`]*`|\b\w+\(\"[^\"]*\"", lambda name: name[0].replace(" ", _NO_BREAK), text
    )
    lines = _Lines(
        width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=hyphens
    ).wrap(whole)
    return lines if whole == text else [line.replace(_NO_BREAK, " ") for line in lines]


MISSING = "NA"

#: Terms that a note below a table names; it counts the others.
MOST_TERMS = 12

# Numbers smaller than this share of the largest in their column are rounding errors.
_ROUNDING = 1e-10

# Numbers with more decimals are written with a power of ten.
_MOST_DECIMALS = 8
#: Most decimals of a column of larger and smaller numbers.
_MOST_IN_A_COLUMN = 7


def column_cells(values: pd.Series, spec: str | None) -> list[str]:
    """The cells of one column in a format of `Table.formats`; None means that of the
    dtype.
    """
    if spec is None:
        spec = {"b": "bool", "i": "int", "u": "int", "f": "estimate"}.get(
            values.dtype.kind, "text"
        )
    if spec == "estimate":
        spec = _decimals(values)
    elif spec == "brief":
        spec = few_decimals(values)
    exact = spec.startswith(EXACT)
    spec = spec.removeprefix(EXACT)
    write = _WRITERS.get(spec)
    texts = []
    for value, gap in zip(values, values.isna(), strict=True):
        if exact and value == 0:
            texts.append("0")
        elif gap:
            texts.append(MISSING)
        elif write is None:
            texts.append(f"{value:z{spec}}")
        else:
            texts.append(write(value))
    return texts


def short_p_value(p: float) -> str:
    """A p-value as journals print it.

    Examples
    --------
    >>> short_p_value(0.04321), short_p_value(3.21e-6), short_p_value(1.0)
    ('.043', '<.001', '1.000')
    """
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def p_in_words(p: float) -> str:
    """A p-value within a sentence.

    Examples
    --------
    >>> p_in_words(0.04321), p_in_words(3.21e-6)
    ('p = .043', 'p < .001')
    """
    text = short_p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def header_text(x: Any) -> str:
    """A value of a header pair: numbers with 6 significant digits, the rest as they
    are.
    """
    if isinstance(x, (bool, np.bool_)):
        return "yes" if x else "no"
    if isinstance(x, (float, np.floating)):
        return MISSING if math.isnan(x) else f"{x:.6g}"
    return str(x)


def count(n: float) -> str:
    """A number of rows or sum of weights: all digits before the point, or six if it is
    not whole.

    Examples
    --------
    >>> count(1234567.0), count(10.25)
    ('1234567', '10.25')
    """
    return f"{n:.0f}" if float(n).is_integer() or n >= 1e5 else f"{n:.6g}"


def limit_heads(level: float) -> tuple[str, str]:
    """Heads of columns of confidence limits.

    Examples
    --------
    >>> limit_heads(0.95)
    ('2.5%', '97.5%')
    """
    return f"{50 * (1 - level):.3g}%", f"{50 * (1 + level):.3g}%"


def limit_names(level: float) -> dict[str, str]:
    """Printed names of the columns of standard errors and limits."""
    lower, upper = limit_heads(level)
    return {"std_error": "SE", "lower": lower, "upper": upper}


def first_few(names: Sequence[str], most: int) -> str:
    """The first few names of a list, and how many more there are."""
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def _decimals(values: pd.Series) -> str:
    """Four decimals, or as many as show two digits of every number; else four
    significant digits.
    """
    sizes = _visible(values)
    if sizes.max(initial=0.0) >= 1e6:
        return ".4g"
    smallest = sizes.min(initial=1.0)
    return ".4f" if smallest >= 5e-4 else _two_digits(smallest, ".4g")


def _two_digits(smallest: float, otherwise: str) -> str:
    """Decimals that show two digits of the smallest number, for the whole column; else
    another format.
    """
    decimals = 1 - math.floor(math.log10(smallest))
    return f".{decimals}f" if decimals <= _MOST_IN_A_COLUMN else otherwise


def _visible(values: pd.Series) -> FloatArray:
    """Absolute values of the numbers, without rounding errors."""
    sizes = np.abs(values.to_numpy(dtype=np.float64, na_value=np.nan))
    sizes = sizes[np.isfinite(sizes)]
    return np.asarray(sizes[sizes > _ROUNDING * sizes.max(initial=0.0)])


def few_decimals(values: pd.Series) -> str:
    """Three decimals, or as many as show two digits of the smallest number."""
    sizes = _visible(values)
    if sizes.max(initial=0.0) >= 1e5:
        return ".4g"
    smallest = sizes.min(initial=1.0)
    return ".3f" if smallest >= 0.01 else _two_digits(smallest, ".3g")


def ratio_decimals(values: Any) -> str:
    """Two decimals, or as many as show every ratio and its difference from 1."""
    sizes = np.asarray(values, dtype=np.float64)
    # 0 and infinity: infinite estimates
    sizes = sizes[np.isfinite(sizes) & (sizes > 0.0)]
    closest = np.abs(sizes - 1.0)[sizes != 1.0].min(initial=1.0)
    smallest = min(closest, sizes.min(initial=1.0))
    if sizes.max(initial=0.0) >= (1e5 if smallest >= 5e-3 else 100.0):
        return "brief ratio"
    if smallest >= 0.05:
        return ".2f"
    return ".3f" if smallest >= 0.005 else _two_digits(smallest, "brief ratio")


def brief_ratio(x: float) -> str:
    """A ratio with two decimals, or as many as show two digits of it and of its
    difference from 1.

    Examples
    --------
    >>> [brief_ratio(x) for x in (24.888, 0.00456, 1.00001234, 123456.0)]
    ['24.89', '0.0046', '1.000012', '1.235e+05']
    """
    size = min(abs(x), 2.0 * abs(x - 1.0) or 1.0)
    decimals = 2
    if 0.0 < size < 0.1:
        decimals = 1 - math.floor(math.log10(size))
    if abs(x) >= 1e5 or decimals > _MOST_DECIMALS:
        return f"{x:.4g}"
    return f"{x:.{decimals}f}"


_COLUMNS = {
    "estimate": (
        "estimate std_error lower upper difference conf_low conf_high variance sd bias"
    ),
    ".3f": "statistic chisq F lr_stat lrt deff riv loglik null_loglik",
    "int": "df no_par nobs edf df_residual lr_df",
    ".1f": "df_resid df_denom",
    ".2f": "aic bic",
}
#: Formats of columns of figures, by their usual names.
FORMATS = {name: spec for spec, names in _COLUMNS.items() for name in names.split()}

_WRITERS: dict[str, Callable[[Any], str]] = {
    "p": short_p_value,
    "int": count,
    "percent": lambda x: f"{100 * x:.1f}%",
    "brief ratio": brief_ratio,
    "g": lambda x: f"{x:.4g}",
    "bool": lambda x: "yes" if x else "no",
    "text": str,
}


#: Signs that LaTeX reads as commands, or prints as other signs in its default font
#: encoding.
_TEX = str.maketrans({
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "[": "{[}",  # an argument of a line break otherwise
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "×": r"$\times$", "²": r"$^2$", "∞": r"$\infty$", "−": "$-$",
})  # fmt: skip


def in_tex(text: object) -> str:
    """The text, escaped for LaTeX."""
    return str(text).translate(_TEX)
