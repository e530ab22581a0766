"""Paths of the lasso: seconds of the processor, least of five, and the certificate of
every point; cross-validation once.

R's ordinalNet, where it is installed, is timed in turn with the same lambdas of ours,
on the same rows, medians of some rounds: 20 lambdas at its defaults. Both paths are
then put into one objective, computed here.
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from benchmarks.contestants import r_clm
from benchmarks.contestants.r_asked import RAnswers, RJob
from benchmarks.timing import Timed, ratio, rounds
from ordstat import ElasticNet, ordfit

#: Rows, columns, levels.
CASES = ((200, 20, 4), (1_000, 100, 5), (10_000, 50, 5), (500, 1_000, 5))
#: Rows -> rounds beside ordinalNet, which takes too long for the last case.
ROUNDS = {200: 9, 1_000: 3, 10_000: 2}
_LAMBDAS = (20, 100)
_FOLDS = 10
_REPEATS = 5
_SCRIPT = Path(__file__).parent / "contestants" / "penalised.R"


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
    """A row for each size and number of lambdas, one for cross-validation, and one for
    each size beside ordinalNet.
    """
    rows: list[dict[str, object]] = []
    cases = CASES[:2] if quick else CASES
    for case in cases:
        frame = correlated(*case)
        for count in _LAMBDAS:
            rows.append(_timed(frame, ElasticNet(n_lambdas=count)))
    if not quick:
        rows.append(_timed(correlated(10_000, 50, 5), ElasticNet(cv=_FOLDS)))
    if not r_clm.has("ordinalNet"):
        print("Rscript with the package ordinalNet is not here: it has no rows.")
        return rows
    return rows + [_beside(correlated(*case)) for case in cases if case[0] in ROUNDS]


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


def _beside(frame: pd.DataFrame) -> dict[str, object]:
    """Seconds of both, their largest difference of a coefficient, and their objectives
    at the smallest lambda; `margin` is the least over lambdas of ordinalNet's
    objective minus ours.
    """
    first = ordfit("y ~ .", frame, penalty=ElasticNet(n_lambdas=1))
    lambdas = first.lambda_ * 0.01 ** np.linspace(0.0, 1.0, 20)
    net = ElasticNet(lambdas=lambdas)
    ours = Timed(
        "ordstat",
        lambda: ordfit("y ~ .", frame, penalty=net),
        clock=time.process_time,
    )
    answers = RAnswers({"rows": frame}, _SCRIPT)
    theirs = RJob("ordinalNet", "path", answers)
    taken = rounds([ours, theirs], ROUNDS[len(frame)], at_least=0.1)
    answers.close()
    fit = ordfit("y ~ .", frame, penalty=net)
    path = theirs.numbers.reshape(lambdas.size, -1)
    np.testing.assert_allclose(path[:, 0], lambdas, rtol=1e-8)
    of_r = path[:, 1:].copy()
    of_r[:, first.thresholds.size :] *= -1.0  # ordinalNet adds what we subtract
    coef = fit.path_coef.to_numpy()
    reached = _objectives(frame, lambdas, coef)
    r_reached = _objectives(frame, lambdas, of_r)
    return {
        "n": len(frame),
        "p": frame.shape[1] - 1,
        "lambdas": lambdas.size,
        "points": len(coef),
        "seconds": median(taken["ordstat"]),
        "kkt": float(fit.path["kkt"].max()),
        "ordinalNet": median(taken["ordinalNet"]),
        "over ordstat": ratio(taken, "ordinalNet", "ordstat"),
        "difference": np.abs(coef - of_r).max(),
        "objective": f"{reached[-1]:.10f}",
        "of ordinalNet": f"{r_reached[-1]:.10f}",
        "margin": (r_reached - reached).min(),
    }


def _objectives(
    frame: pd.DataFrame, lambdas: np.ndarray, path: np.ndarray
) -> np.ndarray:
    """-loglik / N + lambda sum_j sd_j |b_j| of a cumulative logit for each lambda, at
    its thresholds and coefficients, a row of `path`.
    """
    X = frame.drop(columns="y").to_numpy()
    y = frame["y"].to_numpy()[:, None]
    found = []
    for lam, parameters in zip(lambdas, path, strict=True):
        theta, b = np.split(parameters, [parameters.size - X.shape[1]])
        below = 1.0 / (1.0 + np.exp(np.subtract.outer(X @ b, theta)))
        p = np.diff(below, prepend=0.0, append=1.0, axis=1)
        losses = -np.log(np.take_along_axis(p, y, axis=1))
        found.append(losses.mean() + lam * (X.std(axis=0) @ np.abs(b)))
    return np.array(found)
