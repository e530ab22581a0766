"""What must hold of the objects of a file so that compiled loops, which check nothing, stay inside their arrays.

A formula of safe=False is code, so that no file may hold it either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..exceptions import DataError


def check_sound(made: Any) -> None:
    """DataError if the arrays of an object do not go with each other."""
    name = type(made).__name__
    if name in _CHECKS and not all(_CHECKS[name](made)):
        raise DataError(f"the parts of its {name} do not agree.")


def check_walk(left: Any, right: Any, leaf: Any, column: Any, width: float) -> None:
    """DataError if a child does not come after its parent, or a node looks at a column that is not there."""
    places, inner = np.arange(left.size), ~leaf
    ends = [(child > places) & (child < left.size) for child in (left.astype(np.int64), right.astype(np.int64))]
    columns = (column[inner] >= 0) & (column[inner] < width)
    if not (left.size and columns.all() and all(end[inner].all() for end in ends)):
        raise DataError("the nodes of its trees are not a tree.")


def _codes(codes: Any, n: int, count: int, least: int = 0) -> bool:
    """Whether these are n codes from `least` to count - 1."""
    return codes.dtype == np.intp and codes.shape == (n,) and bool(((codes >= least) & (codes < count)).all())


def _alike(n: int, *arrays: Any) -> bool:
    """Whether all arrays that are there are floats of n rows."""
    return all(array is None or (array.dtype == np.float64 and len(array) == n) for array in arrays)


def _rows(rows: Any) -> Iterable[bool]:
    groups = () if rows.random is None else [term.z for term in rows.random.terms]
    return rows.X.ndim == 2, _alike(rows.n, rows.X, rows.offset, rows.nominal, rows.scale, rows.scale_offset, *groups)


def _sample(sample: Any) -> Iterable[bool]:
    n = sample.rows.n
    return _codes(sample.y, n, sample.n_levels), _alike(n, sample.weights, sample.costs)


def _random_columns(term: Any) -> Iterable[bool]:
    yield term.z.ndim == 2 and _codes(term.codes, len(term.z), term.n_groups, -1)
    yield term.root is None or (term.root.ndim == 2 and _alike(term.n_groups, term.root))


def _mixed_model(model: Any) -> Iterable[bool]:
    n, rows, terms = len(model.y), model.rows, model.terms
    fixed = model.n_thresholds * rows.w.shape[1] + rows.x.shape[1] + rows.z.shape[1]
    size = fixed if model.expand is None else model.expand.shape[1]
    yield _codes(model.y, n, model.n_thresholds + 1) and _alike(n, *(term.z for term in terms))
    yield all((term.codes >= 0).all() for term in terms) and bool((np.diff(terms[0].codes) >= 0).all())
    yield sorted(model.order) == list(range(len(terms))) and len(model.roots) == len(terms)
    yield model.to_user.shape == (size, size) and (model.expand is None or len(model.expand) == fixed)
    yield _alike(n, rows.x, rows.w, rows.z, rows.offset, rows.scale_offset, model.weights)
    yield [scaling.shape for scaling in model.scaling] == [(term.q, term.q) for term in terms]
    yield np.array_equal(np.sort(model.along), np.arange(n))


def _evaluation(at: Any) -> Iterable[bool]:
    size = len(at.model.to_user) + sum(term.n_phi for term in at.model.terms)
    yield at.psi.shape == at.gradient.shape == (size,)
    yield [np.shape(v) for v in at.v] == [(term.n_groups, term.q) for term in at.model.terms]


def _nodes(tree: Any, *arrays: Any) -> bool:
    check_walk(tree.child, tree.child + 1, tree.child < 0, tree.column, np.inf)
    inner = ((tree.column >= 0) == (tree.child >= 0)) & (tree.column >= -1)
    return bool(inner.all()) and all(len(array) == tree.child.size for array in (tree.column, *arrays))


def _tree(tree: Any) -> Iterable[bool]:
    yield _nodes(tree, tree.cut, tree.parent, tree.gains, tree.values)
    yield bool(((tree.parent >= -1) & (tree.parent < tree.child.size)).all())


def _value_tree(tree: Any) -> Iterable[bool]:
    yield _nodes(tree, tree.bin, tree.value, tree.gain, tree.weight, tree.gaps_left)
    yield tree.gaps_left.dtype == tree.sets.dtype == np.uint8 and tree.sets.shape[1:] == (32,)
    yield bool((-1 - tree.bin < len(tree.sets)).all())


def _boosted_trees(boosted: Any) -> Iterable[bool]:
    sizes = np.array([cuts.size for cuts in boosted.cuts])
    kinds = np.array([effects.size for effects in boosted.effects or [np.zeros(0)] * sizes.size])
    yield boosted.slopes.size == kinds.size == sizes.size and boosted.missing.size in (0, sizes.size)
    for tree in boosted.trees:
        column, bins = tree.column[tree.column >= 0], tree.bin[tree.column >= 0]
        yield bool((column < sizes.size).all())
        yield bool(np.where(bins < 0, kinds[column] > 0, bins <= sizes[column]).all())


def _online(learned: Any, D: int, K: int) -> Iterable[bool]:
    """State of an online ranker of D columns and K levels."""
    state = learned.state
    yield learned.scaling.centre.shape == learned.scaling.factor.shape == (D,)
    if not hasattr(state, "weights"):  # sums of kernels
        shape = (1 if state.b.size else K - 1, len(state.anchors))
        yield state.last.shape == state.sums.shape == shape and state.origins.shape == shape[1:]
        yield state.b.shape == state.b_sums.shape and state.b.shape in ((0,), (K - 1,))
    elif state.weights.ndim == 2:
        yield state.weights.shape == state.sums.shape == (K - 1, D + 1)
    else:
        yield state.weights.shape == state.sums.shape == (D + K - 1,)
        yield state.pocket.shape in ((0,), state.weights.shape) and state.record.shape == (4,)


_CHECKS: dict[str, Callable[[Any], Iterable[bool]]] = {
    "Recipe": lambda recipe: (recipe.safe is True, recipe.context is None),
    "FormulaSpec": lambda spec: (spec.context is None,),
    "Rows": _rows,
    "Sample": _sample,
    "RandomColumns": _random_columns,
    "MixedModel": _mixed_model,
    "Evaluation": _evaluation,
    "MarginalLikelihood": lambda own: (own.at.model is own.model, own.free.shape == own.at.psi.shape),
    "Patterns": lambda own: (own.w.ndim == 2, _codes(own.of, own.of.size, len(own.w))),
    "Tree": _tree,
    "ValueTree": _value_tree,
    "BoostedTrees": _boosted_trees,
}


def check_whole(fit: Any) -> None:
    """DataError if the parts of a fit are of different sizes."""
    if not all(_whole(fit)):
        raise DataError("its parts do not agree.")


def _whole(fit: Any) -> Iterable[bool]:
    """Comparisons between parts, the simple ones first: later ones rest on them."""
    sample, n, levels = fit.design.sample, fit.design.sample.n, fit.design.sample.n_levels
    D = sample.X.shape[1]
    yield len(fit.design.index) == len(fit.fit.scores) == n and len(fit.design.names) == D
    yield len(fit.design.levels.values) == levels
    if hasattr(fit.fit, "learned"):
        yield from _online(fit.fit.learned, D, levels)
    at: Any = getattr(fit.fit, "likelihood", None)
    if hasattr(at, "problem"):  # the model of random effects is checked above
        problem, rows = at.problem, at.problem.sample.rows
        yield rows.n == n if problem.used is None else _codes(problem.used, rows.n, n)
        nominal, scale = (0 if part is None else part.shape[1] for part in (rows.nominal, rows.scale))
        for own, width in ((problem.location, rows.X.shape[1]), (problem.nominal, nominal), (problem.scale, scale)):
            yield own.mean.shape == own.deviation.shape == own.kept.shape and own.kept.sum() == width
        jacobian = np.eye(levels - 1) if problem.structure is None else problem.structure.jacobian
        yield len(jacobian) == levels - 1 and problem.counts.shape == (levels,)
        size = jacobian.shape[1] * (1 + nominal) + rows.X.shape[1] + scale + problem.n_lambda
        yield at.estimates.shape == (size,)
