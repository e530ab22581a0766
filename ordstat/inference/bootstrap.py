"""Bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray, Progress
from ..checks import fraction, generator, jobs, one_of, reporter, whole
from ..exceptions import DataError, OptionError
from ..formula.sample import Sample
from ..judging.errors import deviations, drawn_weights
from ..likelihood.fit import LikelihoodFit
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.parameters import cluster_codes, refuse_survey
from ..likelihood.standard_errors import symmetric_limits
from ..report.frames import NotedFrame
from .predictions import WORDS, check_simulated, simulated_sample

_T = TypeVar("_T")
#: What became of a replicate.
FINE, FAILED, SEPARATED, INCOMPLETE = "", "failed", "separated", "incomplete"
#: Makes a sample from a fit.
_Draw = Callable[[FittedLikelihood, np.random.Generator], Sample]
_WORDS = {
    FAILED: "could not be fitted (a single level left, or no convergence) and are left out",
    SEPARATED: "have infinite estimates (separation): these count as infinite in percentile limits and are left out of "
    "standard errors, and those not determined are left out of both",
    INCOMPLETE: "lack a level or a column of the fit: what belongs to it is left out",
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Bootstrap:
    """Estimates of the model, or a statistic of it, on samples drawn again.

    Attributes
    ----------
    estimate : pandas.Series
        On the data.
    replicates : pandas.DataFrame
        One row a draw; infinite where an estimate is, NaN where there is none.
    status : pandas.Series
        "" or why a draw is not like the others: "failed", "separated", "incomplete".
    clusters : int or None
        How many clusters were drawn from; None where rows were.
    drawn : str
        What was drawn, in words.
    """

    estimate: pd.Series
    replicates: pd.DataFrame
    status: pd.Series
    clusters: int | None = field(default=None)
    drawn: str = "rows"

    @property
    def se(self) -> pd.Series:
        """Standard deviation of the finite replicates."""
        return self._series(deviations(self.replicates.to_numpy()), "std_error")

    @property
    def bias(self) -> pd.Series:
        """Mean of the finite replicates less the estimate."""
        values = self.replicates.to_numpy()
        finite = np.isfinite(values)
        with np.errstate(invalid="ignore"):
            means = np.where(finite, values, 0.0).sum(axis=0) / finite.sum(axis=0)
        return self._series(means - self.estimate.to_numpy(), "bias")

    def confint(self, level: float = 0.95, type: str = "percentile") -> pd.DataFrame:
        """Confidence limits, columns lower and upper.

        Parameters
        ----------
        level : float in (0, 1)
        type : {"percentile", "basic", "normal"}
            Quantiles of the replicates; those mirrored at the estimate; the estimate less its bias plus and minus the
            normal quantile times the standard error [Davison and Hinkley 1997, ch. 5].

        Raises
        ------
        OptionError
            Another type, or a level outside (0, 1).

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.bootstrap(50, seed=1).confint().round(1).loc["temp[T.warm]"].tolist()
        [1.9, 3.5]
        """
        fraction("level", level)
        one_of("type", type, ("percentile", "basic", "normal"))
        estimate = self.estimate.to_numpy(dtype=np.float64)
        if type == "normal":
            values = np.column_stack(symmetric_limits(estimate - self.bias.to_numpy(), self.se.to_numpy(), level))
        else:
            tails = np.array([0.5 - level / 2.0, 0.5 + level / 2.0])
            values = np.array([_quantiles(column, tails) for column in self.replicates.to_numpy().T])
            if type == "basic":
                with np.errstate(invalid="ignore"):
                    values = (2.0 * estimate[:, None] - values)[:, ::-1]
        frame = pd.DataFrame(values, index=self.estimate.index, columns=["lower", "upper"])
        return NotedFrame.of(frame, self.notes, f"Bootstrap limits, {type}, {100 * level:g} %")

    @property
    def notes(self) -> list[str]:
        """How many replicates were not like the others, in words."""
        counts = self.status.value_counts()
        return [
            f"{counts[why]} of {len(self.status)} replicates {words}." for why, words in _WORDS.items() if why in counts
        ]

    def tidy(self, level: float = 0.95, type: str = "percentile") -> pd.DataFrame:
        """The estimates with their bias, standard errors and limits: one row a parameter, names of R's broom.

        Parameters
        ----------
        level : float in (0, 1)
        type : {"percentile", "basic", "normal"}
            As in `confint`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.bootstrap(20, seed=1).tidy().columns.tolist()
        ['term', 'estimate', 'bias', 'std_error', 'conf_low', 'conf_high']
        """
        return NotedFrame.of(self._table(level, type)).tidy()

    def _table(self, level: float = 0.95, type: str = "percentile") -> NotedFrame:
        limits = self.confint(level, type)
        frame = pd.DataFrame({"estimate": self.estimate, "bias": self.bias, "std_error": self.se}).join(limits)
        title = f"Bootstrap of {self.drawn}, {len(self.status)} replicates"
        notes = f"Limits: {type}, {100 * level:g} %."
        return NotedFrame.of(frame, [notes, *self.notes], title, {"bias": "estimate"})

    def __repr__(self) -> str:
        return repr(self._table())

    def _repr_html_(self) -> str:
        return str(self._table()._repr_html_())

    def _series(self, values: FloatArray, name: str) -> pd.Series:
        return pd.Series(values, index=self.estimate.index, name=name)


def _quantiles(values: FloatArray, tails: FloatArray) -> FloatArray:
    """Linearly interpolated quantiles, where values may be infinite; those that are NaN are left out."""
    known = np.sort(values[~np.isnan(values)])
    if not known.size:
        return np.full(tails.size, np.nan)
    position = tails * (known.size - 1)
    below = np.floor(position).astype(int)
    low, high, share = known[below], known[np.minimum(below + 1, known.size - 1)], position - below
    with np.errstate(invalid="ignore"):
        between = low + (high - low) * share
    return np.asarray(np.where((low == high) | (share == 0.0), low, between))


def _replicate(
    r: FittedLikelihood,
    draw: _Draw,
    statistic: Callable[[FittedLikelihood], Any],
    rng: np.random.Generator,
) -> tuple[str, FloatArray | None]:
    """(status, values) of one draw and its fit, sent to the workers; None for the values where there are none."""
    sample = draw(r, rng)
    try:
        fit = r.method.fit(sample, rng)
    except DataError:
        return FAILED, None
    status = _status(r.fit, fit)
    if status == FAILED:
        return FAILED, None
    drawn = replace(r, design=replace(r.design, sample=sample, data=None), fit=fit)
    return status, _statistic(statistic, drawn).to_numpy(dtype=np.float64)


def _redrawn(cluster: IntArray | None, r: FittedLikelihood, rng: np.random.Generator) -> Sample:
    """Rows or clusters drawn again, as weights."""
    return replace(r.design.sample, weights=drawn_weights(r.design.sample.case_weights, cluster, rng))


def _estimates(r: FittedLikelihood) -> pd.Series:
    """All parameters, standard deviations and correlations of random effects with them."""
    random = r.random_parameters
    fixed = pd.Series(r.fit.limits, index=r.parameters.names)
    return fixed if random is None else pd.concat([fixed, pd.Series(random.estimates, index=random.names)])


def _status(original: LikelihoodFit, fit: LikelihoodFit) -> str:
    if fit.separation is not None:
        return SEPARATED
    if not fit.certificate.reached:
        return FAILED
    return FINE if np.array_equal(fit.aliased, original.aliased) else INCOMPLETE


def _statistic(statistic: Callable[[FittedLikelihood], Any], r: FittedLikelihood) -> pd.Series:
    """What the user's function gives, as a series of numbers."""
    found = statistic(r)
    if isinstance(found, pd.DataFrame):
        found = found.stack()
    if isinstance(found, pd.Series):
        return found.astype(float)
    values = np.atleast_1d(np.asarray(found, dtype=np.float64))
    if values.ndim != 1:
        raise OptionError(f"statistic must return a number, a series or a vector; got shape {values.shape}.")
    return pd.Series(values, index=["statistic"] if values.size == 1 else range(values.size))


def bootstrapped(
    r: FittedLikelihood,
    n: int = 1000,
    *,
    seed: int | np.random.Generator = 0,
    n_jobs: int = 1,
    cluster: Any = None,
    statistic: Callable[[Any], Any] | None = None,
    callback: Progress | None = None,
) -> Bootstrap:
    """Rows or clusters drawn again, or responses simulated where there are random effects, and fits to each draw."""
    whole("n", n, 2)
    jobs(n_jobs)
    refuse_survey(r.design, "bootstrap", "the errors of the fit, or SurveyDesign(replicates=..., type='bootstrap')")
    draw, clusters, drawn = _drawing(r, cluster)
    chosen = _estimates if statistic is None else statistic
    estimate = _statistic(chosen, r).rename("estimate")
    generators = generator(seed).spawn(int(n))
    replication = partial(_replicate, replace(r, design=replace(r.design, data=None), fitter=None), draw, chosen)
    found = list(replicated(replication, generators, int(n_jobs), reporter(callback)))
    nothing = np.full(estimate.size, np.nan)
    values = np.array([nothing if drawn is None else drawn for _, drawn in found])
    return Bootstrap(
        estimate=estimate,
        replicates=pd.DataFrame(values, columns=estimate.index),
        status=pd.Series([status for status, _ in found], name="status"),
        clusters=clusters,
        drawn=drawn,
    )


def _drawing(r: FittedLikelihood, cluster: Any) -> tuple[_Draw, int | None, str]:
    """What makes a sample, from how many clusters, and in words what it draws."""
    if r.fit.marginal is not None:
        check_simulated(r, cluster)
        return simulated_sample, None, WORDS
    groups = r.own_covariance.cluster if cluster is None else cluster_codes(cluster, r.design)
    if groups is None:
        return partial(_redrawn, None), None, "rows"
    count = int(np.unique(groups).size)
    if count < 2:
        raise DataError("cluster must hold at least 2 clusters to draw from; got 1.")
    return partial(_redrawn, groups), count, f"{count} clusters"


def replicated(
    replication: Callable[[np.random.Generator], _T],
    generators: list[np.random.Generator],
    n_jobs: int,
    callback: Progress | None,
) -> Iterator[_T]:
    """The replicates in their order; every one has its own generator, so the number of jobs does not matter."""
    found: Iterable[_T] = map(replication, generators)
    if n_jobs != 1:
        from joblib import Parallel, delayed

        found = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(replication)(rng) for rng in generators)
    for step, one in enumerate(found):
        if callback is not None:
            callback(step + 1, len(generators), "bootstrap")
        yield one
