"""A likelihood fit as data frames: one row a parameter, or one row in all."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .fitted import FittedLikelihood
from .profile import confidence_limits

#: What a fit tells of its likelihood, in the order of a table.
_FIGURES = (
    *("nobs", "edf", "df_residual", "loglik", "null_loglik", "aic", "bic"),
    *("lr_chi2", "lr_df", "lr_p_value", "mcfadden", "nagelkerke"),
)


def tidy_parameters(
    r: FittedLikelihood, conf_int: bool = True, exponentiate: bool = False, level: float = 0.95
) -> pd.DataFrame:
    """One row per parameter: term, estimate, std_error, statistic, p_value, conf_low, conf_high, coef_type.

    Parameters
    ----------
    conf_int : bool
        Whether to give the limits.
    exponentiate : bool
        exp() of estimate and limits of all terms but thresholds; std_error, statistic and p_value stay those of
        the coefficient.
    level : float
        Confidence level of the limits.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.tidy(exponentiate=True).round(2).loc[4:, ["term", "estimate", "conf_low", "conf_high"]]
                 term  estimate  conf_low  conf_high
    4    temp[T.warm]     12.22      4.34      34.44
    5  contact[T.yes]      4.61      1.81      11.73
    """
    limits = confidence_limits(r, level).to_numpy()
    numbers = np.column_stack((r.fit.coefficients, limits))
    if exponentiate:
        effects = r.parameters.of("nominal", "location", "scale")
        numbers[effects] = np.exp(numbers[effects])
    frame = pd.DataFrame(
        {
            "term": r.parameters.names,
            "estimate": numbers[:, 0],
            "std_error": r._standard_errors,
            "statistic": r.z_values.to_numpy(),
            "p_value": r.p_values.to_numpy(),
            "conf_low": numbers[:, 1],
            "conf_high": numbers[:, 2],
            "coef_type": r.parameters.kinds,
        }
    )
    return frame if conf_int else frame.drop(columns=["conf_low", "conf_high"])


def likelihood_figures(r: FittedLikelihood) -> pd.DataFrame:
    """One row of figures of the whole fit.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.glance()[["nobs", "loglik", "aic", "mcfadden"]].round(3)
       nobs  loglik      aic  mcfadden
    0  72.0 -86.492  184.984     0.166
    """
    errors = r.training_errors
    own = {name: getattr(r, name) for name in _FIGURES}
    wrong = {f"{kind}_error": errors.value(f"{kind} error") for kind in ("classification", "absolute")}
    return pd.DataFrame([own | wrong | {"converged": r.certificate.reached}])
