"""Fits to draw: few and many levels, short and long names, weights, nominal and scale
effects.
"""

import matplotlib
import numpy as np
import pandas as pd
import pytest

from ordstat import datasets, ordfit

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def closed_figures():
    """Every test leaves the figures and the global settings as they were."""
    from matplotlib import pyplot

    before = dict(matplotlib.rcParams)
    yield
    pyplot.close("all")
    assert dict(matplotlib.rcParams) == before


def many_levels():
    """600 rows with a response of 12 levels, one of 2, a number and a factor."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal(600)
    group = rng.choice(["a long group name", "b"], 600)
    latent = 1.5 * x + (group == "b") + rng.logistic(size=600)
    answer = pd.Categorical(
        np.where(latent > 0, "yes", "no"), ["no", "yes"], ordered=True
    )
    return pd.DataFrame(
        {
            "twelve": pd.qcut(latent, 12, labels=False),
            "two": answer,
            "x": x,
            "group": group,
        }
    )


def _fits():
    wine = datasets.load("wine")
    anes = datasets.load("anes96")
    many = many_levels()
    return {
        "wine": ordfit("rating ~ temp + contact", data=wine),
        "margin": ordfit(
            "rating ~ temp + contact", data=wine, method="redsvm", kernel="linear"
        ),
        "parts": ordfit(
            "rating ~ temp", data=wine, nominal="~ contact", scale="~ temp"
        ),
        "anes": ordfit("PID ~ educ + income", data=anes),
        "housing": ordfit(
            "Sat ~ Infl + Type + Cont", data=datasets.load("housing"), weights="Freq"
        ),
        "two": ordfit("two ~ x + group", data=many),
        "twelve": ordfit("twelve ~ x + group", data=many, method="cauchit"),
    }


@pytest.fixture(scope="session")
def fits():
    return _fits()
