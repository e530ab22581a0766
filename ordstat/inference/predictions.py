"""Predictions with standard errors, and simulated responses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import flag, fraction, generator, one_of, whole
from ..exceptions import DataError, OptionError
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows
from ..judging.costs import CostMatrix
from ..judging.decisions import Decision, decision_in_blocks, resolved
from ..likelihood.derivatives import (
    QUANTITIES,
    QuantityOfRows,
    score_errors,
    score_slopes,
    standard_errors,
)
from ..likelihood.family import stages_of
from ..likelihood.rule import LikelihoodRule
from ..likelihood.standard_errors import (
    TYPES_WITH_ERRORS,
    limits_between,
    logit_limits,
    predicted,
    rule_covariance,
    symmetric_limits,
)
from ..report.frames import NotedFrame
from ..results import known_type, prediction
from .wald import degrees_of_freedom

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


def prediction_with_errors(
    r: LikelihoodResults,
    newdata: Any = None,
    type: str = "class",
    *,
    se: bool = False,
    interval: str | None = None,
    level: float = 0.95,
    vcov: Any = None,
    cost: Any = None,
    re: str | None = None,
) -> pd.Series | pd.DataFrame:
    """Predict new data or the fitted rows, with standard errors and limits on
    request.
    """
    check_uncertainty(se, interval, level)
    if re is not None:
        raise OptionError(
            f"re must be left out, as the fit has no random effects; got {re!r}."
        )
    if cost is not None:
        return _prediction_under(r, newdata, type, cost)
    if not se and interval is None:
        return prediction(r, newdata, type)
    type = known_type(r, type)
    target = r.target(newdata)
    if type not in TYPES_WITH_ERRORS:
        allowed = ", ".join(
            repr(t) for t in TYPES_WITH_ERRORS if t in r.prediction_types
        )
        raise OptionError(
            f"type must be one of {allowed} for standard errors and intervals; got"
            f" {type!r}."
        )
    rule = r.rule
    rows = target.rows
    chosen = r if vcov is None else r.with_vcov(vcov)
    covariance = rule_covariance(r.fit, rule, chosen.fixed_covariance)
    estimate = r.known(target, type, predicted(rule, rows, type))
    if type == "score":
        errors = score_errors(rule, rows, covariance)[:, None]
    else:
        quantity = QUANTITIES[type]
        errors = standard_errors(
            lambda some: QuantityOfRows(quantity, rule, some).rows(),
            rows,
            rule.n_levels,
            covariance,
        )
    errors = known_errors(r, rows, type, errors)
    limits = None
    if interval is not None:
        df = delta_df(chosen, rows, type)
        limits = limits_of(rule, rows, type, estimate, errors, level, df)
    values, columns = side_by_side(r, type, estimate, errors if se else None, limits)
    frame = target.frame(values, range(len(columns))).set_axis(columns, axis=1)
    if isinstance(frame.index, pd.RangeIndex):  # tables do not print its labels
        frame.index = pd.Index(frame.index.to_numpy(), name=frame.index.name)
    level_note = () if interval is None else (f"{100 * level:g}% confidence limits.",)
    notes = (*level_note, *chosen.standard_error_notes)
    return NotedFrame.of(frame, notes, f"Predictions, type {type!r}")


def _prediction_under(
    r: LikelihoodResults, newdata: Any, type: str, cost: Any
) -> pd.Series:
    """Classes of least expected cost, for another cost than the fit's."""
    if type != "class":
        raise OptionError(f"cost goes with type='class'; got type={type!r}.")
    target = r.target(newdata)
    chosen = cost_of(r, cost)
    codes = replace(r.rule, cost=chosen).codes(target.rows, target.scores)
    return target.classes(
        r.known_codes(target, codes), r.design.levels, r.design.response
    )


def cost_of(r: LikelihoodResults, cost: Any) -> CostMatrix | Decision:
    """A cost given for predictions of a fit; a decision is found from the rows of the
    fit.

    Raises
    ------
    OptionError
        The matrix is not K x K, or the rows of the fit are in blocks.
    """
    given = CostMatrix.parse(cost, r.levels)
    given.require(len(r.levels))
    if given.decides and not r.in_memory:
        raise decision_in_blocks(str(given.value))
    return resolved(given, r.fit, r.design.sample)


def check_uncertainty(se: bool, interval: str | None, level: float) -> None:
    """OptionError for options of standard errors and limits that `predict` does not
    take.
    """
    one_of("interval", interval, ("confidence", None))
    fraction("level", level)
    flag("se", se)


def known_errors(
    r: LikelihoodResults, rows: Rows, type: str, errors: FloatArray
) -> FloatArray:
    """Standard errors (n, M), NaN where a prediction depends on an infinite
    estimate.
    """
    limits = r.row_limits(rows)
    if limits is None:
        return errors
    return np.where(limits.certain(type) | limits.unknown(type), np.nan, errors)


def side_by_side(
    r: LikelihoodResults,
    type: str,
    estimate: FloatArray,
    errors: FloatArray | None,
    limits: tuple[FloatArray, FloatArray] | None,
) -> tuple[FloatArray, pd.Index]:
    """Predictions (n, M) with their errors and limits in one array, and the names of
    its columns: (statistic, label) pairs if a row has several numbers, else the
    statistics.
    """
    tables = {"estimate": estimate}
    if errors is not None:
        tables["std_error"] = errors
    if limits is not None:
        tables["lower"], tables["upper"] = limits
    values = np.hstack(list(tables.values()))
    if type in ("score", "mean"):
        return values, pd.Index(list(tables))
    labels = r.prediction_labels(type)
    names = ["statistic", None]
    return values, pd.MultiIndex.from_product([list(tables), labels], names=names)


def range_of(type: str, n_levels: int) -> tuple[float, float] | None:
    """The smallest and the largest value of a type of prediction; None if it has no
    bounds.
    """
    if type in ("prob", "cum_prob", "hazard"):
        return 0.0, 1.0
    return (1.0, float(n_levels)) if type == "mean" else None


def delta_df(r: LikelihoodResults, rows: Rows, type: str) -> Any:
    """Degrees of freedom of t limits: under CR2 (n, M) or (n, 1), one for each
    prediction, else one number.
    """
    if r.bias_reduced is None:
        return r.design_df
    if type != "score":
        _, jacobian = QuantityOfRows(QUANTITIES[type], r.rule, rows).rows()
        return degrees_of_freedom(r, jacobian)
    return degrees_of_freedom(r, score_slopes(r.rule, rows))[:, None]


def limits_of(
    rule: LikelihoodRule,
    rows: Rows,
    type: str,
    value: FloatArray,
    error: FloatArray,
    level: float,
    df: Any,
) -> tuple[FloatArray, FloatArray]:
    """(n, M) lower and upper limits: on the logit scale for probabilities, between the
    ranks 1 and K for the mean.
    """
    if type == "prob":
        return logit_limits(
            value, rule.family.complements(rule.eta(rows)), error, level, df
        )
    if type == "cum_prob":
        above = np.hstack([rule.family.above(rule.eta(rows)), np.zeros((rows.n, 1))])
        return logit_limits(value, above, error, level, df)
    if type == "hazard":
        going_on = stages_of(rule.family).survivals(rule.eta(rows))
        return logit_limits(value, going_on, error, level, df)
    if type == "mean":
        return limits_between(1.0, float(rule.n_levels), value, error, level, df)
    return symmetric_limits(value, error, level, df)


def simulated(
    r: LikelihoodResults,
    n: int = 1,
    seed: int | np.random.Generator = 0,
    newdata: Any = None,
) -> pd.DataFrame:
    """Draw responses from the fitted probabilities."""
    whole("n", n, 1)
    target = r.target(newdata)
    rule = r.rule
    rng = generator(seed)
    shares = rng.random((int(n), target.rows.n))
    codes = np.empty(shares.shape, dtype=np.intp)
    for rows in row_blocks(target.rows.n, len(r.levels)):
        probabilities = rule.probabilities(target.rows.take(rows), target.scores[rows])
        codes[:, rows] = drawn_codes(probabilities, shares[:, rows])
    columns = {
        f"sim_{i + 1}": target.classes(row, r.design.levels)
        for i, row in enumerate(codes)
    }
    return pd.DataFrame(columns, index=target.index)


def drawn_codes(probabilities: FloatArray, shares: FloatArray) -> IntArray:
    """(S, n) codes: the number of cumulative probabilities (n, K) at or below each
    share (S, n) in [0, 1).
    """
    if (probabilities < 0.0).any():
        raise DataError(
            "simulate() needs probabilities of 0 or more; nominal effects put the"
            f" thresholds of {int((probabilities < 0.0).any(axis=1).sum())} rows out of"
            " order, so that some are negative."
        )
    cumulative = np.cumsum(probabilities, axis=1)[:, :-1]
    codes = np.zeros(shares.shape, dtype=np.intp)
    for k in range(cumulative.shape[1]):
        codes += shares >= cumulative[:, k]
    return codes
