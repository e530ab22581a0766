"""Estimated marginal means and trends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..checks import one_of
from ..exceptions import OptionError
from ..formula.sample import Rows
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.standard_errors import normal_quantile
from .average import Average, Averager
from .counterfactual import in_one_unit, population, tangent
from .grid import WEIGHTS, Grid, cell_weights, grid_of, on_one_scale, read_specs
from .means import Emmeans, checked, listing, shown_value


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
    var: str | None = None,
) -> Emmeans:
    """Estimated marginal means over a balanced grid of the variables, or slopes of the number `var`."""
    normal_quantile(level)
    one_of("weights", weights, WEIGHTS)
    averager = Averager.of(r, scale, vcov, re)
    specs = read_specs(variables, by, r.design.response, "emmeans" if var is None else "emtrends")
    everyone = population(r, None, None, data)
    if var is not None:
        everyone.check(var)
        if var in everyone.categories or var in specs.names:
            what = "a factor" if var in everyone.categories else "among the variables of the means"
            raise OptionError(f"var must be a number of the formula that is not in the groups; {var!r} is {what}.")
    grid = grid_of(everyone, specs, at, cov_keep, cov_reduce)
    averages, notes = _cells(averager, grid, weights, var), _notes(averager, grid, weights)
    return checked(Emmeans(grid.cells, specs.by, averages, averager, level, notes, specs.method, var))


def _cells(averager: Averager, grid: Grid, weights: str, var: str | None) -> list[Average]:
    """The average or slope of each cell; NaN where the data have no row in a cell and `weights` needs them."""
    rows, shares = grid_rows(averager, grid.frame), cell_weights(grid, weights)
    flat = np.nan_to_num(shares.ravel())
    averager.report_crossed(averager.crossed(rows, flat), flat)
    moved = None if var is None else _tangent(averager, grid, var)
    averages, size = [], shares.shape[1]
    for k, row in enumerate(shares):
        cell, empty = slice(k * size, (k + 1) * size), np.isnan(row).any()
        share = np.full(size, 1.0 / size) if empty else row
        if moved is None:
            average = averager.over(rows.take(cell), share)
        else:
            average = averager.slope(rows.take(cell), moved.take(cell), share)
        averages.append(average.unknown() if empty else average)
    return averages


def _tangent(averager: Averager, grid: Grid, var: str) -> Rows:
    """The derivatives of the rows of a grid by a number."""
    spec, known = averager.results.design.spec, grid.population.known_values(var)
    moved = tangent(averager.design, grid.frame, var, known, spec.linear_in(var))
    return in_one_unit(moved) if averager.scale == "latent" else moved


def grid_rows(averager: Averager, frame: pd.DataFrame) -> Rows:
    """The design of the grid; latent variables on one scale."""
    rows = averager.design(frame)
    return on_one_scale(rows) if averager.scale == "latent" else rows


def _notes(averager: Averager, grid: Grid, weights: str) -> tuple[str, ...]:
    """What was averaged over what."""
    averaged = [name for name, values in grid.values.items() if name not in grid.names and len(values) > 1]
    held = [
        f"{name} = {shown_value(values[0])}"
        for name, values in grid.values.items()
        if name not in grid.names and len(values) == 1
    ]
    notes = [*averager.notes]
    if averaged:
        notes.append(f"Averaged over {listing(averaged)}, weights: {weights}.")
    if held:
        notes.append(f"Held at {listing(held)}.")
    if averager.results.covariance != "model":
        notes.append(f"Standard errors: {averager.results.own_covariance.words}.")
    terms = averager.results.design.spec.variables().items()
    mixed = [term for term, variables in terms if variables & set(grid.names) and variables & set(averaged)]
    if mixed:
        notes.append(f"NOTE: results may be misleading due to involvement in interactions ({', '.join(mixed)}).")
    return tuple(notes)
