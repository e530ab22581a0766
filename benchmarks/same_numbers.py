"""The numbers of some 220 fits of every family of methods, stored by one state of the
code and compared by another.

    python -m benchmarks.same_numbers --store numbers.npz      # before a change
    python -m benchmarks.same_numbers --compare numbers.npz    # after it

The first may run in another checkout. The second prints what differs by more than
1e-10, relatively.

Only what a user calls is called, so that the script runs on any state of the code. A
fit that raises is stored as the name of its error; a figure that one state has and the
other has not counts as a difference.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd

from ordstat import ordfit
from ordstat.exceptions import OrdstatError
from ordstat.registry import METHODS

#: Relative difference allowed; figures are measured against the largest of their array.
TOLERANCE = 1e-10

Case = tuple[str, dict[str, Any]]


def frame(n_levels: int, n: int = 90, seed: int = 0) -> pd.DataFrame:
    """A noisy linear score of two numbers and a factor, cut into levels of equal size;
    weights, groups, an offset.
    """
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    g = rng.integers(0, 3, n)
    score = x @ [1.0, -0.7] + 0.5 * g + rng.logistic(size=n)
    codes = np.argsort(np.argsort(score)) * n_levels // n
    return pd.DataFrame(
        {
            "x1": x[:, 0],
            "x2": x[:, 1],
            "g": pd.Categorical.from_codes(g, ["a", "b", "c"]),
            "h": np.where(rng.random(n) < 0.5, "s", "t"),
            "w": rng.integers(1, 4, n),
            "c": rng.integers(0, 15, n),
            "o": 0.3 * rng.standard_normal(n),
            "y": pd.Categorical(
                codes + 1, categories=range(1, n_levels + 1), ordered=True
            ),
        }
    )


def likelihood_cases() -> Iterator[Case]:
    """Cumulative link models with every part that they can have."""
    plain = "y ~ x1 + x2 + g"
    links = (
        "logit",
        "probit",
        "cloglog",
        "loglog",
        "cauchit",
        "aranda-ordaz",
        "log-gamma",
    )
    parts: dict[str, dict[str, Any]] = {
        "plain": {},
        "weights": {"weights": "w"},
        "offset": {"offset": "o"},
        "nominal": {"nominal": "~ h"},
        "scale": {"scale": "~ h"},
        "all": {"nominal": "~ h", "scale": "~ x1", "weights": "w", "offset": "o"},
    }
    for link in links:
        for name, options in parts.items():
            yield f"clm {link} {name}", {"formula": plain, "link": link, **options}
    for threshold in ("symmetric", "symmetric2", "equidistant"):
        for link in ("logit", "probit", "cauchit"):
            yield (
                f"clm {link} {threshold}",
                {"formula": plain, "link": link, "threshold": threshold},
            )
        yield (
            f"clm scale {threshold}",
            {"formula": plain, "threshold": threshold, "scale": "~ h"},
        )
    for formula in (
        "y ~ x1*g",
        "y ~ poly(x1, 2) + ns(x2, 3)",
        "y ~ x1:g + h:x1",
        "y ~ bs(x1, 4)",
        "y ~ 1",
    ):
        yield f"clm {formula}", {"formula": formula}
    for penalty in (1.0, "jeffreys"):
        yield f"clm penalty {penalty}", {"formula": plain, "penalty": penalty}
    for vcov in ("HC0", "HC1", {"cluster": "c"}):
        yield f"clm vcov {vcov}", {"formula": plain, "vcov": vcov}
    for cost in ("absolute", "squared"):
        yield f"clm cost {cost}", {"formula": plain, "cost": cost}
    for levels in (2, 7):
        yield f"clm levels {levels}", {"formula": plain, "levels": levels}
    for contrasts in ("sum", "helmert"):
        yield (
            f"clm contrasts {contrasts}",
            {"formula": "y ~ x1 + g*h", "contrasts": {"g": contrasts, "h": "sum"}},
        )


def random_cases() -> Iterator[Case]:
    """Random effects of every shape, with what else a likelihood can have."""
    plain = "y ~ x1 + g + "
    for link in ("logit", "probit", "cloglog", "loglog", "cauchit"):
        yield f"random {link}", {"formula": plain + "(1 | c)", "link": link}
    shapes = (
        "(1 + x2 | c)",
        "(x2 || c)",
        "(0 + x2 | c)",
        "(g | c)",
        "(1 | g / c)",
        "(1 | c) + (1 | h)",
    )
    for shape in (*shapes, "(1 + x2 | c) + (1 | h)"):
        yield f"random {shape}", {"formula": "y ~ x1 + " + shape}
    parts: dict[str, dict[str, Any]] = {
        "7 nodes": {"quadrature": 7},
        "auto": {"quadrature": "auto"},
        "without modes": {"quadrature": -9},
        "nominal": {"nominal": "~ h"},
        "scale": {"scale": "~ h"},
        "weights and offset": {"weights": "w", "offset": "o"},
        "equidistant": {"threshold": "equidistant"},
        "gamma": {"random_penalty": "gamma"},
        "adjacent": {"method": "acat"},
        "continuation": {"method": "cratio"},
        "stopping backward": {
            "method": "sratio",
            "direction": "backward",
            "link": "cloglog",
        },
        "rankers' cost": {"cost": "absolute"},
    }
    for name, options in parts.items():
        yield f"random {name}", {"formula": plain + "(1 | c)", **options}
    yield "random 7 nodes slope", {"formula": plain + "(x2 | c)", "quadrature": 7}
    yield "random two levels", {"formula": plain + "(1 | c)", "levels": 2}


def ranker_cases() -> Iterator[Case]:
    """Every method string as it is and with weights, and the options that run other
    code.
    """
    plain = "y ~ x1 + x2 + g"
    for name, entry in METHODS.items():
        if entry.path.endswith("clm.CumulativeLink"):
            continue
        levels = 2 if entry.method.supports.two_levels_only else 4
        yield name, {"formula": plain, "method": name, "levels": levels}
        yield (
            f"{name} weights",
            {"formula": plain, "method": name, "levels": levels, "weights": "w"},
        )
    for name in ("redsvm", "svor-imc", "svor-exc", "rank-svm", "csova", "csovo"):
        for kernel in ("linear", "gaussian", "stump"):
            yield (
                f"{name} {kernel}",
                {
                    "formula": plain,
                    "method": name,
                    "kernel": kernel,
                    "C": 2.0,
                    "tol": 1e-8,
                },
            )
    for name in (
        "redsvm",
        "orboost-all",
        "reduction",
        "rankboost-ae",
        "prank",
        "cart",
        "csovo",
        "wap",
    ):
        for cost in ("classification", "absolute", "squared"):
            yield f"{name} {cost}", {"formula": plain, "method": name, "cost": cost}
    for solver in ("coordinate", "cvxpy"):
        yield (
            f"redsvm {solver}",
            {
                "formula": plain,
                "method": "redsvm",
                "solver": solver,
                "kernel": "gaussian",
            },
        )
    yield "redsvm cv", {"formula": plain, "method": "redsvm", "C": "cv"}
    yield "redsvm calibrated", {"formula": plain, "method": "redsvm", "calibrate": True}
    yield (
        "redsvm squared hinge",
        {
            "formula": plain,
            "method": "redsvm",
            "kernel": "linear",
            "loss": "squared_hinge",
        },
    )
    for loss in ("likelihood", "logistic", "exponential"):
        yield (
            f"ordboost {loss}",
            {
                "formula": plain,
                "method": "ordboost",
                "loss": loss,
                "rounds": 20,
                "depth": 2,
            },
        )
    for penalty in ("evidence", "cv"):
        yield (
            f"kernel-clm {penalty}",
            {"formula": plain, "method": "kernel-clm", "penalty": penalty},
        )
    for learner in ("stump", "tree", "perceptron"):
        yield (
            f"orboost-all {learner}",
            {
                "formula": plain,
                "method": "orboost-all",
                "learner": learner,
                "rounds": 20,
            },
        )


#: What is asked of a fit that has it.
ASKED: dict[str, Callable[[Any], Any]] = {
    "params": lambda fit: fit.params,
    "coef": lambda fit: fit.coef,
    "thresholds": lambda fit: fit.thresholds,
    "se": lambda fit: fit.se,
    "vcov": lambda fit: fit.vcov(),
    "loglik": lambda fit: [fit.loglik, fit.null_loglik, fit.aic, fit.edf],
    "prob": lambda fit: fit.predict(type="prob"),
    "score": lambda fit: fit.predict(type="score"),
    "margin": lambda fit: fit.predict(type="margin"),
    "votes": lambda fit: fit.predict(type="votes"),
    "se of prob": lambda fit: fit.predict(type="prob", se=True),
    "class": lambda fit: pd.Categorical(fit.predict(), categories=fit.levels).codes,
    "errors": lambda fit: fit.errors(),
    "margins": lambda fit: fit.margins(),
    "bounds": lambda fit: fit.bounds().select_dtypes("number"),
    "importance": lambda fit: fit.importance(),
    "confint": lambda fit: fit.confint(),
    "drop1": lambda fit: fit.drop1(),
    "anova": lambda fit: fit.anova(),
    "nominal_test": lambda fit: fit.nominal_test(),
    "score_test": lambda fit: fit.score_test(),
    "brant": lambda fit: fit.brant(),
    "effects": lambda fit: fit.marginal_effects().frame.select_dtypes("number"),
    "emmeans": lambda fit: fit.emmeans("g").frame.select_dtypes("number"),
    "residuals": lambda fit: fit.residuals(),
    "influence": lambda fit: fit.influence().dfbeta,
    "discrimination": lambda fit: fit.discrimination(),
    "ranef": lambda fit: fit.ranef().select_dtypes("number"),
    "VarCorr": lambda fit: fit.VarCorr().select_dtypes("number"),
    "prob of new groups": lambda fit: fit.predict(type="prob", re="marginal"),
}
#: What takes long, of one case in so many.
SLOW = {"profile": lambda fit: fit.confint(type="profile")}
EVERY = 4


def numbers() -> dict[str, np.ndarray]:
    """Every figure of every case, by "case | figure"."""
    collected: dict[str, np.ndarray] = {}
    for place, (name, options) in enumerate(
        [*likelihood_cases(), *random_cases(), *ranker_cases()]
    ):
        questions = (
            ASKED if place % EVERY or not name.startswith("clm") else ASKED | SLOW
        )
        for figure, values in _figures(options, questions):
            collected[f"{name} | {figure}"] = values
        if sys.stderr.isatty():
            print(f"\r{place + 1} fits", end="", file=sys.stderr)
    return collected


def _figures(
    options: dict[str, Any], questions: dict[str, Callable[[Any], Any]]
) -> Iterator[tuple[str, np.ndarray]]:
    options = {"method": "clm", **options}
    data = frame(options.pop("levels", 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit = ordfit(data=data, seed=7, **options)
        except OrdstatError as error:
            yield "fit", np.array(type(error).__name__)
            return
        for figure, ask in questions.items():
            try:
                yield figure, np.asarray(ask(fit), dtype=np.float64).reshape(-1)
            except (OrdstatError, AttributeError, TypeError, ValueError) as error:
                yield figure, np.array(type(error).__name__)


def differences(old: dict[str, np.ndarray], new: dict[str, np.ndarray]) -> list[str]:
    """A line for every figure that is not the same."""
    lines = [
        f"{name}: {'is gone' if name in old else 'is new'}"
        for name in sorted(set(old) ^ set(new))
    ]
    for name in old.keys() & new.keys():
        words = _difference(old[name], new[name])
        if words:
            lines.append(f"{name}: {words}")
    return sorted(lines)


def _difference(old: np.ndarray, new: np.ndarray) -> str:
    if old.dtype.kind == "U" or new.dtype.kind == "U":
        return "" if str(old) == str(new) else f"{_short(old)} was, {_short(new)} is"
    if old.shape != new.shape:
        return f"{old.size} figures were, {new.size} are"
    size = np.abs(old[np.isfinite(old)]).max(initial=0.0)
    with np.errstate(invalid="ignore"):
        same = (
            (old == new)
            | (np.isnan(old) & np.isnan(new))
            | (np.abs(old - new) <= TOLERANCE * size)
        )
    if same.all():
        return ""
    place = int(np.flatnonzero(~same)[0])
    return (
        f"{np.count_nonzero(~same)} of {old.size} differ, first {float(old[place])!r}"
        f" was, {float(new[place])!r} is"
    )


def _short(values: np.ndarray) -> str:
    return str(values) if values.dtype.kind == "U" else f"{values.size} figures"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.same_numbers", description=__doc__
    )
    parser.add_argument("--store", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE")
    wanted = parser.parse_args()
    if (wanted.store is None) == (wanted.compare is None):
        parser.error("give --store FILE or --compare FILE")
    here = numbers()
    if wanted.store is not None:
        np.savez_compressed(wanted.store, **here)
        print(
            f"{len(here)} figures of {len({name.split(' | ')[0] for name in here})}"
            " fits stored"
        )
        return
    with np.load(wanted.compare) as file:
        lines = differences(dict(file), here)
    print(*lines, sep="\n")
    print(
        f"{len(here)} figures compared, {len(lines)} differ by more than {TOLERANCE:g}"
    )
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
