"""The matrix H = I + Lambda'Z'WZ Lambda of the random effects in blocks, eliminated
term by term.

Terms are sorted from most to fewest groups. The first is block diagonal, one q x q
block D_g per group; eliminating it leaves the Schur complement S = H_RR - B'D^-1 B, B =
H_1R. If the first term is nested in all others, S has the pattern of H_RR and
elimination continues; otherwise S is dense. Only those entries of H^-1 are needed whose
two groups share a row [Takahashi, Fagan and Chen 1973].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from .._typing import FloatArray, IntArray
from ..compiled.mixed import coupled, schur_complement
from ..formula.random_rows import RandomColumns
from ..formula.row_blocks import sums_by


@dataclass(frozen=True, eq=False)
class Pattern:
    """The pairs of groups of two terms that share a row.

    Attributes
    ----------
    first, second : (P,) groups
    of : (n,)
        Index of the pair of each row.
    """

    first: IntArray
    second: IntArray
    of: IntArray

    @classmethod
    def among(cls, first: RandomColumns, second: RandomColumns) -> Pattern:
        """The pairs that occur in the rows of two terms."""
        pairs, of = np.unique(
            first.codes * second.n_groups + second.codes, return_inverse=True
        )
        return cls(
            pairs // second.n_groups, pairs % second.n_groups, of.astype(np.intp)
        )

    def unique(self, n_groups: int) -> bool:
        """Whether each first group is in exactly one pair."""
        return bool(
            self.first.size == n_groups
            and np.array_equal(self.first, np.arange(n_groups))
        )


@dataclass(frozen=True, eq=False)
class Structure:
    """Random terms, sorted from most to fewest groups, and the pairs of groups that
    share rows.

    Attributes
    ----------
    codes : tuple of (n,)
    sizes, widths : tuple of int
        Number of groups and of columns of each term.
    patterns : dict of (s, t), s < t, to Pattern
    inner : dict of (s, t) to (G,)
        For nested terms: the pair of terms s and t in which each group of the first
        term lies.
    rest : Structure or None
        Structure of the other terms if the first is nested in all of them.
    """

    codes: tuple[IntArray, ...]
    sizes: tuple[int, ...]
    widths: tuple[int, ...]
    patterns: dict[tuple[int, int], Pattern]
    inner: dict[tuple[int, int], IntArray] = field(default_factory=dict)
    rest: Structure | None = None

    @property
    def nested(self) -> bool:
        """Whether every group of a term lies in one group of each later term."""
        return len(self.codes) == 1 or (self.rest is not None and self.rest.nested)

    @cached_property
    def layout(self) -> SparseLayout | None:
        """Sparse layout of the first term by the others; None unless terms
        are crossed.
        """
        if self.rest is not None or len(self.codes) == 1:
            return None
        return SparseLayout.of(self)

    @classmethod
    def of(cls, terms: Sequence[RandomColumns]) -> Structure:
        """The structure of terms sorted from most to fewest groups."""
        count = len(terms)
        patterns = {
            (s, t): Pattern.among(terms[s], terms[t])
            for s in range(count)
            for t in range(s + 1, count)
        }
        shape = (
            tuple(t.codes for t in terms),
            tuple(t.n_groups for t in terms),
            tuple(t.q for t in terms),
        )
        if count == 1:
            return cls(*shape, patterns)
        if all(patterns[0, t].unique(terms[0].n_groups) for t in range(1, count)):
            rest = cls.of(terms[1:])
            rows = np.empty(terms[0].n_groups, dtype=np.intp)
            rows[terms[0].codes] = np.arange(terms[0].codes.size)
            inner = {
                (s, t): patterns[s, t].of[rows]
                for s in range(1, count)
                for t in range(s + 1, count)
            }
            return cls(*shape, patterns, inner, rest)
        return cls(*shape, patterns)

    def places(self, t: int, groups: IntArray) -> IntArray:
        """(n, q) indices of the effects of groups of term t among the effects of all
        terms after the first.
        """
        offset = sum(self.sizes[s] * self.widths[s] for s in range(1, t))
        return offset + groups[:, None] * self.widths[t] + np.arange(self.widths[t])

    def gram(self, x: Sequence[FloatArray], W: FloatArray) -> BlockMatrix:
        """I + X'WX, where X has columns x = z Lambda (n, q) for each term."""
        diagonal = [
            block_sums(codes, size, columns, columns, W) + np.eye(columns.shape[1])
            for codes, size, columns in zip(self.codes, self.sizes, x, strict=True)
        ]
        pairs = {
            (s, t): block_sums(pattern.of, pattern.first.size, x[s], x[t], W)
            for (s, t), pattern in self.patterns.items()
        }
        return BlockMatrix(diagonal, pairs)


def block_sums(
    codes: IntArray, size: int, left: FloatArray, right: FloatArray, W: FloatArray
) -> FloatArray:
    """(size, q, q') sums of W left right' by code."""
    if size == 1:
        return (left.T @ (W[:, None] * right))[None]
    out = np.empty((size, left.shape[1], right.shape[1]))
    for a in range(left.shape[1]):
        weighted = W * left[:, a]
        for b in range(right.shape[1]):
            if left is right and b < a:
                out[:, a, b] = out[:, b, a]
            else:
                out[:, a, b] = np.bincount(
                    codes, weighted * right[:, b], minlength=size
                )
    return out


@dataclass(frozen=True, eq=False)
class BlockMatrix:
    """A symmetric matrix over the random effects: one block per group and per pair of
    groups.

    Attributes
    ----------
    diagonal : list of (G, q, q)
    pairs : dict of (s, t) to (P, q_s, q_t)
    """

    diagonal: list[FloatArray]
    pairs: dict[tuple[int, int], FloatArray]


#: A vector over the random effects: (G, q) of each term.
Effects = list[FloatArray]


@dataclass(frozen=True, eq=False)
class BlockFactor:
    """H after elimination of its first term.

    Attributes
    ----------
    structure : Structure
    inverse : (G, q, q)
        D^-1.
    V : dict of t to (P, q_1, q_t)
        D^-1 B.
    rest : BlockFactor, Dense or None
        Factor of the Schur complement.
    logdet : float
        log|H|.
    """

    structure: Structure
    inverse: FloatArray
    V: dict[int, FloatArray]
    rest: BlockFactor | Dense | None
    logdet: float

    def solve(self, right: Effects) -> Effects:
        """H^-1 times a vector."""
        first = np.einsum("gab,gb->ga", self.inverse, right[0])
        if self.rest is None:
            return [first]
        others = []
        for t, values in enumerate(right[1:], start=1):
            pattern = self.structure.patterns[0, t]
            moved = np.einsum("pab,pa->pb", self.V[t], right[0][pattern.first])
            others.append(values - sums_by(pattern.second, moved, len(values)))
        solved = self.rest.solve(others)
        for t, values in enumerate(solved, start=1):
            pattern = self.structure.patterns[0, t]
            first = first - sums_by(
                pattern.first,
                np.einsum("pab,pb->pa", self.V[t], values[pattern.second]),
                len(first),
            )
        return [first, *solved]

    def selected(self) -> BlockMatrix:
        """The entries of H^-1 in the blocks of H."""
        if self.rest is None:
            return BlockMatrix([self.inverse], {})
        if isinstance(self.rest, Dense):
            return self._selected_crossed(self.rest)
        return self._selected_nested(self.rest)

    def _selected_nested(self, rest: BlockFactor) -> BlockMatrix:
        inner = rest.selected()
        count = len(self.structure.codes)
        patterns = self.structure.patterns
        pairs = {(s + 1, t + 1): block for (s, t), block in inner.pairs.items()}
        diagonal = self.inverse.copy()
        for t in range(1, count):
            block = inner.diagonal[t - 1]
            coupling = -self.V[t] @ (
                block if len(block) == 1 else block[patterns[0, t].second]
            )
            for s in range(1, count):
                if s != t:
                    pair = self.structure.inner[min(s, t), max(s, t)]
                    block = pairs[min(s, t), max(s, t)][pair]
                    coupling -= self.V[s] @ (
                        block if s < t else block.transpose(0, 2, 1)
                    )
            pairs[0, t] = coupling
            diagonal -= coupling @ self.V[t].transpose(0, 2, 1)
        return BlockMatrix([diagonal, *inner.diagonal], pairs)

    def _selected_crossed(self, rest: Dense) -> BlockMatrix:
        inner = rest.selected()
        diagonal = self.inverse.copy()
        layout = self.structure.layout
        assert layout is not None
        V = layout.entries(self.V)
        product = np.empty_like(V)
        coupled(layout.starts, layout.columns, V, rest.inverse, product)
        pairs = dict(inner.pairs)
        for t, coupling in layout.blocks(product, self.V).items():
            pairs[0, t] = -coupling
            moved = coupling @ self.V[t].transpose(0, 2, 1)
            gained = sums_by(
                self.structure.patterns[0, t].first,
                moved.reshape(len(moved), -1),
                len(diagonal),
            )
            diagonal += gained.reshape(diagonal.shape)
        return BlockMatrix([diagonal, *inner.diagonal], pairs)


@dataclass(frozen=True, eq=False)
class Dense:
    """The Schur complement S of crossed terms, as one matrix: `upper` (R, R) is U of S
    = U'U.
    """

    structure: Structure
    upper: FloatArray

    @cached_property
    def inverse(self) -> FloatArray:
        """(R, R) S^-1."""
        upper = dpotri(self.upper, lower=0)[0]
        return np.ascontiguousarray(np.triu(upper) + np.triu(upper, 1).T)

    def solve(self, right: Effects) -> Effects:
        """S^-1 times a vector."""
        solved = dpotrs(
            self.upper, np.concatenate([part.reshape(-1) for part in right]), lower=0
        )[0]
        cut = np.split(solved, np.cumsum([part.size for part in right])[:-1])
        return [
            values.reshape(part.shape) for values, part in zip(cut, right, strict=True)
        ]

    def selected(self) -> BlockMatrix:
        """The entries of S^-1 in the blocks of its terms."""
        structure = self.structure
        diagonal = []
        pairs = {}
        for t, size in enumerate(structure.sizes[1:], start=1):
            places = structure.places(t, np.arange(size))
            diagonal.append(self.inverse[places[:, :, None], places[:, None, :]])
        for (s, t), pattern in structure.patterns.items():
            if s > 0:
                rows = structure.places(s, pattern.first)
                columns = structure.places(t, pattern.second)
                pairs[s, t] = self.inverse[rows[:, :, None], columns[:, None, :]]
        return BlockMatrix(diagonal, pairs)


@dataclass(frozen=True, eq=False)
class SparseLayout:
    """Blocks at pairs of groups (first term, others) as one sparse matrix, row by row.

    Attributes
    ----------
    order : (E,)
        Index of every entry in the concatenated blocks.
    starts : (G q_1 + 1,)
    columns : (E,)
    """

    order: IntArray
    starts: IntArray
    columns: IntArray

    @classmethod
    def of(cls, structure: Structure) -> SparseLayout:
        """The layout of the first term by all others."""
        q = structure.widths[0]
        rows = []
        columns = []
        for t in range(1, len(structure.codes)):
            pattern = structure.patterns[0, t]
            shape = pattern.first.size, q, structure.widths[t]
            row = pattern.first[:, None] * q + np.arange(q)
            rows.append(np.broadcast_to(row[:, :, None], shape).reshape(-1))
            places = structure.places(t, pattern.second)
            columns.append(np.broadcast_to(places[:, None, :], shape).reshape(-1))
        row = np.concatenate(rows)
        column = np.concatenate(columns)
        order = np.lexsort((column, row))
        starts = np.searchsorted(row[order], np.arange(structure.sizes[0] * q + 1))
        return cls(
            order,
            starts.astype(np.intp),
            np.ascontiguousarray(column[order], dtype=np.intp),
        )

    def entries(self, blocks: dict[int, FloatArray]) -> FloatArray:
        """(E,) entries of blocks, row by row."""
        return np.concatenate([blocks[t].reshape(-1) for t in sorted(blocks)])[
            self.order
        ]

    def blocks(
        self, entries: FloatArray, like: dict[int, FloatArray]
    ) -> dict[int, FloatArray]:
        """The inverse of `entries`: blocks with the shapes of `like`."""
        values = np.empty_like(entries)
        values[self.order] = entries
        ends = np.cumsum([like[t].size for t in sorted(like)])[:-1]
        return {
            t: part.reshape(like[t].shape)
            for t, part in zip(sorted(like), np.split(values, ends), strict=True)
        }


def factor(matrix: BlockMatrix, structure: Structure) -> BlockFactor | None:
    """Eliminate term by term; None if the matrix is not positive definite."""
    inverses = _inverses(matrix.diagonal[0])
    if inverses is None:
        return None
    inverse, logdet = inverses
    count = len(structure.codes)
    if count == 1:
        return BlockFactor(structure, inverse, {}, None, logdet)
    V = {
        t: inverse[structure.patterns[0, t].first] @ matrix.pairs[0, t]
        for t in range(1, count)
    }
    rest: BlockFactor | Dense | None
    if structure.rest is not None:
        rest = _nested(matrix, structure, V)
    else:
        rest = _dense(matrix, structure, V)
    if rest is None:
        return None
    if isinstance(rest, BlockFactor):
        rest_logdet = rest.logdet
    else:
        rest_logdet = 2.0 * float(np.log(np.diag(rest.upper)).sum())
    return BlockFactor(structure, inverse, V, rest, logdet + rest_logdet)


def _inverses(blocks: FloatArray) -> tuple[FloatArray, float] | None:
    """Inverses of (G, q, q) blocks and the sum of their log determinants; None if one
    is not positive definite.
    """
    if blocks.shape[1] == 1:
        if not np.all((blocks > 0.0) & (blocks < np.inf)):
            return None
        return 1.0 / blocks, float(np.log(blocks).sum())
    try:
        lower = np.linalg.cholesky(blocks)
    except np.linalg.LinAlgError:
        return None
    logdet = 2.0 * float(np.log(np.einsum("gaa->ga", lower)).sum())
    if not np.isfinite(logdet):
        return None
    half = np.linalg.inv(lower)
    return half.transpose(0, 2, 1) @ half, logdet


def _nested(
    matrix: BlockMatrix, structure: Structure, V: dict[int, FloatArray]
) -> BlockFactor | None:
    """Factor of the Schur complement if the first term is nested in all others."""
    assert structure.rest is not None
    diagonal = []
    pairs = {}
    for t, size in enumerate(structure.sizes[1:], start=1):
        if size == 1:
            diagonal.append(
                matrix.diagonal[t]
                - np.tensordot(matrix.pairs[0, t], V[t], axes=([0, 1], [0, 1]))
            )
            continue
        product = matrix.pairs[0, t].transpose(0, 2, 1) @ V[t]
        second = structure.patterns[0, t].second
        gone = sums_by(second, product.reshape(len(product), -1), size).reshape(
            matrix.diagonal[t].shape
        )
        diagonal.append(matrix.diagonal[t] - gone)
    for (s, t), index in structure.inner.items():
        product = matrix.pairs[0, s].transpose(0, 2, 1) @ V[t]
        old = matrix.pairs[s, t]
        pairs[s - 1, t - 1] = old - sums_by(
            index, product.reshape(len(product), -1), len(old)
        ).reshape(old.shape)
    return factor(BlockMatrix(diagonal, pairs), structure.rest)


def _dense(
    matrix: BlockMatrix, structure: Structure, V: dict[int, FloatArray]
) -> Dense | None:
    """Factor of the Schur complement of crossed terms."""
    layout = structure.layout
    assert layout is not None
    others = range(1, len(structure.codes))
    S = np.zeros((sum(structure.sizes[t] * structure.widths[t] for t in others),) * 2)
    for t in others:
        places = structure.places(t, np.arange(structure.sizes[t]))
        S[places[:, :, None], places[:, None, :]] = matrix.diagonal[t]
    for (s, t), pattern in structure.patterns.items():
        if s > 0:
            rows = structure.places(s, pattern.first)
            columns = structure.places(t, pattern.second)
            S[columns[:, :, None], rows[:, None, :]] = matrix.pairs[s, t].transpose(
                0, 2, 1
            )
    B = layout.entries({t: matrix.pairs[0, t] for t in others})
    schur_complement(layout.starts, layout.columns, B, layout.entries(V), S)
    upper, failed = dpotrf(S.T, lower=0, clean=0, overwrite_a=1)
    return None if failed else Dense(structure, upper)
