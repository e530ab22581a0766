"""Contents of a summary: the sections that all methods share, and the one-screen
summary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import counted, one_of
from ..fit import Certificate, CostBound, Fit, Selection, Trace
from ..formula.names import Parameter
from ..formula.sample import Sample
from ..judging.costs import CostMatrix, sample_costs
from ..judging.decisions import Decision
from ..judging.errors import confusion, level_costs, measured
from .cells import column_cells, count, header_text
from .frames import NotedFrame, one_line
from .render import DeferredTables, Line, Report, Summary, Table, lines_of, unbroken

if TYPE_CHECKING:
    from ..results import OrdinalResults


#: Parts of a summary, in order.
SECTIONS = ("model", "fit", "errors", "margins", "bounds")
# With more levels than this, only `.confusion()` shows the full matrix.
_MOST_LEVELS = 12
_MOST_ROWS = 20
_QUANTILES = {
    "min": 0.0,
    "10%": 0.1,
    "25%": 0.25,
    "median": 0.5,
    "75%": 0.75,
    "90%": 0.9,
    "max": 1.0,
}

# Data and certificate


def alert_notes(r: OrdinalResults) -> tuple[str, ...]:
    """The warnings of the fit as sentences."""
    messages = []
    for _, message in r.fit_warnings():
        messages.append(message[:1].upper() + message[1:])
    return tuple(messages)


def certificate_text(
    certificate: Certificate, trace: Trace, details: bool = True
) -> str:
    """Whether the fit reached its optimum, and the number that shows it; with `details`
    further figures.

    For methods without an optimum: what was done, and the further figures.
    """
    iterations = counted(trace.iterations, "iteration")
    figures = [f"{certificate.name} {certificate.value:.2g}"]
    if not certificate.reached:
        ended = f"NOT CONVERGED after {iterations}"
        figures = [f"{figures[0]}, above the tolerance {certificate.tolerance:.2g}"]
        if np.isnan(certificate.value):
            figures = [f"{certificate.name} has no value"]
    elif certificate.steps:
        steps = certificate.steps
        ended = f"{steps[:1].upper()}{steps[1:]} {trace.iterations}"
        figures = []
    elif trace.iterations:
        ended = f"Converged in {iterations}"
    else:
        ended = "Converged"
    if details or certificate.steps:
        for label, value in certificate.figures:
            if label == "iterations":  # some methods list them again
                continue
            if isinstance(value, (float, np.floating)):
                value = f"{value:.4g}"
            figures.append(f"{label} {value}")
    return f"{ended} ({'; '.join(figures)})" if figures else ended


def convergence_line(fit: Fit) -> tuple[str, str]:
    """The line of a header on how a fit ended."""
    label = "Training" if fit.certificate.steps else "Convergence"
    return label, certificate_text(fit.certificate, fit.trace)


def fractional(r: OrdinalResults) -> bool:
    """Whether to show percentages in place of counts: in surveys, and where weights are
    not numbers of rows.
    """
    if r.design.survey is not None:
        return True
    weights = r.design.sample.weights
    return weights is not None and not np.array_equal(weights, np.rint(weights))


def counted_weights(r: OrdinalResults) -> FloatArray:
    """(N,) number of observations that each row counts for: its case weight, or 1 if
    weights are not numbers of rows.
    """
    sample = r.design.sample
    return np.ones(sample.n) if fractional(r) else sample.case_weights


def observations(r: OrdinalResults) -> float:
    """The number of observations to show: the sum of the case weights, or the number of
    rows if weights are not numbers of rows.
    """
    return float(r.n_rows) if fractional(r) else r.nobs


def levels_text(r: OrdinalResults, numbered: bool = False) -> str:
    """The levels with the rows of each, "1 (5), 2 (22), ..."; numbered if numbers
    replace the names in tables.
    """
    counts = r.level_counts
    percent = fractional(r)
    shown = []
    for k, (level, n) in enumerate(zip(r.levels, counts, strict=True), start=1):
        name = one_line(level)
        if numbered:
            name = unbroken(f"{k} = {name}")
        size = f"{100.0 * n / counts.sum():.1f}%" if percent else count(n)
        shown.append(f"{name} ({size})")
    if len(shown) > _MOST_LEVELS:
        shown = [*shown[:5], "...", *shown[-5:]]
    return ", ".join(shown)


def data_header(r: OrdinalResults) -> tuple[tuple[str, Any], ...]:
    """Header pairs about the method, the data and the cost."""
    sample = r.design.sample
    cost = decided_cost(r).label
    if sample.costs is not None:
        cost = "given for each row"
    header = [
        ("Method", str(r.method)),
        ("Observations", _observations_text(r)),
        ("Levels", levels_text(r)),
        *known_in_part(*r.answers),
        ("Cost", cost),
    ]
    for label, value in r.fit.facts:
        header.append((label[:1].upper() + label[1:], value))
    return tuple(header)


def decided_cost(r: OrdinalResults) -> CostMatrix | Decision:
    """The cost of the method, or the decision rule that the fit derived from it."""
    cost = r.method.cost_matrix
    if not cost.decides:
        return cost
    found: CostMatrix | Decision = cast(Any, r.fit.rule).cost
    return found


def _observations_text(r: OrdinalResults) -> str:
    """The number of observations, and how weights and rows left out enter into it."""
    text = count(r.nobs)
    if r.design.sample.weights is not None:
        if not fractional(r):
            text += f" (in {r.n_rows} weighted rows)"
        elif r.design.survey is not None:
            text = f"{r.n_rows} weighted rows"
        else:
            text = f"{r.n_rows} weighted rows, sum of weights {text}"
    left_out = r.design.n_given - r.n_rows
    if left_out:
        text += f"; {counted(left_out, 'row')} left out"
    return text


def known_in_part(sample: Sample, times: FloatArray) -> list[tuple[str, str]]:
    """A header pair with the numbers of responses that are known only in part, if any;
    `times` (N,) is the number of rows with each response of the sample.
    """
    if sample.highest is None:
        return []
    silent = sample.silent()
    between = sample.between()
    below = ~sample.exact & (sample.y == 0) & ~silent
    above = ~sample.exact & ~below & ~between & ~silent
    kinds = {
        "above a value": above,
        "up to a value": below,
        "between two values": between,
        "anywhere": silent,
    }
    shown = ", ".join(
        f"{times[rows].sum():.0f} {what}" for what, rows in kinds.items() if rows.any()
    )
    return [("Censored", shown)]


def ranker_report(
    r: OrdinalResults,
    tables: Iterable[Table | DeferredTables],
    header: Sequence[tuple[str, Any]] = (),
    notes: Sequence[str] = (),
) -> Report:
    """The summary of a ranker: the shared part with tables, header pairs and notes of
    the method.
    """
    return Report(
        title=r.title,
        header=(*data_header(r), convergence_line(r.fit), *header),
        tables=tuple(tables),
        notes=(*alert_notes(r), *notes),
        margin_notes=lambda: r.margin_bounds.notes,
    )


def bound_header(bound: CostBound | None) -> tuple[str, str]:
    """Both sides of the inequality between the training cost and binary costs, and its
    source.
    """
    if bound is None:
        return "Training bound", "not available"
    holds = "<=" if bound.value <= bound.limit else "> (VIOLATED)"
    text = (
        f"cost above the least possible {bound.value:.4g} {holds} {bound.limit:.4g}"
        f" ({bound.source})"
    )
    return "Training bound", text


def threshold_table(frame: pd.DataFrame) -> Table:
    """The thresholds, one row each; the second column holds their standard errors."""
    table = Table(title="Thresholds", frame=frame, role="thresholds")
    return shortened(table, ".thresholds")


def shortened(table: Table, where: str) -> Table:
    """The table, cut to its first and last rows if it is long; a note says where the
    full table is.
    """
    n = len(table.frame)
    half = _MOST_ROWS // 2
    if n <= _MOST_ROWS:
        return table
    frame = pd.concat([table.frame.iloc[:half], table.frame.iloc[-half:]])
    return replace(
        table,
        frame=frame,
        note=f"The first and last {half} of {n} rows; all are in {where}.",
    )


def selection_table(selection: Selection) -> Table:
    """Cross-validated cost of every C tried, or of the best C for each gamma if gamma
    was chosen too.
    """
    frame = pd.DataFrame({"cost": selection.cost, "std. error": selection.error})
    title = f"Cost by {selection.how}"
    name = "C"
    tried = selection.C
    best = np.arange(selection.C.size)
    if selection.gamma is not None:
        name = "gamma"
        tried = selection.gamma
        best = selection.best_of_each_gamma()
        frame.insert(0, "C", [f"{C:g}" for C in selection.C])
        if np.unique(selection.C).size > 1:
            title += ", at the best C for each gamma"
    names = list(map(_power, tried))
    names[selection.chosen] += " chosen"
    frame.index = pd.Index(names, name=name)
    return Table(
        title=title, frame=frame.iloc[best], note=_at_the_end(selection), section="fit"
    )


def _at_the_end(selection: Selection) -> str:
    """A note if the best value is the largest or the smallest tried: a better one may
    lie beyond.
    """
    values = {"C": selection.C}
    if selection.gamma is not None:
        values["gamma"] = selection.gamma
    at_end = []
    for name, tried in values.items():
        if np.unique(tried).size == 1:
            continue
        for word, extreme in {"largest": tried.max(), "smallest": tried.min()}.items():
            if tried[selection.chosen] == extreme:
                at_end.append(f"the {word} {name} tried")
    if not at_end:
        return ""
    return (
        f"Chosen: {' and '.join(at_end)}. Values beyond it may cost less; give them as"
        " a list."
    )


def _power(value: float) -> str:
    """The value as a power of 2 if its exponent is whole, else as a number."""
    exponent = np.log2(value)
    return f"2^{exponent:g}" if exponent == round(exponent) else f"{value:g}"


# Errors, margins and bounds, computed when they are shown


def error_tables(r: OrdinalResults) -> list[DeferredTables]:
    """Confusion and errors: the same for every ranker."""

    def make() -> list[Table]:
        errors = r.training_errors
        if not r.own_cost:
            errors = errors.drop("cost", errors="ignore")
        table = Table(
            title="Errors and agreement on the training rows",
            frame=errors.to_frame("training"),
            formats={"training": ".4f"},
            section="errors",
            note=r.training_note,
        )
        return [_confusion_table(r), table]

    return [DeferredTables("errors", make)] if r.in_memory else []


def _confusion_table(r: OrdinalResults) -> Table:
    """Observed by predicted levels, with the errors of every observed level; in shares
    if weights are not counts.
    """
    p = r.training
    percent = fractional(r)
    cells = confusion(p.y, p.codes, p.weights, p.n_levels)
    title = "Observed levels (rows) by predicted levels (columns), training rows"
    spec = "int"
    if percent:
        cells = cells / cells.sum()
        title = (
            "Observed by predicted levels (columns), training rows, weighted"
            " percentages"
        )
        spec = "percent"
    names = list(map(one_line, r.levels))
    many = len(names) > _MOST_LEVELS
    frame = pd.DataFrame(cells, index=pd.Index(names, name="observed"), columns=names)
    if many:
        frame = frame.iloc[:, :0]
    formats = dict.fromkeys([*frame.columns, "all"], spec)
    errors = {
        "error": level_costs(cells, "classification"),
        "abs. error": level_costs(cells, "absolute"),
    }
    table = Table(
        title=title,
        frame=frame.assign(all=cells.sum(axis=1), **errors),
        formats=formats | dict.fromkeys(errors, ".3f"),
        note="The full matrix is in .confusion()." if many else "",
        section="errors",
        square=True,
    )
    return shortened(table, ".confusion()")


def shared_tables(r: OrdinalResults) -> list[DeferredTables]:
    """Errors, margins and bounds: the same for every threshold ranker."""
    margins = [
        DeferredTables("margins", lambda: _margin_tables(r)),
        DeferredTables("bounds", lambda: _bound_tables(r)),
    ]
    return [*error_tables(r), *margins] if r.in_memory else []


def _margin_tables(r: OrdinalResults) -> list[Table]:
    """Quantiles of left, right and normalised margins, the share of wrong ones, and
    errors at a few margins.
    """
    from ..judging.tables import errors_at_margin

    m = r.training_margins
    weights = r.design.sample.case_weights
    normalised = r.geometry is not None
    rows = {"left": m.left, "right": m.right}
    if np.isfinite(m.norm):
        rows |= {
            "left, normalised": m.left / m.unit,
            "right, normalised": m.right / m.unit,
        }
    quantiles = Table(
        title="Margins of the rows to the ends of their own interval",
        frame=pd.DataFrame(
            [_quantiles(values, weights) for values in rows.values()], index=list(rows)
        ),
        formats={"<= 0": "percent"},
        note=(
            "The lowest level has no left margin and the highest no right margin; these"
            " are not counted."
        ),
        section="margins",
    )
    names = {
        "classification": "classification E_C",
        "boundary": "boundary E_B",
        "absolute": "absolute E_A",
    }
    errors = pd.DataFrame(errors_at_margin(r)).rename(columns=names)
    errors = errors.rename(index="{:g}".format)
    if normalised:
        title = "Training errors at normalised margin Delta"
    else:
        title = "Training errors at margin Delta"
    return [quantiles, Table(title=title, frame=errors, section="margins")]


def _quantiles(values: FloatArray, weights: FloatArray) -> dict[str, float]:
    """Quantiles of the finite values (a weight w counts as w equal values), and the
    share at or below 0.
    """
    from ..judging.margin_bounds import sorted_mass

    finite = np.isfinite(values)
    if not weights[finite].sum() > 0.0:
        return dict.fromkeys([*_QUANTILES, "<= 0"], np.nan)
    ordered, mass = sorted_mass(values[finite], weights[finite])
    # a share that rounding has raised must not reach the next value
    shares = np.array([*_QUANTILES.values()]) * (1 - 1e-12)
    places = np.searchsorted(mass, shares * mass[-1])
    shown = ordered[np.minimum(places, ordered.size - 1)]
    wrong = weights[finite & (values <= 0.0)].sum() / weights[finite].sum()
    return dict(zip(_QUANTILES, map(float, shown), strict=True)) | {
        "<= 0": float(wrong)
    }


def _bound_tables(r: OrdinalResults) -> list[Table]:
    """A table of the margin bounds below their trivial values; no table without such
    bounds (the notes say why).
    """
    bounds = r.margin_bounds.informative
    if not bounds:
        return []
    values = [(bound.value, bound.trivial, bound.source) for bound in bounds]
    frame = pd.DataFrame(
        values,
        index=[bound.name for bound in bounds],
        columns=["bound", "trivial", "source"],
    )
    title = (
        "Margin bounds of the expected error, each with probability"
        f" {100 * (1 - bounds[0].delta):g}%"
    )
    return [Table(title=title, frame=frame, formats={"trivial": "g"}, section="bounds")]


# Tables of figures


def figures(fit: OrdinalResults) -> pd.DataFrame:
    """One-row summary of the fit."""
    certified = {
        "certificate": fit.certificate.name,
        "certificate_value": fit.certificate.value,
    }
    reached: bool | None = fit.certificate.reached
    if reached and fit.certificate.steps:
        reached = None  # there is no optimum to reach
    solved = certified | {"iterations": fit.trace.iterations, "converged": reached}
    return one_row(
        {"nobs": fit.nobs, "n_levels": len(fit.levels)} | error_figures(fit) | solved
    )


def one_row(values: Mapping[str, Any]) -> NotedFrame:
    """A table of figures of one fit."""
    return NotedFrame.of(pd.DataFrame([values]), (), "Figures of the fit")


def error_figures(fit: OrdinalResults) -> dict[str, float]:
    """Mean errors on the training rows, by their names in a table of figures."""
    if not fit.in_memory or fit.many_cells:
        return {}
    errors = fit.training_errors
    return {
        f"{kind}_error": float(errors[f"{kind} error"])
        for kind in ("classification", "absolute")
    }


# One screen

_MEASURES = (
    "classification error",
    "absolute error",
    "macro absolute error",
    "quadratic kappa",
    "concordance",
)
#: Header pairs that the screen shows first, and those that it shows elsewhere or not at
#: all.
_FIRST = (
    "Observations",
    "Levels",
    "Censored",
    "Cost",
    "Link",
    "Threshold",
    "Penalty",
    "Groups",
    "Survey design",
    "Std. errors",
)
_APART = ("Method", "Convergence", "Training")
#: Usual values of header pairs, which the screen leaves out.
_USUAL = {
    "Cost": "classification",
    "Threshold": "flexible",
    "Std. errors": "observed information",
}
#: Most thresholds in lines of text, and most characters of a level's name in a head.
_MOST_INLINE = 12
_LONGEST_LEVEL = 12
#: Most lines of thresholds; if they need more, numbers replace long names of levels.
_MOST_LINES = 3
#: Terms with unequal effects at the thresholds are named if the p-value is below this.
DOUBTFUL = 0.05


def summary_of(
    r: OrdinalResults,
    section: str | None,
    report: Report,
    model: Sequence[Table | Line] | None = None,
) -> Summary:
    """The one-screen summary, with `model` as its estimates, or a section of the whole
    report.
    """
    available = {"fit"}
    if r.in_memory:
        available.add("bounds")
    for block in report.tables:
        available.add(_section(block))
    names = sorted(available, key=SECTIONS.index)
    if section is None:
        if model is None:
            model = estimates_of(report)
        return Summary(_one_screen(r, report, model, names), report)
    one_of("section", section, (*names, "all"))
    if section == "all":
        return Summary(report)
    tables = tuple(block for block in report.tables if _section(block) == section)
    header = report.header if section == "fit" else ()
    notes = report.margin_notes if section in ("margins", "bounds") else tuple
    part = replace(report, header=header, tables=tables, margin_notes=notes)
    return Summary(part, report)


def _section(block: Table | Line | DeferredTables) -> str:
    """The section of a block; only the one-screen summary has lines."""
    return "model" if isinstance(block, Line) else block.section


def estimates_of(report: Report) -> list[Table | Line]:
    """The estimates of a report; thresholds in a line or two."""
    blocks: list[Table | Line] = []
    for block in report.tables:
        if isinstance(block, Table) and block.section == "model":
            blocks.append(in_line(block) if block.role == "thresholds" else block)
    return blocks


def _one_screen(
    r: OrdinalResults,
    report: Report,
    model: Sequence[Table | Line],
    sections: Sequence[str],
) -> Report:
    """Data, estimates and fit of a likelihood fit; data, errors, bound and estimates of
    other methods.

    Readers take errors of predictions for the failure of a model of effects; those of
    likelihood fits are in `summary("errors")` and `summary("bounds")`.
    """
    likelihood = r.method.likelihood
    long_names = max(map(len, map(str, r.levels))) > _LONGEST_LEVEL
    numbered = long_names and any(map(_is_long, model))
    if numbered:
        model = [_by_numbers(r, block) for block in model]
    judged: list[Table | Line] = []
    if not likelihood and not r.many_cells:
        if r.in_memory:
            constant = _cheapest_level(r)
            judged.append(_brief_errors(r, constant))
            numbered |= len(str(r.levels[constant])) > _LONGEST_LEVEL
        judged.append(_bound_line(r))
    header = dict(report.header)
    if numbered:
        header["Levels"] = levels_text(r, numbered=True)
    first, rest = _header_lines(header, "Model fit:" if likelihood else "Method:")
    estimates = _under_shared_heads(model)
    if likelihood:
        blocks = [first, *_after_thresholds(estimates, rest)]
    else:
        blocks = [first, *judged, *estimates, *rest]
    ended = Line(items=(certificate_text(r.fit.certificate, r.fit.trace, False),))
    named = (f'summary("{sections[0]}")', *map('"{}"'.format, (*sections[1:], "all")))
    more = Line(head="More:", items=named, between=", ", role="more")
    return Report(
        title=r.title,
        header=(),
        tables=(*blocks, ended, more),
        notes=(*report.notes, *_of_one_level(r)),
    )


def _header_lines(header: Mapping[str, Any], head: str) -> tuple[Line, list[Line]]:
    """The first line, about data and model, and a line with `head` of the other header
    pairs, if there are any.
    """
    first: list[str] = []
    others: list[str] = []
    for label, value in header.items():
        text = header_text(value)
        if label in _APART or _USUAL.get(label) == text:
            continue
        items = first if label in _FIRST else others
        items.append(f"{label} {text}")
    rest = [Line(head=head, items=tuple(others))] if others else []
    return Line(items=tuple(first)), rest


def _under_shared_heads(model: Sequence[Table | Line]) -> list[Table | Line]:
    """The estimates in brief; a table continues under the head of the one before it if
    that has all of its columns.
    """
    blocks: list[Table | Line] = []
    for block in model:
        shown = block
        if isinstance(block, Table) and block.brief is not None:
            shown = block.brief
        before = blocks[-1] if blocks else None
        if (
            isinstance(shown, Table)
            and isinstance(before, Table)
            and set(shown.frame) <= set(before.frame)
        ):
            blocks[-1] = replace(before, below=(*before.below, shown))
        else:
            blocks.append(shown)
    return blocks


def _after_thresholds(
    estimates: list[Table | Line], rest: Sequence[Line]
) -> list[Table | Line]:
    """The estimates with further lines below the thresholds, if any, or at the end."""
    for place, block in enumerate(estimates, start=1):
        if block.role == "thresholds":
            return [*estimates[:place], *rest, *estimates[place:]]
    return [*estimates, *rest]


def _is_long(block: Table | Line) -> bool:
    """Whether long names of levels take too much room: in lines of thresholds, or in
    the head of a table.
    """
    if isinstance(block, Line):
        return len(lines_of(block)) > _MOST_LINES
    return any("|" in str(name) for name in block.frame)


def _by_numbers(r: OrdinalResults, block: Table | Line) -> Table | Line:
    """The block with numbers in place of the names of levels."""
    numbers = {
        f"{low}|{high}": f"{k}|{k + 1}"
        for k, (low, high) in enumerate(pairwise(r.levels), start=1)
    }
    if isinstance(block, Table):
        return replace(block, frame=block.frame.rename(columns=numbers))
    items = []
    for item in block.items:
        name = next((name for name in numbers if item.startswith(f"{name} ")), "")
        items.append(numbers.get(name, "") + item[len(name) :])
    return replace(block, items=tuple(items))


def printed(r: OrdinalResults) -> Report:
    """What `print(fit)` shows: call, size and estimates."""
    size = (
        f"{count(observations(r))} observations",
        f"{len(r.levels)} levels",
        *r.figures_of_fit(),
    )
    records = {record.name: record for record in r.all_parameters}
    shown = []
    for table in r.estimates():
        frame = table.frame
        names = [_under_title(records.get(name), str(name)) for name in frame.index]
        if names:
            shown.append(in_line(replace(table, frame=frame.set_axis(names))))
    about = (Line(head="Call:", items=(r.call,)), Line(items=size, between=", "))
    return Report(
        title=r.title,
        header=(),
        tables=(*about, *shown, Line(items=("More: .summary()",))),
    )


def _under_title(record: Parameter | None, name: str) -> str:
    """The printed name of a parameter below the title of its kind."""
    if record is None:
        return name
    return record.effect({}) if record.kind == "scale" else record.shown({})


def in_line(table: Table) -> Line:
    """A table of thresholds as pieces of text, with standard errors in brackets."""
    frame = table.frame
    values = column_cells(frame.iloc[:, 0], "brief")
    items = list(map("{} {}".format, map(one_line, frame.index), values))
    if frame.shape[1] > 1:
        errors = column_cells(frame.iloc[:, 1], "brief")
        items = list(map("{} ({})".format, items, errors))
    if len(items) > _MOST_INLINE:
        where = ".thresholds" if table.role == "thresholds" else ".params"
        items = [
            *items[: _MOST_INLINE // 2],
            f"... (all in {where})",
            *items[-_MOST_INLINE // 2 :],
        ]
    return Line(head=table.title, items=tuple(items), between="   ", role=table.role)


def _cheapest_level(r: OrdinalResults) -> int:
    """Code of the level that costs least if all rows are predicted to be at it."""
    sample = r.design.sample
    cost = decided_cost(r)
    if isinstance(cost, CostMatrix):
        costs = sample_costs(cost, sample)
    else:
        costs = cost.matrix(sample.n_levels)[sample.y]
    return int((r.training.weights @ costs).argmin())


def _brief_errors(r: OrdinalResults, constant: int) -> Table:
    """A few errors on the training rows, and those of always predicting one level."""
    names = list(_MEASURES)
    if r.own_cost:
        names = [*_MEASURES[:2], "cost", *_MEASURES[3:]]
    p = r.training
    codes = np.full_like(p.codes, constant)
    paid = None
    if p.paid is not None:
        paid = sample_costs(r.method.cost_matrix, r.design.sample)[:, constant]
    scores = codes.astype(np.float64)
    always = replace(p, codes=codes, scores=scores, paid=paid, probabilities=None)
    name = str(r.levels[constant])
    if len(name) > _LONGEST_LEVEL:
        name = f"level {constant + 1}"
    columns = {"fit": measured(p, names), f"always {name}": measured(always, names)}
    frame = pd.DataFrame(columns, index=pd.Index(names, name="Errors on training rows"))
    return Table(
        title="",
        frame=frame,
        formats=dict.fromkeys(frame, ".3f"),
        note=r.training_note,
        section="errors",
    )


def _of_one_level(r: OrdinalResults) -> tuple[str, ...]:
    """A note if all training rows have the same prediction."""
    if r.many_cells:
        count = f"{len(r.levels):,}"
        return (
            f"Errors of {count} levels take long: use .errors(new) for a part of the"
            " rows.",
        )
    codes = np.unique(r.training.codes) if r.in_memory else np.zeros(0)
    if codes.size != 1 or not r.design.names or r.fit.lost:
        return ()
    return (
        (
            f"All rows are predicted to be {r.levels[codes[0]]!r}, the level of least"
            " cost whatever the predictors."
        ),
    )


def _bound_line(r: OrdinalResults) -> Line:
    bounds = r.margin_bounds.informative
    if not bounds:
        return Line(
            items=r.margin_bounds.notes
            or ("No margin bound is below the largest possible error",)
        )
    best = min(bounds, key=lambda bound: bound.value / bound.trivial)
    sure = f"with probability {100 * (1 - best.delta):g}%"
    text = f"mean {best.name} <= {best.value:.3g} (at worst {best.trivial:g}) {sure}"
    margin = () if np.isnan(best.margin) else (f"Delta {best.margin:.3g}",)
    return Line(head="Margin bound:", items=(text, *margin, best.source))
