"""Cumulative link models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..advice import with_option_hints
from ..checks import one_of
from ..method import AGRESTI, Supports, option
from .cumulative import Cumulative
from .family import Family
from .regression import OrdinalRegression


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class CumulativeLink(OrdinalRegression):
    """Cumulative link models: P(y <= k | x) = F(s (theta_k(w) - x'beta - offset)).

    Maximum likelihood estimates of location effects beta and, on request, nominal
    effects (theta_k depends on w) and log-scale effects (s = exp(-z'zeta)) [McCullagh
    1980; Agresti 2010, ch. 3-5; Christensen, ordinal], by Newton's method, see
    `newton.py`.

    Parameters
    ----------
    link : str or (str, float)
        "logit", "probit", "cloglog", "loglog", "cauchit", "aranda-ordaz" or
        "log-gamma", or a name and lambda. It sets the latent distribution F. The last
        two have a parameter lambda, which is estimated unless fixed, as in
        ("log-gamma", 0.5); see `likelihood/flexible.py`.
    threshold : {"flexible", "symmetric", "symmetric2", "equidistant"} or matrix
        Structure of the thresholds: "flexible" unrestricted; "symmetric" about a free
        centre; "symmetric2" about 0; "equidistant" equally spaced. A matrix M (K-1, t)
        with independent columns gives thresholds M @ gamma, with parameters "gamma.1",
        ...: powers of 1..K-1 for a polynomial, or ones and cut points that are known up
        to origin and unit.
    penalty : float, "jeffreys", ElasticNet or None
        A number w > 0 is a ridge penalty: it subtracts w/2 times the sum of the squared
        effects (location, nominal, log-scale). Each effect is per standard deviation of
        its column; location and nominal effects are at the mean log scale. Every column
        that varies has an estimate, even with more columns than rows. "jeffreys" adds
        half the log determinant of the expected information, which keeps estimates
        finite under separation (Firth's bias reduction if K = 2 and the link is logit),
        with at most 20 levels. Standard errors come from the penalised information
        (ridge) or the expected information ("jeffreys"); the log-likelihood shown is
        without the penalty. `ElasticNet` fits a path of lasso or ridge models, without
        standard errors.
    start : sequence of float, optional
        Starting values: one for each estimated parameter, in the order of `params`. By
        default thresholds by the cumulative shares, and effects 0; if the likelihood
        may have several maxima (cauchit, scale effects), the best of several starts,
        see `likelihood/start.py`.
    crossing : {"warn", "raise"}
        What to do if nominal effects make thresholds of a row cross, so that a
        probability is negative: warn or raise DataError. It applies to rows of the fit
        and to predictions. The estimates are the same.
    cost : str or K x K matrix
        Cost that predicted ranks minimise in expectation: "classification" gives the
        most probable rank, "absolute" the median rank; ties go to the lower rank. The
        estimates do not depend on it.
    max_iter : int
        Largest number of Newton steps, also in the search for a start.
    tol : float
        Convergence tolerance, above 0 and at most 1: largest absolute component of the
        gradient, for columns scaled to standard deviation 1.
    quadrature : int
        Integration of random effects: 1 for Laplace's approximation; a number of nodes
        for adaptive Gauss-Hermite quadrature, for one term of up to three columns: (1 +
        x | g) uses nodes ** 2 points, three columns use nodes ** 3, at most 10,000.
        Without random effects only 1 is allowed.
    random_penalty : "gamma" or None
        "gamma" adds to the log-likelihood the logarithm of every standard deviation of
        random effects [Chung et al. 2013, 2015]. For correlated effects it is the
        logarithm of the determinant of the Cholesky factor of their covariance. With
        few groups an estimate of 0 then becomes about one standard error. Standard
        errors come from the penalised likelihood, the log-likelihood shown excludes the
        penalty, and likelihood-ratio tests raise an error.
    smoothness : {"REML", "ML"}
        How the smoothness of s(x), smooth(x) and re(g) is estimated: by restricted
        maximum likelihood, or by maximum likelihood, which tends to straighter curves
        [Wood, Pya and Saefken 2016]. Without smooth terms only "REML" is allowed.

    Raises
    ------
    OptionError
        Unknown link, threshold, penalty or cost, max_iter < 1, tol outside (0, 1],
        start of the wrong length or outside the domain, or "jeffreys" with an estimated
        lambda or nominal effects.

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
