"""Confidence limits of the parameters, by the normal approximation or by the profile likelihood, and profiles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtri

from ..._typing import FloatArray, IntArray
from ...checks import fraction, one_of, unknown, whole
from ...exceptions import OptionError, UnavailableError
from ...model.likelihood_fit import Profile
from ...words import told_arguments
from ..report.noted import NotedFrame
from .fitted import FittedLikelihood, of_errors
from .nested_wald import check_likelihood
from .parameters import check_determined, refuse_survey
from .standard_errors import symmetric_limits

#: Limits of a profile without a finite end, in standard errors (or in units of the parameter where it has none).
_OPEN = 5.0


@told_arguments(
    alpha="level=, which is 1 - alpha",
    conf_level="level=",
    term="the name as first argument, parm=",
    method="type=",
    exponentiate=".tidy(exponentiate=True), whose limits are those of ratios",
)
def confidence_limits(r: FittedLikelihood, parm: Any = None, level: float = 0.95, type: str = "wald") -> pd.DataFrame:
    """Confidence limits of `params`, columns lower and upper."""
    if isinstance(parm, float) and 0.0 < parm < 1.0:
        parm, level = None, parm
    one_of("type", type, ("wald", "profile"))
    fraction("level", level)
    chosen = places(r, parm)
    if type == "wald":
        frame = _frame(r, chosen, _wald_limits(r, level)[chosen])
        return NotedFrame.of(frame, of_errors(r), f"Wald limits, {100 * level:g} %")
    refuse_survey(r.design, "type='profile'", "type='wald'")
    if r.covariance != "model":
        raise OptionError(
            f"type='profile' knows no {r.covariance} covariance, as it rests on the likelihood alone: use type='wald', "
            "or .with_vcov('model').confint(type='profile')."
        )
    if parm is not None:
        check_determined(chosen, r.fit, r.parameters, "confint(type='profile')")
    values, reasons = _profile_limits(r, level, chosen)
    notes = [f"{name}, {end}: {reason}" for (name, end), reason in reasons.items()]
    frame = NotedFrame.of(_frame(r, chosen, values), notes, f"Profile likelihood limits, {100 * level:g} %")
    frame.attrs["reasons"] = reasons
    return frame


def _wald_limits(r: FittedLikelihood, level: float) -> FloatArray:
    own = np.column_stack(symmetric_limits(r.fit.coefficients, r.se.to_numpy(), level, r.t_df))
    return own if r.random_parameters is None else np.vstack([own, r.random_parameters.limits(level)])


def _names(r: FittedLikelihood) -> list[str]:
    """Of the parameters, standard deviations and correlations of random effects with them."""
    return r.parameters.names + ([] if r.random_parameters is None else r.random_parameters.names)


def places(r: FittedLikelihood, parm: Any) -> IntArray:
    """Places of the parameters asked for, each once, by name, term or position; all of them for None."""
    if parm is None:
        return np.arange(len(_names(r)))
    asked = list(parm) if isinstance(parm, Iterable) and not isinstance(parm, str) else [parm]
    location = r.parameters.of("location")
    terms = {term: location[columns].tolist() for term, columns in r.design.terms.items()}
    found = [place for one in asked for place in _places_of(one, _names(r), terms)]
    return np.array(list(dict.fromkeys(found)), dtype=np.intp)


def _places_of(one: Any, names: Sequence[str], terms: Mapping[str, list[int]]) -> list[int]:
    """The place of a parameter, or those of a term."""
    if isinstance(one, str):
        found = [place for place, name in enumerate(names) if name == one] or terms.get(one, [])
        if not found:
            raise unknown("each parm", one, (*names, *terms))
        return found
    return [whole("each parm", one, 0, len(names) - 1, also=", or a name")]


def _frame(r: FittedLikelihood, chosen: IntArray, values: FloatArray) -> pd.DataFrame:
    return pd.DataFrame(values, index=[_names(r)[i] for i in chosen], columns=["lower", "upper"])


def _profile_limits(
    r: FittedLikelihood, level: float, chosen: IntArray
) -> tuple[FloatArray, dict[tuple[str, str], str]]:
    """Limits (n, 2), NaN where aliased, and the reason of each that is not finite."""
    profiler, drop = r.fit.likelihood.profile(), float(chdtri(1.0, 1.0 - level))
    aliased, names = r.fit.aliased, _names(r)
    aliased = np.append(aliased, np.zeros(len(names) - aliased.size, dtype=bool))  # random effects have none
    estimated = np.cumsum(~aliased) - 1
    values = np.full((chosen.size, 2), np.nan)
    reasons: dict[tuple[str, str], str] = {}
    for row, place in enumerate(chosen):
        if aliased[place]:
            continue
        for column, (direction, side) in enumerate(((-1, "lower"), (1, "upper"))):
            values[row, column], reason = profiler.end(int(estimated[place]), direction, drop)
            if reason:
                reasons[names[place], side] = reason
    return values, reasons


def profiles(
    r: FittedLikelihood, parm: str | int | Sequence[str | int] | None = None, *, level: float = 0.99, points: int = 21
) -> pd.DataFrame:
    """The profile likelihood of parameters, for plotting: straight lines of z mean that Wald limits are good."""
    fraction("level", level)
    whole("points", points, 3)
    refuse_survey(r.design, "profile", "confint()")
    check_likelihood(r, "profile", "use confint()")
    if parm is not None:
        check_determined(places(r, parm), r.fit, r.parameters, "profile")
        _refuse_random(r, places(r, parm))
    fixed = places(r, parm)[places(r, parm) < r.fit.aliased.size]
    chosen = [place for place in fixed if not r.fit.aliased[place]]
    profiler, drop = r.fit.likelihood.profile(), float(chdtri(1.0, 1.0 - level))
    estimated = np.cumsum(~r.fit.aliased) - 1
    frames = [_profile(r, profiler, int(place), int(estimated[place]), drop, points) for place in chosen]
    nothing = pd.DataFrame(columns=["parameter", "value", "z", "loglik"])
    return pd.concat(frames, ignore_index=True) if frames else nothing


def _refuse_random(r: FittedLikelihood, chosen: IntArray) -> None:
    """UnavailableError for standard deviations and correlations of random effects."""
    random = [_names(r)[place] for place in chosen if place >= r.fit.aliased.size]
    if random and r.random_parameters is not None:
        raise UnavailableError(
            f"profile is not available of {', '.join(map(repr, random))}: {r.random_parameters.where_limits(random)}."
        )


def _profile(r: FittedLikelihood, profiler: Profile, place: int, among: int, drop: float, points: int) -> pd.DataFrame:
    """One parameter's profile at equally spaced values between its limits, its estimate among them."""
    estimate = float(r.fit.coefficients[place])
    error = float(r.se.iloc[place])
    reach = _OPEN * (error if np.isfinite(error) else 1.0)
    ends = [profiler.end(among, direction, drop)[0] for direction in (-1, 1)]
    low, high = (end if np.isfinite(end) else estimate + sign * reach for end, sign in zip(ends, (-1, 1), strict=True))
    half = points // 2
    values = np.concatenate([np.linspace(low, estimate, half + 1), np.linspace(estimate, high, half + 1)[1:]])
    loglik = profiler.curve(among, values)
    top = float(np.max(loglik, where=~np.isnan(loglik), initial=-np.inf))
    z = np.sign(values - estimate) * np.sqrt(np.maximum(2.0 * (top - loglik), 0.0))
    return pd.DataFrame({"parameter": r.parameters.names[place], "value": values, "z": z, "loglik": loglik})
