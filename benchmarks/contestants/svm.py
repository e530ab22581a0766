"""Thresholded SVMs by ordstat, scikit-learn's SVC on explicit extended examples, and
skordinal's REDSVM and SVOR.

Every answer is judged by one primal function: with its coefficients beta and the best
thresholds for them. A rival's own thresholds stand where they are part of the answer
(RED-SVM), with the best offset. Seconds are of the processor: everybody has one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from benchmarks.limit import within
from benchmarks.timing import Timed
from ordstat.formula.sample import Rows, Sample
from ordstat.judging.costs import CostMatrix
from ordstat.kernels import Gaussian, Perceptron
from ordstat.reduction.encoding import extend
from ordstat.svm.dual import ExtendedDual, best_offset, best_thresholds, hinge
from ordstat.svm.gram import DenseGram, centred
from ordstat.svm.redsvm import KernelMachine
from ordstat.svm.routes import Automatic

#: What a fit found: beta (N,), and theta (Q,) where it is penalised.
Answer = tuple[np.ndarray, np.ndarray | None]
KERNELS = {"perceptron": Perceptron(), "gaussian": Gaussian(gamma=0.125)}
#: Gap of the fit whose dual value stands for the optimum.
_REFERENCE = 1e-8


class OnProcessor(Timed):
    """Seconds of the processor, for work on one thread: the machine may be busy."""

    def seconds(self, repeats: int) -> float:
        start = process_time()
        for _ in range(repeats):
            self.call()
        return (process_time() - start) / repeats

    def once(self) -> tuple[Any, float]:
        """What the call returns, and its seconds."""
        start = process_time()
        actual = self.call()
        return actual, process_time() - start


@dataclass(frozen=True)
class Task:
    """One fit: a method without its C, rows, a kernel, and C."""

    method: type[KernelMachine]
    X: np.ndarray
    y: np.ndarray
    kernel: str
    C: float

    def problem(self) -> ExtendedDual:
        """The centred problem."""
        method = self.method()
        costs = CostMatrix.parse(method.cost).rows(self.y, int(self.y.max()) + 1)
        extended = extend(self.y, costs, np.ones(len(self.y)))
        return ExtendedDual(
            gram=DenseGram(centred(KERNELS[self.kernel](self.X, self.X))[0]),
            labels=extended.labels,
            weights=extended.weights,
            gamma=method.penalty_scale(),
            ordered=method.constrains_order(costs),
        )

    def ordstat(self, tol: float) -> OnProcessor:
        sample = Sample(rows=Rows(X=self.X), y=self.y, n_levels=int(self.y.max()) + 1)
        method = self.method(
            C=self.C, kernel=KERNELS[self.kernel], scaling=None, tol=tol
        )
        return OnProcessor(
            f"ordstat {tol:.1g}", lambda: method.fit(sample, np.random.default_rng(0))
        )


@dataclass(frozen=True)
class Rival:
    """A fit, and how its model is read."""

    timed: OnProcessor
    read: Callable[[Any], Answer]

    def attempt(self, limit: float) -> tuple[Answer, float] | None:
        """The answer of one fit and its seconds, or None where it was cut off at the
        limit.
        """

        def work() -> tuple[Answer, float]:
            model, seconds = self.timed.once()
            return self.read(model), seconds

        return within(limit, work)


class Judge:
    """Gaps of answers to one task."""

    def __init__(self, task: Task) -> None:
        self.problem, self.C = task.problem(), task.C
        best = (
            Automatic(self.problem, np.random.default_rng(0))
            .solve(task.C, _REFERENCE)
            .solution
        )
        self.dual = best.dual

    def gap(self, answer: Answer) -> float:
        """(P - D) / P of an answer, D within 1e-8 of the optimum."""
        p, (beta, theta) = self.problem, answer
        f = p.gram @ beta
        penalty = 0.5 * float(beta @ f)
        if theta is None:
            theta = best_thresholds(p.labels, p.weights, f, ordered=p.ordered)
        else:
            f = f + best_offset(p.labels, p.weights, f, theta)
            penalty += 0.5 * p.ridge * float(theta @ theta)
        primal = penalty + hinge(p, self.C, f, theta)
        return float((primal - self.dual) / primal)


def extended_svc(task: Task) -> Rival:
    """SVC on the N(K-1) extended rows with the kernel K(x, x') + [k = k'], building
    that Gram in place included.
    """
    from sklearn.svm import SVC

    X = task.X
    N = len(task.y)
    Q = int(task.y.max())
    labels = (task.y[:, None] > np.arange(Q)).ravel()

    def fit() -> SVC:
        gram = np.kron(KERNELS[task.kernel](X, X), np.ones((Q, Q)))
        for q in range(Q):
            gram[q::Q, q::Q] += 1.0
        return SVC(
            C=task.C,
            kernel="precomputed",
            tol=1e-3,
            max_iter=2_000_000,
            cache_size=2000,
        ).fit(gram, labels)

    def read(model: SVC) -> Answer:
        u = np.zeros((N, Q))
        u.ravel()[model.support_] = model.dual_coef_[0]
        return u.sum(axis=1), -u.sum(axis=0)

    return Rival(OnProcessor("SVC extended", fit), read)


def skordinal_redsvm(task: Task) -> Rival:
    from skordinal.classifiers import REDSVM as Peer

    name = {"gaussian": "rbf"}.get(task.kernel, task.kernel)
    peer = Peer(C=task.C, kernel=name, gamma=0.125, cache_size=2000)

    def read(fitted: Peer) -> Answer:
        model = fitted.model_
        place = {tuple(np.round(row, 9)): n for n, row in enumerate(task.X)}
        beta = np.zeros(len(task.y))
        for row, coef in zip(model["SV"], model["sv_coef"][0], strict=True):
            values = [entry["value"] for entry in row if entry["index"] > 0]
            beta[place[tuple(np.round(values, 9))]] += coef
        return beta, np.array(model["rho"][1:])

    return Rival(
        OnProcessor("skordinal REDSVM", lambda: peer.fit(task.X, task.y + 1)), read
    )


def skordinal_svor(task: Task, constraints: str) -> Rival:
    """Chu's C code; of these two kernels it has the Gaussian."""
    from skordinal.classifiers import SVOR

    peer = SVOR(C=task.C, gamma=0.125, constraints=constraints)

    def read(fitted: SVOR) -> Answer:
        return np.array(fitted.model_["alpha"]), None

    return Rival(
        OnProcessor("skordinal SVOR", lambda: peer.fit(task.X, task.y + 1)), read
    )
