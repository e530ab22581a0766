"""`fit.report()`: a page about a fit in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...checks import flag
from ...exceptions import OptionError
from ..fitted import FittedRanker
from .content import page_of
from .html import as_page
from .markdown import as_markdown


def written_report(fit: FittedRanker, path: Any = None, *, pictures: bool = True) -> Any:
    """Write a page about the fit: question, data, summary, diagnosis in plain words, pictures, what to cite, versions.

    Parameters
    ----------
    path : str or path, optional
        "report.html" is one file that needs nothing else, neither network nor scripts. "report.md" is Markdown, with
        its pictures in the folder "report_files" beside it. A file that is there is written over. Without it the
        summary is returned as data, as `fit.summary().data`.
    pictures : bool
        Whether to draw (by matplotlib).

    Returns
    -------
    pathlib.Path
        Of the file.

    Raises
    ------
    OptionError
        A path of another ending, or in a folder that is not there.

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
    target, write = _target(path)
    flag("pictures", pictures)
    write(page_of(fit, pictures), target)
    return target


def _target(path: Any) -> tuple[Path, Any]:
    """Where to write, and by what."""
    writers = {".html": _write_html, ".htm": _write_html, ".md": _write_markdown}
    target = Path(path) if isinstance(path, (str, os.PathLike)) else None
    write = None if target is None else writers.get(target.suffix.lower())
    if target is None or write is None:
        raise OptionError(f"path must be the name of a file that ends in .html or .md; got {path!r}.")
    if not target.parent.is_dir():
        raise OptionError(f"path must be in a folder that is there; got {path!r}. Make {str(target.parent)!r} first.")
    return target, write


def _write_html(page: Any, path: Path) -> None:
    _put({path: as_page(page).encode()})


def _write_markdown(page: Any, path: Path) -> None:
    folder = path.with_name(f"{path.stem}_files")
    text, files = as_markdown(page, folder.name)
    if files:
        folder.mkdir(exist_ok=True)
    _put({**{folder / name: data for name, data in files.items()}, path: text.encode()})


def _put(files: Mapping[Path, bytes]) -> None:
    """Write each file beside its place and move it there, so that none is ever half written."""
    for path, data in files.items():
        part = path.with_name(f".{path.name}.part")
        try:
            part.write_bytes(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
