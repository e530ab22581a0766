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


def written_report(fit: FittedRanker, path: Any = None, *, pictures: bool = True) -> Any:
    """Write a page about the fit: question, data, summary, diagnosis in plain words, pictures, what to cite, versions.

    Parameters
    ----------
    path : str or path, optional
        "report.html": one file that needs neither network nor scripts, and prints well. A file that exists is
        replaced. Without a path the summary is returned as data, as `fit.summary().data`.
    pictures : bool
        Whether to draw (by matplotlib).

    Returns
    -------
    pathlib.Path
        Of the file.

    Raises
    ------
    OptionError
        A path of another ending, in a folder that is not there.
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
    write_file(target, as_page(page_of(fit, flag("pictures", pictures))).encode())
    return target


def page_target(path: Any) -> Path:
    """Where to write a page; OptionError for a path that none can be written to, before any work is done."""
    target = Path(path) if isinstance(path, (str, os.PathLike)) else None
    if target is None or target.suffix.lower() not in _ENDINGS:
        raise OptionError(f"path must be the name of a file that ends in .html; got {path!r}.")
    if not target.parent.is_dir():
        raise OptionError(f"path must be in a folder that is there; got {path!r}. Make {str(target.parent)!r} first.")
    return target


_ENDINGS = (".html", ".htm")
