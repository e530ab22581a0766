"""Predictions that know further rows, of groups of the fit or of new ones: modes are sought anew, estimates stay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from ...._typing import BoolArray, IntArray
from ....exceptions import DataError, OptionError
from ....model.random_effects import RandomRows
from ....model.sample import Rows, Sample
from ...target import Target
from ..fitted import FittedLikelihood
from ..standard_errors import places


def with_rows(r: FittedLikelihood, given: Any, newdata: Any, target: Target) -> tuple[FittedLikelihood, Target]:
    """The fit with modes by its own rows and the given ones, and rows to predict with the groups that it has then.

    Parameters
    ----------
    r : LikelihoodResults
    given : data frame
        With the response.
    newdata : data frame or None
    target : Target
        Its rows.

    Raises
    ------
    OptionError
        Groups of a given covariance.
    DataError
        No given row has the response and all inputs, or a threshold is infinite.
    """
    sample, marginal = r.design.sample, r.fit.marginal
    assert marginal is not None and sample.rows.random is not None
    if any(term.root is not None for term in sample.rows.random.terms):
        raise OptionError("given must be left out where cov= makes groups depend on each other: fit to all rows.")
    if not np.isfinite(r.rule.alpha).all():
        raise DataError("given must go with a fit whose levels all have rows; one of its thresholds is infinite.")
    new, y = r.design.spec.rebuild(given), r.design.spec.response(given)
    complete = new.complete & (y >= 0)
    if not complete.any():
        raise DataError("given has no row with the response and all inputs present.")
    rows = new.rows.take(complete[new.complete])
    known, asked = _groups(r, (given, complete, rows), (newdata, target.complete, target.rows))
    further = Sample(rows=_regrouped(rows, known), y=y[complete], n_levels=sample.n_levels)
    likelihood = cast(Any, r.fit.likelihood).with_rows(r.rule, places(r.fit, r.rule), _estimates(r), sample, further)
    if likelihood is None:
        raise DataError("The modes of the random effects cannot be found with the rows of given.")
    fit = replace(r.fit, marginal=replace(marginal, likelihood=likelihood))
    return replace(r, fit=fit), replace(target, rows=_regrouped(target.rows, asked))


def _estimates(r: FittedLikelihood) -> Any:
    return r.fit.coefficients[~r.fit.aliased]


def _regrouped(rows: Rows, codes: list[IntArray]) -> Rows:
    assert rows.random is not None
    pairs = zip(rows.random.terms, codes, strict=True)
    return replace(rows, random=RandomRows(tuple(replace(term, codes=own) for term, own in pairs)))


#: Data, which of its rows are complete, and those.
_Part = tuple[Any, BoolArray, Rows]


def _groups(r: FittedLikelihood, given: _Part, asked: _Part) -> tuple[list[IntArray], list[IntArray]]:
    """Groups of the given rows and of those to predict, new ones after those of the fit; -1 without any row."""
    found: tuple[list[IntArray], list[IntArray]] = [], []
    for k, term in enumerate(r.design.random):
        codes = [_codes(part, k) for part in (given, asked)]
        if asked[0] is None:  # rows of the fit
            ids = [term.apart(given[0], given[1]), np.zeros(codes[1].size, dtype=np.intp)]
        else:
            ids = np.split(term.apart_in_both(given[:2], asked[:2]), [codes[0].size])
        new = np.unique(ids[0][codes[0] < 0])
        for code, own, out in zip(codes, ids, found, strict=True):
            place = np.minimum(np.searchsorted(new, own), max(new.size - 1, 0))
            there = (code < 0) & (new[place] == own if new.size else False)
            out.append(np.where(there, term.cells.size + place, code).astype(np.intp))
    return found


def _codes(part: _Part, k: int) -> IntArray:
    random = part[2].random
    assert random is not None
    return random.terms[k].codes
