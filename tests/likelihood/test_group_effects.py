"""Random effects re(g) beside smooth terms, against R's mgcv and brute force."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import ordstat
from ordstat import ordfit, table
from ordstat.exceptions import DataError, FormulaError, OptionError


def grouped() -> pd.DataFrame:
    """400 rows of 25 groups whose effects have standard deviation 0.8."""
    rng = np.random.default_rng(12)
    n = 400
    g = rng.integers(0, 25, n)
    x = rng.uniform(size=n).round(4)
    score = np.sin(6.0 * x) + rng.normal(scale=0.8, size=25)[g] + rng.logistic(size=n)
    y = np.digitize(score, [-1.0, 0.5, 1.5])
    return pd.DataFrame({"x": x, "g": g, "y": y})


DATA = grouped()
BESIDE = ordfit("y ~ s(x) + re(g)", DATA)


def test_mgcv():
    """mgcv 1.8-41: gam(I(y + 1) ~ s(x, bs = "ps") + s(factor(g), bs = "re"), ocat(R =
    4), data, method = "REML"), with epsilon and conv.tol of 1e-10; gam.vcomp.
    """
    found = BESIDE.fit.smooths
    assert found.criterion == pytest.approx(510.7462624668, abs=1e-6)
    np.testing.assert_allclose(found.edf, [3.972279293, 13.363529049], atol=1e-4)
    shown = BESIDE.smooths()
    assert shown["sd"].iloc[1] == pytest.approx(0.5257737894, abs=1e-5)
    assert np.isnan(shown["sd"].iloc[0])
    assert shown["ref_df"].iloc[1] == 24
    assert shown["chisq"].iloc[1] == pytest.approx(29.399, rel=2e-3)
    assert shown["p_value"].iloc[1] == pytest.approx(0.000645, rel=0.05)
    expected = [-0.8543693154, 0.6109273279, 1.4217888129]
    np.testing.assert_allclose(BESIDE.thresholds, expected, atol=2e-6)
    probabilities = [
        [0.1403641773, 0.2737527464, 0.1998195676, 0.3860635087],
        [0.0806664287, 0.1946069308, 0.1855152205, 0.5392114200],
    ]
    np.testing.assert_allclose(
        BESIDE.predict(type="prob").head(2), probabilities, atol=2e-6
    )
    curves = BESIDE.smooth_curves()
    effects = curves[curves["smooth"] == "re(g)"]["estimate"]
    expected = [-0.674191567, -0.198924988, 0.034032621, -0.149945213]
    np.testing.assert_allclose(effects.head(4), expected, atol=5e-6)
    assert effects.sum() == pytest.approx(0.0, abs=1e-10)


def test_alone():
    """mgcv 1.8-41: gam(I(y + 1) ~ s(factor(g), bs = "re"), ...)."""
    fit = ordfit("y ~ s(g, bs='re')", DATA)
    assert fit.fit.smooths.criterion == pytest.approx(536.103268712, abs=1e-6)
    assert fit.smooths()["sd"].iloc[0] == pytest.approx(0.45671339, abs=2e-5)


def penalised(beta: np.ndarray, theta: np.ndarray, weight: float) -> float:
    """The log-likelihood of effects of all 25 groups, less the penalty."""
    ends = np.concatenate([[-np.inf], theta, [np.inf]])
    score = beta[DATA["g"]]
    y = DATA["y"].to_numpy()
    p = expit(ends[y + 1] - score) - expit(ends[y] - score)
    return float(np.log(p).sum()) - 0.5 * weight * float(beta @ beta)


def test_the_effects_are_a_mode_by_brute_force():
    fit = ordfit("y ~ re(g, sp=3)", DATA)
    effects = fit.smooth_curves()["estimate"].to_numpy()
    theta = fit.thresholds.to_numpy()
    best = penalised(effects, theta, 3.0)
    for g in range(25):
        for step in (-1e-3, 1e-3):
            moved = effects.copy()
            moved[g] += step
            assert penalised(moved, theta, 3.0) < best


@pytest.mark.parametrize("method", ["probit", "cloglog", "acat", "cratio", "sratio"])
@pytest.mark.parametrize("sides", [{}, {"nominal": "~ z"}, {"scale": "~ z"}])
def test_families_beside_nominal_and_scale_effects(method, sides):
    """Names and order of the groups do not matter."""
    data = DATA.assign(z=np.tile(["u", "v"], 200))
    fit = ordfit("y ~ s(x, k=6) + re(g)", data, method, **sides)
    renamed = data.assign(g=(7 * data["g"] % 25).map("group {}".format))
    other = ordfit("y ~ s(x, k=6) + re(g)", renamed, method, **sides)
    assert fit.converged and other.converged
    criteria = [one.fit.smooths.criterion for one in (fit, other)]
    assert criteria[0] == pytest.approx(criteria[1], abs=1e-6)
    np.testing.assert_allclose(
        fit.predict(type="prob"), other.predict(type="prob"), atol=1e-4
    )


def test_groups_without_an_effect():
    """mgcv 1.8-41, gam.vcomp and summary."""
    data = DATA.assign(g=np.tile(np.arange(20), 20))
    shown = ordfit("y ~ re(g)", data).smooths()
    assert shown["sd"].iloc[0] == pytest.approx(0.0741, abs=2e-3)
    assert shown["p_value"].iloc[0] == pytest.approx(0.4148, abs=3e-3)


def test_tables_show_a_standard_deviation_in_place_of_the_groups():
    text = str(BESIDE.summary())
    assert "[S." not in text and "re(g)" in text
    assert "25 groups, re(g) edf 13.36" in str(BESIDE.tidy())
    assert "SD 0.53, edf 13.36" in str(table(BESIDE))


def test_saved_fits(tmp_path):
    BESIDE.save(tmp_path / "fit")
    again = ordstat.load(tmp_path / "fit")
    new = DATA.head()
    pd.testing.assert_frame_equal(
        again.predict(new, type="prob"), BESIDE.predict(new, type="prob")
    )


def test_new_groups_are_refused():
    with pytest.raises(DataError, match="levels that are not in the fit: 99"):
        BESIDE.predict(DATA.head().assign(g=99))


def test_what_has_no_random_effects():
    with pytest.raises(OptionError, match=r"write re\(g\) in place of \(1 \| g\)"):
        ordfit("y ~ s(x) + (1 | g)", DATA)
    with pytest.raises(FormulaError, match="a term of its own"):
        ordfit("y ~ s(x) + re(g):x", DATA)
    with pytest.raises(FormulaError, match="cannot be estimated"):
        ordfit("y ~ C(g) + re(g)", DATA)
    with pytest.raises(DataError, match="at most 500 groups; got 600"):
        many = pd.concat([DATA, DATA.head(200)], ignore_index=True)
        ordfit("y ~ re(g)", many.assign(g=np.arange(600)))
    with pytest.raises(FormulaError, match="sp must be a positive"):
        ordfit("y ~ re(g, sp=-1)", DATA)
