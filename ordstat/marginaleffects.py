"""A likelihood fit as a model of the `marginaleffects` package, which has to be installed (the extra of that name).

The package cannot be told of new models: its function `sanitize_model` decides what it takes. This module puts one that
knows likelihood fits in its place: `avg_slopes(fit)` works after `import ordstat.marginaleffects`, which `ordfit` does
by itself where marginaleffects was imported before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd

try:
    import polars as pl
    from marginaleffects.classes.model import ModelAbstract, ModelVault
    from marginaleffects.sanitize import sanitize_model
except ImportError as error:
    raise ImportError(
        "ordstat.marginaleffects needs marginaleffects and polars: pip install ordstat[marginaleffects]"
    ) from error

from ._typing import FloatArray
from .checks import one_of
from .exceptions import UnavailableError
from .model.likelihood.crossing import report_crossing
from .model.sample import Rows
from .results.likelihood.effects.counterfactual import Population, population
from .results.likelihood.results import LikelihoodResults
from .results.likelihood.standard_errors import UNCERTAIN, predicted, rule_at


@dataclass(frozen=True, eq=False)
class Exog:
    """Design matrices of some rows, cut like an array."""

    rows: Rows

    def __getitem__(self, index: slice) -> Exog:
        return Exog(self.rows.take(index))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.rows.X.shape


class MarginalEffectsModel(ModelAbstract):  # type: ignore[misc]
    """What `marginaleffects.predictions`, `comparisons`, `slopes` and their averages make of a likelihood fit.

    These functions take the fit itself, as one that predicts probabilities; this class is for other types and data.

    Parameters
    ----------
    results : LikelihoodResults
    type : str
        What is predicted: "prob" and "cum_prob" with a group per level, "linear_predictor" with one per threshold,
        "mean" (the expected rank, 1..K) or "score".
    data : data frame, optional
        The data of the fit, where it does not have them any more (after unpickling).

    Raises
    ------
    OptionError
        For another type.
    DataError
        Where the data of the fit are not at hand.
    UnavailableError
        For a fit with random effects.

    Notes
    -----
    The package differentiates by one-sided differences whose default step is too small for slopes: pass
    `eps_vcov=1e-4` to have three correct digits or more. `fit.marginal_effects` differentiates by formulas.
    marginaleffects 0.6 uses for factors what polars 2 has removed: install polars below 2, as the extra does.

    Examples
    --------
    >>> from marginaleffects import avg_comparisons
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> found = avg_comparisons(fit, variables="temp", eps_vcov=1e-4)
    >>> found.data.sort("group")["estimate"].round(4).to_list()
    [-0.1174, -0.3465, 0.0852, 0.2223, 0.1564]
    >>> mean = avg_comparisons(MarginalEffectsModel(fit, "mean"), variables="temp", eps_vcov=1e-4)
    >>> mean.data["estimate"].round(4).to_list()
    [1.1165]
    """

    def __init__(self, results: LikelihoodResults, type: str = "prob", data: Any = None) -> None:
        if results.fit.marginal is not None:
            raise UnavailableError(
                "The marginaleffects package takes no fit with random effects: compare predict(newdata, "
                "re='marginal') at two values, or use test() for hypotheses on parameters."
            )
        one_of("type", type, UNCERTAIN)
        self.type = type
        self.df_resid = float(results.design_df)  # infinite, for the normal distribution, without a survey design
        self.estimated = ~results.fit.aliased
        self.rows = population(results, None, None, data)
        response = results.design.levels.categorical(results.design.sample.y, self.rows.frame.index)
        super().__init__(
            results,
            ModelVault(
                coef=results.fit.coefficients[self.estimated],
                coefnames=np.array(results.parameters.names, dtype=object)[self.estimated],
                formula=f"{results.design.response} ~ {' + '.join(self.rows.variables)}",
                modeldata=_polars(self.rows, results.design.response, response),
                package="ordstat",
                variable_names=[results.design.response, *self.rows.variables],
            ),
        )

    def get_exog(self, newdata: pl.DataFrame) -> Exog:
        """The design of new data."""
        columns = {name: newdata[name].to_list() for name in self.rows.variables}
        for name, levels in self.rows.categories.items():
            labels = {str(level): level for level in levels}
            columns[name] = [labels.get(str(value), value) for value in columns[name]]
        rows = self.model.design.spec.rebuild(pd.DataFrame(columns)).rows
        refuse = self.model.method.refuses_crossing
        report_crossing(self.model.rule, rows, None, "rows of newdata", refuse=refuse)
        return Exog(rows)

    def get_predict(self, params: FloatArray, newdata: Exog) -> pl.DataFrame:
        """Columns rowid, group (where there are several numbers a row) and estimate."""
        values = predicted(rule_at(self.model.fit, np.asarray(params)), newdata.rows, self.type)
        row = np.arange(len(values), dtype=np.int32)
        if self.type in ("mean", "score"):
            return pl.DataFrame({"rowid": row, "estimate": values[:, 0]})
        names = self.model.threshold_names if self.type == "linear_predictor" else [str(k) for k in self.model.levels]
        groups = pl.Series("group", np.repeat(names, len(row)).tolist(), dtype=pl.Enum(names))
        return pl.DataFrame({"rowid": np.tile(row, len(names)), "group": groups, "estimate": values.T.reshape(-1)})

    def get_vcov(self, vcov: Any = True) -> FloatArray | None:
        """Covariance of the estimated parameters: False gives none, True that of the fit, else as `vcov` takes it."""
        if vcov is False or vcov is None:
            return None
        return np.asarray(self.model.vcov(None if vcov is True else vcov).to_numpy())


def _polars(rows: Population, response: str, observed: pd.Series) -> pl.DataFrame:
    """The data of the fit; factors are enumerations of their levels in order."""
    names = [name for name in rows.variables if name != response]
    columns = {name: _column(rows.frame[name], rows.categories.get(name)) for name in names}
    levels = [str(level) for level in observed.cat.categories]
    columns[response] = pl.Series([str(value) for value in observed], dtype=pl.Enum(levels))
    for name in rows.frame.columns:
        if name not in columns and pd.api.types.is_numeric_dtype(rows.frame[name]):
            columns[name] = pl.Series(rows.frame[name].to_list())
    return pl.DataFrame(columns)


def _column(column: pd.Series, levels: tuple[Any, ...] | None) -> pl.Series:
    if levels is None or set(levels) <= {False, True}:
        return pl.Series(column.to_list())
    return pl.Series([str(value) for value in column], dtype=pl.Enum([str(level) for level in levels]))


def _taking_fits(known: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The package's choice of a model class, which takes likelihood fits too."""

    @wraps(known)
    def sanitize(model: Any) -> Any:
        return MarginalEffectsModel(model) if isinstance(model, LikelihoodResults) else known(model)

    return sanitize


def _teach() -> None:
    """Put it in place wherever the package has imported its own."""
    taught = _taking_fits(sanitize_model)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "marginaleffects" and vars(module).get("sanitize_model") is sanitize_model:
            module.sanitize_model = taught  # type: ignore[attr-defined]


_teach()
