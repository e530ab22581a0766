"""A fit out of a file."""

from __future__ import annotations

import os
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from tokenize import TokenError
from typing import Any

from .._typing import AnyArray
from ..checks import whole
from ..exceptions import DataError, OptionError, OrdstatError
from .container import MOST_BYTES, read
from .kinds import KINDS
from .packing import Unpacking, expect
from .whole import check_whole

#: What reading something that is not what it says it is can end in.
_UNREADABLE = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, RecursionError, SyntaxError, TypeError),
    *(ValueError, TokenError, zipfile.BadZipFile, zlib.error),
)


def load(path: str | os.PathLike[str], data: Any = None, *, max_bytes: int = MOST_BYTES) -> Any:
    """The fit in a file of `fit.save(path)`.

    Nothing in the file can run: it holds values, each of which is checked. What needs the data frame, as `update`
    with another formula does, needs `data` here or there; everything else works as on the fit that was saved, to the
    last bit.

    Parameters
    ----------
    path : str or path-like
    data : data frame, optional
        The data of the fit; the fit that comes back then has them at hand.
    max_bytes : int
        How large the content of the file may be, unpacked; 2 GiB unless given.

    Returns
    -------
    LikelihoodResults, MarginResults or VoteResults

    Raises
    ------
    DataError
        The file cannot be read, is none of `fit.save`, was cut short or changed, is too large or of a later version of
        the format; or `data` are not those of the fit.

    Examples
    --------
    >>> import os, tempfile
    >>> from ordstat import datasets, load, ordfit
    >>> wine = datasets.load("wine")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "wine.ordstat")
    ...     ordfit("rating ~ temp", data=wine).save(path)
    ...     fit = load(path, data=wine)
    >>> fit.update("~ . + contact").formula
    'rating ~ temp + contact'
    """
    if not isinstance(path, (str, os.PathLike)):
        raise OptionError(f"path must be the name of a file, such as 'model.ordstat'; got {path!r}.")
    most = whole("max_bytes", max_bytes, 1)
    try:
        fit = _read(Path(path), most)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    except OrdstatError as error:
        raise DataError(f"{path} cannot be loaded: {error}") from None
    except _UNREADABLE as error:
        raise DataError(f"{path} cannot be loaded: its content is not that of a fit ({error}).") from error
    return fit if data is None else replace(fit, design=fit.design.beside(data))


def _read(path: Path, most: int) -> Any:
    _, tree, arrays = read(path, most)
    return fit_of(tree, arrays)


def fit_of(tree: Any, arrays: list[AnyArray]) -> Any:
    """The fit of a tree and arrays, checked.

    Raises
    ------
    OrdstatError
        They are not those of a fit.
    """
    unpacking = Unpacking({kind.tag: kind for kind in KINDS}, arrays)
    for given in expect(expect(tree, dict)["objects"], list):
        unpacking.add(given)
    fit = unpacking.unpack(tree["fit"])
    if not hasattr(type(fit), "save"):
        raise DataError("what it holds is no fit.")
    check_whole(fit)
    return fit
