"""The zip around a fit: written whole or not at all, and read with a look at every size first.

Its last 64 characters, in the comment of the zip, are the SHA-256 sum of all before them: a file that was cut short or
changed anywhere is known before anything else of it is read.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..exceptions import DataError

FORMAT = "ordstat fit"
#: A file of a later version is refused; earlier ones are read.
VERSION = 1
#: Bytes that all members may have when unpacked, and how many members there may be.
MOST_BYTES, MOST_MEMBERS = 2 * 1024**3, 200_000
#: Bytes of JSON: Python needs many times as much to read it.
_MOST_JSON = 256 * 1024**2
_HEADER, _TREE = "ordstat.json", "fit.json"
_MARK = b"sha256:"
_DIGEST = 64
#: The same fit gives the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)


def write(path: Path, header: dict[str, Any], tree: Any, arrays: Sequence[AnyArray]) -> None:
    """Write a file beside its place and move it there.

    Raises
    ------
    DataError
        The folder is not there, or cannot be written to; the fit has more parts or labels than `read` takes.
    """
    if len(arrays) + 2 > MOST_MEMBERS:
        raise DataError(f"the fit has {len(arrays):,} arrays; a file takes {MOST_MEMBERS - 2:,}.")
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        try:
            with open(beside, "x+b") as file:
                _write_members(file, header, tree, arrays)
                _sign(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, target)
        finally:
            with suppress(FileNotFoundError):
                beside.unlink()
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error


def _write_members(file: Any, header: dict[str, Any], tree: Any, arrays: Sequence[AnyArray]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        archive.comment = _MARK + b"0" * _DIGEST
        for name, content in ((_HEADER, header), (_TREE, tree)):
            text = json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
            if len(text) > _MOST_JSON:
                raise DataError(f"the fit has {len(text):,} bytes of labels and names; a file takes {_MOST_JSON:,}.")
            _write_member(archive, name, text)
        for place, array in enumerate(arrays):
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            _write_member(archive, _array_name(place), content.getvalue())


def _write_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    member = zipfile.ZipInfo(name, _DATE)
    member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    archive.writestr(member, content)


def _array_name(place: int) -> str:
    return f"arrays/{place}.npy"


def _sign(file: Any) -> None:
    file.seek(0, os.SEEK_END)
    signed = file.tell() - _DIGEST
    file.seek(0)
    digest = _digest(file, signed)
    file.seek(signed)
    file.write(digest)


def _digest(file: Any, size: int) -> bytes:
    found, left = hashlib.sha256(), size
    while left > 0 and (some := file.read(min(left, 1 << 20))):
        found.update(some)
        left -= len(some)
    return found.hexdigest().encode("ascii")


def read(path: Path, most_bytes: int) -> tuple[dict[str, Any], Any, list[AnyArray]]:
    """Header, tree and arrays of a file.

    Parameters
    ----------
    path : Path
    most_bytes : int
        Bytes that all members may have when unpacked.

    Raises
    ------
    DataError
        It is no such file, was cut short or changed, is of a later version, or too large.
    """
    with open(path, "rb") as file:
        _check_signed(file, most_bytes)
        with zipfile.ZipFile(file) as archive:
            members = _checked_members(archive, most_bytes)
            header = _read_json(archive, members[_HEADER])
            _check_version(header)
            tree = _read_json(archive, members[_TREE])
            arrays = [_array(_read(archive, members[_array_name(place)])) for place in range(len(members) - 2)]
    return header, tree, arrays


def _check_signed(file: Any, most_bytes: int) -> None:
    start = file.read(4)
    if not start:
        raise DataError("it is empty.")
    if start != b"PK\x03\x04":
        pickled = " It looks like a pickle, which load never opens: to read one runs its code." * (start[0] == 0x80)
        raise DataError(f"it is not a file written by fit.save().{pickled}")
    size = file.seek(0, os.SEEK_END)
    if size > most_bytes:
        raise DataError(_too_large(size, most_bytes))
    file.seek(max(size - _DIGEST - len(_MARK), 0))
    mark, written = file.read(len(_MARK)), file.read()
    if mark != _MARK:
        raise DataError("its end is not that of a file of fit.save(): it was cut short, changed, or made otherwise.")
    file.seek(0)
    if _digest(file, size - _DIGEST) != written:
        raise DataError("it was damaged or changed after it was saved: its checksum is not that of its content.")
    file.seek(0)


def _too_large(size: int, most_bytes: int) -> str:
    return (
        f"it has {size:,} bytes unpacked, and at most {most_bytes:,} are read: if you know where it is from and have "
        "the memory, load it with max_bytes=."
    )


def _checked_members(archive: zipfile.ZipFile, most_bytes: int) -> dict[str, zipfile.ZipInfo]:
    """The members by name: those that are written and no others, none twice, all together not too large."""
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise DataError(f"it has {len(members):,} members, and at most {MOST_MEMBERS:,} are read.")
    names = {_HEADER, _TREE, *(_array_name(place) for place in range(len(members) - 2))}
    strange = sorted({member.filename for member in members} - names)
    if strange:
        raise DataError(f"it has a member {strange[0]!r}, which no fit has.")
    if len({member.filename for member in members}) < len(names) or len(members) != len(names):
        raise DataError("it lacks members, or has some twice.")
    if any(member.flag_bits & 0x1 or member.compress_type not in (0, 8) for member in members):
        raise DataError("its members are encrypted or compressed in another way than those of a fit.")
    total = sum(member.file_size for member in members)
    if total > most_bytes:
        raise DataError(_too_large(total, most_bytes))
    return {member.filename: member for member in members}


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The content of a member, of the size that it declares and no more."""
    with archive.open(member) as stream:
        content = stream.read(member.file_size + 1)
    if len(content) != member.file_size:
        raise DataError(f"its member {member.filename} is not of the size that it declares.")
    return content


def _read_json(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    if member.file_size > _MOST_JSON:
        raise DataError(f"its {member.filename} has {member.file_size:,} bytes, and at most {_MOST_JSON:,} are read.")
    return json.loads(_read(archive, member), parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise DataError(f"it has {name} where a number belongs.")


def _check_version(header: Any) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise DataError("it is a zip of something else than a fit.")
    version = header.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DataError(f"its format has the version {version!r}, which there is not.")
    if version > VERSION:
        raise DataError(
            f"its format has version {version}, written by {header.get('written_by')}; this ordstat reads up to "
            f"version {VERSION}. Install a later ordstat."
        )


def _array(content: bytes) -> AnyArray:
    """The array of a member in NumPy's format, of numbers, times or texts; no pickle is read."""
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) == (1, 0):
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(stream)
    else:
        raise DataError("it has an array in another form than those of a fit.")
    if dtype.hasobject:
        raise DataError("it has an array of Python objects, which could run code: no fit has one.")
    count = int(np.prod([int(n) for n in shape], dtype=object)) if shape else 1
    if any(n < 0 for n in shape) or stream.tell() + count * dtype.itemsize != len(content):
        raise DataError("it has an array of another size than it declares.")
    flat = np.frombuffer(content, dtype=dtype, count=count, offset=stream.tell())
    return flat.reshape(shape, order="F" if by_column else "C").copy(order="F" if by_column else "C")
