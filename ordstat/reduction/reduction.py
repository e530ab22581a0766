"""Any weighted binary classifier as a ranker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray, Progress
from ..checks import one_of, require_memory
from ..exceptions import DataError
from ..fit import Trace
from ..formula.sample import SCALED, DistinctRows, Rows, Sample, Scaling, distinct_rows, fit_scaling
from ..judging.costs import CostField, require_differences, split_weights
from ..method import LI_LIN, LIN, Method, Needs, NeedsOfValue, cost_option, option, scaling_option
from .classifiers import parse_base, takes_missing
from .encoding import (
    CountingRule,
    EncodedAnswers,
    Encoding,
    Extended,
    ModalRule,
    ReductionFit,
    alike,
    binary_cost,
    extend,
    extended_rows,
    out_of_order,
    parse_encoding,
    training_bound,
)
from .learners import Binary, BinaryLearner, Learned
from .results import ReductionResults

# Rows of whole weights are given that often to a classifier that need not count them, up to this number.
_MOST_ROWS = 200_000

#: From answers to ranks.
RULES: dict[str, Callable[[EncodedAnswers, bool], CountingRule]] = {"count": CountingRule, "mode": ModalRule}


@dataclass(frozen=True, kw_only=True, repr=False)
class Reduction(Method):
    """Ordinal ranking by any weighted binary classifier [Lin 2008, alg. 4.1; Li & Lin 2007].

    Row n makes K - 1 examples ((x_n, k), is y_n > k?) of weight |c_n[k+1] - c_n[k]|, times its case weight; a binary
    classifier g learns them, and rank(x) = 1 + #{k : g(x, k) > 0}. Its training cost is at most the weighted training
    error of g where the costs are convex, or where the answers do not contradict each other (theorem 4.1): the summary
    shows both sides. Costs are V-shaped. The classifier is given the rows in an order of their own, a row of weight 2
    twice; where weights are not whole numbers, rows alike once, with the sum of their weights (and where they come to
    more than 200,000 rows, if the classifier is a logistic regression or C4.5, to whom that is the same).

    A classifier with predict_proba gives probabilities of the ranks where each question's examples are weighted alike,
    as under the absolute cost. Where its P(y > k) grow in k, they are put in order (the ranks stay), and the
    summary says for how many rows.

    Parameters
    ----------
    base : {"logistic", "c4.5", "tree", "hgb"}, learner or scikit-learn classifier
        Its clones take sample weights: a logistic regression, Quinlan's C4.5, a tree of leaves of 5 or more, gradient
        boosted trees; C45(confidence=0.1); or any scikit-learn classifier, given a seed where its random_state is None.
    encoding : {"one-hot", "ordinal", "separate"}, OneHot, Ordinal or Separate
        Columns that tell k: one for each k (a linear classifier then has one score and K-1 thresholds), steps [k > j]
        (a tree then cuts k as a number), or none, for a classifier of its own for every k.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or a V-shaped matrix [true rank, predicted rank]; a row's own costs in
        the sample take its place.
    decision : {"count", "mode"}
        Rank by counting, or the most probable rank, as Frank & Hall (2001) choose it: method="frank-hall".
    scaling : {"range", "standard", None}
        Columns to [-1, 1] on the training rows, to mean 0 and standard deviation 1, or as they are.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> Reduction(base="c4.5", encoding="ordinal")
    Reduction(base='c4.5', encoding='ordinal')
    """

    base: Any = "logistic"
    encoding: str | Encoding = "one-hot"
    cost: CostField = cost_option()
    decision: str = option("count", one_of, RULES)
    scaling: str | None = scaling_option()

    needs: ClassVar[Needs] = cast(Any, NeedsOfValue(Needs(row_costs=True, v_shaped=True)))
    results_class: ClassVar[type[Any]] = ReductionResults
    papers: ClassVar[tuple[str, ...]] = (LI_LIN, LIN)

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_encoding(self.encoding)
        if not isinstance(self.base, str) or self.base != "logistic":
            parse_base(self.base, type(self).__name__)

    def own_needs(self, needs: Needs) -> Needs:
        """Missing values where the classifier takes them."""
        model = None if self.base == "logistic" else getattr(parse_base(self.base, type(self).__name__), "model", None)
        return replace(needs, missing=model is not None and takes_missing(model))

    @property
    def modal(self) -> bool:
        """Whether the predicted rank is the most probable one."""
        return self.decision == "mode"

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method does not support."""
        super().check(sample)
        require_differences(self.costs(sample), sample.case_weights)

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> ReductionFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Source of the base learner, where it is random and has no seed of its own.
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            Costs that are all alike or not V-shaped; decision="mode" without probabilities.
        """
        self.check(sample)
        base = parse_base(self.base, type(self).__name__)
        most = np.inf if base.counts_rows else _MOST_ROWS
        train = distinct_rows(sample, self.costs(sample)).repeated(most)
        extended = extend(train.y, train.costs, train.weights)
        scaling = fit_scaling(self.scaling, train.X, train.weights)
        answers, learned = _learned(base, parse_encoding(self.encoding), train.X, extended, scaling, rng)
        rule = RULES[self.decision](answers, alike(split_weights(train.costs)))
        if self.decision == "mode" and not rule.probable:
            raise DataError(
                "decision='mode' needs probabilities: a base classifier with predict_proba, and costs that weigh the "
                "examples of each question alike, such as the absolute cost."
            )
        gaps = answers(Rows(X=train.X))
        bound = training_bound(train, gaps, extended) if self.decision == "count" else None
        if progress is not None:
            progress(1, 1, "extended examples learned")
        return ReductionFit(
            rule=rule,
            certificate=learned.certificate,
            trace=Trace(
                iterations=learned.iterations,
                objective=np.array([binary_cost(gaps, extended) / train.weights.sum()]),
                message="extended examples learned",
            ),
            scores=rule.scores(sample.rows),
            facts=self._facts(int(np.count_nonzero(extended.weights)), learned),
            bound=bound,
            crossed=crossed(rule, train, gaps),
        )

    def _facts(self, n_examples: int, learned: Learned) -> tuple[tuple[str, Any], ...]:
        how = "most probable rank" if self.decision == "mode" else "1 + number of positive answers"
        return (
            ("Extended examples", f"{n_examples} of positive weight"),
            ("Base classifier", str(parse_base(self.base, type(self).__name__))),
            ("Encoding of k", repr(parse_encoding(self.encoding))),
            ("Rank", how),
            ("Columns scaled", SCALED[self.scaling]),
            *learned.facts,
        )


def crossed(rule: CountingRule, train: DistinctRows, gaps: FloatArray) -> float:
    """Weight of the training rows whose answers, or their probabilities where there are any, grow in k."""
    values = rule.answers.above(Rows(X=train.X)) if rule.probable else gaps
    return float(train.weights @ out_of_order(values))


def _learned(
    base: BinaryLearner,
    encoding: Encoding,
    X: FloatArray,
    extended: Extended,
    scaling: Scaling,
    rng: np.random.Generator,
) -> tuple[EncodedAnswers, Learned]:
    """Fit a base learner to the extended examples of rows X (N, D), their columns scaled first; its answers.

    Examples of weight 0 are left out. One classifier learns all of them, or one classifier each k, as the encoding has
    it.
    """
    scaled, n_levels = scaling(X), extended.labels.shape[1] + 1
    codes = encoding.codes(n_levels)
    if codes is None:
        rows = np.arange(len(X))
        problems = [Binary.of(rows, z, w) for z, w in zip(extended.labels.T, extended.weights.T, strict=True)]
        learned = base.on(scaled, extended.weights.sum(axis=1)).fit(problems, rng)
    else:
        weights = extended.weights.ravel()
        inside = weights > 0
        size = 32.0 * weights.size * (X.shape[1] + codes.shape[1])
        instead = "Join levels, take fewer rows, or set encoding='separate'."
        require_memory(f"The table of {weights.size} extended examples", size, instead)
        examples = extended_rows(scaled, codes)[inside]
        learned = base.fit(examples, extended.labels.ravel()[inside], weights[inside], rng)
    answers = EncodedAnswers(scorer=learned.scorer, n_levels=n_levels, codes=codes, encoding=encoding, scaling=scaling)
    return answers, learned
