"""Fits to data in blocks: the sums over rows of a fit in memory, added over blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial, reduce
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..exceptions import DataError, OptionError
from ..fit import Certificate, LinearPotential, MarginFit, ThresholdRule, Trace
from ..formula.sample import Sample
from ..formula.scaling import Scaling, fit_scaling
from ..judging.absent_levels import Present
from ..judging.costs import require_differences, tolerance
from ..likelihood.at_estimates import LikelihoodAtEstimates
from ..likelihood.columns import CONSTANT, ColumnScales, sweep
from ..likelihood.fit import LikelihoodFit
from ..likelihood.parameters import parameters
from ..likelihood.problem import Problem, kept_columns
from ..likelihood.regression import OrdinalRegression
from ..likelihood.remedies import WITHOUT_CR2
from ..newton import Blocks as Information
from ..newton import Evaluation
from ..online.online import OnlineMethod
from ..reduction.convex import Loss
from ..report.cells import first_few
from ..svm.gram import LinearGram
from ..svm.redsvm import KernelMachine
from ..svm.squared_hinge import SquaredHingeNewton
from ..threads import one_blas_thread
from .scan import BlockDesign, Reader
from .sources import RowBlocks

#: Stands for an information that is known, so that only the score is computed.
_KNOWN = Information.of_dense(np.zeros((1, 1)))


def present_fit(
    fit: Callable[[Any, BlockDesign], Any], method: Any, design: BlockDesign
) -> Any:
    """Fit to the levels that have rows, as in memory; the rule has all levels."""
    present = Present(np.flatnonzero(design.counts > 0.0), design.counts.size)
    if present.all:
        return fit(method, design)
    spec = replace(
        design.spec, levels=tuple([design.spec.levels[code] for code in present.codes])
    )
    counts = design.counts[present.codes]
    narrow = replace(
        design, spec=spec, sample=present.among(design.sample), counts=counts
    )
    return present.widened(
        fit(present.method(method), narrow), method.cost_matrix, design.sample.rows
    )


def likelihood_fit(method: OrdinalRegression, design: BlockDesign) -> LikelihoodFit:
    """The fit to the rows of all blocks.

    Raises
    ------
    OptionError
        penalty='jeffreys', whose derivatives need all rows at once, or a ridge with
        an offset of the log scale.
    DataError
        The response may be separated, so that estimates may be infinite.
    """
    if method.penalty == "jeffreys":
        raise OptionError(
            "penalty='jeffreys' needs all rows at once: use a ridge, such as"
            " penalty=1.0."
        )
    sample = replace(design.sample, cluster=None)
    method.check(sample)
    if method.ridge and sample.rows.scale_offset is not None:
        raise OptionError(
            "A ridge with an offset of the log scale needs the mean of the offset by"
            " all rows at once: leave out penalty=, or fit to rows in memory."
        )
    with one_blas_thread():
        problem = method.problem(sample)
        if not problem.linear:
            raise OptionError(
                f"{type(method).__name__} needs all rows at once: fit a sample of the"
                " rows, or use method='multinomial'."
            )
        sure = all(
            columns.kept.all()
            for columns in (problem.location, problem.nominal, problem.scale)
        )
        if not design.whole and (not sure or method.penalty is not None):
            problem = method.problem(
                sample, all_columns(design.blocks, design.reader, method.ridge)
            )
        counted = _fields(problem) | {"counts": design.counts[problem.present]}
        fit = method.maximum(
            sample, BlockProblem(**counted, blocks=design.blocks, reader=design.reader)
        )
    if fit.separation is not None and not design.whole:
        levels = design.levels.values
        every = parameters(design, method.family.threshold_names(levels), fit)
        names = [
            every.names[i]
            for i in np.flatnonzero(fit.infinite)
            if every.kinds[i] != "threshold"
        ]
        raise DataError(
            "The response may be separated: effects may be infinite"
            f" ({first_few(names or ['thresholds'], 5)}), and only all rows together"
            " show which. Fit with penalty=1.0, merge levels, drop the column, or fit"
            " to a sample of rows in memory."
        )
    return replace(fit, likelihood=BlockLikelihood(**_fields(fit.likelihood)))


def _fields(value: Problem | LikelihoodAtEstimates) -> dict[str, Any]:
    """The fields of the class for rows in memory."""
    kind = Problem if isinstance(value, Problem) else LikelihoodAtEstimates
    return {item.name: getattr(value, item.name) for item in fields(kind)}


# --------------------------------------------------------------------- sums over blocks


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockProblem(Problem):
    """A problem whose `sample` holds some of the rows, for the start; what is maximised
    is summed over blocks.
    """

    blocks: RowBlocks
    reader: Reader

    @property
    def part_in_memory(self) -> Problem:
        """The problem of the sample."""
        return Problem(**_fields(self) | {"counts": self.sample.counts()})

    @property
    def template(self) -> Problem:
        """The problem without rows."""
        return Problem(**_fields(self) | {"sample": self.sample.take(slice(0))})

    def evaluate(
        self, x: FloatArray, information: Information | None = None, /
    ) -> Evaluation | None:
        total: Evaluation | None = None
        for at in self.blocks.map(
            partial(_evaluated, self.template, self.reader, x, information is not None)
        ):
            if at is None:
                return None
            if at.score.size:
                total = at if total is None else _sum(total, at)
        if total is None or not total.finite:
            return None
        if information is None or self.structure is not None:
            return total
        return replace(total, information=information)


def _evaluated(
    template: Problem, reader: Reader, x: FloatArray, known: bool, frame: pd.DataFrame
) -> Evaluation | None:
    """The part of a block, which is empty without rows; None outside the domain."""
    sample = reader(frame)[0]
    if not sample.n:
        return Evaluation(0.0, np.zeros(0), _KNOWN)
    return _of_block(template, sample).evaluate(x, _KNOWN if known else None)


def _of_block(template: Problem, sample: Sample) -> Problem:
    """The problem of the rows of a block."""
    rows = sample.rows
    shown = template.sample.rows
    if template.location.kept.size:
        X = kept_columns(rows.X, template.location.kept)
    else:
        X = rows.X[:, :0]
    nominal = rows.nominal
    scale = rows.scale
    if nominal is None or shown.nominal is None:
        nominal = None
    else:
        nominal = kept_columns(nominal, template.nominal.kept)
    if scale is None or shown.scale is None:
        scale = None
    else:
        scale = kept_columns(scale, template.scale.kept)
    present = replace(
        sample.among(template.present),
        rows=replace(rows, X=X, nominal=nominal, scale=scale),
    )
    return replace(template, sample=present)


def _sum(a: Evaluation, b: Evaluation) -> Evaluation:
    parts = (
        getattr(a.information, f.name) + getattr(b.information, f.name)
        for f in fields(Information)
    )
    return Evaluation(a.loglik + b.loglik, a.score + b.score, Information(*parts))


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockLikelihood(LikelihoodAtEstimates):
    """The likelihood of rows in blocks at its estimates; `products` of clusters (True)
    and rows, once computed with the bread of the estimates.
    """

    products: dict[bool, FloatArray] = field(default_factory=dict)

    def score_products(
        self, cluster: IntArray | None, bread: FloatArray | None = None
    ) -> FloatArray:
        """Sums of products of scores, over the clusters of the fit or over rows."""
        by_cluster = cluster is not None
        if bread is None:
            bread = np.eye(self.estimates.size)
        if by_cluster not in self.products:
            problem: Any = self.problem
            at = LikelihoodAtEstimates(**_fields(self) | {"problem": problem.template})
            score = partial(_scored, at, problem.reader, by_cluster, bread)
            parts = problem.blocks.map(score)
            total = reduce(lambda a, b: a.add(b, fill_value=0.0), parts).to_numpy()
            self.products[by_cluster] = total.T @ total if by_cluster else total
        return self.products[by_cluster]

    def bias_reduced(self, cluster: IntArray) -> NoReturn:
        raise OptionError(
            f"vcov='CR2' needs all rows at once, and they are in blocks. {WITHOUT_CR2}"
        )


def _scored(
    at: LikelihoodAtEstimates,
    reader: Reader,
    by_cluster: bool,
    bread: FloatArray,
    frame: pd.DataFrame,
) -> pd.DataFrame:
    """Sums of scores of the clusters of a block, or of products of the scores of its
    rows, times `bread`.
    """
    sample, labels = reader(frame)
    here = replace(at, problem=_of_block(at.problem, sample))
    if not sample.n:
        return pd.DataFrame()
    if not by_cluster:
        return pd.DataFrame(here.score_products(None, bread))
    codes, names = pd.factorize(labels)
    totals = here.score_totals(codes.astype(np.intp), names.size)
    return pd.DataFrame(totals @ bread, index=names)


# ------------------------------------------------------------------------------ columns


def all_columns(
    blocks: RowBlocks, reader: Reader, ridge: bool = False
) -> tuple[ColumnScales, ColumnScales]:
    """Nominal and location columns together, and those of the log scale, by all rows:
    one more pass.
    """
    widths, triangles = zip(*blocks.map(partial(_triangle, reader)), strict=True)
    R = np.asarray(np.linalg.qr(np.vstack(triangles), mode="r"))
    end = 1 + widths[0]
    ones = R[:, :1]
    return _columns_of(ones, R[:, 1:end], ridge), _columns_of(ones, R[:, end:], ridge)


def _triangle(reader: Reader, frame: pd.DataFrame) -> tuple[int, FloatArray]:
    """The number of nominal and location columns of a block, and R of the QR
    decomposition of a column of ones, these and the columns of the log scale, times the
    root of the weights.
    """
    sample = reader(frame)[0]
    given = [
        part
        for part in (sample.rows.nominal, sample.X, sample.rows.scale)
        if part is not None
    ]
    matrix = np.sqrt(sample.case_weights)[:, None] * np.hstack(
        [np.ones((sample.n, 1)), *given]
    )
    width = (
        matrix.shape[1]
        - 1
        - (0 if sample.rows.scale is None else sample.rows.scale.shape[1])
    )
    return width, np.asarray(np.linalg.qr(matrix, mode="r"))


def _columns_of(ones: FloatArray, R: FloatArray, ridge: bool) -> ColumnScales:
    """Means, deviations and aliased columns of a triangle, as in `survey`."""
    mean = (ones * R).sum(axis=0) / (ones**2).sum()
    total = np.linalg.norm(ones)
    deviation = np.linalg.norm(R - mean * ones, axis=0) / total
    constant = deviation <= CONSTANT * np.abs(mean)
    kept = ~constant if ridge else sweep(R, ones[:, 0], mean)
    return ColumnScales(mean, np.where(constant, 1.0, deviation), kept)


# ----------------------------------------------------------------------------- machines

#: Largest component of the gradient, as a share of C and the weight of the rows, at
#: which a machine counts as solved.
_FLAT = 1e-7


def _scaling(design: BlockDesign, kind: str | None) -> Scaling:
    """The scaling of the columns by all rows: one pass, unless they stay."""
    two = design.sample.X
    if kind == "range":
        ends = np.concatenate([*design.blocks.map(partial(_ends, design.reader))])
        two = np.stack([ends.min(axis=0), ends.max(axis=0)])
    elif kind == "standard":
        columns = all_columns(design.blocks, design.reader)[0]
        two = np.stack(
            [columns.mean - columns.deviation, columns.mean + columns.deviation]
        )
    return fit_scaling(kind, two, np.ones(len(two)))


def _ends(reader: Reader, frame: pd.DataFrame) -> FloatArray:
    """(2, D) the least and the largest values of the columns of a block; (0, D) without
    rows.
    """
    X = reader(frame)[0].X
    return np.stack([X.min(axis=0), X.max(axis=0)]) if len(X) else X


def machine_fit(method: KernelMachine, design: BlockDesign) -> MarginFit:
    """Fit an SVM with squared hinge loss. Its certificate is the gradient, as the dual
    has one variable for each row.

    Newton's method on the sum over blocks begins at the optimum of the sample.
    """
    sample = design.sample
    if method.selects:
        raise OptionError(
            f"C must be a number where rows are in blocks; got {method.C!r}. Choose it"
            " on a sample."
        )
    method.check(sample)
    require_differences(method.costs(sample), sample.case_weights)
    C = method.grid[0]
    scaling = _scaling(design, method.scaling)
    with one_blas_thread():
        newton = _newton(method, scaling, sample)
        ratio = float(design.counts.sum() / sample.case_weights.sum())
        newton.minimised(C * ratio)
        newton.total *= ratio
        end = newton.minimised(C, partial(_loss, method, scaling, design))
    potential = LinearPotential.plain(scaling, end.coef)
    rule = ThresholdRule(potential, end.theta + potential.offset)
    scores = rule.scores(sample.rows)
    slope = end.gradient / (C * newton.total)
    facts = (
        *method.settled_facts(None, sample.X.shape[1]),
        *method.method_facts(newton.problem, None),
    )
    return MarginFit(
        rule=replace(rule, tie=tolerance(scores)),
        certificate=Certificate(
            name="max |gradient| / (C n)", value=slope, tolerance=_FLAT
        ),
        trace=Trace(
            iterations=end.objective.size,
            objective=end.objective,
            message="solver Newton",
        ),
        scores=scores,
        facts=(*facts, ("Solver", newton.name)),
        coefficients=potential.slopes,
    )


def _newton(
    method: KernelMachine, scaling: Scaling, sample: Sample
) -> SquaredHingeNewton:
    problem = method.problem(
        sample, LinearGram(scaling(sample.X)), method.costs(sample)
    )
    return SquaredHingeNewton(problem, np.random.default_rng(0))


def _loss(
    method: KernelMachine, scaling: Scaling, design: BlockDesign, v: FloatArray
) -> Loss:
    """Summed over blocks."""
    parts = design.blocks.map(partial(_loss_of, method, scaling, design.reader, v))
    return reduce(
        lambda a, b: Loss(
            a.value + b.value, a.gradient + b.gradient, a.hessian + b.hessian
        ),
        parts,
    )


def _loss_of(
    method: KernelMachine,
    scaling: Scaling,
    reader: Reader,
    v: FloatArray,
    frame: pd.DataFrame,
) -> Loss:
    return _newton(method, scaling, reader(frame)[0]).loss(v)


# ----------------------------------------------------------------------- online rankers


def online_fit(method: OnlineMethod, design: BlockDesign) -> Any:
    """One pass over the rows in their order."""
    if method.epochs != 1 or method.presentation != "order":
        raise OptionError(
            "Rows in blocks are learned once, in their order: give epochs=1,"
            f" presentation='order' (got epochs={method.epochs},"
            f" presentation={method.presentation!r})."
        )
    method.check(design.sample)
    require_differences(method.costs(design.sample), design.sample.case_weights)
    scaling = _scaling(design, method.scaling)
    learner = None
    for sample, _ in design.blocks.map(design.reader):
        if sample.n:
            learner = method.after(
                sample, scaling, None if learner is None else learner.learned
            )
    assert learner is not None
    learner.tally = replace(learner.tally, batches=1)
    fit = method.concluded(learner)
    return replace(fit, scores=fit.rule.scores(design.sample.rows))
