"""Boosted trees as the binary classifier of a reduction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..fit import Certificate
from ..formula.sample import Rows, Sample
from ..reduction.learners import Binary, BinaryLearner, Learned
from .ordboost import OrdinalBoosting


@dataclass(frozen=True, eq=False)
class BoostedAnswers:
    """P boosted classifiers.

    Attributes
    ----------
    rules : tuple of P rules of two levels, or None for a constant
    sides : (P,) label of a constant: +1.0, -1.0, or 0.0 without examples
    """

    rules: tuple[Any, ...]
    sides: FloatArray

    probable: ClassVar[bool] = True

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, P) P(+1) - 1/2."""
        return self.above(rows) - 0.5

    def above(self, rows: Rows) -> FloatArray:
        """(N, P) P(+1)."""
        above = np.tile(0.5 + 0.5 * self.sides, (rows.n, 1))
        for p, rule in enumerate(self.rules):
            if rule is not None:
                above[:, p] = rule.probabilities(rows)[:, 1]
        return above


@dataclass(frozen=True)
class BoostedBase(BinaryLearner):
    """Boosted trees for two classes, the base "ordboost" of `Reduction`.

    With `encoding="separate"` each question "above k?" has its own trees, which can
    follow rules that no single score with K-1 thresholds follows.

    Attributes
    ----------
    method : OrdinalBoosting
    """

    method: OrdinalBoosting = field(default_factory=OrdinalBoosting)

    @property
    def counts_rows(self) -> bool:
        """True: the trees draw rows."""
        return True

    def on(self, X: FloatArray, case_weights: FloatArray) -> BoostedTrainer:
        """The trainer for problems among rows X (N, D)."""
        return BoostedTrainer(self.method, X)

    def __str__(self) -> str:
        return repr(self.method)


@dataclass(frozen=True, eq=False)
class BoostedTrainer:
    """The trainer of boosted classifiers, for the rows X (N, D)."""

    method: OrdinalBoosting
    X: FloatArray

    def fit(self, problems: Sequence[Binary], rng: np.random.Generator) -> Learned:
        """Fit trees to every problem that has both labels."""
        rules = list[Any]()
        missed = 0
        rounds = 0
        for problem in problems:
            if problem.one_sided:
                rules.append(None)
                continue
            sample = Sample(
                rows=Rows(X=np.ascontiguousarray(self.X[problem.index])),
                y=(problem.labels > 0).astype(np.intp),
                n_levels=2,
                weights=problem.weights,
            )
            fit = self.method.fit(sample, rng)
            rules.append(fit.rule)
            missed += not fit.certificate.reached
            rounds += fit.kept
        sides = np.array([problem.side for problem in problems])
        answers = BoostedAnswers(tuple(rules), sides)
        return Learned(
            scorer=answers,
            scores=answers(Rows(X=self.X)),
            certificate=Certificate(
                name="base classifiers that did not converge",
                value=float(missed),
                tolerance=0.0,
                steps="rounds",
            ),
            iterations=rounds,
        )
