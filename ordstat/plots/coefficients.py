"""Coefficients of one fit or several, by threshold, and their profiles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from .._typing import AnyArray, FloatArray
from ..checks import flag, fraction, labelled, listed_texts, text_given
from ..exceptions import DataError, DataWarning, OptionError, warn
from ..report.cells import first_few
from ..report.ratios import common_ratio
from ..report.table import per_of_each
from . import style
from .style import Sheet, decimals_for, in_lines, shortened_middle, with_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LIMITS = ["conf_low", "conf_high"]
_EFFECTS = ("nominal", "location", "scale")
#: Markers that distinguish fits in grey; they are filled and open in turn.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
# heights between the fits of a term, and between terms
_STEP = 0.32
_GAP = 0.55
# least inches of a picture with numbers, and of a row with words
_NUMBERS = 3.5
_LEAST = 0.14


def effect_texts(
    fits: Iterable[Any],
    labels: Mapping[str, str],
    per: Mapping[str, str],
    ratio: bool = False,
) -> dict[tuple[str, str], str]:
    """Readable names of the parameters of fits, by kind and name, with the changes they
    refer to.
    """
    texts: dict[tuple[str, str], str] = {}
    for fit in fits:
        for record in fit.all_parameters:
            unit = per.get(record.name, "")
            texts[record.kind, record.name] = record.shown(labels, ratio, unit)
    return texts


def forest_frame(
    fits: Mapping[str, Any],
    columns: Sequence[str] | str | None,
    exponentiate: bool,
    per: Any,
    level: float,
) -> pd.DataFrame:
    """Estimated effects of all fits with confidence limits; attrs["per"] has their
    units.
    """
    fraction("level", level)
    flag("exponentiate", exponentiate)
    pers = per_of_each(fits, per)
    parts = [_effects(name, fit, pers[name], level) for name, fit in fits.items()]
    frame = pd.concat(parts, ignore_index=True)
    if exponentiate:
        ratio = common_ratio(fits.values())
        numbers = frame[["estimate", *_LIMITS]].to_numpy(dtype=np.float64)
        frame[["estimate", *_LIMITS]] = ratio.exponents(frame["coef_type"], numbers)
    if len(frame):
        frame = _in_order(
            frame, _chosen(fits.values(), columns, list(dict.fromkeys(frame["term"])))
        )
    frame.attrs["per"] = {
        term: unit for part in parts for term, unit in part.attrs["per"].items()
    }
    return frame


def _effects(name: str, fit: Any, per: Any, level: float) -> pd.DataFrame:
    """Coefficients of one fit with their limits."""
    if _inferred(fit):
        table = fit.tidy(level=level, per=per)
        stopped = table["term"].isin(_first(fit).stopped)
        # where a search without a maximum stopped
        table.loc[stopped, ["estimate", *_LIMITS]] = np.nan
    elif per is None:
        table = fit.tidy().assign(conf_low=np.nan, conf_high=np.nan)
    else:
        raise OptionError(
            f"per must be None for fits without a likelihood; got {per!r} for {name!r}."
        )
    units = table.attrs.get("per", {})
    effects = table["coef_type"].isin(_EFFECTS)
    if _inferred(fit):
        effects.iloc[_first(fit).penalised_coefficients] = False
    table = pd.DataFrame(table[effects])
    frame = table[["term", "estimate", *_LIMITS, "coef_type"]].assign(model=name)
    frame.attrs = {"per": units}
    return frame


def labelled_fits(results: Any, others: Any, label: str) -> dict[str, Any]:
    """All fits by their labels."""
    if others is None:
        return {text_given("label", label): results}
    if not isinstance(others, Mapping) or not others:
        raise OptionError(
            "others must be a mapping of labels to fits, {'with age': fit2}; got"
            f" {others!r}."
        )
    fits = labelled(others, "others")
    if label in fits:
        raise OptionError(
            f"others must not have the label of this fit, {label!r}. Change it by"
            " label=."
        )
    if len(fits) >= len(_MARKERS):
        raise OptionError(
            f"others must hold at most {len(_MARKERS) - 1} fits; got {len(fits)}."
        )
    for name, fit in fits.items():
        drawable = hasattr(fit, "method") and hasattr(fit, "tidy")
        if not drawable or not fit.tidy()["coef_type"].isin(_EFFECTS).any():
            raise OptionError(
                f"others must be fits of ordfit() with coefficients; {name!r} is not."
                " Leave it out."
            )
    return {label: results, **fits}


def draw_forest(
    sheet: Sheet,
    data: pd.DataFrame,
    fits: Mapping[str, Any],
    exponentiate: bool,
    level: float,
) -> Axes:
    """Numbers beside the coefficients of one fit, a legend beside those of several."""
    if data.empty:
        raise DataError("there are no effects to draw: the model has only thresholds.")
    keys = list(zip(data["coef_type"], data["term"], strict=True))
    rows = list(dict.fromkeys(keys))
    per = data.attrs.get("per", {})
    texts = effect_texts(fits.values(), sheet.labels, per, exponentiate)
    names = [texts[row] for row in rows]
    n = len(fits)
    block = 1.0 if n == 1 else _STEP * n + _GAP
    ax = sheet.axes(height=_forest_height(names, n, block))
    roomy = style.place_width(ax) >= _NUMBERS
    if exponentiate:
        ax.set_xscale("log")
    no_effect = 1.0 if exponentiate else 0.0
    ax.axvline(no_effect, color=style.MUTED, linewidth=0.8, zorder=1)
    middles = {row: -block * i for i, row in enumerate(rows)}
    offsets = {name: _STEP * ((n - 1) / 2.0 - i) for i, name in enumerate(fits)}
    places = []
    for key, name in zip(keys, data["model"], strict=True):
        places.append(middles[key] + offsets[name])
    heights = np.array(places)
    numbers = data[["estimate", *_LIMITS]].to_numpy(dtype=np.float64, copy=True)
    with np.errstate(divide="ignore"):
        infinite = np.isinf(np.log(numbers) if exponentiate else numbers).any(axis=1)
    numbers[infinite] = [np.inf, np.nan, np.nan]
    without = np.isnan(numbers[:, 0])
    _draw_estimates(ax, data.assign(height=heights)[~infinite & ~without], fits)
    stopped = without & _stopped(data, fits)
    numbers[stopped] = [np.inf, np.nan, np.nan]
    in_words = n > 1 or not roomy
    upwards = (data["estimate"][infinite] > no_effect).to_numpy()
    _draw_arrows(ax, heights[infinite], upwards, in_words)
    if in_words:
        reasons = dict.fromkeys(heights[without], "not estimated")
        reasons |= dict.fromkeys(heights[stopped], "not estimable")
        for y, reason in reasons.items():
            style.note(ax, reason, (no_effect, y), (8, 0), ax.transData)
    spare = 0.6 if n == 1 else 0.5 * block
    ax.set_ylim(min(middles.values()) - spare, spare)
    style.row_labels(ax, list(middles.values()), names)
    if n > 1:
        style.legend(ax)
    elif roomy:
        size = style.row_size(style.inches(ax)[1] / len(heights))
        right = ax.get_yaxis_transform()
        for y, words in zip(heights, with_limits(numbers), strict=True):
            style.note(ax, words, (1.0, y), (8, 0), right, fontsize=size)
    if exponentiate:
        style.plain_log_ticks(ax)
    what = _quantity(fits, exponentiate, "nominal" in set(data["coef_type"]))
    return style.named(ax, f"{what} with {100 * level:g}% confidence interval")


def _stopped(data: pd.DataFrame, fits: Mapping[str, Any]) -> AnyArray:
    """Which rows are of parameters along which the likelihood has no maximum."""
    names = {name: _first(fit).stopped for name, fit in fits.items() if _inferred(fit)}
    pairs = zip(data["model"], data["term"], strict=True)
    return np.array([term in names.get(model, ()) for model, term in pairs], dtype=bool)


def _inferred(fit: Any) -> bool:
    return bool(fit.method.likelihood)


def _first(fit: Any) -> Any:
    """A fit itself, or the first of those that are pooled."""
    return getattr(fit, "fits", (fit,))[0]


def _forest_height(names: Sequence[str], n: int, block: float) -> float:
    """Inches of the picture of n fits, whose rows of each term take `block`."""
    if n > 1:
        return 1.2 + 0.42 * len(names) * block + 0.1 * n
    lines = [in_lines(name, 34).count("\n") for name in names]
    return 0.9 + max(0.6, sum(max(0.3, 0.25 + 0.15 * more) for more in lines))


def _draw_estimates(ax: Axes, data: pd.DataFrame, fits: Collection[str]) -> None:
    """Estimates with their limits, in the colour and with the marker of each fit."""
    colours: list[Any] = [style.RIGHT]
    if len(fits) > 1:
        colours = style.level_colours(len(fits))
    for i, (name, colour) in enumerate(zip(fits, colours, strict=True)):
        part = data[data["model"] == name]
        style.intervals(
            ax,
            part["height"],
            part["estimate"],
            (part["conf_low"], part["conf_high"]),
            colour=colour,
            marker=_MARKERS[i],
            markerfacecolor=tuple(style.paper()) if i % 2 else colour,
            label=style.beside(ax, name),
        )


def _quantity(fits: Mapping[str, Any], exponentiate: bool, nominal: bool) -> str:
    """What is drawn, and which values mean a higher response."""
    if not exponentiate:
        if not nominal:
            return "coefficient"
        words = {
            fit.family.nominal_words for fit in fits.values() if fit.method.likelihood
        }
        return f"coefficient (nominal effects: {', '.join(sorted(words))})"
    ratio = common_ratio(fits.values())
    direction = " (below 1 = higher response)" if ratio.sign < 0.0 else ""
    return f"{ratio.name}{direction}"


def _draw_arrows(
    ax: Axes, heights: FloatArray, upwards: AnyArray, in_words: bool
) -> None:
    """An arrow at the edge of the picture for each infinite estimate, with words beside
    it where rows have none.
    """
    low, high = ax.get_xlim()
    for y, up in zip(heights, upwards, strict=True):
        x, marker = (high, ">") if up else (low, "<")
        ax.plot(x, y, marker, color=style.WRONG, markersize=7, clip_on=False)
        if in_words:
            inwards = (-8, 0) if up else (8, 0)
            side = "right" if up else "left"
            style.note(ax, "not estimable", (x, y), inwards, ax.transData, ha=side)
    ax.set_xlim(low, high)


#: Estimate and limits of the fit itself beside those of the binary fits.
_POOLED = ["pooled", "pooled_lower", "pooled_upper"]


#: Levels of a picture with a binary fit at each threshold.
_MOST_PARALLEL = 100


def parallel_frame(
    results: Any, columns: Sequence[str] | str | None, per: Any, level: float
) -> pd.DataFrame:
    """Effects of the location columns on P(response > level), with thresholds fitted
    separately and together.
    """
    results.rule.family.require_latent("plot.parallel")
    results.require_available("plot.parallel()")
    if not results.design.names:
        raise DataError("the fit has no location effects to compare.")
    if len(results.levels) > _MOST_PARALLEL:
        raise DataError(
            f"plot.parallel() has a fit for each threshold, and takes at most"
            f" {_MOST_PARALLEL} levels; this fit has {len(results.levels):,}. Cut the"
            " response into a few classes, and draw that fit."
        )
    chosen = _chosen([results], columns, results.design.names)
    pooled = _estimates(results, level, per).loc[chosen]
    itself = pooled[["estimate", "lower", "upper"]].to_numpy()
    tables = []
    # the highest level has no threshold
    thresholds = zip(results.threshold_names, results.levels, strict=False)
    for code, (threshold, above) in enumerate(thresholds):
        table = _estimates(_binary(results, code), level, per).loc[chosen]
        table = table.rename_axis("term").reset_index()
        table.insert(1, "threshold", threshold)
        table.insert(2, "above", [above] * len(table))
        table[_POOLED] = itself
        tables.append(table)
    frame = _in_order(pd.concat(tables, ignore_index=True), chosen)
    frame.attrs["per"] = pooled.attrs.get("per", {})
    return frame


def _chosen(
    fits: Collection[Any], columns: Sequence[str] | str | None, names: Sequence[str]
) -> list[str]:
    """Coefficients to draw: by their names, or by terms of the formulas."""
    if columns is None:
        return list(names)
    of_term: dict[str, list[str]] = {}
    for design in (fit.design for fit in fits):
        for term, where in design.terms.items():
            of_term.setdefault(term, []).extend(design.names[where])
    chosen: list[str] = []
    for name in listed_texts("columns", columns):
        if name in names:
            members = [name]
        else:
            members = [one for one in of_term.get(name, ()) if one in names]
        if not members:
            known = dict.fromkeys((*of_term, *names))
            raise OptionError(
                f"columns must be among {', '.join(map(repr, known))}; got {name!r}."
            )
        chosen += members
    if not chosen:
        raise OptionError(
            "columns must name a term or coefficient at least; got none. Leave it out"
            " for all."
        )
    return list(dict.fromkeys(chosen))


def _in_order(frame: pd.DataFrame, terms: Sequence[str]) -> pd.DataFrame:
    """The rows of these terms, in this order."""
    return pd.concat(
        [frame[frame["term"] == term] for term in terms], ignore_index=True
    )


def _binary(results: Any, code: int) -> Any:
    """The binary fit of P(y > code): the same columns, without scale effects."""
    design = results.design
    method = results.method
    rows = replace(design.sample.rows, scale=None, scale_offset=None)
    sample = replace(
        design.sample,
        rows=rows,
        y=(design.sample.y > code).astype(np.intp),
        n_levels=2,
        costs=None,
    )
    levels = replace(design.levels, values=("not above", "above"), unused=())
    fitted = results.rule.link  # with the estimate of its parameter, if it has one
    link = fitted.name if fitted.lam is None else (fitted.name, fitted.lam)
    method = replace(
        method, threshold="flexible", start=None, cost="classification", link=link
    )
    spec = replace(design.spec, scale=None)
    design = replace(
        design, sample=sample, levels=levels, scale_names=(), scale_terms={}, spec=spec
    )
    fit = method.fit(sample, np.random.default_rng(0))
    return replace(results, design=design, method=method, fit=fit)


def _estimates(results: Any, level: float, per: Any) -> Any:
    """Location effects: estimate, std_error, lower, upper; NaN for estimates without a
    finite maximum.
    """
    table = results.tidy(level=level, per=per)
    table = table[table["coef_type"] == "location"].set_index("term")
    frame = table[["estimate", "std_error", "conf_low", "conf_high"]]
    frame = frame.set_axis(["estimate", "std_error", "lower", "upper"], axis=1)
    return frame.where(frame["std_error"].notna(), np.nan)


def draw_parallel(sheet: Sheet, data: pd.DataFrame, results: Any, level: float) -> Axes:
    """A block of rows for each term: binary fits over the limits of the fit itself."""
    terms = list(dict.fromkeys(data["term"]))
    rows = len(results.levels) - 1
    # (terms, rows) heights, from the top down, with room for a heading above each block
    tops = np.arange(len(terms), dtype=np.float64) * (rows + 1.6)
    places: FloatArray = -(tops[:, None] + np.arange(rows))
    ends = places.min() - 0.8, places.max() + 1.6
    ax = sheet.axes(height=0.9 + 0.21 * (rows + 1.6) * len(terms))
    ax.set_ylim(*ends)
    # approximate inches of a row: a layout would be slow
    room = ax.bbox.height / ax.figure.dpi / (ends[1] - ends[0])
    colours = style.level_colours(rows)
    tables = [data[data["term"] == term] for term in terms]
    for table, heights in zip(tables, places, strict=True):
        _draw_block(ax, table, heights, colours, room)
    step = style.every(room)
    names = [f"> {sheet.name(above)}" for above in results.levels[:-1]][::step]
    named_places = list(places[:, ::step].ravel())
    filling = (ends[1] - ends[0]) / step
    style.row_labels(ax, named_places, names * len(terms), filling)
    letters = style.drawn_letters(ax)
    scale = f"effect on the {results.rule.link.name} scale"
    words = f"{scale}, {100 * level:g}% confidence interval"
    ax.set_xlabel(in_lines(words, max(letters, 18)), fontsize=style.SMALL + 0.5)
    response = sheet.name(results.design.response)
    ax.set_ylabel(f"P({response} > level)", fontsize=style.SMALL + 0.5)
    texts = effect_texts([results], sheet.labels, data.attrs.get("per", {}))
    headings = [texts["location", term] for term in terms]
    pooled = np.array([table[_POOLED].iloc[0] for table in tables], dtype=np.float64)
    estimates = results.params[terms].to_numpy()
    # an estimate that is infinite, or where a search without a maximum stopped
    pooled[np.isnan(pooled[:, 0]) & ~np.isnan(estimates)] = [np.inf, np.nan, np.nan]
    size = style.row_size(1.5 * room)
    for heading, limits, heights in zip(
        headings, with_limits(pooled), places, strict=True
    ):
        name = shortened_middle(heading, max(letters - len(limits) - 3, 10))
        words = f"{name}   {limits}".replace("$", r"\$")
        _head_block(ax, words, heights.max() + 0.55, size)
    return ax


def _draw_block(
    ax: Axes, table: pd.DataFrame, heights: FloatArray, colours: list[Any], room: float
) -> None:
    """The binary fits of one term over the limits of the fit itself."""
    pooled, low, high = table[_POOLED].iloc[0]
    span = [heights.min() - 0.45, heights.max() + 0.45]
    ax.plot([0.0, 0.0], span, color=style.MUTED, linewidth=0.8, zorder=1)
    ax.fill_betweenx(span, low, high, color=style.faint(), linewidth=0)
    ax.plot([pooled] * 2, span, color=style.ink(), linewidth=1.0)
    limits = (table["lower"], table["upper"])
    ax.hlines(heights, *limits, colors=colours, linewidth=1.6, zorder=3)
    ax.scatter(table["estimate"], heights, color=colours, s=26, zorder=4)
    if room < _LEAST:
        return
    looks: dict[str, Any] = {"color": style.MUTED, "fontsize": style.row_size(room)}
    looks["bbox"] = _blank()
    left = ax.get_yaxis_transform()
    for height in heights[table["estimate"].isna()]:
        style.note(ax, "no finite estimate", (0.0, height), (4, 0), left, **looks)


def _head_block(ax: Axes, words: str, height: float, size: float) -> None:
    """The heading of a block, on the colour of the background."""
    looks: dict[str, Any] = {"va": "bottom", "fontsize": size, "fontweight": "bold"}
    left = ax.get_yaxis_transform()
    style.note(ax, words, (0.0, height), (0, 0), left, bbox=_blank(), **looks)


def _blank() -> dict[str, Any]:
    """A box of the colour of the background, behind text that lines would cross."""
    return {"facecolor": tuple(style.paper()), "edgecolor": "none", "pad": 0.5}


_BEYOND = 0.2  # curves extend to the limits with this share of the error probability


#: Most parameters with a panel each.
_MOST_PROFILES = 100
#: Signed root deviances below this are those of a flat profile.
_FLAT = 0.01
#: A curve without a limit is drawn as far as its signed root deviance is above this.
_TAIL = 0.05
#: Most parameters that a warning names.
_NAMED = 6


def profiles_frame(results: Any, parm: Any, level: float, points: int) -> pd.DataFrame:
    """Profiles to a little beyond their confidence limits at `level`."""
    fraction("level", level)
    if parm is None:
        _check_few_profiles(results)
    frame = results.profile(parm, level=1.0 - _BEYOND * (1.0 - level), points=points)
    frame = _with_a_curve(frame)
    names = frame["parameter"]
    return pd.DataFrame(
        frame.assign(
            quadratic=(frame["value"] - names.map(results.params))
            / names.map(results.se)
        )
    )


def _check_few_profiles(results: Any) -> None:
    """DataError for more parameters than a picture has panels for."""
    if len(results.params) > _MOST_PROFILES:
        example = results.design.names[0] if results.design.names else 0
        raise DataError(
            "plot.profiles() has a panel for each parameter, and takes at most"
            f" {_MOST_PROFILES}; got {len(results.params):,}. Name those that you need,"
            f" as in plot.profiles({example!r})."
        )


def _with_a_curve(frame: pd.DataFrame) -> pd.DataFrame:
    """The profiles that fall; a warning names the other parameters."""
    finite = np.isfinite(frame["value"]) & np.isfinite(frame["z"])
    falls = finite & (frame["z"].abs() > _FLAT)
    drawn = frame["parameter"].isin(frame["parameter"][falls])
    flat = list(dict.fromkeys(frame["parameter"][~drawn]))
    if flat:
        if not drawn.any():
            raise DataError(
                "no parameter in parm has a profile that falls where it can be"
                f" computed: {first_few(flat, _NAMED)}."
            )
        warn(
            "the profiles of these parameters do not fall where they can be computed,"
            f" and are left out: {first_few(flat, _NAMED)}.",
            DataWarning,
        )
    return frame[drawn]


def draw_profiles(
    sheet: Sheet, data: pd.DataFrame, results: Any, parm: Any, level: float
) -> AnyArray:
    names = list(dict.fromkeys(data["parameter"]))
    limits = results.confint(names, level, type="profile")
    columns = style.columns_for(len(names))
    panels = sheet.panels(len(names), columns, height=2.4, width=2.5 * columns + 0.8)
    texts = results.names_shown(sheet.labels)
    for i, (panel, name) in enumerate(zip(panels, names, strict=True)):
        low, high = limits.loc[name]
        _panel(panel, data[data["parameter"] == name], np.array([low, high]), level)
        words = f"{100 * level:g}%: {_range(low, high)}"
        title = texts.get(name, name)
        style.named(panel, words, "" if i % columns else "signed root deviance", title)
    return np.array(panels, dtype=object)


def _range(low: float, high: float) -> str:
    """Limits in words; a profile that levels off has none on that side."""
    width = high - low
    if np.isnan(low) and np.isnan(high):
        return "no limits"
    if np.isnan(low):
        return f"no lower limit, {_shown(high, width)}"
    if np.isnan(high):
        return f"{_shown(low, width)}, no upper limit"
    return f"{_shown(low, width)} to {_shown(high, width)}"


def _shown(limit: float, width: float) -> str:
    if not np.isfinite(limit):
        return "∞" if limit > 0 else "−∞"
    return f"{limit:z.{decimals_for(width)}f}" if np.isfinite(width) else f"{limit:.2f}"


def _panel(ax: Any, data: pd.DataFrame, limits: FloatArray, level: float) -> None:
    """The curve, its approximation, and where it crosses the quantiles."""
    quantile = float(ndtri(0.5 + level / 2.0))
    # a profile may end at infinity
    data = data[np.isfinite(data["value"]) & np.isfinite(data["z"])]
    if not np.isfinite(limits).all():
        # the flat tail of a curve without a limit on that side
        data = data[data["z"].abs() > _TAIL]
    z = data["z"].to_numpy()
    bottom = min(float(z.min()), -1.1 * quantile)
    top = max(float(z.max()), 1.1 * quantile)
    ax.axhline(0.0, color=style.faint(), linewidth=0.8)
    for height in (-quantile, quantile):
        ax.axhline(height, color=style.MUTED, linewidth=0.8, linestyle=(0, (2, 2)))
    ax.plot(
        data["value"],
        data["quadratic"],
        color=style.MUTED,
        linewidth=1.0,
        linestyle=(0, (5, 3)),
    )
    ax.plot(data["value"], z, color=style.RIGHT, linewidth=1.8)
    for limit, height in zip(limits, (-quantile, quantile), strict=True):
        if np.isfinite(limit):
            ax.plot([limit, limit], [bottom, height], color=style.WRONG, linewidth=1.0)
            ax.plot(limit, height, "o", color=style.WRONG, markersize=4)
    ax.set_xlim(data["value"].min(), data["value"].max())
    ax.set_ylim(bottom, top)
    ax.locator_params(axis="x", nbins=4)
