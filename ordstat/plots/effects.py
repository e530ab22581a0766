"""Effects and means of variables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import AnyArray
from ..checks import mapping
from ..exceptions import DataError, OptionError
from ..report.sections import counted_weights
from . import style
from .style import Sheet
from .variables import factor_axis, fitted_columns, in_formula, not_taken, numeric

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NUMBERS = ["estimate", "std_error", "lower", "upper"]
_POINTS = 60
_CROWDED = 7  # levels; bands of more are drawn fainter
_QUARTILES = (0.25, 0.5, 0.75)
_MOST_PANELS = 12
_MOST_LINES = 8
#: Lines and dots that distinguish groups in grey.
_LINES = ("-", (0, (5, 2)), (0, (1, 1.3)), (0, (5, 2, 1, 2)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def means(
    results: Any,
    variable: str,
    by: str | None,
    scale: str | Mapping[str, Any],
    at: Any,
    data: Any,
    levels: bool = False,
    **how: Any,
) -> tuple[pd.DataFrame, str]:
    """Marginal means from `emmeans` (if `levels`, of each level of the response), and
    the name of the quantity.

    Without values in `at`, a numeric variable has points over its range, and a numeric
    `by` the quartiles.
    """
    names = ["level", *_NUMBERS] if levels else _NUMBERS
    shown = [variable] if by is None else [by, variable]
    in_formula(results, shown)
    not_taken(shown, names)
    if by == variable:
        raise OptionError(f"by must be a variable other than {variable!r}.")
    given = mapping("at", at, "{'age': [30, 50]}")
    held: dict[str, Any] = {
        name: list(np.atleast_1d(np.array(v, dtype=object)))
        for name, v in given.items()
    }
    for name in {*shown}.difference(held, results.design.spec.categories()):
        instead = f"at={{{name!r}: values}}, or "
        values = fitted_columns(results, data, [name], instead)[name].dropna()
        if values.dtype.kind not in "iuf":
            continue
        points = np.linspace(values.min(), values.max(), _POINTS)
        if name == by:
            points = np.unique(np.quantile(values, _QUARTILES))
        held[name] = points.tolist()
    table = results.emmeans(shown, scale=scale, at=held, data=data, **how)
    _check_one_mean(table, shown, names, scale)
    quantity = table.quantity
    if scale == "latent" and results.family.ordered:
        quantity = "latent"
    return table.frame[[*shown, *names]], quantity


def _check_one_mean(
    table: Any,
    shown: Sequence[str],
    names: Sequence[str],
    scale: str | Mapping[str, Any],
) -> None:
    """OptionError if values of the variables shown have several means."""
    labels = list(table.averager.labels)
    others = table.frame.columns.difference([*shown, *names])
    outer = others.difference(labels)
    if outer.size and table.frame.duplicated([*shown, *labels]).any():
        raise OptionError(
            f"{shown[-1]!r} is nested in {outer[0]!r}: write by={outer[0]!r}."
        )
    if others.difference(outer).size:
        raise OptionError(
            f"scale must have one mean at each value; {scale!r} has one per level. Use"
            " plot.effects()."
        )


def variable_and_by(variable: str, by: str | None) -> tuple[str, str | None]:
    """A variable and the one of the lines, which may come as a formula such as "~ a |
    b".
    """
    if not isinstance(variable, str) or "~" not in variable:
        return variable, by
    before, _, after = variable.partition("~")
    name, _, group = after.partition("|")
    if before.strip() or not name.strip() or re.search(r"[*:+~|]", name + group):
        raise OptionError(
            "a picture of means takes one variable, and one for its lines, as in '~ a"
            f" | b'; got {variable!r}."
        )
    return name.strip(" `"), group.strip(" `") or by


def draw_effects(
    sheet: Sheet,
    table: pd.DataFrame,
    results: Any,
    variable: str,
    by: str | None,
    facets: bool,
    re: str | None,
) -> Axes | AnyArray:
    """All levels in one frame, or panels by level or by another variable."""
    _check_known(table)
    words = _probability(sheet, results, re)
    single = by is None and not facets
    over_number = numeric(results, variable, table)
    within = results.design.spec.ranges.get(variable)
    top = min(1.0, 1.04 * float(np.nanmax(table[["estimate", "upper"]].to_numpy())))
    titles, key, shown = _in_panels(sheet, table, results.levels, by, facets)
    n = len(shown)
    if n > _MOST_PANELS:
        raise OptionError(
            f"a picture has at most {_MOST_PANELS} panels; got {n}. Give fewer values,"
            f" at={{{by!r}: values}}."
        )
    columns = style.columns_for(n)
    width = 6.4
    height = 4.0
    if not single:
        width = 2.5 * columns + 1.8
        height = max(2.7, 0.2 * len(key) / -(-n // columns))
    panels = sheet.panels(n, columns, height=height, width=width)
    colours: list[Any] = [style.RIGHT]
    if key:
        colours = style.level_colours(max(len(key), 2))[: len(key)]
    apart = facets and by is not None
    parts = zip(panels, titles, shown, strict=True)
    for k, (panel, title, curves) in enumerate(parts):
        for i, part in enumerate(curves):
            x = part[variable]
            looks = (over_number, colours[i], i, len(colours), apart)
            curve(panel, part, x, *looks, within=within)
        if not over_number:
            _mark_unknown(panel, pd.concat(curves), variable)
        panel.set_ylim(0.0, top)
        below = k + columns >= n or sheet.given is not None
        x_name = sheet.name(variable) if below else ""
        style.named(panel, x_name, "" if k % columns else words, title)
    if key:
        lines = panels[0].get_lines()
        if single:
            style.level_key(panels[0], key, lines)
        else:
            style.panel_key(panels, key, lines, sheet.given)
    return panels[0] if single else np.array(panels, dtype=object)


def _in_panels(
    sheet: Sheet,
    table: pd.DataFrame,
    levels: Sequence[Any],
    by: str | None,
    facets: bool,
) -> tuple[list[str], list[str], list[list[pd.DataFrame]]]:
    """Titles of the panels, names of the curves, and the curves of every panel: levels
    by values of `by`, or with `facets` these by levels.
    """
    names = [sheet.name(level) for level in levels]
    groups = [table]
    titles: list[str] = []
    if by:
        values = table[by].unique()
        groups = [table[table[by] == value] for value in values]
        titles = [f"{sheet.name(by)} = {style.value_words(value)}" for value in values]
    curves = [[part[part["level"] == level] for level in levels] for part in groups]
    if facets:
        return names, titles, [list(panel) for panel in zip(*curves, strict=True)]
    return titles or [""], names, curves


def _mark_unknown(ax: Axes, table: pd.DataFrame, variable: str) -> None:
    """Words at the values of a factor that have no estimate."""
    finite = pd.Series(np.isfinite(table["estimate"]), table.index)
    known = finite.groupby(table[variable], sort=False, observed=True).any()
    for place in np.flatnonzero(~known.loc[table[variable].unique()]):
        looks: dict[str, Any] = {"rotation": 90, "ha": "center", "color": style.MUTED}
        top = ax.get_xaxis_transform()
        style.note(ax, "not estimable", (float(place), 0.5), (0, 0), top, **looks)


def _check_known(table: pd.DataFrame) -> None:
    """DataError for a picture without a finite mean."""
    if not np.isfinite(table["estimate"]).any():
        raise DataError(
            "the picture would be empty: the data determine none of its means, for the"
            " reason that the fit's warnings give. Do what they advise, or draw another"
            " variable."
        )


def _probability(sheet: Sheet, results: Any, re: str | None) -> str:
    what = f"P({sheet.name(results.design.response)} = level)"
    if getattr(results.fit, "marginal", None) is None:
        return what
    if re == "zero":
        return f"{what}, random effects at 0"
    return f"{what}, averaged over the groups"


def curve(
    ax: Axes,
    table: pd.DataFrame,
    x: pd.Series,
    over_number: bool,
    colour: Any,
    index: int = 0,
    n: int = 1,
    apart: bool = False,
    label: str | None = None,
    within: tuple[float, float] | None = None,
) -> None:
    """Curve number `index` of n: a line with a band over a number, or dots with limits
    at the levels of a factor.

    Outside `within`, the range of the rows of the fit, the line is dashed. `apart`
    gives it a different line style or marker, for print in grey, and joins dots with a
    label.
    """
    limits = table["lower"], table["upper"]
    line = _LINES[index % len(_LINES)] if apart else "-"
    looks: dict[str, Any]
    if over_number:
        ax.fill_between(
            x, *limits, color=colour, alpha=0.20 if n <= _CROWDED else 0.10, linewidth=0
        )
        looks = {"color": colour, "linewidth": 1.8, "linestyle": line, "label": label}
        style.line_over(ax, x, table["estimate"], within, **looks)
        ax.set_xlim(x.min(), x.max())
        return
    places = np.arange(len(x)) + 0.5 * ((index + 0.5) / n - 0.5)
    looks = {"markersize": 4.5, "linewidth": 0.8, "label": label}
    marker = _MARKERS[index % len(_MARKERS)] if apart else "o"
    line = line if label and apart else "none"
    ax.plot(places, table["estimate"], marker, color=colour, linestyle=line, **looks)
    ax.vlines(places, *limits, color=colour, linewidth=1.8)
    factor_axis(ax, x)


def draw_emmeans(
    sheet: Sheet,
    table: pd.DataFrame,
    results: Any,
    variable: str,
    by: str | None,
    quantity: str,
    level: float,
) -> Axes:
    """A line for each value of `by`, like R's emmip; parallel lines mean no
    interaction.
    """
    _check_known(table)
    groups = (
        [table]
        if by is None
        else [table[table[by] == value] for value in table[by].unique()]
    )
    if len(groups) > _MOST_LINES:
        raise OptionError(
            f"by must have at most {_MOST_LINES} values; {by!r} has {len(groups)}. Give"
            " fewer in at=."
        )
    ax = sheet.axes(height=3.8)
    colours = (
        [style.RIGHT]
        if by is None
        else style.level_colours(max(len(groups), 2))[: len(groups)]
    )
    over_number = numeric(results, variable, table)
    for i, group in enumerate(groups):
        label = (
            None
            if by is None
            else style.beside(ax, style.value_words(group[by].iloc[0]))
        )
        curve(
            ax,
            group,
            group[variable],
            over_number,
            colours[i],
            i,
            len(colours),
            by is not None,
            label,
            results.design.spec.ranges.get(variable),
        )
    if not over_number:
        _mark_unknown(ax, table, variable)
    if by is not None:
        style.legend(ax, style.beside(ax, sheet.name(by)))
    if quantity == "latent":
        quantity = f"latent score of {sheet.name(results.design.response)}"
    words = f"{quantity}, {100 * level:g}% confidence interval"
    return style.named(ax, sheet.name(variable), words)


def stacked_frame(
    results: Any, variable: str, at: Mapping[str, Any] | None, data: Any, re: str | None
) -> pd.DataFrame:
    """Probabilities and their cumulative sums."""
    not_taken([variable], ("cumulative",))
    table = means(results, variable, None, "prob", at, data, True, re=re)[0]
    table = table[[variable, "level", "estimate"]]
    shares = table["estimate"].to_numpy().reshape(-1, len(results.levels))
    return table.assign(cumulative=np.cumsum(shares, axis=1).ravel())


def draw_stacked(
    sheet: Sheet,
    table: pd.DataFrame,
    results: Any,
    variable: str,
    re: str | None,
    data: Any,
) -> Axes:
    _check_known(table)
    ax = sheet.axes(height=4.0)
    K = len(results.levels)
    colours = style.area_colours(K)
    style.level_key(ax, [sheet.name(level) for level in results.levels], colours)
    shares = table["estimate"].to_numpy().reshape(-1, K).T
    tops = table["cumulative"].to_numpy().reshape(-1, K).T
    values = table[variable].iloc[::K]
    edge: dict[str, Any] = {
        "edgecolor": tuple(style.paper()),
        "linewidth": min(0.6, 6.0 / K),
    }
    if numeric(results, variable, table):
        ax.stackplot(values.to_numpy(dtype=np.float64), shares, colors=colours, **edge)
        ax.set_xlim(values.min(), values.max())
        _mark_ends(ax, values, results.design.spec.ranges.get(variable))
    else:
        factor_axis(ax, values, _counts(results, variable, values, data))
        _mark_unknown(ax, table, variable)
        width, height = style.inches(ax)
        room = 0.8 * width / len(values) >= 2.4 * 0.62 * style.SMALL / 72.0
        least = 1.1 * style.SMALL / 72.0 / height  # as high as its number
        for share, top, colour in zip(shares, tops, colours, strict=True):
            ax.bar(
                np.arange(len(values)),
                share,
                0.8,
                bottom=top - share,
                color=colour,
                **edge,
            )
            for i in np.flatnonzero(share >= least) if room else ():
                looks = {
                    "color": style.text_colour(colour),
                    "fontsize": style.SMALL - 0.5,
                }
                style.text(
                    ax, float(i), top[i] - share[i] / 2.0, f"{share[i]:.2f}", **looks
                )
    ax.set_ylim(0.0, 1.0)
    return style.named(ax, sheet.name(variable), _probability(sheet, results, re))


def _mark_ends(ax: Axes, values: pd.Series, within: tuple[float, float] | None) -> None:
    """Dashed lines where the rows of the fit end, if values go beyond."""
    for end in within or ():
        if values.min() < end < values.max():
            ax.axvline(end, color=style.ink(), linewidth=1.0, linestyle=(0, (2, 1.5)))


def _counts(
    results: Any, variable: str, values: pd.Series, data: Any
) -> list[float] | None:
    """Observations at each value of a factor; None if data or values are missing."""
    sample = results.design.sample
    try:
        rows = fitted_columns(results, data, [variable])[variable].reset_index(
            drop=True
        )
    except DataError:
        return None
    if len(rows) != sample.n:
        return None
    counts = pd.Series(counted_weights(results)).groupby(rows.astype(object)).sum()
    return (
        [float(count) for count in counts[list(values)]]
        if values.isin(counts.index).all()
        else None
    )
