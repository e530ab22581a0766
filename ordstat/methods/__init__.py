"""One file a method; `METHODS` is the one list of their names.

To add a method: one file here with a frozen dataclass, and one line in `METHODS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..model.links import LINKS
from .base import Method
from .clm import CumulativeLink
from .redsvm import REDSVM


@dataclass(frozen=True)
class Entry:
    """A method string: the class it stands for and the options it fixes."""

    method: type[Method]
    preset: Mapping[str, Any] = field(default_factory=dict)


METHODS: dict[str, Entry] = {
    "clm": Entry(CumulativeLink),
    **{name: Entry(CumulativeLink, {"link": name}) for name in LINKS},
    "redsvm": Entry(REDSVM),
}

__all__ = ["METHODS", "REDSVM", "CumulativeLink", "Entry", "Method"]
