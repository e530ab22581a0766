"""Adjacent-category models by maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..model.likelihood.adjacent import Adjacent
from ..model.likelihood.family import Family
from .base import Needs
from .shared.likelihood import OrdinalRegression


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
