"""HiddenLayer: new columns from a neural network that was trained to predict ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neural_network import MLPRegressor
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import FloatArray
from ..checks import fraction, number, one_of, whole
from ..estimator import ranked, validated
from ..exceptions import DataError
from ..formula.sample import SCALINGS, fit_scaling

__all__ = ["HiddenLayer"]

#: Functions of the hidden units, by scikit-learn's names.
_ACTIVATIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "relu": lambda t: np.maximum(t, 0.0),
    "tanh": np.tanh,
    "logistic": lambda t: 0.5 * (1.0 + np.tanh(0.5 * t)),
}
# R^2 of fewer held-out rows says nothing.
_LEAST_HELD = 2


class HiddenLayer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Outputs of the hidden layer of a network that regresses the ranks 1..K on the columns by least squares.

    The features of Milidiú & Rocha (2019, sec. 8.1), a linear online ranker being learned on them: one hidden layer of
    1000 units, gradient steps of size 0.001, until 100 epochs bring no better result on rows held out. The paper stops
    by their mean absolute error, scikit-learn's MLPRegressor, which does the work here, by their R^2; and its steps
    are Adam's.

    Parameters
    ----------
    units : int
        Size of the hidden layer: the number of new columns.
    activation : {"relu", "tanh", "logistic"}
        Function of the hidden units.
    alpha : float
        Strength of the penalty on the squared weights, >= 0.
    learning_rate : float
        First size of a step, > 0.
    validation : float or None
        Share of the rows held out to tell when to stop, in (0, 1), at least two rows; None trains until the training
        loss stands still.
    patience : int
        Epochs without a better result after which training ends.
    max_iter : int
        Epochs at most; scikit-learn warns where they are not enough.
    scaling : {"standard", "range", None}
        Columns to mean 0 and standard deviation 1, or to [-1, 1], on the training rows, or as they are.
    levels : sequence, optional
        The labels in order, lowest first, as for `OrdinalClassifier`.
    random_state : int, numpy.random.RandomState or None
        Seed of the first weights and the held-out rows.

    Attributes
    ----------
    network_ : MLPRegressor
        Trained on the scaled columns.
    levels_ : list
        Labels in order, lowest first.
    n_iter_ : int
        Epochs made.
    n_features_in_ : int

    Examples
    --------
    >>> from ordstat import HiddenLayer, OrdinalClassifier, datasets
    >>> from sklearn.pipeline import make_pipeline
    >>> train, new = datasets.quadratic_bands(300, seed=1), datasets.quadratic_bands(1000, seed=2)
    >>> alone = OrdinalClassifier("cusum", margin=1.0)
    >>> model = make_pipeline(HiddenLayer(units=100), OrdinalClassifier("cusum", margin=1.0))
    >>> X, y = train[["x1", "x2"]], train["rank"]
    >>> [round(m.fit(X, y).score(new[["x1", "x2"]], new["rank"]), 2) for m in (alone, model)]
    [0.81, 0.96]
    """

    def __init__(
        self,
        units: int = 1000,
        *,
        activation: str = "relu",
        alpha: float = 1e-4,
        learning_rate: float = 1e-3,
        validation: float | None = 0.1,
        patience: int = 100,
        max_iter: int = 10_000,
        scaling: str | None = "standard",
        levels: Sequence[Any] | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.units = units
        self.activation = activation
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.validation = validation
        self.patience = patience
        self.max_iter = max_iter
        self.scaling = scaling
        self.levels = levels
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Train the network.

        Parameters
        ----------
        X : (N, D) numeric array or frame
        y : (N,) labels

        Raises
        ------
        OptionError
            A parameter outside its range.
        DataError
            Labels outside `levels`, or too few rows to hold any out.
        """
        self._check()
        X, y, order = validated(self, X, y)
        ranks = np.asarray(ranked(y, order).codes, dtype=np.float64) + 1.0
        self.levels_ = order
        self.scaling_ = fit_scaling(self.scaling, X, np.ones(len(X)))
        self.network_ = self._network(len(X)).fit(self.scaling_(X), ranks)
        self.n_iter_ = int(self.network_.n_iter_)
        return self

    def transform(self, X: Any) -> FloatArray:
        """(N, units) outputs of the hidden layer.

        Examples
        --------
        >>> import numpy as np
        >>> from ordstat import HiddenLayer, datasets
        >>> data = datasets.herbrich(100, seed=0)
        >>> X, y = data[["x1", "x2"]], data["rank"]
        >>> HiddenLayer(3).fit(X, y).transform(X).shape
        (100, 3)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return _ACTIVATIONS[self.activation](self.scaling_(X) @ self.network_.coefs_[0] + self.network_.intercepts_[0])

    @property
    def _n_features_out(self) -> int:
        return int(self.network_.coefs_[0].shape[1])

    def _network(self, n: int) -> MLPRegressor:
        share = self.validation
        if share is not None:
            if n < 2 * _LEAST_HELD:
                raise DataError(
                    f"X has n_samples = {n}, too few to hold out {_LEAST_HELD}: give more rows, or set validation=None."
                )
            share = max(share, _LEAST_HELD / n)
        return MLPRegressor(
            hidden_layer_sizes=(self.units,),
            activation=self.activation,
            alpha=self.alpha,
            learning_rate_init=self.learning_rate,
            early_stopping=share is not None,
            validation_fraction=0.1 if share is None else share,
            n_iter_no_change=self.patience,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )

    def _check(self) -> None:
        """Raise OptionError, naming the parameter, where one is outside its range."""
        for name in ("units", "patience", "max_iter"):
            whole(name, getattr(self, name), 1, of=self)
        one_of("activation", self.activation, _ACTIVATIONS, of=self)
        number("alpha", self.alpha, least=0.0, of=self)
        number("learning_rate", self.learning_rate, above=0.0, of=self)
        if self.validation is not None:
            fraction("validation", self.validation, of=self, also=", or None")
        one_of("scaling", self.scaling, SCALINGS, of=self)
