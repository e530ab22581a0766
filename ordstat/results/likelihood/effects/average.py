"""Average effects of a variable: what changes in the response when it changes and all else stays; and whether a fit
with aliased columns can speak about it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import add
from typing import Any

import numpy as np
import pandas as pd

from ...._typing import BoolArray, FloatArray
from ....checks import one_of
from ....exceptions import DataWarning, OptionError
from ....model.fit import LikelihoodFit
from ....model.likelihood.crossing import report_crossing
from ....model.likelihood.derivatives import averages, involved
from ....model.likelihood.quantities import QUANTITIES, Quantity
from ....model.likelihood.stencil import stencil
from ....model.sample import Rows
from ..fitted import FittedLikelihood
from ..parameters import listed
from ..standard_errors import infinite_parameters, rule_covariance, symmetric_limits, two_sided
from .counterfactual import Population, population

#: Scale -> the quantity behind it.
SCALES = {
    "prob": "prob",
    "cum_prob": "inner_cum_prob",
    "exc_prob": "exc_prob",
    "mean": "mean",
    "mean_class": "mean",
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
#: An error is rounding, up to this share of its estimate.
_CERTAIN = 1e-12


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
        Whether it has an error: it depends on no infinite estimate.
    """

    values: FloatArray
    jacobian: FloatArray
    known: BoolArray

    def untold(self) -> Average:
        """The same where the data say nothing about it."""
        return Average(np.full_like(self.values, np.nan), self.jacobian, np.zeros_like(self.known))

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
        Covariance of the parameters of the rule.
    """

    results: FittedLikelihood
    scale: str
    covariance: FloatArray

    @classmethod
    def of(cls, results: FittedLikelihood, scale: str, vcov: Any) -> Averager:
        one_of("scale", scale, SCALES)
        return cls(results, scale, rule_covariance(results.fit, results.rule, results.vcov(vcov).to_numpy()))

    @property
    def quantity(self) -> Quantity:
        return QUANTITIES[SCALES[self.scale]]

    @property
    def sign(self) -> str:
        """What stands between two values that are compared."""
        return " / " if self.scale == "odds" else " - "

    @property
    def labels(self) -> dict[str, list[Any]]:
        """Labels of the outputs by what they are; nothing where there is one."""
        per, levels = self.quantity.per, list(self.results.levels)
        if per == "threshold":
            return {"threshold": self.results.threshold_names}
        if per == "level":
            return {"level": levels}
        return {"level": levels[:-1]} if per == "lower level" else {}

    def rows(self, frame: pd.DataFrame) -> Rows:
        """The design of a frame."""
        r, rows = self.results, self.results.design.spec.rebuild(frame).rows
        if self.scale != "latent":
            report_crossing(r.rule, rows, None, "rows averaged over", refuse=r.method.refuses_crossing)
        return rows

    def over(self, rows: Rows, weights: FloatArray) -> Average:
        """The weighted sum over rows."""
        fit, rule, used = self.results.fit, self.results.rule, weights != 0.0
        values, jacobian = averages(self.quantity, rule, rows, weights)
        infinite = infinite_parameters(fit)
        known = ~np.isnan(values)
        if infinite is not None:
            known &= ~involved(rule, rows.take(used), self.quantity, infinite).any(axis=0)
        found = Average(values, jacobian, known)
        told = estimable(fit, self.results.design.sample.rows, rows)[used].all()
        return found if told else found.untold()

    def contrast(self, rows: Rows, weights: FloatArray) -> Average:
        """The weighted sum over rows of a linear predictor, where it is known though single rows may not be."""
        fit = self.results.fit
        values, jacobian = averages(self.quantity, self.results.rule, rows, weights)
        infinite = infinite_parameters(fit)
        known = np.isfinite(values)
        if infinite is not None:
            known &= np.abs(jacobian[:, infinite]).max(axis=1, initial=0.0) <= _ROUNDING
        found = Average(values, jacobian, known)
        return found if estimable_sum(fit, self.results.design.sample.rows, rows, weights) else found.untold()

    def slope(self, frames: Sequence[pd.DataFrame], weights: FloatArray, coefficients: FloatArray) -> Average:
        """The weighted sum of derivatives, from frames at several points with their coefficients (n, len(frames))."""
        points = [self.rows(frame) for frame in frames]
        total = reduce(add, [self.over(rows, weights * coefficients[:, j]) for j, rows in enumerate(points)])
        told = estimable_slopes(self.results.fit, self.results.design.sample.rows, points, coefficients)
        return total if told[weights != 0.0].all() else total.untold()

    def table(self, found: Average, level: float) -> pd.DataFrame:
        """Estimates with errors, tests and limits, one row per output; odds are the exponents of log odds."""
        return estimates(found.values, self.errors(found), level, self.scale == "odds", self.results.design_df)

    def errors(self, found: Average) -> FloatArray:
        """(M,) standard errors, NaN where there is none."""
        variances = ((found.jacobian @ self.covariance) * found.jacobian).sum(axis=1)
        return np.where(found.known, np.sqrt(np.maximum(variances, 0.0)), np.nan)

    def labelled(self, front: Mapping[str, Any], found: Average, level: float) -> pd.DataFrame:
        """The table with columns before it: what is estimated, and the level or threshold."""
        table = self.table(found, level)
        return pd.concat([pd.DataFrame({**front, **self.labels}, index=table.index), table], axis=1)


def estimates(
    values: FloatArray, errors: FloatArray, level: float, exponentiate: bool, df: float = np.inf
) -> pd.DataFrame:
    """Columns STATISTICS; exponents have the errors of the delta method, and the test and limits of the logs.

    What has no error, such as the slope of an offset, is not tested.
    """
    certain = errors <= _CERTAIN * np.abs(values)
    errors = np.where(certain, 0.0, errors)
    values = np.where(certain & (np.abs(values) < _ROUNDING), 0.0, values)
    lower, upper = symmetric_limits(values, errors, level, df)
    z = values / np.where(certain, np.nan, errors)
    p = two_sided(z, df)
    if exponentiate:
        values, lower, upper = np.exp(values), np.exp(lower), np.exp(upper)
        errors = errors * values
    return pd.DataFrame(dict(zip(STATISTICS, (values, errors, z, p, lower, upper), strict=True)))


def average_effects(
    r: FittedLikelihood,
    variable: str | Sequence[str] | None = None,
    *,
    scale: str = "prob",
    contrast: str = "reference",
    values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    by: str | Sequence[str] | None = None,
    newdata: Any = None,
    weights: Any = None,
    data: Any = None,
    level: float = 0.95,
    vcov: Any = None,
) -> pd.DataFrame:
    """Average effects of variables of the formula: contrasts of factors, slopes of numbers.

    The variable is changed in the data, the design is built again (so interactions, splines and transforms
    follow), and predictions are averaged over the rows with their weights.

    Parameters
    ----------
    variable : str or sequence of str, optional
        Columns of the data; all variables of the right-hand sides if not given.
    scale : str
        "prob": P(response = level), an effect per level. "cum_prob": P(response <= level), an effect per level
        but the highest; "exc_prob": P(response > level). "mean", or "mean_class": the expected rank, 1..K. "latent":
        s (H - mean threshold), the latent variable in units of each row's own scale. "log_odds": log odds of a
        response above each threshold; "odds": their ratios, exp() of the average difference.
    contrast : {"reference", "sequential", "pairwise"}
        Factors: each level against the first, against the one before, or all pairs.
    values : sequence, optional
        Values to compare, of a number too ([20, 60]), in place of all levels or the slope.
    at : mapping, optional
        Other variables to hold at a value in all rows.
    by : str or sequence of str, optional
        Columns by whose values the averages are taken apart.
    newdata : data frame, optional
        Rows to average over; those of the fit if not given.
    weights : str or (N,) array, optional
        Case weights of `newdata`.
    data : data frame, optional
        The data of the fit, where it does not have them any more (after unpickling).
    level : float in (0, 1)
        Confidence level of the limits.
    vcov : str or dict, optional
        Covariance of the parameters, as in `vcov`.

    Returns
    -------
    pandas.DataFrame
        Columns term, contrast ("warm - cold"; "dY/dX" for a slope), those of `by`, level or threshold where the
        scale has them, estimate, std_error (delta method), statistic, p_value, lower, upper. Errors are NaN,
        with a DataWarning, where the data say nothing about a combination of levels.

    Raises
    ------
    OptionError
        Another scale or contrast, a name that is no variable of the formula, or `values` of several variables.
    DataError
        The data of the fit are not at hand or have changed.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.effects("temp").set_index("level")["estimate"].round(4).tolist()
    [-0.1174, -0.3465, 0.0852, 0.2223, 0.1564]
    """
    one_of("contrast", contrast, PAIRS)
    averager = Averager.of(r, scale, vcov)
    everyone = population(r, newdata, weights, data)
    names = list(everyone.variables) if variable is None else listed(variable)
    if not names:
        raise OptionError("the formula has no variable that could have an effect.")
    if values is not None and len(names) != 1:
        raise OptionError("values= goes with one variable.")
    tables = []
    for labels, rows in _groups(everyone, by):
        fixed = rows.at(at or {})
        for name in names:
            for change, average in _changes(averager, fixed, name, contrast, values):
                front = {"term": name, "contrast": change, **labels}
                tables.append(averager.labelled(front, average, level))
    out = pd.concat(tables, ignore_index=True)
    warn_of_unknown(out, stacklevel=2)
    return out


def warn_of_unknown(table: pd.DataFrame, stacklevel: int) -> None:
    """A DataWarning where a standard error is missing."""
    if table["std_error"].isna().any():
        warnings.warn(
            "some effects have no standard error: they depend on an infinite estimate, on a combination of levels that "
            "the data do not have, on a column that others make up, or on a covariance that is not known.",
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


def _changes(
    averager: Averager, rows: Population, name: str, contrast: str, values: Sequence[Any] | None
) -> list[tuple[str, Average]]:
    """What is compared, and what it does on average."""
    rows.check(name)
    compared = rows.categories.get(name) if values is None else tuple(values)
    if compared is None:
        return [("dY/dX", _slope(averager, rows, name))]
    if len(compared) < 2:
        raise OptionError(f"{name!r} needs two values to compare; got {compared!r}.")
    for value in compared:
        rows.check_level(name, value)
    averages = [averager.over(averager.rows(rows.setting(name, value)), rows.weights) for value in compared]
    return [
        (f"{compared[high]}{averager.sign}{compared[low]}", averages[high] - averages[low])
        for low, high in PAIRS[contrast](len(compared))
    ]


def _slope(averager: Averager, rows: Population, name: str) -> Average:
    """The derivative with respect to a number, averaged: differences of five points of every row's own design."""
    x = rows.frame[name].to_numpy(dtype=np.float64)
    points, coefficients = stencil(x, rows.known_values(name))
    frames = [rows.setting(name, column) for column in points.T]
    return averager.slope(frames, rows.weights, coefficients)


#: A new value of an aliased column may differ by this share of its size from what the other columns say.
_SAME = 1e-6


def estimable(fit: LikelihoodFit, trained: Rows, rows: Rows) -> BoolArray:
    """(n,) whether every aliased column of new rows is what the columns kept say it is, as in the rows of the fit.

    Where it is not, the data have nothing to say about the row, and a prediction that takes the effect of the aliased
    column as 0 would depend on the coding.
    """
    told = np.ones(rows.n, dtype=np.bool_)
    for matrix, gone in _parts(fit, trained):
        found, expected = _gone(matrix(trained), matrix(rows), gone)
        told &= (np.abs(found - expected) <= _SAME * (1.0 + np.abs(found))).all(axis=1)
    return told


def estimable_sum(fit: LikelihoodFit, trained: Rows, rows: Rows, weights: FloatArray) -> bool:
    """Whether the aliased columns are what the columns kept say they are in a weighted sum of rows (n,)."""
    for matrix, gone in _parts(fit, trained):
        columns = matrix(rows)
        found, expected = _gone(matrix(trained), (weights @ columns)[None], gone)
        largest = (np.abs(weights) @ np.abs(columns / _sizes(matrix(trained)))).max()
        if np.any(np.abs(found - expected) > _SAME * largest):
            return False
    return True


def estimable_slopes(fit: LikelihoodFit, trained: Rows, points: Sequence[Rows], weights: FloatArray) -> BoolArray:
    """(n,) whether the aliased columns change as the columns kept say, where one variable does.

    Parameters
    ----------
    fit : LikelihoodFit
    trained : Rows
        Rows of the fit.
    points : sequence of Rows
        The n rows with the variable at each of several values.
    weights : (n, len(points))
        Weights of the points, for the derivative of each row.
    """
    told = np.ones(len(weights), dtype=np.bool_)
    for matrix, gone in _parts(fit, trained):
        first, *others = map(matrix, points)  # differences: columns that do not change give exact zeros
        slopes = sum((weights[:, [j + 1]] * (other - first) for j, other in enumerate(others)), np.zeros_like(first))
        found, expected = _gone(matrix(trained), slopes, gone)
        largest = np.abs(slopes / _sizes(matrix(trained))).max(axis=1, keepdims=True)
        told &= (np.abs(found - expected) <= _SAME * largest).all(axis=1)
    return told


def _parts(fit: LikelihoodFit, trained: Rows) -> Iterator[tuple[Callable[[Rows], FloatArray], BoolArray]]:
    """What gives the columns of the nominal and location effects, and of the scale, with which of them are aliased.

    A column of ones comes first.
    """
    if not fit.aliased.any():
        return
    q = 0 if trained.nominal is None else trained.nominal.shape[1]
    ends = np.cumsum([fit.n_alpha, fit.n_beta, fit.n_zeta])
    thresholds, location, scale, _ = np.split(fit.aliased, ends)
    nominal = thresholds.reshape(1 + q, -1)[1:].all(axis=1)
    matrices = (lambda rows: _with_ones(rows.nominal, rows.X), lambda rows: _with_ones(rows.scale))
    for matrix, gone in zip(matrices, (np.concatenate([nominal, location]), scale), strict=True):
        if gone.any():
            yield matrix, np.append(False, gone)


def _with_ones(*blocks: FloatArray | None) -> FloatArray:
    """Columns side by side, those that there are, after one of ones (the thresholds, or the unit of the scale)."""
    given = [block for block in blocks if block is not None]
    return np.hstack([np.ones((len(given[0]), 1)), *given])


def _sizes(trained: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(np.abs(trained).max(axis=0), 1e-300))


def _gone(trained: FloatArray, new: FloatArray, gone: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The columns `gone` of new rows, and what they are if the others make them up as in the rows of the fit.

    Both in units of the size of each column.
    """
    unit = _sizes(trained)
    relation = np.linalg.lstsq(trained[:, ~gone] / unit[~gone], trained[:, gone] / unit[gone], rcond=None)[0]
    return new[:, gone] / unit[gone], new[:, ~gone] / unit[~gone] @ relation
