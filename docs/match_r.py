"""The page "Does ordstat match R?": every reference case is fitted while the site is
built.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from pages import ROOT, table, write

from benchmarks.against_r.known import FAULTS

sys.path.insert(0, str(ROOT / "tests"))

from golden import test_r_clm
from mixed import test_method as test_r_clmm
from reference_cases import case_names, load_case

#: Cases that have no finite estimates in R or ordstat, or where R is known to stop
#: early: the tests treat them alone.
APART = {
    "wine_nominal_both": (
        "separated data: R's estimates run away until it stops, ours are infinite and"
        " named"
    ),
    "separation_complete, separation_quasi": (
        "as above; signs, limits of the likelihood and finite estimates agree"
    ),
    "wine_confint_cauchit_scale": (
        "R has thresholds of 1e5 for infinity; estimates agree to 1e-3, ours is"
        " likelier"
    ),
    "flexlink (2 cases)": (
        "R stops early, with a numeric gradient; estimates agree to 1e-3, ours are"
        " never less likely"
    ),
    "clmm2 (2 cases)": "R reports that it has not converged; estimates agree to 1e-4",
}
#: Where ordstat does something else than R on purpose.
CHOICES = {
    "limits of cumulative probabilities": (
        "R's leave [0, 1]; ordstat forms them on the logit scale"
    ),
    "`test()` in surveys": (
        "denominator degrees of freedom as in Stata; R's `regTermTest` uses others"
    ),
    "`anova()` of type III": (
        'ordstat averages over levels, as car::Anova; `type="baseline"` is ordinal'
        " 2022.11"
    ),
    "levels without rows": (
        "those that `levels=` names keep their places, with probability 0; R drops them"
    ),
    "knots, means and bases": (
        "`ns`, `bs`, `scale` and `poly` come from the rows that are fitted, with their"
        " weights; R takes all rows of the model frame, without weights"
    ),
    "tests of a variance": "the p-value is halved at the boundary; R's is not",
    "clusters": (
        "fewer than 20 clusters have CR2 errors with Satterthwaite's degrees of freedom"
    ),
}


def _clm(name: str) -> dict[str, Any]:
    ours = test_r_clm.fitted(name)
    case = load_case(name)
    fit = ours.fit
    theirs = test_r_clm.best(name, "coefficients")
    errors = test_r_clm.best(name, "std_errors")
    mine = np.sqrt(fit.model_covariance.variances)
    kept = ~np.isnan(theirs)
    scale = np.maximum(np.abs(theirs[kept]), mine)
    return {
        "model": "clm",
        "group": case.group.replace("_", " and "),
        "estimates": np.max(np.abs(fit.coefficients - theirs)[kept] / scale),
        "standard errors": np.max(np.abs(mine / errors[~np.isnan(errors)] - 1.0)),
        "log-likelihood": abs(fit.loglik - case.loglik),
    }


def _clmm(name: str) -> dict[str, Any]:
    case = load_case(name)
    fit = test_r_clmm.fitted(load_case(name))
    comparable = name not in test_r_clmm.NO_ERRORS
    return {
        "model": "clmm",
        "group": "random effects",
        "estimates": np.max(
            np.abs(fit.params.to_numpy() / case.coefficients.to_numpy() - 1.0)
        ),
        "standard errors": (
            np.max(np.abs(fit.se.to_numpy() / case.std_errors.to_numpy() - 1.0))
            if comparable
            else 0.0
        ),
        "log-likelihood": abs(fit.loglik - case.loglik),
    }


def _other(name: str) -> dict[str, Any]:
    fit, theirs, _ = test_r_clm.other_package(name)
    case = load_case(name)
    return {
        "model": {
            "polr": "MASS::polr",
            "orm": "rms::orm",
            "lrm": "rms::lrm",
            "vglm": "VGAM::vglm",
        }[case.raw["model"]],
        "group": "cumulative models",
        "estimates": np.max(
            np.abs(fit.coefficients - theirs) / np.maximum(np.abs(theirs), 1.0)
        ),
        "standard errors": np.nan,
        "log-likelihood": abs(fit.loglik - case.raw["tight"]["logLik"]),
    }


def _rows() -> Iterator[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from map(_clm, test_r_clm.comparable())
        yield from map(_clmm, case_names("clmm"))
        yield from map(_other, test_r_clm.OTHER_PACKAGES)


def rounded_up(figure: float) -> str:
    """A bound with one digit that is not below the figure."""
    unit = 10.0 ** np.floor(np.log10(figure))
    return f"{np.ceil(figure / unit) * unit:.0e}"


def write_match() -> None:
    """Cases, the largest difference of each group, and what differs with the reason."""
    rows = pd.DataFrame(_rows())
    figures = ["estimates", "standard errors", "log-likelihood"]
    groups = (
        rows.groupby(["model", "group"], sort=False)[figures]
        .max()
        .assign(cases=rows.groupby(["model", "group"]).size())
    )
    cells = [
        [
            *key,
            str(row["cases"]),
            *("" if np.isnan(row[f]) else f"{row[f]:.0e}" for f in figures),
        ]
        for key, row in groups.astype(object).iterrows()
    ]
    worst = rows[rows["model"] == "clm"]
    lines = [
        *["# Does ordstat match R?", ""],
        (
            f"Yes: {len(rows)} fits of R's ordinal, MASS, rms and VGAM were fitted"
            f" again when this page was built. The {len(worst)} fits of `clm` differ by"
            f" at most {rounded_up(worst['estimates'].max())} in an estimate and"
            f" {rounded_up(worst['standard errors'].max())} in a standard error"
            " (relative), and"
            f" {rounded_up(worst['log-likelihood'].max())} in a log-likelihood."
        ),
        *[
            "",
            (
                "R's search was carried on to the limit of double precision for these"
                " comparisons; R stops at about "
            ),
            (
                "1e-6 by default. `tests/golden/reference` has each R call and what it"
                " printed."
            ),
            "",
        ],
        *[
            "## Largest differences",
            "",
            table(["R", "cases", "n", *figures], cells),
            "",
        ],
        (
            "Estimates and standard errors: relative difference. Fits of `clmm` agree"
            " less where R's search stops earlier."
        ),
        (
            "The tests also hold predictions with errors, profile limits, `anova`,"
            " `drop1`, `add1`, `nominal_test`, `scale_test`, marginal effects,"
            " `emmeans` and contrasts, and survey fits (`svyolr`) to R's numbers."
        ),
        *[
            "",
            "## Cases left out of the table",
            "",
            table(["case", "why"], [[*row] for row in APART.items()]),
            "",
        ],
        *[
            "## Where ordstat differs on purpose",
            "",
            table(["what", "how"], [[*row] for row in CHOICES.items()]),
            "",
        ],
        *[
            "## Differences, and which side a check supports",
            "",
            (
                "`python -m benchmarks against_r --specs 300` fits random models in R"
                " and ordstat. "
            ),
            "Where they differ, a third computation (NumPy, more digits, or R asked in"
            " another way) says which side is right. Some of these are errors of R,"
            " others choices of design (contrasts, refusals, what is left out).",
            "",
        ],
        table(
            ["difference", "what the check shows"],
            [[fault.name, fault.reason.replace("|", r"\|")] for fault in FAULTS],
        ),
        "",
    ]
    write("match-r.md", "\n".join(lines))
