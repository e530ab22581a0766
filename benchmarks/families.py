"""Families of the likelihood beside R: ordinal for cumulative models, VGAM for the
others, nnet for the multinomial logit.

Whole calls from frame to standard errors, of rrvglm to estimates; every column has one
effect, but those of the multinomial logit. Seconds are of the processor.
"""

from __future__ import annotations

import time
from dataclasses import replace
from statistics import median

from benchmarks.contestants import python_clm as py
from benchmarks.contestants import r_clm
from benchmarks.data import cumulative_logit
from benchmarks.timing import ratio, rounds

#: Methods -> calls of R that fit the same model.
RIVALS: dict[str, tuple[str, ...]] = {
    "clm": ("clm", "vglm"),
    "cratio": ("cratio",),
    "sratio": ("sratio",),
    "acat": ("acat",),
    "multinomial": ("multinomial", "multinom"),
    "stereotype": ("rrvglm",),
}
_COLUMNS = 10
_LEVELS = 5
#: Rows -> rounds.
SIZES = {10_000: 5, 100_000: 3}


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a size, method and rival: median seconds, and the median ratio."""
    calls = [call for rivals in RIVALS.values() for call in rivals]
    packages = sorted({r_clm.PACKAGES[call] for call in calls})
    missing = [package for package in packages if not r_clm.has(package)]
    if missing:
        named = ", ".join(missing)
        print(f"Rscript with the packages {named} is not here: they have no rows.")
    sizes = list(SIZES)[:1] if quick else list(SIZES)
    return [row for n in sizes for row in _size(n)]


def _size(n: int) -> list[dict[str, object]]:
    frame = cumulative_logit(n, _COLUMNS, _LEVELS)
    rows: list[dict[str, object]] = []
    for method, calls in RIVALS.items():
        call = py.ordstat_call(frame, "logit" if method == "clm" else method)
        own = replace(call, clock=time.process_time)
        rivals = r_clm.contestants(frame, calls, processor=True)
        taken = rounds([own, *rivals], SIZES[n])
        r_clm.close(rivals)
        ours = {"n": n, "method": method, "ordstat": median(taken["ordstat"])}
        for rival in rivals:
            beside = {
                "rival": f"{r_clm.PACKAGES[rival.call]}::{rival.call}",
                "R": median(taken[rival.name]),
                "over ordstat": ratio(taken, rival.name, "ordstat"),
            }
            rows.append({**ours, **beside})
        if not rivals:
            rows.append(ours)
    return rows
