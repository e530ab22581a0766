"""One small problem a method string; the contract tests walk the registry with it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from light_options import LIGHT
from seams import METHODS

from ordstat import ordfit

FORMULA = "y ~ x1 + x2 + g"
N = 60


@cache
def latent_frame(n_levels: int, seed: int = 0) -> pd.DataFrame:
    """Ranks 1..K, in equal numbers, of a noisy linear score of two numbers and a
    factor.
    """
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((N, 2))
    g = rng.integers(0, 3, N)
    score = x @ [1.0, -0.7] + 0.5 * g + rng.logistic(size=N)
    codes = np.argsort(np.argsort(score)) * n_levels // N
    return pd.DataFrame(
        {
            "x1": x[:, 0],
            "x2": x[:, 1],
            "g": pd.Categorical.from_codes(g, ["a", "b", "c"]),
            "w": rng.integers(1, 4, N),
            "y": pd.Categorical(
                codes + 1, categories=range(1, n_levels + 1), ordered=True
            ),
        }
    )


@dataclass(frozen=True)
class Problem:
    """A method with data that it takes."""

    name: str
    frame: pd.DataFrame

    @classmethod
    def of(cls, name: str) -> Problem:
        return cls(
            name,
            latent_frame(2 if METHODS[name].method.supports.two_levels_only else 4),
        )

    @property
    def tight(self) -> dict[str, Any]:
        """Options that bring an iterative method so near to its optimum that two runs
        can be compared.
        """
        known = {f.name for f in fields(METHODS[self.name].method)}
        light = LIGHT.get(self.name, {})
        return {"tol": 1e-9} | light if "tol" in known else light

    def fit(self, frame: pd.DataFrame | None = None, **arguments: Any) -> Any:
        return ordfit(
            FORMULA,
            self.frame if frame is None else frame,
            self.name,
            **(self.tight | arguments),
        )

    @property
    def fitted(self) -> Any:
        """The fit to its frame, shared by the tests that only look at it."""
        return fitted(self.name, **self.tight)


_FITTED: dict[str, Any] = {}


def fitted(name: str, formula: str = FORMULA, **options: Any) -> Any:
    """A fit of a method to its frame, made once for all tests that only look at it."""
    key = repr((name, formula, sorted(options.items())))
    if key not in _FITTED:
        _FITTED[key] = ordfit(formula, Problem.of(name).frame, name, **options)
    return _FITTED[key]


#: Methods whose fit is a random draw.
RANDOM = [
    "prank",
    "siprank",
    "cusum",
    "pa-cusum",
    "kernel-prank",
    "kernel-cusum",
    "relabel",
    "onn",
    "ordboost",
]
RANDOM += [
    "rps-forest",
    "blend",
    "bagging",
    "ordinal-bagging",
    "nominal-adaboost",
    "fixed-split-boosting",
]
RANDOM += ["ordinal-adaboost"]

#: Trees on (x, k): of two equal cuts of k they take the first, which in the mirror is
#: the other one.
TREES_ON_K = ("red-c45", "red-tree", "red-hgb")


def score_type(fit: Any) -> str:
    """Predictions of a fit besides the class: the potential, votes, or the predictor of
    each level.
    """
    if fit.method.supports.by_level:
        return "linear_predictor"
    return "votes" if "votes" in fit.predicts else "score"


def scores(fit: Any, frame: pd.DataFrame | None = None) -> np.ndarray:
    """(N,) potential H, or (N, K) votes."""
    return np.asarray(fit.predict(frame, type=score_type(fit)))


def thresholds(fit: Any) -> np.ndarray:
    """(K-1,) thresholds; none of a rule that votes."""
    return np.asarray(fit.thresholds if hasattr(fit, "thresholds") else ())


def lead(fit: Any, frame: pd.DataFrame | None = None) -> np.ndarray:
    """(N,) distance of the score from the nearest threshold, or of the most votes from
    the next.
    """
    h = scores(fit, frame)
    if h.ndim == 1:
        return np.abs(h[:, None] - thresholds(fit)).min(axis=1)
    best = np.sort(h, axis=1)
    return best[:, -1] - best[:, -2]


def score_tolerance(fit: Any) -> float:
    """What a certificate of 1e-9 proves of a score.

    |v - v*|^2 <= 2 gap P: a relative gap of 1e-9 leaves up to 1e-3; likelihoods
    converge quadratically.
    """
    return 1e-7 if hasattr(fit, "loglik") else 1e-3


def assert_same_ranker(fit: Any, other: Any, frame: pd.DataFrame) -> None:
    """Same scores, thresholds and ranks of `frame`, ranks of rows on a threshold (or a
    tie) left out.
    """
    atol = score_tolerance(fit)
    np.testing.assert_allclose(scores(fit, frame), scores(other, frame), atol=atol)
    np.testing.assert_allclose(thresholds(fit), thresholds(other), atol=atol)
    clear = lead(fit, frame) > 2 * atol
    ranks, others = (np.asarray(f.predict(frame).cat.codes) for f in (fit, other))
    assert clear.mean() > 0.5
    assert (ranks[clear] == others[clear]).all()
