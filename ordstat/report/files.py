"""Writing files completely or not at all."""

from __future__ import annotations

import glob
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..checks import path_given
from ..exceptions import DataError

#: A temporary file unchanged for this many seconds was left by a killed process.
_STALE = 600


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """An empty temporary file in the folder of `path`; it replaces `path` when the
    block ends without an error.

    The block writes to the temporary file. If it fails or is interrupted, the file at
    `path` stays as it was and the temporary file is removed. An existing file keeps its
    mode. Several writers of a path, in threads or processes, have a temporary file
    each; the last one that ends stays. Temporary files of killed processes are removed
    when the same path is written again, ten minutes later or more.

    Parameters
    ----------
    path : str or path-like

    Raises
    ------
    DataError
        The target is a folder, pipe or device, or the file cannot be written, for
        example because the disk is full.
    """
    target = Path(os.path.realpath(path_given("path", path)))
    if target.exists() and not target.is_file():
        raise DataError(
            f"{path} cannot be written: it is not a regular file. Name another file."
        )
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        for other in target.parent.glob(f".{glob.escape(target.name)}.????????.part"):
            # another writer of the same path has finished meanwhile
            with suppress(FileNotFoundError):
                if time.time() - other.stat().st_mtime > _STALE:
                    other.unlink()
        part.touch(exist_ok=False)
        mode = stat.S_IMODE((target if target.exists() else part).stat().st_mode)
        part.chmod(mode | stat.S_IWUSR)
        yield part
        with open(part, "r+b") as file:
            os.fsync(file.fileno())
        part.chmod(mode)
        os.replace(part, target)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror or error}."
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_file(
    path: str | os.PathLike[str], content: bytes | Callable[[IO[bytes]], Any]
) -> None:
    """Write bytes, or call a function that writes to the open file; completely or not
    at all, see `atomic_write`.
    """
    with atomic_write(path) as part, open(part, "wb") as file:
        file.write(content) if isinstance(content, bytes) else content(file)
