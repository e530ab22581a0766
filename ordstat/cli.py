"""The command line: `ordstat fit`, `predict`, `summary`, `compare`, `methods`, `datasets`, `demo`."""

from __future__ import annotations

import ast
import inspect
import lzma
import os
import re
import struct
import sys
import textwrap
import warnings
import zipfile
import zlib
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from . import datasets
from .api import ordfit
from .checks import canonical, unknown
from .exceptions import DataError, OptionError, OrdstatError, warn
from .persistence import check_name, load
from .registry import METHODS, defaults_of, spelled
from .report.page import page_target
from .write import write_file


class UsageError(OrdstatError):
    """Arguments that do not fit the command."""


@dataclass(frozen=True)
class Command:
    """A word after `ordstat`.

    Attributes
    ----------
    name : str
    help : str
        What it does, in a line.
    more : str
        What its --help says after the arguments: examples.
    add : callable
        Adds its arguments to a parser.
    run : callable
        Does it; errors are raised.
    """

    name: str
    help: str
    more: str
    add: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], None]


def say(text: object) -> None:
    """A text and the end of a line on the standard output."""
    sys.stdout.write(f"{text}\n")


#: What packing adds to an extension; pandas unpacks it by itself.
_PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst")
#: A level may be called None, or null.
_MISSING = ["", "NA", "NaN", "nan"]
#: What readers of files come upon in damaged ones, beside errors of values.
_DAMAGE = (
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
    lzma.LZMAError,
    RuntimeError,
    LookupError,
    MemoryError,
    OverflowError,
)
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


def read_table(path: str, separator: str | None = None, decimal: str = ".") -> pd.DataFrame:
    """A data frame from a file.

    Parameters
    ----------
    path : str
        A name that ends in .csv, .tsv, .tab (also packed, as .csv.gz), .parquet, .dta (Stata) or .sav (SPSS). Values
        with labels become levels, in the order of the values.
    separator : str, optional
        Between the columns of a text file.
    decimal : str
        Before the decimals of a number in a text file.

    Raises
    ------
    UsageError
        Another extension.
    DataError
        A file that is not there, or not what its name says.
    """
    kind = extension(path)
    if kind not in READERS:
        raise UsageError(f"the data must be a file that ends in {', '.join(READERS)}; got {path!r}.")
    if not Path(path).is_file():
        raise DataError(f"there is no file {path!r}.")
    try:
        frame = READERS[kind](path, separator, decimal)
    except OrdstatError:
        raise
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path!r} cannot be read as {kind}: it is no text in UTF-8. Save it in that encoding."
        ) from error
    except (OSError, ValueError, EOFError) as error:  # pandas' errors of parsing are ValueErrors
        raise DataError(f"{path!r} cannot be read as {kind}: {error}") from error
    except _DAMAGE as error:
        raise DataError(f"{path!r} cannot be read as {kind}: it seems to be damaged, {error!r}.") from error
    if frame.empty:
        raise DataError(f"{path!r} has no rows.")
    return frame


def extension(path: str) -> str:
    """The ending that tells what a file is, without that of its packing."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix not in _PACKED), "")


def _text(path: str, separator: str | None, decimal: str) -> pd.DataFrame:
    between = separator or _SEPARATORS[extension(path)]
    if len(decimal) != 1 or decimal == between:
        raise UsageError(f"--decimal must be one character, not that between columns, {between!r}; got {decimal!r}.")
    missing: dict[str, Any] = {"keep_default_na": False, "na_values": _MISSING}
    frame: pd.DataFrame = pd.read_csv(
        path, sep=between, decimal=decimal, encoding="utf-8-sig", low_memory=False, **missing
    )
    heads = pd.read_csv(path, sep=between, encoding="utf-8-sig", header=None, nrows=1, dtype=str).iloc[0].dropna()
    if heads.duplicated().any():
        twice = heads[heads.duplicated()].iloc[0]
        raise DataError(f"{path!r} has several columns {twice!r}. Give each column a name of its own.")
    name = str(frame.columns[0])
    other = next((mark for mark in (";", "\t", ",") if mark != between and mark in name), None)
    if frame.shape[1] == 1 and other is not None:
        raise DataError(f"{path!r} has one column, {name!r}: its separator seems to be {other!r}; say --separator.")
    return frame


def _parquet(path: str, *marks: str | None) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except ImportError as error:
        raise DataError(f"reading {path!r} needs pyarrow: pip install pyarrow.") from error


def _stata(path: str, *marks: str | None) -> pd.DataFrame:
    labelled, plain = pd.read_stata(path), pd.read_stata(path, convert_categoricals=False)
    for name in labelled.columns[[isinstance(dtype, pd.CategoricalDtype) for dtype in labelled.dtypes]]:
        unlabelled = [level for level in labelled[name].cat.categories if not isinstance(level, str)]
        if unlabelled:
            _say_kept(name, unlabelled)
            labelled[name] = plain[name]
    return labelled


def _spss(path: str, *marks: str | None) -> pd.DataFrame:
    try:
        from pyreadstat import PyreadstatError, ReadstatError, read_sav
    except ImportError as error:
        raise DataError(f"reading {path!r} needs pyreadstat: pip install pyreadstat.") from error
    try:
        frame, meta = read_sav(path)
    except (PyreadstatError, ReadstatError) as error:
        raise DataError(f"{path!r} cannot be read as .sav: {error}") from error
    labels: dict[str, dict[Any, str]] = meta.variable_value_labels
    return pd.DataFrame({name: with_labels(frame[name], labels.get(name, {})) for name in frame.columns})


def with_labels(column: pd.Series, labels: dict[Any, str]) -> pd.Series:
    """A column with its values' labels as ordered levels; as it is where a value has none.

    Examples
    --------
    >>> with_labels(pd.Series([2.0, 1.0, None]), {1.0: "low", 2.0: "high", 3.0: "more"}).tolist()
    ['high', 'low', nan]
    """
    if not labels:
        return column
    found = set(column.dropna().unique())
    unlabelled = sorted(found - labels.keys())
    if unlabelled:
        _say_kept(str(column.name), unlabelled)
        return column
    used = {value: labels[value] for value in sorted(labels) if value in found}
    if len(set(used.values())) < len(used):
        raise DataError(f"column {column.name!r} has a label for several values: {', '.join(used.values())}.")
    dtype = pd.CategoricalDtype(list(used.values()), ordered=True)
    return pd.Series(column.map(used), index=column.index, name=column.name).astype(dtype)


def _say_kept(name: str, unlabelled: list[Any]) -> None:
    some = ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in unlabelled[:5])
    warn(f"Column {name!r} has values without a label ({some}): its numbers are taken, not its labels.")


READERS: dict[str, Callable[[str, str | None, str], pd.DataFrame]] = {
    **dict.fromkeys(_SEPARATORS, _text),
    ".parquet": _parquet,
    ".dta": _stata,
    ".sav": _spss,
}
DATA_HELP = f"a file that ends in {', '.join(READERS)}; cells of text files that are empty, NA, NaN or nan are missing"


def write_table(frame: pd.DataFrame, path: str) -> None:
    """Write a data frame to a file that ends in .csv, .tsv, .tab or .parquet.

    Raises
    ------
    UsageError
        Another extension.
    DataError
        It cannot be written.
    """
    check_writable(path)
    try:
        if Path(path).suffix.lower() == ".parquet":
            write_file(path, lambda file: frame.to_parquet(file, index=False))
        else:
            write_file(path, frame.to_csv(sep=_SEPARATORS[Path(path).suffix.lower()], index=False).encode())
    except ImportError as error:
        raise DataError(f"writing {path!r} needs pyarrow: pip install pyarrow.") from error


def check_writable(path: str) -> None:
    """UsageError where a name does not say how to write; DataError where nothing can be written there."""
    known = (*_SEPARATORS, ".parquet")
    if Path(path).suffix.lower() not in known:
        raise UsageError(f"the output must be a file that ends in {', '.join(known)}; got {path!r}.")
    check_place(path)


def check_place(path: str) -> None:
    """DataError where no file can be written: to be known before a fit that takes long."""
    folder = Path(path).parent
    if not folder.is_dir():
        raise DataError(f"{path} cannot be written: there is no folder {str(folder)!r}.")
    if Path(path).is_dir():
        raise DataError(f"{path} cannot be written: it is a folder.")
    if not os.access(folder, os.W_OK):
        raise DataError(f"{path} cannot be written: the folder {str(folder)!r} takes no new files.")


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


_MORE_COMPARE = """\
examples:
  ordstat compare wine.csv "rating ~ temp + contact" logit redsvm ordinal-bagging
  ordstat compare wine.csv "rating ~ temp + contact" logit redsvm --cv 5 --repeats 10 --cost classification
  ordstat compare wine.csv "rating ~ temp + contact" logit acat -o errors.csv

All methods have the same folds and, unless their name says another, the same cost. Options of
one method are for Python: ordstat.compare(formula, data, methods=["logit", ("redsvm", {"C": 10})]).
"""


def _add_compare(parser: ArgumentParser) -> None:
    add_rows(parser)
    parser.add_argument("methods", nargs="+", metavar="METHOD", help="of `ordstat methods`, two or more as a rule")
    parser.add_argument("--cv", type=int, default=10, metavar="NUMBER", help="of folds (10)")
    parser.add_argument("--repeats", type=int, default=1, metavar="NUMBER", help="how often folds are drawn anew (1)")
    parser.add_argument("--cost", metavar="NAME", help="absolute, classification or squared (absolute)")
    parser.add_argument("-o", "--output", metavar="FILE", help="put all measures into a .csv, .tsv or .parquet")
    add_columns(parser)


def _run_compare(given: Namespace) -> None:
    from .comparison import compare

    if given.output is not None:
        check_writable(given.output)
    rows = of_rows(given)
    cost = None if given.cost is None else value(given.cost)
    found = compare(given.formula, methods=given.methods, cv=given.cv, repeats=given.repeats, cost=cost, **rows)
    say(found)
    if given.output is not None:
        write_table(pd.DataFrame(found.table).rename_axis(index="method").reset_index(), given.output)


COMPARE = Command(
    "compare", "compare methods by cross-validation on the same folds", _MORE_COMPARE, _add_compare, _run_compare
)


def _add_demo(parser: ArgumentParser) -> None:
    """No arguments."""


def _run_demo(given: Namespace) -> None:
    wine = datasets.load("wine")
    for method in ("logit", "redsvm"):
        say(f"{ordfit('rating ~ temp + contact', data=wine, method=method).summary()}\n")


DEMO = Command("demo", "fit the wine data twice and print both summaries", "", _add_demo, _run_demo)


_MORE_FIT = """\
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


FIT = Command("fit", "fit a model or ranker to a file, and print its summary", _MORE_FIT, _add, _run)


_MORE_PREDICT = """\
examples:
  ordstat predict svm.ordstat new.csv                          to the screen, as CSV
  ordstat predict logit.ordstat new.csv --type prob -o out.csv
  ordstat predict logit.ordstat new.sav --with-data -o out.parquet

One row of predictions for each row of the data, in the same order; empty where a value is missing that the fit needs.
Types: class, prob, cum_prob (where the fit knows probabilities), score, margin, votes.
"""


def _add_predict(parser: ArgumentParser) -> None:
    parser.add_argument("model", help="a file of `ordstat fit --save`, or of fit.save() in Python")
    parser.add_argument("data", help=DATA_HELP)
    parser.add_argument("--type", default="class", metavar="TYPE", help="what to predict (class)")
    parser.add_argument("-o", "--output", metavar="FILE", help="a file that ends in .csv, .tsv or .parquet")
    parser.add_argument("--with-data", action="store_true", help="write the columns of the data before the predictions")
    add_marks(parser)


def _run_predict(given: Namespace) -> None:
    if given.output is not None:
        check_writable(given.output)
    fit, data = load(given.model), read_table(given.data, given.separator, given.decimal)
    type = canonical(given.type, fit.prediction_types) or given.type
    out = as_frame(fit.predict(data, type=type), type)
    if given.with_data:
        out = beside(data, out)
    if given.output is None:
        out.to_csv(sys.stdout, index=False)
    else:
        write_table(out, given.output)


def beside(data: pd.DataFrame, out: pd.DataFrame) -> pd.DataFrame:
    """The data with columns of predictions; DataError where they have columns of these names."""
    same = [name for name in out.columns if name in data.columns]
    if same:
        raise DataError(f"the data have a column {same[0]!r} already: rename it, or leave out --with-data.")
    return pd.concat([data, out], axis=1)


def as_frame(predicted: Any, type: str) -> pd.DataFrame:
    """Predictions with columns that say what they are: class, score, prob_low, prob_high."""
    if isinstance(predicted, pd.DataFrame):
        return predicted.set_axis([f"{type}_{name}" for name in predicted.columns], axis=1)
    return pd.DataFrame({type: predicted})


PREDICT = Command("predict", "predict the rows of a file by a saved fit", _MORE_PREDICT, _add_predict, _run_predict)


_MORE_SUMMARY = """\
examples:
  ordstat summary wine.ordstat
  ordstat summary wine.ordstat errors
  ordstat summary wine.ordstat all
"""


def _add_summary(parser: ArgumentParser) -> None:
    parser.add_argument("model", help="a file of `ordstat fit --save`, or of fit.save() in Python")
    parser.add_argument(
        "section",
        nargs="?",
        metavar="SECTION",
        help="model, fit, errors, margins, bounds or all; one screen if left out",
    )


def _run_summary(given: Namespace) -> None:
    say(load(given.model).summary(given.section))


SUMMARY = Command("summary", "print the summary of a saved fit", _MORE_SUMMARY, _add_summary, _run_summary)


COMMANDS: tuple[Command, ...] = (DEMO, FIT, SUMMARY, PREDICT, COMPARE, METHODS_COMMAND, DATASETS)
#: What the shell is told.
FINE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
_MORE = """\
a first walk:
  ordstat demo
  ordstat datasets wine -o wine.csv
  ordstat fit wine.csv "rating ~ temp + contact" --save wine.ordstat
  ordstat predict wine.ordstat wine.csv --type prob

`ordstat COMMAND --help` says more. Exit codes: 0 done, 1 data or model at fault, 2 arguments at fault.
"""
#: How an argument that an error names is given here.
_HERE = {"levels=": "--levels LOW,...,HIGH", "calibrate=True": "--calibrate"}


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def parser() -> ArgumentParser:
    """The parser of all commands."""
    top = _Parser(
        prog="ordstat",
        description="Ordinal regression from the shell: models and rankers for outcomes that have an order.",
        epilog=_MORE,
        formatter_class=RawDescriptionHelpFormatter,
    )
    added = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        about = f"{command.help[0].upper()}{command.help[1:]}."
        own = added.add_parser(
            command.name,
            help=command.help,
            description=about,
            epilog=command.more,
            formatter_class=RawDescriptionHelpFormatter,
        )
        command.add(own)
        own.set_defaults(run=command.run)
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
        0 where it was done, 1 where data or model are at fault, 2 where the arguments are, 130 after an interruption.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _warn
        given = Namespace()
        try:
            given, unknown = parser().parse_known_args(arguments)
            if unknown:
                raise UsageError(f"unrecognized arguments: {' '.join(unknown)} (see ordstat {given.command} --help)")
            given.run(given)
            sys.stdout.flush()
        except (UsageError, OptionError) as error:
            return _fail(error, MISUSED, given)
        except OrdstatError as error:
            return _fail(error, FAILED, given)
        except KeyboardInterrupt:
            return _fail("interrupted", INTERRUPTED)
        except BrokenPipeError:  # the reader of a pipe has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FINE


def _fail(error: object, code: int, given: Namespace | None = None) -> int:
    text = _one_line(error)
    hints = [
        here for argument, here in _HERE.items() if argument in text and hasattr(given, argument.partition("=")[0])
    ]
    sys.stderr.write(f"ordstat: error: {text}{f' Here: {hints[0]}.' if hints else ''}\n")
    return code


def _warn(message: Warning | str, category: type[Warning], *others: Any, **more: Any) -> None:
    if not issubclass(category, (DeprecationWarning, PendingDeprecationWarning, ResourceWarning)):
        sys.stderr.write(f"ordstat: warning: {_one_line(message)}\n")


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
