"""Paths of the lasso: seconds of the processor, least of five, and the certificate of
every point; cross-validation once.

R's ordinalNet (2.14, default tolerance, 20 lambdas) took 0.46 s, 4.4 s and 24.5 s on
rows and columns of the first three sizes, in another run on another day: it is not
timed here.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from ordstat import ElasticNet, ordfit

#: Rows, columns, levels.
CASES = ((200, 20, 4), (1_000, 100, 5), (10_000, 50, 5), (500, 1_000, 5))
_LAMBDAS = (20, 100)
_FOLDS = 10
_REPEATS = 5


def correlated(n: int, p: int, levels: int, seed: int = 0) -> pd.DataFrame:
    """Columns of which neighbours have correlation 0.5, ten of them with effects."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    effects = np.linspace(1.0, 0.2, 10) * np.tile([1.0, -1.0], 5)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    frame["y"] = pd.qcut(X[:, :10] @ effects + rng.logistic(size=n), levels, False)
    return frame


def run(quick: bool = False) -> list[dict[str, object]]:
    """A row for each size and number of lambdas, and one for cross-validation."""
    rows: list[dict[str, object]] = []
    for n, p, levels in CASES[:2] if quick else CASES:
        frame = correlated(n, p, levels)
        for count in _LAMBDAS:
            rows.append(_timed(frame, ElasticNet(n_lambdas=count)))
    if not quick:
        rows.append(_timed(correlated(10_000, 50, 5), ElasticNet(cv=_FOLDS)))
    return rows


def _timed(frame: pd.DataFrame, net: ElasticNet) -> dict[str, object]:
    taken = []
    for _ in range(1 if net.cv else _REPEATS):
        began = time.process_time()
        fit = ordfit("y ~ .", frame, penalty=net)
        taken.append(time.process_time() - began)
    return {
        "n": len(frame),
        "p": frame.shape[1] - 1,
        "lambdas": net.n_lambdas,
        "folds": net.cv or 0,
        "points": len(fit.path),
        "seconds": min(taken),
        "kkt": float(fit.path["kkt"].max()),
    }
