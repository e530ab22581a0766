"""The grid that marginal means are averaged over: which values each variable takes, and on which scale its rows are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....checks import one_of, whole
from ....exceptions import OptionError
from ....model.sample import Rows
from ..parameters import listed
from .counterfactual import Population

#: What a number can be held at.
REDUCE = ("weighted_mean", "mean")
#: Rows of a grid, at most.
_LARGEST = 1_000_000


@dataclass(frozen=True)
class Numbers:
    """What the grid has of numbers that `at` does not name.

    Attributes
    ----------
    keep : int, str or sequence of these, or None
        Numbers of at most so many distinct values, or of these names, keep all of them.
    reduce : {"weighted_mean", "mean"}
        What the others are held at.
    """

    keep: Any
    reduce: str

    def __post_init__(self) -> None:
        one_of("cov_reduce", self.reduce, REDUCE)
        for one in self._listed:
            if not isinstance(one, str):
                whole("cov_keep", one, 0, also=", names of variables, or both in a list")

    @property
    def _listed(self) -> list[Any]:
        return listed(self.keep) if self.keep is None or isinstance(self.keep, Iterable) else [self.keep]

    @property
    def named(self) -> list[str]:
        """The variables that are kept by name."""
        return [one for one in self._listed if isinstance(one, str)]

    def values(self, rows: Population, name: str) -> list[Any]:
        """The values of a number in the grid."""
        distinct = rows.distinct(name)
        most = max((one for one in self._listed if not isinstance(one, str)), default=0)
        if name in self.named or len(distinct) <= most:
            return distinct
        return [rows.mean(name, weighted=self.reduce == "weighted_mean")]


def grid_values(
    rows: Population, names: Sequence[str], at: Mapping[str, Any], numbers: Numbers
) -> dict[str, list[Any]]:
    """Values of every variable: all levels of factors, what is made of numbers, or the values of `at`."""
    values: dict[str, list[Any]] = {}
    for name in (*names, *at, *numbers.named):
        rows.check(name)
    for name in (*names, *(other for other in rows.variables if other not in names)):
        if name in at:
            given = at[name]
            values[name] = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
            if not values[name]:
                raise OptionError(f"at= gives no value of {name!r}.")
            for value in values[name]:
                rows.check_level(name, value)
        else:
            levels = rows.categories.get(name)
            values[name] = numbers.values(rows, name) if levels is None else list(levels)
    return values


def check_size(values: Mapping[str, Sequence[Any]]) -> None:
    """OptionError for a grid that is too large to be formed."""
    size = math.prod(len(column) for column in values.values())
    if size > _LARGEST:
        widest = sorted(values, key=lambda name: -len(values[name]))[:3]
        raise OptionError(
            f"the grid of all levels has {size:,} rows, and at most {_LARGEST:,} are averaged: hold variables at a "
            f"value with at=, such as {', '.join(map(repr, widest))}."
        )


def on_one_scale(rows: Rows) -> Rows:
    """Rows with the mean of their log scales in each, so that their latent variables have one unit."""
    columns = None if rows.scale is None else np.tile(rows.scale.mean(axis=0), (rows.n, 1))
    offset = None if rows.scale_offset is None else np.full(rows.n, rows.scale_offset.mean())
    return replace(rows, scale=columns, scale_offset=offset)
