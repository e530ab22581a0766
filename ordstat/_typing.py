"""Array aliases used in signatures throughout the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

#: True for type checks of the package itself (see pyproject.toml): it knows the class
#: of a fit. Those of users' code take names that a class does not list as `Any`, since
#: the class of a fit depends on its formula.
STRICT_NAMES = False

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

#: Called as callback(step, total, message) during long work.
Progress = Callable[[int, int, str], None]
