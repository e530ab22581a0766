"""ordstat, statsmodels and skordinal on the same frame, and the limit that the
arithmetic sets.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.linalg.blas import dgemv, dsyrk

from benchmarks.timing import Timed

#: Passes of the limit: what Newton takes from the usual start.
PASSES = 6
CHUNK = 2048


def limit(frame: pd.DataFrame) -> Timed:
    """6 passes of X @ b and of the upper half of X'X, by chunks of rows that stay in
    cache.
    """
    X = np.ascontiguousarray(frame.drop(columns="y").to_numpy())
    b = np.zeros(X.shape[1])

    def passes() -> None:
        for _ in range(PASSES):
            B = np.zeros((X.shape[1], X.shape[1]), order="F")
            for start in range(0, X.shape[0], CHUNK):
                part = X[start : start + CHUNK].T
                dgemv(1.0, part, b, trans=1)
                B = dsyrk(1.0, part, beta=1.0, c=B, overwrite_c=1)

    return Timed("limit", passes)


def formula_of(frame: pd.DataFrame) -> str:
    return "y ~ " + " + ".join(frame.columns.drop("y"))


def ordstat_call(frame: pd.DataFrame, method: str = "logit") -> Timed:
    """Formula, frame, fit and standard errors."""
    from ordstat import ordfit

    formula = formula_of(frame)
    return Timed("ordstat", lambda: ordfit(formula, frame, method=method).se)


def ordstat_wine() -> list[Timed]:
    """The call on the wine data, without and with standard errors."""
    from ordstat import datasets, ordfit

    formula = "rating ~ temp + contact"
    data = datasets.load("wine")
    return [
        Timed("ordstat", lambda: ordfit(formula, data)),
        Timed("ordstat .se", lambda: ordfit(formula, data).se),
    ]


def ordstat_fit(frame: pd.DataFrame, link: str = "logit") -> Timed:
    """From arrays to estimates and standard errors."""
    from ordstat import CumulativeLink
    from ordstat.formula.sample import Rows, Sample

    X = np.ascontiguousarray(frame.drop(columns="y").to_numpy())
    y = frame["y"].to_numpy().astype(np.intp) - 1
    sample = Sample(rows=Rows(X=X), y=y, n_levels=int(y.max()) + 1)
    method = CumulativeLink(link=link)
    return Timed(
        "ordstat fit",
        lambda: method.fit(sample, np.random.default_rng(0)).model_covariance.variances,
    )


def ordstat_profiles(frame: pd.DataFrame) -> Timed:
    """Profile intervals of every location coefficient of a fit made before."""
    from ordstat import ordfit

    names = list(frame.columns.drop("y"))
    fit = ordfit(formula_of(frame), frame)
    return Timed("ordstat profiles", lambda: fit.confint(type="profile", parm=names))


def statsmodels_bfgs(frame: pd.DataFrame) -> Timed:
    """OrderedModel, its own standard errors included (they come with the result)."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    X = frame.drop(columns="y")
    y = frame["y"]
    return Timed(
        "statsmodels",
        lambda: OrderedModel(y, X, distr="logit").fit(method="bfgs", disp=False).bse,
    )


def skordinal_pom(frame: pd.DataFrame) -> Timed:
    """POM at its default tolerance; it gives no standard errors."""
    from skordinal.classifiers import POM

    X = frame.drop(columns="y").to_numpy()
    y = frame["y"].to_numpy()
    return Timed("skordinal POM", _quiet(lambda: POM().fit(X, y)))


def _quiet(call: Callable[[], object]) -> Callable[[], object]:
    def run() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()

    return run
