"""Estimated marginal means, trends and joint tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ..checks import one_of
from ..formula.sample import Rows
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.standard_errors import normal_quantile
from ..words import told_arguments
from .average import Average, Averager, together, warn_of_unknown
from .counterfactual import population
from .grid import WEIGHTS, Grid, cell_weights, grid_of, on_one_scale, read_specs
from .means import Emmeans, listing

M = TypeVar("M", bound=Emmeans)


def cell_averages(averager: Averager, grid: Grid, rows: Rows, weights: str) -> list[Average]:
    """The average of each cell; without a value where the data have no row in it and `weights` asks for them."""
    tell_crossed(averager, grid, rows, weights)
    found = []
    for cell, shares in grid.by_cell(weights):
        known = not np.isnan(shares).any()
        average = averager.over(rows.take(cell), shares if known else np.full_like(shares, 1.0 / shares.size))
        found.append(average if known else average.untold())
    return found


def tell_crossed(averager: Averager, grid: Grid, rows: Rows, weights: str) -> None:
    """Says how many rows of the grid that have weight have thresholds out of order."""
    shares = np.nan_to_num(cell_weights(grid, weights).ravel())
    averager.tell_crossed(averager.crossed(rows, shares), shares)


def grid_rows(averager: Averager, frame: pd.DataFrame) -> Rows:
    """The design of the grid; latent variables on one scale."""
    rows = averager.design(frame)
    return on_one_scale(rows) if averager.scale == "latent" else rows


def grid_notes(averager: Averager, grid: Grid, weights: str) -> tuple[str, ...]:
    """What was averaged over what."""
    held = {name: value for name, value in grid.held.items() if name not in grid.names}
    notes = [*averager.notes]
    if grid.averaged:
        notes.append(f"Averaged over {listing(grid.averaged)}, weights: {weights}.")
    if held:
        notes.append(f"Held at {listing([f'{name} = {shown_value(value)}' for name, value in held.items()])}.")
    if averager.results.covariance != "model":
        notes.append(f"Standard errors: {averager.results.own_covariance.words}.")
    involved = _interacting(averager, grid)
    if involved:
        notes.append(f"NOTE: results may be misleading due to involvement in interactions ({', '.join(involved)}).")
    return tuple(notes)


def shown_value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _interacting(averager: Averager, grid: Grid) -> list[str]:
    """Terms in which a variable of the cells interacts with one that is averaged over."""
    return [
        term
        for term, variables in averager.results.design.spec.variables().items()
        if variables & set(grid.names) and variables & set(grid.averaged)
    ]


@told_arguments(
    mode="scale=, such as scale='prob'",
    type="scale=, such as scale='prob'",
    specs="the variables as first argument",
    adjust=".contrasts(adjust=) of what it gives",
)
def marginal_means(
    r: FittedLikelihood,
    variables: str | Sequence[str],
    *,
    by: str | Sequence[str] | None = None,
    scale: str = "latent",
    at: Mapping[str, Any] | None = None,
    weights: str = "equal",
    cov_keep: int | str | Sequence[int | str] | None = None,
    cov_reduce: str = "weighted_mean",
    data: Any = None,
    level: float = 0.95,
    vcov: Any = None,
    re: str | None = None,
) -> Emmeans:
    """Estimated marginal means over a balanced grid of the variables."""
    normal_quantile(level)
    one_of("weights", weights, WEIGHTS)
    averager = Averager.of(r, scale, vcov, re)
    specs = read_specs(variables, by, r.design.response)
    grid = grid_of(population(r, None, None, data), specs, at, cov_keep, cov_reduce)
    averages = cell_averages(averager, grid, grid_rows(averager, grid.frame), weights)
    means = Emmeans(grid.cells, specs.by, averages, averager, level, grid_notes(averager, grid, weights), specs.method)
    return checked(means)


def checked(means: M) -> M:
    """The means, with a DataWarning where one has no standard error."""
    known = means.averager.settled(together(means.averages)).known
    warn_of_unknown(pd.DataFrame({"std_error": np.where(known, 0.0, np.nan)}))
    return means
