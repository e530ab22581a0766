"""Fits with every feature of formulas, links and methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ordstat import (
    REDSVM,
    DecisionTree,
    Laplacian,
    NormalisedSigmoid,
    Reduction,
    SurveyDesign,
    datasets,
    ordfit,
)


def wine() -> pd.DataFrame:
    """The wine data with numbers, weights and units that it has not."""
    rng = np.random.default_rng(0)
    return datasets.load("wine").assign(
        x=rng.normal(size=72),
        w=1 + np.arange(72) % 3,
        known=rng.normal(size=72) / 10,
        psu=np.arange(72) % 9,
    )


MEAN = "rating ~ temp + contact"
JUDGES = pd.DataFrame(0.2 + 0.8 * np.eye(9), *[wine()["judge"].cat.categories] * 2)
PRICES = np.abs(np.subtract.outer(range(5), range(5))) ** 1.5
BY_ROW = (
    np.abs(np.subtract.outer(wine()["rating"].cat.codes.to_numpy(), range(5)))
    * (1.0 + np.arange(72) % 2)[:, None]
)

#: Arguments of `ordfit` beside the data: what they are for, formula, method and the
#: rest.
FEATURES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "contrasts": (
        "rating ~ temp * contact",
        "clm",
        {"contrasts": {"temp": "sum", "contact": "helmert"}},
    ),
    "splines": ("rating ~ ns(x, df=3) + bs(x, df=4)", "clm", {}),
    "polynomials": ("rating ~ poly(x, 2) + scale(known) + center(w)", "clm", {}),
    "offset": ("rating ~ temp + offset(known)", "clm", {}),
    "nominal": ("rating ~ temp", "clm", {"nominal": "~ contact"}),
    "scale": ("rating ~ temp", "probit", {"scale": "~ contact"}),
    "equidistant": (MEAN, "clm", {"threshold": "equidistant"}),
    "aranda-ordaz": (MEAN, "clm", {"link": "aranda-ordaz"}),
    "log-gamma": (MEAN, "clm", {"link": "log-gamma"}),
    "random intercept": (f"{MEAN} + (1 | judge)", "clm", {}),
    "random slope": (f"{MEAN} + (1 + temp | judge)", "clm", {}),
    "crossed groups": ("rating ~ temp + (1 | judge) + (1 | bottle)", "clm", {}),
    "given covariance": (f"{MEAN} + (1 | judge)", "clm", {"cov": {"judge": JUDGES}}),
    "weights as values": (MEAN, "clm", {"weights": pd.Series(1.0 + np.arange(72) % 2)}),
    "CR2": (MEAN, "clm", {"vcov": {"cluster": "judge", "type": "CR2"}}),
    "survey": (MEAN, "clm", {"design": SurveyDesign(weights="w", clusters="psu")}),
    "ridge": (MEAN, "clm", {"penalty": 1.0}),
    "jeffreys": (MEAN, "clm", {"penalty": "jeffreys"}),
    "subset": (MEAN, "clm", {"subset": "judge != 1"}),
    "calibrated": (MEAN, "redsvm", {"calibrate": True}),
    "calibrated votes": (MEAN, "csovo", {"calibrate": True}),
    "chosen C": (MEAN, "redsvm", {"C": "cv", "kernel": "gaussian"}),
    "cost matrix": (MEAN, "redsvm", {"cost": PRICES}),
    "trees": (
        "rating ~ temp + x",
        "orboost-all",
        {"learner": DecisionTree(), "rounds": 5},
    ),
    "sigmoids": (
        "rating ~ temp + x",
        "orboost-all",
        {"learner": NormalisedSigmoid(), "rounds": 5},
    ),
    "base": ("rating ~ temp + x", "adaboost-or", {"base": REDSVM(), "rounds": 3}),
    "random forest": ("rating ~ temp + x", "rps-forest", {"trees": 10}),
    "random, nominal and scale effects": (
        "rating ~ temp + (1 | judge)",
        "clm",
        {"weights": "w", "nominal": "~ contact", "scale": "~ contact"},
    ),
    "random effects and offset": (
        "rating ~ temp + offset(known) + (1 | judge)",
        "clm",
        {"threshold": "equidistant"},
    ),
    "nested groups": (f"{MEAN} + (1 | judge/bottle)", "clm", {}),
    "strata": (
        MEAN,
        "clm",
        {"design": SurveyDesign(weights="w", clusters="psu", strata="temp", nest=True)},
    ),
    "costs by row": (MEAN, "redsvm", {"cost": BY_ROW}),
    "other kernel": ("rating ~ temp + x", "svor-imc", {"kernel": Laplacian()}),
    "landmarks": ("rating ~ temp + x", "kernel-clm", {"landmarks": 20}),
    "boosted": ("rating ~ temp + x", "ordboost", {"weights": "w"}),
    "monotone": ("rating ~ temp + x", "ordboost", {"constraints": {"x": "+"}}),
}


def fitted(feature: str) -> Any:
    formula, method, options = FEATURES[feature]
    return ordfit(formula, wine(), method, **options)


def classifiers() -> dict[str, Any]:
    """scikit-learn's classifiers that a file holds."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import RidgeClassifier
    from sklearn.naive_bayes import BernoulliNB, GaussianNB
    from sklearn.svm import LinearSVC

    few = {"n_estimators": 5, "random_state": 0}
    bases = [
        RandomForestClassifier(**few),
        ExtraTreesClassifier(**few),
        RidgeClassifier(),
        GaussianNB(),
        BernoulliNB(),
    ]
    return {
        type(base).__name__: Reduction(base=base)
        for base in [*bases, LinearSVC(random_state=0)]
    }
