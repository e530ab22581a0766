"""Nominal and scale effects, and a link with a parameter, against R's clm; nominal_test
and separation alone.

Seconds are of the processor: both work in one thread, and others on the machine do not
count.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.contestants import r_clm
from benchmarks.data import cumulative_logit, with_factors
from benchmarks.timing import Timed, ratio, rounds

FORMULA = "y ~ x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9"
#: R takes a quarter of a minute for the link at this size, and minutes beyond.
FLEXIBLE_UP_TO = 20_000


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a size, model and contestant: median seconds of the processor, and the
    ratio to ordstat.
    """
    rows: list[dict[str, object]] = []
    for n, n_rounds in ((2_000, 3),) if quick else ((20_000, 5), (100_000, 3)):
        frame = with_factors(n)
        for model in (
            "nominal",
            "scale",
            *(["flexible"] if n <= FLEXIBLE_UP_TO else []),
        ):
            rows += _against_r(frame, model, n_rounds if model != "flexible" else 2)
    return [*rows, *_alone(quick)]


def _against_r(
    frame: pd.DataFrame, model: str, n_rounds: int
) -> list[dict[str, object]]:
    clm = r_clm.contestants(frame, (model,), processor=True)
    taken = rounds(
        [_ordstat(frame, model), *clm], n_rounds, tries=2 if model != "flexible" else 1
    )
    r_clm.close(clm)
    return [
        {
            "n": len(frame),
            "model": model,
            "contestant": name,
            "seconds": sorted(seconds)[len(seconds) // 2],
            "over ordstat": ratio(taken, name, "ordstat"),
        }
        for name, seconds in taken.items()
    ]


def _ordstat(frame: pd.DataFrame, model: str) -> Timed:
    """Formula, frame, fit and standard errors."""
    from ordstat import ordfit

    options = {
        "nominal": {"nominal": "~ x10"},
        "scale": {"scale": "~ x9"},
        "flexible": {"link": "aranda-ordaz"},
    }
    factors = frame.astype({"x9": "category", "x10": "category"})
    return Timed(
        "ordstat",
        lambda: ordfit(FORMULA, factors, **options[model]).se,
        clock=time.process_time,
    )


def _alone(quick: bool) -> list[dict[str, object]]:
    """Seconds of what has no rival: tests of ten terms for nominal effects, and the
    naming of separation.
    """
    from ordstat import ordfit

    n = 2_000 if quick else 20_000
    fit = ordfit(
        FORMULA + " + x10",
        with_factors(n).astype({"x9": "category", "x10": "category"}),
    )
    separated = cumulative_logit(n // 2, 80, 5)
    separated["x1"] = separated["y"] - 3.0 + 0.1 * separated["x1"]
    jobs: list[tuple[int, str, Callable[[], object]]] = [
        (n, "nominal_test, 10 terms", fit.nominal_test),
        (n // 2, "separation, 80 columns", lambda: _separated(separated)),
    ]
    rows: list[dict[str, object]] = []
    for size, name, job in jobs:
        seconds = float(
            np.median(rounds([Timed(name, job, clock=time.process_time)], 3)[name])
        )
        rows.append(
            {
                "n": size,
                "model": name,
                "contestant": "ordstat",
                "seconds": seconds,
                "over ordstat": 1.0,
            }
        )
    return rows


def _separated(frame: pd.DataFrame) -> None:
    import warnings

    from ordstat import ordfit

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        ordfit("y ~ " + " + ".join(frame.columns.drop("y")), frame)
    assert any("separat" in str(one.message) for one in heard), (
        "the separation was not named"
    )
