"""Wald tests of several hypotheses at once, by the covariance of the user's choice, and their tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...assess.likelihood.wald import chi2_tail, wald_test
from .comparison import chi2_frame
from .fitted import FittedLikelihood
from .parameters import Covariance, chosen_covariance


class Joint(NamedTuple):
    """A test: chi-squared statistic and its degrees of freedom."""

    statistic: float
    df: int

    @property
    def p_value(self) -> float:
        """P-value."""
        return float(chi2_tail(self.statistic, self.df))


def covariance_of(r: FittedLikelihood, vcov: Any = None) -> Covariance:
    """The covariance asked for, that of the fit for None."""
    return r.own_covariance if vcov is None else chosen_covariance(vcov, r.design)


def joint_test(r: FittedLikelihood, L: FloatArray, difference: FloatArray, vcov: Any = None) -> Joint:
    """Wald test of L b = r; NaN where there are too few clusters for it, or an estimate is infinite.

    Parameters
    ----------
    L : (h, P')
        Of the estimated parameters.
    difference : (h,) L b - r
    """
    if len(L) > covariance_of(r, vcov).most_at_once:
        return Joint(float("nan"), len(L))
    return Joint(*wald_test(L, difference, r.vcov(vcov).to_numpy()))


def joint_frame(names: Iterable[str], tests: Collection[Joint]) -> pd.DataFrame:
    """One row a test: df, chisq, p_value."""
    return chi2_frame(names, tests)


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
