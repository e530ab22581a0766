"""Goodness of fit: the ordinal Hosmer-Lemeshow test, and Pearson and deviance tests of
tables of counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import whole
from ..exceptions import DataError, UnavailableError
from ..formula.sample import Sample
from ..likelihood.unavailable import check_available
from ..report.frames import NotedFrame
from ..report.render import Report, Reported, Table
from ..report.sections import fractional
from .wald import chi2_tail

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


_NAME = "ordinal Hosmer-Lemeshow (Fagerland and Hosmer)"
#: Groups by default, and fewest groups.
_GROUPS = 10
_FEWEST = 3
#: Expected counts below this make the chi-squared approximation rough, if more than a
#: share of them are.
_FEW = 5.0
_MANY_FEW = 0.2
#: Note on departures that the test does not detect.
_BLIND = (
    "A large p-value does not show that effects are proportional or linear: see"
    " score_test(), nominal_test() and residuals()."
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GoodnessOfFit(Reported):
    """A test of fit, with the counts behind it.

    Attributes
    ----------
    name : str
    table : frame
        statistic, df, p_value of the Hosmer-Lemeshow test and, for a table of counts,
        of Pearson's and the deviance test against the saturated model.
    observed, expected : frame
        Counts by group (rows) and level of the response (columns).
    notes : tuple of str
        Reasons to doubt the chi-squared approximation, and departures that the test
        does not detect.
    """

    name: str
    table: pd.DataFrame
    observed: pd.DataFrame
    expected: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def p_value(self) -> float:
        """The p-value of the first test."""
        return float(self.table["p_value"].iloc[0])

    def report(self) -> Report:
        """All tables, as data."""
        tables = (
            Table(
                title="Test", frame=self.table, formats={"df": "int", "p_value": "p"}
            ),
            Table(
                title="Observed counts",
                frame=self.observed,
                formats=dict.fromkeys(self.observed, "g"),
            ),
            Table(
                title="Expected counts",
                frame=self.expected,
                formats=dict.fromkeys(self.expected, ".1f"),
            ),
        )
        return Report(
            title=f"Goodness of fit: {self.name}",
            header=(),
            tables=tables,
            notes=self.notes,
        )


def goodness_of_fit(r: LikelihoodResults, groups: int | None) -> GoodnessOfFit:
    """Goodness-of-fit tests against unspecified alternatives."""
    check_available(r, "gof()")
    sample = r.design.sample
    probabilities = r.rule.probabilities(sample.rows, r.fit.scores)
    scores = probabilities @ np.arange(1.0, sample.n_levels + 1.0)
    saturated = None if groups is not None else _saturated(r, probabilities)
    by_group = None
    try:
        by_group = _by_group(r, scores, probabilities, groups)
    except (DataError, UnavailableError):
        if saturated is None:
            raise
    tests: dict[str, tuple[float, int]] = {}
    tables: list[CountTable] = []
    if by_group is not None:
        K = sample.n_levels
        df = (len(by_group.observed) - 2) * (K - 1) + (K - 2)
        tests["Pearson chi2"] = by_group.pearson, df
        tables.append(by_group)
    if saturated is not None:
        df = saturated.df - int(np.count_nonzero(~r.fit.aliased))
        tests["Pearson chi2, saturated table"] = saturated.pearson, df
        tests["deviance, saturated table"] = saturated.deviance, df
        tables.append(saturated)
    few = max(float(np.mean(table.expected < _FEW)) for table in tables)
    rough = (
        f"{100.0 * few:.0f}% of the expected counts are below 5: the p-value is rough."
    )
    notes = (rough, _BLIND) if few > _MANY_FEW else (_BLIND,)
    rows = [(value, df, float(chi2_tail(value, df))) for value, df in tests.values()]
    frame = pd.DataFrame(
        rows, index=list(tests), columns=["statistic", "df", "p_value"]
    )
    name = "table of counts" if by_group is None else _NAME
    first = tables[0]
    index = [f"{first.rows} {number}" for number in range(1, len(first.observed) + 1)]
    return GoodnessOfFit(
        name=name,
        table=NotedFrame.of(frame, notes, f"Goodness of fit: {name}"),
        observed=pd.DataFrame(first.observed, index=index, columns=list(r.levels)),
        expected=pd.DataFrame(first.expected, index=index, columns=list(r.levels)),
        notes=notes,
    )


def _by_group(
    r: LikelihoodResults,
    scores: FloatArray,
    probabilities: FloatArray,
    groups: int | None,
) -> CountTable:
    """The counts of groups of the rows by score, ten or fewer unless their number is
    given.
    """
    if groups is not None:
        groups = whole("groups", groups, _FEWEST)
    check_available(r, "gof() of groups")
    sample = r.design.sample
    codes = score_groups(scores, sample.case_weights, groups)
    return CountTable.of(codes, sample, probabilities, "group")


def _saturated(r: LikelihoodResults, probabilities: FloatArray) -> CountTable | None:
    """The counts of the distinct rows, if they are counts of cases, five in a cell on
    average, and leave degrees of freedom.
    """
    # where thresholds cross, counts have no expected values
    ordered = bool((probabilities >= 0.0).all())
    if not ordered or fractional(r):
        return None
    table = _table_of_counts(r.design.sample, probabilities)
    if table is None or table.df <= np.count_nonzero(~r.fit.aliased):
        return None
    return table


@dataclass(frozen=True, eq=False)
class CountTable:
    """Observed and expected counts (J, K) of groups of rows, by level."""

    rows: str
    observed: FloatArray
    expected: FloatArray

    @classmethod
    def of(
        cls, codes: IntArray, sample: Sample, probabilities: FloatArray, rows: str
    ) -> CountTable:
        """The counts of groups with codes (N,)."""
        K = sample.n_levels
        weights = sample.case_weights
        n_groups = int(codes.max()) + 1
        observed = np.bincount(codes * K + sample.y, weights, n_groups * K).reshape(
            n_groups, K
        )
        expected = [np.bincount(codes, weights * p, n_groups) for p in probabilities.T]
        return cls(rows, observed.astype(np.float64), np.column_stack(expected))

    @property
    def df(self) -> int:
        """Number of free probabilities of the saturated model."""
        return int(len(self.observed) * (self.observed.shape[1] - 1))

    @property
    def pearson(self) -> float:
        # an expected count may be 0
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(((self.observed - self.expected) ** 2 / self.expected).sum())

    @property
    def deviance(self) -> float:
        """Twice the log-likelihood of the saturated table over that of the model."""
        seen = self.observed > 0.0
        return float(
            2.0
            * (self.observed[seen] @ np.log(self.observed[seen] / self.expected[seen]))
        )


def _table_of_counts(sample: Sample, probabilities: FloatArray) -> CountTable | None:
    """Counts of the distinct rows of all columns; None unless a cell has five cases on
    average.

    Fewer have no chi-squared distribution, and single rows with continuous columns have
    one case or none.
    """
    rows = sample.rows
    parts = [rows.X, rows.nominal, rows.scale, rows.offset, rows.scale_offset]
    given = [part.reshape(sample.n, -1) for part in parts if part is not None]
    used = sample.case_weights > 0.0
    codes = np.unique(np.hstack(given)[used], axis=0, return_inverse=True)[1].reshape(
        -1
    )
    cells = (int(codes.max()) + 1) * sample.n_levels
    if sample.case_weights.sum() < _FEW * cells:
        return None
    return CountTable.of(
        codes.astype(np.intp), sample.take(used), probabilities[used], "distinct row"
    )


def score_groups(
    scores: FloatArray, weights: FloatArray, wanted: int | None
) -> IntArray:
    """(N,) group codes 0, 1, ... of nearly equal weight in the order of the scores;
    equal scores stay together. If no number is wanted, ten groups or as many as equal
    scores allow.

    Raises
    ------
    DataError
        Too few distinct scores for that many groups, or for three.
    """
    # equal up to rounding
    values, inverse = np.unique(np.round(scores, 10), return_inverse=True)
    share = np.bincount(inverse, weights) / weights.sum()
    middle = np.cumsum(share) - 0.5 * share
    n_groups = _GROUPS if wanted is None else wanted
    while True:
        groups = np.minimum((middle * n_groups).astype(np.intp), n_groups - 1)
        formed = np.unique(groups).size
        if formed == n_groups:
            return np.asarray(groups[inverse], dtype=np.intp)
        if wanted is not None or n_groups == _FEWEST:
            break
        n_groups = max(formed, _FEWEST)
    do = "No test by groups is possible."
    if formed >= _FEWEST:
        do = f"Use groups={formed} or fewer."
    raise DataError(
        f"the rows have {values.size} distinct scores, too few (or with too unequal"
        f" counts) for {n_groups} groups: only {formed} can be formed. {do}"
    )
