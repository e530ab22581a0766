"""A continuous response with as many levels as rows, beside R's rms::orm.

`limit` is the time of one weighted product X'WX of the rows, which every step of
Newton's method needs. `censored` is the time with half the rows right-censored, in
units of the time without. Memory is the largest resident size of a process that
imports, fits and asks for all standard errors.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import tempfile
import time
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from ordstat import ordfit

#: Rows, columns, and whether orm is asked: it takes 270 s for 10,000 levels.
CASES = ((1_000, 5, True), (3_000, 5, True), (10_000, 5, False), (100_000, 20, False))
_ROUNDS = 5
_ORM = """
suppressMessages(library(rms))
frame <- read.csv(commandArgs(TRUE)[1])
seconds <- system.time(fit <- orm(y ~ ., data = frame))[["elapsed"]]
beta <- tail(coef(fit), ncol(frame) - 1)
cat(sprintf('{"seconds": %.4f, "loglik": %.12g, "beta": [%s]}', seconds,
            -fit$deviance[2] / 2, paste(sprintf("%.12g", beta), collapse = ", ")))
"""


def continuous(n: int, p: int, seed: int = 0) -> pd.DataFrame:
    """A linear score with logistic errors; every value of the response is another."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    slopes = 0.3 * rng.standard_normal(p)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    frame["y"] = X @ slopes + rng.logistic(size=n)
    return frame


def half_censored(frame: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    """The rows with the smaller of the response and a draw from its own values."""
    y = frame["y"].to_numpy()
    end = np.random.default_rng(seed).permutation(y)
    censored = frame.drop(columns="y")
    return censored.assign(time=np.minimum(y, end), event=(y <= end).astype(int))


def run(quick: bool = False) -> list[dict[str, object]]:
    """Seconds of the processor (medians) and megabytes of each case."""
    has_orm = shutil.which("Rscript") is not None
    rows: list[dict[str, object]] = []
    for n, p, asked in CASES[:3] if quick else CASES:
        frame = continuous(n, p)
        seconds = [_timed(partial(_fit, frame)) for _ in range(_ROUNDS)]
        limit = [_timed(partial(_gram, frame.to_numpy())) for _ in range(_ROUNDS)]
        censored = half_censored(frame)
        ratios = [
            _timed(partial(_fit_censored, censored)) / _timed(partial(_fit, frame))
            for _ in range(_ROUNDS)
        ]
        fit = ordfit("y ~ .", frame, levels="all")
        row: dict[str, object] = {
            "rows = levels": n,
            "columns": p,
            "ordstat": round(median(seconds), 3),
            "limit": round(median(limit), 4),
            "censored": round(median(ratios), 2),
            "MB": _megabytes(n, p),
        }
        if asked and has_orm:
            other = _orm(frame)
            row["orm"] = other["seconds"]
            row["log-likelihood less orm's"] = fit.loglik - other["loglik"]
            apart = np.abs(fit.coef.to_numpy() - other["beta"]) / fit.se[-p:].to_numpy()
            row["slopes apart, in errors"] = float(apart.max())
        rows.append(row)
    return rows


def _fit(frame: pd.DataFrame) -> pd.Series:
    return ordfit("y ~ .", frame, levels="all").se


def _fit_censored(frame: pd.DataFrame) -> pd.Series:
    return ordfit("Surv(time, event) ~ .", frame).se


def _gram(X: np.ndarray) -> np.ndarray:
    return X.T @ (X[:, :1] ** 2 * X)


def _timed(work: partial[object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _megabytes(n: int, p: int) -> float:
    """Largest resident size of a process of its own."""
    with get_context("spawn").Pool(1) as pool:
        return round(pool.apply(_peak, (n, p)))


def _peak(n: int, p: int) -> float:
    _fit(continuous(n, p))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _orm(frame: pd.DataFrame) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "orm.R"
        data = Path(folder) / "data.csv"
        script.write_text(_ORM)
        frame.to_csv(data, index=False)
        done = subprocess.run(
            ["Rscript", str(script), str(data)],
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(done.stdout)
