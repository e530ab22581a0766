"""The likelihood of a cumulative link model in plain NumPy, on the rows that R made of
a specification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammainc, gammaincc, gammaln, ndtr

from benchmarks.against_r.session import Answer

Function = Callable[[np.ndarray], np.ndarray]
#: R's ends of the line are +-1e5 and wider.
_END = 5e4
#: Steps of central differences, in units of the parameter: of probabilities, and of
#: scores.
_STEP = 1e-5
_WIDE = 1e-4
#: Smallest eigenvalue of an information with unit diagonal that differences can tell
#: from 0.
_CURVED = 1e-4
#: Directions in which the scores of all rows are below this share of the largest are
#: not identified.
_RANK = 1e-6
#: Where exp(u) is no longer a full double.
_UNDERFLOW = -600.0
#: Values of a held parameter on the way to the last.
_STAGES = 21
#: Searches one after the other, each from where the one before it stopped.
_SEARCHES = 3
#: Moves of log-scale effects to other starts.
_SPREADS = (-4.0, -2.0, -1.0, 1.0, 2.0, 4.0)
#: Starts with all parameters moved.
_RANDOM = 4

#: Distribution functions and their complements.
_TAILS: dict[str, tuple[Function, Function]] = {
    "logit": (expit, lambda x: expit(-x)),
    "probit": (ndtr, lambda x: ndtr(-x)),
    "cloglog": (lambda x: -np.expm1(-np.exp(x)), lambda x: np.exp(-np.exp(x))),
    "loglog": (lambda x: np.exp(-np.exp(-x)), lambda x: -np.expm1(-np.exp(-x))),
    "cauchit": (
        lambda x: np.arctan2(1.0, -x) / np.pi,
        lambda x: np.arctan2(1.0, x) / np.pi,
    ),
}


def tails(link: str, shape: float) -> tuple[Function, Function]:
    """Distribution function of a link and its complement; `shape` is lambda of the two
    that have one.
    """
    if link == "aranda-ordaz":

        def above(x: float) -> float:
            return np.exp(-np.logaddexp(0.0, np.log(shape) + x) / shape)

        return lambda x: 1.0 - above(x), above
    if link == "log-gamma" and shape == 0.0:
        return _TAILS["probit"]
    if link == "log-gamma":
        k = shape**-2.0
        left, right = _gamma_tails(k)
        below, above = (left, right) if shape > 0.0 else (right, left)
        return lambda x: below(np.log(k) + shape * x), lambda x: above(
            np.log(k) + shape * x
        )
    return _TAILS[link]


def _gamma_tails(k: float) -> tuple[Function, Function]:
    """Tails of a gamma variable of shape k at exp(u), the lower exp(k u) / Gamma(k + 1)
    where that underflows.
    """

    def lower(u: np.ndarray) -> np.ndarray:
        return np.where(
            u < _UNDERFLOW,
            np.exp(k * np.minimum(u, 0.0) - gammaln(k + 1.0)),
            gammainc(k, np.exp(u)),
        )

    def upper(u: np.ndarray) -> np.ndarray:
        return np.where(u < _UNDERFLOW, 1.0 - lower(u), gammaincc(k, np.exp(u)))

    return lower, upper


@dataclass(frozen=True, eq=False)
class Rows:
    """P(row) = F((upper psi + upper_offset) / s) - F((lower psi + lower_offset) / s), s
    = scale_offset exp(scale zeta).

    Attributes
    ----------
    upper, lower : (N, P)
        Columns of thresholds, nominal and location effects, below and above the level
        of the row.
    scale : (N, Z)
    upper_offset, lower_offset, scale_offset, weights : (N,)
        Infinite at the ends of the line.
    """

    link: str
    upper: np.ndarray
    lower: np.ndarray
    scale: np.ndarray
    upper_offset: np.ndarray
    lower_offset: np.ndarray
    scale_offset: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, link: str, answer: Answer) -> Rows:
        """From what `Session.rows` answers."""
        collected = {
            name.replace(".", "_"): values for name, values in answer.numbers.items()
        }
        n = collected["weights"].size
        parts: dict[str, Any] = {
            name: collected[name].reshape(n, -1) for name in ("upper", "lower", "scale")
        }
        ends = {
            name: _open_ends(collected[name])
            for name in ("upper_offset", "lower_offset")
        }
        return cls(
            link=link,
            **parts,
            **ends,
            scale_offset=collected["scale_offset"],
            weights=collected["weights"],
        )

    def probabilities(self, parameters: np.ndarray) -> np.ndarray:
        """(N,) probability of each row's level at parameters in R's order, without
        aliased ones.
        """
        P = self.upper.shape[1]
        Z = self.scale.shape[1]
        psi = parameters[:P]
        zeta = parameters[P : P + Z]
        shape = parameters[P + Z :]
        spread = self.scale_offset * np.exp(self.scale @ zeta)
        upper = (self.upper @ psi + self.upper_offset) / spread
        lower = (self.lower @ psi + self.lower_offset) / spread
        cdf, above = tails(self.link, float(shape[0]) if shape.size else np.nan)
        with np.errstate(over="ignore"):
            return np.where(
                cdf(lower) > 0.5, above(lower) - above(upper), cdf(upper) - cdf(lower)
            )

    def loglik(self, parameters: np.ndarray) -> float:
        """Weighted log-likelihood; NaN where a probability is negative."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(self.weights @ np.log(self.probabilities(parameters)))

    def highest(self, parameters: np.ndarray, n_held: int = 0) -> float:
        """The highest log-likelihood found from some parameters, with the last of them
        held.
        """
        free, held = np.split(parameters, [parameters.size - n_held])
        for _ in range(_SEARCHES):
            found = minimize(
                lambda moved: _finite(-self.loglik(np.append(moved, held))),
                free,
                method="BFGS",
                tol=1e-8,
            )
            free = found.x
        return -float(found.fun)

    def followed(self, parameters: np.ndarray, place: int, value: float) -> float:
        """The highest log-likelihood with one parameter held at a value, on the way
        there from a maximum.
        """
        way = parameters.copy()
        free = np.arange(parameters.size) != place
        for held in np.linspace(parameters[place], value, _STAGES)[1:]:
            way[free] = self._moved(way[free], place, float(held))
            way[place] = held
        return self.loglik(way)

    def highest_held(self, parameters: np.ndarray, place: int, value: float) -> float:
        """The highest log-likelihood found from some parameters with one of them held
        at a value.
        """
        moved = np.delete(parameters, place)
        for _ in range(_SEARCHES):
            moved = self._moved(moved, place, value)
        return self.loglik(np.insert(moved, place, value))

    def _moved(self, free: np.ndarray, place: int, held: float) -> np.ndarray:
        """Where a search for the highest log-likelihood with one parameter held ends,
        of the others.
        """

        def fall(moved: np.ndarray) -> float:
            return _finite(-self.loglik(np.insert(moved, place, held)))

        return np.asarray(minimize(fall, free, method="BFGS", tol=1e-8).x)

    def starts(self, parameters: np.ndarray) -> list[np.ndarray]:
        """Parameters with the log-scale effects one by one moved, without any effect on
        the spread, and with all parameters moved.
        """
        first = self.upper.shape[1]
        of_scale = np.arange(first, first + self.scale.shape[1])
        equal = parameters.copy()
        equal[of_scale] = 0.0
        collected = [parameters, equal]
        for place in of_scale:
            for move in _SPREADS:
                apart = parameters.copy()
                apart[place] += move
                collected.append(apart)
        rng = np.random.default_rng(0)
        for _ in range(_RANDOM):
            collected.append(parameters + rng.normal(size=parameters.size))
        return collected

    def slopes(self, parameters: np.ndarray) -> np.ndarray:
        """(N, P) derivatives of `probabilities`, by central differences."""
        steps = _STEP * np.eye(parameters.size)
        return np.column_stack(
            [
                (
                    self.probabilities(parameters + h)
                    - self.probabilities(parameters - h)
                )
                / (2.0 * _STEP)
                for h in steps
            ]
        )

    def identified(self, parameters: np.ndarray) -> bool:
        """Whether the scores of the rows span as many directions as there are
        parameters, or the likelihood is curved.

        At a maximum the former is enough, but not needed: a direction may change no
        row's probability to first order.
        """
        return self._spanned(parameters) or self._curved(parameters)

    def _curved(self, parameters: np.ndarray) -> bool:
        """Whether the information, from differences of the score, is positive
        definite.
        """

        def score(at: np.ndarray) -> np.ndarray:
            return np.asarray((self.weights / self.probabilities(at)) @ self.slopes(at))

        steps = _WIDE * np.eye(parameters.size)
        with np.errstate(all="ignore"):
            information = np.array(
                [score(parameters - h) - score(parameters + h) for h in steps]
            ) / (2.0 * _WIDE)
        size = np.diag(information)
        if not (np.isfinite(information).all() and np.all(size > 0.0)):
            return False
        scaled = 0.5 * (information + information.T) / np.sqrt(np.outer(size, size))
        return bool(np.linalg.eigvalsh(scaled)[0] > _CURVED)

    def _spanned(self, parameters: np.ndarray) -> bool:
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = self.slopes(parameters) / self.probabilities(parameters)[:, None]
        length = np.linalg.norm(scores, axis=0)
        if not (np.isfinite(length).all() and np.all(length > 0.0)):
            return False
        values = np.linalg.svd(scores / length, compute_uv=False)
        return bool(values[-1] > _RANK * values[0])


def _finite(value: float) -> float:
    """An objective for searches: constant outside the domain."""
    return value if np.isfinite(value) else 1e300


def _open_ends(offset: np.ndarray) -> np.ndarray:
    return np.where(np.abs(offset) > _END, np.copysign(np.inf, offset), offset)
