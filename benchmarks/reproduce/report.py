"""`python -m benchmarks.reproduce.report`: every table with results, as
benchmarks/reproduce/results/REPORT.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.reproduce.compare import OFF, Cell, cells, comparison
from benchmarks.reproduce.runs import stored
from benchmarks.reproduce.trees import DATASETS, MEASURES, summary, table

FOLDER = Path(__file__).parent / "results"
SPLITS = 100
TABLES = (
    *(
        "2.3",
        "2.5",
        "2.7",
        "3.1",
        "3.2",
        "4.2",
        "4.3",
        "4.4",
        "4.5",
        "4.6",
        "4.7",
        "4.8",
    ),
    *(
        "5.2",
        "5.3",
        "5.4",
        "5.5",
        "5.6",
        "5.7",
        "lin-li-1",
        "lin-li-2",
        "cusum-1",
        "cusum-2",
    ),
)
#: Names of scalings of the columns other than the recipe's.
SCALINGS = {
    "standard": "standardised columns",
    "range": "columns in [-1, 1]",
    "none": "columns as they are",
}
_HEAD = """# Published tables beside our runs

Written by `python -m benchmarks.reproduce.report` from runs.csv and trees.csv in this folder; README.md says what the
runs are and why cells are off. Difference: (ours - published) / combined standard error; positive is a larger error
than the published one, and beyond {off:g} it is in bold. Cells without a run are left out. Where a paper prints no
standard error its figure counts as exact; sets with a fixed test part have one split and no standard error.
"""  # noqa: E501  (a page in Markdown)


def markdown(frame: pd.DataFrame) -> str:
    """A table of text columns and numbers of three digits."""
    rows = [list(frame.columns), ["---"] * frame.shape[1]]
    rows += [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.3f}"
    return str(value)


def section(name: str, results: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """The Markdown of a table, and its cells that were run; those with other scaling
    follow the cells they repeat.
    """
    plain = cells(name)
    parts = [
        comparison(plain, results, SPLITS),
        *(_rescaled(name, plain, results, scaling) for scaling in SCALINGS),
    ]
    parts = [part[part["splits"] > 0] for part in parts]
    actual = pd.concat(parts).sort_values(
        ["dataset", "metric"], kind="stable", key=_as_printed(parts[0])
    )
    shown = actual.drop(columns="remark").assign(
        difference=[_marked(d) for d in actual["difference"]]
    )
    return f"\n## Table {name}\n\n{markdown(shown)}\n", parts[0]


def _rescaled(
    name: str, plain: list[Cell], results: pd.DataFrame, scaling: str
) -> pd.DataFrame:
    """The comparison with another scaling of the columns, of the cells that
    it alters.
    """
    table = cells(name, scaling=scaling)
    frame = comparison(table, results, SPLITS)
    frame = frame[
        [_differ(cell, our_rows) for cell, our_rows in zip(table, plain, strict=True)]
    ]
    return frame.assign(method=frame["method"] + f", {SCALINGS[scaling]}")


def _differ(cell: Cell, other: Cell) -> bool:
    """Whether the scaling of the columns makes another fit of a cell."""
    return (
        cell.recipe is not None
        and other.recipe is not None
        and cell.recipe.label != other.recipe.label
    )


def _as_printed(frame: pd.DataFrame) -> object:
    """A sort key: data sets in the order of the table, other columns as they stand."""
    order = {name: i for i, name in enumerate(dict.fromkeys(frame["dataset"]))}
    return lambda column: column.map(order) if column.name == "dataset" else column


def _marked(difference: float) -> str:
    if np.isnan(difference):
        return ""
    return f"**{difference:+.1f}**" if difference > OFF else f"{difference:+.1f}"


def trees_section(results: pd.DataFrame) -> str:
    """The comparison of Tutz & Hechenbichler, a table a data set."""
    text = "\n## Tutz & Hechenbichler 2003, on other data\n"
    for measure in MEASURES:
        text += (
            "\n### Test errors:"
            f" {measure}\n\n{markdown(summary(results, measure).reset_index())}\n"
        )
    for dataset in DATASETS:
        our_rows = results[results["dataset"] == dataset]
        if our_rows.empty:
            continue
        frame = table(results, dataset)
        frame.columns = [
            " ".join(names).replace("resubstitution", "resubst.")
            for names in frame.columns
        ]
        text += (
            f"\n### {dataset}, {our_rows['split'].nunique() - 1}"
            f" splits\n\n{markdown(frame.reset_index())}\n"
        )
    return text


def main() -> None:
    results = stored(FOLDER / "runs.csv")
    text = _HEAD.format(off=OFF)
    every = []
    for name in TABLES:
        part, frame = section(name, results)
        if not frame.empty:
            text += part
            every.append(frame)
    judged = (
        pd.concat(every)
        .drop_duplicates(["dataset", "method", "metric"])
        .dropna(subset="difference")
    )
    off = int((judged["difference"] > OFF).sum())
    text += f"\nCells with a difference, each once: {len(judged)}; off: {off}.\n"
    if (FOLDER / "trees.csv").exists():
        text += trees_section(pd.read_csv(FOLDER / "trees.csv", dtype={"split": str}))
    (FOLDER / "REPORT.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
