"""Reverse reduction: any ranker as a binary classifier of extended examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..exceptions import DataError, OptionError
from ..model.ensembles.rankers import answers
from ..model.reduction.extended import Extended, reverse_reduce
from ..model.rules import Rule
from ..model.sample import Rows, Sample
from .base import Method


@dataclass(frozen=True, eq=False)
class RankAnswers:
    """g(x, k) = +1 where a ranker puts x above k, else -1 [Lin 2008, eq. 4.6].

    Attributes
    ----------
    rule : Rule
        The fitted ranker.
    """

    rule: Rule

    def __call__(self, X: Any) -> FloatArray:
        """(N, K-1) answers of +1.0 or -1.0 for rows X (N, D); they do not grow in k."""
        return answers(self.rule.codes(Rows(X=_matrix(X))), self.rule.n_levels)


def reverse_reduction(method: Method, X: Any, labels: Any, weights: Any, *, seed: int = 0) -> RankAnswers:
    """A binary classifier of examples ((x_n, k), label, weight), by a ranker [Lin 2008, sec. 4.1, eq. 4.5-4.6].

    The answers of each row become a rank, and their weights the costs of all ranks; the ranker is fitted to them, and
    asked "above k?". The weighted training error of the answers is the training cost of the ranker (lemma 4.2).

    Parameters
    ----------
    method : Method
        A ranker that takes costs of every row, such as ORStump() or REDSVM(C=10).
    X : (N, D) numbers
    labels : (N, K-1) of +1 and -1
        Not growing in k: a row is above 1, 2, ... up to its rank.
    weights : (N, K-1) >= 0
    seed : int

    Returns
    -------
    RankAnswers
        Called with rows (n, D), it gives (n, K-1) answers.

    Raises
    ------
    OptionError
        The method takes no costs of rows.
    DataError
        Arrays of other shapes, values that are not finite, or labels that contradict each other.

    Examples
    --------
    >>> from ordstat import ORStump, reverse_reduction
    >>> X = [[0.0], [1.0], [2.0]]
    >>> classifier = reverse_reduction(ORStump(), X, [[-1, -1], [1, -1], [1, 1]], [[1, 1], [1, 1], [1, 1]])
    >>> classifier([[0.2], [5.0]]).tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """
    if not isinstance(method, Method) or not method.needs.row_costs:
        raise OptionError(
            f"method of reverse_reduction must be a ranker that takes costs of every row, such as ORStump(); got "
            f"{method!r}."
        )
    rows = _matrix(X)
    y, costs = reverse_reduce(_checked(rows, np.asarray(labels), np.asarray(weights, dtype=np.float64)))
    sample = Sample(rows=Rows(X=rows), y=y, n_levels=costs.shape[1], costs=costs)
    return RankAnswers(method.fit(sample, np.random.default_rng(seed)).rule)


def _matrix(X: Any) -> FloatArray:
    rows = np.ascontiguousarray(X, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise DataError(f"X must be an (N, D) array of finite numbers; got shape {rows.shape}.")
    return rows


def _checked(X: FloatArray, labels: Any, weights: FloatArray) -> Extended:
    if labels.ndim != 2 or labels.shape[0] != len(X) or labels.shape[1] < 1 or weights.shape != labels.shape:
        raise DataError(
            f"labels and weights must have one row per row of X and one column per question, shape ({len(X)}, K-1); "
            f"got {labels.shape} and {weights.shape}."
        )
    if not np.isin(labels, (-1, 1)).all():
        raise DataError("labels must be +1 or -1.")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise DataError("weights must be finite and not negative.")
    return Extended(labels.astype(np.float64), weights)
