"""Cumulative logit: whole call and fit alone against R, statsmodels, skordinal and the arithmetic limit."""

from __future__ import annotations

from benchmarks.contestants import python_clm as py
from benchmarks.contestants import r_clm
from benchmarks.data import cumulative_logit
from benchmarks.timing import Contestant, ratio, rounds

#: (n, p, K, rounds)
SIZES = ((72, 2, 5, 7), (1_000, 10, 5, 7), (10_000, 10, 5, 5), (100_000, 10, 5, 5), (100_000, 50, 5, 3),
         (100_000, 10, 50, 3), (1_000_000, 10, 5, 3), (1_000_000, 50, 5, 2))  # fmt: skip
QUICK = SIZES[:3]
#: Peers that would take minutes are left out above these sizes (n * p).
STATSMODELS_UP_TO = 100_000
R_UP_TO = 50_000_000


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a size and contestant: median seconds, and ratios to the limit, to ordstat and to ordstat's fit."""
    rows: list[dict[str, object]] = []
    with_r = r_clm.available()
    if not with_r:
        print("Rscript with the package ordinal is not here: R's columns are left out.")
    for n, p, K, n_rounds in QUICK if quick else SIZES:
        rows += _size(n, p, K, n_rounds, with_r)
    return rows


def _size(n: int, p: int, K: int, n_rounds: int, with_r: bool) -> list[dict[str, object]]:
    frame = cumulative_logit(n, p, K)
    clm = r_clm.contestants(frame) if with_r and n * p <= R_UP_TO else []
    field: list[Contestant] = [py.limit(frame), py.ordstat_call(frame), py.ordstat_fit(frame), py.skordinal_pom(frame)]
    if n * p <= STATSMODELS_UP_TO:
        field.append(py.statsmodels_bfgs(frame))
    taken = rounds([*field, *clm], n_rounds)
    r_clm.close(clm)
    return [
        {
            "n": n, "p": p, "K": K, "contestant": name, "rounds": n_rounds,
            "seconds": sorted(seconds)[len(seconds) // 2],
            "over limit": ratio(taken, name, "limit"),
            "over ordstat": ratio(taken, name, "ordstat"),
            "over ordstat fit": ratio(taken, name, "ordstat fit"),
        }
        for name, seconds in taken.items()
    ]  # fmt: skip
