"""The summary of one screen: what was fitted, what was learnt, how well, and where the rest is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ..checks import one_of
from ..fitted import FittedRanker
from ..judging.costs import sample_costs
from ..judging.errors import Predictions, measured
from ..judging.margins import MarginBounds
from .cells import column_cells, count, counted, number
from .render import SCREEN, Line, Report, Summary, Table, lines_of
from .sections import levels_of

#: Parts of a summary, in the order of all of them.
SECTIONS = ("model", "fit", "errors", "margins", "bounds")

_MEASURES = ("classification error", "absolute error", "macro absolute error", "quadratic kappa", "concordance")
# Pairs of the header that the short summary tells in another place, or not at all.
_APART = {"Method", "Certificate"}
# What is so unless something else is asked for.
_USUAL = {"Cost classification", "Threshold flexible", "Std. errors observed information"}
# Thresholds that stand in lines at most, and letters of a level at the head of a column.
_MOST_INLINE = 12
_LONGEST_LEVEL = 12
# Lines of thresholds; where they would need more, long names of levels are left to the header.
_MOST_LINES = 3
# Letters of both heads beside the errors of the fit.
_ROOM = 49


def shown_part(r: FittedRanker, section: str | None, report: Report, model: Sequence[Table | Line]) -> Summary:
    """One screen, or a section of the whole report."""
    if section is None:
        return Summary(one_screen(r, report, model), report)
    one_of("section", section, (*_sections(report), "all"))
    if section == "all":
        return Summary(report)
    header = report.header if section == "fit" else ()
    notes = report.margin_notes if section in ("margins", "bounds") else tuple
    return Summary(replace(report, header=header, tables=report.in_section(section), margin_notes=notes), report)


def _sections(report: Report) -> list[str]:
    there = report.sections | {"fit", "bounds"}
    return [name for name in SECTIONS if name in there]


def learnt(report: Report) -> list[Table | Line]:
    """What a report says was learnt; thresholds in a line or two."""
    return [in_line(table) if table.inline else table for table in report.in_section("model")]


def one_screen(r: FittedRanker, report: Report, model: Sequence[Table | Line]) -> Report:
    """The short summary: `model` is what was learnt."""
    errors, closing = brief_errors(r), (_bound_line(r.margin_bounds), _certificate_line(r), _more(report))
    numbered = any(_long(r, block) for block in model)
    told = [_by_numbers(r, block) if numbered else block for block in model]
    header = dict(report.header)
    if numbered or any(str(head).startswith("always level ") for head in errors.frame):
        header["Levels"] = levels_of(r, numbered=True)
    blocks = (*_about(header), *_below_each_other([_brief(block) for block in told]), errors, *closing)
    return Report(title=r.title, header=(), tables=blocks, notes=(*report.notes, *_of_one_level(r)))


def _long(r: FittedRanker, block: Table | Line) -> bool:
    """Whether thresholds take many lines for the names of their levels."""
    named = max(len(str(level)) for level in r.levels) > _LONGEST_LEVEL
    return named and isinstance(block, Line) and len(lines_of(block, SCREEN)) > _MOST_LINES


def _by_numbers(r: FittedRanker, block: Table | Line) -> Table | Line:
    """Thresholds, and effects on them, by the numbers of their levels."""
    names = {f"{low}|{high}": f"{k}|{k + 1}" for k, (low, high) in enumerate(pairwise(r.levels), start=1)}
    if isinstance(block, Line):
        return replace(block, items=tuple(_renamed(item, " ", names) for item in block.items))
    frame = block.frame.rename(index=lambda label: _renamed(str(label), ".", names))
    brief = None if block.brief is None else _by_numbers(r, block.brief)
    return replace(block, frame=frame, brief=brief if isinstance(brief, Table) else None)


def _renamed(label: str, end: str, names: Mapping[str, str]) -> str:
    """A label that begins with a name and `end`, by another name."""
    found = next((name for name in names if label.startswith(name + end)), "")
    return names.get(found, "") + label[len(found) :]


def _about(header: Mapping[str, Any]) -> list[Line]:
    """What was fitted, to what, and how well."""
    told = [f"{label} {number(value)}" for label, value in header.items() if label not in _APART]
    return [Line(items=tuple(pair for pair in told if pair not in _USUAL))]


def _brief(block: Table | Line) -> Table | Line:
    """A table as short as it may be."""
    return block if isinstance(block, Line) or block.brief is None else block.brief


def _below_each_other(blocks: Sequence[Table | Line]) -> list[Table | Line]:
    """Tables with columns of the one before go on under its head."""
    found: list[Table | Line] = []
    for block in blocks:
        before = found[-1] if found else None
        if isinstance(block, Table) and isinstance(before, Table) and set(block.frame) <= set(before.frame):
            found[-1] = replace(before, below=(*before.below, block))
        else:
            found.append(block)
    return found


def printed(r: FittedRanker) -> Report:
    """Call, size and estimates: what `print` shows of a fit."""
    size = (f"{count(r.nobs)} observations", f"{len(r.levels)} levels", *r.figures_of_fit())
    shown = [_estimates(name, values) for name, values in r.estimates().items() if len(values)]
    about = (Line(head="Call:", items=(r.call,)), Line(items=size, between=", "))
    return Report(title=r.title, header=(), tables=(*about, *shown, Line(items=("More: .summary()",))))


def _estimates(name: str, values: pd.Series) -> Line:
    return in_line(Table(title=name, frame=values.to_frame()))


def in_line(table: Table) -> Line:
    """A table of thresholds as pieces of text, with standard errors in brackets."""
    frame = table.frame
    estimates, *errors = (column_cells(frame.iloc[:, i], "brief") for i in range(frame.shape[1]))
    items = [f"{label} {estimate}" for label, estimate in zip(frame.index, estimates, strict=True)]
    if errors:
        items = [f"{item} ({error})" for item, error in zip(items, errors[0], strict=True)]
    if len(items) > _MOST_INLINE:
        where = ".thresholds" if table.title == "Thresholds" else ".params"
        items = [*items[: _MOST_INLINE // 2], f"... (all in {where})", *items[-_MOST_INLINE // 2 :]]
    return Line(head=table.title, items=tuple(items), between="   ")


def brief_errors(r: FittedRanker) -> Table:
    """A few errors on the rows of the fit, beside those of predicting one level for all."""
    names = [*_MEASURES[:2], "cost", *_MEASURES[3:]] if r.own_cost else list(_MEASURES)
    judged = {"fit": r.training, **{head: _always(r, code) for head, code in _constants(r).items()}}
    columns = {head: measured(p, names) for head, p in judged.items()}
    frame = pd.DataFrame(columns, index=pd.Index(names, name="Errors on training rows"))
    return Table(title="", frame=frame, formats=dict.fromkeys(frame, ".3f"), note=r.training_note, section="errors")


def _of_one_level(r: FittedRanker) -> tuple[str, ...]:
    """A note where the columns move no prediction of the rows of the fit."""
    codes = np.unique(r.training.codes)
    if codes.size > 1 or not r.design.names:
        return ()
    level = repr(r.levels[codes[0]])
    return (f"All rows are predicted to be {level}: what was learnt moves no best guess under the cost of this fit.",)


def _constants(r: FittedRanker) -> dict[str, int]:
    """The commonest level and the median, by the head of their column."""
    sample = r.design.sample
    shares = np.bincount(sample.y, weights=sample.case_weights, minlength=sample.n_levels)
    commonest = int(shares.argmax())
    median = int(np.searchsorted(np.cumsum(shares), 0.5 * shares.sum()))
    if commonest == median:
        return {f"always {_named(r, commonest, _ROOM // 2)}": commonest}
    roles = {"commonest": commonest, "median": median}
    named = {f"always {_named(r, code)} ({role})": code for role, code in roles.items()}
    numbered = {f"always level {code + 1} ({role})": code for role, code in roles.items()}
    brief = {f"always {role}": code for role, code in roles.items()}
    return next((heads for heads in (named, numbered) if sum(map(len, heads)) <= _ROOM), brief)


def _named(r: FittedRanker, code: int, most: int = _LONGEST_LEVEL) -> str:
    name = str(r.levels[code])
    return name if len(name) <= most else f"level {code + 1}"


def _always(r: FittedRanker, code: int) -> Predictions:
    """Predictions of one level for every row."""
    sample, p = r.design.sample, r.training
    codes = np.full_like(p.codes, code)
    paid = None if p.paid is None else sample_costs(r.method.cost_matrix, sample)[:, code]
    return replace(p, codes=codes, scores=codes.astype(np.float64), paid=paid, probabilities=None)


def _bound_line(found: MarginBounds) -> Line:
    told = [bound for bound in found.bounds if not bound.vacuous]
    if not told:
        return Line(items=found.notes or ("No margin bound is below the largest possible error",))
    best = min(told, key=lambda bound: bound.value / bound.trivial)
    sure = f"with probability {100 * (1 - best.delta):g}%"
    text = f"{best.name} <= {best.value:.3g} (trivial: {best.trivial:g}) {sure}"
    margin = () if np.isnan(best.margin) else (f"Delta {best.margin:.3g}",)
    return Line(head="Margin bound:", items=(text, *margin, best.source))


def _certificate_line(r: FittedRanker) -> Line:
    c = r.certificate
    sign = "<=" if c.reached else "> (NOT REACHED)"
    items = (f"{c.name} {c.value:.2g} {sign} {c.tolerance:.2g}", counted(r.trace.iterations, "iteration"))
    return Line(head="Certificate:", items=items)


def _more(report: Report) -> Line:
    named = [f'"{name}"' for name in _sections(report)]
    return Line(head="More:", items=(f"summary({named[0]})", *named[1:], '"all"'), between=", ")
