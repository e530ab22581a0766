"""`python -m benchmarks ordering`: a published ordering of methods, found again by
`ordstat.compare`.

Lin (2008), table 4.5: under the absolute cost, with the perceptron kernel and C by
cross-validation, cost-sensitive one-versus-all errs most on each of these sets, and
RED-SVM less than one-versus-one on boston; on the two small sets these two are within a
standard error of each other. The data are the sets in ten levels of the folder that the
variable ORDSTAT_BENCHMARKS names; folds here, random splits of a published size there.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.reproduce.data import FOLDER
from ordstat import compare

#: Published mean absolute errors of each method.
PUBLISHED = {
    "pyrimidines": {"redsvm": 1.304, "csovo": 1.337, "csova": 1.627},
    "machinecpu": {"redsvm": 0.842, "csovo": 0.842, "csova": 0.975},
    "boston": {"redsvm": 0.732, "csovo": 0.789, "csova": 0.946},
}
_SETTING = {"kernel": "perceptron", "C": (0.125, 0.5, 2.0)}


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a set and method: our error and the published one, the difference from
    RED-SVM, the mean rank.
    """
    names = list(PUBLISHED)[: 1 if quick else None]
    return [
        row
        for name in names
        for row in (_rows(name) if _path(name).exists() else [_skipped(name)])
    ]


def _path(name: str) -> Path:
    return FOLDER / "quantised" / f"{name}.parquet"


def _skipped(name: str) -> dict[str, object]:
    return {
        "set": name,
        "method": (
            f"skipped: no {_path(name)}; set ORDSTAT_BENCHMARKS to the folder of the"
            " sets"
        ),
    }


def _rows(name: str) -> list[dict[str, object]]:
    frame = pd.read_parquet(_path(name)).drop(
        columns=["y", "rank_tied", "target", "part", "freq"], errors="ignore"
    )
    compared = compare(
        "rank ~ .",
        frame,
        [(method, _SETTING) for method in PUBLISHED[name]],
        cv=5,
        seed=1,
    )
    labels = dict(zip(PUBLISHED[name], compared.labels, strict=True))
    differences = compared.differences(against=labels["redsvm"])
    return [
        {
            "set": name,
            "method": method,
            "absolute error": compared.table.loc[labels[method], "absolute error"],
            "se": compared.table.loc[labels[method], "absolute error se"],
            "published": published,
            "p against redsvm": differences["p_value"].get(labels[method]),
        }
        for method, published in PUBLISHED[name].items()
    ]
