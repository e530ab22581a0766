"""A binary learner on extended examples ((x, k), rank above k?), and base learners of the reduction by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..checks import unknown
from ..exceptions import OptionError
from ..model.binary import Binary
from ..model.reduction.encoding import EncodedAnswers, Encoding, extended_rows
from ..model.reduction.extended import Extended
from ..model.scaling import Scaling
from .base import BinaryLearner, Learned
from .c45 import C45
from .classifier import Classifier, sklearn_model
from .named import CLASSIFIERS

#: Base learners that a string stands for, made when asked for.
BASES: dict[str, Callable[[], BinaryLearner]] = {
    "logistic": lambda: Classifier(CLASSIFIERS["logistic"](), None),
    "c4.5": C45,
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


def learn(
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
        examples = extended_rows(scaled, codes)[inside]
        learned = base.fit(examples, extended.labels.ravel()[inside], weights[inside], rng)
    answers = EncodedAnswers(scorer=learned.scorer, n_levels=n_levels, codes=codes, encoding=encoding, scaling=scaling)
    return answers, learned
