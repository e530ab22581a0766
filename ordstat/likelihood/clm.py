"""The likelihood models: cumulative, adjacent-category and sequential ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from .._typing import BoolArray
from ..advice import with_option_hints
from ..checks import one_of
from ..exceptions import OptionError
from ..formula.sample import Sample
from ..method import AGRESTI, Supports, option
from .adjacent import Adjacent
from .baseline import Multinomial, Stereotype
from .columns import ColumnScales
from .cumulative import Cumulative
from .family import Family
from .links import LINKS, Link
from .problem import Problem
from .regression import OrdinalRegression
from .sequential import ContinuationRatio, Sequential, StoppingRatio
from .stereotype import StereotypeProblem


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class CumulativeLink(OrdinalRegression):
    """Cumulative link models: P(y <= k | x) = F(s (theta_k(w) - x'beta - offset)).

    Maximum likelihood of location effects beta and, on request, nominal effects
    (theta_k depends on w) and log-scale effects (s = exp(-z'zeta)) [McCullagh 1980;
    Agresti 2010, ch. 3-5; Christensen, ordinal]. Newton's method on the block
    information, see `newton.py`.

    Parameters
    ----------
    link : str or (str, float)
        "logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz" or
        "log-gamma", or a name and lambda.
        The latent distribution F. The last two have a parameter lambda, which is
        estimated unless fixed, as in ("log-gamma", 0.5); see `likelihood/flexible.py`.
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"} or matrix
        Structure of the thresholds: each free; symmetric about a free middle; symmetric
        about 0; equally spaced. A matrix M (K-1, t) with independent columns has
        thresholds M @ gamma, with parameters "gamma.1", ...: powers of 1..K-1 for a
        curve, or a column of ones and one of cut points that are known up to origin and
        unit.
    penalty : float, "jeffreys", ElasticNet or None
        A number w > 0 subtracts w/2 times the sum of squared effects (location,
        nominal, log-scale), each per standard deviation of its column, location and
        nominal effects at the mean log scale: ridge. It determines every column that
        varies, even more columns than rows. "jeffreys" adds half the log determinant of
        the expected information, which keeps estimates finite under separation (Firth's
        bias reduction if K = 2 and the link is logit). Standard errors come from the
        penalised, or the expected, information; the log-likelihood shown is without the
        penalty. An `ElasticNet` has a path of lasso or ridge fits, without standard
        errors.
    start : sequence of float, optional
        Start of Newton's method: one value for each estimated parameter, in the order
        of `params`. By default the cumulative shares, and no effects; if the likelihood
        may have several maxima (cauchit, scale effects), the best of several fits, see
        `likelihood/start.py`.
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

    supports: ClassVar[Supports] = replace(OrdinalRegression.supports, partial=True)

    @property
    def refuses_crossing(self) -> bool:
        return self.crossing == "raise"


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class AdjacentCategory(OrdinalRegression):
    """Adjacent-category models: each level against the next lower one.

    Maximum likelihood of P(y = k + 1 | y = k or k + 1) = F(s (x'beta + offset -
    theta_k(w))). A positive effect raises the response, and exp(beta) is the ratio of
    the odds of a level against its lower neighbour under the logit [Agresti 2010, ch.
    4; Goodman 1983]. Effects, nominal effects, log-scale effects and offsets are as in
    `CumulativeLink`; thresholds need not increase. R's VGAM has it for the logit, as
    acat(reverse = FALSE), whose intercepts are minus the thresholds.

    Parameters
    ----------
    link : str or (str, float)
        "logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz" or
        "log-gamma", or a name and lambda.
        The distribution F. The last two have a parameter lambda, which is estimated
        unless it is given.
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"} or matrix
        Structure of the thresholds, as in `CumulativeLink`.
    penalty : float, ElasticNet or None
        A number w > 0 subtracts w/2 times the sum of squared effects, each per standard
        deviation of its column; it determines every column that varies. An `ElasticNet`
        has a path of lasso or ridge fits.
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
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", data=wine, method="acat")
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


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class MultinomialLogit(OrdinalRegression):
    """The multinomial logit: each level against the lowest one, whatever their order.

    Maximum likelihood of log(P(y = k) / P(y = 1)) = g_k + x'b_k for the levels k above
    the lowest [Agresti 2010, sec. 4.1]. Every term of the formula has an effect on
    every level, so that the model does not use the order: it is the one that ordinal
    models of the logit are compared with. exp(b_k) is the ratio of the odds of level k
    against the lowest one. It is the adjacent-category model with nominal effects of
    every term, in other parameters. R's VGAM has it as multinomial(refLevel = 1), nnet
    as multinom.

    Parameters
    ----------
    link : {"logit"}
    threshold : {"flexible"}
    quadrature : {1}
    random_penalty : None
        Fixed by the model.
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

    Raises
    ------
    OptionError
        Another link or threshold structure, an unknown penalty or cost, max_iter < 1,
        tol that is not positive, start of the wrong length.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> housing = datasets.load("housing")
    >>> fit = ordfit("Sat ~ Cont", housing, "multinomial", weights="Freq")
    >>> fit.coef.round(4).to_dict()
    {'Medium/Low.Cont[T.High]': 0.2572, 'High/Low.Cont[T.High]': 0.2174}
    """

    family: ClassVar[type[Family]] = Multinomial
    supports: ClassVar[Supports] = replace(
        OrdinalRegression.supports,
        by_level=True,
        scale=False,
        random=False,
        smooth=False,
        stepped=False,
        offset=False,
    )
    papers: ClassVar[tuple[str, ...]] = (AGRESTI,)

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_plain_logit(self)


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class StereotypeLogit(OrdinalRegression):
    """Stereotype models: effects on each level that differ by a factor alone.

    Maximum likelihood of log(P(y = k) / P(y = 1)) = g_k + phi_k x'beta for the levels k
    above the lowest, with phi = 0 of the lowest level and 1 of the highest [Anderson
    1984]. The scores phi are estimated: levels whose scores are nearly equal are not
    told apart by x, and scores that do not increase speak against the order of the
    levels. exp(beta) is the ratio of the odds of the highest level against the lowest
    one. Equally spaced scores are the adjacent-category model, and a multinomial logit
    has effects of its own for each level, so that the stereotype model lies between
    the two. Without effects the scores have no value: tests that every effect is 0
    have no chi-squared distribution and are not given. R's VGAM has it as
    rrvglm(multinomial(refLevel = 1), Rank = 1) with the corner at the highest level.

    Parameters
    ----------
    link : {"logit"}
    threshold : {"flexible"}
    penalty : None
    quadrature : {1}
    random_penalty : None
        Fixed by the model.
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

    Raises
    ------
    OptionError
        Another link or threshold structure, a penalty, an unknown cost, max_iter < 1,
        tol that is not positive, start of the wrong length.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> housing = datasets.load("housing")
    >>> formula = "Sat ~ Infl + Type + Cont"
    >>> fit = ordfit(formula, housing, "stereotype", weights="Freq")
    >>> fit.params["phi.Medium"].round(4)
    np.float64(0.4797)
    """

    family: ClassVar[type[Family]] = Stereotype
    supports: ClassVar[Supports] = Supports(
        cluster=True, absent_levels=True, decisions=True
    )
    papers: ClassVar[tuple[str, ...]] = (
        (
            "Anderson, J. A. (1984). Regression and ordered categorical variables."
            " Journal of the Royal Statistical Society B, 46, 1-30."
        ),
        AGRESTI,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_plain_logit(self)
        if self.penalty is not None:
            raise OptionError(
                f"penalty of StereotypeLogit must be None; got {self.penalty!r}. Leave"
                " it out, or use method='multinomial'."
            )

    def problem(
        self, sample: Sample, columns: tuple[ColumnScales, ColumnScales] | None = None
    ) -> Problem:
        family = self.family(LINKS["logit"])
        return StereotypeProblem.of(
            sample, family, columns=columns, steps=self.max_iter
        )

    def _others(self, present: BoolArray) -> tuple[int, bool]:
        return max(int(present.sum()) - 2, 0), True


def _require_plain_logit(method: OrdinalRegression) -> None:
    """OptionError for a link or threshold structure that the scores of levels do not
    have.
    """
    for name, only in (("link", "logit"), ("threshold", "flexible")):
        given = getattr(method, name)
        if given != only:
            raise OptionError(
                f"{name} of {type(method).__name__} must be {only!r}; got {given!r}."
                " Leave it out, or use method='acat'."
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

    def facts(self) -> tuple[tuple[str, Any], ...]:
        facts = super().facts()
        if self.direction == "forward":
            return facts
        return (*facts, ("direction", self.direction))


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class ContinuationRatioModel(SequentialRegression):
    """Continuation-ratio models: who passes each of several stages.

    Maximum likelihood of P(y > k | y >= k) = F(s (x'beta + offset - theta_k(w))), for
    stages that are passed one by one, such as years of schooling: each level
    against the higher ones, among the rows that reach it. A positive effect raises the
    response, and exp(beta) is the ratio of the odds of passing a stage under the logit.
    Effects, nominal effects, log-scale effects and offsets are as in `CumulativeLink`;
    thresholds need not increase. R's VGAM has it as cratio, whose intercepts are minus
    the thresholds.

    Parameters
    ----------
    link : str or (str, float)
        "logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz" or
        "log-gamma", or a name and lambda.
        The distribution F. The last two have a parameter lambda, which is estimated
        unless it is given.
    direction : {"forward", "backward"}
        Whether stages are passed from the lowest level up, or from the highest down:
        then P(y < k | y <= k) = F(s (theta_{k-1}(w) - x'beta - offset)), as
        cratio(reverse = TRUE). The two are different models.
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"} or matrix
        Structure of the thresholds, as in `CumulativeLink`.
    penalty : float, ElasticNet or None
        A number w > 0 subtracts w/2 times the sum of squared effects, each per standard
        deviation of its column; it determines every column that varies. An `ElasticNet`
        has a path of lasso or ridge fits.
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
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", data=wine, method="cratio")
    >>> fit.coef.round(4).to_dict()
    {'temp[T.warm]': 2.2286, 'contact[T.yes]': 1.2389}
    """

    family: ClassVar[type[Sequential]] = ContinuationRatio


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class StoppingRatioModel(SequentialRegression):
    """Stopping-ratio models: who stops at each of several stages.

    Maximum likelihood of P(y = k | y >= k) = F(s (theta_k(w) - x'beta - offset)). The
    same stages as in `ContinuationRatioModel`; F is the probability of stopping at
    a stage. The two agree for the logit, probit and cauchit, and the cloglog of one is
    the loglog of the other. The cloglog is the grouped proportional hazards model,
    which equals the cumulative one with this link [Laara and Matthews 1985]. R's VGAM
    has it as sratio, with coefficients of the other sign.

    Parameters
    ----------
    link : str or (str, float)
        "logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz" or
        "log-gamma", or a name and lambda.
        The distribution F. The last two have a parameter lambda, which is estimated
        unless it is given.
    direction : {"forward", "backward"}
        Whether stages are passed from the lowest level up, or from the highest down:
        then P(y = k | y <= k) = F(s (x'beta + offset - theta_{k-1}(w))), as
        sratio(reverse = TRUE).
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"} or matrix
        Structure of the thresholds, as in `CumulativeLink`.
    penalty : float, ElasticNet or None
        A number w > 0 subtracts w/2 times the sum of squared effects, each per standard
        deviation of its column; it determines every column that varies. An `ElasticNet`
        has a path of lasso or ridge fits.
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
    >>> wine = datasets.load("wine")
    >>> formula = "rating ~ temp + contact"
    >>> fit = ordfit(formula, data=wine, method="sratio", link="cloglog")
    >>> cumulative = ordfit(formula, data=wine, link="cloglog")
    >>> bool(abs(fit.loglik - cumulative.loglik) < 1e-8)
    True
    """

    family: ClassVar[type[Sequential]] = StoppingRatio
