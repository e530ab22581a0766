"""ORBoost with stumps against the authors' program, 150 rounds; `authors.py` says how
its figures came about.
"""

import numpy as np
import pandas as pd
import pytest
from seams import Rows, Sample

from ordstat import ORBoost

from . import authors

TABLE = pd.read_csv(authors.FILE).to_dict("records")


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['form']} {row['seed']}")
def test_orboost_is_the_authors_program(row):
    X, y = authors.data(row["seed"])
    sample = Sample(rows=Rows(X=X), y=y, n_levels=authors.K)
    method = ORBoost(rounds=authors.ROUNDS, cost=authors.FORMS[row["form"]])
    fit = method.fit(sample, np.random.default_rng(0))
    np.testing.assert_allclose(
        fit.rule.theta, [row[f"theta{k}"] for k in range(authors.K - 1)], rtol=1e-9
    )
    scores = [row[f"score{n}"] for n in range(authors.SHOWN)]
    # sums of alphas with six digits
    np.testing.assert_allclose(fit.scores[: authors.SHOWN], scores, atol=2e-5)
    assert "r" + "".join(map(str, fit.rule.codes(sample.rows))) == row["ranks"]
    if row["form"] == "lr":
        # thresholds were pooled on the way
        assert (np.diff(fit.rounds.thetas, axis=1) == 0).any()
