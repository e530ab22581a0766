"""Progress of long work: to the caller's function, a bar in a terminal, or nowhere."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

from ._typing import Progress
from .exceptions import OptionError


class _Bar:
    """A tqdm bar behind the callback signature."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, step: int, total: int, message: str) -> None:
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=total, leave=False, file=sys.stderr)
        self._bar.set_description(message)
        self._bar.update(step - self._bar.n)
        if step >= total:
            self._bar.close()
            self._bar = None


def reporter(callback: Progress | None) -> Progress | None:
    """The caller's callback; else a bar where tqdm is installed and stderr is a terminal; else None.

    Raises
    ------
    OptionError
        A callback that is no function.
    """
    if callback is not None:
        if not callable(callback):
            raise OptionError(f"callback must be a function of step, total and message; got {callback!r}.")
        return callback
    terminal = sys.stderr is not None and sys.stderr.isatty()
    return _Bar() if terminal and find_spec("tqdm") else None
