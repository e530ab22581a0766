"""Predictions with standard errors, and simulated responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import flag, fraction, generator, one_of, require_memory, whole
from ..exceptions import DataError, OptionError
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows
from ..judging.costs import CostMatrix
from ..judging.decisions import Decision, decision_in_blocks, resolved
from ..judging.response_numbers import Asked
from ..likelihood.derivatives import (
    Quantity,
    QuantityOfRows,
    cumulative_errors,
    quantity_of,
    score_errors,
    score_slopes,
    standard_errors,
)
from ..likelihood.family import stages_of
from ..likelihood.row_predictions import (
    check_few_compared,
    column_labels,
    known_codes,
    known_values,
)
from ..likelihood.rule import LikelihoodRule
from ..likelihood.standard_errors import (
    TYPES_WITH_ERRORS,
    limits_between,
    logit_limits,
    predicted,
    rule_covariance,
    symmetric_limits,
)
from ..likelihood.unavailable import check_available
from ..likelihood.user_scale import CovarianceMatrix, CovarianceOperator
from ..predicting import known_type, prediction
from ..report.frames import NotedFrame
from .wald import degrees_of_freedom

#: Levels from which products with the covariance come from factors of the information.
_MANY_LEVELS = 500
#: Matrices of levels by levels that errors of all levels hold at once.
_SQUARES = 3.0

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults
    from ..target import Target


def prediction_with_errors(
    r: LikelihoodResults,
    newdata: Any,
    type: str,
    *,
    se: bool,
    interval: str | None,
    level: float,
    vcov: Any,
    cost: Any,
    re: str | None,
    at: Any,
    interpolate: bool,
) -> pd.Series | pd.DataFrame:
    """Predict new data or the rows of the fit, with standard errors and confidence
    limits on request.
    """
    check_uncertainty(se, interval, level)
    if re is not None:
        raise OptionError(
            f"re must be left out, as the fit has no random effects; got {re!r}."
        )
    if cost is not None:
        return _prediction_under(r, newdata, type, cost)
    if not se and interval is None:
        return prediction(r, newdata, type, at=at, interpolate=interpolate)
    type = known_type(r, type)
    asked = Asked.of(r.design.levels, type, at, interpolate)
    target = r.target(newdata)
    check_has_errors(r, type, se)
    chosen = r if vcov is None else r.with_vcov(vcov)
    if asked is not None and type == "quantile":
        frame = _quantiles_with_limits(chosen, target, asked, level)
    else:
        frame = _with_errors(chosen, target, type, asked, se, interval, level)
    limits_at = None if interval is None else level
    return noted_predictions(chosen, frame, type, asked, limits_at)


def noted_predictions(
    r: LikelihoodResults,
    frame: pd.DataFrame,
    type: str,
    asked: Asked | None,
    level: float | None,
    notes: Sequence[str] = (),
) -> NotedFrame:
    """Predictions with errors or limits (at a level), their title and their notes,
    after `notes`.
    """
    asked_notes = () if asked is None else asked.notes
    limits = () if level is None else (f"{100 * level:g}% confidence intervals.",)
    if isinstance(frame.index, pd.RangeIndex):  # tables do not print its labels
        frame.index = pd.Index(frame.index.to_numpy(), name=frame.index.name)
    told = (*asked_notes, *notes, *limits, *r.standard_error_notes)
    return NotedFrame.of(frame, told, f"Predictions, type {type!r}")


def _covariance(r: LikelihoodResults) -> CovarianceOperator:
    """The covariance of the parameters of the rule; a matrix where few levels have
    many rows.
    """
    covariance = rule_covariance(r.fit, r.rule, r.covariance_of_estimates)
    if len(r.levels) > _MANY_LEVELS:
        return covariance
    return CovarianceMatrix(covariance.dense())


def check_has_errors(r: LikelihoodResults, type: str, se: bool) -> None:
    """OptionError for a type without standard errors or confidence limits;
    UnavailableError for a fit without standard errors.
    """
    check_available(r, "predict() with errors")
    if type == "quantile" and se:
        raise OptionError(
            "se must be left out for type='quantile', which has limits alone"
            " (interval='confidence')."
        )
    if type not in (*TYPES_WITH_ERRORS, "quantile"):
        allowed = ", ".join(
            repr(t) for t in TYPES_WITH_ERRORS if t in r.prediction_types
        )
        raise OptionError(
            f"type must be one of {allowed} for standard errors and intervals; got"
            f" {type!r}."
        )


def _with_errors(
    r: LikelihoodResults,
    target: Target,
    type: str,
    asked: Asked | None,
    se: bool,
    interval: str | None,
    level: float,
) -> pd.DataFrame:
    """Predictions with errors, limits or both."""
    rule = r.rule
    rows = target.rows
    estimate = known_values(r, target, type, _estimates(rule, rows, type, asked), asked)
    if type == "score":
        errors = score_errors(rule, rows, _covariance(r))[:, None]
    else:
        quantity = quantity_of(type, asked)
        errors = errors_of_rows(quantity, rule, rows, _covariance(r))
    errors = known_errors(r, rows, type, errors, asked)
    limits = None
    if interval is not None:
        df = delta_df(r, rows, type, asked)
        limits = limits_of(rule, rows, type, estimate, errors, level, df, asked)
    labels = column_labels(r, type, asked)
    return target.frame(*side_by_side(labels, estimate, errors if se else None, limits))


def _estimates(
    rule: LikelihoodRule, rows: Rows, type: str, asked: Asked | None
) -> FloatArray:
    """(n, M) predictions of a type with standard errors."""
    if asked is None:
        return predicted(rule, rows, type)
    return quantity_of(type, asked).values(rule, rows)


def errors_of_rows(
    quantity: Quantity,
    rule: LikelihoodRule,
    rows: Rows,
    covariance: CovarianceOperator,
) -> FloatArray:
    """(n, M) standard errors of a quantity of rows."""
    width = rule.n_levels
    if quantity.known_factors is None:
        require_memory(
            f"Standard errors of predictions of {width:,} levels",
            _SQUARES * 8.0 * width**2,
            "Ask for type='mean', 'quantile' or 'exceed' (at=[...]), or join levels.",
        )
    if rule.family.local:  # each value of the curve has one slope
        width = len(quantity.factors(rule.n_levels - 1))
    return standard_errors(
        lambda some: QuantityOfRows(quantity, rule, some).rows(),
        rows,
        width,
        covariance,
    )


def _quantiles_with_limits(
    r: LikelihoodResults,
    target: Target,
    asked: Asked,
    level: float,
) -> pd.DataFrame:
    """Quantiles with limits, by those of P(y <= k); a part of the rows at a time."""
    covariance = _covariance(r)
    parts = []
    for some in row_blocks(target.rows.n, len(r.levels)):
        rows = target.rows.take(some)
        eta = r.rule.eta(rows)
        below = r.rule.family.below(eta)
        errors = cumulative_errors(r.rule, rows, covariance)
        df = r.design_df
        if r.bias_reduced is not None:
            df = delta_df(r, rows, "inner_cum_prob", None)
        limits = logit_limits(below, r.rule.family.above(eta), errors, level, df)
        certain = None
        known = r.row_limits(rows)
        if known is not None:
            certain = known.certain("inner_cum_prob")
        parts.append(quantiles_between(asked, below, limits, certain))
    stacked = [np.concatenate(each) for each in zip(*parts, strict=True)]
    tables = dict(zip(("estimate", "lower", "upper"), stacked, strict=True))
    return pd.DataFrame(quantile_frame(r, target, asked, tables))


def quantile_frame(
    r: LikelihoodResults,
    target: Target,
    asked: Asked,
    tables: dict[str, FloatArray],
) -> pd.Series | pd.DataFrame:
    """Quantiles (n, M), with or without confidence limits, where the data determine
    them.
    """
    unknown = np.isnan(known_values(r, target, "quantile", tables["estimate"], asked))
    known = {
        name: target.placed(np.where(unknown, np.nan, table))
        for name, table in tables.items()
    }
    return asked.frame(target.index, known)


def quantiles_between(
    asked: Asked,
    below: FloatArray,
    limits: tuple[FloatArray, FloatArray],
    certain: BoolArray | None,
) -> list[FloatArray]:
    """(n, M) quantiles and their confidence limits, from P(y <= k) (n, K-1) and its
    limits.

    Probabilities that depend on infinite estimates (`certain`) serve as their own
    limits; if all do, there are no limits.
    """
    lower, upper = limits
    if certain is None:
        return asked.quantiles(below, lower, upper)
    lower = np.where(certain, below, lower)
    upper = np.where(certain, below, upper)
    without = certain.all(axis=1, keepdims=True)
    estimate, *ends = asked.quantiles(below, lower, upper)
    return [estimate, *(np.where(without, np.nan, end) for end in ends)]


def _prediction_under(
    r: LikelihoodResults, newdata: Any, type: str, cost: Any
) -> pd.Series:
    """Classes of least expected cost, for another cost than the fit's."""
    if type != "class":
        raise OptionError(f"cost goes with type='class'; got type={type!r}.")
    target = r.target(newdata)
    chosen = cost_of(r, cost)
    rule = replace(r.rule, cost=chosen)
    check_few_compared(rule, target.rows.n)
    codes = rule.codes(target.rows, target.scores)
    return target.classes(
        known_codes(r, target, codes), r.design.levels, r.design.response
    )


def cost_of(r: LikelihoodResults, cost: Any) -> CostMatrix | Decision:
    """The cost for predictions of a fit; a decision for a measure of all rows is
    computed from the rows of the fit.

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
    r: LikelihoodResults,
    rows: Rows,
    type: str,
    errors: FloatArray,
    asked: Asked | None,
) -> FloatArray:
    """Standard errors (n, M): NaN where a prediction depends on an infinite estimate, 0
    where it depends on no finite estimate.
    """
    limits = r.row_limits(rows)
    if limits is None:
        return errors
    places = None if asked is None else asked.places
    without = limits.certain(type, places) | limits.unknown(type, places)
    errors = np.where(limits.fixed(type, places), 0.0, errors)
    return np.where(without, np.nan, errors)


def side_by_side(
    labels: Sequence[Any] | None,
    estimate: FloatArray,
    errors: FloatArray | None,
    limits: tuple[FloatArray, FloatArray] | None,
) -> tuple[FloatArray, pd.Index]:
    """Predictions (n, M), standard errors and limits in one array, and its column
    names: (statistic, label) pairs if the predictions of a row have labels, else
    statistics.
    """
    tables = {"estimate": estimate}
    if errors is not None:
        tables["std_error"] = errors
    if limits is not None:
        tables["lower"], tables["upper"] = limits
    values = np.hstack(list(tables.values()))
    if labels is None:
        return values, pd.Index(list(tables))
    names = ["statistic", None]
    return values, pd.MultiIndex.from_product([list(tables), labels], names=names)


def bounds_of(type: str, asked: Asked | None) -> tuple[float, float] | None:
    """The smallest and the largest value of a type of prediction; None if it has no
    bounds.
    """
    if type in ("prob", "cum_prob", "hazard"):
        return 0.0, 1.0
    return None if asked is None else asked.bounds


def delta_df(r: LikelihoodResults, rows: Rows, type: str, asked: Asked | None) -> Any:
    """Degrees of freedom of the t distribution for confidence limits: under CR2 (n, M)
    or (n, 1), one for each prediction, else one number.
    """
    if r.bias_reduced is None:
        return r.design_df
    if type != "score":
        _, jacobian = QuantityOfRows(quantity_of(type, asked), r.rule, rows).rows()
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
    asked: Asked | None,
) -> tuple[FloatArray, FloatArray]:
    """(n, M) lower and upper confidence limits, computed on the logit scale for
    probabilities, and for means as shares of the range of the levels.
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
    if asked is not None and asked.places is not None:
        beneath = np.empty_like(value)
        for some in row_blocks(rows.n, rule.n_levels):
            below = rule.family.below(rule.eta(rows.take(some)))
            beneath[some] = asked.beneath(below)
        return logit_limits(value, beneath, error, level, df)
    if asked is not None:
        return limits_between(*asked.bounds, value, error, level, df)
    return symmetric_limits(value, error, level, df)


def simulated(
    r: LikelihoodResults,
    n: int,
    seed: int | np.random.Generator,
    newdata: Any,
) -> pd.DataFrame:
    """Draw responses from the fitted probabilities."""
    whole("n", n, 1)
    target = r.target(newdata)
    rule = r.rule
    rng = generator(seed)
    shares = rng.random((int(n), target.rows.n))
    codes = drawn_levels(rule, target.rows, target.scores, shares)
    columns = {
        f"sim_{i + 1}": target.classes(row, r.design.levels)
        for i, row in enumerate(codes)
    }
    return pd.DataFrame(columns, index=target.index)


def drawn_levels(
    rule: LikelihoodRule, rows: Rows, scores: FloatArray, shares: FloatArray
) -> IntArray:
    """(S, n) codes: the number of cumulative probabilities of each row at or below each
    share (S, n) in [0, 1).
    """
    if rule.searchable:
        return rule.levels_at(rows, shares, scores, "right")
    codes = np.empty(shares.shape, dtype=np.intp)
    for some in row_blocks(rows.n, rule.n_levels):
        probabilities = rule.probabilities(rows.take(some), scores[some])
        codes[:, some] = drawn_codes(probabilities, shares[:, some])
    return codes


def drawn_codes(probabilities: FloatArray, shares: FloatArray) -> IntArray:
    """(S, n) codes from probabilities (n, K)."""
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
