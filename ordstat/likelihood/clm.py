"""Cumulative link, adjacent-category and sequential models by maximum likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from .._typing import Progress
from ..checks import number, one_of, one_spelled, require_memory, whole
from ..exceptions import DataError, OptionError
from ..fit import Certificate, Trace
from ..formula.sample import CACHED, Sample, row_blocks, total_of
from ..judging.costs import CostField
from ..judging.geometry import BallGeometry, Geometry
from ..method import AGRESTI, Method, Needs, cost_option, option
from ..mixed.method import (
    MOST_NODES,
    RANDOM_PENALTIES,
    ForNewGroups,
    check_random,
    with_random_effects,
)
from ..threads import one_blas_thread
from .adjacent import Adjacent
from .columns import Columns, survey
from .covariance import LikelihoodAtEstimates
from .cumulative import Cumulative
from .estimate import Estimate, Estimation, running
from .family import Family
from .fit import LikelihoodFit
from .flexible import FlexibleLink, link_of
from .links import Link
from .penalty import Jeffreys, Penalty, Ridge
from .predictor import THRESHOLDS
from .problem import Problem
from .results import LikelihoodResults
from .rule import LikelihoodRule
from .separation import identified
from .sequential import ContinuationRatio, Sequential, StoppingRatio

#: Penalties by name; a number is a ridge.
PENALTIES: dict[str, Penalty] = {"jeffreys": Jeffreys()}

#: The information matrix of more columns takes minutes for each step of Newton's
#: method.
_MOST_COLUMNS = 5_000


def _checked_start(name: str, value: Any, of: Any) -> tuple[float, ...] | None:
    if value is None:
        return None
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.ndim != 1 or not np.all(np.isfinite(values)):
        raise OptionError(
            f"start must be a sequence of finite numbers; got {value!r}. Give one for"
            " each estimated parameter."
        )
    return tuple(values.tolist())


@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalRegression(Method):
    """Maximum likelihood under a family: location, nominal and log-scale effects, a
    link, threshold structures.

    A concrete class names its `family`; its docstring lists the options.
    """

    link: str | tuple[str, float] = "logit"
    threshold: str = option(
        "flexible", lambda name, value, of: one_spelled(name, value, THRESHOLDS)
    )
    penalty: float | str | None = None
    start: tuple[float, ...] | None = option(None, _checked_start)
    cost: CostField = cost_option("classification")
    max_iter: int = option(100, whole, 1)
    tol: float = option(1e-6, number, above=0.0, most=1.0)
    quadrature: int = option(1, whole, 1, MOST_NODES)
    random_penalty: str | None = option(None, one_of, RANDOM_PENALTIES)

    family: ClassVar[type[Family]]
    needs: ClassVar[Needs] = Needs(
        nominal=True,
        scale=True,
        random=True,
        offset=True,
        cluster=True,
        absent_levels=True,
    )
    results_class: ClassVar[type[Any]] = LikelihoodResults
    likelihood: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        latent = self._latent()
        link = (
            latent.name
            if isinstance(latent, FlexibleLink) or latent.lam is None
            else (latent.name, latent.lam)
        )
        self._settle(link=link, penalty=self._checked_penalty(latent))

    def check(self, sample: Sample) -> None:
        super().check(sample)
        if sample.X.shape[1] > _MOST_COLUMNS:
            raise DataError(
                f"{type(self).__name__} takes at most {_MOST_COLUMNS:,} columns; got"
                f" {sample.X.shape[1]:,}. Choose fewer columns, or a kernel method such"
                " as 'redsvm'."
            )
        free = self.link if isinstance(self._latent(), FlexibleLink) else None
        check_random(
            sample,
            self.random_penalty,
            self.quadrature,
            **{
                "penalty=": self.penalty,
                "start=": self.start,
                "a free parameter of link=": free,
            },
        )

    def check_memory(self, sample: Sample) -> None:
        """Sums over rows have a number for each threshold, and pairs of thresholds
        where these are not neighbours.
        """
        if self.family.local and sample.rows.random is None:
            return
        what = f"The information of {sample.n_levels} levels"
        require_memory(
            what,
            8.0 * sample.n_levels**2,
            "Join levels, or fit a cumulative model, method='clm'.",
        )

    def results_for(self, sample: Sample) -> type[Any]:
        if sample.rows.random is None:
            return self.results_class
        from ..mixed.results import MixedResults

        return MixedResults

    def for_new_groups(self) -> ForNewGroups:
        """The method whose fits predict averages over the random effects."""
        return ForNewGroups(cast(Any, self))

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> LikelihoodFit:
        self.check(sample)
        with one_blas_thread(float(sample.n) * sample.X.shape[1] ** 2):
            return self.maximum(sample, self.problem(sample))

    @property
    def refuses_crossing(self) -> bool:
        """Whether rows with thresholds out of order are an error, rather than a
        warning.
        """
        return False

    @property
    def ridge(self) -> bool:
        """Whether a penalty determines effects that the data do not."""
        penalty = _penalty(self.penalty)
        return penalty is not None and penalty.determines

    def without_random_effects(self) -> Self:
        """The method without the options of random effects."""
        return replace(self, quadrature=1, random_penalty=None)

    def _latent(self) -> Link | FlexibleLink:
        """The link, or the family of links whose parameter is estimated."""
        if isinstance(self.link, (tuple, list)) and len(self.link) == 2:
            return link_of(*self.link)
        return link_of(self.link, None)

    def family_at(self, link: Link) -> Family:
        """The family at a link."""
        return self.family(link)

    def problem(
        self, sample: Sample, columns: tuple[Columns, Columns] | None = None
    ) -> Problem:
        """What is maximised; `columns` as in `Problem.of`."""
        latent = self._latent()
        link, flexible = (
            (latent.at(latent.start), latent)
            if isinstance(latent, FlexibleLink)
            else (latent, None)
        )
        return Problem.of(
            sample, self.family_at(link), flexible, self.threshold, columns, self.ridge
        )

    def maximum(self, sample: Sample, problem: Problem) -> LikelihoodFit:
        """The fit that maximises a problem of a sample."""
        cost = self.cost_matrix
        if not isinstance(cost.value, str):
            cost.matrix(sample.n_levels)  # raises where its size is not K x K
        by = Estimation(
            penalty=_penalty(self.penalty),
            start=self.start,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        estimate = by.of(identified(problem, self.ridge))
        problem = estimate.problem
        structure = problem.structure
        n_beta = problem.location.kept.size
        n_zeta = problem.scale.kept.size
        fields = {  # random effects do not change these
            "facts": self._facts(),
            "n_alpha": problem.estimated.size - n_beta - n_zeta - problem.n_lambda,
            "n_beta": n_beta,
            "n_zeta": n_zeta,
            "n_lambda": problem.n_lambda,
            "aliased": ~problem.estimated,
            "null_loglik": estimate.by.null_loglik(problem),
            "null_edf": problem.user.c.size + int(problem.flexible is not None),
            "n_obs": total_of(problem.counts),
            "determined": estimate.determined,
            "threshold_names": () if structure is None else structure.names,
            "jacobian": (
                None
                if structure is None
                else problem.over_levels(structure.jacobian, 0.0)
            ),
            "confounded": problem.confounded,
        }
        if sample.rows.random is None:
            return self._independent(sample, estimate, fields)
        options = self.quadrature, self.max_iter, self.random_penalty
        return with_random_effects(sample, estimate, cost, *options, fields)

    def _independent(
        self, sample: Sample, estimate: Estimate, fields: dict[str, Any]
    ) -> LikelihoodFit:
        """The fit of independent rows."""
        problem = estimate.problem
        optimum = estimate.optimum
        coefficients = estimate.coefficients
        rule = problem.rule(coefficients, estimate.family, self.cost_matrix)
        information = estimate.information()
        digits = estimate.digits(information)
        iterations = optimum.logliks.size - 1
        rise = estimate.start.rise
        higher = estimate.start.higher
        rising = None
        # log-scale effects that move on that path, or else all parameters
        if higher is not None:
            moving = running(problem, higher)
            rising = (
                problem.spread((moving | (not moving.any())).astype(np.float64)) == 1.0
            )
        return LikelihoodFit(
            **fields,
            rule=rule,
            certificate=Certificate(
                name="max |gradient|",
                value=estimate.residual,
                tolerance=optimum.tolerance,
                details=(
                    ("condition number", optimum.information.condition_number()),
                    ("iterations", iterations),
                    ("correct digits", int(digits.min())),
                    *(
                        []
                        if higher is None
                        else [("log-likelihood elsewhere, higher by", rise)]
                    ),
                ),
            ),
            trace=Trace(
                iterations=iterations,
                objective=optimum.logliks,
                message=optimum.message,
            ),
            scores=rule.scores(sample.rows),
            coefficients=problem.spread(coefficients),
            information=information,
            digits=problem.spread(digits),
            loglik=estimate.loglik(),
            rise=rise,
            rising=rising,
            likelihood=LikelihoodAtEstimates(
                estimation=estimate.by,
                problem=replace(problem),  # without cached values
                threshold=self.threshold,
                estimates=coefficients,
                determined=estimate.determined,
            ),
        )

    def _checked_penalty(self, latent: Link | FlexibleLink) -> float | str | None:
        penalty = _penalty(self.penalty)
        if isinstance(penalty, Jeffreys) and isinstance(latent, FlexibleLink):
            raise OptionError(
                "penalty='jeffreys' needs a link without a parameter to estimate: give"
                f" it as in ({latent.name!r}, 0.5), choose another link, or a ridge"
                " penalty."
            )
        if isinstance(penalty, Jeffreys) and not self.family.local:
            raise OptionError(
                "penalty='jeffreys' must go with a cumulative link model; got"
                f" {type(self).__name__}. Use a ridge penalty, such as penalty=1.0."
            )
        return (
            penalty.weight
            if isinstance(penalty, Ridge)
            else None
            if penalty is None
            else penalty.text
        )

    def _facts(self) -> tuple[tuple[str, Any], ...]:
        link = (
            self.link
            if isinstance(self.link, str)
            else f"{self.link[0]}, lambda = {self.link[1]:g}"
        )
        facts: tuple[tuple[str, Any], ...] = (
            ("link", link),
            ("threshold", self.threshold),
        )
        penalty = _penalty(self.penalty)
        return facts if penalty is None else (*facts, ("penalty", penalty.text))

    def geometry(self, sample: Sample, fit: LikelihoodFit) -> Geometry | None:  # type: ignore[override]
        """Linear kernel on the columns centred and divided by their deviation; None
        with other effects or an offset.
        """
        rows = sample.rows
        rule = fit.rule
        plain = rows.one_scale and rows.offset is None and self.family.ordered
        if not plain or not isinstance(rule, LikelihoodRule):
            return None
        columns = survey(rows.X, sample.weights, ridge=True)  # aliased effects are 0
        mean = columns.mean
        deviation = columns.deviation
        used = rule.beta != 0.0
        lengths = np.empty(sample.n)
        for some in row_blocks(sample.n, rule.beta.size, CACHED):
            scaled = (rows.X[some, used] - mean[used]) / deviation[used]
            lengths[some] = np.einsum("np,np->n", scaled, scaled)
        return BallGeometry(
            norm=float(np.linalg.norm(rule.beta[used] * deviation[used])),
            squared_lengths=lengths,
            theta=rule.alpha[:, 0] - float(mean @ rule.beta),
            # From the mean squared length of standardised columns: bounds need a radius
            # fixed before the data.
            radius=math.sqrt(rows.X.shape[1] + 1.0),
        )


def _penalty(given: Any) -> Penalty | None:
    """The penalty that an option names."""
    if given is None:
        return None
    if isinstance(given, str) and given.lower() in PENALTIES:
        return PENALTIES[given.lower()]
    return Ridge(
        number(
            "penalty",
            given,
            above=0.0,
            also=f" (ridge), {', '.join(map(repr, PENALTIES))} or None",
        )
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class CumulativeLink(OrdinalRegression):
    """Maximum likelihood of P(y <= k | x) = F(s (theta_k(w) - x'beta - offset)).

    It has location effects beta and, on request, nominal effects (theta_k depends on w)
    and log-scale effects (s = exp(-z'zeta)) [McCullagh 1980; Agresti 2010, ch. 3-5;
    Christensen, ordinal]. Newton's method on the block information, see `newton.py`.

    Parameters
    ----------
    link : {"logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz", "log-gamma"} or (name, lambda)
        The latent distribution F. The last two have a parameter lambda, which is
        estimated unless fixed, as in ("log-gamma", 0.5); see `likelihood/flexible.py`.
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"}
        Structure of the thresholds: each free; symmetric about a free middle; symmetric
        about 0; equally spaced.
    penalty : float, "jeffreys" or None
        A number w > 0 subtracts w/2 times the sum of squared effects (location,
        nominal, log-scale), each per standard deviation of its column, location and
        nominal effects at the mean log scale: ridge. It determines every column that
        varies, even more columns than rows. "jeffreys" adds half the log determinant of
        the expected information, which keeps estimates finite under separation (Firth's
        bias reduction if K = 2 and the link is logit). Standard errors come from the
        penalised, or the expected, information; the log-likelihood shown is without the
        penalty.
    start : sequence of float, optional
        Start of Newton's method: one value for each estimated parameter, in the order
        of `params`. By default the cumulative shares, and no effects; if the likelihood
        may have several maxima (cauchit, scale effects), the best of several fits, see
        `likelihood/estimate.py`.
    crossing : {"warn", "raise"}
        What to do if nominal effects put the thresholds of a row out of order, so a
        probability is negative: warn, for rows of the fit and for predictions, or raise
        DataError. The estimates are the same.
    cost : str or K x K matrix
        Cost that predicted ranks minimise in expectation: "classification" gives the
        most probable rank, "absolute" the median rank; ties go to the lower rank. The
        estimates do not depend on it.
    max_iter : int
        Newton steps allowed, in the search for a start too.
    tol : float
        Largest absolute component of the score, on columns of unit deviation, at which
        a fit counts as converged; above 0 and at most 1.
    quadrature : int
        Integration of random effects: 1 for Laplace's approximation; a number of nodes
        for adaptive Gauss-Hermite quadrature, for one term of up to three columns: (1 +
        x | g) uses nodes ** 2 points, three columns use nodes ** 3, at most 10,000.
        Without random effects only 1 is allowed.
    random_penalty : "gamma" or None
        "gamma" adds the logarithm of every standard deviation of random effects, or of
        the determinant of the factor of their covariance, to the log-likelihood [Chung
        et al. 2013, 2015]: with few groups an estimate of 0 becomes about one standard
        error. Standard errors come from the penalised likelihood, the log-likelihood
        shown excludes the penalty, and likelihood-ratio tests are refused.

    Raises
    ------
    OptionError
        Unknown link, threshold, penalty or cost, max_iter < 1, tol <= 0, start of the
        wrong length or outside the domain, or "jeffreys" with a parameter lambda to
        estimate or nominal effects.

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat.formula.sample import Rows, Sample
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> sample = Sample(rows=Rows(X=X), y=np.array([0, 0, 1, 0, 1, 1]), n_levels=2)
    >>> fit = CumulativeLink().fit(sample, np.random.default_rng(0))
    >>> fit.coefficients.round(4), round(fit.loglik, 4)
    (array([3.0351, 1.214 ]), -2.478)
    """

    crossing: str = option("warn", one_of, ("warn", "raise"))

    family: ClassVar[type[Family]] = Cumulative
    papers: ClassVar[tuple[str, ...]] = (
        (
            "McCullagh, P. (1980). Regression models for ordinal data. Journal of the"
            " Royal Statistical Society B, 42, 109-142."
        ),
        AGRESTI,
        "Christensen, R. H. B. ordinal: Regression Models for Ordinal Data. R package.",
    )

    @property
    def refuses_crossing(self) -> bool:
        return self.crossing == "raise"


@dataclass(frozen=True, kw_only=True, repr=False)
class AdjacentCategory(OrdinalRegression):
    """Maximum likelihood of P(y = k + 1 | y = k or k + 1) = F(s (x'beta + offset -
    theta_k(w))).

    The odds of each level against its lower neighbour: a positive effect raises the
    response, and exp(beta) is the ratio of those odds under the logit [Agresti 2010,
    ch. 4; Goodman 1983]. Effects, nominal effects, log-scale effects and offsets are as
    in `CumulativeLink`; thresholds need not increase. R's VGAM has it for the logit, as
    acat(reverse = FALSE), whose intercepts are minus the thresholds.

    Parameters
    ----------
    link : {"logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz", "log-gamma"} or (name, lambda)
        The distribution F. The last two have a parameter lambda, which is estimated
        unless it is given.
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"}
        Structure of the thresholds, as in `CumulativeLink`.
    penalty : float or None
        A number w > 0 subtracts w/2 times the sum of squared effects, each per standard
        deviation of its column; it determines every column that varies.
    start : sequence of float, optional
        Where Newton's method begins: one value for every estimated parameter, in the
        order of `params`.
    cost : str or K x K matrix
        What predicted ranks minimise in expectation; the estimates do not depend on it.
    max_iter : int
        Newton steps allowed.
    tol : float
        Largest absolute component of the score, on columns of unit deviation, at which
        a fit counts as converged; above 0 and at most 1.
    quadrature : int
        How random effects are integrated out, as in `CumulativeLink`.
    random_penalty : "gamma" or None
        Penalty on the covariances of random effects, as in `CumulativeLink`.

    Raises
    ------
    OptionError
        An unknown link, threshold, penalty or cost, max_iter < 1, tol that is not
        positive, start of the wrong length.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="acat")
    >>> fit.coef.round(4).to_dict()
    {'temp[T.warm]': 1.6885, 'contact[T.yes]': 0.9649}
    """

    family: ClassVar[type[Family]] = Adjacent
    papers: ClassVar[tuple[str, ...]] = (
        (
            "Goodman, L. A. (1983). The analysis of dependence in cross-classifications"
            " having ordered categories, using log-linear models for frequencies and"
            " log-linear models for odds. Biometrics, 39, 149-160."
        ),
        AGRESTI,
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class SequentialRegression(OrdinalRegression):
    """Maximum likelihood of a model of stages that are passed one by one.

    A concrete class says whether F is the probability of passing a stage or of stopping
    at it.
    """

    direction: str = option("forward", one_of, ("forward", "backward"))

    family: ClassVar[type[Sequential]]
    papers: ClassVar[tuple[str, ...]] = (
        (
            "Tutz, G. (2012). Regression for Categorical Data. Cambridge University"
            " Press, ch. 9."
        ),
        (
            "Laara, E. and Matthews, J. N. S. (1985). The equivalence of two models for"
            " ordinal data. Biometrika, 72, 206-207."
        ),
        AGRESTI,
    )

    def family_at(self, link: Link) -> Family:
        return self.family(link, backward=self.direction == "backward")

    def _facts(self) -> tuple[tuple[str, Any], ...]:
        facts = super()._facts()
        return (
            facts
            if self.direction == "forward"
            else (*facts, ("direction", self.direction))
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class ContinuationRatioModel(SequentialRegression):
    """Maximum likelihood of P(y > k | y >= k) = F(s (x'beta + offset - theta_k(w))).

    For stages that are passed one by one, such as years of schooling: each level
    against the higher ones, among the rows that reach it. A positive effect raises the
    response, and exp(beta) is the ratio of the odds of passing a stage under the logit.
    Effects, nominal effects, log-scale effects and offsets are as in `CumulativeLink`;
    thresholds need not increase. R's VGAM has it as cratio, whose intercepts are minus
    the thresholds.

    Parameters
    ----------
    link : {"logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz", "log-gamma"} or (name, lambda)
        The distribution F. The last two have a parameter lambda, which is estimated
        unless it is given.
    direction : {"forward", "backward"}
        Whether stages are passed from the lowest level up, or from the highest down:
        then P(y < k | y <= k) = F(s (theta_{k-1}(w) - x'beta - offset)), as
        cratio(reverse = TRUE). The two are different models.
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"}
        Structure of the thresholds, as in `CumulativeLink`.
    penalty : float or None
        A number w > 0 subtracts w/2 times the sum of squared effects, each per standard
        deviation of its column; it determines every column that varies.
    start : sequence of float, optional
        Where Newton's method begins: one value for every estimated parameter, in the
        order of `params`.
    cost : str or K x K matrix
        What predicted ranks minimise in expectation; the estimates do not depend on it.
    max_iter : int
        Newton steps allowed.
    tol : float
        Largest absolute component of the score, on columns of unit deviation, at which
        a fit counts as converged; above 0 and at most 1.
    quadrature : int
        How random effects are integrated out, as in `CumulativeLink`.
    random_penalty : "gamma" or None
        Penalty on the covariances of random effects, as in `CumulativeLink`.

    Raises
    ------
    OptionError
        An unknown link, direction, threshold, penalty or cost, max_iter < 1, tol that
        is not positive, start of the wrong length.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="cratio")
    >>> fit.coef.round(4).to_dict()
    {'temp[T.warm]': 2.2286, 'contact[T.yes]': 1.2389}
    """

    family: ClassVar[type[Sequential]] = ContinuationRatio


@dataclass(frozen=True, kw_only=True, repr=False)
class StoppingRatioModel(SequentialRegression):
    """Maximum likelihood of P(y = k | y >= k) = F(s (theta_k(w) - x'beta - offset)).

    The same stages as in `ContinuationRatioModel`; F is the probability of stopping at
    a stage. The two agree for the logit, probit and cauchit, and the cloglog of one is
    the loglog of the other. The cloglog is the grouped proportional hazards model,
    which equals the cumulative one with this link [Laara and Matthews 1985]. R's VGAM
    has it as sratio, with coefficients of the other sign.

    Parameters
    ----------
    link : {"logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz", "log-gamma"} or (name, lambda)
        The distribution F. The last two have a parameter lambda, which is estimated
        unless it is given.
    direction : {"forward", "backward"}
        Whether stages are passed from the lowest level up, or from the highest down:
        then P(y = k | y <= k) = F(s (x'beta + offset - theta_{k-1}(w))), as
        sratio(reverse = TRUE).
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"}
        Structure of the thresholds, as in `CumulativeLink`.
    penalty : float or None
        A number w > 0 subtracts w/2 times the sum of squared effects, each per standard
        deviation of its column; it determines every column that varies.
    start : sequence of float, optional
        Where Newton's method begins: one value for every estimated parameter, in the
        order of `params`.
    cost : str or K x K matrix
        What predicted ranks minimise in expectation; the estimates do not depend on it.
    max_iter : int
        Newton steps allowed.
    tol : float
        Largest absolute component of the score, on columns of unit deviation, at which
        a fit counts as converged; above 0 and at most 1.
    quadrature : int
        How random effects are integrated out, as in `CumulativeLink`.
    random_penalty : "gamma" or None
        Penalty on the covariances of random effects, as in `CumulativeLink`.

    Raises
    ------
    OptionError
        An unknown link, direction, threshold, penalty or cost, max_iter < 1, tol that
        is not positive, start of the wrong length.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="sratio", link="cloglog")
    >>> cumulative = ordfit("rating ~ temp + contact", data=datasets.load("wine"), link="cloglog")
    >>> bool(abs(fit.loglik - cumulative.loglik) < 1e-8)
    True
    """

    family: ClassVar[type[Sequential]] = StoppingRatio
