"""The integrated likelihood of groups: Laplace's approximation, and quadrature for one
term of few columns.

Adaptive [Liu and Pierce 1994; Pinheiro and Bates 1995]: with B upper triangular, B B' =
H_g^-1, and the nodes v_j = v^ + sqrt(2) B x_j of a product grid, of weights w_j,
  log L_g = log sum_j w_j exp(x_j'x_j + h_g(v_j)) + log |B| - (q / 2) log(pi);
one node is Laplace's approximation. In the gradient, with posterior weights pi_j of the
nodes, the explicit terms are means over the nodes; sum_j pi_j h'(v_j) is added to X'rho
before solving for q, since v^ moves all nodes; and H moves B: from B'HB = I and B
triangular, dB = -B up(B' dH B), up = the part above the diagonal and half of this
[Murray 2016, arXiv 1602.07527]. With U = up(Gamma), Gamma = sqrt(2) sum_j pi_j
B'h'(v_j) x_j', all that H does to log L_g is -<E, dH> / 2 with E = B (I + U + U') B',
which stands for H^-1 in s and e. The posterior means of the scores alone (Fisher's
identity) are not the gradient of this sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp

from .._typing import FloatArray, IntArray
from ..compiled.mixed import integrate_logit
from ..exceptions import OptionError
from ..likelihood.predictor import Predictor
from ..likelihood.terms import LocationTerms, RowTerms
from .blocks import BlockFactor, BlockMatrix, Effects, factor
from .model import MixedModel

#: Newton decrement per effect at which the modes are exact to half the digits of a
#: double.
_SMALL = 1e-22
#: Largest conditional variance of an effect with variance 1 at which its mode is
#: determined.
_WIDEST = 20.0
#: Most Newton steps, and most halvings of a step.
_STEPS = 100
_HALVINGS = 40


@dataclass(frozen=True, eq=False, kw_only=True)
class Point:
    """Random effects, and the terms of the rows at them.

    Attributes
    ----------
    v : Effects
    shift : (n,)
        What the effects add to the scores.
    h : float
    terms : LocationTerms
        Terms of the rows, unweighted.
    """

    v: Effects
    shift: FloatArray
    h: float
    terms: LocationTerms


@dataclass(frozen=True, eq=False, kw_only=True)
class Modes(Point):
    """The modes at some psi.

    Attributes
    ----------
    factor : BlockFactor
        Factor of H at the modes.
    decrement : float
        Decrement of the next Newton step, not taken.
    """

    factor: BlockFactor
    decrement: float


def conditional_modes(
    model: MixedModel, predictor: Predictor, x: list[FloatArray], start: Effects
) -> Modes | None:
    """The modes, from a start; None outside the domain, or if H is not positive
    definite at the modes.

    Parameters
    ----------
    model : MixedModel
    predictor : Predictor
        Without random effects.
    x : list of (n, q)
        Columns z Lambda of each term.
    start : Effects
    """
    zero = [np.zeros_like(part) for part in start]
    at = _point(model, predictor, x, start) or _point(model, predictor, x, zero)
    least = _SMALL * max(1.0, float(sum(part.size for part in start)))
    for _ in range(_STEPS):
        newton = None if at is None else _newton(model, x, at)
        if at is None or newton is None:
            return None
        H, step, decrement = newton
        if decrement <= least:
            moved = None
        else:
            moved = _search(model, predictor, x, at, step, decrement)
        if moved is None:
            return _settled(model, x, at, H, decrement)
        at = moved
    return None


def _point(
    model: MixedModel, predictor: Predictor, x: list[FloatArray], v: Effects
) -> Point | None:
    shift = model.shift(x, v)
    terms = model.located(predictor, shift)
    if terms is None:
        return None
    h = float(model.weights @ terms.log_p) - 0.5 * sum(
        float(np.vdot(part, part)) for part in v
    )
    return Point(v=v, shift=shift, h=h, terms=terms) if np.isfinite(h) else None


def _newton(
    model: MixedModel, x: list[FloatArray], at: Point
) -> tuple[BlockFactor, Effects, float] | None:
    """H, the step and its decrement; negative curvatures are set to 0 if H is not
    positive definite.
    """
    curvature = model.weights * at.terms.curvature
    H = factor(model.structure.gram(x, curvature), model.structure)
    if H is None and not model.family.concave:
        H = factor(model.structure.gram(x, np.maximum(curvature, 0.0)), model.structure)
    if H is None:
        return None
    score = model.gathered(x, model.weights * at.terms.score)
    slope = [part - v for part, v in zip(score, at.v, strict=True)]
    step = H.solve(slope)
    return H, step, sum(float(np.vdot(a, b)) for a, b in zip(slope, step, strict=True))


def _search(
    model: MixedModel,
    predictor: Predictor,
    x: list[FloatArray],
    at: Point,
    step: Effects,
    decrement: float,
) -> Point | None:
    """The longest of the steps 1, 1/2, ... that raises h; None if none does."""
    slack = 1e-13 * (1.0 + abs(at.h))
    length = 1.0
    for _ in range(_HALVINGS):
        moved = [v + length * part for v, part in zip(at.v, step, strict=True)]
        trial = _point(model, predictor, x, moved)
        if trial is not None and trial.h >= at.h + 1e-4 * length * decrement - slack:
            return trial
        length *= 0.5
    return None


def _settled(
    model: MixedModel, x: list[FloatArray], at: Point, H: BlockFactor, decrement: float
) -> Modes | None:
    """The modes with the exact H; None if H is not positive definite or nearly
    singular.

    Families that are not concave can have two modes in a group. Where these merge, H is
    singular and Laplace's approximation infinite.
    """
    if not model.family.concave:
        exact = factor(
            model.structure.gram(x, model.weights * at.terms.curvature), model.structure
        )
        if exact is None or np.einsum("gaa->ga", exact.inverse).max() > _WIDEST:
            return None
        H = exact
    return Modes(
        v=at.v, shift=at.shift, h=at.h, terms=at.terms, factor=H, decrement=decrement
    )


@dataclass(frozen=True, eq=False)
class IntegratedLikelihood:
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
        Newton decrement at the modes.
    curvature : (G,) or None
        Diagonal of H from the compiled pass, for one random effect per group.
    """

    model: MixedModel
    psi: FloatArray
    loglik: float
    gradient: FloatArray
    v: Effects
    decrement: float
    curvature: FloatArray | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out `state`, which is computed again on demand."""
        return {name: value for name, value in self.__dict__.items() if name != "state"}

    @cached_property
    def state(self) -> State:
        """The rows at the modes."""
        state = state_at(self.model, self.psi, self.v)
        assert state is not None
        return state

    def covariances(self) -> list[FloatArray]:
        """Conditional covariances (G, q, q) of the effects of each term, given psi."""
        if self.curvature is not None:
            return [1.0 / self.curvature[:, None, None]]
        return self.state.modes.factor.selected().diagonal


#: psi and start values of the modes -> value and gradient; None outside the domain.
Objective = Callable[[FloatArray, Effects], IntegratedLikelihood | None]


@dataclass(frozen=True, eq=False)
class State:
    """The modes at some psi, columns x = z Lambda (n, q) of each term, and predictors
    with and without effects.

    Attributes
    ----------
    model : MixedModel
    modes : Modes
    x : list of (n, q)
    bare, predictor : Predictor
        Without the random effects, and at their modes.
    """

    model: MixedModel
    modes: Modes
    x: list[FloatArray]
    bare: Predictor
    predictor: Predictor

    @cached_property
    def terms(self) -> RowTerms:
        """Terms of the rows at the modes."""
        terms = self.model.family.terms(self.predictor, self.model.y)
        assert terms is not None
        return terms


def state_at(model: MixedModel, psi: FloatArray, start: Effects) -> State | None:
    """The modes, starting from `start`; None outside the domain."""
    fixed = psi[: model.n_fixed]
    phi = psi[model.n_fixed :]
    predictor = model.predictor(fixed)
    if predictor is None:
        return None
    x = model.columns(phi)
    modes = conditional_modes(model, predictor, x, start)
    if modes is None:
        return None
    return State(
        model, modes, x, predictor, replace(predictor, H=predictor.H + modes.shift)
    )


def evaluate(
    model: MixedModel, psi: FloatArray, start: Effects
) -> IntegratedLikelihood | None:
    """Laplace's approximation at psi, modes starting from `start`; None outside the
    domain.
    """
    at = state_at(model, psi, start)
    if at is None:
        return None
    loglik = at.modes.h - 0.5 * at.modes.factor.logdet
    return if_finite(
        IntegratedLikelihood(
            model, psi, loglik, row_scores(at).total(), at.modes.v, at.modes.decrement
        )
    )


def if_finite(at: IntegratedLikelihood) -> IntegratedLikelihood | None:
    """None if the value or its gradient is not finite."""
    return at if np.isfinite(at.loglik) and np.isfinite(at.gradient).all() else None


@dataclass(frozen=True, eq=False)
class RowGradients:
    """What every row adds to the gradient; it depends only on rows of connected groups.

    Attributes
    ----------
    model : MixedModel
    places : (M, n)
        The thresholds that each row depends on.
    kappa : (M + 2, n)
        Derivatives by the predictors of the row, including those through the modes and
        the curvature.
    inner : list of (n, q)
        Derivatives by the row of Lambda of each term, without the factor z.
    """

    model: MixedModel
    places: IntArray
    kappa: FloatArray
    inner: list[FloatArray]

    def total(self) -> FloatArray:
        """(P + m,) the gradient."""
        fixed = self.model.jacobian(self.places).total(self.kappa)
        parts = zip(self.model.terms, self.inner, strict=True)
        return np.concatenate([fixed, *(term.by_phi(inner) for term, inner in parts)])

    def totals(self, codes: IntArray, size: int) -> FloatArray:
        """(size, P + m) sums over the rows of each code (n,)."""
        columns = [self.model.jacobian(self.places).totals(self.kappa, codes, size)]
        for term, inner in zip(self.model.terms, self.inner, strict=True):
            sums = [
                np.bincount(codes, column, minlength=size)
                for column in term.rows_by_phi(inner)
            ]
            columns.append(np.stack(sums, axis=1))
        return np.hstack(columns)


def row_scores(at: State) -> RowGradients:
    """Contributions of the rows to the gradient of Laplace's approximation."""
    model = at.model
    x = at.x
    modes = at.modes
    slopes = model.family.curvature_slopes(at.predictor, model.y)
    curved = at.terms.second()
    H_row = len(at.terms.places)
    weights = model.weights
    e = own_solutions(model, x, modes.factor.selected())
    s = np.asarray(sum(np.einsum("nq,nq->n", a, b) for a, b in zip(x, e, strict=True)))
    q = modes.factor.solve(model.gathered(x, -0.5 * weights * s * slopes[H_row]))
    kappa = weights * (
        at.terms.score - 0.5 * s * slopes - model.shift(x, q) * curved[H_row]
    )
    score = weights * modes.terms.score
    curvature = weights * modes.terms.curvature
    location = kappa[H_row]
    parts = []
    for k, term in enumerate(model.terms):
        inner = location[:, None] * modes.v[k][term.codes] - curvature[:, None] * e[k]
        inner += score[:, None] * q[k][term.codes]
        parts.append(inner)
    return RowGradients(model, at.terms.places, kappa, parts)


def own_solutions(
    model: MixedModel, x: list[FloatArray], selected: BlockMatrix
) -> list[FloatArray]:
    """e_i (n, q) of each term: H^-1 x_i within the groups of the row."""
    solutions = [
        (
            columns @ block[0]
            if len(block) == 1
            else np.einsum("nab,nb->na", block[term.codes], columns)
        )
        for term, block, columns in zip(model.terms, selected.diagonal, x, strict=True)
    ]
    for (s, t), block in selected.pairs.items():
        rows = block[model.structure.patterns[s, t].of]
        solutions[s] = solutions[s] + np.einsum("nab,nb->na", rows, x[t])
        solutions[t] = solutions[t] + np.einsum("nab,na->nb", rows, x[s])
    return solutions


# Quadrature

#: Most columns of a term, and most nodes of a group, in a grid.
MOST_COLUMNS = 3
MOST_POINTS = 10_000
#: Nodes with smaller posterior weight in every group are left out of means.
_NOTHING = 1e-20
_SQRT_2 = float(np.sqrt(2.0))


@dataclass(frozen=True, eq=False)
class Grid:
    """Nodes x_j (J, q) that all groups share, and the logarithms (J,) of the weights of
    exp(h) at the nodes.
    """

    points: FloatArray
    log_weights: FloatArray

    def at(self, j: int, modes: FloatArray, B: FloatArray) -> FloatArray:
        """(G, q) v_j."""
        return np.asarray(modes + _SQRT_2 * B @ self.points[j])

    def size(self, B: FloatArray) -> FloatArray:
        """(G,) logarithm of the factor of a sum over the nodes."""
        normal = -0.5 * B.shape[1] * float(np.log(2.0 * np.pi))
        return np.asarray(
            np.log(_SQRT_2 * np.einsum("gaa->ga", B)).sum(axis=1) + normal
        )


@cache
def grid_of(quadrature: int, q: int) -> Grid:
    points, weights = np.polynomial.hermite.hermgauss(quadrature)
    indices = np.stack(
        np.meshgrid(*[np.arange(points.size)] * q, indexing="ij"), axis=-1
    ).reshape(-1, q)
    logs = np.log(weights) + points**2
    return Grid(np.ascontiguousarray(points[indices]), logs[indices].sum(axis=1))


def check_grid(model: MixedModel, quadrature: int) -> None:
    """Raise OptionError unless there is one random term of few columns with independent
    groups.
    """
    terms = model.terms
    laplace = "Use quadrature=1, Laplace's approximation."
    if any(term.alike for term in terms):
        raise OptionError(
            f"quadrature={quadrature} needs independent groups; cov= makes them"
            f" dependent. {laplace}"
        )
    count = sum(term.q for term in terms)
    if len(terms) > 1 or count > MOST_COLUMNS:
        raise OptionError(
            f"quadrature={quadrature} needs one random term of at most {MOST_COLUMNS}"
            f" columns, such as (1 | group) or (1 + x | group); got {count} columns in"
            f" {len(terms)} terms. {laplace}"
        )
    most = int(MOST_POINTS ** (1.0 / count) + 1e-9)
    if quadrature > most:
        raise OptionError(
            f"quadrature must be at most {most} for a random term of {count} columns,"
            f" as the nodes of a group grow with its power {count}; got {quadrature}."
            " Use fewer nodes."
        )


def evaluate_by_nodes(
    model: MixedModel, quadrature: int, psi: FloatArray, start: Effects
) -> IntegratedLikelihood | None:
    """The integrated log-likelihood at psi with `quadrature` nodes per column; None
    outside the domain.
    """
    at = state_at(model, psi, start)
    nodes = None if at is None else Nodes.of(at, quadrature)
    if at is None or nodes is None:
        return None
    loglik = float(nodes.values().sum())
    gradient = scores_by_nodes(at, nodes).total()
    return if_finite(
        IntegratedLikelihood(
            model, psi, loglik, gradient, at.modes.v, at.modes.decrement
        )
    )


def evaluate_compiled(
    model: MixedModel, quadrature: int, psi: FloatArray, start: Effects
) -> IntegratedLikelihood | None:
    """As `evaluate_by_nodes`, for models with `compiled` true. One node is Laplace's
    approximation. None if not finite.
    """
    full = psi[:-1] if model.expand is None else model.expand @ psi[:-1]
    count = model.n_thresholds
    grid = grid_of(quadrature, 1)
    v = start[0][:, 0].copy()
    score = model.rows.x @ full[count:] + model.rows.offset
    H = np.empty(v.size)
    by_score = np.empty(score.size)
    by_theta = np.empty(count)
    rows = full[:count], score, model.y, psi[-1], model.first_column, model.weights
    nodes = grid.points[:, 0], grid.log_weights
    loglik, by_sigma, decrement = integrate_logit(
        model.common, model.starts, *rows, *nodes, v, H, by_score, by_theta
    )
    by_full = np.concatenate([by_theta, by_score @ model.rows.x])
    gradient = np.append(
        by_full if model.expand is None else by_full @ model.expand, by_sigma
    )
    return if_finite(
        IntegratedLikelihood(model, psi, loglik, gradient, [v[:, None]], decrement, H)
    )


@dataclass(frozen=True, eq=False)
class Nodes:
    """The grid, the logarithms (G, J) of every group's weighted exp(h) at its nodes,
    and B (G, q, q).
    """

    grid: Grid
    B: FloatArray
    heights: FloatArray

    @classmethod
    def of(cls, at: State, quadrature: int) -> Nodes | None:
        """The nodes around the modes; None outside the domain."""
        term = at.model.terms[0]
        grid = grid_of(quadrature, term.q)
        B = upper_root(at.modes.factor.inverse)
        if B is None:
            return None
        heights = np.empty((term.n_groups, len(grid.points)))
        for j, logs in enumerate(grid.log_weights):
            h = group_heights(at, grid.at(j, at.modes.v[0], B))
            if h is None:
                return None
            heights[:, j] = h + logs
        return cls(grid, B, heights)

    def values(self) -> FloatArray:
        """(G,) log-likelihoods of the groups."""
        return logsumexp(self.heights, axis=1) + self.grid.size(self.B)

    def posterior(self) -> FloatArray:
        """(G, J) posterior weights pi of the nodes."""
        return np.exp(self.heights - logsumexp(self.heights, axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class _Means:
    """Posterior means over the nodes: scores (M + 2, n), score by H times v (n, q), h'
    (G, q), h'x' (G, q, q).
    """

    score: FloatArray
    by_v: FloatArray
    slope: FloatArray
    turn: FloatArray


def _means(at: State, nodes: Nodes) -> _Means:
    model = at.model
    predictor = at.bare
    term = at.model.terms[0]
    x = at.x[0]
    H_row = len(at.terms.places)
    posterior = nodes.posterior()
    q = term.q
    out = _Means(
        np.zeros_like(at.terms.score),
        np.zeros_like(x),
        np.zeros((term.n_groups, q)),
        np.zeros((term.n_groups, q, q)),
    )
    for j in np.flatnonzero(posterior.max(axis=0) > _NOTHING).tolist():
        point = nodes.grid.points[j]
        v = nodes.grid.at(j, at.modes.v[0], nodes.B)
        moved = replace(predictor, H=predictor.H + model.shift(at.x, [v]))
        terms = model.family.terms(moved, model.y, second=False)
        assert terms is not None
        share = posterior[term.codes, j]
        score = share * terms.score
        out.score[:] += score
        out.by_v[:] += score[H_row][:, None] * v[term.codes]
        slope = (
            model.gathered(at.x, model.weights * score[H_row])[0]
            - posterior[:, j, None] * v
        )
        out.slope[:] += slope
        out.turn[:] += slope[:, :, None] * point
    return out


def group_heights(at: State, v: FloatArray) -> FloatArray | None:
    """(G,) h at the effects v (G, q) of the groups of a single term; None outside the
    domain.
    """
    model = at.model
    term = at.model.terms[0]
    terms = model.located(at.bare, model.shift(at.x, [v]))
    if terms is None:
        return None
    logs = np.bincount(term.codes, model.weights * terms.log_p, minlength=term.n_groups)
    return np.asarray(logs - 0.5 * np.einsum("gq,gq->g", v, v))


def scores_by_nodes(at: State, nodes: Nodes) -> RowGradients:
    """What every row adds to the gradient of a quadrature sum."""
    model = at.model
    x = at.x
    weights = at.model.weights
    H_row = len(at.terms.places)
    means = _means(at, nodes)
    codes = model.terms[0].codes
    slopes = model.family.curvature_slopes(at.predictor, model.y)
    bent = at.terms.second()[H_row]
    e = np.einsum("nab,nb->na", moved_inverse(nodes.B, means.turn)[codes], x[0])
    s = np.einsum("nq,nq->n", x[0], e)
    rho = model.gathered(x, -0.5 * weights * s * slopes[H_row])[0]
    q = at.modes.factor.solve([rho + means.slope])
    moved = -0.5 * s * slopes - model.shift(x, q) * bent
    inner = (
        means.by_v
        + moved[H_row][:, None] * at.modes.v[0][codes]
        - bent[H_row][:, None] * e
    )
    inner += at.terms.score[H_row][:, None] * q[0][codes]
    return RowGradients(
        model,
        at.terms.places,
        weights * (means.score + moved),
        [weights[:, None] * inner],
    )


def upper_root(inverse: FloatArray) -> FloatArray | None:
    """(G, q, q) B, upper triangular with B B' = inverse; None if that is not positive
    definite.
    """
    try:
        return np.asarray(np.linalg.cholesky(inverse[:, ::-1, ::-1])[:, ::-1, ::-1])
    except np.linalg.LinAlgError:
        return None


def moved_inverse(B: FloatArray, turn: FloatArray) -> FloatArray:
    """(G, q, q) E, which stands for H^-1 in the gradient."""
    U = np.triu(_SQRT_2 * B.transpose(0, 2, 1) @ turn)
    U -= 0.5 * np.einsum("gaa,ab->gab", U, np.eye(U.shape[1]))
    return B @ (np.eye(U.shape[1]) + U + U.transpose(0, 2, 1)) @ B.transpose(0, 2, 1)
