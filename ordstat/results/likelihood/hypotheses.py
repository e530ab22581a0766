"""Wald tests of linear hypotheses written as text, such as "temp = contact, 2 * x1 + x2 = 1"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...assess.likelihood.wald import quadratic_form, wald_test
from ...exceptions import OptionError
from ...model.equations import read
from .comparison import chi2_tail
from .fitted import FittedLikelihood
from .parameters import check_determined

JOINT = "joint"


def hypothesis_tests(r: FittedLikelihood, hypotheses: str, *, vcov: Any = None) -> pd.DataFrame:
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
    index, L, target = linear_hypotheses(r, hypotheses)
    covariance = r.vcov(vcov).to_numpy()
    difference = L @ r.fit.coefficients[~r.fit.aliased] - target
    tests = [wald_test(L[i : i + 1], difference[i : i + 1], covariance) for i in range(len(L))]
    errors = np.sqrt([quadratic_form(row[None], covariance)[0, 0] for row in L])
    if len(L) > 1:
        tests.append(wald_test(L, difference, covariance))
        index.append(JOINT)
        difference, errors = np.append(difference, np.nan), np.append(errors, np.nan)
    chisq, df = np.array([test[0] for test in tests]), np.array([test[1] for test in tests])
    return pd.DataFrame(
        {"difference": difference, "std_error": errors, "df": df, "chisq": chisq, "p_value": chi2_tail(chisq, df)},
        index=index,
    )


def linear_hypotheses(r: FittedLikelihood, hypotheses: str) -> tuple[list[str], FloatArray, FloatArray]:
    """Equations as text, and L (h, P') and the target (h,) of L b = target, over the estimated parameters b."""
    if not isinstance(hypotheses, str) or not hypotheses.strip():
        raise OptionError(f"hypotheses must be a text such as 'x1 = x2, x3 = 0'; got {hypotheses!r}.")
    equations = read(hypotheses, _names(r), r.fit.coefficients.size, ("=",))
    estimated = ~r.fit.aliased
    for one in equations:
        check_determined(np.flatnonzero(one.row), r.fit, r.parameters, f"test of {one.text!r}")
        if np.any(one.row[~estimated] != 0.0):
            raise OptionError(f"{one.text!r} names a parameter that is aliased, so not estimated.")
    L = np.array([one.row for one in equations])[:, estimated]
    return [one.text for one in equations], L, np.array([one.value for one in equations])


def _names(r: FittedLikelihood) -> dict[str, int]:
    """Places of the parameters by name, and of single-column terms by theirs."""
    names = {name: place for place, name in enumerate(r.parameters.names)}
    location = r.parameters.of("location")
    for term, columns in r.design.terms.items():
        if columns.stop - columns.start == 1:
            names.setdefault(term, int(location[columns.start]))
    return names
