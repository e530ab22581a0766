"""The summary of a large-margin ranker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..report.report import Report, Table
from ..report.sections import alert_notes, certificate_text, data_header, selection_table, shared_tables, shortened

if TYPE_CHECKING:
    from .margin import MarginResults


def margin_report(r: MarginResults) -> Report:
    """All sections of the summary."""
    tables = [shortened(Table(title="Thresholds", frame=r.thresholds.to_frame()), ".thresholds")]
    if r.fit.coefficients is not None:
        title = "Coefficients of the score (positive = higher response)"
        tables.insert(0, Table(title=title, frame=r.coef.to_frame()))
    if r.fit.selection is not None:
        tables.append(selection_table(r.fit.selection))
    return Report(
        title=f"Large-margin ranker: {r.design.formula}",
        header=(*data_header(r), ("Certificate", certificate_text(r.certificate, r.trace))),
        tables=(*tables, *shared_tables(r)),
        notes=(*alert_notes(r), *r.margin_bounds.notes),
    )
