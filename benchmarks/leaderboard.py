"""`python -m benchmarks leaderboard`: who predicts public ordinal data best, on fresh
random splits.

The data are tables `ordinal/<name>.parquet` and `quantised/<name>.parquet` with a
column `rank`, in the folder that the variable ORDSTAT_BENCHMARKS names. Every result
goes into `results/leaderboard.csv` at once, and a run goes on where the last one was
interrupted; delete the file to measure anew. Errors are those of the medians of the
predicted distributions.
"""

from __future__ import annotations

import subprocess
import time
import warnings
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.reproduce.data import FOLDER
from benchmarks.rivals import RIVALS, Predictor
from ordstat import REDSVM, Blend, KernelCumulativeLink, OrdinalBoosting, RPSForest
from ordstat.formula.sample import Rows, Sample
from ordstat.prediction.blend import fitted_member

#: Folder and rows of the training part, None for 70 % of them, stratified; the quickest
#: first. Not here: repeated answers of the same judges (soup, wine), tables of counts,
#: and sets of fewer than 60 rows.
SETS: dict[str, tuple[str, int | None]] = {
    "pyrimidines": ("quantised", 50),
    "wisconsin": ("quantised", 130),
    "triazines": ("quantised", 100),
    "machinecpu": ("quantised", 150),
    "tae": ("ordinal", None),
    "autompg": ("quantised", 200),
    "boston": ("quantised", 300),
    "balance-scale": ("ordinal", None),
    "toy": ("ordinal", None),
    "ERA": ("ordinal", None),
    "stocks": ("quantised", 600),
    "winequality-red": ("ordinal", None),
    "abalone": ("quantised", 1000),
    "car": ("ordinal", None),
    "wvs_poverty": ("ordinal", None),
    "winequality-white": ("ordinal", None),
    "bank": ("quantised", 3000),
    "computer": ("quantised", 4000),
    "california": ("quantised", 5000),
    "census": ("quantised", 6000),
}
#: Seeds of the splits, not used for tuning.
_SEED = 5000
SPLITS = 4
RESULTS = Path(__file__).parent / "results" / "leaderboard.csv"
#: A rival that is far behind its like with searched rounds.
NOT_HERE = ("LightGBM per threshold, defaults",)


def ours(method: Any) -> Predictor:
    """A method of ordstat, calibrated where it has no probabilities."""

    def predict(
        X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int
    ) -> np.ndarray:
        sample = Sample(rows=Rows(X=X), y=y, n_levels=K)
        return fitted_member(method, sample, np.random.default_rng(seed))[0](
            Rows(X=new)
        )

    return predict


CONTESTANTS: dict[str, Predictor] = {
    "blend": ours(Blend()),
    "ordboost": ours(OrdinalBoosting()),
    "rps-forest": ours(RPSForest()),
    "kernel-clm": ours(KernelCumulativeLink()),
    "redsvm, C by CV": ours(REDSVM(C="cv")),
    **{name: one for name, one in RIVALS.items() if name not in NOT_HERE},
}


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X, its text as 0/1 columns, and codes."""
    frame = pd.read_parquet(FOLDER / SETS[name][0] / f"{name}.parquet")
    codes = frame["rank"].to_numpy(dtype=np.intp)
    extra = [
        c for c in ("y", "rank", "rank_tied", "part", "freq", "target") if c in frame
    ]
    X = pd.get_dummies(frame.drop(columns=extra), drop_first=False)
    return np.ascontiguousarray(X.to_numpy(dtype=np.float64)), codes - codes.min()


def parts(
    y: np.ndarray, n_train: int | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows."""
    from sklearn.model_selection import train_test_split

    rows = np.arange(y.size)
    if n_train is None:
        train, test = train_test_split(
            rows, train_size=0.7, stratify=y, random_state=seed
        )
    else:
        train, test = train_test_split(rows, train_size=n_train, random_state=seed)
    return train, test


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a contestant: mean ranks of its errors over the sets, then the errors."""
    done = (
        pd.read_csv(RESULTS)
        if RESULTS.exists()
        else pd.DataFrame(columns=["set", "split", "contestant"])
    )
    finished = set(zip(done["set"], done["split"], done["contestant"], strict=True))
    source = {"date": date.today().isoformat(), "commit": commit()}
    for split, name, contestant in product(
        range(1 if quick else SPLITS), SETS, CONTESTANTS
    ):
        if (name, split, contestant) not in finished:
            errors = judged(name, split, CONTESTANTS[contestant])
            one = {
                "set": name,
                "split": split,
                "contestant": contestant,
                **errors,
                **source,
            }
            pd.DataFrame([one]).to_csv(
                RESULTS, mode="a", header=not RESULTS.exists(), index=False
            )
    return summary(pd.read_csv(RESULTS))


def commit() -> str:
    """The commit that is measured; "" outside a repository."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(
        command, capture_output=True, text=True, check=False
    ).stdout.strip()


def judged(name: str, split: int, predict: Predictor) -> dict[str, float]:
    """Errors of one contestant on one split."""
    X, y = table(name)
    train, test = parts(y, SETS[name][1], _SEED + split)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        above = predict(X[train], y[train], int(y.max()) + 1, X[test], split)
    truth = y[test, None] > np.arange(above.shape[1])
    codes = (above > 0.5).sum(axis=1)
    distance = np.abs(codes - y[test])
    p = -np.diff(
        np.hstack([np.ones((len(test), 1)), above, np.zeros((len(test), 1))]), axis=1
    )
    return {
        "mae": float(distance.mean()),
        "amae": float(
            np.mean([distance[y[test] == k].mean() for k in np.unique(y[test])])
        ),
        "error": float((distance > 0).mean()),
        "kappa": kappa(y[test], codes),
        "rps": float(np.square(above - truth).sum(axis=1).mean()),
        "log_loss": float(
            -np.log(np.maximum(p[np.arange(len(test)), y[test]], 1e-6)).mean()
        ),
        "seconds": time.process_time() - begun,
    }


def kappa(y: np.ndarray, codes: np.ndarray) -> float:
    """Quadratic weighted kappa (Cohen 1968)."""
    chance = np.square(np.subtract.outer(y, codes)).mean()
    return float(1.0 - np.square(y - codes).mean() / chance) if chance > 0 else 0.0


#: Errors that contestants are ranked by, and whether the larger is the better.
MEASURES = {
    "mae": False,
    "rps": False,
    "error": False,
    "amae": False,
    "kappa": True,
    "log_loss": False,
}


def complete(results: pd.DataFrame) -> pd.DataFrame:
    """The splits that all contestants have been through."""
    results = results[results["contestant"].isin(CONTESTANTS)]
    return results.groupby(["set", "split"]).filter(
        lambda split: len(split) == len(CONTESTANTS)
    )


def set_ranks(results: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Ranks (sets by contestants) of the means over the splits, 1 the best."""
    means = (
        complete(results)
        .groupby(["set", "contestant"])[measure]
        .mean()
        .unstack("contestant")
    )
    return means.rank(axis=1, ascending=not MEASURES[measure])


def summary(results: pd.DataFrame) -> list[dict[str, object]]:
    """Mean rank over the sets of every error, smallest first, and the mean errors of
    every set.

    Splits that are not complete wait.
    """
    results = complete(results)
    ranks = pd.DataFrame(
        {f"{measure} rank": set_ranks(results, measure).mean() for measure in MEASURES}
    )
    means = results.groupby(["set", "contestant"])[["mae", "seconds"]].mean()
    wide = means["mae"].unstack("set").add_prefix("MAE ")
    frame = ranks.join(means["seconds"].groupby("contestant").sum()).join(wide)
    rows = (
        frame.sort_values("mae rank")
        .rename_axis("contestant")
        .reset_index()
        .to_dict("records")
    )
    return [{str(name): value for name, value in row.items()} for row in rows]
