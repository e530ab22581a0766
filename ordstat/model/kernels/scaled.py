"""Kernels with a parameter gamma, which cross-validation may choose."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._typing import FloatArray, IntArray
from ...checks import number, whole
from ...exceptions import OptionError
from .base import Kernel, squared_length
from .distances import manhattan, squared_euclidean

#: gamma="cv": 2^-15, 2^-13, ..., 2^3 [Hsu, Chang & Lin 2003]; with the 55 fits of the choice of C these are the 550
#: problems of a Gaussian kernel in Lin [2008, sec. 5.3].
GAMMAS: tuple[float, ...] = tuple(2.0**exponent for exponent in range(-15, 4, 2))


@dataclass(frozen=True)
class Scaled(Kernel):
    """A function of gamma times a measure of two rows: gamma None stands for 1 / D.

    "cv", or a sequence of values to choose from, leaves gamma to the cross-validation of the method.
    """

    gamma: float | str | Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.gamma is None or (isinstance(self.gamma, str) and self.gamma == "cv"):
            return
        if isinstance(self.gamma, (tuple, list, np.ndarray)):
            object.__setattr__(self, "gamma", self._choices(self.gamma))
        else:
            self._positive(self.gamma)

    def _choices(self, values: Any) -> tuple[float, ...]:
        if not len(values):
            raise OptionError(f"gamma of the {self.name} kernel must have a value to choose from; got {values!r}.")
        return tuple(sorted({self._positive(value) for value in values}))

    def _positive(self, value: Any) -> float:
        return number("gamma", value, above=0.0, of=f"the {self.name} kernel")

    @property
    def gammas(self) -> tuple[float, ...]:
        if isinstance(self.gamma, str):
            return GAMMAS
        return self.gamma if isinstance(self.gamma, tuple) else ()

    def gamma_for(self, n_columns: int) -> float:
        """gamma, or 1 / D.

        Raises
        ------
        OptionError
            It is still to be chosen.
        """
        if self.gammas:
            raise OptionError(
                f"gamma={self.gamma!r} of the {self.name} kernel is chosen by the methods with C='cv' alone: give one "
                "positive number here."
            )
        return 1.0 / max(n_columns, 1) if self.gamma is None else float(self.gamma)  # type: ignore[arg-type]

    @abstractmethod
    def measure(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """(n, m) what gamma multiplies, a new array."""

    def of(self, scaled: FloatArray) -> FloatArray:
        """The kernel from gamma times the measure, in place."""
        return np.exp(np.negative(scaled, out=scaled), out=scaled)

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        scaled = self.measure(X, Z)
        scaled *= self.gamma_for(X.shape[1])
        return self.of(scaled)

    def at(self, gamma: float | None) -> Kernel:
        return replace(self, gamma=gamma)

    def settled(self, n_columns: int) -> Kernel:
        return replace(self, gamma=self.gamma_for(n_columns))

    def grams(self, X: FloatArray, rows: IntArray) -> Iterator[tuple[float, FloatArray]]:
        chosen = X[rows]
        measure = self.measure(chosen, chosen)
        for gamma in self.gammas:
            yield gamma, self.of(gamma * measure)

    def diagonal(self, X: FloatArray) -> FloatArray:
        return np.ones(X.shape[0])

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return 1.0


@dataclass(frozen=True)
class Gaussian(Scaled):
    """exp(-gamma |x - x'|_2^2); gamma None is 1 / D, "cv" or several values a choice by cross-validation.

    Examples
    --------
    >>> Gaussian(gamma=0.5)(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])).round(4)
    array([[0.3679]])
    >>> len(Gaussian(gamma="cv").gammas)
    10
    """

    name = "gaussian"

    def measure(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return squared_euclidean(X, Z)


@dataclass(frozen=True)
class Laplacian(Scaled):
    """exp(-gamma |x - x'|_1); gamma None is 1 / D, "cv" or several values a choice by cross-validation.

    Examples
    --------
    >>> Laplacian(gamma=0.5)(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])).round(4)
    array([[0.3679]])
    """

    name = "laplacian"

    def measure(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return manhattan(X, Z)


@dataclass(frozen=True)
class Polynomial(Scaled):
    """(gamma x'x' + coef0)^degree; gamma None is 1 / D, "cv" or several values a choice by cross-validation.

    Examples
    --------
    >>> Polynomial(gamma=1.0, degree=2)(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]]))
    array([[16.]])
    """

    name = "polynomial"
    degree: int = 3
    coef0: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("degree", self.degree, 1, of="the polynomial kernel")
        number("coef0", self.coef0, least=0.0, of="the polynomial kernel")

    def measure(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return X @ Z.T

    def of(self, scaled: FloatArray) -> FloatArray:
        scaled += self.coef0
        return np.power(scaled, self.degree, out=scaled)

    def diagonal(self, X: FloatArray) -> FloatArray:
        return self.of(self.gamma_for(X.shape[1]) * squared_length(X))

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return float((self.gamma_for(n_columns) * n_columns * half_width**2 + self.coef0) ** self.degree)
