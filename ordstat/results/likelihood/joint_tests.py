"""Wald tests of several hypotheses at once, by the covariance of the user's choice, and their tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import fdtrc

from ..._typing import FloatArray
from ...assess.likelihood.wald import chi2_tail, wald_test
from .comparison import chi2_frame
from .fitted import FittedLikelihood
from .parameters import Covariance


class Joint(NamedTuple):
    """A test: a chi-squared statistic on df, or one of F on df and df_resid, where that is finite."""

    statistic: float
    df: int
    df_resid: float = np.inf

    @property
    def p_value(self) -> float:
        """P-value."""
        if np.isinf(self.df_resid):
            return float(chi2_tail(self.statistic, self.df))
        return float(fdtrc(self.df, self.df_resid, self.statistic))


def joint_test(r: FittedLikelihood, L: FloatArray, difference: FloatArray) -> Joint:
    """Wald test of L b = r; NaN where there are too few clusters for it, or an estimate is infinite.

    Parameters
    ----------
    L : (h, P')
        Of the estimated parameters.
    difference : (h,) L b - r
    """
    if len(L) > r.own_covariance.most_at_once:
        return Joint(float("nan"), len(L))
    statistic, df = wald_test(L, difference, r._covariance(None))
    if not np.isinf(r.design_df) and df:
        return _hotelling(statistic, df, r.design_df) if np.isfinite(statistic) else Joint(float("nan"), df)
    if r.bias_reduced is None or not np.isfinite(statistic):
        return Joint(statistic, df)
    return _hotelling(statistic, df, r.bias_reduced.f_df(r.fit.information.covariance(), independent(L, df)))


def _hotelling(statistic: float, df: int, eta: float) -> Joint:
    """F of a Hotelling statistic with eta degrees of freedom; NaN where these are too few."""
    left = eta - df + 1.0
    return Joint(statistic * left / (eta * df), df, left) if left > 0.0 else Joint(float("nan"), df)


def independent(L: FloatArray, rank: int) -> FloatArray:
    """(rank, P') hypotheses that say the same as L and do not depend on each other."""
    return L if rank == len(L) else np.asarray(np.linalg.svd(L)[2][:rank])


def joint_frame(names: Iterable[str], tests: Collection[Joint]) -> pd.DataFrame:
    """One row a test: df, chisq, p_value; or df, df_resid, F, p_value."""
    if all(np.isinf(test.df_resid) for test in tests):
        return chi2_frame(names, [test[:2] for test in tests])
    columns = {"df": [t.df for t in tests], "df_resid": [t.df_resid for t in tests], "F": [t.statistic for t in tests]}
    return pd.DataFrame(columns | {"p_value": [test.p_value for test in tests]}, index=list(names))


def with_words(table: pd.DataFrame, title: str, chosen: Covariance) -> pd.DataFrame:
    """The table with its title, and notes on tests that have no value."""
    table.attrs["title"] = f"{title}, {chosen.words}"
    lacking = table["df"][table["p_value"].isna() & table["df"].notna()]
    table.attrs["notes"] = [_why_none(str(name), float(df), chosen) for name, df in lacking.items()]
    return table


def _why_none(name: str, df: float, chosen: Covariance) -> str:
    if df > chosen.most_at_once:
        return f"no test of {name}: {chosen.most_at_once + 1:g} clusters are too few to test {df:g} effects at once."
    return f"no test of {name}: its estimates are infinite, aliased or none."


def zero(r: FittedLikelihood, places: Any) -> Joint:
    """Test of: these parameters are 0; those that are aliased left out."""
    estimated = np.flatnonzero(~r.fit.aliased)
    L = np.eye(estimated.size)[np.isin(estimated, places)]
    return joint_test(r, L, L @ r.fit.coefficients[estimated])
