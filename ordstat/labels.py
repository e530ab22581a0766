"""Labels and weights as passed by scikit-learn, and the order of labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, validate_data

from ._typing import AnyArray, FloatArray
from .checks import brief, plain
from .exceptions import DataError, DataWarning, OptionError, warn
from .formula.columns import Column, Factor, unmasked
from .formula.doubtful import response_notes
from .formula.inputs import shape_of
from .method import Method


def case_weights(sample_weight: Any, X: AnyArray | pd.DataFrame) -> FloatArray:
    """Weights of the rows of X; DataError unless they are numbers of 0 or more, and
    not all 0.
    """
    sample_weight = unmasked(sample_weight, "sample_weight")
    weights: FloatArray
    try:
        weights = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    except (TypeError, ValueError) as error:
        raise DataError(
            f"sample_weight must be one number of 0 or more for each row of X: {error}"
        ) from error
    if not weights.any():
        raise DataError(
            "sample_weight is zero for every row: at least one weight must be positive."
        )
    return weights


def declared_order(y: Any) -> list[Any] | None:
    """The order that labels carry themselves: an ordered pandas Categorical or a polars
    Enum.
    """
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    dtype = getattr(y, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype):
        return list(dtype.categories) if dtype.ordered else None
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and isinstance(series.dtype, nw.Enum):
        return list(series.dtype.categories)
    return None


@contextmanager
def as_data_error() -> Iterator[None]:
    """Raise the ValueError of scikit-learn's checks of X and y as a DataError, which is
    a ValueError too.
    """
    try:
        yield
    except ValueError as error:
        text = str(error)
        if text.startswith("Complex data not supported"):  # the matrix follows
            text = "Complex data not supported: X must hold real numbers."
        if text.startswith("could not convert string"):
            text = (
                f"X must hold numbers if it is an array: {text}. Give a DataFrame,"
                " whose columns of text become indicators."
            )
        raise DataError(text) from error


def labels_in_order(levels: Any, name: str = "levels") -> list[Any]:
    """An argument with ordered labels as a list of distinct labels."""
    other = isinstance(levels, str) or len(shape_of(levels) or ()) != 1
    if (
        other
        or not len(levels)
        or not all(isinstance(label, Hashable) for label in levels)
    ):
        raise OptionError(
            f"{name} must list the labels in order, lowest first; got {brief(levels)}."
        )
    listed = list(levels)
    if len(set(listed)) < len(listed):
        raise OptionError(f"{name} names a label twice: {brief(listed)}.")
    if any(label is None or label != label for label in listed):
        raise OptionError(f"{name} must have no missing value; got {brief(listed)}.")
    return listed


def _require_sortable(levels: list[Any]) -> None:
    """OptionError for labels of kinds that have no common order."""
    try:
        sorted(levels)
    except TypeError:
        raise OptionError(
            "levels must be labels that can be sorted, as those of classes_ are; got"
            f" {brief(levels)}. Make all of them numbers, or all of them text."
        ) from None


def validated(
    model: Any, X: Any, y: Any, *, memory: str | None = None, classes: Any = None
) -> tuple[FloatArray, AnyArray, list[Any]]:
    """X and y as arrays, and the labels in order: by `levels` of the model, else by
    their own order, else sorted.

    `classes` are all labels, if y may lack some of them. Values of X may be missing.
    """
    order = declared_order(y) if model.levels is None else labels_in_order(model.levels)
    y = unmasked(y, "y")
    with as_data_error():
        X, y = validate_data(
            model,
            X,
            y,
            dtype=np.float64,
            order=memory,
            ensure_all_finite="allow-nan",
            accept_sparse="csr" if issparse(X) else False,
        )
        if y.dtype.kind == "S":
            raise DataError(
                "y must hold numbers, booleans or text; got bytes. Use y.astype(str)."
            )
        if y.dtype == np.float16:
            y = y.astype(np.float64)  # pandas has no index of half precision
        y = y.astype(y.dtype.newbyteorder("="), copy=False)
        if order is None:
            _check_kind(y)
    if order is not None:
        _require_sortable(order)
    else:
        order = _sorted_order(
            y if classes is None else np.asarray(labels_in_order(classes, "classes"))
        )
    return X, y, order


def _check_kind(y: AnyArray) -> None:
    """ValueError for values that are not labels, with what to do where they may be
    such, as half stars are.
    """
    try:
        check_classification_targets(y)
    except (TypeError, ValueError) as error:
        if y.dtype == object and y.ndim == 1:
            kinds = " or ".join(sorted({type(label).__name__ for label in y}))
            raise ValueError(
                # scikit-learn looks for the first words
                f"Unknown label type: an array of objects of type {kinds}. y must hold"
                " numbers, booleans or text. Convert it, as by y.astype(int), and leave"
                " out rows without a label."
            ) from error
        if type_of_target(y) != "continuous":
            raise
        values = np.unique(y)
        first = ", ".join(f"{value:g}" for value in values[:3])
        raise ValueError(
            f"{error} y has {values.size} different values ({first}, ...), which are"
            " not whole numbers. If they are labels, give all of them in order,"
            f" levels=[{first}, ...], or whole numbers in their place, which"
            " scikit-learn's scorers need; else cut y into levels by pandas.cut."
        ) from error


def tell_doubtful(y: AnyArray, order: list[Any]) -> None:
    """Issue a DataWarning for labels that may be codes of missing answers."""
    labels = tuple(plain(label) for label in order)
    factor = Factor(
        codes=np.asarray(ranked(y, order).codes), levels=labels, ordered=True
    )
    for note in response_notes("y", Column(factor), labels):
        warn(note, DataWarning)


def _sorted_order(y: AnyArray) -> list[Any]:
    """Labels sorted; a DataWarning for strings, whose order is unknown."""
    order = list(np.unique(y))
    if any(isinstance(label, str) for label in order):
        shown = [repr(str(label)) for label in order]
        warn(
            "y holds strings, and no order was given: they were sorted,"
            f" {' < '.join(shown)}. Say which is lowest with"
            f" levels=[{', '.join(shown)}] put in order, or pass an ordered pandas"
            " Categorical.",
            DataWarning,
        )
    return order


_ENCODED = (
    " Where scikit-learn has put numbers in place of the labels (BaggingClassifier,"
    " VotingClassifier, StackingClassifier, cross_val_predict of probabilities), give"
    " it ranks as integers instead of strings."
)


def ranked(y: AnyArray, order: list[Any], name: str = "y") -> pd.Categorical:
    """Labels as an ordered categorical; DataError where one is not in `order`."""
    codes = pd.Index(order).get_indexer(pd.Index(y))
    if (codes < 0).any():
        unknown = pd.unique(y[codes < 0]).tolist()
        if isinstance(order[0], str) and isinstance(unknown[0], int):
            encoded = _ENCODED
        else:
            encoded = ""
        raise DataError(
            f"{name} has labels that are not among the levels {order}:"
            f" {unknown[:5]}.{encoded}"
        )
    return pd.Categorical.from_codes(codes, categories=pd.Index(order), ordered=True)


def check_classes(y: AnyArray, method: Method) -> None:
    """DataError for fewer than two classes, or for more than the method supports."""
    classes = pd.unique(y)
    if classes.size > 2 and method.supports.two_levels_only:
        # The first sentence is the one that scikit-learn looks for.
        raise DataError(
            f"Only binary classification is supported. {method!r} was given"
            f" {classes.size} classes."
        )
    if classes.size < 2:
        only = f", {classes.tolist()[0]!r}" if classes.size else ""
        raise DataError(
            f"y has {classes.size} class{only}, in the rows of positive weight; at"
            " least 2 are needed."
        )
