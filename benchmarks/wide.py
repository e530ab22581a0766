"""Sparse and wide rows, such as reviews as weighted words: seconds of the processor and
peak memory of a fit, as ratios to scikit-learn's LogisticRegression on the same rows.

Each fit has a process of its own, whose peak memory is that of Python, the data and
the fit; `memory` is what the fit added to the rest.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordstat import ElasticNet, OrdinalClassifier

#: Rows and columns.
CASES = ((1_000, 10_000), (3_000, 50_000))
_LEVELS = 5
#: Words of a text, and how many of them tell of the rating.
_WORDS = 120
_TELLING = 300
_LASSO = 0.03
#: Sweeps of the peer of the lasso, which may not converge.
_SWEEPS = 200


def texts(n: int, p: int, seed: int = 0) -> tuple[csr_array, np.ndarray]:
    """Weighted counts of words whose frequencies fall as 1 / rank, each row of length
    1, and ratings 0..4 that some of the words raise or lower.
    """
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, p + 1)
    words = rng.choice(p, size=n * _WORDS, p=shares / shares.sum())
    rows = np.repeat(np.arange(n), _WORDS)
    counts = csr_array((np.ones(words.size), (rows, words)), shape=(n, p))
    documents = np.bincount(counts.indices, minlength=p)
    counts.data *= np.log((1 + n) / (1 + documents))[counts.indices] + 1.0
    lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
    X = csr_array(counts.multiply(1.0 / lengths[:, None]))
    X.indices = X.indices.astype(np.int32)  # as scikit-learn needs them
    X.indptr = X.indptr.astype(np.int32)
    effects = np.zeros(p)
    effects[20 : 20 + _TELLING] = rng.standard_normal(_TELLING) * 8.0
    score = X @ effects
    latent = (score - score.mean()) / score.std() * 2.0 + rng.logistic(size=n)
    return X, pd.qcut(latent, _LEVELS, labels=False)


def _ridge() -> Any:
    return OrdinalClassifier("logit", penalty=1.0)


def _ridge_peer() -> Any:
    return _scaled(LogisticRegression(max_iter=1_000))


def _lasso() -> Any:
    return OrdinalClassifier("logit", penalty=ElasticNet(lambdas=_LASSO))


def _lasso_peer(n: int) -> Any:
    C = 1.0 / (n * _LASSO)
    lasso = LogisticRegression(l1_ratio=1.0, C=C, solver="saga", max_iter=_SWEEPS)
    return _scaled(lasso)


def _linear_svm(method: str) -> Callable[[], Any]:
    return partial(OrdinalClassifier, method, kernel="linear")


def _reduction() -> Any:
    return OrdinalClassifier("reduction")


def _scaled(peer: Any) -> Any:
    """Columns divided by their deviations, as ordstat does."""
    return make_pipeline(StandardScaler(with_mean=False), peer)


#: Model, its peer, and whether the peer's options depend on the number of rows.
PAIRS: dict[str, tuple[Callable[[], Any], Callable[..., Any], bool]] = {
    "ridge": (_ridge, _ridge_peer, False),
    "lasso": (_lasso, _lasso_peer, True),
    "redsvm": (_linear_svm("redsvm"), _ridge_peer, False),
    "svor-imc": (_linear_svm("svor-imc"), _ridge_peer, False),
    "reduction": (_reduction, _ridge_peer, False),
}


def _peak() -> float:
    """MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def _measured(name: str, peer: bool, n: int, p: int) -> dict[str, float]:
    """Seconds, MiB before and after, certificate and accuracy on new rows."""
    model, other, by_rows = PAIRS[name]
    if not peer:
        fitted = model()
    elif by_rows:
        fitted = other(n)
    else:
        fitted = other()
    X, y = texts(2 * n, p)
    before = _peak()
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted.fit(X[:n], y[:n])
    seconds = time.process_time() - began
    certificate = np.nan
    if not peer:
        certificate = fitted.results_.fit.certificate.value
    error = float(np.abs(fitted.predict(X[n:]) - y[n:]).mean())
    return {
        "seconds": seconds,
        "peak": _peak(),
        "added": _peak() - before,
        "certificate": certificate,
        "error": error,
    }


def run(quick: bool = False) -> list[dict[str, object]]:
    """A row for each size and model."""
    rows: list[dict[str, object]] = []
    for n, p in CASES[:1] if quick else CASES:
        for name in PAIRS:
            with multiprocessing.get_context("spawn").Pool(
                1, maxtasksperchild=1
            ) as one:
                own = one.apply(_measured, (name, False, n, p))
                peer = one.apply(_measured, (name, True, n, p))
            rows.append(
                {
                    "model": name,
                    "n": n,
                    "p": p,
                    "seconds": own["seconds"],
                    "sklearn_seconds": peer["seconds"],
                    "ratio": own["seconds"] / peer["seconds"],
                    "peak_mib": own["peak"],
                    "sklearn_peak_mib": peer["peak"],
                    "memory_ratio": own["peak"] / peer["peak"],
                    "certificate": own["certificate"],
                    "error": own["error"],
                    "sklearn_error": peer["error"],
                }
            )
    return rows
