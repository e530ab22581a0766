"""Survey designs: a fit with its linearised errors against the same fit with the
model's, from formula to errors.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.data import cumulative_logit
from benchmarks.timing import Contestant, Timed, ratio, rounds

UNITS = 1000
STRATA = 50


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a size and covariance: median seconds, and the ratio to the model-based
    call of the same round.
    """
    rows: list[dict[str, object]] = []
    for n, p in (
        ((20_000, 5),) if quick else ((100_000, 10), (1_000_000, 5), (1_000_000, 10))
    ):
        taken = rounds(_calls(_sampled(n, p), p), 5, tries=2)
        rows += [
            {"n": n, "p": p, "covariance": name, "seconds": float(np.median(seconds)),
             "over model": ratio(taken, name, "model")}
            for name, seconds in taken.items()
        ]  # fmt: skip
    return rows


def _calls(frame: pd.DataFrame, p: int) -> list[Contestant]:
    from ordstat import SurveyDesign, ordfit

    design = SurveyDesign(weights="w", strata="stratum", clusters="psu")
    formula = "y ~ " + " + ".join(f"x{j}" for j in range(1, p + 1))
    return [
        Timed("model", lambda: ordfit(formula, frame, weights="w").se),
        Timed("survey", lambda: ordfit(formula, frame, design=design).se),
    ]


def _sampled(n: int, p: int) -> pd.DataFrame:
    """Rows of a cumulative logit model in units within strata, with whole weights."""
    rng = np.random.default_rng(0)
    psu = rng.integers(0, UNITS, n)
    return cumulative_logit(n, p, 5).assign(
        psu=psu, stratum=psu % STRATA, w=rng.integers(1, 6, n).astype(float)
    )
