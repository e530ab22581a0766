"""Tests between two pooled models: by the formulas written out, and what they test."""

import numpy as np
import pytest
from scipy.special import gammaincc

from imputation.frames import FRAMES, fits
from ordstat import OptionError, SurveyDesign, ordfit_mi, pool
from ordstat.assess.likelihood.rubin import Pooled, d1

#: The second data set has no finite lambda.
SOME = [FRAMES[k] for k in (0, 2, 3, 4, 5)]
EFFECTS = ["x1", "x2", "g[T.b]"]


def aranda_ordaz(t, lam):
    return 1.0 - (1.0 + lam * np.exp(t)) ** (-1.0 / lam)


def log_gamma(t, lam):
    """lambda < 0, by reflection."""
    a = lam**-2.0
    return gammaincc(a, a * np.exp(lam * t))


def loglik(frame, params, F):
    columns = frame.assign(**{"g[T.b]": 1.0 * (frame["g"] == "b")})
    H = sum(params[name] * columns[name].to_numpy() for name in EFFECTS if name in params)
    cum = [F(theta - H, params["lambda"]) for theta in params.iloc[:3]]
    p = np.diff([np.zeros(len(H)), *cum, np.ones(len(H))], axis=0)
    return np.log(p[frame["y"].to_numpy() - 1, np.arange(len(H))]).sum()


@pytest.mark.parametrize(("link", "F"), [("aranda-ordaz", aranda_ordaz), ("log-gamma", log_gamma)])
def test_d3_takes_the_likelihood_at_the_pooled_lambda(link, F):
    """Meng & Rubin (1992), with the distribution functions of the links as they stand in their papers."""
    large, small = (fits(formula, SOME, link=link) for formula in ("y ~ x1 + x2 + g", "y ~ x1 + g"))
    at = [np.mean([loglik(frame, pool(one).params, F) for frame in SOME]) for one in (small, large)]
    own = [np.mean([fit.loglik for fit in one]) for one in (small, large)]
    m, pooled = len(SOME), 2.0 * (at[1] - at[0])
    r = (m + 1) / (m - 1) * (2.0 * (own[1] - own[0]) - pooled)
    found = pool(large).anova(pool(small), method="D3").iloc[0]
    assert [found["riv"], found["F"]] == pytest.approx([r, pooled / (1.0 + r)], rel=1e-6)


@pytest.mark.parametrize("method", ["D1", "D2"])
def test_wald_tests_refuse_other_hypotheses(method):
    """With offset x2 the smaller model is the larger at x2 = 1, with a link of its own at a lambda that is not 0."""
    large = pool(fits("y ~ x1 + x2"))
    with pytest.raises(OptionError, match=r"offsets differ by more .* take up\. Use method='D3'"):
        large.anova(pool(fits("y ~ x1", offset="x2")), method=method)
    flexible = pool(fits("y ~ x1 + x2 + g", SOME, link="aranda-ordaz"))
    with pytest.raises(OptionError, match=r"at a lambda that is not 0\. Use method='D3'"):
        flexible.anova(pool(fits("y ~ x1 + g", SOME)), method=method)


@pytest.mark.parametrize("options", [{"penalty": 2.0}, {"design": SurveyDesign(weights="w", clusters="psu")}])
def test_wald_tests_ask_no_likelihood(options):
    """D1 and D2 of a smaller model are those of the hypothesis, also where likelihoods have no distribution."""
    frames = [frame.assign(w=1.0 + np.arange(80) % 3, psu=np.arange(80) % 16) for frame in FRAMES]
    large, small = (pool(fits(formula, frames, **options)) for formula in ("y ~ x1 + x2 + g", "y ~ g"))
    for method in ("D1", "D2"):
        joint = large.test("x1 = 0, x2 = 0", method=method).loc["joint", ["F", "df", "df_denom", "p_value"]]
        found = large.anova(small, method=method).iloc[0]
        assert found[joint.index].tolist() == pytest.approx(joint.tolist(), rel=1e-9)


def test_complete_data_have_the_degrees_of_freedom_of_the_design():
    frames = [frame.assign(w=1.0 + np.arange(80) % 3, psu=np.arange(80) % 16) for frame in FRAMES]
    design = SurveyDesign(weights="w", clusters="psu")
    pooled = pool(fits("y ~ x1 + x2", frames, design=design))
    assert pooled.df_complete == pooled.fits[0].design_df == 15
    lam = pooled.riv / (1.0 + pooled.riv)
    observed = 16 / 18 * 15 * (1.0 - lam)  # Barnard & Rubin 1999
    np.testing.assert_allclose(pooled.df, 1.0 / (lam**2 / 5 + 1.0 / observed), rtol=1e-9)


@pytest.mark.parametrize("df_complete", [3.0, 5.0, 8.0, 12.0, 40.0, 400.0])
@pytest.mark.parametrize("size", [0.05, 0.5, 1.0, 3.0])
def test_d1_has_no_more_degrees_of_freedom_than_complete_data(df_complete, size):
    """Reiter's formula is made of moments of F with nu and 4 (1 + a) degrees of freedom: its value is within 4..nu."""
    rng = np.random.default_rng(4)
    U, Q = np.tile(np.eye(3), (5, 1, 1)), rng.normal(size=(5, 3))
    Q *= np.sqrt(size / (1.2 / 3.0 * np.sum(np.var(Q, axis=0, ddof=1))))  # relative increase in variance `size`
    found = d1(Pooled(Q, U, df_complete))
    nu, a = (df_complete + 1.0) / (df_complete + 3.0) * df_complete, size * 12 / 10
    assert found.riv == pytest.approx(size) and 0.0 < found.df_denom <= nu and 0.0 <= found.p_value <= 1.0
    if nu <= 4.0 * (1.0 + a):
        lam = size / (1.0 + size)
        single = 1.0 / (lam**2 / 4.0 + 1.0 / (nu * (1.0 - lam)))
        assert found.df_denom == pytest.approx(min(2.0 * single, nu))
    else:
        assert 4.0 < found.df_denom <= nu


ROBUST = {"cluster": "g"}, {"vcov": {"cluster": "g", "type": "CR2"}}, {"vcov": "HC1"}


@pytest.mark.parametrize("arguments", ROBUST)
def test_no_likelihoods_beside_robust_errors(arguments):
    frames = [frame.assign(g=np.arange(len(frame)) % 9) for frame in FRAMES]
    pooled = ordfit_mi("y ~ x1 + x2", frames, **arguments)
    smaller = pooled.update("~ x1")
    for asked in ({"method": "D3"}, {"method": "D2", "use": "likelihood"}):
        with pytest.raises(OptionError, match=r"likelihoods of independent rows.*use method='D1'"):
            pooled.anova(smaller, **asked)
    assert np.isfinite(pooled.anova(smaller).iloc[0]["F"])


def test_degrees_of_freedom_under_cr2_are_those_of_each_parameter():
    """Barnard and Rubin's formula with Satterthwaite's in the place of those of complete data."""
    frames = [frame.assign(g=np.arange(len(frame)) % 9) for frame in FRAMES]
    pooled = ordfit_mi("y ~ x1 + x2", frames, vcov={"cluster": "g", "type": "CR2"})
    complete = np.min([fit.t_df for fit in pooled.fits], axis=0)
    assert (complete < 8).all() and pooled.df_complete == 8
    m, lam = len(frames), (pooled.riv / (1.0 + pooled.riv)).to_numpy()
    observed = (complete + 1) / (complete + 3) * complete * (1 - lam)
    np.testing.assert_allclose(pooled.df, 1.0 / (lam**2 / (m - 1) + 1.0 / observed), rtol=1e-12)
    single = pooled.test("x1 = 0, x2 = 0")
    np.testing.assert_allclose(single["df_denom"].iloc[:2], pooled.df[["x1", "x2"]], rtol=1e-12)
    np.testing.assert_allclose(single["p_value"].iloc[:2], pooled.p_values[["x1", "x2"]], rtol=1e-9)
