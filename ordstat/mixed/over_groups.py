"""What a likelihood model predicts on average over the groups of its random effects, with all derivatives.

A row's score needs one number of the random effects, z'b ~ N(0, d^2) with d^2 = sum_t |x_t|^2 and x_t = Lambda_t'z_t.
A mean over the groups is an integral over d v, v standard normal, and by the trapezoid rule a weighted sum over nodes
v. At a node the row is one without random effects whose offset is d v, so that whatever is known of such rows holds:
values, gradients, and derivatives along tangents. The derivative by Lambda_t[r, c] is that by the score times
v z_tr x_tc / d: at a node these columns stand beside those of X, with effects of 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..exceptions import DataError, OptionError, warn
from ..fit import CostRule
from ..formula.random_terms import RandomTerm
from ..formula.sample import RandomRows, Rows
from ..judging.costs import CostMatrix
from ..likelihood.derivatives import Directions, Quantity, averages
from ..likelihood.fit import LikelihoodFit, Marginal
from ..likelihood.links import Link
from ..likelihood.rule import LikelihoodRule

#: Standard deviations to either side that an average takes in: beyond lies 2e-17.
_REACH = 8.5
#: Nodes a standard deviation, for every unit of the predictor that it is where the nearest pole is 1 away, as a
#: Cauchy's: the error of the rule is of the order of e^(-2 pi 5) then.
_NODES = 5.0
#: Distance from the real line of the nearest pole, or of where a distribution begins to grow; 1 for other links.
_POLES = {"logit": np.pi, "probit": 2.0, "cloglog": np.pi / 2.0, "loglog": np.pi / 2.0}
#: Predictors less steep than this need no fewer nodes.
_FLAT = 0.4

#: Predictors steeper than this are those of variances that have run off.
_STEEPEST = 500.0

#: Values and their derivatives by the parameters.
Found = tuple[FloatArray, FloatArray]


def pole_of(link: Link) -> float:
    """How far from the real line the distribution of a link has its nearest pole, or begins to grow."""
    return float(_POLES.get(link.name, 1.0))


def steepness_blocks(link: Link, deviation: FloatArray) -> Iterator[tuple[IntArray, float]]:
    """Rows in blocks of about one steepness, with the largest of each: one steep row must not make all pay.

    Parameters
    ----------
    link : Link
    deviation : (n,)
        Standard deviations of the predictors; by the distance of the nearest pole they are the steepness.

    Raises
    ------
    DataError
        Standard deviations of hundreds and more.
    """
    steep = deviation / pole_of(link)
    if not steep.max(initial=0.0) <= _STEEPEST:
        raise DataError(
            "Averages over groups need random effects of a finite standard deviation; got rows whose effects have one "
            f"of {deviation.max():.3g}, where that of the link is about 1. Such a variance has run off as the data do "
            "not bound it, or the row is far out: use re='zero', or re='mode' for groups of the fit."
        )
    blocks = np.ceil(np.log2(np.maximum(steep, _FLAT))).astype(int)
    for block in np.unique(blocks):
        chosen = np.flatnonzero(blocks == block)
        yield chosen, float(steep[chosen].max())


def normal_nodes(steep: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the trapezoid rule for means over a standard normal [Trefethen & Weideman 2014].

    Parameters
    ----------
    steep : float
        See `steepness_blocks`.
    """
    half = int(np.ceil(_REACH * max(2.0, _NODES * steep)))
    points = np.linspace(-_REACH, _REACH, 2 * half + 1)
    shares = np.exp(-0.5 * points**2)
    return points, shares / shares.sum()


@dataclass(frozen=True, eq=False)
class AsTheyAre:
    """What a rule predicts, without an average."""

    rule: LikelihoodRule
    n_phi: int = 0

    def averages(self, quantity: Quantity, rows: Rows, weights: FloatArray) -> Found:
        return averages(quantity, self.rule, rows, weights)

    def directions(self, quantity: Quantity, rows: Rows) -> Directions:
        return Directions(quantity, self.rule, rows)


@dataclass(frozen=True, eq=False)
class OverGroups:
    """Averages of rows over the groups that there could be.

    Attributes
    ----------
    rule : LikelihoodRule
        Without random effects.
    factors : tuple of (q, q)
        Lambda of every random term.
    entries : tuple of ((m,), (m,))
        Rows and columns of each Lambda that are parameters.
    """

    rule: LikelihoodRule
    factors: tuple[FloatArray, ...]
    entries: tuple[tuple[IntArray, IntArray], ...]

    @property
    def n_phi(self) -> int:
        return sum(rows.size for rows, _ in self.entries)

    def averages(self, quantity: Quantity, rows: Rows, weights: FloatArray) -> Found:
        def at_node(node: Node) -> Found:
            return averages(quantity, self.wider, node.rows, weights[node.index])

        return self.total(self.nodes(rows), at_node)

    def directions(self, quantity: Quantity, rows: Rows) -> DirectionsOverGroups:
        return DirectionsOverGroups(quantity, self, rows)

    @cached_property
    def wider(self) -> LikelihoodRule:
        """The rule with an effect of 0 for every parameter of the Lambdas."""
        return replace(self.rule, beta=np.append(self.rule.beta, np.zeros(self.n_phi)))

    def nodes(self, rows: Rows) -> Iterator[Node]:
        """All rows at all nodes."""
        deviation, by_phi = self.deviations(rows)
        steep = self.rule.predictor(rows).s * deviation
        for index, most in steepness_blocks(self.rule.link, steep):
            own = rows.take(index)
            for point, share in zip(*normal_nodes(most), strict=True):
                moved = _beside(own, point * by_phi[index], point * deviation[index])
                yield Node(moved, index, float(point), float(share))

    def deviations(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """(n,) d, and its derivatives (n, m) by the parameters of all Lambdas; 0 where d is."""
        z, x = self._columns(rows)
        d = np.sqrt(np.asarray(sum(np.einsum("nq,nq->n", own, own) for own in x)))
        return d, self._products(z, x) / _safe(d)

    def tangent(self, rows: Rows, tangent: Rows) -> tuple[FloatArray, FloatArray]:
        """The derivatives of both along a tangent of the rows."""
        (z, x), (z_moved, x_moved) = self._columns(rows), self._columns(tangent)
        d, by_phi = self.deviations(rows)
        moved = np.asarray(sum(np.einsum("nq,nq->n", a, b) for a, b in zip(x, x_moved, strict=True))) / _safe(d)[:, 0]
        turned = self._products(z_moved, x) + self._products(z, x_moved) - by_phi * moved[:, None]
        return moved, turned / _safe(d)

    def total(self, nodes: Iterator[Node], at_node: Callable[[Node], Found]) -> Found:
        """Weighted sums over the nodes, the parameters of the rule before those of the Lambdas."""
        values: Any = 0.0
        jacobian: Any = 0.0
        for node in nodes:
            own, gradient = at_node(node)
            values, jacobian = values + node.share * own, jacobian + node.share * gradient
        return values, self.in_order(jacobian)

    def in_order(self, jacobian: FloatArray) -> FloatArray:
        """(..., F + m) with what stands beside X, after beta, at the end."""
        first = self.rule.alpha.size + self.rule.beta.size
        own = slice(first, first + self.n_phi)
        return np.concatenate([np.delete(jacobian, own, axis=-1), jacobian[..., own]], axis=-1)

    def _columns(self, rows: Rows) -> tuple[list[FloatArray], list[FloatArray]]:
        """z and x = z Lambda of every term."""
        z = [term.z for term in _random(rows).terms]
        return z, [own @ Lambda for own, Lambda in zip(z, self.factors, strict=True)]

    def _products(self, z: list[FloatArray], x: list[FloatArray]) -> FloatArray:
        """(n, m) z_r x_c at the entries of every Lambda."""
        parts = zip(z, x, self.entries, strict=True)
        return np.hstack([own[:, rows] * moved[:, columns] for own, moved, (rows, columns) in parts])


@dataclass(frozen=True, eq=False)
class Node:
    """Some rows at a node of the integral.

    Attributes
    ----------
    rows : Rows
        Without random effects.
    index : (k,)
        Which rows they are.
    point, share : float
    """

    rows: Rows
    index: IntArray
    point: float
    share: float


@dataclass(frozen=True, eq=False)
class DirectionsOverGroups:
    """`Directions` of averages over groups."""

    quantity: Quantity
    over: OverGroups
    rows: Rows

    def average(self, tangent: Rows, weights: FloatArray) -> Found:
        return self.over.total(
            self._nodes(), lambda node: self._at(node).average(self._moved(node, tangent), weights[node.index])
        )

    def each(self, tangent: Rows) -> Found:
        return self._every(lambda node: self._at(node).each(self._moved(node, tangent)))

    def values(self) -> Found:
        return self._every(lambda node: self._at(node).values())

    def _nodes(self) -> Iterator[Node]:
        return self.over.nodes(self.rows)

    def _at(self, node: Node) -> Directions:
        return Directions(self.quantity, self.over.wider, node.rows)

    def _moved(self, node: Node, tangent: Rows) -> Rows:
        """The tangent of the rows of a node."""
        own = tangent.take(node.index)
        deviation, by_phi = self.over.tangent(self.rows.take(node.index), own)
        return _beside(own, node.point * by_phi, node.point * deviation)

    def _every(self, at_node: Callable[[Node], Found]) -> Found:
        """One a row: those of a node in their places."""

        def placed(node: Node) -> Found:
            found = at_node(node)
            spread = [np.zeros((self.rows.n, *part.shape[1:])) for part in found]
            for whole, part in zip(spread, found, strict=True):
                whole[node.index] = part
            return spread[0], spread[1]

        return self.over.total(self._nodes(), placed)


def _beside(rows: Rows, columns: FloatArray, offset: FloatArray) -> Rows:
    """Rows without random effects, with further columns and an offset."""
    given = offset if rows.offset is None else rows.offset + offset
    return replace(rows, X=np.hstack([rows.X, columns]), offset=given, random=None)


def _random(rows: Rows) -> RandomRows:
    assert rows.random is not None
    return rows.random


def _safe(d: FloatArray) -> FloatArray:
    """(n, 1) d, and 1 where it is 0, beside derivatives that are 0 there."""
    return np.where(d > 0.0, d, 1.0)[:, None]


#: What is predicted of rows, and rows as a place to take derivatives at.
Predicted = AsTheyAre | OverGroups
Place = Directions | DirectionsOverGroups


@dataclass(frozen=True, eq=False)
class PopulationRule(CostRule):
    """Probabilities averaged over the groups that there could be: those of rows of groups that a fit has not seen.

    Attributes
    ----------
    over : OverGroups
    cost : CostMatrix
        What `codes` minimise in expectation.
    """

    over: OverGroups
    cost: CostMatrix

    @property
    def n_levels(self) -> int:
        return self.over.rule.n_levels

    def scores(self, rows: Rows) -> FloatArray:
        """(N,) H without random effects."""
        return self.over.rule.scores(rows)

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        out = np.zeros((rows.n, self.n_levels))
        for node in self.over.nodes(rows):
            out[node.index] += node.share * self.over.wider.probabilities(node.rows)
        return out

    def log_odds_above(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        below = np.cumsum(self.probabilities(rows), axis=1)[:, :-1]
        return np.asarray(np.log1p(-below) - np.log(below))


def over_groups(rule: LikelihoodRule, marginal: Marginal) -> OverGroups:
    """Averages over the random effects of a fit.

    Raises
    ------
    OptionError
        Groups of several variances.
    """
    if not all(term.unit_diagonal for term in marginal.terms):
        raise OptionError(
            "cov must have ones on its diagonal for averages over the random effects, as groups have several variances "
            "otherwise. Use re='zero', or fit with K / K.iloc[0, 0] where all are the same."
        )
    factors, entries = ([getattr(term, name) for term in marginal.terms] for name in ("factor", "entries"))
    return OverGroups(replace(rule, effects=()), tuple(factors), tuple(entries))


def over_population(fit: LikelihoodFit) -> LikelihoodFit:
    """The fit with a rule that averages over the random effects."""
    assert fit.marginal is not None and isinstance(fit.rule, LikelihoodRule)
    return replace(fit, rule=PopulationRule(over_groups(fit.rule, fit.marginal), fit.rule.cost))


def at_known_modes(rows: Rows, modes: tuple[FloatArray, ...]) -> Rows:
    """Rows with the modes (G, q) of known groups in their offset, so that those of others alone are random."""
    assert rows.random is not None
    shift, terms = np.zeros(rows.n), []
    for term, own in zip(rows.random.terms, modes, strict=True):
        known = (term.codes >= 0)[:, None]
        shift += np.einsum("nq,nq->n", term.z, np.where(known, own[np.maximum(term.codes, 0)], 0.0))
        terms.append(replace(term, z=np.where(known, 0.0, term.z)))
    offset = shift if rows.offset is None else rows.offset + shift
    return replace(rows, offset=offset, random=RandomRows(tuple(terms)))


def tell_unknown(terms: Sequence[RandomTerm], newdata: Any, hint: str = "") -> None:
    """DataWarning where groups are named, and none of them is known; the hint ends the sentence on predictions."""
    text = next(filter(None, (term.unknown(newdata) for term in terms)), "")
    if text:
        warn(
            f"No group of newdata is one of the fit: {text}. Its rows are predicted by averages over the random "
            f"effects{hint}. Where they are groups of the fit, write them in the same type."
        )
