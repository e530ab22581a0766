"""Rounds and depth of gradient boosting by cross-validation, all folds going over one set of bins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from ...model.boosted.fit import HeldOut
from ..threads import in_threads
from .rounds import Booster, Loss, boosted_until

#: From a depth, the fold that is held out and a generator to the start of its rounds.
Starts = Callable[[int, int, np.random.Generator], Booster]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How the choice is made.

    Attributes
    ----------
    depths : tuple of int, growing
    most : int
        Rounds at most.
    patience : int
        Rounds without a smaller loss after which those of a fold end.
    fixed : bool
        Whether the loss after `most` rounds counts, rather than the least on the way.
    n_jobs : int
        Folds at work at once, as threads.
    judge : Loss
        That trees of one value a leaf and of one a threshold are compared by.
    keeps : bool
        Whether the boosters of the chosen depth are wanted.
    """

    depths: tuple[int, ...]
    most: int
    patience: int
    fixed: bool
    n_jobs: int
    judge: Loss
    keeps: bool


def held_out_losses(
    starts: Starts, held: FloatArray, plan: Plan, rng: np.random.Generator, tick: Callable[[str], None]
) -> tuple[HeldOut, list[Booster]]:
    """The mean held-out loss after every round, of every depth; the boosters of the chosen one, where they are wanted.

    Parameters
    ----------
    starts : callable
    held : (F, N)
        Weights of the rows that each fold holds out.
    plan : Plan
    rng : numpy.random.Generator
        Each fold has a generator of its own, so that the result does not depend on the number of threads.
    tick : callable(message)
        Called after each depth of each fold.
    """
    seeds = rng.integers(2**63, size=len(held))

    def trial(depth: int, fold: int) -> tuple[FloatArray, float, list[Booster]]:
        booster = starts(depth, fold, np.random.default_rng(seeds[fold]))
        rows = np.flatnonzero(held[fold])
        curve, least = boosted_until(booster, rows, held[fold, rows], plan.patience, plan.most, plan.judge)
        tick(f"depth {depth}, fold {fold + 1} of {len(held)}")
        return curve, least, [booster] * plan.keeps

    tasks = [(depth, fold) for depth in plan.depths for fold in range(len(held))]
    found = in_threads(trial, tasks, plan.n_jobs)
    parts = [found[place : place + len(held)] for place in range(0, len(found), len(held))]
    curves = tuple(_mean_curve([curve for curve, _, _ in part], held.sum(axis=1)) for part in parts)
    chosen = int(np.argmin([curve[-1] if plan.fixed else curve.min() for curve in curves]))
    judged = np.array([least for _, least, _ in parts[chosen]])
    said = HeldOut(depths=plan.depths, losses=curves, chosen=chosen, folds=len(held), judged=judged)
    return said, [booster for _, _, kept in parts[chosen] for booster in kept]


def _mean_curve(curves: Sequence[FloatArray], sizes: FloatArray) -> FloatArray:
    """Weighted mean of curves of different length; one that ended keeps its last value."""
    longest = max(curve.size for curve in curves)
    padded = np.stack([np.pad(curve, (0, longest - curve.size), mode="edge") for curve in curves])
    return np.asarray(sizes @ padded / sizes.sum())
