"""Likelihood-ratio test that monotone effects are 0."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from .._typing import FloatArray
from ..checks import generator, whole
from ..exceptions import UnavailableError
from ..report.frames import NotedFrame
from .monotone import SteppedModel

if TYPE_CHECKING:
    from .monotone_results import MonotoneResults

_NOTE = (
    "p: test that all levels of {} have the same effect. The likelihood ratio has a"
    " mixture of chi-squared distributions, whose weights are shares of {} draws"
    " [Silvapulle and Sen 2005]."
)


def monotone_test(
    r: MonotoneResults, draws: int, seed: int | np.random.Generator
) -> NotedFrame:
    """The table of `MonotoneResults.monotone_test`."""
    whole("draws", draws, 100)
    rng = generator(seed)
    estimation = replace(r.fit.likelihood.estimation, penalty=None)
    model = SteppedModel.of(r.method, estimation, r.design.sample)
    others = model.estimated & ~model.bounded
    null = model.fitted(others)
    if null.determined is not None or null.diverging.any():
        raise UnavailableError(
            "monotone_test() needs finite estimates without mono(); the other effects"
            " have none. Leave them out."
        )
    information = efficient_information(model, model.point(null, others))
    weights = mixture_weights(information, draws, rng)
    statistic = max(2.0 * (r.loglik - null.loglik()), 0.0)
    tails = [chdtrc(df, statistic) for df in range(1, weights.size)]
    p_value = 1.0 if statistic == 0.0 else float(weights[1:] @ np.array(tails))
    mean_df = float(weights @ np.arange(weights.size))
    table = pd.DataFrame(
        {"chisq": [statistic], "mean_df": [mean_df], "p_value": [p_value]},
        index=["all steps are 0"],
    )
    note = _NOTE.format(" and of ".join(r.joined_levels), f"{draws:,}")
    title = "Likelihood ratio test of monotone effects"
    return NotedFrame.of(table, [note], title, {"chisq": ".3f", "mean_df": ".2f"})


def efficient_information(model: SteppedModel, x: FloatArray) -> FloatArray:
    """(m, m) information about the steps at a point, with all other parameters
    estimated.
    """
    problem = model.problem
    at = problem.evaluate(x)
    assert at is not None
    dense = at.information.dense()
    of_location = np.arange(x.size)[problem.solver_layout.of_location]
    steps = of_location[model.bounded[model.estimated]]
    rest = np.setdiff1d(np.arange(x.size), steps)
    cross = dense[np.ix_(rest, steps)]
    explained = cross.T @ np.linalg.solve(dense[np.ix_(rest, rest)], cross)
    return np.asarray(dense[np.ix_(steps, steps)] - explained)


def mixture_weights(
    information: FloatArray, draws: int, rng: np.random.Generator
) -> FloatArray:
    """(m + 1,) shares of draws, of m normal estimates with mean 0 and this information,
    whose projection on values >= 0 has 0, 1, ..., m positive entries.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> mixture_weights(np.eye(2), 10_000, rng).round(1)  # binomial
    array([0.2, 0.5, 0.2])
    """
    from scipy.optimize import nnls

    root = np.linalg.cholesky(information).T
    size = len(root)
    counts = np.zeros(size + 1)
    for normal in rng.normal(size=(draws, size)):
        nearest, _ = nnls(root, normal)
        counts[np.count_nonzero(nearest)] += 1.0
    return counts / draws
