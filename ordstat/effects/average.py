"""Averages of predictions over rows, with their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from ..likelihood.standard_errors import infinite_parameters, symmetric_limits, two_sided
from ..likelihood.wald import wald_test
from ..mixed.over_groups import Place, Predicted
from ..mixed.predictions import chosen_effects, effects_words, predicted_by, predicted_covariance
from ..report.warnings import without_end

#: A new value of an aliased column may differ by this share of its size from what the other columns say.
_SAME = 1e-6


def estimable(fit: LikelihoodFit, trained: Rows, rows: Rows) -> BoolArray:
    """(n,) whether every aliased column of new rows is what the columns kept say it is, as in the rows of the fit.

    Where it is not, the data have nothing to say about the row, and a prediction that takes the effect of the aliased
    column as 0 would depend on the coding.
    """
    told = np.ones(rows.n, dtype=np.bool_)
    for matrix, gone in _parts(fit, trained):
        found, expected = _gone(matrix(trained), matrix(rows), gone)
        told &= (np.abs(found - expected) <= _SAME * (1.0 + np.abs(found))).all(axis=1)
    return told


def aliased_gaps(fit: LikelihoodFit, trained: Rows, rows: Rows, weights: FloatArray) -> FloatArray:
    """(h, U) aliased columns less what the columns kept say they are, in sums of rows by weights (h, n); or 0."""
    gaps = [np.zeros((len(weights), 0))]
    for matrix, gone in _parts(fit, trained):
        columns = matrix(rows)
        found, expected = _gone(matrix(trained), weights @ columns, gone)
        largest = (np.abs(weights) @ np.abs(columns / _sizes(matrix(trained)))).max(axis=1, keepdims=True)
        gaps.append(np.where(np.abs(found - expected) > _SAME * largest, found - expected, 0.0))
    return np.hstack(gaps)


def estimable_tangent(fit: LikelihoodFit, trained: Rows, tangent: Rows) -> BoolArray:
    """(n,) whether the aliased columns change as the columns kept say, where rows move along a tangent."""
    told = np.ones(tangent.n, dtype=np.bool_)
    for matrix, gone in _parts(fit, trained):
        moved = matrix(tangent)
        moved[:, 0] = 0.0  # the ones stay ones
        found, expected = _gone(matrix(trained), moved, gone)
        largest = np.abs(moved / _sizes(matrix(trained))).max(axis=1, keepdims=True)
        told &= (np.abs(found - expected) <= _SAME * largest).all(axis=1)
    return told


def _parts(fit: LikelihoodFit, trained: Rows) -> Iterator[tuple[Callable[[Rows], FloatArray], BoolArray]]:
    """What gives the columns of the nominal and location effects, and of the scale, with which of them are aliased.

    A column of ones comes first.
    """
    if not fit.aliased.any():
        return
    q = 0 if trained.nominal is None else trained.nominal.shape[1]
    ends = np.cumsum([fit.n_alpha, fit.n_beta, fit.n_zeta])
    thresholds, location, scale, _ = np.split(fit.aliased, ends)
    nominal = thresholds.reshape(1 + q, -1)[1:].all(axis=1)
    matrices = (lambda rows: _with_ones(rows.nominal, rows.X), lambda rows: _with_ones(rows.scale))
    for matrix, gone in zip(matrices, (np.concatenate([nominal, location]), scale), strict=True):
        if gone.any():
            yield matrix, np.append(False, gone)


def _with_ones(*blocks: FloatArray | None) -> FloatArray:
    """Columns side by side, those that there are, after one of ones (the thresholds, or the unit of the scale)."""
    given = [block for block in blocks if block is not None]
    return np.hstack([np.ones((len(given[0]), 1)), *given])


def _sizes(trained: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(np.abs(trained).max(axis=0), 1e-300))


def _gone(trained: FloatArray, new: FloatArray, gone: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The columns `gone` of new rows, and what they are if the others make them up as in the rows of the fit.

    Both in units of the size of each column.
    """
    unit = _sizes(trained)
    relation = np.linalg.lstsq(trained[:, ~gone] / unit[~gone], trained[:, gone] / unit[gone], rcond=None)[0]
    return new[:, gone] / unit[gone], new[:, ~gone] / unit[~gone] @ relation


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
#: Scales without an end, where what depends on infinite estimates is infinite or left open.
_ENDLESS = ("latent", "log_odds", "odds")
#: (earlier, later) of n values, by the kind of contrast.
PAIRS: dict[str, Callable[[int], list[tuple[int, int]]]] = {
    "reference": lambda n: [(0, k) for k in range(1, n)],
    "sequential": lambda n: [(k - 1, k) for k in range(1, n)],
    "pairwise": lambda n: list(combinations(range(n), 2)),
}
#: Statistics of a table of estimates.
STATISTICS = ["estimate", "std_error", "statistic", "p_value", "lower", "upper"]
#: A slope of a constant probability is rounding, up to this.
_ROUNDING = 1e-9
#: So is a derivative, up to this share of the largest.
_SMALL = 1e-10
#: An error is rounding, up to this share of its estimate.
_CERTAIN = 1e-12

#: Variance of a combination of effects that hardly varies, as a share of the largest.
_HARDLY = 1e-2


@dataclass(frozen=True, eq=False)
class Average:
    """A weighted mean of a quantity over rows.

    Attributes
    ----------
    values : (M,)
        NaN where a row cannot be estimated.
    jacobian : (M, F)
        With respect to the parameters of the rule; with those of random effects that are averaged over after them.
    known : (M,) bool
        Whether it has an error: it depends on no infinite estimate.
    """

    values: FloatArray
    jacobian: FloatArray
    known: BoolArray

    def untold(self) -> Average:
        """The same where the data say nothing about it."""
        return Average(np.full_like(self.values, np.nan), self.jacobian, np.zeros_like(self.known))

    def output(self, place: int) -> Average:
        """One of its outputs."""
        one = slice(place, place + 1)
        return Average(self.values[one], self.jacobian[one], self.known[one])

    def __sub__(self, other: Average) -> Average:
        return Average(self.values - other.values, self.jacobian - other.jacobian, self.known & other.known)

    def __add__(self, other: Average) -> Average:
        return Average(self.values + other.values, self.jacobian + other.jacobian, self.known & other.known)


@dataclass(frozen=True, eq=False)
class Averager:
    """Averages of one quantity of a fit over rows of frames.

    Attributes
    ----------
    results : LikelihoodResults
    scale : str
        A key of SCALES.
    predicted : Predicted
        What is averaged, of rows.
    covariance : (F, F)
        Covariance of its parameters.
    notes : tuple of str
        What random effects are, and which estimates are infinite; printed below tables.
    """

    results: FittedLikelihood
    scale: str
    predicted: Predicted
    covariance: FloatArray
    notes: tuple[str, ...]

    @classmethod
    def of(cls, results: FittedLikelihood, scale: str, vcov: Any, re: str | None = None) -> Averager:
        one_of("scale", scale, SCALES)
        chosen, effects = (
            results if vcov is None else with_covariance(results, vcov),
            chosen_effects(results, scale, re),
        )
        predicted = predicted_by(chosen, scale, effects)
        notes = (*effects_words(effects, scale), *without_end(chosen.fit, chosen.parameters, scale in _ENDLESS))
        return cls(chosen, scale, predicted, predicted_covariance(chosen, predicted), notes)

    @property
    def quantity(self) -> Quantity:
        return QUANTITIES[SCALES[self.scale]]

    @property
    def sign(self) -> str:
        """What stands between two values that are compared."""
        return " / " if self.scale == "odds" else " - "

    @property
    def labels(self) -> dict[str, list[Any]]:
        """Labels of the outputs by what they are; nothing where there is one."""
        per, levels = self.quantity.per, list(self.results.levels)
        if per == "threshold":
            return {"threshold": self.results.threshold_names}
        if per == "level":
            return {"level": levels}
        return {"level": levels[:-1]} if per == "lower level" else {}

    def crossed(self, rows: Rows, weights: FloatArray) -> IntArray:
        """Which of the rows with weight have thresholds out of order; none where latent variables are averaged."""
        if self.scale == "latent":
            return np.empty(0, dtype=np.intp)
        return crossed_rows(self.predicted.rule, rows.take(np.flatnonzero(weights)))

    def tell_crossed(self, crossed: IntArray, weights: FloatArray) -> None:
        """Says how many of the rows with weight were found to be out of order."""
        refuse = self.results.method.refuses_crossing
        report_crossing(crossed, int(np.count_nonzero(weights)), None, "rows averaged over", refuse=refuse)

    def design(self, frame: pd.DataFrame) -> Rows:
        """The design of a frame."""
        return self.results.design.spec.rebuild(frame).rows

    def over(self, rows: Rows, weights: FloatArray) -> Average:
        """The weighted sum over rows."""
        fit, used = self.results.fit, weights != 0.0
        values, jacobian = self.predicted.averages(self.quantity, rows, weights)
        found = Average(values, jacobian, ~np.isnan(values) & self._finite(rows.take(used)).all(axis=0))
        told = estimable(fit, self.results.design.sample.rows, rows)[used].all()
        return found if told else found.untold()

    def contrasts(self, rows: Rows, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(h,) weighted sums over rows of the latent variable, by weights (h, n), and their (h, F) Jacobian."""
        parts = [self.predicted.averages(self.quantity, rows, one) for one in weights]
        return np.array([values[0] for values, _ in parts]), np.array([jacobian[0] for _, jacobian in parts])

    def untold(self, rows: Rows, weights: FloatArray, jacobian: FloatArray) -> FloatArray:
        """(h, U) what the sums of `contrasts` have in them that the data do not determine.

        By how much aliased columns are not what the columns kept say, and the derivatives by infinite estimates.
        """
        parts = [aliased_gaps(self.results.fit, self.results.design.sample.rows, rows, weights)]
        infinite = infinite_parameters(self.results.fit)
        if infinite is not None:
            shares = (jacobian / self.sizes(rows))[:, infinite]
            parts.append(np.where(np.abs(shares) > _ROUNDING, shares, 0.0))
        return np.hstack(parts)

    def sizes(self, rows: Rows) -> FloatArray:
        """(F,) the largest derivatives among rows by each parameter, 1 where all are 0."""
        largest = np.abs(self.directions(rows).values()[1][:, 0]).max(axis=0)
        return np.where(largest > 0.0, largest, 1.0)

    def directions(self, rows: Rows) -> Place:
        """The rows as a place to take derivatives at."""
        return self.predicted.directions(self.quantity, rows)

    def slope(self, at: Place, tangent: Rows, weights: FloatArray) -> Average:
        """The weighted sum over rows of the derivatives along a tangent."""
        values, jacobian = at.average(tangent, weights)
        used = weights != 0.0
        known = ~np.isnan(values) & self._finite(either(at.rows, tangent).take(used)).all(axis=0)
        found = Average(values, jacobian, known)
        return found if self.told(tangent)[used].all() else found.untold()

    def told(self, tangent: Rows) -> BoolArray:
        """(n,) whether the data say anything about a change of the rows along a tangent."""
        return estimable_tangent(self.results.fit, self.results.design.sample.rows, tangent)

    def each(self, at: Place, tangent: Rows | None = None) -> list[Average]:
        """The quantity of every row, or its derivative along a tangent."""
        fit, trained = self.results.fit, self.results.design.sample.rows
        values, jacobian = at.values() if tangent is None else at.each(tangent)
        told = estimable(fit, trained, at.rows) if tangent is None else self.told(tangent)
        known = ~np.isnan(values) & self._finite(at.rows if tangent is None else either(at.rows, tangent))
        found = [Average(*parts) for parts in zip(values, jacobian, known, strict=True)]
        return [one if row else one.untold() for one, row in zip(found, told, strict=True)]

    def _finite(self, rows: Rows) -> BoolArray:
        """(n, M) whether the outputs of rows depend on no infinite estimate; (1, 1) where there is none."""
        infinite = infinite_parameters(self.results.fit)
        if infinite is None:
            return np.ones((1, 1), dtype=np.bool_)
        return ~involved(self.predicted.rule, rows, self.quantity, infinite)

    def settled(self, found: Average) -> Average:
        """The same where estimates are infinite: infinite too, or NaN where these leave it open.

        Where infinite estimates cancel out, as a threshold does in a difference of means, it is finite and has an
        error. On the scales of probabilities and ranks, the numbers are their own limits but for rounding.
        """
        fit, infinite = self.results.fit, infinite_parameters(self.results.fit)
        if infinite is None or self.scale not in _ENDLESS:
            return found
        jacobian, told = self._without_rounding(found.jacobian[:, : infinite.size]), ~np.isnan(found.values)
        known = found.known | (told & (jacobian[:, infinite] == 0.0).all(axis=1))
        linear = self.scale == "latent" or self.predicted.rule.link.name == "logit"
        scales = slice(self.predicted.rule.alpha.size + self.predicted.rule.beta.size, None)
        open_ = ~known & (not linear or (jacobian[:, scales][:, infinite[scales]] != 0.0).any(axis=1))
        ends = np.where(open_, np.nan, 0.0)
        asked = told & ~known & ~open_
        ends[asked] = fit.ends(by_estimated(self.results, jacobian[asked]))
        return replace(found, values=found.values + ends, known=known)

    def _without_rounding(self, jacobian: FloatArray) -> FloatArray:
        """Derivatives (M, F), 0 where they are rounding beside the others, in units of the columns."""
        rule, rows = self.predicted.rule, self.results.design.sample.rows
        sizes = [np.ones(1) if part is None else np.abs(part).max(axis=0) for part in (rows.nominal, rows.X)]
        of_alpha = np.repeat(np.append(1.0, sizes[0][: rule.alpha.shape[1] - 1]), rule.alpha.shape[0])
        units = np.append(of_alpha, sizes[1])
        units = np.pad(units, (0, jacobian.shape[1] - units.size), constant_values=1.0)
        shares = np.abs(jacobian) * np.where(units > 0.0, 1.0 / np.where(units > 0.0, units, 1.0), 1.0)
        return np.where(shares <= _SMALL * shares.max(axis=1, keepdims=True), 0.0, jacobian)

    def table(self, found: Average, level: float) -> pd.DataFrame:
        """Estimates with errors, tests and limits, one row per output; odds are the exponents of log odds."""
        found = self.settled(found)
        return self.estimates(found.values, self.errors(found), level, self.df(found.jacobian))

    def estimates(self, values: FloatArray, errors: FloatArray, level: Any, df: FloatArray) -> pd.DataFrame:
        """The table of values and their errors; under CR2 with a column of the degrees of freedom, which differ."""
        table = estimates(values, errors, level, self.scale == "odds", df)
        if self.results.bias_reduced is not None:
            table.insert(STATISTICS.index("p_value"), "df", np.where(np.isinf(df), np.nan, df))
        return table

    def errors(self, found: Average) -> FloatArray:
        """(M,) standard errors, NaN where there is none."""
        variances = ((found.jacobian @ self.covariance) * found.jacobian).sum(axis=1)
        return np.where(found.known, np.sqrt(np.maximum(variances, 0.0)), np.nan)

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

    def joint(self, found: Average) -> Joint:
        """Wald test of: all of these are 0; those without an error left out.

        Left out, too, are combinations that hardly vary beside the others: averages along a smooth curve have few
        parameters, and what the delta method makes of the rest is of the second order.
        """
        values, jacobian = found.values[found.known], found.jacobian[found.known]
        spread = jacobian @ self.covariance @ jacobian.T
        size = np.sqrt(np.where(np.diag(spread) > 0.0, np.diag(spread), 1.0))
        shares, vectors = np.linalg.eigh(spread / np.outer(size, size))
        turned = vectors[:, shares > _HARDLY * shares.max(initial=0.0)].T / size
        if self.predicted.n_phi:
            return Joint(*wald_test(turned @ jacobian, turned @ values, self.covariance))
        return joint_test(self.results, by_estimated(self.results, turned @ jacobian), turned @ values)

    def labelled(self, front: Mapping[str, Any], found: Average, level: float) -> pd.DataFrame:
        """The table with columns before it: what is estimated, and the level or threshold."""
        table = self.table(found, level)
        return pd.concat([pd.DataFrame({**front, **self.labels}, index=table.index), table], axis=1)


def together(averages: Sequence[Average]) -> Average:
    """The outputs of several averages, one after another."""
    return Average(
        *(np.concatenate([getattr(one, part) for one in averages]) for part in ("values", "jacobian", "known"))
    )


def either(rows: Rows, tangent: Rows) -> Rows:
    """Rows with an entry wherever these or their tangent have one."""

    def joined(a: FloatArray | None, b: FloatArray | None) -> FloatArray | None:
        return None if a is None or b is None else np.abs(a) + np.abs(b)

    return Rows(
        X=np.abs(rows.X) + np.abs(tangent.X),
        nominal=joined(rows.nominal, tangent.nominal),
        scale=joined(rows.scale, tangent.scale),
    )


def estimates(values: FloatArray, errors: FloatArray, level: Any, exponentiate: bool, df: Any = np.inf) -> pd.DataFrame:
    """Columns STATISTICS; exponents have the errors of the delta method, and the test and limits of the logs.

    What has no error, such as the slope of an offset, is not tested.
    """
    certain = errors <= _CERTAIN * np.abs(values)
    errors = np.where(certain, 0.0, errors)
    values = np.where(certain & (np.abs(values) < _ROUNDING), 0.0, values)
    lower, upper = symmetric_limits(values, errors, level, df)
    z = values / np.where(certain, np.nan, errors)
    p = two_sided(z, df)
    if exponentiate:
        values, lower, upper = np.exp(values), np.exp(lower), np.exp(upper)
        errors = errors * values
    return pd.DataFrame(dict(zip(STATISTICS, (values, errors, z, p, lower, upper), strict=True)))


def warn_of_unknown(table: pd.DataFrame) -> None:
    """A DataWarning where a standard error is missing."""
    if table["std_error"].isna().any():
        warn(
            "some effects have no standard error: they depend on an infinite estimate, on a combination of levels that "
            "the data do not have, on a column that others make up, or on a covariance that is not known.",
            DataWarning,
        )
