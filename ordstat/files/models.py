"""Kinds of scikit-learn's values: fitted classifiers and forests, by their attributes.

Trees go through scikit-learn's compiled loops, which follow their nodes without a look: here it is made sure first that
every walk from the root ends in a leaf.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..exceptions import DataError
from .packing import Kind, Packing, Unpacking, expect
from .sound import check_walk

#: Classes that a file may hold, with the modules they are found in.
CLASSES = {
    "LogisticRegression": "linear_model",
    "RidgeClassifier": "linear_model",
    "LinearSVC": "svm",
    "GaussianNB": "naive_bayes",
    "BernoulliNB": "naive_bayes",
    "DecisionTreeClassifier": "tree",
    "DecisionTreeRegressor": "tree",
    "ExtraTreeClassifier": "tree",
    "ExtraTreeRegressor": "tree",
    "RandomForestClassifier": "ensemble",
    "RandomForestRegressor": "ensemble",
    "ExtraTreesClassifier": "ensemble",
    "ExtraTreesRegressor": "ensemble",
    "HistGradientBoostingClassifier": "ensemble",
    "LabelEncoder": "preprocessing",
    "LabelBinarizer": "preprocessing",
    "_BinMapper": "ensemble._hist_gradient_boosting.binning",
    "TreePredictor": "ensemble._hist_gradient_boosting.predictor",
}
_LOSS = "sklearn._loss.loss"
_TREE = "sklearn.tree._tree"
#: Attributes that no prediction asks for.
_LEFT_OUT = {"_feature_subsample_rng": None}


def series() -> str:
    """The first two numbers of scikit-learn's version: models are read by the one that wrote them."""
    version: str = import_module("sklearn").__version__
    return ".".join(version.split(".")[:2])


def _class(name: Any) -> Any:
    if name not in CLASSES:
        raise DataError(f"it holds a model of class {name!r}, and a file may not.")
    return getattr(import_module(f"sklearn.{CLASSES[name]}"), name)


def _is_class(value: Any) -> bool:
    kind = type(value)
    return kind.__module__.startswith("sklearn.") and kind.__name__ in CLASSES and kind is _class(kind.__name__)


def _pack_model(value: Any, packing: Packing) -> Any:
    if not _is_class(value):
        return None
    state = {name: _LEFT_OUT.get(name, own) for name, own in vars(value).items()}
    return {"class": type(value).__name__, "sklearn": series(), "state": packing.pack_named(state)}


def _model(given: Any, unpacking: Unpacking) -> Any:
    kind, written = _class(expect(given, dict)["class"]), given["sklearn"]
    if written != series():
        raise DataError(
            f"it holds models of scikit-learn {written}, and this is scikit-learn {series()}, which may read them "
            f"otherwise: install scikit-learn {written}, or fit again."
        )
    made = object.__new__(kind)
    vars(made).update({name: unpacking.unpack(value) for name, value in expect(given["state"], dict).items()})
    for check in (_check_names, _check_width, _check_predictor):
        check(made)
    return made


def _check_names(model: Any) -> None:
    """DataError where a state holds what its class has, such as a method, or what could be called."""
    strange = [name for name, own in vars(model).items() if hasattr(type(model), name) or _is_called(own)]
    if strange:
        raise DataError(f"its {type(model).__name__} has {', '.join(strange)}, which a fitted one has not.")


def _is_called(value: Any) -> bool:
    return callable(value) and not _is_loss(value)


def _check_width(model: Any) -> None:
    """DataError where a tree looks at more columns than its model takes."""
    tree, width = getattr(model, "tree_", None), getattr(model, "n_features_in_", None)
    if tree is not None and tree.n_features != width:
        raise DataError("its trees have other columns than their models.")
    for group in getattr(model, "_predictors", ()):
        for predictor in group:
            if not (predictor.nodes["feature_idx"] < width).all():
                raise DataError("its trees have other columns than their models.")


def _check_predictor(model: Any) -> None:
    if type(model).__name__ != "TreePredictor":
        return
    kind = import_module("sklearn.ensemble._hist_gradient_boosting.common").PREDICTOR_RECORD_DTYPE
    nodes = model.nodes
    if nodes.dtype != kind or nodes.ndim != 1 or nodes["is_categorical"].any() or (nodes["feature_idx"] < 0).any():
        raise DataError("the nodes of its trees are none.")
    check_walk(nodes["left"], nodes["right"], nodes["is_leaf"] != 0)


def _is_tree(value: Any) -> bool:
    return type(value).__module__ == _TREE and type(value).__name__ == "Tree"


def _pack_tree(value: Any, packing: Packing) -> Any:
    if not _is_tree(value):
        return None
    size, n_classes = (value.n_features, value.n_outputs), np.array(value.n_classes, dtype=np.intp)
    state = value.__getstate__()
    arrays = [packing.pack(np.ascontiguousarray(one)) for one in (n_classes, state["nodes"], state["values"])]
    return {"size": list(size), "depth": int(state["max_depth"]), "arrays": arrays}


def _tree(given: Any, unpacking: Unpacking) -> Any:
    n_features, n_outputs = (expect(n, int) for n in expect(given, dict)["size"])
    n_classes, nodes, values = unpacking.unpack_each(given["arrays"])
    if n_classes.shape != (n_outputs,) or not 0 < n_classes.sum() <= values.size:
        raise DataError("its trees have other outputs than their leaves.")
    check_walk(nodes["left_child"], nodes["right_child"], nodes["left_child"] == -1)
    inner = nodes["feature"][nodes["left_child"] != -1]
    if not ((inner >= 0) & (inner < n_features)).all():
        raise DataError("its trees look at columns that there are not.")
    made = import_module(_TREE).Tree(n_features, n_classes.astype(np.intp), n_outputs)
    made.__setstate__({"max_depth": given["depth"], "node_count": nodes.size, "nodes": nodes, "values": values})
    return made


def _is_loss(value: Any) -> bool:
    return type(value).__module__ == _LOSS and type(value).__name__ in ("HalfBinomialLoss", "HalfMultinomialLoss")


def _pack_loss(value: Any, packing: Packing) -> Any:
    """The word binomial, or the number of classes of a multinomial loss; None of what is no loss."""
    if not _is_loss(value):
        return None
    return "binomial" if type(value).__name__ == "HalfBinomialLoss" else int(value.n_classes)


def _loss(given: Any, unpacking: Unpacking) -> Any:
    losses = import_module(_LOSS)
    if given == "binomial":
        return losses.HalfBinomialLoss()
    return losses.HalfMultinomialLoss(n_classes=expect(given, int))


MODELS: tuple[Kind, ...] = (
    Kind("model", (object,), _pack_model, _model, heirs=True),
    Kind("tree", (object,), _pack_tree, _tree, heirs=True),
    Kind("loss", (object,), _pack_loss, _loss, heirs=True),
)
