"""Estimates on replicate weights: by a general optimiser, and what a replicate cannot
tell.
"""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from ordstat import DataError, SurveyDesign, ordfit

from .survey_samples import replicate_weights, sample

SOME = sample().assign(pid=lambda d: np.digitize(d["pid"], [2, 4, 6]) + 1)
EFFECTS = ["selfLR", "age"]


def ridge_estimates(weights, ridge, spread):
    """Effects that maximise sum w log p - ridge/2 sum (beta sd)^2, thresholds as
    theta_1 and log gaps.
    """
    X = SOME[EFFECTS].to_numpy(float)
    y = SOME["pid"].to_numpy() - 1
    X = (X - X.mean(axis=0)) / spread
    rows = np.arange(len(y))

    def loss(at):
        theta = np.cumsum(np.append(at[0], np.exp(at[1:3])))
        cum = np.hstack(
            [
                np.zeros((len(y), 1)),
                expit(theta - (X @ at[3:])[:, None]),
                np.ones((len(y), 1)),
            ]
        )
        return (
            -weights @ np.log(np.maximum(np.diff(cum)[rows, y], 1e-300))
            + 0.5 * ridge * at[3:] @ at[3:]
        )

    return (
        minimize(
            loss,
            np.array([-1.0, 0.0, 0.0, 0.0, 0.0]),
            options={"gtol": 1e-6, "maxiter": 500},
        ).x[3:]
        / spread
    )


@pytest.mark.parametrize("type", ["BRR", "JKn"])
def test_a_ridge_weighs_as_much_in_a_replicate_as_in_the_fit(type):
    """Replicate weights with the total of the weights of the fit: half of the rows of
    BRR have weight 0.
    """
    w = SOME["w"].to_numpy()
    replicates = replicate_weights(type)[:, :8]
    w = w * len(w) / w.sum()
    X = SOME[EFFECTS].to_numpy(float)
    spread = np.sqrt(w @ (X - w @ X / len(w)) ** 2 / len(w))
    collected = [
        ridge_estimates(column * len(w) / column.sum(), 60.0, spread)
        for column in replicates.T
    ]
    factors = {"scale": [5 / 6] * 8} if type == "JKn" else {"type": type}
    design = SurveyDesign(weights="w", replicates=replicates, mse=True, **factors)
    fit = ordfit("pid ~ selfLR + age", SOME, design=design, penalty=60.0)
    squares = (np.array(collected) - fit.coef.to_numpy()) ** 2
    expected = np.sqrt(squares.sum(axis=0) * (5 / 6 if type == "JKn" else 1 / 8))
    np.testing.assert_allclose(fit.se[EFFECTS], expected, rtol=1e-3)


@pytest.mark.parametrize(
    ("formula", "parts"),
    [
        ("pid ~ age + rare", {}),
        ("pid ~ age", {"nominal": "~ rare"}),
        ("pid ~ age", {"scale": "~ rare"}),
        ("pid ~ age + rare", {"penalty": "jeffreys"}),
    ],
)
def test_a_replicate_without_the_rows_that_determine_an_effect(formula, parts):
    """All rows of `rare` are in one PSU, to which every second replicate gives no
    weight.
    """
    data = SOME.assign(rare=lambda d: 1.0 * (d["psu"] == d["psu"].iloc[0]))
    weights = replicate_weights("BRR")
    place = int(np.argmax(weights[data["rare"] == 1.0].sum(axis=0) == 0.0)) + 1
    design = SurveyDesign(weights="w", replicates=weights, type="BRR")
    with pytest.raises(
        DataError, match=f"replicate {place} gives no weight to rows that the effects"
    ):
        ordfit(formula, data, design=design, **parts)


def test_a_ridge_has_estimates_without_these_rows():
    data = SOME.assign(rare=lambda d: 1.0 * (d["psu"] == d["psu"].iloc[0]))
    design = SurveyDesign(weights="w", replicates=replicate_weights("BRR"), type="BRR")
    assert np.isfinite(
        ordfit("pid ~ age + rare", data, design=design, penalty=5.0).se
    ).all()


@pytest.mark.parametrize(
    ("type", "expected"), [("BRR", [7, 1, 3, 6]), ("JK1", [23, 1, 5, 11])]
)
def test_degrees_of_freedom_of_a_domain(type, expected):
    """Of the rows used alone. R 4.2.2, survey 4.1.1, PSUs g numbered from 0, w * (1 +
    sign) as in samples.py:

    des <- svrepdesign(weights = d$w, repweights = w, type = "BRR", combined.weights =
    TRUE, data = d) degf(des); degf(subset(des, g < 2)); degf(subset(des, g < 6));
    degf(subset(des, g < 12))
    """
    g = np.unique(SOME["psu"], return_inverse=True)[1]
    design = SurveyDesign(weights="w", replicates=replicate_weights(type), type=type)
    collected = [
        ordfit("pid ~ age", SOME, design=design, subset=g < units).design_df
        for units in (24, 2, 6, 12)
    ]
    assert collected == expected


def test_replicates_that_do_not_differ():
    design = SurveyDesign(
        weights="w", replicates=np.tile(SOME[["w"]], 3), type="bootstrap"
    )
    with pytest.raises(
        DataError,
        match=r"design= must leave a degree of freedom, .*; got 3 replicate weights",
    ):
        ordfit("pid ~ age", SOME, design=design)
