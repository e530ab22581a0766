"""Names, places and covariances of the parameters of a likelihood fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..exceptions import DataError, OptionError
from ..model.cumulative import CumulativeRule
from ..model.fit import LikelihoodFit

if TYPE_CHECKING:
    from ..design.design import Design

COVARIANCES = ("model", "HC0", "HC1", "cluster")


@dataclass(frozen=True, eq=False, kw_only=True)
class Parameters:
    """The P parameters in their order: thresholds, nominal, location, scale, lambda of a flexible link.

    Attributes
    ----------
    names : list of str
        "1|2" for thresholds ("central.1", "spacing.1", ... of a threshold structure), "1|2.column" for nominal
        effects, "column", "scale.column", "lambda".
    kinds : list of str
        "threshold", "nominal", "location", "scale" or "lambda".
    """

    names: list[str]
    kinds: list[str]

    def of(self, *kinds: str) -> IntArray:
        """Places of the parameters of some kinds."""
        return np.flatnonzero(np.isin(self.kinds, kinds))


def parameters(design: Design, thresholds: list[str], fit: LikelihoodFit) -> Parameters:
    """Names and kinds of a fit's parameters; `thresholds` are the K-1 names "low|high"."""
    own = list(fit.threshold_names) or thresholds
    kinds = {
        "threshold": own,
        "nominal": [f"{threshold}.{name}" for name in design.nominal_names for threshold in own],
        "location": list(design.names),
        "scale": [f"scale.{name}" for name in design.scale_names],
        "lambda": ["lambda"] * fit.n_lambda,
    }
    return Parameters(
        names=[name for names in kinds.values() for name in names],
        kinds=[kind for kind, names in kinds.items() for _ in names],
    )


def threshold_values(fit: LikelihoodFit) -> FloatArray:
    """(K-1,) thresholds, at zero of the nominal columns; NaN beside a level without rows."""
    theta = cast(CumulativeRule, fit.rule).alpha[:, 0]
    return fit.coefficients[: theta.size] if fit.jacobian is None else np.where(np.isfinite(theta), theta, np.nan)


def threshold_errors(fit: LikelihoodFit, errors: FloatArray, covariance: Callable[[], FloatArray]) -> FloatArray:
    """(K-1,) standard errors of `threshold_values`, by the delta method where a structure makes them of others."""
    theta = threshold_values(fit)
    if fit.jacobian is None:
        return errors[: theta.size]
    t = fit.jacobian.shape[1]
    own = covariance()[:t, :t]
    variances = np.einsum("ki,ij,kj->k", fit.jacobian, own, fit.jacobian)
    return np.asarray(np.where(np.isnan(theta), np.nan, np.sqrt(variances)))


def spread(values: FloatArray, fit: LikelihoodFit) -> FloatArray:
    """(P,) values of the estimated parameters (P',) in place, NaN at aliased ones."""
    full = np.full(fit.aliased.size, np.nan)
    full[~fit.aliased] = values
    return full


def cluster_codes(given: Any, design: Design) -> IntArray:
    """(N,) codes of the clusters that the user gives beside the fit, by the index where they have one."""
    if isinstance(given, str):
        raise OptionError(
            f"the data are not kept, so the column {given!r} is not at hand: pass it, as in "
            f"vcov({{'cluster': data[{given!r}]}}), or fit with ordfit(..., cluster={given!r})."
        )
    if isinstance(given, pd.Series) and given.index.is_unique and design.index.isin(given.index).all():
        given = given.loc[design.index]
    if len(given) != design.sample.n:
        raise DataError(
            f"cluster must have one value for each of the {design.sample.n} rows of the fit, or be a Series with "
            f"their index; got {len(given)} values."
        )
    codes, _ = pd.factorize(np.asarray(given))
    if (codes < 0).any():
        raise DataError(f"cluster has a missing value at row {design.index[int(np.argmin(codes))]}.")
    return codes.astype(np.intp)


def covariance_choice(choice: Any, design: Design) -> tuple[str, IntArray | None]:
    """(name, cluster codes) of a user's `type`; None means the fit's own."""
    own = design.sample.cluster
    if choice is None:
        return ("model" if own is None else "cluster"), own
    if isinstance(choice, Mapping) and set(choice) == {"cluster"}:
        return "cluster", cluster_codes(choice["cluster"], design)
    if not isinstance(choice, str) or choice not in COVARIANCES:
        names = ", ".join(repr(name) for name in COVARIANCES)
        raise OptionError(f"type must be one of {names}, or {{'cluster': values}}; got {choice!r}.")
    if choice == "cluster" and own is None:
        raise OptionError("type='cluster' needs ordfit(..., cluster=...), or give the clusters: {'cluster': values}.")
    return choice, own if choice == "cluster" else None


def robust_factor(name: str, n_obs: float, n_parameters: int, cluster: IntArray | None) -> float:
    """Finite-sample factor of a sandwich: n/(n-p) for HC1, G/(G-1) for G clusters, 1 for HC0."""
    if cluster is not None:
        groups = np.unique(cluster).size
        if groups < 2:
            raise DataError("cluster-robust standard errors need at least 2 clusters; got 1.")
        return groups / (groups - 1)
    if name == "HC1":
        return n_obs / (n_obs - n_parameters) if n_obs > n_parameters else float("nan")
    return 1.0
