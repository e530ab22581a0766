"""Cumulative link models by maximum likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray, Progress
from ..exceptions import OptionError
from ..model.costs import CostField, CostMatrix
from ..model.cumulative import CumulativeRule
from ..model.fit import Certificate, Geometry, Information, LikelihoodFit, Trace
from ..model.links import LINKS, Link
from ..model.sample import Sample
from ..results.likelihood import LikelihoodResults
from ..solvers.meat import score_products
from ..solvers.newton import Optimum, maximise
from ..solvers.problem import Problem
from ..solvers.schur import condition_number
from ..solvers.separation import infinite_direction
from ..solvers.start import starting_values
from ..solvers.threads import one_blas_thread
from ..solvers.user_scale import InverseInformation, Unknown, in_order
from .base import Method, Needs

#: An information matrix that needed more damping than this is not that of a maximum.
_INDEFINITE = 1e-6


@dataclass(frozen=True, kw_only=True, repr=False)
class CumulativeLink(Method):
    """Maximum likelihood of P(y <= k | x) = F(s (theta_k(w) - x'beta - offset)).

    Location effects beta, and where the formula asks for them nominal effects (theta_k depends on w) and log-scale
    effects (s = exp(-z'zeta)) [McCullagh 1980; Agresti 2010, ch. 3-5; Christensen, ordinal]. Newton's method on the
    block information, see `solvers/newton.py`.

    Parameters
    ----------
    link : {"logit", "probit", "cloglog", "loglog", "cauchit"}
        The latent distribution F.
    cost : str or K x K matrix
        What predicted ranks minimise in expectation: "classification" gives the most probable rank, "absolute" the
        median rank; ties go to the lower rank. The estimates do not depend on it.
    max_iter : int
        Newton steps allowed.
    tol : float
        Largest absolute component of the score, on columns of unit deviation, at which a fit counts as converged.

    Raises
    ------
    OptionError
        An unknown link or cost, max_iter < 1, or tol that is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat.model.sample import Rows, Sample
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> sample = Sample(rows=Rows(X=X), y=np.array([0, 0, 1, 0, 1, 1]), n_levels=2)
    >>> fit = CumulativeLink().fit(sample, np.random.default_rng(0))
    >>> fit.coefficients.round(4), round(fit.loglik, 4)
    (array([3.0351, 1.214 ]), -2.478)
    """

    link: str = "logit"
    cost: CostField = "classification"
    max_iter: int = 100
    tol: float = 1e-6

    needs: ClassVar[Needs] = Needs(nominal=True, scale=True, offset=True, cluster=True)
    results_class: ClassVar[type[Any]] = LikelihoodResults

    def __post_init__(self) -> None:
        if not isinstance(self.link, str) or self.link not in LINKS:
            raise OptionError(f"link must be one of {', '.join(LINKS)}; got {self.link!r}.")
        object.__setattr__(self, "cost", CostMatrix.parse(self.cost).value)
        if isinstance(self.max_iter, bool) or not isinstance(self.max_iter, (int, np.integer)) or self.max_iter < 1:
            raise OptionError(f"max_iter must be a whole number, 1 or more; got {self.max_iter!r}.")
        if not isinstance(self.tol, (int, float, np.number)) or not 0.0 < self.tol < math.inf:
            raise OptionError(f"tol must be a positive number; got {self.tol!r}.")

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> LikelihoodFit:
        with one_blas_thread(float(sample.n) * sample.X.shape[1] ** 2):
            return self._fit(sample)

    def _fit(self, sample: Sample) -> LikelihoodFit:
        cost = CostMatrix(self.cost)
        if not isinstance(cost.value, str):
            cost.matrix(sample.n_levels)  # raises where its size is not K x K
        problem = Problem.of(sample, LINKS[self.link])
        optimum = self._maximise(problem)
        layout = _Layout.of(problem)
        user = problem.user_scale()
        alpha, rest = user.coefficients(optimum.alpha, optimum.rest)
        rule = layout.rule(alpha, rest, LINKS[self.link], cost)
        information = _information(problem, optimum)
        digits = _digits(problem, optimum, information)
        direction = infinite_direction(problem, optimum)
        return LikelihoodFit(
            rule=rule,
            certificate=_certificate(optimum, digits),
            trace=Trace(iterations=optimum.iterations, objective=optimum.logliks, message=optimum.message),
            scores=rule.scores(sample.rows),
            facts=(("link", self.link), ("threshold", "flexible"), *_crossings(rule, sample)),
            coefficients=layout.spread(in_order(alpha, rest)),
            n_alpha=layout.n_alpha,
            n_beta=layout.n_beta,
            n_zeta=layout.n_zeta,
            aliased=~layout.estimated,
            information=information,
            digits=layout.spread(digits),
            loglik=optimum.at.loglik,
            null_loglik=self._null_loglik(problem),
            n_obs=float(problem.counts.sum()),
            separation=None if direction is None else np.nan_to_num(layout.spread(direction)),
        )

    def _maximise(self, problem: Problem) -> Optimum:
        return maximise(
            problem.objective().evaluate,
            *starting_values(problem),
            tol=self.tol,
            max_iter=self.max_iter,
            total_weight=float(problem.counts.sum()),
        )

    def _null_loglik(self, problem: Problem) -> float:
        """With thresholds and offsets alone; in closed form where there are no offsets."""
        rows = problem.sample.rows
        if rows.offset is None and rows.scale_offset is None:
            return float(problem.counts @ np.log(problem.counts / problem.counts.sum()))
        return self._maximise(problem.without_effects()).at.loglik

    def geometry(self, sample: Sample, fit: LikelihoodFit) -> Geometry | None:  # type: ignore[override]
        """Linear kernel on the columns centred and divided by their deviation; None with other parts or an offset."""
        rows, rule = sample.rows, fit.rule
        parts = (rows.nominal, rows.scale, rows.offset, rows.scale_offset)
        if any(part is not None for part in parts) or not isinstance(rule, CumulativeRule):
            return None
        mean = np.average(rows.X, axis=0, weights=sample.case_weights)
        deviation = np.sqrt(np.average((rows.X - mean) ** 2, axis=0, weights=sample.case_weights))
        used = (rule.beta != 0.0) & (deviation > 0.0)
        scaled = (rows.X[:, used] - mean[used]) / deviation[used]
        lengths = np.einsum("np,np->n", scaled, scaled)
        return Geometry(
            norm=float(np.linalg.norm(rule.beta[used] * deviation[used])),
            squared_lengths=lengths,
            theta=rule.alpha[:, 0] - float(mean @ rule.beta),
            # The mean squared length of standardised columns: known before the data are, as the bounds require.
            radius=math.sqrt(rows.X.shape[1] + 1.0),
        )

    def meat(self, sample: Sample, fit: LikelihoodFit, cluster: IntArray | None) -> FloatArray:
        """(P', P') sum of outer products of score rows over the estimated parameters, the filling of a sandwich.

        Parameters
        ----------
        sample : Sample
            The one fitted to.
        fit : LikelihoodFit
        cluster : (N,) codes or None
            Scores are summed within clusters first; None takes each row (each of its copies, by its weight) alone.
        """
        problem = Problem.of(replace(sample, cluster=cluster), LINKS[self.link])
        return score_products(problem, fit.coefficients[~fit.aliased])


@dataclass(frozen=True, eq=False, kw_only=True)
class _Layout:
    """Which of the user's parameters were estimated, and where they go.

    A threshold beside a level without rows is not a parameter of its own: it is -inf or +inf at the ends, and equal
    to the next one inside; the rule uses that value, `coefficients` show NaN.
    """

    present: BoolArray
    nominal: BoolArray
    location: BoolArray
    scale: BoolArray

    @classmethod
    def of(cls, problem: Problem) -> _Layout:
        kept = problem.location.kept, problem.nominal.kept, problem.scale.kept
        return cls(present=problem.present, location=kept[0], nominal=kept[1], scale=kept[2])

    @property
    def n_alpha(self) -> int:
        return (self.present.size - 1) * (1 + self.nominal.size)

    @property
    def n_beta(self) -> int:
        return int(self.location.size)

    @property
    def n_zeta(self) -> int:
        return int(self.scale.size)

    @property
    def _thresholds(self) -> BoolArray:
        """(K-1,) thresholds that end a level with rows and have rows above."""
        later = np.cumsum(self.present[::-1])[::-1]
        return self.present[:-1] & (later[1:] > 0)

    @property
    def estimated(self) -> BoolArray:
        """(P,) parameters that are not aliased."""
        columns = np.concatenate([[True], self.nominal])
        alpha = columns[:, None] & self._thresholds
        return np.concatenate([alpha.reshape(-1), self.location, self.scale])

    def spread(self, values: FloatArray) -> FloatArray:
        """(P,) with NaN where not estimated."""
        out = np.full(self.estimated.size, np.nan)
        out[self.estimated] = values
        return out

    def rule(self, alpha: FloatArray, rest: FloatArray, link: Link, cost: CostMatrix) -> CumulativeRule:
        """The rule over all K levels and all columns, aliased effects 0."""
        full = np.zeros((self.present.size - 1, 1 + self.nominal.size))
        kept = np.concatenate([[True], self.nominal])
        below = np.cumsum(self.present)[:-1]  # levels with rows up to each threshold
        inner = (below > 0) & (below < self.present.sum())
        full[np.ix_(inner, kept)] = alpha[below[inner] - 1]
        full[below == 0, 0], full[below == self.present.sum(), 0] = -np.inf, np.inf
        beta, zeta = np.zeros(self.n_beta), np.zeros(self.n_zeta)
        beta[self.location] = rest[: int(self.location.sum())]
        zeta[self.scale] = rest[int(self.location.sum()) :]
        return CumulativeRule(link=link, alpha=full, beta=beta, zeta=zeta, cost=cost)


def _digits(problem: Problem, optimum: Optimum, information: Information) -> FloatArray:
    """(P',) correct significant digits of each estimate, at most 15: from the Newton step left over and rounding.

    An estimate smaller than its standard error is measured against that.
    """
    user = problem.user_scale()
    estimate = in_order(*user.coefficients(optimum.alpha, optimum.rest))
    step = in_order(*user.coefficients(optimum.step_alpha, optimum.step_rest))
    error = np.abs(step) + in_order(*user.rounding(optimum.alpha, optimum.rest))
    size = np.fmax(np.abs(estimate), np.sqrt(information.variances()))
    return np.asarray(np.clip(np.floor(-np.log10(np.maximum(error / size, 1e-16))), 0.0, 15.0))


def _certificate(optimum: Optimum, digits: FloatArray) -> Certificate:
    return Certificate(
        name="max |gradient|",
        value=optimum.at.largest_score,
        tolerance=optimum.tolerance,
        details=(
            ("condition number", condition_number(optimum.information, optimum.factor)),
            ("iterations", optimum.iterations),
            ("correct digits", int(digits.min())),
        ),
    )


def _information(problem: Problem, optimum: Optimum) -> Information:
    if optimum.damping > _INDEFINITE:
        return Unknown(optimum.alpha.size + optimum.rest.size)
    return InverseInformation(shape=optimum.alpha.shape, factor=optimum.factor, user=problem.user_scale())


def _crossings(rule: CumulativeRule, sample: Sample) -> tuple[tuple[str, Any], ...]:
    """A fact where nominal effects put the thresholds of some rows out of order, so that a probability is negative."""
    if sample.rows.nominal is None:
        return ()
    theta = rule.thresholds(sample.rows)
    crossed = int(np.count_nonzero((theta[:, 1:] < theta[:, :-1]).any(axis=1)))
    return (("rows with thresholds out of order", crossed),) if crossed else ()
