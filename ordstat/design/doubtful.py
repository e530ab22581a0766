"""Data that are probably not what they seem, such as codes of missing answers among the levels or the numbers.

Nothing is changed: every note says what to do if it is right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray
from .columns import Column, Columns, Factor
from .frames import shown_labels

#: Codes of missing answers in surveys; those below 0 too.
_CODES = (7, 8, 9, 66, 77, 88, *range(96, 100), 777, 888, *range(996, 1000), 7777, 8888, *range(9996, 10000))
_ALL_CODES = np.array([-1, -2, -3, *(-code for code in _CODES), *_CODES])
#: Levels of text that reads as numbers: more are named.
_MANY_TEXTS = 5
#: Answers that have no place on a scale.
_NO_ANSWER = re.compile(
    r"(do(n'?t| ?not|n’t)[ _]*know|\bdk\b|refus(ed|al)|no[ _]answer|not[ _](applicable|stated|asked|available)"
    r"|prefer not|missing|unknown|inapplicable|^n\.?/?a\.?$|^nan$|^null$|^none given$|^\s*$)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^\s*[-+]?(\d[\d ,]*\.?\d*|\.\d+)([eE][-+]?\d+)?\s*%?\s*$")
_LEADING = re.compile(r"^\s*[<>≤≥$€£]*\s*([-+]?\d{1,3}(?:,\d{3})+|[-+]?\d+)(\.\d+)?\s*([kKmM]\b)?")
_FACTORS = {"k": 1e3, "m": 1e6}


def doubtful_response(labels: tuple[Any, ...], name: str) -> tuple[str, ...]:
    """Notes on the labels of a response, in their order, whose levels were not given by `levels=`."""
    if labels and all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in labels):
        codes, scale = codes_apart(np.array(labels, dtype=float))
        if not codes:
            return ()
        return (
            f"Response {name} has the level{'s' * (len(codes) > 1)} {shown_labels(codes)}, away from {scale}: if that "
            "is a code for a missing answer, leave such rows out, or set it to missing; if not, levels=[...] "
            "with all levels in order says so.",
        )
    texts = [label for label in labels if isinstance(label, str)]
    notes = []
    if silent := [text for text in texts if _NO_ANSWER.search(text)]:
        notes.append(
            f"Response {name} has the level{'s' * (len(silent) > 1)} {shown_labels(silent)}, which may not belong to "
            "the scale. If so, set it to missing, or leave such rows out."
        )
    if twins := _same_but_for_blanks(texts):
        notes.append(
            f"Response {name} has levels that differ in blanks alone, {shown_labels(twins)}: they are different levels "
            "here; make them one if they mean the same."
        )
    if len(texts) == len(labels) and _disordered(texts):
        notes.append(
            f"Response {name} has levels whose numbers are not in order: {shown_labels(texts, 12)}. "
            "Put the categories in order, or give levels=[...], lowest first."
        )
    return tuple(notes)


def doubtful_columns(columns: Columns, names: Iterable[str]) -> tuple[str, ...]:
    """Notes on the columns `names` of a formula, one each at most."""
    return tuple(note for name in names if (note := _column(name, columns[name], name in columns.texts)))


def _column(name: str, column: Column, plain_text: bool) -> str:
    value = column.value
    rest = "set such values to missing (NaN), or leave these rows out"
    if not isinstance(value, Factor):
        if value.dtype.kind not in "iuf":
            return ""
        seen = value if column.missing is None else value[~column.missing]
        codes, others = codes_apart(seen)
        what = f"the value{'s' * (len(codes) > 1)} {shown_labels(codes)} in {_rows(np.isin(seen, codes))}"
        why = f"far from the others ({others}): if that is a code for a missing answer, {rest}"
        return f"Column {name} has {what}, {why}." if codes else ""
    texts = [level for level in value.levels if isinstance(level, str)]
    if twins := _same_but_for_blanks(texts):
        return (
            f"Column {name} has levels that differ in blanks alone, {shown_labels(twins)}: they are different levels "
            f"here; make them one, as data[{name!r}].str.strip() does, if they mean the same."
        )
    silent = [code for code, level in enumerate(value.levels) if isinstance(level, str) and _NO_ANSWER.search(level)]
    if (rows := np.isin(value.codes, silent)).any():
        what = f"the level{'s' * (len(silent) > 1)} {shown_labels(value.levels[code] for code in silent)}"
        return f"Column {name} has {what} in {_rows(rows)}: if that is not an answer, {rest}."
    if plain_text and len(texts) > _MANY_TEXTS and all(_NUMBER.match(level) for level in texts):
        return (
            f"Column {name} is text that reads as numbers, and a factor of {len(texts)} levels here: convert it with "
            "pd.to_numeric, or make it a category if a factor is meant."
        )
    return ""


def codes_apart(values: AnyArray) -> tuple[list[int], str]:
    """Codes of missing answers beyond a gap, in order, and the range of the other values, in words.

    The gap above is wider than the range of the other values. Below numbers that are never negative a code needs a gap
    of more than 1.
    """
    if not values.size or not np.isin([values.min(), values.max()], _ALL_CODES).any():
        return [], ""
    usual = np.isin(values, _ALL_CODES)
    others = values[~usual]
    if not others.size:
        others = values[values == values.min()]
    low, high = float(others.min()), float(others.max())
    codes = sorted({int(code) for code in values[usual]})
    above, below = list[int](), list[int]()
    for code in (code for code in codes if code > high):
        if above or _far(code, code - high, low, high):
            above.append(code)
        else:
            high = float(code)
    for code in (code for code in reversed(codes) if code < low):
        if below or _far(code, low - code, low, high) or (low >= 0 and low - code > 1 and low < high):
            below.append(code)
        else:
            low = float(code)
    return sorted(below) + above, f"{low:g} to {high:g}" if low < high else f"{low:g}"


def _far(code: int, gap: float, low: float, high: float) -> bool:
    """Whether a code lies beyond a gap wider than the range; next to a single value a code must have two digits."""
    return gap > max(high - low, 3.0) and (low < high or abs(code) > 9)


def _rows(rows: BoolArray) -> str:
    return f"{int(rows.sum())} row{'s' * (int(rows.sum()) > 1)}"


def _same_but_for_blanks(texts: list[str]) -> list[str]:
    """Texts that are another one with more blanks, or none, and those themselves."""
    kinds = Counter("".join(text.split()) for text in texts)
    return [text for text in texts if text.strip() and kinds["".join(text.split())] > 1]


def _disordered(texts: list[str]) -> bool:
    """Whether every text begins with a number, such as "1,000-4,999" or "$25k", and these neither rise nor fall."""
    matches = [_LEADING.match(text) for text in texts]
    numbers = [
        float(match[1].replace(",", "") + (match[2] or "")) * _FACTORS.get((match[3] or "").lower(), 1.0)
        for match in matches
        if match is not None
    ]
    return len(numbers) == len(texts) and numbers != sorted(numbers) and numbers != sorted(numbers, reverse=True)
