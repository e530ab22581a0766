"""`ordstat.table`: models side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...checks import flag, fraction, listed_texts, mapping, one_of, text, whole
from ...exceptions import OptionError
from ...model.parameter_labels import row_label
from ..likelihood.parameters import listed
from ..report.exported import MOST_DIGITS
from .column import EXPONENTIATED, VALUES, ModelColumn, model_column
from .labels import (
    EXPONENTS,
    GROUPS,
    OF_ALL,
    OF_LIKELIHOOD,
    OF_RANKERS,
    PARTS,
    figure_label,
    label_names,
)
from .layout import FIT, Layout, ModelTable
from .notes import notes_of


def table(
    fits: Any,
    *,
    names: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    labels: Mapping[str, str] | None = None,
    exponentiate: bool = False,
    below: str | None = "auto",
    stars: bool = False,
    thresholds: bool = True,
    gof: Sequence[str] | None = None,
    digits: int | None = None,
    level: float = 0.95,
    title: str | None = None,
    notes: Iterable[str] = (),
) -> ModelTable:
    """Fits side by side, as a paper shows them: a column for every model, a row for every coefficient.

    Parameters
    ----------
    fits : list of fits, or mapping of names to fits
        Of any methods: likelihood models with or without random effects, survey designs and robust standard errors,
        fits pooled over imputations, and rankers, of which thresholds and linear coefficients are shown.
    names : sequence of str, optional
        Heads of the columns; (1), (2), ... unless given.
    groups : sequence of str, optional
        A heading for every column; neighbours of the same heading share it.
    labels : mapping of str to str, optional
        Labels by the names of terms, as in `tidy`; of groups of random effects; and of figures, as in `gof`.
    exponentiate : bool
        exp() of the effects: odds ratios, or hazard ratios under the links that have them, as in `summary`.
        Coefficients of rankers stay what they are.
    below : {"auto", "std_error", "interval", "p_value"} or None
        What stands below every estimate. "auto": standard errors, limits below ratios. Standard errors of ratios are
        those of the delta method.
    stars : bool
        A star for p < .05, two for p < .01, three for p < .001.
    thresholds : bool
        Whether to show them.
    gof : sequence of str, optional
        Figures of the fits, by the names in `glance`; an empty list for none. Unless given: rows, log-likelihood, AIC,
        BIC and R², beside rankers the errors on the rows of the fit, and the numbers of groups of random effects.
    digits : int from 0 to 15, optional
        Decimals of estimates, errors and limits; as many as each row needs unless given.
    level : float in (0, 1)
        Confidence level of the limits.
    title : str, optional
        "Models of " the response unless given.
    notes : sequence of str
        Further notes.

    Returns
    -------
    ModelTable
        A data frame of unrounded numbers, by part, term and value, that prints as the table and has `to_latex`,
        `to_markdown`, `to_typst`, `to_html` and `to_docx`.

    Raises
    ------
    OptionError
        Something that is no fit; names or groups that are not one for each; labels or gof of what no fit has.

    Examples
    --------
    >>> from ordstat import datasets, ordfit, table
    >>> wine = datasets.load("wine")
    >>> small = ordfit("rating ~ temp", wine)
    >>> table([small, small.update("~ . + contact")], gof=["nobs", "aic"], thresholds=False)
    Models of rating
                    (1)      (2)
    ------------------------------
    temp: warm     2.287    2.503
                  (0.513)  (0.529)
    contact: yes            1.528
                           (0.477)
    ------------------------------
    N               72       72
    AIC            194.03   184.98
    <BLANKLINE>
    Standard errors in parentheses: observed information.
    """
    given = _fits(fits)
    for name, value in (("exponentiate", exponentiate), ("stars", stars), ("thresholds", thresholds)):
        flag(name, value)
    text("title", title)
    told = listed_texts("notes", notes)
    given_labels = mapping("labels", labels, "{'temp': 'Temperature'}")
    for name, label in given_labels.items():
        text(f"labels[{name!r}]", label, optional=False)
    one_of("below", below, ("auto", "std_error", "interval", "p_value", None))
    fraction("level", level)
    columns = [model_column(fit, place, exponentiate, level) for place, fit in enumerate(given)]
    heads = _heads(columns, names if names is not None or not isinstance(fits, Mapping) else list(fits), groups)
    parameters, figures = _parameters(columns, thresholds), _figures(columns, gof)
    if not parameters and not figures:
        raise OptionError(
            "table has no rows: these fits have no coefficients to show, and no figures were asked for. Leave out "
            "thresholds=False, or gof=[]."
        )
    ratios = frozenset(j for j, column in enumerate(columns) if column.ratio)
    layout = Layout(
        heads=heads,
        labels=_labels(parameters, figures, given_labels),
        headings={part: EXPONENTS.get(part, text) if ratios else text for part, text in PARTS.items()},
        models={row: frozenset(found) for row, found in parameters.items()},
        ratios=dict.fromkeys(EXPONENTIATED, ratios),
        with_errors=frozenset(j for j, column in enumerate(columns) if column.errors),
        below=below if below != "auto" else "interval" if ratios else "std_error",
        stars=stars,
        digits=None if digits is None else whole("digits", digits, 0, MOST_DIGITS),
    )
    frame = _numbers(columns, parameters, figures).set_axis(list(heads[-1]), axis=1)
    responses = ", ".join(dict.fromkeys(column.response for column in columns))
    found = ModelTable(frame)
    found.attrs = {
        "title": f"Models of {responses}" if title is None else title,
        "notes": [*notes_of(columns, layout, frame, level), *told],
    }
    found.layout = layout
    return found


def _fits(fits: Any) -> list[Any]:
    """The fits of a list or mapping, or the one given alone."""
    if isinstance(fits, Mapping):
        fits = list(fits.values())
    given = list(fits) if isinstance(fits, Iterable) else [fits]
    if not given:
        raise OptionError("fits must be a list of fits; got an empty one.")
    return given


def _one_each(name: str, value: Any, n: int) -> tuple[str, ...]:
    """A text for every fit; OptionError where there are fewer or more."""
    given = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    if len(given) != n:
        raise OptionError(f"{name} must be a list of one text for each fit, {n} in all; got {len(given)}.")
    return tuple("" if text is None else str(text) for text in given)


def _heads(columns: Sequence[ModelColumn], names: Any, groups: Any) -> tuple[tuple[str, ...], ...]:
    """Headings given, responses and kinds of models where these differ, and names."""
    n = len(columns)
    told = [] if groups is None else [_one_each("groups", groups, n)]
    for texts in (tuple(column.response for column in columns), tuple(column.model for column in columns)):
        told += [texts] if len(set(texts)) > 1 else []
    last = tuple(f"({j + 1})" for j in range(n)) if names is None else _one_each("names", names, n)
    return (*told, last)


def _parameters(columns: Sequence[ModelColumn], thresholds: bool) -> dict[tuple[str, str], set[int]]:
    """The models that have a parameter, by part and term, in the order of parts and then of models."""
    found: dict[tuple[str, str], set[int]] = {}
    for j, column in enumerate(columns):
        for part, term in column.parameters.index:
            if thresholds or part != "threshold":
                found.setdefault((part, term), set()).add(j)
    order = list(PARTS)
    return dict(sorted(found.items(), key=lambda item: order.index(item[0][0])))


def _figures(columns: Sequence[ModelColumn], gof: Any) -> list[str]:
    """Names of the figures to show; OptionError for one that no fit has."""
    known = list(dict.fromkeys(name for column in columns for name in column.figures))
    if gof is not None:
        for name in listed(gof):
            one_of("each of gof", name, known)
        return listed(gof)
    ranks_alone = any(
        OF_RANKERS[0] in column.figures and not {*OF_LIKELIHOOD} & {*column.figures} for column in columns
    )
    usual = OF_ALL + OF_LIKELIHOOD + (OF_RANKERS if ranks_alone else ())
    known = [name for name in known if any(name in column.figures and not column.lacks(name) for column in columns)]
    return [name for name in usual if name in known] + [name for name in known if name.startswith(GROUPS)]


def _labels(
    parameters: Iterable[tuple[str, str]], figures: list[str], labels: Mapping[str, str]
) -> dict[tuple[str, str], str]:
    """The label of every row."""
    known = label_names([term for _, term in parameters], figures)
    for name in labels:
        one_of("each key of labels", name, sorted(known))
    rows = {(part, term): row_label(part, term, labels) for part, term in parameters}
    return rows | {(FIT, name): figure_label(name, labels) for name in figures}


def _numbers(columns: Sequence[ModelColumn], parameters: Iterable[tuple[str, str]], figures: list[str]) -> pd.DataFrame:
    """All numbers, unrounded: rows by part, term and value, a column for every model."""
    index = [(*row, value) for row in parameters for value in VALUES] + [(FIT, name, "value") for name in figures]
    found = np.full((len(index), len(columns)), np.nan)
    for j, column in enumerate(columns):
        values = {(FIT, name, "value"): number for name, number in column.figures.items()}
        for (part, term), own in zip(column.parameters.index, column.parameters.to_dict("records"), strict=True):
            values |= {(part, term, str(name)): number for name, number in own.items()}
        found[:, j] = [values.get(row, np.nan) for row in index]
    # levels in the order of the rows count as sorted, so that pandas looks parts up without a warning
    codes, levels = zip(
        *(pd.factorize(np.array(texts, dtype=object)) for texts in zip(*index, strict=True)), strict=True
    )
    return pd.DataFrame(found, index=pd.MultiIndex(levels=levels, codes=codes, names=["part", "term", "value"]))
