"""`ordstat methods` and `ordstat datasets`: what there is."""

from __future__ import annotations

import inspect
import re
import textwrap
from argparse import ArgumentParser, Namespace

from .. import datasets
from ..checks import unknown
from ..methods import METHODS, spelled
from ..registry import defaults_of
from .command import Command, say
from .tables import check_writable, write_table

_WIDTH = 100
_PAPERS = re.compile(r"\[[^][]*(?:19|20)\d\d[^][]*\]")


def _add_methods(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="a method, to read all about it; a list of all if left out")


def _run_methods(given: Namespace) -> None:
    say(method_list() if given.name is None else method_text(given.name))


def method_list() -> str:
    """Every method with what it does and the paper; where names share a class, one stands for it, and the others say
    what they fix."""
    return "\n".join(_listed(name) for name in METHODS)


def _listed(name: str) -> str:
    entry = METHODS[name]
    shared = [other for other, own in METHODS.items() if own.method is entry.method]
    first = min(shared, key=lambda other: len(METHODS[other].preset))
    fixed = ", ".join(f"{option}={value!r}" for option, value in entry.preset.items())
    what = _first_paragraph(entry.method) if name == first else f"{first} with {fixed}"
    start = f"{name:<22}"
    return textwrap.fill(what, _WIDTH, initial_indent=start, subsequent_indent=" " * len(start))


def method_text(name: str) -> str:
    """Options with their defaults, and the description, of one method.

    Raises
    ------
    OptionError
        An unknown name.
    """
    known = spelled(name)
    if known is None:
        raise unknown("method", name, METHODS)
    entry = METHODS[known]
    options = ", ".join(f"{option}={default!r}" for option, default in (defaults_of(known) or {}).items())
    fixed = "".join(f"\nFixed by the name: {option}={value!r}" for option, value in entry.preset.items())
    text = inspect.getdoc(entry.method) or ""
    return f"{known}: {entry.method.__name__}{fixed}\n{textwrap.fill(f'Options: {options}', _WIDTH)}\n\n{text}"


def _first_paragraph(method: type) -> str:
    """What a method does, with the first paper that its description cites."""
    text = " ".join((inspect.getdoc(method) or "").split())
    first = " ".join((inspect.getdoc(method) or "").split("\n\n")[0].split())
    papers = _PAPERS.findall(text)
    return first if not papers or _PAPERS.search(first) else f"{first.removesuffix('.')} {papers[0]}."


METHODS_COMMAND = Command(
    "methods",
    "list the methods and their papers, or describe one",
    "examples:\n  ordstat methods\n  ordstat methods redsvm\n",
    _add_methods,
    _run_methods,
)


def _add_datasets(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="a data set, for its first rows; a list of all if left out")
    parser.add_argument("-o", "--output", metavar="FILE", help="write it to a file that ends in .csv, .tsv or .parquet")


def _run_datasets(given: Namespace) -> None:
    if given.output is not None:
        check_writable(given.output)
    if given.name is None:
        say("\n".join(map(_described, datasets.NAMES)))
        return
    frame = datasets.load(given.name)
    if given.output is None:
        say(frame.head(10).to_string(index=False))
    else:
        write_table(frame, given.output)


def _described(name: str) -> str:
    """Name, size, response with its levels, and columns."""
    frame = datasets.load(name)
    columns = [str(column) for column in frame.columns]
    response = next(column for column in columns if getattr(frame[column].dtype, "ordered", False))
    others = [column for column in columns if column != response]
    levels = " < ".join(map(str, frame[response].cat.categories))
    text = f"{len(frame)} rows; {response}: {levels}; by {', '.join(others)}"
    return textwrap.fill(text, _WIDTH, initial_indent=f"{name:<10}", subsequent_indent=" " * 10)


DATASETS = Command(
    "datasets",
    "list the data sets that come with ordstat, or write one to a file",
    "examples:\n  ordstat datasets\n  ordstat datasets wine -o wine.csv\n",
    _add_datasets,
    _run_datasets,
)
