"""The parameters of pooled fits in a table, and tables and notes of their summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks import flag
from ..likelihood.alerts import not_estimated
from ..report.cells import limit_heads
from ..report.frames import NotedFrame
from ..report.render import Table
from ..report.sections import shortened
from .summary import TITLES, ratio_table
from .tables import deviations_of, exponent_notes, in_units

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults
    from .pooling import PooledResults


#: An FMI above this calls for more imputations than usual.
_HIGH = 0.5
_FORMATS = {"df": ".1f", "p": "p", "FMI": ".2f"}
_HEADS = {"estimate": "estimate", "std_error": "SE", "df": "df", "p_value": "p"}


_TITLES = TITLES | {"threshold": "Thresholds"}


def tidy_pooled(
    pooled: PooledResults, exponentiate: bool, level: float, per: Any
) -> pd.DataFrame:
    """One row per parameter; see `PooledResults.tidy`."""
    flag("exponentiate", exponentiate)
    first = pooled.fits[0]
    frame = pd.DataFrame(pooled.coefficient_columns, index=pooled.parameters.names)
    limits = pooled.confint(level)
    frame = frame.rename_axis("term").reset_index()
    frame.insert(6, "conf_low", limits["lower"].to_numpy())
    frame.insert(7, "conf_high", limits["upper"].to_numpy())
    frame["coef_type"] = pooled.parameters.kinds
    if pooled.random_parameters is not None:
        random = pooled.random_parameters.frame(level).reindex(columns=frame.columns)
        frame = pd.concat([frame, random], ignore_index=True)
    deviations = {}
    if per is not None:
        every = [deviations_of(fit) for fit in pooled.fits]
        for name in every[0]:
            deviations[name] = float(np.mean([each[name] for each in every]))
    notes = [*not_estimated(first.fit, pooled.parameters)]
    notes += in_units(frame, first, per, exponentiate, deviations)
    title = "Pooled parameters"
    if exponentiate:
        notes += exponent_notes(first)
        title += "; effects exponentiated"
    return NotedFrame.of(frame, notes, title, labels=pooled.names_shown())


def tables_of(
    fits: Sequence[LikelihoodResults],
    tidy: pd.DataFrame,
    level: float,
    exponentiate: bool,
    labels: Mapping[str, str],
) -> Iterator[Table]:
    """Tables of the parameters by kind, with ratios of the location effects if
    `exponentiate`.

    Parameters
    ----------
    fits : sequence of likelihood fits
    tidy : frame
        The pooled parameters, as given by `tidy`.
    level : float in (0, 1)
        Confidence level of the intervals.
    exponentiate : bool
    labels : mapping of variable or term to text
    """
    first = fits[0]
    suffixes = tidy.attrs.get("per", {})
    names = []
    for record in first.all_parameters:
        # the title says "scale"
        write = record.effect if record.kind == "scale" else record.shown
        name = write(labels)
        unit = suffixes.get(record.name)
        names.append(f"{name}, {unit}" if unit else name)
    limits = dict(zip(("conf_low", "conf_high"), limit_heads(level), strict=True))
    heads = _HEADS | limits | {"fmi": "FMI"}
    frame = pd.DataFrame(tidy)[list(heads)].rename(columns=heads).set_axis(names)
    for kind, title in _TITLES.items():
        rows = (tidy["coef_type"] == kind).to_numpy()
        if not rows.any():
            continue
        table = Table(title=title, frame=frame[rows], formats=_FORMATS)
        yield shortened(table, ".tidy()")
        if exponentiate and kind == "location":
            shown = ["estimate", *limits.values()]
            yield ratio_table(first, frame.loc[rows, shown])
    random = tidy["coef_type"].isin(["sd", "cor"]).to_numpy()
    if random.any():
        yield _table_of_random_effects(frame[random].drop(columns=["p", "FMI"]))


def _table_of_random_effects(frame: pd.DataFrame) -> Table:
    note = (
        "Standard deviations are pooled on the log scale, correlations on Fisher's"
        " z scale."
    )
    if frame["SE"].isna().any():
        note += " NA: a variance is 0, or a correlation 1, in a fit."
    return Table(title="Random effects", frame=frame, formats=_FORMATS, note=note)


def notes_of(fits: Sequence[LikelihoodResults], fmi: float) -> tuple[str, ...]:
    """Notes of the summary, given the largest fraction of missing information."""
    notes = [
        "FMI: fraction of missing information, the lost share of the information in"
        " complete data."
    ]
    if fmi > _HIGH and len(fits) < 100.0 * fmi:
        wanted = int(np.ceil(100.0 * fmi / 10.0) * 10)
        notes.append(
            f"The largest FMI is {fmi:.2f}: use about {wanted} imputations (100 FMI),"
            " so that another set would give similar results [White, Royston & Wood"
            " 2011]."
        )
    responses = [fit.design.sample.y for fit in fits if fit.in_memory]
    imputed = np.any([y != fits[0].design.sample.y for y in responses], axis=0)
    if imputed.any():
        notes.append(
            f"The response was imputed in {int(imputed.sum())} rows. Unless variables"
            " outside the model helped to impute it, such rows add noise alone [von"
            " Hippel 2007]."
        )
    return tuple(notes)
