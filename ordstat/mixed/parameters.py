"""Standard deviations and correlations of random effects as parameters: names, errors, limits, and what is doubtful."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import ndtri

from .._typing import FloatArray
from ..exceptions import DataWarning, OrdstatWarning, SeparationWarning
from ..likelihood.family import Family
from ..likelihood.fit import EffectsOfGroups, LikelihoodFit, Marginal

if TYPE_CHECKING:
    from ..formula.design import Design
    from ..formula.random_terms import RandomTerm


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


#: Mean size of groups below which Laplace's approximation is biased where a standard deviation is above this.
_SMALL, _LARGE = 5.0, 1.0
#: Standard deviation of the effects, in those of the link, from which one is as good as infinite.
_INFINITE = 25.0
#: Standard deviation of the latent distributions that have one; others are taken for 1.
_LATENT = {"logit": 1.81, "probit": 1.0, "cloglog": 1.28, "loglog": 1.28}

#: A warning category and its message.
_Alert = tuple[type[OrdstatWarning], str]


def run_off_alerts(design: Design, fit: LikelihoodFit, family: Family) -> Iterator[_Alert]:
    """A warning for every term whose variance has run off, or all but; one where the data say nothing of them."""
    rows, marginal = design.sample.rows, fit.marginal
    if marginal is None or rows.random is None:
        return
    if marginal.certain:
        yield (
            SeparationWarning,
            "the fixed effects alone predict every level, so that the data say nothing of the random effects: their "
            "standard deviations and correlations are where the search began, and have no standard errors.",
        )
        return
    own = _LATENT.get(family.link.name, 1.0)
    for term, columns, effects in zip(design.random, rows.random.terms, marginal.terms, strict=True):
        deviation = float(np.sqrt(columns.variances(effects.covariance).mean()))
        if not deviation <= _INFINITE * own:
            yield (
                SeparationWarning,
                f"{term.text}: the effects have a standard deviation of {deviation:.3g}, where the distribution of a "
                f"row has {own:.3g}: rows of a group are nearly all of one level, so that the data hardly bound the "
                "variance, and the likelihood may rise without end. Neither it nor thresholds and effects, which grow "
                "with it, mean much: leave the term out where its groups tell the response, or join them.",
            )


def noted_alerts(
    design: Design, marginal: Marginal | None, own: RandomParameters | None, covariance: str
) -> Iterator[_Alert]:
    """What a summary notes, as warnings that are not issued."""
    return ((DataWarning, note) for note in doubtful_effects(design, marginal, own, covariance))


def doubtful_effects(
    design: Design, marginal: Marginal | None, own: RandomParameters | None, covariance: str
) -> Iterator[str]:
    """Singular covariances, columns that are nearly multiples, a biased approximation, and wide limits.

    Parameters
    ----------
    design : Design
    marginal : Marginal or None
        None gives nothing.
    own : RandomParameters or None
    covariance : str
        Which errors they have.
    """
    if marginal is None:
        return
    for term, effects in zip(design.random, marginal.terms, strict=True):
        yield from _at_boundary(term, effects)
        if effects.entries[0].size > effects.n_phi:
            yield (
                f"{term.text}: columns that are nearly multiples of each other, as one far from 0 is of the intercept. "
                "Standard deviations and correlations are those where the other columns are 0: subtract a value within "
                "the data, such as a mean, to read them there. The fit is the same."
            )
        yield from _biased(term, effects, marginal, design.sample.n / term.cells.size)
    if own is not None and covariance == "model":
        yield from _hardly_known(own)


def _at_boundary(term: RandomTerm, effects: EffectsOfGroups) -> Iterator[str]:
    for column, derivative in effects.boundary.items():
        what = "variance at its boundary, 0" if effects.deviations[column] == 0.0 else "singular covariance"
        yield (
            f"{term.text}, {term.names[column]}: {what}; the log-likelihood falls by {-derivative:.3g} a unit of "
            "variance there. Errors of the other parameters are those with it held."
        )


def _biased(term: RandomTerm, effects: EffectsOfGroups, marginal: Marginal, size: float) -> Iterator[str]:
    if marginal.quadrature == 1 and size < _SMALL and effects.deviations.max() > _LARGE:
        alone = len(marginal.terms) == 1
        instead = "compare quadrature=9" if alone else "several random terms have no other approximation"
        yield (
            f"{term.text}: groups have {size:.1f} rows on average, where Laplace's approximation makes a standard "
            f"deviation above 1 too small: {instead}."
        )


def _hardly_known(own: RandomParameters) -> Iterator[str]:
    """Standard deviations whose Wald limits go from next to nothing to next to infinity."""
    known = zip(own.names, own.kinds, own.estimates, own.errors, strict=True)
    names = [name for name, kind, value, error in known if kind == "sd" and error > value]
    beside = "is less than its standard error" if len(names) == 1 else "are less than their standard errors"
    if names:
        yield f"{', '.join(names)} {beside}, so that Wald limits say little: {own.where_limits(names)}."
