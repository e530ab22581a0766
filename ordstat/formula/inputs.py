"""The response, and arguments besides the formula: weights, offset, cluster, costs and
subset.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import brief
from ..exceptions import DataError, OptionError
from .columns import (
    Column,
    Columns,
    Factor,
    factor_of,
    find_column,
    matched,
    plain,
    read,
    refuse,
    shown_labels,
)
from .factors import Interpreter
from .parse import Expression, column_expression, parse_expression
from .sample import HEAVIEST, LIGHTEST, extreme

#: levels="all": every value of a numeric response is a level.
ALL_LEVELS = "all"
# with more distinct values that are not whole numbers, a response counts as continuous
_FEW = 30
#: Text with at least this many numeric levels is expected to be a number.
_MANY = 10
#: A text that is a number.
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")


class Response(NamedTuple):
    """The response of all rows.

    Attributes
    ----------
    name : str
    codes : (N,), -1 where missing
    declared : tuple
        All labels in order, with or without rows.
    notes : list of str
    """

    name: str
    codes: IntArray
    declared: tuple[Any, ...]
    notes: list[str]


def read_response(column: Column, name: str, levels: Any = None) -> Response:
    """Codes and labels of a response.

    Ordered categoricals keep their order; numbers and booleans sort; anything else
    needs `levels`. With levels="all" every value of a numeric response is a level.

    Raises
    ------
    DataError
        Text or unordered categories without `levels`, values outside `levels`, or a
        continuous response.
    """
    every = isinstance(levels, str) and levels == ALL_LEVELS
    if levels is not None and not every:
        levels = check_levels(levels)
        return Response(name, known_codes(column, name, levels), levels, [])
    if every and isinstance(column.value, Factor):
        raise DataError(
            f"levels='all' must go with a numeric response; {name!r} is not. Give"
            " levels=[...] in order."
        )
    factor = factor_of(column.value, name)
    notes = list[str]()
    labels = factor.levels
    if isinstance(column.value, Factor) and not factor.ordered and labels:
        raise _unordered(name, labels)
    if isinstance(column.value, np.ndarray) and any(
        isinstance(label, float) for label in labels
    ):
        if len(labels) > _FEW and not every:
            continuous = (
                f"looks continuous ({len(labels)} distinct values such as"
                f" {labels[0]!r})"
            )
            raise DataError(
                f"The response {name!r} {continuous}. Write levels='all' to make each"
                " value a level (likelihood methods take many), levels=[...] to name"
                " them, or cut it with pd.cut."
            )
        if not every:
            text = (
                f"Response {name} holds {len(labels)} values that are not whole"
                " numbers; they are taken as ranks."
            )
            notes.append(text)
    codes = factor.codes.astype(np.intp)
    codes = codes if column.missing is None else np.where(column.missing, -1, codes)
    notes += doubtful_response(f"Response {name}", column, labels)
    return Response(name, codes, labels, notes)


def doubtful_response(what: str, column: Column, labels: tuple[Any, ...]) -> list[str]:
    """Notes on values of a response without `levels` that may be codes of missing
    answers.
    """
    end = "; if not, levels=[...] with all levels in order says so."
    return [f"{doubt}{SET_MISSING}{end}" for doubt in doubtful(what, column, labels)]


def _too_few(name: str, labels: tuple[Any, ...]) -> DataError:
    what = f"all have {labels[0]!r}" if labels else "have none"
    return DataError(
        f"The response {name!r} needs rows of at least 2 levels; the rows used {what}."
    )


def _unordered(name: str, labels: tuple[Any, ...]) -> DataError:
    if len(labels) < 2:
        return _too_few(name, labels)
    silent = [label for label in labels if _silent(label)]
    labels = tuple(label for label in labels if label not in silent) or labels
    digits = all(
        isinstance(label, str) and _NUMBER.fullmatch(label.strip()) for label in labels
    )
    scale = sorted(labels, key=float) if digits else scale_order(map(str, labels))
    order = f"levels=[{shown_labels(scale or labels)}], lowest first" + (
        "" if scale else " (here by the alphabet)"
    )
    what = "is text that reads as numbers" if digits else "has labels without an order"
    do = (
        f"make numbers of it, pd.to_numeric(data[{name!r}])"
        if digits
        else "make it an ordered pd.Categorical"
    )
    missing = (
        f" Set {shown_labels(silent)} to missing first, if that is no answer."
        if silent
        else ""
    )
    return DataError(f"The response {name!r} {what}. Give {order}, or {do}.{missing}")


def check_levels(levels: Any) -> tuple[Any, ...]:
    """The levels= argument as a tuple of different labels."""
    unordered = isinstance(
        levels, (str, bytes, set, frozenset, Mapping)
    ) or not isinstance(levels, Iterable)
    if unordered or not all(isinstance(label, Hashable) for label in levels):
        raise DataError(
            "levels= must be a list of labels in order, lowest first; got"
            f" {brief(levels)}."
        )
    labels = tuple(plain(label) for label in levels)
    if any(label is None or label is pd.NA or label != label for label in labels):
        raise DataError(
            "levels= names a missing value (None or NaN). Drop it: such rows are left"
            " out anyway."
        )
    if len(set(labels)) < len(labels):
        raise DataError(
            f"levels= names a label twice: {shown_labels(labels, 30)}. Name each once."
        )
    return labels


def known_codes(column: Column, name: str, levels: tuple[Any, ...]) -> IntArray:
    """(N,) codes by given levels, -1 where missing; an unknown label raises DataError."""
    codes, outside = matched(factor_of(column.value, name), levels)
    codes = (
        codes.astype(np.intp)
        if column.missing is None
        else np.where(column.missing, -1, codes)
    )
    if outside:
        what = (
            f"{shown_labels(levels, 30)}: {shown_labels(outside)}, in"
            f" {int((codes == -2).sum())} rows"
        )
        cure = "Add them to levels=, or set them to missing to leave these rows out"
        raise DataError(
            f"The response {name!r} has values outside the levels {what}. {cure}."
        )
    return codes


def used_levels(codes: IntArray, declared: tuple[Any, ...], name: str) -> IntArray:
    """Codes of the declared levels that have rows; DataError for fewer than two."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(declared)))
    if used.size < 2:
        raise _too_few(name, tuple(declared[code] for code in used))
    return used


def read_items(
    frame: pd.DataFrame, names: Sequence[str], levels: Any = None
) -> tuple[tuple[Any, ...], IntArray, list[str]]:
    """Levels, (N, J) codes (-1 where missing) and notes of columns that share their
    levels.

    Numbers have the levels that any of the columns has; other columns must have the
    same levels.
    """
    columns = [find_column(frame, name, "rows=") for name in names]
    kinds = {
        column.dtype
        for column in columns
        if isinstance(column.dtype, pd.CategoricalDtype)
    }
    if (
        levels is None
        and kinds
        and len({*kinds, *(column.dtype for column in columns)}) > 1
    ):
        raise DataError(
            f"The columns {shown_labels(names)} must have the same levels. Give"
            " levels=[...] for all of them."
        )
    item = read_response(read(pd.concat(columns, ignore_index=True)), names[0], levels)
    if len(item.declared) < 2:
        raise DataError(
            f"rows={list(names)!r} has only the level {shown_labels(item.declared)}:"
            " give levels=[...]."
        )
    return item.declared, item.codes.reshape(len(names), -1).T, item.notes


# Arguments besides the formula


def subset_mask(
    subset: Any, frame: pd.DataFrame, declared: Mapping[str, Factor] | None = None
) -> BoolArray:
    """(N,) rows to use, from a mask or a condition such as "judge != '1'"; a missing
    condition leaves the row out.

    `declared` has factor columns whose levels other rows have too.
    """
    if isinstance(subset, str):
        value, _, missing = Interpreter(Columns(frame, declared), {}).evaluate(
            parse_expression(subset)
        )
    else:
        value, missing = read(values_of(subset, "subset", frame.index))
    if isinstance(value, Factor) or value.dtype != bool:
        raise DataError(
            "subset= must be a condition or a mask of booleans, one per row."
        )
    return value if missing is None else value & ~missing


def values_of(given: Any, role: str, index: pd.Index) -> pd.Series:
    """N values under the index of the data."""
    if isinstance(given, pd.Series):
        if not given.index.equals(index):
            rest = (
                "its index differs from that of the data. Reindex it, or pass"
                f" {role}.to_numpy()"
            )
            raise DataError(f"{role}= must have the index of the data; {rest}.")
        return given
    if hasattr(given, "to_numpy"):
        given = given.to_numpy()
    values = (
        given
        if hasattr(given, "dtype")
        else list(given)
        if isinstance(given, Iterable)
        else None
    )
    shape = () if values is None else shape_of(values)
    if shape != (len(index),):
        got = (
            brief(given)
            if values is None
            else "lists of different lengths"
            if shape is None
            else f"shape {shape}"
        )
        raise DataError(
            f"{role}= must be a column name or {len(index)} values, one per row; got"
            f" {got}."
        )
    return pd.Series(values, index=index, name=role)


def shape_of(values: Any) -> tuple[int, ...] | None:
    """The shape of nested lists or an array; None for lists of different lengths."""
    try:
        return tuple(np.shape(values))
    except ValueError:
        return None


def vector(
    given: Any,
    role: str,
    columns: Columns,
    rows: BoolArray | None,
    index: pd.Index,
    of: str = "",
) -> Column:
    """An argument by column name, by arithmetic over columns such as "w - 1", or as N
    values.

    `rows` is the mask of the subset, `index` the index of all rows.
    """
    if isinstance(given, str) and is_arithmetic(given, columns):
        value, _, missing = Interpreter(columns, {}).evaluate(parse_expression(given))
        return Column(value, missing)
    if isinstance(given, str):
        return columns.column(given, f"{role}={of}")
    series = values_of(given, role, index)
    return read(series if rows is None else series[rows])


def expression_of(text: str, columns: Columns) -> Expression:
    """A column by its name, or arithmetic over columns."""
    return (
        parse_expression(text)
        if is_arithmetic(text, columns)
        else column_expression(text)
    )


def is_arithmetic(text: str, columns: Columns) -> bool:
    """Whether a text is arithmetic over columns rather than a column name."""
    return any(mark in text for mark in "+-*/^(<>=&|") and text not in columns


def numbers(column: Column, role: str, index: pd.Index) -> FloatArray:
    """The values of an argument that must be numeric; values of missing rows are
    arbitrary.
    """
    if isinstance(column.value, Factor) or column.value.ndim != 1:
        raise DataError(
            f"{role}= must be one column of numbers. Convert it with pd.to_numeric, or"
            " name another."
        )
    array = column.value.astype(float)
    bad = (
        ~np.isfinite(array)
        if column.missing is None
        else ~(np.isfinite(array) | column.missing)
    )
    refuse(bad, index, f"{role}=", array, "; it must be finite.")
    return array


def weights_of(column: Column, given: Any, index: pd.Index) -> FloatArray:
    """Case weights: finite, not negative, and of a size that a number of rows may have."""
    weights = numbers(column, "weights", index)
    named = f", column {given!r}" if isinstance(given, str) else ""
    refuse(weights < 0, index, "weights=", weights, ": weights must be 0 or more.")
    rest = (
        f": a weight must be 0 or from {LIGHTEST:g} to {HEAVIEST:g}. Divide all weights"
        " by their mean."
    )
    refuse(extreme(weights), index, "weights=", weights, rest, named)
    return weights


def cluster_codes(values: AnyArray | Factor) -> IntArray:
    """Codes 0..G-1 of clusters without missing rows, at least two of them."""
    labels, codes = np.unique(
        values.codes if isinstance(values, Factor) else values, return_inverse=True
    )
    if labels.size < 2:
        raise DataError(
            "cluster= has the same value in every row used; it must hold at least 2"
            " clusters."
        )
    return codes.astype(np.intp)


def cost_matrix(costs: Any, rows: BoolArray | None, index: pd.Index) -> FloatArray:
    """(N, K) costs of the rows in the subset, NaN if missing; `index` is the index of
    all rows.
    """
    if isinstance(costs, pd.DataFrame) and not costs.index.equals(index):
        raise DataError(
            "cost= is a frame with another index than the data. Reindex it, or pass"
            " cost.to_numpy()."
        )
    try:
        matrix = np.asarray(costs, dtype=float)
    except (ValueError, TypeError, OverflowError) as error:
        hint = "Give columns as data[['a', 'b', 'c']]"
        raise DataError(
            f"cost= must hold numbers in rows of one length: {error}. {hint}."
        ) from error
    if matrix.ndim != 2 or matrix.shape[0] != len(index):
        raise DataError(
            f"cost= must have {len(index)} rows, one per row of the data; got shape"
            f" {matrix.shape}."
        )
    return matrix if rows is None else matrix[rows]


def check_costs(
    costs: FloatArray, response: Response, used: IntArray, index: pd.Index
) -> FloatArray:
    """Costs of the levels in use; one column per level, declared or used."""
    if costs.shape[1] not in (len(response.declared), used.size):
        raise DataError(
            f"cost= must have one column per level of the response, {used.size}; got"
            f" {costs.shape[1]}."
        )
    refuse(np.asarray(np.isinf(costs).any(axis=1)), index, "cost=", "infinite", ".")
    return costs if costs.shape[1] == used.size else costs[:, used]


def check_cost_labels(
    cost: pd.DataFrame, levels: Sequence[Any], unused: Sequence[Any], by_row: bool
) -> None:
    """OptionError if the labels of a frame of costs are not the levels in their order.

    Default columns 0, 1, ... are not checked, and neither are rows of a matrix. With
    `by_row` the rows are those of the data.
    """
    axes = (
        {"columns": cost.columns}
        if by_row
        else {"rows": cost.index, "columns": cost.columns}
    )
    for name, labels in axes.items():
        numbered = isinstance(labels, pd.RangeIndex) and labels.equals(
            pd.RangeIndex(len(labels))
        )
        if not numbered and [label for label in labels if label not in unused] != list(
            levels
        ):
            order = f"{list(labels)}, and the levels, lowest first, are {list(levels)}"
            raise OptionError(
                f"the {name} of cost= are labelled {order}: reorder them, or give"
                " cost.to_numpy()."
            )


# Suspicious data are reported, never changed

#: Digits of the longest codes of missing answers, such as 9999999.
_MOST_DIGITS = 8
_REPEATED = [
    int(digit * length) for length in range(2, _MOST_DIGITS + 1) for digit in "78"
]
_NINES = [
    10**length - step for length in range(2, _MOST_DIGITS + 1) for step in (1, 2, 3, 4)
]
#: Codes of missing answers in surveys; also their negatives.
_CODES = (7, 8, 9, 66, *_REPEATED, *_NINES)
_ALL_CODES = np.array([-1, -2, -3, *(-code for code in _CODES), *_CODES])
_CODE_SET = frozenset(_ALL_CODES.tolist())
#: Answers that are not part of a scale, in the languages of large surveys. The German
#: "trifft nicht zu" is part of one.
_NO_ANSWERS = (
    r"do(n'?t| ?not|n’t)[ _]*(know|remember)|\bdk\b|refus(ed|al)|\brefuse[sd]? to\b",
    r"\bnon?[ _-]?(answer|response|opinion|reply|information|data)\b",
    r"not[ _](applicable|stated|asked|available|answered|reported|recorded|specified)",
    r"\bnot[ _](ascertained|known|given)\b|\b(prefer|rather)[ _]not\b|decline[ds]? to",
    r"\bcan(no|['’]?)t (say|choose|remember)|missing|unknown|unspecified|inapplicable",
    r"^n\.?/?a\.?$|^nan$|^null$|^none given$|^\s*$",
    # German
    r"\bkeine? (angaben?|antwort|meinung)\b|^k\. ?a\.?$|\bwei(ß|ss) (ich )?nicht\b",
    r"\bkann (ich )?nicht sagen\b|verweigert|unbekannt|\bnicht beantworte[nt]",
    # Dutch
    r"\bweet (ik )?niet\b|\bgeen (antwoord|mening|opgave)\b|zeg ik liever niet",
    r"\b(ge)?weigerd?t?\b|onbekend|\bn\.v\.t\b",
    # French
    r"\bne (sais|sait|savent) pas\b|\bnsp\b|\b(sans|pas de|non)[ -]r[ée]ponse\b",
    r"\bsans (avis|opinion|objet)\b|\bse prononce(nt)? pas\b|préfère ne pas",
    r"\brefus\b|refuse de|\bnon (concerné|applicable)",
    # Spanish, Portuguese, Italian
    r"\bno (sabe|sé|contesta|responde|aplica)\b|^ns ?[/-] ?nc$|desconoc|desconhec",
    r"\b(sin|sem) (respuesta|opini[óo]n|resposta|opini[ãa]o)\b",
    r"\b(prefiero no|prefiro não|preferisco non)\b|\bnão (se aplica|sabe|sei|respond)",
    r"^non (so|sa)$|\bnon (risponde|applicabile)\b|\b(nessuna|senza) opinione\b",
    r"\bnessuna risposta\b",
    # Swedish, Norwegian, Danish, Finnish
    r"\bve[td] (inte|ej|ikke)\b|\b(inget|intet|ikke|ej) svar",
    r"\bingen (åsikt|mening|uppfattning)\b|\ben osaa sanoa\b|\bei vastausta\b",
    # Polish, Czech, Turkish
    r"\bnie wiem\b|trudno powiedzieć|\bodmowa\b|\bbrak (danych|odpowiedzi)\b",
    r"\bnevím\b|bez odpovědi|\bbilmiyorum\b|\bfikrim yok\b|\b(cevap|yanıt) yok\b",
    # Russian, Chinese, Japanese, Korean
    r"не знаю|затрудня|нет ответа|отказ|不知道|无回答|無回答|拒绝回答|拒絕回答|不适用",
    r"不適用|わからない|答えたくない|모름|무응답",
)
_NO_ANSWER = re.compile("|".join(_NO_ANSWERS), re.IGNORECASE)
_LEADING = re.compile(
    r"^\s*[<>≤≥$€£]*\s*([-+]?\d{1,3}(?:,\d{3})+|[-+]?\d+)(\.\d+)?\s*([kKmM]\b)?"
)
_FACTORS = {"k": 1e3, "m": 1e6}
#: Words of answers from the lowest to the highest, with synonyms; {} stands for each
#: pair.
_SCALES = (
    (
        "never<rarely|seldom|hardly"
        " ever<sometimes|occasionally<often|frequently|usually|most of the time<always"
    ),
    (
        "none|not at all|no<a little|slight|mild|very"
        " low|minor<low|small|little<some|somewhat|medium|moderate|moderately<a"
        " lot|high|large|severe|strong|major<very high|very large|very"
        " severe|extremely|extreme"
    ),
    (
        "terrible|very bad|very poor<bad|poor<fair|average|acceptable<good<very"
        " good<excellent"
    ),
    "too little<about right<too much",
    (
        "strongly {1}|very {1}|{1} strongly<{1}<somewhat {1}|slightly"
        " {1}<neither|neutral|undecided|neither {0} nor {1}<somewhat {0}|slightly"
        " {0}<{0}<strongly {0}|very {0}|{0} strongly"
    ),
)
_PAIRS = (
    ("agree", "disagree"),
    ("satisfied", "dissatisfied"),
    ("likely", "unlikely"),
    ("important", "unimportant"),
)


def _silent(label: Any) -> bool:
    """Whether a label is a text that says that there is no answer."""
    return isinstance(label, str) and _NO_ANSWER.search(label) is not None


def scale_order(labels: Iterable[str]) -> list[str]:
    """The labels from the lowest to the highest if all are words of one scale; else an
    empty list.

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
SET_MISSING = (
    ": if that is not an answer, set it to missing (NaN), or leave these rows out"
)


def doubtful(what: str, column: Column, labels: tuple[Any, ...] = ()) -> list[str]:
    """Notes on values that may be codes of missing answers; `labels` are the ordered
    labels of a response.
    """
    value = column.value
    if isinstance(value, Factor):
        silent = {code: text for code, text in enumerate(value.levels) if _silent(text)}
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
    return codes and [
        f"{what} has {_several(word, codes, np.isin(value, codes))}, far from the"
        f" others ({others})"
    ]


def odd_levels(name: str, column: Column) -> list[str]:
    """Notes on text that is numbers, and on levels that differ only in blanks or
    capitals.
    """
    levels = column.value.levels if isinstance(column.value, Factor) else ()
    texts = [level for level in levels if isinstance(level, str)]
    if (
        len(texts) >= _MANY
        and sum(bool(_NUMBER.fullmatch(text.strip())) for text in texts)
        >= len(texts) - 2
    ):
        return [
            f"Column {name} is text, a factor of {len(texts)} levels, though its values"
            f" are numbers. Make them numbers by pandas.to_numeric(data[{name!r}],"
            " errors='coerce'), which sets other text to missing."
        ]
    plain: dict[str, str] = {}
    for text in texts:
        if (first := plain.setdefault(text.strip().casefold(), text)) is not text:
            both = (
                f"Column {name} has the levels {first!r} and {text!r}, which differ"
                " only in blanks or capitals"
            )
            return [
                f"{both}: they are two levels. Make them equal, by .str.strip() for"
                " blanks."
            ]
    return []


def _several(word: str, labels: Sequence[Any], rows: BoolArray) -> str:
    count = int(rows.sum())
    return (
        f"the {word}{'s' * (len(labels) > 1)} {shown_labels(labels)} in {count}"
        f" row{'s' * (count > 1)}"
    )


def disordered(what: str, texts: list[str]) -> list[str]:
    """A note on levels of text in an order that contradicts their numbers or words."""
    # such as "1,000-4,999" or "$25k"
    matches = [match for text in texts if (match := _LEADING.match(text))]
    numbers = [
        float(m[1].replace(",", "") + (m[2] or ""))
        * _FACTORS.get((m[3] or "").lower(), 1.0)
        for m in matches
    ]
    words = [text for text in texts if not _NO_ANSWER.search(text)]
    right = scale_order(words) if len(words) > 2 and words == sorted(words) else []
    if right and words not in (right, right[::-1]):
        return [
            f"{what} has its levels in the order of the alphabet. Give levels={right},"
            " lowest first."
        ]
    if (
        not texts
        or len(numbers) < len(texts)
        or sorted(numbers) in (numbers, numbers[::-1])
    ):
        return []
    cure = "Put the categories in order, or give levels=[...], lowest first"
    return [
        f"{what} has levels whose numbers are not in order: {shown_labels(texts, 12)}."
        f" {cure}."
    ]


#: Fewest rows expected at empty levels, for their absence to be no chance (3 %).
_EXPECTED = 3.5


def codes_apart(values: AnyArray) -> tuple[list[Any], str]:
    """Codes of missing answers beyond a gap, in order, and the range of the other
    values as text.

    The gap above must be as wide as the range of the other values and as two of their
    steps, or hold levels of a scale 1, 2, ... that are empty where rows are expected;
    below nonnegative numbers the gap must exceed 1.
    """
    if not values.size or not {values.min(), values.max()} & _CODE_SET:
        return [], ""
    usual = np.isin(values, _ALL_CODES)
    others = values[~usual] if not usual.all() else values[values == values.min()]
    codes = sorted({int(code) for code in values[usual]})
    low = float(others.min())
    high = _end_of_doses(others, codes)
    gap = max(high - low, 2.0 * (high - low) / max(np.unique(others).size - 1, 1), 4.0)
    after = _after_empty_levels(values)
    above, high = _beyond(
        [code for code in codes if code > high], low, high, gap, after
    )
    below, least = _beyond(
        [-code for code in reversed(codes) if code < low],
        -high,
        -low,
        gap,
        positive=True,
    )
    return [-code for code in reversed(below)] + above, (
        f"{-least:g} to {high:g}" if -least < high else f"{high:g}"
    )


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
