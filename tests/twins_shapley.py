"""Twin of `ordstat.compiled.boost`: the sum over all sets of players in place of the integral."""

from __future__ import annotations

from itertools import combinations
from math import factorial, prod

import numpy as np


def add_shapley(left, conditions, node, side, place, players, player, share, value, points, weights, table, known, phi):
    """Same signature; `points`, `weights`, `table` and `known` are not needed."""
    for leaf in range(len(value)):
        own = range(players[leaf], players[leaf + 1])
        way = range(conditions[leaf], conditions[leaf + 1])
        met = {j: np.all([left[node[c]] == side[c] for c in way if players[leaf] + place[c] == j], axis=0) for j in own}
        for i in own:
            others = [j for j in own if j != i]
            for size in range(len(own)):
                order = factorial(size) * factorial(len(own) - 1 - size) / factorial(len(own))
                for chosen in combinations(others, size):
                    rest = prod(share[j] for j in others if j not in chosen)
                    told = np.prod([met[j] for j in chosen], axis=0) if chosen else 1.0
                    phi[:, player[i]] += value[leaf] * order * rest * told * (met[i] - share[i])
