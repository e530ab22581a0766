"""Weak learners by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..checks import unknown
from ..exceptions import OptionError
from .base import BinaryLearner
from .classifier import Classifier
from .named import CLASSIFIERS
from .perceptron import NormalisedSigmoid, RCDPerceptron
from .stump import DecisionStump
from .tree import DecisionTree
from .weak import WeakLearner
from .weak_classifier import WeakClassifier

#: Weak learners that a string stands for, beside those of scikit-learn.
WEAK: dict[str, WeakLearner] = {
    "stump": DecisionStump(),
    "perceptron": RCDPerceptron(),
    "sigmoid": NormalisedSigmoid(),
    "tree": DecisionTree(),
}
#: scikit-learn's classifiers that a string stands for: a tree that boosting can add to has few leaves, and is ours.
_CLASSIFIERS: dict[str, Callable[[], Any]] = {name: made for name, made in CLASSIFIERS.items() if name not in WEAK}


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
    if not isinstance(value, str):
        return WeakClassifier(_classifier(value, owner))
    if value in WEAK:
        return WEAK[value]
    if value in _CLASSIFIERS:
        return WeakClassifier(Classifier(_CLASSIFIERS[value]()))
    raise _unknown(value, owner)


def _classifier(value: Any, owner: str) -> Classifier:
    try:
        return Classifier(value)
    except OptionError as error:
        raise _unknown(value, owner) from error


def _unknown(value: Any, owner: str) -> OptionError:
    also = ", a weak learner such as DecisionStump(), or a scikit-learn classifier that takes sample_weight"
    return unknown("learner", value, (*WEAK, *_CLASSIFIERS), of=owner, also=also)
