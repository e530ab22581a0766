"""What a likelihood model predicts on average over the groups of its random effects, with all derivatives.

A row's score needs one number of the random effects, z'b ~ N(0, d^2) with d^2 = sum_t |x_t|^2 and x_t = Lambda_t'z_t.
A mean over the groups is an integral over d v, v standard normal, and by the trapezoid rule a weighted sum over nodes
v. At a node the row is one without random effects whose offset is d v, so that whatever is known of such rows holds:
values, gradients, and derivatives along tangents. The derivative by Lambda_t[r, c] is that by the score times
v z_tr x_tc / d: at a node these columns stand beside those of X, with effects of 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from ..likelihood.derivatives import Chain, Derived, Quantity, averages, five_points, moved, steps_along
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
class Predicted(CostRule):
    """What is predicted of rows: by a rule alone, or averaged over the groups that there could be.

    Attributes
    ----------
    rule : LikelihoodRule
        Without random effects.
    factors : tuple of (q, q)
        Lambda of every random term; empty to predict by the rule alone.
    entries : tuple of ((m,), (m,))
        Rows and columns of each Lambda that are parameters.
    """

    rule: LikelihoodRule
    factors: tuple[FloatArray, ...] = ()
    entries: tuple[tuple[IntArray, IntArray], ...] = ()

    @property
    def n_phi(self) -> int:
        return sum(rows.size for rows, _ in self.entries)

    def averages(self, quantity: Quantity, rows: Rows, weights: FloatArray) -> Derived:
        """(M,) weighted sums over rows and their Jacobian, the parameters of the rule before those of the Lambdas."""
        if not self.factors:
            return averages(quantity, self.rule, rows, weights)
        values: Any = 0.0
        jacobian: Any = 0.0
        for node in self._nodes(rows):
            sums, by_parameters = averages(quantity, self._wider, node.rows, node.share * weights[node.index])
            values, jacobian = values + sums, jacobian + by_parameters
        return values, self._in_order(jacobian)

    def each(self, quantity: Quantity, rows: Rows) -> Derived:
        """(n, M) values of the rows and their Jacobian (n, M, F + m)."""
        if not self.factors:
            return Chain(quantity, self.rule, rows).rows()
        outputs = len(quantity.factors(self.rule.n_levels - 1))
        values, jacobian = np.zeros((rows.n, outputs)), np.zeros((rows.n, outputs, self._wider.n_parameters))
        for node in self._nodes(rows):
            own, gradient = Chain(quantity, self._wider, node.rows).rows()
            values[node.index] += node.share * own
            jacobian[node.index] += node.share * gradient
        return values, self._in_order(jacobian)

    def slope(self, quantity: Quantity, rows: Rows, tangent: Rows, weights: FloatArray) -> Derived:
        """`averages` of the derivatives along a tangent of the rows, by five points."""
        steps = self._steps(rows, tangent)
        return five_points(lambda k: self.averages(quantity, moved(rows, tangent, k * steps), weights / steps))

    def slopes(self, quantity: Quantity, rows: Rows, tangent: Rows) -> Derived:
        """`each` of the derivatives along a tangent."""
        steps = self._steps(rows, tangent)
        values, jacobian = five_points(lambda k: self.each(quantity, moved(rows, tangent, k * steps)))
        return values / steps[:, None], jacobian / steps[:, None, None]

    @property
    def n_levels(self) -> int:
        return self.rule.n_levels

    @property
    def cost(self) -> CostMatrix:  # type: ignore[override]
        return self.rule.cost

    def scores(self, rows: Rows) -> FloatArray:
        """(N,) H without random effects."""
        return self.rule.scores(rows)

    def log_odds_above(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        below = np.cumsum(self.probabilities(rows), axis=1)[:, :-1]
        return np.asarray(np.log1p(-below) - np.log(below))

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        if not self.factors:
            return self.rule.probabilities(rows)
        out = np.zeros((rows.n, self.rule.n_levels))
        for node in self._nodes(rows):
            out[node.index] += node.share * self._wider.probabilities(node.rows)
        return out

    @cached_property
    def _wider(self) -> LikelihoodRule:
        """The rule with an effect of 0 for every parameter of the Lambdas."""
        return replace(self.rule, beta=np.append(self.rule.beta, np.zeros(self.n_phi)))

    def _nodes(self, rows: Rows) -> Iterator[Node]:
        """All rows at all nodes."""
        z, x = self._columns(rows)
        deviation = np.sqrt(np.asarray(sum(np.einsum("nq,nq->n", part, part) for part in x)))
        products = [
            own[:, row] * moved_by[:, column] for own, moved_by, (row, column) in zip(z, x, self.entries, strict=True)
        ]
        by_phi = np.hstack(products) / np.where(deviation > 0.0, deviation, 1.0)[:, None]
        steep = self.rule.predictor(rows).s * deviation
        given = np.zeros(rows.n) if rows.offset is None else rows.offset
        for index, most in steepness_blocks(self.rule.link, steep):
            some = rows.take(index)
            for point, share in zip(*normal_nodes(most), strict=True):
                X, offset = np.hstack([some.X, point * by_phi[index]]), given[index] + point * deviation[index]
                yield Node(replace(some, X=X, offset=offset, random=None), index, float(share))

    def _steps(self, rows: Rows, tangent: Rows) -> FloatArray:
        """(n,) steps for derivatives along a tangent."""
        if not self.factors:
            return steps_along(self.rule, rows, tangent)
        further = sum(np.abs(x).sum(axis=1) for x in self._columns(tangent)[1])
        return steps_along(self.rule, rows, tangent, self.rule.predictor(rows).s * further)

    def _columns(self, rows: Rows) -> tuple[list[FloatArray], list[FloatArray]]:
        """z and x = z Lambda of every term."""
        assert rows.random is not None
        z = [term.z for term in rows.random.terms]
        return z, [columns @ Lambda for columns, Lambda in zip(z, self.factors, strict=True)]

    def _in_order(self, jacobian: FloatArray) -> FloatArray:
        """(..., F + m) with what stands beside X, after beta, at the end."""
        first = self.rule.alpha.size + self.rule.beta.size
        own = slice(first, first + self.n_phi)
        return np.concatenate([np.delete(jacobian, own, axis=-1), jacobian[..., own]], axis=-1)


@dataclass(frozen=True, eq=False)
class Node:
    """Some rows at a node of the integral, without random effects; which rows they are, and the weight of the node."""

    rows: Rows
    index: IntArray
    share: float


def over_groups(rule: LikelihoodRule, marginal: Marginal) -> Predicted:
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
    return Predicted(replace(rule, effects=()), tuple(factors), tuple(entries))


def over_population(fit: LikelihoodFit) -> LikelihoodFit:
    """The fit with a rule that averages over the random effects."""
    assert fit.marginal is not None and isinstance(fit.rule, LikelihoodRule)
    return replace(fit, rule=over_groups(fit.rule, fit.marginal))


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
