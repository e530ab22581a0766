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
    """Write a page about the fit: question, data, summary, diagnosis, pictures, what to cite, versions."""
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
