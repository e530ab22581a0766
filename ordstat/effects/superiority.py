"""Win probabilities, win odds, win differences and numbers needed to treat.

Of two distributions p and q over ordered levels, a response from p wins against one
from q with probability
    c = P(Y > Y') + P(Y = Y') / 2 = p'M q,
where M is 1 below the diagonal, 1/2 on it and 0 above. c / (1 - c) are the win odds,
2c - 1 is the win difference, 1 / (2c - 1) the number needed to treat [Brunner,
Vandemeulebroecke & Muetze 2021, Statistics in Medicine 40, 3367-3384].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import fraction, listed, one_of
from ..exceptions import DataError, OptionError
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows
from ..inference.power import win_matrix
from ..likelihood.standard_errors import two_sided
from .average import PAIRS, Average, Averager, pairs_of, warn_of_unknown
from .counterfactual import Population, population
from .emmeans import Emmeans, listing
from .grid import places_of

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


#: Kinds of averages -> their notes.
AVERAGES = {
    "standardised": (
        "Win probability of the level probabilities averaged over the"
        " {n:,} rows{groups} (standardised)."
    ),
    "conditional": (
        "Mean over the {n:,} rows{groups} of the win probability of each (conditional)."
    ),
}
BETTER = ("higher", "lower")
#: Rows of the table for each comparison.
MEASURES = ("win probability", "win odds", "win difference", "NNT")
#: The win probability of equal distributions.
_EVEN = 0.5
#: Most derivatives of level probabilities, of all rows, that conditional averages take:
#: those of some seconds.
_MOST_DERIVATIVES = 1_000_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Superiority(Emmeans):
    """Win probabilities between levels of a column, with contrasts.

    The attributes are those of `Emmeans`; `averages` are the win probabilities, `cells`
    has a row for each comparison and group. `contrasts` compares the win probabilities
    of the groups of `by`.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp * contact", datasets.load("wine"))
    >>> groups = fit.superiority("temp", by="contact")
    >>> columns = ["difference", "estimate", "p_value"]
    >>> groups.contrasts().round(3)[columns].values.tolist()
    [['no - yes', -0.038, 0.656]]
    """

    names_errors: ClassVar[bool] = True
    nothing_to_compare: ClassVar[str] = (
        "contrasts compare win probabilities between groups: use by=."
    )

    @property
    def frame(self) -> pd.DataFrame:
        """The table: columns contrast, the variables of `by`, measure, estimate,
        std_error, p_value, lower and upper; also df under CR2 and after pooling.

        Confidence intervals are computed for the logit of the win probability, and
        transformed to the other measures. p-values test on the same scale whether the
        win probability is 1/2. The number needed to treat has no standard error, and no
        interval if that of the win difference contains 0.
        """
        averager = self.averager
        c = self.averages.values[:, 0]
        errors = averager.errors(self.averages)
        lower, upper = averager.limits_between(
            0.0, 1.0, self.averages, errors, self.level
        )
        statistic, df = averager.log_odds_test(self.averages, errors)
        tests = {"p_value": two_sided(statistic[:, 0], df[:, 0])}
        if averager.shows_df:
            finite = np.where(np.isinf(df[:, 0]), np.nan, df[:, 0])
            tests = {"df": finite, **tests}
        tables = []
        for name in MEASURES:
            estimate, error, low, high = _measured(
                c, errors[:, 0], lower[:, 0], upper[:, 0], name
            )
            numbers = {"estimate": estimate, "std_error": error, **tests}
            numbers |= {"lower": low, "upper": high}
            tables.append(self.cells.assign(measure=name, **numbers))
        return pd.concat(tables).sort_index(kind="stable").reset_index(drop=True)

    @property
    def table_notes(self) -> list[str]:
        """The notes below the whole table."""
        limits = (
            f"{100 * self.level:g}% confidence intervals on the logit scale,"
            f" {self._distribution}; p tests a win probability of 1/2."
        )
        notes = [
            *self.notes,
            limits,
            f"Standard errors: delta method, {self.averager.error_words}.",
        ]
        table = self.frame
        table = table[table["measure"] == "NNT"]
        words = ["limits are 1 / limits of the win difference; no standard error"]
        if (table["estimate"] < 0.0).any():
            words.append("negative where the first level is worse")
        if table["lower"].isna().any():
            words.append(
                "without limits where the interval of the win difference contains 0"
            )
        notes.insert(-1, f"NNT: {'; '.join(words)}.")
        return notes

    @property
    def _words(self) -> tuple[str, str]:
        return "win probability", "win probabilities"

    @property
    def _output_labels(self) -> Mapping[str, list[Any]]:
        return {}

    def _named(self, compared: list[str], key: Mapping[str, Any]) -> dict[str, Any]:
        return {**key, "difference": compared}


def _measured(
    c: FloatArray,
    error: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    measure: str,
) -> list[FloatArray]:
    """(C,) estimate, standard error and limits of one measure, from those of the win
    probability.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if measure == "win odds":
            parts = [x / (1.0 - x) for x in (c, lower, upper)]
            error = error / (1.0 - c) ** 2
        elif measure == "win difference":
            parts = [2.0 * x - 1.0 for x in (c, lower, upper)]
            error = 2.0 * error
        elif measure == "NNT":
            # reciprocals of the limits are in the other order, and meaningless around 0
            parts = [1.0 / (2.0 * x - 1.0) for x in (c, upper, lower)]
            one_sign = (lower > _EVEN) | (upper < _EVEN)
            parts[1:] = [np.where(one_sign, part, np.nan) for part in parts[1:]]
            error = np.full_like(error, np.nan)
        else:
            parts = [c, lower, upper]
    return [parts[0], error, *parts[1:]]


def superiority(
    r: LikelihoodResults,
    variable: str,
    *,
    average: str = "standardised",
    contrast: str = "reference",
    levels: Sequence[Any] | None = None,
    better: str = "higher",
    by: str | Sequence[str] | None = None,
    newdata: Any = None,
    weights: Any = None,
    data: Any = None,
    level: float = 0.95,
    vcov: Any = None,
    re: str | None = None,
) -> Superiority:
    """Win probabilities between the levels of a column."""
    averager = Averager(r, "prob", vcov, re)
    everyone = population(r, newdata, weights, data)
    fraction("level", level)
    one_of("average", average, AVERAGES)
    one_of("contrast", contrast, PAIRS)
    one_of("better", better, BETTER)
    pairs = pairs_of(contrast, compared_levels(everyone, variable, levels))
    if variable in listed(by):
        raise OptionError(
            f"by must not have the compared column {variable!r}, which is set to its"
            " levels in all rows."
        )
    cells: list[dict[str, Any]] = []
    wins: list[Average] = []
    for labels, rows in places_of(everyone, None, by):
        compared = _Compared.of(averager, rows, variable, pairs)
        for low, high in pairs:
            cells.append({"contrast": f"{high} vs {low}", **labels})
            winner = high if better == "higher" else low
            loser = low if better == "higher" else high
            wins.append(_AVERAGED[average](compared, winner, loser))
    averages = Average.stacked(wins)
    if averager.lacks_errors(averages):
        warn_of_unknown()
    frame = pd.DataFrame(cells)
    notes = _notes(everyone, average, better, listed(by))
    return Superiority(
        frame,
        ("contrast",),
        averages,
        averager,
        level,
        (*averager.notes, *notes),
    )


def compared_levels(everyone: Population, name: str, levels: Any) -> list[Any]:
    """The levels to compare, the reference first."""
    everyone.check(name)
    if levels is not None:
        if isinstance(levels, str) or not np.iterable(levels):
            raise OptionError(
                f"levels must be a list of values of {name!r}, the reference first; got"
                f" {levels!r}."
            )
        values = list(levels)
    elif name in everyone.categories:
        values = list(everyone.categories[name])
    else:
        values = everyone.distinct(name)
        if len(values) > 2:
            raise OptionError(
                f"levels must be given for {name!r}, a number with {len(values)}"
                f" values, as in levels=[{values[0]:g}, {values[-1]:g}]."
            )
    for value in values:
        everyone.check_level(name, value)
    if len(values) < 2 or len(set(values)) < len(values):
        raise OptionError(
            f"levels must be two or more different values of {name!r}; got {values!r}."
        )
    return values


def _notes(
    everyone: Population, average: str, better: str, by: Sequence[Any]
) -> list[str]:
    """What was averaged, and which levels are better."""
    groups = f" by {listing(list(map(str, by)))}" if by else ""
    rows = AVERAGES[average].format(n=len(everyone.frame), groups=groups)
    if np.ptp(everyone.weights) > 0.0:
        rows = f"{rows[:-1]}, by their weights."
    return [
        (
            f"'A vs B': how often A has the better ({better}) response; equal ones"
            " count half."
        ),
        rows,
    ]


@dataclass(frozen=True, eq=False)
class _Compared:
    """Rows with a variable set to each of its compared levels.

    Attributes
    ----------
    averager : Averager
    weights : (n,) summing to 1
    designs : mapping of level to Rows
    """

    averager: Averager
    weights: FloatArray
    designs: Mapping[Any, Rows]

    @classmethod
    def of(
        cls,
        averager: Averager,
        rows: Population,
        name: str,
        pairs: Sequence[tuple[Any, Any]],
    ) -> _Compared:
        """The rows with weight; those with thresholds out of order are told."""
        used = np.flatnonzero(rows.weights)
        values = dict.fromkeys(value for pair in pairs for value in pair)
        designs = {
            value: averager.design(rows.setting(name, value)).take(used)
            for value in values
        }
        weights = rows.weights[used]
        averager.report_crossed(list(designs.values()), weights)
        return cls(averager, weights, designs)


def _standardised(compared: _Compared, winner: Any, loser: Any) -> Average:
    """(1, 1) the win probability of averaged level probabilities."""
    if compared.averager.determined:
        return _standardised_determined(compared, winner, loser)
    p, q = (
        compared.averager.over(compared.designs[level], compared.weights)
        for level in (winner, loser)
    )
    return _wins(p, q)


def _standardised_determined(compared: _Compared, winner: Any, loser: Any) -> Average:
    """`_standardised` by cumulative probabilities P and Q, whose derivatives are
    dc/dP_k = -(q_k + q_{k+1}) / 2 and dc/dQ_k = (p_k + p_{k+1}) / 2, without a K x K or
    K x F matrix.
    """
    averager = compared.averager
    first, second = compared.designs[winner], compared.designs[loser]
    P, Q = (
        np.concatenate([[0.0], averager.cumulative(rows, compared.weights), [1.0]])
        for rows in (first, second)
    )
    value = np.diff(P) @ (Q[:-1] + Q[1:]) / 2.0
    by_P = (Q[:-2] - Q[2:])[None] / 2.0
    by_Q = (P[2:] - P[:-2])[None] / 2.0
    jacobian = averager.cumulative_jacobian(by_P, first, compared.weights)
    jacobian = jacobian + averager.cumulative_jacobian(by_Q, second, compared.weights)
    return Average(np.array([[value]]), jacobian[None], np.array([[True]]))


def _conditional(compared: _Compared, winner: Any, loser: Any) -> Average:
    """(1, 1) the average over rows of the win probability of each, in blocks of
    rows.
    """
    averager = compared.averager
    first = compared.designs[winner]
    count = len(averager.results.levels)
    size = count * averager.covariance.size
    if first.n * size > _MOST_DERIVATIVES:
        raise DataError(
            f"average='conditional' compares {first.n:,} rows at {count:,} levels and"
            " derives each probability by every parameter, which takes too long. Use"
            " average='standardised', or join levels, as by pandas.cut."
        )
    second = compared.designs[loser]
    value = 0.0
    jacobian = np.zeros(averager.covariance.size)
    known = True
    uncertain = False
    for part in row_blocks(first.n, size):
        share = compared.weights[part]
        wins = _wins(
            averager.over(first.take(part), None),
            averager.over(second.take(part), None),
        )
        value += float(share @ wins.values[:, 0])
        jacobian += share @ wins.jacobian[:, 0]
        known &= not np.isnan(wins.values).any()
        uncertain |= bool(wins.has_error.any())
    return Average(
        np.array([[value]]),
        jacobian[None, None],
        np.array([[known and uncertain]]),
    )


_AVERAGED = {"standardised": _standardised, "conditional": _conditional}


def _wins(p: Average, q: Average) -> Average:
    """(n, 1) win probabilities of distributions p (n, K) against q (n, K).

    A level whose probability is certain, as where estimates are infinite, adds nothing
    to the error. A win probability has none if all levels are certain.
    """
    M = win_matrix(p.values.shape[1])
    against_q = q.values @ M.T
    against_p = p.values @ M
    values = (p.values * against_q).sum(axis=1)
    jacobian = np.einsum("nk,nkf->nf", against_q, p.jacobian)
    jacobian += np.einsum("nk,nkf->nf", against_p, q.jacobian)
    moves = (p.has_error | q.has_error).any(axis=1)
    return Average(
        values[:, None],
        jacobian[:, None],
        (moves & ~np.isnan(values))[:, None],
    )
