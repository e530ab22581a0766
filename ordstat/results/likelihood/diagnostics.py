"""The methods of a likelihood fit that ask whether it can be believed; the work is done in files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from .convergence import Convergence
    from .goodness import GoodnessOfFit
    from .residuals import Influence


class Diagnostics:
    """Residuals, influence, goodness of fit, discrimination, convergence and simulation of a `LikelihoodResults`."""

    @property
    def deviance(self: Any) -> float:
        """-2 loglik; against the saturated model of single rows, whose log-likelihood is 0."""
        return -2.0 * float(self.loglik)

    def residuals(self: Any, type: str = "surrogate", seed: int | np.random.Generator = 0) -> pd.Series:
        """One residual a row; positive where the level is higher than expected, of mean 0 under the true model.

        Parameters
        ----------
        type : str
            "surrogate": a latent error drawn from its distribution given the observed level, less the mean of the
            latent distribution (the median for cauchit) and in units of the row's scale: a sample from that
            distribution if the model is true, so any plot for continuous residuals serves [Liu & Zhang 2018].
            "probability-scale": P(Y < y) - P(Y > y) [Li & Shepherd 2012]. "generalised": derivative of the row's
            log-likelihood by its score H [Gourieroux et al. 1987]. "deviance": square root of -2 log P(Y = y), signed
            as "probability-scale"; the squares, weighted, add up to `deviance`. "pearson": (rank - expected
            rank) / standard deviation.
        seed : int or numpy.random.Generator
            Of "surrogate"; the others use no random numbers.

        Returns
        -------
        pandas.Series
            On the index of the rows of the fit. Case weights play no part in a row's own residual.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.residuals("probability-scale").head(3).round(3).tolist()
        [-0.016, 0.747, 0.305]
        """
        from .residuals import residual_series

        return residual_series(self, type, seed)

    def influence(self: Any) -> Influence:
        """Leverage, dfbeta and Cook's distance of every row.

        Returns
        -------
        Influence
            With series hat and cooks, frames dfbeta and dfbetas, and `largest(n)`.

        Raises
        ------
        DataError
            The response is separated, so that estimates are infinite.

        Notes
        -----
        A row of weight w counts as w equal cases that leave together. dfbeta is the estimate less the one that a single
        step gives without the row, its own curvature taken out of the information [Pregibon 1981].

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> round(float(fit.influence().hat.sum()), 6)
        6.0
        """
        from .residuals import influence_of

        return influence_of(self)

    def gof(self: Any, test: str = "lipsitz", groups: int | None = None) -> GoodnessOfFit:
        """Test the model against departures that nobody named.

        Parameters
        ----------
        test : {"lipsitz", "hosmer-lemeshow", "pulkstenis-robinson"}
            Lipsitz: indicators of groups by expected rank, added to the model, likelihood ratio test. Hosmer-Lemeshow:
            observed against expected counts of the groups by level [Fagerland & Hosmer 2013]. Pulkstenis-Robinson: the
            same for the patterns of the categorical covariates, each cut at its median expected rank; it needs
            categorical and numeric covariates.
        groups : int, optional
            Groups by expected rank, 10 if not given; not for Pulkstenis-Robinson.

        Returns
        -------
        GoodnessOfFit
            With `table` (statistic, df, p_value), `observed` and `expected` counts, and notes on the approximation.

        Raises
        ------
        OptionError
            An unknown test; Hosmer-Lemeshow and Pulkstenis-Robinson with nominal or scale effects.
        DataError
            Too few distinct expected ranks for the groups; no categorical or no numeric covariate; separation.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.gof("hosmer-lemeshow", groups=4).table.round(3).to_dict("records")
        [{'statistic': 3.572, 'df': 11, 'p_value': 0.981}]
        """
        from .goodness import gof

        return gof(self, test, groups)

    def discrimination(self: Any) -> pd.Series:
        """The statistics that R's rms reports: tests of all effects, R2s, g, rank correlations, Brier score.

        Returns
        -------
        pandas.Series
            lr_chi2, lr_df, lr_p_value; score_chi2, score_p_value; cox_snell, nagelkerke, mcfadden; r2_n_p,
            n_effective, r2_effective, r2_effective_p; g, gr, gp; pdm; rho; c_index, somers_d, gamma, tau_a; brier, rps.
            `ordstat.assess.likelihood.discrimination.Discrimination` says what each is.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.discrimination()[["nagelkerke", "c_index", "rps"]].round(3).tolist()
        [0.403, 0.774, 0.44]
        """
        from .residuals import discrimination_series

        return discrimination_series(self)

    def convergence(self: Any) -> Convergence:
        """How exactly every estimate is known: gradient, error left, correct decimals and digits, eigenvalues.

        Returns
        -------
        Convergence
            With `table`, `eigenvalues`, `condition`, `message` and `warnings`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> bool((fit.convergence().table["decimals"] >= 8).all())
        True
        """
        from .convergence import convergence

        return convergence(self)

    def simulate(self: Any, n: int = 1, seed: int | np.random.Generator = 0, newdata: Any = None) -> pd.DataFrame:
        """Responses drawn from the fitted probabilities.

        Parameters
        ----------
        n : int
            Number of responses for every row.
        seed : int or numpy.random.Generator
        newdata : data frame, optional
            Rows to simulate; the rows of the fit if not given.

        Returns
        -------
        pandas.DataFrame
            Columns sim_1, ..., sim_n: ordered categoricals of the levels of the response, on the index of the rows;
            NaN where an input is missing.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.simulate(n=2, seed=1).shape
        (72, 2)
        """
        from .simulate import simulate

        return simulate(self, self._target(newdata), n, seed)
