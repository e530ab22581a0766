"""The coefficient table, and confidence limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtri

from .._typing import FloatArray, IntArray
from ..checks import flag, fraction, one_of, unknown, whole
from ..exceptions import OptionError, UnavailableError
from ..likelihood.fitted import FittedLikelihood, of_errors
from ..likelihood.parameters import check_determined, refuse_survey
from ..likelihood.standard_errors import symmetric_limits
from ..report.cells import few_decimals, p_in_words, ratio_decimals
from ..report.frames import SCREEN, NotedFrame
from ..report.render import Line, Report, Table
from ..report.sections import learnt, threshold_table
from .comparison import check_likelihood
from .proportionality import omnibus_score_test

#: Limits of a profile without a finite end, in standard errors (or in units of the parameter where it has none).
_OPEN = 5.0


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
        random = [_names(r)[place] for place in places(r, parm) if place >= r.fit.aliased.size]
        if random:
            raise UnavailableError(
                f"profile is not available for {', '.join(map(repr, random))}. Use confint(type='profile') for limits "
                "of the first standard deviation of a term, and bootstrap() for others."
            )
    fixed = places(r, parm)[places(r, parm) < r.fit.aliased.size]
    chosen = [place for place in fixed if not r.fit.aliased[place]]
    profiler, drop = r.fit.likelihood.profile(), float(chdtri(1.0, 1.0 - level))
    estimated = np.cumsum(~r.fit.aliased) - 1
    frames = [_profile(r, profiler, int(place), int(estimated[place]), drop, points) for place in chosen]
    nothing = pd.DataFrame(columns=["parameter", "value", "z", "loglik"])
    return pd.concat(frames, ignore_index=True) if frames else nothing


def _profile(r: FittedLikelihood, profiler: Any, place: int, among: int, drop: float, points: int) -> pd.DataFrame:
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


def tidy_parameters(
    r: FittedLikelihood, conf_int: bool = True, exponentiate: bool = False, level: float = 0.95
) -> pd.DataFrame:
    """One row per parameter: term, estimate, std_error, statistic, p_value, conf_low, conf_high, coef_type."""
    flag("conf_int", conf_int), flag("exponentiate", exponentiate)
    limits = confidence_limits(r, level=level).to_numpy()[: r.fit.coefficients.size]
    numbers = np.column_stack((r.fit.limits, limits))
    if exponentiate:
        effects = r.parameters.of("nominal", "location", "scale")
        with np.errstate(over="ignore"):  # infinite, of a large coefficient
            numbers[effects] = np.exp(numbers[effects])
    estimate, low, high = numbers.T
    tests = {"std_error": r._standard_errors, "statistic": r.z_values.to_numpy()}
    tests |= {"df": r.t_df} if r.bias_reduced is not None else {}
    tests |= {"p_value": r.p_values.to_numpy()}
    ends = {"conf_low": low, "conf_high": high} if conf_int else {}
    named = {"term": r.parameters.names, "estimate": estimate}
    frame = pd.DataFrame(named | tests | ends | {"coef_type": r.parameters.kinds})
    frame = frame if r.random_parameters is None else pd.concat([frame, _random_rows(r, level, frame)])
    return NotedFrame.of(frame, of_errors(r), "Parameters" + "; exponents of all but thresholds" * exponentiate)


def _random_rows(r: FittedLikelihood, level: float, frame: pd.DataFrame) -> pd.DataFrame:
    """Standard deviations and correlations of random effects, in the columns of the others."""
    own = r.random_parameters
    assert own is not None
    low, high = own.limits(level).T
    named = {"term": own.names, "estimate": own.estimates, "std_error": own.errors, "conf_low": low, "conf_high": high}
    start = len(frame)
    more = pd.DataFrame(named | {"coef_type": own.kinds}, index=range(start, start + len(own.names)))
    return more.reindex(columns=frame.columns)


#: Name of the ratio, sign of the coefficient in it, title of its table, where the family has none.
_EXPONENT = ("exp(estimate)", 1.0, "Exponents of the location effects; no odds or hazards under this link")
_SCALED = ("exp(estimate)", 1.0, "Exponents of the location effects: ratios of odds or hazards only at scale 1")


#: What stands at the head of a column of ratios.
SHORT = {
    "odds ratio": "OR",
    "adjacent odds ratio": "AOR",
    "hazard ratio": "HR",
    "reversed hazard ratio": "RHR",
    "exp(estimate)": "exp",
}


def effect_tables(r: FittedLikelihood, exponentiate: bool, level: float) -> list[Table]:
    """Every kind of effects in full, and the ratios of the location effects where asked for."""
    titles = {
        "location": "Location effects (positive = higher response)",
        "nominal": "Nominal effects, by threshold (positive = lower response)",
        "scale": "Scale effects on the log scale (positive = wider distribution of the response)",
    }
    if r.fit.jacobian is not None:
        titles["threshold"] = "Parameters of the thresholds"
    titles["lambda"] = "Parameter of the link"
    found: list[Table] = []
    for kind, title in titles.items():
        rows = r.parameters.of(kind)
        if rows.size:
            found.append(_effects(r, rows, title, level))
    if exponentiate and r.design.names:
        found.insert(1, _ratios(r, level))
    return found


def _limit_names(level: float) -> tuple[str, str]:
    return f"{50 * (1 - level):.3g}%", f"{50 * (1 + level):.3g}%"


def _effects(r: FittedLikelihood, rows: Any, title: str, level: float) -> Table:
    tidy = tidy_parameters(r, level=level).iloc[rows]
    tidy = tidy.set_index("term").rename_axis(None).drop(columns="coef_type")
    plain = ["z" if np.isinf(r.design_df) else "t", "p"]
    tests = plain if r.bias_reduced is None else ["t", "df", "p"]
    frame = tidy.set_axis(["estimate", "std. error", *tests, *_limit_names(level)], axis=1)
    return Table(title=title, frame=frame, formats={"z": ".2f", "t": ".2f", "df": ".1f", "p": "p"})


def _ratios(r: FittedLikelihood, level: float) -> Table:
    """Odds ratios or what the link has in their place, with limits."""
    rows = r.parameters.of("location")
    name, sign, title = _ratio(r)
    with np.errstate(over="ignore"):  # infinite, of a large coefficient
        limits = np.sort(np.exp(sign * confidence_limits(r, level=level).to_numpy()[rows]), axis=1)
        ratios = np.exp(sign * r.fit.limits[rows])
    low, high = _limit_names(level)
    frame = pd.DataFrame({name: ratios, low: limits[:, 0], high: limits[:, 1]}, index=list(r.design.names))
    return Table(title=title, frame=frame, formats=dict.fromkeys(frame, "ratio"))


def _ratio(r: FittedLikelihood) -> tuple[str, float, str]:
    return _SCALED if _scaled(r) else r.family.ratios.get(r.family.link.name, _EXPONENT)


def ratio_of(r: FittedLikelihood) -> tuple[str, float]:
    """What exponents of location effects are, and the sign of the coefficient in them."""
    return _ratio(r)[:2]


def _scaled(r: FittedLikelihood) -> bool:
    rows = r.design.sample.rows
    return rows.scale is not None or rows.scale_offset is not None


def threshold_estimates(r: FittedLikelihood) -> Table:
    """Thresholds with standard errors."""
    return threshold_table(pd.DataFrame({"threshold": r.thresholds, "std. error": r.threshold_se}))


# One screen


def screen_tables(r: FittedLikelihood, report: Report, exponentiate: bool | None, level: float) -> list[Table | Line]:
    """Effects with their ratios in the same row, thresholds in a line or two, and the test of proportional odds."""
    ratios = _ratios(r, level) if with_ratios(r, exponentiate) else None
    shown = {ratios.title} if ratios is not None else set()
    blocks = [block for block in learnt(report) if isinstance(block, Line) or block.title not in shown]
    return [*(_brief(block, ratios) for block in blocks), *_proportionality(r)]


def with_ratios(r: FittedLikelihood, exponentiate: bool | None) -> bool:
    """Whether the location effects have ratios beside them: asked for, or of odds or hazards."""
    known = r.family.link.name in r.family.ratios and not _scaled(r)
    return bool(r.design.names) and (known if exponentiate is None else exponentiate)


def _brief(block: Table | Line, ratios: Table | None) -> Table | Line:
    """A table of effects with few digits, and the ratios at its right where its rows have them."""
    if isinstance(block, Line) or "estimate" not in block.frame:
        return block
    frame = block.frame.rename(columns={"std. error": "SE"})
    errors = frame["SE"].fillna(frame["estimate"].abs())
    formats = dict.fromkeys(frame, few_decimals(errors)) | {**block.formats, "p": "p3"}
    short = replace(block, frame=frame, formats=formats)
    return short if ratios is None or not frame.index.equals(ratios.frame.index) else _beside(short, ratios)


def _beside(table: Table, ratios: Table) -> Table:
    name, *limits = map(str, ratios.frame)
    head = SHORT[name]
    columns = ratios.frame.set_axis([head, *(f" {limit}" for limit in limits)], axis=1)
    title = f"{table.title}; {head} = {name}"
    formats = {**table.formats, **dict.fromkeys(columns, ratio_decimals(columns))}
    whole = replace(table, title=title, frame=pd.concat([table.frame, columns], axis=1), formats=formats)
    if whole.grid.width <= SCREEN:
        return whole
    return replace(whole, frame=whole.frame.drop(columns=limits))  # the limits of the ratio are their exponents


def _proportionality(r: FittedLikelihood) -> list[Line]:
    """The score test of equal effects at all thresholds, where the fit has one."""
    if r.fit.marginal is not None:
        return []
    try:
        chisq, df, p_value = omnibus_score_test(r)
    except OptionError:  # no such test: of two levels, a penalised fit, robust errors, ...
        return []
    if not np.isfinite(p_value):
        return []
    odds = r.family.ratios.get(r.family.link.name, ("",))[0] == "odds ratio"
    tested = "Proportional odds" if odds else "Equal effects at all thresholds"
    return [Line(items=(f"{tested}, score test: chi2({df}) = {chisq:.2f}, {p_in_words(p_value)}",))]
