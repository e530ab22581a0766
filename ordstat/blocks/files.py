"""Parquet files: which files a path names, and their rows, one file after another."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import glob, has_magic
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd

from ..exceptions import DataError
from ..formula.columns import from_arrow, refuse_other_files

#: Rows of a block, where the source lets us choose: few megabytes, which stay near the
#: processor.
BLOCK = 1 << 16
#: Endings of data files in a folder, in small or capital letters.
_ENDINGS = (".parquet", ".parq", ".pq")
#: A folder named after a value of a column, as in "year=2020"; this name stands for a
#: missing value.
_PARTITION = re.compile(r"([^=/\\]+)=(.*)")
_MISSING = "__HIVE_DEFAULT_PARTITION__"
#: What reads tables that keep old versions of their files.
_READERS = {
    "Delta": "polars.scan_delta(path)",
    "Iceberg": "polars.scan_iceberg(path)",
    "Hudi": "a polars, pyarrow or DuckDB view of it",
}


def needed(module: str) -> Any:
    """Import an optional package; ImportError says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"Parquet needs {package}, which is not installed: pip install {package}"
        ) from error


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files, one after another.

    Attributes
    ----------
    paths : tuple of str
    stamps : tuple of (int, int)
        Size and time of change of each file when it was found.
    root : str
        The folder that was named; "" for a file or a pattern.
    partitions : mapping of column to tuple
        The values that the folders of the files give to a column, as in
        "year=2020/1.parquet".
    """

    paths: tuple[str, ...]
    stamps: tuple[tuple[int, int], ...]
    root: str = ""
    partitions: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def schema(self) -> Any:
        with _reading(self.paths[0]):
            stored = needed("pyarrow.parquet").read_schema(self.paths[0]).names
        return [
            *(name for name in stored if name not in self.partitions),
            *self.partitions,
        ]

    def blocks(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        stored = [name for name in columns if name not in self.partitions]
        parquet = needed("pyarrow.parquet")
        types: dict[str, tuple[str, str]] = {}
        for place, path in enumerate(self.paths):
            self._check_stamp(place)
            given = {
                name: self.partitions[name][place]
                for name in columns
                if name in self.partitions
            }
            with (
                _reading(path),
                parquet.ParquetFile(
                    path, pre_buffer=False, buffer_size=1 << 20
                ) as file,
            ):
                _check_types(types, file.schema_arrow, stored, path)
                for batch in file.iter_batches(
                    BLOCK, columns=stored, use_threads=False
                ):
                    frame = from_arrow(batch, split_blocks=True)
                    if given:
                        if stored:
                            rows = frame.set_axis(pd.RangeIndex(batch.num_rows))
                        else:
                            rows = None
                        frame = pd.DataFrame(
                            rows, pd.RangeIndex(batch.num_rows)
                        ).assign(**given)
                    yield frame
            self._check_stamp(place)

    def _check_stamp(self, place: int) -> None:
        path = self.paths[place]
        with _reading(path):
            changed = _stamp(path) != self.stamps[place]
        if changed:
            raise DataError(
                f"{path} has changed since the fit first read it. Fit again to files"
                " that stay as they are, or pass data=."
            )

    def holds(self, path: str | os.PathLike[str]) -> bool:
        """Whether a file is one of these, or would count as one of them in their
        folder.
        """
        target = os.path.realpath(path)
        if any(os.path.realpath(other) == target for other in self.paths):
            return True
        if self.root:
            inside = os.path.relpath(target, os.path.realpath(self.root))
        else:
            inside = ".."
        return (
            not inside.startswith("..")
            and _is_data(inside)
            and inside.lower().endswith(_ENDINGS)
        )


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Errors of pyarrow and of the system as a DataError that names the file."""
    arrow = needed("pyarrow")
    try:
        yield
    except (OSError, arrow.ArrowException) as error:
        reason = (
            getattr(error, "strerror", None)
            or str(error).partition("\n")[0]
            or type(error).__name__
        )
        cure = "Write it again, or leave it out of the data"
        if not path.lower().endswith(_ENDINGS):
            cure = (
                "Give the rows themselves, as pandas.read_csv(path) reads them, or"
                " write a Parquet file"
            )
        raise DataError(
            f"{path} cannot be read as a Parquet file: {reason.rstrip('.')}. {cure}."
        ) from error


def _check_types(
    types: dict[str, tuple[str, str]], schema: Any, columns: Sequence[str], path: str
) -> None:
    """DataError if a file lacks a column, or has it in another type than the files
    before it.

    `types` has the type and the file of each column, to which those of this file are
    added.
    """
    for name in columns:
        place = schema.get_field_index(name)
        if place < 0:
            earlier = types[name][1] if name in types else "an earlier one"
            raise DataError(
                f"{path} has no column {name!r}, or several; {earlier} has one. Leave"
                " the file out, or write the column, missing (null) where it is not"
                " known."
            )
        kind = _kind(schema.field(place).type)
        first, where = (
            types.setdefault(name, (kind, path)) if kind != "null" else (kind, path)
        )
        if kind != first:
            raise DataError(
                f"Column {name!r} has the type {schema.field(place).type} in {path},"
                f" and holds {first} in {where}. Write all files with the same type."
            )


def _kind(type: Any) -> str:
    """What a column holds: types of the same kind make the same values."""
    types = needed("pyarrow").types
    if types.is_integer(type) or types.is_floating(type) or types.is_decimal(type):
        return "numbers"
    if (
        types.is_string(type)
        or types.is_large_string(type)
        or str(type) == "string_view"
    ):
        return "text"
    if types.is_dictionary(type):
        return "categories"
    return str(type)


# -------------------------------------------------------------------------- which files


def parquet_files(path: str) -> ParquetFiles:
    """The files of a path, a folder or a pattern, in the order of their names, each
    once.

    In folders, names that begin with "_" or "." are ignored, and folders such as
    "year=2020" give a column.

    Raises
    ------
    DataError
        There is no such file, a file cannot be read (such as a broken link), or the
        folder is a table with old versions (Delta, Iceberg, Hudi).
    """
    refuse_other_files(path, takes="rows in memory or a Parquet file")
    root = path
    while has_magic(root):
        root = os.path.dirname(root)
    if os.path.isfile(path):
        found = [path]
        root = os.path.dirname(path)
    elif os.path.isdir(path):
        found = _walk(path)
    else:
        found = _matched(path)
    if found != [path]:
        for folder in (root or ".", *Path(root).resolve().parents):
            _refuse_tables(str(folder))
    paths = [
        name
        for name in found
        if name == path or _is_data(os.path.relpath(name, root or "."))
    ]
    for name in paths:
        if not os.path.isfile(name):
            raise DataError(
                f"{name} must be a file; it is a link that leads nowhere, a pipe or a"
                " device. Repair it, or leave it out of the data."
            )
    # of links to a file, the first name
    once = {_identity(name): name for name in reversed(paths)}
    paths = [name for name in paths if once[_identity(name)] == name]
    if not paths:
        raise DataError(
            f"data={path!r} must be a Parquet file, a folder or a pattern of them;"
            " there is no such file."
        )
    partitions = {}
    if paths != [path]:
        within = [os.path.relpath(name, root or ".") for name in paths]
        partitions = _partitions(within)
    return ParquetFiles(
        paths=tuple(paths),
        stamps=tuple(_stamp(name) for name in paths),
        root=path if os.path.isdir(path) else "",
        partitions=partitions,
    )


def _stamp(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def _identity(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _is_data(path: str) -> bool:
    """Whether no part of a path below the named folder begins with "_" or "."."""
    return not any(part.startswith(("_", ".")) for part in path.split(os.sep))


def _matched(pattern: str) -> list[str]:
    """What a pattern names, in the order of the names.

    A folder named like a file of data, as Spark writes them, stands for its files.
    """
    found = []
    for name in glob(pattern, recursive=True):
        if not os.path.isdir(name):
            found.append(name)
        elif name.lower().endswith(_ENDINGS):
            found += _walk(name)
    return sorted(set(found))


def _walk(folder: str) -> list[str]:
    """The files of data below a folder, in the order of their names; each folder once,
    though links lead to it again.

    A link that leads nowhere is among them: it may stand for a folder of data.
    """
    met: set[tuple[int, int]] = set()
    names = []
    for here, folders, files in os.walk(
        folder, onerror=_refuse_folder, followlinks=True
    ):
        _refuse_tables(here)
        met.add(_identity(here))
        folders[:] = [
            name
            for name in folders
            if _is_data(name) and _identity(os.path.join(here, name)) not in met
        ]
        names += [os.path.join(here, name) for name in files]
    return sorted(
        name
        for name in names
        if name.lower().endswith(_ENDINGS) or not os.path.exists(name)
    )


def _refuse_folder(error: OSError) -> None:
    raise DataError(
        f"The folder {error.filename} cannot be read: {error.strerror}. Allow"
        " reading it, or leave it out of the data."
    ) from error


def _refuse_tables(folder: str) -> None:
    kind = _table(folder)
    if kind:
        raise DataError(
            f"{folder!r} holds the files of a table of {kind}, of which some may be no"
            f" longer part of it. Give {_READERS[kind]} as data=."
        )


def _table(folder: str) -> str:
    """The format of the versioned table in a folder; "" for a plain folder."""
    if os.path.isdir(os.path.join(folder, "_delta_log")):
        return "Delta"
    if os.path.isdir(os.path.join(folder, ".hoodie")):
        return "Hudi"
    metadata = os.path.join(folder, "metadata")
    if os.path.isdir(metadata):
        names = os.listdir(metadata)
        if any(
            name == "version-hint.text" or name.endswith(".metadata.json")
            for name in names
        ):
            return "Iceberg"
    return ""


def _partitions(paths: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """Columns that the folders of all files name; their values are numbers if all are
    whole numbers, else text.

    Raises
    ------
    DataError
        Some files lie in such folders, and others do not.
    """
    named = [_named_by_folders(path) for path in paths]
    columns: dict[str, tuple[Any, ...]] = {}
    for name in dict.fromkeys(name for given in named for name in given):
        if not all(name in given for given in named):
            raise DataError(
                f"Folders must name the same columns for all files; {name!r} is not"
                " among those of every file. Write all files in folders of the same"
                " columns."
            )
        texts = [unquote(given[name]) for given in named]
        present = [text for text in texts if text != _MISSING]
        kind: Any = (
            float if all(re.fullmatch(r"-?\d{1,15}", text) for text in present) else str
        )
        if kind is float and len(present) == len(texts):
            kind = int
        columns[name] = tuple(
            None if text == _MISSING else kind(text) for text in texts
        )
    return columns


def _named_by_folders(path: str) -> dict[str, str]:
    matches = [_PARTITION.fullmatch(folder) for folder in path.split(os.sep)[:-1]]
    return {match[1]: match[2] for match in matches if match}
