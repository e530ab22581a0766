"""Fits in eight threads at once are those of one thread, and what belongs to the
process is as before.
"""

import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Lock

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ordstat import compare, ordfit
from ordstat.threads import SILENT, _Shared, one_blas_thread, one_openmp_thread

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


def threads_of(user_api):
    return [
        library["num_threads"]
        for library in threadpool_info()
        if library["user_api"] == user_api
    ]


@pytest.mark.parametrize(
    "user_api, one_thread",
    [("blas", one_blas_thread), ("openmp", lambda: one_openmp_thread(9))],
)
def test_the_number_of_threads_is_set_back_by_the_last(user_api, one_thread):
    import_module("sklearn.ensemble")  # which has OpenMP
    with threadpool_limits(2, user_api=user_api):
        before = threads_of(user_api)
        assert max(before) == 2
        first = one_thread()
        second = one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(threads_of(user_api)) == {1}
        second.__exit__(None, None, None)
        assert threads_of(user_api) == before


def test_the_filters_of_warnings_are_set_back_by_the_last():
    before = list(warnings.filters)
    SILENT.__enter__()
    SILENT.__enter__()
    SILENT.__exit__(None, None, None)
    warnings.warn("is not seen", UserWarning, stacklevel=1)
    SILENT.__exit__(None, None, None)
    assert warnings.filters == before


def test_comparisons_in_four_threads_leave_the_filters_of_warnings():
    before = list(warnings.filters)

    def losses(seed):
        found = compare("y ~ a", DATA, methods=["logit", "probit"], cv=5, seed=seed)
        return found.values

    alone = [losses(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(losses, range(8)))
    assert warnings.filters == before
    np.testing.assert_allclose(together, alone, rtol=1e-12)


@pytest.mark.parametrize("when", ["changing", "setting back"])
def test_ctrl_c_while_a_state_changes_leaves_it(when):
    state = [2]
    calls = []

    def interrupted_once(value, now):
        state[0] = None
        calls.append(now)
        if now == when and calls.count(now) == 1:
            raise KeyboardInterrupt
        state[0] = value

    one = _Shared(
        lambda: interrupted_once(1, "changing"),
        lambda: lambda: interrupted_once(2, "setting back"),
        Lock(),
    )
    with pytest.raises(KeyboardInterrupt), one:
        pass
    assert state == [2]
    with one:
        assert state == [1]
    assert state == [2]
