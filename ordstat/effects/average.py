"""Averages of predictions over rows, with their standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..checks import one_of, require_memory
from ..exceptions import DataWarning, OptionError, warn
from ..formula.sample import Rows
from ..inference.rubin import (
    PooledValues,
    as_logits,
    bounded_limits,
    rubin,
)
from ..inference.wald import as_joint, by_estimated, degrees_of_freedom, wald_test
from ..judging.response_numbers import Asked
from ..likelihood.alerts import infinite_and_diverging
from ..likelihood.derivatives import (
    QUANTITIES,
    Quantity,
    cumulative_through,
    moved,
    quantity_of,
)
from ..likelihood.parameters import threshold_values
from ..likelihood.row_limits import RowLimits
from ..likelihood.rule import crossed_rows, report_crossing
from ..likelihood.standard_errors import (
    limits_between,
    rule_covariance,
    symmetric_limits,
    two_sided,
)
from ..likelihood.user_scale import CovarianceOperator
from ..mixed.predictions import (
    Predicted,
    chosen_effects,
    effects_words,
    predicted_by,
    predicted_covariance,
)

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


#: Scale -> what is averaged, as a type of prediction; a quantile is that of averages.
SCALES = {
    "prob": "prob",
    "cum_prob": "inner_cum_prob",
    "exc_prob": "exc_prob",
    "mean": "mean",
    "mean_class": "mean_class",
    "exceed": "exceed",
    "quantile": "inner_cum_prob",
    "latent": "latent",
    "log_odds": "log_odds",
    "odds": "log_odds",
}
#: Scales of probabilities.
PROBABILITIES = ("prob", "cum_prob", "exc_prob")
#: Scale -> its description, where it needs no values of the response.
WORDS = {
    "latent": "the latent score (0 = average threshold)",
    "prob": "P(response = level)",
    "cum_prob": "P(response <= level)",
    "exc_prob": "P(response > level)",
    "log_odds": "the log odds of a response above each threshold",
    "odds": "the odds of a response above each threshold (averaged as logs)",
}
#: Unbounded scales, on which infinite estimates give infinite or undetermined values.
_UNBOUNDED = ("latent", "log_odds", "odds")
#: Kinds of contrasts of two values.
PAIRS = ("reference", "sequential", "pairwise")
#: Columns of a table of estimates.
STATISTICS = ["estimate", "std_error", "statistic", "p_value", "lower", "upper"]
#: Slopes of a constant probability below this are rounding.
_ROUNDING = 1e-9
#: Derivatives below this share of the largest are rounding.
_SMALL = 1e-10
#: Derivatives and error of a contrast below this share of those of its parts are
#: rounding.
CANCELLED = 1e-10
#: Arrays of derivatives that are held together while errors are computed.
_JACOBIANS = 4
#: Errors below this share of their estimate are rounding.
_CERTAIN = 1e-12


def pairs_of(kind: str, values: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The (earlier, later) values that are compared."""
    if kind == "pairwise":
        return list(combinations(values, 2))
    earlier = values[:-1] if kind == "sequential" else [values[0]] * (len(values) - 1)
    return list(zip(earlier, values[1:], strict=True))


@dataclass(frozen=True, eq=False)
class Average:
    """Weighted means of a quantity over rows.

    Attributes
    ----------
    values : (C, M)
        M outputs of each of C means; NaN if the data do not determine it.
    jacobian : (C, M, F)
        Derivatives by the parameters of the rule, then of the random effects averaged
        over.
    has_error : (C, M) bool
        Whether it has a standard error, as it does not depend on an infinite estimate.
    """

    values: FloatArray
    jacobian: FloatArray
    has_error: BoolArray

    @classmethod
    def stacked(cls, parts: Sequence[Average]) -> Average:
        """Concatenate several."""
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.jacobian for part in parts]),
            np.concatenate([part.has_error for part in parts]),
        )

    def __getitem__(self, index: Any) -> Average:
        return Average(self.values[index], self.jacobian[index], self.has_error[index])

    def __sub__(self, other: Average) -> Average:
        return Average(
            self.values - other.values,
            self.jacobian - other.jacobian,
            self.has_error & other.has_error,
        )

    def combined(self, L: FloatArray) -> Average:
        """(h, M) linear combinations by coefficients (h, C); means with coefficient 0
        are ignored.
        """
        used = L != 0.0
        values = np.where(
            used @ np.isnan(self.values), np.nan, L @ np.nan_to_num(self.values)
        )
        jacobian = np.tensordot(L, self.jacobian, 1)
        sizes = np.tensordot(np.abs(L), np.abs(self.jacobian), 1)
        jacobian = np.where(np.abs(jacobian) <= CANCELLED * sizes, 0.0, jacobian)
        return Average(values, jacobian, ~(used @ ~self.has_error))


class Averager:
    """Averages of one quantity of a fit over rows of frames.

    Attributes
    ----------
    results : LikelihoodResults
    scale : str
        A key of SCALES.
    asked : Asked or None
        Values of the response of "mean", "mean_class", "exceed" and "quantile".
    predicted : Predicted
        The predictor that is averaged.
    covariance : CovarianceOperator
        Of the F parameters of `predicted`.
    sign : str
        Text between two compared values.
    notes : tuple of str
        How random effects are treated, and which estimates are infinite; printed below
        tables.
    """

    def __init__(
        self, results: LikelihoodResults, scale: Any, vcov: Any, re: str | None = None
    ) -> None:
        scale, at = _named_scale(scale)
        r = results if vcov is None else results.with_vcov(vcov)
        self.results = r
        self.covariance: CovarianceOperator | PooledCovariance
        self.scale = scale
        self.sign = " / " if scale == "odds" else " - "
        of_labels = r.design.levels
        self.asked = Asked.of(of_labels, scale, at, interpolate=scale == "quantile")
        self.notes: tuple[str, ...] = ()
        if r.fit.separation is not None or r.fit.diverging.any():
            self.notes = tuple(
                infinite_and_diverging(r.fit, r.parameters, scale in _UNBOUNDED)
            )
        if r.fit.marginal is None and re is None:
            self.predicted = Predicted(r.rule)
            self.covariance = rule_covariance(r.fit, r.rule, r.covariance_of_estimates)
        else:
            effects = chosen_effects(r, scale, re)
            self.predicted = predicted_by(r, scale, effects)
            self.covariance = predicted_covariance(r, self.predicted)
            self.notes = (*effects_words(effects, scale), *self.notes)
        if self.asked is not None:
            self.notes = (*self.asked.restrictions, *self.notes)

    @property
    def words(self) -> str:
        """Description of the quantity."""
        return WORDS[self.scale] if self.asked is None else self.asked.words

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The smallest and the largest value of the scale; None without bounds."""
        if self.asked is not None:
            return self.asked.bounds
        return (0.0, 1.0) if self.scale in PROBABILITIES else None

    @property
    def quantity(self) -> Quantity:
        """The averaged quantity, with its derivatives."""
        if self.asked is not None and self.scale != "quantile":
            return quantity_of(self.scale, self.asked)
        quantity = QUANTITIES[SCALES[self.scale]]
        if self.scale != "latent":
            return quantity
        # Beside a level without rows a threshold is infinite, or the same as the one
        # before.
        sample = self.results.design.sample
        repeats = np.bincount(sample.y, minlength=sample.n_levels)[:-1] == 0
        known = np.isfinite(threshold_values(self.results.fit))
        known &= ~(repeats & self.results.family.ordered)
        return replace(
            quantity,
            combine=lambda values, top: quantity.combine(values[known], top),
            known_factors=(known / np.count_nonzero(known))[None],
        )

    @property
    def labels(self) -> dict[str, list[Any]]:
        """Labels of the outputs, by column; empty for a single output."""
        if self.asked is not None:
            values = self.asked.labels
            name = "share" if self.scale == "quantile" else "value"
            return {} if values is None else {name: values}
        per = self.quantity.per
        levels = list(self.results.levels)
        if per == "threshold":
            return {"threshold": self.results.threshold_names}
        if per == "level":
            return {"level": levels}
        return {"level": levels[:-1]} if per == "lower level" else {}

    def report_crossed(
        self, designs: Sequence[Rows], weights: FloatArray | None
    ) -> None:
        """Warn of weighted rows with thresholds out of order in some designs, or refuse
        them.
        """
        if self.scale == "latent" or self.results.design.sample.rows.nominal is None:
            return
        used = np.arange(designs[0].n) if weights is None else np.flatnonzero(weights)
        crossed = np.unique(
            np.concatenate(
                [crossed_rows(self.predicted.rule, rows.take(used)) for rows in designs]
            )
        )
        refuse = self.results.method.refuses_crossing
        report_crossing(crossed, used.size, None, "rows averaged over", refuse=refuse)

    def design(self, frame: pd.DataFrame) -> Rows:
        """The design of a frame."""
        return self.results.design.spec.rebuild(frame).rows

    def over(
        self, rows: Rows, weights: FloatArray | None, tangent: Rows | None = None
    ) -> Average:
        """Weighted sums over rows (1, M), or without weights each row (n, M); of
        derivatives if a tangent is given.
        """
        if self.asked is None or self.scale != "quantile":
            return self._over(rows, weights, tangent)
        if tangent is not None:
            raise OptionError(
                "scale must be another than 'quantile' for derivatives by a number."
                " Compare values, as in change=1 or change=[20, 60]."
            )
        if self.determined:
            return self._quantiles(self.asked, rows, weights)
        return _quantiles(self.asked, self._over(rows, weights, None))

    @property
    def determined(self) -> bool:
        """Whether every estimate is finite and determined, and no random effect is
        averaged over.
        """
        fixed = not self.predicted.factors and self.results.aliasing is None
        return fixed and not self.results.fit.without_maximum

    def cumulative(self, rows: Rows, weights: FloatArray) -> FloatArray:
        """(K-1,) weighted sums over rows of P(y <= k)."""
        none = cumulative_through(np.zeros((1, self.predicted.n_levels - 1)))
        return self.predicted.averages(none, rows, weights)[0]

    def cumulative_jacobian(
        self, factors: FloatArray, rows: Rows, weights: FloatArray
    ) -> FloatArray:
        """(M, F) derivatives of combinations (M, K-1) of what `cumulative` gives."""
        through = cumulative_through(factors)
        return self.predicted.averages(through, rows, weights)[1]

    def _quantiles(
        self, asked: Asked, rows: Rows, weights: FloatArray | None
    ) -> Average:
        """Quantiles of averaged distributions, or of each row, where every estimate is
        finite: only the P(y <= k) beside a quantile are derived.
        """
        if weights is None:
            singly = (rows.take(slice(i, i + 1)) for i in range(rows.n))
            return Average.stacked(
                [self._quantiles(asked, row, np.ones(1)) for row in singly]
            )
        below = self.cumulative(rows, weights)
        values, slopes = asked.quantile_slopes(below[None])
        moves = slopes.any(axis=2)

        def errors_of(factors: FloatArray) -> FloatArray:
            derived = self.cumulative_jacobian(factors, rows, weights)
            return np.sqrt(np.maximum(self.covariance.variances_of(derived), 0.0))

        smoothed = asked.smoothed_slopes(below, slopes[0], errors_of)
        jacobian = self.cumulative_jacobian(smoothed, rows, weights)
        return Average(values, jacobian[None], moves & ~np.isnan(values))

    def _over(
        self, rows: Rows, weights: FloatArray | None, tangent: Rows | None
    ) -> Average:
        """`over`, with cumulative probabilities in place of quantiles."""
        predicted = self.predicted
        quantity = self.quantity
        if quantity.known_factors is None:
            levels = predicted.n_levels
            averages = 1 if weights is not None else rows.n
            require_memory(
                f"Errors of averages for each of {levels:,} levels",
                _JACOBIANS * 8.0 * averages * levels * self.covariance.size,
                "Take scale='mean', {'exceed': value}, {'quantile': 0.5} or 'latent',"
                " where the question has a scale; or join levels, as by pandas.cut.",
            )
        if weights is None:
            by_row = (
                predicted.each(quantity, rows)
                if tangent is None
                else predicted.slopes(quantity, rows, tangent)
            )
            average = Average(*by_row, ~np.isnan(by_row[0]))
        else:
            if tangent is None:
                values, jacobian = predicted.averages(quantity, rows, weights)
            else:
                values, jacobian = predicted.slope(quantity, rows, tangent, weights)
            average = Average(values[None], jacobian[None], ~np.isnan(values[None]))
        fit = self.results.fit
        if not fit.without_maximum and self.results.aliasing is None:
            return average
        used = slice(None) if weights is None else weights != 0.0
        unknown, certain, exact = self._undetermined(
            rows.take(used), None if tangent is None else tangent.take(used)
        )
        if weights is not None:
            unknown = np.asarray(unknown.any(axis=0, keepdims=True))
            certain = np.asarray(certain.all(axis=0, keepdims=True))
            exact = (weights[used] @ exact)[None]
        values = np.where(np.isnan(exact), average.values, exact)
        values = np.where(unknown, np.nan, values)
        # no finite estimate moves these
        jacobian = np.where(np.isnan(exact)[..., None], average.jacobian, 0.0)
        has_error = average.has_error & ~unknown & ~certain
        return Average(values, jacobian, has_error)

    def _undetermined(
        self, rows: Rows, tangent: Rows | None
    ) -> tuple[BoolArray, BoolArray, FloatArray]:
        """(n, M) outputs of rows, or their derivatives, that the data do not determine;
        those without an error; values that no finite estimate changes, NaN for others.
        """
        r = self.results
        rule = self.predicted.rule
        moving = rows if tangent is None else tangent
        outputs = self.quantity.combine(np.zeros((rule.n_levels - 1, 1)), 1.0).shape[0]
        unknown: BoolArray = np.zeros((rows.n, outputs), dtype=bool)
        certain = np.zeros((rows.n, outputs), dtype=bool)
        exact = np.full((rows.n, outputs), np.nan)
        if r.aliasing is not None:
            gaps = r.aliasing.gaps(rule, moving, tangent=tangent is not None)
            unknown |= np.asarray(gaps.any(axis=1, keepdims=True))
            # the slope changes with the place
            if tangent is not None and not self._linear:
                unknown |= np.asarray(
                    r.aliasing.gaps(rule, rows).any(axis=1, keepdims=True)
                )
        limits = RowLimits.of(r.fit, rule, rows)
        # `settled` has the limits of what is linear in the parameters
        if limits is None or self._linear:
            return unknown, certain, exact
        type = SCALES[self.scale]
        along = limits
        if tangent is not None:
            further = RowLimits.of(r.fit, rule, moved(rows, tangent, np.ones(rows.n)))
            assert further is not None
            along = limits.along(further)
        # infinite log odds that are not linear have no difference
        if self.scale in _UNBOUNDED:
            return unknown | along.infinite_log_odds(), certain, exact
        # quantiles are those of averaged probabilities
        asked = None if self.scale == "quantile" else self.asked
        places = None if asked is None else asked.places
        unknown = unknown | along.unknown(type, places)
        if tangent is None:
            given = self.predicted.values(self.quantity, rows)
            settled = limits.settled(type, given, rule, rows, asked)
            exact = np.where(limits.fixed(type, places), settled, np.nan)
        return unknown, limits.certain(type, places), exact

    @property
    def _linear(self) -> bool:
        """Whether the quantity is linear in the parameters."""
        rule = self.predicted.rule
        linear_log_odds = rule.family.local and rule.link.name == "logit"
        return self.scale == "latent" or (self.scale in _UNBOUNDED and linear_log_odds)

    def settled(self, average: Average) -> Average:
        """The limit for infinite estimates: infinite, or NaN if undetermined.

        If infinite estimates cancel, as a threshold does in a difference of means, the
        value is finite and has an error. Probabilities and ranks already equal their
        limits up to rounding.
        """
        fit = self.results.fit
        if self.scale in _UNBOUNDED and fit.diverging[~fit.aliased].all():
            moves = by_estimated(self.results, average.jacobian)[
                ..., fit.diverging[~fit.aliased]
            ].any(axis=-1)
            return replace(
                average,
                values=np.where(moves, np.nan, average.values),
                has_error=average.has_error & ~moves,
            )
        if fit.determined is None or not self._linear:
            return average
        functions = by_estimated(self.results, self.without_rounding(average.jacobian))
        flat = functions.reshape(-1, functions.shape[-1])
        ends = np.where(
            fit.determined.diverge(flat), np.nan, fit.determined.limits(flat)
        ).reshape(average.values.shape)
        return replace(
            average,
            values=average.values + ends,
            has_error=average.has_error & (ends == 0.0),
        )

    def without_rounding(self, jacobian: FloatArray) -> FloatArray:
        """Derivatives (..., F), set to 0 if they are rounding compared with the others,
        in units of the columns.
        """
        rule = self.predicted.rule
        rows = self.results.design.sample.rows
        sizes = [
            np.ones(1) if part is None else np.abs(part).max(axis=0)
            for part in (rows.nominal, rows.X)
        ]
        of_alpha = np.repeat(
            np.append(1.0, sizes[0][: rule.alpha.shape[1] - 1]), rule.alpha.shape[0]
        )
        units = np.append(of_alpha, sizes[1])
        units = np.pad(units, (0, jacobian.shape[-1] - units.size), constant_values=1.0)
        shares = np.abs(jacobian) / np.where(units > 0.0, units, 1.0)
        return np.where(
            shares <= _SMALL * shares.max(axis=-1, keepdims=True), 0.0, jacobian
        )

    def table(self, average: Average, level: float) -> pd.DataFrame:
        """Estimates with standard errors, tests and confidence limits, one row per
        output; odds are the exponentials of log odds.
        """
        average, df = self.settled(average), self.df(average.jacobian)
        return self.estimates(
            average.values.ravel(), self.errors(average).ravel(), level, df.ravel()
        )

    def estimates(
        self, values: FloatArray, errors: FloatArray, level: Any, df: FloatArray
    ) -> pd.DataFrame:
        """Columns STATISTICS, and df under CR2; values without a standard error, such
        as the slope of an offset, are not tested.

        Odds have standard errors by the delta method; their tests and confidence limits
        are those of the log odds.
        """
        certain = errors <= _CERTAIN * np.abs(values)
        errors = np.where(certain, 0.0, errors)
        values = np.where(certain & (np.abs(values) < _ROUNDING), 0.0, values)
        lower, upper = symmetric_limits(values, errors, level, df)
        z = values / np.where(certain, np.nan, errors)
        p = two_sided(z, df)
        if self.scale == "odds":
            values = np.exp(values)
            lower = np.exp(lower)
            upper = np.exp(upper)
            errors = errors * values
        table = pd.DataFrame(
            dict(zip(STATISTICS, (values, errors, z, p, lower, upper), strict=True))
        )
        if self.shows_df:
            table.insert(
                STATISTICS.index("p_value"), "df", np.where(np.isinf(df), np.nan, df)
            )
        return table

    def lacks_errors(self, average: Average) -> bool:
        """Whether some mean has no standard error, or no value."""
        return bool(np.isnan(self.errors(self.settled(average))).any())

    def errors(self, average: Average) -> FloatArray:
        """(C, M) standard errors, NaN where unknown."""
        variances = self.covariance.variances_of(average.jacobian)
        return np.where(average.has_error, np.sqrt(np.maximum(variances, 0.0)), np.nan)

    def df(self, jacobian: FloatArray) -> FloatArray:
        """(...) degrees of freedom of values with derivatives (..., F)."""
        return degrees_of_freedom(self.results, jacobian)

    @property
    def shows_df(self) -> bool:
        """Whether values differ in their degrees of freedom."""
        return self.results.bias_reduced is not None

    def limits_between(
        self,
        low: float,
        high: float,
        average: Average,
        errors: FloatArray,
        level: float,
    ) -> tuple[FloatArray, FloatArray]:
        """Confidence limits of a bounded quantity with values (C, M), computed on the
        logit scale.
        """
        df = self.df(average.jacobian)
        return limits_between(low, high, average.values, errors, level, df)

    def log_odds_test(
        self, average: Average, errors: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """(C, M) statistics of the test that probabilities are 1/2, by their log odds,
        and the degrees of freedom; NaN for values without an error.
        """
        logits, variances = as_logits(0.0, 1.0, average.values, errors**2)
        known = np.where(variances > 0.0, variances, np.nan)
        return logits / np.sqrt(known), self.df(average.jacobian)

    @property
    def error_words(self) -> str:
        """The kind of standard errors."""
        return self.results.own_covariance.words

    @property
    def df_words(self) -> str | None:
        """The degrees of freedom of t, in words; None for normal tests."""
        if self.results.bias_reduced is not None:
            return "Satterthwaite's df"
        df = self.results.design_df
        return None if np.isinf(df) else f"{df:g} df"

    def joint_p_value(self, average: Average) -> float:
        """The p-value of the Wald test that averages (C, 1) are 0 together; NaN for
        more than the covariance can test at once.
        """
        chosen = self.results.own_covariance
        if len(average.values) > chosen.most_hypotheses:
            return float("nan")
        jacobian = average.jacobian[:, 0]
        test = wald_test(average.values[:, 0], self.covariance.quadratic(jacobian))
        return as_joint(*test, chosen.df).p_value


@dataclass(frozen=True, eq=False)
class PooledCovariance:
    """The covariance of the coordinates of `PooledAverager`.

    V_k / m for the parameters of fit k, and (1 + 1/m) / (m - 1) times the centring
    matrix for the values of the m fits.

    Attributes
    ----------
    parts : sequence of CovarianceOperator
        V_k, of the fits.
    """

    parts: Sequence[CovarianceOperator | PooledCovariance]

    @property
    def m(self) -> int:
        """Number of fits."""
        return len(self.parts)

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts) + self.m

    def split(self, L: FloatArray) -> list[FloatArray]:
        """The parts of (..., P) that belong to each fit, then those of the values."""
        return np.split(L, np.cumsum([part.size for part in self.parts]), axis=-1)

    def _centred(self, values: FloatArray) -> FloatArray:
        """Values (..., m) whose products are their covariances between fits."""
        factor = np.sqrt((1.0 + 1.0 / self.m) / (self.m - 1))
        return np.asarray(factor * (values - values.mean(axis=-1, keepdims=True)))

    def quadratic(self, L: FloatArray) -> FloatArray:
        *slopes, values = self.split(L)
        centred = self._centred(values)
        within = [
            part.quadratic(slope)
            for part, slope in zip(self.parts, slopes, strict=True)
        ]
        return np.asarray(np.mean(within, axis=0) + centred @ centred.T)

    def variances_of(self, L: FloatArray) -> FloatArray:
        *slopes, values = self.split(L)
        within = [
            part.variances_of(slope)
            for part, slope in zip(self.parts, slopes, strict=True)
        ]
        between = (self._centred(values) ** 2).sum(axis=-1)
        return np.asarray(np.mean(within, axis=0) + between)


class PooledAverager(Averager):
    """Averages over fits to imputed data, by Rubin's rules.

    The derivatives of a pooled average are those of every fit by its own parameters,
    side by side, followed by the values of the fits. Linear combinations of averages
    therefore combine the values of the fits too, and the `covariance` of these
    coordinates gives the variance U + (1 + 1/m) B.

    Attributes
    ----------
    parts : sequence of Averager
        Of the fits.
    df_complete : float
        Degrees of freedom that complete data would have.
    """

    covariance: PooledCovariance

    def __init__(self, parts: Sequence[Averager], df_complete: float) -> None:
        first = parts[0]
        self.parts = parts
        self.df_complete = df_complete
        self.results = first.results
        self.scale = first.scale
        self.asked = first.asked
        self.sign = first.sign
        self.predicted = first.predicted
        self.notes = first.notes
        self.covariance = PooledCovariance([part.covariance for part in parts])

    def pooled(self, averages: Sequence[Average]) -> Average:
        """The averages of the fits as one."""
        values = np.array([average.values for average in averages])
        jacobians = [average.jacobian for average in averages]
        known = np.all([average.has_error for average in averages], axis=0)
        by_fit = np.moveaxis(np.nan_to_num(values), 0, -1)
        return Average(
            values.mean(axis=0), np.concatenate([*jacobians, by_fit], axis=-1), known
        )

    def by_fit(
        self, jacobian: FloatArray
    ) -> tuple[FloatArray, FloatArray, float | FloatArray]:
        """(m, ...) values of the fits, their variances, and the degrees of freedom of
        complete data.
        """
        *slopes, values = self.covariance.split(jacobian)
        variances = [
            part.covariance.variances_of(slope)
            for slope, part in zip(slopes, self.parts, strict=True)
        ]
        complete: float | FloatArray = self.df_complete
        if all(part.shows_df for part in self.parts):  # CR2: at most Satterthwaite's
            each = [
                part.df(slope) for slope, part in zip(slopes, self.parts, strict=True)
            ]
            complete = np.minimum(complete, np.min(each, axis=0))
        return np.moveaxis(values, -1, 0), np.array(variances), complete

    def combined(self, jacobian: FloatArray) -> PooledValues:
        """Rubin's rules over the fits, for values with derivatives (..., F)."""
        return rubin(*self.by_fit(jacobian))

    def settled(self, average: Average) -> Average:
        return average

    def df(self, jacobian: FloatArray) -> FloatArray:
        return self.combined(jacobian).df

    def limits_between(
        self,
        low: float,
        high: float,
        average: Average,
        errors: FloatArray,
        level: float,
    ) -> tuple[FloatArray, FloatArray]:
        return bounded_limits(low, high, *self.by_fit(average.jacobian), level)

    def log_odds_test(
        self, average: Average, errors: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        values, variances, df_complete = self.by_fit(average.jacobian)
        pooled = rubin(*as_logits(0.0, 1.0, values, variances), df_complete)
        known = np.where(pooled.std_error > 0.0, pooled.std_error, np.nan)
        return pooled.estimate / known, pooled.df

    @property
    def shows_df(self) -> bool:
        return True

    @property
    def error_words(self) -> str:
        return (
            f"{super().error_words}, by Rubin's rules over {len(self.parts)}"
            " imputations"
        )

    @property
    def df_words(self) -> str:
        return "Barnard and Rubin's df"


def _named_scale(scale: Any) -> tuple[str, Any]:
    """The name of a scale, and the values of the response it is asked at, as in
    {"exceed": 4}; OptionError for other scales.
    """
    at = None
    if isinstance(scale, Mapping):
        names = list(scale)
        if len(names) != 1 or names[0] not in ("exceed", "quantile"):
            raise OptionError(
                "scale must be a name, {'exceed': value} or {'quantile': share}; got"
                f" {scale!r}."
            )
        at = scale[names[0]]
        scale = names[0]
    one_of("scale", scale, SCALES)
    return scale, at


def _quantiles(asked: Asked, average: Average) -> Average:
    """Quantiles of averaged distributions, from those of P(y <= k); without an error
    at the ends of the scale.
    """
    values, slopes = asked.quantile_slopes(average.values)
    jacobian = slopes @ np.nan_to_num(average.jacobian)
    moves = slopes.any(axis=2)
    known = average.has_error.any(axis=1, keepdims=True)
    return Average(values, jacobian, moves & known & ~np.isnan(values))


def warn_of_unknown() -> None:
    """Issue a DataWarning about missing standard errors."""
    warn(
        "some effects have no standard error: they depend on an infinite estimate, on a"
        " combination of levels that the data do not have, on a column that others"
        " determine, or on an unknown covariance, or are quantiles at the end of the"
        " scale.",
        DataWarning,
    )
