"""Random models with random effects on doubtful data, through every method of their results.

    python -m benchmarks.mixed_walk --sets 60 --seed 1

One to three random terms: intercepts, slopes correlated or not, nested, crossed, of factors; beside nominal and scale
effects, weights and offsets, with every link, cumulative and adjacent; groups that are tiny, single, all of one level,
or declared and absent; missing values. As in `benchmarks.walk`, an error or warning of ordstat's own is an answer.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.walk import Trouble, calls, heard
from ordstat import ordfit

LINKS = ("logit", "logit", "probit", "cloglog", "loglog", "cauchit", "acat")
TERMS = (
    "(1 | g)",
    "(1 | h)",
    "(1 + x1 | g)",
    "(x1 || g)",
    "(0 + x1 | g)",
    "(f | g)",
    "(0 + f || g)",
    "(1 | g/h)",
    "(1 | g:h)",
    "(1 + x1 | h)",
    "(1 | o)",
)
FIXED = ("x1 + x2", "x1", "1", "f", "x1 * f", "x1 + f")


def data_set(seed: int) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A frame and what else the fit is given."""
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(6, 90)), int(rng.choice([2, 3, 4, 6]))
    groups = int(rng.choice([1, 2, 3, 6, max(n // 4, 2), n]))
    x = rng.standard_normal((n, 2)) * 10.0 ** float(rng.choice([-3, 0, 0, 0, 3]))
    g, h = rng.integers(0, groups, n), rng.integers(0, int(rng.integers(2, 8)), n)
    sd = float(rng.choice([0.0, 0.5, 1.0, 4.0]))
    score = x[:, 0] / (x[:, 0].std() + 1e-9) + sd * rng.standard_normal(groups)[g] + rng.logistic(size=n)
    if rng.random() < 0.15:
        score = 10.0 * x[:, 0] / x[:, 0].std()  # separated
    if rng.random() < 0.1:
        score = 10.0 * (g - g.mean())  # every group of one level
    codes = np.searchsorted(np.linspace(-1.5, 1.5, K - 1), score)
    frame = pd.DataFrame({"x1": x[:, 0], "x2": x[:, 1], "f": rng.choice(list("abc"), n), "g": g, "h": h, "y": codes})
    frame["o"] = np.arange(n)
    if rng.random() < 0.3:
        frame["g"] = pd.Categorical(frame["g"].astype(str), categories=[*map(str, range(groups)), "nobody"])
    if rng.random() < 0.2:
        frame.loc[rng.integers(n), str(rng.choice(["x1", "y"]))] = np.nan
    options: dict[str, Any] = {"levels": list(range(K)), "method": str(rng.choice(LINKS))}
    terms = rng.choice(TERMS, int(rng.choice([1, 1, 2, 3])), replace=False)
    options["formula"] = f"y ~ {rng.choice(FIXED)} + {' + '.join(terms)}"
    for name, formula, share in (("nominal", "~ x2", 0.15), ("scale", "~ x2", 0.15)):
        if rng.random() < share:
            options[name] = formula
    if rng.random() < 0.25:
        frame["w"] = rng.choice([0.0, 1.0, 2.0, 0.5], n)
        options["weights"] = "w"
    if rng.random() < 0.15:
        frame["off"] = rng.standard_normal(n)
        options["offset"] = "off"
    if rng.random() < 0.2:
        options["quadrature"] = int(rng.choice([3, 7, -7]))
    if rng.random() < 0.1:
        options["random_penalty"] = "gamma"
    return frame, options


#: What refits many times, and is left out unless asked for.
SLOW = ("bootstrap", "errors", "gof", "report", "step")


def troubles(seed: int, only: str = "") -> tuple[list[Trouble], dict[str, float]]:
    """What is wrong with one data set, and the seconds of every call."""
    frame, options = data_set(seed)
    before, seconds = frame.copy(), {}
    where = f"seed {seed}, {options['method']}, {options['formula']}"
    start = time.process_time()
    fit, found = heard(f"{where}: ordfit", lambda: ordfit(data=frame, seed=0, **options))
    seconds["ordfit"] = time.process_time() - start
    if fit is not None:
        for ask, call in calls(fit, frame):
            if only in ask and (only or ask not in SLOW):
                start = time.process_time()
                found += heard(f"{where}: {ask}", call)[1]
                seconds[ask] = time.process_time() - start
    if not frame.equals(before):
        found.append(Trouble(where, "the caller's data were changed"))
    return found, seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mixed_walk", description=__doc__)
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1, help="of the first data set")
    parser.add_argument("--only", default="", help="methods whose name has this in it")
    wanted = parser.parse_args()
    count = 0
    for seed in range(wanted.seed, wanted.seed + wanted.sets):
        found, seconds = troubles(seed, wanted.only)
        slow = max(seconds, key=seconds.__getitem__)
        if seconds[slow] > 20.0:
            print(f"seed {seed}: {slow} took {seconds[slow]:.0f} s", flush=True)
        count += len(found)
        for trouble in found:
            print(f"{trouble.where}: {trouble.what}", flush=True)
    print(f"{wanted.sets} data sets: {count} answers that are not ordstat's own")
    sys.exit(bool(count))


if __name__ == "__main__":
    main()
