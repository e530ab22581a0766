"""Fits in eight threads at once are those of one thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

from ordstat import ordfit
from ordstat.threads import one_blas_thread

RNG = np.random.default_rng(3)
DATA = pd.DataFrame(RNG.normal(size=(400, 3)), columns=["a", "b", "c"]).assign(
    g=RNG.integers(0, 25, 400)
)
DATA["y"] = np.digitize(
    DATA.a - DATA.b + RNG.normal(size=25)[DATA.g] + RNG.logistic(size=400), [-1, 0, 1.5]
)
CASES = {
    "clm": ("y ~ a * b + C(g > 9)", "clm", {}),
    "mixed": ("y ~ a + b + (1 | g)", "clm", {"quadrature": 5}),
    "redsvm": ("y ~ a + b + c", "redsvm", {}),
    "cv": ("y ~ a + b", "redsvm", {"C": [0.1, 1.0, 10.0], "n_jobs": 2}),
    "landmarks": ("y ~ a + b + c", "svor-exc", {"landmarks": 50}),
    "cvxpy": ("y ~ a", "redsvm", {"solver": "cvxpy"}),
    "orboost": ("y ~ a + b + c", "orboost-all", {"rounds": 20}),
    "online": ("y ~ a + b + c", "prank", {}),
    "ordboost": ("y ~ a + b + c", "ordboost", {"rounds": 20, "depth": 3, "n_jobs": 2}),
    "tree": ("y ~ a + b + c", "cart", {}),
    "bagging": ("y ~ a + b + c", "bagging", {"rounds": 5, "n_jobs": 2}),
    "reduction": ("y ~ a + b", "reduction", {"base": "logistic"}),
}


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CASES)
def test_eight_threads_are_one(name):
    formula, method, options = CASES[name]
    # cvxpy takes 0.3 s for all rows
    rows = DATA.head(180) if name == "cvxpy" else DATA
    calls = [(seed, rows.iloc[seed * 10 :]) for seed in range(8)]

    def scores(call):
        seed, frame = call
        return ordfit(formula, frame, method, seed=seed, **options).fit.scores

    alone = list(map(scores, calls))
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(scores, calls))
    # BLAS may round otherwise on another number of threads
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def test_the_number_of_blas_threads_is_set_back_by_the_last():
    def threads():
        return [
            library["num_threads"]
            for library in threadpool_info()
            if library["user_api"] == "blas"
        ]

    before = threads()
    first = one_blas_thread()
    second = one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(threads()) == {1}
    second.__exit__(None, None, None)
    assert threads() == before
