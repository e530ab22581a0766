"""Gradient boosting of ranks against LightGBM, if installed, and scikit-learn's
histogram boosting.

What it should reach: 500 rounds of depth 3 on 1e5 rows x 20 columns with 10 levels in
1.2 times the time of one regression model of LightGBM and a fifth of its multiclass
model's and of one model a threshold, on one thread; predictions of 1e6 rows as fast as
a regression model's; two threads 1.6 times as fast as one. Seconds are of the
processor. With two threads these are of the thread that waits for the other one, which
is what a clock would show where nobody else is at work.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from benchmarks.contestants.svm import OnProcessor
from benchmarks.data import smooth_utility
from benchmarks.timing import Contestant, Timed, ratio, rounds
from ordstat import OrdinalBoosting
from ordstat.compiled.boost import parts_of
from ordstat.formula.sample import Rows, Sample
from ordstat.prediction.rounds import Booster
from ordstat.threads import Team, team_of

N = 100_000
D = 20
K = 10
T = 500
_NEW = 1_000_000
_PLAIN: dict[str, Any] = {"depth": 3, "linear_start": False}
_FAIR = {
    "learning_rate": 0.05,
    "max_depth": 3,
    "num_leaves": 8,
    "max_bin": 127,
    "min_data_in_leaf": 5,
    "lambda_l2": 1.0,
    "num_threads": 1,
    "verbosity": -1,
}
_DRAWN = {"bagging_fraction": 0.7, "bagging_freq": 1, "feature_fraction": 0.6}


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a contestant: the fastest of some rounds, and the median ratio to the
    first regression of its field.
    """
    n, made, new = (20_000, 50, 100_000) if quick else (N, T, _NEW)
    X, y = smooth_utility(n, K, D)
    sample = Sample(rows=Rows(X=X), y=y, n_levels=K)
    method = OrdinalBoosting(rounds=made, **_PLAIN)
    whole = replace(method, subsample=1.0, column_share=1.0)
    peers, trained = _peers(X, y, made)
    Z = smooth_utility(new, K, D)[0]
    fitted = method.fit(sample, np.random.default_rng(0)).trees
    fits: list[Contestant] = [
        *peers,
        OnProcessor("ordboost", lambda: method.fit(sample, np.random.default_rng(0))),
        OnProcessor(
            "ordboost, all rows", lambda: whole.fit(sample, np.random.default_rng(0))
        ),
    ]
    predictions: list[Contestant] = [
        OnProcessor(f"predictions of {name}", _of(one, Z)) for name, one in trained
    ]
    predictions.append(
        OnProcessor("predictions of ordboost", lambda: fitted(Rows(X=Z)))
    )
    shown: list[dict[str, object]] = []
    for field, rows, times in ((fits, n, 1 if made == T else 3), (predictions, new, 3)):
        taken = rounds(field, times)
        shown += [
            {
                "contestant": c.name,
                "rows": rows,
                "rounds": made,
                "seconds": min(taken[c.name]),
                "over the first": ratio(taken, c.name, field[0].name),
            }
            for c in field
        ]
    shown += _threads(sample, method, whole)
    return shown + _memory(sample)


def _peers(
    X: np.ndarray, y: np.ndarray, made: int
) -> tuple[list[Contestant], list[tuple[str, Any]]]:
    """Fits of other packages, and the regression models to predict with."""
    plain = HistGradientBoostingRegressor(
        max_iter=made, max_depth=3, learning_rate=0.05, early_stopping=False
    )
    peers: list[Contestant] = [
        OnProcessor("scikit-learn's regression", lambda: plain.fit(X, y))
    ]
    trained: list[tuple[str, Any]] = [("scikit-learn's regression", plain.fit(X, y))]
    if find_spec("lightgbm") is None:
        return peers, trained
    import lightgbm as lgb

    def model(codes: np.ndarray = y, **more: Any) -> Any:
        data = lgb.Dataset(X, codes, params={"verbosity": -1, "max_bin": 127})
        return lgb.train(_FAIR | {"objective": "regression"} | more, data, made)

    def thresholds() -> list[Any]:
        return [
            model((y > k).astype(np.intp), objective="binary") for k in range(K - 1)
        ]

    ours: list[Contestant] = [
        OnProcessor("LightGBM's regression", model),
        OnProcessor(
            "LightGBM's regression, 70 % of the rows, 60 % of the columns",
            lambda: model(**_DRAWN),
        ),
        OnProcessor(
            "LightGBM multiclass", lambda: model(objective="multiclass", num_class=K)
        ),
        OnProcessor("LightGBM per threshold", thresholds),
    ]
    return ours + peers, [("LightGBM's regression", model()), *trained]


def _of(model: Any, Z: np.ndarray) -> Callable[[], object]:
    """Predictions on one thread."""
    return lambda: (
        model.predict(Z, num_threads=1)
        if hasattr(model, "num_trees")
        else model.predict(Z)
    )


def _booster(
    method: OrdinalBoosting, sample: Sample, team: Team | None = None
) -> Booster:
    """Before its first round."""
    training = method._training(sample)
    weights = training.data.weights
    start = training.constant(weights)
    settings = method.settings(training, 3)
    return training.booster(settings, start, weights, np.random.default_rng(0), team)


def _threads(sample: Sample, *methods: OrdinalBoosting) -> list[dict[str, object]]:
    """Ten rounds on one thread, and on two."""
    shown: list[dict[str, object]] = []
    with team_of(2) as team:
        for method in methods:
            names = ("one thread", "two threads")
            pair = [
                _booster(method, sample, team_of_fit) for team_of_fit in (None, team)
            ]

            def ten(booster: Booster) -> None:
                for _ in range(10):
                    booster.add()

            field: list[Contestant] = [
                Timed(
                    f"{name}, {method.subsample:.0%} of the rows",
                    lambda b=b: ten(b),
                    clock=time.thread_time,
                )
                for name, b in zip(names, pair, strict=True)
            ]
            taken = rounds(field, 12)
            made = min(booster.made for booster in pair)
            if pair[0].losses[:made] != pair[1].losses[:made]:
                raise AssertionError("one thread and two came to different losses")
            shown += [
                {
                    "contestant": c.name,
                    "rows": sample.n,
                    "rounds": 10,
                    "seconds": min(taken[c.name]),
                    "over the first": min(taken[c.name]) / min(taken[field[0].name]),
                }
                for c in field
            ]
    return shown


def _memory(sample: Sample) -> list[dict[str, object]]:
    """Bytes besides the sample, divided by those of the bins: for ten rounds, and for a
    whole fit.
    """
    method = OrdinalBoosting(rounds=10, **_PLAIN)
    bins = float(sample.n * sample.X.shape[1])
    method.fit(sample.take(np.arange(1000)), np.random.default_rng(0))  # late imports
    tracemalloc.start()
    booster = _booster(method, sample)
    tracemalloc.reset_peak()
    for _ in range(10):
        booster.add()
    rounds_alone = (tracemalloc.get_traced_memory()[1] + _compiled(booster)) / bins
    del booster
    tracemalloc.reset_peak()
    method.fit(sample, np.random.default_rng(0))
    whole = max(rounds_alone, tracemalloc.get_traced_memory()[1] / bins)
    tracemalloc.stop()
    return [
        {"contestant": name, "rows": sample.n, "rounds": 10, "memory over bins": share}
        for name, share in (
            ("memory of ten rounds", rounds_alone),
            ("memory of a whole fit", whole),
        )
    ]


def _compiled(booster: Booster) -> float:
    """Bytes of the compiled loop: histograms of four numbers a bin at 4 nodes, of each
    further part at 2; blocks.
    """
    columns = len(booster._drawn_columns())
    parts = parts_of(booster.scores.size)
    widest = int((booster.data.bins.counts + booster.data.bins.gaps).max())
    return float(
        columns * widest * 32 * (4 + 2 * (parts - 1)) + parts * 512 * (8 * 8 + 8)
    )
