"""Margins, and bounds of expected errors from training margins."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import repeat
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import entr, ndtr, rel_entr

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..formula.sample import Sample
from .costs import is_convex, split_weights, v_break
from .geometry import BallGeometry, Geometry, HullGeometry


@dataclass(frozen=True, eq=False, kw_only=True)
class Margins:
    """Margins of some rows.

    Attributes
    ----------
    all : (N, K-1)
        rho_k of each row and threshold, in units of the score.
    y : (N,) codes 0..K-1
    norm : float
        `Geometry.total`, the joint norm of coefficients and thresholds; rho / norm is
        the normalised margin. NaN if the score has no norm.
    """

    all: FloatArray
    y: IntArray
    norm: float

    @property
    def left(self) -> FloatArray:
        """(N,) rho_{y-1}, the distance to the lower end of the interval of y; infinite
        for the lowest level.
        """
        return _column(self.all, self.y - 1, np.inf)

    @property
    def right(self) -> FloatArray:
        """(N,) rho_y, the distance to the upper end of the interval of y; infinite for
        the highest level.
        """
        return _column(self.all, self.y, np.inf)

    @property
    def normalised(self) -> FloatArray:
        """(N, K-1) rho_k / norm."""
        return self.all / self.unit

    @property
    def unit(self) -> float:
        """The divisor of normalised margins; 1 if all coefficients and thresholds are
        0.
        """
        return self.norm or 1.0


def margins(gaps: FloatArray, y: IntArray, geometry: Geometry | None = None) -> Margins:
    """Margins of rows with codes y (N,) from their gaps H - theta_k (N, K-1).

    Examples
    --------
    >>> m = margins(np.array([[2.0, 1.0, -1.0]]), np.array([2]))
    >>> m.all, m.left, m.right
    (array([[2., 1., 1.]]), array([1.]), array([1.]))
    """
    above = y[:, None] > np.arange(gaps.shape[1])
    norm = float("nan") if geometry is None else geometry.total
    return Margins(all=np.where(above, gaps, 0.0 - gaps), y=y, norm=norm)


def _column(table: AnyArray, threshold: IntArray, beyond: float) -> AnyArray:
    """(N,) the entry of each row (N, K-1) at one threshold; `beyond` outside."""
    inside = (threshold >= 0) & (threshold < table.shape[1])
    chosen = table[np.arange(table.shape[0]), np.clip(threshold, 0, table.shape[1] - 1)]
    return np.where(inside, chosen, beyond)


def delta_errors(
    rho: FloatArray, y: IntArray, weights: FloatArray, deltas: FloatArray
) -> pd.DataFrame:
    """Errors at margin Delta, for `deltas` (M,) >= 0 and margins rho (N, K-1) in the
    same units.

    Returns
    -------
    pandas.DataFrame
        Index Delta. Columns classification (E_C: share of rows with left or right
        margin <= Delta), boundary (E_B: mean share of the two ends with margin <=
        Delta; E_C / 2 <= E_B <= E_C) and absolute (E_A: mean number of thresholds with
        rho_k <= Delta).

    Notes
    -----
    At Delta = 0 ties H = theta_k are treated as in prediction (lower level). Then
    E_A(0) is the absolute error, and, if the thresholds are in order, E_C(0) is the
    classification error.
    """
    above = y[:, None] > np.arange(rho.shape[1])
    ends = (y == 0) | (y == rho.shape[1])
    errors = []
    for delta in deltas:
        within: BoolArray = (
            (rho <= delta) & (above | (rho < 0)) if delta == 0 else rho <= delta
        )
        left = _column(within, y - 1, False)
        right = _column(within, y, False)
        boundary = (left.astype(np.float64) + right) / np.where(ends, 1.0, 2.0)
        sums = (
            weights @ (left | right),
            weights @ boundary,
            weights @ np.count_nonzero(within, axis=1),
        )
        errors.append(np.array(sums) / weights.sum())
    columns = ["classification", "boundary", "absolute"]
    return pd.DataFrame(
        np.reshape(errors, (-1, 3)),
        index=pd.Index(deltas, name="Delta"),
        columns=columns,
    )


# Largest number of margins that are tried; the bound holds at all of them.
_MOST_DELTAS = 2000
#: What bounds lack in a survey; see `lacking`.
LACKING_IN_SURVEYS = "independent rows; these were drawn by a survey design"
_ROW_COSTS = (
    "The bound of the cost assumes that no row has larger costs than the training rows."
)
_VACUOUS = "No margin bound is below the largest possible error; see .bounds(cv=5)."


@dataclass(frozen=True, kw_only=True)
class Bound:
    """An upper bound of an expected error, from training margins or from unseen rows.

    Attributes
    ----------
    name : str
        The error.
    source : str
        Theorem, or kind of limit.
    value : float
        The bound, which holds with probability >= 1 - delta over the sample.
    delta : float
        Probability of failure.
    trivial : float
        Largest possible value of the error.
    margin : float
        Normalised margin at which the bound is smallest; NaN for unseen rows.
    training : float
        Training error at that margin; `value` adds complexity terms. For unseen rows,
        their mean error.
    """

    name: str
    source: str
    value: float
    delta: float
    trivial: float
    margin: float
    training: float

    @property
    def vacuous(self) -> bool:
        """Whether the bound is not below the trivial value."""
        return not self.value < self.trivial


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginBounds:
    """Bounds, or the reason for their absence.

    Attributes
    ----------
    bounds : tuple of Bound
    notes : tuple of str
        Reasons for missing bounds, and assumptions.
    """

    bounds: tuple[Bound, ...]
    notes: tuple[str, ...] = ()

    @property
    def informative(self) -> list[Bound]:
        """The bounds below their trivial values."""
        bounds = []
        for bound in self.bounds:
            if bound.value < bound.trivial:
                bounds.append(bound)
        return bounds


def lacking(sample: Sample) -> str:
    """What bounds need and the rows are not, for a message; empty if rows are
    independent.
    """
    if sample.cluster is not None:
        return "independent rows; these come in clusters"
    weights = sample.weights
    if weights is None or np.array_equal(weights, np.rint(weights)):
        return ""
    return "independent rows; these have weights that are not whole numbers of rows"


def no_margin_bounds(lacks: str) -> MarginBounds:
    """No bounds, for the reason that the rows lack something."""
    return MarginBounds(bounds=(), notes=(f"No margin bounds: they need {lacks}.",))


def margin_bounds(
    rows: Margins,
    geometry: Geometry,
    sample: Sample,
    costs: FloatArray | None = None,
    delta: float = 0.05,
) -> MarginBounds:
    """The papers' bounds of the expected classification and absolute error and of a
    cost, for a ball or a hull.

    - Classification: E_C, by the smaller of the left and right margin [Lin & Li 2006,
      cor. 1, without its factor 2].
    - Absolute: E_A, one binary bound per threshold at delta / (K-1) [Lin & Li 2006, th.
      1].
    - Cost: the expected excess c[rank(x)] - c[y], threshold k weighing |c[k+1] - c[k]|
      [Lin 2008, th. 4.8]. The largest differences come from the training rows. For
      costs of single rows, these are assumed to be the largest possible.

    Parameters
    ----------
    rows : Margins
        Margins of the training rows.
    geometry : Geometry
    sample : Sample
        Training rows.
    costs : (N, K), optional
        A cost; its expected excess over the cost of the true level is bounded.
    delta : float in (0, 1)
        Probability that a bound fails, for each bound.
    """
    weights = sample.case_weights
    lacks = lacking(sample)
    if lacks:
        return no_margin_bounds(lacks)
    if not np.isfinite(geometry.complexity(weights)):
        note = "No margin bounds: the class of these weak hypotheses has no known size."
        return MarginBounds(bounds=(), notes=(note,))
    errors = [_absolute_error(rows, geometry, weights)]
    notes = []
    ordered = bool(np.all(np.diff(geometry.theta) >= 0))
    if ordered:
        errors.insert(0, _classification_error(rows, geometry, weights))
    else:
        notes.append(
            "No bound of the classification error: the thresholds are not in order."
        )
    if costs is not None:
        v_shaped = ordered and v_break(costs, sample.y) is None
        if is_convex(costs) or v_shaped:
            errors.append(_cost_error(rows, geometry, weights, costs))
        else:
            notes.append(
                "No bound of the cost: it is not convex, nor V-shaped with ordered"
                " thresholds."
            )
        if sample.costs is not None:
            notes.append(_ROW_COSTS)
    n_rows = float(weights.sum())
    bounds = [error.smallest_bound(n_rows, geometry.radius, delta) for error in errors]
    return MarginBounds(bounds=tuple(bounds), notes=tuple(notes))


@dataclass(frozen=True, eq=False, kw_only=True)
class _MarginError:
    """A training error at a margin, and the terms of its bound.

    Attributes
    ----------
    name, source : str
    trivial : float
        Largest possible value of the error.
    rho, counted : (M,) margins and their weights in the training error
    factor : float
        Factor of the terms beside the training error.
    complexity : float
    n_bounds : int
        Number of binary bounds that share delta.
    """

    name: str
    source: str
    trivial: float
    rho: FloatArray
    counted: FloatArray
    factor: float
    complexity: float
    n_bounds: int

    def smallest_bound(self, n_rows: float, radius: float, delta: float) -> Bound:
        """The bound at its best margin in (0, radius]."""
        rho, mass = sorted_mass(self.rho, self.counted)
        # jumps of the training error
        steps = np.unique(rho[(rho > 0.0) & (rho <= radius)])
        if steps.size > _MOST_DELTAS:
            steps = steps[np.linspace(0, steps.size - 1, _MOST_DELTAS).astype(np.intp)]
        below = np.nextafter(steps, 0.0)
        margins = np.append(below[below > 0], radius)
        counts = np.append(0.0, mass)[np.searchsorted(rho, margins, side="right")]
        errors = counts / n_rows
        scan = np.sqrt(np.log(np.log2(2.0 * radius / margins)) / n_rows)
        chance = 3.0 * np.sqrt(np.log(4.0 * self.n_bounds / delta) / (2.0 * n_rows))
        terms = 4.0 / margins * self.complexity + scan + chance
        values = errors + self.factor * terms
        best = int(np.argmin(values))
        return Bound(
            name=self.name,
            source=self.source,
            value=float(values[best]),
            delta=delta,
            trivial=self.trivial,
            margin=float(margins[best]),
            training=float(errors[best]),
        )


def _classification_error(
    rows: Margins, geometry: Geometry, weights: FloatArray
) -> _MarginError:
    """By the smaller of the left and right margin."""
    rho = rows.normalised
    cuts = rho.shape[1]
    left = geometry.complexity(weights, rows.y > 0)
    right = geometry.complexity(weights, rows.y < cuts)
    return _MarginError(
        name="classification error",
        source="Lin & Li 2006, cor. 1",
        trivial=1.0,
        rho=np.where(_own_ends(rows.y, cuts), rho, np.inf).min(axis=1),
        counted=weights,
        factor=1.0,
        complexity=left + right,
        n_bounds=1,
    )


def _absolute_error(
    rows: Margins, geometry: Geometry, weights: FloatArray
) -> _MarginError:
    """By all margins."""
    rho = rows.normalised
    cuts = rho.shape[1]
    return _MarginError(
        name="absolute error",
        source="Lin & Li 2006, th. 1",
        trivial=float(cuts),
        rho=rho.ravel(),
        counted=np.repeat(weights, cuts),
        factor=float(cuts),
        complexity=geometry.complexity(weights),
        n_bounds=cuts,
    )


def _cost_error(
    rows: Margins, geometry: Geometry, weights: FloatArray, costs: FloatArray
) -> _MarginError:
    """The excess of costs (N, K), by all margins."""
    rho = rows.normalised
    steps = split_weights(costs)
    excess = costs - costs[np.arange(rows.y.size), rows.y][:, None]
    return _MarginError(
        name="cost",
        source="Lin 2008, th. 4.8",
        trivial=float(excess.max()),
        rho=rho.ravel(),
        counted=(weights[:, None] * steps).ravel(),
        factor=float(steps.max(axis=0).sum()),
        complexity=geometry.complexity(weights),
        n_bounds=rho.shape[1],
    )


def _own_ends(y: IntArray, cuts: int) -> BoolArray:
    """(N, K-1) whether a threshold is an end of the interval of y."""
    threshold = np.arange(cuts)
    return np.asarray((threshold == y[:, None]) | (threshold == y[:, None] - 1))


def sorted_mass(
    values: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sorted values, and their cumulative weights."""
    if np.all(weights == 1.0):
        return np.sort(values), np.arange(1.0, values.size + 1.0)
    order = np.argsort(values)
    return values[order], np.cumsum(weights[order])


# Largest number of Newton steps; usually about seven are needed.
_NEWTON_STEPS = 60


def kl(q: FloatArray, p: FloatArray) -> FloatArray:
    """kl(q || p) for q and p in [0, 1] (broadcast); infinite if p is 0 or 1 and q is
    not.
    """
    divergence: FloatArray = rel_entr(q, p) + rel_entr(
        1.0 - np.asarray(q), 1.0 - np.asarray(p)
    )
    return divergence


def kl_inverse(q: FloatArray, budget: FloatArray) -> FloatArray:
    """The largest p in [q, 1] with kl(q || p) <= budget, rounded up.

    Parameters
    ----------
    q : array of numbers in [0, 1]
    budget : array of numbers >= 0, of a shape that goes with q's

    Examples
    --------
    >>> bound = kl_inverse(np.array(0.0), np.array(np.log(2.0)))  # 1 - exp(-budget)
    >>> float(bound.round(6))
    0.5
    """
    q, budget = np.broadcast_arrays(
        np.asarray(q, dtype=np.float64), np.asarray(budget, dtype=np.float64)
    )
    # Start above the solution, by kl >= 2 (p - q)^2 or kl >= -(1 - q) log(1 - p) -
    # H(q).
    rest = 1.0 - q
    far = -np.expm1(-(budget + entr(q) + entr(rest)) / np.where(rest > 0.0, rest, 1.0))
    p = np.clip(np.minimum(q + np.sqrt(0.5 * budget), far), q, 1.0)
    for _ in range(_NEWTON_STEPS):  # kl is convex in p, so Newton's method stays above
        above = kl(q, p) - budget
        going = (above > 0.0) & (p > q) & (p < 1.0)
        step = np.where(going, above, 0.0) * p * (1.0 - p) / np.where(going, p - q, 1.0)
        if not np.any(step > np.spacing(p)):
            break
        p = np.maximum(p - step, q)
    ulps = np.spacing(p)
    while np.any(low := (kl(q, p) <= budget) & (p < 1.0)):
        p = np.where(low, np.minimum(p + ulps, 1.0), p)
        ulps = 2.0 * ulps
    return p


#: Margins g to try; they share delta.
MARGINS: FloatArray = np.arange(-0.5, 2.01, 0.25)
# Numbers of sizes |s w| to try, in two sweeps, and of bins of m.
_SIZES = 24
_BINS = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparisons:
    """An error as a weighted sum of wrong answers to "above threshold k?".

    Attributes
    ----------
    name : str
        The error.
    rho : (N, K-1)
        Margins to all thresholds, in units of the score.
    shares : (N, K-1)
        Contribution of a wrong answer to the mean loss, which is in [0, 1].
    largest : float
        Largest loss of a row, B.
    n : float
        Number of rows, M.
    """

    name: str
    rho: FloatArray
    shares: FloatArray
    largest: float
    n: float


def comparisons(
    name: str, rows: Margins, sample: Sample, costs: FloatArray | None = None
) -> Comparisons:
    """An error as a weighted sum of wrong answers.

    Parameters
    ----------
    name : {"classification error", "absolute error", "cost"}
    rows : Margins
    sample : Sample
    costs : (N, K), optional
        Costs, for the error "cost".
    """
    if name == "cost" and costs is not None:
        weights = split_weights(costs)
    elif name == "classification error":
        weights = _own_ends(sample.y, rows.all.shape[1]).astype(np.float64)
    else:
        weights = np.ones(rows.all.shape)
    largest = float(weights.sum(axis=1).max())
    n = float(sample.case_weights.sum())
    shares = weights * (sample.case_weights / (largest * n))[:, None]
    return Comparisons(name=name, rho=rows.all, shares=shares, largest=largest, n=n)


def pac_bayes_bound(
    counted: Comparisons, geometry: BallGeometry, delta: float
) -> Bound:
    """The PAC-Bayes bound at its best g, s and origin [Langford & Shawe-Taylor 2002].

    Parameters
    ----------
    counted : Comparisons
    geometry : BallGeometry
        Geometry of the training rows, with origins chosen before the data were seen.
    delta : float in (0, 1)
        Probability that the bound fails.
    """
    origins = (geometry, *geometry.moved)
    return min(
        map(_from_origin, repeat(counted), origins, repeat(delta)),
        key=attrgetter("value"),
    )


def _from_origin(counted: Comparisons, geometry: BallGeometry, delta: float) -> Bound:
    """The bound kl^-1(q | ...) / Phi(g) for one origin, at its best |s w| and g."""
    unit = np.sqrt(geometry.squared_lengths + 1.0) * (geometry.total or 1.0)
    m = counted.rho / unit[:, None]
    bins = np.clip(((m.ravel() + 1.0) * (_BINS / 2.0)).astype(np.intp), 0, _BINS - 1)
    share = np.bincount(bins, counted.shares.ravel(), _BINS)
    inside = share > 0
    centre = (
        np.bincount(bins, (counted.shares * m).ravel(), _BINS)[inside] / share[inside]
    )
    nats = geometry.price + np.log(2.0 * np.sqrt(counted.n) * MARGINS.size / delta)

    def bound_at(error: Any, size: Any, g: Any) -> FloatArray:
        budget = (0.5 * size**2 + nats) / counted.n
        return np.asarray(kl_inverse(np.minimum(error, 1.0), budget) / ndtr(g))

    sizes = np.geomspace(0.1, np.sqrt(2.0 * counted.n) + 1.0, _SIZES)
    for _ in range(2):
        wrong = ndtr(MARGINS[:, None] - (sizes[:, None] * centre)[:, None, :])
        values = bound_at(wrong @ share[inside], sizes[:, None], MARGINS)
        i, j = divmod(int(np.argmin(values)), MARGINS.size)
        size = sizes[i]
        g = MARGINS[j]
        low = sizes[max(i - 1, 0)]
        high = sizes[min(i + 1, _SIZES - 1)]
        sizes = np.geomspace(low, high, _SIZES)
    exact = np.vdot(counted.shares, ndtr(g - size * m))
    largest = counted.largest
    return Bound(
        name=counted.name,
        source="PAC-Bayes, Langford & Shawe-Taylor 2002",
        value=largest * float(bound_at(exact, size, g)),
        delta=delta,
        trivial=largest,
        margin=float(g / size),
        training=largest * float(exact),
    )


#: Numbers of voters n, and margins g in units of 1 / sqrt(n), to try; all pairs share
#: delta.
VOTERS: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256)
VOTE_MARGINS: FloatArray = np.array([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])
# Margins are rounded down to this number of values, which keeps the bound valid.
_VOTE_BINS = 100
# Number of rows that determine a stump.
_ROWS = 2
# Rounding error of the transform, added to probabilities.
_TRANSFORM_ROUNDING = 1e-12


def vote_bound(
    counted: Comparisons, geometry: HullGeometry, delta: float
) -> Bound | None:
    """The bound at its best n and g; None if there are too few rows.

    Parameters
    ----------
    counted : Comparisons
    geometry : HullGeometry
        Geometry with the divergence of the vote.
    delta : float in (0, 1)
        Chance that the bound fails.
    """
    total = geometry.total or 1.0
    shares = counted.shares
    q = np.zeros((len(VOTERS), VOTE_MARGINS.size))
    least = np.ones((len(VOTERS), VOTE_MARGINS.size))
    for k, active in enumerate((geometry.norm + np.abs(geometry.theta)) / total):
        below = chances_below(min(float(active), 1.0))
        # Margins are rounded down to values from -active to active.
        bins = (counted.rho[:, k] / total + active) * (
            _VOTE_BINS / (2.0 * active or 1.0)
        )
        bins = np.clip(np.floor(bins - _TRANSFORM_ROUNDING), 0, _VOTE_BINS).astype(
            np.intp
        )
        q += np.bincount(bins, shares[:, k], _VOTE_BINS + 1) @ below
        least = np.minimum(least, below[:, _VOTE_BINS // 2] - 2.0 * _TRANSFORM_ROUNDING)
    n = np.array(VOTERS, dtype=np.float64)[:, None]
    rows = counted.n - _ROWS * n
    if rows[0] < 1:
        return None
    left = np.maximum(rows, 1.0)
    nats = n * geometry.nats + np.log(2.0 * np.sqrt(left) * q.size / delta)
    values = kl_inverse(np.minimum(q * counted.n / left, 1.0), nats / left) / least
    i, j = np.unravel_index(np.argmin(np.where(rows < 1, np.inf, values)), values.shape)
    largest = counted.largest
    return Bound(
        name=counted.name,
        source="PAC-Bayes votes, Langford et al. 2001",
        value=largest * float(values[i, j]),
        delta=delta,
        trivial=largest,
        margin=float(VOTE_MARGINS[j] / np.sqrt(VOTERS[i])),
        training=largest * float(q[i, j]),
    )


@lru_cache(maxsize=64)
def chances_below(active: float) -> FloatArray:
    """Probability that the mean of n draws of -1, 0 and 1 is g or less.

    Parameters
    ----------
    active : float in [0, 1]
        Probability that a draw is not 0.

    Returns
    -------
    (number of n, B + 1, number of g), for `VOTERS`, B + 1 means of a draw from -active
    to active, and `VOTE_MARGINS`.

    Examples
    --------
    >>> # two fair coins, +1 or -1, have a mean of 0 or less
    >>> float(chances_below(1.0)[1, 50, 0].round(6))
    0.75
    """
    most = VOTERS[-1]
    mean = np.linspace(-active, active, _VOTE_BINS + 1)[:, None]
    turn = np.exp(2j * np.pi * np.arange(most + 1) / (2 * most + 1))
    # Characteristic function of one draw (conjugate); that of 2 n draws is the square
    # of that of n.
    transform = (
        (1.0 - active) + 0.5 * (active + mean) / turn + 0.5 * (active - mean) * turn
    )
    below = np.empty((len(VOTERS), _VOTE_BINS + 1, VOTE_MARGINS.size))
    for i, n in enumerate(VOTERS):
        # of -most, ..., most
        sums = np.fft.fftshift(np.fft.irfft(transform, 2 * most + 1, axis=1), axes=1)
        below[i] = np.cumsum(sums, axis=1)[
            :,
            most
            + np.floor(np.sqrt(n) * VOTE_MARGINS + _TRANSFORM_ROUNDING).astype(np.intp),
        ]
        transform = transform * transform
    chances: FloatArray = np.clip(below + _TRANSFORM_ROUNDING, 0.0, 1.0)
    return chances


def training_bounds(
    rows: Margins,
    geometry: Geometry,
    sample: Sample,
    costs: FloatArray | None = None,
    delta: float = 0.05,
) -> MarginBounds:
    """Bounds of the classification error, absolute error and a cost: the smaller of two
    bounds, each at delta / 2.

    These are the bound of the papers (`margin_bounds`) and the PAC-Bayes bound. Only
    the first, at delta, exists for infinite thresholds and for weak learners other than
    stumps.

    Parameters
    ----------
    rows, geometry, sample, costs, delta
        As in `margin_bounds`.
    """
    known = isinstance(geometry, BallGeometry) or (
        isinstance(geometry, HullGeometry) and np.isfinite(geometry.nats)
    )
    has_other = known and np.isfinite(geometry.total)
    each = delta / 2.0 if has_other else delta
    result = margin_bounds(rows, geometry, sample, costs, each)
    bounds = []
    for bound in result.bounds:
        smaller = bound
        other = None
        counted = comparisons(bound.name, rows, sample, costs)
        if has_other and isinstance(geometry, BallGeometry):
            other = pac_bayes_bound(counted, geometry, each)
        elif has_other and isinstance(geometry, HullGeometry):
            other = vote_bound(counted, geometry, each)
        if other is not None and other.value < bound.value:
            smaller = other
        bounds.append(replace(smaller, delta=delta, trivial=bound.trivial))
    bounded = MarginBounds(bounds=tuple(bounds), notes=result.notes)
    if bounds and not bounded.informative:
        bounded = replace(bounded, notes=(*result.notes, _VACUOUS))
    return bounded


# Smaller differences of scores, as a share of the largest, are rounding.
_ROUNDING = 1e-9
# Largest number of rows in pairs.
_MOST = 1e7


def preference_bounds(
    scores: FloatArray, geometry: BallGeometry, sample: Sample, delta: float = 0.05
) -> MarginBounds:
    """The bound of theorem 7.2 [Herbrich et al. 2000] on disjoint pairs of rows, or
    which of its conditions fails.

    The paper prints it for neighbouring pairs. These share a row, so they are not
    independent as the proof needs.

    Parameters
    ----------
    scores : (N,) scores of the training rows
    geometry : BallGeometry
    sample : Sample
    delta : float in (0, 1)
        Probability that the bound fails.
    """

    def refused(reason: str) -> MarginBounds:
        return MarginBounds(bounds=(), notes=(f"No bound of R_pref: {reason}.",))

    lacks = lacking(sample)
    if lacks:
        return refused(f"it needs {lacks}")
    if sample.case_weights.sum() > _MOST:
        return refused(
            f"the weights stand for {sample.case_weights.sum():,.0f} rows, and at most"
            f" {_MOST:,.0f} are paired"
        )
    repeats = sample.case_weights.astype(np.intp)
    index = np.repeat(np.arange(sample.n), repeats)
    first, second = index[: index.size - index.size % 2].reshape(-1, 2).T
    sign = np.sign(sample.y[first] - sample.y[second])
    margins = (sign * (scores[first] - scores[second]))[sign != 0]
    bound = _preference_bound(margins, geometry, delta)
    if isinstance(bound, Bound):
        return MarginBounds(bounds=(bound,))
    return refused(bound)


def _preference_bound(
    margins: FloatArray, geometry: BallGeometry, delta: float
) -> Bound | str:
    """The bound from margins (n,) of pairs of different rank, or the condition that
    fails.
    """
    n = margins.size
    if n == 0:
        return "no such pair has different ranks"
    wrong = int(np.count_nonzero(margins <= _ROUNDING * np.abs(margins).max()))
    if wrong:
        return f"th. 7.2 needs every pair in order, and {wrong} of {n} are not"
    length = np.sqrt(max(geometry.radius**2 - 1.0, 0.0))
    k = max(float((16.0 * length * geometry.norm / margins.min()) ** 2), 1.0)
    if k > math.e * n:
        return (
            f"th. 7.2 needs a dimension k <= e n, and (16 r |v| / rho)^2 is {k:.3g} for"
            f" n = {n} pairs"
        )
    terms = k * np.log2(8.0 * math.e * n / k) * np.log2(32.0 * n)
    return Bound(
        name="R_pref, disjoint pairs",
        source="Herbrich et al. 2000, th. 7.2",
        value=float(2.0 / n * (terms + np.log2(8.0 * n / delta))),
        delta=delta,
        trivial=1.0,
        margin=float(margins.min() / geometry.norm),
        training=0.0,
    )
