"""How the rows of a survey were drawn, and the covariance of estimates that follows from it.

Estimates solve sum w_i u_i = 0, u_i the score of row i and w_i its weight. With A the information, their covariance is
A^-1 B A^-1, B that of the sum over repeated samples [Binder 1983; Lumley 2010, ch. 2]: from the totals of the primary
sampling units (`Linearised`), or from estimates on replicate weights (`Replicates`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError
from .sums import sums_by

#: What a stratum of a single unit adds to the variance.
LONELY = ("fail", "remove", "certainty", "adjust", "average")
#: A stratum of which a smaller share than this was left out was drawn whole [R: survey, onestrat].
_WHOLE = 1e-7
#: Singular values of the replicate weights below this share of the largest are zero, as in R's degf().
_RANK = 1e-5


class Scores(Protocol):
    """The likelihood of a fit at its estimates, as the designs below ask it."""

    estimates: FloatArray

    def score_totals(self, codes: IntArray, n_groups: int) -> FloatArray:
        """(G, P') weighted scores summed over the rows of each code."""

    def replicated(self, weights: FloatArray) -> FloatArray:
        """(R, P') estimates with each column of weights (N, R)."""


class Survey(Protocol):
    """How rows were drawn."""

    @property
    def df(self) -> int:
        """Design degrees of freedom."""

    @property
    def words(self) -> str:
        """For the summary."""

    @property
    def errors(self) -> str:
        """What standard errors come from, for the summary."""

    @property
    def cluster(self) -> IntArray | None:
        """(N,) codes 0..G-1 of units of several rows; None where rows were drawn one by one, or units are not known."""

    def take(self, rows: BoolArray) -> Survey:
        """The design of some of the rows, a domain: what was drawn stays what it was."""

    def check(self) -> None:
        """DataError where the rows at hand give no variance."""

    def covariance(self, at: Any, bread: FloatArray) -> FloatArray:
        """(P', P') covariance of the estimates; `bread` is the inverse of the information."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Linearised:
    """Strata of primary sampling units, drawn with or without replacement.

    Attributes
    ----------
    psu : (N,) codes 0..G-1
        Unit of each row.
    stratum : (G,) codes 0..H-1
        Stratum of each unit drawn, whether it has rows or not.
    fraction : (H,) share of the units of the population that was drawn, 0 where it counts as infinite
    lonely : one of `LONELY`
    names : tuple of H str
    clustered : bool
        Whether units were given, rather than the rows themselves.
    """

    psu: IntArray
    stratum: IntArray
    fraction: FloatArray
    lonely: str
    names: tuple[str, ...]
    clustered: bool

    @property
    def drawn(self) -> IntArray:
        """(H,) number of units drawn in each stratum."""
        return np.bincount(self.stratum, minlength=self.fraction.size)

    @cached_property
    def units(self) -> BoolArray:
        """(G,) which units have rows."""
        return np.asarray(np.bincount(self.psu, minlength=self.stratum.size) > 0)

    @property
    def strata(self) -> BoolArray:
        """(H,) which strata have rows."""
        return np.asarray(np.bincount(self.stratum[self.units], minlength=self.fraction.size) > 0)

    @property
    def alone(self) -> BoolArray:
        """(H,) strata with rows of which one unit was drawn, and not all there are."""
        return np.asarray(self.strata & (self.drawn == 1) & (1.0 - self.fraction > _WHOLE))

    @property
    def df(self) -> int:
        """Units less strata, of those with rows."""
        return int(self.units.sum() - self.strata.sum())

    @property
    def words(self) -> str:
        units, strata = int(self.units.sum()), int(self.strata.sum())
        drawn = f"{units} PSUs" if self.clustered else f"{units} rows drawn one by one"
        return f"{drawn} in {strata} strata, {self.df} df" if self.fraction.size > 1 else f"{drawn}, {self.df} df"

    @property
    def errors(self) -> str:
        finite = ", finite population" if self.fraction.any() else ""
        return f"linearised survey covariance{finite}"

    @property
    def cluster(self) -> IntArray | None:
        if not self.clustered:
            return None
        return np.asarray((np.cumsum(self.units) - 1)[self.psu], dtype=np.intp)

    def take(self, rows: BoolArray) -> Linearised:
        return replace(self, psu=self.psu[rows])

    def check(self) -> None:
        found = np.flatnonzero(self.alone)
        if found.size and self.lonely == "fail":
            raise DataError(
                f"strata= has one PSU alone in stratum {self.names[found[0]]!r} ({found.size} such strata), which "
                "tells nothing of the variance there. Merge strata, or set lonely='certainty' or 'remove' (it adds "
                "none), 'adjust' (its distance from the mean of all) or 'average' (that of the other strata)."
            )
        if self.df < 1:
            raise DataError(
                f"design= must leave a degree of freedom, more PSUs than strata; got {self.words}. Rows with a "
                "response and all inputs come from too few PSUs."
            )
        told = (1.0 - self.fraction > _WHOLE) & ((self.drawn > 1) | (self.lonely == "adjust"))
        if not told[self.strata].any():
            raise DataError(
                "fpc= of SurveyDesign leaves no error of sampling: all PSUs that could tell of it were drawn, in every "
                "stratum. Leave it out for the errors of samples from a larger population, or give the numbers of PSUs "
                "in the population."
            )

    def covariance(self, at: Scores, bread: FloatArray) -> FloatArray:
        meat = self.middle(at.score_totals(self.psu, self.stratum.size))
        return np.asarray(bread @ meat @ bread)

    def middle(self, totals: FloatArray) -> FloatArray:
        """(P', P') estimated covariance of the sum of the totals (G, P') of all units.

        sum over strata of (1 - f_h) n_h / (n_h - 1) sum over units of (t - mean) (t - mean)'.
        """
        drawn, alone = self.drawn, self.alone
        left = np.where(1.0 - self.fraction < _WHOLE, 0.0, 1.0 - self.fraction)
        factor = np.where(drawn > 1, left * drawn / np.maximum(drawn - 1, 1), 0.0)
        mean = sums_by(self.stratum, totals, drawn.size) / drawn[:, None]
        if self.lonely == "adjust":
            factor, mean = np.where(alone, left, factor), np.where(alone[:, None], 0.0, mean)
        centred = (totals - mean[self.stratum]) * np.sqrt(factor)[self.stratum, None]
        return np.asarray(centred.T @ centred * self._share())

    def _share(self) -> float:
        """What the strata of several units are multiplied by, to stand for the lonely ones too."""
        if self.lonely != "average":
            return 1.0
        strata = int(self.strata.sum())
        return strata / (strata - int(self.alone.sum()))


@dataclass(frozen=True, eq=False, kw_only=True)
class Replicates:
    """Replicate weights, as agencies give them in place of strata and units.

    Attributes
    ----------
    weights : (N, R)
    factor : (R,) what each squared difference is multiplied by
    mse : bool
        Differences from the estimates, rather than from the mean of the replicates.
    type : str
    """

    weights: FloatArray
    factor: FloatArray
    mse: bool
    type: str

    @cached_property
    def df(self) -> int:
        """Rank of the weights less 1, of the rows at hand alone [R: survey, degf]."""
        values = np.linalg.eigvalsh(self.weights.T @ self.weights)
        return int((values > _RANK**2 * values[-1]).sum()) - 1

    @property
    def words(self) -> str:
        return f"{self.factor.size} replicate weights ({self.type}), {self.df} df"

    @property
    def errors(self) -> str:
        return "replicate weights" + (", about the estimates" if self.mse else "")

    @property
    def cluster(self) -> None:
        """Unknown."""
        return None

    def take(self, rows: BoolArray) -> Replicates:
        return replace(self, weights=self.weights[rows])

    def check(self) -> None:
        if self.df < 1:
            raise DataError(
                f"design= must leave a degree of freedom, two replicates that differ; got {self.words}. Rows with a "
                "response and all inputs come from too few PSUs."
            )

    def covariance(self, at: Scores, bread: FloatArray) -> FloatArray:
        found = at.replicated(self.weights)
        centre = at.estimates if self.mse else found[self.factor > 0.0].mean(axis=0)
        difference = (found - centre) * np.sqrt(self.factor)[:, None]
        return np.asarray(difference.T @ difference)
