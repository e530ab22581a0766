"""How far a vote of decision stumps and thresholds is from a prior over them that is fixed before the rows are.

Half of the prior is the thresholds', each with either sign; half the stumps': a column or none at all (the constant),
a sign, and two rows, between whose values the cut is. A vote is free to name its two rows at random among those that
give the cut, so that n_low n_high of the N^2 pairs of rows count for a cut between two values of so many rows: columns
of few values have cheap stumps.
"""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray
from ...learners.stump import middle
from ...model.ensembles.ensembles import StumpSum
from ...model.sample import Sample


def vote_divergence(potential: StumpSum, theta: FloatArray, sample: Sample) -> float:
    """Divergence of the vote, in nats, from the prior: what one voter drawn from it costs.

    NaN where a cut is not the middle of two neighbouring values, as of stumps that have seen some of the rows alone.

    Parameters
    ----------
    potential : StumpSum
    theta : (K-1,)
    sample : Sample
        The rows of the fit.
    """
    columns, cuts, weights = _merged(potential)
    log_half = float(np.log(0.5))
    prior = log_half - np.log(2.0 * (sample.X.shape[1] + 1)) + _log_pairs(columns, cuts, sample)
    of_thresholds = np.full(theta.size, log_half - np.log(2.0 * theta.size))
    sizes = np.concatenate((np.abs(weights), np.abs(theta)))
    share = sizes / (sizes.sum() or 1.0)
    some = share > 0
    return float(share[some] @ (np.log(share[some]) - np.concatenate((prior, of_thresholds))[some]))


def _merged(potential: StumpSum) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Columns, cuts and weights of the different stumps; one of either sign is another."""
    constant = np.isinf(potential.cuts)
    keys = np.column_stack(
        (np.where(constant, -1, potential.columns), potential.cuts, np.sign(potential.round_weights))
    )
    different, place = np.unique(keys, axis=0, return_inverse=True)
    weights = np.bincount(place.ravel(), weights=np.abs(potential.round_weights), minlength=len(different))
    return different[:, 0], different[:, 1], np.asarray(weights, dtype=np.float64)


def _log_pairs(columns: FloatArray, cuts: FloatArray, sample: Sample) -> FloatArray:
    """Logarithm of the share of pairs of rows that a cut is the middle of; 0 of a constant."""
    weights, n = sample.case_weights, sample.case_weights.sum()
    found = np.zeros(cuts.size)
    for at in np.flatnonzero(columns >= 0):
        x = sample.X[weights > 0, int(columns[at])]
        own, below = weights[weights > 0], x <= cuts[at]
        low, high = x[below].max(), x[~below].min()
        pairs = np.log(own[x == low].sum()) + np.log(own[x == high].sum())
        found[at] = pairs - 2.0 * np.log(n) if cuts[at] == middle(float(low), float(high)) else np.nan
    return found
