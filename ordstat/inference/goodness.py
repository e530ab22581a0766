"""Goodness of fit and discrimination between ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import whole
from ..exceptions import DataError, OrdstatError, UnavailableError
from ..formula.sample import Sample, row_blocks
from ..judging.errors import (
    concordance,
    pair_counts,
    pair_table,
    ranked_probability_scores,
    ratio,
    somers_d,
    spearman,
)
from ..likelihood.unavailable import check_available
from ..report.cells import MISSING, short_p_value, wrapped
from ..report.frames import NotedFrame
from ..report.grid import SCREEN
from ..report.render import Report, Reported, Table
from ..report.sections import fractional
from .summary import no_rounding, test_figures
from .wald import chi2_tail

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


_NAME = "ordinal Hosmer-Lemeshow (Fagerland and Hosmer)"
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
        statistic, df, p_value of the test by groups and, for a table of counts, of
        Pearson's test and the deviance against the saturated table.
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


def goodness_of_fit(r: LikelihoodResults, groups: int | None = None) -> GoodnessOfFit:
    """Test the model against unspecified departures."""
    check_available(r, "gof()")
    sample = r.design.sample
    probabilities = r.rule.probabilities(sample.rows, r.fit.scores)
    scores = probabilities @ np.arange(1.0, sample.n_levels + 1.0)
    tests: dict[str, tuple[float, int]] = {}
    tables: list[CountTable] = []
    refused: OrdstatError | None = None
    try:
        if groups is not None:
            groups = whole("groups", groups, 3)
        check_available(r, "gof() of groups")
        if groups is None:
            codes = _most_groups(scores, sample.case_weights)
        else:
            codes = score_groups(scores, sample.case_weights, groups)
    except (DataError, UnavailableError) as problem:
        refused = problem
    else:
        K = sample.n_levels
        by_group = CountTable.of(codes, sample, probabilities, "group")
        df = (len(by_group.observed) - 2) * (K - 1) + (K - 2)
        tests["Pearson chi2"] = by_group.pearson, df
        tables.append(by_group)
    ordered = bool(
        (probabilities >= 0.0).all()
    )  # else thresholds cross, and counts have no expected values
    if (
        groups is None
        and ordered
        and not fractional(r)
        and (saturated := _table_of_counts(sample, probabilities))
    ):
        df = saturated.df - int(np.count_nonzero(~r.fit.aliased))
        if df > 0:
            tests["Pearson chi2, saturated table"] = saturated.pearson, df
            tests["deviance, saturated table"] = saturated.deviance, df
            tables.append(saturated)
    if not tests:
        assert refused is not None
        raise refused
    few = max(float(np.mean(table.expected < _FEW)) for table in tables)
    rough = (
        f"{100.0 * few:.0f}% of the expected counts are below 5: the p-value is rough."
    )
    notes = (rough, _BLIND) if few > 0.2 else (_BLIND,)
    rows = [(value, df, float(chi2_tail(value, df))) for value, df in tests.values()]
    frame = pd.DataFrame(
        rows, index=list(tests), columns=["statistic", "df", "p_value"]
    )
    name = _NAME if refused is None else "table of counts"
    first = tables[0]
    index = [f"{first.rows} {number}" for number in range(1, len(first.observed) + 1)]
    return GoodnessOfFit(
        name=name,
        table=NotedFrame.of(frame, notes, f"Goodness of fit: {name}"),
        observed=pd.DataFrame(first.observed, index=index, columns=list(r.levels)),
        expected=pd.DataFrame(first.expected, index=index, columns=list(r.levels)),
        notes=notes,
    )


#: Groups by default; expected counts below this make the chi-squared approximation
#: rough.
_GROUPS = 10
_FEW = 5.0


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
        """Free probabilities of the saturated table."""
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


def _most_groups(scores: FloatArray, weights: FloatArray) -> IntArray:
    """Ten groups by score, or as many as equal scores allow.

    Raises
    ------
    DataError
        There are fewer than three.
    """
    wanted = _GROUPS
    while True:
        codes = _grouped(scores, weights, wanted)[0]
        formed = np.unique(codes).size
        if formed == wanted or formed < 3:
            return score_groups(scores, weights, max(formed, 3))
        wanted = formed


def _grouped(
    scores: FloatArray, weights: FloatArray, n_groups: int
) -> tuple[IntArray, int]:
    """(N,) codes in 0..n_groups-1 by nearly equal weight, and the number of distinct
    scores.
    """
    # equal up to rounding
    values, inverse = np.unique(np.round(scores, 10), return_inverse=True)
    share = np.bincount(inverse, weights) / weights.sum()
    middle = np.cumsum(share) - 0.5 * share
    groups = np.minimum((middle * n_groups).astype(np.intp), n_groups - 1)
    return groups[inverse].astype(np.intp), values.size


def score_groups(scores: FloatArray, weights: FloatArray, n_groups: int) -> IntArray:
    """(N,) group codes 0..n_groups-1 of nearly equal weight in the order of the scores;
    equal scores stay together.

    Raises
    ------
    DataError
        Too few distinct scores for that many groups.
    """
    groups, n_scores = _grouped(scores, weights, n_groups)
    formed = np.unique(groups).size
    if formed < n_groups:
        raise DataError(
            f"the rows have {n_scores} distinct scores, too few (or with too unequal"
            f" counts) for {n_groups} groups: only {formed} can be formed. "
            + (
                f"Use groups={formed} or fewer."
                if formed > 2
                else "No test by groups is possible."
            )
        )
    return groups


# Discrimination

#: Figures of the test of all effects, which assumes independent rows.
_TESTS = ["lr_chi2", "lr_df", "lr_p_value"]


#: Meaning of names in the series.
_MEANING = (
    "g, gr, gp: Gini's mean difference of the score, exp(g), and Gini's mean difference"
    " of P(Y >= middle level). pdm: mean distance of P(Y >= median level) from 1/2."
    " r2_n_p, r2_effective_p: R2 of the likelihood ratio minus its df. n_effective: n"
    " reduced for ties; r2_effective uses it in place of n."
)


class Discrimination(pd.Series):
    """The series of `discrimination`, printed without powers of ten."""

    @property
    def _constructor(self) -> type[Discrimination]:
        return Discrimination

    def __repr__(self) -> str:
        names = [str(name) for name in self.index]
        shown = [
            short_p_value(v) if n.endswith("p_value") else f"{v:.4g}"
            for n, v in zip(names, self, strict=True)
        ]
        width = max(map(len, names), default=0)
        lines = zip(names, shown, strict=True)
        text = "\n".join(
            f"{name:<{width}}  {MISSING if text == 'nan' else text:>9}"
            for name, text in lines
        )
        return "\n".join(
            [text, "", *wrapped(_MEANING, SCREEN)] if "pdm" in names else [text]
        )


#: exp() of a larger number is infinite.
_LARGEST_LOG = 709.0


def discrimination_series(r: LikelihoodResults) -> pd.Series:
    """The statistics that R's rms reports: tests of all effects, R2s, g, rank
    correlations, Brier score.
    """
    check_available(r, "discrimination()")
    fit = r.fit
    sample = r.design.sample
    weights = sample.case_weights
    K = sample.n_levels
    n = float(weights.sum())
    df = int(np.count_nonzero(~fit.aliased)) - fit.null_edf
    lr = 2.0 * (fit.loglik - fit.null_loglik)
    shares = np.bincount(sample.y, weights, K) / n
    effective = n * (1.0 - float((shares**3).sum()))
    middle = K // 2
    median = max(1, int(np.searchsorted(np.cumsum(shares), 0.5 - 1e-12)))
    above, over_median, rps, mean = _probability_figures(r, (middle, median))
    order = fit.scores if sample.rows.one_scale else mean
    by_order = pair_table(sample.y, order, weights)
    pairs = pair_counts(by_order)
    g = gini_mean_difference(fit.scores, weights)
    tests = (
        dict.fromkeys(_TESTS, np.nan) if r.covariance == "survey" else test_figures(r)
    )
    values = tests | {
        "cox_snell": no_rounding(-float(np.expm1(-lr / n))),
        "nagelkerke": no_rounding(
            float(np.expm1(-lr / n) / np.expm1(2.0 * fit.null_loglik / n))
        ),
        "mcfadden": no_rounding(1.0 - fit.loglik / fit.null_loglik),
        "r2_n_p": -float(np.expm1(-max(lr - df, 0.0) / n)),
        "n_effective": effective,
        "r2_effective": -float(np.expm1(-lr / effective)),
        "r2_effective_p": -float(np.expm1(-max(lr - df, 0.0) / effective)),
        "g": g,
        "gr": math.inf if g > _LARGEST_LOG else math.exp(g),
        "gp": gini_mean_difference(above, weights),
        "pdm": float(np.average(np.abs(over_median - 0.5), weights=weights)),
        "rho": spearman(by_order),
        "c_index": concordance(pairs),
        "somers_d": somers_d(pairs),
        "gamma": ratio(
            pairs.concordant - pairs.discordant, pairs.concordant + pairs.discordant
        ),
        "tau_a": ratio(pairs.concordant - pairs.discordant, 0.5 * _pairs(n)),
        f"brier_at_{r.levels[middle]}": float(
            np.average((above - (sample.y >= middle)) ** 2, weights=weights)
        ),
        "rps": float(np.average(rps, weights=weights)),
    }
    return Discrimination(values, name="value", dtype=np.float64)


def _probability_figures(
    r: LikelihoodResults, cuts: tuple[int, int]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """(N,) P(rank code >= cut) at two cuts, ranked probability scores and expected
    ranks, in blocks of rows.
    """
    sample = r.design.sample
    parts = []
    ranks = np.arange(sample.n_levels, dtype=np.float64)
    for rows in row_blocks(sample.n, sample.n_levels):
        probabilities = r.rule.probabilities(sample.rows.take(rows), r.fit.scores[rows])
        above = (probabilities[:, cut:].sum(axis=1) for cut in cuts)
        parts.append(
            np.stack(
                [
                    *above,
                    ranked_probability_scores(probabilities, sample.y[rows]),
                    probabilities @ ranks,
                ]
            )
        )
    first, second, rps, mean = np.concatenate(parts, axis=1)
    return first, second, rps, mean


def _pairs(total: float) -> float:
    """Number of ordered pairs of different cases; 0 for one case or less."""
    return total * (total - 1.0) if total > 1.0 + 1e-9 else 0.0


def gini_mean_difference(values: FloatArray, weights: FloatArray) -> float:
    """Mean |a - b| over the pairs of different cases; NaN where the weights sum to 1 or
    less.

    Examples
    --------
    >>> gini_mean_difference(np.array([0.0, 1.0, 3.0]), np.ones(3))
    2.0
    """
    order = np.argsort(values)
    v = values[order] - values[order[0]]
    w = weights[order]
    total = float(w.sum())
    below = np.cumsum(w) - w
    return ratio(2.0 * float((w * v) @ (2.0 * below + w - total)), _pairs(total))
