"""What must hold of some objects of a file, beside the types of their fields.

Compiled loops go where codes and nodes lead them without a look, and a formula of safe=False is code: neither may come
from a file that somebody made by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exceptions import DataError


def check_sound(name: str, made: Any) -> None:
    """DataError where an object of this class does not hold together."""
    sound = CHECKS.get(name)
    if sound is not None and not sound(made):
        raise DataError(f"its {name.rpartition('.')[2]} does not hold together.")


def check_walk(left: Any, right: Any, leaf: Any) -> None:
    """DataError where children do not come after their parents, within the nodes: walks from the root end in a leaf."""
    places, inner = np.arange(left.size), ~leaf
    ends = [(child > places) & (child < left.size) for child in (left.astype(np.int64), right.astype(np.int64))]
    if not (left.size and all(end[inner].all() for end in ends)):
        raise DataError("the nodes of its trees are no tree.")


def codes_below(codes: Any, n: int, count: int, least: int = 0) -> bool:
    """Whether these are n codes from `least` to count - 1."""
    inside = codes.size == 0 or bool(codes.min() >= least and codes.max() < count)
    return codes.dtype == np.intp and codes.shape == (n,) and inside


def _alike(n: int, *arrays: Any) -> bool:
    """Whether all that are there have n rows."""
    return all(array is None or (array.ndim and len(array) == n) for array in arrays)


def _rows(rows: Any) -> bool:
    floats = (rows.X, rows.offset, rows.nominal, rows.scale, rows.scale_offset)
    if rows.X.ndim != 2 or not all(one is None or one.dtype == np.float64 for one in floats):
        return False
    groups = () if rows.random is None else [term.z for term in rows.random.terms]
    return _alike(rows.n, *floats, *groups)


def _sample(sample: Any) -> bool:
    n = sample.rows.n
    clusters = sample.cluster is None or codes_below(sample.cluster, n, max(n, 1))
    beside = (sample.weights, sample.costs)
    floats = all(one is None or one.dtype == np.float64 for one in beside)
    return codes_below(sample.y, n, sample.n_levels) and clusters and floats and _alike(n, *beside)


def _random_columns(term: Any) -> bool:
    root = term.root is None or (
        term.root.dtype == np.float64 and term.root.ndim == 2 and len(term.root) == term.n_groups
    )
    floats = term.z.ndim == 2 and term.z.dtype == np.float64
    return floats and root and codes_below(term.codes, len(term.z), term.n_groups, -1)


def _mixed_model(model: Any) -> bool:
    n, x, w, z = len(model.y), model.rows.x, model.rows.w, model.rows.z
    terms = all(len(term.z) == n and (term.codes >= 0).all() for term in model.terms)
    sorted_first = bool((np.diff(model.terms[0].codes) >= 0).all())
    fixed = model.n_thresholds * w.shape[1] + x.shape[1] + z.shape[1]
    size = fixed if model.expand is None else model.expand.shape[1]
    shapes = model.to_user.shape == (size, size) and (model.expand is None or len(model.expand) == fixed)
    rows = _alike(n, x, w, z, model.rows.offset, model.rows.scale_offset, model.weights)
    scaling = [own.shape for own in model.scaling] == [(term.q, term.q) for term in model.terms]
    order = sorted(model.order) == list(range(len(model.terms))) and len(model.roots) == len(model.terms)
    along = np.array_equal(np.sort(model.along), np.arange(n))
    sizes = shapes and rows and scaling and order and along
    return codes_below(model.y, n, model.n_thresholds + 1) and terms and sorted_first and sizes


def _evaluation(evaluation: Any) -> bool:
    model = evaluation.model
    size = len(model.to_user) + sum(term.n_phi for term in model.terms)
    effects = [np.shape(v) for v in evaluation.v] == [(term.n_groups, term.q) for term in model.terms]
    return evaluation.psi.shape == evaluation.gradient.shape == (size,) and effects


def _marginal_likelihood(likelihood: Any) -> bool:
    """The model that is asked again is the one that was evaluated."""
    return likelihood.at.model is likelihood.model and likelihood.free.shape == likelihood.at.psi.shape


def _patterns(patterns: Any) -> bool:
    return patterns.w.ndim == 2 and codes_below(patterns.of, patterns.of.size, len(patterns.w))


def _linearised(survey: Any) -> bool:
    units, strata = survey.stratum.size, survey.fraction.size
    return (
        codes_below(survey.psu, survey.psu.size, units)
        and codes_below(survey.stratum, units, strata)
        and len(survey.names) == strata
    )


def _tree(tree: Any) -> bool:
    check_walk(tree.child, tree.child + 1, tree.child < 0)
    size, nodes = tree.column.size, (tree.column, tree.child, tree.cut, tree.parent, tree.gains)
    inner = tree.column >= 0
    kept = all(node.shape == (size,) for node in nodes) and len(tree.values) == size
    return kept and bool((inner == (tree.child >= 0)).all() and ((tree.parent >= -1) & (tree.parent < size)).all())


def _value_tree(tree: Any) -> bool:
    check_walk(tree.child, tree.child + 1, tree.child < 0)
    nodes = (tree.column, tree.bin, tree.child, tree.value, tree.gain, tree.weight, tree.gaps_left)
    kinds = tree.gaps_left.dtype == tree.sets.dtype == np.uint8 and tree.sets.shape[1:] == (32,)
    return all(node.shape == (tree.column.size,) for node in nodes) and bool(
        kinds
        and ((tree.column >= 0) == (tree.child >= 0)).all()
        and tree.column.min() >= -1
        and (-1 - tree.bin < len(tree.sets)).all()
    )


def _boosted_trees(boosted: Any) -> bool:
    sizes = np.array([cuts.size for cuts in boosted.cuts])
    inner = [(tree.column[tree.column >= 0], tree.bin[tree.column >= 0]) for tree in boosted.trees]
    width = boosted.slopes.size == sizes.size and boosted.missing.size in (0, sizes.size)
    kinds = np.array([effects.size for effects in boosted.effects or [np.zeros(0)] * sizes.size])
    return (
        width
        and kinds.size == sizes.size
        and all(
            bool((column < sizes.size).all() and (np.where(bins < 0, kinds[column] > 0, bins <= sizes[column])).all())
            for column, bins in inner
        )
    )


def _stumps(stumps: Any) -> bool:
    return bool((stumps.columns >= 0).all()) and stumps.columns.shape == stumps.cuts.shape


def _perceptron(state: Any) -> bool:
    size = state.weights.size
    return (
        state.weights.ndim == 1
        and state.sums.shape == state.weights.shape
        and state.pocket.shape in ((0,), (size,))
        and state.record.shape == (4,)
    )


def _cumulative(state: Any) -> bool:
    return bool(state.weights.ndim == 2 and state.sums.shape == state.weights.shape)


def _support(state: Any) -> bool:
    n = len(state.anchors)
    shapes = state.last.ndim == 2 and state.last.shape == state.sums.shape and state.last.shape[1] == n
    return bool(shapes and state.origins.shape == (n,) and state.b.ndim == 1 and state.b.shape == state.b_sums.shape)


def _learned(learned: Any) -> bool:
    """Weights have an entry for each of the scaled columns."""
    weights, width = getattr(learned.state, "weights", None), learned.scaling.centre.size
    if learned.scaling.factor.shape != (width,):
        return False
    if weights is None:
        return True
    return bool(weights.shape[1] == width + 1 if weights.ndim == 2 else weights.size > width)


def _recipe(recipe: Any) -> bool:
    return recipe.safe is True and recipe.context is None


#: Characters of a factor of a formula, which is parsed when new rows come.
_LONGEST = 1_000_000

CHECKS: dict[str, Callable[[Any], bool]] = {
    "design.expressions.Expression": lambda expression: len(expression.key) <= _LONGEST,
    "design.recipe.Recipe": _recipe,
    "design.spec.FormulaSpec": lambda spec: spec.context is None,
    "model.boosted.trees.BoostedTrees": _boosted_trees,
    "model.boosted.trees.ValueTree": _value_tree,
    "model.ensembles.ensembles.StumpSum": _stumps,
    "model.online.weights.Learned": _learned,
    "model.likelihood.predictor.Patterns": _patterns,
    "model.random_effects.RandomColumns": _random_columns,
    "model.sample.Rows": _rows,
    "model.sample.Sample": _sample,
    "model.survey.Linearised": _linearised,
    "model.trees.tree.Tree": _tree,
    "solvers.likelihood.mixed.estimate.MarginalLikelihood": _marginal_likelihood,
    "solvers.likelihood.mixed.laplace.Evaluation": _evaluation,
    "solvers.likelihood.mixed.model.MixedModel": _mixed_model,
    "solvers.online.dual.Support": _support,
    "solvers.online.perceptron.CuSumState": _cumulative,
    "solvers.online.perceptron.PRankState": _perceptron,
}
