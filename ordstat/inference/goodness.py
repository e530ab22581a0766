"""Goodness of fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import one_of, whole
from ..exceptions import ConvergenceWarning, DataError, OptionError, warn
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.parameters import refuse_survey
from ..likelihood.wald import chi2_tail
from ..report.frames import NotedFrame
from ..report.render import Report, Reported, Table
from ..report.warnings import not_reached
from .comparison import check_likelihood
from .residuals import finite_only, penalised

_NAMES = {
    "hosmer-lemeshow": "ordinal Hosmer-Lemeshow (Fagerland and Hosmer)",
    "lipsitz": "Lipsitz, Fitzmaurice and Molenberghs",
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GoodnessOfFit(Reported):
    """A test of fit, with the counts behind it.

    Attributes
    ----------
    name : str
    table : frame
        One row a statistic: columns statistic, df, p_value.
    observed, expected : frame
        Counts by group (rows) and level of the response (columns).
    notes : tuple of str
        Reasons to doubt the chi-squared approximation.
    """

    name: str
    table: pd.DataFrame
    observed: pd.DataFrame
    expected: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def p_value(self) -> float:
        """p-value of the first statistic."""
        return float(self.table["p_value"].iloc[0])

    def report(self) -> Report:
        """All tables, as data."""
        tables = (
            Table(title="Test", frame=self.table, formats={"df": "int", "p_value": "p3"}),
            Table(title="Observed counts", frame=self.observed, formats=dict.fromkeys(self.observed, "g")),
            Table(title="Expected counts", frame=self.expected, formats=dict.fromkeys(self.expected, ".1f")),
        )
        return Report(title=f"Goodness of fit: {self.name}", header=(), tables=tables, notes=self.notes)


def goodness_of_fit(r: FittedLikelihood, test: str = "hosmer-lemeshow", groups: int | None = None) -> GoodnessOfFit:
    """Test the model against departures that nobody named."""
    one_of("test", test, _NAMES)
    refuse_survey(r.design, "gof", "test() of terms added to the model")
    check_likelihood(r, "gof", "use test() of terms added to the model, a Wald test then")
    n_groups = 10 if groups is None else whole("groups", groups, 3)
    finite_only(r, "gof()")
    if r.fit.marginal is not None:
        raise OptionError("gof() treats rows as independent, and this fit has random effects: use residuals().")
    if penalised(r):
        raise OptionError("gof() compares with the maximum of the likelihood: fit without penalty=.")
    structured = r.fit.jacobian is not None or r.fit.n_lambda
    if test == "hosmer-lemeshow" and (r.design.nominal_names or r.design.scale_names or structured):
        raise OptionError(
            "test='hosmer-lemeshow' is defined for flexible thresholds and location effects alone: use test='lipsitz'."
        )
    sample, probabilities = r.design.sample, r.rule.probabilities(r.design.sample.rows, r.fit.scores)
    K, weights = sample.n_levels, sample.case_weights
    codes = score_groups(probabilities @ np.arange(1.0, K + 1.0), weights, n_groups)
    observed = np.bincount(codes * K + sample.y, weights, minlength=n_groups * K).reshape(n_groups, K)
    expected = np.column_stack([np.bincount(codes, weights * p, n_groups) for p in probabilities.T])
    if test == "lipsitz":
        label, (statistic, df) = "likelihood ratio", _lipsitz(r, codes, n_groups)
        most = float(weights.sum()) / (5.0 * K)  # [Fagerland and Hosmer 2013]
        notes: tuple[str, ...] = ()
        if not 6 <= n_groups < most:
            notes = (f"{n_groups} groups: 6 or more, and fewer than n / (5 K) = {most:.3g}, are recommended.",)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):  # no number where nothing is expected
            label, statistic = "Pearson chi2", float(((observed - expected) ** 2 / expected).sum())
        df, few = (n_groups - 2) * (K - 1) + (K - 2), float(np.mean(expected < 5.0))
        rough = f"{100.0 * few:.0f}% of the cells expect fewer than 5 cases: the p-value is rough."
        notes = (rough,) if few > 0.2 else ()
    row = {"statistic": statistic, "df": df, "p_value": float(chi2_tail(statistic, df))}
    table = NotedFrame.of(pd.DataFrame(row, index=[label]), notes, f"Goodness of fit: {_NAMES[test]}")
    index, columns = [f"group {g + 1}" for g in range(n_groups)], list(r.levels)
    counts = [pd.DataFrame(cells, index=index, columns=columns) for cells in (observed.astype(np.float64), expected)]
    return GoodnessOfFit(name=_NAMES[test], table=table, observed=counts[0], expected=counts[1], notes=notes)


def _lipsitz(r: FittedLikelihood, codes: IntArray, n_groups: int) -> tuple[float, int]:
    """Likelihood ratio and degrees of freedom of indicators of the groups, added to the model."""
    sample = r.design.sample
    indicators = (codes[:, None] == np.arange(1, n_groups)).astype(np.float64)
    wider = replace(sample, rows=replace(sample.rows, X=np.ascontiguousarray(np.hstack([sample.X, indicators]))))
    fit = r.method.fit(wider, np.random.default_rng(0))
    if not fit.certificate.reached:
        warn(f"Lipsitz test: {not_reached(fit)}", ConvergenceWarning)
    df = int(np.count_nonzero(~fit.aliased)) - r.edf
    if df == 0:
        raise DataError(
            f"the Lipsitz test adds indicators of {n_groups} groups to the model, and the columns of this model "
            "already separate those groups."
        )
    return 2.0 * (fit.loglik - r.loglik), df


def score_groups(scores: FloatArray, weights: FloatArray, n_groups: int) -> IntArray:
    """(N,) group codes 0..n_groups-1 of nearly equal weight in the order of the scores; equal scores stay together.

    Raises
    ------
    DataError
        Too few distinct scores for that many groups.
    """
    values, inverse = np.unique(np.round(scores, 10), return_inverse=True)  # equal but for rounding
    share = np.bincount(inverse, weights) / weights.sum()
    middle = np.cumsum(share) - 0.5 * share
    groups = np.minimum((middle * n_groups).astype(np.intp), n_groups - 1)
    formed = np.unique(groups).size
    if formed < n_groups:
        raise DataError(
            f"the fit gives the rows {values.size} distinct scores, too few (or too unequally shared) for "
            f"{n_groups} groups: {formed} can be formed. "
            + (f"Use groups={formed} or fewer." if formed > 2 else "No test by groups is possible.")
        )
    return np.asarray(groups[inverse].astype(np.intp))
