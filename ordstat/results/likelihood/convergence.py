"""How exactly the estimates of a likelihood fit are known, coefficient by coefficient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...model.likelihood.rule import LikelihoodRule
from ..report.render import Reported
from ..report.report import Report, Table
from ..report.sections import certificate_text, shortened
from .fitted import FittedLikelihood
from .parameters import spread
from .residuals import penalised


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
    """How exactly every estimate is known: gradient, error left, correct decimals and digits, eigenvalues.

    Returns
    -------
    Convergence
        With `table`, `eigenvalues`, `condition`, `message` and `warnings`.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> bool((fit.convergence().table["decimals"] >= 8).all())
    True
    """
    from ...assess.likelihood.terms import jacobian_of, row_terms

    fit, sample = r.fit, r.design.sample
    terms = row_terms(cast(LikelihoodRule, fit.rule), sample, fit.n_lambda)
    gradient = jacobian_of(fit, sample, terms).total(sample.case_weights * terms.score)
    kept = ~fit.aliased
    covariance = fit.information.covariance()
    error = spread(np.abs(covariance @ gradient[kept]), fit)
    gradient[~kept] = np.nan
    if penalised(r):
        gradient[:] = error[:] = np.nan
    with np.errstate(divide="ignore"):
        decimals = np.clip(np.floor(-np.log10(2.0 * error)), 0.0, 16.0)
    table = pd.DataFrame(
        {
            "estimate": fit.coefficients,
            "std_error": spread(np.sqrt(fit.information.variances()), fit),
            "gradient": gradient,
            "error": error,
            "decimals": decimals,
            "digits": fit.digits,
        },
        index=r.parameters.names,
    )
    details = dict(fit.certificate.details)
    known = bool(np.isfinite(covariance).all())
    return Convergence(
        table=table,
        eigenvalues=np.asarray(1.0 / np.linalg.eigvalsh(covariance)) if known else np.full(int(kept.sum()), np.nan),
        condition=float(details.get("condition number", np.nan)),
        message=certificate_text(fit.certificate, fit.trace),
        warnings=tuple(message for _, message in r.alerts()),
    )
