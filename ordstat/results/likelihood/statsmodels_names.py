"""statsmodels' names of what a likelihood fit has under others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import MethodType
from typing import Any

import pandas as pd

from .fitted import FittedLikelihood
from .profile import confidence_limits


def conf_int(r: FittedLikelihood, alpha: float = 0.05) -> pd.DataFrame:
    """statsmodels' name of confint(1 - alpha)."""
    return confidence_limits(r, 1.0 - alpha)


def cov_params(r: FittedLikelihood) -> pd.DataFrame:
    """statsmodels' name of vcov()."""
    return r.vcov()


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
