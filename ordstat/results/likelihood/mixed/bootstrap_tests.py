"""Likelihood-ratio tests by the parametric bootstrap: the law of the statistic where the smaller model is true.

Asymptotic laws of variances at their boundary take observations for many and independent; with few groups they are
cautious, and of several variances at once only a bound is known. Responses simulated from the smaller fit, and both
models fitted to each, tell the law itself, but for the estimates that they are simulated from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd

from ...._typing import FloatArray
from ....checks import generator, jobs, whole
from ....exceptions import DataError
from ....model.sample import Sample
from ...report.noted import NotedFrame
from ..bootstrap import replicated
from ..comparison import likelihood_ratio_tests
from ..fitted import FittedLikelihood
from ..uncertainty import drawn_codes
from .draws import check_simulated, simulated_sample

#: The option of anova.
BOOTSTRAP = "bootstrap"
#: A simulated ratio that is below the observed one by rounding alone counts as not below it.
_ROUNDING = 1e-8


def bootstrap_comparison(fits: Sequence[FittedLikelihood], draws: int, seed: int, n_jobs: int) -> pd.DataFrame:
    """R's anova() of several fits, its p-values by simulation from the smaller model of each pair."""
    whole("draws", draws, 19)
    jobs(n_jobs)
    table = likelihood_ratio_tests(fits)
    for fit in fits:
        check_simulated(fit, None)
    ordered, notes = sorted(fits, key=lambda fit: fit.edf), list(table.attrs["notes"])
    p_values, counts = table["p_value"].to_numpy(dtype=float, copy=True), np.full(len(table), np.nan)
    for place, (small, large) in enumerate(pairwise(ordered), start=1):
        if np.isnan(p_values[place]):
            continue
        ratios = _simulated(small, large, draws, seed, n_jobs)
        least = float(table["lr_stat"].iloc[place]) - _ROUNDING * (1.0 + abs(large.loglik))
        known = ratios[~np.isnan(ratios)]
        p_values[place], counts[place] = (1.0 + np.count_nonzero(known >= least)) / (1.0 + known.size), known.size
        if known.size < draws:
            notes.append(f"{draws - known.size} of {draws} simulated responses could not be fitted and were left out.")
    asymptotic = table["p_value"].to_numpy()
    table = table.drop(columns="law", errors="ignore").assign(p_value=p_values, p_asymptotic=asymptotic, draws=counts)
    return NotedFrame.of(table, notes, "Likelihood ratio tests between nested models, by the parametric bootstrap")


def _simulated(small: FittedLikelihood, large: FittedLikelihood, draws: int, seed: int, n_jobs: int) -> FloatArray:
    """(draws,) likelihood ratios of responses that the smaller model gives; NaN where one could not be fitted."""
    one, other = (_bare(fit) for fit in (small, large))
    generators = generator(seed).spawn(draws)
    return np.array(list(replicated(partial(_ratio, one, other), generators, n_jobs, None)))


def _bare(fit: FittedLikelihood) -> FittedLikelihood:
    """Without what workers need not."""
    return replace(fit, design=replace(fit.design, data=None), fitter=None)


def _ratio(small: FittedLikelihood, large: FittedLikelihood, rng: np.random.Generator) -> float:
    """That of one draw."""
    y = _drawn(small, rng).y
    try:
        fits = [fit.method.fit(replace(fit.design.sample, y=y), rng) for fit in (small, large)]
    except DataError:
        return float("nan")
    if not all(fit.certificate.reached for fit in fits):
        return float("nan")
    return 2.0 * (fits[1].loglik - fits[0].loglik)


def _drawn(r: FittedLikelihood, rng: np.random.Generator) -> Sample:
    """The rows of a fit with new responses, of new groups where it has random effects."""
    if r.fit.marginal is not None:
        return simulated_sample(r, rng)
    sample = r.design.sample
    return replace(sample, y=drawn_codes(r.rule.probabilities(sample.rows), rng.random((1, sample.n)))[0])
