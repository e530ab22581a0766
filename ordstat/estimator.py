"""OrdinalClassifier: every method of the registry as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from inspect import signature
from threading import Lock
from typing import Any, Self, cast

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_is_fitted,
    validate_data,
)

from ._typing import AnyArray, FloatArray, IntArray
from .advice import with_advice
from .api import fit_design
from .checks import check_names, counted, generator, refuse, shown_labels
from .exceptions import DataError, DataWarning, OptionError, warn
from .fit import CostRule, GapRule, Rule, expected_costs
from .formula.columns import (
    as_frame,
    factor_of,
    find_column,
    matched,
    read,
    unmasked,
    with_codes,
    with_nan,
)
from .formula.design import Design, constrained, make
from .formula.recipe import Recipe
from .formula.sample import Rows, Sample
from .formula.sparse import SparseColumns, needs_dense
from .formula.sparse_design import SparseSpec, sparse_design
from .formula.spec import NewRows
from .labels import (
    as_data_error,
    case_weights,
    check_classes,
    ranked,
    tell_doubtful,
    validated,
)
from .likelihood.fit import LikelihoodFit
from .likelihood.parameters import threshold_values
from .likelihood.remedies import as_sentence, remedies
from .likelihood.results import LikelihoodResults
from .method import Method
from .online.results import Stream
from .reduction.encoding import ModalRule, in_order
from .registry import defaults_of, resolve

#: Infinite thresholds and certain answers give infinite sizes; they are cut here.
_LARGEST = 1e150


def _preferences(rule: Rule, rows: Rows, scores: FloatArray) -> FloatArray:
    """(N, K) the larger, the more the rule prefers the level.

    The votes; the probabilities, or minus the expected costs, of a probability model;
    else the distance from the score to the nearer end of the level's interval, negative
    outside it.
    """
    if isinstance(rule, CostRule):
        return -expected_costs(rule.probabilities(rows, scores), rule.cost)
    if isinstance(rule, ModalRule):
        return rule.probabilities(rows)
    if scores.ndim == 2:
        return np.asarray(scores, dtype=np.float64)
    gaps = in_order(cast(GapRule, rule).gaps(rows, scores))
    beyond = np.full((rows.n, 1), np.inf)
    return np.asarray(np.minimum(np.hstack([beyond, gaps]), np.hstack([-gaps, beyond])))


def _leanings(rule: Rule, rows: Rows, scores: FloatArray) -> FloatArray:
    """(N,) of two levels, positive where the rule prefers the higher: votes, log odds
    or score less their threshold.
    """
    if scores.ndim == 2:
        return scores[:, 1] - scores[:, 0]
    if not isinstance(rule, CostRule):
        return cast(GapRule, rule).gaps(rows, scores)[:, 0]
    cost = rule.cost.matrix(2)
    with np.errstate(divide="ignore", invalid="ignore"):  # a mistake may be free
        return np.asarray(
            rule.log_odds_above(rows, scores)[:, 0]
            - np.log((cost[0, 1] - cost[0, 0]) / (cost[1, 0] - cost[1, 1]))
        )


#: What helps where columns are aliased.
_LEAVE_OUT = "leave out columns that determine each other"


def _tell_undetermined(results: LikelihoodResults, rows: Rows) -> None:
    """A DataWarning of rows whose prediction the training data do not determine."""
    count = int(results.undetermined_rows(rows).sum())
    if count:
        warn(
            f"the training data do not determine the predictions of {count} of {rows.n}"
            " rows of X: they combine columns in a way that no training row did, or"
            " the training labels are separated. These predictions take an effect"
            " that columns do not determine as 0, and an infinite one where the search"
            " stopped."
            f" {as_sentence(remedies(results, first=(_LEAVE_OUT,)))}"
        )


def _decisions(rule: Rule, rows: Rows, order: IntArray) -> FloatArray:
    """(N,) for two levels, (N, K) for more, in a new order (K,) of the levels; ties are
    broken as the rule does.
    """
    scores: Any = rule.scores(rows)
    chosen = np.argsort(order)[rule.codes(rows, scores)]
    if rule.n_levels == 2:
        leaning = np.nan_to_num(_leanings(rule, rows, scores))
        if order[1] != 1:
            leaning = -leaning
        least = np.finfo(np.float64).tiny
        sided = np.where(
            chosen == 1, np.maximum(leaning, least), np.minimum(leaning, 0.0)
        )
        return np.clip(sided, -_LARGEST, _LARGEST)
    preferences = np.clip(
        _preferences(rule, rows, scores)[:, order], -_LARGEST, _LARGEST
    )
    cells = (np.arange(rows.n), chosen)
    rivals = preferences.copy()
    rivals[cells] = -np.inf
    above = np.nextafter(rivals.max(axis=1), np.inf)
    preferences[cells] = np.maximum(preferences[cells], above)
    return preferences


#: Held by the thread that learns a batch: a model counts all of them, also from several
#: threads.
_ONE_BATCH = Lock()


__all__ = ["OrdinalClassifier"]

_OWN = ("method", "levels", "random_state", "calibrate", "constraints")


class OrdinalClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Any ordinal method as a scikit-learn classifier.

    It works in Pipeline, GridSearchCV, cross_val_score, clone and pickle;
    `decision_function` serves calibration and tuned thresholds, `coef_` and
    `feature_importances_` the selection of features. Text and categorical columns of a
    frame become indicators "column[T.level]" of every level but the first; "ordboost"
    takes them as they are, and it alone takes missing values. A categorical column with
    one level is left out with a DataWarning. Likelihood methods raise an error for a
    level that the fit did not have; the others treat it as the first level, with a
    DataWarning ("ordboost": as missing).

    Four kinds of methods take sparse matrices of SciPy and keep them sparse:

    - cumulative, adjacent-category and sequential models with penalty=1.0 or
      penalty=ElasticNet(...);
    - support vector machines ("redsvm", "svor-imc", "ova", ...) with kernel="linear"
      and the hinge loss;
    - reductions to classifiers that take them ("reduction", "frank-hall",
      "nominal-classifier" with base="logistic");
    - online rankers ("prank", "cusum", "pa-cusum") with scaling=None.

    Sparse columns are scaled, but not centred, and are named x1, x2, ... Other methods
    raise an error.

    Parameters
    ----------
    method : str or Method
        A method string of `ordfit` ("logit", "probit", "redsvm", ...) or a value such
        as REDSVM(C=10).
    levels : sequence, optional
        The labels in order, lowest first. Give it for strings: without it they are
        sorted alphabetically, with a DataWarning. An ordered pandas Categorical (or
        polars Enum) keeps its own order; numbers and booleans are sorted by value.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Seed of all random steps of the method; None draws a fresh one at every fit.
    calibrate : bool or int
        True, or a number of folds, gives probabilities to a method that has none; see
        `ordfit`.
    constraints : dict or list of str, optional
        Signs of effects of "ordboost", {"x1": "+"}, where x1, x2, ... are the columns
        of an array; see `ordfit`.
    **options
        Hyper-parameters of the method, such as C=1.0 or kernel="perceptron";
        `get_params` lists all of them with their current values, `set_params` (and so
        GridSearchCV) sets them. Setting another `method` drops the options that the new
        one does not have. Values are checked by `fit`.

    Attributes
    ----------
    results_ : OrdinalResults
        What `ordfit` returns: `results_.summary()`, `.errors()`, `.predict(X,
        type="prob")`, ...
    levels_ : (K,) array
        Labels in order, lowest first.
    classes_ : (K,) array
        The same labels sorted, as scikit-learn's scorers assume; columns of
        `predict_proba`.
    thresholds_ : (K-1,) array
        Only for methods with thresholds, not for those that vote.
    coef_ : (D,) array
        Coefficients of the columns, 0 for a column that is aliased with others; only
        for methods with a linear score.
    feature_importances_ : (D,) array
        Shares of the columns in the gains of trees or rounds, summing to 1; only for
        trees, tree ensembles and boosting.
    n_features_in_ : int
    feature_names_in_ : (D,) array
        Where X has column names.

    Notes
    -----
    `score` is the accuracy, as for every classifier. scoring="neg_mean_absolute_error"
    needs numeric labels and uses their differences;
    scoring=ordstat.metrics.scorer("mae") uses differences of ranks, for any labels.

    Some of scikit-learn's tools (BaggingClassifier, VotingClassifier,
    StackingClassifier and cross_val_predict(method="predict_proba")) encode labels as
    numbers in alphabetical order, so that the order of strings is lost. With `levels`
    this raises an error; code the labels as ranks (integers) for these tools.

    Examples
    --------
    >>> from ordstat import OrdinalClassifier, datasets
    >>> data = datasets.herbrich(200, seed=0)
    >>> model = OrdinalClassifier("redsvm", C=10).fit(data[["x1", "x2"]], data["rank"])
    >>> model.levels_
    array([1, 2, 3, 4, 5])

    A sparse matrix, with a ridge:

    >>> from scipy.sparse import csr_array
    >>> X = csr_array(data[["x1", "x2"]].round())
    >>> model = OrdinalClassifier("logit", penalty=1.0).fit(X, data["rank"])
    >>> model.predict_proba(X).shape
    (200, 5)
    """

    def __init__(
        self,
        method: str | Method = "logit",
        *,
        levels: Sequence[Any] | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        calibrate: bool | int = False,
        constraints: Mapping[Any, str] | Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        self.method = method
        self.levels = levels
        self.random_state = random_state
        self.calibrate = calibrate
        self.constraints = constraints
        self._options = options

    # Parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters above and every option of the method, with their current
        values.

        Parameters
        ----------
        deep : bool
            Whether to add the options of a method given as a value, and those of its
            base classifiers, such as base__n_estimators.

        Examples
        --------
        >>> from ordstat import OrdinalClassifier
        >>> OrdinalClassifier("redsvm", C=10).get_params()["kernel"]
        'perceptron'
        """
        params = (
            {name: getattr(self, name) for name in _OWN}
            | (defaults_of(self.method) or {})
            | self._options
        )
        if not deep:
            return params
        params |= _fields_of(self.method)
        nested = {
            name: value.get_params()
            for name, value in params.items()
            if _has_params(value)
        }
        return params | {
            f"{name}__{key}": value
            for name, inner in nested.items()
            for key, value in inner.items()
        }

    def set_params(self, **params: Any) -> Self:
        """Set parameters; an unknown name raises OptionError (a ValueError) that lists
        the known ones.

        Examples
        --------
        >>> from ordstat import OrdinalClassifier
        >>> OrdinalClassifier("redsvm").set_params(C=10, kernel="linear")
        OrdinalClassifier('redsvm', C=10, kernel='linear')
        """
        settings = {name: value for name, value in params.items() if name in _OWN}
        nested = {name: value for name, value in params.items() if "__" in name}
        options = {
            name: value
            for name, value in params.items()
            if name not in settings and name not in nested
        }
        method = settings.get("method", self.method)
        defaults = defaults_of(method)
        if defaults is not None:
            names = [*options, *(name.partition("__")[0] for name in nested)]
            valid = [*_OWN, *defaults, *_fields_of(method)]
            check_names(names, valid, f"OrdinalClassifier({method!r})", "parameter")
            self._options = {
                name: value for name, value in self._options.items() if name in defaults
            }
        for name, value in settings.items():
            setattr(self, name, value)
        if isinstance(self.method, Method) and options:
            self.method, options = replace(self.method, **options), {}
        self._options = {**self._options, **options}
        for name, value in nested.items():
            outer, _, inner = name.partition("__")
            base = self.get_params(deep=True)[outer]
            if not _has_params(base):
                raise OptionError(
                    f"{name} needs a classifier in {outer}=; it is {base!r}. Search"
                    f" over whole values, as in {{{outer!r}: [...]}}."
                )
            self.set_params(**{outer: clone(base).set_params(**{inner: value})})
        return self

    def __sklearn_clone__(self) -> Self:
        """A copy in which the options left at their defaults stay so, also when
        `method` is set later.
        """
        twin: Self = super().__sklearn_clone__()
        twin._options = {name: twin._options[name] for name in self._options}
        return twin

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        given = {
            name: value
            for name in _OWN[1:]
            if (value := getattr(self, name)) is not _DEFAULTS[name].default
        }
        keywords = [
            f"{name}={value!r}" for name, value in (given | self._options).items()
        ]
        return f"OrdinalClassifier({', '.join([repr(self.method), *keywords])})"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        method = self._resolved()
        tags.classifier_tags.multi_class = (
            method is None or not method.supports.two_levels_only
        )
        # Means "no promise on three blobs in a plane": they have no order along a line,
        # which linear potentials need.
        tags.classifier_tags.poor_score = True
        tags.input_tags.allow_nan = self._takes_gaps()
        if method is not None and not self.calibrate:
            tags.input_tags.sparse = method.for_sparse(1.0).takes_sparse
        tags.input_tags.pairwise = method is not None and method.pairwise
        return tags

    # Fit and predict

    @with_advice
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the method.

        Parameters
        ----------
        X : (N, D) numeric array, pandas or polars frame, or sparse matrix
        y : (N,) labels
        sample_weight : (N,) array, optional
            Case weights >= 0: a weight of 2 counts a row twice, 0 leaves it out.

        Raises
        ------
        DataError
            For missing values, columns that are neither numbers nor categories, labels
            outside `levels`, fewer than two classes, or a sparse matrix where the
            method takes none.
        OptionError
            For an unknown method, option or argument, or a value outside its range.

        Examples
        --------
        >>> from ordstat import OrdinalClassifier
        >>> X = [[0.0], [1.0], [2.0], [1.0], [1.5], [0.5]]
        >>> model = OrdinalClassifier("logit").fit(X, [1, 2, 3, 3, 2, 2])
        >>> model.classes_.tolist()
        [1, 2, 3]
        """
        return self._fit(
            resolve(self.method, self._options, _OWN), X, y, sample_weight, whole=True
        )

    def _fit(
        self,
        method: Method,
        X: Any,
        y: Any,
        sample_weight: Any,
        classes: Any = None,
        whole: bool = False,
    ) -> Self:
        """Fit; `whole` says that no rows follow, so that a column with one level can be
        left out.
        """
        method.check_constraints(self.constraints)
        given = with_nan(X)
        X = with_codes(given)
        categories = X is not given
        if issparse(X):
            method = self._for_sparse(method, X, sample_weight)
        X, y, order = validated(self, X, y, memory="C", classes=classes)
        if not issparse(X):
            _require_values(self._named(X), self._takes_gaps())
        weights = None if sample_weight is None else case_weights(sample_weight, X)
        used = y if weights is None else y[weights > 0]
        if classes is None:
            check_classes(used, method)
        frame: Any
        if issparse(X):
            frame = SparseColumns.of(X)
        else:
            frame = self._named(as_frame(given) if categories else X)
        if self.levels is None and classes is None:
            # labels without rows of positive weight are left out, as by ordfit
            present = set(pd.unique(used))
            order = [label for label in order if label in present]
            tell_doubtful(used, order)
            rows = pd.Index(order).get_indexer(pd.Index(y)) >= 0
            if weights is not None and not rows.all():
                warn(
                    "Levels of y without rows of positive weight were left out:"
                    f" {shown_labels(pd.unique(y[~rows]))}.",
                    DataWarning,
                )
                frame = frame[rows]
                y = y[rows]
                weights = weights[rows]
        if categories and whole and not method.supports.categories:
            frame = _without_constants(frame, weights)
        design = self._design(
            frame, method, ranked(y, order), weights, one_level=classes is not None
        )
        seed = _generator(self.random_state)
        later = classes is not None
        self._held: Any = fit_design(
            design, method, calibrate=self.calibrate, seed=seed, later_levels=later
        )
        self.levels_ = (
            pd.Index(design.levels.values, dtype=object).to_numpy().astype(y.dtype)
        )
        self.classes_ = np.sort(self.levels_)
        return self

    @available_if(lambda self: self._is_incremental())  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Continue learning with a batch of rows, in one pass in their order; only for
        online methods without a kernel.

        Parameters
        ----------
        X : (N, D) numeric array, pandas or polars frame, or sparse matrix
        y : (N,) labels
        classes : (K,), optional
            All labels, for the first batch; without it the first batch must contain
            every label. A column is scaled by the first batch in which it varies.
        sample_weight : (N,) array, optional
            Whole numbers: how many times in a row each observation is presented.

        Raises
        ------
        DataError
            A label that is unknown after the first batch; else as for `fit`.

        Examples
        --------
        >>> from ordstat import OrdinalClassifier, datasets
        >>> data = datasets.herbrich(400, seed=0)
        >>> X, y = data[["x1", "x2"]], data["rank"]
        >>> model = OrdinalClassifier("cusum").partial_fit(X[:200], y[:200])
        >>> model = model.partial_fit(X[200:], y[200:])
        >>> model.results_.fit.learned.tally.examples
        400
        """
        if not hasattr(self, "_held"):
            method = cast(Any, resolve(self.method, self._options)).one_pass()
            return self._fit(method, X, y, sample_weight, classes)
        frame, y = self._later(X, y)
        codes = pd.Index(self.levels_).get_indexer(pd.Index(y)).astype(np.intp)
        if codes.min() < 0:
            unknown = pd.unique(y[codes < 0]).tolist()[:5]
            raise DataError(
                f"y must have labels of the first batch, {self.levels_.tolist()}; got"
                f" {unknown}."
            )
        weights = None if sample_weight is None else case_weights(sample_weight, frame)
        sample = Sample(
            rows=self._rebuilt(frame),
            y=codes,
            n_levels=self.levels_.size,
            weights=weights,
        )
        with _ONE_BATCH:
            if isinstance(self._held, Stream):
                stream = self._held
            else:
                stream = Stream(first=self._held)
            self._held = stream.after(sample, pd.RangeIndex(len(y)), len(y))
        return self

    @property
    def results_(self) -> Any:
        """What `ordfit` returns; after `partial_fit` the results of the last batch."""
        check_is_fitted(self)
        return self._held.results if isinstance(self._held, Stream) else self._held

    def _resolved(self) -> Method | None:
        """The method; None if it is not valid, which `fit` refuses."""
        try:
            return resolve(self.method, self._options)
        except OptionError:
            return None

    def _is_incremental(self) -> bool:
        method = self._resolved()
        if method is None or not method.incremental or self.calibrate:
            which = "calibrate=" if self.calibrate else f"method {self.method!r}"
            raise AttributeError(
                f"{which} needs all rows at once, so there is no partial_fit"
            )
        return True

    def predict(self, X: Any) -> AnyArray:
        """(N,) predicted labels of the rows of X (N, D).

        Examples
        --------
        >>> from ordstat import OrdinalClassifier
        >>> model = OrdinalClassifier("redsvm", C=10)
        >>> model = model.fit([[0.0], [1.0], [2.0]], [1, 2, 3])
        >>> model.predict([[0.2], [1.9]]).tolist()
        [1, 3]
        """
        codes = self._predict(X, "class").cat.codes.to_numpy()
        return np.asarray(self.levels_[codes])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy: the share of rows whose predicted label is right.

        Parameters
        ----------
        X : (N, D) numeric array, pandas or polars frame, or sparse matrix
        y : (N,) labels
        sample_weight : (N,) array, optional

        Raises
        ------
        DataError
            A label or weight is masked.

        Examples
        --------
        >>> from ordstat import OrdinalClassifier
        >>> model = OrdinalClassifier("redsvm", C=10)
        >>> model = model.fit([[0.0], [1.0], [2.0]], [1, 2, 3])
        >>> model.score([[0.2], [1.9]], [1, 2])
        0.5
        """
        weights = unmasked(sample_weight, "sample_weight")
        return float(super().score(X, unmasked(y, "y"), weights))

    @available_if(lambda self: self._has_probabilities())  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """(N, K) probabilities, one column per label of `classes_`; for methods with
        probabilities, or with `calibrate`.

        The label of `predict` minimises the expected cost, and need not be the most
        probable one: "ordboost" and others predict the median unless
        cost="classification" is set, and with `calibrate` the label stays that of the
        ranker.

        Examples
        --------
        >>> from ordstat import OrdinalClassifier
        >>> X = [[0.0], [1.0], [2.0], [1.0], [1.5], [0.5]]
        >>> model = OrdinalClassifier("logit").fit(X, [1, 2, 3, 3, 2, 2])
        >>> model.predict_proba([[0.0], [2.0]]).round(2)
        array([[0.68, 0.32, 0.01],
               [0.  , 0.08, 0.92]])
        """
        probabilities: FloatArray = self._predict(X, "prob").to_numpy()
        return probabilities[:, np.argsort(self.levels_)]

    def decision_function(self, X: Any) -> FloatArray:
        """Decision values of the rows of X (N, D): (N,) for two classes; for more (N,
        K), with the columns of `classes_`.

        With two classes, positive means `classes_[1]`, the higher one (unless `levels`
        puts it lower). Values are the score minus the threshold, the log odds of a
        likelihood method, or the difference of the votes. With more classes the largest
        value belongs to the label of `predict`: the distance to the nearer threshold of
        the label (negative outside its interval), the votes, or minus the expected cost
        of the label.

        Examples
        --------
        >>> from ordstat import OrdinalClassifier
        >>> model = OrdinalClassifier("redsvm", C=10, kernel="linear")
        >>> model = model.fit([[0.0], [1.0], [2.0], [3.0]], [1, 1, 2, 2])
        >>> model.decision_function([[0.0], [1.5], [3.0]]).round(3)
        array([-3.,  0.,  3.])
        """
        results, frame = self._read(X)
        rows = self._rebuilt(frame)
        if isinstance(results, LikelihoodResults):
            _tell_undetermined(results, rows)
        return _decisions(results.fit.rule, rows, np.argsort(self.levels_))

    @property
    def thresholds_(self) -> FloatArray:
        """(K-1,) thresholds; infinite ones (separation) have the finite values at which
        the search stopped, as in `predict`.
        """
        check_is_fitted(self)
        fit = self.results_.fit
        if not isinstance(fit, LikelihoodFit):
            return np.array(self.results_.thresholds, dtype=np.float64)
        values = threshold_values(fit)
        theta = cast(Any, fit.rule).alpha[:, 0]
        # NaN beside a level without rows
        return np.where(np.isnan(values), theta, values)

    @property
    def coef_(self) -> FloatArray:
        """(D,) coefficients of the columns, finite as in `thresholds_`; AttributeError
        if the score is not linear.
        """
        check_is_fitted(self)
        if self.results_.method.supports.by_level:
            raise AttributeError(
                f"method {self.method!r} has coefficients for every level but the"
                " lowest, not one for each column. Use results_.coef."
            )
        try:
            coef = self.results_.coef
            fit = self.results_.fit
            if isinstance(fit, LikelihoodFit):
                coef[:] = fit.coefficients[
                    self.results_.parameters.of("nominal", "location", "scale")
                ]
        except OptionError as error:
            raise AttributeError(str(error)) from error
        return np.asarray(coef.fillna(0.0), dtype=np.float64)

    @property
    def feature_importances_(self) -> FloatArray:
        """(D,) shares of the columns in the gains of trees or rounds, summing to 1;
        AttributeError for other methods.
        """
        check_is_fitted(self)
        results = self.results_
        if "gain" not in results.importance_kinds:
            raise AttributeError(
                f"method {self.method!r} has no importance of columns by the gains of"
                " its trees; use results_.importance(), by permutation"
            )
        return np.asarray(
            results.gain_importance()["importance"].loc[list(results.design.names)],
            dtype=np.float64,
        )

    def _predict(self, X: Any, type: str) -> Any:
        results, frame = self._read(X)
        if not isinstance(results, LikelihoodResults):
            return results.predict(frame, type=type)
        rows = self._rebuilt(frame)
        _tell_undetermined(results, rows)
        rule = results.rule
        if type == "prob":
            return pd.DataFrame(rule.probabilities(rows))
        return results.design.levels.categorical(
            rule.codes(rows, rule.scores(rows)), pd.RangeIndex(rows.n), None
        )

    def _read(self, X: Any) -> tuple[Any, Any]:
        """The results, and X as they take it."""
        check_is_fitted(self)
        later = self._later(X)[0]
        if not isinstance(later, SparseColumns):
            later = _with_known_levels(later, self.results_)
        return self.results_, later

    def _later(self, X: Any, y: Any = "no_validation") -> tuple[Any, Any]:
        """X, checked against the columns of the fit, as a frame, or as sparse columns
        if the fit has those, and y as an array.
        """
        sparse = isinstance(self.results_.design.spec, SparseSpec)
        if issparse(X) and not sparse:
            shape = cast(Any, X).shape
            raise needs_dense("this fit, which was to dense columns,", shape)
        given = with_nan(X)
        coded = with_codes(given)
        y = unmasked(y, "y")
        with as_data_error():
            checked = validate_data(
                self,
                coded,
                y,
                reset=False,
                dtype=np.float64,
                order="C",
                ensure_all_finite="allow-nan",
                accept_sparse="csr",
            )
        numbers, labels = checked if isinstance(checked, tuple) else (checked, None)
        if sparse:
            return SparseColumns.of(numbers), labels
        _require_values(self._named(numbers), self._takes_gaps())
        return self._named(numbers if coded is given else as_frame(given)), labels

    def _rebuilt(self, frame: Any) -> Rows:
        """The rows of a frame as the fit takes them, one for each of its rows."""
        new: NewRows = self.results_.design.spec.rebuild(frame)
        refuse(
            ~new.complete,
            new.index,
            "X",
            "missing",
            ". Fill it in, or leave the row out.",
        )
        return new.rows

    def _takes_gaps(self) -> bool:
        """Whether X may have missing values."""
        method = self._resolved()
        return method is not None and method.supports.missing

    def _named(self, X: FloatArray | pd.DataFrame) -> pd.DataFrame:
        """X under its column names, x1, x2, ... where it came without any."""
        names = getattr(
            self, "feature_names_in_", [f"x{j + 1}" for j in range(X.shape[1])]
        )
        return pd.DataFrame(X).set_axis(names, axis=1)

    def _for_sparse(self, method: Method, X: Any, sample_weight: Any) -> Method:
        """The method as it is fitted to sparse columns; DataError where it, or
        `calibrate`, needs dense ones.
        """
        if self.calibrate:
            raise needs_dense("calibrate=", X.shape, ", or leave calibrate= out")
        total = float(X.shape[0])
        if sample_weight is not None:
            total = float(case_weights(sample_weight, X).sum())
        sparse = method.for_sparse(total)
        sparse.check_sparse(X, f"method {self.method!r}")
        return sparse

    def _design(
        self,
        frame: Any,
        method: Method,
        labels: pd.Categorical,
        weights: Any,
        one_level: bool,
    ) -> Design:
        """The design of all columns as terms of a formula; of sparse ones without a
        formula.
        """
        if isinstance(frame, SparseColumns):
            levels = [*labels.categories]
            design = sparse_design(frame, labels.codes, levels, weights, method.centres)
            return constrained(design, self.constraints)
        response = "y"
        while response in frame:
            response += "_"
        recipe = Recipe(
            f"{response} ~ .",
            weights=weights,
            levels=[*labels.categories],
            constraints=self.constraints,
            na_action="keep" if method.supports.missing else "omit",
            as_categories=method.supports.categories,
            by_level=method.supports.by_level,
        )
        return make(recipe, frame.assign(**{response: labels}), one_level=one_level)

    def _has_probabilities(self) -> bool:
        method = self._resolved()
        rule = self.results_.fit.rule if hasattr(self, "_held") else None
        able = (
            method is not None
            and "prob" in method.results_class.predicts
            and getattr(rule, "probable", True)
        )
        if not self.calibrate and not able:
            raise AttributeError(
                f"method {self.method!r} with this cost has no probabilities:"
                " predict_proba needs calibrate=True"
            )
        return True


_DEFAULTS = signature(OrdinalClassifier).parameters


def _fields_of(method: Any) -> dict[str, Any]:
    """The options of a method given as a value."""
    if not isinstance(method, Method):
        return {}
    return {f.name: getattr(method, f.name) for f in fields(method)}


def _require_values(X: pd.DataFrame, gaps: bool) -> None:
    """DataError, which names the columns, for missing values where a method does not
    take them.
    """
    missing = {} if gaps else X.isna().sum().to_dict()
    if any(missing.values()):
        shown = ", ".join(
            f"{name!r} ({counted(rows, 'row')})"
            for name, rows in missing.items()
            if rows
        )
        raise DataError(
            f"X must have no missing values (NaN); they are in columns {shown}. Fill"
            " them in (such as SimpleImputer in a Pipeline), leave these rows out, or"
            " use method='ordboost', which takes them."
        )


def _without_constants(frame: pd.DataFrame, weights: FloatArray | None) -> pd.DataFrame:
    """The frame without columns of text and categories that have one level.

    Only rows of positive weight count. A DataWarning names the columns. A frame of
    nothing else stays as it is, and the design refuses it.
    """
    rows = frame if weights is None else frame[weights > 0]
    constant = [
        name
        for name, dtype in frame.dtypes.items()
        if not pd.api.types.is_numeric_dtype(dtype) and rows[name].nunique() == 1
    ]
    if not constant or len(constant) == frame.shape[1]:
        return frame
    warn(
        "columns of X with one level only in the rows of the fit were left out:"
        f" {shown_labels(constant)}.",
        DataWarning,
    )
    return frame.drop(columns=constant)


def _with_known_levels(frame: pd.DataFrame, results: Any) -> pd.DataFrame:
    """New rows in which levels that the fit did not have are its first level.

    All indicators of the first level are 0, as those of an unknown category are in
    scikit-learn's encoders. A DataWarning names them. Likelihood methods raise
    DataError; methods that take missing values handle them themselves.
    """
    method = results.method
    if method.supports.missing:
        return frame
    replaced = {}
    for name, levels in results.design.spec.categories().items():
        factor = factor_of(read(find_column(frame, name, "X")).value, name)
        codes, unseen = matched(factor, levels)
        if not unseen:
            continue
        problem = f"{name!r} has levels that are not in the fit: {shown_labels(unseen)}"
        if method.likelihood:
            raise DataError(
                f"{problem}; it has {shown_labels(levels, 30)}. Join rare levels, "
                "encode the column in a Pipeline (such as OneHotEncoder("
                "handle_unknown='ignore')), leave out these rows, or use "
                "method='ordboost', for which such levels are missing values."
            )
        first = shown_labels(levels[:1])
        warn(
            f"{problem}. They count as {first}, whose indicators are all 0.",
            DataWarning,
        )
        known = np.maximum(codes, 0)
        replaced[name] = pd.Categorical.from_codes(known, categories=pd.Index(levels))
    return frame.assign(**replaced) if replaced else frame


def _has_params(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _generator(random_state: Any) -> np.random.Generator:
    """scikit-learn's kinds of random_state, and NumPy's, as a Generator."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    return generator(
        random_state, "random_state", " None, a RandomState or a Generator"
    )
