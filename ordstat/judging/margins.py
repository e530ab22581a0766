"""Margins, and bounds from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..fit import BallGeometry, Geometry
from ..formula.sample import Sample
from .costs import is_convex, is_v_shaped, split_weights


@dataclass(frozen=True, eq=False, kw_only=True)
class Margins:
    """Margins of some rows.

    Attributes
    ----------
    all : (N, K-1)
        rho_k of every row to every threshold, in units of the potential.
    y : (N,) codes 0..K-1
    norm : float
        `Geometry.total`, the size of the potential's coefficients and the thresholds together; rho / norm is the
        normalised margin. NaN where the potential has no norm.
    """

    all: FloatArray
    y: IntArray
    norm: float

    @property
    def left(self) -> FloatArray:
        """(N,) rho_{y-1}, the distance to the lower end of the row's own interval; infinite for the lowest rank."""
        return _column(self.all, self.y - 1, np.inf)

    @property
    def right(self) -> FloatArray:
        """(N,) rho_y, the distance to the upper end of the row's own interval; infinite for the highest rank."""
        return _column(self.all, self.y, np.inf)

    @property
    def normalised(self) -> FloatArray:
        """(N, K-1) rho_k / norm."""
        return self.all / self.unit

    @property
    def unit(self) -> float:
        """What a normalised margin is divided by; coefficients and thresholds that are all 0 leave margins of 0."""
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
    """(N,) the entry of each row (N, K-1) at one threshold; what stands beyond the ends."""
    inside = (threshold >= 0) & (threshold < table.shape[1])
    chosen = table[np.arange(table.shape[0]), np.clip(threshold, 0, table.shape[1] - 1)]
    return np.where(inside, chosen, beyond)


@dataclass(frozen=True, eq=False)
class DeltaErrors:
    """Errors at margin Delta, as shares of the rows (classification, boundary) and mean counts (absolute).

    Attributes
    ----------
    deltas : (M,) in the units of the margins they were counted with
    classification : (M,)
        E_C: share of rows whose left or right margin is <= Delta.
    boundary : (M,)
        E_B: mean of the two; of the only one at the end ranks. E_C / 2 <= E_B <= E_C.
    absolute : (M,)
        E_A: mean number of thresholds k with rho_k <= Delta.
    """

    deltas: FloatArray
    classification: FloatArray
    boundary: FloatArray
    absolute: FloatArray


def delta_errors(rho: FloatArray, y: IntArray, weights: FloatArray, deltas: FloatArray) -> DeltaErrors:
    """E_C, E_B and E_A at each of `deltas` (M,) >= 0, of margins rho (N, K-1) in the same units.

    At Delta = 0 a tie H = theta_k is judged as the rule judges it (the lower rank), so that E_A(0) is the absolute
    error of the threshold rule exactly, and E_C(0) its classification error where the thresholds are in order.
    """
    counts = np.array([_at(rho, y, weights, float(delta)) for delta in deltas]).reshape(-1, 3)
    return DeltaErrors(np.asarray(deltas, dtype=np.float64), *counts.T)


def _at(rho: FloatArray, y: IntArray, weights: FloatArray, delta: float) -> FloatArray:
    within = _within(rho, y, delta)
    left, right = _column(within, y - 1, False), _column(within, y, False)
    ends = (y == 0) | (y == rho.shape[1])
    boundary = (left.astype(np.float64) + right) / np.where(ends, 1.0, 2.0)
    sums = (weights @ (left | right), weights @ boundary, weights @ np.count_nonzero(within, axis=1))
    return np.asarray(np.array(sums) / weights.sum())


def _within(rho: FloatArray, y: IntArray, delta: float) -> BoolArray:
    """(N, K-1) rho_k <= Delta; at Delta = 0 a tie is right for the rows not above the threshold."""
    within: BoolArray = rho <= delta
    if delta == 0:
        above = y[:, None] > np.arange(rho.shape[1])
        within &= above | (rho < 0)
    return within


# Margins tried at most: the bound holds for all, so fewer only lose a little of its sharpness.
_MOST_DELTAS = 2000
#: Of the rows of a survey.
DRAWN = "No margin bounds: they need independent rows; these were drawn by a survey design."
_ROW_COSTS = "The bound of the cost takes the largest costs of the rows seen for the largest possible."


@dataclass(frozen=True, kw_only=True)
class Bound:
    """An upper bound of an expected error, by the margins of the training rows or by rows that the fit has not seen.

    Attributes
    ----------
    name : str
        The error bounded.
    source : str
        Theorem, or how a limit from unseen rows was found.
    value : float
        Holds with probability >= 1 - delta over the rows.
    delta : float
        Chance of failure allowed.
    trivial : float
        The largest value the error can take.
    margin : float
        Delta, the normalised margin at which the bound is smallest; NaN for unseen rows.
    training : float
        Training error at that margin; `value` is this plus the complexity terms. The mean over unseen rows.
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
        """Whether the bound says nothing: it is not below the trivial one."""
        return not self.value < self.trivial


@dataclass(frozen=True, kw_only=True)
class Complexity:
    """Empirical Rademacher complexities of a class of rankers on a sample.

    Attributes
    ----------
    threshold : float
        Complexity of x -> f(x, k), for any one k.
    left, right : float
        Complexities of the left and right margins as functions of (x, y).
    """

    threshold: float
    left: float
    right: float


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginBounds:
    """Bounds, or why there are none.

    Attributes
    ----------
    bounds : tuple of Bound
    notes : tuple of str
        Why a bound is missing, or what it assumes.
    """

    bounds: tuple[Bound, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Setting:
    """What all bounds of one fit share; rows are weighted by their number of repetitions."""

    rho: FloatArray  # normalised margins (N, K-1)
    y: IntArray
    weights: FloatArray
    complexity: Complexity
    radius: float
    delta: float

    @property
    def n(self) -> float:
        return float(self.weights.sum())


def complexity(geometry: Geometry, y: IntArray, weights: FloatArray, n_levels: int) -> Complexity:
    """Complexity of all rankers in the ball or hull of a fitted one.

    Left margins are constant on the rows of the lowest rank, right margins on those of the highest: such rows add
    nothing.

    Parameters
    ----------
    geometry : Geometry
    y : (N,) codes
    weights : (N,) repetitions
    n_levels : int
    """
    left, right = (geometry.complexity(weights, counted) for counted in (y > 0, y < n_levels - 1))
    return Complexity(threshold=geometry.complexity(weights), left=left, right=right)


def margin_bounds(
    rows: Margins, geometry: Geometry, sample: Sample, costs: FloatArray | None = None, delta: float = 0.05
) -> MarginBounds:
    """Bounds of the expected classification and absolute error and of a cost, for rankers in a ball or a hull.

    Parameters
    ----------
    rows : Margins
        Margins of the training rows.
    geometry : Geometry
    sample : Sample
        Training rows.
    costs : (N, K), optional
        A cost whose expected excess over the true rank's is bounded too.
    delta : float in (0, 1)
        Chance that a bound fails; each bound by itself.

    Returns
    -------
    MarginBounds
    """
    if reason := dependence(sample) or unknown(geometry, sample.case_weights):
        return MarginBounds(bounds=(), notes=(reason,))
    weights = sample.case_weights
    found = complexity(geometry, sample.y, weights, sample.n_levels)
    setting = _Setting(rows.normalised, sample.y, weights, found, geometry.radius, delta)
    ordered = bool(np.all(np.diff(geometry.theta) >= 0))
    unordered = "" if ordered else "No bound of the classification error: the thresholds are not in order."
    missing = [unordered, _unbounded_cost(setting, costs, ordered)]
    bounds = [absolute_bound(setting)]
    if not missing[0]:
        bounds.insert(0, classification_bound(setting))
    if costs is not None and not missing[1]:
        bounds.append(cost_bound(setting, costs))
    assumed = "" if costs is None or sample.costs is None else _ROW_COSTS
    return MarginBounds(bounds=tuple(bounds), notes=tuple(note for note in (*missing, assumed) if note))


def _unbounded_cost(setting: _Setting, costs: FloatArray | None, ordered: bool) -> str:
    if costs is None or is_convex(costs) or (ordered and is_v_shaped(costs, setting.y)):
        return ""
    return "No bound of the cost: it is not convex, nor V-shaped with ordered thresholds."


def dependence(sample: Sample) -> str:
    """Why the rows cannot count as independent draws; empty where they can."""
    if sample.cluster is not None:
        return "No margin bounds: they need independent rows; these come in clusters."
    if sample.weights is not None and not np.array_equal(sample.weights, np.rint(sample.weights)):
        return "No margin bounds: they need independent rows; these have weights that are not whole numbers of rows."
    return ""


def unknown(geometry: Geometry, weights: FloatArray) -> str:
    """Why the class has no known complexity; empty where it has one."""
    if np.isfinite(geometry.complexity(weights)):
        return ""
    return "No margin bounds: nothing is known of how rich the class of these weak hypotheses is."


def classification_bound(setting: _Setting) -> Bound:
    """E_C, by the smaller of the left and right margin [Lin & Li 2006, cor. 1, without its factor 2]."""
    inner = np.arange(setting.rho.shape[1])
    y = setting.y[:, None]
    nearest = np.where((inner == y) | (inner == y - 1), setting.rho, np.inf).min(axis=1)
    both = setting.complexity.left + setting.complexity.right
    named = ("classification error", "Lin & Li 2006, cor. 1", 1.0)
    return _smallest(setting, nearest, setting.weights, (1.0, both, setting.delta), named)


def absolute_bound(setting: _Setting) -> Bound:
    """E_A, one binary bound per threshold at delta / (K-1) [Lin & Li 2006, th. 1]."""
    cuts = setting.rho.shape[1]
    terms = (float(cuts), setting.complexity.threshold, setting.delta / cuts)
    named = ("absolute error", "Lin & Li 2006, th. 1", float(cuts))
    return _smallest(setting, setting.rho.ravel(), np.repeat(setting.weights, cuts), terms, named)


def cost_bound(setting: _Setting, costs: FloatArray) -> Bound:
    """Expected excess cost c[rank(x)] - c[y], threshold k weighing |c[k+1] - c[k]| [Lin 2008, th. 4.8].

    The largest differences are those of the rows seen: with a cost that depends on y alone they are known before
    the data are, with a row's own costs they are taken for the largest possible.
    """
    steps = split_weights(costs)
    caps = steps.max(axis=0)
    excess = costs - costs[np.arange(costs.shape[0]), setting.y][:, None]
    weights, named = (setting.weights[:, None] * steps).ravel(), ("cost", "Lin 2008, th. 4.8", float(excess.max()))
    terms = (float(caps.sum()), setting.complexity.threshold, setting.delta / caps.size)
    return _smallest(setting, setting.rho.ravel(), weights, terms, named)


def _penalty(setting: _Setting, margin: FloatArray, complexity: float, delta: float) -> FloatArray:
    """The terms beside the training error, for all margins Delta (M,) in (0, r] at once."""
    scan = np.log(np.log2(2.0 * setting.radius / margin))
    terms: FloatArray = 4.0 / margin * complexity + np.sqrt(scan / setting.n)
    terms += 3.0 * np.sqrt(np.log(4.0 / delta) / (2.0 * setting.n))
    return terms


def _smallest(
    setting: _Setting,
    rho: FloatArray,
    weights: FloatArray,
    terms: tuple[float, float, float],
    named: tuple[str, str, float],
) -> Bound:
    """The bound at its best margin; rho and weights (M,) are what the training error counts.

    `terms` are the factor of the complexity terms, the complexity and the chance of failure in them; `named` the error,
    the source and the trivial bound.
    """
    (factor, complexity, delta), (name, source, trivial) = terms, named
    rho, mass = sorted_mass(rho, weights)
    mass = np.append(0.0, mass) / setting.n
    candidates = _candidates(rho, setting.radius)
    training = mass[np.searchsorted(rho, candidates, side="right")]
    values = training + factor * _penalty(setting, candidates, complexity, delta)
    best = int(np.argmin(values))
    value, margin, error = (float(found[best]) for found in (values, candidates, training))
    return Bound(
        name=name, source=source, value=value, delta=setting.delta, trivial=trivial, margin=margin, training=error
    )


def sorted_mass(values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values in order, and the weight of those up to each."""
    if np.all(weights == 1.0):
        return np.sort(values), np.arange(1.0, values.size + 1.0)
    order = np.argsort(values)
    return values[order], np.cumsum(weights[order])


def _candidates(rho: FloatArray, radius: float) -> FloatArray:
    """Margins worth trying: just below each margin in (0, r], where the training error is about to step up, and r.

    rho (M,) in increasing order.
    """
    inside = rho[np.searchsorted(rho, 0.0, side="right") : np.searchsorted(rho, radius, side="right")]
    inside = inside[np.concatenate(([True], inside[1:] != inside[:-1]))] if inside.size else inside
    if inside.size > _MOST_DELTAS:
        inside = inside[np.linspace(0, inside.size - 1, _MOST_DELTAS).astype(np.intp)]
    below = np.nextafter(inside, 0.0)
    return np.append(below[below > 0], radius)


# Differences of scores below this share of the largest are rounding.
_ROUNDING = 1e-9
# Rows that are listed one by one, at the most.
_MOST = 1e7


def preference_bounds(scores: FloatArray, geometry: BallGeometry, sample: Sample, delta: float = 0.05) -> MarginBounds:
    """Theorem 7.2 on disjoint pairs and, as printed, on neighbours; or which of its conditions fails.

    Parameters
    ----------
    scores : (N,) potential of the training rows
    geometry : BallGeometry
    sample : Sample
    delta : float in (0, 1)
        Chance that a bound fails.

    Returns
    -------
    MarginBounds
    """
    if reason := dependence(sample):
        return MarginBounds(bounds=(), notes=(reason.replace("margin bounds", "bound of R_pref"),))
    if sample.case_weights.sum() > _MOST:
        what = f"the weights stand for {sample.case_weights.sum():g} rows, and at most {_MOST:g} are paired"
        return MarginBounds(bounds=(), notes=(f"No bound of R_pref: {what}.",))
    repeats = sample.case_weights.astype(np.intp)
    index = np.repeat(np.arange(sample.n), repeats)
    even = index[: index.size - index.size % 2]
    chains = {
        "R_pref, disjoint pairs": (even[::2], even[1::2]),
        "R_pref, neighbours as printed": (index[:-1], index[1:]),
    }
    bounds, notes = [], []
    for name, (first, second) in chains.items():
        margins = _margins(scores, sample.y, first, second)
        if reason := _unmet(margins, geometry):
            notes.append(f"No bound of {name}: {reason}.")
        else:
            bounds.append(_bound(name, margins, geometry, delta))
    if any(bound.name.endswith("printed") for bound in bounds):
        notes.append("Neighbouring pairs share a row and are not independent, as th. 7.2 takes them to be.")
    return MarginBounds(bounds=tuple(bounds), notes=tuple(notes))


def _margins(scores: FloatArray, y: IntArray, first: IntArray, second: IntArray) -> FloatArray:
    """(n,) differences of score in the direction of the ranks, of the pairs of different rank."""
    sign = np.sign(y[first] - y[second])
    return np.asarray((sign * (scores[first] - scores[second]))[sign != 0])


def _unmet(margins: FloatArray, geometry: BallGeometry) -> str:
    """The condition of the theorem that fails; empty where all hold."""
    if margins.size == 0:
        return "no such pair has different ranks"
    # Rows alike in all have scores that differ by rounding.
    wrong = int(np.count_nonzero(margins <= _ROUNDING * np.abs(margins).max()))
    if wrong:
        return f"th. 7.2 needs every pair in order, and {wrong} of {margins.size} are not"
    if _dimension(margins, geometry) > np.e * margins.size:
        return (
            f"th. 7.2 needs a dimension k <= e n, and (16 r |v| / rho)^2 is {_dimension(margins, geometry):.3g} for "
            f"n = {margins.size} pairs"
        )
    return ""


def _dimension(margins: FloatArray, geometry: BallGeometry) -> float:
    """k = (16 r |v| / rho)^2, at least 1."""
    length = np.sqrt(max(geometry.radius**2 - 1.0, 0.0))
    return max(float((16.0 * length * geometry.norm / margins.min()) ** 2), 1.0)


def _bound(name: str, margins: FloatArray, geometry: BallGeometry, delta: float) -> Bound:
    n, k = margins.size, _dimension(margins, geometry)
    value = 2.0 / n * (k * np.log2(8.0 * np.e * n / k) * np.log2(32.0 * n) + np.log2(8.0 * n / delta))
    margin, source = float(margins.min() / geometry.norm), "Herbrich et al. 2000, th. 7.2"
    return Bound(name=name, source=source, value=float(value), delta=delta, trivial=1.0, margin=margin, training=0.0)
