"""Subgroup analysis: the effect of a column within the levels of others, with tests of
interaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import fraction, listed_texts, one_of
from ..exceptions import OptionError
from ..likelihood.covariance_choice import is_matrix
from ..likelihood.unavailable import check_available
from ..report.frames import NotedFrame
from ..report.ratios import Ratio, ratio_of
from .average import Average, Averager
from .counterfactual import Population, population
from .margins import marginal_effects
from .superiority import compared_levels, superiority

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults

#: What is compared: a ratio of the link, such as odds, or win odds.
MEASURES = ("ratio", "win odds")
#: The row of all data.
ALL = "all"
#: A column with more levels names rows rather than groups of them.
_MOST_LEVELS = 50


def subgroup_effects(
    r: LikelihoodResults,
    variable: str,
    subgroups: str | Sequence[str],
    *,
    measure: str,
    levels: Sequence[Any] | None,
    better: str,
    level: float,
    vcov: Any,
) -> NotedFrame:
    """Effects of a column within the levels of others, one fit with an interaction for
    each.
    """
    fraction("level", level)
    one_of("measure", measure, MEASURES)
    names = listed_texts("subgroups", subgroups)
    if not names:
        raise OptionError("subgroups must name a column at least; got none.")
    chosen = r.with_vcov(vcov) if is_matrix(vcov) else r
    check_available(chosen, "subgroups()")
    everyone = population(r, None, None, None)
    compared = _two_levels(everyone, variable, levels)
    shown = _shown(r, variable, compared[1], measure, better)
    options = {"measure": measure, "levels": compared, "better": better, "vcov": vcov}
    overall = _effects(r, variable, None, shown.sign, **options)
    parts = [_part(overall, level, ALL, [everyone.total], np.nan)]
    for subgroup in names:
        _check_subgroup(everyone, variable, subgroup, r.design.response)
        fit = _with_interaction(r, variable, subgroup)
        effects = _effects(fit, variable, subgroup, shown.sign, **options)
        p_value = _p_interaction(effects)
        sizes = _sizes(fit, subgroup, effects.values)
        parts.append(_part(effects, level, subgroup, sizes, p_value))
    averager = overall.averager
    notes = [
        shown.direction,
        f"Fits with {variable} in interaction with each column, one at a time.",
        f"{100 * level:g}% confidence intervals; standard errors:"
        f" {averager.error_words}.",
        "interaction_p_value: Wald test that the effects of the levels are equal.",
        *averager.notes,
    ]
    return NotedFrame.of(
        pd.concat(parts, ignore_index=True),
        notes,
        f"{shown.name.capitalize()}, {compared[1]} vs {compared[0]}",
        {"n": "int"},
    )


class _Shown(NamedTuple):
    """How the effects of a measure are shown.

    Attributes
    ----------
    name : str
    sign : float
        -1 where the ratio is that of lower responses.
    direction : str
        What a value above 1 says.
    """

    name: str
    sign: float
    direction: str


def _shown(
    r: LikelihoodResults, variable: str, treated: Any, measure: str, better: str
) -> _Shown:
    if measure == "ratio":
        if better != "higher":
            raise OptionError(
                f"better must be left out with measure='ratio'; got {better!r}."
            )
        ratio = _ratio(r, variable)
        return _Shown(ratio.name, ratio.sign, ratio.direction)
    name = f"{measure} (lower is better)" if better == "lower" else measure
    direction = f"Above 1: {treated} has the {better} response more often."
    return _Shown(name, 1.0, direction)


class _Effects(NamedTuple):
    """Logs of the ratios (C, 1) within each level of a subgroup, and these levels."""

    averager: Averager
    effects: Average
    values: list[Any]


def _sizes(fit: LikelihoodResults, subgroup: str, values: Sequence[Any]) -> list[float]:
    """(C,) sums of the case weights of the rows at each level."""
    column = population(fit, None, None, None).frame[subgroup].to_numpy()
    counts = pd.Series(fit.design.sample.case_weights).groupby(column).sum()
    return [float(counts[value]) for value in values]


def _part(
    found: _Effects,
    level: float,
    subgroup: str,
    sizes: Sequence[float],
    p_value: float,
) -> pd.DataFrame:
    """The rows of one subgroup."""
    numbers = found.averager.table(found.effects, level)
    with np.errstate(over="ignore"):
        ratios = np.exp(numbers[["estimate", "lower", "upper"]])
    front = pd.DataFrame({"subgroup": subgroup, "level": found.values, "n": sizes})
    front[list(ratios)] = ratios
    return front.assign(interaction_p_value=p_value)


def _two_levels(everyone: Population, variable: str, levels: Any) -> list[Any]:
    """The two compared levels, the reference first."""
    compared = compared_levels(everyone, variable, levels)
    if len(compared) != 2:
        raise OptionError(
            f"levels must be two levels of {variable!r}, the reference first; got"
            f" {compared!r}."
        )
    return compared


def _ratio(r: LikelihoodResults, variable: str) -> Ratio:
    """The ratio of the effects of a column."""
    ratio = ratio_of(r)
    if not ratio.named or variable not in _variables(r, r.design.terms):
        raise OptionError(
            f"measure='ratio' needs {variable!r} among the location effects of a model"
            " of odds or hazards without scale effects. Use measure='win odds'."
        )
    if variable in _variables(r, r.design.nominal_terms):
        raise OptionError(
            f"measure='ratio' needs one effect of {variable!r}, which is nominal here:"
            " it differs by threshold. Use measure='win odds'."
        )
    return ratio


def _variables(r: LikelihoodResults, terms: Any) -> set[str]:
    """The variables of some terms."""
    variables = r.design.spec.variables()
    return set().union(*(variables[term] for term in terms))


def _check_subgroup(
    everyone: Population, variable: str, subgroup: str, response: str
) -> None:
    """OptionError unless a subgroup is another column of the data with few values."""
    others = everyone.frame.columns.difference([variable, response])
    if subgroup not in others:
        raise OptionError(
            f"subgroups must be columns of the data other than {variable!r} and the"
            f" response; got {subgroup!r}."
        )
    values = everyone.frame[subgroup]
    count = values.nunique()
    numeric = pd.api.types.is_numeric_dtype(values)
    if count < 2 or (numeric and count > 2):
        raise OptionError(
            "subgroups must have two levels or more, and numbers two values;"
            f" {subgroup!r} has {count}. Make groups a column of the data, by"
            " pandas.cut."
        )
    if count > _MOST_LEVELS:
        raise OptionError(
            f"subgroups must have at most {_MOST_LEVELS} levels; {subgroup!r} has"
            f" {count}. Merge levels."
        )


def _with_interaction(r: LikelihoodResults, variable: str, subgroup: str) -> Any:
    """The fit with the column in interaction with a subgroup, where its effects are:
    nominal, or location.
    """
    change = f"~ . + {_quoted(variable)} * {_quoted(subgroup)}"
    if variable in _variables(r, r.design.nominal_terms):
        return r.update(nominal=change)
    return r.update(change)


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"


def _effects(
    fit: LikelihoodResults,
    variable: str,
    subgroup: str | None,
    sign: float,
    *,
    measure: str,
    levels: list[Any],
    better: str,
    vcov: Any,
) -> _Effects:
    """The effects of one fit."""
    if measure == "ratio":
        change = {variable: levels}
        answer: Any = marginal_effects(
            fit, variable, scale="latent", change=change, by=subgroup, vcov=vcov
        )
        averages = answer.averages.combined(sign * np.eye(len(answer.cells)))
    else:
        answer = superiority(
            fit, variable, levels=levels, better=better, by=subgroup, vcov=vcov
        )
        averages = _log_odds(answer.averages)
    values = [""] if subgroup is None else answer.cells[subgroup].tolist()
    return _Effects(answer.averager, averages, values)


def _log_odds(wins: Average) -> Average:
    """The log odds of win probabilities."""
    c = wins.values
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = 1.0 / (c * (1.0 - c))
        values = np.log(c) - np.log1p(-c)
    return Average(values, wins.jacobian * slope[:, :, None], wins.has_error)


def _p_interaction(found: _Effects) -> float:
    """The p-value of the test that the effects are equal; NaN if one has no error."""
    averager = found.averager
    L: FloatArray = np.diff(np.eye(len(found.values)), axis=0)
    compared = averager.settled(found.effects.combined(L))
    if not compared.has_error.all():
        return float("nan")
    if len(L) == 1:
        return float(averager.table(compared, 0.95)["p_value"].iloc[0])
    return averager.joint_p_value(compared)
