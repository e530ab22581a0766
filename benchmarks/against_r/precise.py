"""Covariances of estimates to many digits: second differences of the log-likelihood of
some rows, computed by mpmath.

Along a direction in which the likelihood is nearly flat, differences in double
precision, R's or NumPy's, are off by several per cent.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import numpy as np

from benchmarks.against_r.exact import Rows

_DIGITS = 50
#: Step of the second differences: what is left out is about its square, what rounding
#: leaves 10^-20.
_STEP = 1e-15


def covariance(rows: Rows, parameters: np.ndarray) -> np.ndarray:
    """(P, P) inverse of the information; the parameter of a link, where there is one,
    is the last of them.
    """
    with mp.workdps(_DIGITS):
        step = mp.mpf(_STEP)
        information = mp.matrix(parameters.size, parameters.size)

        def at(*moves: tuple[int, int]) -> mp.mpf:
            moved = [mp.mpf(float(value)) for value in parameters]
            for place, sign in moves:
                moved[place] += sign * step
            return _loglik(rows, moved)

        here = at()
        up, down = ([at((i, sign)) for i in range(parameters.size)] for sign in (1, -1))
        for i in range(parameters.size):
            information[i, i] = (2 * here - up[i] - down[i]) / step**2
            for j in range(i):
                crossed = (
                    at((i, 1), (j, 1))
                    + at((i, -1), (j, -1))
                    + 2 * here
                    - up[i]
                    - down[i]
                    - up[j]
                    - down[j]
                )
                information[i, j] = information[j, i] = -crossed / (2 * step**2)
        inverse = information**-1
        return np.array(
            [
                [float(inverse[i, j]) for j in range(parameters.size)]
                for i in range(parameters.size)
            ]
        )


def _loglik(rows: Rows, parameters: list[mp.mpf]) -> mp.mpf:
    P = rows.upper.shape[1]
    Z = rows.scale.shape[1]
    psi = parameters[:P]
    zeta = parameters[P : P + Z]
    shape = parameters[P + Z :]
    above = _upper_tail(rows.link, *shape)
    total = mp.mpf(0)
    for row, weight in enumerate(rows.weights):
        spread = mp.mpf(float(rows.scale_offset[row])) * mp.exp(
            _product(rows.scale[row], zeta)
        )
        tails = [
            above((_product(columns[row], psi) + mp.mpf(float(offset[row]))) / spread)
            for columns, offset in (
                (rows.lower, rows.lower_offset),
                (rows.upper, rows.upper_offset),
            )
        ]
        total += mp.mpf(float(weight)) * mp.log(tails[0] - tails[1])
    return total


def _product(columns: np.ndarray, parameters: list[mp.mpf]) -> mp.mpf:
    return mp.fdot(
        (mp.mpf(float(value)), parameter)
        for value, parameter in zip(columns, parameters, strict=True)
    )


def _upper_tail(link: str, shape: mp.mpf = 1) -> Callable[[mp.mpf], mp.mpf]:
    """1 - F of a link, as `exact.tails`; the logit is Aranda-Ordaz at 1, the probit
    log-gamma at 0.
    """

    def flexible(x: mp.mpf) -> mp.mpf:
        if link in ("logit", "aranda-ordaz"):
            return mp.power(1 + shape * mp.exp(x), -1 / shape)
        if link == "probit" or shape == 0:
            return mp.ncdf(-x)
        k = shape**-2
        at = k * mp.exp(shape * x)
        return (
            mp.gammainc(k, at, mp.inf, regularized=True)
            if shape > 0
            else mp.gammainc(k, 0, at, regularized=True)
        )

    fixed: dict[str, Callable[[mp.mpf], mp.mpf]] = {
        "cloglog": lambda x: mp.exp(-mp.exp(x)),
        "loglog": lambda x: -mp.expm1(-mp.exp(-x)),
        "cauchit": lambda x: mp.atan2(1, x) / mp.pi,
    }
    inside = fixed.get(link, flexible)
    return lambda x: mp.mpf(x < 0) if mp.isinf(x) else inside(x)
