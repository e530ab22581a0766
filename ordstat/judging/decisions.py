"""Predictions that optimise a measure over all rows: kappa, and macro-averaged errors.

A cost of single rows asks for the level of least expected cost in each row. Weighted
kappa is 1 - N / D with N the mean disagreement, sum_j P_ij W[j, r_i] over rows, and D
the mean of c[r_i], the disagreement c = W'q of a level with observed levels drawn by
their shares q. Its maximum over all predictions minimises N - lambda D at lambda =
N / D, which is again a cost of single rows, W[j, k] - lambda c[k] [Dinkelbach 1967].
Errors averaged over levels divide the costs of level j by K q_j.

References
----------
Cohen, J. (1968). Weighted kappa. Psychological Bulletin, 70, 213-220.

Dinkelbach, W. (1967). On nonlinear fractional programming. Management Science, 13,
492-498.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..exceptions import OptionError
from ..fit import CostRule, Fit
from ..formula.sample import Sample
from .costs import DECISIONS, CostMatrix, named_costs

#: Lambda falls in every round but the last ones, in which it moves by rounding.
_STEADY = 1e-12
_MOST_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class Decision:
    """Costs of single rows whose least expected cost optimises a measure over all rows.

    Attributes
    ----------
    name : str
        A key of DECISIONS.
    table : (K, K)
        Cost [true code, predicted code]; for kappa minus lambda times the disagreement
        expected by chance, so it can be negative.
    factor : float
        Lambda of kappa; NaN for the other decisions.
    """

    name: str
    table: FloatArray
    factor: float

    @property
    def label(self) -> str:
        """The name, and lambda if there is one."""
        if np.isnan(self.factor):
            return self.name
        return f"{self.name} (lambda {self.factor:.4g})"

    def matrix(self, n_levels: int) -> FloatArray:
        """(K, K) the table."""
        return self.table


def decision(
    name: str, probabilities: FloatArray, weights: FloatArray, shares: FloatArray
) -> Decision:
    """The decision for a measure.

    Parameters
    ----------
    name : str
        A key of DECISIONS.
    probabilities : (N, K)
        P(y = k) of training rows; only kappa uses them.
    weights : (N,) case weights
    shares : (K,)
        Shares of the levels in the training rows, summing to 1.

    Examples
    --------
    >>> from ordstat.fit import least_expected
    >>> P = np.array([[0.6, 0.4, 0.0], [0.3, 0.4, 0.3], [0.0, 0.4, 0.6]])
    >>> found = decision("kappa", P, np.ones(3), np.array([0.3, 0.4, 0.3]))
    >>> least_expected(P, found).tolist(), round(found.factor, 3)
    ([0, 1, 2], 0.368)
    """
    kind = DECISIONS[name]
    table = named_costs(kind.disagreement, shares.size)
    if not kind.by_chance:
        present = shares > 0.0
        scale = np.zeros(shares.size)
        scale[present] = 1.0 / (np.count_nonzero(present) * shares[present])
        return Decision(name, table * scale[:, None], float("nan"))
    chance = shares @ table
    factor = kappa_factor(probabilities, weights, table, chance)
    return Decision(name, table - factor * chance, factor)


def kappa_factor(
    probabilities: FloatArray,
    weights: FloatArray,
    disagreement: FloatArray,
    chance: FloatArray,
) -> float:
    """Lambda: the smallest ratio of expected disagreement to chance disagreement over
    all predictions of these rows, 1 minus the largest expected kappa.

    Parameters
    ----------
    probabilities : (N, K)
    weights : (N,) case weights
    disagreement : (K, K)
        W [true code, predicted code].
    chance : (K,)
        c, the mean disagreement of a level with observed levels.
    """
    expected = probabilities @ disagreement
    rows = np.arange(len(expected))
    factor = 1.0  # that of one level for all rows; of some rows it can be larger
    for _ in range(_MOST_ROUNDS):
        codes = np.argmin(expected - factor * chance, axis=1)
        by_chance = float(weights @ chance[codes])
        if by_chance <= 0.0:  # all training rows are at one level, and predicted there
            return factor
        smaller = float(weights @ expected[rows, codes]) / by_chance
        if smaller >= factor * (1.0 - _STEADY):
            return smaller
        factor = smaller
    return factor


def level_shares(sample: Sample) -> FloatArray:
    """(K,) shares of the levels among the rows whose level is known exactly."""
    weights = sample.case_weights
    if sample.highest is not None:
        weights = np.where(sample.exact, weights, 0.0)
    counts = np.bincount(sample.y, weights, sample.n_levels)
    return np.asarray(counts / counts.sum())


def resolved(cost: CostMatrix, fit: Fit, sample: Sample) -> CostMatrix | Decision:
    """A cost, or the decision that its name stands for, computed from the rows of a
    fit.
    """
    if not cost.decides:
        return cost
    rule: Any = fit.rule
    return decision(
        str(cost.value),
        rule.probabilities(sample.rows),
        sample.case_weights,
        level_shares(sample),
    )


def decided(fit: Any, cost: Any, sample: Sample) -> Any:
    """The fit with the rule that optimises the measure named by its cost; other fits
    are returned unchanged.
    """
    parsed = CostMatrix.parse(cost)
    rule = fit.rule
    if not parsed.decides or not isinstance(rule, CostRule):
        return fit
    return replace(fit, rule=rule.deciding(resolved(parsed, fit, sample)))


def decision_in_blocks(name: str) -> OptionError:
    """The error for a measure over all rows if data are in blocks."""
    return OptionError(
        f"cost={name!r} is found from the probabilities of all rows at once, and they"
        " are in blocks. Fit to rows in memory, or give a named cost or a matrix."
    )


#: What each measure of predicted levels is best decided by.
BEST: dict[str, str] = {
    "classification error": "classification",
    "absolute error": "absolute",
    "squared error": "squared",
    **{kind.measure: name for name, kind in DECISIONS.items()},
}


def best_decisions(fit: Fit, sample: Sample) -> dict[str, CostMatrix | Decision]:
    """For each measure the decision that optimises it, from the rows of a fit."""
    rule: Any = fit.rule
    probabilities = rule.probabilities(sample.rows)
    shares = level_shares(sample)
    found: dict[str, CostMatrix | Decision] = {}
    for measure, name in BEST.items():
        if name in DECISIONS:
            found[measure] = decision(name, probabilities, sample.case_weights, shares)
        else:
            found[measure] = CostMatrix(name)
    return found


def mean_decision(several: Sequence[Decision]) -> Decision:
    """The decision for several fits together, with the means of their tables and
    factors.
    """
    first = several[0]
    return Decision(
        first.name,
        np.mean([one.table for one in several], axis=0),
        float(np.mean([one.factor for one in several])),
    )
