"""Who is compared: methods on one design, or the methods and designs of fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

import numpy as np

from .checks import labelled
from .design.design import Design
from .exceptions import DataError, OptionError
from .methods import METHODS, Method, spelled
from .methods.calibrated import Calibrated
from .model.costs import CostMatrix
from .registry import option_names, resolve
from .results.base import OrdinalResults
from .results.contestant import Contestant

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
