"""Gradient boosting of ranks beside scikit-learn's histogram boosting of the codes as numbers.

What it should reach: 500 rounds of depth 3 on 1e5 rows x 20 columns with 10 levels in 1.2 times the time of one
regression model, on one thread.
"""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor

from benchmarks.contestants.svm import OnProcessor
from benchmarks.data import smooth_utility
from benchmarks.timing import Contestant, ratio, rounds
from ordstat import OrdinalBoosting
from ordstat.model.sample import Rows, Sample

N, D, K, T = 100_000, 20, 10, 500
_PLAIN: dict[str, Any] = {"depth": 3, "linear_start": False}


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a contestant: the fastest of three rounds, and the median ratio to scikit-learn's regression."""
    n, made = (20_000, 50) if quick else (N, T)
    X, y = smooth_utility(n, K, D)
    sample = Sample(rows=Rows(X=X), y=y, n_levels=K)
    method = OrdinalBoosting(rounds=made, **_PLAIN)
    whole = replace(method, subsample=1.0, column_share=1.0)
    fitted = method.fit(sample, np.random.default_rng(0)).trees
    model = HistGradientBoostingRegressor(max_iter=made, max_depth=3, learning_rate=0.05, early_stopping=False)
    peer = clone(model).fit(X, y)
    fits: list[Contestant] = [
        OnProcessor("scikit-learn's regression", lambda: model.fit(X, y)),
        OnProcessor("ordboost", lambda: method.fit(sample, np.random.default_rng(0))),
        OnProcessor("ordboost, all rows and columns", lambda: whole.fit(sample, np.random.default_rng(0))),
    ]
    predictions: list[Contestant] = [
        OnProcessor("predictions of scikit-learn's regression", lambda: peer.predict(X)),
        OnProcessor("predictions of ordboost", lambda: fitted(sample.rows)),
    ]
    shown: list[dict[str, object]] = []
    for field in (fits, predictions):
        taken = rounds(field, 3)
        shown += [
            {"contestant": c.name, "rows": n, "rounds": made, "seconds": min(taken[c.name]),
             "over scikit-learn": ratio(taken, c.name, field[0].name), "memory over bins": float("nan")}
            for c in field
        ]  # fmt: skip
    shown[1]["memory over bins"] = _memory(sample) / float(n * D)
    return shown


def _memory(sample: Sample) -> float:
    """Bytes that ten rounds hold at most beside the sample: the bins, and all else."""
    method = OrdinalBoosting(rounds=10, **_PLAIN)
    tracemalloc.start()
    training = method._training(sample)
    tracemalloc.reset_peak()
    weights = training.data.weights
    start = training.constant(weights)
    booster = training.booster(method.settings(training, 3), start, weights, np.random.default_rng(0))
    for _ in range(10):
        booster.add()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A place of every row that a tree is given, in the compiled loop.
    return float(peak + 4.0 * method.subsample * sample.n)
