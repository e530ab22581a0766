"""Tables for Word. Imports maketables, so it is imported late."""

from __future__ import annotations

from typing import Any

import pandas as pd
from maketables import MTable


class WordTable(MTable):
    """A table for Word, with a head above its first column.

    Parameters
    ----------
    cells : pandas.DataFrame
        Texts; the index labels the rows.
    remarks : str
        Notes below the table.
    title : str or None
    head : str, or tuple of str for columns with several heads
    """

    def __init__(
        self, cells: pd.DataFrame, remarks: str, title: str | None, head: Any
    ) -> None:
        super().__init__(cells, remarks, title)
        self._head = head[-1] if isinstance(head, tuple) else head

    def _build_docx_table(self, table: Any, style: dict[str, object]) -> None:
        super()._build_docx_table(table, style)
        first, second, *_ = table.rows[self.df.columns.nlevels - 1].cells
        first.text = str(self._head)
        (run,) = first.paragraphs[0].runs
        font = second.paragraphs[0].runs[0].font
        run.font.name = font.name
        run.font.size = font.size
        run.font.color.rgb = font.color.rgb
