"""Any classifier of unordered classes, with the order put into its predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..checks import unknown
from ..exceptions import DataError, OptionError
from ..fit import Certificate, MarginFit, Trace
from ..formula.sample import SCALED, Rows, Sample, Scaling, distinct_rows, fit_scaling, row_blocks
from ..judging.costs import CostField
from ..judging.rankers import ProbabilityResults
from ..method import Method, cost_option, option, scaling_option
from ..prediction.probabilities import CumulativeRule, ranked_score
from ..report.render import Report
from ..report.sections import error_tables, ranker_report
from ..threads import one_openmp_thread
from .classifiers import NOMINAL, copied, is_classifier, refusing, takes_weights, unconverged, written


class NominalResults(ProbabilityResults):
    """A fitted classifier with probabilities of the levels.

    `score` is the interpolated median, with thresholds 1, ..., K-1; margins are P(y > k) - 1/2.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "nominal-classifier")
    >>> fit.predict(wine.head(2), type="prob").shape
    (2, 5)
    """

    no_bounds = "No margin bounds: probabilities of classes have no norm."

    kind = "Classifier of levels without order"

    def summary_data(self) -> Report:
        """The summary as data."""
        return ranker_report(self, error_tables(self))


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassShares:
    """P(y > k) by the class probabilities of a fitted classifier, whose columns are put in the order of the levels.

    Attributes
    ----------
    model : classifier with predict_proba, fitted to codes
    codes : (C,) the codes that its columns stand for
    n_levels : int
    scaling : Scaling
    """

    model: Any
    codes: IntArray
    n_levels: int
    scaling: Scaling

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1), not growing with k."""
        above = np.empty((rows.n, self.n_levels - 1))
        with one_openmp_thread(rows.n), refusing(self.model):
            for block in row_blocks(rows.n, self.n_levels):
                if rows.X[block].size:
                    above[block] = self._above(np.asarray(self.model.predict_proba(self.scaling(rows.X[block]))))
        return above

    def _above(self, class_probabilities: FloatArray) -> FloatArray:
        """(n, K-1) from the classifier's probabilities (n, C), which may be of single precision."""
        p = np.zeros((len(class_probabilities), self.n_levels))
        p[:, self.codes] = class_probabilities
        total = p.sum(axis=1, keepdims=True)
        if not (np.isfinite(p).all() and (p >= 0.0).all() and (total > 0.0).all()):
            raise DataError(
                f"{type(self.model).__name__} gives probabilities that are negative, missing or all 0. Rescale the "
                "columns (scaling= of the method does), or choose another base."
            )
        from_above = np.cumsum((p / total)[:, :0:-1], axis=1)[:, ::-1]
        return np.asarray(np.minimum(from_above, 1.0))


# Rows of whole weights are repeated for the classifier, up to this number of rows.
_MOST_ROWS = 200_000


def _nominal_base(name: str, value: Any, of: Any) -> None:
    """OptionError unless the value is a name, or a classifier with probabilities."""
    if isinstance(value, str) and value in NOMINAL:
        return
    if not is_classifier(value):
        also = ", or a classifier with predict_proba such as LGBMClassifier()"
        raise unknown(name, value, NOMINAL, of=of, also=also)
    if not hasattr(value, "predict_proba"):
        raise OptionError(
            f"base of {type(of).__name__}, {type(value).__name__}, has no predict_proba, which gives the probabilities "
            "of the levels: choose a classifier that has it, or set its probability=True where there is such an option."
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class NominalClassifier(Method):
    """A classifier that ignores the order of the levels, and the rank of least expected cost.

    P(y = k | x) are those of the classifier, put in the order of the levels; the predicted rank minimises sum_k P(y =
    k) cost[k, rank]: the median under the absolute cost, the mode under the classification cost. For a classifier a
    threshold, which uses the order, see `Reduction(base=..., encoding="separate")`; a classifier among the members of
    a `Blend` is this method. A row of weight 2 is given twice; where weights are not whole numbers, or come to more
    than 200,000 rows, rows alike are given once, with the sum of their weights.

    Parameters
    ----------
    base : {"logistic", "forest", "hgb", "tree"} or classifier with predict_proba
        Such as lightgbm.LGBMClassifier(), xgboost.XGBClassifier() or catboost.CatBoostClassifier(), cloned and made
        quiet; given a seed where its random_state is None. The names are scikit-learn's: multinomial logistic
        regression, random forest, histogram boosting, tree.
    cost : str or (K, K) array
        What predicted ranks minimise in expectation. The probabilities do not depend on it.
    scaling : {"range", "standard", None}
        Columns to [-1, 1] on the training rows, to mean 0 and standard deviation 1, or as they are.

    Raises
    ------
    OptionError
        A base that is no classifier, or has no probabilities.

    Examples
    --------
    >>> NominalClassifier(base="forest", cost="classification")
    NominalClassifier(base='forest', cost='classification')
    """

    base: Any = option("logistic", _nominal_base)
    cost: CostField = cost_option()
    scaling: str | None = scaling_option()

    results_class: ClassVar[type[Any]] = NominalResults
    papers: ClassVar[tuple[str, ...]] = (
        "Elkan, C. (2001). The foundations of cost-sensitive learning. Proceedings of the 17th International Joint "
        "Conference on Artificial Intelligence, 973-978.",
    )

    @property
    def model(self) -> Any:
        """The classifier that `base` stands for."""
        return NOMINAL[self.base]() if isinstance(self.base, str) else self.base

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> MarginFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Source of the classifier's seed, if it has none.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        shares, missed = self._learned(sample, rng)
        rule = CumulativeRule(shares, self.cost_matrix)
        above = shares(sample.rows)
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
            ),
            trace=Trace(iterations=1, objective=np.array([score]), message="classifier fitted"),
            scores=rule.scores_of(above),
            facts=(("Classifier", written(self.model)), ("Columns scaled", SCALED[self.scaling])),
        )

    def _learned(self, sample: Sample, rng: np.random.Generator) -> tuple[ClassShares, int]:
        """The class probabilities learned from a sample, and how often the classifier did not converge."""
        if sample.X.shape[1] == 0:
            raise DataError("X must have a column for the classifier; got no column. Add a term.")
        train = distinct_rows(sample, np.zeros((sample.n, 0))).repeated(_MOST_ROWS)
        model = copied(self.model, rng)
        equal = bool((train.weights == train.weights[0]).all())
        if not equal and not takes_weights(model):
            raise DataError(
                f"{type(model).__name__} takes no sample_weight in fit, and the weights are not whole numbers. Choose "
                "a base that takes weights."
            )
        codes, classes = np.unique(train.y, return_inverse=True)
        scaling = fit_scaling(self.scaling, train.X, train.weights)
        weights = {} if equal else {"sample_weight": train.weights}
        with unconverged() as missed, one_openmp_thread(train.n), refusing(model):
            model.fit(scaling(train.X), classes, **weights)
        return ClassShares(model=model, codes=codes, n_levels=sample.n_levels, scaling=scaling), len(missed)
