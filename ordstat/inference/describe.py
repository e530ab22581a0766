"""Descriptive statistics of ordered answers: counts, medians, ridits, Mann-Whitney
probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..advice import with_advice
from ..checks import counted, fraction, label_texts
from ..exceptions import DataError, DataWarning, OptionError, warn
from ..formula.columns import Factor, as_frame, factor_of, find_column, read
from ..formula.inputs import case_weights_of, read_items
from ..formula.survey import Linearised, SurveyDesign, survey_of
from ..report.frames import NotedFrame
from ..report.render import Report, Reported
from .describe_tables import description_report, headed_names
from .rank_tests import (
    RankTest,
    design_errors,
    design_rank_test,
    indicators,
    jonckheere_terpstra,
    kruskal_wallis,
)
from .ridits import MannWhitney, Ridits, limits_of_shares, mann_whitney, mid_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With more groups, `by` is probably a number that should be cut into classes.
_MOST_GROUPS = 50


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OrdinalDescription(Reported):
    """Ordered answers by item or group; what `describe_ordinal` returns.

    Attributes
    ----------
    title : str
    counts : pandas.DataFrame
        Counts of answers: a row for each item, group, or (item, group), a column for
        each level. They are weighted if weights are numbers of rows.
    shares : pandas.DataFrame
        Shares of the levels in each row, by the weights; NaN without answers.
    missing : pandas.Series
        Rows without an answer.
    ridits : pandas.DataFrame
        Mean ridit, std_error, lower, upper. The reference is all rows of the table
        together; with groups of several items, all groups of the item. A ridit of 0.5
        means no difference from the reference.
    mann_whitney : pandas.DataFrame
        A row per pair of groups: probability, P(X > Y) + P(X = Y) / 2 for answers X of
        the first and Y of the second, std_error, lower, upper. Empty without `by`.
    tests : pandas.DataFrame
        Tests between groups, for each item: "Kruskal-Wallis" (statistic, df, p_value)
        and, with three or more groups in an order, "Jonckheere-Terpstra". With a survey
        design they are F tests of ridits, "Kruskal-Wallis" and "trend", with den_df.
        Empty without `by`.
    level : float
        Confidence level of the intervals.
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
        """Number of answers of each row."""
        return self.counts.sum(axis=1).rename("n")

    @property
    def percent(self) -> pd.DataFrame:
        """Percentages of the answers of each row, by the weights."""
        return 100.0 * self.shares

    @property
    def median(self) -> pd.Series:
        """The median level of each row (the lower one of two); None without answers."""
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

        pairs = headed_names(self.counts.index)
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
        return description_report(self)


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
        Case weights: the number of observations that a row represents.
    design : SurveyDesign, optional
        Sampling weights with strata and clusters. Percentages, medians and ridits then
        estimate those of the population, and standard errors and tests take the design
        into account.
    level : float in (0, 1)
        Confidence level of the intervals.

    Returns
    -------
    OrdinalDescription
        `.counts`, `.percent`, `.median`, `.ridits`, `.mann_whitney`, `.tests` and
        `.plot()`; it prints its tables.

    Raises
    ------
    DataError
        A column does not exist or has no order, or columns have different levels.
    OptionError
        No column in `rows`, or a column twice; weights and a design, or a design
        with replicate weights.

    Warns
    -----
    DataWarning
        Values that may be codes of missing answers. Rows left out because their group
        or weight is missing (missing answers are counted). Weights that are not whole
        numbers. Numeric items whose highest answers differ by more than one level.

    Notes
    -----
    The reference of ridits [Bross 1958; Fleiss, Levin & Paik 2003, sec. 9.4] is the
    answers of all rows of the table, or of all groups of an item. Standard errors allow
    for a reference estimated from the same rows, and are valid whether or not the
    distributions are equal; items of the same rows are compared as pairs. If all groups
    have the same distribution, they are close to the textbook formula for a group
    against the others, times the share of the others. Mann-Whitney probabilities have
    the standard errors and t distribution of Brunner & Munzel (2000). All confidence
    intervals are symmetric on the logit scale, and missing where groups do not overlap.

    The Kruskal-Wallis test allows for ties. The trend test of Jonckheere and Terpstra
    needs ordered groups (an ordered categorical or numbers). It is exact for few
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
    limits = f"{100 * level:g}% confidence intervals."
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
    if design is not None and not isinstance(design, SurveyDesign):
        raise OptionError(f"design must be a SurveyDesign; got {design!r}.")
    if design is not None and weights is not None:
        raise OptionError(
            "weights must be left out with design=, which has sampling weights; got"
            " both."
        )
    given = weights if design is None else design.weights
    values, present = case_weights_of(frame, given)
    if design is None and not np.array_equal(values, np.rint(values)):
        warn(_FRACTIONS, DataWarning)
    return values, present


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
    df = np.inf
    if rows.survey is not None:
        errors = [_design_errors(items[0].influence(), rows, np.arange(len(counts)))]
        if by_group:
            changes = [item.influence() for item in items]
            errors = [_design_errors(c, rows, [j]) for j, c in enumerate(changes)]
        df = float(rows.survey.df)
    elif by_group:
        errors = [item.independent_errors() for item in items]
    else:
        errors = [items[0].paired_errors(rows.codes, rows.w)]
    mean = np.concatenate([item.means for item in items])
    error = np.concatenate(errors)
    lower, upper = limits_of_shares(mean, error, level, df)
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
            estimate = mann_whitney(item[a], item[b])
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
