"""A binary learner on extended examples ((x, k), rank above k?), and base learners of the reduction by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..checks import unknown
from ..exceptions import OptionError
from ..model.binary import Binary
from ..model.reduction.answers import Answers
from ..model.reduction.encoding import Encoding, SeparateAnswers, SharedAnswers, extended_rows
from ..model.reduction.extended import Extended
from ..model.scaling import Scaling
from .base import BinaryLearner, Learned
from .c45 import C45
from .classifier import Classifier
from .named import CLASSIFIERS


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_leaf=5, random_state=0)


def _boosted_trees() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(early_stopping=False, random_state=0)


#: Base learners that a string stands for, made when asked for.
BASES: dict[str, Callable[[], BinaryLearner]] = {
    "logistic": lambda: Classifier(CLASSIFIERS["logistic"](), None),
    "c4.5": C45,
    "tree": lambda: Classifier(_tree(), None),
    "hgb": lambda: Classifier(_boosted_trees(), None),
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
    if isinstance(value, str):
        if value in BASES:
            return BASES[value]()
        raise _unknown(value, owner)
    try:
        return Classifier(value, None)
    except OptionError as error:
        if hasattr(value, "fit"):
            raise OptionError(
                f"base of {owner}, {type(value).__name__}, has no sample_weight in fit: extended examples are weighted "
                "by what their answers cost, so choose a classifier that takes weights."
            ) from error
        raise _unknown(value, owner) from error


def _unknown(value: Any, owner: str) -> OptionError:
    also = ", a learner such as C45(), or a scikit-learn classifier that takes sample_weight"
    return unknown("base", value, BASES, of=owner, also=also)


@dataclass(frozen=True, eq=False, kw_only=True)
class Answered:
    """A learner's answers to the questions of a sample.

    Attributes
    ----------
    answers : Answers
    learned : Learned
    n_examples : int
        Extended examples of positive weight.
    """

    answers: Answers
    learned: Learned
    n_examples: int


def learn(
    base: BinaryLearner,
    encoding: Encoding,
    X: FloatArray,
    extended: Extended,
    scaling: Scaling,
    rng: np.random.Generator,
) -> Answered:
    """Fit a base learner to the extended examples of rows X (N, D), their columns scaled first.

    Examples of weight 0 are left out. One classifier learns all of them, or one classifier each k, as the encoding has
    it.
    """
    scaled = scaling(X)
    questions = extended.labels.shape[1]
    codes = encoding.codes(questions + 1)
    n_examples = int(np.count_nonzero(extended.weights))
    if codes is None:
        rows = np.arange(len(X))
        problems = [Binary.of(rows, z, w) for z, w in zip(extended.labels.T, extended.weights.T, strict=True)]
        learned = base.on(scaled, extended.weights.sum(axis=1)).fit(problems, rng)
        answers: Answers = SeparateAnswers(
            scorer=learned.scorer, n_levels=questions + 1, encoding=encoding, scaling=scaling
        )
        return Answered(answers=answers, learned=learned, n_examples=n_examples)
    inside = extended.weights.ravel() > 0
    examples = extended_rows(scaled, codes)[inside]
    weights = extended.weights.ravel()[inside]
    learned = base.fit(examples, extended.labels.ravel()[inside], weights, rng)
    answers = SharedAnswers(scorer=learned.scorer, codes=codes, encoding=encoding, scaling=scaling)
    return Answered(answers=answers, learned=learned, n_examples=n_examples)
