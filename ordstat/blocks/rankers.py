"""Linear machines of the squared hinge, and online rankers, of rows in blocks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
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
from .likelihood import all_columns
from .scan import BlockDesign, Reader

#: Largest component of the gradient, as a share of C and the weight of the rows, at which a machine counts as solved.
_FLAT = 1e-7


def _scaling(design: BlockDesign, kind: str | None) -> Scaling:
    """The scaling of the columns by all rows: one pass, unless they stay as they are."""
    two = design.sample.X
    if kind == "range":
        ends = np.concatenate([*design.rows.map(partial(_ends, design.reader))])
        two = np.stack([ends.min(axis=0), ends.max(axis=0)])
    elif kind == "standard":
        columns = all_columns(design.rows, design.reader)[0]
        two = np.stack([columns.mean - columns.deviation, columns.mean + columns.deviation])
    return fit_scaling(kind, two, np.ones(len(two)))


def _ends(reader: Reader, frame: pd.DataFrame) -> FloatArray:
    """(2, D) the least and the largest values of the columns of a block; (0, D) without rows."""
    X = reader(frame)[0].X
    return np.stack([X.min(axis=0), X.max(axis=0)]) if len(X) else X


def machine_fit(method: KernelMachine, design: BlockDesign) -> MarginFit:
    """A machine of the squared hinge; its certificate is the gradient, as the dual has a number for every row.

    Newton's method on the sum over blocks begins at the optimum of the sample.
    """
    sample = design.sample
    if method.selects:
        raise OptionError(f"C must be a number where rows are in blocks; got {method.C!r}. Choose it on a sample.")
    method.check(sample)
    require_differences(method.costs(sample), sample.case_weights)
    C, scaling = method.grid[0], _scaling(design, method.scaling)
    with one_blas_thread():
        newton = _newton(method, scaling, sample)
        ratio = float(design.counts.sum() / sample.case_weights.sum())
        newton.minimised(C * ratio)
        newton.total *= ratio
        end = newton.minimised(C, partial(_loss, method, scaling, design))
    potential = LinearPotential.plain(scaling, end.coef)
    rule = ThresholdRule(potential, end.theta + potential.offset)
    scores, slope = rule.scores(sample.rows), end.gradient / (C * newton.total)
    facts = (*method.settled_facts(None, sample.X.shape[1]), *method.method_facts(newton.problem, None))
    return MarginFit(
        rule=replace(rule, tie=tolerance(scores)),
        certificate=Certificate(name="max |gradient| / (C n)", value=slope, tolerance=_FLAT),
        trace=Trace(iterations=end.objective.size, objective=end.objective, message="solver Newton"),
        scores=scores,
        facts=(*facts, ("Solver", newton.name)),
        coefficients=potential.slopes,
    )


def _newton(method: KernelMachine, scaling: Scaling, sample: Sample) -> SquaredHingeNewton:
    problem = method.problem(sample, LinearGram(scaling(sample.X)), method.costs(sample))
    return SquaredHingeNewton(problem, np.random.default_rng(0))


def _loss(method: KernelMachine, scaling: Scaling, design: BlockDesign, v: FloatArray) -> Loss:
    """Summed over blocks."""
    parts = design.rows.map(partial(_loss_of, method, scaling, design.reader, v))
    return reduce(lambda a, b: Loss(a.value + b.value, a.gradient + b.gradient, a.hessian + b.hessian), parts)


def _loss_of(method: KernelMachine, scaling: Scaling, reader: Reader, v: FloatArray, frame: pd.DataFrame) -> Loss:
    return _newton(method, scaling, reader(frame)[0]).loss(v)


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
    for sample, _ in design.rows.map(design.reader):
        if sample.n:
            learner = method.after(sample, scaling, None if learner is None else learner.learned)
    assert learner is not None
    learner.tally = replace(learner.tally, batches=1)
    fit = method.concluded(learner)
    return replace(fit, scores=fit.rule.scores(design.sample.rows))
