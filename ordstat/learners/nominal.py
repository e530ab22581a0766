"""Any classifier with predict_proba, fitted to the levels as classes without order."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..checks import unknown
from ..exceptions import DataError, OptionError
from ..model.row_blocks import row_blocks
from ..model.sample import Rows
from ..model.scaling import Scaling, fit_scaling
from ..solvers.threads import one_openmp_thread
from .classifier import sklearn_model
from .named import CLASSIFIERS
from .packages import copied, in_its_form, is_classifier, takes_weights, told, with_categories

#: Classifiers that a string stands for.
NOMINAL: dict[str, Callable[[], Any]] = {
    **CLASSIFIERS,
    "forest": partial(sklearn_model, "ensemble", "RandomForestClassifier", n_estimators=300),
    "hgb": partial(sklearn_model, "ensemble", "HistGradientBoostingClassifier", early_stopping=False),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassShares:
    """P(y > k) by the class probabilities of a fitted classifier, whose columns are put in the order of the levels.

    Attributes
    ----------
    model : classifier with predict_proba, fitted to codes
    codes : (C,) the codes that its columns stand for
    n_levels : int
    scaling : Scaling
    categories : (D,) or None
        How many categories the codes of a column stand for, 0 of numbers; None of numbers alone.
    """

    model: Any
    codes: IntArray
    n_levels: int
    scaling: Scaling
    categories: IntArray | None = None

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1), not growing with k."""
        out = np.empty((rows.n, self.n_levels - 1))
        with one_openmp_thread(rows.n), told(self.model):
            for some in row_blocks(rows.n, self.n_levels):
                if rows.X[some].size:
                    X = in_its_form(self.model, self.scaling(rows.X[some]), self.categories)
                    out[some] = self._above(np.asarray(self.model.predict_proba(X)))
        return out

    def _above(self, found: FloatArray) -> FloatArray:
        """(n, K-1) from the classifier's probabilities (n, C), which may be of single precision."""
        p = np.zeros((len(found), self.n_levels))
        p[:, self.codes] = found
        total = p.sum(axis=1, keepdims=True)
        if not (np.isfinite(p).all() and (p >= 0.0).all() and (total > 0.0).all()):
            raise DataError(
                f"{type(self.model).__name__} gives probabilities that are negative, missing or all 0. Rescale the "
                "columns (scaling= of the method does), or choose another base."
            )
        from_above = np.cumsum((p / total)[:, :0:-1], axis=1)[:, ::-1]
        return np.asarray(np.minimum(from_above, 1.0))


@dataclass(frozen=True)
class NominalLearner:
    """A classifier to be cloned and fitted to codes.

    Attributes
    ----------
    model : classifier with predict_proba
        Of scikit-learn, LightGBM, XGBoost, CatBoost or alike. Where it has a random_state that is None, the clone is
        given one.
    scaling : str or None
        As in `fit_scaling`.
    """

    model: Any
    scaling: str | None = field(default="range")

    @property
    def counts_weights(self) -> bool:
        """Whether `fit` takes sample weights."""
        return takes_weights(self.model)

    def fit(
        self,
        X: FloatArray,
        y: IntArray,
        weights: FloatArray,
        n_levels: int,
        rng: np.random.Generator,
        categories: IntArray | None = None,
    ) -> tuple[ClassShares, int]:
        """The probabilities learnt from rows X (N, D) with codes y (N,), and how often it did not converge.

        Columns of `categories` (D,), where there are some, hold codes and are not scaled.
        """
        from sklearn.exceptions import ConvergenceWarning

        if X.shape[1] == 0:
            raise DataError("there is no column to classify by, and a classifier needs one: add a term.")
        same = bool((weights == weights[0]).all())
        if not same and not self.counts_weights:
            raise DataError(
                f"{type(self.model).__name__} takes no sample_weight in fit, and the weights are not whole numbers. "
                "Choose a base that takes weights."
            )
        codes, classes = np.unique(y, return_inverse=True)
        scaling = fit_scaling(self.scaling if categories is None else None, X, weights)
        model = copied(self.model, rng)
        own = {} if categories is None else with_categories(model, categories)
        own |= {} if same else {"sample_weight": weights}
        with warnings.catch_warnings(record=True) as caught, one_openmp_thread(len(X)), told(model):
            warnings.simplefilter("always", ConvergenceWarning)
            model.fit(in_its_form(model, scaling(X), categories), classes, **own)
        missed = [issubclass(w.category, ConvergenceWarning) for w in caught]
        for w, counted in zip(caught, missed, strict=True):
            if not counted:
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
        shares = ClassShares(model=model, codes=codes, n_levels=n_levels, scaling=scaling, categories=categories)
        return shares, sum(missed)


def parse_nominal(value: Any, owner: str) -> Any:
    """The classifier a user means by a name or as it is.

    Raises
    ------
    OptionError
        None that gives probabilities; `owner` is the method to name.
    """
    if isinstance(value, str) and value in NOMINAL:
        return NOMINAL[value]()
    if not is_classifier(value):
        also = ", or a classifier with predict_proba such as LGBMClassifier()"
        raise unknown("base", value, NOMINAL, of=owner, also=also)
    if not hasattr(value, "predict_proba"):
        raise OptionError(
            f"base of {owner}, {type(value).__name__}, has no predict_proba, and probabilities of the levels are asked "
            "for: choose a classifier that has, or set its probability=True where there is such an option."
        )
    return value
