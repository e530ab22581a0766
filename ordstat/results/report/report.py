"""A summary as data: header pairs, tables and notes. `render` turns it into text or HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """One table of a report.

    Attributes
    ----------
    title : str
    frame : pandas.DataFrame
        Numbers unrounded; the index holds the row labels.
    formats : mapping of column to format
        "estimate" (4 decimals), "p" (p-values), "int", "percent", "g" or a format spec;
        columns not named follow their dtype.
    note : str
        One line under the table.
    fold : int
        Text only: how many pieces of a long narrow table stand side by side.
    """

    title: str
    frame: pd.DataFrame
    formats: Mapping[Any, str] = field(default_factory=dict)
    note: str = ""
    fold: int = 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """Pure data of one summary.

    Attributes
    ----------
    title : str
    header : tuple of (label, value)
    tables : tuple of Table
    notes : tuple of str
    """

    title: str
    header: tuple[tuple[str, Any], ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
