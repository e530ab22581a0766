"""Twin of `ordstat.compiled.boost`: the sum over all sets of players in place of the
integral.
"""

from __future__ import annotations

from itertools import combinations
from math import factorial, prod

import numpy as np


def add_shapley(
    left,
    conditions,
    node,
    side,
    place,
    players,
    player,
    share,
    value,
    points,
    weights,
    table,
    known,
    phi,
):
    """Same signature; `points`, `weights`, `table` and `known` are not needed."""
    for leaf in range(len(value)):
        members = range(players[leaf], players[leaf + 1])
        way = range(conditions[leaf], conditions[leaf + 1])
        met = {
            j: np.all(
                [
                    left[node[c]] == side[c]
                    for c in way
                    if players[leaf] + place[c] == j
                ],
                axis=0,
            )
            for j in members
        }
        for i in members:
            others = [j for j in members if j != i]
            for size in range(len(members)):
                order = (
                    factorial(size)
                    * factorial(len(members) - 1 - size)
                    / factorial(len(members))
                )
                for chosen in combinations(others, size):
                    rest = prod(share[j] for j in others if j not in chosen)
                    product = (
                        np.prod([met[j] for j in chosen], axis=0) if chosen else 1.0
                    )
                    phi[:, player[i]] += (
                        value[leaf] * order * rest * product * (met[i] - share[i])
                    )
