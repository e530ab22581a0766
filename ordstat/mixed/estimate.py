"""Estimates with random effects, variances at their boundary among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError
from ..likelihood.fit import EffectsOfGroups, Marginal
from ..likelihood.problem import Problem
from ..likelihood.user_scale import in_order
from .laplace import Evaluation, Objective, State, evaluate, row_scores, state_at
from .model import MixedModel
from .quadrature import check_grid, evaluate_by_nodes, evaluate_compiled, row_scores_by_nodes
from .search import Boundary, Found, information_along, log_determinant, maximise, penalised, settled


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginalLikelihood:
    """An integrated likelihood at its estimates, for predictions, profiles and influence to ask again.

    Attributes
    ----------
    model : MixedModel
    quadrature : int
    at : Evaluation
        There; `at.psi` is on the scaled columns.
    information : (P' + m, P' + m)
        Negative Hessian by psi.
    free : (P' + m,)
        Components of psi not at a boundary.
    penalised : bool
        Whether log det Lambda is added (`search.py`).
    infinite : (P',) bool or None
        Fixed parameters of the user without a finite estimate, which are held; None if there are none.
    """

    model: MixedModel
    quadrature: int
    at: Evaluation
    information: FloatArray
    free: BoolArray
    penalised: bool = False
    infinite: BoolArray | None = None

    @property
    def objective(self) -> Objective:
        """psi and where to seek the modes -> Evaluation, with the penalty where there is one."""
        plain = objective_of(self.model, self.quadrature)
        return penalised(self.model, plain) if self.penalised else plain

    @property
    def loglik(self) -> float:
        """Without the penalty."""
        return self.at.loglik - (log_determinant(self.model, self.at.psi) if self.penalised else 0.0)

    def scores(self, codes: IntArray, size: int) -> FloatArray:
        """(size, P' + m) scores of clusters of whole groups, by the cluster (n,) of each row of the sample."""
        state = self.at.state
        rows = row_scores(state) if self.quadrature == 1 else row_scores_by_nodes(state, self.quadrature)
        return rows.totals(codes[self.model.along], size)

    def left_over(self) -> FloatArray:
        """(P' + m',) what is left of the gradient by the user's parameters."""
        return np.asarray(np.where(self.free, self.at.gradient, 0.0) @ self.from_user())

    def last_step(self) -> FloatArray:
        """(P' + m',) the Newton step of the user's parameters that is left."""
        gradient = np.where(self.free, self.at.gradient, 0.0)
        inner = np.nan_to_num(self.inner_covariance)
        return np.asarray(self.to_user @ (inner @ gradient))

    @property
    def condition(self) -> float:
        """Condition number of the information about what is not at a boundary, on the scaled columns."""
        return float(np.linalg.cond(self._known)) if np.isfinite(self._known).all() else float("nan")

    @cached_property
    def inner_covariance(self) -> FloatArray:
        """(P' + m, P' + m) of psi, NaN at a boundary."""
        inner = np.full(self.information.shape, np.nan)
        if self.smallest_eigenvalue > 0.0:
            own = self._basis @ np.linalg.inv(self._known) @ self._basis.T
            inner[np.ix_(self.free, self.free)] = own[np.ix_(self.free, self.free)]
        return inner

    @cached_property
    def _known(self) -> FloatArray:
        """Information about the parameters that are neither at a boundary nor infinite, on the scaled columns."""
        free = np.where(self.free[:, None] & self.free, self.information, 0.0)
        return np.asarray(self._basis.T @ free @ self._basis)

    @cached_property
    def _basis(self) -> FloatArray:
        return free_moves(self.model, self.free, self.infinite)

    @cached_property
    def smallest_eigenvalue(self) -> float:
        """Of the information about the free parameters, on the scaled columns; NaN where it is not known."""
        return float(np.linalg.eigvalsh(self._known)[0]) if np.isfinite(self._known).all() else float("nan")

    def inner_of(self, covariance: FloatArray) -> FloatArray:
        """(P' + m, P' + m) of psi, from a covariance of the user's parameters; 0 at a boundary."""
        back = self.from_user()
        return np.asarray(back @ np.nan_to_num(covariance) @ back.T)

    def state(self, psi: FloatArray) -> State:
        """The rows of the fit at the modes for some psi."""
        if psi is self.at.psi:
            return self.at.state
        state = state_at(self.model, psi, self.at.v)
        assert state is not None
        return state

    def steps(self) -> Iterator[tuple[FloatArray, FloatArray, float]]:
        """For every free move of psi (`along`) psi on either side and the distance of these."""
        for move in self._basis.T:
            h = 1e-4 if self.infinite is not None else 1e-4 * max(1.0, float(abs(move) @ abs(self.at.psi)))
            yield self.at.psi - h * move, self.at.psi + h * move, 2.0 * h

    def along(self, inner: FloatArray) -> FloatArray:
        """(r, r) covariance of the free moves, from that of psi."""
        return np.asarray(self._basis.T @ np.nan_to_num(inner) @ self._basis)

    @cached_property
    def to_user(self) -> FloatArray:
        """(P' + m', P' + m) from psi to the user's parameters; columns of Lambda keep their signs as shown."""
        return user_map(self.model, self.at.psi)

    def from_user(self) -> FloatArray:
        """(P' + m, P' + m') inverse of `to_user` from the left; m' > m where orthogonalised slopes are correlated."""
        size = np.linalg.norm(self.to_user, axis=1)
        size[size == 0.0] = 1.0
        return np.asarray(np.linalg.pinv(self.to_user / size[:, None]) / size)

    @property
    def fixed(self) -> FloatArray:
        """(P',) on the user's scale."""
        return np.asarray(self.model.to_user @ self.at.psi[: self.model.n_fixed])

    def covariance(self) -> FloatArray:
        """(P' + m', P' + m') on the user's scale; NaN at a boundary and of infinite estimates."""
        inner = self.inner_covariance
        known = np.where(np.isnan(inner), 0.0, inner)
        to_user = self.to_user
        out = to_user @ known @ to_user.T
        unknown = (np.abs(to_user) @ (~self.free | np.isnan(np.diag(inner)))) > 0.0
        if self.infinite is not None:
            unknown[: self.infinite.size] |= self.infinite
        out[unknown], out[:, unknown] = np.nan, np.nan
        return np.asarray(out)


def marginal_of(here: MarginalLikelihood, boundaries: tuple[Boundary, ...], plain_loglik: float) -> Marginal:
    """The random effects, for the results."""
    model, covariances = here.model, here.at.covariances()
    factors, modes = model.effects(here.at.psi, here.at.v)
    signed = model.factors(here.at.psi[model.n_fixed :])
    terms: dict[int, EffectsOfGroups] = {}
    for k, place in enumerate(model.order):
        root, factor, unit_diagonal = model.roots[place], model.scaling[k] @ signed[k], True
        conditional = factor @ covariances[k] @ factor.T
        if root is not None:
            conditional = np.einsum("ga,ab,gb->g", root, conditional[0], root)[:, None, None]
            unit_diagonal = np.allclose((root**2).sum(axis=1), 1.0, rtol=0.0, atol=1e-6)
        terms[place] = EffectsOfGroups(
            factor=factors[place],
            entries=model.user_entries(k),
            n_phi=model.terms[k].n_phi,
            modes=modes[place],
            conditional=conditional,
            boundary={zero.column: zero.derivative for zero in boundaries if zero.term == k},
            unit_diagonal=unit_diagonal,
        )
    return Marginal(
        terms=tuple(terms[place] for place in range(len(terms))),
        covariance=here.covariance(),
        quadrature=here.quadrature,
        plain_loglik=plain_loglik,
        likelihood=here,
    )


def free_moves(model: MixedModel, free: BoolArray, infinite: BoolArray | None) -> FloatArray:
    """(P' + m, r) orthonormal moves of psi that hold what is at a boundary or infinite."""
    moves = np.eye(free.size)[:, free]
    if infinite is None:
        return moves
    P = model.n_fixed
    fixed = np.zeros((free.size, int((~infinite).sum())))
    fixed[:P] = np.linalg.qr(np.linalg.inv(model.to_user)[:, ~infinite])[0]
    return np.hstack([fixed, moves[:, P:]])


def user_map(model: MixedModel, psi: FloatArray) -> FloatArray:
    """From psi to the user's fixed parameters and M Lambda, the terms in the order of the sample."""
    P = model.n_fixed
    parts: list[FloatArray] = [np.empty(0)] * len(model.terms)
    start = P
    for k, (place, Lambda) in enumerate(zip(model.order, model.factors(psi[P:]), strict=True)):
        (rows, columns), (inner, own) = model.user_entries(k), model.terms[k].entries
        signs = np.where(np.diag(Lambda) < 0.0, -1.0, 1.0)[columns]
        parts[place] = np.zeros((rows.size, psi.size))
        parts[place][:, start : start + own.size] = (
            signs[:, None] * model.scaling[k][np.ix_(rows, inner)] * (columns[:, None] == own)
        )
        start += own.size
    fixed = np.hstack([model.to_user, np.zeros((P, psi.size - P))])
    return np.vstack([fixed, *parts])


def objective_of(model: MixedModel, quadrature: int) -> Objective:
    """The integrated log-likelihood by a rule of so many nodes."""
    general = partial(evaluate, model) if quadrature == 1 else partial(evaluate_by_nodes, model, quadrature)
    if not model.compiled or quadrature < 0:
        return general
    quick = partial(evaluate_compiled, model, quadrature)
    return lambda psi, start: quick(psi, start) or general(psi, start)


def mixed_estimate(
    problem: Problem,
    start: tuple[FloatArray, FloatArray],
    quadrature: int,
    max_iter: int,
    penalty: str | None = None,
    infinite: BoolArray | None = None,
) -> tuple[MarginalLikelihood, Found, tuple[Boundary, ...]]:
    """The estimates, from those without random effects.

    Parameters
    ----------
    problem : Problem
    start : (a, rest)
        In the solver's parameters.
    quadrature : int
    max_iter : int
    penalty : "gamma" or None
        On the covariances.
    infinite : (P',) bool or None
        Fixed parameters of the user without a finite estimate.
    """
    model = MixedModel.of(problem)
    alpha, rest = start
    fixed = in_order(alpha.reshape(-1, problem.user_scale().G.shape[0]), rest)
    psi = np.concatenate([fixed, model.start_phi()])
    if quadrature != 1:
        check_grid(model, quadrature)
    objective = objective_of(model, quadrature)
    boundaries: tuple[Boundary, ...] = ()
    if penalty is None:
        found, free, boundaries = settled(model, objective, _found(model, objective, psi, max_iter), max_iter)
    else:
        objective = penalised(model, objective)
        found, free = _found(model, objective, psi, max_iter), np.ones(psi.size, dtype=bool)
    information = found.information
    if infinite is not None:  # components of psi that go with infinite estimates are too long for steps of their own
        information = information_along(objective, found.at, free_moves(model, free, infinite))
    likelihood = MarginalLikelihood(
        model=model,
        quadrature=quadrature,
        at=found.at,
        information=information,
        free=free,
        penalised=penalty is not None,
        infinite=infinite,
    )
    return likelihood, found, boundaries


def _found(model: MixedModel, objective: Objective, psi: FloatArray, max_iter: int) -> Found:
    """The maximum, from the first start of a few that is inside the domain: smaller and smaller random effects."""
    every = np.ones(psi.size, dtype=bool)
    for factor in (1.0, 0.3, 0.1, 0.01):
        begin = psi.copy()
        begin[model.n_fixed :] *= factor
        found = maximise(model, objective, begin, every, max_iter)
        if found is not None:
            return found
    raise DataError(
        "The likelihood with random effects must be finite near the fit without them; it is not. Look for infinite "
        "estimates in the fit without them, or take out terms of nominal= or scale=."
    )
