"""Any classifier of unordered classes, with the order put into its predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray, Progress
from ..fit import Certificate, MarginFit, Trace
from ..formula.sample import SCALED, Sample, distinct_rows
from ..judging.costs import CostField
from ..judging.rankers import PREDICTS, FittedThresholds, rule_probabilities, tidy_thresholds
from ..method import Method, Needs, NeedsOfValue, cost_option, option, scaling_option
from ..prediction.losses import CumulativeRule, ranked_score
from ..report.render import Report
from ..report.sections import error_tables, ranker_report
from ..results import OrdinalResults
from .classifiers import NOMINAL, NominalLearner, is_drawn, parse_nominal, takes_categories, takes_missing, written


class NominalResults(FittedThresholds, OrdinalResults):
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

    predicts = PREDICTS
    no_bounds = "No margin bounds: probabilities of classes have no norm."
    _probabilities = rule_probabilities

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Classifier of levels without order"

    def tidy(self) -> pd.DataFrame:
        """One row per threshold and linear coefficient: term, estimate, coef_type.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm", kernel="linear")
        >>> fit.tidy().round(2)
                     term  estimate  coef_type
        0             1|2      -1.0  threshold
        1             2|3       1.0  threshold
        2             3|4       3.0  threshold
        3             4|5       5.0  threshold
        4    temp[T.warm]       2.0   location
        5  contact[T.yes]       2.0   location
        """

        return tidy_thresholds(self)

    def summary_data(self) -> Report:
        """The summary as data."""
        return ranker_report(self, error_tables(self))


# Rows of whole weights are given that often to the classifier, up to this number.
_MOST_ROWS = 200_000


def _base(name: str, value: Any, of: Any) -> None:
    if not (isinstance(value, str) and value in NOMINAL):  # names are made when they are fitted
        parse_nominal(value, type(of).__name__)


@dataclass(frozen=True, kw_only=True, repr=False)
class NominalClassifier(Method):
    """A classifier that knows nothing of the order of the levels, and the rank of least expected cost.

    P(y = k | x) are those of the classifier, put in the order of the levels; the predicted rank minimises sum_k P(y =
    k) cost[k, rank]: the median under the absolute cost, the mode under the classification cost. For a classifier a
    threshold, which knows the order, see `Reduction(base=..., encoding="separate")`; a classifier among the members of
    a `Blend` is this method. A row of weight 2 is given twice; where weights are not whole numbers, or come to more
    than 200,000 rows, rows alike are given once, with the sum of their weights.

    LightGBM, XGBoost, CatBoost and histogram boosting are given factors as categories, and with na_action="keep"
    missing values as such; scikit-learn's trees and forests take missing values too. Where there are factors among the
    categories, no column is scaled.

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
        A base that is none, or has no probabilities.

    Examples
    --------
    >>> NominalClassifier(base="forest", cost="classification")
    NominalClassifier(base='forest', cost='classification')
    """

    base: Any = option("logistic", _base)
    cost: CostField = cost_option()
    scaling: str | None = scaling_option()

    needs: ClassVar[Needs] = cast(Any, NeedsOfValue(Needs()))
    results_class: ClassVar[type[Any]] = NominalResults
    papers: ClassVar[tuple[str, ...]] = (
        "Elkan, C. (2001). The foundations of cost-sensitive learning. Proceedings of the 17th International Joint "
        "Conference on Artificial Intelligence, 973-978.",
    )

    def own_needs(self, needs: Needs) -> Needs:
        """Missing values and categories where the classifier takes them."""
        model = parse_nominal(self.base, type(self).__name__)
        return replace(needs, missing=takes_missing(model), categories=takes_categories(model))

    @property
    def draws(self) -> bool:
        """Whether the classifier is given a seed that may matter."""
        return self.base != "logistic" and is_drawn(parse_nominal(self.base, type(self).__name__))

    @property
    def modal(self) -> bool:
        """Whether the predicted rank is the most probable one."""
        return self.cost == "classification"

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> MarginFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Source of the classifier's seed, where it has none.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        learner = NominalLearner(parse_nominal(self.base, type(self).__name__), self.scaling)
        train = distinct_rows(sample, np.zeros((sample.n, 0))).repeated(_MOST_ROWS)
        shares, missed = learner.fit(train.X, train.y, train.weights, sample.n_levels, rng, sample.categories)
        rule = CumulativeRule(shares, self.cost_matrix)
        above = shares(sample.rows)
        if progress is not None:
            progress(1, 1, "classifier fitted")
        return MarginFit(
            rule=rule,
            certificate=_converged(missed, above, sample),
            trace=Trace(
                iterations=1,
                objective=np.array([ranked_score(above, sample.y, sample.case_weights)]),
                message="classifier fitted",
            ),
            scores=rule.scores_of(above),
            facts=(("Classifier", written(learner.model)), ("Columns scaled", SCALED[self.scaling])),
        )


def _converged(missed: int, above: FloatArray, sample: Sample) -> Certificate:
    """Whether the classifier says that it converged, where it says anything."""
    return Certificate(
        name="base classifiers that did not converge",
        value=float(missed),
        tolerance=0.0,
        details=(("training ranked probability score", ranked_score(above, sample.y, sample.case_weights)),),
    )
