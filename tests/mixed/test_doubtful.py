"""What a fit with random effects says of doubtful terms, groups and questions."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from benchmarks.mixed_walk import data_set
from ordstat import datasets, ordfit
from ordstat.exceptions import (
    ConvergenceWarning,
    DataWarning,
    FormulaError,
    OptionError,
    SeparationWarning,
    UnavailableError,
)
from ordstat.results.likelihood.results import LikelihoodResults

WINE = datasets.load("wine")


@pytest.fixture(scope="module")
def fit() -> LikelihoodResults:
    return ordfit("rating ~ temp + contact + (1 | judge)", WINE)


def test_a_printed_fit_names_the_standard_deviations(fit: LikelihoodResults) -> None:
    assert "Random effects  sd_(Intercept)|judge 1.131" in str(fit)
    assert "less than its standard error" not in str(fit.summary())


def test_hardly_known_deviations_are_pointed_to_the_likelihood() -> None:
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"x": rng.normal(size=120), "g": np.arange(120) % 12})
    data["y"] = pd.Categorical(np.digitize(data["x"] + rng.logistic(size=120), [-1.0, 1.0]), ordered=True)
    few = ordfit("y ~ x + (1 | g)", data.assign(g=np.random.default_rng(3).permutation(data["g"])))
    deviation, error = few.varcorr().iloc[0][["sd", "std_error"]]
    assert 0.1 < deviation < error
    assert "sd_(Intercept)|g is less than its standard error" in str(few.summary()).replace("\n  ", " ")
    assert few.confint(type="profile").loc["sd_(Intercept)|g", "lower"] == 0.0


@pytest.fixture(scope="module")
def separated() -> tuple[pd.DataFrame, LikelihoodResults]:
    """All rows with one = 1 are of the highest level."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"x": rng.normal(size=300), "g": rng.integers(0, 30, 300)})
    latent = data["x"] + 1.2 * rng.normal(size=30)[data["g"]] + rng.logistic(size=300)
    code = np.digitize(latent, [-1.5, 0.0, 1.5])
    data = data.assign(y=pd.Categorical(code, ordered=True), one=((code == 3) & (rng.random(300) < 0.4)).astype(float))
    with pytest.warns(SeparationWarning) as told:
        found = ordfit("y ~ one + x + (1 | g)", data)
    text = " ".join(str(one.message) for one in told)
    assert "merge levels, or drop the column" in text and "penalty" not in text
    return data, found


@pytest.mark.parametrize("re", ["mode", "zero", "marginal", "posterior"])
def test_errors_beside_an_infinite_estimate(separated: tuple[pd.DataFrame, LikelihoodResults], re: str) -> None:
    """Rows with the effect have none; the others have those of the fit without the rows that are certain."""
    data, fit = separated
    plain = ordfit("y ~ x + (1 | g)", data[data["one"] == 0.0])
    new = data.groupby("one").head(3).sort_values("one")
    for type in ("prob", "mean", "score", "linear_predictor"):
        found = fit.predict(new, type=type, re=re, se=True, interval="confidence")
        own, lower = (found[name].to_numpy().reshape(6, -1) for name in ("std_error", "lower"))
        assert np.isnan(own[3:]).any(axis=1).all()
        np.testing.assert_array_equal(np.isnan(own), np.isnan(lower))
        expected = plain.predict(new.iloc[:3], type=type, re=re, se=True)["std_error"].to_numpy().reshape(3, -1)
        np.testing.assert_allclose(own[:3], expected, rtol=1e-3)


def test_covariance_beside_an_infinite_estimate(separated: tuple[pd.DataFrame, LikelihoodResults]) -> None:
    data, fit = separated
    plain = ordfit("y ~ x + (1 | g)", data[data["one"] == 0.0]).vcov()
    own = fit.vcov()
    assert own.loc["one"].isna().all() and own["one"].isna().all()
    np.testing.assert_allclose(own.drop(index="one", columns="one"), plain, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("term", ["(1 + . | judge)", "(. | judge)", "(. || judge)"])
def test_a_dot_before_the_bar(term: str) -> None:
    with pytest.raises(FormulaError, match="has a dot: name the columns"):
        ordfit(f"rating ~ temp + {term}", WINE)


@pytest.mark.parametrize(
    ("term", "column"),
    [
        ("(x + I(2*x) | g)", r"I\(2\*x\)"),
        ("(x + I(2*x) || g)", r"I\(2\*x\)"),
        ("(x + z + I(x+z) | g)", r"I\(x\+z\)"),
        ("(1 + I(0*x) | g)", r"I\(0\*x\)"),
    ],
)
def test_columns_that_follow_from_others(term: str, column: str) -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(size=200), "z": rng.normal(size=200), "g": rng.integers(0, 10, 200)})
    data["y"] = rng.integers(0, 3, 200)
    with pytest.raises(FormulaError, match=f"The column '{column}' of .* its variance cannot be told"):
        ordfit(f"y ~ x + {term}", data)


def test_groups_in_another_type(fit: LikelihoodResults) -> None:
    text = WINE.assign(judge=[f"{judge}." for judge in WINE["judge"]])
    with pytest.warns(DataWarning, match="No group of newdata is one of the fit: 'judge'.*re='marginal'"):
        found = fit.predict(text, type="prob")
    pd.testing.assert_frame_equal(found, fit.predict(text, type="prob", re="marginal"))
    numbers = ordfit("rating ~ temp + (1 | judge)", WINE.assign(judge=WINE["judge"].astype(int)))
    with pytest.warns(DataWarning, match="has 1, 2, 3, .* in the fit and '1', '2', '3'"):
        numbers.predict(WINE.assign(judge=WINE["judge"].astype(str)), type="mean")


def test_questions_in_words(fit: LikelihoodResults) -> None:
    with pytest.raises(UnavailableError, match=r"brant is not available .* nominal_test\(\)"):
        fit.brant()
    with pytest.raises(OptionError, match="level"):
        fit.varcorr(level=95)
    with pytest.raises(UnavailableError, match=r"'sd_\(Intercept\)\|judge'.*confint\(type='profile'\)"):
        fit.profile(["temp", "sd_(Intercept)|judge"])


def test_rows_of_a_new_group_share_their_effects(fit: LikelihoodResults) -> None:
    """Equal levels in two rows: the integral of the squared probabilities for one group, their square for two."""
    new = pd.DataFrame({"temp": "warm", "contact": "no", "judge": [70, 70, 71]})
    drawn = fit.simulate(6000, seed=1, newdata=new).to_numpy()
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    sd = fit.varcorr()["sd"].iloc[0]
    ends = fit.thresholds.to_numpy()[:, None] - fit.coef["temp[T.warm]"] - sd * points
    probabilities = np.diff(np.vstack([0 * points, 1.0 / (1.0 + np.exp(-ends)), 0 * points + 1]), axis=0)
    shares = weights / weights.sum()
    together, apart = float(shares @ (probabilities**2).sum(axis=0)), float(((probabilities @ shares) ** 2).sum())
    assert together - apart > 0.04
    assert np.mean(drawn[0] == drawn[1]) == pytest.approx(together, abs=0.02)
    assert np.mean(drawn[0] == drawn[2]) == pytest.approx(apart, abs=0.02)


def test_parameters_without_a_profile_are_told_what_helps() -> None:
    fit = ordfit("rating ~ contact + (1 + temp | judge)", WINE)
    name = fit.random_parameters.names[1]
    assert name == "sd_temp[T.warm]|judge"
    assert fit.confint(name, type="profile").attrs["reasons"][name, "lower"].endswith("use type='wald'")


def crossed(seed: int = 3) -> pd.DataFrame:
    """600 rows of 30 groups with random intercepts."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.normal(size=600), "g": rng.integers(0, 30, 600)})
    latent = data["x"] + 0.9 * rng.normal(size=30)[data["g"]] + rng.logistic(size=600)
    return data.assign(y=np.digitize(latent, [-1.5, 0.0, 1.5]))


def test_terms_of_a_group_whose_columns_are_multiples() -> None:
    data = crossed()
    with pytest.raises(FormulaError, match=r"'I\(2 \* x\)' of .* is a sum of multiples"):
        ordfit("y ~ x + (x | g) + (0 + I(2 * x) | g)", data)
    with pytest.raises(FormulaError, match=r"'I\(2 \* x\)' of .* is a sum of multiples"):
        ordfit("y ~ x + (0 + x | g) + (0 + I(2 * x) | g)", data)


def test_types_of_prediction_by_other_names() -> None:
    fit = ordfit("y ~ x + (1 | g)", crossed())
    assert fit.predict(type="probs").equals(fit.predict(type="prob"))


def test_slopes_of_a_column_far_from_zero() -> None:
    """The likelihood of (1 + year | g) does not know where years begin."""
    data = crossed().assign(since=np.arange(600) % 20)
    data["year"] = 2000 + data["since"]
    far, near = ordfit("y ~ year + (1 + year | g)", data), ordfit("y ~ since + (1 + since | g)", data)
    assert far.loglik == pytest.approx(near.loglik, abs=1e-8)
    assert far.varcorr()["sd"].iloc[1] == pytest.approx(near.varcorr()["sd"].iloc[1], rel=1e-5)


def test_a_search_that_ends_early_does_not_say_converged() -> None:
    """Independent effects of a column at 2,000,000 to 2,000,019: the gradient stays large, which is told."""
    data = crossed(seed=5).assign(year=2_000_000 + np.arange(600) % 20)
    with pytest.warns(ConvergenceWarning, match=r"\(no further progress\)"):
        fit = ordfit("y ~ year + (1 + year || g)", data)
    assert fit.trace.message == "no further progress"


def test_groups_by_functions_of_columns_are_known_by_their_values() -> None:
    """No warning where log(g) of new rows is one of the fit; its values, not those of g, where none is."""
    g = np.repeat([1.0, 2.0, 4.0, 8.0], 18)
    data = WINE.assign(g=g)
    fit = ordfit("rating ~ temp + (1 | log(g))", data)
    assert fit.errors(data.head(20)).notna().any(axis=None)
    for new in (32.0, np.e):
        with pytest.warns(DataWarning, match=r"'log\(g\)' has 0.0, 0.69.* in the fit and (3.46|1)"):
            fit.predict(data.head(2).assign(g=new))
    of_halves = ordfit("rating ~ temp + (1 | C(g))", data)
    assert of_halves.errors(data.head(20)).notna().any(axis=None)


def test_what_leaves_one_of_two_groups_is_told() -> None:
    """A single group has no variance: by fits and by steps alike, and the table says so."""
    data = WINE.assign(half=np.where(WINE["judge"].astype(int) < 5, "a", "b"))
    with pytest.warns(DataWarning, match="2 groups"):
        fit = ordfit("rating ~ temp + contact + (1 | half)", data)
    for refit in (True, False):
        found = fit.influence(refit=refit)
        assert found.cooks.isna().all()
        assert "NA of 2 groups: without one of them the other is alone, and has no variance." in str(found)


def test_a_note_on_small_groups_names_quadrature_only_where_there_is_some() -> None:
    rng = np.random.default_rng(2)
    g, h = np.repeat(np.arange(60), 4), np.tile(np.arange(60), 4)
    latent = 2.0 * rng.standard_normal(60)[g] + 2.0 * rng.standard_normal(60)[h] + rng.logistic(size=240)
    data = pd.DataFrame({"y": np.digitize(latent, [-2.0, 0.0, 2.0]), "g": g, "h": h})
    assert "too small: compare quadrature=9" in str(ordfit("y ~ 1 + (1 | g)", data).summary())
    assert "too small: crossed terms have no other" in str(ordfit("y ~ 1 + (1 | g) + (1 | h)", data).summary()).replace(
        "\n  ", " "
    )


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_a_model_without_a_start_has_no_test() -> None:
    """Scale effects of 29 rows beside nested groups: nowhere near the plain fit is the likelihood finite."""
    frame, options = data_set(105)
    found = ordfit(data=frame, **options).scale_test()
    assert np.isnan(found.loc["x1", "lrt"])
    assert any("no maximum of the likelihood was reached in the model of x1" in note for note in found.attrs["notes"])


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_no_distances_where_no_parameter_has_an_error() -> None:
    frame, options = data_set(113)
    fit = ordfit(data=frame, **options)
    assert fit.se.isna().all() and fit.influence().cooks.isna().all()


def test_what_a_summary_notes_is_among_the_alerts() -> None:
    """Singular covariances and wide limits; nothing more is issued after the fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        singular = ordfit("rating ~ temp + contact + (1 + contact | judge)", datasets.load("wine"))
        plain = ordfit("rating ~ temp + contact + (1 | judge)", datasets.load("wine"))
    text = " ".join(repr(singular.summary()).split())
    (one, message), (other, wide) = singular.alerts()
    assert one is other is DataWarning
    assert "contact[T.yes]: singular covariance" in message
    assert "sd_contact[T.yes]|judge is less than its standard error" in wide
    assert message[:60] in text
    assert text.count("singular covariance") == 1
    assert plain.alerts() == []


def test_questions_about_random_terms_are_pointed_to_where_they_are_answered(fit: LikelihoodResults) -> None:
    for term in ("(1|judge)", "(1 | judge)"):
        with pytest.raises(OptionError, match=r"got the random term \(1 ?\| ?judge\).*without it by update.*anova\(\)"):
            fit.drop1(term)
    with pytest.raises(OptionError, match=r"got 'sd_\(Intercept\)\|judge'. Fit without the random term.*anova\(\)"):
        fit.test("sd_(Intercept)|judge = 0")
    with pytest.raises(OptionError, match=r"split 9 of the 9 groups of \(1 \| judge\)\."):
        fit.vcov({"cluster": "bottle"})
    with pytest.raises(AttributeError, match=r"Use \.varcorr\(\)\."):
        _ = fit.VarCorr


def test_the_effects_of_one_grouping() -> None:
    crossed = ordfit("rating ~ temp + (1 | judge) + (1 | bottle)", WINE)
    whole = crossed.ranef()
    for group in ("judge", "bottle"):
        own = whole[whole["group"] == group].reset_index(drop=True)
        pd.testing.assert_frame_equal(crossed.ranef(group), own)
        pd.testing.assert_frame_equal(crossed.ranef(group=group), own)
    with pytest.raises(OptionError, match=r"group must be one of 'judge', 'bottle'; got 'jugde'. Did you mean 'judge'"):
        crossed.ranef("jugde")
