"""When an ascent tries to end by the linear system of its free variables, and when it is hopeless."""

from __future__ import annotations

import numpy as np

from .active_set import Polished, free_variables, polished
from .dual import DualSolution, ExtendedDual

# What an update of a score costs, in multiplications of a factorisation; the factorisations of an attempt to finish by
# the free variables, and what goes with them, in epochs.
_UPDATE, _ROUNDS, _AROUND = 2.0, 1.5, 20.0
# Relative gap of the first attempt, at most, and the share by which the number of free variables may then change from
# one certificate to the next: they are mostly the right ones. The share of the gap of a failed attempt at which the
# next one is made.
_POLISH, _STEADY, _AGAIN = 0.3, 0.05, 0.4
# An attempt whose gain in the dual value is this share of the gap, or which leaves at most that share of the gap, is
# followed by another: that frees what the first wrongly put onto a bound.
_GAIN, _LEFT = 0.05, 0.5
# From this gap on the free variables will finish; an ascent is hopeless where its pace asks for so many times the
# epochs left to get there.
_END, _HOPELESS = 1e-3, 2.0


class Finish:
    """Follows the certificates of one ascent and makes its attempts.

    Parameters
    ----------
    problem : ExtendedDual
    C, tol : float
        The relative duality gap `tol` is the ascent's aim.

    Attributes
    ----------
    again : bool
        Whether the last attempt gained so much that the next certificate is followed by another one.
    """

    def __init__(self, problem: ExtendedDual, C: float, tol: float) -> None:
        self.problem, self.C, self.tol = problem, C, tol
        self.again = False
        self._below = _POLISH
        self._free, self._steady = 0, False
        self._epoch, self._gap, self._falls = 0, np.inf, np.inf

    def note(self, epoch: int, point: DualSolution) -> None:
        """Take down the certified point after an epoch."""
        fell = 0.0 < point.gap < self._gap
        self._falls = float(np.log(self._gap / point.gap)) / (epoch - self._epoch) if fell else 0.0
        self._epoch, self._gap = epoch, point.gap
        before, self._free = self._free, free_variables(self.problem, self.C, point)
        self._steady = abs(self._free - before) <= _STEADY * before

    def hopeless(self, left: int) -> bool:
        """Whether so many further epochs will not do, at the pace between the last two certificates."""
        return self._epochs_to(max(self.tol, _END)) > _HOPELESS * left

    def due(self) -> bool:
        """Whether to try now: the free variables are about the right ones, and epochs would take longer."""
        return self.tol < self._gap < self._below and (self.again or (self._steady and self._slow()))

    def attempt(self, point: DualSolution) -> tuple[DualSolution, Polished | None]:
        """The better of the point and its polished form, and the latter if its dual value is the higher."""
        found = polished(self.problem, self.C, point)
        better, self.again = point, False
        if found is not None and found.solution.dual > point.dual:
            better = min(point, found.solution, key=lambda p: p.gap)
            gain = found.solution.dual - point.dual
            self.again = gain > _GAIN * (point.primal - point.dual) or better.gap <= _LEFT * point.gap
        else:
            found = None
        self._gap = better.gap
        self._below = np.inf if self.again else _AGAIN * better.gap
        return better, found

    def _epochs_to(self, target: float) -> float:
        """Epochs to a gap from here; infinite where the gap did not fall."""
        if self._gap <= target:
            return 0.0
        return float(np.log(self._gap / target)) / self._falls if self._falls > 0.0 else np.inf

    def _slow(self) -> bool:
        """Whether the epochs left take longer than a linear system of the free variables."""
        epoch = _UPDATE * self.problem.gram.n * self.problem.gram.rank_limit
        return self._epochs_to(self.tol) * epoch > _ROUNDS * self._free**3 / 3.0 + _AROUND * epoch
