"""Fits of ensembles whose members give probabilities."""

from __future__ import annotations

from dataclasses import dataclass

from ..._typing import FloatArray
from ..fit import MarginFit


@dataclass(frozen=True, eq=False, kw_only=True)
class ForestFit(MarginFit):
    """A fit of a forest.

    Attributes
    ----------
    importance : (D,) shares of the fall of the ranked probability score
    out_of_bag : dict of str to float, or None
        Errors of the rows by the trees whose samples they were not drawn into, and the share of the rows that were out
        of some; None where no samples are drawn.
    """

    importance: FloatArray
    out_of_bag: dict[str, float] | None
