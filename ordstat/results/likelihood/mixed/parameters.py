"""Standard deviations and correlations of random effects as parameters: names, errors, limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ...._typing import FloatArray
from ....model.likelihood.marginal import Marginal

if TYPE_CHECKING:
    from ....design.random_terms import RandomTerm


@dataclass(frozen=True, eq=False)
class RandomParameters:
    """The standard deviations, then the correlations, term by term.

    Attributes
    ----------
    names : list of str
        As lme4 has them: "sd_(Intercept)|judge", "cor_x.(Intercept)|judge".
    kinds : list of str
        "sd" or "cor".
    estimates : (R,)
    slopes : (R, m')
        Derivatives by the entries of all Lambdas; NaN at a boundary.
    covariance : (P' + m', P' + m')
        Of the fixed parameters and the entries of the Lambdas.
    profiled : list of str
        Standard deviations that have a profile: the first of a term, and those without a correlation.
    """

    names: list[str]
    kinds: list[str]
    estimates: FloatArray
    slopes: FloatArray
    covariance: FloatArray
    profiled: list[str]

    @classmethod
    def of(cls, terms: Sequence[RandomTerm], marginal: Marginal, covariance: FloatArray) -> RandomParameters:
        """Those of a fit with random effects, with a covariance of its parameters."""
        names: list[str] = []
        kinds: list[str] = []
        estimates: list[float] = []
        slopes: list[FloatArray] = []
        profiled: list[str] = []
        before = 0
        for term, effects in zip(terms, marginal.terms, strict=True):
            here = slice(before, before + effects.entries[0].size)
            before = here.stop

            def placed(own: FloatArray, here: slice = here) -> FloatArray:
                out = np.zeros(marginal.n_entries)
                out[here] = own
                return out

            found = zip(term.names, effects.deviations, effects.deviation_slopes(), strict=True)
            for column, (name, sd, own) in enumerate(found):
                profiled += [f"sd_{name}|{term.group}"] * int((effects.entries[0] == column).sum() == 1)
                names.append(f"sd_{name}|{term.group}")
                kinds.append("sd")
                estimates.append(float(sd))
                slopes.append(placed(own))
            for a, b in combinations(range(len(term.names)), 2) if term.correlated else ():
                names.append(f"cor_{term.names[b]}.{term.names[a]}|{term.group}")
                kinds.append("cor")
                estimates.append(float(effects.correlations[a, b]))
                slopes.append(placed(effects.correlation_slopes(a, b)))
        return cls(names, kinds, np.array(estimates), np.array(slopes), covariance, profiled)

    def where_limits(self, names: Sequence[str]) -> str:
        """What has limits, of a likelihood or else by simulation, of some of them."""
        by_profile, others = ([name for name in names if (name in self.profiled) == is_in] for is_in in (True, False))
        told = [f"confint(type='profile') has limits of {listed}" for listed in _listed(by_profile)]
        return "; ".join([*told, *(f"bootstrap() has limits of {listed}" for listed in _listed(others))])

    @property
    def deviations(self) -> pd.Series:
        """The standard deviations, by their names."""
        every = pd.Series(self.estimates, index=self.names)
        return every[[kind == "sd" for kind in self.kinds]]

    @property
    def errors(self) -> FloatArray:
        """(R,) standard errors by the delta method."""
        return np.asarray(np.sqrt(np.diag(self.joint())[-len(self.names) :]))

    def joint(self) -> FloatArray:
        """(P' + R, P' + R) covariance of the fixed parameters and these; NaN at a boundary."""
        fixed, count = len(self.covariance) - self.slopes.shape[1], len(self.names)
        known = np.isfinite(np.diag(self.covariance))
        J = np.zeros((fixed + count, len(self.covariance)))
        J[:fixed, :fixed], J[fixed:, fixed:] = np.eye(fixed), self.slopes
        lost = ((J != 0.0) & ~(known & ~np.isnan(J))).any(axis=1)
        J[np.isnan(J)] = 0.0
        out = J @ np.where(known[:, None] & known, self.covariance, 0.0) @ J.T
        out[lost], out[:, lost] = np.nan, np.nan
        return np.asarray(out)

    def limits(self, level: float) -> FloatArray:
        """(R, 2) Wald limits, of standard deviations on the scale of their logarithms, of correlations on Fisher's."""
        z, errors = ndtri(0.5 + 0.5 * level), self.errors
        out = np.empty((len(self.names), 2))
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            for k, (kind, value, error) in enumerate(zip(self.kinds, self.estimates, errors, strict=True)):
                ends = np.array([-z, z])
                if kind == "sd":
                    out[k] = value * np.exp(ends * error / value)
                else:
                    out[k] = np.tanh(np.arctanh(value) + ends * error / (1.0 - value**2))
        return out


def _listed(names: Sequence[str]) -> list[str]:
    """The names in one text, if there are any."""
    return [", ".join(names)] * bool(names)
