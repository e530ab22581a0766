"""anova(test="bootstrap"): its p-value by hand, its level, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import datasets, ordfit
from ordstat.exceptions import OptionError

WINE = datasets.load("wine")


def test_p_value_is_the_rank_of_the_ratio() -> None:
    """The same responses, simulated and fitted by hand."""
    small, large = (ordfit(f"rating ~ temp{more}", WINE) for more in ("", " + (1 | bottle)"))
    table = large.anova(small, test="bootstrap", draws=19, seed=4)
    shares = small.predict(WINE, type="prob").to_numpy().cumsum(axis=1)[:, :-1]
    ratios = []
    for rng in np.random.default_rng(4).spawn(19):
        y = 1 + (rng.random((1, 72))[0][:, None] >= shares).sum(axis=1)
        fits = [ordfit(fit.formula, WINE.assign(rating=y), levels=[1, 2, 3, 4, 5]) for fit in (small, large)]
        ratios.append(2.0 * (fits[1].loglik - fits[0].loglik))
    observed = 2.0 * (large.loglik - small.loglik)
    assert table["p_value"].iloc[1] == (1 + np.sum(np.array(ratios) >= observed - 1e-6)) / 20
    assert table["draws"].iloc[1] == 19 and "parametric bootstrap" in str(table)


def test_large_ratios_have_the_smallest_p_value_and_jobs_do_not_matter() -> None:
    small, large = (ordfit(f"rating ~ temp + contact{more}", WINE) for more in ("", " + (1 | judge)"))
    one = large.anova(small, test="bootstrap", draws=29)
    assert one["p_value"].iloc[1] == pytest.approx(1 / 30)
    assert one["p_asymptotic"].iloc[1] == large.anova(small)["p_value"].iloc[1]
    pd.testing.assert_frame_equal(
        pd.DataFrame(one), pd.DataFrame(large.anova(small, test="bootstrap", draws=29, n_jobs=2))
    )


def test_what_it_refuses() -> None:
    small, large = (ordfit(f"rating ~ temp{more}", WINE, weights=np.full(72, 2.0)) for more in ("", " + (1 | judge)"))
    with pytest.raises(OptionError, match="weights up to 2"):
        large.anova(small, test="bootstrap")
    with pytest.raises(OptionError, match="draws must be"):
        large.anova(small, test="bootstrap", draws=3)
    with pytest.raises(OptionError, match="Give the smaller fits"):
        large.anova(test="bootstrap")
