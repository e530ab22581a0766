"""Nested models: whether a fit is a special case of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._typing import FloatArray
from ..likelihood.flexible import FLEXIBLE

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


def nested_in(small: LikelihoodResults, large: LikelihoodResults) -> bool:
    """Whether `small` is a special case of `large`.

    Its columns and structured thresholds are linear combinations of those of `large`,
    and its link is the same or a member of the link family of `large`.
    """
    a = small.design.sample.rows
    b = large.design.sample.rows
    location = joined(a.X, offset_difference(a.offset, b.offset))
    log_scale = joined(a.scale, offset_difference(a.scale_offset, b.scale_offset))
    return (
        _link_within(small, large)
        and _thresholds_within(small, large)
        and _random_within(small, large)
        and spanned(joined(a.nominal), joined(b.nominal))
        and spanned(location, joined(b.X, b.nominal))
        and spanned(log_scale, joined(b.scale))
    )


def _link_within(small: LikelihoodResults, large: LikelihoodResults) -> bool:
    contained = isinstance(small.family, large.family.contains)
    if small.family.name != large.family.name and not contained:
        return False
    if large.fit.flexible_layout.link:
        family = FLEXIBLE[large.family.link.name]
        return small.family.link.name in (family.name, *family.members)
    return bool(small.method.link == large.method.link)


def _thresholds_within(small: LikelihoodResults, large: LikelihoodResults) -> bool:
    inner = small.fit.jacobian
    outer = large.fit.jacobian
    if outer is None:
        return True
    inner = np.eye(len(outer)) if inner is None else inner
    return bool(
        np.linalg.matrix_rank(np.hstack([inner, outer])) == np.linalg.matrix_rank(outer)
    )


def offset_difference(
    first: FloatArray | None, second: FloatArray | None
) -> FloatArray | None:
    """(N, 1) difference of two offsets; None without offsets."""
    if first is None and second is None:
        return None
    return np.reshape(
        (0.0 if first is None else first) - (0.0 if second is None else second), (-1, 1)
    )


def joined(*blocks: FloatArray | None) -> FloatArray | None:
    """Columns side by side; None without columns."""
    given = [block for block in blocks if block is not None]
    return np.ascontiguousarray(np.hstack(given)) if given else None


def spanned(columns: FloatArray | None, others: FloatArray | None) -> bool:
    """Whether the columns are linear combinations of the others and a constant."""
    if columns is None or columns is others:
        return True
    centred = columns - columns.mean(axis=0)
    size = np.linalg.norm(centred, axis=0)
    if others is not None and others.shape[1]:
        basis = others - others.mean(axis=0)
        length = np.linalg.norm(basis, axis=0)
        basis = basis / np.where(length > 0.0, length, 1.0)
        centred = centred - basis @ np.linalg.lstsq(basis, centred, rcond=None)[0]
    rest = np.linalg.norm(centred, axis=0)
    floor = 1e-12 * np.sqrt(len(columns)) * np.abs(columns).max(axis=0, initial=0.0)
    return bool(np.all(rest <= 1e-7 * size + floor))


#: Columns with correlated effects, and the factors of their group.
Block = tuple[frozenset[str], frozenset[str]]


def random_blocks(fit: LikelihoodResults) -> list[Block]:
    """The random terms of a fit, with a separate block for each independent effect."""
    pairs: list[Block] = []
    for term in fit.design.random:
        if term.root is None:
            covariance = []
        else:
            covariance = [f"covariance {hash(term.root.tobytes())}"]
        group = frozenset(
            [*(factor.key for factor in term.part.group.factors), *covariance]
        )
        if term.correlated:
            parts = [frozenset(term.names)]
        else:
            parts = [frozenset([name]) for name in term.names]
        pairs += [(columns, group) for columns in parts]
    return pairs


def _random_within(small: LikelihoodResults, large: LikelihoodResults) -> bool:
    """Whether the random effects of one model are among those of the other."""
    wider = random_blocks(large)
    return all(
        any(group == other and columns <= more for more, other in wider)
        for columns, group in random_blocks(small)
    )
