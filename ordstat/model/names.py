"""Names that may be spelled in several ways."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def canonical(given: Any, names: Iterable[str]) -> str | None:
    """The one of some names that a text spells in its own case, hyphens, underscores and blanks; None where it is none.

    Examples
    --------
    >>> canonical("Aranda_Ordaz", ["logit", "aranda-ordaz"])
    'aranda-ordaz'
    """
    if not isinstance(given, str):
        return None
    wanted = _plain(given)
    return next((name for name in names if _plain(name) == wanted), None)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter not in "-_ ")
