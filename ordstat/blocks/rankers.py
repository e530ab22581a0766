"""Linear machines of the squared hinge, and online rankers, of rows in blocks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..exceptions import OptionError
from ..fit import Certificate, LinearPotential, MarginFit, ThresholdRule, Trace
from ..formula.sample import Sample, Scaling, fit_scaling
from ..judging.costs import require_differences, tolerance
from ..online.online import OnlineMethod
from ..reduction.convex import Loss
from ..svm.gram import LinearGram
from ..svm.redsvm import KernelMachine
from ..svm.routes import SquaredHingeNewton
from ..threads import one_blas_thread
from .scan import BlockDesign, Moments, Reader

#: Largest component of the gradient, as a share of C and the weight of the rows, at which a machine counts as solved.
_FLAT = 1e-9


def _spread(reader: Reader, frame: pd.DataFrame) -> tuple[Moments, FloatArray]:
    """Of the columns of a block: the moments, and (2, D) the least and the largest values."""
    sample = reader(frame)[0]
    if not sample.n:
        return Moments(0.0, 0.0, 0.0), np.zeros((0, 1))
    v, X = sample.case_weights, sample.X
    mean = v @ X / v.sum()
    return Moments(float(v.sum()), mean, v @ (X - mean) ** 2), np.stack([X.min(axis=0), X.max(axis=0)])


def _scaling(design: BlockDesign, kind: str | None, about_mean: bool = False) -> Scaling:
    """The scaling of the columns by all rows: one pass, unless they stay as they are."""
    if kind is None and not about_mean:
        return fit_scaling(None, design.sample.X, design.sample.case_weights)
    moments, ends = Moments(0.0, 0.0, 0.0), np.zeros((0, design.sample.X.shape[1]))
    for more, values in design.blocks.map(partial(_spread, design.reader)):
        if len(values):
            moments, ends = moments.plus(more), np.vstack([ends, values])
            ends = np.stack([ends.min(axis=0), ends.max(axis=0)])
    two = ends if kind == "range" else moments.pair(0.5 * moments.n)
    return fit_scaling(kind, two, np.ones(2), about_mean=about_mean)


# ------------------------------------------------------------------------------------------ machines


class _NewtonOverBlocks(SquaredHingeNewton):
    """Newton's method on the sum over blocks, from the optimum of the sample."""

    def __init__(self, method: KernelMachine, design: BlockDesign, scaling: Scaling, C: float) -> None:
        sample = design.sample
        super().__init__(_problem(method, sample, scaling), np.random.default_rng(0))
        ratio = float(design.counts.sum() / sample.case_weights.sum())
        end = super().minimised(C * ratio)
        self.v = np.concatenate([end.coef, end.theta])
        self.total, self.method, self.design, self.scaling = self.total * ratio, method, design, scaling

    def loss(self, v: FloatArray) -> Loss:
        if not hasattr(self, "design"):  # for the start
            return super().loss(v)
        total = Loss(0.0, np.zeros(v.size), np.zeros((v.size, v.size)))
        for part in self.design.blocks.map(partial(_loss, self.method, self.design.reader, self.scaling, v)):
            if part is not None:
                value, gradient, hessian = part
                total = Loss(total.value + value, total.gradient + gradient, total.hessian + hessian)
        return total


def _problem(method: KernelMachine, sample: Sample, scaling: Scaling) -> Any:
    return method.problem(sample, LinearGram(scaling(sample.X)), method.costs(sample))


def _loss(method: KernelMachine, reader: Reader, scaling: Scaling, v: FloatArray, frame: pd.DataFrame) -> Loss | None:
    """The part of a block."""
    sample = reader(frame)[0]
    if not sample.n:
        return None
    return SquaredHingeNewton(_problem(method, sample, scaling), np.random.default_rng(0)).loss(v)


def machine_fit(method: KernelMachine, design: BlockDesign) -> MarginFit:
    """A machine of the squared hinge, which has no certified duality gap here but the gradient of its objective."""
    sample = design.sample
    if method.selects:
        raise OptionError(f"C must be a number where rows are in blocks; got {method.C!r}. Choose it on a sample.")
    C = method.grid[0]
    method.check(sample)
    require_differences(method.costs(sample), sample.case_weights)
    scaling = _scaling(design, method.scaling, about_mean=True)
    with one_blas_thread():
        newton = _NewtonOverBlocks(method, design, scaling, C)
        end = newton.minimised(C)
    potential = LinearPotential.plain(scaling, end.coef)
    rule = ThresholdRule(potential, end.theta + potential.offset)
    scores = rule.scores(sample.rows)
    facts = (*method.settled_facts(None, sample.X.shape[1]), *method.method_facts(newton.problem, None))
    return MarginFit(
        rule=replace(rule, tie=tolerance(scores)),
        certificate=Certificate(
            name="max |gradient| / (C n)", value=end.gradient / (C * newton.total), tolerance=_FLAT
        ),
        trace=Trace(iterations=end.objective.size, objective=end.objective, message="solver Newton"),
        scores=scores,
        facts=(*facts, ("Solver", newton.name)),
        coefficients=potential.slopes,
    )


# ------------------------------------------------------------------------------------------ online rankers


def online_fit(method: OnlineMethod, design: BlockDesign) -> Any:
    """One pass over the rows in their order."""
    if method.epochs != 1 or method.presentation != "order":
        raise OptionError(
            "Rows in blocks are learned once, in their order: give epochs=1, presentation='order' "
            f"(got epochs={method.epochs}, presentation={method.presentation!r})."
        )
    method.check(design.sample)
    require_differences(method.costs(design.sample), design.sample.case_weights)
    scaling, learner = _scaling(design, method.scaling), None
    for sample, _ in design.blocks.map(design.reader):
        if sample.n:
            learner = method.after(sample, scaling, None if learner is None else learner.learned)
    assert learner is not None
    learner.tally = replace(learner.tally, batches=1)
    fit = method.concluded(learner)
    return replace(fit, scores=fit.rule.scores(design.sample.rows))
