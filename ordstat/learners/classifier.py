"""Any classifier with scikit-learn's interface that takes sample weights, as a binary learner."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..exceptions import DataError, OptionError
from ..model.binary import Binary
from ..model.fit import Certificate
from ..model.sample import Rows
from ..model.scaling import Scaling, fit_scaling
from ..solvers.threads import one_openmp_thread
from .base import BinaryLearner, Learned
from .packages import copied, is_classifier, takes_weights, told


def sklearn_model(module: str, name: str, **settings: Any) -> Any:
    """An estimator of scikit-learn, imported when it is made."""
    return getattr(import_module(f"sklearn.{module}"), name)(**settings)


@dataclass(frozen=True)
class _Constant:
    """The answer to a problem with one label, or with none."""

    value: float

    probable: ClassVar[bool] = True

    def __call__(self, X: FloatArray) -> FloatArray:
        return np.full(len(X), self.value)

    def above(self, X: FloatArray) -> FloatArray:
        """(N,) 1 or 0, 1/2 where there was no example."""
        return np.full(len(X), (1.0 + self.value) / 2.0)


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A fitted classifier: its decision function, or P(+1) - 1/2, or its answer."""

    model: Any

    def __call__(self, X: FloatArray) -> FloatArray:
        with told(self.model):
            if hasattr(self.model, "decision_function"):
                return np.asarray(self.model.decision_function(X), dtype=np.float64)
            if hasattr(self.model, "predict_proba"):
                return np.asarray(self.model.predict_proba(X)[:, 1], dtype=np.float64) - 0.5
            return np.where(self.model.predict(X) == self.model.classes_[1], 1.0, -1.0)

    @property
    def probable(self) -> bool:
        """Whether the classifier knows probabilities."""
        return hasattr(self.model, "predict_proba")

    def above(self, X: FloatArray) -> FloatArray:
        """(N,) P(+1)."""
        with told(self.model):
            return np.asarray(self.model.predict_proba(X)[:, 1], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Panel:
    """P fitted classifiers side by side."""

    members: tuple[_Constant | _Fitted, ...]
    scaling: Scaling

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, P) scores."""
        return self._columns(rows, self.members)

    @property
    def probable(self) -> bool:
        """Whether all of them know probabilities."""
        return all(member.probable for member in self.members)

    def above(self, rows: Rows) -> FloatArray:
        """(N, P) P(+1)."""
        return self._columns(rows, [member.above for member in self.members])

    def _columns(self, rows: Rows, asked: Sequence[Callable[[FloatArray], FloatArray]]) -> FloatArray:
        if rows.n == 0:
            return np.zeros((0, len(asked)))
        X = self.scaling(rows.X)
        with one_openmp_thread(rows.n):
            return np.column_stack([ask(X) for ask in asked])


@dataclass(frozen=True)
class Classifier(BinaryLearner):
    """A classifier, cloned and fitted anew to the labels 0 and 1 of every problem.

    Attributes
    ----------
    model : classifier with fit(X, y, sample_weight=)
        Of scikit-learn, LightGBM, XGBoost, CatBoost or alike. Where it has a random_state that is None, each clone is
        given one.
    scaling : str or None
        As in `fit_scaling`.

    Raises
    ------
    OptionError
        The model cannot be cloned or takes no sample weights.
    """

    model: Any
    scaling: str | None = "range"

    def __post_init__(self) -> None:
        if not is_classifier(self.model):
            raise OptionError(f"base must be a name or a scikit-learn classifier; got {self.model!r}.")
        if not takes_weights(self.model):
            raise OptionError(f"base must take sample_weight in fit; {self.model!r} does not.")

    @property
    def counts_rows(self) -> bool:
        """True, as far as anybody knows, but of logistic regression."""
        from sklearn.linear_model import LogisticRegression

        return not isinstance(self.model, LogisticRegression)

    def on(self, X: FloatArray, case_weights: FloatArray) -> Clones:
        used = case_weights > 0
        scaling = fit_scaling(self.scaling, X[used], case_weights[used])
        return Clones(model=self.model, scaling=scaling, X=X)


@dataclass(frozen=True, eq=False, kw_only=True)
class Clones:
    """The trainer of a classifier, for the rows X (N, D)."""

    model: Any
    scaling: Scaling
    X: FloatArray

    def fit(self, problems: Sequence[Binary], rng: np.random.Generator) -> Learned:
        """Fit one clone to every problem that has both labels."""
        from sklearn.exceptions import ConvergenceWarning

        if self.X.shape[1] == 0:
            raise DataError("there is no column to classify by, and scikit-learn's classifiers need one: add a term.")
        X = self.scaling(self.X)
        with warnings.catch_warnings(record=True) as caught, one_openmp_thread(len(X)):
            warnings.simplefilter("always", ConvergenceWarning)
            members = tuple(self._member(X, problem, rng) for problem in problems)
        missed = [issubclass(w.category, ConvergenceWarning) for w in caught]
        for w, counted in zip(caught, missed, strict=True):
            if not counted:
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
        scorer = Panel(members, self.scaling)
        return Learned(
            scorer=scorer,
            scores=scorer(Rows(X=self.X)),
            certificate=Certificate(
                name="base classifiers that did not converge", value=float(sum(missed)), tolerance=0.0
            ),
            iterations=len(problems),
        )

    def _member(self, X: FloatArray, problem: Binary, rng: np.random.Generator) -> _Constant | _Fitted:
        if problem.one_sided:
            return _Constant(problem.side)
        model = copied(self.model, rng)
        with told(model):
            labels = (problem.labels > 0).astype(np.int64)
            return _Fitted(model.fit(X[problem.index], labels, sample_weight=problem.weights))
