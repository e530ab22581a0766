"""Any classifier with scikit-learn's interface as a learner."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..checks import unknown
from ..exceptions import DataError, OptionError
from ..fit import Certificate
from ..formula.sample import Rows
from ..formula.scaling import Scaling, fit_scaling
from ..formula.sparse import as_scipy
from ..threads import FILTERS, one_openmp_thread
from .learners import Binary, BinaryLearner, Learned

_LARGEST_SEED = 2**31 - 1
#: Settings that keep a package from printing and from writing files, unless the user
#: has set any of `_VERBOSITY`.
_QUIET: dict[str, dict[str, Any]] = {
    "lightgbm": {"verbosity": -1},
    "catboost": {"verbose": False, "allow_writing_files": False},
}
_VERBOSITY = {
    "verbosity",
    "verbose",
    "silent",
    "logging_level",
    "verbose_eval",
    "allow_writing_files",
}
_SEEDS = {"random_state", "seed", "random_seed"}


def is_classifier(model: Any) -> bool:
    """Whether a value (not a class) is a classifier that scikit-learn can clone."""
    if isinstance(model, type) or not all(
        hasattr(model, part) for part in ("fit", "get_params", "__sklearn_tags__")
    ):
        return False
    from sklearn.base import is_classifier

    return bool(is_classifier(model))


def takes_weights(model: Any) -> bool:
    """Whether `fit` accepts sample_weight."""
    from sklearn.utils.validation import has_fit_parameter

    return bool(has_fit_parameter(model, "sample_weight"))


#: End of the error message for sparse columns where the classifier needs dense ones.
SPARSE_BASE = ", or give a base that takes sparse columns, such as base='logistic'"


def takes_sparse(model: Any) -> bool:
    """Whether `fit` accepts sparse matrices, by scikit-learn's tags."""
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.sparse)


def copied(model: Any, rng: np.random.Generator) -> Any:
    """An unfitted copy: quiet and seeded, unless the user has set these options."""
    from sklearn.base import clone

    copy = clone(model)
    settings = copy.get_params(deep=False)
    set_by_user = {name for name, value in settings.items() if value is not None}
    if set_by_user.isdisjoint(_VERBOSITY):
        copy.set_params(**_QUIET.get(type(model).__module__.partition(".")[0], {}))
    if "random_state" in settings and set_by_user.isdisjoint(_SEEDS):
        copy.set_params(random_state=int(rng.integers(_LARGEST_SEED)))
    return copy


def written(model: Any) -> str:
    """A classifier as code, on one line and without settings that are None."""
    text = " ".join(repr(model).split())
    if "=None" not in text:
        return text
    settings = model.get_params(deep=False).items()
    arguments = (
        f"{name}={value!r}"
        for name, value in settings
        if value is not None and value == value
    )
    return f"{type(model).__name__}({', '.join(arguments)})"


@contextmanager
def refusing(model: Any) -> Iterator[None]:
    """Turn a ValueError of a classifier into a DataError, such as for numbers beyond
    the 32 bits of a tree.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except ValueError as error:
        raise DataError(
            f"{type(model).__name__} refuses the rows: {error} Rescale the columns"
            " (scaling= of the method does), or choose another base classifier."
        ) from error


@contextmanager
def unconverged() -> Iterator[list[Any]]:
    """Collect scikit-learn's warnings of fits that did not converge; other warnings
    pass.
    """
    from sklearn.exceptions import ConvergenceWarning

    missed: list[Any] = []
    with FILTERS, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        yield missed
    for w in caught:
        if issubclass(w.category, ConvergenceWarning):
            missed.append(w)
        else:
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)


def sklearn_model(module: str, name: str, **settings: Any) -> Any:
    """An estimator of scikit-learn, imported on demand."""
    return getattr(import_module(f"sklearn.{module}"), name)(**settings)


@dataclass(frozen=True)
class _Constant:
    """The constant classifier of a problem with one label or without examples."""

    value: float

    probable: ClassVar[bool] = True

    def __call__(self, X: FloatArray) -> FloatArray:
        return np.full(X.shape[0], self.value)

    def above(self, X: FloatArray) -> FloatArray:
        """(N,) 1 or 0; 1/2 without examples."""
        return np.full(X.shape[0], (1.0 + self.value) / 2.0)


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A fitted classifier. The score is its decision function, else P(+1) - 1/2, else
    its predicted label.
    """

    model: Any

    def __call__(self, X: FloatArray) -> FloatArray:
        direct = hasattr(self.model, "decision_function")
        if self.probable and not direct:
            return self.above(X) - 0.5
        with refusing(self.model):
            if direct:
                return np.asarray(self.model.decision_function(X), dtype=np.float64)
            return np.where(self.model.predict(X) == self.model.classes_[1], 1.0, -1.0)

    @property
    def probable(self) -> bool:
        """Whether the classifier has probabilities."""
        return hasattr(self.model, "predict_proba")

    def above(self, X: FloatArray) -> FloatArray:
        """(N,) P(+1)."""
        with refusing(self.model):
            return np.asarray(self.model.predict_proba(X)[:, 1], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Panel:
    """P fitted classifiers, one score each."""

    members: tuple[_Constant | _Fitted, ...]
    scaling: Scaling

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, P) scores."""
        return self._columns(rows, self.members)

    @property
    def probable(self) -> bool:
        """Whether all classifiers have probabilities."""
        return all(member.probable for member in self.members)

    def above(self, rows: Rows) -> FloatArray:
        """(N, P) P(+1)."""
        return self._columns(rows, [member.above for member in self.members])

    def _columns(
        self, rows: Rows, functions: Sequence[Callable[[FloatArray], FloatArray]]
    ) -> FloatArray:
        if rows.n == 0:
            return np.zeros((0, len(functions)))
        X = as_scipy(self.scaling(rows.X))
        with one_openmp_thread(rows.n):
            return np.column_stack([function(X) for function in functions])


@dataclass(frozen=True)
class Classifier(BinaryLearner):
    """A classifier; a clone is fitted to the labels 0 and 1 of each problem.

    Attributes
    ----------
    model : classifier
        With fit(X, y), and sample_weight= where the weights of examples differ. From
        scikit-learn, LightGBM, XGBoost, CatBoost or similar. If its random_state is
        None, each clone gets a seed.
    scaling : str or None
        See `fit_scaling`.
    """

    model: Any
    scaling: str | None = "range"

    @property
    def counts_rows(self) -> bool:
        """False for a logistic regression, which depends on weights only; True
        otherwise.
        """
        from sklearn.linear_model import LogisticRegression

        return not isinstance(self.model, LogisticRegression)

    @property
    def takes_sparse(self) -> bool:
        return takes_sparse(self.model)

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
        if self.X.shape[1] == 0:
            raise DataError(
                "X must have a column for scikit-learn's classifiers; got no column."
                " Add a term."
            )
        X = as_scipy(self.scaling(self.X))
        with unconverged() as missed, one_openmp_thread(len(self.X)):
            members = tuple(self._member(X, problem, rng) for problem in problems)
        scorer = Panel(members, self.scaling)
        return Learned(
            scorer=scorer,
            scores=scorer(Rows(X=self.X)),
            certificate=Certificate(
                name="base classifiers that did not converge",
                value=float(len(missed)),
                tolerance=0.0,
                steps="classifiers fitted",
            ),
            iterations=len(problems),
        )

    def _member(
        self, X: FloatArray, problem: Binary, rng: np.random.Generator
    ) -> _Constant | _Fitted:
        if problem.one_sided:
            return _Constant(problem.side)
        model = copied(self.model, rng)
        given = {}
        if takes_weights(model):
            given["sample_weight"] = problem.weights
        elif (problem.weights != problem.weights[0]).any():
            raise DataError(
                f"{type(model).__name__} must accept sample_weight in fit, as costs or"
                " weights of the examples differ. Choose a classifier that takes"
                " weights, or cost='classification' (for Reduction 'absolute' too)"
                " with whole weights."
            )
        with refusing(model):
            labels = (problem.labels > 0).astype(np.int64)
            return _Fitted(model.fit(X[problem.index], labels, **given))


_LOGISTIC = partial(sklearn_model, "linear_model", "LogisticRegression", max_iter=1000)
_TREE = partial(sklearn_model, "tree", "DecisionTreeClassifier")
_HGB = partial(
    sklearn_model, "ensemble", "HistGradientBoostingClassifier", early_stopping=False
)

#: scikit-learn's classifiers that a string stands for, with their default settings.
CLASSIFIERS: dict[str, Callable[[], Any]] = {"logistic": _LOGISTIC, "tree": _TREE}
#: Classifiers and learners that a string stands for as the base of a `Reduction`.
BASES: dict[str, Callable[[], Any]] = {
    "logistic": _LOGISTIC,
    "c4.5": lambda: import_module("ordstat").C45(),
    "tree": partial(_TREE, min_samples_leaf=5, random_state=0),
    "hgb": partial(_HGB, random_state=0),
    "ordboost": lambda: import_module("ordstat.prediction.boosted_base").BoostedBase(),
}
#: Classifiers with probabilities of K levels that a string stands for.
NOMINAL: dict[str, Callable[[], Any]] = {
    **CLASSIFIERS,
    "forest": partial(
        sklearn_model, "ensemble", "RandomForestClassifier", n_estimators=300
    ),
    "hgb": _HGB,
}


def parse_classifier(
    name: str,
    value: Any,
    names: Mapping[str, Callable[[], Any] | None],
    owner: Any,
    *,
    scaling: str | None = None,
    also: str = "",
    weighted: bool = False,
) -> BinaryLearner:
    """The binary learner that the option `name` of `owner` stands for: a name, a
    learner or a classifier.

    Names with value None only appear in the message. With `weighted` the classifier
    must accept sample weights; otherwise it needs them only if weights differ, which
    `fit` checks.

    Raises
    ------
    OptionError
        Another value, or with `weighted` a classifier that does not accept sample
        weights.
    """
    make = names.get(value) if isinstance(value, str) else None
    model = value if make is None else make()
    if isinstance(model, BinaryLearner):
        return model
    if not is_classifier(model):
        also = (
            f"{also}, or a scikit-learn"
            f" classifier{' that takes sample_weight' if weighted else ''}"
        )
        raise unknown(name, value, names, of=owner, also=also)
    if weighted and not takes_weights(model):
        owner = owner if isinstance(owner, str) else type(owner).__name__
        raise OptionError(
            f"{name} of {owner}, {type(model).__name__}, must accept sample_weight in"
            " fit, as examples are weighted. Choose a classifier that takes weights."
        )
    return Classifier(model, scaling)


def parse_base(value: Any, owner: Any) -> BinaryLearner:
    """The base learner that a name, a value or a scikit-learn classifier stands for."""
    return parse_classifier(
        "base", value, BASES, owner, also=", a learner such as C45()"
    )
