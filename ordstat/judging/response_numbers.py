"""Means, quantiles and exceedance probabilities of a response, in the numbers of its
labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import flag, fraction, shown_labels
from ..exceptions import OptionError

if TYPE_CHECKING:
    from ..formula.design import Levels

#: Types of predictions that are made from the probabilities of all levels.
OF_DISTRIBUTIONS = ("mean", "mean_class", "quantile", "exceed")
#: Cumulative probabilities that fall short of a share by less are equal to it.
ROUNDING = 1e-12
#: Interpolation needs two thresholds or more.
_FEWEST_LEVELS = 3
_MEDIAN = 0.5
#: Levels within a standard error from which the distance of two of them is chance.
_MANY_WITHIN = 8


@dataclass(frozen=True, eq=False)
class Asked:
    """A requested summary of the predicted distributions over the levels.

    Attributes
    ----------
    type : str
        One of `OF_DISTRIBUTIONS`.
    levels : Levels
    numbers : (K,)
        Numbers of the levels: their labels, or the ranks 1..K.
    at : tuple
        Probabilities of quantiles, or values that responses exceed; empty for means.
    single : bool
        Whether each row has one number, without a label.
    places : (M,) or None
        For "exceed": the lowest level, 0..K, at or above each value.
    interpolate : bool
        Whether quantiles lie between levels.
    """

    type: str
    levels: Levels
    numbers: FloatArray
    at: tuple[Any, ...] = ()
    single: bool = True
    places: IntArray | None = None
    interpolate: bool = False

    @classmethod
    def of(
        cls, levels: Levels, type: str, at: Any = None, interpolate: Any = False
    ) -> Self | None:
        """The summary that `predict(type=, at=, interpolate=)` requests; None for other
        types.

        Raises
        ------
        OptionError
            `at` or `interpolate` does not suit the type or the labels.
        """
        flag("interpolate", interpolate)
        if at is not None and type not in ("quantile", "exceed"):
            raise OptionError(
                f"at goes with type='quantile' or 'exceed'; got type={type!r}."
            )
        if interpolate and type != "quantile":
            raise OptionError(
                f"interpolate goes with type='quantile'; got type={type!r}."
            )
        if type not in OF_DISTRIBUTIONS:
            return None
        ranks = np.arange(1.0, len(levels.values) + 1.0)
        numbers = levels.numbers
        if type == "mean_class" or numbers is None:
            numbers = ranks
        if type in ("mean", "mean_class"):
            return cls(type, levels, numbers)
        if type == "exceed" and at is None:
            places = np.arange(1, len(levels.values))  # all are at least the lowest
            return cls(type, levels, numbers, levels.values[1:], False, places)
        single = at is None or isinstance(at, str) or np.ndim(at) == 0
        values = _listed(at, _MEDIAN if type == "quantile" else None)
        if type == "exceed":
            places = np.array([_place(levels, value) for value in values])
            return cls(type, levels, numbers, values, single, places)
        for share in values:
            fraction("at", share)
        if interpolate:
            _check_interpolation(levels)
        return cls(type, levels, numbers, values, single, None, bool(interpolate))

    @property
    def labels(self) -> list[Any] | None:
        """Labels of the columns; None for one number without a label."""
        return None if self.single else list(self.at)

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        if self.type == "exceed":
            return 0.0, 1.0
        return float(self.numbers[0]), float(self.numbers[-1])

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the meaning of the numbers, for tables and plots."""
        if self.type == "exceed":
            if self.single:
                return (f"P(response >= {self.at[0]}).",)
            return ("P(response >= value), a column for each value.",)
        if self.type == "quantile":
            how = "the lowest level with P(response <= level) >= share"
            if self.interpolate:
                how = "interpolated between levels"
            return (f"Quantiles: {how}.",)
        return (f"Means: {self.words}.", *self.restrictions)

    @property
    def restrictions(self) -> tuple[str, ...]:
        """Notes on interpolation, and on censored answers beyond the scale, which a
        mean cannot include.
        """
        if self.interpolate:
            return ("Quantiles of averaged probabilities, between labels.",)
        open_ends = self.levels.open_ends or (False, False)
        if self.type != "mean" or self.levels.numbers is None or not any(open_ends):
            return ()
        names = [
            repr(self.levels.values[end])
            for end, is_open in zip((0, -1), open_ends, strict=True)
            if is_open
        ]
        return (
            f"Answers in {' and '.join(names)} count as the end of the scale: a"
            " restricted mean.",
        )

    @property
    def words(self) -> str:
        """Description of the quantity."""
        only = self.at[0] if self.single and self.at else None
        if self.type == "exceed":
            return f"P(response >= {'value' if only is None else only})"
        if self.type == "quantile":
            if only is None:
                return "quantiles of the response"
            if only == _MEDIAN:
                return "the median response"
            return f"the {only:g} quantile of the response"
        if self.type == "mean_class":
            return "the expected rank"
        first, last = self.numbers[[0, -1]]
        if self.levels.numbers is None:
            return (
                f"the expected rank (1 to {last:g}, as the labels are not numbers in"
                " rising order)"
            )
        return f"the expected response (labels {first:g} to {last:g})"

    def values(self, below: FloatArray) -> FloatArray:
        """(n, M) means or exceedance probabilities, from (n, K-1) P(y <= k)."""
        if self.places is not None:
            return 1.0 - self.beneath(below)
        means = self.numbers[-1] - below @ np.diff(self.numbers)
        return np.asarray(means[:, None])

    def beneath(self, below: FloatArray) -> FloatArray:
        """(n, M) P(y < level at a place), from (n, K-1) P(y <= k)."""
        padded = np.pad(below, ((0, 0), (1, 1)), constant_values=(0.0, 1.0))
        return padded[:, self.places]

    def quantiles(
        self,
        below: FloatArray,
        lower: FloatArray | None = None,
        upper: FloatArray | None = None,
    ) -> list[FloatArray]:
        """(n, M) quantiles, as codes or (if interpolated) numbers; with limits of P(y
        <= k) also their limits. NaN where a probability is.

        The limits of a quantile are where the limits of P(y <= k) reach its
        probability; the outermost such values, if there are several.
        """
        shares = np.array(self.at, dtype=np.float64)
        reached: Callable[[FloatArray, FloatArray], FloatArray] = _reached
        if self.interpolate:
            reached = partial(self._between, self._knots(below))
        out = [reached(_rising(below), shares)]
        if lower is not None and upper is not None:
            falling = np.minimum.accumulate(lower[:, ::-1], axis=1)[:, ::-1]
            out.append(reached(_rising(upper), shares))
            out.append(reached(falling, shares))
        return out

    def quantile_slopes(self, below: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n, M) interpolated quantiles, and (n, M, K-1) their derivatives with respect
        to P(y <= k), which are 0 at the ends of the scale. NaN in an open end.
        """
        (values,) = self.quantiles(below)
        values = np.where(np.isfinite(values), values, np.nan)
        slopes = np.zeros((*values.shape, below.shape[1]))
        steps = np.diff(self.numbers)
        for row, F in enumerate(_rising(below)):
            knots = self._knots(F[None])[0]
            between = F[-1] - F[0]
            for column, beside in enumerate(self._beside(F)):
                if not beside.any():
                    continue
                high = int(np.flatnonzero(self.at[column] <= F)[0])
                ends = slice(high - 1, high + 1)
                rise = np.diff(knots[ends]) / np.diff(F[ends])
                by_knots = beside * steps / between
                ratio = (F - F[0]) / between
                slope = by_knots - rise * beside
                slope[0] -= (by_knots * (1.0 - ratio)).sum()
                slope[-1] -= (by_knots * ratio).sum()
                slopes[row, column] = slope
        return values, slopes

    def _beside(self, F: FloatArray) -> FloatArray:
        """(M, K-1) shares of the thresholds beside each quantile, by which it lies
        between them; 0 at the ends of the scale and where F (K-1,) has a NaN.
        """
        shares = np.zeros((len(self.at), F.size))
        for row, share in enumerate(self.at):
            high = int(np.count_nonzero(share > F))
            if 0 < high < F.size and not np.isnan(F).any():
                along = (share - F[high - 1]) / (F[high] - F[high - 1])
                shares[row, high - 1 : high + 1] = 1.0 - along, along
        return shares

    def smoothed_slopes(
        self,
        below: FloatArray,
        slopes: FloatArray,
        errors_of: Callable[[FloatArray], FloatArray],
    ) -> FloatArray:
        """(M, K-1) `quantile_slopes` of one distribution (K-1,), over a standard error
        of P(y <= quantile) to both sides where many levels lie there.

        With many levels the slope between two neighbours is noise; over a standard
        error it gives the confidence limits of Woodruff (1952, JASA 47).

        Parameters
        ----------
        below, slopes : (K-1,), (M, K-1)
        errors_of : callable
            From factors (M, K-1) of P(y <= k) to standard errors (M,) of the sums.
        """
        F = _rising(below[None])[0]
        knots = self._knots(F[None])[0]
        beside = self._beside(F)
        out = slopes.copy()
        for row, (share, error) in enumerate(
            zip(self.at, errors_of(beside), strict=True)
        ):
            inside = np.count_nonzero(np.abs(F - share) < error)
            if inside < _MANY_WITHIN:
                continue
            ends = np.clip([share - error, share + error], F[0], F[-1])
            low, high = np.interp(ends, F, knots)
            out[row] = -(high - low) / (ends[1] - ends[0]) * beside[row]
        return out

    def _knots(self, below: FloatArray) -> FloatArray:
        """(n, K-1) the quantiles at P(y <= k): from the lowest number at the first
        threshold to the highest at the last, between the numbers of the two levels at
        others [R: rms, Quantile.orm].
        """
        first = below[:, :1]
        with np.errstate(invalid="ignore"):
            share = (below - first) / (below[:, -1:] - first)
        share = np.nan_to_num(share)
        # also where all P(y <= k) are the same, of a row that is certain
        share[:, -1] = 1.0
        return self.numbers[:-1] + share * np.diff(self.numbers)

    def _between(
        self, knots: FloatArray, below: FloatArray, shares: FloatArray
    ) -> FloatArray:
        """(n, M) the numbers between knots (n, K-1) at which P(y <= k) reaches the
        shares; infinite where it does so in an open end, NaN for rows with a NaN.
        """
        low, high = self.levels.open_ends or (False, False)
        ends = {"left": -np.inf if low else None, "right": np.inf if high else None}
        out = np.full((len(below), shares.size), np.nan)
        for row in np.flatnonzero(~np.isnan(below).any(axis=1)):
            out[row] = np.interp(shares, below[row], knots[row], **ends)
        return out

    def answer(self, index: pd.Index, below: FloatArray) -> pd.Series | pd.DataFrame:
        """The requested summary of rows with an index, from (N, K-1) P(y <= k)."""
        if self.type == "quantile":
            (quantiles,) = self.quantiles(below)
            return self.frame(index, {"estimate": quantiles})
        values = self.values(below)
        if self.single:
            return pd.Series(values[:, 0], index=index, name=self.type)
        return pd.DataFrame(values, index=index, columns=list(self.at))

    def frame(
        self, index: pd.Index, tables: dict[str, FloatArray]
    ) -> pd.Series | pd.DataFrame:
        """Quantiles (N, M) of rows with an index, or quantiles with limits, by name of
        the statistic.
        """
        columns: dict[Any, pd.Series] = {}
        for statistic, values in tables.items():
            for column, label in zip(values.T, self.at, strict=True):
                name = statistic if self.single else (statistic, label)
                columns[name] = self._series(column, index)
        if list(tables) != ["estimate"]:
            frame = pd.DataFrame(columns)
            if not self.single:
                frame.columns.names = ["statistic", None]
            return frame
        if self.single:
            return columns["estimate"].rename(self.type)
        return pd.DataFrame({label: column for (_, label), column in columns.items()})

    def _series(self, values: FloatArray, index: pd.Index) -> pd.Series:
        """One column (N,) of quantiles: numbers, where an open end is infinite, or
        levels whose labels are not numbers.
        """
        if self.interpolate:
            return pd.Series(values, index=index)
        known = np.isfinite(values)
        codes = np.where(known, values, -1.0).astype(np.intp)
        if self.levels.numbers is None:
            return self.levels.categorical(codes, index)
        numbers = self.numbers.copy()
        below, above = self.levels.open_ends or (False, False)
        if below:
            numbers[0] = -np.inf
        if above:
            numbers[-1] = np.inf
        return pd.Series(np.where(known, numbers[codes], np.nan), index=index)


def at_places(by_threshold: BoolArray, places: IntArray) -> BoolArray:
    """(n, M) flags of P(y >= level) at some levels, 0..K, from flags at the K-1
    thresholds; False where the probability is 1 or 0.
    """
    return np.pad(by_threshold, ((0, 0), (1, 1)))[:, places]


def _listed(at: Any, default: Any) -> tuple[Any, ...]:
    """The values of `at`, of which there are some."""
    if at is None:
        return (default,)
    if isinstance(at, str) or np.ndim(at) == 0:
        return (at,)
    values = tuple(at)
    if not values:
        raise OptionError("at must have a value; it is empty.")
    if len(set(values)) < len(values):
        raise OptionError(f"at must have every value once; got {at!r}.")
    return values


def _place(levels: Levels, value: Any) -> int:
    """The number of levels below a value: a label, or a number among labels that are
    numbers.
    """
    for place, label in enumerate(levels.values):
        if isinstance(value, type(label)) and value == label:
            return place
    is_number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if levels.numbers is None or not is_number or not np.isfinite(float(value)):
        others = "" if levels.numbers is None else ", or a finite number"
        raise OptionError(
            f"at must be one of the levels {shown_labels(levels.values)}{others}; got"
            f" {value!r}."
        )
    number = float(value)
    below, above = levels.open_ends or (False, False)
    inner = levels.numbers[int(below) : len(levels.values) - int(above)]
    if (below and number < inner[0]) or (above and number > inner[-1]):
        raise OptionError(
            f"at must be from {inner[0]:g} to {inner[-1]:g}, as answers beyond are not"
            f" known more exactly; got {value!r}."
        )
    return int(below) + int(np.searchsorted(inner, number))


def _check_interpolation(levels: Levels) -> None:
    """OptionError for levels between which there are no numbers."""
    if levels.numbers is None:
        raise OptionError(
            "Quantiles between levels need labels that are numbers in rising order; got"
            f" {shown_labels(levels.values)}. Use predict(type='quantile')."
        )
    if len(levels.values) < _FEWEST_LEVELS:
        raise OptionError(
            f"interpolate needs {_FEWEST_LEVELS} levels or more; the response has"
            f" {len(levels.values)}."
        )


def _rising(below: FloatArray) -> FloatArray:
    """Cumulative probabilities without falls, which crossing thresholds make."""
    return np.maximum.accumulate(below, axis=1)


def _reached(below: FloatArray, shares: FloatArray) -> FloatArray:
    """(n, M) the codes of the lowest levels k with P(y <= k) >= share; NaN for rows
    with a NaN.
    """
    short = below[:, :, None] < shares - ROUNDING
    missing = np.isnan(below).any(axis=1, keepdims=True)
    return np.where(missing, np.nan, short.sum(axis=1))
