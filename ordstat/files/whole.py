"""Whether the parts of a loaded fit go with each other: their rows, columns and levels.

A fit that `save` wrote always does; compiled loops rely on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..exceptions import DataError
from .sound import codes_below


def check_whole(fit: Any) -> None:
    """DataError where the parts of a fit are of different sizes."""
    if not all(_agreements(fit)):
        raise DataError("its parts do not go with each other.")


def _agreements(fit: Any) -> Iterator[bool]:
    """Every comparison, the simple ones first: later ones rest on them."""
    design, sample, n = fit.design, fit.design.sample, fit.design.sample.n
    yield len(design.index) == n and len(fit.fit.scores) == n
    yield len(design.names) == sample.X.shape[1]
    yield len(design.levels.values) == sample.n_levels
    if design.survey is not None:
        yield _of_survey(design.survey, n)
    robust = getattr(fit, "robust", None)
    if robust is not None:
        yield robust.cluster is None or codes_below(robust.cluster, n, max(n, 1))
        yield robust.survey is None or _of_survey(robust.survey, n)
    if hasattr(fit.fit, "likelihood"):
        yield from _of_likelihood(fit.fit.likelihood, n)
    if hasattr(fit.fit, "learned"):
        yield _of_learned(fit.fit.learned, sample)


def _of_survey(survey: Any, n: int) -> bool:
    rows = survey.psu if hasattr(survey, "psu") else survey.weights
    return len(rows) == n


def _of_likelihood(at: Any, n: int) -> Iterator[bool]:
    """Estimates and rows of the likelihood that is kept to be asked again."""
    if not hasattr(at, "problem"):  # random effects: `sound` has looked at their model
        return
    problem, rows, K = at.problem, at.problem.sample.rows, at.problem.sample.n_levels
    used = problem.used
    yield rows.n == n if used is None else codes_below(used, rows.n, n)
    nominal, scale = (0 if part is None else part.shape[1] for part in (rows.nominal, rows.scale))
    parts = (problem.location, rows.X.shape[1]), (problem.nominal, nominal), (problem.scale, scale)
    for columns, width in parts:
        sizes = {columns.mean.shape, columns.deviation.shape, columns.kept.shape}
        yield len(sizes) == 1 and columns.kept.sum() == width
    yield problem.counts.shape == (K,)
    each = (K - 1) if problem.structure is None else problem.structure.jacobian.shape[1]
    yield problem.structure is None or len(problem.structure.jacobian) == K - 1
    yield at.estimates.shape == (each * (1 + nominal) + rows.X.shape[1] + scale + problem.n_lambda,)


def _of_learned(learned: Any, sample: Any) -> bool:
    """State of an online ranker of D columns and K levels."""
    D, K = sample.X.shape[1], sample.n_levels
    state = learned.state
    if learned.scaling.centre.shape != (D,) or learned.scaling.factor.shape != (D,):
        return False
    if hasattr(state, "weights"):
        return state.weights.shape in ((D + K - 1,), (K - 1, D + 1))
    sums = (1, K - 1) if state.b.size else (K - 1, 0)
    return (len(state.last), state.b.size) == sums and bool(np.ndim(state.anchors) >= 1)
