"""When `blend` of few rows uses one default member alone: the number of standard errors
by which it must lead, on data of neither the leaderboard nor TOC-UCO.

Generated problems, drawn before any fit: a latent response that is linear, a sum of
curves, a product, a tree, or radial in numbers and small integers, with noise, cut into
3 to 7 levels; and the public sets of two levels in the folder that the variable
ORDSTAT_BENCHMARKS names.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.reproduce.data import FOLDER
from ordstat import Blend
from ordstat.formula.sample import Rows, Sample
from ordstat.prediction.blend import fitted_member, held_out_by, settled_method

PROBLEMS = 100
_TEST_ROWS = 2000
_MOST_ROWS = 1500
_TRUTHS = ("linear", "curves", "product", "tree", "radial")
_DEPTH = 4
#: Standard errors that are compared; 0 takes the best member whenever it leads.
LEADS = (0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
_FOLDS = 2


def utility(X: np.ndarray, truth: str, rng: np.random.Generator) -> np.ndarray:
    """(N,) latent response of rows X (N, D)."""
    if truth == "tree":
        return _of_tree(X, rng, _DEPTH)
    w = rng.standard_normal(X.shape[1])
    if truth == "linear":
        return X @ w
    if truth == "curves":
        return np.sin(2.0 * X) @ w
    if truth == "product":
        return X[:, 0] * X[:, 1] + 0.5 * X @ w
    return np.linalg.norm(X - 0.5 * w, axis=1)


def _of_tree(X: np.ndarray, rng: np.random.Generator, depth: int) -> np.ndarray:
    """(N,) values of a random tree, cut at medians."""
    if depth == 0 or len(X) < 2:
        return np.full(len(X), rng.standard_normal())
    column = X[:, rng.integers(X.shape[1])]
    left = column <= np.median(column)
    value = np.empty(len(X))
    for side in (left, ~left):
        value[side] = _of_tree(X[side], rng, depth - 1)
    return value


def generated(number: int) -> tuple[str, Sample, Sample]:
    """Name, training and test sample of a problem."""
    rng = np.random.default_rng([11, number])
    truth = _TRUTHS[number % len(_TRUTHS)]
    n = int(np.exp(rng.uniform(np.log(150), np.log(_MOST_ROWS))))
    D = int(rng.integers(3, 13))
    K = int(rng.integers(3, 8))
    X = rng.standard_normal((n + _TEST_ROWS, D))
    of_integers = rng.random(D) < 0.5
    X[:, of_integers] = np.clip(np.rint(X[:, of_integers]), -2.0, 2.0)
    H = utility(X, truth, rng)
    noise = float(rng.choice([0.0, 0.3, 1.0])) * H.std()
    H = H + noise * rng.standard_normal(len(X))
    shares = rng.dirichlet(np.full(K, 4.0))
    cuts = np.quantile(H, np.cumsum(shares)[:-1])
    y = np.searchsorted(cuts, H).astype(np.intp)
    train, test = (
        Sample(rows=Rows(X=np.ascontiguousarray(X[rows])), y=y[rows], n_levels=K)
        for rows in (slice(n), slice(n, None))
    )
    return truth, train, test


def of_two_levels(path: Path, split: int) -> tuple[str, Sample, Sample]:
    """Name, training and test sample of a public set of two levels."""
    frame = pd.read_parquet(path)
    y = pd.factorize(frame["target"], sort=True)[0].astype(np.intp)
    frame = frame.drop(columns=["target", "part"], errors="ignore")
    X = pd.get_dummies(frame).to_numpy(dtype=np.float64)
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    order = np.random.default_rng([12, split]).permutation(y.size)
    n = min(_MOST_ROWS, int(0.7 * y.size))
    train, test = (
        Sample(rows=Rows(X=np.ascontiguousarray(X[rows])), y=y[rows], n_levels=2)
        for rows in (order[:n], order[n : n + _TEST_ROWS])
    )
    return path.stem, train, test


def problems(quick: bool) -> Iterator[tuple[str, Sample, Sample]]:
    """All problems."""
    for number in range(10 if quick else PROBLEMS):
        yield generated(number)
    for path in sorted((FOLDER / "binary").glob("*.parquet")):
        for split in range(1 if quick else 2):
            yield of_two_levels(path, split)


def judged(train: Sample, test: Sample, seed: int) -> dict[str, float]:
    """The best member on two held-out fifths, its lead on one and on both, and the
    ranked probability score and absolute error of test rows by the equal blend and by
    this member.
    """
    rng = np.random.default_rng(seed)
    members = []
    methods = []
    seeds = list(range(4))
    for method, member_seed in zip(Blend().methods(train), seeds, strict=True):
        member, chosen = fitted_member(
            method, train, np.random.default_rng(member_seed)
        )
        members.append(member)
        methods.append(settled_method(chosen, member.fit))
    found = held_out_by(train, methods, seeds, rng, _FOLDS)
    assert found is not None
    best, lead = found.lead
    above = np.stack([member(test.rows) for member in members])
    happened = test.y[:, None] > np.arange(above.shape[2])
    errors = {"lead": lead, "member": best}
    for name, P in (("equal", above.mean(axis=0)), ("alone", above[best])):
        errors[f"rps_{name}"] = float(np.square(P - happened).sum(axis=1).mean())
        codes = (P > 0.5).sum(axis=1)
        errors[f"mae_{name}"] = float(np.abs(codes - test.y).mean())
    return errors


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a number of standard errors: how often one member was used, how often it
    was better, and the errors over those of the equal blend.
    """
    rows = []
    for seed, (name, train, test) in enumerate(problems(quick)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows.append({"problem": name, "n": train.n, **judged(train, test, seed)})
        print(rows[-1], file=sys.stderr, flush=True)
    return summary(pd.DataFrame(rows))


def summary(frame: pd.DataFrame) -> list[dict[str, object]]:
    """The rows of `run`."""
    shown: list[dict[str, object]] = []
    for least in LEADS:
        alone = frame["lead"] > least
        row: dict[str, object] = {
            "standard errors": least,
            "problems": len(frame),
            "one member": int(alone.sum()),
        }
        for measure in ("rps", "mae"):
            equal = frame[f"{measure}_equal"]
            taken = frame[f"{measure}_alone"].where(alone, equal)
            row[f"{measure} better"] = int((taken < equal).sum())
            row[f"{measure} worse"] = int((taken > equal).sum())
            row[f"{measure} over equal"] = float(taken.mean() / equal.mean())
        shown.append(row)
    return shown
