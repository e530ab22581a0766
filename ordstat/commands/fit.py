"""`ordstat fit`: a model or ranker of the rows of a file."""

from __future__ import annotations

import ast
from argparse import ArgumentParser, Namespace
from typing import Any

from ..api import ordfit
from .command import Command, UsageError, say
from .tables import READERS, read_table

_MORE = """\
examples:
  ordstat datasets wine -o wine.csv
  ordstat fit wine.csv "rating ~ temp + contact"
  ordstat fit wine.csv "rating ~ temp + (1 | judge)" --option quadrature=7
  ordstat fit wine.csv "rating ~ temp" --nominal "~ contact" --summary all
  ordstat fit wine.csv "rating ~ temp + contact" --method redsvm --option C=10 --save svm.ordstat
  ordstat fit survey.sav "trust ~ age + region" --method probit --weights w
  ordstat fit answers.csv "grade ~ hours" --levels poor,fair,good

The response is numbers, values with labels (Stata, SPSS), or texts whose order --levels gives, the lowest first.
`ordstat methods` lists the methods, `ordstat methods NAME` the options of one.
"""
#: Arguments of `ordfit` that are texts here too.
_TEXTS = {
    "nominal": "effects that differ by threshold, such as '~ contact'",
    "scale": "effects on the scale, such as '~ contact'",
    "weights": "column of case weights (numbers of equal rows)",
    "offset": "column that is a known part of the score",
    "cluster": "column of the groups of dependent rows",
    "subset": "rows to use, such as 'age >= 18'",
}


def _add(parser: ArgumentParser) -> None:
    parser.add_argument("data", help=f"a file that ends in {', '.join(READERS)}")
    parser.add_argument("formula", help="'response ~ term + term', in quotes")
    parser.add_argument("--method", default="logit", metavar="NAME", help="one of `ordstat methods` (logit)")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the method, such as C=10; as often as there are options",
    )
    for name, text in _TEXTS.items():
        parser.add_argument(f"--{name}", metavar="COLUMN" if "column" in text else "TEXT", help=text)
    parser.add_argument("--levels", metavar="A,B,...", help="order of the response's values, the lowest first")
    parser.add_argument("--calibrate", action="store_true", help="learn probabilities for a ranker that has none")
    parser.add_argument("--seed", type=int, default=0, metavar="NUMBER", help="of all random steps (0)")
    parser.add_argument("--force", action="store_true", help="begin a fit that takes long by its estimate")
    parser.add_argument("--separator", metavar="TEXT", help="between the columns of a text file")
    parser.add_argument("--save", metavar="FILE", help="put the fit into a file, such as model.ordstat")
    parser.add_argument("--summary", metavar="PART", help="model, fit, errors, margins, bounds or all; else one screen")


def _run(given: Namespace) -> None:
    options = dict(map(_option, given.option))
    texts = {name: getattr(given, name) for name in _TEXTS}
    levels = None if given.levels is None else [value(level.strip()) for level in given.levels.split(",")]
    fit = ordfit(
        given.formula,
        read_table(given.data, given.separator),
        given.method,
        **{name: text for name, text in texts.items() if text is not None},
        levels=levels,
        calibrate=given.calibrate,
        force=given.force,
        seed=given.seed,
        **options,
    )
    summary = fit.summary(given.summary)
    if given.save is not None:
        fit.save(given.save)
    say(summary)


def _option(text: str) -> tuple[str, Any]:
    """Name and value of an option."""
    name, equals, written = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise UsageError(f"--option must be NAME=VALUE, such as C=10; got {text!r}.")
    return name.strip(), value(written.strip())


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


FIT = Command("fit", "fit a model or ranker to a file, and print its summary", _MORE, _add, _run)
