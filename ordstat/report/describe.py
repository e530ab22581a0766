"""Ordered answers described: counts, medians, ridits, Mann-Whitney probabilities."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtri, stdtrit

from .._typing import BoolArray, FloatArray, IntArray
from ..advice import with_advice
from ..checks import counted, fraction, label_texts
from ..exceptions import DataError, DataWarning, OptionError, warn
from ..formula.columns import Columns, Factor, as_frame, factor_of, find_column, read
from ..formula.inputs import read_items, vector, weights_of
from ..formula.survey import Linearised, SurveyDesign, survey_of
from .frames import NotedFrame
from .grid import SCREEN
from .rank_tests import (
    RankTest,
    design_errors,
    design_rank_test,
    indicators,
    jonckheere_terpstra,
    kruskal_wallis,
)
from .render import Report, Reported, Table
from .sections import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Smaller standard errors count as 0.
_ROUNDING = 1e-9


def mid_shares(counts: FloatArray) -> FloatArray:
    """(..., K) share of the answers below each level plus half the share at it; NaN
    without answers.

    Examples
    --------
    >>> mid_shares(np.array([2.0, 2.0, 4.0])).tolist()
    [0.125, 0.375, 0.75]
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(
            (np.cumsum(counts, axis=-1) - 0.5 * counts)
            / counts.sum(axis=-1, keepdims=True)
        )


@dataclass(frozen=True, eq=False)
class Ridits:
    """Mean ridits of G samples, with all of them together as reference.

    Attributes
    ----------
    counts : (G, K) of the levels in each sample

    Examples
    --------
    >>> Ridits(np.array([[4.0, 1.0, 0.0], [1.0, 2.0, 2.0]])).means.round(3).tolist()
    [0.33, 0.67]
    """

    counts: FloatArray

    @property
    def means(self) -> FloatArray:
        """(G,) mean ridits; NaN for a sample without answers."""
        with np.errstate(invalid="ignore"):
            return np.asarray(
                self.counts
                @ mid_shares(self.counts.sum(axis=0))
                / self.counts.sum(axis=1)
            )

    def influence(self) -> FloatArray:
        """(G, G, K) change of the mean ridit of sample g by one answer of sample h at
        level k.

        The answer always belongs to the reference; if h = g, it is also one of the
        answers that are averaged.
        """
        n = self.counts.sum(axis=1)
        ridits = mid_shares(self.counts.sum(axis=0))
        above = 1.0 - mid_shares(self.counts)
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = above @ (self.counts / n[:, None]).T
            averaged = (ridits - self.means[:, None]) / n[:, None]
        reference = (above[:, None, :] - centre[:, :, None]) / n.sum()
        return np.asarray(reference + np.eye(n.size)[:, :, None] * averaged[:, None, :])

    def independent_errors(self) -> FloatArray:
        """(G,) standard errors if every row gives one answer: samples are groups; NaN
        for fewer than 2 answers.
        """
        n = self.counts.sum(axis=1)
        several = n > 1.0
        corrected = self.counts[several] * (n[several] / (n[several] - 1.0))[:, None]
        variances = np.einsum("ghk,hk->g", self.influence()[:, several] ** 2, corrected)
        return np.where(several, np.sqrt(variances), np.nan)

    def paired_errors(self, codes: IntArray, weights: FloatArray) -> FloatArray:
        """(G,) standard errors if the same rows give all answers: samples are items.

        Parameters
        ----------
        codes : (N, G) levels of the answers, -1 for missing ones
        weights : (N,) case weights
        """
        answered = codes >= 0
        moved = np.array(
            [
                np.where(answered, change[np.arange(len(change)), codes], 0.0).sum(
                    axis=1
                )
                for change in self.influence()
            ]
        )
        n = float(weights[answered.any(axis=1)].sum())
        return np.asarray(
            np.sqrt(moved**2 @ weights * (n / (n - 1.0) if n > 1.0 else np.nan))
        )


@dataclass(frozen=True)
class MannWhitney:
    """P(X > Y) + P(X = Y) / 2 of two independent samples, its standard error and
    degrees of freedom.
    """

    probability: float
    std_error: float
    df: float

    def limits(self, level: float) -> tuple[float, float]:
        """Confidence limits; see `logit_limits`."""
        low, high = logit_limits(
            self.probability, self.std_error, float(stdtrit(self.df, 0.5 + level / 2.0))
        )
        return float(low), float(high)


def superiority(x: FloatArray, y: FloatArray) -> MannWhitney:
    """The Mann-Whitney probability from the counts (K,) of two samples, with the error
    of Brunner & Munzel (2000).

    The variance is computed from the placements of each sample among the other [as
    DeLong, DeLong & Clarke-Pearson 1988 for areas under ROC curves]: it does not assume
    equal distributions, and ties count half. NaN if a sample has fewer than two
    answers.

    Examples
    --------
    >>> chance = superiority(np.array([1.0, 2.0, 2.0]), np.array([4.0, 1.0, 0.0]))
    >>> round(chance.probability, 4), round(chance.std_error, 4)
    (0.84, 0.1273)
    """
    among_y = mid_shares(y)
    above_y = 1.0 - mid_shares(x)
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = np.array([_variance(among_y, x), _variance(above_y, y)])
        size = np.array([x.sum(), y.sum()])
        df = parts.sum() ** 2 / np.sum(parts**2 / (size - 1.0))
        probability = among_y @ x / size[0]
    return MannWhitney(float(probability), float(np.sqrt(parts.sum())), float(df))


def _variance(values: FloatArray, counts: FloatArray) -> float:
    """Variance of the mean of values with these counts."""
    n = counts.sum()
    spread = counts @ (values - values @ counts / n) ** 2
    return float(spread / (n - 1.0) / n) if n > 1.0 else float("nan")


def logit_limits(
    p: FloatArray | float, std_error: FloatArray | float, quantile: float
) -> tuple[FloatArray, FloatArray]:
    """Limits of a probability, symmetric on the logit scale; NaN where the standard
    error is 0, as it is at 0 and 1.
    """
    p = np.asarray(p)
    std_error = np.asarray(std_error)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = np.where(
            std_error > _ROUNDING, quantile * std_error / (p * (1.0 - p)), np.nan
        )
        return np.asarray(expit(logit(p) - half)), np.asarray(expit(logit(p) + half))


#: Fewest characters of a level's name beside other columns, and characters of those
#: columns.
_SHORTEST = 8
_FIGURES = 34
#: With more groups, `by` is probably a number that should be cut into classes.
_MOST_GROUPS = 50


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OrdinalDescription(Reported):
    """Ordered answers by item or group; what `describe_ordinal` returns.

    Attributes
    ----------
    title : str
    counts : pandas.DataFrame
        Answers: a row for each item, group, or (item, group), a column for each level.
        A row counts its weight, or once if weights are not numbers of rows.
    shares : pandas.DataFrame
        Shares of the levels in each row, by the weights; NaN without answers.
    missing : pandas.Series
        Rows without an answer.
    ridits : pandas.DataFrame
        ridit (mean, against all rows of the table together; with groups of several
        items, all groups of the item), std_error, lower, upper. A ridit of 0.5 means no
        difference from the reference.
    mann_whitney : pandas.DataFrame
        A row per pair of groups: probability, P(X > Y) + P(X = Y) / 2 for answers X of
        the first and Y of the second, std_error, lower, upper. Empty without `by`.
    tests : pandas.DataFrame
        Tests between groups, for each item: "Kruskal-Wallis" (statistic, df, p_value)
        and, with three or more groups in an order, "Jonckheere-Terpstra". With a survey
        design they are F tests of ridits, "Kruskal-Wallis" and "trend", with den_df.
        Empty without `by`.
    level : float
        Confidence level of the limits.
    notes : tuple of str
    """

    title: str
    counts: pd.DataFrame
    shares: pd.DataFrame
    missing: pd.Series
    ridits: pd.DataFrame
    mann_whitney: pd.DataFrame
    tests: pd.DataFrame
    level: float
    notes: tuple[str, ...] = field(default=())

    @property
    def n(self) -> pd.Series:
        """Answers of each row."""
        return self.counts.sum(axis=1).rename("n")

    @property
    def percent(self) -> pd.DataFrame:
        """Percentages of the answers of each row, by the weights."""
        return 100.0 * self.shares

    @property
    def median(self) -> pd.Series:
        """The median level; the lower one if half of the answers are at or below it.
        None without answers.
        """
        cumulative = self.shares.cumsum(axis=1).to_numpy()
        places = (cumulative >= 0.5 * (1.0 - 1e-12)).argmax(axis=1)
        values = [
            self.counts.columns[place] if n > 0.0 else None
            for place, n in zip(places, self.n, strict=True)
        ]
        return pd.Series(values, index=self.counts.index, name="median", dtype=object)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Any:
        """Diverging stacked bars of the shares, a bar for each row with its number of
        answers (Likert chart).

        Parameters
        ----------
        ax : matplotlib axes, optional
        title : str, optional
        labels : mapping of str to str, optional
            Texts to show for items, groups and levels: {"q1": "I like my work"}.

        Returns
        -------
        matplotlib axes
        """
        from ..plots.likert import likert
        from ..plots.style import Sheet

        pairs = _pairs(self.counts.index)
        names = [name for _, name in pairs]
        headings = [heading for heading, _ in pairs]
        shares = self.shares.to_numpy()
        sizes = self.n.to_numpy()
        sheet = Sheet(ax, title, label_texts(labels))
        return sheet.show(
            likert, shares, sizes, list(self.counts.columns), names, headings
        )

    def report(self) -> Report:
        """The tables as data."""
        return _report(self)


_FRACTIONS = (
    "weights= must be frequency counts; these are not whole numbers. Rows are counted"
    " once, percentages and ridits use the weights, but standard errors and tests"
    " change with the scale of the weights. Give sampling weights as"
    " design=SurveyDesign(weights=...)."
)


@with_advice
def describe_ordinal(
    df: Any,
    rows: str | Sequence[str],
    by: str | None = None,
    levels: Sequence[Any] | None = None,
    weights: Any = None,
    *,
    design: SurveyDesign | None = None,
    level: float = 0.95,
) -> OrdinalDescription:
    """Describe one or several ordered columns: counts, medians, ridits and, between
    groups, Mann-Whitney probabilities and rank tests.

    Parameters
    ----------
    df : data frame
        As in `ordfit`. Never changed.
    rows : str or list of str
        An ordered column, or several with the same levels (the items of a
        questionnaire).
    by : str, optional
        Column of groups to compare.
    levels : sequence, optional
        Order of the answers, lowest first; required for unordered strings. Levels of
        numbers are those that occur in any of the columns.
    weights : str or array of length N, optional
        Case weights: the number of rows that a row stands for.
    design : SurveyDesign, optional
        Sampling weights with strata and clusters; percentages, medians and ridits are
        then those of the population, and errors and tests follow from the design.
    level : float in (0, 1)
        Confidence level of the limits.

    Returns
    -------
    OrdinalDescription
        `.counts`, `.percent`, `.median`, `.ridits`, `.mann_whitney`, `.tests` and
        `.plot()`; it prints its tables.

    Raises
    ------
    DataError
        Columns that do not exist, have no order, or have different levels.
    OptionError
        No column in `rows`, or a column twice; weights beside a design, or a design
        with replicate weights.

    Warns
    -----
    DataWarning
        Values that may be codes of missing answers; rows left out because their group
        or weight is missing (missing answers are counted); weights that are not whole;
        numeric items whose highest answers differ by more than a level.

    Notes
    -----
    The reference of ridits [Bross 1958; Fleiss, Levin & Paik 2003, sec. 9.4] is the
    answers of all rows of the table, or of all groups of an item. Standard errors
    allow for a reference estimated from the same rows, and are valid whether or not
    the distributions are equal; items of the same rows are compared as pairs. If
    all groups are alike, they are close to the textbook formula for a group against
    the others, times the share of the others. Mann-Whitney probabilities have the
    standard errors and t distribution of Brunner & Munzel (2000). All limits are
    symmetric on the logit scale, and missing where groups do not overlap.

    The Kruskal-Wallis test allows for ties. The trend test of Jonckheere and Terpstra
    needs groups in an order (an ordered categorical, numbers) and is exact for a few
    answers, else normal with a variance that allows for ties. With a design, standard
    errors are linearised, and tests are those of Lumley & Scott (2013), Two-sample rank
    tests under complex sampling, Biometrika 100, 831-842.

    References
    ----------
    Bross (1958), How to use ridit analysis, Biometrics 14, 18-38; Brunner & Munzel
    (2000), The nonparametric Behrens-Fisher problem, Biometrical Journal 42, 17-25;
    Kruskal & Wallis (1952), JASA 47, 583-621; Jonckheere (1954), A distribution-free
    k-sample test against ordered alternatives, Biometrika 41, 133-145.

    Examples
    --------
    >>> from ordstat import datasets, describe_ordinal
    >>> table = describe_ordinal(datasets.load("wine"), "rating", by="temp")
    >>> table.counts.to_numpy().astype(int).tolist()
    [[5, 16, 13, 2, 0], [0, 6, 13, 10, 7]]
    >>> table.mann_whitney.round(3)["probability"].to_dict()
    {('cold', 'warm'): 0.199}
    """
    frame = as_frame(df)
    names = _names(rows)
    fraction("level", level)
    used = _rows_used(frame, names, by, levels, weights, design)
    counts, missing = _counts(used, used.w)
    answers = counts
    if used.survey is not None or not np.array_equal(used.w, np.rint(used.w)):
        answers, missing = _counts(used, (used.w > 0.0).astype(np.float64))
    if not counts.sum() > 0.0:
        raise DataError(
            f"rows={names!r} has no answer to describe: all are missing or have"
            " weight 0."
        )
    index = _index(names, by, used.labels)
    limits = f"Limits: {100 * level:g}%."
    total = counts.sum(axis=2, keepdims=True)
    shares = counts / np.where(total > 0.0, total, np.nan)
    columns = pd.Index(used.levels, dtype=object)
    return OrdinalDescription(
        title=", ".join(names) + ("" if by is None else f" by {by}"),
        counts=pd.DataFrame(
            answers.reshape(len(index), -1), index=index, columns=columns
        ),
        shares=pd.DataFrame(
            shares.reshape(len(index), -1), index=index, columns=columns
        ),
        missing=pd.Series(missing.ravel(), index=index, name="missing"),
        ridits=NotedFrame.of(
            _ridits(counts, used, index, level), [limits], "Mean ridits"
        ),
        mann_whitney=NotedFrame.of(
            _mann_whitney(counts, names, by, used, level),
            [limits],
            "Mann-Whitney probabilities",
        ),
        tests=_tests(counts, names, by is not None, used),
        level=level,
        notes=used.notes,
    )


# Reading


@dataclass(frozen=True, eq=False, kw_only=True)
class _Rows:
    """The rows used: codes (N, J) of the items, -1 where missing, groups (N,) and
    weights (N,), with the levels, the labels of the groups, whether these have an
    order, the survey design and notes.
    """

    codes: IntArray
    groups: IntArray
    w: FloatArray
    levels: tuple[Any, ...]
    labels: tuple[Any, ...]
    in_order: bool
    survey: Linearised | None
    notes: tuple[str, ...]


def _rows_used(
    frame: pd.DataFrame,
    names: list[str],
    by: str | None,
    levels: Any,
    weights: Any,
    design: SurveyDesign | None,
) -> _Rows:
    """The rows with a group and a weight, with warnings about doubtful ones."""
    shared, codes, notes = read_items(frame, names, levels)
    for doubt in notes:
        warn(doubt, DataWarning)
    highest = [shared[code] for code in codes.max(axis=0)]
    if levels is None and frame[names[0]].dtype != "category" and np.ptp(highest) > 1:
        tops = ", ".join(map("{} ({})".format, names, highest))
        notes.append(
            f"Highest answers differ: {tops}. Ridits compare items of one scale."
            " Describe items of different scales separately, or give levels=[...] if"
            " all have the same scale."
        )
        warn(notes[-1], DataWarning)
    groups, labels, in_order = _groups(frame, by, names)
    w, weighted = _weights(frame, weights, design)
    keep, note = _kept(groups >= 0, weighted, by)
    if note:
        notes.append(note)
        warn(note, DataWarning)
    survey = None
    if design is not None:
        survey = _survey(design, frame, keep)
        notes.append(f"Survey design: {survey.words}.")
    return _Rows(
        codes=codes[keep],
        groups=groups[keep],
        w=w[keep],
        levels=shared,
        labels=labels,
        in_order=in_order,
        survey=survey,
        notes=tuple(notes),
    )


def _names(rows: Any) -> list[str]:
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        names = [rows]
    else:
        names = list(rows)
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(
            f"rows must be the name of a column or a list of names; got {rows!r}."
        )
    if twice := [name for name in names if names.count(name) > 1]:
        raise OptionError(f"rows must name each column once; got {twice[0]!r} twice.")
    return names


def _groups(
    frame: pd.DataFrame, by: Any, names: list[str]
) -> tuple[IntArray, tuple[Any, ...], bool]:
    """(N,) codes of the groups that occur, -1 where missing, their labels, and whether
    these have an order; one group without `by`.
    """
    if by is None:
        return np.zeros(len(frame), dtype=np.intp), ("all",), False
    if not isinstance(by, str) or by in names:
        raise OptionError(
            f"by must be the name of one column that is not in rows=; got {by!r}."
        )
    column = read(find_column(frame, by, "by="))
    factor: Factor = factor_of(column.value, by)
    if column.missing is None:
        codes = factor.codes
    else:
        codes = np.where(column.missing, -1, factor.codes)
    used, places = np.unique(codes[codes >= 0], return_inverse=True)
    if not 0 < used.size <= _MOST_GROUPS:
        raise DataError(
            f"by={by!r} must have from 1 to {_MOST_GROUPS} groups; it has {used.size}."
            " Cut numbers into classes with pd.cut."
        )
    groups = np.full(codes.size, -1, dtype=np.intp)
    groups[codes >= 0] = places
    in_order = factor.ordered or not isinstance(column.value, Factor)
    return groups, tuple(factor.levels[code] for code in used), in_order


def _weights(
    frame: pd.DataFrame, weights: Any, design: Any
) -> tuple[FloatArray, BoolArray]:
    """(N,) case or sampling weights, and a mask of the rows that have one."""
    every = np.ones(len(frame), dtype=np.bool_)
    if design is not None and not isinstance(design, SurveyDesign):
        raise OptionError(f"design must be a SurveyDesign; got {design!r}.")
    if design is not None and weights is not None:
        raise OptionError(
            "weights must be left out beside design=, which has sampling weights; got"
            " both."
        )
    given = weights if design is None else design.weights
    if given is None:
        return every.astype(np.float64), every
    column = vector(given, "weights", Columns(frame), None, frame.index)
    missing = column.missing
    values = weights_of(column, given, frame.index)
    if design is None and not np.array_equal(values, np.rint(values)):
        warn(_FRACTIONS, DataWarning)
    return values, every if missing is None else ~missing


def _survey(design: SurveyDesign, frame: pd.DataFrame, keep: BoolArray) -> Linearised:
    """The design of the rows used; units without rows still count as drawn."""
    survey = survey_of(design, frame)
    if not isinstance(survey, Linearised):
        raise OptionError(
            "design must have strata or clusters here; got replicate weights. Leave"
            " them out and give strata= and clusters=, or weights alone."
        )
    survey = survey.take(keep)
    survey.check()
    return survey


def _kept(
    grouped: BoolArray, weighted: BoolArray, by: str | None
) -> tuple[BoolArray, str]:
    """(N,) mask of the rows with a group and a weight, and a note about the others."""
    causes = {f"{by}": ~grouped, "weights": ~weighted}
    counts = [
        f"{name} ({int(lost.sum())})" for name, lost in causes.items() if lost.any()
    ]
    keep: BoolArray = grouped & weighted
    lost = (
        f"{int((~keep).sum())} of {counted(keep.size, 'row')} left out for missing"
        " values"
    )
    return keep, f"{lost}: {', '.join(counts)}." if counts else ""


def _index(names: list[str], by: str | None, labels: tuple[Any, ...]) -> pd.Index:
    """Rows of the tables: items, groups of one item, or both."""
    index: pd.Index
    if by is None or len(names) == 1:
        index = pd.Index(names if by is None else labels, dtype=object, name=by)
    else:
        index = pd.MultiIndex.from_product([names, labels], names=["item", by])
    return index


# Numbers


def _counts(rows: _Rows, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Counts of answers (J, G, K) and missing ones (J, G), by weights w: J items, G
    groups.
    """
    G = len(rows.labels)
    K = len(rows.levels)
    cells = [
        np.bincount(rows.groups * (K + 1) + item + 1, w, G * (K + 1)).reshape(G, K + 1)
        for item in rows.codes.T
    ]
    both = np.array(cells, dtype=np.float64)
    return both[:, :, 1:], both[:, :, 0]


def _ridits(
    counts: FloatArray, rows: _Rows, index: pd.Index, level: float
) -> pd.DataFrame:
    """Mean ridits with limits: groups against all groups of the item, or items against
    all items of the same rows.
    """
    by_group = counts.shape[1] > 1
    items = [Ridits(item) for item in (counts if by_group else [counts[:, 0]])]
    quantile = float(ndtri(0.5 + level / 2.0))
    if rows.survey is not None:
        errors = [_design_errors(items[0].influence(), rows, np.arange(len(counts)))]
        if by_group:
            changes = [item.influence() for item in items]
            errors = [_design_errors(c, rows, [j]) for j, c in enumerate(changes)]
        quantile = float(stdtrit(rows.survey.df, 0.5 + level / 2.0))
    elif by_group:
        errors = [item.independent_errors() for item in items]
    else:
        errors = [items[0].paired_errors(rows.codes, rows.w)]
    mean = np.concatenate([item.means for item in items])
    error = np.concatenate(errors)
    lower, upper = logit_limits(mean, error, quantile)
    return pd.DataFrame(
        {"ridit": mean, "std_error": error, "lower": lower, "upper": upper}, index=index
    )


def _design_errors(
    change: FloatArray, rows: _Rows, items: IntArray | list[int]
) -> FloatArray:
    """(G,) standard errors by the design, where an answer of sample h at level k moves
    estimate g by change[g, h, k]; samples are groups of one item, or items.
    """
    assert rows.survey is not None
    influence = np.zeros((len(rows.w), len(change)))
    for item in items:
        answered = rows.codes[:, item] >= 0
        samples = rows.groups[answered]
        if len(items) > 1:
            samples = np.full(samples.size, item)
        influence[answered] += change[:, samples, rows.codes[answered, item]].T
    return design_errors(influence, rows.w, rows.survey)


def _mann_whitney(
    counts: FloatArray,
    names: list[str],
    by: str | None,
    rows: _Rows,
    level: float,
) -> pd.DataFrame:
    """Mann-Whitney probabilities with limits for every pair of groups of each item."""
    pairs = list(combinations(range(counts.shape[1]), 2)) if by is not None else []
    found = []
    for j, (name, item) in enumerate(zip(names, counts, strict=True)):
        for a, b in pairs:
            estimate = superiority(item[a], item[b])
            if rows.survey is not None:
                estimate = _by_design(estimate, item, (a, b), rows, j)
            found.append(
                (
                    name,
                    rows.labels[a],
                    rows.labels[b],
                    estimate.probability,
                    estimate.std_error,
                    *estimate.limits(level),
                )
            )
    columns = ["item", "first", "second", "probability", "std_error", "lower", "upper"]
    frame = pd.DataFrame(found, columns=columns).set_index(columns[:3]).astype(float)
    return frame if len(names) > 1 else frame.droplevel("item")


def _by_design(
    estimate: MannWhitney,
    counts: FloatArray,
    pair: tuple[int, int],
    rows: _Rows,
    item: int,
) -> MannWhitney:
    """The estimate with the standard error and degrees of freedom of the design."""
    assert rows.survey is not None
    a, b = pair
    change = np.zeros((1, *counts.shape))
    among_b = mid_shares(counts[b])
    above_b = 1.0 - mid_shares(counts[a])
    with np.errstate(invalid="ignore", divide="ignore"):
        change[0, a] = (among_b - estimate.probability) / counts[a].sum()
        change[0, b] = (above_b - estimate.probability) / counts[b].sum()
    error = float(_design_errors(change, rows, [item])[0])
    return MannWhitney(estimate.probability, error, float(rows.survey.df))


def _tests(
    counts: FloatArray, names: list[str], grouped: bool, rows: _Rows
) -> NotedFrame:
    """Rank tests between the groups of each item."""
    found: list[tuple[str, str, RankTest]] = []
    trend = rows.in_order and counts.shape[1] > 2
    for j, name in enumerate(names if grouped and counts.shape[1] > 1 else []):
        if rows.survey is not None:
            tests = _design_tests(counts[j], rows, j, trend)
        else:
            tests = {"Kruskal-Wallis": kruskal_wallis(counts[j])}
            if trend:
                tests["Jonckheere-Terpstra"] = jonckheere_terpstra(counts[j])
        found += [(name, kind, test) for kind, test in tests.items()]
    columns = ["item", "test", "statistic", "df", "p_value", "den_df"]
    values = [(n, kind, t.statistic, t.df, t.p_value, t.den_df) for n, kind, t in found]
    frame = pd.DataFrame(values, columns=columns).set_index(["item", "test"])
    frame = frame.astype(float)
    if rows.survey is None:
        frame = frame.drop(columns="den_df")
    if len(names) == 1:
        frame = frame.droplevel("item")
    return NotedFrame.of(frame, [], "Tests between groups")


def _design_tests(
    counts: FloatArray, rows: _Rows, item: int, trend: bool
) -> dict[str, RankTest]:
    """F tests of the ridits of an item, by group and by the number of the group."""
    assert rows.survey is not None
    used = (rows.codes[:, item] >= 0) & (rows.w > 0.0)
    present, groups = np.unique(rows.groups[used], return_inverse=True)
    ridits = mid_shares(counts.sum(axis=0))[rows.codes[used, item]]
    survey = rows.survey.take(used)
    w = rows.w[used]
    by_group = indicators(groups, present.size)
    tests = {"Kruskal-Wallis": design_rank_test(ridits, by_group, w, survey)}
    if trend:
        steps = groups[:, None].astype(np.float64)
        tests["trend"] = design_rank_test(ridits, steps, w, survey)
    return tests


# Report


def _pairs(index: pd.Index) -> list[tuple[str, str]]:
    """(heading, name) of each row."""
    if isinstance(index, pd.MultiIndex):
        return [(str(item), str(group)) for item, group in index]
    return [("", str(name)) for name in index]


def _report(d: OrdinalDescription) -> Report:
    labels = [
        f"{heading}: {name}" if heading else name
        for heading, name in _pairs(d.counts.index)
    ]
    names = pd.Index(
        labels,
        name=": ".join(str(name) for name in d.counts.index.names if name is not None)
        or None,
    )
    header = () if len(names) > 1 else (("Median", d.median.iloc[0]),)
    tables = [_percent_table(d, names)]
    if len(names) > 1:
        tables.append(_ridit_table(d, names))
    if len(d.mann_whitney):
        tables.append(_pair_table(d))
    if len(d.tests):
        tables.append(_test_table(d))
    return Report(
        title=f"Ordered answers: {d.title}",
        header=header,
        tables=tuple(tables),
        notes=d.notes,
    )


def _percent_table(d: OrdinalDescription, names: pd.Index) -> Table:
    """Percentages under the names of the levels, or under 1..K with a key if the names
    take too much room.
    """
    percent = d.percent.set_axis([str(level) for level in d.counts.columns], axis=1)
    room = SCREEN - max(map(len, names)) - len("  n  missing  ") - 4
    numbered = sum(max(len(name), 5) + 2 for name in percent.columns) > room
    note = ""
    if numbered:
        key = [
            f"{k} = {name}"
            for k, name in enumerate(percent.columns, start=1)
            if name != str(k)
        ]
        note = f"Levels: {', '.join(key)}." if key else ""
        percent = percent.set_axis(
            [str(k + 1) for k in range(percent.shape[1])], axis=1
        )
    shown = dict.fromkeys(percent.columns, ".1f")
    frame = pd.concat([d.n, d.missing, percent], axis=1)
    formats = {"n": "int", "missing": "int"} | shown
    return shortened(
        Table(
            title="Percent of answers",
            frame=frame.set_axis(names),
            formats=formats,
            note=note,
        ),
        ".percent",
    )


def limit_names(level: float) -> dict[str, str]:
    """Printed names of the columns of standard errors and limits."""
    return {
        "std_error": "SE",
        "lower": f"{50 * (1 - level):.3g}%",
        "upper": f"{50 * (1 + level):.3g}%",
    }


def _ridit_table(d: OrdinalDescription, names: pd.Index) -> Table:
    room = max(_SHORTEST, SCREEN - max(map(len, names)) - _FIGURES)
    medians = [
        "NA" if level is None else textwrap.shorten(str(level), room, placeholder="...")
        for level in d.median
    ]
    frame = d.ridits.rename(columns=limit_names(d.level)).set_axis(names)
    frame.insert(0, "median", medians)
    reference = "all groups" if len(d.mann_whitney) else "all items"
    note = (
        f"Ridit: the probability that an answer is higher than one of {reference}"
        " together, a tie counting half; 0.5 means no difference."
    )
    return shortened(
        Table(
            title="Medians and mean ridits",
            frame=frame,
            formats=_decimals(frame),
            note=note,
        ),
        ".ridits",
    )


def _pair_table(d: OrdinalDescription) -> Table:
    names = [
        f"{': '.join(map(str, head))}{': ' if head else ''}{a} > {b}"
        for *head, a, b in d.mann_whitney.index
    ]
    by = pd.Index(names, name=d.counts.index.names[-1])
    frame = d.mann_whitney.rename(
        columns={"probability": "P"} | limit_names(d.level)
    ).set_axis(by)
    title = "Probability of a higher answer in the first group, a tie counting half"
    undefined = d.mann_whitney["lower"].isna().any()
    if undefined:
        note = (
            "No limits (NA) where groups do not overlap or have fewer than 2 answers."
        )
    else:
        note = ""
    return shortened(
        Table(title=title, frame=frame, formats=_decimals(frame), note=note),
        ".mann_whitney",
    )


def _test_table(d: OrdinalDescription) -> Table:
    names = [": ".join(map(str, np.atleast_1d(name))) for name in d.tests.index]
    frame = d.tests.set_axis(pd.Index(names, name="test"))
    surveyed = "den_df" in frame
    statistic = "F" if surveyed else "statistic"
    columns = ["statistic", "df", *(["den_df"] if surveyed else []), "p_value"]
    frame = frame[columns].rename(columns={"statistic": statistic})
    return shortened(
        Table(
            title="Tests between groups",
            frame=frame,
            formats={statistic: ".2f", "df": "int", "den_df": "int", "p_value": "p"},
        ),
        ".tests",
    )


def _decimals(frame: pd.DataFrame) -> dict[str, str]:
    return {name: ".3f" for name in frame.columns if name != "median"}
