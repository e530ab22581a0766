"""Estimated marginal means: predictions over a balanced grid of the variables, averaged within groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ...._typing import FloatArray
from ....checks import one_of, whole
from ....exceptions import OptionError
from ....model.sample import Rows
from ..fitted import FittedLikelihood
from ..parameters import listed
from ..standard_errors import limits_between, normal_quantile
from .average import PAIRS, Average, Averager, warn_of_unknown
from .counterfactual import Population, population

#: What a number can be held at.
REDUCE = ("weighted_mean", "mean")
#: Rows of a grid, at most.
_LARGEST = 1_000_000


def grid_values(
    rows: Population, names: Sequence[str], at: Mapping[str, Any], cov_keep: Any, cov_reduce: str
) -> dict[str, list[Any]]:
    """Values of every variable: those of `at`, all levels of factors, and of numbers the mean or the distinct values.

    A number keeps all its values if `cov_keep` names it, or holds a count that is not below how many they are.
    """
    one_of("cov_reduce", cov_reduce, REDUCE)
    keep = listed(cov_keep) if cov_keep is None or isinstance(cov_keep, Iterable) else [cov_keep]
    kept = [one for one in keep if isinstance(one, str)]
    counts = [
        whole("cov_keep", n, 0, also=", names of variables, or both in a list") for n in keep if not isinstance(n, str)
    ]
    for name in (*names, *at, *kept):
        rows.check(name)
    values: dict[str, list[Any]] = {}
    for name in (*names, *(other for other in rows.variables if other not in names)):
        if name in at:
            values[name] = _given(rows, name, at[name])
        elif name in rows.categories:
            values[name] = list(rows.categories[name])
        else:
            distinct = rows.distinct(name)
            whole_set = name in kept or len(distinct) <= max(counts, default=0)
            values[name] = distinct if whole_set else [rows.mean(name, weighted=cov_reduce == "weighted_mean")]
    return values


def _given(rows: Population, name: str, given: Any) -> list[Any]:
    """The values that `at` has for a variable."""
    values = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not values:
        raise OptionError(f"at= gives no value of {name!r}.")
    for value in values:
        rows.check_level(name, value)
    return values


def check_size(values: Mapping[str, Sequence[Any]]) -> None:
    """OptionError for a grid that is too large to be formed."""
    size = math.prod(len(column) for column in values.values())
    if size > _LARGEST:
        widest = sorted(values, key=lambda name: -len(values[name]))[:3]
        raise OptionError(
            f"the grid of all levels has {size:,} rows, and at most {_LARGEST:,} are averaged: hold variables at a "
            f"value with at=, such as {', '.join(map(repr, widest))}."
        )


def on_one_scale(rows: Rows) -> Rows:
    """Rows with the mean of their log scales in each, so that their latent variables have one unit."""
    columns = None if rows.scale is None else np.tile(rows.scale.mean(axis=0), (rows.n, 1))
    offset = None if rows.scale_offset is None else np.full(rows.n, rows.scale_offset.mean())
    return replace(rows, scale=columns, scale_offset=offset)


@dataclass(frozen=True, eq=False, repr=False)
class Emmeans:
    """Estimated marginal means and what their contrasts need.

    Attributes
    ----------
    cells : pandas.DataFrame
        C rows: the combinations of the variables, those of `by` last.
    by : tuple of str
        Contrasts are taken within each combination of these.
    averages : list of C Average
    averager : Averager
    level : float
        Confidence level of the limits.
    """

    cells: pd.DataFrame
    by: tuple[str, ...]
    averages: list[Average]
    averager: Averager
    level: float

    def __repr__(self) -> str:
        return self.frame.to_string(index=False)

    def _repr_html_(self) -> str:
        return str(self.frame.to_html(index=False))

    @property
    def frame(self) -> pd.DataFrame:
        """The variables, level or threshold where the scale has them, estimate, std_error, lower, upper.

        Limits of probabilities, and of the expected rank as a share of 1..K, are formed on the logit scale; those of
        odds are the exponents of the limits of the log odds.
        """
        tables = []
        for place, average in enumerate(self.averages):
            cell = {name: self.cells[name].iloc[place] for name in self.cells.columns}
            tables.append(self.averager.labelled(cell, average, self.level).drop(columns=["statistic", "p_value"]))
        table = pd.concat(tables, ignore_index=True)
        ends = {"prob": (0.0, 1.0), "cum_prob": (0.0, 1.0), "mean": (1.0, float(len(self.averager.results.levels)))}
        if self.averager.scale in ends:
            between, errors = ends[self.averager.scale], table["std_error"].to_numpy()
            limits = limits_between(*between, table["estimate"].to_numpy(), errors, self.level)
            table[["lower", "upper"]] = np.column_stack(limits)
        return table

    def contrasts(self, method: str = "pairwise", adjust: str = "none") -> pd.DataFrame:
        """Differences of the means, within the groups of `by`; on the scale "odds" their ratios.

        Parameters
        ----------
        method : {"pairwise", "reference", "sequential"}
            Every later mean less every earlier one, each less the first, or each less the one before.
        adjust : {"none", "bonferroni", "holm"}
            Adjustment of the p-values, for the contrasts of one group and level. Limits are Bonferroni's wherever
            p-values are adjusted: Holm's procedure has none of its own, and these hold for it.

        Returns
        -------
        pandas.DataFrame
            Columns contrast, those of `by`, level or threshold, estimate, std_error, statistic, p_value, lower, upper.

        Raises
        ------
        OptionError
            Another method or adjustment.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.emmeans("contact").contrasts()[["contrast", "estimate"]].round(3).values.tolist()
        [['yes - no', 1.528]]
        """
        one_of("method", method, PAIRS)
        one_of("adjust", adjust, ADJUST)
        main = [name for name in self.cells.columns if name not in self.by]
        keys = [tuple(row) for row in self.cells[list(self.by)].to_numpy(dtype=object)]
        tables = []
        for key in dict.fromkeys(keys):
            members = [place for place, other in enumerate(keys) if other == key]
            tables += self._group(members, main, dict(zip(self.by, key, strict=True)), method, adjust)
        out = pd.concat(tables, ignore_index=True)
        warn_of_unknown(out, stacklevel=2)
        return out

    def _group(
        self, members: list[int], main: list[str], front: Mapping[str, Any], method: str, adjust: str
    ) -> list[pd.DataFrame]:
        if len(members) < 2:
            raise OptionError("contrasts need two means or more in every group.")
        pairs = PAIRS[method](len(members))
        family = 1 if adjust == "none" else len(pairs)
        level = 1.0 - (1.0 - self.level) / family
        found = []
        for low, high in pairs:
            change = self.averages[members[high]] - self.averages[members[low]]
            names = [" ".join(str(self.cells[name].iloc[members[k]]) for name in main) for k in (high, low)]
            found.append(self.averager.labelled({"contrast": self.averager.sign.join(names), **front}, change, level))
        adjusted = ADJUST[adjust](np.stack([table["p_value"].to_numpy() for table in found]))
        return [table.assign(p_value=p) for table, p in zip(found, adjusted, strict=True)]


def _holm(p: FloatArray) -> FloatArray:
    """(m, M) p-values of m tests each, times m, m - 1, ... from the smallest on, never falling."""
    order = np.argsort(p, axis=0)
    factors = np.arange(len(p), 0, -1)[:, None]
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, axis=0) * factors, axis=0)
    out = np.empty_like(p)
    np.put_along_axis(out, order, np.minimum(stepped, 1.0), axis=0)
    return out


ADJUST: dict[str, Callable[[FloatArray], FloatArray]] = {
    "none": lambda p: p,
    "bonferroni": lambda p: np.minimum(p * len(p), 1.0),
    "holm": _holm,
}


def marginal_means(
    r: FittedLikelihood,
    variables: str | Sequence[str],
    *,
    by: str | Sequence[str] | None = None,
    scale: str = "latent",
    at: Mapping[str, Any] | None = None,
    cov_keep: int | str | Sequence[int | str] | None = None,
    cov_reduce: str = "weighted_mean",
    data: Any = None,
    level: float = 0.95,
    vcov: Any = None,
) -> Emmeans:
    """Estimated marginal means over a balanced grid of the variables.

    The grid has all levels of every factor and every number at its mean. Predictions on the chosen scale are
    averaged within the cells asked for, every row of the grid with equal weight, as R's emmeans(weights="equal").
    For the numbers, too, R's defaults are `cov_keep=2, cov_reduce="mean"`.

    Parameters
    ----------
    variables : str or sequence of str
        Variables of the formula; one mean per combination of their levels.
    by : str or sequence of str, optional
        Further variables; contrasts are taken within their levels.
    scale : str
        "latent": the mean of the latent variable above the mean threshold, H - mean threshold, in units of its
        scale. Where the scale varies, the unit is its geometric mean over the grid, as in R: a difference of
        means is one of location alone (R gives its contrasts in units of scale 1). Thresholds with nominal
        effects are those of each row (R averages them over the grid, and such effects do not show). "prob",
        "cum_prob", "mean" (the expected rank, 1..K), "log_odds", "odds": as in `effects`.
    at : mapping, optional
        Values of variables of the grid: {"age": [30, 50]}.
    cov_keep : int, str or sequence of these, optional
        Numbers that keep all their values, as a factor does: names, or the largest count of distinct values.
    cov_reduce : {"weighted_mean", "mean"}
        What the other numbers are held at: their mean with the weights of the fit, or without.
    data : data frame, optional
        The data of the fit, where it does not have them any more (after unpickling).
    level : float in (0, 1)
        Confidence level of the limits.
    vcov : str or dict, optional
        Covariance of the parameters, as in `vcov`.

    Returns
    -------
    Emmeans
        Prints as a table; `.frame` is that table, `.contrasts()` the differences of its rows.

    Raises
    ------
    OptionError
        Another scale, a name that is no variable of the formula, or no variable that is not in `by`.
    DataError
        The data of the fit are not at hand or have changed.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> means = fit.emmeans("temp")
    >>> means.frame["estimate"].round(4).tolist()
    [-1.331, 1.1721]
    >>> means.contrasts()[["contrast", "estimate", "std_error"]].round(4).values.tolist()
    [['warm - cold', 2.5031, 0.5287]]
    """
    normal_quantile(level)
    averager = Averager.of(r, scale, vcov)
    rows = population(r, None, None, data)
    groups = tuple(listed(by))
    names = [*(name for name in listed(variables) if name not in groups), *groups]
    if not listed(variables) or all(name in groups for name in names):
        raise OptionError("emmeans needs a variable of the formula that is not in by=.")
    values = grid_values(rows, names, at or {}, cov_keep, cov_reduce)
    check_size(values)
    cells = rows.grid({name: values[name] for name in names})[names]
    grid = averager.rows(rows.grid(values))  # the variables of the cells come first: each cell is so many rows on end
    if scale == "latent":
        grid = on_one_scale(grid)
    size = grid.n // len(cells)
    equal = np.full(size, 1.0 / size)
    averages = [averager.over(grid.take(slice(start, start + size)), equal) for start in range(0, grid.n, size)]
    means = Emmeans(cells=cells, by=groups, averages=averages, averager=averager, level=level)
    warn_of_unknown(pd.DataFrame({"std_error": [np.nan if not a.known.all() else 0.0 for a in averages]}), stacklevel=2)
    return means
