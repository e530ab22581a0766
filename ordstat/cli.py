"""The command line: `ordstat demo`, `fit`, `summary`, `predict`, `compare`, `methods`, `datasets`."""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
import textwrap
import warnings
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from . import datasets
from .api import ordfit
from .checks import canonical, unknown
from .exceptions import DataError, OptionError, OrdstatError
from .persistence import UNREADABLE, check_name, load, write_file
from .registry import METHODS, defaults_of, spelled
from .report.page import page_target


class UsageError(OrdstatError):
    """Arguments that do not fit the command."""


# Files of data

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_ENDINGS = (*_SEPARATORS, ".parquet")
#: Endings that compression adds; pandas decompresses such files.
_COMPRESSED = (".gz", ".bz2", ".xz", ".zip", ".zst")
#: Cells that are missing values; None and null may be names of levels.
_MISSING = ["", "NA", "NaN", "nan"]


def read_table(path: str, separator: str | None = None, decimal: str = ".") -> pd.DataFrame:
    """Read a data frame from a file.

    Parameters
    ----------
    path : str
        A name that ends in .csv, .tsv, .tab (also compressed, as .csv.gz) or .parquet.
    separator : str, optional
        Between the columns of a text file.
    decimal : str
        The decimal mark in a text file.

    Raises
    ------
    UsageError
        The file has another extension.
    DataError
        The file does not exist, cannot be read or has no rows.
    """
    kind = next((s.lower() for s in reversed(Path(path).suffixes) if s.lower() not in _COMPRESSED), "")
    if kind not in _ENDINGS:
        hint = " Convert it with pandas.read_stata or pandas.read_spss." if kind in (".dta", ".sav") else ""
        raise UsageError(f"the data must be a file that ends in {', '.join(_ENDINGS)}; got {path!r}.{hint}")
    if not Path(path).is_file():
        raise DataError(f"there is no file {path!r}.")
    try:
        if kind == ".parquet":
            frame = pd.read_parquet(path)
        else:
            frame = _read_text(path, separator or _SEPARATORS[kind], decimal)
    except OrdstatError:
        raise
    except ImportError as error:
        raise DataError(f"reading {path!r} needs pyarrow: pip install pyarrow.") from error
    except UNREADABLE as error:
        raise DataError(f"{path!r} cannot be read as {kind}: {error}") from error
    if frame.empty:
        raise DataError(f"{path!r} has no rows.")
    return frame


def _read_text(path: str, separator: str, decimal: str) -> pd.DataFrame:
    if len(decimal) != 1 or decimal == separator:
        raise UsageError(f"--decimal must be one character other than the separator, {separator!r}; got {decimal!r}.")
    how: dict[str, Any] = {"sep": separator, "decimal": decimal, "encoding": "utf-8-sig", "low_memory": False}
    frame: pd.DataFrame = pd.read_csv(path, keep_default_na=False, na_values=_MISSING, **how)
    names = pd.read_csv(path, header=None, nrows=1, dtype=str, **how).iloc[0].dropna()
    if names.duplicated().any():
        raise DataError(f"{path!r} has several columns {names[names.duplicated()].iloc[0]!r}. Rename them.")
    if len(names) == 1 and any(mark in names.iloc[0] for mark in ";\t,"):
        raise DataError(f"{path!r} has only the column {names.iloc[0]!r}. Give the separator: --separator ';'.")
    return frame


def write_table(frame: pd.DataFrame, path: str) -> None:
    """Write a data frame to a file that ends in .csv, .tsv, .tab or .parquet."""
    kind = Path(path).suffix.lower()
    try:
        if kind in _SEPARATORS:
            write_file(path, frame.to_csv(sep=_SEPARATORS[kind], index=False).encode())
        else:
            write_file(path, lambda file: frame.to_parquet(file, index=False))
    except ImportError as error:
        raise DataError(f"writing {path!r} needs pyarrow: pip install pyarrow.") from error


def check_output(path: str | None, endings: tuple[str, ...] = ()) -> None:
    """Refuse a name that cannot be written, before a long fit."""
    if path is None:
        return
    if endings and Path(path).suffix.lower() not in endings:
        raise UsageError(f"the output must be a file that ends in {', '.join(endings)}; got {path!r}.")
    if Path(path).is_dir():
        raise DataError(f"{path} cannot be written: it is a folder.")
    if not Path(path).parent.is_dir():
        raise DataError(f"{path} cannot be written: there is no folder {str(Path(path).parent)!r}.")


# Arguments that several commands share

#: Arguments of `ordfit` that are passed on as texts.
TEXTS = {
    "nominal": "effects that differ by threshold, such as '~ contact'",
    "scale": "effects on the scale, such as '~ contact'",
    "weights": "column of case weights (numbers of equal rows)",
    "offset": "column that is added to the score with coefficient 1",
    "cluster": "column of the groups of dependent rows",
    "subset": "rows to use, such as 'age >= 18'",
}


def _add_data(parser: ArgumentParser) -> None:
    missing = "empty cells, NA, NaN and nan of text files are missing values"
    parser.add_argument("data", help=f"a file that ends in {', '.join(_ENDINGS)}; {missing}")
    parser.add_argument("--separator", metavar="TEXT", help="between the columns of a text file")
    parser.add_argument("--decimal", default=".", metavar="MARK", help="decimal mark of a text file (.)")


def _add_model_of_rows(parser: ArgumentParser) -> None:
    _add_data(parser)
    parser.add_argument("formula", help="'response ~ term + term', in quotes")
    for name, text in TEXTS.items():
        parser.add_argument(f"--{name}", metavar="COLUMN" if "column" in text else "TEXT", help=text)
    parser.add_argument("--levels", metavar="A,B,...", help="order of the response's values, the lowest first")
    parser.add_argument("--seed", type=int, default=0, metavar="NUMBER", help="of all random steps (0)")


def _model_of_rows(given: Namespace) -> dict[str, Any]:
    """Arguments of `ordfit` and `compare` beside the formula."""
    texts = {name: getattr(given, name) for name in TEXTS if getattr(given, name) is not None}
    levels = None if given.levels is None else levels_of(given.levels)
    data = read_table(given.data, given.separator, given.decimal)
    return {"data": data, "levels": levels, "seed": given.seed, **texts}


def levels_of(text: str) -> list[Any]:
    """The levels of --levels: numbers, or texts if one of them is not a number.

    Examples
    --------
    >>> levels_of("3, 2, 1"), levels_of("1,2,3+"), levels_of("'1','2'")
    ([3, 2, 1], ['1', '2', '3+'], ['1', '2'])
    """
    texts = [level.strip() for level in text.split(",")]
    values = [value_of(level) for level in texts]
    if all(isinstance(value, (int, float)) for value in values):
        return values
    return [value if isinstance(value, str) else level for value, level in zip(values, texts, strict=True)]


def value_of(text: str) -> Any:
    """The number, list or other Python literal that the text spells; else the text.

    Examples
    --------
    >>> value_of("10"), value_of("cv"), value_of("[[0, 1], [2, 0]]")
    (10, 'cv', [[0, 1], [2, 0]])
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def say(text: object) -> None:
    """Write a text and a line end to the standard output."""
    sys.stdout.write(f"{text}\n")


# Commands


def demo_command(given: Namespace) -> None:
    """Fit the wine data twice and print both summaries."""
    for method in ("logit", "redsvm"):
        say(f"{ordfit('rating ~ temp + contact', data=datasets.load('wine'), method=method).summary()}\n")


def _fit_arguments(parser: ArgumentParser) -> None:
    _add_model_of_rows(parser)
    parser.add_argument("--method", default="logit", metavar="NAME", help="one of `ordstat methods` (logit)")
    text = "an option of the method, such as C=10; repeat it for several options"
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help=text)
    parser.add_argument("--calibrate", action="store_true", help="learn probabilities for a ranker that has none")
    parser.add_argument("--save", metavar="FILE", help="save the fit to a file, such as model.ordstat")
    parser.add_argument("--report", metavar="FILE", help="write a page for readers, one .html file")
    text = "model, fit, errors, margins, bounds or all; one screen if left out"
    parser.add_argument("--summary", metavar="SECTION", help=text)


def fit_command(given: Namespace) -> None:
    """Fit a model or ranker to a file, and print its summary.

    examples:
      ordstat datasets wine -o wine.csv
      ordstat fit wine.csv "rating ~ temp + contact"
      ordstat fit wine.csv "rating ~ temp + (1 | judge)" --option quadrature=7
      ordstat fit wine.csv "rating ~ temp" --nominal "~ contact" --summary all
      ordstat fit wine.csv "rating ~ temp + contact" --method redsvm --option C=10 --save svm.ordstat
      ordstat fit wine.csv "rating ~ temp + contact" --report wine.html
      ordstat fit study.csv "trust ~ age + region" --method probit --cluster household
      ordstat fit answers.csv "grade ~ hours" --levels poor,fair,good

    The response is numbers, or texts whose order --levels gives, the lowest first.
    `ordstat methods` lists the methods, `ordstat methods NAME` the options of one.
    """
    options = dict(map(_option, given.option))
    check_output(given.save)
    check_output(given.report)
    if given.save is not None:
        check_name(given.save)
    if given.report is not None:
        page_target(given.report)
    rows = _model_of_rows(given)
    fit = ordfit(given.formula, method=given.method, calibrate=given.calibrate, **rows, **options)
    say(fit.summary(given.summary))
    if given.save is not None:
        fit.save(given.save)
    if given.report is not None:
        fit.report(given.report)


def _option(text: str) -> tuple[str, Any]:
    """Name and value of an option of the method."""
    name, equals, written = (part.strip() for part in text.partition("="))
    if not equals or not name.isidentifier():
        raise UsageError(f"--option must be NAME=VALUE, such as C=10; got {text!r}.")
    if name in ("data", "formula", "method", "levels", "seed", "calibrate", *TEXTS):
        raise UsageError(f"--option must name an option of the method; got {name!r}, which has its own argument.")
    return name, value_of(written)


def _summary_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", help="a file of `ordstat fit --save`, or of fit.save() in Python")
    text = "model, fit, errors, margins, bounds or all; one screen if left out"
    parser.add_argument("section", nargs="?", metavar="SECTION", help=text)


def summary_command(given: Namespace) -> None:
    """Print the summary of a saved fit.

    examples:
      ordstat summary wine.ordstat
      ordstat summary wine.ordstat errors
      ordstat summary wine.ordstat all
    """
    say(load(given.model).summary(given.section))


def _predict_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", help="a file of `ordstat fit --save`, or of fit.save() in Python")
    _add_data(parser)
    parser.add_argument("--type", default="class", metavar="TYPE", help="what to predict (class)")
    parser.add_argument("-o", "--output", metavar="FILE", help="a file that ends in .csv, .tsv or .parquet")
    parser.add_argument("--with-data", action="store_true", help="write the columns of the data before the predictions")


def predict_command(given: Namespace) -> None:
    """Predict the rows of a file with a saved fit.

    examples:
      ordstat predict svm.ordstat new.csv                          to the screen, as CSV
      ordstat predict logit.ordstat new.csv --type prob -o out.csv
      ordstat predict logit.ordstat new.parquet --with-data -o out.parquet

    Writes one row of predictions for each row of the data, in the same order; empty where a value is missing.
    Types: class, prob, cum_prob (if the fit has probabilities), score, margin, votes.
    """
    check_output(given.output, _ENDINGS)
    fit, data = load(given.model), read_table(given.data, given.separator, given.decimal)
    kind = canonical(given.type, fit.prediction_types) or given.type
    out = fit.predict(data, type=kind)
    out = out.add_prefix(f"{kind}_") if isinstance(out, pd.DataFrame) else pd.DataFrame({kind: out})
    if given.with_data:
        if taken := [name for name in out.columns if name in data.columns]:
            raise DataError(f"the data already have a column {taken[0]!r}: rename it, or leave out --with-data.")
        out = pd.concat([data, out], axis=1)
    if given.output is None:
        out.to_csv(sys.stdout, index=False)
    else:
        write_table(out, given.output)


def _compare_arguments(parser: ArgumentParser) -> None:
    _add_model_of_rows(parser)
    parser.add_argument("methods", nargs="+", metavar="METHOD", help="of `ordstat methods`")
    parser.add_argument("--cv", type=int, default=10, metavar="NUMBER", help="of folds (10)")
    parser.add_argument("--repeats", type=int, default=1, metavar="NUMBER", help="of random divisions into folds (1)")
    parser.add_argument("--cost", metavar="NAME", help="absolute, classification or squared (absolute)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write all measures to a .csv, .tsv or .parquet file")


def compare_command(given: Namespace) -> None:
    """Compare methods by cross-validation on the same folds.

    examples:
      ordstat compare wine.csv "rating ~ temp + contact" logit redsvm ordinal-bagging
      ordstat compare wine.csv "rating ~ temp + contact" logit redsvm --cv 5 --repeats 10 --cost classification
      ordstat compare wine.csv "rating ~ temp + contact" logit acat -o errors.csv

    All methods have the same folds and, unless their name says another, the same cost. To set options of
    one method use Python: ordstat.compare(formula, data, methods=["logit", ("redsvm", {"C": 10})]).
    """
    from .comparison import compare

    check_output(given.output, _ENDINGS)
    cost = None if given.cost is None else value_of(given.cost)
    folds = {"cv": given.cv, "repeats": given.repeats}
    compared = compare(given.formula, methods=given.methods, cost=cost, **folds, **_model_of_rows(given))
    say(compared)
    if given.output is not None:
        write_table(pd.DataFrame(compared.table).rename_axis(index="method").reset_index(), given.output)


_WIDTH = 100
_PAPERS = re.compile(r"\[[^][]*(?:19|20)\d\d[^][]*\]")


def _methods_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="a method, to read all about it; a list of all if left out")


def methods_command(given: Namespace) -> None:
    """List the methods and their papers, or describe one.

    examples:
      ordstat methods
      ordstat methods redsvm
    """
    if given.name is None:
        say("\n".join(_wrapped(name, _method_line(name), 22) for name in METHODS))
        return
    name = spelled(given.name)
    if name is None:
        raise unknown("method", given.name, METHODS)
    entry = METHODS[name]
    options = ", ".join(f"{option}={default!r}" for option, default in (defaults_of(name) or {}).items())
    say(
        "\n".join(
            [f"{name}: {entry.method.__name__}", *(f"Fixed by the name: {k}={v!r}" for k, v in entry.preset.items())]
        )
    )
    say(f"{textwrap.fill(f'Options: {options}', _WIDTH)}\n\n{inspect.getdoc(entry.method)}")


def _wrapped(name: str, text: str, indent: int) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=f"{name:<{indent}}", subsequent_indent=" " * indent)


def _method_line(name: str) -> str:
    """What a method does and its first paper; for a further name of the same class, the options that it fixes."""
    entry = METHODS[name]
    first = min(
        (other for other in METHODS if METHODS[other].method is entry.method), key=lambda o: len(METHODS[o].preset)
    )
    if name != first:
        return f"{first} with {', '.join(f'{option}={value!r}' for option, value in entry.preset.items())}"
    text = inspect.getdoc(entry.method) or ""
    line = " ".join(text.split("\n\n")[0].split())
    papers = _PAPERS.findall(" ".join(text.split()))
    return line if not papers or _PAPERS.search(line) else f"{line.removesuffix('.')} {papers[0]}."


def _datasets_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="a data set, for its first rows; a list of all if left out")
    parser.add_argument("-o", "--output", metavar="FILE", help="write it to a file that ends in .csv, .tsv or .parquet")


def datasets_command(given: Namespace) -> None:
    """List the data sets that come with ordstat, or write one to a file.

    examples:
      ordstat datasets
      ordstat datasets wine -o wine.csv
    """
    if given.name is None:
        say("\n".join(_wrapped(name, _dataset_line(name), 10) for name in datasets.NAMES))
    elif given.output is None:
        say(datasets.load(given.name).head(10).to_string(index=False))
    else:
        check_output(given.output, _ENDINGS)
        write_table(datasets.load(given.name), given.output)


def _dataset_line(name: str) -> str:
    """Number of rows, response with its levels, and columns."""
    frame = datasets.load(name)
    response = next(column for column in frame.columns if getattr(frame[column].dtype, "ordered", False))
    levels = " < ".join(map(str, frame[response].cat.categories))
    return f"{len(frame)} rows; {response}: {levels}; by {', '.join(frame.columns.drop(response))}"


#: By its name: what runs a command, with the text of its --help, and what adds its arguments.
COMMANDS: dict[str, tuple[Callable[[Namespace], None], Callable[[ArgumentParser], None]]] = {
    "demo": (demo_command, lambda parser: None),
    "fit": (fit_command, _fit_arguments),
    "summary": (summary_command, _summary_arguments),
    "predict": (predict_command, _predict_arguments),
    "compare": (compare_command, _compare_arguments),
    "methods": (methods_command, _methods_arguments),
    "datasets": (datasets_command, _datasets_arguments),
}


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def _parser() -> ArgumentParser:
    """Ordinal regression from the shell: models and rankers for outcomes that have an order.

    a first walk:
      ordstat demo
      ordstat datasets wine -o wine.csv
      ordstat fit wine.csv "rating ~ temp + contact" --save wine.ordstat
      ordstat predict wine.ordstat wine.csv --type prob

    `ordstat COMMAND --help` says more. Exit codes: 0 done, 1 error in data or model, 2 error in the arguments.
    """
    text, _, more = str(inspect.getdoc(_parser)).partition("\n\n")
    looks: dict[str, Any] = {"formatter_class": RawDescriptionHelpFormatter}
    top = _Parser(prog="ordstat", description=text, epilog=more, **looks)
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
    return " ".join(str(text).split())
