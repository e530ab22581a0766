"""Forests of scikit-learn's regression trees on the indicators [y > k]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..model.row_blocks import row_blocks
from ..model.sample import Rows
from .classifier import sklearn_model

_LARGEST_SEED = 2**31 - 1
#: scikit-learn's classes, by how a cut is found.
KINDS = {"random": "ExtraTreesRegressor", "best": "RandomForestRegressor"}


@dataclass(frozen=True, eq=False)
class ForestShares:
    """P(y > k) as the mean of the leaves' shares.

    Attributes
    ----------
    model : scikit-learn forest of K-1 targets
    n_levels : int
    middle, half : (D,)
        The columns are used as (x - middle) / half, within [-1, 1] in the rows of the fit: scikit-learn keeps single
        precision, and takes steps below 1e-7 for none.
    """

    model: Any
    n_levels: int
    middle: FloatArray
    half: FloatArray

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1), not growing with k but for rounding."""
        out = np.empty((rows.n, self.n_levels - 1))
        for some in row_blocks(rows.n, self.n_levels):
            out[some] = self._shares(padded(self.scaled(rows.X[some])))
        return out

    def scaled(self, X: FloatArray) -> FloatArray:
        """Columns on [-1, 1]; rows beyond those of the fit stay beyond them."""
        return np.clip((X - self.middle) / self.half, -2.0, 2.0)

    def _shares(self, X: FloatArray) -> FloatArray:
        # The sum of the forest's own predict, without what scikit-learn looks up anew for every tree.
        narrow, trees = X.astype(np.float32), self.model.estimators_
        total = np.zeros((len(X), self.n_levels - 1))
        for tree in trees:
            total += tree.tree_.predict(narrow).reshape(total.shape)
        return np.minimum.accumulate(np.clip(total / len(trees), 0.0, 1.0), axis=1) + 0.0

    def importance(self, n_columns: int) -> FloatArray:
        """(D,) share of the fall of the ranked probability score due to the cuts of every column."""
        return np.asarray(self.model.feature_importances_[:n_columns], dtype=np.float64)


def padded(X: FloatArray) -> FloatArray:
    """X, or a column of zeros where there is none: scikit-learn takes no table without columns."""
    return X if X.shape[1] else np.zeros((len(X), 1))


@dataclass(frozen=True, kw_only=True)
class ForestSettings:
    """How the trees are grown.

    Attributes
    ----------
    splits : {"random", "best"}
    trees : int
    column_share : float
    min_leaf : int
        Rows of a leaf at least.
    bootstrap : bool
    n_jobs : int
    """

    splits: str
    trees: int
    column_share: float
    min_leaf: int
    bootstrap: bool
    n_jobs: int

    def grow(
        self, X: FloatArray, y: IntArray, weights: FloatArray, n_levels: int, rng: np.random.Generator
    ) -> tuple[ForestShares, FloatArray | None]:
        """The forest of rows X (N, D) with ranks y (N,), and the out-of-bag P(y > k) (N, K-1), NaN of rows never out.

        None where no samples are drawn.
        """
        targets = (y[:, None] > np.arange(n_levels - 1)).astype(np.float64)
        model = sklearn_model(
            "ensemble",
            KINDS[self.splits],
            n_estimators=self.trees,
            max_features=max(1, round(self.column_share * X.shape[1])),
            min_samples_leaf=self.min_leaf,
            bootstrap=self.bootstrap,
            n_jobs=self.n_jobs,
            random_state=int(rng.integers(_LARGEST_SEED)),
        )
        own = None if (weights == 1.0).all() else weights
        low, high = (end(X, axis=0) if len(X) else np.zeros(X.shape[1]) for end in (np.min, np.max))
        half = np.maximum(0.5 * high - 0.5 * low, np.finfo(np.float64).tiny)
        shares = ForestShares(model, n_levels, 0.5 * low + 0.5 * high, half)
        X = padded(shares.scaled(X))
        model.fit(X, targets if n_levels > 2 else targets[:, 0], sample_weight=own)
        # Sums over threads would round in an order of their own.
        model.n_jobs = 1
        return shares, _out_of_bag(model, X, targets.shape[1]) if self.bootstrap else None


def _out_of_bag(model: Any, X: FloatArray, width: int) -> FloatArray:
    """(N, K-1) means over the trees whose samples a row was not drawn into."""
    total, times = np.zeros((len(X), width)), np.zeros(len(X))
    narrow = X.astype(np.float32)
    for tree, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.ones(len(X), dtype=np.bool_)
        out[drawn] = False
        total[out] += tree.tree_.predict(narrow[out]).reshape(-1, width)
        times += out
    with np.errstate(invalid="ignore"):
        return np.asarray(total / times[:, None])
