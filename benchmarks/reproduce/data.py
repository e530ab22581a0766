"""The benchmark sets and their splits into training and test part.

Split s of a set is the same in every run and for every method.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.ndimage import gaussian_filter

from benchmarks.reproduce.breiman import ringnorm, threenorm, twonorm
from ordstat._typing import FloatArray
from ordstat.formula.sample import Rows, Sample

FOLDER = Path(
    os.environ.get(
        "ORDSTAT_BENCHMARKS", Path(__file__).parents[3] / "shared" / "benchmarks"
    )
)
#: Columns that are not features.
_NO_FEATURES = ("y", "rank", "rank_tied", "target", "part", "freq")
_GENERATED = {"twonorm": twonorm, "threenorm": threenorm, "ringnorm": ringnorm}
#: Share of training labels that are flipped in the sets called "...-n".
_NOISE = 0.1
#: Images a Gaussian of this width, in pixels, is run over, as Schölkopf (1997) does.
_SMOOTHED = {"usps": 0.75}


@dataclass(frozen=True)
class Part:
    """Training and test rows of one split."""

    train: Sample
    test: Sample


def split(dataset: str, number: int, n_train: int, n_test: int) -> Part:
    """Split `number` = 0, 1, ... of a set: its fixed parts, or random ones of the
    published sizes.
    """
    rng = np.random.default_rng([zlib.crc32(dataset.encode()), number])
    if dataset.removesuffix("-n") in _GENERATED:
        return _generated(dataset, n_train, n_test, rng)
    if "/" in dataset:
        return _published(*dataset.split("/"), number)
    frame = _frame(dataset)
    if "part" in frame and frame["part"].value_counts().to_dict() == {
        "train": n_train,
        "test": n_test,
    }:
        at = [np.flatnonzero(frame["part"] == part) for part in ("train", "test")]
    else:
        order = rng.permutation(len(frame))
        at = [order[:n_train], order[n_train : n_train + n_test]]
    if [len(rows) for rows in at] != [n_train, n_test]:
        raise ValueError(
            f"{dataset} has {len(frame)} rows; {n_train} + {n_test} are needed."
        )
    whole = _sample(frame, _SMOOTHED.get(dataset, 0.0))
    return Part(*(whole.take(rows) for rows in at))


def size(dataset: str) -> int:
    """Number of rows of a set that is not generated."""
    return len(_frame(dataset))


def _published(name: str, levels: str, number: int) -> Part:
    """Partition `number` of Chu & Ghahramani; `levels` is such as "5 bins", of equal
    length.
    """
    every = pd.read_parquet(FOLDER / "quantised" / "partitions_chu_ghahramani.parquet")
    in_part = (
        (every["dataset"] == name)
        & (every["bins"] == int(levels.split()[0]))
        & (every["partition"] == number + 1)
    )
    if not in_part.any():
        raise FileNotFoundError(
            f"no partition {number + 1} of {name} into {levels} in"
            f" {FOLDER / 'quantised'}."
        )
    rows = every[in_part]
    whole = _sample(_frame(name).iloc[rows["row"]].assign(rank=rows["rank"].to_numpy()))
    train = rows["train"].to_numpy()
    return Part(*(whole.take(np.flatnonzero(part)) for part in (train, ~train)))


def _generated(
    dataset: str, n_train: int, n_test: int, rng: np.random.Generator
) -> Part:
    """Noise, where there is any, is in the training labels alone."""
    make = _GENERATED[dataset.removesuffix("-n")]
    flip = _NOISE if dataset.endswith("-n") else 0.0
    train = make(n_train, flip=flip, seed=rng)
    test = make(n_test, seed=rng)
    return Part(_sample(train), _sample(test))


@lru_cache(maxsize=2)
def _frame(dataset: str) -> pd.DataFrame:
    collected = [
        path
        for kind in ("quantised", "nominal", "binary", "ordinal")
        if (path := FOLDER / kind / f"{dataset}.parquet").exists()
    ]
    if not collected:
        raise FileNotFoundError(
            f"no {dataset}.parquet in {FOLDER}: set ORDSTAT_BENCHMARKS to the folder of"
            " the data."
        )
    return pd.read_parquet(collected[0])


def _sample(frame: pd.DataFrame, width: float = 0.0) -> Sample:
    """The rows of a set; of square images blurred by a Gaussian of that width, if there
    is one.
    """
    X = frame.drop(columns=[c for c in _NO_FEATURES if c in frame]).to_numpy(
        dtype=np.float64
    )
    target = frame["rank"] if "rank" in frame else frame["target"]
    levels = np.unique(target)
    X = _blurred(X, width) if width else X
    return Sample(
        rows=Rows(X=np.ascontiguousarray(X)),
        y=np.searchsorted(levels, target),
        n_levels=levels.size,
    )


def _blurred(X: FloatArray, width: float) -> FloatArray:
    """Square images, one a row; the pixels of an edge go on beyond it."""
    side = round(np.sqrt(X.shape[1]))
    images: FloatArray = gaussian_filter(
        X.reshape(-1, side, side), (0.0, width, width), mode="nearest"
    )
    return images.reshape(X.shape)
