"""Rao and Scott's tests between survey fits: likelihood ratios of the weights, corrected for the design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from ..._typing import FloatArray, IntArray
from ...assess.likelihood.rao_scott import eigenvalues, rao_scott_tail
from ...exceptions import OptionError
from ..report.noted import NotedFrame
from .comparison import described
from .fitted import FittedLikelihood
from .nested_wald import check_droppable, check_nested, dropped_hypothesis, further

#: The name of the test.
RAO_SCOTT = "rao-scott"


def is_rao_scott(r: FittedLikelihood, test: str | None) -> bool:
    """Whether it is asked for; OptionError where a fit has no survey design."""
    if test != RAO_SCOTT:
        return False
    if r.design.survey is None:
        raise OptionError(
            "test='rao-scott' takes fits with a survey design, ordfit(..., design=SurveyDesign(...)): use test='Wald'."
        )
    return True


def dropped_by_rao_scott(r: FittedLikelihood, logliks: Mapping[str, float]) -> pd.DataFrame:
    """Each term taken out; `logliks` are those of the models without them, NaN where there is no maximum."""
    check_droppable(r, logliks)
    rows = {term: _tested(r, dropped_hypothesis(r, r.design.terms[term]), loglik) for term, loglik in logliks.items()}
    return _table(r, rows, "Rao-Scott tests of dropping single terms")


def rao_scott_comparison(fits: Sequence[FittedLikelihood]) -> pd.DataFrame:
    """Each fit against the next larger one."""
    ordered = sorted(fits, key=lambda fit: fit.edf)
    for fit in ordered:
        if fit.method.penalty is not None:
            raise OptionError(f"test='rao-scott' compares maxima; {described(fit)!r} is penalised: use test='Wald'.")
    rows = {}
    for place, (small, large) in enumerate(pairwise(ordered), start=1):
        check_nested(small, large)
        rows[str(place)] = _tested(large, _zero(large, further(small, large)), _loglik(small))
    table = _table(ordered[-1], rows, "Rao-Scott tests between nested models")
    whole = table.reindex([str(place) for place in range(len(ordered))])
    whole.index = pd.Index([described(fit) for fit in ordered])  # which may be equal
    whole.insert(0, "no_par", [fit.edf for fit in ordered])
    return NotedFrame.of(whole, table.attrs["notes"], table.attrs["title"])


def _loglik(r: FittedLikelihood) -> float:
    return float("nan") if r.fit.separation is not None else r.loglik


def _zero(large: FittedLikelihood, places: IntArray) -> FloatArray:
    """(h, P') the parameters at some places are 0."""
    estimated = np.flatnonzero(~large.fit.aliased)
    return np.eye(estimated.size)[np.isin(estimated, places)]


def _tested(large: FittedLikelihood, L: FloatArray, small: float) -> dict[str, float]:
    """The likelihood ratio of the larger fit over the smaller one, in which L (h, P') times the estimates is 0."""
    errors = large.se.to_numpy()[~large.fit.aliased]
    known = len(L) > 0 and np.isfinite(small) and np.isfinite(errors[(L != 0.0).any(axis=0)]).all()
    lambdas = eigenvalues(L, large.fit.information.covariance(), large.vcov().to_numpy()) if known else np.zeros(0)
    ratio = 2.0 * (large.loglik - small) if lambdas.size else np.nan
    return {
        "df": len(L),
        "df_resid": large.design_df,
        "chisq": ratio,
        "deff": float(lambdas.mean()) if lambdas.size else np.nan,
        "p_value": rao_scott_tail(ratio, lambdas, large.design_df),
    }


def _table(r: FittedLikelihood, rows: dict[str, dict[str, float]], title: str) -> pd.DataFrame:
    table = pd.DataFrame.from_dict(rows, orient="index").astype({"df": int})
    lacking = table.index[table["p_value"].isna()]
    notes = [
        "chisq is twice the difference of the weighted log-likelihoods, weights of mean 1; deff, the mean of what the "
        "design multiplies its parts by, is 1 for independent rows [Rao & Scott 1984; Lumley & Scott 2014].",
        *(
            f"no test of {name}: estimates are infinite, aliased or none, or aliased columns take its effect over."
            for name in lacking
        ),
    ]
    return NotedFrame.of(table, notes, f"{title}, {r.own_covariance.words}")
