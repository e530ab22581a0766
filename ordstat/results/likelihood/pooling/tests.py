"""Pooled tests: linear hypotheses by D1 or D2, a smaller model by D1, D2 or D3."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ...._typing import FloatArray
from ....assess.likelihood.rubin import FTest, Pooled, d1, d2, d3
from ....assess.likelihood.wald import wald_test
from ....checks import one_of
from ....exceptions import OptionError
from ...report.noted import NotedFrame
from ..comparison import check_unpenalised, comparable, described, likelihood_ratio_tests, nested_in
from ..fitted import FittedLikelihood
from ..nested_wald import further
from ..standard_errors import rule_at
from ..wald_tests import JOINT, linear_hypotheses
from .estimates import PooledEstimates
from .same_model import in_words

_WALD = {"D1": "D1: Wald test, pooled", "D2": "D2: from the Wald statistics of each data set"}
_TITLES = {
    **_WALD,
    "D2 likelihood": "D2: from the likelihood ratios of each data set",
    "D3": "D3: likelihood ratio test, pooled",
}


def pooled_hypothesis_tests(r: PooledEstimates, hypotheses: str, *, method: str = "D1") -> pd.DataFrame:
    """Tests of linear hypotheses on the parameters: "x1 = 0, x2 = 0".

    Parameters
    ----------
    hypotheses : str
        Equations between commas, as in `test` of a single fit.
    method : {"D1", "D2"}
        Wald test of the pooled estimates, the increase in variance taken to be the same in all directions [Li,
        Raghunathan & Rubin 1991; with small complete samples Reiter 2007]; or from the Wald statistics of each data
        set alone [Li, Meng, Raghunathan & Rubin 1991], which is less accurate.

    Returns
    -------
    pandas.DataFrame
        One row an equation, and "joint" where there are several: difference (left less right side), std_error, F, df,
        df_denom, p_value, riv (relative increase in variance). By D1 a single equation is the t test of `summary`.

    Raises
    ------
    OptionError
        An equation that cannot be read, is not linear or follows from the others; an unknown method.

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat import datasets, ordfit_mi
    >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
    >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand in for imputations where contact is missing
    >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
    >>> pooled = ordfit_mi("rating ~ temp + contact", frames)
    >>> pooled.test("temp = 0, contact = 0").round(2).loc["joint", ["F", "df"]].tolist()
    [11.36, 2.0]
    """
    one_of("method", method, _WALD)
    names, L, target = linear_hypotheses(r.fits[0], hypotheses)
    combined = r.pooled.combined(L)
    shifted = replace(combined, Q=combined.Q - target)
    tests = [_wald(shifted.combined(row[None]), method) for row in np.eye(len(L))]
    difference, errors = shifted.estimate, shifted.std_error
    if len(L) > 1:
        _require_independent(shifted, hypotheses)
        tests.append(_wald(shifted, method))
        names, difference, errors = [*names, JOINT], np.append(difference, np.nan), np.append(errors, np.nan)
    table = _table(tests, names, _TITLES[method])
    table.insert(0, "difference", difference)
    table.insert(1, "std_error", errors)
    return table


def _wald(pooled: Pooled, method: str) -> FTest:
    if method == "D1":
        return d1(pooled)
    k = pooled.Q.shape[1]
    statistics = [wald_test(np.eye(k), Q, U)[0] for Q, U in zip(pooled.Q, pooled.U, strict=True)]
    return d2(np.array(statistics), k)


def _require_independent(pooled: Pooled, hypotheses: str) -> None:
    k = pooled.Q.shape[1]
    if wald_test(np.eye(k), np.zeros(k), pooled.within)[1] < k:
        raise OptionError(f"hypotheses must not follow from each other; got {hypotheses!r}. Leave one of them out.")


def _table(tests: list[FTest], names: list[str], title: str) -> pd.DataFrame:
    columns = {
        "F": [test.statistic for test in tests],
        "df": [test.df for test in tests],
        "df_denom": [test.df_denom for test in tests],
        "p_value": [test.p_value for test in tests],
        "riv": [test.riv for test in tests],
    }
    return NotedFrame.of(pd.DataFrame(columns, index=names), (), title)


def pooled_model_test(
    r: PooledEstimates, other: PooledEstimates, *, method: str = "D1", use: str = "wald"
) -> pd.DataFrame:
    """Test of a smaller model against a larger one, both pooled over the same imputed data sets.

    Parameters
    ----------
    other : pooled results
        The other model, smaller or larger: `pool(smaller_fits)`, or `pooled.update("~ . - x2")`.
    method : {"D1", "D2", "D3"}
        "D1" and "D2" test that the parameters which the smaller model lacks are 0, as in `test`. "D3" is the
        likelihood ratio test of Meng & Rubin (1992): likelihoods of each data set at its own estimates and at the
        pooled estimates of all parameters (R's mice fits the intercept again to each data set).
    use : {"wald", "likelihood"}
        What "D2" combines: Wald statistics or likelihood ratios.

    Returns
    -------
    pandas.DataFrame
        One row: F, df, df_denom, p_value, riv (relative increase in variance).

    Raises
    ------
    OptionError
        The models are not nested, or not pooled over the same data sets; likelihoods (D3, or D2 by use="likelihood")
        of penalised fits, which are no maxima, or beside robust errors and survey designs; a smaller model that is the
        larger one at other values of its parameters than 0 (D1 and D2); a row without probability at the pooled
        estimates (D3).
    DataError
        The fits are not of the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat import datasets, ordfit_mi
    >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
    >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand in for imputations where contact is missing
    >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
    >>> pooled = ordfit_mi("rating ~ temp + contact", frames)
    >>> pooled.anova(pooled.update("~ . - contact"), method="D3").round(2)[["F", "df"]].to_numpy().tolist()
    [[6.74, 1.0]]
    """
    one_of("method", method, ("D1", "D2", "D3"))
    one_of("use", use, ("wald", "likelihood"))
    if use != "wald" and method != "D2":
        raise OptionError(f"use='likelihood' goes with method='D2'; got method={method!r}. Leave use out.")
    small, large = _ordered(r, other)
    for pair in zip(small.fits, large.fits, strict=True):
        _check_nested(*pair)
    k = large.fits[0].edf - small.fits[0].edf
    if method == "D3" or use == "likelihood":
        _check_likelihoods([*small.fits, *large.fits], f"anova(method={method!r})")
    if method == "D3":
        test = d3(_ratios(small, large), _ratios_at_pooled(small, large), k)
    elif use == "likelihood":
        test = d2(_ratios(small, large), k)
    else:
        test = _wald(large.pooled.combined(_missing_parameters(small, large)), method)
    name = f"{described(small.fits[0])} against {described(large.fits[0])}"
    return _table([test], [name], _TITLES[method if use == "wald" else f"{method} {use}"])


def _check_likelihoods(fits: Iterable[FittedLikelihood], name: str) -> None:
    """OptionError where likelihood ratios would stand beside robust errors."""
    for fit in fits:
        check_unpenalised([fit], name)
        if fit.covariance != "model":
            raise OptionError(
                f"{name} compares likelihoods of independent rows, and these fits have other standard errors "
                f"({fit.own_covariance.words}): use method='D1', a Wald test, or pool fits with vcov='model'."
            )


def _ordered(r: PooledEstimates, other: Any) -> tuple[PooledEstimates, PooledEstimates]:
    if not isinstance(other, PooledEstimates):
        raise OptionError(
            f"anova compares pooled fits with pooled fits; got {in_words(other)}. Give pool(...) of the others."
        )
    if r.n_imputations != other.n_imputations:
        raise OptionError(
            f"anova needs both models fitted to the same imputed data sets; got {r.n_imputations} and "
            f"{other.n_imputations} fits."
        )
    small, large = sorted((r, other), key=lambda one: one.fits[0].edf)
    return small, large


def _check_nested(small: FittedLikelihood, large: FittedLikelihood) -> None:
    """OptionError for models that are not nested on the same rows."""
    comparable([small, large])
    if not nested_in(small, large):
        raise OptionError(
            f"anova needs nested models, fitted to the same imputed data sets: {described(small)!r} and "
            f"{described(large)!r} are not nested."
        )
    if large.edf == small.edf:
        raise OptionError(f"anova needs a smaller and a larger model; {described(small)!r} and the other are alike.")


def _missing_parameters(small: PooledEstimates, large: PooledEstimates) -> FloatArray:
    """(k, P') what picks the parameters of the larger model that the smaller one lacks."""
    places = [further(*pair, "Use method='D3'.") for pair in zip(small.fits, large.fits, strict=True)]
    estimated = np.flatnonzero(~large.fits[0].fit.aliased)
    return np.eye(estimated.size)[np.isin(estimated, places[0])]


def _ratios(small: PooledEstimates, large: PooledEstimates) -> FloatArray:
    """(m,) likelihood ratio statistics at the estimates of each data set."""
    return np.array([_likelihood_ratio(*pair) for pair in zip(small.fits, large.fits, strict=True)])


def _likelihood_ratio(small: FittedLikelihood, large: FittedLikelihood) -> float:
    table = likelihood_ratio_tests([small, large])
    if notes := table.attrs["notes"]:
        raise OptionError(f"anova needs a likelihood ratio of every data set: {notes[0]}")
    return float(table["lr_stat"].iloc[1])


def _ratios_at_pooled(small: PooledEstimates, large: PooledEstimates) -> FloatArray:
    """(m,) likelihood ratio statistics at the pooled estimates of both models."""
    return 2.0 * (_logliks_at_pooled(large) - _logliks_at_pooled(small))


def _logliks_at_pooled(r: PooledEstimates) -> FloatArray:
    found = np.array([loglik_at(fit, r.pooled.estimate) for fit in r.fits])
    if not np.isfinite(found).all():
        raise OptionError(
            f"D3 needs a probability of every row at the pooled estimates, and {described(r.fits[0])!r} gives a row of "
            f"fit {int(np.argmin(np.isfinite(found))) + 1} none. Use method='D1'."
        )
    return found


def loglik_at(fit: FittedLikelihood, estimates: FloatArray) -> float:
    """Log-likelihood of the rows of a fit at other values of its estimated parameters (P',)."""
    sample = fit.design.sample
    counted = np.flatnonzero(sample.case_weights > 0.0)
    p = rule_at(fit.fit, estimates).probabilities(sample.rows)[counted, sample.y[counted]]
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(sample.case_weights[counted] @ np.log(p))
