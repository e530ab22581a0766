"""Random specifications: data, formulas and options of a cumulative link model, the
same by seed and number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.against_r.columns import WEIGHTS, random_columns

#: Location terms; a specification has one to four of them.
TERMS = (
    "x1",
    "x2",
    "x3",
    "f1",
    "f2",
    "f3",
    "o1",
    "I(x1^2)",
    "x1:x2",
    "f1:x1",
    "f2:x3",
    "f1:f2",
    "f1*x2",
    "f2*o1",
    "x1*x2",
    "f1*f3",
)
#: Terms that share a variable without one being part of the other.
OVERLAPPING = (
    ("f1:x1", "f2:x1"),
    ("x3", "f1", "f2:x1"),
    ("f1:x2", "f2:x3"),
    ("f1:f2", "f2:x1"),
    ("o1:x1", "f1:x1"),
    ("f1:f2", "f1:f3"),
    ("x1:x2", "f2:x2"),
)
NOMINAL = ("f1", "x2", "f2", "x1 + f1", "f1:x1")
SCALE = ("f1", "x2", "f2", "x1 + f1", "o1", "f1*x1", "f2:x1")
LINKS = {
    "logit": 0.3,
    "probit": 0.18,
    "cloglog": 0.13,
    "loglog": 0.13,
    "cauchit": 0.2,
    "aranda-ordaz": 0.03,
    "log-gamma": 0.03,
}
THRESHOLDS = {
    "flexible": 0.55,
    "symmetric": 0.15,
    "symmetric2": 0.1,
    "equidistant": 0.2,
}
#: One specification in this many has rare levels.
RARE = 5
CONTRASTS = ("sum", "helmert")
#: Links with a parameter that is estimated.
FLEXIBLE = ("aranda-ordaz", "log-gamma")
#: R's names of the links that it writes otherwise.
R_LINKS = {"aranda-ordaz": "Aranda-Ordaz"}
#: Newton steps of either side.
ITERATIONS = 200
#: Sharper than R's own 1e-6, so that what is left of R's last step is far below a
#: standard error.
R_CONTROL = f"maxIter = {ITERATIONS}, gradTol = 1e-9, relTol = 1e-9"


@dataclass(frozen=True, eq=False, kw_only=True)
class Spec:
    """One model of one data set, with the calls of each side.

    Attributes
    ----------
    number : int
    frame : pandas.DataFrame
        y in 1..K, numeric x1..x3, factors f1..f3 and ordered o1, `known` and `kscale`
        for offsets, and weights.
    formula, nominal, scale, link, threshold, weights
        As in `ordfit`.
    contrasts : mapping of factor to "sum" or "helmert"
        The others have treatment contrasts, ordered factors polynomials.
    """

    number: int
    frame: pd.DataFrame
    formula: str
    nominal: str | None = None
    scale: str | None = None
    link: str = "logit"
    threshold: str = "flexible"
    weights: str | None = None
    contrasts: Mapping[str, str]

    @cached_property
    def data(self) -> pd.DataFrame:
        """The columns in use."""
        named = set(
            re.findall(
                r"\w+",
                " ".join(
                    filter(None, (self.formula, self.nominal, self.scale, self.weights))
                ),
            )
        )
        return self.frame[[name for name in self.frame if name in named]]

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of `ordfit` beyond formula and data."""
        coded = {"o1": "poly"} | dict(self.contrasts)
        collected: dict[str, Any] = {
            "link": self.link,
            "threshold": self.threshold,
            "nominal": self.nominal,
            "scale": self.scale,
            "weights": self.weights,
            "contrasts": {
                name: kind for name, kind in coded.items() if name in self.data
            },
        }
        return {name: value for name, value in collected.items() if value}

    @property
    def python(self) -> str:
        """The call of ordstat as text."""
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"ordfit({self.formula!r}, data{options})"

    @property
    def r(self) -> str:
        """The call of R as text."""
        given = {"nominal": self.nominal, "scale": self.scale, "weights": self.weights}
        parts = [
            self.formula,
            "data = data",
            *(f"{name} = {value}" for name, value in given.items() if value),
        ]
        parts += [
            f'link = "{R_LINKS.get(self.link, self.link)}"',
            f'threshold = "{self.threshold}"',
            R_CONTROL,
        ]
        user_contrasts = {
            name: kind for name, kind in self.contrasts.items() if name in self.data
        }
        if user_contrasts:
            coded = ", ".join(
                f'{name} = "contr.{kind}"' for name, kind in user_contrasts.items()
            )
            parts.append(f"contrasts = list({coded})")
        return f"clm({', '.join(parts)})"


def random_spec(seed: int, number: int) -> Spec:
    """The specification of this number: any link, thresholds, nominal and scale
    effects.
    """
    rng = np.random.default_rng([seed, number])
    link = _drawn(rng, LINKS)
    nominal = _perhaps(rng, 0.0 if link in FLEXIBLE else 0.2, NOMINAL)
    scale = _perhaps(rng, 0.0 if link in FLEXIBLE else 0.3, SCALE)
    threshold = (
        "flexible" if nominal and rng.random() < 0.7 else _drawn(rng, THRESHOLDS)
    )
    return _spec(rng, number, link, threshold, nominal, scale)


def cauchit_or_scale_spec(seed: int, number: int) -> Spec:
    """The specification of this number: a cauchit, or another link with scale effects,
    or both.
    """
    rng = np.random.default_rng([seed, number, 1])
    link = (
        "cauchit"
        if rng.random() < 0.7
        else _drawn(rng, {name: LINKS[name] for name in list(LINKS)[:4]})
    )
    scale = _perhaps(rng, 0.75 if link == "cauchit" else 1.0, SCALE)
    return _spec(
        rng, number, link, _drawn(rng, THRESHOLDS), _perhaps(rng, 0.1, NOMINAL), scale
    )


def rare_spec(seed: int, number: int) -> Spec:
    """The specification of this number: nominal or scale effects, or both, where every
    factor has a rare level.
    """
    rng = np.random.default_rng([seed, number, 2])
    link = _drawn(
        rng, {name: share for name, share in LINKS.items() if name not in FLEXIBLE}
    )
    scale = _perhaps(rng, 0.6, SCALE)
    nominal = _perhaps(rng, 0.4 if scale else 1.0, NOMINAL)
    return _spec(rng, number, link, _drawn(rng, THRESHOLDS), nominal, scale, rare=True)


def any_spec(seed: int, number: int) -> Spec:
    """The specification of this number, one in `RARE` of them with rare levels."""
    return (rare_spec if number % RARE == RARE - 1 else random_spec)(seed, number)


KINDS = {"any": any_spec, "cauchit-scale": cauchit_or_scale_spec}


def _spec(
    rng: np.random.Generator,
    number: int,
    link: str,
    threshold: str,
    nominal: str | None,
    scale: str | None,
    rare: bool = False,
) -> Spec:
    K = int(rng.integers(2, 8))
    frame = random_columns(
        rng, int(rng.integers(40, 401)), K, scaled=scale is not None, rare=rare
    )
    formula = "y ~ " + _location(rng, (nominal or "").removeprefix("~ "))
    if rng.random() < 0.15:
        formula += " + offset(known)"
    if scale and rng.random() < 0.1:
        scale += " + offset(kscale)"
    factors = [name for name in frame if name[0] in "fo"]
    contrasts = {
        name: str(rng.choice(CONTRASTS)) for name in factors if rng.random() < 0.2
    }
    return Spec(
        number=number,
        frame=frame,
        formula=formula,
        nominal=nominal,
        scale=scale,
        link=link,
        threshold="flexible" if K == 2 else threshold,
        weights=_drawn(rng, {"": 0.6} | dict.fromkeys(WEIGHTS, 0.2)) or None,
        contrasts=contrasts,
    )


def _location(rng: np.random.Generator, nominal: str) -> str:
    """Location terms; one that is nominal already comes twice only now and then."""
    if rng.random() < 0.2:
        terms = list(OVERLAPPING[int(rng.integers(len(OVERLAPPING)))])
    else:
        terms = [
            str(term)
            for term in rng.choice(TERMS, size=int(rng.integers(1, 5)), replace=False)
        ]
    if rng.random() < 0.9:
        taken = nominal.split(" + ")
        terms = [term for term in terms if term not in taken]
    return " + ".join(terms) or "1"


def _drawn(rng: np.random.Generator, shares: Mapping[str, float]) -> str:
    return str(
        rng.choice(
            list(shares), p=np.array(list(shares.values())) / sum(shares.values())
        )
    )


def _perhaps(
    rng: np.random.Generator, chance: float, choices: Sequence[str]
) -> str | None:
    chosen = str(rng.choice(choices))
    return f"~ {chosen}" if rng.random() < chance else None
