"""Wald tests of several hypotheses at once, by the covariance asked for; their tables and degrees of freedom."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import fdtrc

from ..._typing import FloatArray
from ...assess.likelihood.wald import chi2_tail, wald_test
from ..report.cells import MOST_TERMS, first_few
from ..report.noted import NotedFrame
from .comparison import chi2_frame
from .fitted import FittedLikelihood
from .parameters import Covariance
from .standard_errors import places

#: Why a term has no test; of more terms than these it is said once.
_NONE, _APART = "estimates are infinite, aliased or none, or aliased columns take over", 3


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
    """Wald test of L b = r; NaN under CR2 for several hypotheses, with too few clusters, or of infinite estimates.

    Parameters
    ----------
    L : (h, P')
        Of the estimated parameters.
    difference : (h,) L b - r
    """
    if len(L) > r.own_covariance.most_at_once:
        rank = int(np.linalg.matrix_rank(L)) if np.isfinite(L).all() else len(L)
        if rank > r.own_covariance.most_at_once:
            return Joint(float("nan"), rank)
    statistic, df = wald_test(L, difference, r._covariance(None))
    if not df:
        return Joint(statistic, df)
    if r.bias_reduced is None:
        eta = r.design_df
    else:  # one hypothesis, and others that follow from it
        row = L[[int(np.abs(L).sum(axis=1).argmax())]]
        eta = float(r.bias_reduced.t_df(r.fit.information.covariance(), row)[0])
    if np.isinf(eta):
        return Joint(statistic, df)
    left = eta - df + 1.0  # of the F statistic that is left of Hotelling's
    known = left > 0.0 and np.isfinite(statistic)
    return Joint(statistic * left / (eta * df), df, left) if known else Joint(float("nan"), df)


def joint_frame(names: Iterable[str], tests: Collection[Joint]) -> pd.DataFrame:
    """One row a test: df, chisq, p_value; or df, df_resid, F, p_value."""
    if all(np.isinf(test.df_resid) for test in tests):
        return chi2_frame(names, [test[:2] for test in tests])
    df_resid = [test.df_resid if np.isfinite(test.df_resid) else np.nan for test in tests]  # without a test
    columns = {"df": [t.df for t in tests], "df_resid": df_resid, "F": [t.statistic for t in tests]}
    return pd.DataFrame(columns | {"p_value": [test.p_value for test in tests]}, index=list(names))


def with_words(table: pd.DataFrame, title: str, chosen: Covariance) -> pd.DataFrame:
    """The table with its title, and notes on tests that have no value."""
    lacking = table["df"][table["p_value"].isna() & table["df"].notna()]
    few = [f"no test of {name}: {chosen.why_no_more}." for name, df in lacking.items() if df > chosen.most_at_once]
    others = [str(name) for name, df in lacking.items() if not df > chosen.most_at_once]
    apart = [f"no test of {name}: its {_NONE} its effect." for name in others]
    together = [f"no test of {first_few(others, MOST_TERMS)}: their {_NONE} their effects."]
    notes = few + (apart if len(others) <= _APART else together)
    return NotedFrame.of(table, notes, f"{title}, {chosen.words}")


def zero(r: FittedLikelihood, places: Any) -> Joint:
    """Test of: these parameters are 0; those that are aliased left out."""
    estimated = np.flatnonzero(~r.fit.aliased)
    L = np.eye(estimated.size)[np.isin(estimated, places)]
    return joint_test(r, L, L @ r.fit.coefficients[estimated])


def by_estimated(r: FittedLikelihood, jacobian: FloatArray) -> FloatArray:
    """(..., P') derivatives by the estimated parameters, from those by all of the rule (..., F)."""
    moved = places(r.fit, r.rule)
    return np.asarray(jacobian[..., : len(moved)] @ moved)


def degrees_of_freedom(r: FittedLikelihood, jacobian: FloatArray) -> FloatArray:
    """(...) those of numbers with derivatives (..., F): Satterthwaite's under CR2, of a survey design its own.

    Infinite where tests are by the normal distribution, and of numbers that depend on no parameter.
    """
    if r.bias_reduced is None:
        return np.full(jacobian.shape[:-1], r.design_df)
    rows = by_estimated(r, jacobian).reshape(-1, int(np.count_nonzero(~r.fit.aliased)))
    found = r.bias_reduced.t_df(r.fit.information.covariance(), rows)
    return np.asarray(found.reshape(jacobian.shape[:-1]))
