"""The methods of a likelihood fit that test and compare; the work is done in files of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..._typing import Progress

if TYPE_CHECKING:
    from .bootstrap import Bootstrap
    from .stepwise import Selection


class Inference:
    """Analysis of variance, tests of terms, of proportionality and of linear hypotheses for `LikelihoodResults`."""

    def anova(self: Any, *others: Any, type: str = "I") -> pd.DataFrame:
        """Likelihood-ratio tests against other fits, or Wald tests of the location terms of this one.

        Parameters
        ----------
        *others : LikelihoodResults
            Fits of the same rows, each nested in the next larger one.
        type : {"I", "II", "III", "baseline"}
            Without other fits: each term adjusted for those before it (I), for all that do not contain it (II), or for
            all. Where it is part of an interaction, "III" tests the average of its effect over the levels of the other
            factors, as SAS, car with sum contrasts and R's ordinal since 2025 ("balanced" is another name of it), and
            "baseline" its effect at their first levels, which R's ordinal called type III before.

        Returns
        -------
        pandas.DataFrame
            With others, smallest model first: no_par, aic, loglik, and against the row above lr_stat, df, p_value.
            Alone, one row a term: df, chisq, p_value, by the covariance of the fit (see `with_vcov`). `attrs["notes"]`
            tells of models that are not nested and of infinite estimates.

        Raises
        ------
        DataError
            The fits are not of the same rows.
        OptionError
            A fit is penalised: its log-likelihood is no maximum (also `drop1`, `add1`, `step`, `nominal_test`,
            `scale_test` and `brant`).

        Notes
        -----
        Types I and II weigh rows by their case weights, so that a weight equals repeated rows (R leaves weights out of
        these contrasts). No type depends on the coding of factors; the last two are NaN where a cell is empty, but for
        terms that are part of no other.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.anova(fit.update("~ . - contact")).round(4)["lr_stat"].tolist()
        [nan, 11.043]
        >>> fit.anova(type="III").round(3)["chisq"].to_dict()
        {'temp': 22.417, 'contact': 10.275}
        """
        if others:
            from .comparison import likelihood_ratio_tests

            return likelihood_ratio_tests([self, *others])
        from .wald_anova import wald_anova

        return wald_anova(self, type)

    def drop1(
        self: Any, scope: str | Sequence[str] | None = None, *, test: str | None = "Chisq", k: float = 2.0
    ) -> pd.DataFrame:
        """Each term taken out on its own, as R's drop1().

        Parameters
        ----------
        scope : str or sequence of str, optional
            Location terms; all that are part of no other term if not given. What is left is coded as its formula asks:
            without a factor that is part of an interaction, the interaction takes over its effect, and df is 0.
        test : {"Chisq", None}
            Likelihood-ratio tests, or the criterion alone.
        k : float
            Penalty of a parameter in the criterion (2: AIC, log(n): BIC).

        Returns
        -------
        pandas.DataFrame
            Rows "<none>" and the terms; columns df, aic, lrt, p_value. NaN where a model has no maximum.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.drop1()["lrt"].round(3).to_dict()
        {'<none>': nan, 'temp': 26.928, 'contact': 11.043}
        """
        from .single_terms import dropped_terms

        return dropped_terms(self, scope, test, k)

    def add1(
        self: Any, scope: str | Sequence[str], *, test: str | None = "Chisq", k: float = 2.0, data: Any = None
    ) -> pd.DataFrame:
        """Each term of a scope put in on its own, as R's add1().

        Parameters
        ----------
        scope : str or sequence of str
            A formula, "~ . + x3 + x4", or terms. Terms enter whose margins are in the model.
        test, k : see `drop1`
        data : data frame, optional
            The data of the fit if not given.

        Returns
        -------
        pandas.DataFrame
            As `drop1`.

        Raises
        ------
        DataError
            A term is missing in some rows of the fit, or the data are not at hand or have changed.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp", data=datasets.load("wine"))
        >>> fit.add1("~ . + contact").round(3)
                  df      aic     lrt  p_value
        <none>   NaN  194.027     NaN      NaN
        contact  1.0  184.984  11.043    0.001
        """
        from .single_terms import added_terms

        return added_terms(self, scope, test, k, data)

    def step(
        self: Any, scope: Any = None, *, direction: str | None = None, k: float = 2.0, max_steps: int = 1000
    ) -> Selection:
        """Location terms dropped and added one by one while AIC falls, as R's step(); first those of no effect, df 0.

        Parameters
        ----------
        scope : str or {"lower": str, "upper": str}, optional
            Formula of the largest model, and of the terms that must stay.
        direction : {"both", "backward", "forward"}, optional
            "both" with a largest model, else "backward".
        k : float
            Penalty of a parameter (2: AIC, log(n): BIC).
        max_steps : int

        Returns
        -------
        Selection
            The chosen `fit` and the `trace` of steps. Its p-values and intervals do not know of the selection.

        Raises
        ------
        DataError
            A term that comes or goes is missing in some rows: models are compared on the same rows.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp * contact", data=datasets.load("wine"))
        >>> fit.step().trace["change"].tolist()
        ['', '- temp:contact']
        """
        from .stepwise import stepwise

        return stepwise(self, scope, direction, k, max_steps)

    def nominal_test(self: Any, scope: str | Sequence[str] | None = None) -> pd.DataFrame:
        """Likelihood-ratio tests of proportional odds: each term given an effect of its own at every threshold.

        Parameters
        ----------
        scope : str or sequence of str, optional
            Terms; all location and scale terms that are not nominal already if not given.

        Returns
        -------
        pandas.DataFrame
            Rows "<none>" and the terms; columns df, loglik, aic, lrt, p_value, as R's nominal_test(). NaN where the
            wider model has no maximum; `attrs["notes"]` tells of infinite estimates.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.nominal_test()["p_value"].round(3).to_dict()
        {'<none>': nan, 'temp': 0.365, 'contact': 0.904}
        """
        from .proportionality import nominal_tests

        return nominal_tests(self, scope)

    def scale_test(self: Any, scope: str | Sequence[str] | None = None) -> pd.DataFrame:
        """Likelihood-ratio tests of equal scale: each location term given an effect on the log scale too.

        `scope` and the table as in `nominal_test`; R's scale_test().

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.scale_test().round(3)
                  df  loglik      aic    lrt  p_value
        <none>   NaN -86.492  184.984    NaN      NaN
        temp     1.0 -86.439  186.879  0.105    0.746
        contact  1.0 -86.355  186.711  0.273    0.601
        """
        from .proportionality import scale_tests

        return scale_tests(self, scope)

    def score_test(self: Any) -> pd.DataFrame:
        """Score tests of proportional odds: is an effect the same at every threshold? Nothing is fitted again.

        Returns
        -------
        pandas.DataFrame
            One row a term and "omnibus" for all at once; columns df, chisq, p_value.

        Notes
        -----
        U' J^-1 U with the score U and observed information J of the model with threshold-specific effects, at the
        estimates of this one [Peterson and Harrell 1990, with the expected information]. A term is freed with the
        terms it contains, so the test does not depend on the coding of factors.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.score_test()["df"].tolist()
        [3, 3, 6]
        """
        from .proportionality import score_tests

        return score_tests(self)

    def brant(self: Any) -> pd.DataFrame:
        """Brant's test of proportional odds: are the K-1 separate regressions of "above level k" parallel?

        Returns
        -------
        pandas.DataFrame
            One row a term and "omnibus"; columns df, chisq, p_value. NaN, with `attrs["notes"]`, where one of the
            regressions has infinite estimates; `attrs["coefficients"]` holds the effects at each threshold.

        Notes
        -----
        Wald tests with the joint covariance of the separate estimates [Brant 1990; the same construction for other
        links than logit].

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("PID ~ selfLR + age", data=datasets.load("anes96"))
        >>> fit.brant().round(3)
                 df   chisq  p_value
        selfLR    5  46.921    0.000
        age       5  19.431    0.002
        omnibus  10  75.670    0.000
        """
        from .proportionality import brant_tests

        return brant_tests(self)

    def test(self: Any, hypotheses: str, *, vcov: Any = None) -> pd.DataFrame:
        """Wald tests of linear hypotheses on the parameters.

        Parameters
        ----------
        hypotheses : str
            Equations between commas: "temp = contact", "temp[T.warm] = 0, contact[T.yes] = 1.5", "2 * x1 - x2 = 1".
            Parameters by name, or by their term where it has one column.
        vcov : str or dict, optional
            As in `vcov`.

        Returns
        -------
        pandas.DataFrame
            One row an equation, and "joint" where there are several: difference (left less right side), std_error,
            df, chisq, p_value.

        Raises
        ------
        OptionError
            An equation that cannot be read, or is not linear.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.test("temp = contact").round(4).loc["temp = contact"].tolist()
        [0.9753, 0.6406, 1.0, 2.3178, 0.1279]
        """
        from .hypotheses import hypothesis_tests

        return hypothesis_tests(self, hypotheses, vcov)

    def profile(
        self: Any, parm: str | int | Sequence[str | int] | None = None, *, level: float = 0.99, points: int = 21
    ) -> pd.DataFrame:
        """The profile likelihood of parameters, for plotting: straight lines of z mean that Wald limits are good.

        Parameters
        ----------
        parm : str, int or a sequence of them, optional
            Parameters by name or by position in `params` (from 0), or location terms; all parameters if not given.
        level : float in (0, 1)
            Values reach from one profile limit of this level to the other; 5 standard errors where a limit is infinite.
        points : int
            Values of each parameter, half on either side of the estimate.

        Returns
        -------
        pandas.DataFrame
            One row a value: parameter, value, z (signed root of the deviance), loglik.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.profile("temp", level=0.95, points=3)["z"].round(3).tolist()
        [-1.96, 0.0, 1.96]
        """
        from .profile import profiles

        return profiles(self, parm, level, points)

    def bootstrap(
        self: Any,
        n: int = 1000,
        *,
        seed: int | np.random.Generator = 0,
        n_jobs: int = 1,
        cluster: Any = None,
        statistic: Callable[[Any], Any] | None = None,
        callback: Progress | None = None,
    ) -> Bootstrap:
        """Rows or clusters drawn again and the model fitted to each draw.

        Parameters
        ----------
        n : int
            Replicates, at least 2.
        seed : int or numpy.random.Generator
            Same seed, same result, whatever `n_jobs` is.
        n_jobs : int
            Processes, by joblib; -1 for all processors.
        cluster : str or values, optional
            Whole clusters are drawn: a column of the data, or one value per row of the fit. The clusters of the fit
            where it has some.
        statistic : callable(LikelihoodResults) -> number, Series or vector, optional
            What to compute on each draw instead of the estimates, such as `lambda fit: fit.aic`; the fit it gets
            has the drawn rows as case weights.
        callback : callable(step, total, message), optional
            Called after every replicate.

        Returns
        -------
        Bootstrap
            `.replicates`, `.se`, `.bias`, `.confint(level, type)`, and `.notes` on replicates that failed or are
            separated.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> draws = fit.bootstrap(20, cluster="judge")
        >>> draws.replicates.shape, draws.clusters
        ((20, 6), 9)
        """
        from .bootstrap import bootstrap

        return bootstrap(self, n, seed, n_jobs, cluster, statistic, callback)
