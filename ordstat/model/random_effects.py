"""Random terms as arrays: columns z and groups of rows, and the factor Lambda of the covariance of their effects.

A term adds z_i'b_g to the score of a row i of its group g, b_g = Lambda v_g with v_g standard normal of q components,
so that Cov(b_g) = Lambda Lambda'. Lambda is lower triangular, filled by phi column by column; diagonal where the
effects of a group are independent. l is even in each column of Lambda: a sign is chosen by a diagonal >= 0.

Where the covariance of the groups is given, b = sigma L u with u standard normal, a term of one column is the same as
one of G independent columns z_i L[g_i] in a single group with one standard deviation for all, its `spelt_out` form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..exceptions import DataError, OptionError


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
        columns, rows = np.nonzero(np.tri(self.q).T)
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

    def rows_by_phi(self, inner: FloatArray) -> list[FloatArray]:
        """m parts (n,), what each row adds to `by_phi`."""
        if self.alike:
            return [np.einsum("nq,nq->n", self.z, inner)]
        return [self.z[:, r] * inner[:, c] for r, c in zip(*self.entries, strict=True)]

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

    def with_groups(self, groups: IntArray, codes: IntArray) -> RandomColumns:
        """With some of the groups alone, and the place of each row among those."""
        root = None if self.root is None else self.root[groups]
        return replace(self, codes=codes.astype(np.intp), n_groups=groups.size, root=root)

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

    def renumbered(self) -> RandomRows:
        """With groups 0..G-1 that all have rows."""
        found = [np.unique(term.codes, return_inverse=True) for term in self.terms]
        pairs = zip(self.terms, found, strict=True)
        return RandomRows(tuple(term.with_groups(own, codes) for term, (own, codes) in pairs))

    def apart(self) -> IntArray:
        """(N,) whole groups that share no effect with others; those of the term of most groups where all are connected.

        The groups of a single term, the outermost ones of nested terms, the largest ones of crossed terms.
        """
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        largest = max(self.terms, key=lambda term: term.n_groups)
        total = sum(term.n_groups for term in self.terms)
        starts = np.cumsum([0, *(term.n_groups for term in self.terms[:-1])])
        first, *others = (start + term.codes for start, term in zip(starts, self.terms, strict=True))
        if not others:
            return largest.codes
        ends = np.tile(first, len(others)), np.concatenate(others)
        links = coo_matrix((np.ones(ends[0].size), ends), shape=(total, total))
        labels = connected_components(links, directed=False)[1][first]
        return largest.codes if np.all(labels == labels[0]) else np.asarray(labels, dtype=np.intp)

    def unseen(self, names: Sequence[str]) -> str:
        """In words how many rows have a group that the fit has not seen, by the names of the terms' groups."""
        counts = [int((term.codes < 0).sum()) for term in self.terms]
        return ", ".join(f"{name!r} in {count} rows" for name, count in zip(names, counts, strict=True) if count)

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


def check_whole_groups(random: RandomRows | None, clusters: IntArray, texts: Sequence[str] = ()) -> None:
    """OptionError where clusters (N,) part rows of a group, whose likelihood is one number.

    Parameters
    ----------
    random : RandomRows or None
    clusters : (N,)
    texts : sequence of str, optional
        The terms as the formula has them.

    Raises
    ------
    OptionError
    """
    if random is None:
        return
    if any(term.root is not None for term in random.terms):
        raise OptionError(
            "cluster must not part groups that depend on each other; cov= makes all of them do so. Use vcov='model'."
        )
    named = texts or [f"random term {place + 1}" for place in range(len(random.terms))]
    for name, term, split in zip(named, random.terms, splits(random, clusters), strict=True):
        if split:
            raise OptionError(
                "cluster must keep the rows of each group of the random effects together, as these are not "
                f"independent; got clusters that split {split} of the {term.n_groups} groups of {name}. "
                "Take these groups, or a coarser grouping."
            )


def splits(random: RandomRows, clusters: IntArray) -> list[int]:
    """How many groups of each term have rows in several clusters (N,); of cov=, all groups are one."""
    pairs = [np.unique(np.stack([term.spelt_out().codes, clusters]), axis=1) for term in random.terms]
    return [int(np.count_nonzero(np.bincount(own[0]) > 1)) for own in pairs]
