"""The first pass over the blocks, which finds levels, counts and means, and the design that these make."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..exceptions import DataError, FormulaError, OptionError
from ..formula import inputs
from ..formula.columns import Column, Columns, Factor, factor_of, find_column, matched
from ..formula.design import ZERO_WEIGHT, Design, Recipe, formulas, incomplete, left_out, make
from ..formula.factors import FITTED, Affine, Interpreter, Transform, bound, numeric
from ..formula.parse import CONSTANTS, Expression, dotted_name, literal, parse_expression, said, source
from ..formula.sample import Sample
from ..formula.spec import FormulaSpec
from .sources import Blocks, Source, by_name

#: Rows that stay in memory: at most twice as many.
SAMPLE = 1 << 17
#: Levels of a factor, and of the response, at most.
_MOST_LEVELS = 10_000


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockDesign(Design):
    """A design whose rows are in blocks; its sample holds evenly spaced rows of them.

    Attributes
    ----------
    blocks : Blocks or None
        None after saving and pickling.
    counts : (K,) sums of the weights of the rows of each level
    n_used, n_clusters : int
        Rows used, and their clusters.
    whole : bool
        Whether the sample holds every row.
    """

    blocks: Blocks | None = field(default=None, repr=False)
    counts: FloatArray = field(default_factory=lambda: np.zeros(0))
    n_used: int = 0
    n_clusters: int = 0
    whole: bool = False

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "blocks": None}

    @property
    def reader(self) -> Reader:
        """What makes samples of the blocks."""
        return Reader(self.spec, self.recipe)


class Beside(NamedTuple):
    """Response, weights and clusters of a block, and where a value is missing, by name."""

    response: Column
    weights: FloatArray | None
    cluster: Column | None
    missing: dict[str, BoolArray]


def _beside(response: str, recipe: Recipe, columns: Columns) -> Beside:
    index, given = columns.frame.index, dict[str, Column]()
    label = columns.column(response, "the response")
    missing = {} if label.missing is None else {response: label.missing}
    for role in ("weights", "cluster"):
        if (name := getattr(recipe, role)) is not None:
            given[role] = column = inputs.vector(name, role, columns, None, index)
            missing |= {} if column.missing is None else {name: column.missing}
    weights = inputs.weights_of(given["weights"], recipe.weights, index) if "weights" in given else None
    return Beside(label, weights, given.get("cluster"), missing)


def _labels(column: Column) -> Any:
    """(N,) the labels of clusters."""
    value = column.value
    return np.array([*value.levels, None], dtype=object)[value.codes] if isinstance(value, Factor) else value


@dataclass(frozen=True, eq=False)
class Reader:
    """From a block to the sample of its complete rows, by the columns and levels of a design."""

    spec: FormulaSpec
    recipe: Recipe

    def __call__(self, frame: pd.DataFrame) -> tuple[Sample, Any]:
        """The sample, and the labels (n,) of its clusters or None."""
        response, weights, cluster, missing = _beside(self.spec.response_name, self.recipe, Columns(frame))
        y = matched(factor_of(response.value, self.spec.response_name), self.spec.levels)[0]
        kept = ~np.any([y < 0, *missing.values(), *([] if weights is None else [weights == 0])], axis=0)
        new = self.spec.rebuild(frame if kept.all() else frame[kept])
        kept[kept] = new.complete
        labels = None if cluster is None else _labels(cluster)[kept]
        codes, weights = y[kept].astype(np.intp), None if weights is None else weights[kept]
        return Sample(rows=new.rows, y=codes, n_levels=len(self.spec.levels), weights=weights), labels


# ------------------------------------------------------------------------------------------ the first pass


@dataclass(frozen=True, eq=False, kw_only=True)
class _Plan:
    """What the first pass looks at.

    Attributes
    ----------
    recipe : Recipe
    response : str
    expressions : mapping of key to Expression
        Factors and offsets of the formulas.
    states : mapping of call to Transform
        Those of fixed knots; center() and scale() leave x as it is.
    moments : mapping of call to Expression
        The arguments of center() and scale().
    """

    recipe: Recipe
    response: str
    expressions: Mapping[str, Expression]
    states: Mapping[str, Transform]
    moments: Mapping[str, Expression]


class Moments(NamedTuple):
    """Weight, mean and sum of squares about the mean of some values, or of each of some columns."""

    n: float
    mean: Any
    squares: Any

    def plus(self, other: Moments) -> Moments:
        """Those of both together [Chan, Golub & LeVeque 1983]."""
        n, moved = self.n + other.n, other.mean - self.mean
        share = other.n / n if n else 0.0
        return Moments(n, self.mean + share * moved, self.squares + other.squares + self.n * share * moved**2)

    def pair(self, divisor: float) -> FloatArray:
        """(2, ...) two values with this mean whose squares about it have the sum `squares` / divisor."""
        half = np.sqrt(0.5 * self.squares / divisor)
        return np.stack([self.mean - half, self.mean + half])


@dataclass(eq=False, kw_only=True)
class Scan:
    """What the first pass has found so far.

    Attributes
    ----------
    n, incomplete, lost : int
        Rows, those with a missing value, and those left out.
    dropped : dict of str to int
        Rows left out, by variable.
    counts : dict of label to weight
        Of the levels of the response.
    moments : dict of call to Moments
    clusters : pandas.Index or None
        Labels of the clusters.
    stride : int
        The sample has one row in this many, of each block.
    sample : list of frames
    marks : dict
        The first row of each level of each factor, preferably complete, and those of the least and the largest values:
        (rank, frame of one row); the least rank stays.
    """

    n: int
    incomplete: int
    lost: int
    dropped: dict[str, int]
    counts: dict[Any, float]
    moments: dict[str, Moments]
    clusters: pd.Index | None
    stride: int
    sample: list[pd.DataFrame]
    marks: dict[tuple[Any, ...], tuple[float, pd.DataFrame]]

    def add(self, other: Scan) -> None:
        """Take in a later block."""
        self.n, self.incomplete, self.lost = (
            self.n + other.n,
            self.incomplete + other.incomplete,
            self.lost + other.lost,
        )
        for name, rows in other.dropped.items():
            self.dropped[name] = self.dropped.get(name, 0) + rows
        for label, weight in other.counts.items():
            self.counts[label] = self.counts.get(label, 0.0) + weight
        self.moments = {key: value.plus(other.moments[key]) for key, value in self.moments.items()}
        if self.clusters is not None and other.clusters is not None:
            self.clusters = self.clusters.union(other.clusters, sort=False)
        for key, mark in other.marks.items():
            if key not in self.marks or mark[0] < self.marks[key][0]:
                self.marks[key] = mark
        stride = max(self.stride, other.stride)
        mine, more = (_thinned(part.sample, stride // part.stride) for part in (self, other))
        self.sample, self.stride = mine + more, stride
        while sum(map(len, self.sample)) > 2 * SAMPLE:
            self.sample, self.stride = _thinned(self.sample, 2), 2 * self.stride

    def frame(self) -> pd.DataFrame:
        """The sample and the marked rows, which show every level."""
        frames = self.sample if self.stride == 1 else [*self.sample, *(row for _, row in self.marks.values())]
        frame = pd.concat([part for part in frames if len(part)] or frames[:1])
        for name, dtype in frames[0].dtypes.items():
            ordered = isinstance(dtype, pd.CategoricalDtype) and dtype.ordered
            if ordered and not isinstance(frame[name].dtype, pd.CategoricalDtype):
                raise DataError(f"Column {name!r} has other categories in other blocks: give all the same, or levels=.")
        return frame


def _thinned(frames: list[pd.DataFrame], step: int) -> list[pd.DataFrame]:
    return frames if step == 1 else [frame.iloc[::step].copy() for frame in frames]


def _look(plan: _Plan, frame: pd.DataFrame) -> Scan:
    """One block."""
    columns, recipe = Columns(frame), plan.recipe
    interpreter = Interpreter(columns, dict(plan.states))
    response, weights, cluster, missing = _beside(plan.response, recipe, columns)
    if recipe.levels is not None:
        inputs.known_codes(response, plan.response, inputs.check_levels(recipe.levels))
    factors, used = {plan.response: factor_of(response.value, plan.response)}, dict[str, None]()
    for key, expression in plan.expressions.items():
        value, names, _ = interpreter.evaluate(expression)
        used |= dict.fromkeys(names)
        factors |= {key: value} if isinstance(value, Factor) else {}
    missing |= {name: mask for name in used if (mask := columns.column(name).missing) is not None}
    missing = {name: mask for name, mask in missing.items() if mask.any()}
    lost = np.any([np.zeros(len(frame), dtype=bool), *missing.values()], axis=0)
    n_incomplete, dropped = int(lost.sum()), {name: int(mask.sum()) for name, mask in missing.items()}
    if weights is not None and (zero := weights == 0).any():
        dropped, lost = dropped | {ZERO_WEIGHT: int(zero.sum())}, lost | zero
    levels = factors[plan.response]
    mass = np.bincount(levels.codes[~lost], None if weights is None else weights[~lost], len(levels.levels))
    stride = 1 << (max(4 * len(frame) - 1, 0) // SAMPLE).bit_length()
    return Scan(
        n=len(frame),
        incomplete=n_incomplete,
        lost=int(lost.sum()),
        dropped=dropped,
        counts=dict(zip(levels.levels, mass.tolist(), strict=True)),
        moments={key: _moments(interpreter, expression) for key, expression in plan.moments.items()},
        clusters=None if cluster is None else pd.Index(pd.unique(_labels(cluster)[~lost])),
        stride=stride,
        sample=[frame.iloc[::stride].copy()],
        marks={key: (rank, frame.iloc[[row]]) for key, rank, row in _marks(columns, factors, [*used], lost)},
    )


def _moments(interpreter: Interpreter, expression: Expression) -> Moments:
    x = np.asarray(numeric(interpreter.evaluate(expression)[0], expression.tree), dtype=float)
    x = x[np.isfinite(x)]
    mean = float(x.mean()) if x.size else 0.0
    return Moments(x.size, mean, float(np.sum((x - mean) ** 2)))


def _marks(
    columns: Columns, factors: Mapping[str, Factor], used: list[str], lost: BoolArray
) -> Iterator[tuple[tuple[Any, ...], float, int]]:
    """Key, rank and row of the rows that a sample must have."""
    for key, factor in factors.items():
        if len(factor.levels) > _MOST_LEVELS:
            raise DataError(
                f"{key!r} has more than {_MOST_LEVELS:,} levels, too many for rows in blocks: join levels, or cut "
                "numbers into classes."
            )
        for rank, rows in enumerate((np.flatnonzero(~lost), np.flatnonzero(lost))):
            first = np.full(len(factor.levels) + 1, -1)  # the last place is that of the code -1
            first[factor.codes[rows[::-1]]] = rows[::-1]
            for code in np.flatnonzero(first[:-1] >= 0):
                yield (key, factor.levels[code]), float(rank), int(first[code])
    for name in used:
        value, missing = columns.column(name)
        if isinstance(value, Factor) or value.dtype.kind not in "iuf" or not value.size:
            continue
        if missing is None or not missing.all():
            low, high = (pick(value) for pick in (np.argmin, np.argmax)) if missing is None else _ends(value)
            yield (name, "lowest"), float(value[low]), int(low)
            yield (name, "highest"), -float(value[high]), int(high)


def _ends(value: Any) -> tuple[Any, Any]:
    return np.nanargmin(value), np.nanargmax(value)


# ------------------------------------------------------------------------------------------ the design


def scanned(recipe: Recipe, data: Source) -> BlockDesign:
    """The design of rows in blocks, after one pass over them.

    Raises
    ------
    FormulaError, DataError, OptionError
        The formula or an argument needs all rows at once, or cannot be used.
    """
    _check(recipe)
    names = list(getattr(data.schema, "names", data.schema))
    empty = pd.DataFrame(columns=names)
    spec = formulas(recipe, empty)
    if spec.location.random:
        raise FormulaError("Random effects need all rows at once: fit to rows in memory, or give cluster=.")
    expressions = spec.factors | spec.offsets
    given = [inputs.expression_of(text, Columns(empty)) for text in (recipe.weights, recipe.cluster) if text]
    given += [] if recipe.subset is None else [parse_expression(recipe.subset)]
    needed = dict.fromkeys(name for each in (*expressions.values(), *given) for name in sorted(each.names))
    needed = {name: None for name in (spec.response_name, *needed) if name in names or name not in CONSTANTS}
    for name in needed:
        find_column(empty, name, "the formula")
    fixed, moments = _transforms(expressions)
    plan = _Plan(recipe=recipe, response=spec.response_name, expressions=expressions, states=fixed, moments=moments)
    blocks = Blocks(data, tuple(needed), recipe.subset)
    scan = None
    for part in blocks.map(partial(_look, plan)):
        if scan is None:
            scan = part
        else:
            scan.add(part)
    if scan is None:
        raise DataError("The data have no block of rows.")
    return _design(scan, blocks, plan)


def _check(recipe: Recipe) -> None:
    """OptionError for arguments that need all rows at once."""
    for role in ("weights", "offset", "cluster", "subset"):
        by_name(role, getattr(recipe, role))
    for role, argument in {"costs": "cost= of rows", "design": "design=", "cov": "cov="}.items():
        if getattr(recipe, role) is not None:
            raise OptionError(f"{argument} needs all rows at once, and they are read in blocks: leave it out.")
    if recipe.na_action == "keep":
        raise OptionError("na_action='keep' needs all rows at once: use na_action='omit'.")


def _transforms(expressions: Mapping[str, Expression]) -> tuple[dict[str, Transform], dict[str, Expression]]:
    """Fitted transforms by call, where center() and scale() leave x as it is, and the arguments of these.

    Raises
    ------
    FormulaError
        A transform that needs all rows at once.
    """
    states, moments = dict[str, Transform](), dict[str, Expression]()
    calls = [node for expression in expressions.values() for node in ast.walk(expression.tree)]
    for node in calls:
        name = dotted_name(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or name not in FITTED or not node.args:
            continue
        options = {str(keyword.arg): keyword.value for keyword in node.keywords}
        inner = {dotted_name(part.func) for part in ast.walk(node.args[0]) if isinstance(part, ast.Call)}
        key = ast.unparse(node)
        if inner & FITTED.keys():
            raise _at_once(node, "one transform inside another. Make the inner one a column")
        if name in ("center", "scale"):
            if options or len(node.args) > 1:
                raise _at_once(node, "options of scale(). Leave them out")
            states[key] = Affine(center=0.0, scale=1.0)
            moments[key] = Expression(ast.unparse(node.args[0]), source(node.args[0]))
        elif name == "poly" or len(node.args) > 1 or not {"knots", "boundary_knots"} <= options.keys():
            raise _at_once(node, "knots from the data. Use I(x^2), or bs() or ns() with knots= and boundary_knots=")
        else:
            values = {option: literal(value) for option, value in options.items()}
            states[key] = bound(FITTED[name], node, np.array(values["boundary_knots"], dtype=float), **values)
    return states, moments


def _at_once(node: ast.Call, what: str) -> FormulaError:
    return FormulaError(f"{said(node)} needs all rows at once, and they are read in blocks: {what}.")


def _design(scan: Scan, blocks: Blocks, plan: _Plan) -> BlockDesign:
    """From what the first pass has found."""
    recipe, used = plan.recipe, scan.n - scan.lost
    missing = {name: count for name, count in scan.dropped.items() if name != ZERO_WEIGHT}
    if missing and recipe.na_action == "raise":
        raise incomplete(missing, scan.incomplete, scan.n)
    if not used:
        raise DataError(f"No row of the {scan.n} given can be used; left out for {', '.join(scan.dropped)}.")
    if scan.clusters is not None and scan.clusters.size < 2:
        raise DataError("cluster= has the same value in every row used; it must hold at least 2 clusters.")
    states = dict(plan.states)
    for key, moments in scan.moments.items():
        call: Any = ast.parse(key, mode="eval").body
        states[key] = bound(FITTED[str(dotted_name(call.func))], call, moments.pair(max(moments.n - 1.0, 1.0)))
    design, whole = make(replace(recipe, na_action="omit"), scan.frame(), states=states), scan.stride == 1
    given = {item.name: getattr(design, item.name) for item in fields(Design)}
    changed: dict[str, Any] = {"recipe": recipe, "data": None, "n_given": scan.n, "dropped": scan.dropped}
    if not whole:
        notes = design.notes[any(name != ZERO_WEIGHT for name in design.dropped) :]
        own = (f"In {design.sample.n:,} of {used:,} rows: {note}" for note in notes)
        changed["notes"] = (*([left_out(missing, scan.incomplete, scan.n)] if missing else []), *own)
    counts = np.array([scan.counts[level] for level in design.levels.values])
    n_clusters = 0 if scan.clusters is None else scan.clusters.size
    return BlockDesign(**given | changed, blocks=blocks, counts=counts, n_used=used, n_clusters=n_clusters, whole=whole)
