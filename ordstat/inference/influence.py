"""Influence of single rows on the estimates: leverage, dfbeta and Cook's distance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import whole
from ..exceptions import UnavailableError
from ..formula.row_blocks import row_blocks
from ..formula.sample import Sample
from ..likelihood.fit import LikelihoodFit
from ..likelihood.parameters import with_aliased
from ..likelihood.rule import LikelihoodRule
from ..likelihood.scores import fit_jacobian, rule_terms
from ..likelihood.unavailable import check_available
from ..report.frames import NotedFrame
from ..report.render import Report, Reported, Table

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults

#: Number of doubles in memory at a time, besides the output.
_BUFFER = 1 << 20
#: Shares of the information left without a row (a determinant) up to this count as 0.
_ALONE = 1e-10


class RowInfluence(NamedTuple):
    """Influence measures of every row.

    Attributes
    ----------
    leverage : (N,)
    dfbeta : (N, P)
        Estimates minus the estimates without the row; NaN for aliased parameters, for
        the thresholds next to a level without another row, and for rows whose removal
        leaves some estimates undetermined.
    cook : (N,)
    """

    leverage: FloatArray
    dfbeta: FloatArray
    cook: FloatArray


def row_influence(
    rule: LikelihoodRule, fit: LikelihoodFit, sample: Sample
) -> RowInfluence:
    """Influence of every row of the fit.

    Parameters
    ----------
    rule : LikelihoodRule
        Rule of the fit.
    fit : LikelihoodFit
    sample : Sample
        Sample of the fit.
    """
    kept = ~fit.aliased
    estimated = fit.model_covariance.dense()
    V = np.zeros((kept.size, kept.size))
    V[np.ix_(kept, kept)] = estimated
    blocks = row_blocks(sample.n, 3 * kept.size, _BUFFER)
    parts = [_influence_of_some(rule, fit, sample.take(some), V) for some in blocks]
    dfbeta = np.concatenate([moved for _, moved in parts])
    precise = np.linalg.solve(estimated, dfbeta[:, kept].T)
    cook = np.einsum("np,pn->n", dfbeta[:, kept], precise) / np.count_nonzero(kept)
    dfbeta[:, ~kept] = np.nan
    if fit.jacobian is None:
        _forget_thresholds(dfbeta[:, : fit.n_alpha], sample)
    return RowInfluence(
        leverage=np.concatenate([leverage for leverage, _ in parts]),
        dfbeta=dfbeta,
        cook=cook,
    )


def _forget_thresholds(alpha: FloatArray, sample: Sample) -> None:
    """For the only row of a level, set the thresholds next to that level to NaN, in
    place.
    """
    K = sample.n_levels
    y = sample.y
    exact = sample.exact
    counts = np.bincount(y[exact], minlength=K)
    alone = np.flatnonzero(exact & (counts[y] == 1))
    for first in range(0, alpha.shape[1], K - 1):
        for threshold in (y[alone], y[alone] - 1):
            inner = (threshold >= 0) & (threshold < K - 1)
            alpha[alone[inner], first + threshold[inner]] = np.nan


def _influence_of_some(
    rule: LikelihoodRule, fit: LikelihoodFit, sample: Sample, V: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Leverage (n,) and dfbeta (n, P) of some rows; V has zeros where aliased."""
    terms = rule_terms(rule, sample, fit.flexible_layout.link, second=True)
    weights = sample.case_weights
    jacobian = fit_jacobian(fit, sample, terms)
    JV = jacobian.apply(V)
    M = jacobian.apply(np.eye(len(V))) @ np.moveaxis(JV, 1, 2)
    leverage = weights * np.einsum("ijn,nji->n", terms.second(), M)
    unit = np.eye(JV.shape[1])
    left = unit - weights[:, None, None] * (np.moveaxis(terms.smooth(), -1, 0) @ M)
    alone = np.linalg.det(left) <= _ALONE
    left[alone] = unit
    moved = np.linalg.solve(left, (weights * terms.score).T[:, :, None])[:, :, 0]
    moved[alone] = np.nan
    return leverage, np.einsum("ni,nip->np", moved, JV)


#: Parameters of which the printed table has a column.
_SHOWN = 6


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Influence(Reported):
    """Influence of every row on the estimates, printed as a table of the rows with the
    largest Cook's distances.

    Attributes
    ----------
    hat : (N,) series
        Leverage: the row's share of the information; the sum is the number of
        parameters. With scale effects or cauchit it may be negative.
    dfbeta : (N, P) frame
        Estimates minus the estimates without the row, by one Newton step; NaN for
        aliased parameters and for the thresholds next to a level without another row.
    dfbetas : (N, P) frame
        dfbeta divided by the standard errors.
    cooks : (N,) series
        Cook's distance: dfbeta' (inverse covariance) dfbeta / number of parameters.
    """

    hat: pd.Series
    dfbeta: pd.DataFrame
    dfbetas: pd.DataFrame
    cooks: pd.Series
    labels: Mapping[str, str]

    def largest(self, n: int = 10) -> pd.DataFrame:
        """The `n` rows with the largest Cook's distances, with columns cooks, hat, and
        the dfbetas of every parameter.
        """
        order = np.argsort(-self.cooks.to_numpy(), kind="stable")[: whole("n", n, 0)]
        frame = pd.concat([self.cooks, self.hat, self.dfbetas], axis=1).iloc[order]
        return NotedFrame.of(
            frame,
            title="Largest Cook's distances, with leverage and dfbetas",
            labels=self.labels,
        )

    def report(self) -> Report:
        """The rows with the largest Cook's distances, as data."""
        frame = self.largest()
        header = (("Rows", len(self.hat)), ("Sum of leverages", float(self.hat.sum())))
        moved = frame[self.dfbetas.columns].abs().max().fillna(0.0).to_numpy()
        most = np.sort(np.argsort(-moved, kind="stable")[:_SHOWN])
        note = ""
        if moved.size > _SHOWN:
            note = (
                f"The {_SHOWN} of {moved.size} parameters that these rows move most;"
                " all are in .dfbetas."
            )
        shown = pd.concat(
            [frame[["cooks", "hat"]], frame[self.dfbetas.columns[most]]], axis=1
        )
        table = Table(
            title="Largest Cook's distances, with leverage and dfbetas",
            frame=shown,
            note=note,
            labels=self.labels,
        )
        return Report(
            title="Influence of single rows on the estimates",
            header=header,
            tables=(table,),
        )


def influence_of(r: LikelihoodResults) -> Influence:
    """Leverage, dfbeta and Cook's distance of every row."""
    check_available(r, "influence()")
    if not r.level_counts.all():
        raise UnavailableError(
            "influence() needs rows of every level. Leave levels without rows out of"
            " levels=."
        )
    if np.isnan(r.fit.model_covariance.variances).all():
        raise UnavailableError(
            "influence() needs a covariance, and the likelihood has no maximum. Drop a"
            " scale effect or merge levels."
        )
    rows = row_influence(r.rule, r.fit, r.design.sample)
    index = r.design.index
    names = r.parameters.names
    errors = with_aliased(np.sqrt(r.fit.model_covariance.variances), r.fit)
    return Influence(
        hat=pd.Series(rows.leverage, index=index, name="hat"),
        dfbeta=pd.DataFrame(rows.dfbeta, index=index, columns=names),
        dfbetas=pd.DataFrame(rows.dfbeta / errors, index=index, columns=names),
        cooks=pd.Series(rows.cook, index=index, name="cooks"),
        labels=r.names_shown(),
    )
