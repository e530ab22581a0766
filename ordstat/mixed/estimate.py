"""Estimates with random effects: their covariance, scores of clusters and profiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from scipy.linalg import qr

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError, UnavailableError
from ..likelihood.marginal import EffectsOfGroups, Marginal
from ..likelihood.problem import Problem
from ..likelihood.profile import EXACT, NOT_REACHED, crossing, outwards
from .integral import (
    IntegratedLikelihood,
    Nodes,
    Objective,
    check_grid,
    evaluate,
    evaluate_by_nodes,
    evaluate_compiled,
    row_scores,
    scores_by_nodes,
)
from .model import MixedModel
from .search import (
    Boundary,
    Maximum,
    information_along,
    log_determinant,
    maximise,
    penalised,
    quasi_newton,
    settled,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginalLikelihood:
    """An integrated likelihood at its estimates, for predictions, profiles and
    influence.

    Attributes
    ----------
    model : MixedModel
    quadrature : int
    at : IntegratedLikelihood
        The likelihood at the estimates; `at.psi` is on the scaled columns.
    information : (P' + m, P' + m)
        Negative Hessian in psi.
    free : (P' + m,)
        Components of psi not at a boundary.
    penalised : bool
        Whether log det Lambda is added (`search.py`).
    held : (P', r) or None
        Directions of the user's fixed parameters towards infinite estimates, which are
        held fixed; None if all are finite.
    """

    model: MixedModel
    quadrature: int
    at: IntegratedLikelihood
    information: FloatArray
    free: BoolArray
    penalised: bool = False
    held: FloatArray | None = None

    @property
    def objective(self) -> Objective:
        """The integrated log-likelihood as a function of psi and start values of the
        modes, with the penalty if there is one.
        """
        plain = objective_of(self.model, self.quadrature)
        return penalised(self.model, plain) if self.penalised else plain

    @property
    def loglik(self) -> float:
        """Log-likelihood without the penalty."""
        return self.at.loglik - (
            log_determinant(self.model, self.at.psi) if self.penalised else 0.0
        )

    def score_products(
        self, cluster: IntArray, bread: FloatArray | None = None
    ) -> FloatArray:
        """(P' + m', P' + m') sum of outer products of the scores of clusters of whole
        groups, times `bread` if it is given.
        """
        codes = np.unique(cluster, return_inverse=True)[1]
        scores = self.score_totals(codes, int(codes.max()) + 1)
        if bread is not None:
            scores = scores @ bread
        return scores.T @ scores

    def score_totals(self, codes: IntArray, n_groups: int) -> FloatArray:
        """(G, P' + m') scores of clusters of whole groups, by the user's parameters;
        codes (n,) of the rows.
        """
        state = self.at.state
        nodes = None if self.quadrature == 1 else Nodes.of(state, self.quadrature)
        rows = row_scores(state) if nodes is None else scores_by_nodes(state, nodes)
        return rows.totals(codes[self.model.along], n_groups) @ self.from_user()

    def profile(self) -> MixedProfile:
        """The profile likelihood of fixed parameters and standard deviations."""
        return MixedProfile(self)

    def left_over(self) -> FloatArray:
        """(P' + m',) gradient at the estimates, by the user's parameters."""
        return np.where(self.free, self.at.gradient, 0.0) @ self.from_user()

    def last_step(self) -> FloatArray:
        """(P' + m',) the next Newton step, in the user's parameters."""
        gradient = np.where(self.free, self.at.gradient, 0.0)
        inner = np.nan_to_num(self.inner_covariance)
        return self.to_user @ (inner @ gradient)

    def rounding(self) -> FloatArray:
        """(P',) rounding errors of the fixed parameters."""
        size = self.model.n_fixed
        return 2.0**-53 * np.abs(self.model.to_user) @ np.abs(self.at.psi[:size])

    @property
    def condition(self) -> float:
        """Condition number of the information about parameters not at a boundary, on
        the scaled columns.
        """
        if np.isfinite(self._known).all():
            return float(np.linalg.cond(self._known))
        return float("nan")

    @cached_property
    def inner_covariance(self) -> FloatArray:
        """(P' + m, P' + m) of psi, NaN at a boundary."""
        inner = np.full(self.information.shape, np.nan)
        if self.smallest_eigenvalue > 0.0:
            covariance = self._basis @ np.linalg.inv(self._known) @ self._basis.T
            inner[np.ix_(self.free, self.free)] = covariance[
                np.ix_(self.free, self.free)
            ]
        return inner

    @cached_property
    def _known(self) -> FloatArray:
        """Information about the parameters that are neither at a boundary nor infinite,
        on the scaled columns.
        """
        free = np.where(self.free[:, None] & self.free, self.information, 0.0)
        return self._basis.T @ free @ self._basis

    @cached_property
    def _basis(self) -> FloatArray:
        return free_moves(self.model, self.free, self.held)

    @cached_property
    def smallest_eigenvalue(self) -> float:
        """Smallest eigenvalue of the information about the free parameters; NaN if that
        is not finite.
        """
        if np.isfinite(self._known).all():
            return float(np.linalg.eigvalsh(self._known)[0])
        return float("nan")

    @cached_property
    def to_user(self) -> FloatArray:
        """(P' + m', P' + m) from psi to the user's parameters, with the signs of Lambda
        that results show.
        """
        return user_map(self.model, self.at.psi)

    def from_user(self) -> FloatArray:
        """(P' + m, P' + m') left inverse of `to_user`; m' > m if orthogonalised slopes
        are correlated.
        """
        size = np.linalg.norm(self.to_user, axis=1)
        size[size == 0.0] = 1.0
        return np.asarray(np.linalg.pinv(self.to_user / size[:, None]) / size)

    @property
    def fixed(self) -> FloatArray:
        """(P',) fixed parameters on the user's scale."""
        return self.model.to_user @ self.at.psi[: self.model.n_fixed]

    def covariance(self) -> FloatArray:
        """(P' + m', P' + m') on the user's scale, of functions that do not move along
        `held`; NaN at a boundary.
        """
        inner = self.inner_covariance
        finite = np.where(np.isnan(inner), 0.0, inner)
        to_user = self.to_user
        out = to_user @ finite @ to_user.T
        undetermined = (np.abs(to_user) @ (~self.free | np.isnan(np.diag(inner)))) > 0.0
        out[undetermined], out[:, undetermined] = np.nan, np.nan
        return out


def marginal_of(
    likelihood: MarginalLikelihood,
    boundaries: tuple[Boundary, ...],
    plain_loglik: float,
) -> Marginal:
    """The random effects, for the results."""
    model = likelihood.model
    covariances = likelihood.at.covariances()
    factors, modes = model.effects(likelihood.at.psi, likelihood.at.v)
    signed = model.factors(likelihood.at.psi[model.n_fixed :])
    terms: dict[int, EffectsOfGroups] = {}
    for k, index in enumerate(model.order):
        root = model.roots[index]
        factor = model.scaling[k] @ signed[k]
        unit_diagonal = True
        conditional = factor @ covariances[k] @ factor.T
        if root is not None:
            conditional = np.einsum("ga,ab,gb->g", root, conditional[0], root)[
                :, None, None
            ]
            unit_diagonal = np.allclose((root**2).sum(axis=1), 1.0, rtol=0.0, atol=1e-6)
        terms[index] = EffectsOfGroups(
            factor=factors[index],
            entries=model.user_entries(k),
            n_phi=model.terms[k].n_phi,
            modes=modes[index],
            conditional=conditional,
            boundary={
                zero.column: zero.derivative for zero in boundaries if zero.term == k
            },
            unit_diagonal=unit_diagonal,
        )
    return Marginal(
        terms=tuple(terms[index] for index in range(len(terms))),
        covariance=likelihood.covariance(),
        quadrature=likelihood.quadrature,
        plain_loglik=plain_loglik,
        likelihood=likelihood,
    )


def free_moves(
    model: MixedModel, free: BoolArray, held: FloatArray | None
) -> FloatArray:
    """(P' + m, r) orthonormal directions of psi, without parameters at a boundary and
    directions towards infinite estimates.
    """
    moves = np.eye(free.size)[:, free]
    if held is None:
        return moves
    P = model.n_fixed
    size = np.linalg.norm(held, axis=0)
    pivots = qr(held.T / size[:, None], mode="r", pivoting=True)[1]
    # with the rest held, nothing moves along the directions
    others = np.sort(pivots[held.shape[1] :])
    fixed = np.zeros((free.size, others.size))
    fixed[:P] = np.linalg.qr(np.linalg.inv(model.to_user)[:, others])[0]
    return np.hstack([fixed, moves[:, P:]])


def user_map(model: MixedModel, psi: FloatArray) -> FloatArray:
    """From psi to the user's fixed parameters and M Lambda, the terms in the order of
    the sample.
    """
    P = model.n_fixed
    parts: list[FloatArray] = [np.empty(0)] * len(model.terms)
    start = P
    for k, (index, Lambda) in enumerate(
        zip(model.order, model.factors(psi[P:]), strict=True)
    ):
        (rows, columns), (inner, own_columns) = (
            model.user_entries(k),
            model.terms[k].entries,
        )
        signs = np.where(np.diag(Lambda) < 0.0, -1.0, 1.0)[columns]
        parts[index] = np.zeros((rows.size, psi.size))
        parts[index][:, start : start + own_columns.size] = (
            signs[:, None]
            * model.scaling[k][np.ix_(rows, inner)]
            * (columns[:, None] == own_columns)
        )
        start += own_columns.size
    fixed = np.hstack([model.to_user, np.zeros((P, psi.size - P))])
    return np.vstack([fixed, *parts])


def objective_of(model: MixedModel, quadrature: int) -> Objective:
    """The integrated log-likelihood with `quadrature` nodes."""
    if quadrature == 1:
        general = partial(evaluate, model)
    else:
        general = partial(evaluate_by_nodes, model, quadrature)
    if not model.compiled:
        return general
    quick = partial(evaluate_compiled, model, quadrature)
    return lambda psi, start: quick(psi, start) or general(psi, start)


def mixed_estimate(
    problem: Problem,
    start: FloatArray,
    quadrature: int,
    max_iter: int,
    penalty: str | None,
    held: FloatArray | None,
) -> tuple[MarginalLikelihood, Maximum, tuple[Boundary, ...]]:
    """The estimates, starting from those without random effects.

    Parameters
    ----------
    problem : Problem
    start : (P',)
        Estimates without random effects, in the solver's coordinates.
    quadrature : int
    max_iter : int
    penalty : "gamma" or None
        Penalty of the covariances.
    held : (P', r) or None
        Fixed parameters of the user without a finite estimate.
    """
    model = MixedModel.of(problem)
    alpha, effects = problem.user.split(start)
    psi = np.concatenate([alpha.T.reshape(-1), effects, model.start_phi()])
    if quadrature != 1:
        check_grid(model, quadrature)
    objective = objective_of(model, quadrature)
    boundaries: tuple[Boundary, ...] = ()
    if penalty is None:
        maximum, free, boundaries = settled(
            model, objective, _from_starts(model, objective, psi, max_iter), max_iter
        )
    else:
        objective = penalised(model, objective)
        maximum = _from_starts(model, objective, psi, max_iter)
        free = np.ones(psi.size, dtype=bool)
    information = maximum.information
    if held is not None:  # unit steps of psi are too long along infinite estimates
        information = information_along(
            objective, maximum.at, free_moves(model, free, held)
        )
    likelihood = MarginalLikelihood(
        model=model,
        quadrature=quadrature,
        at=maximum.at,
        information=information,
        free=free,
        penalised=penalty is not None,
        held=held,
    )
    return likelihood, maximum, boundaries


def _from_starts(
    model: MixedModel, objective: Objective, psi: FloatArray, max_iter: int
) -> Maximum:
    """The maximum from the first start inside the domain; each start has smaller random
    effects than the last.
    """
    every = np.ones(psi.size, dtype=bool)
    for factor in (1.0, 0.3, 0.1, 0.01):
        begin = psi.copy()
        begin[model.n_fixed :] *= factor
        maximum = maximise(model, objective, begin, every, max_iter)
        if maximum is not None:
            return maximum
    raise DataError(
        "The likelihood with random effects must be finite near the fit without them;"
        " it is not. Look for infinite estimates in the fit without them, or take out"
        " terms of nominal= or scale=."
    )


#: A log-scale effect with a smaller standard error, times its largest column value, has
#: a maximum; a log-likelihood that falls by less, as a spread changes by the factor e,
#: has none.
_WIDE = 2.0
_LEVEL = 1e-6
#: Curvatures below this share of the largest are rounding.
_NO_CURVATURE = 1e-12


def spreads_diverge(problem: Problem, likelihood: MarginalLikelihood) -> bool:
    """Whether the likelihood stays constant while a scale effect goes to plus or minus
    infinity, with the parameters that it rescales.
    """
    scales = problem.layout.of_scale
    if scales.start == scales.stop:
        return False
    z = problem.rows.model_rows(slice(None)).z
    free = np.where(likelihood.free[:, None] & likelihood.free, 1.0, 0.0)
    values, axes = np.linalg.eigh(np.nan_to_num(likelihood.information) * free)
    values = np.maximum(values, _NO_CURVATURE * values[-1])
    covariance = axes / values @ axes.T
    for place, scale in enumerate(range(scales.start, scales.stop)):
        variance = covariance[scale, scale]
        widest = float(np.abs(z[:, place]).max())
        if variance * widest**2 < _WIDE**2:
            continue
        tangent = covariance[scale] / variance
        if _is_level(likelihood, tangent, scales, widest):
            return True
    return False


def _is_level(
    likelihood: MarginalLikelihood, tangent: FloatArray, scales: slice, widest: float
) -> bool:
    """Whether the likelihood does not fall along one of the paths with a tangent
    (P' + m,), on which a spread changes by the factor e.
    """
    at = likelihood.at
    stretched = tangent.copy()
    stretched[scales] = 0.0
    for length in (1.0 / widest, -1.0 / widest):
        for bend in (widest, -widest):
            psi = at.psi + np.expm1(bend * length) / bend * stretched
            psi[scales] += length * tangent[scales]
            further = likelihood.objective(psi, at.v)
            if further is not None and further.loglik >= at.loglik - _LEVEL:
                return True
    return False


# Profiles

#: Most iterations at one value.
_MOST = 60
#: Standard deviation at which one estimated as 0 is tried again.
_AWAY = 0.05
JUMP = "modes of random effects jump along the profile: use more quadrature nodes"
BENT = (
    "only the first standard deviation of a random term, and one without correlations,"
    " has a profile: take bootstrap(), or use type='wald'"
)


@dataclass(frozen=True, eq=False)
class MixedProfile:
    """Profiles by index: the estimated fixed parameters, then standard deviations and
    correlations as in `confint`.

    Attributes
    ----------
    likelihood : MarginalLikelihood
    """

    likelihood: MarginalLikelihood
    higher: ClassVar[float] = math.nan  # no other maximum is looked for

    @property
    def loglik(self) -> float:
        """At the maximum."""
        return self.likelihood.at.loglik

    def end(self, index: int, direction: int, drop: float) -> tuple[float, str]:
        """The value below (-1) or above (+1) the estimate at which the deviance has
        risen by `drop`, and the reason if it is not finite.
        """
        functional = self._functional(index)
        if functional is None:
            return math.nan, BENT
        likelihood, (a, is_deviation) = self.likelihood, functional
        centre = float(a @ likelihood.at.psi)
        last = likelihood.at
        # a standard deviation is |a'psi|
        sign = -1.0 if is_deviation and centre < 0.0 else 1.0

        def deviance(value: float) -> float:
            nonlocal last
            if is_deviation and sign * value < 0.0:
                at = None
            else:
                at = self._maximum(a, last, value)
            last = at or last
            return math.nan if at is None else 2.0 * (likelihood.at.loglik - at.loglik)

        if is_deviation and direction < 0 and (centre == 0.0 or deviance(0.0) <= drop):
            return 0.0, ""
        last = likelihood.at
        limit = crossing(deviance, centre, sign * direction * self._error(a), drop)
        if math.isnan(limit):
            return limit, NOT_REACHED
        if abs(deviance(limit) - drop) <= EXACT:
            return (sign * limit, "")
        return (math.nan, JUMP)

    def curve(self, index: int, values: FloatArray) -> FloatArray:
        """Maximised log-likelihood at values of the parameter; NaN where the search
        ends outside the domain.
        """
        functional = self._functional(index)
        if functional is None:
            raise UnavailableError(f"No profile: {BENT}.")
        a = functional[0]
        at = self.likelihood.at
        held = outwards(values, float(a @ at.psi), at, partial(self._maximum, a))
        return np.array([math.nan if one is None else one.loglik for one in held])

    def _functional(self, index: int) -> tuple[FloatArray, bool] | None:
        """a, and whether the parameter is a standard deviation; None if it is not an
        element of a covariance factor.
        """
        likelihood = self.likelihood
        P = self.likelihood.model.n_fixed
        if index < P:
            return likelihood.to_user[index], False
        row = _deviation_row(likelihood, index - P)
        return None if row is None else (likelihood.to_user[row], True)

    def _error(self, a: FloatArray) -> float:
        """Standard error, or a first step if there is none."""
        variance = float(a @ np.nan_to_num(self.likelihood.inner_covariance) @ a)
        return math.sqrt(variance) if variance > 0.0 else 0.5 * float(np.abs(a).max())

    def _maximum(
        self, a: FloatArray, near: IntegratedLikelihood, value: float
    ) -> IntegratedLikelihood | None:
        """The maximum among psi with a'psi = value, starting near `near`; None if no
        start is inside the domain.
        """
        likelihood = self.likelihood
        V = np.nan_to_num(likelihood.inner_covariance)
        estimated = float(a @ V @ a) > 0.0
        along = V @ a if estimated else a
        B = V - np.outer(along, along) / float(a @ along) if estimated else V
        start = self._start(a, value, likelihood.at, along) or self._start(
            a, value, near, along
        )
        if start is None:
            return None
        at = self._climb(start, B, a)
        # A variance at its boundary may become positive once the parameter has moved.
        away = np.zeros(a.size)
        away[likelihood.model.diagonals] = _AWAY
        away[likelihood.free | (a != 0.0) | (at.psi != 0.0)] = 0.0
        further = likelihood.objective(at.psi + away, at.v) if away.any() else None
        if further is None or further.loglik <= at.loglik:
            return at
        return self._climb(further, B, a)

    def _climb(
        self, start: IntegratedLikelihood, B: FloatArray, a: FloatArray
    ) -> IntegratedLikelihood:
        """The maximum from a start; components of phi that have left their boundary are
        free.
        """
        likelihood = self.likelihood
        released: BoolArray = ~likelihood.free & (start.psi != 0.0) & (a == 0.0)
        wider = B + np.diag(np.where(released, 0.1, 0.0))
        free = likelihood.free | released
        n_fixed = likelihood.model.n_fixed
        return quasi_newton(
            likelihood.objective, start, wider, free, _MOST, [start.loglik], n_fixed
        )[0]

    def _start(
        self, a: FloatArray, value: float, near: IntegratedLikelihood, along: FloatArray
    ) -> IntegratedLikelihood | None:
        """Move the other parameters by linear prediction, or by less of it to stay
        inside the domain.
        """
        move = along * ((value - float(a @ near.psi)) / float(a @ along))
        for shorter in (1.0, 0.5, 0.0):
            step = np.where(a != 0.0, move, shorter * move)
            step = step + a * ((value - float(a @ (near.psi + step))) / float(a @ a))
            start = self.likelihood.objective(near.psi + step, near.v)
            if start is not None:
                return start
        return None


def _deviation_row(likelihood: MarginalLikelihood, index: int) -> int | None:
    """Row of `to_user` of a standard deviation, by its index in the results; None for
    any other parameter.
    """
    model = likelihood.model
    start = likelihood.model.n_fixed
    inverse = [model.order.index(index) for index in range(len(model.terms))]
    for k in inverse:
        term, (rows, columns) = model.terms[k], model.user_entries(k)
        q = term.width
        count = q + (q * (q - 1) // 2 if term.correlated else 0)
        if index < count:
            if index >= q or (rows == index).sum() > 1:
                return None
            return start + int(np.flatnonzero((rows == index) & (columns == index))[0])
        index = index - count
        start = start + rows.size
    return None
