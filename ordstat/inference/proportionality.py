"""Tests of proportional odds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..exceptions import OptionError
from ..formula.sample import Rows, Sample
from ..likelihood.fit import LikelihoodFit
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.parameters import refuse_survey
from ..likelihood.rule import LikelihoodRule
from ..likelihood.wald import chi2_tail, equality_contrasts, stacked_covariance, wald_test
from ..report.frames import NotedFrame
from .comparison import check_likelihood, check_maximum, check_unpenalised, chi2_frame, joined
from .single_terms import coded_anew, fitted, refit_table, terms_in, unstarted

_ONE_THRESHOLD = "The response has 2 levels, and so one threshold: there is no other whose effects could differ."

OMNIBUS = "omnibus"


def nominal_tests(r: FittedLikelihood, scope: str | Sequence[str] | None = None) -> pd.DataFrame:
    """Likelihood-ratio tests of proportional odds: each term given an effect of its own at every threshold."""
    _check_refits(r, "nominal")
    terms = _scope(r, [*r.design.terms, *r.design.scale_terms], r.design.nominal_terms, scope)
    table = _extended(r, "nominal", r.design.nominal_terms, terms)
    if r.design.sample.n_levels == 2:
        table.attrs["notes"] = [_ONE_THRESHOLD, *table.attrs["notes"]]
    return table


def scale_tests(r: FittedLikelihood, scope: str | Sequence[str] | None = None) -> pd.DataFrame:
    """Likelihood-ratio tests of equal scale: each location term given an effect on the log scale too."""
    _check_refits(r, "scale")
    terms = _scope(r, r.design.terms, r.design.scale_terms, scope)
    return _extended(r, "scale", r.design.scale_terms, terms)


def _extended(r: FittedLikelihood, role: str, old: Iterable[str], terms: Iterable[str]) -> pd.DataFrame:
    """Tests of the model against those with each term in the nominal or scale formula too."""
    fits = {term: fitted(r, coded_anew(r, role, [*old, term], term)) for term in terms}
    return refit_table(r, fits, 1.0, "Chisq", 2.0, loglik=True)


def _check_refits(r: FittedLikelihood, role: str) -> None:
    wald = f"test() of the fit with {role}='~ x'"
    refuse_survey(r.design, f"{role}_test", wald)
    check_maximum(r, f"{role}_test")
    check_likelihood(r, f"{role}_test", f"use {wald}")


def _scope(r: FittedLikelihood, terms: Iterable[str], taken: Iterable[str], scope: Any) -> list[str]:
    """Terms to test: all that are not there already, or the ones asked for."""
    known, taken = list(dict.fromkeys(terms)), set(taken)
    asked = known if scope is None else terms_in(r, scope, known)
    return [term for term in asked if term not in taken]


def _with_margins(r: FittedLikelihood, terms: Iterable[str]) -> BoolArray:
    """(D,) which location columns belong to some terms or the terms that these contain."""
    chosen = np.zeros(len(r.design.names), dtype=bool)
    margins = r.design.spec.marginality()
    for term in terms:
        for name in margins.margins_of(term):
            chosen[r.design.terms[name]] = True
    return chosen


# Score test


def score_tests(r: FittedLikelihood) -> pd.DataFrame:
    """Score tests of proportional odds: is an effect the same at every threshold? Nothing is fitted again."""
    _check_score_test(r)
    chosen = {term: _with_margins(r, [term]) for term in r.design.terms}
    rows = {**{name: _score_row(r, columns) for name, columns in chosen.items()}, OMNIBUS: _score_row(r)}
    table = chi2_frame(rows, rows.values())
    return NotedFrame.of(table, _untested(r, table), "Score tests of equal effects at all thresholds")


def omnibus_score_test(r: FittedLikelihood) -> tuple[float, int, float]:
    """Statistic, degrees of freedom and p-value of the last row of `score_tests`.

    Raises
    ------
    OptionError
        As there.
    """
    _check_score_test(r)
    statistic, df = _score_row(r)
    return statistic, df, float(chi2_tail(statistic, df))


def _check_score_test(r: FittedLikelihood) -> None:
    refuse_survey(r.design, "score_test")
    check_likelihood(r, "score_test", "use test() of the fit with nominal='~ x'")
    _check_proportional(r, "score_test")
    if r.fit.jacobian is not None or r.fit.n_lambda:
        raise OptionError("score_test takes flexible thresholds and a link without a parameter: use nominal_test().")
    if r.method.penalty is not None:
        raise OptionError("score_test takes estimates of maximum likelihood; these are penalised.")


def _untested(r: FittedLikelihood, table: pd.DataFrame) -> list[str]:
    """Why terms have no score test."""
    if r.fit.separation is not None:
        return [
            "no test: the response is separated, and where estimates have no end the score vanishes whatever holds."
        ]
    lacking = [str(name) for name, chisq in table["chisq"].items() if np.isnan(chisq)]
    why = "the information of the model with an effect at each threshold is not positive definite; use nominal_test()."
    return [f"no test of {', '.join(lacking)}: {why}"] if lacking else []


def _score_row(r: FittedLikelihood, columns: BoolArray | None = None) -> tuple[float, int]:
    """Score statistic of giving some location columns, or all, an effect of their own at each threshold.

    None where estimates have no end: there the score vanishes whatever the model.
    """
    estimated = ~r.fit.aliased[r.parameters.of("location")]
    freed = estimated if columns is None else columns & estimated
    kept = estimated & ~freed
    rows, K = r.design.sample.rows, r.design.sample.n_levels
    wider = replace(
        rows, X=np.ascontiguousarray(rows.X[:, kept]), nominal=joined(_estimated(r, "nominal"), rows.X[:, freed])
    )
    if r.fit.separation is not None:
        return float("nan"), int(freed.sum()) * (K - 2)
    coefficients = r.fit.coefficients
    beta = coefficients[r.parameters.of("location")]
    zeta = coefficients[r.parameters.of("scale")]
    alpha = coefficients[r.parameters.of("threshold", "nominal")]
    point = np.concatenate([alpha[~np.isnan(alpha)], np.repeat(-beta[freed], K - 1), beta[kept], zeta[~np.isnan(zeta)]])
    sample = replace(r.design.sample, rows=replace(wider, scale=_estimated(r, "scale")))
    return r.fit.likelihood.score_statistic(sample, point), int(freed.sum()) * (K - 2)


def _estimated(r: FittedLikelihood, part: str) -> FloatArray | None:
    """Columns of the nominal or scale effects that are not aliased."""
    columns = getattr(r.design.sample.rows, part)
    if columns is None:
        return None
    aliased = r.fit.aliased[r.parameters.of(part)].reshape(columns.shape[1], -1)[:, 0]
    return np.ascontiguousarray(columns[:, ~aliased])


def _check_proportional(r: FittedLikelihood, name: str) -> None:
    if r.design.sample.n_levels < 3:
        raise OptionError(f"{name} compares thresholds; a response of 2 levels has one.")
    if not r.design.names:
        raise OptionError(f"{name} tests location effects; {r.design.formula!r} has none.")


# Brant's test


def brant_tests(r: FittedLikelihood) -> pd.DataFrame:
    """Brant's test of proportional odds: are the K-1 separate regressions of "above level k" parallel?"""
    check_unpenalised([r], "brant")
    check_likelihood(r, "brant", "use test() of the fit with nominal='~ x'")
    _check_proportional(r, "brant")
    r.family.require_latent("brant")
    rows = r.design.sample.rows
    others = (rows.nominal, rows.scale, rows.scale_offset, r.fit.jacobian)
    if any(part is not None for part in others) or r.fit.n_lambda:
        raise OptionError(
            "brant takes a model of location effects with flexible thresholds and a link without a parameter: use "
            "nominal_test()."
        )
    estimated = ~r.fit.aliased[r.parameters.of("location")]
    X = np.ascontiguousarray(rows.X[:, estimated])
    fits, notes = _binary_fits(r, replace(rows, X=X))
    place = np.cumsum(estimated) - 1
    columns = {term: place[found][estimated[found]] for term, found in r.design.terms.items()}
    columns[OMNIBUS] = np.arange(X.shape[1])
    untested = dict.fromkeys(columns, (np.nan, 0))
    table = chi2_frame(untested, untested.values()) if notes else _brant_frame(r, X, fits, columns)
    lacking = [str(name) for name, chisq in table["chisq"].items() if np.isnan(chisq)]
    if lacking and not notes:
        notes = [
            f"no test of {', '.join(lacking)}: the combined covariance of the {len(fits)} binary regressions is not "
            "positive definite. Use nominal_test() or score_test()."
        ]
    return NotedFrame.of(table, notes, "Brant's tests of proportional odds")


def _binary_fits(r: FittedLikelihood, rows: Rows) -> tuple[list[LikelihoodFit], list[str]]:
    """One regression of "above level k" a threshold, and which of them have no finite estimates."""
    fits, notes = [], []
    sample = replace(r.design.sample, rows=rows, n_levels=2, costs=None)
    method = unstarted(r).with_cost("classification")  # a K x K cost does not fit two levels
    for k, name in enumerate(r.threshold_names):
        fit = method.fit(replace(sample, y=(sample.y > k).astype(np.intp)), np.random.default_rng(0))
        if fit.separation is not None or fit.aliased.any() or not fit.certificate.reached:
            notes.append(f"the binary regression at {name} has no finite estimates: no test.")
        fits.append(fit)
    return fits, notes


def _brant_frame(
    r: FittedLikelihood, X: FloatArray, fits: list[LikelihoodFit], columns: dict[str, Any]
) -> pd.DataFrame:
    sample: Sample = r.design.sample
    link = cast(LikelihoodRule, fits[0].rule).link
    eta = np.column_stack([fit.coefficients[0] - fit.scores for fit in fits])
    covariance = stacked_covariance(link, np.hstack([np.ones((sample.n, 1)), -X]), eta, sample.case_weights)
    estimates = np.concatenate([fit.coefficients for fit in fits])
    rows = {}
    for name, chosen in columns.items():
        L = equality_contrasts(len(fits), 1 + X.shape[1], 1 + chosen)
        rows[name] = wald_test(L, L @ estimates, covariance)
    table = chi2_frame(rows, rows.values())
    slopes = {f"at {name}": fit.coefficients[1:] for name, fit in zip(r.threshold_names, fits, strict=True)}
    table.attrs["coefficients"] = slopes
    return table
