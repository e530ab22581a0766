"""One set of names for the columns of all tables: those of R's package broom, with _ in place of its dots."""

from __future__ import annotations

import pandas as pd

#: What columns are called in the tables of R, and so here, and what broom calls them in all of its tables.
NAMES = {
    "lower": "conf_low",
    "upper": "conf_high",
    **dict.fromkeys(("chisq", "F", "lrt", "lr_stat"), "statistic"),
    **dict.fromkeys(("df_denom", "df_resid"), "den_df"),
    "no_par": "npar",
    "parameter": "term",
}
#: What the labels of rows become, and those of columns under columns.
_TERM, _ROW, _LEVEL = "term", "row", "level"


def broom_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A table under broom's names, labels of rows as a column.

    Parameters
    ----------
    frame : DataFrame
        With columns under columns, as predictions of all levels have them, one row comes of each row and level.
    """
    if frame.columns.nlevels > 1:
        return _renamed(_long(frame))
    if isinstance(frame.index, pd.RangeIndex) and frame.index.name is None:
        return _renamed(pd.DataFrame(frame))
    if frame.index.names == [None] and _TERM in frame.columns:  # rows of a default index in another order
        return _renamed(pd.DataFrame(frame).reset_index(drop=True))
    names = [_TERM if name is None else name for name in frame.index.names]
    return _renamed(pd.DataFrame(frame).reset_index(names=names))


def _long(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for every row and level, in that order."""
    levels = pd.unique(frame.columns.get_level_values(1))
    kinds = pd.unique(frame.columns.get_level_values(0))
    rows = frame.index.repeat(len(levels))
    named = {_ROW: rows, _LEVEL: [*levels] * len(frame)}
    return pd.DataFrame(named | {kind: frame[kind].reindex(columns=levels).to_numpy().reshape(-1) for kind in kinds})


def _renamed(frame: pd.DataFrame) -> pd.DataFrame:
    taken = set(frame.columns)
    return frame.rename(columns={old: new for old, new in NAMES.items() if old in taken and new not in taken})
