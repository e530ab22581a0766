"""How well a likelihood fit tells levels apart, as pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...assess.likelihood.discrimination import discrimination, middle_code
from .fitted import FittedLikelihood

#: What "brier" was called before it told its level.
_BRIER = "brier"


class Discrimination(pd.Series):
    """The series of `discrimination`; its Brier score of one level answers to "brier" too."""

    @property
    def _constructor(self) -> type[Discrimination]:
        return Discrimination

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__([*map(self._known, key)] if isinstance(key, list) else self._known(key))

    def _known(self, key: Any) -> Any:
        """The name now of what a key names."""
        if not isinstance(key, str) or key != _BRIER:
            return key
        return next((name for name in self.index if str(name).startswith("brier_at_")), key)


def discrimination_series(r: FittedLikelihood) -> pd.Series:
    """The statistics that R's rms reports: tests of all effects, R2s, g, rank correlations, Brier score.

    Returns
    -------
    pandas.Series
        lr_chi2, lr_df, lr_p_value; score_chi2, score_p_value (all NaN with a survey design); cox_snell, nagelkerke,
        mcfadden; r2_n_p, n_effective, r2_effective, r2_effective_p; g, gr, gp; pdm; rho; c_index, somers_d, gamma, tau_a;
        brier_at_<level>, rps. `ordstat.assess.likelihood.discrimination.discrimination` says what each is. The
        Brier score here is that of one question, whether the response reaches the middle level (rms calls it Brier);
        the "Brier score" of `errors` is over all levels.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.discrimination()[["nagelkerke", "c_index", "brier_at_3", "rps"]].round(3).tolist()
    [0.403, 0.774, 0.177, 0.44]
    """
    found = discrimination(r.rule, r.fit, r.design.sample)
    level = r.levels[middle_code(len(r.levels))]
    named = {f"brier_at_{level}" if name == _BRIER else name: value for name, value in found.items()}
    series = Discrimination(named, name="value", dtype=np.float64)
    if r.design.survey is not None:  # tests of independent rows
        series[["lr_chi2", "lr_df", "lr_p_value", "score_chi2", "score_p_value"]] = np.nan
    return series
