"""Pooled predictions of fits to imputed data sets: means over the fits, with confidence
limits by Rubin's rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import flag, fraction, one_of
from ..exceptions import OptionError
from ..fit import least_expected
from ..formula.extrapolation import telling_once
from ..judging.costs import CostMatrix
from ..judging.decisions import Decision, mean_decision
from ..judging.response_numbers import Asked
from ..likelihood.row_predictions import column_labels
from ..likelihood.standard_errors import TYPES_WITH_ERRORS, symmetric_limits
from ..predicting import known_type
from ..report.frames import NotedFrame
from .predictions import bounds_of, check_has_errors, cost_of, delta_df, side_by_side
from .rubin import bounded_limits, rubin

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults
    from .pooling import PooledResults


def pooled_prediction(
    pooled: PooledResults,
    newdata: Any,
    type: str,
    *,
    se: bool,
    interval: str | None,
    level: float,
    cost: Any,
    re: str | None,
    at: Any,
    interpolate: bool,
) -> pd.Series | pd.DataFrame:
    """Predictions of new rows, or of the rows of the fits; see
    `PooledResults.predict`.
    """
    one_of("interval", interval, ("confidence", None))
    fraction("level", level)
    first = pooled.fits[0]
    type = known_type(first, type)
    asked = Asked.of(first.design.levels, type, at, interpolate)
    uncertain = flag("se", se) or interval is not None
    if asked is not None and type == "quantile":
        check_has_errors(first, type, se)
        return _quantiles(pooled, newdata, asked, interval, level, re)
    _check_pooled_type(type, uncertain, cost)
    given = {} if re is None else {"re": re}
    if type == "exceed":
        given["at"] = at
    if uncertain:
        answers = _answers(pooled, newdata, type, se=True, **given)
        complete = _complete_df(pooled, newdata, type, asked)
        return _with_errors(first, answers, complete, type, asked, se, interval, level)
    if type == "class":
        return _classes(pooled, newdata, cost, given)
    answers = _answers(pooled, newdata, type, **given)
    mean = _mean(answers)
    if isinstance(answers[0], pd.Series):
        return pd.Series(mean, index=answers[0].index, name=answers[0].name)
    return pd.DataFrame(mean, index=answers[0].index, columns=answers[0].columns)


def _answers(pooled: PooledResults, newdata: Any, type: str, **given: Any) -> list[Any]:
    """The predictions of every fit; rows far from the data are told of once."""
    with telling_once([]):
        return [fit.predict(newdata, type, **given) for fit in pooled.fits]


def _mean(answers: Sequence[Any]) -> FloatArray:
    numbers = [answer.to_numpy(dtype=np.float64) for answer in answers]
    return np.asarray(np.mean(numbers, axis=0))


def _classes(
    pooled: PooledResults, newdata: Any, cost: Any, given: dict[str, Any]
) -> pd.Series:
    """Classes of least expected cost under the mean probabilities."""
    answers = _answers(pooled, newdata, "prob", **given)
    mean = _mean(answers)
    known = ~np.isnan(mean).any(axis=1)
    codes = np.full(len(mean), -1, dtype=np.intp)
    chosen = _cost_of(pooled, cost)
    codes[known] = least_expected(mean[known], chosen)
    design = pooled.design
    return design.levels.categorical(codes, answers[0].index, design.response)


def _cost_of(pooled: PooledResults, cost: Any) -> CostMatrix | Decision:
    """A cost, or that of the fits; of a decision the mean of the decisions of all
    fits.
    """
    first = pooled.fits[0]
    if cost is None:
        given = CostMatrix.parse(first.method.cost)
    else:
        given = CostMatrix.parse(cost, first.levels)
    if not given.decides:
        return given
    if first.design.random:
        raise OptionError(
            f"cost={given.value!r} is found from the rows of one fit with random"
            " effects: predict from each fit, or give a cost of single rows."
        )
    several = [cast(Decision, cost_of(fit, given)) for fit in pooled.fits]
    return mean_decision(several)


def _quantiles(
    pooled: PooledResults,
    newdata: Any,
    asked: Asked,
    interval: str | None,
    level: float,
    re: Any,
) -> pd.Series | pd.DataFrame:
    """Quantiles of the mean probabilities, with limits by those of P(y <= k)."""
    answer: Any = pooled.predict(
        newdata, "cum_prob", interval=interval, level=level, re=re
    )
    values = answer.to_numpy(dtype=np.float64)
    if interval is None:
        return asked.answer(answer.index, values[:, :-1])
    below, lower, upper = np.split(values, 3, axis=1)
    estimates = asked.quantiles(below[:, :-1], lower[:, :-1], upper[:, :-1])
    names = ("estimate", "lower", "upper")
    tables = dict(zip(names, estimates, strict=True))
    frame = pd.DataFrame(asked.frame(answer.index, tables))
    notes = (*asked.notes, *answer.attrs["notes"])
    return NotedFrame.of(frame, notes, f"Predictions, type {asked.type!r}")


def _complete_df(
    pooled: PooledResults, newdata: Any, type: str, asked: Asked | None
) -> float | FloatArray:
    """Complete-data degrees of freedom of predictions: under CR2 at most
    Satterthwaite's of each.
    """
    if any(fit.bias_reduced is None for fit in pooled.fits):
        return pooled.df_complete
    smallest: float | FloatArray = pooled.df_complete
    for fit in pooled.fits:
        target = fit.target(newdata)
        df = delta_df(fit, target.rows, type, asked)
        smallest = np.minimum(smallest, target.placed(df))
    return smallest


def _check_pooled_type(type: str, uncertain: bool, cost: Any) -> None:
    """OptionError for a type that is not pooled, or a cost that does not go with it."""
    allowed = ("class", *TYPES_WITH_ERRORS)
    what = "over imputations"
    if uncertain:
        allowed = TYPES_WITH_ERRORS
        what = "with standard errors or intervals"
    if type not in allowed:
        raise OptionError(
            f"type must be one of {', '.join(map(repr, allowed))} {what}; got {type!r}."
        )
    if cost is not None and type != "class":
        raise OptionError(f"cost goes with type='class'; got type={type!r}.")


def _with_errors(
    first: LikelihoodResults,
    answers: Sequence[pd.DataFrame],
    df_complete: float | FloatArray,
    type: str,
    asked: Asked | None,
    se: bool,
    interval: str | None,
    level: float,
) -> pd.DataFrame:
    """Predictions with standard errors of all fits, by Rubin's rules."""
    shape = (len(answers), len(answers[0]), -1)
    estimates, errors = (
        np.array([answer[name].to_numpy() for answer in answers]).reshape(shape)
        for name in ("estimate", "std_error")
    )
    pooled = rubin(estimates, errors**2, df_complete)
    limits = None
    if interval is not None:
        bounds = bounds_of(type, asked)
        limits = (
            symmetric_limits(pooled.estimate, pooled.std_error, level, pooled.df)
            if bounds is None
            else bounded_limits(*bounds, estimates, errors**2, df_complete, level)
        )
    labels = column_labels(first, type, asked)
    values, columns = side_by_side(
        labels, pooled.estimate, pooled.std_error if se else None, limits
    )
    frame = pd.DataFrame(values, index=answers[0].index, columns=columns)
    notes = [
        *(() if asked is None else asked.notes),
        f"Standard errors: {first.own_covariance.words}, by Rubin's rules over"
        f" {len(answers)} imputations.",
    ]
    return NotedFrame.of(frame, notes, f"Predictions, type {type!r}")
