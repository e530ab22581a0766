"""Tables of a summary that all methods share: errors, margins, bounds, certificate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from .._typing import AnyArray, FloatArray
from ..fit import Certificate, CostBound, Selection, Trace
from ..fitted import FittedRanker
from ..judging.errors import ErrorTable, Predictions, confusion, level_costs
from ..judging.margins import MarginBounds, Margins, sorted_mass
from .cells import count, counted
from .frames import NotedFrame
from .grid import BRIEF_NAME
from .render import SCREEN, Part, Report, Table, kept, width_of

# A confusion matrix of more levels than this is left to `.confusion()`.
_MOST_LEVELS = 12
_MOST_ROWS = 20
_QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def level_counts(levels: Sequence[Any], counts: AnyArray, percent: bool = False) -> str:
    """ "1 (5), 2 (22), ..."; shares where the counts are no numbers of rows."""
    total = float(np.sum(counts))
    cells = [f"{100.0 * n / total:.1f}%" if percent else count(n) for n in counts]
    shown = [f"{level} ({cell})" for level, cell in zip(levels, cells, strict=True)]
    if len(shown) > _MOST_LEVELS:
        shown = [*shown[:5], "...", *shown[-5:]]
    return ", ".join(shown)


def certificate_text(certificate: Certificate, trace: Trace) -> str:
    """Value against tolerance, iterations, the solver's final message and further figures."""
    sign = "<=" if certificate.reached else "> (NOT REACHED)"
    text = f"{certificate.name} {certificate.value:.2g} {sign} {certificate.tolerance:.2g}"
    # Some methods list their iterations once more.
    details = "".join(f"; {label} {_figure(value)}" for label, value in certificate.details if label != "iterations")
    return f"{text}; {counted(trace.iterations, 'iteration')}{details}"


def _figure(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)


def confusion_table(p: Predictions, levels: Sequence[Any], percent: bool = False) -> Table:
    """Observed by predicted levels, with the errors of every observed level; in shares where weights are no counts."""
    cells = confusion(p.y, p.codes, p.weights, p.n_levels)
    errors = [level_costs(cells, cost) for cost in ("classification", "absolute")]
    if percent:
        cells = cells / cells.sum()
    frame = pd.DataFrame(cells, index=pd.Index(list(levels), name="observed"), columns=list(levels))
    if len(levels) > _MOST_LEVELS:
        frame = frame.iloc[:, :0]
    frame.columns = frame.columns.astype(str)
    formats = dict.fromkeys([*frame.columns, "all"], "percent" if percent else "int")
    frame["all"] = cells.sum(axis=1)
    frame["error"], frame["abs. error"] = errors[0], errors[1]
    title = "Observed levels (rows) by predicted levels (columns), training rows"
    if percent:
        title = "Observed by predicted levels (columns), training rows, weighted percentages"
    note = "" if len(levels) <= _MOST_LEVELS else "The full matrix is in .confusion()."
    formats |= {"error": ".3f", "abs. error": ".3f"}
    table = Table(title=title, frame=frame, formats=formats, note=note, section="errors")
    named = [str(level) for level in levels]
    if len(levels) <= _MOST_LEVELS and width_of(table) > SCREEN and max(map(len, named)) > BRIEF_NAME:
        table = _by_numbers(table, named)
    return shortened(table, ".confusion()")


def _by_numbers(table: Table, levels: Sequence[str]) -> Table:
    """The levels of the columns by their numbers, those of the rows with them."""
    numbers = {level: str(k) for k, level in enumerate(levels, start=1)}
    rows = pd.Index([f"{numbers[level]} = {level}" for level in levels], name=table.frame.index.name)
    formats = {numbers.get(name, name): spec for name, spec in table.formats.items()}
    return replace(table, frame=table.frame.set_axis(rows).rename(columns=numbers), formats=formats)


def error_table_of(table: ErrorTable, own_cost: bool, note: str = "") -> Table:
    """Every measure on the training rows, in two pieces side by side."""
    names = [name for name in table.names if own_cost or name != "cost"]
    frame = pd.DataFrame({"training": [table.value(name) for name in names]}, index=names)
    title = "Errors and agreement on the training rows"
    return Table(title=title, frame=frame, formats={"training": ".4f"}, fold=2, section="errors", note=note)


def margin_table(m: Margins, weights: FloatArray) -> Table:
    """Quantiles of left, right and normalised margins, and the share of wrong ones."""
    rows = {"left": m.left, "right": m.right}
    if np.isfinite(m.norm):
        rows |= {"left, normalised": m.left / m.unit, "right, normalised": m.right / m.unit}
    heads = ["min", "10%", "25%", "median", "75%", "90%", "max"]
    frame = pd.DataFrame({name: _quantiles(values, weights) for name, values in rows.items()}, index=heads).T
    frame["<= 0"] = [_share(values <= 0, values, weights) for values in rows.values()]
    title = "Margins of the rows to the ends of their own interval"
    note = "The lowest level has no left end and the highest no right end; the others are counted."
    return Table(title=title, frame=frame, formats={"<= 0": "percent"}, note=note, section="margins")


def _quantiles(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Quantiles of the finite values, a weight w counting as w equal values (inverse of the distribution function)."""
    finite = np.isfinite(values)
    if not finite.any():
        return np.full(len(_QUANTILES), np.nan)
    ordered, mass = sorted_mass(values[finite], weights[finite])
    places = np.searchsorted(mass, np.array(_QUANTILES) * mass[-1] * (1 - 1e-12))
    return np.asarray(ordered[np.minimum(places, ordered.size - 1)])


def _share(flags: Any, values: FloatArray, weights: FloatArray) -> float:
    finite = np.isfinite(values)
    total = weights[finite].sum()
    return float(weights[finite & flags].sum() / total) if total > 0 else float("nan")


def delta_table(errors: pd.DataFrame, normalised: bool) -> Table:
    """E_C, E_B and E_A at a few margins."""
    names = {"classification": "classification E_C", "boundary": "boundary E_B", "absolute": "absolute E_A"}
    frame = errors.rename(columns=names).rename(index="{:g}".format)
    title = "Training errors at normalised margin Delta" if normalised else "Training errors at margin Delta"
    return Table(title=title, frame=frame, section="margins")


def bound_table(found: MarginBounds) -> list[Table]:
    """The margin bounds that say something; nothing where none does (the notes say why)."""
    told = [b for b in found.bounds if not b.vacuous]
    if not told:
        return []
    columns = {
        "bound": [b.value for b in told],
        "trivial": [b.trivial for b in told],
        "source": [b.source for b in told],
    }
    title = f"Margin bounds of the expected error, each with probability {100 * (1 - told[0].delta):g}%"
    frame = pd.DataFrame(columns, index=[b.name for b in told])
    return [Table(title=title, frame=frame, formats={"trivial": "g"}, section="bounds")]


def shortened(table: Table, where: str) -> Table:
    """A table of very many rows cut to its ends, saying where the whole is."""
    n = len(table.frame)
    if n <= _MOST_ROWS:
        return table
    frame = pd.concat([table.frame.iloc[: _MOST_ROWS // 2], table.frame.iloc[-(_MOST_ROWS // 2) :]])
    return replace(table, frame=frame, note=f"The first and last {_MOST_ROWS // 2} of {n} rows; all are in {where}.")


def threshold_table(frame: pd.DataFrame) -> Table:
    """The thresholds, one row each; the first column has them, the second their standard errors."""
    return shortened(Table(title="Thresholds", frame=frame, inline=True), ".thresholds")


def alert_notes(r: FittedRanker) -> tuple[str, ...]:
    """The warnings of the fit as sentences."""
    return tuple(message[:1].upper() + message[1:] for _, message in r.issued())


def fractional(r: FittedRanker) -> bool:
    """Whether rows are told by weighted percentages: of a survey, or with weights that are no numbers of rows."""
    weights = r.design.sample.weights
    whole = weights is None or np.array_equal(weights, np.rint(weights))
    return not whole or r.design.survey is not None


def levels_of(r: FittedRanker, numbered: bool = False) -> str:
    """The levels and the rows of each, with their numbers if these stand for them further below."""
    sample = r.design.sample
    counts = np.bincount(sample.y, weights=sample.case_weights, minlength=sample.n_levels)
    if not numbered:
        return level_counts(r.levels, counts, fractional(r))
    named = [f"{k} = {level}" for k, level in enumerate(r.levels, start=1)]
    return level_counts([kept(name) for name in named], counts, fractional(r))


def data_header(r: FittedRanker) -> tuple[tuple[str, Any], ...]:
    """What was fitted to what."""
    sample = r.design.sample
    weighted = f"{sample.n} weighted rows"
    if not fractional(r):
        weighted = f"{count(r.nobs)} (in {weighted})"
    elif r.design.survey is None:
        weighted += f", sum of weights {count(r.nobs)}"
    rows = count(r.nobs) if sample.weights is None else weighted
    left_out = r.design.n_given - sample.n
    return (
        ("Method", repr(r.method)),
        ("Observations", f"{rows}; {counted(left_out, 'row')} left out" if left_out else rows),
        ("Levels", levels_of(r)),
        ("Cost", "each row's own" if sample.costs is not None else r.method.cost_matrix.label),
        *((label[:1].upper() + label[1:], value) for label, value in r.fit.facts),
    )


def ranker_report(
    r: FittedRanker,
    tables: Iterable[Table | Part],
    header: Sequence[tuple[str, Any]] = (),
    notes: Sequence[str] = (),
) -> Report:
    """The summary of a ranker: what all have, with its own tables, pairs of the header and notes."""
    return Report(
        title=r.title,
        header=(*data_header(r), ("Certificate", certificate_text(r.certificate, r.trace)), *header),
        tables=tuple(tables),
        notes=(*alert_notes(r), *notes),
        margin_notes=lambda: r.margin_bounds.notes,
    )


def bound_header(bound: CostBound | None) -> tuple[str, str]:
    """Both sides of the inequality between the training cost and binary costs, and its source."""
    if bound is None:
        return "Training bound", "none"
    holds = "<=" if bound.value <= bound.limit else "> (VIOLATED)"
    text = f"cost above the least possible {bound.value:.4g} {holds} {bound.limit:.4g} ({bound.source})"
    return "Training bound", text


def error_tables(r: FittedRanker) -> list[Part]:
    """Confusion and errors: the same for every ranker."""

    def make() -> list[Table]:
        errors = error_table_of(r.training_errors, r.own_cost, r.training_note)
        return [confusion_table(r.training, r.levels, fractional(r)), errors]

    return [Part("errors", make)]


def selection_table(selection: Selection) -> Table:
    """Cross-validated cost of every C tried; where gamma was chosen too, of the best C for each."""
    frame = pd.DataFrame({"cost": selection.cost, "std. error": selection.error}).dropna(axis=1)
    tried, best = selection.C, np.arange(selection.C.size)
    title = f"Cost by {selection.how}" if selection.folds else "Bound of the expected cost, at 95%"
    if selection.gamma is not None:
        tried, best = selection.gamma, selection.best_of_each_gamma()
        frame.insert(0, "C", [f"{C:g}" for C in selection.C])
        title += ", at the best C for each gamma" if np.unique(selection.C).size > 1 else ""
    names = [_power(value) + " chosen" * (place == selection.chosen) for place, value in enumerate(tried)]
    frame.index = pd.Index(names, name="C" if selection.gamma is None else "gamma")
    return Table(title=title, frame=frame.iloc[best], note=_at_the_end(selection), fold=2, section="fit")


def _at_the_end(selection: Selection) -> str:
    """A note where the best value is the largest or the smallest tried, which is no sign that it is the best of all."""
    values = {"C": selection.C} if selection.gamma is None else {"C": selection.C, "gamma": selection.gamma}
    ends = {"largest": np.max, "smallest": np.min}
    found = [
        f"the {end} {name} tried"
        for name, tried in values.items()
        for end, of in ends.items()
        if np.unique(tried).size > 1 and tried[selection.chosen] == of(tried)
    ]
    return f"Chosen is {' and '.join(found)}: values beyond it, given as a list, may cost less." if found else ""


def _power(value: float) -> str:
    """2 to an exponent where it is whole, else the number."""
    exponent = np.log2(value)
    return f"2^{exponent:g}" if exponent == round(exponent) else f"{value:g}"


def shared_tables(r: FittedRanker) -> list[Part]:
    """Errors, margins and bounds: the same for every threshold ranker."""

    def margins() -> list[Table]:
        from ..judging.tables import margin_errors

        normalised = r.geometry is not None
        errors = delta_table(margin_errors(r, None, normalised), normalised)
        return [margin_table(r.training_margins, r.design.sample.case_weights), errors]

    return [*error_tables(r), Part("margins", margins), Part("bounds", lambda: bound_table(r.margin_bounds))]


def figures(fit: FittedRanker) -> pd.DataFrame:
    """One row of figures of the whole fit."""
    certified = {"certificate": fit.certificate.name, "certificate_value": fit.certificate.value}
    solved = certified | {"iterations": fit.trace.iterations, "converged": fit.certificate.reached}
    return one_row({"nobs": fit.nobs, "n_levels": len(fit.levels)} | error_figures(fit) | solved)


def one_row(values: Mapping[str, Any]) -> NotedFrame:
    """A table of figures of one fit."""
    return NotedFrame.of(pd.DataFrame([values]), (), "Figures of the fit")


def error_figures(fit: FittedRanker) -> dict[str, float]:
    """Mean errors of the rows of the fit, by their names in a table of figures."""
    return {f"{kind}_error": fit.training_errors.value(f"{kind} error") for kind in ("classification", "absolute")}
