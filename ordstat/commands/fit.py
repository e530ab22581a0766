"""`ordstat fit`: a model or ranker of the rows of a file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from ..api import ordfit
from ..files.save import check_name
from ..results.page.write import page_target
from .command import Command, UsageError, say
from .rows import TEXTS, add_columns, add_rows, of_rows, value
from .tables import check_place

_MORE = """\
examples:
  ordstat datasets wine -o wine.csv
  ordstat fit wine.csv "rating ~ temp + contact"
  ordstat fit wine.csv "rating ~ temp + (1 | judge)" --option quadrature=7
  ordstat fit wine.csv "rating ~ temp" --nominal "~ contact" --summary all
  ordstat fit wine.csv "rating ~ temp + contact" --method redsvm --option C=10 --save svm.ordstat
  ordstat fit wine.csv "rating ~ temp + contact" --report wine.html
  ordstat fit study.sav "trust ~ age + region" --method probit --cluster household
  ordstat fit answers.csv "grade ~ hours" --levels poor,fair,good

The response is numbers, values with labels (Stata, SPSS), or texts whose order --levels gives, the lowest first.
`ordstat methods` lists the methods, `ordstat methods NAME` the options of one.
"""

#: Arguments of `ordfit` that are given in another way.
_OWN = {
    "data": "it is the first argument",
    "formula": "it is the second argument",
    "calibrate": "say --calibrate",
    **{name: f"say --{name}" for name in ("method", "levels", "seed", *TEXTS)},
}


def _add(parser: ArgumentParser) -> None:
    add_rows(parser)
    parser.add_argument("--method", default="logit", metavar="NAME", help="one of `ordstat methods` (logit)")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the method, such as C=10; as often as there are options",
    )
    add_columns(parser)
    parser.add_argument("--calibrate", action="store_true", help="learn probabilities for a ranker that has none")
    parser.add_argument("--save", metavar="FILE", help="put the fit into a file, such as model.ordstat")
    parser.add_argument("--report", metavar="FILE", help="write a page for readers, one .html file")
    parser.add_argument(
        "--summary", metavar="SECTION", help="model, fit, errors, margins, bounds or all; else one screen"
    )


def _run(given: Namespace) -> None:
    options = dict(map(_option, given.option))
    _check_paths(given)
    fit = ordfit(given.formula, method=given.method, calibrate=given.calibrate, **of_rows(given), **options)
    say(fit.summary(given.summary))
    if given.save is not None:
        fit.save(given.save)
    if given.report is not None:
        fit.report(given.report)


def _check_paths(given: Namespace) -> None:
    """Errors of names that nothing can be written to, before the fit."""
    if given.save is not None:
        check_name(given.save)
        check_place(given.save)
    if given.report is not None:
        check_place(given.report)
        page_target(given.report)


def _option(text: str) -> tuple[str, Any]:
    """Name and value of an option."""
    name, equals, written = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise UsageError(f"--option must be NAME=VALUE, such as C=10; got {text!r}.")
    if name.strip() in _OWN:
        raise UsageError(
            f"--option takes options of the method, of which {name.strip()} is none: {_OWN[name.strip()]}."
        )
    return name.strip(), value(written.strip())


FIT = Command("fit", "fit a model or ranker to a file, and print its summary", _MORE, _add, _run)
