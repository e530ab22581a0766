"""Learners by name: classifiers, weak learners, bases of the reduction; and any binary learner as a weak one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..checks import unknown
from ..exceptions import OptionError
from ..model.binary import Binary
from ..model.ensembles.ensembles import MemberSum
from ..model.sample import Rows
from .base import BinaryLearner, HypothesisClass, Scorer, Trainer, Weak, WeakLearner, WeakTrainer
from .classifier import Classifier, sklearn_model

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


def _learner(name: str) -> Any:
    """A learner of the package with its default settings."""
    return getattr(import_module("ordstat"), name)()


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
        learner: WeakLearner = _learner(WEAK[value])
        return learner
    also = ", a weak learner such as DecisionStump(), or a scikit-learn classifier that takes sample_weight"
    names = dict.fromkeys([*WEAK, *CLASSIFIERS])
    return WeakClassifier(named_classifier(value, unknown("learner", value, names, of=owner, also=also)))


#: Base learners that a string stands for, made when asked for.
BASES: dict[str, Callable[[], BinaryLearner]] = {
    "logistic": lambda: Classifier(CLASSIFIERS["logistic"](), None),
    "c4.5": lambda: _learner("C45"),
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
