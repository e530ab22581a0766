"""Random terms as arrays: columns z and groups of rows, and the factor Lambda of the covariance of their effects.

A term adds z_i'b_g to the score of a row i of its group g, b_g = Lambda v_g with v_g standard normal of q components,
so that Cov(b_g) = Lambda Lambda'. Lambda is lower triangular, filled by phi column by column; diagonal where the
effects of a group are independent. l is even in each column of Lambda: a sign is chosen by a diagonal >= 0.

Where the covariance of the groups is given, b = sigma L u with u standard normal, a term of one column is the same as
one of G independent columns z_i L[g_i] in a single group with one standard deviation for all, its `spelt_out` form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..exceptions import DataError


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomColumns:
    """One random term.

    Attributes
    ----------
    z : (N, q)
        Columns whose effects vary by group.
    codes : (N,) groups 0..G-1, -1 of a group that the fit has not seen
    n_groups : int
        G.
    correlated : bool
        Whether the effects of one group are correlated.
    root : (G, G) or None
        L, where the effects of the groups have the covariance sigma^2 L L'.
    alike : bool
        Whether all columns have the same standard deviation.
    """

    z: FloatArray
    codes: IntArray
    n_groups: int
    correlated: bool = True
    root: FloatArray | None = None
    alike: bool = False

    @property
    def q(self) -> int:
        return int(self.z.shape[1])

    @property
    def size(self) -> int:
        """How many random effects there are."""
        return self.n_groups * self.q

    @cached_property
    def entries(self) -> tuple[IntArray, IntArray]:
        """(m,) rows and columns of Lambda that phi fills, column by column."""
        if self.alike:
            return np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp)
        if not self.correlated:
            return np.arange(self.q), np.arange(self.q)
        columns, rows = np.triu_indices(self.q)
        return rows, columns

    @property
    def n_phi(self) -> int:
        return int(self.entries[0].size)

    def factor(self, phi: FloatArray) -> FloatArray:
        """(q, q) Lambda."""
        if self.alike:
            return np.asarray(phi[0] * np.eye(self.q))
        out = np.zeros((self.q, self.q))
        out[self.entries] = phi
        return out

    def by_phi(self, inner: FloatArray) -> FloatArray:
        """(m,) derivatives by phi, from those (n, q) by the effects Lambda v of the rows times v."""
        return np.array([np.vdot(self.z, inner)]) if self.alike else (self.z.T @ inner)[self.entries]

    @property
    def width(self) -> int:
        """How many columns have a standard deviation of their own."""
        return 1 if self.alike else self.q

    def variances(self, covariance: FloatArray) -> FloatArray:
        """(n,) of z'b, by the covariance of the effects of a group."""
        own = np.einsum("nq,qp,np->n", self.z, covariance, self.z)
        return np.asarray(own if self.root is None else own * (self.root**2).sum(axis=1)[self.codes])

    def spelt_out(self) -> RandomColumns:
        """With independent effects, where the covariance of the groups is given; codes -1 stay."""
        if self.root is None:
            return self
        z = self.z * self.root[self.codes]
        return RandomColumns(z=z, codes=np.minimum(self.codes, 0), n_groups=1, correlated=False, alike=True)

    def __getitem__(self, index: AnyArray | slice) -> RandomColumns:
        """Some of the rows; the groups stay."""
        return replace(self, z=self.z[index], codes=self.codes[index])


@dataclass(frozen=True, eq=False)
class RandomRows:
    """The random terms of some rows."""

    terms: tuple[RandomColumns, ...]

    def __getitem__(self, index: AnyArray | slice) -> RandomRows:
        """Some of the rows; the groups stay."""
        return RandomRows(tuple(term[index] for term in self.terms))

    def require_covariances(self) -> None:
        """DataError where the fit has not seen a group of a term whose covariance was given."""
        if any(term.root is not None and (term.codes < 0).any() for term in self.terms):
            raise DataError(
                "newdata has groups without rows in the fit, and of cov= it keeps the covariance of those with rows "
                "alone. Use predict(re='zero'), or leave these rows out."
            )

    def same(self, other: RandomRows) -> bool:
        """Whether all columns and groups are equal."""
        return len(self.terms) == len(other.terms) and all(
            np.array_equal(one.z, two.z) and np.array_equal(one.codes, two.codes) and _equal(one.root, two.root)
            for one, two in zip(self.terms, other.terms, strict=True)
        )


def _equal(one: FloatArray | None, other: FloatArray | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))
