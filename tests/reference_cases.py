"""Reference fits from R: one case with its data frame, read from
tests/golden/reference.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent / "golden" / "reference"
SPECIAL = {"Inf": np.inf, "-Inf": -np.inf, "NaN": np.nan}


def number(value: Any) -> Any:
    """A JSON value of a case as a float: null is NaN, "Inf" infinity; labels stay as
    they are.
    """
    if value is None:
        return np.nan
    return SPECIAL.get(value, value) if isinstance(value, str) else value


def named(values: dict[str, Any]) -> pd.Series:
    """A mapping of label to number as a series of floats, in R's order."""
    return pd.Series(
        {label: number(value) for label, value in values.items()}, dtype=float
    )


def matrix(block: dict[str, Any]) -> pd.DataFrame:
    """A block {rows, cols, values} as a frame."""
    values = [[number(cell) for cell in row] for row in block["values"]]
    return pd.DataFrame(values, index=block["rows"], columns=block["cols"])


@lru_cache
def schema() -> dict[str, Any]:
    """Type and levels of every column of every data set."""
    return json.loads((FOLDER / "data" / "schema.json").read_text())


def _typed(column: pd.Series, kind: dict[str, Any]) -> pd.Series:
    if kind["type"] in ("factor", "ordered"):
        return column.astype(
            pd.CategoricalDtype(kind["levels"], ordered=kind["type"] == "ordered")
        )
    if kind["type"] == "integer" and column.notna().all():
        return column.astype(np.int64)
    return column.astype(float)


def load_data(name: str) -> pd.DataFrame:
    """A fresh data frame: factors are categoricals (strings in the schema's order),
    ordered ones ordered.
    """
    kinds = schema()[name]
    text = {
        column: str
        for column, kind in kinds.items()
        if kind["type"] in ("factor", "ordered")
    }
    raw = pd.read_csv(
        FOLDER / "data" / f"{name}.csv",
        dtype=text,
        keep_default_na=False,
        na_values=[""],
    )
    return pd.DataFrame(
        {column: _typed(raw[column], kind) for column, kind in kinds.items()}
    )


@dataclass(frozen=True, eq=False)
class Case:
    """One reference fit.

    Attributes
    ----------
    name, group : str
    data_name : str
        Name for `load_data`.
    spec : dict of str to str
        R's arguments as strings (formula, nominal, scale, weights, subset, link, ...).
    raw : dict
        Everything in the JSON file.
    """

    name: str
    group: str
    data_name: str
    spec: dict[str, str]
    raw: dict[str, Any]

    def frame(self) -> pd.DataFrame:
        """A fresh data frame of the case."""
        return load_data(self.data_name)

    @property
    def link(self) -> str:
        return str(self.raw.get("link", "logit"))

    @property
    def coefficients(self) -> pd.Series:
        """The best known coefficients (`exact`, else `tight`, else R's own), NaN where
        aliased.
        """
        return named(self._best("coefficients"))

    @property
    def std_errors(self) -> pd.Series:
        return named(self._best("std_errors"))

    @property
    def loglik(self) -> float:
        return float(number(self._best("logLik")))

    def _best(self, field: str) -> Any:
        for block in ("exact", "tight"):
            if field in self.raw.get(block, {}):
                return self.raw[block][field]
        return self.raw[field]

    def matrix(self, *path: str) -> pd.DataFrame | None:
        """The block {rows, cols, values} at `path`, such as ("vcov",) or
        ("design_head", "X"); None where absent.
        """
        block: Any = self.raw
        for step in path:
            block = None if block is None else block.get(step)
        return None if block is None else matrix(block)


@lru_cache
def load_case(name: str) -> Case:
    """The case of that name; its `frame()` is fresh at every call."""
    raw = json.loads((FOLDER / "cases" / f"{name}.json").read_text())
    return Case(name, raw["group"], Path(raw["data"]).stem, raw["spec"], raw)


def case_names(*groups: str) -> list[str]:
    """Names of all copied cases, or of those in the given groups, sorted (for
    pytest.mark.parametrize).
    """
    names = sorted(path.stem for path in (FOLDER / "cases").glob("*.json"))
    return [name for name in names if not groups or load_case(name).group in groups]
