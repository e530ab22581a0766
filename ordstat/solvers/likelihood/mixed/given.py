"""Modes that know further rows, of groups of the fit or of new ones: the parameters stay, the modes are sought anew.

The likelihood of all rows, those of the fit and the further ones, is written on the user's scale with the same
estimates and their covariance; its modes and H are what predictions at the modes, and over what is left open, ask for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...._typing import BoolArray, FloatArray
from ....model.likelihood.family import Family
from ....model.likelihood.marginal import EffectsOfGroups, Marginal
from ....model.likelihood.predictor import ModelRows
from ....model.random_effects import RandomColumns
from ....model.sample import Sample
from .boundary import semidefinite_factor
from .estimate import MarginalLikelihood
from .laplace import Evaluation, state_at
from .model import MixedModel
from .search import zero_effects

#: Step of derivatives of a Cholesky factor.
_STEP = 1e-6


@dataclass(frozen=True, eq=False, kw_only=True)
class Fixed:
    """What the fixed parameters are to a model.

    Attributes
    ----------
    family : Family
    n_thresholds : int
    estimates : (P',)
        On the user's scale.
    expand : (F, P')
        From these to all thresholds and effects, finite ones.
    """

    family: Family
    n_thresholds: int
    estimates: FloatArray
    expand: FloatArray


def likelihood_with(marginal: Marginal, fixed: Fixed, sample: Sample, further: Sample) -> MarginalLikelihood | None:
    """Of the rows of the fit and further ones; None where there are no modes.

    Parameters
    ----------
    marginal : Marginal
    fixed : Fixed
    sample : Sample
        Of the fit.
    further : Sample
        New groups have numbers after those of the fit.
    """
    model = _model(fixed, sample, further)
    psi, covariance, free = _parameters(marginal, fixed.estimates, model)
    information = np.zeros_like(covariance)
    information[np.ix_(free, free)] = np.linalg.inv(covariance[np.ix_(free, free)])
    state = state_at(model, psi, zero_effects(model))
    if state is None:
        return None
    unknown = np.full(psi.size, np.nan)
    at = Evaluation(
        model=model, psi=psi, loglik=np.nan, gradient=unknown, v=state.modes.v, decrement=state.modes.decrement
    )
    return MarginalLikelihood(
        model=model, quadrature=marginal.quadrature, at=at, information=information, free=free, penalised=False
    )


def _model(fixed: Fixed, sample: Sample, further: Sample) -> MixedModel:
    """On the user's scale."""
    assert sample.rows.random is not None and further.rows.random is not None
    pairs = zip(sample.rows.random.terms, further.rows.random.terms, strict=True)
    terms = [_joined_columns(one, other) for one, other in pairs]
    order = tuple(sorted(range(len(terms)), key=lambda k: (-terms[k].n_groups, -terms[k].q)))
    along = np.argsort(terms[order[0]].codes, kind="stable")
    weights = np.concatenate([sample.case_weights, further.case_weights])
    return MixedModel(
        rows=_joined_rows(sample, further).take(along),
        y=np.concatenate([sample.y, further.y])[along],
        weights=np.ascontiguousarray(weights[along]),
        family=fixed.family,
        n_thresholds=fixed.n_thresholds,
        expand=fixed.expand,
        to_user=np.eye(fixed.estimates.size),
        terms=tuple(terms[k][along] for k in order),
        scaling=tuple(np.eye(terms[k].q) for k in order),
        order=order,
        along=along,
        roots=(None,) * len(terms),
    )


def _joined_rows(sample: Sample, further: Sample) -> ModelRows:
    one, other = ModelRows.of(sample.rows), ModelRows.of(further.rows)
    return ModelRows(
        x=np.vstack([one.x, other.x]),
        w=np.vstack([one.w, other.w]),
        z=np.vstack([one.z, other.z]),
        offset=np.concatenate([one.offset, other.offset]),
        scale_offset=np.concatenate([one.scale_offset, other.scale_offset]),
    )


def _joined_columns(one: RandomColumns, other: RandomColumns) -> RandomColumns:
    codes = np.concatenate([one.codes, other.codes])
    size = max(one.n_groups, int(codes.max()) + 1)
    return RandomColumns(z=np.vstack([one.z, other.z]), codes=codes, n_groups=size, correlated=one.correlated)


def _parameters(
    marginal: Marginal, estimates: FloatArray, model: MixedModel
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """psi, its covariance and which of it is free: the fixed parameters, and phi of the user's columns."""
    before = np.cumsum([0, *(effects.entries[0].size for effects in marginal.terms)])
    parts, slopes = [estimates], [np.eye(estimates.size, len(marginal.covariance))]
    for k, term in zip(model.order, model.terms, strict=True):
        parts.append(_phi(term, marginal.terms[k].factor))
        own = np.zeros((parts[-1].size, len(marginal.covariance)))
        own[:, estimates.size + before[k] : estimates.size + before[k + 1]] = _turned(term, marginal.terms[k])
        slopes.append(own)
    ahead = np.vstack(slopes)
    known = ~np.isnan(np.diag(marginal.covariance))
    moved = np.abs(ahead) > 0.0
    free: BoolArray = np.asarray(moved.any(axis=1) & ~(moved & ~known).any(axis=1))
    return np.concatenate(parts), ahead @ np.where(known[:, None] & known, marginal.covariance, 0.0) @ ahead.T, free


def _phi(term: RandomColumns, factor: FloatArray) -> FloatArray:
    """(m,) of a covariance, by any factor of it."""
    if not term.correlated:
        return np.asarray(np.abs(np.diag(factor)))
    return np.asarray(semidefinite_factor(factor @ factor.T)[term.entries])


def _turned(term: RandomColumns, effects: EffectsOfGroups) -> FloatArray:
    """(m, m') derivatives of phi by the entries of the factor."""
    out = np.empty((term.n_phi, effects.entries[0].size))
    for j, place in enumerate(zip(*effects.entries, strict=True)):
        ends = []
        for step in (_STEP, -_STEP):
            moved = effects.factor.copy()
            moved[place] += step
            ends.append(_phi(term, moved))
        out[:, j] = (ends[0] - ends[1]) / (2.0 * _STEP)
    return out
