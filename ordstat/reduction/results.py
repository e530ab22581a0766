"""Rankers made of a binary classifier, or of a logistic loss of all thresholds, and their results."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import pandas as pd

from .._typing import FloatArray
from ..exceptions import UnavailableError
from ..fit import CostBound, Fit
from ..fitted import FittedRanker, Target
from ..formula.sample import Rows
from ..judging.rankers import FittedThresholds, threshold_figures, threshold_report, tidy_thresholds
from ..report.cells import count
from ..report.render import Report
from ..report.sections import bound_header, error_tables, ranker_report
from ..results import OrdinalResults
from .encoding import CountingRule, Encoding, ReductionFit


class FittedReduction(FittedRanker):
    """A fitted ranker that asks K-1 questions "is the rank above k?"."""

    fit: ReductionFit

    predicts: ClassVar[tuple[str, ...]] = ("class", "prob", "cum_prob", "score", "margin")
    no_bounds: ClassVar[str] = "No margin bounds: a binary classifier of any kind has no norm."

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Ranker by binary classification"

    @property
    def bound(self) -> CostBound | None:
        """Training cost by the weighted training error of the binary classifier; None where no theorem bounds it."""
        return self.fit.bound

    def _predicted(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        rule = cast(CountingRule, self.fit.rule)
        if type in ("prob", "cum_prob") and not rule.probable:
            why = (
                "its base classifier has no predict_proba"
                if rule.unbiased
                else "the costs weigh a question's examples by their ranks, so that its answers are not P(rank above k)"
            )
            raise UnavailableError(f"{self.method!r} has no probabilities: {why}.")
        return super()._predicted(target, type)

    def _probabilities(self, fit: Fit, rows: Rows, scores: FloatArray) -> FloatArray | None:
        rule = cast(CountingRule, fit.rule)
        return rule.probabilities(rows) if rule.probable else None


def classifier_trees(fit: FittedReduction) -> str:
    """The trees of base="c4.5" in indented lines, "+" being "above": (weight of a leaf / of its errors).

    Raises
    ------
    UnavailableError
        The base classifier is another one (an OptionError).

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "red-c45", encoding="separate")
    >>> print(fit.tree_text())
    above 1|2?
    + (72/5)
    above 2|3?
    temp[T.warm] <= 0
    |   contact[T.yes] <= 0: - (18/5)
    |   contact[T.yes] > 0: + (18/8)
    temp[T.warm] > 0: + (36/6)
    above 3|4?
    temp[T.warm] <= 0: - (36/2)
    temp[T.warm] > 0
    |   contact[T.yes] <= 0: - (18/5)
    |   contact[T.yes] > 0: + (18/6)
    above 4|5?
    - (72/7)
    """
    # A rule by one potential has no answers of a classifier.
    answers = getattr(fit.fit.rule, "answers", None)
    scorer = getattr(answers, "scorer", None)
    if not hasattr(scorer, "trees"):
        raise UnavailableError(f"{fit.method!r} has no trees to show: they are those of base='c4.5'.")
    trees = cast(Any, scorer).trees
    asked = cast(Encoding, cast(Any, answers).encoding).names(fit.threshold_names)
    if asked is not None:
        return str(trees[0].text((*fit.design.names, *asked)))
    parts = zip(fit.threshold_names, trees, strict=True)
    return "\n".join(f"above {name}?\n{tree.text(fit.design.names)}" for name, tree in parts)


def reduction_report(fit: FittedReduction) -> Report:
    """The summary as data."""
    return ranker_report(fit, error_tables(fit), [bound_header(fit.bound)], _notes(fit))


def _notes(fit: FittedReduction) -> list[str]:
    notes = []
    if fit.bound is None:
        notes.append(
            "No bound of the training cost: theorem 4.1 needs ranks by counting, and convex costs or answers that "
            "do not contradict each other."
        )
    if fit.fit.crossed:
        probable = cast(CountingRule, fit.fit.rule).probable
        rows = f"{count(fit.fit.crossed)} of {count(fit.nobs)} training rows grow somewhere in k"
        notes.append(
            f"Probabilities of 'above k' of {rows}: they are put in order, which leaves their sum as it is."
            if probable
            else f"Answers to 'above k?' of {rows}, and contradict each other."
        )
    return notes


class ReductionResults(FittedReduction, FittedThresholds, OrdinalResults):
    """A fitted ranker that asks a binary classifier "is the rank above k?" for every k.

    `score` is the interpolated median of the answers, with thresholds 1, ..., K-1; margins are the answers themselves.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="frank-hall")
    >>> fit.predict(type="prob").iloc[0].round(3).tolist()
    [0.182, 0.535, 0.255, 0.018, 0.01]
    """

    fit: ReductionFit

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

    def glance(self) -> pd.DataFrame:
        """One row of figures of the whole fit."""

        return threshold_figures(self)

    tree_text = classifier_trees
    summary_data = reduction_report


class ThresholdLossResults(FittedReduction, FittedThresholds, OrdinalResults):
    """A fitted ranker, rank(x) = 1 + #{k : H(x) > threshold_k}, whose K-1 questions "above k?" are logistic.

    Under the absolute cost `predict` has "prob" and "cum_prob", by P(rank > k) = 1 / (1 + exp(threshold_k - H)): odds
    of each question by itself, not those of a likelihood of ranks.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="red-logistic", scaling=None)
    >>> fit.coef.round(3).tolist()
    [2.229, 1.28]
    """

    fit: ReductionFit

    no_bounds: ClassVar[str] = "No margin bounds: they need a potential of known norm, and a network has none."

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

    def glance(self) -> pd.DataFrame:
        """One row of figures of the whole fit."""

        return threshold_figures(self)

    tree_text = classifier_trees

    def summary_data(self) -> Report:
        """The summary as data."""
        return threshold_report(self, [bound_header(self.bound)])
