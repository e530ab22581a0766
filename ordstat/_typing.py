"""Array aliases used in signatures throughout the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

#: Called as callback(step, total, message) during long work.
Progress = Callable[[int, int, str], None]
