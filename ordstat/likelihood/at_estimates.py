"""The likelihood of a fit at its estimates, for sandwiches, CR2, replicate weights,
score tests and profiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..exceptions import DataError
from ..formula.row_blocks import row_blocks, sums_by
from ..formula.sample import Sample
from ..newton import Blocks
from .estimate import Estimation
from .identification import identified
from .penalty import expected_information
from .predictor import Jacobian, lowest_and_highest
from .problem import Problem
from .scores import RowScores
from .start import other_branches
from .threshold_structure import Structure

if TYPE_CHECKING:
    from .cr2 import BiasReduced
    from .determined import Determined
    from .profile import ProfileLikelihood

#: Doubles held at once for the scores of some rows, which stay in the cache.
_BUFFER = 1 << 17
#: Most products in an expected information, about a second.
_EXPECTED = 4e9


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
        What the data determine; None if every estimate is finite.
    searched : (P',) or None
        If spreads diverge, where the search ended, in the solver's coordinates.
    """

    estimation: Estimation
    problem: Problem
    threshold: Structure
    estimates: FloatArray
    determined: Determined | None
    searched: FloatArray | None = None

    def _used(self, values: AnyArray) -> Any:
        """The values of the rows with a positive weight."""
        return values if self.problem.used is None else values[self.problem.used]

    def rounding(self) -> FloatArray:
        """(P',) rounding errors of the estimates."""
        user = self.problem.user
        return user.rounding(user.coordinates(self.estimates))

    def score_products(
        self, cluster: IntArray | None, bread: FloatArray | None = None
    ) -> FloatArray:
        """(P', P') sum of U U' over clusters (N,), or over rows (v U U' for a row of
        weight v) without them.

        With a symmetric matrix `bread` U is bread times the score: products of scores
        alone lose the digits of small variances.
        """
        if bread is None:
            bread = np.eye(self.estimates.size)
        if cluster is not None:
            totals = self.score_totals(cluster, int(cluster.max()) + 1) @ bread
            return totals.T @ totals
        sample = self.problem.sample
        scores_of = self._weighted_scores()
        total = np.zeros((self.estimates.size, self.estimates.size))
        for some in row_blocks(sample.n, self.estimates.size, _BUFFER):
            jacobian, scores = scores_of(some)
            of_rows = jacobian.transposed(scores) @ bread
            of_cases = jacobian.transposed(scores / sample.case_weights[some]) @ bread
            total += of_rows.T @ of_cases
        return total

    def scores_along(self, moves: FloatArray, cluster: IntArray | None) -> FloatArray:
        """(G, h) slopes of the log-likelihood of each cluster (N,) along moves (P', h);
        without clusters (n, h) those of one case of each row, times the root of its
        weight.
        """
        sample = self.problem.sample
        slopes = self._slopes_along(moves)
        if cluster is None:
            return slopes / np.sqrt(sample.case_weights)[:, None]
        return sums_by(self._used(cluster), slopes, int(cluster.max()) + 1)

    def _slopes_along(self, moves: FloatArray) -> FloatArray:
        """(n, h) slopes of the weighted log-likelihood of each row along moves."""
        n = self.problem.sample.n
        scores_of = self._weighted_scores()
        slopes = np.empty((n, moves.shape[1]))
        for some in row_blocks(n, moves.shape[1], _BUFFER):
            jacobian, scores = scores_of(some)
            slopes[some] = np.einsum("mn,nmh->nh", scores, jacobian.apply(moves))
        return slopes

    def score_products_times(
        self, moves: FloatArray, cluster: IntArray | None
    ) -> FloatArray:
        """(P', h) `score_products` times moves (P', h), without forming them."""
        factors = self._slopes_along(moves)
        if cluster is None:
            factors = factors / self.problem.sample.case_weights[:, None]
        else:
            codes = self._used(cluster)
            factors = sums_by(codes, factors, int(cluster.max()) + 1)[codes]
        jacobian, scores = self._weighted_scores()(slice(None))
        return np.stack(
            [jacobian.total(scores * column) for column in factors.T], axis=-1
        )

    def score_totals(self, codes: IntArray, n_groups: int) -> FloatArray:
        """(G, P') weighted scores summed over the rows of each code 0..G-1; 0 where a
        code has no row.
        """
        codes = self._used(codes)
        scores_of = self._weighted_scores()
        total = np.zeros((n_groups, self.estimates.size))
        for some in row_blocks(
            codes.size, self.estimates.size, max(_BUFFER, total.size)
        ):
            jacobian, scores = scores_of(some)
            total += jacobian.totals(scores, codes[some], n_groups)
        return total

    def _weighted_scores(self) -> Callable[[slice], tuple[Jacobian, FloatArray]]:
        """A function of some rows: the Jacobian of their predictors, and derivatives of
        their log-probabilities by these, times their weights.
        """
        problem = self.problem
        answers = problem.sample.answers
        lowest, highest = lowest_and_highest(answers)
        weights = problem.sample.case_weights
        rows = RowScores.of(problem, self.estimates)
        found = problem.rows.scores(problem.full(problem.from_user(self.estimates)))
        compiled = None if found is None else found[1]
        last = problem.sample.n_levels - 2
        ends = np.stack([np.minimum(highest, last), np.maximum(lowest - 1, 0)])

        def weighted(some: slice) -> tuple[Jacobian, FloatArray]:
            if compiled is not None:
                return rows.jacobian(some, ends[:, some]), compiled[:, some]
            terms = rows.terms(some, answers[..., some])
            return rows.jacobian(some, terms.places), terms.score * weights[some]

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
        counts = sample.counts()
        ridge = penalty is not None and penalty.determines
        fresh = type(problem).of(
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
            or estimate.diverging.any()
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
        from .cr2 import bias_reduced

        return bias_reduced(self.problem, self.estimates, self._used(cluster))

    def score_statistic(self, sample: Sample, estimates: FloatArray) -> float:
        """Rao's statistic U' J^-1 U of a wider model, J its expected information; NaN
        if J is singular.

        With the observed information the test rejects true models of some hundred rows
        far too often. It is used only for many rows, where the expected information
        takes long and the two are close.

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
        if products <= _EXPECTED:
            dense = expected_information(wider, x)
        else:
            dense = at.information.dense()
        factor = None if dense is None else Blocks.of_dense(dense, x.size).factor()
        if factor is None:
            return float("nan")
        return float(factor.solve(at.score) @ at.score)

    def profile(self) -> ProfileLikelihood:
        """The profile likelihood of the estimated parameters, penalised if
        the fit is.
        """
        from .profile import ProfileLikelihood

        problem = self.problem
        objective = self.estimation.objective(problem)
        x = self.searched  # at the limit of spreads nothing can be followed
        if x is None:
            x = problem.from_user(self.estimates)
        # predictors in the parameters
        linear = problem.linear and problem.sample.rows.scale is None
        linear = linear and problem.flexible is None
        concave = linear and problem.family.concave and self.estimation.penalty is None
        return ProfileLikelihood(
            objective,
            problem.user,
            x,
            float(problem.counts.sum()),
            self.determined,
            concave,
            partial(other_branches, problem),
        )
