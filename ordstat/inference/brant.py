"""Brant's test of proportional odds: whether the binary regressions at all thresholds
are parallel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..exceptions import DataError
from ..formula.sample import Rows, Sample
from ..likelihood.family import both_tails
from ..likelihood.fit import LikelihoodFit
from ..likelihood.links import Link
from ..likelihood.rule import LikelihoodRule
from ..likelihood.unavailable import check_available
from ..report.frames import NotedFrame
from .proportionality import (
    OMNIBUS,
    among_present,
    estimated_columns,
    many_scarce_levels,
    without_statistic,
)
from .wald import chi2_frame, wald_test

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


def brant_tests(r: LikelihoodResults) -> pd.DataFrame:
    """Brant's test of proportional odds: are the K-1 separate regressions of "above
    level k" parallel?
    """
    check_available(r, "brant()")
    r = among_present(r)
    r.family.require_latent("brant")
    if scarce := many_scarce_levels(r):
        raise DataError(
            f"brant() fits a regression at each of {len(r.levels) - 1:,} thresholds,"
            f" and {scarce}. Use score_test(), or cut the response into a few classes."
        )
    estimated = estimated_columns(r)
    X = np.ascontiguousarray(r.design.sample.rows.X[:, estimated])
    fits, notes = _binary_fits(r, replace(r.design.sample.rows, X=X))
    position = np.cumsum(estimated) - 1
    columns = {
        term: position[of_term][estimated[of_term]]
        for term, of_term in r.design.terms.items()
    }
    columns[OMNIBUS] = np.arange(X.shape[1])
    if notes:
        table = chi2_frame(columns, [(np.nan, 0)] * len(columns))
    else:
        table = _brant_frame(r, X, fits, columns)
    lacking = without_statistic(table)
    if lacking and not notes:
        notes = [
            f"no test of {', '.join(lacking)}: the combined covariance of the"
            f" {len(fits)} binary regressions is not positive definite. Use"
            " nominal_test() or score_test()."
        ]
    return NotedFrame.of(
        table, notes, "Brant's tests of proportional odds", labels=r.names_shown()
    )


def _binary_fits(
    r: LikelihoodResults, rows: Rows
) -> tuple[list[LikelihoodFit], list[str]]:
    """One regression of "above level k" per threshold, and notes on those without
    finite estimates.
    """
    fits = []
    notes = []
    sample: Sample = r.design.sample
    # a K x K cost does not fit two levels
    method = r.method.unstarted().with_cost("classification")
    for k, name in enumerate(r.threshold_names):
        above = replace(
            sample, rows=rows, y=(sample.y > k).astype(np.intp), n_levels=2, costs=None
        )
        fit = method.fit(above, np.random.default_rng(0))
        if (
            fit.separation is not None
            or fit.aliased.any()
            or not fit.certificate.reached
        ):
            notes.append(
                f"no test: the binary regression at {name} has no finite estimates. Use"
                " score_test()."
            )
        fits.append(fit)
    return fits, notes


def _brant_frame(
    r: LikelihoodResults,
    X: FloatArray,
    fits: list[LikelihoodFit],
    columns: dict[str, Any],
) -> pd.DataFrame:
    sample: Sample = r.design.sample
    link = cast(LikelihoodRule, fits[0].rule).link
    eta = np.column_stack([fit.coefficients[0] - fit.scores for fit in fits])
    covariance = _stacked_covariance(
        link, np.hstack([np.ones((sample.n, 1)), -X]), eta, sample.case_weights
    )
    estimates = np.concatenate([fit.coefficients for fit in fits])
    # first minus each other fit
    differences = np.column_stack([np.ones((len(fits) - 1, 1)), -np.eye(len(fits) - 1)])
    L = {
        name: np.kron(differences, np.eye(1 + X.shape[1])[1 + chosen])
        for name, chosen in columns.items()
    }
    table = chi2_frame(
        L,
        [
            wald_test(rows @ estimates, rows @ covariance @ rows.T)
            for rows in L.values()
        ],
    )
    slopes = {
        f"at {name}": fit.coefficients[1:].tolist()
        for name, fit in zip(r.threshold_names, fits, strict=True)
    }
    table.attrs["coefficients"] = slopes
    return table


def _stacked_covariance(
    link: Link, X: FloatArray, eta: FloatArray, weights: FloatArray
) -> FloatArray:
    """Joint covariance of the estimates of K-1 binary regressions of the same rows.

    With F_k = F(eta_k) and f_k = F'(eta_k), rows (1, -x), A_k = sum v f_k^2 / (F_k (1 -
    F_k)) x x' and, for k <= l, M_kl = sum v f_k f_l F_k (1 - F_l) / (F_k (1 - F_k) F_l
    (1 - F_l)) x x', the blocks are A_k^-1 M_kl A_l^-1 [Brant 1990, eq. for the logit
    link, where f = F (1 - F)].

    Parameters
    ----------
    link : Link
    X : (N, 1 + p)
        Derivatives of eta_k by (theta_k, beta_k).
    eta : (N, K-1)
        theta_k - x'beta_k of each binary fit.
    weights : (N,)

    Returns
    -------
    ((K-1) (1+p), (K-1) (1+p)), regression by regression
    """
    n_cuts = eta.shape[1]
    width = X.shape[1]
    below = link.cdf(eta)
    above = link.sf(eta)
    density = link.pdf(eta)
    upper, lower = both_tails(link, eta)
    # f / F + f / (1 - F), accurate in the tails too
    slope = (upper.b + lower.a).reshape(eta.shape)
    inverse = [
        np.linalg.inv(_gram(X, weights * slope[:, k] * density[:, k]))
        for k in range(n_cuts)
    ]
    full = np.empty((n_cuts, width, n_cuts, width))
    for k in range(n_cuts):
        for other in range(k, n_cuts):
            middle = _gram(
                X,
                weights * slope[:, k] * slope[:, other] * below[:, k] * above[:, other],
            )
            block = inverse[k] @ middle @ inverse[other]
            full[k, :, other], full[other, :, k] = block, block.T
    return full.reshape(n_cuts * width, n_cuts * width)


def _gram(X: FloatArray, weights: FloatArray) -> FloatArray:
    return (X * weights[:, None]).T @ X
