"""Loops that NumPy cannot express, compiled ahead of time."""

from importlib.util import find_spec

if find_spec(f"{__name__}.sums") is None:
    raise ImportError(
        "ordstat is not built in this folder. Run `pip install -e .` in the root of the"
        " source tree, or start Python in another folder to import the ordstat that is"
        " installed."
    )
