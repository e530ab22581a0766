"""What every variable contributes to the potential of a row: exact Shapley values of boosted trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from ..._typing import FloatArray, IntArray
from ...exceptions import DataError, OptionError
from ...model.boosted.shapley import shapley_values
from ..importance import frame_of_fit
from ..target import Target, copied

if TYPE_CHECKING:
    from ...design.design import Design

#: Columns of the table that are no variables.
BASE, OFFSET = "(base)", "(offset)"


class ShapleyTable(pd.DataFrame):
    """Shapley values: a row a row of the data, a column a variable, and the base value in the column "(base)".

    A part of it or a copy is a plain data frame.
    """

    _metadata: ClassVar[list[str]] = ["_inputs"]
    _inputs: pd.DataFrame | None

    @classmethod
    def of(cls, values: pd.DataFrame, inputs: pd.DataFrame | None) -> ShapleyTable:
        """With the values of the variables, on the same index, where they are at hand."""
        made = cls(values)
        made._inputs = inputs
        return made

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    def to_shap(self) -> Any:
        """As a `shap.Explanation`, for the plots of the shap package; rows with missing inputs are left out.

        Levels of factors are codes in its `data` and texts in its `display_data`.

        Raises
        ------
        ImportError
            The package shap is not installed.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "ordboost", rounds=20, depth=2)
        >>> explanation = fit.shapley().to_shap()  # doctest: +SKIP
        >>> shap.plots.beeswarm(explanation)  # doctest: +SKIP
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError(
                "to_shap needs the package shap, which is not installed: pip install ordstat[shap]"
            ) from error
        whole = np.asarray(self.notna().all(axis=1))
        names = [name for name in self.columns if name != BASE]
        shown = None if self._inputs is None else self._inputs.reindex(columns=names)[whole]
        return shap.Explanation(
            values=self[names].to_numpy()[whole],
            base_values=self[BASE].to_numpy()[whole],
            data=None if shown is None else _numbers(shown),
            display_data=None if shown is None else shown.to_numpy(dtype=object),
            feature_names=[str(name) for name in names],
        )


def _numbers(frame: pd.DataFrame) -> FloatArray:
    """(N, V) numbers as they are, and the codes of what is none."""
    columns = [
        frame[name] if pd.api.types.is_numeric_dtype(frame[name]) else frame[name].astype("category").cat.codes
        for name in frame
    ]
    return np.column_stack([np.zeros((len(frame), 0)), *(np.asarray(one, dtype=np.float64) for one in columns)])


def shapley_table(fit: Any, newdata: Any = None) -> ShapleyTable:
    """Exact Shapley values of the potential H: what every variable has of the score of a row."""
    trees = fit.fit.trees.upto(fit.fit.kept)
    target, design = fit.target(newdata), fit.design
    variables, group = players(design)
    if taken := {BASE, OFFSET} & set(variables):
        raise OptionError(
            f"the variable {taken.pop()!r} has the name of another column of the table: rename it in the data and the "
            "formula, and fit again."
        )
    sample = design.sample
    values, base = shapley_values(trees, target.rows, sample.rows, sample.case_weights, group, len(variables))
    names = [BASE, *variables]
    if target.rows.offset is not None:
        mean = float(sample.case_weights @ sample.rows.offset / sample.case_weights.sum())
        values, base = np.column_stack([values, target.rows.offset - mean]), base + mean
        names = [*names, OFFSET]
    whole = target.frame(np.column_stack([np.full(target.rows.n, base), values]), names)
    return ShapleyTable.of(whole, _inputs(fit, newdata, target, variables, group))


def players(design: Design) -> tuple[list[str], IntArray]:
    """Names of the variables, or of the sets of them, that columns of X are made of; and the one of each column."""
    group = np.empty(len(design.names), dtype=np.intp)
    if not design.terms:
        return list(map(str, design.names)), np.arange(group.size)
    order = {name: place for place, name in enumerate(design.spec.columns or ())}
    known, names = design.spec.variables(), dict[str, int]()
    for term, columns in design.terms.items():
        own = sorted(known[term], key=lambda name: order.get(name, len(order)))
        group[columns] = names.setdefault(":".join(own) or term, len(names))
    return list(names), group


def _inputs(fit: Any, newdata: Any, target: Target, names: Sequence[str], group: IntArray) -> pd.DataFrame | None:
    """The values of the players at the rows asked for, on their index; None where they are not at hand.

    Of a player that is several variables, those of its column, where it has one alone.
    """
    if fit.design.recipe is None:  # made from arrays
        return target.frame(target.rows.X, list(map(str, fit.design.names)))
    if newdata is not None:
        frame = copied(newdata, target.index)
    else:
        try:
            frame = frame_of_fit(fit).set_axis(target.index)
        except DataError:  # saved and loaded without its data
            return None
    frame = frame.rename(columns=str)
    for player, name in enumerate(names):
        columns = np.flatnonzero(group == player)
        if name not in frame and columns.size == 1:
            frame[name] = target.series(target.rows.X[:, columns[0]])
    return frame
