"""What every group does to the estimates of a fit with random effects: fits without it, or one step towards them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ...._typing import FloatArray, IntArray
from ....checks import one_of
from ....exceptions import DataError, OptionError
from ....model.random_effects import splits
from ...report.noted import NotedFrame
from ...report.render import Report, Reported, Table
from ..fitted import FittedLikelihood
from ..single_terms import unstarted
from .new_groups import without_empty_groups
from .parameters import RandomParameters

#: Up to so many groups are left out by fitting again if nothing is said.
FEW = 50
#: Eigenvalues of a correlation that are less than this part of the largest are 0 but for rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GroupInfluence(Reported):
    """What every group does to the estimates; shown as a table of the groups of largest Cook's distance.

    Attributes
    ----------
    dfbeta : (G, P) frame
        Estimates less the estimates without the group, standard deviations and correlations with them; NaN where there
        are none without it.
    dfbetas : (G, P) frame
        The same in standard errors.
    cooks : (G,) series
        Cook's distance: dfbeta' (inverse covariance) dfbeta / number of free parameters, those directions that the
        covariance has a variance in; parameters at a boundary are left out.
    rows : (G,) series
        Sum of the weights of each group.
    refit : bool
        Whether the fits without a group were made; else one Newton step from the estimates stands for them.
    n_thresholds : int
        How many parameters, the first ones, are thresholds and nominal effects.
    """

    dfbeta: pd.DataFrame
    dfbetas: pd.DataFrame
    cooks: pd.Series
    rows: pd.Series
    refit: bool
    n_thresholds: int

    def largest(self, n: int = 10) -> pd.DataFrame:
        """The n groups of largest Cook's distance: columns cooks, rows, and dfbetas of every parameter.

        Those of thresholds come last.
        """
        order = np.argsort(-np.nan_to_num(self.cooks.to_numpy(), nan=np.inf), kind="stable")[:n]
        turned = np.roll(np.arange(self.dfbetas.shape[1]), -self.n_thresholds)
        frame = pd.concat([self.cooks, self.rows, self.dfbetas.iloc[:, turned]], axis=1).iloc[order]
        return NotedFrame.of(frame, title="Groups of the largest Cook's distances, with dfbetas")

    def report(self) -> Report:
        """The groups of largest Cook's distance, as data."""
        how = "fits without each group" if self.refit else "one Newton step, exact score and curvature of the group"
        shown = self.largest().iloc[:, :6]
        table = Table(title="Largest Cook's distances, with dfbetas", frame=shown, formats={"rows": ".6g"})
        header = (("Groups", f"{len(self.cooks)} of {self.cooks.index.name}"), ("By", how))
        lost = int(self.cooks.isna().sum())
        why = "the others leave an estimate open" if len(self.cooks) > 2 else "the other is alone, and has no variance"
        notes = (f"NA of {lost} groups: without one of them {why}.",) if lost else ()
        return Report(title="Influence of whole groups on the estimates", header=header, tables=(table,), notes=notes)


def influence_of_groups(r: FittedLikelihood, group: str | None, refit: bool | None) -> GroupInfluence:
    """`influence` of a fit with random effects; see there."""
    random = r.design.sample.rows.random
    assert random is not None
    names = [term.group for term in r.design.random]
    one_of("group", group, (*dict.fromkeys(names), None))
    place = _outermost(r) if group is None else names.index(group)
    term = random.terms[place]
    whole = not any(splits(random, term.codes))
    chosen = (not whole or term.n_groups <= FEW) if refit is None else refit
    if not whole and not chosen:
        raise OptionError(
            f"refit must be left out, or True, for group={names[place]!r}, whose rows share random effects with "
            "others: the likelihood has no part of its own for them."
        )
    moved = _refits(r, term.codes, term.n_groups) if chosen else _steps(r, term.codes, term.n_groups)
    weights = np.bincount(term.codes, r.design.sample.case_weights, minlength=term.n_groups)
    index = pd.Index(r.design.random[place].groups, name=names[place])
    return _figures(r, moved, pd.Series(weights, index=index, name="rows"), chosen)


def _outermost(r: FittedLikelihood) -> int:
    """Place of the term of the fewest groups that hold whole groups of all others; of most groups where none does."""
    random = r.design.sample.rows.random
    assert random is not None
    sizes = [term.n_groups for term in random.terms]
    whole = [k for k, term in enumerate(random.terms) if not any(splits(random, term.codes))]
    return max(whole, key=sizes.__getitem__) if whole else int(np.argmax(sizes))


def _figures(r: FittedLikelihood, moved: FloatArray, rows: pd.Series, refit: bool) -> GroupInfluence:
    random = r.random_parameters
    assert random is not None
    names = [*r.parameters.names, *random.names]
    covariance = r.vcov("model").reindex(index=names, columns=names).to_numpy()
    errors = np.sqrt(np.diag(covariance))
    known = np.isfinite(errors)
    cooks = _distances(np.nan_to_num(moved[:, known]), covariance[np.ix_(known, known)])
    lost = np.isnan(moved[:, known]).any(axis=1)
    dfbeta = pd.DataFrame(moved, index=rows.index, columns=names)
    return GroupInfluence(
        dfbeta=dfbeta,
        dfbetas=dfbeta.div(errors, axis="columns"),
        cooks=pd.Series(np.where(lost, np.nan, cooks), index=rows.index, name="cooks"),
        rows=rows,
        refit=refit,
        n_thresholds=r.fit.n_alpha,
    )


def _distances(moved: FloatArray, covariance: FloatArray) -> FloatArray:
    """(G,) Cook's distances in the directions that have variance: fewer than parameters where Lambda is singular.

    NaN where there are none.
    """
    if covariance.size == 0:
        return np.full(len(moved), np.nan)
    scale = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    kept = values > _ROUNDING * values[-1]
    along = (moved / scale) @ vectors[:, kept]
    return np.asarray((along**2 / values[kept]).sum(axis=1) / np.count_nonzero(kept))


def _steps(r: FittedLikelihood, codes: IntArray, size: int) -> FloatArray:
    """(G, P) by one step each; NaN of aliased parameters, and where a single group is left, which has no variance."""
    random, marginal = r.random_parameters, r.fit.marginal
    assert random is not None and marginal is not None
    if size < 3:
        return np.full((size, r.fit.aliased.size + random.estimates.size), np.nan)
    moved = marginal.likelihood.moved_by(codes, size)
    fixed = np.full((size, r.fit.aliased.size), np.nan)
    fixed[:, ~r.fit.aliased] = moved[:, : marginal.n_fixed]
    return np.hstack([fixed, moved[:, marginal.n_fixed :] @ random.slopes.T])


def _refits(r: FittedLikelihood, codes: IntArray, size: int) -> FloatArray:
    """(G, P) by fits without each group; NaN where there is none."""
    every = _estimates(r)
    return np.stack([every - _without(r, codes != group, every.size) for group in range(size)])


def _without(r: FittedLikelihood, kept: Any, size: int) -> FloatArray:
    sample = without_empty_groups(r.design.sample.take(np.flatnonzero(kept)))
    assert sample.rows.random is not None
    if min(term.n_groups for term in sample.rows.random.terms) < 2:  # a single group has no variance
        return np.full(size, np.nan)
    try:
        fit = unstarted(r).fit(sample, np.random.default_rng(0))
    except DataError:
        return np.full(size, np.nan)
    if not fit.certificate.reached or fit.separation is not None:
        return np.full(size, np.nan)
    return _estimates(replace(r, fit=fit))


def _estimates(r: FittedLikelihood) -> FloatArray:
    random: RandomParameters | None = r.random_parameters
    assert random is not None
    return np.concatenate([r.fit.coefficients, random.estimates])
