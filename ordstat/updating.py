"""Refits with something changed: what is kept of the old fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from .checks import check_names
from .exceptions import DataError, OptionError, warn
from .method import Method

if TYPE_CHECKING:
    from .formula.design import Design
    from .results import OrdinalResults

#: Arguments of `ordfit` that make a design.
DESIGN_ARGUMENTS = (
    "weights",
    "offset",
    "cluster",
    "design",
    "levels",
    "subset",
    "cov",
    "contrasts",
    "constraints",
    "na_action",
)
#: Arguments of `ordfit` that belong to the fit, whatever the design and the method.
FIT_ARGUMENTS = ("vcov", "calibrate")


def updated(
    fit: OrdinalResults,
    sides: Mapping[str, str | None],
    method: Any,
    data: Any,
    changes: Mapping[str, Any],
) -> Any:
    """The fit with other formulas, another method or other data.

    Parameters
    ----------
    fit : OrdinalResults
    sides : mapping
        Formulas by "formula", "nominal" and "scale"; None for the old one.
    method : str, Method or None
    data : data frame or None
        None for the data of the fit.
    changes : mapping
        Other arguments of `ordfit`, and options of the method.

    Raises
    ------
    DataError
        The data are not available or have changed.
    OptionError, FormulaError
    """
    if fit.fitter is None:
        raise OptionError(
            "These results were made by hand: fit with ordfit() to use update()."
        )
    if data is None:
        fit.check_rows()
    arguments = (*DESIGN_ARGUMENTS, *FIT_ARGUMENTS)
    options = {name: changes[name] for name in changes if name not in arguments}
    given: dict[str, Any] = {
        name: side for name, side in sides.items() if side is not None
    }
    given |= {name: changes[name] for name in DESIGN_ARGUMENTS if name in changes}
    design = fit.design
    if data is not None or given:
        design = design.updated(data, **given)
    kept = _kept_arguments(fit, design, data, changes)
    if method is not None:
        fitted = fit.fitter(design, method, options, **kept)
        if isinstance(method, str):
            _tell_left_out(fit.method, fitted.method, options)
        return fitted
    same: Any = fit.method
    had_groups = fit.design.sample.rows.random is not None
    if had_groups and design.sample.rows.random is None:
        same = same.without_random_effects()
    names = [f.name for f in fields(same)]
    check_names(options, names, "update", "argument", arguments)
    return fit.fitter(design, replace(same, **options), {}, **kept)


def _kept_arguments(
    fit: OrdinalResults, design: Design, data: Any, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """The covariance and the calibration: those given, else those of the fit."""
    folds = False if fit.calibrated is None else fit.calibrated.folds
    kept = {"calibrate": changes.get("calibrate", folds)}
    if "vcov" in changes:
        return kept | {"vcov": changes["vcov"]}
    return kept | {"kept_vcov": _kept_covariance(fit, design, data)}


def _kept_covariance(fit: OrdinalResults, design: Design, data: Any) -> Any:
    """The covariance of the fit, for the rows of a new design.

    Raises
    ------
    DataError
        Clusters were given as values, and some rows are not those of the fit.
    """
    chosen = getattr(fit, "robust", None)
    old = fit.design.index
    if chosen is None or chosen.survey is not None or design.survey is not None:
        return None
    if chosen.matrix is not None:
        warn(
            "The covariance matrix given to with_vcov() is that of the estimates before"
            " update(): the new fit has its own. Call with_vcov() of the new fit."
        )
        return None
    if chosen.cluster is None:
        return chosen.name
    if chosen.cluster is fit.design.sample.cluster:
        return (
            chosen.name if chosen.asked and design.sample.cluster is not None else None
        )
    clusters = chosen.cluster
    same_rows = design.index.equals(old)
    if isinstance(chosen.given, str) and (data is not None or not same_rows):
        clusters = chosen.given
    elif not same_rows:
        if not (old.is_unique and design.index.isin(old).all()):
            raise DataError(
                "vcov must have clusters of the new rows: give vcov={'cluster': ...},"
                " or vcov='model'."
            )
        clusters = clusters[old.get_indexer(design.index)]
    if not chosen.asked:
        return {"cluster": clusters}
    return {"cluster": clusters, "type": "CR2" if chosen.name == "CR2" else "CR1"}


#: Options that several methods have, that change a fit, and that no name of a method
#: stands for.
_SHARED = ("penalty", "C", "kernel")


def _tell_left_out(old: Method, new: Method, given: Collection[str]) -> None:
    """Warn of options of a fit that are not those of the method that replaces it."""
    lost = []
    for f in fields(old):
        value = getattr(old, f.name)
        if f.name not in _SHARED or f.name in given or value == f.default:
            continue
        if hasattr(new, f.name) and getattr(new, f.name) != value:
            lost.append(f"{f.name}={value!r}")
    if lost:
        options = ", ".join(lost)
        warn(
            f"update(method=...) left out options of the fit: {options}. Give them too,"
            " to keep them."
        )
