"""Rows larger than memory, p = 20, K = 5: a fit from Parquet beside the fit in memory
and beside a plain read.

Every contestant runs in a process of its own, which tells its seconds and the most
memory it held. What it should reach at n = 1e7: the numbers of the fit in memory to
1e-9, 1 GB of memory, and at most the seconds of a plain read for every pass plus those
of the passes in memory; n = 1e8 generated rows in the same memory; two processes of a
Dask cluster 1.6 times as fast as one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

P = 20
K = 5
BLOCK = 250_000
NAMES = [f"x{j}" for j in range(P)]
FORMULA = f"y ~ {' + '.join(NAMES)}"

#: Prints seconds, peak of memory in GB, passes over the rows and estimates as JSON.
PROGRAM = """
import json, resource
from benchmarks.blocks import FORMULA, Generated, cluster, counted, parquet, plain_read
{prepare}
if __name__ == "__main__":
    seconds, passes, params = {call}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps([seconds, peak, passes, params]))
"""


class Generated:
    """n rows that are made anew at every pass."""

    schema = (*NAMES, "y")

    def __init__(self, n: int) -> None:
        self.n = n

    def blocks(self, columns: Sequence[str]) -> Iterator[object]:
        import pyarrow as pa

        beta = np.linspace(-0.5, 0.5, P)
        for start in range(0, self.n, BLOCK):
            rng = np.random.default_rng([7, start])
            m = min(BLOCK, self.n - start)
            X = np.asfortranarray(
                rng.standard_normal((m, P), dtype=np.float32).astype(np.float64)
            )
            y = (
                np.searchsorted([-1.5, -0.5, 0.5, 1.5], X @ beta + rng.logistic(size=m))
                + 1
            )
            yield pa.table(dict(zip(NAMES, X.T, strict=True)) | {"y": y})


def parquet(n: int, path: Path) -> None:
    """The rows in a file."""
    from pyarrow.parquet import ParquetWriter

    writer = None
    for table in Generated(n).blocks(()):
        writer = writer or ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def counted(data: object) -> tuple[float, int, list[float]]:
    """Seconds, passes over the rows in blocks, estimates."""
    from ordstat import ordfit
    from ordstat.blocks.sources import RowBlocks

    passes = 0
    frames = RowBlocks.frames

    def counting(self: RowBlocks) -> Iterator[object]:
        nonlocal passes
        passes += 1
        return frames(self)

    RowBlocks.frames = counting
    start = time.perf_counter()
    params = ordfit(
        FORMULA, pd.read_parquet(data[0]) if isinstance(data, list) else data
    ).params.tolist()
    return time.perf_counter() - start, passes, params


def plain_read(path: str) -> tuple[float, int, list[float]]:
    from pyarrow.parquet import ParquetFile

    start = time.perf_counter()
    with ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
        for _ in file.iter_batches(1 << 16, use_threads=False):
            pass
    return time.perf_counter() - start, 1, []


def cluster(path: str, workers: int) -> tuple[float, int, list[float]]:
    """The second fit on a cluster, whose workers have then imported what they need."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    rows = dd.read_parquet(path, split_row_groups=1)
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
        ) as here,
        Client(here),
    ):
        counted(rows)
        return counted(rows)


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a contestant: seconds, GB, passes, and the largest difference from the
    estimates in memory.
    """
    n = 200_000 if quick else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        parquet(n, path)
        calls = {
            "plain read": ("", f"plain_read({str(path)!r})"),
            "in memory, with reading": ("", f"counted([{str(path)!r}])"),
            "in memory": (
                f"import pandas as pd\ndata = pd.read_parquet({str(path)!r})",
                "counted(data)",
            ),
            "Parquet": ("", f"counted({str(path)!r})"),
            "Dask, 1 process": ("", f"cluster({str(path)!r}, 1)"),
            "Dask, 2 processes": ("", f"cluster({str(path)!r}, 2)"),
            f"generated, {10 * n:,} rows": ("", f"counted(Generated({10 * n}))"),
        }
        taken = {name: _measured(*call) for name, call in calls.items()}
    there = np.array(taken["in memory"][3])
    return [
        {
            "contestant": name,
            "seconds": seconds,
            "GB": memory,
            "passes": passes,
            "apart from memory": (
                np.abs(np.array(params) - there).max()
                if params and "generated" not in name
                else np.nan
            ),
        }
        for name, (seconds, memory, passes, params) in taken.items()
    ]


def _measured(prepare: str, call: str) -> tuple[float, float, int, list[float]]:
    code = PROGRAM.format(prepare=prepare, call=call)
    with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
        program.write(code)
        program.flush()
        paths = {"PYTHONPATH": str(Path(__file__).parents[1])}
        done = subprocess.run(
            [sys.executable, program.name],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | paths,
        )
    return tuple(json.loads(done.stdout.splitlines()[-1]))
