"""Pooled estimates as frames and as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...report.cells import count
from ...report.noted import NotedFrame
from ...report.render import Report, Summary, Table
from ...report.sections import shortened
from ..comparison import described
from .estimates import PooledEstimates

#: A FMI beyond this asks for more imputations than are usual.
_HIGH = 0.5
_HEADS = {"estimate": "estimate", "std_error": "SE", "df": "df", "p_value": "p"}


def pooled_frame(r: PooledEstimates, exponentiate: bool = False, level: float = 0.95) -> pd.DataFrame:
    """One row per parameter: term, estimate, std_error, statistic, df, p_value, conf_low, conf_high, riv, fmi, kind."""
    limits = r.confint(level)
    numbers = np.column_stack((r.params, limits))
    if exponentiate:
        effects = r.parameters.of("nominal", "location", "scale")
        numbers[effects] = np.exp(numbers[effects])
    frame = pd.DataFrame(
        {
            "term": r.parameters.names,
            "estimate": numbers[:, 0],
            "std_error": r.se.to_numpy(),
            "statistic": r.t_values.to_numpy(),
            "df": r.df.to_numpy(),
            "p_value": r.p_values.to_numpy(),
            "conf_low": numbers[:, 1],
            "conf_high": numbers[:, 2],
            "riv": r.riv.to_numpy(),
            "fmi": r.fmi.to_numpy(),
            "coef_type": r.parameters.kinds,
        }
    )
    return NotedFrame.of(frame, (), "Pooled parameters" + "; exponents of all but thresholds" * exponentiate)


def pooled_report(r: PooledEstimates, level: float = 0.95) -> Report:
    """The summary as data."""
    tables = [_table(r, kind, title, level) for kind, title in _TITLES.items() if kind in r.parameters.kinds]
    first, most = r.fits[0], max(fit.nobs for fit in r.fits)
    return Report(
        title=f"Pooled over {r.n_imputations} imputations: {first.family.name}, {described(first)}",
        header=(
            ("Link", dict(first.fit.facts)["link"]),
            ("Std. errors", f"{first.own_covariance.words}, by Rubin's rules"),
            ("Observations", count(r.nobs) if most == r.nobs else f"{count(r.nobs)} to {count(most)}"),
            ("Complete-data df", f"{r.df_complete:g}"),
        ),
        tables=tuple(tables),
        notes=tuple(_notes(r)),
    )


_TITLES = {
    "location": "Location effects (positive = higher response)",
    "nominal": "Nominal effects, by threshold (positive = lower response)",
    "scale": "Scale effects on the log scale (positive = wider distribution)",
    "lambda": "Parameter of the link",
    "threshold": "Thresholds",
}


def _table(r: PooledEstimates, kind: str, title: str, level: float) -> Table:
    tidy = pooled_frame(r, level=level).iloc[r.parameters.of(kind)].set_index("term").rename_axis(None)
    heads = _HEADS | {"conf_low": f"{50 * (1 - level):.3g}%", "conf_high": f"{50 * (1 + level):.3g}%", "fmi": "FMI"}
    frame = tidy[list(heads)].rename(columns=heads)
    return shortened(Table(title=title, frame=frame, formats={"df": ".1f", "p": "p", "FMI": ".2f"}), ".tidy()")


def _notes(r: PooledEstimates) -> list[str]:
    fmi = float(np.nanmax(r.fmi))
    notes = ["FMI: fraction of missing information, the part of what complete data would tell that is lost."]
    if fmi > _HIGH:
        wanted = int(np.ceil(100.0 * fmi / 10.0) * 10)
        notes.append(
            f"The largest FMI is {fmi:.2f}: about {wanted} imputations (100 FMI) would give results that another set "
            "of imputations repeats [White, Royston & Wood 2011]."
        )
    return notes if r.n_imputations < 100.0 * fmi else notes[:1]


def pooled_summary(r: PooledEstimates, level: float = 0.95) -> Summary:
    """The summary: its text is str(), its tables are in `.tables`."""
    return Summary(pooled_report(r, level))


def repr_html(r: PooledEstimates) -> Any:
    """For notebooks."""
    return pooled_summary(r)._repr_html_()
