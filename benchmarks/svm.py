"""RED-SVM: one solve against SVC on extended examples and skordinal, and the selection of C."""

from __future__ import annotations

import numpy as np

from benchmarks.contestants import svm as contestants
from benchmarks.data import smooth_utility
from benchmarks.timing import Contestant, Timed, ratio, rounds
from ordstat import REDSVM
from ordstat.model.sample import Rows, Sample

#: (N, K) and the largest N(K-1) for which the explicit Gram is built (8 bytes squared: 650 MB at 9000)
SIZES = ((300, 5), (300, 10), (1000, 5), (1000, 10), (3000, 10), (6000, 10))
EXTENDED_UP_TO = 9_000
PEER_UP_TO = 3_000
COSTS = tuple(2.0**e for e in (-5, -1, 3, 8))


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a size, kernel, C and contestant; ordstat's certified gap at both tolerances."""
    rows: list[dict[str, object]] = []
    for N, K in SIZES[:3] if quick else SIZES:
        for kernel in contestants.KERNELS:
            for C in COSTS:
                rows += _solve(N, K, kernel, C, 1 if N >= 3000 else 3)
    return rows


def _solve(N: int, K: int, kernel: str, C: float, n_rounds: int) -> list[dict[str, object]]:
    X, y = smooth_utility(N, K)
    field: list[Contestant] = [contestants.ordstat_redsvm(X, y, kernel, C, tol) for tol in (1e-3, 1e-6)]
    if N * (K - 1) <= EXTENDED_UP_TO:
        field.append(contestants.extended_svc(X, y, kernel, C))
    if N <= PEER_UP_TO:
        field.append(contestants.skordinal_redsvm(X, y, kernel, C))
    taken = rounds(field, n_rounds)
    gaps = {c.name: c.call().certificate.value for c in field if c.name.startswith("ordstat")}  # type: ignore[attr-defined]
    return [
        {
            "N": N, "K": K, "kernel": kernel, "C": C, "contestant": name, "rounds": n_rounds,
            "seconds": sorted(seconds)[len(seconds) // 2],
            "over ordstat 0.001": ratio(taken, name, "ordstat 0.001"),
            "over ordstat 1e-06": ratio(taken, name, "ordstat 1e-06"),
            "certified gap": gaps.get(name, float("nan")),
        }
        for name, seconds in taken.items()
    ]  # fmt: skip


def selection(quick: bool = False) -> list[dict[str, object]]:
    """C="cv": 11 values of C x 5 folds and the final fit = 56 solves, on one thread."""
    rows: list[dict[str, object]] = []
    for N in (1000,) if quick else (1000, 3000, 6000):
        X, y = smooth_utility(N, 10)
        sample = Sample(rows=Rows(X=X), y=y, n_levels=10)
        timed = Timed("ordstat", lambda sample=sample: REDSVM(C="cv").fit(sample, np.random.default_rng(0)))
        rows.append({"N": N, "K": 10, "solves": 56, "contestant": "ordstat", "seconds": timed.seconds(1)})
    return rows
