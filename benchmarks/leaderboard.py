"""`python -m benchmarks leaderboard`: who predicts public ordinal data best, on fresh random splits.

The data are tables `ordinal/<name>.parquet` and `quantised/<name>.parquet` with a column `rank`, in the folder that the
variable ORDSTAT_BENCHMARKS names. Every result goes into `results/leaderboard.csv` at once, and a run goes on where the
last one was interrupted; delete the file to measure anew. Errors are those of the
medians of the predicted distributions.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.reproduce.data import FOLDER
from ordstat import REDSVM, Blend, KernelCumulativeLink, OrdinalBoosting, RPSForest
from ordstat.methods.shared.members import fitted_member
from ordstat.model.sample import Rows, Sample

#: Folder and rows of the training part; None for 70 % of them, stratified.
SETS: dict[str, tuple[str, int | None]] = {
    **dict.fromkeys(("ERA", "balance-scale", "car", "tae", "toy", "winequality-red"), ("ordinal", None)),
    "machinecpu": ("quantised", 150),
    "autompg": ("quantised", 200),
    "boston": ("quantised", 300),
    "stocks": ("quantised", 600),
    "abalone": ("quantised", 1000),
}
RESULTS = Path(__file__).parent / "results" / "leaderboard.csv"
#: From training X, y, K, the test X and a seed to P(y > k) of the test rows.
Predictor = Callable[[np.ndarray, np.ndarray, int, np.ndarray, int], np.ndarray]


def ours(method: Any) -> Predictor:
    """A method of ordstat, calibrated where it has no probabilities."""

    def predict(X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int) -> np.ndarray:
        sample = Sample(rows=Rows(X=X), y=y, n_levels=K)
        return fitted_member(method, sample, np.random.default_rng(seed))(Rows(X=new))

    return predict


def per_threshold(X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int) -> np.ndarray:
    """scikit-learn's histogram boosting, one model a threshold, rounds by a fifth of the rows held out."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    above = np.empty((len(new), K - 1))
    for k in range(K - 1):
        z = y > k
        stops = min(np.bincount(z)) >= 10
        model = HistGradientBoostingClassifier(
            learning_rate=0.05, max_depth=3, max_iter=1000 if stops else 100, min_samples_leaf=5,
            early_stopping=stops, validation_fraction=0.2, n_iter_no_change=50, random_state=seed,
        )  # fmt: skip
        above[:, k] = model.fit(X, z).predict_proba(new)[:, 1]
    return -np.sort(-above, axis=1)


def random_forest(X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int) -> np.ndarray:
    """scikit-learn's classifier of 300 trees."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(n_estimators=300, random_state=seed).fit(X, y)
    p = np.zeros((len(new), K))
    p[:, model.classes_] = model.predict_proba(new)
    return 1.0 - np.cumsum(p, axis=1)[:, :-1]


CONTESTANTS: dict[str, Predictor] = {
    "blend": ours(Blend()),
    "ordboost": ours(OrdinalBoosting()),
    "rps-forest": ours(RPSForest()),
    "kernel-clm": ours(KernelCumulativeLink()),
    "redsvm, C by CV": ours(REDSVM(C="cv")),
    "HistGradientBoosting per threshold": per_threshold,
    "random forest": random_forest,
}


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X, its text as 0/1 columns, and codes."""
    frame = pd.read_parquet(FOLDER / SETS[name][0] / f"{name}.parquet")
    codes = frame["rank"].to_numpy(dtype=np.intp)
    extra = [c for c in ("y", "rank", "rank_tied", "part", "freq", "target") if c in frame]
    X = pd.get_dummies(frame.drop(columns=extra), drop_first=False)
    return np.ascontiguousarray(X.to_numpy(dtype=np.float64)), codes - codes.min()


def parts(y: np.ndarray, n_train: int | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows."""
    from sklearn.model_selection import train_test_split

    rows = np.arange(y.size)
    if n_train is None:
        train, test = train_test_split(rows, train_size=0.7, stratify=y, random_state=seed)
    else:
        train, test = train_test_split(rows, train_size=n_train, random_state=seed)
    return train, test


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a contestant: mean ranks of its errors over the sets, then the errors."""
    done = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=["set", "split", "contestant"])
    known = set(zip(done["set"], done["split"], done["contestant"], strict=True))
    for split in range(1 if quick else 4):
        for name in SETS:
            for contestant, predict in CONTESTANTS.items():
                if (name, split, contestant) not in known:
                    one = {"set": name, "split": split, "contestant": contestant, **judged(name, split, predict)}
                    pd.DataFrame([one]).to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False)
    return summary(pd.read_csv(RESULTS))


def judged(name: str, split: int, predict: Predictor) -> dict[str, float]:
    """Errors of one contestant on one split."""
    X, y = table(name)
    train, test = parts(y, SETS[name][1], 1000 + split)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        above = predict(X[train], y[train], int(y.max()) + 1, X[test], split)
    truth = y[test, None] > np.arange(above.shape[1])
    distance = np.abs((above > 0.5).sum(axis=1) - y[test])
    p = -np.diff(np.hstack([np.ones((len(test), 1)), above, np.zeros((len(test), 1))]), axis=1)
    return {
        "mae": float(distance.mean()),
        "error": float((distance > 0).mean()),
        "rps": float(np.square(above - truth).sum(axis=1).mean()),
        "log_loss": float(-np.log(np.maximum(p[np.arange(len(test)), y[test]], 1e-6)).mean()),
        "seconds": time.process_time() - begun,
    }


def summary(results: pd.DataFrame) -> list[dict[str, object]]:
    """Mean rank over the sets of every error, smallest first, and the mean errors of every set.

    Splits that are not complete wait.
    """
    results = results.groupby(["set", "split"]).filter(lambda split: len(split) == len(CONTESTANTS))
    means = results.groupby(["set", "contestant"])[["mae", "error", "rps", "log_loss", "seconds"]].mean()
    ranks = means[["mae", "error", "rps", "log_loss"]].groupby("set").rank().groupby("contestant").mean()
    wide = means["mae"].unstack("set").add_prefix("MAE ")
    frame = ranks.add_suffix(" rank").join(means["seconds"].groupby("contestant").sum()).join(wide)
    rows = frame.sort_values("mae rank").reset_index().to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]
