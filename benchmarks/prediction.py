"""Predicting very many rows with 2000 stumps, or perceptrons: against a loop over them
and scikit-learn's AdaBoost.

What it should reach: 1e6 rows x 16 columns with 2000 stumps in 1.2 s.
"""

from __future__ import annotations

import numpy as np

from benchmarks.data import smooth_utility
from benchmarks.timing import Contestant, Timed, ratio, rounds
from ordstat import ORBoost
from ordstat.boosting.sums import StumpSum
from ordstat.fit import Fit
from ordstat.formula.sample import Rows, Sample

N = 6000
D = 16
K = 10
#: Peers do their share of the rows, for they would take minutes; their seconds are of
#: that share.
SHARE = 50


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row per contestant: the fastest of five rounds, and the median ratio of the
    time a row to that of ordstat.
    """
    n, T = (100_000, 200) if quick else (1_000_000, 2000)
    X, y = smooth_utility(N, K, D)
    new = np.random.default_rng(3).standard_normal((n, D))
    sample = Sample(rows=Rows(X=X), y=y, n_levels=K)
    shown: list[dict[str, object]] = []
    for learner, made in (("stump", T), ("perceptron", T // 10)):
        fit = ORBoost(rounds=made, learner=learner).fit(
            sample, np.random.default_rng(0)
        )
        field: dict[str, tuple[Contestant, int]] = {"ordstat": (_ranks(fit, new), n)}
        if learner == "stump":
            few = new[: n // SHARE]
            field |= {
                "NumPy loop over the stumps": (_loop(fit, few), len(few)),
                "scikit-learn AdaBoost": (_peer(X, y, few, made), len(few)),
            }
        taken = rounds([contestant for contestant, _ in field.values()], 5)
        shown += [
            {
                "weak learners": f"{made} {learner}s",
                "contestant": name,
                "rows": rows,
                "seconds": min(taken[name]),
                "rows a second": rows / min(taken[name]),
                "over ordstat, a row": ratio(taken, name, "ordstat") * n / rows,
            }
            for name, (_, rows) in field.items()
        ]
    return shown


def _ranks(fit: Fit, new: np.ndarray) -> Timed:
    return Timed("ordstat", lambda: fit.rule.codes(Rows(X=new)))


def _loop(fit: Fit, new: np.ndarray) -> Timed:
    """One stump after the other over all rows."""
    stumps: StumpSum = fit.rule.potential  # type: ignore[attr-defined]
    theta = fit.rule.theta  # type: ignore[attr-defined]

    def predict() -> np.ndarray:
        scores = np.zeros(len(new))
        for column, cut, height in zip(
            stumps.columns, stumps.cuts, stumps.round_weights, strict=True
        ):
            scores += height * np.where(new[:, column] > cut, 1.0, -1.0)
        return np.searchsorted(theta, scores, side="left")

    return Timed("NumPy loop over the stumps", predict)


def _peer(X: np.ndarray, y: np.ndarray, new: np.ndarray, made: int) -> Timed:
    """As many depth-1 trees for two levels: a tenth of them, and their seconds ten
    times.
    """
    from sklearn.ensemble import AdaBoostClassifier

    tenth = AdaBoostClassifier(n_estimators=max(made // 10, 1), random_state=0).fit(
        X, y > K // 2
    )
    return Timed(
        "scikit-learn AdaBoost", lambda: [tenth.predict(new) for _ in range(10)]
    )
