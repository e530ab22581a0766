"""What a fit made in rounds keeps of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._typing import FloatArray, IntArray
from ..fit import MarginFit
from ..rules import Potential


@dataclass(frozen=True, eq=False, kw_only=True)
class Rounds:
    """T rounds of boosting.

    Attributes
    ----------
    members : tuple of length T
        The hypothesis of every round, as its learner knows it.
    alphas : (T,)
        Its weight.
    losses, limits : (T+1,)
        Mean training loss before the first and after every round, and what the training-error theorem allows it.
    thetas : (T+1, K-1) or None
        Thresholds after every round; None where they are found at the end alone.
    validation : (T+1,) or None
        Mean cost of the held-out rows.
    start : callable or None
        The potential that the rounds add to.
    held : (M,) positions of the held-out rows among the distinct rows, or None
    message : str
        Why the rounds ended.
    state : dict
        State of the random generator after the last round, for more of them.
    """

    members: tuple[Any, ...]
    alphas: FloatArray
    losses: FloatArray
    limits: FloatArray
    thetas: FloatArray | None
    validation: FloatArray | None
    start: Potential | None
    held: IntArray | None
    message: str
    state: dict[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class EnsembleFit(MarginFit):
    """A fit made in rounds.

    Attributes
    ----------
    rounds : Rounds
        All that were made.
    kept : int
        How many of them, from the first, the rule uses.
    """

    rounds: Rounds
    kept: int

    @property
    def stages(self) -> range:
        """After how many rounds the fit can be asked; 0 is the start."""
        return range(self.rounds.losses.size)
