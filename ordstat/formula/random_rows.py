"""The columns and groups of random terms at some rows."""

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
    codes : (N,) groups 0..G-1, -1 for a group that is not in the fit
    n_groups : int
        G.
    correlated : bool
        Whether the effects of one group are correlated.
    root : (G, G) or None
        L if the effects of the groups have the covariance sigma^2 L L'.
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
        """Number of random effects."""
        return self.n_groups * self.q

    @cached_property
    def entries(self) -> tuple[IntArray, IntArray]:
        """Rows (m,) and columns (m,) of the entries of Lambda that phi holds, column by
        column.
        """
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
        """(q, q) Lambda, the Cholesky factor of the covariance of a group's effects."""
        if self.alike:
            return np.asarray(phi[0] * np.eye(self.q))
        out = np.zeros((self.q, self.q))
        out[self.entries] = phi
        return out

    def by_phi(self, inner: FloatArray) -> FloatArray:
        """(m,) derivatives with respect to phi, from derivatives (n, q) with respect to
        Lambda v of each row, times v.
        """
        if self.alike:
            return np.array([np.vdot(self.z, inner)])
        by_entry: FloatArray = (self.z.T @ inner)[self.entries]
        return by_entry

    def rows_by_phi(self, inner: FloatArray) -> list[FloatArray]:
        """m arrays (n,): contributions of the rows to `by_phi`."""
        if self.alike:
            return [np.einsum("nq,nq->n", self.z, inner)]
        return [self.z[:, r] * inner[:, c] for r, c in zip(*self.entries, strict=True)]

    @property
    def width(self) -> int:
        """Number of columns with separate standard deviations."""
        return 1 if self.alike else self.q

    def variances(self, covariance: FloatArray) -> FloatArray:
        """(n,) variances of z'b, from the covariance of the effects of a group."""
        variances = np.einsum("nq,qp,np->n", self.z, covariance, self.z)
        if self.root is not None:
            variances = variances * (self.root**2).sum(axis=1)[self.codes]
        return np.asarray(variances)

    def with_independent_effects(self) -> RandomColumns:
        """The term with independent groups, if the groups have a covariance (cov=);
        codes of -1 do not change.
        """
        if self.root is None:
            return self
        z = self.z * self.root[self.codes]
        return RandomColumns(
            z=z,
            codes=np.minimum(self.codes, 0),
            n_groups=1,
            correlated=False,
            alike=True,
        )

    def with_groups(self, groups: IntArray, codes: IntArray) -> RandomColumns:
        """The term with some of the groups, and the index of each row among them."""
        root = None if self.root is None else self.root[groups]
        return replace(
            self, codes=codes.astype(np.intp), n_groups=groups.size, root=root
        )

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
        """The terms with groups 0..G-1 that all have rows."""
        renumbered = [np.unique(term.codes, return_inverse=True) for term in self.terms]
        pairs = zip(self.terms, renumbered, strict=True)
        return RandomRows(
            tuple(term.with_groups(groups, codes) for term, (groups, codes) in pairs)
        )

    def independent_sets(self) -> IntArray:
        """(N,) codes of independent sets of rows, which share no random effect.

        These are the groups of a single term, or the outermost groups of nested terms.
        If crossed terms connect all rows, they are the groups of the term with most
        groups.
        """
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        largest = max(self.terms, key=lambda term: term.n_groups)
        total = sum(term.n_groups for term in self.terms)
        starts = np.cumsum([0, *(term.n_groups for term in self.terms[:-1])])
        first, *others = (
            start + term.codes for start, term in zip(starts, self.terms, strict=True)
        )
        if not others:
            return largest.codes
        ends = np.tile(first, len(others)), np.concatenate(others)
        links = coo_matrix((np.ones(ends[0].size), ends), shape=(total, total))
        labels = connected_components(links, directed=False)[1][first]
        if np.all(labels == labels[0]):
            return largest.codes
        return np.asarray(labels, dtype=np.intp)

    def unseen(self, names: Sequence[str]) -> str:
        """The numbers of rows whose groups are not in the fit, as text, by grouping."""
        counts = [
            (name, int((term.codes < 0).sum()))
            for name, term in zip(names, self.terms, strict=True)
        ]
        return ", ".join(f"{name!r} in {count} rows" for name, count in counts if count)

    def require_covariances(self) -> None:
        """DataError if a term with cov= has groups that are not in the fit."""
        if any(term.root is not None and (term.codes < 0).any() for term in self.terms):
            raise DataError(
                "newdata has groups of cov= without rows in the fit. Use"
                " predict(re='zero'), or drop them."
            )


def check_whole_groups(
    random: RandomRows | None, clusters: IntArray, texts: Sequence[str] = ()
) -> None:
    """OptionError if clusters (N,) split a group of a random term, which has one
    likelihood.

    Parameters
    ----------
    random : RandomRows or None
    clusters : (N,)
    texts : sequence of str, optional
        Formula texts of the terms.

    Raises
    ------
    OptionError
    """
    if random is None:
        return
    if any(term.root is not None for term in random.terms):
        raise OptionError(
            "cluster must not divide dependent groups; cov= makes all dependent. Use"
            " vcov='model'."
        )
    named = texts or [f"random term {index + 1}" for index in range(len(random.terms))]
    for name, term in zip(named, random.terms, strict=True):
        # pairs of group and cluster
        pairs = np.unique(np.stack([term.codes, clusters]), axis=1)
        if split := int(np.count_nonzero(np.bincount(pairs[0]) > 1)):
            got = (
                f"got clusters that split {split} of the {term.n_groups} groups of"
                f" {name}"
            )
            raise OptionError(
                "cluster must keep the rows of each group of the random effects"
                f" together; {got}."
            )
