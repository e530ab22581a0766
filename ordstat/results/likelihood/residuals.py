"""Residuals, influence and convergence of a likelihood fit, as pandas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...assess.likelihood.rows import RESIDUAL_TYPES, influence, jacobian_of, residuals, row_terms
from ...checks import generator, one_of
from ...exceptions import DataError
from ..report.noted import NotedFrame
from ..report.render import Report, Reported, Table
from ..report.sections import certificate_text, shortened
from .fitted import FittedLikelihood
from .parameters import spread


def residual_series(r: FittedLikelihood, type: str = "surrogate", seed: int | np.random.Generator = 0) -> pd.Series:
    """One residual a row; positive where the level is higher than expected, of mean 0 under the true model."""
    one_of("type", type, RESIDUAL_TYPES)
    values = residuals(r.rule, r.design.sample, type, generator(seed))
    return pd.Series(values, index=r.design.index, name=type)


# Influence


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Influence(Reported):
    """What every row does to the estimates; shown as a table of the rows of largest Cook's distance.

    Attributes
    ----------
    hat : (N,) series
        Leverage: the row's share of the information; the sum is the number of parameters. With scale effects or
        cauchit it may be negative.
    dfbeta : (N, P) frame
        Estimates less the estimates without the row, by one step; NaN of aliased parameters and of the thresholds
        beside a level that has no other row.
    dfbetas : (N, P) frame
        The same in standard errors.
    cooks : (N,) series
        Cook's distance: dfbeta' (inverse covariance) dfbeta / number of parameters.
    """

    hat: pd.Series
    dfbeta: pd.DataFrame
    dfbetas: pd.DataFrame
    cooks: pd.Series

    def largest(self, n: int = 10) -> pd.DataFrame:
        """The n rows of largest Cook's distance: columns cooks, hat, and dfbetas of every parameter."""
        order = np.argsort(-self.cooks.to_numpy(), kind="stable")[:n]
        frame = pd.concat([self.cooks, self.hat, self.dfbetas], axis=1).iloc[order]
        return NotedFrame.of(frame, title="Largest Cook's distances, with leverage and dfbetas")

    def report(self) -> Report:
        """The rows of largest Cook's distance, as data."""
        frame = self.largest()
        header = (("Rows", len(self.hat)), ("Sum of leverages", float(self.hat.sum())))
        table = Table(title="Largest Cook's distances, with leverage and dfbetas", frame=frame.iloc[:, :8])
        return Report(title="Influence of single rows on the estimates", header=header, tables=(table,))


def influence_of(r: FittedLikelihood) -> Influence:
    """Leverage, dfbeta and Cook's distance of every row."""
    finite_only(r, "influence()")
    found = influence(r.rule, r.fit, r.design.sample)
    index, names = r.design.index, r.parameters.names
    errors = spread(np.sqrt(r.fit.information.variances()), r.fit)
    return Influence(
        hat=pd.Series(found.leverage, index=index, name="hat"),
        dfbeta=pd.DataFrame(found.dfbeta, index=index, columns=names),
        dfbetas=pd.DataFrame(found.dfbeta / errors, index=index, columns=names),
        cooks=pd.Series(found.cook, index=index, name="cooks"),
    )


def finite_only(r: FittedLikelihood, what: str) -> None:
    """Refuse a separated fit."""
    if r.fit.separation is not None:
        raise DataError(
            f"{what} needs finite estimates, and the response of this fit is separated (see .alerts()): merge levels, "
            "drop the column, or use a penalty."
        )


def penalised(r: FittedLikelihood) -> bool:
    """Whether the estimates maximise something else than the likelihood."""
    return any(label == "penalty" for label, _ in r.fit.facts)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Convergence(Reported):
    """The table of `LikelihoodResults.convergence`.

    Attributes
    ----------
    table : frame
        One row a parameter: estimate, std_error, gradient (derivative of the log-likelihood on the user's scale),
        error (of the estimate: the Newton step that gradient leaves), decimals (correct ones of the estimate),
        digits (significant ones, rounding taken in; at most 15). NaN where aliased or without standard errors; of a
        penalised fit, where the gradient of the likelihood does not vanish, only the digits are known.
    eigenvalues : (P',) array
        Eigenvalues of the observed information on the user's scale, largest first; they depend on the units of the
        columns.
    condition : float
        Condition number of the information on columns centred and divided by their deviation: this one tells
        whether the columns are nearly redundant.
    message : str
        The solver's final message, with its certificate.
    warnings : tuple of str
        Everything the fit has to warn of.
    """

    table: pd.DataFrame
    eigenvalues: FloatArray
    condition: float
    message: str
    warnings: tuple[str, ...]

    def report(self) -> Report:
        """The tables as data."""
        formats = {"gradient": ".1e", "error": ".1e", "decimals": "int", "digits": "int"}
        values = pd.DataFrame({"eigenvalue": self.eigenvalues}, index=np.arange(1, self.eigenvalues.size + 1))
        header = (("Solver", self.message), ("Condition number, scaled columns", self.condition))
        first = Table(title="Coefficients", frame=self.table, formats=formats)
        second = Table(title="Eigenvalues of the information", frame=values, formats={"eigenvalue": ".4g"}, fold=3)
        tables = (shortened(first, ".table"), shortened(second, ".eigenvalues"))
        return Report(title="Convergence of the fit", header=header, tables=tables, notes=self.warnings)


def convergence_of(r: FittedLikelihood) -> Convergence:
    """How exactly every estimate is known: gradient, error left, correct decimals and digits, eigenvalues."""
    fit, kept = r.fit, ~r.fit.aliased
    covariance = fit.information.covariance()
    gradient, error = _left_over(r, covariance)
    if penalised(r):
        gradient[:] = error[:] = np.nan
    with np.errstate(divide="ignore"):
        decimals = np.clip(np.floor(-np.log10(2.0 * error)), 0.0, 16.0)
    known = {"estimate": fit.coefficients, "std_error": r.se.to_numpy()}
    exact = {"gradient": gradient, "error": error, "decimals": decimals, "digits": fit.digits}
    frame = pd.DataFrame(known | exact, index=r.parameters.names)
    formats = {"gradient": ".1e", "error": ".1e", "decimals": "int", "digits": "int"}
    eigenvalues = np.full(int(kept.sum()), np.nan)
    if np.isfinite(covariance).all():
        variances = np.linalg.eigvalsh(covariance)
        eigenvalues = 1.0 / variances
    return Convergence(
        table=NotedFrame.of(frame, title="How exactly estimates are known", formats=formats),
        eigenvalues=eigenvalues,
        condition=float(
            dict(fit.certificate.details).get("condition number", np.nan)
            if fit.marginal is None
            else fit.marginal.likelihood.condition
        ),
        message=certificate_text(fit.certificate, fit.trace),
        warnings=tuple(message for _, message in r.issued()),
    )


def _left_over(r: FittedLikelihood, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(P,) the gradient, and how far off it says that every estimate is; NaN where aliased."""
    fit, sample = r.fit, r.design.sample
    if fit.marginal is not None:
        here = fit.marginal.likelihood
        gradient, step = (own[: len(covariance)] for own in (here.left_over(), here.last_step()))
        return spread(gradient, fit), spread(np.abs(step), fit)
    terms = row_terms(r.rule, sample, fit.n_lambda)
    gradient = jacobian_of(fit, sample, terms).total(sample.case_weights * terms.score)
    error = spread(np.abs(covariance @ gradient[~fit.aliased]), fit)
    gradient[fit.aliased] = np.nan
    return gradient, error
