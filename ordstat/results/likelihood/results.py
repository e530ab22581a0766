"""Results of a cumulative link model: each public method is the function of its topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from types import MethodType
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..base import OrdinalResults
from ..later import Later
from .fitted import FittedLikelihood, with_covariance
from .mixed.summary import group_effects, variance_table
from .mixed.unavailable import UNAVAILABLE, refuse_random_effects
from .profile import confidence_limits, profiles
from .proportionality import brant_tests, nominal_tests, scale_tests, score_tests
from .summary import likelihood_figures, likelihood_report, likelihood_summary
from .tables import tidy_parameters

if TYPE_CHECKING:
    from ...plots.likelihood.accessor import LikelihoodPlots
    from .bootstrap import bootstrapped
    from .discrimination import discrimination_series
    from .effects.emmeans import marginal_means
    from .effects.joint import joint_tests
    from .effects.margins import average_effects, marginal_effects
    from .effects.trends import marginal_trends
    from .goodness import goodness_of_fit
    from .power import simulated_power
    from .residuals import convergence_of, influence_of, residual_series
    from .single_terms import added_terms, dropped_terms
    from .steps.selection import stepwise
    from .uncertainty import prediction_with_errors, simulated
    from .wald_tests import analysis_of_variance, hypothesis_tests
else:
    _later = partial(Later, __package__)
    bootstrapped = _later(".bootstrap", "bootstrapped")
    discrimination_series = _later(".discrimination", "discrimination_series")
    marginal_means = _later(".effects.emmeans", "marginal_means")
    joint_tests = _later(".effects.joint", "joint_tests")
    average_effects = _later(".effects.margins", "average_effects")
    marginal_effects = _later(".effects.margins", "marginal_effects")
    marginal_trends = _later(".effects.trends", "marginal_trends")
    goodness_of_fit = _later(".goodness", "goodness_of_fit")
    simulated_power = _later(".power", "simulated_power")
    convergence_of = _later(".residuals", "convergence_of")
    influence_of = _later(".residuals", "influence_of")
    residual_series = _later(".residuals", "residual_series")
    added_terms = _later(".single_terms", "added_terms")
    dropped_terms = _later(".single_terms", "dropped_terms")
    stepwise = _later(".steps.selection", "stepwise")
    prediction_with_errors = _later(".uncertainty", "prediction_with_errors")
    simulated = _later(".uncertainty", "simulated")
    analysis_of_variance = _later(".wald_tests", "analysis_of_variance")
    hypothesis_tests = _later(".wald_tests", "hypothesis_tests")


def conf_int(r: FittedLikelihood, alpha: float = 0.05) -> pd.DataFrame:
    """statsmodels' name of confint(1 - alpha)."""
    return confidence_limits(r, level=1.0 - alpha)


def cov_params(r: FittedLikelihood) -> pd.DataFrame:
    """statsmodels' name of vcov()."""
    return r.vcov()


#: statsmodels' names of what a likelihood fit has under others.
STATSMODELS: Mapping[str, Callable[[Any], Any]] = {
    "bse": attrgetter("se"),
    "tvalues": attrgetter("z_values"),
    "pvalues": attrgetter("p_values"),
    "conf_int": lambda r: MethodType(conf_int, r),
    "cov_params": lambda r: MethodType(cov_params, r),
    "df_resid": attrgetter("df_residual"),
    "llf": attrgetter("loglik"),
    "llnull": attrgetter("null_loglik"),
    "llr": attrgetter("lr_chi2"),
    "llr_pvalue": attrgetter("lr_p_value"),
    "prsquared": attrgetter("mcfadden"),
}


class LikelihoodResults(FittedLikelihood, OrdinalResults):
    """A fitted cumulative link model, P(response <= k) = F(threshold_k - H).

    A positive coefficient raises the response. Standard errors come from the observed information, and are
    cluster-robust where the fit was given clusters; see `with_vcov`.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.thresholds.round(3).to_dict()
    {'1|2': -1.344, '2|3': 1.251, '3|4': 3.467, '4|5': 5.006}
    >>> fit.confint().round(2).loc["temp[T.warm]"].tolist()
    [1.47, 3.54]
    """

    summary = likelihood_summary
    summary_data = likelihood_report
    tidy = tidy_parameters
    glance = likelihood_figures
    with_vcov = with_covariance
    confint = confidence_limits
    profile = profiles
    bootstrap = bootstrapped

    predict = prediction_with_errors
    effects = average_effects
    marginal_effects = marginal_effects
    emmeans = marginal_means
    emtrends = marginal_trends
    simulate = simulated
    power = simulated_power

    test = hypothesis_tests
    anova = analysis_of_variance
    joint_tests = joint_tests
    drop1 = dropped_terms
    add1 = added_terms
    step = stepwise
    nominal_test = nominal_tests
    scale_test = scale_tests
    score_test = score_tests
    brant = brant_tests

    residuals = residual_series
    influence = influence_of
    gof = goodness_of_fit
    discrimination = discrimination_series
    convergence = convergence_of

    varcorr = variance_table
    ranef = group_effects

    other_names = STATSMODELS

    def __dir__(self) -> list[str]:
        """Without what is of fits with random effects alone, or of others alone."""
        hidden = ("varcorr", "ranef") if self.fit.marginal is None else UNAVAILABLE
        return [name for name in super().__dir__() if name not in hidden]

    if not TYPE_CHECKING:

        def __getattribute__(self, name: str) -> Any:
            """Refuse what a fit with random effects cannot be asked."""
            if name in UNAVAILABLE:
                refuse_random_effects(object.__getattribute__(self, "fit"), name)
            return super().__getattribute__(name)

    @property
    def plot(self) -> LikelihoodPlots:
        """Pictures of the fit, by matplotlib: `fit.plot.latent()`."""
        from ...plots.likelihood.accessor import LikelihoodPlots, MixedPlots

        return LikelihoodPlots(self) if self.fit.marginal is None else MixedPlots(self)
