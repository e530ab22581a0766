"""`python -m benchmarks.reproduce.trees`: the comparison of Tutz & Hechenbichler (2003,
sec. 4) on other ordinal sets.

Their two sets are not public. Protocol: 50 random splits into two thirds and one third,
50 cycles, trees of 15 leaves for all ranks and of 5 for one split, grown by the
deviance and pruned by resubstitution misclassification, samples drawn with the weights;
resubstitution errors are those of a fit to the whole set. Results go to
benchmarks/reproduce/results/trees.csv as they come, and are not run again.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

from benchmarks.reproduce.data import Part, size, split  # noqa: E402
from benchmarks.reproduce.procedures import Recipe  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "trees.csv"
#: Of these, machinecpu and boston have ten levels, cut from a number like the eight of
#: the paper's ages.
DATASETS = (
    "toy",
    "tae",
    "balance-scale",
    "car",
    "winequality-red",
    "ERA",
    "machinecpu",
    "boston",
)
MEASURES = ("misclass", "mean abs", "mean squ")
_WHOLE = "resubstitution"


def _recipe(method: str, **options: Any) -> Recipe:
    rounds = {} if "cart" in method else {"rounds": 50}
    return Recipe(method, {**rounds, "prune": "misclassification", **options})


#: The rows of the paper's tables.
METHODS = {
    "CART (nominal)": _recipe("cart"),
    "CART (ordinal)": _recipe("ordinal-cart"),
    "bagging (nominal)": _recipe("bagging"),
    "bagging (ordinal)": _recipe("ordinal-bagging"),
    "boosting (nominal) discrete": _recipe("nominal-adaboost", version="discrete"),
    "boosting (nominal) real": _recipe("nominal-adaboost", version="real"),
    "boosting (ordinal) discrete (fixed split)": _recipe(
        "fixed-split-boosting", version="discrete"
    ),
    "boosting (ordinal) real (fixed split)": _recipe(
        "fixed-split-boosting", version="real"
    ),
    **{
        f"boosting (ordinal) {version} ({short})": _recipe(
            "ordinal-adaboost", version=version, criterion=criterion
        )
        for short, criterion in (
            ("misclass", "misclassification"),
            ("distance", "distance"),
        )
        for version in ("discrete", "real")
    },
}


def parts(dataset: str, splits: int) -> Iterator[tuple[str, Part]]:
    """The whole set as both parts, then random splits."""
    n = size(dataset)
    n_train = round(2 * n / 3)
    whole = split(dataset, 0, n, 0).train
    yield _WHOLE, Part(whole, whole)
    for number in range(splits):
        yield str(number), split(dataset, number, n_train, n - n_train)


def run(dataset: str, name: str, number: str, part: Part) -> dict[str, Any]:
    """One fit, judged on the second part."""
    start = time.perf_counter()
    fit = METHODS[name].fit(
        part.train, np.random.default_rng(0 if number == _WHOLE else int(number))
    )
    distance = np.abs(fit.rule.codes(part.test.rows) - part.test.y)
    errors = ((distance > 0).mean(), distance.mean(), np.square(distance).mean())
    return {
        "dataset": dataset,
        "method": name,
        "split": number,
        **{
            measure: f"{error:.6g}"
            for measure, error in zip(MEASURES, errors, strict=True)
        },
        "seconds": f"{time.perf_counter() - start:.3f}",
    }


def run_all(datasets: list[str], splits: int, path: Path) -> None:
    """Run the missing experiments."""
    keys = ["dataset", "method", "split"]
    done = (
        set(pd.read_csv(path, dtype=str)[keys].itertuples(index=False, name=None))
        if path.exists()
        else set()
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    for dataset in datasets:
        for number, part in parts(dataset, splits):
            left = [
                method for method in METHODS if (dataset, method, number) not in done
            ]
            rows = [run(dataset, method, number, part) for method in left]
            with path.open("a", newline="") as file:
                writer = csv.DictWriter(file, [*keys, *MEASURES, "seconds"])
                if file.tell() == 0:
                    writer.writeheader()
                writer.writerows(rows)
            print(f"{dataset}, {number}", file=sys.stderr, flush=True)


def table(results: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """The layout of the paper: resubstitution and mean test errors, with the standard
    errors of the latter.
    """
    our_rows = results[results["dataset"] == dataset]
    whole = our_rows["split"] == _WHOLE
    by = our_rows[~whole].groupby("method")[list(MEASURES)]
    actual = pd.concat(
        {
            _WHOLE: our_rows[whole].set_index("method")[list(MEASURES)],
            "test": by.mean(),
            "standard error": by.sem(),
        },
        axis=1,
    )
    return actual.reindex(list(METHODS))


def summary(results: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean test errors of every method (rows) on every set (columns)."""
    tests = results[results["split"] != _WHOLE]
    actual = tests.groupby(["method", "dataset"])[measure].mean().unstack()
    return actual.reindex(
        index=list(METHODS), columns=[d for d in DATASETS if d in actual]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce.trees", description=__doc__
    )
    parser.add_argument(
        "--splits",
        type=int,
        default=50,
        help="random splits of each data set (default 50)",
    )
    parser.add_argument("--datasets", nargs="*", default=DATASETS, help="only these")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="the file of results"
    )
    wanted = parser.parse_args()
    run_all(wanted.datasets, wanted.splits, wanted.results)
    results = pd.read_csv(wanted.results, dtype={"split": str})
    for dataset in wanted.datasets:
        text = table(results, dataset).to_string(float_format=lambda v: f"{v:.3f}")
        print(f"\n{dataset}\n{text}")


if __name__ == "__main__":
    main()
