"""Variances at their boundary, 0: found, proven by the one-sided derivative, and left out of the covariance.

l is even in every column of Lambda, so that its derivative by a standard deviation is 0 at 0 whether or not the
variance wants to be positive. What tells is dl / d(sigma^2) = (d2l / d sigma^2) / 2 at 0: not above 0 at a boundary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...._typing import BoolArray, FloatArray
from ....model.random_effects import RandomColumns
from .laplace import Evaluation, Objective
from .model import MixedModel
from .search import Found, maximise, negative_hessian

#: A standard deviation, on the scale of the columns, below which it is tried whether it is 0.
_SMALL = 1e-3
#: What the log-likelihood may lose by that.
_LOST = 1e-9
#: Standard deviation that a search begins anew with.
_AWAY = 0.1


@dataclass(frozen=True, eq=False)
class Boundary:
    """A standard deviation that is estimated as 0.

    Attributes
    ----------
    term : int
        Among those of the model.
    column : int
        Of Lambda.
    derivative : float
        Of the log-likelihood by the square of its diagonal element, at 0.
    """

    term: int
    column: int
    derivative: float


def settled(
    model: MixedModel, objective: Objective, found: Found, max_iter: int
) -> tuple[Found, BoolArray, tuple[Boundary, ...]]:
    """A maximum with small standard deviations set to 0 where they belong there, its free components and the others."""
    if all(term.width == 1 for term in model.terms) and np.abs(found.at.psi[model.n_fixed :]).min() >= _SMALL:
        return found, np.ones(found.at.psi.size, dtype=bool), ()
    canonical = _canonical(model, found.at.psi)
    zero = _zeros(model, canonical)
    free = ~zero
    if not zero.any():
        return found, free, ()
    at = objective(canonical, found.at.v)
    if at is None or at.loglik < found.at.loglik - _LOST * (1.0 + abs(found.at.loglik)):
        return found, np.ones(zero.size, dtype=bool), ()
    derivatives = _derivatives(model, objective, at, zero)
    if any(one.derivative > 0.0 for one in derivatives):
        return _left(model, objective, at, derivatives, max_iter)
    again = maximise(model, objective, canonical, free, max_iter)
    if again is None:
        return found, free, tuple(derivatives)
    logliks = [*found.logliks, *again.logliks[1:]]
    return replace(again, logliks=logliks), free, tuple(derivatives)


def _left(
    model: MixedModel, objective: Objective, at: Evaluation, zeros: list[Boundary], max_iter: int
) -> tuple[Found, BoolArray, tuple[Boundary, ...]]:
    """The maximum sought again from where the variances that want to be positive are."""
    psi, every = at.psi.copy(), np.ones(at.psi.size, dtype=bool)
    for one in zeros:
        if one.derivative > 0.0:
            psi[_diagonal(model, one.term, one.column)] = _AWAY
    found = maximise(model, objective, psi, every, max_iter)
    assert found is not None
    return found, every, ()


def _canonical(model: MixedModel, psi: FloatArray) -> FloatArray:
    """psi with every Lambda the Cholesky factor of its covariance: a pivot of 0 has a column of zeros."""
    parts = []
    for term, Lambda in zip(model.terms, model.factors(psi[model.n_fixed :]), strict=True):
        parts.append(semidefinite_factor(Lambda @ Lambda.T)[term.entries] if term.correlated else Lambda[term.entries])
    phi = np.concatenate(parts)
    phi = np.where(np.abs(phi) < _SMALL, np.where(diagonals(model), 0.0, phi), phi)
    out = np.concatenate([psi[: model.n_fixed], phi])
    out[_zeros(model, out)] = 0.0
    return out


def semidefinite_factor(matrix: FloatArray) -> FloatArray:
    """Lower triangular, a column of zeros for every pivot that is (nearly) 0."""
    left, out = matrix.copy(), np.zeros_like(matrix)
    for j in range(len(matrix)):
        if left[j, j] > _SMALL**2:
            out[j:, j] = left[j:, j] / np.sqrt(left[j, j])
            left -= np.outer(out[:, j], out[:, j])
    return out


def diagonals(model: MixedModel) -> BoolArray:
    """(m,) which components of phi are on the diagonal."""
    return np.concatenate([rows == columns for rows, columns in (term.entries for term in model.terms)])


def _diagonal(model: MixedModel, term: int, column: int) -> int:
    """Place in psi of a diagonal element."""
    before = model.n_fixed + sum(own.n_phi for own in model.terms[:term])
    rows, columns = model.terms[term].entries
    return before + int(np.flatnonzero((rows == column) & (columns == column))[0])


def _zeros(model: MixedModel, psi: FloatArray) -> BoolArray:
    """(P + m,) components in columns of Lambda whose diagonal is 0."""
    parts = [np.zeros(model.n_fixed, dtype=bool)]
    for term, Lambda in zip(model.terms, model.factors(psi[model.n_fixed :]), strict=True):
        parts.append((np.diag(Lambda) == 0.0)[_columns(term)])
    return np.concatenate(parts)


def _columns(term: RandomColumns) -> FloatArray:
    return np.asarray(term.entries[1])


def _derivatives(model: MixedModel, objective: Objective, at: Evaluation, zero: BoolArray) -> list[Boundary]:
    """One for every diagonal element that is 0."""
    bent = negative_hessian(objective, at, zero)
    found = []
    for t, (term, Lambda) in enumerate(zip(model.terms, model.factors(at.psi[model.n_fixed :]), strict=True)):
        for column in range(term.width):
            if Lambda[column, column] == 0.0:
                place = _diagonal(model, t, column)
                found.append(Boundary(t, column, -0.5 * float(bent[place, place])))
    return found
