"""The support vector machines against their rivals at equal certified gaps, the choice
of C, and large linear fits.

A rival is given a limit of processor seconds that grows with ordstat's own; one that is
cut off has no gap, and its seconds and ratios are lower bounds ("at least"). Left out
are rivals that cannot do a cell: SVC on extended examples at N = 6000, K = 10 (a Gram
of 23 GB), and skordinal's SVOR with the perceptron kernel, which it does not have.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.contestants import svm as contestants
from benchmarks.contestants.svm import Judge, OnProcessor, Rival, Task
from benchmarks.data import smooth_utility
from benchmarks.reproduce.data import Part, size, split
from benchmarks.timing import Contestant, Timed, ratio, rounds
from ordstat import REDSVM, SVOREXC, SVORIMC, RankBoundarySVM
from ordstat.formula.sample import Rows, Sample
from ordstat.method import Method

METHODS = {"redsvm": REDSVM, "svor-imc": SVORIMC, "svor-exc": SVOREXC}
SIZES = (
    (300, 5),
    (300, 10),
    (1000, 10),
    (1000, 5),
    (3000, 10),
    (6000, 10),
    (3000, 5),
    (6000, 5),
)
#: The explicit Gram of N(K-1) extended rows: 8 bytes squared, 5.8 GB.
EXTENDED_UP_TO = 27_000
COSTS = tuple(2.0**e for e in (-5, -1, 3, 8))
#: A rival's gap is met no tighter, and no looser, than this.
TIGHT = 1e-6
LOOSE = 1e-2
#: Rounds of contestants whose first fit took less than SHORT seconds; of the others
#: that fit counts alone.
ROUNDS = 3
SHORT = 2.0
#: Where a cell's rows go at once, and the columns that name a cell.
WRITTEN = Path(__file__).parent / "results" / "svm.csv"
CELL = ("method", "N", "K", "kernel", "C")
Cell = tuple[str, int, int, str, float]


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a method, size, kernel, C and contestant.

    The whole table takes hours. Each cell is written as soon as it is done, and cells
    that the file already holds are not done again: remove `results/svm.csv` for a new
    table.
    """
    table = (
        pd.read_csv(WRITTEN) if WRITTEN.exists() else pd.DataFrame(columns=list(CELL))
    )
    done = set(table[list(CELL)].itertuples(index=False, name=None))
    for cell in _cells(quick):
        if cell not in done:
            about = dict(zip(CELL, cell, strict=True))
            table = pd.concat(
                [table, pd.DataFrame([about | row for row in _compare(_task(*cell))])]
            )
            table.to_csv(WRITTEN, index=False)
    return [
        {str(name): value for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def _cells(quick: bool) -> Iterator[Cell]:
    for N, K in SIZES[:1] if quick else SIZES:
        for name, kernel, C in product(METHODS, contestants.KERNELS, COSTS):
            yield name, N, K, kernel, C


def _task(name: str, N: int, K: int, kernel: str, C: float) -> Task:
    return Task(METHODS[name], *smooth_utility(N, K), kernel, C)


def _rivals(task: Task) -> list[Rival]:
    N = len(task.y)
    Q = int(task.y.max())
    if task.method is REDSVM:
        extended = [contestants.extended_svc(task)] if N * Q <= EXTENDED_UP_TO else []
        return [*extended, contestants.skordinal_redsvm(task)]
    if task.kernel != "gaussian":
        return []
    return [
        contestants.skordinal_svor(
            task, "implicit" if task.method is SVORIMC else "explicit"
        )
    ]


def _patience(ours: float) -> float:
    """Seconds of the processor for a rival: 12 times ordstat's, at least 20 and up to
    150, but no less than 6 times.
    """
    return max(min(max(20.0, 12.0 * ours), 150.0), 6.0 * ours)


def _compare(task: Task) -> list[dict[str, object]]:
    """Seconds and gaps; for a rival also the ratio to ordstat at the rival's gap, or at
    TIGHT if it was cut off.
    """
    rivals = _rivals(task)
    ours = [task.ordstat(1e-3), task.ordstat(TIGHT)]
    gaps = {}
    first = {}
    for c in ours:
        fit, first[c.name] = c.once()
        gaps[c.name] = fit.certificate.value
    limit = _patience(first[ours[-1].name])
    attempts = {rival.timed.name: rival.attempt(limit) for rival in rivals}
    judge = Judge(task) if any(attempts.values()) else None
    for name, attempt in attempts.items():
        gaps[name], first[name] = (
            (judge.gap(attempt[0]), attempt[1])
            if judge and attempt
            else (float("nan"), limit)
        )
    # One fit a tolerance: equal gaps of two rivals are the same contestant.
    equal = {
        r.timed.name: task.ordstat(
            float(np.clip(np.nan_to_num(gaps[r.timed.name]), TIGHT, LOOSE))
        )
        for r in rivals
    }
    field = {
        c.name: c for c in [*ours, *equal.values(), *(rival.timed for rival in rivals)]
    }
    first |= {name: c.seconds(1) for name, c in field.items() if name not in first}
    short: list[Contestant] = [c for name, c in field.items() if first[name] < SHORT]
    taken = {name: [seconds] * ROUNDS for name, seconds in first.items()} | rounds(
        short, ROUNDS
    )
    return [
        {
            "contestant": name,
            "rounds": ROUNDS if first[name] < SHORT else 1,
            "gap": gaps[name],
            "seconds": float(np.median(taken[name])),
            "over ordstat 1e-03": ratio(taken, name, "ordstat 0.001"),
            "over ordstat 1e-06": ratio(taken, name, "ordstat 1e-06"),
            "over ordstat at its gap": (
                ratio(taken, name, equal[name].name) if name in equal else float("nan")
            ),
            "at least": bool(np.isnan(gaps[name])),
        }
        for name in gaps
    ]


def selection(quick: bool = False) -> list[dict[str, object]]:
    """C="cv": 11 values of C x 5 folds and the final fit = 56 solves, on one thread and
    on two.
    """
    rows: list[dict[str, object]] = []
    for N in (1000,) if quick else (1000, 3000, 6000):
        X, y = smooth_utility(N, 10)
        for n_jobs in (1, 2):
            timed = Timed("ordstat", _fit(REDSVM(C="cv", n_jobs=n_jobs), X, y))
            rows.append(
                {
                    "N": N,
                    "K": 10,
                    "solves": 56,
                    "n_jobs": n_jobs,
                    "seconds": timed.seconds(1),
                }
            )
    return rows


def linear(quick: bool = False) -> list[dict[str, object]]:
    """Linear kernels, 20 columns and 10 ranks: least of three runs in seconds of the
    processor, gap and route.
    """
    scale = 10 if quick else 1
    squared: dict[str, Any] = {"kernel": "linear", "loss": "squared_hinge"}
    cases: list[tuple[Method, int]] = [
        (RankBoundarySVM(C=1.0, **squared), 100_000),
        (REDSVM(C=0.03125, **squared), 1_000_000),
        (REDSVM(C=8.0, **squared), 1_000_000),
        (REDSVM(C=0.03125, kernel="linear"), 100_000),
        (REDSVM(C=8.0, kernel="linear"), 100_000),
    ]
    rows: list[dict[str, object]] = []
    for method, N in cases:
        X, y = smooth_utility(N // scale, 10, D=20)
        fit = _fit(method, X, y)
        timed = OnProcessor("ordstat", fit)
        seconds = min(timed.seconds(1) for _ in range(3))
        result = fit()
        facts = dict(result.facts)
        rows.append(
            {
                "method": repr(method),
                "N": N // scale,
                "seconds": seconds,
                "gap": result.certificate.value,
            }
            | {"solver": facts["Solver"], "iterations": result.trace.iterations}
        )
    return rows


def landmarks(quick: bool = False) -> list[dict[str, object]]:
    """RED-SVM with the perceptron kernel: all rows beside 2,000 landmarks, and
    landmarks alone at 100,000 rows.

    Seconds of one fit, its certified gap, and the mean absolute error on test rows,
    also over that of all rows.
    """
    rows: list[dict[str, object]] = []
    for name, n in (
        ("census", 6000),
        ("computer", 4000),
        ("synthetic", 10_000),
        ("synthetic", 100_000),
    ):
        part = _split(name, n // (10 if quick else 1))
        exact = float("nan")
        for count in (
            (None, 200 if quick else 2000) if n < 20_000 else (200 if quick else 2000,)
        ):
            start = time.perf_counter()
            fit = REDSVM(landmarks=count).fit(part.train, np.random.default_rng(0))
            seconds = time.perf_counter() - start
            error = float(np.abs(fit.rule.codes(part.test.rows) - part.test.y).mean())
            exact = error if count is None else exact
            rows.append(
                {
                    "set": name,
                    "N": part.train.n,
                    "landmarks": count or "all rows",
                    "seconds": seconds,
                }
                | {
                    "gap": fit.certificate.value,
                    "test MAE": error,
                    "over all rows": error / exact,
                }
            )
    return rows


def _split(name: str, n: int) -> Part:
    """Training rows of a set, and test rows."""
    if name != "synthetic":
        return split(name, 0, n, size(name) - n)
    X, y = smooth_utility(n + 10_000, 10)
    whole = Sample(rows=Rows(X=X), y=y, n_levels=10)
    return Part(whole.take(np.arange(n)), whole.take(np.arange(n, len(y))))


def _fit(method: Method, X: np.ndarray, y: np.ndarray):  # type: ignore[no-untyped-def]
    sample = Sample(rows=Rows(X=X), y=y, n_levels=10)
    return lambda: method.fit(sample, np.random.default_rng(0))
