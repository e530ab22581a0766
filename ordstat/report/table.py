"""Tables of several fits for papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ..advice import with_advice
from ..checks import (
    did_you_mean,
    labelled,
    listed_texts,
    mapping,
    one_of,
    text_given,
)
from ..exceptions import OptionError
from .table_column import LACKS, FitColumn, TableOptions


def per_of_each(fits: Mapping[str, Any], per: Any) -> dict[str, Any]:
    """`per` of each fit: without the variables that only other fits contain."""
    if not isinstance(per, Mapping):
        return dict.fromkeys(fits, per)
    own = {
        name: frozenset[str]().union(*fit.design.spec.variables().values())
        for name, fit in fits.items()
    }
    used = frozenset[str]().union(*own.values())
    return {
        name: {x: per[x] for x in per if x in own[name] or x not in used} or None
        for name in fits
    }


_FIGURES = {
    "nobs": "N",
    "loglik": "Log-likelihood",
    "aic": "AIC",
    "bic": "BIC",
    "mcfadden": "McFadden R²",
}
#: Figures that are shown if the user names none.
_USUAL = ("nobs", "loglik", "aic")
_CLINICAL = ("nobs",)


@with_advice
def table(
    fits: Any,
    *,
    style: str = "paper",
    exponentiate: bool | None = None,
    below: str | None = "std_error",
    labels: Mapping[str, str] | None = None,
    thresholds: bool | None = None,
    gof: Sequence[str] | None = None,
    stars: bool = False,
    digits: int | None = None,
    level: float = 0.95,
    per: Any = None,
    title: str | None = None,
    notes: str = "",
) -> Any:
    """Table of fits for a paper: side by side, or with estimate, interval and p-value
    in separate columns.

    Parameters
    ----------
    fits : fit, list of fits, or mapping of names to fits
        Fits of methods with coefficients or thresholds, or pooled over imputations.
        Names are heads of columns.
    style : {"paper", "clinical"}
        "paper": a column for each fit, a row for each parameter. "clinical": odds
        ratios (or hazard ratios, or coefficients, by the link), interval and p-value
        side by side, with reference levels, without thresholds.
    exponentiate : bool, optional
        Whether to show effects of likelihood fits as ratios; by default in clinical
        tables, if the link has ratios. Thresholds and random effects stay as they are,
        in rows of their own.
    below : {"std_error", "interval", "p_value"} or None
        Figure below each estimate in the style "paper". Standard errors of ratios are
        by the delta method.
    labels : mapping of str to str, optional
        Labels of terms, variables and the response, by name; {"income": "Income"} also
        labels log(income).
    thresholds : bool, optional
        Whether to show thresholds; by default in the style "paper", of fits with up to
        50 of them.
    gof : sequence of str, optional
        Names of figures in `glance`; by default nobs and, in the style "paper", loglik
        and aic of fits that have them.
    stars : bool
        One star for p < .05, two for p < .01, three for p < .001.
    digits : int from 0 to 15, optional
        Decimals of estimates, errors and limits. By default 2 for ratios and 3 for
        coefficients, and up to two more in the whole column for small effects, which a
        note names.
    level : float in (0, 1)
        Confidence level of the intervals.
    per : dict of variable to number, or "sd", optional
        The change in numeric variables that effects refer to, as in `tidy`: {"age":
        10}.
    title, notes : str, optional

    Returns
    -------
    maketables.MTable
        Prints as text and shows in notebooks. `.make("tex")`, `.make("typst")` and
        `.make("html")` return text, `.save("table.docx")` writes a file (tex, typ, docx
        or html), `.df` is a data frame of the cells. LaTeX needs the packages booktabs,
        makecell, tabularx and threeparttable.

    Raises
    ------
    ImportError
        maketables is not installed.
    OptionError
        An argument of the wrong kind, or a fit without coefficients.

    Examples
    --------
    >>> from ordstat import datasets, ordfit, table
    >>> wine = datasets.load("wine")
    >>> small = ordfit("rating ~ temp", wine)
    >>> fits = [small, small.update("~ . + contact")]
    >>> shown = table(fits, thresholds=False, below="interval", digits=2)
    >>> shown.df.iloc[0].tolist()
    ['2.29\\n[1.28, 3.29]', '2.50\\n[1.47, 3.54]']
    >>> table(small, style="clinical")
                   rating
               Odds ratio       95% CI      p
    -----------------------------------------
    temp: cold   1 (ref.)
    temp: warm       9.84  3.60, 26.90  <.001
    -----------------------------------------
    N                  72
    Odds ratios: above 1 = higher response.
    """
    try:
        import maketables  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "table() needs the package maketables. Install it: pip install maketables"
        ) from error
    from .paper import PaperTable

    options = TableOptions(
        style=style,
        exponentiate=exponentiate,
        below=below,
        labels=mapping("labels", labels, "{'temp': 'Temperature'}"),
        thresholds=thresholds,
        stars=stars,
        digits=digits,
        level=level,
    )
    for name, value in {"title": title, "notes": notes}.items():
        if value is not None:
            text_given(name, value)
    by_name = _by_name(fits)
    _check_fits(by_name, per)
    pers = per_of_each(by_name, per)
    columns = [
        FitColumn(name=name, fit=fit, options=options, per=pers[name])
        for name, fit in by_name.items()
    ]
    _check_labels(options.labels, columns)
    frame = _laid_out(columns, _chosen_figures(gof, columns))
    remarks = [notes] if notes else []
    remarks += _remarks(columns, options)
    small = any(column.small_effects for column in columns)
    return PaperTable(frame, remarks, title, small)


def _by_name(fits: Any) -> dict[str, Any]:
    """The fits by the heads of their columns."""
    if isinstance(fits, Mapping):
        return labelled(fits, "fits")
    listed = fits if isinstance(fits, (list, tuple)) else [fits]
    return {f"({number})": fit for number, fit in enumerate(listed, start=1)}


def _check_fits(fits: Mapping[str, Any], per: Any) -> None:
    if not fits:
        raise OptionError("fits must hold at least one fit; got none.")
    for name, fit in fits.items():
        if not hasattr(fit, "tidy") or not hasattr(fit, "glance"):
            raise OptionError(
                f"fits must be fits with coefficients or thresholds; {name} is a"
                f" {type(fit).__name__}. Leave it out."
            )
        if per is not None and not fit.method.likelihood:
            raise OptionError(
                f"per must be left out for a {type(fit).__name__}; got {per!r}. Rescale"
                " the column."
            )


def _check_labels(labels: Mapping[str, str], columns: Sequence[FitColumn]) -> None:
    """OptionError for a label of something that no fit has."""
    known = set[str]().union(*(column.nameable for column in columns))
    for name in labels:
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            raise OptionError(
                "labels must name variables, terms or the response of the fits; got"
                f" {name!r}.{hint}"
            )


def _chosen_figures(
    gof: Sequence[str] | None, columns: Sequence[FitColumn]
) -> list[str]:
    """Names of the figures: those of the user, or the usual ones that a fit has."""
    available = dict.fromkeys(key for column in columns for key in column.known_figures)
    if gof is not None:
        names = listed_texts("gof", gof)
        for name in names:
            one_of("each gof", name, available)
        return names
    usual = _CLINICAL if columns[0].options.clinical else _USUAL
    return [name for name in usual if any(column.has(name) for column in columns)]


def _laid_out(columns: Sequence[FitColumn], figures: Sequence[str]) -> pd.DataFrame:
    """The cells of all fits; the index holds the group of each row and its label."""
    cells = [column.cells() for column in columns]
    rows = pd.concat(cells).sort_values(["group", "part"], kind="stable")
    rows = rows[~rows.index.duplicated()]
    labels = list(rows.index)
    index = list(zip(rows["group"], labels, strict=True))
    index += [("stats", _FIGURES.get(name, name)) for name in figures]
    values: dict[tuple[str, str], list[str]] = {}
    for column, texts in zip(columns, cells, strict=True):
        options = column.options
        response = column.fitted.design.response
        top = str(options.labels.get(response, response))
        if options.clinical and len(columns) > 1:
            top = column.name
        below = column.figures(figures)
        for head in column.heads:
            shown = texts[head].reindex(labels).fillna("")
            values[top, head or column.name] = [*shown, *below]
            below = [""] * len(figures)
    return pd.DataFrame(values, index=pd.MultiIndex.from_tuples(index))


def _of_each(texts: Mapping[str, str], columns: Sequence[FitColumn]) -> Iterator[str]:
    """Notes of some columns: once if all have the same, else with the names of those
    that have it.
    """
    names: dict[str, list[str]] = {}
    for name, text in texts.items():
        names.setdefault(text, []).append(name)
    for text, having in names.items():
        if len(having) == len(columns):
            yield text
        else:
            yield f"{', '.join(having)}: {text}"


def _remarks(columns: Sequence[FitColumn], options: TableOptions) -> Iterator[str]:
    """Notes that explain the numbers."""
    models = {column.name: f"{column.model}." for column in columns}
    if len(set(models.values())) > 1:
        yield from _of_each(models, columns)
    penalties = {
        column.name: f"Penalty: {column.penalty}."
        for column in columns
        if column.penalty
    }
    yield from _of_each(penalties, columns)
    directions = {column.name: _direction(column) for column in columns}
    yield from _of_each(directions, columns)
    inferential = [column for column in columns if column.inferential]
    ratios = [column for column in inferential if column.ratio is not None]
    kinds = {kind for column in inferential for kind in column.kinds}
    if inferential and not options.clinical:
        yield from _of_brackets(options, bool(ratios))
    if any(column.has_others for column in ratios):
        yield "Rows below the effects are not exponentiated."
    if ratios and "scale" in kinds:
        yield "(scale): factors of the spread of the response."
    if not ratios and "nominal" in kinds:
        words = {column.nominal_words for column in inferential} - {""}
        yield from (f"Effects at a threshold, such as A|B: {each}." for each in words)
    if any(column.curves for column in columns):
        yield (
            "Terms of several columns, such as splines, have one Wald test of the whole"
            " term."
        )
    yield from _missing_values(columns)
    covariances = {column.name: column.fitted.own_covariance for column in inferential}
    if any(covariance.name != "model" for covariance in covariances.values()):
        errors = {
            name: f"Standard errors: {covariance.words}."
            for name, covariance in covariances.items()
        }
        yield from _of_each(errors, columns)
    pooled = {
        column.name: f"Pooled over {column.fit.n_imputations} imputations by Rubin's"
        " rules."
        for column in columns
        if column.pooled
    }
    yield from _of_each(pooled, columns)
    small = dict.fromkeys(label for column in columns for label in column.small_effects)
    if small:
        yield f"Small effects are per unit of {', '.join(small)}."


def _missing_values(columns: Sequence[FitColumn]) -> Iterator[str]:
    """Notes that name the effects without an estimate or a standard error."""
    for lack, reason in LACKS.items():
        texts = {}
        for column in columns:
            labels = column.lacking(lack)
            if labels:
                texts[column.name] = f"{reason}: {', '.join(labels)}."
        yield from _of_each(texts, columns)


def _direction(column: FitColumn) -> str:
    """Which values mean a higher response."""
    if column.ratio is None:
        return "Coefficients: positive = higher response."
    return column.ratio.direction


def _of_brackets(options: TableOptions, ratios: bool) -> Iterator[str]:
    """What stands in brackets below the estimates."""
    if options.below == "interval":
        yield f"{100 * options.level:g}% confidence intervals in brackets."
    elif options.below == "std_error" and ratios:
        yield "Standard errors in brackets; those of ratios by the delta method."
    elif options.below == "std_error":
        yield "Standard errors in brackets."
    elif options.below == "p_value":
        yield "p-values in brackets."
