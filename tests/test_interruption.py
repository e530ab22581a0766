"""Ctrl-C ends a fit, kill -9 loses no file, a full disk is an error: each in a process
to which it happens.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from ordstat import load, ordfit
from ordstat.prediction import ordboost

FIT = """
import numpy as np, pandas as pd, ordstat
rng = np.random.default_rng(0)
X = rng.normal(size=({n}, 12))
latent = X @ rng.normal(size=12) + np.sin(3 * X[:, 0]) + rng.logistic(size={n})
d = pd.DataFrame(X, columns=list("abcdefhijklm"))
d["y"], d["g"] = np.digitize(latent, [-4, -1, 1, 4]), rng.integers(0, {n} // 20, {n})
formula = "y ~ a + b + c + d + e + f + h + i + j + k + l + m" + {more!r}
ordstat.ordfit(formula, d[:300], {method!r})  # imports what the fit needs
print("ready", flush=True)
try:
    ordstat.ordfit(formula, d, {method!r}, **{options})
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
#: Fits of many seconds: rows, further terms, method, options.
CASES = {
    "redsvm": (5000, "", "redsvm", {"C": 1e4, "tol": 1e-10, "solver": "coordinate"}),
    "folds in threads": (10_000, "", "redsvm", {"C": "cv", "tol": 1e-10, "n_jobs": 2}),
    "mixed": (400_000, " + (1 | g)", "clm", {"quadrature": 31}),
    "ordboost": (200_000, "", "ordboost", {"rounds": 100_000, "depth": 6, "n_jobs": 2}),
    "orboost": (200_000, "", "orboost-all", {"rounds": 10_000}),
    "trees": (300_000, "", "bagging", {"rounds": 1000}),
    "online": (300_000, "", "prank", {"epochs": 10_000}),
}


def _started(program):
    # 2 may be ignored
    command = (
        "import signal; signal.signal(2, signal.default_int_handler);"
        f" exec({program!r})"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", command], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize(
    "name",
    [
        (
            case
            if case in ("redsvm", "ordboost", "online")
            else pytest.param(case, marks=pytest.mark.slow)
        )
        for case in CASES
    ],
)
def test_ctrl_c_ends_a_fit(name):
    n, more, method, options = CASES[name]
    process = _started(FIT.format(n=n, more=more, method=method, options=options))
    time.sleep(2.5)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - begun < 2.0
    assert process.wait(timeout=10) == 0


def test_ctrl_c_while_threads_pass_over_the_rows(monkeypatch):
    begun = []

    @contextmanager
    def team_of(n_jobs):
        def team(task, arguments):
            begun.extend((task, given) for given in arguments)
            raise KeyboardInterrupt

        yield team

    monkeypatch.setattr(ordboost, "team_of", team_of)
    rng = np.random.default_rng(3)
    d = pd.DataFrame({"x": rng.normal(size=40_000), "y": rng.integers(0, 3, 40_000)})
    with pytest.raises(KeyboardInterrupt):
        ordfit("y ~ x", d, "ordboost", rounds=5)
    assert len(begun) == 2
    for task, given in begun:  # they read and write memory that is still theirs
        task(*given)


@pytest.mark.slow
def test_ctrl_c_ends_the_processes_of_joblib():
    process = _started(BOOTSTRAP)
    time.sleep(6.0)
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
        children = file.read().split()
    process.send_signal(signal.SIGINT)
    process.wait(timeout=10)
    time.sleep(1.0)
    assert children and not [
        child for child in children if os.path.exists(f"/proc/{child}/exe")
    ]


BOOTSTRAP = """
import ordstat
fit = ordstat.ordfit("rating ~ temp * contact", ordstat.datasets.load("wine"))
print("ready", flush=True)
fit.bootstrap(20_000, n_jobs=2)
"""
SAVE = """
import ordstat
fit = ordstat.ordfit("rating ~ temp + contact", ordstat.datasets.load("wine"))
fit.save({path!r})
print("ready", flush=True)
"""


def test_a_process_killed_while_it_saves(tmp_path):
    path = str(tmp_path / "wine.ordstat")
    process = _started(SAVE.format(path=path) + f"while True: fit.save({path!r})")
    for _ in range(5):
        time.sleep(0.037)
        # at any time it is whole
        assert load(path).formula == "rating ~ temp + contact"
    process.kill()
    process.wait()
    assert load(path).formula == "rating ~ temp + contact"


def test_a_file_that_outgrows_its_limit(tmp_path):
    path = str(tmp_path / "wine.ordstat")
    limit = f"""
import resource
most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, most))
try:
    fit.save({path!r})
except ordstat.DataError as error:
    print(error)
"""
    process = _started(SAVE.format(path=path) + limit)
    assert process.communicate()[0] == f"{path} cannot be written: File too large.\n"
    assert (
        os.listdir(tmp_path) == ["wine.ordstat"]
        and load(path).formula == "rating ~ temp + contact"
    )
