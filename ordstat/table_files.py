"""Tables in files that the command line reads and writes."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from .exceptions import DataError, DataWarning, OptionError, warn
from .formula.columns import PANDAS_READERS
from .persistence import ENDING, UNREADABLE
from .report.files import write_file

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".csv.gz": ",", ".tsv.gz": "\t"}
_PARQUET = (".parquet", ".pq")
ENDINGS = f"{', '.join([*_SEPARATORS, _PARQUET[0]])} or {_PARQUET[1]}"
_SHEETS = (".xls", ".xlsx", ".ods")
#: Cells that are missing values; None and null may be names of levels.
_MISSING = ["", "NA", "NaN", "nan"]
#: UTF-8, with or without the mark at the beginning that Windows writes.
_ENCODING = "utf-8-sig"
#: Separators of files from countries that write 1,5 for one and a half.
_BESIDE_DECIMAL_COMMAS = (";", "\t")
_DECIMAL_COMMA = r"\s*[+-]?\d*,\d+\s*"


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table in a file, and how the file is read.

    Parameters
    ----------
    path : str
        A name that ends in .csv, .tsv (or these with .gz), .parquet or .pq; any name
        with a separator.
    separator, encoding, decimal : str, optional
        Of a text file: the separator of columns, the encoding (UTF-8 by default) and
        the decimal mark (a point by default).

    Raises
    ------
    OptionError
        The file is of another kind, or a Parquet file has options of a text file.
    DataError
        The path is a folder.
    """

    path: str
    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        if Path(self.path).is_dir():
            raise DataError(f"{self.path!r} is a folder. Name a file in it.")
        ending = ending_of(self.path)
        if ending in _PARQUET:
            for name in ("separator", "encoding", "decimal"):
                if getattr(self, name) is not None:
                    raise OptionError(
                        f"--{name} goes with a text file; {self.path!r} is a Parquet"
                        f" file. Leave out --{name}."
                    )
        if self.separator is None:
            check_ending(self.path)

    @property
    def _parquet(self) -> bool:
        return ending_of(self.path) in _PARQUET

    def read(self) -> pd.DataFrame:
        """The rows of the file.

        Raises
        ------
        DataError
            The file does not exist, cannot be read, has no rows, or has headings that
            do not name each column once.
        """
        if not Path(self.path).is_file():
            raise DataError(
                f"there is no file {self.path!r} in {os.getcwd()}. Check the name and"
                " the folder."
            )
        if os.path.getsize(self.path) == 0:
            raise DataError(
                f"{self.path!r} is empty. Give a file with a line of headings and rows."
            )
        try:
            if self._parquet:
                frame = _read_parquet(self.path)
                headings = pd.Series(frame.columns)
            else:
                frame = self._text(keep_default_na=False, na_values=_MISSING)
                headings = self._text(header=None, nrows=1, dtype=str).iloc[0].dropna()
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self.path!r} cannot be read as {error.encoding}: byte"
                f" 0x{error.object[error.start]:02x}. Give its encoding, such as"
                " --encoding cp1252 (Windows) or --encoding utf-16."
            ) from error
        except UNREADABLE as error:
            raise DataError(
                f"{self.path!r} cannot be read as {Path(self.path).suffix}: {error}"
            ) from error
        self._check_headings(frame, headings)
        self._tell_decimal_commas(frame)
        return frame

    def as_written(self, names: list[str]) -> pd.DataFrame:
        """Columns with their cells as a text file has them: "007" stays "007"."""
        if self._parquet:
            return _read_parquet(self.path)[names]
        return self._text(dtype=str, na_filter=False)[names]

    def _text(self, **how: Any) -> pd.DataFrame:
        separator = self.separator
        if separator is None:
            separator = _SEPARATORS[ending_of(self.path)]
        frame: pd.DataFrame = pd.read_csv(
            self.path,
            sep=separator,
            encoding=self.encoding or _ENCODING,
            decimal=self.decimal or ".",
            low_memory=False,
            **how,
        )
        return frame

    def _check_headings(self, frame: pd.DataFrame, headings: pd.Series) -> None:
        """DataError for headings that are not one for each column."""
        if headings.duplicated().any():
            raise DataError(
                f"{self.path!r} has several columns"
                f" {headings[headings.duplicated()].iloc[0]!r}. Rename them."
            )
        if frame.empty:
            raise DataError(f"{self.path!r} has no rows below its headings.")
        # pandas takes cells without a heading as the names of the rows
        if not isinstance(frame.index, pd.RangeIndex):
            raise DataError(
                f"{self.path!r} has rows with more cells than the {len(headings)}"
                " headings. Give each column a heading (in R:"
                " write.csv(data, row.names = FALSE)), or --separator if it is another."
            )
        alone = not self._parquet and len(headings) == 1
        if alone and any(mark in headings.iloc[0] for mark in ";\t,|"):
            raise DataError(
                f"{self.path!r} has only the column {headings.iloc[0]!r}. Give the"
                " separator: --separator ';'."
            )

    def _tell_decimal_commas(self, frame: pd.DataFrame) -> None:
        """A warning for columns of text such as 1,5, which would be levels."""
        if self.separator not in _BESIDE_DECIMAL_COMMAS or self.decimal is not None:
            return
        commas = []
        for name, column in frame.items():
            cells = column.dropna()
            if cells.dtype.kind in "OTU" or pd.api.types.is_string_dtype(cells.dtype):
                texts = cells.astype(str)
                numbers = texts.str.fullmatch(_DECIMAL_COMMA)
                plain = texts.str.fullmatch(r"\s*[+-]?\d+\s*")
                if numbers.any() and (numbers | plain).all():
                    commas.append(str(name))
        if commas:
            warn(
                f"{self.path!r} has numbers with commas, read as text, in"
                f" {', '.join(map(repr, commas))}. If the commas begin decimals, give"
                " --decimal ','.",
                DataWarning,
            )


def ending_of(path: str) -> str:
    """The ending of a file name in lower case; both endings of a compressed file."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:])


def check_ending(path: str) -> None:
    """Raise OptionError unless the ending is that of a table file that can be read and
    written.
    """
    ending = ending_of(path)
    if ending not in _SEPARATORS and ending not in _PARQUET:
        raise OptionError(
            f"a file of data must end in {ENDINGS}; got {path!r}. {_cure(path, ending)}"
        )
    if ending in _PARQUET and find_spec("pyarrow") is None:
        raise OptionError(
            f"{path!r} needs the package pyarrow. Install it: pip install pyarrow"
        )


def _cure(path: str, ending: str) -> str:
    """What to do with a file of another kind."""
    if ending == ENDING:
        return "It is a fit: give the model first, ordstat predict MODEL DATA."
    if ending in _SHEETS:
        return "Open it in Excel or LibreOffice and save it as CSV UTF-8."
    if ending in PANDAS_READERS:
        target = str(Path(path).with_suffix(".csv"))
        call = f"pandas.{PANDAS_READERS[ending]}({path!r}).to_csv({target!r}"
        return f'Convert it: python -c "import pandas; {call}, index=False)"'
    return "If it is text, say what is between its columns, as by --separator ';'."


def check_writable(path: str, inputs: tuple[str, ...]) -> None:
    """Raise DataError if the folder of a path does not exist, or the path is one of the
    input files.
    """
    folder = Path(path).parent
    if not folder.is_dir():
        raise DataError(
            f"{path} cannot be written: there is no folder {str(folder)!r}. Make it"
            f" first: mkdir {folder}"
        )
    if not Path(path).exists():
        return
    for name in inputs:
        if Path(name).exists() and os.path.samefile(path, name):
            raise DataError(
                f"{path} cannot be written: it is read by this command. Name another"
                " file."
            )


def write_table(table: pd.DataFrame, path: str) -> None:
    """Write a table to a file, in the format that its ending names."""
    ending = ending_of(path)
    if ending in _PARQUET:
        write_file(
            path, lambda file: table.to_parquet(file, engine="pyarrow", index=False)
        )
        return
    content = table.to_csv(sep=_SEPARATORS[ending], index=False).encode()
    if ending.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    write_file(path, content)


def _read_parquet(path: str) -> pd.DataFrame:
    """The rows of a file; a named index of pandas is a column as any other."""
    frame = pd.read_parquet(path, engine="pyarrow")
    frame = frame.reset_index(drop=frame.index.names == [None])
    return frame.set_axis([str(name) for name in frame.columns], axis="columns")
