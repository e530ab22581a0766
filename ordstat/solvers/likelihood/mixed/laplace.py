"""Laplace's approximation of the likelihood with random effects integrated out, and its exact gradient.

l(psi) = h(v^) - log|H| / 2, and nothing further is approximated in its derivatives [Kristensen et al. 2016]. With
s_i = x_i'H^-1 x_i the conditional variance of a row's score, T = derivatives of its curvature W by its predictors,
rho = -s T_H / 2, q = H^-1 X'rho and t_i = x_i'q, the total derivative by the predictors of a row is
  kappa = score - s T / 2 - t curvature_H
(score and curvature of log p; all times the weight), and that by Lambda_t[r, c]
  sum_i z_ir (kappa_H v_gc - W e_ic + score_H q_gc),   e_i = H^-1 x_i within the row's own groups.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...._typing import FloatArray
from ....model.likelihood.family import RowTerms
from ....model.likelihood.predictor import Predictor
from .blocks import BlockMatrix, Effects
from .model import MixedModel
from .modes import Modes, conditional_modes


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation:
    """The integrated log-likelihood at some psi.

    Attributes
    ----------
    model : MixedModel
    psi : (P + m,)
    loglik : float
    gradient : (P + m,)
    v : Effects
        The modes.
    decrement : float
        Of the Newton step that they are away from theirs.
    """

    model: MixedModel
    psi: FloatArray
    loglik: float
    gradient: FloatArray
    v: Effects
    decrement: float

    @cached_property
    def state(self) -> State:
        """The rows at the modes."""
        found = state_at(self.model, self.psi, self.v)
        assert found is not None
        return found


@dataclass(frozen=True, eq=False)
class State:
    """The modes at some psi, the terms of the rows there, and the columns x = z Lambda (n, q) of each random term."""

    modes: Modes
    terms: RowTerms
    x: list[FloatArray]
    predictor: Predictor


def state_at(model: MixedModel, psi: FloatArray, start: Effects) -> State | None:
    """The modes, sought from `start`; None outside the domain."""
    fixed, phi = psi[: model.n_fixed], psi[model.n_fixed :]
    predictor = model.predictor(fixed)
    if predictor is None:
        return None
    x = model.columns(phi)
    modes = conditional_modes(model, predictor, x, start)
    if modes is None:
        return None
    there = replace(predictor, H=predictor.H + modes.shift)
    terms = model.family.terms(there, model.y)
    return None if terms is None else State(modes, terms, x, there)


def evaluate(model: MixedModel, psi: FloatArray, start: Effects) -> Evaluation | None:
    """Laplace's approximation at psi, the modes sought from `start`; None outside the domain."""
    at = state_at(model, psi, start)
    if at is None:
        return None
    slopes = model.family.curvature_slopes(at.predictor, model.y)
    gradient = _gradient(model, at.x, at.modes, at.terms, slopes)
    loglik = at.modes.h - 0.5 * at.modes.factor.logdet
    if not (np.isfinite(loglik) and np.isfinite(gradient).all()):
        return None
    found = Evaluation(
        model=model, psi=psi, loglik=loglik, gradient=gradient, v=at.modes.v, decrement=at.modes.decrement
    )
    found.__dict__["state"] = at
    return found


def _gradient(model: MixedModel, x: list[FloatArray], modes: Modes, terms: RowTerms, slopes: FloatArray) -> FloatArray:
    weights, place = model.weights, len(terms.places)
    selected = modes.factor.selected()
    e = own_solutions(model, x, selected)
    s = np.asarray(sum(np.einsum("nq,nq->n", a, b) for a, b in zip(x, e, strict=True)))
    rho = -0.5 * weights * s * slopes[place]
    q = modes.factor.solve(model.gathered(x, rho))
    t = model.shift(x, q)
    kappa = weights * (terms.score - 0.5 * s * slopes - t * terms.second()[place])
    fixed = model.jacobian(terms.places).total(kappa)
    score, curvature = weights * terms.score[place], weights * terms.second()[place, place]
    parts = []
    for k, term in enumerate(model.terms):
        inner = kappa[place][:, None] * modes.v[k][term.codes] - curvature[:, None] * e[k]
        inner += score[:, None] * q[k][term.codes]
        parts.append((term.z.T @ inner)[term.entries])
    return np.concatenate([fixed, *parts])


def own_solutions(model: MixedModel, x: list[FloatArray], selected: BlockMatrix) -> list[FloatArray]:
    """e_i (n, q) of each term: H^-1 x_i within the row's own groups."""
    found = [
        np.einsum("nab,nb->na", block[term.codes], own)
        for term, block, own in zip(model.terms, selected.diagonal, x, strict=True)
    ]
    for (s, t), block in selected.pairs.items():
        rows = block[model.structure.patterns[s, t].of]
        found[s] = found[s] + np.einsum("nab,nb->na", rows, x[t])
        found[t] = found[t] + np.einsum("nab,na->nb", rows, x[s])
    return found
