"""Residuals and influence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import generator, one_of, whole
from ..exceptions import UnavailableError
from ..fit import Certificate
from ..formula.sample import Sample, row_blocks
from ..likelihood.family import row_terms as likelihood_terms
from ..likelihood.fit import LikelihoodFit
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.parameters import spread
from ..likelihood.predictor import Jacobian, ModelRows
from ..likelihood.rule import LikelihoodRule
from ..likelihood.terms import RowTerms
from ..likelihood.unavailable import check_available
from ..report.frames import NotedFrame
from ..report.render import Report, Reported, Table
from ..report.sections import certificate_text, shortened


def row_terms(
    rule: LikelihoodRule, sample: Sample, n_lambda: int = 0, second: bool = False
) -> RowTerms:
    """Log-probabilities of the observed levels with their derivatives, also by lambda
    if it was estimated.
    """
    terms = likelihood_terms(
        rule.family, rule.predictor(sample.rows), sample.y, second, n_lambda > 0
    )
    assert terms is not None
    return terms


def jacobian_of(fit: LikelihoodFit, sample: Sample, terms: RowTerms) -> Jacobian:
    """Jacobian of the predictors of the terms by the parameters of a fit."""
    return Jacobian(
        ModelRows.of(sample.rows),
        terms.places,
        fit.flexible_layout,
        fit.on_flexible_scale(),
    )


def probability_scale(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """P(Y < y) - P(Y > y), between -1 and 1 [Li and Shepherd 2012, Biometrika 99,
    473-480].
    """
    below, above = rule.family.tails(rule.predictor(sample.rows), sample.y)
    return np.asarray(below - above)


def generalised(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """Derivative of log p by the row's score H; for probit the mean latent error given
    the observed level, times s.

    Gourieroux, Monfort, Renault and Trognon (1987, J. Econometrics 34, 5-32).
    """
    return row_terms(rule, sample).by_location


def deviance(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """sqrt(-2 log p) with the sign of P(Y < y) - P(Y > y): the weighted sum of squares
    is the deviance.
    """
    log_p = row_terms(rule, sample).log_p
    return np.asarray(
        np.copysign(np.sqrt(-2.0 * log_p), probability_scale(rule, sample))
    )


#: Residuals that need no random numbers, by name.
FIXED: dict[str, Callable[[LikelihoodRule, Sample], FloatArray]] = {
    "probability-scale": probability_scale,
    "generalised": generalised,
    "deviance": deviance,
}
RESIDUAL_TYPES = ("surrogate", *FIXED)


def residuals(
    rule: LikelihoodRule, sample: Sample, type: str, rng: np.random.Generator
) -> FloatArray:
    """(N,) residuals of one of `RESIDUAL_TYPES`; `rng` draws a latent error for each
    row of "surrogate".
    """
    if type != "surrogate":
        return FIXED[type](rule, sample)
    return rule.family.latent_residuals(
        rule.predictor(sample.rows), sample.y, rng.random(sample.n)
    )


#: Number of doubles in memory at a time, besides the output.
_BUFFER = 1 << 20
#: Shares of the information left without a row (a determinant) up to this count as 0.
_ALONE = 1e-10


class RowInfluence(NamedTuple):
    """Influence measures of every row.

    Attributes
    ----------
    leverage : (N,)
    dfbeta : (N, P)
        Estimates minus those without the row; NaN for aliased parameters, for the
        thresholds next to a level without another row, and for rows without which some
        estimates are not determined.
    cook : (N,)
    """

    leverage: FloatArray
    dfbeta: FloatArray
    cook: FloatArray


def influence(rule: LikelihoodRule, fit: LikelihoodFit, sample: Sample) -> RowInfluence:
    """Influence of every row of the fit.

    Parameters
    ----------
    rule : LikelihoodRule
        Rule of the fit.
    fit : LikelihoodFit
    sample : Sample
        Sample of the fit.
    """
    kept = ~fit.aliased
    estimated = fit.information.covariance()
    V = np.zeros((kept.size, kept.size))
    V[np.ix_(kept, kept)] = estimated
    blocks = row_blocks(sample.n, 3 * kept.size, _BUFFER)
    parts = [_influence(rule, fit, sample.take(some), V) for some in blocks]
    dfbeta = np.concatenate([moved for _, moved in parts])
    precise = np.linalg.solve(estimated, dfbeta[:, kept].T)
    cook = np.einsum("np,pn->n", dfbeta[:, kept], precise) / np.count_nonzero(kept)
    dfbeta[:, ~kept] = np.nan
    if fit.jacobian is None:
        _forget_thresholds(dfbeta[:, : fit.n_alpha], sample)
    return RowInfluence(
        leverage=np.concatenate([leverage for leverage, _ in parts]),
        dfbeta=dfbeta,
        cook=cook,
    )


def _forget_thresholds(alpha: FloatArray, sample: Sample) -> None:
    """For the only row of a level, set the thresholds next to that level to NaN, in
    place.
    """
    K = sample.n_levels
    y = sample.y
    alone = np.flatnonzero(np.bincount(y, minlength=K)[y] == 1)
    for first in range(0, alpha.shape[1], K - 1):
        for threshold in (y[alone], y[alone] - 1):
            inner = (threshold >= 0) & (threshold < K - 1)
            alpha[alone[inner], first + threshold[inner]] = np.nan


def _influence(
    rule: LikelihoodRule, fit: LikelihoodFit, sample: Sample, V: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Leverage (n,) and dfbeta (n, P) of some rows; V has zeros where aliased."""
    terms = row_terms(rule, sample, fit.n_lambda, second=True)
    weights = sample.case_weights
    jacobian = jacobian_of(fit, sample, terms)
    JV = jacobian.apply(V)
    M = jacobian.apply(np.eye(len(V))) @ np.moveaxis(JV, 1, 2)
    leverage = weights * np.einsum("ijn,nji->n", terms.second(), M)
    unit = np.eye(JV.shape[1])
    left = unit - weights[:, None, None] * (np.moveaxis(terms.smooth(), -1, 0) @ M)
    alone = np.linalg.det(left) <= _ALONE
    left[alone] = unit
    moved = np.linalg.solve(left, (weights * terms.score).T[:, :, None])[:, :, 0]
    moved[alone] = np.nan
    return leverage, np.einsum("ni,nip->np", moved, JV)


def residual_series(
    r: FittedLikelihood, type: str = "surrogate", seed: int | np.random.Generator = 0
) -> pd.Series:
    """One residual per row: positive if the level is higher than expected, with mean 0
    under the true model.
    """
    one_of("type", type, RESIDUAL_TYPES)
    values = residuals(r.rule, r.design.sample, type, generator(seed))
    return pd.Series(values, index=r.design.index, name=type)


# Influence


#: Parameters of which the printed table has a column.
_SHOWN = 6


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Influence(Reported):
    """Influence of every row on the estimates, printed as a table of the rows with the
    largest Cook's distances.

    Attributes
    ----------
    hat : (N,) series
        Leverage: the row's share of the information; the sum is the number of
        parameters. With scale effects or cauchit it may be negative.
    dfbeta : (N, P) frame
        Estimates minus the estimates without the row, by one Newton step; NaN for
        aliased parameters and for the thresholds next to a level without another row.
    dfbetas : (N, P) frame
        dfbeta divided by the standard errors.
    cooks : (N,) series
        Cook's distance: dfbeta' (inverse covariance) dfbeta / number of parameters.
    """

    hat: pd.Series
    dfbeta: pd.DataFrame
    dfbetas: pd.DataFrame
    cooks: pd.Series
    labels: Mapping[str, str]

    def largest(self, n: int = 10) -> pd.DataFrame:
        """The n rows with the largest Cook's distances: columns cooks, hat, and dfbetas
        of every parameter.
        """
        order = np.argsort(-self.cooks.to_numpy(), kind="stable")[: whole("n", n, 0)]
        frame = pd.concat([self.cooks, self.hat, self.dfbetas], axis=1).iloc[order]
        return NotedFrame.of(
            frame,
            title="Largest Cook's distances, with leverage and dfbetas",
            labels=self.labels,
        )

    def report(self) -> Report:
        """The rows with the largest Cook's distances, as data."""
        frame = self.largest()
        header = (("Rows", len(self.hat)), ("Sum of leverages", float(self.hat.sum())))
        moved = frame[self.dfbetas.columns].abs().max().fillna(0.0).to_numpy()
        most = np.sort(np.argsort(-moved, kind="stable")[:_SHOWN])
        note = ""
        if moved.size > _SHOWN:
            note = (
                f"The {_SHOWN} of {moved.size} parameters that these rows move most;"
                " all are in .dfbetas."
            )
        shown = pd.concat(
            [frame[["cooks", "hat"]], frame[self.dfbetas.columns[most]]], axis=1
        )
        table = Table(
            title="Largest Cook's distances, with leverage and dfbetas",
            frame=shown,
            note=note,
            labels=self.labels,
        )
        return Report(
            title="Influence of single rows on the estimates",
            header=header,
            tables=(table,),
        )


def influence_of(r: FittedLikelihood) -> Influence:
    """Leverage, dfbeta and Cook's distance of every row."""
    check_available(r, "influence()")
    if not r.level_counts.all():
        raise UnavailableError(
            "influence() needs rows of every level. Leave levels without rows out of"
            " levels=."
        )
    if np.isnan(r.fit.information.variances).all():
        raise UnavailableError(
            "influence() needs a covariance, and the likelihood has no maximum. Drop a"
            " scale effect or merge levels."
        )
    rows = influence(r.rule, r.fit, r.design.sample)
    index = r.design.index
    names = r.parameters.names
    errors = spread(np.sqrt(r.fit.information.variances), r.fit)
    return Influence(
        hat=pd.Series(rows.leverage, index=index, name="hat"),
        dfbeta=pd.DataFrame(rows.dfbeta, index=index, columns=names),
        dfbetas=pd.DataFrame(rows.dfbeta / errors, index=index, columns=names),
        cooks=pd.Series(rows.cook, index=index, name="cooks"),
        labels=r.names_shown(),
    )


#: Formats of the columns on the accuracy of estimates.
_DIGITS = {"gradient": ".1e", "error": ".1e", "decimals": "int", "digits": "int"}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Convergence(Reported, Certificate):
    """Distance of a fit from its optimum, and accuracy of its estimates:
    `LikelihoodResults.certificate`.

    Attributes
    ----------
    table : frame
        One row per parameter: estimate, std_error, gradient (derivative of the
        log-likelihood on the user's scale), error (of the estimate: the next Newton
        step), decimals (correct decimals of the estimate), digits (correct significant
        digits, allowing for rounding; at most 15). NaN where aliased or without
        standard errors. For a penalised fit, where the gradient of the likelihood does
        not vanish, only digits is given.
    eigenvalues : (P',) array
        Eigenvalues of the observed information on the user's scale, largest first; they
        depend on the units of the columns.
    condition : float
        Condition number of the information on columns centred and divided by their
        standard deviation; large if columns are nearly redundant.
    message : str
        The solver's final message, with its certificate.
    warnings : tuple of str
        All warnings of the fit.
    """

    table: pd.DataFrame
    eigenvalues: FloatArray
    condition: float
    message: str
    warnings: tuple[str, ...]

    def report(self) -> Report:
        """The tables as data."""
        values = pd.DataFrame(
            {"eigenvalue": self.eigenvalues},
            index=np.arange(1, self.eigenvalues.size + 1),
        )
        header = (
            ("Solver", self.message),
            ("Condition number, scaled columns", self.condition),
        )
        labels = self.table.attrs.get("labels", {})
        first = Table(
            title="Coefficients", frame=self.table, formats=_DIGITS, labels=labels
        )
        second = Table(
            title="Eigenvalues of the information",
            frame=values,
            formats={"eigenvalue": ".4g"},
        )
        tables = (shortened(first, ".table"), shortened(second, ".eigenvalues"))
        return Report(
            title="Convergence of the fit",
            header=header,
            tables=tables,
            notes=self.warnings,
        )


def convergence_of(r: FittedLikelihood) -> Convergence:
    """Accuracy of every estimate: gradient, remaining error, correct decimals and
    digits, eigenvalues.
    """
    fit = r.fit
    covariance = r.fit.information.covariance()
    gradient, error = _gradient_and_error(r, covariance)
    if "penalty" in dict(fit.facts):
        gradient[:] = error[:] = np.nan
    with np.errstate(divide="ignore"):
        decimals = np.clip(np.floor(-np.log10(2.0 * error)), 0.0, 16.0)
    estimates = {"estimate": fit.coefficients, "std_error": r.se.to_numpy()}
    exact = {
        "gradient": gradient,
        "error": error,
        "decimals": decimals,
        "digits": fit.digits,
    }
    frame = pd.DataFrame(estimates | exact, index=r.parameters.names)
    eigenvalues = np.full(len(covariance), np.nan)
    if np.isfinite(covariance).all():
        with np.errstate(divide="ignore"):
            eigenvalues = 1.0 / np.linalg.eigvalsh(covariance)
    return Convergence(
        **vars(fit.certificate),
        table=NotedFrame.of(
            frame,
            title="Accuracy of the estimates",
            formats=_DIGITS,
            labels=r.names_shown(),
        ),
        eigenvalues=eigenvalues,
        condition=float(
            dict(fit.certificate.details).get("condition number", np.nan)
            if fit.marginal is None
            else fit.marginal.likelihood.condition
        ),
        message=certificate_text(fit.certificate, fit.trace),
        warnings=tuple(message for _, message in r.issued()),
    )


def _gradient_and_error(
    r: FittedLikelihood, covariance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(P,) gradient and the error of every estimate that it implies; NaN where aliased."""
    fit = r.fit
    sample = r.design.sample
    if fit.marginal is not None:
        marginal = fit.marginal.likelihood
        gradient, step = (
            values[: len(covariance)]
            for values in (marginal.left_over(), marginal.last_step())
        )
        return spread(gradient, fit), spread(np.abs(step), fit)
    terms = row_terms(r.rule, sample, fit.n_lambda)
    gradient = jacobian_of(fit, sample, terms).total(sample.case_weights * terms.score)
    error = spread(np.abs(covariance @ gradient[~fit.aliased]), fit)
    gradient[fit.aliased] = np.nan
    return gradient, error
