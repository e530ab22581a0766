"""Methods for tests that walk them all: options of those that take seconds, and one name of each class."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

from ordstat.methods import METHODS

#: Options of methods whose usual ones take seconds.
LIGHT: dict[str, dict[str, Any]] = {
    **{name: {"members": ("logit", "rps-forest"), "folds": 3} for name in ("blend", "auto")},
    "ordboost": {"folds": 2, "max_rounds": 300},
    "rps-forest": {"trees": 30},
}


def one_of_each(names: Iterable[str] = METHODS, later: Collection[str] = ()) -> list[Any]:
    """All names, of which the second and later ones of a class, and some others, are left to `make test-all`."""
    seen: set[type] = set()
    out: list[Any] = []
    for name in names:
        kind = METHODS[name].method
        out.append(pytest.param(name, marks=pytest.mark.slow) if kind in seen or name in later else name)
        seen.add(kind)
    return out
