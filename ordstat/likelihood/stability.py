"""Stability selection: how often an elastic net selects a term in random halves of the
rows [Meinshausen and Buehlmann 2010; in complementary pairs, Shah and Samworth 2013].
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, Progress
from ..checks import generator, jobs, reporter, ticking, whole
from ..exceptions import DataError, UnavailableError
from ..judging.folds import held_weights, with_weights
from ..report.frames import NotedFrame
from ..threads import in_threads
from .elastic_path import path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..formula.sample import Sample
    from .path_results import PathResults

#: Share of the halves for which the note bounds the number of terms selected by chance.
_STABLE = 0.9


def selection_frequencies(
    r: PathResults,
    pairs: int,
    seed: int | np.random.Generator,
    n_jobs: int,
    callback: Progress | None,
) -> NotedFrame:
    """The table of `PathResults.stability`."""
    pairs = whole("pairs", pairs, 1)
    if r.method.elastic_net.l1_ratio == 0.0:
        raise UnavailableError(
            "stability() needs a penalty that selects terms; a ridge keeps all. Use"
            " ElasticNet(l1_ratio=1)."
        )
    rng = generator(seed)
    tick = ticking(reporter(callback), 2 * pairs)
    sample = r.design.sample
    halves: list[FloatArray] = []
    for _ in range(pairs):
        held = held_weights(
            sample.X, sample.y, sample.case_weights, 2, rng, sample.cluster
        )
        if len(held) < 2:
            raise DataError(
                "stability() needs two halves of the clusters that both have every"
                " level of the response. Merge rare levels, or use more clusters."
            )
        halves += list(held)
    tasks = [(r, with_weights(sample, half), tick) for half in halves]
    nonzero = in_threads(_selected_columns, tasks, jobs(n_jobs))
    q = len(r.design.nominal_names)
    location = _shares(r.design.terms, [columns[q:] for columns in nonzero])
    table = location.mean().to_frame("frequency")
    chosen = location.sum(axis=1)
    count = location.shape[1]
    if q:
        nominal = _shares(r.design.nominal_terms, [columns[:q] for columns in nonzero])
        table = table.join(nominal.mean().rename("nominal_frequency"), how="outer")
        table = table.dropna(axis="columns", how="all")
        chosen = chosen + nominal.sum(axis=1)
        count += nominal.shape[1]
    table = table.sort_values(list(table.columns), ascending=False, kind="stable")
    stable = int((table >= _STABLE).to_numpy().sum())
    bound = float(chosen.mean()) ** 2 / ((2.0 * _STABLE - 1.0) * count)
    notes = [
        f"Share of {2 * pairs} random halves of the observations in which lambda ="
        f" {r.lambda_:.4g} selects the term. On average a half selects"
        f" {chosen.mean():.1f} of {count} terms; of terms with a frequency of"
        f" {_STABLE:g} or more ({stable} here), at most {bound:.1f} are expected by"
        " chance [Meinshausen and Buehlmann 2010, theorem 1]."
    ]
    if 0 < stable <= bound:
        notes.append(
            "Here that bound is uninformative. Take a larger lambda, as in"
            " fit.at(lam).stability()."
        )
    formats = dict.fromkeys(table.columns, ".2f")
    return NotedFrame.of(table, notes, "Stability selection", formats)


def _selected_columns(
    r: PathResults, half: Sample, tick: Callable[..., None]
) -> BoolArray:
    """(q + D,) columns, nominal ones first, that a half of the rows selects at the
    lambda of the fit.
    """
    path = r.fit.path
    assert path is not None
    lambdas = tuple(path.lambdas[: r.fit.position + 1])
    net = replace(r.method.elastic_net, lambdas=lambdas, cv=None, choose="bic")
    problem, path = path_of(r.method, net, half, np.random.default_rng(0))
    rule = problem.rule(path.estimates[-1], problem.family, r.method.cost_matrix)
    tick("halves")
    return np.append((rule.alpha[:, 1:] != 0.0).any(axis=0), rule.beta != 0.0)


def _shares(terms: Mapping[str, slice], nonzero: list[BoolArray]) -> pd.DataFrame:
    """Whether each half selects each term."""
    return pd.DataFrame(
        {
            term: [bool(half[columns].any()) for half in nonzero]
            for term, columns in terms.items()
        },
        index=range(len(nonzero)),
        dtype=float,
    )
