"""Data frames that print their title above and their notes below their rows, and go into papers as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from .cells import MISSING, broom_frame, column_cells, with_digits
from .grid import Grid, by_numbers, grid_text, html, titled

_WIDTH = 80
_FORMATS = {
    "estimate": "estimate", "std_error": "estimate", "lower": "estimate", "upper": "estimate", "difference": "estimate",
    "conf_low": "estimate", "conf_high": "estimate", "variance": "estimate", "sd": "estimate", "bias": "estimate",
    "statistic": ".3f", "chisq": ".3f", "F": ".3f", "lr_stat": ".3f", "lrt": ".3f", "deff": ".3f", "riv": ".3f",
    "loglik": ".3f", "null_loglik": ".3f", "aic": ".2f", "bic": ".2f",
    "df": "int", "no_par": "int", "nobs": "int", "edf": "int", "df_residual": "int", "lr_df": "int",
    "df_resid": ".1f", "df_denom": ".1f", "p_value": "p3",
}  # fmt: skip
#: Text of more characters than this is listed below the rows.
_LONG = 40
#: Of longer frames the first rows are printed.
_MOST_ROWS = 100
#: One row of more columns than this is shown as a column.
_WIDE = 8


class NotedFrame(pd.DataFrame):
    """A data frame that prints its title and notes with its rows, all columns in 80 characters.

    The title is `attrs["title"]`, the notes are `attrs["notes"]`. The numbers are those of any data frame, and a part
    of it or a copy is a plain data frame. Printed rows of a default index have no labels.

    """

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        notes: Iterable[str] | None = None,
        title: str | None = None,
        formats: Mapping[Any, str] | None = None,
        square: bool = False,
    ) -> NotedFrame:
        """A frame with a title and notes, its own if not given, and formats where names of columns do not tell them.

        A square one has the same names in rows and columns: where they are long, columns go by numbers.
        """
        found = cls(frame)
        own = {"notes": [], "title": "", **frame.attrs}
        found.attrs = (
            own | ({} if notes is None else {"notes": list(notes)}) | ({} if title is None else {"title": title})
        )
        if formats is not None:
            found.attrs["formats"] = dict(formats)
        if square:
            found.attrs["square"] = True
        return found

    def tidy(self) -> NotedFrame:
        """The table under the names that broom has for all tables, row labels as a column, levels one below another.

        Confidence limits are "conf_low" and "conf_high", what is tested is "statistic", its degrees of freedom "df" (of
        an F the second ones "den_df"), terms "term".

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.drop1().tidy().columns.tolist()
        ['term', 'df', 'aic', 'statistic', 'p_value']
        >>> fit.predict(type="prob", interval="confidence").tidy().columns.tolist()
        ['row', 'level', 'estimate', 'conf_low', 'conf_high']
        """
        kept = {name: self.attrs[name] for name in ("notes", "title") if name in self.attrs}
        return NotedFrame.of(broom_frame(self), **kept)

    def _grid(self, frame: pd.DataFrame, digits: int | None = None, more: Sequence[str] = ()) -> Grid:
        notes = [*self.attrs.get("notes", []), *more]
        grid = frame_grid(frame, notes, self.attrs.get("title", ""), self.attrs.get("formats"), digits)
        return by_numbers(grid, _WIDTH) if self.attrs.get("square") else grid

    def _printed(self) -> Grid:
        if len(self) <= _MOST_ROWS:
            return self._grid(self)
        return self._grid(self.head(_MOST_ROWS), None, [f"The first {_MOST_ROWS} of {len(self):,} rows."])

    def __repr__(self) -> str:
        return _text(self._printed())

    def _repr_html_(self) -> str:
        return html(self._printed())


def noted_text(frame: pd.DataFrame, notes: Sequence[str], title: str = "") -> str:
    """A table, its title and its notes, as text."""
    return _text(frame_grid(frame, notes, title))


def noted_html(frame: pd.DataFrame, notes: Sequence[str], title: str = "") -> str:
    """A table, its title and its notes, for notebooks."""
    return html(frame_grid(frame, notes, title))


def frame_grid(
    frame: pd.DataFrame,
    notes: Iterable[str] = (),
    title: str = "",
    formats: Mapping[Any, str] | None = None,
    digits: int | None = None,
) -> Grid:
    """A frame as text: what its index says first, and columns of long text among the notes."""
    labels = _labels(frame)
    cells, long = _cells(frame, formats, digits, bool(labels))
    names = [name for name, _ in (*labels, *cells)]
    columns = [column for _, column in (*labels, *cells)]
    n_labels = len(labels)
    if not names:
        names, columns, n_labels = [("(no columns)",)], [[]], 1
    elif not labels and _is_long(columns[0]):  # long names are broken into lines, as those of an index are
        n_labels = 1
    if len(frame) == 1 and len(names) > _WIDE and not labels:
        names, columns, n_labels = (
            [("figure",), ("value",)],
            [[name[-1] for name in names], [cell for [cell] in columns]],
            1,
        )
    return Grid(
        title=title,
        heads=tuple(zip(*names, strict=True)),
        rows=tuple(zip(*columns, strict=True)),
        align="".join("l" if i < n_labels or _is_text(column) else "r" for i, column in enumerate(columns)),
        n_labels=n_labels,
        notes=(*long, *notes),
    )


#: Lines of a head over a column, and its cells.
_Column = tuple[tuple[str, ...], list[str]]


def _text(grid: Grid) -> str:
    """Rows of a default index as pandas prints them, if a line has room for all columns."""
    if grid.n_labels == 0 and len(grid.heads) == 1:
        shown = pd.DataFrame(list(grid.rows), columns=pd.Index(grid.names)).to_string(index=False)
        if len(shown.partition("\n")[0]) <= _WIDTH:
            return titled(shown, grid, _WIDTH)
    return grid_text(grid, _WIDTH)


def _labels(frame: pd.DataFrame) -> list[_Column]:
    """The columns of an index of names; an outer label is not repeated."""
    index = frame.index
    if isinstance(index, pd.RangeIndex) and frame.columns.nlevels == 1 and index.name is None:
        return []
    found = []
    for level in range(index.nlevels):
        texts = [_indented(_one_line(value)) for value in index.get_level_values(level)]
        if level < index.nlevels - 1:
            texts = [text if i == 0 or text != texts[i - 1] else "" for i, text in enumerate(texts)]
        name = index.names[level]
        found.append((("",) * (frame.columns.nlevels - 1) + ("" if name is None else str(name),), texts))
    return found


def _cells(
    frame: pd.DataFrame, formats: Mapping[Any, str] | None, digits: int | None, labelled: bool
) -> tuple[list[_Column], list[str]]:
    """Cells as text by column, numbers that are no results as they are; and what columns of long text say."""
    cells: list[_Column] = []
    long: list[str] = []
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        spec = _format(name, column) if formats is None else formats.get(name)
        texts = [_one_line(text) for text in column_cells(column, with_digits(spec, column, digits))]
        if (place or labelled) and _is_long(texts):
            said = dict.fromkeys(zip(texts, frame.index, strict=True))
            long += [f"{name} of {label}: {text}" for text, label in said]
        else:
            head = tuple(str(part).strip() for part in (name if isinstance(name, tuple) else (name,)))
            cells.append((head, ["" if text == MISSING else text for text in texts] if labelled else texts))
    return cells, long


def _is_long(column: Sequence[str]) -> bool:
    """Whether a column holds sentences."""
    return max(map(len, column), default=0) > _LONG and _is_text(column)


def _one_line(value: Any) -> str:
    return " ".join(str(value).splitlines())


def _indented(label: str) -> str:
    """A label whose blanks at its beginning, as of the nodes of a tree, are kept by every export."""
    text = label.lstrip(" ")
    return "\N{NO-BREAK SPACE}" * (len(label) - len(text)) + text


def _is_text(column: Sequence[str]) -> bool:
    """Whether a column holds words."""
    return any(text[:1].isalpha() for text in column if text not in (MISSING, "inf"))


def _format(name: Any, column: pd.Series) -> str:
    """How the numbers of a column are shown, which users may have made a column of names."""
    if isinstance(name, tuple):
        name = name[0]
    if column.dtype.kind in "fiu":
        if name == "df" and not (column.isna() | (column % 1 == 0)).all():
            return ".1f"  # Satterthwaite's
        if str(name).endswith("p_value"):
            return "p3"
        return _FORMATS.get(name, "g" if column.dtype.kind == "f" else "int")
    return "bool" if column.dtype.kind == "b" else "text"
