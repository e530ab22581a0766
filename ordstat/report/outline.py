"""A model before it is fitted: what `ordfit(..., fit=False)` returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..checks import available_memory
from ..formula.sample import Sample
from .cells import count, wrapped
from .grid import SCREEN

if TYPE_CHECKING:
    from .._typing import AnyArray
    from ..formula.design import Design
    from ..method import Method

#: Longest lists that are printed whole, and how many are printed of longer ones at
#: either end.
_MOST = 14
_AT_EACH_END = 5
#: Width of the labels of lines.
_LABEL = 12
_MEGABYTE = 1e6
_GIGABYTE = 1e9


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelOutline:
    """Description of a model before it is fitted, returned by `ordfit(..., fit=False)`.

    Attributes
    ----------
    formula : str
    method : Method
    parameters : list of str
        Names of the parameters, as in `params` of the fit; for random effects the
        standard deviations and correlations. Empty for methods without named
        coefficients.
    columns : dict of str to list of str
        Names of the "location", "nominal" and "scale" columns, where there are any.
    level_counts : pandas.Series
        Sum of the case weights of the rows with each level, lowest level first;
        responses known only as an interval are not counted.
    n_rows, n_given : int
        Rows used, and rows of the data.
    dropped : dict of str to int
        Rows left out because of missing values, by variable (a row may count for
        several), or with "(weight 0)".
    memory : dict of str to float
        Approximate bytes: "data" for the arrays of the rows used, "fit" at most for the
        fit, and "available". For rows in blocks, of those in memory.
    notes : tuple of str
        Warnings about the data that the fit would give.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> ordfit("rating ~ temp * contact", wine, fit=False)
    Not fitted: rating ~ temp * contact
    Method      CumulativeLink()
    Rows        72
    Levels      1 (5), 2 (22), 3 (26), 4 (12), 5 (7)
    Columns     temp[T.warm], contact[T.yes], temp[T.warm]:contact[T.yes]
    Parameters  1|2, 2|3, 3|4, 4|5, temp[T.warm], contact[T.yes],
                temp[T.warm]:contact[T.yes]
    Memory      under 1 MB
    """

    formula: str
    method: Method
    parameters: list[str]
    columns: dict[str, list[str]]
    level_counts: pd.Series
    n_rows: int
    n_given: int
    dropped: dict[str, int]
    memory: dict[str, float]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        levels = [f"{name} ({count(n)})" for name, n in self.level_counts.items()]
        names = {"location": "Columns", "nominal": "Nominal", "scale": "Scale"}
        lines = {
            "Method": str(self.method),
            "Rows": self._rows(),
            "Levels": _shortened(levels),
            **{names[part]: _shortened(given) for part, given in self.columns.items()},
        }
        if self.parameters:
            lines["Parameters"] = _shortened(self.parameters)
        lines["Memory"] = self._memory()
        printed = wrapped(self.formula, SCREEN, "Not fitted: ", " " * _LABEL)
        for label, text in lines.items():
            printed += wrapped(text, SCREEN, label.ljust(_LABEL), " " * _LABEL)
        for note in self.notes:
            printed += wrapped(note, SCREEN, "* ", "  ")
        return "\n".join(printed)

    def _rows(self) -> str:
        """The rows used, and how many are left out."""
        left_out = self.n_given - self.n_rows
        if not left_out:
            return f"{self.n_rows:,}"
        return f"{self.n_rows:,} of {self.n_given:,}, {left_out:,} left out"

    def _memory(self) -> str:
        """The bytes of the data and of the fit, and whether there is room for them."""
        data = self.memory["data"]
        fit = self.memory["fit"]
        if data + fit < _MEGABYTE:
            return "under 1 MB"
        text = f"{_size_text(data)} of data, about {_size_text(fit)} for the fit"
        room = self.memory["available"]
        if fit <= room:
            return text
        return f"{text}, and {_size_text(room)} are available"


def _size_text(size: float) -> str:
    """Bytes in megabytes, or in gigabytes if they are many."""
    unit = _GIGABYTE if size >= _GIGABYTE else _MEGABYTE
    name = "GB" if size >= _GIGABYTE else "MB"
    return f"{size / unit:,.1f} {name}"


def _shortened(names: Sequence[Any]) -> str:
    """The names; of very many their number, and the first and the last."""
    texts = [str(name) for name in names]
    if len(texts) <= _MOST:
        return ", ".join(texts)
    shown = [*texts[:_AT_EACH_END], "...", *texts[-_AT_EACH_END:]]
    return f"{len(texts):,}: {', '.join(shown)}"


def outline_of(design: Design, method: Method) -> ModelOutline:
    """The outline of a method and a design, checked as for a fit.

    Parameters
    ----------
    design : Design
    method : Method
    """
    sample = design.sample
    method.check(sample)
    names = design.spec.names
    counts = sample.exact_counts()
    n_rows = sample.n
    if design.blocks is not None:
        held: Any = design
        counts = held.counts
        n_rows = held.n_used
    return ModelOutline(
        formula=design.formula,
        method=method,
        parameters=method.parameter_names(design),
        columns={part: list(given) for part, given in names.items() if given},
        level_counts=pd.Series(counts, index=list(design.levels.values)),
        n_rows=n_rows,
        n_given=design.n_given,
        dropped=dict(design.dropped),
        memory={
            "data": _size(sample),
            "fit": method.memory(sample),
            "available": available_memory(),
        },
        notes=design.notes,
    )


def _size(sample: Sample) -> float:
    """Bytes of the arrays of a sample."""
    rows = sample.rows
    arrays: list[AnyArray | None]
    arrays = [rows.X, rows.nominal, rows.scale, rows.offset, rows.scale_offset]
    arrays += [getattr(sample, name) for name in sample.by_row]
    if rows.random is not None:
        for term in rows.random.terms:
            arrays += [term.z, term.codes]
    return float(sum(array.nbytes for array in arrays if array is not None))
