"""RED-SVM on the benchmark sets of Lin (2008, table 4.2), as the thesis ran it."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ordstat import REDSVM

from .problems import sample

FOLDER = Path(
    os.environ.get(
        "ORDSTAT_BENCHMARKS", Path(__file__).parents[3] / "shared" / "benchmarks"
    )
)
SPLITS = 20


def _published(dataset):
    cells = pd.read_csv(FOLDER / "published_results.csv")
    cells = cells[
        (cells["table"].astype(str) == "4.2")
        & (cells["method"] == "RED-SVM")
        & (cells["dataset"] == dataset)
    ]
    return float(cells["mean"].iloc[0]), float(cells["stderr"].iloc[0])


def _errors(dataset, n_train):
    """Mean absolute test error of every random split, C by 5-fold cross-validation."""
    frame = pd.read_parquet(FOLDER / "quantised" / f"{dataset}.parquet")
    X = frame.drop(columns=["y", "rank", "rank_tied"]).to_numpy(dtype=float)
    y = frame["rank"].to_numpy(dtype=np.intp) - 1
    errors = []
    for seed in range(SPLITS):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(y))
        train = order[:n_train]
        test = order[n_train:]
        fit = REDSVM(C="cv").fit(sample(X[train], y[train], 10), rng)
        assert fit.certificate.reached
        new = sample(X[test], y[test], 10)
        errors.append(np.abs(fit.rule.codes(new.rows) - new.y).mean())
    return np.array(errors)


@pytest.mark.slow
@pytest.mark.skipif(
    not FOLDER.is_dir(),
    reason=f"no benchmark data in {FOLDER}: set ORDSTAT_BENCHMARKS to their folder",
)
@pytest.mark.parametrize(("dataset", "n_train"), [("boston", 300), ("machinecpu", 150)])
def test_published_mean_absolute_error(dataset, n_train):
    errors = _errors(dataset, n_train)
    mean = errors.mean()
    error = errors.std(ddof=1) / np.sqrt(SPLITS)
    published, published_error = _published(dataset)
    message = (
        f"mean absolute error {mean:.3f} +- {error:.3f}, published {published:.3f} +-"
        f" {published_error:.3f}"
    )
    assert abs(mean - published) <= 2.0 * np.hypot(error, published_error), message
