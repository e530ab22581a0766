"""Figures of a fit with robust errors, and of a model without effects."""

import numpy as np
import pytest

from ordstat import datasets, ordfit

WINE = datasets.load("wine")


def test_beside_cluster_robust_errors_the_test_is_walds():
    fit = ordfit("rating ~ temp + contact", WINE, cluster="judge", vcov="cluster")
    indices = fit.discrimination()
    assert not {"lr_chi2", "lr_p_value"} & set(indices.index)
    V = fit.vcov().to_numpy()[4:, 4:]
    b = fit.coef.to_numpy()
    assert indices["wald_chi2"] == pytest.approx(b @ np.linalg.solve(V, b), rel=1e-10)
    assert indices["wald_df"] == 2
    assert (
        "wald_F" in fit.with_vcov({"cluster": "judge", "type": "CR2"}).discrimination()
    )
    assert (
        indices["nagelkerke"]
        == ordfit("rating ~ temp + contact", WINE).discrimination()["nagelkerke"]
    )


def test_it_prints_without_powers_of_ten():
    text = str(ordfit("rating ~ temp + contact", WINE).discrimination())
    assert "e+0" not in text
    assert "lr_p_value" in text
    assert "<.001" in text


def test_a_model_without_effects_has_an_r2_of_zero():
    fit = ordfit("rating ~ 1", WINE)
    assert fit.glance()[["mcfadden", "nagelkerke"]].astype(str).values.tolist() == [
        ["0.0", "0.0"]
    ]
    assert "-0.0000" not in str(fit.summary())
    assert str(fit.discrimination()["mcfadden"]) == "0.0"


def test_vacuous_bounds_are_named():
    bounds = ordfit("rating ~ temp + contact", WINE, "redsvm").bounds()
    lines = " ".join(str(bounds).split())
    assert (
        "Vacuous (not below the largest possible value): classification error" in lines
    )
