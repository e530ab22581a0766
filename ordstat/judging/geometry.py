"""Geometries of potentials: the norms by which margins are divided, and the complexities behind their bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .._typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from ..svm.kernels import Kernel


@dataclass(frozen=True, eq=False, kw_only=True)
class Geometry(ABC):
    """What margins and their bounds need of a potential.

    Attributes
    ----------
    norm : float
        Size of the potential's coefficients.
    theta : (K-1,)
        Thresholds in the units of the potential that `norm` measures.
    radius : float
        The largest normalised margin thought possible before seeing data; the largest Delta scanned.
    """

    norm: float
    theta: FloatArray
    radius: float
    #: How complexities are found.
    name: ClassVar[str]

    @property
    @abstractmethod
    def total(self) -> float:
        """What margins are divided by: the size of coefficients and thresholds together."""

    @abstractmethod
    def complexity(self, weights: FloatArray, counted: BoolArray | None = None) -> float:
        """Empirical Rademacher complexity of all such potentials on training rows with whole weights (N,).

        Complexity of x -> H(x) - theta_k for any k; with `counted` (N,), of H(x) - theta_k(n) at one threshold for each
        counted row.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class BallGeometry(Geometry):
    """An l2 ball of a feature space: margins are divided by sqrt(|v|^2 + sum theta_k^2), theta less the offset of H.

    Attributes
    ----------
    norm : float
        |v|, the norm of the potential's coefficients in the feature space of the scaled columns.
    squared_lengths : (N,)
        k(x_n, x_n) of the training rows in that space.
    theta : (K-1,)
        Thresholds in the same units as <v, phi(x)> (offset b taken in).
    radius : float
        sqrt of the largest k(x, x) + 1 thought possible before seeing data.
    price : float
        Length of the code, in nats, that tells this origin of the space from the others that were thought of.
    moved : tuple of BallGeometry
        The same ranker in the same space counted from other origins.
    """

    squared_lengths: FloatArray
    price: float = 0.0
    moved: tuple[BallGeometry, ...] = ()

    name: ClassVar[str] = "l2 ball"

    @property
    def total(self) -> float:
        return float(np.sqrt(self.norm**2 + np.sum(self.theta**2)))

    def complexity(self, weights: FloatArray, counted: BoolArray | None = None) -> float:
        squares = weights * (self.squared_lengths + 1.0)
        return float(np.sqrt((squares if counted is None else squares[counted]).sum()) / weights.sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class HullGeometry(Geometry):
    """A convex hull of weak hypotheses and thresholds: margins are divided by sum |alpha_t| + sum |theta_k|.

    Attributes
    ----------
    norm : float
        sum |alpha_t|.
    theta : (K-1,)
        Empty where the hypotheses answer every question "above threshold k?" themselves.
    log_size : float
        Logarithm of the number of label vectors that hypotheses give the training rows at one k.
    log_size_own : float
        The same where every row has a k of its own.
    squared_lengths : (N,) or None
        |phi(x_n)|^2 of real-valued hypotheses, 1-Lipschitz functions of <v, phi(x)>, |v| <= 1. The sizes then are
        those of the thresholds alone.
    nats : float
        Divergence of the vote from a prior over voters; NaN if unknown.
    """

    log_size: float
    log_size_own: float
    squared_lengths: FloatArray | None = None
    radius: float = 1.0
    nats: float = float("nan")

    name: ClassVar[str] = "convex hull"

    @property
    def total(self) -> float:
        return float(self.norm + np.abs(self.theta).sum())

    def complexity(self, weights: FloatArray, counted: BoolArray | None = None) -> float:
        """Massart's lemma on the label vectors, plus the contraction of real-valued hypotheses."""
        inside = np.ones(weights.size, dtype=np.bool_) if counted is None else counted
        log_size = self.log_size if counted is None else self.log_size_own
        finite = np.sqrt(2.0 * log_size * weights[inside].sum())
        smooth = 0.0 if self.squared_lengths is None else np.sqrt((weights * self.squared_lengths)[inside].sum())
        return float((finite + smooth) / weights.sum())


def ball(kernel: Kernel, Z: FloatArray, scaling: str | None, squared_norm: float, theta: FloatArray) -> BallGeometry:
    """Norms in the feature space of the scaled columns Z (N, D) of the training rows.

    The radius is that of the box [-1, 1]^D where scaling="range", or of a kernel that is bounded everywhere; otherwise
    it is the largest length among the training rows, which is not fixed before seeing data, and bounds that use it hold
    only for rows no longer than that.
    """
    lengths = kernel.diagonal(Z)
    largest = kernel.radius(Z.shape[1], 1.0 if scaling == "range" else np.inf)
    if not np.isfinite(largest):
        largest = float(lengths.max())
    radius = float(np.sqrt(largest + 1.0))
    return BallGeometry(norm=float(np.sqrt(squared_norm)), squared_lengths=lengths, theta=theta, radius=radius)


def hull(
    round_weights: FloatArray, theta: FloatArray, log_size: float, squared_lengths: FloatArray | None
) -> HullGeometry:
    """The hull of a class of `exp(log_size)` label vectors, or of real-valued hypotheses, with K-1 thresholds."""
    both = np.log([2.0, 2.0 * theta.size])
    if squared_lengths is None:
        with np.errstate(invalid="ignore"):  # NaN where the class is of unknown size
            both = np.logaddexp(log_size, both)
    return HullGeometry(
        norm=float(np.abs(round_weights).sum()),
        theta=theta,
        log_size=float(both[0]),
        log_size_own=float(both[1]),
        squared_lengths=squared_lengths,
    )
