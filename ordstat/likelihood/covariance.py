"""The likelihood of a fit at its estimates: sandwiches, CR2, replicate weights, score
tests, profiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import block_diag, helmert

from .._typing import AnyArray, FloatArray, IntArray
from ..exceptions import DataError, OptionError
from ..formula.sample import Sample, row_blocks
from ..newton import Blocks
from .determined import Determined
from .estimate import Estimation
from .family import row_terms
from .fit import LARGEST_CR2, WITHOUT_CR2, BiasReduced, cr2_work
from .penalty import expected_information
from .predictor import Jacobian, ModelRows
from .problem import Problem
from .profile import ProfileLikelihood
from .separation import identified
from .start import at_other_lambdas
from .terms import RowTerms

#: Doubles held at once for the scores of some rows, which stay in the cache.
_CHUNK = 1 << 17
#: Most products in an expected information, about a second.
_EXPECTED = 4e9


def _score_terms(
    problem: Problem, estimates: FloatArray, level: int | None = None
) -> tuple[Callable[[slice, IntArray], Jacobian], Callable[[slice], RowTerms]]:
    """Return a function from rows and their thresholds to derivatives of predictors by
    the parameters; and from some rows to their terms, at the levels observed or at one
    `level`.
    """
    sample = problem.sample
    columns = ModelRows.of(sample.rows)
    y = sample.y if level is None else np.full_like(sample.y, level)
    family = problem.family_at(float(estimates[-1]))
    at = problem.layout.split(estimates)
    alpha = at.alpha
    structure = None
    if problem.structure is not None:
        jacobian = problem.structure.jacobian
        alpha = jacobian @ alpha
        others = np.eye(estimates.size - problem.layout.n_alpha)
        nominal = np.eye(problem.layout.columns)
        structure = block_diag(np.kron(nominal, jacobian), others)
    layout = replace(problem.layout, thresholds=len(alpha))

    def jacobian_of(some: slice, places: IntArray) -> Jacobian:
        return Jacobian(columns.take(some), places, layout, structure)

    def terms_of(some: slice) -> RowTerms:
        predictor = columns.take(some).at(alpha, at.beta, at.zeta)
        terms = row_terms(family, predictor, y[some], False, layout.link > 0)
        assert terms is not None
        return terms

    return jacobian_of, terms_of


#: Eigenvalues below this share of the largest are rounding of 0.
_ZERO = 1e-12
#: Variances below this share of the largest of a cluster count as this share.
_LEAST = 1e-8
#: A cluster alone determines directions in which the others have less than this share
#: of the information.
_ALONE = 1e-10
#: Step of the trapezoid rule, and its range beyond the logs of the ends: errors near
#: 1e-13.
_STEP = 0.32
_TAIL = 30.0


def bias_reduced(
    problem: Problem, estimates: FloatArray, cluster: IntArray
) -> BiasReduced:
    """The clusters of a fit at its estimates; see `BiasReduced` for the symbols.

    Parameters
    ----------
    problem : Problem
    estimates : (P',) on the user's scale
    cluster : (N,) codes, for the rows of the problem

    Raises
    ------
    OptionError
        There are too many rows and parameters.

    Notes
    -----
    With D = dp/d(estimates), the working variance V and the hat matrix H = D (D'V^-1
    D)^-1 D'V^-1, the adjustment of Pustejovsky and Tipton (2018, eq. 11) is V^(1/2)
    [V^(1/2) (1 - H) V V^(1/2)]^(-1/2) V^(1/2), here by the QR decomposition V^(-1/2) D
    = Q R, in the axes in which the V of every row is diagonal. A row of weight w is w
    equal rows: the root of w times D and the residuals.
    """
    rows = problem.sample
    P = estimates.size
    if cr2_work(rows.n, rows.n_levels, P) > LARGEST_CR2:
        raise OptionError(
            f"vcov='CR2' must have fewer rows or parameters; got {rows.n} rows of"
            f" {rows.n_levels} levels and {P} parameters. {WITHOUT_CR2}"
        )
    p, slopes = _probabilities(problem, estimates)
    contrasts = helmert(rows.n_levels)
    V, axes = np.linalg.eigh(
        contrasts
        @ (p[:, :, None] * (np.eye(rows.n_levels) - p[:, None, :]))
        @ contrasts.T
    )
    turned = axes.transpose(0, 2, 1) @ contrasts
    root = np.sqrt(np.maximum(V, 0.0))
    inverse = np.where(
        _ZERO * V[:, -1:] < V, 1.0 / np.where(root > 0.0, root, 1.0), 0.0
    )
    weight = np.sqrt(rows.case_weights)[:, None]
    Q, R = np.linalg.qr(
        ((weight * inverse)[:, :, None] * (turned @ slopes)).reshape(-1, P)
    )
    basis = Q.reshape(*V.shape, P)
    residuals = (
        weight
        * root
        * (turned @ (np.eye(rows.n_levels)[rows.y] - p)[:, :, None])[:, :, 0]
    )
    members = np.split(
        np.argsort(cluster, kind="stable"),
        np.flatnonzero(np.diff(np.sort(cluster))) + 1,
    )
    adjusted = (
        _adjusted(basis[i].reshape(-1, P), V[i].ravel(), residuals[i].ravel())
        for i in members
    )
    scores, spread, pull = map(np.array, zip(*adjusted, strict=True))
    return BiasReduced(root=R, scores=scores, spread=spread, pull=pull)


def _probabilities(
    problem: Problem, estimates: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(N, K) of all levels, and their derivatives (N, K, P')."""
    every = slice(None)
    logs = []
    scores = []
    for level in range(problem.sample.n_levels):
        jacobian_of, terms_of = _score_terms(problem, estimates, level)
        terms = terms_of(every)
        logs.append(terms.log_p)
        scores.append(jacobian_of(every, terms.places).transposed(terms.score))
    p = np.exp(np.column_stack(logs))
    return p, np.where(
        p[:, :, None] > 0.0, p[:, :, None] * np.stack(scores, axis=1), 0.0
    )


def _adjusted(
    Q: FloatArray, V: FloatArray, whitened: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Score, spread and pull of one cluster from Q_g (m, P'), the diagonal V (m,) and
    V^(1/2) e (m,).

    B = V (1 - QQ') V is diagonal less a matrix of rank P'. Where the cluster alone
    determines directions of the estimates, B is singular: the null space Z is filled
    for the root, and left out of it again.
    """
    V = np.maximum(V, _LEAST * V.max())
    shares, directions = np.linalg.eigh(np.eye(Q.shape[1]) - Q.T @ Q)
    alone = shares <= _ALONE
    top = float(V.max())
    Z = np.linalg.qr((Q @ directions[:, alone]) / V[:, None])[0]
    core = np.diag(np.repeat([-1.0, top**-2], [Q.shape[1], Z.shape[1]]))
    low = float(V.min() * np.sqrt(shares[~alone].min(initial=1.0)))
    left = (
        _inverse_root(V**2, np.hstack([V[:, None] * Q, Z]), core, Q, (low, top))
        - Z @ (Z.T @ Q) / top
    )
    spread = V[:, None] * left
    return left.T @ whitened, spread.T @ spread, spread.T @ Q


def _inverse_root(
    d: FloatArray,
    F: FloatArray,
    core: FloatArray,
    X: FloatArray,
    ends: tuple[float, float],
) -> FloatArray:
    """(m, P') B^(-1/2) X of B = diag(d) + F core^(-1) F', the roots of whose
    eigenvalues lie between some ends.

    B^(-1/2) = 2 / pi times the integral of e^s (B + e^(2s))^(-1) over all s, by the
    trapezoid rule, whose error falls exponentially with its step; Woodbury's formula
    gives the inverses.
    """
    points = np.exp(np.arange(np.log(ends[0]) - _TAIL, np.log(ends[1]) + _TAIL, _STEP))
    total = np.zeros_like(X)
    for some in row_blocks(points.size, d.size * F.shape[1], _CHUNK):
        inverse = 1.0 / (d + points[some, None] ** 2)
        turned = F.T * inverse[:, None, :]
        rest = X - F @ np.linalg.solve(core + turned @ F, turned @ X)
        total += np.einsum("tm,tmp->mp", points[some, None] * inverse, rest)
    return 2.0 / np.pi * _STEP * total


@dataclass(frozen=True, eq=False, kw_only=True)
class LikelihoodAtEstimates:
    """The likelihood of a fit, at its estimates.

    Codes and weights cover all rows of the fit, including those of weight 0.

    Attributes
    ----------
    estimation : Estimation
    problem : Problem
    threshold : str
    estimates : (P',)
        On the user's scale, in the order of `LikelihoodFit.coefficients` without the
        aliased.
    determined : Determined or None
        What the data determine; None where every estimate is finite.
    """

    estimation: Estimation
    problem: Problem
    threshold: str
    estimates: FloatArray
    determined: Determined | None

    def _used(self, values: AnyArray) -> Any:
        """The values of the rows with a positive weight."""
        return values if self.problem.used is None else values[self.problem.used]

    def score_products(self, cluster: IntArray | None) -> FloatArray:
        """(P', P') sum of U U' over clusters (N,), or over rows (v U U' for a row of
        weight v) without them.
        """
        if cluster is not None:
            totals = self.score_totals(cluster, int(cluster.max()) + 1)
            return np.asarray(totals.T @ totals)
        sample = self.problem.sample
        scores_of = self._weighted_scores()
        total = np.zeros((self.estimates.size, self.estimates.size))
        for some in row_blocks(sample.n, self.estimates.size, _CHUNK):
            jacobian, scores = scores_of(some)
            total += jacobian.transposed(scores).T @ jacobian.transposed(
                scores / sample.case_weights[some]
            )
        return total

    def score_totals(self, codes: IntArray, n_groups: int) -> FloatArray:
        """(G, P') weighted scores summed over the rows of each code 0..G-1; 0 where a
        code has no row.
        """
        codes = self._used(codes)
        scores_of = self._weighted_scores()
        total = np.zeros((n_groups, self.estimates.size))
        for some in row_blocks(
            codes.size, self.estimates.size, max(_CHUNK, total.size)
        ):
            jacobian, scores = scores_of(some)
            total += jacobian.totals(scores, codes[some], n_groups)
        return total

    def _weighted_scores(self) -> Callable[[slice], tuple[Jacobian, FloatArray]]:
        """From some rows to the Jacobian of their predictors, and derivatives of
        log-probabilities (weighted).
        """
        problem = self.problem
        y = self.problem.sample.y
        weights = self.problem.sample.case_weights
        jacobian_of, terms_of = _score_terms(problem, self.estimates)
        whole = problem.rows.scores(
            problem.expansion @ problem.from_user(self.estimates)
        )
        places = np.stack(
            [np.minimum(y, problem.sample.n_levels - 2), np.maximum(y - 1, 0)]
        )

        def weighted(some: slice) -> tuple[Jacobian, FloatArray]:
            if whole is not None:
                return jacobian_of(some, places[:, some]), whole[:, some]
            terms = terms_of(some)
            return jacobian_of(some, terms.places), terms.score * weights[some]

        return weighted

    def replicated(self, weights: FloatArray) -> FloatArray:
        """(R, P') estimates with each column of replicate weights (N, R).

        Raises
        ------
        DataError
            A replicate gives no weight to the rows that determine a parameter.
        """
        return np.array(
            [
                self._replicate(column, number)
                for number, column in enumerate(self._used(weights).T, 1)
            ]
        )

    def _replicate(self, weights: FloatArray, number: int) -> FloatArray:
        """(P',) estimates with other weights, scaled to the same total so that a
        penalty keeps its meaning.
        """
        problem = self.problem
        penalty = self.estimation.penalty
        positive = weights > 0.0
        factor = problem.counts.sum() / weights[positive].sum()
        sample = replace(
            problem.sample.take(positive), weights=weights[positive] * factor
        )
        counts = np.bincount(
            sample.y, weights=sample.weights, minlength=sample.n_levels
        ).astype(np.float64)
        ridge = penalty is not None and penalty.determines
        fresh = Problem.of(
            sample, problem.family, problem.flexible, self.threshold, ridge=ridge
        )
        if not ridge and not identified(fresh).estimated.all():
            raise DataError(
                f"replicate {number} gives no weight to rows that the effects of the"
                " model need (perhaps one level of a factor), so they have no"
                " estimates. Leave out a column, or merge levels."
            )
        began = replace(self.estimation, start=tuple(self.estimates.tolist()))
        estimate = began.of(replace(problem, sample=sample, counts=counts, used=None))
        if (
            estimate.determined is not None
            or estimate.endless.any()
            or not estimate.optimum.converged
        ):
            raise DataError(
                f"replicate {number} has no finite estimates: its weights leave too few"
                " rows for the model. Take out a column, merge levels, or fit with"
                " penalty=."
            )
        return estimate.coefficients

    def bias_reduced(self, cluster: IntArray) -> BiasReduced:
        """Adjusted score sums of the clusters (N,), for their CR2 covariance."""
        return bias_reduced(self.problem, self.estimates, self._used(cluster))

    def score_statistic(self, sample: Sample, estimates: FloatArray) -> float:
        """Rao's statistic U' J^-1 U of a wider model, J its expected information; NaN
        if J is singular.

        The observed information, which the expected one approaches as rows become many,
        rejects true models of some hundred rows far too often: it serves where the
        expected one takes long.

        Parameters
        ----------
        sample : Sample
            The sample of the wider model, without aliased columns.
        estimates : (P',) of the model of the fit, in the parameters of the wider one
        """
        wider = identified(
            Problem.of(
                sample, self.problem.family, self.problem.flexible, self.threshold
            )
        )
        # thresholds of every group leave nothing for its scale
        if wider.n_parameters != len(estimates):
            return float("nan")
        x = wider.from_user(estimates)
        at = wider.evaluate(x)
        if at is None:
            return float("nan")
        products = float(sample.n) * sample.n_levels * x.size**2
        dense = (
            expected_information(wider, x)
            if products <= _EXPECTED
            else at.information.dense()
        )
        factor = None if dense is None else Blocks.of_dense(dense, x.size).factor()
        return (
            float("nan") if factor is None else float(factor.solve(at.score) @ at.score)
        )

    def profile(self) -> ProfileLikelihood:
        """The profile likelihood of the estimated parameters, penalised if
        the fit is.
        """
        problem = self.problem
        objective = self.estimation.objective(problem)
        x = problem.from_user(self.estimates)
        # predictors in the parameters
        linear = problem.sample.rows.scale is None and problem.flexible is None
        concave = linear and problem.family.concave and self.estimation.penalty is None
        return ProfileLikelihood(
            objective,
            problem.user,
            x,
            float(problem.counts.sum()),
            self.determined,
            concave,
            partial(at_other_lambdas, problem),
        )
