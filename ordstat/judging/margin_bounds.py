"""Margin bounds of expected errors, as in the papers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..formula.sample import Sample
from .costs import is_convex, split_weights, v_break
from .geometry import Geometry
from .margins import Margins

# Largest number of margins that are tried; the bound holds at all of them.
_MOST_DELTAS = 2000
#: What bounds lack in a survey; see `lacking`.
LACKING_IN_SURVEYS = "independent rows; these were drawn by a survey design"
_ROW_COSTS = (
    "The bound of the cost assumes that no row has larger costs than the training rows."
)


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
        Training error at that margin; `value` adds complexity terms. For a PAC-Bayes
        bound, that of a randomised rule, which counts wrong answers at both ends of an
        interval. For unseen rows, their mean error.
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
        """Whether the bound is no smaller than the trivial value."""
        return not self.value < self.trivial


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginBounds:
    """Margin bounds, or the reasons why there are none.

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
    """Why the rows do not allow bounds, for a message; empty if they do."""
    if sample.cluster is not None:
        return "independent rows; these come in clusters"
    weights = sample.weights
    if weights is None or np.array_equal(weights, np.rint(weights)):
        return ""
    return "independent rows; these have weights that are not whole numbers of rows"


def no_margin_bounds(lacks: str) -> MarginBounds:
    """No bounds, with the reason given by `lacking`."""
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
        rho=np.where(own_ends(rows.y, cuts), rho, np.inf).min(axis=1),
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


def own_ends(y: IntArray, cuts: int) -> BoolArray:
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
