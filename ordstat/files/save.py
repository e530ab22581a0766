"""A fit into a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .._typing import AnyArray
from ..exceptions import OptionError, OrdstatError

#: What names of files of fits end in.
ENDING = ".ordstat"


def save(fit: Any, path: str | os.PathLike[str]) -> None:
    """Put the fit into a file, from which `ordstat.load` reads it.

    The file holds the numbers of the fit, with the columns of its model, the response and the labels of its rows, and
    not the data frame. It is a zip of JSON and arrays, and no code: a file of somebody else can be loaded without risk,
    which a pickle cannot. A file that was there is replaced, once the new one is complete.

    Parameters
    ----------
    path : str or path-like
        Such as "model.ordstat".

    Raises
    ------
    OptionError
        A path that ends in anything else. The fit holds something that is no value: a kernel or a formula of your own
        code (safe=False), or a classifier that ordstat does not know.
    DataError
        The file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from ordstat import datasets, load, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit.save(os.path.join(folder, "wine.ordstat"))
    ...     again = load(os.path.join(folder, "wine.ordstat"))
    >>> again.predict(datasets.load("wine").head(2)).tolist()
    [2, 2]
    """
    check_name(path)
    from .container import FORMAT, VERSION, write
    from .kinds import KINDS
    from .packing import Packing

    recipe = fit.design.recipe
    if recipe is not None and not recipe.safe:
        raise OptionError(
            "save takes no fit with safe=False: its formula is code, and a file holds none. Make the columns that it "
            "computes columns of the data, or use pickle, whose files only those should open who trust their author."
        )
    packing = Packing(KINDS)
    tree = {"fit": packing.pack(fit), "objects": packing.objects}
    _check_readable(tree, packing.arrays)
    header = {"format": FORMAT, "version": VERSION, "written_by": f"ordstat {_version()}", "call": fit.call}
    write(Path(path), header, tree, packing.arrays)


def check_name(path: Any) -> None:
    """OptionError where a path is none, or has the ending of another kind of file, such as that of the data."""
    if not isinstance(path, (str, os.PathLike)):
        raise OptionError(f"path must be the name of a file, such as 'model.ordstat'; got {path!r}.")
    if "\0" in os.fspath(path):
        raise OptionError(f"path must be the name of a file, which has no null character; got {path!r}.")
    if Path(path).suffix.lower() not in ("", ENDING):
        raise OptionError(f"path must end in {ENDING}, or have no ending; got {str(path)!r}. Rename it.")


def _check_readable(tree: Any, arrays: list[AnyArray]) -> None:
    """OptionError where `load` would refuse what is about to be written."""
    from .load import fit_of

    try:
        fit_of(tree, arrays)
    except OrdstatError as error:
        raise OptionError(
            f"save would write a file that load refuses: {error} This is a fault of ordstat, which its authors would "
            "like to hear of; pickle takes the fit meanwhile."
        ) from error


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ordstat")
    except PackageNotFoundError:  # run from its folder
        return "(not installed)"
