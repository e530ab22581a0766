"""Rows in blocks: Parquet files, pyarrow, polars, DuckDB, Dask, any object with `schema` and `blocks`; predictions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from glob import glob
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import pandas as pd

from ..exceptions import DataError
from ..formula.columns import as_frame
from ..formula.inputs import subset_mask
from ..report.files import write_file

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
            with parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
                for batch in file.iter_batches(BLOCK, columns=list(columns), use_threads=False):
                    yield batch.to_pandas(split_blocks=True)


@dataclass(frozen=True, eq=False)
class Adapted:
    """Data of another package: the names of the columns, and the blocks of some of them."""

    data: Any
    names: Callable[[Any], Any]
    read: Callable[[Any, list[str]], Iterable[Any]]

    @property
    def schema(self) -> Any:
        return self.names(self.data)

    def blocks(self, columns: Sequence[str]) -> Iterable[Any]:
        return self.read(self.data, list(columns))


def _arrow_batches(data: Any, columns: list[str]) -> Any:
    """Few batches ahead, where whole files are by default."""
    options: dict[str, Any] = {"batch_size": BLOCK, "batch_readahead": 2, "fragment_readahead": 1}
    if getattr(getattr(data, "format", None), "default_extname", "") == "parquet":
        scan = _needed("pyarrow.dataset").ParquetFragmentScanOptions
        options["fragment_scan_options"] = scan(pre_buffer=False, use_buffered_stream=True)
    return data.to_batches(columns=columns, **options)


def _duck_batches(data: Any, columns: list[str]) -> Any:
    names = ", ".join('"{}"'.format(name.replace('"', '""')) for name in columns)
    return data.project(names).to_arrow_reader(BLOCK)


def _dask_parts(data: Any, columns: list[str]) -> Iterable[Any]:
    return (part.compute() for part in data[columns].to_delayed())


def _by_workers(data: Any, function: Callable[[pd.DataFrame], T], columns: list[str]) -> Iterator[T] | None:
    """function(partition) in the order of the partitions, by the workers; None without a distributed Client."""
    from dask.delayed import delayed
    from distributed import get_client

    try:
        client: Any = get_client()
    except ValueError:
        return None
    tasks = [delayed(function, pure=False)(part) for part in data[columns].to_delayed()]
    return (future.result() for future in client.compute(tasks))


def _polars_batches(data: Any, columns: list[str]) -> Any:
    return data.select(columns).collect_batches(chunk_size=BLOCK)


#: The names of the columns of data, and the blocks of some of them, by package and name of their class.
SOURCES: dict[tuple[str, str], tuple[Callable[[Any], Any], Callable[[Any, list[str]], Iterable[Any]]]] = {
    ("pyarrow", "Dataset"): (lambda data: data.schema, _arrow_batches),
    ("polars", "LazyFrame"): (lambda data: data.collect_schema(), _polars_batches),
    ("duckdb", "DuckDBPyRelation"): (lambda data: data.columns, _duck_batches),
    ("dask", "DataFrame"): (lambda data: list(data.columns), _dask_parts),
}


def _needed(module: str) -> Any:
    """An optional package."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"Parquet needs {package}, which is not installed: pip install {package}") from error


def source_of(data: Any) -> Source | None:
    """The rows of some data in blocks; None for data that are in memory, or that are none of the sources.

    Raises
    ------
    DataError
        No file has that name.
    """
    if isinstance(data, Path) or (isinstance(data, str) and "~" not in data):
        return _files(os.fspath(data))
    for kind in ((kind.__module__.partition(".")[0].lstrip("_"), kind.__name__) for kind in type(data).__mro__):
        if kind in SOURCES:
            return Adapted(data, *SOURCES[kind])
    return data if callable(getattr(data, "blocks", None)) and hasattr(data, "schema") else None


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
        schema = self.source.schema
        return list(schema if isinstance(schema, Mapping) else getattr(schema, "names", schema))

    def __getstate__(self) -> dict[str, Any]:
        """Without a source that only this process can read."""
        return {**self.__dict__, "source": self.source if isinstance(self.source, ParquetFiles) else None}

    def map(self, function: Callable[[pd.DataFrame], T]) -> Iterator[T]:
        """function(frame) of every block, in order; by the workers of a Dask cluster if there is one."""
        if self.source is None:
            raise DataError("The source of the rows is not at hand: fit again, or pass data=.")
        work = partial(_selected, function, self.subset)
        dask = getattr(self.source, "read", None) is _dask_parts
        mapped = _by_workers(self.source.data, work, list(self.columns)) if dask else None
        return map(work, self.frames()) if mapped is None else mapped

    def frames(self) -> Iterator[pd.DataFrame]:
        """The blocks as frames whose index counts the rows; the next one is read while this one is used."""
        from concurrent.futures import ThreadPoolExecutor

        start, blocks = 0, map(as_frame, self.source.blocks(self.columns))
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(next, blocks, None)
            while (frame := ahead.result()) is not None:
                ahead = reader.submit(next, blocks, None)
                yield frame.set_axis(pd.RangeIndex(start, start + len(frame)))
                start += len(frame)


def _selected(function: Callable[[pd.DataFrame], T], subset: str | None, frame: pd.DataFrame) -> T:
    return function(frame if subset is None else frame[subset_mask(subset, frame)])


# ------------------------------------------------------------------------------------------ predictions


def written_predictions(fit: Any, path: Any, data: Any, type: str) -> Path:
    """Predictions of rows in a Parquet file, written block by block."""
    arrow, parquet = _needed("pyarrow"), _needed("pyarrow.parquet")
    if data is None:
        data = fit.design.data if fit.in_memory else fit.design.blocks.source
    if data is None:
        raise DataError("The data of the fit are not at hand: pass data=.")
    source = source_of(data) or Adapted(as_frame(data), list, lambda frame, columns: [frame[columns]])
    spec, blocks = fit.design.spec, Blocks(source, ())
    wanted = {spec.response_name, *spec.columns, *(name for term in spec.random for name in term.group_columns)}
    blocks = replace(blocks, columns=tuple(name for name in blocks.names if name in wanted))

    def write(file: IO[bytes]) -> None:
        with ExitStack() as stack:
            writer = None
            for frame in blocks.frames():
                values = pd.DataFrame(fit.predict(frame, type=type)).rename(columns=str)
                table = arrow.Table.from_pandas(values, preserve_index=False)
                writer = writer or stack.enter_context(parquet.ParquetWriter(file, table.schema))
                writer.write_table(table)

    write_file(path, write)
    return Path(path)
