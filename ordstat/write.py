"""Files are written beside their target and moved there once they are complete."""

from __future__ import annotations

import glob
import os
import secrets
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from .exceptions import DataError

#: Seconds without a change after which a part file was left by a process that was killed.
_STALE = 600


def write_file(path: str | os.PathLike[str], content: bytes | Callable[[IO[bytes]], Any]) -> None:
    """Write a whole file or nothing; a file that was there is replaced and keeps its mode.

    Parameters
    ----------
    path : str or path-like
    content : bytes or callable
        What to write, or a function that writes it to an open file.

    Raises
    ------
    DataError
        The target is a folder, pipe or device, or the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise DataError(f"{path} cannot be written: it is not a regular file. Name another file.")
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        for other in target.parent.glob(f".{glob.escape(target.name)}.????????.part"):
            if time.time() - other.stat().st_mtime > _STALE:
                other.unlink()
        with open(part, "xb") as file:
            if target.exists():
                os.chmod(part, stat.S_IMODE(target.stat().st_mode))
            file.write(content) if isinstance(content, bytes) else content(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
