"""Rows in blocks: Parquet files, pyarrow, polars, DuckDB, Dask, any object with `schema` and `blocks`; predictions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from glob import glob
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import pandas as pd

from ..exceptions import DataError, OptionError
from ..formula.columns import as_frame
from ..formula.inputs import subset_mask
from ..persistence import write_file

T = TypeVar("T")

#: Rows of a block, where the source lets us choose: few megabytes, which stay near the processor.
BLOCK = 1 << 16


class Source(Protocol):
    """Rows in blocks, which can be read again and again in the same order.

    Attributes
    ----------
    schema : pyarrow.Schema or sequence of str
        The columns.
    """

    @property
    def schema(self) -> Any: ...

    def blocks(self, columns: Sequence[str]) -> Iterable[Any]:
        """The blocks in order, from the first one at every call: pandas or polars frames, arrow tables or batches."""


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files, one after another."""

    paths: tuple[str, ...]

    @property
    def schema(self) -> Any:
        return _needed("pyarrow.parquet").read_schema(self.paths[0])

    def blocks(self, columns: Sequence[str]) -> Iterator[Any]:
        parquet = _needed("pyarrow.parquet")
        for path in self.paths:
            with parquet.ParquetFile(path, memory_map=True) as file:
                for batch in file.iter_batches(BLOCK, columns=list(columns), use_threads=False):
                    yield batch.to_pandas(split_blocks=True)


@dataclass(frozen=True, eq=False)
class ArrowDataset:
    """A pyarrow Dataset."""

    data: Any

    @property
    def schema(self) -> Any:
        return self.data.schema

    def blocks(self, columns: Sequence[str]) -> Iterable[Any]:
        """Few batches ahead: by default whole row groups of several files are."""
        options = {"batch_size": BLOCK, "batch_readahead": 2, "fragment_readahead": 1}
        return self.data.to_batches(columns=list(columns), **options)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class PolarsLazy:
    """A polars LazyFrame."""

    data: Any

    @property
    def schema(self) -> Any:
        return self.data.collect_schema().names()

    def blocks(self, columns: Sequence[str]) -> Iterable[Any]:
        return self.data.select(list(columns)).collect_batches(chunk_size=BLOCK)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class DuckRelation:
    """A DuckDB relation."""

    data: Any

    @property
    def schema(self) -> Any:
        return self.data.columns

    def blocks(self, columns: Sequence[str]) -> Iterable[Any]:
        names = ", ".join('"{}"'.format(name.replace('"', '""')) for name in columns)
        return self.data.project(names).to_arrow_reader(BLOCK)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class DaskFrame:
    """A Dask DataFrame; a partition is a block."""

    data: Any

    @property
    def schema(self) -> Any:
        return list(self.data.columns)

    def blocks(self, columns: Sequence[str]) -> Iterable[Any]:
        return (part.compute() for part in self._parts(columns))

    def _parts(self, columns: Sequence[str]) -> Any:
        return self.data[list(columns)].to_delayed()

    def mapped(self, function: Callable[[pd.DataFrame], T], columns: Sequence[str]) -> Iterator[T] | None:
        """function(partition) in the order of the partitions, by the workers; None without a distributed Client."""
        from dask.delayed import delayed
        from distributed import Client, get_client

        try:
            client: Client = get_client()
        except ValueError:
            return None
        tasks = [delayed(function, pure=False)(part) for part in self._parts(columns)]
        return (future.result() for future in client.compute(tasks))


#: Sources by the package and the name of the class of the data.
SOURCES: dict[tuple[str, str], Callable[[Any], Source]] = {
    ("pyarrow", "Dataset"): ArrowDataset,
    ("polars", "LazyFrame"): PolarsLazy,
    ("duckdb", "DuckDBPyRelation"): DuckRelation,
    ("_duckdb", "DuckDBPyRelation"): DuckRelation,
    ("dask", "DataFrame"): DaskFrame,
}


def _needed(module: str) -> Any:
    """An optional package."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"Parquet needs {package}, which is not installed: pip install ordstat[blocks]") from error


def source_of(data: Any) -> Source | None:
    """The rows of some data in blocks; None for data that are in memory, or that are none of the sources.

    Raises
    ------
    DataError
        No file has that name.
    """
    if isinstance(data, Path) or (isinstance(data, str) and "~" not in data):
        return _files(os.fspath(data))
    if hasattr(data, "schema") and callable(getattr(data, "blocks", None)):
        return data  # type: ignore[no-any-return]
    for kind in type(data).__mro__:
        if (found := SOURCES.get((kind.__module__.partition(".")[0], kind.__name__))) is not None:
            return found(data)
    return None


def _files(path: str) -> ParquetFiles:
    """The files of a path, a folder or a pattern, in the order of their names."""
    pattern = os.path.join(path, "**", "*.parquet") if os.path.isdir(path) else path
    paths = [path] if os.path.isfile(path) else sorted(filter(os.path.isfile, glob(pattern, recursive=True)))
    if not paths:
        raise DataError(f"data={path!r} must be a Parquet file, a folder or a pattern of them; there is no such file.")
    return ParquetFiles(tuple(paths))


@dataclass(frozen=True, eq=False)
class Blocks:
    """The columns that a model needs, of the rows that it takes, block by block.

    Attributes
    ----------
    source : Source
    columns : tuple of str
    subset : str or None
        A condition on the rows.
    """

    source: Any
    columns: tuple[str, ...]
    subset: str | None = None

    @property
    def names(self) -> list[str]:
        """Every column of the source."""
        return list(getattr(self.source.schema, "names", self.source.schema))

    def map(self, function: Callable[[pd.DataFrame], T]) -> Iterator[T]:
        """function(frame) of every block, in order; by the workers of a Dask cluster if there is one."""
        work = _OnFrame(function, self.subset)
        mapped = getattr(self.source, "mapped", lambda *_: None)(work, self.columns)
        return map(work, self.frames()) if mapped is None else mapped

    def selected(self) -> Iterator[pd.DataFrame]:
        """The blocks as frames, with the rows that the condition selects."""
        return map(_OnFrame(lambda frame: frame, self.subset), self.frames())

    def frames(self) -> Iterator[pd.DataFrame]:
        """The blocks as frames whose index counts the rows; the next one is read while this one is used."""
        from concurrent.futures import ThreadPoolExecutor

        start, blocks = 0, iter(self.source.blocks(self.columns))
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(_next, blocks)
            while (frame := ahead.result()) is not None:
                ahead = reader.submit(_next, blocks)
                if absent := [name for name in self.columns if name not in frame.columns]:
                    raise DataError(f"A block of the data has no column {absent[0]!r}.")
                yield frame.set_axis(pd.RangeIndex(start, start + len(frame)))
                start += len(frame)


def _next(blocks: Iterator[Any]) -> pd.DataFrame | None:
    block = next(blocks, None)
    return None if block is None else as_frame(block)


@dataclass(frozen=True, eq=False)
class _OnFrame:
    """A function of the rows of a block that a condition selects."""

    function: Callable[[pd.DataFrame], Any]
    subset: str | None

    def __call__(self, frame: pd.DataFrame) -> Any:
        return self.function(frame if self.subset is None else frame[subset_mask(self.subset, frame)])


def by_name(role: str, value: Any) -> None:
    """OptionError for an argument that is not the name of a column, or arithmetic over columns."""
    if value is not None and not isinstance(value, str):
        raise OptionError(f"{role}= must be the name of a column where rows are read in blocks; got {type(value)}.")


# ------------------------------------------------------------------------------------------ predictions


def written_predictions(fit: Any, path: Any, data: Any, type: str) -> Path:
    """Predictions of rows in a Parquet file, written block by block."""
    arrow, parquet = _needed("pyarrow"), _needed("pyarrow.parquet")
    spec, own = fit.design.spec, getattr(fit.design, "blocks", None)
    given = (fit.design.data if own is None else own.source) if data is None else data
    if given is None:
        raise DataError("The data of the fit are not at hand: pass data=.")
    source, frames = source_of(given), iter([given])
    if source is not None:
        groups = [name for term in spec.random for name in term.group_columns]
        needed = dict.fromkeys([*spec.columns, *groups, *[spec.response_name] * (type == "margin")])
        blocks = Blocks(source, ())
        frames = replace(blocks, columns=tuple(name for name in needed if name in blocks.names)).frames()

    def write(file: IO[bytes]) -> None:
        writer = None
        for frame in map(as_frame, frames):
            values = fit.predict(frame, type=type)
            values = values.to_frame(values.name or type) if isinstance(values, pd.Series) else values
            table = arrow.Table.from_pandas(values.rename(columns=str), preserve_index=False)
            writer = writer or parquet.ParquetWriter(file, table.schema)
            writer.write_table(table)
        if writer is None:
            raise DataError("The data have no block of rows.")
        writer.close()

    write_file(path, write)
    return Path(path)
