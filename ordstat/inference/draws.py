"""Draws from the posterior distribution of the parameters, by importance sampling
around the estimates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from .._typing import FloatArray, Progress
from ..checks import (
    fraction,
    function_given,
    generator,
    mapping,
    number,
    reporter,
    unknown,
    whole,
)
from ..exceptions import ConvergenceWarning, OptionError, UnavailableError, warn
from ..formula.names import in_own_names
from ..likelihood.remedies import MERGE, as_sentence, remedies
from ..likelihood.unavailable import check_available
from ..report.frames import Exported, NotedFrame
from .wald import named_parameters

if TYPE_CHECKING:
    from ..likelihood.at_estimates import LikelihoodAtEstimates
    from ..likelihood.results import LikelihoodResults

#: Degrees of freedom of the t distribution that draws are proposed from: few, so that
#: its tails are heavier than those of the posterior.
_DF = 7.0
#: Pareto k above which the weights of a few draws decide [Vehtari et al. 2024].
_LARGEST_K = 0.7


_EXAMPLE = "{'x': (0.0, 1.0)}"
_Function = Callable[[pd.DataFrame], Any]


@dataclass(frozen=True, eq=False)
class _Names:
    """What parameters may be called.

    Attributes
    ----------
    shown : dict
        Printed names by own names.
    single : dict
        Own names by those of terms of one column, and by themselves.
    """

    shown: dict[str, str]
    single: dict[str, str]

    @classmethod
    def of(cls, r: LikelihoodResults) -> _Names:
        names = r.parameters.names
        named = named_parameters(r).items()
        single = {text: names[at[0]] for text, at in named if len(at) == 1}
        return cls(r.names_shown(), single)

    def own(self, given: Any) -> str:
        """The own name, if it is one of a parameter; else what was given."""
        name = in_own_names(str(given), self.shown)
        return self.single.get(name, name)


class DrawnFrame(pd.DataFrame):
    """Draws of parameters; columns are also found by their printed names."""

    _metadata: ClassVar[list[str]] = ["_spelled"]
    _spelled: _Names

    @property
    def _constructor(self) -> type[DrawnFrame]:
        return DrawnFrame

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            key = self._own(key)
        elif isinstance(key, list) and all(isinstance(name, str) for name in key):
            key = [self._own(name) for name in key]
        return super().__getitem__(key)

    def _own(self, name: str) -> str:
        """The column of a name.

        Raises
        ------
        OptionError
            There is none.
        """
        if name in self.columns or not hasattr(self, "_spelled"):
            return name
        own = self._spelled.own(name)
        if own not in self.columns:
            raise unknown("the name of a parameter", name, self.columns)
        return own


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Draws(Exported):
    """Weighted draws from the posterior distribution of the parameters.

    Attributes
    ----------
    frame : pandas.DataFrame
        (n, P) a row for each draw, a column for each parameter, named as in `params`.
        Printed names, such as d["temp: warm"], and terms of one column work too.
    weights : (n,)
        Importance weights after Pareto smoothing; they sum to 1.
    pareto_k : float
        Shape parameter of the tail of the weights; up to 0.7 the draws are reliable.
    """

    frame: pd.DataFrame
    weights: FloatArray
    pareto_k: float

    @property
    def effective(self) -> float:
        """Effective number of draws, 1 / sum of squared weights."""
        return float(1.0 / np.square(self.weights).sum())

    def interval(
        self,
        function: _Function | Mapping[str, _Function] | None = None,
        level: float = 0.95,
    ) -> NotedFrame:
        """Posterior means, medians, standard deviations and central credible intervals.

        Parameters
        ----------
        function : callable(DataFrame) -> Series, DataFrame or array, or mapping
            A function of `frame` with n values, or n rows of several values; or a dict
            of such functions by name. By default the parameters themselves.
        level : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            A row per value; columns mean, median, sd, lower, upper. For ratios use the
            median: a few extreme draws dominate the mean.

        Raises
        ------
        OptionError
            The function does not return a value for each draw, or `level` is outside
            (0, 1).

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> draws = fit.draws(1000, seed=1)
        >>> ratio = lambda d: d["temp[T.warm]"] / d["contact[T.yes]"]
        >>> draws.interval({"temp / contact": ratio})["median"].round(1).to_dict()
        {'temp / contact': 1.7}
        """
        fraction("level", level)
        values = self.frame if function is None else self._values(function)
        shares = np.array([0.5, 0.5 - level / 2.0, 0.5 + level / 2.0])
        columns = values.to_numpy(dtype=np.float64)
        mean = self.weights @ columns
        quantiles = [_quantiles(column, self.weights, shares) for column in columns.T]
        median, lower, upper = np.transpose(quantiles)
        table = pd.DataFrame(
            {
                "mean": mean,
                "median": median,
                "sd": np.sqrt(self.weights @ np.square(columns - mean)),
                "lower": lower,
                "upper": upper,
            },
            index=values.columns,
        )
        title = f"Posterior, {100 * level:g}% credible intervals"
        return NotedFrame.of(table, [self._quality()], title)

    def probability(self, condition: Callable[[pd.DataFrame], Any]) -> float:
        """Posterior probability of a condition.

        Parameters
        ----------
        condition : callable(DataFrame) -> n booleans
            A function of `frame` that says for each draw whether the condition holds.

        Raises
        ------
        OptionError
            The function does not return a boolean for each draw.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> draws = fit.draws(1000, seed=1)
        >>> bool(draws.probability(lambda d: d["contact[T.yes]"] > 0) > 0.99)
        True
        """
        holds = self._values(condition)
        if holds.shape[1] != 1 or not pd.api.types.is_bool_dtype(holds.dtypes.iloc[0]):
            raise OptionError(
                "condition must return a boolean for each draw, as in lambda d: d['x']"
                f" > 0; got {holds.shape[1]} columns of"
                f" {holds.dtypes.iloc[0]}."
            )
        return float(self.weights[holds.iloc[:, 0].to_numpy(dtype=bool)].sum())

    def _values(self, function: _Function | Mapping[str, _Function]) -> pd.DataFrame:
        """(n, m) what a function of the draws returns."""
        if isinstance(function, Mapping) and function:
            parts = []
            for name, each in function.items():
                part = self._values(each)
                single = part.shape[1] == 1
                heads = [name if single else f"{name} {column}" for column in part]
                parts.append(part.set_axis(heads, axis=1))
            return pd.concat(parts, axis=1)
        returned = function_given("function", function)(self.frame.copy())
        if isinstance(returned, pd.Series):
            label = "value" if returned.name is None else returned.name
            values = returned.to_frame(label)
        elif isinstance(returned, pd.DataFrame):
            values = returned
        else:
            array = np.asarray(returned)
            names = ["value"] if array.ndim == 1 else None
            values = pd.DataFrame(np.atleast_1d(array), columns=names)
        if len(values) != len(self.frame) or not values.shape[1]:
            raise OptionError(
                f"function must return a value for each of the {len(self.frame)}"
                f" draws; got shape {values.shape}. Compute with whole columns of the"
                " frame of draws, such as d['x1'] - d['x2']."
            )
        return values

    def _quality(self) -> str:
        return (
            f"{len(self.frame)} draws, effective number {self.effective:.0f}; Pareto k"
            f" {self.pareto_k:.2f} (reliable up to {_LARGEST_K:g})."
        )

    def exported(self) -> list[NotedFrame]:
        return [self.interval()]


def posterior_draws(
    r: LikelihoodResults,
    n: int,
    prior: Mapping[str, tuple[float, float]] | None,
    seed: int | np.random.Generator,
    callback: Progress | None,
) -> Draws:
    """Draws of a fit; the arguments of `LikelihoodResults.draws`."""
    check_available(r, "draws()")
    n = whole("n", n, 100)
    rng = generator(seed)
    if r.fit.determined is not None or not r.fit.certificate.reached:
        raise UnavailableError(
            "draws() needs finite estimates at a maximum of the likelihood, which this"
            f" fit does not have. {as_sentence(remedies(r, MERGE))} A ridge is a"
            " normal prior."
        )
    estimated = ~r.fit.aliased
    names = np.array(r.parameters.names)[estimated].tolist()
    known = _Names.of(r)
    normal = _Normal.of(prior, names, known)
    centre, covariance = normal.updated(
        r.fit.coefficients[estimated], r.fit.model_covariance.dense()
    )
    draws, proposed = _proposals(centre, covariance, n, rng)
    heights = _heights(r.fit.likelihood, draws, reporter(callback))
    weights, pareto_k = _smoothed(heights + normal.log_density(draws) - proposed)
    if not pareto_k <= _LARGEST_K:
        warn(
            f"The weights of the draws have Pareto k {pareto_k:.2f}, above"
            f" {_LARGEST_K:g}: a few draws dominate, so results are not reliable."
            " Use bootstrap(), or a sampler for Bayesian models.",
            ConvergenceWarning,
        )
    frame = DrawnFrame(draws, columns=names)
    frame._spelled = known
    return Draws(frame=frame, weights=weights, pareto_k=pareto_k)


def _proposals(
    centre: FloatArray, covariance: FloatArray, n: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """(n, P) draws of a multivariate t distribution, and their log densities (n,), but
    for a constant.
    """
    normal = rng.standard_normal((n, centre.size))
    stretch = np.sqrt(_DF / rng.chisquare(_DF, size=n))
    directions = stretch[:, None] * normal
    draws = centre + directions @ np.linalg.cholesky(covariance).T
    distances = np.square(directions).sum(axis=1)
    return draws, -0.5 * (_DF + centre.size) * np.log1p(distances / _DF)


def _heights(
    likelihood: LikelihoodAtEstimates, draws: FloatArray, progress: Progress | None
) -> FloatArray:
    """(n,) the log-likelihood, penalised if the fit is, at draws (n, P); -inf outside
    the domain, as where thresholds cross.
    """
    problem = likelihood.problem
    objective = likelihood.estimation.objective(problem)
    heights = np.full(len(draws), -math.inf)
    for i, draw in enumerate(draws):
        at = objective(problem.from_user(draw))
        if at is not None:
            heights[i] = at.loglik
        if progress is not None:
            progress(i + 1, len(draws), "draws")
    return heights


@dataclass(frozen=True, eq=False)
class _Normal:
    """Independent normal priors of some of P parameters.

    Attributes
    ----------
    mean, precision : (P,)
        Precision 0 for a flat prior.
    """

    mean: FloatArray
    precision: FloatArray

    @classmethod
    def of(
        cls,
        prior: Mapping[str, tuple[float, float]] | None,
        names: list[str],
        known: _Names,
    ) -> _Normal:
        """From the prior as it was given."""
        mean = np.zeros(len(names))
        precision = np.zeros(len(names))
        for given, moments in mapping("prior", prior, _EXAMPLE).items():
            name = known.own(given)
            if name not in names:
                raise unknown("each name in prior", name, names)
            try:
                centre, deviation = moments
            except (TypeError, ValueError) as error:
                raise OptionError(
                    f"prior[{name!r}] must be a mean and a standard deviation, as in"
                    f" {_EXAMPLE}; got {moments!r}."
                ) from error
            position = names.index(name)
            if precision[position]:
                raise OptionError(
                    f"prior must name each parameter once; {name!r} has two priors."
                )
            mean[position] = number(f"the mean in prior[{name!r}]", centre)
            deviation = number(
                f"the standard deviation in prior[{name!r}]", deviation, above=0.0
            )
            precision[position] = deviation**-2
        return cls(mean, precision)

    def updated(
        self, estimates: FloatArray, covariance: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of the posterior if the likelihood were normal."""
        if not self.precision.any():
            return estimates, covariance
        information = np.linalg.inv(covariance)
        both = np.linalg.inv(information + np.diag(self.precision))
        mean = both @ (information @ estimates + self.precision * self.mean)
        return mean, 0.5 * (both + both.T)

    def log_density(self, draws: FloatArray) -> FloatArray:
        """(n,) log density at draws (n, P), but for a constant."""
        return -0.5 * np.square(draws - self.mean) @ self.precision


def _smoothed(log_ratios: FloatArray) -> tuple[FloatArray, float]:
    """Pareto-smoothed importance weights, and the shape of their tail."""
    try:
        from arviz_stats.base import array_stats
    except ImportError as error:
        raise ImportError(
            "draws() needs the package arviz-stats. Install it: pip install arviz-stats"
        ) from error
    inside = np.isfinite(log_ratios)
    weights = np.zeros(log_ratios.size)
    # it takes log-likelihoods left out, which are the negative log ratios
    smoothed, pareto_k = array_stats.psislw(-log_ratios[inside])
    weights[inside] = np.exp(smoothed)
    return weights, float(pareto_k)


def _quantiles(
    values: FloatArray, weights: FloatArray, tails: FloatArray
) -> FloatArray:
    """Weighted quantiles, linear between the middles of the steps."""
    order = np.argsort(values, kind="stable")
    heights = np.cumsum(weights[order]) - 0.5 * weights[order]
    return np.interp(tails, heights, values[order])
