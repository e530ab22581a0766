"""Paired rounds: every contestant once a round, in turn, so that ratios hold while the
machine drifts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol


class Contestant(Protocol):
    """One way to do the job."""

    name: str

    def seconds(self, repeats: int) -> float:
        """Mean seconds of one call, over `repeats` calls in a row."""


@dataclass
class Timed:
    """A Python callable as a contestant; by `time.process_time` its seconds are of the
    processor.
    """

    name: str
    call: Callable[[], object]
    clock: Callable[[], float] = field(default=time.perf_counter, kw_only=True)

    def seconds(self, repeats: int) -> float:
        start = self.clock()
        for _ in range(repeats):
            self.call()
        return (self.clock() - start) / repeats


def rounds(
    contestants: list[Contestant], n_rounds: int, at_least: float = 0.02, tries: int = 1
) -> dict[str, list[float]]:
    """Seconds of each contestant in each round, after one warm-up; short calls are
    repeated to fill `at_least`.

    The fastest of `tries` in a row counts: while others run for long, a virtual machine
    may take back free memory, and whoever touches it first would pay for that (0.8 s
    for 400 MB were seen).
    """
    first = {c.name: c.seconds(1) for c in contestants}
    repeats = {
        name: max(1, min(50, int(at_least / max(s, 1e-6)))) for name, s in first.items()
    }
    taken: dict[str, list[float]] = {c.name: [] for c in contestants}
    for _ in range(n_rounds):
        for c in contestants:
            taken[c.name].append(min(c.seconds(repeats[c.name]) for _ in range(tries)))
    return taken


def ratio(taken: dict[str, list[float]], name: str, base: str) -> float:
    """Median over rounds of seconds(name) / seconds(base)."""
    return median(a / b for a, b in zip(taken[name], taken[base], strict=True))
