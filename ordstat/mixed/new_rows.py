"""What random effects add to the scores of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray
from ..formula.sample import RandomRows
from .laplace import State
from .model import MixedModel


@dataclass(frozen=True, eq=False)
class Moments:
    """Of z'b in n rows.

    Attributes
    ----------
    estimates : (P',)
        Fixed parameters on the user's scale.
    shift : (n,)
        What is added to the score: 0, or z'b at the modes of the groups that are known.
    variance : (n,)
        Variance that is averaged over: 0, or that of new groups.
    error : (n,)
        Variance of z'b about `shift`, given psi, where it is not averaged over.
    """

    estimates: FloatArray
    shift: FloatArray
    variance: FloatArray
    error: FloatArray


def moments(model: MixedModel, psi: FloatArray, random: RandomRows, re: str, state: State | None) -> Moments:
    """The moments for predictions at "zero", over new groups ("marginal") or at the "mode".

    "known": at the modes of known groups, over new groups of other rows.

    Parameters
    ----------
    model : MixedModel
    psi : (P + m,)
    random : RandomRows
        On the user's columns, groups not seen with code -1; "mode" takes none of these.
    re : str
    state : State or None
        At psi; of no need for "zero" and "marginal".
    """
    estimates, n = model.to_user @ psi[: model.n_fixed], random.terms[0].codes.size
    zero = np.zeros(n)
    if re == "zero":
        return Moments(estimates, zero, zero, zero)
    x, codes = columns_of(model, psi, random)
    if re == "marginal":
        return Moments(estimates, zero, np.asarray(sum(np.einsum("nq,nq->n", own, own) for own in x)), zero)
    assert state is not None
    known = [own >= 0 for own in codes]
    seen = [np.where(mask[:, None], own, 0.0) for own, mask in zip(x, known, strict=True)]
    parts = zip(seen, state.modes.v, codes, strict=True)
    shift = np.asarray(sum(np.einsum("nq,nq->n", own, v[code]) for own, v, code in parts))
    given = conditional_variances(model, state, seen, [np.maximum(code, 0) for code in codes])
    if re == "mode":
        return Moments(estimates, shift, zero, given)
    new = [np.where(mask[:, None], 0.0, own) for own, mask in zip(x, known, strict=True)]
    beside = np.asarray(sum(np.einsum("nq,nq->n", own, own) for own in new))
    return Moments(estimates, shift, beside, given)


def columns_of(model: MixedModel, psi: FloatArray, random: RandomRows) -> tuple[list[FloatArray], list[IntArray]]:
    """x = z Lambda (n, q) and the groups (n,) of each term, in the order of the model."""
    given = [random.terms[place] for place in model.order]
    random.require_covariances()
    terms = [term.spelt_out() for term in given]
    factors = model.factors(psi[model.n_fixed :])
    x = [term.z @ M @ Lambda for term, M, Lambda in zip(terms, model.scaling, factors, strict=True)]
    return x, [term.codes for term in terms]


def conditional_variances(model: MixedModel, state: State, x: list[FloatArray], codes: list[IntArray]) -> FloatArray:
    """(n,) x'H^-1 x: from the blocks of H^-1 where the groups of a row meet in the fit, else by solving with H."""
    if len(codes) == 1:
        block = state.modes.factor.selected().diagonal[0]
        if len(block) == 1:
            return np.asarray(np.einsum("nq,nq->n", x[0] @ block[0], x[0]))
        return np.asarray(np.einsum("nq,nqp,np->n", x[0], block[codes[0]], x[0]))
    out = np.empty(codes[0].size)
    mixed = np.ravel_multi_index(tuple(codes), tuple(term.n_groups for term in model.terms))
    for combination in np.unique(mixed):
        rows = np.flatnonzero(mixed == combination)
        own = np.hstack([part[rows] for part in x])
        out[rows] = np.einsum("na,ab,nb->n", own, _block(model, state, [code[rows[0]] for code in codes]), own)
    return out


def _block(model: MixedModel, state: State, groups: list[int]) -> FloatArray:
    """(Q, Q) entries of H^-1 of one group of each term."""
    columns = []
    for t, term in enumerate(model.terms):
        for a in range(term.q):
            unit = [np.zeros((own.n_groups, own.q)) for own in model.terms]
            unit[t][groups[t], a] = 1.0
            solved = state.modes.factor.solve(unit)
            columns.append(np.concatenate([part[group] for part, group in zip(solved, groups, strict=True)]))
    return np.stack(columns, axis=1)
