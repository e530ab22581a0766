"""A fitted ranker beside its data: the rows, what the rule says of them, and what is true."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..assess.errors import ErrorTable, Predictions, error_table
from ..assess.margins import Margins, margins
from ..exceptions import DataError, UnavailableError
from ..model.fit import Certificate, Fit, Geometry, Trace
from ..model.rules import GapRule
from ..model.sample import HEAVIEST, LIGHTEST, Rows, Sample, extreme
from .evaluation import evaluate, without_paid
from .protocols import CalibratedMethod, Fitter, RankingMethod
from .report.cells import count
from .target import Target

if TYPE_CHECKING:
    from ..design.design import Design

#: What the results of only some methods have, for the words of those that have not.
OF_THRESHOLDS = frozenset(("coef", "thresholds", "params", "tidy", "support"))
OF_LIKELIHOOD = frozenset((
    "se", "vcov", "with_vcov", "confint", "profile", "anova", "drop1", "add1", "step", "test", "nominal_test",
    "scale_test", "brant", "score_test", "bootstrap", "residuals", "influence", "gof", "discrimination", "convergence",
    "simulate", "effects", "emmeans", "loglik", "aic", "bic", "deviance", "bse", "tvalues", "pvalues", "conf_int",
    "cov_params", "llf",
))  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class FittedRanker:
    """A fitted ranker with the names of its data.

    Attributes
    ----------
    call : str
        What was fitted.
    design : Design
    method : Method
    fit : Fit
        Arrays only.
    fitter : Fitter or None
        Fits again, for `update`.
    calibrated : method or None
        The method with the calibration of its scores, where one was asked for.
    """

    call: str
    design: Design
    method: RankingMethod
    fit: Fit
    fitter: Fitter | None = field(default=None, kw_only=True)
    calibrated: CalibratedMethod | None = field(default=None, kw_only=True)

    #: What fits of this kind predict by themselves; see `prediction_types`.
    predicts: ClassVar[tuple[str, ...]] = ("class", "score", "margin")

    def __repr__(self) -> str:
        d = self.design
        return (
            f"<{type(self).__name__}: {d.formula}, {self.method!r}, n = {count(self.nobs)}, "
            f"{d.sample.n_levels} levels; .summary() tells more>"
        )

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what was computed from them is computed again."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say which methods have what this one has not; a property that refused says so again."""
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)
            if not name.startswith("_") and (others := _who_has(name)):
                raise UnavailableError(f"{self.method!r} has no .{name}: {others}.")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # Numbers

    @property
    def formula(self) -> str:
        """The formula of the fit."""
        return self.design.formula

    @property
    def levels(self) -> tuple[Any, ...]:
        """The K labels of the response, lowest first."""
        return self.design.levels.values

    @property
    def nobs(self) -> float:
        """Number of observations: the sum of the case weights."""
        return float(self.design.sample.case_weights.sum())

    @property
    def certificate(self) -> Certificate:
        """How far the fit is from its optimum, proven."""
        return self.fit.certificate

    @property
    def trace(self) -> Trace:
        """How the solver went."""
        return self.fit.trace

    @property
    def threshold_names(self) -> list[str]:
        """(K-1) names "low|high"."""
        return [f"{low}|{high}" for low, high in zip(self.levels, self.levels[1:], strict=False)]

    @property
    def prediction_types(self) -> tuple[str, ...]:
        """Every `type` that `predict` takes."""
        more = () if self.fit.calibration is None else ("prob", "cum_prob")
        return (*self.predicts, *(type for type in more if type not in self.predicts))

    @property
    def learner(self) -> RankingMethod:
        """What fits other rows in the same way: the method, with its calibration if it has one."""
        return self.method if self.calibrated is None else self.calibrated

    def check_rows(self) -> None:
        """UnavailableError where the rows that the fit was learned from are not all at hand to fit again."""

    def check_parts(self) -> None:
        """UnavailableError where the method cannot be fitted to parts of the rows of the fit."""
        self.check_rows()
        if self.method.pairwise:
            raise UnavailableError(
                "cross-validation fits to parts of the rows, and kernel='precomputed' has columns for all of them: use "
                "a named kernel or a function, errors(newdata) with rows kept aside, or scikit-learn's "
                "cross_val_score, which cuts rows and columns."
            )

    # Rows

    def _target(self, newdata: Any) -> Target:
        if newdata is None:
            n = self.design.sample.n
            return Target(
                rows=self.design.sample.rows,
                scores=self.fit.scores,
                complete=np.ones(n, dtype=np.bool_),
                index=self.design.index,
            )
        new = self.design.spec.rebuild(newdata)
        return Target(rows=new.rows, scores=self.fit.rule.scores(new.rows), complete=new.complete, index=new.index)

    def probabilities_of(self, fit: Fit, rows: Rows, scores: FloatArray) -> FloatArray | None:
        """(N, K) probabilities of the ranks by a fit of this kind; None where it has none.

        Parameters
        ----------
        fit : Fit
        rows : Rows
        scores : (N,) potential H of the rows, or (N, K) votes
        """
        if fit.calibration is not None:
            return fit.calibration.probabilities(scores)
        return self._probabilities(fit, rows, scores)

    def _probabilities(self, fit: Fit, rows: Rows, scores: FloatArray) -> FloatArray | None:
        """(N, K) probabilities of an uncalibrated fit, None where it has none."""
        return None

    def _new_sample(self, newdata: Any, weights: Any = None) -> tuple[Target, Sample]:
        """The complete rows of new data with a known response."""
        target = self._target(newdata)
        codes = self.design.spec.response(newdata)
        target = target.among(codes >= 0)
        given = None if weights is None else case_weights(newdata, weights, target.complete)
        costs = self.design.spec.costs(newdata, self.design.sample.n_levels)
        return target, Sample(
            rows=target.rows,
            y=codes[target.complete],
            n_levels=self.design.sample.n_levels,
            weights=given,
            costs=None if costs is None else costs[target.complete],
        )

    # Predictions beside the truth

    @cached_property
    def training(self) -> Predictions:
        """Observed and predicted ranks of the rows of the fit, as arrays."""
        sample = self.design.sample
        return evaluate(self.fit, sample, self.method.cost, self.probabilities_of, self.fit.scores)

    @cached_property
    def training_errors(self) -> ErrorTable:
        """Error table of the rows of the fit."""
        return error_table(self.training)

    def _new_predictions(self, newdata: Any, weights: Any = None) -> Predictions:
        target, sample = self._new_sample(newdata, weights)
        if sample.n == 0:
            raise DataError("newdata has no row with the response and all inputs present.")
        predictions = evaluate(self.fit, sample, self.method.cost, self.probabilities_of, target.scores)
        known = self.design.sample.costs is None or sample.costs is not None
        return predictions if known else without_paid(predictions)

    # Margins as arrays

    @cached_property
    def geometry(self) -> Geometry | None:
        """Norms of the potential; None where margins cannot be normalised."""
        return self.method.geometry(self.design.sample, self.fit)

    def gaps(self, rows: Rows, scores: FloatArray) -> FloatArray:
        """(N, K-1) H - theta_k as arrays.

        Parameters
        ----------
        rows : Rows
        scores : (N,) potential H of the rows

        Raises
        ------
        UnavailableError
            The rule votes and has no thresholds.
        """
        if "margin" not in self.predicts:
            raise UnavailableError(
                f"{self.method!r} chooses the level with the most votes: it has no thresholds, and so no margins. "
                "Use .predict(type='votes')."
            )
        return cast(GapRule, self.fit.rule).gaps(rows, scores)

    @cached_property
    def training_margins(self) -> Margins:
        """Margins of the rows of the fit, as arrays."""
        sample = self.design.sample
        return margins(self.gaps(sample.rows, self.fit.scores), sample.y, self.geometry)


def case_weights(newdata: Any, weights: Any, complete: BoolArray) -> FloatArray:
    """(n,) weights of the complete rows of new data."""
    column = newdata[weights] if isinstance(weights, str) else weights
    if isinstance(column, pd.Series) and isinstance(newdata, pd.DataFrame) and not column.index.equals(newdata.index):
        raise DataError(
            "weights is a Series whose index is not that of newdata: reindex it, or give weights.to_numpy() to match "
            "rows by position."
        )
    values = np.asarray(column, dtype=np.float64)
    if values.shape != complete.shape:
        raise DataError(f"weights must have one entry per row of newdata ({complete.size}); got shape {values.shape}.")
    kept = values[complete]
    if not (np.isfinite(kept).all() and (kept >= 0).all() and kept.sum() > 0):
        raise DataError("weights of newdata must be finite, not negative, and not all zero.")
    if extreme(kept).any():
        raise DataError(
            f"weights of newdata must be 0 or from {LIGHTEST:g} to {HEAVIEST:g}, as numbers of rows are; got "
            f"{kept[extreme(kept)][0]:g}. Divide them by their mean."
        )
    return kept


def _who_has(name: str) -> str:
    """The kinds of methods whose results have a public attribute; empty for a name that is not well known."""
    if name in OF_THRESHOLDS:
        return "methods with thresholds have, such as 'redsvm'"
    return "methods with a likelihood have, such as 'logit'" if name in OF_LIKELIHOOD else ""
