"""Slopes and joint tests of marginal means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import mapping, one_of
from ..exceptions import OptionError
from ..formula.sample import Rows
from ..inference.comparison import Joint, by_estimated, joint_frame, joint_test
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.parameters import listed, texts
from ..likelihood.standard_errors import infinite_parameters, normal_quantile
from ..report.frames import NotedFrame
from .average import Average, Averager
from .contrasts import interactions
from .counterfactual import AT, Population, in_one_unit, population, tangent
from .emmeans import checked, grid_notes, grid_rows, tell_crossed
from .grid import WEIGHTS, Grid, Specs, grid_of, read_specs
from .means import Emmeans, groups_of, listing


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


#: A derivative of a contrast is rounding, up to this share of the largest among the rows.
_ROUNDING = 1e-10
#: Singular values of what the data leave untold below this share of the largest are zero.
_RANK = 1e-8


def joint_tests(
    r: FittedLikelihood,
    by: str | Sequence[str] | None = None,
    *,
    at: Mapping[str, Any] | None = None,
    cov_keep: int | str | Sequence[int | str] | None = None,
    cov_reduce: str = "weighted_mean",
    data: Any = None,
    vcov: Any = None,
) -> NotedFrame:
    """Wald tests of every term from contrasts of latent means: whether the means of `emmeans` differ at all."""
    averager, rows, groups = Averager.of(r, "latent", vcov), population(r, None, None, data), tuple(texts("by", by))
    for name in groups:
        rows.check(name)
    terms = _terms(rows, r.design.spec.variables().values(), groups)
    if not terms:
        raise OptionError("joint_tests needs a variable of the formula that is not in by=.")
    given = mapping("at", at, AT)
    values = {**_around_means(rows, [*groups, *given, *_names(cov_keep)], cov_reduce), **given}
    front, tests = [], []
    for term in terms:
        grid = grid_of(rows, Specs(term, groups), values, cov_keep, cov_reduce)
        for key, test in _tests(averager, grid, term, groups):
            front.append({"term": ":".join(term), **key})
            tests.append(test)
    if not front:
        raise OptionError("joint_tests needs a variable that moves the location: none of the formula does.")
    tested = joint_frame([str(one["term"]) for one in front], tests).reset_index(drop=True)
    table = pd.concat([pd.DataFrame(front), tested], axis="columns")
    return NotedFrame.of(table, _notes(averager.results, groups, table))


def _names(keep: Any) -> list[str]:
    """The names among what numbers keep all their values by."""
    return [name for name in listed(keep) if isinstance(name, str)]


def _terms(rows: Population, terms: Iterable[frozenset[str]], by: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All sets of variables that some term has together, the small ones first."""
    free = [name for name in rows.variables if name not in by]
    together = [frozenset(term) for term in terms]
    sizes = range(1, max(map(len, together), default=0) + 1)
    sets = (chosen for size in sizes for chosen in combinations(free, size))
    return [chosen for chosen in sets if any(term.issuperset(chosen) for term in together)]


def _around_means(rows: Population, settled: Sequence[str], cov_reduce: str) -> dict[str, list[float]]:
    """Two values of every other number: its mean less and plus one, or as much as keeps both among the data."""
    found = {}
    for name in rows.variables:
        if name in rows.categories or name in settled:
            continue
        mean, values = rows.mean(name, weighted=cov_reduce == "weighted_mean"), rows.distinct(name)
        step = min(1.0, mean - values[0], values[-1] - mean)
        found[name] = [mean - step, mean + step]
    return found


def _tests(
    averager: Averager, grid: Grid, term: tuple[str, ...], by: tuple[str, ...]
) -> Iterator[tuple[dict[str, Any], Joint]]:
    """The test of all differences (of differences) of the means of a term, at each combination of the values of `by`.

    Nothing for a term that moves none of them: of the scale alone.
    """
    rows = grid_rows(averager, grid.frame)
    size = rows.n // len(grid.cells)
    levels = [[str(value) for value in grid.values[name]] for name in term]
    if min(map(len, levels)) < 2:
        return
    sets = interactions(["sequential"] * len(levels), levels, " - ", reverse=False).values()
    wanted = np.repeat(np.array(list(sets)) / size, size, axis=1)
    for key, members in groups_of(grid.cells, by):
        cells = rows.take(np.concatenate([np.arange(k * size, (k + 1) * size) for k in members]))
        _, jacobian = averager.contrasts(cells, wanted)
        if (np.abs(jacobian) / averager.sizes(cells)).max() > _ROUNDING:
            yield key, _test(averager, cells, _told(averager.untold(cells, wanted, jacobian)) @ wanted)


def _told(untold: FloatArray) -> FloatArray:
    """(d, h) all combinations of h contrasts that have nothing (h, U) untold in them."""
    if not untold.any():
        return np.eye(len(untold))
    left, sizes, _ = np.linalg.svd(untold)
    return left[:, int((sizes > _RANK * sizes[0]).sum()) :].T


def _test(averager: Averager, rows: Rows, weights: FloatArray) -> Joint:
    """Wald test of contrasts by their weights (d, n)."""
    if not len(weights):
        return Joint(np.nan, 0)
    values, jacobian = averager.contrasts(rows, weights)
    infinite = infinite_parameters(averager.results.fit)
    if infinite is not None:
        jacobian[:, infinite] = 0.0  # but for rounding
    return joint_test(averager.results, by_estimated(averager.results, jacobian), values)


def _notes(r: FittedLikelihood, by: tuple[str, ...], table: pd.DataFrame) -> list[str]:
    inside = f" within {listing(by)}" if by else ""
    notes = [
        f"Wald tests of all contrasts of latent means{inside}, {r.covariance} covariance.",
        "Other variables weigh equally.",
    ]
    if (table["df"] == 0).any():
        notes.append("NA: the data do not determine any of the contrasts.")
    if (table["df"] > r.own_covariance.most_at_once).any():
        notes.append(f"NA: {r.own_covariance.why_no_more}.")
    return notes
