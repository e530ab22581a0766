"""What stands below a table of models: what its numbers are, and where they do not compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from .column import CRITERIA, ModelColumn
from .layout import FIT, STARS, Layout

_BELOW = {
    "std_error": "Standard errors in parentheses",
    "interval": "{level:g} % confidence limits in brackets; standard errors",
    "p_value": "p-values in parentheses; standard errors",
    None: "Standard errors",
}


def notes_of(columns: Sequence[ModelColumn], layout: Layout, frame: pd.DataFrame, level: float) -> Iterator[str]:
    """The notes of a table.

    Parameters
    ----------
    columns : sequence of ModelColumn
    layout : Layout
    frame : pandas.DataFrame
        All numbers of the table.
    level : float
        Of the limits.
    """
    names = layout.heads[-1]
    exponents = any(column.ratio for column in columns)
    if exponents:
        measures = [_measure(column) for column in columns]
        told = _by_model(measures, names)
        if told in measures:  # of all models; else it begins with the name of one, which is the user's
            told = told[0].upper() + told[1:]
        kept = any(part == "threshold" for part, _ in layout.models)
        yield told + "; thresholds are not exponentiated." * kept + "." * (not kept)
    if layout.with_errors and (layout.stars or layout.below is not None):
        told = _by_model([column.errors or "none" * (not column.parameters.empty) for column in columns], names)
        delta = ", of ratios by the delta method" if exponents and layout.below == "std_error" else ""
        yield f"{_BELOW[layout.below].format(level=100 * level)}{delta}: {told}."
    if layout.stars:
        yield ", ".join(f"{'*' * (i + 1)} p < {f'{p:g}'[1:]}" for i, p in enumerate(STARS)) + "."
    if any(column.aliased for column in columns):
        yield "NA: not estimated, as other terms determine it."
    separated = {
        name: column for name, column in zip(names, columns, strict=True) if column.infinite or column.left_open
    }
    if separated:
        open_ = " or not determined (NA)" if any(column.left_open for column in separated.values()) else ""
        told = f"the response is separated, so that estimates are infinite{open_} and have no errors."
        yield f"{', '.join(separated)}: {told}"
    lacking = [column.without_aic for column in columns]
    if any(lacking) and any((FIT, name, "value") in frame.index for name in CRITERIA):
        yield f"No AIC and BIC of {_of_each(lacking, names)}."
    if _not_compared(columns, layout, frame):
        yield "Models of different rows or responses: their likelihoods, AIC and BIC do not compare."


def _measure(column: ModelColumn) -> str:
    """What the effects of a model are shown as; empty where it has none."""
    there = not column.parameters.empty
    return column.ratio or ("coefficients of the score" if there else "")


def _by_model(texts: Sequence[str], names: Sequence[str]) -> str:
    """One text for all models, or which models each is of."""
    alike = _alike(texts, names)
    if len(alike) == 1:
        return next(iter(alike))
    return "; ".join(f"{', '.join(of)}: {text}" for text, of in alike.items())


def _of_each(texts: Sequence[str], names: Sequence[str]) -> str:
    """Models and what is said of them, one text after another."""
    return "; of ".join(f"{', '.join(of)}: {text}" for text, of in _alike(texts, names).items())


def _alike(texts: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    return {text: [name for name, own in zip(names, texts, strict=True) if own == text] for text in texts if text}


def _not_compared(columns: Sequence[ModelColumn], layout: Layout, frame: pd.DataFrame) -> bool:
    """Whether likelihoods of models of different data stand side by side."""
    shown: Iterable[str] = frame.index.get_level_values("term")[frame.index.get_level_values("part") == FIT]
    if not {"loglik", "aic", "bic"} & {*shown}:
        return False
    of_data = {(column.response, column.figures["nobs"]) for column in columns if "loglik" in column.figures}
    return len(of_data) > 1
