"""Models side by side and terms as sentences: their numbers against R and algebra, their text as it was looked at."""

import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ordstat import OptionError, SurveyDesign, datasets, ordfit, pool, table
from ordstat.exceptions import UnavailableError

GOLDEN = Path(__file__).parents[1] / "golden" / "tables"
ODD = "a_b & c%"
LONG = "Temperature of the must while it was on the skins, in two classes"

# R 4.2.2, ordinal 2022.11-16: coef(summary(clm(rating ~ temp + contact, data = wine)))
R_COEFFICIENTS = {
    "1|2": (-1.344383411, 0.5171020453, 9.326679893e-03),
    "2|3": (1.250808798, 0.4378802030, 4.283276830e-03),
    "temp[T.warm]": (2.503102008, 0.5286801008, 2.194605130e-06),
    "contact[T.yes]": (1.527797658, 0.4766226296, 1.348439529e-03),
}


@pytest.fixture(scope="module")
def wine():
    return datasets.load("wine")


@pytest.fixture(scope="module")
def fits(wine):
    full = ordfit("rating ~ temp + contact", wine)
    return {
        "small": full.update("~ . - contact"),
        "full": full,
        "product": full.update("~ temp * contact"),
        "robust": full.with_vcov({"cluster": "judge"}),
        "mixed": ordfit("rating ~ temp + contact + (1 | judge)", wine),
        "redsvm": ordfit("rating ~ temp + contact", wine, "redsvm", kernel="linear"),
        "bagging": ordfit("rating ~ temp + contact", wine, "bagging", rounds=5),
    }


def shown(name, fits, wine):
    """The tables of the golden files."""
    few = [fits["small"], fits["full"], fits["product"]]
    if name == "coefficients":
        return table(few)
    if name == "ratios":
        return table(few, exponentiate=True, stars=True, thresholds=False, groups=["Main", "Main", "Product"])
    if name == "methods":
        five = [fits[key] for key in ("full", "robust", "mixed", "redsvm", "bagging")]
        return table(five, groups=["Likelihood"] * 3 + ["Learning"] * 2, labels={"judge": "Judge"})
    odd = wine.rename(columns={"temp": ODD})
    return table({"<odd> & $1": ordfit(f"rating ~ `{ODD}` + contact", odd)}, labels={ODD: LONG}, gof=["nobs"])


@pytest.mark.parametrize("suffix", ["txt", "tex", "md"])
@pytest.mark.parametrize("name", ["coefficients", "ratios", "methods", "odd"])
def test_text(name, suffix, fits, wine):
    """As it was looked at; numbers are held below."""
    found = shown(name, fits, wine)
    text = {"txt": lambda: f"{found}\n", "tex": found.to_latex, "md": found.to_markdown}[suffix]()
    assert text == (GOLDEN / f"{name}.{suffix}").read_text(encoding="utf-8")
    assert suffix != "txt" or max(map(len, text.splitlines())) <= 80


def test_numbers_are_those_of_r(fits):
    found = table([fits["small"], fits["full"]])
    full = found["(2)"]
    for term, (estimate, error, p) in R_COEFFICIENTS.items():
        own = full.loc[("threshold" if "|" in term else "location", term)]
        assert own[["estimate", "std_error", "p_value"]].to_numpy() == pytest.approx([estimate, error, p], rel=1e-6)
    # logLik and AIC of R's clm
    assert full.loc[("fit", "loglik", "value")] == pytest.approx(-86.49192337, abs=1e-7)
    assert full.loc[("fit", "aic", "value")] == pytest.approx(184.9838467, abs=1e-6)
    assert np.isnan(found["(1)"].loc[("location", "contact[T.yes]", "estimate")])


def test_ratios(fits, wine):
    """R: exp(cbind(coef(fm1), confint.default(fm1))); exp(-coef(fm2)), exp(-confint.default(fm2, level = 0.9)) of the
    same model with link = "cloglog", whose hazard ratios are exp(-estimate). Errors by the delta method."""
    own = table(fits["full"], exponentiate=True)["(1)"].loc[("location", "temp[T.warm]")]
    assert own[["estimate", "lower", "upper"]].to_numpy() == pytest.approx(
        [12.220342827, 4.3358082958, 34.442661809], rel=1e-6
    )
    assert own["std_error"] == pytest.approx(12.220342827 * 0.5286801008, rel=1e-6)
    hazards = ordfit("rating ~ temp + contact", wine, "cloglog")
    own = table(hazards, exponentiate=True, level=0.9)
    got = own["(1)"].loc[("location", "contact[T.yes]")]
    expected = [0.4232832694, 0.2658650920, 0.673908428]
    assert got[["estimate", "lower", "upper"]].to_numpy() == pytest.approx(expected, rel=1e-6)
    assert "Hazard ratios, exp(-estimate)" in str(own) and "90 % confidence limits" in str(own)
    thresholds = own["(1)"].loc["threshold"].loc[pd.IndexSlice[:, "estimate"]]
    assert thresholds.to_numpy() == pytest.approx(hazards.thresholds.to_numpy())


def test_exponents_that_are_no_ratios_are_called_so(fits, wine):
    probit = ordfit("rating ~ temp", wine, "probit")
    assert "Exponents of coefficients, which are no ratios of odds" in str(table(probit, exponentiate=True))
    text = " ".join(str(table([fits["full"], probit], exponentiate=True)).split())
    assert "(1): odds ratios; (2): exponents of coefficients, which are no ratios" in text


def test_coefficients_of_rankers_are_not_exponentiated(fits):
    found = table([fits["full"], fits["redsvm"], fits["bagging"]], exponentiate=True)
    assert found.iloc[:, 1].loc[("location", "temp[T.warm]", "estimate")] == pytest.approx(2.0, abs=1e-3)
    text = " ".join(str(found).split())
    assert "(1): odds ratios; (2): coefficients of the score; thresholds are not exponentiated." in text
    assert "(1): observed information; (2): none." in text


@pytest.mark.parametrize(
    ("below", "cell"),
    [("std_error", "(0.529)"), ("interval", "[1.467, 3.539]"), ("p_value", "(<.001)"), (None, None)],
)
def test_below(below, cell, fits):
    cells = [row[1].strip() for row in table(fits["full"], below=below).grids()[0].rows]
    assert cells[0] == "2.503" and (cells[1] == cell if cell else cells[1] == "1.528")


def test_stars(fits):
    """Of the product R has p = 0.697; a threshold has none."""
    rows = {row[0]: row[1] for row in table(fits["product"], stars=True).grids()[0].rows}
    assert rows["temp: warm"].endswith("***") and rows["contact: yes"] == "1.347*"
    assert not rows["temp: warm × contact: yes"].endswith("*") and not rows["2|3"].endswith("*")
    assert "* p < .05, ** p < .01, *** p < .001." in str(table(fits["product"], stars=True))


def test_labels(fits):
    labels = {"temp": "Temperature", "contact[T.yes]": "Skins", "aic": "Akaike", "judge": "Judge", "2|3": "second"}
    text = str(table([fits["product"], fits["mixed"]], labels=labels))
    for label in ("Temperature: warm ", "Skins ", "Temperature: warm × contact: yes", "Akaike", "second"):
        assert label in text
    assert "SD (Intercept), Judge" in text and "Groups: Judge" in text


def test_figures(fits):
    found = table(fits["mixed"], gof=["groups: judge", "nobs"])
    assert found.loc["fit"].droplevel("value")["(1)"].to_dict() == {"groups: judge": 9.0, "nobs": 72.0}
    assert "fit" not in table(fits["full"], gof=[]).index.get_level_values("part")
    assert "Classification error" not in str(table(fits["full"]))
    assert "Classification error" in str(table([fits["full"], fits["bagging"]]))
    assert "McFadden" not in str(table(fits["redsvm"]))


def test_models_of_other_rows_or_responses(fits, wine):
    other = fits["full"].update(subset=wine.index < 60)
    assert "do not compare" in " ".join(str(table([fits["full"], other])).split())
    assert "compare" not in str(table([fits["full"], other], gof=["nobs"]))
    coarse = ordfit("high ~ temp", wine.assign(high=wine["rating"].astype(int) > 2))
    assert table([fits["full"], coarse]).grids()[0].heads[0] == ("", "rating", "high")


def test_survey_and_pooled_fits(fits, wine):
    anes = datasets.load("anes96").assign(w=lambda frame: 1 + frame.index % 5)
    survey = ordfit("PID ~ age + educ", anes, design=SurveyDesign(weights="w"))
    text = str(table([survey, ordfit("PID ~ age + educ", anes)]))
    assert "Pseudo log-likelihood" in text and "(1): " + survey.own_covariance.words in " ".join(text.split())
    drawn = np.random.default_rng(1).choice(["no", "yes"], (3, 72))
    frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
    pooled = pool([ordfit("rating ~ temp + contact", frame) for frame in frames])
    found = table([pooled, fits["full"]])
    assert found["(1)"].loc[("location", "temp[T.warm]", "std_error")] == pooled.se["temp[T.warm]"]
    assert "Rubin's rules, 3 imputations" in str(found) and "Classification" not in str(found)
    row = pooled.tidy().set_index("term").loc["temp[T.warm]"]
    beginning = f"temp: warm: b = {row['estimate']:.2f}, SE = {row['std_error']:.2f}, t({row['df']:.1f}) = "
    assert (
        pooled.sentence("temp").startswith(beginning) and f"OR = {np.exp(row['estimate']):.2f}, " in pooled.sentence()
    )


def test_nominal_and_scale_effects(wine):
    fit = ordfit("rating ~ temp", wine, nominal="~ contact", scale="~ temp")
    found = table(fit, exponentiate=True)
    text = str(found)
    assert "Nominal effects (above 1 = lower response)" in text and "contact: yes, 1|2" in text
    assert "Scale effects (factors)" in text
    scale = found["(1)"].loc[("scale", "scale.temp[T.warm]", "estimate")]
    assert scale == pytest.approx(np.exp(fit.params["scale.temp[T.warm]"]))


def test_aliased_and_infinite_estimates(wine):
    rows = pd.DataFrame({"y": [1, 1, 2, 2, 3, 3, 3, 3], "x": [0, 0, 0, 0, 0, 0, 1, 1]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        aliased = ordfit("rating ~ temp + z", wine.assign(z=1.0 * (wine["temp"] == "warm")))
        separated = ordfit("y ~ x", rows)
        falling = ordfit("y ~ x", rows.assign(x=-rows["x"]))
    found = table([aliased, separated, falling], exponentiate=True)
    rows = {row[0]: row[1:] for row in found.grids()[0].rows}
    assert rows["z"] == ("NA", "", "") and rows["x"] == ("", "∞", "0.00")
    assert table(falling).grids()[0].rows[0] == ("x", "-∞")
    assert "(2), (3): the response is separated" in str(found) and "NA: not estimated" in str(found)
    assert "$-$$\\infty$" in table(falling).to_latex()
    # loglik: 6 log(1/3) and 4 log(1/4) + 4 log(1/2)
    told = "likelihood ratio test of x: chi2(1) = 3.45, p = .063"
    assert separated.sentence() == f"x: no finite estimate (+inf), as the response is separated; {told}"
    assert "z: not estimated" in aliased.sentence()


def test_it_is_a_frame_of_numbers(fits):
    found = table(list(fits.values()))
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found) and type(found.head(2)) is pd.DataFrame
    assert json.loads(json.dumps(found.attrs)) == found.attrs  # as to_parquet() writes them
    assert found.shape[1] == 7 and set(map(str, found.dtypes)) == {"float64"}
    row = "| temp: warm                |"
    lines = found.to_markdown(digits=1).splitlines()
    assert next(line for line in lines if line.startswith(row)).split()[4] == "2.3"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fits": []}, "fits must be a list of fits; got an empty one"),
        ({"fits": [3]}, "number 1 is a int"),
        ({"names": ["a", "b"]}, "names must be a list of one text for each fit, 1 in all; got 2"),
        ({"groups": ["a", "b"]}, "groups must be"),
        ({"labels": {"tmep": "x"}}, "Did you mean 'temp'"),
        ({"labels": "x"}, "labels must be a mapping"),
        ({"gof": ["aci"]}, "each of gof must be one of .* Did you mean 'aic'"),
        ({"below": "se"}, "below must be one of"),
        ({"digits": 99}, "digits must be"),
        ({"level": 95}, "level must be"),
        ({"stars": "yes"}, "stars must be True or False"),
    ],
)
def test_other_arguments_are_refused(arguments, message, fits):
    with pytest.raises(OptionError, match=message):
        table(**{"fits": [fits["full"]], **arguments})


# Sentences


def test_sentence(fits):
    """R, ordinal 2022.11-16: summary(clm(rating ~ temp + contact, data = wine)) and exp(confint(., type = "Wald"))."""
    assert fits["full"].sentence().splitlines() == [
        "temp: warm: b = 2.50, SE = 0.53, z = 4.73, p < .001, OR = 12.22, 95 % CI [4.34, 34.44]",
        "contact: yes: b = 1.53, SE = 0.48, z = 3.21, p = .001, OR = 4.61, 95 % CI [1.81, 11.73]",
    ]
    assert fits["full"].sentence("contact[T.yes]") == fits["full"].sentence("contact")
    assert fits["full"].sentence("1|2") == "1|2: b = -1.34, SE = 0.52, z = -2.60, p = .009, 95 % CI [-2.36, -0.33]"


def test_sentence_with_t(fits):
    """Degrees of freedom of t where the fit has them; where they are whole, without a point."""
    small = fits["full"].with_vcov({"cluster": "judge", "type": "CR2"})
    df = small.tidy().set_index("term").loc["temp[T.warm]", "df"]
    assert f"t({df:.1f}".removesuffix(".0") in small.sentence("temp")
    anes = datasets.load("anes96").assign(w=1.0, psu=lambda frame: frame.index % 40)
    survey = ordfit("PID ~ age", anes, design=SurveyDesign(weights="w", clusters="psu"))
    assert "t(39) = " in survey.sentence("age")


def test_sentence_of_other_links_and_small_numbers(wine, fits):
    assert "OR" not in ordfit("rating ~ temp", wine, "probit").sentence("temp")
    assert "HR = 0." in ordfit("rating ~ temp", wine, "cloglog").sentence("temp")
    assert "90 % CI" in fits["mixed"].sentence("temp", level=0.9)
    tiny = ordfit("rating ~ x", wine.assign(x=1e4 * np.arange(72.0) % 70001)).sentence()
    estimate, error = (piece.partition(" = ")[2] for piece in tiny.split(": ", 1)[1].split(", ")[:2])
    assert float(error) > 0.0 and len(error.replace(".", "").replace("-", "").lstrip("0")) >= 2 and float(estimate) != 0


def test_sentence_of_another_term(fits):
    with pytest.raises(OptionError, match=r"term must be one of .* Did you mean 'temp'"):
        fits["full"].sentence("tmep")
    with pytest.raises(OptionError, match="term must be one of"):
        fits["mixed"].sentence("sd_(Intercept)|judge")
    with pytest.raises(UnavailableError, match="methods with a likelihood"):
        fits["redsvm"].sentence("temp")


def test_sentences_of_a_term_have_its_effects_on_thresholds_and_scale():
    fit = ordfit("rating ~ temp", datasets.load("wine"), nominal="~ contact", scale="~ temp")
    lines = fit.sentence("contact").splitlines()
    assert [line.partition(":")[2].partition(":")[0] for line in lines] == [f" yes, {k}|{k + 1}" for k in range(1, 5)]
    assert all(f"b = {fit.params[f'{k}|{k + 1}.contact[T.yes]']:.2f}" in lines[k - 1] for k in range(1, 5))
    located, scaled = fit.sentence("temp").splitlines()
    assert located.startswith("temp: warm: b") and scaled.startswith("temp: warm, log scale: b")
    assert f"b = {fit.params['scale.temp[T.warm]']:.2f}" in scaled and fit.sentence("scale.temp[T.warm]") == scaled
