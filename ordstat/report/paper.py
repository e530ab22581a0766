"""The object that `table` returns. Imports maketables, so it is imported late."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pandas as pd
from maketables import MTable

from ..checks import one_of, path_given
from ..exceptions import DataWarning, warn
from .cells import in_tex, wrapped
from .grid import SCREEN

_PER = "per= shows larger steps, as in per={'age': 10}."
#: Columns of a table that fit across a page in portrait format.
_PAGE_COLUMNS = 9


class PaperTable(MTable):
    """A table for papers that prints as text and escapes its texts for LaTeX.

    Parameters
    ----------
    cells : pandas.DataFrame
        Texts; the index holds the group of each row and its label.
    remarks : sequence of str
        Notes below the table.
    title : str or None
    small : bool
        Whether effects are small, so that the printed table advises larger units.
    """

    def __init__(
        self,
        cells: pd.DataFrame,
        remarks: Sequence[str],
        title: str | None,
        small: bool,
    ) -> None:
        super().__init__(cells, " ".join(remarks), title, rgroup_display=False)
        self._remarks = [*remarks, _PER] if small else list(remarks)

    def __repr__(self) -> str:
        texts = self.df.map(lambda cell: " ".join(str(cell).split())).droplevel(0)
        printed = texts.to_string().splitlines()
        n_heads = len(printed) - len(texts)
        rule = "-" * max(map(len, printed))
        lines = [self.caption] if self.caption else []
        lines += printed[:n_heads]
        before = None
        groups = self.df.index.get_level_values(0)
        for group, line in zip(groups, printed[n_heads:], strict=True):
            if group != before:
                lines.append(rule)
            lines.append(line)
            before = group
        for text in self._remarks:
            lines += wrapped(text, max(len(rule), SCREEN))
        return "\n".join([line.rstrip() for line in lines])

    def save(self, file_name: str, type: str | None = None, **more: Any) -> None:  # type: ignore[override]
        """Write a file of the kind that its ending names."""
        _, ending = os.path.splitext(path_given("file_name", file_name))
        ending = ending.removeprefix(".")
        kind = type or {"typ": "typst"}.get(ending, ending)
        one_of("the ending of file_name", kind, ("tex", "typ", "typst", "docx", "html"))
        if kind == "docx":
            self._check_width()
        options = {"show": False, "replace": True, **more}
        MTable.save(self, kind, os.path.abspath(file_name), **options)

    def _check_width(self) -> None:
        """Warn of a table that is wider than a page."""
        if self.df.shape[1] > _PAGE_COLUMNS:
            warn(
                f"the table has {self.df.shape[1]} columns, more than the"
                f" {_PAGE_COLUMNS} that fit on a page. Give fewer fits, or"
                " style='paper' with exponentiate=True and below='interval'.",
                DataWarning,
            )

    def _output_tex(self, *args: Any, **more: Any) -> str:
        self._check_width()
        texts = self.df.map(in_tex).rename(index=in_tex, columns=in_tex)
        title = self.caption and in_tex(self.caption)
        escaped = MTable(texts, in_tex(self.notes), title, rgroup_display=False)
        return str(escaped._output_tex(*args, **more))
