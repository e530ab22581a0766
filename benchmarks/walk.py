"""Random data sets through every method of a result of every registered method.

    python -m benchmarks.walk --sets 60 --seed 1

Columns that are constant, equal or far from 0, empty and rare levels, two to twelve
levels, few rows, ties, weights of 0 and of 1e9, missing values. An error or warning of
ordstat's own is an answer; anything else is printed with what was asked, and ends the
run with status 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import partial
from multiprocessing import Pool
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

from ordstat import ordfit  # noqa: E402
from ordstat.exceptions import OrdstatError, OrdstatWarning  # noqa: E402
from ordstat.registry import METHODS  # noqa: E402

#: Methods of results that need something said.
ARGUMENTS: dict[str, Any] = {
    "add1": lambda fit, data: fit.add1("~ . + x2"),
    "at": lambda fit, data: fit.at(2),
    "augment": lambda fit, data: fit.augment(data),
    "bootstrap": lambda fit, data: fit.bootstrap(3, seed=1),
    "emmeans": lambda fit, data: fit.emmeans("g"),
    "errors": lambda fit, data: (fit.errors(data), fit.errors(cv=3)),
    "effects": lambda fit, data: fit.marginal_effects("x1").frame,
    "marginal_effects": (
        lambda fit, data: fit.marginal_effects("x1", by="g").contrasts()
    ),
    "more": lambda fit, data: fit.more(2),
    "partial_fit": lambda fit, data: fit.partial_fit(data),
    "predict": lambda fit, data: [
        fit.predict(data, type=kind) for kind in fit.prediction_types
    ],
    "simulate": lambda fit, data: fit.simulate(2, seed=1),
    "staged_errors": lambda fit, data: fit.staged_errors(data),
    "step": lambda fit, data: fit.step(),
    "subgroups": lambda fit, data: fit.subgroups(
        "x1", "g", levels=[-1.0, 1.0], measure="win odds"
    ),
    "superiority": lambda fit, data: fit.superiority("g"),
    "test": lambda fit, data: fit.test(f"{fit.params.index[-1]} = 0"),
    "update": lambda fit, data: fit.update("~ . - x1"),
    "with_vcov": lambda fit, data: fit.with_vcov("HC1").se,
}
#: What keeps a method quick, where it has such an option.
QUICK = {"rounds": 5, "passes": 3, "trees": 5, "hidden": 2}


@dataclass(frozen=True)
class Trouble:
    """Something that is not an answer."""

    where: str
    what: str


def data_set(seed: int) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A frame and what else the fit is given."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 50))
    K = int(rng.choice([2, 3, 4, 5, 12]))
    x = rng.standard_normal((n, 2)) * 10.0 ** float(rng.integers(-4, 5))
    if rng.random() < 0.3:
        x = np.round(x)
    if rng.random() < 0.15:
        x[:, 1] = x[:, 0]
    if rng.random() < 0.15:
        x[:, int(rng.integers(2))] = float(rng.normal())
    if rng.random() < 0.2:
        x[:, 0] += 1e4
    codes = np.searchsorted(
        np.linspace(-1.5, 1.5, K - 1),
        rng.logistic(size=n) + np.sign(x[:, 0] - x[:, 0].mean()),
    )
    frame = pd.DataFrame(
        {"x1": x[:, 0], "x2": x[:, 1], "g": rng.choice(list("abc"), n), "y": codes}
    )
    if rng.random() < 0.2:
        frame.loc[rng.integers(n), "x1"] = np.nan
    options: dict[str, Any] = {"levels": list(range(K))}
    if rng.random() < 0.4:
        frame["w"] = rng.choice(
            [0.0, 1.0, 2.0, 7.0] if rng.random() < 0.7 else [1.0, 1e9], n
        )
        options["weights"] = "w"
    options["formula"] = str(
        rng.choice(["y ~ x1 + x2 + g", "y ~ x1*g", "y ~ x1 + x2", "y ~ 1", "y ~ g"])
    )
    return frame, options


def troubles(method: str, seed: int) -> list[Trouble]:
    """Faults of one method on one data set."""
    frame, options = data_set(seed)
    option_names = {field.name for field in fields(METHODS[method].method)} - set(
        METHODS[method].preset
    )
    options |= {name: value for name, value in QUICK.items() if name in option_names}
    before = frame.copy()
    where = f"seed {seed}, {method}, {options['formula']}"
    fit, actual = heard(
        f"{where}: ordfit", lambda: ordfit(data=frame, method=method, seed=0, **options)
    )
    if fit is not None:
        for ask, call in calls(fit, frame):
            actual += heard(f"{where}: {ask}", call)[1]
    if not frame.equals(before):
        actual.append(Trouble(where, "the caller's data were changed"))
    return actual


def calls(fit: Any, frame: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """Every public name of a result, as a call without arguments."""
    for ask in dir(type(fit)):
        if ask.startswith("_") or ask in ("plot", "calibrated", "fitter"):
            continue
        if ask in ARGUMENTS:
            yield ask, partial(ARGUMENTS[ask], fit, frame)
        elif callable(getattr(type(fit), ask)):
            yield ask, partial(_shown, fit, ask)
        else:
            yield ask, partial(getattr, fit, ask)


def _shown(fit: Any, ask: str) -> str:
    """The answer of a method, printed, as a user would see it."""
    try:
        return str(getattr(fit, ask)())
    except TypeError as error:
        if "required positional argument" in str(error):
            return ""
        raise


def heard(where: str, call: Any) -> tuple[Any, list[Trouble]]:
    """The result of a call, and its errors and warnings that are not ordstat's."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = None
        collected = []
        try:
            answer = call()
        except OrdstatError:
            pass
        except Exception as error:  # any traceback is a fault
            last = traceback.extract_tb(error.__traceback__)[-1]
            collected.append(
                Trouble(
                    where,
                    f"{type(error).__name__}: {str(error)[:120]}"
                    f" ({last.filename}:{last.lineno})",
                )
            )
    for one in caught:
        if not issubclass(one.category, OrdstatWarning):
            collected.append(
                Trouble(
                    where,
                    f"{one.category.__name__}: {str(one.message)[:100]}"
                    f" ({one.filename}:{one.lineno})",
                )
            )
    return answer, collected


def _of_set(seed: int, methods: list[str]) -> list[Trouble]:
    return [trouble for method in methods for trouble in troubles(method, seed)]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.walk", description=__doc__
    )
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1, help="of the first data set")
    parser.add_argument(
        "--methods",
        nargs="+",
        default=list(METHODS),
        choices=list(METHODS),
        metavar="METHOD",
    )
    parser.add_argument("--jobs", type=int, default=2)
    wanted = parser.parse_args()
    count = 0
    with Pool(wanted.jobs) as pool:
        seeds = range(wanted.seed, wanted.seed + wanted.sets)
        for actual in pool.imap(partial(_of_set, methods=wanted.methods), seeds):
            count += len(actual)
            for trouble in actual:
                print(f"{trouble.where}: {trouble.what}", flush=True)
    print(
        f"{wanted.sets} data sets, {len(wanted.methods)} methods: {count} answers that"
        " are not ordstat's own"
    )
    sys.exit(bool(count))


if __name__ == "__main__":
    main()
