"""The first pass over the blocks, which finds levels, counts and means, and the design
that these make.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import plain, shown_labels
from ..exceptions import DataError, FormulaError, OptionError
from ..formula import inputs
from ..formula.columns import Column, Columns, Factor, factor_of, matched
from ..formula.design import Design, make
from ..formula.factors import FITTED, Interpreter, Transform, Weighted, bound, numeric
from ..formula.level_effects import level_effect_call
from ..formula.parse import (
    Expression,
    PartialCall,
    columns_of,
    dotted_name,
    literal,
    parse_expression,
    partial_call,
    said,
    source,
)
from ..formula.partial import read_partial
from ..formula.reading import formulas
from ..formula.recipe import Recipe
from ..formula.sample import Rows, Sample
from ..formula.spans import LevelSpans, NumberSpans, SpanLevels
from ..formula.spec import FormulaSpec
from ..formula.used import ZERO_WEIGHT, incomplete, left_out
from .sources import RowBlocks, Source

#: A row of the sample: its key, rank and place.
Mark = tuple[tuple[Any, ...], float, int]
#: Rows that stay in memory: at most twice as many.
SAMPLE = 1 << 18
#: Levels of a factor, and of the response, at most.
_MOST_LEVELS = 10_000


@dataclass(frozen=True, eq=False, kw_only=True)
class SampleOfBlocks(Sample):
    """Some of the rows of blocks, with the cluster codes of all rows; no compiled loop
    reads clusters.
    """

    by_row: ClassVar[tuple[str, ...]] = ("y", "weights", "costs", "highest")


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockDesign(Design):
    """A design whose rows are in blocks; its sample holds evenly spaced rows of them,
    and the codes of all clusters.

    Attributes
    ----------
    blocks : RowBlocks
    counts : (K,) sums of the weights of the rows of each level
    n_used : int
        Rows used.
    whole : bool
        Whether the sample holds every row.
    partial : PartialLevels or None
        The levels of censored answers.
    """

    # None on the class of designs in memory
    blocks: RowBlocks = field(repr=False)  # type: ignore[misc]
    counts: FloatArray
    n_used: int
    whole: bool
    partial: PartialLevels | None = None

    @property
    def reader(self) -> Reader:
        """What makes samples of the blocks."""
        return Reader(self.spec, self.recipe, self.blocks.declared, self.partial)


@dataclass(frozen=True, eq=False)
class PartialLevels:
    """The levels of censored answers, found from all rows.

    Attributes
    ----------
    levels : SpanLevels
    answers : Sample
        One row for each answer that occurs, with the weight of its rows.
    times : (n,)
        Number of rows with each answer.
    """

    levels: SpanLevels
    answers: Sample
    times: FloatArray


@dataclass(frozen=True, eq=False)
class Reader:
    """From a block to the sample of its complete rows, by the columns and levels of a
    design.

    `declared` has factors whose levels other blocks have too; `partial` has the levels
    of censored answers.
    """

    spec: FormulaSpec
    recipe: Recipe
    declared: Mapping[str, Factor]
    partial: PartialLevels | None = None

    def __call__(self, frame: pd.DataFrame) -> tuple[Sample, Any]:
        """The sample, and the labels (n,) of its clusters or None."""
        columns = Columns(frame, self.declared)
        weights, labels, missing = self.beside(columns)
        response = self._response(columns)
        unweighted = [] if weights is None else [weights == 0]
        kept = ~np.any([response.codes < 0, *missing.values(), *unweighted], axis=0)
        new = self.spec.rebuild(frame if kept.all() else frame[kept])
        kept[kept] = new.complete
        weights, labels = (
            None if given is None else given[kept] for given in (weights, labels)
        )
        y, highest = self._codes(response, kept, frame.index)
        sample = Sample(
            rows=new.rows,
            y=y,
            n_levels=len(self.spec.levels),
            weights=weights,
            highest=highest,
        )
        return sample, labels

    def _response(self, columns: Columns) -> inputs.Response:
        """The answers of a block; censored ones have no level codes yet."""
        if self.partial is not None:
            return self.spans(columns)
        levels = self.spec.levels
        codes = matched(self.response(columns), levels)[0]
        return inputs.Response(self.spec.response_name, codes, levels, [])

    def _codes(
        self, response: inputs.Response, kept: BoolArray, index: pd.Index
    ) -> tuple[IntArray, IntArray | None]:
        """The codes of the answers of the rows kept, and of their highest levels."""
        if self.partial is None:
            return response.codes[kept].astype(np.intp), None
        spans: Any = response.spans
        coded = self.partial.levels.coded(spans.take(kept), index[kept])
        return coded.y.astype(np.intp), coded.highest.astype(np.intp)

    def response(self, columns: Columns) -> Factor:
        """The answers of a block that are one level."""
        name = self.spec.response_name
        return factor_of(columns.column(name, "the response").value, name)

    def spans(self, columns: Columns) -> inputs.Response:
        """The censored answers of a block.

        Raises
        ------
        OptionError
            Ends that are labels, without the levels of all blocks.
        """
        name = self.spec.response_name
        call = cast(PartialCall, partial_call(name))
        response = read_partial(call, name, columns.frame, self.recipe.levels)
        if isinstance(response.spans, LevelSpans) and self.recipe.levels is None:
            raise OptionError(
                f"{name} of labels must have levels=[...] where rows are in blocks: all"
                " labels in order."
            )
        return response

    def beside(
        self, columns: Columns
    ) -> tuple[FloatArray | None, Any, dict[str, BoolArray]]:
        """Weights and labels of clusters of a block, and where these and the response
        are missing, by name.
        """
        name = self.spec.response_name
        weights = self.recipe.weights
        labels = self.recipe.cluster
        given: dict[str, Column] = {}
        if partial_call(name) is None:
            given[name] = columns.column(name, "the response")
        index = columns.frame.index
        if weights is not None:
            given[weights] = inputs.vector(weights, "weights", columns, None, index)
            weights = inputs.weights_of(given[weights], weights, index)
        if labels is not None:
            given[labels] = inputs.vector(labels, "cluster", columns, None, index)
            value = given[labels].value
            if isinstance(value, Factor):
                labels = np.array([*value.levels, None], object)[value.codes]
            else:
                labels = value
        missing = {
            name: column.missing
            for name, column in given.items()
            if column.missing is not None
        }
        return weights, labels, missing


# ----------------------------------------------------------------------- the first pass


@dataclass(eq=False, kw_only=True)
class Scan:
    """What the first pass has found so far.

    Attributes
    ----------
    rows : Counter
        Rows that were "given", are "incomplete", are "lost" (left out).
    dropped, counts, kinds : Counter
        Rows left out by variable; weights and rows of the answers, which are levels of
        the response, or pairs of ends if answers are censored.
    moments : dict of call to list
        Sum of weights, mean and sum of squares about it of the arguments of center()
        and scale(), by block.
    clusters : pandas.Index
        Labels of the clusters.
    stride : int
        The sample has one row in this many.
    sample : list of frames
    categories : dict of column to dtype
        Those of categorical columns: the categories of the first block, then others in
        the order of the blocks.
    marks : dict
        The first row of each level of each factor, preferably complete, and those of
        the least and the largest values: (rank, frame, place in it); the least rank
        stays.
    """

    rows: Counter[str]
    dropped: Counter[str]
    counts: Counter[Any]
    kinds: Counter[Any]
    moments: dict[str, list[tuple[float, float, float]]]
    clusters: pd.Index
    stride: int
    sample: list[pd.DataFrame]
    categories: dict[str, pd.CategoricalDtype]
    marks: dict[tuple[Any, ...], tuple[float, pd.DataFrame, int]]

    def with_block(self, other: Scan) -> Scan:
        """Both together."""
        marks = dict(self.marks)
        marks |= {
            key: mark
            for key, mark in other.marks.items()
            if key not in marks or mark[0] < marks[key][0]
        }
        stride = max(self.stride, other.stride)
        categories = _together(self.categories, other.categories)
        mine = _every(stride // self.stride, self.sample, categories)
        # so that rows are evenly spaced over all blocks
        first = -self.rows["given"] % stride // other.stride
        step = stride // other.stride
        theirs = [
            frame if step == 1 else frame.iloc[first::step].copy()
            for frame in other.sample
        ]
        sample = [frame for frame in (*mine, *theirs) if len(frame)] or mine
        if sum(map(len, sample)) > 2 * SAMPLE:
            stride *= 2
            sample = _every(2, sample, categories)
        return Scan(
            rows=self.rows + other.rows,
            dropped=self.dropped + other.dropped,
            counts=self.counts + other.counts,
            kinds=self.kinds + other.kinds,
            moments={
                call: [*moments, *other.moments[call]]
                for call, moments in self.moments.items()
            },
            clusters=self.clusters.union(other.clusters, sort=False),
            stride=stride,
            sample=sample,
            categories=categories,
            marks=marks,
        )

    def frame(self) -> pd.DataFrame:
        """The sample and the marked rows, which show every level."""
        if self.stride == 1:
            marked = []
        else:
            marked = [few.iloc[[place]] for _, few, place in self.marks.values()]
        return _stacked([*self.sample, *marked], self.categories)


def _every(
    step: int, frames: list[pd.DataFrame], categories: dict[str, pd.CategoricalDtype]
) -> list[pd.DataFrame]:
    """One row in `step` of some frames together."""
    return frames if step == 1 else [_stacked(frames, categories).iloc[::step].copy()]


def _stacked(
    frames: list[pd.DataFrame], categories: dict[str, pd.CategoricalDtype]
) -> pd.DataFrame:
    """The frames in one, with all categories."""
    return pd.concat(
        [frame.astype(categories) for frame in frames if len(frame)] or frames[:1]
    )


def _together(
    categories: dict[str, pd.CategoricalDtype], others: dict[str, pd.CategoricalDtype]
) -> dict[str, pd.CategoricalDtype]:
    """The categories of both, others last, as pyarrow joins files.

    Raises
    ------
    DataError
        An ordered column has its categories in another order, or is categorical in some
        blocks only.
    """
    joined: dict[str, pd.CategoricalDtype] = {}
    for name in categories.keys() | others.keys():
        if name not in categories or name not in others:
            raise DataError(
                f"Column {name!r} is categorical in some blocks only. Make it so in"
                " all, or in none."
            )
        dtype = categories[name]
        other = others[name]
        if dtype == other:
            joined[name] = dtype
            continue
        values = dtype.categories.union(other.categories, sort=False)
        ordered = bool(dtype.ordered and other.ordered)
        if ordered and not np.all(np.diff(values.get_indexer(other.categories)) > 0):
            orders = (
                f"{shown_labels(dtype.categories)}, and"
                f" {shown_labels(other.categories)}"
            )
            raise DataError(
                f"Column {name!r} has its levels in other orders in other blocks:"
                f" {orders}. Write all blocks with the same levels."
            )
        joined[name] = pd.CategoricalDtype(values, ordered=ordered)
    return joined


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a block.

    Attributes
    ----------
    exact : Factor
        Those that are one level; -1 for others.
    kinds : sequence
        The answers that occur: levels, or pairs of ends if some are censored.
    codes : (n,)
        Which of these a row has, -1 where missing.
    """

    exact: Factor
    kinds: Sequence[Any]
    codes: IntArray

    def counts(self, weights: AnyArray) -> Counter[Any]:
        """Sums of the weights of the rows of each answer, 0 where it is missing."""
        given = self.codes >= 0
        sums = np.bincount(self.codes[given], weights[given], len(self.kinds))
        return Counter(dict(zip(self.kinds, sums.tolist(), strict=True)))


def _answers_in_part(response: inputs.Response) -> Answers:
    """The answers of a block, with their ends as numbers or as codes of levels."""
    spans: Any = response.spans
    given = response.codes >= 0
    ends = np.column_stack([spans.low, spans.high])[given]
    pairs, place = np.unique(ends, axis=0, return_inverse=True)
    codes = response.codes.copy()
    codes[given] = place.ravel()
    values, exact = np.unique(spans.low, return_inverse=True)
    exact = np.where(given & (spans.low == spans.high), exact, -1)
    levels = tuple(values.tolist())
    return Answers(
        Factor(codes=exact, levels=levels), [*map(tuple, pairs.tolist())], codes
    )


def _look(read: Reader, arguments: dict[str, Expression], frame: pd.DataFrame) -> Scan:
    """One block; `arguments` are those of center() and scale()."""
    columns = Columns(frame, read.declared)
    spec = read.spec
    interpreter = Interpreter(columns, {}, fits=False)
    weights, labels, missing = read.beside(columns)
    if partial_call(spec.response_name) is None:
        response = read.response(columns)
        answers = Answers(response, response.levels, response.codes)
        ends: tuple[str, ...] = ()
    else:
        answers = _answers_in_part(read.spans(columns))
        ends = columns_of(spec.response_name)
        missing[spec.response_name] = answers.codes < 0
    factors = {spec.response_name: answers.exact}
    used = dict[str, None]()
    for key, expression in (spec.factors | spec.offsets).items():
        value, names, _ = interpreter.evaluate(expression)
        used |= dict.fromkeys(names)
        factors |= {key: value} if isinstance(value, Factor) else {}
    missing |= {
        name: mask
        for name in used
        if (mask := columns.column(name).missing) is not None
    }
    lost = np.any([np.zeros(len(frame), dtype=bool), *missing.values()], axis=0)
    rows = Counter(given=len(frame), incomplete=int(lost.sum()))
    if weights is not None:
        missing[ZERO_WEIGHT] = weights == 0
        lost |= missing[ZERO_WEIGHT]
    counted = np.where(lost, 0.0, 1.0 if weights is None else weights)
    # conditions too need all levels of their columns
    shown = {name: columns.column(name).value for name in used}
    factors |= {
        name: value for name, value in shown.items() if isinstance(value, Factor)
    }
    marked = [*_marks(columns, factors, (*used, *ends), lost)]
    few = frame.iloc[[row for *_, row in marked]]
    stride = 1 << (max(32 * len(frame) - 1, 0) // SAMPLE).bit_length()
    return Scan(
        rows=rows + Counter(lost=int(lost.sum())),
        dropped=Counter(
            {name: int(mask.sum()) for name, mask in missing.items() if mask.any()}
        ),
        counts=answers.counts(counted),
        kinds=answers.counts(~lost),
        moments={
            call: [_moments(interpreter, argument, counted)]
            for call, argument in arguments.items()
        },
        clusters=pd.Index([] if labels is None else pd.unique(labels[~lost])),
        stride=stride,
        sample=[frame.iloc[::stride].copy()],
        categories=_categories(frame),
        marks={key: (rank, few, place) for place, (key, rank, _) in enumerate(marked)},
    )


def _categories(frame: pd.DataFrame) -> dict[str, pd.CategoricalDtype]:
    dtypes = {str(name): dtype for name, dtype in frame.dtypes.items()}
    return {
        name: dtype
        for name, dtype in dtypes.items()
        if isinstance(dtype, pd.CategoricalDtype)
    }


def _moments(
    interpreter: Interpreter, argument: Expression, weights: FloatArray
) -> tuple[float, float, float]:
    x = np.asarray(
        numeric(interpreter.evaluate(argument)[0], argument.tree), dtype=float
    )
    kept = np.isfinite(x) & (weights > 0)
    x = x[kept]
    weights = weights[kept]
    mean = float(np.average(x, weights=weights)) if x.size else 0.0
    return float(weights.sum()), mean, float(weights @ (x - mean) ** 2)


def _pair(moments: list[tuple[float, float, float]]) -> Weighted:
    """Two values with the mean, the squares about it and the number of all rows."""
    n, mean, squares = np.array(moments).T
    total = float(n.sum())
    middle = n @ mean / total if total else 0.0
    half = np.sqrt((squares.sum() + n @ (mean - middle) ** 2) / total) if total else 0.0
    return Weighted(np.array([middle - half, middle + half]), np.full(2, 0.5 * total))


def _marks(
    columns: Columns, factors: dict[str, Factor], used: Iterable[str], lost: BoolArray
) -> Iterator[Mark]:
    """Key, rank and row of the rows that a sample must have."""
    complete = np.flatnonzero(~lost)
    for key, factor in factors.items():
        if len(factor.levels) > _MOST_LEVELS:
            raise DataError(
                f"{key!r} must have at most {_MOST_LEVELS:,} levels in blocks. Join"
                " levels."
            )
        incomplete_first = np.concatenate([np.flatnonzero(lost)[::-1], complete[::-1]])
        # the last place is that of the code -1
        row_of = np.full(len(factor.levels) + 1, -1)
        # later rows replace earlier ones
        row_of[factor.codes[incomplete_first]] = incomplete_first
        for code in np.flatnonzero(row_of[:-1] >= 0):
            row = int(row_of[code])
            yield (key, factor.levels[code]), float(lost[row]), row
    for name in used if complete.size else ():
        value = columns.column(name).value
        if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
            x = value[complete] if lost.any() else value
            for end, sign in ((np.argmin, 1.0), (np.argmax, -1.0)):
                place = end(x)
                yield (name, end), sign * float(x[place]), int(complete[place])


# --------------------------------------------------------------------------- the design


def scanned(recipe: Recipe, data: Source) -> BlockDesign:
    """The design of rows in blocks, after one pass over them.

    Raises
    ------
    FormulaError, DataError, OptionError
        The formula or an argument needs all rows at once, or cannot be used.
    """
    _require_names(recipe)
    blocks = RowBlocks(data, (), recipe.subset)
    empty = pd.DataFrame(columns=blocks.names)
    spec = formulas(recipe, empty)
    _refuse_all_rows(recipe, spec)
    beside = [
        inputs.expression_of(text, Columns(empty))
        for text in (recipe.weights, recipe.cluster)
        if text
    ]
    beside += [] if recipe.subset is None else [parse_expression(recipe.subset)]
    expressions = spec.factors | spec.offsets
    read = [*expressions.values(), *beside]
    names = [name for each in read for name in sorted(each.names)]
    needed = dict.fromkeys(
        name for name in (*columns_of(spec.response_name), *names) if name in empty
    )
    states, moments = _transforms(expressions)
    compared = {name for each in read if _compares_text(each) for name in each.names}
    texts = tuple(name for name in needed if name in compared)
    declared = _levels(replace(blocks, columns=texts, subset=None))
    blocks = replace(blocks, columns=tuple(needed), declared=declared)
    scan: Scan | None = None
    total: AnyArray = np.zeros(2, dtype=np.uint64)
    for found, part in blocks.seen_by(
        partial(_look, Reader(spec, recipe, declared), moments)
    ):
        scan = found if scan is None else scan.with_block(found)
        total = total + part
    if scan is None or not scan.rows["given"]:
        if recipe.subset is None:
            raise DataError("The source has no rows.")
        raise DataError("subset= selects none of the rows.")
    return _design(recipe, scan, states, replace(blocks, seen=total))


def _require_names(recipe: Recipe) -> None:
    """OptionError for an argument that holds values and does not name a column."""
    for role in ("weights", "offset", "cluster", "subset"):
        given = getattr(recipe, role)
        if not isinstance(given, str | None):
            raise OptionError(
                f"{role}= must be the name of a column where rows are in blocks; got"
                f" {type(given)}."
            )


def _refuse_all_rows(recipe: Recipe, spec: FormulaSpec) -> None:
    """OptionError for an argument or a term that needs all rows at once."""
    asked = {
        "cost= of rows": recipe.costs is not None,
        "design=": recipe.design is not None,
        "cov=": recipe.cov is not None,
        "(1 | g)": bool(spec.location.random),
        "na_action='keep'": recipe.na_action == "keep",
    }
    for expression in spec.expressions.values():
        call = level_effect_call(expression)
        if call is not None:
            asked[ast.unparse(call)] = True
    for what, wanted in asked.items():
        if wanted:
            raise OptionError(
                f"{what} needs all rows at once, and they are in blocks: fit to rows"
                " in memory."
            )


def _compares_text(expression: Expression) -> bool:
    """Whether an expression compares something with a text."""
    comparisons = [
        node for node in ast.walk(expression.tree) if isinstance(node, ast.Compare)
    ]
    parts = [part for node in comparisons for part in ast.walk(node)]
    return any(
        isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts
    )


def _levels(blocks: RowBlocks) -> dict[str, Factor]:
    """The factors among some columns, with the levels in all rows: one pass; none
    without columns.
    """
    if not blocks.columns:
        return {}
    found: dict[str, Factor] = {}
    categories: dict[str, pd.CategoricalDtype] | None = None
    for declared, here in blocks.map(_levels_of):
        categories = here if categories is None else _together(categories, here)
        for name, factor in declared.items():
            levels = {*factor.levels, *(found[name].levels if name in found else ())}
            if name in categories:
                ordered = list(categories[name].categories)
            else:
                ordered = sorted(levels)
            found[name] = replace(factor, levels=tuple(map(plain, ordered)))
    return found


def _levels_of(
    frame: pd.DataFrame,
) -> tuple[dict[str, Factor], dict[str, pd.CategoricalDtype]]:
    return Columns(frame).declared([str(name) for name in frame.columns]), _categories(
        frame
    )


def _transforms(
    expressions: Mapping[str, Expression],
) -> tuple[dict[str, Transform], dict[str, Expression]]:
    """Transforms that their options determine by call, and the arguments of center()
    and scale() by call.

    Raises
    ------
    FormulaError
        A transform that needs all rows at once.
    """
    states = dict[str, Transform]()
    moments = dict[str, Expression]()
    for node in (
        node
        for expression in expressions.values()
        for node in ast.walk(expression.tree)
    ):
        name = dotted_name(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or name not in FITTED or not node.args:
            continue
        inner = {
            dotted_name(part.func)
            for part in ast.walk(node.args[0])
            if isinstance(part, ast.Call)
        }
        options = {str(option.arg): option.value for option in node.keywords}
        plain = len(node.args) == 1 and not inner & FITTED.keys()
        if name in ("center", "scale") and plain and not options:
            moments[ast.unparse(node)] = Expression(
                ast.unparse(node.args[0]), source(node.args[0])
            )
        elif (
            name in ("bs", "ns")
            and plain
            and {"knots", "boundary_knots"} <= options.keys()
        ):
            values = {option: literal(value) for option, value in options.items()}
            ends = np.array(values["boundary_knots"], dtype=float)
            rows = Weighted(ends, np.ones(ends.size))
            states[ast.unparse(node)] = bound(FITTED[name], node, rows, **values)
        else:
            raise FormulaError(
                f"{said(node)} needs all rows at once, and they are in blocks. There"
                " are center(x), scale(x), I(x^2), bs() and ns() with knots= and"
                " boundary_knots=; make others a column of the data."
            )
    return states, moments


def _design(
    recipe: Recipe, scan: Scan, states: dict[str, Transform], blocks: RowBlocks
) -> BlockDesign:
    """From what the first pass has found."""
    given = scan.rows["given"]
    dropped = {
        name: scan.dropped[name]
        for name in (*blocks.columns, *scan.dropped)
        if scan.dropped[name]
    }
    missing = {name: count for name, count in dropped.items() if name != ZERO_WEIGHT}
    if missing and recipe.na_action == "raise":
        raise incomplete(missing, scan.rows["incomplete"], given)
    if recipe.cluster is not None and scan.clusters.size < 2:
        raise DataError(
            "cluster= has the same value in every row used; it must hold at least 2"
            " clusters."
        )
    for key, moments in scan.moments.items():
        call: Any = ast.parse(key, mode="eval").body
        states[key] = bound(FITTED[call.func.id], call, _pair(moments))
    design = make(
        replace(recipe, na_action="omit", cluster=None, subset=None),
        scan.frame(),
        states=states,
    )
    sample = design.sample
    if recipe.cluster is not None:
        given_fields = {
            item.name: getattr(sample, item.name) for item in fields(sample)
        }
        sample = SampleOfBlocks(
            **given_fields | {"cluster": np.arange(scan.clusters.size)}
        )
    changed = {
        "sample": sample,
        "recipe": recipe,
        "data": None,
        "n_given": given,
        "dropped": dropped,
        "notes": _notes(scan, design, missing),
    }
    partial_levels = None
    if partial_call(design.spec.response_name) is None:
        counts = np.array([scan.counts[level] for level in design.levels.values])
    else:
        partial_levels, counts = _partial_levels(scan, design)
    return BlockDesign(
        **vars(design) | changed,
        blocks=blocks,
        counts=counts,
        n_used=given - scan.rows["lost"],
        whole=scan.stride == 1,
        partial=partial_levels,
    )


def _notes(scan: Scan, design: Design, missing: Mapping[str, int]) -> tuple[str, ...]:
    """The notes of a design of the sample, for all rows."""
    if scan.stride == 1:
        return design.notes
    # the first note may count incomplete rows, of the sample alone
    own = design.notes[any(name != ZERO_WEIGHT for name in design.dropped) :]
    given = scan.rows["given"]
    used = given - scan.rows["lost"]
    share = f"In {min(design.sample.n, used):,} of {used:,} rows"
    notes = tuple([f"{share}: {note}" for note in own])
    if missing:
        return left_out(missing, scan.rows["incomplete"], given), *notes
    return notes


def _partial_levels(scan: Scan, design: Design) -> tuple[PartialLevels, FloatArray]:
    """The levels of censored answers, and their counts, found from all rows."""
    low, high = np.array([*scan.kinds]).T
    labels = design.recipe.levels
    spans: Any
    if labels is None or labels == inputs.ALL_LEVELS:
        spans = NumberSpans(low, high)
    else:
        spans = LevelSpans(low.astype(np.intp), high.astype(np.intp), tuple(labels))
    levels = spans.levels(design.response)
    coded = levels.coded(spans, None)
    answers = Sample(
        rows=Rows(X=np.empty((low.size, 0))),
        y=coded.y,
        highest=coded.highest,
        n_levels=len(coded.levels),
        weights=np.array([scan.counts[pair] for pair in scan.kinds]),
    )
    times = np.array([*scan.kinds.values()])
    return PartialLevels(levels, answers, times), answers.counts()
