"""Tables in files, by the extension of their names."""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from ..exceptions import DataError, OrdstatError, warn
from ..files.write import write_file
from .command import UsageError

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
