"""Arrays of an assessment as pandas frames under the user's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..assess.bounds import MarginBounds
from ..assess.errors import ErrorTable
from ..assess.intervals import Limit
from ..assess.margins import DeltaErrors, Margins
from .target import Target


def error_columns(label: str, table: ErrorTable) -> dict[str, pd.Series]:
    """The columns of an error table: values under `label`, standard errors under "<label> se" where there are any."""
    names = list(table.names)
    columns = {label: pd.Series(table.values, index=names)}
    if table.standard_errors is not None:
        columns[f"{label} se"] = pd.Series(table.standard_errors, index=names)
    return columns


def confusion_frame(cells: FloatArray, levels: Sequence[Any]) -> pd.DataFrame:
    """Observed levels by predicted levels, (K, K); whole numbers where the weights were."""
    whole = np.rint(cells)
    values = whole.astype(np.int64) if np.array_equal(whole, cells) else cells
    return pd.DataFrame(
        values, index=pd.Index(list(levels), name="observed"), columns=pd.Index(list(levels), name="predicted")
    )


def margin_frame(target: Target, m: Margins) -> pd.DataFrame:
    """Left and right margins of rows, raw and normalised."""
    both = np.column_stack((m.left, m.right))
    columns = ["left", "right", "normalised_left", "normalised_right"]
    return target.frame(np.column_stack((both, both / m.unit)), columns)


def delta_frame(errors: DeltaErrors) -> pd.DataFrame:
    """E_C, E_B, E_A by Delta."""
    return pd.DataFrame(
        {"classification": errors.classification, "boundary": errors.boundary, "absolute": errors.absolute},
        index=pd.Index(errors.deltas, name="Delta"),
    )


def default_deltas(rho: FloatArray) -> FloatArray:
    """0 and a quarter, half, once and twice the median size of the margins, to one significant digit."""
    finite = np.abs(rho[np.isfinite(rho)])
    middle = float(np.median(finite)) if finite.size else 0.0
    if middle == 0.0:
        return np.zeros(1)
    return np.unique([0.0, *(float(f"{factor * middle:.0e}") for factor in (0.25, 0.5, 1.0, 2.0))])


def bound_frame(found: MarginBounds, limits: Mapping[str, Sequence[Limit]]) -> pd.DataFrame:
    """Margin bounds, then limits from unseen rows, under the name of those."""
    rows = [(b.name, b.value, b.trivial, b.vacuous, b.training, b.margin, b.delta, b.source) for b in found.bounds]
    rows += [
        (f"{x.name} ({of})", x.value, x.trivial, x.vacuous, x.estimate, np.nan, x.delta, x.source)
        for of, several in limits.items()
        for x in several
    ]
    columns = ["error", "value", "trivial", "vacuous", "observed", "margin", "delta", "source"]
    frame = pd.DataFrame(rows, columns=columns).set_index("error")
    frame.attrs["notes"] = found.notes
    return frame


def copied(data: Any, index: pd.Index | None) -> pd.DataFrame:
    """A pandas copy of the user's data on `index`; None numbers the rows of data that have no index."""
    if isinstance(data, pd.DataFrame):
        return data.copy()
    if not isinstance(data, dict):
        import narwhals as nw

        data = nw.from_native(data, eager_only=True).to_dict(as_series=False)
    return pd.DataFrame(data, index=index)
