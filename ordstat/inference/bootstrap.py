"""Bootstrap: estimates from resampled rows or clusters, or from responses simulated by
the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray, Progress
from ..checks import fraction, function_given, generator, jobs, reporter, whole
from ..exceptions import DataError, OptionError
from ..formula.sample import Sample
from ..judging.errors import deviations, drawn_weights
from ..likelihood.covariance_choice import cluster_codes
from ..likelihood.fit import LikelihoodFit
from ..likelihood.unavailable import check_available
from ..report.frames import Exported, NotedFrame
from ..threads import in_processes

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


_T = TypeVar("_T")
#: Stands for infinity in a quantile.
_HUGE = 1e300
#: Status of a replicate.
FINE = ""
FAILED = "failed"
SEPARATED = "separated"
INCOMPLETE = "incomplete"
#: Draws a sample from a fit.
_Draw = Callable[["LikelihoodResults", np.random.Generator], Sample]
_WORDS = {
    FAILED: (
        "could not be fitted (a single level left, or no convergence) and are left out"
    ),
    SEPARATED: (
        "have infinite estimates (separation): percentile limits count them as"
        " infinite, standard errors omit them, and both omit estimates that are not"
        " determined"
    ),
    INCOMPLETE: "lack a level or a column of the fit; its parameters are left out",
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Bootstrap(Exported):
    """Estimates, or another statistic of the fit, on bootstrap samples.

    Attributes
    ----------
    estimate : pandas.Series
        The estimates or statistic on the original data.
    replicates : pandas.DataFrame
        One row per bootstrap sample: infinite for infinite estimates, NaN for missing
        ones.
    status : pandas.Series
        "" for a complete replicate, else "failed", "separated" or "incomplete".
    drawn : str
        Description of what was drawn.
    """

    estimate: pd.Series
    replicates: pd.DataFrame
    status: pd.Series
    drawn: str = "rows"

    @property
    def se(self) -> pd.Series:
        """Standard deviation of the finite replicates."""
        return pd.Series(
            deviations(self.replicates.to_numpy()),
            index=self.estimate.index,
            name="std_error",
        )

    @property
    def bias(self) -> pd.Series:
        """Mean of the finite replicates minus the estimate."""
        finite = self.replicates.where(np.isfinite(self.replicates))
        return (finite.mean() - self.estimate).rename("bias")

    def confint(self, level: float = 0.95) -> pd.DataFrame:
        """Percentile confidence intervals, with columns lower and upper: quantiles of
        the replicates [Davison and Hinkley 1997, ch. 5].

        Parameters
        ----------
        level : float in (0, 1)

        Raises
        ------
        OptionError
            A level outside (0, 1).

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.bootstrap(50, seed=1).confint().round(1).loc["temp[T.warm]"].tolist()
        [1.9, 3.5]
        """
        fraction("level", level)
        tails = np.array([0.5 - level / 2.0, 0.5 + level / 2.0])
        limits = [_quantiles(column, tails) for column in self.replicates.to_numpy().T]
        frame = pd.DataFrame(
            limits, index=self.estimate.index, columns=["lower", "upper"]
        )
        return NotedFrame.of(
            frame,
            self.notes,
            f"Bootstrap percentile {100 * level:g}% confidence intervals",
        )

    @property
    def notes(self) -> list[str]:
        """The numbers of failed, separated and incomplete replicates, and whether
        quantiles include them.
        """
        counts = self.status.value_counts()
        return [
            f"{counts[why]} of {len(self.status)} replicates {words}."
            for why, words in _WORDS.items()
            if why in counts
        ]

    def tidy(self, level: float = 0.95) -> pd.DataFrame:
        """Estimates, bias, standard errors and confidence intervals, one row per
        parameter, with the column names of R's broom.

        Parameters
        ----------
        level : float in (0, 1)

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.bootstrap(20, seed=1).tidy().columns.tolist()
        ['term', 'estimate', 'bias', 'std_error', 'conf_low', 'conf_high']
        """
        return self._table(level).tidy()

    def _table(self, level: float = 0.95) -> NotedFrame:
        frame = pd.DataFrame(
            {"estimate": self.estimate, "bias": self.bias, "std_error": self.se}
        )
        frame = frame.join(self.confint(level))
        title = f"Bootstrap of {self.drawn}, {len(self.status)} replicates"
        return NotedFrame.of(
            frame,
            [f"Percentile {100 * level:g}% confidence intervals.", *self.notes],
            title,
            {"bias": "estimate"},
        )

    def exported(self) -> list[NotedFrame]:
        return [self._table()]


def _quantiles(values: FloatArray, tails: FloatArray) -> FloatArray:
    """Linearly interpolated quantiles of values that may be infinite; NaN values are
    ignored.
    """
    values = values[~np.isnan(values)]
    if not values.size:
        return np.full(tails.size, np.nan)
    quantiles = np.quantile(np.clip(values, -_HUGE, _HUGE), tails)
    return np.where(
        np.abs(quantiles) > 1e-100 * _HUGE, np.copysign(np.inf, quantiles), quantiles
    )


def _replicate(
    r: LikelihoodResults,
    draw: _Draw,
    statistic: Callable[[LikelihoodResults], Any],
    rng: np.random.Generator,
) -> tuple[str, FloatArray | None]:
    """Draw a sample and fit it; return (status, values), with None for the values if
    the fit failed.
    """
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


def _redrawn(
    cluster: IntArray | None, r: LikelihoodResults, rng: np.random.Generator
) -> Sample:
    """The sample with rows or clusters drawn with replacement, as weights."""
    return replace(
        r.design.sample,
        weights=drawn_weights(r.design.sample.case_weights, cluster, rng),
    )


def _estimates(r: LikelihoodResults) -> pd.Series:
    """All parameters, including standard deviations and correlations of
    random effects.
    """
    random = r.random_parameters
    fixed = pd.Series(r.fit.limits, index=r.parameters.names)
    if random is None:
        return fixed
    parameters: pd.Series = pd.concat(
        [fixed, pd.Series(random.estimates, index=random.names)]
    )
    return parameters


def _status(original: LikelihoodFit, fit: LikelihoodFit) -> str:
    if fit.separation is not None:
        return SEPARATED
    if not fit.certificate.reached:
        return FAILED
    return FINE if np.array_equal(fit.aliased, original.aliased) else INCOMPLETE


def _statistic(
    statistic: Callable[[LikelihoodResults], Any], r: LikelihoodResults
) -> pd.Series:
    """Return the result of the user's function as a series of numbers."""
    result = statistic(r)
    if isinstance(result, pd.DataFrame):
        result = result.stack()
    if isinstance(result, pd.Series):
        return result.astype(float)
    values = np.atleast_1d(np.asarray(result, dtype=np.float64))
    if values.ndim != 1:
        raise OptionError(
            "statistic must return a number, a series or a vector; got shape"
            f" {values.shape}."
        )
    return pd.Series(
        values, index=["statistic"] if values.size == 1 else range(values.size)
    )


def bootstrapped(
    r: LikelihoodResults,
    n: int,
    *,
    seed: int | np.random.Generator,
    n_jobs: int = 1,
    cluster: Any = None,
    statistic: Callable[[Any], Any] | None,
    callback: Progress | None = None,
) -> Bootstrap:
    """Fit the model to resampled rows or clusters, or to simulated responses if the fit
    has random effects.
    """
    whole("n", n, 2)
    jobs(n_jobs)
    check_available(r, "bootstrap()")
    draw, drawn = _drawing(r, cluster)
    wanted = _estimates if statistic is None else function_given("statistic", statistic)
    estimate = _statistic(wanted, r).rename("estimate")
    generators = generator(seed).spawn(int(n))
    replication = partial(
        _replicate,
        replace(r, design=replace(r.design, data=None), fitter=None),
        draw,
        wanted,
    )
    status, values = zip(
        *_replicated(replication, generators, int(n_jobs), reporter(callback)),
        strict=True,
    )
    missing = np.full(estimate.size, np.nan)
    table = np.array(
        [missing if replicate is None else replicate for replicate in values]
    )
    return Bootstrap(
        estimate=estimate,
        replicates=pd.DataFrame(table, columns=estimate.index),
        status=pd.Series(status, name="status"),
        drawn=drawn,
    )


def _drawing(r: LikelihoodResults, cluster: Any) -> tuple[_Draw, str]:
    """Return the function that draws a sample, and a description of what it draws."""
    if r.fit.marginal is not None:
        _check_simulated(r, cluster)
        return _simulated, "responses simulated with new random effects"
    if cluster is None:
        groups = r.own_covariance.cluster
    else:
        groups = cluster_codes(cluster, r.design)
    if groups is None:
        return partial(_redrawn, None), "rows"
    return partial(_redrawn, groups), f"{np.unique(groups).size} clusters"


def _check_simulated(r: LikelihoodResults, cluster: Any) -> None:
    """Raise OptionError for clusters and case weights, which simulated responses do not
    support.
    """
    if cluster is not None:
        raise OptionError(
            "cluster must be left out for fits with random effects, because every"
            " replicate simulates new effects and responses for all groups; got"
            f" {cluster!r}."
        )
    weights = r.design.sample.case_weights
    if np.any(weights != 1.0):
        raise OptionError(
            "weights must be 1 to bootstrap a fit with random effects, because one"
            f" response per row is simulated; got weights up to {weights.max():g}. Fit"
            " to data.loc[data.index.repeat(weights)] without weights=."
        )


def _simulated(r: LikelihoodResults, rng: np.random.Generator) -> Sample:
    """The rows of the fit with new random effects and new responses."""
    drawn = cast(Any, r).simulate(1, rng)["sim_1"]
    return replace(r.design.sample, y=drawn.cat.codes.to_numpy(dtype=np.intp))


def _replicated(
    replication: Callable[[np.random.Generator], _T],
    generators: list[np.random.Generator],
    n_jobs: int,
    callback: Progress | None,
) -> Iterator[_T]:
    """Yield the replicates in order; each has its own generator, so results do not
    depend on the number of jobs.
    """
    for step, replicate in enumerate(
        in_processes(replication, zip(generators), n_jobs), start=1
    ):
        if callback is not None:
            callback(step, len(generators), "bootstrap")
        yield replicate
