"""Several methods, or several fits, judged on the same folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import numpy as np
import pandas as pd

from ._typing import FloatArray, Progress
from .api import split_cost
from .checks import did_you_mean, generator, jobs, labelled, whole
from .exceptions import DataError, DataWarning, OptionError, warn
from .formula.build import build
from .formula.design import Design
from .formula.inputs import check_cost_labels
from .judging.compared import Comparison, Contestant, Judged, failure_notes, fold_notes
from .judging.costs import CostMatrix
from .judging.errors import MEASURES
from .judging.folds import dealt_rows, held_out
from .judging.resampled import group_codes
from .method import Method
from .prediction.calibrated import Calibrated
from .progress import reporter
from .registry import METHODS, option_names, resolve, spelled
from .report.cells import count, counted
from .results import OrdinalResults

#: How methods are given.
EXAMPLE = 'methods=["logit", ("redsvm", {"C": 10})]'


def from_methods(design: Design, methods: Any, cost: Any) -> tuple[list[Contestant], list[str]]:
    """Contestants on one design, and the labels of those that keep a cost of their own."""
    found, kept = [], []
    own = design.sample.costs is not None
    for label, name, given in _entries(methods):
        options = dict(given)
        calibrate = options.pop("calibrate", False)
        method = resolve(name, options)
        if not own and _chose_cost(name, method, options):
            kept += [label] if CostMatrix.parse(cost) != method.cost_matrix else []
        elif not own:
            method = method.with_cost(cost)
        again: Any = Calibrated.of(method, calibrate)
        own_design = design.coded(method.needs.categories)
        found.append(Contestant(label=label, design=own_design, method=cast(Any, method), calibrated=again))
    return _distinct(found), kept


def _entries(methods: Any) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """(label, name or value, options) of every method asked for."""
    if isinstance(methods, (str, Method)):
        methods = [methods]
    if isinstance(methods, Mapping):
        yield from (_labelled(label, given) for label, given in methods.items())
    elif isinstance(methods, Iterable) and (several := list(methods)):
        yield from map(_entry, several)
    else:
        raise OptionError(
            f"methods must be a list of names, or a dict of labels to options; got {methods!r}. Give {EXAMPLE}."
        )


def _labelled(label: Any, given: Any) -> tuple[str, Any, Mapping[str, Any]]:
    if isinstance(given, Mapping):
        options = dict(given)
        if "method" not in options and spelled(label) is None:
            raise OptionError(
                f"methods must say which method {label!r} stands for; got the options {given!r}. Write {{{label!r}: "
                "{'method': 'redsvm', 'C': 10}}."
            )
        return str(label), options.pop("method", label), options
    return str(label), *_entry(given)[1:]


def _entry(given: Any) -> tuple[str, Any, Mapping[str, Any]]:
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping):
        told = ", ".join(f"{name}={value!r}" for name, value in given[1].items())
        return f"{given[0]}({told})" if told else str(given[0]), given[0], given[1]
    return given if isinstance(given, str) else repr(given), given, {}


def _chose_cost(name: Any, method: Method, options: Mapping[str, Any]) -> bool:
    """Whether the cost of a method was chosen with it: by an option, by its name, or in a value."""
    if isinstance(name, Method):
        default = next(field.default for field in fields(method) if field.name == "cost")
        return bool(vars(method)["cost"] != default)
    entry = METHODS[spelled(name) or ""]
    return "cost" in options or "cost" not in option_names(entry)


def from_fits(given: Sequence[Any], cost: Any) -> tuple[list[Contestant], list[str]]:
    """Contestants on the designs of fits, and the labels of those whose cost is not the absolute."""
    fits = _labelled_fits(given)
    for label, fit in fits.items():
        _check_fit(label, fit)
        _check_same_rows(*next(iter(fits.items())), label, fit)
    found, kept = [], []
    for label, fit in fits.items():
        method, again = fit.method, fit.calibrated
        if cost is not None:
            method, again = method.with_cost(cost), None if again is None else again.with_cost(cost)
        elif method.cost_matrix != CostMatrix.absolute() and fit.design.sample.costs is None:
            kept.append(label)
        found.append(Contestant(label=label, design=fit.design, method=method, calibrated=again))
    return found, kept


def _labelled_fits(given: Sequence[Any]) -> dict[str, OrdinalResults]:
    if len(given) == 1 and isinstance(given[0], Mapping):
        _check_some(given[0])
        return labelled(given[0], "fits")
    fits = list(given[0]) if len(given) == 1 and isinstance(given[0], (list, tuple)) else list(given)
    _check_some(fits)
    for fit in fits:
        _check_fit("what was given", fit)
    labels = [_name(fit, fits) for fit in fits]
    label, times = Counter(labels).most_common(1)[0]
    if times > 1:
        raise OptionError(
            f"fits must differ in method or formula; {label!r} came {times} times. Give labels, as in "
            "compare({'one': fit1, 'two': fit2})."
        )
    return dict(zip(labels, fits, strict=True))


def _check_some(fits: Any) -> None:
    if not fits:
        raise OptionError("fits must be one at least; got none. Write compare(fit1, fit2).")


def _name(fit: OrdinalResults, fits: Sequence[OrdinalResults]) -> str:
    """What tells a fit from the others: its formula, its method, or both."""
    if all(other.method == fit.method for other in fits):
        return fit.formula
    if all(other.formula == fit.formula for other in fits):
        return repr(fit.method)
    return f"{fit.method!r}: {fit.formula}"


def _check_fit(label: str, fit: Any) -> None:
    if not isinstance(fit, OrdinalResults):
        raise OptionError(
            f"compare takes a formula, data and methods=, or fits of ordfit; {label} is of type {type(fit).__name__}. "
            "Write compare('y ~ x', data, methods=[...]) or compare(fit1, fit2)."
        )
    fit.check_rows()
    if fit.design.survey is not None:
        raise OptionError(
            f"{label} has a survey design, and folds of a complex sample are not worked out here: compare fits with "
            "the sampling weights as weights= and the primary sampling units as cluster=."
        )


def _check_same_rows(first: str, one: OrdinalResults, second: str, other: OrdinalResults) -> None:
    """DataError where two fits are not of the same rows, response and weights."""
    a, b = one.design, other.design
    if a.levels.values != b.levels.values or a.response != b.response:
        raise DataError(
            f"fits must have the same response; {first} has {a.response!r} with levels {a.levels.values}, {second} "
            f"{b.response!r} with levels {b.levels.values}."
        )
    if not a.index.equals(b.index):
        lost = {name: {**design.dropped} or "none" for name, design in ((first, a), (second, b))}
        raise DataError(
            f"fits must be of the same rows; {first} has {a.sample.n} and {second} has {b.sample.n}, with rows left "
            f"out for missing values in {lost[first]} and {lost[second]}. Fit both to data without missing values in "
            "any of these columns."
        )
    if not np.array_equal(a.sample.y, b.sample.y):
        raise DataError(f"fits must have the same response; {first} and {second} differ in its values at some rows.")
    if not np.array_equal(a.sample.case_weights, b.sample.case_weights):
        raise DataError(f"fits must have the same weights; those of {first} and {second} differ.")
    if not _equal(a.sample.costs, b.sample.costs):
        raise DataError(f"fits must have the same costs of rows; those of {first} and {second} differ.")


def _equal(one: Any, other: Any) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def _distinct(contestants: list[Contestant]) -> list[Contestant]:
    label, times = Counter(one.label for one in contestants).most_common(1)[0]
    if times > 1:
        raise OptionError(
            f"methods must differ; {label!r} is there {times} times. Give labels: methods={{'one': {{'method': "
            f"{label!r}}}, 'two': ...}}."
        )
    return contestants


def check(one: Contestant) -> None:
    """Refuse what cannot work in any fold, before the first one."""
    method = cast(Method, one.method)
    if method.pairwise:
        raise OptionError(
            f"{one.label}: kernel='precomputed' has columns for all rows, and cross-validation fits to parts of them. "
            "Use a named kernel or a function."
        )
    try:
        method.check(one.sample if method.keeps_clusters else replace(one.sample, cluster=None))
    except (OptionError, DataError) as problem:
        raise type(problem)(f"{one.label} cannot be compared on these data: {problem}") from problem


def compare(
    formula: Any,
    data: Any = None,
    *more: Any,
    methods: Any = None,
    cv: int = 10,
    repeats: int = 1,
    cost: Any = None,
    nominal: str | None = None,
    scale: str | None = None,
    weights: Any = None,
    offset: Any = None,
    cluster: Any = None,
    levels: Sequence[Any] | None = None,
    subset: Any = None,
    contrasts: Mapping[str, str] | None = None,
    na_action: str = "omit",
    n_jobs: int = 1,
    seed: int | np.random.Generator = 0,
    callback: Progress | None = None,
    **unknown: Any,
) -> Comparison:
    """Compare methods, or fits already made, by cross-validation on the same folds.

    Parameters
    ----------
    formula : str, or fits
        Of all methods, as in `ordfit`. Or fits in its place, `compare(fit1, fit2)` or `compare({"small": fit1, "large":
        fit2})`: their formulas, methods and options are fitted again in the same folds. They must be of the same rows.
    data : data frame
        Never changed.
    methods : list or dict
        Names ("logit", "redsvm"), values such as REDSVM(C=10), pairs ("redsvm", {"C": 10}); or a dict of labels to
        options, {"svm": {"method": "redsvm", "C": 10}, "logit": {}}. "calibrate" among the options gives a ranker
        probabilities.
    cv : int
        Number of folds, at least 2. Ranks are spread evenly; rows of one cluster, or of one group of a random term,
        stay in one fold.
    repeats : int
        How often folds are drawn anew.
    cost : str or array, optional
        As in `ordfit`; the absolute cost if not given. All methods minimise it and are judged by it, but those that
        name another (`"ova"`, `REDSVM(cost="squared")`), which are told. Fits keep their own unless it is given.
    nominal, scale, weights, offset, cluster, levels, subset, contrasts, na_action
        As in `ordfit`.
    n_jobs : int
        Processes; -1 for all processors. The result is the same for any.
    seed : int or numpy.random.Generator
        Of the folds and of whatever methods draw.
    callback : callable(step, total, message), optional
        Called after every fit; without it a bar is shown in a terminal where tqdm is installed.

    Returns
    -------
    Comparison
        Prints as a table; `.table`, `.folds`, `.differences()`, `.plot()`.

    Raises
    ------
    OptionError, DataError, FormulaError
        For what cannot be compared. A method that fails in some folds is told in a DataWarning and has no ranks.

    Notes
    -----
    Knots of splines and means of `scale()` come from all rows, held-out ones too, as in `errors(cv=)`; whatever learns
    from the response sees the training rows alone. Rows of groups that are held out are predicted by averages over the
    distribution of their random effects; of crossed random terms the more numerous groups stay together. A row of
    weight w is dealt out to the folds as w rows, unless columns tell nearly all rows apart, so that a flexible model
    would know the twins of a held-out row.

    Examples
    --------
    >>> from ordstat import compare, datasets
    >>> found = compare("rating ~ temp + contact", datasets.load("wine"), methods=["logit", "redsvm"], cv=4)
    >>> found.table[["absolute error", "classification error"]].shape
    (2, 2)
    >>> found.folds["measure"].nunique(), len(found.differences())
    (19, 1)
    """
    _refuse_unknown(unknown)
    row_costs, given = split_cost(cost, () if data is None else data)
    if isinstance(formula, str):
        chosen = _chosen(more, methods)
        options: dict[str, Any] = {"weights": weights, "offset": offset, "cluster": cluster, "costs": row_costs}
        options |= {"nominal": nominal, "scale": scale, "levels": levels, "subset": subset, "contrasts": contrasts}
        design = build(formula, data, **options, na_action=na_action)
        if isinstance(cost, pd.DataFrame):
            check_cost_labels(cost, design.levels.values, design.levels.unused, by_row=row_costs is not None)
        contestants, kept = from_methods(design, chosen, "absolute" if given is None else given)
    else:
        if methods is not None:
            raise OptionError("methods must go with a formula and data; fits have their own methods.")
        contestants, kept = from_fits([formula, *(() if data is None else (data,)), *more], given)
        _refuse_for_fits(
            {"nominal": nominal, "scale": scale, "weights": weights, "offset": offset, "cluster": cluster}
            | {"levels": levels, "subset": subset, "contrasts": contrasts}
            | {"na_action": None if na_action == "omit" else na_action}
        )
    plan = _Plan(whole("cv", cv, 2), whole("repeats", repeats, 1), "absolute" if given is None else given)
    n_jobs, callback = jobs(n_jobs), reporter(callback)
    for one in contestants:
        check(one)
    return _run(contestants, kept, plan, generator(seed), n_jobs, callback)


def _chosen(more: Sequence[Any], methods: Any) -> Any:
    """The methods, which may come after the data without their name."""
    if not more:
        return methods
    if methods is not None:
        raise OptionError(f"methods must be given once; got {more[0]!r} after the data and methods={methods!r}.")
    if len(more) > 1:
        raise OptionError(f"methods must be one list; got {', '.join(map(repr, more))}. Give {EXAMPLE}.")
    return more[0]


def _refuse_for_fits(given: Mapping[str, Any]) -> None:
    """OptionError where fits are given what is said of data; None stands for what was not given."""
    for name, value in given.items():
        if value is not None:
            raise OptionError(f"{name} must go with a formula and data; fits have their own. Leave it out.")


def _refuse_unknown(unknown: Mapping[str, Any]) -> None:
    for name in unknown:
        if name == "design":
            raise OptionError(
                "compare takes no survey design: folds of a complex sample are not worked out here. Give the sampling "
                "weights as weights= and the primary sampling units as cluster=."
            )
        meant = did_you_mean(name, compare.__kwdefaults__ or ())
        raise OptionError(
            f"compare has no argument {name!r}.{meant} Options of a method go beside its name, as in {EXAMPLE}."
        )


@dataclass(frozen=True)
class _Plan:
    """Folds, how often they are drawn, and what a prediction costs."""

    cv: int
    repeats: int
    cost: Any


def _run(
    contestants: Sequence[Contestant],
    kept: Sequence[str],
    plan: _Plan,
    rng: np.random.Generator,
    n_jobs: int,
    callback: Progress | None,
) -> Comparison:
    """Judge all on the same folds; a DataWarning names those that failed."""
    drawn = _drawn(contestants, plan, rng)
    found = _judged(contestants, drawn, plan, int(rng.integers(2**63)), n_jobs, callback)
    failed = _failures(contestants, found, plan.cv)
    told = failure_notes(failed, len(found[0]))
    if len(told) == len(contestants):
        raise DataError(f"Every method failed in some fold: {told[0]}")
    for note in told:
        warn(note, DataWarning)
    compared = Comparison(
        title=_title(contestants, plan),
        labels=tuple(one.label for one in contestants),
        values=np.array([[one.values for one in own] for own in found]),
        seconds=np.array([[one.seconds for one in own] for own in found]),
        weights=np.concatenate([held.sum(axis=1) for held in drawn]),
        cv=plan.cv,
        repeats=plan.repeats,
        measure=_measure(contestants[0], plan.cost),
        failed=failed,
        notes=(*told, *_notes(contestants, kept, found, plan.cost)),
    )
    return replace(compared, notes=(*compared.notes, *fold_notes(compared)))


def _drawn(contestants: Sequence[Contestant], plan: _Plan, rng: np.random.Generator) -> list[FloatArray]:
    """(cv, N) case weights that each fold holds out, of every repeat; groups of any contestant stay together."""
    sample = contestants[0].design.sample
    groupings = [codes for one in contestants for codes in one.groupings]
    groups = group_codes(groupings) if groupings else None
    if groups is not None and groups.max() == 0:
        raise OptionError(
            "groups of rows that belong together must not be connected all with all, as crossed groups of several "
            "fits are: no fold would be independent of the others. Compare such fits by loglik and aic."
        )
    copies = dealt_rows(sample, groups)[0].size
    most, what = (copies, "rows") if groups is None else (int(groups.max()) + 1, "groups of rows to keep together")
    if plan.cv > most:
        raise OptionError(f"cv must not exceed the number of {what}, {most}; got {plan.cv}.")
    alone = replace(sample, cluster=None)
    return [held_out(alone, plan.cv, rng, cluster=groups) for _ in range(plan.repeats)]


def _judged(
    contestants: Sequence[Contestant],
    drawn: Sequence[FloatArray],
    plan: _Plan,
    root: int,
    n_jobs: int,
    callback: Progress | None,
) -> list[list[Judged]]:
    """What came of every fold, by contestant; every fit has its own generator, so that n_jobs does not matter."""
    tasks = [
        (one, held[fold], plan.cost, [root, repeat, fold])
        for repeat, held in enumerate(drawn)
        for fold in range(plan.cv)
        for one in contestants
    ]
    found: Iterable[Judged] = (Contestant.judged(*task) for task in tasks)
    if n_jobs != 1:
        from joblib import Parallel, delayed

        found = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(Contestant.judged)(*task) for task in tasks)
    results: list[Judged] = []
    for step, one in enumerate(found):
        results.append(one)
        if callback is not None:
            callback(step + 1, len(tasks), "comparison")
    return [results[place :: len(contestants)] for place in range(len(contestants))]


# Words


def _failures(contestants: Sequence[Contestant], found: Sequence[Sequence[Judged]], cv: int) -> pd.DataFrame:
    """Every fit that failed."""
    rows = [
        (one.label, place // cv + 1, place % cv + 1, judged.failure)
        for one, own in zip(contestants, found, strict=True)
        for place, judged in enumerate(own)
        if judged.failure
    ]
    return pd.DataFrame(rows, columns=["method", "repeat", "fold", "message"])


def _title(contestants: Sequence[Contestant], plan: _Plan) -> str:
    design = contestants[0].design
    formulas = {one.design.formula for one in contestants}
    what, of = ("method", next(iter(formulas))) if len(formulas) == 1 else ("model", design.response)
    times = "" if plan.repeats == 1 else f", {plan.repeats} times"
    return f"{counted(len(contestants), what)} by {plan.cv}-fold cross-validation{times}: {of}"


def _measure(one: Contestant, cost: Any) -> str:
    """The mean cost, by the name that it has as an error."""
    label = CostMatrix.parse(cost).label
    named = one.design.sample.costs is None and f"{label} error" in MEASURES
    return f"{label} error" if named else "cost"


def _notes(
    contestants: Sequence[Contestant], kept: Sequence[str], found: Sequence[Sequence[Judged]], cost: Any
) -> list[str]:
    sample = contestants[0].design.sample
    groups = "" if not any(one.groupings for one in contestants) else " Rows of one group are in one fold."
    notes = [
        f"{count(sample.case_weights.sum())} observations, {sample.n_levels} levels; all methods have the same folds."
        f"{groups} Standard errors (SE) are corrected for the training rows that folds share."
    ]
    if kept:
        price = "their own" if sample.costs is not None else CostMatrix.parse(cost).label
        notes.append(f"Judged by the {price} cost, but fitted for a cost of their own: {', '.join(kept)}.")
    for one, own in zip(contestants, found, strict=True):
        if missed := sum(not judged.reached for judged in own):
            notes.append(f"{one.label} missed its tolerance in {missed} of {counted(len(own), 'fit')}.")
    return notes
