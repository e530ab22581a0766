"""Measures of ordered predictions as functions and scorers for scikit-learn.

Every function takes the observed levels and a prediction, uses the order of the levels,
not alphabetical order, and takes `sample_weight`. `scorer("rps")` returns a scorer for
`cross_val_score` and `GridSearchCV`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ._typing import AnyArray, FloatArray, IntArray
from .checks import brief, numbers_given, one_of, plain
from .exceptions import DataError, OptionError
from .formula.columns import unmasked
from .formula.inputs import shape_of
from .judging.errors import LARGER_IS_BETTER, Predictions, measured
from .labels import case_weights, declared_order, labels_in_order, ranked

__all__ = [
    "concordance",
    "kendall_tau_b",
    "linear_kappa",
    "log_loss",
    "macro_absolute_rank_error",
    "mean_absolute_rank_error",
    "quadratic_kappa",
    "ranked_probability_score",
    "scorer",
]

#: Larger differences of a sum of probabilities from 1 are no rounding.
_ROUNDED = 1e-6


# Functions


def ranked_probability_score(
    y_true: Any,
    y_proba: Any,
    *,
    sample_weight: Any = None,
    labels: Sequence[Any] | None = None,
) -> float:
    """Mean ranked probability score: the squared differences between predicted and
    observed P(Y <= k), added up over the K-1 thresholds.

    The sum is not divided by K-1: if a level has probability 1, the score of a row is
    the number of ranks between that level and the observed one. Divide by K-1 for a
    score from 0 to 1.

    Parameters
    ----------
    y_true : (N,) labels
    y_proba : (N, K) array or frame
        Probabilities of the levels, lowest level first. Columns of a frame are found by
        their names, unless these are 0..K-1 by default.
    sample_weight : (N,) array, optional
        Case weights.
    labels : sequence, optional
        All levels in order, lowest first. Needed for text without an order. Otherwise
        an ordered categorical keeps its order, and numbers are sorted.

    Returns
    -------
    float
        From 0 (best) to K-1.

    Raises
    ------
    DataError
        Text without an order, labels that are missing or unknown, probabilities that
        are negative or do not add up to 1, weights that are negative or all 0.

    References
    ----------
    Epstein (1969), A scoring system for probability forecasts of ranked categories,
    Journal of Applied Meteorology 8, 985-987.

    Examples
    --------
    >>> from ordstat.metrics import ranked_probability_score
    >>> levels = ["low", "medium", "high"]
    >>> probabilities = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]
    >>> round(ranked_probability_score(["low", "high"], probabilities, labels=levels), 4)
    0.195
    """  # noqa: E501
    return _of_probabilities(
        "ranked probability score", y_true, y_proba, sample_weight, labels
    )


def log_loss(
    y_true: Any,
    y_proba: Any,
    *,
    sample_weight: Any = None,
    labels: Sequence[Any] | None = None,
) -> float:
    """Mean of -log P(observed level), with columns in the order of the levels.

    scikit-learn's function of this name sorts labels alphabetically, even those given
    as `labels`. Probabilities are not clipped: an observed level of probability 0 gives
    an infinite loss.

    Parameters
    ----------
    y_true, y_proba, sample_weight, labels
        As in `ranked_probability_score`.

    Returns
    -------
    float
        From 0 (best) to infinity.

    Raises
    ------
    DataError
        As in `ranked_probability_score`.

    Examples
    --------
    >>> from ordstat.metrics import log_loss
    >>> levels = ["low", "medium", "high"]
    >>> probabilities = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]
    >>> round(log_loss(["low", "high"], probabilities, labels=levels), 4)
    0.5249
    """
    return _of_probabilities("log-loss", y_true, y_proba, sample_weight, labels)


def mean_absolute_rank_error(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    labels: Sequence[Any] | None = None,
) -> float:
    """Mean number of ranks between observed and predicted levels.

    Parameters
    ----------
    y_true, y_pred : (N,) labels
    sample_weight : (N,) array, optional
        Case weights.
    labels : sequence, optional
        All levels in order, lowest first. Needed for text without an order. Otherwise
        an ordered categorical keeps its order, and numbers are sorted; numbers that do
        not occur are not counted as levels.

    Returns
    -------
    float
        From 0 (best) to K-1.

    Raises
    ------
    DataError
        Text without an order, labels that are missing or unknown, weights that are
        negative or all 0.

    Examples
    --------
    >>> from ordstat.metrics import mean_absolute_rank_error
    >>> levels = ["low", "medium", "high"]
    >>> mean_absolute_rank_error(["low", "high"], ["low", "low"], labels=levels)
    1.0
    """
    return _of_labels("absolute error", y_true, y_pred, sample_weight, labels)


def macro_absolute_rank_error(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    labels: Sequence[Any] | None = None,
) -> float:
    """Macro-averaged absolute error: the mean over the observed levels of the mean
    number of ranks between observed and predicted levels. Rare levels count as much as
    common ones.

    Levels without observed rows are left out of the mean.

    Parameters
    ----------
    y_true, y_pred, sample_weight, labels
        As in `mean_absolute_rank_error`.

    Returns
    -------
    float
        From 0 (best) to K-1.

    Raises
    ------
    DataError
        As in `mean_absolute_rank_error`.

    References
    ----------
    Baccianella, Esuli & Sebastiani (2009), Evaluation measures for ordinal regression,
    ISDA, eq. 3.

    Examples
    --------
    >>> from ordstat.metrics import macro_absolute_rank_error
    >>> macro_absolute_rank_error([1, 1, 1, 2], [1, 1, 1, 1])
    0.5
    """
    return _of_labels("macro absolute error", y_true, y_pred, sample_weight, labels)


def linear_kappa(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    labels: Sequence[Any] | None = None,
) -> float:
    """Cohen's kappa with the number of ranks between two levels as disagreement.

    Parameters
    ----------
    y_true, y_pred, sample_weight, labels
        As in `mean_absolute_rank_error`.

    Returns
    -------
    float
        At most 1; 0 for predictions independent of what is observed; NaN if both have
        one and the same level throughout.

    Raises
    ------
    DataError
        As in `mean_absolute_rank_error`.

    References
    ----------
    Cohen (1968), Weighted kappa, Psychological Bulletin 70, 213-220.

    Examples
    --------
    >>> from ordstat.metrics import linear_kappa
    >>> round(linear_kappa([1, 2, 3, 3], [1, 2, 3, 2]), 4)
    0.7143
    """
    return _of_labels("linear kappa", y_true, y_pred, sample_weight, labels)


def quadratic_kappa(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    labels: Sequence[Any] | None = None,
) -> float:
    """Cohen's kappa with the squared number of ranks between two levels as
    disagreement.

    Parameters
    ----------
    y_true, y_pred, sample_weight, labels
        As in `mean_absolute_rank_error`.

    Returns
    -------
    float
        At most 1; 0 for predictions independent of what is observed; NaN if both have
        one and the same level throughout.

    Raises
    ------
    DataError
        As in `mean_absolute_rank_error`.

    References
    ----------
    Cohen (1968), Weighted kappa, Psychological Bulletin 70, 213-220.

    Examples
    --------
    >>> from ordstat.metrics import quadratic_kappa
    >>> round(quadratic_kappa([1, 2, 3, 3], [1, 2, 3, 2]), 4)
    0.8
    """
    return _of_labels("quadratic kappa", y_true, y_pred, sample_weight, labels)


def kendall_tau_b(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    labels: Sequence[Any] | None = None,
) -> float:
    """Kendall's tau-b between observed and predicted levels.

    Parameters
    ----------
    y_true, y_pred, sample_weight, labels
        As in `mean_absolute_rank_error`.

    Returns
    -------
    float
        From -1 to 1; NaN if all observed or all predicted levels are equal.

    Raises
    ------
    DataError
        As in `mean_absolute_rank_error`.

    References
    ----------
    Kendall (1945), The treatment of ties in ranking problems, Biometrika 33, 239-251.

    Examples
    --------
    >>> from ordstat.metrics import kendall_tau_b
    >>> round(kendall_tau_b([1, 2, 3, 3], [1, 2, 3, 2]), 4)
    0.8
    """
    return _of_labels("Kendall tau-b", y_true, y_pred, sample_weight, labels)


def concordance(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    labels: Sequence[Any] | None = None,
) -> float:
    """Concordance (C) index: the share of pairs of rows with different levels whose
    scores are in the same order. Equal scores count one half.

    With two levels it is the area under the ROC curve.

    Parameters
    ----------
    y_true : (N,) labels
    y_score : (N,) numbers
        The larger, the higher the predicted level.
    sample_weight, labels
        As in `mean_absolute_rank_error`.

    Returns
    -------
    float
        From 0 to 1; NaN if all rows have one level.

    Raises
    ------
    DataError
        As in `mean_absolute_rank_error`.

    Examples
    --------
    >>> from ordstat.metrics import concordance
    >>> concordance([1, 2, 3, 3], [0.1, 0.4, 0.3, 0.9])
    0.8
    """
    codes, order, weights = _observed(y_true, sample_weight, labels)
    scores = numbers_given(unmasked(y_score, "y_score"))
    if scores.shape != codes.shape or not np.isfinite(scores).all():
        raise DataError(
            f"y_score must be {codes.size} finite numbers, one for each row of"
            f" y_true; got {brief(y_score)}."
        )
    return _measure("concordance", codes, len(order), weights, scores=scores)


# Scorers


#: Measures of predicted labels, by their names in `judging.errors`.
_OF_LABELS = {
    "mae": "absolute error",
    "macro_mae": "macro absolute error",
    "linear_kappa": "linear kappa",
    "quadratic_kappa": "quadratic kappa",
    "kendall_tau_b": "Kendall tau-b",
}
_OF_PROBABILITIES = {"rps": "ranked probability score", "log_loss": "log-loss"}
_MEASURES = {**_OF_LABELS, **_OF_PROBABILITIES, "concordance": "concordance"}


@dataclass(frozen=True)
class OrdinalScorer:
    """A scorer for scikit-learn, called as scorer(model, X, y); returned by `scorer`.

    Attributes
    ----------
    name : str
    labels : sequence or None
        All levels in order, lowest first.
    """

    name: str
    labels: Sequence[Any] | None = None

    def __call__(
        self, model: Any, X: Any, y_true: Any, sample_weight: Any = None
    ) -> float:
        """The score of the predictions for X, larger is better."""
        name = _MEASURES[self.name]
        sign = 1.0 if name in LARGER_IS_BETTER else -1.0
        order = self._order(model, y_true)
        if self.name in _OF_LABELS:
            y_pred = model.predict(X)
            return sign * _of_labels(name, y_true, y_pred, sample_weight, order)
        if hasattr(model, "predict_proba"):
            table = pd.DataFrame(model.predict_proba(X), columns=list(model.classes_))
            if self.name in _OF_PROBABILITIES:
                return sign * _of_probabilities(
                    name, y_true, table, sample_weight, order
                )
            scores = _aligned(table, order) @ np.arange(len(order))
        elif self.name in _OF_PROBABILITIES:
            raise OptionError(
                f"scorer({self.name!r}) needs predict_proba, which"
                f" {type(model).__name__} does not have. Use"
                " OrdinalClassifier(..., calibrate=True), or a scorer of labels such as"
                " 'mae'."
            )
        else:
            codes = _codes(model.predict(X), order, "the prediction")
            scores = codes.astype(np.float64)
        return concordance(y_true, scores, sample_weight=sample_weight, labels=order)

    def _order(self, model: Any, y_true: Any) -> list[Any]:
        """The levels: `labels`, those of an ordered y, those of an OrdinalClassifier,
        or numbers sorted.
        """
        if self.labels is not None:
            return labels_in_order(self.labels, "labels")
        if (declared := declared_order(y_true)) is not None:
            return declared
        own = _own_order(model)
        classes = list(model.classes_) if own is None else own
        if own is not None and (
            any(isinstance(label, str) for label in own) or own != sorted(own)
        ):
            return own
        return _order(None, y_true, np.asarray(classes))


def _own_order(model: Any) -> list[Any] | None:
    """`levels_` of an OrdinalClassifier, also at the end of a Pipeline or a search."""
    while not hasattr(model, "levels_"):
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps"):
            model = model.steps[-1][1]
        else:
            return None
    return list(model.levels_)


def scorer(name: str, labels: Sequence[Any] | None = None) -> OrdinalScorer:
    """A scorer for `scoring=` of `cross_val_score`, `GridSearchCV` and the like.

    It works with `OrdinalClassifier` and with every classifier of scikit-learn's form,
    in pipelines too: the columns of `predict_proba` are found by `classes_`, and put
    into the order of the levels. A level that the training rows lack has probability 0.

    Parameters
    ----------
    name : str
        "rps" (ranked probability score, not divided by K-1) or "log_loss", which need
        `predict_proba`; "mae" and "macro_mae" (ranks between observed and predicted
        levels), "linear_kappa", "quadratic_kappa" or "kendall_tau_b", of predicted
        levels; "concordance", of expected ranks, or of predicted levels where a model
        has no probabilities.
    labels : sequence, optional
        All levels in order, lowest first. Without it the order is that of an ordered
        categorical y, else that of a fitted `OrdinalClassifier`, else that of numbers.
        Text without an order is refused.

    Returns
    -------
    callable
        Larger is better, as scikit-learn expects: losses ("rps", "log_loss", "mae",
        "macro_mae") have their sign changed.

    Raises
    ------
    OptionError
        An unknown name, or `labels` that are not a list of distinct labels.

    References
    ----------
    The scores are those of the functions of this module; the form is that of
    scikit-learn's user guide, "The scoring parameter": a callable of (estimator, X, y).

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from ordstat import OrdinalClassifier, datasets
    >>> from ordstat.metrics import scorer
    >>> data = datasets.herbrich(200, seed=0)
    >>> X, y = data[["x1", "x2"]], data["rank"]
    >>> scores = cross_val_score(
    ...     OrdinalClassifier("logit"), X, y, cv=3, scoring=scorer("rps")
    ... )
    >>> bool((scores < 0).all())
    True
    """
    one_of("name", name, _MEASURES)
    if labels is not None:
        labels_in_order(labels, "labels")
    return OrdinalScorer(name, labels)


# Labels and probabilities as arrays


def _of_labels(
    name: str, y_true: Any, y_pred: Any, sample_weight: Any, labels: Any
) -> float:
    """A measure of observed and predicted levels."""
    _check_rows("y_true", y_true, y_true)
    _check_rows("y_pred", y_pred, y_true)
    predicted = np.asarray(unmasked(y_pred, "y_pred"))
    codes, order, weights = _observed(y_true, sample_weight, labels, predicted)
    return _measure(
        name, codes, len(order), weights, predicted=_codes(predicted, order, "y_pred")
    )


def _of_probabilities(
    name: str, y_true: Any, y_proba: Any, sample_weight: Any, labels: Any
) -> float:
    """A measure of observed levels and probabilities."""
    columns = None
    if isinstance(y_proba, pd.DataFrame) and not isinstance(
        y_proba.columns, pd.RangeIndex
    ):
        columns = np.asarray(y_proba.columns)
    codes, order, weights = _observed(y_true, sample_weight, labels, columns)
    if columns is None:
        try:
            table = np.asarray(unmasked(y_proba, "y_proba"), dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(f"y_proba must be numbers; got {brief(y_proba)}.") from None
    else:
        table = _aligned(y_proba, order)
    if table.shape != (codes.size, len(order)):
        raise DataError(
            f"y_proba must have a row for each of {codes.size} labels and a column for"
            f" each of the levels {order}; got shape {table.shape}. Give labels=[...]"
            " with all levels in order."
        )
    _check_probabilities(table)
    return _measure(name, codes, len(order), weights, probabilities=table)


def _measure(
    name: str,
    codes: IntArray,
    n_levels: int,
    weights: FloatArray,
    *,
    predicted: IntArray | None = None,
    scores: FloatArray | None = None,
    probabilities: FloatArray | None = None,
) -> float:
    """A measure of `judging.errors` of one kind of prediction."""
    unused = np.zeros(codes.size)
    predictions = Predictions(
        y=codes,
        codes=codes if predicted is None else predicted,
        scores=unused if scores is None else scores,
        n_levels=n_levels,
        weights=weights,
        probabilities=probabilities,
    )
    return measured(predictions, [name])[0]


def _observed(
    y_true: Any, sample_weight: Any, labels: Any, others: AnyArray | None = None
) -> tuple[IntArray, list[Any], FloatArray]:
    """(N,) codes of the observed levels, all levels in order, and (N,) weights."""
    _check_rows("y_true", y_true, y_true)
    order = _order(labels, y_true, others)
    values = np.asarray(unmasked(y_true, "y_true"))
    codes = _codes(values, order, "y_true")
    if sample_weight is None:
        return codes, order, np.ones(codes.size)
    return codes, order, case_weights(sample_weight, values)


def _check_rows(name: str, labels: Any, y_true: Any) -> None:
    """DataError unless there is one label for each row of y_true."""
    shape = shape_of(labels)
    if shape is None or len(shape) != 1 or shape[0] == 0 or shape != shape_of(y_true):
        raise DataError(
            f"{name} must have one label for each row, as many in y_true and in the"
            f" prediction; got {brief(labels)}."
        )


def _order(labels: Any, y_true: Any, others: AnyArray | None = None) -> list[Any]:
    """All levels, lowest first: as given, by the categorical y_true, or numbers sorted;
    `others` are labels beside those of y_true.
    """
    if labels is not None:
        return labels_in_order(labels, "labels")
    if (declared := declared_order(y_true)) is not None:
        return declared
    observed = np.asarray(unmasked(y_true, "y_true"))
    given = observed.tolist()
    if others is not None:
        given += others.tolist()
    if any(isinstance(label, str) for label in given):
        raise DataError(
            "y_true holds text without an order. Give labels=[...] with all levels,"
            " lowest first."
        )
    return sorted({label for label in given if not pd.isna(label)})


def _codes(labels: Any, order: list[Any], name: str) -> IntArray:
    """(N,) ranks 0..K-1 of labels; DataError for a missing or unknown one."""
    values = np.asarray(labels)
    missing = np.asarray(pd.isna(values))
    if missing.any():
        raise DataError(
            f"{name} must have no missing labels; got {int(missing.sum())}, the first"
            f" in row {int(np.argmax(missing))}. Leave these rows out."
        )
    plain_order = [plain(label) for label in order]
    return np.asarray(ranked(values, plain_order, name).codes, dtype=np.intp)


def _aligned(table: pd.DataFrame, order: list[Any]) -> FloatArray:
    """(N, K) probabilities by the names of the columns, in order; 0 for a level without
    a column.
    """
    names = [plain(name) for name in table.columns]
    if len(set(names)) < len(names):
        raise DataError(f"y_proba must name each level once; got columns {names}.")
    unknown = [name for name in names if name not in order]
    if unknown:
        raise DataError(
            f"y_proba has columns that are not among the levels {order}: {unknown[:5]}."
            " Give labels=[...] with all levels in order."
        )
    values = table.to_numpy(dtype=np.float64)
    aligned: FloatArray = np.zeros((len(values), len(order)))
    aligned[:, [order.index(name) for name in names]] = values
    return aligned


def _check_probabilities(table: FloatArray) -> None:
    """DataError with the first row that is no distribution."""
    with np.errstate(invalid="ignore"):
        wrong = ~((table >= 0.0).all(axis=1) & np.isfinite(table).all(axis=1))
        wrong |= ~(np.abs(table.sum(axis=1) - 1.0) <= _ROUNDED)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            "y_proba must hold probabilities of 0 or more that add up to 1 in each row;"
            f" row {row} holds {brief(table[row].tolist())}."
        )
