"""Online rankers at p = 20, K = 5: examples a second of a pass and of batches, beside scikit-learn's SGDClassifier.

What it should reach: 1.5e7 examples a second of a pass, and ten times scikit-learn's partial_fit.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.data import linear_utility
from benchmarks.timing import Timed, ratio, rounds
from ordstat import CuSumRank, OrdinalClassifier, PRank
from ordstat.methods.base_online import OnlineMethod
from ordstat.model.costs import CostMatrix
from ordstat.model.examples import Examples
from ordstat.model.sample import Rows, Sample
from ordstat.model.scaling import fit_scaling
from ordstat.solvers.online import Batch, CuSumState, Learner, PRankState

P, K = 20, 5
ONCE: dict[str, Any] = {"epochs": 1, "scaling": None, "presentation": "order"}
METHODS: dict[str, OnlineMethod] = {
    "prank": PRank(**ONCE),
    "cusum": CuSumRank(**ONCE),
    "pa-cusum": CuSumRank(update="passive-aggressive", **ONCE),
}
BATCHES = (1_000, 10_000, 100_000)

#: A first and a second fit in a process of their own; seconds as JSON.
FRESH = """
import json, time
start = time.perf_counter()
import numpy as np
from benchmarks.data import linear_utility
from ordstat import CuSumRank
from ordstat.model.sample import Rows, Sample
X, y = linear_utility({n}, {P}, {K})
sample = Sample(rows=Rows(X=X), y=y, n_levels={K})
taken = [time.perf_counter() - start]
for _ in range(2):
    start = time.perf_counter()
    CuSumRank(epochs=1, scaling=None, presentation="order").fit(sample, np.random.default_rng(0))
    taken.append(time.perf_counter() - start)
print(json.dumps(taken))
"""


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a way of learning and contestant: the fastest of five rounds, "over cusum" the median of their ratios."""
    n = 100_000 if quick else 1_000_000
    X, y = linear_utility(n, P, K)
    shown: list[dict[str, object]] = []
    for batch in (None, *(size for size in BATCHES if size <= n)):
        field = [*_passes(X, y), *_fits(X, y)] if batch is None else [*_batches(X, y, batch), _sgd(X, y, batch)]
        taken = rounds(list(field), 5)
        way = "one pass" if batch is None else f"partial_fit of {batch} rows"
        shown += [
            {"way": way, "contestant": c.name, "examples": n, "seconds": min(taken[c.name]),
             "examples a second": n / min(taken[c.name]),
             "over cusum": ratio(taken, c.name, "cusum")}
            for c in field
        ]  # fmt: skip
    return shown + _first_fit(n)


def _passes(X: np.ndarray, y: np.ndarray) -> list[Timed]:
    """The compiled pass over rows that are ready for it, going on from one call to the next."""
    examples = Examples.as_given(Sample(rows=Rows(X=X), y=y, n_levels=K), CostMatrix.absolute())
    batch = Batch.for_passes(examples, fit_scaling(None, X, examples.weights), 0.0)
    learners: dict[str, Learner] = {
        "prank": PRankState.start(P, K, False),
        "cusum": CuSumState.start(P, K, False),
        "pa-cusum": CuSumState.start(P, K, True),
    }
    order = np.arange(len(y))
    return [Timed(name, partial(learner.learn, batch, order)) for name, learner in learners.items()]


def _fits(X: np.ndarray, y: np.ndarray) -> list[Timed]:
    """A whole fit of one pass: checks, costs, tallies and the rows' own scores too."""
    sample = Sample(rows=Rows(X=X), y=y, n_levels=K)

    def fitting(method: OnlineMethod) -> Callable[[], object]:
        return lambda: method.fit(sample, np.random.default_rng(0))

    return [Timed(f"{name}, whole fit", fitting(method)) for name, method in METHODS.items()]


def _batches(X: np.ndarray, y: np.ndarray, size: int) -> list[Timed]:
    """`partial_fit` of the scikit-learn adapter."""

    def learning(name: str) -> Callable[[], object]:
        def learn() -> object:
            model = OrdinalClassifier(name, scaling=None, presentation="order")
            for start in range(0, len(y), size):
                model.partial_fit(X[start : start + size], y[start : start + size])
            return model

        return learn

    return [Timed(name, learning(name)) for name in METHODS]


def _sgd(X: np.ndarray, y: np.ndarray, size: int) -> Timed:
    """scikit-learn's averaged perceptrons, one a level."""
    from sklearn.linear_model import SGDClassifier

    def learn() -> object:
        model = SGDClassifier(loss="perceptron", average=True, learning_rate="constant", eta0=1.0, penalty=None)
        for start in range(0, len(y), size):
            model.partial_fit(X[start : start + size], y[start : start + size], classes=np.arange(K))
        return model

    return Timed("scikit-learn SGDClassifier", learn)


def _first_fit(n: int) -> list[dict[str, object]]:
    code = FRESH.format(n=n, P=P, K=K)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    names = ("imports and data", "first fit", "second fit")
    return [
        {"way": "fresh process", "contestant": f"cusum: {name}", "examples": n, "seconds": seconds,
         "examples a second": np.nan if "data" in name else n / seconds}
        for name, seconds in zip(names, json.loads(done.stdout), strict=True)
    ]  # fmt: skip
