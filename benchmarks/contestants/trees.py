"""Ensembles of trees of every split by ordstat, and the same ensembles of
scikit-learn's trees.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ordstat.formula.sample import Rows, Sample
from ordstat.trees.trees import TreeMethod

#: From rows to predicted codes.
Ranker = Callable[[np.ndarray], np.ndarray]


def ordstat(X: np.ndarray, y: np.ndarray, seed: int, method: TreeMethod) -> Ranker:
    """A fit by ordstat."""
    sample = Sample(rows=Rows(X=X), y=y, n_levels=int(y.max()) + 1)
    fit = method.fit(sample, np.random.default_rng(seed))
    return lambda new: fit.rule.codes(Rows(X=new))


def scikit_learn(
    X: np.ndarray, y: np.ndarray, seed: int, rounds: int, leaves: int, boosted: bool
) -> Ranker:
    """Bagging or discrete AdaBoost of scikit-learn's trees for every split, on float32
    columns checked once.
    """
    rng = np.random.default_rng(seed)
    small = X.astype(np.float32)
    splits = int(y.max())
    ensembles = [
        _one_split(small, (y > r).astype(np.intp), rounds, leaves, boosted, rng)
        for r in range(splits)
    ]

    def rank(new: np.ndarray) -> np.ndarray:
        few = new.astype(np.float32)
        above = np.column_stack([_vote(ensemble, few) for ensemble in ensembles])
        r = np.arange(1, splits + 1)
        scores = np.zeros((len(new), splits + 1))
        for j in range(1, splits + 2):
            scores[:, j - 1] = np.where(
                r >= j, (1 - above) / r, above / (splits + 1 - r)
            ).sum(axis=1)
        return scores.argmax(axis=1)

    return rank


def _one_split(
    X: np.ndarray,
    side: np.ndarray,
    rounds: int,
    leaves: int,
    boosted: bool,
    rng: np.random.Generator,
):  # type: ignore[no-untyped-def]
    """(vote, tree) of every round."""
    from sklearn.tree import DecisionTreeClassifier

    n = len(side)
    collected = []
    w = np.full(n, 1 / n)
    for _ in range(rounds):
        counts = np.bincount(rng.choice(n, n, p=w), minlength=n).astype(float)
        tree = DecisionTreeClassifier(
            criterion="log_loss", max_leaf_nodes=leaves, random_state=0
        )
        tree.fit(X, side, sample_weight=counts, check_input=False)
        vote = 1.0
        if boosted:
            wrong = tree.predict(X, check_input=False) != side
            error = w @ wrong
            vote = np.log((1 - error) / (error + 1 / n))
            if vote <= 0:
                break
            w = w * np.exp(vote * wrong)
            w /= w.sum()
        collected.append((vote, tree))
    return collected


def _vote(ensemble, X: np.ndarray) -> np.ndarray:  # type: ignore[no-untyped-def]
    total = sum(
        vote * (2 * tree.predict(X, check_input=False) - 1) for vote, tree in ensemble
    )
    return (total > 0).astype(float)
