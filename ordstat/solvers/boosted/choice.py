"""Rounds and depth of gradient boosting by cross-validation, all folds going over one set of bins."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..._typing import FloatArray
from ...model.boosted.fit import HeldOut
from ..threads import in_threads
from .rounds import Booster, boosted_until

#: From a depth, the fold that is held out and a generator to the start of its rounds.
Starts = Callable[[int, int, np.random.Generator], Booster]


def held_out_losses(
    starts: Starts,
    held: FloatArray,
    depths: tuple[int, ...],
    rng: np.random.Generator,
    tick: Callable[[str, int], None],
    *,
    most: int,
    patience: int,
    fixed: bool,
    n_jobs: int,
) -> HeldOut:
    """The mean held-out loss after every round, of every depth.

    Parameters
    ----------
    starts : callable
    held : (F, N)
        Weights of the rows that each fold holds out.
    depths : tuple of int, growing
    rng : numpy.random.Generator
        Each fold has its own generator, so that the result does not depend on the number of threads.
    tick : callable(message, steps)
        Called with 0 steps while rounds are added, and with 1 after each depth of each fold.
    most : int
        Rounds at most.
    patience : int
        Rounds without a smaller loss after which those of a fold end.
    fixed : bool
        Whether the loss after `most` rounds counts, rather than the least on the way.
    n_jobs : int
        Folds at work at once, as threads.
    """
    seeds = rng.integers(2**63, size=len(held))

    def trial(depth: int, fold: int) -> FloatArray:
        where = f"depth {depth}, fold {fold + 1} of {len(held)}"
        booster = starts(depth, fold, np.random.default_rng(seeds[fold]))
        rows = np.flatnonzero(held[fold])

        def tell(made: int) -> None:
            tick(f"{where}: {made} rounds", 0)

        curve = boosted_until(booster, rows, held[fold, rows], patience, most, tell)
        tick(where, 1)
        return curve

    tasks = [(depth, fold) for depth in depths for fold in range(len(held))]
    curves = in_threads(trial, tasks, n_jobs)
    parts = [curves[start : start + len(held)] for start in range(0, len(curves), len(held))]
    means = tuple(_mean_curve(part, held.sum(axis=1)) for part in parts)
    chosen = int(np.argmin([curve[-1] if fixed else curve.min() for curve in means]))
    return HeldOut(depths=depths, losses=means, chosen=chosen, folds=len(held))


def _mean_curve(curves: Sequence[FloatArray], sizes: FloatArray) -> FloatArray:
    """Weighted mean of curves of different length; one that ended keeps its last value."""
    longest = max(curve.size for curve in curves)
    padded = np.stack([np.pad(curve, (0, longest - curve.size), mode="edge") for curve in curves])
    return np.asarray(sizes @ padded / sizes.sum())
