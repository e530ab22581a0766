"""Power by simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from .._typing import FloatArray, Progress
from ..checks import did_you_mean, fraction, generator, mapping, number, reporter, whole
from ..exceptions import DataError, OptionError
from ..formula.sample import Sample
from ..likelihood.fit import LikelihoodFit
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.rule import LikelihoodRule
from ..likelihood.standard_errors import rule_at
from ..likelihood.wald import wald_test
from .predictions import drawn_codes
from .single_terms import unstarted
from .wald import linear_hypotheses


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedPower:
    """Power of a test, estimated by simulation.

    Attributes
    ----------
    power : float
        Share of the data sets whose test is below alpha.
    std_error : float
        Of `power`, by the number of data sets.
    hypothesis : str
    n : int
        Rows of a data set.
    alpha : float
    simulations : int
    without_test : int
        Data sets whose fit had no maximum, or no standard errors; they count as not found.
    model : str
    effect : mapping
        Coefficients that were stated.
    """

    power: float
    std_error: float
    hypothesis: str
    n: int
    alpha: float
    simulations: int
    without_test: int
    model: str
    effect: Mapping[str, float]

    def __repr__(self) -> str:
        stated = "".join(f", {name} = {value:g}" for name, value in self.effect.items())
        drawn = f"{self.simulations} data sets of {self.n} rows"
        lines = [
            f"Power {self.power:.3f} (standard error {self.std_error:.3f}) of the test of {self.hypothesis}",
            f"Wald test at {self.alpha:g}; {drawn} from {self.model}{stated}",
        ]
        if self.without_test:
            lines.append(f"{self.without_test} of them gave no test (separated, or a level was missing): not found")
        return "\n".join(lines)

    def __float__(self) -> float:
        return self.power


def simulated_power(
    r: FittedLikelihood,
    hypothesis: str,
    n: int | None = None,
    *,
    effect: Mapping[str, float] | None = None,
    simulations: int = 500,
    alpha: float = 0.05,
    seed: int | np.random.Generator = 0,
    callback: Progress | None = None,
) -> SimulatedPower:
    """Power to reject a hypothesis in new data like those of the fit."""
    fraction("alpha", alpha)
    size = whole("n", r.design.sample.n if n is None else n, 2)
    whole("simulations", simulations, 1)
    clustered = r.design.sample.cluster is not None or r.own_covariance.cluster is not None
    if clustered or r.design.survey is not None:
        drawn = "come in clusters" if r.design.survey is None else "were drawn by a survey design"
        raise OptionError(f"power() must be asked of independent rows; those of this fit {drawn}.")
    given = mapping("effect", effect, "{'x1': 0.5}")
    stated = {name: number(f"effect of {name!r}", value) for name, value in given.items()}
    text = _as_equations(r, hypothesis)
    _, L, target = linear_hypotheses(r, text)
    whole_L = np.zeros((len(L), r.fit.aliased.size))
    whole_L[:, ~r.fit.aliased] = L
    rule, rng, report = rule_at(r.fit, _stated(r, stated)), generator(seed), reporter(callback)
    p_values = np.empty(simulations)
    for done in range(simulations):
        p_values[done] = _p_value(_fitted(r, _drawn(r, rule, size, rng), rng), whole_L, target)
        if report is not None:
            report(done + 1, simulations, "simulated data sets")
    power, without = float(np.mean(p_values < alpha)), int(np.isnan(p_values).sum())
    error = sqrt(power * (1.0 - power) / simulations)
    return SimulatedPower(power, error, text, size, alpha, simulations, without, r.formula, stated)


def _as_equations(r: FittedLikelihood, hypothesis: str) -> str:
    """Equations; of a term, that its coefficients are zero."""
    if isinstance(hypothesis, str) and "=" in hypothesis:
        return hypothesis
    if not isinstance(hypothesis, str) or hypothesis not in r.design.terms:
        raise OptionError(
            f"hypothesis must be a term of the formula, or equations such as 'x1 = 0'; got {hypothesis!r}."
            f"{did_you_mean(hypothesis, r.design.terms)}"
        )
    return ", ".join(f"{name} = 0" for name in r.design.names[r.design.terms[hypothesis]])


def _stated(r: FittedLikelihood, effect: Mapping[str, float]) -> FloatArray:
    """(P',) estimates, some of them replaced."""
    estimated = ~r.fit.aliased
    names = [name for name, known in zip(r.parameters.names, estimated, strict=True) if known]
    values = r.fit.coefficients[estimated].copy()
    for name, value in effect.items():
        if name not in names:
            raise OptionError(
                f"effect must name parameters that are estimated; got {name!r}.{did_you_mean(name, names)}"
            )
        values[names.index(name)] = value
    return values


def _drawn(r: FittedLikelihood, rule: LikelihoodRule, n: int, rng: np.random.Generator) -> Sample:
    """n rows of the fit with responses of the model."""
    sample = r.design.sample
    rows = sample.rows.take(rng.choice(sample.n, size=n, p=sample.case_weights / sample.case_weights.sum()))
    codes = drawn_codes(rule.probabilities(rows), rng.random((1, n)))[0]
    return Sample(rows=rows, y=codes, n_levels=sample.n_levels)


def _fitted(r: FittedLikelihood, sample: Sample, rng: np.random.Generator) -> LikelihoodFit | None:
    try:
        fit: LikelihoodFit = unstarted(r).fit(sample, rng)
    except DataError:  # all responses in one level
        return None
    return fit if fit.certificate.reached and fit.separation is None else None


def _p_value(fit: LikelihoodFit | None, L: FloatArray, target: FloatArray) -> float:
    """NaN where nothing can be tested."""
    from scipy.stats import chi2

    if fit is None or np.any(L[:, fit.aliased] != 0.0):
        return float("nan")
    estimated = ~fit.aliased
    difference = L[:, estimated] @ fit.coefficients[estimated] - target
    statistic, df = wald_test(L[:, estimated], difference, fit.information.covariance())
    return float(chi2.sf(statistic, df)) if df else float("nan")
