"""Data that are probably not what they seem: codes of missing answers among the levels, numbers and dates read as text.

Nothing is changed: every finding is a note that says what to do if it is right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from .columns import Factor
from .frames import shown_labels

#: Levels of a response of whole numbers, levels of a factor, and levels of text that reads as numbers: more are named.
_MANY_NUMBERS, _MANY_LEVELS, _MANY_TEXTS = 30, 50, 5
#: At most so many codes stand beside each other.
_FEW_CODES = 4
_CODES = {7, 8, 9, 66, 77, 88, *range(96, 100), 777, 888, *range(996, 1000), 7777, 8888, *range(9996, 10000)}
#: Answers that are no place on a scale.
_NO_ANSWER = re.compile(
    r"(do(n'?t| ?not|n’t)[ _]*know|\bdk\b|refus(ed|al)|no[ _]answer|not[ _](applicable|stated|asked|available)"
    r"|prefer not|missing|unknown|inapplicable|^n\.?/?a\.?$|^nan$|^null$|^none given$|^\s*$)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^\s*[-+]?(\d[\d ,]*\.?\d*|\.\d+)([eE][-+]?\d+)?\s*%?\s*$")
_LEADING = re.compile(r"^\s*[<>≤≥$€£]*\s*([-+]?\d{1,3}(?:,\d{3})+|[-+]?\d+)(\.\d+)?\s*([kKmM]\b)?")
_FACTORS = {"k": 1e3, "m": 1e6}
_DATE = re.compile(r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?$")


def doubtful_response(labels: tuple[Any, ...], name: str) -> tuple[str, ...]:
    """Notes on the labels of a response, in their order, whose levels were not given by `levels=`."""
    if all(isinstance(label, int) and not isinstance(label, bool) for label in labels):
        return _whole_numbers(labels, name)
    texts = [label for label in labels if isinstance(label, str)]
    twins = _same_but_for_blanks(texts)
    silent = [text for text in texts if _NO_ANSWER.search(text)]
    found = []
    if silent:
        found.append(
            f"Response {name} has the level{'s' * (len(silent) > 1)} {shown_labels(silent)}, which may be no place on "
            "the scale: leave such rows out, or set them to missing, if so."
        )
    if twins:
        found.append(
            f"Response {name} has levels that differ in blanks alone, {shown_labels(twins)}: they are different levels "
            "here; make them one if they mean the same."
        )
    if len(texts) == len(labels) and _disordered(texts):
        found.append(
            f"Response {name} has levels whose numbers are not in order: {shown_labels(texts, 12)}. "
            "Put the categories in order, or give levels=[...], lowest first."
        )
    return tuple(found)


def _same_but_for_blanks(texts: list[str]) -> list[str]:
    """Texts that are another one with more blanks, or none, and those themselves."""
    kinds = Counter("".join(text.split()) for text in texts)
    return [text for text in texts if text.strip() and kinds["".join(text.split())] > 1]


def _whole_numbers(labels: tuple[int, ...], name: str) -> tuple[str, ...]:
    if len(labels) > _MANY_NUMBERS:
        return (
            f"Response {name} has {len(labels)} different whole numbers, each of them a level: cut them into classes "
            "with pd.cut, unless that is meant.",
        )
    steps = [after - before for before, after in pairwise(labels)]
    apart = _apart(labels) if steps else []
    if apart:
        rest = [label for label in labels if label not in apart]
        scale = f"{rest[0]} to {rest[-1]}" if len(rest) > 1 else f"{rest[0]}"
        return (
            f"Response {name} has the level{'s' * (len(apart) > 1)} {shown_labels(apart)}, away from {scale}: if that "
            "is a code for a missing answer, leave such rows out, or set it to missing; if not, levels=[...] "
            "with all levels in order says so.",
        )
    if not steps or min(steps) == max(steps):
        return ()
    if sum(steps) - len(steps) > len(labels):  # more gaps than levels: no scale of neighbouring numbers
        return ()
    gaps = [str(value) for before, after in pairwise(labels) for value in range(before + 1, after)]
    return (
        f"Response {name} has no rows of level {', '.join(gaps)}: its neighbours count as adjacent, which is what "
        "levels=[...] with all levels in order does too.",
    )


def _apart(labels: tuple[int, ...]) -> list[int]:
    """Labels at the ends, few and beyond a gap, that usually stand for missing answers or are far from the rest."""
    runs = [[labels[0]]]
    for before, after in pairwise(labels):
        if after - before > 1:
            runs.append([])
        runs[-1].append(after)
    core = max(runs, key=len)
    place = runs.index(core)
    if len(core) == 1 or all(map(_usual_code, core)):
        return _codes_beside_steps(labels)
    return sorted(_codes_beyond(runs[place::-1]) + _codes_beyond(runs[place:]))


def _codes_beyond(runs: list[list[int]]) -> list[int]:
    """The labels of runs after the first, up to one that may be part of the scale."""
    found: list[int] = []
    for near, run in pairwise(runs):
        gap = min(abs(one - other) for one in near for other in run)
        if len(run) > _FEW_CODES or not (all(map(_usual_code, run)) or gap > max(3, len(runs[0]))):
            break
        found += run
    return found


def _codes_beside_steps(labels: tuple[int, ...]) -> list[int]:
    """The usual codes at the ends of labels that otherwise go in even steps, as 10, 20, 30; or beside a single one."""
    n = len(labels)
    windows = ((start, start + length) for length in range(n - 1, 0, -1) for start in range(n - length + 1))
    for start, stop in windows:
        scale, codes = labels[start:stop], [*labels[:start], *labels[stop:]]
        if len(codes) <= _FEW_CODES and all(_usual_code(code) and _far(code, scale) for code in codes):
            return codes
    return []


def _far(code: int, scale: tuple[int, ...]) -> bool:
    """Whether a code is more than three steps of an even scale away; of one label, no other end of 1 to 9, say."""
    steps = {after - before for before, after in pairwise(scale)} or {1}
    told = len(scale) > 1 or scale[0] == 0 or not 0 <= code < 10
    return told and len(steps) == 1 and max(scale[0] - code, code - scale[-1]) > 3 * steps.pop()


def _usual_code(value: int) -> bool:
    """Whether surveys use the number for a missing answer: negative, 8, 9, 88, 99, 97, 98, 998, ..."""
    return value < 0 or value in _CODES


def _disordered(texts: list[str]) -> bool:
    """Whether every text begins with a number, and these neither rise nor fall."""
    numbers = [found for found in map(_leading_number, texts) if found is not None]
    if len(numbers) < len(texts):
        return False
    return not (numbers == sorted(numbers) or numbers == sorted(numbers, reverse=True))


def _leading_number(text: str) -> float | None:
    """The number that a text begins with: "1,000-4,999" with 1000, "$25k-$100k" with 25000."""
    match = _LEADING.match(text)
    if match is None:
        return None
    whole, decimals, unit = match.groups()
    return float(whole.replace(",", "") + (decimals or "")) * _FACTORS.get((unit or "").lower(), 1.0)


def doubtful_factors(declared: Mapping[str, Factor], used: Iterable[str], text: Iterable[str]) -> tuple[str, ...]:
    """Notes on the factor columns `used` by a formula; `text` are those that hold plain text, not categories."""
    plain_text = set(text)
    return tuple(
        note for name in used if name in declared for note in _factor(name, declared[name].levels, name in plain_text)
    )


def _factor(name: str, levels: tuple[Any, ...], text: bool) -> tuple[str, ...]:
    texts = [level for level in levels if isinstance(level, str)]
    if text and len(texts) > 1 and all(_DATE.match(level) for level in texts):
        return (
            f"Column {name} is text that reads as dates, and a factor of {len(levels)} levels here: turn it into a "
            "number, such as (pd.to_datetime(x) - start).dt.days, unless a factor is meant.",
        )
    if text and len(texts) > _MANY_TEXTS and all(_NUMBER.match(level) for level in texts):
        return (
            f"Column {name} is text that reads as numbers, and a factor of {len(levels)} levels here: convert it with "
            "pd.to_numeric, or make it a category if a factor is meant.",
        )
    if twins := _same_but_for_blanks(texts):
        return (
            f"Column {name} has levels that differ in blanks alone, {shown_labels(twins)}: they are different levels "
            f"here; make them one, as data[{name!r}].str.strip() does, if they mean the same.",
        )
    if any(not level.strip() for level in texts):
        return (f"Column {name} has a level of blank text, {shown_labels(texts)}: set it to missing if it means that.",)
    if len(levels) > _MANY_LEVELS:
        return (
            f"Column {name} is a factor of {len(levels)} levels, each of them told from the others: make it a "
            "number if it is one, or join rare levels.",
        )
    return ()
