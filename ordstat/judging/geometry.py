"""Norms by which margins are divided, and the complexities behind margin bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .._typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from ..kernels import Kernel


@dataclass(frozen=True, eq=False, kw_only=True)
class Geometry(ABC):
    """Norm, thresholds and complexity of a potential, for margins and their bounds.

    Attributes
    ----------
    norm : float
        Size of the potential's coefficients.
    theta : (K-1,)
        Thresholds in the units of the potential that `norm` measures.
    radius : float
        Largest normalised margin considered possible before seeing data; the largest
        Delta scanned.
    """

    norm: float
    theta: FloatArray
    radius: float
    #: Method of computing complexities.
    name: ClassVar[str]

    @property
    @abstractmethod
    def total(self) -> float:
        """The divisor of margins: joint size of coefficients and thresholds."""

    @abstractmethod
    def complexity(
        self, weights: FloatArray, counted: BoolArray | None = None
    ) -> float:
        """Empirical Rademacher complexity of all such potentials on training rows with
        whole weights (N,).

        Complexity of x -> H(x) - theta_k for any k; with `counted` (N,), of H(x) -
        theta_k(n) at one threshold for each counted row.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class BallGeometry(Geometry):
    """An l2 ball of a feature space: margins are divided by sqrt(|v|^2 + sum
    theta_k^2), with the offset of H in theta.

    Attributes
    ----------
    norm : float
        |v|, the norm of the potential's coefficients in the feature space of the scaled
        columns.
    squared_lengths : (N,)
        k(x_n, x_n) of the training rows in that space.
    theta : (K-1,)
        Thresholds in the same units as <v, phi(x)> (with offset b).
    radius : float
        sqrt of the largest k(x, x) + 1 considered possible before seeing data.
    price : float
        Cost, in nats, of choosing this origin among the candidates.
    moved : tuple of BallGeometry
        The same ranker in the same space with other origins.
    """

    squared_lengths: FloatArray
    price: float = 0.0
    moved: tuple[BallGeometry, ...] = ()

    name: ClassVar[str] = "l2 ball"

    @property
    def total(self) -> float:
        return float(np.sqrt(self.norm**2 + np.sum(self.theta**2)))

    def complexity(
        self, weights: FloatArray, counted: BoolArray | None = None
    ) -> float:
        squares = weights * (self.squared_lengths + 1.0)
        return float(
            np.sqrt((squares if counted is None else squares[counted]).sum())
            / weights.sum()
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class HullGeometry(Geometry):
    """A convex hull of weak hypotheses and thresholds: margins are divided by sum
    |alpha_t| + sum |theta_k|.

    Attributes
    ----------
    norm : float
        sum |alpha_t|.
    theta : (K-1,)
        Empty if the hypotheses answer each question "above threshold k?".
    log_size : float
        Logarithm of the number of label vectors of the training rows at one k.
    log_size_own : float
        The same with a separate k for each row.
    squared_lengths : (N,) or None
        |phi(x_n)|^2 of real-valued hypotheses, 1-Lipschitz functions of <v, phi(x)>,
        |v| <= 1. The sizes then count thresholds only.
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

    def complexity(
        self, weights: FloatArray, counted: BoolArray | None = None
    ) -> float:
        """Massart's lemma on the label vectors, plus the contraction of real-valued
        hypotheses.
        """
        inside = np.ones(weights.size, dtype=np.bool_) if counted is None else counted
        log_size = self.log_size if counted is None else self.log_size_own
        finite = np.sqrt(2.0 * log_size * weights[inside].sum())
        if self.squared_lengths is None:
            smooth = 0.0
        else:
            smooth = np.sqrt((weights * self.squared_lengths)[inside].sum())
        return float((finite + smooth) / weights.sum())


def ball(
    kernel: Kernel,
    Z: FloatArray,
    scaling: str | None,
    squared_norm: float,
    theta: FloatArray,
) -> BallGeometry:
    """Norms in the feature space of the scaled columns Z (N, D) of the training rows.

    With scaling="range" the radius is that of the box [-1, 1]^D, and for a bounded
    kernel that of the kernel. Otherwise it is the largest length among the training
    rows: it is not fixed before seeing data, and bounds only hold for rows of at most
    this length.
    """
    lengths = kernel.diagonal(Z)
    largest = kernel.radius(Z.shape[1], 1.0 if scaling == "range" else np.inf)
    if not np.isfinite(largest):
        largest = float(lengths.max())
    radius = float(np.sqrt(largest + 1.0))
    return BallGeometry(
        norm=float(np.sqrt(squared_norm)),
        squared_lengths=lengths,
        theta=theta,
        radius=radius,
    )


def hull(
    round_weights: FloatArray,
    theta: FloatArray,
    log_size: float,
    squared_lengths: FloatArray | None,
) -> HullGeometry:
    """The hull of a class of `exp(log_size)` label vectors, or of real-valued
    hypotheses, with K-1 thresholds.
    """
    joint = np.log([2.0, 2.0 * theta.size])
    if squared_lengths is None:
        with np.errstate(invalid="ignore"):  # NaN if the size of the class is unknown
            joint = np.logaddexp(log_size, joint)
    return HullGeometry(
        norm=float(np.abs(round_weights).sum()),
        theta=theta,
        log_size=float(joint[0]),
        log_size_own=float(joint[1]),
        squared_lengths=squared_lengths,
    )
