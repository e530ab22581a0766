"""Checks of users' arguments; all errors read "X must be ...; got Y."

`of` is what an option belongs to, in words or as the value itself; `also` says what
else may be given, and is checked by the caller.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sized
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from ._typing import AnyArray, BoolArray, FloatArray, Progress
from .exceptions import DataError, OptionError

T = TypeVar("T")

#: The largest whole numbers: of an option, which compiled loops count with, of threads,
#: and as a float.
_MOST_WHOLE = 2**31 - 1
_MOST_JOBS = 10_000
_MOST_FLOAT = 10**308
#: Names that a message lists where none is near the one given.
_MOST_NAMES = 12


def number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    of: Any = None,
    also: str = "",
) -> float:
    """The value as a float; OptionError unless it is a finite number within the bounds.

    Examples
    --------
    >>> number("tol", 0.001, above=0, below=1)
    0.001
    >>> number("C", -1, above=0, of="REDSVM")
    Traceback (most recent call last):
        ...
    ordstat.exceptions.OptionError: C of REDSVM must be a positive, finite number; got -1.
    """  # noqa: E501
    inside = (
        isinstance(value, (int, float, np.integer, np.floating))
        and not isinstance(value, bool)
        and not (is_whole(value) and abs(int(value)) > _MOST_FLOAT)
        and math.isfinite(value)
        and (above is None or value > above)
        and (least is None or value >= least)
        and (below is None or value < below)
        and (most is None or value <= most)
    )
    if not inside:
        raise _wrong(name, value, _range(above, least, below, most) + also, of)
    return float(value)


def _range(
    above: float | None, least: float | None, below: float | None, most: float | None
) -> str:
    if above is not None and below is not None:
        return f"a number strictly between {above:g} and {below:g}"
    if below is None and most is None:
        if above == 0:
            return "a positive, finite number"
        if least is None:
            return "a finite number"
        return f"a finite number, {least:g} or more"
    low = f"above {above:g} and at most" if least is None else f"from {least:g} to"
    return f"a number {low} {most:g}"


def fraction(name: str, value: Any, *, of: Any = None, also: str = "") -> float:
    """The value as a float; OptionError unless it is strictly between 0 and 1."""
    return number(name, value, above=0.0, below=1.0, of=of, also=also)


def whole(
    name: str,
    value: Any,
    least: int,
    most: int | None = None,
    *,
    of: Any = None,
    also: str = "",
) -> int:
    """The value as an int; OptionError unless it is a whole number from `least` to
    `most`.

    Examples
    --------
    >>> whole("bins", 0, 1)
    Traceback (most recent call last):
        ...
    ordstat.exceptions.OptionError: bins must be a whole number, 1 or more; got 0.
    """
    if most is not None:
        largest = most
    elif of is None:
        largest = 2**53
    else:
        largest = _MOST_WHOLE
    if not is_whole(value) or not least <= value <= largest:
        open_end = most is None and not (is_whole(value) and value > least)
        bounds = f", {least} or more" if open_end else f" from {least} to {largest}"
        raise _wrong(name, value, f"a whole number{bounds}{also}", of)
    return int(value)


def is_whole(value: Any) -> bool:
    """Whether it is an integer, and not a bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def mapping(name: str, value: Any, example: str) -> dict[Any, Any]:
    """The value as a dict, empty for None; OptionError unless it is a mapping.

    Examples
    --------
    >>> mapping("at", 3, "{'age': [30, 50]}")
    Traceback (most recent call last):
        ...
    ordstat.exceptions.OptionError: at must be a mapping such as {'age': [30, 50]}; got 3.
    """  # noqa: E501
    if not isinstance(value, (Mapping, type(None))):
        raise _wrong(name, value, f"a mapping such as {example}")
    return dict(value or {})


def label_texts(value: Any) -> dict[str, str]:
    """The `labels` argument as a dict from names to texts."""
    given = mapping("labels", value, "{'age': 'Age (years)'}")
    return {name: str(label) for name, label in given.items()}


def jobs(value: Any, *, of: Any = None) -> int:
    """n_jobs as an int; OptionError unless it is a number of jobs."""
    if not is_whole(value) or not 1 <= abs(value) <= _MOST_JOBS:
        raise _wrong(
            "n_jobs",
            value,
            f"a whole number other than 0, {_MOST_JOBS} at most (-1 for all"
            " processors)",
            of,
        )
    return int(value)


def flag(name: str, value: Any) -> bool:
    """The value as a bool; OptionError unless it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise _wrong(name, value, "True or False")
    return bool(value)


def text_given(name: str, value: Any) -> str:
    """The value; OptionError unless it is a text."""
    if not isinstance(value, str):
        raise _wrong(name, value, "a text")
    return value


def path_given(name: str, value: Any) -> str | os.PathLike[str]:
    """The value; OptionError unless it can name a file."""
    if not isinstance(value, (str, os.PathLike)):
        raise _wrong(name, value, "a text or a pathlib.Path")
    return value


def function_given(name: str, value: Any) -> Callable[..., Any]:
    """The value; OptionError unless it can be called."""
    if not callable(value):
        raise _wrong(name, value, "a function")
    return cast(Callable[..., Any], value)


def numbers_given(value: Any) -> FloatArray:
    """The value as an array of numbers; a single NaN if it holds something else.

    Examples
    --------
    >>> numbers_given([1, 2]).tolist(), numbers_given("high").tolist()
    ([1.0, 2.0], nan)
    """
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array(np.nan)


def listed(given: Any) -> list[Any]:
    """One thing, several or none as a list; a text is one thing."""
    if given is None:
        return []
    if isinstance(given, Iterable) and not isinstance(given, str):
        return list(given)
    return [given]


def variable_names(name: str, given: Any) -> list[str]:
    """The names of variables that an argument gives, as a list; OptionError for
    anything that is not a text.
    """
    names = listed(given)
    if not all(isinstance(each, str) for each in names):
        raise OptionError(f"{name} must be names of variables; got {given!r}.")
    return names


def listed_texts(name: str, value: Any) -> list[str]:
    """A text, or several, as a list; OptionError for other types.

    Examples
    --------
    >>> listed_texts("notes", "Two rows."), listed_texts("notes", ("One.", "Two."))
    (['Two rows.'], ['One.', 'Two.'])
    """
    texts = listed(value)
    if value is None or not all(isinstance(text, str) for text in texts):
        raise _wrong(name, value, "a text or a list of texts")
    return texts


def one_of(
    name: str,
    value: Any,
    allowed: Iterable[str | None],
    *,
    of: Any = None,
    also: str = "",
) -> None:
    """OptionError, with the nearest name, where the value is not among the allowed
    strings (or None).

    Examples
    --------
    >>> one_of("type", "probs", ["prob", "class"])
    Traceback (most recent call last):
        ...
    ordstat.exceptions.OptionError: type must be one of 'prob', 'class'; got 'probs'. Did you mean 'prob'?
    """  # noqa: E501
    names = list(allowed)
    if not isinstance(value, (str, type(None))) or value not in names:
        raise unknown(name, value, names, of=of, also=also)


#: Names that an error lists, and characters of a value.
_MOST = 24
_LONGEST = 500


def unknown(
    name: str,
    value: Any,
    allowed: Iterable[str | None],
    *,
    of: Any = None,
    also: str = "",
) -> OptionError:
    """The error for a name that is not allowed; it lists the allowed names, or the
    first of many.
    """
    names = list(dict.fromkeys(allowed))
    shown = ", ".join(map(repr, names if len(names) <= _MOST else names[: _MOST // 2]))
    more = f", ... ({len(names)} in all)" if len(names) > _MOST else ""
    return _wrong(
        name, value, f"one of {shown}{more}{also}", of, did_you_mean(value, names)
    )


def one_spelled(
    name: str, value: Any, allowed: Iterable[str], *, of: Any = None
) -> str:
    """The allowed name that a text spells; OptionError, with the nearest name, if there
    is no such name.
    """
    names = list(allowed)
    spelled = canonical(value, names)
    if spelled is None:
        raise unknown(name, value, names, of=of)
    return spelled


def canonical(given: Any, names: Iterable[str]) -> str | None:
    """The name that a text spells, ignoring case, hyphens, underscores and blanks, or
    that stands for a word of another package (`words.toml`); else None.

    Examples
    --------
    >>> canonical("Aranda_Ordaz", ["logit", "aranda-ordaz"])
    'aranda-ordaz'
    >>> canonical("polr", ["clm", "logit"])
    'logit'
    """
    if not isinstance(given, str):
        return None
    names = tuple(names)
    if given in names:
        return given
    by_spelling = {_folded(name): name for name in names}
    wanted = _folded(given)
    if wanted in by_spelling:
        return by_spelling[wanted]
    return by_spelling.get(_folded(words("other_names").get(wanted, "")))


@lru_cache(maxsize=1024)
def _folded(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter not in "-_ ")


def nearest(name: Any, known: Iterable[Any], most: int = 1) -> list[str]:
    """The known names most similar to a text, the nearest first; case does not count.

    Examples
    --------
    >>> nearest("c", ["C", "kernel"])
    ['C']
    >>> nearest("nope", ["temp", None])
    []
    """
    if not isinstance(name, str):
        return []
    folded = {
        str(other).casefold(): str(other)
        for other in reversed([*known])
        if other is not None
    }
    return [
        folded[match] for match in get_close_matches(name.casefold(), folded, n=most)
    ]


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """The end of a message, "Did you mean ...?"; empty if no known name is similar."""
    known = [other for other in known if not isinstance(name, str) or other != name]
    usual = words("nearest").get(_folded(name)) if isinstance(name, str) else None
    close = [usual] if usual is not None and usual in known else nearest(name, known)
    return f" Did you mean {close[0]!r}?" if close else ""


def suggest(name: str, names: Iterable[Any]) -> str:
    """Suggestions for the end of a message about an unknown name: similar names, else
    the first few.
    """
    texts = [str(other) for other in names if other != name]
    if close := nearest(name, texts, most=3):
        return "did you mean " + " or ".join(repr(other) for other in close) + "?"
    if not texts:
        return "the data have no columns."
    shown = ", ".join(repr(other) for other in texts[:_MOST_NAMES])
    more = ", ..." if len(texts) > _MOST_NAMES else ""
    return f"there are {shown}{more}."


def generator(
    seed: Any, name: str = "seed", also: str = " or a numpy Generator"
) -> np.random.Generator:
    """The random number generator of a seed, or the one given; OptionError for any
    other value.
    """
    expected = f"a whole number, 0 or more,{also}"
    if isinstance(seed, (bool, np.bool_)) or (
        isinstance(seed, Sized) and not len(seed)
    ):
        raise _wrong(name, seed, expected)  # NumPy takes them
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as problem:
        raise _wrong(name, seed, expected) from problem


def _wrong(
    name: str, value: Any, expected: str, of: Any = None, hint: str = ""
) -> OptionError:
    if of is None:
        owner = ""
    else:
        owner = f" of {of if isinstance(of, str) else type(of).__name__}"
    if of is None and isinstance(value, str):
        hint = advice(f"values of {name}", value) or hint
    return OptionError(f"{name}{owner} must be {expected}; got {brief(value)}.{hint}")


def brief(value: Any) -> str:
    """The repr of a value, shortened if it is long."""
    if is_whole(value) and abs(value) > 10**20:
        return "a whole number of more than 20 digits"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def shown_labels(labels: Iterable[Any], limit: int = 10) -> str:
    """The reprs of up to `limit` labels."""
    listed = [repr(plain(label)) for label in labels]
    shown = ", ".join(listed[:limit])
    if len(listed) <= limit:
        return shown
    return f"{shown}, ... ({len(listed)} in all)"


def counted(n: int, name: str) -> str:
    """A number with a noun in the singular or plural.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{n} {name}" if n == 1 else f"{n} {name}s"


def plain(label: Any) -> Any:
    """A label as a plain Python value, so that it prints and pickles as the user wrote
    it.
    """
    return label.item() if isinstance(label, np.generic) else label


def row_name(index: pd.Index, position: int) -> str:
    """A row by its label, and by its position where that differs."""
    label = plain(index[position])
    if is_whole(label) and label == position:
        return f"row {position}"
    if isinstance(label, tuple):
        label = tuple(map(plain, label))
    return f"row {label!r} (position {position})"


def refuse(
    bad: BoolArray,
    index: pd.Index,
    name: str,
    value: AnyArray | str,
    advice: str,
    where: str = "",
) -> None:
    """DataError if any row is bad, with the first one, its value (or the problem, if
    `value` is text), and the number of bad rows.
    """
    if not bad.any():
        return
    first = int(np.argmax(bad))
    problem = value if isinstance(value, str) else f"{value[first]:g}"
    row = f"{row_name(index, first)}{where}"
    count = int(bad.sum())
    raise DataError(f"{name} is {problem} in {row} (such rows: {count}){advice}")


def labelled(given: Mapping[Any, T], what: str) -> dict[str, T]:
    """A dict of values by their labels as text; OptionError if two labels have the same
    text.

    Examples
    --------
    >>> labelled({1: "one", "two": 2}, "fits")
    {'1': 'one', 'two': 2}
    """
    by_text = {str(label): value for label, value in given.items()}
    if len(by_text) < len(given):
        texts = [str(label) for label in given]
        twice = next(text for text in texts if texts.count(text) > 1)
        raise OptionError(
            f"{what} must have labels that differ as text; {twice!r} is there twice."
            " Rename one."
        )
    return by_text


def require_memory(what: str, size: float, instead: str) -> None:
    """DataError if arrays of `size` bytes do not fit into the memory that is available.

    Parameters
    ----------
    what : str
        Such as "The kernel matrix of 60000 x 60000 rows".
    size : float
    instead : str
        What to do, as a sentence.
    """
    if size > _SMALL and size > (room := available_memory()):
        raise DataError(
            f"{what} needs {size / 2**30:,.2f} GiB, and {room / 2**30:,.2f} GiB are"
            f" available. {instead}"
        )


#: What to do about weights that stand for too many rows.
SMALLER_WEIGHTS = "Divide the weights by their common factor, or take fewer rows."
# Bytes that are always available.
_SMALL = 2.0**26


def available_memory() -> float:
    """Bytes of memory that this process can still use: the free memory of the machine,
    or less under a memory limit.
    """
    limits = [
        _number_in("/proc/meminfo", "MemAvailable:") * 1024.0,
        _number_in("/sys/fs/cgroup/memory.max", ""),
    ]
    if os.name == "posix":
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

        soft = getrlimit(RLIMIT_AS)[0]
        limits.append(np.inf if soft == RLIM_INFINITY else float(soft))
    return min(limits)


def _number_in(path: str, label: str) -> float:
    """The number after a label in a file of the system; infinite without one."""
    try:
        with open(path, encoding="ascii") as file:
            words = (
                next(line for line in file if line.startswith(label))
                .removeprefix(label)
                .split()
            )
        return float(words[0])
    except (OSError, StopIteration, ValueError, IndexError):
        return float("inf")


# Progress


class _Bar:
    """A tqdm bar behind the callback signature."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, step: int, total: int, message: str) -> None:
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=total, leave=False, file=sys.stderr)
        self._bar.set_description(message)
        self._bar.update(step - self._bar.n)
        if step >= total:
            self._bar.close()
            self._bar = None


def reporter(callback: Progress | None) -> Progress | None:
    """The caller's callback; else a bar where tqdm is installed and stderr is a
    terminal; else None.

    Raises
    ------
    OptionError
        The callback is not a function of three arguments.
    """
    if callback is not None:
        try:
            inspect.signature(callback).bind(1, 1, "")
        except (TypeError, ValueError):
            raise OptionError(
                "callback must be a function of step, total and message; got"
                f" {callback!r}."
            ) from None
        return callback
    if sys.stderr is not None and sys.stderr.isatty() and find_spec("tqdm"):
        return _Bar()
    return None


def ticking(progress: Progress | None, total: int) -> Callable[..., None]:
    """A function that adds steps (1 by default) and reports them to `progress`; safe in
    threads.
    """
    done = 0
    lock = Lock()

    def tick(message: str, steps: int = 1) -> None:
        nonlocal done
        if progress is not None:
            with lock:
                done += steps
                progress(done, total, message)

    return tick


# Names of R, Stata, SPSS and statsmodels, and what stands for them here


@cache
def written() -> dict[str, dict[str, str]]:
    """The tables of `words.toml`."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


@cache
def words(table: str) -> dict[str, str]:
    """The texts of a table of `words.toml`, by name; empty if there is no such table.

    Examples
    --------
    >>> words("other_names")["polr"]
    'logit'
    """
    texts = written().get(table, {})
    return {name: text for names, text in texts.items() for name in names.split()}


def advice(table: str, name: str) -> str:
    """The text for a name in a table of `words.toml`, after a blank; empty if the table
    lacks the name.
    """
    texts = words(table)
    hint = texts.get(name) or texts.get(_folded(name))
    return f" {hint}" if hint else ""


def option_advice(owner: str, name: str, options: Iterable[str]) -> str:
    """What to write instead of an unknown option; empty if `words.toml` does not say.

    A table of the owner comes first, then those of the options that it has
    ("with rounds"), then what holds everywhere.

    Examples
    --------
    >>> option_advice("method 'ordboost'", "n_estimators", ["rounds", "depth"])
    ' Write rounds=200.'
    >>> option_advice("method 'rps-forest'", "n_estimators", ["trees"])
    ' Write trees=500.'
    """
    tables = [owner, *(f"with {option}" for option in options), "option"]
    hints = [advice(table, name) for table in tables]
    return next(filter(None, hints), "")


def refuse_beside(
    subject: str, refused: Mapping[str, tuple[bool, str]], otherwise: str = ""
) -> None:
    """OptionError for the first part of a model that cannot be combined with the
    subject.

    Parameters
    ----------
    subject : str
    refused : mapping of str to (bool, str)
        For each part: whether the model has it, and what to do instead.
    otherwise : str
        What to do instead of any part.
    """
    for part, (holds, instead) in refused.items():
        if holds:
            raise OptionError(
                f"{subject} must go without {part}: {instead}{otherwise}."
            )


def check_names(
    names: Iterable[str],
    valid: Collection[str],
    owner: str,
    kind: str,
    also: Iterable[str] = (),
) -> None:
    """OptionError for a name that is not valid; it may also be a misspelling of a name
    in `also`.
    """
    for name in names:
        if name not in valid:
            options = [*valid, *also]
            meant = option_advice(owner, name, options) or did_you_mean(name, options)
            known = f"Its {kind}s are: {', '.join(valid)}."
            if not valid:
                known = f"It has no {kind}s."
            raise OptionError(f"{owner} has no {kind} {name!r}.{meant} {known}")
