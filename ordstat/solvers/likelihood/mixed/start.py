"""About the inverse information of psi, for a search to begin with: blockdiag((J - C'H^-1 C)^-1, 1 / G).

J is the information of the fixed parameters at the modes, C = d2h / dv dpsi, G the number of groups of each phi. Where
rows are very many, some groups tell it; where they are few, differences of the gradient are as quick.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...._typing import FloatArray
from .blocks import Effects
from .laplace import Evaluation, Objective, State, state_at
from .model import MixedModel

#: Rows and groups that are enough.
_ROWS, _GROUPS = 20_000, 500
#: Rows that are few, and the step of differences.
_FEW, _STEP = 1000, 1e-4


def start_covariance(model: MixedModel, objective: Objective, at: Evaluation) -> FloatArray:
    """(P + m, P + m), 0 in directions of no information."""
    P, size = model.n_fixed, at.psi.size
    information = _by_differences(objective, at, P) if _few(model, at) else _of_some_groups(model, at)
    found = None if information is None else _spectral_inverse(information, least=P * np.finfo(float).eps)
    out = np.zeros((size, size))
    out[:P, :P] = pseudo_inverse(_information(at.state)) if found is None else found
    groups = [term.size // term.width for term in model.terms for _ in range(term.n_phi)]
    np.fill_diagonal(out[P:, P:], 1.0 / np.array(groups))
    return out


def _few(model: MixedModel, at: Evaluation) -> bool:
    """Whether one pass gives the gradient of few rows."""
    return at.curvature is not None and model.y.size <= _FEW


def _by_differences(objective: Objective, at: Evaluation, P: int) -> FloatArray | None:
    """(P, P) forward differences of the gradient by the fixed parameters; None outside the domain."""
    out = np.empty((P, P))
    for j in range(P):
        psi = at.psi.copy()
        psi[j] += _STEP
        ahead = objective(psi, at.v)
        if ahead is None:
            return None
        out[j] = (at.gradient[:P] - ahead.gradient[:P]) / _STEP
    return 0.5 * (out + out.T)


def _of_some_groups(model: MixedModel, at: Evaluation) -> FloatArray | None:
    """That of every k-th group of the only term, k times; None where there is no need."""
    first = model.terms[0]
    step = min(model.y.size // _ROWS, first.n_groups // _GROUPS)
    if len(model.terms) > 1 or step < 2:
        return None
    rows = np.flatnonzero(first.codes % step == 0)
    v = [at.v[0][::step]]
    term = replace(first, z=first.z[rows], codes=first.codes[rows] // step, n_groups=len(v[0]))
    own = replace(model, rows=model.rows.take(rows), y=model.y[rows], weights=model.weights[rows], terms=(term,))
    state = state_at(own, at.psi, v)
    return None if state is None else _information(state) * (first.n_groups / len(v[0]))


def _information(at: State) -> FloatArray:
    """(P, P) J - C'H^-1 C."""
    model, P = at.model, at.model.n_fixed
    jacobian, place = model.jacobian(at.terms.places), len(at.terms.places)
    curvature = model.weights * at.terms.second()
    J = np.empty((P, P))
    for p, unit in enumerate(np.eye(P)[:, :, None]):
        moves = jacobian.apply(unit)[:, :, 0].T
        J[p] = jacobian.total(np.einsum("qrn,rn->qn", curvature, moves))
    C = []
    for term, x in zip(model.terms, at.x, strict=True):
        parts = [jacobian.totals(-column * curvature[place], term.codes, term.n_groups) for column in x.T]
        C.append(np.stack(parts, axis=1))
    solved = [_flat(at.modes.factor.solve([part[:, :, p] for part in C])) for p in range(P)]
    schur = J - np.array(solved) @ np.concatenate([part.reshape(-1, P) for part in C])
    return np.asarray(0.5 * (schur + schur.T))


def _flat(effects: Effects) -> FloatArray:
    return np.concatenate([part.reshape(-1) for part in effects])


def pseudo_inverse(matrix: FloatArray) -> FloatArray:
    """Of a symmetric matrix, directions of no positive curvature left out; 0 where it is not finite."""
    found = _spectral_inverse(matrix) if np.isfinite(matrix).all() else None
    return np.zeros_like(matrix) if found is None else found


def _spectral_inverse(matrix: FloatArray, least: float = -np.inf) -> FloatArray | None:
    """The same of finite values; None where the smallest eigenvalue is not above this share of the largest."""
    values, vectors = np.linalg.eigh(matrix)
    if not values[0] > least * values[-1]:
        return None
    kept = values > 1e-12 * max(values[-1], 0.0)
    half = vectors[:, kept] / np.sqrt(values[kept])
    return np.asarray(half @ half.T)
