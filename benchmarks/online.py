"""Online rankers at p = 20, K = 5: examples a second of a pass and of batches, beside
scikit-learn's SGDClassifier.

What it should reach: 1.5e7 examples a second of a pass, and ten times scikit-learn's
partial_fit. A first batch and the later ones are timed apart, for levels and scale are
settled in the first.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data import linear_utility
from benchmarks.timing import Timed, ratio, rounds
from ordstat import CuSumRank, OrdinalClassifier, PRank, ordfit
from ordstat.formula.sample import Rows, Sample
from ordstat.formula.scaling import fit_scaling
from ordstat.judging.costs import CostMatrix
from ordstat.online.online import OnlineMethod
from ordstat.online.perceptron import Examples

P = 20
K = 5
ONCE: dict[str, Any] = {"epochs": 1, "scaling": None, "presentation": "order"}
METHODS: dict[str, OnlineMethod] = {
    "prank": PRank(**ONCE),
    "cusum": CuSumRank(**ONCE),
    "pa-cusum": CuSumRank(update="passive-aggressive", **ONCE),
}
BATCHES = (1_000, 10_000, 100_000)
SGD = "scikit-learn SGDClassifier"

#: A first and a second fit in a process of their own; seconds as JSON.
FRESH = """
import json, time
start = time.perf_counter()
import numpy as np
from benchmarks.data import linear_utility
from ordstat import CuSumRank
from ordstat.formula.sample import Rows, Sample
X, y = linear_utility({n}, {P}, {K})
sample = Sample(rows=Rows(X=X), y=y, n_levels={K})
taken = [time.perf_counter() - start]
for _ in range(2):
    start = time.perf_counter()
    method = CuSumRank(epochs=1, scaling=None, presentation="order")
    method.fit(sample, np.random.default_rng(0))
    taken.append(time.perf_counter() - start)
print(json.dumps(taken))
"""


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a way of learning and contestant: the fastest of five rounds, "over
    cusum" the median of their ratios.
    """
    n = 100_000 if quick else 1_000_000
    X, y = linear_utility(n, P, K)
    ways: list[tuple[str, int, list[Timed]]] = [
        ("one pass", n, [*_passes(X, y), *_fits(X, y)])
    ]
    for size in BATCHES:
        ways += [
            (
                f"partial_fit, first batch, {size} rows",
                size,
                _first_batches(X[:size], y[:size]),
            ),
            (
                f"partial_fit, later batches of {size} rows",
                n,
                _later_batches(X, y, size),
            ),
            (f"partial_fit, later frames of {size} rows", n, _later_frames(X, y, size)),
        ]
    shown: list[dict[str, object]] = []
    for way, examples, field in ways:
        taken = rounds(list(field), 5)
        shown += [
            {
                "way": way,
                "contestant": c.name,
                "examples": examples,
                "seconds": min(taken[c.name]),
                "examples a second": examples / min(taken[c.name]),
                "over cusum": ratio(taken, c.name, "cusum"),
            }
            for c in field
        ]
    return shown + _first_fit(n)


def _passes(X: np.ndarray, y: np.ndarray) -> list[Timed]:
    """The compiled pass over rows that are ready for it, going on from one call to the
    next.
    """
    examples = Examples.as_given(
        Sample(rows=Rows(X=X), y=y, n_levels=K), CostMatrix.absolute()
    )
    scaling = fit_scaling(None, X, examples.weights)
    order = np.arange(len(y))
    return [
        Timed(name, partial(method.learner(examples, scaling).learn, order))
        for name, method in METHODS.items()
    ]


def _fits(X: np.ndarray, y: np.ndarray) -> list[Timed]:
    """A whole fit of one pass: checks, costs, tallies and the rows' own scores too."""
    sample = Sample(rows=Rows(X=X), y=y, n_levels=K)

    def fitting(method: OnlineMethod) -> Callable[[], object]:
        return lambda: method.fit(sample, np.random.default_rng(0))

    return [
        Timed(f"{name}, whole fit", fitting(method)) for name, method in METHODS.items()
    ]


def _first_batches(X: np.ndarray, y: np.ndarray) -> list[Timed]:
    """`partial_fit` of new models, where levels and scale are settled."""
    return [
        *(
            Timed(name, partial(lambda name: _ranker(name).partial_fit(X, y), name))
            for name in METHODS
        ),
        Timed(SGD, lambda: _sgd().partial_fit(X, y, classes=np.arange(K))),
    ]


def _later_batches(X: np.ndarray, y: np.ndarray, size: int) -> list[Timed]:
    """`partial_fit` of batches by models that had one before."""
    batches = [
        (X[start : start + size], y[start : start + size])
        for start in range(0, len(y), size)
    ]

    def learning(model: Any) -> Callable[[], object]:
        return lambda: [model.partial_fit(*batch) for batch in batches]

    rankers = [
        Timed(name, learning(_ranker(name).partial_fit(*batches[0])))
        for name in METHODS
    ]
    return [
        *rankers,
        Timed(SGD, learning(_sgd().partial_fit(*batches[0], classes=np.arange(K)))),
    ]


def _later_frames(X: np.ndarray, y: np.ndarray, size: int) -> list[Timed]:
    """`partial_fit` of an iterator of frames by fits to a frame before; of their
    columns, one after another, by SGD.
    """
    names = [f"x{j}" for j in range(P)]
    whole = pd.DataFrame(X, columns=names).assign(y=y)
    frames = [
        whole.iloc[start : start + size].copy() for start in range(0, len(y), size)
    ]
    formula = f"y ~ {' + '.join(names)}"

    def ranker(name: str) -> Callable[[], object]:
        results = ordfit(formula, frames[0], METHODS[name])
        return lambda: results.partial_fit(iter(frames))

    model = _sgd().partial_fit(frames[0][names], frames[0]["y"], classes=np.arange(K))
    return [
        *(Timed(name, ranker(name)) for name in METHODS),
        Timed(
            SGD,
            lambda: [model.partial_fit(frame[names], frame["y"]) for frame in frames],
        ),
    ]


def _ranker(name: str) -> OrdinalClassifier:
    return OrdinalClassifier(name, scaling=None, presentation="order")


def _sgd() -> Any:
    """scikit-learn's averaged perceptrons, one a level."""
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(
        loss="perceptron",
        average=True,
        learning_rate="constant",
        eta0=1.0,
        penalty=None,
    )


def _first_fit(n: int) -> list[dict[str, object]]:
    code = FRESH.format(n=n, P=P, K=K)
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    names = ("imports and data", "first fit", "second fit")
    return [
        {
            "way": "fresh process",
            "contestant": f"cusum: {name}",
            "examples": n,
            "seconds": seconds,
            "examples a second": np.nan if "data" in name else n / seconds,
        }
        for name, seconds in zip(names, json.loads(done.stdout), strict=True)
    ]
