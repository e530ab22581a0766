"""Random effects as tables: their variances, and the effects of the groups."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from ....checks import fraction, one_of
from ....exceptions import UnavailableError
from ....model.likelihood.marginal import Marginal
from ...report.noted import NotedFrame
from ..fitted import FittedLikelihood


def marginal_of(r: FittedLikelihood, name: str) -> Marginal:
    """The random effects of a fit; UnavailableError where it has none."""
    if r.fit.marginal is None:
        raise UnavailableError(
            f".{name} is available of fits with random effects alone: add a term such as (1 | group) to the formula."
        )
    return r.fit.marginal


def variance_table(r: FittedLikelihood, level: float = 0.95) -> pd.DataFrame:
    """Variances and correlations of the random effects, as R's VarCorr.

    Parameters
    ----------
    level : float in (0, 1)
        Confidence level of the limits of standard deviations: Wald's, on the scale of their logarithms.

    Returns
    -------
    pandas.DataFrame
        One row a column of a random term, by (group, name): variance, sd, std_error and limits of the sd, and its
        correlations with the columns before it. A variance at its boundary, 0, has no error.

    Raises
    ------
    UnavailableError
        The fit has no random effects.
    OptionError
        A level that does not lie between 0 and 1.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact + (1 | judge)", datasets.load("wine"))
    >>> fit.varcorr().round(3).loc[("judge", "(Intercept)"), ["variance", "sd", "std_error"]].tolist()
    [1.279, 1.131, 0.399]
    """
    marginal, level = marginal_of(r, "varcorr"), fraction("level", level)
    own = r.random_parameters
    assert own is not None
    sd = [k for k, kind in enumerate(own.kinds) if kind == "sd"]
    errors, limits = own.errors, own.limits(level)
    index = [(term.group, name) for term in r.design.random for name in term.names]
    frame = pd.DataFrame(
        {
            "variance": own.estimates[sd] ** 2,
            "sd": own.estimates[sd],
            "std_error": errors[sd],
            "lower": limits[sd, 0],
            "upper": limits[sd, 1],
        },
        index=pd.MultiIndex.from_tuples(index, names=["group", "name"]),
    )
    widest = max(len(term.names) if term.correlated else 1 for term in r.design.random)
    for k in range(1, widest):
        frame[f"corr_{k}"] = np.nan
    start = 0
    for term, effects in zip(r.design.random, marginal.terms, strict=True):
        for a, b in combinations(range(len(term.names)), 2) if term.correlated else ():
            frame.iloc[start + b, 5 + a] = effects.correlations[a, b]
        start += len(term.names)
    return NotedFrame.of(frame, (f"{100 * level:g} % limits: those of log standard deviations.",), "Random effects")


def group_effects(r: FittedLikelihood, group: str | None = None) -> pd.DataFrame:
    """Conditional modes of the random effects, as R's ranef, with conditional standard deviations.

    Parameters
    ----------
    group : str, optional
        The grouping whose terms are asked for, such as "judge"; all if not given.

    Returns
    -------
    pandas.DataFrame
        One row for every group and column of a random term: term, group, level, name, mode, sd (given the parameters,
        as R's condVar).

    Raises
    ------
    UnavailableError
        The fit has no random effects.
    OptionError
        No random term is of that grouping.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact + (1 | judge)", datasets.load("wine"))
    >>> fit.ranef().round(3).head(2)[["group", "level", "name", "mode", "sd"]]
       group level         name   mode     sd
    0  judge     1  (Intercept)  1.696  0.554
    1  judge     2  (Intercept) -0.566  0.615
    """
    marginal, parts = marginal_of(r, "ranef"), []
    if group is not None:
        one_of("group", group, dict.fromkeys(term.group for term in r.design.random))
    for term, effects in zip(r.design.random, marginal.terms, strict=True):
        if group not in (None, term.group):
            continue
        groups, (count, q) = term.groups, effects.modes.shape
        deviations = np.sqrt(np.maximum(np.einsum("gqq->gq", effects.conditional), 0.0))
        parts.append(
            pd.DataFrame(
                {
                    "term": term.text,
                    "group": term.group,
                    "level": pd.Series([label for label in groups for _ in range(q)], dtype=object),
                    "name": list(term.names) * count,
                    "mode": effects.modes.reshape(-1),
                    "sd": deviations.reshape(-1),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)
