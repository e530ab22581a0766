"""What a page is made of, before it is written as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..report.render import Report


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Code:
    """Text as it is typed."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list, each item with a head that stands out, which may be empty."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A picture with what it shows in words.

    Attributes
    ----------
    name : str
        Of the plot.
    caption : str
    data : bytes
        PNG.
    """

    name: str
    caption: str
    data: bytes


Block: TypeAlias = Words | Code | Items | Drawing | Report


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A title and sections."""

    title: str
    sections: tuple[Section, ...]
