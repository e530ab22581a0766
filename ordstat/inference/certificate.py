"""The convergence certificate of a likelihood fit: accuracy of its estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..fit import Certificate
from ..likelihood.parameters import with_aliased
from ..likelihood.scores import fit_jacobian, rule_terms
from ..report.frames import NotedFrame
from ..report.render import Report, Reported, Table
from ..report.sections import certificate_text, shortened

if TYPE_CHECKING:
    from ..likelihood.fit import LikelihoodFit
    from ..likelihood.results import LikelihoodResults


#: Eigenvalues of more parameters take seconds, and nobody reads them.
_MOST_EIGENVALUES = 1_000
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
        log-likelihood on the user's scale), error (of the estimate, by the next Newton
        step), decimals and digits. decimals counts the correct decimals of the
        estimate; digits counts its correct significant digits, allowing for rounding,
        at most 15. NaN where aliased or without standard errors, and in a penalised
        fit, where the gradient of the likelihood does not vanish.
    eigenvalues : (P',) array
        Eigenvalues of the observed information on the user's scale, largest first; they
        depend on the units of the columns. Empty for more than 1,000 parameters.
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
        tables = [shortened(first, ".table")]
        if self.eigenvalues.size:
            tables.append(shortened(second, ".eigenvalues"))
        return Report(
            title="Convergence of the fit",
            header=header,
            tables=tuple(tables),
            notes=self.warnings,
        )


def convergence_of(r: LikelihoodResults) -> Convergence:
    """Accuracy of every estimate: gradient, remaining error, correct decimals and
    digits, eigenvalues.
    """
    fit = r.fit
    estimates = {"estimate": fit.coefficients, "std_error": r.se.to_numpy()}
    exact: dict[str, Any] = dict.fromkeys(_DIGITS, np.nan)
    if not r.method.penalised:
        exact = _accuracy(r)
    frame = pd.DataFrame(estimates | exact, index=r.parameters.names)
    if fit.marginal is None:
        condition = dict(fit.certificate.figures).get("condition number", np.nan)
    else:
        condition = fit.marginal.likelihood.condition
    return Convergence(
        **vars(fit.certificate),
        table=NotedFrame.of(
            frame,
            title="Accuracy of the estimates",
            formats=_DIGITS,
            labels=r.names_shown(),
        ),
        eigenvalues=_eigenvalues(fit),
        condition=float(condition),
        message=certificate_text(fit.certificate, fit.trace),
        warnings=tuple(message for _, message in r.fit_warnings()),
    )


def _eigenvalues(fit: LikelihoodFit) -> FloatArray:
    """(P',) of the information; NaN where it is not known, none of many parameters."""
    if np.count_nonzero(~fit.aliased) > _MOST_EIGENVALUES:
        return np.empty(0)
    covariance = fit.model_covariance.dense()
    if not np.isfinite(covariance).all():
        return np.full(len(covariance), np.nan)
    with np.errstate(divide="ignore"):
        return 1.0 / np.linalg.eigvalsh(covariance)


def _gradient_and_error(r: LikelihoodResults) -> tuple[FloatArray, FloatArray]:
    """(P,) gradient, and the error of every estimate that follows from it; NaN where
    aliased.
    """
    fit = r.fit
    sample = r.design.sample
    if fit.marginal is not None:
        marginal = fit.marginal.likelihood
        fixed = slice(int(np.count_nonzero(~fit.aliased)))
        gradient = marginal.left_over()[fixed]
        step = marginal.last_step()[fixed]
        return with_aliased(gradient, fit), with_aliased(np.abs(step), fit)
    terms = rule_terms(r.rule, sample, fit.flexible_layout.link)
    jacobian = fit_jacobian(fit, sample, terms)
    gradient = jacobian.total(sample.case_weights * terms.score)
    error = with_aliased(
        np.abs(fit.model_covariance.times(gradient[~fit.aliased])), fit
    )
    gradient[fit.aliased] = np.nan
    return gradient, error


def _accuracy(r: LikelihoodResults) -> dict[str, FloatArray]:
    """(P,) gradient, error, and correct decimals and digits of every estimate."""
    gradient, error = _gradient_and_error(r)
    with np.errstate(divide="ignore"):
        decimals = np.floor(-np.log10(2.0 * error))
        digits = np.floor(-np.log10(_relative(r.fit, error)))
    return {
        "gradient": gradient,
        "error": error,
        "decimals": np.clip(decimals, 0.0, 16.0),
        "digits": np.clip(digits, 0.0, 15.0),
    }


def _relative(fit: LikelihoodFit, error: FloatArray) -> FloatArray:
    """(P,) errors of the estimates and their rounding, relative to the estimate, or to
    its standard error where that is larger.
    """
    errors = error + with_aliased(fit.likelihood.rounding(), fit)
    deviations = with_aliased(np.sqrt(fit.model_covariance.variances), fit)
    return errors / np.fmax(np.abs(fit.coefficients), deviations)
