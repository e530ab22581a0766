"""Random terms as arrays: columns z and groups of rows, and the factor Lambda of the covariance of their effects.

A term adds z_i'b_g to the score of a row i of its group g, b_g = Lambda v_g with v_g standard normal of q components,
so that Cov(b_g) = Lambda Lambda'. Lambda is lower triangular, filled by phi column by column; diagonal where the
effects of a group are independent. l is even in each column of Lambda: a sign is chosen by a diagonal >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..exceptions import OptionError


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
    """

    z: FloatArray
    codes: IntArray
    n_groups: int
    correlated: bool = True

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
        if not self.correlated:
            return np.arange(self.q), np.arange(self.q)
        columns, rows = np.triu_indices(self.q)
        return rows, columns

    @property
    def n_phi(self) -> int:
        return int(self.entries[0].size)

    def factor(self, phi: FloatArray) -> FloatArray:
        """(q, q) Lambda."""
        out = np.zeros((self.q, self.q))
        out[self.entries] = phi
        return out

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
        terms = [replace(one, codes=codes.astype(np.intp), n_groups=own.size) for one, (own, codes) in pairs]
        return RandomRows(tuple(terms))

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

    def same(self, other: RandomRows) -> bool:
        """Whether all columns and groups are equal."""
        return len(self.terms) == len(other.terms) and all(
            np.array_equal(one.z, two.z) and np.array_equal(one.codes, two.codes)
            for one, two in zip(self.terms, other.terms, strict=True)
        )


def check_whole_groups(random: RandomRows | None, clusters: IntArray) -> None:
    """OptionError where clusters (N,) part rows of a group, whose likelihood is one number.

    Raises
    ------
    OptionError
    """
    if random is None:
        return
    for place, (term, split) in enumerate(zip(random.terms, splits(random, clusters), strict=True), start=1):
        if split:
            raise OptionError(
                "cluster must keep the rows of each group of the random effects together, as these are not "
                f"independent; got clusters that split {split} of the {term.n_groups} groups of random term {place}. "
                "Take these groups, or a coarser grouping."
            )


def splits(random: RandomRows, clusters: IntArray) -> list[int]:
    """How many groups of each term have rows in several clusters (N,)."""
    pairs = [np.unique(np.stack([term.codes, clusters]), axis=1) for term in random.terms]
    return [int(np.count_nonzero(np.bincount(own[0]) > 1)) for own in pairs]
