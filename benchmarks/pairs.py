"""`python -m benchmarks.pairs --against FOLDER`: this checkout and another in turn, job
by job.

Each has a process of its own, which loads the package of its folder (compiled in place:
`make .venv/dev` there, or the `.so` files of a wheel put into it), and does the same
calls of the public interface. A job is done by each in turn; its figure is the median
over the rounds of processor seconds here over those there, so that values above 1 are
slower here.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

#: Jobs; `x` and `grouped` are formulas for the frames that data(n) makes, fitted(n) a
#: fit to one, and `one` a single row.
FITS = {
    "clm, wine": "ordfit('rating ~ temp + contact', wine).se",
    "clm, wine, summary": "str(ordfit('rating ~ temp + contact', wine).summary())",
    "clm, wine, nominal": "ordfit('rating ~ temp', wine, nominal='~ contact').se",
    "clm, 2e3 x 8": "ordfit(x, data(2000)).se",
    "clm, 1e5 x 8": "ordfit(x, data(100_000)).se",
    "clm, probit, 1e5 x 8": "ordfit(x, data(100_000), link='probit').se",
    "clm, cloglog, 1e4 x 8": "ordfit(x, data(10_000), link='cloglog').se",
    "clm, profile, 1e3 x 8": "ordfit(x, data(1000)).confint(type='profile')",
    "clmm, wine": "ordfit('rating ~ temp + contact + (1 | judge)', wine).se",
    "clmm, 2e3 x 8, 80 groups": "ordfit(grouped, data(2000)).se",
    "clm, probabilities, 1e5 rows": "fitted(2000).predict(data(100_000), type='prob')",
    "clm, ranks, 1e5 rows": "fitted(2000).predict(data(100_000))",
    "clm, probabilities, one row": "fitted(2000).predict(one, type='prob')",
    "redsvm, 400 rows": "ordfit(x, data(400), 'redsvm')",
    "redsvm, 1000 rows": "ordfit(x, data(1000), 'redsvm')",
    "redsvm, linear kernel": "ordfit(x, data(1000), 'redsvm', kernel='linear')",
    "svor-imc, 400 rows": "ordfit(x, data(400), 'svor-imc')",
    "orboost-all, stumps": "ordfit(x, data(2000), 'orboost-all', rounds=200)",
    "orboost-lr, perceptrons": (
        "ordfit(x, data(500), 'orboost-lr', learner='perceptron', rounds=50, seed=1)"
    ),
    "rankboost-ae": "ordfit(x, data(1000), 'rankboost-ae', rounds=100)",
    "adaboost-or": "ordfit(x, data(1000), 'adaboost-or', rounds=100)",
    "cart": "ordfit(x, data(5000), 'cart')",
    "ordinal-bagging": "ordfit(x, data(1000), 'ordinal-bagging', rounds=20, seed=1)",
    "ordinal-adaboost": "ordfit(x, data(1000), 'ordinal-adaboost', rounds=20, seed=1)",
    "prank": "ordfit(x, data(5000), 'prank')",
    "cusum": "ordfit(x, data(5000), 'cusum')",
    "kernel-prank": "ordfit(x, data(500), 'kernel-prank')",
}
#: Seconds that a short job is repeated to fill.
_FILLED = 0.1
START = (
    "from ordstat import datasets, ordfit;str(ordfit('rating ~ temp + contact',"
    " data=datasets.load('wine')).summary())"
)


def work() -> None:
    """One side: a job a line on standard input, its seconds a call on
    standard output.
    """
    import warnings
    from functools import cache

    import numpy as np
    import pandas as pd

    from ordstat import datasets, ordfit

    warnings.simplefilter("ignore")

    @cache
    def data(n: int) -> pd.DataFrame:
        rng = np.random.default_rng(n)
        X = rng.normal(size=(n, 8))
        latent = X @ np.array(
            [1.0, -0.5, 0.25, 0.0, 0.8, 0.1, -0.3, 0.0]
        ) + rng.logistic(size=n)
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
        groups = np.arange(n) // 25
        effects = rng.normal(size=n)[groups]
        cuts = [-2.0, -0.5, 0.5, 2.0]
        return frame.assign(
            y=np.searchsorted(cuts, latent) + 1,
            g=groups,
            of_group=np.searchsorted(cuts, latent + effects) + 1,
        )

    columns = " + ".join(f"x{j}" for j in range(8))

    @cache
    def fitted(n: int) -> Any:
        return ordfit(f"y ~ {columns}", data(n))

    namespace = {
        "ordfit": ordfit,
        "wine": datasets.load("wine"),
        "data": data,
        "x": f"y ~ {columns}",
        "grouped": f"of_group ~ {columns} + (1 | g)",
        "fitted": fitted,
        "one": data(2000).head(1),
    }
    repeats: dict[str, int] = {}
    for line in sys.stdin:
        job = line.strip()
        code = compile(FITS[job], job, "eval")
        begun = time.process_time()
        for _ in range(repeats.setdefault(job, 1)):
            eval(code, namespace)
        seconds = (time.process_time() - begun) / repeats[job]
        repeats[job] = max(1, min(50, int(_FILLED / max(seconds, 1e-9))))
        print(seconds, flush=True)


def _seconds_of_children() -> float:
    """Processor seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Side:
    """A process that works in a folder."""

    def __init__(self, folder: Path) -> None:
        # Compiled files of Python are kept, as installed packages have them.
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        self.folder = folder
        command = [sys.executable, "-P", str(Path(__file__).resolve()), "--work"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=self.environment,
        )

    def seconds(self, job: str) -> float:
        """Of one call."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{job}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def start(self, job: str) -> float:
        """From the start of a process to the first summary."""
        begun = _seconds_of_children()
        command = [sys.executable, "-c", START]
        subprocess.run(
            command,
            check=True,
            capture_output=True,
            cwd=self.folder,
            env=self.environment,
        )
        return _seconds_of_children() - begun


def compared(job: str, ways: list[Callable[[str], float]], n_rounds: int) -> str:
    """A line of the table."""
    taken = [[way(job) for way in ways] for _ in range(n_rounds + 1)][1:]
    here, there = (median(side) for side in zip(*taken, strict=True))
    return f"{job:30}{here:12.5f}{there:12.5f}{median(a / b for a, b in taken):10.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pairs", description=__doc__
    )
    parser.add_argument(
        "--against", type=Path, metavar="FOLDER", help="the other checkout"
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--only", metavar="TEXT", default="", help="jobs that have this in their names"
    )
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.work:
        work()
        return
    if wanted.against is None:
        parser.error("--against must name the folder of another checkout.")
    sides = [Side(Path(__file__).resolve().parents[1]), Side(wanted.against.resolve())]
    print(f"{'job':30}{'here':>12}{'there':>12}{'ratio':>10}", flush=True)
    if wanted.only in "start":
        print(
            compared(
                "start to first summary", [side.start for side in sides], wanted.rounds
            ),
            flush=True,
        )
    for job in (job for job in FITS if wanted.only in job):
        print(
            compared(job, [side.seconds for side in sides], wanted.rounds), flush=True
        )


if __name__ == "__main__":
    main()
