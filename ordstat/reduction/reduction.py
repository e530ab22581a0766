"""Any weighted binary classifier as a ranker, and results of rankers with K-1 questions
"is the rank above k?".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray, Progress
from ..advice import with_option_hints
from ..checks import one_of, require_memory
from ..exceptions import DataError, UnavailableError
from ..fit import CostBound, Fit, Trace
from ..formula.distinct import distinct_rows
from ..formula.sample import Rows, Sample
from ..formula.scaling import SCALED, Scaling, fit_scaling
from ..formula.sparse import numbers_per_row
from ..judging.costs import CostField, require_differences, split_weights
from ..method import LI_LIN, LIN, Method, Supports, cost_option, option, scaling_option
from ..rankers import MarginResults
from ..report.cells import count
from ..report.render import Report
from ..report.sections import bound_header, error_tables, ranker_report
from ..target import Target
from .classifiers import SPARSE_BASE, parse_base
from .encoding import (
    ENCODINGS,
    CountingRule,
    EncodedAnswers,
    Extended,
    ModalRule,
    ReductionFit,
    alike,
    binary_cost,
    codes_of,
    extend,
    extended_rows,
    out_of_order,
    training_bound,
)
from .learners import MOST_REPEATED, Binary, BinaryLearner, Learned


class QuestionResults(MarginResults):
    """A fitted ranker that answers K-1 questions "is the rank above k?"."""

    fit: ReductionFit

    predicts = ("class", "prob", "cum_prob", "score", "margin")

    kind = "Ranker by binary classification"

    @property
    def bound(self) -> CostBound | None:
        """Bound of the training cost by the weighted training error; None if no theorem
        applies.
        """
        return self.fit.bound

    def _predicted(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        rule = cast(CountingRule, self.fit.rule)
        if type in ("prob", "cum_prob") and not rule.probable:
            if rule.unbiased:
                why = "its base classifier has no predict_proba"
            else:
                why = (
                    "its costs weight the examples of a question by rank, so answers"
                    " are not P(rank above k)"
                )
            raise UnavailableError(f"{self.method} has no probabilities: {why}.")
        return super()._predicted(target, type)

    def _probabilities(
        self, fit: Fit, rows: Rows, scores: FloatArray
    ) -> FloatArray | None:
        rule = cast(CountingRule, fit.rule)
        return rule.probabilities(rows) if rule.probable else None


class ReductionResults(QuestionResults):
    """A fitted ranker that asks a binary classifier "is the rank above k?" for every k.

    `score` is the interpolated median of the answers, with thresholds 1, ..., K-1;
    margins are the answers.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "frank-hall")
    >>> fit.predict(type="prob").iloc[0].round(3).tolist()
    [0.182, 0.535, 0.255, 0.018, 0.01]
    """

    no_bounds: ClassVar[str] = "No margin bounds: the binary classifier has no norm."

    def summary_data(self) -> Report:
        """The summary as data."""
        notes = []
        if self.fit.bound is None:
            notes.append(
                "No bound of the training cost: theorem 4.1 needs decision='count', and"
                " convex costs or answers that do not contradict each other."
            )
        if self.fit.crossed:
            probable = cast(CountingRule, self.fit.rule).probable
            rows = (
                f"{count(self.fit.crossed)} of {count(self.nobs)} training rows"
                " increase somewhere in k"
            )
            if probable:
                notes.append(
                    f"Probabilities of 'above k' of {rows}: they were sorted, which"
                    " keeps their sum."
                )
            else:
                notes.append(
                    f"Answers to 'above k?' of {rows}: they contradict each other."
                )
        return ranker_report(
            self, error_tables(self), [bound_header(self.bound)], notes
        )


class ThresholdLossResults(QuestionResults):
    """A fitted ranker, rank(x) = 1 + #{k : H(x) > threshold_k}, with logistic losses of
    the questions "above k?".

    With the absolute cost `predict` has "prob" and "cum_prob", from P(rank > k) = 1 /
    (1 + exp(threshold_k - H)). Each question has its own odds; they do not come from a
    likelihood of ranks.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "red-logistic", scaling=None)
    >>> fit.coef.round(3).tolist()
    [2.229, 1.28]
    """

    no_bounds: ClassVar[str] = "No margin bounds: a network has no norm."

    def summary_data(self) -> Report:
        """The summary as data."""
        return self._margin_report([bound_header(self.bound)])


#: From answers to ranks.
RULES: dict[str, Callable[[EncodedAnswers, bool], CountingRule]] = {
    "count": CountingRule,
    "mode": ModalRule,
}
#: The same for the summary.
_DECISIONS = {
    "count": "1 + number of positive answers",
    "mode": "most probable rank",
}


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class Reduction(Method):
    """Ordinal ranking by any weighted binary classifier [Lin 2008, alg. 4.1; Li & Lin
    2007].

    Row n becomes K - 1 examples ((x_n, k), is y_n > k?) of weight |c_n[k+1] - c_n[k]|,
    times its case weight. A binary classifier g is fitted to them, and rank(x) = 1 +
    #{k : g(x, k) > 0}. If costs are convex, or answers do not contradict each other,
    the training cost is at most the weighted training error of g (theorem 4.1): the
    summary shows both. Costs must be V-shaped. The classifier gets sorted rows; a row
    of weight 2 occurs twice. If weights are not whole numbers, identical rows occur
    once, with the sum of their weights. The same holds for logistic regression and
    C4.5, for which it is equivalent, if weights sum to more than 200,000 rows.

    A classifier with predict_proba gives probabilities of the ranks if each question's
    examples have equal weights, as with the absolute cost. If its P(y > k) increase in
    k, they are sorted (ranks do not change), and the summary says for how many rows.

    Parameters
    ----------
    base : {"logistic", "c4.5", "tree", "hgb", "ordboost"}, learner or classifier
        The names mean a logistic regression, Quinlan's C4.5, a tree with at least 5
        rows per leaf, gradient boosted trees of scikit-learn, and those of
        `OrdinalBoosting` with rounds and depth by cross-validation. Or give a learner
        such as C45(confidence=0.1), or any scikit-learn classifier, also a Pipeline or
        GridSearchCV. A classifier is cloned and gets a seed if its random_state is
        None. Its `fit` must accept sample_weight, except with the absolute cost and
        whole-number case weights, where all examples have the same weight.
    encoding : {"one-hot", "ordinal", "separate"}
        Columns that encode k. "one-hot": one for each k; a linear classifier then has
        one score and K-1 thresholds. "ordinal": steps [k > j]; a tree then splits k as
        a number. "separate": none, but a classifier for each k [Frank & Hall 2001].
    cost : str or (K, K) array
        "absolute", "classification", "squared", or a V-shaped matrix [true rank,
        predicted rank]; costs given for single rows replace it.
    decision : {"count", "mode"}
        Count positive answers, or take the most probable rank as Frank & Hall (2001) do
        (method="frank-hall").
    scaling : {"range", "standard", None}
        Scale columns to [-1, 1] on the training rows, to mean 0 and standard deviation
        1, or not at all.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> Reduction(base="c4.5", encoding="ordinal")
    Reduction(base='c4.5', encoding='ordinal')
    """

    base: Any = "logistic"
    encoding: str = option("one-hot", one_of, ENCODINGS)
    cost: CostField = cost_option()
    decision: str = option("count", one_of, RULES)
    scaling: str | None = scaling_option()

    supports: ClassVar[Supports] = Supports(row_costs=True, v_shaped_only=True)
    results_class: ClassVar[type[Any]] = ReductionResults
    papers: ClassVar[tuple[str, ...]] = (LI_LIN, LIN)

    def __post_init__(self) -> None:
        super().__post_init__()
        # scikit-learn is imported late
        if not isinstance(self.base, str) or self.base != "logistic":
            parse_base(self.base, self)

    @property
    def takes_sparse(self) -> bool:
        return parse_base(self.base, self).takes_sparse

    @property
    def sparse_instead(self) -> str:
        return SPARSE_BASE

    def check(self, sample: Sample) -> None:
        """Raise an error if the method does not support the sample."""
        super().check(sample)
        require_differences(self.costs(sample), sample.case_weights)

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> ReductionFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 are ignored.
        rng : numpy.random.Generator
            Source of the seed of a random base learner, if it has none.
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            Costs are all equal or not V-shaped; decision="mode" without probabilities.
        """
        self.check(sample)
        base = parse_base(self.base, self)
        most = np.inf if base.counts_rows else MOST_REPEATED
        train = distinct_rows(sample, self.costs(sample)).repeated(most)
        extended = extend(train.y, train.costs, train.weights)
        scaling = fit_scaling(self.scaling, train.X, train.weights)
        answers, learned = self._learned(base, train.X, extended, scaling, rng)
        rule = RULES[self.decision](answers, alike(split_weights(train.costs)))
        if self.decision == "mode" and not rule.probable:
            raise DataError(
                "decision='mode' needs probabilities: a base classifier with"
                " predict_proba, and costs that weight the examples of each question"
                " equally, such as the absolute cost."
            )
        gaps = answers(Rows(X=train.X))
        answered = answers.above(Rows(X=train.X)) if rule.probable else gaps
        if progress is not None:
            progress(1, 1, "extended examples learned")
        n_examples = np.count_nonzero(extended.weights)
        bound = None
        if self.decision == "count":
            bound = training_bound(train, gaps, extended)
        return ReductionFit(
            rule=rule,
            certificate=learned.certificate,
            trace=Trace(
                iterations=learned.iterations,
                objective=np.array([binary_cost(gaps, extended) / train.weights.sum()]),
                message="extended examples learned",
            ),
            scores=rule.scores(sample.rows),
            facts=(
                ("Extended examples", f"{n_examples} with positive weight"),
                ("Base classifier", str(base)),
                ("Threshold encoding", self.encoding),
                ("Rank", _DECISIONS[self.decision]),
                ("Columns scaled", SCALED[self.scaling]),
                *learned.facts,
            ),
            bound=bound,
            crossed=float(train.weights @ out_of_order(answered)),
        )

    def _learned(
        self,
        base: BinaryLearner,
        X: FloatArray,
        extended: Extended,
        scaling: Scaling,
        rng: np.random.Generator,
    ) -> tuple[EncodedAnswers, Learned]:
        """Scale the columns of X (N, D) and fit a base learner to the extended examples
        with weight > 0.
        """
        scaled = scaling(X)
        n_levels = extended.labels.shape[1] + 1
        codes = codes_of(self.encoding, n_levels)
        if codes is None:
            rows = np.arange(len(X))
            problems = [
                Binary.of(rows, z, w)
                for z, w in zip(extended.labels.T, extended.weights.T, strict=True)
            ]
            learned = base.on(scaled, extended.weights.sum(axis=1)).fit(problems, rng)
        else:
            weights = extended.weights.ravel()
            inside = weights > 0
            size = 32.0 * weights.size * (numbers_per_row(X) + codes.shape[1])
            instead = "Join levels, take fewer rows, or set encoding='separate'."
            require_memory(
                f"The table of {weights.size} extended examples", size, instead
            )
            examples = extended_rows(scaled, codes)[inside]
            learned = base.fit(
                examples, extended.labels.ravel()[inside], weights[inside], rng
            )
        return (
            EncodedAnswers(
                scorer=learned.scorer, n_levels=n_levels, codes=codes, scaling=scaling
            ),
            learned,
        )
