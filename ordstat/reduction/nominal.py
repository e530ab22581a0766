"""Any classifier of unordered classes as an ordinal method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..advice import with_option_hints
from ..checks import unknown
from ..exceptions import DataError, OptionError
from ..fit import Certificate, MarginFit, Trace
from ..formula.distinct import distinct_rows
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows, Sample
from ..formula.scaling import SCALED, Scaling, fit_scaling
from ..formula.sparse import as_scipy
from ..judging.costs import CostField
from ..method import Method, Supports, cost_option, option, scaling_option
from ..rankers import ProbabilityResults
from ..report.render import Report
from ..report.sections import error_tables, ranker_report
from ..threads import one_openmp_thread
from .classifiers import (
    NOMINAL,
    SPARSE_BASE,
    copied,
    is_classifier,
    refusing,
    takes_sparse,
    takes_weights,
    unconverged,
    written,
)
from .exceedances import CumulativeRule, ranked_score
from .learners import MOST_REPEATED


class NominalResults(ProbabilityResults):
    """A fitted classifier with probabilities of the levels.

    `score` is the interpolated median, with thresholds 1, ..., K-1; margins are P(y >
    k) - 1/2.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "nominal-classifier")
    >>> fit.predict(wine.head(2), type="prob").shape
    (2, 5)
    """

    no_bounds = "No margin bounds: probabilities of classes have no norm."

    kind = "Classifier that ignores the order of levels"

    def summary_data(self) -> Report:
        """The summary as data."""
        return ranker_report(self, error_tables(self))


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassShares:
    """P(y > k) from the class probabilities of a fitted classifier.

    Attributes
    ----------
    model : classifier with predict_proba, fitted to codes
    codes : (C,) code of each column of its probabilities
    n_levels : int
    scaling : Scaling
    """

    model: Any
    codes: IntArray
    n_levels: int
    scaling: Scaling

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1), nonincreasing in k."""
        above = np.empty((rows.n, self.n_levels - 1))
        with one_openmp_thread(rows.n), refusing(self.model):
            for block in row_blocks(rows.n, self.n_levels):
                X = as_scipy(self.scaling(rows.X[block]))
                above[block] = self._above(np.asarray(self.model.predict_proba(X)))
        return above

    def _above(self, class_probabilities: FloatArray) -> FloatArray:
        """(n, K-1) from the classifier's probabilities (n, C), which may be of single
        precision.
        """
        p = np.zeros((len(class_probabilities), self.n_levels))
        p[:, self.codes] = class_probabilities
        total = p.sum(axis=1, keepdims=True)
        if not (np.isfinite(p).all() and (p >= 0.0).all() and (total > 0.0).all()):
            raise DataError(
                f"{type(self.model).__name__} gives probabilities that are negative,"
                " missing or all 0. Rescale the columns (scaling= of the method does),"
                " or choose another base."
            )
        from_above = np.cumsum((p / total)[:, :0:-1], axis=1)[:, ::-1]
        return np.asarray(np.minimum(from_above, 1.0))


def _nominal_base(name: str, value: Any, of: Any) -> None:
    """OptionError unless the value is a name, or a classifier with probabilities."""
    if isinstance(value, str) and value in NOMINAL:
        return
    if not is_classifier(value):
        also = ", or a classifier with predict_proba such as LGBMClassifier()"
        raise unknown(name, value, NOMINAL, of=of, also=also)
    if not hasattr(value, "predict_proba"):
        raise OptionError(
            f"base of {type(of).__name__}, {type(value).__name__}, must have"
            " predict_proba for the probabilities of the levels: choose a classifier"
            " that has it, or set its option probability=True, if there is one."
        )


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class NominalClassifier(Method):
    """A classifier that ignores the order of the levels; predictions minimise the
    expected cost.

    P(y = k | x) are the probabilities of the classifier; the predicted rank minimises
    sum_k P(y = k) cost[k, rank]: the median for the absolute cost, the mode for the
    classification cost. `Reduction(base=..., encoding="separate")` fits one classifier
    per threshold instead, which uses the order. A classifier among the members of a
    `Blend` is this method. In the training data of the classifier a row of weight 2
    occurs twice. If weights are not whole numbers or sum to more than 200,000 rows,
    identical rows occur once, with the sum of their weights.

    Parameters
    ----------
    base : {"logistic", "forest", "hgb", "tree"} or classifier with predict_proba
        Such as lightgbm.LGBMClassifier(), xgboost.XGBClassifier() or
        catboost.CatBoostClassifier(). It is cloned, made quiet, and gets a seed if its
        random_state is None. The names mean scikit-learn's multinomial logistic
        regression, random forest, histogram boosting and tree.
    cost : str or (K, K) array
        Predicted ranks minimise its expectation. Probabilities do not depend on it.
    scaling : {"range", "standard", None}
        Scale columns to [-1, 1] on the training rows, to mean 0 and standard deviation
        1, or not at all.

    Raises
    ------
    OptionError
        The base is not a classifier, or has no probabilities.

    Examples
    --------
    >>> NominalClassifier(base="forest", cost="classification")
    NominalClassifier(base='forest', cost='classification')
    """

    base: Any = option("logistic", _nominal_base)
    cost: CostField = cost_option()
    scaling: str | None = scaling_option()

    supports: ClassVar[Supports] = Supports(decisions=True)
    results_class: ClassVar[type[Any]] = NominalResults
    papers: ClassVar[tuple[str, ...]] = (
        (
            "Elkan, C. (2001). The foundations of cost-sensitive learning. Proceedings"
            " of the 17th International Joint Conference on Artificial Intelligence,"
            " 973-978."
        ),
    )

    @property
    def model(self) -> Any:
        """The classifier that `base` stands for."""
        return NOMINAL[self.base]() if isinstance(self.base, str) else self.base

    @property
    def takes_sparse(self) -> bool:
        return takes_sparse(self.model)

    @property
    def sparse_instead(self) -> str:
        return SPARSE_BASE

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> MarginFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 are ignored.
        rng : numpy.random.Generator
            Source of the classifier's seed, if it has none.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        shares, missed = self._learned(sample, rng)
        rule = CumulativeRule(shares, self.cost_matrix)
        above = rule.exceedances(sample.rows)
        score = ranked_score(above, sample.y, sample.case_weights)
        if progress is not None:
            progress(1, 1, "classifier fitted")
        return MarginFit(
            rule=rule,
            certificate=Certificate(
                name="base classifiers that did not converge",
                value=float(missed),
                tolerance=0.0,
                details=(("training ranked probability score", score),),
                steps="classifiers fitted",
            ),
            trace=Trace(
                iterations=1, objective=np.array([score]), message="classifier fitted"
            ),
            scores=rule.scores_of(above),
            facts=(
                ("Classifier", written(self.model)),
                ("Columns scaled", SCALED[self.scaling]),
            ),
        )

    def _learned(
        self, sample: Sample, rng: np.random.Generator
    ) -> tuple[ClassShares, int]:
        """The class probabilities learned from a sample, and how often the classifier
        did not converge.
        """
        if sample.X.shape[1] == 0:
            raise DataError(
                "X must have a column for the classifier; got no column. Add a term."
            )
        train = distinct_rows(sample, np.zeros((sample.n, 0))).repeated(MOST_REPEATED)
        model = copied(self.model, rng)
        equal = bool((train.weights == train.weights[0]).all())
        if not equal and not takes_weights(model):
            raise DataError(
                f"{type(model).__name__} must accept sample_weight in fit, as the"
                " weights are not whole numbers. Choose a base that does."
            )
        codes, classes = np.unique(train.y, return_inverse=True)
        scaling = fit_scaling(self.scaling, train.X, train.weights)
        weights = {} if equal else {"sample_weight": train.weights}
        with unconverged() as missed, one_openmp_thread(train.n), refusing(model):
            model.fit(as_scipy(scaling(train.X)), classes, **weights)
        return ClassShares(
            model=model, codes=codes, n_levels=sample.n_levels, scaling=scaling
        ), len(missed)
