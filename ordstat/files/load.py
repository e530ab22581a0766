"""A fit out of a file."""

from __future__ import annotations

import io
import json
import lzma
import os
import struct
import zipfile
import zlib
from dataclasses import replace
from tokenize import TokenError
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..checks import whole
from ..exceptions import DataError, OptionError, OrdstatError
from .packing import fit_of
from .save import FORMAT, MOST_JSON, MOST_VALUES, TREE, VERSION, n_values

#: What reading a damaged or forged file can end in.
_UNREADABLE = (
    *(ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, MemoryError, RuntimeError, SyntaxError),
    *(TypeError, ValueError, TokenError, lzma.LZMAError, struct.error, zipfile.BadZipFile, zlib.error),
)


def load(path: str | os.PathLike[str], data: Any = None, *, max_bytes: int = 2 * 1024**3) -> Any:
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
        The file cannot be read, is none of `fit.save`, was cut short or changed, is too large or of another version of
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
        fit = fit_of(*_read(path, most))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    except OrdstatError as error:
        raise DataError(f"{path} cannot be loaded: {error}") from None
    except _UNREADABLE as error:
        raise DataError(f"{path} cannot be loaded: it is not a file that fit.save() wrote ({error}).") from error
    return fit if data is None else replace(fit, design=fit.design.beside(data))


def _read(path: str | os.PathLike[str], most: int) -> tuple[Any, list[AnyArray]]:
    """The document and the arrays of a file, whose sizes are checked first."""
    with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        total = max(sum(member.file_size for member in members), os.fstat(file.fileno()).st_size)
        if total > most:
            raise DataError(
                f"it has {total:,} bytes unpacked, and at most {most:,} are read. If you know where it is from and "
                "have the memory, load it with max_bytes=."
            )
        names = [TREE, *(f"{place}.npy" for place in range(len(members) - 1))]
        if [member.filename for member in members] != names:
            raise DataError("its members are not those of a fit.")
        if members[0].file_size > MOST_JSON or n_values(text := _content(archive, members[0])) > MOST_VALUES:
            raise DataError(f"its {TREE} has more than {MOST_JSON:,} bytes or {MOST_VALUES:,} values.")
        tree = json.loads(text)
        if tree["format"] != FORMAT:
            raise DataError("it is a zip of something other than a fit.")
        if tree["version"] != VERSION:
            raise DataError(
                f"its format has version {tree['version']!r}, written by {tree['written_by']}; this ordstat reads "
                f"version {VERSION}. Install the ordstat that wrote it."
            )
        arrays = [np.lib.format.read_array(io.BytesIO(_content(archive, member))) for member in members[1:]]
    if any(array.dtype.itemsize == 0 for array in arrays):
        raise DataError("it has an array of nothing.")
    return tree, arrays


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The content of a member, no longer than it declares."""
    with archive.open(member) as stream:
        return stream.read(member.file_size)
