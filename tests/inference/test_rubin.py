"""Degrees of freedom of pooled tests, by the formulas written out."""

import numpy as np
import pytest
from seams import CovarianceMatrix

from inference.imputed import FRAMES, fits
from ordstat import SurveyDesign, pool
from ordstat.inference import rubin


def test_complete_data_have_the_degrees_of_freedom_of_the_design():
    frames = [
        frame.assign(w=1.0 + np.arange(80) % 3, psu=np.arange(80) % 16)
        for frame in FRAMES
    ]
    design = SurveyDesign(weights="w", clusters="psu")
    pooled = pool(fits("y ~ x1 + x2", frames, design=design))
    assert pooled.df_complete == pooled.fits[0].design_df == 15
    lam = pooled.riv / (1.0 + pooled.riv)
    observed = 16 / 18 * 15 * (1.0 - lam)  # Barnard & Rubin 1999
    np.testing.assert_allclose(
        pooled.df, 1.0 / (lam**2 / 5 + 1.0 / observed), rtol=1e-9
    )


@pytest.mark.parametrize("df_complete", [3.0, 5.0, 8.0, 12.0, 40.0, 400.0])
@pytest.mark.parametrize("size", [0.05, 0.5, 1.0, 3.0])
def test_d1_has_no_more_degrees_of_freedom_than_complete_data(df_complete, size):
    """Reiter's formula is made of moments of F with nu and 4 (1 + a) degrees of
    freedom: its value is within 4..nu.
    """
    rng = np.random.default_rng(4)
    U = [CovarianceMatrix(np.eye(3))] * 5
    Q = rng.normal(size=(5, 3))
    # relative increase in variance `size`
    Q *= np.sqrt(size / (1.2 / 3.0 * np.sum(np.var(Q, axis=0, ddof=1))))
    actual = rubin.d1(rubin.Pooled(Q, U, df_complete))
    nu = (df_complete + 1.0) / (df_complete + 3.0) * df_complete
    a = size * 12 / 10
    assert (
        actual.riv == pytest.approx(size)
        and 0.0 < actual.df_denom <= nu
        and 0.0 <= actual.p_value <= 1.0
    )
    if nu <= 4.0 * (1.0 + a):
        lam = size / (1.0 + size)
        single = 1.0 / (lam**2 / 4.0 + 1.0 / (nu * (1.0 - lam)))
        assert actual.df_denom == pytest.approx(min(2.0 * single, nu))
    else:
        assert 4.0 < actual.df_denom <= nu


def test_degrees_of_freedom_under_cr2_are_those_of_each_parameter():
    """Barnard and Rubin's formula with Satterthwaite's in the place of those of
    complete data.
    """
    frames = [frame.assign(g=np.arange(len(frame)) % 9) for frame in FRAMES]
    pooled = pool(fits("y ~ x1 + x2", frames, vcov={"cluster": "g", "type": "CR2"}))
    complete = np.min([fit.coefficient_columns["df"] for fit in pooled.fits], axis=0)
    assert (complete < 8).all() and pooled.df_complete == 8
    m = len(frames)
    lam = (pooled.riv / (1.0 + pooled.riv)).to_numpy()
    observed = (complete + 1) / (complete + 3) * complete * (1 - lam)
    np.testing.assert_allclose(
        pooled.df, 1.0 / (lam**2 / (m - 1) + 1.0 / observed), rtol=1e-12
    )
    single = pooled.test("x1 = 0, x2 = 0")
    np.testing.assert_allclose(
        single["df_denom"].iloc[:2], pooled.df[["x1", "x2"]], rtol=1e-12
    )
    np.testing.assert_allclose(
        single["p_value"].iloc[:2], pooled.p_values[["x1", "x2"]], rtol=1e-9
    )
