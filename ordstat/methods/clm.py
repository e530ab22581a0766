"""Cumulative link models by maximum likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..checks import number, one_spelled, whole
from ..exceptions import OptionError
from ..model.costs import CostField, CostMatrix
from ..model.fit import BallGeometry, Certificate, Geometry, Information, LikelihoodFit, Trace
from ..model.likelihood.cumulative import CumulativeRule
from ..model.likelihood.flexible import FlexibleLink, link_of
from ..model.likelihood.links import Link
from ..model.likelihood.thresholds import THRESHOLDS
from ..model.sample import Sample
from ..results.likelihood.results import LikelihoodResults
from ..solvers.likelihood.blocks import condition_number
from ..solvers.likelihood.column_rank import survey
from ..solvers.likelihood.estimate import Estimate, Estimation
from ..solvers.likelihood.flexible_profile import FlexibleProfile
from ..solvers.likelihood.layout import Layout
from ..solvers.likelihood.newton import Optimum
from ..solvers.likelihood.problem import Problem
from ..solvers.likelihood.profile import ProfileLikelihood
from ..solvers.likelihood.sandwich import score_products
from ..solvers.likelihood.score_test import score_statistic
from ..solvers.likelihood.user_scale import in_order
from ..solvers.threads import one_blas_thread
from .base import Method, Needs

#: Rows scaled at once: they stay in cache.
_CHUNK = 4096


@dataclass(frozen=True, kw_only=True, repr=False)
class CumulativeLink(Method):
    """Maximum likelihood of P(y <= k | x) = F(s (theta_k(w) - x'beta - offset)).

    Location effects beta, and where the formula asks for them nominal effects (theta_k depends on w) and log-scale
    effects (s = exp(-z'zeta)) [McCullagh 1980; Agresti 2010, ch. 3-5; Christensen, ordinal]. Newton's method on the
    block information, see `solvers/likelihood/newton.py`.

    Parameters
    ----------
    link : {"logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz", "log-gamma"} or (name, lambda)
        The latent distribution F. The last two have a parameter lambda, which is estimated unless it is given, as in
        ("log-gamma", 0.5); see `model/likelihood/flexible.py`.
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"}
        Structure of the thresholds: each free; symmetric about a free middle; symmetric about 0; equally spaced.
    penalty : float, "jeffreys" or None
        A number w > 0 subtracts w/2 times the sum of squared effects (location, nominal, log-scale), each per standard
        deviation of its column: ridge. "jeffreys" adds half the log determinant of the expected information, which
        keeps estimates finite under separation (Firth's bias reduction where K = 2 and the link is logit). Standard
        errors come from the penalised, or the expected, information; the log-likelihood shown is without the penalty.
    start : sequence of float, optional
        Where Newton's method begins: one value for every estimated parameter, in the order of `params`. By default the
        cumulative shares, and no effects; where the likelihood may have several maxima (cauchit, scale effects), the
        best of the fits that models nearby lead to, see `solvers/likelihood/start.py`.
    cost : str or K x K matrix
        What predicted ranks minimise in expectation: "classification" gives the most probable rank, "absolute" the
        median rank; ties go to the lower rank. The estimates do not depend on it.
    max_iter : int
        Newton steps allowed, in the search for a start too.
    tol : float
        Largest absolute component of the score, on columns of unit deviation, at which a fit counts as converged.

    Raises
    ------
    OptionError
        An unknown link, threshold, penalty or cost, max_iter < 1, tol that is not positive, start of the wrong length
        or outside the domain, or "jeffreys" with a parameter lambda to estimate or nominal effects.

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

    link: str | tuple[str, float] = "logit"
    threshold: str = "flexible"
    penalty: float | str | None = None
    start: tuple[float, ...] | None = None
    cost: CostField = "classification"
    max_iter: int = 100
    tol: float = 1e-6

    needs: ClassVar[Needs] = Needs(nominal=True, scale=True, offset=True, cluster=True, absent_levels=True)
    results_class: ClassVar[type[Any]] = LikelihoodResults
    likelihood: ClassVar[bool] = True

    def __post_init__(self) -> None:
        latent = self._latent()
        self._settle(
            link=latent.name if isinstance(latent, FlexibleLink) or latent.lam is None else (latent.name, latent.lam),
            threshold=one_spelled("threshold", self.threshold, THRESHOLDS),
            penalty=_checked_penalty(self.penalty, latent),
            start=_checked_start(self.start),
            cost=CostMatrix.parse(self.cost).value,
            max_iter=whole("max_iter", self.max_iter, 1, of=self),
            tol=number("tol", self.tol, above=0.0, of=self),
        )

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> LikelihoodFit:
        self.check(sample)
        with one_blas_thread(float(sample.n) * sample.X.shape[1] ** 2):
            return self._fit(sample)

    def _latent(self) -> Link | FlexibleLink:
        """The link, or the family of links whose parameter is estimated."""
        if isinstance(self.link, (tuple, list)) and len(self.link) == 2:
            return link_of(*self.link)
        return link_of(self.link, None)

    @property
    def _estimation(self) -> Estimation:
        return Estimation(penalty=self.penalty, start=self.start, tol=self.tol, max_iter=self.max_iter)

    def _problem(self, sample: Sample) -> Problem:
        return Problem.of(sample, self._latent(), self.threshold)

    def _fit(self, sample: Sample) -> LikelihoodFit:
        cost = self.cost_matrix
        if not isinstance(cost.value, str):
            cost.matrix(sample.n_levels)  # raises where its size is not K x K
        problem = self._problem(sample)
        found = self._estimation.of(problem)
        optimum, layout, link = found.optimum, Layout.of(problem), found.link
        alpha, rest = problem.user_scale().coefficients(optimum.alpha, found.rest)
        rule = layout.rule(alpha, rest, link, cost)
        direction = None if self.penalty is not None else found.infinite_direction()
        information = found.information(direction)
        digits = _digits(problem, found, information)
        loglik, null = found.loglik(), self._estimation.null_loglik(problem)
        return LikelihoodFit(
            rule=rule,
            certificate=_certificate(optimum, digits),
            trace=Trace(iterations=optimum.iterations, objective=optimum.logliks, message=found.message),
            scores=rule.scores(sample.rows),
            facts=(*self._facts(), *_crossings(rule, sample)),
            coefficients=layout.spread(in_order(alpha, rest)),
            n_alpha=layout.n_alpha,
            n_beta=layout.n_beta,
            n_zeta=layout.n_zeta,
            n_lambda=layout.n_lambda,
            aliased=~layout.estimated,
            information=information,
            digits=layout.spread(digits),
            loglik=loglik,
            null_loglik=null,
            null_edf=problem.without_effects().n_parameters,
            n_obs=float(problem.counts.sum()),
            beyond=found.start.beyond if found.start.beyond is not None and found.start.beyond > loglik else None,
            separation=None if direction is None else np.nan_to_num(layout.spread(direction)),
            threshold_names=() if layout.structure is None else layout.structure.names,
            jacobian=layout.jacobian,
            confounded=layout.confounded(problem.confounded),
            lambda_end=found.lambda_end,
        )

    def _facts(self) -> tuple[tuple[str, Any], ...]:
        link = self.link if isinstance(self.link, str) else f"{self.link[0]}, lambda = {self.link[1]:g}"
        facts: tuple[tuple[str, Any], ...] = (("link", link), ("threshold", self.threshold))
        if self.penalty is None:
            return facts
        text = self.penalty if isinstance(self.penalty, str) else f"ridge, {self.penalty:g}"
        return (*facts, ("penalty", text))

    def geometry(self, sample: Sample, fit: LikelihoodFit) -> Geometry | None:  # type: ignore[override]
        """Linear kernel on the columns centred and divided by their deviation; None with other parts or an offset."""
        rows, rule = sample.rows, fit.rule
        parts = (rows.nominal, rows.scale, rows.offset, rows.scale_offset)
        if any(part is not None for part in parts) or not isinstance(rule, CumulativeRule):
            return None
        found = survey(rows.X, sample.weights)
        mean, deviation = found.mean, found.deviation
        used = (rule.beta != 0.0) & found.kept
        lengths = np.empty(sample.n)
        for some in (slice(start, start + _CHUNK) for start in range(0, sample.n, _CHUNK)):
            scaled = (rows.X[some, used] - mean[used]) / deviation[used]
            lengths[some] = np.einsum("np,np->n", scaled, scaled)
        return BallGeometry(
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
        return score_products(self._problem(replace(sample, cluster=cluster)), fit.coefficients[~fit.aliased])

    def score_statistic(self, sample: Sample, estimates: FloatArray) -> float:
        """Rao's statistic of this model at estimates (P',) of a smaller one; see `solvers/likelihood/score_test.py`."""
        return score_statistic(self._problem(sample), estimates)

    def profiler(self, sample: Sample, fit: LikelihoodFit) -> ProfileLikelihood | FlexibleProfile:
        """The profile likelihood of the estimated parameters, penalised where the fit is."""
        problem, estimated = self._problem(sample), ~fit.aliased
        separation = None if fit.separation is None else fit.separation[estimated]
        start = problem.from_user(fit.coefficients[estimated])
        if problem.family is None:
            return self._profile(problem, start, separation)
        joint = None if fit.lambda_end else self._profile(problem, start, separation)
        error = float(np.sqrt(fit.information.variances()[-1]))
        return FlexibleProfile(problem, start, joint, fit.lambda_end, error)

    def _profile(
        self, problem: Problem, start: tuple[FloatArray, FloatArray], separation: FloatArray | None
    ) -> ProfileLikelihood:
        return ProfileLikelihood.of(
            self._estimation.objective(problem).evaluate, problem.user_scale(), start, separation
        )


def _digits(problem: Problem, found: Estimate, information: Information) -> FloatArray:
    """(P',) correct significant digits of each estimate, at most 15: from the Newton step left over and rounding.

    An estimate smaller than its standard error is measured against that.
    """
    user, optimum = problem.user_scale(), found.optimum
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a fit that has run off has none
        estimate = in_order(*user.coefficients(optimum.alpha, found.rest))
        step = in_order(*user.coefficients(optimum.step_alpha, found.step_rest))
        error = np.abs(step) + in_order(*user.rounding(optimum.alpha, found.rest))
        size = np.fmax(np.abs(estimate), np.sqrt(information.variances()))
        digits = np.floor(-np.log10(np.maximum(error / size, 1e-16)))
    return np.asarray(np.clip(np.nan_to_num(digits, nan=0.0), 0.0, 15.0))


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


def _checked_penalty(given: Any, link: Link | FlexibleLink) -> float | str | None:
    if given is None:
        return None
    if isinstance(given, str) and given.lower() == "jeffreys":
        if isinstance(link, FlexibleLink):
            raise OptionError(
                f"penalty='jeffreys' needs a link without a parameter to estimate: give it as in ({link.name!r}, 0.5), "
                "choose another link, or a ridge penalty."
            )
        return "jeffreys"
    return number("penalty", given, above=0.0, also=" (ridge), 'jeffreys' or None")


def _checked_start(given: Any) -> tuple[float, ...] | None:
    if given is None:
        return None
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.ndim != 1 or not np.all(np.isfinite(values)):
        raise OptionError(f"start must be a sequence of finite numbers; got {given!r}.")
    return tuple(values.tolist())


def _crossings(rule: CumulativeRule, sample: Sample) -> tuple[tuple[str, Any], ...]:
    """A fact where nominal effects put the thresholds of some rows out of order, so that a probability is negative."""
    if sample.rows.nominal is None:
        return ()
    theta = rule.thresholds(sample.rows)
    crossed = int(np.count_nonzero((theta[:, 1:] < theta[:, :-1]).any(axis=1)))
    return (("rows with thresholds out of order", crossed),) if crossed else ()
