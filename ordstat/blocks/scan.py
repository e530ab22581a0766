"""The first pass over the blocks, which finds levels, counts and means, and the design that these make."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..exceptions import DataError, FormulaError, OptionError
from ..formula import inputs
from ..formula.columns import Columns, Factor, factor_of, matched
from ..formula.design import ZERO_WEIGHT, Design, Recipe, formulas, incomplete, left_out, make
from ..formula.factors import FITTED, Affine, Interpreter, Transform, bound, numeric
from ..formula.parse import Expression, dotted_name, literal, parse_expression, said, source
from ..formula.sample import Sample
from ..formula.spec import FormulaSpec
from .sources import Blocks, Source

#: A row of the sample: its key, rank and place.
Mark = tuple[tuple[Any, ...], float, int]
#: Rows that stay in memory: at most twice as many.
SAMPLE = 1 << 18
#: Levels of a factor, and of the response, at most.
_MOST_LEVELS = 10_000


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockDesign(Design):
    """A design whose rows are in blocks; its sample holds evenly spaced rows of them, and the codes of all clusters.

    Attributes
    ----------
    blocks : Blocks
    counts : (K,) sums of the weights of the rows of each level
    n_used : int
        Rows used.
    """

    blocks: Blocks = field(repr=False)  # type: ignore[misc]  # None on the class of designs in memory
    counts: FloatArray
    n_used: int

    @property
    def whole(self) -> bool:
        """Whether the sample holds every row."""
        return self.sample.n == self.n_used

    @property
    def reader(self) -> Reader:
        """What makes samples of the blocks."""
        return Reader(self.spec, self.recipe)


@dataclass(frozen=True, eq=False)
class Reader:
    """From a block to the sample of its complete rows, by the columns and levels of a design."""

    spec: FormulaSpec
    recipe: Recipe

    def __call__(self, frame: pd.DataFrame) -> tuple[Sample, Any]:
        """The sample, and the labels (n,) of its clusters or None."""
        response, weights, labels, missing = self.beside(Columns(frame))
        y = matched(response, self.spec.levels)[0]
        kept = ~np.any([y < 0, *missing.values(), *([] if weights is None else [weights == 0])], axis=0)
        new = self.spec.rebuild(frame if kept.all() else frame[kept])
        kept[kept] = new.complete
        weights, labels = (None if given is None else given[kept] for given in (weights, labels))
        codes, n_levels = y[kept].astype(np.intp), len(self.spec.levels)
        return Sample(rows=new.rows, y=codes, n_levels=n_levels, weights=weights), labels

    def beside(self, columns: Columns) -> tuple[Factor, FloatArray | None, Any, dict[str, BoolArray]]:
        """Response, weights and labels of clusters of a block, and where these are missing, by name."""
        name, weights, labels = self.spec.response_name, self.recipe.weights, self.recipe.cluster
        given, index = {name: columns.column(name, "the response")}, columns.frame.index
        if weights is not None:
            given[weights] = inputs.vector(weights, "weights", columns, None, index)
            weights = inputs.weights_of(given[weights], weights, index)
        if labels is not None:
            given[labels] = inputs.vector(labels, "cluster", columns, None, index)
            value = given[labels].value
            labels = np.array([*value.levels, None], object)[value.codes] if isinstance(value, Factor) else value
        missing = {name: column.missing for name, column in given.items() if column.missing is not None}
        return factor_of(given[name].value, name), weights, labels, missing


# ------------------------------------------------------------------------------------------ the first pass


@dataclass(eq=False, kw_only=True)
class Scan:
    """What the first pass has found so far.

    Attributes
    ----------
    rows : Counter
        Rows that were "given", are "incomplete", are "lost" (left out).
    dropped, counts : Counter
        Rows left out by variable, and weights of the levels of the response.
    moments : dict of call to list
        Number, mean and sum of squares about it of the arguments of center() and scale(), by block.
    clusters : pandas.Index
        Labels of the clusters.
    stride : int
        The sample has one row in this many, of each block.
    sample : list of frames
    marks : dict
        The first row of each level of each factor, preferably complete, and those of the least and the largest values:
        (rank, frame, place in it); the least rank stays.
    """

    rows: Counter[str]
    dropped: Counter[str]
    counts: Counter[Any]
    moments: dict[str, list[tuple[int, float, float]]]
    clusters: pd.Index
    stride: int
    sample: list[pd.DataFrame]
    marks: dict[tuple[Any, ...], tuple[float, pd.DataFrame, int]]

    def with_block(self, other: Scan) -> Scan:
        """Both together."""
        marks, stride = dict(self.marks), max(self.stride, other.stride)
        marks |= {key: mark for key, mark in other.marks.items() if key not in marks or mark[0] < marks[key][0]}
        parts = [(frame, stride // part.stride) for part in (self, other) for frame in part.sample]
        if sum(len(frame) // step for frame, step in parts) > 2 * SAMPLE:
            parts, stride = [(frame, 2 * step) for frame, step in parts], 2 * stride
        return Scan(
            rows=self.rows + other.rows,
            dropped=self.dropped + other.dropped,
            counts=self.counts + other.counts,
            moments={call: [*moments, *other.moments[call]] for call, moments in self.moments.items()},
            clusters=self.clusters.union(other.clusters, sort=False),
            stride=stride,
            sample=[frame if step == 1 else frame.iloc[::step].copy() for frame, step in parts],
            marks=marks,
        )

    def frame(self) -> pd.DataFrame:
        """The sample and the marked rows, which show every level."""
        marked = [] if self.stride == 1 else [few.iloc[[place]] for _, few, place in self.marks.values()]
        return pd.concat([*filter(len, self.sample), *marked])


def _look(read: Reader, states: dict[str, Transform], arguments: dict[str, Expression], frame: pd.DataFrame) -> Scan:
    """One block; `arguments` are those of center() and scale(), whose `states` leave them as they are."""
    columns, spec = Columns(frame), read.spec
    interpreter = Interpreter(columns, states)
    response, weights, labels, missing = read.beside(columns)
    factors, used = {spec.response_name: response}, dict[str, None]()
    for key, expression in (spec.factors | spec.offsets).items():
        value, names, _ = interpreter.evaluate(expression)
        used |= dict.fromkeys(names)
        factors |= {key: value} if isinstance(value, Factor) else {}
    missing |= {name: mask for name in used if (mask := columns.column(name).missing) is not None}
    lost = np.any([np.zeros(len(frame), dtype=bool), *missing.values()], axis=0)
    rows = Counter(given=len(frame), incomplete=int(lost.sum()))
    if weights is not None:
        missing[ZERO_WEIGHT] = weights == 0
        lost |= missing[ZERO_WEIGHT]
    mass = np.bincount(response.codes[~lost], None if weights is None else weights[~lost], len(response.levels))
    marked = [*_marks(columns, factors, used, lost)]
    few = frame.iloc[[row for *_, row in marked]]
    stride = 1 << (max(32 * len(frame) - 1, 0) // SAMPLE).bit_length()
    return Scan(
        rows=rows + Counter(lost=int(lost.sum())),
        dropped=Counter({name: int(mask.sum()) for name, mask in missing.items() if mask.any()}),
        counts=Counter(dict(zip(response.levels, mass.tolist(), strict=True))),
        moments={call: [_moments(interpreter, argument)] for call, argument in arguments.items()},
        clusters=pd.Index([] if labels is None else pd.unique(labels[~lost])),
        stride=stride,
        sample=[frame.iloc[::stride].copy()],
        marks={key: (rank, few, place) for place, (key, rank, _) in enumerate(marked)},
    )


def _moments(interpreter: Interpreter, argument: Expression) -> tuple[int, float, float]:
    x = np.asarray(numeric(interpreter.evaluate(argument)[0], argument.tree), dtype=float)
    x = x[np.isfinite(x)]
    mean = float(x.mean()) if x.size else 0.0
    return x.size, mean, float(np.sum((x - mean) ** 2))


def _pair(moments: list[tuple[int, float, float]]) -> FloatArray:
    """(2,) two values with the mean and the standard deviation of all rows."""
    n, mean, squares = np.array(moments).T
    middle = n @ mean / max(n.sum(), 1.0)
    half = np.sqrt(0.5 * (squares.sum() + n @ (mean - middle) ** 2) / max(n.sum() - 1.0, 1.0))
    return np.array([middle - half, middle + half])


def _marks(columns: Columns, factors: dict[str, Factor], used: Iterable[str], lost: BoolArray) -> Iterator[Mark]:
    """Key, rank and row of the rows that a sample must have."""
    complete = np.flatnonzero(~lost)
    for key, factor in factors.items():
        if len(factor.levels) > _MOST_LEVELS:
            raise DataError(f"{key!r} must have at most {_MOST_LEVELS:,} levels in blocks. Join levels.")
        for rank, rows in enumerate((complete, np.flatnonzero(lost))):
            first = np.full(len(factor.levels) + 1, -1)  # the last place is that of the code -1
            first[factor.codes[rows[::-1]]] = rows[::-1]
            for code in np.flatnonzero(first[:-1] >= 0):
                yield (key, factor.levels[code]), float(rank), int(first[code])
    for name in used if complete.size else ():
        value = columns.column(name).value
        if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
            x = value[complete] if lost.any() else value
            for end, sign in ((np.argmin, 1.0), (np.argmax, -1.0)):
                place = end(x)
                yield (name, end), sign * float(x[place]), int(complete[place])


# ------------------------------------------------------------------------------------------ the design


def scanned(recipe: Recipe, data: Source) -> BlockDesign:
    """The design of rows in blocks, after one pass over them.

    Raises
    ------
    FormulaError, DataError, OptionError
        The formula or an argument needs all rows at once, or cannot be used.
    """
    for role in ("weights", "offset", "cluster", "subset"):
        if not isinstance(given := getattr(recipe, role), str | None):
            raise OptionError(f"{role}= must be the name of a column where rows are in blocks; got {type(given)}.")
    blocks = Blocks(data, (), recipe.subset)
    empty = pd.DataFrame(columns=blocks.names)
    spec = formulas(recipe, empty)
    refused = {"cost= of rows": recipe.costs, "design=": recipe.design, "cov=": recipe.cov}
    refused |= {"(1 | g)": spec.location.random or None, "na_action='keep'": recipe.na_action == "keep" or None}
    if wrong := [what for what, given in refused.items() if given is not None]:
        raise OptionError(f"{wrong[0]} needs all rows at once, and they are in blocks: fit to rows in memory.")
    beside = [inputs.expression_of(text, Columns(empty)) for text in (recipe.weights, recipe.cluster) if text]
    beside += [] if recipe.subset is None else [parse_expression(recipe.subset)]
    expressions = spec.factors | spec.offsets
    names = [name for each in (*expressions.values(), *beside) for name in sorted(each.names)]
    needed = dict.fromkeys(name for name in (spec.response_name, *names) if name in empty)
    states, moments = _transforms(expressions)
    blocks = replace(blocks, columns=tuple(needed))
    scans = blocks.map(partial(_look, Reader(spec, recipe), states, moments))
    return _design(recipe, reduce(Scan.with_block, scans), states, blocks)


def _transforms(expressions: Mapping[str, Expression]) -> tuple[dict[str, Transform], dict[str, Expression]]:
    """Fitted transforms by call, where center() and scale() leave x as it is, and the arguments of these.

    Raises
    ------
    FormulaError
        A transform that needs all rows at once.
    """
    states, moments = dict[str, Transform](), dict[str, Expression]()
    for node in (node for expression in expressions.values() for node in ast.walk(expression.tree)):
        name = dotted_name(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or name not in FITTED or not node.args:
            continue
        inner = {dotted_name(part.func) for part in ast.walk(node.args[0]) if isinstance(part, ast.Call)}
        options = {str(option.arg): option.value for option in node.keywords}
        plain = len(node.args) == 1 and not inner & FITTED.keys()
        if name in ("center", "scale") and plain and not options:
            states[ast.unparse(node)] = Affine(center=0.0, scale=1.0)
            moments[ast.unparse(node)] = Expression(ast.unparse(node.args[0]), source(node.args[0]))
        elif name in ("bs", "ns") and plain and {"knots", "boundary_knots"} <= options.keys():
            values = {option: literal(value) for option, value in options.items()}
            ends = np.array(values["boundary_knots"], dtype=float)
            states[ast.unparse(node)] = bound(FITTED[name], node, ends, **values)
        else:
            raise FormulaError(
                f"{said(node)} needs all rows at once, and they are in blocks. There are center(x), scale(x), I(x^2), "
                "bs() and ns() with knots= and boundary_knots=; make others a column of the data."
            )
    return states, moments


def _design(recipe: Recipe, scan: Scan, states: dict[str, Transform], blocks: Blocks) -> BlockDesign:
    """From what the first pass has found."""
    given, used = scan.rows["given"], scan.rows["given"] - scan.rows["lost"]
    missing = {name: count for name, count in scan.dropped.items() if name != ZERO_WEIGHT}
    if missing and recipe.na_action == "raise":
        raise incomplete(missing, scan.rows["incomplete"], given)
    if recipe.cluster is not None and scan.clusters.size < 2:
        raise DataError("cluster= has the same value in every row used; it must hold at least 2 clusters.")
    for key, moments in scan.moments.items():
        call: Any = ast.parse(key, mode="eval").body
        states[key] = bound(FITTED[call.func.id], call, _pair(moments))
    design = make(replace(recipe, na_action="omit", cluster=None), scan.frame(), states=states)
    sample = design.sample if recipe.cluster is None else replace(design.sample, cluster=np.arange(scan.clusters.size))
    notes = design.notes
    if sample.n < used:
        own = notes[any(name != ZERO_WEIGHT for name in design.dropped) :]
        notes = tuple(f"In {sample.n:,} of {used:,} rows: {note}" for note in own)
        notes = (left_out(missing, scan.rows["incomplete"], given), *notes) if missing else notes
    changed = {"sample": sample, "recipe": recipe, "data": None, "n_given": given, "dropped": dict(scan.dropped)}
    counts = np.array([scan.counts[level] for level in design.levels.values])
    return BlockDesign(**vars(design) | changed | {"notes": notes}, blocks=blocks, counts=counts, n_used=used)
