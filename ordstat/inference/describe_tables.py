"""The tables that a description of ordered answers prints."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..report.cells import count, limit_names
from ..report.grid import SCREEN
from ..report.render import Report, Table
from ..report.sections import shortened

if TYPE_CHECKING:
    from .describe import OrdinalDescription

#: Fewest characters of a level's name beside other columns, and characters of those
#: columns.
_SHORTEST = 8
_FIGURES = 34


def headed_names(index: pd.Index) -> list[tuple[str, str]]:
    """(heading, name) of each row."""
    if isinstance(index, pd.MultiIndex):
        return [(str(item), str(group)) for item, group in index]
    return [("", str(name)) for name in index]


def description_report(d: OrdinalDescription) -> Report:
    """Tables and notes of a description."""
    labels = [
        f"{heading}: {name}" if heading else name
        for heading, name in headed_names(d.counts.index)
    ]
    names = pd.Index(
        labels,
        name=": ".join(str(name) for name in d.counts.index.names if name is not None)
        or None,
    )
    header = () if len(names) > 1 else (("Median", d.median.iloc[0]),)
    tables = [_percent_table(d, names)]
    if len(names) > 1:
        tables.append(_ridit_table(d, names))
    if len(d.mann_whitney):
        tables.append(_pair_table(d))
    if len(d.tests):
        tables.append(_test_table(d))
    return Report(
        title=f"Ordered answers: {d.title}",
        header=header,
        tables=tuple(tables),
        notes=d.notes,
    )


def _percent_table(d: OrdinalDescription, names: pd.Index) -> Table:
    """Percentages under the names of the levels, or under 1..K with a key if the names
    take too much room.
    """
    percent = d.percent.set_axis([str(level) for level in d.counts.columns], axis=1)
    room = SCREEN - max(map(len, names)) - len("  n  missing  ") - 4
    numbered = sum(max(len(name), 5) + 2 for name in percent.columns) > room
    note = ""
    if numbered:
        key = [
            f"{k} = {name}"
            for k, name in enumerate(percent.columns, start=1)
            if name != str(k)
        ]
        note = f"Levels: {', '.join(key)}." if key else ""
        percent = percent.set_axis(
            [str(k + 1) for k in range(percent.shape[1])], axis=1
        )
    shown = dict.fromkeys(percent.columns, ".1f")
    frame = pd.concat([d.n, d.missing, percent], axis=1)
    formats = {"n": "int", "missing": "int"} | shown
    return shortened(
        Table(
            title="Percent of answers",
            frame=frame.set_axis(names),
            formats=formats,
            note=note,
        ),
        ".percent",
    )


def _ridit_table(d: OrdinalDescription, names: pd.Index) -> Table:
    room = max(_SHORTEST, SCREEN - max(map(len, names)) - _FIGURES)
    medians = [
        "NA" if level is None else textwrap.shorten(str(level), room, placeholder="...")
        for level in d.median
    ]
    frame = d.ridits.rename(columns=limit_names(d.level)).set_axis(names)
    frame.insert(0, "median", medians)
    reference = "all groups" if len(d.mann_whitney) else "all items"
    note = (
        f"Ridit: the probability that an answer is higher than one of {reference}"
        " together, a tie counting half; 0.5 means no difference."
    )
    return shortened(
        Table(
            title="Medians and mean ridits",
            frame=frame,
            formats=_decimals(frame),
            note=note,
        ),
        ".ridits",
    )


def _pair_table(d: OrdinalDescription) -> Table:
    names = [
        f"{': '.join(map(str, head))}{': ' if head else ''}{a} > {b}"
        for *head, a, b in d.mann_whitney.index
    ]
    by = pd.Index(names, name=d.counts.index.names[-1])
    frame = d.mann_whitney.rename(
        columns={"probability": "P"} | limit_names(d.level)
    ).set_axis(by)
    title = "Probability of a higher answer in the first group, a tie counting half"
    undefined = d.mann_whitney["lower"].isna().any()
    if undefined:
        note = (
            "No interval (NA) where groups do not overlap or have fewer than 2 answers."
        )
    else:
        note = ""
    return shortened(
        Table(title=title, frame=frame, formats=_decimals(frame), note=note),
        ".mann_whitney",
    )


def _test_table(d: OrdinalDescription) -> Table:
    names = [": ".join(map(str, np.atleast_1d(name))) for name in d.tests.index]
    frame = d.tests.set_axis(pd.Index(names, name="test"))
    surveyed = "den_df" in frame
    statistic = "F" if surveyed else "statistic"
    frame["df"] = ["" if np.isnan(df) else count(df) for df in frame["df"]]
    columns = ["statistic", "df", *(["den_df"] if surveyed else []), "p_value"]
    frame = frame[columns].rename(columns={"statistic": statistic})
    return shortened(
        Table(
            title="Tests between groups",
            frame=frame,
            formats={statistic: ".2f", "df": "text", "den_df": "int", "p_value": "p"},
        ),
        ".tests",
    )


def _decimals(frame: pd.DataFrame) -> dict[str, str]:
    return {name: ".3f" for name in frame.columns if name != "median"}
