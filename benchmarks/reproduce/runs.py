"""One fit a task, in parallel; every result is a row of a CSV file as soon as it is
there.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.reproduce.data import split
from benchmarks.reproduce.procedures import Recipe


@dataclass(frozen=True)
class Task:
    """A method on one split of a data set."""

    dataset: str
    recipe: Recipe
    number: int
    n_train: int
    n_test: int

    @property
    def method(self) -> str:
        """Key of the results."""
        return self.recipe.label

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What tells it from the others."""
        return self.dataset, self.method, self.number, self.n_train


@dataclass(frozen=True)
class Result:
    """A row of the results file."""

    dataset: str
    method: str
    split: int
    n_train: int
    n_test: int
    mae: float
    error: float
    training_mae: float
    training_error: float
    C: float
    certificate: float
    reached: bool
    seconds: float


def run(task: Task) -> Result:
    """Fit on the training part, judge on both."""
    part = split(task.dataset, task.number, task.n_train, task.n_test)
    start = time.perf_counter()
    fit = task.recipe.fit(part.train, np.random.default_rng(task.number))
    seconds = time.perf_counter() - start
    distances = [
        np.abs(fit.rule.codes(sample.rows) - sample.y)
        for sample in (part.test, part.train)
    ]
    selection = getattr(fit, "selection", None)
    return Result(
        dataset=task.dataset,
        method=task.method,
        split=task.number,
        n_train=task.n_train,
        n_test=task.n_test,
        mae=float(distances[0].mean()),
        error=float((distances[0] > 0).mean()),
        training_mae=float(distances[1].mean()),
        training_error=float((distances[1] > 0).mean()),
        C=float("nan") if selection is None else float(selection.C[selection.chosen]),
        certificate=float(fit.certificate.value),
        reached=fit.certificate.reached,
        seconds=seconds,
    )


def stored(path: Path) -> pd.DataFrame:
    """The results so far."""
    if not path.exists():
        return pd.DataFrame(columns=[f.name for f in fields(Result)])
    return pd.read_csv(path)


def missing(tasks: Iterable[Task], results: pd.DataFrame) -> list[Task]:
    """The tasks without a result, each once, small samples first."""
    columns = results[["dataset", "method", "split", "n_train"]]
    done = set(columns.itertuples(index=False, name=None))
    left = {task.key: task for task in tasks if task.key not in done}
    return sorted(
        left.values(), key=lambda task: (task.n_train, task.dataset, task.number)
    )


def run_all(tasks: list[Task], path: Path, jobs: int) -> Iterator[Result]:
    """Run the tasks, appending each result to the file as it comes: an interrupted run
    goes on where it stopped.
    """
    from joblib import Parallel, delayed

    for result in Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(run)(task) for task in tasks
    ):
        _append(path, result)
        yield result


def _append(path: Path, result: Result) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Result)])
        if new:
            writer.writeheader()
        writer.writerow(asdict(result))
