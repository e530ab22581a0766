"""Results of a kernel cumulative model: the penalties tried, and what the function is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...model.kernels.fit import KernelFit
from ..base import OrdinalResults
from ..fitted import FittedRanker
from ..report.noted import NotedFrame
from ..report.render import Report, Table
from ..report.sections import error_tables, figures, ranker_report, threshold_table
from .margin import FittedThresholds, tidy_thresholds
from .probable import PREDICTS, rule_probabilities

# Rows of the table of penalties in a summary.
_SHOWN = 8

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


class FittedKernel(FittedRanker):
    """A fitted function of a kernel's space with probabilities, P(y <= k) = F(threshold_k - H)."""

    fit: KernelFit

    predicts = PREDICTS
    no_bounds = "No margin bounds: the likelihood has no margin."

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Kernel cumulative model"

    _probabilities = rule_probabilities

    @property
    def trials(self) -> pd.DataFrame:
        """The penalties tried, best first; no rows where one was given.

        Returns
        -------
        pandas.DataFrame
            kernel, its gamma (where that is chosen), features (columns of all rows, or of landmarks), penalty, spread
            (the standard deviation of H under the prior that the penalty stands for) and loss, in nats a row: minus
            the log evidence, or -log P(y) of rows held out.
        """
        names = ("kernel", "gamma", "columns", "penalty", "spread", "loss")
        frame = pd.DataFrame([[getattr(one, name) for name in names] for one in self.fit.trials], columns=list(names))
        frame = frame.rename(columns={"columns": "features"}).dropna(axis=1, how="all")
        frame = frame.sort_values("loss", kind="stable", ignore_index=True) if len(frame) else frame
        return frame.rename_axis(index="place")


def kernel_figures(fit: FittedKernel) -> pd.DataFrame:
    """One row of figures of the whole fit."""
    f = fit.fit
    found = figures(fit).assign(
        penalty=f.penalty,
        spread=f.spread,
        features=f.columns,
        effective=f.effective,
        loglik=f.loglik,
        log_evidence=f.log_evidence,
    )
    return NotedFrame.of(found)


def _trial_table(fit: FittedKernel) -> Table:
    frame = fit.trials
    note = f"The best {_SHOWN} of {len(frame)}; all are in .trials." if len(frame) > _SHOWN else ""
    return Table(
        title=f"Penalties by {fit.fit.by}: nats a row, less is better",
        frame=frame.head(_SHOWN).set_index(frame["penalty"].head(_SHOWN).map("{:.4g}".format)).drop(columns="penalty"),
        formats={"features": "int", "spread": ".3g", "loss": ".4f", "gamma": "g"},
        note=note,
        section="fit",
    )


class KernelResults(FittedKernel, FittedThresholds, OrdinalResults):
    """A fitted function of a kernel's space, P(y <= k) = F(threshold_k - H).

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> train = datasets.quadratic_bands(200, seed=1)
    >>> fit = ordfit("rank ~ x1 + x2", train, "kernel-clm")
    >>> fit.predict(train.head(2), type="prob").shape
    (2, 4)
    """

    fit: KernelFit

    def tidy(self) -> pd.DataFrame:
        """One row per threshold and linear coefficient: term, estimate, coef_type.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm", kernel="linear")
        >>> fit.tidy().round(2)
                     term  estimate  coef_type
        0             1|2      -1.0  threshold
        1             2|3       1.0  threshold
        2             3|4       3.0  threshold
        3             4|5       5.0  threshold
        4    temp[T.warm]       2.0   location
        5  contact[T.yes]       2.0   location
        """

        return tidy_thresholds(self)

    glance = kernel_figures

    def summary_data(self) -> Report:
        """All of the summary as data."""
        f = self.fit
        share = 1.0 - f.loglik / f.null_loglik if f.null_loglik else np.nan
        text = f"{f.loglik:.4f}; {f.null_loglik:.4f} by thresholds alone; McFadden R2 {share:.3f}"
        tables = [threshold_table(self.thresholds.to_frame())]
        if f.coefficients is not None:
            tables.insert(0, Table(title="Coefficients (positive = higher response)", frame=self.coef.to_frame()))
        if f.trials:
            tables.append(_trial_table(self))
        return ranker_report(self, [*tables, *error_tables(self)], [("Log-likelihood", text)])
