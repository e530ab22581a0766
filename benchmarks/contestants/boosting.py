"""Boosting by ordstat, by the authors' C++ program (skordinal carries it as a module),
and by scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.timing import Timed
from ordstat.boosting.boosting import RoundsMethod
from ordstat.formula.sample import Rows, Sample


@dataclass
class Boosted(Timed):
    """A fit of some rounds."""

    rounds: int


def ordstat(X: np.ndarray, y: np.ndarray, method: RoundsMethod) -> Boosted:
    sample = Sample(rows=Rows(X=X), y=y, n_levels=int(y.max()) + 1)
    return Boosted(
        "ordstat", lambda: method.fit(sample, np.random.default_rng(0)), method.rounds
    )


def authors(X: np.ndarray, y: np.ndarray, form: str, base: str, rounds: int) -> Boosted:
    """ORBoost by `orensemble`; form "full" is ORBoost-All. The copy of X into lists is
    part of the call.
    """
    from skordinal.classifiers import ORBoost

    peer = ORBoost(n_estimators=rounds, loss_form=form, base_learner=base)
    return Boosted("authors' C++", lambda: peer.fit(X, y), rounds)


def extended_adaboost(X: np.ndarray, y: np.ndarray, rounds: int) -> Boosted:
    """AdaBoostClassifier with stumps on the N(K-1) examples (x, k) "above k?", k as K-1
    indicator columns.
    """
    from sklearn.ensemble import AdaBoostClassifier

    Q = int(y.max())
    rows = np.hstack([np.repeat(X, Q, axis=0), np.tile(np.eye(Q), (len(X), 1))])
    labels = (y[:, None] > np.arange(Q)).ravel()
    peer = AdaBoostClassifier(n_estimators=rounds, random_state=0)
    return Boosted(
        "scikit-learn AdaBoost, extended", lambda: peer.fit(rows, labels), rounds
    )


def single_stumps(X: np.ndarray, y: np.ndarray, rounds: int) -> Boosted:
    """What a loop over scikit-learn's stumps pays for the search alone: one depth-1
    tree on the N rows a round.
    """
    from sklearn.tree import DecisionTreeClassifier

    labels = y > y.max() // 2
    weights = np.random.default_rng(0).random(len(y))

    def fit() -> None:
        for _ in range(rounds):
            DecisionTreeClassifier(max_depth=1).fit(X, labels, sample_weight=weights)

    return Boosted("scikit-learn stump, search alone", fit, rounds)
