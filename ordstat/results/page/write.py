"""`fit.report()`: a page about a fit in a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...checks import flag
from ...exceptions import OptionError
from ...files.write import write_file
from ..fitted import FittedRanker
from .content import page_of
from .html import as_page
from .markdown import as_markdown


def written_report(fit: FittedRanker, path: Any = None, *, pictures: bool = True) -> Any:
    """Write a page about the fit: question, data, summary, diagnosis in plain words, pictures, what to cite, versions.

    Parameters
    ----------
    path : str or path, optional
        "report.html" is one file that needs nothing else, neither network nor scripts. "report.docx" is a Word
        document (python-docx writes it). "report.md" is Markdown, with its pictures in the folder "report_files"
        beside it. A file that is there is written over. Without it the summary is returned as data, as
        `fit.summary().data`.
    pictures : bool
        Whether to draw (by matplotlib).

    Returns
    -------
    pathlib.Path
        Of the file.

    Raises
    ------
    OptionError
        A path of another ending, in a folder that is not there, or of a Word document without python-docx.
    DataError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp", datasets.load("wine"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = fit.report(Path(folder) / "wine.html", pictures=False).read_text("utf-8")
    >>> page.partition("<h1>")[2].partition("</h1>")[0]
    'Cumulative link model: rating ~ temp'
    """
    if path is None:
        return fit.summary_data()
    target = page_target(path)
    ending = target.suffix.lower()
    _WRITERS[ending](page_of(fit, flag("pictures", pictures), lines=ending != _WORD), target)
    return target


def page_target(path: Any) -> Path:
    """Where to write a page; OptionError for a path that none can be written to, before any work is done."""
    target = Path(path) if isinstance(path, (str, os.PathLike)) else None
    if target is None or target.suffix.lower() not in _WRITERS:
        raise OptionError(f"path must be the name of a file that ends in .html, .md or .docx; got {path!r}.")
    if not target.parent.is_dir():
        raise OptionError(f"path must be in a folder that is there; got {path!r}. Make {str(target.parent)!r} first.")
    if target.suffix.lower() == _WORD:
        try:
            import docx  # noqa: F401
        except ImportError as error:
            raise OptionError(
                f"path must end in .html or .md, as python-docx is not installed; got {path!r}. For Word: "
                "pip install ordstat[docx]."
            ) from error
    return target


def _write_html(page: Any, path: Path) -> None:
    write_file(path, as_page(page).encode())


def _write_markdown(page: Any, path: Path) -> None:
    folder = path.with_name(f"{path.stem}_files")
    text, files = as_markdown(page, folder.name)
    if files:
        folder.mkdir(exist_ok=True)
    for name, data in files.items():
        write_file(folder / name, data)
    write_file(path, text.encode())


def _write_word(page: Any, path: Path) -> None:
    from .word import as_word

    write_file(path, as_word(page))


_WORD = ".docx"
_WRITERS = {".html": _write_html, ".htm": _write_html, ".md": _write_markdown, _WORD: _write_word}
