"""Average effects of a variable: what changes in the response when it changes and all else stays."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from scipy.special import ndtr

from .._typing import BoolArray, FloatArray
from ..exceptions import DataWarning, OptionError
from ..model.cumulative import CumulativeRule
from ..model.sensitivity import QUANTITIES, Quantity, involved
from ..model.stencil import stencil
from .counterfactual import Population, population
from .delta import infinite_parameters, rule_covariance, symmetric_limits
from .estimable import estimable

if TYPE_CHECKING:
    from .likelihood import LikelihoodResults

#: Scale -> the quantity behind it.
SCALES = {
    "prob": "prob",
    "cum_prob": "cum_prob",
    "mean": "mean",
    "latent": "latent",
    "log_odds": "log_odds",
    "odds": "log_odds",
}
#: (earlier, later) of n values, by the kind of contrast.
PAIRS: dict[str, Callable[[int], list[tuple[int, int]]]] = {
    "reference": lambda n: [(0, k) for k in range(1, n)],
    "sequential": lambda n: [(k - 1, k) for k in range(1, n)],
    "pairwise": lambda n: list(combinations(range(n), 2)),
}
#: Statistics of a table of estimates.
STATISTICS = ["estimate", "std_error", "statistic", "p_value", "lower", "upper"]
#: A slope of a constant probability is rounding, up to this.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Average:
    """A weighted mean of a quantity over rows.

    Attributes
    ----------
    values : (M,)
        NaN where a row cannot be estimated.
    jacobian : (M, F)
        With respect to the parameters of the rule.
    known : (M,) bool
        Whether it has an error: it hangs on no infinite estimate.
    """

    values: FloatArray
    jacobian: FloatArray
    known: BoolArray

    def __sub__(self, other: Average) -> Average:
        return Average(self.values - other.values, self.jacobian - other.jacobian, self.known & other.known)

    def __add__(self, other: Average) -> Average:
        return Average(self.values + other.values, self.jacobian + other.jacobian, self.known & other.known)


@dataclass(frozen=True, eq=False)
class Averager:
    """Averages of one quantity of a fit over rows of frames.

    Attributes
    ----------
    results : LikelihoodResults
    scale : str
        A key of SCALES.
    covariance : (F, F)
        Of the parameters of the rule.
    """

    results: LikelihoodResults
    scale: str
    covariance: FloatArray

    @classmethod
    def of(cls, results: LikelihoodResults, scale: str, vcov: Any) -> Averager:
        if scale not in SCALES:
            raise OptionError(f"scale must be one of {', '.join(map(repr, SCALES))}; got {scale!r}.")
        rule = cast(CumulativeRule, results.fit.rule)
        return cls(results, scale, rule_covariance(results.fit, rule, results.vcov(vcov).to_numpy()))

    @property
    def quantity(self) -> Quantity:
        return QUANTITIES[SCALES[self.scale]]

    @property
    def sign(self) -> str:
        """What stands between two values that are compared."""
        return " / " if self.scale == "odds" else " - "

    @property
    def labels(self) -> tuple[str, list[Any]] | None:
        """Name and labels of the outputs; None where there is one."""
        if self.quantity.per == "level":
            return "level", list(self.results.levels)
        return ("threshold", self.results.threshold_names) if self.quantity.per == "threshold" else None

    def over(self, frame: pd.DataFrame, weights: FloatArray) -> Average:
        """The weighted sum over the rows of a frame."""
        fit, rows = self.results.fit, self.results.design.spec.rebuild(frame).rows
        rule = cast(CumulativeRule, fit.rule)
        values, jacobian = self.quantity.averages(rule, rows, weights)
        used = weights != 0.0
        if fit.aliased.any() and not estimable(fit, self.results.design.sample.rows, rows)[used].all():
            values = np.full(values.size, np.nan)
        infinite = infinite_parameters(fit)
        known = ~np.isnan(values)
        if infinite is not None:
            known &= ~involved(rule, rows.take(used), self.quantity, infinite).any(axis=0)
        return Average(values, jacobian, known)

    def table(self, found: Average, level: float) -> pd.DataFrame:
        """Estimates with errors, tests and limits, one row per output; odds are the exponents of log odds."""
        variances = ((found.jacobian @ self.covariance) * found.jacobian).sum(axis=1)
        errors = np.where(found.known, np.sqrt(np.maximum(variances, 0.0)), np.nan)
        return estimates(found.values, errors, level, self.scale == "odds")


def estimates(values: FloatArray, errors: FloatArray, level: float, exponentiate: bool) -> pd.DataFrame:
    """Columns STATISTICS; exponents have the errors of the delta method, and the test and limits of the logs.

    What has no error, such as P(response <= highest level), is not tested.
    """
    certain = errors == 0.0
    values = np.where(certain & (np.abs(values) < _ROUNDING), 0.0, values)
    lower, upper = symmetric_limits(values, errors, level)
    z = values / np.where(certain, np.nan, errors)
    p = 2.0 * ndtr(-np.abs(z))
    if exponentiate:
        values, lower, upper = np.exp(values), np.exp(lower), np.exp(upper)
        errors = errors * values
    return pd.DataFrame(dict(zip(STATISTICS, (values, errors, z, p, lower, upper), strict=True)))


@dataclass(frozen=True, eq=False)
class Change:
    """One change of a variable, and what it does on average."""

    variable: str
    contrast: str
    average: Average


def average_effects(
    results: LikelihoodResults,
    variable: Any,
    *,
    scale: str,
    contrast: str,
    values: Sequence[Any] | None,
    at: Mapping[str, Any] | None,
    by: Any,
    newdata: Any,
    weights: Any,
    data: Any,
    level: float,
    vcov: Any,
) -> pd.DataFrame:
    """The frame of `LikelihoodResults.effects`."""
    if contrast not in PAIRS:
        raise OptionError(f"contrast must be one of {', '.join(map(repr, PAIRS))}; got {contrast!r}.")
    averager = Averager.of(results, scale, vcov)
    everyone = population(results, newdata, weights, data)
    names = (
        list(everyone.variables) if variable is None else [variable] if isinstance(variable, str) else list(variable)
    )
    if not names:
        raise OptionError("the formula has no variable that could have an effect.")
    if values is not None and len(names) != 1:
        raise OptionError("values= goes with one variable.")
    tables = []
    for labels, rows in _groups(everyone, by):
        fixed = rows.at(at or {})
        for name in names:
            for change in _changes(averager, fixed, name, contrast, values):
                tables.append(_labelled(averager, change, labels, level))
    out = pd.concat(tables, ignore_index=True)
    warn_of_unknown(out, stacklevel=3)
    return out


def listed(names: Any) -> list[str]:
    """One name, several or none as a list."""
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def warn_of_unknown(table: pd.DataFrame, stacklevel: int) -> None:
    """A DataWarning where a standard error is missing."""
    if table["std_error"].isna().any():
        warnings.warn(
            "some effects have no standard error: they hang on an infinite estimate, on a combination of levels that "
            "the data do not have, or on a covariance that is not known.",
            DataWarning,
            stacklevel=stacklevel + 1,
        )


def _groups(everyone: Population, by: Any) -> Iterator[tuple[dict[str, Any], Population]]:
    """The rows with each value of the columns `by`, in order; all of them without."""
    columns = listed(by)
    absent = [name for name in columns if name not in everyone.frame.columns]
    if absent:
        raise OptionError(f"by names no column of the data: {', '.join(map(repr, absent))}.")
    if not columns:
        yield {}, everyone
        return
    places = pd.Series(np.arange(len(everyone.frame)))
    keys = [everyone.frame[name].reset_index(drop=True) for name in columns]
    for key, rows in places.groupby(keys, observed=True, sort=True):
        group = np.asarray(rows)
        if everyone.weights[group].sum() > 0:
            yield dict(zip(columns, key if isinstance(key, tuple) else (key,), strict=True)), everyone.among(group)


def _labelled(averager: Averager, change: Change, labels: Mapping[str, Any], level: float) -> pd.DataFrame:
    """One row per output: the variable, the contrast, the group, the level or threshold, the statistics."""
    table = averager.table(change.average, level)
    front: dict[str, Any] = {"term": change.variable, "contrast": change.contrast, **labels}
    if averager.labels is not None:
        front[averager.labels[0]] = averager.labels[1]
    return pd.concat([pd.DataFrame(front, index=table.index), table], axis=1)


def _changes(
    averager: Averager, rows: Population, name: str, contrast: str, values: Sequence[Any] | None
) -> list[Change]:
    rows.check(name)
    compared = rows.categories.get(name) if values is None else tuple(values)
    if compared is None:
        return [_slope(averager, rows, name)]
    if len(compared) < 2:
        raise OptionError(f"{name!r} needs two values to compare; got {compared!r}.")
    for value in compared:
        rows.check_level(name, value)
    averages = [averager.over(rows.setting(name, value), rows.weights) for value in compared]
    return [
        Change(name, f"{compared[high]}{averager.sign}{compared[low]}", averages[high] - averages[low])
        for low, high in PAIRS[contrast](len(compared))
    ]


def _slope(averager: Averager, rows: Population, name: str) -> Change:
    """The derivative with respect to a number, averaged: differences of five points of every row's own design."""
    x = rows.frame[name].to_numpy(dtype=np.float64)
    points, coefficients = stencil(x)
    parts = [averager.over(rows.setting(name, points[:, j]), rows.weights * coefficients[:, j]) for j in range(5)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return Change(name, "dY/dX", total)
