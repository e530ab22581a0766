"""Random effects on 500 simulated data sets: does every fit end well, and do its
numbers keep what they promise?

Every fit must have its certificate, or a warning that says why not. The slope is
compared with the truth in standard errors of its mean, the mean standard deviation of
effects with 1, of which maximum likelihood comes short with few groups, and Laplace's
approximation where they are small. Limits should hold the truth 95 times in 100, Wald's
of the slope, the profile's of a standard deviation.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ordstat import ordfit
from ordstat.exceptions import OrdstatWarning

#: Of x; standard deviations of the effects of g, of its slopes and of h.
BETA = 0.7
SD = 1.0
SLOPE = 0.6
OTHER = 0.7
CUTS = np.array([-1.5, 0.0, 1.5])


@dataclass(frozen=True)
class Design:
    """A model, its rows, and how its effects are integrated out."""

    name: str
    formula: str
    n: int
    groups: int
    link: str = "logit"
    quadrature: int = 1
    slopes: bool = False
    others: int = 0
    nested: bool = False
    profile: bool = True


DESIGNS = (
    Design("intercepts", "y ~ x + (1 | g)", 480, 60),
    Design("intercepts, probit, 9 nodes", "y ~ x + (1 | g)", 400, 80, "probit", 9),
    Design("few groups", "y ~ x + (1 | g)", 120, 8),
    Design("slopes", "y ~ x + (1 + x | g)", 800, 50, slopes=True),
    Design("crossed", "y ~ x + (1 | g) + (1 | h)", 600, 40, others=20),
    Design(
        "nested", "y ~ x + (1 | h/g)", 600, 60, others=20, nested=True, profile=False
    ),
)


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a design."""
    each = 10 if quick else -(-500 // len(DESIGNS))
    return [_row(design, each) for design in DESIGNS]


def _row(design: Design, each: int) -> dict[str, object]:
    actual = pd.DataFrame([_one(design, seed) for seed in range(each)])
    return {
        "model": design.name,
        "fits": each,
        "certificate": int(actual["certificate"].sum()),
        "singular": int(actual["singular"].sum()),
        "warned": int(actual["warned"].sum()),
        "bias of x, errors": _errors(actual["x"] - BETA),
        "covered x": actual["x covered"].mean(),
        "mean sd": actual["sd"].mean(),
        "its error": actual["sd"].std() / np.sqrt(each),
        "covered sd": actual["sd covered"].mean(),
    }


def _errors(deviations: pd.Series) -> float:
    """A mean in its standard errors."""
    return float(deviations.mean() / deviations.std() * np.sqrt(len(deviations)))


def _one(design: Design, seed: int) -> dict[str, float]:
    data = simulated(design, seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OrdstatWarning)
        fit = ordfit(design.formula, data, design.link, quadrature=design.quadrature)
    limits = fit.confint("x").iloc[0]
    sd = fit.varcorr()["sd"]
    deviation = sd.loc[
        next(
            key
            for key in sd.index
            if key[0] in ("g", "h:g") and key[1] == "(Intercept)"
        )
    ]
    row = {
        "certificate": fit.certificate.reached,
        "singular": any(term.boundary for term in fit.fit.marginal.terms),
        "warned": len(caught) > 0,
        "x": fit.coef["x"],
        "x covered": limits.iloc[0] <= BETA <= limits.iloc[1],
        "sd": deviation,
        "sd covered": np.nan,
    }
    if design.profile:
        lower, upper = fit.confint("sd_(Intercept)|g", type="profile").iloc[0]
        row["sd covered"] = lower <= SD <= upper
    return row


def simulated(design: Design, seed: int) -> pd.DataFrame:
    """Four levels of a latent score."""
    rng = np.random.default_rng([seed, design.n, design.groups])
    x = rng.standard_normal(design.n)
    g = np.arange(design.n) % design.groups
    score = BETA * x + SD * rng.standard_normal(design.groups)[g]
    data = pd.DataFrame({"x": x, "g": g})
    if design.slopes:
        score += SLOPE * rng.standard_normal(design.groups)[g] * x
    if design.others:
        data["h"] = (
            g % design.others
            if design.nested
            else rng.integers(0, design.others, design.n)
        )
        score += OTHER * rng.standard_normal(design.others)[data["h"]]
    error = (
        rng.logistic(size=design.n)
        if design.link == "logit"
        else rng.standard_normal(design.n)
    )
    return data.assign(y=np.digitize(score + error, CUTS))
