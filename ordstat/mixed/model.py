"""A likelihood with random effects: rows, parameters, blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

import numpy as np

from .._typing import FloatArray, IntArray
from ..compiled.mixed import location_terms
from ..formula.random_rows import RandomColumns
from ..formula.row_blocks import sums_by
from ..likelihood.family import Family
from ..likelihood.layout import Layout
from ..likelihood.predictor import Jacobian, ModelRows, Predictor
from ..likelihood.problem import Problem
from ..likelihood.rows import LARGEST_LOG_SCALE
from ..likelihood.terms import LocationTerms
from .blocks import Effects, Structure

#: Condition number of nearly collinear columns, such as an intercept and a column 5
#: deviations away from 0.
_ALIKE = 10.0
#: Links of the compiled passes; the index is their number.
LINKS = ("logit", "probit")


@dataclass(frozen=True, eq=False, kw_only=True)
class MixedModel:
    """Rows, parameters and random terms of an integrated likelihood.

    Attributes
    ----------
    rows : ModelRows
        Scaled columns; rows are sorted by the groups of the first term.
    y : (n,) codes
    weights : (n,)
    family : Family
    n_thresholds : int
    expand : (F, P) or None
        From the fixed parameters to all thresholds and effects; None for the identity.
    to_user : (P, P)
        From the fixed parameters to the user's parameters.
    terms : tuple of RandomColumns
        Scaled terms, sorted from most to fewest groups.
    scaling : tuple of (q, q)
        M of each term: scaled columns are z M, so the user's effects are b = M b'.
    order : tuple of int
        Index of each term in the sample.
    along : (n,)
        Index of each row in the sample.
    roots : tuple of (G, G) or None
        Root of the covariance of the groups (cov=), in the order of the sample.
    """

    rows: ModelRows
    y: IntArray
    weights: FloatArray
    family: Family
    n_thresholds: int
    expand: FloatArray | None
    to_user: FloatArray
    terms: tuple[RandomColumns, ...]
    scaling: tuple[FloatArray, ...]
    order: tuple[int, ...]
    along: IntArray
    roots: tuple[FloatArray | None, ...]

    @classmethod
    def of(cls, problem: Problem) -> MixedModel:
        """The model of a problem whose sample has random terms."""
        random = problem.sample.rows.random
        assert random is not None
        spelt = [term.with_independent_effects() for term in random.terms]
        sizes = [(-term.n_groups, -term.q) for term in spelt]
        order = tuple(sorted(range(len(sizes)), key=sizes.__getitem__))
        weights = problem.sample.case_weights
        scaling = [_scaling(spelt[k], weights) for k in order]
        terms = [
            replace(spelt[k], z=spelt[k].z @ M)
            for k, M in zip(order, scaling, strict=True)
        ]
        rows = problem.rows.model_rows(slice(None))
        along = np.argsort(terms[0].codes, kind="stable")
        terms = [term[along] for term in terms]
        return cls(
            rows=rows.take(along),
            y=problem.sample.y[along],
            weights=np.ascontiguousarray(weights[along]),
            family=problem.family,
            n_thresholds=problem.counts.size - 1,
            expand=_expansion(problem),
            to_user=_user_map(problem),
            terms=tuple(terms),
            scaling=tuple(scaling),
            order=order,
            along=along,
            roots=tuple(term.root for term in random.terms),
        )

    @property
    def n_fixed(self) -> int:
        return int(self.to_user.shape[0])

    @property
    def n_phi(self) -> int:
        return sum(term.n_phi for term in self.terms)

    @cached_property
    def structure(self) -> Structure:
        """The pairs of groups that share rows."""
        return Structure.of(self.terms)

    @cached_property
    def starts(self) -> IntArray:
        """(G + 1,) first row of each group of the first term, and the number
        of rows.
        """
        first = self.terms[0]
        return np.asarray(
            np.searchsorted(first.codes, np.arange(first.n_groups + 1)), dtype=np.intp
        )

    @cached_property
    def compiled(self) -> bool:
        """Whether the compiled pass covers the model: logit, one effect per group, no
        nominal or scale effects.
        """
        alone = len(self.terms) == 1 and self.terms[0].q == 1
        return (
            alone and self.link == 0 and self.rows.w.shape[1] == 1 and not self.scaled
        )

    @cached_property
    def common(self) -> bool:
        """Whether the column of the first term is constant, so that an effect moves all
        rows of its group equally.
        """
        z = self.terms[0].z
        return bool(np.all(z == z[0]))

    @cached_property
    def scaled(self) -> bool:
        """Whether rows have different scales."""
        return bool(self.rows.z.shape[1] or self.rows.scale_offset.any())

    @cached_property
    def first_column(self) -> FloatArray:
        """(n,) the first column of the first term."""
        return np.ascontiguousarray(self.terms[0].z[:, 0])

    # Parameters

    def phi_of(self, phi: FloatArray) -> list[FloatArray]:
        """The components of phi of each term."""
        ends = accumulate(term.n_phi for term in self.terms)
        return [
            phi[end - term.n_phi : end]
            for end, term in zip(ends, self.terms, strict=True)
        ]

    def factors(self, phi: FloatArray) -> list[FloatArray]:
        """Lambda (q, q) of each term."""
        return [
            term.factor(part)
            for term, part in zip(self.terms, self.phi_of(phi), strict=True)
        ]

    @cached_property
    def diagonal_of(self) -> IntArray:
        """(m,) index in psi of the diagonal element in the same column of Lambda as
        each component of phi.
        """
        parts = []
        start = self.n_fixed
        for term in self.terms:
            rows, columns = term.entries
            parts.append(start + np.flatnonzero(rows == columns)[columns])
            start += rows.size
        return np.concatenate(parts)

    @cached_property
    def diagonals(self) -> IntArray:
        """Indices in psi of the diagonal elements of the Lambdas, term by term."""
        return np.unique(self.diagonal_of)

    def effects(
        self, psi: FloatArray, v: Effects
    ) -> tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]:
        """Factors of the covariances and modes (G, q) of the user's terms, in the order
        of the sample.
        """
        factors = dict[int, FloatArray]()
        modes = dict[int, FloatArray]()
        for index, Lambda, M, part in zip(
            self.order, self.factors(psi[self.n_fixed :]), self.scaling, v, strict=True
        ):
            factor = M @ Lambda
            root = self.roots[index]
            factors[index], modes[index] = (
                factor * np.where(np.diag(Lambda) < 0.0, -1.0, 1.0),
                part @ factor.T,
            )
            # one column for each group, all with one standard deviation
            if root is not None:
                factors[index], modes[index] = (
                    factors[index][:1, :1],
                    root @ modes[index].T,
                )
        indices = range(len(self.order))
        return tuple(factors[index] for index in indices), tuple(
            modes[index] for index in indices
        )

    def user_entries(self, k: int) -> tuple[IntArray, IntArray]:
        """(m',) and (m',) rows and columns of M Lambda of term k that are not always 0,
        column by column.
        """
        pattern = np.zeros((self.terms[k].q,) * 2)
        pattern[self.terms[k].entries] = 1.0
        columns, rows = np.nonzero((np.abs(self.scaling[k]) @ pattern).T)
        return rows, columns

    def start_phi(self) -> FloatArray:
        """Standard deviations of 0.5 on the latent scale, or 0.5 per unit of the column
        if that is less.
        """
        parts = []
        for term, M in zip(self.terms, self.scaling, strict=True):
            rows, columns = term.entries
            parts.append(
                np.where(rows == columns, 0.5 / np.maximum(np.diag(M)[rows], 1.0), 0.0)
            )
        return np.concatenate(parts)

    # Rows

    @property
    def layout(self) -> Layout:
        """The blocks of the fixed parameters without a threshold structure."""
        return Layout(
            thresholds=self.n_thresholds,
            columns=self.rows.w.shape[1],
            location=self.rows.x.shape[1],
            scale=self.rows.z.shape[1],
        )

    def predictor(self, fixed: FloatArray) -> Predictor | None:
        """The predictor without random effects; None if a log scale is too large."""
        full = fixed if self.expand is None else self.expand @ fixed
        at = self.layout.split(full)
        alpha = np.ascontiguousarray(at.alpha)
        predictor = self.rows.at(alpha, at.beta, at.zeta)
        return predictor if np.abs(predictor.tau).max() <= LARGEST_LOG_SCALE else None

    def located(self, predictor: Predictor, shift: FloatArray) -> LocationTerms | None:
        """Terms of the rows with scores moved by `shift` (n,); None outside
        the domain.
        """
        if self.link is not None:
            u, lo, d = self.ends(predictor)
            if not np.all(d > 0.0):
                return None
            out = np.empty((3, shift.size))
            if location_terms(self.link, u, lo, d, predictor.s, shift, *out):
                return LocationTerms(*out)
        return self.family.by_location(
            replace(predictor, H=predictor.H + shift), self.y
        )

    def ends(self, predictor: Predictor) -> tuple[FloatArray, FloatArray, FloatArray]:
        """`predictor.ends` of the response, cached on the predictor."""
        ends = predictor.__dict__.get("ends_of_y")
        if ends is None:
            u, lo, d = predictor.ends(self.y)
            ends = predictor.__dict__["ends_of_y"] = (u, lo, d)
        return ends

    @cached_property
    def link(self) -> int | None:
        """Number of the link in the compiled passes; None if they do not cover the
        family.
        """
        name = self.family.link.name
        return LINKS.index(name) if self.family.local and name in LINKS else None

    def columns(self, phi: FloatArray) -> list[FloatArray]:
        """x = z Lambda (n, q) of each term."""
        return [
            term.z @ Lambda
            for term, Lambda in zip(self.terms, self.factors(phi), strict=True)
        ]

    def shift(self, x: Iterable[FloatArray], v: Effects) -> FloatArray:
        """(n,) x'v of each row: what the random effects add to its score."""
        parts = zip(x, v, self.terms, strict=True)
        return np.asarray(
            sum(
                np.einsum("nq,nq->n", columns, part[term.codes])
                for columns, part, term in parts
            )
        )

    def gathered(self, x: Iterable[FloatArray], values: FloatArray) -> Effects:
        """X'values, the transpose of `shift`, for values (n,)."""
        return [
            (
                (values @ columns)[None]
                if term.n_groups == 1
                else sums_by(term.codes, columns, term.n_groups, values)
            )
            for term, columns in zip(self.terms, x, strict=True)
        ]

    def jacobian(self, places: IntArray) -> Jacobian:
        """The Jacobian of the predictors of the rows by the fixed parameters."""
        return Jacobian(self.rows, places, self.layout, self.expand)


def _scaling(term: RandomColumns, weights: FloatArray) -> FloatArray:
    """(q, q) M, diagonal unless correlated effects have nearly collinear columns."""
    size = np.sqrt(weights @ term.z**2 / weights.sum())
    if term.alike:
        size = np.full(term.q, np.linalg.norm(size))
    M = np.diag(1.0 / np.where(size > 0.0, size, 1.0))
    if not term.correlated or term.q == 1:
        return M
    R = np.linalg.qr(np.sqrt(weights / weights.sum())[:, None] * (term.z @ M), mode="r")
    if not 1e-12 < 1.0 / np.linalg.cond(R) < 1.0 / _ALIKE:
        return M
    return M @ np.linalg.inv(R * np.sign(np.diag(R))[:, None])


def _user_map(problem: Problem) -> FloatArray:
    order = problem.solver_layout.order_by_columns
    return problem.user.coefficients(np.eye(order.size))[:, order]


def _expansion(problem: Problem) -> FloatArray | None:
    if problem.structure is None:
        return None
    all_thresholds = problem.rows.layout.order_by_columns
    order = problem.solver_layout.order_by_columns
    return problem.expansion[np.ix_(all_thresholds, order)]
