"""Rows in blocks: files, pyarrow, polars, DuckDB, Dask, any object with `schema` and
`blocks`; predictions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar, cast

import numpy as np
import pandas as pd

from .._typing import AnyArray
from ..checks import path_given
from ..exceptions import DataError, OrdstatError
from ..formula.columns import Factor, as_frame
from ..formula.extrapolation import telling_once
from ..formula.inputs import subset_mask
from ..report.files import write_file
from .files import BLOCK, ParquetFiles, needed, parquet_files

T = TypeVar("T")


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
        """The blocks in order, from the first one at every call: pandas or polars
        frames, arrow tables or batches.
        """


#: Errors of packages.
_ERRORS = {
    "polars": "polars.exceptions.PolarsError",
    "duckdb": "duckdb.Error",
    "pyarrow": "pyarrow.ArrowException",
}


@dataclass(frozen=True, eq=False)
class Adapted:
    """Data of another package: the names of the columns, and the blocks of some of
    them.
    """

    data: Any
    names: Callable[[Any], Any]
    read: Callable[[Any, list[str]], Iterable[Any]]

    @property
    def schema(self) -> Any:
        with self._reading():
            return self.names(self.data)

    def blocks(self, columns: Sequence[str]) -> Iterator[Any]:
        with self._reading():
            yield from self.read(self.data, list(columns))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Errors of the package, each of which has its own classes, as a DataError."""
        package = type(self.data).__module__.partition(".")[0].lstrip("_")
        module, _, name = _ERRORS.get(package, "builtins.OSError").rpartition(".")
        try:
            yield
        except OrdstatError:
            raise
        except (
            LookupError,
            OSError,
            RuntimeError,
            TypeError,
            ValueError,
            getattr(needed(module), name),
        ) as error:
            raise DataError(
                f"The rows of the {package} data cannot be read: {error}. Write them to"
                " a Parquet file, and give its path as data=."
            ) from error


def _arrow_batches(data: Any, columns: list[str]) -> Any:
    """Few batches ahead, where whole files are by default."""
    options: dict[str, Any] = {
        "batch_size": BLOCK,
        "batch_readahead": 2,
        "fragment_readahead": 1,
    }
    if getattr(getattr(data, "format", None), "default_extname", "") == "parquet":
        scan = needed("pyarrow.dataset").ParquetFragmentScanOptions
        options["fragment_scan_options"] = scan(
            pre_buffer=False, use_buffered_stream=True
        )
    return data.to_batches(columns=columns, **options)


def _duck_batches(data: Any, columns: list[str]) -> Any:
    names = ", ".join('"{}"'.format(name.replace('"', '""')) for name in columns)
    return data.project(names).to_arrow_reader(BLOCK)


def _dask_parts(data: Any, columns: list[str]) -> Iterable[Any]:
    return (part.compute() for part in data[columns].to_delayed())


def _by_workers(
    data: Any, function: Callable[[pd.DataFrame], T], columns: list[str]
) -> Iterator[T] | None:
    """function(partition) in the order of the partitions, by the workers; None without
    a distributed Client.
    """
    from dask.delayed import delayed
    from distributed import get_client

    try:
        client: Any = get_client()
    except ValueError:
        return None
    tasks = [delayed(function, pure=False)(part) for part in data[columns].to_delayed()]
    return (future.result() for future in client.compute(tasks))


def _polars_batches(data: Any, columns: list[str]) -> Any:
    """Categories as text: their order is that of the text in memory too, and a block
    may lack some of them.
    """
    polars = needed("polars")
    categories = needed("polars.selectors").categorical()
    return (
        data.select(columns)
        .with_columns(categories.cast(polars.String))
        .collect_batches(chunk_size=BLOCK)
    )


#: The names of the columns of data, and the blocks of some of them, by package and name
#: of their class.
SOURCES: dict[
    tuple[str, str],
    tuple[Callable[[Any], Any], Callable[[Any, list[str]], Iterable[Any]]],
] = {
    ("pyarrow", "Dataset"): (lambda data: data.schema, _arrow_batches),
    ("polars", "LazyFrame"): (lambda data: data.collect_schema(), _polars_batches),
    ("duckdb", "DuckDBPyRelation"): (lambda data: data.columns, _duck_batches),
    ("dask", "DataFrame"): (lambda data: list(data.columns), _dask_parts),
}


def source_of(data: Any) -> Source | None:
    """Data as blocks of rows; None for data in memory and for types that are not read
    in blocks.

    Raises
    ------
    DataError
        No file has that name.
    """
    if isinstance(data, Path) or (isinstance(data, str) and "~" not in data):
        return parquet_files(os.fspath(data))
    for kind in type(data).__mro__:
        package = kind.__module__.partition(".")[0].lstrip("_")
        known = SOURCES.get((package, kind.__name__))
        if known is not None:
            return Adapted(data, *known)
    if callable(getattr(data, "blocks", None)) and hasattr(data, "schema"):
        return cast(Source, data)
    return None


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """The columns that a model needs, of the rows that it takes, block by block.

    Attributes
    ----------
    source : Source
    columns : tuple of str
    subset : str or None
        A condition on the rows.
    declared : mapping of column to Factor
        The levels in all rows of columns that conditions compare with a text; a block
        may lack some.
    seen : (2,) array or None
        The number of the rows and the sum of their values in the first pass, which
        later passes must repeat.
    """

    source: Any
    columns: tuple[str, ...]
    subset: str | None = None
    declared: Mapping[str, Factor] = field(default_factory=dict)
    seen: AnyArray | None = None

    @property
    def names(self) -> list[str]:
        """Every column of the source."""
        schema = self.source.schema
        return list(
            schema if isinstance(schema, Mapping) else getattr(schema, "names", schema)
        )

    def __getstate__(self) -> dict[str, Any]:
        """Without a source that only this process can read."""
        return {
            **self.__dict__,
            "source": self.source if isinstance(self.source, ParquetFiles) else None,
        }

    def map(self, function: Callable[[pd.DataFrame], T]) -> Iterator[T]:
        """function(frame) of every block, in order; by the workers of a Dask cluster if
        there is one.

        Raises
        ------
        DataError
            The rows are not those of the first pass.
        """
        total: AnyArray = np.zeros(2, dtype=np.uint64)
        for value, part in self.seen_by(function):
            total = total + part
            yield value
        if self.seen is not None and not np.array_equal(total, self.seen):
            counts = (
                f"{self.seen[0]:,} rows in the first pass, {total[0]:,} in a later one"
            )
            what = "as many, with other values" if total[0] == self.seen[0] else counts
            raise DataError(
                f"The source gave other rows the second time: {what}. It must give the"
                " same rows whenever it is read. Write them to a Parquet file, and"
                " give its path as data=."
            )

    def seen_by(
        self, function: Callable[[pd.DataFrame], T]
    ) -> Iterator[tuple[T, AnyArray]]:
        """function(frame) of every block with the number of its rows and the sum of
        their values.
        """
        if self.source is None:
            raise DataError(
                "The source of the rows is not available: fit again, or pass data=."
            )
        # files are compared by their times
        by_values = not isinstance(self.source, ParquetFiles)
        work = partial(_selected, function, self.subset, self.declared, by_values)
        dask = getattr(self.source, "read", None) is _dask_parts
        if dask:
            mapped = _by_workers(self.source.data, work, list(self.columns))
        else:
            mapped = None
        return map(work, self.frames()) if mapped is None else mapped

    def frames(self) -> Iterator[pd.DataFrame]:
        """The blocks as frames whose index counts the rows; the next one is read while
        this one is used.
        """
        from concurrent.futures import ThreadPoolExecutor

        start = 0
        blocks = map(as_frame, self.source.blocks(self.columns))
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(next, blocks, None)
            while (frame := ahead.result()) is not None:
                ahead = reader.submit(next, blocks, None)
                yield frame.set_axis(pd.RangeIndex(start, start + len(frame)))
                start += len(frame)


def _selected(
    function: Callable[[pd.DataFrame], T],
    subset: str | None,
    declared: Mapping[str, Factor],
    by_values: bool,
    frame: pd.DataFrame,
) -> tuple[T, AnyArray]:
    """The value of a function of the rows of a subset, and what was seen of them."""
    if subset is not None:
        frame = frame[subset_mask(subset, frame, declared)]
    return function(frame), _seen(frame, by_values)


def _seen(frame: pd.DataFrame, by_values: bool) -> AnyArray:
    """(2,) the number of rows, and the sum of their values as unsigned integers: it
    depends on no order.
    """
    total = np.array([len(frame), 0], dtype=np.uint64)
    bits: AnyArray
    for _, column in frame.items() if by_values else ():
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
            bits = np.ascontiguousarray(column.to_numpy(), dtype=np.float64).view(
                np.uint64
            )
        else:
            bits = pd.util.hash_pandas_object(column, index=False).to_numpy()
        total[1:] += bits.sum(dtype=np.uint64)
    return total


# -------------------------------------------------------------------------- predictions


def _reads(source: Source, path: str | os.PathLike[str]) -> bool:
    """Whether a source reads a file, or would count a new file as one of its own."""
    if isinstance(source, ParquetFiles):
        return source.holds(path)
    # a pyarrow Dataset has them
    files = getattr(getattr(source, "data", None), "files", ())
    target = os.path.realpath(path)
    return any(os.path.realpath(name) == target for name in files) or _in_plan(
        getattr(source, "data", None), path
    )


def _in_plan(data: Any, path: str | os.PathLike[str]) -> bool:
    """Whether a polars or DuckDB plan names a file like an existing one."""
    plan = b""
    if hasattr(data, "sql_query"):
        plan = data.sql_query().encode()
    elif type(data).__name__ == "LazyFrame":
        # a plan with Python code
        with suppress(needed("polars").exceptions.PolarsError):
            plan = data.serialize()
    return os.path.exists(path) and os.path.basename(path).encode() in plan


def written_predictions(
    fit: Any, path: Any, data: Any, asked: Mapping[str, Any]
) -> Path:
    """Predictions of rows in a Parquet file, written block by block; `asked` has the
    arguments of `predict`.
    """
    path_given("path", path)
    arrow = needed("pyarrow")
    parquet = needed("pyarrow.parquet")
    if data is None:
        data = fit.design.data if fit.in_memory else fit.design.blocks.source
    if data is None:
        raise DataError("The data of the fit are not available: pass data=.")
    source = source_of(data) or Adapted(
        as_frame(data), list, lambda frame, columns: [frame[columns]]
    )
    if _reads(source, path):
        raise DataError(
            "path must not be a file of the data or lie in their folder; got"
            f" {os.fspath(path)!r}. Name a file elsewhere."
        )
    spec = fit.design.spec
    blocks = RowBlocks(source, ())
    wanted = {
        spec.response_name,
        *spec.columns,
        *(name for term in spec.random for name in term.group_columns),
    }
    blocks = replace(
        blocks, columns=tuple(name for name in blocks.names if name in wanted)
    )

    def write(file: IO[bytes]) -> None:
        with ExitStack() as stack:
            stack.enter_context(telling_once())
            writer = None
            for frame in blocks.frames():
                values = pd.DataFrame(fit.predict(frame, **asked)).rename(columns=str)
                table = arrow.Table.from_pandas(values, preserve_index=False)
                writer = writer or stack.enter_context(
                    parquet.ParquetWriter(file, table.schema)
                )
                writer.write_table(table)

    write_file(path, write)
    return Path(path)
