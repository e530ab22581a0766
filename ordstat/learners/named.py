"""Base classifiers by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier()


#: scikit-learn's classifiers that a string stands for, with their default settings.
CLASSIFIERS: dict[str, Callable[[], Any]] = {"logistic": _logistic, "tree": _tree}
