"""Predictions of a likelihood fit with their standard errors and limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from ..._typing import FloatArray, IntArray
from ...checks import fraction, generator, one_of, whole
from ...exceptions import OptionError
from ...model.costs import CostMatrix
from ...model.fit import LikelihoodFit
from ...model.likelihood.cumulative import CumulativeRule
from ...model.likelihood.derivatives import (
    QUANTITIES,
    Standardised,
    complements,
    involved,
    score_errors,
    score_involved,
    standard_errors,
)
from ...model.row_blocks import row_blocks
from ...model.sample import Rows
from ..target import Target
from .standard_errors import (
    drawn_rules,
    infinite_parameters,
    logit_limits,
    rule_covariance,
    symmetric_limits,
)

if TYPE_CHECKING:
    from .results import LikelihoodResults

#: What has a standard error.
UNCERTAIN = ("prob", "cum_prob", "score", "linear_predictor", "mean")
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


def with_uncertainty(results: LikelihoodResults, target: Target, type: str, how: Uncertainty) -> pd.DataFrame:
    """The frame of `LikelihoodResults.predict` with standard errors or limits."""
    if type not in UNCERTAIN:
        have = ", ".join(repr(t) for t in UNCERTAIN)
        raise OptionError(f"type={type!r} has no standard error or interval; {have} have.")
    rule = cast(CumulativeRule, results.fit.rule)
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


def _columns(results: LikelihoodResults, type: str, statistics: list[str]) -> pd.Index:
    """(statistic, label) pairs where a row has several numbers, else the statistics alone."""
    if type in ("score", "mean"):
        return pd.Index(statistics)
    labels = results.threshold_names if type == "linear_predictor" else list(results.levels)
    return pd.MultiIndex.from_product([statistics, labels], names=["statistic", None])


def _delta(rule: CumulativeRule, rows: Rows, type: str, covariance: FloatArray, how: Uncertainty) -> Predicted:
    estimate = predicted(rule, rows, type)
    if type == "score":
        errors = score_errors(rule, rows, covariance)[:, None]
    else:
        errors = standard_errors(rule, rows, QUANTITIES[type], covariance)
    return Predicted(estimate, errors, *_LIMITS[type](rule, rows, estimate, errors, how.level))


def predicted(rule: CumulativeRule, rows: Rows, type: str) -> FloatArray:
    """(n, M) values of a type of `UNCERTAIN`."""
    return _VALUES[type](rule, rows)


def _mean(rule: CumulativeRule, rows: Rows) -> FloatArray:
    return np.asarray((rule.probabilities(rows) @ np.arange(1.0, rule.n_levels + 1))[:, None])


_VALUES: dict[str, Callable[[CumulativeRule, Rows], FloatArray]] = {
    "prob": lambda rule, rows: rule.probabilities(rows),
    "cum_prob": lambda rule, rows: rule.cum_probabilities(rows),
    "score": lambda rule, rows: rule.scores(rows)[:, None],
    "linear_predictor": lambda rule, rows: Standardised.of(rule, rows).eta,
    "mean": _mean,
}

_Limits = tuple[FloatArray, FloatArray]


def _plain_limits(rule: CumulativeRule, rows: Rows, value: FloatArray, error: FloatArray, level: float) -> _Limits:
    return symmetric_limits(value, error, level)


def _prob_limits(rule: CumulativeRule, rows: Rows, value: FloatArray, error: FloatArray, level: float) -> _Limits:
    return logit_limits(value, complements(rule, rows), error, level)


def _cum_prob_limits(rule: CumulativeRule, rows: Rows, value: FloatArray, error: FloatArray, level: float) -> _Limits:
    above = np.hstack([rule.link.sf(Standardised.of(rule, rows).eta), np.zeros((rows.n, 1))])
    return logit_limits(value, above, error, level)


def _mean_limits(rule: CumulativeRule, rows: Rows, value: FloatArray, error: FloatArray, level: float) -> _Limits:
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


def _simulated(rule: CumulativeRule, rows: Rows, type: str, covariance: FloatArray, how: Uncertainty) -> Predicted:
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
    found: Predicted, results: LikelihoodResults, rule: CumulativeRule, rows: Rows, type: str
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


def classes_under(fit: LikelihoodFit, target: Target, cost: Any) -> IntArray:
    """(n,) codes of least expected cost under another cost than that of the fit."""
    rule = cast(CumulativeRule, fit.rule)
    chosen = CostMatrix.parse(cost)
    chosen.matrix(rule.n_levels)  # raises where its size is not K x K
    return replace(rule, cost=chosen).codes(target.rows, target.scores)
