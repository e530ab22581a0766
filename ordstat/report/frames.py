"""Data frames that print with title and notes, and that can be exported for papers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import pandas as pd

from ..checks import one_of, path_given
from .cells import FORMATS, MISSING, column_cells, in_tex, wrapped
from .files import write_file
from .grid import SCREEN, TextGrid, by_numbers, grid_html, grid_lines

#: Printed heads of columns.
_HEADS = {
    "std_error": "SE",
    "p_value": "p",
    "conf_low": "lower",
    "conf_high": "upper",
    "coef_type": "part",
}
#: Texts of more characters than this are listed below the rows.
_LONG = 40
#: Longer texts are shortened before they are laid out.
_LONGEST_TEXT = 400
#: Longer frames print only the first rows.
_MOST_ROWS = 100
#: A single row with more columns than this is printed as a column.
_WIDE = 8


#: Columns that name parameters, columns or terms.
_NAMING = ("term", "parameter", "column", "name", "variable")


class _Labels(dict[str, str]):
    """Labels in `attrs`, not copied by pandas at every step: there may be many."""

    def __deepcopy__(self, memo: dict[int, Any]) -> _Labels:
        return self


def _around_latex(table: str, title: str, notes: Sequence[str]) -> str:
    """A LaTeX table with a bold title above and small notes below; notes of a float
    stay within it.
    """
    above = ""
    if title:
        bold = f"\\noindent\\textbf{{{in_tex(title)}}}\\par"
        above = f"{bold}\\nopagebreak\\smallskip\n\\noindent\n"
    below = ""
    if notes:
        lines = " ".join([in_tex(note) for note in notes])
        small = f"\\noindent{{\\footnotesize {lines}\\par}}"
        below = f"\\par\\nopagebreak\\smallskip\n{small}\n"
    end = "\\end{table}\n"
    if table.endswith(end):
        return table.removesuffix(end) + below + end
    return above + table + below


def _around_markdown(table: str, title: str, notes: Sequence[str]) -> str:
    """A Markdown table with a bold title above and notes below."""
    above = [f"**{title}**"] if title else []
    return "\n\n".join([*above, table, *notes])


def _around_html(table: str, title: str, notes: Sequence[str]) -> str:
    """An HTML table with a bold title above and notes below."""
    above = [f"<p><b>{escape(title)}</b></p>"] if title else []
    return "\n".join([*above, table, *[f"<p>{escape(note)}</p>" for note in notes]])


_AROUND: dict[str, Callable[[str, str, Sequence[str]], str]] = {
    "to_latex": _around_latex,
    "to_markdown": _around_markdown,
    "to_html": _around_html,
}


class Exported:
    """Base class of tables that can be exported to LaTeX, Markdown, HTML and Word; it
    prints the same tables.
    """

    def exported(self) -> list[NotedFrame]:
        """The tables to print and export."""
        raise TypeError(f"{type(self).__name__} has no tables")

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.exported()))

    def _repr_html_(self) -> str:
        return "".join([table._repr_html_() for table in self.exported()])

    def to_latex(self, buf: Any = None, **options: Any) -> Any:
        """The printed table as LaTeX (booktabs), with its notes.

        Parameters
        ----------
        buf : path or open file, optional
            Where to write; by default the text is returned.
        **options
            Options of pandas' `to_latex`. With `float_format`, `formatters` or
            `columns` pandas formats the numbers.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> means = ordfit("rating ~ temp", datasets.load("wine")).emmeans("temp")
        >>> means.to_latex().splitlines()[4].split(" & ")[:3]
        ['cold', '-1.1896', '0.3511']
        """
        return self._written("to_latex", buf, options)

    def to_markdown(self, buf: Any = None, **options: Any) -> Any:
        """The printed table as Markdown, with its notes; with `floatfmt` pandas formats
        the numbers.

        Parameters
        ----------
        buf : path or open file, optional
        **options
            Options of pandas' `to_markdown`.
        """
        return self._written("to_markdown", buf, options)

    def to_html(self, buf: Any = None, **options: Any) -> Any:
        """The printed table as HTML, with its notes; with `float_format` and the like
        pandas formats the numbers.

        Parameters
        ----------
        buf : path or open file, optional
        **options
            Options of pandas' `to_html`.
        """
        return self._written("to_html", buf, options)

    def to_word(self, path: str | os.PathLike[str]) -> None:
        """Write the printed table with its notes to a Word file (.docx), a new or an
        existing one.

        Tables of an existing file stay; the new ones follow them. A table that is wider
        than a page becomes several.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        ImportError
            maketables is not installed.
        """
        try:
            from .word import WordTable
        except ImportError as error:
            raise ImportError(
                "to_word() needs the package maketables. Install it: pip install"
                " maketables"
            ) from error
        target = os.path.abspath(path_given("path", path))
        one_of("the ending of path", os.path.splitext(target)[1], (".docx",))
        for table in self.exported():
            shown = table.shown()
            names = [n for n in (shown.index.name, table.index.name) if n is not None]
            head = names[0] if names else ""
            if isinstance(shown.index, pd.RangeIndex):
                head = shown.columns[0]
                shown = shown.set_index(head)
            shown = shown.rename_axis(None)
            notes = " ".join(map(str, table.attrs.get("notes", [])))
            title = table.attrs.get("title") or None
            *first, last = _of_page_width(shown)
            for part in first:
                WordTable(part, "", title, head).update_docx(target)
            WordTable(last, notes, title, head).update_docx(target)

    def _written(self, name: str, buf: Any, options: Mapping[str, Any]) -> str | None:
        between = "\n\\par\\bigskip\n" if name == "to_latex" else "\n\n"
        text = between.join(
            [table.in_format(name, options) for table in self.exported()]
        )
        if buf is None:
            return text
        if hasattr(buf, "write"):
            buf.write(text)
        else:
            write_file(buf, text.encode())
        return None


#: Columns of numbers that fit on a page in a text processor.
_PAGE_COLUMNS = 10


def _of_page_width(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """The frame in parts that fit on a page: a part for each statistic if columns have
    two heads.
    """
    count = frame.shape[1]
    if count <= _PAGE_COLUMNS:
        return [frame]
    if isinstance(frame.columns, pd.MultiIndex):
        heads = frame.columns.get_level_values(0)
        return [frame.loc[:, heads == head] for head in dict.fromkeys(heads)]
    starts = range(0, count, _PAGE_COLUMNS)
    return [frame.iloc[:, start : start + _PAGE_COLUMNS] for start in starts]


class NotedFrame(Exported, pd.DataFrame):
    """A data frame that prints with a title and notes, in lines of 80 characters.

    The title is `attrs["title"]`, the notes are `attrs["notes"]`. The numbers are not
    rounded. A part or a copy of it is a plain data frame. Rows of a default index are
    printed without labels.

    """

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        notes: Iterable[str] | None = None,
        title: str | None = None,
        formats: Mapping[Any, str] | None = None,
        square: bool = False,
        labels: Mapping[str, str] | None = None,
        hidden: Iterable[int] = (),
    ) -> NotedFrame:
        """A frame with a title, notes (by default, those of `frame`), and formats that
        column names do not imply. Rows at the places `hidden` do not print.

        A square frame has the same names in rows and columns; long names of columns are
        printed as numbers. `labels` are readable names of columns, terms and parameters
        for `shown` and the exports.
        """
        noted = cls(frame)
        noted.attrs = {"notes": [], "title": "", **frame.attrs}
        if notes is not None:
            noted.attrs["notes"] = list(notes)
        if title is not None:
            noted.attrs["title"] = title
        if square:
            noted.attrs["square"] = True
        if formats is not None:
            noted.attrs["formats"] = dict(formats)
        if labels is not None:
            noted.attrs["labels"] = _Labels(labels)
        noted.attrs.pop("hidden", None)  # of other rows
        if places := list(hidden):
            noted.attrs["hidden"] = places
        return noted

    def tidy(self) -> NotedFrame:
        """Long format: column names of R's broom, row labels as a column, and a row for
        each level.

        Confidence limits are "conf_low" and "conf_high", test statistics "statistic",
        degrees of freedom "df" (those of the denominator of an F test "den_df"), terms
        "term".

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.drop1().tidy().columns.tolist()
        ['term', 'df', 'aic', 'statistic', 'p_value']
        >>> fit.predict(type="prob", interval="confidence").tidy().columns.tolist()
        ['row', 'level', 'estimate', 'conf_low', 'conf_high']
        """
        kept = {
            name: self.attrs[name]
            for name in ("notes", "title", "labels")
            if name in self.attrs
        }
        return NotedFrame.of(broom_frame(self), **kept)

    def _grid(self) -> TextGrid:
        notes = list(self.attrs.get("notes", []))
        printed = pd.DataFrame(self)
        if places := self.attrs.get("hidden"):
            printed = printed.drop(index=printed.index[places]).reset_index(drop=True)
        if len(printed) > _MOST_ROWS:
            notes.append(f"The first {_MOST_ROWS} of {len(printed):,} rows.")
        title = self.attrs.get("title", "")
        formats = self.attrs.get("formats")
        grid = frame_grid(printed.head(_MOST_ROWS), notes, title, formats)
        return by_numbers(grid) if self.attrs.get("square") else grid

    def shown(self) -> pd.DataFrame:
        """The table as printed and exported: a data frame of strings with readable
        column and row labels.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.tidy().shown().iloc[-1, :3].tolist()
        ['contact: yes', '1.5278', '0.4766']
        """
        grid = self._grid()
        labels: Mapping[str, str] = self.attrs.get("labels", {})
        named = [
            i < grid.n_labels or text in _NAMING
            for i, text in enumerate(grid.heads[-1])
        ]
        rows = []
        for row in grid.rows:
            pairs = zip(row, named, strict=True)
            rows.append(
                [labels.get(text, text) if name else text for text, name in pairs]
            )
        heads = []
        for head in grid.heads:
            heads.append([_HEADS.get(text, labels.get(text, text)) for text in head])
        columns = pd.Index(heads[0])
        if len(heads) > 1:
            columns = pd.MultiIndex.from_arrays(heads)
        frame = pd.DataFrame(rows, columns=columns)
        if grid.n_labels != 1:
            return frame
        return frame.set_index(frame.columns[0]).rename_axis(None)

    def exported(self) -> list[NotedFrame]:
        return [self]

    def in_format(self, name: str, options: Mapping[str, Any]) -> str:
        """The table with title and notes, exported by a method of pandas.

        Parameters
        ----------
        name : str
            Such as "to_latex".
        options : mapping
            Of that method.
        """
        table = str(self._exported(name, options)())
        title = "" if "caption" in options else self.attrs.get("title", "")
        notes = [str(note) for note in self.attrs.get("notes", [])]
        return _AROUND[name](table, title, notes)

    def _exported(self, name: str, options: Mapping[str, Any]) -> Any:
        """The method of pandas, with the options that the printed table needs."""
        if {"float_format", "formatters", "floatfmt", "columns"} & set(options):
            return partial(getattr(pd.DataFrame(self), name), **options)
        shown = self.shown()
        align = self._grid().align
        options = {"index": not isinstance(shown.index, pd.RangeIndex), **options}
        if name == "to_latex":
            shown = shown.map(in_tex).rename(index=in_tex, columns=in_tex)
            options = {"column_format": align, **options}
        elif name == "to_markdown":
            shown = shown.map(lambda text: text.replace("|", "\\|"))
            sides = [{"l": "left", "r": "right"}[side] for side in align]
            options = {"disable_numparse": True, "colalign": sides, **options}
        return partial(getattr(shown, name), **options)

    def __repr__(self) -> str:
        """The printed table; rows of a default index print as in pandas if all columns
        fit in a line.
        """
        grid = self._grid()
        lines = grid_lines(grid)
        if grid.n_labels == 0 and len(grid.heads) == 1:
            plain = pd.DataFrame(list(grid.rows), columns=pd.Index(grid.heads[0]))
            shown = plain.to_string(index=False).split("\n")
            if len(shown[0]) <= SCREEN:
                lines = [*wrapped(grid.title, SCREEN), *shown]
        if grid.notes:
            lines.append("")
        for note in grid.notes:
            lines += wrapped(note, SCREEN, rest="  ")
        return "\n".join([line.rstrip() for line in lines])

    def _repr_html_(self) -> str:
        return grid_html(self._grid())


def frame_grid(
    frame: pd.DataFrame,
    notes: Iterable[str],
    title: str,
    formats: Mapping[Any, str] | None,
) -> TextGrid:
    """A frame as a text grid: index labels first, columns of long text in the notes."""
    columns = _labels(frame)
    n_labels = len(columns)
    long = []
    for i, name in enumerate(frame.columns):
        values = frame.iloc[:, i]
        spec = _format(name, values, formats)
        texts = [one_line(text) for text in column_cells(values, spec)]
        if columns and _is_long(texts):
            named = dict.fromkeys(zip(texts, frame.index, strict=True))
            long += [f"{name} of {label}: {text}" for text, label in named]
            continue
        if n_labels:
            texts = ["" if text == MISSING else text for text in texts]
        parts = name if isinstance(name, tuple) else (name,)
        columns.append((tuple(str(part).strip() for part in parts), texts))
    if not columns:
        columns = [(("(no columns)",), [])]
        n_labels = 1
    elif n_labels == 0 and _is_long(columns[0][1]):
        n_labels = 1  # long names are broken into lines, like index labels
    elif n_labels == 0 and len(frame) == 1 and len(columns) > _WIDE:
        n_labels = 1
        columns = [
            (("figure",), [head[-1] for head, _ in columns]),
            (("value",), [texts[0] for _, texts in columns]),
        ]
    align = ""
    for i, (_, texts) in enumerate(columns):
        align += "l" if i < n_labels or _is_text(texts) else "r"
    return TextGrid(
        title=title,
        heads=tuple(zip(*(head for head, _ in columns), strict=True)),
        rows=tuple(zip(*(texts for _, texts in columns), strict=True)),
        align=align,
        n_labels=n_labels,
        notes=(*long, *notes),
    )


def _labels(frame: pd.DataFrame) -> list[tuple[tuple[str, ...], list[str]]]:
    """Head and texts of each index level, outer labels once; nothing for a default
    index.
    """
    index = frame.index
    numbered = isinstance(index, pd.RangeIndex) and index.name is None
    if numbered and frame.columns.nlevels == 1:
        return []
    above = ("",) * (frame.columns.nlevels - 1)
    columns = []
    for level, name in enumerate(index.names):
        texts = [one_line(value) for value in index.get_level_values(level)]
        if level < index.nlevels - 1:
            again = [i > 0 and texts[i] == texts[i - 1] for i in range(len(texts))]
            texts = [
                "" if same else text for same, text in zip(again, texts, strict=True)
            ]
        columns.append(((*above, "" if name is None else str(name)), texts))
    return columns


def one_line(value: Any) -> str:
    """A value as text in one line, without its middle if it is very long."""
    text = str(value)
    if len(text) > _LONGEST_TEXT:
        half = _LONGEST_TEXT // 2
        text = f"{text[:half]}...{text[-half:]}"
    return text.replace("\n", " ")


def _is_text(column: Sequence[str]) -> bool:
    """Whether a column holds words."""
    return any(text[:1].isalpha() for text in column if text not in (MISSING, "inf"))


def _is_long(column: Sequence[str]) -> bool:
    """Whether a column holds long texts."""
    return _is_text(column) and max(map(len, column)) > _LONG


def _format(
    name: Any, column: pd.Series, formats: Mapping[Any, str] | None
) -> str | None:
    """The format of a column, given or implied by its name and its type."""
    if formats is not None and name in formats:
        return formats[name]
    name = name[0] if isinstance(name, tuple) else name
    if column.dtype.kind not in "fiu":
        return "bool" if column.dtype.kind == "b" else "text"
    if name == "df" and not (column.isna() | (column % 1 == 0)).all():
        return ".1f"  # Satterthwaite's
    if str(name).endswith("p_value"):
        return "p"
    return FORMATS.get(name, "g" if column.dtype.kind == "f" else "int")


#: broom's names of columns that have R's names here.
BROOM_NAMES = {
    "lower": "conf_low",
    "upper": "conf_high",
    **dict.fromkeys(("chisq", "F", "lrt", "lr_stat"), "statistic"),
    **dict.fromkeys(("df_denom", "df_resid"), "den_df"),
    "no_par": "npar",
    "parameter": "term",
}


def broom_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A table with broom's column names, and row labels as a column.

    Parameters
    ----------
    frame : DataFrame
        Columns of two levels, as in predictions of all levels, become one row for each
        row and level.
    """
    table = pd.DataFrame(frame)
    if frame.columns.nlevels > 1:
        levels, kinds = (
            pd.unique(frame.columns.get_level_values(level)) for level in (1, 0)
        )
        named = {
            "row": frame.index.repeat(len(levels)),
            "level": [*levels] * len(frame),
        }
        long = {
            kind: frame[kind].reindex(columns=levels).to_numpy().reshape(-1)
            for kind in kinds
        }
        table = pd.DataFrame(named | long)
    # the index only numbers the rows
    elif frame.index.names == [None] and "term" in frame.columns:
        table = table.reset_index(drop=True)
    elif not isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None:
        table = table.reset_index(
            names=["term" if name is None else name for name in frame.index.names]
        )
    taken = set(table.columns)
    return table.rename(
        columns={
            old: new
            for old, new in BROOM_NAMES.items()
            if old in taken and new not in taken
        }
    )
