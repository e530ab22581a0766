"""The given covariance of the levels of a group, `cov={"g": K}`: aligned by label, and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..exceptions import DataError, OptionError
from .frames import shown_labels

#: Asymmetry, and smallest eigenvalue beside the largest, that rounding explains.
_ROUNDING = 1e-10
_FORM = "cov must be a dict of groups and their covariances, such as {'animal': K} with K a labelled data frame"


def check_groups(cov: Any, groups: Sequence[str]) -> None:
    """OptionError where it is no dict, or names what is no group of the formula."""
    if not isinstance(cov, Mapping):
        raise OptionError(f"{_FORM}; got {type(cov).__name__}.")
    for name in cov:
        if name not in groups:
            there = f"its groups are {', '.join(map(repr, groups))}" if groups else "it has no random terms"
            raise OptionError(f"cov= names the group {name!r}, which the formula has not: {there}.")


def root_of(group: str, K: Any, labels: Sequence[object]) -> FloatArray:
    """(G, G) lower triangular L with L L' = K at the levels of a group, in their order.

    Raises
    ------
    OptionError
        K is no labelled, symmetric matrix, or not positive definite.
    DataError
        It has no row for a level.
    """
    if not isinstance(K, pd.DataFrame):
        raise OptionError(f"{_FORM}; got {type(K).__name__} for {group!r}.")
    for axis, own in (("rows", K.index), ("columns", K.columns)):
        if not own.is_unique:
            twice = shown_labels([*own[own.duplicated()].unique()], 3)
            raise OptionError(f"cov[{group!r}] must name every level once; its {axis} have {twice} twice.")
        missing = [label for label in labels if label not in own]
        if missing:
            raise DataError(
                f"cov[{group!r}] must have a row and a column for every level of {group!r}; its {axis} lack "
                f"{shown_labels(missing, 3)} and have {shown_labels([*own], 3)}."
            )
    values = K.loc[list(labels), list(labels)].to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        raise OptionError(f"cov[{group!r}] must be finite; it has missing or infinite values.")
    if np.abs(values - values.T).max() > _ROUNDING * np.abs(values).max():
        raise OptionError(f"cov[{group!r}] must be symmetric, a covariance of the levels; it is not.")
    eigenvalues = np.linalg.eigvalsh(values)
    if eigenvalues[0] <= _ROUNDING * eigenvalues[-1]:
        raise OptionError(
            f"cov[{group!r}] must be positive definite at the {len(labels)} levels of the data; its smallest "
            f"eigenvalue is {eigenvalues[0]:.3g}. Make one of levels that are copies of each other, or add a little "
            "to the diagonal."
        )
    return np.asarray(np.linalg.cholesky(0.5 * (values + values.T)))
