"""What the two forms of an online ranker, on columns and on a kernel, share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..._typing import FloatArray, IntArray
from ...checks import one_of
from ...exceptions import DataError
from ...model.costs import convex_break
from ...results.rankers.online import OnlineMarginResults, OnlineVoteResults
from ...solvers.online.rank_margin import cusum_margin, prank_margin
from .online import OnlineMethod

#: Steps of an update of CuSum Rank.
UPDATES = ("perceptron", "passive-aggressive")


@dataclass(frozen=True, kw_only=True, repr=False)
class Projecting(OnlineMethod):
    """PRank: one direction and ordered thresholds, Phi(x, y) = (y x, -1 for each of the y thresholds below)."""

    results_class: ClassVar[type[Any]] = OnlineMarginResults

    def check_costs(self, costs: FloatArray) -> None:
        """DataError where a margin meets costs that would put thresholds out of order."""
        broken = None if self.margin == 0.0 else convex_break(costs)
        if broken is not None:
            raise DataError(
                f"{type(self).__name__} with margin > 0 needs convex costs, for thresholds to stay in order: row "
                f"{broken.row} of the costs bends down at rank code {broken.rank}. Change them, or set margin=0."
            )

    def squared_radius(self, largest: float, n_levels: int) -> float:
        return (n_levels - 1) * largest + 1.0

    def best_margin(self, Z: FloatArray, y: IntArray, n_levels: int) -> float | None:
        return prank_margin(Z, y, n_levels)


@dataclass(frozen=True, kw_only=True, repr=False)
class Cumulating(OnlineMethod):
    """CuSum Rank: a weight vector for every step of the ranks, Phi(x, y) = (x once for each of the y steps below).

    update : {"perceptron", "passive-aggressive"}
        A mistake moves the weight vectors of the steps between y and yhat by +-x, or so far that the true rank leads by
        the cost of yhat.
    """

    update: str = "perceptron"

    results_class: ClassVar[type[Any]] = OnlineVoteResults
    constant: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("update", self.update, UPDATES, of=self)

    @property
    def aggressive(self) -> bool:
        return self.update == "passive-aggressive"

    def best_margin(self, Z: FloatArray, y: IntArray, n_levels: int) -> float | None:
        return cusum_margin(Z, y, n_levels)
