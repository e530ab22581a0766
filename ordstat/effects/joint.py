"""Joint tests of marginal means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import mapping
from ..exceptions import OptionError
from ..formula.sample import Rows
from ..inference.wald import Joint, by_estimated, joint_frame, joint_test
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.parameters import listed, texts
from ..likelihood.standard_errors import infinite_parameters
from ..report.frames import NotedFrame
from .average import Averager
from .contrasts import interactions
from .counterfactual import AT, Population, population
from .emmeans import grid_rows
from .grid import Grid, Specs, grid_of
from .means import groups_of, listing

#: A derivative of a contrast is rounding, up to this share of the largest among the rows.
_ROUNDING = 1e-10
#: Singular values of the undetermined parts below this share of the largest are zero.
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
    terms = [frozenset(term) for term in r.design.spec.variables().values()]
    free = [name for name in rows.variables if name not in groups]
    sizes = range(1, max(map(len, terms), default=0) + 1)
    # All sets of variables that some term has together, the small ones first.
    sets = [chosen for size in sizes for chosen in combinations(free, size) if any(term >= {*chosen} for term in terms)]
    if not sets:
        raise OptionError("joint_tests needs a variable of the formula that is not in by=.")
    given = mapping("at", at, AT)
    kept = [name for name in listed(cov_keep) if isinstance(name, str)]
    values = {**_around_means(rows, [*groups, *given, *kept], cov_reduce), **given}
    front, tests = [], []
    for chosen in sets:
        grid = grid_of(rows, Specs(chosen, groups), values, cov_keep, cov_reduce)
        for key, test in _tests(averager, grid, chosen, groups):
            front.append({"term": ":".join(chosen), **key})
            tests.append(test)
    if not front:
        raise OptionError("joint_tests needs a variable that moves the location: none of the formula does.")
    tested = joint_frame([str(row["term"]) for row in front], tests).reset_index(drop=True)
    table = pd.concat([pd.DataFrame(front), tested], axis="columns")
    r, inside = averager.results, f" within {listing(groups)}" if groups else ""
    notes = [
        f"Wald tests of all contrasts of latent means{inside}, {r.covariance} covariance.",
        "Other variables weigh equally.",
    ]
    if (table["df"] == 0).any():
        notes.append("NA: the data do not determine any of the contrasts.")
    if (table["df"] > r.own_covariance.most_at_once).any():
        notes.append(f"NA: {r.own_covariance.why_no_more}.")
    return NotedFrame.of(table, notes)


def _around_means(rows: Population, settled: Sequence[str], cov_reduce: str) -> dict[str, list[float]]:
    """Two values of every other number: its mean less and plus one, or as much as keeps both among the data."""
    around = {}
    for name in rows.variables:
        if name not in rows.categories and name not in settled:
            mean, values = rows.mean(name, weighted=cov_reduce == "weighted_mean"), rows.distinct(name)
            step = min(1.0, mean - values[0], values[-1] - mean)
            around[name] = [mean - step, mean + step]
    return around


def _tests(
    averager: Averager, grid: Grid, term: tuple[str, ...], by: tuple[str, ...]
) -> Iterator[tuple[dict[str, Any], Joint]]:
    """The test of all differences (of differences) of the means of a term, at each combination of the values of `by`.

    A term of the scale alone, which moves no mean, has no test.
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
            yield key, _test(averager, cells, wanted, averager.undetermined(cells, wanted, jacobian))


def _test(averager: Averager, rows: Rows, wanted: FloatArray, undetermined: FloatArray) -> Joint:
    """Wald test of the combinations of contrasts (h, n) in which nothing is undetermined (h, U)."""
    weights = wanted
    if undetermined.any():
        left, sizes, _ = np.linalg.svd(undetermined)
        weights = left[:, int((sizes > _RANK * sizes[0]).sum()) :].T @ wanted
    if not len(weights):
        return Joint(np.nan, 0)
    values, jacobian = averager.contrasts(rows, weights)
    infinite = infinite_parameters(averager.results.fit)
    if infinite is not None:
        jacobian[:, infinite] = 0.0  # but for rounding
    return joint_test(averager.results, by_estimated(averager.results, jacobian), values)
