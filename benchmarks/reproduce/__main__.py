"""`python -m benchmarks.reproduce 4.2 --splits 20`: run a table of Lin (2008) and print
it beside the published one.

"lin-li-1", "lin-li-2" are those of Lin & Li (2006), "cusum-1", "cusum-2" those of
Milidiú & Rocha (2019).

Results are kept in benchmarks/reproduce/results/runs.csv, one row a fit, and are not
run again: delete the file (or rows of it) after a change that should alter them. Each
worker uses one BLAS thread.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

from benchmarks.reproduce.compare import cells, comparison  # noqa: E402
from benchmarks.reproduce.runs import missing, run_all, stored  # noqa: E402
from ordstat.checks import reporter  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "runs.csv"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce", description=__doc__
    )
    parser.add_argument(
        "table", help="a table of the thesis, such as 4.2, or lin-li-1, cusum-2, ..."
    )
    parser.add_argument(
        "--splits",
        type=int,
        default=20,
        help="random splits of each data set (default 20)",
    )
    parser.add_argument("--datasets", nargs="*", default=[], help="only these")
    parser.add_argument(
        "--methods", nargs="*", default=[], help="only these, as the paper calls them"
    )
    parser.add_argument(
        "--scaling",
        choices=("range", "standard", "none"),
        default="",
        help="of the columns of SVMs, PRank, ...",
    )
    parser.add_argument(
        "--jobs", type=int, default=-1, help="fits at a time (default: one a processor)"
    )
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="the file of results"
    )
    wanted = parser.parse_args()
    table = cells(wanted.table, wanted.datasets, wanted.methods, wanted.scaling)
    tasks = missing(
        (task for cell in table for task in cell.tasks(wanted.splits)),
        stored(wanted.results),
    )
    tell = reporter(None) or _line
    if tasks:
        tell(0, len(tasks), f"table {wanted.table}")
    for done, result in enumerate(run_all(tasks, wanted.results, wanted.jobs), start=1):
        tell(
            done,
            len(tasks),
            f"{result.dataset}, {result.method}, split {result.split},"
            f" {result.seconds:.1f} s",
        )
    frame = comparison(table, stored(wanted.results), wanted.splits)
    print(
        f"Table {wanted.table}; difference = (ours - published) / combined standard"
        " error, positive is worse"
    )
    print(frame.to_string(index=False, na_rep="", float_format=lambda v: f"{v:.3f}"))


def _line(step: int, total: int, message: str) -> None:
    """Progress where no bar can be shown."""
    print(f"{step} of {total}: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
