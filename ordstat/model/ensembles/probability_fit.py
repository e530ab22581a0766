"""Fits of ensembles whose members give probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from ..._typing import FloatArray
from ..cumulative_rule import Exceedances
from ..fit import MarginFit
from ..sample import Rows

# No member's odds are longer than those of this probability: one that is sure and wrong must not outvote all others.
_SURELY = 0.005


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Mixture:
    """P(y > k) as the weighted mean of members, or the probability of the weighted mean of their log odds.

    Attributes
    ----------
    members : tuple of Exceedances
    shares : (M,) of sum 1
    odds : bool
        Whether log odds are averaged, of probabilities drawn towards 1/2 by a hundredth.
    """

    members: tuple[Exceedances, ...]
    shares: FloatArray
    odds: bool = False

    @property
    def n_levels(self) -> int:
        """K."""
        return self.members[0].n_levels

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1)."""
        total = np.zeros((rows.n, self.n_levels - 1))
        for member, share in zip(self.members, self.shares, strict=True):
            if share > 0.0:
                above = member(rows)
                total += share * (logit(_SURELY + (1.0 - 2.0 * _SURELY) * above) if self.odds else above)
        return np.asarray(expit(total)) if self.odds else np.minimum(total, 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class BlendFit(MarginFit):
    """A fit of a blend.

    Attributes
    ----------
    mixture : Mixture
    names : tuple of str
        The members as they are written.
    held_out : (M + 1, 2) or None
        Ranked probability score and absolute error of rows held out, of every member and of the blend; None where
        nothing was held out.
    """

    mixture: Mixture
    names: tuple[str, ...]
    held_out: FloatArray | None
