"""What gradient boosting returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._typing import FloatArray
from ..fit import MarginFit
from .trees import BoostedTrees


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldOut:
    """What cross-validation says of the number of rounds, and of the depth.

    Attributes
    ----------
    depths : tuple of int
        Those tried.
    losses : tuple of (T_i + 1,)
        Mean loss of the held-out rows of every depth, before the first and after every round.
    chosen : int
        Position of the depth with the smallest loss; ties go to the smaller.
    folds : int
        1 of a part of the rows held out once.
    """

    depths: tuple[int, ...]
    losses: tuple[FloatArray, ...]
    chosen: int
    folds: int

    @property
    def how(self) -> str:
        """What chose."""
        return f"{self.folds}-fold cross-validation" if self.folds > 1 else "the loss of a fifth of the rows, held out"

    @property
    def depth(self) -> int:
        """The chosen depth."""
        return self.depths[self.chosen]

    @property
    def curve(self) -> FloatArray:
        """Its losses."""
        return self.losses[self.chosen]

    @property
    def rounds(self) -> int:
        """The first round of the smallest of them."""
        return int(self.curve.argmin())


@dataclass(frozen=True, eq=False, kw_only=True)
class BoostedFit(MarginFit):
    """A fit of gradient boosting.

    Attributes
    ----------
    trees : BoostedTrees
        All that were made.
    kept : int
        How many of them, from the first, the rule uses.
    depth : int
        Most cuts on a path.
    null_loss : float
        Mean training loss of thresholds alone.
    losses : (T+1,)
        Mean training loss before the first and after every round.
    thetas : (T+1, K-1)
        Thresholds then, but for a last step to their optimum.
    ridge : float or None
        Penalty of the linear start, None where there is none.
    held_out : HeldOut or None
        None where rounds and depth were given.
    state : dict
        State of the random generator after the last round.
    """

    trees: BoostedTrees
    kept: int
    depth: int
    null_loss: float
    losses: FloatArray
    thetas: FloatArray
    ridge: float | None
    held_out: HeldOut | None
    state: dict[str, Any]

    @property
    def stages(self) -> range:
        """After how many rounds the fit can be asked; 0 is the start."""
        return range(self.losses.size)
