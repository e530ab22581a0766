"""Cumulative logit: whole call and fit alone against R, statsmodels, skordinal and the
arithmetic limit.
"""

from __future__ import annotations

from importlib.util import find_spec

from benchmarks.contestants import python_clm as py
from benchmarks.contestants import r_clm
from benchmarks.data import cumulative_logit
from benchmarks.timing import Contestant, ratio, rounds

#: (n, p, K, rounds)
SIZES = (
    (72, 2, 5, 9),
    (1_000, 10, 5, 9),
    (10_000, 10, 5, 5),
    (100_000, 10, 5, 5),
    (100_000, 50, 5, 3),
    (100_000, 10, 50, 3),
    (1_000_000, 10, 5, 3),
    (1_000_000, 50, 5, 2),
)
QUICK = SIZES[:3]
#: Peers that would take minutes are left out above these sizes (n * p).
STATSMODELS_UP_TO = 100_000
SLOW_R_UP_TO = 1_000_000


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a size and contestant: median seconds, and ratios to the limit, to
    ordstat and to ordstat's fit.
    """
    rows: list[dict[str, object]] = []
    if not r_clm.has("ordinal"):
        print("Rscript with the package ordinal is not here: R's rows are left out.")
    if not find_spec("skordinal"):
        print("skordinal is not installed: its rows are left out.")
    for n, p, K, n_rounds in QUICK if quick else SIZES:
        rows += _size(n, p, K, n_rounds)
    return rows


def _size(n: int, p: int, K: int, n_rounds: int) -> list[dict[str, object]]:
    frame = cumulative_logit(n, p, K)
    slow = ("polr", "orm", "vglm") if n * p <= SLOW_R_UP_TO and K <= 5 else ()
    clm = r_clm.contestants(frame, ("clm", "clm.fit", *slow))
    field: list[Contestant] = [
        py.limit(frame),
        py.ordstat_call(frame),
        py.ordstat_fit(frame),
    ]
    if find_spec("skordinal"):
        field.append(py.skordinal_pom(frame))
    if n * p <= STATSMODELS_UP_TO:
        field.append(py.statsmodels_bfgs(frame))
    taken = rounds([*field, *clm], n_rounds, tries=2)
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


def wine(quick: bool = False) -> list[dict[str, object]]:
    """The call of the first example, on the wine data: median seconds, and ratios to
    R's clm, without and with its standard errors.

    R's clock has steps of a millisecond: every round fills more than a tenth of a
    second.
    """
    n_rounds = 9 if quick else 25
    # the process of R needs some rows, which calls on the wine data do not use
    frame = cumulative_logit(*QUICK[0][:3])
    of_r = r_clm.contestants(frame, ("clm.wine", "clm.wine.errors"))
    taken = rounds([*py.ordstat_wine(), *of_r], n_rounds, at_least=1.0)
    r_clm.close(of_r)
    return [
        {"contestant": name, "rounds": n_rounds,
         "seconds": sorted(seconds)[n_rounds // 2]}
        | {f"over {each.name}": ratio(taken, name, each.name) for each in of_r}
        for name, seconds in taken.items()
    ]  # fmt: skip


def profiles(quick: bool = False) -> list[dict[str, object]]:
    """Profile-likelihood intervals of all location coefficients, the fit itself not
    counted.
    """
    rows: list[dict[str, object]] = []
    for n, p in ((1_000, 10),) if quick else ((1_000, 10), (10_000, 10)):
        frame = cumulative_logit(n, p, 5)
        clm = r_clm.contestants(frame, ("profile",))
        taken = rounds([py.ordstat_profiles(frame), *clm], 3)
        r_clm.close(clm)
        rows += [
            {"n": n, "p": p, "contestant": name, "seconds": sorted(seconds)[1],
             "over ordstat": ratio(taken, name, "ordstat profiles")}
            for name, seconds in taken.items()
        ]  # fmt: skip
    return rows
