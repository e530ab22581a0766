"""A fit into a file."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._typing import AnyArray
from ..exceptions import DataError, OptionError, OrdstatError
from .write import write_file

#: What names of files of fits end in.
ENDING = ".ordstat"
FORMAT, VERSION, TREE = "ordstat fit", 1, "fit.json"
#: Bytes and values of the JSON, which takes many times as much memory when it is read.
MOST_JSON, MOST_VALUES = 64 * 1024**2, 4_000_000


def save(fit: Any, path: str | os.PathLike[str]) -> None:
    """Put the fit into a file, from which `ordstat.load` reads it."""
    check_name(path)
    from .packing import Packing, fit_of

    recipe = fit.design.recipe
    if recipe is not None and not recipe.safe:
        raise OptionError(
            "save does not take a fit with safe=False, because its formula is code. Make the columns that it computes "
            "columns of the data, or use pickle, whose files only those should open who trust their author."
        )
    packing = Packing()
    tree = {"fit": packing.pack(fit), "objects": packing.objects}
    try:
        fit_of(tree, packing.arrays)
    except OrdstatError as error:
        raise OptionError(
            f"save would write a file that load refuses: {error} Please report this to the authors of ordstat, and "
            "use pickle meanwhile."
        ) from error
    header = {"format": FORMAT, "version": VERSION, "written_by": f"ordstat {_version()}", "call": fit.call}
    text = json.dumps(header | tree, allow_nan=False, separators=(",", ":")).encode("ascii")
    if len(text) > MOST_JSON or n_values(text) > MOST_VALUES:
        raise DataError(
            f"the fit has {n_values(text):,} labels and names in {len(text):,} bytes; a file takes {MOST_VALUES:,} in "
            f"{MOST_JSON:,}. Give the rows numbers as labels, by reset_index()."
        )
    write_file(path, lambda file: _write(file, text, packing.arrays))


def n_values(text: bytes) -> int:
    """An upper limit of the number of values in a JSON text."""
    return sum(map(text.count, (b",", b"[", b"{")))


def _write(file: IO[bytes], text: bytes, arrays: Sequence[AnyArray]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_member(TREE), text)
        for place, array in enumerate(arrays):
            with archive.open(_member(f"{place}.npy"), "w", force_zip64=True) as into:
                np.lib.format.write_array(into, array, allow_pickle=False)


def _member(name: str) -> zipfile.ZipInfo:
    """An entry of a fixed date, so that the same fit gives the same bytes."""
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def check_name(path: Any) -> None:
    """OptionError where a path is none, or has the ending of another kind of file, such as that of the data."""
    if not isinstance(path, (str, os.PathLike)):
        raise OptionError(f"path must be the name of a file, such as 'model.ordstat'; got {path!r}.")
    if "\0" in os.fspath(path):
        raise OptionError(f"path must be the name of a file, which has no null character; got {path!r}.")
    if Path(path).suffix.lower() not in ("", ENDING):
        raise OptionError(f"path must end in {ENDING}, or have no ending; got {str(path)!r}. Rename it.")


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ordstat")
    except PackageNotFoundError:  # run from its folder
        return "(not installed)"
