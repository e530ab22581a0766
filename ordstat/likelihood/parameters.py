"""Records and names of the parameters of a likelihood fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..formula.names import Parameter
from .fit import LikelihoodFit
from .rule import LikelihoodRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formula.design import Design


class Estimates(pd.Series):  # type: ignore[type-arg,unused-ignore]
    """Estimates by name; `fit.coef()`, as in R and PyFixest, is `fit.coef`."""

    def __call__(self) -> Estimates:
        return self


@dataclass(frozen=True, eq=False, kw_only=True)
class Parameters:
    """The P parameters in their order: thresholds, nominal, location, scale, lambda of
    a flexible link.

    Attributes
    ----------
    thresholds : list of str
        Names of the thresholds.
    others : list of Parameter
        All parameters except the thresholds, of which there may be very many.
    """

    thresholds: list[str]
    others: list[Parameter]

    @cached_property
    def records(self) -> list[Parameter]:
        """Records of all parameters."""
        return [
            Parameter(kind="threshold", threshold=name) for name in self.thresholds
        ] + self.others

    @cached_property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return self.thresholds + [record.name for record in self.others]

    @cached_property
    def kinds(self) -> list[str]:
        """Kinds of the parameters."""
        return ["threshold"] * len(self.thresholds) + [
            record.kind for record in self.others
        ]

    def of(self, *kinds: str) -> IntArray:
        """Indices of the parameters of some kinds."""
        return np.array(
            [i for i, kind in enumerate(self.kinds) if kind in kinds], dtype=np.intp
        )


def parameters(design: Design, thresholds: list[str], fit: LikelihoodFit) -> Parameters:
    """The records of a fit's parameters; `thresholds` are the K-1 names "low|high"."""
    return planned(
        design,
        thresholds,
        fit.threshold_names,
        fit.n_lambda,
        fit.has_level_scores,
    )


def planned(
    design: Design,
    thresholds: list[str],
    structure: Sequence[str],
    n_lambda: int,
    scores: bool = False,
) -> Parameters:
    """The records of the parameters of a model.

    Parameters
    ----------
    design : Design
    thresholds : list of str
        The K-1 names "low|high".
    structure : sequence of str
        Names of the parameters of a threshold structure; empty without one.
    n_lambda : int
        1 if the link has a parameter to estimate, else 0.
    scores : bool
        Whether the parameters after the effects are scores of levels.
    """
    columns = design.spec.column_names
    structured = list(structure)
    names = structured or thresholds
    below: list[str] = []
    if columns["nominal"]:
        if structured:
            below = [""] * len(names)
        else:
            below = list(map(str, design.levels.values[:-1]))
    records: list[Parameter] = []
    for column in columns["nominal"]:
        for name, above in zip(names, below, strict=True):
            records.append(
                Parameter(kind="nominal", column=column, threshold=name, above=above)
            )
    for kind in ("location", "scale"):
        records += [Parameter(kind=kind, column=column) for column in columns[kind]]
    if scores:
        present = np.flatnonzero(design.sample.counts() > 0.0)
        inner = [str(design.levels.values[code]) for code in present[1:-1]]
        records += [Parameter(kind="phi", threshold=level) for level in inner]
    else:
        records += [Parameter(kind="lambda")] * n_lambda
    return Parameters(thresholds=names, others=records)


def threshold_values(fit: LikelihoodFit) -> FloatArray:
    """(K-1,) thresholds used by predictions, with nominal columns at 0; NaN next to a
    level without rows.

    Infinite thresholds (separation) have the value at which the search stopped.
    """
    theta = cast(LikelihoodRule, fit.rule).alpha[:, 0]
    if fit.jacobian is None:
        return fit.coefficients[: theta.size]
    return np.where(np.isfinite(theta), theta, np.nan)


def with_aliased(values: FloatArray, fit: LikelihoodFit) -> FloatArray:
    """(P,) values of the estimated parameters (P',), with NaN for aliased ones."""
    full = np.full(fit.aliased.size, np.nan)
    full[~fit.aliased] = values
    return full


def square_frame(matrix: FloatArray, names: list[str]) -> pd.DataFrame:
    """A matrix with the same names on both sides."""
    return pd.DataFrame(matrix, index=names, columns=names)
