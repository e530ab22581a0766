"""Random effects: the whole call with standard errors against R's clmm by the faster of
its two routes.

Processor seconds of one thread, both in the same run; R's clmm takes minutes from 1e5
rows on.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.contestants import r_clm
from ordstat import datasets, ordfit

SCRIPT = Path(__file__).parent / "contestants" / "clmm.R"
SOUP = (
    Path(__file__).parents[1] / "tests" / "golden" / "reference" / "data" / "soup.csv"
)
FIXED = "y ~ x1 + x2 + x3 + "


@dataclass(frozen=True)
class Case:
    """A model and its data; `routes` of R that are not out of reach."""

    name: str
    formula: str
    frame: Callable[[], pd.DataFrame]
    routes: str = "both"
    quick: bool = True


def ratings(n: int, groups: int, kind: str = "", others: int = 0) -> pd.DataFrame:
    """Five levels of a latent score of three columns and effects of groups g, and h
    crossed with or above them.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    g = rng.integers(0, groups, n)
    score = X @ [1.0, 0.25, -0.5] + rng.standard_normal(groups)[g]
    frame = pd.DataFrame(X, columns=["x1", "x2", "x3"]).assign(g=pd.Categorical(g))
    if kind == "slope":
        score += 0.5 * rng.standard_normal(groups)[g] * X[:, 0]
    elif kind:
        h = rng.integers(0, others, n) if kind == "crossed" else g % others
        frame["h"] = pd.Categorical(h)
        score += 0.7 * rng.standard_normal(others)[h]
    latent = score + rng.logistic(size=n)
    codes = np.digitize(latent, np.quantile(latent, [0.2, 0.4, 0.6, 0.8]))
    return frame.assign(y=pd.Categorical(codes, ordered=True))


def _wine() -> pd.DataFrame:
    return datasets.load("wine").rename(columns={"rating": "y", "judge": "g"})


def _soup() -> pd.DataFrame:
    """1847 judgements by 185 respondents, as R's ordinal has them."""
    soup = pd.read_csv(SOUP)
    sureness = pd.Categorical(soup["SURENESS"], ordered=True)
    return pd.DataFrame(
        {"y": sureness, "PROD": soup["PROD"].astype(str), "g": soup["RESP"]}
    )


CASES = (
    Case("wine", "y ~ temp + contact + (1 | g)", _wine),
    Case("soup", "y ~ PROD + (1 | g)", _soup),
    Case("intercept 1e4", FIXED + "(1 | g)", lambda: ratings(10_000, 500), "matrices"),
    Case(
        "slope 1e4",
        FIXED + "(1 + x1 | g)",
        lambda: ratings(10_000, 500, "slope"),
        "matrices",
    ),
    Case(
        "nested 1e4",
        FIXED + "(1 | g) + (1 | h)",
        lambda: ratings(10_000, 500, "nested", 50),
        "matrices",
    ),
    Case(
        "crossed 200 x 200",
        FIXED + "(1 | g) + (1 | h)",
        lambda: ratings(10_000, 200, "crossed", 200),
        "matrices",
    ),
    Case(
        "intercept 1e5",
        FIXED + "(1 | g)",
        lambda: ratings(100_000, 5_000),
        "matrices",
        quick=False,
    ),
    Case(
        "crossed 2000 x 500",
        FIXED + "(1 | g) + (1 | h)",
        lambda: ratings(100_000, 2_000, "crossed", 500),
        "none",
        False,
    ),
    Case(
        "intercept 1e6",
        FIXED + "(1 | g)",
        lambda: ratings(1_000_000, 100_000),
        "none",
        False,
    ),
)


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a model: seconds, those of R, their ratio, and the difference of the
    log-likelihoods.
    """
    return [_row(case) for case in CASES if case.quick or not quick]


def _row(case: Case) -> dict[str, object]:
    frame = case.frame()
    tries = 30 if len(frame) < 2_000 else 5 if len(frame) <= 10_000 else 1
    taken, loglik = zip(*(_ours(case, frame) for _ in range(tries)), strict=True)
    rows = (
        list(_clmm(case, frame))
        if case.routes != "none" and r_clm.has("ordinal")
        else []
    )
    theirs, other = min(rows) if rows else (float("nan"), float("nan"))
    return {
        "model": case.name,
        "n": len(frame),
        "ordstat": min(taken),
        "R clmm": theirs,
        "over ordstat": theirs / min(taken),
        "log-likelihood above R's": loglik[0] - other,
    }


def _ours(case: Case, frame: pd.DataFrame) -> tuple[float, float]:
    start = time.process_time()
    fit = ordfit(case.formula, frame)
    fit.vcov()
    return time.process_time() - start, fit.loglik


def _clmm(case: Case, frame: pd.DataFrame) -> Iterator[tuple[float, float]]:
    """(seconds, log-likelihood) of each route."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        frame.to_csv(path, index=False)
        command = ["Rscript", str(SCRIPT), str(path), case.formula, case.routes]
        actual = subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout
    for line in actual.splitlines():
        seconds, loglik = map(float, line.split())
        yield seconds, loglik
