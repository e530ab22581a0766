"""Cumulative link and adjacent-category models by maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..checks import one_of
from ..exceptions import OptionError
from ..model.likelihood.adjacent import Adjacent
from ..model.likelihood.cumulative import Cumulative
from ..model.likelihood.family import Family
from .base import Needs, option
from .shared.likelihood import OrdinalRegression
from .shared.papers import AGRESTI


def _checked_crossing(name: str, value: Any, of: Any) -> None:
    """What to do about rows whose thresholds are out of order."""
    if value == "prevent":
        raise OptionError(
            "crossing='prevent' is not available. Use crossing='raise' to be told of thresholds that cross, and avoid "
            "them with fewer columns in nominal=."
        )
    one_of(name, value, ("warn", "raise"), of=of)


@dataclass(frozen=True, kw_only=True, repr=False)
class CumulativeLink(OrdinalRegression):
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
    crossing : {"warn", "raise"}
        What to do where nominal effects put the thresholds of a row out of order, so that a probability is negative:
        warn, at the fit of its own rows and at predictions of new ones, or raise a DataError. The estimates are the
        same.
    cost : str or K x K matrix
        What predicted ranks minimise in expectation: "classification" gives the most probable rank, "absolute" the
        median rank; ties go to the lower rank. The estimates do not depend on it.
    max_iter : int
        Newton steps allowed, in the search for a start too.
    tol : float
        Largest absolute component of the score, on columns of unit deviation, at which a fit counts as converged.
    quadrature : int or "auto"
        How random effects are integrated out: 1 by Laplace's approximation, a number of nodes, for one term of up to
        three columns or nested ones, by adaptive Gauss-Hermite quadrature: (1 + x | g) and (1 | a/b) take its square,
        three columns in all its cube, of at most 10,000. "auto" raises the number until nothing that shows moves;
        crossed terms stay with Laplace's approximation. Refused, but for 1, where the formula has no random effects.
    random_penalty : "gamma" or None
        "gamma" adds the logarithm of every standard deviation of random effects, or of the determinant of the factor of
        their covariance, to the log-likelihood [Chung et al. 2013, 2015]: with few groups an estimate of 0, which says
        less than it seems to, becomes about one standard error. Errors are those of the penalised likelihood, the
        log-likelihood shown is without the penalty, and likelihood ratios are refused.

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

    crossing: str = option("warn", _checked_crossing)

    family: ClassVar[type[Family]] = Cumulative
    papers: ClassVar[tuple[str, ...]] = (
        "McCullagh, P. (1980). Regression models for ordinal data. Journal of the Royal Statistical Society B, 42, "
        "109-142.",
        AGRESTI,
        "Christensen, R. H. B. ordinal: Regression Models for Ordinal Data. R package.",
    )

    @property
    def refuses_crossing(self) -> bool:
        return self.crossing == "raise"


@dataclass(frozen=True, kw_only=True, repr=False)
class AdjacentCategory(OrdinalRegression):
    """Maximum likelihood of P(y = k + 1 | y = k or k + 1) = F(s (x'beta + offset - theta_k(w))).

    The odds of each level against its lower neighbour: a positive effect raises the response, and exp(beta) is the
    ratio of those odds under the logit [Agresti 2010, ch. 4; Goodman 1983]. Effects, nominal effects, log-scale effects
    and offsets are those of `CumulativeLink`; thresholds need not increase. R's VGAM has it for the logit, as
    acat(reverse = FALSE), whose intercepts are minus the thresholds.

    Parameters
    ----------
    link : {"logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz", "log-gamma"} or (name, lambda)
        The distribution F. The last two have a parameter lambda, which is estimated unless it is given.
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"}
        Structure of the thresholds, as in `CumulativeLink`.
    penalty : float or None
        A number w > 0 subtracts w/2 times the sum of squared effects, each per standard deviation of its column.
    start : sequence of float, optional
        Where Newton's method begins: one value for every estimated parameter, in the order of `params`.
    cost : str or K x K matrix
        What predicted ranks minimise in expectation; the estimates do not depend on it.
    max_iter : int
        Newton steps allowed.
    tol : float
        Largest absolute component of the score, on columns of unit deviation, at which a fit counts as converged.
    quadrature : int or "auto"
        How random effects are integrated out, where the formula has some, as in `CumulativeLink`.
    random_penalty : "gamma" or None
        Of their covariances, as in `CumulativeLink`.

    Raises
    ------
    OptionError
        An unknown link, threshold, penalty or cost, max_iter < 1, tol that is not positive, start of the wrong length.
    DataError
        A level has no rows.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="acat")
    >>> fit.coef.round(4).to_dict()
    {'temp[T.warm]': 1.6885, 'contact[T.yes]': 0.9649}
    """

    family: ClassVar[type[Family]] = Adjacent
    #: No threshold stands beside a level without rows.
    needs: ClassVar[Needs] = replace(OrdinalRegression.needs, absent_levels=False)
    papers: ClassVar[tuple[str, ...]] = (
        "Goodman, L. A. (1983). The analysis of dependence in cross-classifications having ordered categories, using "
        "log-linear models for frequencies and log-linear models for odds. Biometrics, 39, 149-160.",
        AGRESTI,
    )
