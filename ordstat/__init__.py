"""Ordinal regression: cumulative link models and large-margin rankers behind one formula call.

>>> from ordstat import datasets, ordfit
>>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
>>> round(fit.loglik, 4)
-86.4919
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import datasets
from .api import ordfit
from .exceptions import (
    ConvergenceWarning,
    DataError,
    DataWarning,
    FormulaError,
    OptionError,
    OrdstatError,
    OrdstatWarning,
    SeparationWarning,
)
from .methods import REDSVM, CumulativeLink
from .model.kernels import Gaussian, Laplacian, Linear, Perceptron, Polynomial, Precomputed, Stump

if TYPE_CHECKING:
    from .estimator import OrdinalClassifier

__all__ = [
    "REDSVM",
    "ConvergenceWarning",
    "CumulativeLink",
    "DataError",
    "DataWarning",
    "FormulaError",
    "Gaussian",
    "Laplacian",
    "Linear",
    "OptionError",
    "OrdinalClassifier",
    "OrdstatError",
    "OrdstatWarning",
    "Perceptron",
    "Polynomial",
    "Precomputed",
    "SeparationWarning",
    "Stump",
    "datasets",
    "ordfit",
]


def __getattr__(name: str) -> Any:
    """Names that cost time to find, looked up when used: scikit-learn takes a second to load."""
    if name == "OrdinalClassifier":
        from .estimator import OrdinalClassifier

        return OrdinalClassifier
    if name == "__version__":
        from importlib.metadata import version

        return version("ordstat")
    raise AttributeError(f"module 'ordstat' has no attribute {name!r}")
