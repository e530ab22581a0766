"""Log-probabilities of the rows of a fit, with their derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from .._typing import FloatArray, IntArray
from ..formula.sample import Sample
from .family import Family, row_terms
from .fit import LikelihoodFit
from .layout import Coefficients, Layout
from .predictor import Jacobian, ModelRows
from .problem import Problem
from .rule import LikelihoodRule
from .terms import RowTerms


@dataclass(frozen=True, eq=False, kw_only=True)
class RowScores:
    """The rows of a problem at its estimates.

    Attributes
    ----------
    rows : ModelRows
    family : Family
    at : Coefficients
        The coefficients, with each threshold itself even under a threshold structure.
    layout : Layout
        The blocks of these parameters.
    structure : (F, P') or None
        From the estimated parameters to these; None without a threshold structure.
    """

    rows: ModelRows
    family: Family
    at: Coefficients
    layout: Layout
    structure: FloatArray | None

    @classmethod
    def of(cls, problem: Problem, estimates: FloatArray) -> RowScores:
        """The rows at estimates (P',) on the user's scale."""
        at, layout, structure = problem.flexible_parameters(estimates)
        return cls(
            rows=problem.model_rows,
            family=problem.family_at(float(estimates[-1])),
            at=at,
            layout=layout,
            structure=structure,
        )

    def terms(self, some: slice, y: IntArray) -> RowTerms:
        """The first derivatives of some rows with respect to their predictors, as if
        observed at y (n,) or between two levels (2, n).
        """
        predictor = self.rows.take(some).at(self.at.alpha, self.at.beta, self.at.zeta)
        by_lambda = self.layout.link > 0
        terms = row_terms(self.family, predictor, y, second=False, by_lambda=by_lambda)
        assert terms is not None
        return terms

    def jacobian(self, some: slice, thresholds: IntArray) -> Jacobian:
        """Derivatives of the predictors of some rows, at thresholds (M, n), with
        respect to the estimated parameters.
        """
        return Jacobian(self.rows.take(some), thresholds, self.layout, self.structure)


def rule_terms(
    rule: LikelihoodRule, sample: Sample, n_lambda: int = 0, second: bool = False
) -> RowTerms:
    """Log-probabilities of the observed levels under a rule, with derivatives with
    respect to the predictors (and to lambda if it was estimated).
    """
    predictor = rule.predictor(sample.rows)
    by_lambda = n_lambda > 0
    terms = row_terms(rule.family, predictor, sample.answers, second, by_lambda)
    assert terms is not None
    return terms


def fit_jacobian(fit: LikelihoodFit, sample: Sample, terms: RowTerms) -> Jacobian:
    """Derivatives of the predictors of these terms with respect to all parameters of a
    fit.
    """
    return Jacobian(
        cast(LikelihoodRule, fit.rule).model_rows(sample.rows),
        terms.places,
        fit.flexible_layout,
        fit.on_flexible_scale(),
    )
