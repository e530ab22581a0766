"""The same data again with something changed: another formula, other columns, another method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

from ..checks import did_you_mean
from ..exceptions import DataError, OptionError
from .fitted import FittedRanker

if TYPE_CHECKING:
    from ..design.design import Design

#: Arguments of `ordfit` that make a design.
DESIGN_ARGUMENTS = (
    *("weights", "offset", "cluster", "design", "levels", "subset", "contrasts", "constraints", "na_action", "safe"),
    *("context", "interactions"),
)
#: Arguments of `ordfit` that are of the fit, whatever the design and the method.
FIT_ARGUMENTS = ("vcov", "calibrate")


def updated(
    fit: FittedRanker,
    formula: str | None = None,
    *,
    nominal: str | None = None,
    scale: str | None = None,
    method: Any = None,
    data: Any = None,
    **changes: Any,
) -> Any:
    """Fit again with something changed, as R's update()."""
    design = {"formula": formula, "nominal": nominal, "scale": scale}
    if fit.fitter is None:
        raise OptionError("These results were made by hand: fit with ordfit() to use update().")
    if data is None:
        fit.check_rows()
    given = {name: value for name, value in design.items() if value is not None}
    given |= {name: changes[name] for name in DESIGN_ARGUMENTS if name in changes}
    options = {name: value for name, value in changes.items() if name not in (*DESIGN_ARGUMENTS, *FIT_ARGUMENTS)}
    kept = {"calibrate": False if fit.calibrated is None else fit.calibrated.folds}
    kept |= {"calibrate": changes["calibrate"]} if "calibrate" in changes else {}
    new = fit.design if data is None and not given else fit.design.updated(data, **given)
    vcov = {"vcov": changes["vcov"]} if "vcov" in changes else {"kept_vcov": kept_covariance(fit, new, data)}
    if method is not None:
        return fit.fitter(new, method, options, **vcov, **kept)
    return fit.fitter(new, _changed(_of_design(fit, new), options), {}, **vcov, **kept)


def _of_design(fit: FittedRanker, new: Design) -> Any:
    """The method of the fit; the options of random effects go with these."""
    if fit.design.sample.rows.random is None or new.sample.rows.random is not None:
        return fit.method
    return cast(Any, fit.method).without_random_effects()


def kept_covariance(fit: FittedRanker, design: Design, data: Any) -> Any:
    """The covariance asked for at the fit, for the rows of a new design.

    Raises
    ------
    DataError
        Clusters that were given as values, and rows that the fit had not.
    """
    chosen = getattr(fit, "robust", None)
    if chosen is None or chosen.survey is not None or design.survey is not None:
        return None
    if chosen.cluster is None:
        return chosen.name
    if chosen.cluster is fit.design.sample.cluster:
        return chosen.name if design.sample.cluster is not None else None
    kind = "CR2" if chosen.name == "CR2" else "CR1"
    return {"cluster": _kept_clusters(fit, chosen, design, data), "type": kind}


def _kept_clusters(fit: FittedRanker, chosen: Any, design: Design, data: Any) -> Any:
    """The column of the clusters, or their values at the rows of the new design."""
    old = fit.design.index
    if isinstance(chosen.given, str) and (data is not None or not design.index.equals(old)):
        return chosen.given
    if design.index.equals(old):
        return chosen.cluster
    if not (old.is_unique and design.index.isin(old).all()):
        raise DataError(
            "vcov has the clusters of the rows of the fit as values, and update has other rows: give "
            "vcov={'cluster': ...} for these, or vcov='model'."
        )
    return chosen.cluster[old.get_indexer(design.index)]


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
