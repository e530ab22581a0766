"""One fit as a column of a table: estimates with errors and limits where it has some, and figures of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...exceptions import OptionError
from ..likelihood.tables import ratio_of
from .labels import GROUPS

#: What `below` may show of a parameter, and the columns of `tidy` it is.
VALUES = {
    "estimate": "estimate",
    "std_error": "std_error",
    "lower": "conf_low",
    "upper": "conf_high",
    "p_value": "p_value",
}
#: Figures that compare likelihoods.
CRITERIA = ("aic", "bic")
#: Kinds of parameters whose exponents are ratios.
EXPONENTIATED = ("location", "nominal", "scale")


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelColumn:
    """One fit as a column.

    Attributes
    ----------
    parameters : pandas.DataFrame
        By (part, term): estimate, std_error, lower, upper, p_value; NaN where the fit has none. Estimates of a
        separated response are infinite.
    figures : mapping of str to float
        Those of `glance`, and the numbers of groups of random effects.
    response : str
    model : str
        Link or method, in a word or two.
    errors : str
        Which standard errors, in words; empty where there are none.
    ratio : str
        What exponents of location effects are; empty where these are not taken.
    without_aic : str
        Why the fit has no AIC and BIC; empty where it has.
    aliased, infinite, left_open : bool
        Whether there is no estimate of a parameter, no finite one, or none that separation determines.
    """

    parameters: pd.DataFrame
    figures: Mapping[str, float]
    response: str
    model: str
    errors: str
    ratio: str
    without_aic: str
    aliased: bool
    infinite: bool
    left_open: bool

    def lacks(self, figure: str) -> bool:
        """Whether a fit of this kind has no such figure."""
        return bool(self.without_aic) and figure in CRITERIA


def model_column(fit: Any, place: int, exponentiate: bool, level: float) -> ModelColumn:
    """The column of a fit.

    Raises
    ------
    OptionError
        It is no fit.
    """
    if not hasattr(fit, "summary") or not (hasattr(fit, "design") or hasattr(fit, "fits")):
        raise OptionError(
            f"fits must be fits, as ordfit returns them; number {place + 1} is a {type(fit).__name__}. "
            "Give them as table([fit1, fit2])."
        )
    one = fit.fits[0] if hasattr(fit, "fits") else fit  # of imputed data
    ratio = ratio_of(one) if exponentiate and hasattr(one, "family") else None
    parameters = _parameters(fit, level)
    return ModelColumn(
        parameters=parameters if ratio is None else _exponents(parameters, ratio[1]),
        figures=_figures(fit, one),
        response=one.design.response,
        model=_model(one),
        errors=_errors(fit),
        without_aic=getattr(fit, "without_aic", ""),
        aliased=bool(one.fit.aliased.any()) if hasattr(one.fit, "aliased") else False,
        infinite=bool(np.isinf(parameters["estimate"]).any()),
        left_open=bool(getattr(one.fit, "undetermined", None) is not None and one.fit.undetermined.any()),
        ratio="" if ratio is None else _named(*ratio),
    )


def _named(ratio: str, sign: float) -> str:
    """Ratios in the plural; other links and scale effects have exponents that are none."""
    if not ratio.endswith("ratio"):
        return "exponents of coefficients, which are no ratios of odds or hazards"
    return f"{ratio}s" + ", exp(-estimate)" * (sign < 0)


def _parameters(fit: Any, level: float) -> pd.DataFrame:
    """Estimates by part and term."""
    if not hasattr(fit, "tidy"):
        return pd.DataFrame(columns=list(VALUES), dtype=np.float64)
    tidy = pd.DataFrame(fit.tidy(level=level) if hasattr(fit, "se") else fit.tidy())
    frame = tidy.reindex(columns=list(VALUES.values())).set_axis(list(VALUES), axis=1).astype(np.float64)
    frame.index = pd.MultiIndex.from_arrays([tidy["coef_type"], tidy["term"]], names=["part", "term"])
    return frame


def _exponents(given: pd.DataFrame, sign: float) -> pd.DataFrame:
    """Exponents of effects, with standard errors by the delta method."""
    frame = given.copy()
    parts = frame.index.get_level_values("part")
    chosen = parts.isin(EXPONENTIATED)
    signs = np.where(parts == "location", sign, 1.0)[chosen, None]
    with np.errstate(over="ignore"):  # infinite, of a large coefficient
        found = np.exp(signs * frame.loc[chosen, ["estimate", "lower", "upper"]].to_numpy())
    frame.loc[chosen, "std_error"] *= found[:, 0]
    frame.loc[chosen, "estimate"] = found[:, 0]
    frame.loc[chosen, ["lower", "upper"]] = np.sort(found[:, 1:], axis=1)
    return frame


def _figures(fit: Any, one: Any) -> dict[str, float]:
    own = fit.glance().iloc[0].to_dict() if hasattr(fit, "glance") else {"nobs": one.nobs}
    groups = {f"{GROUPS}{term.group}": term.cells.size for term in one.design.random}
    return {name: float(value) for name, value in (own | groups).items() if _is_number(value)}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _model(one: Any) -> str:
    if not hasattr(one, "family"):
        return type(one.method).__name__
    link = str(one.family.link.name)
    return link if one.kind == "Cumulative link model" else f"{one.kind}, {link}"


def _errors(fit: Any) -> str:
    if hasattr(fit, "fits"):
        return f"Rubin's rules, {len(fit.fits)} imputations"
    return str(fit.own_covariance.words) if hasattr(fit, "own_covariance") else ""
