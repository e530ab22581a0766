"""Kernel cumulative models: exact features of a kernel, the ridge fit on features, and
the choice of the penalty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from .._typing import FloatArray, IntArray
from ..fit import KernelExpansion, LinearPotential, MarginFit
from ..formula.row_blocks import CACHED, row_blocks
from ..formula.sample import Rows
from ..kernels import Kernel, checked_gram, require_definite, require_finite
from ..likelihood.cumulative import Cumulative
from ..likelihood.layout import Layout
from ..likelihood.predictor import Jacobian, ModelRows
from ..likelihood.terms import RowTerms
from ..newton import Blocks, Evaluation, Optimum, maximise
from ..svm.gram import centred
from ..svm.landmarks import Features


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One penalty that was tried.

    Attributes
    ----------
    kernel : str
        Name of the kernel.
    gamma : float or None
        The gamma of the kernel if it is chosen, else None.
    columns : int
        Number of features.
    penalty : float
    spread : float
        Standard deviation of H over the rows under the prior that corresponds to the
        penalty.
    loss : float
        Minus the log marginal likelihood (evidence) per row.
    """

    kernel: str
    gamma: float | None
    columns: int
    penalty: float
    spread: float
    loss: float


@dataclass(frozen=True, eq=False)
class KernelScore:
    """H(x) = f(x) plus the offset, with f from the kernel's function space.

    Attributes
    ----------
    function : KernelExpansion or LinearPotential
    """

    function: KernelExpansion | LinearPotential

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        H = self.function(rows)
        return np.asarray(H if rows.offset is None else H + rows.offset)


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelFit(MarginFit):
    """A fitted kernel cumulative model.

    Attributes
    ----------
    penalty : float
        lambda.
    spread : float
        Standard deviation of H over the rows under its prior.
    columns : int
        Number of features.
    effective : float
        Effective number of parameters of H, p - lambda tr (J^-1)_bb.
    loglik, null_loglik : float
        Log-likelihood of the training rows, without the penalty; and with thresholds
        and offsets alone.
    log_evidence : float
        Laplace's approximation of the log marginal likelihood.
    trials : tuple of Trial
        Penalties tried; empty if the penalty was given.
    """

    penalty: float
    spread: float
    columns: int
    effective: float
    loglik: float
    null_loglik: float
    log_evidence: float
    trials: tuple[Trial, ...]


# Eigenvalues below this share of the largest are rounding.
_NULL = 1e-12


def exact_features(kernel: Kernel, X: FloatArray, rows: IntArray) -> Features:
    """Features from the eigenvectors of the kernel matrix of all training rows.

    Parameters
    ----------
    kernel : Kernel
    X : (M, D)
        Scaled columns.
    rows : (N,)
        Places of the training rows in X.

    Raises
    ------
    DataError
        The kernel matrix is not finite, symmetric and (conditionally) positive
        definite.
    """
    gram = checked_gram(kernel, X, rows)
    size = float(np.abs(gram).max(initial=0.0))
    gram, means = centred(gram)
    if not kernel.trusted:
        require_definite(gram)
    w, V = eigh(gram, overwrite_a=True, check_finite=False)
    kept = np.flatnonzero(w > _NULL * max(w[-1], size))[::-1]
    root = np.sqrt(w[kept])
    # Eigenvectors of small eigenvalues contain a little of the constant vector, which
    # is removed.
    coef = (V[:, kept] - V[:, kept].mean(axis=0)) / root
    return Features(
        values=np.ascontiguousarray(V[:, kept] * root),
        anchors=kernel.anchors(X, rows),
        coef=coef,
        constants=-means @ coef,
    )


def linear_features(factor: FloatArray, rows: IntArray) -> Features:
    """Features of a linear kernel z'z: the columns z (M, D), centred."""
    values = factor[rows]
    with np.errstate(over="ignore"):
        require_finite(np.einsum("nd,nd->n", values, values))
    means = values.mean(axis=0)
    return Features(
        values=values - means,
        anchors=np.eye(len(means)),
        coef=np.eye(len(means)),
        constants=-means,
    )


_TOL = 1e-6
_MOST_STEPS = 100
# Size of a block of rows in matrix products.
_ROOM = 64 * CACHED


@dataclass(frozen=True, eq=False, kw_only=True)
class FeatureRows:
    """Rows with their features, as a penalised cumulative model.

    Attributes
    ----------
    F : (N, p)
    y : (N,) codes, every level present
    weights : (N,) > 0
    offset : (N,)
    family : Cumulative
    variance : float
        Mean squared length of the rows of F.
    penalty : float
        lambda.
    """

    F: FloatArray
    y: IntArray
    weights: FloatArray
    offset: FloatArray
    family: Cumulative
    variance: float
    penalty: float = 0.0

    @property
    def counts(self) -> FloatArray:
        """(K,) weights of the levels."""
        return np.bincount(self.y, self.weights).astype(np.float64)

    def at(self, penalty: float) -> FeatureRows:
        """A copy with another penalty."""
        return replace(self, penalty=penalty)

    def take(self, some: IntArray, weights: FloatArray) -> FeatureRows:
        """Some of the rows, with new weights (M,)."""
        return replace(
            self,
            F=self.F[some],
            y=self.y[some],
            weights=weights,
            offset=self.offset[some],
        )

    def start(self) -> FloatArray:
        """Start values: thresholds from the shares of the levels, shifted by the mean
        offset, and b = 0.
        """
        theta = self.family.start(self.counts / self.counts.sum()) + np.average(
            self.offset, weights=self.weights
        )
        return np.append(theta, np.zeros(self.F.shape[1]))

    def scores(self, b: FloatArray) -> FloatArray:
        """(N,) H."""
        return np.asarray(self.F @ b + self.offset)

    def evaluate(
        self, x: FloatArray, information: Blocks | None = None, /
    ) -> Evaluation | None:
        """Evaluate the objective at x = (theta (K-1,), b (p,)); None outside its domain
        [newton.Objective].
        """
        p = self.F.shape[1]
        layout = Layout(thresholds=x.size - p, columns=1, location=p)
        alpha, b, zeta, _ = layout.split(x)
        if not (np.diff(alpha[:, 0]) > 0.0).all():
            return None
        predictor = self._columns.at(alpha, b, zeta)
        terms = self.family.terms(predictor, self.y, information is None)
        if terms is None or not np.isfinite(terms.log_p).all():
            return None
        jacobian = Jacobian(self._columns, terms.places, layout)
        score = jacobian.total(terms.score * self.weights)
        score[layout.of_location] -= self.penalty * b
        if information is None:
            information = self._information(terms, layout.thresholds)
        loglik = float(self.weights @ terms.log_p)
        evaluation = Evaluation(
            loglik - 0.5 * self.penalty * float(b @ b), score, information
        )
        return evaluation if evaluation.finite else None

    @cached_property
    def _columns(self) -> ModelRows:
        """The features as location columns."""
        n = self.y.size
        return ModelRows(
            x=self.F,
            w=np.ones((n, 1)),
            z=np.zeros((n, 0)),
            offset=self.offset,
            scale_offset=np.zeros(n),
        )

    def maximum(self, start: FloatArray, tol: float, max_iter: int) -> Optimum:
        """Maximise over thresholds and coefficients."""
        weight = float(self.weights.sum())
        return maximise(
            self.evaluate,
            start,
            tol=tol,
            max_iter=max_iter,
            total_weight=weight,
            shared_steps=True,
        )

    def null_loss(self) -> float:
        """Mean of -log P(y) with thresholds and offsets alone."""
        bare = replace(self, F=self.F[:, :0])
        return -bare.maximum(bare.start(), _TOL, _MOST_STEPS).at.loglik / float(
            self.weights.sum()
        )

    def _information(self, terms: RowTerms, q: int) -> Blocks:
        c, (upper, lower) = terms.second() * self.weights, terms.places
        diagonal = (
            np.bincount(upper, c[0, 0], q) + np.bincount(lower, c[1, 1], q)
        ).astype(np.float64)
        # Rows of the lowest and highest level have one threshold; their other terms are
        # 0.
        below = np.bincount(lower, c[0, 1], q)[: q - 1].astype(np.float64)
        entries = np.concatenate([upper, lower]), np.tile(np.arange(self.y.size), 2)
        mixed = csr_array(
            (np.concatenate([c[0, 2], c[1, 2]]), entries), shape=(q, self.y.size)
        )
        gram = self._gram(c[2, 2])
        gram[np.diag_indices_from(gram)] += self.penalty
        return Blocks(
            diagonal=diagonal.reshape(q, 1, 1),
            below=below.reshape(q - 1, 1, 1),
            cross=np.asarray(mixed @ self.F).reshape(q, 1, -1),
            rest=gram,
        )

    def _gram(self, c: FloatArray) -> FloatArray:
        """(p, p) F' diag(c) F."""
        p = self.F.shape[1]
        gram = np.zeros((p, p))
        positive = bool((c >= 0.0).all())
        root = np.sqrt(c) if positive else c
        for some in row_blocks(self.y.size, p, _ROOM):
            part = self.F[some] * root[some, None]
            gram += part.T @ (part if positive else self.F[some])
        return gram


# Tolerance of the gradient, and Newton steps, of fits that are compared.
_TOL_JUDGES = 1e-3
_MOST_STEPS_JUDGES = 50


# Interquartile range of a standard normal variable.
_QUARTILES = 1.3489795003921634


def log_evidence(rows: FeatureRows, optimum: Optimum) -> float:
    """Laplace's approximation of the log marginal likelihood; minus infinity if the
    point is no maximum.
    """
    if optimum.indefinite:
        return -np.inf
    low, high = rows.family.link.ppf(np.array([0.25, 0.75]))
    spread = rows.variance / rows.penalty + ((high - low) / _QUARTILES) ** 2
    factor = optimum.factor
    q, p = factor.V.shape
    log_det = 2.0 * float(
        np.log(factor.band[0]).sum() + np.log(np.diagonal(factor.schur)).sum()
    )
    return optimum.at.loglik + 0.5 * float(
        p * np.log(rows.penalty) - log_det + q * np.log(2.0 * np.pi / spread)
    )


@dataclass(eq=False)
class Evidence:
    """Minus the log evidence per row, as a function of the penalty.

    Attributes
    ----------
    rows : FeatureRows
    point : (K-1 + p,) the last maximum, from which the next search starts
    """

    rows: FeatureRows
    point: FloatArray | None = None

    def __call__(self, penalty: float) -> float:
        rows = self.rows.at(penalty)
        optimum = rows.maximum(
            rows.start() if self.point is None else self.point,
            _TOL_JUDGES,
            _MOST_STEPS_JUDGES,
        )
        self.point = optimum.x
        return -log_evidence(rows, optimum) / float(rows.weights.sum())


# Search over log2 of the spread: first value, range, step (small near a known good
# value), and number of parabolas that refine the best value.
_FIRST = 1.0
_LOWEST = -5.0
_HIGHEST = 11.0
_STEP = 2.0
_SMALL_STEP = 1.0
_PARABOLAS = 2
#: Penalties tried at most.
MOST_TRIALS = 12
# Smallest distance between two values that are tried.
_NEAR = 0.1
# Twice as many landmarks must lower the loss further by this share of its fall so far.
_GAIN = 0.003

#: Name of a kernel, and its gamma where that is chosen.
Named = tuple[str, float | None]


def penalties(
    judge: Evidence,
    rows: FeatureRows,
    named: Named,
    like: Trial | None,
    tick: Callable[[str], None],
) -> list[Trial]:
    """Search for the best penalty; return all penalties tried, in order.

    Parameters
    ----------
    judge : Evidence
    rows : FeatureRows
        The rows of the judge.
    named : (name of the kernel, gamma or None)
    like : Trial or None
        The best trial with similar features, where the search starts.
    tick : callable(message)
    """
    tried: dict[float, Trial] = {}

    def loss(power: float) -> float:
        if power not in tried:
            tried[power] = trial_at(judge, rows, named, rows.variance / 4.0**power)
            tick(f"penalty {tried[power].penalty:.3g}")
        return tried[power].loss

    first, size = (
        (_FIRST, _STEP) if like is None else (float(np.log2(like.spread)), _SMALL_STEP)
    )
    step = size if loss(first + size) < loss(first) else -size
    power = first + max(step, 0.0)
    while _LOWEST <= power + step <= _HIGHEST and loss(power + step) < loss(power):
        power += step
    for _ in range(_PARABOLAS):
        lowest = _lowest_of_parabola(
            sorted((power, trial.loss) for power, trial in tried.items())
        )
        if lowest is not None and min(abs(lowest - power) for power in tried) > _NEAR:
            loss(lowest)
    return list(tried.values())


def trial_at(
    judge: Callable[[float], float], rows: FeatureRows, named: Named, penalty: float
) -> Trial:
    """Judge one penalty."""
    spread = float(np.sqrt(rows.variance / penalty))
    columns = rows.F.shape[1]
    kernel, gamma = named
    loss = judge(penalty)
    return Trial(
        kernel=kernel,
        gamma=gamma,
        columns=columns,
        penalty=penalty,
        spread=spread,
        loss=loss,
    )


def best(trials: Sequence[Trial]) -> Trial:
    """The trial with the smallest loss; ties go to the first."""
    return min(trials, key=lambda trial: trial.loss)


def worth_more(before: Trial, after: Trial, null: float) -> bool:
    """Whether more landmarks lowered the loss enough to try even more; `null` is the
    loss of H = 0.
    """
    return before.loss - after.loss > _GAIN * max(null - after.loss, 0.0)


def _lowest_of_parabola(points: Sequence[tuple[float, float]]) -> float | None:
    """Minimum of a parabola through the lowest point and its neighbours; None if the
    lowest is at an end.
    """
    at = int(np.argmin([loss for _, loss in points]))
    if not 0 < at < len(points) - 1:
        return None
    (x0, f0), (x1, f1), (x2, f2) = points[at - 1 : at + 2]
    left = (x1 - x0) * (f1 - f2)
    right = (x1 - x2) * (f1 - f0)
    bend = 2.0 * (left - right)
    if not np.isfinite(bend) or bend == 0.0:
        return None
    return x1 - ((x1 - x0) * left - (x1 - x2) * right) / bend
