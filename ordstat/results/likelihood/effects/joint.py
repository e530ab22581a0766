"""Tests of all contrasts of the means of a term at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ...._typing import FloatArray
from ....checks import mapping
from ....exceptions import OptionError
from ....model.sample import Rows
from ...report.noted import NotedFrame
from ..fitted import FittedLikelihood
from ..joint_tests import Joint, by_estimated, joint_frame, joint_test
from ..parameters import listed, texts
from ..standard_errors import infinite_parameters
from .average import Averager
from .contrasts import interactions
from .counterfactual import AT, Population, population
from .emmeans import grid_rows
from .grid import Grid, grid_of
from .means import groups_of, listing
from .specs import Specs

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
