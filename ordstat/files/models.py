"""Fitted models of scikit-learn, by their attributes.

Compiled loops of scikit-learn follow the nodes of a tree without a check, so that the nodes are checked first.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..exceptions import DataError
from .sound import check_walk

#: Modules of the classes that a file may hold.
_MODULES = {
    "linear_model": "LogisticRegression RidgeClassifier",
    "svm": "LinearSVC",
    "naive_bayes": "GaussianNB BernoulliNB",
    "tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor",
    "tree._tree": "Tree",
    "ensemble": "RandomForestClassifier RandomForestRegressor ExtraTreesClassifier ExtraTreesRegressor "
    "HistGradientBoostingClassifier",
    "ensemble._hist_gradient_boosting.binning": "_BinMapper",
    "ensemble._hist_gradient_boosting.predictor": "TreePredictor",
    "preprocessing": "LabelEncoder LabelBinarizer",
    "_loss.loss": "HalfBinomialLoss HalfMultinomialLoss",
}
_CLASSES = {name: module for module, names in _MODULES.items() for name in names.split()}


def _series() -> str:
    """The first two numbers of scikit-learn's version: other versions may read a model otherwise."""
    return ".".join(import_module("sklearn").__version__.split(".")[:2])


def model_parts(value: Any) -> list[Any] | None:
    """Class, version and state; None for a value that is not a model of scikit-learn, or an unknown one."""
    name = type(value).__name__
    if not type(value).__module__.startswith("sklearn.") or name not in _CLASSES:
        return None
    if name == "Tree":
        state = value.__getstate__()
        sizes = [value.n_features, np.array(value.n_classes, dtype=np.intp), state["max_depth"]]
        return [name, _series(), [*sizes, state["nodes"], state["values"]]]
    if name.endswith("Loss"):
        return [name, _series(), {} if name == "HalfBinomialLoss" else {"n_classes": int(value.n_classes)}]
    return [name, _series(), vars(value) | {"_feature_subsample_rng": None} if name[:4] == "Hist" else vars(value)]


def as_model(name: str, written: str, state: Any) -> Any:
    """The object of its parts; DataError if it is of another version, or its trees are not trees."""
    if written != _series():
        here = _series()
        raise DataError(f"it holds models of scikit-learn {written}, not {here}. Install {written}, or fit again.")
    if name not in _CLASSES:
        raise DataError(f"it holds a model of class {name!r}, and a file may not.")
    kind = getattr(import_module(f"sklearn.{_CLASSES[name]}"), name)
    if name == "Tree":
        n_features, n_classes, depth, nodes, values = state
        left, right = nodes["left_child"], nodes["right_child"]
        check_walk(left, right, left == -1, nodes["feature"], n_features)
        made = kind(n_features, n_classes, n_classes.size)
        made.__setstate__({"max_depth": depth, "node_count": nodes.size, "nodes": nodes, "values": values})
        return made
    if name.endswith("Loss"):
        return kind(**state)
    if any(hasattr(kind, key) for key in state):
        raise DataError(f"its {name} has attributes that hide those of the class.")
    made, width = object.__new__(kind), state.get("n_features_in_", np.inf if name == "TreePredictor" else 0)
    vars(made).update(state)
    trees = [own.tree_ for own in state.get("estimators_", ())] + [state[key] for key in ("tree_",) if key in state]
    if any(tree.n_features != width for tree in trees):
        raise DataError("its trees have other columns than their models.")
    predictors = [own for group in state.get("_predictors", []) for own in group]
    for nodes in [own.nodes for own in predictors] + ([made.nodes] if name == "TreePredictor" else []):
        if nodes["is_categorical"].any():
            raise DataError("its trees have categories.")
        check_walk(nodes["left"], nodes["right"], nodes["is_leaf"] != 0, nodes["feature_idx"], width)
    return made
