"""Results of models with monotone effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ..report.frames import NotedFrame
from .bare_results import ResultsWithoutErrors
from .unavailable import without


@without("monotone")
@dataclass(frozen=True, eq=False, repr=False)
class MonotoneResults(ResultsWithoutErrors):
    """A likelihood model with monotone effects of ordered predictors, mono(x).

    The estimates maximise the likelihood over all effects whose steps between
    neighbouring levels are >= 0 (or <= 0). Coefficients are effects against the lowest
    level. There are no standard errors: if the constraint holds a step at 0, estimates
    are not normally distributed.

    References
    ----------
    Rufibach, K. (2010). An active set algorithm to estimate parameters in generalized
    linear models with ordered predictors. Computational Statistics and Data Analysis,
    54(6), 1442-1456.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("PID ~ mono(educ) + age", datasets.load("anes96"))
    >>> fit.joined_levels
    {'educ': [(1,), (2,), (3,), (4, 5), (6, 7)]}
    """

    no_errors: ClassVar[str] = (
        "No standard errors: where the constraint of mono() makes effects of levels"
        " equal, estimates have no normal distribution. monotone_test() tests for any"
        " effect."
    )
    part: ClassVar[str] = "mono(x)"
    with_errors: ClassVar[str] = "a fit with x in place of mono(x)"

    @property
    def without_aic(self) -> str:
        return "steps that the constraint holds at 0 are no free parameters"

    def monotone_test(
        self, draws: int = 10_000, seed: int | np.random.Generator = 0
    ) -> NotedFrame:
        """Likelihood-ratio test that the effects of mono() are 0, against monotone
        effects; one joint test for several mono() terms.

        With m steps, P(chisq > c) = sum_j w_j P(chi2_j > c) over j = 1, ..., m, where
        w_j is the probability that j of m normal estimates are positive once
        constrained to be >= 0; their information is that about the steps if all are 0.

        Parameters
        ----------
        draws : int
            Number of draws for the shares w_j, at least 100.
        seed : int or numpy.random.Generator
            Seed of the draws.

        Returns
        -------
        NotedFrame
            One row: chisq >= 0, twice the gain of the log-likelihood; mean_df, the sum
            of j w_j, between 0 and m; p_value, 1 if the gain is 0.

        Raises
        ------
        OptionError
            `draws` is not a whole number of at least 100.
        UnavailableError
            Other effects have no finite estimates without mono().

        References
        ----------
        Silvapulle, M. J. and Sen, P. K. (2005). Constrained Statistical Inference,
        chapters 3 and 4. Wiley.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("PID ~ mono(educ) + age", datasets.load("anes96"))
        >>> fit.monotone_test()["chisq"].round(2).tolist()
        [19.53]
        """
        from .monotone_test import monotone_test

        return monotone_test(self, draws, seed)

    def glance(self) -> pd.DataFrame:
        """One row of statistics of the whole fit, without AIC, BIC and degrees of
        freedom.
        """
        figures = super().glance()
        lacking = ["edf", "df_residual", "aic", "bic", "lr_chi2", "lr_df", "lr_p_value"]
        return figures.drop(columns=lacking)

    def _header(self) -> tuple[tuple[str, Any], ...]:
        steps = 0
        moving = 0
        for groups in self.joined_levels.values():
            steps += sum(map(len, groups)) - 1
            moving += len(groups) - 1
        return (
            ("Steps between levels", f"{moving} of {steps} differ from 0"),
            ("Log-likelihood", f"{self.loglik:.4f}"),
        )

    @property
    def _titles(self) -> dict[str, str]:
        return {
            "location": "Location effects (positive = higher response)",
            "nominal": f"{self.family.nominal_title} ({self.family.nominal_words})",
        }
