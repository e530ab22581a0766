"""ORBoost by the authors' own program `orensemble`, as skordinal carries it: `python
tests/boosting/authors.py`.

Writes authors.csv beside this file. Levels of unequal size, because with equal ones
every threshold is 0 before the first round of ORBoost-LR, many stumps are equally good,
and which of them is taken is a matter of taste.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

FILE = Path(__file__).with_suffix(".csv")
FORMS = {"full": "absolute", "lr": "classification"}
ROUNDS = 150
K = 6
SHOWN = 12


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """X (400, 5) and codes (400,) of six levels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((400, 5))
    utility = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.4 * rng.standard_normal(400)
    cuts = np.quantile(utility, np.sort(rng.uniform(0.05, 0.95, K - 1)))
    return X, np.searchsorted(cuts, utility).astype(np.intp)


def main() -> None:
    """Thresholds, scores (printed by the program with six digits) of the first rows,
    and ranks of all.
    """
    from skordinal.classifiers import ORBoost

    rows = []
    for seed in range(4):
        X, y = data(seed)
        for form in FORMS:
            fit = ORBoost(n_estimators=ROUNDS, loss_form=form).fit(X, y)
            row: dict[str, object] = {"seed": seed, "form": form}
            row |= {
                f"theta{k}": repr(float(value))
                for k, value in enumerate(fit.thresholds_)
            }
            row |= {
                f"score{n}": round(float(value), 5)
                for n, value in enumerate(fit.predict_projection(X)[:SHOWN])
            }
            row["ranks"] = "r" + "".join(map(str, fit.predict(X)))
            rows.append(row)
    pd.DataFrame(rows).to_csv(FILE, index=False)


if __name__ == "__main__":
    main()
