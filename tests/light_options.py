"""What tests of many cases run always: light options, one name of each class, each
value of a grid once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import product
from typing import Any

import pytest
from seams import METHODS

from ordstat import OrdinalClassifier, RPSForest

#: Options of methods whose usual ones take seconds.
LIGHT: dict[str, dict[str, Any]] = {
    "blend": {"members": ("logit", RPSForest(trees=30))},
    "ordboost": {"max_rounds": 100},
    # folds of few rows choose other leaves where rows or levels are turned
    "rps-forest": {"trees": 30, "min_leaf": 5},
    "multinomial": {"penalty": 0.1},  # few rows of a level
}


def classifier(name: str, **more: Any) -> OrdinalClassifier:
    """The classifier of a method, with its light options where no others are given."""
    return OrdinalClassifier(name, **(LIGHT.get(name, {}) | more))


def one_of_each(
    names: Iterable[str] = METHODS, later: Collection[str] = ()
) -> list[Any]:
    """All names; second and later names of a class, and some others, only run in `make
    test-all`.
    """
    seen: set[type] = set()
    out: list[Any] = []
    for name in names:
        kind = METHODS[name].method
        out.append(
            pytest.param(name, marks=pytest.mark.slow)
            if kind in seen or name in later
            else name
        )
        seen.add(kind)
    return out


def in_turn(*axes: Iterable[Any]) -> list[Any]:
    """All combinations of values; those in which each axis cycles through its values
    always run.
    """
    values: list[Sequence[Any]] = [list(axis) for axis in axes]
    always = {
        tuple(turn % len(axis) for axis in values)
        for turn in range(max(map(len, values)))
    }
    places = product(*(range(len(axis)) for axis in values))
    return [
        pytest.param(
            *(axis[place] for axis, place in zip(values, at, strict=True)),
            marks=() if at in always else pytest.mark.slow,
        )
        for at in places
    ]
