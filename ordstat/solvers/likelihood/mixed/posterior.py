"""Nodes over the effects of groups given their data: what predictions average over, whatever rule the fit has.

A single effect a group has a posterior density exp(h_g(v)) that may be skewed. It is integrated by the trapezoid rule
between the ends where it is lost in rounding, whose error falls exponentially [Trefethen and Weideman 2014]; with twice
as many nodes it is about squared, so that the sum over every other node tells whether there are enough. Several effects
of a group, and those of nested groups, have the nodes and weights of `quadrature.py`, rules inside rules as in
`nested.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from ...._typing import FloatArray, IntArray
from ....model.likelihood.over_groups import pole_of
from ....model.random_effects import RandomColumns
from .laplace import State
from .modes import conditional_modes
from .nested import Around, node_heights, parents_of, within
from .quadrature import MOST_COLUMNS, Nodes, grid_of, group_heights

#: By how much h falls to the ends, and deviations of a normal distribution to there.
_FALL, _REACH = 37.0, 8.6
#: How the distance from the mode grows until h has fallen.
_GROWTH = 1.4
#: Nodes a deviation of the flattest rows, and a unit of steepness; see `over_groups.py`.
_FEWEST, _NODES = 2.5, 5.0
#: Difference of log-likelihoods by all and by every other node that is small, and the most nodes of a group.
_SMALL, _MOST = 1e-7, 20_000
#: Nodes a column by the columns of all terms.
_COUNTS = {2: 17, 3: 15, 4: 7, 5: 5}
#: Share of a node, in all groups, that adds nothing to a mean.
_NOTHING = 1e-18


@dataclass(frozen=True, eq=False)
class Atoms:
    """Effects of every group of a term, and of the groups that it lies in, with their posterior probabilities.

    Attributes
    ----------
    v : tuple of (J, G, q_t)
        Of the term and of those that it lies in.
    shares : (J, G)
    """

    v: tuple[FloatArray, ...]
    shares: FloatArray

    def shifts(self, x: list[FloatArray], codes: IntArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """What the effects add to the scores of rows with columns x (n, q_t), and the shares, both (n,), by node."""
        for j in np.flatnonzero(self.shares.max(axis=1) > _NOTHING).tolist():
            pairs = zip(x, self.v, strict=True)
            yield np.asarray(sum(np.einsum("nq,nq->n", own, v[j, codes]) for own, v in pairs)), self.shares[j, codes]


@dataclass(frozen=True, eq=False, kw_only=True)
class Spread:
    """What the data leave open of the effects in some rows.

    Attributes
    ----------
    nodes : Line or Grids
    x : list of (n, q_t)
    codes : list of (n,)
    depth : (n,)
        The innermost term whose group is known, all further ones being those that it lies in; -1 of other rows.
    """

    nodes: Line | Grids
    x: list[FloatArray]
    codes: list[IntArray]
    depth: IntArray

    def take(self, index: IntArray) -> Spread:
        """Some of the rows."""
        x, codes = [own[index] for own in self.x], [own[index] for own in self.codes]
        return Spread(nodes=self.nodes, x=x, codes=codes, depth=self.depth[index])

    def deviations(self) -> FloatArray:
        """(n,) of what the effects add to the scores, where steep rows can have more nodes; 0 else."""
        return self.nodes.deviations_of(self.x, self.codes)

    def shifts(self, steep: float) -> Iterator[tuple[FloatArray, FloatArray]]:
        """As `Atoms.shifts`, for rows of one depth that are no steeper."""
        depth = int(self.depth[0])
        return self.nodes.atoms(depth, steep).shifts(self.x[depth:], self.codes[depth])

    def means(self, rows: IntArray) -> FloatArray:
        """(k,) of what the effects add to some rows of one depth."""
        return np.asarray(sum(share * shift for shift, share in self.take(rows).shifts(0.0)))


def spread_of(state: State, x: list[FloatArray], codes: list[IntArray]) -> Spread | None:
    """Of rows with columns x (n, q) and groups (n,) of each term, new ones -1; None where nodes do not reach."""
    alone = _one_by_one(state, x[0])
    if alone is not None:
        state, x, codes = alone
    terms = state.model.terms
    few, total = all(term.q <= MOST_COLUMNS and not term.alike for term in terms), sum(term.q for term in terms)
    if not few or total > max(_COUNTS) or not state.model.structure.nested:
        return None
    nodes = Line.of(state) if total == 1 else Grids(grids(state, _COUNTS[total]))
    return Spread(nodes=nodes, x=x, codes=codes, depth=_depth(state, codes))


def _one_by_one(state: State, x: FloatArray) -> tuple[State, list[FloatArray], list[IntArray]] | None:
    """A given covariance that is diagonal as groups with an effect each, and rows with x (n, G); None of any other."""
    model = state.model
    if len(model.terms) > 1 or not model.terms[0].alike:
        return None
    if any((own != 0.0).sum(axis=1).max(initial=0) > 1 for own in (x, state.x[0])):
        return None
    (inner, inner_codes), (own, codes) = _picked(state.x[0]), _picked(x)
    term = RandomColumns(z=inner, codes=inner_codes, n_groups=model.terms[0].q)
    apart = replace(model, terms=(term,), scaling=(np.eye(1),))
    modes = conditional_modes(apart, state.bare, [inner], [state.modes.v[0].T])
    if modes is None:
        return None
    return State(apart, modes, [inner], state.bare, state.predictor), [own], [codes]


def _picked(x: FloatArray) -> tuple[FloatArray, IntArray]:
    """(n, 1) the one number of each row that is not 0, and its column."""
    codes = np.argmax(x != 0.0, axis=1).astype(np.intp)
    return x[np.arange(codes.size), codes][:, None], codes


def _depth(state: State, codes: list[IntArray]) -> IntArray:
    terms, depth = state.model.terms, np.full(codes[0].size, -1, dtype=np.intp)
    lies = np.ones(depth.size, dtype=bool)
    for k in reversed(range(len(terms))):
        if k + 1 < len(terms):
            parents = parents_of(terms[k].codes, terms[k + 1].codes)
            lies = lies & (parents[np.maximum(codes[k], 0)] == codes[k + 1])
        depth[lies & (codes[k] >= 0)] = k
    known = np.sum([own >= 0 for own in codes], axis=0)
    return np.where(known == len(terms) - depth, depth, -1)


# One effect a group


@dataclass(frozen=True, eq=False)
class Line:
    """The effects of groups that have one each, between the ends `low` and `high` (G,)."""

    state: State
    low: FloatArray
    high: FloatArray
    known: dict[int, Atoms] = field(default_factory=dict)

    @classmethod
    def of(cls, state: State) -> Line:
        low, high = (state.modes.v[0][:, 0] + side * _distance(state, side) for side in (-1.0, 1.0))
        return cls(state, low, high)

    @cached_property
    def deviations(self) -> FloatArray:
        """(G,) of a normal distribution with these ends."""
        return (self.high - self.low) / (2.0 * _REACH)

    def deviations_of(self, x: list[FloatArray], codes: list[IntArray]) -> FloatArray:
        """(n,) of what the effects add to the scores of rows."""
        return np.asarray(np.abs(x[0][:, 0]) * self.deviations[codes[0]])

    def atoms(self, depth: int, steep: float) -> Atoms:
        """For rows of a steepness, as in `over_groups.normal_nodes`."""
        half = max(_half(steep), self._least)
        if half not in self.known:
            self.known[half] = self._normalised(self._heights(half))
        return self.known[half]

    @cached_property
    def _least(self) -> int:
        """Half the nodes that the rows of the fit need."""
        state, term = self.state, self.state.model.terms[0]
        steep = np.abs(state.bare.s * state.x[0][:, 0]) * self.deviations[term.codes]
        narrowest = np.sqrt(state.modes.factor.inverse[:, 0, 0]) / self.deviations
        half = max(_half(steep.max(initial=0.0) / pole_of(state.model.family.link)), _half(0.0, 1.0 / narrowest.min()))
        while True:
            heights = self._heights(half)
            every, other = logsumexp(heights, axis=0), logsumexp(heights[::2], axis=0) + np.log(2.0)
            if np.abs(every - other).max() < _SMALL or 2 * half > _MOST:
                self.known[half] = self._normalised(heights)
                return half
            half *= 2

    def _places(self, half: int) -> FloatArray:
        """(J, G)."""
        return np.linspace(self.low, self.high, 2 * half + 1)

    def _heights(self, half: int) -> FloatArray:
        return np.stack([_height(self.state, v) for v in self._places(half)])

    def _normalised(self, heights: FloatArray) -> Atoms:
        places = self._places(len(heights) // 2)
        return Atoms((places[:, :, None],), np.exp(heights - logsumexp(heights, axis=0)))


def _half(steep: float, narrow: float = 1.0) -> int:
    return 2 * int(np.ceil(0.5 * _REACH * max(_FEWEST * narrow, _NODES * steep)))


def _height(state: State, v: FloatArray) -> FloatArray:
    """(G,) h at an effect of each group."""
    found = group_heights(state, v[:, None])
    assert found is not None
    return found


def _distance(state: State, side: float) -> FloatArray:
    """(G,) from the modes to beyond the last place where h has not fallen far; h <= -v^2 / 2, as log p <= 0."""
    modes = state.modes.v[0][:, 0]
    top = _height(state, modes)
    furthest = np.abs(modes) + np.sqrt(2.0 * (_FALL + np.maximum(-top, 0.0)))
    distance = np.minimum(_REACH * np.sqrt(state.modes.factor.inverse[:, 0, 0]), furthest)
    found = distance
    while np.any(distance < furthest):
        fallen = top - _height(state, modes + side * distance)
        distance = np.minimum(_GROWTH * distance, furthest)
        found = np.where(fallen < _FALL, distance, found)
    return np.asarray(found)


# Several


@dataclass(frozen=True, eq=False)
class Grids:
    """Atoms of the groups of each term, the same for all rows."""

    by_term: list[Atoms]

    def deviations_of(self, x: list[FloatArray], codes: list[IntArray]) -> FloatArray:
        """(n,) zeros."""
        return np.zeros(codes[0].size)

    def atoms(self, depth: int, steep: float) -> Atoms:
        """Of the groups of a term."""
        return self.by_term[depth]


def grids(state: State, count: int) -> list[Atoms]:
    """Of the groups of each term, by `count` nodes a column."""
    return _by_nodes(state, count)[0]


def _by_nodes(state: State, count: int) -> tuple[list[Atoms], FloatArray]:
    """The atoms, and the log-likelihoods (G,) of the groups of the outermost term."""
    if len(state.model.terms) > 1:
        return _nested(state, count)
    nodes = Nodes.of(state, count)
    assert nodes is not None
    v = np.stack([nodes.grid.at(j, state.modes.v[0], nodes.B) for j in range(len(nodes.grid.points))])
    return [Atoms((v,), nodes.posterior().T)], nodes.values()


def _nested(state: State, count: int) -> tuple[list[Atoms], FloatArray]:
    """Given each node of the outermost term the atoms within, and the posterior probabilities of the nodes."""
    around, grid = Around.of(state), grid_of(count, state.model.terms[-1].q)
    assert around is not None
    places, heights, inner = [], [], []
    for j, log_weight in enumerate(grid.log_weights):
        v = grid.at(j, state.modes.v[-1], around.B)
        there = within(state, around, v)
        assert there is not None
        own, values = _by_nodes(there, count)
        places.append(v)
        inner.append(own)
        heights.append(node_heights(state, around, values, v) + log_weight)
    total = logsumexp(heights, axis=0)
    shares, outer = np.exp(np.stack(heights) - total), np.stack(places)
    terms = zip(zip(*inner, strict=True), around.parents, strict=True)
    found = [_joined(own, outer[:, of], shares[:, of]) for own, of in terms]
    return [*found, Atoms((outer,), shares)], total + grid.size(around.B)


def _joined(inner: tuple[Atoms, ...], outer: FloatArray, shares: FloatArray) -> Atoms:
    """Atoms within at every outer node v (J, G, q), of shares (J, G)."""
    v = [np.concatenate(parts) for parts in zip(*(own.v for own in inner), strict=True)]
    v.append(np.repeat(outer, [len(own.shares) for own in inner], axis=0))
    return Atoms(tuple(v), np.concatenate([own.shares * share for own, share in zip(inner, shares, strict=True)]))
