"""Labels as scikit-learn hands them over, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ._typing import AnyArray, FloatArray, IntArray
from .exceptions import DataError, DataWarning, OptionError, warn
from .method import Method


def mean_absolute_rank_error(y_true: Any, y_pred: Any, *, levels: Sequence[Any] | None = None) -> float:
    """Mean number of ranks between true and predicted labels.

    Parameters
    ----------
    y_true : (N,) labels
    y_pred : (N,) labels
    levels : sequence, optional
        All labels in order, lowest first; not needed where y_true is an ordered categorical or holds all levels
        as numbers.

    Returns
    -------
    float
        Between 0 and K - 1.

    Examples
    --------
    >>> from sklearn.metrics import make_scorer
    >>> levels = ["low", "medium", "high"]
    >>> mean_absolute_rank_error(["low", "high"], ["low", "low"], levels=levels)
    1.0
    >>> scorer = make_scorer(mean_absolute_rank_error, greater_is_better=False, levels=levels)
    """
    order = listed(levels) if levels is not None else declared_order(y_true) or sorted_order(np.asarray(y_true))
    true, predicted = (ranked(np.asarray(y), order).codes.astype(np.int64) for y in (y_true, y_pred))
    return float(np.abs(true - predicted).mean())


def declared_order(y: Any) -> list[Any] | None:
    """The order that labels carry themselves: an ordered pandas Categorical or a polars Enum."""
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    dtype = getattr(y, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype):
        return list(dtype.categories) if dtype.ordered else None
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and isinstance(series.dtype, nw.Enum):
        return list(series.dtype.categories)
    return None


def listed(levels: Any) -> list[Any]:
    """The levels argument as a list of different labels."""
    if isinstance(levels, str) or np.ndim(levels) != 1:
        raise OptionError(f"levels must list the labels in order, lowest first; got {levels!r}.")
    listed = list(levels)
    if len(set(listed)) < len(listed):
        raise OptionError(f"levels names a label twice: {listed}.")
    return listed


def validated(
    model: Any, X: Any, y: Any, *, memory: str | None = None, gaps: bool = False, classes: Any = None
) -> tuple[FloatArray, AnyArray, list[Any]]:
    """X and y as arrays, and the labels in order: by `levels` of the model, else their own order, else sorted.

    With `gaps` values of X may be missing; `classes` are all labels, where y need not hold each of them.
    """
    order = declared_order(y) if model.levels is None else listed(model.levels)
    X, y = validate_data(model, X, y, dtype=np.float64, order=memory, ensure_all_finite=finite(gaps))
    if order is None:
        check_classification_targets(y)
        order = sorted_order(y if classes is None else np.asarray(classes))
    return X, y, order


def finite(gaps: bool) -> bool | str:
    """What scikit-learn calls it that values may be missing, or may not."""
    return "allow-nan" if gaps else True


def sorted_order(y: AnyArray) -> list[Any]:
    """Labels sorted; a DataWarning where they are strings, whose order nobody has given."""
    order = list(np.unique(y))
    if any(isinstance(label, str) for label in order):
        shown = [repr(str(label)) for label in order]
        warn(
            f"y holds strings, and no order was given: they were sorted, {' < '.join(shown)}. Say which is lowest with "
            f"levels=[{', '.join(shown)}] put in order, or pass an ordered pandas Categorical.",
            DataWarning,
        )
    return order


def ranked(y: AnyArray, order: list[Any]) -> pd.Categorical:
    """Labels as an ordered categorical; DataError where one is not in `order`."""
    codes = pd.Index(order).get_indexer(pd.Index(y))
    if (codes < 0).any():
        unknown = pd.unique(y[codes < 0]).tolist()
        raise DataError(f"y has labels that are not among the levels {order}: {unknown[:5]}.{_encoded(order, unknown)}")
    return pd.Categorical.from_codes(codes, categories=pd.Index(order), ordered=True)


def known_codes(y: AnyArray, levels: AnyArray) -> IntArray:
    """(N,) places of labels y (N,) among the levels (K,), -1 for others."""
    return pd.Index(levels).get_indexer(pd.Index(y)).astype(np.intp)


def _encoded(order: list[Any], unknown: list[Any]) -> str:
    """The likely reason where numbers came for strings."""
    if not isinstance(order[0], str) or not isinstance(unknown[0], int):
        return ""
    return (
        " Where scikit-learn has put numbers in place of the labels (BaggingClassifier, VotingClassifier, "
        "StackingClassifier, cross_val_predict of probabilities), give it ranks as integers instead of strings."
    )


def check_classes(y: AnyArray, method: Method) -> None:
    """DataError unless there are two classes, or more where the method takes more."""
    found = pd.unique(y)
    if found.size > 2 and method.needs.two_levels:
        # The first sentence is the one that scikit-learn looks for.
        raise DataError(f"Only binary classification is supported. {method!r} was given {found.size} classes.")
    if found.size < 2:
        only = f", {found.tolist()[0]!r}" if found.size else ""
        raise DataError(f"y has {found.size} class{only}, in the rows of positive weight; at least 2 are needed.")


def label_array(labels: Sequence[Any], dtype: npt.DTypeLike) -> AnyArray:
    """(K,) labels in the data type they came in."""
    listed: AnyArray = np.empty(len(labels), dtype=object)
    listed[:] = labels
    return listed.astype(dtype)
