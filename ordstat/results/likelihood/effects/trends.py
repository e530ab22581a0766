"""Slopes of a number at the levels of other variables: how its effect differs between groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....checks import one_of
from ....exceptions import OptionError
from ..fitted import FittedLikelihood
from ..standard_errors import normal_quantile
from .average import Average, Averager
from .counterfactual import population
from .emmeans import checked, grid_notes, grid_rows, tell_crossed
from .grid import WEIGHTS, Grid, grid_of
from .means import Emmeans
from .specs import read_specs
from .tangents import in_one_unit, tangent


def marginal_trends(
    r: FittedLikelihood,
    variables: str | Sequence[str],
    var: str,
    *,
    by: str | Sequence[str] | None = None,
    at: Mapping[str, Any] | None = None,
    scale: str = "latent",
    weights: str = "equal",
    cov_keep: int | str | Sequence[int | str] | None = None,
    cov_reduce: str = "weighted_mean",
    data: Any = None,
    level: float = 0.95,
    vcov: Any = None,
    re: str | None = None,
) -> Emmeans:
    """Slopes of a number by the levels of other variables, over the grid of `emmeans`."""
    normal_quantile(level)
    one_of("weights", weights, WEIGHTS)
    averager = Averager.of(r, scale, vcov, re)
    specs = read_specs(variables, by, r.design.response, "emtrends")
    rows = population(r, None, None, data)
    rows.check(var)
    if var in rows.categories or var in specs.names:
        what = "a factor" if var in rows.categories else "among the variables of the means"
        raise OptionError(f"var must be a number of the formula that is not in the groups; {var!r} is {what}.")
    grid = grid_of(rows, specs, at, cov_keep, cov_reduce)
    averages = _slopes(averager, grid, var, weights)
    notes = grid_notes(averager, grid, weights)
    return checked(Emmeans(grid.cells, specs.by, averages, averager, level, notes, specs.method, var))


def _slopes(averager: Averager, grid: Grid, var: str, weights: str) -> list[Average]:
    """The derivative in every cell."""
    spec, known = averager.results.design.spec, grid.population.known_values(var)
    rows = grid_rows(averager, grid.frame)
    tell_crossed(averager, grid, rows, weights)
    moved = tangent(averager.design, grid.frame, var, known, spec.linear_in(var))
    if averager.scale == "latent":
        moved = in_one_unit(moved)
    found = []
    for cell, shares in grid.by_cell(weights):
        told = not np.isnan(shares).any()
        w = shares if told else np.full_like(shares, 1.0 / shares.size)
        slope = averager.slope(averager.directions(rows.take(cell)), moved.take(cell), w)
        found.append(slope if told else slope.untold())
    return found
