"""Wald tests stand in for likelihood ratios beside robust errors; penalised fits have no likelihood ratio.

Values by R 4.2.2, ordinal 2022.11-16, sandwich 3.0-2:

    fm <- clm(rating ~ temp + contact, data = wine, control = list(gradTol = 1e-10))
    w <- function(f, V, i) { b <- coef(f)[i]; drop(b %*% solve(V[i, i], b)) }
    V <- vcovCL(fm, wine$judge, type = "HC0"); c(w(fm, V, 5), w(fm, V, 6), w(fm, V, 5:6))
    V <- sandwich(fm); ...
"""

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from scipy import stats

from ordstat import ordfit
from ordstat.exceptions import OptionError

#: temp, contact, both.
BY_R = {"judge": (50.0255922588, 12.3696249141, 54.4177409972), "HC0": (26.57492876784, 9.71187635747, 33.11505005423)}
#: clm(rating ~ temp * contact, wine) by judge: all three effects; temp:contact.
CROSSED = (66.8180469258, 0.198294362943)


@pytest.fixture(params=BY_R)
def case(request):
    vcov = {"cluster": "judge"} if request.param == "judge" else request.param
    return ordfit("rating ~ temp + contact", data=load_data("wine"), vcov=vcov), BY_R[request.param]


@pytest.fixture
def crossed():
    return ordfit("rating ~ temp * contact", data=load_data("wine"), cluster="judge")


def test_header_and_glance(case):
    fit, (*_, both) = case
    figures = fit.glance().iloc[0]
    assert figures["wald_chi2"] == pytest.approx(both, rel=1e-8) and figures["wald_df"] == 2
    assert figures["wald_p_value"] == pytest.approx(stats.chi2.sf(both, 2), rel=1e-6)
    assert not [name for name in figures.index if name.startswith("lr_")]
    text = str(fit.summary("all"))
    assert f"Wald test       {both:.4g} on 2 df" in text and "LR test" not in text


def test_dropping_and_adding(case):
    fit, (temp, contact, _) = case
    table = fit.drop1()
    np.testing.assert_allclose(table["chisq"], [temp, contact], rtol=1e-8)
    assert list(table.columns) == ["df", "chisq", "p_value"]
    assert table.attrs["title"] == f"Wald tests of dropping single terms, {fit.own_covariance.words}"
    smaller = fit.update("~ . - contact")
    np.testing.assert_allclose(smaller.add1("~ . + contact")["chisq"], [contact], rtol=1e-8)
    against = fit.anova(smaller)
    assert against["chisq"].iloc[1] == pytest.approx(contact, rel=1e-8) and against["no_par"].tolist() == [5, 6]
    assert "aic" not in against and "Wald" in against.attrs["title"]


def test_interactions(crossed):
    smaller = crossed.update("~ . - temp:contact")
    assert crossed.glance()["wald_chi2"].iloc[0] == pytest.approx(CROSSED[0], rel=1e-8)
    for table in (crossed.drop1(), smaller.add1("~ . + temp:contact"), smaller.anova(crossed)):
        assert table["chisq"].iloc[-1] == pytest.approx(CROSSED[1], rel=1e-7)


def test_likelihood_ratios_on_request(crossed):
    plain = crossed.with_vcov("model")
    for name in ("LR", "Chisq"):
        pd.testing.assert_frame_equal(crossed.drop1(test=name), plain.drop1())
        smaller = crossed.update("~ . - temp:contact")
        pd.testing.assert_frame_equal(crossed.anova(smaller, test=name), plain.anova(smaller.with_vcov("model")))
        added = smaller.with_vcov("model").add1("~ . + temp:contact")
        pd.testing.assert_frame_equal(smaller.add1("~ . + temp:contact", test=name), added)
    assert "lrt" in plain.drop1() and "LR test" in str(plain.summary()) and "lr_chi2" in plain.glance()


def test_wald_tests_on_request_are_squared_z_values():
    fit = ordfit("rating ~ temp + contact", data=load_data("wine"))
    np.testing.assert_allclose(fit.drop1(test="Wald")["chisq"], fit.z_values.iloc[4:] ** 2)


@pytest.mark.filterwarnings("ignore:aliased")
def test_aliased_columns_are_left_out():
    wine = load_data("wine").assign(same=lambda d: (d["temp"] == "warm") + 0.0)
    fit = ordfit("rating ~ temp + same + contact", data=wine, cluster="judge")
    assert fit.glance()["wald_chi2"].iloc[0] == pytest.approx(BY_R["judge"][2], rel=1e-8)
    table = fit.drop1()
    assert table.loc["same", "df"] == 0 and np.isnan(table.loc["same", "p_value"])
    assert table["df"].tolist() == fit.drop1(test="LR")["df"].tolist()[1:] == [0, 0, 1]  # without temp, same is kept
    why = "estimates are infinite, aliased or missing, or aliased columns take over the effects."
    assert table.attrs["notes"] == [f"no test of temp, same: {why}"]


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
@pytest.mark.parametrize("parts", [{}, {"nominal": "~ n"}, {"weights": "w"}])
def test_dropping_beside_aliased_columns(parts):
    """What is left of a factor where a sum with its columns stays: put behind that sum, its own estimates."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"x": rng.normal(size=300), "f": rng.choice(list("abc"), 300), "n": rng.normal(size=300)})
    data["sum"] = 1e3 * (data["x"] + data["n"] - 2.0 * (data["f"] == "c") + 0.3)
    data["y"] = np.digitize(data["x"] + (data["f"] == "b") + rng.logistic(size=300), [-1.0, 0.5, 2.0])
    data["w"] = 1.0 * (rng.random(300) < 0.9)
    if "weights" in parts:
        data.loc[data["w"] == 0.0, "sum"] += 1.0
    own = "x" if "nominal" in parts else "x + n"
    fit = ordfit(f"y ~ {own} + f + sum", data, cluster=np.arange(300) % 30, **parts)
    assert np.isnan(fit.coef["sum"])
    table, by_likelihood = fit.drop1(), fit.drop1(test="LR").iloc[1:]
    assert table["df"].tolist() == by_likelihood["df"].tolist()
    behind = fit.update(f"~ sum + {own} + f")
    expected = behind.test("f[T.b] = 0").iloc[0]
    assert table.loc["f", ["df", "chisq"]].tolist() == pytest.approx(expected[["df", "chisq"]].tolist(), rel=1e-6)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_dropping_columns_of_different_size():
    """The columns p1, p2 of a term and their sum: without the term, effects of p1 and p2 are equal."""
    rng = np.random.default_rng(6)
    data = pd.DataFrame({"v": rng.gamma(2.0, size=300), "g": np.arange(300) % 30})
    data["y"] = np.digitize(data["v"] + rng.logistic(size=300), [1.0, 2.0, 4.0])
    first = ordfit("y ~ poly(v, 2)", data, cluster="g")
    data["sum"] = first.design.sample.X.sum(axis=1)
    fit = ordfit("y ~ poly(v, 2) + sum", data, cluster="g")
    one, two = first.coef.index
    expected = first.test(f"{one} = {two}").iloc[0]
    assert fit.drop1().loc["poly(v, 2)", ["df", "chisq"]].tolist() == pytest.approx(
        expected[["df", "chisq"]].tolist(), rel=1e-6
    )


def test_one_model_twice():
    fit = ordfit("rating ~ temp + contact", data=load_data("wine"), cluster="judge")
    smaller = fit.update("~ temp")
    table = fit.anova(smaller, smaller.with_vcov({"cluster": "judge"}), fit)
    assert (
        table["no_par"].tolist() == [5, 5, 6, 6]
        and list(table.index) == ["rating ~ temp"] * 2 + ["rating ~ temp + contact"] * 2
    )
    assert table["chisq"].iloc[2] == pytest.approx(BY_R["judge"][1], rel=1e-8)
    assert table["chisq"].isna().tolist() == [True, True, False, True] and table["df"].iloc[[1, 3]].tolist() == [0, 0]


def test_offsets_of_the_smaller_model():
    """With offset z the smaller model is the larger at z = 1; an offset in its own columns changes nothing."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.normal(size=200), "z": rng.normal(size=200), "g": np.arange(200) % 20})
    data["y"] = np.digitize(data["x"] + data["z"] + rng.logistic(size=200), [-1.0, 1.0])
    large = ordfit("y ~ x + z", data, cluster="g")
    for parts in ({"offset": "z"}, {"scale": "~ offset(z)"}):
        with pytest.raises(OptionError, match="offsets differ by more than effects of the smaller one take up"):
            ordfit("y ~ x", data, cluster="g", **parts).anova(large if "offset" in parts else large.update(scale="~ z"))
    own = ordfit("y ~ x", data.assign(o=3.0 * data["x"]), cluster="g", offset="o")
    assert own.anova(large)["chisq"].iloc[1] == pytest.approx(large.z_values["z"] ** 2, rel=1e-6)


def test_too_few_clusters():
    fit = ordfit("rating ~ temp + contact", data=load_data("wine"), vcov={"cluster": np.arange(72) % 2})
    assert "none: 2 clusters are too few" in str(fit.summary())
    assert np.isnan(fit.glance()["wald_p_value"].iloc[0])
    assert np.isnan(fit.test("temp = 0, contact = 0").loc["joint", "chisq"])
    table = fit.anova(fit.update("~ 1"))
    assert table["p_value"].isna().all() and "2 clusters are too few" in table.attrs["notes"][0]
    assert fit.anova()["p_value"].notna().all()  # one effect a term


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        (lambda r: r.step(), "takes the rows for independent.*with_vcov"),
        (lambda r: r.drop1("temp"), "'temp' is part of an interaction"),
        (lambda r: r.with_vcov("model").anova(r.update("~ temp")), "give both the same"),
        (lambda r: r.anova(r.update(". ~ temp", method="probit")), "does not contain"),
        (lambda r: r.anova(r.update("~ temp"), test="F"), "'auto', 'LR', 'Chisq', 'Wald'"),
        (lambda r: r.update("~ contact", nominal="~ judge").anova(r.update("~ contact + judge")), "coded otherwise"),
    ],
)
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_what_has_no_wald_test(crossed, ask, match):
    with pytest.raises(OptionError, match=match):
        ask(crossed)


@pytest.mark.parametrize("penalty", ["jeffreys", 1.0])
def test_no_likelihood_ratio_of_penalised_fits(penalty):
    fit = ordfit("rating ~ temp + contact", data=load_data("wine"), penalty=penalty)
    assert "none: a penalised fit" in str(fit.summary())
    assert fit.glance()[["lr_chi2", "lr_p_value"]].isna().all(axis=None)
    assert 0 < fit.nagelkerke < 1
    np.testing.assert_allclose(fit.drop1(test="Wald")["chisq"], fit.z_values.iloc[4:] ** 2)
    with pytest.raises(OptionError, match="penalised"):
        fit.drop1()
    assert "Wald test" in str(fit.with_vcov("HC0").summary())


@pytest.mark.parametrize("test", ["auto", "Wald"])
def test_penalised_fits_are_compared_under_one_penalty(test):
    vcov = {"cluster": "judge"} if test == "auto" else "model"
    fit = ordfit("rating ~ temp + contact", data=load_data("wine"), penalty=1.0, vcov=vcov)
    smaller = fit.update("~ temp")
    expected = fit.z_values["contact[T.yes]"] ** 2
    assert fit.anova(smaller, test=test)["chisq"].iloc[1] == pytest.approx(expected, rel=1e-8)
    for other in (smaller.update(penalty=None), smaller.update(penalty=2.0)):
        for one, two in ((fit, other), (other, fit)):
            with pytest.raises(OptionError, match="anova takes fits of one penalty"):
                one.anova(two, test=test)


@pytest.mark.parametrize("test", ["score_test", "brant"])
def test_what_needs_independent_rows(case, test):
    fit, _ = case
    with pytest.raises(
        OptionError, match=rf"{test} takes the rows for independent.*use test\(\) of the fit with nominal"
    ):
        getattr(fit, test)()
    assert getattr(fit.with_vcov("model"), test)() is not None


@pytest.mark.parametrize("test", ["lipsitz", "hosmer-lemeshow"])
def test_goodness_of_fit_needs_independent_rows(case, test):
    fit, _ = case
    with pytest.raises(OptionError, match=r"gof takes the rows for independent.*use test\(\) of terms added"):
        fit.gof(test, groups=3)
    assert 0.0 < fit.with_vcov("model").gof(test, groups=3).p_value < 1.0


@pytest.mark.parametrize("test", ["LR", "xyz"])
def test_one_fit_has_wald_tests_alone(test):
    with pytest.raises(OptionError, match="test"):
        ordfit("rating ~ temp", load_data("wine")).anova(test=test)
