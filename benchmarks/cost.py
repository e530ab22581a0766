"""What a fitted predictor costs: seconds of the fit, bytes, memory, one row, many rows;
`blend` and its members against LightGBM with one model a threshold.

The sets are those of TOC-UCO in the folder that the variable ORDSTAT_BENCHMARKS names,
the training rows of the first split, and made-up rows. Fits go through `ordfit` and
predictions through `predict(type="prob")` on frames; LightGBM takes arrays. Seconds are
of the processor, with one thread.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.rivals import boosted
from benchmarks.tocuco import parts, table
from ordstat import ordfit

SETS = ("oc05_lev", "oc05_winequalityred", "oc04_car", "synthetic")
_ROWS = 8000
_COLUMNS = 20
_LEVELS = 5
#: Rows whose predictions are timed, and repeats of the prediction of one row.
_MANY = 20_000
_REPEATS = 100
#: Fits whose median is shown; no further one begins after so many seconds.
_FITS = 3
_LONG = 5.0
#: Models that are loaded to measure their memory.
_COPIES = 10
_MEGABYTE = 1e6
#: Ratios over those of the searched LightGBM of the same set.
_BASE = "LightGBM per threshold"
_COSTS = ("fit s", "pickled MB", "loaded MB", "one row ms", "1e6 rows s")


class Data(NamedTuple):
    """Columns X (N, D) and codes y (N,)."""

    X: np.ndarray
    y: np.ndarray

    @property
    def frame(self) -> pd.DataFrame:
        """The columns x0, x1, ... and y."""
        names = [f"x{d}" for d in range(self.X.shape[1])]
        return pd.DataFrame(self.X, columns=names).assign(y=self.y)


def data(name: str) -> Data:
    """Training rows of a set."""
    if name != "synthetic":
        X, y = table(name)
        train, _ = parts(y, 0)
        return Data(X[train], y[train])
    rng = np.random.default_rng(0)
    X = rng.standard_normal((_ROWS, _COLUMNS))
    H = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2.0 * X[:, 3])
    H = H + rng.standard_normal(_ROWS)
    cuts = np.quantile(H, np.arange(1, _LEVELS) / _LEVELS)
    return Data(X, np.searchsorted(cuts, H).astype(np.intp))


class Contestant(NamedTuple):
    """From data to a model, and from a model and columns to probabilities."""

    fit: Callable[[Data], Any]
    predict: Callable[[Any, Any], Any]
    takes_frames: bool


def _ours(method: str, **options: Any) -> Contestant:
    def fit(rows: Data) -> Any:
        return ordfit("y ~ .", rows.frame, method, seed=0, **options)

    return Contestant(fit, lambda model, new: model.predict(new, type="prob"), True)


def _questions(rows: Data) -> list[np.ndarray]:
    return [(rows.y > k).astype(np.intp) for k in range(int(rows.y.max()))]


def _searched(rows: Data) -> Any:
    return [boosted(rows.X, z, 0, objective="binary")[0] for z in _questions(rows)]


def _plain(rows: Data) -> Any:
    from lightgbm import LGBMClassifier

    settings: dict[str, Any] = {"random_state": 0, "n_jobs": 1, "verbosity": -1}
    return [
        LGBMClassifier(**settings).fit(rows.X, z).booster_ for z in _questions(rows)
    ]


def _answers(models: Any, new: np.ndarray) -> Any:
    return [model.predict(new, num_threads=1) for model in models]


CONTESTANTS = {
    _BASE: Contestant(_searched, _answers, False),
    "LightGBM per threshold, defaults": Contestant(_plain, _answers, False),
    "blend": _ours("blend"),
    "ordboost": _ours("ordboost"),
    "rps-forest": _ours("rps-forest"),
    "kernel-clm": _ours("kernel-clm"),
    "redsvm, calibrated": _ours("redsvm", C="cv", calibrate=True),
}


def _resident() -> float:
    """Megabytes of memory of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE


def _peak() -> float:
    """Largest memory so far, in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1.0 if sys.platform == "darwin" else 1024.0) / _MEGABYTE


def _alone(task: Callable[..., Any], *arguments: Any) -> Any:
    """The answer of a process of its own, so that memory is that of the task."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(task, arguments)


def fitted(name: str, contestant: str) -> tuple[dict[str, float], bytes]:
    """Seconds and memory of a fit, the second in a process, and its pickle."""
    one = CONTESTANTS[contestant]
    rows = data(name)
    some = np.sort(np.random.default_rng(0).choice(rows.y.size, 150, replace=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one.fit(Data(rows.X[some], rows.y[some]))  # imports
        before = _peak()
        times: list[float] = []
        peak = before
        while len(times) < _FITS and sum(times) < _LONG:
            start = time.process_time()
            model = one.fit(rows)
            times.append(time.process_time() - start)
            peak = peak if len(times) > 1 else _peak()
    stored = pickle.dumps(model)
    costs = {
        "fit s": statistics.median(times),
        "fit peak MB": peak - before,
        "pickled MB": len(stored) / _MEGABYTE,
    }
    return costs, stored


def predicted(name: str, contestant: str, stored: bytes) -> dict[str, float]:
    """Memory of a loaded model after a prediction, and seconds of predictions."""
    one = CONTESTANTS[contestant]
    rows = data(name)
    some = np.random.default_rng(1).integers(rows.y.size, size=_MANY)
    many: Any = Data(rows.X[some], rows.y[some])
    many = many.frame.drop(columns="y") if one.takes_frames else many.X
    first = many[:1]
    model = pickle.loads(stored)
    one.predict(model, first)  # imports
    before = _resident()
    copies = [pickle.loads(stored) for _ in range(_COPIES)]
    for copy in copies:
        one.predict(copy, first)
    loaded = (_resident() - before) / _COPIES
    times = []
    for _ in range(_REPEATS):
        start = time.process_time()
        one.predict(model, first)
        times.append(time.process_time() - start)
    start = time.process_time()
    one.predict(model, many)
    seconds = time.process_time() - start
    return {
        "loaded MB": loaded,
        "one row ms": 1e3 * statistics.median(times),
        "1e6 rows s": seconds * 1e6 / _MANY,
    }


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a set and contestant, with its costs and "x" their ratios over those of
    LightGBM per threshold with searched rounds.
    """
    shown: list[dict[str, object]] = []
    for name in SETS[: 1 if quick else None]:
        base: dict[str, float] = {}
        for contestant in CONTESTANTS:
            costs, stored = _alone(fitted, name, contestant)
            costs |= _alone(predicted, name, contestant, stored)
            base = base or costs
            ratios = {f"{c} x": costs[c] / max(base[c], 1e-9) for c in _COSTS}
            shown.append({"set": name, "contestant": contestant, **costs, **ratios})
            print(shown[-1], file=sys.stderr, flush=True)
    return shown
