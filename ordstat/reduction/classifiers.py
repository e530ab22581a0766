"""Any classifier with scikit-learn's interface as a learner."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..checks import unknown
from ..exceptions import DataError, OptionError
from ..fit import Certificate
from ..formula.sample import Rows, Scaling, fit_scaling, row_blocks
from ..threads import one_openmp_thread
from .learners import Binary, BinaryLearner, HypothesisClass, Learned, Scorer, Trainer, Weak, WeakLearner, WeakTrainer
from .members import MemberSum

_LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class Package:
    """What is settled for the classifiers of a package, where their user has settled nothing.

    Attributes
    ----------
    quiet : dict
        Settings that keep it from printing and from writing files, each with all names that it goes by.
    seed : tuple of str
        Names of its seed; the first one is set.
    error : str
        "module.Class" of what it raises beside ValueError.
    """

    quiet: dict[tuple[str, ...], Any] = field(default_factory=dict)
    seed: tuple[str, ...] = ("random_state",)
    error: str | None = None


#: Packages whose classifiers need more than scikit-learn's interface says.
PACKAGES = {
    "lightgbm": Package(
        quiet={("verbosity", "verbose"): -1},
        seed=("random_state", "seed", "random_seed"),
        error="lightgbm.basic.LightGBMError",
    ),
    "xgboost": Package(quiet={("verbosity",): 0}, seed=("random_state", "seed")),
    "catboost": Package(
        quiet={
            ("verbose", "silent", "logging_level", "verbose_eval"): False,
            ("allow_writing_files", "train_dir"): False,
        },
        seed=("random_seed", "random_state"),
        error="catboost.CatBoostError",
    ),
}
_ANY = Package()


def package_of(model: Any) -> Package:
    """The package that a classifier, or a class that it derives from, comes from."""
    origins = (kind.__module__.partition(".")[0] for kind in type(model).__mro__)
    return next((PACKAGES[name] for name in origins if name in PACKAGES), _ANY)


def is_classifier(model: Any) -> bool:
    """Whether it is a value (no class) that scikit-learn takes for a classifier and can copy."""
    if isinstance(model, type) or not all(hasattr(model, part) for part in ("fit", "get_params", "__sklearn_tags__")):
        return False
    from sklearn.base import is_classifier as known

    return bool(known(model))


def takes_weights(model: Any) -> bool:
    """Whether `fit` has sample weights."""
    from sklearn.utils.validation import has_fit_parameter

    return bool(has_fit_parameter(model, "sample_weight"))


def is_drawn(model: Any) -> bool:
    """Whether a seed is left to be set."""
    return any(name == "random_state" for name, value in _settings(model).items() if value is None)


def takes_missing(model: Any) -> bool:
    """Whether the classifier says that it takes NaN."""
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.allow_nan)


def takes_categories(model: Any) -> bool:
    """Whether codes of categories can be given to it as such."""
    return package_of(model) is not _ANY or "categorical_features" in _settings(model)


def with_categories(model: Any, categories: IntArray) -> dict[str, Any]:
    """Tell an unfitted copy how many categories each column has, 0 of numbers; more arguments of its `fit`."""
    places = np.flatnonzero(categories).tolist()
    package = package_of(model)
    if package is PACKAGES["lightgbm"]:
        return {"categorical_feature": places}
    if package is PACKAGES["catboost"]:
        return {"cat_features": places}
    if package is PACKAGES["xgboost"]:
        model.set_params(enable_categorical=True, feature_types=["c" if n else "q" for n in categories])
    else:
        model.set_params(categorical_features=places)
    return {}


def in_its_form(model: Any, X: FloatArray, categories: IntArray | None) -> AnyArray:
    """Rows as a classifier takes them: CatBoost takes categories as texts, and a missing one as another of them."""
    if categories is None or package_of(model) is not PACKAGES["catboost"]:
        return X
    found = X.astype(object)
    for d in np.flatnonzero(categories):
        found[:, d] = ["none" if np.isnan(code) else str(int(code)) for code in X[:, d]]
    return found


def copied(model: Any, rng: np.random.Generator) -> Any:
    """An unfitted copy, with a seed where it has none, which prints nothing where nothing is said of it."""
    from sklearn.base import clone

    made, package = clone(model), package_of(model)
    given = {name for name, value in _settings(made).items() if value is not None}
    for names, value in package.quiet.items():
        if given.isdisjoint(names):
            made.set_params(**{names[0]: value})
    seed = package.seed
    if given.isdisjoint(seed) and (package is not _ANY or is_drawn(made)):
        made.set_params(**{seed[0]: int(rng.integers(_LARGEST_SEED))})
    return made


def written(model: Any) -> str:
    """A classifier as code, on one line and without settings that are None, of which XGBoost lists all."""
    text = " ".join(repr(model).split())
    if "=None" not in text:
        return text
    given = {name: value for name, value in _settings(model).items() if value is not None and value == value}
    return f"{type(model).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def _settings(model: Any) -> dict[str, Any]:
    return dict(model.get_params(deep=False))


@contextmanager
def refusing(model: Any) -> Iterator[None]:
    """What a classifier refuses, such as numbers beyond the 32 bits of a tree, as an error of the data."""
    try:
        with np.errstate(over="ignore"):
            yield
    except _refusals(model) as error:
        raise DataError(
            f"{type(model).__name__} refuses the rows: {error} Rescale the columns (scaling= of the method does), or "
            "choose another base classifier."
        ) from error


@contextmanager
def unconverged() -> Iterator[list[Any]]:
    """Collects scikit-learn's warnings of fits that did not converge; other warnings pass."""
    from sklearn.exceptions import ConvergenceWarning

    missed: list[Any] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        yield missed
    for w in caught:
        if issubclass(w.category, ConvergenceWarning):
            missed.append(w)
        else:
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)


def _refusals(model: Any) -> tuple[type[Exception], ...]:
    """What it raises where rows or settings are not to its liking."""
    path = package_of(model).error
    if path is None:
        return (ValueError,)
    module, _, name = path.rpartition(".")
    return ValueError, getattr(import_module(module), name)


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
        with refusing(self.model):
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
        with refusing(self.model):
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
        if self.X.shape[1] == 0:
            raise DataError("there is no column to classify by, and scikit-learn's classifiers need one: add a term.")
        X = self.scaling(self.X)
        with unconverged() as missed, one_openmp_thread(len(X)):
            members = tuple(self._member(X, problem, rng) for problem in problems)
        scorer = Panel(members, self.scaling)
        return Learned(
            scorer=scorer,
            scores=scorer(Rows(X=self.X)),
            certificate=Certificate(
                name="base classifiers that did not converge", value=float(len(missed)), tolerance=0.0
            ),
            iterations=len(problems),
        )

    def _member(self, X: FloatArray, problem: Binary, rng: np.random.Generator) -> _Constant | _Fitted:
        if problem.one_sided:
            return _Constant(problem.side)
        model = copied(self.model, rng)
        with refusing(model):
            labels = (problem.labels > 0).astype(np.int64)
            return _Fitted(model.fit(X[problem.index], labels, sample_weight=problem.weights))


#: scikit-learn's classifiers that a string stands for, with their default settings.
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "logistic": partial(sklearn_model, "linear_model", "LogisticRegression", max_iter=1000),
    "tree": partial(sklearn_model, "tree", "DecisionTreeClassifier"),
}


def named_classifier(value: Any, wrong: OptionError) -> Classifier:
    """A classifier of scikit-learn, by name or as it is; raises `wrong` where it is none that takes sample weights."""
    if isinstance(value, str) and value not in CLASSIFIERS:
        raise wrong
    try:
        return Classifier(CLASSIFIERS[value]() if isinstance(value, str) else value)
    except OptionError as error:
        raise wrong from error


def _answers(scorer: Scorer, rows: Rows) -> FloatArray:
    """(N,) +1 where a classifier's score is above 0, else -1."""
    return np.where(scorer(rows)[:, 0] > 0.0, 1.0, -1.0)


@dataclass(frozen=True)
class WeakClassifier(WeakLearner):
    """The answers of a binary learner, fitted anew every round.

    Attributes
    ----------
    base : BinaryLearner
    """

    base: BinaryLearner

    def on(self, X: FloatArray, case_weights: FloatArray) -> WeakClassifierTrainer:
        return WeakClassifierTrainer(X=X, trainer=self.base.on(X, case_weights))


@dataclass(frozen=True, eq=False, kw_only=True)
class WeakClassifierTrainer(WeakTrainer):
    """The trainer of a weak classifier, for the rows X (N, D)."""

    trainer: Trainer

    def best(self, u: FloatArray, rng: np.random.Generator) -> Weak:
        size = np.abs(u)
        problem = Binary.of(np.arange(self.n), np.where(u > 0, 1.0, -1.0), size / (size.mean() or 1.0))
        member = partial(_answers, self.trainer.fit((problem,), rng).scorer)
        return Weak(member, member(Rows(X=self.X)))

    def combine(self, members: Sequence[Any], round_weights: FloatArray) -> MemberSum:
        return MemberSum(members=tuple(members), round_weights=np.asarray(round_weights))

    def richness(self) -> HypothesisClass:
        return HypothesisClass(log_size=np.nan)


#: Weak learners that a string stands for, beside those of scikit-learn; classes of the package.
WEAK = {
    "stump": "DecisionStump",
    "perceptron": "RCDPerceptron",
    "sigmoid": "NormalisedSigmoid",
    "tree": "DecisionTree",
}


def parse_learner(value: Any, owner: str) -> WeakLearner:
    """The weak learner a user means by a name, a value, or a scikit-learn classifier.

    Raises
    ------
    OptionError
        None of these; `owner` is the method to name.
    """
    if isinstance(value, WeakLearner):
        return value
    if isinstance(value, BinaryLearner):
        return WeakClassifier(value)
    if isinstance(value, str) and value in WEAK:
        return cast(WeakLearner, getattr(import_module("ordstat"), WEAK[value])())
    also = ", a weak learner such as DecisionStump(), or a scikit-learn classifier that takes sample_weight"
    names = dict.fromkeys([*WEAK, *CLASSIFIERS])
    return WeakClassifier(named_classifier(value, unknown("learner", value, names, of=owner, also=also)))


#: Base learners that a string stands for, made when asked for.
BASES: dict[str, Callable[[], BinaryLearner]] = {
    "logistic": lambda: Classifier(CLASSIFIERS["logistic"](), None),
    "c4.5": lambda: import_module("ordstat").C45(),
    "tree": lambda: Classifier(
        sklearn_model("tree", "DecisionTreeClassifier", min_samples_leaf=5, random_state=0), None
    ),
    "hgb": lambda: Classifier(
        sklearn_model("ensemble", "HistGradientBoostingClassifier", early_stopping=False, random_state=0), None
    ),
}


def parse_base(value: Any, owner: str) -> BinaryLearner:
    """The base learner a user means by a name, a value, or a scikit-learn classifier.

    Raises
    ------
    OptionError
        None of these, or a classifier that takes no sample weights; `owner` is the method to name.
    """
    if isinstance(value, BinaryLearner):
        return value
    also = ", a learner such as C45(), or a scikit-learn classifier that takes sample_weight"
    wrong = unknown("base", value, BASES, of=owner, also=also)
    if isinstance(value, str):
        if value in BASES:
            return BASES[value]()
        raise wrong
    try:
        return Classifier(value, None)
    except OptionError as error:
        if hasattr(value, "fit"):
            raise OptionError(
                f"base of {owner}, {type(value).__name__}, has no sample_weight in fit: extended examples are weighted "
                "by what their answers cost, so choose a classifier that takes weights."
            ) from error
        raise wrong from error


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
        with one_openmp_thread(rows.n), refusing(self.model):
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

    def fit(
        self,
        X: FloatArray,
        y: IntArray,
        weights: FloatArray,
        n_levels: int,
        rng: np.random.Generator,
        categories: IntArray | None = None,
    ) -> tuple[ClassShares, int]:
        """The probabilities learned from rows X (N, D) with codes y (N,), and how often it did not converge.

        Columns of `categories` (D,), where there are some, hold codes and are not scaled.
        """
        if X.shape[1] == 0:
            raise DataError("there is no column to classify by, and a classifier needs one: add a term.")
        same = bool((weights == weights[0]).all())
        if not same and not takes_weights(self.model):
            raise DataError(
                f"{type(self.model).__name__} takes no sample_weight in fit, and the weights are not whole numbers. "
                "Choose a base that takes weights."
            )
        codes, classes = np.unique(y, return_inverse=True)
        scaling = fit_scaling(self.scaling if categories is None else None, X, weights)
        model = copied(self.model, rng)
        own = {} if categories is None else with_categories(model, categories)
        own |= {} if same else {"sample_weight": weights}
        with unconverged() as missed, one_openmp_thread(len(X)), refusing(model):
            model.fit(in_its_form(model, scaling(X), categories), classes, **own)
        shares = ClassShares(model=model, codes=codes, n_levels=n_levels, scaling=scaling, categories=categories)
        return shares, len(missed)


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
