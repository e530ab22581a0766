"""Rubin's rules over fits to imputed data: `pool`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from types import MethodType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from ....checks import number
from ....exceptions import OptionError, UnavailableError
from ...report.render import as_text
from ..fitted import FittedLikelihood
from .estimates import PooledEstimates
from .same_model import likelihood_fits
from .summary import pooled_frame, pooled_report, pooled_summary, repr_html
from .tests import pooled_hypothesis_tests, pooled_model_test

_SCREEN = 80

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from ...report.render import Report, Summary


def _conf_int(r: PooledEstimates, alpha: float = 0.05) -> pd.DataFrame:
    """statsmodels' name of confint(1 - alpha)."""
    return r.confint(1.0 - alpha)


#: statsmodels' names (those of its MICEResults), which answer and are not listed.
_STATSMODELS: Mapping[str, Callable[[Any], Any]] = {
    "bse": attrgetter("se"),
    "tvalues": attrgetter("t_values"),
    "pvalues": attrgetter("p_values"),
    "conf_int": lambda r: MethodType(_conf_int, r),
    "cov_params": attrgetter("vcov"),
    "frac_miss_info": attrgetter("fmi"),
}


class PooledResults(PooledEstimates):
    """One model fitted to m imputed data sets, pooled by Rubin's rules; what `pool` and `ordfit_mi` return.

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat import datasets, ordfit_mi
    >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
    >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand-ins for imputations
    >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
    >>> pooled = ordfit_mi("rating ~ temp + contact", frames)
    >>> pooled.confint(0.9).round(2).loc["temp[T.warm]"].tolist()
    [1.64, 3.45]
    """

    def test(self, hypotheses: str) -> pd.DataFrame:
        """Tests of linear hypotheses on the parameters: "x1 = 0, x2 = 0".

        Parameters
        ----------
        hypotheses : str
            Equations between commas, as in `test` of a single fit.

        Returns
        -------
        pandas.DataFrame
            One row an equation, and "joint" where there are several: difference (left less right side), std_error, F,
            df, df_denom, p_value, riv (relative increase in variance). A single equation is the t test of `summary`.

        Raises
        ------
        OptionError
            An equation that cannot be read, is not linear or follows from the others.

        Notes
        -----
        Wald tests of the pooled estimates (D1), the increase in variance taken to be the same in all directions [Li,
        Raghunathan & Rubin 1991; with small complete samples Reiter 2007].

        Examples
        --------
        >>> import numpy as np
        >>> from ordstat import datasets, ordfit_mi
        >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
        >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand-ins for imputations
        >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
        >>> pooled = ordfit_mi("rating ~ temp + contact", frames)
        >>> pooled.test("temp = 0, contact = 0").round(2).loc["joint", ["F", "df"]].tolist()
        [11.36, 2.0]
        """

        return pooled_hypothesis_tests(self, hypotheses)

    def anova(self, other: PooledEstimates) -> pd.DataFrame:
        """Test of a smaller model against a larger one, both pooled over the same imputed data sets.

        Parameters
        ----------
        other : pooled results
            The other model, smaller or larger: `pool(smaller_fits)`, or `pooled.update("~ . - x2")`.

        Returns
        -------
        pandas.DataFrame
            One row: F, df, df_denom, p_value, riv (relative increase in variance). The Wald test (D1) of `test` that
            the parameters which the smaller model lacks are 0.

        Raises
        ------
        OptionError
            The models are not nested, or not pooled over the same data sets; a smaller model that is the larger one at
            other values of its parameters than 0.
        DataError
            The fits are not of the same rows.

        Examples
        --------
        >>> import numpy as np
        >>> from ordstat import datasets, ordfit_mi
        >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
        >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand-ins for imputations
        >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
        >>> pooled = ordfit_mi("rating ~ temp + contact", frames)
        >>> pooled.anova(pooled.update("~ . - contact")).round(2)[["F", "df"]].to_numpy().tolist()
        [[7.01, 1.0]]
        """

        return pooled_model_test(self, other)

    def tidy(self, exponentiate: bool = False, level: float = 0.95) -> pd.DataFrame:
        """One row per parameter: term, estimate, std_error, statistic, df, p_value, conf_low, conf_high, riv, fmi and
        kind.

        Parameters
        ----------
        exponentiate : bool
            exp() of estimate and limits of all terms but thresholds; the other columns stay those of the coefficient.
        level : float in (0, 1)
            Confidence level of the limits.
        """

        return pooled_frame(self, exponentiate, level)

    def report(self, level: float = 0.95) -> Report:
        """The summary as data.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level of the limits.
        """

        return pooled_report(self, level)

    def summary(self, level: float = 0.95) -> Summary:
        """The summary: its text is str(), its tables are in `.tables`.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level of the limits.
        """

        return pooled_summary(self, level)

    _repr_html_ = repr_html

    def update(self, formula: str | None = None, *, data: Any = None, **changes: Any) -> PooledResults:
        """The same data sets with something changed, pooled again.

        Parameters
        ----------
        formula : str, optional
            A dot stands for that side of the old formula: "~ . - x2".
        data : list of data frames, optional
            As many as there are imputations, in their order; those of the fits if not given.
        **changes
            As in `update` of a single fit: nominal, scale, method, link, vcov, ...

        Raises
        ------
        OptionError
            data= is no list of as many frames.
        """
        frames = [None] * self.n_imputations if data is None else _frames(data, self.n_imputations)
        pairs = zip(self.fits, frames, strict=True)
        fits = [cast(Any, fit).update(formula, data=frame, **changes) for fit, frame in pairs]
        return pool(fits, None if self.df_complete == _smallest_df(self.fits) else self.df_complete)

    def __repr__(self) -> str:
        return as_text(self.report(), _SCREEN, _SCREEN)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """statsmodels' names; what only single fits have."""
            if (known := _STATSMODELS.get(name)) is not None:
                return known(self)
            if not name.startswith("_") and hasattr(type(self.fits[0]), name):
                raise UnavailableError(f"pooled fits have no .{name}; the single fits have, in .fits.")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def pool(fits: Iterable[Any], dfcom: float | None = None) -> PooledResults:
    """Fits of one model to imputed data sets as one, by Rubin's rules.

    Parameters
    ----------
    fits : list of LikelihoodResults
        At least 2, one for each imputed frame: of clm, acat or any link, with nominal and scale effects, and whatever
        covariance each carries (`vcov=`, `cluster=`).
    dfcom : float, optional
        Degrees of freedom that complete data would have, for the t distribution [Barnard & Rubin 1999]; numpy.inf for
        those of Rubin (1987). If not given, observations less parameters; where standard errors are cluster-robust,
        clusters less 1; with a survey design, its degrees of freedom. The smallest of the fits. Under CR2 a parameter
        has no more than Satterthwaite's.

    Returns
    -------
    PooledResults
        `.params`, `.se`, `.df`, `.fmi`, `.riv`, `.p_values`, `.vcov()`, `.confint()`, `.tidy()`, `.summary()`; tests
        by `.test("x1 = 0, x2 = 0")` and `.anova(pool(smaller_fits))`.

    Raises
    ------
    OptionError
        Fewer than 2 fits, fits of different models, or of a method without standard errors.
    DataError
        Infinite estimates (a separated response).

    Notes
    -----
    Estimates are means, T = U + (1 + 1/m) B their covariance: U the mean covariance of the fits and B that of the
    estimates between them [Rubin 1987]. Figures are those of R's mice (`pool`, `D1`).

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat import datasets, ordfit, pool
    >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
    >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand-ins for imputations
    >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
    >>> pooled = pool([ordfit("rating ~ temp + contact", frame) for frame in frames])
    >>> pooled.fmi.round(2)[["temp[T.warm]", "contact[T.yes]"]].tolist()
    [0.07, 0.33]
    """
    given = likelihood_fits(fits)
    if dfcom is None:
        df = _smallest_df(given)
    else:
        df = np.inf if dfcom == np.inf else number("dfcom", dfcom, above=0, also=", or numpy.inf")
    return PooledResults(given, float(df))


def _frames(data: Any, m: int) -> list[Any]:
    """The data sets of a list."""
    if isinstance(data, (str, dict, pd.DataFrame)) or not isinstance(data, Iterable):
        raise OptionError(
            f"data of a pooled update must be a list of {m} imputed data frames; got a {type(data).__name__}. "
            "Fit to one frame by ordfit(), or .fits[0].update(data=...)."
        )
    frames = list(data)
    if len(frames) != m:
        raise OptionError(f"data of a pooled update must be a list of {m} imputed data frames; got {len(frames)}.")
    return frames


def _smallest_df(fits: Iterable[FittedLikelihood]) -> float:
    """The smallest complete-data degrees of freedom of some fits."""
    return min(_complete_df(fit) for fit in fits)


def _complete_df(fit: FittedLikelihood) -> float:
    """Degrees of freedom of complete data, at least 1."""
    if fit.design.survey is not None:
        return fit.design_df
    cluster = fit.own_covariance.cluster
    return max(fit.df_residual if cluster is None else np.unique(cluster).size - 1.0, 1.0)
