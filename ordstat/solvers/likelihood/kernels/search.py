"""The search for a penalty, and when more landmarks are worth their while.

Penalties are told by the prior standard deviation of H that they stand for, s = (mean |F_n|^2 / lambda)^1/2, which does
not depend on the scale of the kernel. From a first s it grows, or where that is no better falls, in equal factors until
its judge finds it worse; parabolas through the best and its neighbours give two more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....model.kernels.fit import Trial
from .judges import Judge
from .ridge import FeatureRows

# The first s, its smallest and largest values, and steps from there or from one that is known to be good, as powers
# of 2; and how many parabolas refine the best.
_FIRST, _LOWEST, _HIGHEST, _STEP, _SMALL_STEP, _PARABOLAS = 1.0, -5.0, 11.0, 2.0, 1.0, 2
#: Penalties tried at most.
MOST_TRIALS = 12
# The nearest to a power that another is tried.
_NEAR = 0.1
# Share of the fall of the loss by all landmarks so far that twice as many must add.
_GAIN = 0.003

#: Name of a kernel, and its gamma where that is chosen.
Named = tuple[str, float | None]


def penalties(
    judge: Judge, rows: FeatureRows, named: Named, like: Trial | None, tick: Callable[[str], None]
) -> list[Trial]:
    """Those tried, in their order.

    Parameters
    ----------
    judge : Judge
    rows : FeatureRows
        What the judge judges.
    named : (name of the kernel, gamma or None)
    like : Trial or None
        The best of features much alike, near which the search begins.
    tick : callable(message)
    """
    tried: dict[float, Trial] = {}

    def loss(power: float) -> float:
        if power not in tried:
            tried[power] = trial_at(judge, rows, named, rows.variance / 4.0**power)
            tick(f"penalty {tried[power].penalty:.3g}")
        return tried[power].loss

    first, size = (_FIRST, _STEP) if like is None else (float(np.log2(like.spread)), _SMALL_STEP)
    step = size if loss(first + size) < loss(first) else -size
    power = first + max(step, 0.0)
    while _LOWEST <= power + step <= _HIGHEST and loss(power + step) < loss(power):
        power += step
    for _ in range(_PARABOLAS):
        at = _lowest_of_parabola(sorted((power, one.loss) for power, one in tried.items()))
        if at is not None and min(abs(at - power) for power in tried) > _NEAR:
            loss(at)
    return list(tried.values())


def trial_at(judge: Judge, rows: FeatureRows, named: Named, penalty: float) -> Trial:
    """One penalty as it is judged."""
    spread = float(np.sqrt(rows.variance / penalty))
    columns = rows.F.shape[1]
    kernel, gamma = named
    loss = judge(penalty)
    return Trial(kernel=kernel, gamma=gamma, columns=columns, penalty=penalty, spread=spread, loss=loss)


def best(trials: Sequence[Trial]) -> Trial:
    """The one of least loss; ties go to the first."""
    return min(trials, key=lambda trial: trial.loss)


def worth_more(before: Trial, after: Trial, null: float) -> bool:
    """Whether more landmarks have lowered the loss enough to try still more; `null` is the loss of no function."""
    return before.loss - after.loss > _GAIN * max(null - after.loss, 0.0)


def _lowest_of_parabola(points: Sequence[tuple[float, float]]) -> float | None:
    """Where a parabola through the point of least loss and its neighbours is least; None at an end."""
    at = int(np.argmin([loss for _, loss in points]))
    if not 0 < at < len(points) - 1:
        return None
    (x0, f0), (x1, f1), (x2, f2) = points[at - 1 : at + 2]
    left, right = (x1 - x0) * (f1 - f2), (x1 - x2) * (f1 - f0)
    bend = 2.0 * (left - right)
    if not np.isfinite(bend) or bend == 0.0:
        return None
    return x1 - ((x1 - x0) * left - (x1 - x2) * right) / bend
