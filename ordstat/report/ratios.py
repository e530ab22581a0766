"""Odds and hazard ratios: what the exponents of effects are ratios of, and their
direction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray

_EXPONENT = "exp(estimate)"


class Ratio(NamedTuple):
    """What exp(sign * location effect) is.

    Attributes
    ----------
    name : str
        "odds ratio", "hazard ratio", or "exp(estimate)" where it is neither.
    sign : float
    title : str
        Title of a table of them.
    of_nominal : float
        Sign of nominal effects against that of location effects.
    """

    name: str
    sign: float
    title: str
    of_nominal: float = -1.0

    @property
    def named(self) -> bool:
        """Whether the exponents are ratios of odds or hazards."""
        return self.name != _EXPONENT

    @property
    def noun(self) -> str:
        """The name up to a comma: what kind of ratio, not of which levels."""
        return self.name.partition(",")[0]

    @property
    def head(self) -> str:
        """Head of a column of them: the initials of the noun, such as OR."""
        if not self.named:
            return "exp"
        words = re.findall(r"\w+", self.noun)
        return "".join([word[0] for word in words]).upper()

    @property
    def _plural(self) -> str:
        """The name of several ratios, such as "Odds ratios, highest against lowest
        level".
        """
        noun, comma, which = self.name.capitalize().partition(",")
        return f"{noun}s{comma}{which}"

    @property
    def direction(self) -> str:
        """A note: which values mean a higher response."""
        if self.sign < 0.0:
            return f"{self._plural} are exp(-coefficient): below 1 = higher response."
        if self.named:
            return f"{self._plural}: above 1 = higher response."
        return f"{self.title}. Above 1 = higher response."

    def exponents(self, kinds: Iterable[str], numbers: FloatArray) -> FloatArray:
        """(n, 3) estimates and limits of parameters of these kinds, exponentiated.

        Nominal effects move thresholds, so their sign is the opposite one: all ratios
        of a fit point in one direction. Scale effects are on the log scale. Other kinds
        stay.
        """
        signs = {
            "location": self.sign,
            "nominal": self.of_nominal * self.sign,
            "scale": 1.0,
        }
        changed = numbers.copy()
        for row, kind in enumerate(kinds):
            if kind not in signs:
                continue
            estimate, low, high = signs[kind] * numbers[row]
            if signs[kind] < 0.0:
                low, high = high, low
            with np.errstate(over="ignore"):  # infinite for a large coefficient
                changed[row] = np.exp([estimate, low, high])
        return changed


_NO_RATIO = Ratio(
    _EXPONENT,
    1.0,
    "Exponents of the location effects; no odds or hazards under this link",
)
_SCALED = Ratio(
    _EXPONENT,
    1.0,
    "Exponents of the location effects: ratios of odds or hazards only at scale 1",
)


def ratio_of(r: Any) -> Ratio:
    """The ratio of location effects under the link of a fit."""
    if not r.method.likelihood:
        return _NO_RATIO
    rows = r.design.sample.rows
    if rows.scale is not None or rows.scale_offset is not None:
        return _SCALED
    given = r.family.ratio
    return _NO_RATIO if given is None else given


def common_ratio(fits: Iterable[Any]) -> Ratio:
    """The ratio of all fits; plain exponents where they differ."""
    ratios = {ratio_of(fit) for fit in fits}
    return ratios.pop() if len(ratios) == 1 else _NO_RATIO
