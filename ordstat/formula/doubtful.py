"""Notes on doubtful data: values that may be codes of missing answers, and levels that
look wrong.

Doubtful data are reported, never changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray
from ..checks import shown_labels
from . import answers
from .columns import Column, Columns, Factor

#: Text with at least this many numeric levels is expected to be a number, if at most
#: two other texts are among them.
_MANY_NUMERIC = 10
_MOST_OTHERS = 2
#: The number that a level begins with, as in "1,000-4,999" or "$25k".
_LEADING = re.compile(
    r"^\s*[<>≤≥$€£]*\s*([-+]?\d{1,3}(?:,\d{3})+|[-+]?\d+)(\.\d+)?\s*([kKmM]\b)?"
)
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6}
#: Numbers such as "1,5", and dates.
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+(,\d+)?\s*")
_DATE = re.compile(r"\s*\d{4}-\d\d?-\d\d?\b")
#: What pandas calls a column without a name.
_ROW_NUMBERS = re.compile(r"Unnamed: \d+")
#: Levels that a note on their order lists.
_MOST_SHOWN = 12
_CODE_SET = frozenset(answers.CODES.tolist())
#: Fewest rows expected at empty levels, for their absence to be no chance (3 %).
_EXPECTED = 3.5
#: Narrowest gap between codes of missing answers and the other values.
_LEAST_GAP = 4.0
_SET_MISSING = (
    ". If that is not an answer, set it to missing (NaN), or leave these rows out"
)


def response_notes(what: str, column: Column, labels: tuple[Any, ...]) -> list[str]:
    """Notes on values of a response without `levels` that may be codes of missing
    answers.
    """
    doubt = _missing_answers(what, column, labels)
    if not doubt:
        return []
    return [f"{doubt}{_SET_MISSING}. If it is, give levels=[...], all in order."]


def column_notes(columns: Columns, names: Iterable[str]) -> list[str]:
    """Notes on predictors: values that may be codes of missing answers, text that is
    numbers, levels that differ only in blanks or capitals.
    """
    doubts = list[str]()
    odd = list[str]()
    for name in names:
        ends = columns.range(name)
        if ends is not None and _ROW_NUMBERS.fullmatch(name):
            odd += _row_numbers(name, columns.column(name))
        if ends is not None and _CODE_SET.isdisjoint(ends):
            continue
        column = columns.column(name)
        if doubt := _missing_answers(f"Column {name}", column):
            doubts.append(doubt)
        if isinstance(column.value, Factor):
            odd += _odd_levels(name, column.value)
    if not doubts:
        return odd
    return [f"{'; '.join(doubts)}{_SET_MISSING}.", *odd]


def disordered(what: str, texts: list[str]) -> list[str]:
    """A note on text levels whose order contradicts their words or numbers."""
    words = [text for text in texts if not answers.no_answer(text)]
    if len(words) > 2 and words == sorted(words):
        right = answers.scale_order(words)
        if right and words not in (right, right[::-1]):
            return [
                f"{what} has its levels in the order of the alphabet. Give"
                f" levels={right}, lowest first."
            ]
    numbers = [_leading_number(text) for text in texts]
    if None in numbers or sorted(numbers) in (numbers, numbers[::-1]):
        return []
    shown = shown_labels(texts, _MOST_SHOWN)
    return [
        f"{what} has levels whose numbers are not in order: {shown}. Put the categories"
        " in order, or give levels=[...], lowest first."
    ]


def by_numbers(labels: Iterable[Any]) -> list[str]:
    """Texts in the order of the numbers that they begin with; an empty list if one has
    no number, or two have the same.

    Examples
    --------
    >>> by_numbers(["10 = always", "1 = never", "2 = rarely"])
    ['1 = never', '2 = rarely', '10 = always']
    >>> by_numbers(["never", "always"])
    []
    """
    numbers = {str(label): _leading_number(str(label)) for label in labels}
    if None in numbers.values() or len({*numbers.values()}) < len(numbers):
        return []
    return sorted(numbers, key=numbers.__getitem__)


def _leading_number(text: str) -> Any:
    """The number that a text begins with; None if there is none."""
    match = _LEADING.match(text)
    if match is None:
        return None
    whole, decimals, unit = match.groups(default="")
    return float(whole.replace(",", "") + decimals) * _FACTORS[unit.lower()]


def _missing_answers(what: str, column: Column, labels: tuple[Any, ...] = ()) -> str:
    """A note on values that may be codes of missing answers, or an empty text.

    `labels` are the ordered labels of a response.
    """
    value = column.value
    if isinstance(value, Factor):
        silent = [
            code for code, text in enumerate(value.levels) if answers.no_answer(text)
        ]
        if silent:
            rows = np.isin(value.codes, silent)
            texts = [value.levels[code] for code in silent]
            if rows.any():
                return f"{what} has {_counted('level', texts, rows)}"
        if _CODE_SET.isdisjoint(labels):
            return ""
        if not all(isinstance(label, (int, float)) for label in labels):
            return ""
        value = np.array(labels, dtype=float)[value.codes[value.codes >= 0]]
    elif value.dtype.kind not in "iuf":
        return ""
    elif column.missing is not None:
        value = value[~column.missing]
    codes, others = codes_apart(value)
    if not codes:
        return ""
    word = "level" if labels else "value"
    found = _counted(word, codes, np.isin(value, codes))
    return f"{what} has {found}, far from the others ({others})"


def _counted(word: str, labels: Sequence[Any], rows: BoolArray) -> str:
    """Labels and the number of their rows, as in "the levels 8, 9 in 20 rows"."""
    count = int(rows.sum())
    words = word if len(labels) == 1 else f"{word}s"
    counted = "1 row" if count == 1 else f"{count} rows"
    return f"the {words} {shown_labels(labels)} in {counted}"


def _row_numbers(name: str, column: Column) -> list[str]:
    """A note on the numbers of the rows of a file, which pandas reads as a column."""
    value = column.value
    if isinstance(value, Factor) or value.dtype.kind != "i" or value.size < 2:
        return []
    if not (np.diff(value) == 1).all():
        return []
    return [
        f"Column {name} holds the row numbers of a file: leave it out, by"
        " pandas.read_csv(path, index_col=0)."
    ]


def _odd_levels(name: str, factor: Factor) -> list[str]:
    """A note on text that is numbers, dates or identifiers, or on levels that differ
    only in blanks or capitals.
    """
    texts = [level for level in factor.levels if isinstance(level, str)]
    if other := _no_factor(name, texts, int((factor.codes >= 0).sum())):
        return [f"Column {name} is text, a factor of {len(texts)} levels, {other}"]
    bare: dict[str, str] = {}
    for text in texts:
        first = bare.setdefault(text.strip().casefold(), text)
        if first is not text:
            return [
                f"Column {name} has the levels {first!r} and {text!r}, which differ"
                " only in blanks or capitals: they are two levels. Make them equal, by"
                " .str.strip() for blanks."
            ]
    return []


def _no_factor(name: str, texts: list[str], rows: int) -> str:
    """What a column of many texts may be in place of a factor, and what to do; empty if
    it looks like one.
    """
    if len(texts) < _MANY_NUMERIC:
        return ""
    if _others(texts) <= _MOST_OTHERS:
        return (
            "though its values are numbers. Make them numbers by"
            f" pandas.to_numeric(data[{name!r}], errors='coerce'), which sets other"
            " text to missing."
        )
    if all(map(_DECIMAL_COMMA.fullmatch, texts)):
        return (
            "though its values are numbers with decimal commas. Make them numbers by"
            f" data[{name!r}].str.replace(',', '.').astype(float)."
        )
    if all(map(_DATE.match, texts)):
        days = f"pandas.to_datetime(data[{name!r}])"
        return (
            "though its values are dates. Make it a number of days by"
            f" ({days} - {days}.min()).dt.days."
        )
    if 2 * len(texts) > rows:
        return (
            f"in {rows} rows. If it is an identifier, leave it out, or write a random"
            " term, (1 | group); if not, join levels."
        )
    return ""


def _others(texts: list[str]) -> int:
    """How many of the texts are no numbers."""
    return len(texts) - sum(map(answers.is_number, texts))


def codes_apart(values: AnyArray) -> tuple[list[Any], str]:
    """Codes of missing answers beyond a gap, in order, and the range of the other
    values as text.

    Above the other values the gap must be at least as wide as their range and as two of
    their steps, or contain empty levels of a scale 1, 2, ... where rows are expected.
    Below nonnegative numbers the gap must exceed 1.
    """
    if not values.size or not {values.min(), values.max()} & _CODE_SET:
        return [], ""
    usual = np.isin(values, answers.CODES)
    others = values[~usual] if not usual.all() else values[values == values.min()]
    codes = sorted({int(code) for code in values[usual]})
    low = float(others.min())
    high = _end_of_doses(others, codes)
    step = (high - low) / max(np.unique(others).size - 1, 1)
    gap = max(high - low, 2.0 * step, _LEAST_GAP)
    after = _after_empty_levels(values)
    larger = [code for code in codes if code > high]
    above, high = _beyond(larger, low, high, gap, after)
    # the same with reversed signs
    smaller = [-code for code in reversed(codes) if code < low]
    below, negative = _beyond(smaller, -high, -low, gap, positive=True)
    low = -negative
    apart = [-code for code in reversed(below)] + above
    return apart, f"{low:g} to {high:g}" if low < high else f"{high:g}"


def _end_of_doses(others: AnyArray, codes: list[int]) -> float:
    """The highest of the other values, or the last code that continues their equal
    ratios, as doses 1, 2, 4, 8 do.

    A dose of 0 may stand before them.
    """
    high = float(others.max())
    doses = np.unique(others[others > 0])
    if others.min() < 0 or doses.size < 2:
        return high
    ratios = doses[1:] / doses[:-1]
    if not np.allclose(ratios, ratios[0]):
        return high
    for code in codes:
        if np.isclose(code, high * ratios[0]):
            high = float(code)
    return high


def _after_empty_levels(values: AnyArray) -> float:
    """The value after a scale 1, 2, ... (or 0, 1, ...) and empty levels, or infinity.

    Rows must be expected at the empty levels. From the level below the gap to the value
    above it, counts are taken to change by a constant factor from level to level: the
    sparse upper end of a count then leaves gaps by chance.
    """
    found, counts = np.unique(values[values >= 0], return_counts=True)
    steps = np.flatnonzero(np.diff(found) != 1.0)
    if found.size < 4 or found[0] not in (0.0, 1.0) or not steps.size or steps[0] < 2:
        return float("inf")
    last = int(steps[0])
    empty = np.arange(found[last] + 1.0, found[last + 1])
    shares = (empty - found[last]) / (found[last + 1] - found[last])
    expected = counts[last] ** (1.0 - shares) * counts[last + 1] ** shares
    return float(found[last + 1]) if expected.sum() >= _EXPECTED else float("inf")


def _beyond(
    codes: list[int],
    low: float,
    high: float,
    least: float,
    after: float = float("inf"),
    positive: bool = False,
) -> tuple[list[int], float]:
    """Increasing codes beyond a gap of at least `least`, or from `after` on, and the
    highest of the other values.

    Next to a single value a code must have two digits. `positive` is for ranges and
    codes with reversed signs.
    """
    for index, code in enumerate(codes):
        gap = code - high
        far = gap >= max(high - low, least) and (low < high or abs(code) > 9)
        if far or code == after or (positive and gap > 1 and low < high <= 0 < code):
            return codes[index:], high
        high = float(code)
    return [], high
