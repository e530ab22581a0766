"""The statistics that R's rms (6.5-0) reports with lrm and orm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reference_cases import case_names, load_case, load_data
from scipy.stats import norm

from ordstat import ordfit

#: rms stops early (orm: at most 1e-5 off in the coefficients); lrm computes C, Dxy,
#: Gamma and Tau-a from binned scores.
DEFAULT_FIT = 1e-6
BINNED = 1e-3
#: Covariances at the coefficients where orm stops by default.
EARLY = 2e-5

#: Link of P(y <= k) by the family of P(y >= j): the skewed ones swap sides.
FAMILIES = {
    "logistic": "logit",
    "probit": "probit",
    "loglog": "cloglog",
    "cloglog": "loglog",
}

#: Name in rms -> name in ordstat; numbers in brackets are p and n (or the effective n),
#: see `R2_NAMES`.
NAMES = {
    "Model L.R.": "lr_chi2",
    "d.f.": "lr_df",
    "C": "c_index",
    "Dxy": "somers_d",
    "Gamma": "gamma",
    "Tau-a": "tau_a",
    "rho": "rho",
    "R2": "nagelkerke",
    "Brier": "brier",
    "g": "g",
    "gr": "gr",
    "gp": "gp",
    "pdm": "pdm",
}
BINNED_NAMES = ("C", "Dxy", "Gamma", "Tau-a")
NOT_STATISTICS = {"Obs", "Max Deriv", "Distinct Y", "Median Y", "P", "Score", "Score P"}


def r2_names(n: float, effective: float, df: float) -> dict[str, str]:
    """Labels of the R2s with sample sizes, as rms writes them; the last one if sizes
    look the same.
    """
    labels = {f"R2({n:.0f})": "cox_snell", f"R2({df:.0f},{n:.0f})": "r2_n_p"}
    return labels | {
        f"R2({effective:.0f})": "r2_effective",
        f"R2({df:.0f},{effective:.0f})": "r2_effective_p",
    }


@pytest.mark.parametrize("name", case_names("rms"))
def test_statistics_of_rms(name: str) -> None:
    case = load_case(name)
    stats = case.raw["stats"]
    data = case.frame()
    link = FAMILIES[case.spec.get("family", '"logistic"').strip('"')]
    levels = (
        sorted(data["age"].unique()) if case.spec["formula"].startswith("age") else None
    )
    fit = ordfit(case.spec["formula"], data, link=link, levels=levels)
    actual = fit.discrimination().rename(
        lambda name: "brier" if name.startswith("brier_at_") else name
    )
    names = NAMES | r2_names(stats["Obs"], actual["n_effective"], stats["d.f."])
    assert set(stats) <= set(names) | NOT_STATISTICS
    for label in set(stats) & set(names):
        tolerance = BINNED if label in BINNED_NAMES else DEFAULT_FIT
        assert actual[names[label]] == pytest.approx(
            stats[label], rel=tolerance, abs=1e-12
        ), label
    assert actual["lr_p_value"] == pytest.approx(stats["P"], abs=1e-9)
    assert fit.nobs == stats["Obs"] and len(fit.levels) == stats.get(
        "Distinct Y", len(fit.levels)
    )
    median = np.quantile(fit.design.sample.y, 0.5, method="inverted_cdf")
    assert stats.get(
        "Median Y", float(fit.levels[median] if levels else median + 1)
    ) == (fit.levels[median] if levels else median + 1)


def test_exact_concordance_where_rms_bins() -> None:
    """Found by hand over all pairs: exactly 0.697118, lrm says 0.697098."""
    case = load_case("sim500_lrm")
    fit = ordfit(case.spec["formula"], case.frame())
    assert fit.discrimination()["c_index"] == pytest.approx(0.697118, abs=5e-7)
    assert case.raw["stats"]["C"] == pytest.approx(0.697098, abs=5e-7)


@pytest.mark.parametrize("name", case_names("rms"))
def test_covariances_of_rms(name: str) -> None:
    """rms models the upper tail: its intercepts are our thresholds with the other
    sign.
    """
    case = load_case(name)
    data = case.frame()
    link = FAMILIES[case.spec.get("family", '"logistic"').strip('"')]
    levels = (
        sorted(data["age"].unique()) if case.spec["formula"].startswith("age") else None
    )
    fit = ordfit(case.spec["formula"], data, link=link, levels=levels)
    errors = case.raw["std_errors_available"]
    labels = [f"y>={level}" for level in fit.levels[1:]]
    slopes = [label for label in errors if not label.startswith("y>=")]
    places = [labels.index(label) for label in errors if label.startswith("y>=")]
    expected = np.array([float(value) for value in errors.values()])
    np.testing.assert_allclose(
        np.r_[fit.se.iloc[places], fit.se.iloc[-len(slopes) :]], expected, rtol=EARLY
    )
    if "vcov_all_intercepts" in case.raw:
        sign = np.r_[-np.ones(len(labels)), np.ones(len(slopes))]
        actual = fit.vcov().to_numpy() * np.outer(sign, sign)
        scale = np.sqrt(np.outer(np.diag(actual), np.diag(actual)))
        assert np.all(
            np.abs(actual - case.matrix("vcov_all_intercepts")) <= EARLY * scale
        )


#: Names of what rms computes -> the question to a fit.
DISTRIBUTIONS = {
    "mean": {"type": "mean"},
    "discrete": {"type": "quantile"},
    "interpolated": {"type": "quantile", "interpolate": True},
    "exceed": {"type": "exceed"},
}


@pytest.mark.parametrize(
    ("case", "response", "method"),
    [
        ("age logistic", "age", "logit"),
        ("y logistic", "y", "logit"),
        ("age probit", "age", "probit"),
    ],
)
def test_means_quantiles_and_exceedance_of_rms(
    case: str, response: str, method: str
) -> None:
    """golden/r/quantiles.R: Mean(), Quantile() and ExProb() of orm fits, whose
    limits of probabilities and quantiles are those of the logistic family.
    """
    expected = pd.read_csv(Path(__file__).parent / "r" / "quantiles.csv")
    expected = expected[expected["case"] == case]
    data = load_data("sim500")
    data[response] = data[response].astype(float).round()
    fit = ordfit(f"{response} ~ x1 + f", data, method=method, levels="all")
    asked = expected.groupby(["what", expected["at"].fillna(0.0)], sort=False)
    for (what, at), values in asked:
        options = {} if what == "mean" else {"at": at}
        new = data.iloc[values["row"]]
        limits = {"interval": "confidence"} if method == "logit" else {}
        answer = fit.predict(new, **DISTRIBUTIONS[what], **options, **limits)
        if not limits:
            np.testing.assert_allclose(answer, values["estimate"], rtol=DEFAULT_FIT)
            continue
        np.testing.assert_allclose(
            answer["estimate"], values["estimate"], rtol=DEFAULT_FIT
        )
        if what != "mean":
            ends = ["lower", "upper"]
            np.testing.assert_allclose(answer[ends], values[ends], rtol=EARLY)
            continue
        # R's limits of means are symmetric: their width has the error
        errors = (values["upper"] - values["lower"]) / (2.0 * norm.ppf(0.975))
        found = fit.predict(new, type="mean", se=True)["std_error"]
        np.testing.assert_allclose(found, errors, rtol=EARLY)
