"""Penalties of the likelihood: ridge and Jeffreys'."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..exceptions import OptionError
from ..formula.sample import row_blocks
from .blocks import Blocks, Factor
from .links import Link
from .newton import Evaluation, Optimum
from .problem import Problem
from .rows import TermRows
from .user_scale import Structured, joined, parted


class Penalty(ABC):
    """What is added to a log-likelihood; estimates then maximise the sum.

    Attributes
    ----------
    determines : bool
        Whether effects that the rows do not determine have estimates.
    text : str
        As in a summary.
    """

    determines: ClassVar[bool] = False

    @property
    @abstractmethod
    def text(self) -> str: ...

    @abstractmethod
    def on(self, problem: Problem) -> Any:
        """The penalised log-likelihood of a problem.

        Raises
        ------
        OptionError
            It has no maximum.
        """

    def factor(self, problem: Problem, optimum: Optimum) -> Factor | None:
        """Of the information that standard errors come from; None where it is not positive definite."""
        return None if optimum.indefinite else optimum.factor


@dataclass(frozen=True)
class Ridge(Penalty):
    """Half of `weight` times the squared length of the effects."""

    weight: float

    determines: ClassVar[bool] = True

    @property
    def text(self) -> str:
        return f"ridge, {self.weight:g}"

    def on(self, problem: Problem) -> Any:
        m, n_effects = problem.user_scale().A.shape
        n_effects -= int(problem.flexible is not None)
        return _Ridged(likelihood=problem.objective(), weight=self.weight, m=m, n_effects=n_effects)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Ridged:
    """A penalised log-likelihood.

    Attributes
    ----------
    likelihood : PlainRows, TermRows or Structured
    weight : float
    m : int
        Parameters of a threshold: its intercept and m - 1 nominal effects.
    n_effects : int
        Leading components of `rest` that are effects.
    """

    likelihood: Any
    weight: float
    m: int
    n_effects: int

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        found = self.likelihood.evaluate(alpha, rest)
        if found is None:
            return None
        on_alpha = np.where(np.arange(alpha.size) % self.m > 0, self.weight, 0.0).reshape(alpha.shape)
        on_rest = np.where(np.arange(rest.size) < self.n_effects, self.weight, 0.0)
        info, width = found.information, found.information.diagonal.shape[1]
        diagonal, gram = info.diagonal.copy(), info.rest + np.diag(on_rest)
        diagonal[:, range(width), range(width)] += on_alpha.reshape(diagonal.shape[:2])
        return Evaluation(
            loglik=found.loglik - 0.5 * float(np.vdot(on_alpha * alpha, alpha) + on_rest @ rest**2),
            score_alpha=found.score_alpha - on_alpha * alpha,
            score_rest=found.score_rest - on_rest * rest,
            information=replace(info, diagonal=diagonal, rest=gram),
        )


#: Doubles held at once for the derivatives of the ends of some rows.
_BUFFER = 1 << 18
_STEP = 1e-5  # on columns of unit deviation
#: Probabilities up to this have vanished.
_TINY = 1e-300


@dataclass(frozen=True)
class Jeffreys(Penalty):
    """Half the log determinant of the expected information; standard errors come from that."""

    @property
    def text(self) -> str:
        return "jeffreys"

    def on(self, problem: Problem) -> _Expected:
        if problem.sample.rows.nominal is not None:
            raise OptionError(
                "penalty='jeffreys' has no maximum with nominal effects (it grows without end as two thresholds of "
                "a row meet at a level that the row is not in): use a ridge, such as penalty=1.0."
            )
        likelihood, shape = problem.objective(), problem.user_scale().A.shape
        free = Structured.free(likelihood.evaluate, problem.counts.size - 1, shape)
        structured = likelihood if isinstance(likelihood, Structured) else free
        return _Expected(likelihood, problem.term_rows, structured)

    def factor(self, problem: Problem, optimum: Optimum) -> Factor | None:
        expected = self.on(problem).information(optimum.alpha, optimum.rest)
        return Blocks.of_dense(expected, optimum.alpha.size).factor()


@dataclass(frozen=True, eq=False)
class _Expected:
    """A penalised log-likelihood.

    Attributes
    ----------
    likelihood : PlainRows, TermRows or Structured
        In the parameters that are estimated.
    rows : TermRows
    structured : Structured
        From those parameters to all thresholds.
    """

    likelihood: Any
    rows: TermRows
    structured: Structured

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        found = self.likelihood.evaluate(alpha, rest)
        penalty = None if found is None else self.penalty(alpha, rest)
        if found is None or penalty is None:
            return None
        value, gradient = penalty
        hessian = self._hessian(alpha, rest)
        if hessian is None:
            return None
        values, vectors = np.linalg.eigh(found.information.dense() - hessian)
        # Directions of the wrong curvature are climbed, not descended: the sum need not be concave.
        dense = (vectors * np.maximum(np.abs(values), 1e-8 * np.abs(values).max())) @ vectors.T
        by_alpha, by_rest = parted(gradient, alpha.shape)
        return Evaluation(
            loglik=found.loglik + value,
            score_alpha=found.score_alpha + by_alpha,
            score_rest=found.score_rest + by_rest,
            information=Blocks.of_dense(dense, alpha.size),
        )

    def _hessian(self, alpha: FloatArray, rest: FloatArray) -> FloatArray | None:
        """(P', P') of the penalty."""
        point = joined(alpha, rest)
        rows = []
        for step in _STEP * np.eye(point.size):
            above, below = (self.penalty(*parted(moved, alpha.shape)) for moved in (point + step, point - step))
            if above is None or below is None:
                return None
            rows.append((above[1] - below[1]) / (2.0 * _STEP))
        out = np.array(rows)
        return np.asarray(0.5 * (out + out.T))

    def information(self, alpha: FloatArray, rest: FloatArray) -> FloatArray:
        """(P', P') expected information of the estimated parameters."""
        basis, full = self._basis(), self.structured.expand(alpha, rest)
        total = np.zeros((basis.shape[0], basis.shape[0]))
        for piece in self._pieces(full, rest):
            total += np.tensordot(piece.D * piece.v[:, None, None], piece.weighted(piece.D), axes=([0, 1], [0, 1]))
        return np.asarray(basis.T @ total @ basis)

    def penalty(self, alpha: FloatArray, rest: FloatArray) -> tuple[float, FloatArray] | None:
        """Half log det of the information, and its gradient; None where it is not positive definite."""
        information = self.information(alpha, rest)
        if not np.all(np.isfinite(information)):
            return None
        sign, logdet = np.linalg.slogdet(information)
        if sign <= 0:
            return None
        basis, full = self._basis(), self.structured.expand(alpha, rest)
        Q = basis @ np.linalg.inv(information) @ basis.T
        gradient = np.zeros(basis.shape[0])
        for piece in self._pieces(full, rest):
            gradient += piece.gradient(Q)
        return 0.5 * float(logdet), basis.T @ gradient

    def _basis(self) -> FloatArray:
        """(F, P') derivatives of (all thresholds, rest) by the estimated parameters."""
        of_alpha, of_rest = self.structured.basis()
        return np.hstack([of_alpha.reshape(of_alpha.shape[0], -1), of_rest]).T

    def _pieces(self, alpha: FloatArray, rest: FloatArray) -> Iterator[_Piece]:
        for some in row_blocks(self.rows.weights.size, alpha.shape[0] * (alpha.size + rest.size), _BUFFER):
            yield _Piece.of(self.rows, some, alpha, rest)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Piece:
    """Some rows: D (n, K-1, F), z (n, r), v (n,), f, slope f'/f (n, K-1), inverse 1/p (n, K), 0 where p vanished."""

    D: FloatArray
    z: FloatArray
    v: FloatArray
    f: FloatArray
    slope: FloatArray
    inverse: FloatArray

    @classmethod
    def of(cls, rows: TermRows, some: slice, alpha: FloatArray, rest: FloatArray) -> _Piece:
        part, link = rows.rows.take(some), rows.family.link
        x, w, z = part.x, part.w, part.z
        (n, p), (count, m) = x.shape, alpha.shape
        predictor = part.at(alpha, rest[:p], rest[p:])
        s, t = predictor.s[:, None], predictor.eta()
        D = np.zeros((n, count, alpha.size + rest.size))
        for k in range(count):
            D[:, k, k * m : (k + 1) * m] = s * w
        D[:, :, alpha.size : alpha.size + p] = -(s * x)[:, None, :]
        D[:, :, alpha.size + p :] = -t[:, :, None] * z[:, None, :]
        infinite = np.full((n, 1), np.inf)
        ends = np.hstack([-infinite, t, infinite])
        widths = np.hstack([infinite, np.broadcast_to(predictor.widths(), (n, count - 1)), infinite])
        log_p = link.log_interval(ends[:, 1:].ravel(), ends[:, :-1].ravel(), widths.ravel())
        level = np.exp(log_p).reshape(n, count + 1)
        inverse = np.where(level > _TINY, 1.0 / np.maximum(level, _TINY), 0.0)
        return cls(D=D, z=z, v=rows.weights[some], f=link.pdf(t), slope=density_slope(link, t), inverse=inverse)

    def weighted(self, D: FloatArray) -> FloatArray:
        """(n, K-1, F) W D; a level whose probability vanished adds nothing."""
        f, inverse = self.f[:, :, None], self.inverse[:, :, None]
        out = f * f * (inverse[:, :-1] + inverse[:, 1:]) * D
        inner = f[:, :-1] * f[:, 1:] * inverse[:, 1:-1]
        out[:, :-1] -= inner * D[:, 1:]
        out[:, 1:] -= inner * D[:, :-1]
        return np.asarray(out)

    def gradient(self, Q: FloatArray) -> FloatArray:
        """(F,) of half tr(Q I) at fixed Q."""
        DQ = self.D @ Q
        own = np.einsum("nkf,nkf->nk", DQ, self.D)  # M_kk
        pair = np.einsum("nkf,nkf->nk", DQ[:, :-1], self.D[:, 1:])  # M_k,k+1
        inverse, f = self.inverse, self.f
        zero = np.zeros((f.shape[0], 1))
        cross = np.hstack([zero, f[:, :-1] * f[:, 1:] * pair, zero])
        square = np.hstack([zero, f * f * own, zero])
        N = square[:, 1:] + square[:, :-1] - 2.0 * cross
        below = own * f - np.hstack([zero, f[:, :-1] * pair])
        above = own * f - np.hstack([f[:, 1:] * pair, zero])
        ratio = N * inverse * inverse
        by_end = f * self.slope * (below * inverse[:, :-1] + above * inverse[:, 1:])
        by_end += 0.5 * f * (ratio[:, 1:] - ratio[:, :-1])
        by_end *= self.v[:, None]
        total = np.einsum("nk,nkf->f", by_end, self.D)
        return np.asarray(total + self._of_scale(Q) if self.z.shape[1] else total)

    def _of_scale(self, Q: FloatArray) -> FloatArray:
        """sum v dD_k . E_k with E = Q D'W: dD_k = -(z d zeta) D_k, and -z dt_k in the log-scale part of D_k."""
        r = self.z.shape[1]
        E = self.weighted(self.D) @ Q * self.v[:, None, None]
        total = -np.einsum("nk,nkf->f", np.einsum("nkr,nr->nk", E[:, :, -r:], self.z), self.D)
        total[-r:] -= np.einsum("nkf,nkf->n", E[:, :, :-r], self.D[:, :, :-r]) @ self.z
        return np.asarray(total)


def density_slope(link: Link, t: FloatArray) -> FloatArray:
    """f'/f at t, from the second derivative of the log of the nearer tail."""
    flat = t.reshape(-1)
    infinite = np.full(flat.size, np.inf)
    q = link.interval(np.where(flat > 0.0, np.inf, flat), np.where(flat > 0.0, flat, -np.inf), infinite)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(flat > 0.0, -q.h_ll / q.b - q.b, q.h_uu / q.a + q.a)
    return np.where(np.isfinite(slope), slope, 0.0).reshape(t.shape)
