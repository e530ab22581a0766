"""Warnings and notes of likelihood fits, as text: columns without an estimate, infinite
estimates, likelihoods without a maximum.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..exceptions import ConvergenceWarning, DataWarning, SeparationWarning
from ..formula.names import ColumnName, Parameter, coded_variable
from ..report.cells import first_few
from ..report.warnings import Alert, not_reached
from .fit import LikelihoodFit
from .parameters import Parameters
from .remedies import DROP_COLUMN, MERGE, as_sentence, remedies

if TYPE_CHECKING:
    from ..formula.design import Design
    from .results import LikelihoodResults

# Means of more than this many standard deviations are far from 0.
_FAR = 50.0

# A column is constant if it varies by less than this share of its size.
_LEVEL = 1e-7

# Most estimates that a warning names; it counts the others.
_NAMED = 5
# Most aliased columns that a warning names.
_ALIASED = 20

#: Names that columns of counts often have.
_COUNTS = {
    "count",
    "counts",
    "freq",
    "freqs",
    "frequency",
    "n",
    "nobs",
    "w",
    "weight",
    "weights",
    "wt",
}
_BALANCED = (
    "all effects are zero: every level is equally frequent in all combinations of the"
    " variables. If column {0!r} holds the number of rows that each row stands for, set"
    " weights={0!r}."
)


def why_unreached(fit: LikelihoodFit, design: Design) -> str:
    """How far a fit is from its optimum, and what to do; empty if it has converged, or
    if estimates diverge, which has a warning of its own.
    """
    if fit.certificate.reached or fit.diverging.any():
        return ""
    hint = ""
    if fit.flexible_layout.link > 0:
        hint = (
            " Lambda may have no finite estimate in these data: fix it, as in"
            " link=('log-gamma', 0.5)."
        )
    text = not_reached(fit, "allow more iterations, a larger tolerance")
    return f"{text}{hint}{_off_centre(design)}"


def _off_centre(design: Design) -> str:
    """A hint if columns of the log scale are so far from 0 that exp() of their effects
    overflows.
    """
    scale = design.sample.rows.scale
    if scale is None:
        return ""
    far = np.abs(scale.mean(axis=0)) > _FAR * scale.std(axis=0)
    names = [
        name
        for name, off in zip(design.scale_names, far, strict=True)
        if off and not name.startswith("(")
    ]
    if not names:
        return ""
    return (
        f" The scale column {names[0]} lies far from 0, where its effect dominates all"
        f" others: centre it, as in scale='~ center({names[0]})'."
    )


def likelihood_alerts(r: LikelihoodResults) -> Iterator[Alert]:
    """Aliased columns, infinite estimates, and likelihoods without a maximum."""
    fit = r.fit
    parameters = r.parameters
    design = r.design
    yield from _aliased_alerts(fit, parameters, design)
    for i in fit.confounded:
        yield DataWarning, _why_confounded(i, fit, parameters)
    if fit.infinite.any():
        yield SeparationWarning, _separated(r)
    if fit.diverging.any():
        listed = _first_names(parameters, fit.diverging)
        lacking = fit.aliased | fit.infinite | fit.diverging
        errors = (
            "All are shown where the search stopped, and none has a standard error."
            if lacking.all()
            else "They are shown where the search stopped, without standard errors; the"
            " other estimates and their standard errors hold."
        )
        if fit.lost:
            errors += (
                " Rows have no predictions, and figures of the fit, such as AIC and the"
                " errors of its summary, depend on where the search stopped."
            )
        yield (
            ConvergenceWarning,
            (
                f"the likelihood has no maximum: estimates diverge ({listed})."
                f" {errors} {without_maximum(r)}{_off_centre(design)}"
            ),
        )
    if fit.diverging_elsewhere is not None:
        listed = _first_names(parameters, fit.diverging_elsewhere)
        ways = without_maximum(r).removesuffix(".")
        yield (
            ConvergenceWarning,
            (
                f"the log-likelihood is higher (by {fit.higher_by:.2f}) along a path"
                f" without a maximum, on which estimates diverge ({listed}); these are"
                f" a local maximum. {ways}, and compare."
            ),
        )


def without_maximum(r: LikelihoodResults) -> str:
    """What to do if the likelihood has no maximum."""
    drop = "drop a column" if r.fit.has_level_scores else "drop a scale effect"
    return as_sentence(remedies(r, first=(drop, MERGE)))


def _why_confounded(index: int, fit: LikelihoodFit, parameters: Parameters) -> str:
    """Why a parameter is not estimated."""
    return (
        f"{parameters.names[index]} is not estimated (NA): the probabilities of the"
        f" {fit.rule.n_levels} levels determine it only together with other parameters."
        " Leave it out."
    )


def _first_names(parameters: Parameters, chosen: BoolArray) -> str:
    """Names of the chosen parameters."""
    return first_few([parameters.names[i] for i in np.flatnonzero(chosen)], _NAMED)


def _aliased_alerts(
    fit: LikelihoodFit, parameters: Parameters, design: Design
) -> Iterator[Alert]:
    """A warning for each reason why parameters are not estimated."""
    # Beside a level without rows neither the threshold nor effects on it are estimated;
    # a note of the design says so.
    without_rows = np.zeros(fit.aliased.size, dtype=bool)
    of_alpha = parameters.of("threshold", "nominal")
    thresholds = fit.aliased[parameters.of("threshold")]
    without_rows[of_alpha] = np.resize(thresholds, of_alpha.size)
    # without effects scores of the levels have no value either: nothing is lost
    without_rows[parameters.of("phi")] = True
    names = [
        parameters.names[j]
        for j in np.flatnonzero(fit.aliased & ~without_rows)
        if j not in fit.confounded
    ]
    for reason in (_without_cells, _constant_columns, _nominal_terms):
        for explained, message in reason(names, parameters, design):
            yield DataWarning, message
            names = [name for name in names if name not in explained]
    if names:
        yield (
            DataWarning,
            "aliased with earlier columns, so not estimated (NA):"
            f" {first_few(names, _ALIASED)}.",
        )


def _without_cells(
    names: list[str], parameters: Parameters, design: Design
) -> Iterator[tuple[Collection[str], str]]:
    """Names whose combination of levels no row has, and a message."""
    if not names:
        return
    empty = _empty_cells(parameters, design)
    cells = {name: cell for name, cell in empty.items() if name in names}
    others = [name for name in names if name not in cells]
    cells |= _cells_elsewhere(parameters, design, others, cells)
    if cells:
        combinations = first_few(list(dict.fromkeys(cells.values())), _NAMED)
        yield (
            cells,
            (
                f"no row used has the combination of levels {combinations}, so not"
                f" estimated (NA): {first_few(list(cells), _NAMED)}. Merge levels, or"
                " leave the interaction out."
            ),
        )


def _constant_columns(
    names: list[str], parameters: Parameters, design: Design
) -> Iterator[tuple[Collection[str], str]]:
    """Names of constant columns, and a message."""
    if not names:
        return
    sizes = _constant(design)
    constant = [name for name in sizes if name in names]
    if constant:
        centre = ""
        if any(sizes[name] for name in constant):
            centre = " Centre a column that varies in later digits."
        yield (
            constant,
            (
                "constant to 7 digits in the rows used, so aliased with the thresholds"
                f" and not estimated (NA): {first_few(constant, _ALIASED)}.{centre}"
            ),
        )


def _nominal_terms(
    names: list[str], parameters: Parameters, design: Design
) -> Iterator[tuple[Collection[str], str]]:
    """Names of location effects of terms that also have nominal effects, and a message
    for each term.
    """
    for term, columns in design.terms.items():
        effects = design.names[columns]
        if term in design.nominal_terms and set(effects) <= set(names):
            yield (
                effects,
                (
                    f"{term} has an effect at each threshold, by nominal=: its location"
                    " effect is aliased, not estimated (NA). Leave it out:"
                    f" update('~ . - {term}')."
                ),
            )


def _constant(design: Design) -> dict[str, float]:
    """The largest size of location columns that are constant up to rounding errors, by
    name.
    """
    sample = design.sample
    X = sample.X[sample.case_weights > 0]
    sizes = np.abs(X).max(axis=0)
    varies = np.ptp(X, axis=0) > _LEVEL * sizes
    return {design.names[j]: float(sizes[j]) for j in np.flatnonzero(~varies)}


def _empty_cells(parameters: Parameters, design: Design) -> dict[str, str]:
    """Combinations of levels that no row used has, by the names of their parameters."""
    rows = design.sample.rows
    used = design.sample.case_weights > 0
    columns = design.spec.column_names
    zero = set()
    for kind, matrix in (
        ("location", rows.X),
        ("nominal", rows.nominal),
        ("scale", rows.scale),
    ):
        if matrix is not None:
            zero |= {
                columns[kind][j] for j in np.flatnonzero(~matrix[used].any(axis=0))
            }
    cells: dict[str, str] = {}
    for record in parameters.records:
        if record.column is None:
            continue
        levels = [piece for piece in record.column.pieces if piece.level is not None]
        cell = ColumnName(tuple(levels))
        if len(levels) > 1 and cell in zero:
            cells[record.name] = cell.shown()
    return cells


def _cells_elsewhere(
    parameters: Parameters, design: Design, names: list[str], told: Mapping[str, str]
) -> dict[str, str]:
    """Empty combinations that leave columns of other combinations without an estimate,
    by the names of these.

    Where a reference level is part of the combination, or under other contrasts than
    treatment, the column that is aliased is not that of the combination. Only rows in
    memory tell of it, and of factors that are columns of the data.
    """
    data = design.data
    if not (
        names
        and isinstance(data, pd.DataFrame)
        and data.index.is_unique
        and design.index.isin(data.index).all()
    ):
        return {}
    rows = data.loc[design.index][design.sample.case_weights > 0]
    categories = design.spec.categories()
    levels = {name: values for name, values in categories.items() if name in rows}
    cells: dict[str, str] = {}
    for variables, records in _aliased_by_factors(parameters, names, levels).items():
        every = list(product(*(levels[name] for name in variables)))
        present = set(rows[list(variables)].itertuples(index=False, name=None))
        empty = [
            " × ".join(map("{}: {}".format, variables, cell))
            for cell in every
            if cell not in present
        ]
        empty = [cell for cell in empty if cell not in told.values()]
        columns = {record.column for record in records}
        if present.issubset(every) and len(columns) <= len(empty):
            cells |= {record.name: first_few(empty, _NAMED) for record in records}
    return cells


def _aliased_by_factors(
    parameters: Parameters, names: list[str], levels: Collection[str]
) -> dict[tuple[str, ...], list[Parameter]]:
    """Parameters of interactions of factors among those named, by their factors."""
    aliased: dict[tuple[str, ...], list[Parameter]] = {}
    for record in parameters.records:
        if record.name in names and record.column is not None:
            coded = [
                coded_variable(piece.factor.tree) for piece in record.column.pieces
            ]
            factors = tuple(name for name in coded if name and name in levels)
            if len(factors) > 1:
                aliased.setdefault(factors, []).append(record)
    return aliased


def forgotten_counts(design: Design, fit: LikelihoodFit) -> Iterator[Alert]:
    """A warning if all effects are zero because the counts of a table were not given as
    weights.
    """
    sample = design.sample
    data = design.data
    flat = (
        abs(fit.loglik - fit.null_loglik) <= 1e-9 * sample.n
        and fit.edf >= sample.n_levels
    )
    if not flat or sample.weights is not None or not isinstance(data, pd.DataFrame):
        return
    used = {design.response, *(design.spec.columns or ())}
    named = [
        name
        for name in data.columns.tolist()
        if str(name).lower() in _COUNTS and name not in used
    ]
    counts = [
        name
        for name in named
        if named.count(name) == 1
        and data[name].dtype.kind in "iu"
        and data[name].nunique() > 1
    ]
    if counts:
        yield DataWarning, _BALANCED.format(counts[0])


def _separated(r: LikelihoodResults) -> str:
    """What is infinite, what holds all the same, and what to do."""
    fit = r.fit
    parameters = r.parameters
    infinite = np.flatnonzero(fit.infinite)
    effects = [i for i in infinite if parameters.kinds[i] != "threshold"] or list(
        infinite
    )
    listed = first_few(
        [_end(fit.limits[i], parameters.names[i]) for i in effects], _NAMED
    )
    if fit.all_certain:
        found = (
            "the response is separated completely: every row gets its level with"
            f" probability 1, so nothing is estimated ({listed}). No parameter has a"
            " standard error or a test."
        )
    else:
        lacking = np.zeros(fit.infinite.size, dtype=bool)
        lacking[~fit.aliased] = np.isnan(fit.model_covariance.variances)
        also = lacking & ~fit.infinite
        others = "; the other estimates and their standard errors hold"
        if lacking[~fit.aliased].all():
            others = ", nor have the others, which depend on them"
        elif also.any():
            others = f", nor has {_first_names(parameters, also)}{others}"
        found = (
            "the response is separated, so that some maximum likelihood estimates are"
            f" not finite ({listed}). They have no standard errors{others}. drop1()"
            " tests terms."
        )
    if not fit.all_certain:
        found += "".join(_references(fit, parameters, r.design))
    return f"{found} For finite estimates {remedies(r, MERGE, DROP_COLUMN)}."


def _end(limit: float, name: str) -> str:
    """Where an estimate goes."""
    if np.isnan(limit):
        return f"{name} to any value"
    return f"{name} to {'+' if limit > 0 else '-'}infinity"


def _references(
    fit: LikelihoodFit, parameters: Parameters, design: Design
) -> Iterator[str]:
    """A sentence for each factor whose reference level is separated: its differences
    are finite.
    """
    location = parameters.of("location")
    estimated = np.flatnonzero(~fit.aliased)
    for term, columns in design.terms.items():
        places = np.flatnonzero(np.isin(estimated, location[columns]))
        if places.size < 2 or not fit.infinite[estimated[places]].all():
            continue
        coefficients = np.eye(estimated.size)[places]
        if not fit.limits_of(np.diff(coefficients, axis=0)).any():
            yield (
                f" The differences between the coefficients of {term} are finite, as"
                " its reference level is the one that is separated: contrasts and"
                " tests of the other levels hold, and another reference level gives"
                " them finite coefficients."
            )


def outside_text(labels: FloatArray, n: int, names: list[str]) -> str:
    """Rows outside the row space of the rows of the fit."""
    return (
        f"{labels.size} of {n} rows of newdata (rows"
        f" {first_few([str(label) for label in labels], _NAMED)}) have no prediction"
        f" (NA): the fit did not estimate {first_few(names, _NAMED)}, which other"
        " columns determined in the rows of the fit and do not determine in these."
        " Leave that column out, or fit to data in which it varies on its own."
    )


def undetermined_text(labels: FloatArray, n: int, r: LikelihoodResults) -> str:
    """Rows whose predictions are undefined, as estimates are infinite or diverge."""
    why = (
        "estimates are infinite, and the likelihood has the same limit whatever these"
        " predictions are"
    )
    determined = r.fit.determined
    if determined is None or determined.divergence.size:
        why = "they depend on estimates that diverge, as the likelihood has no maximum"
    if determined is not None and determined.divergence.size and determined.moves.size:
        why = "they depend on estimates that are infinite or diverge"
    return (
        f"{labels.size} of {n} rows (rows"
        f" {first_few([str(label) for label in labels], _NAMED)}) have predictions that"
        f" the data do not determine (NA): {why}. {as_sentence(remedies(r, MERGE))}"
    )


def not_estimated(fit: LikelihoodFit, parameters: Parameters) -> Iterator[str]:
    """A note for a table with rows of parameters that have no estimate."""
    if fit.aliased.any():
        yield (
            "Not estimated (NA), as the data or other columns do not determine them:"
            f" {_first_names(parameters, fit.aliased)}."
        )


def infinite_and_diverging(
    fit: LikelihoodFit, parameters: Parameters, differences: bool = False
) -> Iterator[str]:
    """Notes of a table that name the infinite estimates; `differences` adds a note on
    their differences.
    """
    infinite = []
    for i in np.flatnonzero(np.isinf(fit.limits)):
        sign = "+" if fit.limits[i] > 0 else "-"
        infinite.append(f"{parameters.names[i]} ({sign})")
    if infinite:
        text = f"The response is separated; infinite: {first_few(infinite, _NAMED)}."
        if differences:
            text += " NA: the data do not determine the value."
        yield text
    if fit.undetermined.any():
        listed = _first_names(parameters, fit.undetermined)
        yield f"The response is separated; not determined: {listed}."
    if fit.diverging.any():
        listed = _first_names(parameters, fit.diverging)
        yield (
            f"The likelihood has no maximum: estimates diverge ({listed}), and what"
            " depends on them has no standard error."
        )
