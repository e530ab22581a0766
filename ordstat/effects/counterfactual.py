"""Counterfactual rows: data with some variables set to other values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..exceptions import DataError, OptionError, warn
from ..formula.random_rows import RandomRows
from ..formula.sample import Rows
from ..formula.weights import quantiles
from ..judging.fitted_data import checked_rows, matched_rows, with_text_names
from ..likelihood.differences import stencil
from ..target import case_weights, check_weights_go_with, copied
from .average import Averager

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


#: Example of `at`, for its error.
AT = "{'age': [30, 50]}"


@dataclass(frozen=True, eq=False)
class Population:
    """The complete rows over which effects are averaged.

    Attributes
    ----------
    frame : pandas.DataFrame
        n rows with (at least) the variables of the formula; never changed.
    weights : (n,) summing to 1
    variables : tuple of str
        Variables of the right-hand sides.
    categories : mapping of str to tuple
        Levels of the variables that are factors.
    evaluable : tuple of pandas.DataFrame
        Rows with numbers at which the model can be evaluated: these, and the rows of
        the fit if available.
    total : float
        Sum of the case weights.
    """

    frame: pd.DataFrame
    weights: FloatArray
    variables: tuple[str, ...]
    categories: Mapping[str, tuple[Any, ...]]
    evaluable: tuple[pd.DataFrame, ...]
    total: float

    def check(self, name: str) -> None:
        """OptionError if the formula has no such variable."""
        if not isinstance(name, str) or name not in self.variables:
            parts = re.split(r"\s*[|*+:]\s*", name) if isinstance(name, str) else []
            hint = ""
            if len(parts) > 1 and all(part in self.variables for part in parts):
                hint = f" Write '~ {name}', or a list: {parts!r}."
            raise OptionError(
                f"the formula has no variable {name!r}; it has"
                f" {', '.join(map(repr, self.variables))}.{hint}"
            )

    def check_level(self, name: str, value: Any) -> None:
        """OptionError for an unknown level of a factor, or a value of a number that is
        not finite.
        """
        self.check(name)
        levels = self.categories.get(name)
        if levels is not None and value not in levels:
            raise OptionError(
                f"{name!r} has no level {value!r}; it has"
                f" {', '.join(map(repr, levels))}."
            )
        if levels is None and not (isinstance(value, Real) and math.isfinite(value)):
            raise OptionError(f"{name!r} is a number; got the value {value!r}.")

    def setting(self, name: str, value: Any) -> pd.DataFrame:
        """The frame with one variable set: to one value, or to (n,) numbers."""
        if isinstance(value, np.ndarray):
            new = value
        else:
            new = _like(self.frame[name], [value] * len(self.frame))
        return self.frame.assign(**{name: new})

    def at(self, values: Mapping[str, Any]) -> Population:
        """The population with variables set in all rows."""
        changed = self
        for name, value in values.items():
            self.check_level(name, value)
            changed = replace(changed, frame=changed.setting(name, value))
        return changed

    def among(self, rows: IntArray) -> Population:
        """Some of the rows."""
        weights = self.weights[rows]
        return replace(
            self, frame=self.frame.iloc[rows], weights=weights / weights.sum()
        )

    def mean(self, name: str) -> float:
        """Weighted mean of a number."""
        return float(self.weights @ self.frame[name].to_numpy(dtype=np.float64))

    def middle(self, name: str, how: str) -> float:
        """The weighted mean or median of a number."""
        return self.mean(name) if how == "mean" else self.quantile(name, 0.5)

    def quantile(self, name: str, share: float) -> float:
        """R's quantile of type 7, with each row repeated by its case weight."""
        values = self.frame[name].to_numpy(dtype=np.float64)
        return float(
            quantiles(values, self.weights * self.total, self.total, np.array([share]))[
                0
            ]
        )

    def deviation(self, name: str) -> float:
        """Standard deviation of a number; the divisor is the sum of the case weights
        minus 1.
        """
        values = self.frame[name].to_numpy(dtype=np.float64)
        if values.min() == values.max() or self.total <= 1.0:
            return 0.0
        squares = float(self.weights @ (values - self.weights @ values) ** 2)
        return math.sqrt(squares * self.total / (self.total - 1.0))

    def distinct(self, name: str) -> list[Any]:
        """The values of a number in the rows with weight, in order."""
        return list(np.unique(self.frame[name][self.weights > 0]).tolist())

    def grid(self, values: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
        """Every combination of values, the last variable running fastest; with the
        column types of the frame.
        """
        rows = list(product(*values.values()))
        template = self.frame.iloc[np.zeros(len(rows), dtype=np.intp)].reset_index(
            drop=True
        )
        columns = {
            name: list(column)
            for name, column in zip(values, zip(*rows, strict=True), strict=True)
        }
        return template.assign(
            **{name: _like(template[name], column) for name, column in columns.items()}
        )


def _like(old: pd.Series, values: list[Any]) -> Any:
    """Values as a column with the type of another; a level that its categories lack
    makes it a plain column, not a missing value.
    """
    if isinstance(old.dtype, pd.CategoricalDtype):
        if set(values) <= set(old.dtype.categories):
            return pd.Categorical(values, dtype=old.dtype)
        return pd.Series(values, index=old.index, dtype=object)
    return pd.Series(values, index=old.index)


def population(
    results: LikelihoodResults, newdata: Any, weights: Any, data: Any
) -> Population:
    """The complete rows of new data, or the rows of the fit (from `data` if given) with
    its weights.
    """
    design = results.design
    variables = design.spec.columns
    fitted: pd.DataFrame | None = None
    if newdata is None:
        if weights is not None:
            check_weights_go_with(newdata, weights)
        frame = checked_rows(design, data)
        w = design.sample.case_weights
    else:
        rebuilt = design.spec.rebuild(newdata)
        frame = copied(newdata, rebuilt.index)[rebuilt.complete]
        if len(frame) < len(rebuilt.complete):
            n = len(rebuilt.complete)
            warn(
                f"{n - len(frame)} of {n} rows of newdata have missing values and are"
                " left out."
            )
        if weights is None:
            w = np.ones(len(frame))
        else:
            w = case_weights(newdata, weights, rebuilt.complete)
        if design.data is not None:
            rows, identified = matched_rows(design, design.data)
            fitted = with_text_names(rows, variables) if identified else None
    if not len(frame):
        raise DataError("newdata has no complete row.")
    complete = with_text_names(frame, variables)
    evaluable = (complete,) if fitted is None else (complete, fitted)
    categories = _categories(results, complete, variables)
    return Population(
        complete, w / w.sum(), tuple(variables), categories, evaluable, float(w.sum())
    )


def _categories(
    results: LikelihoodResults, frame: pd.DataFrame, variables: Sequence[str]
) -> dict[str, tuple[Any, ...]]:
    """Levels of the factors: from the coding of the fit, else from the rows."""
    coded = results.design.spec.categories()
    levels = {}
    for name in variables:
        if name in coded:
            levels[name] = coded[name]
        elif not pd.api.types.is_numeric_dtype(
            frame[name]
        ) or pd.api.types.is_bool_dtype(frame[name]):
            levels[name] = tuple(pd.unique(frame[name].sort_values()))
    return levels


def tangent(
    averager: Averager, rows: Population, frame: pd.DataFrame, name: str
) -> Rows:
    """Derivatives of the columns of every row of a frame with respect to a numeric
    variable.

    They are five-point differences within the range of `rows`, unless the columns are
    linear in the variable.
    """
    x = frame[name].to_numpy(dtype=np.float64)
    if averager.results.design.spec.linear_in(name):
        ones = np.ones((x.size, 1))
        points = np.hstack([0.0 * ones, ones])
        coefficients = np.hstack([-ones, ones])
    else:
        values = np.concatenate(
            [frame[name].to_numpy(dtype=np.float64) for frame in rows.evaluable]
        )
        points, coefficients = stencil(x, values)
    return combined(
        [averager.design(frame.assign(**{name: column})) for column in points.T],
        coefficients,
    )


def in_one_unit(moved: Rows) -> Rows:
    """A tangent that keeps the scale, so that the unit of the latent variable does not
    change.
    """
    scale, offset = (
        None if part is None else np.zeros_like(part)
        for part in (moved.scale, moved.scale_offset)
    )
    return replace(moved, scale=scale, scale_offset=offset)


def combined(points: Sequence[Rows], coefficients: FloatArray) -> Rows:
    """Sums of rows with coefficients (n, len(points)) that sum to 0; columns that do
    not change give exact zeros.
    """

    def total(parts: list[Any]) -> Any:
        if parts[0] is None:
            return None
        factors = coefficients if parts[0].ndim == 1 else coefficients[:, :, None]
        moved = (factors[:, j] * (part - parts[0]) for j, part in enumerate(parts) if j)
        return sum(moved, np.zeros_like(parts[0]))

    names = [field.name for field in fields(Rows) if field.name != "random"]
    sums: dict[str, Any] = {
        name: total([getattr(rows, name) for rows in points]) for name in names
    }
    if points[0].random is not None:  # the groups of random terms stay
        terms = zip(
            *(rows.random.terms for rows in points if rows.random is not None),
            strict=True,
        )
        sums["random"] = RandomRows(
            tuple(replace(term[0], z=total([one.z for one in term])) for term in terms)
        )
    return replace(points[0], **sums)
