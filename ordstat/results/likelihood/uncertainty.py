"""Predictions of a likelihood fit with their standard errors and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...checks import fraction, generator, one_of, whole
from ...exceptions import OptionError
from ...model.likelihood.derivatives import involved, score_errors, score_involved, standard_errors
from ...model.likelihood.quantities import QUANTITIES
from ...model.likelihood.rule import LikelihoodRule
from ...model.row_blocks import row_blocks
from ...model.sample import Rows
from ..predictions import prediction, unknown_type
from ..target import Target
from .fitted import FittedLikelihood
from .standard_errors import (
    UNCERTAIN,
    classes_under,
    drawn_rules,
    infinite_parameters,
    logit_limits,
    predicted,
    rule_covariance,
    symmetric_limits,
)

METHODS = ("delta", "simulation")


@dataclass(frozen=True, kw_only=True)
class Uncertainty:
    """How uncertain a prediction is to be told.

    Attributes
    ----------
    se : bool
        Whether to give standard errors.
    interval : "confidence" or None
    level : float in (0, 1)
    method : {"delta", "simulation"}
    draws : int
        Draws of the parameters, for the simulation.
    seed : int or numpy.random.Generator
    vcov : str or dict, optional
        Covariance of the parameters, as `LikelihoodResults.vcov` takes it.
    """

    se: bool = False
    interval: str | None = None
    level: float = 0.95
    method: str = "delta"
    draws: int = 1000
    seed: int | np.random.Generator = 0
    vcov: Any = None

    def __post_init__(self) -> None:
        one_of("interval", self.interval, ("confidence", None))
        one_of("method", self.method, METHODS)
        whole("draws", self.draws, 2)
        fraction("level", self.level)

    @property
    def asked(self) -> bool:
        return self.se or self.interval is not None


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of n rows with errors and limits, (n, M) each."""

    estimate: FloatArray
    std_error: FloatArray
    lower: FloatArray
    upper: FloatArray


def prediction_with_errors(
    r: FittedLikelihood,
    newdata: Any = None,
    type: str = "class",
    *,
    se: bool = False,
    interval: str | None = None,
    level: float = 0.95,
    method: str = "delta",
    draws: int = 1000,
    seed: int | np.random.Generator = 0,
    vcov: Any = None,
    cost: Any = None,
) -> pd.Series | pd.DataFrame:
    """Predict rows of new data, or the rows that were fitted, with standard errors and limits where asked for.

    Parameters
    ----------
    newdata : data frame, optional
        With the columns of the formula; the response is not looked at (but for "margin"): all levels are always
        given. None means the rows of the fit.
    type : str
        "class": the level of least expected cost. "prob": P(response = level). "cum_prob": P(response <= level).
        "score": H, larger for higher levels. "linear_predictor": s (threshold - H), one column per threshold,
        whose F is the cumulative probability. "mean": the expected rank, in 1..K whatever the labels are.
        "margin": left and right margin; needs the response.
    se : bool
        Add the standard errors.
    interval : "confidence", optional
        Add confidence limits (of the probability, score or expected rank, not of the response itself).
    level : float in (0, 1)
        Confidence level of the limits.
    method : {"delta", "simulation"}
        Delta method: limits of probabilities (and of the expected rank, as a share of 1..K) are formed on the
        logit scale and taken back, so they stay in range; symmetric for the other types. Simulation: deviation
        and quantiles of the predictions at parameters drawn from their asymptotic normal distribution.
    draws : int
    seed : int or numpy.random.Generator
        Seed of the simulation.
    vcov : str or dict, optional
        Covariance of the parameters, as in `vcov`.
    cost : str or K x K matrix, optional
        What the predicted class is to minimise instead of the cost of the fit; nothing is fitted again.

    Returns
    -------
    pandas.Series or pandas.DataFrame
        One row per row of `newdata`, on its index; NaN where an input is missing. With `se` or `interval` the
        columns are "estimate", "std_error", "lower", "upper" for "score" and "mean", and pairs of those and a
        level (or threshold) for the rest, so that `out["lower"]` is a frame like `out["estimate"]`. Errors and
        limits are NaN where a prediction depends on an infinite estimate.

    Raises
    ------
    OptionError
        For an unknown type, or errors of a type that has none.
    DataError
        For a missing column or an unseen level in `newdata`.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", data=wine)
    >>> out = fit.predict(wine.head(2), type="prob", se=True, interval="confidence")
    >>> out["std_error"].round(4).loc[0].tolist()
    [0.0848, 0.0868, 0.0639, 0.0138, 0.0048]
    >>> fit.predict(wine.head(3), cost="absolute").tolist()
    [2, 2, 3]
    """
    how = Uncertainty(se=se, interval=interval, level=level, method=method, draws=draws, seed=seed, vcov=vcov)
    if cost is not None:
        return _prediction_under(r, newdata, type, cost)
    if not how.asked:
        return prediction(r, newdata, type)
    if type not in r.predicts:
        raise unknown_type(r, type)
    return with_uncertainty(r, r.target(newdata), type, how)


def _prediction_under(r: FittedLikelihood, newdata: Any, type: str, cost: Any) -> pd.Series:
    if type != "class":
        raise OptionError(f"cost goes with type='class'; got type={type!r}.")
    target = r.target(newdata)
    return target.classes(classes_under(r.fit, target, cost), r.design.levels, r.design.response)


def with_uncertainty(results: FittedLikelihood, target: Target, type: str, how: Uncertainty) -> pd.DataFrame:
    """The frame of `LikelihoodResults.predict` with standard errors or limits."""
    if type not in UNCERTAIN:
        have = ", ".join(repr(t) for t in UNCERTAIN)
        raise OptionError(f"type={type!r} has no standard error or interval; {have} have.")
    rule = cast(LikelihoodRule, results.fit.rule)
    covariance = rule_covariance(results.fit, rule, results.vcov(how.vcov).to_numpy())
    method = _delta if how.method == "delta" else _simulated
    found = _unknown_removed(method(rule, target.rows, type, covariance, how), results, rule, target.rows, type)
    tables = {"estimate": found.estimate}
    if how.se:
        tables["std_error"] = found.std_error
    if how.interval is not None:
        tables |= {"lower": found.lower, "upper": found.upper}
    columns = _columns(results, type, list(tables))
    return target.frame(np.hstack(list(tables.values())), range(len(columns))).set_axis(columns, axis=1)


def _columns(results: FittedLikelihood, type: str, statistics: list[str]) -> pd.Index:
    """(statistic, label) pairs where a row has several numbers, else the statistics alone."""
    if type in ("score", "mean"):
        return pd.Index(statistics)
    labels = results.threshold_names if type == "linear_predictor" else list(results.levels)
    return pd.MultiIndex.from_product([statistics, labels], names=["statistic", None])


def _delta(rule: LikelihoodRule, rows: Rows, type: str, covariance: FloatArray, how: Uncertainty) -> Predicted:
    estimate = predicted(rule, rows, type)
    if type == "score":
        errors = score_errors(rule, rows, covariance)[:, None]
    else:
        errors = standard_errors(rule, rows, QUANTITIES[type], covariance)
    return Predicted(estimate, errors, *_LIMITS[type](rule, rows, estimate, errors, how.level))


_Limits = tuple[FloatArray, FloatArray]


def _plain_limits(rule: LikelihoodRule, rows: Rows, value: FloatArray, error: FloatArray, level: float) -> _Limits:
    return symmetric_limits(value, error, level)


def _prob_limits(rule: LikelihoodRule, rows: Rows, value: FloatArray, error: FloatArray, level: float) -> _Limits:
    return logit_limits(value, rule.family.complements(rule.eta(rows)), error, level)


def _cum_prob_limits(rule: LikelihoodRule, rows: Rows, value: FloatArray, error: FloatArray, level: float) -> _Limits:
    above = np.hstack([rule.family.above(rule.eta(rows)), np.zeros((rows.n, 1))])
    return logit_limits(value, above, error, level)


def _mean_limits(rule: LikelihoodRule, rows: Rows, value: FloatArray, error: FloatArray, level: float) -> _Limits:
    """On the logit of the place between the lowest rank 1 and the highest K."""
    width = rule.n_levels - 1.0
    share = (value - 1.0) / width
    lower, upper = logit_limits(share, 1.0 - share, error / width, level)
    return 1.0 + width * lower, 1.0 + width * upper


_LIMITS = {
    "prob": _prob_limits,
    "cum_prob": _cum_prob_limits,
    "score": _plain_limits,
    "linear_predictor": _plain_limits,
    "mean": _mean_limits,
}


def _simulated(rule: LikelihoodRule, rows: Rows, type: str, covariance: FloatArray, how: Uncertainty) -> Predicted:
    """Deviation and quantiles of the predictions at drawn parameters; the estimate is the fit's own."""
    estimate = predicted(rule, rows, type)
    rng = generator(how.seed)
    drawn = list(drawn_rules(rule, covariance, how.draws, rng))
    tail = 0.5 - how.level / 2.0
    tables = np.empty((3, *estimate.shape))
    for part in row_blocks(rows.n, how.draws * estimate.shape[1]):
        values = np.stack([predicted(one, rows.take(part), type) for one in drawn])
        tables[0, part] = values.std(axis=0, ddof=1)
        tables[1:, part] = np.quantile(values, [tail, 1.0 - tail], axis=0)
    return Predicted(estimate, *tables)


def _unknown_removed(
    found: Predicted, results: FittedLikelihood, rule: LikelihoodRule, rows: Rows, type: str
) -> Predicted:
    """No errors where a prediction depends on an infinite estimate."""
    infinite = infinite_parameters(results.fit)
    if infinite is None:
        return found
    if type == "score":
        moving = score_involved(rule, rows, infinite)[:, None]
    else:
        moving = involved(rule, rows, QUANTITIES[type], infinite)
    return Predicted(
        found.estimate, *(np.where(moving, np.nan, table) for table in (found.std_error, found.lower, found.upper))
    )
