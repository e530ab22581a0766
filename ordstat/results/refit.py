"""The same data again with something changed: another formula, other columns, another method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ..checks import did_you_mean
from ..exceptions import OptionError

if TYPE_CHECKING:
    from ..design.design import Design
    from .base import OrdinalResults

#: Arguments of `ordfit` that make a design.
DESIGN_ARGUMENTS = ("weights", "offset", "cluster", "levels", "subset", "contrasts", "na_action", "safe", "context")
#: Arguments of `ordfit` that are of the fit, whatever the design and the method.
FIT_ARGUMENTS = ("vcov", "calibrate", "force")


def updated(
    results: OrdinalResults, design: Mapping[str, Any], method: Any, data: Any, changes: Mapping[str, Any]
) -> OrdinalResults:
    """`OrdinalResults.update`: `design` are changes of formulas, `changes` what else was given."""
    if results.fitter is None:
        raise OptionError("These results were made by hand: fit with ordfit() to use update().")
    if data is None:
        results.check_rows()
    given = {name: value for name, value in design.items() if value is not None}
    given |= {name: changes[name] for name in DESIGN_ARGUMENTS if name in changes}
    options = {name: value for name, value in changes.items() if name not in (*DESIGN_ARGUMENTS, *FIT_ARGUMENTS)}
    folds = False if results.calibrated is None else results.calibrated.folds
    kept = {"calibrate": changes.get("calibrate", folds)} | {
        name: changes[name] for name in ("force",) if name in changes
    }
    new = results.design if data is None and not given else results.design.updated(data, **given)
    covariance = changes["vcov"] if "vcov" in changes else kept_covariance(results, new)
    if method is not None:
        return results.fitter(new, method, options, changes.get("vcov"), **kept)
    return results.fitter(new, _changed(results.method, options), {}, covariance, **kept)


def kept_covariance(results: OrdinalResults, design: Design) -> Any:
    """The covariance asked for at the fit, where it makes sense for the new rows too."""
    chosen = getattr(results, "robust", None)
    if chosen is None or chosen.cluster is None:
        return None if chosen is None else chosen.name
    if chosen.cluster is results.design.sample.cluster:
        return "cluster" if design.sample.cluster is not None else None
    return {"cluster": chosen.cluster} if design.index.equals(results.design.index) else None


def _changed(method: Any, options: Mapping[str, Any]) -> Any:
    """The method with other hyper-parameters."""
    valid = [field.name for field in fields(method)]
    for name in options:
        if name not in valid:
            known = ("formula", "nominal", "scale", "method", "data", *FIT_ARGUMENTS, *DESIGN_ARGUMENTS)
            meant = did_you_mean(name, (*known, *valid))
            raise OptionError(
                f"update has no argument {name!r}.{meant} It takes {', '.join(known)}, and options of the method: "
                f"{', '.join(valid)}."
            )
    return replace(method, **options)
