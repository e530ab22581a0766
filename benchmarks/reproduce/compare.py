"""A published table as cells, the tasks behind them, and both figures side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from benchmarks.reproduce.data import FOLDER
from benchmarks.reproduce.procedures import Recipe
from benchmarks.reproduce.recipes import (
    METRICS,
    NOTES,
    RECIPES,
    UNAVAILABLE,
    Column,
    scaling_of,
)
from benchmarks.reproduce.runs import Task

# Names of tables: a number for the thesis, or one of these.
_ELSEWHERE = {
    "lin-li-1": ("Lin & Li 2006", "1"),
    "lin-li-2": ("Lin & Li 2006", "2"),
    "cusum-1": ("Milidiu & Rocha 2019", "1"),
    "cusum-2": ("Milidiu & Rocha 2019", "2"),
}
# Beyond this many combined standard errors a cell is off.
OFF = 2.0
# Fewer splits than this say little about their own spread.
_FEW = 10


@dataclass(frozen=True)
class Cell:
    """A published figure."""

    dataset: str
    column: Column
    mean: float
    stderr: float
    n_train: int
    n_test: int
    trials: int
    scaling: str = ""

    @property
    def recipe(self) -> Recipe | None:
        """The recipe, scaled otherwise if a scaling is set; None if the column is not a
        method of ordstat.
        """
        actual = RECIPES.get(self.column)
        scaling = self.scaling or scaling_of(self.column, self.dataset)
        if actual is None or not scaling or not hasattr(actual.value, "scaling"):
            return actual
        return replace(
            actual,
            options={
                **actual.options,
                "scaling": None if scaling == "none" else scaling,
            },
        )

    def tasks(self, splits: int) -> list[Task]:
        """No more splits than the paper had: sets with a fixed test part have one."""
        if self.recipe is None:
            return []
        sizes = self.n_train, self.n_test
        levels = METRICS[self.column.metric].levels
        dataset = f"{self.dataset}/{levels}" if levels else self.dataset
        if dataset in UNAVAILABLE:
            return []
        return [
            Task(dataset, self.recipe, number, *sizes)
            for number in range(min(splits, self.trials))
        ]


def cells(
    table: str,
    datasets: Sequence[str] = (),
    methods: Sequence[str] = (),
    scaling: str = "",
) -> list[Cell]:
    """The cells of a table; of the data sets and published methods named, where any
    are.

    `scaling` is that of the columns, where it is not what the recipes say.
    """
    path = FOLDER / "published_results.csv"
    if not path.exists():
        raise FileNotFoundError(
            f"no {path}: set ORDSTAT_BENCHMARKS to the folder of the data."
        )
    rows = pd.read_csv(path, dtype={"table": str}).fillna({"base": "", "kernel": ""})
    source, number = _ELSEWHERE.get(table, ("Lin 2008 thesis", table))
    rows = rows[(rows["source"] == source) & (rows["table"] == number)]
    if rows.empty:
        names = ", ".join(_ELSEWHERE)
        raise ValueError(
            f"there is no table {table} in {path}: name one of the thesis, such as 4.2,"
            f" or {names}."
        )
    collected = [
        Cell(
            dataset=row.dataset,
            column=Column(row.method, row.base, row.kernel, row.metric),
            mean=row.mean,
            stderr=row.stderr,
            n_train=row.n_train,
            n_test=row.n_test,
            trials=row.trials,
            scaling=scaling,
        )
        for row in rows.itertuples(index=False)
    ]
    return [
        c
        for c in collected
        if (not datasets or c.dataset in datasets)
        and (not methods or c.column.method in methods)
    ]


def comparison(
    table: Sequence[Cell], results: pd.DataFrame, splits: int
) -> pd.DataFrame:
    """One row a cell: both means and standard errors, and their difference in combined
    standard errors.

    A positive difference is a larger error than the published one. A standard error is
    that of the mean over splits; where we have fewer than ten it counts as no less than
    what the published spread of single splits makes of it. A paper that prints none
    counts as exact, and sets with a fixed test part have none and no difference in its
    units.
    """
    return pd.DataFrame([_row(cell, results, splits) for cell in table])


def _row(cell: Cell, results: pd.DataFrame, splits: int) -> dict[str, object]:
    column = cell.column
    metric = METRICS.get(cell.column.metric)
    values = np.empty(0)
    if cell.recipe is not None and metric is not None:
        keys = {task.key for task in cell.tasks(splits)}
        mine = [
            key in keys
            for key in results[["dataset", "method", "split", "n_train"]].itertuples(
                index=False, name=None
            )
        ]
        values = metric.factor * results.loc[mine, metric.name].to_numpy(dtype=float)
    mean = values.mean() if values.size else np.nan
    stderr = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
    combined = float(
        np.hypot(_believed(stderr, cell, values.size), np.nan_to_num(cell.stderr))
    )
    difference = (mean - cell.mean) / combined if combined > 0.0 else np.nan
    return {
        "dataset": cell.dataset,
        "method": " ".join(filter(None, (column.method, column.base, column.kernel))),
        "metric": column.metric,
        "published": cell.mean,
        "se": cell.stderr,
        "ours": mean,
        "our se": stderr,
        "splits": values.size,
        "difference": difference,
        "remark": _remark(cell, values.size, difference),
    }


def _believed(stderr: float, cell: Cell, n: int) -> float:
    """Our standard error; for few splits no less than that of as many splits that
    spread as the published ones.
    """
    if not 0 < n < _FEW or np.isnan(cell.stderr):
        return stderr
    return float(np.fmax(stderr, cell.stderr * np.sqrt(cell.trials / n)))


def _remark(cell: Cell, n: int, difference: float) -> str:
    if cell.recipe is None:
        return "not a method of ordstat"
    if n == 0:
        return "not run"
    return NOTES.get(cell.dataset, "") if abs(difference) > OFF else ""
