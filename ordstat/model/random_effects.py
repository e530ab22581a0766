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
    for place, term in enumerate(() if random is None else random.terms, start=1):
        pairs = np.unique(np.stack([term.codes, clusters]), axis=1)
        split = int(np.count_nonzero(np.bincount(pairs[0], minlength=term.n_groups) > 1))
        if split:
            raise OptionError(
                "cluster must keep the rows of each group of the random effects together, as these are not "
                f"independent; got clusters that split {split} of the {term.n_groups} groups of random term {place}. "
                "Take these groups, or a coarser grouping."
            )
