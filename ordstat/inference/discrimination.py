"""How well a model tells ranks apart."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..likelihood.discrimination import discrimination, middle_code
from ..likelihood.fitted import FittedLikelihood
from ..report.cells import MISSING, short_p_value
from .comparison import test_figures

#: Tests that take the rows for independent.
_TESTS = ["lr_chi2", "lr_df", "lr_p_value", "score_chi2", "score_p_value"]


class Discrimination(pd.Series):
    """The series of `discrimination`, printed without powers of ten."""

    @property
    def _constructor(self) -> type[Discrimination]:
        return Discrimination

    def __repr__(self) -> str:
        names = [str(name) for name in self.index]
        shown = [short_p_value(v) if n.endswith("p_value") else f"{v:.4g}" for n, v in zip(names, self, strict=True)]
        width = max(map(len, names), default=0)
        lines = zip(names, shown, strict=True)
        return "\n".join(f"{name:<{width}}  {MISSING if text == 'nan' else text:>9}" for name, text in lines)


def discrimination_series(r: FittedLikelihood) -> pd.Series:
    """The statistics that R's rms reports: tests of all effects, R2s, g, rank correlations, Brier score."""
    found = discrimination(r.rule, r.fit, r.design.sample)
    if r.covariance != "model" and r.design.survey is None:
        others = {name: value for name, value in found.items() if name not in _TESTS}
        found = test_figures(r) | others
    level = r.levels[middle_code(len(r.levels))]
    named = {f"brier_at_{level}" if name == "brier" else name: value for name, value in found.items()}
    series = Discrimination(named, name="value", dtype=np.float64)
    if r.design.survey is not None:
        series[_TESTS] = np.nan
    elif r.method.penalty is not None and r.covariance == "model":
        series[["lr_chi2", "lr_p_value"]] = np.nan
    return series
