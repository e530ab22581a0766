"""The command line: `ordstat demo`, `fit`, `summary`, `predict`, `methods`."""

from __future__ import annotations

import ast
import csv
import inspect
import os
import re
import shlex
import sys
import textwrap
import warnings
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from io import StringIO
from typing import Any, NoReturn

import pandas as pd

from . import datasets
from .api import ordfit
from .checks import one_of
from .exceptions import OptionError, OrdstatError
from .persistence import check_name, load
from .predicting import known_type
from .registry import METHODS
from .report.page import page_target
from .report.render import Line, Report, Summary
from .table_files import ENDINGS, TableFile, check_ending, check_writable, write_table


class UsageError(OrdstatError):
    """Arguments that do not fit the command."""


def _add_data(parser: ArgumentParser) -> None:
    missing = "empty cells, NA, NaN and nan are missing values"
    parser.add_argument(
        "data", help=f"a file that ends in {ENDINGS}; in text, {missing}"
    )
    parser.add_argument(
        "--separator",
        metavar="TEXT",
        help="column separator of a text file, whose name may then have any ending",
    )
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="of a text file, such as cp1252 (Windows); UTF-8 by default",
    )
    parser.add_argument(
        "--decimal", metavar="MARK", help="',' for a text file with 1,5 instead of 1.5"
    )


def _data_of(given: Namespace) -> TableFile:
    return TableFile(given.data, given.separator, given.encoding, given.decimal)


def _kept(text: str, table: TableFile, data: pd.DataFrame) -> pd.DataFrame:
    """The columns that --keep names, of a text file as they are written there."""
    names = [text]
    if text not in data:
        names = [name.strip() for name in text.split(",")]
    for name in names:
        one_of("--keep", name, data.columns)
    return table.as_written(names)


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


def _show(text: object) -> None:
    """Print for a reader; letters that the screen does not have are question marks."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(str(text).encode(encoding, "replace").decode(encoding))


def _show_summary(summary: Summary, model: str | None) -> None:
    """Print a summary; its advice is for the shell. `model` is the file of the fit."""
    report = summary.report
    blocks = [
        _line_for_the_shell(block, model) if isinstance(block, Line) else block
        for block in report.blocks
    ]
    notes = tuple([_in_the_shell(note) for note in report.notes])
    shown: Report = replace(report, tables=tuple(blocks), notes=notes)
    _show(replace(summary, report=shown))


def _line_for_the_shell(line: Line, model: str | None) -> Line:
    if line.role != "more":
        items = tuple([_in_the_shell(item) for item in line.items])
        return replace(line, items=items)
    sections = re.findall(r'"(\w+)"', " ".join(line.items))
    call = f"ordstat summary {model or 'FILE'} {sections[0]}"
    if model is None:
        call = f"add --save FILE, then {call}"
    return replace(line, items=(call, *sections[1:]))


def demo_command(given: Namespace) -> None:
    """Fit a survey item by a cumulative logit model and by RED-SVM, and print both
    summaries.
    """
    survey = datasets.load("anes96")
    for method in ("logit", "redsvm"):
        fit = ordfit("PID ~ selfLR + educ + age", survey, method)
        _show(f"{fit.summary()}\n")


def _fit_arguments(parser: ArgumentParser) -> None:
    _add_data(parser)
    parser.add_argument("formula", help="'response ~ term + term', in single quotes")
    parser.add_argument(
        "--method",
        default="logit",
        metavar="NAME",
        help="a name from `ordstat methods`; logit by default",
    )
    parser.add_argument(
        "--levels",
        metavar="A,B,...",
        help="the levels of the response in order, lowest first",
    )
    text = (
        "an argument of ordfit or option of the method, such as C=10; repeat it for"
        " several"
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help=text
    )
    parser.add_argument(
        "--save", metavar="FILE", help="save the fit to a file, such as model.ordstat"
    )
    parser.add_argument(
        "--report", metavar="FILE", help="write a report, one .html file"
    )


def fit_command(given: Namespace) -> None:
    """Fit a model to the data in a file, and print its summary.

    examples:
      ordstat fit wine.csv "rating ~ temp + contact"
      ordstat fit wine.csv "rating ~ temp + contact" --report wine.html
      ordstat fit wine.csv "rating ~ temp + (1 | judge)" --option quadrature=7
      ordstat fit wine.csv "rating ~ temp" --option nominal="~ contact"
      ordstat fit wine.csv "rating ~ temp" --method redsvm --option C=10
      ordstat fit wine.csv "rating ~ temp" --method probit --save wine.ordstat
      ordstat fit study.csv "trust ~ age + region" --option cluster=household
      ordstat fit answers.csv "grade ~ hours" --levels "poor,fair,very good"

    The response is numeric, or text with its order given by --levels, lowest first.
    `ordstat methods` lists the methods; in Python help("ordstat.REDSVM") has the
    options of one.
    """
    options = _options(given.option)
    if given.save is not None:
        check_name(given.save)
        check_writable(given.save, (given.data,))
    if given.report is not None:
        page_target(given.report)
        check_writable(given.report, (given.data,))
    data = _data_of(given).read()
    levels = None if given.levels is None else levels_of(given.levels)
    fit = ordfit(
        **{
            "formula": given.formula,
            "data": data,
            "method": given.method,
            "levels": levels,
        }
        | options
    )
    _show_summary(fit.summary(), given.save)
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
    >>> levels_of('no,"yes, a little",yes')
    ['no', 'yes, a little', 'yes']
    """
    texts = [level.strip() for level in next(csv.reader([text], skipinitialspace=True))]
    values = [value_of(level) for level in texts]
    return values if all(isinstance(value, (int, float)) for value in values) else texts


#: Arguments of ordfit that are arguments of the command, and how they are given there.
_NO_OPTIONS = {
    "formula": "the formula after the file",
    "data": "the file after `ordstat fit`",
    "method": "--method",
    "levels": "--levels",
}


def _options(texts: Sequence[str]) -> dict[str, Any]:
    """Names and values of all --option; UsageError for a name that is not one, or is
    given twice.
    """
    options: dict[str, Any] = {}
    for text in texts:
        name, value = _option(text)
        if name in _NO_OPTIONS:
            raise UsageError(f"--option must not be {name}; give {_NO_OPTIONS[name]}.")
        if name in options:
            raise UsageError(f"--option {name} is given twice. Leave one out.")
        options[name] = value
    return options


def _option(text: str) -> tuple[str, Any]:
    """Name and value of an --option."""
    name, equals, written = (part.strip() for part in text.partition("="))
    if not equals or not name.isidentifier():
        raise UsageError(f"--option must be NAME=VALUE, such as C=10; got {text!r}.")
    return name, value_of(written)


def _summary_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "model", help="a file of `ordstat fit --save`, or of fit.save() in Python"
    )
    text = "model, fit, errors, margins, bounds or all; by default one screen"
    parser.add_argument("section", nargs="?", metavar="SECTION", help=text)


def summary_command(given: Namespace) -> None:
    """Print the summary of a saved fit.

    examples:
      ordstat summary wine.ordstat
      ordstat summary wine.ordstat all
    """
    _show_summary(load(given.model).summary(given.section), given.model)


def _predict_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "model", help="a file of `ordstat fit --save`, or of fit.save() in Python"
    )
    _add_data(parser)
    parser.add_argument(
        "--type",
        default="class",
        metavar="TYPE",
        help="what to predict; class by default",
    )
    text = "probabilities for quantile, or values for exceed, separated by commas"
    parser.add_argument("--at", metavar="VALUE,...", help=text)
    text = "columns of the data to copy before the predictions, such as an identifier"
    parser.add_argument("--keep", metavar="COLUMN,...", help=text)
    text = f"a file that ends in {ENDINGS}, replaced if it exists"
    parser.add_argument("-o", "--output", metavar="FILE", help=text)


def predict_command(given: Namespace) -> None:
    """Predict the rows of a file with a saved fit.

    examples:
      ordstat predict svm.ordstat new.csv
      ordstat predict logit.ordstat new.csv --type prob -o out.csv
      ordstat predict logit.ordstat new.csv --type quantile --at 0.25,0.5,0.75
      ordstat predict logit.ordstat new.parquet --keep id,date -o out.parquet

    Writes one row of predictions for each row of the data, in the same order, empty
    where a value is missing. Without -o it prints them as CSV.

    types: class; with probabilities also prob, cum_prob, mean (of numeric levels, else
    of ranks from 1), mean_class (of ranks), quantile and exceed (P(response >= value));
    for likelihood models also linear_predictor and hazard (cratio, sratio); for methods
    with thresholds score and margin; for voting methods votes.
    """
    if given.output is not None:
        check_ending(given.output)
        check_writable(given.output, (given.data, given.model))
    source = _data_of(given)
    fit = load(given.model)
    type = known_type(fit, given.type)
    data = source.read()
    kept = None if given.keep is None else _kept(given.keep, source, data)
    at = None
    if given.at is not None:
        values = levels_of(given.at)
        at = values[0] if len(values) == 1 else values
    predicted = fit.predict(data, type=type, at=at)
    if isinstance(predicted, pd.DataFrame):
        table = predicted.add_prefix(f"{type}_")
    else:
        table = predicted.to_frame(type)
    if kept is not None:
        table = pd.concat([kept.set_axis(table.index), table], axis="columns")
        if table.columns.duplicated().any():
            twice = table.columns[table.columns.duplicated()][0]
            raise UsageError(
                f"--keep names {twice!r} twice, or as the predictions are named. Rename"
                " the column."
            )
    if given.output is None:
        table.to_csv(sys.stdout, index=False)
    else:
        write_table(table, given.output)


_WIDTH = 100
_NAME = 22
#: A formula in the description of a method, which stays on one line.
_FORMULA = re.compile(r"\b[PHF]\([^.]*\)")
_NO_BREAK = "\N{NO-BREAK SPACE}"


def methods_command(given: Namespace) -> None:
    """List the methods: name, what it is, class with options, and paper.

    examples:
      ordstat methods

    In Python help("ordstat.REDSVM") describes a class and its options.
    """
    for name, entry in METHODS.items():
        text = " ".join((inspect.getdoc(entry.method) or "").split("\n\n")[0].split())
        preset = ", ".join(
            f"{option}={value!r}" for option, value in entry.preset.items()
        )
        paper = (
            "" if "[" in text else f" [{entry.method.papers[0].partition(').')[0]})]"
        )
        whole = _FORMULA.sub(lambda found: found[0].replace(" ", _NO_BREAK), text)
        lines = textwrap.wrap(whole, _WIDTH - _NAME)
        made = f"{entry.method.__name__}({preset}){paper}"
        lines.extend(textwrap.wrap(made, _WIDTH - _NAME))
        _show(f"{name:<{_NAME}}{lines[0].replace(_NO_BREAK, ' ')}")
        for line in lines[1:]:
            _show(" " * _NAME + line.replace(_NO_BREAK, " "))


#: By its name: what runs a command, with the text of its --help, and what adds its
#: arguments.
COMMANDS: dict[
    str, tuple[Callable[[Namespace], None], Callable[[ArgumentParser], None]]
] = {
    "demo": (demo_command, lambda parser: None),
    "fit": (fit_command, _fit_arguments),
    "summary": (summary_command, _summary_arguments),
    "predict": (predict_command, _predict_arguments),
    "methods": (methods_command, lambda parser: None),
}


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write; argparse's own method hides that a message cannot be written."""
        (file or sys.stderr).write(message)


def _parser() -> ArgumentParser:
    """Ordinal regression from the shell: models and rankers for outcomes that have an
    order.

    first steps:
      ordstat demo
      python -c "from ordstat.datasets import load; load('wine').to_csv('wine.csv')"
      ordstat fit wine.csv "rating ~ temp + contact" --save wine.ordstat
      ordstat predict wine.ordstat wine.csv --type prob

    `ordstat COMMAND --help` says more. Exit codes: 0 done, 1 error in data or model, 2
    error in the arguments.
    """
    text, _, more = str(inspect.getdoc(_parser)).partition("\n\n")
    looks: dict[str, Any] = {"formatter_class": RawDescriptionHelpFormatter}
    top = _Parser(prog="ordstat", description=text, epilog=more, **looks)
    top.add_argument(
        "--version", action="version", version=f"ordstat {version('ordstat')}"
    )
    added = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (run, add_arguments) in COMMANDS.items():
        text, _, more = str(inspect.getdoc(run)).partition("\n\n")
        brief = text[0].lower() + text[1:].removesuffix(".")
        parser = added.add_parser(
            name, help=brief, description=text, epilog=more, **looks
        )
        add_arguments(parser)
        parser.set_defaults(run=run)
    return top


def _given(arguments: Sequence[str] | None) -> Namespace:
    """The parsed arguments; UsageError for those that the command does not take."""
    given, others = _parser().parse_known_args(arguments)
    if not others:
        return given
    quotes = ""
    if any(not word.startswith("-") for word in others):
        quotes = '. Put texts with blanks or ~ in quotes, such as "rating ~ temp"'
    raise UsageError(
        f"unrecognized arguments: {shlex.join(others)}{quotes} (see ordstat"
        f" {given.command} --help)"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the shell unless given.

    Returns
    -------
    int
        0 if the command was run, 1 for an error in data or model, 2 for one in the
        arguments, 130 if interrupted.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _warn
        if sys.stderr is None:  # closed by the shell
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        if sys.stdout is None:
            sys.stderr.write(
                "ordstat: error: the standard output is closed. Send it to a file or to"
                " /dev/null.\n"
            )
            return 1
        try:
            try:
                given = _given(arguments)
                given.run(given)
            finally:
                sys.stdout.flush()
        except OrdstatError as error:
            sys.stderr.write(f"ordstat: error: {_one_line(error)}\n")
            return 2 if isinstance(error, (UsageError, OptionError)) else 1
        except KeyboardInterrupt:
            sys.stderr.write("ordstat: error: interrupted\n")
            return 130
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
            sys.stderr.write(
                f"ordstat: error: the screen's encoding {error.encoding} has no"
                f" {letter!r}. Write a file with --output, or set"
                " PYTHONIOENCODING=utf-8.\n"
            )
            return 1
        except BrokenPipeError:  # the reader of a pipe has stopped
            _leave_output()
        except OSError as error:
            _leave_output()
            sys.stderr.write(
                "ordstat: error: the output cannot be written:"
                f" {error.strerror or error}.\n"
            )
            return 1
    return 0


def _leave_output() -> None:
    """What is still to be written goes nowhere, so that the end of the process does not
    fail again.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _warn(
    message: Warning | str, category: type[Warning], *others: Any, **more: Any
) -> None:
    if not issubclass(
        category, (DeprecationWarning, PendingDeprecationWarning, ResourceWarning)
    ):
        sys.stderr.write(f"ordstat: warning: {_one_line(message)}\n")


def _one_line(text: object) -> str:
    line = " ".join(str(text).split()).replace(
        ", or make it an ordered pd.Categorical", ""
    )
    return _in_the_shell(line)


#: Advice for Python, and what stands for it in the shell.
_ADVICE = {
    r'Try update\("~ \. - (.*?)", nominal="(.*?)"\); see plot\.parallel\(\)\.': (
        r'Try the formula without \1, and --option nominal="\2".'
    ),
    r'In update\("~ \. - (.*?)", nominal="(.*?)"\)': (
        r'In the formula without \1, with --option nominal="\2",'
    ),
    r"\bpenalty='?(jeffreys|[\d.]*\d)'?": r"--option penalty=\1",
    r"(?<!-)\blevels=(?!\[)": "--levels",
    r"\bfit\.save\(\)": "`ordstat fit --save`",
    r"\b([Ff]it with|[Gg]ive|[Ss]et|[Uu]se) method='?([\w-]+)'?": r"\1 --method \2",
    r"\b([Ff]it with|[Ss]et) ((?!penalty)\w+)='?([\w.-]+)'?": r"\1 --option \2=\3",
    r"\b([Ff]it with|[Ss]et) (\w+)=(?=[ ,.;)]|$)": r"\1 --option \2=VALUE",
    r"needed for (\w+)=": r"needed for --option \1",
    r"First make one label of two: data\.replace\(\{'.+?': \{(.*?)\}\}\)": (
        r"First make one label of two in the file (\1)"
    ),
    r"Write data\.replace\(\{'.+?': \{(.*?)\}\}\) to (make|set)": (
        r"Change the file (\1) to \2"
    ),
    r"(if that is no answer): data\.replace\(.*?\}\}\)": r"\1",
    r"^(.*backticks.*)$": (
        r"\1 Single quotes around the formula keep the shell from reading them."
    ),
}


def _in_the_shell(text: str) -> str:
    """A message with the options of the shell in place of arguments of Python."""
    text = re.sub(r"levels=(\[.*?\])", _for_the_shell, text)
    for python, shell in _ADVICE.items():
        text = re.sub(python, shell, text)
    return text


def _for_the_shell(found: re.Match[str]) -> str:
    """The option for labels in a message of Python, quoted where the shell needs it."""
    try:
        labels = ast.literal_eval(found[1])
    except (SyntaxError, ValueError):  # the message shows some of the labels
        return found[0]
    line = StringIO()
    csv.writer(line, lineterminator="").writerow(
        labels
    )  # a label with a comma is quoted
    return f"--levels {shlex.quote(line.getvalue())}"
