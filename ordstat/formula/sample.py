"""Arrays with a response: samples, rows, their scaling and their distinct rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import SMALLER_WEIGHTS, require_memory
from ..compiled.sums import add_by
from ..exceptions import DataError, OptionError

#: Sums of weights that differ by this share of their total are the same.
_SAME = 1e-9
#: Most numbers in memory at once (32 MB), and numbers that fit in the cache.
HELD = 1 << 22
CACHED = 1 << 15


def row_blocks(n: int, per_row: int = 1, room: int = HELD) -> Iterator[slice]:
    """Slices of the rows 0..n-1, such that `per_row` numbers per row fit into `room`.

    Examples
    --------
    >>> list(row_blocks(5, per_row=2, room=4))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(room // max(per_row, 1), 1)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def sums_by(
    codes: IntArray, values: FloatArray, size: int, weights: FloatArray | None = None
) -> FloatArray:
    """(size, P) sums of the rows of values (n, P), times their weights (n,), for each
    code 0..size-1.

    Examples
    --------
    >>> sums_by(np.array([0, 2, 0]), np.array([[1.0], [2.0], [3.0]]), 3).ravel()
    array([4., 0., 2.])
    """
    sums = np.zeros((size, values.shape[1]))
    add_by(np.asarray(codes, dtype=np.intp), values, weights, sums)
    return sums


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
        """(m,) derivatives by phi, from derivatives (n, q) by Lambda v of each row,
        times v.
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

    def spelt_out(self) -> RandomColumns:
        """The term with independent effects if the groups have a covariance; codes of
        -1 do not change.
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

    def apart(self) -> IntArray:
        """(N,) codes of independent sets of rows, which share no random effect.

        These are the groups of a single term, or the outermost groups of nested terms.
        Where crossed terms connect all rows: the groups of the term with most of them.
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
        """Numbers of rows with groups that are not in the fit, as text, by the names of
        the groupings.
        """
        counts = [
            (name, int((term.codes < 0).sum()))
            for name, term in zip(names, self.terms, strict=True)
        ]
        return ", ".join(f"{name!r} in {count} rows" for name, count in counts if count)

    def require_covariances(self) -> None:
        """DataError for groups that are not in the fit, of a term with cov=."""
        if any(term.root is not None and (term.codes < 0).any() for term in self.terms):
            raise DataError(
                "newdata has groups of cov= without rows in the fit. Use"
                " predict(re='zero'), or drop them."
            )


def check_whole_groups(
    random: RandomRows | None, clusters: IntArray, texts: Sequence[str] = ()
) -> None:
    """OptionError if clusters (N,) divide the rows of a group, whose likelihood is one
    number.

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


#: Limits of nonzero weights: totals and products are then far from over- and underflow,
#: and whole weights are exact.
LIGHTEST = 1e-15
HEAVIEST = 1e15


def extreme(weights: FloatArray) -> BoolArray:
    """(N,) whether weights >= 0 are too small or too large for a number of rows."""
    return np.asarray((weights != 0) & ((weights < LIGHTEST) | (weights > HEAVIEST)))


def has_gaps(X: FloatArray) -> bool:
    """Whether a matrix without infinite values has missing values (NaN)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isnan(X.sum())) and bool(np.isnan(X).any())


def _take(value: AnyArray | RandomRows | None, index: AnyArray | slice) -> Any:
    return None if value is None else value[index]


def _require_lengths(holder: Rows | Sample, names: Sequence[str], n: int) -> None:
    """DataError unless each of these arrays is None or has n rows: compiled loops would
    read beyond their ends.
    """
    for name in names:
        array = getattr(holder, name)
        if array is not None and len(array) != n:
            raise DataError(
                f"{name} must have a value for each of the {n} rows; got {len(array)}."
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """Model matrices of some rows, without a response.

    Attributes
    ----------
    X : (N, D) float64, C-contiguous
        Location columns, no intercept (the thresholds are the intercepts). NaN for
        missing values, in the few methods that support them.
    offset : (N,) or None
        Known part of the score H(x).
    nominal : (N, q) or None
        Columns whose effect differs per threshold, no intercept.
    scale : (N, r) or None
        Columns of the log scale, no intercept.
    scale_offset : (N,) or None
        Known part of the log scale.
    random : RandomRows or None
        Random terms of the score.
    """

    X: FloatArray
    offset: FloatArray | None = None
    nominal: FloatArray | None = None
    scale: FloatArray | None = None
    scale_offset: FloatArray | None = None
    random: RandomRows | None = None

    def __post_init__(self) -> None:
        _require_lengths(
            self, ("offset", "nominal", "scale", "scale_offset"), len(self.X)
        )

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def one_scale(self) -> bool:
        """Whether rows only differ in location, so that a larger score is a larger
        expected rank.
        """
        return self.nominal is None and self.scale is None and self.scale_offset is None

    def take(self, index: AnyArray | slice) -> Rows:
        """The rows at `index` (integers, a mask or a slice), in that order."""
        return replace(
            self, **{f.name: _take(getattr(self, f.name), index) for f in fields(self)}
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Sample:
    """Rows with their observed ranks.

    Attributes
    ----------
    rows : Rows
    y : (N,) codes 0..K-1
    n_levels : int
        K, at least 2.
    highest : (N,) or None
        The highest level that each answer allows, y being the lowest, where some
        answers are known in part; None if all are exact.
    weights : (N,) or None
        Case (frequency) weights, 0 or from LIGHTEST to HEAVIEST; None means 1 for every
        row.
    costs : (N, K) or None
        Cost of each predicted rank for each row; None if the cost of the method
        applies.
    cluster : (N,) codes 0..G-1 or None
        Rows of one cluster are not independent.
    signs : (D,) int8 or None
        1 or -1 for columns of X with effects that must increase or decrease, 0 for
        others.
    categories : (D,) or None
        Number of categories for columns of codes 0, 1, ..., 0 for columns of numbers;
        None if all are numbers.
    """

    rows: Rows
    y: IntArray
    n_levels: int
    weights: FloatArray | None = None
    costs: FloatArray | None = None
    cluster: IntArray | None = None
    signs: AnyArray | None = None
    categories: IntArray | None = None
    highest: IntArray | None = None

    #: Arrays with a value for each row.
    by_row: ClassVar[tuple[str, ...]] = ("y", "weights", "costs", "cluster", "highest")

    def __post_init__(self) -> None:
        _require_lengths(self, self.by_row, self.rows.n)
        if len(self.y) and not 0 <= self.y.min() <= self.y.max() < self.n_levels:
            raise DataError(
                f"y must be codes from 0 to {self.n_levels - 1}; got {self.y.min()} to"
                f" {self.y.max()}."
            )

    @property
    def X(self) -> FloatArray:
        return self.rows.X

    @property
    def n(self) -> int:
        return self.rows.n

    @property
    def answers(self) -> IntArray:
        """(N,) y; or (2, N) the lowest and the highest level that each answer allows,
        where some are known in part.
        """
        return self.y if self.highest is None else np.stack([self.y, self.highest])

    @property
    def exact(self) -> BoolArray:
        """(N,) whether the answer is one level."""
        if self.highest is None:
            return np.ones(self.n, dtype=bool)
        return np.asarray(self.highest == self.y)

    def silent(self) -> BoolArray:
        """(N,) whether an answer known in part allows every level."""
        if self.highest is None:
            return np.zeros(self.n, dtype=bool)
        return np.asarray((self.y == 0) & (self.highest == self.n_levels - 1))

    def between(self) -> BoolArray:
        """(N,) whether an answer known in part has a lower and an upper end."""
        if self.highest is None:
            return np.zeros(self.n, dtype=bool)
        last = self.n_levels - 1
        return np.asarray((self.y > 0) & (self.highest < last) & ~self.exact)

    def counts(self) -> FloatArray:
        """(K,) weighted counts of the levels. An answer known in part counts at the
        levels that it allows, as the exact answers among them do.
        """
        if self.highest is None:
            return np.bincount(self.y, self.weights, self.n_levels).astype(np.float64)
        exact = self.exact
        weights = self.case_weights
        counts = np.bincount(self.y[exact], weights[exact], self.n_levels)
        low = self.y[~exact]
        beyond = self.highest[~exact] + 1
        upto = np.append(0.0, np.cumsum(counts))
        mass = upto[beyond] - upto[low]
        shares = np.zeros(mass.size)  # without an exact answer among the levels
        np.divide(weights[~exact], mass, out=shares, where=mass > 0.0)
        size = self.n_levels + 1
        change = np.bincount(low, shares, size) - np.bincount(beyond, shares, size)
        return np.asarray(counts * (1.0 + np.cumsum(change)[:-1]))

    def among(self, present: BoolArray) -> Sample:
        """The sample with codes of the levels present (K,) alone.

        Raises
        ------
        DataError
            An answer known in part allows none of them.
        """
        y = self.y
        highest = self.highest
        if not present.all():
            upto = np.cumsum(present)
            y = upto[y] - present[y]
            highest = None if highest is None else upto[highest] - 1
        if highest is not None and (highest < y).any():
            raise DataError(
                "Every answer known in part must allow a level that some row has"
                f" exactly; {int((highest < y).sum())} do not, where rows were left"
                " out. Use more rows, or round the answers."
            )
        return replace(
            self,
            y=np.ascontiguousarray(y, dtype=np.intp),
            highest=highest,
            n_levels=int(present.sum()),
        )

    @property
    def every_level(self) -> bool:
        """Whether every level has rows of positive weight."""
        return bool(self.counts().all())

    @property
    def case_weights(self) -> FloatArray:
        """(N,) weights; ones if `weights` is None."""
        return np.ones(self.n) if self.weights is None else self.weights

    def take(self, index: AnyArray | slice) -> Sample:
        """The sample at `index` (integers, a mask or a slice); `n_levels` does not
        change.
        """
        return replace(
            self,
            rows=self.rows.take(index),
            y=self.y[index],
            highest=_take(self.highest, index),
            weights=_take(self.weights, index),
            costs=_take(self.costs, index),
            cluster=_take(self.cluster, index),
        )


def total_of(weights: FloatArray) -> float:
    """The sum of case weights; a whole number if it differs from one by rounding alone.

    Examples
    --------
    >>> total_of(np.array([0.1, 0.2, 0.7]) * 3.0)
    3.0
    """
    total = float(weights.sum())
    rounding = weights.size * np.finfo(np.float64).eps * total
    return float(np.rint(total)) if abs(total - np.rint(total)) <= rounding else total


def quantiles(
    x: FloatArray, weights: FloatArray, total: float, shares: FloatArray
) -> FloatArray:
    """Quantiles of x as R's type 7 with each value repeated by its weight.

    Weights that are not whole follow Hmisc's wtd.quantile: the place (total - 1) *
    share lies between two whole places, and a whole place has the first value whose
    weights up to it sum to more.

    Parameters
    ----------
    x : (N,)
    weights : (N,) >= 0, not all 0
    total : float
        Their sum.
    shares : (m,) in [0, 1]

    Returns
    -------
    (m,)

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 5.0])
    >>> weights = np.array([1.0, 2.0, 1.0])
    >>> quantiles(values, weights, 4.0, np.array([0.5, 0.9]))
    array([2. , 4.1])
    >>> np.quantile([1.0, 2.0, 2.0, 5.0], [0.5, 0.9])
    array([2. , 4.1])
    """
    order = np.flatnonzero(weights > 0)
    order = order[np.argsort(x[order])]
    values = x[order]
    upto = np.cumsum(weights[order])
    places = np.maximum((total - 1.0) * shares, 0.0)
    below = np.floor(places)
    last = values.size - 1
    rows = np.searchsorted(
        upto, np.array([below, below + 1.0]) + _SAME * total, side="right"
    )
    low, high = values[np.minimum(rows, last)]
    return np.asarray(low + (places - below) * (high - low))


@dataclass(frozen=True, eq=False, kw_only=True)
class DistinctRows:
    """M distinct rows (by columns, rank and costs), sorted by rank, then by columns.

    Attributes
    ----------
    X : (M, D)
    y : (M,) codes, nondecreasing
    costs : (M, K)
    weights : (M,) sums of the case weights, > 0
    rows : (M,) the first identical row of the sample
    """

    X: FloatArray
    y: IntArray
    costs: FloatArray
    weights: FloatArray
    rows: IntArray

    @property
    def n(self) -> int:
        return self.y.size

    def take(self, index: IntArray) -> DistinctRows:
        """The rows at `index`, in that order."""
        return DistinctRows(
            **{f.name: getattr(self, f.name)[index] for f in fields(self)}
        )

    def repeated(self, most: float) -> DistinctRows:
        """Rows repeated by their weights, if these are whole and sum to at most `most`;
        else self.

        For learners that count rows regardless of weights.
        """
        times = np.rint(self.weights)
        if (times != self.weights).any() or times.sum() > most:
            return self
        total = float(times.sum())
        size = 8.0 * total * max(self.X.shape[1], 1)
        require_memory(
            f"Repeating rows {total:g} times, the sum of the weights,",
            size,
            SMALLER_WEIGHTS,
        )
        rows = self.take(np.repeat(np.arange(self.n), times.astype(np.intp)))
        return replace(rows, weights=np.ones(rows.n))


def distinct_rows(sample: Sample, costs: FloatArray) -> DistinctRows:
    """Identical rows once, with the sum of their case weights; rows of weight 0 are
    left out.

    A row of weight w and w rows of weight 1 give the same result: loops over it compute
    the same floating-point numbers, and break ties in the same way, for any order of
    the rows.

    Parameters
    ----------
    sample : Sample
    costs : (N, K)

    Raises
    ------
    DataError
        Every weight is zero.
    """
    rows, weights = distinct_places(sample, costs)
    # Adding 0 turns -0 into 0.
    return DistinctRows(
        X=sample.X[rows] + 0.0,
        y=sample.y[rows],
        costs=costs[rows],
        weights=weights,
        rows=rows,
    )


def distinct_places(sample: Sample, costs: FloatArray) -> tuple[IntArray, FloatArray]:
    """(M,) first rows of each set of identical rows, in the order of `distinct_rows`,
    and the sums of their weights.

    Missing values (NaN) are equal.
    """
    keys = [sample.y, *sample.X.T, *costs.T]
    if sample.weights is None:
        order, first = _sorted(keys)
        if first.all():
            return order, np.ones(order.size)
        starts = np.flatnonzero(first)
        return order[starts], np.diff(starts, append=order.size).astype(np.float64)
    used = np.flatnonzero(sample.weights > 0)
    if used.size == 0:
        raise DataError("weights are zero for every row: nothing is left to fit.")
    order, first = _sorted(
        keys if used.size == sample.n else [key[used] for key in keys]
    )
    weights = sample.case_weights[used[order]]
    return used[order[first]], np.add.reduceat(weights, np.flatnonzero(first))


def _sorted(keys: list[AnyArray]) -> tuple[IntArray, BoolArray]:
    """(N,) stable order by the keys (N,), the first key first, and whether each row
    differs from the previous one.

    Rows that differ in the first two keys are compared by these only.
    """
    order: IntArray = np.lexsort(keys[1::-1])
    first = _differs(keys[:2], order)
    tied = ~first
    tied[:-1] |= ~first[1:]
    places = np.flatnonzero(tied)
    among = order[places]
    order[places] = among[np.lexsort([key[among] for key in keys[::-1]])]
    first[places] = _differs(keys, order[places])
    return order, first


def _differs(keys: list[AnyArray], order: IntArray) -> BoolArray:
    """(M,) whether a row of `order` (M,) differs from the previous one in any key; True
    for the first.
    """
    differs: BoolArray = np.ones(order.size, dtype=np.bool_)
    differs[1:] = False
    for key in keys:
        values = key[order]
        unlike = values[1:] != values[:-1]
        # of a later key NaN may be anywhere
        if values.dtype.kind == "f" and np.isnan(values).any():
            unlike &= ~(np.isnan(values[1:]) & np.isnan(values[:-1]))
        differs[1:] |= unlike
    return differs


# A column with spread below this share of its size is rounding.
_CONSTANT = 1e-14


@dataclass(frozen=True, eq=False)
class Scaling:
    """x -> (x - centre) * factor by column; columns that are constant on the training
    rows become 0.

    Attributes
    ----------
    centre, factor : (D,)
    """

    centre: FloatArray
    factor: FloatArray

    @property
    def changes(self) -> bool:
        """Whether any column is changed."""
        return bool(self.centre.any() or (self.factor != 1.0).any())

    def __call__(self, X: FloatArray) -> FloatArray:
        """The mapped columns of X (n, D); X itself if nothing changes."""
        if not self.changes:
            return X
        mapped: FloatArray = X - self.centre
        mapped *= self.factor
        return mapped


def _factor(spread: FloatArray, size: FloatArray) -> FloatArray:
    constant = spread <= _CONSTANT * size
    return np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, spread))


def scaling_with(
    earlier: Scaling,
    n_earlier: float,
    kind: str | None,
    X: FloatArray,
    weights: FloatArray,
) -> Scaling:
    """The scaling with columns that were constant in earlier rows scaled where they
    vary now.

    Their scale is that of all rows so far; other columns keep the one they have.

    Parameters
    ----------
    earlier : Scaling
        That of the earlier rows.
    n_earlier : float
        Number of the earlier rows.
    kind : {"range", "standard", None}
    X : (N, D)
    weights : (N,) positive case weights
    """
    waiting = np.flatnonzero(earlier.factor == 0.0)
    constants = earlier.centre[waiting]
    varies = np.abs(X[:, waiting] - constants) > _CONSTANT * np.abs(constants)
    moved = waiting[varies.any(axis=0)]
    if not moved.size:
        return earlier
    fitted = fit_scaling(
        kind, np.vstack([earlier.centre, X]), np.append(n_earlier, weights)
    )
    centre = earlier.centre.copy()
    factor = earlier.factor.copy()
    centre[moved] = fitted.centre[moved]
    factor[moved] = fitted.factor[moved]
    return Scaling(centre, factor)


def _identity(X: FloatArray, weights: FloatArray) -> Scaling:
    return Scaling(np.zeros(X.shape[1]), np.ones(X.shape[1]))


def _to_range(X: FloatArray, weights: FloatArray) -> Scaling:
    # Halve first: the difference of two large numbers of opposite sign may overflow.
    # ignores missing values
    low = np.fmin.reduce(X, axis=0) / 2.0
    high = np.fmax.reduce(X, axis=0) / 2.0
    return Scaling(
        high + low, _factor(high - low, np.maximum(np.abs(low), np.abs(high)))
    )


def _standardised(X: FloatArray, weights: FloatArray) -> Scaling:
    # column by column, over rows with a value; columns without values do not change
    if has_gaps(X):
        columns = [
            (column[~np.isnan(column), None], weights[~np.isnan(column)])
            for column in X.T
        ]
        fitted = [
            _standardised(*column) if column[1].size else _identity(*column)
            for column in columns
        ]
        return Scaling(
            np.hstack([one.centre for one in fitted]),
            np.hstack([one.factor for one in fitted]),
        )
    mean = np.average(X, axis=0, weights=weights)
    deviation = np.sqrt(np.average(np.square(X - mean), axis=0, weights=weights))
    return Scaling(mean, _factor(deviation, np.abs(X).max(axis=0)))


#: Scalings of columns: to [-1, 1], to mean 0 and standard deviation 1, or none.
SCALINGS: dict[str | None, Callable[[FloatArray, FloatArray], Scaling]] = {
    "range": _to_range,
    "standard": _standardised,
    None: _identity,
}

#: Descriptions of scalings in the summary.
SCALED = {
    "range": "each to [-1, 1]",
    "standard": "each to mean 0, standard deviation 1",
    None: "no",
}


def require_finite_squares(X: FloatArray) -> None:
    """DataError if squares of a column of X (N, D) overflow when scaled as before."""
    with np.errstate(over="ignore"):
        squares = np.einsum("nd,nd->d", X, X)
    if not np.isfinite(squares).all():
        column = int(np.argmin(np.isfinite(squares)))
        raise DataError(
            f"Column {column} of the batch must have finite squares, scaled as the"
            " first rows. Rescale it."
        )


def fit_scaling(
    kind: str | None, X: FloatArray, weights: FloatArray, *, about_mean: bool = False
) -> Scaling:
    """Learn the map of the columns of X (N, D).

    Parameters
    ----------
    kind : {"range", "standard", None}
        Each column to [-1, 1] (the papers' setting), to weighted mean 0 and standard
        deviation 1, or unchanged.
    X : (N, D), N >= 1
    weights : (N,) positive case weights
    about_mean : bool
        Whether unscaled columns are centred: products of rows far from 0 would lose all
        digits.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [4.0, 5.0]])
    >>> fit_scaling("range", X, np.ones(2))(X)
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    with np.errstate(over="ignore", divide="ignore"):
        scaling = SCALINGS[kind](X, weights)
    if np.isinf(scaling.factor).any():  # NaN for a column without values
        column = int(np.argmax(np.isinf(scaling.factor)))
        raise DataError(
            f"Column {column} of X must vary by more than about 1e-300 to be scaled."
            " Rescale it."
        )
    if about_mean and not scaling.changes:
        return Scaling(np.average(X, axis=0, weights=weights), scaling.factor)
    return scaling
