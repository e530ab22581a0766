"""Several methods, or several fits, judged on the same folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from inspect import signature
from typing import Any, cast

import numpy as np
import pandas as pd

from ._typing import FloatArray, Progress
from .api import split_cost
from .checks import (
    check_names,
    counted,
    generator,
    jobs,
    labelled,
    one_of,
    reporter,
    whole,
)
from .exceptions import DataError, DataWarning, OptionError, warn
from .formula.design import Design, build
from .formula.inputs import check_cost_labels
from .judging.compared import Comparison, Contestant, Judged, group_codes
from .judging.costs import DECISIONS, CostMatrix
from .judging.errors import MEASURES
from .judging.folds import held_out, in_one_fold, most_folds
from .method import Method
from .prediction.calibrated import Calibrated
from .registry import METHODS, option_names, resolve, spelled
from .report.cells import count
from .results import OrdinalResults
from .threads import in_processes

#: Arguments of `ordfit` that `compare` takes beside a formula.
_OF_DATA = (
    "nominal",
    "scale",
    "weights",
    "offset",
    "cluster",
    "levels",
    "subset",
    "contrasts",
    "na_action",
)
#: Whether measures judge the same predictions, or each those decided for it.
DECIDE = ("one", "each")
#: How methods are given.
EXAMPLE = 'methods=["logit", ("redsvm", {"C": 10})]'


def from_methods(
    design: Design, methods: Any, cost: Any
) -> tuple[list[Contestant], list[str]]:
    """Contestants on one design, and the labels of those fitted for another cost than
    the comparison's.
    """
    contestants = []
    kept = []
    row_costs = design.sample.costs is not None
    for label, name, given in _entries(methods):
        options = dict(given)
        calibrate = options.pop("calibrate", False)
        method = resolve(name, options)
        chosen = _chose_cost(name, method, options)
        if not row_costs and not chosen and _takes(method, cost):
            method = method.with_cost(cost)
        elif not row_costs and method.cost_matrix != CostMatrix.parse(cost):
            kept.append(label)
        calibrated: Any = Calibrated.of(method, calibrate)
        supports = method.supports
        coded = design.coded(supports.categories, supports.by_level)
        contestants.append(
            Contestant(
                label=label,
                design=coded,
                method=cast(Any, method),
                calibrated=calibrated,
            )
        )
    _require_distinct([contestant.label for contestant in contestants])
    return contestants, kept


def _takes(method: Method, cost: Any) -> bool:
    """Whether a method can predict for a cost: a decision needs probabilities."""
    return method.supports.decisions or not CostMatrix.parse(cost).decides


def _require_distinct(labels: Sequence[str]) -> None:
    label, times = Counter(labels).most_common(1)[0]
    if times > 1:
        raise OptionError(
            f"{label!r} is there {times} times, and labels must differ. Leave one out."
        )


def _entries(methods: Any) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """(label, name or value, options) of every method."""
    several = [methods] if isinstance(methods, (str, Method)) else methods
    if not isinstance(several, (list, tuple)) or not several:
        raise OptionError(
            f"methods must be a list of names, values or pairs; got {methods!r}. Give"
            f" {EXAMPLE}."
        )
    for given in several:
        pair = (
            isinstance(given, tuple)
            and len(given) == 2
            and isinstance(given[1], Mapping)
        )
        name, options = given if pair else (given, {})
        words = ", ".join(f"{option}={value!r}" for option, value in options.items())
        yield f"{name}({words})" if words else str(name), name, options


def _chose_cost(name: Any, method: Method, options: Mapping[str, Any]) -> bool:
    """Whether the cost of a method was chosen with it: by an option, by its name, or in
    a value.
    """
    if isinstance(name, Method):
        default = next(
            field.default for field in fields(method) if field.name == "cost"
        )
        return bool(vars(method)["cost"] != default)
    return "cost" in options or "cost" not in option_names(METHODS[spelled(name) or ""])


def from_fits(given: Sequence[Any], cost: Any) -> tuple[list[Contestant], list[str]]:
    """Contestants on the designs of fits, and the labels of those whose cost is not the
    absolute.
    """
    fits = _labelled_fits(given)
    first = next(iter(fits.items()))
    contestants = []
    kept = []
    for label, fit in fits.items():
        _check_fit(label, fit)
        _check_same_rows(*first, label, fit)
        method = fit.method
        calibrated = fit.calibrated
        if cost is not None and not _takes(method, cost):
            kept.append(label)
        elif cost is not None:
            method = method.with_cost(cost)
            calibrated = None if calibrated is None else calibrated.with_cost(cost)
        elif (
            method.cost_matrix != CostMatrix.absolute()
            and fit.design.sample.costs is None
        ):
            kept.append(label)
        contestants.append(
            Contestant(
                label=label, design=fit.design, method=method, calibrated=calibrated
            )
        )
    return contestants, kept


def _labelled_fits(given: Sequence[Any]) -> dict[str, OrdinalResults]:
    if len(given) == 1 and isinstance(given[0], Mapping):
        return labelled(given[0], "fits")
    fits = list(given)
    for fit in fits:
        _check_fit("what was given", fit)
    methods = [repr(fit.method) for fit in fits]
    formulas = [fit.formula for fit in fits]
    labels = formulas
    if len(set(methods)) > 1:
        labels = methods
        if len(set(formulas)) > 1:
            labels = list(map("{}: {}".format, methods, formulas))
    _require_distinct(labels)
    return dict(zip(labels, fits, strict=True))


def _check_fit(label: str, fit: Any) -> None:
    if not isinstance(fit, OrdinalResults):
        raise OptionError(
            f"compare takes a formula, data and methods=, or fits of ordfit; {label} is"
            f" of type {type(fit).__name__}. Write compare('y ~ x', data,"
            " methods=[...]) or compare(fit1, fit2)."
        )
    fit.check_rows()
    if fit.design.survey is not None:
        raise OptionError(
            f"{label} has a survey design, which compare does not take: compare fits"
            " with the sampling weights as weights= and the primary sampling units as"
            " cluster=."
        )


def _check_same_rows(
    first: str, one: OrdinalResults, second: str, other: OrdinalResults
) -> None:
    """DataError where two fits are not of the same rows, response and weights."""
    a = one.design
    b = other.design
    alike = {
        "response": (a.response, a.levels.values) == (b.response, b.levels.values),
        "rows": a.index.equals(b.index),
    }
    arrays = {
        "values of the response": "y",
        "weights": "case_weights",
        "costs of rows": "costs",
    }
    for what, name in arrays.items():
        alike[what] = np.array_equal(getattr(a.sample, name), getattr(b.sample, name))
    for what, same in alike.items():
        if not same:
            raise DataError(
                f"fits must have the same {what}; those of {first}"
                f" ({counted(a.sample.n, 'row')}) and {second} ({b.sample.n}) differ."
                " Fit both to the same data, without missing values in any of their"
                " columns."
            )


def check(contestant: Contestant) -> None:
    """Refuse what cannot work in any fold, before the first one."""
    method = contestant.method
    sample = contestant.sample
    if method.pairwise:
        raise OptionError(
            f"{contestant.label}: kernel='precomputed' has columns for all rows, and"
            " cross-validation fits to parts of them. Use a named kernel or a"
            " function."
        )
    try:
        method.check(sample if method.keeps_clusters else replace(sample, cluster=None))
    except (OptionError, DataError) as problem:
        raise type(problem)(
            f"{contestant.label} cannot be compared on these data: {problem}"
        ) from problem


def compare(
    formula: Any,
    data: Any = None,
    *more: Any,
    methods: Any = None,
    cv: int = 10,
    repeats: int = 1,
    cost: Any = None,
    decide: str = "one",
    n_jobs: int = 1,
    seed: int | np.random.Generator = 0,
    callback: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Compare methods, or fits already made, by cross-validation on the same folds.

    Parameters
    ----------
    formula : str, or fits
        The formula of all methods, as in `ordfit`. Or fits to the same rows,
        `compare(fit1, fit2)` or `compare({"small": fit1, "large": fit2})`: each fold
        fits their formulas, methods and options again.
    data : data frame
        Not changed.
    methods : list
        Names ("logit", "redsvm"), values such as REDSVM(C=10), pairs ("redsvm", {"C":
        10}). "calibrate" among the options gives a ranker probabilities.
    cv : int
        Number of folds, at least 2, stratified by level; rows of one cluster, or of one
        group of a random term, stay in one fold.
    repeats : int
        Number of times that the folds are drawn anew.
    cost : str or array, optional
        As in `ordfit`; the absolute cost if not given. All methods minimise it and are
        judged by it; a note lists those that have their own cost (`"ova"`,
        `REDSVM(cost="squared")`). Fits keep their cost unless `cost` is given. Measures
        of all rows, such as "kappa", are for methods with probabilities; the others
        keep their cost.
    decide : {"one", "each"}
        "one": all measures judge the same predictions, those for `cost`. "each":
        classification, absolute and squared error, their macro averages and the kappas
        each judge the predictions that the probabilities give for this measure. A note
        lists methods without probabilities.
    n_jobs : int
        Number of processes; -1 for all processors. The result does not depend on it.
    seed : int or numpy.random.Generator
        Seed of the folds and of the methods.
    callback : callable(step, total, message), optional
        Called after every fit; without it a terminal shows a progress bar if tqdm is
        installed.
    **options
        nominal, scale, weights, offset, cluster, levels, subset, contrasts, na_action:
        as in `ordfit`.

    Returns
    -------
    Comparison
        Prints as a table; `.table`, `.folds`, `.differences()`, `.plot()`.

    Raises
    ------
    OptionError, DataError, FormulaError
        The methods, fits or data cannot be compared.

    Warns
    -----
    DataWarning
        Rows are left out for missing values, or a method fails in some folds, and then
        has no means.

    Notes
    -----
    Knots of splines and means of `scale()` come from all rows, including held-out ones,
    as in `errors(cv=)`; everything that depends on the response comes from the training
    rows. Predictions for held-out groups are averages over the distribution of their
    random effects; with crossed random terms, the more numerous groups stay together. A
    row of weight w is spread over the folds as w rows. If the columns identify nearly
    all rows, it stays in one fold, as a flexible model would recognise the copies.

    Examples
    --------
    >>> from ordstat import compare, datasets
    >>> wine = datasets.load("wine")
    >>> methods = ["logit", "redsvm"]
    >>> found = compare("rating ~ temp + contact", wine, methods=methods, cv=4)
    >>> found.table[["absolute error", "classification error"]].shape
    (2, 2)
    >>> found.folds["measure"].nunique(), len(found.differences())
    (19, 1)
    """
    arguments = [name for name in signature(compare).parameters if name != "options"]
    check_names(options, [*arguments, *_OF_DATA], "compare", "argument")
    contestants, kept, price = _contestants(formula, data, more, methods, cost, options)
    one_of("decide", decide, DECIDE)
    each = decide == "each"
    cv = whole("cv", cv, 2)
    repeats = whole("repeats", repeats, 1)
    n_jobs = jobs(n_jobs)
    rng = generator(seed)
    for contestant in contestants:
        check(contestant)
    drawn = _drawn(contestants, cv, repeats, rng)
    design = contestants[0].design
    apart = in_one_fold(design.sample, np.concatenate(drawn), design.levels.values)
    for note in apart:
        warn(note, DataWarning)
    root = int(rng.integers(2**63))
    told = reporter(callback)
    judged = _judged(contestants, drawn, price, root, n_jobs, told, each)
    failed = _failed(contestants, judged, cv)
    of_designs = (note for one in contestants for note in one.design.notes)
    notes = [*dict.fromkeys(of_designs), *apart]
    notes += _failures(failed, contestants, cv * repeats)
    notes += _notes(contestants, kept, judged, price)
    if each:
        notes += _notes_on_decisions(contestants, price)
    return Comparison(
        title=_title(contestants, cv, repeats),
        labels=tuple(contestant.label for contestant in contestants),
        values=np.array([[fold.values for fold in folds] for folds in judged]),
        seconds=np.array([[fold.seconds for fold in folds] for folds in judged]),
        weights=np.concatenate([held.sum(axis=1) for held in drawn]),
        cv=cv,
        repeats=repeats,
        measure=_sorting_measure(design, price),
        failed=failed,
        notes=tuple(notes),
    ).with_fold_notes()


def _contestants(
    formula: Any,
    data: Any,
    more: Sequence[Any],
    methods: Any,
    cost: Any,
    options: Mapping[str, Any],
) -> tuple[list[Contestant], list[str], Any]:
    """What is compared, by a formula or by fits, the labels of those fitted for another
    cost, and the cost by which all are judged.
    """
    row_costs, given = split_cost(cost, () if data is None else data)
    price = "absolute" if given is None else given
    if isinstance(formula, str):
        listed = _one_list(more, methods)
        design = _design(formula, data, cost, row_costs, options)
        return *from_methods(design, listed, price), price
    fits = [formula, *more] if data is None else [formula, data, *more]
    contestants = from_fits(fits, given)
    _refuse_beside_fits(methods, options)
    return *contestants, price


def _design(
    formula: str, data: Any, cost: Any, row_costs: Any, options: Mapping[str, Any]
) -> Design:
    """The rows of all methods; warns of what was left out, as fits have done."""
    design = build(formula, data, costs=row_costs, **options)
    for note in design.notes:
        warn(note, DataWarning)
    levels = design.levels
    check_cost_labels(cost, levels.values, levels.unused, by_row=row_costs is not None)
    return design


def _sorting_measure(design: Design, price: Any) -> str:
    """The measure that is the mean cost."""
    cost = CostMatrix.parse(price)
    if design.sample.costs is None and cost.decides:
        return DECISIONS[str(cost.value)].measure
    measure = f"{cost.label} error"
    if design.sample.costs is None and measure in MEASURES:
        return measure
    return "cost"


def _one_list(more: Sequence[Any], methods: Any) -> Any:
    """The methods, given after the data or by name."""
    if not more:
        return methods
    if len(more) > 1 or methods is not None:
        raise OptionError(
            f"methods must be one list; got {more!r} and methods={methods!r}. Give"
            f" {EXAMPLE}."
        )
    return more[0]


def _refuse_beside_fits(methods: Any, options: Mapping[str, Any]) -> None:
    """OptionError for arguments that go with a formula."""
    given = list(options)
    if methods is not None:
        given.append("methods")
    if given:
        raise OptionError(
            f"{given[0]} must go with a formula and data; fits have their own. Leave it"
            " out."
        )


def _failed(
    contestants: Sequence[Contestant], judged: Sequence[Sequence[Judged]], cv: int
) -> pd.DataFrame:
    """One row for each fit that failed."""
    rows = []
    for contestant, folds in zip(contestants, judged, strict=True):
        for number, fold in enumerate(folds):
            if fold.failure:
                repeat, place = divmod(number, cv)
                rows.append((contestant.label, repeat + 1, place + 1, fold.failure))
    return pd.DataFrame(rows, columns=["method", "repeat", "fold", "message"])


def _failures(
    failed: pd.DataFrame, contestants: Sequence[Contestant], n_folds: int
) -> list[str]:
    """Warn of every method that failed in some fold; DataError if all did."""
    failures = [
        f"{label} failed in {len(rows)} of {counted(n_folds, 'fold')} and has no means"
        f" (.failed): {rows['message'].iloc[0]}"
        for label, rows in failed.groupby("method", sort=False)
    ]
    if len(failures) == len(contestants):
        raise DataError(f"Every method failed in some fold: {failures[0]}")
    for note in failures:
        warn(note, DataWarning)
    return failures


def _title(contestants: Sequence[Contestant], cv: int, repeats: int) -> str:
    formulas = {contestant.design.formula for contestant in contestants}
    what = "method"
    topic = contestants[0].design.formula
    if len(formulas) > 1:
        what = "model"
        topic = contestants[0].design.response
    times = f", {repeats} times" if repeats > 1 else ""
    return (
        f"{counted(len(contestants), what)} by {cv}-fold cross-validation{times}:"
        f" {topic}"
    )


def _drawn(
    contestants: Sequence[Contestant], cv: int, repeats: int, rng: np.random.Generator
) -> list[FloatArray]:
    """(cv, N) case weights that each fold holds out, of every repeat; groups of any
    contestant stay together.
    """
    sample = contestants[0].design.sample
    groupings = [codes for contestant in contestants for codes in contestant.groupings]
    groups = group_codes(groupings) if groupings else None
    if groups is not None and groups.max() == 0:
        raise OptionError(
            "Crossed groups of these fits connect all rows, so that no fold would be"
            " independent of the others. Compare such fits by loglik and aic."
        )
    sample = replace(sample, cluster=groups)
    most, what = most_folds(sample)
    if groups is not None:
        what = "groups of rows to keep together"
    if cv > most:
        raise OptionError(f"cv must not exceed the number of {what}, {most}; got {cv}.")
    return [held_out(sample, cv, rng) for _ in range(repeats)]


def _judged(
    contestants: Sequence[Contestant],
    drawn: Sequence[FloatArray],
    cost: Any,
    root: int,
    n_jobs: int,
    callback: Progress | None,
    each: bool,
) -> list[list[Judged]]:
    """Results of the folds of each contestant; each fit has a separate generator, so
    that n_jobs does not matter.
    """
    tasks = [
        (contestant, out, cost, [root, repeat, fold], each)
        for repeat, held in enumerate(drawn)
        for fold, out in enumerate(held)
        for contestant in contestants
    ]
    results: list[Judged] = []
    for judged in in_processes(Contestant.judged, tasks, n_jobs):
        results.append(judged)
        if callback is not None:
            callback(len(results), len(tasks), "comparison")
    return [results[first :: len(contestants)] for first in range(len(contestants))]


def _notes_on_decisions(contestants: Sequence[Contestant], cost: Any) -> list[str]:
    """What each measure was decided by, if each has predictions of its own."""
    price = CostMatrix.parse(cost)
    others = f"by the {price.label} cost"
    if price.decides:
        others = f"decided for {DECISIONS[str(price.value)].measure}"
    notes = [
        "Classification, absolute and squared errors, their macro averages and the"
        " kappas are each of the predictions decided for them; other measures of"
        f" predicted levels are of predictions {others}."
    ]
    without = [one.label for one in contestants if not one.decides]
    if without:
        notes.append(
            "All measures judge the same predictions of methods without probabilities:"
            f" {', '.join(without)}."
        )
    return notes


def _notes(
    contestants: Sequence[Contestant],
    kept: Sequence[str],
    results: Sequence[Sequence[Judged]],
    cost: Any,
) -> list[str]:
    sample = contestants[0].design.sample
    grouped = any(contestant.groupings for contestant in contestants)
    groups = " Rows of one group are in one fold." if grouped else ""
    notes = [
        f"{count(sample.case_weights.sum())} observations, {sample.n_levels} levels;"
        f" all methods have the same folds.{groups} Standard errors (SE) are corrected"
        " for the training rows that folds share."
    ]
    if kept:
        price = CostMatrix.parse(cost)
        judge = f"the {price.label} cost"
        if sample.costs is not None:
            judge = "their own cost"
        elif price.decides:
            judge = DECISIONS[str(price.value)].measure
        notes.append(
            f"Judged by {judge}, but fitted for other costs: {', '.join(kept)}."
        )
    for contestant, folds in zip(contestants, results, strict=True):
        if missed := sum(not judged.reached for judged in folds):
            notes.append(
                f"{contestant.label} missed its tolerance in {missed} of"
                f" {counted(len(folds), 'fit')}."
            )
    return notes
