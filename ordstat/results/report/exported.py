"""What can be shown in a paper: the same cells as LaTeX, Markdown, Typst, HTML and in a Word document."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike, fspath

from ...checks import text as one_text
from ...checks import whole
from ...exceptions import OptionError
from ...files.write import write_file
from .export.html import html
from .grid import Grid

#: A file to write to.
Where = str | PathLike[str] | None
_LABEL = re.compile(r"[\w:.-]+")
MOST_DIGITS = 15


class Exported:
    """Tables that can be exported; where there are several, one comes after another."""

    def grids(self, digits: int | None = None) -> Sequence[Grid]:
        """The tables as text.

        Parameters
        ----------
        digits : int, optional
        """
        raise TypeError(f"{type(self).__name__} defines no tables")

    def to_latex(
        self, path: Where = None, *, digits: int | None = None, caption: str | None = None, label: str | None = None
    ) -> str:
        r"""LaTeX for a document with ``\usepackage{booktabs}``, notes below the table.

        A table wider than the page has smaller letters and, if it must, blocks of columns below each other; one longer
        than the page is a ``longtable``, for which the document says ``\usepackage{longtable}``. Letters that pdflatex
        has not, such as Chinese ones, need LuaLaTeX or XeLaTeX and a font that has them.

        Parameters
        ----------
        path : str or path, optional
            A file to write it to.
        digits : int from 0 to 15, optional
            Decimals of estimates and other measures; p-values and counts stay as they are. As many as the numbers need
            unless given.
        caption : str, optional
            In place of the title; "" for none.
        label : str, optional
            For ``\ref``.

        Returns
        -------
        str

        Raises
        ------
        OptionError
            digits, path, caption or label of another kind.
        DataError
            The file cannot be written.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> print(fit.confint("temp").to_latex(digits=2))
        \begin{table}[htbp]
        \centering
        \caption{Wald limits, 95 \%}
        \begin{tabular}{lrr}
        \toprule
         & lower & upper \\
        \midrule
        temp{[}T.warm{]} & 1.47 & 3.54 \\
        \bottomrule
        \end{tabular}
        \par\smallskip
        {\footnotesize\raggedright
        Standard errors: observed information.\par
        }
        \end{table}
        <BLANKLINE>
        """
        from .export.latex import latex

        return self._text(lambda grid, place: latex(grid, _numbered(label, place)), path, digits, caption)

    def to_markdown(self, path: Where = None, *, digits: int | None = None, caption: str | None = None) -> str:
        """A pipe table for GitHub, notebooks, Quarto and pandoc, with title and notes.

        Parameters
        ----------
        path, digits, caption
            As in `to_latex`.

        Returns
        -------
        str

        Raises
        ------
        OptionError
            digits, path or caption of another kind.
        DataError
            The file cannot be written.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> print(fit.confint("temp").to_markdown(digits=2, caption=""))
        |              | lower | upper |
        | :----------- | ----: | ----: |
        | temp[T.warm] |  1.47 |  3.54 |
        <BLANKLINE>
        Standard errors: observed information.
        <BLANKLINE>
        """
        from .export.markdown import markdown

        return self._text(lambda grid, place: markdown(grid), path, digits, caption)

    def to_typst(
        self, path: Where = None, *, digits: int | None = None, caption: str | None = None, label: str | None = None
    ) -> str:
        """A Typst figure that holds the table, notes below it.

        Parameters
        ----------
        path, digits, caption
            As in `to_latex`.
        label : str, optional
            For ``@label``.

        Returns
        -------
        str

        Raises
        ------
        OptionError
            digits, path, caption or label of another kind.
        DataError
            The file cannot be written.
        """
        from .export.typst import typst

        return self._text(lambda grid, place: typst(grid, _numbered(label, place)), path, digits, caption)

    def to_html(self, path: Where = None, *, digits: int | None = None, caption: str | None = None) -> str:
        """A table element for a web page, with title and notes; parameters as in `to_markdown`.

        Parameters
        ----------
        path, digits, caption

        Returns
        -------
        str
        """
        return self._text(lambda grid, place: html(grid), path, digits, caption)

    def to_docx(self, path: str | PathLike[str], *, digits: int | None = None, caption: str | None = None) -> None:
        """A Word document with the table, fitted to the width of its page; python-docx writes it.

        ``pip install ordstat[docx]`` installs it.

        Parameters
        ----------
        path : str or path
            The file to write.
        digits, caption
            As in `to_latex`.

        Raises
        ------
        ImportError
            python-docx is not installed.
        OptionError
            digits, path or caption of another kind.
        DataError
            The file cannot be written.
        """
        from .export.word import write_docx

        if path is None or not str(path).lower().endswith(".docx"):
            raise OptionError(f"path must be the file to write, such as 'table.docx'; got {path!r}.")
        grids = self._captioned(digits, caption)
        write_file(_checked(path), lambda file: write_docx(grids, file))

    def _captioned(self, digits: int | None, caption: str | None) -> list[Grid]:
        """The tables, the first with another title where one is given."""
        if digits is not None:
            digits = whole("digits", digits, 0, MOST_DIGITS)
        one_text("caption", caption)
        first, *others = self.grids(digits)
        return [first if caption is None else replace(first, title=caption), *others]

    def _text(self, written: Callable[[Grid, int], str], path: Where, digits: int | None, caption: str | None) -> str:
        grids = self._captioned(digits, caption)
        text = "\n".join(written(grid, place) for place, grid in enumerate(grids))
        if path is not None:
            write_file(_checked(path), text.encode())
        return text


def _checked(path: str | PathLike[str]) -> str | PathLike[str]:
    if not isinstance(path, (str, PathLike)):
        raise OptionError(f"path must be the name of a file; got a {type(path).__name__}.")
    if "\0" in fspath(path):
        raise OptionError(f"path must be the name of a file, which has no null character; got {path!r}.")
    return path


def _numbered(label: str | None, place: int) -> str | None:
    """The label of one of several tables: those after the first have a number."""
    if label is None:
        return None
    if not isinstance(label, str) or not _LABEL.fullmatch(label):
        raise OptionError(f"label must be letters, digits and - _ : . such as 'tab:wine'; got {label!r}.")
    return label if place == 0 else f"{label}-{place + 1}"
