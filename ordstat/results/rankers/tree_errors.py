"""Errors of aggregated trees, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...exceptions import UnavailableError
from ...model.sample import Sample
from .staged import stages
from .tree_votes import FittedTrees

_ERRORS = ("classification", "absolute", "squared")


def tree_errors(
    fit: FittedTrees, newdata: Any = None, *, every: int = 1, rounds: Sequence[int] | None = None
) -> pd.DataFrame:
    """Mean errors after every round, on the rows of the fit and on new ones.

    Parameters
    ----------
    newdata : data frame, optional
        With the response.
    every : int
        Only every so many rounds, and the last.
    rounds : sequence of int, optional
        These alone, in place of `every`.

    Returns
    -------
    pandas.DataFrame
        Columns classification, absolute and squared of the training rows, then "new classification", ... of
        `newdata`; the index is the round.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "bagging", rounds=20)
    >>> fit.staged_errors(every=10).index.tolist()
    [10, 20]
    """
    chosen = stages(fit, every, rounds)
    samples = {"": fit.design.sample}
    if newdata is not None:
        samples["new "] = fit.new_sample(newdata)[1]
    parts = [_errors(fit, name, sample, chosen) for name, sample in samples.items()]
    return pd.concat(parts, axis=1)


def _errors(fit: FittedTrees, prefix: str, sample: Sample, chosen: list[int]) -> pd.DataFrame:
    distance = np.abs(fit.fit.votes.codes(sample.rows, frozenset(chosen)) - sample.y).astype(np.float64)
    weights = sample.case_weights / sample.case_weights.sum()
    means = [np.minimum(distance, 1.0) @ weights, distance @ weights, distance**2 @ weights]
    columns = [prefix + name for name in _ERRORS]
    return pd.DataFrame(np.column_stack(means), index=pd.Index(chosen, name="round"), columns=columns)


def out_of_bag(fit: FittedTrees) -> pd.DataFrame:
    """Mean errors of the rows by the rounds whose samples they were not drawn into, after every round.

    Returns
    -------
    pandas.DataFrame
        Columns classification, absolute, squared, and share: the weight of the rows that were left out of a sample
        (of every split) so far. A row of weight w is w rows, each drawn or left out on its own.

    Raises
    ------
    UnavailableError
        The trees grow on all rows.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "bagging", rounds=20)
    >>> fit.out_of_bag_errors().columns.tolist()
    ['classification', 'absolute', 'squared', 'share']
    """
    found = fit.fit.out_of_bag
    if found is None:
        raise UnavailableError(
            f"{fit.method!r} grows its trees on all rows, so none is out of bag: use sampling='resample', or "
            "'bagging', or .errors(cv=10)."
        )
    index = pd.RangeIndex(1, len(found.share) + 1, name="round")
    return pd.DataFrame(found.errors, index=index, columns=list(_ERRORS)).assign(share=found.share)
