"""Fits in files: a zip of JSON and arrays that holds values and no code."""

from __future__ import annotations

import io
import json
import lzma
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from datetime import date
from functools import cache, partial, reduce
from importlib import import_module
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from tokenize import TokenError
from types import FunctionType
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from ._typing import AnyArray
from .checks import whole
from .exceptions import DataError, OptionError, OrdstatError
from .likelihood.flexible import FLEXIBLE, FlexibleLink, link_of
from .likelihood.links import Link
from .report.files import write_file

if TYPE_CHECKING:
    from .results import OrdinalResults

_PACKAGE = __name__.partition(".")[0]
#: Functions that a fit may hold, with their modules.
_FUNCTIONS = (
    ("api", "refit"),
    ("boosting.learner", "_answers"),
    ("boosting.boosting", "_gap"),
    ("boosting.boosting", "_score"),
    ("boosting.orstump", "_rule_answers"),
    ("reduction.voting", "VotingMethod.tally"),
    ("reduction.voting", "pair_votes"),
    ("boosting.sums", "hard_sign"),
)


#: Classes that have another name than in earlier files of version 1.
_MOVED = {
    "blocks.sources.Blocks": "blocks.sources.RowBlocks",
    "boosting.sums.Raised": "boosting.sums.SeededSum",
    "formula.design.Recipe": "formula.recipe.Recipe",
    "formula.factors.Polynomial": "formula.factors.PolynomialBasis",
    "formula.ordered_effects.OrderedEffect": "formula.level_effects.LevelEffect",
    "formula.ordered_effects.SteppedColumns": "formula.level_effects.SteppedColumns",
    "formula.parse.Part": "formula.parse.Side",
    "formula.sample.DistinctRows": "formula.distinct.DistinctRows",
    "formula.sample.RandomColumns": "formula.random_rows.RandomColumns",
    "formula.sample.RandomRows": "formula.random_rows.RandomRows",
    "formula.sample.Scaling": "formula.scaling.Scaling",
    "judging.rankers.MarginResults": "rankers.MarginResults",
    "judging.rankers.ProbabilityResults": "rankers.ProbabilityResults",
    "judging.rankers.ThresholdResults": "rankers.ThresholdResults",
    "judging.rankers.VoteResults": "rankers.VoteResults",
    "likelihood.clm.AdjacentCategory": "likelihood.other_models.AdjacentCategory",
    "likelihood.clm.ContinuationRatioModel": (
        "likelihood.other_models.ContinuationRatioModel"
    ),
    "likelihood.clm.MultinomialLogit": "likelihood.other_models.MultinomialLogit",
    "likelihood.clm.StereotypeLogit": "likelihood.other_models.StereotypeLogit",
    "likelihood.clm.StoppingRatioModel": "likelihood.other_models.StoppingRatioModel",
    "likelihood.columns.Columns": "likelihood.columns.ColumnScales",
    "likelihood.covariance.LikelihoodAtEstimates": (
        "likelihood.at_estimates.LikelihoodAtEstimates"
    ),
    "likelihood.fit.EffectsOfGroups": "likelihood.marginal.EffectsOfGroups",
    "likelihood.fit.Marginal": "likelihood.marginal.Marginal",
    "likelihood.predictor.ThresholdMap": "likelihood.threshold_structure.ThresholdMap",
    "likelihood.problem.CovarianceMatrix": "likelihood.user_scale.CovarianceMatrix",
    "likelihood.problem.InverseInformation": "likelihood.user_scale.InverseInformation",
    "likelihood.problem.UnknownCovariance": "likelihood.user_scale.UnknownCovariance",
    "likelihood.problem.UserScale": "likelihood.user_scale.UserScale",
    "judging.evaluation.Present": "judging.absent_levels.Present",
    "judging.evaluation.WideRule": "judging.absent_levels.WideRule",
    "mixed.blocks.Factor": "mixed.blocks.BlockFactor",
    "mixed.blocks.Layout": "mixed.blocks.SparseLayout",
    "mixed.integral.Evaluation": "mixed.integral.IntegratedLikelihood",
    "newton.Factor": "newton.CholeskyFactor",
    "online.perceptron.Learned": "online.perceptron.OnlineState",
    "prediction.probabilities.CumulativeRule": "reduction.exceedances.CumulativeRule",
    "prediction.probabilities.WideExceedances": "reduction.exceedances.WideExceedances",
    "reduction.learners.DirectionSum": "boosting.sums.DirectionSum",
    "reduction.learners.EnsembleFit": "boosting.rounds.EnsembleFit",
    "reduction.learners.MedianRule": "reduction.encoding.MedianRule",
    "reduction.learners.MemberSum": "boosting.sums.MemberSum",
    "reduction.learners.Raised": "boosting.sums.SeededSum",
    "reduction.learners.RankStumpVotes": "boosting.sums.RankStumpVotes",
    "reduction.learners.Rounds": "boosting.rounds.Rounds",
    "reduction.learners.StumpSum": "boosting.sums.StumpSum",
    "svm.kernels.Custom": "kernels.Custom",
    "svm.kernels.Gaussian": "kernels.Gaussian",
    "svm.kernels.Laplacian": "kernels.Laplacian",
    "svm.kernels.Linear": "kernels.Linear",
    "svm.kernels.Perceptron": "kernels.Perceptron",
    "svm.kernels.Polynomial": "kernels.Polynomial",
    "svm.kernels.Precomputed": "kernels.Precomputed",
    "svm.kernels.Stump": "kernels.Stump",
}

#: Fields that have another name than in earlier files of version 1, by class.
_RENAMED = {
    "likelihood.determined.Determined": {"adrift": "divergence", "rising": "slopes"},
    "likelihood.fit.LikelihoodFit": {
        "expansion": "rule_slopes",
        "information": "model_covariance",
        "rise": "higher_by",
        "rising": "diverging_elsewhere",
    },
}

#: Fields of earlier files of version 1 that their class no longer has.
_LEFT_OUT = {
    "formula.design.Design": ("checksum",),
    "likelihood.elastic_path.Path": ("gap",),
    "likelihood.fit.LikelihoodFit": ("digits",),
}


def dataclass_named(name: str, names: set[str]) -> Any:
    """The dataclass of a name such as "formula.sample.Sample" that has fields of these
    names; fields added later take their defaults. None if there is no such class.
    """
    present = _MOVED.get(name, name)
    module, _, last = present.rpartition(".")
    try:
        kind = getattr(import_module(f"{_PACKAGE}.{module}"), last, None)
    except ImportError:
        kind = None
    if is_dataclass(kind) and _class_name(kind) == present:
        every = {f.name for f in fields(kind)}
        if names <= every and every - names <= _defaults(kind).keys():
            return kind
    return None


def _defaults(kind: Any) -> dict[str, Any]:
    """Constants that are the defaults of fields."""
    return {f.name: f.default for f in fields(kind) if f.default is not MISSING}


def _class_name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix(f"{_PACKAGE}.")


@cache
def functions() -> dict[str, Any]:
    """The functions that a fit may hold, by their names in a file."""
    held = {"tanh": np.tanh}
    for module, name in _FUNCTIONS:
        place: Any = import_module(f"{_PACKAGE}.{module}")
        held[name] = reduce(getattr, name.split("."), place)
    return held


def _objects(shape: tuple[int, ...], *values: Any) -> Any:
    flat = np.empty(len(values), dtype=object)
    flat[:] = values
    return flat.reshape(shape)


def _partial(
    function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """A partial function; OptionError if a file may not hold its function."""
    made = partial(function, *arguments, **keywords)
    _name(made.func)
    return made


def _time(text: str, unit: Any, zone: str | None) -> Any:
    stamp = pd.Timestamp(text)
    if zone:
        stamp = stamp.tz_convert(zone)
    return stamp.as_unit(unit)


def _column(values: Any) -> Any:
    """The values of an index or a series as an array of NumPy or pandas."""
    return values.to_numpy() if isinstance(values.dtype, np.dtype) else values.array


def _frame(index: Any, names: Any, *columns: Any) -> pd.DataFrame:
    series = {
        j: pd.Series(values, index=index, dtype=values.dtype)
        for j, values in enumerate(columns)
    }
    return pd.DataFrame(series, index=index, copy=False).set_axis(names, axis=1)


def _refused(value: Any) -> OptionError:
    return OptionError(
        f"save cannot put {type(value).__name__} {repr(value)[:77]} into a file, which"
        " holds values, no code. Fit without it, or use pickle and open only files"
        " that you trust."
    )


def _name(function: Any) -> list[str]:
    """The name of a function in a file; OptionError if a file may not hold it."""
    for name, value in functions().items():
        if value is function:
            return [name]
    raise _refused(function)


class Codec(NamedTuple):
    """How values of a type are stored: conversion to parts, and back."""

    kind: Any
    parts: Callable[[Any], Any]
    value: Callable[..., Any]


#: By the name in a file.
VALUES: dict[str, Codec] = {
    "float": Codec(float, lambda x: [str(x)], float),  # infinite or NaN
    "tuple": Codec(tuple, list, lambda *items: items),
    "dict": Codec(
        dict,
        lambda d: [part for pair in d.items() for part in pair],
        lambda *p: dict(zip(p[::2], p[1::2], strict=True)),
    ),
    "frozenset": Codec(
        frozenset,
        lambda s: sorted(s, key=repr),
        lambda *items: frozenset(items),
    ),
    "slice": Codec(slice, lambda s: [s.start, s.stop, s.step], slice),
    "date": Codec(date, lambda d: [d.isoformat()], date.fromisoformat),
    "scalar": Codec(
        np.generic,
        lambda x: [x.dtype.str, x.tobytes().hex()],
        lambda t, x: np.frombuffer(bytes.fromhex(x), t)[0],
    ),
    "objects": Codec(np.ndarray, lambda a: [a.shape, *a.ravel()], _objects),
    "function": Codec(FunctionType, _name, lambda name: functions()[name]),
    "ufunc": Codec(np.ufunc, _name, lambda name: functions()[name]),
    "partial": Codec(partial, lambda p: [p.func, p.args, p.keywords], _partial),
    "link": Codec(Link, lambda link: [link.name, link.lam], link_of),
    "flexible": Codec(FlexibleLink, lambda link: [link.name], FLEXIBLE.__getitem__),
    "NA": Codec(type(pd.NA), lambda x: [], lambda: pd.NA),
    "NaT": Codec(type(pd.NaT), lambda x: [], lambda: pd.NaT),
    "time": Codec(
        pd.Timestamp,
        lambda t: [t.isoformat(), t.unit, t.tz and str(t.tz)],
        _time,
    ),
    "interval": Codec(pd.Interval, lambda i: [i.left, i.right, i.closed], pd.Interval),
    "categorical": Codec(
        pd.Categorical,
        lambda c: [c.codes, c.categories, c.ordered],
        pd.Categorical.from_codes,
    ),
    "column": Codec(
        ExtensionArray,
        lambda a: [str(a.dtype), *a.astype(object)],
        lambda dtype, *a: pd.array(a, dtype=dtype),
    ),
    "range": Codec(
        pd.RangeIndex,
        lambda i: [i.start, i.stop, i.step, None, False, i.name],
        pd.RangeIndex,
    ),
    "levels": Codec(
        pd.MultiIndex,
        lambda i: [list(i.names), *map(i.get_level_values, range(i.nlevels))],
        lambda n, *a: pd.MultiIndex.from_arrays(a, names=n),
    ),
    "index": Codec(
        pd.Index,
        lambda i: [_column(i), i.name],
        lambda a, name: pd.Index(a, a.dtype, name=name),
    ),
    "series": Codec(
        pd.Series,
        lambda s: [_column(s), s.index, s.name],
        lambda a, i, name: pd.Series(a, i, a.dtype, name),
    ),
    "frame": Codec(
        pd.DataFrame,
        lambda d: [
            d.index,
            d.columns,
            *(_column(d.iloc[:, j]) for j in range(d.shape[1])),
        ],
        _frame,
    ),
}


def check_walk(left: Any, right: Any, leaf: Any, column: Any, width: float) -> None:
    """Raise DataError if a child does not follow its parent, or a node refers to a
    column that does not exist.
    """
    places = np.arange(left.size)
    inner = ~leaf
    ends = [
        (child > places) & (child < left.size)
        for child in (left.astype(np.int64), right.astype(np.int64))
    ]
    columns = (column[inner] >= 0) & (column[inner] < width)
    if not (left.size and columns.all() and all(end[inner].all() for end in ends)):
        raise DataError("the nodes of its trees are not a tree.")


def _codes(codes: Any, n: int, count: int, least: int = 0) -> bool:
    """Whether these are n codes from `least` to count - 1."""
    return (
        codes.dtype == np.intp
        and codes.shape == (n,)
        and bool(((codes >= least) & (codes < count)).all())
    )


def _alike(n: int, *arrays: Any) -> bool:
    """Whether every array present has n float rows."""
    return all(
        array is None or (array.dtype == np.float64 and len(array) == n)
        for array in arrays
    )


def _rows(rows: Any) -> Iterable[bool]:
    groups = () if rows.random is None else [term.z for term in rows.random.terms]
    return rows.X.ndim == 2, _alike(
        rows.n,
        rows.X,
        rows.offset,
        rows.nominal,
        rows.scale,
        rows.scale_offset,
        *groups,
    )


def _sample(sample: Any) -> Iterable[bool]:
    n = sample.rows.n
    return _codes(sample.y, n, sample.n_levels), _alike(n, sample.weights, sample.costs)


def _random_columns(term: Any) -> Iterable[bool]:
    yield term.z.ndim == 2 and _codes(term.codes, len(term.z), term.n_groups, -1)
    yield term.root is None or (
        term.root.ndim == 2 and _alike(term.n_groups, term.root)
    )


def _mixed_model(model: Any) -> Iterable[bool]:
    n = len(model.y)
    rows = model.rows
    terms = model.terms
    fixed = model.n_thresholds * rows.w.shape[1] + rows.x.shape[1] + rows.z.shape[1]
    size = fixed if model.expand is None else model.expand.shape[1]
    yield _codes(model.y, n, model.n_thresholds + 1) and _alike(
        n, *(term.z for term in terms)
    )
    yield all((term.codes >= 0).all() for term in terms) and bool(
        (np.diff(terms[0].codes) >= 0).all()
    )
    yield sorted(model.order) == list(range(len(terms))) and len(model.roots) == len(
        terms
    )
    yield model.to_user.shape == (size, size) and (
        model.expand is None or len(model.expand) == fixed
    )
    yield _alike(
        n, rows.x, rows.w, rows.z, rows.offset, rows.scale_offset, model.weights
    )
    yield [scaling.shape for scaling in model.scaling] == [
        (term.q, term.q) for term in terms
    ]
    yield np.array_equal(np.sort(model.along), np.arange(n))


def _evaluation(at: Any) -> Iterable[bool]:
    size = len(at.model.to_user) + sum(term.n_phi for term in at.model.terms)
    yield at.psi.shape == at.gradient.shape == (size,)
    yield [np.shape(v) for v in at.v] == [
        (term.n_groups, term.q) for term in at.model.terms
    ]


def _nodes(tree: Any, *arrays: Any) -> bool:
    check_walk(tree.child, tree.child + 1, tree.child < 0, tree.column, np.inf)
    inner = ((tree.column >= 0) == (tree.child >= 0)) & (tree.column >= -1)
    return bool(inner.all()) and all(
        len(array) == tree.child.size for array in (tree.column, *arrays)
    )


def _tree(tree: Any) -> Iterable[bool]:
    yield _nodes(tree, tree.cut, tree.parent, tree.gains, tree.values)
    yield bool(((tree.parent >= -1) & (tree.parent < tree.child.size)).all())


def _value_tree(tree: Any) -> Iterable[bool]:
    yield _nodes(tree, tree.bin, tree.value, tree.gain, tree.weight, tree.gaps_left)
    yield tree.gaps_left.dtype == tree.sets.dtype == np.uint8 and tree.sets.shape[
        1:
    ] == (32,)
    yield bool((-1 - tree.bin < len(tree.sets)).all())


def _forest_shares(forest: Any) -> Iterable[bool]:
    column = forest.column
    children = forest.children
    roots = forest.roots
    size = column.size
    yield column.shape == forest.cut.shape == (size,)
    yield children.shape == (size, 2) and roots.ndim == 1
    width = max(forest.middle.size, 1)
    starts = roots[roots >= 0]
    sizes = np.diff(starts, append=size)
    yield bool((sizes > 0).all()) and sizes.sum() == size
    places = np.arange(size) - np.repeat(starts, sizes)
    inside = (children < 0) | (children > places[:, None])
    inside &= children < np.repeat(sizes, sizes)[:, None]
    if not (inside.all() and ((column >= 0) & (column < width)).all()):
        raise DataError("the nodes of its trees are not a tree.")
    least = min(roots.min(initial=0), children.min(initial=0))
    yield -1 - int(least) < len(forest.shares)


def _boosted_trees(boosted: Any) -> Iterable[bool]:
    sizes = np.array([cuts.size for cuts in boosted.cuts])
    start = boosted.linear
    kinds = np.array(
        [effects.size for effects in start.effects or [np.zeros(0)] * sizes.size]
    )
    yield start.slopes.size == start.missing.size == kinds.size == sizes.size
    for tree in boosted.trees:
        column = tree.column[tree.column >= 0]
        bins = tree.bin[tree.column >= 0]
        yield bool((column < sizes.size).all())
        yield bool(np.where(bins < 0, kinds[column] > 0, bins <= sizes[column]).all())


def _online(learned: Any, method: Any, D: int, K: int) -> Iterable[bool]:
    """State of an online ranker of D columns and K levels."""
    state = learned.state
    yield learned.scaling.centre.shape == learned.scaling.factor.shape == (D,)
    if state is None:
        yield method.similarity is not None  # sums of kernels
    elif state.weights.ndim == 2:
        yield state.weights.shape == state.sums.shape == (K - 1, D + 1)
    else:
        yield state.weights.shape == state.sums.shape == (D + K - 1,)
        yield state.pocket.shape in (
            (0,),
            state.weights.shape,
        ) and state.record.shape == (4,)


#: Classes whose parts must agree, by their names in a file.
CHECKS: dict[str, Callable[[Any], Iterable[bool]]] = {
    "formula.sample.Rows": _rows,
    "formula.sample.Sample": _sample,
    "blocks.scan.SampleOfBlocks": _sample,
    "formula.random_rows.RandomColumns": _random_columns,
    "mixed.model.MixedModel": _mixed_model,
    "mixed.integral.IntegratedLikelihood": _evaluation,
    "mixed.estimate.MarginalLikelihood": lambda m: (
        m.at.model is m.model,
        m.free.shape == m.at.psi.shape,
    ),
    "trees.tree.Tree": _tree,
    "prediction.trees.ValueTree": _value_tree,
    "prediction.trees.BoostedTrees": _boosted_trees,
    "prediction.forest.ForestShares": _forest_shares,
}


def _whole(fit: Any) -> Iterable[bool]:
    """Comparisons between parts, the simple ones first: later ones rest on them."""
    sample = fit.design.sample
    n = fit.design.sample.n
    levels = fit.design.sample.n_levels
    D = sample.X.shape[1]
    yield (
        len(fit.design.index) == len(fit.fit.scores) == n and len(fit.design.names) == D
    )
    yield len(fit.design.levels.values) == levels
    if hasattr(fit.fit, "learned"):
        yield from _online(fit.fit.learned, fit.method, D, levels)
    at: Any = getattr(fit.fit, "likelihood", None)
    if hasattr(at, "problem"):  # the model of random effects is checked above
        problem = at.problem
        rows = at.problem.sample.rows
        yield rows.n == n if problem.used is None else _codes(problem.used, rows.n, n)
        nominal, scale = (
            0 if part is None else part.shape[1] for part in (rows.nominal, rows.scale)
        )
        for part, width in (
            (problem.location, rows.X.shape[1]),
            (problem.nominal, nominal),
            (problem.scale, scale),
        ):
            yield (
                part.mean.shape == part.deviation.shape == part.kept.shape
                and part.kept.sum() == width
            )
        if problem.structure is None:
            shape = (levels - 1, levels - 1)
        else:
            shape = problem.structure.jacobian.shape
        yield shape[0] == levels - 1 and problem.counts.shape == (levels,)
        size = shape[1] * (1 + nominal) + rows.X.shape[1] + scale + problem.n_lambda
        yield at.estimates.shape == (size,)
    yield isinstance(fit.fit.certificate.reached, bool)
    yield len(fit.fit.rule.codes(sample.rows.take(np.arange(n)[:1]))) == min(n, 1)


#: Models of scikit-learn that a file may hold, by their modules.
_MODULES = {
    "linear_model": "LogisticRegression RidgeClassifier",
    "svm": "LinearSVC",
    "naive_bayes": "GaussianNB BernoulliNB",
    "tree": (
        "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier"
        " ExtraTreeRegressor"
    ),
    "tree._tree": "Tree",
    "ensemble": (
        "RandomForestClassifier RandomForestRegressor ExtraTreesClassifier"
        " ExtraTreesRegressor"
    ),
    "preprocessing": "LabelBinarizer",
}
_CLASSES = {
    name: module for module, names in _MODULES.items() for name in names.split()
}


def _series() -> str:
    """The first two numbers of scikit-learn's version: other versions may read a model
    otherwise.
    """
    return ".".join(import_module("sklearn").__version__.split(".")[:2])


def model_parts(value: Any) -> list[Any] | None:
    """Class, version and state; None for a value that is not a model of scikit-learn,
    or an unknown one.
    """
    name = type(value).__name__
    if not type(value).__module__.startswith("sklearn.") or name not in _CLASSES:
        return None
    if name == "Tree":
        state = value.__getstate__()
        sizes = [
            value.n_features,
            np.array(value.n_classes, dtype=np.intp),
            state["max_depth"],
        ]
        return [name, _series(), [*sizes, state["nodes"], state["values"]]]
    return [name, _series(), vars(value)]


def as_model(name: str, written: str, state: Any) -> Any:
    """The object made of its parts; DataError if its version differs or its trees are
    invalid.
    """
    if written != (here := _series()):
        raise DataError(
            f"it holds models of scikit-learn {written}, not {here}. Install {written},"
            " or fit again."
        )
    if name not in _CLASSES:
        raise DataError(f"it holds a model of class {name!r}, which a file must not.")
    kind = getattr(import_module(f"sklearn.{_CLASSES[name]}"), name)
    if name == "Tree":
        n_features, n_classes, depth, nodes, values = state
        left = nodes["left_child"]
        right = nodes["right_child"]
        check_walk(left, right, left == -1, nodes["feature"], n_features)
        made = kind(n_features, n_classes, n_classes.size)
        made.__setstate__(
            {
                "max_depth": depth,
                "node_count": nodes.size,
                "nodes": nodes,
                "values": values,
            }
        )
        return made
    allowed = {
        key for base in kind.__mro__ for key in signature(base.__init__).parameters
    }
    for key in state:
        if hasattr(kind, key) or not (key in allowed or "_" in (key[0], key[-1])):
            raise DataError(
                f"its {name} has an attribute {key!r} that the class does not have."
            )
    made = object.__new__(kind)
    vars(made).update(state)
    trees = [model.tree_ for model in state.get("estimators_", ())] + [
        state[key] for key in ("tree_",) if key in state
    ]
    if any(tree.n_features != state.get("n_features_in_", 0) for tree in trees):
        raise DataError("its trees have other columns than their models.")
    return made


_TAGS = {codec.kind: tag for tag, codec in VALUES.items()}


def _tag_of(kind: Any) -> str | None:
    """The name in a file of a type, or of a base of a type of NumPy or pandas."""
    library = kind.__module__.partition(".")[0] in ("numpy", "pandas")
    for base in kind.__mro__ if library else (kind,):
        if base in _TAGS:
            return _TAGS[base]
    return None


@dataclass(eq=False)
class Packing:
    """Conversion of values to JSON and arrays."""

    objects: list[Any] = field(default_factory=list)
    arrays: list[AnyArray] = field(default_factory=list)
    # with the value, so that its id is not used again
    _seen: dict[int, tuple[Any, Any]] = field(default_factory=dict)

    def pack(self, value: Any) -> Any:
        """The value as JSON; OptionError if a file cannot hold it."""
        if (
            value is None
            or type(value) in (bool, int, str)
            or (type(value) is float and math.isfinite(value))
        ):
            return value
        if type(value) is list:
            return [self.pack(item) for item in value]
        if id(value) not in self._seen:
            self._seen[id(value)] = value, self._packed(value)
        return self._seen[id(value)][1]

    def _packed(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        tag = _tag_of(kind)
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self.arrays.append(value)
            return {"array": len(self.arrays) - 1}
        if tag is not None:
            return {tag: [self.pack(part) for part in VALUES[tag].parts(value)]}
        if (parts := model_parts(value)) is not None:
            return {"model": [self.pack(part) for part in parts]}
        if not (is_dataclass(kind) and kind.__module__.startswith(f"{_PACKAGE}.")):
            raise _refused(value)
        state = value.__getstate__()
        state = state if isinstance(state, dict) else {}
        packed = {
            f.name: self.pack(state.get(f.name, getattr(value, f.name)))
            for f in fields(kind)
        }
        self.objects.append({"class": _class_name(kind), "fields": packed})
        return {"object": len(self.objects) - 1}


@dataclass(eq=False)
class Unpacking:
    """Conversion of JSON and arrays to values."""

    arrays: list[AnyArray]
    written_by: str
    objects: list[Any] = field(default_factory=list)

    def add(self, entry: dict[str, Any]) -> None:
        """Make the next dataclass."""
        renamed = _RENAMED.get(entry["class"], {})
        left_out = _LEFT_OUT.get(entry["class"], ())
        given = {
            renamed.get(name, name): self.unpack(value)
            for name, value in entry["fields"].items()
            if name not in left_out
        }
        kind = dataclass_named(entry["class"], set(given))
        if kind is None:
            writer = self.written_by
            if writer == _WRITER:
                writer = f"an earlier state of {_WRITER}"
            raise DataError(
                f"{writer} wrote it, and {_WRITER} has no"
                f" class {entry['class']!r} with the fields {', '.join(sorted(given))}."
                f" Install {writer}, or fit again."
            )
        made = object.__new__(kind)
        for name, value in (_defaults(kind) | given).items():
            object.__setattr__(made, name, value)
        if hasattr(kind, "__post_init__"):
            made.__post_init__()
        check = CHECKS.get(_class_name(kind))
        if check is not None and not all(check(made)):
            raise DataError(f"the parts of its {kind.__name__} do not agree.")
        self.objects.append(made)

    def unpack(self, given: Any) -> Any:
        """The value of some JSON."""
        if isinstance(given, list):
            return [self.unpack(item) for item in given]
        if not isinstance(given, dict):
            return given
        ((tag, inside),) = given.items()
        if tag in ("object", "array"):
            if isinstance(inside, bool) or inside < 0:
                raise DataError(f"it refers to the {tag} {inside!r}.")
            return (self.objects if tag == "object" else self.arrays)[inside]
        parts = [self.unpack(part) for part in inside]
        return as_model(*parts) if tag == "model" else VALUES[tag].value(*parts)


def _check_size(tree: Any, arrays: list[AnyArray]) -> None:
    """DataError if the values would be too many, or nested too deeply, were every
    reference written out.

    Comparing or hashing a value visits its parts as often as they are referred to, and
    ranges may be written out: a small file could take for ever, or all memory.
    """
    measures: list[tuple[int, int]] = []
    ranges = 0
    for given in (*(entry["fields"] for entry in tree["objects"]), tree["fit"]):
        size, depth = _measured(given, measures)
        if size > MOST_PARTS or depth > MOST_DEPTH:
            raise DataError(
                f"its values have {size:,} parts, or are nested {depth:,} deep."
            )
        for part, _ in _nested(given):
            inside = part if isinstance(part, dict) else {}
            hashed = [*inside.get("dict", ())[::2], *inside.get("frozenset", ())]
            if any(_measured(key, measures)[0] > MOST_KEY for key in hashed):
                raise DataError(f"it has a key of more than {MOST_KEY:,} parts.")
            if "range" in inside:
                ranges += len(range(*inside["range"][:3]))
        measures.append((size, depth))
    rows = max((array.size for array in arrays), default=0)
    if ranges > MOST_RANGE + MOST_RANGES_PER_ARRAY * rows:
        raise DataError(f"its ranges have {ranges:,} numbers.")


def _measured(given: Any, measures: list[tuple[int, int]]) -> tuple[int, int]:
    """The number of parts and the depth of some JSON, with those of the objects that it
    refers to.
    """
    size = 0
    depth = 0
    for part, level in _nested(given):
        size += 1
        depth = max(depth, level)
        place = part.get("object") if isinstance(part, dict) else None
        if type(place) is int and 0 <= place < len(measures):
            size += measures[place][0]
            depth = max(depth, level + measures[place][1])
    return size, depth


def _nested(given: Any) -> Iterator[tuple[Any, int]]:
    """Every value in some JSON, with its depth; without recursion, which has a limit of
    its own.
    """
    left = [(given, 1)]
    while left:
        part, level = left.pop()
        yield part, level
        if isinstance(part, dict):
            left += [(inside, level + 1) for inside in part.values()]
        elif isinstance(part, list):
            left += [(inside, level + 1) for inside in part]


def fit_of(tree: Any, arrays: list[AnyArray]) -> Any:
    """The fit stored as a JSON document and arrays, checked."""
    _check_size(tree, arrays)
    unpacking = Unpacking(arrays, tree.get("written_by", _WRITER))
    for entry in tree["objects"]:
        unpacking.add(entry)
    fit = unpacking.unpack(tree["fit"])
    if not hasattr(type(fit), "save"):
        raise DataError("it holds something other than a fit.")
    if not all(_whole(fit)):
        raise DataError("its parts do not agree.")
    return fit


#: Suffix of files of fits.
ENDING = ".ordstat"
FORMAT = "ordstat fit"
_WRITER = f"ordstat {version('ordstat')}"
VERSION = 1
TREE = "fit.json"
#: Bytes of the JSON, which takes many times as much memory when it is read.
MOST_JSON = 64 * 1024**2
#: Parts of a value of which every reference is written out (labels of rows have
#: millions), and how deep they are nested (fits have up to 40).
MOST_PARTS = 40_000_000
MOST_DEPTH = 300
#: Parts of a key of a dict or a member of a set, which are hashed.
MOST_KEY = 1_000
#: Numbers in the ranges of a file: labels of rows, of which a fit has an array too.
MOST_RANGE = 1_000_000
MOST_RANGES_PER_ARRAY = 10
#: Values of the JSON document, which take far more memory than their text.
MOST_VALUES = 4_000_000


def save(fit: Any, path: str | os.PathLike[str]) -> None:
    """Save the fit to a file, to be read by `ordstat.load`."""
    check_name(path)
    packing = Packing()
    tree = {"fit": packing.pack(fit), "objects": packing.objects}
    fit_of(tree, packing.arrays)  # never write a file that load refuses
    header = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": _WRITER,
        "call": fit.call,
    }
    text = json.dumps(header | tree, allow_nan=False, separators=(",", ":")).encode(
        "ascii"
    )
    if len(text) > MOST_JSON:
        raise DataError(
            f"the labels and names of the fit exceed {MOST_JSON:,} bytes. Number the"
            " rows: reset_index()."
        )
    write_file(path, lambda file: _write(file, text, packing.arrays))


def _write(file: IO[bytes], text: bytes, arrays: Sequence[AnyArray]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(TREE, text)
        for i, array in enumerate(arrays):
            with archive.open(f"{i}.npy", "w", force_zip64=True) as into:
                np.lib.format.write_array(into, array, allow_pickle=False)


def check_name(path: Any) -> None:
    """Raise OptionError if this is not a path, or ends in another than ".ordstat"."""
    if not isinstance(path, (str, os.PathLike)):
        raise OptionError(
            f"path must be the name of a file, such as 'model.ordstat'; got {path!r}."
        )
    if Path(path).suffix.lower() not in ("", ENDING):
        raise OptionError(
            f"path must end in {ENDING}, or have no ending; got {str(path)!r}."
            " Rename it."
        )


#: Errors that reading a damaged or forged file can end in.
UNREADABLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    TokenError,
    lzma.LZMAError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


def load(
    path: str | os.PathLike[str], data: Any = None, *, max_bytes: int = 2 * 1024**3
) -> OrdinalResults:
    """Load a fit that was saved by `fit.save(path)`.

    The file holds values and no code, so nothing in it can run. Methods that need the
    data frame, such as `update` with another formula, need `data` here or in their
    call. Everything else works exactly as on the saved fit.

    Parameters
    ----------
    path : str or path-like
    data : data frame, optional
        The data of the fit, kept for methods that need them.
    max_bytes : int
        Largest size of the unpacked content in bytes; 2 GiB by default.

    Returns
    -------
    LikelihoodResults, MarginResults or VoteResults

    Raises
    ------
    DataError
        The file cannot be read, was not written by `fit.save`, is damaged, too large or
        of another version of the format; or `data` are not those of the fit.

    Examples
    --------
    >>> import os, tempfile
    >>> from ordstat import datasets, load, ordfit
    >>> wine = datasets.load("wine")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "wine.ordstat")
    ...     ordfit("rating ~ temp", data=wine).save(path)
    ...     fit = load(path, data=wine)
    >>> fit.update("~ . + contact").formula
    'rating ~ temp + contact'
    """
    if not isinstance(path, (str, os.PathLike)):
        raise OptionError(
            f"path must be the name of a file, such as 'model.ordstat'; got {path!r}."
        )
    most = whole("max_bytes", max_bytes, 1)
    # opening a pipe would wait for a writer
    if os.path.exists(path) and not os.path.isfile(path):
        kind = "Is a directory" if os.path.isdir(path) else "it is a pipe or a device"
        raise DataError(f"{path} cannot be read: {kind}. Name a file.")
    try:
        fit: OrdinalResults = fit_of(*_read(path, most))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    except OrdstatError as error:
        raise DataError(f"{path} cannot be loaded: {error}") from None
    except UNREADABLE as error:
        raise DataError(
            f"{path} cannot be loaded: it is not a file that fit.save() wrote"
            f" ({error})."
        ) from error
    return fit if data is None else replace(fit, design=fit.design.beside(data))


def _read(path: str | os.PathLike[str], most: int) -> tuple[Any, list[AnyArray]]:
    """The document and the arrays of a file, whose sizes are checked first."""
    with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        total = max(
            sum(member.file_size for member in members), os.fstat(file.fileno()).st_size
        )
        if total > most:
            raise DataError(
                f"it has {total:,} bytes unpacked, and at most {most:,} are read. If"
                " you trust it, raise max_bytes=."
            )
        names = [TREE, *(f"{i}.npy" for i in range(len(members) - 1))]
        if [member.filename for member in members] != names:
            raise DataError("its members are not those of a fit.")
        if members[0].file_size > MOST_JSON:
            raise DataError(f"its {TREE} has more than {MOST_JSON:,} bytes.")
        text = archive.read(members[0])
        if sum(map(text.count, (b",", b"[", b"{"))) > MOST_VALUES:
            raise DataError(f"its {TREE} has more than {MOST_VALUES:,} values.")
        tree = json.loads(text)
        if tree["format"] != FORMAT:
            raise DataError("it is a zip of something other than a fit.")
        if tree["version"] != VERSION:
            raise DataError(
                f"its format has version {tree['version']!r}, written by"
                f" {tree['written_by']}; this ordstat reads version {VERSION}. Install"
                f" {tree['written_by']}, or fit again."
            )
        arrays = [
            np.lib.format.read_array(io.BytesIO(archive.read(member)))
            for member in members[1:]
        ]
    if any(array.dtype.itemsize == 0 for array in arrays):
        raise DataError("it contains an empty array.")
    return tree, arrays
