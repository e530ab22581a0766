"""The coefficient table, confidence limits and profiles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import chdtri

from .._typing import FloatArray, IntArray
from ..checks import flag, fraction, mapping, number, one_of, unknown, whole
from ..exceptions import OptionError, UnavailableError
from ..formula.names import in_own_names
from ..likelihood.alerts import not_estimated
from ..likelihood.profile import JUMPS, NOT_REACHED
from ..likelihood.standard_errors import symmetric_limits
from ..likelihood.unavailable import check_available
from ..report.frames import NotedFrame
from ..report.ratios import ratio_of
from ..report.sections import fractional
from .level_scores import only_effect_notes
from .smooths import curve_notes
from .wald import named_parameters

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


#: Note on profile limits of such a fit.
_LOCAL = (
    "profile limits about a local maximum: the log-likelihood is higher along a path"
    " without a maximum, which they leave out."
)
_STOPPED = (
    "the likelihood has no maximum: profiles are measured from the log-likelihood at"
    " which the search stopped."
)
_HIGHER = (
    "along the profiles the log-likelihood reaches {:.4f}, above that of the fit,"
    " {:.4f}: the estimates are a local maximum, about which these limits are. Compare"
    " with a fit without scale effects or with another link."
)
#: Reach of a profile without a finite limit, in standard errors (in units of the
#: parameter if it has none).
_OPEN = 5.0
#: Deviance at which the profile of an infinite estimate counts as level.
_LEVEL = 0.01
#: Most parameters that profiles are made of at a time.
_MOST_PROFILES = 500


def tidy_parameters(
    r: LikelihoodResults,
    conf_int: bool = True,
    exponentiate: bool = False,
    level: float = 0.95,
    per: Any = None,
) -> pd.DataFrame:
    """One row per parameter: term, estimate, std_error, statistic, p_value, conf_low,
    conf_high, coef_type.
    """
    flag("conf_int", conf_int)
    flag("exponentiate", exponentiate)
    fraction("level", level)
    columns = r.coefficient_columns
    low, high = symmetric_limits(
        r.fit.coefficients, columns["std_error"], level, columns["df"]
    )
    named = {"term": r.parameters.names, "estimate": r.fit.limits, **columns}
    limits = {"conf_low": low, "conf_high": high}
    frame = pd.DataFrame(named | limits | {"coef_type": r.parameters.kinds})
    if r.bias_reduced is None:
        frame = frame.drop(columns="df")
    if r.random_parameters is not None:
        more = _random_rows(r.random_parameters, level).reindex(columns=frame.columns)
        frame = pd.concat([frame, more], ignore_index=True)
    notes = [*r.standard_error_notes, *not_estimated(r.fit, r.parameters)]
    notes += in_units(frame, r, per, exponentiate)
    if not conf_int:
        frame = frame.drop(columns=list(limits))
    notes += only_effect_notes(r)
    notes += curve_notes(r)
    if exponentiate:
        notes += exponent_notes(r)
    title = "Parameters; effects exponentiated" if exponentiate else "Parameters"
    curves = r.curve_coefficients.tolist()
    return NotedFrame.of(frame, notes, title, labels=r.names_shown(), hidden=curves)


def _random_rows(random: Any, level: float) -> pd.DataFrame:
    """Standard deviations and correlations of random effects."""
    low, high = random.limits(level).T
    return pd.DataFrame(
        {
            "term": random.names,
            "estimate": random.estimates,
            "std_error": random.errors,
            "conf_low": low,
            "conf_high": high,
            "coef_type": random.kinds,
        }
    )


def in_units(
    frame: pd.DataFrame,
    r: LikelihoodResults,
    per: Any,
    exponentiate: bool,
    deviations: Mapping[str, float] | None = None,
) -> list[str]:
    """Change the rows of `tidy` to effects of changes by `per`, and to their exponents;
    notes on the changes, which are `attrs["per"]` too.
    """
    numbers = ["estimate", "conf_low", "conf_high"]
    suffixes: dict[str, str] = {}
    if per is not None:
        factors, suffixes = rescaled(r, per, deviations)
        scaled = [*numbers, "std_error"]
        frame[scaled] = frame[scaled].mul(factors, axis=0)
    if suffixes:
        frame.attrs["per"] = suffixes
    if exponentiate:
        ratio = ratio_of(r)
        values = frame[numbers].to_numpy(dtype=np.float64)
        frame[numbers] = ratio.exponents(frame["coef_type"], values)
    return [f"{name}: {suffix}." for name, suffix in suffixes.items()]


def exponent_notes(r: LikelihoodResults) -> list[str]:
    """Notes on the direction of the ratios of a table, and on what its other columns
    refer to.
    """
    ratio = ratio_of(r)
    notes = [ratio.direction]
    if ratio.of_nominal < 0.0 and len(r.parameters.of("nominal")) > 0:
        sign = "-" if ratio.sign > 0.0 else ""
        notes.append(
            f"Nominal effects are exp({sign}estimate): ratios for a higher response, as"
            " location effects are."
        )
    if np.isinf(r.fit.limits).any():
        notes.append(
            "The ratio of an infinite estimate is 0 or infinite, without an interval."
        )
    return [*notes, "Standard errors and statistics are those of the coefficients."]


def deviations_of(r: LikelihoodResults) -> dict[str, float]:
    """Weighted standard deviations of the numeric variables that enter linearly."""
    design = r.design
    rows = r.design.sample.rows
    sides = (
        (design.terms, rows.X),
        (design.nominal_terms, rows.nominal),
        (design.scale_terms, rows.scale),
    )
    w: Any = {"aweights" if fractional(r) else "fweights": design.sample.case_weights}
    deviations = {}
    for terms, X in sides:
        for name in _linear_variables(r):
            if X is not None and name in terms:
                variance = np.cov(X[:, terms[name].start], **w)
                deviations[name] = math.sqrt(variance)
    return deviations


def _linear_variables(r: LikelihoodResults) -> list[str]:
    """Numeric variables that enter linearly."""
    spec = r.design.spec
    linear = []
    for key, coding in spec.codings.items():
        numeric = not coding.levels and coding.suffixes == ("",)
        if numeric and key in spec.factors:
            linear += [name for name in spec.factors[key].names if spec.linear_in(name)]
    return linear


def rescaled(
    r: LikelihoodResults, per: Any, deviations: Mapping[str, float] | None = None
) -> tuple[FloatArray, dict[str, str]]:
    """Factors of the parameters (random effects last) for changes by `per` units
    instead of 1, and suffixes of their labels.

    Parameters
    ----------
    r : LikelihoodResults
    per : mapping of variable to positive number, or "sd"
        The change of each variable; "sd" is the standard deviation of every numeric
        variable that enters linearly.
    deviations : mapping of variable to number, optional
        Standard deviations for "sd"; by default those of the rows of the fit.

    Raises
    ------
    OptionError
        A variable is not numeric or enters through a function, or `per` has another
        type.
    """
    linear = _linear_variables(r)
    if isinstance(per, str) and per == "sd":
        changes = dict(deviations_of(r) if deviations is None else deviations)
        words = {name: f"SD ({change:.3g})" for name, change in changes.items()}
    else:
        changes = {
            name: number(f"per of {name}", x, above=0)
            for name, x in mapping("per", per, "{'age': 10}").items()
        }
        words = {name: f"{change:g}" for name, change in changes.items()}
    wrong = [name for name in changes or [per] if name not in linear]
    if wrong:
        possible = ", ".join(map(repr, linear)) or "none"
        raise OptionError(
            f"per must name numeric variables that enter linearly (in this fit"
            f" {possible}); got {wrong[0]!r}. For factors, splines and transforms use"
            " marginal_effects()."
        )
    parameters = r.all_parameters
    factors = np.ones(len(parameters))
    suffixes = dict[str, str]()
    for position, parameter in enumerate(parameters):
        if parameter.column is None or parameter.kind == "cor":
            continue
        names = [name for name in parameter.column.variables if name in changes]
        factors[position] = math.prod(changes[name] for name in names)
        if names:
            units = " × ".join([words[name] for name in names])
            suffixes[parameter.name] = f"per {units}"
    return factors, suffixes


def confidence_limits(
    r: LikelihoodResults, parm: Any, level: float, type: str
) -> pd.DataFrame:
    """Confidence limits of `params`, columns lower and upper."""
    if isinstance(parm, float) and 0.0 < parm < 1.0:
        # no parameter has such a place: confint(0.9) gives a level
        level = parm
        parm = None
    one_of("type", type, ("wald", "profile"))
    fraction("level", level)
    names = _names(r)
    chosen = positions(r, parm)
    reasons: dict[tuple[str, str], str] = {}
    if type == "wald":
        table = tidy_parameters(r, level=level)
        limits = table[["conf_low", "conf_high"]].to_numpy()[chosen]
        notes = [*r.standard_error_notes, *not_estimated(r.fit, r.parameters)]
        title = f"Wald {100 * level:g}% confidence intervals"
    else:
        check_available(r, "confint(type='profile')")
        profiler = r.fit.likelihood.profile()
        limits, reasons = _profile_limits(r, profiler, level, chosen)
        notes = _profile_notes(r, profiler)
        for (name, side), reason in reasons.items():
            notes.append(f"{name}, {side}: {reason}")
        title = f"Profile likelihood {100 * level:g}% confidence intervals"
    frame = pd.DataFrame(
        limits,
        index=[names[position] for position in chosen],
        columns=["lower", "upper"],
    )
    frame = NotedFrame.of(frame, notes, title, labels=r.names_shown())
    if type == "profile":
        frame.attrs["reasons"] = reasons
    return frame


def _names(r: LikelihoodResults) -> list[str]:
    """Names of all parameters, including standard deviations and correlations of random
    effects.
    """
    random = r.random_parameters
    return [*r.parameters.names, *([] if random is None else random.names)]


def positions(r: LikelihoodResults, parm: Any) -> IntArray:
    """Positions of parameters given by name, term or position, each once; all positions
    for None.
    """
    names = _names(r)
    if parm is None:
        return np.arange(len(names))
    by_name = named_parameters(r)
    by_name |= {name: [position] for position, name in enumerate(names)}
    several = isinstance(parm, Iterable) and not isinstance(parm, str)
    shown = r.names_shown()
    last = len(names) - 1
    chosen: list[int] = []
    for each in parm if several else [parm]:
        if not isinstance(each, str):
            chosen.append(whole("each parm", each, 0, last, also=", or a name"))
        elif (name := in_own_names(each, shown)) in by_name:
            chosen += by_name[name]
        else:
            terms = (r.design.terms, r.design.nominal_terms, r.design.scale_terms)
            valid = dict.fromkeys((*names, *(term for part in terms for term in part)))
            raise unknown("each parm", each, valid)
    return np.array(list(dict.fromkeys(chosen)), dtype=np.intp)


def _profile_notes(r: LikelihoodResults, profiler: Any) -> list[str]:
    """What the maximum of profiles is where it is not the highest point."""
    if r.fit.diverging_elsewhere is not None:
        return [_LOCAL]
    if r.fit.diverging.any():
        return [_STOPPED]
    if not math.isnan(profiler.higher):
        return [_HIGHER.format(profiler.higher, profiler.loglik)]
    return []


def _end(
    r: LikelihoodResults, profiler: Any, index: int, direction: int, drop: float
) -> tuple[float, str]:
    """A limit and why it is not finite; where the likelihood has no maximum, a jump of
    the profile is one of the search.
    """
    limit, reason = profiler.end(index, direction, drop)
    if reason == JUMPS and r.fit.diverging.any():
        return math.nan, NOT_REACHED
    return limit, reason


def _profile_limits(
    r: LikelihoodResults, profiler: Any, level: float, chosen: IntArray
) -> tuple[FloatArray, dict[tuple[str, str], str]]:
    """Limits (n, 2), NaN where aliased, and the reason for each limit that is not
    finite.
    """
    _check_few(r, chosen)
    drop = float(chdtri(1.0, 1.0 - level))
    names = _names(r)
    # random effects too
    estimated = np.pad(
        ~r.fit.aliased, (0, len(names) - r.fit.aliased.size), constant_values=True
    )
    index = np.cumsum(estimated) - 1
    limits = np.full((chosen.size, 2), np.nan)
    reasons: dict[tuple[str, str], str] = {}
    for row in np.flatnonzero(estimated[chosen]):
        for column, (direction, side) in enumerate(((-1, "lower"), (1, "upper"))):
            limits[row, column], reason = _end(
                r, profiler, int(index[chosen[row]]), direction, drop
            )
            if reason:
                reasons[names[chosen[row]], side] = reason
    return limits, reasons


def _check_few(r: LikelihoodResults, chosen: IntArray) -> None:
    """OptionError for more profiles than take some seconds."""
    if chosen.size > _MOST_PROFILES:
        example = r.design.names[0] if r.design.names else 0
        raise OptionError(
            f"parm must name at most {_MOST_PROFILES} parameters for profiles, each of"
            f" which takes many fits; got {chosen.size:,}. Name those that you need, as"
            f" in parm={example!r}."
        )


def profiles(
    r: LikelihoodResults,
    parm: str | int | Sequence[str | int] | None = None,
    *,
    level: float = 0.99,
    points: int = 21,
) -> pd.DataFrame:
    """The profile likelihood of parameters, for plotting: if z is a straight line, Wald
    confidence limits are accurate.
    """
    fraction("level", level)
    whole("points", points, 3)
    check_available(r, "profile()")
    chosen = positions(r, parm)
    fixed = r.fit.aliased.size
    if parm is not None and (
        random := [_names(r)[position] for position in chosen if position >= fixed]
    ):
        raise UnavailableError(
            f"profile is not available for {', '.join(map(repr, random))}. Use"
            " confint(type='profile') for limits of the first standard deviation of a"
            " term, and bootstrap() for the others."
        )
    _check_few(r, chosen)
    profiler = r.fit.likelihood.profile()
    drop = float(chdtri(1.0, 1.0 - level))
    index = np.cumsum(~r.fit.aliased) - 1
    frames: list[pd.DataFrame] = []
    notes: list[str] = []
    for position in chosen:
        if position < fixed and not r.fit.aliased[position]:
            frame, more = _profile(
                r, profiler, int(position), int(index[position]), drop, points
            )
            frames.append(frame)
            notes += more
    empty = pd.DataFrame(columns=["parameter", "value", "z", "loglik"])
    return NotedFrame.of(
        pd.concat(frames, ignore_index=True) if frames else empty,
        [*_profile_notes(r, profiler), *notes],
        "Profile likelihood",
        labels=r.names_shown(),
    )


def _profile(
    r: LikelihoodResults,
    profiler: Any,
    position: int,
    index: int,
    drop: float,
    points: int,
) -> tuple[pd.DataFrame, list[str]]:
    """The profile of one parameter at equally spaced values between its limits,
    including the estimate, and notes on sides without a limit.
    """
    name = r.parameters.names[position]
    ends = [_end(r, profiler, index, direction, drop) for direction in (-1, 1)]
    notes = [
        f"{name}, {side}: {reason}"
        for side, (_, reason) in zip(("lower", "upper"), ends, strict=True)
        if reason
    ]
    values = _profile_values(r, profiler, position, index, ends, points)
    loglik = profiler.curve(index, values)
    top = float(np.max(loglik, where=~np.isnan(loglik), initial=profiler.loglik))
    estimate = r.fit.coefficients[position]
    side = np.sign(values - estimate)
    for sign, (limit, _) in zip((-1.0, 1.0), ends, strict=True):
        # no maximum as high as the profile is known there
        lost = (side == sign) & (2.0 * (top - loglik) > drop)
        loglik[lost & np.isnan(limit)] = np.nan
    z = side * np.sqrt(np.maximum(2.0 * (top - loglik), 0.0))
    values[values == estimate] = r.fit.limits[position]
    columns = {"parameter": name, "value": values, "z": z, "loglik": loglik}
    return pd.DataFrame(columns), notes


def _profile_values(
    r: LikelihoodResults,
    profiler: Any,
    position: int,
    index: int,
    ends: Sequence[tuple[float, str]],
    points: int,
) -> FloatArray:
    """Equally spaced values between the ends of a profile: half on either side of the
    estimate, or all on one side of an infinite one, to where the profile is flat.
    """
    estimate = float(r.fit.coefficients[position])
    error = float(r.se.iloc[position])
    reach = _OPEN * (error if np.isfinite(error) else 1.0)
    low, high = (
        x if np.isfinite(x) else estimate + sign * reach
        for (x, _), sign in zip(ends, (-1, 1), strict=True)
    )
    limit = r.fit.limits[position]
    if np.isinf(limit):
        direction = -1 if limit > 0.0 else 1
        flat = profiler.end(index, direction, _LEVEL)[0]
        if np.isfinite(flat):
            low, high = (low, flat) if limit > 0.0 else (flat, high)
            values = np.append(np.linspace(low, high, points - 1), estimate)
            return values if limit > 0.0 else np.roll(values, 1)
    half = points // 2
    return np.concatenate(
        [
            np.linspace(low, estimate, half + 1),
            np.linspace(estimate, high, half + 1)[1:],
        ]
    )
