"""The command line: `ordstat demo`, `fit`, `summary`, `predict`, `methods`."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shlex
import sys
import textwrap
import warnings
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from . import datasets
from .api import ordfit
from .exceptions import DataError, OptionError, OrdstatError
from .persistence import UNREADABLE, check_name, load
from .registry import METHODS
from .report.files import write_file
from .report.page import page_target


class UsageError(OrdstatError):
    """Arguments that do not fit the command."""


# Files of data

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_ENDINGS = " or ".join(_SEPARATORS)
#: Cells that are missing values; None and null may be names of levels.
_MISSING = ["", "NA", "NaN", "nan"]


def _separator(path: str) -> str:
    """The separator of a file of data by its name; UsageError for another kind of file."""
    ending = Path(path).suffix.lower()
    if ending not in _SEPARATORS:
        raise UsageError(f"a file of data must end in {_ENDINGS}; got {path!r}. Convert it with pandas.")
    return _SEPARATORS[ending]


def read_table(path: str, separator: str | None = None) -> pd.DataFrame:
    """Read a data frame from a file.

    Parameters
    ----------
    path : str
        A name that ends in .csv or .tsv.
    separator : str, optional
        Between the columns, if it is not that of the ending.

    Raises
    ------
    UsageError
        The file has another extension.
    DataError
        The file does not exist, cannot be read or has no rows.
    """
    how: dict[str, Any] = {"sep": separator or _separator(path), "encoding": "utf-8-sig", "low_memory": False}
    if not Path(path).is_file():
        raise DataError(f"there is no file {path!r}.")
    try:
        frame: pd.DataFrame = pd.read_csv(path, keep_default_na=False, na_values=_MISSING, **how)
        names = pd.read_csv(path, header=None, nrows=1, dtype=str, **how).iloc[0].dropna()
    except UNREADABLE as error:
        raise DataError(f"{path!r} cannot be read as {Path(path).suffix}: {error}") from error
    if names.duplicated().any():
        raise DataError(f"{path!r} has several columns {names[names.duplicated()].iloc[0]!r}. Rename them.")
    if len(names) == 1 and any(mark in names.iloc[0] for mark in ";\t,"):
        raise DataError(f"{path!r} has only the column {names.iloc[0]!r}. Give the separator: --separator ';'.")
    if frame.empty:
        raise DataError(f"{path!r} has no rows.")
    return frame


def _add_data(parser: ArgumentParser) -> None:
    missing = "empty cells, NA, NaN and nan are missing values"
    parser.add_argument("data", help=f"a file that ends in {_ENDINGS}; {missing}")
    parser.add_argument("--separator", metavar="TEXT", help="between the columns")


def value_of(text: str) -> Any:
    """The number, list or other Python literal that the text spells; else the text.

    Examples
    --------
    >>> value_of("10"), value_of("~ contact"), value_of("[[0, 1], [2, 0]]")
    (10, '~ contact', [[0, 1], [2, 0]])
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


# Commands


def demo_command(given: Namespace) -> None:
    """Fit the wine data twice and print both summaries."""
    for method in ("logit", "redsvm"):
        print(f"{ordfit('rating ~ temp + contact', data=datasets.load('wine'), method=method).summary()}\n")


def _fit_arguments(parser: ArgumentParser) -> None:
    _add_data(parser)
    parser.add_argument("formula", help="'response ~ term + term', in quotes")
    parser.add_argument("--method", default="logit", metavar="NAME", help="one of `ordstat methods` (logit)")
    parser.add_argument("--levels", metavar="A,B,...", help="order of the response's values, the lowest first")
    text = "an argument of ordfit or option of the method, such as C=10; repeat it for several"
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help=text)
    parser.add_argument("--save", metavar="FILE", help="save the fit to a file, such as model.ordstat")
    parser.add_argument("--report", metavar="FILE", help="write a page for readers, one .html file")


def fit_command(given: Namespace) -> None:
    """Fit a model or ranker to a file, and print its summary.

    examples:
      ordstat fit wine.csv "rating ~ temp + contact"
      ordstat fit wine.csv "rating ~ temp + (1 | judge)" --option quadrature=7
      ordstat fit wine.csv "rating ~ temp" --option nominal="~ contact"
      ordstat fit wine.csv "rating ~ temp + contact" --method redsvm --option C=10 --save svm.ordstat
      ordstat fit wine.csv "rating ~ temp + contact" --report wine.html
      ordstat fit study.csv "trust ~ age + region" --method probit --option cluster=household
      ordstat fit answers.csv "grade ~ hours" --levels poor,fair,good

    The response is numbers, or texts whose order --levels gives, the lowest first.
    `ordstat methods` lists the methods; in Python help("ordstat.REDSVM") has the options of one.
    """
    options = dict(map(_option, given.option))
    if given.save is not None:
        check_name(given.save)
        if not Path(given.save).parent.is_dir():
            raise DataError(f"{given.save} cannot be written: there is no folder {str(Path(given.save).parent)!r}.")
    if given.report is not None:
        page_target(given.report)
    data = read_table(given.data, given.separator)
    levels = None if given.levels is None else levels_of(given.levels)
    fit = ordfit(**{"formula": given.formula, "data": data, "method": given.method, "levels": levels} | options)
    print(fit.summary())
    if given.save is not None:
        fit.save(given.save)
    if given.report is not None:
        fit.report(given.report)


def levels_of(text: str) -> list[Any]:
    """The levels of --levels: numbers, or texts if one of them is not a number.

    Examples
    --------
    >>> levels_of("3, 2, 1"), levels_of("1,2,3+")
    ([3, 2, 1], ['1', '2', '3+'])
    """
    texts = [level.strip() for level in text.split(",")]
    values = [value_of(level) for level in texts]
    return values if all(isinstance(value, (int, float)) for value in values) else texts


def _option(text: str) -> tuple[str, Any]:
    """Name and value of an --option."""
    name, equals, written = (part.strip() for part in text.partition("="))
    if not equals or not name.isidentifier():
        raise UsageError(f"--option must be NAME=VALUE, such as C=10; got {text!r}.")
    return name, value_of(written)


def _summary_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", help="a file of `ordstat fit --save`, or of fit.save() in Python")
    text = "model, fit, errors, margins, bounds or all; one screen if left out"
    parser.add_argument("section", nargs="?", metavar="SECTION", help=text)


def summary_command(given: Namespace) -> None:
    """Print the summary of a saved fit.

    examples:
      ordstat summary wine.ordstat
      ordstat summary wine.ordstat all
    """
    print(load(given.model).summary(given.section))


def _predict_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", help="a file of `ordstat fit --save`, or of fit.save() in Python")
    _add_data(parser)
    parser.add_argument("--type", default="class", metavar="TYPE", help="what to predict (class)")
    parser.add_argument("-o", "--output", metavar="FILE", help=f"a file that ends in {_ENDINGS}")


def predict_command(given: Namespace) -> None:
    """Predict the rows of a file with a saved fit.

    examples:
      ordstat predict svm.ordstat new.csv                          to the screen, as CSV
      ordstat predict logit.ordstat new.csv --type prob -o out.csv

    Writes one row of predictions for each row of the data, in the same order; empty where a value is missing.
    Types: class, prob, cum_prob (if the fit has probabilities), score, margin, votes.
    """
    predicted = load(given.model).predict(read_table(given.data, given.separator), type=given.type)
    if isinstance(predicted, pd.DataFrame):
        table = predicted.add_prefix(f"{given.type}_")
    else:
        table = predicted.to_frame(given.type)
    if given.output is None:
        table.to_csv(sys.stdout, index=False)
    else:
        write_file(given.output, table.to_csv(sep=_separator(given.output), index=False).encode())


_WIDTH = 100


def methods_command(given: Namespace) -> None:
    """List the methods: name, class and paper; help("ordstat.REDSVM") in Python describes a class.

    examples:
      ordstat methods
    """
    for name, entry in METHODS.items():
        text = " ".join((inspect.getdoc(entry.method) or "").split("\n\n")[0].split())
        preset = ", ".join(f"{option}={value!r}" for option, value in entry.preset.items())
        paper = "" if "[" in text else f" [{entry.method.papers[0].partition(').')[0]})]"
        text = f"{name:<22}{entry.method.__name__}({preset}): {text}{paper}"
        print(textwrap.fill(text, _WIDTH, subsequent_indent=" " * 22))


#: By its name: what runs a command, with the text of its --help, and what adds its arguments.
COMMANDS: dict[str, tuple[Callable[[Namespace], None], Callable[[ArgumentParser], None]]] = {
    "demo": (demo_command, lambda parser: None),
    "fit": (fit_command, _fit_arguments),
    "summary": (summary_command, _summary_arguments),
    "predict": (predict_command, _predict_arguments),
    "methods": (methods_command, lambda parser: None),
}


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def _parser() -> ArgumentParser:
    """Ordinal regression from the shell: models and rankers for outcomes that have an order.

    a first walk:
      ordstat demo
      python -c "from ordstat import datasets; datasets.load('wine').to_csv('wine.csv', index=False)"
      ordstat fit wine.csv "rating ~ temp + contact" --save wine.ordstat
      ordstat predict wine.ordstat wine.csv --type prob

    `ordstat COMMAND --help` says more. Exit codes: 0 done, 1 error in data or model, 2 error in the arguments.
    """
    text, _, more = str(inspect.getdoc(_parser)).partition("\n\n")
    looks: dict[str, Any] = {"formatter_class": RawDescriptionHelpFormatter}
    top = _Parser(prog="ordstat", description=text, epilog=more, **looks)
    top.add_argument("--version", action="version", version=f"ordstat {version('ordstat')}")
    added = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (run, add_arguments) in COMMANDS.items():
        text, _, more = str(inspect.getdoc(run)).partition("\n\n")
        brief = text[0].lower() + text[1:].removesuffix(".")
        parser = added.add_parser(name, help=brief, description=text, epilog=more, **looks)
        add_arguments(parser)
        parser.set_defaults(run=run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the shell unless given.

    Returns
    -------
    int
        0 if the command was run, 1 for an error in data or model, 2 for one in the arguments, 130 if interrupted.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _warn
        try:
            given = _parser().parse_args(arguments)
            given.run(given)
            sys.stdout.flush()
        except OrdstatError as error:
            sys.stderr.write(f"ordstat: error: {_one_line(error)}\n")
            return 2 if isinstance(error, (UsageError, OptionError)) else 1
        except KeyboardInterrupt:
            sys.stderr.write("ordstat: error: interrupted\n")
            return 130
        except BrokenPipeError:  # the reader of a pipe has stopped
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _warn(message: Warning | str, category: type[Warning], *others: Any, **more: Any) -> None:
    if not issubclass(category, (DeprecationWarning, PendingDeprecationWarning, ResourceWarning)):
        sys.stderr.write(f"ordstat: warning: {_one_line(message)}\n")


def _one_line(text: object) -> str:
    line = " ".join(str(text).split()).replace(", or make it an ordered pd.Categorical", "")
    return re.sub(r"levels=(\[.*?\])", _for_the_shell, line)


def _for_the_shell(found: re.Match[str]) -> str:
    """The option for labels in a message of Python, quoted where the shell needs it."""
    try:
        labels = ast.literal_eval(found[1])
    except (SyntaxError, ValueError):  # the message shows some of the labels
        return found[0]
    return f"--levels {shlex.quote(','.join(map(str, labels)))}"
