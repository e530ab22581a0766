"""Averages of predictions over rows, with their errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import one_of
from ..exceptions import DataWarning, warn
from ..formula.sample import Rows
from ..inference.comparison import Joint, by_estimated, degrees_of_freedom, joint_test
from ..likelihood.derivatives import QUANTITIES, Quantity, involved
from ..likelihood.fit import LikelihoodFit
from ..likelihood.fitted import FittedLikelihood, with_covariance
from ..likelihood.rule import crossed_rows, report_crossing
from ..likelihood.standard_errors import infinite_parameters, rule_covariance, symmetric_limits, two_sided
from ..likelihood.wald import wald_test
from ..mixed.over_groups import Predicted
from ..mixed.predictions import chosen_effects, effects_words, predicted_by, predicted_covariance
from ..report.warnings import without_end

#: Scale -> the quantity behind it.
SCALES = {
    "prob": "prob",
    "cum_prob": "inner_cum_prob",
    "exc_prob": "exc_prob",
    "mean": "mean",
    "mean_class": "mean",
    "latent": "latent",
    "log_odds": "log_odds",
    "odds": "log_odds",
}
#: Unbounded scales: what depends on infinite estimates is infinite or undetermined.
_ENDLESS = ("latent", "log_odds", "odds")
#: (earlier, later) of n values, by the kind of contrast.
PAIRS: dict[str, Callable[[int], list[tuple[int, int]]]] = {
    "reference": lambda n: [(0, k) for k in range(1, n)],
    "sequential": lambda n: [(k - 1, k) for k in range(1, n)],
    "pairwise": lambda n: list(combinations(range(n), 2)),
}
#: Columns of a table of estimates.
STATISTICS = ["estimate", "std_error", "statistic", "p_value", "lower", "upper"]
#: The relation of an aliased column to the others may fail by this share of the largest column.
_SAME = 1e-6
#: Slopes of a constant probability, and shares of derivatives, below this are rounding.
_ROUNDING = 1e-9
#: Derivatives below this share of the largest are rounding.
_SMALL = 1e-10
#: Errors below this share of their estimate are rounding.
_CERTAIN = 1e-12
#: Joint tests leave out combinations with less than this share of the largest variance.
_HARDLY = 1e-2


def aliased_gaps(
    fit: LikelihoodFit, trained: Rows, rows: Rows, weights: FloatArray | None = None, tangent: bool = False
) -> FloatArray:
    """(h, U) aliased columns less what the other columns imply, in sums of rows by weights (h, n), or in each row.

    Where they differ, the data say nothing about the sum: a prediction would depend on the coding. The rows of a
    tangent have a constant of 0.
    """
    gaps = [np.zeros((rows.n if weights is None else len(weights), 0))]
    if not fit.aliased.any():
        return gaps[0]
    q = 0 if trained.nominal is None else trained.nominal.shape[1]
    thresholds, location, scale, _ = np.split(fit.aliased, np.cumsum([fit.n_alpha, fit.n_beta, fit.n_zeta]))
    nominal = thresholds.reshape(1 + q, -1)[1:].all(axis=1)
    for parts, aliased in ((("nominal", "X"), np.append(nominal, location)), (("scale",), scale)):
        if not aliased.any():
            continue
        old, new = (_columns(one, parts) for one in (trained, rows))
        size = np.maximum(np.abs(old).max(axis=0), 1e-300)
        old, new, gone = old / size, new / size, np.append(False, aliased)
        if tangent:
            new[:, 0] = 0.0
        relation = np.linalg.lstsq(old[:, ~gone], old[:, gone], rcond=None)[0]
        sums, largest = (new, np.abs(new)) if weights is None else (weights @ new, np.abs(weights) @ np.abs(new))
        gap = sums[:, gone] - sums[:, ~gone] @ relation
        gaps.append(np.where(np.abs(gap) > _SAME * largest.max(axis=1, keepdims=True), gap, 0.0))
    return np.hstack(gaps)


def _columns(rows: Rows, parts: Sequence[str]) -> FloatArray:
    """A constant and the columns of some parts of the rows."""
    blocks = [getattr(rows, part) for part in parts]
    return np.hstack([np.ones((rows.n, 1)), *(block for block in blocks if block is not None)])


@dataclass(frozen=True, eq=False)
class Average:
    """A weighted mean of a quantity over rows.

    Attributes
    ----------
    values : (M,)
        NaN where a row cannot be estimated.
    jacobian : (M, F)
        With respect to the parameters of the rule, then to those of random effects that are averaged over.
    known : (M,) bool
        Whether it has an error, that is, depends on no infinite estimate.
    """

    values: FloatArray
    jacobian: FloatArray
    known: BoolArray

    def unknown(self) -> Average:
        """The same without values."""
        return Average(np.full_like(self.values, np.nan), self.jacobian, np.zeros_like(self.known))

    def output(self, k: int) -> Average:
        """Output k alone."""
        return Average(self.values[k : k + 1], self.jacobian[k : k + 1], self.known[k : k + 1])

    def __sub__(self, other: Average) -> Average:
        return Average(self.values - other.values, self.jacobian - other.jacobian, self.known & other.known)


@dataclass(frozen=True, eq=False)
class Averager:
    """Averages of one quantity of a fit over rows of frames.

    Attributes
    ----------
    results : LikelihoodResults
    scale : str
        A key of SCALES.
    predicted : Predicted
        What is averaged.
    covariance : (F, F)
        Covariance of its parameters.
    notes : tuple of str
        How random effects are treated, and which estimates are infinite; printed below tables.
    """

    results: FittedLikelihood
    scale: str
    predicted: Predicted
    covariance: FloatArray
    notes: tuple[str, ...]

    @classmethod
    def of(cls, results: FittedLikelihood, scale: str, vcov: Any, re: str | None = None) -> Averager:
        one_of("scale", scale, SCALES)
        r = results if vcov is None else with_covariance(results, vcov)
        notes = () if r.fit.separation is None else tuple(without_end(r.fit, r.parameters, scale in _ENDLESS))
        if r.fit.marginal is None and re is None:
            return cls(r, scale, Predicted(r.rule), rule_covariance(r.fit, r.rule, r._covariance(None)), notes)
        effects = chosen_effects(r, scale, re)
        predicted = predicted_by(r, scale, effects)
        return cls(r, scale, predicted, predicted_covariance(r, predicted), (*effects_words(effects, scale), *notes))

    @property
    def quantity(self) -> Quantity:
        return QUANTITIES[SCALES[self.scale]]

    @property
    def sign(self) -> str:
        """The sign between two values that are compared."""
        return " / " if self.scale == "odds" else " - "

    @property
    def labels(self) -> dict[str, list[Any]]:
        """Labels of the outputs, by column; empty for a single output."""
        per, levels = self.quantity.per, list(self.results.levels)
        if per == "threshold":
            return {"threshold": self.results.threshold_names}
        if per == "level":
            return {"level": levels}
        return {"level": levels[:-1]} if per == "lower level" else {}

    def crossed(self, rows: Rows, weights: FloatArray) -> IntArray:
        """Which of the rows with weight have thresholds out of order; empty on the latent scale."""
        if self.scale == "latent" or rows.nominal is None:
            return np.empty(0, dtype=np.intp)
        return crossed_rows(self.predicted.rule, rows.take(np.flatnonzero(weights)))

    def report_crossed(self, crossed: IntArray, weights: FloatArray) -> None:
        """Warn of rows with weight whose thresholds are out of order, or refuse them."""
        if crossed.size:
            refuse = self.results.method.refuses_crossing
            report_crossing(crossed, int(np.count_nonzero(weights)), None, "rows averaged over", refuse=refuse)

    def design(self, frame: pd.DataFrame) -> Rows:
        """The design of a frame."""
        return self.results.design.spec.rebuild(frame).rows

    def over(self, rows: Rows, weights: FloatArray) -> Average:
        """The weighted sum over rows."""
        values, jacobian = self.predicted.averages(self.quantity, rows, weights)
        return self._summed(values, jacobian, rows.take(weights != 0.0))

    def slope(self, rows: Rows, tangent: Rows, weights: FloatArray) -> Average:
        """The weighted sum over rows of the derivatives along a tangent."""
        values, jacobian = self.predicted.slope(self.quantity, rows, tangent, weights)
        used = weights != 0.0
        return self._summed(values, jacobian, rows.take(used), tangent.take(used))

    def _summed(self, values: FloatArray, jacobian: FloatArray, rows: Rows, tangent: Rows | None = None) -> Average:
        estimable, finite = self._known(rows, tangent)
        average = Average(values, jacobian, ~np.isnan(values) & finite.all(axis=0))
        return average if estimable.all() else average.unknown()

    def each(self, rows: Rows, tangent: Rows | None = None) -> list[Average]:
        """The quantity of every row, or its derivative along a tangent."""
        if tangent is None:
            values, jacobian = self.predicted.each(self.quantity, rows)
        else:
            values, jacobian = self.predicted.slopes(self.quantity, rows, tangent)
        estimable, finite = self._known(rows, tangent)
        averages = map(Average, values, jacobian, ~np.isnan(values) & finite)
        return [average if known else average.unknown() for average, known in zip(averages, estimable, strict=True)]

    def _known(self, rows: Rows, tangent: Rows | None) -> tuple[BoolArray, BoolArray]:
        """(n,) whether the data determine rows or their changes; (n, M) or (1, 1) whether no infinite estimate does."""
        fit, moving = self.results.fit, tangent is not None
        gaps = aliased_gaps(fit, self.results.design.sample.rows, rows if tangent is None else tangent, None, moving)
        estimable, infinite = np.asarray(~gaps.any(axis=1)), infinite_parameters(fit)
        if infinite is None:
            return estimable, np.ones((1, 1), dtype=np.bool_)
        either = rows if tangent is None else _either(rows, tangent)
        return estimable, ~involved(self.predicted.rule, either, self.quantity, infinite)

    def contrasts(self, rows: Rows, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(h,) sums over rows of the latent variable by weights (h, n), and their (h, F) Jacobian."""
        parts = [self.predicted.averages(self.quantity, rows, row) for row in weights]
        return np.array([values[0] for values, _ in parts]), np.array([jacobian[0] for _, jacobian in parts])

    def undetermined(self, rows: Rows, weights: FloatArray, jacobian: FloatArray) -> FloatArray:
        """(h, U) what the data do not determine in the sums of `contrasts`: aliased columns, infinite estimates."""
        parts = [aliased_gaps(self.results.fit, self.results.design.sample.rows, rows, weights)]
        infinite = infinite_parameters(self.results.fit)
        if infinite is not None:
            shares = (jacobian / self.sizes(rows))[:, infinite]
            parts.append(np.where(np.abs(shares) > _ROUNDING, shares, 0.0))
        return np.hstack(parts)

    def sizes(self, rows: Rows) -> FloatArray:
        """(F,) the largest derivatives among rows by each parameter, 1 where all are 0."""
        largest = np.abs(self.predicted.each(self.quantity, rows)[1][:, 0]).max(axis=0)
        return np.where(largest > 0.0, largest, 1.0)

    def settled(self, average: Average) -> Average:
        """The limit where estimates are infinite: infinite too, or NaN where it is undetermined.

        Where infinite estimates cancel out, as a threshold does in a difference of means, the value is finite and has
        an error. Probabilities and ranks are their own limits but for rounding.
        """
        fit, infinite = self.results.fit, infinite_parameters(self.results.fit)
        if infinite is None or self.scale not in _ENDLESS:
            return average
        jacobian, estimable = self._without_rounding(average.jacobian[:, : infinite.size]), ~np.isnan(average.values)
        known = average.known | (estimable & (jacobian[:, infinite] == 0.0).all(axis=1))
        linear = self.scale == "latent" or self.predicted.rule.link.name == "logit"
        scales = slice(self.predicted.rule.alpha.size + self.predicted.rule.beta.size, None)
        undetermined = ~known & (not linear or (jacobian[:, scales][:, infinite[scales]] != 0.0).any(axis=1))
        ends = np.where(undetermined, np.nan, 0.0)
        endless = estimable & ~known & ~undetermined
        ends[endless] = fit.ends(by_estimated(self.results, jacobian[endless]))
        return replace(average, values=average.values + ends, known=known)

    def _without_rounding(self, jacobian: FloatArray) -> FloatArray:
        """Derivatives (M, F), 0 where they are rounding beside the others, in units of the columns."""
        rule, rows = self.predicted.rule, self.results.design.sample.rows
        sizes = [np.ones(1) if part is None else np.abs(part).max(axis=0) for part in (rows.nominal, rows.X)]
        of_alpha = np.repeat(np.append(1.0, sizes[0][: rule.alpha.shape[1] - 1]), rule.alpha.shape[0])
        units = np.append(of_alpha, sizes[1])
        units = np.pad(units, (0, jacobian.shape[1] - units.size), constant_values=1.0)
        shares = np.abs(jacobian) / np.where(units > 0.0, units, 1.0)
        return np.where(shares <= _SMALL * shares.max(axis=1, keepdims=True), 0.0, jacobian)

    def table(self, average: Average, level: float) -> pd.DataFrame:
        """Estimates with errors, tests and limits, one row per output; odds are the exponents of log odds."""
        average = self.settled(average)
        return self.estimates(average.values, self.errors(average), level, self.df(average.jacobian))

    def estimates(self, values: FloatArray, errors: FloatArray, level: Any, df: FloatArray) -> pd.DataFrame:
        """Columns STATISTICS, and df under CR2; what has no error, such as the slope of an offset, is not tested.

        Odds have the errors of the delta method, and the tests and limits of the log odds.
        """
        certain = errors <= _CERTAIN * np.abs(values)
        errors = np.where(certain, 0.0, errors)
        values = np.where(certain & (np.abs(values) < _ROUNDING), 0.0, values)
        lower, upper = symmetric_limits(values, errors, level, df)
        z = values / np.where(certain, np.nan, errors)
        p = two_sided(z, df)
        if self.scale == "odds":
            values, lower, upper = np.exp(values), np.exp(lower), np.exp(upper)
            errors = errors * values
        table = pd.DataFrame(dict(zip(STATISTICS, (values, errors, z, p, lower, upper), strict=True)))
        if self.results.bias_reduced is not None:
            table.insert(STATISTICS.index("p_value"), "df", np.where(np.isinf(df), np.nan, df))
        return table

    def errors(self, average: Average) -> FloatArray:
        """(M,) standard errors, NaN where unknown."""
        variances = ((average.jacobian @ self.covariance) * average.jacobian).sum(axis=1)
        return np.where(average.known, np.sqrt(np.maximum(variances, 0.0)), np.nan)

    def df(self, jacobian: FloatArray) -> FloatArray:
        """(M,) degrees of freedom of the t-tests of combinations (M, F) of the parameters; infinite for z-tests."""
        return degrees_of_freedom(self.results, jacobian)

    @property
    def df_words(self) -> str | None:
        """The degrees of freedom of t, in words; None where tests are normal."""
        if self.results.bias_reduced is not None:
            return "Satterthwaite's df"
        df = self.results.design_df
        return None if np.isinf(df) else f"{df:g} df"

    def joint(self, average: Average) -> Joint:
        """Wald test that all of these are 0; those without an error are left out.

        So are combinations that hardly vary beside the others: averages along a smooth curve have few parameters, and
        the delta method is of the second order in the rest.
        """
        values, jacobian = average.values[average.known], average.jacobian[average.known]
        spread = jacobian @ self.covariance @ jacobian.T
        size = np.sqrt(np.where(np.diag(spread) > 0.0, np.diag(spread), 1.0))
        shares, vectors = np.linalg.eigh(spread / np.outer(size, size))
        turned = vectors[:, shares > _HARDLY * shares.max(initial=0.0)].T / size
        if self.predicted.n_phi:
            return Joint(*wald_test(turned @ jacobian, turned @ values, self.covariance))
        return joint_test(self.results, by_estimated(self.results, turned @ jacobian), turned @ values)


def together(averages: Sequence[Average]) -> Average:
    """The outputs of several averages, one after another."""
    return Average(
        np.concatenate([average.values for average in averages]),
        np.concatenate([average.jacobian for average in averages]),
        np.concatenate([average.known for average in averages]),
    )


def _either(rows: Rows, tangent: Rows) -> Rows:
    """Rows with an entry wherever these or their tangent have one."""

    def joined(a: FloatArray | None, b: FloatArray | None) -> FloatArray | None:
        return None if a is None or b is None else np.abs(a) + np.abs(b)

    X = np.abs(rows.X) + np.abs(tangent.X)
    return Rows(X=X, nominal=joined(rows.nominal, tangent.nominal), scale=joined(rows.scale, tangent.scale))


def warn_of_unknown(unknown: Any) -> None:
    """A DataWarning where standard errors are missing."""
    if np.any(unknown):
        warn(
            "some effects have no standard error: they depend on an infinite estimate, on a combination of levels that "
            "the data do not have, on a column that others make up, or on a covariance that is not known.",
            DataWarning,
        )
