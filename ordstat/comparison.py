"""Several methods, or several fits, judged on the same folds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ._typing import FloatArray, Progress
from .api import split_cost
from .assess.crossval import dealt_rows, held_out
from .assess.errors import MEASURES
from .assess.resampled import group_codes
from .checks import did_you_mean, generator, jobs, whole
from .contestants import EXAMPLE, check, from_fits, from_methods
from .design.build import build
from .design.inputs import check_cost_labels
from .exceptions import DataError, DataWarning, OptionError, warn
from .model.costs import CostMatrix
from .progress import reporter
from .results.compared import Comparison, failure_notes, fold_notes
from .results.contestant import Contestant, Judged
from .results.report.cells import count, counted


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
    safe: bool = True,
    context: Mapping[str, Any] | None = None,
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
    nominal, scale, weights, offset, cluster, levels, subset, contrasts, na_action, safe, context
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
        design = build(formula, data, **options, na_action=na_action, safe=safe, context=context)
        if isinstance(cost, pd.DataFrame):
            check_cost_labels(cost, design.levels.values, design.levels.unused, by_row=row_costs is not None)
        contestants, kept = from_methods(design, chosen, "absolute" if given is None else given)
    else:
        if methods is not None:
            raise OptionError("methods must go with a formula and data; fits have their own methods.")
        contestants, kept = from_fits([formula, *(() if data is None else (data,)), *more], given)
        _refuse_for_fits(
            {"nominal": nominal, "scale": scale, "weights": weights, "offset": offset, "cluster": cluster}
            | {"levels": levels, "subset": subset, "contrasts": contrasts, "context": context}
            | {"na_action": None if na_action == "omit" else na_action, "safe": None if safe is True else safe}
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
