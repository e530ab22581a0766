"""Data that are probably not what they seem: they are named in a warning, and never changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray
from .columns import Column, Factor, shown_labels

#: Codes of missing answers in surveys; those below 0 too.
_CODES = (7, 8, 9, 66, 77, 88, *range(96, 100), 777, 888, *range(996, 1000), 7777, 8888, *range(9996, 10000))
_ALL_CODES = np.array([-1, -2, -3, *(-code for code in _CODES), *_CODES])
_CODE_SET = frozenset(_ALL_CODES.tolist())
#: Answers that have no place on a scale.
_NO_ANSWER = re.compile(
    r"(do(n'?t| ?not|n’t)[ _]*know|\bdk\b|refus(ed|al)|no[ _]answer|not[ _](applicable|stated|asked|available)"
    r"|prefer not|missing|unknown|inapplicable|^n\.?/?a\.?$|^nan$|^null$|^none given$|^\s*$)",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^\s*[<>≤≥$€£]*\s*([-+]?\d{1,3}(?:,\d{3})+|[-+]?\d+)(\.\d+)?\s*([kKmM]\b)?")
_FACTORS = {"k": 1e3, "m": 1e6}
#: Words of answers from the lowest to the highest, with those that mean the same; {} stands for each of the pairs.
_SCALES = (
    "never<rarely|seldom|hardly ever<sometimes|occasionally<often|frequently|usually|most of the time<always",
    "none|not at all|no<a little|slight|mild|very low|minor<low|small|little<some|somewhat|medium|moderate|moderately"
    "<a lot|high|large|severe|strong|major<very high|very large|very severe|extremely|extreme",
    "terrible|very bad|very poor<bad|poor<fair|average|acceptable<good<very good<excellent",
    "too little<about right<too much",
    "strongly {1}|very {1}|{1} strongly<{1}<somewhat {1}|slightly {1}<neither|neutral|undecided|neither {0} nor {1}"
    "<somewhat {0}|slightly {0}<{0}<strongly {0}|very {0}|{0} strongly",
)
_PAIRS = ("agree", "disagree"), ("satisfied", "dissatisfied"), ("likely", "unlikely"), ("important", "unimportant")


def scale_order(labels: Iterable[str]) -> list[str]:
    """The labels from the lowest to the highest if all are words of one known scale; else an empty list.

    Examples
    --------
    >>> scale_order(["high", "low", "medium"])
    ['low', 'medium', 'high']
    """
    words = {label: " ".join(label.lower().split()) for label in labels}
    for scale, pair in product(_SCALES, _PAIRS):
        steps = [step.split("|") for step in scale.format(*pair).split("<")]
        ranks = {word: rank for rank, step in enumerate(steps) for word in step}
        if ranks.keys() >= {*words.values()}:
            return sorted(words, key=lambda label: ranks[words[label]])
    return []


#: What to do about doubtful values.
SET_MISSING = ": if that is not an answer, set it to missing (NaN), or leave these rows out"


def doubtful(what: str, column: Column, labels: tuple[Any, ...] = ()) -> list[str]:
    """Which values of a column may be codes of missing answers, in words; `labels` are those of a response in order."""
    value = column.value
    if isinstance(value, Factor):
        texts = enumerate(value.levels)
        silent = {code: text for code, text in texts if isinstance(text, str) and _NO_ANSWER.search(text)}
        if silent and (rows := np.isin(value.codes, [*silent])).any():
            return [f"{what} has {_several('level', [*silent.values()], rows)}"]
        if not labels or not all(isinstance(label, (int, float)) for label in labels):
            return []
        value = np.array(labels, dtype=float)[value.codes[value.codes >= 0]]
    elif value.dtype.kind not in "iuf":
        return []
    elif column.missing is not None:
        value = value[~column.missing]
    codes, others = codes_apart(value)
    word = "level" if labels else "value"
    return codes and [f"{what} has {_several(word, codes, np.isin(value, codes))}, far from the others ({others})"]


def _several(word: str, labels: Sequence[Any], rows: BoolArray) -> str:
    count = int(rows.sum())
    return f"the {word}{'s' * (len(labels) > 1)} {shown_labels(labels)} in {count} row{'s' * (count > 1)}"


def disordered(what: str, texts: list[str]) -> list[str]:
    """A note on levels of text in an order that their numbers, or their words, do not have."""
    matches = [match for text in texts if (match := _LEADING.match(text))]  # such as "1,000-4,999" or "$25k"
    numbers = [float(m[1].replace(",", "") + (m[2] or "")) * _FACTORS.get((m[3] or "").lower(), 1.0) for m in matches]
    words = [text for text in texts if not _NO_ANSWER.search(text)]
    right = scale_order(words) if len(words) > 2 and words == sorted(words) else []
    if right and words not in (right, right[::-1]):
        return [f"{what} has its levels in the order of the alphabet. Give levels={right}, lowest first."]
    if not texts or len(numbers) < len(texts) or sorted(numbers) in (numbers, numbers[::-1]):
        return []
    cure = "Put the categories in order, or give levels=[...], lowest first"
    return [f"{what} has levels whose numbers are not in order: {shown_labels(texts, 12)}. {cure}."]


def codes_apart(values: AnyArray) -> tuple[list[Any], str]:
    """Codes of missing answers beyond a gap, in order, and the range of the other values, in words.

    The gap above is wider than the range of the other values. Below numbers that are never negative a code needs a gap
    of more than 1.
    """
    if not values.size or not {values.min(), values.max()} & _CODE_SET:
        return [], ""
    usual = np.isin(values, _ALL_CODES)
    others = values[~usual] if not usual.all() else values[values == values.min()]
    low, high = float(others.min()), float(others.max())
    codes = sorted({int(code) for code in values[usual]})
    above, high = _beyond([code for code in codes if code > high], low, high)
    below, least = _beyond([-code for code in reversed(codes) if code < low], -high, -low, positive=True)
    low = -least
    return [-code for code in reversed(below)] + above, f"{low:g} to {high:g}" if low < high else f"{low:g}"


def _beyond(codes: list[int], low: float, high: float, positive: bool = False) -> tuple[list[int], float]:
    """Of growing codes above a range those beyond a gap wider than it, and the highest of the others.

    Next to a single value a code must have two digits. `positive` is for ranges and codes with their signs turned.
    """
    for place, code in enumerate(codes):
        gap = code - high
        far = gap > max(high - low, 3.0) and (low < high or abs(code) > 9)
        if far or (positive and gap > 1 and low < high <= 0 < code):
            return codes[place:], high
        high = float(code)
    return [], high
