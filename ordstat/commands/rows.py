"""Arguments of every command that reads rows: which file, which columns, in which order."""

from __future__ import annotations

import ast
from argparse import ArgumentParser, Namespace
from typing import Any

from .tables import DATA_HELP, read_table

#: Arguments of `ordfit` that are texts here too.
TEXTS = {
    "nominal": "effects that differ by threshold, such as '~ contact'",
    "scale": "effects on the scale, such as '~ contact'",
    "weights": "column of case weights (numbers of equal rows)",
    "offset": "column that is a known part of the score",
    "cluster": "column of the groups of dependent rows",
    "subset": "rows to use, such as 'age >= 18'",
}


def add_rows(parser: ArgumentParser) -> None:
    """The file and the formula."""
    parser.add_argument("data", help=DATA_HELP)
    parser.add_argument("formula", help="'response ~ term + term', in quotes")


def add_columns(parser: ArgumentParser) -> None:
    """What else there is to say of rows and columns, and of all fits."""
    for name, text in TEXTS.items():
        parser.add_argument(f"--{name}", metavar="COLUMN" if "column" in text else "TEXT", help=text)
    parser.add_argument("--levels", metavar="A,B,...", help="order of the response's values, the lowest first")
    parser.add_argument("--seed", type=int, default=0, metavar="NUMBER", help="of all random steps (0)")
    add_marks(parser)


def add_marks(parser: ArgumentParser) -> None:
    """How a text file is written."""
    parser.add_argument("--separator", metavar="TEXT", help="between the columns of a text file of data")
    parser.add_argument("--decimal", default=".", metavar="MARK", help="in its numbers: , of files with 1,5 (.)")


def of_rows(given: Namespace) -> dict[str, Any]:
    """Arguments of `ordfit` or `compare`, from those of the shell."""
    texts = {name: getattr(given, name) for name in TEXTS}
    levels = None if given.levels is None else levels_of(given.levels)
    return {
        "data": read_table(given.data, given.separator, given.decimal),
        **{name: text for name, text in texts.items() if text is not None},
        "levels": levels,
        "seed": given.seed,
    }


def levels_of(text: str) -> list[Any]:
    """The levels of --levels: numbers, or texts where one of them is no number.

    Examples
    --------
    >>> levels_of("3, 2, 1"), levels_of("1,2,3+"), levels_of("'1','2'")
    ([3, 2, 1], ['1', '2', '3+'], ['1', '2'])
    """
    texts = [level.strip() for level in text.split(",")]
    values = [value(level) for level in texts]
    if all(isinstance(found, (int, float)) for found in values):
        return values
    return [found if isinstance(found, str) else level for found, level in zip(values, texts, strict=True)]


def value(text: str) -> Any:
    """The number, list or other literal of Python that a text is; else the text itself.

    Examples
    --------
    >>> value("10"), value("cv"), value("[[0, 1], [2, 0]]")
    (10, 'cv', [[0, 1], [2, 0]])
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
