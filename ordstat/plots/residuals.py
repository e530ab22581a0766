"""Residuals, influence, random effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import betaincinv, ndtri, stdtrit

from .._typing import AnyArray, FloatArray, IntArray
from ..checks import fraction, generator, one_of, text_given, whole
from ..exceptions import OptionError
from ..judging.fitted_data import data_of_fit, matched_rows
from ..report.sections import fractional
from . import style
from .style import Sheet, shortened_middle
from .variables import factor_axis, not_taken

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Groups of equal size along a numeric variable, and fewest rows in a group.
_GROUPS = 10
_LEAST = 8
_MOST_DOTS = 3000
#: Most cases that residuals are drawn for, where rows stand for many.
_MOST_CASES = 10_000


def residuals_frame(
    results: Any,
    against: str | None,
    data: Any,
    level: float,
    seed: int | np.random.Generator,
) -> pd.DataFrame:
    """The residuals and their x values, on the index of the rows."""
    fraction("level", level)
    if against is not None:
        text_given("against", against)
    not_taken([against], ("residual",))
    if against == "score" and "score" in (results.design.spec.columns or ()):
        raise OptionError(
            "against='score' is the linear predictor, but a variable of the formula has"
            " the same name: rename the variable in the data and the formula."
        )
    weights = results.design.sample.weights
    if weights is None or fractional(results):
        rows = np.arange(results.design.sample.n)
        values = results.residuals("surrogate", seed=seed)
    else:
        rng = generator(seed)
        rows = _cases(weights.astype(np.intp), rng)
        rule = results.rule
        cases = results.design.sample.take(rows)
        shares = rng.random(rows.size)
        drawn = rule.family.latent_residuals(
            rule.predictor(cases.rows), cases.answers, shares
        )
        values = pd.Series(drawn, index=results.design.index[rows])
    if against is None:
        return _quantiles(results, values, level)
    along = _along(results, against, data)[rows]
    return pd.DataFrame(
        {against: along, "residual": values.to_numpy()}, index=values.index
    )


def _cases(counts: IntArray, rng: np.random.Generator) -> IntArray:
    """The row of each case, or of a random sample of the cases: a residual is drawn for
    each.
    """
    ends = np.cumsum(counts)
    if ends[-1] <= _MOST_CASES:
        return np.repeat(np.arange(counts.size), counts)
    chosen = np.sort(rng.choice(ends[-1], _MOST_CASES, replace=False))
    return np.searchsorted(ends, chosen, side="right")


def _shares(results: Any) -> FloatArray | None:
    """Weights that are no numbers of cases; None without any."""
    return results.design.sample.weights if fractional(results) else None


def draw_residuals(
    sheet: Sheet, table: pd.DataFrame, results: Any, against: str | None, level: float
) -> Axes:
    ax = sheet.axes(height=3.8)
    if against is None:
        x = table["expected"].to_numpy()
        words = "expected under the model"
        ax.plot(
            [x.min(), x.max()],
            [x.min(), x.max()],
            color=style.ink(),
            linewidth=0.9,
            zorder=2,
        )
        if table["lower"].notna().all():
            ax.fill_between(
                x,
                table["lower"],
                table["upper"],
                color=style.faint(),
                linewidth=0,
                zorder=1,
            )
            words += f", {100 * level:g}% confidence interval"
        _dots(ax, x, table["residual"].to_numpy())
        return style.named(ax, words, "surrogate residual")
    name = "latent score" if against == "score" else sheet.name(against)
    words = _draw_against(ax, table, against, level, _shares(results))
    return style.named(ax, f"{name}; {words}", "surrogate residual")


def _quantiles(results: Any, values: pd.Series, level: float) -> pd.DataFrame:
    """Sorted residuals with expected quantiles and limits, from the Beta(i, n + 1 - i)
    distribution of rank i of n.
    """
    order = np.argsort(values.to_numpy(), kind="stable")
    weights = _shares(results)
    n = values.size
    w = np.ones(n) if weights is None else weights[order]
    table = pd.DataFrame({"residual": values.iloc[order]})
    quantiles = results.rule.family.residual_quantiles
    table["expected"] = quantiles((np.cumsum(w) - 0.5 * w) / w.sum())
    rank = np.arange(1.0, n + 1.0)
    for name, share in (("lower", 0.5 - 0.5 * level), ("upper", 0.5 + 0.5 * level)):
        table[name] = np.nan
        if weights is None:
            table[name] = quantiles(betaincinv(rank, n + 1.0 - rank, share))
    return table


def _along(results: Any, against: str, data: Any) -> Any:
    if against == "score":
        return results.predict(type="score")
    frame, _ = matched_rows(results.design, data_of_fit(results.design, data))
    if against not in frame:
        names = ", ".join(map(str, frame.columns))
        raise OptionError(
            f"against must be 'score' or a column of the data, {names}; got"
            f" {against!r}."
        )
    if len(frame) != results.design.sample.n:
        raise OptionError(
            "data must have the rows and the index of the fit, to draw residuals"
            " against a column."
        )
    return frame[against].to_numpy()


def _draw_against(
    ax: Axes, table: pd.DataFrame, name: str, level: float, weights: FloatArray | None
) -> str:
    """Residuals over a variable, with means of its levels or of groups of similar
    values; returns the axis text.
    """
    values = table["residual"].to_numpy()
    w = np.ones(values.size) if weights is None else weights
    ax.axhline(0.0, color=style.ink(), linewidth=0.8, zorder=1)
    limits = f" with {100 * level:g}% confidence interval"
    if weights is not None:
        limits = ", weighted"
    if table[name].dtype.kind in "iuf":
        x = table[name].to_numpy(dtype=np.float64)
        _dots(ax, x, values)
        groups = _groups_along(x)
        places = [float(np.average(x[rows], weights=w[rows])) for rows in groups]
        words = f"means of {len(groups)} groups{limits}"
    else:
        labels = _labels_of(table[name])
        codes = {label: code for code, label in enumerate(labels)}
        x = table[name].map(codes).to_numpy(dtype=np.float64)
        # dots of a label are spread evenly, by multiples of the golden ratio
        _dots(ax, x + 0.5 * (np.arange(x.size) * 0.618 % 1.0 - 0.5), values)
        groups = [np.flatnonzero(x == code) for code in range(len(labels))]
        places = [float(code) for code in range(len(labels))]
        factor_axis(ax, labels)
        words = f"means{limits}"
    for place, group in zip(places, groups, strict=True):
        rows = group[np.isfinite(values[group])]
        if rows.size < 2:
            continue
        mean = float(np.average(values[rows], weights=w[rows]))
        ax.plot(place, mean, "o", color=style.RIGHT, markersize=5, zorder=4)
        if weights is None:  # limits need the number of rows
            error = values[rows].std(ddof=1) / np.sqrt(rows.size)
            half = float(stdtrit(rows.size - 1, 0.5 + 0.5 * level)) * error
            looks: dict[str, Any] = {"color": style.RIGHT, "linewidth": 1.8}
            ax.vlines(place, mean - half, mean + half, zorder=3, **looks)
    return words


def _groups_along(x: FloatArray) -> list[IntArray]:
    """Rows of each value of a number (N,), or groups of equal size if it has many."""
    groups = [np.flatnonzero(x == value) for value in np.unique(x)[: _GROUPS + 1]]
    if len(groups) <= _GROUPS:
        return groups
    n_groups = max(1, min(_GROUPS, x.size // _LEAST))
    return np.array_split(np.argsort(x, kind="stable"), n_groups)


def _labels_of(values: pd.Series) -> pd.Series:
    """The labels that occur, in the order of the categories, or of their texts."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return pd.Series(sorted(pd.unique(values.dropna()), key=str))
    return pd.Series([c for c in values.cat.categories if (values == c).any()])


def _dots(ax: Axes, x: FloatArray, y: FloatArray) -> None:
    step = -(-x.size // _MOST_DOTS)
    ax.scatter(
        x[::step], y[::step], s=9, color=style.MUTED, alpha=0.6, linewidths=0, zorder=2
    )


_COOKS = "cooks"
_LONGEST = 24  # letters of a name
# more stems than this are thinner; most stems
_THIN = 150
_MOST_STEMS = 2000


def influence_frame(results: Any, of: str) -> pd.DataFrame:
    """Influence in the order of the rows of the fit."""
    influence = results.influence()
    one_of("of", of, (_COOKS, *map(str, influence.dfbetas)))
    if of == _COOKS:
        values = influence.cooks
    else:
        values = influence.dfbetas[of].rename("dfbetas")
    return pd.DataFrame(
        {"row": values.index.to_numpy(), values.name: values.to_numpy()}
    )


def draw_influence(
    sheet: Sheet, data: pd.DataFrame, results: Any, of: str, top: int
) -> Axes:
    """Stems of all rows, or of the largest values if there are very many."""
    whole("top", top, 0)
    values = data.iloc[:, 1].to_numpy(dtype=np.float64)
    places = np.arange(1, len(data) + 1)
    in_order = np.argsort(-np.abs(np.nan_to_num(values)), kind="stable")
    shown = in_order[np.isfinite(values[in_order])][:_MOST_STEMS]
    ax = sheet.axes(height=3.4)
    ax.vlines(
        places[shown],
        0.0,
        values[shown],
        color=style.MUTED,
        linewidth=1.2 if len(data) <= _THIN else 0.6,
    )
    ax.axhline(0.0, color=style.ink(), linewidth=0.8)
    ax.set_xlim(0.2, len(data) + 0.8)
    largest = in_order[:top]
    ax.plot(
        places[largest],
        values[largest],
        "o",
        color=style.WRONG,
        markersize=4.5,
        linestyle="none",
    )
    _name_largest(ax, data["row"].to_numpy()[largest], places[largest], values[largest])
    words = "Cook's distance"
    if of != _COOKS:
        name = results.names_shown(sheet.labels).get(of, of)
        words = f"{name}: change of the estimate, in standard errors"
    return style.named(ax, "row, in the order of the data", words)


def _name_largest(ax: Axes, names: Any, places: Any, values: Any) -> None:
    """Names beside the ends of their stems, without overlap."""
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.06 * (high - low))
    points = 1.2 * style.SMALL
    gap = points / 72.0 / style.inches(ax)[1] * (high - low)
    middle = np.mean(ax.get_xlim())
    line = {
        "arrowstyle": "-",
        "color": style.MUTED,
        "linewidth": 0.5,
        "shrinkA": 0,
        "shrinkB": 2,
    }
    for name, place, value, height in zip(
        names, places, values, style.keep_apart(values, gap), strict=True
    ):
        words = shortened_middle(str(name), _LONGEST).replace("$", r"\$")
        side = 8 if place <= middle else -8
        offset = (side, (height - value) / gap * points)
        style.note(
            ax,
            words,
            (place, value),
            offset,
            ha="left" if side > 0 else "right",
            arrowprops=line,
        )


_TALLEST = 8.0  # most inches of a panel
# with more groups than these, lines are thinner
_FEW = 40
_MANY = 150


def ranef_frame(results: Any, level: float) -> pd.DataFrame:
    """Conditional modes with limits, in the order drawn: by rising mode of the term's
    first column.
    """
    z = float(ndtri(0.5 + 0.5 * fraction("level", level)))
    frame: pd.DataFrame = results.ranef()
    frame = frame.assign(
        lower=frame["mode"] - z * frame["sd"], upper=frame["mode"] + z * frame["sd"]
    )
    parts = []
    for _, term in frame.groupby("term", sort=False):
        q = term["name"].nunique()
        order = np.argsort(term["mode"].to_numpy()[::q], kind="stable")
        parts.append(term.iloc[(order[:, None] * q + np.arange(q)).reshape(-1)])
    return pd.concat(parts, ignore_index=True)


def draw_ranef(
    sheet: Sheet, data: pd.DataFrame, results: Any, level: float
) -> AnyArray:
    shown = results.names_shown(sheet.labels)
    parts = list(data.groupby(["term", "name"], sort=False))
    most = max(len(part) for _, part in parts)
    columns = style.columns_for(len(parts))
    width = 6.4 if columns == 1 else 3.4 * columns
    panels = sheet.panels(
        len(parts), columns, height=min(0.9 + 0.2 * max(most, 2), _TALLEST), width=width
    )
    for panel, ((_, name), part) in zip(panels, parts, strict=True):
        _caterpillar(panel, part)
        style.named(
            panel,
            f"random effect, {100 * level:g}% interval",
            "",
            f"{sheet.name(part['group'].iloc[0])}: {shown.get(str(name), name)}",
        )
    named = set()
    for panel, ((term, _), part) in zip(panels, parts, strict=True):
        if term in named:
            texts = [""] * len(part)
        else:
            texts = [sheet.name(label) for label in part["level"]]
        style.row_labels(panel, list(range(len(part))), texts)
        named.add(term)
    return np.array(panels, dtype=object)


def _caterpillar(ax: Any, part: pd.DataFrame) -> None:
    n = len(part)
    places = np.arange(len(part))
    if n <= _FEW:
        thin = 1.6
    elif n <= _MANY:
        thin = 1.0
    else:
        thin = 0.5
    ax.axvline(0.0, color=style.MUTED, linewidth=0.8, zorder=1)
    limits = (part["lower"], part["upper"])
    size = 2.0 + 2.0 * thin
    style.intervals(ax, places, part["mode"], limits, width=thin, markersize=size)
    ax.set_ylim(-0.6, n - 0.4)
