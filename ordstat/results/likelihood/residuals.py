"""Residuals, influence and discrimination of a likelihood fit, as pandas."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd

from ...assess.likelihood.discrimination import Discrimination, discrimination
from ...assess.likelihood.influence import influence
from ...assess.likelihood.residuals import RESIDUAL_TYPES, residuals
from ...checks import generator, one_of
from ...exceptions import DataError
from ...model.likelihood.cumulative import CumulativeRule
from ..report.render import Summary
from ..report.report import Report, Table

if TYPE_CHECKING:
    from .results import LikelihoodResults


def residual_series(r: LikelihoodResults, type: str, seed: int | np.random.Generator) -> pd.Series:
    """Residuals on the index of the fit."""
    one_of("type", type, RESIDUAL_TYPES)
    values = residuals(_rule(r), r.design.sample, type, generator(seed))
    return pd.Series(values, index=r.design.index, name=type)


def _rule(r: LikelihoodResults) -> CumulativeRule:
    return cast(CumulativeRule, r.fit.rule)


# Influence


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Influence:
    """What every row does to the estimates; shown as a table of the rows of largest Cook's distance.

    Attributes
    ----------
    hat : (N,) series
        Leverage: the row's share of the information; the sum is the number of parameters. With scale effects or
        cauchit it may be negative.
    dfbeta : (N, P) frame
        Estimates less the estimates without the row, by one step; NaN of aliased parameters and of the thresholds
        beside a level that has no other row.
    dfbetas : (N, P) frame
        The same in standard errors.
    cooks : (N,) series
        Cook's distance: dfbeta' (inverse covariance) dfbeta / number of parameters.
    """

    hat: pd.Series
    dfbeta: pd.DataFrame
    dfbetas: pd.DataFrame
    cooks: pd.Series

    def largest(self, n: int = 10) -> pd.DataFrame:
        """The n rows of largest Cook's distance: columns cooks, hat, and dfbetas of every parameter."""
        order = np.argsort(-self.cooks.to_numpy(), kind="stable")[:n]
        return pd.concat([self.cooks, self.hat, self.dfbetas], axis=1).iloc[order]

    def __repr__(self) -> str:
        return repr(self._summary)

    def _repr_html_(self) -> str:
        return self._summary._repr_html_()

    @property
    def _summary(self) -> Summary:
        frame = self.largest()
        header = (("Rows", len(self.hat)), ("Sum of leverages", float(self.hat.sum())))
        table = Table(title="Largest Cook's distances, with leverage and dfbetas", frame=frame.iloc[:, :8])
        return Summary(Report(title="Influence of single rows on the estimates", header=header, tables=(table,)))


def influence_of(r: LikelihoodResults) -> Influence:
    """`LikelihoodResults.influence`."""
    finite_only(r, "influence()")
    found = influence(_rule(r), r.fit, r.design.sample)
    index, names = r.design.index, r.parameters.names
    errors = np.full(r.fit.aliased.size, np.nan)
    errors[~r.fit.aliased] = np.sqrt(r.fit.information.variances())
    return Influence(
        hat=pd.Series(found.leverage, index=index, name="hat"),
        dfbeta=pd.DataFrame(found.dfbeta, index=index, columns=names),
        dfbetas=pd.DataFrame(found.dfbeta / errors, index=index, columns=names),
        cooks=pd.Series(found.cook, index=index, name="cooks"),
    )


def finite_only(r: LikelihoodResults, what: str) -> None:
    """Refuse a separated fit."""
    if r.fit.separation is not None:
        raise DataError(
            f"{what} needs finite estimates, and the response of this fit is separated (see .alerts()): merge levels, "
            "drop the column, or use a penalty."
        )


def penalised(r: LikelihoodResults) -> bool:
    """Whether the estimates maximise something else than the likelihood."""
    return any(label == "penalty" for label, _ in r.fit.facts)


# Discrimination


def discrimination_series(r: LikelihoodResults) -> pd.Series:
    """`LikelihoodResults.discrimination`."""
    found: Discrimination = discrimination(_rule(r), r.fit, r.design.sample)
    return pd.Series(astuple(found), index=[field.name for field in fields(found)], name="value", dtype=np.float64)
