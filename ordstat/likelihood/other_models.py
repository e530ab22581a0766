"""Adjacent-category, multinomial, stereotype and sequential models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from .._typing import BoolArray
from ..advice import with_option_hints
from ..checks import one_of
from ..exceptions import OptionError
from ..formula.sample import Sample
from ..method import AGRESTI, Supports, option
from .adjacent import Adjacent
from .baseline import Multinomial, Stereotype
from .columns import ColumnScales
from .family import Family
from .links import LINKS, Link
from .problem import Problem
from .regression import OrdinalRegression
from .sequential import ContinuationRatio, Sequential, StoppingRatio
from .stereotype import StereotypeProblem

if TYPE_CHECKING:
    from ..formula.design import Design


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class AdjacentCategory(OrdinalRegression):
    """Adjacent-category models: odds of each level against the next lower one.

    Maximum likelihood estimates of
    P(y = k + 1 | y = k or k + 1) = F(s (x'beta + offset - theta_k(w))). A positive
    effect raises the response; under the logit exp(beta) is the odds ratio of a level
    against its lower neighbour [Agresti 2010, ch. 4; Goodman 1983]. Effects, nominal
    effects, log-scale effects and offsets are as in `CumulativeLink`; thresholds need
    not increase. R's VGAM has it for the logit, as acat(reverse = FALSE), whose
    intercepts are minus the thresholds.

    Parameters
    ----------
    link : str or (str, float)
        "logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz" or
        "log-gamma", or a name and lambda.
        It sets the distribution F. The last two have a parameter lambda, which is
        estimated unless it is given.
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"} or matrix
        Structure of the thresholds, as in `CumulativeLink`.
    penalty : float, ElasticNet or None
        A number w > 0 is a ridge penalty: it subtracts w/2 times the sum of squared
        effects, each per standard deviation of its column. `ElasticNet` fits a path of
        lasso or ridge models.
    start : sequence of float, optional
        Starting values: one for every estimated parameter, in the order of `params`.
    cost : str or K x K matrix
        Cost that predicted ranks minimise in expectation; it does not affect the
        estimates.
    max_iter : int
        Largest number of Newton steps.
    tol : float
        Convergence tolerance, above 0 and at most 1: largest absolute component of the
        gradient, for columns scaled to standard deviation 1.
    quadrature : int
        How random effects are integrated out, as in `CumulativeLink`.
    random_penalty : "gamma" or None
        Penalty on the covariances of random effects, as in `CumulativeLink`.
    smoothness : {"REML", "ML"}
        How the smoothness of s(x) is estimated, as in `CumulativeLink`.

    Raises
    ------
    OptionError
        An unknown link, threshold, penalty or cost, max_iter < 1, tol
        outside (0, 1], start of the wrong length.

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
    """Multinomial logit model: each level against the lowest one, ignoring the order.

    Maximum likelihood estimates of log(P(y = k) / P(y = 1)) = g_k + x'b_k for the
    levels k above the lowest [Agresti 2010, sec. 4.1]. Every term of the formula has an
    effect on every level, so the model does not use the order of the levels. It is the
    benchmark for ordinal models with the logit. exp(b_k) is the odds ratio of level k
    against the lowest one. The model equals the adjacent-category model with nominal
    effects of every term, in other parameters. R's VGAM has it as multinomial(refLevel
    = 1), nnet as multinom.

    Parameters
    ----------
    link : {"logit"}
    threshold : {"flexible"}
    quadrature : {1}
    random_penalty : None
    smoothness : {"REML"}
        Fixed by the model.
    penalty : float, ElasticNet or None
        A number w > 0 is a ridge penalty: it subtracts w/2 times the sum of squared
        effects, each per standard deviation of its column. `ElasticNet` fits a path of
        lasso or ridge models.
    start : sequence of float, optional
        Starting values: one for every estimated parameter, in the order of `params`.
    cost : str or K x K matrix
        Cost that predicted ranks minimise in expectation; it does not affect the
        estimates.
    max_iter : int
        Largest number of Newton steps.
    tol : float
        Convergence tolerance, above 0 and at most 1: largest absolute component of the
        gradient, for columns scaled to standard deviation 1.

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
    """Stereotype models: effects on different levels are proportional to level scores.

    Maximum likelihood estimates of log(P(y = k) / P(y = 1)) = g_k + phi_k x'beta for
    the levels k above the lowest, with phi = 0 for the lowest level and 1 for the
    highest [Anderson 1984]. The scores phi are estimated: x does not distinguish levels
    with nearly equal scores. Scores that do not increase contradict the order of the
    levels. exp(beta) is the odds ratio of the highest level against the lowest one.
    With equally spaced scores this is the adjacent-category model, with separate
    effects for each level the multinomial logit; the stereotype model lies between the
    two. Without effects the scores are undefined, so that a test that every effect is 0
    has no chi-squared distribution and is not given. R's VGAM has it as
    rrvglm(multinomial(refLevel = 1), Rank = 1) with the corner at the highest level.

    Parameters
    ----------
    link : {"logit"}
    threshold : {"flexible"}
    penalty : None
    quadrature : {1}
    random_penalty : None
    smoothness : {"REML"}
        Fixed by the model.
    start : sequence of float, optional
        Starting values: one for every estimated parameter, in the order of `params`.
    cost : str or K x K matrix
        Cost that predicted ranks minimise in expectation; it does not affect the
        estimates.
    max_iter : int
        Largest number of Newton steps.
    tol : float
        Convergence tolerance, above 0 and at most 1: largest absolute component of the
        gradient, for columns scaled to standard deviation 1.

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

    def parameter_names(self, design: Design) -> list[str]:
        """Scores of levels are estimated only if there are effects; otherwise they are
        NaN in `params`.
        """
        names = super().parameter_names(design)
        if design.spec.names["location"]:
            return names
        return names[: design.sample.n_levels - 1]

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
    """Base class of sequential models, for stages that are passed one by one.

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
    """Continuation-ratio models: the probability of passing each of several stages.

    Maximum likelihood estimates of P(y > k | y >= k) = F(s (x'beta + offset -
    theta_k(w))), for stages that are passed one by one, such as years of schooling.
    Each split compares the higher levels with a level, among the observations that
    reach it. A positive effect raises the response; under the logit exp(beta) is the
    odds ratio of passing a stage. Effects, nominal effects, log-scale effects and
    offsets are as in `CumulativeLink`; thresholds need not increase. R's VGAM has it as
    cratio, whose intercepts are minus the thresholds.

    Parameters
    ----------
    link : str or (str, float)
        "logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz" or
        "log-gamma", or a name and lambda.
        It sets the distribution F. The last two have a parameter lambda, which is
        estimated unless it is given.
    direction : {"forward", "backward"}
        Whether stages are passed from the lowest level up, or from the highest down:
        then P(y < k | y <= k) = F(s (theta_{k-1}(w) - x'beta - offset)), as
        cratio(reverse = TRUE). The two are different models.
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"} or matrix
        Structure of the thresholds, as in `CumulativeLink`.
    penalty : float, ElasticNet or None
        A number w > 0 is a ridge penalty: it subtracts w/2 times the sum of squared
        effects, each per standard deviation of its column. `ElasticNet` fits a path of
        lasso or ridge models.
    start : sequence of float, optional
        Starting values: one for every estimated parameter, in the order of `params`.
    cost : str or K x K matrix
        Cost that predicted ranks minimise in expectation; it does not affect the
        estimates.
    max_iter : int
        Largest number of Newton steps.
    tol : float
        Convergence tolerance, above 0 and at most 1: largest absolute component of the
        gradient, for columns scaled to standard deviation 1.
    quadrature : int
        How random effects are integrated out, as in `CumulativeLink`.
    random_penalty : "gamma" or None
        Penalty on the covariances of random effects, as in `CumulativeLink`.
    smoothness : {"REML", "ML"}
        How the smoothness of s(x) is estimated, as in `CumulativeLink`.

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
    """Stopping-ratio models: the probability of stopping at each of several stages.

    Maximum likelihood estimates of P(y = k | y >= k) = F(s (theta_k(w) - x'beta -
    offset)), with the stages of `ContinuationRatioModel`; F is the probability of
    stopping at a stage. The two agree for the logit, probit and cauchit, and the
    cloglog of one is the loglog of the other. The cloglog is the grouped proportional
    hazards model, which equals the cumulative one with this link [Laara and Matthews
    1985]. R's VGAM has it as sratio, with coefficients of the other sign.

    Parameters
    ----------
    link : str or (str, float)
        "logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz" or
        "log-gamma", or a name and lambda.
        It sets the distribution F. The last two have a parameter lambda, which is
        estimated unless it is given.
    direction : {"forward", "backward"}
        Whether stages are passed from the lowest level up, or from the highest down:
        then P(y = k | y <= k) = F(s (x'beta + offset - theta_{k-1}(w))), as
        sratio(reverse = TRUE).
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"} or matrix
        Structure of the thresholds, as in `CumulativeLink`.
    penalty : float, ElasticNet or None
        A number w > 0 is a ridge penalty: it subtracts w/2 times the sum of squared
        effects, each per standard deviation of its column. `ElasticNet` fits a path of
        lasso or ridge models.
    start : sequence of float, optional
        Starting values: one for every estimated parameter, in the order of `params`.
    cost : str or K x K matrix
        Cost that predicted ranks minimise in expectation; it does not affect the
        estimates.
    max_iter : int
        Largest number of Newton steps.
    tol : float
        Convergence tolerance, above 0 and at most 1: largest absolute component of the
        gradient, for columns scaled to standard deviation 1.
    quadrature : int
        How random effects are integrated out, as in `CumulativeLink`.
    random_penalty : "gamma" or None
        Penalty on the covariances of random effects, as in `CumulativeLink`.
    smoothness : {"REML", "ML"}
        How the smoothness of s(x) is estimated, as in `CumulativeLink`.

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
